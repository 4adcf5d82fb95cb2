//! The probabilities that follow from the counts [CerquidesMantaras2005 section 4]:
//!
//! p_u(c, x_u) = (N_cu + 1) / (N + #C #A_u),   p_u(x_v | c, x_u) = (N_cuv + 1) / (N_cu + #A_v)
//!
//! and the same with one row left out, straight from the counts [eq. 31, 32]. The numerators N_cuv + 1 are the same whether u
//! or v is the root: each is read once, and goes into the products of both. What else a root's product is made of depends
//! on its own value only, unless values are missing.

use std::ops::Range;

use super::counts::{Counts, Layout, Slot};
use super::pairs::{Factors, multiply_pairs};
use super::scale::{Scale, most_factors};
use crate::math::bulk;

/// The counts, and what is made of them once instead of for every row.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    counts: Counts,
    /// How the products of a row's factors are kept.
    scale: Scale,
    /// Attributes whose factors may be multiplied before a logarithm is taken.
    most_factors: usize,
    /// ln p(c).
    classes: Vec<f64>,
    /// ln p(x_v | c), by slot and class: naive Bayes.
    naive: Vec<f64>,
    /// p_u(c, x_u) over the denominators of all other attributes, by slot and class.
    bases: Vec<f64>,
    /// The weight of the rows with a value, by slot.
    totals: Vec<f64>,
    /// The weight of the rows in which an attribute is known, by attribute; and of those of each class.
    known: Vec<f64>,
    known_of_class: Vec<f64>,
    both_known: BothKnown,
}

impl Tables {
    pub(super) fn new(counts: Counts) -> Self {
        let layout = counts.layout();
        let (attributes, class_count) = (layout.attributes(), layout.classes() as f64);
        let total = counts.total();
        let by_class = counts.by_class();
        let classes = by_class.iter().map(|n| ((n + 1.0) / (total + class_count)).ln()).collect();
        let most_values = (0..attributes).map(|u| layout.values(u)).fold(1.0, f64::max);
        let largest = total + class_count * most_values + 1.0;
        let mut tables = Self {
            scale: Scale::of_products(attributes + 1, largest),
            most_factors: most_factors(largest),
            classes,
            naive: Vec::with_capacity(layout.slots() * layout.classes()),
            bases: vec![0.0; layout.slots() * layout.stride()],
            totals: (0..layout.slots()).map(|a| counts.single(a).iter().sum()).collect(),
            known: Vec::with_capacity(attributes),
            known_of_class: Vec::with_capacity(attributes * layout.classes()),
            both_known: BothKnown::new(&counts),
            counts,
        };
        (0..attributes).for_each(|u| tables.add_attribute(u));
        tables
    }

    /// Fills in what belongs to one attribute.
    fn add_attribute(&mut self, u: usize) {
        let Self { counts, scale, both_known, .. } = self;
        let layout = counts.layout();
        let (attributes, values) = (layout.attributes(), layout.values(u));
        let mut of_class = vec![0.0; layout.classes()];
        layout.slots_of(u).for_each(|a| add(&mut of_class, counts.single(a)));
        let all: f64 = of_class.iter().sum();
        for a in layout.slots_of(u) {
            let bases = &mut self.bases[a * layout.stride()..];
            for (c, (n, base)) in counts.single(a).iter().zip(bases).enumerate() {
                self.naive.push(((n + 1.0) / (of_class[c] + values)).ln());
                if !layout.is_paired() {
                    continue;
                }
                let root = (n + 1.0) / (all + layout.classes() as f64 * values);
                let others = (0..attributes).filter(|v| *v != u);
                let below = others.map(|v| both_known.of(a, v, counts)[c] + layout.values(v));
                *base = scale.over(scale.of(root), scale.product(below));
            }
        }
        self.known.push(all);
        self.known_of_class.extend(of_class);
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn into_counts(self) -> Counts {
        self.counts
    }

    pub(super) fn layout(&self) -> &Layout {
        self.counts.layout()
    }

    /// How [`Self::all_rooted`] gives probabilities.
    pub(super) fn scale(&self) -> Scale {
        self.scale
    }

    /// N_u(a), whatever the class.
    pub(super) fn total(&self, a: Slot) -> f64 {
        self.totals[a.index()]
    }

    /// ln p(c, x) of naive Bayes, for every class.
    pub(super) fn naive(&self, slots: &[Option<Slot>], out: &mut [f64]) {
        out.copy_from_slice(&self.classes);
        let classes = out.len();
        for a in slots.iter().flatten() {
            add(out, &self.naive[a.index() * classes..][..classes]);
        }
    }

    /// ln p_u(c, x) of the one-dependence estimator with root u, for every class. Missing values are left out of the
    /// product; without its root the estimator is naive Bayes.
    pub(super) fn rooted(&self, u: usize, slots: &[Option<Slot>], out: &mut [f64]) {
        let Some(root) = slots[u] else { return self.naive(slots, out) };
        let root = root.index();
        let bases = &self.bases[root * self.layout().stride()..];
        for (c, (out, base)) in out.iter_mut().zip(bases).enumerate() {
            let children = slots.iter().enumerate().filter(|(v, _)| *v != u);
            let factors = children.map(|(v, slot)| match slot {
                Some(b) => self.counts.pair(root, b.index())[c] + 1.0,
                None => self.both_known.of(root, v, &self.counts)[c] + self.layout().values(v),
            });
            *out = self.scale.ln(self.scale.times(*base, self.scale.product(factors)));
        }
    }

    /// p_u(c, x) on the scale of the tables for every root, [`Layout::stride`] numbers for each; those after the classes mean
    /// nothing. `products` is room.
    pub(super) fn all_rooted(
        &self,
        slots: &[Option<Slot>],
        joints: &mut [f64],
        products: &mut Vec<f64>,
    ) {
        let stride = self.layout().stride();
        match self.scale {
            Scale::Plain => {
                let all = 0..slots.len();
                let factors =
                    Factors { counts: self.counts.pairs(), bases: Some(&self.bases), stride };
                multiply_pairs(slots, (all.clone(), all), factors, joints);
            }
            Scale::Log => self.log_products(slots, joints, products),
        }
        for (v, _) in slots.iter().enumerate().filter(|(_, slot)| slot.is_none()) {
            for (slot, joint) in slots.iter().zip(joints.chunks_exact_mut(stride)) {
                let Some(slot) = slot else { continue };
                let denominators = self.denominators_of(slot.index(), v);
                let cancel = |(joint, below): (&mut f64, f64)| {
                    *joint = self.scale.times(*joint, self.scale.of(below));
                };
                joint.iter_mut().zip(denominators).for_each(cancel);
            }
            let joint = &mut joints[v * stride..][..self.classes.len()];
            self.naive(slots, joint);
            if self.scale == Scale::Plain {
                bulk::exp_in_place(joint);
            }
        }
    }

    /// Products as logarithms, which are taken block by block of attributes, to stay in range.
    fn log_products(&self, slots: &[Option<Slot>], joints: &mut [f64], products: &mut Vec<f64>) {
        let stride = self.layout().stride();
        for (slot, joint) in slots.iter().zip(joints.chunks_exact_mut(stride)) {
            let Some(slot) = slot else { continue };
            joint.copy_from_slice(&self.bases[slot.index() * stride..][..stride]);
        }
        products.clear();
        products.resize(joints.len(), 1.0);
        let factors = Factors { counts: self.counts.pairs(), bases: None, stride };
        let block = |first: usize| first..(first + self.most_factors).min(slots.len());
        for later in (0..slots.len()).step_by(self.most_factors) {
            for earlier in (0..=later).step_by(self.most_factors) {
                let blocks = (block(later), block(earlier));
                multiply_pairs(slots, blocks, factors, products);
                let others = (earlier < later).then(|| block(earlier));
                for block in others.into_iter().chain([block(later)]) {
                    let cells = block.start * stride..block.end * stride;
                    let products = &mut products[cells.clone()];
                    bulk::ln_in_place(products);
                    add(&mut joints[cells], products);
                    products.fill(1.0);
                }
            }
        }
    }

    /// N_cu of the rows in which v is known + #A_v for every class.
    fn denominators_of(&self, root: usize, v: usize) -> impl Iterator<Item = f64> {
        let values = self.layout().values(v);
        self.both_known.of(root, v, &self.counts).iter().map(move |n| n + values)
    }

    /// The same as [`Self::all_rooted`] for a row that was counted, as if it had not been.
    pub(super) fn all_rooted_without(
        &self,
        slots: &[Option<Slot>],
        own: (usize, f64),
        joints: &mut [f64],
        products: &mut Vec<f64>,
    ) {
        self.all_rooted(slots, joints, products);
        let (scale, classes) = (self.scale, self.classes.len());
        for (u, joint) in joints.chunks_exact_mut(self.layout().stride()).enumerate() {
            let joint = &mut joint[..classes];
            let (rows, values, own_class) = if let Some(root) = slots[u] {
                let own_class = self.children_without((u, root), slots, own);
                (self.known[u], self.layout().values(u), own_class)
            } else {
                (self.counts.total(), 1.0, self.naive_without(slots, own))
            };
            let cells = classes as f64 * values;
            let denominator = scale.of(rows - own.1 + cells);
            let shift = scale.over(scale.of(rows + cells), denominator);
            joint.iter_mut().for_each(|joint| *joint = scale.times(*joint, shift));
            joint[own.0] = scale.over(own_class, denominator);
        }
    }

    /// (N_cu + 1) prod_v p_u(x_v | c, x_u) of the row's own class, without the row.
    fn children_without(
        &self,
        (u, root): (usize, Slot),
        slots: &[Option<Slot>],
        (class, weight): (usize, f64),
    ) -> f64 {
        let root = root.index();
        let children = slots.iter().enumerate().filter(|(v, _)| *v != u);
        let factors = children.filter_map(|(v, b)| b.map(|b| (v, b))).map(|(v, b)| {
            let both = self.counts.pair(root, b.index())[class] - weight;
            let known = self.both_known.of(root, v, &self.counts)[class] - weight;
            conditional(both, known, self.layout().values(v))
        });
        let left = self.counts.single(root)[class] - weight;
        self.scale.times(self.scale.of(left + 1.0), self.scale.product(factors))
    }

    /// (N_c + 1) prod_v p(x_v | c) of the row's own class, without the row.
    fn naive_without(&self, slots: &[Option<Slot>], (class, weight): (usize, f64)) -> f64 {
        let values = slots.iter().enumerate().filter_map(|(v, b)| b.map(|b| (v, b.index())));
        let factors = values.map(|(v, b)| {
            let known = self.known_of_class[v * self.classes.len() + class] - weight;
            conditional(self.counts.single(b)[class] - weight, known, self.layout().values(v))
        });
        let left = self.counts.by_class()[class] - weight;
        self.scale.times(self.scale.of(left + 1.0), self.scale.product(factors))
    }

    /// ln W_u of every root: the logarithm of its evidence [Theorem 2, eq. 25]. Rows in which the root is missing count as those of a
    /// naive Bayes of their own.
    pub(super) fn log_evidence(&self) -> Vec<f64> {
        let of_root = |u: usize| self.log_evidence_with(u) + self.log_evidence_missing(u);
        (0..self.layout().attributes()).map(of_root).collect()
    }

    fn log_evidence_with(&self, u: usize) -> f64 {
        let layout = self.layout();
        let cells = layout.classes() as f64 * layout.values(u);
        let roots = self.values_of(u).flat_map(|a| self.counts.single(a));
        let mut evidence = log_evidence(cells, roots.copied());
        for a in self.values_of(u) {
            for v in (0..layout.attributes()).filter(|v| *v != u) {
                for c in 0..layout.classes() {
                    let both = self.values_of(v).map(|b| self.counts.pair(a, b)[c]);
                    evidence += log_evidence(layout.values(v), both);
                }
            }
        }
        evidence
    }

    /// The same of the rows in which the root is missing, by naive Bayes.
    fn log_evidence_missing(&self, u: usize) -> f64 {
        let (counts, layout) = (&self.counts, self.layout());
        let known = &self.known_of_class[u * layout.classes()..][..layout.classes()];
        let missing = counts.by_class().iter().zip(known).map(|(all, known)| all - known);
        let mut evidence = log_evidence(layout.classes() as f64, missing);
        for v in (0..layout.attributes()).filter(|v| *v != u) {
            for c in 0..layout.classes() {
                let with_root =
                    |b: usize| layout.slots_of(u).map(|a| counts.pair(a, b)[c]).sum::<f64>();
                let missing = self.values_of(v).map(|b| counts.single(b)[c] - with_root(b));
                evidence += log_evidence(layout.values(v), missing);
            }
        }
        evidence
    }

    /// The slots of an attribute's values, without that of unknown ones.
    fn values_of(&self, u: usize) -> Range<usize> {
        let slots = self.layout().slots_of(u);
        slots.start..slots.end - 1
    }
}

/// The logarithm of the evidence of counts of this many values, under a uniform Dirichlet prior of their probabilities.
fn log_evidence(values: f64, counts: impl Iterator<Item = f64>) -> f64 {
    let (total, logs) =
        counts.fold((0.0, 0.0), |(total, logs), n| (total + n, logs + libm::lgamma(n + 1.0)));
    libm::lgamma(values) - libm::lgamma(values + total) + logs
}

/// N_cu(c, x_u) of the rows in which v is known, by attribute v, slot of u, and class: nothing for an attribute that is known in
/// all rows.
#[derive(Debug, Clone)]
struct BothKnown(Vec<Vec<f64>>);

impl BothKnown {
    fn new(counts: &Counts) -> Self {
        let layout = counts.layout();
        let of_attribute = |(v, is_known): (usize, bool)| {
            let slots = if is_known || !layout.is_paired() { 0 } else { layout.slots() };
            let mut both = vec![0.0; slots * layout.classes()];
            for (a, both) in both.chunks_exact_mut(layout.classes()).enumerate() {
                layout.slots_of(v).for_each(|b| add(both, counts.pair(a, b)));
            }
            both
        };
        Self(is_known(counts).into_iter().enumerate().map(of_attribute).collect())
    }

    /// For every class.
    fn of<'a>(&'a self, a: usize, v: usize, counts: &'a Counts) -> &'a [f64] {
        let single = counts.single(a);
        self.0[v].get(a * single.len()..(a + 1) * single.len()).unwrap_or(single)
    }
}

/// For every attribute whether it is known in all rows.
#[expect(
    clippy::float_cmp,
    reason = "the sums of whole numbers are exact, and of others a no costs time only"
)]
fn is_known(counts: &Counts) -> Vec<bool> {
    let layout = counts.layout();
    let total = counts.total();
    let known = |v: usize| -> f64 { layout.slots_of(v).flat_map(|a| counts.single(a)).sum() };
    (0..layout.attributes()).map(|v| known(v) == total).collect()
}

/// (N_cuv + 1) / (N_cu + #A_v).
fn conditional(both: f64, single: f64, values: f64) -> f64 {
    (both + 1.0) / (single + values)
}

fn add(sum: &mut [f64], terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
