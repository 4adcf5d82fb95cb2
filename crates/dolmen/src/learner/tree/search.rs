//! The best split of a node on one column.
//!
//! Whatever the column and the way its sums were made, they come as a [`Profile`]: the bins that hold rows, in ascending
//! order, with their sums. A cut is tried after each of them, with the missing values on either side.

use super::bins::{ColumnBins, midpoint};
use super::criterion::{Cell, Criterion, Node};
use super::fitted::CodeSet;
use super::histogram::Sums;
use super::sweep::Swept;

/// A split that could be made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// What is gained.
    pub gain: f64,
    /// The column.
    pub column: usize,
    /// Which codes go left.
    pub side: Side,
    /// Whether missing values go left.
    pub missing_left: bool,
}

/// Which codes go left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// Codes up to `bin`, numbers up to `threshold`.
    Below {
        /// The last code.
        bin: u8,
        /// The largest number.
        threshold: f64,
    },
    /// These codes.
    Within(CodeSet),
}

impl Candidate {
    /// Whether this one is to be preferred: the larger gain, and of equal ones the first column. Cuts of one column are
    /// tried in ascending order, so that of equal ones the first is kept.
    pub(super) fn beats(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| {
            self.gain > other.gain || (self.gain == other.gain && self.column < other.column)
        })
    }
}

/// What a split must satisfy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demands {
    /// The least weight of either side.
    pub min_leaf: f64,
    /// Whether thresholds lie midway between the node's own values instead of the table's.
    pub exact: bool,
}

/// The bins of a column that hold rows of a node, with their sums.
#[derive(Debug, Default)]
pub(super) struct Profile {
    pub bins: Vec<u8>,
    /// `width` numbers a bin.
    pub sums: Vec<f64>,
    pub missing: Vec<f64>,
    pub has_missing: bool,
}

impl Profile {
    /// Nothing, for sums of this many numbers.
    pub(super) fn clear(&mut self, width: usize) {
        self.bins.clear();
        self.sums.clear();
        self.missing.clear();
        self.missing.resize(width, 0.0);
        self.has_missing = false;
    }

    /// The sums of the given code, which no earlier call exceeded.
    pub(super) fn at(&mut self, code: usize, bins: usize, width: usize) -> &mut [f64] {
        if code == bins {
            self.has_missing = true;
            return &mut self.missing;
        }
        if self.bins.last().copied().map(usize::from) != Some(code) {
            self.bins.push(code as u8);
            self.sums.resize(self.bins.len() * width, 0.0);
        }
        let from = self.sums.len() - width;
        &mut self.sums[from..]
    }

    /// From the histograms of a column.
    pub(super) fn read<C: Criterion>(
        &mut self,
        criterion: &C,
        histograms: &[Sums<C::Cell>],
        bins: usize,
    ) {
        let (width, nothing) = (criterion.width(), C::Cell::default());
        self.clear(width);
        for code in 0..=bins {
            if histograms.iter().any(|histogram| histogram[code] != nothing) {
                let sums = self.at(code, bins, width);
                for (layer, histogram) in histograms.iter().enumerate() {
                    criterion.add_to(sums, layer, histogram[code]);
                }
            }
        }
    }
}

/// Looks for splits; keeps its memory from one column to the next.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub profile: Profile,
    left: Vec<f64>,
    right: Vec<f64>,
    order: Vec<(f64, usize)>,
}

/// A cut after the first `after` of the bins in some order.
struct Cut {
    gain: f64,
    after: usize,
    missing_left: bool,
}

impl Search {
    /// The best split of a node on the column whose profile this holds.
    pub(super) fn best<C: Criterion>(
        &mut self,
        criterion: &C,
        node: &Node,
        (column, bins): (usize, &ColumnBins),
        demands: Demands,
    ) -> Option<Candidate> {
        if self.profile.bins.len() + usize::from(self.profile.has_missing) < 2 {
            return None;
        }
        if !bins.is_categorical() {
            self.in_order();
            let cut = self.scan(criterion, node, column, demands)?;
            return Some(self.below(column, &cut, bins, demands));
        }
        let mut best: Option<Candidate> = None;
        for order in 0..criterion.orders() {
            self.by_place(criterion, order);
            if let Some(cut) = self.scan(criterion, node, column, demands) {
                let found = self.within(column, &cut);
                if found.beats(best.as_ref()) {
                    best = Some(found);
                }
            }
        }
        best
    }

    fn in_order(&mut self) {
        self.order.clear();
        self.order.extend((0..self.profile.bins.len()).map(|k| (0.0, k)));
    }

    fn by_place<C: Criterion>(&mut self, criterion: &C, order: usize) {
        let width = criterion.width();
        let sums = self.profile.sums.chunks_exact(width);
        self.order.clear();
        self.order.extend(sums.enumerate().map(|(k, sums)| (criterion.place(order, sums), k)));
        self.order.sort_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// The best of all cuts. The last one sends all values left and the missing ones right.
    fn scan<C: Criterion>(
        &mut self,
        criterion: &C,
        node: &Node,
        column: usize,
        demands: Demands,
    ) -> Option<Cut> {
        let width = criterion.width();
        let factor = node.weight / criterion.weight(&node.sums);
        let (profile, order) = (&self.profile, &self.order);
        let (left, right) = (&mut self.left, &mut self.right);
        let mut best: Option<Cut> = None;
        for missing_left in [false, true] {
            if missing_left && !profile.has_missing {
                break;
            }
            left.clear();
            left.resize(width, 0.0);
            if missing_left {
                left.copy_from_slice(&profile.missing);
            }
            // All on one side is no split.
            let cuts = order.len() - usize::from(missing_left || !profile.has_missing);
            for (after, (_, k)) in (1..=cuts).zip(order) {
                add(left, &profile.sums[k * width..(k + 1) * width]);
                right.clear();
                right.extend(node.sums.iter().zip(left.iter()).map(|(all, left)| all - left));
                let sides = [criterion.weight(left), criterion.weight(right)];
                if sides.iter().any(|weight| weight * factor < demands.min_leaf) {
                    continue;
                }
                let Some(gain) = criterion.gain(node, column, left, right) else { continue };
                if best.as_ref().is_none_or(|best| gain > best.gain) {
                    // Without missing values to learn from, they go with the heavier side.
                    let missing_left =
                        if profile.has_missing { missing_left } else { sides[0] >= sides[1] };
                    best = Some(Cut { gain, after, missing_left });
                }
            }
        }
        best
    }

    /// The split that a sweep over a histogram found.
    pub(super) fn swept<P: Cell>(
        swept: Swept,
        histogram: &Sums<P>,
        (column, bins): (usize, &ColumnBins),
        demands: Demands,
    ) -> Candidate {
        let nothing = P::default();
        let next = (swept.last + 1..bins.bins()).find(|&code| histogram[code] != nothing);
        let side = bins.below(swept.last as u8, next.map(|next| next as u8), demands.exact);
        Candidate { gain: swept.gain, column, side, missing_left: swept.missing_left }
    }

    fn below(&self, column: usize, cut: &Cut, bins: &ColumnBins, demands: Demands) -> Candidate {
        let held = &self.profile.bins;
        let side = bins.below(held[cut.after - 1], held.get(cut.after).copied(), demands.exact);
        Candidate { gain: cut.gain, column, side, missing_left: cut.missing_left }
    }

    fn within(&self, column: usize, cut: &Cut) -> Candidate {
        let mut codes = [0; 4];
        for (_, k) in &self.order[..cut.after] {
            let code = self.profile.bins[*k];
            codes[usize::from(code >> 6)] |= 1 << (code & 63);
        }
        let side = Side::Within(codes);
        Candidate { gain: cut.gain, column, side, missing_left: cut.missing_left }
    }
}

impl ColumnBins {
    /// The side up to bin `last`, when the node's next rows are in bin `next`; only missing values are right without it.
    fn below(&self, last: u8, next: Option<u8>, exact: bool) -> Side {
        let (Self::Numeric { cuts, ends }, Some(next)) = (self, next) else {
            return Side::Below { bin: (self.bins() - 1) as u8, threshold: f64::INFINITY };
        };
        if exact {
            let (low, high) = (cuts[usize::from(last)], cuts[usize::from(next) - 1]);
            let middle = midpoint(ends[usize::from(last)].1, ends[usize::from(next)].0);
            return Side::Below { bin: last, threshold: middle.clamp(low, high) };
        }
        let bin = last + (next - 1 - last) / 2;
        Side::Below { bin, threshold: cuts[usize::from(bin)] }
    }
}

#[inline]
fn add(to: &mut [f64], other: &[f64]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to += other;
    }
}
