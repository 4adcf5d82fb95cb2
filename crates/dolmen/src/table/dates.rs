//! Dates as numbers: the year, the month, the day of the week, the hour, and the days since the first.
//!
//! A column is one of dates if every text in it is a date of one and the same form. The year, the month, the day of the week
//! and the hour are those of the clocks that named the moment; days since the first are counted in UTC, so that moments
//! named in several zones keep their distances.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::date_text::{DAY, DateOrder, Moment, ORDERS, civil, moment};
use super::read::not_a_date;
use super::{Categories, Column, Table, number};
use crate::error::Result;

/// One number that a date is turned into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatePart {
    /// The year.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the week, 1 (Monday) to 7.
    Weekday,
    /// The hour of the day with its fraction, 0 to 24.
    Hour,
    /// Days since the first date of the training rows, with their fraction.
    Days,
}

impl fmt::Display for DatePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
            Self::Days => "days",
        })
    }
}

/// A column of dates, and what becomes of it. Stored with a model, so that new rows are read the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DateColumn {
    /// The column's name.
    pub column: String,
    /// The form of its dates.
    pub order: DateOrder,
    /// The first date of the training rows, in seconds since the start of 1970.
    pub first: i64,
    /// The numbers it is turned into: columns named `column.part`.
    pub parts: Vec<DatePart>,
    /// A text that names another day if the day stands first, where no text says which does. Not stored.
    #[serde(skip)]
    pub in_doubt: Option<String>,
}

/// Whole numbers such as 20240131 that may be dates lie here.
pub(super) const DATES_AS_NUMBERS: Range<f64> = 19_000_101.0..2.101e7;

impl DateColumn {
    /// The dates that a column's texts are, if all of them are; `None` also if there are no texts.
    pub fn recognise(name: &str, column: &Categories) -> Option<Self> {
        Self::recognise_texts(name, &column.levels)
    }

    /// The dates that texts are, if all of them are.
    pub(super) fn recognise_texts(name: &str, texts: &[String]) -> Option<Self> {
        Self::of_texts(name, &texts.iter().map(String::as_bytes))
    }

    /// The first text that is no date, where nearly all others are dates of one form.
    pub(super) fn no_date_among_dates(texts: &[String]) -> Option<&String> {
        /// Of fewer texts it is not known what they were meant to be.
        const FEWEST: usize = 10;
        /// The share of dates among them.
        const NEARLY_ALL: f64 = 0.9;
        if texts.len() < FEWEST {
            return None;
        }
        let is_date = |text: &&String, order| moment(text.as_bytes(), order).is_some();
        let dates = |order: DateOrder| texts.iter().filter(|text| is_date(text, order)).count();
        let (count, order) = ORDERS
            .into_iter()
            .map(|order| (dates(order), order))
            .max_by_key(|(count, _)| *count)?;
        let are_dates = count < texts.len() && count as f64 >= NEARLY_ALL * texts.len() as f64;
        texts.iter().filter(|_| are_dates).find(|text| !is_date(text, order))
    }

    /// The numbers that dates of a form may be turned into.
    pub(super) fn possible_parts(order: DateOrder) -> impl Iterator<Item = DatePart> {
        let parts = [DatePart::Year, DatePart::Month, DatePart::Weekday, DatePart::Hour];
        let of_days = order != DateOrder::TimeOfDay;
        let parts = parts.into_iter().filter(move |p| of_days || *p == DatePart::Hour);
        parts.chain(of_days.then_some(DatePart::Days))
    }

    /// The dates that whole numbers such as 20240131 are, if all of them are.
    pub fn recognise_numbers(name: &str, values: &[f64]) -> Option<Self> {
        let known = || values.iter().filter(|value| !value.is_nan());
        // Most columns are told apart by their first number.
        let may_be = |value: &f64| value.fract() == 0.0 && DATES_AS_NUMBERS.contains(value);
        if known().nth(1).is_none() || !known().all(may_be) {
            return None;
        }
        let texts: Vec<String> = known().map(|value| number::Spelled(*value).to_string()).collect();
        Self::of_texts(name, &texts.iter().map(String::as_bytes))
    }

    fn of_texts<'a>(name: &str, texts: &(impl Iterator<Item = &'a [u8]> + Clone)) -> Option<Self> {
        let example = texts.clone().next()?;
        let all = |order: DateOrder| texts.clone().all(|text| moment(text, order).is_some());
        let order = ORDERS.into_iter().find(|order| all(*order))?;
        let moments: Vec<Moment> = texts.clone().filter_map(|text| moment(text, order)).collect();
        let first = moments.iter().map(|m| m.utc).fold(f64::INFINITY, f64::min).floor();
        let in_doubt = order == DateOrder::MonthFirst && all(DateOrder::DayFirst);
        let mut dates = Self {
            column: name.into(),
            order,
            first: first as i64,
            parts: Vec::new(),
            in_doubt: in_doubt.then(|| String::from_utf8_lossy(example).into_owned()),
        };
        // What is the same in all rows says nothing.
        let varies = |part: &DatePart| {
            let mut values = moments.iter().map(|moment| dates.part(*part, *moment));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        dates.parts = Self::possible_parts(order).filter(varies).collect();
        Some(dates)
    }

    /// Whether there are times of day only, without dates.
    pub fn is_time_of_day(&self) -> bool {
        self.order == DateOrder::TimeOfDay
    }

    /// Each row's seconds since the start of 1970, NaN where there is no date; a text that is none is an error.
    pub fn seconds(&self, column: &Column) -> Result<Vec<f64>> {
        Ok(self.moments(column)?.iter().map(|moment| moment.utc).collect())
    }

    /// The first date as a text.
    pub fn first_day(&self) -> String {
        let (year, month, day) = civil((self.first as f64 / DAY).floor() as i64);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// The names of the columns it is turned into.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| format!("{}.{part}", self.column))
    }

    /// The columns that a column of such dates is turned into; a text that is no such date is an error.
    pub fn columns(&self, column: &Column) -> Result<Vec<(String, Column)>> {
        let moments = self.moments(column)?;
        Ok(self.names().zip(self.numbers(&moments)).collect())
    }

    /// The numbers that moments are turned into, part by part.
    pub(super) fn numbers<'a>(
        &'a self,
        moments: &'a [Moment],
    ) -> impl Iterator<Item = Column> + 'a {
        let column = |part: &DatePart| {
            Column::Numeric(moments.iter().map(|moment| self.part(*part, *moment)).collect())
        };
        self.parts.iter().map(column)
    }

    /// Each row's moment.
    fn moments(&self, column: &Column) -> Result<Vec<Moment>> {
        let categories = match column {
            Column::Numeric(values) => {
                let of_row = |(row, value): (usize, &f64)| {
                    let text = number::Spelled(*value).to_string();
                    match moment(text.as_bytes(), self.order) {
                        // A column without a single text has no dates in it.
                        _ if value.is_nan() => Ok(Moment::NONE),
                        Some(moment) => Ok(moment),
                        None => Err(not_a_date(row, &self.column, text.as_bytes())),
                    }
                };
                return values.iter().enumerate().map(of_row).collect();
            }
            Column::Categorical(categories) => categories,
        };
        let levels: Vec<Option<Moment>> =
            categories.levels.iter().map(|text| moment(text.as_bytes(), self.order)).collect();
        let of_row = |(row, code): (usize, &u32)| match levels.get(*code as usize) {
            None => Ok(Moment::NONE),
            Some(Some(moment)) => Ok(*moment),
            Some(None) => {
                let text = categories.level(row).unwrap_or_default();
                Err(not_a_date(row, &self.column, text.as_bytes()))
            }
        };
        categories.codes.iter().enumerate().map(of_row).collect()
    }

    pub(super) fn part(&self, part: DatePart, moment: Moment) -> f64 {
        if moment.utc.is_nan() {
            return f64::NAN;
        }
        let local = moment.local();
        let day = (local / DAY).floor();
        let (year, month, _) = civil(day as i64);
        match part {
            DatePart::Year => year as f64,
            DatePart::Month => f64::from(month),
            // The first of January 1970 was a Thursday.
            DatePart::Weekday => (day + 3.0).rem_euclid(7.0) + 1.0,
            DatePart::Hour => (local - day * DAY) / 3600.0,
            DatePart::Days => (moment.utc - self.first as f64) / DAY,
        }
    }
}

/// Puts the numbers of dates in their place in a table.
pub(super) fn turn_into_numbers(table: Table, dates: &[DateColumn]) -> Result<Table> {
    let mut columns = Vec::new();
    for (name, column) in table.into_columns() {
        match dates.iter().find(|dates| dates.column == name) {
            Some(dates) => columns.extend(dates.columns(&column)?),
            None => columns.push((name, column)),
        }
    }
    Table::new(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_order_must_fit_all_texts() {
        let order = |texts: &[&str]| {
            let column = Categories::new(texts.iter().map(|text| Some(*text)));
            DateColumn::recognise("d", &column).map(|dates| dates.order)
        };
        assert_eq!(order(&["1/2/2020", "2/13/2020"]), Some(DateOrder::MonthFirst));
        assert_eq!(order(&["1/2/2020", "13/2/2020"]), Some(DateOrder::DayFirst));
        assert_eq!(order(&["13/2/2020", "2/13/2020"]), None);
        assert_eq!(order(&["2020-01-01", "soon"]), None);
        assert_eq!(order(&[]), None);
    }

    #[test]
    fn parts_that_do_not_vary_are_left_out() {
        let texts = ["2024-01-01", "2024-01-08", "2024-02-05"];
        let column = Categories::new(texts.iter().map(|text| Some(*text)));
        let dates = DateColumn::recognise("d", &column).unwrap();
        // All are Mondays of one year.
        assert_eq!(dates.names().collect::<Vec<_>>(), ["d.month", "d.days"]);
        assert_eq!(dates.first_day(), "2024-01-01");
        let columns = dates.columns(&Column::Categorical(column)).unwrap();
        assert_eq!(columns[1].1, Column::Numeric(vec![0.0, 7.0, 35.0]));
        assert_eq!(dates.part(DatePart::Weekday, Moment { utc: 1_704_067_200.0, ahead: 0.0 }), 1.0);
    }

    fn recognised(texts: &[&str]) -> (DateColumn, Vec<(String, Column)>) {
        let column = Categories::new(texts.iter().map(|text| Some(*text)));
        let dates = DateColumn::recognise("d", &column).unwrap();
        let columns = dates.columns(&Column::Categorical(column)).unwrap();
        (dates, columns)
    }

    /// Hours and days of the week are those of the people who wrote them down; in UTC the first would be of 2020.
    #[test]
    fn zones_keep_their_own_clock() {
        let texts = ["2021-01-01T00:30:00+02:00", "2021-01-01T08:00:00-05:00"];
        let (dates, columns) = recognised(&texts);
        assert_eq!(dates.names().collect::<Vec<_>>(), ["d.hour", "d.days"]);
        assert_eq!(columns[0].1, Column::Numeric(vec![0.5, 8.0]));
        assert_eq!(columns[1].1, Column::Numeric(vec![0.0, 14.5 / 24.0]));
    }

    #[test]
    fn times_of_day_are_hours() {
        let (dates, columns) = recognised(&["08:30", "12:45:36", "23:00"]);
        assert!(dates.is_time_of_day());
        let expected = ("d.hour".to_string(), Column::Numeric(vec![8.5, 12.76, 23.0]));
        assert_eq!(columns, [expected]);
    }

    #[test]
    fn months_before_days_are_in_doubt() {
        let doubt = |texts: &[&str]| recognised(texts).0.in_doubt;
        assert_eq!(doubt(&["03/04/2020", "05/06/2020"]), Some("03/04/2020".into()));
        assert_eq!(doubt(&["03/14/2020", "05/06/2020"]), None);
        assert_eq!(doubt(&["2020-03-04"]), None);
    }

    #[test]
    fn whole_numbers_are_dates_if_all_may_be() {
        let recognise = |values: &[f64]| DateColumn::recognise_numbers("d", values);
        let dates = recognise(&[20_210_131.0, f64::NAN, 20_210_301.0]).unwrap();
        let column = Column::Numeric(vec![20_210_131.0, f64::NAN]);
        let seconds = dates.seconds(&column).unwrap();
        assert_eq!((seconds[0], seconds[1].is_nan()), (1_612_051_200.0, true));
        assert_eq!(recognise(&[20_210_131.0, 20_210_231.0]), None);
        assert_eq!(recognise(&[20_210_131.0]), None);
        assert_eq!(recognise(&[1.5, 2.5]), None);
    }
}
