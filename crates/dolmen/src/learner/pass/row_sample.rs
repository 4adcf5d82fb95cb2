//! A sample of the rows, drawn by their numbers: the same rows whoever reads them, and in whatever pieces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Piece;
use crate::error::Result;
use crate::learner::Sample;
use crate::run::mix;
use crate::table::{Features, Rows, Schema};
use crate::target::Labels;
use crate::task::Task;

/// The rows of least key, where a row's key is a hash of its number: at most so many, each subset as likely as any other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RowSample {
    seed: u64,
    most: usize,
    /// The largest key of a row that is kept.
    cut: u64,
    width: usize,
    /// Key and number of each row.
    rows: Vec<(u64, u64)>,
    #[serde(with = "crate::store::floats")]
    weights: Vec<f64>,
    #[serde(with = "crate::store::floats")]
    values: Vec<f64>,
}

/// Values beside the columns of rows that are added with their classes: the class and the group.
pub(crate) const LABELS: usize = 2;

/// Standard deviations of the number of kept rows by which more are kept than are wanted: they do not suffice once in 10^11 samples.
const SPARE: f64 = 7.0;

/// In the place of a group where rows have none.
const NO_GROUP: f64 = -1.0;

/// Rows with their classes, and groups where they have any.
pub(crate) struct LabelledRows {
    /// Row after row.
    pub(crate) values: Vec<f64>,
    pub(crate) labels: Labels,
    pub(crate) weights: Vec<f64>,
    pub(crate) groups: Option<Vec<u32>>,
}

impl LabelledRows {
    /// To learn from, with these inputs.
    pub(crate) fn sample<'a, T: Task<Target = Labels>>(
        &'a self,
        x: Rows<'a>,
    ) -> Result<Sample<'a, T>> {
        let sample = Sample::new(x, &self.labels)?.counted(&self.weights)?;
        match &self.groups {
            Some(groups) => sample.grouped(groups),
            None => Ok(sample),
        }
    }
}

impl RowSample {
    /// No rows yet, of so many columns.
    pub(crate) fn new(most: usize, width: usize, seed: u64) -> Self {
        let (rows, weights, values) = (Vec::new(), Vec::new(), Vec::new());
        Self { seed, most, cut: u64::MAX, width, rows, weights, values }
    }

    /// Drawn among so many rows that count: those whose keys are too large for all that can be expected are not kept, so that a piece
    /// does not bring as many rows as the whole sample has.
    pub(crate) fn among(mut self, rows: u64) -> Self {
        let most = self.most as f64;
        let share = (most + SPARE * most.sqrt()) / rows as f64;
        self.cut = if share < 1.0 { (share * 2.0_f64.powi(64)) as u64 } else { u64::MAX };
        self
    }

    /// Whether too few rows of so many were kept: they must be drawn again, from all.
    pub(crate) fn is_short(&self, rows: u64) -> bool {
        (self.rows.len() as u64) < rows.min(self.most as u64)
    }

    /// Offers the rows of a piece that count.
    pub(crate) fn add<T: Task>(&mut self, piece: &Piece<'_, T>) {
        self.add_with(piece, |_| []);
    }

    /// The same with the class of each row and its group, if rows have groups, as two more values.
    pub(crate) fn add_labelled<T: Task<Target = Labels>>(&mut self, piece: &Piece<'_, T>) {
        self.add_labelled_by(piece, |_, group| group);
    }

    /// The same with something that is known of a row and its group in the group's place.
    pub(crate) fn add_labelled_by<T: Task<Target = Labels>>(
        &mut self,
        piece: &Piece<'_, T>,
        known: impl Fn(usize, u32) -> u32,
    ) {
        let sample = &piece.sample;
        let group =
            |i: usize| sample.groups().map_or(NO_GROUP, |groups| f64::from(known(i, groups[i])));
        self.add_with(piece, |i| [sample.target().class(i) as f64, group(i)]);
    }

    fn add_with<T: Task, const N: usize>(
        &mut self,
        piece: &Piece<'_, T>,
        last: impl Fn(usize) -> [f64; N],
    ) {
        if self.most == 0 {
            return;
        }
        let x = piece.sample.x();
        for i in 0..x.rows() {
            let (number, weight) = (piece.number(i), piece.sample.weight(i));
            let key = mix(self.seed ^ mix(number));
            if weight > 0.0 && key <= self.cut {
                self.rows.push((key, number));
                self.weights.push(weight);
                self.values.extend_from_slice(x.row(i));
                self.values.extend(last(i));
            }
            if self.rows.len() >= 2 * self.most {
                self.prune();
            }
        }
    }

    /// Adds a sample of other rows.
    pub(crate) fn merge(&mut self, later: Self) {
        self.rows.extend(later.rows);
        self.weights.extend(later.weights);
        self.values.extend(later.values);
        if self.rows.len() > self.most {
            self.prune();
        }
    }

    /// Keeps the rows of least key, in the order in which they stand.
    fn prune(&mut self) {
        if self.rows.len() <= self.most {
            return;
        }
        let mut keys = self.rows.clone();
        let (_, &mut largest, _) = keys.select_nth_unstable(self.most - 1);
        let width = self.width;
        let mut kept = 0;
        for i in 0..self.rows.len() {
            if self.rows[i] <= largest {
                self.rows[kept] = self.rows[i];
                self.weights[kept] = self.weights[i];
                self.values.copy_within(i * width..(i + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.rows.truncate(kept);
        self.weights.truncate(kept);
        self.values.truncate(kept * width);
    }

    /// The sample, in the order of the rows' numbers, and the rows' weights.
    pub(crate) fn finish(self, schema: &Arc<Schema>) -> Result<(Features, Vec<f64>)> {
        let (values, weights) = self.finish_plain();
        Ok((Features::new(values, Arc::clone(schema))?, weights))
    }

    /// The rows that were added with their classes, of which these are all.
    pub(crate) fn finish_labelled(self, classes: &[String]) -> Result<LabelledRows> {
        let columns = self.width - LABELS;
        let (rows, weights) = self.finish_plain();
        let rows = rows.chunks_exact(columns + LABELS);
        let codes = rows.clone().map(|row| row[columns] as u32).collect();
        let groups: Vec<f64> = rows.clone().map(|row| row[columns + 1]).collect();
        let are_grouped = !groups.contains(&NO_GROUP);
        Ok(LabelledRows {
            values: rows.flat_map(|row| &row[..columns]).copied().collect(),
            labels: Labels::new(classes.to_vec(), codes)?,
            weights,
            groups: are_grouped.then(|| groups.into_iter().map(|group| group as u32).collect()),
        })
    }

    /// The same as numbers, row after row.
    fn finish_plain(mut self) -> (Vec<f64>, Vec<f64>) {
        self.prune();
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| self.rows[i].1);
        let width = self.width;
        let row = |&i: &usize| self.values[i * width..(i + 1) * width].iter().copied();
        let values: Vec<f64> = order.iter().flat_map(row).collect();
        let weights = order.iter().map(|&i| self.weights[i]).collect();
        (values, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Density;

    /// A sample of 10 000 rows, brought by pieces of 1000.
    fn drawn(empty: &RowSample) -> (RowSample, usize) {
        let x = Features::numeric((0..10_000).map(f64::from).collect::<Vec<_>>(), 1).unwrap();
        let (mut all, mut brought) = (empty.clone(), 0);
        for first in (0..10_000).step_by(1000) {
            let mut part = empty.clone();
            let rows = x.rows().slice(first..first + 1000);
            part.add(&Piece::<Density>::new(Sample::new(rows, &()).unwrap(), first as u64));
            brought += part.rows.len();
            all.merge(part);
        }
        (all, brought)
    }

    #[test]
    fn pieces_bring_little_more_than_the_sample_has() {
        let plain = RowSample::new(400, 1, 7);
        let (all, brought) = drawn(&plain);
        let (sparing, little) = drawn(&plain.among(10_000));
        assert!(!sparing.is_short(10_000));
        assert!(brought >= 4000 && little < 600, "{brought} {little}");
        assert_eq!(all.finish_plain(), sparing.finish_plain());
    }

    #[test]
    fn too_few_are_noticed() {
        let (all, _) = drawn(&RowSample::new(400, 1, 7).among(1_000_000));
        assert!(all.is_short(10_000));
        let (few, _) = drawn(&RowSample::new(20_000, 1, 7).among(10_000));
        assert!(!few.is_short(10_000));
    }
}
