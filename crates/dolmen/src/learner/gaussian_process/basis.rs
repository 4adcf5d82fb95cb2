//! Many rows fitted by functions about some of them: the subset of regressors (RasmussenWilliams2006, section 8.3.1).
//!
//! With m rows as a basis, the coefficients a minimise sum_i w_i (y_i - k_i'a)^2 + noise a'K a, where k_i holds row i's likeness to the m rows and
//! K theirs to each other. That costs n m^2 instead of n^3, and a prediction m likenesses instead of n; with all rows as the basis it is the process itself.

use dolmen_linalg::{Cholesky, Mat};

use super::Training;
use crate::error::{Error, Result};
use crate::learner::likeness::Compared;
use crate::math::Gram;
use crate::memory;
use crate::stats::accumulate;

/// Rows whose likenesses are multiplied at a time, and rows that one thread sums up.
const BLOCK: usize = 256;
const PIECE: usize = 16 * BLOCK;
/// What is added to the diagonal, as a share of its mean, so that rows that are nearly copies can stand in a basis side by side: first, and
/// at most.
const JITTER: (f64, f64) = (1e-12, 1e-6);

/// The coefficients of a basis. `points` are all rows in lengths.
pub(super) fn coefficients(
    training: &Training,
    points: &[f64],
    basis: &Compared,
    noise: f64,
) -> Result<Vec<f64>> {
    let order = basis.rows();
    let products = products(training, points, basis)?;
    let mut own = vec![0.0; basis.padded()];
    let mut left = Mat::zeros(order, order);
    for j in 0..order {
        basis.compare(&basis.row(j), &mut own);
        for i in j..order {
            left[(i, j)] = products.get(i, j) + noise * own[i];
        }
    }
    let right: Vec<f64> = (0..order).map(|i| products.get(i, order)).collect();
    let mean = (0..order).map(|i| left[(i, i)]).sum::<f64>() / order as f64;
    let mut jitter = JITTER.0;
    while jitter <= JITTER.1 {
        (0..order).for_each(|i| left[(i, i)] += jitter * mean);
        if let Some(factor) = Cholesky::new(left.as_ref()) {
            return Ok(factor.solve_vector(&right));
        }
        jitter *= 100.0;
    }
    Err(Error::param("likeness of the rows", "one that can be inverted", "numerically singular"))
}

/// The sums over rows of w k k' and, in one more row, of w y k.
fn products(training: &Training, points: &[f64], basis: &Compared) -> Result<Gram> {
    let (order, columns) = (basis.rows() + 1, training.columns());
    let pieces = training.rows().div_ceil(PIECE).min(rayon::current_num_threads() + 1);
    let needed = memory::size(&[pieces + 2, order, order, size_of::<f64>()]);
    memory::claim(needed, "the likeness of rows to those of a basis")?;
    Ok(accumulate(
        training.rows(),
        PIECE,
        || Gram::zero(order),
        |sum, part| {
            let mut own = vec![0.0; basis.padded()];
            let (mut rows, mut weighted) = (Vec::new(), Vec::new());
            for first in part.clone().step_by(BLOCK) {
                let block = first..part.end.min(first + BLOCK);
                rows.clear();
                weighted.clear();
                for i in block.clone() {
                    basis.compare(&points[i * columns..(i + 1) * columns], &mut own);
                    rows.extend_from_slice(&own[..order - 1]);
                    rows.push(training.target[i]);
                    let weight = training.weights[i];
                    weighted.extend(rows[rows.len() - order..].iter().map(|k| weight * k));
                }
                sum.add_weighted_rows(&rows, &weighted, block.len());
            }
        },
    ))
}

#[cfg(test)]
mod tests {
    use crate::Run;
    use crate::learner::gaussian_process::GaussianProcess;
    use crate::learner::{Learner, Sample, Weights, predict};
    use crate::table::Features;
    use crate::task::Regression;

    fn rows(count: usize) -> (Features, Vec<f64>) {
        let wave = |k: usize| (1.7 * k as f64 + (k as f64).sqrt()).sin();
        let values: Vec<f64> = (0..2 * count).map(wave).collect();
        let target = values.chunks(2).enumerate();
        let target = target.map(|(i, x)| x[0] - x[1] * x[1] + 0.1 * wave(1000 + i)).collect();
        (Features::numeric(values, 2).unwrap(), target)
    }

    fn predicted(process: &GaussianProcess, rows: &Features, target: &Vec<f64>) -> Vec<f64> {
        let weights = (0..target.len()).map(|i| 1.0 + (i % 3) as f64).collect();
        let weights = Weights::new(weights).unwrap();
        let sample = Sample::<Regression>::new(rows.rows(), target).unwrap();
        let sample = sample.weighted(&weights).unwrap();
        let run = Run::new(3);
        let model = process.fit(&sample, &run).unwrap().remove(0);
        predict(model.as_ref(), rows.rows(), &run).unwrap()
    }

    #[test]
    fn a_basis_of_nearly_all_rows_is_the_process_itself() {
        let (rows, target) = rows(120);
        let exact = predicted(&GaussianProcess::default(), &rows, &target);
        let by_basis = GaussianProcess { basis: 119, ..GaussianProcess::default() };
        let close = predicted(&by_basis, &rows, &target);
        let far = exact.iter().zip(&close).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-3, "{far}");
        assert!(far > 0.0, "one row less is no longer the same");
    }

    #[test]
    fn a_small_basis_predicts_nearly_as_well() {
        let (rows, target) = rows(600);
        let error = |process: &GaussianProcess| {
            let predicted = predicted(process, &rows, &target);
            let squares = predicted.iter().zip(&target).map(|(p, y)| (p - y) * (p - y));
            (squares.sum::<f64>() / target.len() as f64).sqrt()
        };
        let whole = error(&GaussianProcess::default());
        let small = error(&GaussianProcess { basis: 60, ..GaussianProcess::default() });
        assert!(small < 1.15 * whole, "{small} {whole}");
    }
}
