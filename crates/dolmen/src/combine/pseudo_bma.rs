//! Pseudo-BMA and pseudo-BMA+ weights [Yao2018, section 3.4].

use rand_distr::{Distribution, Exp1};

use crate::math::log_sum_exp;
use crate::run::Run;

/// Weights proportional to exp(total log score). It selects rather than combines: with many rows all goes to one member.
pub(super) fn plain(row_scores: &[Vec<f64>], shares: &[f64], rows: f64) -> Vec<f64> {
    let mean = |column: &Vec<f64>| crate::math::weighted_mean(column, shares);
    of_means(&row_scores.iter().map(mean).collect::<Vec<f64>>(), rows)
}

/// The same from the members' mean scores in so many rows.
pub(crate) fn of_means(means: &[f64], rows: f64) -> Vec<f64> {
    soft_max(&means.iter().map(|mean| rows * mean).collect::<Vec<f64>>())
}

/// Pseudo-BMA averaged over `draws` Bayesian bootstraps of the rows, which takes the totals' uncertainty into account.
pub(super) fn bootstrapped(
    row_scores: &[Vec<f64>],
    shares: &[f64],
    rows: f64,
    draws: usize,
    run: &Run,
) -> Vec<f64> {
    let mut mean = vec![0.0; row_scores.len()];
    for draw in 0..draws {
        let weights = plain(row_scores, &bootstrap_shares(shares, &run.child(draw as u64)), rows);
        mean.iter_mut().zip(&weights).for_each(|(mean, w)| *mean += w);
    }
    let total: f64 = mean.iter().sum();
    mean.iter_mut().for_each(|mean| *mean /= total);
    mean
}

/// One Bayesian bootstrap of the rows: Dirichlet(1, ..., 1) shares (Rubin1981), times the rows' own.
pub(super) fn bootstrap_shares(shares: &[f64], run: &Run) -> Vec<f64> {
    let mut rng = run.rng();
    let mut exponential = || -> f64 { Exp1.sample(&mut rng) };
    let mut drawn: Vec<f64> = shares.iter().map(|share| share * exponential()).collect();
    let total: f64 = drawn.iter().sum();
    if total > 0.0 {
        drawn.iter_mut().for_each(|d| *d /= total);
    }
    drawn
}

/// exp(x) / sum exp(x); equal weights if all x are `-inf`.
fn soft_max(x: &[f64]) -> Vec<f64> {
    let total = log_sum_exp(x);
    if total == f64::NEG_INFINITY {
        return vec![1.0 / x.len() as f64; x.len()];
    }
    x.iter().map(|x| (x - total).exp()).collect()
}
