//! Weights for predictions that are read block by block: files larger than memory.
//!
//! The weights, and the scores of the combination and of its members, are those of all rows. What takes many searches for weights (their standard errors,
//! what the combination loses without a member, the cross-checked gain) comes from a sample.

use std::path::Path;

use super::fit::{estimate, may_take};
use super::judged::Judged;
use super::look::Threshold;
use super::matrix::DiskMatrix;
use super::weights::Streamable;
use crate::catalogue::Catalogue;
use crate::combine::{ShowBlocks, Weights};
use crate::ensemble::Blend;
use crate::error::{Error, Place, Result};
use crate::oos::OutOfSample;
use crate::recipe::matrix::{Matrix, with_matrix};
use crate::recipe::weigh::{Written, other_combination};
use crate::recipe::{Apply, Combined, WeighRecipe, WeighReport};
use crate::run::Run;
use crate::table::{BLOCK, Blocks, Features, Put, Table};
use crate::target::Target;

/// The method whose powers are found block by block.
const LOG_POOL: &str = "log-pool";
/// Rows of the sample.
const SAMPLED: usize = 200_000;
/// Bytes that weighing takes for each byte of the predictions.
const PER_BYTE: u64 = 4;

/// Predictions as they can be weighed.
#[derive(Debug)]
pub enum OpenedPredictions {
    /// Whole: the matrix, the rows' inputs, and what to say about it.
    Whole(Box<(Matrix, Option<Features>, Vec<String>)>),
    /// Block by block.
    Blocks(Box<Blocks>),
}

impl WeighRecipe {
    /// Opens predictions, or a folder or pattern of Parquet files: read whole where weighing takes no more than this memory (such as
    /// `2G`; half of what can be had if nothing is said), else block by block.
    pub fn open(&self, path: &Path, memory: Option<&str>, run: &Run) -> Result<OpenedPredictions> {
        let is_one = path.is_file() || path.as_os_str() == "-";
        let named = [&self.target, &self.weights].into_iter().flatten().chain(&self.inputs);
        let always: Vec<&str> = named.map(String::as_str).collect();
        if is_one && estimate(path)?.saturating_mul(PER_BYTE) <= may_take(memory)? {
            let table = self.reading.read(path, &always, None, run)?;
            return self.matrix(table).map(|whole| OpenedPredictions::Whole(Box::new(whole)));
        }
        self.check_streamed()?;
        let options = self.reading.read_options(&always, None)?;
        Ok(OpenedPredictions::Blocks(Box::new(Blocks::open(path, &options, BLOCK, run)?)))
    }

    /// Refuses what needs all rows in memory.
    fn check_streamed(&self) -> Result<()> {
        let has_blocks = match &self.methods[..] {
            [] => true,
            [one] => one.kind == "simplex" || one.kind == LOG_POOL,
            _ => false,
        };
        let asked = [
            ("method", !has_blocks),
            ("prior", self.prior.is_some_and(|prior| prior > 1.0)),
            ("inputs", !self.inputs.is_empty()),
            ("calibrate", self.calibration.is_some()),
            ("interval", self.interval.is_some()),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((name, _)) => {
                let expected = "left out where predictions are read block by block, or one of simplex and log-pool";
                let hint = "give more memory (--memory), or weigh a part of the rows";
                Err(Error::param(name, expected, "given").with_hint(hint))
            }
        }
    }

    /// Weighs predictions that are read block by block, and hands the combined ones on if `put` takes them. Gives the report and what
    /// to say about it.
    pub fn weigh_blocks(
        &self,
        blocks: &Blocks,
        put: Option<&mut Put<'_>>,
        run: &Run,
    ) -> Result<(WeighReport, Vec<String>)> {
        self.check_streamed()?;
        let run = &run.seeded(self.seed);
        let (sample, mut notes) = self.sampled(blocks, run)?;
        let report = with_matrix!(&sample, own => self.weigh_all(own, &sample, blocks, put, run)?);
        let rows = with_matrix!(&sample, own => own.rows());
        let of_all = match &report.combined {
            Combined::Weighed(_) => {
                "weights and scores are those of all rows; their errors, the losses without a member and the cross-checked gain come"
            }
            Combined::Other(_) => "the powers are those of all rows; the scores and the check come",
        };
        notes.push(format!("read block by block: {of_all} from a sample of {rows} rows"));
        Ok((report, notes))
    }

    /// The matrix of a sample of the rows, drawn by the seed.
    fn sampled(&self, blocks: &Blocks, run: &Run) -> Result<(Matrix, Vec<String>)> {
        let rows = blocks.rows().unwrap_or(usize::MAX);
        let threshold = Threshold::of(rows, SAMPLED, run.stream("sample").key());
        let mut parts = Vec::new();
        blocks.visit(run, &mut |first, block| {
            let is_sampled = |i: &usize| threshold.holds((first + i) as u64);
            parts.push(block.select(&(0..block.rows()).filter(is_sampled).collect::<Vec<_>>()));
            Ok(())
        })?;
        let (matrix, _, notes) = self.matrix(Table::stacked(parts)?)?;
        Ok((matrix, notes))
    }

    fn weigh_all<T: Streamable + Written>(
        &self,
        sample: &OutOfSample<T>,
        matrix: &Matrix,
        blocks: &Blocks,
        put: Option<&mut Put<'_>>,
        run: &Run,
    ) -> Result<WeighReport> {
        if self.methods.iter().any(|method| method.kind == LOG_POOL) {
            return self.pool_all(sample, blocks, put, run);
        }
        let mut report = self.weigh(matrix, None, Apply::Nothing, run)?.report;
        let Combined::Weighed(weighing) = &mut report.combined else {
            return Err(Error::param("method", "simplex", "another"));
        };
        let disk = self.on_disk(sample, blocks, run)?;
        let start: Vec<f64> = weighing.members.iter().map(|member| member.weight).collect();
        let asked = Weights { method: weighing.method, ..Weights::default() };
        let found = T::weigh(&disk, &start, &asked, run)?.ok_or_else(|| {
            Error::param(
                "--log with --target",
                "left out where predictions are read block by block",
                "given",
            )
        })?;
        let judged = Judged::new(&disk, &found.weights, T::pool)?;
        let sampled = weighing.rows;
        weighing.take(&found, &judged, sampled);
        if let Some(put) = put {
            let blend =
                Blend::of_weights(weighing.method.to_string(), found.weights, sample.width());
            self.combined_blocks(&blend, sample, blocks, put, run)?;
        }
        Ok(report)
    }

    /// A logarithmic pool by the powers that are best for all rows, which are read again for every step of the search.
    fn pool_all<T: Streamable + Written>(
        &self,
        sample: &OutOfSample<T>,
        blocks: &Blocks,
        put: Option<&mut Put<'_>>,
        run: &Run,
    ) -> Result<WeighReport> {
        let combiners = self.combiners(Catalogue::standard())?;
        let (blend, _) = self.blend(sample, None, &combiners, run)?;
        let show: &ShowBlocks<'_, T> = &|show| {
            blocks.visit(run, &mut |first, block| {
                show(&self.block(sample, block).map_err(|error| blocks.locate(error, first))?)
            })
        };
        let blend = match blend.combination().learned_from_blocks(show, run)? {
            Some(combination) => blend.with(combination),
            None => blend,
        };
        let report = Self::report(&blend, other_combination(sample, blend.combination())?);
        if let Some(put) = put {
            self.combined_blocks(&blend, sample, blocks, put, run)?;
        }
        Ok(report)
    }

    /// What weights need to know of every row, on disk.
    fn on_disk<T: Streamable>(
        &self,
        sample: &OutOfSample<T>,
        blocks: &Blocks,
        run: &Run,
    ) -> Result<DiskMatrix> {
        let mut disk = DiskMatrix::new(vec![1; sample.members().len()])?;
        blocks.visit(run, &mut |first, block| {
            let own = self.block(sample, block).map_err(|error| blocks.locate(error, first))?;
            let column = |m: usize| -> Vec<f64> {
                (0..own.rows()).map(|i| T::entry(own.row(m, i), own.target(), i)).collect()
            };
            let columns: Vec<Vec<f64>> = (0..own.members().len()).map(column).collect();
            let weights = own.weights().map_or_else(|| vec![1.0; own.rows()], <[f64]>::to_vec);
            disk.push(&weights, &columns)
        })?;
        Ok(disk)
    }

    /// One block as a matrix of the sample's members.
    fn block<T: Streamable>(
        &self,
        sample: &OutOfSample<T>,
        block: Table,
    ) -> Result<OutOfSample<T>> {
        let own = T::from_matrix(self.matrix(block)?.0)?;
        let is_alike = own.members() == sample.members()
            && own.target().classes() == sample.target().classes();
        if is_alike {
            return Ok(own);
        }
        Err(Error::data(
            Place::default(),
            "a block of rows has other members or classes than the others",
        ))
    }

    fn combined_blocks<T: Streamable + Written>(
        &self,
        blend: &Blend<T>,
        sample: &OutOfSample<T>,
        blocks: &Blocks,
        put: &mut Put<'_>,
        run: &Run,
    ) -> Result<()> {
        blocks.visit(run, &mut |_, block| {
            let own = self.block(sample, block)?;
            let members: Vec<&[f64]> = (0..own.members().len()).map(|m| own.column(m)).collect();
            let combined = blend.combine(&members, None)?;
            put(&Table::new(T::columns(self, blend, combined, own.target().classes())?)?)
        })
    }
}
