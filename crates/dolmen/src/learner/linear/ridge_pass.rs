//! Ridge regression in passes: one for the normal equations, and one for the errors of the penalties if one is to be chosen.
//!
//! Rows of groups are not left out one by one, because the rest of their group would tell of them: the equations of each of some folds are
//! summed apart, and what a fold is predicted by are the sums of the others.

use serde::{Deserialize, Serialize};

use super::normal_equations::{NormalEquations, anchor};
use super::ridge::{
    FittedRidge, Line, Ridge, column_names, group_lot, no_rows, penalties, usual_spread,
};
use super::spectrum::{Errors, Solutions};
use crate::error::Result;
use crate::learner::Sample;
use crate::learner::Simple;
use crate::learner::chosen::{Chosen, listed};
use crate::learner::pass::{Pass, Piece, Step};
use crate::learner::scales::{Ranges, require_finite, require_numbers_at};
use crate::plan::Lot;
use crate::run::Run;
use crate::stats::Accumulator;
use crate::table::Rows;
use crate::task::Regression;

/// A ridge regression on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RidgePass {
    ridge: Ridge,
    columns: Vec<String>,
    /// What draws the fold of a group.
    lot: Lot,
    stage: Stage,
}

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Equations,
    Errors {
        solutions: Box<Solutions>,
        lambdas: Vec<f64>,
    },
    /// For each fold of groups, what the others say by each penalty; nothing of one without rows.
    FoldErrors {
        solutions: Box<Solutions>,
        lambdas: Vec<f64>,
        folds: Vec<Vec<Line>>,
    },
}

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RidgeSums(Sums);

#[derive(Debug, Serialize, Deserialize)]
enum Sums {
    /// The equations: of all rows, or of each fold of groups; none without rows.
    Equations(Ranges, Vec<Option<Box<NormalEquations>>>),
    Errors(Errors),
}

impl RidgePass {
    /// A fit to rows of these columns.
    pub(super) fn new(ridge: &Ridge, x: Rows<'_>, run: &Run) -> Result<Self> {
        ridge.lambda.validate()?;
        let (columns, lot) = (column_names(x), group_lot(x.width(), run));
        Ok(Self { ridge: ridge.clone(), columns, lot, stage: Stage::Equations })
    }

    /// The rows of each fold of groups.
    fn parts(&self, sample: &Sample<'_, Regression>, rows: Chosen<'_>) -> Result<Vec<Vec<u32>>> {
        let mut parts = vec![Vec::new(); self.lot.folds()];
        for row in listed(rows.iter())? {
            parts[self.lot.fold(sample.keys().lot(row as usize))].push(row);
        }
        Ok(parts)
    }

    /// The equations of some rows, about a point of their own.
    fn equations(
        sample: &Sample<'_, Regression>,
        rows: Chosen<'_>,
    ) -> Option<Box<NormalEquations>> {
        let sum = || NormalEquations::over(sample, rows, &anchor(sample, rows));
        (rows.len() > 0).then(|| Box::new(sum()))
    }

    /// What follows once the equations are known.
    fn solved(
        mut self,
        parts: &[Option<Box<NormalEquations>>],
    ) -> Result<Step<Self, Simple<FittedRidge>>> {
        let all = merged(parts.iter().flatten()).ok_or_else(no_rows)?;
        let solutions = Solutions::of_equations(&all, self.ridge.standardise)?;
        if let Some(lambdas) = self.ridge.lambda.given() {
            let model =
                |&lambda: &f64| FittedRidge::new(&solutions, lambda, &self.columns).map(Simple);
            return Ok(Step::Done(lambdas.iter().map(model).collect::<Result<_>>()?));
        }
        let lambdas = penalties(&solutions);
        let solutions = Box::new(solutions);
        if parts.len() == 1 {
            self.stage = Stage::Errors { solutions, lambdas };
            return Ok(Step::Again(self));
        }
        if parts.iter().flatten().count() < 2 {
            let lambda = usual_spread(&solutions);
            let model = FittedRidge::new(&solutions, lambda, &self.columns)?;
            return Ok(Step::Done(vec![Simple(model)]));
        }
        let fold = |(fold, own): (usize, &Option<Box<NormalEquations>>)| {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != fold);
            match merged(others.filter_map(|(_, part)| part.as_ref()).filter(|_| own.is_some())) {
                None => Ok(Vec::new()),
                Some(equations) => {
                    let others = Solutions::of_equations(&equations, self.ridge.standardise)?;
                    Ok(Line::of_all(&others, &lambdas))
                }
            }
        };
        let folds = parts.iter().enumerate().map(fold).collect::<Result<_>>()?;
        self.stage = Stage::FoldErrors { solutions, lambdas, folds };
        Ok(Step::Again(self))
    }
}

/// The sums over all of these.
fn merged<'a>(
    parts: impl Iterator<Item = &'a Box<NormalEquations>>,
) -> Option<Box<NormalEquations>> {
    let mut total: Option<Box<NormalEquations>> = None;
    for part in parts {
        match &mut total {
            None => total = Some(part.clone()),
            Some(total) => total.merge(NormalEquations::clone(part)),
        }
    }
    total
}

impl Pass<Regression> for RidgePass {
    const KIND: &'static str = "ridge";
    type Sums = RidgeSums;
    type Model = Simple<FittedRidge>;

    fn zero(&self) -> RidgeSums {
        RidgeSums(match &self.stage {
            Stage::Equations => Sums::Equations(Ranges::none(self.columns.len()), Vec::new()),
            Stage::Errors { lambdas, .. } | Stage::FoldErrors { lambdas, .. } => {
                Sums::Errors(Errors(vec![0.0; lambdas.len()]))
            }
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
                let of_all = sample.groups().is_none() || self.ridge.lambda.given().is_some();
                let equations = if of_all {
                    vec![Self::equations(sample, rows)]
                } else {
                    let parts = self.parts(sample, rows)?;
                    let own = |part: &Vec<u32>| Self::equations(sample, Chosen::These(part));
                    parts.iter().map(own).collect()
                };
                Sums::Equations(Ranges::of(sample.x()), equations)
            }
            Stage::Errors { solutions, lambdas } => {
                Sums::Errors(solutions.squared_errors(sample, rows, lambdas))
            }
            Stage::FoldErrors { lambdas, folds, .. } => {
                let mut errors = Errors(vec![0.0; lambdas.len()]);
                for (lines, part) in folds.iter().zip(self.parts(sample, rows)?) {
                    errors.merge(Line::squared_errors(lines, sample, Chosen::These(&part)));
                }
                Sums::Errors(errors)
            }
        };
        self.merge(sums, RidgeSums(found));
        Ok(())
    }

    fn left(&self) -> usize {
        match self.stage {
            Stage::Equations if self.ridge.lambda.given().is_none() => 2,
            _ => 1,
        }
    }

    fn merge(&self, RidgeSums(sums): &mut RidgeSums, RidgeSums(later): RidgeSums) {
        match (sums, later) {
            (Sums::Equations(ranges, equations), Sums::Equations(more, later)) => {
                ranges.merge(more);
                equations.resize_with(equations.len().max(later.len()), || None);
                for (equations, later) in equations.iter_mut().zip(later) {
                    match (equations.as_mut(), later) {
                        (Some(equations), Some(later)) => equations.merge(*later),
                        (None, later) => *equations = later,
                        (Some(_), None) => {}
                    }
                }
            }
            (Sums::Errors(errors), Sums::Errors(later)) => errors.merge(later),
            _ => {}
        }
    }

    fn next(self, RidgeSums(sums): RidgeSums) -> Result<Step<Self, Simple<FittedRidge>>> {
        match (&self.stage, sums) {
            (Stage::Equations, Sums::Equations(ranges, equations)) => {
                ranges.require_moderate(self.columns.iter().map(String::as_str))?;
                self.solved(&equations)
            }
            (Stage::Errors { solutions, lambdas }, Sums::Errors(errors)) => {
                let errors = solutions.mean_errors(errors);
                let model =
                    FittedRidge::of_least_error(solutions, lambdas, &errors, &self.columns)?;
                Ok(Step::Done(vec![Simple(model)]))
            }
            (Stage::FoldErrors { solutions, lambdas, .. }, Sums::Errors(errors)) => {
                let errors = solutions.mean_errors(errors);
                let model =
                    FittedRidge::of_least_error(solutions, lambdas, &errors, &self.columns)?;
                Ok(Step::Done(vec![Simple(model.chosen_by_folds())]))
            }
            _ => Ok(Step::Again(self)),
        }
    }
}
