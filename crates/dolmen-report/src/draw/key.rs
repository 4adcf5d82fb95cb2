//! Names with their colours: beside the marks, or below them where a picture is too narrow for both.

use super::canvas::{Fill, Letters, Pen};
use super::colour::{COLOURS, Colour};
use super::frame::{MARGIN, SMALL};
use super::plot::Plot;
use super::text::{told_apart, width};
use crate::Options;

/// Pictures narrower than this have their keys below the marks, and names at one side only.
pub(crate) const NARROW: f64 = 480.0;
/// From one line of a key to the next, and the air above those below the marks.
const LINE: f64 = 19.0;
const ABOVE: f64 = 12.0;
/// What stands before a name: the sign of its colour.
const SIGN: f64 = 20.0;

/// Room for a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRoom {
    /// How wide it is beside the marks.
    pub(crate) beside: f64,
    /// The names in it.
    pub(crate) lines: usize,
}

/// The part of a picture that a key beside the marks may take.
const MOST_BESIDE: f64 = 0.42;

impl KeyRoom {
    /// Room for these names with what stands behind them: no less than `least`, and no more than leaves room for the marks.
    pub(crate) fn for_names<'a>(
        named: impl Iterator<Item = (&'a str, String)> + Clone,
        least: f64,
        options: &Options,
    ) -> Self {
        let longest =
            named.clone().map(|(name, behind)| width(name, SMALL) + width(&behind, SMALL));
        let needed = longest.fold(0.0, f64::max) + 14.0 + SIGN + 4.0 + MARGIN;
        let beside = needed.min(MOST_BESIDE * options.width).max(least);
        Self { beside, lines: named.count() }
    }

    /// What it takes to the right of the marks of a picture this wide, and below them.
    pub(super) fn taken(self, picture: f64) -> (f64, f64) {
        if picture < NARROW {
            (MARGIN, ABOVE + LINE * self.lines as f64)
        } else {
            (self.beside, 0.0)
        }
    }

    /// Where the first sign stands, and the room for sign and name; marks begin at `top`, and below `bottom` is nothing yet.
    pub(super) fn place(self, picture: f64, (top, bottom): (f64, f64)) -> KeyPlace {
        if picture < NARROW {
            return KeyPlace { at: (MARGIN, bottom + ABOVE), room: picture - 2.0 * MARGIN };
        }
        let left = picture - self.beside + 14.0;
        KeyPlace { at: (left, top + 10.0), room: self.beside - 14.0 - MARGIN }
    }
}

/// Where the key of a picture stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyPlace {
    at: (f64, f64),
    room: f64,
}

/// How something is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sign {
    Line(Pen),
    /// The dots of one of several series: those beyond the colours there are begin again with the first, but are rings.
    Dot(usize),
}

/// A name in a key, with what stands before and behind it: these are never cut, and names are told apart without them.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) sign: Sign,
    pub(crate) before: String,
    pub(crate) name: &'a str,
    pub(crate) behind: String,
    pub(crate) is_bold: bool,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(name: &'a str, sign: Sign) -> Self {
        let (before, behind) = (String::new(), String::new());
        Self { sign, before, name, behind, is_bold: false }
    }

    /// The curve of one of several series.
    pub(crate) fn series(k: usize, name: &'a str) -> Self {
        Self::new(name, Sign::Line(Pen::series(k, 3.0)))
    }

    /// With a name that may be cut in the place of the whole one.
    fn text(&self, name: &str) -> String {
        format!("{}{name}{}", self.before, self.behind)
    }
}

impl Plot {
    /// Writes the key where its frame has left room for it.
    pub(crate) fn draw_key(&mut self, entries: &[Entry<'_>]) {
        let Some(KeyPlace { at: (left, top), room }) = self.key else { return };
        let names: Vec<&str> = entries.iter().map(|own| own.name).collect();
        let beside = entries.iter().map(|own| width(&own.text(""), SMALL)).fold(0.0, f64::max);
        let cut = told_apart(&names, SMALL, room - SIGN - 2.0 - beside);
        for (k, (own, name)) in entries.iter().zip(cut).enumerate() {
            let y = top + LINE * k as f64;
            match own.sign {
                Sign::Line(pen) => {
                    self.canvas.line((left - 4.0, y - 4.0), (left + 14.0, y - 4.0), pen);
                }
                Sign::Dot(k) => self.draw_dot(k, (left + 5.0, y - 4.0), 4.2, ""),
            }
            let letters = Letters::new(SMALL, Colour::Ink);
            let letters = if own.is_bold { letters.bold() } else { letters };
            let place = (left + SIGN, y);
            self.canvas.titled_text(place, &own.text(&name), letters, &own.text(own.name));
        }
    }

    /// A dot of one of several series.
    pub(crate) fn draw_dot(&mut self, k: usize, at: (f64, f64), radius: f64, title: &str) {
        let colour = Colour::Series(k);
        if k < COLOURS {
            self.canvas.dot(at, radius, Fill::new(colour), title);
        } else {
            self.canvas.ring(at, radius, Pen::new(colour, 2.0), title);
        }
    }
}
