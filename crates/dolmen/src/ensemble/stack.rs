//! Stacking: fit unlike learners, keep what each said about rows it had not seen, learn how to combine them.

use crate::combine::{Combiner, Weighable, Weights};
use crate::error::{Error, Result};
use crate::learner::{Fitted, Learner, Run, Sample};
use crate::oos::{self, OnFailure};
use crate::plan::{Plan, PlanSpec, RowKeys};
use crate::task::{Target, Task};

use super::Ensemble;

/// A stack of learners and how they are combined. A stack is a learner itself, so stacks nest.
#[derive(Debug)]
pub struct Stack<T: Task> {
    name: String,
    learners: Vec<Box<dyn Learner<T>>>,
    combiner: Box<dyn Combiner<T>>,
    plan: Option<PlanSpec>,
    on_failure: OnFailure,
}

/// Folds of a stack that is not told otherwise [SmythWolpert1999 section 2.3].
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
        Self {
            name: "stack".into(),
            learners: Vec::new(),
            combiner: Box::new(combiner),
            plan: None,
            on_failure: OnFailure::Stop,
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

    /// With a plan for the out-of-sample matrix; otherwise ten folds, stratified by class.
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

    /// Fits the stack: the out-of-sample matrix, the combination, and every member on all rows.
    pub fn fit_ensemble(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Ensemble<T>> {
        let keys = RowKeys { classes: sample.target().strata(), ..RowKeys::default() };
        let folds = FOLDS.min(sample.rows());
        let spec = self.plan.clone().unwrap_or_else(|| PlanSpec::suited(folds, &keys));
        let plan = spec.build(sample.rows(), &keys, &run.child(0))?;
        self.fit_on(sample, &plan, run)
    }

    /// Fits the stack on a plan made elsewhere (grouped rows, time-ordered rows, folds given by the user).
    pub fn fit_on(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Ensemble<T>> {
        if self.learners.is_empty() {
            return Err(Error::shape("members of the stack", 1, 0));
        }
        let learners: Vec<&dyn Learner<T>> = self.learners.iter().map(AsRef::as_ref).collect();
        let matrix = oos::collect(&learners, sample, plan, self.on_failure, &run.child(1))?;
        let inputs = sample.x().select(matrix.table_rows());
        let combination = self.combiner.fit(&matrix, Some(inputs.rows()), &run.child(2))?;
        let models = self.refit(sample, &matrix, run)?;
        Ensemble::new(models, combination, matrix)
    }

    /// Fits every member that is in the matrix on all rows [SmythWolpert1999 section 2.3 step 4].
    fn refit(
        &self,
        sample: &Sample<'_, T>,
        matrix: &oos::OutOfSample<T>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<T>>>> {
        use rayon::prelude::*;

        let refit = run.child(3);
        let fitted: Vec<Result<Vec<Box<dyn Fitted<T>>>>> = run.install(|| {
            let fit = |(l, learner): (usize, &dyn Learner<T>)| {
                run.check()?;
                if !learner.members().iter().any(|name| matrix.members().contains(name)) {
                    // All its members were dropped: whether it could be fitted no longer matters.
                    return Ok(Vec::new());
                }
                let name = || learner.members().first().cloned().unwrap_or_default();
                learner.fit(sample, &refit.child(l as u64)).map_err(|source| match source {
                    Error::Cancelled => Error::Cancelled,
                    source => {
                        Error::Member { member: name(), split: None, source: Box::new(source) }
                    }
                })
            };
            self.learners.par_iter().map(AsRef::as_ref).enumerate().map(fit).collect()
        });
        let mut kept = Vec::new();
        for (learner, models) in self.learners.iter().zip(fitted) {
            let named = learner.members().into_iter().zip(models?);
            let in_matrix = named.filter(|(name, _)| matrix.members().contains(name));
            kept.extend(in_matrix.map(|(_, model)| model));
        }
        Ok(kept)
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
