//! Several pictures beside one another, under one heading.

use super::canvas::Canvas;
use super::frame::{Heading, LARGE, MARGIN};
use super::plot::Plot;
use super::text::{told_apart, width};
use crate::Options;

/// The height of the axes of a plot beside others.
pub(crate) const PANEL_HEIGHT: f64 = 120.0;

/// A small plot for each of several things, under one heading: side by side as long as each has this width. `behind` stands behind a name
/// and is never cut; `draw` gets the number of the thing, the heading of its plot, and how it is to look.
pub(crate) fn one_by_one(
    named: &[(&str, String)],
    least: f64,
    heading: &Heading,
    options: &Options,
    draw: impl Fn(usize, Heading, &Options) -> Plot,
) -> String {
    let columns = ((options.width / least) as usize).clamp(1, named.len().max(1));
    let inner = panel_options(columns, options);
    // Titles are bold, and wider for it.
    let large = LARGE * 1.1;
    let widest = named.iter().map(|(_, behind)| width(behind, large)).fold(0.0, f64::max);
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let cut = told_apart(&names, large, inner.width - 2.0 * MARGIN - widest);
    let panel = |(k, ((_, behind), name)): (usize, (&(&str, String), &String))| {
        let plot = draw(k, Heading::new(&format!("{name}{behind}"), "", &inner), &inner);
        let height = plot.canvas.height();
        (plot.finish(), height)
    };
    let drawn: Vec<(String, f64)> = named.iter().zip(&cut).enumerate().map(panel).collect();
    draw_panels(heading, columns, &drawn, options)
}

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
