//! The fitted tree: nodes in preorder, leaves numbered from left to right.

use serde::{Deserialize, Serialize};

use super::bins::level;
use super::codes::Codes;
use super::flat::Flat;
use super::nodes::Nodes;
use crate::store::Parameters;

/// A set of codes: bit c of the 256 says whether code c is in it.
pub type CodeSet = [u64; 4];

/// Whether a code is in a set.
#[inline]
pub fn contains(set: &CodeSet, code: u8) -> bool {
    set[usize::from(code >> 6)] >> (code & 63) & 1 == 1
}

/// Where a node sends a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Left if the number is not above the threshold; in codes: not above `bin`.
    Below {
        /// The threshold.
        threshold: f64,
        /// The last code that goes left.
        bin: u8,
    },
    /// Left if the category is in the subset of this number.
    Within {
        /// Index into [`Tree::subsets`].
        subset: u32,
    },
}

/// The categories that go left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// By code; the code for missing values is never in it.
    pub codes: CodeSet,
    /// By level, a bit each; levels without a code of their own are in it if missing values go left.
    pub levels: Vec<u64>,
}

/// A child: another split, or a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// Index into [`Tree::splits`].
    Split(u32),
    /// The leaf's number.
    Leaf(u32),
}

/// An inner node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// The column it looks at.
    pub column: u32,
    /// Which rows go left.
    pub rule: Rule,
    /// Whether missing values go left.
    pub missing_left: bool,
    /// Where the rows go.
    pub left: Child,
    /// Where the others go.
    pub right: Child,
}

/// A fitted tree.
///
/// A row whose value is missing, or whose category the training rows did not show, goes the way that was best for the
/// training rows with missing values, and the way of the heavier child where there were none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Flat", try_from = "Flat")]
pub struct Tree {
    pub(super) splits: Vec<Split>,
    pub(super) subsets: Vec<Subset>,
    /// Leaf after leaf, `width` numbers each.
    pub(super) values: Vec<f64>,
    pub(super) width: usize,
}

impl Tree {
    /// Inner nodes in preorder; the root comes first.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The category subsets that splits refer to.
    pub fn subsets(&self) -> &[Subset] {
        &self.subsets
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.splits.len() + 1
    }

    /// Numbers a leaf holds.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The prediction of a leaf.
    pub fn value(&self, leaf: usize) -> &[f64] {
        &self.values[leaf * self.width..(leaf + 1) * self.width]
    }

    /// What the leaves say, leaf after leaf.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Gives the leaves other values, `width` numbers each.
    pub(crate) fn set_values(&mut self, values: Vec<f64>, width: usize) {
        assert_eq!(values.len(), self.leaves() * width, "a value for every leaf");
        (self.values, self.width) = (values, width);
    }

    /// The nodes as data; [`Nodes`] says what their entries mean.
    pub fn parameters(&self) -> Parameters {
        let child = |child: Child| match child {
            Child::Split(split) => split as usize,
            Child::Leaf(leaf) => self.splits.len() + leaf as usize,
        };
        let mut nodes = Nodes::default();
        for split in &self.splits {
            let rule = match split.rule {
                Rule::Below { threshold, .. } => Ok(threshold),
                Rule::Within { subset } => {
                    let levels = self.subsets[subset as usize].levels.iter().enumerate();
                    let bits = levels.flat_map(|(word, bits)| {
                        (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |b| 64 * word + b)
                    });
                    Err(bits.collect())
                }
            };
            let children = (child(split.left), child(split.right));
            nodes.push(split.column as usize, rule, split.missing_left, children);
        }
        nodes.finish(&self.values, self.width)
    }

    /// Splits on the longest way down.
    pub fn depth(&self) -> usize {
        let mut depths = vec![1; self.splits.len()];
        for (i, split) in self.splits.iter().enumerate() {
            for child in [split.left, split.right] {
                if let Child::Split(next) = child {
                    depths[next as usize] = depths[i] + 1;
                }
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Columns a row must have at least.
    pub fn columns_needed(&self) -> usize {
        self.splits.iter().map(|split| split.column as usize + 1).max().unwrap_or(0)
    }

    /// Each column's share of the gains of the splits, which sum to 1 unless there is no split.
    pub fn shares(&self, gains: &[f64], columns: usize) -> Vec<f64> {
        shares([(self, gains)], columns)
    }

    /// The leaf of a row.
    #[inline]
    pub fn leaf(&self, row: &[f64]) -> usize {
        self.leaf_through(row, |_| {})
    }

    /// The leaf of a row; tells the number of every split on the way.
    #[inline]
    pub(super) fn leaf_through(&self, row: &[f64], mut tell: impl FnMut(usize)) -> usize {
        self.walk(|at, split| {
            tell(at);
            let value = row[split.column as usize];
            match split.rule {
                Rule::Below { threshold, .. } => {
                    if value.is_nan() {
                        split.missing_left
                    } else {
                        value <= threshold
                    }
                }
                Rule::Within { subset } => {
                    let levels = &self.subsets[subset as usize].levels;
                    match level(value).and_then(|l| Some((levels.get(l / 64)?, l % 64))) {
                        Some((word, bit)) => word >> bit & 1 == 1,
                        None => split.missing_left,
                    }
                }
            }
        })
    }

    /// The leaf of row `i` of coded rows. The same as that of the row itself, unless the tree was grown with exact thresholds
    /// and the row was not among those it was grown on.
    #[inline]
    pub fn leaf_of_codes(&self, codes: &Codes, bins: &[u8], i: usize) -> usize {
        self.walk(|_, split| {
            let code = codes.column(split.column as usize).at(i);
            if code == bins[split.column as usize] {
                return split.missing_left;
            }
            match split.rule {
                Rule::Below { bin, .. } => code <= bin,
                Rule::Within { subset } => contains(&self.subsets[subset as usize].codes, code),
            }
        })
    }

    #[inline]
    fn walk(&self, mut goes_left: impl FnMut(usize, &Split) -> bool) -> usize {
        if self.splits.is_empty() {
            return 0;
        }
        let mut at = 0;
        loop {
            let split = &self.splits[at];
            match if goes_left(at, split) { split.left } else { split.right } {
                Child::Split(next) => at = next as usize,
                Child::Leaf(leaf) => return leaf as usize,
            }
        }
    }
}

/// Each column's share of what the splits of trees gained; the shares sum to 1, unless there is no split.
pub fn shares<'a>(
    trees: impl IntoIterator<Item = (&'a Tree, &'a [f64])>,
    columns: usize,
) -> Vec<f64> {
    let mut shares = vec![0.0; columns];
    for (tree, gains) in trees {
        for (split, gain) in tree.splits.iter().zip(gains) {
            // Rounding may make a gain of nothing negative.
            shares[split.column as usize] += gain.max(0.0);
        }
    }
    let total: f64 = shares.iter().sum();
    if total > 0.0 {
        shares.iter_mut().for_each(|share| *share /= total);
    }
    shares
}
