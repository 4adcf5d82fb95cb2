//! Choosing: a learner that picks, inside whatever rows it is given, the member that an inner cross-validation finds best.
//!
//! In a stack the choice is made afresh in every fold, from that fold's training rows alone: the "trainable" models of
//! [Himmetoglu2019, section 4].

use serde::{Deserialize, Serialize};

use super::assess::best_member;
use crate::error::{Error, Result};
use crate::learner::{Fitted, Learner, Sample};
use crate::oos::{self, OnFailure};
use crate::run::Run;
use crate::task::Task;

/// The best of several members by inner folds, fitted on all rows.
#[derive(Debug)]
pub struct Tuned<T: Task> {
    candidates: Vec<Box<dyn Learner<T>>>,
    folds: Folds,
}

/// Inner folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Folds {
    /// How many.
    pub folds: usize,
}

impl Default for Folds {
    fn default() -> Self {
        Self { folds: 5 }
    }
}

impl<T: Task> Tuned<T> {
    /// Chooses among the members of these learners, by five folds.
    pub fn among(candidates: Vec<Box<dyn Learner<T>>>) -> Result<Self> {
        if candidates.is_empty() {
            return Err(Error::shape("learners to choose from", 1, 0));
        }
        Ok(Self { candidates, folds: Folds::default() })
    }

    /// With another number of folds.
    #[must_use]
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = Folds { folds };
        self
    }
}

impl<T: Task> Learner<T> for Tuned<T> {
    /// What the candidates have in common: their kind.
    fn members(&self) -> Vec<String> {
        let kind = |name: &String| name.split('(').next().unwrap_or_default().to_string();
        let mut kinds: Vec<String> = self
            .candidates
            .iter()
            .flat_map(|learner| learner.members())
            .map(|n| kind(&n))
            .collect();
        kinds.dedup();
        vec![format!("tuned({})", kinds.join(", "))]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        let plan = sample.folds(self.folds.folds, &run.stream("plan"))?;
        let learners: Vec<&dyn Learner<T>> = self.candidates.iter().map(AsRef::as_ref).collect();
        let quiet = run.silent();
        let matrix =
            oos::collect(&learners, sample, &plan, OnFailure::Drop, &quiet.stream("members"))?;
        let best = &matrix.members()[best_member(&matrix)?];
        let streams = oos::streams(&learners, &quiet.stream("refit"));
        for (learner, stream) in learners.iter().zip(&streams) {
            if let Some(m) = learner.members().iter().position(|name| name == best) {
                let fitted = learner.fit(sample, stream);
                let mut models = fitted.map_err(|source| match source {
                    Error::Cancelled => Error::Cancelled,
                    source => {
                        let member = best.clone();
                        Error::Member { member, split: None, source: Box::new(source) }
                    }
                })?;
                return Ok(vec![models.swap_remove(m)]);
            }
        }
        Err(oos::none_left(matrix.failures()))
    }
}
