//! Methods against each other: who wins on a set at 95 %, and how often over several sets.

use serde::{Deserialize, Serialize};

use super::spelled;
use super::split::SplitResult;
use super::summary::mean_test_share;
use crate::evaluate::{corrected_t, differences, paired_t};
use crate::score::figures::higher_is_better;

/// A two-sided test at 5 % decides.
const LEVEL: f64 = 0.05;

/// How a duel ended for its first method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is better.
    Win,
    /// The difference may be chance.
    Draw,
    /// It is worse.
    Loss,
}

impl Outcome {
    fn of(gain: f64, p_value: f64) -> Self {
        match p_value < LEVEL {
            true if gain > 0.0 => Self::Win,
            true if gain < 0.0 => Self::Loss,
            _ => Self::Draw,
        }
    }
}

/// Two methods by one figure, over the splits in which both have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Duel {
    /// One method.
    pub first: String,
    /// The other.
    pub second: String,
    /// What they are compared by.
    pub figure: String,
    /// By how much the first is better on average; negative if it is worse.
    #[serde(deserialize_with = "spelled::number")]
    pub gain: f64,
    /// The paired t-test on the splits, as the paper does it: it takes splits for independent, and overstates.
    #[serde(deserialize_with = "spelled::number")]
    pub p_value: f64,
    /// The corrected resampled t-test.
    #[serde(deserialize_with = "spelled::number")]
    pub corrected_p_value: f64,
    /// By the paired t-test.
    pub outcome: Outcome,
    /// By the corrected one.
    pub corrected_outcome: Outcome,
}

/// All duels, each method against each.
pub(super) fn duels(names: &[String], splits: &[SplitResult]) -> Vec<Duel> {
    let Some(figures) = splits.first().and_then(|split| split.scored.first()) else {
        return Vec::new();
    };
    let share = mean_test_share(splits);
    let mut found = Vec::new();
    for a in 0..names.len() {
        for b in a + 1..names.len() {
            for (f, (figure, _)) in figures.figures.iter().enumerate() {
                let value = |m: usize, split: &SplitResult| split.scored[m].figures[f].1;
                let sign = if higher_is_better(figure) { 1.0 } else { -1.0 };
                let pair = |split: &SplitResult| (sign * value(a, split), sign * value(b, split));
                let gains = differences(splits.iter().map(pair));
                let mean = gains.iter().sum::<f64>() / gains.len() as f64;
                let (plain, corrected) = (paired_t(&gains), corrected_t(&gains, share));
                found.push(Duel {
                    first: names[a].clone(),
                    second: names[b].clone(),
                    figure: (*figure).into(),
                    gain: mean,
                    p_value: plain.p_value,
                    corrected_p_value: corrected.p_value,
                    outcome: Outcome::of(mean, plain.p_value),
                    corrected_outcome: Outcome::of(mean, corrected.p_value),
                });
            }
        }
    }
    found
}

/// Wins, draws and losses of the first method over several sets [CerquidesMantaras2005 Table 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// One method.
    pub first: String,
    /// The other.
    pub second: String,
    /// What they are compared by.
    pub figure: String,
    /// Wins, draws and losses by the paired t-test.
    pub outcomes: [usize; 3],
    /// And by the corrected one.
    pub corrected_outcomes: [usize; 3],
}

/// Counts the outcomes of the same duels on several sets; a pair is listed if it met on any.
pub fn tally<'a>(sets: impl IntoIterator<Item = &'a [Duel]>) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = Vec::new();
    for duel in sets.into_iter().flatten() {
        let same = |tally: &Tally| {
            (&tally.first, &tally.second, &tally.figure)
                == (&duel.first, &duel.second, &duel.figure)
        };
        let at = tallies.iter().position(same).unwrap_or_else(|| {
            tallies.push(Tally {
                first: duel.first.clone(),
                second: duel.second.clone(),
                figure: duel.figure.clone(),
                outcomes: [0; 3],
                corrected_outcomes: [0; 3],
            });
            tallies.len() - 1
        });
        tallies[at].outcomes[duel.outcome as usize] += 1;
        tallies[at].corrected_outcomes[duel.corrected_outcome as usize] += 1;
    }
    tallies
}
