//! Non-negative least squares without squares: for columns of which the Gram matrix has lost what tells them apart.
//!
//! minimise |Zy - q|, y >= 0. A QR decomposition of [Z q], a block of rows at a time, leaves a triangle with the same products
//! and the error of the numbers themselves, where a Gram matrix has that of their squares. The active-set method of Lawson & Hanson (1974,
//! chapter 23) goes on from there; each of its steps solves for the change, from the residual, with a pull towards where it
//! is that is small enough not to be seen and lets collinear columns stand.

use dolmen_linalg::{Mat, Orthogonal};

/// Rows decomposed at a time, beyond those of the triangle.
const BLOCK: usize = 512;
/// The pull towards the current point, beside columns of length 1.
const PULL: f64 = 1e-11;
/// How large the product of a column with the residual must be, beside the terms it is made of, to ask a weight to leave zero.
const ROUNDING: f64 = 1e-15;
/// Further solves from the residual at the end.
const POLISH: usize = 3;

/// The triangle of a QR decomposition whose rows come one after the other. It has no more rows than columns.
pub(super) struct Triangular(Mat<f64>);

impl Triangular {
    /// Of no rows.
    pub(super) fn new(width: usize) -> Self {
        Self(Mat::zeros(0, width))
    }

    /// Takes in so many further rows, of which `value` knows the elements (column, row).
    pub(super) fn add(&mut self, rows: usize, value: &dyn Fn(usize, usize) -> f64) {
        for first in (0..rows).step_by(BLOCK) {
            let above = self.0.nrows();
            let count = BLOCK.min(rows - first);
            let stacked = Mat::from_fn(above + count, self.0.ncols(), |i, j| {
                if i < above { self.0[(i, j)] } else { value(j, first + i - above) }
            });
            self.0 = Orthogonal::new(stacked.as_ref()).triangle();
        }
    }

    /// The triangle.
    pub(super) fn matrix(&self) -> &Mat<f64> {
        &self.0
    }
}

/// The triangle of [Z q], with columns of length 1.
pub(super) struct Triangle {
    columns: Mat<f64>,
    target: Vec<f64>,
    /// The columns' lengths.
    lengths: Vec<f64>,
}

impl Triangle {
    /// From the elements (column, row) of Z and, as its last column, q. Large rows should be the first.
    pub(super) fn new(rows: usize, width: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let mut triangle = Triangular::new(width + 1);
        triangle.add(rows, &value);
        let triangle = triangle.0;
        let height = triangle.nrows();
        let length = |j: usize| (0..height).map(|i| triangle[(i, j)].powi(2)).sum::<f64>().sqrt();
        let lengths: Vec<f64> = (0..width).map(length).collect();
        let scaled = |i: usize, j: usize| {
            if lengths[j] > 0.0 { triangle[(i, j)] / lengths[j] } else { 0.0 }
        };
        Self {
            columns: Mat::from_fn(height, width, scaled),
            target: (0..height).map(|i| triangle[(i, width)]).collect(),
            lengths,
        }
    }

    /// The minimiser, from a feasible start.
    pub(super) fn minimise(&self, start: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = start.iter().zip(&self.lengths).map(|(y, l)| y * l).collect();
        let mut blocked = vec![false; y.len()];
        self.settle(&mut y, None);
        let size = self.target.iter().map(|q| q * q).sum::<f64>().sqrt();
        for _ in 0..50 + 10 * y.len() {
            let residual = self.residual(&y);
            let pulls: Vec<f64> = (0..y.len()).map(|j| self.along(j, &residual)).collect();
            let least = ROUNDING * (size + y.iter().sum::<f64>());
            let wanted = (0..y.len())
                .filter(|&j| y[j] == 0.0 && !blocked[j] && pulls[j] > least)
                .max_by(|&i, &j| pulls[i].total_cmp(&pulls[j]));
            let Some(j) = wanted else { break };
            // A weight that cannot leave zero although its gradient asks it to is held there by rounding.
            blocked[j] = !self.settle(&mut y, Some(j));
        }
        (0..POLISH).for_each(|_| {
            self.settle(&mut y, None);
        });
        let own = |(y, l): (&f64, &f64)| if *l > 0.0 { y / l } else { 0.0 };
        y.iter().zip(&self.lengths).map(own).collect()
    }

    fn along(&self, j: usize, residual: &[f64]) -> f64 {
        residual.iter().enumerate().map(|(i, r)| r * self.columns[(i, j)]).sum()
    }

    /// q - Zy.
    fn residual(&self, y: &[f64]) -> Vec<f64> {
        let row = |i: usize| {
            let fitted = y.iter().enumerate().filter(|(_, y)| **y > 0.0);
            self.target[i] - fitted.map(|(j, y)| y * self.columns[(i, j)]).sum::<f64>()
        };
        (0..self.target.len()).map(row).collect()
    }

    /// Moves the positive weights, and one that may enter, to their common minimum; those that meet zero on the way stay
    /// there. Says whether the entering one (if any) became positive.
    fn settle(&self, y: &mut [f64], entering: Option<usize>) -> bool {
        let mut free: Vec<usize> =
            (0..y.len()).filter(|&j| y[j] > 0.0 || Some(j) == entering).collect();
        while !free.is_empty() {
            let (height, residual) = (self.target.len(), self.residual(y));
            let matrix = Mat::from_fn(height + free.len(), free.len(), |i, j| {
                let pull = if i == height + j { PULL } else { 0.0 };
                if i < height { self.columns[(i, free[j])] } else { pull }
            });
            let right =
                Mat::from_fn(
                    height + free.len(),
                    1,
                    |i, _| {
                        if i < height { residual[i] } else { 0.0 }
                    },
                );
            let change = Orthogonal::new(matrix.as_ref()).least_squares(right.as_ref());
            let goal = |k: usize| y[free[k]] + change[(k, 0)];
            let reached = |k: usize| y[free[k]] / (y[free[k]] - goal(k));
            let meeting = (0..free.len()).filter(|&k| goal(k) <= 0.0).map(reached);
            let length = meeting.fold(1.0, f64::min);
            if !length.is_finite() || !(0..free.len()).all(|k| goal(k).is_finite()) {
                return false;
            }
            let next: Vec<f64> = (0..free.len())
                .map(|k| {
                    let meets = goal(k) <= 0.0 && reached(k) <= length;
                    if meets { 0.0 } else { y[free[k]] + length * change[(k, 0)] }
                })
                .collect();
            let before = free.len();
            free.iter().zip(&next).for_each(|(&j, next)| y[j] = next.max(0.0));
            free.retain(|&j| y[j] > 0.0);
            if free.len() == before {
                break;
            }
        }
        entering.is_none_or(|j| y[j] > 0.0)
    }
}
