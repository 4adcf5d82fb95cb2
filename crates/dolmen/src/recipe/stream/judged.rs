//! How a combination and its members do on all rows of a matrix on disk, for reports that were made from a sample.

use super::matrix::{Block, DiskMatrix, DiskRows};
use super::weights::Streamable;
use crate::combine::Method;
use crate::combine::weigh::Weighing;
use crate::ensemble::Compared;
use crate::error::Result;
use crate::math::first_largest;
use crate::run::Run;
use crate::score::Estimate;
use crate::solver::Solution;

/// How a combination and its members do on all rows.
pub(in crate::recipe) struct Judged {
    rows: usize,
    /// Rows that count: those of positive weight to which some member gives more than nothing.
    counted: usize,
    score: Estimate,
    /// The score of equal weights.
    uniform: Estimate,
    /// Each member's score.
    alone: Vec<Estimate>,
    /// The combination's gain over each member, and over equal weights.
    gains: Vec<Estimate>,
}

impl Judged {
    /// The combination by these weights.
    pub(super) fn new<T: Streamable>(
        disk: &DiskMatrix,
        weights: &[f64],
        run: &Run,
    ) -> Result<Self> {
        let members = weights.len();
        let equal = vec![1.0 / members as f64; members];
        // Of each row: the pool's score, those alone, the gains, and the score of equal weights.
        let Estimated { rows, counted, estimates } =
            estimated(disk, (members, 2 * members + 3), run, &|row, values| {
                let own = T::pool(weights, row.entries, row.truth);
                let uniform = T::pool(&equal, row.entries, row.truth);
                values[0] = own;
                for m in 0..members {
                    values[1 + m] = row.alone::<T>(m);
                    values[1 + members + m] = gain(own, values[1 + m]);
                }
                values[2 * members + 1] = gain(own, uniform);
                values[2 * members + 2] = uniform;
            })?;
        let (score, uniform) = (estimates[0], estimates[2 * members + 2]);
        let (alone, gains) = estimates[1..2 * members + 2].split_at(members);
        Ok(Self { rows, counted, score, uniform, alone: alone.to_vec(), gains: gains.to_vec() })
    }

    /// The combination's mean score.
    pub(super) fn score(&self) -> f64 {
        self.score.mean
    }
}

/// A stack whose weights for each fold were found without it, beside the best member of the other folds and equal weights.
pub(super) fn compared<T: Streamable>(
    disk: &DiskMatrix,
    of_folds: &[Vec<f64>],
    run: &Run,
) -> Result<Compared> {
    let members = of_folds.first().map_or(0, Vec::len);
    let equal = vec![1.0 / members as f64; members];
    let alone = (0..of_folds.len()).map(|fold| Alone::new::<T>(disk.without(fold), members, run));
    let best = |alone: Result<Alone>| alone.map(|alone| first_largest(&alone.means));
    let best_of_folds = alone.map(best).collect::<Result<Vec<usize>>>()?;
    let Estimated { rows, counted, estimates } =
        estimated(disk, (members, 6), run, &|row, values| {
            let stack = T::pool(&of_folds[row.fold], row.entries, row.truth);
            let best = row.alone::<T>(best_of_folds[row.fold]);
            let uniform = T::pool(&equal, row.entries, row.truth);
            let gains = [gain(stack, best), gain(stack, uniform), gain(uniform, best)];
            values[..3].copy_from_slice(&[stack, best, uniform]);
            values[3..].copy_from_slice(&gains);
        })?;
    Ok(Compared {
        rows,
        counted,
        stack: estimates[0],
        best_member: estimates[1],
        uniform: estimates[2],
        gains: [estimates[3], estimates[4], estimates[5]],
        best: best(Alone::new::<T>(disk.rows(), members, run))?,
    })
}

/// One score less another; where both are without bounds nothing is gained.
fn gain(own: f64, other: f64) -> f64 {
    if own == other { 0.0 } else { own - other }
}

/// The members' mean scores, and how many rows count for them.
pub(super) struct Alone {
    pub(super) means: Vec<f64>,
    pub(super) counted: usize,
}

impl Alone {
    pub(super) fn new<T: Streamable>(
        rows: DiskRows<'_>,
        members: usize,
        run: &Run,
    ) -> Result<Self> {
        let (mut means, mut total, mut counted) = (vec![0.0; members], 0.0, 0);
        rows.show(&mut |columns, weights| {
            run.check()?;
            each_row(&columns, weights, &[], members, &mut |weight, row| {
                (counted, total) = (counted + 1, total + weight);
                for (m, sum) in means.iter_mut().enumerate() {
                    *sum += weight * row.alone::<T>(m);
                }
            });
            Ok(())
        })?;
        means.iter_mut().for_each(|mean| *mean /= total);
        Ok(Self { means, counted })
    }
}

/// A row of the matrix on disk.
struct Row<'a> {
    entries: &'a [f64],
    /// The truth, where the matrix has it.
    truth: f64,
    fold: usize,
}

impl Row<'_> {
    /// The score of a member alone.
    fn alone<T: Streamable>(&self, m: usize) -> f64 {
        T::pool(&[1.0], &self.entries[m..=m], self.truth)
    }
}

/// Shows the rows of a block that count, with their weights: those of positive weight to which some member gives more than nothing.
fn each_row(
    columns: &[Vec<f64>],
    weights: &[f64],
    folds: &[f64],
    members: usize,
    each: &mut dyn FnMut(f64, &Row<'_>),
) {
    let mut entries = vec![0.0; members];
    for (i, &weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        entries.iter_mut().zip(columns).for_each(|(own, column)| *own = column[i]);
        if entries.iter().any(|entry| *entry != f64::NEG_INFINITY) {
            let truth = columns.get(members).map_or(0.0, |truth| truth[i]);
            let fold = folds.get(i).map_or(0, |fold| *fold as usize);
            each(weight, &Row { entries: &entries, truth, fold });
        }
    }
}

/// Means over the rows that count, with their standard errors.
struct Estimated {
    rows: usize,
    counted: usize,
    estimates: Vec<Estimate>,
}

/// Estimates so many values of each row, of so many members: in two passes, means and then squares of what is away from them.
fn estimated(
    disk: &DiskMatrix,
    (members, values): (usize, usize),
    run: &Run,
    of_row: &dyn Fn(&Row<'_>, &mut [f64]),
) -> Result<Estimated> {
    let pass = |each: &mut dyn FnMut(f64, &[f64])| {
        let (mut rows, mut found) = (0, vec![0.0; values]);
        disk.show(&mut |Block { weights, folds, columns }| {
            run.check()?;
            rows += weights.len();
            each_row(&columns, &weights, &folds, members, &mut |weight, row| {
                of_row(row, &mut found);
                each(weight, &found);
            });
            Ok(())
        })?;
        Ok(rows)
    };
    let (mut counted, mut total, mut sums) = (0, 0.0, vec![0.0; values]);
    let rows = pass(&mut |weight, found| {
        counted += 1;
        total += weight;
        sums.iter_mut().zip(found).for_each(|(sum, value)| *sum += weight * value);
    })?;
    let means: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
    let mut squares = vec![0.0; values];
    pass(&mut |weight, found| {
        for ((square, value), mean) in squares.iter_mut().zip(found).zip(&means) {
            *square += (weight / total * (value - mean)).powi(2);
        }
    })?;
    let n = counted as f64;
    let estimate = |(mean, square): (&f64, &f64)| {
        let se = (square * n / (n - 1.0)).sqrt();
        Estimate { mean: *mean, se: se.is_finite().then_some(se) }
    };
    Ok(Estimated { rows, counted, estimates: means.iter().zip(&squares).map(estimate).collect() })
}

impl Weighing {
    /// Takes in what all rows say; it was made from so many of them.
    pub(in crate::recipe) fn take(&mut self, found: &Solution, judged: &Judged, sampled: usize) {
        // Errors of weights that are searched for fall with the root of the rows; those of weights that are chosen do not.
        let is_chosen = matches!(self.method, Method::Best | Method::PseudoBma);
        let shrunk = (sampled as f64 / judged.counted as f64).sqrt().min(1.0);
        let most = if self.method == Method::NonNegative { f64::INFINITY } else { 1.0 };
        self.rows = judged.rows;
        self.uninformative_rows = found.uninformative_rows;
        (self.gap, self.iterations) = (found.gap, found.iterations);
        (self.converged, self.uniform) = (found.converged, Some(judged.uniform));
        (self.score, self.score_se) = (judged.score.mean, judged.score.se);
        let all = self.members.iter_mut().zip(&found.weights).zip(&judged.alone);
        for ((member, &weight), alone) in all {
            let from = std::mem::replace(&mut member.weight, weight);
            member.se = member.se.filter(|_| !is_chosen).map(|se| se * shrunk);
            // It is about the weight of the sample. An end that was cut off at a bound says nothing of how far it is from the weight.
            let moved = |end: f64| {
                if end <= 0.0 || end >= most {
                    return end;
                }
                (weight + shrunk * (end - from)).clamp(0.0, most.max(weight))
            };
            member.interval = member.interval.filter(|_| !is_chosen).map(|ends| ends.map(moved));
            member.beyond_resamples &= member.interval.is_some();
            (member.score, member.score_se) = (alone.mean, alone.se);
        }
        let best = first_largest(&judged.alone.iter().map(|own| own.mean).collect::<Vec<_>>());
        self.best = self.members[best].name.clone();
        self.gain_over_best = judged.gains[best];
        self.gain_over_uniform = judged.gains[self.members.len()];
    }
}
