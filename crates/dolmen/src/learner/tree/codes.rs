//! The codes of a table: one byte a cell, in the order that those want who read them.
//!
//! Histograms of all columns read eight columns of a row at once ([`Codes`]): one load for eight additions. Forests look at a few
//! columns of each node (`ColumnCodes`). Both together would take more than twice the memory.

/// Columns whose codes share a word.
pub const GROUP: usize = 8;

/// Rows coded in one piece of work.
pub(super) const BLOCK: usize = 4096;

/// Codes of rows, eight columns side by side.
#[derive(Debug, Clone)]
pub struct Codes {
    rows: usize,
    width: usize,
    /// Group of columns after group, and in each row after row; some more, so that every row's can be read as a word.
    bytes: Vec<u8>,
}

impl Codes {
    /// Codes that `fill` writes: it is called with each group of columns, by its first one, and room for its codes.
    pub(super) fn new(rows: usize, width: usize, mut fill: impl FnMut(usize, &mut [u8])) -> Self {
        let mut codes = Self { rows, width, bytes: vec![0; rows * width + size_of::<u64>()] };
        for first in (0..width).step_by(GROUP) {
            let end = (first + GROUP).min(width);
            fill(first, &mut codes.bytes[first * rows..end * rows]);
        }
        codes
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of column `j`.
    pub fn column(&self, j: usize) -> CodeColumn<'_> {
        let Words { bytes, stride } = self.words(j / GROUP);
        CodeColumn { bytes: &bytes[j % GROUP..], stride }
    }

    /// The codes of the columns `8 group ..`.
    pub fn words(&self, group: usize) -> Words<'_> {
        let first = group * GROUP;
        let stride = GROUP.min(self.width - first);
        Words { bytes: &self.bytes[first * self.rows..], stride }
    }
}

/// Eight columns of [`Codes`], or as many as there are.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl Words<'_> {
    /// The codes of a row, the first column in the lowest byte; bytes beyond the columns mean nothing.
    #[inline]
    pub fn at(self, row: usize) -> u64 {
        let bytes = self.bytes[row * self.stride..].first_chunk();
        u64::from_le_bytes(*bytes.unwrap_or(&[0; 8]))
    }
}

/// One column of [`Codes`].
#[derive(Debug, Clone, Copy)]
pub struct CodeColumn<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl CodeColumn<'_> {
    /// The code of a row.
    #[inline]
    pub fn at(self, row: usize) -> u8 {
        self.bytes[row * self.stride]
    }
}

/// Codes of rows, column after column.
#[derive(Debug, Clone)]
pub(super) struct ColumnCodes {
    rows: usize,
    width: usize,
    codes: Vec<u8>,
}

impl ColumnCodes {
    /// From the codes of the columns one after the other.
    pub(super) fn new(rows: usize, width: usize, codes: Vec<u8>) -> Self {
        Self { rows, width, codes }
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The codes of column `j`, row after row.
    #[inline]
    pub(super) fn column(&self, j: usize) -> &[u8] {
        &self.codes[j * self.rows..(j + 1) * self.rows]
    }
}
