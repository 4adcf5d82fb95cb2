//! Tables from Arrow record batches and back: for programs that hold their data so. Types are treated as in Parquet files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, NullArray, RecordBatch, RecordBatchOptions, StringArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::column::{Builder, Holds};
use super::write::{Prepared, data_type};
use crate::error::{Error, Place, Result};
use crate::memory;
use crate::table::look::Names;
use crate::table::missing::Missing;
use crate::table::read::{ReadOptions, Wanted};
use crate::table::written::{self, Expected};
use crate::table::{Column, Table};

impl Table {
    /// The rows of record batches with the same columns, one after the other.
    ///
    /// Numbers and decimals become numeric columns, durations seconds; texts, truth values, dates and times of day as they are
    /// spelled and dictionaries become categories; nulls are missing values.
    pub fn from_batches(
        batches: impl IntoIterator<Item = RecordBatch>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let batches: Vec<RecordBatch> = batches.into_iter().collect();
        let Some(first) = batches.first() else {
            return Err(Error::data(Place::default(), "there are no record batches"));
        };
        let fields = first.schema_ref().fields();
        for batch in &batches {
            check_alike(first.schema_ref(), batch.schema_ref())?;
        }
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if rows == 0 {
            return Err(Error::data(Place::default(), "there are no rows"));
        }
        let given = fields.iter().map(|field| field.name().clone()).collect();
        let Names { names, mut notes } = Names::new(given);
        let wanted = options.choose(&names)?;
        let kept = wanted.iter().filter(|wanted| **wanted != Wanted::Ignored).count();
        memory::claim(memory::size(&[rows, kept, size_of::<u32>()]), "the table")?;
        let missing = Missing::new(&options.missing);
        let mut columns = Vec::with_capacity(kept);
        for (j, (name, wanted)) in names.iter().zip(wanted).enumerate() {
            let stored = fields[j].data_type();
            let holds = match (wanted, stored) {
                (Wanted::Ignored, _) => continue,
                (Wanted::Categorical, _) | (Wanted::Inferred, DataType::Dictionary(..)) => {
                    Holds::Categories
                }
                (Wanted::Numeric, _) => Holds::Numbers,
                (Wanted::Inferred | Wanted::Written, stored) if is_text(stored) => {
                    Holds::Categories
                }
                (Wanted::Inferred | Wanted::Written, stored) => Holds::natural(stored),
            };
            if !can_be_read(stored) {
                let problem = format!("the type {stored} is neither numbers nor categories");
                return Err(Error::data(Place::column(name), problem));
            }
            let mut builder = Builder::new(name, holds, rows, &missing)?;
            for batch in &batches {
                add(&mut builder, batch.column(j))?;
            }
            let may_write_numbers =
                matches!(wanted, Wanted::Inferred | Wanted::Written) && is_text(stored);
            let (column, form) = match builder.finish()? {
                Column::Categorical(texts) if may_write_numbers => {
                    let must = (wanted == Wanted::Written).then_some(Wanted::Numeric);
                    let form = options.written.get(name);
                    let expected = Expected { form, must, delimiter: None, missing: &missing };
                    written::convert(name, texts, expected)?
                }
                column => (column, None),
            };
            columns.push((name.clone(), column, form));
        }
        notes.extend(missing.words_in_vain());
        Self::as_read(columns, notes)
    }

    /// The table as one record batch: numbers as `Float64`, categories as dictionaries of texts, missing values as nulls.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        let fail = |e: ArrowError| Error::foreign("the table as a record batch", e);
        let column = |(name, column): (&str, &Column)| -> Result<(Field, ArrayRef), ArrowError> {
            let field = Field::new(name, data_type(column), true);
            Ok((field, Prepared::new(column)?.array(0..self.rows())?))
        };
        let columns = self.columns().map(column).collect::<Result<Vec<_>, _>>().map_err(fail)?;
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows()));
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new_with_options(schema, arrays, &options).map_err(fail)
    }
}

/// Refuses batches of other columns than the first one has.
fn check_alike(first: &Schema, other: &Schema) -> Result<()> {
    let (expected, found) = (first.fields().len(), other.fields().len());
    if expected != found {
        return Err(Error::shape("columns of a further record batch", expected, found));
    }
    let mut both = first.fields().iter().zip(other.fields());
    let differs = both.find(|(a, b)| a.name() != b.name() || a.data_type() != b.data_type());
    let Some((expected, found)) = differs else { return Ok(()) };
    let problem = format!(
        "a further record batch has '{}' of the type {} in place of the type {}",
        found.name(),
        found.data_type(),
        expected.data_type()
    );
    Err(Error::data(Place::column(expected.name()), problem))
}

fn is_text(stored: &DataType) -> bool {
    matches!(stored, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Files hold few types; batches also hold other forms of texts, and dictionaries.
fn can_be_read(stored: &DataType) -> bool {
    match stored {
        DataType::Dictionary(_, values) => is_text(values) || Builder::reads(values),
        stored => is_text(stored) || Builder::reads(stored),
    }
}

/// Adds the rows of an array, in a form that the builder knows.
fn add(builder: &mut Builder<'_>, array: &ArrayRef) -> Result<()> {
    match array.data_type() {
        DataType::LargeUtf8 => {
            let texts: StringArray = array.as_string::<i64>().iter().collect();
            builder.add(&(Arc::new(texts) as ArrayRef))
        }
        DataType::Utf8View => {
            let texts: StringArray = array.as_string_view().iter().collect();
            builder.add(&(Arc::new(texts) as ArrayRef))
        }
        DataType::Dictionary(..) => add_dictionary(builder, array),
        _ => builder.add(array),
    }
}

/// Adds the values that the keys of a dictionary stand for; a null may be a key or a value.
fn add_dictionary(builder: &mut Builder<'_>, array: &ArrayRef) -> Result<()> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    if values.is_empty() {
        return builder.add(&(Arc::new(NullArray::new(array.len())) as ArrayRef));
    }
    let keys = dictionary.normalized_keys();
    let known = |i: usize| !array.is_null(i) && !values.is_null(keys[i]);
    let texts: Option<Vec<Option<&str>>> = match values.data_type() {
        DataType::Utf8 => Some(values.as_string::<i32>().iter().collect()),
        DataType::LargeUtf8 => Some(values.as_string::<i64>().iter().collect()),
        DataType::Utf8View => Some(values.as_string_view().iter().collect()),
        _ => None,
    };
    if let Some(texts) = texts {
        let text = |i: usize| if known(i) { texts[keys[i]] } else { None };
        let texts: StringArray = (0..array.len()).map(text).collect();
        return builder.add(&(Arc::new(texts) as ArrayRef));
    }
    // Dictionaries of numbers are rare: value by value will do.
    let null = new_null_array(values.data_type(), 1);
    (0..array.len()).try_for_each(|i| {
        let value = if known(i) { values.slice(keys[i], 1) } else { Arc::clone(&null) };
        builder.add(&value)
    })
}
