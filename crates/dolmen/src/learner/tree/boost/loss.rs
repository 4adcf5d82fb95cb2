//! Losses: what boosting descends on (Friedman2001, section 4; HastieTibshiraniFriedman2009, table 10.2).

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::math::{bulk, log_sum_exp};

/// A differentiable loss of a target y and scores F, one score a row or several.
///
/// Targets are numbers, or the index of the class. A loss of one's own needs `start`, `loss`, `gradients` and `link`.
pub trait Loss: Debug + Send + Sync {
    /// Scores of a row.
    fn outputs(&self) -> usize {
        1
    }

    /// Refuses targets the loss is not defined for.
    fn check(&self, _targets: &[f64]) -> Result<()> {
        Ok(())
    }

    /// The constant scores to start from, best or nearly so.
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64>;

    /// The loss of one row.
    fn loss(&self, target: f64, scores: &[f64]) -> f64;

    /// The derivatives of the loss by each score and positive curvatures, of a block of rows, row after row.
    fn gradients(
        &self,
        targets: &[f64],
        scores: &[f64],
        gradients: &mut [f64],
        curvatures: &mut [f64],
    );

    /// What scores mean.
    fn link(&self) -> Link;

    /// Whether leaves are given their values by [`Loss::refit`] instead of by the step along the gradient, which is a poor
    /// one for losses without curvature.
    fn refits(&self) -> bool {
        false
    }

    /// The best constant to add to the scores of rows, given their residuals `y - F` with weights.
    fn refit(&self, _residuals: &mut [(f64, f64)]) -> f64 {
        0.0
    }
}

/// From scores to predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Link {
    /// The score itself.
    Identity,
    /// exp(F).
    Exp,
    /// The second class has probability 1 / (1 + exp(-factor F)).
    Logistic(f64),
    /// Class k has probability exp(F_k) / sum exp(F).
    Softmax,
}

impl Link {
    /// Values predicted from this many scores.
    pub fn width(self, outputs: usize) -> usize {
        if matches!(self, Self::Logistic(_)) { 2 } else { outputs }
    }

    /// Whether this many scores a row are what it is for.
    pub fn takes(self, outputs: usize) -> bool {
        outputs == 1 || outputs > 0 && !matches!(self, Self::Logistic(_))
    }

    /// Predictions from scores, `outputs` a row, row after row.
    pub fn apply(self, scores: &[f64], outputs: usize, out: &mut [f64]) {
        match self {
            Self::Identity => out.copy_from_slice(scores),
            Self::Exp => {
                out.copy_from_slice(scores);
                bulk::exp_in_place(out);
            }
            Self::Logistic(factor) => {
                for (out, score) in out.as_chunks_mut::<2>().0.iter_mut().zip(scores) {
                    *out = [factor * score, -factor * score];
                }
                bulk::exp_in_place(out);
                out.iter_mut().for_each(|p| *p = 1.0 / (1.0 + *p));
            }
            Self::Softmax => {
                out.copy_from_slice(scores);
                for row in out.chunks_exact_mut(outputs) {
                    let total = log_sum_exp(row);
                    row.iter_mut().for_each(|p| *p = (*p - total).exp());
                }
            }
        }
    }
}

/// The weighted mean.
pub(super) fn mean(targets: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    targets.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>() / total
}

/// The weighted quantile: the smallest value with at least this share of the weight at or below it; the midpoint with the
/// next where the share is met exactly.
pub(super) fn quantile(values: &mut [(f64, f64)], share: f64) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let goal = share * values.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut held = 0.0;
    for (i, (value, weight)) in values.iter().enumerate() {
        held += weight;
        if held > goal || i + 1 == values.len() {
            return *value;
        }
        if held == goal && *weight > 0.0 {
            let next = values[i + 1..].iter().find(|(_, weight)| *weight > 0.0);
            return next.map_or(*value, |next| f64::midpoint(*value, next.0));
        }
    }
    0.0
}

fn paired(targets: &[f64], weights: &[f64]) -> Vec<(f64, f64)> {
    targets.iter().copied().zip(weights.iter().copied()).collect()
}

/// (y - F)^2 / 2.
#[derive(Debug, Clone, Copy)]
pub struct Squared;

impl Loss for Squared {
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        vec![mean(targets, weights)]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        0.5 * (target - scores[0]).powi(2)
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        for ((g, score), y) in g.iter_mut().zip(scores).zip(y) {
            *g = score - y;
        }
        h.fill(1.0);
    }
    fn link(&self) -> Link {
        Link::Identity
    }
}

/// The loss of the `share` quantile: share (y - F) above, (1 - share) (F - y) below. Half the absolute error at 0.5.
#[derive(Debug, Clone, Copy)]
pub struct Quantile {
    /// Which quantile, between 0 and 1.
    pub share: f64,
}

impl Loss for Quantile {
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        vec![quantile(&mut paired(targets, weights), self.share)]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        let residual = target - scores[0];
        if residual > 0.0 { self.share * residual } else { (self.share - 1.0) * residual }
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        for ((g, score), y) in g.iter_mut().zip(scores).zip(y) {
            *g = if y > score { -self.share } else { 1.0 - self.share };
        }
        h.fill(1.0);
    }
    fn link(&self) -> Link {
        Link::Identity
    }
    fn refits(&self) -> bool {
        true
    }
    fn refit(&self, residuals: &mut [(f64, f64)]) -> f64 {
        quantile(residuals, self.share)
    }
}

/// Squared up to an error of `delta`, absolute beyond (Huber1964).
#[derive(Debug, Clone, Copy)]
pub struct Huber {
    /// Where one goes over into the other.
    pub delta: f64,
}

impl Loss for Huber {
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        vec![quantile(&mut paired(targets, weights), 0.5)]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        let size = (target - scores[0]).abs();
        if size <= self.delta { 0.5 * size * size } else { self.delta * (size - 0.5 * self.delta) }
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        for ((g, score), y) in g.iter_mut().zip(scores).zip(y) {
            *g = (score - y).clamp(-self.delta, self.delta);
        }
        h.fill(1.0);
    }
    fn link(&self) -> Link {
        Link::Identity
    }
    fn refits(&self) -> bool {
        true
    }
    /// One step from the median (Friedman2001, algorithm 4).
    fn refit(&self, residuals: &mut [(f64, f64)]) -> f64 {
        let median = quantile(residuals, 0.5);
        let total: f64 = residuals.iter().map(|(_, weight)| weight).sum();
        let step = |(r, w): &(f64, f64)| w * (r - median).clamp(-self.delta, self.delta);
        median + residuals.iter().map(step).sum::<f64>() / total
    }
}

/// The error that nine tenths of the rows do not exceed around their median.
pub(super) fn usual_delta(y: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut values: Vec<(f64, f64)> = y.iter().enumerate().map(|(i, y)| (*y, weight(i))).collect();
    let median = quantile(&mut values, 0.5);
    values.iter_mut().for_each(|(y, _)| *y = (*y - median).abs());
    let delta = quantile(&mut values, 0.9);
    if delta > 0.0 { delta } else { 1.0 }
}

/// exp(F) - y F: counts with mean exp(F).
#[derive(Debug, Clone, Copy)]
pub struct Poisson;

impl Loss for Poisson {
    fn check(&self, targets: &[f64]) -> Result<()> {
        let negative = targets.iter().find(|y| **y < 0.0);
        let sum: f64 = targets.iter().sum();
        match negative {
            Some(y) => {
                Err(Error::param("loss", "another one: poisson needs targets of at least 0", y))
            }
            None if sum <= 0.0 => {
                Err(Error::param("loss", "another one: poisson needs a positive target", sum))
            }
            None => Ok(()),
        }
    }
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        vec![mean(targets, weights).max(f64::MIN_POSITIVE).ln()]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        scores[0].exp() - target * scores[0]
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        h.copy_from_slice(scores);
        bulk::exp_in_place(h);
        for ((g, mean), y) in g.iter_mut().zip(h).zip(y) {
            *g = *mean - y;
        }
    }
    fn link(&self) -> Link {
        Link::Exp
    }
}

/// ln(1 + exp(F)) - y F for y = 0 or 1: minus the log-likelihood of two classes.
#[derive(Debug, Clone, Copy)]
pub struct Logistic;

impl Loss for Logistic {
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        let p = mean(targets, weights).clamp(1e-12, 1.0 - 1e-12);
        vec![(p / (1.0 - p)).ln()]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        log_sum_exp(&[0.0, scores[0]]) - target * scores[0]
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        for (h, score) in h.iter_mut().zip(scores) {
            *h = -score;
        }
        bulk::exp_in_place(h);
        for ((g, h), y) in g.iter_mut().zip(h).zip(y) {
            let p = 1.0 / (1.0 + *h);
            *g = p - y;
            *h = p * (1.0 - p);
        }
    }
    fn link(&self) -> Link {
        Link::Logistic(1.0)
    }
}

/// exp(-z F) with z = -1 or 1 for the two classes: the loss of AdaBoost (FriedmanHastieTibshirani2000).
#[derive(Debug, Clone, Copy)]
pub struct Exponential;

impl Loss for Exponential {
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        vec![0.5 * Logistic.start(targets, weights)[0]]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        ((1.0 - 2.0 * target) * scores[0]).exp()
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        for ((h, score), y) in h.iter_mut().zip(scores).zip(y) {
            *h = (1.0 - 2.0 * y) * score;
        }
        bulk::exp_in_place(h);
        for ((g, h), y) in g.iter_mut().zip(h).zip(y) {
            *g = (1.0 - 2.0 * y) * *h;
        }
    }
    fn link(&self) -> Link {
        Link::Logistic(2.0)
    }
}

/// ln sum_k exp(F_k) - F_y: minus the log-likelihood of several classes.
#[derive(Debug, Clone, Copy)]
pub struct Multinomial {
    /// Number of classes.
    pub classes: usize,
}

impl Loss for Multinomial {
    fn outputs(&self) -> usize {
        self.classes
    }
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes];
        targets.iter().zip(weights).for_each(|(y, w)| counts[*y as usize] += w);
        let total: f64 = counts.iter().sum();
        counts.iter().map(|n| (n / total).max(1e-12).ln()).collect()
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        log_sum_exp(scores) - scores[target as usize]
    }
    fn gradients(&self, y: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        let k = self.classes;
        // The curvature of one score with the others held, enlarged because they move as well.
        let factor = k as f64 / (k as f64 - 1.0);
        for (g, scores) in g.chunks_exact_mut(k).zip(scores.chunks_exact(k)) {
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            g.iter_mut().zip(scores).for_each(|(g, score)| *g = score - largest);
        }
        bulk::exp_in_place(g);
        for ((g, h), y) in g.chunks_exact_mut(k).zip(h.chunks_exact_mut(k)).zip(y) {
            let total: f64 = g.iter().sum();
            for (class, (g, h)) in g.iter_mut().zip(h).enumerate() {
                let p = *g / total;
                *g = if class == *y as usize { p - 1.0 } else { p };
                *h = factor * p * (1.0 - p);
            }
        }
    }
    fn link(&self) -> Link {
        Link::Softmax
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_the_slopes_of_the_losses() {
        let (quantile, huber) = (Quantile { share: 0.3 }, Huber { delta: 0.8 });
        let cases: [(&dyn Loss, f64); 8] = [
            (&Squared, 1.3),
            (&quantile, 1.3),
            (&huber, 1.3),
            (&huber, 0.4),
            (&Poisson, 3.0),
            (&Logistic, 1.0),
            (&Exponential, 0.0),
            (&Multinomial { classes: 3 }, 2.0),
        ];
        for (loss, y) in cases {
            let scores: Vec<f64> = [0.2, -0.7, 0.9][..loss.outputs()].to_vec();
            let (mut g, mut h) = (scores.clone(), scores.clone());
            loss.gradients(&[y], &scores, &mut g, &mut h);
            for k in 0..scores.len() {
                let at = |step: f64| {
                    let mut moved = scores.clone();
                    moved[k] += step;
                    loss.loss(y, &moved)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - g[k]).abs() < 1e-8, "{loss:?}: {slope} {}", g[k]);
                assert!(h[k] > 0.0);
            }
        }
    }

    #[test]
    fn starts_are_the_best_constants() {
        let (y, w) = ([0.0, 1.0, 1.0, 0.0, 1.0], [1.0, 2.0, 1.0, 1.0, 0.5]);
        let losses: [&dyn Loss; 5] =
            [&Squared, &Poisson, &Logistic, &Exponential, &Quantile { share: 0.3 }];
        for loss in losses {
            let total = |score: f64| -> f64 {
                y.iter().zip(&w).map(|(y, w)| w * loss.loss(*y, &[score])).sum()
            };
            let start = loss.start(&y, &w)[0];
            assert!(total(start) <= total(start + 1e-3) && total(start) <= total(start - 1e-3));
        }
    }
}
