//! The weights of LMD and LMG by all rows, in passes, from those that a part of the rows has given.
//!
//! With w_u = exp(t_u) / sum_v exp(t_v) Newton's method in t climbs
//!
//! ```text
//! sum_i [ ln sum_u w_u p_u(c_i, x_i) - ln sum_u w_u p_u(x_i) ] + a sum_u ln w_u        (LMG)
//! sum_i   ln sum_u w_u p_u(c_i | x_i)                          + a sum_u ln w_u        (LMD)
//! ```
//!
//! where p_u has not counted row i. With the shares r_iu = w_u p_u(c_i, x_i) / sum_v w_v p_v(c_i, x_i) and s_iu = w_u p_u(x_i) / sum_v w_v p_v(x_i),
//! which are w_u for LMD, the gradient is the sum of r - s, and the second derivatives are that of diag(r - s) - r r' + s s'.
//! A weight of zero stays zero.

use std::ops::Range;

use dolmen_linalg::Mat;
use serde::{Deserialize, Serialize};

use super::learners::Counted;
use super::mixing::Mixing;
use crate::learner::Sample;
use crate::learner::linear::newton;
use crate::math::bulk;
use crate::stats::{Accumulator, accumulate};
use crate::target::Labels;
use crate::task::Task;

/// Rows summed into one accumulator.
const PART: usize = 1 << 11;
/// Readings at most: from the weights of many rows two or three steps are enough.
const MOST: usize = 20;
/// The gradient at the end, for a row.
const TOLERANCE: f64 = 1e-10;
/// The shortest share of a step that is tried.
const SHORTEST: f64 = 1.0 / 1024.0;

/// Weights on their way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Polish {
    is_joint: bool,
    /// The exponent of the weights in their prior.
    prior: f64,
    weights: Vec<f64>,
    /// The objective and its gradient there, once they are known.
    here: Option<(f64, Vec<f64>)>,
    /// The step that is tried: its direction, and the share of it.
    step: Option<(Vec<f64>, f64)>,
    readings: usize,
    /// The gradient's largest element, for a row.
    residual: f64,
}

/// What is summed over the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PolishSums {
    weight: f64,
    objective: f64,
    /// Of r, and of s.
    own: Vec<f64>,
    all: Vec<f64>,
    /// Of r r' - s s'.
    products: Vec<f64>,
}

impl Accumulator for PolishSums {
    fn merge(&mut self, later: Self) {
        self.weight += later.weight;
        self.objective += later.objective;
        bulk::add_scaled(&mut self.own, 1.0, &later.own);
        bulk::add_scaled(&mut self.all, 1.0, &later.all);
        bulk::add_scaled(&mut self.products, 1.0, &later.products);
    }
}

impl PolishSums {
    /// Adds what roots say of a row of this weight: how much each of them has in their sum. Gives the logarithm of the sum.
    fn share(logs: &[f64], weights: &[f64], shares: &mut Vec<f64>) -> f64 {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.clear();
        shares.extend(logs.iter().zip(weights).map(|(log, w)| w * (log - largest).exp()));
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        largest + sum.ln()
    }

    /// Adds `weight` times the shares and their products, these with a sign.
    fn add(&mut self, weight: f64, shares: &[f64], is_own: bool) {
        let sums = if is_own { &mut self.own } else { &mut self.all };
        bulk::add_scaled(sums, weight, shares);
        let signed = if is_own { weight } else { -weight };
        for (row, share) in self.products.chunks_exact_mut(shares.len()).zip(shares) {
            bulk::add_scaled(row, signed * share, shares);
        }
    }
}

impl Polish {
    /// From these weights; `None` if there is nothing to be found.
    pub(super) fn new(mixing: &Mixing, prior: f64) -> Option<Self> {
        let (is_joint, weights) = match mixing {
            Mixing::Joint(weights) => (true, weights.clone()),
            Mixing::Posterior(weights) => (false, weights.clone()),
            _ => return None,
        };
        let (here, step, residual) = (None, None, f64::INFINITY);
        (weights.len() > 1).then_some(Self {
            is_joint,
            prior,
            weights,
            here,
            step,
            readings: 0,
            residual,
        })
    }

    /// The sums over no rows.
    pub(super) fn zero(&self) -> PolishSums {
        let roots = self.weights.len();
        let (own, all, products) = (vec![0.0; roots], vec![0.0; roots], vec![0.0; roots * roots]);
        PolishSums { weight: 0.0, objective: 0.0, own, all, products }
    }

    /// The sums over rows, which are among those counted or, where it is said, not.
    pub(super) fn sums<T: Task<Target = Labels>>(
        &self,
        counted: &Counted,
        sample: &Sample<'_, T>,
        are_counted: bool,
    ) -> PolishSums {
        let weights = self.tried();
        accumulate(
            sample.rows(),
            PART,
            || self.zero(),
            |sums, rows| {
                let said = counted.left_out(sample, rows.clone(), are_counted);
                self.add(sums, &weights, &said, sample, rows);
            },
        )
    }

    fn add<T: Task<Target = Labels>>(
        &self,
        sums: &mut PolishSums,
        weights: &[f64],
        said: &[(f64, f64)],
        sample: &Sample<'_, T>,
        rows: Range<usize>,
    ) {
        let (mut own, mut all, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for (i, said) in rows.zip(said.chunks_exact(weights.len())) {
            let weight = sample.weight(i);
            own.clear();
            all.clear();
            all.extend(said.iter().map(|(_, all)| *all));
            if self.is_joint {
                own.extend(said.iter().map(|(own, _)| *own));
            } else {
                own.extend(said.iter().map(|(own, all)| own - all));
            }
            let mut value = PolishSums::share(&own, weights, &mut shares);
            if !(weight > 0.0 && value.is_finite()) {
                continue;
            }
            sums.add(weight, &shares, true);
            if self.is_joint {
                value -= PolishSums::share(&all, weights, &mut shares);
                sums.add(weight, &shares, false);
            }
            sums.weight += weight;
            sums.objective += weight * value;
        }
    }

    /// The weights whose sums are asked for.
    fn tried(&self) -> Vec<f64> {
        let Some((direction, length)) = &self.step else { return self.weights.clone() };
        let steps = self.weights.iter().zip(direction);
        let mut tried: Vec<f64> = steps.map(|(w, step)| w * (length * step).exp()).collect();
        let sum: f64 = tried.iter().sum();
        tried.iter_mut().for_each(|w| *w /= sum);
        tried
    }

    /// Goes on with the sums over all rows; whether it is at its end.
    pub(super) fn advance(&mut self, sums: PolishSums) -> bool {
        let tried = self.tried();
        self.readings += 1;
        let is_last = self.readings >= MOST;
        let logs = tried.iter().filter(|w| **w > 0.0).map(|w| w.ln());
        let value = sums.objective + self.prior * logs.sum::<f64>();
        if let (Some((before, gradient)), Some((direction, length))) = (&self.here, &mut self.step)
        {
            let wanted = 1e-4 * *length * bulk::dot(direction, gradient) - 1e-13 * before.abs();
            let rises = value - before >= wanted;
            if !rises {
                *length *= 0.5;
                return is_last || *length < SHORTEST;
            }
        }
        let (gradient, curvature) = self.derivatives(&tried, sums);
        self.weights = tried;
        self.step = None;
        if is_last || self.residual <= TOLERANCE {
            return true;
        }
        let uphill: Vec<f64> = gradient.iter().map(|g| -g).collect();
        self.step = Some((newton::direction(curvature, &uphill), 1.0));
        self.here = Some((value, gradient));
        false
    }

    /// The gradient, and minus the second derivatives, with the direction in which t says nothing made steep. Roots without weight stay
    /// where they are.
    fn derivatives(&mut self, weights: &[f64], mut sums: PolishSums) -> (Vec<f64>, Mat<f64>) {
        let roots = weights.len();
        if !self.is_joint {
            let total = sums.weight;
            sums.add(total, weights, false);
        }
        let prior = self.prior * roots as f64;
        let slope = |u: usize| sums.own[u] - sums.all[u];
        let held = |u: usize| self.prior * f64::from(u8::from(weights[u] > 0.0));
        let gradient: Vec<f64> =
            (0..roots).map(|u| slope(u) + held(u) - prior * weights[u]).collect();
        let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        self.residual = largest / sums.weight.max(f64::MIN_POSITIVE);
        let steep = sums.weight / roots as f64;
        let curvature = Mat::from_fn(roots, roots, |u, v| {
            if weights[u] == 0.0 || weights[v] == 0.0 {
                return if u == v { steep } else { 0.0 };
            }
            let own = if u == v { prior * weights[u] - slope(u) } else { 0.0 };
            own + sums.products[u * roots + v] - prior * weights[u] * weights[v] + steep
        });
        (gradient, curvature)
    }

    /// The weights as they are used, and what to say of them.
    pub(super) fn finish(&self) -> (Mixing, Option<String>) {
        let weights = self.weights.clone();
        let mixing =
            if self.is_joint { Mixing::Joint(weights) } else { Mixing::Posterior(weights) };
        let note = (self.residual > 1e-6)
            .then(|| format!("the gradient of the roots' weights is {:.1e} a row", self.residual));
        (mixing, note)
    }
}
