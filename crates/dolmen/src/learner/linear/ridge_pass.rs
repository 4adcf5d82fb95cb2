//! Ridge regression in passes: one for the normal equations, and one for the errors of the penalties if one is to be chosen.

use serde::{Deserialize, Serialize};

use super::normal_equations::{NormalEquations, anchor};
use super::ridge::{FittedRidge, Ridge, column_names, no_rows, penalties};
use super::spectrum::{Errors, Solutions};
use crate::error::Result;
use crate::learner::Simple;
use crate::learner::chosen::Chosen;
use crate::learner::pass::{Pass, Piece, Step};
use crate::learner::scales::{Ranges, require_finite, require_numbers_at};
use crate::stats::Accumulator;
use crate::table::Rows;
use crate::task::Regression;

/// A ridge regression on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RidgePass {
    ridge: Ridge,
    columns: Vec<String>,
    stage: Stage,
}

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Equations,
    Errors { solutions: Box<Solutions>, lambdas: Vec<f64> },
}

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RidgeSums(Sums);

#[derive(Debug, Serialize, Deserialize)]
enum Sums {
    /// The equations; none without rows.
    Equations(Ranges, Option<Box<NormalEquations>>),
    Errors(Errors),
}

impl RidgePass {
    /// A fit to rows of these columns.
    pub(super) fn new(ridge: &Ridge, x: Rows<'_>) -> Result<Self> {
        ridge.lambda.validate()?;
        Ok(Self { ridge: ridge.clone(), columns: column_names(x), stage: Stage::Equations })
    }
}

impl Pass<Regression> for RidgePass {
    const KIND: &'static str = "ridge";
    type Sums = RidgeSums;
    type Model = Simple<FittedRidge>;

    fn zero(&self) -> RidgeSums {
        RidgeSums(match &self.stage {
            Stage::Equations => Sums::Equations(Ranges::none(self.columns.len()), None),
            Stage::Errors { lambdas, .. } => Sums::Errors(Errors(vec![0.0; lambdas.len()])),
        })
    }

    fn add(&self, sums: &mut RidgeSums, piece: &Piece<'_, Regression>) -> Result<()> {
        let sample = &piece.sample;
        let mut list = Vec::new();
        let rows = Chosen::of(sample.rows(), |i| sample.weight(i) > 0.0, &mut list)?;
        let found = match &self.stage {
            Stage::Equations => {
                require_numbers_at(sample.x(), |i| piece.number(i))?;
                require_finite(sample.target(), |i| piece.number(i))?;
                let sum = || NormalEquations::over(sample, rows, &anchor(sample, rows));
                let equations = (rows.len() > 0).then(|| Box::new(sum()));
                Sums::Equations(Ranges::of(sample.x()), equations)
            }
            Stage::Errors { solutions, lambdas } => {
                Sums::Errors(solutions.squared_errors(sample, rows, lambdas))
            }
        };
        self.merge(sums, RidgeSums(found));
        Ok(())
    }

    fn merge(&self, RidgeSums(sums): &mut RidgeSums, RidgeSums(later): RidgeSums) {
        match (sums, later) {
            (Sums::Equations(ranges, equations), Sums::Equations(more, later)) => {
                ranges.merge(more);
                match (equations.as_mut(), later) {
                    (Some(equations), Some(later)) => equations.merge(*later),
                    (None, later) => *equations = later,
                    (Some(_), None) => {}
                }
            }
            (Sums::Errors(errors), Sums::Errors(later)) => errors.merge(later),
            _ => {}
        }
    }

    fn next(mut self, RidgeSums(sums): RidgeSums) -> Result<Step<Self, Simple<FittedRidge>>> {
        match (&self.stage, sums) {
            (Stage::Equations, Sums::Equations(ranges, equations)) => {
                ranges.require_moderate(self.columns.iter().map(String::as_str))?;
                let equations = equations.ok_or_else(no_rows)?;
                let solutions = Solutions::of_equations(&equations, self.ridge.standardise)?;
                if let Some(lambdas) = self.ridge.lambda.given() {
                    let model = |&lambda: &f64| {
                        FittedRidge::new(&solutions, lambda, &self.columns).map(Simple)
                    };
                    return Ok(Step::Done(lambdas.iter().map(model).collect::<Result<_>>()?));
                }
                let lambdas = penalties(&solutions);
                self.stage = Stage::Errors { solutions: Box::new(solutions), lambdas };
                Ok(Step::Again(self))
            }
            (Stage::Errors { solutions, lambdas }, Sums::Errors(errors)) => {
                let errors = solutions.mean_errors(errors);
                let model =
                    FittedRidge::of_least_error(solutions, lambdas, &errors, &self.columns)?;
                Ok(Step::Done(vec![Simple(model)]))
            }
            _ => Ok(Step::Again(self)),
        }
    }
}
