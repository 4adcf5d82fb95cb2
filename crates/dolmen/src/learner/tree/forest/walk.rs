//! Many rows on their way down a tree at once.
//!
//! A row goes down by table lookups that each wait for the one before, so eight rows step in turn and wait together. No step
//! is a branch that could be guessed wrong: a row that has reached its leaf stays there. Every few steps those rows are
//! taken out, and the others close up; without that, all would take as many steps as the slowest.
//!
//! A row holds two codes of every column, the second one more than the first: a missing value is above all others in the
//! first and below all others in the second, and a node looks at the one that sends it where it should go.

use super::super::Bins;
use super::super::codes::ColumnCodes;
use super::packed::{Packed, WINDOW};
use crate::error::{Error, Result};
use crate::table::Rows;

/// The two codes of a missing value.
const MISSING: [u8; 2] = [u8::MAX, 0];

/// Rows that step in turn.
const LANES: usize = 8;

/// Steps between two looks at which rows have reached their leaves.
const STEPS: usize = 4;

/// Rows sent down together: their codes stay in the near cache.
const BATCH: usize = 512;

/// Rows coded column by column.
const CHUNK: usize = 256;

/// The codes of rows, row after row.
#[derive(Debug, Clone)]
pub(super) struct PackedRows {
    /// Two for every cell, and some more, so that every row can be looked at as a whole window.
    codes: Vec<u8>,
    rows: usize,
    width: usize,
}

impl PackedRows {
    fn blank(rows: usize, width: usize) -> Self {
        Self { codes: vec![0; 2 * rows * width + WINDOW], rows, width }
    }

    /// Codes rows.
    pub(super) fn new(bins: &Bins, x: Rows<'_>) -> Result<Self> {
        let width = bins.columns().len();
        if x.width() != width {
            return Err(Error::shape("input columns", width, x.width()));
        }
        let mut packed = Self::blank(x.rows(), width);
        let coders = bins.coders();
        let mut column = [0; CHUNK];
        for first in (0..x.rows()).step_by(CHUNK) {
            let rows = CHUNK.min(x.rows() - first);
            let chunk = x.slice(first..first + rows);
            for (j, coder) in coders.iter().enumerate() {
                coder.encode(chunk.column(j), &mut column[..rows]);
                packed.put(bins, first, j, column[..rows].iter().copied());
            }
        }
        Ok(packed)
    }

    /// Takes rows of a coded table.
    pub(super) fn gather(bins: &Bins, codes: &ColumnCodes, rows: &[u32]) -> Self {
        let mut packed = Self::blank(rows.len(), codes.width());
        for (chunk, rows) in rows.chunks(CHUNK).enumerate() {
            for j in 0..codes.width() {
                let column = codes.column(j);
                let cells = rows.iter().map(|&row| column[row as usize]);
                packed.put(bins, chunk * CHUNK, j, cells);
            }
        }
        packed
    }

    /// Puts codes into a column, from a row on.
    fn put(&mut self, bins: &Bins, first: usize, column: usize, cells: impl Iterator<Item = u8>) {
        let missing = bins.columns()[column].bins() as u8;
        let pairs = self.codes[2 * (first * self.width + column)..].chunks_mut(2 * self.width);
        for (pair, code) in pairs.zip(cells) {
            let both = if code == missing { MISSING } else { [code, code.wrapping_add(1)] };
            pair[..2].copy_from_slice(&both);
        }
    }

    /// Deals out the codes of a column as `other` has them: to each row those of the row that `order` names.
    pub(super) fn deal(&mut self, column: usize, other: &Self, order: impl Iterator<Item = usize>) {
        for (row, from) in order.enumerate() {
            let [to, from] = [row, from].map(|row| 2 * (row * self.width + column));
            self.codes[to..to + 2].copy_from_slice(&other.codes[from..from + 2]);
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The codes of a row, and whatever follows them.
    #[inline]
    fn from(&self, row: usize) -> &[u8] {
        &self.codes[2 * row * self.width..]
    }
}

/// Walks rows down trees; keeps its room from one tree to the next.
#[derive(Debug)]
pub(super) struct Walker {
    squeezed: Vec<u32>,
    batch: Batch,
}

/// Rows on their way, by their number in the batch, each with the node it is at; and those that have arrived.
#[derive(Debug)]
struct Batch {
    under_way: [(u32, u32); BATCH + LANES],
    arrived: [(u32, u32); BATCH],
}

impl Walker {
    pub(super) fn new() -> Self {
        let batch = Batch { under_way: [(0, 0); BATCH + LANES], arrived: [(0, 0); BATCH] };
        Self { squeezed: Vec::new(), batch }
    }

    /// Calls `visit` with each chosen row's position among them and the values of the leaf it reaches, in any order.
    pub(super) fn walk(
        &mut self,
        tree: &Packed,
        x: &PackedRows,
        mut rows: impl ExactSizeIterator<Item = usize>,
        mut visit: impl FnMut(usize, &[f32]),
    ) {
        // Most rows need at least this many steps: the depth of a tree that is all even.
        let blind = tree.len().ilog2() as usize;
        // Squeezing is a pass over the nodes, worth while for a sixteenth as many rows.
        let many = 16 * rows.len() >= tree.len();
        let squeezed = if many { tree.squeeze(x.width, &mut self.squeezed) } else { None };
        let mut chosen = [0; BATCH];
        let mut first = 0;
        while rows.len() > 0 {
            let size = rows.len().min(BATCH);
            chosen.iter_mut().zip(rows.by_ref().take(size)).for_each(|(to, row)| *to = row);
            let visit = |row: u32, leaf: u32| visit(first + row as usize, tree.values(leaf));
            let codes = |row: u32| x.from(chosen[row as usize % BATCH]);
            if let Some(squeezed) = squeezed {
                let window = |row: u32| codes(row).first_chunk().unwrap_or(&[0; WINDOW]);
                let step = |at: u32, codes: &[u8; WINDOW]| squeezed.step(at, codes);
                self.batch.descend(size, blind, window, step, |at| squeezed.is_leaf(at), visit);
            } else {
                let step = |at: u32, codes: &[u8]| tree.step(at, codes);
                self.batch.descend(size, blind, codes, step, |at| tree.is_leaf(at), visit);
            }
            first += size;
        }
    }
}

impl Batch {
    /// Sends the rows down from the root, the first `blind` steps without looking who has arrived.
    #[inline]
    fn descend<R: Copy>(
        &mut self,
        size: usize,
        blind: usize,
        codes: impl Fn(u32) -> R,
        step: impl Fn(u32, R) -> u32,
        is_leaf: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, u32),
    ) {
        (0..).zip(&mut self.under_way[..size]).for_each(|(row, place)| *place = (row, 0));
        let (mut active, mut steps) = (size, blind);
        while active > 0 {
            let (mut left, mut arrived) = (0, 0);
            // The last lanes may be short of rows: the first one goes along.
            self.under_way[active..active + LANES].fill((0, 0));
            for first in (0..active).step_by(LANES) {
                let mut lanes = [(0, 0); LANES];
                lanes.copy_from_slice(&self.under_way[first..first + LANES]);
                let (mut rows, mut at) = ([codes(0); LANES], [0; LANES]);
                for (k, &(row, place)) in lanes.iter().enumerate() {
                    (rows[k], at[k]) = (codes(row), place);
                }
                for _ in 0..steps {
                    for (at, row) in at.iter_mut().zip(&rows) {
                        *at = step(*at, *row);
                    }
                }
                for (&(row, _), &at) in lanes.iter().zip(&at).take(active - first) {
                    let is_there = is_leaf(at);
                    self.under_way[left] = (row, at);
                    self.arrived[arrived] = (row, at);
                    left += usize::from(!is_there);
                    arrived += usize::from(is_there);
                }
            }
            self.arrived[..arrived].iter().for_each(|&(row, leaf)| visit(row, leaf));
            (active, steps) = (left, STEPS);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::super::super::fitted::CodeSet;
    use super::super::grow::Rule;
    use super::*;

    /// A tree as one would draw it.
    enum Drawn {
        Leaf(Vec<f32>),
        Split { column: usize, lefts: CodeSet, missing_left: bool, children: Box<[Drawn; 2]> },
    }

    const MISSING_CODE: usize = 255;

    impl Drawn {
        /// Draws a tree, and packs it.
        fn new(rng: &mut ChaCha8Rng, packed: &mut Packed, depth: usize, categories: bool) -> Self {
            Self::grow(rng, packed, 0, depth, categories)
        }

        fn grow(
            rng: &mut ChaCha8Rng,
            packed: &mut Packed,
            place: usize,
            depth: usize,
            categories: bool,
        ) -> Self {
            if depth == 0 || rng.random_range(0..9) == 0 {
                let leaf: Vec<f32> = (0..packed.stride()).map(|_| rng.random()).collect();
                packed.leaf(place, |values| values.copy_from_slice(&leaf));
                return Self::Leaf(leaf);
            }
            let (column, missing_left) = (rng.random_range(0..WIDTH), rng.random());
            let (rule, lefts) = if categories && rng.random() {
                let set = [rng.random(), rng.random(), rng.random(), rng.random::<u64>() >> 1];
                (Rule::Within(set), set)
            } else {
                let bin = rng.random_range(0..255_u8);
                let below = |word: usize| {
                    (0..64).fold(0, |set, bit| {
                        set | u64::from(64 * word + bit <= usize::from(bin)) << bit
                    })
                };
                (Rule::Below(bin), [0, 1, 2, 3].map(below))
            };
            let left = packed.split(place, column, &rule, missing_left);
            let mut child = |k| Self::grow(rng, packed, left + k, depth - 1, categories);
            let children = Box::new([child(0), child(1)]);
            Self::Split { column, lefts, missing_left, children }
        }

        fn predict(&self, row: &[usize]) -> &[f32] {
            match self {
                Self::Leaf(leaf) => leaf,
                Self::Split { column, lefts, missing_left, children } => {
                    let code = row[*column];
                    let left = match code {
                        MISSING_CODE => *missing_left,
                        code => lefts[code / 64] >> (code % 64) & 1 == 1,
                    };
                    children[usize::from(!left)].predict(row)
                }
            }
        }
    }

    const WIDTH: usize = 5;

    #[test]
    fn rows_arrive_where_one_would_lead_them() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (depth, categories, stride) in
            [(0, false, 1), (9, false, 1), (13, false, 3), (9, true, 1)]
        {
            let mut packed = Packed::seed(stride);
            let drawn = Drawn::new(&mut rng, &mut packed, depth, categories);
            let rows: Vec<[usize; WIDTH]> =
                (0..1300).map(|_| [(); WIDTH].map(|()| rng.random_range(0..256))).collect();
            let mut x = PackedRows::blank(rows.len(), WIDTH);
            for (i, code) in rows.iter().flatten().enumerate() {
                let both =
                    if *code == MISSING_CODE { MISSING } else { [*code as u8, *code as u8 + 1] };
                x.codes[2 * i..2 * i + 2].copy_from_slice(&both);
            }
            // Few rows, which are not worth a squeezed tree, rows out of order, and all.
            let few = (0..rows.len()).step_by(500);
            for chosen in [
                few.collect(),
                (0..rows.len()).rev().collect(),
                (0..rows.len()).collect::<Vec<_>>(),
            ] {
                let mut visits = vec![0; chosen.len()];
                Walker::new().walk(&packed, &x, chosen.iter().copied(), |k, leaf| {
                    visits[k] += 1;
                    assert_eq!(leaf, drawn.predict(&rows[chosen[k]]));
                });
                assert!(visits.iter().all(|times| *times == 1), "{visits:?}");
            }
        }
    }
}
