//! Lloyd's k-means and k-means++ seeds, for starts.
//!
//! Missing values stand at their column's mean here: a start has to be near, not exact.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::block::Block;
use super::data::{Data, PART};
use super::expect::Densities;
use super::normals::{Factors, Normals, Shape};
use crate::stats::{self, Accumulator};

/// Rows given to their nearest centre.
#[derive(Debug)]
pub(super) struct Clusters {
    /// Centre after centre.
    pub(super) centres: Vec<f64>,
    pub(super) labels: Vec<u32>,
}

/// Sums over the rows of each cluster; labels in the order of the rows.
struct Assignment {
    mass: Vec<f64>,
    sums: Vec<f64>,
    labels: Vec<u32>,
}

impl Accumulator for Assignment {
    fn merge(&mut self, later: Self) {
        self.mass.iter_mut().zip(later.mass).for_each(|(sum, x)| *sum += x);
        self.sums.iter_mut().zip(later.sums).for_each(|(sum, x)| *sum += x);
        self.labels.extend(later.labels);
    }
}

/// Lloyd's iterations until the labels stop changing, or so many. Ties go to the lower index; a cluster without rows keeps
/// its centre.
pub(super) fn lloyd(data: &Data<'_>, mut centres: Vec<f64>, limit: usize) -> Clusters {
    let d = data.x.width();
    let mut labels = Vec::new();
    for _ in 0..limit.max(1) {
        let assigned = assign(data, &centres);
        let settled = assigned.labels == labels;
        labels = assigned.labels;
        if settled {
            break;
        }
        let sums = assigned.sums.chunks_exact(d).zip(&assigned.mass);
        for (centre, (sum, &mass)) in centres.chunks_exact_mut(d).zip(sums) {
            if mass > 0.0 {
                centre.iter_mut().zip(sum).for_each(|(centre, sum)| *centre = sum / mass);
            }
        }
    }
    Clusters { centres, labels }
}

/// Every row to its nearest centre: with unit variances and equal weights that is the component of highest density.
fn assign(data: &Data<'_>, centres: &[f64]) -> Assignment {
    let d = data.x.width();
    let k = centres.len() / d;
    let normals = Normals {
        dimension: d,
        shape: Shape::Diagonal,
        weights: vec![1.0; k],
        means: centres.to_vec(),
        covariances: vec![1.0; k * d],
    };
    let densities = Densities::new(&normals, &Factors::unit(k, d));
    let zero = || Assignment { mass: vec![0.0; k], sums: vec![0.0; k * d], labels: Vec::new() };
    stats::accumulate(data.x.rows(), PART, zero, |sums, range| {
        let mut block = Block::new(&normals, range.len());
        for first in range.clone().step_by(block.capacity()) {
            let rows = first..(first + block.capacity()).min(range.end);
            block.load_filled(data, rows.clone());
            let known = sums.labels.len();
            block.nearest(&densities, rows.len(), &mut sums.labels);
            for (at, &label) in sums.labels[known..].iter().enumerate() {
                let weight = data.weight(first + at);
                sums.mass[label as usize] += weight;
                let sums = &mut sums.sums[label as usize * d..][..d];
                block.row(at).zip(sums).for_each(|(z, sum)| *sum += weight * z);
            }
        }
    })
}

/// k-means++ seeds: each next centre is a row drawn with probability proportional to its weight times its squared distance
/// from the centres so far (Arthur & Vassilvitskii 2007).
pub(super) fn seeds(data: &Data<'_>, components: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let (rows, d) = (data.x.rows(), data.x.width());
    let mut distances = vec![f64::INFINITY; rows];
    let mut centres = vec![0.0; components * d];
    for component in 0..components {
        let mass = |i: usize| {
            let distance = if component == 0 { 1.0 } else { distances[i] };
            data.weight(i) * distance
        };
        let total: f64 = (0..rows).map(mass).sum();
        // Fewer different rows than components: the rest of the centres are drawn by weight alone.
        let row = if total > 0.0 {
            draw(total, (0..rows).map(mass), rng)
        } else {
            draw(data.total, (0..rows).map(|i| data.weight(i)), rng)
        };
        let centre = &mut centres[component * d..][..d];
        data.filled_row(row, centre);
        let centre = &*centre;
        distances.par_chunks_mut(PART).enumerate().for_each(|(part, distances)| {
            let mut z = vec![0.0; d];
            for (at, distance) in distances.iter_mut().enumerate() {
                data.filled_row(part * PART + at, &mut z);
                let square: f64 = z.iter().zip(centre).map(|(z, c)| (z - c) * (z - c)).sum();
                *distance = distance.min(square);
            }
        });
    }
    centres
}

/// Draws an index with probability proportional to its mass.
fn draw(total: f64, masses: impl Iterator<Item = f64>, rng: &mut ChaCha8Rng) -> usize {
    let mut left = rng.random::<f64>() * total;
    let mut last = 0;
    for (i, mass) in masses.enumerate().filter(|(_, mass)| *mass > 0.0) {
        last = i;
        left -= mass;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// Distinct rows, drawn with probability proportional to their weights (Efraimidis & Spirakis 2006: the largest
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
