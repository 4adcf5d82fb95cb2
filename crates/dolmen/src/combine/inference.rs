//! How sure weights and gains are.

use faer::Mat;
use faer::Side;
use faer::linalg::solvers::Solve;
use rayon::prelude::*;
use serde::Serialize;

use super::Weighable;
use super::method::Weigher;
use super::problem::{self, WeightProblem};
use super::pseudo_bma::bootstrap_shares;
use crate::error::Result;
use crate::learner::Run;
use crate::math::Gram;

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean; infinite if a row's value is.
    pub mean: f64,
    /// Its standard error; `None` with a single row or infinite values.
    pub se: Option<f64>,
}

impl Estimate {
    /// The mean of paired differences `a - b` of row scores, over rows with a share.
    ///
    /// Where both scores are `-inf` the row tells nothing of the difference and counts as 0.
    pub fn of_difference(a: &[f64], b: &[f64], shares: &[f64]) -> Self {
        let difference = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { a - b };
        let differences: Vec<f64> = a.iter().zip(b).map(difference).collect();
        Self::of(&differences, shares)
    }

    /// The mean of values, over rows with a share; its variance is sum_i share_i^2 (v_i - mean)^2 n / (n - 1).
    pub fn of(values: &[f64], shares: &[f64]) -> Self {
        let mean = problem::weighted_mean(values, shares);
        let rows = shares.iter().filter(|s| **s > 0.0).count() as f64;
        let square = |(v, s): (&f64, &f64)| if *s > 0.0 { (s * (v - mean)).powi(2) } else { 0.0 };
        let variance = values.iter().zip(shares).map(square).sum::<f64>() * rows / (rows - 1.0);
        let se = variance.sqrt();
        Self { mean, se: se.is_finite().then_some(se) }
    }
}

/// The error of one weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightError {
    pub(super) se: Option<f64>,
    /// The central 90 % of the bootstrap.
    pub(super) interval: Option<[f64; 2]>,
}

/// Standard errors and intervals by the Bayesian bootstrap: the weights found again for `draws` random row shares, each
/// time starting from the weights on all rows.
pub(super) fn bootstrap<T: Weighable>(
    weigher: &Weigher<'_, T>,
    weights: &[f64],
    draws: usize,
    run: &Run,
) -> Result<Vec<WeightError>> {
    let all: Vec<usize> = (0..weights.len()).collect();
    // A little weight for everyone, so that each draw is free to use any member.
    let start: Vec<f64> = weights.iter().map(|w| w + 1e-3 / weights.len() as f64).collect();
    let drawn: Vec<Vec<f64>> = run.install(|| {
        (0..draws)
            .into_par_iter()
            .map(|draw| {
                run.check()?;
                let shares = bootstrap_shares(weigher.problem.shares(), &run.child(draw as u64));
                let found = run.step("bootstrap", |_| weigher.again(&shares, &start, &all));
                Ok(found.weights)
            })
            .collect::<Result<_>>()
    })?;
    Ok((0..weights.len()).map(|m| spread(drawn.iter().map(|w| w[m]).collect())).collect())
}

/// Standard deviation and central 90 % of a sample.
fn spread(mut sample: Vec<f64>) -> WeightError {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let quantile = |p: f64| sample[((n - 1.0) * p).round() as usize];
    let enough = sample.len() > 1;
    WeightError {
        se: enough.then(|| variance.sqrt()),
        interval: enough.then(|| [quantile(0.05), quantile(0.95)]),
    }
}

/// Standard errors by the sandwich A^-1 B A^-1 within the face of positive weights [White 1982].
///
/// Weights of exactly zero have none: the estimate cannot say how often they would leave zero. Members that are
/// collinear have none either.
pub(super) fn sandwich(problem: &dyn WeightProblem, weights: &[f64]) -> Vec<WeightError> {
    let support: Vec<usize> = (0..weights.len()).filter(|&m| weights[m] > 0.0).collect();
    let mut errors = vec![WeightError { se: None, interval: None }; weights.len()];
    if support.len() == 1 {
        errors[support[0]].se = Some(0.0);
        return errors;
    }
    let (curvature, spread) = problem.sandwich(weights, &support);
    // Moves that keep the sum: one unit from the last member of the face to another.
    let (a, b) = (contrasts(&curvature), contrasts(&spread));
    let Ok(factor) = a.llt(Side::Lower) else { return errors };
    let half = factor.solve(&b);
    let covariance = factor.solve(half.transpose());
    let free = support.len() - 1;
    let variance = |s: usize| {
        if s < free {
            covariance[(s, s)]
        } else {
            (0..free * free).map(|k| covariance[(k / free, k % free)]).sum()
        }
    };
    for (s, &m) in support.iter().enumerate() {
        let se: f64 = variance(s).sqrt();
        // A weight lies between 0 and 1: a larger error means that the members cannot be told apart.
        errors[m].se = (se <= 1.0).then_some(se);
    }
    errors
}

/// T'GT for T = [I; -1]: the matrix in the directions that keep the sum.
fn contrasts(g: &Gram) -> Mat<f64> {
    let last = g.order() - 1;
    Mat::from_fn(last, last, |i, j| {
        g.get(i, j) - g.get(i, last) - g.get(last, j) + g.get(last, last)
    })
}

/// What is lost without a member, and who would take its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Absence {
    pub(super) loss: Estimate,
    /// The member that gains most weight, if it gains more than half of the absent one's.
    pub(super) heir: Option<usize>,
}

/// Finds the weights again without member `m` and compares the rows' scores.
pub(super) fn without<T: Weighable>(
    weigher: &Weigher<'_, T>,
    weights: &[f64],
    row_scores: &[f64],
    m: usize,
) -> Absence {
    let problem = &weigher.problem;
    let others: Vec<usize> = (0..weights.len()).filter(|&k| k != m).collect();
    let start: Vec<f64> = weights.iter().map(|w| w + 1e-3 / weights.len() as f64).collect();
    let found = weigher.again(problem.shares(), &start, &others);
    let scores = problem.row_scores(&found.weights);
    let loss = Estimate::of_difference(row_scores, &scores, problem.shares());
    let gained = |k: usize| found.weights[k] - weights[k];
    let heir = others.into_iter().max_by(|&a, &b| gained(a).total_cmp(&gained(b)));
    Absence { loss, heir: heir.filter(|&k| gained(k) > 0.5 * weights[m]) }
}

/// Groups of members that can stand in for one another: without one of them nothing measurable is lost (less than one
/// standard error), because another of the group takes most of its weight.
pub(super) fn interchangeable(absences: &[Option<Absence>]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..absences.len()).collect();
    for (m, absence) in absences.iter().enumerate() {
        let Some(Absence { loss, heir: Some(heir) }) = absence else { continue };
        if loss.mean <= loss.se.unwrap_or(0.0) {
            let (from, to) = (group[m].max(group[*heir]), group[m].min(group[*heir]));
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let members = |g: usize| (0..group.len()).filter(|&m| group[m] == g).collect::<Vec<usize>>();
    (0..group.len()).map(members).filter(|g| g.len() > 1).collect()
}
