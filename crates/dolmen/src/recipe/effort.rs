//! How much work and time a fit may take, and what its model may cost.

use std::time::Instant;

use super::fit::Stacked;
use super::{CheckPolicy, Effort, Recipe};
use crate::catalogue::{Catalogue, Catalogued};
use crate::combine::Limited;
use crate::ensemble::{Ending, Stack};
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::plan::Plan;
use crate::run::Run;
use crate::spec::Spec;
use crate::task::Task;

/// Folds if the recipe names none: with a target, and for densities [SmythWolpert1999 section 2.3].
const USUAL_FOLDS: (usize, usize) = (5, 10);
/// The same for the best effort: with a target members then learn from nearly as many rows as the final ones.
const BEST_FOLDS: (usize, usize) = (8, 10);
/// Rows up to which a check is nested unless something else is asked for: usually, and with the best effort.
const NESTED_ROWS: (usize, usize) = (5000, 10_000);

impl Recipe {
    /// How many folds there are where nobody says, if rows and groups suffice.
    pub(super) fn usual_folds<T: Task>(&self) -> usize {
        let folds = if self.effort == Effort::Best { BEST_FOLDS } else { USUAL_FOLDS };
        if T::HAS_TARGET { folds.0 } else { folds.1 }
    }

    /// Rows up to which [`CheckPolicy::Auto`] is nested.
    pub(super) fn most_nested_rows(&self) -> usize {
        if self.effort == Effort::Best { NESTED_ROWS.1 } else { NESTED_ROWS.0 }
    }

    /// The combiner that keeps within the recipe's limits, if it has any.
    pub(super) fn limited_combiner(&self) -> Result<Option<Limited>> {
        let limited = Limited {
            members: self.max_members,
            seconds: self.predict_under.map(|span| span.duration().as_secs_f64()),
        };
        if limited == Limited::default() {
            return Ok(None);
        }
        let name = if self.max_members.is_some() { "max_members" } else { "predict_under" };
        if self.max_members == Some(0) {
            return Err(Error::param(name, "at least 1", 0));
        }
        if let Some(combiner) = self.combiners.first() {
            let expected =
                "given without a combiner: the best weights within the limit are looked for";
            return Err(Error::param(name, expected, format!("with {combiner}")));
        }
        if self.predict_under.is_some() && self.ending == Ending::Average {
            let expected = "given for members that are fitted again on all rows";
            return Err(Error::param(name, expected, "with averages of their fits on the folds"));
        }
        Ok(Some(limited))
    }

    /// A stack that knows whether its combiners keep within limits. The best member may be too slow to take its place.
    pub(super) fn within_limits<T: Task>(&self, stack: Stack<T>) -> Stack<T> {
        match (self.max_members, self.predict_under) {
            (None, None) => stack,
            (_, None) => stack.within_limits(false),
            (_, Some(_)) => stack.replaced_if_not_better(false).within_limits(true),
        }
    }

    /// A stack that ends in time, counted from the beginning. Members that the user has named are asked in his order.
    pub(super) fn timed<T: Catalogued>(&self, stack: Stack<T>, begun: Instant) -> Stack<T> {
        let Some(budget) = self.budget else { return stack };
        let place = |kind: &str| {
            T::BY_USE.iter().position(|other| *other == kind).unwrap_or(T::BY_USE.len())
        };
        let use_of = |l: usize| {
            let members = stack.learners()[l].members();
            let kind = members.first().and_then(|name| Spec::parse(name).ok());
            kind.map_or(T::BY_USE.len(), |spec| place(&spec.kind))
        };
        let mut order: Vec<usize> = (0..stack.learners().len()).collect();
        if self.members.is_empty() {
            order.sort_by_key(|&l| use_of(l));
        }
        stack.until(begun + budget.duration(), order)
    }

    /// What there is when not even the first member was done in time: the member that knows least.
    pub(super) fn out_of_time<T: Catalogued>(
        catalogue: &Catalogue,
        sample: &Sample<'_, T>,
        plan: &Plan,
        mut notes: Vec<String>,
        run: &Run,
    ) -> Result<Stacked<T>> {
        let baseline = T::baseline();
        let simple = Self {
            members: vec![baseline.clone()],
            combiners: Vec::new(),
            check: CheckPolicy::None,
            calibration: None,
            ..Self::default()
        };
        let stack = Stack::choosing(vec![catalogue.combiner(&Spec::parse("simplex")?)?])
            .members(simple.learners(catalogue, sample)?);
        let ensemble = stack.fit_on(sample, plan, &run.stream("stack"))?;
        notes.push(format!(
            "no time for any of the members: the model is '{baseline}', which knows next to nothing"
        ));
        // Without a plan nothing is explained: the inputs do not matter to it.
        let (plan, folds, combiner) = (None, plan.splits().len(), "simplex".into());
        let failures = Vec::new();
        Ok(Stacked {
            ensemble,
            plan,
            folds,
            combiner,
            failures,
            notes,
            of_all: None,
            sampled: None,
        })
    }
}
