//! Where EM starts: rows drawn at random are the centres of regions, and each expert begins with one region.
//!
//! A region fades into the next like a gate: r_ik is proportional to exp(-b |z_i - c_k|^2 / 2), which is a softmax of scores
//! linear in z. Centres are drawn by row weight along the rows' order, so that a row of weight 2 is the row twice.

use rand::RngExt;

use super::design::Design;
use crate::math::bulk;
use crate::run::Run;

/// How far apart the scores of two centres are on average, at either of them.
const CONTRAST: f64 = 4.0;

/// Draws for one centre before a second one in the same place is accepted.
const DRAWS: usize = 20;

/// Responsibilities to begin with, row after row; those of the imagined row, the last, are equal.
pub(super) fn responsibilities(design: &Design, count: usize, run: &Run) -> Vec<f64> {
    let centres = centres(design, count, run);
    let distance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let pairs = || (0..count).flat_map(|k| (0..k).map(move |l| (k, l)));
    let apart: f64 = pairs().map(|(k, l)| distance(centres[k], centres[l])).sum();
    let sharpness = if apart > 0.0 { CONTRAST * pairs().count() as f64 / apart } else { 0.0 };
    let offsets: Vec<f64> = centres.iter().map(|c| 0.5 * bulk::dot(c, c)).collect();
    let mut responsibilities = vec![1.0 / count as f64; (design.rows() + 1) * count];
    for (i, shares) in responsibilities.chunks_exact_mut(count).take(design.rows()).enumerate() {
        let z = design.row(i);
        for ((share, centre), offset) in shares.iter_mut().zip(&centres).zip(&offsets) {
            *share = sharpness * (bulk::dot(z, centre) - offset);
        }
        let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.iter_mut().for_each(|share| *share = (*share - largest).exp());
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
    }
    responsibilities
}

/// Rows drawn by weight, in different places if that can be had.
fn centres<'a>(design: &'a Design, count: usize, run: &Run) -> Vec<&'a [f64]> {
    let mut sums: Vec<f64> = Vec::with_capacity(design.rows());
    for weight in design.weights() {
        sums.push(sums.last().copied().unwrap_or(0.0) + weight);
    }
    let total = sums.last().copied().unwrap_or(0.0);
    let mut rng = run.rng();
    let mut draw = || {
        let at = rng.random::<f64>() * total;
        design.row(sums.partition_point(|sum| *sum <= at).min(design.rows() - 1))
    };
    let mut centres: Vec<&[f64]> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut centre = draw();
        for _ in 1..DRAWS {
            if !centres.contains(&centre) {
                break;
            }
            centre = draw();
        }
        centres.push(centre);
    }
    centres
}
