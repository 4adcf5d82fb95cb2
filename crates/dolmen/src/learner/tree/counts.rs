//! Class counts: Gini's index and entropy for any number of classes.
//!
//! Scores are minus the total impurity of a node: Gini `sum_c n_c^2 / n - n`, entropy, in bits, `sum_c n_c log2(n_c / n)` (Breiman et al.
//! 1984, section 4.3). Both are at most 0, and 0 for a pure node.

use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};

use super::criterion::{Bounds, Cell, Criterion};

/// How mixed a node is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Impurity {
    /// The chance that two rows drawn from the node have different classes.
    #[default]
    Gini,
    /// The entropy of the classes, in bits.
    Entropy,
}

impl Impurity {
    /// Minus the total impurity of rows with these class counts.
    pub fn score(self, counts: &[f64]) -> f64 {
        let total: f64 = counts.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Gini => counts.iter().map(|n| n * n).sum::<f64>() / total - total,
            Self::Entropy => {
                let term = |n: &f64| if *n > 0.0 { n * (n / total).log2() } else { 0.0 };
                counts.iter().map(term).sum()
            }
        }
    }
}

/// The weight of rows of one class, in fixed point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count(i64);

impl AddAssign for Count {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Count {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Cell for Count {}

/// The criterion of class counts.
#[derive(Debug)]
pub struct Counts<'a> {
    classes: &'a [u32],
    /// None where all are `one`.
    weights: Vec<Count>,
    one: Count,
    unit: f64,
    width: usize,
    impurity: Impurity,
}

impl<'a> Counts<'a> {
    /// Rows with these classes, of `width` kinds, and weights.
    pub fn new(
        classes: &'a [u32],
        width: usize,
        weight: impl Fn(usize) -> f64,
        impurity: Impurity,
    ) -> Self {
        let rows = classes.len();
        let total: f64 = (0..rows).map(&weight).sum();
        let unit = ((1_u64 << 62) as f64 / (total + rows as f64)).log2().floor().exp2();
        let count = |weight: f64| Count((weight * unit).round_ties_even() as i64);
        let weights = if (0..rows).all(|i| weight(i) == 1.0) {
            Vec::new()
        } else {
            (0..rows).map(|i| count(weight(i))).collect()
        };
        Self { classes, weights, one: count(1.0), unit, width, impurity }
    }
}

impl Criterion for Counts<'_> {
    type Cell = Count;

    fn layers(&self) -> usize {
        self.width
    }

    #[inline]
    fn layer(&self, row: usize) -> usize {
        self.classes[row] as usize
    }

    #[inline]
    fn cell(&self, row: usize) -> Count {
        self.weights.get(row).copied().unwrap_or(self.one)
    }

    fn width(&self) -> usize {
        self.width
    }

    #[inline]
    fn add_to(&self, sums: &mut [f64], layer: usize, cells: Count) {
        sums[layer] += cells.0 as f64 / self.unit;
    }

    #[inline]
    fn score(&self, sums: &[f64]) -> f64 {
        self.impurity.score(sums)
    }

    #[inline]
    fn weight(&self, sums: &[f64]) -> f64 {
        sums.iter().sum()
    }

    fn is_settled(&self, rows: &[u32]) -> bool {
        let first = self.classes[rows[0] as usize];
        rows.iter().all(|&row| self.classes[row as usize] == first)
    }

    /// By the share of each class in turn. With two classes one order finds the best subset (BreimanEtAl1984, theorem
    /// 4.5); with more the best of these is a good one.
    fn orders(&self) -> usize {
        if self.width == 2 { 1 } else { self.width }
    }

    fn place(&self, order: usize, sums: &[f64]) -> f64 {
        sums[order] / self.weight(sums)
    }

    /// The shares of the classes.
    fn value(&self, sums: &[f64], _bounds: Bounds, out: &mut Vec<f64>) {
        let total = self.weight(sums);
        out.extend(sums.iter().map(|n| if total > 0.0 { n / total } else { 0.0 }));
    }
}
