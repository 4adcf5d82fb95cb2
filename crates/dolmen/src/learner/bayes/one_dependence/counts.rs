//! Counts of pairs of attribute values with the class: all that the one-dependence family learns from rows.
//!
//! N_cu(c, i): weight of the rows of class c with value i of attribute u; N_cuv(c, i, j): of those that also have value j of
//! attribute v. One packed table; a sum over rows, so it is formed in parts, extended by new rows, and a row is
//! left out by subtracting it.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::math::bulk;
use crate::stats::{Accumulator, accumulate};

/// Rows summed into one accumulator.
const PART: usize = 16_384;
/// Rows of which one attribute after the other is counted.
const BLOCK: usize = 128;
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
}

impl Layout {
    pub(super) fn new(values: Vec<usize>, classes: usize) -> Result<Self> {
        let mut firsts = vec![0];
        for count in &values {
            firsts.push(firsts[firsts.len() - 1] + count + 1);
        }
        let slots = firsts[values.len()];
        let cells = slots.saturating_mul(slots + 1).saturating_mul(classes) / 2;
        if cells > MOST_CELLS {
            let problem = format!(
                "the attributes make {cells} triples of two values and a class, more than {MOST_CELLS}"
            );
            return Err(Error::data(Place::default(), problem)
                .with_hint("use fewer bins, or drop columns with many levels"));
        }
        Ok(Self { values, firsts, classes })
    }

    pub(super) fn attributes(&self) -> usize {
        self.values.len()
    }

    pub(super) fn classes(&self) -> usize {
        self.classes
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
    pub(super) fn slots_of(&self, u: usize) -> std::ops::Range<usize> {
        self.firsts[u]..self.firsts[u + 1]
    }

    /// The slot of a value; `None` if it is missing.
    pub(super) fn slot(&self, u: usize, value: f64) -> Option<Slot> {
        (!value.is_nan()).then(|| Slot::new(self.firsts[u] + (value as usize).min(self.values[u])))
    }
}

/// The place of a value among those of all attributes. One that may be missing takes four bytes, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(NonZeroU32);

impl Slot {
    fn new(index: usize) -> Self {
        // There are far fewer slots: the square of their number is below `MOST_CELLS`.
        let next = u32::try_from(index).ok().and_then(|index| NonZeroU32::MIN.checked_add(index));
        Self(next.expect("a table has fewer than 2^32 slots"))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The slots of a row's values; `None` for a missing one.
pub(super) type Slots = Vec<Option<Slot>>;

/// Pairs of slots a <= b come in the order of b, then of a: so many come before those of b.
pub(super) fn pairs_before(b: usize) -> usize {
    b * (b + 1) / 2
}

/// The place of a pair of slots, which may come in any order, among all pairs.
pub(super) fn pair_place(a: usize, b: usize) -> usize {
    pairs_before(a.max(b)) + a.min(b)
}

/// Room for reading one row after the other.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) codes: Vec<f64>,
    pub(super) slots: Slots,
}

/// The table of counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Counts {
    layout: Layout,
    /// Weight of each class.
    by_class: Vec<f64>,
    /// By pair of slots and class; a slot with itself is N_cu.
    pairs: Vec<f64>,
}

impl Accumulator for Counts {
    fn merge(&mut self, later: Self) {
        self.add_table(&later);
    }
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
        pairs_before(layout.slots()) * layout.classes
    }

    /// Counts rows; `read` puts the slots of a row into the room and gives its class and weight.
    pub(super) fn of_rows(
        layout: &Layout,
        rows: usize,
        read: impl Fn(usize, &mut Room) -> (usize, f64) + Sync,
    ) -> Self {
        accumulate(
            rows,
            PART,
            || Self::zero(layout),
            |sum, part| {
                let (mut room, mut slots, mut own) = (Room::default(), Vec::new(), Vec::new());
                for first in part.clone().step_by(BLOCK) {
                    slots.clear();
                    own.clear();
                    for i in first..(first + BLOCK).min(part.end) {
                        own.push(read(i, &mut room));
                        slots.extend_from_slice(&room.slots);
                    }
                    sum.add(&slots, &own);
                }
            },
        )
    }

    /// Adds rows: their slots, row after row, and their classes and weights. For one attribute after the other, because the
    /// part of the table that has to do with one stays in the cache.
    fn add(&mut self, slots: &[Option<Slot>], own: &[(usize, f64)]) {
        own.iter().for_each(|(class, weight)| self.by_class[*class] += weight);
        let (attributes, classes) = (self.layout.attributes(), self.layout.classes);
        for u in 0..attributes {
            for (slots, (class, weight)) in slots.chunks_exact(attributes).zip(own) {
                let Some(slot) = slots[u] else { continue };
                let first = pairs_before(slot.index());
                let row = &mut self.pairs[first * classes..(first + slot.index() + 1) * classes];
                for other in slots[..=u].iter().flatten() {
                    row[other.index() * classes + class] += weight;
                }
            }
        }
    }

    /// The counts with those of further rows.
    pub(super) fn with(mut self, further: &Self) -> Self {
        self.add_table(further);
        self
    }

    /// The counts without those of some of the rows.
    pub(super) fn without(&self, mut some: Self) -> Self {
        let rest = |some: &mut [f64], all: &[f64]| {
            some.iter_mut().zip(all).for_each(|(some, all)| *some = all - *some);
        };
        rest(&mut some.by_class, &self.by_class);
        rest(&mut some.pairs, &self.pairs);
        some
    }

    fn add_table(&mut self, other: &Self) {
        bulk::add_scaled(&mut self.by_class, 1.0, &other.by_class);
        bulk::add_scaled(&mut self.pairs, 1.0, &other.pairs);
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// N_c for every class.
    pub(super) fn by_class(&self) -> &[f64] {
        &self.by_class
    }

    /// N_cu(c, a) for every class.
    pub(super) fn single(&self, a: usize) -> &[f64] {
        self.pair(a, a)
    }

    /// N_cuv(c, a, b) for every class; the slots may come in any order.
    pub(super) fn pair(&self, a: usize, b: usize) -> &[f64] {
        let at = pair_place(a, b) * self.layout.classes;
        &self.pairs[at..at + self.layout.classes]
    }

    /// N_cuv by pair of slots and class, as they are kept.
    pub(super) fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    /// Whether the table has its shape, for one that was read from a file.
    pub(super) fn is_whole(&self) -> bool {
        let Layout { values, firsts, classes } = &self.layout;
        Layout::new(values.clone(), *classes).is_ok_and(|whole| whole.firsts == *firsts)
            && self.by_class.len() == *classes
            && self.pairs.len() == Self::cells(&self.layout)
    }
}
