//! The combination of members that were fitted block by block: chosen on the sample, found from all rows where it can be, and held against
//! its best member and equal weights on all rows.

use std::cell::{Cell, RefCell};

use super::judged::{Judged, compared};
use super::predicted::{Predicted, Predictors};
use super::weights::{Streamable, judged_weights, weights_of};
use crate::catalogue::Catalogue;
use crate::combine::{Combination, Combiner, FoundWeights, LinearPool, Method};
use crate::ensemble::{Check, Compared, MoreRows, Stack};
use crate::error::Result;
use crate::learner::{Fitted, Sample};
use crate::oos::OutOfSample;
use crate::plan::Plan;
use crate::recipe::fit::Stacked;
use crate::recipe::{CheckPolicy, Recipe, SampleReport};
use crate::run::Run;
use crate::solver::Solution;

/// The rows of the sample.
pub(super) struct OfSample<'a, T: Streamable> {
    pub(super) sample: Sample<'a, T>,
    /// The fold in which each was held out.
    pub(super) folds: &'a [usize],
    /// How many rows the table has, and the range of its target if that is a number.
    pub(super) all: usize,
    pub(super) range: (f64, f64),
}

/// Models for new rows, by the names of their members.
type Models<T> = Vec<(String, Box<dyn Fitted<T>>)>;

/// What all rows say of a combination.
struct AllRows<'a, T: Streamable> {
    predictors: &'a Predictors<'a, T>,
    predicted: &'a Predicted,
    folds: usize,
    /// Whether the matrix in memory has all rows, too.
    is_whole: bool,
    /// Weights found, and how they do.
    found: RefCell<Option<(Solution, Judged)>>,
    /// Whether the combination comes from all rows, and whether the decision to keep it does.
    is_refined: Cell<bool>,
    is_compared: Cell<bool>,
    run: &'a Run,
}

impl<T: Streamable> MoreRows<T> for AllRows<'_, T> {
    fn refined(&self, combination: &dyn Combination<T>) -> Result<Option<Box<dyn Combination<T>>>> {
        let Some(FoundWeights { options, solution }) = combination.found() else {
            let refined = self.predictors.refine(combination)?;
            self.is_refined.set(refined.is_some());
            return Ok(refined);
        };
        let found = judged_weights::<T>(&self.predicted.all, &solution.weights, options, self.run)?;
        let Some((solution, judged)) = found else { return Ok(None) };
        self.found.replace(Some((solution.clone(), judged)));
        self.is_refined.set(true);
        let options = options.clone();
        Ok(Some(Box::new(LinearPool::searched(FoundWeights { options, solution }))))
    }

    /// EM takes hundreds of passes, which are not made once more for each fold.
    fn compared(&self, combination: &dyn Combination<T>) -> Result<Option<Compared>> {
        let found = combination.found().filter(|found| found.options.method != Method::Em);
        let (Some(FoundWeights { options, solution }), false) = (found, self.is_whole) else {
            return Ok(None);
        };
        let all = &self.predicted.all;
        let without = |fold| {
            weights_of::<T>(all.without(fold), &solution.weights, options, self.run)
                .map(|found| found.map(|found| found.weights))
        };
        let of_folds: Option<Vec<Vec<f64>>> =
            (0..self.folds).map(without).collect::<Result<_>>()?;
        let Some(of_folds) = of_folds else { return Ok(None) };
        self.is_compared.set(true);
        compared::<T>(all, &of_folds, self.run).map(Some)
    }
}

impl Recipe {
    /// The stack of members that were fitted block by block, from what they said of rows they had not seen.
    pub(super) fn combined<T: Streamable>(
        &self,
        catalogue: &Catalogue,
        of_sample: &OfSample<'_, T>,
        (predictors, predicted): &(Predictors<'_, T>, Predicted),
        models: Models<T>,
        mut notes: Vec<String>,
    ) -> Result<Stacked<T>> {
        let (sample, run) = (of_sample.sample, predictors.run);
        let plan = Plan::from_folds(of_sample.folds)?;
        let folds = plan.splits().len();
        let specs = self.combiner_specs::<T>(sample.x());
        let combiners: Vec<Box<dyn Combiner<T>>> =
            specs.iter().map(|spec| catalogue.combiner(spec)).collect::<Result<_>>()?;
        let stack = self
            .configured(Stack::choosing(combiners), sample.rows(), &plan)
            .over_range(of_sample.range);
        // Pairs of folds would be fitted again: the matrix is what there is.
        let stack =
            if self.check == CheckPolicy::None { stack } else { stack.check(Check::Matrix) };
        if self.check == CheckPolicy::Nested {
            notes.push("read block by block the stack is checked on its matrix: a nested check would fit all members again for each pair of folds".into());
        }
        let is_whole = sample.rows() == of_sample.all;
        let all = AllRows {
            predictors,
            predicted,
            folds,
            is_whole,
            found: RefCell::new(None),
            is_refined: Cell::new(false),
            is_compared: Cell::new(false),
            run,
        };
        let weights = sample.weights().map(<[f64]>::to_vec);
        let target = predictors.target.clone();
        let matrix = OutOfSample::from_columns(predicted.of_sample.clone(), target, weights)?;
        let ensemble =
            stack.combine_fitted(&sample, &plan, matrix, models, &all, &run.stream("stack"))?;
        let mut sampled = None;
        if !is_whole {
            let told = Told {
                is_refined: all.is_refined.get(),
                is_judged: all.found.borrow().is_some(),
                is_compared: all.is_compared.get(),
                is_checked: ensemble.assessment().is_some(),
                is_chosen: specs.len() > 1,
                has_intervals: ensemble.interval_report().is_some(),
                is_calibrated: self.calibration.is_some(),
            };
            let words = told.note(sample.rows());
            notes.push(words.clone());
            let check = told.is_checked && !told.is_compared;
            let (rows, scores) = (sample.rows(), !told.is_judged);
            sampled = Some(SampleReport { rows, scores, check, told: words });
        }
        let (plan, combiner) = (Some(plan), specs[0].kind.clone());
        let (failures, of_all) = (Vec::new(), all.found.into_inner());
        Ok(Stacked { ensemble, plan, folds, combiner, failures, notes, of_all, sampled })
    }
}

/// What the report tells from all rows and what from the sample.
#[expect(clippy::struct_excessive_bools, reason = "each is a part of the report")]
struct Told {
    /// The combination.
    is_refined: bool,
    /// Weights, with the scores that follow.
    is_judged: bool,
    /// The decision what is kept.
    is_compared: bool,
    is_checked: bool,
    /// Whether there were several combiners.
    is_chosen: bool,
    has_intervals: bool,
    is_calibrated: bool,
}

impl Told {
    fn note(&self, sampled: usize) -> String {
        let of_all = [
            ("the weights", self.is_judged),
            ("the powers of the pool", self.is_refined && !self.is_judged),
            ("scores and gains of stack and members", self.is_judged),
            ("the decision what is kept", self.is_checked && self.is_compared),
        ];
        let of_sample = [
            ("the combination", !self.is_refined),
            ("the choice among the combiners", self.is_chosen),
            ("scores and gains", !self.is_judged),
            ("the decision what is kept", self.is_checked && !self.is_compared),
            (
                "errors and intervals of the weights, narrowed to the number of all rows",
                self.is_judged,
            ),
            ("losses without a member", self.is_judged),
            ("figures and pictures", true),
            ("intervals of predictions", self.has_intervals),
            ("the calibration", self.is_calibrated),
        ];
        let mut words = Vec::new();
        let told = listed(&of_all);
        if !told.is_empty() {
            words.push(format!("from all rows come {told}"));
        }
        words.push(format!("from a sample of {sampled} rows come {}", listed(&of_sample)));
        words.join("; ")
    }
}

/// Those that are, as a sentence lists them.
fn listed(parts: &[(&str, bool)]) -> String {
    let told: Vec<&str> = parts.iter().filter(|part| part.1).map(|part| part.0).collect();
    match told.split_last() {
        Some((last, [])) => (*last).to_string(),
        Some((last, others)) => format!("{}, and {last}", others.join(", ")),
        None => String::new(),
    }
}
