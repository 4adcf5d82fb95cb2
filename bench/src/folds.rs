//! What learners say of rows they have not seen, on folds that are given: Dolmen's side of `quality.py`.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dolmen::catalogue::Catalogued;
use dolmen::learner::{Learner, Sample};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{self, Column, ReadOptions, Schema};
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use serde_json::{Value, json};

/// Reads a table whose last column is the target, the kinds of its columns from a schema and each row's fold from a
/// file, and gives the out-of-sample predictions of the first member of every spec: one list a spec.
pub(crate) fn race(
    [task, table, schema, folds]: [&str; 4],
    specs: &[&str],
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let kinds = ReadOptions::parse_schema(schema)?;
    let options = ReadOptions { schema: kinds, ..ReadOptions::default() };
    let mut table = table::read(Path::new(table), &options, run)?;
    let target = table.names().last().cloned().ok_or("a table without columns")?;
    let column = table.take(&target)?;
    let x = Arc::new(Schema::of(&table)).encode(&table)?;
    let folds: Vec<usize> =
        fs::read_to_string(folds)?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let plan = Plan::from_folds(&folds)?;
    let said: Vec<Value> = match (task, column) {
        ("classes", Column::Categorical(column)) => {
            let labels = Labels::new(column.levels.to_vec(), column.codes)?;
            let sample = Sample::<Classification>::new(x.rows(), &labels)?;
            specs.iter().map(|spec| say(spec, &sample, &plan, run)).collect()
        }
        ("numbers", column) => {
            let numbers = column.into_numbers(&target)?;
            let sample = Sample::<Regression>::new(x.rows(), &numbers)?;
            specs.iter().map(|spec| say(spec, &sample, &plan, run)).collect()
        }
        _ => return Err("the task is classes, of a nominal target, or numbers".into()),
    };
    Ok(Value::Array(said))
}

/// What one spec says, or why it does not.
fn say<T: Catalogued>(spec: &str, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Value {
    let started = Instant::now();
    match Spec::parse(spec).and_then(|spec| T::learner(&spec)).and_then(|learner| {
        let block = Learner::out_of_sample(learner.as_ref(), sample, plan, run)?;
        match block.failures.first() {
            Some(failure) => Err(dolmen::Error::param("fit", "possible", &failure.message)),
            None => Ok(block.averaged::<T>(plan, T::width(sample.target())).swap_remove(0)),
        }
    }) {
        Ok(predictions) => {
            let width = T::width(sample.target());
            json!({ "width": width, "predictions": predictions, "seconds": started.elapsed().as_secs_f64() })
        }
        Err(error) => json!({ "error": error.to_string() }),
    }
}
