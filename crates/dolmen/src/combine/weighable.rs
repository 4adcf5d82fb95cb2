//! Which problem of finding weights a task's out-of-sample matrix poses.

use super::least_squares::LeastSquares;
use super::problem::WeightProblem;
use super::simplex::LogScore;
use crate::error::Result;
use crate::oos::OutOfSample;
use crate::task::{Classification, Density, Regression, Task};

/// A task whose members can be pooled linearly by weights.
pub trait Weighable: Task {
    /// The problem of finding the weights.
    type Problem: WeightProblem;

    /// Poses the problem. For classes it is LMD: the log score of p(true class) [CerquidesMantaras2005 section 3.1].
    fn problem(oos: &OutOfSample<Self>) -> Result<Self::Problem>;
}

impl Weighable for Density {
    type Problem = LogScore;

    fn problem(oos: &OutOfSample<Self>) -> Result<LogScore> {
        let columns = (0..oos.members().len()).map(|m| oos.column(m).to_vec()).collect();
        with_weights(LogScore::from_log(columns)?, oos.weights())
    }
}

impl Weighable for Classification {
    type Problem = LogScore;

    fn problem(oos: &OutOfSample<Self>) -> Result<LogScore> {
        let own = |m: usize| {
            (0..oos.rows()).map(|i| oos.row(m, i)[oos.target().class(i)]).collect::<Vec<f64>>()
        };
        let columns = (0..oos.members().len()).map(own).collect();
        with_weights(LogScore::from_likelihood(columns)?, oos.weights())
    }
}

impl Weighable for Regression {
    type Problem = LeastSquares;

    fn problem(oos: &OutOfSample<Self>) -> Result<LeastSquares> {
        let columns = (0..oos.members().len()).map(|m| oos.column(m).to_vec()).collect();
        let problem = LeastSquares::new(columns, oos.target().clone())?;
        match oos.weights() {
            Some(weights) => problem.weighted(weights),
            None => Ok(problem),
        }
    }
}

fn with_weights(problem: LogScore, weights: Option<&[f64]>) -> Result<LogScore> {
    match weights {
        Some(weights) => problem.weighted(weights),
        None => Ok(problem),
    }
}
