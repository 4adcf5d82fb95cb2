//! Partitioning a node's rows: those that go left first, each side in its old order.

use rayon::prelude::*;

use super::codes::{BLOCK, CodeColumn};
use super::fitted::contains;
use super::histogram::CODES;
use super::search::{Candidate, Side};

/// For every code whether it goes left: one table for numbers, categories and missing values.
pub(super) fn goes_left(candidate: &Candidate, bins: usize) -> [bool; CODES] {
    let mut table = [false; CODES];
    for (code, left) in table.iter_mut().enumerate().take(bins) {
        *left = match candidate.side {
            Side::Below { bin, .. } => code <= usize::from(bin),
            Side::Within(codes) => contains(&codes, code as u8),
        };
    }
    table[bins] = candidate.missing_left;
    table
}

/// Brings the rows that go left to the front; returns how many there are.
pub(super) fn partition(
    rows: &mut [u32],
    codes: CodeColumn<'_>,
    table: &[bool; CODES],
    scratch: &mut Vec<u32>,
    parallel: bool,
) -> usize {
    if scratch.len() < rows.len() {
        scratch.resize(rows.len(), 0);
    }
    let scratch = &mut scratch[..rows.len()];
    let lefts: Vec<usize> = if parallel && rows.len() > 2 * BLOCK {
        let blocks = rows.par_chunks_mut(BLOCK).zip(scratch.par_chunks_mut(BLOCK));
        blocks.map(|(rows, right)| partition_block(rows, codes, table, right)).collect()
    } else {
        let blocks = rows.chunks_mut(BLOCK).zip(scratch.chunks_mut(BLOCK));
        blocks.map(|(rows, right)| partition_block(rows, codes, table, right)).collect()
    };
    // Lefts close up towards the front, where only rows stand that moved already or wait in the scratch.
    let mut end = 0;
    for (block, &left) in lefts.iter().enumerate() {
        rows.copy_within(block * BLOCK..block * BLOCK + left, end);
        end += left;
    }
    let middle = end;
    for (block, &left) in lefts.iter().enumerate() {
        let right = BLOCK.min(rows.len() - block * BLOCK) - left;
        rows[end..end + right].copy_from_slice(&scratch[block * BLOCK..block * BLOCK + right]);
        end += right;
    }
    middle
}

/// Leaves the lefts at the front of the block and the rights in `right`, without branches.
fn partition_block(
    rows: &mut [u32],
    codes: CodeColumn<'_>,
    table: &[bool; CODES],
    right: &mut [u32],
) -> usize {
    let (mut lefts, mut rights) = (0, 0);
    for i in 0..rows.len() {
        let row = rows[i];
        let left = table[usize::from(codes.at(row as usize))];
        rows[lefts] = row;
        right[rights] = row;
        lefts += usize::from(left);
        rights += usize::from(!left);
    }
    lefts
}
