//! Sums of kernels over all rows, looking only at blocks of rows that can matter.
//!
//! A kernel of finite support needs the blocks whose boxes it touches, and the sum is exact. For a Gaussian kernel the
//! block nearest to the query gives a lower bound S of the sum; rows farther than r with exp(-r^2/2) <= tolerance * S
//! can add at most `tolerance` of it, because weights sum to 1. The bound on the error is thus relative to the density
//! at the query itself, however far out that lies. Where nothing can be left out, in many dimensions, this is the
//! direct sum at the full speed of the inner loops.
//!
//! A query's result does not depend on the queries it is evaluated with.

use std::f64::consts::{LN_2, LOG2_E};

use super::bandwidth::Widths;
use super::lanes;
use super::points::{BLOCK, Points};
use super::shape::Shape;
use crate::math::bulk;

/// Queries taken together: a block of rows is fetched once for all of them.
const QUERIES: usize = 64;

/// Below this a plain sum of exponentials may have lost terms to underflow.
const TINY: f64 = 1e-250;

/// Weighted kernels on rows, for several bandwidths that differ by a factor.
pub(super) struct PairSums<'a> {
    points: &'a Points,
    /// Sum to 1; may be 0.
    weights: &'a [f64],
    shape: Shape,
    widths: &'a Widths,
    tolerance: f64,
}

/// A query near enough to a block to look at its rows.
struct Visitor {
    query: usize,
    distance: f64,
}

/// Memory that is used again from block to block.
struct Scratch {
    /// The queries in the coordinates of the sums, row after row.
    queries: Vec<f64>,
    /// The distance of one query to every block.
    distances: Vec<f64>,
    /// Up to which distance a member looks at blocks: query after query.
    reach: Vec<f64>,
    visitors: Vec<Vec<Visitor>>,
    /// One block's columns.
    block: Vec<f64>,
    /// For one number per row of a block: distances, and kernels.
    pairs: Vec<f64>,
    kernels: Vec<f64>,
}

impl<'a> PairSums<'a> {
    pub(super) fn new(
        points: &'a Points,
        weights: &'a [f64],
        shape: Shape,
        widths: &'a Widths,
        tolerance: f64,
    ) -> Self {
        Self { points, weights, shape, widths, tolerance }
    }

    /// The log density at each query (row after row): one value per member, query after query.
    pub(super) fn log_densities(&self, queries: &[f64], out: &mut [f64]) {
        let (dimension, members) = (self.points.dimension(), self.widths.factors.len());
        let mut scratch = Scratch {
            queries: Vec::with_capacity(QUERIES * dimension),
            distances: vec![0.0; self.points.blocks()],
            reach: Vec::with_capacity(QUERIES * members),
            visitors: (0..self.points.blocks()).map(|_| Vec::new()).collect(),
            block: Vec::with_capacity(BLOCK * dimension),
            pairs: vec![0.0; BLOCK],
            kernels: vec![0.0; BLOCK],
        };
        let scaled = (self.shape == Shape::Gaussian).then(|| Scaled::new(self));
        let pieces = queries.chunks(QUERIES * dimension).zip(out.chunks_mut(QUERIES * members));
        for (queries, out) in pieces {
            out.fill(0.0);
            match &scaled {
                Some(scaled) => scaled.sum(queries, out, &mut scratch),
                None => self.sum_finite(queries, out, &mut scratch),
            }
        }
        let constants: Vec<f64> = (0..members).map(|m| self.log_constant(m)).collect();
        if scaled.is_none() {
            bulk::ln_in_place(out);
        }
        for out in out.chunks_exact_mut(members) {
            out.iter_mut().zip(&constants).for_each(|(out, constant)| *out += constant);
        }
    }

    /// ln prod_k (c / h_k), with c the constant of the kernel.
    fn log_constant(&self, member: usize) -> f64 {
        let constant = self.shape.constant().ln();
        self.widths.of(member).map(|h| constant - h.ln()).sum()
    }

    /// Kernels of finite support.
    fn sum_finite(&self, queries: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let dimension = self.points.dimension();
        let members = self.widths.factors.len();
        // A little more than the support: the distance to a box is rounded otherwise than that to a row.
        let support: Vec<f64> = self.widths.factors.iter().map(|f| f * (1.0 + 1e-12)).collect();
        let widest = support.iter().copied().fold(0.0, f64::max);
        let inverse: Vec<Vec<f64>> =
            (0..members).map(|m| self.widths.of(m).map(|h| 1.0 / h).collect()).collect();
        for (q, query) in queries.chunks_exact(dimension).enumerate() {
            scratch.distances.fill(0.0);
            for (k, (&x, scale)) in query.iter().zip(&self.widths.scale).enumerate() {
                let (low, high) = self.points.bounds(k);
                lanes::max_gaps(x, 1.0 / scale, low, high, &mut scratch.distances);
            }
            scratch.admit(q, widest);
        }
        for b in 0..scratch.visitors.len() {
            if scratch.visitors[b].is_empty() {
                continue;
            }
            let rows = self.points.block(b);
            scratch.block.clear();
            for k in 0..dimension {
                scratch.block.extend_from_slice(&self.points.column(k)[rows.clone()]);
            }
            let weights = &self.weights[rows.clone()];
            let pairs = &mut scratch.pairs[..rows.len()];
            for visitor in scratch.visitors[b].drain(..) {
                let query = &queries[visitor.query * dimension..][..dimension];
                for (m, inverse) in inverse.iter().enumerate() {
                    if visitor.distance <= support[m] {
                        out[visitor.query * members + m] += lanes::product_sum(
                            self.shape.profile(),
                            query,
                            inverse,
                            &scratch.block,
                            weights,
                            pairs,
                        );
                    }
                }
            }
        }
    }
}

impl Scratch {
    /// Lets a query visit the blocks up to this distance.
    fn admit(&mut self, query: usize, reach: f64) {
        for (visitors, &distance) in self.visitors.iter_mut().zip(&self.distances) {
            if distance <= reach {
                visitors.push(Visitor { query, distance });
            }
        }
    }
}

/// Gaussian kernels: coordinates are centred and divided by the scale, so that a pair costs one subtraction and one
/// multiplication a column.
struct Scaled<'a> {
    sums: &'a PairSums<'a>,
    centre: Vec<f64>,
    inverse: Vec<f64>,
    /// Bounds of the blocks in these coordinates, as in [`Points`].
    low: Vec<f64>,
    high: Vec<f64>,
    /// -1/(2 f^2) for each member's factor f, in powers of two.
    exponents: Vec<f64>,
}

impl<'a> Scaled<'a> {
    fn new(sums: &'a PairSums<'a>) -> Self {
        let dimension = sums.points.dimension();
        let range = |k| sums.points.range(k);
        let mut scaled = Self {
            sums,
            centre: (0..dimension).map(|k| f64::midpoint(range(k).0, range(k).1)).collect(),
            inverse: sums.widths.scale.iter().map(|s| 1.0 / s).collect(),
            low: Vec::new(),
            high: Vec::new(),
            exponents: sums.widths.factors.iter().map(|f| -0.5 * LOG2_E / (f * f)).collect(),
        };
        for k in 0..dimension {
            let (low, high) = sums.points.bounds(k);
            let low: Vec<f64> = low.iter().map(|&v| scaled.coordinate(k, v)).collect();
            let high: Vec<f64> = high.iter().map(|&v| scaled.coordinate(k, v)).collect();
            scaled.low.extend(low);
            scaled.high.extend(high);
        }
        scaled
    }

    fn coordinate(&self, k: usize, value: f64) -> f64 {
        (value - self.centre[k]) * self.inverse[k]
    }

    /// Writes the log sums of a few queries.
    fn sum(&self, queries: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let (dimension, members) = (self.centre.len(), self.exponents.len());
        scratch.queries.clear();
        scratch.reach.clear();
        let coordinates =
            queries.iter().enumerate().map(|(i, &v)| self.coordinate(i % dimension, v));
        scratch.queries.extend(coordinates);
        for q in 0..queries.len() / dimension {
            self.find_reach(q, scratch);
            let widest = scratch.reach[q * members..].iter().copied().fold(0.0, f64::max);
            scratch.admit(q, widest);
        }
        for b in 0..scratch.visitors.len() {
            if !scratch.visitors[b].is_empty() {
                self.add_block(b, out, scratch);
            }
        }
        for (q, out) in out.chunks_exact_mut(members).enumerate() {
            let query = &scratch.queries[q * dimension..][..dimension];
            for (out, exponent) in out.iter_mut().zip(&self.exponents) {
                *out = if *out > TINY {
                    out.ln()
                } else {
                    self.far(query, *exponent, &mut scratch.block)
                };
            }
        }
    }

    /// How far each member must look for query q, and the query's squared distance to every block.
    fn find_reach(&self, q: usize, scratch: &mut Scratch) {
        let dimension = self.centre.len();
        let blocks = scratch.distances.len();
        let query = &scratch.queries[q * dimension..][..dimension];
        self.block_distances(query, &mut scratch.distances);
        let nearest = (0..blocks)
            .min_by(|&a, &b| scratch.distances[a].total_cmp(&scratch.distances[b]))
            .unwrap_or(0);
        let rows = self.sums.points.block(nearest);
        self.load(nearest, &mut scratch.block);
        let squares = &mut scratch.pairs[..rows.len()];
        lanes::squared_distances(query, &scratch.block, squares);
        for &exponent in &self.exponents {
            let weights = &self.sums.weights[rows.clone()];
            let least = lanes::power_sum(squares, exponent, weights, &mut scratch.kernels);
            scratch.reach.push((self.sums.tolerance * least).log2() / exponent);
        }
    }

    fn block_distances(&self, query: &[f64], distances: &mut [f64]) {
        let blocks = distances.len();
        distances.fill(0.0);
        for (k, &x) in query.iter().enumerate() {
            let bounds = k * blocks..(k + 1) * blocks;
            lanes::add_squared_gaps(x, &self.low[bounds.clone()], &self.high[bounds], distances);
        }
    }

    /// One block's rows in scaled coordinates.
    fn load(&self, b: usize, block: &mut Vec<f64>) {
        let rows = self.sums.points.block(b);
        block.resize(rows.len() * self.centre.len(), 0.0);
        for (k, scaled) in block.chunks_exact_mut(rows.len()).enumerate() {
            let (centre, inverse) = (self.centre[k], self.inverse[k]);
            for (scaled, v) in scaled.iter_mut().zip(&self.sums.points.column(k)[rows.clone()]) {
                *scaled = (v - centre) * inverse;
            }
        }
    }

    /// Adds the rows of a block to the sums of its visitors.
    fn add_block(&self, b: usize, out: &mut [f64], scratch: &mut Scratch) {
        let (dimension, members) = (self.centre.len(), self.exponents.len());
        let rows = self.sums.points.block(b);
        let weights = &self.sums.weights[rows.clone()];
        let squares = &mut scratch.pairs[..rows.len()];
        self.load(b, &mut scratch.block);
        for visitor in scratch.visitors[b].drain(..) {
            let query = &scratch.queries[visitor.query * dimension..][..dimension];
            lanes::squared_distances(query, &scratch.block, squares);
            let reach = &scratch.reach[visitor.query * members..][..members];
            let out = &mut out[visitor.query * members..][..members];
            for ((out, exponent), reach) in out.iter_mut().zip(&self.exponents).zip(reach) {
                if visitor.distance <= *reach {
                    *out += lanes::power_sum(squares, *exponent, weights, &mut scratch.kernels);
                }
            }
        }
    }

    /// The log sum of a query so far out that the exponentials underflow: relative to the nearest row of weight.
    fn far(&self, query: &[f64], exponent: f64, block: &mut Vec<f64>) -> f64 {
        let mut distances = vec![0.0; self.sums.points.blocks()];
        let (mut squares, mut kernels) = ([0.0; BLOCK], [0.0; BLOCK]);
        self.block_distances(query, &mut distances);
        let (mut nearest, mut weight) = (f64::INFINITY, 0.0);
        for (b, &distance) in distances.iter().enumerate() {
            if distance < nearest {
                self.load(b, block);
                let rows = self.sums.points.block(b);
                let squares = &mut squares[..rows.len()];
                lanes::squared_distances(query, block, squares);
                for (&square, &w) in squares.iter().zip(&self.sums.weights[rows]) {
                    if square < nearest && w > 0.0 {
                        (nearest, weight) = (square, w);
                    }
                }
            }
        }
        if !nearest.is_finite() {
            return f64::NEG_INFINITY;
        }
        let reach = nearest + (self.sums.tolerance * weight).log2() / exponent;
        let mut sum = 0.0;
        for (b, &distance) in distances.iter().enumerate() {
            if distance <= reach {
                self.load(b, block);
                let rows = self.sums.points.block(b);
                let squares = &mut squares[..rows.len()];
                lanes::squared_distances(query, block, squares);
                // Only rows without weight are nearer; they must not overflow.
                for square in &mut *squares {
                    *square = (*square - nearest).max(0.0);
                }
                sum += lanes::power_sum(squares, exponent, &self.sums.weights[rows], &mut kernels);
            }
        }
        LN_2 * exponent * nearest + sum.ln()
    }
}
