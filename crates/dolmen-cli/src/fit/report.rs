//! What `dolmen fit` prints: the members and their weights, the check of the stack, and what was kept.

use std::io::Write;
use std::path::PathBuf;

use dolmen::combine::inference::Estimate;
use dolmen::combine::weigh::{WeighOptions, Weighing, weigh};
use dolmen::combine::{Weighable, Weights};
use dolmen::ensemble::{Assessment, Calibration, Candidate, Ensemble};
use dolmen::error::{Error, Result};
use dolmen::learner::{Diagnostics, Run, Series};
use dolmen::math::first_largest;
use dolmen::oos::OutOfSample;
use dolmen::task::Task;
use serde::Serialize;

use crate::output::{Done, columns, difference, maybe, number};
use crate::weigh::show as show_weighing;

/// The whole result.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    combined: Combined,
    combiner: String,
    folds: usize,
    check: Option<Assessment>,
    /// `stack`, or the member that took its place.
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
            let mut weighing = weigh(matrix, &options, run)?;
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
        let kept = match alone {
            Some(weights) => matrix.members()[first_largest(weights)].clone(),
            None => "stack".into(),
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
            kept,
            calibration: ensemble.calibration().cloned(),
            model: None,
        })
    }

    pub(super) fn show(&self, out: &mut dyn Write) -> Done {
        match &self.combined {
            Combined::Weighed(weighing) => show_weighing(weighing, out)?,
            Combined::Other(other) => other.show(&self.combiner, out)?,
        }
        if let Some(check) = &self.check {
            show_check(check, out)?;
        }
        match (&self.check, self.kept.as_str()) {
            (Some(check), "stack") if check.gain_over_best.mean > 0.0 => {
                writeln!(
                    out,
                    "kept           the stack: its gain over the best member is above 0"
                )?;
            }
            (Some(_), "stack") => {
                writeln!(
                    out,
                    "kept           the stack, though its gain over the best member is not above 0"
                )?;
            }
            (Some(_), member) => {
                writeln!(
                    out,
                    "kept           '{member}' alone: the stack's gain over the best member is not above 0"
                )?;
                writeln!(out, "               (--keep-stack keeps the stack)")?;
            }
            (None, _) => {}
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

/// The check, in the manner of a weighing's summary.
fn show_check(check: &Assessment, out: &mut dyn Write) -> Done {
    let held_out = if check.nested { "members and weights alike" } else { "the weights" };
    writeln!(out, "check          rows held out from {held_out} ({} folds)", check.folds)?;
    let score =
        |estimate: &Estimate| format!("{} (se {})", number(estimate.mean), maybe(estimate.se));
    writeln!(out, "               {} the stack", score(&check.stack))?;
    writeln!(out, "               {} the best member", score(&check.best_member))?;
    writeln!(out, "               {} equal weights", score(&check.uniform))?;
    writeln!(out, "               {} over the best member", difference(&check.gain_over_best))?;
    writeln!(out, "               {} over equal weights", difference(&check.gain_over_uniform))?;
    if check.candidates.len() > 1 {
        writeln!(out)?;
        let row = |candidate: &Candidate| {
            let mark = if candidate.name == check.chosen { "used" } else { "" };
            let Candidate { name, score } = candidate;
            vec![name.clone(), number(score.mean), maybe(score.se), mark.into()]
        };
        columns(&["combiner", "score", "se", ""], check.candidates.iter().map(row), out)?;
        writeln!(out)?;
    }
    Ok(())
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
        writeln!(out, "task           {} ({} rows)", self.task, self.rows)?;
        writeln!(out, "method         {combiner}")?;
        self.notes.iter().try_for_each(|note| writeln!(out, "note           {note}"))?;
        if self.converged == Some(false) {
            writeln!(out, "note           the combiner's tolerance was not reached")?;
        }
        Ok(())
    }
}
