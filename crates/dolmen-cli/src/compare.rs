//! `dolmen compare`: is stacking worth it on these data?

use std::io::Write;

use clap::Args;
use dolmen::combine::{Method, Weights};
use dolmen::error::{Error, Place, Result};
use dolmen::evaluate::compare::{CompareOptions, Comparison, MethodResult, Rival, compare};
use dolmen::learner::Run;
use dolmen::learner::library::Library;
use dolmen::learner::spec::Spec;
use dolmen::task::Density;

use crate::args::{Common, DataFile, Format, Reading};
use crate::data::{Data, DataOptions, Truth};
use crate::members::Members;
use crate::output::{self, Done, columns, note, number};

/// Compare stacking with choosing, averaging and cheating on repeated random splits.
///
/// Each repeat sets rows aside, fits everything on the rest and sums the scores of the rows set aside.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen compare iris.csv --drop Species --repeats 50 --test-rows 20
  dolmen compare geyser.csv --model 'kernel(bandwidth=[0.1,0.3])' --model 'mixture(components=[1,2,3])'")]
pub(crate) struct Compare {
    /// CSV or Parquet by extension; `-` reads CSV from standard input.
    data: DataFile,
    /// Random splits.
    #[arg(long, default_value_t = 50)]
    repeats: usize,
    /// Rows set aside in each.
    #[arg(long, default_value_t = 20)]
    test_rows: usize,
    /// Folds of the out-of-sample matrix on the other rows.
    #[arg(long, default_value_t = 10)]
    folds: usize,
    /// How stacking finds its weights.
    #[arg(long, default_value = "simplex")]
    combiner: Method,
    #[command(flatten)]
    members: Members,
    #[command(flatten)]
    reading: Reading,
}

/// The six members of Smyth and Wolpert (1999), section 4, which are compared if none are named.
const SIX: [&str; 2] = [
    "kernel(shape=triangular, bandwidth=[0.1, 0.4, 1.5])",
    "mixture(components=[2, 4, 8], schedule=sw99, beta=0.01)",
];

pub(crate) fn run(arguments: &Compare, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let options = DataOptions { target: None, task: None, weights: None, groups: None };
    let data = Data::read(&arguments.data, &options, &arguments.reading, &run)?;
    data.notes.iter().for_each(|text| note(common, text));
    let comparison = arguments.densities(&data, &run).map_err(|e| e.in_file(&arguments.data))?;
    drop(run);
    match common.format {
        Format::Json => output::json(&comparison, out),
        Format::Text => show(&comparison, out),
    }
}

impl Compare {
    fn densities(&self, data: &Data, run: &Run) -> Result<Comparison> {
        debug_assert!(matches!(data.truth, Truth::None));
        let sample = data.sample::<Density>(&())?;
        if self.test_rows == 0 || self.test_rows + self.folds >= sample.rows() {
            let problem = format!(
                "{} rows cannot give {} test rows and {} folds of the others",
                sample.rows(),
                self.test_rows,
                self.folds
            );
            return Err(Error::data(Place::default(), problem));
        }
        let learners = self.members.named_or::<Density>(&SIX)?;
        let rival = |name: &str, spec: &str, zero_line| {
            let learner = Density::learner(&Spec::parse(spec)?)?;
            Ok(Rival { name: name.into(), learner, zero_line })
        };
        let rivals = [
            rival("cv-bandwidth", "kernel(shape=triangular, bandwidth=cv, search=sw99)", false)?,
            rival("single-gaussian", "gaussian", true)?,
        ];
        let options = CompareOptions {
            repeats: self.repeats,
            test_rows: self.test_rows,
            folds: self.folds,
            weights: Weights::from(self.combiner),
        };
        compare(&learners, &rivals, &sample, &options, run)
    }
}

fn show(comparison: &Comparison, out: &mut dyn Write) -> Done {
    let row = |method: &MethodResult| {
        let p = method.p_value.map_or_else(|| "-".into(), |p| format!("{p:.4}"));
        let share = format!("{:.0} %", 100.0 * method.finite_share);
        vec![
            method.name.clone(),
            format!("{:.2}", method.mean),
            format!("{:.2}", method.se),
            share,
            p,
        ]
    };
    let header = ["method", "mean", "se", "finite", "p against stacking"];
    columns(&header, comparison.methods.iter().map(row), out)?;
    writeln!(out)?;
    let weight = |w: &dolmen::evaluate::compare::MeanWeight| vec![w.name.clone(), number(w.weight)];
    columns(&["member", "mean weight"], comparison.mean_weights.iter().map(weight), out)?;
    writeln!(out)?;
    let Comparison { rows, repeats, test_rows, .. } = comparison;
    writeln!(
        out,
        "{repeats} random splits of {rows} rows; sums of the scores of {test_rows} test rows, higher is better"
    )?;
    if let Some(zero) = &comparison.zero_line {
        writeln!(
            out,
            "all methods relative to {zero}, whose own score is shown; means over the finite splits"
        )?;
    }
    Ok(())
}
