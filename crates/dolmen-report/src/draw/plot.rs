//! A picture whose axes are drawn: curves, what the pointer is told of them, and labels beside them.

use super::canvas::{Canvas, Letters, Pen, place};
use super::colour::Colour;
use super::frame::{Heading, SMALL};
use super::key::KeyPlace;
use super::scale::Scale;
use super::text::fitted;

/// A picture with its axes drawn.
#[derive(Debug)]
pub(crate) struct Plot {
    pub(crate) canvas: Canvas,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    /// Where what stands aside of the axis of x is, if there is room for it.
    pub(crate) aside: Option<f64>,
    pub(super) heading: Heading,
    pub(super) is_log: bool,
    pub(super) hover: Option<Hover>,
    pub(super) key: Option<KeyPlace>,
}

/// What the script of a page needs to tell the values of curves where the pointer is.
#[derive(Debug)]
pub(super) struct Hover {
    x_name: String,
    /// The places of the values written last: curves over the same ones do not repeat them.
    last_x: String,
}

/// Values of a curve that are told, at most.
const MOST_TOLD: usize = 100;

impl Hover {
    /// Over an axis with this name.
    pub(super) fn over(x_name: &str) -> Self {
        Self { x_name: x_name.into(), last_x: String::new() }
    }
}

impl Plot {
    pub(crate) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// A line through values; one that is not finite breaks it. On a page the values of one with a title are told where the
    /// pointer is.
    pub(crate) fn curve(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        pen: Pen,
        title: &str,
    ) {
        let values: Vec<(f64, f64)> = points.into_iter().collect();
        let placed = |point: &(f64, f64)| {
            if point.1.is_nan() { (f64::NAN, f64::NAN) } else { self.at(*point) }
        };
        let points: Vec<(f64, f64)> = values.iter().map(placed).collect();
        let hover_values =
            if title.is_empty() { String::new() } else { self.hover_values(&values) };
        self.canvas.path_with(&points, pen, title, &hover_values);
    }

    /// The same, cut where it leaves the axes above or below, instead of running along them.
    pub(crate) fn cut_curve(&mut self, points: &[(f64, f64)], pen: Pen, title: &str) {
        let within = clipped(points, self.y.domain());
        self.curve(within, pen, title);
    }

    /// The values of a curve as attributes; none of a straight line between two points, which is there to compare with.
    fn hover_values(&mut self, values: &[(f64, f64)]) -> String {
        let Some(hover) = self.hover.as_mut().filter(|_| values.len() > 2) else {
            return String::new();
        };
        // Between two values the script goes along the line, so that those a few pixels apart say enough.
        let step = values.len().div_ceil(MOST_TOLD);
        let last = values.last().filter(|_| !(values.len() - 1).is_multiple_of(step));
        let told: Vec<&(f64, f64)> = values.iter().step_by(step).chain(last).collect();
        let listed = |of: &dyn Fn(&(f64, f64)) -> String| {
            told.iter().map(|point| of(point)).collect::<Vec<_>>().join(" ")
        };
        let x = listed(&|(x, _)| compact(*x, 6));
        let y = listed(&|(_, y)| compact(*y, 4));
        if x == hover.last_x {
            return format!(r#" data-y="{y}""#);
        }
        let hover_values = format!(r#" data-x="{x}" data-y="{y}""#);
        hover.last_x = x;
        hover_values
    }

    /// A name to the right of the end of a curve.
    pub(crate) fn end_label(&mut self, at: (f64, f64), name: &str, colour: Colour, room: f64) {
        let (x, y) = self.at(at);
        let text = fitted(name, SMALL, room);
        self.canvas.titled_text((x + 7.0, y + 4.0), &text, Letters::new(SMALL, colour), name);
    }

    pub(crate) fn finish(mut self) -> String {
        if let Some(hover) = self.hover.filter(|own| !own.last_x.is_empty()) {
            let ((left, right), (bottom, top)) = (self.x.range(), self.y.range());
            let frame = [left, right, top, bottom].map(place).join(" ");
            let (low, high) = self.x.domain();
            self.canvas.add_attribute("data-frame", &frame);
            self.canvas.add_attribute("data-domain", &format!("{low} {high}"));
            self.canvas.add_attribute("data-name", &hover.x_name);
            if self.is_log {
                self.canvas.add_attribute("data-log", "1");
            }
        }
        self.heading.finish(self.canvas)
    }
}

/// A line through points, cut where it leaves a range of y.
fn clipped(points: &[(f64, f64)], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let inside = |y: f64| (low..=high).contains(&y);
    let cut = |(x0, y0): (f64, f64), (x1, y1): (f64, f64)| {
        let y = y1.clamp(low, high);
        (x0 + (x1 - x0) * (y - y0) / (y1 - y0), y)
    };
    let mut kept = Vec::new();
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        match (inside(from.1), inside(to.1)) {
            (true, true) => kept.extend([from, to]),
            (true, false) if to.1.is_finite() => {
                kept.extend([from, cut(from, to), (f64::NAN, f64::NAN)]);
            }
            (false, true) if from.1.is_finite() => {
                kept.extend([(f64::NAN, f64::NAN), cut(to, from), to]);
            }
            _ => kept.push((f64::NAN, f64::NAN)),
        }
    }
    kept.dedup();
    kept
}

/// A number in so many digits, as scripts read it; a dash for one that is none.
fn compact(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let rounded: f64 =
        format!("{value:.*e}", digits - 1).parse().expect("what was written can be read");
    let size = rounded.abs();
    if rounded == 0.0 || (1e-3..1e9).contains(&size) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
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
    fn numbers_for_scripts_are_short() {
        let written = [0.123_456_7, -1.5e-12, 12_345.678, 0.0, f64::NAN, f64::NEG_INFINITY, 1e300];
        assert_eq!(
            written.map(|v| compact(v, 4)),
            ["0.1235", "-1.5e-12", "12350", "0", "-", "-", "1e300"]
        );
    }

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
