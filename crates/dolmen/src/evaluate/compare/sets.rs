//! Several sets, and what they say together.

use serde::{Deserialize, Serialize};

use super::{Comparison, Ranks, Tally, tally};

/// Comparisons of the same methods on several sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetsComparison {
    /// The sets.
    pub sets: Vec<SetComparison>,
    /// Wins, draws and losses of each two methods.
    pub tallies: Vec<Tally>,
    /// The methods' mean ranks; `None` with fewer than two sets or methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
}

/// One set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetComparison {
    /// The file, or whatever the set is called.
    pub file: String,
    /// How the methods did on it.
    #[serde(flatten)]
    pub comparison: Comparison,
}

impl SetsComparison {
    /// Counts outcomes and ranks methods over sets.
    pub fn new(sets: Vec<SetComparison>) -> Self {
        let tallies = tally(sets.iter().map(|set| set.comparison.duels.as_slice()));
        let ranks = Ranks::of(sets.iter().map(|set| &set.comparison));
        Self { sets, tallies, ranks }
    }

    /// The tallies that a reader asks about first: those of the stack, or without one all.
    pub fn main_tallies(&self) -> impl Iterator<Item = &Tally> {
        let stack = self.sets.iter().find_map(|set| set.comparison.stack());
        self.tallies.iter().filter(move |tally| stack.is_none_or(|stack| tally.first == stack))
    }
}
