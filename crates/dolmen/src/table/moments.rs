//! Typed dates and times of day as numbers: what their texts would say, without the texts.
//!
//! Dates are texts in tables, so that there is one way from a date to its numbers. Where nobody asks for the text of a typed
//! column, writing it and reading it again is most of the work, and can be left out as long as the number is the same to the
//! last bit: a text holds microseconds, and years from 1000 to 2999.

use super::date_text::{DAY, DateOrder, Moment, clock, moment, spelled};
use super::dates::{DateColumn, DatePart};
use super::look::{Look, is_unnamed};

/// Days from the start of 1970 to that of the years 1000 and 3000.
const FIRST_DAY: f64 = -354_285.0;
const LAST_DAY: f64 = 376_200.0;

/// What a typed column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timed {
    /// Dates, also with times: seconds since the start of 1970.
    Dates,
    /// Times of day: seconds since midnight.
    Clock,
}

impl Timed {
    /// The form of the texts.
    pub(super) fn order(self) -> DateOrder {
        match self {
            Self::Dates => DateOrder::YearFirst,
            Self::Clock => DateOrder::TimeOfDay,
        }
    }

    /// The text of a cell.
    pub(super) fn text(self, seconds: f64) -> String {
        match self {
            Self::Dates => spelled(seconds),
            Self::Clock => clock(seconds),
        }
    }

    /// What the text of a cell says; `None` if it names no moment.
    pub(super) fn moment(self, seconds: f64) -> Option<Moment> {
        let utc = match self {
            Self::Dates => date(seconds),
            Self::Clock => of_day(seconds),
        };
        utc.map(|utc| Moment { utc, ahead: 0.0 })
    }
}

/// The cells of a typed column in some rows.
#[derive(Debug)]
pub(super) struct Moments {
    /// NaN where there is none.
    pub(super) seconds: Vec<f64>,
    pub(super) timed: Timed,
}

/// What the text of a date says.
fn date(seconds: f64) -> Option<f64> {
    let day = (seconds / DAY).floor();
    if !(FIRST_DAY..LAST_DAY).contains(&day) {
        return None;
    }
    if seconds.fract() == 0.0 {
        // No text has a zero below 0.
        return Some(seconds + 0.0);
    }
    Some(day * DAY + of_day(seconds - day * DAY)?)
}

/// What the text of a time of day says, with the arithmetic of whoever writes and reads it.
fn of_day(seconds: f64) -> Option<f64> {
    const MICRO: f64 = 1e6;
    let (hour, minute) = ((seconds / 3600.0).floor(), (seconds / 60.0).floor() % 60.0);
    // The text of `-0` has a sign, which no time of day has.
    if !(0.0..24.0).contains(&hour) || seconds.is_sign_negative() {
        return None;
    }
    let rest = seconds - hour * 3600.0 - minute * 60.0;
    let micro = rest * MICRO;
    // Rounded to microseconds as texts are only if the product is exact and lies between no two of them.
    if rest < 0.0 || rest.mul_add(MICRO, -micro) != 0.0 || micro.fract() == 0.5 {
        return moment(clock(seconds).as_bytes(), DateOrder::TimeOfDay).map(|moment| moment.utc);
    }
    let micro = micro.round();
    let (whole, mut digits) = ((micro / MICRO).floor(), (micro % MICRO) as u32);
    let mut fraction = 0.0;
    for _ in 0..6 {
        fraction = (fraction + f64::from(digits % 10)) / 10.0;
        digits /= 10;
    }
    Some(hour * 3600.0 + (minute * 60.0 + whole + fraction))
}

/// What the moments of a column tell, one after the other.
#[derive(Debug)]
pub(super) struct MomentsSeen {
    found: DateColumn,
    first: Option<Moment>,
    least: f64,
    /// Parts that may vary, and have not so far.
    constant: Vec<DatePart>,
}

impl MomentsSeen {
    /// None yet of a column of this name, whose texts have this form.
    pub(super) fn new(name: &str, order: DateOrder) -> Self {
        let found =
            DateColumn { column: name.into(), order, first: 0, parts: Vec::new(), in_doubt: None };
        let constant = DateColumn::possible_parts(order).collect();
        Self { found, first: None, least: f64::INFINITY, constant }
    }

    /// Adds one.
    pub(super) fn add(&mut self, moment: Moment) {
        self.least = self.least.min(moment.utc);
        let first = *self.first.get_or_insert(moment);
        let dates = &self.found;
        self.constant.retain(|part| dates.part(*part, first) == dates.part(*part, moment));
    }

    /// The dates that they are; `None` if there is none.
    pub(super) fn finish(mut self) -> Option<DateColumn> {
        self.first?;
        self.found.first = self.least.floor() as i64;
        let varies = |part: &DatePart| !self.constant.contains(part);
        self.found.parts = DateColumn::possible_parts(self.found.order).filter(varies).collect();
        Some(self.found)
    }
}

/// What the rows of a typed column tell.
#[derive(Debug)]
pub(super) struct TimedSeen {
    moments: MomentsSeen,
    pub(super) missing: usize,
    /// Whether a cell has a text that names no moment.
    pub(super) is_strange: bool,
}

impl TimedSeen {
    /// Nothing yet.
    pub(super) fn new(name: &str, timed: Timed) -> Self {
        let moments = MomentsSeen::new(name, timed.order());
        Self { moments, missing: 0, is_strange: false }
    }

    /// Adds some rows.
    pub(super) fn add(&mut self, rows: &Moments) {
        for &seconds in &rows.seconds {
            if seconds.is_nan() {
                self.missing += 1;
            } else if let Some(moment) = rows.timed.moment(seconds) {
                self.moments.add(moment);
            } else {
                self.is_strange = true;
            }
        }
    }

    /// What the column looks like.
    pub(super) fn look(self, name: &str) -> Look {
        match self.moments.finish() {
            _ if is_unnamed(name) => Look::Unnamed,
            Some(dates) => Look::Dates(dates),
            None => Look::Empty,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Categories;

    /// The long way: the text, read again.
    fn by_text(seconds: f64, timed: Timed) -> Option<f64> {
        moment(timed.text(seconds).as_bytes(), timed.order()).map(|moment| moment.utc)
    }

    fn check(seconds: f64) {
        for timed in [Timed::Dates, Timed::Clock] {
            let (found, expected) = (timed.moment(seconds), by_text(seconds, timed));
            let bits = |x: f64| x.to_bits();
            assert_eq!(found.map(|m| bits(m.utc)), expected.map(bits), "{seconds:?} {timed:?}");
        }
    }

    proptest! {
        /// Whole seconds, and ticks as files have them, of all units.
        #[test]
        fn moments_are_what_their_texts_say(tick in any::<i64>(), near in -4_000_000_000_000_000_000_i64..4_000_000_000_000_000_000, unit in 0_usize..4) {
            let a_second = [1.0, 1e3, 1e6, 1e9][unit];
            check(tick as f64 / a_second);
            check(near as f64 / 1e9);
            check((near / 1000) as f64 / 1e6);
            check((near / 1_000_000_000 % 90_000) as f64 + (near % 2_000_000) as f64 / 2e6);
            check((near % 90_000_000_000) as f64 / 1e9);
        }
    }

    #[test]
    fn the_ends_of_what_texts_can_say() {
        for day in [FIRST_DAY, LAST_DAY, 0.0] {
            for beside in [-1.0, -1e-6, -1e-10, 0.0, 1e-10, 0.5, 59.999_999_6] {
                check(day * DAY + beside);
            }
        }
        [f64::INFINITY, -0.0, 86_399.999_999_9].into_iter().for_each(check);
    }

    #[test]
    fn gathered_moments_are_recognised_texts() {
        let seconds = [1.7e9 + 0.25, 1.7e9, 1.6e9, 1.65e9];
        for timed in [Timed::Dates, Timed::Clock] {
            let seconds = seconds.map(|s| if timed == Timed::Clock { s % DAY } else { s });
            let texts = seconds.map(|s| timed.text(s));
            let column = Categories::new(texts.iter().map(|text| Some(text.as_str())));
            let mut seen = TimedSeen::new("t", timed);
            seen.add(&Moments { seconds: seconds.to_vec(), timed });
            let expected = DateColumn::recognise("t", &column).unwrap();
            assert_eq!(seen.look("t"), Look::Dates(expected));
        }
    }
}
