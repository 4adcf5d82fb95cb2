//! The first look at all rows: a sample of them, by which the columns get their parts, and sums of the row weights.

use serde::{Deserialize, Serialize};

use super::Source;
use super::work::{Outcome, Sent, Work, from_bytes, known, taken, to_bytes};
use crate::error::{Error, Place, Result};
use crate::recipe::data::lot_number;
use crate::recipe::{Data, Recipe};
use crate::run::{Run, mix};
use crate::table::{Column, Table};

/// What the first look finds.
pub(super) struct Look {
    /// The sample, taken apart: it says what the columns are.
    pub(super) data: Data,
    /// What the folds of its rows are drawn by: their groups, or their own numbers.
    pub(super) lots: Vec<u64>,
    /// Which rows are in it.
    pub(super) sampled: Threshold,
    /// Rows of the table with a target.
    pub(super) rows: usize,
    /// What row weights are multiplied by, so that their mean is 1 over those that are positive.
    pub(super) weight_scale: f64,
}

/// The look at one block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LookWork {
    target: Option<String>,
    weights: Option<String>,
    groups: Option<String>,
    sampled: Threshold,
}

/// What it finds.
#[derive(Serialize, Deserialize)]
struct Found {
    sample: Table,
    lots: Vec<u64>,
    /// Where the rows of the sample stand in the table.
    places: Vec<usize>,
    /// Rows with a target.
    rows: usize,
    weight: f64,
    /// Rows of positive weight.
    weighty: usize,
}

impl Look {
    /// Looks at all rows, keeping about so many at most.
    pub(super) fn new(
        recipe: &Recipe,
        source: &dyn Source,
        most: usize,
        run: &Run,
    ) -> Result<Self> {
        let sampled = Threshold::of(source.rows(), most, run.stream("sample").key());
        let (target, weights, groups) =
            (recipe.target.clone(), recipe.weights.clone(), recipe.groups.clone());
        let work = LookWork { target, weights, groups, sampled };
        let (mut samples, mut lots, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rows, mut weight, mut weighty) = (0, 0.0, 0);
        source.work(
            &work,
            &mut |found| {
                let found: Found = taken(found)?;
                samples.push(found.sample);
                lots.extend(found.lots);
                places.extend(found.places);
                rows += found.rows;
                weight += found.weight;
                weighty += found.weighty;
                Ok(())
            },
            run,
        )?;
        let mut data = recipe
            .data(Table::stacked(samples)?)
            .map_err(|error| error.in_rows(&|row| places.get(row).copied()))?;
        if let (Some(name), true) = (&recipe.target, rows < source.rows()) {
            let (without, all) = (source.rows() - rows, source.rows());
            data.notes.push(format!("{without} of {all} rows have no '{name}' and are left out"));
        }
        Ok(Self { data, lots, sampled, rows, weight_scale: weighty as f64 / weight })
    }
}

impl Work for LookWork {
    fn on_block(&self, first: usize, table: Table, _run: &Run) -> Result<Outcome> {
        let (mut weight, mut weighty) = (0.0, 0);
        if let Some(name) = &self.weights {
            for (i, value) in weights_of(name, table.column(name)?)?.iter().enumerate() {
                if !(value.is_finite() && *value >= 0.0) {
                    let problem = format!("the row weight is {value}, not a number of at least 0");
                    return Err(Error::data(Place::cell(first + i, name), problem));
                }
                weight += value;
                weighty += usize::from(*value > 0.0);
            }
        }
        let target = self.target.as_ref().map(|name| table.column(name)).transpose()?;
        let groups = self.groups.as_ref().map(|name| table.column(name)).transpose()?;
        let is_sampled = |i: &usize| self.sampled.holds((first + i) as u64);
        let is_present = |i: &usize| target.is_none_or(|column| !column.is_missing(*i));
        let chosen: Vec<usize> = (0..table.rows()).filter(is_sampled).filter(is_present).collect();
        let lots = chosen.iter().map(|&i| lot_number(groups, first, i)).collect();
        let places = chosen.iter().map(|i| first + i).collect();
        let rows = table.rows() - target.map_or(0, Column::missing);
        Ok(Box::new(Found { sample: table.select(&chosen), lots, places, rows, weight, weighty }))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(&Sent::Look(self.clone()))
    }

    fn write_outcome(&self, outcome: &Outcome) -> Result<Vec<u8>> {
        to_bytes(known::<Found>(outcome)?)
    }

    fn read_outcome(&self, bytes: &[u8]) -> Result<Outcome> {
        Ok(Box::new(from_bytes::<Found>(bytes)?))
    }
}

fn weights_of<'a>(name: &str, column: &'a Column) -> Result<&'a [f64]> {
    match column {
        Column::Numeric(values) => Ok(values),
        Column::Categorical(_) => {
            Err(Error::data(Place::column(name), "row weights must be numbers"))
        }
    }
}

/// Which rows are in a sample: those whose number's hash is below this.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Threshold {
    key: u64,
    below: u64,
}

impl Threshold {
    /// So that about so many of the rows are, or all.
    pub(super) fn of(rows: usize, most: usize, key: u64) -> Self {
        let share = most as f64 / rows.max(1) as f64;
        let below = if share >= 1.0 { u64::MAX } else { (share * 2f64.powi(64)) as u64 };
        Self { key, below }
    }

    pub(super) fn holds(self, number: u64) -> bool {
        self.below == u64::MAX || mix(self.key ^ mix(number)) < self.below
    }
}
