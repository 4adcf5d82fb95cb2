//! One category of training rows: what the target was like at its levels.

use std::collections::HashMap;

use super::known::{Known, Order};

/// One category of training rows.
pub(super) struct Category<'a> {
    /// The level of each row; the number of levels if it has none.
    pub(super) codes: &'a [u32],
    pub(super) levels: usize,
    pub(super) means: &'a [f64],
    pub(super) prior: f64,
}

impl Category<'_> {
    /// What all rows say of each level.
    pub(super) fn full(&self, known: &Known<'_>) -> Vec<f64> {
        let width = self.means.len();
        let mut sums = Sums::zero(self.levels, width);
        for (i, (&code, values)) in
            self.codes.iter().zip(known.values.chunks_exact(width)).enumerate()
        {
            if (code as usize) < self.levels {
                sums.add(code as usize, known.weight(i), values);
            }
        }
        let mut out = vec![0.0; self.levels * width];
        for (level, out) in out.chunks_exact_mut(width).enumerate() {
            write_means(sums.level(level), None, self.means, self.prior, out);
        }
        out
    }

    /// What the rows before each row say of its level.
    pub(super) fn ordered(&self, known: &Known<'_>, order: &Order) -> Vec<f64> {
        let width = self.means.len();
        let mut sums = Sums::zero(self.levels, width);
        // Groups that span times are taken out row by row; elsewhere a group becomes known at once.
        let spanning = known.moments.and(known.groups);
        let mut of_groups: HashMap<(u32, u32), Sums> = HashMap::new();
        let mut out = vec![0.0; self.codes.len() * width];
        for batch in 0..order.ends.len() {
            if let Some(settled) = (batch).checked_sub(1 + known.gap) {
                for &row in order.batch(settled) {
                    let (i, code) = (row as usize, self.codes[row as usize]);
                    if code as usize >= self.levels {
                        continue;
                    }
                    let values = &known.values[i * width..(i + 1) * width];
                    sums.add(code as usize, known.weight(i), values);
                    if let Some(groups) = spanning {
                        let own = of_groups
                            .entry((groups[i], code))
                            .or_insert_with(|| Sums::zero(1, width));
                        own.add(0, known.weight(i), values);
                    }
                }
            }
            for &row in order.batch(batch) {
                let (i, code) = (row as usize, self.codes[row as usize]);
                let out = &mut out[i * width..(i + 1) * width];
                if code as usize >= self.levels {
                    out.copy_from_slice(self.means);
                    continue;
                }
                let own = spanning.and_then(|groups| of_groups.get(&(groups[i], code)));
                let own = own.map(|own| own.level(0));
                write_means(sums.level(code as usize), own, self.means, self.prior, out);
            }
        }
        out
    }
}

/// The weight of rows and the weighted sums of their numbers, for each of some levels.
struct Sums {
    /// Numbers of a row.
    width: usize,
    cells: Vec<f64>,
}

impl Sums {
    fn zero(levels: usize, width: usize) -> Self {
        Self { width, cells: vec![0.0; levels * (width + 1)] }
    }

    fn add(&mut self, level: usize, weight: f64, values: &[f64]) {
        let size = self.width + 1;
        let cells = &mut self.cells[level * size..(level + 1) * size];
        cells[0] += weight;
        cells[1..].iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
    }

    fn level(&self, level: usize) -> &[f64] {
        let size = self.width + 1;
        &self.cells[level * size..(level + 1) * size]
    }
}

/// What the sums of a level say, held towards the mean of all rows; without those of a row's own group, where they are among them.
fn write_means(sums: &[f64], own: Option<&[f64]>, means: &[f64], prior: f64, out: &mut [f64]) {
    let sum = |i: usize| sums[i] - own.map_or(0.0, |own| own[i]);
    // What is left of a level after its rows are taken away may be rounding.
    let weight = sum(0).max(0.0);
    for (i, (cell, mean)) in out.iter_mut().zip(means).enumerate() {
        *cell = (sum(i + 1) + prior * mean) / (weight + prior);
    }
}
