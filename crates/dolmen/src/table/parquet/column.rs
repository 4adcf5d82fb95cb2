//! A column from its batches.

use std::fmt::{Display, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, TimeUnit};

use crate::error::{Error, Place, Result};
use crate::memory;
use crate::table::levels::{Dictionary, Seen};
use crate::table::missing::Missing;
use crate::table::moments::{Moments, Timed};
use crate::table::number::{self, Spelled};
use crate::table::pieces::{Numbers, Piece, Texts};
use crate::table::read::{Wanted, not_a_number};
use crate::table::{Categories, Column, date_text};

/// What a column is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Numbers,
    Categories,
    /// Seconds of dates or times of day, of columns that hold such.
    Moments(Timed),
}

impl Holds {
    /// What a stored type is read as if nothing else is said.
    pub(super) fn natural(stored: &DataType) -> Self {
        match stored {
            // Dates and times of day are spelled out, so that they are one thing here and in CSV.
            DataType::Utf8
            | DataType::Boolean
            | DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Time32(_)
            | DataType::Time64(_) => Self::Categories,
            _ => Self::Numbers,
        }
    }
}

/// What a column of this stored type holds, if dates or times of day.
pub(super) fn timed(stored: &DataType) -> Option<Timed> {
    match stored {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Some(Timed::Dates),
        DataType::Time32(_) | DataType::Time64(_) => Some(Timed::Clock),
        _ => None,
    }
}

/// Gathers a column.
pub(super) struct Builder<'a> {
    name: &'a str,
    missing: &'a Missing,
    cells: Cells,
}

enum Cells {
    Numbers(Vec<f64>),
    Categories { dictionary: Dictionary, codes: Vec<u32> },
    Moments(Moments),
}

impl<'a> Builder<'a> {
    /// Whether columns of this stored type can be read.
    pub(super) fn reads(stored: &DataType) -> bool {
        stored.is_integer()
            || stored.is_floating()
            || stored.is_decimal()
            || matches!(
                stored,
                DataType::Date32
                    | DataType::Date64
                    | DataType::Timestamp(..)
                    | DataType::Time32(_)
                    | DataType::Time64(_)
                    | DataType::Duration(_)
            )
            || matches!(stored, DataType::Utf8 | DataType::Boolean | DataType::Null)
    }

    /// A column that will have this many rows, if the file is right.
    pub(super) fn new(
        name: &'a str,
        holds: Holds,
        rows: usize,
        missing: &'a Missing,
    ) -> Result<Self> {
        let cell = match holds {
            Holds::Numbers | Holds::Moments(_) => size_of::<f64>(),
            Holds::Categories => size_of::<u32>(),
        };
        memory::claim(memory::size(&[rows, cell]), &format!("column '{name}'"))?;
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        let reserved = match holds {
            Holds::Numbers | Holds::Moments(_) => values.try_reserve_exact(rows),
            Holds::Categories => codes.try_reserve_exact(rows),
        };
        let too_many =
            |_| Error::data(Place::column(name), format!("{rows} rows do not fit memory"));
        reserved.map_err(too_many)?;
        let cells = match holds {
            Holds::Numbers => Cells::Numbers(values),
            Holds::Categories => Cells::Categories { dictionary: Dictionary::default(), codes },
            Holds::Moments(timed) => Cells::Moments(Moments { seconds: values, timed }),
        };
        Ok(Self { name, missing, cells })
    }

    /// Adds the rows of a batch, whose type must be one of those that can be read.
    pub(super) fn add(&mut self, array: &ArrayRef) -> Result<()> {
        macro_rules! add_integers {
            ($type:ty, $number:expr) => {
                self.add_numbers::<$type, _>(array, $number, |v| v)
            };
        }
        macro_rules! add_floats {
            ($type:ty) => {
                self.add_numbers::<$type, _>(array, f64::from, |v| Spelled(f64::from(v)))
            };
        }
        macro_rules! add_decimals {
            ($type:ty, $scale:expr, $whole:expr) => {{
                let number = |v| $whole(v) / 10_f64.powi(i32::from(*$scale));
                self.add_numbers::<$type, _>(array, number, |v| Spelled(number(v)))
            }};
        }
        macro_rules! add_moments {
            ($type:ty, $a_second:expr) => {{
                let moment = |v| v as f64 / $a_second;
                self.add_numbers::<$type, _>(array, moment, |v| date_text::spelled(moment(v)))
            }};
        }
        macro_rules! add_seconds {
            ($type:ty, $whole:expr, $a_second:expr) => {{
                let seconds = |v| $whole(v) / $a_second;
                self.add_numbers::<$type, _>(array, seconds, |v| Spelled(seconds(v)))
            }};
        }
        macro_rules! add_clocks {
            ($type:ty, $whole:expr, $a_second:expr) => {{
                let seconds = |v| $whole(v) / $a_second;
                self.add_numbers::<$type, _>(array, seconds, |v| date_text::clock(seconds(v)))
            }};
        }
        match array.data_type() {
            DataType::Decimal32(_, scale) => add_decimals!(Decimal32Type, scale, f64::from),
            DataType::Decimal64(_, scale) => add_decimals!(Decimal64Type, scale, |v| v as f64),
            DataType::Decimal128(_, scale) => add_decimals!(Decimal128Type, scale, |v| v as f64),
            DataType::Decimal256(_, scale) => add_decimals!(Decimal256Type, scale, wide),
            DataType::Date32 => {
                let moment = |day| f64::from(day) * 86_400.0;
                self.add_numbers::<Date32Type, _>(array, moment, |day| {
                    date_text::spelled(moment(day))
                })
            }
            DataType::Date64 => add_moments!(Date64Type, 1e3),
            DataType::Timestamp(TimeUnit::Second, _) => add_moments!(TimestampSecondType, 1.0),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                add_moments!(TimestampMillisecondType, 1e3)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                add_moments!(TimestampMicrosecondType, 1e6)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                add_moments!(TimestampNanosecondType, 1e9)
            }
            DataType::Time32(TimeUnit::Second) => add_clocks!(Time32SecondType, f64::from, 1.0),
            DataType::Time32(_) => add_clocks!(Time32MillisecondType, f64::from, 1e3),
            DataType::Time64(TimeUnit::Microsecond) => {
                add_clocks!(Time64MicrosecondType, |v| v as f64, 1e6)
            }
            DataType::Time64(_) => add_clocks!(Time64NanosecondType, |v| v as f64, 1e9),
            DataType::Duration(TimeUnit::Second) => {
                add_seconds!(DurationSecondType, |v| v as f64, 1.0)
            }
            DataType::Duration(TimeUnit::Millisecond) => {
                add_seconds!(DurationMillisecondType, |v| v as f64, 1e3)
            }
            DataType::Duration(TimeUnit::Microsecond) => {
                add_seconds!(DurationMicrosecondType, |v| v as f64, 1e6)
            }
            DataType::Duration(TimeUnit::Nanosecond) => {
                add_seconds!(DurationNanosecondType, |v| v as f64, 1e9)
            }
            DataType::Int8 => add_integers!(Int8Type, f64::from),
            DataType::Int16 => add_integers!(Int16Type, f64::from),
            DataType::Int32 => add_integers!(Int32Type, f64::from),
            DataType::Int64 => add_integers!(Int64Type, |v| v as f64),
            DataType::UInt8 => add_integers!(UInt8Type, f64::from),
            DataType::UInt16 => add_integers!(UInt16Type, f64::from),
            DataType::UInt32 => add_integers!(UInt32Type, f64::from),
            DataType::UInt64 => add_integers!(UInt64Type, |v| v as f64),
            DataType::Float16 => add_floats!(Float16Type),
            DataType::Float32 => add_floats!(Float32Type),
            DataType::Float64 => add_floats!(Float64Type),
            DataType::Boolean => self.add_truth_values(array),
            DataType::Utf8 => self.add_texts(array.as_string()),
            _ => self.add_nulls(array.len()),
        }
    }

    fn add_numbers<T: ArrowPrimitiveType, D: Display>(
        &mut self,
        array: &ArrayRef,
        number: impl Fn(T::Native) -> f64,
        text: impl Fn(T::Native) -> D,
    ) -> Result<()> {
        let array = array.as_primitive::<T>();
        let missing = self.missing;
        if let Cells::Numbers(values) | Cells::Moments(Moments { seconds: values, .. }) =
            &mut self.cells
        {
            let known = |v: T::Native| missing.known(number(v));
            if array.null_count() == 0 {
                values.extend(array.values().iter().map(|v| known(*v)));
            } else {
                values.extend(array.iter().map(|v| v.map_or(f64::NAN, known)));
            }
            return Ok(());
        }
        let known: Vec<Option<T::Native>> =
            array.iter().map(|v| v.filter(|v| !missing.known(number(*v)).is_nan())).collect();
        let mut spelled = String::new();
        for value in known {
            spelled.clear();
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = write!(spelled, "{}", text(value));
            }
            self.add_category(value.map(|_| spelled.as_str()))?;
        }
        Ok(())
    }

    fn add_truth_values(&mut self, array: &ArrayRef) -> Result<()> {
        let truths = array.as_boolean().iter();
        if let Cells::Numbers(values) = &mut self.cells {
            values.extend(truths.map(|v| v.map_or(f64::NAN, f64::from)));
            return Ok(());
        }
        let spelled = |truth| if truth { "true" } else { "false" };
        truths.into_iter().try_for_each(|v| self.add_category(v.map(spelled)))
    }

    fn add_texts(&mut self, array: &StringArray) -> Result<()> {
        let missing = self.missing;
        let Cells::Numbers(values) = &mut self.cells else {
            let known = |text: &&str| !missing.contains_named(text.as_bytes());
            return array.iter().try_for_each(|text| self.add_category(text.filter(known)));
        };
        for text in array {
            let text = text.map(str::as_bytes).filter(|t| !missing.contains(t));
            let number = |text| number::parse(text).map(|value| missing.known(value));
            let value = text.map_or(Some(f64::NAN), number);
            let fault =
                || not_a_number(values.len(), self.name, text.unwrap_or_default(), Wanted::Numeric);
            values.push(value.ok_or_else(fault)?);
        }
        Ok(())
    }

    fn add_nulls(&mut self, rows: usize) -> Result<()> {
        if let Cells::Numbers(values) | Cells::Moments(Moments { seconds: values, .. }) =
            &mut self.cells
        {
            values.resize(values.len() + rows, f64::NAN);
            return Ok(());
        }
        (0..rows).try_for_each(|_| self.add_category(None))
    }

    fn add_category(&mut self, text: Option<&str>) -> Result<()> {
        let Cells::Categories { dictionary, codes } = &mut self.cells else { return Ok(()) };
        let seen = Seen { first_row: codes.len(), count: 1 };
        let code = match text {
            Some(text) => dictionary.code(text.as_bytes(), seen),
            None => Some(Categories::MISSING),
        };
        let too_many = || Categories::too_many(self.name);
        codes.push(code.ok_or_else(too_many)?);
        Ok(())
    }

    /// The rows as a piece of the column.
    pub(super) fn into_piece(self) -> Piece {
        match self.cells {
            Cells::Numbers(values) => Piece::Numbers(Numbers { values, ..Numbers::default() }),
            Cells::Categories { dictionary, codes } => Piece::Texts(Texts { dictionary, codes }),
            Cells::Moments(moments) => Piece::Moments(moments),
        }
    }

    /// The column.
    pub(super) fn finish(self) -> Result<Column> {
        match self.cells {
            Cells::Numbers(values) | Cells::Moments(Moments { seconds: values, .. }) => {
                Ok(Column::Numeric(values))
            }
            Cells::Categories { dictionary, codes } => {
                dictionary.categories(self.name, codes).map(Column::Categorical)
            }
        }
    }
}

/// A whole number of more digits than the machine's, rounded.
fn wide(value: impl Display) -> f64 {
    number::parse(value.to_string().as_bytes()).unwrap_or(f64::NAN)
}
