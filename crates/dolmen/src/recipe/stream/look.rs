//! The first reading of a table that is read block by block: a sample of its rows, and sums of the row weights.

use super::Source;
use crate::error::{Error, Place, Result};
use crate::recipe::{Data, Recipe};
use crate::run::{Run, mix};
use crate::table::{Column, Table};

/// What the first reading finds.
pub(super) struct Look {
    /// The sample, taken apart: it says what the columns are.
    pub(super) data: Data,
    /// The numbers of the sample's rows in the table, those without a target left out.
    pub(super) numbers: Vec<u64>,
    /// What their folds are drawn by: their groups, or their own numbers.
    pub(super) lots: Vec<u64>,
    /// Rows of the table with a target.
    pub(super) rows: usize,
    /// What row weights are multiplied by, so that their mean is 1 over those that are positive.
    pub(super) weight_scale: f64,
}

/// Sums of the row weights.
#[derive(Default)]
struct WeightSums {
    sum: f64,
    positive: usize,
}

impl WeightSums {
    fn add(&mut self, name: &str, first: usize, column: &Column) -> Result<()> {
        let Column::Numeric(values) = column else {
            return Err(Error::data(Place::column(name), "row weights must be numbers"));
        };
        for (i, &weight) in values.iter().enumerate() {
            if !(weight.is_finite() && weight >= 0.0) {
                let problem = format!("the row weight is {weight}, not a number of at least 0");
                return Err(Error::data(Place::cell(first + i, name), problem));
            }
            self.sum += weight;
            self.positive += usize::from(weight > 0.0);
        }
        Ok(())
    }
}

/// Reads the table once, keeping at most about so many rows.
pub(super) fn look(recipe: &Recipe, source: &dyn Source, most: usize, run: &Run) -> Result<Look> {
    let key = run.stream("sample").key();
    let least = Threshold::of(source.rows(), most, key);
    let (mut parts, mut numbers, mut lots) = (Vec::new(), Vec::new(), Vec::new());
    let (mut weights, mut without_target) = (WeightSums::default(), 0);
    source.visit(run, &mut |first, table| {
        if let Some(name) = &recipe.weights {
            weights.add(name, first, table.column(name)?)?;
        }
        let target = recipe.target.as_ref().map(|name| table.column(name)).transpose()?;
        without_target += target.map_or(0, Column::missing);
        let is_chosen = |i: &usize| least.holds((first + i) as u64);
        let chosen: Vec<usize> = (0..table.rows()).filter(is_chosen).collect();
        let present = |i: &usize| target.is_none_or(|column| !column.is_missing(*i));
        let groups = recipe.groups.as_ref().map(|name| table.column(name)).transpose()?;
        for &i in chosen.iter().filter(|i| present(i)) {
            numbers.push((first + i) as u64);
            lots.push(lot_number(groups, first, i));
        }
        parts.push(table.select(&chosen));
        Ok(())
    })?;
    let data = recipe.data(Table::stacked(parts)?)?;
    let weight_scale = weights.positive as f64 / weights.sum;
    let rows = source.rows() - without_target;
    Ok(Look { data, numbers, lots, rows, weight_scale })
}

/// What the fold of a row is drawn by.
pub(super) fn lot_number(groups: Option<&Column>, first: usize, row: usize) -> u64 {
    match groups {
        Some(Column::Categorical(groups)) => u64::from(groups.codes[row]),
        Some(Column::Numeric(groups)) => groups[row].to_bits(),
        None => (first + row) as u64,
    }
}

/// Which rows are in the sample: those whose number's hash is below this.
struct Threshold {
    key: u64,
    below: u64,
}

impl Threshold {
    /// So that about so many of the rows are, or all.
    fn of(rows: usize, most: usize, key: u64) -> Self {
        let share = most as f64 / rows.max(1) as f64;
        let below = if share >= 1.0 { u64::MAX } else { (share * 2f64.powi(64)) as u64 };
        Self { key, below }
    }

    fn holds(&self, number: u64) -> bool {
        self.below == u64::MAX || mix(self.key ^ mix(number)) < self.below
    }
}
