//! New rows block by block: a model is used on files of any size, and only a few blocks are in memory.

use std::path::Path;

use super::model::Model;
use super::predict::{PredictOptions, Predicted};
use super::stream::AT_ONCE;
use crate::error::Result;
use crate::memory;
use crate::run::Run;
use crate::table::{BLOCK, Blocks, Column, ReadOptions, Table, Unseen, UnseenSoFar};

/// Bytes of a block that are not exceeded by much, so that wide tables have blocks of fewer rows.
const BYTES: usize = 64 << 20;
/// The fewest rows that a block is cut to where memory is short.
const FEWEST: usize = 1000;

/// What is predicted of a file, and what stands beside it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PredictPlan {
    /// What is predicted beside the prediction itself.
    pub options: PredictOptions,
    /// Columns of the file that are carried along. A prediction of the same name is then called `predicted_` and its name.
    pub carried: Vec<String>,
    /// Whether carried columns whose texts are all plain numbers become numbers. That takes a look through them, unless there
    /// is one block only; written as CSV they are the same either way.
    pub typed: bool,
}

/// What predicting a file says, beside the predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedRows {
    /// Rows predicted.
    pub rows: usize,
    /// The columns of the predictions.
    pub columns: Vec<String>,
    /// Categories that the model has not seen.
    pub unseen: Vec<Unseen>,
}

impl Model {
    /// Opens files of new rows, which are read as the options of [`Model::read_options`] say. The rows that are in memory at a time
    /// take no more than this, if it is given (such as `500M`); what the model does with them comes on top.
    pub fn open_rows(
        &self,
        path: &Path,
        options: &ReadOptions,
        memory: Option<&str>,
        run: &Run,
    ) -> Result<Blocks> {
        let a_row = options.keep.len().max(1) * size_of::<f64>();
        let mut bytes = BYTES;
        if let Some(memory) = memory {
            let (memory, least) = (memory::parse(memory)?, memory::size(&[FEWEST, a_row, AT_ONCE]));
            if memory < least {
                let what = format!("reading {} block by block", path.display());
                let hint = format!("--memory {} is enough to read it", memory::written(least));
                return Err(memory::refusal(what, least, memory).with_hint(hint));
            }
            bytes = bytes.min(memory as usize / AT_ONCE);
        }
        Blocks::open_declared(path, options, (bytes / a_row).clamp(1, BLOCK), run)
    }

    /// Predicts all rows and hands the predictions on, block by block.
    pub fn predict_blocks(
        &self,
        blocks: &Blocks,
        plan: &PredictPlan,
        run: &Run,
        put: &mut dyn FnMut(&Table) -> Result<()>,
    ) -> Result<PredictedRows> {
        let carried = Carried::of(blocks, plan, run)?;
        let (mut rows, mut columns) = (0, Vec::new());
        let mut unseen = UnseenSoFar::default();
        // The whole is planned already: what predicts a block is silent.
        let silent = run.silent();
        blocks.visit(run, &mut |first, block| {
            let at = |error| blocks.locate(error, first);
            let Predicted { features, mut table, unseen: more } =
                self.rows_of(block).map_err(at)?;
            unseen.add(more);
            let mut predicted = carried.take(&mut table).map_err(at)?;
            for (name, column) in self.predict(&features, &plan.options, &silent)? {
                let is_taken = predicted.iter().any(|(taken, _)| *taken == name);
                let name = if is_taken { format!("predicted_{name}") } else { name };
                predicted.push((name, column));
            }
            let predicted = Table::new(predicted)?;
            rows += predicted.rows();
            if columns.is_empty() {
                columns = predicted.names().to_vec();
            }
            put(&predicted)
        })?;
        Ok(PredictedRows { rows, columns, unseen: unseen.finish(self.schema()) })
    }
}

/// Columns that are carried along, and whether each becomes numbers; `None` where one block decides by itself.
struct Carried<'a> {
    names: Vec<&'a String>,
    are_numbers: Option<Vec<bool>>,
}

impl<'a> Carried<'a> {
    fn of(blocks: &Blocks, plan: &'a PredictPlan, run: &Run) -> Result<Self> {
        let mut names: Vec<&String> = Vec::new();
        for name in &plan.carried {
            // The same name twice is the column once.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let is_one_block = blocks.rows().is_some_and(|rows| rows <= blocks.block());
        if names.is_empty() || is_one_block {
            return Ok(Self { names, are_numbers: None });
        }
        let mut are_numbers = vec![plan.typed; names.len()];
        if plan.typed {
            let only = blocks.only(&plan.carried);
            only.visit(run, &mut |first, block| {
                for (is_plain, name) in are_numbers.iter_mut().zip(&names) {
                    let column = block.column(name).map_err(|e| blocks.locate(e, first))?;
                    *is_plain = *is_plain && column.is_plain();
                }
                Ok(())
            })?;
        }
        Ok(Self { names, are_numbers: Some(are_numbers) })
    }

    /// The columns of a block.
    fn take(&self, table: &mut Table) -> Result<Vec<(String, Column)>> {
        let column = |(j, name): (usize, &&String)| {
            let column = table.take(name)?;
            let becomes_numbers = self.are_numbers.as_ref().is_none_or(|all| all[j]);
            Ok(((*name).clone(), if becomes_numbers { column.numbers_if_plain() } else { column }))
        };
        self.names.iter().enumerate().map(column).collect()
    }
}
