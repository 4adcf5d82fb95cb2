//! How a combination and its members do on all rows of a matrix on disk, for reports that were made from a sample.

use super::matrix::DiskMatrix;
use crate::combine::weigh::Weighing;
use crate::error::Result;
use crate::math::first_largest;
use crate::score::Estimate;
use crate::solver::Solution;

/// How a combination and its members do on all rows.
pub(in crate::recipe) struct Judged {
    rows: usize,
    score: Estimate,
    /// The score of equal weights.
    uniform: Estimate,
    /// Each member's score.
    alone: Vec<Estimate>,
    /// The combination's gain over each member, and over equal weights.
    gains: Vec<Estimate>,
}

impl Judged {
    /// In two passes over what is on disk: means, then squares of what is away from them.
    pub(super) fn new(disk: &DiskMatrix, weights: &[f64], pool: Pool) -> Result<Self> {
        let members = weights.len();
        let equal = vec![1.0 / members as f64; members];
        let mut sums = vec![0.0; 2 * members + 3];
        let (mut rows, mut total, mut counted) = (0, 0.0, 0.0);
        // Of each row: the pool's score, those alone, the gains, and the score of equal weights.
        let pass = |each: &mut dyn FnMut(f64, &[f64])| {
            let (mut entries, mut values) = (vec![0.0; members], vec![0.0; 2 * members + 3]);
            disk.show(&mut |columns, row_weights| {
                for (i, &weight) in row_weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    entries.iter_mut().zip(&columns).for_each(|(own, column)| *own = column[i]);
                    if entries.iter().all(|entry| *entry == f64::NEG_INFINITY) {
                        continue;
                    }
                    let own = pool(weights, &entries);
                    let gain = |other: f64| if own == other { 0.0 } else { own - other };
                    values[0] = own;
                    for m in 0..members {
                        values[1 + m] = pool(&[1.0], &entries[m..=m]);
                        values[1 + members + m] = gain(values[1 + m]);
                    }
                    values[2 * members + 2] = pool(&equal, &entries);
                    values[2 * members + 1] = gain(values[2 * members + 2]);
                    each(weight, &values);
                }
                Ok(())
            })
        };
        pass(&mut |weight, values| {
            rows += 1;
            counted += 1.0;
            total += weight;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        })?;
        let means: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let mut squares = vec![0.0; means.len()];
        pass(&mut |weight, values| {
            for ((square, value), mean) in squares.iter_mut().zip(values).zip(&means) {
                *square += (weight / total * (value - mean)).powi(2);
            }
        })?;
        let estimate = |k: usize| {
            let se = (squares[k] * counted / (counted - 1.0)).sqrt();
            Estimate { mean: means[k], se: se.is_finite().then_some(se) }
        };
        Ok(Self {
            rows,
            score: estimate(0),
            uniform: estimate(2 * members + 2),
            alone: (1..=members).map(estimate).collect(),
            gains: (members + 1..2 * members + 2).map(estimate).collect(),
        })
    }
}

/// The score of a row that members of these weights give these entries of the matrix on disk.
pub(super) type Pool = fn(&[f64], &[f64]) -> f64;

impl Weighing {
    /// Takes in what all rows say; it was made from so many of them.
    pub(in crate::recipe) fn take(&mut self, found: &Solution, judged: &Judged, sampled: usize) {
        let shrunk = (sampled as f64 / judged.rows as f64).sqrt().min(1.0);
        self.rows = judged.rows + found.uninformative_rows;
        self.uninformative_rows = found.uninformative_rows;
        (self.gap, self.iterations) = (found.gap, found.iterations);
        (self.converged, self.uniform) = (found.converged, Some(judged.uniform));
        (self.score, self.score_se) = (judged.score.mean, judged.score.se);
        let all = self.members.iter_mut().zip(&found.weights).zip(&judged.alone);
        for ((member, &weight), alone) in all {
            member.weight = weight;
            member.se = member.se.map(|se| se * shrunk);
            // It is about the weight of the sample.
            member.interval = None;
            member.beyond_resamples = false;
            (member.score, member.score_se) = (alone.mean, alone.se);
        }
        let best = first_largest(&judged.alone.iter().map(|own| own.mean).collect::<Vec<_>>());
        self.best = self.members[best].name.clone();
        self.gain_over_best = judged.gains[best];
        self.gain_over_uniform = judged.gains[self.members.len()];
    }
}
