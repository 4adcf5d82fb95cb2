//! Combinations of outside predictions that are more than weights, their check, and the combined predictions as a table.

use std::io::Write;
use std::path::PathBuf;

use dolmen::catalogue::Catalogued;
use dolmen::combine::weigh::Weighing;
use dolmen::combine::{Combiner, Weights};
use dolmen::ensemble::{Assessment, Blend, BlendOptions, Calibration, Candidate};
use dolmen::error::{Error, Result};
use dolmen::learner::{Diagnostics, Series};
use dolmen::math::first_largest;
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Column, Features, Table};
use dolmen::target::Target;
use dolmen::task::{Classification, Density, Joint, Regression, Task};
use serde::Serialize;

use super::{Weigh, show};
use crate::output::{self, Done, columns, difference, maybe, number};
use crate::predict::class_columns;

/// What `dolmen weigh` tells.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    combined: Combined,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Assessment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    /// Where the combined predictions went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Combined {
    Weighed(Box<Weighing>),
    Other(Other),
}

/// A combination without a weight for each member, or with powers in their place.
#[derive(Debug, Serialize)]
struct Other {
    task: &'static str,
    method: String,
    rows: usize,
    members: Vec<Member>,
    best: String,
    converged: Option<bool>,
    notes: Vec<String>,
    series: Vec<Series>,
}

#[derive(Debug, Serialize)]
struct Member {
    name: String,
    weight: Option<f64>,
    score: f64,
}

/// A task whose combined predictions can be written.
pub(super) trait Written: Catalogued {
    fn columns(
        weigh: &Weigh,
        blend: &Blend<Self>,
        combined: Vec<f64>,
        classes: &[String],
    ) -> Result<Vec<(String, Column)>>;

    /// Refuses options that are for other tasks.
    fn check(weigh: &Weigh) -> Result<()> {
        match weigh.interval {
            Some(level) => Err(Error::param("interval", "left out: it is for numbers", level)),
            None => Ok(()),
        }
    }
}

impl Written for Density {
    fn columns(
        weigh: &Weigh,
        _blend: &Blend<Self>,
        mut combined: Vec<f64>,
        _classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        if weigh.log {
            return Ok(vec![("log_density".into(), Column::Numeric(combined))]);
        }
        combined.iter_mut().for_each(|log| *log = log.exp());
        Ok(vec![("density".into(), Column::Numeric(combined))])
    }
}

impl Written for Classification {
    fn columns(
        _weigh: &Weigh,
        _blend: &Blend<Self>,
        combined: Vec<f64>,
        classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        Ok(class_columns(classes, &combined))
    }
}

impl Written for Joint {
    fn columns(
        _weigh: &Weigh,
        _blend: &Blend<Self>,
        combined: Vec<f64>,
        classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        Ok(class_columns(classes, &Self::posteriors(&combined, classes.len())))
    }
}

impl Written for Regression {
    fn columns(
        weigh: &Weigh,
        blend: &Blend<Self>,
        combined: Vec<f64>,
        _classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        let mut columns = Vec::new();
        if let Some(level) = weigh.interval {
            let intervals = blend.intervals(&combined, level)?;
            let bound = |side: usize| {
                Column::Numeric(intervals.iter().map(|bounds| bounds[side]).collect())
            };
            columns = vec![("lower".into(), bound(0)), ("upper".into(), bound(1))];
        }
        columns.insert(0, ("mean".into(), Column::Numeric(combined)));
        Ok(columns)
    }

    fn check(_weigh: &Weigh) -> Result<()> {
        Ok(())
    }
}

impl Weigh {
    /// The report, and the combined predictions if they are to be written.
    pub(super) fn combine<T: Written>(
        &self,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        run: &Run,
    ) -> Result<(Report, Option<Table>)> {
        T::check(self)?;
        let specs = self.specs()?;
        let weights: Vec<Option<Weights>> =
            specs.iter().map(|spec| self.weights_of(spec)).collect::<Result<_>>()?;
        let alone = weights.first().filter(|_| weights.len() == 1).cloned().flatten();
        let chooses = alone.is_none();
        let blends = chooses || self.calibrate.is_some() || self.output.is_some();
        if !blends && let Some(weights) = alone {
            let weighing = Box::new(self.weigh(weights, matrix, run)?);
            let combined = Combined::Weighed(weighing);
            return Ok((Report { combined, check: None, calibration: None, output: None }, None));
        }
        let combiners =
            specs.iter().zip(&weights).map(|(spec, weights)| named::<T>(spec, weights.as_ref()));
        let combiners: Vec<Box<dyn Combiner<T>>> = combiners.collect::<Result<_>>()?;
        let options = BlendOptions {
            calibration: self.calibrate.map(Into::into),
            check: chooses || self.calibrate.is_some() || self.interval.is_some(),
        };
        let inputs = x.map(Features::rows);
        let mut blend = Blend::fit(matrix, inputs, &combiners, options, &run.child(0))?;
        let used = combiners.iter().position(|c| c.rungs().iter().any(|r| r == blend.name()));
        let combined = match used.and_then(|used| weights[used].clone()) {
            Some(weights) => {
                let weighing = self.weigh(weights, matrix, run)?;
                blend = blend.weighed(weighing.members.iter().map(|m| m.weight).collect());
                Combined::Weighed(Box::new(weighing))
            }
            None => Combined::Other(Other::new(&blend, matrix)?),
        };
        let table = self.table(&blend, matrix, x, run)?;
        let check = blend.assessment().cloned();
        let calibration = blend.calibration().cloned();
        Ok((Report { combined, check, calibration, output: None }, table))
    }

    /// The combined predictions, of further rows if there are any.
    fn table<T: Written>(
        &self,
        blend: &Blend<T>,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        run: &Run,
    ) -> Result<Option<Table>> {
        if self.output.is_none() {
            return Ok(None);
        }
        let combined = if let Some(path) = &self.apply {
            let further = self.further(path, matrix, x, run);
            let (members, x) = further.map_err(|e| e.in_file(path))?;
            let members: Vec<&[f64]> = members.iter().map(Vec::as_slice).collect();
            blend.combine(&members, x.as_ref().map(Features::rows))?
        } else {
            let members: Vec<&[f64]> =
                (0..matrix.members().len()).map(|m| matrix.column(m)).collect();
            blend.combine(&members, x.map(Features::rows))?
        };
        Table::new(T::columns(self, blend, combined, matrix.target().classes())?).map(Some)
    }
}

/// The combiner of a spec, or of the weights it asks for.
fn named<T: Catalogued>(spec: &Spec, weights: Option<&Weights>) -> Result<Box<dyn Combiner<T>>> {
    match weights {
        Some(weights) => Ok(Box::new(weights.clone())),
        None => T::combiner(spec),
    }
}

impl Other {
    fn new<T: Task>(blend: &Blend<T>, matrix: &OutOfSample<T>) -> Result<Self> {
        let Diagnostics { converged, notes, series, .. } = blend.combination().diagnostics();
        let weights = blend.combination().weights();
        let shares = matrix.shares()?;
        let score = |m: usize| {
            matrix
                .scores(m)
                .iter()
                .zip(&shares)
                .filter(|(_, s)| **s > 0.0)
                .map(|(v, s)| v * s)
                .sum()
        };
        let member = |(m, name): (usize, &String)| Member {
            name: name.clone(),
            weight: weights.map(|weights| weights[m]),
            score: score(m),
        };
        let members: Vec<Member> = matrix.members().iter().enumerate().map(member).collect();
        let best = first_largest(&members.iter().map(|m| m.score).collect::<Vec<f64>>());
        Ok(Self {
            task: T::NAME,
            method: blend.name().into(),
            rows: matrix.rows(),
            best: members[best].name.clone(),
            members,
            converged,
            notes,
            series,
        })
    }

    fn show(&self, out: &mut dyn Write) -> Done {
        if self.converged == Some(false) {
            writeln!(out, "NOT CONVERGED: {} missed its tolerance.\n", self.method)?;
        }
        let mut order: Vec<&Member> = self.members.iter().collect();
        order.sort_by(|a, b| b.score.total_cmp(&a.score));
        let weight = |m: &Member| m.weight.map_or_else(|| "-".into(), |w| format!("{w:.4}"));
        let row = |m: &&Member| vec![m.name.clone(), weight(m), number(m.score)];
        columns(&["member", "weight", "score alone"], order.iter().map(row), out)?;
        writeln!(out)?;
        for series in &self.series {
            let rows = series.labels.iter().zip(&series.values);
            let row = |(label, value): (&String, &f64)| vec![label.clone(), number(*value)];
            columns(&[&self.method, &series.name], rows.map(row), out)?;
            writeln!(out)?;
        }
        writeln!(out, "task           {} ({})", self.task, output::counted(self.rows, "row"))?;
        writeln!(out, "method         {}", self.method)?;
        Ok(self.notes.iter().try_for_each(|note| writeln!(out, "note           {note}"))?)
    }
}

impl Report {
    /// Whether no search missed its tolerance.
    pub(super) fn converged(&self) -> bool {
        match &self.combined {
            Combined::Weighed(weighing) => weighing.converged,
            Combined::Other(other) => other.converged != Some(false),
        }
    }

    pub(super) fn show(&self, out: &mut dyn Write) -> Done {
        match &self.combined {
            Combined::Weighed(weighing) => show(weighing, out)?,
            Combined::Other(other) => other.show(out)?,
        }
        if let Some(check) = &self.check {
            show_check(check, out)?;
        }
        match &self.calibration {
            None => {}
            Some(Calibration::Temperature(temperature)) => {
                writeln!(out, "calibration    temperature {temperature:.3}")?;
            }
            Some(Calibration::Isotonic(_)) => writeln!(out, "calibration    isotonic")?,
        }
        if let Some(path) = &self.output {
            writeln!(out, "output         {}", path.display())?;
        }
        Ok(())
    }
}

/// How the candidates did on rows they had not seen.
fn show_check(check: &Assessment, out: &mut dyn Write) -> Done {
    writeln!(out, "check          rows held out from the combiner ({} folds)", check.folds)?;
    writeln!(out, "               {} the combination", number(check.stack.mean))?;
    writeln!(out, "               {} over the best member", difference(&check.gain_over_best))?;
    writeln!(out, "               {} over equal weights", difference(&check.gain_over_uniform))?;
    if check.candidates.len() > 1 {
        writeln!(out)?;
        let row = |candidate: &Candidate| {
            let mark = if candidate.name == check.chosen { "used" } else { "" };
            let Candidate { name, score } = candidate;
            vec![name.clone(), number(score.mean), maybe(score.se), mark.into()]
        };
        columns(&["method", "score", "se", ""], check.candidates.iter().map(row), out)?;
        writeln!(out)?;
    }
    Ok(())
}
