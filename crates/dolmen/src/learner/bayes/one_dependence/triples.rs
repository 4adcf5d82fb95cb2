//! Counts of triples of attribute values with the class, and the two-dependence estimators that follow from them
//! [Webb2012, section 3]: for a pair of parents u < w
//!
//! p_uw(c, x) = p(c, x_u, x_w) prod_{v != u,w} p(x_v | c, x_u, x_w)
//! p(c, x_u, x_w) = (N_cuw + 1) / (N + #C #A_u #A_w),   p(x_v | c, x_u, x_w) = (N_cuwv + 1) / (N_cuw + #A_v)
//!
//! Memory: with S values of all attributes together (each attribute has one more, for values unknown at the fit) and C
//! classes there are S (S - 1) (S - 2) / 6 C cells, each kept as a count and as a logarithm (16 bytes), and with n attributes
//! S (S - 1) / 2 n C denominators: 20 attributes of 5 values and 2 classes take 11 MB, 60 of them 310 MB.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout, MOST_CELLS, ReadRow, Slot};
use crate::error::{Error, Place, Result};
use crate::math::bulk;

/// N_cuvw by triple of slots in ascending order, and class: one packed table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Triples {
    classes: usize,
    #[serde(with = "crate::store::floats")]
    cells: Vec<f64>,
}

/// Pairs of numbers below `b` come before those that have `b` as their larger one.
fn pairs_below(b: usize) -> usize {
    b * b.saturating_sub(1) / 2
}

/// Triples of numbers below `c` come before those that have `c` as their largest one.
fn triples_below(c: usize) -> usize {
    c * c.saturating_sub(1) * c.saturating_sub(2) / 6
}

/// The place of a triple of slots a < b < c among all of them.
fn place(a: usize, b: usize, c: usize) -> usize {
    triples_below(c) + pairs_below(b) + a
}

impl Triples {
    /// Counts rows.
    ///
    /// The triples whose last attribute is the same are one piece of the table: pieces are counted side by side, each
    /// over all rows in their order, so no copies of the table are needed.
    pub(super) fn of_rows(layout: &Layout, rows: usize, read: impl ReadRow) -> Result<Self> {
        let (attributes, classes) = (layout.attributes(), layout.classes());
        let slots = layout.slots() as f64;
        let cells = slots.powi(3) / 6.0 * classes as f64;
        if cells > MOST_CELLS as f64 {
            let problem = format!(
                "the attributes make {cells:.1e} quadruples of three values and a class, more than {MOST_CELLS}"
            );
            return Err(Error::data(Place::default(), problem).with_hint(
                "use fewer bins, drop columns with many levels, say columns=50, or use aode",
            ));
        }
        let mut known = vec![None; rows * attributes];
        let each = known.chunks_exact_mut(attributes.max(1)).enumerate();
        let own: Vec<(usize, f64)> = each.map(|(i, slots)| read(i, slots)).collect();
        let mut table = vec![0.0; triples_below(layout.slots()) * classes];
        let mut rest = table.as_mut_slice();
        let mut pieces = Vec::new();
        for last in 0..attributes {
            let range = layout.slots_of(last);
            let (first, end) = (triples_below(range.start), triples_below(range.end));
            let (piece, further) = rest.split_at_mut((end - first) * classes);
            pieces.push((last, first, piece));
            rest = further;
        }
        pieces.into_par_iter().rev().for_each(|(last, first, piece)| {
            for (slots, (class, weight)) in known.chunks_exact(attributes.max(1)).zip(&own) {
                add(&slots[..=last], (first, *class, classes), *weight, piece);
            }
        });
        Ok(Self { classes, cells: table })
    }

    /// The counts with those of further rows, or without those of some (`sign` -1).
    pub(super) fn add(&mut self, other: &Self, sign: f64) {
        bulk::add_scaled(&mut self.cells, sign, &other.cells);
    }

    /// N_cuvw(c, a, b, s) for every class; the slots may come in any order.
    fn cells(values: &[f64], classes: usize, a: usize, b: usize, s: usize) -> &[f64] {
        let (low, high) = (a.min(b), a.max(b));
        let at = if s < low {
            place(s, low, high)
        } else if s < high {
            place(low, s, high)
        } else {
            place(low, high, s)
        };
        &values[at * classes..(at + 1) * classes]
    }

    /// N_cuvw(c, a, b, s) for every class.
    pub(super) fn of(&self, a: usize, b: usize, s: usize) -> &[f64] {
        Self::cells(&self.cells, self.classes, a, b, s)
    }

    /// Whether the table has its shape, for one that was read from a file.
    pub(super) fn is_whole(&self, layout: &Layout) -> bool {
        let triples = layout.slots().checked_pow(3).map(|_| triples_below(layout.slots()));
        self.classes == layout.classes()
            && triples.is_some_and(|triples| self.cells.len() == triples * self.classes)
    }
}

/// Adds a row to the piece of triples whose last attribute is the last of `slots`.
fn add(
    slots: &[Option<Slot>],
    (first, class, classes): (usize, usize, usize),
    weight: f64,
    piece: &mut [f64],
) {
    let Some((Some(c), others)) = slots.split_last() else { return };
    let base = triples_below(c.index()) - first;
    for (number, b) in others.iter().enumerate() {
        let Some(b) = b else { continue };
        let base = base + pairs_below(b.index());
        for a in others[..number].iter().flatten() {
            piece[(base + a.index()) * classes + class] += weight;
        }
    }
}

/// The logarithms of the probabilities that follow from the counts.
#[derive(Debug, Clone)]
pub(super) struct TripleTables {
    triples: Triples,
    /// ln (N_cuwv + 1), as the counts are kept.
    numerators: Vec<f64>,
    /// ln (N_cuw of the rows in which v is known + #A_v), by pair of slots, attribute v, and class.
    denominators: Vec<f64>,
    /// ln (N + #C #A_u #A_w), by pair of attributes, N the rows in which both are known.
    totals: Vec<f64>,
}

impl TripleTables {
    pub(super) fn new(triples: Triples, counts: &Counts) -> Self {
        let mut numerators: Vec<f64> = triples.cells.iter().map(|n| n + 1.0).collect();
        let mut denominators = denominators(&triples, counts.layout());
        let mut totals = totals(counts);
        for numbers in [&mut numerators, &mut denominators, &mut totals] {
            numbers.par_chunks_mut(LOGARITHMS).for_each(bulk::ln_in_place);
        }
        Self { triples, numerators, denominators, totals }
    }

    pub(super) fn triples(&self) -> &Triples {
        &self.triples
    }

    /// ln p_uw(c, x) of the estimator with the parents u < w, for every class; their values are the slots a and b.
    /// Missing values are left out of the product.
    pub(super) fn rooted(
        &self,
        ((u, a), (w, b)): ((usize, usize), (usize, usize)),
        slots: &[Option<Slot>],
        counts: &Counts,
        out: &mut [f64],
    ) {
        let classes = out.len();
        let total = self.totals[pairs_below(w) + u];
        let pair = counts.pair(a, b);
        out.iter_mut().zip(pair).for_each(|(out, n)| *out = (n + 1.0).ln() - total);
        let row = (pairs_below(b) + a) * slots.len();
        for (v, slot) in slots.iter().enumerate() {
            if let (Some(s), true) = (*slot, v != u && v != w) {
                let above = Triples::cells(&self.numerators, classes, a, b, s.index());
                let at = (row + v) * classes;
                let below = &self.denominators[at..at + classes];
                let terms = above.iter().zip(below);
                out.iter_mut().zip(terms).for_each(|(out, (above, below))| *out += above - below);
            }
        }
    }
}

/// Logarithms taken in one piece of work.
const LOGARITHMS: usize = 4096;

/// N_cuw of the rows in which v is known + #A_v, by pair of slots, attribute v, and class.
fn denominators(triples: &Triples, layout: &Layout) -> Vec<f64> {
    let (attributes, classes) = (layout.attributes(), layout.classes());
    let of_slots = |u: usize| layout.slots_of(u).map(move |_| u);
    let attribute: Vec<usize> = (0..attributes).flat_map(of_slots).collect();
    let pairs = (0..layout.slots()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let mut found = vec![0.0; pairs_below(layout.slots()) * attributes * classes];
    let cells = found.chunks_exact_mut((attributes * classes).max(1));
    for ((a, b), of_pair) in pairs.zip(cells) {
        for (v, sums) in of_pair.chunks_exact_mut(classes).enumerate() {
            sums.fill(layout.values(v));
            let (u, w) = (attribute[a], attribute[b]);
            if u == w || v == u || v == w {
                continue;
            }
            for s in layout.slots_of(v) {
                let cells = Triples::cells(&triples.cells, classes, a, b, s);
                sums.iter_mut().zip(cells).for_each(|(sum, n)| *sum += n);
            }
        }
    }
    found
}

/// N + #C #A_u #A_w, by pair of attributes u < w, N the rows in which both are known.
fn totals(counts: &Counts) -> Vec<f64> {
    let layout = counts.layout();
    let pairs = (0..layout.attributes()).flat_map(|w| (0..w).map(move |u| (u, w)));
    let total = |(u, w): (usize, usize)| {
        let slots = layout.slots_of(u).flat_map(|a| layout.slots_of(w).map(move |b| (a, b)));
        let both: f64 = slots.flat_map(|(a, b)| counts.pair(a, b)).sum();
        both + layout.classes() as f64 * layout.values(u) * layout.values(w)
    };
    pairs.map(total).collect()
}
