//! Weights for predictions that are read block by block: files larger than memory.
//!
//! The weights, and the scores of the combination and of its members, are those of all rows. What takes many searches for weights (their standard errors,
//! what the combination loses without a member, the cross-checked gain) comes from a sample.

use std::path::Path;

use super::fit::{Size, check_least, may_take, whole};
use super::matrix::DiskMatrix;
use super::sampled::Threshold;
use super::weights::{Streamable, is_streamed, judged_weights};
use crate::catalogue::Catalogue;
use crate::combine::{Method, ShowBlocks};
use crate::ensemble::Blend;
use crate::error::{Error, Place, Result};
use crate::oos::{Kept, OutOfSample};
use crate::recipe::matrix::{Matrix, kept_at, with_matrix};
use crate::recipe::weigh::{Written, other_combination};
use crate::recipe::{Apply, Combined, ModelFile, WeighRecipe, WeighReport};
use crate::run::Run;
use crate::table::{BLOCK, Blocks, Features, Put, ReadOptions, Table};
use crate::target::Target;
use crate::task::{Classification, Density, Regression};

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
    Blocks(Box<PredictionBlocks>),
}

/// Predictions that are read block by block: a table of them, or a matrix that a fit has kept.
#[derive(Debug)]
pub struct PredictionBlocks {
    blocks: Blocks,
    kept: Option<Kept>,
}

impl PredictionBlocks {
    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.blocks.paths()
    }

    /// The matrix of some of the rows, and what to say about it.
    fn matrix(&self, recipe: &WeighRecipe, rows: Table) -> Result<(Matrix, Vec<String>)> {
        match &self.kept {
            Some(kept) => Ok((Matrix::of_kept(kept, rows)?, Vec::new())),
            None => recipe.matrix(rows).map(|(matrix, _, notes)| (matrix, notes)),
        }
    }
}

impl WeighRecipe {
    /// Opens predictions, a kept matrix (or the model that carries one), or a folder or pattern of Parquet files: read whole where weighing takes no more than this memory (such as
    /// `2G`; half of what can be had if nothing is said), else block by block.
    pub fn open(&self, path: &Path, memory: Option<&str>, run: &Run) -> Result<OpenedPredictions> {
        let is_one = path.is_file() || path.as_os_str() == "-";
        let kept = if path.is_file() { kept_at(path)? } else { None };
        let is_model = ModelFile::is_at(path);
        if let (true, Some(name)) = (is_model || kept.is_some(), self.inputs.first()) {
            let expected = "left out: a kept matrix holds predictions only";
            return Err(Error::param("inputs", expected, name));
        }
        let named = [&self.target, &self.weights].into_iter().flatten().chain(&self.inputs);
        let always: Vec<&str> = named.map(String::as_str).collect();
        let is_small =
            || Ok(Size::estimate(path)?.bytes.saturating_mul(PER_BYTE) <= may_take(memory)?);
        if is_model || is_one && is_small()? {
            let whole = match Matrix::read(path, run)? {
                Some(matrix) => (matrix, None, Vec::new()),
                None => self.matrix(self.reading.read(path, &always, None, run)?)?,
            };
            return Ok(OpenedPredictions::Whole(Box::new(whole)));
        }
        if is_one {
            self.check_streamed()?;
        }
        let options = match &kept {
            Some(_) => ReadOptions::default(),
            None => self.reading.read_options(&always, None)?,
        };
        let blocks = Blocks::open(path, &options, BLOCK, run)?;
        if !is_one && Size::of(&blocks).bytes.saturating_mul(PER_BYTE) <= may_take(memory)? {
            let whole = self.matrix(whole(&blocks, run)?);
            let whole = whole.map_err(|error| blocks.locate(error, 0))?;
            return Ok(OpenedPredictions::Whole(Box::new(whole)));
        }
        self.check_streamed()?;
        check_least(&blocks, path, may_take(memory)?, 0)?;
        Ok(OpenedPredictions::Blocks(Box::new(PredictionBlocks { blocks, kept })))
    }

    /// Refuses what needs all rows in memory.
    fn check_streamed(&self) -> Result<()> {
        let has_blocks = match self.only_weights()? {
            Some(weights) => is_streamed(weights.method),
            None => matches!(&self.methods[..], [one] if one.kind == LOG_POOL),
        };
        let hint = "give more memory (--memory), or weigh a part of the rows";
        if !has_blocks {
            self.check_known()?;
            let streamed = Method::ALL.into_iter().filter(|own| is_streamed(*own));
            let names: Vec<&str> = streamed.map(Method::name).chain([LOG_POOL]).collect();
            let expected =
                format!("one of {} where predictions are read block by block", names.join(", "));
            let given: Vec<String> = self.methods.iter().map(ToString::to_string).collect();
            return Err(Error::param("method", expected, given.join(", ")).with_hint(hint));
        }
        let asked = [
            ("inputs", !self.inputs.is_empty()),
            ("calibrate", self.calibration.is_some()),
            ("interval", self.interval.is_some()),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((name, _)) => {
                let expected = "left out where predictions are read block by block";
                Err(Error::param(name, expected, "given").with_hint(hint))
            }
        }
    }

    /// Refuses methods that no task knows: more memory is no cure for those.
    fn check_known(&self) -> Result<()> {
        let catalogue = Catalogue::standard();
        self.combiners::<Classification>(catalogue).map(drop).or_else(|error| {
            let others = self.combiners::<Regression>(catalogue).map(drop);
            others.or_else(|_| self.combiners::<Density>(catalogue).map(drop)).map_err(|_| error)
        })
    }

    /// Weighs predictions that are read block by block, and hands the combined ones on if `put` takes them. Gives the report and what
    /// to say about it.
    pub fn weigh_blocks(
        &self,
        blocks: &PredictionBlocks,
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
                "weights, scores and gains are those of all rows; errors and intervals of the weights (narrowed to the number of all rows), losses without a member and the cross-checked gain come"
            }
            Combined::Other(_) => "the powers are those of all rows; the scores and the check come",
        };
        notes.push(format!("read block by block: {of_all} from a sample of {rows} rows"));
        Ok((report, notes))
    }

    /// The matrix of a sample of the rows, drawn by the seed.
    fn sampled(&self, blocks: &PredictionBlocks, run: &Run) -> Result<(Matrix, Vec<String>)> {
        let rows = blocks.blocks.rows().unwrap_or(usize::MAX);
        let threshold = Threshold::of(rows, SAMPLED, run.stream("sample").key());
        let mut parts = Vec::new();
        blocks.blocks.visit(run, &mut |first, block| {
            let is_sampled = |i: &usize| threshold.holds((first + i) as u64);
            parts.push(block.select(&(0..block.rows()).filter(is_sampled).collect::<Vec<_>>()));
            Ok(())
        })?;
        blocks.matrix(self, Table::stacked(parts)?)
    }

    fn weigh_all<T: Streamable + Written>(
        &self,
        sample: &OutOfSample<T>,
        matrix: &Matrix,
        blocks: &PredictionBlocks,
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
        let asked = self.only_weights()?.unwrap_or_default();
        let (found, judged) =
            judged_weights::<T>(&disk, &start, &asked, run)?.ok_or_else(|| {
                Error::param(
                    "--log with --target",
                    "left out where predictions are read block by block",
                    "given",
                )
            })?;
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
        blocks: &PredictionBlocks,
        put: Option<&mut Put<'_>>,
        run: &Run,
    ) -> Result<WeighReport> {
        let combiners = self.combiners(Catalogue::standard())?;
        let (blend, _) = self.blend(sample, None, &combiners, run)?;
        let show: &ShowBlocks<'_, T> = &|show| {
            blocks
                .blocks
                .visit(run, &mut |first, block| show(&self.block(sample, blocks, first, block)?))
        };
        let blend = match blend.combination().learned_from_blocks(show, run)? {
            Some(combination) => blend.with(combination),
            None => blend,
        };
        let mut report = Self::report(&blend, other_combination(sample, blend.combination())?);
        if let (Combined::Other(other), Some(rows)) = (&mut report.combined, blocks.blocks.rows()) {
            other.rows = rows;
        }
        if let Some(put) = put {
            self.combined_blocks(&blend, sample, blocks, put, run)?;
        }
        Ok(report)
    }

    /// What weights need to know of every row, on disk.
    fn on_disk<T: Streamable>(
        &self,
        sample: &OutOfSample<T>,
        blocks: &PredictionBlocks,
        run: &Run,
    ) -> Result<DiskMatrix> {
        let mut disk = DiskMatrix::new(T::widths(sample.members().len()))?;
        blocks.blocks.visit(run, &mut |first, block| {
            let own = self.block(sample, blocks, first, block)?;
            let column = |m: usize| -> Vec<f64> {
                (0..own.rows()).map(|i| T::entry(own.row(m, i), own.target(), i)).collect()
            };
            let mut columns: Vec<Vec<f64>> = (0..own.members().len()).map(column).collect();
            columns.extend(own.target().numbers().filter(|_| T::TRUTH).map(<[f64]>::to_vec));
            let weights = own.weights().map_or_else(|| vec![1.0; own.rows()], <[f64]>::to_vec);
            disk.push(&weights, &vec![0.0; weights.len()], columns.iter())
        })?;
        Ok(disk)
    }

    /// One block, from this row of the table on, as a matrix of the sample's members.
    fn block<T: Streamable>(
        &self,
        sample: &OutOfSample<T>,
        blocks: &PredictionBlocks,
        first: usize,
        block: Table,
    ) -> Result<OutOfSample<T>> {
        let own = blocks.matrix(self, block).map_err(|e| blocks.blocks.locate(e, first))?;
        let own = T::from_matrix(own.0)?;
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
        blocks: &PredictionBlocks,
        put: &mut Put<'_>,
        run: &Run,
    ) -> Result<()> {
        blocks.blocks.visit(run, &mut |first, block| {
            let own = self.block(sample, blocks, first, block)?;
            let members: Vec<&[f64]> = (0..own.members().len()).map(|m| own.column(m)).collect();
            let combined = blend.combine(&members, None)?;
            put(&Table::new(T::columns(self, blend, combined, own.target().classes())?)?)
        })
    }
}
