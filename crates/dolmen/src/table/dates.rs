//! Dates as numbers: the year, the month, the day of the week, the hour, and the days since the first.
//!
//! A column is one of dates if every text in it is a date of one and the same form. Moments are seconds since the start of
//! 1970 (UTC); a time of day without a zone is taken as it stands.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::read::not_a_date;
use super::{Categories, Column, Table, number};
use crate::error::Result;

const DAY: f64 = 86_400.0;

/// In which order a date names its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `2024-01-31`, `2024/01/31`, `2024-01`, each also with a time: `2024-01-31T12:30:00Z`.
    YearFirst,
    /// `31.1.2024`, `31/1/2024`.
    DayFirst,
    /// `1/31/2024`.
    MonthFirst,
}

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
}

impl DateColumn {
    /// The dates that a column's texts are, if all of them are; `None` also if there are no texts.
    pub fn recognise(name: &str, column: &Categories) -> Option<Self> {
        let levels = || column.levels.iter().map(String::as_bytes);
        levels().next()?;
        let all = |order: DateOrder| levels().all(|text| moment(text, order).is_some());
        let orders = [DateOrder::YearFirst, DateOrder::MonthFirst, DateOrder::DayFirst];
        let order = orders.into_iter().find(|order| all(*order))?;
        let moments = levels().filter_map(|text| moment(text, order));
        let moments: Vec<f64> = moments.collect();
        let first = moments.iter().copied().fold(f64::INFINITY, f64::min).floor();
        let mut dates = Self { column: name.into(), order, first: first as i64, parts: Vec::new() };
        let parts = [DatePart::Year, DatePart::Month, DatePart::Weekday, DatePart::Hour];
        // What is the same in all rows says nothing.
        let varies = |part: &DatePart| {
            let mut values = moments.iter().map(|moment| dates.part(*part, *moment));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        dates.parts = parts.into_iter().chain([DatePart::Days]).filter(varies).collect();
        Some(dates)
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
        let numbers = |part: &DatePart| {
            Column::Numeric(moments.iter().map(|moment| self.part(*part, *moment)).collect())
        };
        Ok(self.names().zip(self.parts.iter().map(numbers)).collect())
    }

    /// Each row's moment, NaN where it is missing.
    fn moments(&self, column: &Column) -> Result<Vec<f64>> {
        let categories = match column {
            // A column without a single text has no dates in it.
            Column::Numeric(values) => match values.iter().position(|v| !v.is_nan()) {
                None => return Ok(values.clone()),
                Some(row) => {
                    let text = number::Spelled(values[row]).to_string();
                    return Err(not_a_date(row, &self.column, text.as_bytes()));
                }
            },
            Column::Categorical(categories) => categories,
        };
        let levels: Vec<Option<f64>> =
            categories.levels.iter().map(|text| moment(text.as_bytes(), self.order)).collect();
        let of_row = |(row, code): (usize, &u32)| match levels.get(*code as usize) {
            None => Ok(f64::NAN),
            Some(Some(moment)) => Ok(*moment),
            Some(None) => {
                let text = categories.level(row).unwrap_or_default();
                Err(not_a_date(row, &self.column, text.as_bytes()))
            }
        };
        categories.codes.iter().enumerate().map(of_row).collect()
    }

    fn part(&self, part: DatePart, moment: f64) -> f64 {
        if moment.is_nan() {
            return moment;
        }
        let day = (moment / DAY).floor();
        let (year, month, _) = civil(day as i64);
        match part {
            DatePart::Year => year as f64,
            DatePart::Month => f64::from(month),
            // The first of January 1970 was a Thursday.
            DatePart::Weekday => (day + 3.0).rem_euclid(7.0) + 1.0,
            DatePart::Hour => (moment - day * DAY) / 3600.0,
            DatePart::Days => (moment - self.first as f64) / DAY,
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

/// The text of a moment: the date, and the time of day if it is not midnight.
pub(super) fn spelled(moment: f64) -> String {
    let day = (moment / DAY).floor();
    let (year, month, date) = civil(day as i64);
    let seconds = moment - day * DAY;
    if seconds == 0.0 {
        return format!("{year:04}-{month:02}-{date:02}");
    }
    let (hour, minute) = ((seconds / 3600.0).floor(), (seconds / 60.0).floor() % 60.0);
    let rest = seconds - hour * 3600.0 - minute * 60.0;
    // Microseconds are what a double holds of a moment of our times.
    let rest = format!("{rest:09.6}");
    let rest = rest.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{rest}")
}

/// The moment that a text names.
fn moment(text: &[u8], order: DateOrder) -> Option<f64> {
    let mut digits = Digits { text: number::trim(text) };
    let (year, month, day) = match order {
        DateOrder::YearFirst => digits.year_first()?,
        DateOrder::DayFirst => {
            let (day, month, year) = digits.year_last(b"./-")?;
            (year, month, day)
        }
        DateOrder::MonthFirst => {
            let (month, day, year) = digits.year_last(b"/-")?;
            (year, month, day)
        }
    };
    let in_year = (1000..3000).contains(&year) && (1..=12).contains(&month);
    if !in_year || day == 0 || day > days_in(year, month) {
        return None;
    }
    let seconds = digits.time_of_day()?;
    digits.text.is_empty().then(|| days_since_1970(year, month, day) as f64 * DAY + seconds)
}

/// A text of which numbers are taken from the front.
struct Digits<'a> {
    text: &'a [u8],
}

impl Digits<'_> {
    /// A whole number of this many digits.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let length = self.text.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
        if length < least {
            return None;
        }
        let (digits, rest) = self.text.split_at(length);
        self.text = rest;
        Some(digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }

    /// The next byte, if it is one of these.
    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.text.split_first().filter(|(first, _)| bytes.contains(first))?;
        self.text = rest;
        Some(*first)
    }

    /// Year, month and day; the first day where only year and month are named.
    fn year_first(&mut self) -> Option<(i64, u32, u32)> {
        let year = self.number(4, 4)?;
        let mark = self.one_of(b"-/.")?;
        let month = self.number(1, 2)?;
        if self.text.is_empty() && mark == b'-' {
            return Some((i64::from(year), month, 1));
        }
        self.one_of(&[mark])?;
        Some((i64::from(year), month, self.number(1, 2)?))
    }

    /// Two numbers and the year, with one of these marks between them.
    fn year_last(&mut self, marks: &[u8]) -> Option<(u32, u32, i64)> {
        let first = self.number(1, 2)?;
        let mark = self.one_of(marks)?;
        let second = self.number(1, 2)?;
        self.one_of(&[mark])?;
        Some((first, second, i64::from(self.number(4, 4)?)))
    }

    /// Seconds of the day, less what the zone is ahead of UTC; 0 if there is no time.
    fn time_of_day(&mut self) -> Option<f64> {
        if self.text.is_empty() {
            return Some(0.0);
        }
        self.one_of(b"T ")?;
        let hour = self.number(1, 2).filter(|hour| *hour < 24)?;
        self.one_of(b":")?;
        let minute = self.number(2, 2).filter(|minute| *minute < 60)?;
        let mut seconds = f64::from(hour * 3600 + minute * 60);
        if self.one_of(b":").is_some() {
            // 60 is a leap second.
            seconds += f64::from(self.number(2, 2).filter(|second| *second <= 60)?);
            if self.one_of(b".,").is_some() {
                seconds += self.fraction()?;
            }
        }
        Some(seconds - self.zone()?)
    }

    /// The digits behind a point.
    fn fraction(&mut self) -> Option<f64> {
        let length = self.text.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.text.split_at(length);
        self.text = rest;
        let digit = |value: f64, digit: &u8| (value + f64::from(digit - b'0')) / 10.0;
        (length > 0).then(|| digits.iter().rev().fold(0.0, digit))
    }

    /// Seconds by which the named zone is ahead of UTC; 0 if none is named.
    fn zone(&mut self) -> Option<f64> {
        for name in [&b"Z"[..], b" UTC", b" GMT", b"UTC"] {
            if self.text == name {
                self.text = &[];
            }
        }
        if self.text.is_empty() {
            return Some(0.0);
        }
        let sign = if self.one_of(b"+-")? == b'+' { 1.0 } else { -1.0 };
        let hours = self.number(2, 2)?;
        let _ = self.one_of(b":");
        let minutes = self.number(2, 2).unwrap_or(0);
        Some(sign * f64::from(hours * 3600 + minutes * 60))
    }
}

fn days_in(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the start of 1970 to a date of the Gregorian calendar. Years are counted from March, so that leap days come last.
fn days_since_1970(year: i64, month: u32, day: u32) -> i64 {
    let from_march = i64::from(month + 9) % 12;
    let year = if month <= 2 { year - 1 } else { year };
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    cycle * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468
}

/// Year, month and day of a day counted from the start of 1970.
fn civil(day: i64) -> (i64, u32, u32) {
    let day = day.saturating_add(719_468);
    let (cycle, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let date = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (cycle * 400 + year + i64::from(month <= 2), month as u32, date as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(text: &str, order: DateOrder) -> Option<f64> {
        moment(text.as_bytes(), order)
    }

    #[test]
    fn texts_are_moments() {
        let cases = [
            ("1970-01-01", 0.0),
            ("2000-03-01", 951_868_800.0),
            ("2024-02-29T12:30:45.5Z", 1_709_209_845.5),
            ("2024/2/29 12:30", 1_709_209_800.0),
            ("2024-02-29 12:30:00+02:00", 1_709_202_600.0),
            ("2024-02", 1_706_745_600.0),
            ("1969-12-31 23:59:59", -1.0),
        ];
        for (text, expected) in cases {
            assert_eq!(seconds(text, DateOrder::YearFirst), Some(expected), "{text}");
        }
        assert_eq!(seconds("31.1.2024", DateOrder::DayFirst), Some(1_706_659_200.0));
        assert_eq!(seconds("1/31/2024", DateOrder::MonthFirst), Some(1_706_659_200.0));
        for text in ["2023-02-29", "2024-13-01", "20240101", "2024-1-1x", "24-01-01", "", "12:30"] {
            assert_eq!(seconds(text, DateOrder::YearFirst), None, "{text}");
        }
    }

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
        assert_eq!(dates.part(DatePart::Weekday, 1_704_067_200.0), 1.0);
    }

    proptest! {
        #[test]
        fn what_is_spelled_is_read_again(day in -300_000_i64..300_000, second in 0_u32..86_400) {
            let moment = day as f64 * DAY + f64::from(second);
            prop_assert_eq!(seconds(&spelled(moment), DateOrder::YearFirst), Some(moment));
            let (year, month, date) = civil(day);
            prop_assert_eq!(days_since_1970(year, month, date), day);
        }
    }
}
