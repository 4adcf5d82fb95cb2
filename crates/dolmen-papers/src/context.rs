//! How an experiment is run: with which seed and threads, how thoroughly, on whose data.

use std::path::Path;

use dolmen::error::Result;
use dolmen::run::{Run, Work};
use rayon::prelude::*;
use serde::Serialize;

/// How thoroughly an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Fewer repeats, in seconds: enough to see the order of the methods.
    Quick,
    /// As many repeats as the paper.
    #[default]
    Full,
}

/// What an experiment is given.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Seed, threads, progress and cancelling.
    pub run: &'a Run,
    /// How thoroughly.
    pub effort: Effort,
    /// A folder with data sets that are not carried.
    pub data: Option<&'a Path>,
}

impl Context<'_> {
    /// One number for a quick run, another for a full one.
    pub fn either<N>(&self, quick: N, full: N) -> N {
        match self.effort {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }

    /// Does `work` so many times, side by side, each with a random stream of its own: the results do not depend on threads.
    pub fn repeat<R: Send>(
        &self,
        what: &str,
        times: usize,
        work: impl Fn(usize, &Run) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let run = self.run.stream(what);
        run.progress().plan_work(&Work { what, steps: times as u64, guess: 1.0 });
        let one = |k: usize| {
            run.check()?;
            run.step(what, |silent| work(k, &silent.child(k as u64)))
        };
        run.install(|| (0..times).into_par_iter().map(one).collect())
    }
}
