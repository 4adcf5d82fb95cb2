//! Greedy selection with replacement (Caruana2004), for any score.

use rayon::prelude::*;

use crate::math::first_largest;
use crate::oos::OutOfSample;
use crate::task::Task;

/// Adds, one at a time, the member that helps the average most; a member's weight is how often it was added.
///
/// `score(row, i)` scores one combined prediction row; higher is better. The best of all prefixes is returned, so that
/// late rounds cannot harm; ties go to the earlier member and the shorter prefix.
pub(super) fn select<T: Task>(
    oos: &OutOfSample<T>,
    shares: &[f64],
    allowed: &[usize],
    rounds: usize,
    score: impl Fn(&[f64], usize) -> f64 + Sync,
) -> Vec<f64> {
    let width = oos.width();
    let mut counts = vec![0.0; oos.members().len()];
    let mut current = vec![0.0; oos.rows() * width];
    let mut best = (f64::NEG_INFINITY, counts.clone());
    for round in 0..rounds {
        let share = 1.0 / (round + 1) as f64;
        let candidates: Vec<f64> = allowed
            .par_iter()
            .map(|&m| {
                let mut row = vec![0.0; width];
                (0..oos.rows()).filter(|&i| shares[i] > 0.0).fold(0.0, |sum, i| {
                    blend(oos, &current, share, m, i, &mut row);
                    sum + shares[i] * score(&row, i)
                })
            })
            .collect();
        let winner = first_largest(&candidates);
        let m = allowed[winner];
        counts[m] += 1.0;
        let mut row = vec![0.0; width];
        for i in 0..oos.rows() {
            blend(oos, &current, share, m, i, &mut row);
            current[i * width..(i + 1) * width].copy_from_slice(&row);
        }
        if candidates[winner] > best.0 {
            let total = (round + 1) as f64;
            best = (candidates[winner], counts.iter().map(|c| c / total).collect());
        }
    }
    if best.1.iter().all(|w| *w == 0.0) {
        // Every choice scores -inf or NaN somewhere: nothing speaks for one member rather than another.
        allowed.iter().for_each(|&m| best.1[m] = 1.0 / allowed.len() as f64);
    }
    best.1
}

/// Row `i` of the average after member `m` gets a share in it.
fn blend<T: Task>(
    oos: &OutOfSample<T>,
    current: &[f64],
    share: f64,
    m: usize,
    i: usize,
    out: &mut [f64],
) {
    let old = &current[i * out.len()..(i + 1) * out.len()];
    let new = oos.row(m, i);
    T::mix(&[1.0 - share, share], |k| if k == 0 { old } else { new }, out);
}
