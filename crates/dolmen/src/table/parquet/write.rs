//! Writing Parquet.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchOptions,
    StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::error::Result;
use crate::store::write_file;
use crate::table::{Categories, Column, Table};

/// Rows converted at a time.
const BATCH: usize = 1 << 16;

/// Writes a table as Parquet, with texts of one's own in the file's metadata.
///
/// The name never shows a half-written file.
pub fn write_parquet(path: &Path, table: &Table, metadata: &[(String, String)]) -> Result<()> {
    write_file(path, |out| write(table, metadata, out).map_err(io::Error::other))
}

fn write(
    table: &Table,
    metadata: &[(String, String)],
    out: &mut dyn Write,
) -> Result<(), ParquetError> {
    let mut writer = BlockWriter::new(table, metadata)?;
    writer.write_rows(table, out)?;
    writer.end(out)
}

/// Bytes of a row group that are held before it is written: a group of many columns ends before it has a million rows.
const GROUP: usize = 128 << 20;

/// Writes the rows of several tables with the same columns.
pub(in crate::table) struct BlockWriter {
    schema: SchemaRef,
    // The writer wants an output it could send to another thread; it gets a buffer, emptied after every batch of rows.
    writer: ArrowWriter<Vec<u8>>,
}

impl BlockWriter {
    /// Begins a file of tables like this one.
    fn new(like: &Table, metadata: &[(String, String)]) -> Result<Self, ParquetError> {
        let field = |(name, column): (&str, &Column)| Field::new(name, data_type(column), true);
        let schema: SchemaRef =
            Arc::new(Schema::new(like.columns().map(field).collect::<Vec<_>>()));
        let properties = properties(like, metadata)?;
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
        Ok(Self { schema, writer })
    }

    /// Begins a file of tables like this one.
    pub(in crate::table) fn begin(like: &Table, metadata: &[(String, String)]) -> io::Result<Self> {
        Self::new(like, metadata).map_err(io::Error::other)
    }

    /// Writes the rows of a table.
    pub(in crate::table) fn write(&mut self, table: &Table, out: &mut dyn Write) -> io::Result<()> {
        self.write_rows(table, out).map_err(io::Error::other)
    }

    /// Writes what stands behind the last row.
    pub(in crate::table) fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        self.end(out).map_err(io::Error::other)
    }

    fn write_rows(&mut self, table: &Table, out: &mut dyn Write) -> Result<(), ParquetError> {
        let columns = table.columns().map(|(_, column)| Prepared::new(column));
        let columns = columns.collect::<Result<Vec<_>, ArrowError>>()?;
        for first in (0..table.rows()).step_by(BATCH) {
            let rows = first..(first + BATCH).min(table.rows());
            let arrays = columns.iter().map(|column| column.array(rows.clone()));
            let arrays = arrays.collect::<Result<Vec<ArrayRef>, ArrowError>>()?;
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let schema = Arc::clone(&self.schema);
            self.writer.write(&RecordBatch::try_new_with_options(schema, arrays, &options)?)?;
            if self.writer.in_progress_size() > GROUP {
                self.writer.flush()?;
            }
            out.write_all(&std::mem::take(self.writer.inner_mut()))?;
        }
        Ok(())
    }

    fn end(self, out: &mut dyn Write) -> Result<(), ParquetError> {
        out.write_all(&self.writer.into_inner()?)?;
        Ok(())
    }
}

/// The type that a column is written as.
pub(super) fn data_type(column: &Column) -> DataType {
    match column {
        Column::Numeric(_) => DataType::Float64,
        Column::Categorical(_) => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
    }
}

fn properties(
    table: &Table,
    metadata: &[(String, String)],
) -> Result<WriterProperties, ParquetError> {
    let entry = |(key, value): &(String, String)| KeyValue::new(key.clone(), value.clone());
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_key_value_metadata(Some(metadata.iter().map(entry).collect()));
    for (name, column) in table.columns() {
        if let Column::Numeric(_) = column {
            // Measured numbers seldom repeat: a dictionary of them costs time and saves nothing.
            let path = ColumnPath::new(vec![name.to_string()]);
            properties = properties.set_column_dictionary_enabled(path, false);
        }
    }
    Ok(properties.build())
}

/// A column ready to be cut into batches.
pub(super) enum Prepared<'a> {
    Numbers(&'a [f64]),
    Categories { codes: &'a [u32], levels: ArrayRef },
}

impl<'a> Prepared<'a> {
    pub(super) fn new(column: &'a Column) -> Result<Self, ArrowError> {
        match column {
            Column::Numeric(values) => Ok(Self::Numbers(values)),
            Column::Categorical(Categories { levels, codes }) => {
                // Other programs expect signed codes.
                i32::try_from(levels.len()).map_err(|_| ArrowError::DictionaryKeyOverflowError)?;
                let levels = Arc::new(StringArray::from_iter_values(levels.iter()));
                Ok(Self::Categories { codes, levels })
            }
        }
    }

    pub(super) fn array(&self, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Numbers(values) => {
                let values = values[rows].iter().map(|v| (!v.is_nan()).then_some(*v));
                Ok(Arc::new(values.collect::<Float64Array>()))
            }
            Self::Categories { codes, levels } => {
                let code = |c: &u32| (*c != Categories::MISSING).then_some(*c as i32);
                let keys: Int32Array = codes[rows].iter().map(code).collect();
                let array = DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(levels))?;
                Ok(Arc::new(array))
            }
        }
    }
}
