//! How one column is encoded.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cuts::bin;
use super::tails::Tail;
use crate::store::Parameters;
use crate::table::{Field, Kind};

/// A column's learned encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Coding {
    /// A number for a number: `(value - centre) / scale`.
    Number {
        /// What stands in for a missing value.
        fill: Option<f64>,
        centre: f64,
        scale: f64,
    },
    /// One of some levels.
    Level(LevelCoding),
    /// A number that is first kept from being far from the others.
    Tamed { fill: Option<f64>, tail: Tail, centre: f64, scale: f64 },
}

/// A column's learned levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LevelCoding {
    pub(super) origin: Origin,
    pub(super) levels: Arc<[String]>,
    /// The code of a missing value; the number of levels if it counts as unknown, `None` if it stays missing.
    pub(super) missing: Option<usize>,
    pub(super) one_hot: bool,
}

/// What the levels were before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Origin {
    /// So many levels of the input, under the same codes.
    Levels(usize),
    /// These values, ascending.
    Values(Vec<f64>),
    /// The intervals between these cuts.
    Cuts(Vec<f64>),
}

impl Coding {
    /// A number for a number, kept from being far from the others if there is anything to keep it.
    pub(super) fn number(fill: Option<f64>, tail: Option<Tail>, centre: f64, scale: f64) -> Self {
        match tail {
            Some(tail) => Self::Tamed { fill, tail, centre, scale },
            None => Self::Number { fill, centre, scale },
        }
    }

    /// Whether a column of this kind can be encoded so, and all codes have their level; read from a file, it might not.
    pub(super) fn is_sound(&self, kind: &Kind) -> bool {
        match (self, kind) {
            (Self::Number { .. }, _) => true,
            (Self::Tamed { tail, .. }, _) => tail.is_sound(),
            (Self::Level(coding), kind) => coding.is_sound(kind),
        }
    }

    /// What was learned of the column `name`.
    pub(super) fn parameters(&self, name: &str) -> Parameters {
        match self {
            Self::Number { fill, centre, scale } => Parameters::new("number")
                .with("column", name)
                .with_some("fill", *fill)
                .with("centre", *centre)
                .with("scale", *scale),
            Self::Tamed { fill, tail, centre, scale } => {
                let parameters = Parameters::new("number")
                    .with("column", name)
                    .with_some("fill", *fill)
                    .with("centre", *centre)
                    .with("scale", *scale);
                match tail {
                    Tail::Hold { low, high } => parameters.with("low", *low).with("high", *high),
                    Tail::Squash { median, spread } => {
                        parameters.with("median", *median).with("spread", *spread)
                    }
                }
            }
            Self::Level(LevelCoding { origin, levels, missing, one_hot }) => {
                let parameters = Parameters::new("levels")
                    .with("column", name)
                    .with("levels", &**levels)
                    .with_some("missing", *missing)
                    .with("one_hot", *one_hot);
                match origin {
                    Origin::Levels(known) => parameters.with("known", *known),
                    Origin::Values(values) => parameters.with("values", values),
                    Origin::Cuts(cuts) => parameters.with("cuts", cuts),
                }
            }
        }
    }

    /// Number of columns made.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Level(coding) if coding.one_hot => coding.levels.len(),
            Self::Level(_) | Self::Number { .. } | Self::Tamed { .. } => 1,
        }
    }

    /// How many levels it tells apart; `None` of numbers.
    pub(super) fn level_count(&self) -> Option<usize> {
        match self {
            Self::Level(coding) => Some(coding.levels.len()),
            Self::Number { .. } | Self::Tamed { .. } => None,
        }
    }

    /// The level of a value; `None` of one that is unknown or missing, and of numbers.
    pub(super) fn level(&self, value: f64) -> Option<usize> {
        match self {
            Self::Level(coding) => coding.code(value).filter(|code| *code < coding.levels.len()),
            Self::Number { .. } | Self::Tamed { .. } => None,
        }
    }

    /// The columns made of the column `name`.
    pub(super) fn fields(&self, name: &str) -> Vec<Field> {
        let numeric = |name: String| Field { name, kind: Kind::Numeric };
        match self {
            Self::Number { .. } | Self::Tamed { .. } => vec![numeric(name.to_string())],
            Self::Level(coding) if coding.one_hot => {
                coding.levels.iter().map(|level| numeric(format!("{name}={level}"))).collect()
            }
            Self::Level(coding) => {
                let kind = Kind::Categorical { levels: Arc::clone(&coding.levels) };
                vec![Field { name: name.to_string(), kind }]
            }
        }
    }

    /// Whether there are values that stay as they are.
    pub(super) fn may_keep(&self) -> bool {
        match self {
            Self::Number { centre, scale, .. } => (*centre, *scale) == (0.0, 1.0),
            Self::Tamed { tail, centre, scale, .. } => {
                (*centre, *scale) == (0.0, 1.0) && matches!(tail, Tail::Hold { .. })
            }
            Self::Level(_) => false,
        }
    }

    /// Whether a value stays as it is, of a column where some do.
    #[inline]
    pub(super) fn keeps(&self, value: f64) -> bool {
        match self {
            Self::Number { fill, .. } => fill.is_none() || !value.is_nan(),
            Self::Tamed { fill, tail: Tail::Hold { low, high }, .. } => {
                if value.is_nan() {
                    fill.is_none()
                } else {
                    (*low..=*high).contains(&value)
                }
            }
            Self::Tamed { .. } | Self::Level(_) => false,
        }
    }

    /// Encodes a value into as many cells as the coding has columns.
    pub(super) fn write(&self, value: f64, cells: &mut [f64]) {
        match self {
            Self::Number { fill, centre, scale } => {
                let value = if value.is_nan() { fill.unwrap_or(value) } else { value };
                cells[0] = (value - centre) / scale;
            }
            Self::Tamed { fill, tail, centre, scale } => {
                let value = if value.is_nan() { fill.unwrap_or(value) } else { value };
                cells[0] = (tail.tame(value) - centre) / scale;
            }
            Self::Level(coding) => match (coding.code(value), coding.one_hot) {
                (Some(code), false) => cells[0] = code as f64,
                (Some(code), true) => {
                    cells.fill(0.0);
                    if let Some(cell) = cells.get_mut(code) {
                        *cell = 1.0;
                    }
                }
                (None, _) => cells.fill(f64::NAN),
            },
        }
    }
}

impl LevelCoding {
    /// Whether a column of this kind has such levels, and all codes have their level.
    pub(super) fn is_sound(&self, kind: &Kind) -> bool {
        let suits = match (&self.origin, kind) {
            (Origin::Levels(known), Kind::Categorical { levels }) => *known <= levels.len(),
            (Origin::Levels(_), Kind::Numeric) => false,
            (Origin::Values(_) | Origin::Cuts(_), _) => true,
        };
        let levels = self.levels.len();
        suits && self.known() <= levels && self.missing.is_none_or(|code| code <= levels)
    }

    /// Whether missing values have a level of their own, the last one.
    pub(super) fn has_missing_level(&self) -> bool {
        self.levels.len() > self.known()
    }

    /// Levels of values that are not missing.
    fn known(&self) -> usize {
        match &self.origin {
            Origin::Levels(known) => *known,
            Origin::Values(values) => values.len(),
            Origin::Cuts(cuts) => cuts.len() + 1,
        }
    }

    /// The level of a value: the number of levels if it is unknown, `None` if it stays missing.
    #[inline]
    pub(super) fn code(&self, value: f64) -> Option<usize> {
        if value.is_nan() {
            return self.missing;
        }
        let unknown = self.levels.len();
        Some(match &self.origin {
            Origin::Levels(known) if value < *known as f64 => value as u32 as usize,
            Origin::Levels(_) => unknown,
            Origin::Cuts(cuts) => bin(cuts, value),
            Origin::Values(values) => {
                // Adding zero makes one of the two zeros.
                values.binary_search_by(|v| v.total_cmp(&(value + 0.0))).unwrap_or(unknown)
            }
        })
    }
}
