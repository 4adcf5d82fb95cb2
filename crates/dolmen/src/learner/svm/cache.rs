//! Rows of the kernel matrix, kept in single precision as far as memory is allowed; the longest unused goes first.

use crate::learner::likeness::Compared;

/// Kernel rows of the training rows with one another.
#[derive(Debug)]
pub(super) struct RowCache<'a> {
    compared: &'a Compared,
    rows: Vec<Option<Box<[f32]>>>,
    /// When each row was last asked for.
    used: Vec<u64>,
    /// The rows that are kept.
    kept: Vec<usize>,
    most: usize,
    clock: u64,
    buffer: Vec<f64>,
}

impl<'a> RowCache<'a> {
    /// Keeps rows in at most this many bytes, but always two.
    pub(super) fn new(compared: &'a Compared, bytes: f64) -> Self {
        let rows = compared.rows();
        let most = ((bytes / (4.0 * compared.padded().max(1) as f64)) as usize).max(2);
        Self {
            compared,
            rows: vec![None; rows],
            used: vec![0; rows],
            kept: Vec::new(),
            most,
            clock: 0,
            buffer: vec![0.0; compared.padded()],
        }
    }

    pub(super) fn compared(&self) -> &'a Compared {
        self.compared
    }

    /// Kernel row i, padded.
    pub(super) fn row(&mut self, i: usize) -> &[f32] {
        self.keep(i);
        self.kept_row(i)
    }

    /// Two kernel rows.
    pub(super) fn pair(&mut self, i: usize, j: usize) -> (&[f32], &[f32]) {
        self.keep(i);
        self.keep(j);
        (self.kept_row(i), self.kept_row(j))
    }

    fn kept_row(&self, i: usize) -> &[f32] {
        self.rows[i].as_deref().unwrap_or(&[])
    }

    fn keep(&mut self, i: usize) {
        self.clock += 1;
        self.used[i] = self.clock;
        if self.rows[i].is_some() {
            return;
        }
        let mut row = if self.kept.len() < self.most {
            vec![0.0; self.buffer.len()].into_boxed_slice()
        } else {
            self.evict()
        };
        self.compared.compare(&self.compared.row(i), &mut self.buffer);
        row.iter_mut().zip(&self.buffer).for_each(|(out, value)| *out = *value as f32);
        self.rows[i] = Some(row);
        self.kept.push(i);
    }

    /// Takes the memory of the row unused for longest. A search costs less than the row it makes room for.
    fn evict(&mut self) -> Box<[f32]> {
        let oldest = (0..self.kept.len()).min_by_key(|&at| self.used[self.kept[at]]).unwrap_or(0);
        let row = self.kept.swap_remove(oldest);
        self.rows[row].take().unwrap_or_default()
    }
}
