//! Some rows of a file as its reader has them: one piece for each column, before it is known what the column holds.

use super::levels::Dictionary;
use super::moments::{Moments, Timed};
use super::read::Wanted;

/// How the cells of a column are read in some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Not at all.
    Skip,
    /// As numbers; texts among them are counted.
    Numbers,
    /// As texts.
    Texts,
    /// As moments, where the type of the column says what they are.
    Moments(Timed),
}

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Ignored,
    Numeric,
    Categorical,
    /// Texts that may write numbers in some other way; those that must, and why.
    Written(Option<Wanted>),
}

impl Decision {
    /// Whether all cells are to be read as texts.
    pub(super) fn needs_texts(self) -> bool {
        matches!(self, Self::Categorical | Self::Written(_))
    }

    /// How its cells are read.
    pub(super) fn reading(self) -> Reading {
        match self {
            Self::Ignored => Reading::Skip,
            Self::Numeric => Reading::Numbers,
            Self::Categorical | Self::Written(_) => Reading::Texts,
        }
    }
}

/// The cells of one column in some rows.
#[derive(Debug, Default)]
pub(super) enum Piece {
    #[default]
    Skipped,
    Numbers(Numbers),
    Texts(Texts),
    Moments(Moments),
}

/// Cells read as numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// NaN where the cell is missing or a text.
    pub(super) values: Vec<f64>,
    /// Number of texts.
    pub(super) texts: usize,
    /// The first text, with its row.
    pub(super) first_text: Option<(usize, Box<[u8]>)>,
}

/// Cells read as texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) dictionary: Dictionary,
    pub(super) codes: Vec<u32>,
}

/// The cells of some rows, which are counted from 0 here.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) rows: usize,
    pub(super) pieces: Vec<Piece>,
}

impl Piece {
    /// An empty piece with room for so many rows.
    pub(super) fn new(reading: Reading, rows: usize) -> Self {
        match reading {
            Reading::Skip => Self::Skipped,
            Reading::Numbers => {
                Self::Numbers(Numbers { values: Vec::with_capacity(rows), ..Numbers::default() })
            }
            Reading::Texts => {
                Self::Texts(Texts { codes: Vec::with_capacity(rows), ..Texts::default() })
            }
            Reading::Moments(timed) => {
                Self::Moments(Moments { seconds: Vec::with_capacity(rows), timed })
            }
        }
    }
}

impl Parsed {
    /// Puts the pieces of another reading of the same rows in the place of these.
    pub(super) fn replace(&mut self, other: Parsed) {
        for (piece, other) in self.pieces.iter_mut().zip(other.pieces) {
            if !matches!(other, Piece::Skipped) {
                *piece = other;
            }
        }
    }
}
