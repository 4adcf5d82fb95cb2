//! Lloyd's k-means and k-means++ seeds, for starts.
//!
//! Missing values stand at their column's mean here: a start has to be near, not exact.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::data::{Data, PART};
use super::expect::Densities;
use crate::stats::{self, Accumulator};

/// Rows given to their nearest centre. Which that is, is found again where it is asked for: labels of all rows would take half as
/// much memory as a column.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Clusters {
    /// Means of the rows, centre after centre.
    #[serde(with = "crate::store::floats")]
    pub(super) centres: Vec<f64>,
    /// The centres that the rows were given to; the same ones if no row would change any more.
    #[serde(with = "crate::store::floats")]
    pub(super) before: Vec<f64>,
}

/// Sums over the rows of each cluster.
struct Assignment {
    mass: Vec<f64>,
    sums: Vec<f64>,
}

impl Accumulator for Assignment {
    fn merge(&mut self, later: Self) {
        self.mass.iter_mut().zip(later.mass).for_each(|(sum, x)| *sum += x);
        self.sums.iter_mut().zip(later.sums).for_each(|(sum, x)| *sum += x);
    }
}

/// Lloyd's iterations until the centres stop moving, or so many. Ties go to the lower index; a cluster without rows keeps
/// its centre.
pub(super) fn lloyd(data: &Data<'_>, mut centres: Vec<f64>, limit: usize) -> Clusters {
    let d = data.x.width();
    let mut before = Vec::new();
    for _ in 0..limit.max(1) {
        let assigned = assign(data, &centres);
        before.clone_from(&centres);
        let sums = assigned.sums.chunks_exact(d).zip(&assigned.mass);
        for (centre, (sum, &mass)) in centres.chunks_exact_mut(d).zip(sums) {
            if mass > 0.0 {
                centre.iter_mut().zip(sum).for_each(|(centre, sum)| *centre = sum / mass);
            }
        }
        if centres == before {
            break;
        }
    }
    Clusters { centres, before }
}

impl Clusters {
    /// The number of every row's cluster.
    pub(super) fn labels(&self, data: &Data<'_>) -> Vec<u32> {
        let (d, rows) = (data.x.width(), data.x.rows());
        let mut block = Block::new(self.before.len() / d, d, rows);
        let mut labels = Vec::new();
        for rows in block.cut(0..rows) {
            block.load_filled(data, rows.clone());
            block.nearest(&Densities::around(&self.before, d), rows.len(), &mut labels);
        }
        labels
    }
}

/// Every row to its nearest centre.
fn assign(data: &Data<'_>, centres: &[f64]) -> Assignment {
    let d = data.x.width();
    let k = centres.len() / d;
    let densities = Densities::around(centres, d);
    let zero = || Assignment { mass: vec![0.0; k], sums: vec![0.0; k * d] };
    stats::accumulate(data.x.rows(), PART, zero, |sums, range| {
        let mut block = Block::new(k, d, range.len());
        let mut labels = Vec::with_capacity(block.capacity());
        for rows in block.cut(range) {
            block.load_filled(data, rows.clone());
            labels.clear();
            block.nearest(&densities, rows.len(), &mut labels);
            for (at, &label) in labels.iter().enumerate() {
                let weight = data.weight(rows.start + at);
                sums.mass[label as usize] += weight;
                let sums = &mut sums.sums[label as usize * d..][..d];
                block.row(at).zip(sums).for_each(|(z, sum)| *sum += weight * z);
            }
        }
    })
}

/// Greedy k-means++ seeds (ArthurVassilvitskii2007, section 7): rows are drawn with probability proportional to their
/// weight times their squared distance from the centres so far; of a few drawn, the one that leaves the smallest sum of
/// distances becomes the next centre.
pub(super) fn seeds(data: &Data<'_>, components: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let d = data.x.width();
    let candidates = 2 + (components as f64).ln() as usize;
    let rows = data.x.rows();
    let mut centres = centres_at(data, &[draw(rows, |i| data.weight(i), rng)]);
    if components == 1 {
        return centres;
    }
    // In single precision, and in units of the rows' spread, so that none is out of range: doubles would take as much memory
    // as a column.
    let mut distances = vec![f32::INFINITY; rows];
    for component in 1..components {
        approach(data, &centres[(component - 1) * d..], &mut distances);
        // Masses are multiplied out as they are asked for: kept, they would take as much memory as a column.
        let mass = |i: usize| data.weight(i) * f64::from(distances[i]);
        let drawn: Vec<usize> = (0..candidates).map(|_| draw(rows, mass, rng)).collect();
        let drawn = centres_at(data, &drawn);
        let left = sums_of_distances(data, &drawn, &distances);
        let best = (1..candidates).fold(0, |best, c| if left[c] < left[best] { c } else { best });
        centres.extend_from_slice(&drawn[best * d..][..d]);
    }
    centres
}

/// Rows as centres.
pub(super) fn centres_at(data: &Data<'_>, rows: &[usize]) -> Vec<f64> {
    let d = data.x.width();
    let mut centres = vec![0.0; rows.len() * d];
    for (centre, &row) in centres.chunks_exact_mut(d).zip(rows) {
        data.filled_row(row, centre);
    }
    centres
}

/// Lowers squared distances to those from a new centre where it is nearer.
fn approach(data: &Data<'_>, centre: &[f64], distances: &mut [f32]) {
    let densities = Densities::around(centre, centre.len());
    distances.par_chunks_mut(PART).enumerate().for_each(|(part, distances)| {
        let first = part * PART;
        let mut block = Block::new(1, centre.len(), distances.len());
        for rows in block.cut(first..first + distances.len()) {
            block.load_filled(data, rows.clone());
            block.log_joint(&densities);
            let distances = &mut distances[rows.start - first..rows.end - first];
            for (distance, half) in distances.iter_mut().zip(block.shares(0)) {
                *distance = distance.min((-2.0 * half / data.frame.spread) as f32);
            }
        }
    });
}

/// For each of some centres the weighted sum of squared distances if it were one more.
fn sums_of_distances(data: &Data<'_>, centres: &[f64], distances: &[f32]) -> Vec<f64> {
    let d = data.x.width();
    let count = centres.len() / d;
    let densities = Densities::around(centres, d);
    let zero = || Left(vec![0.0; count]);
    let part = |sums: &mut Left, range: Range<usize>| {
        let mut block = Block::new(count, d, range.len());
        for rows in block.cut(range) {
            block.load_filled(data, rows.clone());
            block.log_joint(&densities);
            for (c, sum) in sums.0.iter_mut().enumerate() {
                for (i, half) in rows.clone().zip(block.shares(c)) {
                    let distance = f64::from(distances[i]).min(-2.0 * half / data.frame.spread);
                    *sum += data.weight(i) * distance;
                }
            }
        }
    };
    stats::accumulate(data.x.rows(), PART, zero, part).0
}

/// Sums of distances, one per centre.
struct Left(Vec<f64>);

impl Accumulator for Left {
    fn merge(&mut self, later: Self) {
        self.0.iter_mut().zip(later.0).for_each(|(sum, x)| *sum += x);
    }
}

/// Draws an index with probability proportional to its mass; any index if there is no mass (fewer different rows than
/// components).
fn draw(rows: usize, mass: impl Fn(usize) -> f64, rng: &mut ChaCha8Rng) -> usize {
    let total: f64 = (0..rows).map(&mass).sum();
    if total <= 0.0 {
        return rng.random_range(0..rows);
    }
    let mut left = rng.random::<f64>() * total;
    let mut last = 0;
    for (i, mass) in (0..rows).map(|i| (i, mass(i))).filter(|(_, mass)| *mass > 0.0) {
        last = i;
        left -= mass;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// Distinct rows, drawn with probability proportional to their weights (EfraimidisSpirakis2006: the largest
/// `ln(u) / weight` win).
pub(super) fn random_rows(data: &Data<'_>, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut keys: Vec<(f64, usize)> = (0..data.x.rows())
        .map(|i| (rng.random::<f64>().ln() / data.weight(i), i))
        .filter(|(key, _)| !key.is_nan())
        .collect();
    let count = count.min(keys.len());
    let largest_first = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0);
    if count < keys.len() {
        keys.select_nth_unstable_by(count, largest_first);
    }
    keys.truncate(count);
    keys.sort_unstable_by(largest_first);
    keys.into_iter().map(|(_, i)| i).collect()
}
