//! How probable the rows are under lengths and noise (RasmussenWilliams2006, section 5.4.1).
//!
//! With C = K + noise / weights the numbers are normal with covariance s C. The best s is y'C^-1 y / n, and what is left to
//! minimise is n/2 log(y'C^-1 y) + 1/2 log|C|. In many columns and few rows that alone would fit lengths to chance: lengths and noise have
//! the log-normal priors of Hvarfner2024 (section 5), under which lengths grow with the square root of the columns.

use dolmen_linalg::{Cholesky, Mat};

use super::Kernel;
use crate::math::bulk;

/// Centre and deviation of log lengths, but for half the logarithm of the columns.
const LENGTHS: (f64, f64) = (std::f64::consts::SQRT_2, 1.732_050_807_568_877_2);
/// The same of the log noise, as a share of the signal's variance.
const NOISE: (f64, f64) = (-4.0, 2.0);
/// The least noise: without any, rows that are copies make the likeness singular.
const LEAST_NOISE: f64 = 1e-6;

/// The rows whose evidence is asked.
pub(super) struct Evidence {
    pub(super) kernel: Kernel,
    pub(super) columns: usize,
    /// Inputs on one scale, row after row.
    pub(super) points: Vec<f64>,
    pub(super) target: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

/// Lengths and noise that a point of the search stands for: logarithms of the lengths, then of the noise.
pub(super) fn meaning(at: &[f64]) -> (Vec<f64>, f64) {
    let (noise, lengths) = at.split_last().unwrap_or((&0.0, &[]));
    (lengths.iter().map(|log| log.exp()).collect(), LEAST_NOISE + noise.exp())
}

impl Evidence {
    /// Where the search starts: every column matters alike, over lengths at which rows are neither all alike nor all strange.
    pub(super) fn start(&self) -> Vec<f64> {
        let length = 0.5 * (self.columns.max(1) as f64).ln();
        let mut start = vec![length; self.columns];
        start.push((0.1_f64).ln());
        start
    }

    /// Minus the log evidence with the priors, but for constants, and its slopes. What cannot be computed is infinite.
    pub(super) fn at(&self, at: &[f64], slopes: &mut [f64]) -> f64 {
        let (lengths, noise) = meaning(at);
        let (rows, columns) = (self.target.len(), self.columns);
        // Inputs in lengths, column after column, so that what is done to a row and all after it runs along the memory.
        let points: Vec<f64> = (0..columns * rows)
            .map(|at| self.points[at % rows * columns + at / rows] / lengths[at / rows])
            .collect();
        let column = |k: usize| &points[k * rows..(k + 1) * rows];
        // Of each pair its likeness, and minus twice the derivative of that by the squared distance.
        let mut slope_of_pair = vec![0.0; rows * rows];
        let mut likeness = Mat::zeros(rows, rows);
        for i in 0..rows {
            let own = &mut likeness.col_as_slice_mut(i)[i..];
            own[0] = 1.0 + noise / self.weights[i];
            for k in 0..columns {
                bulk::add_squares_from(column(k)[i], &column(k)[i + 1..], &mut own[1..]);
            }
            self.kernel
                .at_squares(&mut own[1..], &mut slope_of_pair[i * rows + i + 1..][..rows - i - 1]);
        }
        let Some(factor) = Cholesky::new(likeness.as_ref()) else {
            slopes.fill(0.0);
            return f64::INFINITY;
        };
        let inverted = factor.inverse();
        let alpha: Vec<f64> =
            (0..rows).map(|i| bulk::dot(inverted.col_as_slice(i), &self.target)).collect();
        let fit = bulk::dot(&alpha, &self.target).max(f64::MIN_POSITIVE);
        let count: f64 = self.weights.iter().sum();
        // A row of weight w is w rows: their noise about their mean counts, too.
        let repeated = count - rows as f64;
        let value = 0.5 * count * fit.ln() + factor.ln_root() + 0.5 * repeated * noise.ln();
        // d/dC is half of C^-1 - alpha alpha' / s.
        let by_pair = |i: usize, j: usize| inverted[(i, j)] - alpha[i] * alpha[j] * count / fit;
        slopes.fill(0.0);
        for i in 0..rows {
            let of_pairs = &mut slope_of_pair[i * rows..(i + 1) * rows][i + 1..];
            let pairs = of_pairs.iter_mut().zip(&inverted.col_as_slice(i)[i + 1..]);
            for ((slope, inverted), alpha_of_other) in pairs.zip(&alpha[i + 1..]) {
                *slope *= inverted - alpha[i] * alpha_of_other * count / fit;
            }
            for (k, sum) in slopes.iter_mut().take(columns).enumerate() {
                *sum += bulk::weighted_squares_from(column(k)[i], &column(k)[i + 1..], of_pairs);
            }
        }
        let by_noise: f64 = (0..rows).map(|i| 0.5 * by_pair(i, i) / self.weights[i]).sum();
        slopes[columns] = (by_noise + 0.5 * repeated / noise) * (noise - LEAST_NOISE);
        value + self.prior(at, slopes)
    }

    /// Minus the logarithm of the priors, but for constants; their slopes are added.
    fn prior(&self, at: &[f64], slopes: &mut [f64]) -> f64 {
        let centre = LENGTHS.0 + 0.5 * (self.columns.max(1) as f64).ln();
        let mut sum = 0.0;
        for (k, (value, slope)) in at.iter().zip(slopes).enumerate() {
            let (centre, spread) = if k < self.columns { (centre, LENGTHS.1) } else { NOISE };
            let from = (value - centre) / spread;
            sum += 0.5 * from * from;
            *slope += from / spread;
        }
        sum
    }
}

impl Kernel {
    /// Replaces squared distances in lengths by the likeness there, and writes minus twice its derivatives.
    fn at_squares(self, squares: &mut [f64], slopes: &mut [f64]) {
        match self {
            Self::Matern => {
                squares.iter_mut().for_each(|square| *square = (5.0 * *square).sqrt());
                slopes.iter_mut().zip(&*squares).for_each(|(fall, a)| *fall = -a);
                bulk::exp_in_place(slopes);
                for (a, fall) in squares.iter_mut().zip(slopes) {
                    let likeness = (1.0 + *a + *a * *a / 3.0) * *fall;
                    *fall *= 5.0 / 3.0 * (1.0 + *a);
                    *a = likeness;
                }
            }
            Self::Rbf => {
                squares.iter_mut().for_each(|square| *square *= -0.5);
                bulk::exp_in_place(squares);
                slopes.copy_from_slice(squares);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(kernel: Kernel) -> Evidence {
        let wave = |k: usize| (1.7 * k as f64 + (k as f64).sqrt()).sin();
        let points: Vec<f64> = (0..36).map(wave).collect();
        let target = points.chunks(3).map(|row| row[0] - row[1] * row[1]).collect();
        let weights = (0..12).map(|i| 1.0 + f64::from(i % 3)).collect();
        Evidence { kernel, columns: 3, points, target, weights }
    }

    #[test]
    fn slopes_are_those_of_the_value() {
        for kernel in [Kernel::Matern, Kernel::Rbf] {
            let evidence = evidence(kernel);
            let at = [0.3, -0.2, 0.9, -2.0];
            let mut slopes = [0.0; 4];
            evidence.at(&at, &mut slopes);
            for k in 0..4 {
                let beside = |step: f64| {
                    let mut at = at;
                    at[k] += step;
                    evidence.at(&at, &mut [0.0; 4])
                };
                let difference = (beside(1e-5) - beside(-1e-5)) / 2e-5;
                assert!((slopes[k] - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{k}");
            }
        }
    }

    #[test]
    fn a_row_of_weight_two_is_the_row_twice() {
        let weighted = evidence(Kernel::Matern);
        let mut repeated = evidence(Kernel::Matern);
        (repeated.points, repeated.target) = (Vec::new(), Vec::new());
        for (i, weight) in weighted.weights.iter().enumerate() {
            for _ in 0..*weight as usize {
                repeated.points.extend(&weighted.points[3 * i..3 * i + 3]);
                repeated.target.push(weighted.target[i]);
            }
        }
        repeated.weights = vec![1.0; repeated.target.len()];
        let change = |evidence: &Evidence| {
            let value = |at: [f64; 4]| evidence.at(&at, &mut [0.0; 4]);
            value([0.3, -0.2, 0.9, -2.0]) - value([0.1, 0.5, 0.2, -1.0])
        };
        assert!((change(&weighted) - change(&repeated)).abs() < 1e-9);
    }
}
