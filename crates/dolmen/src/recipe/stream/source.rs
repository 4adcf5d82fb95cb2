//! Where blocks of rows come from.

use crate::error::Result;
use crate::run::Run;
use crate::table::Table;

/// What is done with a block: the number of its first row, and its rows.
pub type Visit<'a> = dyn FnMut(usize, Table) -> Result<()> + 'a;

/// A table that is shown block by block, as often as it is asked for, always in the same blocks. Columns and the levels of
/// categories are the same in all of them.
pub trait Source: Sync {
    /// Rows in all.
    fn rows(&self) -> usize;

    /// Columns of a block.
    fn columns(&self) -> usize;

    /// Shows block after block.
    fn visit(&self, run: &Run, visit: &mut Visit<'_>) -> Result<()>;
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

    fn visit(&self, run: &Run, visit: &mut Visit<'_>) -> Result<()> {
        let rows = self.table.rows();
        for first in (0..rows).step_by(self.rows.max(1)) {
            run.check()?;
            let chosen: Vec<usize> = (first..rows.min(first + self.rows)).collect();
            visit(first, self.table.select(&chosen))?;
        }
        Ok(())
    }
}
