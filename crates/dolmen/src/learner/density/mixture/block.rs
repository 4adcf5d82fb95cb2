//! A block of rows on its way through an EM pass.
//!
//! A block holds its columns one after the other, so that every operation of a pass is the same one on neighbouring rows.
//! Rows are padded to whole groups of [`GROUP`] by rows of weight zero. The inner loops work on pairs of columns, because
//! two rows of W (or two times two moments) then share the loads of the data, which would otherwise take longer than the
//! arithmetic; a last odd column is paired with zeros.

use std::ops::Range;

use super::data::{Data, Units};
use super::expect::{Densities, first_largest, share_out};
use super::missing::{Completion, Pattern};
use super::moments::{self, Moments};
use super::normals::Normals;
use crate::math::bulk;
use crate::table::Rows;

/// Blocks have whole groups of this many rows.
pub(super) const GROUP: usize = 32;

/// Values of a block: they and what is computed of them stay in the first-level cache.
const VALUES: usize = 2048;

/// Room for a block of rows and what is computed of it.
#[derive(Debug)]
pub(super) struct Block {
    dimension: usize,
    /// Rows there is room for.
    capacity: usize,
    /// Rows in use, padded to whole groups.
    rows: usize,
    z: Vec<f64>,
    weights: Vec<f64>,
    ln_p: Vec<f64>,
    total: Vec<f64>,
    /// Log joint densities, then roots of weighted responsibilities, component after component.
    shares: Vec<f64>,
    /// The roots of the rows' pulls at each component; empty if all pull alike.
    pulls: Vec<f64>,
    /// Room for a group's deviations from a mean.
    deviations: Vec<f64>,
    /// Room for rows with their missing values filled in.
    completed: Vec<f64>,
    zero: Vec<f64>,
}

impl Block {
    /// Room for blocks of rows out of this many.
    pub(super) fn new(components: usize, dimension: usize, rows: usize) -> Self {
        let groups = (VALUES / dimension / GROUP).min(8).min(rows.div_ceil(GROUP)).max(1);
        let capacity = groups * GROUP;
        Self {
            dimension,
            capacity,
            rows: 0,
            z: vec![0.0; dimension * capacity],
            weights: vec![0.0; capacity],
            ln_p: vec![0.0; capacity],
            total: vec![0.0; capacity],
            shares: vec![0.0; components * capacity],
            pulls: Vec::new(),
            deviations: vec![0.0; dimension.next_multiple_of(2) * GROUP],
            completed: Vec::new(),
            zero: vec![0.0; dimension],
        }
    }

    /// Rows there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// A range of rows, cut in blocks.
    pub(super) fn cut(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let capacity = self.capacity;
        let block = move |first| first..rows.end.min(first + capacity);
        (rows.start..rows.end).step_by(capacity).map(block)
    }

    /// `ln p` of the rows last seen; padded.
    pub(super) fn ln_p(&self) -> &[f64] {
        &self.ln_p[..self.rows]
    }

    /// Takes in the rows `x`, in the units of the fit, each of weight 1.
    pub(super) fn load(&mut self, x: Rows<'_>, units: &Units) {
        self.set_rows(x.rows());
        for (j, column) in self.z.chunks_exact_mut(self.rows).take(self.dimension).enumerate() {
            let (shift, scale) = (units.shift[j], 1.0 / units.scale[j]);
            for (z, x) in column.iter_mut().zip(x.column(j)) {
                *z = (x - shift) * scale;
            }
            column[x.rows()..].fill(0.0);
        }
    }

    /// Takes in rows with their weights, missing values at their column's mean.
    pub(super) fn load_filled(&mut self, data: &Data<'_>, rows: Range<usize>) {
        self.load(data.x.slice(rows.clone()), &data.frame.units);
        if let Some(weights) = data.weights {
            self.weigh(weights[rows].iter().copied());
        }
        if data.patterns.is_some() {
            for (column, &mean) in self.z.chunks_exact_mut(self.rows).zip(&data.frame.centre) {
                column.iter_mut().filter(|z| z.is_nan()).for_each(|z| *z = mean);
            }
        }
    }

    /// Takes in chosen rows and columns of `x`, each row of weight 1.
    pub(super) fn gather(&mut self, x: Rows<'_>, units: &Units, rows: &[usize], columns: &[usize]) {
        self.set_rows(rows.len());
        for (column, &j) in self.z.chunks_exact_mut(self.rows).zip(columns) {
            let (shift, scale) = (units.shift[j], 1.0 / units.scale[j]);
            for (z, &i) in column.iter_mut().zip(rows) {
                *z = (x.row(i)[j] - shift) * scale;
            }
            column[rows.len()..].fill(0.0);
        }
    }

    /// Sets other weights for the rows taken in.
    pub(super) fn weigh(&mut self, weights: impl Iterator<Item = f64>) {
        self.weights.iter_mut().zip(weights).for_each(|(to, weight)| *to = weight);
    }

    fn set_rows(&mut self, rows: usize) {
        self.rows = rows.next_multiple_of(GROUP);
        self.weights[..rows].fill(1.0);
        self.weights[rows..].fill(0.0);
    }

    /// Log joint densities of the rows, component after component.
    pub(super) fn log_joint(&mut self, densities: &Densities) {
        let z = &self.z[..densities.dimension() * self.rows];
        let pulls = if densities.has_pulls() { self.shares.len() } else { 0 };
        self.pulls.resize(pulls, 1.0);
        let mut pulls = self.pulls.chunks_exact_mut(self.rows);
        let shares = self.shares.chunks_exact_mut(self.rows).take(densities.components());
        for (component, share) in shares.enumerate() {
            let pulls = pulls.next().unwrap_or_default();
            densities.log_joint(component, z, &mut self.deviations, share, pulls);
        }
    }

    /// Log densities and shares of the rows; gives the sum of the weighted log densities.
    pub(super) fn expect(&mut self, densities: &Densities) -> f64 {
        self.log_joint(densities);
        let rows = self.rows;
        let shares = &mut self.shares[..densities.components() * rows];
        share_out(shares, &self.weights[..rows], &mut self.total, &mut self.ln_p[..rows]);
        bulk::dot(&self.weights[..rows], &self.ln_p[..rows])
    }

    /// Appends, for each of the first rows, the component of highest density; ties go to the lower index.
    pub(super) fn nearest(&mut self, densities: &Densities, rows: usize, labels: &mut Vec<u32>) {
        self.log_joint(densities);
        let shares = &self.shares[..densities.components() * self.rows];
        let best = &mut self.ln_p[..self.rows];
        first_largest(shares, best);
        labels.extend(best[..rows].iter().map(|&label| label as u32));
    }

    /// The values of one row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        self.z[row..].iter().step_by(self.rows).take(self.dimension).copied()
    }

    /// What was last computed for one component's rows; padded.
    pub(super) fn shares(&self, component: usize) -> &[f64] {
        &self.shares[component * self.rows..][..self.rows]
    }

    /// The roots of the pulls of one component's rows, if they differ; padded.
    fn pulls(&self, component: usize) -> Option<&[f64]> {
        let all = (!self.pulls.is_empty()).then_some(&self.pulls);
        all.map(|pulls| &pulls[component * self.rows..][..self.rows])
    }

    /// Gives every row to one component.
    pub(super) fn assign(&mut self, labels: &[u32]) {
        self.shares.fill(0.0);
        for (row, &label) in labels.iter().enumerate() {
            self.shares[label as usize * self.rows + row] = self.weights[row].sqrt();
        }
    }

    /// Adds the moments of complete rows.
    pub(super) fn add_moments(&self, normals: &Normals, moments: &mut Moments) {
        let z = &self.z[..self.dimension * self.rows];
        for component in 0..normals.components() {
            let (mean, shares) = (normals.mean(component), self.shares(component));
            moments.add(component, z, mean, shares, self.pulls(component));
        }
    }

    /// Adds the moments of rows that lack some columns: those of the completed rows and of what their completion leaves open.
    pub(super) fn add_completed_moments(
        &mut self,
        pattern: &Pattern,
        completion: &Completion,
        moments: &mut Moments,
    ) {
        let used = self.dimension * self.rows;
        self.completed.resize(self.dimension * self.capacity, 0.0);
        for (component, regression) in completion.regressions.iter().enumerate() {
            let mean = completion.densities.mean(component);
            let completed = &mut self.completed[..used];
            moments::complete(&self.z, mean, pattern, regression, self.rows, completed);
            let (completed, shares) = (&self.completed[..used], self.shares(component));
            let pulls = self.pulls(component);
            // What is left open has a spread that does not depend on the pull (Liu1999).
            let mass = moments.add(component, completed, &self.zero, shares, pulls);
            moments.add_residual(component, mass, &pattern.missing, &regression.residual);
        }
    }
}
