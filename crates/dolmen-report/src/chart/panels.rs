//! Several charts beside one another, under one heading.

use super::Chart;
use crate::Options;
use crate::draw::{Canvas, Heading, MARGIN};

/// Charts in rows of `columns` each, with a heading over all of them. A chart without a title or words has no room for them.
pub fn panels(
    title: &str,
    words: &str,
    columns: usize,
    charts: &[Chart],
    options: &Options,
) -> String {
    let columns = columns.clamp(1, charts.len().max(1));
    let heading = Heading::new(title, words, options);
    let width = options.width / columns as f64;
    let inner = Options { width, standalone: false, title: None, ..options.clone() };
    let drawn: Vec<(String, f64)> = charts.iter().map(|chart| chart.draw_sized(&inner)).collect();
    let heights: Vec<f64> = drawn
        .chunks(columns)
        .map(|row| row.iter().map(|(_, height)| *height).fold(0.0, f64::max))
        .collect();
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
