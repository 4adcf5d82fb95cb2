//! `dolmen demo`: the whole way on data sets that the program carries.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use dolmen::catalogue::Catalogued;
use dolmen::combine::weigh::{WeighOptions, Weighing, weigh};
use dolmen::ensemble::{Ensemble, Stack};
use dolmen::error::{Error, Result};
use dolmen::learner::{Sample, predict};
use dolmen::plan::{HoldOut, PlanSpec, Portion, RowKeys};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Categories, Column, Features, Schema};
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Density, Regression, Task};
use serde::Serialize;

use crate::args::{Common, Format};
use crate::examples::Example;
use crate::output::{self, Done, columns, number};
use crate::weigh::show;

/// Stack models on data that the program carries, in seconds: a classifier, a regression or a density.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen demo
  dolmen demo regress
  dolmen demo density --format json")]
pub(crate) struct Demo {
    /// What is shown.
    #[arg(value_enum, default_value_t = Subject::Classify)]
    subject: Subject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Which sex a penguin is of.
    Classify,
    /// How much ozone is in the air of Los Angeles.
    Regress,
    /// The six models of Smyth and Wolpert (1999) for iris.
    Density,
}

impl Subject {
    fn members(self) -> &'static [&'static str] {
        match self {
            Self::Classify => {
                &["logistic", "naive-bayes", "neighbours", "forest(trees=100)", "boost"]
            }
            Self::Regress => &["ridge", "neighbours", "tree", "forest(trees=100)", "boost"],
            Self::Density => &[
                "kernel(shape=triangular, bandwidth=[0.1, 0.4, 1.5])",
                "mixture(components=[2, 4, 8], schedule=sw99)",
            ],
        }
    }

    /// What is done, for `train` rows learned from.
    fn story(self, train: usize) -> String {
        match self {
            Self::Classify => format!(
                "Penguins, six columns of {train} birds: a linear model, naive Bayes, neighbours, a forest and boosting,\n\
                 weighed by the probability that each gives the sex of birds it has not seen.\n"
            ),
            Self::Regress => format!(
                "Ozone in Los Angeles, twelve columns of {train} days with gaps: a linear model, neighbours, a tree, a forest\n\
                 and boosting, weighed by their errors on days they have not seen.\n"
            ),
            Self::Density => format!(
                "Iris, four measurements of {train} flowers: three kernel densities and three Gaussian mixtures,\n\
                 weighed by what each says about flowers it has not seen.\n"
            ),
        }
    }

    /// What comes next.
    fn next(self) -> &'static str {
        match self {
            Self::Classify => {
                "next: dolmen generate example penguins -o penguins.csv\n      \
                 dolmen fit penguins.csv --target sex -o penguins.dolmen"
            }
            Self::Regress => {
                "next: dolmen generate example ozone -o ozone.csv\n      \
                 dolmen fit ozone.csv --target ozone -o ozone.dolmen"
            }
            Self::Density => {
                "next: dolmen generate example geyser -o geyser.csv\n      \
                 dolmen fit geyser.csv -o geyser.dolmen"
            }
        }
    }
}

/// The share of the rows that take part in nothing.
const TEST: f64 = 0.2;

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    weighing: Weighing,
    /// How the stack and its members do on rows that took part in nothing.
    held_out: Vec<HeldOut>,
    #[serde(skip)]
    learned_from: usize,
    #[serde(skip)]
    tested_on: usize,
}

#[derive(Debug, Serialize)]
struct HeldOut {
    name: String,
    figures: BTreeMap<&'static str, f64>,
}

pub(crate) fn run(demo: &Demo, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let report = match demo.subject {
        Subject::Classify => penguins(&run)?,
        Subject::Regress => ozone(&run)?,
        Subject::Density => iris(&run)?,
    };
    drop(run);
    if common.format == Format::Json {
        return output::json(&report, out);
    }
    writeln!(out, "{}", demo.subject.story(report.learned_from))?;
    show(&report.weighing, out)?;
    writeln!(out, "\n{} other rows:\n", report.tested_on)?;
    let mut header = vec!["model"];
    header.extend(report.held_out[0].figures.keys());
    let row = |line: &HeldOut| {
        let figures = line.figures.values().map(|value| number(*value));
        std::iter::once(line.name.clone()).chain(figures).collect()
    };
    columns(&header, report.held_out.iter().map(row), out)?;
    Ok(writeln!(out, "\n{}", demo.subject.next())?)
}

fn penguins(run: &Run) -> Result<Report> {
    let mut table = Example::Penguins.table(run)?;
    let Column::Categorical(Categories { levels, codes }) = table.take("sex")? else {
        return Err(Error::param("sex", "categories", "numbers"));
    };
    // Of a few birds it is not known.
    let known: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] != Categories::MISSING).collect();
    let x = Arc::new(Schema::of(&table)).encode(&table)?.rows().select(&known);
    let labels = Labels::new(levels, known.iter().map(|&i| codes[i]).collect())?;
    stacked::<Classification>(Subject::Classify, &x, &labels, run)
}

fn ozone(run: &Run) -> Result<Report> {
    let mut table = Example::Ozone.table(run)?;
    let y = table.take("ozone")?.into_numbers("ozone")?;
    // On a few days it was not measured.
    let known: Vec<usize> = (0..y.len()).filter(|&i| !y[i].is_nan()).collect();
    let x = Arc::new(Schema::of(&table)).encode(&table)?.rows().select(&known);
    stacked::<Regression>(Subject::Regress, &x, &y.select(&known), run)
}

fn iris(run: &Run) -> Result<Report> {
    let mut table = Example::Iris.table(run)?;
    table.take("Species")?;
    let x = Arc::new(Schema::of(&table)).encode(&table)?;
    stacked::<Density>(Subject::Density, &x, &(), run)
}

/// Stacks the subject's members on most of the rows and tests them on the others.
fn stacked<T: Catalogued>(
    subject: Subject,
    x: &Features,
    y: &T::Target,
    run: &Run,
) -> Result<Report> {
    let all = Sample::<T>::new(x.rows(), y)?;
    let keys = RowKeys { classes: y.strata(), ..RowKeys::default() };
    let scheme = HoldOut { test: Portion::Fraction(TEST), stratify: keys.classes.is_some() };
    let plan = PlanSpec::HoldOut(scheme).build(all.rows(), &keys, &run.child(0))?;
    let split = &plan.splits()[0];
    let (train, test) = (all.select(&split.train(all.rows())), all.select(split.test()));
    let learners = subject.members().iter().map(|spec| T::learner(&Spec::parse(spec)?));
    let stack = Stack::default().members(learners.collect::<Result<Vec<_>>>()?).keep_all(true);
    let ensemble = stack.fit_ensemble(&train.borrow(), &run.child(1))?;
    let matrix = ensemble.matrix().ok_or_else(|| Error::shape("out-of-sample matrix", 1, 0))?;
    Ok(Report {
        weighing: weigh(matrix, &WeighOptions::default(), &run.child(2))?,
        held_out: held_out(&ensemble, &test.borrow(), run)?,
        learned_from: train.borrow().rows(),
        tested_on: split.test().len(),
    })
}

/// The figures of rows that took part in nothing.
fn held_out<T: Task>(
    ensemble: &Ensemble<T>,
    test: &Sample<'_, T>,
    run: &Run,
) -> Result<Vec<HeldOut>> {
    let line = |name: &str, predicted: &[f64]| HeldOut {
        name: name.into(),
        figures: T::figures(predicted, test.target()).into_iter().collect(),
    };
    let mut lines = vec![line("(the stack)", &predict(ensemble, test.x(), run)?)];
    for (name, model) in ensemble.names().zip(ensemble.models()) {
        lines.push(line(name, &predict(model, test.x(), run)?));
    }
    Ok(lines)
}
