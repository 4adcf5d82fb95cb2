//! Which problem of finding weights a task's out-of-sample matrix poses.

use crate::error::Result;
use crate::math::log_sum_exp;
use crate::oos::OutOfSample;
use crate::solver::least_squares::LeastSquares;
use crate::solver::problem::WeightProblem;
use crate::solver::simplex::{JointScore, LogScore};
use crate::task::{Classification, Density, Joint, Regression, Task};

/// A task whose members can be pooled linearly by weights.
pub trait Weighable: Task {
    /// The problem of finding the weights.
    type Problem: WeightProblem;
    /// Whether it may have several maxima, so that a solution is judged by the conditions of one.
    const SEVERAL_MAXIMA: bool = false;

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

/// LMG: the log score of p(true class | x) under a mixture of joint probabilities [CerquidesMantaras2005 section 3.2].
impl Weighable for Joint {
    type Problem = JointScore;
    const SEVERAL_MAXIMA: bool = true;

    fn problem(oos: &OutOfSample<Self>) -> Result<JointScore> {
        let rows = |m: usize| oos.column(m).chunks_exact(oos.width()).enumerate();
        let own = |m: usize| rows(m).map(|(i, row)| row[oos.target().class(i)]).collect();
        let all = |m: usize| rows(m).map(|(_, row)| log_sum_exp(row)).collect();
        let members = 0..oos.members().len();
        let problem =
            JointScore::from_log(members.clone().map(own).collect(), members.map(all).collect())?;
        match oos.weights() {
            Some(weights) => problem.weighted(weights),
            None => Ok(problem),
        }
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
