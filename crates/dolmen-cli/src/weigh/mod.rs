//! `dolmen weigh`: the best combination of predictions from anywhere.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dolmen::combine::Method;
use dolmen::combine::weigh::{Errors, WeighOptions, Weighing};
use dolmen::ensemble::{Assessment, Candidate};
use dolmen::error::{Error, Result};
use dolmen::oos::CheckKind;
use dolmen::recipe::stream::{OpenedPredictions, PredictionBlocks};
use dolmen::recipe::{Apply, Combined, WeighRecipe, WeighReport};
use dolmen::run::Run;
use dolmen::score::Measure;
use dolmen::spec::Spec;
use dolmen::task::TaskKind;
use dolmen_report::Subject;
use serde::Serialize;

use crate::again::again;
use crate::args::{Calibrate, Common, DataFile, Format, Reading};
use crate::fit::{show_calibration, show_other};
use crate::output::{
    self, Done, Failure, TINY, columns, counted, difference, maybe, note, number, weight_bar,
};
use crate::picture::Shows;

/// Find the best combination of predictions made by any tool.
///
/// PREDICTIONS has one row per case and one column per member: what the member said about a case it had not seen.
///
/// Without --target the columns are densities p(x), or probabilities p(true class). With --target and columns named
/// member:class they are class probabilities; with --log as well, ln p(x, class) of generative models. With a numeric --target they are predicted numbers. A matrix kept by
/// `dolmen fit --oos`, or in the model by --keep-matrix, needs no options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen weigh densities.csv                # one density column per member
  dolmen weigh logdensities.parquet --log   # the same, as logarithms
  dolmen weigh probabilities.csv --target species   # columns forest:setosa ..
  dolmen weigh joints.csv --target species --log    # ln p(x, class) in them
  dolmen weigh probabilities.csv --target species \\
      --method simplex --method log-pool --method logistic
  dolmen weigh probabilities.csv --target species \\
      --calibrate temperature -o combined.csv
  dolmen weigh forecasts.csv --target demand --format json
  dolmen weigh forecasts.csv --target demand \\
      --plot weights.svg --report weights.html
  dolmen weigh forecasts.csv --target demand --method non-negative
  dolmen weigh forecasts.csv --target demand --method ridge \\
      --interval 0.9 -o combined.parquet
  dolmen weigh forecasts.csv --target demand --inputs hour --method gate \\
      --apply tomorrow.csv -o combined.csv")]
pub(crate) struct Weigh {
    /// CSV or Parquet by extension; `-` reads CSV from standard input; a folder of Parquet files or a pattern such as
    /// 'said/*.parquet'. Files larger than memory will do.
    predictions: DataFile,
    /// The column with the truth: classes or numbers.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The column with row weights.
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// The columns hold logarithms: of densities, or with --target of joint probabilities p(x, class).
    #[arg(long)]
    log: bool,
    /// How the members are combined: `dolmen learners` lists the combiners; may be given several times, and the one that does
    /// best on rows it has not seen is used.
    #[arg(long = "method", value_name = "SPEC", default_value = "simplex")]
    methods: Vec<String>,
    /// A column with an input of the rows, for `gate` and for learners with inputs=true; may be given several times.
    #[arg(long, value_name = "COLUMN")]
    inputs: Vec<String>,
    /// Where the combined predictions are written: CSV, JSON or Parquet by extension; `-` for stdout instead of the report.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Predictions of further rows by the same members, to be combined and written instead of those the weights are found on.
    #[arg(long, value_name = "FILE", requires = "output")]
    apply: Option<DataFile>,
    /// Calibrate class probabilities on rows the combiner has not seen.
    #[arg(long, value_enum)]
    calibrate: Option<Calibrate>,
    /// Also the interval that holds the truth with about this probability, such as 0.9 (numbers).
    #[arg(long, value_name = "LEVEL", requires = "output")]
    interval: Option<f64>,
    /// Dirichlet exponent of the weights for simplex and em: 1 is no prior, 2 pulls towards equal weights.
    #[arg(long, value_name = "A")]
    prior: Option<f64>,
    /// What greedy measures: log, brier, error, squared, absolute. [default: log score, or squared error for numbers]
    #[arg(long)]
    measure: Option<Measure>,
    /// Rounds of greedy. [default: 50]
    #[arg(long)]
    rounds: Option<usize>,
    /// Standard errors of the weights; `none` also skips leave-one-out losses and cross-validation.
    #[arg(long, value_enum, default_value_t = ErrorKind::Auto)]
    errors: ErrorKind,
    /// Exit with 0 even if the search for the combination missed its tolerance.
    #[arg(long)]
    allow_unconverged: bool,
    /// Bootstrap draws.
    #[arg(long, default_value_t = WeighOptions::default().draws)]
    draws: usize,
    /// How much memory weighing may take, such as 2G or 800M; predictions that need more are read block by block, for
    /// weights (but greedy and pseudo-bma+) and log-pool. [default: half of what can be had]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    #[command(flatten)]
    shows: Shows,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ErrorKind {
    /// Bootstrap for small files, sandwich for large ones.
    Auto,
    /// Bayesian bootstrap of the rows.
    Bootstrap,
    /// One pass; no errors for weights of zero.
    Sandwich,
    /// Weights and scores only.
    None,
}

/// The report, and where the combined predictions went.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    report: &'a WeighReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Path>,
}

pub(crate) fn run(weigh: &Weigh, common: &Common, out: &mut dyn Write) -> Done {
    let output = weigh.output.as_deref();
    let read = [Some(weigh.predictions.as_path()), weigh.apply.as_deref()];
    let read: Vec<&Path> = read.into_iter().flatten().collect();
    output::check_outputs(&read, &[("--output", output)])?;
    weigh.shows.check()?;
    let recipe = weigh.recipe(common)?;
    let run = common.run()?;
    let in_file = |error: Error| error.in_file(&weigh.predictions);
    let (matrix, x) =
        match recipe.open(&weigh.predictions, weigh.memory.as_deref(), &run).map_err(in_file)? {
            OpenedPredictions::Blocks(blocks) => {
                return weigh.blocks(&recipe, &blocks, run, common, out);
            }
            OpenedPredictions::Whole(whole) => {
                let (matrix, x, notes) = *whole;
                notes.iter().for_each(|text| note(common, text));
                (matrix, x)
            }
        };
    let apply = match &weigh.apply {
        Some(path) => Apply::Further(recipe.read_further(path, &matrix, &run)?),
        None if output.is_some() => Apply::Same,
        None => Apply::Nothing,
    };
    let blamed = weigh.apply.as_deref().unwrap_or(&weigh.predictions);
    let weighed =
        recipe.weigh(&matrix, x.as_ref(), apply, &run).map_err(|error| error.in_file(blamed))?;
    let judged = || recipe.judge(&matrix, x.as_ref(), &weighed, &run);
    let evidence = weigh.shows.is_any().then(judged).transpose()?;
    drop(run);
    if let Some(table) = &weighed.predictions {
        output::rows(table, output, common.format, out)?;
    }
    let report = &weighed.report;
    let again = again(common, recipe.seed, None);
    weigh.shows.write(&Subject::Weighing(report, evidence.as_ref()), Some(again), common)?;
    weigh.tell(report, common, out)
}

impl Weigh {
    fn recipe(&self, common: &Common) -> Result<WeighRecipe> {
        let methods = self.methods.iter().map(|text| Spec::parse(text));
        Ok(WeighRecipe {
            seed: common.seed.unwrap_or_default(),
            target: self.target.clone(),
            weights: self.weights.clone(),
            log: self.log,
            methods: methods.collect::<Result<_>>()?,
            inputs: self.inputs.clone(),
            calibration: self.calibrate.map(Into::into),
            interval: self.interval,
            prior: self.prior,
            measure: self.measure,
            rounds: self.rounds,
            errors: match self.errors {
                ErrorKind::Auto => Errors::Auto,
                ErrorKind::Bootstrap => Errors::Bootstrap,
                ErrorKind::Sandwich => Errors::Sandwich,
                ErrorKind::None => Errors::None,
            },
            draws: self.draws,
            reading: self.reading.recipe()?,
        })
    }

    /// Weighs predictions that are read block by block.
    fn blocks(
        &self,
        recipe: &WeighRecipe,
        blocks: &PredictionBlocks,
        run: Run,
        common: &Common,
        out: &mut dyn Write,
    ) -> Done {
        if self.apply.is_some() {
            let expected = "left out where predictions are read block by block";
            return Err(Error::param("apply", expected, "given").into());
        }
        let output = self.output.as_deref();
        output::check_outputs(&blocks.paths().collect::<Vec<_>>(), &[("--output", output)])?;
        let (report, notes) = match output {
            None => recipe.weigh_blocks(blocks, None, &run)?,
            Some(_) => output::row_blocks(output, common.format, out, |put| {
                recipe.weigh_blocks(blocks, Some(put), &run)
            })?,
        };
        drop(run);
        notes.iter().for_each(|text| note(common, text));
        let again = again(common, recipe.seed, None);
        self.shows.write(&Subject::Weighing(&report, None), Some(again), common)?;
        self.tell(&report, common, out)
    }

    /// Shows the report, unless predictions take its place.
    fn tell(&self, report: &WeighReport, common: &Common, out: &mut dyn Write) -> Done {
        let output = self.output.as_deref();
        if !output.is_some_and(output::is_standard) {
            match common.format {
                Format::Json => output::json(&Shown { report, output }, out)?,
                Format::Text => output::report(out, |out| report_text(report, output, out))?,
            }
        }
        if report.converged() || self.allow_unconverged { Ok(()) } else { Err(Failure::Negative) }
    }
}

fn report_text(report: &WeighReport, output: Option<&Path>, out: &mut dyn Write) -> Done {
    match &report.combined {
        Combined::Weighed(weighing) => show(weighing, out)?,
        Combined::Other(other) => {
            show_other(other, report.other_method.as_deref().unwrap_or_default(), out)?;
        }
    }
    if let Some(check) = &report.check {
        show_check(check, out)?;
    }
    show_calibration(report.calibration.as_ref(), out)?;
    if let Some(path) = output {
        writeln!(out, "output         {}", path.display())?;
    }
    Ok(())
}

/// How the candidates did on rows they had not seen.
fn show_check(check: &Assessment, out: &mut dyn Write) -> Done {
    writeln!(out, "check          rows held out from the combiner ({} folds)", check.folds)?;
    writeln!(out, "               {} the combination", number(check.stack.mean))?;
    let gain = difference(&check.gain_over_best);
    writeln!(out, "               {gain} over the member that other rows found best")?;
    writeln!(out, "               {} over equal weights", difference(&check.gain_over_uniform))?;
    if check.candidates.len() > 1 {
        writeln!(out)?;
        let row = |(at, candidate): (usize, &Candidate)| {
            let mark = if at == check.chosen_index { "used" } else { "" };
            let Candidate { name, score } = candidate;
            vec![name.clone(), number(score.mean), maybe(score.se), mark.into()]
        };
        columns(&["method", "score", "se", ""], check.candidates.iter().enumerate().map(row), out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Groups of members that can stand in for one another, and members of such a group, that are named; the others are counted.
const MOST_GROUPS: usize = 4;
const MOST_ALIKE: usize = 8;

/// Names in a line, the first of very many.
fn listed(names: &[String]) -> String {
    if names.len() <= MOST_ALIKE {
        return names.join(", ");
    }
    format!("{} and {} more", names[..MOST_ALIKE].join(", "), names.len() - MOST_ALIKE)
}

/// Members shown before the rest is summed up in a line.
const MOST_SHOWN: usize = 40;

/// Writes a weighing as a table and a summary.
pub(crate) fn show(weighing: &Weighing, out: &mut dyn Write) -> Done {
    show_titled(weighing, "loss without", out)
}

/// The same with a title for the losses without a member, which may come from a part of the rows.
pub(crate) fn show_titled(weighing: &Weighing, losses: &str, out: &mut dyn Write) -> Done {
    warn(weighing, out)?;
    let mut order: Vec<usize> = (0..weighing.members.len()).collect();
    let members = &weighing.members;
    order.sort_by(|&a, &b| {
        members[b]
            .weight
            .total_cmp(&members[a].weight)
            .then(members[b].score.total_cmp(&members[a].score))
    });
    let interval = |m: usize| {
        let mark = if members[m].beyond_resamples { " *" } else { "" };
        let bounds = members[m].interval;
        bounds.map_or_else(|| "-".into(), |[low, high]| format!("{low:.3} - {high:.3}{mark}"))
    };
    let row = |&m: &usize| {
        vec![
            members[m].name.clone(),
            format!("{:.4}", members[m].weight),
            weight_bar(members[m].weight, members.iter().map(|member| member.weight)),
            maybe(members[m].se.map(|se| if se < TINY { 0.0 } else { se })),
            interval(m),
            number(members[m].score),
            maybe(members[m].loo_loss),
        ]
    };
    let header = ["member", "weight", "", "se", "90 %", "score alone", losses];
    columns(&header, order.iter().take(MOST_SHOWN).map(row), out)?;
    if members.len() > MOST_SHOWN {
        let unused = members.iter().filter(|m| m.weight == 0.0).count();
        writeln!(out, "... {} members in all, {unused} of them without weight", members.len())?;
    }
    writeln!(out)?;
    summary(weighing, out)
}

fn summary(weighing: &Weighing, out: &mut dyn Write) -> Done {
    let score = if weighing.task.has_log_scores() { "log score" } else { weighing.task.score() };
    writeln!(out, "task           {} ({})", weighing.task, counted(weighing.rows, "row"))?;
    let is_lmg = weighing.task == TaskKind::Joint && weighing.method == Method::Simplex;
    let name = if is_lmg { "lmg" } else { weighing.method.name() };
    write!(out, "method         {name}")?;
    if let (Some(residual), true) = (weighing.kkt_residual, is_lmg) {
        let steps = weighing.iterations;
        write!(out, ", KKT residual {residual:.1e} after {steps} steps from the best start")?;
    } else if weighing.iterations > 0 {
        let gap = if weighing.gap == 0.0 { "0".into() } else { format!("{:.1e}", weighing.gap) };
        write!(out, ", certified gap {gap} after {}", counted(weighing.iterations, "pass"))?;
    }
    writeln!(out)?;
    let root = weighing.rmse().map_or_else(String::new, |rmse| format!("; RMSE {}", number(rmse)));
    let mean = number(weighing.score);
    writeln!(out, "score          {mean} ({score} per row, higher is better{root})")?;
    let best = format!("over '{}'", weighing.best);
    writeln!(out, "gain           {} {best}", difference(&weighing.gain_over_best))?;
    // Equal weights, and the weight of a single member, gain nothing over themselves.
    let is_other = weighing.method != Method::Uniform && weighing.members.len() > 1;
    if is_other {
        let gain = difference(&weighing.gain_over_uniform);
        writeln!(out, "               {gain} over equal weights")?;
    }
    if let Some(honest) = &weighing.cross_validated {
        let from = match honest.kind {
            CheckKind::Forward => format!("earlier rows ({})", counted(honest.folds, "block")),
            _ => format!("other rows ({})", counted(honest.folds, "fold")),
        };
        let score = number(honest.score);
        writeln!(out, "cross-checked  {score} score with weights from {from}")?;
        if honest.score.is_infinite() {
            writeln!(
                out,
                "               (with them some row has no probability at all; where neither side gives it any, \
                 the gains count it as 0)"
            )?;
        }
        let gain = difference(&honest.gain_over_best);
        writeln!(out, "               {gain} over the member that those rows found best")?;
        if is_other {
            let gain = difference(&honest.gain_over_uniform);
            writeln!(out, "               {gain} over equal weights")?;
        }
    }
    let groups = &weighing.interchangeable;
    for group in groups.iter().take(MOST_GROUPS) {
        writeln!(out, "alike          {} can stand in for one another", listed(group))?;
    }
    if groups.len() > MOST_GROUPS {
        let more = counted(groups.len() - MOST_GROUPS, "more group");
        writeln!(out, "               and so can the members of {more}")?;
    }
    if weighing.members.iter().any(|m| m.beyond_resamples) {
        writeln!(
            out,
            "note           * resamples of the rows lie to one side of this weight; the interval is stretched to it"
        )?;
    }
    if weighing.uninformative_rows > 0 {
        let rows = counted(weighing.uninformative_rows, "row");
        writeln!(out, "note           left out: {rows} to which every member gives 0")?;
    }
    Ok(())
}

/// Says, before anything else, that weights missed their tolerance.
fn warn(weighing: &Weighing, out: &mut dyn Write) -> Done {
    if weighing.converged {
        return Ok(());
    }
    let (method, passes) = (weighing.method.name(), counted(weighing.iterations, "pass"));
    writeln!(out, "NOT CONVERGED: {method} missed its tolerance after {passes}.")?;
    if let Some(residual) = weighing.kkt_residual {
        // The score of joint probabilities has several tops: what the conditions of one miss bounds nothing.
        let missed = number(residual);
        writeln!(
            out,
            "Other weights than those below may score better: the conditions of an optimum are missed by {missed}."
        )?;
    } else {
        let gap = number(weighing.gap);
        writeln!(out, "Other weights than those below may score better, by up to {gap} per row.")?;
    }
    Ok(writeln!(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_listed() {
        let names: Vec<String> = (0..20).map(|k| format!("m{k}")).collect();
        assert_eq!(listed(&names[..2]), "m0, m1");
        assert_eq!(listed(&names), "m0, m1, m2, m3, m4, m5, m6, m7 and 12 more");
    }
}
