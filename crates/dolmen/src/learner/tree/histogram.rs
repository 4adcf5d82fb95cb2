//! Histograms: for every column and code, the sum of the cells of a node's rows.

use super::codes::{CodeColumn, GROUP, Words};
use super::criterion::{Cell, Criterion};

/// Codes of a column, the one for missing values among them: a byte indexes it without a check.
pub(super) const CODES: usize = 256;

/// The sums of one layer of a column.
pub(super) type Sums<C> = [C; CODES];

/// Adds rows to the histograms of a group of at most eight columns, `layers` each.
///
/// `cells` are the cells of the rows, in their order, so that they are read in sequence.
pub(super) fn add_group<C: Criterion>(
    criterion: &C,
    histograms: &mut [Sums<C::Cell>],
    words: Words<'_>,
    rows: &[u32],
    cells: &[C::Cell],
) {
    let layers = criterion.layers();
    if layers > 1 {
        return add_layers(criterion, histograms, words, rows, cells);
    }
    match histograms.len() {
        1 => add::<1, _>(histograms, words, rows, cells),
        2 => add::<2, _>(histograms, words, rows, cells),
        3 => add::<3, _>(histograms, words, rows, cells),
        4 => add::<4, _>(histograms, words, rows, cells),
        5 => add::<5, _>(histograms, words, rows, cells),
        6 => add::<6, _>(histograms, words, rows, cells),
        7 => add::<7, _>(histograms, words, rows, cells),
        _ => add::<GROUP, _>(histograms, words, rows, cells),
    }
}

/// Rows whose codes are fetched before they are added.
const FETCHED: usize = 128;

/// The inner loop of boosting: eight additions a word, into 16 KB of sums that stay in the first cache.
///
/// The words of scattered rows come from far away. A loop that does nothing but fetch them has many on their way at once, where
/// one that adds them as well would wait for each few.
fn add<const COLUMNS: usize, C: Cell>(
    histograms: &mut [Sums<C>],
    words: Words<'_>,
    rows: &[u32],
    cells: &[C],
) {
    let Some(histograms) = histograms.first_chunk_mut::<COLUMNS>() else { return };
    let mut fetched = [0; FETCHED];
    for (rows, cells) in rows.chunks(FETCHED).zip(cells.chunks(FETCHED)) {
        for (word, &row) in fetched.iter_mut().zip(rows) {
            *word = words.at(row as usize);
        }
        for (word, &cell) in fetched.iter().zip(cells) {
            for (k, histogram) in histograms.iter_mut().enumerate() {
                histogram[usize::from((word >> (8 * k)) as u8)] += cell;
            }
        }
    }
}

fn add_layers<C: Criterion>(
    criterion: &C,
    histograms: &mut [Sums<C::Cell>],
    words: Words<'_>,
    rows: &[u32],
    cells: &[C::Cell],
) {
    for (&row, &cell) in rows.iter().zip(cells) {
        let (word, layer) = (words.at(row as usize), criterion.layer(row as usize));
        for (k, histograms) in histograms.chunks_exact_mut(criterion.layers()).enumerate() {
            histograms[layer][usize::from((word >> (8 * k)) as u8)] += cell;
        }
    }
}

/// Adds rows to the histograms of one column.
pub(super) fn add_column<C: Criterion>(
    criterion: &C,
    histograms: &mut [Sums<C::Cell>],
    codes: CodeColumn<'_>,
    rows: &[u32],
    cells: &[C::Cell],
) {
    if let [histogram] = histograms {
        for (&row, &cell) in rows.iter().zip(cells) {
            histogram[usize::from(codes.at(row as usize))] += cell;
        }
    } else {
        for (&row, &cell) in rows.iter().zip(cells) {
            let layer = criterion.layer(row as usize);
            histograms[layer][usize::from(codes.at(row as usize))] += cell;
        }
    }
}

/// Takes one histogram off another.
pub(super) fn subtract<C: Cell>(from: &mut [Sums<C>], other: &[Sums<C>]) {
    for (from, other) in from.iter_mut().zip(other) {
        for (from, other) in from.iter_mut().zip(other) {
            *from -= *other;
        }
    }
}
