//! The matrix of learners some of which are known from an earlier matrix.

use super::collect::{Filled, OnFailure, none_left, stop, streams, tolerated};
use super::{OutOfSample, data_fingerprint};
use crate::error::{Error, Place, Result};
use crate::learner::{Failure, Learner, Sample};
use crate::plan::Plan;
use crate::run::Run;
use crate::target::Target;
use crate::task::Task;

/// What fills a matrix: learners, rows, splits, and what is known of them from an earlier matrix.
pub(crate) struct Collector<'a, T: Task> {
    pub(crate) learners: &'a [&'a dyn Learner<T>],
    pub(crate) sample: Sample<'a, T>,
    pub(crate) plan: &'a Plan,
    pub(crate) on_failure: OnFailure,
    pub(crate) reused: Option<&'a OutOfSample<T>>,
}

impl<T: Task> Collector<'_, T> {
    /// The matrix, in the order of the learners; those that are known are not fitted.
    pub(crate) fn matrix(&self, run: &Run) -> Result<OutOfSample<T>> {
        self.check_plan(run)?;
        let (covered, width) = (self.covered(), T::width(self.sample.target()));
        let streams = streams(self.learners, run);
        let filled: Vec<Result<Option<Filled>>> = run.map(self.learners.len(), |k| {
            let learner = self.learners[k];
            if self.knows(learner) {
                return Ok(None);
            }
            let block = learner.out_of_sample(&self.sample, self.plan, &streams[k]);
            let members = learner.members().len();
            let block = tolerated(block, members, self.plan, self.on_failure)?;
            // Averaged at once, so that the splits of all learners are never in memory together.
            Ok(Some(Filled::new::<T>(block, self.plan, &covered, width)))
        });
        self.assembled(filled, covered, run)
    }

    /// Whether all members of a learner are known.
    pub(crate) fn knows(&self, learner: &dyn Learner<T>) -> bool {
        let is_known =
            |name: &String| self.reused.is_some_and(|reused| reused.members.contains(name));
        learner.members().iter().all(is_known)
    }

    pub(super) fn check_plan(&self, run: &Run) -> Result<()> {
        if self.plan.rows() != self.sample.rows() {
            let (expected, found) = (self.sample.rows(), self.plan.rows());
            return Err(Error::shape("rows of the plan", expected, found));
        }
        self.reused.map_or(Ok(()), |reused| reused.check_reuse(&self.sample, self.plan, run))
    }

    /// The rows that the plan holds out, ascending.
    pub(super) fn covered(&self) -> Vec<usize> {
        let coverage = self.plan.coverage();
        (0..coverage.len()).filter(|&i| coverage[i] > 0).collect()
    }

    /// The matrix from what the learners brought; `None` of those that are known.
    pub(super) fn assembled(
        &self,
        filled: Vec<Result<Option<Filled>>>,
        covered: Vec<usize>,
        run: &Run,
    ) -> Result<OutOfSample<T>> {
        let (mut members, mut without) = (Vec::new(), Vec::new());
        let mut failures: Vec<(String, Failure)> = Vec::new();
        for (learner, filled) in self.learners.iter().zip(filled) {
            let mut filled = filled?;
            for (m, name) in learner.members().into_iter().enumerate() {
                let known = self.reused.and_then(|reused| {
                    let at = reused.members.iter().position(|member| *member == name)?;
                    Some((reused.columns[at].clone(), reused.without[at].clone()))
                });
                let own = filled.as_mut().map(|filled| {
                    let failed = filled.failures.iter().filter(|f| f.member == m).cloned();
                    (std::mem::take(&mut filled.columns[m]), failed.collect::<Vec<_>>())
                });
                match (known, own) {
                    (Some((column, pairs)), _) => {
                        members.push((name, column));
                        without.push(pairs);
                    }
                    (None, Some((column, failed))) if failed.is_empty() => {
                        members.push((name, column.into()));
                        without.push(Vec::new());
                    }
                    (None, Some((_, failed))) if self.on_failure == OnFailure::Stop => {
                        return Err(stop(name, &failed[0]));
                    }
                    (None, Some((_, failed))) => {
                        failures.extend(failed.into_iter().map(|failure| (name.clone(), failure)));
                    }
                    (None, None) => {}
                }
            }
        }
        if members.is_empty() && !failures.is_empty() {
            return Err(none_left(&failures));
        }
        let keys = self.sample.select(&covered);
        let keys = keys.borrow();
        let weights = keys.weights().map(<[f64]>::to_vec);
        let target = self.sample.target().select(&covered);
        let mut oos = OutOfSample::from_columns(members, target, weights)?;
        oos.groups = keys.groups().map(<[u32]>::to_vec);
        oos.times = keys.times().map(<[f64]>::to_vec);
        oos.gap = keys.keys().gap;
        oos.rows = covered;
        oos.fingerprint = Some(self.plan.fingerprint());
        oos.data = Some(data_fingerprint(&self.sample));
        oos.stream = Some(run.fingerprint());
        oos.without = without;
        oos.failures = failures;
        Ok(oos)
    }
}

impl<T: Task> OutOfSample<T> {
    /// Refuses a matrix of other rows, other splits or members that drew other random numbers, and says which of them is
    /// another. The run is the one that the members' streams are derived from.
    pub fn check_reuse(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<()> {
        let refused = |problem: &str, hint: &str| {
            let problem = format!("the kept out-of-sample matrix cannot be used again: {problem}");
            Err(Error::data(Place::default(), problem).with_hint(hint))
        };
        let elsewhere = "fit without it, and write a new one";
        let Some(data) = &self.data else {
            return refused("it does not say which rows it is about", elsewhere);
        };
        if *data != data_fingerprint(sample) {
            let cure =
                "fit it to the same file with the same columns, target, weights, groups and times";
            return refused("it is about other data", cure);
        }
        if self.width != T::width(sample.target()) {
            return refused("it has another number of classes", elsewhere);
        }
        if self.fingerprint.as_deref() != Some(plan.fingerprint().as_str()) {
            let cure = "ask for the same plan, number of folds and seed as the fit that made it";
            return refused("it was made by another plan", cure);
        }
        // A plan that draws nothing is the same for every seed; its members are not.
        match &self.stream {
            None => refused("it does not say which random numbers its members drew", elsewhere),
            Some(stream) if *stream != run.fingerprint() => {
                let cure = "ask for the seed of the fit that made it, or fit without it";
                refused("its members were fitted with another seed", cure)
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether a member's predictions without pairs of folds are here.
    pub(super) fn has_pairs(&self, member: usize) -> bool {
        !self.without[member].is_empty()
    }
}
