//! What `dolmen fit` prints: the members and their weights, the check of the stack, and what was kept.

use std::io::Write;
use std::path::PathBuf;

use dolmen::combine::inference::Estimate;
use dolmen::combine::weigh::{WeighOptions, Weighing, plan_weighing, weigh};
use dolmen::combine::{Method, Weighable, Weights};
use dolmen::ensemble::{
    Assessment, Calibration, Candidate, Ensemble, Kept, StackFigures, Surety, Verdict,
};
use dolmen::error::{Error, Result};
use dolmen::evaluate::figures::Estimates;
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
    /// The figures people know, of the stack, the best member and equal weights.
    figures: Option<StackFigures>,
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
        if self.check.is_none() {
            writeln!(out)?;
        }
        if let Some(figures) = &self.figures {
            show_figures(figures, self.calibration.is_some(), out)?;
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

/// The check, in the manner of a weighing's summary.
fn show_check(check: &Assessment, out: &mut dyn Write) -> Done {
    let held_out = if check.nested { "members and weights alike" } else { "the weights" };
    writeln!(out, "check          rows held out from {held_out} ({} folds)", check.folds)?;
    let score =
        |estimate: &Estimate| format!("{} (se {})", number(estimate.mean), maybe(estimate.se));
    writeln!(out, "               {} the stack{}", score(&check.stack), choice(check))?;
    writeln!(out, "               {} the best member", score(&check.best_member))?;
    writeln!(out, "               {} equal weights", score(&check.uniform))?;
    writeln!(out, "               {} over the best member", difference(&check.gain_over_best))?;
    writeln!(out, "               {} over equal weights", difference(&check.gain_over_uniform))?;
    if check.candidates.len() > 1 {
        writeln!(out)?;
        let row = |candidate: &Candidate| {
            let Candidate { name, score } = candidate;
            vec![name.clone(), number(score.mean), maybe(score.se), mark(check, name).into()]
        };
        columns(&["combiner", "score", "se", ""], check.candidates.iter().map(row), out)?;
    }
    Ok(writeln!(out)?)
}

/// What the stack of the check is: one combiner, or the choice among several.
fn choice(check: &Assessment) -> String {
    match &check.candidates[..check.asked_for] {
        [] | [_] => String::new(),
        _ => ": in each fold the combiner that did best in the others".into(),
    }
}

/// What is told beside a candidate: that it is used, or would be if a stack were kept, and why.
fn mark(check: &Assessment, name: &str) -> &'static str {
    let kept = check.verdict.kept;
    if name != check.chosen {
        return "";
    }
    match kept {
        Kept::BestMember => "not used: the best member is kept",
        Kept::Uniform => "used: better than stack and best member",
        Kept::Stack if check.asked_for > 1 => "used: the best combiner",
        Kept::Stack => "used",
    }
}

/// The usual figures, one line for each of those compared.
fn show_figures(figures: &StackFigures, calibrated: bool, out: &mut dyn Write) -> Done {
    // The mean score of a density is its only figure, and stands there already.
    let shown: Vec<&str> = figures.stack.keys().copied().filter(|f| *f != "log_density").collect();
    if shown.is_empty() {
        return Ok(());
    }
    let row = |(name, own): (&str, &Estimates)| {
        let cell = |figure: &&str| {
            let Estimate { mean, se } = own[*figure];
            format!("{} ({})", number(mean), maybe(se))
        };
        [name.to_string()].into_iter().chain(shown.iter().map(cell)).collect::<Vec<_>>()
    };
    let rows = [
        ("the stack", &figures.stack),
        ("the best member", &figures.best_member),
        ("equal weights", &figures.uniform),
    ];
    let first = if figures.held_out { "on rows held out" } else { "on the rows learned from" };
    let header: Vec<&str> = [first].into_iter().chain(shown.iter().copied()).collect();
    columns(&header, rows.into_iter().map(row), out)?;
    let before = if calibrated { "; before calibration" } else { "" };
    writeln!(out, "(standard errors in brackets{before})\n")?;
    Ok(())
}

/// What is kept, and how sure it is that this is right.
fn show_verdict(verdict: &Verdict, kept: &str, out: &mut dyn Write) -> Done {
    let gain = difference(&verdict.gain);
    let (what, whose) = match verdict.kept {
        Kept::Stack => ("the stack".to_string(), "its gain over the best member"),
        Kept::Uniform => ("equal weights".to_string(), "their gain over the best member"),
        Kept::BestMember => {
            (format!("'{kept}' alone"), "its lead over the stack and over equal weights")
        }
    };
    let sure = match verdict.surety {
        Surety::Clear => "is clear",
        Surety::Likely => "is likely, not sure",
        Surety::Unsure => "is unsure",
        Surety::Not if verdict.kept == Kept::BestMember => "is none, but it is the simplest",
        Surety::Not => "is not above 0",
    };
    let asked = if verdict.by_check { "" } else { " (as asked)" };
    writeln!(out, "kept           {what}{asked}: {whose}, {gain}, {sure}")?;
    if let (Surety::Likely | Surety::Unsure, Some(chance)) = (verdict.surety, verdict.chance) {
        let often = (100.0 * chance).round();
        writeln!(
            out,
            "               (without a true one, so much or more comes up in {often} of 100 checks)"
        )?;
    }
    if verdict.kept != Kept::Stack {
        writeln!(out, "               (--keep-stack keeps the stack)")?;
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
