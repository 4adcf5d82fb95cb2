//! The few dense decompositions that Dolmen needs, compiled once.
//!
//! The routines of faer are generic over numbers and instruction sets, and every crate that calls one compiles it anew. Here
//! are plain functions of matrices of `f64`; what only touches single elements ([`Mat`], [`MatRef`], [`MatMut`]) is faer's own.
//!
//! Everything runs on one thread: callers divide rows among threads, and a second division would fight for the same cores.
//!
//! ```
//! use dolmen_linalg::{Cholesky, Mat};
//!
//! let matrix = Mat::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 1.0 });
//! let solved = Cholesky::new(matrix.as_ref()).unwrap().solve_vector(&[3.0, 3.0]);
//! assert!((solved[0] - 1.0).abs() < 1e-15 && (solved[1] - 1.0).abs() < 1e-15);
//! ```

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::{DenseSolveCore, Llt, Qr, Solve, SolveLstsq};
use faer::{Accum, Par, Side};
pub use faer::{Mat, MatMut, MatRef};

/// `out = left * right`.
pub fn multiply(out: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
}

/// `out += left * right`.
pub fn multiply_add(out: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    matmul(out, Accum::Add, left, right, 1.0, Par::Seq);
}

/// `out += left * right`, of which only the lower triangle is computed.
pub fn multiply_add_lower(out: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(out, lower, Accum::Add, left, all, right, all, 1.0, Par::Seq);
}

/// `left * right`.
pub fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(left.nrows(), right.ncols());
    multiply(out.as_mut(), left, right);
    out
}

/// The decomposition LL' of a symmetric matrix.
#[derive(Debug, Clone)]
pub struct Cholesky(Llt<f64>);

impl Cholesky {
    /// Of a matrix of which the lower triangle is read; `None` unless it is positive definite.
    pub fn new(matrix: MatRef<'_, f64>) -> Option<Self> {
        Llt::new(matrix, Side::Lower).ok().map(Self)
    }

    /// The solution X of `matrix * X = right`.
    pub fn solve(&self, right: MatRef<'_, f64>) -> Mat<f64> {
        self.0.solve(right)
    }

    /// The solution of `matrix * x = right`.
    pub fn solve_vector(&self, right: &[f64]) -> Vec<f64> {
        let right = MatRef::from_column_major_slice(right, right.len(), 1);
        self.solve(right).col_as_slice(0).to_vec()
    }

    /// The inverse of the matrix.
    pub fn inverse(&self) -> Mat<f64> {
        self.0.inverse()
    }

    /// The logarithm of the determinant of L: half of that of the matrix.
    pub fn ln_root(&self) -> f64 {
        let l = self.0.L();
        (0..l.nrows()).map(|i| l[(i, i)].ln()).sum()
    }
}

/// The decomposition QR of a matrix.
#[derive(Debug, Clone)]
pub struct Orthogonal(Qr<f64>);

impl Orthogonal {
    /// Of any matrix.
    pub fn new(matrix: MatRef<'_, f64>) -> Self {
        Self(Qr::new(matrix))
    }

    /// Q, with as many columns as R has rows.
    pub fn basis(&self) -> Mat<f64> {
        self.0.compute_thin_Q()
    }

    /// R, with zeros below its diagonal.
    pub fn triangle(&self) -> Mat<f64> {
        let r = self.0.thin_R();
        // Below the diagonal the decomposition keeps its reflections.
        Mat::from_fn(r.nrows(), r.ncols(), |i, j| if i <= j { r[(i, j)] } else { 0.0 })
    }

    /// The x for which `matrix * x` is nearest to `right`, for a matrix with at least as many rows as columns.
    pub fn least_squares(&self, right: MatRef<'_, f64>) -> Mat<f64> {
        self.0.solve_lstsq(right)
    }
}

/// Eigenvectors, as columns, and eigenvalues, in ascending order, of a symmetric matrix of which the lower triangle is read. `None` if it is not
/// finite or the iteration fails.
pub fn eigen(matrix: MatRef<'_, f64>) -> Option<(Mat<f64>, Vec<f64>)> {
    if !matrix.col_iter().all(|column| column.iter().all(|value| value.is_finite())) {
        return None;
    }
    let found = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    Some((found.U().to_owned(), found.S().column_vector().iter().copied().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern, of which any three columns are far from collinear.
    fn matrix(rows: usize, columns: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| ((3 * i + 7 * j + i * j) as f64).sin())
    }

    fn close(a: &Mat<f64>, b: &Mat<f64>) {
        assert_eq!(a.shape(), b.shape());
        for (i, j) in (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j))) {
            assert!((a[(i, j)] - b[(i, j)]).abs() < 1e-12, "{a:?} {b:?}");
        }
    }

    /// The product, element by element.
    fn plain(left: &Mat<f64>, right: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(left.nrows(), right.ncols(), |i, j| {
            (0..left.ncols()).map(|k| left[(i, k)] * right[(k, j)]).sum()
        })
    }

    #[test]
    fn products_are_those_of_the_elements() {
        let (left, right) = (matrix(5, 9), matrix(9, 4));
        let expected = plain(&left, &right);
        let mut out = product(left.as_ref(), right.as_ref());
        close(&out, &expected);
        multiply_add(out.as_mut(), left.as_ref(), right.as_ref());
        close(&out, &Mat::from_fn(5, 4, |i, j| 2.0 * expected[(i, j)]));
    }

    #[test]
    fn only_the_lower_triangle_is_added_to() {
        let z = matrix(9, 4);
        let mut out = Mat::zeros(4, 4);
        multiply_add_lower(out.as_mut(), z.transpose(), z.as_ref());
        let expected = plain(&z.transpose().to_owned(), &z);
        close(&out, &Mat::from_fn(4, 4, |i, j| if i >= j { expected[(i, j)] } else { 0.0 }));
    }

    #[test]
    fn a_definite_system_is_solved_and_another_refused() {
        let z = matrix(9, 4);
        let gram = product(z.transpose(), z.as_ref());
        let factor = Cholesky::new(gram.as_ref()).expect("positive definite");
        let right = matrix(4, 2);
        close(&plain(&gram, &factor.solve(right.as_ref())), &right);
        let identity = Mat::from_fn(4, 4, |i, j| if i == j { 1.0 } else { 0.0 });
        close(&plain(&gram, &factor.inverse()), &identity);
        let (_, values) = eigen(gram.as_ref()).expect("finite");
        let expected: f64 = values.iter().map(|value| 0.5 * value.ln()).sum();
        assert!((factor.ln_root() - expected).abs() < 1e-12);
        assert!(Cholesky::new(Mat::<f64>::zeros(2, 2).as_ref()).is_none());
        assert!(Cholesky::new(Mat::from_fn(1, 1, |_, _| f64::NAN).as_ref()).is_none());
    }

    #[test]
    fn least_squares_leave_a_residual_that_no_column_explains() {
        let (z, q) = (matrix(9, 4), matrix(9, 1));
        let qr = Orthogonal::new(z.as_ref());
        close(&product(qr.basis().as_ref(), qr.triangle().as_ref()), &z);
        let x = qr.least_squares(q.as_ref());
        let fitted = product(z.as_ref(), x.as_ref());
        let residual = Mat::from_fn(9, 1, |i, _| q[(i, 0)] - fitted[(i, 0)]);
        close(&product(z.transpose(), residual.as_ref()), &Mat::zeros(4, 1));
    }

    #[test]
    fn eigenvectors_give_the_matrix_back() {
        let z = matrix(9, 4);
        let gram = product(z.transpose(), z.as_ref());
        let (vectors, values) = eigen(gram.as_ref()).expect("finite");
        assert!(values.is_sorted());
        let scaled = Mat::from_fn(4, 4, |i, k| vectors[(i, k)] * values[k]);
        close(&product(scaled.as_ref(), vectors.transpose()), &gram);
        assert!(eigen(Mat::from_fn(2, 2, |_, _| f64::INFINITY).as_ref()).is_none());
    }
}
