//! The best weights for a matrix on disk, by passes over it.

use super::matrix::DiskMatrix;
use crate::combine::{Method, Weighable, Weights};
use crate::error::Result;
use crate::math::Gram;
use crate::recipe::model::Anywhere;
use crate::run::Run;
use crate::solver::Solution;
use crate::solver::least_squares::LeastSquares;
use crate::solver::problem::WeightProblem;
use crate::solver::simplex::{SimplexOptions, solve_streamed};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// A task whose weights can be found block by block.
pub(in crate::recipe) trait Streamable: Anywhere + Weighable {
    /// What the matrix on disk holds of a prediction row: all that weights need to know.
    fn entry(row: &[f64], target: &Self::Target, i: usize) -> f64 {
        Self::score(row, target, i)
    }

    /// The score of a row that members of these weights give these entries.
    fn pool(weights: &[f64], entries: &[f64]) -> f64 {
        let mut mixed = [0.0];
        Density::mix(weights, |m| &entries[m..=m], &mut mixed);
        mixed[0]
    }

    /// The weights asked for, from a start; `None` if these need the whole matrix in memory. Those of a linear pool's log score.
    fn weigh(
        matrix: &DiskMatrix,
        start: &[f64],
        options: &Weights,
        run: &Run,
    ) -> Result<Option<Solution>> {
        if options.method != Method::Simplex || options.prior > 1.0 {
            return Ok(None);
        }
        let limits = SimplexOptions { tolerance: options.tolerance, ..SimplexOptions::default() };
        solve_streamed(&|show| matrix.show(show), start, &limits, run).map(Some)
    }
}

impl Streamable for Density {}

impl Streamable for Classification {}

/// LMG asks for all joint probabilities of a row, again and again: its weights come from the sample.
impl Streamable for Joint {
    fn weigh(
        _matrix: &DiskMatrix,
        _start: &[f64],
        _options: &Weights,
        _run: &Run,
    ) -> Result<Option<Solution>> {
        Ok(None)
    }
}

impl Streamable for Regression {
    /// The member's error: because weights sum to 1, that of the pool is the pool of the errors.
    fn entry(row: &[f64], target: &Vec<f64>, i: usize) -> f64 {
        row[0] - target.numbers().map_or(0.0, |numbers| numbers[i])
    }

    fn pool(weights: &[f64], entries: &[f64]) -> f64 {
        let error: f64 = weights.iter().zip(entries).map(|(w, e)| w * e).sum();
        -error * error
    }

    /// The errors' products E'WE = R'R are all that decides: R, as many rows as members, poses the same problem.
    fn weigh(
        matrix: &DiskMatrix,
        start: &[f64],
        options: &Weights,
        run: &Run,
    ) -> Result<Option<Solution>> {
        if options.method != Method::Simplex {
            return Ok(None);
        }
        let members = start.len();
        let (mut products, mut total) = (Gram::zero(members), 0.0);
        matrix.show(&mut |columns, weights| {
            run.check()?;
            total += weights.iter().sum::<f64>();
            let scaled = |column: &Vec<f64>| {
                column.iter().zip(weights).map(|(e, w)| w.sqrt() * e).collect::<Vec<f64>>()
            };
            products.add(&columns.iter().flat_map(scaled).collect::<Vec<f64>>(), weights.len());
            Ok(())
        })?;
        let Some(root) = products.root() else { return Ok(None) };
        // One row stands for the mean of all.
        let unit = (members as f64 / total).sqrt();
        let column = |m: usize| root.iter().map(|row| unit * row[m]).collect::<Vec<f64>>();
        let problem = LeastSquares::new((0..members).map(column).collect(), vec![0.0; members])?;
        let all: Vec<usize> = (0..members).collect();
        Ok(Some(problem.optimum(problem.shares(), start, &all)))
    }
}
