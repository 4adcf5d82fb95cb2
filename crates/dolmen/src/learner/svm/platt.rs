//! From decision values to probabilities: a sigmoid for two classes, and coupling of the pairs for more.

use serde::{Deserialize, Serialize};

use crate::store::Parameters;

/// p(first class given f) = 1 / (1 + exp(slope f + intercept)) [Platt1999].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sigmoid {
    slope: f64,
    intercept: f64,
}

/// One decision value, whether its row belongs to the first class, and the row's weight.
pub(super) type Scored = (f64, bool, f64);

/// The curvature added so that a Newton step always exists.
const RIDGE: f64 = 1e-12;

impl Sigmoid {
    /// Adds it to what a machine consists of.
    pub(super) fn describe(self, machine: Parameters) -> Parameters {
        machine.with("sigmoid_slope", self.slope).with("sigmoid_intercept", self.intercept)
    }

    /// The sigmoid of greatest likelihood for decision values of rows that were not learned from, by Newton's method with
    /// step halving [LinLinWeng2007, Algorithm 1]. Targets are drawn in from 0 and 1 as by one row more [Platt1999].
    pub(super) fn fit(scored: &[Scored]) -> Self {
        let weight = |first: bool| -> f64 {
            scored.iter().filter(|s| s.1 == first).map(|(_, _, weight)| weight).sum()
        };
        let (ours, theirs) = (weight(true), weight(false));
        let target =
            |first: bool| if first { (ours + 1.0) / (ours + 2.0) } else { 1.0 / (theirs + 2.0) };
        let mut found = Self { slope: 0.0, intercept: ((theirs + 1.0) / (ours + 1.0)).ln() };
        let mut loss = found.loss(scored, target);
        for _ in 0..100 {
            let (gradient, hessian) = found.derivatives(scored, target);
            if gradient.0.abs() < 1e-5 && gradient.1.abs() < 1e-5 {
                break;
            }
            let determinant = hessian.0 * hessian.2 - hessian.1 * hessian.1;
            let slope = -(hessian.2 * gradient.0 - hessian.1 * gradient.1) / determinant;
            let intercept = -(hessian.0 * gradient.1 - hessian.1 * gradient.0) / determinant;
            let descent = gradient.0 * slope + gradient.1 * intercept;
            let mut step = 1.0;
            let better = loop {
                let tried = Self {
                    slope: found.slope + step * slope,
                    intercept: found.intercept + step * intercept,
                };
                let tried_loss = tried.loss(scored, target);
                if tried_loss < loss + 1e-4 * step * descent {
                    break Some((tried, tried_loss));
                }
                step /= 2.0;
                if step < 1e-10 {
                    break None;
                }
            };
            let Some(better) = better else { break };
            (found, loss) = better;
        }
        found
    }

    /// Minus the log likelihood.
    fn loss(&self, scored: &[Scored], target: impl Fn(bool) -> f64) -> f64 {
        let one = |&(value, first, weight): &Scored| {
            let z = self.slope * value + self.intercept;
            // ln(1 + exp(z)) without overflow, minus (1 - t) z.
            let soft = z.max(0.0) + (-z.abs()).exp().ln_1p();
            weight * (soft - (1.0 - target(first)) * z)
        };
        scored.iter().map(one).sum()
    }

    /// The gradient and the three entries of the Hessian.
    fn derivatives(
        &self,
        scored: &[Scored],
        target: impl Fn(bool) -> f64,
    ) -> ((f64, f64), (f64, f64, f64)) {
        let (mut gradient, mut hessian) = ((0.0, 0.0), (RIDGE, 0.0, RIDGE));
        for &(value, first, weight) in scored {
            let p = self.probability(value);
            let curvature = weight * p * (1.0 - p);
            hessian.0 += curvature * value * value;
            hessian.1 += curvature * value;
            hessian.2 += curvature;
            let rate = weight * (target(first) - p);
            gradient.0 += rate * value;
            gradient.1 += rate;
        }
        (gradient, hessian)
    }

    /// The probability of the first class.
    pub(super) fn probability(&self, value: f64) -> f64 {
        let z = self.slope * value + self.intercept;
        if z >= 0.0 { (-z).exp() / (1.0 + (-z).exp()) } else { 1.0 / (1.0 + z.exp()) }
    }
}

/// Class probabilities from r(i, j), the probability of i against j: minimises sum_ij (r_ji p_i - r_ij p_j)^2 over the
/// simplex by the iteration of [WuLinWeng2004, Algorithm 2].
pub(super) fn couple(r: impl Fn(usize, usize) -> f64, p: &mut [f64]) {
    let classes = p.len();
    let mut q = vec![0.0; classes * classes];
    for i in 0..classes {
        for j in (0..classes).filter(|&j| j != i) {
            q[i * classes + i] += r(j, i) * r(j, i);
            q[i * classes + j] = -r(j, i) * r(i, j);
        }
    }
    p.fill(1.0 / classes as f64);
    let mut qp = vec![0.0; classes];
    for _ in 0..100.max(classes) {
        for (i, qp) in qp.iter_mut().enumerate() {
            *qp = q[i * classes..(i + 1) * classes].iter().zip(&*p).map(|(q, p)| q * p).sum();
        }
        let mut pqp: f64 = qp.iter().zip(&*p).map(|(qp, p)| qp * p).sum();
        let worst = qp.iter().map(|qp| (qp - pqp).abs()).fold(0.0, f64::max);
        if worst < 1e-10 / classes as f64 {
            break;
        }
        for i in 0..classes {
            let row = &q[i * classes..(i + 1) * classes];
            let change = (pqp - qp[i]) / row[i];
            let grown = 1.0 + change;
            pqp = (pqp + change * (change * row[i] + 2.0 * qp[i])) / (grown * grown);
            p[i] += change;
            qp.iter_mut().zip(row).for_each(|(qp, q)| *qp = (*qp + change * q) / grown);
            p.iter_mut().for_each(|p| *p /= grown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_agree_are_coupled_to_what_they_came_from() {
        let truth = [0.5, 0.2, 0.05, 0.25];
        let mut p = [0.0; 4];
        couple(|i, j| truth[i] / (truth[i] + truth[j]), &mut p);
        assert!(p.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-8), "{p:?}");
    }

    #[test]
    fn no_nearby_sigmoid_is_likelier() {
        let value = |i: i32| f64::from(i) / 20.0 - 1.0;
        let scored: Vec<Scored> =
            (0..60).map(|i| (value(i), i % 7 < i / 9, 1.0 + f64::from(i % 3))).collect();
        let found = Sigmoid::fit(&scored);
        assert!(found.slope < 0.0);
        let weight = |first| scored.iter().filter(|s| s.1 == first).map(|s| s.2).sum::<f64>();
        let (ours, theirs) = (weight(true), weight(false));
        let target = |first| if first { (ours + 1.0) / (ours + 2.0) } else { 1.0 / (theirs + 2.0) };
        let loss = found.loss(&scored, target);
        for (slope, intercept) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01)] {
            let near =
                Sigmoid { slope: found.slope + slope, intercept: found.intercept + intercept };
            assert!(near.loss(&scored, target) > loss);
        }
    }
}
