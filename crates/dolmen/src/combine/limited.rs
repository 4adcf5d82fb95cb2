//! Weights within a limit: few members, or members that answer quickly enough together.

use serde::{Deserialize, Serialize};

use super::{Combination, Combiner, Evidence, LinearPool, Weighable};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::score::Estimate;
use crate::solver::problem::WeightProblem;
use crate::solver::subset::{Limit, Subset, best_subset};

/// Searches for weights at most: of a dozen members all sets that could be best are looked at within some hundred.
const MOST_SEARCHES: usize = 2000;

/// The combiner that gives weight to the best set of members within limits, which it proves where it can.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limited {
    /// Members at most.
    pub members: Option<usize>,
    /// Seconds that the members may take together to predict one row, by the costs that the matrix knows
    /// ([`OutOfSample::costs`](crate::oos::OutOfSample::costs)).
    pub seconds: Option<f64>,
}

/// What a limit cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitReport {
    /// Members that have weight.
    pub members: usize,
    /// Members that there were.
    pub of: usize,
    /// Seconds that they take together to predict a row, where that was measured.
    pub seconds: Option<f64>,
    /// Seconds that each of all members takes to predict a row, where that was measured; in the order of the matrix.
    pub member_seconds: Option<Vec<f64>>,
    /// The mean score of the best weights of all members less that of these, on the rows they were found on.
    pub loss: Estimate,
    /// Certificate: no other weights within the limit score better by more than this. `None` for joint probabilities, whose
    /// weights may have several maxima.
    pub gap: Option<f64>,
    /// Searches for weights that it took.
    pub searches: usize,
}

/// Seconds in the unit that shows them, to three digits and rounded up, so that what is asked for is enough when it is asked for.
fn duration(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
    let (size, unit) = units.into_iter().find(|(size, _)| seconds >= *size).unwrap_or((1e-9, "ns"));
    let value = seconds / size;
    let step = if value < 10.0 {
        0.01
    } else if value < 100.0 {
        0.1
    } else {
        1.0
    };
    format!("{} {unit}", ((value / step).ceil() * step * 100.0).round() / 100.0)
}

impl LimitReport {
    /// The same in words.
    fn summary(&self) -> String {
        let Self { members, of, loss, .. } = self;
        let error = loss.se.map_or(String::new(), |se| format!(" (standard error {se:.2e})"));
        let seconds = self.seconds.map_or(String::new(), |seconds| {
            format!(", which answer in {} a row", duration(seconds))
        });
        let proof = match self.gap {
            Some(gap) if gap <= 1e-9 * (1.0 + loss.mean.abs()) => {
                "; no other choice is better".into()
            }
            Some(gap) => format!("; another choice may be better by up to {gap:.2e}"),
            None => String::new(),
        };
        format!(
            "the limit leaves {members} of {of} members{seconds}: {:.2e} a row behind the best weights of all{error}{proof}",
            loss.mean.max(0.0)
        )
    }
}

impl Limited {
    fn limits(&self, members: usize, costs: Option<&[f64]>) -> Result<Vec<Limit>> {
        let mut limits = Vec::new();
        if let Some(most) = self.members {
            limits.push(Limit::of_members(members, most));
        }
        if let Some(most) = self.seconds {
            let costs = costs.ok_or_else(|| Error::shape("measured costs", members, 0))?;
            limits.push(Limit { costs: costs.to_vec(), most });
        }
        Ok(limits)
    }
}

impl<T: Weighable> Combiner<T> for Limited {
    fn rungs(&self) -> Vec<String> {
        vec!["limited".into()]
    }

    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        let oos = evidence.oos;
        let (members, costs) = (oos.members().len(), oos.costs());
        let limits = self.limits(members, costs)?;
        let problem = run.install(|| T::problem(oos))?;
        let found = run.install(|| best_subset(&problem, &limits, MOST_SEARCHES));
        let Some(subset) = found else {
            let cheapest = costs.unwrap_or_default().iter().copied().fold(f64::INFINITY, f64::min);
            let expected =
                format!("at least {}, what the quickest member takes", duration(cheapest));
            let got = duration(self.seconds.unwrap_or_default());
            return Err(Error::param("predict_under", expected, got));
        };
        let used: Vec<usize> = (0..members).filter(|&m| subset.weights[m] > 0.0).collect();
        let Subset { weights, full_weights, gap, searches, .. } = subset;
        let (full, own) = (problem.row_scores(&full_weights), problem.row_scores(&weights));
        let report = LimitReport {
            members: used.len(),
            of: members,
            seconds: costs.map(|costs| used.iter().map(|&m| costs[m]).sum()),
            member_seconds: costs.map(<[f64]>::to_vec),
            loss: Estimate::of_difference(&full, &own, problem.shares()),
            gap: Some(gap).filter(|_| !T::SEVERAL_MAXIMA),
            searches,
        };
        let pool = LinearPool::new(weights).noting(&report.summary());
        Ok(vec![Box::new(pool.limited_by(report))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_unit_that_shows_them() {
        let told = [
            (2e-9, "2 ns"),
            (1.2341e-6, "1.24 us"),
            (0.0123, "12.3 ms"),
            (0.9991, "1000 ms"),
            (3.0, "3 s"),
        ];
        for (seconds, text) in told {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(duration(0.0), "0 ns");
    }
}
