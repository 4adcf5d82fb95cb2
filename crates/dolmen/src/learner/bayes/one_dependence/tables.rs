//! The logarithms of the probabilities that follow from the counts [CerquidesMantaras2005 section 4]:
//!
//! p_u(c, x_u) = (N_cu + 1) / (N + #C #A_u),   p_u(x_v | c, x_u) = (N_cuv + 1) / (N_cu + #A_v)
//!
//! and the same with one row left out, straight from the counts [eq. 31, 32].

use rayon::prelude::*;

use super::counts::{Counts, Layout};
use crate::math::bulk;

/// Probabilities of every slot, pair of slots and class, as logarithms.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    counts: Counts,
    /// ln p(c).
    classes: Vec<f64>,
    /// ln p(x_v | c), by slot and class: naive Bayes.
    plain: Vec<f64>,
    /// ln p_u(c, x_u), by slot and class.
    roots: Vec<f64>,
    /// ln p_u(x_v | c, x_u), by slot of u, slot of v, and class.
    given: Vec<f64>,
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
        let (mut plain, mut roots) = (Vec::new(), Vec::new());
        let (mut known, mut known_of_class) = (Vec::new(), Vec::new());
        for u in 0..layout.attributes() {
            let mut of_class = vec![0.0; layout.classes()];
            layout.slots_of(u).for_each(|a| add(&mut of_class, counts.single(a)));
            let all: f64 = of_class.iter().sum();
            for a in layout.slots_of(u) {
                for (n, of_class) in counts.single(a).iter().zip(&of_class) {
                    plain.push(((n + 1.0) / (of_class + layout.values(u))).ln());
                    roots.push(((n + 1.0) / (all + class_count * layout.values(u))).ln());
                }
            }
            known.push(all);
            known_of_class.extend(of_class);
        }
        let (given, both_known) = given(&counts);
        Self { counts, classes, plain, roots, given, known, known_of_class, both_known }
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn layout(&self) -> &Layout {
        self.counts.layout()
    }

    /// ln p(c, x) of naive Bayes, for every class.
    pub(super) fn naive(&self, slots: &[Option<usize>], out: &mut [f64]) {
        out.copy_from_slice(&self.classes);
        let classes = out.len();
        for a in slots.iter().flatten() {
            add(out, &self.plain[a * classes..(a + 1) * classes]);
        }
    }

    /// ln p_u(c, x) of the one-dependence estimator with root u, for every class. Missing values are left out of the
    /// product; without its root the estimator is naive Bayes.
    pub(super) fn rooted(&self, u: usize, slots: &[Option<usize>], out: &mut [f64]) {
        let Some(root) = slots[u] else { return self.naive(slots, out) };
        let classes = out.len();
        out.copy_from_slice(&self.roots[root * classes..(root + 1) * classes]);
        let row = root * self.layout().slots() * classes;
        let given = &self.given[row..row + self.layout().slots() * classes];
        for children in [&slots[..u], &slots[u + 1..]] {
            // Few classes stay in registers.
            match classes {
                2 => add_all::<2>(out, given, children),
                3 => add_all::<3>(out, given, children),
                4 => add_all::<4>(out, given, children),
                _ => {
                    let children = children.iter().flatten();
                    children.for_each(|b| add(out, &given[b * classes..(b + 1) * classes]));
                }
            }
        }
    }

    /// The same for a row that was counted, as if it had not been.
    pub(super) fn rooted_without(
        &self,
        u: usize,
        slots: &[Option<usize>],
        (class, weight): (usize, f64),
        out: &mut [f64],
    ) {
        let Some(root) = slots[u] else { return self.naive_without(slots, (class, weight), out) };
        self.rooted(u, slots, out);
        let layout = self.layout();
        let single = self.counts.single(root);
        let denominator = self.known[u] + out.len() as f64 * layout.values(u) - weight;
        let less = |c: usize| if c == class { weight } else { 0.0 };
        let classes = out.len();
        for (c, out) in out.iter_mut().enumerate() {
            let with = self.roots[root * classes + c];
            *out += ((single[c] + 1.0 - less(c)) / denominator).ln() - with;
        }
        let left = single[class] - weight;
        let children = slots.iter().enumerate().filter(|(v, _)| *v != u);
        let logs = children.filter_map(|(v, b)| b.map(|b| (v, b))).map(|(v, b)| {
            let both = self.counts.pair(root, b)[class] - weight;
            let known = self.both_known[(root * layout.attributes() + v) * classes + class];
            conditional(both, known - weight, layout.values(v)).ln()
        });
        out[class] = ((left + 1.0) / denominator).ln() + logs.sum::<f64>();
    }

    fn naive_without(
        &self,
        slots: &[Option<usize>],
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
            let left = self.counts.single(*b)[class] - weight;
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

/// ln p_u(x_v | c, x_u) by slot of u, slot of v, and class; and N_cu(c, x_u) of the rows in which v is known, by slot of u,
/// attribute v, and class.
fn given(counts: &Counts) -> (Vec<f64>, Vec<f64>) {
    let layout = counts.layout();
    let classes = layout.classes();
    let mut given = vec![0.0; layout.slots() * layout.slots() * classes];
    let mut both_known = vec![0.0; layout.slots() * layout.attributes() * classes];
    let of_slot = (layout.slots() * classes).max(1);
    let of_attributes = (layout.attributes() * classes).max(1);
    let rows =
        given.par_chunks_exact_mut(of_slot).zip(both_known.par_chunks_exact_mut(of_attributes));
    rows.enumerate().for_each(|(a, (given, both_known))| {
        for (v, known) in both_known.chunks_exact_mut(classes).enumerate() {
            layout.slots_of(v).for_each(|b| add(known, counts.pair(a, b)));
            for b in layout.slots_of(v) {
                let cells = given[b * classes..].iter_mut().zip(counts.pair(a, b)).zip(&*known);
                cells
                    .for_each(|((cell, both), n)| *cell = conditional(*both, *n, layout.values(v)));
            }
        }
        bulk::ln_in_place(given);
    });
    (given, both_known)
}

/// (N_cuv + 1) / (N_cu + #A_v).
fn conditional(both: f64, single: f64, values: f64) -> f64 {
    (both + 1.0) / (single + values)
}

/// Adds rows of C numbers each, those of the slots that are known.
fn add_all<const C: usize>(out: &mut [f64], rows: &[f64], slots: &[Option<usize>]) {
    let (rows, _) = rows.as_chunks::<C>();
    let mut sums = [0.0; C];
    for slot in slots.iter().flatten() {
        let row = &rows[*slot];
        (0..C).for_each(|c| sums[c] += row[c]);
    }
    add(out, &sums);
}

fn add(sum: &mut [f64], terms: &[f64]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
