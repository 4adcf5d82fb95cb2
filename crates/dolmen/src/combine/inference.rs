//! How sure weights and gains are.

use dolmen_linalg::{Cholesky, Mat};
use rayon::prelude::*;

use super::Weighable;
use super::copies::Copies;
use super::method::Weigher;
use super::pseudo_bma::bootstrap_shares;
use crate::error::Result;
use crate::math::Gram;
use crate::run::Run;
use crate::score::Estimate;
use crate::solver::problem::WeightProblem;

/// The error of one weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightError {
    pub(super) se: Option<f64>,
    /// The central 90 % of the bootstrap, stretched to the weight itself where that lies outside.
    pub(super) interval: Option<[f64; 2]>,
    /// Whether it had to be stretched.
    pub(super) stretched: bool,
}

impl WeightError {
    /// Nothing is known.
    pub(super) const NONE: Self = Self { se: None, interval: None, stretched: false };
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
    let error = |m: usize| spread(weights[m], drawn.iter().map(|w| w[m]).collect());
    Ok((0..weights.len()).map(error).collect())
}

/// Standard deviation and central 90 % of a sample of estimates like this one.
///
/// A weight is held at zero from one side only, so its resamples may all lie on one side of it. An interval without its
/// estimate would be read as an error; it is stretched to the estimate, and says so.
fn spread(estimate: f64, mut sample: Vec<f64>) -> WeightError {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let quantile = |p: f64| sample[((n - 1.0) * p).round() as usize];
    if sample.len() < 2 {
        return WeightError::NONE;
    }
    let (low, high) = (quantile(0.05), quantile(0.95));
    // Weights that are what they are, whatever the rows, differ by rounding only.
    let se = variance.sqrt();
    WeightError {
        se: Some(if se <= ROUNDING { 0.0 } else { se }),
        interval: Some([low.min(estimate), high.max(estimate)]),
        stretched: estimate < low - ROUNDING || estimate > high + ROUNDING,
    }
}

/// Standard errors by the sandwich A^-1 B A^-1 within the face of positive weights (White1982).
///
/// Weights of exactly zero have none: the estimate cannot say how often they would leave zero. Members that are
/// collinear have none either.
pub(super) fn sandwich(problem: &dyn WeightProblem, weights: &[f64]) -> Vec<WeightError> {
    let support: Vec<usize> = (0..weights.len()).filter(|&m| weights[m] > 0.0).collect();
    let mut errors = vec![WeightError::NONE; weights.len()];
    if support.len() == 1 {
        errors[support[0]].se = Some(0.0);
        return errors;
    }
    let (curvature, spread) = problem.sandwich(weights, &support);
    // Moves that keep the sum: one unit from the last member of the face to another.
    let (a, b) = (contrasts(&curvature), contrasts(&spread));
    let Some(factor) = Cholesky::new(a.as_ref()) else { return errors };
    let half = factor.solve(b.as_ref());
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

/// Differences of weights and scores that the solver's tolerance may make.
const ROUNDING: f64 = 1e-9;

/// What is lost without a member, and the weights of the others then.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Absence {
    pub(super) loss: Estimate,
    pub(super) weights: Vec<f64>,
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
    Absence { loss, weights: found.weights }
}

/// Rows from which on a standard error says something.
const FEWEST_ROWS: usize = 5;

/// Groups of members that can stand in for one another.
///
/// Two can if each, with the other gone, makes up for it: the loss is within its standard error, and at least half of the
/// absent one's weight goes to the one that stays (else a third is what makes up for it). It is tested both ways, and a
/// group is formed only of members each pair of which passes. Members that say the same of every row always can; others not on
/// the word of a few rows. `unit` is what losses are small against.
pub(super) fn interchangeable(
    weights: &[f64],
    absences: &[Option<Absence>],
    copies: &Copies,
    rows: usize,
    unit: f64,
) -> Vec<Vec<usize>> {
    let replaces = |stays: usize, leaves: usize| {
        if rows < FEWEST_ROWS {
            return false;
        }
        let Some(Absence { loss, weights: then }) = &absences[leaves] else { return false };
        let gained = then[stays] - weights[stays];
        let painless = loss.mean <= loss.se.unwrap_or(0.0) + ROUNDING * unit;
        painless && gained >= 0.5 * weights[leaves] - ROUNDING
    };
    let alike = |a: usize, b: usize| {
        let in_use = weights[a] > 0.0 || weights[b] > 0.0;
        in_use && (copies.are_equal(a, b) || (replaces(a, b) && replaces(b, a)))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for m in 0..weights.len() {
        match groups.iter_mut().find(|group| group.iter().all(|&other| alike(other, m))) {
            Some(group) => group.push(m),
            None => groups.push(vec![m]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}
