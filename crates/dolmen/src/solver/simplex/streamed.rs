//! The same optimum for a matrix that is not in memory: it is shown block by block, as often as the solver asks.
//!
//! Newton's method asks for nothing but sums over the rows, so the blocks' sums, added in their order, are all it needs. All
//! members are in the working set, and the start gives weight to each: in every row some member has the value 1, so that
//! no mixture is zero on the way.

use std::sync::Mutex;

use super::exact::{self, SimplexOptions};
use super::newton::{self, Limits};
use super::pass::{Evaluate, Moments};
use super::{LogScore, Solution};
use crate::error::{Error, Place, Result};
use crate::math::Gram;
use crate::run::Run;
use crate::stats::Accumulator;

/// Shows blocks of a matrix one after the other: the columns of ln L, one per member, and the row weights.
pub type ShowBlocks<'a> =
    dyn Fn(&mut dyn FnMut(Vec<Vec<f64>>, &[f64]) -> Result<()>) -> Result<()> + Sync + 'a;

/// The weight that the start takes from what is known and gives to all members alike.
const SHARED: f64 = 1e-3;

/// A matrix that is read again and again.
struct Streamed<'a> {
    show: &'a ShowBlocks<'a>,
    prior: Vec<f64>,
    /// The sum of the weights of the rows that say something.
    total: f64,
    /// The first thing that went wrong in a pass: the solver itself knows no errors.
    failure: Mutex<Option<Error>>,
}

/// The optimum on the simplex for a matrix in blocks, from weights that are near it (of a sample of the rows, say).
pub fn solve_streamed(
    show: &ShowBlocks<'_>,
    start: &[f64],
    options: &SimplexOptions,
    run: &Run,
) -> Result<Solution> {
    options.validate()?;
    let members = start.len();
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
    let failure = Mutex::default();
    let matrix = Streamed { show, prior: vec![0.0; members], total, failure };
    let sum: f64 = start.iter().sum();
    let each = SHARED / members as f64;
    let x: Vec<f64> = start.iter().map(|x| (1.0 - SHARED) * x / sum + each).collect();
    let all: Vec<usize> = (0..members).collect();
    let limits = Limits { tolerance: options.tolerance, max_passes: options.max_iterations };
    let found = run.install(|| newton::solve(&matrix, &all, &[], x, None, &limits));
    run.check()?;
    let failure = matrix.failure.lock().map_or(None, |mut failure| failure.take());
    if let Some(error) = failure {
        return Err(error);
    }
    let prices = exact::priced(&matrix, &found.x, &found.members, &found.gradient);
    let gap = exact::largest(&prices);
    Ok(Solution {
        weights: found.x,
        gap,
        iterations: found.passes + 1,
        score: found.objective + shift / total,
        uninformative_rows: uninformative,
        converged: gap <= options.tolerance,
    })
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

impl Evaluate for Streamed<'_> {
    fn prior(&self) -> &[f64] {
        &self.prior
    }

    fn moments(&self, x: &[f64], wanted: &[usize], curved: Option<usize>) -> Moments {
        let mut sum = Moments {
            objective: 0.0,
            gradient: vec![0.0; wanted.len()],
            curvature: curved.map(Gram::zero),
        };
        let pass = (self.show)(&mut |columns, weights| {
            if let Some(block) = Block::new(columns, weights)? {
                let mut moments = block.problem.view().moments(x, wanted, curved);
                moments.scale(block.total / self.total);
                sum.merge(moments);
            }
            Ok(())
        });
        if let (Err(error), Ok(mut failure)) = (pass, self.failure.lock()) {
            // What is summed so far ends the search; the failure is told in the place of its result.
            sum.gradient.fill(1.0);
            failure.get_or_insert(error);
        }
        sum
    }
}
