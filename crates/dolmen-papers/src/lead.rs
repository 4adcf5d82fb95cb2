//! By how much one method is ahead of another, run by run, where a method may give rows no density at all.

use dolmen::score::Estimate;

use crate::Finding;
use crate::drawn::with_error;
use crate::page::estimate;

/// The lead of one method over another on the same runs; higher is better.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lead {
    /// Over the runs in which both have a finite figure.
    pub(crate) finite: Estimate,
    /// Runs in which only the other one is minus infinity.
    ahead: usize,
    /// Runs in which only this one is.
    behind: usize,
}

impl Lead {
    pub(crate) fn of(first: &[f64], second: &[f64]) -> Self {
        let pairs = || first.iter().zip(second);
        let finite: Vec<f64> =
            pairs().map(|(a, b)| a - b).filter(|lead| lead.is_finite()).collect();
        let count = |lead: f64| pairs().filter(|(a, b)| **a - **b == lead).count();
        Self {
            finite: estimate(&finite),
            ahead: count(f64::INFINITY),
            behind: count(f64::NEG_INFINITY),
        }
    }

    /// Whether it is ahead: a run that is lost by infinitely much decides, unless there are such on both sides.
    pub(crate) fn finding(&self) -> Finding {
        match (self.ahead, self.behind) {
            (0, 0) => Finding::positive(&self.finite),
            (_, 0) => Finding::Holds,
            (0, _) => Finding::Fails,
            _ => Finding::Open,
        }
    }

    /// The lead and its error, and how many runs were decided by infinitely much.
    pub(crate) fn words(&self, digits: usize) -> String {
        let finite = with_error(&self.finite, digits);
        let tell = |runs: usize, how: &str| match runs {
            0 => String::new(),
            1 => format!(", and infinitely {how} in one more run"),
            runs => format!(", and infinitely {how} in {runs} more runs"),
        };
        format!("{finite}{}{}", tell(self.ahead, "ahead"), tell(self.behind, "behind"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lost_by_infinitely_much_decides() {
        let lost = [1.0, f64::NEG_INFINITY, 3.0];
        let own = Lead::of(&[0.9, 0.0, 2.8], &lost);
        assert_eq!(own.finding(), Finding::Holds);
        assert_eq!(own.words(2), "-0.15 (se 0.05), and infinitely ahead in one more run");
        assert_eq!(Lead::of(&lost, &[0.9, 0.0, 2.8]).finding(), Finding::Fails);
        // Where both have none there is nothing to compare.
        assert_eq!(Lead::of(&lost, &lost).finding(), Finding::Open);
        assert_eq!(Lead::of(&[2.0, 3.0], &[1.0, 1.9]).finding(), Finding::Holds);
    }
}
