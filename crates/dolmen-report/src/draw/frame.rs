//! A picture with two axes: heading, grid, axes with their names, and a place for marks.

use super::canvas::{Canvas, Letters, Pen};
use super::colour::Colour;
use super::key::KeyRoom;
use super::number::fixed;
use super::plot::{Hover, Plot};
use super::scale::{Scale, Ticks};
use super::text::{fitted, told_apart, width, wrapped};
use crate::Options;

/// Sizes of letters.
pub(crate) const LARGE: f64 = 15.0;
pub(crate) const SMALL: f64 = 12.0;
/// Room around everything.
pub(crate) const MARGIN: f64 = 20.0;
const LINE: f64 = 16.0;
const TITLE_LINE: f64 = 20.0;

/// What stands above a picture: what it is, and what is to be seen on it.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    title: String,
    /// The title as it stands on the picture.
    title_lines: Vec<String>,
    lines: Vec<String>,
    words: String,
}

impl Heading {
    pub(crate) fn new(title: &str, words: &str, options: &Options) -> Self {
        let title = options.title.clone().unwrap_or_else(|| title.into());
        let room = options.width - 2.0 * MARGIN;
        let lines = wrapped(words, SMALL, room);
        // It is bold, and wider for it.
        let bold = 1.1 * LARGE;
        let title_lines = if width(&title, bold) <= room {
            vec![title.clone()]
        } else {
            wrapped(&title, bold, room).iter().map(|line| fitted(line, bold, room)).collect()
        };
        Self { title, title_lines, lines, words: words.into() }
    }

    /// Where the picture below it begins.
    pub(crate) fn height(&self) -> f64 {
        let more = self.title_lines.len().saturating_sub(1) as f64;
        MARGIN + LARGE + TITLE_LINE * more + LINE * self.lines.len() as f64 + 16.0
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        let mut y = MARGIN + LARGE - 3.0;
        for (k, line) in self.title_lines.iter().enumerate() {
            y += if k > 0 { TITLE_LINE } else { 0.0 };
            canvas.text((MARGIN, y), line, Letters::new(LARGE, Colour::Ink).bold());
        }
        y += 4.0;
        for line in &self.lines {
            y += LINE;
            canvas.text((MARGIN, y), line, Letters::new(SMALL, Colour::Muted));
        }
    }

    /// The document of a canvas under this heading.
    pub(crate) fn finish(&self, canvas: Canvas) -> String {
        canvas.finish(&self.title, &self.words)
    }
}

/// What a picture with two axes is to look like.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) heading: Heading,
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    pub(crate) x_name: &'a str,
    pub(crate) y_name: &'a str,
    /// Height of the part with the marks.
    pub(crate) height: f64,
    /// Room to the right of it, for labels.
    pub(crate) right: f64,
    /// Room for names with their colours; it takes the place of that to the right.
    pub(crate) key: Option<KeyRoom>,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    /// Whether the values of y are named.
    pub(crate) y_ticks: bool,
    /// What the values of x are called, if they are no numbers: level by level, from 0.
    pub(crate) x_levels: Option<&'a [String]>,
    /// What stands for itself to the right of the axis of numbers, such as a missing one.
    pub(crate) x_aside: Option<&'a str>,
    /// The values of x that are named where there is room for them, if not round ones.
    pub(crate) x_ticks: Option<&'a [f64]>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(heading: Heading, x_name: &'a str, y_name: &'a str) -> Self {
        let (x, y) = ((0.0, 1.0), (0.0, 1.0));
        let (log_x, log_y, y_ticks) = (false, false, true);
        let (x_levels, x_aside) = (None, None);
        Self {
            heading,
            x,
            y,
            x_name,
            y_name,
            height: 320.0,
            right: MARGIN,
            key: None,
            log_x,
            log_y,
            y_ticks,
            x_levels,
            x_aside,
            x_ticks: None,
        }
    }

    /// Draws heading, grid and axes.
    pub(crate) fn open(self, options: &Options) -> Plot {
        let top = self.heading.height();
        let bottom = top + self.height;
        let range = (bottom, top);
        let y = if self.log_y { Scale::log(self.y, range) } else { Scale::linear(self.y, range) };
        let about = (self.height / 55.0).max(3.0) as usize;
        let ticks = if self.y_ticks { y.ticks(about) } else { Vec::new() };
        let widest = ticks.iter().map(|(_, label)| width(label, SMALL)).fold(0.0, f64::max);
        // A long name stands in several lines: beyond the axis it would run over the heading.
        let name = wrapped(self.y_name, SMALL, self.height);
        let names = if name.is_empty() { 0.0 } else { LINE * name.len() as f64 + 4.0 };
        let left = MARGIN + names + widest + if widest > 0.0 { 8.0 } else { 0.0 };
        let (beside, key_height) =
            self.key.map_or((self.right, 0.0), |key| key.taken(options.width));
        let aside = self.x_aside.map_or(0.0, |_| ASIDE);
        let right = options.width - beside - aside;
        let range = (left, right);
        let x = if self.log_x { Scale::log(self.x, range) } else { Scale::linear(self.x, range) };
        let below = self.level_room(right - left);
        let end = bottom + 56.0 + below;
        let key = self.key.map(|key| key.place(options.width, (top, end)));
        let mut canvas = Canvas::new(options.width, end + key_height, options);
        self.heading.draw(&mut canvas);
        for (value, label) in &ticks {
            let at = y.at(*value);
            canvas.line((left, at), (right + aside, at), Pen::new(Colour::Faint, 1.0));
            canvas.text((left - 8.0, at + 4.0), label, Letters::new(SMALL, Colour::Muted).end());
        }
        let letters = Letters::new(SMALL, Colour::Muted);
        let middle = f64::midpoint(top, bottom);
        for (k, line) in name.iter().enumerate() {
            let at = (MARGIN + 10.0 + LINE * k as f64, middle);
            canvas.upright_text(at, line, letters.middle());
        }
        self.x_axis(&mut canvas, &x, bottom);
        // Levels have marks of their own, which say what they are.
        let is_told = canvas.is_in_page() && self.x_levels.is_none();
        let hover = is_told.then(|| Hover::over(self.x_name));
        let aside = self.x_aside.map(|_| right + ASIDE_AT);
        Plot { canvas, heading: self.heading, x, y, aside, is_log: self.log_x, hover, key }
    }

    /// Room below the axis for the names of levels, where they are so long that they are slanted.
    fn level_room(&self, across: f64) -> f64 {
        let Some(levels) = self.x_levels else { return 0.0 };
        let longest = levels.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max);
        if longest <= across / levels.len().max(1) as f64 - 8.0 {
            return 0.0;
        }
        SLANT * longest.min(LONGEST_LEVEL)
    }

    fn x_axis(&self, canvas: &mut Canvas, x: &Scale, bottom: f64) {
        let (left, right) = x.range();
        canvas.line((left, bottom), (right, bottom), Pen::new(Colour::Muted, 1.0));
        let letters = Letters::new(SMALL, Colour::Muted).middle();
        let below = self.level_room(right - left);
        let ticks = match self.x_levels {
            Some(levels) => {
                levels.iter().cloned().enumerate().map(|(k, n)| (k as f64, n)).collect()
            }
            None => match self.x_ticks {
                Some(values) => ticks_at(values, x, label_edges(canvas)),
                None => ticks_across(x, 80.0, SMALL, label_edges(canvas)),
            },
        };
        let labels: Vec<&str> = ticks.iter().map(|(_, label)| label.as_str()).collect();
        let cut = told_apart(&labels, SMALL, LONGEST_LEVEL);
        for ((value, label), short) in ticks.iter().zip(&cut) {
            let at = x.at(*value);
            canvas.line((at, bottom), (at, bottom + 4.0), Pen::new(Colour::Muted, 1.0));
            if below > 0.0 {
                // It ends below its level; those at the left edge have less room.
                let text = fitted(short, SMALL, (at - 4.0) / ASLANT);
                canvas.slanted_text((at + 4.0, bottom + 14.0), &text, letters.end(), label);
            } else {
                tick_text(canvas, (at, bottom + 18.0), label);
            }
        }
        if let Some(label) = self.x_aside {
            let at = right + ASIDE_AT;
            canvas.line((at - 20.0, bottom), (at + 20.0, bottom), Pen::new(Colour::Muted, 1.0));
            tick_text(canvas, (at, bottom + 18.0), label);
        }
        name_below(canvas, self.x_name, (left, right), bottom + 40.0 + below);
    }
}

/// The ticks of an axis from left to right, about so far apart, in letters of this size: fewer where their labels, which stay within
/// these edges, would lie on one another.
pub(crate) fn ticks_across(x: &Scale, apart: f64, letters: f64, edges: (f64, f64)) -> Ticks {
    let (left, right) = x.range();
    let middle = |(value, label): &(f64, String)| label_place(x.at(*value), label, letters, edges);
    let overlap = |ticks: &Ticks| {
        ticks.windows(2).any(|pair| {
            let labels = pair.iter().map(|(_, label)| width(label, letters)).sum::<f64>() / 2.0;
            middle(&pair[1]) - middle(&pair[0]) < labels + 6.0
        })
    };
    let most = ((right - left) / apart).max(3.0) as usize;
    let fitting = (1..=most).rev().map(|about| x.ticks(about)).find(|ticks| !overlap(ticks));
    fitting.unwrap_or_else(|| {
        // Round values that differ in their last digits only have long labels, however few they are: some of them go without.
        let few = x.ticks(1);
        let every = |step: usize| few.iter().step_by(step).cloned().collect::<Ticks>();
        let ends: Ticks = few.first().into_iter().chain(few.last()).cloned().collect();
        let thinned = (2..few.len()).map(every).filter(|ticks| ticks.len() > 1);
        let fitting = thinned.chain([ends]).find(|ticks| !overlap(ticks));
        fitting.unwrap_or_else(|| few.into_iter().take(1).collect())
    })
}

/// Ticks at these values, from the largest down as many as have room for their labels.
fn ticks_at(values: &[f64], x: &Scale, edges: (f64, f64)) -> Ticks {
    let (mut ticks, mut free) = (Ticks::new(), f64::INFINITY);
    for value in values.iter().rev() {
        let label = fixed(*value, 0);
        let (middle, half) =
            (label_place(x.at(*value), &label, SMALL, edges), width(&label, SMALL) / 2.0);
        if middle + half <= free {
            free = middle - half - 6.0;
            ticks.push((*value, label));
        }
    }
    ticks.reverse();
    ticks
}

/// The middle of a label: below its place, but within the edges.
pub(crate) fn label_place(at: f64, label: &str, letters: f64, (low, high): (f64, f64)) -> f64 {
    let half = width(label, letters) / 2.0;
    at.min(high - half).max(low + half)
}

/// How far to the sides of a picture the labels of its ticks may reach.
pub(crate) fn label_edges(canvas: &Canvas) -> (f64, f64) {
    (2.0, canvas.width() - 2.0)
}

/// Writes the label of a tick.
pub(crate) fn tick_text(canvas: &mut Canvas, (x, y): (f64, f64), label: &str) {
    let x = label_place(x, label, SMALL, label_edges(canvas));
    canvas.text((x, y), label, Letters::new(SMALL, Colour::Muted).middle());
}

/// Writes the name of an axis below its middle; a long one where there is room for it.
pub(crate) fn name_below(canvas: &mut Canvas, name: &str, (left, right): (f64, f64), y: f64) {
    let room = canvas.width() - 2.0 * MARGIN;
    let name = fitted(name, SMALL, room);
    let half = width(&name, SMALL) / 2.0;
    let (least, most) = (MARGIN + half, canvas.width() - MARGIN - half);
    let middle = f64::midpoint(left, right).min(most).max(least);
    canvas.text((middle, y), &name, Letters::new(SMALL, Colour::Muted).middle());
}

/// Room to the right of an axis for what stands aside, and how far from the axis that is.
pub(crate) const ASIDE: f64 = 76.0;
const ASIDE_AT: f64 = 50.0;
/// Sine and cosine of the slant of texts: how high and how wide a long one is.
const SLANT: f64 = 0.64;
const ASLANT: f64 = 0.77;
/// The longest name of a level that is written out.
const LONGEST_LEVEL: f64 = 120.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers near a million that differ in their last digit, in room for two of them, and for not even two.
    #[test]
    fn labels_of_ticks_never_lie_on_one_another() {
        for (room, has_scale) in [(400.0, true), (96.0, true), (60.0, false)] {
            let x = Scale::linear((999_996.9, 1_000_003.2), (0.0, room));
            let ticks = ticks_across(&x, room / 4.0, 10.0, (0.0, room));
            let ends = ticks.iter().map(|(value, label)| {
                let middle = label_place(x.at(*value), label, 10.0, (0.0, room));
                let half = width(label, 10.0) / 2.0;
                (middle - half, middle + half)
            });
            let ends: Vec<(f64, f64)> = ends.collect();
            assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "{room}: {ticks:?}");
            assert!(!ticks.is_empty() && (ticks.len() > 1) == has_scale, "{room}: {ticks:?}");
        }
    }
}
