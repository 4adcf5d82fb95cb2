//! How the one-dependence estimators of all roots become one.

use serde::{Deserialize, Serialize};

use super::counts::Slot;
use super::scale::Scale;
use super::tables::Tables;
use crate::math::{bulk, log_sum_exp};

/// How the one-dependence estimators of all roots become one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Mixing {
    /// No roots: naive Bayes.
    Naive,
    /// One root alone.
    Root(usize),
    /// The mean of p_u(c, x) over roots whose value has more rows than this; naive Bayes if there are none.
    Frequent(f64),
    /// The mean of p_uw(c, x) over pairs whose values occur together in more rows than this; `Frequent` if there are none.
    FrequentPairs(f64),
    /// sum_u alpha_u p_u(c, x).
    Joint(Vec<f64>),
    /// sum_u alpha_u p_u(c | x).
    Posterior(Vec<f64>),
}

/// Room for predicting one row after the other.
pub(super) struct Desk {
    /// p_u(c, x) of estimator after estimator.
    joints: Vec<f64>,
    scale: Scale,
    /// Numbers kept for each of them; those after the classes mean nothing.
    stride: usize,
    products: Vec<f64>,
    shift: Vec<f64>,
    sums: Vec<f64>,
}

impl Default for Desk {
    fn default() -> Self {
        let (joints, products, shift, sums) = Default::default();
        Self { joints, scale: Scale::Log, stride: 1, products, shift, sums }
    }
}

impl Desk {
    /// Room for this many estimators.
    fn make_room(&mut self, estimators: usize, stride: usize, scale: Scale) {
        self.stride = stride;
        self.scale = scale;
        self.joints.resize(estimators * stride, 0.0);
    }

    /// Keeps every root's logarithms of a row.
    pub(super) fn put_roots(&mut self, tables: &Tables, slots: &[Option<Slot>]) {
        self.make_room(slots.len(), tables.layout().stride(), tables.scale());
        tables.all_rooted(slots, &mut self.joints, &mut self.products);
    }

    /// The same for a row of a class and weight that was counted, as if it had not been.
    pub(super) fn put_roots_without(
        &mut self,
        tables: &Tables,
        slots: &[Option<Slot>],
        own: (usize, f64),
    ) {
        self.make_room(slots.len(), tables.layout().stride(), tables.scale());
        tables.all_rooted_without(slots, own, &mut self.joints, &mut self.products);
    }

    /// Room for the logarithms of one more estimator, after this many others.
    pub(super) fn room_after(&mut self, others: usize, classes: usize) -> &mut [f64] {
        self.make_room(others + 1, classes, Scale::Log);
        &mut self.joints[others * classes..]
    }

    /// Each estimator's probabilities of the classes, and their scale.
    pub(super) fn joints(&self, classes: usize) -> (Scale, impl Iterator<Item = &[f64]>) {
        (self.scale, self.joints.chunks_exact(self.stride).map(move |joint| &joint[..classes]))
    }

    /// Takes the estimators away that a row's values do not have.
    pub(super) fn keep_where(&mut self, is_kept: impl Iterator<Item = bool>) {
        for (joint, is_kept) in self.joints.chunks_exact_mut(self.stride).zip(is_kept) {
            if !is_kept {
                joint.fill(self.scale.zero());
            }
        }
    }

    /// p_u(c | x) in place of p_u(c, x).
    pub(super) fn normalise(&mut self, classes: usize) {
        let joints = self.joints.chunks_exact_mut(self.stride);
        joints.for_each(|joint| normalise(self.scale, &mut joint[..classes]));
    }

    /// sum_u weights_u p_u(c, x) for every class, in place of the joints; those that are impossible add nothing. The scale is that
    /// of the joints.
    pub(super) fn mix(&mut self, weights: impl Iterator<Item = f64>, out: &mut [f64]) -> Scale {
        let Self { joints, scale, stride, shift, sums, .. } = self;
        if *scale == Scale::Log {
            shift.clear();
            shift.resize(*stride, f64::NEG_INFINITY);
            joints.chunks_exact(*stride).for_each(|joint| bulk::max_in_place(shift, joint));
            for joint in joints.chunks_exact_mut(*stride) {
                bulk::exp_shifted_in_place(joint, shift);
            }
        }
        sums.clear();
        sums.resize(*stride, 0.0);
        for (joint, weight) in joints.chunks_exact(*stride).zip(weights) {
            sums.iter_mut().zip(joint).for_each(|(sum, joint)| *sum += weight * joint);
        }
        out.copy_from_slice(&sums[..out.len()]);
        if *scale == Scale::Log {
            let terms = out.iter_mut().zip(&*shift);
            terms.for_each(|(out, shift)| *out = out.ln() + shift);
        }
        *scale
    }
}

/// The sum of numbers on a scale, on that scale.
pub(super) fn total(scale: Scale, numbers: &[f64]) -> f64 {
    match scale {
        Scale::Plain => numbers.iter().sum(),
        Scale::Log => log_sum_exp(numbers),
    }
}

/// p(c | x) from p(c, x), on the same scale.
fn normalise(scale: Scale, joint: &mut [f64]) {
    let total = total(scale, joint);
    joint.iter_mut().for_each(|joint| *joint = scale.over(*joint, total));
}

/// p(c | x) from p(c, x) on a scale.
pub(super) fn to_posterior(scale: Scale, joint: &mut [f64]) {
    normalise(scale, joint);
    if scale == Scale::Log {
        bulk::exp_in_place(joint);
    }
}
