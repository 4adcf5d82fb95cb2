//! What the target was like at each level of a category, as numbers: ordered target statistics [Prokhorenkova2018, section 3].
//!
//! ```text
//! statistic(level) = (sum of w y over its rows + a m) / (sum of w over its rows + a),   m = mean of all rows, a = prior
//! ```
//!
//! A row that is learned from must not find its own target in its inputs: its statistic is of the rows before it only, in an order that is
//! drawn. Rows of its group are never among them, and of rows with times those are that came before. New rows have the statistic of all rows.

mod category;
mod known;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use known::Known;

use super::coding::Coding;
use super::crosses::Crosses;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::store::Parameters;
use crate::table::{Field, Kind, Rows};
use category::Category;

/// What becomes of categories of three levels or more where the target is known: statistics of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// They stay what they are.
    #[default]
    Leave,
    /// Each has further columns: the target's mean at its level, or the share of each class.
    Beside,
    /// The same columns in its place.
    Instead,
}

/// The statistics of all levels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Statistics {
    names: Vec<String>,
    /// What is said of an unknown level, or of a missing value.
    means: Vec<f64>,
    of: Vec<Source>,
    instead: bool,
}

/// The statistics of one category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Source {
    place: Place,
    name: String,
    /// Level by level.
    means: Vec<f64>,
}

/// Which category it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    Column(usize),
    Pair(usize),
}

/// The least number of levels: a column of two says the same by itself.
const FEWEST_LEVELS: usize = 3;

/// Encoded columns that statistics can be of.
#[derive(Clone, Copy)]
pub(super) struct Categories<'a> {
    pub(super) columns: &'a [Coding],
    pub(super) crosses: &'a Crosses,
}

impl Categories<'_> {
    fn levels(&self, place: Place) -> Option<usize> {
        match place {
            Place::Column(j) => self.columns.get(j)?.level_count(),
            Place::Pair(pair) => self.crosses.level_count(pair),
        }
    }

    /// The level of a row; `None` if it is unknown or missing.
    fn level(&self, place: Place, row: &[f64]) -> Option<usize> {
        match place {
            Place::Column(j) => self.columns[j].level(row[j]),
            Place::Pair(pair) => self.crosses.level(pair, row),
        }
    }
}

impl Statistics {
    /// The statistics of all categories of enough levels, and row by row those of the training rows, each from rows before it.
    pub(super) fn learn(
        (targets, prior): (Targets, f64),
        categories: Categories<'_>,
        rows: Rows<'_>,
        known: &Known<'_>,
        run: &Run,
    ) -> Result<(Self, Vec<Vec<f64>>)> {
        let width = known.names.len();
        if width == 0 || known.values.len() != rows.rows() * width {
            return Err(Error::shape(
                "values of the target",
                rows.rows() * width,
                known.values.len(),
            ));
        }
        let means = known.means();
        let fields = rows.schema().fields();
        let columns =
            (0..categories.columns.len()).map(|j| (Place::Column(j), fields[j].name.clone()));
        let pairs = categories
            .crosses
            .names()
            .enumerate()
            .map(|(i, name)| (Place::Pair(i), name.to_string()));
        let places: Vec<(Place, String, usize)> = (columns.chain(pairs))
            .filter_map(|(place, name)| Some((place, name, categories.levels(place)?)))
            .filter(|(_, _, levels)| *levels >= FEWEST_LEVELS)
            .collect();
        let order = known.order(run);
        let learned = places.into_par_iter().map(|(place, name, levels)| {
            let level = |row: &[f64]| categories.level(place, row).unwrap_or(levels) as u32;
            let codes: Vec<u32> = rows.iter().map(level).collect();
            let category = Category { codes: &codes, levels, means: &means, prior };
            let source = Source { place, name, means: category.full(known) };
            (source, category.ordered(known, &order))
        });
        let (of, ordered) = learned.unzip();
        let instead = targets == Targets::Instead;
        Ok((Self { names: known.names.to_vec(), means, of, instead }, ordered))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// How many columns each category gets.
    pub(super) fn each(&self) -> usize {
        self.names.len()
    }

    /// Whether these are of such categories; read from a file, they might not be.
    pub(super) fn are_sound(&self, categories: Categories<'_>) -> bool {
        let width = self.names.len();
        let is_sound = |source: &Source| {
            categories
                .levels(source.place)
                .is_some_and(|levels| source.means.len() == levels * width)
        };
        self.is_empty() || width > 0 && self.means.len() == width && self.of.iter().all(is_sound)
    }

    /// Whether a column is not made, for its statistics stand in its place.
    pub(super) fn replace_column(&self, column: usize) -> bool {
        self.instead && self.of.iter().any(|source| source.place == Place::Column(column))
    }

    /// The same of a pair of columns.
    pub(super) fn replace_pair(&self, pair: usize) -> bool {
        self.instead && self.of.iter().any(|source| source.place == Place::Pair(pair))
    }

    /// The columns made.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.of.iter().flat_map(|source| {
            let field = |name: &String| Field {
                name: format!("{}: {name}", source.name),
                kind: Kind::Numeric,
            };
            self.names.iter().map(field)
        })
    }

    /// Writes the columns of a new row.
    pub(super) fn write(&self, categories: Categories<'_>, row: &[f64], cells: &mut [f64]) {
        let width = self.names.len();
        for (source, cells) in self.of.iter().zip(cells.chunks_exact_mut(width.max(1))) {
            let means = match categories.level(source.place, row) {
                Some(level) => &source.means[level * width..(level + 1) * width],
                None => &self.means,
            };
            cells.copy_from_slice(means);
        }
    }

    /// The statistics as data.
    pub(super) fn parameters(&self) -> Parameters {
        let of = |source: &Source| {
            Parameters::new("statistic").with("column", &*source.name).with("means", &*source.means)
        };
        let of: Vec<Parameters> = self.of.iter().map(of).collect();
        Parameters::new("statistics")
            .with("names", &*self.names)
            .with("means", &*self.means)
            .with("of", of)
    }
}
