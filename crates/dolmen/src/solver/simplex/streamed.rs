//! The same optimum for a matrix that is not in memory: it is shown block by block, as often as the solver asks.
//!
//! Newton's method asks for nothing but sums over the rows, so the blocks' sums, added in their order, are all it needs. All
//! members are in the working set, and the start gives weight to each: in every row some member has the value 1, so that
//! no mixture is zero on the way.

use std::sync::Mutex;

use super::em::{self, EmOptions};
use super::exact::{self, Found, SimplexOptions};
use super::newton::{self, Limits};
use super::pass::{Evaluate, Moments};
use super::{LogScore, Solution};
use crate::error::{Error, Place, Result};
use crate::math::Gram;
use crate::run::Run;
use crate::solver::ShowBlocks;
use crate::stats::Accumulator;

/// The weight that the start takes from what is known and gives to all members alike.
const SHARED: f64 = 1e-3;

/// The log scores of a matrix that is read again and again: shown are the columns of ln L, one per member.
pub struct StreamedScore<'a> {
    show: &'a ShowBlocks<'a>,
    run: &'a Run,
    /// The exponents less 1, in units of the rows' weight.
    prior: Vec<f64>,
    /// The sum of the weights of the rows that say something.
    total: f64,
    /// The mean of the logarithms of the rows' largest values.
    shift: f64,
    uninformative: usize,
    /// The first thing that went wrong in a pass: the solver itself knows no errors.
    failure: Mutex<Option<Error>>,
}

impl<'a> StreamedScore<'a> {
    /// Poses the problem for so many members whose weights have a Dirichlet prior of this exponent (1 is none), in one pass.
    pub fn new(
        show: &'a ShowBlocks<'a>,
        members: usize,
        exponent: f64,
        run: &'a Run,
    ) -> Result<Self> {
        let (mut total, mut shift, mut uninformative) = (0.0, 0.0, 0);
        show(&mut |columns, weights| {
            run.check()?;
            let Some(block) = Block::new(columns, weights)? else {
                uninformative += weights.len();
                return Ok(());
            };
            total += block.total;
            shift += block.total * block.problem.shift_mean();
            uninformative += block.problem.uninformative_rows;
            Ok(())
        })?;
        if total <= 0.0 {
            let problem = "no member gives any row more than nothing (all values are 0, or -inf as logarithms): there is nothing to weigh members by";
            return Err(Error::data(Place::default(), problem));
        }
        if !(exponent.is_finite() && exponent >= 1.0) {
            return Err(Error::param("a prior exponent", "at least 1", exponent));
        }
        let (prior, failure) = (vec![(exponent - 1.0) / total; members], Mutex::default());
        Ok(Self { show, run, prior, total, shift: shift / total, uninformative, failure })
    }

    /// The optimum on the simplex, from weights that are near it (of a sample of the rows, say).
    pub fn solve(&self, start: &[f64], options: &SimplexOptions) -> Result<Solution> {
        options.validate()?;
        let members = self.prior.len();
        let sum: f64 = start.iter().sum();
        let each = SHARED / members as f64;
        let x: Vec<f64> = start.iter().map(|x| (1.0 - SHARED) * x / sum + each).collect();
        let all: Vec<usize> = (0..members).collect();
        let mass = 1.0 + self.prior.iter().sum::<f64>();
        let wanted = mass * options.tolerance;
        let (max_passes, polishes) = (options.max_iterations, options.polishes());
        let limits = Limits { tolerance: wanted, max_passes, polishes };
        let found = self.run.install(|| newton::solve(self, &all, &[], x, None, &limits));
        let prices = exact::priced(self, &found.x, &found.members, &found.gradient);
        let gap = exact::largest(&prices);
        self.report(Found {
            weights: found.x,
            objective: found.objective,
            gap: gap / mass,
            iterations: found.passes + 1,
            converged: gap <= wanted,
        })
    }

    /// The papers' EM, from equal weights as ever.
    pub fn em(&self, options: &EmOptions) -> Result<Solution> {
        options.validate()?;
        self.report(self.run.install(|| em::solve(self, options)))
    }

    /// The solution in the units of the scores that are shown, unless something went wrong on the way to it.
    fn report(&self, found: Found) -> Result<Solution> {
        self.run.check()?;
        if let Some(error) = self.failure.lock().map_or(None, |mut failure| failure.take()) {
            return Err(error);
        }
        Ok(Solution {
            weights: found.weights,
            gap: found.gap,
            iterations: found.iterations,
            score: found.objective + self.shift,
            uninformative_rows: self.uninformative,
            converged: found.converged,
        })
    }

    /// Whether going on would be in vain.
    fn has_failed(&self) -> bool {
        self.run.check().is_err() || self.failure.lock().is_ok_and(|failure| failure.is_some())
    }
}

/// A block made relative to its rows' largest values.
struct Block {
    problem: LogScore,
    /// The sum of the weights of its rows that say something.
    total: f64,
}

impl Block {
    /// `None` if no row of it says anything.
    fn new(columns: Vec<Vec<f64>>, weights: &[f64]) -> Result<Option<Self>> {
        let says = |i: usize| columns.iter().any(|column| column[i] > f64::NEG_INFINITY);
        if !(0..weights.len()).any(|i| weights[i] > 0.0 && says(i)) {
            return Ok(None);
        }
        let problem = LogScore::from_log(columns)?.weighted(weights)?;
        Ok(Some(Self { total: problem.total_weight, problem }))
    }
}

impl Evaluate for StreamedScore<'_> {
    fn prior(&self) -> &[f64] {
        &self.prior
    }

    fn moments(&self, x: &[f64], wanted: &[usize], curved: Option<usize>) -> Moments {
        let mut sum = Moments {
            objective: 0.0,
            gradient: vec![0.0; wanted.len()],
            curvature: curved.map(Gram::zero),
        };
        if self.has_failed() {
            return ending(sum);
        }
        let pass = (self.show)(&mut |columns, weights| {
            if let Some(block) = Block::new(columns, weights)? {
                let mut moments = block.problem.view().moments(x, wanted, curved);
                moments.scale(block.total / self.total);
                sum.merge(moments);
            }
            self.run.check()
        });
        match (pass, self.failure.lock()) {
            (Err(error), Ok(mut failure)) => {
                failure.get_or_insert(error);
                ending(sum)
            }
            _ => sum,
        }
    }
}

/// Sums at which every search ends, because nothing could be gained; the failure is told in the place of its result.
fn ending(mut sum: Moments) -> Moments {
    sum.gradient.fill(1.0);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::TakeBlock;

    /// Two members that are nearly one: the objective hardly tells their weights apart, and those of blocks are those of memory all the same.
    #[test]
    fn weights_agree_where_the_objective_is_flat() {
        let wave = |i: usize, k: f64| (i as f64 * k + (i as f64).sqrt()).sin();
        let run = Run::with_threads(0, 2).unwrap();
        for rows in [3000, 40_000] {
            for near in [0.1, 0.01] {
                let column = |size: f64, k: f64, level: f64| -> Vec<f64> {
                    let value = |i: usize| level + wave(i, 0.9) + size * wave(i, k);
                    (0..rows).map(value).collect()
                };
                let columns =
                    vec![column(near, 1.3, 0.0), column(near, 2.1, 0.0), column(1.5, 0.4, -0.3)];
                let weights: Vec<f64> = (0..rows).map(|i| f64::from(i as u32 % 4)).collect();
                let here = LogScore::from_log(columns.clone()).unwrap().weighted(&weights).unwrap();
                let here = here.solve(&SimplexOptions::default(), &run).unwrap();
                let show = |show: &mut TakeBlock<'_>| {
                    for first in (0..rows).step_by(7001) {
                        let block = first..rows.min(first + 7001);
                        let part = |column: &Vec<f64>| column[block.clone()].to_vec();
                        show(columns.iter().map(part).collect(), &weights[block.clone()])?;
                    }
                    Ok(())
                };
                let streamed = StreamedScore::new(&show, 3, 1.0, &run).unwrap();
                for start in [[1.0, 1.0, 1.0], [0.9, 0.05, 0.05], [0.0, 0.0, 1.0]] {
                    let there = streamed.solve(&start, &SimplexOptions::default()).unwrap();
                    assert!(here.converged && there.converged, "{here:?} {there:?}");
                    assert!(there.iterations < 40, "{there:?}");
                    for (a, b) in here.weights.iter().zip(&there.weights) {
                        assert!((a - b).abs() < 1e-9, "{rows} {near}: {here:?} {there:?}");
                    }
                }
                assert!(here.weights[0] > 0.0 && here.weights[1] > 0.0, "{here:?}");
            }
        }
    }
}
