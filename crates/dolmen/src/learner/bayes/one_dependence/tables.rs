//! The logarithms of the probabilities that follow from the counts [CerquidesMantaras2005 section 4]:
//!
//! p_u(c, x_u) = (N_cu + 1) / (N + #C #A_u),   p_u(x_v | c, x_u) = (N_cuv + 1) / (N_cu + #A_v)
//!
//! and the same with one row left out, straight from the counts [eq. 31, 32]. The numerators N_cuv + 1 are the same whether u
//! or v is the root: their logarithms are kept once for each pair, and added to the sums of both. What else a root's
//! product is made of depends on its own value only, unless values are missing.

#![expect(clippy::inline_always, reason = "the loops take the instruction set of their caller")]

use multiversion::multiversion;
use rayon::prelude::*;

use super::counts::{Counts, Layout, Slot, pair_place, pairs_before};
use crate::math::bulk;

/// Probabilities of every slot, pair of slots and class, as logarithms.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    counts: Counts,
    /// Numbers kept for the classes of a slot or pair: a few more than classes, so that they fill registers.
    stride: usize,
    /// ln p(c).
    classes: Vec<f64>,
    /// ln p(x_v | c), by slot and class: naive Bayes.
    plain: Vec<f64>,
    /// ln (N_cuv + 1), by pair of slots and class.
    numerators: Vec<f64>,
    /// ln (N_cu(c, x_u) of the rows in which v is known + #A_v), by slot of u, attribute v, and class.
    denominators: Vec<f64>,
    /// ln p_u(c, x_u) less the denominators of all other attributes, by slot and class.
    bases: Vec<f64>,
    /// The weight of the rows with a value, by slot.
    totals: Vec<f64>,
    /// The weight of the rows in which an attribute is known, by attribute; and of those of each class.
    known: Vec<f64>,
    known_of_class: Vec<f64>,
    /// N_cu(c, x_u) of the rows in which v is known, by slot of u, attribute v, and class.
    both_known: Vec<f64>,
}

impl Tables {
    pub(super) fn new(counts: Counts) -> Self {
        let layout = counts.layout();
        let by_class = counts.by_class();
        let total: f64 = by_class.iter().sum();
        let class_count = layout.classes() as f64;
        let classes = by_class.iter().map(|n| ((n + 1.0) / (total + class_count)).ln()).collect();
        let stride = stride(layout.classes());
        let both_known = both_known(&counts);
        let denominators = denominators(&both_known, layout);
        let mut plain = Vec::new();
        let (mut known, mut known_of_class) = (Vec::new(), Vec::new());
        let mut bases = vec![0.0; layout.slots() * stride];
        for u in 0..layout.attributes() {
            let mut of_class = vec![0.0; layout.classes()];
            layout.slots_of(u).for_each(|a| add(&mut of_class, counts.single(a)));
            let all: f64 = of_class.iter().sum();
            for a in layout.slots_of(u) {
                let base = &mut bases[a * stride..][..layout.classes()];
                for (c, n) in counts.single(a).iter().enumerate() {
                    plain.push(((n + 1.0) / (of_class[c] + layout.values(u))).ln());
                    let root = ((n + 1.0) / (all + class_count * layout.values(u))).ln();
                    let others = (0..layout.attributes()).filter(|v| *v != u);
                    let below = others.map(|v| {
                        denominators[(a * layout.attributes() + v) * layout.classes() + c]
                    });
                    base[c] = root - below.sum::<f64>();
                }
            }
            known.push(all);
            known_of_class.extend(of_class);
        }
        Self {
            stride,
            classes,
            plain,
            numerators: numerators(&counts, stride),
            denominators,
            bases,
            totals: (0..layout.slots()).map(|a| counts.single(a).iter().sum()).collect(),
            known,
            known_of_class,
            both_known,
            counts,
        }
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn layout(&self) -> &Layout {
        self.counts.layout()
    }

    /// N_u(a), whatever the class.
    pub(super) fn total(&self, a: Slot) -> f64 {
        self.totals[a.index()]
    }

    /// Numbers that [`Self::all_rooted`] writes for each root; those after the classes mean nothing.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// ln p(c, x) of naive Bayes, for every class.
    pub(super) fn naive(&self, slots: &[Option<Slot>], out: &mut [f64]) {
        out.copy_from_slice(&self.classes);
        let classes = out.len();
        for a in slots.iter().flatten() {
            add(out, &self.plain[a.index() * classes..][..classes]);
        }
    }

    /// ln p_u(c, x) of the one-dependence estimator with root u, for every class. Missing values are left out of the
    /// product; without its root the estimator is naive Bayes.
    pub(super) fn rooted(&self, u: usize, slots: &[Option<Slot>], out: &mut [f64]) {
        let Some(root) = slots[u] else { return self.naive(slots, out) };
        let root = root.index();
        out.copy_from_slice(&self.bases[root * self.stride..][..out.len()]);
        for (v, slot) in slots.iter().enumerate().filter(|(v, _)| *v != u) {
            match slot {
                Some(b) => {
                    add(out, &self.numerators[pair_place(root, b.index()) * self.stride..]);
                }
                None => add(out, self.denominators_of(root, v)),
            }
        }
    }

    /// The same for every root, [`Self::stride`] numbers for each.
    pub(super) fn all_rooted(&self, slots: &[Option<Slot>], joints: &mut [f64]) {
        let stride = self.stride;
        for (slot, joint) in slots.iter().zip(joints.chunks_exact_mut(stride)) {
            let Some(slot) = slot else { continue };
            joint.copy_from_slice(&self.bases[slot.index() * stride..][..stride]);
        }
        add_pairs(slots, &self.numerators, stride, joints);
        for (v, _) in slots.iter().enumerate().filter(|(_, slot)| slot.is_none()) {
            for (slot, joint) in slots.iter().zip(joints.chunks_exact_mut(stride)) {
                let Some(slot) = slot else { continue };
                add(joint, self.denominators_of(slot.index(), v));
            }
            let joint = &mut joints[v * stride..][..self.classes.len()];
            self.naive(slots, joint);
        }
    }

    /// ln (N_cu + #A_v) for every class.
    fn denominators_of(&self, root: usize, v: usize) -> &[f64] {
        let classes = self.classes.len();
        &self.denominators[(root * self.layout().attributes() + v) * classes..][..classes]
    }

    /// The same as [`Self::rooted`] for a row that was counted, as if it had not been.
    pub(super) fn rooted_without(
        &self,
        u: usize,
        slots: &[Option<Slot>],
        (class, weight): (usize, f64),
        out: &mut [f64],
    ) {
        let Some(root) = slots[u] else { return self.naive_without(slots, (class, weight), out) };
        let root = root.index();
        self.rooted(u, slots, out);
        let layout = self.layout();
        let classes = out.len();
        let with = self.known[u] + classes as f64 * layout.values(u);
        let denominator = with - weight;
        let shift = (with / denominator).ln();
        out.iter_mut().for_each(|out| *out += shift);
        let children = slots.iter().enumerate().filter(|(v, _)| *v != u);
        let logs = children.filter_map(|(v, b)| b.map(|b| (v, b))).map(|(v, b)| {
            let both = self.counts.pair(root, b.index())[class] - weight;
            let known = self.both_known[(root * layout.attributes() + v) * classes + class];
            conditional(both, known - weight, layout.values(v)).ln()
        });
        let left = self.counts.single(root)[class] - weight;
        out[class] = ((left + 1.0) / denominator).ln() + logs.sum::<f64>();
    }

    fn naive_without(
        &self,
        slots: &[Option<Slot>],
        (class, weight): (usize, f64),
        out: &mut [f64],
    ) {
        self.naive(slots, out);
        let layout = self.layout();
        let by_class = self.counts.by_class();
        let total: f64 = by_class.iter().sum();
        let denominator = total + out.len() as f64 - weight;
        let shift = ((total + out.len() as f64) / denominator).ln();
        out.iter_mut().for_each(|out| *out += shift);
        let mut own = ((by_class[class] + 1.0 - weight) / denominator).ln();
        for (v, b) in slots.iter().enumerate() {
            let Some(b) = b else { continue };
            let known = self.known_of_class[v * out.len() + class];
            let left = self.counts.single(b.index())[class] - weight;
            own += conditional(left, known - weight, layout.values(v)).ln();
        }
        out[class] = own;
    }

    /// ln W_u of every root: the logarithm of its evidence, up to what all have in common [Theorem 2, eq. 25].
    pub(super) fn log_evidence(&self) -> Vec<f64> {
        (0..self.layout().attributes()).map(|u| self.log_evidence_of(u)).collect()
    }

    fn log_evidence_of(&self, u: usize) -> f64 {
        let gamma = libm::lgamma;
        let layout = self.layout();
        let cells = layout.classes() as f64 * layout.values(u);
        let mut evidence = gamma(cells) - gamma(cells + self.known[u]);
        let values = |v: usize| {
            let slots = layout.slots_of(v);
            slots.start..slots.end - 1
        };
        for a in values(u) {
            for (c, n) in self.counts.single(a).iter().enumerate() {
                evidence += gamma(n + 1.0);
                for v in (0..layout.attributes()).filter(|v| *v != u) {
                    let both = values(v).map(|b| self.counts.pair(a, b)[c]);
                    let known: f64 = both.clone().sum();
                    evidence += gamma(layout.values(v)) - gamma(layout.values(v) + known);
                    evidence += both.map(|n| gamma(n + 1.0)).sum::<f64>();
                }
            }
        }
        evidence
    }
}

/// Two classes fill a register of two numbers, more of them registers of four.
fn stride(classes: usize) -> usize {
    if classes <= 2 { 2 } else { classes.next_multiple_of(4) }
}

/// ln (N_cuv + 1), by pair of slots and class.
fn numerators(counts: &Counts, stride: usize) -> Vec<f64> {
    /// Pairs in one piece of work.
    const PAIRS: usize = 512;
    let classes = counts.layout().classes();
    let mut numerators = vec![0.0; pairs_before(counts.layout().slots()) * stride];
    let pieces = numerators.par_chunks_mut(PAIRS * stride);
    pieces.zip(counts.pairs().par_chunks(PAIRS * classes)).for_each(|(numerators, counts)| {
        // Zeroes come for nothing with new memory, ones do not; what is after the classes means nothing.
        for (cells, counts) in numerators.chunks_exact_mut(stride).zip(counts.chunks_exact(classes))
        {
            cells.fill(1.0);
            add(cells, counts);
        }
        bulk::ln_in_place(numerators);
    });
    numerators
}

/// N_cu(c, x_u) of the rows in which v is known, by slot of u, attribute v, and class.
fn both_known(counts: &Counts) -> Vec<f64> {
    let layout = counts.layout();
    let classes = layout.classes();
    let of_slot = (layout.attributes() * classes).max(1);
    let mut both_known = vec![0.0; layout.slots() * of_slot];
    let is_known = is_known(counts);
    both_known.par_chunks_exact_mut(of_slot).enumerate().for_each(|(a, both_known)| {
        for (v, known) in both_known.chunks_exact_mut(classes).enumerate() {
            if is_known[v] {
                known.copy_from_slice(counts.single(a));
            } else {
                layout.slots_of(v).for_each(|b| add(known, counts.pair(a, b)));
            }
        }
    });
    both_known
}

/// For every attribute whether it is known in all rows.
#[expect(
    clippy::float_cmp,
    reason = "the sums of whole numbers are exact, and of others a no costs time only"
)]
fn is_known(counts: &Counts) -> Vec<bool> {
    let layout = counts.layout();
    let total: f64 = counts.by_class().iter().sum();
    let known = |v: usize| -> f64 { layout.slots_of(v).flat_map(|a| counts.single(a)).sum() };
    (0..layout.attributes()).map(|v| known(v) == total).collect()
}

/// ln (both_known + #A_v), in the same order.
fn denominators(both_known: &[f64], layout: &Layout) -> Vec<f64> {
    let mut denominators = both_known.to_vec();
    for (cell, denominators) in denominators.chunks_exact_mut(layout.classes()).enumerate() {
        let values = layout.values(cell % layout.attributes());
        denominators.iter_mut().for_each(|n| *n += values);
    }
    bulk::ln_in_place(&mut denominators);
    denominators
}

/// (N_cuv + 1) / (N_cu + #A_v).
fn conditional(both: f64, single: f64, values: f64) -> f64 {
    (both + 1.0) / (single + values)
}

/// Adds the numbers of every pair of a row's slots, `count` of them, to those of both attributes.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn add_pairs(slots: &[Option<Slot>], pairs: &[f64], count: usize, sums: &mut [f64]) {
    match count {
        2 => add_short_pairs::<2>(slots, pairs, sums),
        4 => add_short_pairs::<4>(slots, pairs, sums),
        8 => add_short_pairs::<8>(slots, pairs, sums),
        _ => add_long_pairs(slots, pairs, count, sums),
    }
}

/// So few numbers that they stay in registers.
#[inline(always)]
fn add_short_pairs<const K: usize>(slots: &[Option<Slot>], pairs: &[f64], sums: &mut [f64]) {
    let (pairs, _) = pairs.as_chunks::<K>();
    let (sums, _) = sums.as_chunks_mut::<K>();
    for (u, slot) in slots.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let row = &pairs[pairs_before(slot.index())..][..=slot.index()];
        let (before, rest) = sums.split_at_mut(u);
        let mut own = rest[0];
        for (other, sum) in slots.iter().zip(before) {
            let Some(other) = other else { continue };
            let terms = &row[other.index()];
            own = std::array::from_fn(|k| own[k] + terms[k]);
            *sum = std::array::from_fn(|k| sum[k] + terms[k]);
        }
        rest[0] = own;
    }
}

#[inline(always)]
fn add_long_pairs(slots: &[Option<Slot>], pairs: &[f64], count: usize, sums: &mut [f64]) {
    for (u, slot) in slots.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let row = &pairs[pairs_before(slot.index()) * count..][..(slot.index() + 1) * count];
        let (before, rest) = sums.split_at_mut(u * count);
        for (other, sum) in slots.iter().zip(before.chunks_exact_mut(count)) {
            let Some(other) = other else { continue };
            let terms = &row[other.index() * count..][..count];
            add(sum, terms);
            add(&mut rest[..count], terms);
        }
    }
}

#[inline(always)]
fn add(sum: &mut [f64], terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
