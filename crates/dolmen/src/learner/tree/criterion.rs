//! What a split is judged by, behind one trait: gradient pairs (boosting, variance, two classes) and class counts.
//!
//! Rows are summed as fixed-point integers. Integer sums are exact in any order: the histogram of a larger child is the
//! parent's minus the smaller child's to the last bit, and any number of threads gives the same tree.

use std::ops::{AddAssign, SubAssign};

use super::histogram::Sums;
use super::sweep::Swept;

/// What one row adds to a bin of a histogram.
pub trait Cell: Copy + Default + PartialEq + Send + Sync + AddAssign + SubAssign {}

/// Limits on the values of the leaves under a node, from monotone constraints above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// No leaf is below.
    pub low: f64,
    /// No leaf is above.
    pub high: f64,
}

impl Bounds {
    /// No limits.
    pub const NONE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
}

/// The node whose splits are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Sums over its rows.
    pub sums: Vec<f64>,
    /// Its own score.
    pub score: f64,
    /// The total weight of its rows.
    pub weight: f64,
    /// What its leaves may say.
    pub bounds: Bounds,
}

/// How splits are judged and what leaves say.
///
/// A histogram of a column has `layers` numbers of type [`Cell`] for every bin; sums of cells are returned as `width` floating
/// point numbers. The gain of a split is the score of the left rows plus that of the right rows minus that of all.
pub trait Criterion: Sync {
    /// What one row adds.
    type Cell: Cell;

    /// Histograms a column has: 1, or one for each class.
    fn layers(&self) -> usize {
        1
    }

    /// Which of its column's histograms a row is added to.
    fn layer(&self, _row: usize) -> usize {
        0
    }

    /// What a row adds there.
    fn cell(&self, row: usize) -> Self::Cell;

    /// Numbers in the sums of a node.
    fn width(&self) -> usize;

    /// Adds what cells of a layer stand for to the sums.
    fn add_to(&self, sums: &mut [f64], layer: usize, cells: Self::Cell);

    /// How well one value fits the rows with these sums; higher is better.
    fn score(&self, sums: &[f64]) -> f64;

    /// The weight of the rows with these sums, in the unit of [`Criterion::total_weight`] up to a factor.
    fn weight(&self, sums: &[f64]) -> f64;

    /// The weight of a node's rows.
    fn total_weight(&self, _rows: &[u32], sums: &[f64]) -> f64 {
        self.weight(sums)
    }

    /// Whether no split can better the prediction of one leaf for these rows.
    fn is_settled(&self, rows: &[u32]) -> bool;

    /// In how many ways categories can be put in order before they are cut like numbers.
    fn orders(&self) -> usize {
        1
    }

    /// A category's place in such an order.
    fn place(&self, order: usize, sums: &[f64]) -> f64;

    /// What is gained by a split on this column; `None` if it is not allowed.
    fn gain(&self, node: &Node, _column: usize, left: &[f64], right: &[f64]) -> Option<f64> {
        Some(self.score(left) + self.score(right) - node.score)
    }

    /// The best cut of a numeric column with this histogram, where the criterion has a faster way to it.
    fn sweep(
        &self,
        _node: &Node,
        _sums: &Sums<Self::Cell>,
        _bins: usize,
        _min_leaf: f64,
    ) -> Option<Option<Swept>> {
        None
    }

    /// What the leaves under the two children may say.
    fn bounds(&self, node: &Node, _column: usize, _sides: [&[f64]; 2]) -> [Bounds; 2] {
        [node.bounds; 2]
    }

    /// The prediction of a leaf with these sums: `width` numbers, or one for criteria that fit one.
    fn value(&self, sums: &[f64], bounds: Bounds, out: &mut Vec<f64>);
}
