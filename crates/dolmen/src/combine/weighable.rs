//! Which problem of finding weights a task's out-of-sample matrix poses.

use super::least_squares::LeastSquares;
use super::problem::WeightProblem;
use super::simplex::LogScore;
use crate::error::{Error, Result};
use crate::oos::OutOfSample;
use crate::task::{Classification, Density, Regression, Task};

/// A task whose members can be pooled linearly by weights.
pub trait Weighable: Task {
    /// The problem of finding the weights.
    type Problem: WeightProblem;

    /// Poses the problem. For classes it is LMD: the log score of p(true class) [CerquidesMantaras2005 section 3.1].
    fn problem(oos: &OutOfSample<Self>) -> Result<Self::Problem>;

    /// The problem with a Dirichlet prior on the weights: every exponent `a`, at least 1.
    fn with_prior(problem: Self::Problem, a: f64) -> Result<Self::Problem>;

    /// The problem as one of log scores, for the methods that need them.
    fn log_score(problem: &Self::Problem) -> Option<&LogScore>;

    /// The problem as one of squared errors, for the methods that need them.
    fn least_squares(problem: &Self::Problem) -> Option<&LeastSquares>;
}

impl Weighable for Density {
    type Problem = LogScore;

    fn problem(oos: &OutOfSample<Self>) -> Result<LogScore> {
        let columns = (0..oos.members().len()).map(|m| oos.column(m).to_vec()).collect();
        with_weights(LogScore::from_log(columns)?, oos.weights())
    }

    fn with_prior(problem: LogScore, a: f64) -> Result<LogScore> {
        let members = problem.members();
        problem.with_prior(&vec![a; members])
    }

    fn log_score(problem: &LogScore) -> Option<&LogScore> {
        Some(problem)
    }

    fn least_squares(_problem: &LogScore) -> Option<&LeastSquares> {
        None
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

    fn with_prior(problem: LogScore, a: f64) -> Result<LogScore> {
        let members = problem.members();
        problem.with_prior(&vec![a; members])
    }

    fn log_score(problem: &LogScore) -> Option<&LogScore> {
        Some(problem)
    }

    fn least_squares(_problem: &LogScore) -> Option<&LeastSquares> {
        None
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

    fn with_prior(problem: LeastSquares, a: f64) -> Result<LeastSquares> {
        if a == 1.0 {
            return Ok(problem);
        }
        Err(Error::param("prior", "1 for numbers: a Dirichlet prior belongs to log scores", a))
    }

    fn log_score(_problem: &LeastSquares) -> Option<&LogScore> {
        None
    }

    fn least_squares(problem: &LeastSquares) -> Option<&LeastSquares> {
        Some(problem)
    }
}

fn with_weights(problem: LogScore, weights: Option<&[f64]>) -> Result<LogScore> {
    match weights {
        Some(weights) => problem.weighted(weights),
        None => Ok(problem),
    }
}
