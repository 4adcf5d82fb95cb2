//! Gradient pairs: every row has a gradient g and a curvature h, a leaf that predicts v costs sum g v + h v^2 / 2.
//!
//! The best value is v = -G / (H + L2), its score G^2 / (H + L2): ChenGuestrin2016, eq. 5 and 6, twice their score. With
//! g = -w (y - c) and h = w this is the variance criterion of regression trees, and with the 0/1 indicator of the second
//! of two classes as y it is half the Gini criterion, so that the same code grows all of them.

use std::ops::{AddAssign, SubAssign};

use multiversion::multiversion;

use super::criterion::{Bounds, Cell, Criterion, Node};
use super::histogram::Sums;
use super::sweep::{Swept, Task, sweep};

/// A cell that holds sums of gradients and curvatures in fixed point.
pub trait PairCell: Cell {
    /// The largest sum of absolute gradients, and of curvatures, that the cell holds.
    const LARGEST: f64;
    /// A cell of one row; the curvature is not negative.
    fn pack(gradient: i64, curvature: i64) -> Self;
    /// The gradients and curvatures that cells hold.
    fn unpack(cells: &[Self], units: Units, gradients: &mut [f64], curvatures: &mut [f64]) {
        for ((cell, g), h) in cells.iter().zip(gradients).zip(curvatures) {
            (*g, *h) = (cell.gradient() / units.gradient, cell.curvature() / units.curvature);
        }
    }
    /// The sum of gradients.
    fn gradient(self) -> f64;
    /// The sum of curvatures.
    fn curvature(self) -> f64;
}

/// Both sums in one word, added in one go: the gradient in the high half, the curvature in the low one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Narrow(i64);

/// A word for each sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wide(i64, i64);

impl AddAssign for Narrow {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl SubAssign for Narrow {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }
}

impl AddAssign for Wide {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = Self(self.0.wrapping_add(other.0), self.1.wrapping_add(other.1));
    }
}

impl SubAssign for Wide {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = Self(self.0.wrapping_sub(other.0), self.1.wrapping_sub(other.1));
    }
}

impl Cell for Narrow {}
impl Cell for Wide {}

impl PairCell for Narrow {
    const LARGEST: f64 = (1_u64 << 31) as f64;

    fn unpack(cells: &[Self], units: Units, gradients: &mut [f64], curvatures: &mut [f64]) {
        unpack_narrow(cells, units, gradients, curvatures);
    }

    #[inline]
    fn pack(gradient: i64, curvature: i64) -> Self {
        Self((gradient << 32) + curvature)
    }

    #[inline]
    fn gradient(self) -> f64 {
        f64::from((self.0 >> 32) as i32)
    }

    #[inline]
    fn curvature(self) -> f64 {
        // Below 2^31, so that the signed conversion, which vectorises, is right.
        f64::from(self.0 as i32)
    }
}

impl PairCell for Wide {
    const LARGEST: f64 = (1_u64 << 51) as f64;

    #[inline]
    fn pack(gradient: i64, curvature: i64) -> Self {
        Self(gradient, curvature)
    }

    #[inline]
    fn gradient(self) -> f64 {
        self.0 as f64
    }

    #[inline]
    fn curvature(self) -> f64 {
        self.1 as f64
    }
}

#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
fn unpack_narrow(cells: &[Narrow], units: Units, gradients: &mut [f64], curvatures: &mut [f64]) {
    // Units are powers of two: their inverses are exact.
    let (g_unit, h_unit) = (1.0 / units.gradient, 1.0 / units.curvature);
    for ((cell, g), h) in cells.iter().zip(gradients).zip(curvatures) {
        *g = f64::from((cell.0 >> 32) as i32) * g_unit;
        *h = f64::from(cell.0 as i32) * h_unit;
    }
}

/// Rounds to the nearest integer as the hardware does when it adds: no call, for numbers below 2^51.
#[inline]
fn round(x: f64) -> f64 {
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    (x + ROUNDER) - ROUNDER
}

/// The fixed-point units of gradients and curvatures: powers of two, so that whole weights stay exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// Units in a gradient of 1.
    pub gradient: f64,
    /// Units in a curvature of 1.
    pub curvature: f64,
}

impl Units {
    /// The finest units in which `rows` rows with these totals of |w g| and w h fit into a cell.
    pub fn fitting<P: PairCell>(rows: usize, gradients: f64, curvatures: f64) -> Self {
        // Rounding may add half a unit a row, and the smallest curvature is one unit.
        let room = P::LARGEST - 1.0 - 2.0 * rows as f64;
        let unit = |total: f64| {
            let most = room / total;
            if most.is_finite() && most > 0.0 { most.log2().floor().exp2() } else { 1.0 }
        };
        Self { gradient: unit(gradients), curvature: unit(curvatures) }
    }

    /// A row's cell. The row weight multiplies whole units, so that a row of weight 2 counts as two rows.
    #[inline]
    pub fn pack<P: PairCell>(self, gradient: f64, curvature: f64, weight: f64) -> P {
        let g = round(gradient * self.gradient) * weight;
        let h = round(curvature * self.curvature).max(1.0) * weight;
        P::pack(round(g) as i64, round(h) as i64)
    }
}

/// The criterion of gradient pairs.
#[derive(Debug)]
pub struct Pairs<'a, P> {
    /// Every row's pair.
    pub cells: &'a [P],
    /// What a unit in them is.
    pub units: Units,
    /// The penalty on squared leaf values.
    pub l2: f64,
    /// For each column 1 if leaves may only rise with it, -1 if they may only fall; empty if no column is bound.
    pub monotone: &'a [i8],
    /// What the row weights are, if curvatures are something else: `Some(None)` for 1 each.
    pub weights: Option<Option<&'a [f64]>>,
    /// The targets of the rows: a node in which all are equal is split no more. `None` if that does not matter.
    pub targets: Option<&'a [f64]>,
}

impl<P: PairCell> Pairs<'_, P> {
    fn best(&self, sums: &[f64], bounds: Bounds) -> f64 {
        let value = -sums[0] / (sums[1] + self.l2);
        if value.is_nan() { 0.0 } else { value }.max(bounds.low).min(bounds.high)
    }

    /// The score of a leaf that predicts `value`, which bounds may have kept from the best one.
    fn score_of(&self, sums: &[f64], value: f64) -> f64 {
        -(2.0 * sums[0] + (sums[1] + self.l2) * value) * value
    }
}

impl<P: PairCell> Criterion for Pairs<'_, P> {
    type Cell = P;

    #[inline]
    fn cell(&self, row: usize) -> P {
        self.cells[row]
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn add_to(&self, sums: &mut [f64], _layer: usize, cells: P) {
        sums[0] += cells.gradient() / self.units.gradient;
        sums[1] += cells.curvature() / self.units.curvature;
    }

    #[inline]
    fn score(&self, sums: &[f64]) -> f64 {
        let curvature = sums[1] + self.l2;
        if curvature > 0.0 { sums[0] * sums[0] / curvature } else { 0.0 }
    }

    #[inline]
    fn weight(&self, sums: &[f64]) -> f64 {
        sums[1]
    }

    fn total_weight(&self, rows: &[u32], sums: &[f64]) -> f64 {
        match self.weights {
            None => sums[1],
            Some(None) => rows.len() as f64,
            Some(Some(weights)) => rows.iter().map(|&row| weights[row as usize]).sum(),
        }
    }

    fn is_settled(&self, rows: &[u32]) -> bool {
        self.targets.is_some_and(|targets| {
            rows.iter().all(|&row| targets[row as usize] == targets[rows[0] as usize])
        })
    }

    fn place(&self, _order: usize, sums: &[f64]) -> f64 {
        sums[0] / (sums[1] + self.l2)
    }

    fn gain(&self, node: &Node, column: usize, left: &[f64], right: &[f64]) -> Option<f64> {
        if self.monotone.is_empty() {
            return Some(self.score(left) + self.score(right) - node.score);
        }
        let (below, above) = (self.best(left, node.bounds), self.best(right, node.bounds));
        let rises = f64::from(self.monotone[column]) * (above - below);
        let gained = self.score_of(left, below) + self.score_of(right, above) - node.score;
        (rises >= 0.0).then_some(gained)
    }

    fn sweep(
        &self,
        node: &Node,
        sums: &Sums<P>,
        bins: usize,
        min_leaf: f64,
    ) -> Option<Option<Swept>> {
        let least = min_leaf * node.sums[1] / node.weight;
        let total = [node.sums[0], node.sums[1]];
        let task = Task { total, score: node.score, l2: self.l2, least };
        self.monotone.is_empty().then(|| sweep(sums, bins, self.units, task))
    }

    fn bounds(&self, node: &Node, column: usize, sides: [&[f64]; 2]) -> [Bounds; 2] {
        let sign = self.monotone.get(column).copied().unwrap_or(0);
        if sign == 0 {
            return [node.bounds; 2];
        }
        let middle = sides.iter().map(|side| self.best(side, node.bounds)).sum::<f64>() / 2.0;
        let (low, high) =
            (Bounds { high: middle, ..node.bounds }, Bounds { low: middle, ..node.bounds });
        if sign > 0 { [low, high] } else { [high, low] }
    }

    fn value(&self, sums: &[f64], bounds: Bounds, out: &mut Vec<f64>) {
        out.push(self.best(sums, bounds));
    }
}
