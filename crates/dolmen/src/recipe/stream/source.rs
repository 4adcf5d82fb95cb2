//! Where blocks of rows come from, and who works on them.

use super::block::Block;
use super::work::{Outcome, Work};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::table::{Blocks, Known, Table};

/// A table in blocks. Whoever has them does the same work with each, as often as there is work, and hands over the outcomes in
/// the order of the blocks. Columns and the levels of categories are the same in all blocks.
pub trait Source: Sync {
    /// Rows in all.
    fn rows(&self) -> usize;

    /// Columns of a block.
    fn columns(&self) -> usize;

    /// What is known of columns that a block shows not as they are, or not whole.
    fn known(&self) -> Known {
        Known::default()
    }

    /// The same rows with these columns only, where reading fewer takes less.
    fn narrowed(&self, _columns: &[String]) -> Option<Box<dyn Source + '_>> {
        None
    }

    /// Does some work with every block.
    fn work(
        &self,
        work: &dyn Work,
        take: &mut dyn FnMut(Outcome) -> Result<()>,
        run: &Run,
    ) -> Result<()>;

    /// Plans one reading of all rows, where readings are told row by row.
    fn plan(&self, _run: &Run) {}
}

/// A table in memory, cut into blocks.
#[derive(Debug)]
pub struct Cut {
    /// The table.
    pub table: Table,
    /// Rows of a block; the last may have fewer.
    pub rows: usize,
}

impl Source for Cut {
    fn rows(&self) -> usize {
        self.table.rows()
    }

    fn columns(&self) -> usize {
        self.table.names().len()
    }

    fn work(
        &self,
        work: &dyn Work,
        take: &mut dyn FnMut(Outcome) -> Result<()>,
        run: &Run,
    ) -> Result<()> {
        let rows = self.table.rows();
        for first in (0..rows).step_by(self.rows.max(1)) {
            run.check()?;
            let chosen: Vec<usize> = (first..rows.min(first + self.rows)).collect();
            take(work.on_block(&mut Block::new(first, self.table.select(&chosen)), run)?)?;
        }
        Ok(())
    }
}

/// Files that are read block by block: they must have been looked through.
impl Source for Blocks {
    fn rows(&self) -> usize {
        Self::rows(self).unwrap_or_default()
    }

    fn columns(&self) -> usize {
        Self::columns(self)
    }

    fn known(&self) -> Known {
        Self::known(self)
    }

    fn narrowed(&self, columns: &[String]) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(self.only(columns)))
    }

    fn work(
        &self,
        work: &dyn Work,
        take: &mut dyn FnMut(Outcome) -> Result<()>,
        run: &Run,
    ) -> Result<()> {
        self.visit(run, &mut |first, table| {
            let mut block = Block::new(first, table);
            // Work counts the rows of all files.
            take(work.on_block(&mut block, run).map_err(|error| self.locate(error, 0))?)
        })
    }

    fn plan(&self, run: &Run) {
        self.plan_reading(run);
    }
}

/// What somebody else is asked to do with all blocks: the work, as bytes; the outcomes are handed over as bytes, in the
/// order of the blocks.
pub type Ask<'a> = dyn Fn(&[u8], &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + Sync + 'a;

/// Blocks that others have: the workers of a cluster, which know the work by its bytes ([`work_on`](super::work_on)).
pub struct Elsewhere<'a> {
    /// Rows in all.
    pub rows: usize,
    /// Columns of a block.
    pub columns: usize,
    /// What is known of those that a block shows not as they are, or not whole.
    pub known: Known,
    /// Who is asked.
    pub ask: &'a Ask<'a>,
}

impl Source for Elsewhere<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn known(&self) -> Known {
        self.known.clone()
    }

    fn work(
        &self,
        work: &dyn Work,
        take: &mut dyn FnMut(Outcome) -> Result<()>,
        run: &Run,
    ) -> Result<()> {
        let mut blocks = 0;
        (self.ask)(&work.to_bytes()?, &mut |bytes| {
            run.check()?;
            blocks += 1;
            take(work.read_outcome(bytes)?)
        })?;
        if blocks == 0 {
            return Err(Error::shape("blocks of rows", 1, 0));
        }
        Ok(())
    }
}
