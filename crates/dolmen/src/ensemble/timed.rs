//! A matrix within a time: learners one after another, and what is done when the time is used up.
//!
//! While others wait a learner has half of what is left, so that a slow one does not take it all; those that were not done are asked
//! once more when all others have been. What was collected by then still has to be fitted on all rows, so a learner must be done early enough to leave time for
//! that: for the others' fits on all rows and for its own, which takes about as long as one of its fits so far.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::oos::{MemberFits, Trials};
use crate::run::Run;
use crate::task::Task;

/// The trials, and the fits that made the matrix where they are kept.
pub(super) type Collected<T> = (Trials<T>, Vec<MemberFits<T>>);

/// The share of the whole time that check and report may take.
const LAST_STEPS: f64 = 0.05;

/// Learners, and the time they have.
pub(super) struct Timed<'a, T: Task> {
    pub(super) learners: &'a [&'a dyn Learner<T>],
    /// The order in which they are asked; the matrix has them in their own.
    pub(super) order: &'a [usize],
    /// When everything is to be done.
    pub(super) until: Instant,
    /// Fits of a learner that the matrix and the check take.
    pub(super) fits: usize,
    /// Whether a learner that fails is left out.
    pub(super) bears: bool,
}

/// Asks one learner for what it brings.
type Collect<'a, T> = dyn Fn(&dyn Learner<T>, &Run) -> Result<Collected<T>> + 'a;

impl<T: Task> Timed<'_, T> {
    /// What the learners bring that are done in time; `collect` asks one. Cancelled if there is none.
    pub(super) fn collect(&self, collect: &Collect<'_, T>, run: &Run) -> Result<Collected<T>> {
        let begun = Instant::now();
        let mut pace = Pace {
            until: begun + self.until.saturating_duration_since(begun).mul_f64(1.0 - LAST_STEPS),
            share: run.threads().min(self.fits) as f64 / self.fits.max(1) as f64,
            owed: Duration::ZERO,
        };
        let mut found: Vec<Option<Collected<T>>> = self.learners.iter().map(|_| None).collect();
        let mut left: Vec<(usize, String)> = Vec::new();
        let mut failed = None;
        let mut waiting: VecDeque<(usize, bool)> = self.order.iter().map(|&l| (l, false)).collect();
        while let Some((l, is_second_try)) = waiting.pop_front() {
            let start = Instant::now();
            let may_wait = !is_second_try && !waiting.is_empty();
            // A learner that is quick enough does not look at the time itself.
            let limited = run.until(pace.latest(start, may_wait));
            match limited.check().and_then(|()| collect(self.learners[l], &limited)) {
                Ok(own) => {
                    found[l] = Some(own);
                    pace.done(start.elapsed());
                }
                Err(Error::Cancelled) => {
                    run.check()?;
                    if may_wait && !run.is_satisfied() {
                        waiting.push_back((l, true));
                        continue;
                    }
                    let why = if run.is_satisfied() { "interrupted" } else { "no time was left" };
                    left.push((l, why.to_string()));
                }
                Err(error) if !self.bears => return Err(error),
                Err(error) => {
                    left.push((l, error.to_string()));
                    failed = Some(error);
                }
            }
        }
        let mut found = found.into_iter().flatten();
        let Some((mut trials, mut fits)) = found.next() else {
            return Err(failed.unwrap_or(Error::Cancelled));
        };
        for (others, more) in found {
            trials.append(others);
            fits.extend(more);
        }
        left.sort_unstable();
        for (l, why) in left {
            trials.matrix.leave_out(&self.learners[l].members(), &why);
        }
        Ok((trials, fits))
    }
}

/// How long the next learner may take.
struct Pace {
    /// When fits on all rows are to be done.
    until: Instant,
    /// What a fit on all rows takes, as a share of the time that the learner took so far.
    share: f64,
    /// What the fits on all rows of the learners so far will take.
    owed: Duration,
}

impl Pace {
    /// When a learner that starts now must be done: what is left, less what is owed, is shared between it and its own fit on
    /// all rows. One that may wait for the others has half of that.
    fn latest(&self, start: Instant, may_wait: bool) -> Instant {
        let left = self.until.saturating_duration_since(start).saturating_sub(self.owed);
        let parts = if may_wait { 2.0 } else { 1.0 };
        start + left.div_f64(parts * (1.0 + self.share))
    }

    fn done(&mut self, spent: Duration) {
        self.owed += spent.mul_f64(self.share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_kept_for_the_fits_on_all_rows() {
        let start = Instant::now();
        let until = start + Duration::from_secs(100);
        let mut pace = Pace { until, share: 0.25, owed: Duration::ZERO };
        // 80 seconds on the folds and 20 on all rows.
        assert_eq!(pace.latest(start, false) - start, Duration::from_secs(80));
        assert_eq!(pace.latest(start, true) - start, Duration::from_secs(40));
        pace.done(Duration::from_secs(40));
        // Of the 60 seconds left 10 are owed to the first.
        let now = start + Duration::from_secs(40);
        assert_eq!(pace.latest(now, false) - now, Duration::from_secs(40));
        let late = until + Duration::from_secs(1);
        assert_eq!(pace.latest(late, false), late);
    }
}
