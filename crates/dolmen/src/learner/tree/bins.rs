//! Bins: every column cut into at most 255 intervals, so that a cell is one byte and a split search is a histogram.
//!
//! A numeric column with at most 255 distinct values has one bin for each, with cuts midway between neighbours: a tree on
//! such bins is the tree on the values (BreimanEtAl1984, section 2.4). Other columns are cut into
//! bins of about equal weight. A category has the bin of its level. The last code of a column, its number of bins, means
//! *missing*: NaN, a level that the training rows did not show, and levels beyond the 255 most frequent.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::codes::{BLOCK, Codes, ColumnCodes, GROUP};
use crate::error::{Error, Place, Result};
use crate::table::encode::few_distinct;
use crate::table::{Kind, Rows, Schema};

/// Bins of values in a column, at most: with the code for missing values they fill a byte.
pub const MOST_BINS: usize = 255;

/// Rows that quantiles are taken from, at most; of more rows, every second, third, ... is taken.
const SAMPLED: usize = 1 << 18;

/// How the columns of a table are cut, learned from training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    columns: Vec<ColumnBins>,
}

/// How one column is cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ColumnBins {
    /// A number belongs to bin b if it is above `cuts[b - 1]` and not above `cuts[b]`.
    Numeric {
        /// Ascending.
        cuts: Vec<f64>,
        /// The smallest and the largest training value of each bin; needed to grow, not to predict.
        #[serde(skip)]
        ends: Vec<(f64, f64)>,
    },
    /// Level l has the code `codes[l]`.
    Categorical {
        /// Codes by level.
        #[serde(with = "serde_bytes")]
        codes: Vec<u8>,
        /// Levels that have a bin.
        bins: usize,
    },
}

impl ColumnBins {
    /// Bins of values; also the code for missing.
    pub fn bins(&self) -> usize {
        match self {
            Self::Numeric { cuts, .. } => cuts.len() + 1,
            Self::Categorical { bins, .. } => *bins,
        }
    }

    /// Whether the column holds categories.
    pub fn is_categorical(&self) -> bool {
        matches!(self, Self::Categorical { .. })
    }

    /// The code of a cell.
    pub fn code(&self, value: f64) -> u8 {
        match self {
            Self::Numeric { cuts, .. } if value.is_nan() => (cuts.len() + 1) as u8,
            Self::Numeric { cuts, .. } => cuts.partition_point(|cut| *cut < value) as u8,
            Self::Categorical { codes, bins } => {
                level(value).and_then(|l| codes.get(l).copied()).unwrap_or(*bins as u8)
            }
        }
    }
}

/// The level a categorical cell holds, if it holds one.
pub(super) fn level(value: f64) -> Option<usize> {
    (value >= 0.0 && value < f64::from(u32::MAX)).then_some(value as usize)
}

impl Bins {
    /// Learns the bins of all columns, at most `most` (2 to 255) each, from rows that count `weights` each. Runs on the
    /// thread pool it is called in.
    pub fn learn(x: Rows<'_>, weights: Option<&[f64]>, most: usize) -> Result<Self> {
        if !(2..=MOST_BINS).contains(&most) {
            return Err(Error::param("bins", "between 2 and 255", most));
        }
        let learn = |(j, kind): (usize, &Kind)| match kind {
            Kind::Numeric => numeric(x, j, weights, most),
            Kind::Categorical { levels } => categorical(x, j, weights, levels.len(), most),
        };
        let kinds: Vec<(usize, &Kind)> =
            x.schema().fields().iter().map(|field| &field.kind).enumerate().collect();
        Ok(Self { columns: kinds.into_par_iter().map(learn).collect() })
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnBins] {
        &self.columns
    }

    /// Whether every column has the bins that its codes can tell apart; read from a file, it might not.
    pub(super) fn is_sound(&self) -> bool {
        let within = |bins: usize| (1..=MOST_BINS).contains(&bins);
        self.columns.iter().all(|column| match column {
            ColumnBins::Numeric { cuts, .. } => {
                within(cuts.len() + 1) && cuts.is_sorted_by(|a, b| a < b)
            }
            ColumnBins::Categorical { codes, bins } => {
                within(*bins) && codes.iter().all(|code| usize::from(*code) <= *bins)
            }
        })
    }

    /// Refuses inputs that are not of the kinds that were cut.
    pub(super) fn check_inputs(&self, inputs: &Schema) -> Result<()> {
        if inputs.len() != self.columns.len() {
            return Err(Error::shape(
                "columns of the stored bins",
                inputs.len(),
                self.columns.len(),
            ));
        }
        let mut both = inputs.fields().iter().zip(&self.columns);
        match both.find(|(field, bins)| (field.kind != Kind::Numeric) != bins.is_categorical()) {
            None => Ok(()),
            Some((field, _)) => {
                let problem = "the stored bins are of the other kind than the column";
                Err(Error::data(Place::column(&field.name), problem))
            }
        }
    }

    /// The codes of rows. Runs on the thread pool it is called in.
    pub fn encode(&self, x: Rows<'_>) -> Result<Codes> {
        let width = self.columns.len();
        if x.width() != width {
            return Err(Error::shape("input columns", width, x.width()));
        }
        let coders = self.coders();
        Ok(Codes::new(x.rows(), width, |first, codes| {
            let coders = &coders[first..(first + GROUP).min(width)];
            let blocks = codes.par_chunks_mut(BLOCK * coders.len()).enumerate();
            blocks.for_each(|(block, codes)| {
                let count = codes.len() / coders.len();
                let rows = x.slice(block * BLOCK..block * BLOCK + count);
                for (k, coder) in coders.iter().enumerate() {
                    let codes = codes[k..].iter_mut().step_by(coders.len());
                    for (code, value) in codes.zip(rows.column(first + k)) {
                        *code = coder.code(value);
                    }
                }
            });
        }))
    }

    /// The same column after column.
    pub(super) fn encode_columns(&self, x: Rows<'_>) -> Result<ColumnCodes> {
        let width = self.columns.len();
        if x.width() != width {
            return Err(Error::shape("input columns", width, x.width()));
        }
        let coders = self.coders();
        let mut codes = vec![0; x.rows() * width];
        let mut columns: Vec<_> =
            codes.chunks_mut(x.rows().max(1)).map(|column| column.chunks_mut(BLOCK)).collect();
        // A block of all columns at a time, so that the rows pass through the cache once.
        let blocks: Vec<Vec<&mut [u8]>> = (0..x.rows().div_ceil(BLOCK))
            .map(|_| columns.iter_mut().filter_map(Iterator::next).collect())
            .collect();
        blocks.into_par_iter().enumerate().for_each(|(block, columns)| {
            for (j, (coder, codes)) in coders.iter().zip(columns).enumerate() {
                let rows = x.slice(block * BLOCK..block * BLOCK + codes.len());
                coder.encode(rows.column(j), codes);
            }
        });
        Ok(ColumnCodes::new(x.rows(), width, codes))
    }

    /// What finds codes fast.
    pub(super) fn coders(&self) -> Vec<Coder<'_>> {
        self.columns.iter().map(Coder::new).collect()
    }
}

/// Finds codes without branches: the cuts padded to 255 with infinity, so that eight halvings find any.
pub(super) enum Coder<'a> {
    Numeric { cuts: Box<[f64; 256]>, bins: u8 },
    Categorical(&'a ColumnBins),
}

impl<'a> Coder<'a> {
    fn new(column: &'a ColumnBins) -> Self {
        match column {
            ColumnBins::Numeric { cuts, .. } => {
                let mut padded = Box::new([f64::INFINITY; 256]);
                padded[..cuts.len()].copy_from_slice(cuts);
                Self::Numeric { cuts: padded, bins: column.bins() as u8 }
            }
            ColumnBins::Categorical { .. } => Self::Categorical(column),
        }
    }

    /// The codes of cells.
    pub(super) fn encode(&self, cells: impl Iterator<Item = f64>, out: &mut [u8]) {
        for (code, value) in out.iter_mut().zip(cells) {
            *code = self.code(value);
        }
    }

    /// The code of a cell, the same as [`ColumnBins::code`].
    #[inline]
    fn code(&self, value: f64) -> u8 {
        match self {
            Self::Numeric { cuts, bins } => {
                let mut below = 0_usize;
                for step in [128, 64, 32, 16, 8, 4, 2, 1] {
                    below += usize::from(cuts[(below + step - 1) & 255] < value) * step;
                }
                if value.is_nan() { *bins } else { below as u8 }
            }
            Self::Categorical(column) => column.code(value),
        }
    }
}

/// Bins of a numeric column: its distinct values if they are few, else intervals of about equal weight.
fn numeric(x: Rows<'_>, j: usize, weights: Option<&[f64]>, most: usize) -> ColumnBins {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let cells = x.column(j).enumerate().map(|(i, value)| (value, weight(i)));
    let present = cells.filter(|(value, weight)| !value.is_nan() && *weight > 0.0);
    let few = few_distinct(present.clone().map(|(value, _)| value), most);
    let values = if let Some(distinct) = few {
        distinct.into_iter().map(|value| (value, 1.0)).collect()
    } else {
        let step = x.rows().div_ceil(SAMPLED);
        distinct_weighted(present.step_by(step), weights.is_some())
    };
    let mut ends = intervals(&values, most);
    let cuts = ends.windows(2).map(|pair| midpoint(pair[0].1, pair[1].0)).collect();
    if ends.is_empty() {
        ends.push((f64::NAN, f64::NAN));
    }
    ColumnBins::Numeric { cuts, ends }
}

/// Distinct values in ascending order, each with the weight of its rows.
fn distinct_weighted(cells: impl Iterator<Item = (f64, f64)>, weighted: bool) -> Vec<(f64, f64)> {
    // Integers in the order of the numbers: they sort about twice as fast, and -0 is made 0 on the way.
    let key = |value: f64| {
        let bits = (value + 0.0).to_bits();
        bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
    };
    let value = |key: u64| f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key });
    let sorted: Vec<(u64, f64)> = if weighted {
        let mut keyed: Vec<(u64, f64)> = cells.map(|(v, w)| (key(v), w)).collect();
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        keyed
    } else {
        let mut keys: Vec<u64> = cells.map(|(v, _)| key(v)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| (key, 1.0)).collect()
    };
    let runs = sorted.chunk_by(|a, b| a.0 == b.0);
    runs.map(|run| (value(run[0].0), run.iter().map(|(_, weight)| weight).sum())).collect()
}

/// The first and last value of at most `most` intervals of about equal weight. A value heavier than its share has an
/// interval of its own, and the others share what is left.
fn intervals(values: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if values.len() <= most {
        return values.iter().map(|(value, _)| (*value, *value)).collect();
    }
    let mut left: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut ends: Vec<(f64, f64)> = Vec::with_capacity(most);
    let (mut start, mut held) = (0, 0.0);
    for (i, (value, weight)) in values.iter().enumerate() {
        let share = left / (most - ends.len()) as f64;
        if held > 0.0 && ends.len() + 1 < most && held + 0.5 * weight > share {
            ends.push((values[start].0, values[i - 1].0));
            left -= held;
            (start, held) = (i, 0.0);
        }
        held += weight;
        if i + 1 == values.len() {
            ends.push((values[start].0, *value));
        }
    }
    ends
}

/// A number that lies between two others: not below the smaller and below the larger, even for neighbours and infinities.
pub(super) fn midpoint(below: f64, above: f64) -> f64 {
    let middle = below / 2.0 + above / 2.0;
    if middle >= below && middle < above { middle } else { below }
}

/// Codes of a categorical column: the levels that the rows show, the most frequent ones if there are too many.
fn categorical(
    x: Rows<'_>,
    j: usize,
    weights: Option<&[f64]>,
    levels: usize,
    most: usize,
) -> ColumnBins {
    let mut seen = vec![0.0; levels];
    for (i, row) in x.iter().enumerate() {
        if let Some(count) = level(row[j]).and_then(|level| seen.get_mut(level)) {
            *count += weights.map_or(1.0, |w| w[i]);
        }
    }
    let mut shown: Vec<usize> = (0..levels).filter(|&level| seen[level] > 0.0).collect();
    shown.sort_by(|&a, &b| seen[b].total_cmp(&seen[a]));
    shown.truncate(most);
    shown.sort_unstable();
    let bins = shown.len().max(1);
    let mut codes = vec![bins as u8; levels];
    for (code, &level) in shown.iter().enumerate() {
        codes[level] = code as u8;
    }
    ColumnBins::Categorical { codes, bins }
}
