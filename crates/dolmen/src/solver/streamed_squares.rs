//! Both problems of least squares for rows that are shown block by block, as often as the solver asks.
//!
//! Shown are the members' errors e_m = x_m - t, one column each, and the target t as the last column. The products of what
//! stands on the plane (`cone`) are all that decides, E'WE = R'R: R, as many rows as members, poses the same problem.
//! What the errors have in common with the target is taken from them before their products are summed, in a pass of its own, so that a large
//! offset of the target drowns nothing.

use super::cone::{Cone, Minimum};
use super::least_squares::multiple;
use super::triangle::Triangular;
use super::{ShowBlocks, Solution};
use crate::error::Result;
use crate::run::Run;

/// The squared errors of a matrix that is read again and again.
pub struct StreamedSquares<'a> {
    show: &'a ShowBlocks<'a>,
    members: usize,
    run: &'a Run,
}

/// What the errors have in common with the target.
struct Along {
    /// The target's mean square.
    size: f64,
    /// t'e_m / t't; 0 if the target is.
    along: Vec<f64>,
}

impl<'a> StreamedSquares<'a> {
    /// Poses the problem for so many members.
    pub fn new(show: &'a ShowBlocks<'a>, members: usize, run: &'a Run) -> Self {
        Self { show, members, run }
    }

    /// Weights on the simplex, from a start of any scale; `None` if products of the errors are beyond what a double holds.
    pub fn simplex(&self, start: &[f64]) -> Result<Option<Solution>> {
        let Some(rows) = self.rows(&vec![0.0; self.members])? else { return Ok(None) };
        let found = minimise(&rows, vec![1.0; self.members], start);
        Ok(found.map(|found| {
            let Minimum { square, gap, converged, .. } = found;
            solution(found.u, -square, (gap, converged), 1)
        }))
    }

    /// Non-negative weights of any sum; `None` as above.
    pub fn non_negative(&self) -> Result<Option<Solution>> {
        let Along { size, along } = self.along()?;
        let Some(rows) = self.rows(&along)?.filter(|_| size.is_finite()) else { return Ok(None) };
        let a = along.iter().map(|along| if size > 0.0 { 1.0 + along } else { 0.0 }).collect();
        Ok(Some(match minimise(&rows, a, &vec![1.0; self.members]) {
            Some(found) => {
                let Minimum { square, gap, converged, .. } = found;
                // Of the target's square the best multiple leaves the share q / (|t|^2 + q).
                let left = if square > 0.0 { size * square / (size + square) } else { 0.0 };
                solution(multiple(&found, size), -left, (gap, converged), 2)
            }
            // No member points the target's way.
            None => solution(vec![0.0; self.members], -size, (0.0, true), 2),
        }))
    }

    fn along(&self) -> Result<Along> {
        let (mut size, mut total, mut along) = (0.0, 0.0, vec![0.0; self.members]);
        (self.show)(&mut |columns, weights| {
            self.run.check()?;
            let target = &columns[self.members];
            let product = |column: &[f64]| -> f64 {
                column.iter().zip(target).zip(weights).map(|((e, t), w)| w * e * t).sum()
            };
            total += weights.iter().sum::<f64>();
            size += product(target);
            along.iter_mut().zip(&columns).for_each(|(sum, column)| *sum += product(column));
            Ok(())
        })?;
        along.iter_mut().for_each(|sum| *sum = if size > 0.0 { *sum / size } else { 0.0 });
        Ok(Along { size: size / total, along })
    }

    /// R with R'R the mean products of the errors, each less such a multiple of the target; `None` if they are not finite. By a QR
    /// decomposition that goes on from block to block: the products themselves would have lost what small errors are beside large ones.
    fn rows(&self, along: &[f64]) -> Result<Option<Vec<Vec<f64>>>> {
        let (mut triangle, mut total) = (Triangular::new(self.members), 0.0);
        (self.show)(&mut |columns, weights| {
            self.run.check()?;
            total += weights.iter().sum::<f64>();
            let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
            let target = &columns[self.members];
            let error = |m: usize, i: usize| columns[m][i] - along[m] * target[i];
            triangle.add(weights.len(), &|m, i| roots[i] * error(m, i));
            Ok(())
        })?;
        let size = total.sqrt();
        let r = triangle.matrix();
        let row = |i: usize| (0..self.members).map(|j| r[(i, j)] / size).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..r.nrows()).map(row).collect();
        Ok(Some(rows).filter(|rows| rows.iter().flatten().all(|value| value.is_finite())))
    }
}

/// The smallest combination of these rows' columns on the plane a'u = 1.
fn minimise(rows: &[Vec<f64>], a: Vec<f64>, start: &[f64]) -> Option<Minimum> {
    let shares = vec![1.0; rows.len()];
    Cone { shares: &shares, error: |j: usize, i: usize| rows[i][j], a }.minimise(start)
}

fn solution(
    weights: Vec<f64>,
    score: f64,
    (gap, converged): (f64, bool),
    iterations: usize,
) -> Solution {
    Solution { weights, gap, iterations, score, uninformative_rows: 0, converged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::TakeBlock;
    use crate::solver::least_squares::LeastSquares;
    use crate::solver::problem::WeightProblem;

    /// Blocks of rows with weights, beside the same rows in memory; the target lies far from 0, and one member points away from it.
    #[test]
    fn blocks_give_the_weights_of_memory() {
        let wave = |i: usize, k: f64| (i as f64 * k + (i as f64).sqrt()).sin();
        for offset in [0.0, 1e5] {
            let target: Vec<f64> = (0..900).map(|i| offset + wave(i, 0.7)).collect();
            let column = |k: f64, share: f64| -> Vec<f64> {
                (0..900).map(|i| target[i] + share * wave(i, k)).collect()
            };
            let mut columns = vec![column(1.3, 1.0), column(2.1, 0.8), column(0.4, 2.0)];
            columns.push(target.iter().map(|t| 0.5 - t).collect());
            let weights: Vec<f64> = (0..900).map(|i| f64::from(i % 4)).collect();
            let problem = LeastSquares::new(columns.clone(), target.clone()).unwrap();
            let problem = problem.weighted(&weights).unwrap();
            let show = |show: &mut TakeBlock<'_>| {
                for rows in [0..250, 250..900] {
                    let errors = |column: &Vec<f64>| {
                        rows.clone().map(|i| column[i] - target[i]).collect::<Vec<f64>>()
                    };
                    let mut block: Vec<Vec<f64>> = columns.iter().map(errors).collect();
                    block.push(target[rows.clone()].to_vec());
                    show(block, &weights[rows])?;
                }
                Ok(())
            };
            let run = Run::with_threads(0, 1).unwrap();
            let streamed = StreamedSquares::new(&show, 4, &run);
            let all = [0, 1, 2, 3];
            let pairs = [
                (problem.non_negative(), streamed.non_negative()),
                (problem.optimum(problem.shares(), &[0.25; 4], &all), streamed.simplex(&[1.0; 4])),
            ];
            for (here, there) in pairs {
                let there = there.unwrap().unwrap();
                assert!(here.converged && there.converged, "{here:?} {there:?}");
                let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * a.abs().max(1.0);
                assert!(close(here.score, there.score), "{here:?} {there:?}");
                let pairs = here.weights.iter().zip(&there.weights);
                assert!(pairs.clone().all(|(a, b)| close(*a, *b)), "{here:?} {there:?}");
            }
        }
    }
}
