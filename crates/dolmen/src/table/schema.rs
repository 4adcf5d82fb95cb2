//! The names and kinds of a model's input columns.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::levels::Spellings;
use super::number::{self, Spelled};
use super::read::{Wanted, not_a_number};
use super::truths::place_of_truth;
use super::{Categories, Column, Features, Table, no_such_column};
use crate::error::Result;
use crate::memory;

/// The kind of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Numbers.
    Numeric,
    /// Categories with these levels.
    Categorical {
        /// The levels, in the order of their codes.
        levels: Arc<[String]>,
    },
}

/// A column's name and kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: Kind,
}

/// The input columns of a model, in order. Saved with the model, so that new rows are read the same way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    fields: Vec<Field>,
}

impl Schema {
    /// A schema of these fields.
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields }
    }

    /// All-numeric columns named `x1`, `x2`, ...: for data that come as a bare matrix.
    pub fn numeric(columns: usize) -> Self {
        let field = |j| Field { name: format!("x{j}"), kind: Kind::Numeric };
        Self::new((1..=columns).map(field).collect())
    }

    /// The schema of all columns of a table.
    pub fn of(table: &Table) -> Self {
        let field = |(name, column): (&str, &Column)| Field {
            name: name.to_string(),
            kind: match column {
                Column::Numeric(_) => Kind::Numeric,
                Column::Categorical(c) => Kind::Categorical { levels: Arc::clone(&c.levels) },
            },
        };
        Self::new(table.columns().map(field).collect())
    }

    /// The fields, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The table's columns of this schema as dense rows. Columns are found by name, in any order; others are ignored.
    ///
    /// Missing values become NaN. A category becomes the index of its level here; a level this schema does not know
    /// becomes the index just past the last one, which encoders and learners treat as "none of the known levels". Numbers
    /// where categories are expected are matched by value, and categories where numbers are expected by what they spell.
    pub fn encode(self: &Arc<Self>, table: &Table) -> Result<Features> {
        let columns: HashMap<&str, &Column> = table.columns().collect();
        let cells = |field: &Field| match columns.get(field.name.as_str()) {
            Some(column) => Cells::new(field, column),
            None => Err(no_such_column(&field.name, table.names())),
        };
        let cells: Vec<Cells<'_>> = self.fields.iter().map(cells).collect::<Result<_>>()?;
        let width = self.len();
        memory::claim(memory::size(&[table.rows(), width, size_of::<f64>()]), "the rows")?;
        let mut values = vec![0.0; table.rows() * width];
        // A block of rows at a time, so that the dense rows pass through the cache once and not once per column.
        for (block, values) in values.chunks_mut(BLOCK * width.max(1)).enumerate() {
            for (j, cells) in cells.iter().enumerate() {
                cells.write(block * BLOCK, values.iter_mut().skip(j).step_by(width));
            }
        }
        Features::new(values, Arc::clone(self))
    }
}

/// Rows encoded at a time.
const BLOCK: usize = 256;

/// A table's column as a schema sees it.
enum Cells<'a> {
    /// The numbers themselves.
    Numbers(&'a [f64]),
    /// One number for each of the column's levels.
    Levels { codes: &'a [u32], values: Vec<f64> },
    /// Numbers that stand for the levels with these codes.
    Values { numbers: &'a [f64], codes: HashMap<u64, usize>, unknown: usize },
}

impl<'a> Cells<'a> {
    fn new(field: &Field, column: &'a Column) -> Result<Self> {
        Ok(match (&field.kind, column) {
            (Kind::Numeric, Column::Numeric(numbers)) => Self::Numbers(numbers),
            (Kind::Numeric, Column::Categorical(c)) => {
                Self::Levels { codes: &c.codes, values: spelled_numbers(&field.name, c)? }
            }
            (Kind::Categorical { levels }, Column::Categorical(c)) => {
                Self::Levels { codes: &c.codes, values: recode(&c.levels, levels) }
            }
            (Kind::Categorical { levels }, Column::Numeric(numbers)) => {
                Self::Values { numbers, codes: codes_by_value(levels), unknown: levels.len() }
            }
        })
    }

    /// Writes the rows from `first` on, as many as there is room for.
    fn write<'c>(&self, first: usize, out: impl Iterator<Item = &'c mut f64>) {
        match self {
            Self::Numbers(numbers) => {
                for (cell, &number) in out.zip(&numbers[first..]) {
                    *cell = number;
                }
            }
            Self::Levels { codes, values } => {
                for (cell, &code) in out.zip(&codes[first..]) {
                    *cell = values.get(code as usize).copied().unwrap_or(f64::NAN);
                }
            }
            Self::Values { numbers, codes, unknown } => {
                for (cell, &number) in out.zip(&numbers[first..]) {
                    let code = codes.get(&bits(number)).unwrap_or(unknown);
                    *cell = if number.is_nan() { f64::NAN } else { *code as f64 };
                }
            }
        }
    }
}

/// For each level of a table, its code in the schema.
fn recode(from: &[String], to: &[String]) -> Vec<f64> {
    let codes: HashMap<&String, usize> = to.iter().enumerate().map(|(c, l)| (l, c)).collect();
    let code = |level: &String| codes.get(level).copied().or_else(|| place_of_truth(level, to));
    from.iter().map(|level| code(level).unwrap_or(to.len()) as f64).collect()
}

/// The codes of the levels that spell numbers, by the bits of the number. Of two levels that spell the same number, such as
/// `1` and `1.0`, the plainly written one has it.
fn codes_by_value(levels: &[String]) -> HashMap<u64, usize> {
    let mut codes = HashMap::new();
    for (code, level) in levels.iter().enumerate() {
        let Some(value) = number::parse(level.as_bytes()) else { continue };
        let is_plain = Spelled(value).to_string() == *level;
        if is_plain || !codes.contains_key(&bits(value)) {
            codes.insert(bits(value), code);
        }
    }
    codes
}

/// The bits of a number, the same for both zeros.
fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

/// The numbers that a column's levels spell, level by level; levels that do not occur need not be numbers.
pub(super) fn spelled_numbers(name: &str, column: &Categories) -> Result<Vec<f64>> {
    let values: Vec<Option<f64>> =
        column.levels.iter().map(|level| number::parse(level.as_bytes())).collect();
    let is_text = |code: &u32| values.get(*code as usize).is_some_and(Option::is_none);
    if let Some(row) = column.codes.iter().position(is_text) {
        let text = column.level(row).unwrap_or_default();
        let fault = || not_a_number(row, name, text.as_bytes(), Wanted::Numeric);
        return Err(Spellings::of(column).mostly_texts(name).unwrap_or_else(fault));
    }
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categories(texts: &[&str]) -> Column {
        Column::Categorical(Categories::new(texts.iter().map(|t| (*t != "-").then_some(*t))))
    }

    /// The cells of column `a`, as text, under a schema that has it as `expected`.
    fn encoded(expected: &Column, found: Column) -> Result<Vec<String>> {
        let table =
            |column| Table::new(vec![("b".into(), categories(&["x"; 4])), ("a".into(), column)]);
        let schema = Schema::of(&table(expected.clone())?);
        let only_a = Arc::new(Schema::new(schema.fields()[1..].to_vec()));
        let features = only_a.encode(&table(found)?)?;
        Ok(features.rows().values().iter().map(f64::to_string).collect())
    }

    #[test]
    fn categories_are_recoded_and_unknown_levels_come_last() {
        let model = categories(&["red", "blue", "red", "green"]);
        let cells = encoded(&model, categories(&["green", "-", "pink", "blue"])).unwrap();
        assert_eq!(cells, ["1", "NaN", "3", "0"]);
    }

    #[test]
    fn numbers_find_their_categories_by_value() {
        // In order: "-0", "1", "1.0", "2.50".
        let model = categories(&["1.0", "1", "-0", "2.50"]);
        let found = Column::Numeric(vec![1.0, 2.5, f64::NAN, 0.0]);
        assert_eq!(encoded(&model, found).unwrap(), ["1", "3", "NaN", "0"]);
        let unknown = encoded(&model, Column::Numeric(vec![7.0; 4])).unwrap();
        assert_eq!(unknown, ["4"; 4]);
    }

    #[test]
    fn categories_that_spell_numbers_are_numbers() {
        let model = Column::Numeric(vec![0.0; 4]);
        let cells = encoded(&model, categories(&["10", "-", "9.5", "-inf"])).unwrap();
        assert_eq!(cells, ["10", "NaN", "9.5", "-inf"]);
        let error = encoded(&model, categories(&["1", "2", "ten", "x"])).unwrap_err();
        assert_eq!(error.to_string(), "row 3, column 'a': expected a number, found 'ten'");
    }

    #[test]
    fn rows_are_dense_over_several_blocks() {
        let rows = 2 * BLOCK + 3;
        let numbers: Vec<f64> = (0..rows).map(|i| i as f64).collect();
        let texts: Vec<String> = (0..rows).map(|i| (i % 5).to_string()).collect();
        let codes = Categories::new(texts.iter().map(|t| Some(t.as_str())));
        let columns = [("n", Column::Numeric(numbers)), ("c", Column::Categorical(codes))];
        let table = Table::new(columns.map(|(n, c)| (n.to_string(), c)).into()).unwrap();
        let features = Arc::new(Schema::of(&table)).encode(&table).unwrap();
        for (i, row) in features.rows().iter().enumerate() {
            assert_eq!(row.iter().map(|v| *v as usize).collect::<Vec<_>>(), [i, i % 5]);
        }
    }

    #[test]
    fn a_missing_column_is_named() {
        let table = Table::new(vec![("A".into(), categories(&["x"]))]).unwrap();
        let error = Arc::new(Schema::numeric(1)).encode(&table).unwrap_err();
        assert_eq!(error.to_string(), "data: there is no column 'x1'");
    }
}
