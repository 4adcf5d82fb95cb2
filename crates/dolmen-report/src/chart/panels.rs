//! Several charts beside one another, under one heading.

use super::Chart;
use crate::Options;
use crate::draw::{Heading, draw_panels, panel_options};

/// Charts in rows of `columns` each, with a heading over all of them. A chart without a title or words has no room for them.
pub fn panels(
    title: &str,
    words: &str,
    columns: usize,
    charts: &[Chart],
    options: &Options,
) -> String {
    let columns = columns.clamp(1, charts.len().max(1));
    let inner = panel_options(columns, options);
    let drawn: Vec<(String, f64)> = charts.iter().map(|chart| chart.draw_sized(&inner)).collect();
    draw_panels(&Heading::new(title, words, options), columns, &drawn, options)
}
