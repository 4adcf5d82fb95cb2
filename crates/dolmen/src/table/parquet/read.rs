//! Reading Parquet.

use std::fs::File;
use std::path::Path;

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ProjectionMask};
use rayon::prelude::*;

use super::column::{Builder, Holds};
use super::guard::guarded;
use super::{damaged, unreadable};
use crate::error::{Error, Place, Result};
use crate::memory;
use crate::run::Run;
use crate::table::look::Names;
use crate::table::missing::Missing;
use crate::table::read::{ReadOptions, Wanted};
use crate::table::written::{self, Expected, Formed};
use crate::table::{Column, NumberForm, Table};

/// Rows decoded at a time: the memory needed beside the table itself.
const BATCH: usize = 1 << 16;

/// Reads all columns of a Parquet file, on all cores.
pub fn read_parquet(path: &Path) -> Result<Table> {
    read(path, &ReadOptions::default(), &Run::new(0))
}

/// Reads a table.
pub(in crate::table) fn read(path: &Path, options: &ReadOptions, run: &Run) -> Result<Table> {
    let file = ParquetFile::open(path)?;
    let Names { names, mut notes } = file.names();
    let wanted = options.choose(&names).map_err(|e| e.in_file(path))?;
    if file.rows == 0 {
        return Err(Error::data(Place::default(), "there are no rows").in_file(path));
    }
    let kept = wanted.iter().filter(|wanted| **wanted != Wanted::Ignored).count();
    memory::claim(memory::size(&[file.rows, kept, size_of::<u32>()]), "the table")
        .map_err(|e| e.in_file(path))?;
    let missing = Missing::new(&options.missing);
    let one = |j: usize, wanted: Wanted| {
        let form = options.written.get(&names[j]);
        file.read_column(j, wanted, form, &missing, run)
    };
    let columns: Vec<Result<Option<Formed>>> = run.install(|| {
        let wanted = wanted.into_par_iter().enumerate();
        wanted.map(|(j, wanted)| one(j, wanted)).collect()
    });
    let mut kept = Vec::new();
    for (name, column) in names.into_iter().zip(columns) {
        let column = column.map_err(|e| e.in_file(path))?;
        kept.extend(column.map(|(column, form)| (name, column, form)));
    }
    notes.extend(missing.words_in_vain());
    Table::as_read(kept, notes).map_err(|e| damaged(path, &e))
}

/// How many rows and columns a file holds.
pub(crate) fn parquet_size(path: &Path) -> Result<(u64, u64)> {
    let file = ParquetFile::open(path)?;
    Ok((file.rows as u64, file.names().names.len() as u64))
}

/// The texts that [`write_parquet`](super::write_parquet) put into a file's metadata.
pub fn read_parquet_metadata(path: &Path) -> Result<Vec<(String, String)>> {
    let file = ParquetFile::open(path)?;
    let entries = file.declared.metadata().file_metadata().key_value_metadata();
    let own = entries.into_iter().flatten().filter(|e| e.key != ARROW_SCHEMA_META_KEY);
    Ok(own.map(|e| (e.key.clone(), e.value.clone().unwrap_or_default())).collect())
}

/// A Parquet file's description of itself.
pub(super) struct ParquetFile<'a> {
    path: &'a Path,
    /// The columns as their writer declared them: says which are dictionaries.
    declared: ArrowReaderMetadata,
    /// The columns as they are stored: few types, however they were declared.
    stored: ArrowReaderMetadata,
    pub(super) rows: usize,
}

impl<'a> ParquetFile<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        guarded(path, || Self::describe(path, &file))
    }

    fn describe(path: &'a Path, file: &File) -> Result<Self> {
        let fail = |e| unreadable(path, &e);
        let declared = ArrowReaderMetadata::load(file, ArrowReaderOptions::new()).map_err(fail)?;
        let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = declared.metadata().clone();
        let stored = ArrowReaderMetadata::try_new(metadata, plain).map_err(fail)?;
        let rows = usize::try_from(stored.metadata().file_metadata().num_rows()).map_err(|_| {
            Error::file(path, "the file is damaged: its number of rows is negative")
        })?;
        Ok(Self { path, declared, stored, rows })
    }

    /// The columns' names, all different.
    pub(super) fn names(&self) -> Names {
        Names::new(self.stored.schema().fields().iter().map(|f| f.name().clone()).collect())
    }

    /// How a column is read, if it is: as what, and whether its texts may write numbers.
    pub(super) fn treatment(&self, j: usize, wanted: Wanted) -> Result<Option<(Holds, bool)>> {
        let field = self.stored.schema().field(j);
        let declared = self.declared.schema().field(j).data_type();
        let holds = match (wanted, declared) {
            (Wanted::Ignored, _) => return Ok(None),
            (Wanted::Categorical, _) | (Wanted::Inferred, DataType::Dictionary(..)) => {
                Holds::Categories
            }
            (Wanted::Numeric, _) => Holds::Numbers,
            (Wanted::Inferred | Wanted::Written, _) => Holds::natural(field.data_type()),
        };
        let may_write_numbers = matches!(wanted, Wanted::Inferred | Wanted::Written)
            && field.data_type() == &DataType::Utf8;
        if !Builder::reads(field.data_type()) {
            let problem = format!("the type {declared} is neither numbers nor categories");
            return Err(Error::data(Place::column(field.name()), problem)
                .with_hint(format!("leave it out with --drop '{}'", field.name())));
        }
        Ok(Some((holds, may_write_numbers)))
    }

    /// The name of a column as it stands in the file.
    pub(super) fn name(&self, j: usize) -> &str {
        self.stored.schema().field(j).name()
    }

    /// The type of a column as its writer declared it.
    pub(super) fn declared(&self, j: usize) -> &DataType {
        self.declared.schema().field(j).data_type()
    }

    /// The type in which a column is stored.
    pub(super) fn stored(&self, j: usize) -> &DataType {
        self.stored.schema().field(j).data_type()
    }

    /// Reads one column, unless it is not wanted.
    fn read_column(
        &self,
        j: usize,
        wanted: Wanted,
        form: Option<&NumberForm>,
        missing: &Missing,
        run: &Run,
    ) -> Result<Option<Formed>> {
        let Some((holds, may_write_numbers)) = self.treatment(j, wanted)? else { return Ok(None) };
        let name = self.name(j);
        let mut builder = Builder::new(name, holds, self.rows, missing)?;
        guarded(self.path, || {
            for batch in self.batches(&[j], BATCH)? {
                run.check()?;
                builder.add(batch.map_err(|e| damaged(self.path, &e))?.column(0))?;
            }
            Ok(())
        })?;
        match builder.finish()? {
            Column::Categorical(texts) if may_write_numbers => {
                let must = (wanted == Wanted::Written).then_some(Wanted::Numeric);
                let expected = Expected { form, must, delimiter: None, missing };
                written::convert(name, texts, expected).map(Some)
            }
            column => Ok(Some((column, None))),
        }
    }

    /// The batches of some columns. Each call opens the file by itself: clones would share one position in it.
    pub(super) fn batches(
        &self,
        columns: &[usize],
        rows: usize,
    ) -> Result<ParquetRecordBatchReader> {
        let file = File::open(self.path).map_err(|e| Error::io(self.path, e))?;
        let mask = ProjectionMask::roots(self.stored.parquet_schema(), columns.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.stored.clone())
            .with_projection(mask)
            .with_batch_size(rows)
            .build()
            .map_err(|e| unreadable(self.path, &e))
    }
}
