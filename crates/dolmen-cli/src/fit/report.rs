//! What `dolmen fit` prints: the members and their weights, the check of the stack, and what was kept.

use std::io::Write;
use std::path::PathBuf;

use dolmen::combine::weigh::{WeighOptions, Weighing, plan_weighing, weigh};
use dolmen::combine::{Method, Weighable, Weights};
use dolmen::ensemble::{Assessment, Calibration, Ensemble, IntervalReport, Kept, StackFigures};
use dolmen::error::{Error, Result};
use dolmen::learner::{Diagnostics, Series};
use dolmen::math::first_largest;
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::task::Task;
use serde::Serialize;

use super::evidence::{intervals_title, show_check, show_coverage, show_figures, show_verdict};
use crate::output::{Done, columns, counted, number};
use crate::weigh::show as show_weighing;

/// The whole result.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    combined: Combined,
    combiner: String,
    folds: usize,
    check: Option<Assessment>,
    /// The figures people know, of the stack, the best member and equal weights.
    figures: Option<StackFigures>,
    /// Of numbers: the prediction intervals, and how often they held the truth of rows held out.
    intervals: Option<IntervalReport>,
    /// Whether the combination that is kept reached its tolerance, or needs none.
    combination_converged: bool,
    /// `stack`, or what took its place: `uniform` or a member.
    kept: String,
    calibration: Option<Calibration>,
    /// Every fit that failed.
    failures: Vec<String>,
    /// The members that took no part because of that, each with the first thing it said.
    left_out: Vec<String>,
    pub(super) model: Option<PathBuf>,
}

/// How the members were combined.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Combined {
    /// By one weight each.
    Weighed(Box<Weighing>),
    /// In another way.
    Other(Other),
}

#[derive(Debug, Serialize)]
struct Other {
    task: &'static str,
    rows: usize,
    members: Vec<Member>,
    best: String,
    /// The mean score of the stack in its check.
    score: Option<f64>,
    gain_over_best: Option<Estimate>,
    gain_over_uniform: Option<Estimate>,
    converged: Option<bool>,
    notes: Vec<String>,
    series: Vec<Series>,
}

#[derive(Debug, Serialize)]
struct Member {
    name: String,
    weight: Option<f64>,
    se: Option<f64>,
    score: f64,
}

/// Plans what the report will take, as part of the whole work, for so many rows and members.
pub(super) fn plan_report(rows: usize, members: usize, run: &Run) {
    plan_weighing(&WeighOptions::default(), rows, members, run);
}

impl Report {
    pub(super) fn new<T: Weighable>(
        ensemble: &Ensemble<T>,
        combiner: String,
        weights: Option<Weights>,
        folds: usize,
        run: &Run,
    ) -> Result<Self> {
        let matrix = ensemble.matrix().ok_or_else(|| Error::shape("out-of-sample matrix", 1, 0))?;
        let check = ensemble.assessment().cloned();
        let combined = if let Some(weights) = weights {
            let options = WeighOptions { weights, ..WeighOptions::default() };
            let mut weighing = weigh(matrix, &options, &run.planned())?;
            if check.is_some() {
                // The check of the whole stack stands in its place.
                weighing.cross_validated = None;
            }
            Combined::Weighed(Box::new(weighing))
        } else {
            Combined::Other(Other::new(ensemble, matrix, check.as_ref())?)
        };
        let combiner = check.as_ref().map_or(combiner, |check| check.chosen.clone());
        let alone = ensemble.combination().weights().filter(|_| ensemble.is_replaced());
        let kept = match (alone, check.as_ref().map(|check| check.verdict.kept)) {
            (Some(weights), _) => matrix.members()[first_largest(weights)].clone(),
            (None, Some(Kept::Uniform)) => Method::Uniform.name().into(),
            (None, _) => "stack".into(),
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
            left_out: left_out.iter().map(|(name, says)| format!("{name}: {says}")).collect(),
            combined,
            combiner,
            folds,
            check,
            figures: ensemble.figures().cloned(),
            intervals: ensemble.interval_report().cloned(),
            combination_converged: ensemble.combination().diagnostics().converged != Some(false),
            kept,
            calibration: ensemble.calibration().cloned(),
            model: None,
        })
    }

    /// Whether what is kept reached its tolerance: the combination, and the weights shown for it.
    pub(super) fn converged(&self) -> bool {
        let is_shown = matches!(self.kept.as_str(), "stack" | "uniform");
        let shown = match &self.combined {
            Combined::Weighed(weighing) => weighing.converged,
            Combined::Other(other) => other.converged != Some(false),
        };
        self.combination_converged && (shown || !is_shown)
    }

    pub(super) fn show(&self, out: &mut dyn Write) -> Done {
        match &self.combined {
            Combined::Weighed(weighing) => show_weighing(weighing, out)?,
            Combined::Other(other) => other.show(&self.combiner, out)?,
        }
        if let Some(check) = &self.check {
            show_check(check, out)?;
        }
        if self.check.is_none() {
            writeln!(out)?;
        }
        if let Some(figures) = &self.figures {
            show_figures(figures, self.calibration.is_some(), out)?;
        }
        if let Some(intervals) = &self.intervals {
            show_coverage(intervals_title(intervals.kind), &intervals.coverage, out)?;
        }
        if let Some(check) = &self.check {
            show_verdict(&check.verdict, &self.kept, out)?;
        }
        match &self.calibration {
            None => {}
            Some(Calibration::Temperature(temperature)) => {
                writeln!(out, "calibration    temperature {temperature:.3}")?;
            }
            Some(Calibration::Isotonic(_)) => writeln!(out, "calibration    isotonic")?,
        }
        show_failures(&self.left_out, out)?;
        if let Some(model) = &self.model {
            writeln!(out, "model          {}", model.display())?;
        }
        Ok(())
    }
}

/// Members that took no part, and why.
pub(super) fn show_failures(left_out: &[String], out: &mut dyn Write) -> Done {
    left_out.iter().try_for_each(|text| Ok(writeln!(out, "left out       {text}")?))
}

impl Other {
    fn new<T: Task>(
        ensemble: &Ensemble<T>,
        matrix: &OutOfSample<T>,
        check: Option<&Assessment>,
    ) -> Result<Self> {
        let Diagnostics { converged, notes, series, .. } = ensemble.combination().diagnostics();
        let weights = ensemble.combination().weights();
        let scores: Vec<f64> = (0..matrix.members().len())
            .map(|m| Ok(Estimate::of(&matrix.scores(m), &matrix.shares()?).mean))
            .collect::<Result<_>>()?;
        let member = |(m, name): (usize, &String)| Member {
            name: name.clone(),
            weight: weights.map(|weights| weights[m]),
            se: None,
            score: scores[m],
        };
        Ok(Self {
            task: T::NAME,
            rows: matrix.rows(),
            members: matrix.members().iter().enumerate().map(member).collect(),
            best: matrix.members()[first_largest(&scores)].clone(),
            score: check.map(|check| check.stack.mean),
            gain_over_best: check.map(|check| check.gain_over_best),
            gain_over_uniform: check.map(|check| check.gain_over_uniform),
            converged,
            notes,
            series,
        })
    }

    fn show(&self, combiner: &str, out: &mut dyn Write) -> Done {
        if self.converged == Some(false) {
            writeln!(out, "NOT CONVERGED: {combiner} missed its tolerance.\n")?;
        }
        let mut order: Vec<&Member> = self.members.iter().collect();
        order.sort_by(|a, b| b.score.total_cmp(&a.score));
        let weight =
            |member: &Member| member.weight.map_or_else(|| "-".into(), |w| format!("{w:.4}"));
        let row =
            |member: &&Member| vec![member.name.clone(), weight(member), number(member.score)];
        columns(&["member", "weight", "score alone"], order.iter().map(row), out)?;
        writeln!(out)?;
        for series in &self.series {
            let rows = series.labels.iter().zip(&series.values);
            let row = |(label, value): (&String, &f64)| vec![label.clone(), number(*value)];
            columns(&[combiner, &series.name], rows.map(row), out)?;
            writeln!(out)?;
        }
        writeln!(out, "task           {} ({})", self.task, counted(self.rows, "row"))?;
        writeln!(out, "method         {combiner}")?;
        self.notes.iter().try_for_each(|note| writeln!(out, "note           {note}"))?;
        Ok(())
    }
}
