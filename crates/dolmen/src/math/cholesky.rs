//! Small symmetric positive definite matrices through their Cholesky factor.
//!
//! Matrices are d x d, row after row; of a symmetric matrix only the lower triangle is read.

/// A pivot below this share of its diagonal entry is rounding error: the matrix is singular as far as doubles can tell.
const SINGULAR: f64 = 1e-13;

/// Replaces a matrix A by its factor L, A = L L', with zeros above the diagonal. Says which pivot failed if A is not
/// positive definite (or not finite).
pub(crate) fn factorise(a: &mut [f64], d: usize) -> Result<(), usize> {
    for i in 0..d {
        let (above, rest) = a.split_at_mut(i * d);
        let row = &mut rest[..d];
        let diagonal = row[i];
        for j in 0..i {
            let other = &above[j * d..j * d + d];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = diagonal - dot(&row[..i], &row[..i]);
        let definite = pivot > SINGULAR * diagonal && pivot.is_finite();
        if !definite {
            return Err(i);
        }
        row[i] = pivot.sqrt();
        row[i + 1..].fill(0.0);
    }
    Ok(())
}

/// Replaces a lower triangular matrix by its inverse.
pub(crate) fn invert_lower(l: &mut [f64], d: usize) {
    for i in 0..d {
        let (above, rest) = l.split_at_mut(i * d);
        let row = &mut rest[..=i];
        let inverse = 1.0 / row[i];
        // Row i of the inverse is -(1/l_ii) sum_k l_ik (row k of the inverse); entry k is read before it is overwritten.
        for k in 0..i {
            let factor = -row[k] * inverse;
            row[k] = 0.0;
            for (entry, above) in row.iter_mut().zip(&above[k * d..=k * d + k]) {
                *entry += factor * above;
            }
        }
        row[i] = inverse;
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix with entries of unlike size.
    fn matrix(d: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| {
            let (i, j) = (i as f64, j as f64);
            (1.0 + i) * (1.0 + j) * (-(i - j).abs()).exp()
        };
        (0..d * d).map(|e| entry(e / d, e % d)).collect()
    }

    #[test]
    fn the_factor_and_its_inverse_give_the_matrix_and_the_identity() {
        for d in [1, 2, 5, 13] {
            let a = matrix(d);
            let mut l = a.clone();
            factorise(&mut l, d).unwrap();
            let mut w = l.clone();
            invert_lower(&mut w, d);
            for i in 0..d {
                for j in 0..d {
                    let product = |x: &[f64], y: &dyn Fn(usize) -> f64| -> f64 {
                        (0..d).map(|k| x[i * d + k] * y(k)).sum()
                    };
                    assert!((product(&l, &|k| l[j * d + k]) - a[i * d + j]).abs() < 1e-11);
                    let identity = f64::from(u8::from(i == j));
                    assert!((product(&w, &|k| l[k * d + j]) - identity).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn singular_and_unusable_matrices_are_refused() {
        assert_eq!(factorise(&mut [0.0], 1), Err(0));
        assert_eq!(factorise(&mut [1.0, 1.0, 1.0, 1.0], 2), Err(1));
        assert_eq!(factorise(&mut [1.0, 0.0, 2.0, 1.0], 2), Err(1));
        assert_eq!(factorise(&mut [f64::NAN], 1), Err(0));
        assert_eq!(factorise(&mut [f64::INFINITY], 1), Err(0));
    }
}
