//! The stored form of a tree: 22 bytes a split in one piece, read back with every reference checked.

use serde::{Deserialize, Serialize};

use super::fitted::{Child, Rule, Split, Subset, Tree};
use crate::store::floats;

/// A tree as it is stored.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Flat {
    #[serde(with = "serde_bytes")]
    splits: Vec<u8>,
    subsets: Vec<Subset>,
    #[serde(with = "floats")]
    values: Vec<f64>,
    width: usize,
}

/// Threshold (or subset), column, left and right child, bin, flags.
const SPLIT: usize = 8 + 4 + 4 + 4 + 1 + 1;
const MISSING_LEFT: u8 = 1;
const CATEGORICAL: u8 = 2;

impl From<Tree> for Flat {
    fn from(tree: Tree) -> Self {
        let mut splits = Vec::with_capacity(tree.splits.len() * SPLIT);
        for split in &tree.splits {
            let (place, bin, kind) = match split.rule {
                Rule::Below { threshold, bin } => (threshold.to_bits(), bin, 0),
                Rule::Within { subset } => (u64::from(subset), 0, CATEGORICAL),
            };
            splits.extend_from_slice(&place.to_le_bytes());
            splits.extend_from_slice(&split.column.to_le_bytes());
            for child in [split.left, split.right] {
                // Leaves are stored as their bitwise complement.
                let number = match child {
                    Child::Split(split) => split,
                    Child::Leaf(leaf) => !leaf,
                };
                splits.extend_from_slice(&number.to_le_bytes());
            }
            let missing = if split.missing_left { MISSING_LEFT } else { 0 };
            splits.extend_from_slice(&[bin, missing | kind]);
        }
        Self { splits, subsets: tree.subsets, values: tree.values, width: tree.width }
    }
}

impl TryFrom<Flat> for Tree {
    type Error = &'static str;

    fn try_from(flat: Flat) -> Result<Self, Self::Error> {
        let (chunks, rest) = flat.splits.as_chunks::<SPLIT>();
        let values = (chunks.len() + 1).checked_mul(flat.width);
        if !rest.is_empty() || Some(flat.values.len()) != values {
            return Err("a tree of the wrong length");
        }
        let splits: Vec<Split> = chunks.iter().map(read).collect();
        let has_subset = |split: &Split| match split.rule {
            Rule::Below { .. } => true,
            Rule::Within { subset } => (subset as usize) < flat.subsets.len(),
        };
        if !(is_in_order(&splits) && splits.iter().all(has_subset)) {
            return Err("a tree with a node that is not there");
        }
        Ok(Self { splits, subsets: flat.subsets, values: flat.values, width: flat.width })
    }
}

/// Whether the nodes are in preorder and the leaves numbered from left to right: then every way down ends in a leaf.
fn is_in_order(splits: &[Split]) -> bool {
    let (mut next_split, mut next_leaf) = (0, 0);
    let mut waiting = vec![if splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) }];
    while let Some(child) = waiting.pop() {
        match child {
            Child::Split(i) if i == next_split && (i as usize) < splits.len() => {
                next_split += 1;
                waiting.extend([splits[i as usize].right, splits[i as usize].left]);
            }
            Child::Leaf(leaf) if leaf == next_leaf => next_leaf += 1,
            _ => return false,
        }
    }
    next_split as usize == splits.len()
}

fn read(bytes: &[u8; SPLIT]) -> Split {
    let number =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let place = u64::from(number(0)) | u64::from(number(4)) << 32;
    let child = |at: usize| match number(at) {
        leaf if leaf >> 31 == 1 => Child::Leaf(!leaf),
        split => Child::Split(split),
    };
    let (bin, flags) = (bytes[20], bytes[21]);
    let rule = if flags & CATEGORICAL == 0 {
        Rule::Below { threshold: f64::from_bits(place), bin }
    } else {
        Rule::Within { subset: place as u32 }
    };
    let missing_left = flags & MISSING_LEFT != 0;
    Split { column: number(8), rule, missing_left, left: child(12), right: child(16) }
}
