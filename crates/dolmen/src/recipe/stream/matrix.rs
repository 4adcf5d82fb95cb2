//! What the members said about rows they had not seen, on disk: one number for each member and row, which is all that weights need,
//! or whole prediction rows, for combinations that need these.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::solver::TakeBlock;

/// A matrix in a file that goes with it, block after block: the rows' weights, their folds, then its columns.
pub(super) struct DiskMatrix {
    /// Numbers that each column has for a row.
    widths: Vec<usize>,
    /// Rows of each block.
    blocks: Vec<usize>,
    file: Mutex<BufWriter<File>>,
}

/// A block of it.
pub(super) struct Block {
    pub(super) weights: Vec<f64>,
    /// The fold in which each row was held out.
    pub(super) folds: Vec<f64>,
    pub(super) columns: Vec<Vec<f64>>,
}

impl DiskMatrix {
    /// An empty one, in the system's folder for such files, with so many numbers for a row in each of its columns.
    pub(super) fn new(widths: Vec<usize>) -> Result<Self> {
        let file = tempfile::tempfile().map_err(failed)?;
        Ok(Self { widths, blocks: Vec::new(), file: Mutex::new(BufWriter::new(file)) })
    }

    /// Adds a block.
    pub(super) fn push<'a>(
        &mut self,
        weights: &'a [f64],
        folds: &'a [f64],
        columns: impl Iterator<Item = &'a Vec<f64>>,
    ) -> Result<()> {
        let file = self.file.get_mut().map_err(|_| lost())?;
        for column in [weights, folds].into_iter().chain(columns.map(Vec::as_slice)) {
            let bytes: Vec<u8> = column.iter().flat_map(|value| value.to_le_bytes()).collect();
            file.write_all(&bytes).map_err(failed)?;
        }
        self.blocks.push(weights.len());
        Ok(())
    }

    /// All its rows.
    pub(super) fn rows(&self) -> DiskRows<'_> {
        DiskRows { matrix: self, without: None }
    }

    /// All rows but those held out in a fold.
    pub(super) fn without(&self, fold: usize) -> DiskRows<'_> {
        DiskRows { matrix: self, without: Some(fold) }
    }

    /// Shows block after block.
    pub(super) fn show(&self, show: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let mut file = self.file.lock().map_err(|_| lost())?;
        file.flush().map_err(failed)?;
        let file = file.get_mut();
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut bytes = Vec::new();
        for &rows in &self.blocks {
            let mut read = |width: usize| -> Result<Vec<f64>> {
                bytes.resize(rows * width * size_of::<f64>(), 0);
                file.read_exact(&mut bytes).map_err(failed)?;
                let values = bytes.as_chunks::<8>().0.iter();
                Ok(values.map(|value| f64::from_le_bytes(*value)).collect())
            };
            let (weights, folds) = (read(1)?, read(1)?);
            let columns = self.widths.iter().map(|&width| read(width)).collect::<Result<_>>()?;
            show(Block { weights, folds, columns })?;
        }
        Ok(())
    }
}

/// Some rows of it.
#[derive(Clone, Copy)]
pub(super) struct DiskRows<'a> {
    matrix: &'a DiskMatrix,
    without: Option<usize>,
}

impl DiskRows<'_> {
    /// Shows block after block: columns, and the rows' weights, which are 0 for rows that are not among these.
    pub(super) fn show(self, show: &mut TakeBlock<'_>) -> Result<()> {
        let without = self.without.map(|fold| fold as f64);
        self.matrix.show(&mut |Block { mut weights, folds, columns }| {
            if without.is_some() {
                let left_out = |(_, fold): &(&mut f64, &f64)| Some(**fold) == without;
                weights.iter_mut().zip(&folds).filter(left_out).for_each(|(w, _)| *w = 0.0);
            }
            show(columns, &weights)
        })
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::io(Path::new("the file of the out-of-sample matrix"), error)
}

fn lost() -> Error {
    Error::param("out-of-sample matrix", "whole", "given up by another thread")
}
