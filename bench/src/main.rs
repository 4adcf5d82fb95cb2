//! Dolmen's side of the race: `dolmen-bench THREADS LANE ARGUMENTS..` runs one contest and prints one line of JSON.
//!
//! The harness in `race.py` says what the line means, and starts a process for every run, so that the peak memory reported is
//! that of the run alone.

mod aode;
mod columns;
mod csv;
mod folds;
mod kernel;
mod labelled;
mod linear;
mod memory;
mod mixture;
mod neighbours;
mod outcome;
mod rows;
mod six;
mod svm;
mod weights;

use std::env;
use std::error::Error;
use std::io::{self, Write};

use dolmen::run::Run;

use crate::rows::Rows;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [threads, lane, rest @ ..] = words.as_slice() else {
        return Err("usage: dolmen-bench THREADS LANE ARGUMENTS..".into());
    };
    let run = Run::with_threads(0, threads.parse()?)?;
    let outcome = match (*lane, rest) {
        ("weights", [file, rows, members]) => {
            weights::race(file.as_ref(), rows.parse()?, members.parse()?, &run)?
        }
        ("csv", [text, numbers, rows, columns]) => {
            csv::race(text.as_ref(), numbers.as_ref(), (rows.parse()?, columns.parse()?), &run)?
        }
        ("mixture", [file, rows, fresh, columns, start, iterations]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            mixture::race(&rows, start, iterations.parse()?, &run)?
        }
        ("bagged", [file, rows, fresh, columns, fits, components, iterations]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            let (components, iterations) = (components.parse()?, iterations.parse()?);
            mixture::race_bagged(&rows, fits.parse()?, components, iterations, &run)?
        }
        ("kernel", [file, rows, fresh, columns, bandwidth, tolerance]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            kernel::race(&rows, bandwidth.parse()?, tolerance.parse()?, &run)?
        }
        ("bandwidth", [file, rows, fresh, columns]) => {
            kernel::race_bandwidth(&Rows::read([file, rows, fresh, columns])?, &run)?
        }
        ("neighbours", [file, rows, fresh, columns, k]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            neighbours::race(&rows, k.parse()?, &run)?
        }
        ("svm", [task, file, rows, fresh, columns]) => {
            svm::race(&Rows::read([file, rows, fresh, columns])?, task, &run)?
        }
        ("six", [file, rows, fresh, columns]) => {
            six::race(&Rows::read([file, rows, fresh, columns])?, &run)?
        }
        ("ridge", [file, rows, fresh, columns, lambda]) => {
            linear::race_ridge(&Rows::read([file, rows, fresh, columns])?, lambda, &run)?
        }
        ("logistic", [file, rows, fresh, columns, classes, tolerance]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            linear::race_logistic(&rows, classes.parse()?, tolerance.parse()?, &run)?
        }
        ("labelled", [spec, file, rows, fresh, columns, shown]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            labelled::race(spec, &rows, shown.parse()?, &run)?
        }
        ("aode", [work, spec, file, rows, fresh, columns, values, classes]) => {
            let rows = Rows::read([file, rows, fresh, columns])?;
            aode::race([work, spec], &rows, [values.parse()?, classes.parse()?], &run)?
        }
        ("fit", [task, spec, file, rows, _, columns]) => {
            let (rows, columns) = (rows.parse()?, columns.parse()?);
            memory::race(task, spec, &memory::Source { file: file.as_ref(), rows, columns }, &run)?
        }
        ("folds", [task, table, schema, folds, specs @ ..]) => {
            folds::race([task, table, schema, folds], specs, &run)?
        }
        _ => return Err(format!("no lane '{lane}' with {} arguments", rest.len()).into()),
    };
    writeln!(io::stdout(), "{outcome}")?;
    Ok(())
}
