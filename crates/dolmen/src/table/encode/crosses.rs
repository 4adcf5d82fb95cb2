//! Pairs of columns with few values, as columns of their own: what two columns say together, for learners that add up what
//! each says alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::EncoderSpec;
use super::coding::{LevelCoding, Origin};
use super::cuts::few_distinct;
use super::fit::{Cells, binned, with_missing_level};
use super::statistics::Statistics;
use crate::error::{Error, Result};
use crate::store::Parameters;
use crate::table::{Field, Kind, Rows, Schema};

/// Pairs at most: more of them are columns by the ten thousands.
const MOST_PAIRS: usize = 2000;

/// The pairs that are made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Crosses {
    columns: Vec<FewValues>,
    pairs: Vec<Pair>,
    one_hot: bool,
}

/// A column with few values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FewValues {
    column: usize,
    coding: LevelCoding,
}

/// Two of those columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair {
    /// Their places among the columns with few values.
    of: [usize; 2],
    name: String,
    /// The pairs of codes that training rows show, ascending.
    seen: Vec<[u32; 2]>,
    levels: Arc<[String]>,
}

impl Crosses {
    /// The pairs that training rows show.
    pub(super) fn learn(
        spec: &EncoderSpec,
        rows: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let Some(most) = spec.crosses else { return Ok(Self::default()) };
        let fields = rows.schema().fields();
        let whole = rows.find(f64::is_nan).is_none();
        let few = |(column, field): (usize, &Field)| {
            let cells = Cells { rows, j: column, weights, whole };
            Some(FewValues { column, coding: levels_of(&cells, field, most)? })
        };
        let columns: Vec<FewValues> = fields.iter().enumerate().filter_map(few).collect();
        let count = columns.len() * columns.len().saturating_sub(1) / 2;
        if count > MOST_PAIRS {
            let expected = format!("so small that there are at most {MOST_PAIRS} pairs of columns");
            return Err(Error::param("crosses", expected, format!("{most}, for {count} pairs")));
        }
        let counts = |i: usize| weights.is_none_or(|w| w[i] > 0.0);
        let pair = |first: usize, second: usize| {
            let (one, other) = (&columns[first], &columns[second]);
            let codes = |row: &[f64]| Some([one.known(row)?, other.known(row)?]);
            let counted = rows.iter().enumerate().filter(|(i, _)| counts(*i));
            let seen: BTreeSet<[u32; 2]> = counted.filter_map(|(_, row)| codes(row)).collect();
            let level = |[a, b]: &[u32; 2]| format!("{}, {}", one.level(*a), other.level(*b));
            Pair {
                of: [first, second],
                name: format!("{} x {}", fields[one.column].name, fields[other.column].name),
                levels: seen.iter().map(level).collect(),
                seen: seen.into_iter().collect(),
            }
        };
        let pairs = (0..columns.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let pairs = pairs.map(|(a, b)| pair(a, b)).collect();
        Ok(Self { columns, pairs, one_hot: spec.one_hot })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether these can be made of such columns; read from a file, they might not.
    pub(super) fn are_sound(&self, input: &Schema) -> bool {
        let of_a_column = |few: &FewValues| {
            let field = input.fields().get(few.column);
            field.is_some_and(|field| few.coding.is_sound(&field.kind))
        };
        let of_columns = |pair: &Pair| {
            pair.of.iter().all(|own| *own < self.columns.len())
                && pair.levels.len() == pair.seen.len()
                && pair.seen.is_sorted()
        };
        self.columns.iter().all(of_a_column) && self.pairs.iter().all(of_columns)
    }

    /// The names of the pairs.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.name.as_str())
    }

    /// The pairs of values that a pair of columns has.
    pub(super) fn level_count(&self, pair: usize) -> Option<usize> {
        Some(self.pairs.get(pair)?.seen.len())
    }

    /// Which of them a row has; `None` if no training row had it.
    pub(super) fn level(&self, pair: usize, row: &[f64]) -> Option<usize> {
        let pair = &self.pairs[pair];
        let [first, second] = pair.of.map(|own| self.columns[own].known(row));
        first.zip(second).and_then(|(a, b)| pair.seen.binary_search(&[a, b]).ok())
    }

    /// The columns made: a category for each pair, or an indicator for each pair of values; of those with statistics in their place none.
    pub(super) fn fields(&self, statistics: &Statistics) -> impl Iterator<Item = Field> {
        let kept = self.pairs.iter().enumerate().filter(|(i, _)| !statistics.replace_pair(*i));
        kept.flat_map(|(_, pair)| {
            if self.one_hot {
                let named = |level: &String| format!("{}={level}", pair.name);
                let numeric = |name| Field { name, kind: Kind::Numeric };
                pair.levels.iter().map(named).map(numeric).collect()
            } else {
                let kind = Kind::Categorical { levels: Arc::clone(&pair.levels) };
                vec![Field { name: pair.name.clone(), kind }]
            }
        })
    }

    /// Writes the columns made of a row. A pair of values that no training row had is an unknown level.
    pub(super) fn write<'a>(
        &self,
        row: &[f64],
        statistics: &Statistics,
        mut cells: &'a mut [f64],
    ) -> &'a mut [f64] {
        for (i, pair) in self.pairs.iter().enumerate() {
            if statistics.replace_pair(i) {
                continue;
            }
            let place = self.level(i, row);
            if self.one_hot {
                let (own, rest) = cells.split_at_mut(pair.seen.len());
                own.fill(0.0);
                if let Some(place) = place {
                    own[place] = 1.0;
                }
                cells = rest;
            } else {
                cells[0] = place.unwrap_or(pair.seen.len()) as f64;
                cells = &mut cells[1..];
            }
        }
        cells
    }

    /// The pairs as data.
    pub(super) fn parameters(&self) -> Vec<Parameters> {
        let pair = |pair: &Pair| {
            Parameters::new("cross").with("column", &*pair.name).with("levels", &*pair.levels)
        };
        self.pairs.iter().map(pair).collect()
    }
}

impl FewValues {
    /// The code of a row's value, missing ones included; `None` if it is unknown.
    fn known(&self, row: &[f64]) -> Option<u32> {
        let code = self.coding.code(row[self.column])?;
        (code < self.coding.levels.len()).then_some(code as u32)
    }

    fn level(&self, code: u32) -> &str {
        &self.coding.levels[code as usize]
    }
}

/// The levels of a column that has from two to so many values, missing ones aside.
fn levels_of(cells: &Cells<'_>, field: &Field, most: usize) -> Option<LevelCoding> {
    let misses_some = cells.misses_some();
    match &field.kind {
        Kind::Categorical { levels } => {
            let origin = Origin::Levels(levels.len());
            let coding = || with_missing_level(origin, levels.to_vec(), misses_some, false);
            (2..=most).contains(&levels.len()).then(coding)
        }
        Kind::Numeric => {
            let finite = cells.all().map(|(value, _)| value).filter(|value| !value.is_nan());
            let values = few_distinct(finite, most).filter(|values| values.len() >= 2)?;
            Some(binned(Origin::Values(values), misses_some, false))
        }
    }
}
