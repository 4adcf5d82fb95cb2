//! A kernel density on a grid of two columns. Its kernels are products: those of one column are evaluated once for each row and line
//! of the grid, and the rest is multiplication.

use super::evaluate::Kernels;
use super::shape::Shape;
use crate::math::bulk;

/// Bandwidths beyond which a Gaussian adds less to a sum than rounding does, unless all that there is lies so far off.
const REACH: f64 = 9.0;

/// The density at every place of the grid: of the first y those of all x first. Both ascend.
pub(super) fn on_grid(
    kernels: Kernels<'_>,
    bandwidth: &[f64],
    columns: [usize; 2],
    [x, y]: [&[f64]; 2],
) -> Vec<f64> {
    let Kernels { points, weights, shape, .. } = kernels;
    let mut out = vec![0.0; x.len() * y.len()];
    let [mut across, mut up] = [x, y].map(|places| Line::new(places, shape));
    for (i, weight) in weights.iter().enumerate() {
        let [value, other] = columns.map(|k| points.column(k)[i]);
        let first = across.evaluate(value, bandwidth[columns[0]]);
        let from = up.evaluate(other, bandwidth[columns[1]]);
        for (j, height) in up.heights.iter().enumerate() {
            let row = (from + j) * x.len() + first;
            let part = &mut out[row..row + across.heights.len()];
            bulk::add_scaled(part, weight * height, &across.heights);
        }
    }
    out
}

/// One side of the grid, and the heights of a kernel along it where it reaches.
struct Line<'a> {
    places: &'a [f64],
    shape: Shape,
    heights: Vec<f64>,
}

impl<'a> Line<'a> {
    fn new(places: &'a [f64], shape: Shape) -> Self {
        Self { places, shape, heights: Vec::new() }
    }

    /// Evaluates the kernel around a value; gives back the first place that it reaches.
    fn evaluate(&mut self, value: f64, bandwidth: f64) -> usize {
        let reach = bandwidth * if self.shape == Shape::Gaussian { REACH } else { 1.0 };
        let first = self.places.partition_point(|place| *place < value - reach);
        let end = self.places.partition_point(|place| *place <= value + reach);
        let apart = self.places[first..end.max(first)].iter().map(|p| (p - value) / bandwidth);
        self.heights.clear();
        if self.shape == Shape::Gaussian {
            self.heights.extend(apart.map(|t| -0.5 * t * t));
            bulk::exp_in_place(&mut self.heights);
            let constant = self.shape.constant() / bandwidth;
            self.heights.iter_mut().for_each(|height| *height *= constant);
        } else {
            self.heights.extend(apart.map(|t| self.shape.value(t) / bandwidth));
        }
        first
    }
}
