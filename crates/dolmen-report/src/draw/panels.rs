//! Several pictures beside one another, under one heading.

use super::canvas::Canvas;
use super::frame::{Heading, MARGIN};
use crate::Options;

/// How each of several pictures is drawn, in rows of so many: as wide as there is room for, without paper of its own.
pub(crate) fn panel_options(columns: usize, options: &Options) -> Options {
    let width = options.width / columns as f64;
    Options { width, standalone: false, title: None, ..options.clone() }
}

/// Pictures in rows of so many, each with its height, under a heading.
pub(crate) fn draw_panels(
    heading: &Heading,
    columns: usize,
    drawn: &[(String, f64)],
    options: &Options,
) -> String {
    let heights: Vec<f64> = drawn
        .chunks(columns)
        .map(|row| row.iter().map(|(_, height)| *height).fold(0.0, f64::max))
        .collect();
    let width = options.width / columns as f64;
    let top = heading.height() - MARGIN / 2.0;
    let mut canvas = Canvas::new(options.width, top + heights.iter().sum::<f64>(), options);
    heading.draw(&mut canvas);
    let mut y = top;
    for (row, height) in drawn.chunks(columns).zip(&heights) {
        for (k, (picture, _)) in row.iter().enumerate() {
            canvas.inset((width * k as f64, y), picture);
        }
        y += height;
    }
    heading.finish(canvas)
}
