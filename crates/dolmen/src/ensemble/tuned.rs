//! Choosing: a learner that picks, inside whatever rows it is given, the member that an inner cross-validation finds best.
//!
//! In a stack the choice is made afresh in every fold, from that fold's training rows alone: the "trainable" models of
//! [Himmetoglu2019, section 4].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assess::best_member;
use crate::error::{Error, Result};
use crate::learner::{Fitted, Learner, MOST_FOLDS, Sample, fit_members};
use crate::oos::{self, OnFailure};
use crate::run::Run;
use crate::spec::Spec;
use crate::task::Task;

/// The best of several members by inner folds, fitted on all rows.
#[derive(Debug)]
pub struct Tuned<T: Task> {
    candidates: Vec<Box<dyn Learner<T>>>,
    folds: Folds,
    name: Option<String>,
}

/// Inner folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Folds {
    /// Inner folds by which the best is found, 2 to 10 000.
    #[schemars(range(min = 2, max = MOST_FOLDS))]
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
        Ok(Self { candidates, folds: Folds::default(), name: None })
    }

    /// With another number of folds.
    #[must_use]
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = Folds { folds };
        self
    }

    /// With its own name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl<T: Task> Learner<T> for Tuned<T> {
    fn members(&self) -> Vec<String> {
        let named = self.name.clone();
        vec![named.unwrap_or_else(|| {
            let members = self.candidates.iter().flat_map(|learner| learner.members());
            let names: Vec<_> = members.map(|name| Spec::nested(&name)).collect();
            Spec::around("tuned", &self.folds, "of", names).to_string()
        })]
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
            if learner.members().contains(best) {
                let fitted = fit_members(*learner, std::slice::from_ref(best), sample, stream);
                return fitted.into_iter().map(|(_, model)| model).collect();
            }
        }
        Err(oos::none_left(matrix.failures()))
    }
}
