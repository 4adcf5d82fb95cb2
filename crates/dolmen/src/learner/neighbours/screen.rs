//! Looking at every row, for many columns or few rows: a screen in single precision, then exact distances of what passes.
//!
//! |x - y|^2 = |x|^2 + |y|^2 - 2 x'y. The screen computes |y|^2 - 2 x'y for blocks of rows and a few queries at a time,
//! in the way of a matrix product. Its error is at most (d + 3) u (2 |x|^2 + 2 |y|^2) with u = 2^-24 [Higham2002,
//! section 3.1, with 2 |x'y| <= |x|^2 + |y|^2]; thresholds are raised by twice that, so no row is lost.

use super::distance::{self, Hit, LANES, TOGETHER};
use super::nearest::Nearest;

/// Queries for which a chunk of rows is looked at before the next is fetched.
const TILE: usize = 64;
/// Most values of a chunk of rows: they stay in the second-level cache for all queries of a tile.
const CHUNK: usize = 1 << 15;

/// Rows in single precision, centred and scaled to a largest norm of about 1.
#[derive(Debug)]
pub(super) struct Screen {
    centre: Vec<f64>,
    scale: f64,
    /// Blocks of [`LANES`] rows, column by column.
    blocks: Vec<f32>,
    /// |y|^2 of each row, lowered by the error; infinite where a block has no row.
    offsets: Vec<[f32; LANES]>,
    /// Bounds the error of the sums, relative to |x|^2 + |y|^2.
    error: f64,
}

/// A few queries as the screen looks at them.
struct Tile {
    /// For each group of [`TOGETHER`] queries and each column, -2 x.
    values: Vec<[f32; TOGETHER]>,
    /// |x|^2.
    squares: Vec<f64>,
}

impl Screen {
    pub(super) fn new(points: &[f64], dimension: usize) -> Self {
        let rows = points.len() / dimension;
        let mut centre = vec![0.0; dimension];
        for point in points.chunks_exact(dimension) {
            centre.iter_mut().zip(point).for_each(|(sum, value)| *sum += value / rows as f64);
        }
        let square = |point: &[f64]| -> f64 {
            point.iter().zip(&centre).map(|(value, at)| (value - at) * (value - at)).sum()
        };
        let largest = points.chunks_exact(dimension).map(square).fold(0.0, f64::max);
        let scale = if largest > 0.0 && largest.is_finite() { largest.sqrt().recip() } else { 1.0 };
        let error = 4.0 * (dimension as f64 + 8.0) * f64::from(f32::EPSILON);
        let mut blocks = vec![0.0; rows.div_ceil(LANES) * LANES * dimension];
        let mut offsets = vec![[f32::INFINITY; LANES]; rows.div_ceil(LANES)];
        for (i, point) in points.chunks_exact(dimension).enumerate() {
            let block = &mut blocks[i / LANES * LANES * dimension..];
            for (j, (value, at)) in point.iter().zip(&centre).enumerate() {
                block[j * LANES + i % LANES] = ((value - at) * scale) as f32;
            }
            offsets[i / LANES][i % LANES] = (square(point) * scale * scale * (1.0 - error)) as f32;
        }
        Self { centre, scale, blocks, offsets, error }
    }

    /// Offers to each query's `nearest` every row that may be wanted.
    pub(super) fn search(
        &self,
        points: &[f64],
        queries: &[f64],
        weights: Option<&[f64]>,
        nearest: &mut [Nearest],
    ) {
        let dimension = self.centre.len();
        let mut hits = Vec::new();
        for (queries, nearest) in queries.chunks(TILE * dimension).zip(nearest.chunks_mut(TILE)) {
            let tile = self.tile(queries);
            let most = (CHUNK / (dimension * LANES)).max(1);
            let (mut first, mut size) = (0, 1);
            // Chunks grow from a single block: without any row found yet, every row of a chunk passes.
            while first < self.offsets.len() {
                let last = (first + size).min(self.offsets.len());
                for (group, nearest) in nearest.chunks_mut(TOGETHER).enumerate() {
                    hits.clear();
                    self.screen(&tile, group, first..last, nearest, &mut hits);
                    let queries = &queries[group * TOGETHER * dimension..];
                    for hit in &hits {
                        self.offer(points, queries, weights, first, *hit, nearest);
                    }
                }
                (first, size) = (last, (2 * size).min(most));
            }
        }
    }

    fn tile(&self, queries: &[f64]) -> Tile {
        let dimension = self.centre.len();
        let count = queries.len() / dimension;
        let mut values = vec![[0.0; TOGETHER]; count.div_ceil(TOGETHER) * dimension];
        let mut squares = vec![0.0; count];
        for (q, query) in queries.chunks_exact(dimension).enumerate() {
            for (j, (value, at)) in query.iter().zip(&self.centre).enumerate() {
                let scaled = (value - at) * self.scale;
                values[q / TOGETHER * dimension + j][q % TOGETHER] = (-2.0 * scaled) as f32;
                squares[q] += scaled * scaled;
            }
        }
        Tile { values, squares }
    }

    /// Notes the rows in a range of blocks that may be within the reach of a group of queries.
    fn screen(
        &self,
        tile: &Tile,
        group: usize,
        blocks: std::ops::Range<usize>,
        nearest: &[Nearest],
        hits: &mut Vec<Hit>,
    ) {
        let dimension = self.centre.len();
        // Queries that are not there let nothing pass.
        let mut thresholds = [f32::NEG_INFINITY; TOGETHER];
        for (q, nearest) in nearest.iter().enumerate() {
            let square = tile.squares[group * TOGETHER + q];
            let reach = nearest.reach() * self.scale * self.scale;
            let threshold =
                reach - square + self.error * (square + reach) + f64::from(f32::MIN_POSITIVE);
            // Not a number where the query is too far out for single precision: then everything passes.
            thresholds[q] = if square < 1e30 { threshold as f32 } else { f32::NAN };
        }
        distance::screen(
            &tile.values[group * dimension..][..dimension],
            &thresholds,
            &self.blocks[blocks.start * LANES * dimension..blocks.end * LANES * dimension],
            &self.offsets[blocks],
            hits,
        );
    }

    /// The exact distances of what passed the screen.
    fn offer(
        &self,
        points: &[f64],
        queries: &[f64],
        weights: Option<&[f64]>,
        first: usize,
        hit: Hit,
        nearest: &mut [Nearest],
    ) {
        let dimension = self.centre.len();
        let q = hit.query as usize;
        let Some(nearest) = nearest.get_mut(q) else { return };
        let query = &queries[q * dimension..][..dimension];
        for lane in (0..LANES).filter(|lane| hit.lanes >> lane & 1 == 1) {
            let row = (first + hit.block as usize) * LANES + lane;
            let Some(point) = points.get(row * dimension..(row + 1) * dimension) else { return };
            let distance = distance::to_row(query, point);
            if distance <= nearest.reach() {
                nearest.offer(distance, row as u32, weights.map_or(1.0, |w| w[row]));
            }
        }
    }
}
