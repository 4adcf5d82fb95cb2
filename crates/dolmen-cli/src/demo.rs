//! `dolmen demo`: the whole way on data sets that the program carries.

use std::io::Write;

use clap::{Args, ValueEnum};
use dolmen::error::Result;
use dolmen::plan::Portion;
use dolmen::recipe::{
    CheckPolicy, Combined, Evidence, FitReport, Model, Parting, Recipe, ScoreReport, Tested,
};
use dolmen::run::Run;
use dolmen::score::figures::Figures;
use dolmen::spec::Spec;
use dolmen::table::Table;
use dolmen_report::ModelView;
use serde::Serialize;

use crate::args::{Common, Format};
use crate::examples::Example;
use crate::output::{self, Done, columns, number};
use crate::picture::Shows;
use crate::weigh::show;

/// Stack models on data that the program carries, in seconds: a classifier, a regression or a density.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen demo
  dolmen demo regress
  dolmen demo density --format json
  dolmen demo density --plot weights.svg --report demo.html")]
pub(crate) struct Demo {
    /// What is shown.
    #[arg(value_enum, default_value_t = Subject::Classify)]
    subject: Subject,
    #[command(flatten)]
    shows: Shows,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Which sex a penguin is of.
    Classify,
    /// What a house in Sacramento costs.
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
                "Houses in Sacramento, eight columns of {train} sales: a linear model, neighbours, a tree, a forest and\n\
                 boosting, weighed by their errors on prices of houses they have not seen.\n"
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
                "next: dolmen generate example sacramento -o sacramento.csv\n      \
                 dolmen fit sacramento.csv --target price -o sacramento.dolmen"
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
    fit: FitReport,
    /// How the stack and its members do on rows that took part in nothing.
    held_out: Vec<HeldOut>,
    #[serde(skip)]
    learned_from: usize,
    #[serde(skip)]
    tested_on: usize,
}

/// A fit, and what the rows that took part in nothing say of it.
struct Stacked {
    report: Report,
    model: Model,
    score: ScoreReport,
    evidence: Evidence,
}

#[derive(Debug, Serialize)]
struct HeldOut {
    name: String,
    figures: Figures,
}

pub(crate) fn run(demo: &Demo, common: &Common, out: &mut dyn Write) -> Done {
    demo.shows.check()?;
    let run = common.run()?;
    let stacked = demo.subject.stacked(common, demo.shows.report.is_some(), &run)?;
    drop(run);
    // What is drawn tells of the same rows as what is printed.
    let Stacked { report, model, score, evidence } = &stacked;
    let view = ModelView { model, evidence: Some(evidence), score: Some(score), rows: None };
    demo.shows.write(&dolmen_report::Subject::Model(view), None, common)?;
    if common.format == Format::Json {
        return output::json(report, out);
    }
    writeln!(out, "{}", demo.subject.story(report.learned_from))?;
    if let FitReport::Stack(stack) = &report.fit
        && let Combined::Weighed(weighing) = &stack.combined
    {
        show(weighing, out)?;
    }
    writeln!(out, "\n{} other rows:\n", report.tested_on)?;
    let mut header = vec!["model"];
    header.extend(report.held_out[0].figures.keys().map(String::as_str));
    let row = |line: &HeldOut| {
        let figures = line.figures.values().map(|value| number(*value));
        std::iter::once(line.name.clone()).chain(figures).collect()
    };
    columns(&header, report.held_out.iter().map(row), out)?;
    Ok(writeln!(out, "\n{}", demo.subject.next())?)
}

impl Subject {
    /// The table, and the column to predict.
    fn data(self, run: &Run) -> Result<(Table, Option<&'static str>)> {
        match self {
            Self::Classify => Ok((Example::Penguins.table(run)?, Some("sex"))),
            Self::Regress => Ok((Example::Sacramento.table(run)?, Some("price"))),
            Self::Density => {
                let mut table = Example::Iris.table(run)?;
                table.take("Species")?;
                Ok((table, None))
            }
        }
    }

    /// Fits the subject's members to most of the rows, as `fit` does, and tests them on the others.
    fn stacked(self, common: &Common, explain: bool, run: &Run) -> Result<Stacked> {
        let (table, target) = self.data(run)?;
        let specs = self.members().iter().map(|text| Spec::parse(text));
        let recipe = Recipe {
            seed: common.seed.unwrap_or_default(),
            target: target.map(Into::into),
            members: specs.collect::<Result<_>>()?,
            // What the members and their weights are is what is shown.
            check: CheckPolicy::None,
            keep_all: true,
            ..Recipe::default()
        };
        let parting = Parting::random(Portion::Fraction(TEST));
        let tested = recipe.fit_part(&table, &parting, explain, run)?;
        let Tested { fit, score, evidence, learned_from } = tested;
        let line =
            |name: &str, figures: &Figures| HeldOut { name: name.into(), figures: figures.clone() };
        let members = score.members.iter().map(|member| line(&member.name, &member.figures));
        let held_out = [line("(the stack)", &score.figures)].into_iter().chain(members).collect();
        let tested_on = score.rows;
        let report = Report { fit: fit.report, held_out, learned_from, tested_on };
        Ok(Stacked { report, model: fit.model, score, evidence })
    }
}
