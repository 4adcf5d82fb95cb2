//! Gram matrices Z'Z, summed over blocks of rows.

use dolmen_linalg::{Mat, MatMut, MatRef, multiply_add_lower};
use serde::{Deserialize, Serialize};

use crate::stats::{Accumulator, accumulate};

/// A symmetric matrix, summed up from blocks of rows; only its lower triangle is kept up to date while summing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gram {
    order: usize,
    values: Vec<f64>,
}

impl Gram {
    /// The zero matrix.
    pub fn zero(order: usize) -> Self {
        Self { order, values: vec![0.0; order * order] }
    }

    /// Multiplies every element.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Adds Z'Z for a block of rows; `z` holds one column after the other.
    pub fn add(&mut self, z: &[f64], rows: usize) {
        let z = MatRef::from_column_major_slice(z, rows, self.order);
        self.add_product(z, z);
    }

    /// Adds Z'Z for a block of rows that stand one after the other.
    pub(crate) fn add_rows(&mut self, z: &[f64], rows: usize) {
        self.add_weighted_rows(z, z, rows);
    }

    /// Adds Z'WZ for a block of rows that stand one after the other; `wz` holds the rows times their weights.
    pub(crate) fn add_weighted_rows(&mut self, z: &[f64], wz: &[f64], rows: usize) {
        let z = MatRef::from_row_major_slice(z, rows, self.order);
        self.add_product(z, MatRef::from_row_major_slice(wz, rows, self.order));
    }

    fn add_product(&mut self, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
        if self.order == 0 {
            return;
        }
        let sum = MatMut::from_column_major_slice_mut(&mut self.values, self.order, self.order);
        multiply_add_lower(sum, left.transpose(), right);
    }

    /// Z'Z over all rows; `value(j, i)` is the element of Z in row i and column j.
    pub fn over_rows(
        rows: usize,
        order: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Self {
        const BLOCK: usize = 512;
        accumulate(
            rows,
            16 * BLOCK,
            || Self::zero(order),
            |sum, part| {
                let mut z = vec![0.0; BLOCK * order];
                for first in part.clone().step_by(BLOCK) {
                    let length = BLOCK.min(part.end - first);
                    let z = &mut z[..length * order];
                    for (j, column) in z.chunks_exact_mut(length).enumerate() {
                        column
                            .iter_mut()
                            .enumerate()
                            .for_each(|(i, cell)| *cell = value(j, first + i));
                    }
                    sum.add(z, length);
                }
            },
        )
    }

    /// Takes away the Gram matrix of some of the rows.
    pub(crate) fn subtract(&mut self, part: &Self) {
        self.values.iter_mut().zip(&part.values).for_each(|(all, part)| *all -= part);
    }

    /// A matrix from its elements (i, j), i >= j.
    pub fn from_fn(order: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let mut gram = Self::zero(order);
        for j in 0..order {
            for i in j..order {
                gram.values[j * order + i] = value(i, j);
            }
        }
        gram
    }

    /// All elements, row after row.
    pub fn to_rows(&self) -> Vec<f64> {
        (0..self.order * self.order).map(|e| self.get(e / self.order, e % self.order)).collect()
    }

    /// The leading rows and columns.
    #[must_use]
    pub fn leading(&self, order: usize) -> Self {
        let mut leading = Self::zero(order);
        for j in 0..order {
            for i in j..order {
                leading.values[j * order + i] = self.get(i, j);
            }
        }
        leading
    }

    /// Adds to a diagonal element.
    pub fn add_diagonal(&mut self, i: usize, value: f64) {
        self.values[i * self.order + i] += value;
    }

    /// Rows and columns.
    pub fn order(&self) -> usize {
        self.order
    }

    /// One element.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (low, high) = if i < j { (i, j) } else { (j, i) };
        self.values[low * self.order + high]
    }

    /// The matrix times a vector.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.order).map(|i| (0..self.order).map(|j| self.get(i, j) * x[j]).sum()).collect()
    }

    /// The rows and columns of `chosen`, in that order.
    pub(crate) fn submatrix(&self, chosen: &[usize]) -> Mat<f64> {
        Mat::from_fn(chosen.len(), chosen.len(), |i, j| self.get(chosen[i], chosen[j]))
    }
}

impl Accumulator for Gram {
    fn merge(&mut self, later: Self) {
        self.values.iter_mut().zip(&later.values).for_each(|(a, b)| *a += b);
    }
}
