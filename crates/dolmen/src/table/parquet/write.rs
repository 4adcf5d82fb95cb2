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
) -> Result<(), parquet::errors::ParquetError> {
    let columns: Vec<(&str, Prepared<'_>)> = table
        .columns()
        .map(|(name, column)| Ok((name, Prepared::new(column)?)))
        .collect::<Result<_, ArrowError>>()?;
    let fields = columns.iter().map(|(name, column)| Field::new(*name, column.data_type(), true));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let properties = properties(table, metadata)?;
    // The writer wants an output it could send to another thread; it gets a buffer, emptied after every row group.
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
    for first in (0..table.rows()).step_by(BATCH) {
        let rows = first..(first + BATCH).min(table.rows());
        let arrays = columns.iter().map(|(_, column)| column.array(rows.clone()));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>, ArrowError>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        writer.write(&RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?)?;
        out.write_all(&std::mem::take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner()?)?;
    Ok(())
}

fn properties(
    table: &Table,
    metadata: &[(String, String)],
) -> Result<WriterProperties, parquet::errors::ParquetError> {
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

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Numbers(_) => DataType::Float64,
            Self::Categories { .. } => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
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
