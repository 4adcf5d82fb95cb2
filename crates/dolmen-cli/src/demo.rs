//! `dolmen demo`: the whole way on a data set that the program carries.

use std::io::Write;

use clap::{Args, ValueEnum};
use dolmen::combine::Weights;
use dolmen::combine::weigh::{WeighOptions, weigh};
use dolmen::ensemble::Stack;
use dolmen::error::{Error, Result};
use dolmen::learner::library::Library;
use dolmen::learner::spec::Spec;
use dolmen::learner::{Run, Sample, predict};
use dolmen::plan::{Plan, Portion};
use dolmen::table::Features;
use dolmen::task::Density;

use crate::args::{Common, Format};
use crate::output::{self, Done, number};
use crate::weigh::show;

/// Stack the six models of Smyth and Wolpert (1999) on iris, in seconds.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// What is shown.
    #[arg(value_enum, default_value_t = Subject::Density)]
    subject: Subject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// A stacked density.
    Density,
}

/// Fisher's iris: four measurements, and the species, which the density does not use.
const IRIS: &str = include_str!("../../../data/iris.csv");
const MEMBERS: [&str; 2] = [
    "kernel(shape=triangular, bandwidth=[0.1, 0.4, 1.5])",
    "mixture(components=[2, 4, 8], schedule=sw99)",
];
const TEST_ROWS: usize = 30;

pub(crate) fn run(demo: &Demo, common: &Common, out: &mut dyn Write) -> Done {
    let Subject::Density = demo.subject;
    let run = common.run()?;
    let iris = iris()?;
    let all = Sample::<Density>::new(iris.rows(), &())?;
    let split = Plan::hold_out(all.rows(), Portion::Rows(TEST_ROWS), &run.child(0))?;
    let split = &split.splits()[0];
    let (train, test) = (all.select(&split.train(all.rows())), all.select(split.test()));

    let learners = MEMBERS.iter().map(|spec| Density::learner(&Spec::parse(spec)?));
    let stack = Stack::default().members(learners.collect::<Result<Vec<_>>>()?);
    let ensemble = stack.fit_ensemble(&train.borrow(), &run.child(1))?;
    let matrix = ensemble.matrix().ok_or_else(|| Error::shape("out-of-sample matrix", 1, 0))?;
    let options = WeighOptions { weights: Weights::default(), ..WeighOptions::default() };
    let weighing = weigh(matrix, &options, &run.child(2))?;
    if common.format == Format::Json {
        return output::json(&weighing, out);
    }
    writeln!(
        out,
        "Iris, four measurements of 120 flowers: three kernel densities and three Gaussian mixtures,"
    )?;
    writeln!(out, "weighed by what each says about flowers it has not seen.\n")?;
    show(&weighing, out)?;
    held_out(&ensemble, &test.borrow(), &run, out)
}

/// The score of flowers that took no part in anything.
fn held_out(
    ensemble: &dolmen::ensemble::Ensemble<Density>,
    test: &Sample<'_, Density>,
    run: &Run,
    out: &mut dyn Write,
) -> Done {
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let stacked = mean(&predict(ensemble, test.x(), run)?);
    let mut best = ("", f64::NEG_INFINITY);
    for (name, model) in ensemble.names().zip(ensemble.models()) {
        let score = mean(&predict(model, test.x(), run)?);
        if score > best.1 {
            best = (name, score);
        }
    }
    writeln!(
        out,
        "\n{} other flowers: the stack scores {}, its luckiest member {} {}",
        test.rows(),
        number(stacked),
        best.0,
        number(best.1)
    )?;
    writeln!(
        out,
        "next: dolmen fit your.csv -o your.dolmen; dolmen weigh --help; dolmen compare --help"
    )?;
    Ok(())
}

/// The measurements, from the embedded file.
fn iris() -> Result<Features> {
    let lines = IRIS.lines().skip(1).filter(|line| !line.is_empty());
    let values = lines.flat_map(|line| line.split(',').take(4).map(str::parse::<f64>));
    let values = values.collect::<std::result::Result<Vec<f64>, _>>();
    let values = values.map_err(|e| Error::param("the embedded data", "numbers", e))?;
    Features::numeric(values, 4)
}
