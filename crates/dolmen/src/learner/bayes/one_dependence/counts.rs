//! Counts of pairs of attribute values with the class: all that the one-dependence family learns from rows.
//!
//! N_cu(c, i): weight of the rows of class c with value i of attribute u; N_cuv(c, i, j): of those that also have value j of
//! attribute v. One packed table; a sum over rows, so it is formed in parts, extended by new rows, and a row is
//! left out by subtracting it.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::stats::{Accumulator, accumulate};

/// Rows summed into one accumulator.
const PART: usize = 16_384;
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
        let cells = slots.saturating_mul(slots).saturating_mul(classes);
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
    pub(super) fn slot(&self, u: usize, value: f64) -> Option<usize> {
        (!value.is_nan()).then(|| self.firsts[u] + (value as usize).min(self.values[u]))
    }

    /// Where the classes of a pair of slots begin.
    fn pair(&self, a: usize, b: usize) -> usize {
        (a * self.slots() + b) * self.classes
    }
}

/// The slots of a row's values; `None` for a missing one.
pub(super) type Slots = Vec<Option<usize>>;

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
    /// By slot, slot and class; both orders of a pair are kept, and a slot with itself is N_cu.
    pairs: Vec<f64>,
}

impl Accumulator for Counts {
    fn merge(&mut self, later: Self) {
        self.by_class.iter_mut().zip(later.by_class).for_each(|(a, b)| *a += b);
        self.pairs.iter_mut().zip(later.pairs).for_each(|(a, b)| *a += b);
    }
}

impl Counts {
    fn zero(layout: &Layout) -> Self {
        let cells = layout.slots() * layout.slots() * layout.classes;
        Self {
            layout: layout.clone(),
            by_class: vec![0.0; layout.classes],
            pairs: vec![0.0; cells],
        }
    }

    /// Counts rows; `read` puts the slots of a row into the room and gives its class and weight.
    pub(super) fn of_rows(
        layout: &Layout,
        rows: usize,
        read: impl Fn(usize, &mut Room) -> (usize, f64) + Sync,
    ) -> Self {
        let mut counts = accumulate(
            rows,
            PART,
            || Self::zero(layout),
            |sum, part| {
                let mut room = Room::default();
                for i in part {
                    let (class, weight) = read(i, &mut room);
                    sum.add(&room.slots, class, weight);
                }
            },
        );
        counts.mirror();
        counts
    }

    /// Adds a row, each pair in one order.
    fn add(&mut self, slots: &[Option<usize>], class: usize, weight: f64) {
        self.by_class[class] += weight;
        for (u, a) in slots.iter().enumerate() {
            let Some(a) = *a else { continue };
            self.add_pairs(a, &slots[u..], class, weight);
        }
    }

    /// Adds the pairs of a slot with others.
    fn add_pairs(&mut self, a: usize, others: &[Option<usize>], class: usize, weight: f64) {
        let classes = self.layout.classes;
        let (first, end) = (self.layout.pair(a, 0), self.layout.pair(a + 1, 0));
        let row = &mut self.pairs[first..end];
        for b in others.iter().flatten() {
            row[b * classes + class] += weight;
        }
    }

    /// Copies each pair's count to its other order.
    fn mirror(&mut self) {
        for a in 0..self.layout.slots() {
            for b in a + 1..self.layout.slots() {
                let (from, to) = (self.layout.pair(a, b), self.layout.pair(b, a));
                self.pairs.copy_within(from..from + self.layout.classes, to);
            }
        }
    }

    /// The counts with those of further rows.
    pub(super) fn extended(mut self, further: Self) -> Self {
        self.merge(further);
        self
    }

    /// The counts without some of the rows, given by their slots, class and weight.
    pub(super) fn without<'a>(
        mut self,
        rows: impl Iterator<Item = (&'a [Option<usize>], (usize, f64))>,
    ) -> Self {
        for (slots, (class, weight)) in rows {
            self.by_class[class] -= weight;
            for a in slots.iter().flatten() {
                self.add_pairs(*a, slots, class, -weight);
            }
        }
        self
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

    /// N_cuv(c, a, b) for every class.
    pub(super) fn pair(&self, a: usize, b: usize) -> &[f64] {
        let at = self.layout.pair(a, b);
        &self.pairs[at..at + self.layout.classes]
    }

    /// N_u(a), whatever the class.
    pub(super) fn total(&self, a: usize) -> f64 {
        self.single(a).iter().sum()
    }

    /// Whether the table has its shape, for one that was read from a file.
    pub(super) fn is_whole(&self) -> bool {
        let Layout { values, firsts, classes } = &self.layout;
        Layout::new(values.clone(), *classes).is_ok_and(|whole| whole.firsts == *firsts)
            && self.by_class.len() == *classes
            && self.pairs.len() == self.layout.slots() * self.layout.slots() * classes
    }
}
