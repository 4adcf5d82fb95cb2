//! What a fit says of itself: the members and their weights, the check of the stack, and what was kept. Plain data, stored with
//! the model; the doors show it.

use serde::{Deserialize, Serialize};

use super::fit::Stacked;
use super::stream::Judged;
use crate::combine::weigh::{WeighOptions, Weighing, plan_weighing, weigh_found};
use crate::combine::{LimitReport, Method, Weighable};
use crate::ensemble::{Assessment, Calibration, Ensemble, IntervalReport, Kept, StackFigures};
use crate::error::{Error, Result};
use crate::learner::{Diagnostics, Fitted, Series};
use crate::math::first_largest;
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::score::Estimate;
use crate::solver::Solution;
use crate::task::{Task, TaskKind};

/// The whole result of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FitReport {
    /// A stack.
    Stack(Box<StackReport>),
    /// Members as they are, without folds.
    Alone(AloneReport),
}

/// A stack and its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StackReport {
    /// How the members were combined.
    #[serde(flatten)]
    pub combined: Combined,
    /// The combiner that is used.
    pub combiner: String,
    /// Splits of the out-of-sample matrix.
    pub folds: usize,
    /// What a limit on the members cost, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitReport>,
    /// What the check has shown, if there was one.
    pub check: Option<Assessment>,
    /// The figures people know, of the stack, the best member and equal weights.
    pub figures: Option<StackFigures>,
    /// Of numbers: the prediction intervals, and how often they held the truth of rows held out.
    pub intervals: Option<IntervalReport>,
    /// Whether the combination that is kept reached its tolerance, or needs none.
    pub combination_converged: bool,
    /// `stack`, or what took its place: `uniform` or a member.
    pub kept: String,
    /// How class probabilities are calibrated, if they are.
    pub calibration: Option<Calibration>,
    /// Every fit that failed.
    pub failures: Vec<String>,
    /// The members that took no part because of that, each with the first thing it said.
    pub left_out: Vec<String>,
    /// Rows of the table, those never held out among them.
    #[serde(default)]
    pub table_rows: usize,
    /// What comes from a sample of the rows, if the table was read block by block and one did not hold all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleReport>,
    /// What the user should know about how the columns were used and the folds were made.
    #[serde(default)]
    pub data_notes: Vec<String>,
}

/// Which parts of a report come from a sample of the rows; figures, intervals and the choice among combiners always do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleReport {
    /// Rows of the sample.
    pub rows: usize,
    /// Whether the scores and gains do.
    pub scores: bool,
    /// Whether the check does.
    pub check: bool,
    /// What comes from all rows and what from the sample, in words.
    pub told: String,
}

/// How the members were combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Combined {
    /// By one weight each.
    Weighed(Box<Weighing>),
    /// In another way.
    Other(OtherCombination),
}

/// A combination without a weight for each member, or with powers in their place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherCombination {
    /// The task.
    pub task: TaskKind,
    /// Rows of the matrix.
    pub rows: usize,
    /// The members, in the order of the matrix.
    pub members: Vec<OtherMember>,
    /// The member with the best score.
    pub best: String,
    /// The mean score of the stack in its check.
    pub score: Option<f64>,
    /// The stack's score less that of the best member, in the check.
    pub gain_over_best: Option<Estimate>,
    /// The stack's score less that of equal weights, in the check.
    pub gain_over_uniform: Option<Estimate>,
    /// Whether the search reached its tolerance; `None` where there is none.
    pub converged: Option<bool>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What the combination found: coefficients, mean weights.
    pub series: Vec<Series>,
}

/// One member of such a combination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherMember {
    /// Its name.
    pub name: String,
    /// Its weight or power, if it has one.
    pub weight: Option<f64>,
    /// The weight's standard error: not known.
    pub se: Option<f64>,
    /// Its mean score alone.
    pub score: f64,
    /// The standard error of that mean over the rows; `None` where a row has no finite score.
    #[serde(default)]
    pub score_se: Option<f64>,
}

/// Members as they are: there are no rows left to score them on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AloneReport {
    /// The task.
    pub task: TaskKind,
    /// Rows learned from.
    pub rows: usize,
    /// The members.
    pub members: Vec<AloneMember>,
    /// 0: there was no out-of-sample matrix.
    pub folds: usize,
    /// Members that could not be fitted.
    pub failures: Vec<String>,
    /// What the user should know about how the columns were used.
    #[serde(default)]
    pub data_notes: Vec<String>,
}

/// A member as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AloneMember {
    /// Its name.
    pub name: String,
    /// Its weight: the same for all.
    pub weight: f64,
    /// What its fit said.
    pub notes: Vec<String>,
}

/// Plans what the report will take, as part of the whole work, for so many rows and members.
pub(super) fn plan_report(rows: usize, members: usize, run: &Run) {
    plan_weighing(&WeighOptions::default(), rows, members, run);
}

impl FitReport {
    pub(super) fn new<T: Weighable>(stacked: &Stacked<T>, rows: usize, run: &Run) -> Result<Self> {
        if stacked.folds == 0 {
            return Ok(Self::Alone(AloneReport::new(stacked, rows)));
        }
        let report = StackReport::new(stacked, rows, &run.stream("report"))?;
        Ok(Self::Stack(Box::new(report)))
    }

    /// Takes in what more rows say of the weights than the matrix has.
    pub(super) fn take(&mut self, solution: &Solution, judged: &Judged) {
        if let Self::Stack(stack) = self
            && let Combined::Weighed(weighing) = &mut stack.combined
        {
            let sampled = weighing.rows;
            weighing.take(solution, judged, sampled);
        }
    }

    /// Tells the rows of a table whose matrix is here that of a sample: all of them were predicted unseen.
    pub(super) fn tell_all(&mut self, rows: usize) {
        if let Self::Stack(stack) = self {
            match &mut stack.combined {
                Combined::Weighed(weighing) => weighing.rows = rows,
                Combined::Other(other) => other.rows = rows,
            }
        }
    }

    pub(super) fn add_notes<'a>(&mut self, notes: impl Iterator<Item = &'a String>) {
        let own = match self {
            Self::Stack(report) => &mut report.data_notes,
            Self::Alone(report) => &mut report.data_notes,
        };
        own.extend(notes.cloned());
    }

    /// What the user should know about how the columns were used and the folds were made.
    pub fn data_notes(&self) -> &[String] {
        match self {
            Self::Stack(report) => &report.data_notes,
            Self::Alone(report) => &report.data_notes,
        }
    }

    /// Whether what is kept reached its tolerance: the combination, and the weights shown for it.
    pub fn converged(&self) -> bool {
        match self {
            Self::Stack(report) => report.converged(),
            Self::Alone(_) => true,
        }
    }
}

impl StackReport {
    fn new<T: Weighable>(stacked: &Stacked<T>, rows: usize, run: &Run) -> Result<Self> {
        let ensemble = &stacked.ensemble;
        let matrix = ensemble.matrix().ok_or_else(|| Error::shape("out-of-sample matrix", 1, 0))?;
        let check = ensemble.assessment().cloned();
        let combined = if let Some(found) = ensemble.found_weights() {
            let mut weighing =
                weigh_found(matrix, found, &WeighOptions::default(), &run.planned())?;
            if check.is_some() {
                // The check of the whole stack stands in its place.
                weighing.cross_validated = None;
            }
            Combined::Weighed(Box::new(weighing))
        } else {
            Combined::Other(OtherCombination::new(ensemble, matrix, check.as_ref())?)
        };
        let combiner = check.as_ref().map_or(&stacked.combiner, |check| &check.chosen).clone();
        let kept = match check.as_ref().map(|check| check.verdict.kept) {
            _ if ensemble.is_replaced() => only_member(ensemble).into(),
            Some(Kept::Uniform) => Method::Uniform.name().into(),
            _ => "stack".into(),
        };
        let mut left_out: Vec<(&str, &str)> = Vec::new();
        for (name, failure) in matrix.failures() {
            if !left_out.iter().any(|(other, _)| other == name) {
                left_out.push((name, &failure.message));
            }
        }
        let failures = matrix.failures().iter().map(|(name, failure)| {
            format!("{name} in split {}: {}", failure.split + 1, failure.message)
        });
        Ok(Self {
            failures: failures.collect(),
            left_out: left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect(),
            combined,
            combiner,
            folds: stacked.folds,
            limit: ensemble.combination().limit().cloned(),
            check,
            figures: ensemble.figures().cloned(),
            intervals: ensemble.interval_report().cloned(),
            combination_converged: ensemble.combination().diagnostics().converged != Some(false),
            kept,
            calibration: ensemble.calibration().cloned(),
            table_rows: rows,
            sample: stacked.sampled.clone(),
            data_notes: Vec::new(),
        })
    }

    /// Whether what is kept reached its tolerance: the combination, and the weights shown for it.
    pub fn converged(&self) -> bool {
        let is_shown = matches!(self.kept.as_str(), "stack" | "uniform");
        let shown = match &self.combined {
            Combined::Weighed(weighing) => weighing.converged,
            Combined::Other(other) => other.converged != Some(false),
        };
        self.combination_converged && (shown || !is_shown)
    }
}

impl OtherCombination {
    fn new<T: Task>(
        ensemble: &Ensemble<T>,
        matrix: &OutOfSample<T>,
        check: Option<&Assessment>,
    ) -> Result<Self> {
        // Those of all members of the matrix, also where some without weight were left behind.
        let weights = ensemble.all_weights();
        let shown = Self::of(matrix, weights, ensemble.combination().diagnostics())?;
        Ok(Self {
            score: check.map(|check| check.stack.mean),
            gain_over_best: check.map(|check| check.gain_over_best),
            gain_over_uniform: check.map(|check| check.gain_over_uniform),
            ..shown
        })
    }

    /// Of a combination that was not checked.
    pub(super) fn of<T: Task>(
        matrix: &OutOfSample<T>,
        weights: Option<&[f64]>,
        diagnostics: Diagnostics,
    ) -> Result<Self> {
        let Diagnostics { converged, notes, series, .. } = diagnostics;
        let shares = matrix.shares()?;
        let alone = |m: usize| Estimate::of(&matrix.scores(m), &shares);
        let alone: Vec<Estimate> = (0..matrix.members().len()).map(alone).collect();
        let scores: Vec<f64> = alone.iter().map(|own| own.mean).collect();
        // Of a combination alone, without what it was learned as, the weights are fewer where members were left behind.
        let weights = weights.filter(|weights| weights.len() == scores.len());
        let member = |(m, name): (usize, &String)| OtherMember {
            name: name.clone(),
            weight: weights.map(|weights| weights[m]),
            se: None,
            score: scores[m],
            score_se: alone[m].se,
        };
        Ok(Self {
            task: T::KIND,
            rows: matrix.rows(),
            members: matrix.members().iter().enumerate().map(member).collect(),
            best: matrix.members()[first_largest(&scores)].clone(),
            score: None,
            gain_over_best: None,
            gain_over_uniform: None,
            converged,
            notes,
            series,
        })
    }
}

impl AloneReport {
    fn new<T: Task>(stacked: &Stacked<T>, rows: usize) -> Self {
        let Stacked { ensemble, failures, .. } = stacked;
        let count = ensemble.names().len();
        let member = |(name, model): (&str, &dyn Fitted<T>)| AloneMember {
            name: name.into(),
            weight: 1.0 / count as f64,
            notes: model.diagnostics().notes,
        };
        Self {
            task: T::KIND,
            rows,
            members: ensemble.names().zip(ensemble.models()).map(member).collect(),
            folds: 0,
            failures: failures.iter().map(|(name, f)| format!("{name}: {}", f.message)).collect(),
            data_notes: Vec::new(),
        }
    }
}

/// The member that has all the weight; others may be stored beside it.
fn only_member<T: Task>(ensemble: &Ensemble<T>) -> &str {
    let place = ensemble.combination().weights().map_or(0, first_largest);
    ensemble.names().nth(place).unwrap_or_default()
}
