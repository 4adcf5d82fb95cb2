//! The codes of a table: one byte a cell, kept twice, because two passes want them in two orders.
//!
//! Histograms of all columns read eight columns of a row at once (`words`): one load for eight additions. Partitioning rows
//! and histograms of chosen columns read one column (`column`).

use rayon::prelude::*;

/// Columns whose codes share a word.
pub const GROUP: usize = 8;

/// Rows coded in one piece of work.
pub(super) const BLOCK: usize = 4096;

/// Codes of rows.
#[derive(Debug, Clone)]
pub struct Codes {
    rows: usize,
    width: usize,
    words: Vec<u64>,
    columns: Vec<u8>,
}

impl Codes {
    /// Codes from words, group of columns after group.
    pub(super) fn new(rows: usize, width: usize, words: Vec<u64>) -> Self {
        let mut columns = vec![0_u8; rows * width];
        columns.par_chunks_mut(rows.max(1)).enumerate().for_each(|(j, column)| {
            let words = &words[j / GROUP * rows..][..rows];
            for (code, word) in column.iter_mut().zip(words) {
                *code = (word >> (8 * (j % GROUP))) as u8;
            }
        });
        Self { rows, width, words, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of column `j`, row after row.
    pub fn column(&self, j: usize) -> &[u8] {
        &self.columns[j * self.rows..(j + 1) * self.rows]
    }

    /// The codes of the columns `8 group ..`, a word for each row, the first column in its lowest byte.
    pub fn words(&self, group: usize) -> &[u64] {
        &self.words[group * self.rows..(group + 1) * self.rows]
    }
}
