//! All members' fits on all folds, and on all rows: those in passes advance together, one reading of the table for each pass.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::Source;
use super::context::Context;
use super::passes::{PassSums, PassWork};
use super::work::taken;
use crate::error::{Error, Result};
use crate::learner::pass::{AnyPass, AnyStep, AnySums};
use crate::learner::{Failure, Fitted, Learner, Sample, fit_members};
use crate::oos::{OnFailure, name, streams};
use crate::run::{Run, Work};
use crate::task::Task;

/// The models of one learner.
type Models<T> = Vec<Box<dyn Fitted<T>>>;

/// The fits of one learner: on every fold's other rows, and last on all rows.
pub(super) struct LearnerFits<T: Task> {
    pub(super) members: Vec<String>,
    /// One for each fold.
    pub(super) folds: Vec<Models<T>>,
    pub(super) all: Models<T>,
    /// Whether it was fitted to the sample.
    pub(super) is_sampled: bool,
}

/// All learners' fits, and what failed.
pub(super) struct AllFits<T: Task> {
    pub(super) learners: Vec<LearnerFits<T>>,
    pub(super) failures: Vec<(String, Failure)>,
}

/// A fit on its way.
struct Walk<T: Task> {
    learner: usize,
    /// The fold held out; `None` for the fit on all rows.
    fold: Option<usize>,
    state: State<T>,
    told: Told,
}

/// How far a fit in passes is said to have come.
#[derive(Default)]
struct Told {
    passes: usize,
    /// Of [`UNITS`].
    units: u64,
    /// Its share of the time since that was told.
    spent: Duration,
}

/// Units of progress of a fit in passes: how many passes there will be is a guess, so that it comes nearer to its end in parts.
const UNITS: u64 = 100;

enum State<T: Task> {
    Walking(Box<dyn AnyPass<T>>),
    Done(Models<T>),
    Failed(Error),
}

/// What fits need to know.
pub(super) struct Lockstep<'a, T: Task> {
    pub(super) source: &'a dyn Source,
    pub(super) context: &'a Context,
    pub(super) learners: &'a [Box<dyn Learner<T>>],
    pub(super) folds: usize,
    pub(super) on_failure: OnFailure,
    /// The sample, and the fold of each of its rows.
    pub(super) sample: Sample<'a, T>,
    pub(super) sample_folds: &'a [usize],
}

impl<T: Task> Lockstep<'_, T> {
    /// Makes all fits.
    pub(super) fn fit(&self, run: &Run) -> Result<AllFits<T>> {
        let borrowed: Vec<&dyn Learner<T>> = self.learners.iter().map(AsRef::as_ref).collect();
        let on_folds = streams(&borrowed, &run.stream("members"));
        let on_all = streams(&borrowed, &run.stream("refit"));
        let folds = || (0..self.folds).map(Some).chain([None]);
        let mut walks = Vec::new();
        for (learner, own) in borrowed.iter().enumerate() {
            let fits = self.folds as u64 + 1;
            let in_passes = own.pass(self.sample.x(), &Run::new(0)).is_some();
            let (steps, guess) =
                if in_passes { (fits * UNITS, 1.0 / UNITS as f64) } else { (fits, 1.0) };
            run.progress().plan_work(&Work { what: &name(*own), steps, guess });
            for fold in folds() {
                let stream = match fold {
                    Some(v) => on_folds[learner].child(v as u64),
                    None => on_all[learner].clone(),
                };
                let state = self.begin(*own, fold, &stream);
                walks.push(Walk { learner, fold, state, told: Told::default() });
            }
        }
        self.walk(&mut walks, run)?;
        self.gather(walks)
    }

    /// The first pass of a fit; the models themselves of a learner that has no passes.
    fn begin(&self, learner: &dyn Learner<T>, fold: Option<usize>, run: &Run) -> State<T> {
        match learner.pass(self.sample.x(), run) {
            Some(Ok(pass)) => State::Walking(pass),
            Some(Err(error)) => State::Failed(error),
            None => match run.step(&name(learner), |run| self.fit_sample(learner, fold, run)) {
                Ok(models) => State::Done(models),
                Err(error) => State::Failed(error),
            },
        }
    }

    /// Fits a learner to the rows of the sample that are not in the fold.
    fn fit_sample(
        &self,
        learner: &dyn Learner<T>,
        fold: Option<usize>,
        run: &Run,
    ) -> Result<Models<T>> {
        let rows = 0..self.sample.rows();
        let chosen: Vec<usize> = rows.filter(|&i| Some(self.sample_folds[i]) != fold).collect();
        let part = self.sample.select(chosen);
        let wanted = learner.members();
        let fitted = fit_members(learner, &wanted, &part.borrow(), run);
        fitted.into_iter().map(|(_, model)| model).collect()
    }

    /// Pass after pass until every fit has come to its end.
    fn walk(&self, walks: &mut [Walk<T>], run: &Run) -> Result<()> {
        while walks.iter().any(|walk| matches!(walk.state, State::Walking(_))) {
            let begun = Instant::now();
            let mut totals: Vec<Option<Result<AnySums>>> = walks.iter().map(|_| None).collect();
            let walking: Vec<bool> = walks.iter().map(Walk::is_walking).collect();
            // What the fits have planned is the same work as these readings.
            self.sum(walks, &mut totals, &run.planned())?;
            run.install(|| {
                walks.par_iter_mut().zip(totals).for_each(|(walk, total)| walk.advance(total));
            });
            let count = walking.iter().filter(|is_walking| **is_walking).count();
            let spent = begun.elapsed().div_f64(count.max(1) as f64);
            for (walk, _) in walks.iter_mut().zip(walking).filter(|(_, walked)| *walked) {
                walk.tell(&name(self.learners[walk.learner].as_ref()), spent, run);
            }
            if let Some(error) = self.refusal(walks) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The sums of all fits that are on their way, over all blocks.
    fn sum(
        &self,
        walks: &[Walk<T>],
        totals: &mut [Option<Result<AnySums>>],
        run: &Run,
    ) -> Result<()> {
        let passes: Vec<(usize, Option<usize>, &dyn AnyPass<T>)> = walks
            .iter()
            .enumerate()
            .filter_map(|(at, walk)| match &walk.state {
                State::Walking(pass) => Some((at, walk.fold, pass.as_ref())),
                _ => None,
            })
            .collect();
        let asked = passes.iter().map(|(_, fold, pass)| (*fold, *pass)).collect();
        let work = PassWork::new(self.context, asked);
        self.source.work(
            &work,
            &mut |sums| {
                for ((at, _, pass), sums) in passes.iter().zip(taken::<PassSums>(sums)?) {
                    let total = &mut totals[*at];
                    *total = Some(match (total.take(), sums) {
                        (None, sums) => sums,
                        (Some(Err(error)), _) | (Some(Ok(_)), Err(error)) => Err(error),
                        (Some(Ok(mut total)), Ok(sums)) => {
                            pass.merge(&mut total, sums).map(|()| total)
                        }
                    });
                }
                Ok(())
            },
            run,
        )
    }

    /// The error that stops everything, if failures are not borne.
    fn refusal(&self, walks: &mut [Walk<T>]) -> Option<Error> {
        let is_refusal = |walk: &&mut Walk<T>| match &walk.state {
            State::Failed(error) => {
                self.on_failure == OnFailure::Stop || matches!(error, Error::Cancelled)
            }
            _ => false,
        };
        let walk = walks.iter_mut().find(is_refusal)?;
        match std::mem::replace(&mut walk.state, State::Done(Vec::new())) {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The fits learner by learner; one that failed anywhere leaves.
    fn gather(&self, walks: Vec<Walk<T>>) -> Result<AllFits<T>> {
        let mut walks = walks.into_iter();
        let (mut learners, mut failures) = (Vec::new(), Vec::new());
        for learner in self.learners {
            let members = learner.members();
            let mut fits = Vec::with_capacity(self.folds + 1);
            for (split, walk) in walks.by_ref().take(self.folds + 1).enumerate() {
                match walk.state {
                    State::Done(models) => fits.push(models),
                    State::Failed(error) => {
                        let message = error.to_string();
                        failures.extend(members.iter().enumerate().map(|(member, name)| {
                            (name.clone(), Failure { member, split, message: message.clone() })
                        }));
                    }
                    State::Walking(_) => {}
                }
            }
            if fits.len() == self.folds + 1
                && let Some(all) = fits.pop()
            {
                let is_sampled = learner.pass(self.sample.x(), &Run::new(0)).is_none();
                learners.push(LearnerFits { members, folds: fits, all, is_sampled });
            }
        }
        if learners.is_empty() {
            return Err(crate::oos::none_left(&failures));
        }
        Ok(AllFits { learners, failures })
    }
}

impl<T: Task> Walk<T> {
    fn is_walking(&self) -> bool {
        matches!(self.state, State::Walking(_))
    }

    /// Tells how far it has come by one more pass, of which so much time was its own.
    fn tell(&mut self, what: &str, spent: Duration, run: &Run) {
        let Told { passes, units, spent: untold } = &mut self.told;
        *passes += 1;
        *untold += spent;
        let reached = match &self.state {
            State::Walking(pass) => {
                let share = *passes as f64 / (*passes + pass.left().max(1)) as f64;
                (UNITS as f64 * share) as u64
            }
            _ => UNITS,
        };
        if reached > *units {
            run.progress().finish(what, reached - *units, std::mem::take(untold));
            *units = reached;
        }
    }

    /// What follows from the sums over all rows.
    fn advance(&mut self, total: Option<Result<AnySums>>) {
        self.state = match std::mem::replace(&mut self.state, State::Done(Vec::new())) {
            State::Walking(pass) => {
                let total = total.unwrap_or_else(|| Ok(pass.zero()));
                match total.and_then(|total| pass.next(total)) {
                    Ok(AnyStep::Again(pass)) => State::Walking(pass),
                    Ok(AnyStep::Done(models)) => State::Done(models),
                    Err(error) => State::Failed(error),
                }
            }
            ended => ended,
        };
    }
}
