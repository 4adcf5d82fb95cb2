//! Values that vanish beside the largest of their row: more than 745 nats below it, an exponential is zero.
//!
//! They are few in most matrices, so they are kept as a list, block by block of the rows.

use super::pass::BLOCK;
use crate::math::log_sum_exp;

/// The vanished values of a block of rows: row within the block, member, ln L.
pub(super) type Block = Vec<(usize, usize, f64)>;

/// The logarithms of all vanished values.
#[derive(Debug, Clone, Default)]
pub(super) struct Depths {
    /// By blocks of rows; each is sorted by row. Empty if nothing vanished.
    blocks: Vec<Block>,
}

/// Notes the values of a member's block that became zero, or nearly, although their logarithms are finite. They are made zero,
/// as they must not count twice.
pub(super) fn find(vanished: &mut Block, member: usize, converted: &mut [f64], logarithms: &[f64]) {
    for (i, (value, logarithm)) in converted.iter_mut().zip(logarithms).enumerate() {
        if *value < f64::MIN_POSITIVE && *logarithm > f64::NEG_INFINITY {
            vanished.push((i, member, *logarithm));
            *value = 0.0;
        }
    }
}

impl Depths {
    pub(super) fn new(mut blocks: Vec<Block>) -> Self {
        if blocks.iter().all(Vec::is_empty) {
            return Self::default();
        }
        blocks.iter_mut().for_each(|block| block.sort_by_key(|(i, m, _)| (*i, *m)));
        Self { blocks }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds what vanished to the rows' scores ln sum_m weights_m L[i,m]: it matters where no larger member has weight.
    pub(super) fn lift(&self, scores: &mut [f64], weights: &[f64]) {
        for (block, scores) in self.blocks.iter().zip(scores.chunks_mut(BLOCK)) {
            for row in block.chunk_by(|a, b| a.0 == b.0) {
                let score = &mut scores[row[0].0];
                let weighted = row.iter().filter(|(_, m, _)| weights[*m] > 0.0);
                let terms = weighted.map(|(_, m, logarithm)| weights[*m].ln() + logarithm);
                *score = log_sum_exp(&terms.chain([*score]).collect::<Vec<f64>>());
            }
        }
    }
}
