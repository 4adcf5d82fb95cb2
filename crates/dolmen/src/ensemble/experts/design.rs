//! The rows as EM sees them: inputs on the common scale, weights, and one row that is imagined.

use std::ops::Range;

use crate::learner::linear::coordinates::Coordinates;
use crate::learner::scales::Scales;
use crate::table::Rows;

/// Rows of positive weight.
#[derive(Debug)]
pub(super) struct Design {
    pub(super) scales: Scales,
    /// Row after row: the columns on the common scale, then a 1 for the intercept. The last row is the imagined one: all
    /// columns are 0.
    z: Vec<f64>,
    weights: Vec<f64>,
    width: usize,
    prior: f64,
    /// What `z` is in, where there are more columns than rows.
    coordinates: Option<Coordinates>,
}

impl Design {
    /// Chosen rows of some inputs; `prior` is the weight of the imagined row.
    pub(super) fn new(x: Rows<'_>, weights: Option<&[f64]>, chosen: &[usize], prior: f64) -> Self {
        let scales = Scales::fit(x, weights);
        let write = |row: usize, z: &mut [f64]| scales.write(x.row(chosen[row]), z);
        let coordinates = Coordinates::of_wide(chosen.len(), x.width(), write);
        let width = coordinates.as_ref().map_or(x.width(), Coordinates::width) + 1;
        let mut z = vec![0.0; (chosen.len() + 1) * width];
        for (row, z) in z.chunks_exact_mut(width).enumerate() {
            match &coordinates {
                _ if row == chosen.len() => {}
                Some(coordinates) => z[..width - 1].copy_from_slice(coordinates.row(row)),
                None => write(row, z),
            }
            z[width - 1] = 1.0;
        }
        let weights = chosen.iter().map(|&i| weights.map_or(1.0, |w| w[i])).collect();
        Self { scales, z, weights, width, prior, coordinates }
    }

    /// Coefficients of the columns and the intercept, score after score, from those of [`Self::width`] each.
    pub(super) fn of_columns(&self, coefficients: Vec<f64>) -> Vec<f64> {
        match &self.coordinates {
            Some(coordinates) => {
                let scores = coefficients.chunks_exact(self.width);
                scores.flat_map(|score| coordinates.of_columns(score)).collect()
            }
            None => coefficients,
        }
    }

    /// Rows that are not imagined.
    pub(super) fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Columns, or coordinates of as many as there are rows, and the intercept.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Rows one after the other; the number of them is that of the imagined row.
    pub(super) fn z(&self, rows: Range<usize>) -> &[f64] {
        &self.z[rows.start * self.width..rows.end * self.width]
    }

    /// One row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        self.z(row..row + 1)
    }

    /// The rows' weights.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The sum of the weights.
    pub(super) fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The weight of the imagined row.
    pub(super) fn prior(&self) -> f64 {
        self.prior
    }
}
