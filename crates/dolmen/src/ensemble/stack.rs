//! Stacking: fit unlike learners, keep what each said about rows it had not seen, learn how to combine them. What a stack is
//! made of; the way to the fitted ensemble is in `fit`.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CalibrationKind, IntervalKind};
use crate::combine::{Combiner, Weighable, Weights};
use crate::error::Result;
use crate::learner::{Fitted, Learner, Sample};
use crate::oos::{OnFailure, OutOfSample};
use crate::plan::PlanSpec;
use crate::run::Run;
use crate::task::Task;

/// A stack of learners and how they are combined. A stack is a learner itself, so stacks nest.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Stack<T: Task> {
    pub(super) name: String,
    pub(super) learners: Vec<Box<dyn Learner<T>>>,
    pub(super) combiners: Vec<Box<dyn Combiner<T>>>,
    pub(super) plan: Option<PlanSpec>,
    pub(super) folds: usize,
    pub(super) on_failure: OnFailure,
    pub(super) check: Check,
    pub(super) ending: Ending,
    pub(super) calibration: Option<CalibrationKind>,
    pub(super) intervals: IntervalKind,
    pub(super) replace: bool,
    pub(super) reused: Option<OutOfSample<T>>,
    pub(super) keep_all: bool,
    pub(super) until: Option<(Instant, Vec<usize>)>,
    pub(super) limited: bool,
    pub(super) measures: bool,
    pub(super) margin: Option<f64>,
    pub(super) range: Option<(f64, f64)>,
    pub(super) reach: Option<f64>,
    pub(super) doubt: Option<f64>,
}

/// How the candidates are tried, and how well the stack is known to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Only where there is something to choose or to calibrate, and then as [`Check::Matrix`].
    #[default]
    AsNeeded,
    /// On folds over the rows of the out-of-sample matrix: no further fits, a little flattering. In order of time the combiner
    /// is learned from the earlier blocks and tried on the next, which does not flatter.
    Matrix,
    /// On pairs of folds held out from members and combiner alike: V(V-1)/2 further fits per member. A plan that is no
    /// partition of the rows has no such pairs and is checked as by [`Check::Matrix`], which for time-ordered plans holds out
    /// as much.
    Nested,
}

/// What members predict new rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every member fitted once more, on all rows [SmythWolpert1999 section 2.3 step 4].
    #[default]
    Refit,
    /// The average of every member's fits on the folds (Himmetoglu2019).
    Average,
}

/// Folds of a stack if nothing else is asked for [SmythWolpert1999 section 2.3].
const FOLDS: usize = 10;

impl<T: Weighable> Default for Stack<T> {
    /// A stack without members, with exact weights.
    fn default() -> Self {
        Self::new(Weights::default())
    }
}

impl<T: Task> Stack<T> {
    /// A stack without members.
    pub fn new(combiner: impl Combiner<T> + 'static) -> Self {
        Self::choosing(vec![Box::new(combiner)])
    }

    /// A stack without members that chooses among combiners by trying them.
    pub fn choosing(combiners: Vec<Box<dyn Combiner<T>>>) -> Self {
        Self {
            name: "stack".into(),
            learners: Vec::new(),
            combiners,
            plan: None,
            folds: FOLDS,
            on_failure: OnFailure::Stop,
            check: Check::AsNeeded,
            ending: Ending::Refit,
            calibration: None,
            intervals: IntervalKind::Constant,
            replace: false,
            reused: None,
            keep_all: false,
            until: None,
            limited: false,
            measures: false,
            margin: None,
            range: None,
            reach: None,
            doubt: None,
        }
    }

    /// With one more learner.
    #[must_use]
    pub fn member(mut self, learner: impl Learner<T> + 'static) -> Self {
        self.learners.push(Box::new(learner));
        self
    }

    /// With further learners.
    #[must_use]
    pub fn members(mut self, learners: impl IntoIterator<Item = Box<dyn Learner<T>>>) -> Self {
        self.learners.extend(learners);
        self
    }

    /// With its own name, for stacks inside stacks.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// With another number of folds than ten, stratified by class where there are classes.
    #[must_use]
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// With a plan of another kind for the out-of-sample matrix.
    #[must_use]
    pub fn plan(mut self, plan: PlanSpec) -> Self {
        self.plan = Some(plan);
        self
    }

    /// What to do when a member cannot be fitted in some split.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// How candidates are tried and the stack is checked.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.check = check;
        self
    }

    /// What members predict new rows.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// With calibrated class probabilities.
    #[must_use]
    pub fn calibrated(mut self, kind: CalibrationKind) -> Self {
        self.calibration = Some(kind);
        self
    }

    /// With prediction intervals of another kind (numbers). Local ones are learned from the check, which is then made.
    #[must_use]
    pub fn intervals(mut self, kind: IntervalKind) -> Self {
        self.intervals = kind;
        self
    }

    /// Whether the best member takes the stack's place if the check does not find the stack better. Then equal weights are a
    /// candidate too, beside the combiners asked for.
    #[must_use]
    pub fn replaced_if_not_better(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// With the matrix of an earlier fit of the same data by the same plan, which the fit refuses if it is of others: members
    /// whose names it holds keep their columns, and only the others are fitted fold by fold. Columns of members that are not
    /// in the stack are left out. With a [nested check](Check::Nested) the columns without two folds are kept, too.
    #[must_use]
    pub fn reusing(mut self, matrix: OutOfSample<T>) -> Self {
        self.reused = Some(matrix);
        self
    }

    /// Whether members without weight are fitted on all rows and kept, too; else only those that have weight.
    #[must_use]
    pub fn keep_all(mut self, keep_all: bool) -> Self {
        self.keep_all = keep_all;
        self
    }

    /// With an end: learners are asked one after another, in this order of their places, and those that would not be done by
    /// then are left out; time is kept to fit the others on all rows. With time enough the fit is the same as without an end.
    /// If none is done in time the fit is cancelled.
    #[must_use]
    pub fn until(mut self, end: Instant, order: Vec<usize>) -> Self {
        self.until = Some((end, order));
        self
    }

    /// Says that its combiners keep within a limit ([`Limited`](crate::combine::Limited)): equal weights of all members are no
    /// candidate then. With `measures` members are fitted on all rows before they are combined, and how long each takes to
    /// predict a row is part of the matrix.
    #[must_use]
    pub fn within_limits(mut self, measures: bool) -> Self {
        (self.limited, self.measures) = (true, measures);
        self
    }

    /// With a bound on what it says of numbers: the range of those it has learned from, and this margin on both sides in widths of
    /// the range.
    #[must_use]
    pub fn within_margin(mut self, margin: f64) -> Self {
        self.margin = Some(margin);
        self
    }

    /// With inputs held: members are asked about columns of numbers within the range learned from, and so many widths of it on both sides;
    /// what lies beyond is moved there.
    #[must_use]
    pub fn within_reach(mut self, widths: f64) -> Self {
        self.reach = Some(widths);
        self
    }

    /// With a share of the class frequencies mixed into its probabilities, in the check, too, so that none is 0.
    #[must_use]
    pub fn doubting(mut self, share: f64) -> Self {
        self.doubt = Some(share);
        self
    }

    /// With the range of the numbers that its members have learned from, where that is not the range of the sample.
    pub(crate) fn over_range(mut self, range: (f64, f64)) -> Self {
        self.range = Some(range);
        self
    }

    /// Its learners.
    pub fn learners(&self) -> &[Box<dyn Learner<T>>] {
        &self.learners
    }
}

impl<T: Task> Learner<T> for Stack<T> {
    fn members(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        Ok(vec![Box::new(self.fit_ensemble(sample, run)?)])
    }
}
