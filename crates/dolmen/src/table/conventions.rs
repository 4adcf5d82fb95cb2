//! How a model's table was read, remembered for new rows.

use serde::{Deserialize, Serialize};

use super::dates::DateColumn;
use super::{Categories, Column, ColumnKind, ReadOptions, Schema, Table, WrittenNumbers};
use crate::error::Result;

/// The conventions by which a model's table was read: new rows are read by the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conventions {
    /// The words that mean a missing value; if there are none, the usual ones.
    pub missing: Vec<String>,
    /// The delimiter of CSV, if it was named.
    pub delimiter: Option<u8>,
    /// Columns of dates that became numbers.
    pub dates: Vec<DateColumn>,
    /// Columns of numbers that are not written plainly.
    pub numbers: Vec<WrittenNumbers>,
}

impl Conventions {
    /// How the columns of a model are read from a file of new rows: exactly those, as the kinds the model expects. Then
    /// comes [`Conventions::complete`].
    pub fn read_options(&self, schema: &Schema) -> ReadOptions {
        let mut options = ReadOptions::matching(schema);
        for dates in &self.dates {
            let derived: Vec<String> = dates.names().collect();
            options.keep.retain(|name| !derived.contains(name));
            options.schema.retain(|name, _| !derived.contains(name));
            options.keep.push(dates.column.clone());
            options.schema.insert(dates.column.clone(), ColumnKind::Categorical);
            options.stand_ins.insert(dates.column.clone(), derived);
        }
        let form = |numbers: &WrittenNumbers| (numbers.column.clone(), numbers.form.clone());
        options.dates.clone_from(&self.dates);
        options.written = self.numbers.iter().map(form).collect();
        if !self.missing.is_empty() {
            options.missing.clone_from(&self.missing);
        }
        options.usual_delimiter = self.delimiter;
        options
    }

    /// Numbers of a column as files of new rows have them: plain ones, or texts where a plain number would be misread.
    pub(crate) fn column(&self, name: &str, values: Vec<f64>) -> Column {
        let form = self.numbers.iter().find(|numbers| numbers.column == name);
        match form.filter(|numbers| !numbers.form.may_be_plain()) {
            None => Column::Numeric(values),
            Some(numbers) => {
                let texts: Vec<String> = values.iter().map(|x| numbers.form.text(*x)).collect();
                let texts = texts.iter().map(|text| Some(text.as_str()));
                Column::Categorical(Categories::new(texts))
            }
        }
    }

    /// The table just read, with the numbers that the model expects beside the dates. Rows drawn from a density have these
    /// numbers in the place of dates.
    pub fn complete(&self, table: Table) -> Result<Table> {
        let mut derived = Vec::new();
        for dates in &self.dates {
            if table.column(&dates.column).is_err()
                && dates.names().all(|name| table.column(&name).is_ok())
            {
                continue;
            }
            derived.extend(dates.columns(table.column(&dates.column)?)?);
        }
        table.with_columns(derived)
    }
}
