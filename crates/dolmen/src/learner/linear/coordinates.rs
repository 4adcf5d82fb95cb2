//! More columns than rows: the same rows in coordinates of the space that they span.
//!
//! A linear score with a penalty on the squares of its coefficients has its optimum in the span of the rows, and an orthonormal
//! change of coordinates leaves scores and penalty as they are. With Z' = Q R the rows have the coordinates R', as many as
//! there are rows, and coefficients c of these are the coefficients Q c of the columns (HastieTibshirani2004).

use dolmen_linalg::{Mat, MatRef, Orthogonal, product};

/// Rows in an orthonormal basis of their span.
#[derive(Debug)]
pub(crate) struct Coordinates {
    /// Row after row.
    values: Vec<f64>,
    /// One column per coordinate.
    basis: Mat<f64>,
}

impl Coordinates {
    /// Those of this many rows, which `write` writes; `None` where there are no more columns than rows.
    pub(crate) fn of_wide(
        rows: usize,
        columns: usize,
        write: impl Fn(usize, &mut [f64]),
    ) -> Option<Self> {
        if columns <= rows {
            return None;
        }
        let mut z = vec![0.0; rows * columns];
        z.chunks_exact_mut(columns).enumerate().for_each(|(row, z)| write(row, z));
        let qr = Orthogonal::new(MatRef::from_column_major_slice(&z, columns, rows));
        let (basis, triangle) = (qr.basis(), qr.triangle());
        let values = (0..rows * rows)
            .map(|at| (at / rows, at % rows))
            .map(|(row, k)| triangle[(k, row)])
            .collect();
        Some(Self { values, basis })
    }

    /// Number of coordinates.
    pub(crate) fn width(&self) -> usize {
        self.basis.ncols()
    }

    /// The coordinates of a row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width()..(row + 1) * self.width()]
    }

    /// The coefficients of the columns and the intercept, from those of the coordinates and the intercept.
    pub(crate) fn of_columns(&self, coefficients: &[f64]) -> Vec<f64> {
        let (slopes, intercept) = coefficients.split_at(self.width());
        let slopes = MatRef::from_column_major_slice(slopes, self.width(), 1);
        let mut of_columns = product(self.basis.as_ref(), slopes).col_as_slice(0).to_vec();
        of_columns.extend(intercept);
        of_columns
    }
}
