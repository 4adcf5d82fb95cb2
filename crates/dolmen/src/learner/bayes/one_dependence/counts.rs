//! Counts of pairs of attribute values with the class: all that the one-dependence family learns from rows.
//!
//! N_cu(c, i): weight of the rows of class c with value i of attribute u; N_cuv(c, i, j): of those that also have value j of
//! attribute v. One packed table, of pairs or (for naive Bayes) of single values; a sum over rows, so it is extended by new rows, and rows are left out by subtracting them.

use std::num::NonZeroU32;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::math::bulk;
use crate::memory;

/// Rows of which one pair of attributes after the other is counted.
const BLOCK: usize = 4096;
/// Rows read in one piece of work.
pub(super) const PIECE: usize = 512;
/// Cells a table may have: more would not fit the memory of a usual machine.
pub(super) const MOST_CELLS: usize = 1 << 28;

/// Where the values of each attribute stand. Each has one slot more than values, for values unknown when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layout {
    /// Values of each attribute, #A_u.
    values: Vec<usize>,
    /// First slot of each attribute, and the number of slots at the end.
    firsts: Vec<usize>,
    classes: usize,
    /// Whether pairs of values are counted; naive Bayes needs single ones only.
    #[serde(default = "are_paired")]
    paired: bool,
}

/// Files of version 1 hold pairs.
fn are_paired() -> bool {
    true
}

impl Layout {
    /// For pairs of values.
    #[cfg(test)]
    pub(super) fn new(values: Vec<usize>, classes: usize) -> Result<Self> {
        Self::of(values, classes, true)
    }

    /// For pairs, or for single values.
    pub(super) fn of(values: Vec<usize>, classes: usize, paired: bool) -> Result<Self> {
        let mut firsts = vec![0];
        for count in &values {
            firsts.push(count.saturating_add(firsts[firsts.len() - 1]).saturating_add(1));
        }
        let slots = firsts[values.len()];
        let layout = Self { values, firsts, classes, paired };
        let places = if paired { slots.saturating_add(1).saturating_mul(slots) / 2 } else { slots };
        let cells = places.saturating_mul(stride(classes));
        if cells > MOST_CELLS {
            let of_what = if paired { "triples of two values" } else { "pairs of a value" };
            let problem = format!(
                "the attributes make {cells} {of_what} and a class, more than {MOST_CELLS}"
            );
            return Err(Error::data(Place::default(), problem)
                .with_hint("use fewer bins, or drop columns with many levels"));
        }
        memory::claim(memory::size(&[cells, size_of::<f64>()]), "the table of counts")?;
        Ok(layout)
    }

    /// Whether pairs of values are counted.
    pub(super) fn is_paired(&self) -> bool {
        self.paired
    }

    /// Places of the table up to the first of some slot.
    fn places_before(&self, slot: usize) -> usize {
        if self.paired { pairs_before(slot) } else { slot }
    }

    /// The place of a pair of slots, which may come in any order; of single ones that of a slot with itself.
    fn place(&self, a: usize, b: usize) -> usize {
        debug_assert!(self.paired || a == b, "pairs are not counted");
        self.places_before(a.max(b)) + if self.paired { a.min(b) } else { 0 }
    }

    pub(super) fn attributes(&self) -> usize {
        self.values.len()
    }

    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    /// Numbers kept for the classes of a slot or pair: a few more than classes, so that they fill registers.
    pub(super) fn stride(&self) -> usize {
        stride(self.classes)
    }

    /// Slots of all attributes together.
    pub(super) fn slots(&self) -> usize {
        self.firsts[self.values.len()]
    }

    /// #A_u.
    pub(super) fn values(&self, u: usize) -> f64 {
        self.values[u] as f64
    }

    /// The slots of attribute u, the one for unknown values last.
    pub(super) fn slots_of(&self, u: usize) -> Range<usize> {
        self.firsts[u]..self.firsts[u + 1]
    }

    /// The slot of a value.
    pub(super) fn slot(&self, u: usize, value: usize) -> Slot {
        Slot::new(self.firsts[u] + value.min(self.values[u]))
    }
}

/// Two classes fill a register of two numbers, more of them registers of four.
fn stride(classes: usize) -> usize {
    if classes <= 2 { 2 } else { classes.next_multiple_of(4) }
}

/// The place of a value among those of all attributes. One that may be missing takes four bytes, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(NonZeroU32);

impl Slot {
    fn new(index: usize) -> Self {
        // There are far fewer slots than 2^32: `MOST_CELLS` at most.
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The slots of a row's values; `None` for a missing one.
pub(super) type Slots = Vec<Option<Slot>>;

/// Pairs of slots a <= b come in the order of b, then of a: this many come before those of b.
pub(super) fn pairs_before(b: usize) -> usize {
    b * (b + 1) / 2
}

/// Reads a row: writes the slots of its values, and gives its class and weight.
pub(super) trait ReadRow: Fn(usize, &mut [Option<Slot>]) -> (usize, f64) + Sync {}

impl<F: Fn(usize, &mut [Option<Slot>]) -> (usize, f64) + Sync> ReadRow for F {}

/// A block of rows: their values attribute after attribute, their classes and weights.
#[derive(Default)]
struct RowBlock {
    columns: Vec<Option<Slot>>,
    own: Vec<(usize, f64)>,
    /// The values row after row, as they are read.
    slots: Slots,
}

impl RowBlock {
    fn read(&mut self, attributes: usize, rows: Range<usize>, read: &impl ReadRow) {
        let (width, count) = (attributes.max(1), rows.len());
        self.own.resize(count, (0, 0.0));
        self.slots.resize(count * width, None);
        self.columns.resize(count * width, None);
        let pieces = self.slots.par_chunks_mut(PIECE * width).zip(self.own.par_chunks_mut(PIECE));
        pieces.enumerate().for_each(|(piece, (slots, own))| {
            let first = rows.start + piece * PIECE;
            for (i, (slots, own)) in slots.chunks_exact_mut(width).zip(own).enumerate() {
                *own = read(first + i, &mut slots[..attributes]);
            }
        });
        let Self { columns, slots, .. } = self;
        columns.par_chunks_exact_mut(count).enumerate().for_each(|(u, column)| {
            let values = slots[u..].iter().step_by(width);
            column.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
        });
    }

    fn column(&self, u: usize) -> &[Option<Slot>] {
        &self.columns[u * self.own.len()..][..self.own.len()]
    }
}

/// The table of counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Packed", into = "Packed")]
pub(super) struct Counts {
    layout: Layout,
    /// Weight of each class.
    by_class: Vec<f64>,
    /// By pair of slots and class, [`Layout::stride`] numbers for each pair; a slot with itself is N_cu.
    pairs: Vec<f64>,
}

impl Counts {
    fn zero(layout: &Layout) -> Self {
        Self {
            layout: layout.clone(),
            by_class: vec![0.0; layout.classes],
            pairs: vec![0.0; Self::cells(layout)],
        }
    }

    /// The numbers in the table of pairs.
    pub(super) fn cells(layout: &Layout) -> usize {
        layout.places_before(layout.slots()) * layout.stride()
    }

    /// Counts rows.
    pub(super) fn of_rows(layout: &Layout, rows: usize, read: impl ReadRow) -> Self {
        let mut counts = Self::zero(layout);
        counts.add_rows(1.0, rows, read);
        counts
    }

    /// Adds rows, their weights times `sign`: -1 for rows that were counted and are to be left out.
    pub(super) fn add_rows(&mut self, sign: f64, rows: usize, read: impl ReadRow) {
        let mut block = RowBlock::default();
        for first in (0..rows).step_by(BLOCK) {
            block.read(self.layout.attributes(), first..(first + BLOCK).min(rows), &read);
            block.own.iter_mut().for_each(|(_, weight)| *weight *= sign);
            self.add_block(&block);
        }
    }

    /// The pairs with the same later attribute are one piece of the table. Pieces are counted side by side, each over all
    /// rows in their order.
    fn add_block(&mut self, block: &RowBlock) {
        block.own.iter().for_each(|(class, weight)| self.by_class[*class] += weight);
        let layout = &self.layout;
        let mut rest = self.pairs.as_mut_slice();
        let mut pieces = Vec::with_capacity(layout.attributes());
        for u in 0..layout.attributes() {
            let slots = layout.slots_of(u);
            let places = layout.places_before(slots.end) - layout.places_before(slots.start);
            let (piece, further) = rest.split_at_mut(places * layout.stride());
            pieces.push((u, piece));
            rest = further;
        }
        let pieces = pieces.into_par_iter().rev();
        pieces.for_each_init(Vec::new, |starts, (u, piece)| {
            add_piece(u, block, layout, starts, piece);
        });
    }

    /// Adds the counts of other rows times `sign`, as [`Self::add_rows`] does.
    pub(super) fn add(&mut self, sign: f64, other: &Self) {
        bulk::add_scaled(&mut self.by_class, sign, &other.by_class);
        bulk::add_scaled(&mut self.pairs, sign, &other.pairs);
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// N_c for every class.
    pub(super) fn by_class(&self) -> &[f64] {
        &self.by_class
    }

    /// N.
    pub(super) fn total(&self) -> f64 {
        self.by_class.iter().sum()
    }

    /// N_cu(c, a) for every class.
    pub(super) fn single(&self, a: usize) -> &[f64] {
        self.pair(a, a)
    }

    /// N_cuv(c, a, b) for every class; the slots may come in any order.
    pub(super) fn pair(&self, a: usize, b: usize) -> &[f64] {
        &self.pairs[self.layout.place(a, b) * self.layout.stride()..][..self.layout.classes]
    }

    /// N_cuv by pair of slots and class, as they are kept.
    pub(super) fn pairs(&self) -> &[f64] {
        &self.pairs
    }
}

/// The table as it is stored: no more numbers for a pair than classes.
#[derive(Serialize, Deserialize)]
struct Packed {
    layout: Layout,
    by_class: Vec<f64>,
    pairs: Vec<f64>,
}

impl From<Counts> for Packed {
    fn from(Counts { layout, by_class, pairs }: Counts) -> Self {
        let of_pairs = pairs.chunks_exact(layout.stride());
        let pairs = of_pairs.flat_map(|cells| &cells[..layout.classes]).copied().collect();
        Self { layout, by_class, pairs }
    }
}

impl TryFrom<Packed> for Counts {
    type Error = &'static str;

    fn try_from(Packed { layout, by_class, pairs }: Packed) -> Result<Self, Self::Error> {
        // As many classes as numbers were read: no size below overflows.
        let is_whole = layout.classes > 0
            && by_class.len() == layout.classes
            && Layout::of(layout.values.clone(), layout.classes, layout.paired)
                .is_ok_and(|new| new == layout)
            && pairs.len() == layout.places_before(layout.slots()) * layout.classes
            && by_class.iter().chain(&pairs).all(|n| *n >= 0.0 && n.is_finite());
        if !is_whole {
            return Err("the stored counts are damaged");
        }
        let mut counts = Self::zero(&layout);
        let cells = counts.pairs.chunks_exact_mut(layout.stride());
        for (cells, stored) in cells.zip(pairs.chunks_exact(layout.classes)) {
            cells[..layout.classes].copy_from_slice(stored);
        }
        Ok(Self { by_class, ..counts })
    }
}

/// Where a row's pairs with one attribute begin in the attribute's piece of the table, and its weight.
type Start = (u32, f64);

/// Counts the pairs of one attribute with those before it, and with itself. A few pairs of attributes after the other, because the
/// cells they have stay in the cache.
fn add_piece(
    u: usize,
    block: &RowBlock,
    layout: &Layout,
    starts: &mut Vec<Start>,
    piece: &mut [f64],
) {
    let (before, stride) = (layout.places_before(layout.slots_of(u).start), layout.stride());
    starts.clear();
    starts.extend(block.column(u).iter().zip(&block.own).map(|(slot, (class, weight))| {
        // Nothing is added for a missing value, wherever it is. Tables have at most `MOST_CELLS` cells.
        slot.map_or((0, 0.0), |slot| {
            let first = (layout.places_before(slot.index()) - before) * stride + class;
            (first as u32, *weight)
        })
    }));
    if !layout.paired {
        starts.iter().for_each(|&(first, weight)| piece[first as usize] += weight);
        return;
    }
    let mut columns = (0..=u).map(|v| block.column(v));
    loop {
        match std::array::from_fn(|_| columns.next()) {
            [Some(a), Some(b), Some(c), Some(d)] => {
                add_columns([a, b, c, d], starts, stride, piece);
            }
            [None, ..] => return,
            some => {
                some.into_iter().flatten().for_each(|a| add_columns([a], starts, stride, piece));
            }
        }
    }
}

/// Counts the pairs of some attributes together: a cell that is added to again at once has to wait for itself.
fn add_columns<const K: usize>(
    columns: [&[Option<Slot>]; K],
    starts: &[Start],
    stride: usize,
    piece: &mut [f64],
) {
    let columns = columns.map(|column| &column[..starts.len()]);
    for (i, &(first, weight)) in starts.iter().enumerate() {
        for column in columns {
            if let Some(other) = column[i] {
                piece[first as usize + other.index() * stride] += weight;
            }
        }
    }
}
