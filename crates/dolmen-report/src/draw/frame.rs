//! A picture with two axes: heading, grid, axes with their names, and a place for marks.

use super::canvas::{Canvas, Letters, Pen};
use super::colour::Colour;
use super::scale::Scale;
use super::text::{fitted, width, wrapped};
use crate::Options;

/// Sizes of letters.
pub(crate) const LARGE: f64 = 15.0;
pub(crate) const SMALL: f64 = 12.0;
/// Room around everything.
pub(crate) const MARGIN: f64 = 20.0;
const LINE: f64 = 16.0;

/// What stands above a picture: what it is, and what is to be seen on it.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    title: String,
    lines: Vec<String>,
    words: String,
}

impl Heading {
    pub(crate) fn new(title: &str, words: &str, options: &Options) -> Self {
        let title = options.title.clone().unwrap_or_else(|| title.into());
        let lines = wrapped(words, SMALL, options.width - 2.0 * MARGIN);
        Self { title, lines, words: words.into() }
    }

    /// Where the picture below it begins.
    pub(crate) fn height(&self) -> f64 {
        MARGIN + LARGE + LINE * self.lines.len() as f64 + 16.0
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        let room = canvas.width() - 2.0 * MARGIN;
        let mut y = MARGIN + LARGE - 3.0;
        let title = fitted(&self.title, LARGE * 1.1, room);
        canvas.text((MARGIN, y), &title, Letters::new(LARGE, Colour::Ink).bold());
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
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    /// Whether the values of y are named.
    pub(crate) y_ticks: bool,
    /// What the values of x are called, if they are no numbers: level by level, from 0.
    pub(crate) x_levels: Option<&'a [String]>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(heading: Heading, x_name: &'a str, y_name: &'a str) -> Self {
        let (x, y) = ((0.0, 1.0), (0.0, 1.0));
        let (log_x, log_y, y_ticks, x_levels) = (false, false, true, None);
        Self {
            heading,
            x,
            y,
            x_name,
            y_name,
            height: 320.0,
            right: MARGIN,
            log_x,
            log_y,
            y_ticks,
            x_levels,
        }
    }

    /// Draws heading, grid and axes.
    pub(crate) fn open(self, options: &Options) -> Plot {
        let top = self.heading.height();
        let bottom = top + self.height;
        let range = (bottom, top);
        let y = if self.log_y { Scale::log(self.y, range) } else { Scale::linear(self.y, range) };
        let ticks = if self.y_ticks { y.ticks((self.height / 55.0) as usize) } else { Vec::new() };
        let widest = ticks.iter().map(|(_, label)| width(label, SMALL)).fold(0.0, f64::max);
        let name = if self.y_name.is_empty() { 0.0 } else { LINE + 4.0 };
        let left = MARGIN + name + widest + if widest > 0.0 { 8.0 } else { 0.0 };
        let right = options.width - self.right;
        let range = (left, right);
        let x = if self.log_x { Scale::log(self.x, range) } else { Scale::linear(self.x, range) };
        let mut canvas = Canvas::new(options.width, bottom + 56.0, options);
        self.heading.draw(&mut canvas);
        for (value, label) in &ticks {
            let at = y.at(*value);
            canvas.line((left, at), (right, at), Pen::new(Colour::Faint, 1.0));
            canvas.text((left - 8.0, at + 4.0), label, Letters::new(SMALL, Colour::Muted).end());
        }
        let letters = Letters::new(SMALL, Colour::Muted);
        let middle = f64::midpoint(top, bottom);
        canvas.upright_text((MARGIN + 10.0, middle), self.y_name, letters.middle());
        self.x_axis(&mut canvas, &x, bottom);
        Plot { canvas, heading: self.heading, x, y }
    }

    fn x_axis(&self, canvas: &mut Canvas, x: &Scale, bottom: f64) {
        let (left, right) = x.range();
        canvas.line((left, bottom), (right, bottom), Pen::new(Colour::Muted, 1.0));
        let letters = Letters::new(SMALL, Colour::Muted).middle();
        let ticks = match self.x_levels {
            Some(levels) => {
                let room = (right - left) / levels.len().max(1) as f64 - 8.0;
                let level = |(k, name): (usize, &String)| (k as f64, fitted(name, SMALL, room));
                levels.iter().enumerate().map(level).collect()
            }
            None => x.ticks(((right - left) / 80.0) as usize),
        };
        for (value, label) in &ticks {
            let at = x.at(*value);
            canvas.line((at, bottom), (at, bottom + 4.0), Pen::new(Colour::Muted, 1.0));
            canvas.text((at, bottom + 18.0), label, letters);
        }
        let room = right - left;
        let name = fitted(self.x_name, SMALL, room);
        canvas.text((f64::midpoint(left, right), bottom + 40.0), &name, letters);
    }
}

/// A picture with its axes drawn.
#[derive(Debug)]
pub(crate) struct Plot {
    pub(crate) canvas: Canvas,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    heading: Heading,
}

impl Plot {
    pub(crate) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// A line through values; one that is not finite breaks it.
    pub(crate) fn curve(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        pen: Pen,
        title: &str,
    ) {
        let placed = |point: (f64, f64)| {
            if point.1.is_nan() { (f64::NAN, f64::NAN) } else { self.at(point) }
        };
        let points: Vec<(f64, f64)> = points.into_iter().map(placed).collect();
        self.canvas.path(&points, pen, title);
    }

    /// A name to the right of the end of a curve.
    pub(crate) fn end_label(&mut self, at: (f64, f64), name: &str, colour: Colour, room: f64) {
        let (x, y) = self.at(at);
        let text = fitted(name, SMALL, room);
        self.canvas.titled_text((x + 7.0, y + 4.0), &text, Letters::new(SMALL, colour), name);
    }

    pub(crate) fn finish(self) -> String {
        self.heading.finish(self.canvas)
    }
}

/// Places for labels beside one another, no two closer than a line: the wanted ones, moved apart as little as it takes.
pub(crate) fn apart(wanted: &[f64], least: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let mut free = top;
    for &k in &order {
        places[k] = places[k].max(free);
        free = places[k] + least;
    }
    let mut free = bottom;
    for &k in order.iter().rev() {
        places[k] = places[k].min(free);
        free = places[k] - least;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart_and_stay_within() {
        let places = apart(&[50.0, 52.0, 51.0, 10.0], 14.0, (0.0, 80.0));
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 14.0 - 1e-9), "{places:?}");
        assert!(places.iter().all(|p| (0.0..=80.0).contains(p)), "{places:?}");
        assert!(places[0] < places[2] && places[2] < places[1], "{places:?}");
        assert_eq!(places[3], 10.0);
    }
}
