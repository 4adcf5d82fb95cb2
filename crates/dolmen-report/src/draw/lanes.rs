//! A picture with one lane for each of several things: its name to the left, a mark, and its value in words to the right.

use super::canvas::{Canvas, Fill, Letters, Pen};
use super::colour::Colour;
use super::frame::{Heading, MARGIN, SMALL, label_edges, name_below, tick_text, ticks_across};
use super::scale::Scale;
use super::text::{fitted, told_apart, width};
use crate::Options;

/// Lanes shown; the others are counted in a line.
const MOST: usize = 40;
const LANE: f64 = 26.0;
/// How much higher a lane is whose name stands above its mark, and the room for marks below which it does.
const NAME_ABOVE: f64 = 15.0;
const LEAST_MARKS: f64 = 120.0;
/// Bold letters are wider by this.
const BOLD: f64 = 1.12;
/// The part of the width that names may take.
const NAMES: f64 = 0.38;

/// What a lane shows of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A bar from zero.
    Bar,
    /// A dot.
    Dot,
}

/// One of the things shown.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    pub(crate) name: String,
    /// Values beyond the picture have an arrow at the side they lie on, infinite ones a double one.
    pub(crate) value: f64,
    pub(crate) interval: Option<[f64; 2]>,
    /// What stands to the right.
    pub(crate) words: String,
    /// What is told where the pointer rests.
    pub(crate) title: String,
    pub(crate) colour: Colour,
    /// Whether the lane stands out.
    pub(crate) is_strong: bool,
    /// Groups that are joined by a bracket, by number.
    pub(crate) joined: Option<usize>,
}

impl Lane {
    pub(crate) fn new(name: &str, value: f64, words: String) -> Self {
        let title = format!("{name}: {words}");
        let (interval, joined) = (None, None);
        let (colour, is_strong) = (Colour::First, false);
        Self { name: name.into(), value, interval, words, title, colour, is_strong, joined }
    }
}

impl Lane {
    fn name_width(&self) -> f64 {
        width(&self.name, SMALL) * if self.is_strong { BOLD } else { 1.0 }
    }
}

/// The whole picture.
#[derive(Debug)]
pub(crate) struct Lanes<'a> {
    pub(crate) heading: Heading,
    pub(crate) mark: Mark,
    pub(crate) domain: (f64, f64),
    pub(crate) x_name: &'a str,
    /// What is counted where there are more lanes than can be shown.
    pub(crate) things: &'a str,
    /// A value that a line is drawn at.
    pub(crate) line: Option<f64>,
}

/// The lanes there is room for; those that stand out are always there.
pub(crate) fn shown_lanes(lanes: &[Lane]) -> Vec<&Lane> {
    let is_shown = |(k, lane): &(usize, &Lane)| *k < MOST || lane.is_strong;
    lanes.iter().enumerate().filter(is_shown).map(|(_, lane)| lane).collect()
}

impl Lanes<'_> {
    pub(crate) fn draw(self, lanes: &[Lane], options: &Options) -> String {
        let shown = shown_lanes(lanes);
        let top = self.heading.height();
        let widest = |widths: &mut dyn Iterator<Item = f64>| widths.fold(0.0, f64::max);
        let names = widest(&mut shown.iter().map(|lane| lane.name_width()))
            .min(NAMES * options.width)
            + 4.0;
        let words = widest(&mut shown.iter().map(|lane| width(&lane.words, SMALL)));
        let brackets = brackets(&shown);
        let edge = MARGIN + bracket_room(&brackets);
        let right = options.width - MARGIN - words - 14.0;
        let is_above = right - (edge + names + 12.0) < LEAST_MARKS;
        let (left, names, lane_height) = if is_above {
            (edge + 6.0, options.width - MARGIN - edge, LANE + NAME_ABOVE)
        } else {
            (edge + names + 12.0, names, LANE)
        };
        let bottom = top + lane_height * shown.len() as f64;
        let more = if lanes.len() > shown.len() { LANE } else { 0.0 };
        let mut canvas = Canvas::new(options.width, bottom + more + 56.0, options);
        self.heading.draw(&mut canvas);
        let x = Scale::linear(self.domain, (left, right));
        self.grid(&mut canvas, &x, (top, bottom));
        let all: Vec<&str> = shown.iter().map(|lane| lane.name.as_str()).collect();
        let cut = told_apart(&all, SMALL, names);
        for (k, (lane, name)) in shown.iter().zip(&cut).enumerate() {
            let y = top + lane_height * (k as f64 + 1.0) - LANE / 2.0;
            let wide = if lane.is_strong { BOLD } else { 1.0 };
            let name_at = if is_above { (edge, y - 12.0) } else { (left - 12.0, y + 4.0) };
            let name = (fitted(name, SMALL * wide, names), name_at, is_above);
            self.lane(&mut canvas, &x, lane, y, &name);
        }
        draw_brackets(&mut canvas, &brackets, (top + lane_height - LANE, lane_height));
        if more > 0.0 {
            let text = format!("… and {} more {}", lanes.len() - shown.len(), self.things);
            canvas.text((left, bottom + 58.0), &text, Letters::new(SMALL, Colour::Muted));
        }
        self.heading.finish(canvas)
    }

    fn grid(&self, canvas: &mut Canvas, x: &Scale, (top, bottom): (f64, f64)) {
        let (left, right) = x.range();
        for (value, label) in ticks_across(x, 75.0, SMALL, label_edges(canvas)) {
            let at = x.at(value);
            canvas.line((at, top), (at, bottom), Pen::new(Colour::Faint, 1.0));
            tick_text(canvas, (at, bottom + 18.0), &label);
        }
        if let Some(value) = self.line {
            let at = x.at(value);
            canvas.line((at, top - 4.0), (at, bottom), Pen::new(Colour::Muted, 1.0).dashed());
        }
        name_below(canvas, self.x_name, (left, right), bottom + 38.0);
    }

    /// A lane with its name, which stands above the mark or ends beside it.
    fn lane(
        &self,
        canvas: &mut Canvas,
        x: &Scale,
        lane: &Lane,
        y: f64,
        (name, name_at, is_above): &(String, (f64, f64), bool),
    ) {
        let (_, right) = x.range();
        let letters = Letters::new(SMALL, Colour::Ink);
        let letters = if lane.is_strong { letters.bold() } else { letters };
        canvas.group("lane", |canvas| {
            let letters = if *is_above { letters } else { letters.end() };
            if *is_above {
                // It stands among the lines.
                canvas.halo(*name_at, name, letters);
            }
            canvas.titled_text(*name_at, name, letters, &lane.title);
            match self.mark {
                Mark::Bar => bar(canvas, x, lane, y),
                Mark::Dot => dot(canvas, x, lane, y),
            }
            canvas.text((right + 14.0, y + 4.0), &lane.words, Letters::new(SMALL, Colour::Ink));
        });
    }
}

fn bar(canvas: &mut Canvas, x: &Scale, lane: &Lane, y: f64) {
    let zero = x.at(0.0);
    if lane.value == 0.0 {
        // An exact zero is no short bar.
        canvas.ring((zero, y), 3.5, Pen::new(Colour::Muted, 1.5), &lane.title);
    } else {
        let at = x.at(lane.value);
        let (from, size) = (zero.min(at), (at - zero).abs().max(1.5));
        canvas.bar((from, y - 7.0), (size, 14.0), Fill::new(lane.colour).faded(0.85), &lane.title);
    }
    whisker(canvas, x, lane, y, Colour::Ink);
}

fn dot(canvas: &mut Canvas, x: &Scale, lane: &Lane, y: f64) {
    if lane.value.is_nan() {
        return;
    }
    let at = x.at(lane.value);
    let (low, high) = x.domain();
    if lane.value < low || lane.value > high {
        arrow(canvas, at, lane, y, lane.value > high);
        return;
    }
    whisker(canvas, x, lane, y, lane.colour);
    let radius = if lane.is_strong { 6.0 } else { 4.5 };
    canvas.dot((at, y), radius, Fill::new(lane.colour), &lane.title);
}

/// An arrow to what lies beyond the picture; infinite values have two tips.
fn arrow(canvas: &mut Canvas, at: f64, lane: &Lane, y: f64, is_up: bool) {
    let inwards = if is_up { -9.0 } else { 9.0 };
    let is_infinite = lane.value.is_infinite();
    let colour = match (is_infinite, is_up) {
        (true, false) => Colour::Worse,
        _ => lane.colour,
    };
    let pen = Pen::new(colour, 2.0);
    for k in 0..if is_infinite { 2 } else { 1 } {
        let at = at + 0.7 * inwards * f64::from(k);
        let tip = [(at + inwards, y - 5.0), (at, y), (at + inwards, y + 5.0)];
        canvas.path(&tip, pen, &lane.title);
    }
    canvas.line((at, y), (at + 2.6 * inwards, y), pen);
}

fn whisker(canvas: &mut Canvas, x: &Scale, lane: &Lane, y: f64, colour: Colour) {
    let Some([low, high]) = lane.interval.filter(|ends| ends[1] > ends[0]) else { return };
    let (from, to) = (x.at(low), x.at(high));
    let pen = Pen::new(colour, 1.5);
    canvas.line((from, y), (to, y), pen);
    for end in [from, to] {
        canvas.line((end, y - 4.0), (end, y + 4.0), pen);
    }
}

/// Lanes that are joined.
struct Bracket {
    group: usize,
    /// The lanes, by number.
    lanes: Vec<usize>,
    /// Which line from the left it has.
    column: usize,
}

/// How far the lines of two groups are apart.
const BRACKET: f64 = 4.0;

/// The groups of which two lanes or more are shown, each in the first column where no other is beside the same lanes.
fn brackets(lanes: &[&Lane]) -> Vec<Bracket> {
    let mut found: Vec<Bracket> = Vec::new();
    for group in lanes.iter().filter_map(|lane| lane.joined) {
        if found.iter().any(|other| other.group == group) {
            continue;
        }
        let own: Vec<usize> =
            (0..lanes.len()).filter(|&k| lanes[k].joined == Some(group)).collect();
        // Groups come in the order of their first lanes: those before it that go on are in the way.
        let is_taken = |column: usize| {
            found.iter().any(|other| other.column == column && other.lanes.last() >= own.first())
        };
        let column = (0..=found.len()).find(|&column| !is_taken(column)).unwrap_or(0);
        if own.len() > 1 {
            found.push(Bracket { group, lanes: own, column });
        }
    }
    found
}

/// The room that brackets take at the left.
fn bracket_room(brackets: &[Bracket]) -> f64 {
    let columns = brackets.iter().map(|own| own.column + 1).max();
    columns.map_or(0.0, |columns| 10.0 + BRACKET * columns as f64)
}

/// Joins the lanes of each group at the left edge; the marks of the first are half a lane below the top.
fn draw_brackets(canvas: &mut Canvas, brackets: &[Bracket], (top, height): (f64, f64)) {
    let end = MARGIN + bracket_room(brackets) - 3.0;
    for Bracket { group, lanes, column } in brackets {
        let places = || lanes.iter().map(|&k| top + height * k as f64 + LANE / 2.0);
        let x = MARGIN + BRACKET * *column as f64;
        let pen = Pen::new(Colour::Series(1 + group), 2.0);
        if let (Some(first), Some(last)) = (places().next(), places().next_back()) {
            canvas.line((x, first), (x, last), pen);
        }
        places().for_each(|y| canvas.line((x, y), (end, y), pen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_groups_do_not_lie_on_one_another() {
        let joined = [Some(1), Some(0), Some(1), Some(3), Some(0), Some(2), Some(2), None];
        let lane = |joined| Lane { joined, ..Lane::new("a", 0.0, String::new()) };
        let lanes = joined.map(lane);
        let found = brackets(&lanes.iter().collect::<Vec<_>>());
        let columns: Vec<_> = found.iter().map(|own| (own.group, own.column)).collect();
        assert_eq!(columns, [(1, 0), (0, 1), (2, 0)]);
    }
}
