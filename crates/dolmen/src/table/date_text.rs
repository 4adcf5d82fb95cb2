//! Dates and times as texts, and the calendar.
//!
//! A moment is counted in seconds since the start of 1970 (UTC); a time of day without a zone is taken as it stands.

use serde::{Deserialize, Serialize};

use super::number;

pub(super) const DAY: f64 = 86_400.0;

/// In which order a date names its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `2024-01-31`, `2024/01/31`, `2024-01`, each also with a time: `2024-01-31T12:30:00Z`.
    YearFirst,
    /// `31.1.2024`, `31/1/24`.
    DayFirst,
    /// `1/31/2024`, `1/31/24 1:05 PM`.
    MonthFirst,
    /// `31-Jan-2024`, `31 January 2024`, `January 31, 2024`, `Jan 2024`.
    MonthNamed,
    /// `20240131`.
    Compact,
    /// `12:30`, `12:30:45`, `1:05 PM`: no date at all.
    TimeOfDay,
}

/// The orders that texts may have, those first that are surest.
pub(super) const ORDERS: [DateOrder; 6] = [
    DateOrder::YearFirst,
    DateOrder::MonthFirst,
    DateOrder::DayFirst,
    DateOrder::MonthNamed,
    DateOrder::Compact,
    DateOrder::TimeOfDay,
];

/// A moment, and by how many seconds the clocks that named it were ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    pub(super) utc: f64,
    pub(super) ahead: f64,
}

impl Moment {
    pub(super) const NONE: Self = Self { utc: f64::NAN, ahead: 0.0 };

    /// What the clocks showed.
    pub(super) fn local(self) -> f64 {
        self.utc + self.ahead
    }
}

/// The text of a moment: the date, and the time of day if it is not midnight.
pub(super) fn spelled(moment: f64) -> String {
    let day = (moment / DAY).floor();
    let (year, month, date) = civil(day as i64);
    let seconds = moment - day * DAY;
    if seconds == 0.0 {
        return format!("{year:04}-{month:02}-{date:02}");
    }
    format!("{year:04}-{month:02}-{date:02}T{}", clock(seconds))
}

/// The text of a time of day, in seconds.
pub(super) fn clock(seconds: f64) -> String {
    let (hour, minute) = ((seconds / 3600.0).floor(), (seconds / 60.0).floor() % 60.0);
    let rest = seconds - hour * 3600.0 - minute * 60.0;
    // Microseconds are what a double holds of a moment of our times.
    let rest = format!("{rest:09.6}");
    let rest = rest.trim_end_matches('0').trim_end_matches('.');
    format!("{hour:02}:{minute:02}:{rest}")
}

/// The moment that a text names.
pub(super) fn moment(text: &[u8], order: DateOrder) -> Option<Moment> {
    let mut digits = Digits { text: number::trim(text) };
    if order == DateOrder::TimeOfDay {
        let (seconds, ahead) = digits.clock()?;
        return (digits.text.is_empty() && ahead == 0.0).then_some(Moment { utc: seconds, ahead });
    }
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
        DateOrder::MonthNamed => digits.month_named()?,
        DateOrder::Compact => digits.compact()?,
        DateOrder::TimeOfDay => return None,
    };
    let in_year = (1000..3000).contains(&year) && (1..=12).contains(&month);
    if !in_year || day == 0 || day > days_in(year, month) {
        return None;
    }
    let (seconds, ahead) = digits.time_of_day()?;
    let local = days_since_1970(year, month, day) as f64 * DAY + seconds;
    digits.text.is_empty().then_some(Moment { utc: local - ahead, ahead })
}

/// Three letters of each month.
const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// The months in full.
const FULL_MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A text of which numbers are taken from the front.
struct Digits<'a> {
    text: &'a [u8],
}

impl Digits<'_> {
    /// A whole number of so many digits.
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

    /// Passes over any of these bytes, and says how many there were.
    fn skip(&mut self, bytes: &[u8]) -> usize {
        let before = self.text.len();
        while self.one_of(bytes).is_some() {}
        before - self.text.len()
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
        Some((first, second, self.year()?))
    }

    /// A year of four digits, or of two: 69 to 99 are of the last century, as POSIX has it.
    fn year(&mut self) -> Option<i64> {
        let length = self.text.iter().take_while(|b| b.is_ascii_digit()).count();
        match length {
            4 => self.number(4, 4).map(i64::from),
            2 => {
                self.number(2, 2).map(|year| i64::from(year + if year < 69 { 2000 } else { 1900 }))
            }
            _ => None,
        }
    }

    /// The month's name, English, whole or its first letters.
    fn month(&mut self) -> Option<u32> {
        let length = self.text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let (word, rest) = self.text.split_at(length);
        let word = word.to_ascii_lowercase();
        let month = MONTHS.iter().position(|short| word.starts_with(*short))?;
        let whole = FULL_MONTHS[month].as_bytes();
        let is_short = word.len() == 3 || word == b"sept";
        if !is_short && word != whole {
            return None;
        }
        self.text = rest;
        if is_short {
            let _ = self.one_of(b".");
        }
        Some(month as u32 + 1)
    }

    /// A date whose month is a word.
    fn month_named(&mut self) -> Option<(i64, u32, u32)> {
        if let Some(day) = self.number(1, 2) {
            self.skip(b" -/.");
            let month = self.month()?;
            self.skip(b" -/,");
            return Some((self.year()?, month, day));
        }
        let month = self.month()?;
        if self.skip(b" -/") == 0 {
            return None;
        }
        let is_year = self.text.iter().take_while(|b| b.is_ascii_digit()).count() == 4;
        if is_year {
            return Some((self.year()?, month, 1));
        }
        let day = self.number(1, 2)?;
        (self.skip(b" ,-/") > 0).then_some(())?;
        Some((self.year()?, month, day))
    }

    /// Eight digits; of a year that may well be meant.
    fn compact(&mut self) -> Option<(i64, u32, u32)> {
        let year = self.number(4, 4).filter(|year| (1900..=2100).contains(year))?;
        let date = (i64::from(year), self.number(2, 2)?, self.number(2, 2)?);
        self.text.is_empty().then_some(date)
    }

    /// The time behind a date: seconds of the day, and what the zone is ahead of UTC; 0 if there is no time.
    fn time_of_day(&mut self) -> Option<(f64, f64)> {
        if self.text.is_empty() {
            return Some((0.0, 0.0));
        }
        let _ = self.one_of(b",");
        self.one_of(b"T ")?;
        self.clock()
    }

    /// Seconds of the day, and what the zone is ahead of UTC.
    fn clock(&mut self) -> Option<(f64, f64)> {
        let hour = self.number(1, 2).filter(|hour| *hour < 24)?;
        self.one_of(b":")?;
        let minute = self.number(2, 2).filter(|minute| *minute < 60)?;
        let mut seconds = f64::from(minute * 60);
        if self.one_of(b":").is_some() {
            // 60 is a leap second.
            seconds += f64::from(self.number(2, 2).filter(|second| *second <= 60)?);
            if self.one_of(b".,").is_some() {
                seconds += self.fraction()?;
            }
        }
        let hour = match self.half_of_day() {
            None => hour,
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(half) => hour % 12 + half,
        };
        Some((f64::from(hour * 3600) + seconds, self.zone()?))
    }

    /// The hours that `AM` or `PM` adds, if one of them is here.
    fn half_of_day(&mut self) -> Option<u32> {
        let text = self.text.strip_prefix(b" ").unwrap_or(self.text);
        let (word, rest) = text.split_at_checked(2)?;
        let hours = match word.to_ascii_lowercase().as_slice() {
            b"am" => 0,
            b"pm" => 12,
            _ => return None,
        };
        self.text = rest;
        Some(hours)
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
        let _ = self.one_of(b" ");
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
pub(super) fn civil(day: i64) -> (i64, u32, u32) {
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
        moment(text.as_bytes(), order).map(|moment| moment.utc)
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
        for text in ["31.1.2024", "31/1/24", "31.01.24"] {
            assert_eq!(seconds(text, DateOrder::DayFirst), Some(1_706_659_200.0), "{text}");
        }
        for text in ["1/31/2024", "1/31/24", "01/31/2024 12:00 AM", "1/31/2024, 0:00"] {
            assert_eq!(seconds(text, DateOrder::MonthFirst), Some(1_706_659_200.0), "{text}");
        }
        let named = [
            "31-Jan-2024",
            "31 January 2024",
            "January 31, 2024",
            "Jan 31 2024",
            "31jan2024",
            "Jan. 31, 2024",
            "31-JAN-24",
        ];
        for text in named {
            assert_eq!(seconds(text, DateOrder::MonthNamed), Some(1_706_659_200.0), "{text}");
        }
        assert_eq!(seconds("20240131", DateOrder::Compact), Some(1_706_659_200.0));
        assert_eq!(seconds("1/2/2021 1:05 PM", DateOrder::MonthFirst), Some(1_609_592_700.0));
        assert_eq!(seconds("13:05", DateOrder::TimeOfDay), Some(47_100.0));
        assert_eq!(seconds("1:05:30 pm", DateOrder::TimeOfDay), Some(47_130.0));
        for text in ["2023-02-29", "2024-13-01", "20240101", "2024-1-1x", "24-01-01", "", "12:30"] {
            assert_eq!(seconds(text, DateOrder::YearFirst), None, "{text}");
        }
        for text in ["13:05 PM", "0:30 AM", "24:00", "2:1", "1:60"] {
            assert_eq!(seconds(text, DateOrder::TimeOfDay), None, "{text}");
        }
        for text in ["31-Foo-2024", "Janu 31, 2024", "May", "3 Mayor 2020"] {
            assert_eq!(seconds(text, DateOrder::MonthNamed), None, "{text}");
        }
        for text in ["20241301", "18000101", "2024013"] {
            assert_eq!(seconds(text, DateOrder::Compact), None, "{text}");
        }
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
