//! What the splits say together: means, standard errors and tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::duel::{Duel, duels};
use super::spelled;
use super::split::{Scored, SplitResult};
use super::{CompareOptions, Contender, Methods, Rival};
use crate::ensemble::Kept;
use crate::evaluate::{corrected_t, differences, wilcoxon};
use crate::math::student_within;
use crate::task::{Task, TaskKind};

/// What the splits gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The task.
    pub task: TaskKind,
    /// Rows of the table.
    pub rows: usize,
    /// Random splits, or repeats of the outer folds.
    pub repeats: usize,
    /// Rows of each test part of a random split, if all have as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_rows: Option<usize>,
    /// The fewest and the most rows of a test part of a random split: groups are not torn apart to make them equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_rows_between: Option<[usize; 2]>,
    /// Rows learned from in each split, where they are fewer than there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<usize>,
    /// Folds of the outer cross-validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer_folds: Option<usize>,
    /// The method all others are relative to, if any.
    pub zero_line: Option<String>,
    /// The methods; the others are tested against the first.
    pub methods: Vec<MethodResult>,
    /// The members' weights in the stack, averaged over the splits; none if the stack has no weight for each.
    pub mean_weights: Vec<MeanWeight>,
    /// In how many splits the stack used each of its combiners, if it had a choice.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub combiners: BTreeMap<String, usize>,
    /// In how many splits the check of the stack kept it, and in how many something simpler in its place; `None` without a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptCounts>,
    /// Methods against each other, each against each; those of the stack come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duels: Vec<Duel>,
    /// What the user should know of how the comparison was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One method's results. Of a density: the sum of the test rows' scores, less that of the zero line; of other tasks their
/// mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// The method.
    pub name: String,
    /// Mean over the splits with a finite score.
    #[serde(deserialize_with = "spelled::number")]
    pub mean: f64,
    /// Its standard error, as if splits were independent.
    #[serde(deserialize_with = "spelled::number")]
    pub se: f64,
    /// Share of the splits with a finite score.
    pub finite_share: f64,
    /// The score in each split, in their order.
    #[serde(deserialize_with = "spelled::numbers")]
    pub split_scores: Vec<f64>,
    /// Wilcoxon's signed-rank test against the first method, over splits in which both are finite.
    pub p_value: Option<f64>,
    /// The corrected resampled t-test against the first method, which allows for training parts having rows in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_p_value: Option<f64>,
    /// The usual figures of the task: log loss, error, Brier and AUC; RMSE, MAE and R2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureResult>,
}

impl MethodResult {
    /// The interval about the mean that holds such a part of the chances by Student's distribution, as if splits were independent; `None`
    /// of fewer than two splits with a finite score.
    pub fn interval(&self, part: f64) -> Option<[f64; 2]> {
        let splits = self.split_scores.iter().filter(|score| score.is_finite()).count();
        let half = student_within(part, splits as f64 - 1.0) * self.se;
        half.is_finite().then_some([self.mean - half, self.mean + half])
    }
}

/// One figure of a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureResult {
    /// The figure.
    pub name: String,
    /// Mean over the splits where it is finite.
    #[serde(deserialize_with = "spelled::number")]
    pub mean: f64,
    /// Its standard error, as if splits were independent.
    #[serde(deserialize_with = "spelled::number")]
    pub se: f64,
    /// The figure in each split, in their order.
    #[serde(deserialize_with = "spelled::numbers")]
    pub split_values: Vec<f64>,
    /// Wilcoxon's signed-rank test against the first method.
    pub p_value: Option<f64>,
    /// The corrected resampled t-test against the first method.
    pub corrected_p_value: Option<f64>,
}

/// What the check of the stack kept, as numbers of splits: what is scored as the stack is what was kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCounts {
    /// The stack.
    pub stack: usize,
    /// Equal weights in its place.
    pub uniform: usize,
    /// One member in its place.
    pub member: usize,
}

impl KeptCounts {
    /// Of the splits with a check; `None` if there are none.
    fn of(splits: &[SplitResult]) -> Option<Self> {
        let mut counts = Self::default();
        for kept in splits.iter().filter_map(|split| split.kept) {
            match kept {
                Kept::Stack => counts.stack += 1,
                Kept::Uniform => counts.uniform += 1,
                Kept::BestMember => counts.member += 1,
            }
        }
        (counts != Self::default()).then_some(counts)
    }

    /// The splits in which something simpler took the place of the stack.
    pub fn replaced(&self) -> usize {
        self.uniform + self.member
    }
}

/// A member's mean weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeanWeight {
    /// The member.
    pub name: String,
    /// Its weight, averaged over the splits.
    pub weight: f64,
}

/// The ways to combine, in the order they are scored.
const COMBINED: [&str; 4] = ["stacking", "cv", "uniform", "cheating"];

impl Comparison {
    /// The stack among the methods; `None` where members alone are compared.
    pub fn stack(&self) -> Option<&str> {
        self.methods.first().map(|method| method.name.as_str()).filter(|name| *name == COMBINED[0])
    }

    /// The duels that a reader asks about first: those of the stack, or without one all.
    pub fn main_duels(&self) -> impl Iterator<Item = &Duel> {
        let stack = self.stack();
        self.duels.iter().filter(move |duel| stack.is_none_or(|stack| duel.first == stack))
    }
}

pub(super) fn summarise<T: Task>(
    stack: &dyn Contender<T>,
    rivals: &[Rival<T>],
    splits: &[SplitResult],
    rows: usize,
    options: &CompareOptions,
    outer_folds: Option<usize>,
) -> Comparison {
    let members: Vec<String> =
        stack.learners().iter().flat_map(|learner| learner.members()).collect();
    let mut names: Vec<String> = Vec::new();
    if options.methods != Methods::Members {
        names.extend(COMBINED.map(String::from));
        names.extend(rivals.iter().map(|rival| rival.name.clone()));
    }
    if options.methods != Methods::Combined {
        names.extend(members.clone());
    }
    let zero = rivals.iter().position(|rival| rival.zero_line).map(|r| r + COMBINED.len());
    let is_density = !T::HAS_TARGET;
    let results = Results { splits, per_row: !is_density };
    let mut methods: Vec<MethodResult> =
        names.iter().enumerate().map(|(m, name)| results.method(name, m, zero)).collect();
    if is_density {
        // The only figure of a density is its score.
        methods.iter_mut().for_each(|method| {
            method.figures.clear();
            method.corrected_p_value = None;
        });
    }
    let tested = || splits.iter().filter_map(|split| split.scored.first()).map(|s| s.rows);
    let (fewest, most) = (tested().min().unwrap_or(0), tested().max().unwrap_or(0));
    let drawn = outer_folds.is_none();
    Comparison {
        task: T::KIND,
        rows,
        repeats: options.repeats,
        train_rows: options.train_rows,
        test_rows: (drawn && fewest == most).then_some(fewest),
        test_rows_between: (drawn && fewest < most).then_some([fewest, most]),
        outer_folds,
        zero_line: zero.map(|m| names[m].clone()),
        methods,
        mean_weights: mean_weights(members, splits),
        combiners: combiners(splits),
        kept: KeptCounts::of(splits),
        duels: if is_density { Vec::new() } else { duels(&names, splits) },
        notes: notes(splits, options, outer_folds),
    }
}

/// What is to be said where there were fewer folds than asked for.
fn notes(
    splits: &[SplitResult],
    options: &CompareOptions,
    outer_folds: Option<usize>,
) -> Vec<String> {
    let fewer = |asked: usize, found: Option<usize>, what: &str| {
        let found = found.filter(|found| *found < asked)?;
        Some(format!("too few rows or groups for {asked} {what}: there are {found}"))
    };
    let inner = splits.iter().filter_map(|split| split.folds).min();
    let outer = fewer(options.outer_folds.unwrap_or(0), outer_folds, "outer folds");
    let inner = fewer(options.folds, inner, "folds of the training rows");
    outer.into_iter().chain(inner).collect()
}

/// The members' mean weights, if every split has a weight for each.
fn mean_weights(members: Vec<String>, splits: &[SplitResult]) -> Vec<MeanWeight> {
    let weights: Option<Vec<&[f64]>> = splits
        .iter()
        .map(|split| split.weights.as_deref().filter(|weights| weights.len() == members.len()))
        .collect();
    let Some(weights) = weights else { return Vec::new() };
    let mean = |(m, name): (usize, String)| MeanWeight {
        name,
        weight: weights.iter().map(|weights| weights[m]).sum::<f64>() / splits.len() as f64,
    };
    members.into_iter().enumerate().map(mean).collect()
}

/// How often each combiner was used.
fn combiners(splits: &[SplitResult]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in splits.iter().filter_map(|split| split.combiner.clone()) {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

struct Results<'a> {
    splits: &'a [SplitResult],
    /// Whether scores are means per row.
    per_row: bool,
}

impl Results<'_> {
    fn score(&self, scored: &Scored) -> f64 {
        if self.per_row { scored.total / scored.rows as f64 } else { scored.total }
    }

    fn method(&self, name: &str, m: usize, zero: Option<usize>) -> MethodResult {
        let own = |m: usize| move |split: &SplitResult| self.score(&split.scored[m]);
        let relative = |split: &SplitResult| match zero {
            Some(zero) if zero != m => own(m)(split) - own(zero)(split),
            _ => own(m)(split),
        };
        let (mean, se, finite_share) = self.moments(relative);
        let (p_value, corrected_p_value) = self.tests(m, |m, split| own(m)(split));
        let figures = self.splits.first().map_or(&[][..], |split| &split.scored[m].figures);
        let figure = |(f, (name, _)): (usize, &(&'static str, f64))| {
            let value = |m: usize, split: &SplitResult| split.scored[m].figures[f].1;
            let (mean, se, _) = self.moments(|split| value(m, split));
            let split_values = self.splits.iter().map(|split| value(m, split)).collect();
            let (p_value, corrected_p_value) = self.tests(m, value);
            let name = (*name).to_string();
            FigureResult { name, mean, se, split_values, p_value, corrected_p_value }
        };
        MethodResult {
            name: name.into(),
            mean,
            se,
            finite_share,
            split_scores: self.splits.iter().map(relative).collect(),
            p_value,
            corrected_p_value,
            figures: figures.iter().enumerate().map(figure).collect(),
        }
    }

    /// Mean and standard error over the splits with a finite value, and their share.
    fn moments(&self, value: impl Fn(&SplitResult) -> f64) -> (f64, f64, f64) {
        let finite: Vec<f64> = self.splits.iter().map(value).filter(|v| v.is_finite()).collect();
        let n = finite.len() as f64;
        let mean = finite.iter().sum::<f64>() / n;
        let variance = finite.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt(), n / self.splits.len() as f64)
    }

    /// Wilcoxon's test and the corrected t-test of the first method's values against the m-th's.
    fn tests(
        &self,
        m: usize,
        value: impl Fn(usize, &SplitResult) -> f64,
    ) -> (Option<f64>, Option<f64>) {
        if m == 0 {
            return (None, None);
        }
        let differences =
            differences(self.splits.iter().map(|split| (value(0, split), value(m, split))));
        if differences.len() < 2 {
            // One pair says nothing of chance.
            return (None, None);
        }
        let corrected = corrected_t(&differences, mean_test_share(self.splits));
        (Some(wilcoxon(&differences).p_value), Some(corrected.p_value))
    }
}

/// Rows of a test part as a multiple of those of its training part, on average.
pub(super) fn mean_test_share(splits: &[SplitResult]) -> f64 {
    splits.iter().map(|split| split.test_share).sum::<f64>() / splits.len() as f64
}
