//! The CSV lane: reading a file of numbers.

use std::error::Error;
use std::path::Path;

use dolmen::run::Run;
use dolmen::table::{self, Column, ReadOptions, Table};
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::outcome::timed;

/// Reads `text` and counts the cells that differ from those in `numbers`, a matrix of `shape`.
pub(crate) fn race(
    text: &Path,
    numbers: &Path,
    shape: (usize, usize),
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let (table, cost) = timed(|| table::read(text, &ReadOptions::default(), run))?;
    let wrong = wrong_cells(&table?, numbers, shape)?;
    Ok(cost.outcome(&json!({ "wrong cells": wrong }), &[]))
}

fn wrong_cells(
    table: &Table,
    numbers: &Path,
    (rows, columns): (usize, usize),
) -> Result<usize, Box<dyn Error>> {
    if table.rows() != rows || table.columns().len() != columns {
        return Err(format!("read {} x {} cells", table.rows(), table.columns().len()).into());
    }
    let mut truth = Columns::open(numbers, rows)?;
    let mut wrong = 0;
    for (name, column) in table.columns() {
        let Column::Numeric(values) = column else {
            return Err(format!("column '{name}' was not read as numbers").into());
        };
        let written = truth.next_column()?;
        wrong += values.iter().zip(&written).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    }
    Ok(wrong)
}
