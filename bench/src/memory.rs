//! The memory lane: any learner, named by its spec, fitted to a file's rows for the sake of the peak memory.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use dolmen::catalogue::Catalogued;
use dolmen::learner::Sample;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Regression};
use serde_json::{Value, json};

use crate::outcome::timed;

/// A file of rows whose last column is the label 0 or 1.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Path,
    pub(crate) rows: usize,
    /// The label among them.
    pub(crate) columns: usize,
}

/// Fits to the rows, which are held in memory once; nothing is predicted. The label is a class, a number, or left out.
pub(crate) fn race(
    task: &str,
    spec: &str,
    source: &Source<'_>,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    match task {
        "classification" => {
            let mut codes = Vec::with_capacity(source.rows);
            let x = source.read(|label| codes.push(u32::from(label != 0.0)))?;
            let labels = Labels::new(["0", "1"].map(String::from), codes)?;
            fit::<Classification>(spec, &x, &labels, run)
        }
        "regression" => {
            let mut numbers = Vec::with_capacity(source.rows);
            let x = source.read(|label| numbers.push(label))?;
            fit::<Regression>(spec, &x, &numbers, run)
        }
        "density" => fit::<Density>(spec, &source.read(|_| ())?, &(), run),
        _ => Err(format!("no task '{task}'").into()),
    }
}

impl Source<'_> {
    /// The inputs, read row after row; the labels are told on the way.
    fn read(&self, mut tell: impl FnMut(f64)) -> Result<Features, Box<dyn Error>> {
        let mut reader = BufReader::with_capacity(1 << 18, File::open(self.file)?);
        let (mut row, inputs) = (vec![0; self.columns * 8], self.columns - 1);
        let mut values = Vec::with_capacity(self.rows * inputs);
        for _ in 0..self.rows {
            reader.read_exact(&mut row)?;
            let numbers = row.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
            values.extend(numbers.clone().take(inputs));
            numbers.skip(inputs).for_each(&mut tell);
        }
        Ok(Features::numeric(values, inputs)?)
    }
}

/// The fit, and the size of its model as it is stored.
fn fit<T: Catalogued>(
    spec: &str,
    x: &Features,
    target: &T::Target,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let learner = T::learner(&Spec::parse(spec)?)?;
    let sample = Sample::<T>::new(x.rows(), target)?;
    let (models, cost) = timed(|| learner.fit(&sample, run))?;
    let mut bytes = 0;
    for model in models? {
        bytes += rmp_serde::to_vec(&model.record()?)?.len();
    }
    Ok(cost.outcome(&json!({ "model MB": bytes as f64 / 1e6 }), &[]))
}
