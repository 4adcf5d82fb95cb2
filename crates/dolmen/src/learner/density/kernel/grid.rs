//! Gaussian kernels in few dimensions: the whole density as a table of polynomials.
//!
//! Space is cut into cells of two bandwidths. On each cell the Gaussian function is a polynomial to any wanted accuracy,
//! in the query's place as in the row's: interpolation at the p Chebyshev nodes of both cells replaces the kernel by
//! sum_lm T_l(query) A_lm T_m(row), with a matrix A that depends only on the distance of the cells. So
//!
//! 1. every row adds its T_m to the moments of its cell (p^d numbers);
//! 2. the moments of neighbouring cells are combined by A, one dimension after the other: kernels are products;
//! 3. a query is one polynomial, p^d multiplications whatever the number of rows.
//!
//! This is a fast Gauss transform \[GreengardStrain1991\] with interpolation for expansions. Its error is bounded cell by
//! cell (below); queries for which the bound exceeds the tolerance *relative to their own density* are refused, and the
//! caller sums them over rows.
//!
//! Interpolation error. For z >= g, |d^p/dz^p exp(-z^2/2)| <= 1.0865 sqrt(p!) exp(-g^2/4) (Cramer's inequality), so on a
//! cell of half-width 1 interpolation is off by at most e = 2 (1/2)^p / p! of that, and by (1 + L) e in both variables
//! together, with L the Lebesgue constant of the nodes. Cells more than [`REACH`] apart are left out and counted as error.

#![expect(clippy::inline_always, reason = "the lanes take the instruction set of their caller")]

use std::f64::consts::PI;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::points::Points;
use crate::math::{bulk, lane};

/// Cells whose distance is more than this many cells are left out: exp(-2 REACH^2) = 2e-22 of the weight.
const REACH: usize = 5;
/// Cells within reach of one, in one dimension.
const WINDOW: usize = 2 * REACH + 1;
/// The most coefficients kept: 32 MB.
const MOST_COEFFICIENTS: usize = 1 << 22;
/// The most dimensions: beyond, p^d multiplications exceed a pass over all rows.
const MOST_DIMENSIONS: usize = 3;
/// Numbers of nodes that fill SIMD registers.
const NODES: [usize; 5] = [8, 12, 16, 20, 24];
/// Bound on the rounding error of a cell's polynomial, relative to the weight in its neighbourhood; 8e-15 was the worst
/// measured, for 24 nodes and rows far apart.
const ROUNDING: f64 = 1e-13;

/// The density as polynomials on a grid of cells.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    layout: Layout,
    /// Coefficients, as a matrix with an axis of cells * nodes per dimension.
    coefficients: Vec<f64>,
    /// A bound on the error in each cell.
    errors: Vec<f64>,
    tolerance: f64,
}

/// Where cells lie and how many nodes they have.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    low: Vec<f64>,
    inverse: Vec<f64>,
    cells: Vec<usize>,
    nodes: usize,
}

/// A row's cell, where its coefficients start, and where in the cell it lies on each axis, from -1 to 1.
#[derive(Default)]
pub(super) struct Place {
    cell: usize,
    offset: usize,
    local: [f64; MOST_DIMENSIONS],
}

impl Layout {
    /// A grid over the points for these bandwidths; `None` if it would be too large or too inaccurate.
    pub(super) fn new(points: &Points, bandwidth: &[f64], tolerance: f64) -> Option<Self> {
        // The density at a query may be a good deal smaller than the weight around it, to which errors are relative.
        if bandwidth.len() > MOST_DIMENSIONS || tolerance < 20.0 * ROUNDING {
            return None;
        }
        let enough = |&&nodes: &&usize| interpolation_error(nodes) <= 1e-4 * tolerance;
        let nodes = *NODES.iter().find(enough)?;
        let cells = |(k, h): (usize, &f64)| {
            let (low, high) = points.range(k);
            ((high - low) / (2.0 * h)).floor() + 1.0
        };
        let cells: Vec<f64> = bandwidth.iter().enumerate().map(cells).collect();
        let coefficients: f64 = cells.iter().map(|n| n * nodes as f64).product();
        (coefficients <= MOST_COEFFICIENTS as f64).then(|| Self {
            low: (0..bandwidth.len()).map(|k| points.range(k).0).collect(),
            inverse: bandwidth.iter().map(|h| 1.0 / h).collect(),
            cells: cells.into_iter().map(|n| n as usize).collect(),
            nodes,
        })
    }

    /// Multiplications needed to fill the grid from this many rows.
    pub(super) fn work(&self, rows: usize) -> f64 {
        let combine = (self.coefficients() * self.axes() * WINDOW * self.nodes) as f64;
        combine + rows as f64 * self.work_of_query()
    }

    /// Multiplications for one query.
    pub(super) fn work_of_query(&self) -> f64 {
        (self.nodes as f64).powi(self.axes() as i32)
    }

    fn axes(&self) -> usize {
        self.cells.len()
    }

    fn coefficients(&self) -> usize {
        self.cells.iter().map(|n| n * self.nodes).product()
    }

    /// Finds a row's cell and its place there on each axis; false if it lies outside the grid.
    fn locate(&self, value: impl Fn(usize) -> f64, place: &mut Place) -> bool {
        // The last row of all may be rounded out of the last cell.
        const ROUNDED: f64 = 1e-9;
        (place.cell, place.offset) = (0, 0);
        for (k, &cells) in self.cells.iter().enumerate() {
            let y = (value(k) - self.low[k]) * self.inverse[k];
            if !(-ROUNDED..=2.0 * cells as f64 + ROUNDED).contains(&y) {
                return false;
            }
            let cell = ((0.5 * y) as usize).min(cells - 1);
            place.local[k] = y - (2 * cell + 1) as f64;
            place.cell = place.cell * cells + cell;
            place.offset = (place.offset * cells + cell) * self.nodes;
        }
        true
    }

    /// The coefficients around a place, as the loops over them see them.
    fn cube<'a>(&self, place: &'a Place) -> Cube<'a> {
        let stride = self.cells[self.axes() - 1] * self.nodes;
        let plane = if self.axes() == 3 { stride * self.cells[1] * self.nodes } else { 0 };
        Cube { local: &place.local[..self.axes()], strides: [plane, stride] }
    }

    /// Combines the moments of neighbouring cells along one axis.
    fn combine(&self, axis: usize, kernels: &[Vec<f64>], input: &[f64]) -> Vec<f64> {
        let inner: usize = self.cells[axis + 1..].iter().map(|n| n * self.nodes).product();
        let (cells, nodes) = (self.cells[axis], self.nodes);
        let mut output = vec![0.0; input.len()];
        let slabs = input.chunks_exact(cells * nodes * inner);
        for (input, output) in slabs.zip(output.chunks_exact_mut(cells * nodes * inner)) {
            let empty = |row: &[f64]| row.iter().all(|v| *v == 0.0);
            let rows: Vec<bool> = input.chunks_exact(inner).map(|row| !empty(row)).collect();
            if rows.iter().all(|full| !full) {
                continue;
            }
            for (index, output) in output.chunks_exact_mut(inner).enumerate() {
                let (cell, kernel) = (index / nodes, &kernels[index % nodes]);
                let first = cell.saturating_sub(REACH);
                let last = (cell + REACH + 1).min(cells);
                let kernel = &kernel[(first + REACH - cell) * nodes..][..(last - first) * nodes];
                let window = first * nodes..last * nodes;
                if inner == 1 {
                    output[0] = bulk::dot(kernel, &input[window]);
                    continue;
                }
                for (row, &a) in window.zip(kernel) {
                    if rows[row] {
                        bulk::add_scaled(output, a, &input[row * inner..][..inner]);
                    }
                }
            }
        }
        output
    }

    /// A bound on the error in each cell, from the weights in all cells.
    ///
    /// In one dimension a row of weight w in a cell at distance D is off by at most e(D) w, and adds at most k(D) w. A
    /// product of bounded factors is off by the error of one times the bounds of the others, summed over the factors:
    /// dimension after dimension, bound <- k * bound and error <- k * error + e * bound, with * a convolution of cells.
    fn error_bounds(&self, weights: Vec<f64>) -> Vec<f64> {
        let gap = |distance: usize| 2.0 * distance.saturating_sub(1) as f64;
        let greatest = |distance: usize| (-0.5 * gap(distance).powi(2)).exp();
        let interpolation = interpolation_error(self.nodes);
        let error =
            |distance| interpolation * greatest(distance).sqrt() + ROUNDING * greatest(distance);
        let error: Vec<f64> = (0..=REACH).map(error).collect();
        let bound: Vec<f64> =
            (0..=REACH).map(|distance| greatest(distance) + error[distance]).collect();
        let (mut bounds, mut errors) = (weights, vec![0.0; self.cells.iter().product()]);
        for axis in 0..self.axes() {
            let inner: usize = self.cells[axis + 1..].iter().product();
            let cells = self.cells[axis];
            let (old_bounds, old_errors) = (bounds.clone(), errors.clone());
            for i in 0..bounds.len() {
                let cell = i / inner % cells;
                (bounds[i], errors[i]) = (0.0, 0.0);
                for other in cell.saturating_sub(REACH)..(cell + REACH + 1).min(cells) {
                    let distance = cell.abs_diff(other);
                    let j = i + other * inner - cell * inner;
                    bounds[i] += bound[distance] * old_bounds[j];
                    errors[i] += bound[distance] * old_errors[j] + error[distance] * old_bounds[j];
                }
            }
        }
        let left_out = self.axes() as f64 * greatest(REACH + 1);
        errors.into_iter().map(|error| error + left_out).collect()
    }
}

impl Grid {
    /// Fills the grid. Weights sum to 1.
    pub(super) fn new(layout: Layout, points: &Points, weights: &[f64], tolerance: f64) -> Self {
        let mut coefficients = vec![0.0; layout.coefficients()];
        let mut cell_weights = vec![0.0; layout.cells.iter().product()];
        let mut place = Place::default();
        let columns: Vec<&[f64]> = (0..layout.axes()).map(|k| points.column(k)).collect();
        for (i, &weight) in weights.iter().enumerate() {
            if weight > 0.0 && layout.locate(|k| columns[k][i], &mut place) {
                cell_weights[place.cell] += weight;
                let block = &mut coefficients[place.offset..];
                scatter(layout.nodes, weight, layout.cube(&place), block);
            }
        }
        let kernels = interaction(layout.nodes);
        for axis in 0..layout.axes() {
            coefficients = layout.combine(axis, &kernels, &coefficients);
        }
        let errors = layout.error_bounds(cell_weights);
        Self { layout, coefficients, errors, tolerance }
    }

    /// `sum_i w_i prod_k exp(-u_ik^2/2)`, or `None` where the tolerance cannot be promised.
    pub(super) fn sum(&self, query: &[f64], place: &mut Place) -> Option<f64> {
        if !self.layout.locate(|k| query[k], place) {
            return None;
        }
        let block = &self.coefficients[place.offset..];
        let sum = contract(self.layout.nodes, self.layout.cube(place), block);
        (self.errors[place.cell] <= self.tolerance * sum).then_some(sum)
    }
}

/// Bound on the error of interpolating the kernel in both variables, for touching cells (see the head of this file).
fn interpolation_error(nodes: usize) -> f64 {
    let p = nodes as f64;
    let lebesgue = 2.0 / PI * p.ln() + 1.0;
    let derivative = 1.0865 * (0.5 * libm::lgamma(p + 1.0)).exp();
    (1.0 + lebesgue) * 2.0 * derivative * (-p * 2.0_f64.ln() - libm::lgamma(p + 1.0)).exp()
}

/// For each coefficient l of a cell, how much of each moment m of the cells around it goes into it: at
/// `[l][(REACH - D) * nodes + m]` for a cell D to the left. In one dimension.
fn interaction(nodes: usize) -> Vec<Vec<f64>> {
    let angle = |k: usize| PI * (k as f64 + 0.5) / nodes as f64;
    let place: Vec<f64> = (0..nodes).map(|k| angle(k).cos()).collect();
    // fit[m][k]: how the value at node k enters the m-th coefficient of the polynomial through all nodes.
    let fit = |m: usize, k: usize| {
        let share = if m == 0 { 1.0 } else { 2.0 } / nodes as f64;
        share * (m as f64 * angle(k)).cos()
    };
    let fit: Vec<Vec<f64>> = (0..nodes).map(|m| (0..nodes).map(|k| fit(m, k)).collect()).collect();
    let mut kernels = vec![vec![0.0; WINDOW * nodes]; nodes];
    for w in 0..WINDOW {
        let shift = 2.0 * (REACH as f64 - w as f64);
        let kernel = |l: usize, k: usize| (-0.5 * (shift + place[l] - place[k]).powi(2)).exp();
        let row = |l: usize| (0..nodes).map(|k| kernel(l, k)).collect();
        let rows: Vec<Vec<f64>> = (0..nodes).map(row).collect();
        for (m, fit_m) in fit.iter().enumerate() {
            let halves: Vec<f64> = rows.iter().map(|row| bulk::dot(row, fit_m)).collect();
            for (kernels, fit_n) in kernels.iter_mut().zip(&fit) {
                kernels[w * nodes + m] = bulk::dot(fit_n, &halves);
            }
        }
    }
    kernels
}

/// A place in a cell, and the distance of neighbouring coefficients on the first two of three axes.
#[derive(Clone, Copy)]
struct Cube<'a> {
    /// One number for each axis there is.
    local: &'a [f64],
    strides: [usize; 2],
}

/// T_0(v) .. T_(P-1)(v), four at a time: T_(k+4) = 2 T_4 T_k - T_|k-4|.
#[inline(always)]
fn chebyshev<const FMA: bool, const P: usize>(v: f64) -> [f64; P] {
    let second = 2.0 * v * v - 1.0;
    let (third, fourth) = (2.0 * v * second - v, 2.0 * second * second - 1.0);
    let mut before = [fourth, third, second, v];
    let mut here = [1.0, v, second, third];
    let mut polynomials = [0.0; P];
    for four in polynomials.as_chunks_mut::<4>().0 {
        *four = here;
        let mut next = [0.0; 4];
        for l in 0..4 {
            next[l] = lane::fma::<FMA>(2.0 * fourth, here[l], -before[l]);
        }
        (before, here) = (here, next);
    }
    polynomials
}

impl Cube<'_> {
    /// The polynomials on three axes; those of an axis that is not there are the number 1 alone.
    #[inline(always)]
    fn polynomials<const FMA: bool, const P: usize>(&self) -> Polynomials<P> {
        let missing = MOST_DIMENSIONS - self.local.len();
        let mut polynomials =
            Polynomials { values: [[1.0; P]; MOST_DIMENSIONS], counts: [1; MOST_DIMENSIONS] };
        for (k, v) in self.local.iter().enumerate() {
            polynomials.values[missing + k] = chebyshev::<FMA, P>(*v);
            polynomials.counts[missing + k] = P;
        }
        polynomials
    }
}

/// Polynomials on three axes, and how many there are on each.
struct Polynomials<const P: usize> {
    values: [[f64; P]; MOST_DIMENSIONS],
    counts: [usize; MOST_DIMENSIONS],
}

/// The polynomial of a cell at a place: the sum over its coefficients, from `block` on, times the polynomials of all axes.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn contract(nodes: usize, cube: Cube<'_>, block: &[f64]) -> f64 {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    match nodes {
        8 => contract_lanes::<FMA, 8>(cube, block),
        12 => contract_lanes::<FMA, 12>(cube, block),
        16 => contract_lanes::<FMA, 16>(cube, block),
        20 => contract_lanes::<FMA, 20>(cube, block),
        _ => contract_lanes::<FMA, 24>(cube, block),
    }
}

#[inline(always)]
fn contract_lanes<const FMA: bool, const P: usize>(cube: Cube<'_>, block: &[f64]) -> f64 {
    let Polynomials { values: [first, second, third], counts } = cube.polynomials::<FMA, P>();
    let mut lanes = [0.0; P];
    for (a, x) in first[..counts[0]].iter().enumerate() {
        for (b, y) in second[..counts[1]].iter().enumerate() {
            let row = &block[a * cube.strides[0] + b * cube.strides[1]..][..P];
            let factor = x * y;
            for c in 0..P {
                lanes[c] = lane::fma::<FMA>(factor, row[c], lanes[c]);
            }
        }
    }
    // Four running sums: one after the other the additions would wait for each other.
    let mut sums = [0.0; 4];
    for (lanes, third) in lanes.as_chunks::<4>().0.iter().zip(third.as_chunks::<4>().0) {
        for l in 0..4 {
            sums[l] = lane::fma::<FMA>(lanes[l], third[l], sums[l]);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Adds a row of this weight at a place to the moments of its cell, from `block` on.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn scatter(nodes: usize, weight: f64, cube: Cube<'_>, block: &mut [f64]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    match nodes {
        8 => scatter_lanes::<FMA, 8>(weight, cube, block),
        12 => scatter_lanes::<FMA, 12>(weight, cube, block),
        16 => scatter_lanes::<FMA, 16>(weight, cube, block),
        20 => scatter_lanes::<FMA, 20>(weight, cube, block),
        _ => scatter_lanes::<FMA, 24>(weight, cube, block),
    }
}

#[inline(always)]
fn scatter_lanes<const FMA: bool, const P: usize>(weight: f64, cube: Cube<'_>, block: &mut [f64]) {
    let Polynomials { values: [first, second, third], counts } = cube.polynomials::<FMA, P>();
    for (a, x) in first[..counts[0]].iter().enumerate() {
        for (b, y) in second[..counts[1]].iter().enumerate() {
            let row = &mut block[a * cube.strides[0] + b * cube.strides[1]..][..P];
            let factor = weight * x * y;
            for c in 0..P {
                row[c] = lane::fma::<FMA>(factor, third[c], row[c]);
            }
        }
    }
}
