//! What every member said about rows it had not seen: of all rows on disk, and under a name where it is to be kept.

use std::cell::OnceCell;
use std::path::Path;

use super::Source;
use super::context::Context;
use super::lockstep::LearnerFits;
use super::matrix::DiskMatrix;
use super::predict::{BlockPredictions, Column, PredictWork, from_numbers};
use super::weights::Streamable;
use super::work::taken;
use crate::combine::Combination;
use crate::error::{Error, Result};
use crate::oos::{OutOfSample, write_in_blocks};
use crate::run::Run;
use crate::target::Target;

/// What every member said about rows it had not seen.
pub(super) struct Predicted {
    /// Of all rows, what weights need.
    pub(super) all: DiskMatrix,
    /// Of the rows of the sample, everything.
    pub(super) of_sample: Vec<(String, Vec<f64>)>,
}

impl Predicted {
    /// Takes in the next block.
    fn add(&mut self, block: BlockPredictions) -> Result<()> {
        for ((_, own), Column(sampled)) in self.of_sample.iter_mut().zip(block.sampled) {
            own.extend(sampled);
        }
        let entries = block.entries.iter().map(|Column(entries)| entries);
        self.all.push(&block.weights, &block.folds, entries)
    }
}

/// Those who predict the rows of a table that they have not seen.
pub(super) struct Predictors<'a, T: Streamable> {
    pub(super) source: &'a dyn Source,
    pub(super) context: &'a Context,
    pub(super) learners: &'a [LearnerFits<T>],
    /// That of the sample: what targets look like.
    pub(super) target: &'a T::Target,
    pub(super) run: &'a Run,
}

impl<T: Streamable> Predictors<'_, T> {
    /// With what they say about all rows. It is kept in a file if one is named: whole prediction rows, a matrix like any other.
    pub(super) fn asked(self, kept: Option<&Path>) -> Result<(Self, Predicted)> {
        let predicted = self.predicted(kept)?;
        Ok((self, predicted))
    }

    fn predicted(&self, kept: Option<&Path>) -> Result<Predicted> {
        let names = self.names();
        let planned = &self.run.planned();
        let all = DiskMatrix::new(T::widths(names.len()))?;
        let of_sample = names.iter().map(|name| (name.clone(), Vec::new())).collect();
        let mut found = Predicted { all, of_sample };
        let Some(path) = kept else {
            self.predict(false, &mut |block| found.add(block), planned)?;
            return Ok(found);
        };
        let mut first = 0;
        write_in_blocks(path, &names, self.target.classes(), |put| {
            let take = &mut |mut block: BlockPredictions| {
                let rows = block.weights.len();
                // There may be blocks without a single target.
                if rows > 0 {
                    let weights = self.context.is_weighted().then(|| block.weights.clone());
                    let columns = std::mem::take(&mut block.rows).into_iter();
                    let part = self.matrix(columns.map(|Column(rows)| rows), &names)?;
                    put(&part.part_of_larger(first, weights, block.groups.take()))?;
                    first += rows;
                }
                found.add(block)
            };
            self.predict(true, take, planned)
        })?;
        Ok(found)
    }

    /// The same kind of combination from all rows, if it can be had block by block. The prediction rows are written to disk once, when it
    /// first asks for them.
    pub(super) fn refine(
        &self,
        combination: &dyn Combination<T>,
    ) -> Result<Option<Box<dyn Combination<T>>>> {
        let (names, disk) = (self.names(), OnceCell::new());
        combination.learned_from_blocks(
            &|show| {
                if disk.get().is_none() {
                    let _ = disk.set(self.written(names.len())?);
                }
                disk.get().into_iter().try_for_each(|disk| {
                    disk.rows().show(&mut |columns, weights| {
                        if weights.iter().all(|weight| *weight == 0.0) {
                            return Ok(());
                        }
                        let part = self.matrix(columns.into_iter(), &names)?;
                        show(&part.part_of_larger(0, Some(weights.to_vec()), None))
                    })
                })
            },
            self.run,
        )
    }

    fn names(&self) -> Vec<String> {
        self.learners.iter().flat_map(|own| own.members.clone()).collect()
    }

    /// Asks them about all rows, block by block.
    fn predict(
        &self,
        keeps_rows: bool,
        take: &mut dyn FnMut(BlockPredictions) -> Result<()>,
        run: &Run,
    ) -> Result<()> {
        let work = PredictWork::new(self.context, self.learners, keeps_rows);
        self.source.work(&work, &mut |predicted| take(taken(predicted)?), run)
    }

    /// Whole prediction rows, the truth first, as a matrix.
    fn matrix(
        &self,
        mut columns: impl Iterator<Item = Vec<f64>>,
        names: &[String],
    ) -> Result<OutOfSample<T>> {
        let truth = from_numbers(columns.next().unwrap_or_default(), self.target)
            .ok_or_else(|| Error::param("stored truth", "whole", "damaged"))?;
        OutOfSample::from_columns(names.iter().cloned().zip(columns).collect(), truth, None)
    }

    fn written(&self, members: usize) -> Result<DiskMatrix> {
        let width = T::width(self.target);
        let widths = std::iter::once(1).chain(std::iter::repeat_n(width, members));
        let mut disk = DiskMatrix::new(widths.collect())?;
        let take = &mut |block: BlockPredictions| {
            disk.push(&block.weights, &block.folds, block.rows.iter().map(|Column(rows)| rows))
        };
        self.predict(true, take, self.run)?;
        Ok(disk)
    }
}
