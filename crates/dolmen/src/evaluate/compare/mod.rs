//! The comparison of ways to combine, by repeated splits [SmythWolpert1999 section 4; CerquidesMantaras2005 section 7.1].
//!
//! Each split sets a test part aside. On the training part every member gives its out-of-sample column and is fitted; then the
//! test part is scored by stacking, by the member that cross-validation chooses, by equal weights, by "cheating" (the
//! member that turns out best on the test part), by further learners that stand beside the stack, and by each member.
//! Splits are random draws, or the folds of repeated cross-validation. Without a stack the members alone are
//! compared, each with each.

mod duel;
mod learning;
mod networks;
mod ranks;
mod sets;
mod spelled;
mod split;
mod summary;

use std::borrow::Cow;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

pub use duel::{Duel, Outcome, Tally, tally};
pub use learning::{LearningCurve, LearningPoint};
pub use networks::{NetworkCell, NetworkResults, NetworkStudy, compare_on_networks};
pub use ranks::{RankedMethod, Ranks};
pub use sets::{SetComparison, SetsComparison};
pub use summary::{Comparison, FigureResult, KeptCounts, MeanWeight, MethodResult};

use crate::ensemble::{Ensemble, Stack};
use crate::error::{Error, Place, Result, within};
use crate::learner::{Learner, Sample};
use crate::plan::{Plan, PlanSpec, Portion, Repeated};
use crate::run::Run;
use crate::task::Task;
use split::SplitResult;

/// How the comparison is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareOptions {
    /// Random splits, or repeats of the outer folds.
    pub repeats: usize,
    /// Rows of each test part of a random split.
    pub test_rows: usize,
    /// Folds of the outer cross-validation, stratified by class and keeping groups together, instead of random splits.
    pub outer_folds: Option<usize>,
    /// Rows of each training part that are learned from, if not all: drawn at random, of rows with times the latest. Those of a smaller
    /// number are among those of a larger one.
    pub train_rows: Option<usize>,
    /// Folds of the out-of-sample matrix on each training part.
    pub folds: usize,
    /// Which methods are compared.
    pub methods: Methods,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            repeats: 50,
            test_rows: 20,
            outer_folds: None,
            train_rows: None,
            folds: 10,
            methods: Methods::default(),
        }
    }
}

/// Which methods are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Methods {
    /// The ways to combine, and the rivals.
    Combined,
    /// These, and each member.
    #[default]
    All,
    /// Each member, without a stack.
    Members,
}

/// A learner that is compared with the stack but is no member of it.
#[derive(Debug)]
pub struct Rival<T: Task> {
    /// The name in the table.
    pub name: String,
    /// The learner; its first member counts.
    pub learner: Box<dyn Learner<T>>,
    /// Whether all other methods are shown relative to this one.
    pub zero_line: bool,
}

/// A stack that takes part in a comparison: how it is made from a training part.
pub trait Contender<T: Task>: Sync {
    /// Its learners; all their members are scored beside it.
    fn learners(&self) -> &[Box<dyn Learner<T>>];

    /// The stack of a training part, with all its members, and by how many splits it was made.
    fn fit(
        &self,
        train: &Sample<'_, T>,
        options: &CompareOptions,
        run: &Run,
    ) -> Result<(Ensemble<T>, usize)>;
}

impl<T: Task> Contender<T> for Stack<T> {
    fn learners(&self) -> &[Box<dyn Learner<T>>] {
        self.learners()
    }

    /// On folds that suit the rows' keys, as many as the options say.
    fn fit(
        &self,
        train: &Sample<'_, T>,
        options: &CompareOptions,
        run: &Run,
    ) -> Result<(Ensemble<T>, usize)> {
        let plan = train.folds(options.folds, &run.stream("plan"))?;
        Ok((self.fit_on(train, &plan, run)?, plan.splits().len()))
    }
}

/// Compares a stack with other ways to use its members on repeated splits, which run in parallel. Rows of one
/// group are never on both sides of a split.
pub fn compare<T: Task>(
    stack: &dyn Contender<T>,
    rivals: &[Rival<T>],
    sample: &Sample<'_, T>,
    options: &CompareOptions,
    run: &Run,
) -> Result<Comparison> {
    let splits = options.splits(sample, run)?;
    run.progress().plan(splits.splits().len() as u64);
    let results: Vec<SplitResult> = run.try_map(splits.splits().len(), |s| {
        run.check()?;
        let split = &splits.splits()[s];
        let stream = run.child(s as u64 + 1);
        let learned_from = split.train(sample.rows());
        let learned_from = options.learned_from(&learned_from, sample, &stream)?;
        let train = sample.select(&*learned_from);
        let test = sample.select(split.test());
        let contest = split::Contest { stack, rivals, options };
        let result = contest
            .hold(&train.borrow(), &test.borrow(), &stream)
            .map_err(|error| too_little_before(error, &train.borrow()))?;
        run.progress().advance(1, "splits");
        Ok(result)
    })?;
    let outer = options.outer_folds.map(|_| splits.splits().len() / options.repeats);
    Ok(summary::summarise::<T>(stack, rivals, &results, sample.rows(), options, outer))
}

/// In order of time the first block has the fewest rows before it, perhaps too few for the plan inside.
fn too_little_before<T: Task>(error: Error, train: &Sample<'_, T>) -> Error {
    if !matches!(error, Error::Param { .. }) || train.times().is_none() {
        return error;
    }
    let rows = train.rows();
    error.with_hint(format!("a block has {rows} rows before it: fewer outer folds leave more"))
}

impl CompareOptions {
    /// The rows of a training part that are learned from.
    fn learned_from<'a, T: Task>(
        &self,
        rows: &'a [usize],
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Cow<'a, [usize]>> {
        let Some(wanted) = self.train_rows else { return Ok(rows.into()) };
        within("size", wanted, 2..=rows.len())?;
        let mut order = rows.to_vec();
        match sample.times() {
            Some(times) => order.sort_by(|&a, &b| times[b].total_cmp(&times[a])),
            None => order.shuffle(&mut run.stream("size").rng()),
        }
        order.truncate(wanted);
        order.sort_unstable();
        Ok(order.into())
    }

    /// The outer splits.
    fn splits<T: Task>(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Plan> {
        if self.repeats == 0 {
            return Err(Error::param("repeats", "at least 1", 0));
        }
        let rows = sample.rows();
        if let Some(folds) = self.outer_folds {
            let keys = sample.keys();
            let folds = PlanSpec::possible_folds(folds, rows, &keys);
            if sample.times().is_some() {
                return PlanSpec::suited(folds, &keys).build(rows, &keys, &run.stream("splits"));
            }
            let of = Box::new(PlanSpec::suited(folds, &keys));
            let spec = PlanSpec::Repeated(Repeated { repeats: self.repeats, of });
            return spec.build(rows, &keys, &run.stream("splits"));
        }
        // Where rows are few there are fewer folds, but no less than two.
        let inner = if self.methods == Methods::Members { 0 } else { self.folds.min(2) };
        if self.test_rows == 0 || self.test_rows + inner >= rows {
            let test = self.test_rows;
            let problem = if inner > 0 {
                format!("{rows} rows cannot give {test} test rows and {inner} folds of the others")
            } else {
                format!("{rows} rows cannot give {test} test rows")
            };
            return Err(Error::data(Place::default(), problem));
        }
        if let Some(groups) = sample.groups() {
            let test = Portion::Rows(self.test_rows);
            return Plan::hold_out_groups(groups, test, self.repeats, &run.stream("splits"));
        }
        let train = Portion::Rows(rows - self.test_rows);
        Plan::subsample(rows, train, self.repeats, &run.stream("splits"))
    }
}
