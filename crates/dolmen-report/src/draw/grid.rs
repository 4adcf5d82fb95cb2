//! Cells with a shade each: heat maps of correlations, tables of counts.

use super::canvas::{Canvas, Fill, Letters};
use super::colour::Colour;
use super::frame::{Heading, MARGIN, SMALL};
use super::text::{told_apart, width};
use crate::Options;

/// How a cell looks.
#[derive(Debug, Clone)]
pub(crate) struct Shade {
    pub(crate) colour: Colour,
    /// From 0, like the paper, to 1.
    pub(crate) strength: f64,
    /// What stands in it, if there is room.
    pub(crate) words: String,
    pub(crate) title: String,
}

/// The whole picture: `columns` names above, `rows` names to the left.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    pub(crate) heading: Heading,
    pub(crate) rows: &'a [String],
    pub(crate) columns: &'a [String],
    pub(crate) row_name: &'a str,
    pub(crate) column_name: &'a str,
}

/// Cells are no larger than this, nor smaller.
const CELLS: (f64, f64) = (10.0, 62.0);
/// Cells from this size on hold their words.
const WITH_WORDS: f64 = 34.0;
/// And from this one on the columns have names: of smaller ones they would lie on each other.
const WITH_NAMES: f64 = 18.0;

impl Grid<'_> {
    pub(crate) fn draw(self, cell: impl Fn(usize, usize) -> Shade, options: &Options) -> String {
        let longest =
            |names: &[String]| names.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max);
        let names = longest(self.rows).min(0.3 * options.width);
        let left = MARGIN + names + 12.0 + if self.row_name.is_empty() { 0.0 } else { 20.0 };
        let room = (options.width - left - MARGIN - 30.0) / self.columns.len().max(1) as f64;
        let size = room.clamp(CELLS.0, CELLS.1);
        // Names above are slanted: they need the sine of their length.
        let has_names = size >= WITH_NAMES;
        let above = if has_names { longest(self.columns).min(0.3 * options.width) } else { 0.0 };
        let head = 0.65 * above + 14.0 + if self.column_name.is_empty() { 0.0 } else { 18.0 };
        let top = self.heading.height() + head;
        let bottom = top + size * self.rows.len() as f64;
        let mut canvas = Canvas::new(options.width, bottom + MARGIN, options);
        self.heading.draw(&mut canvas);
        let letters = Letters::new(SMALL.min(size + 1.0), Colour::Ink);
        let cut = |names: &[String], room: f64| {
            told_apart(&names.iter().map(String::as_str).collect::<Vec<_>>(), SMALL, room)
        };
        let titled = self.columns.iter().zip(cut(self.columns, 0.3 * options.width));
        for (j, (name, text)) in titled.enumerate().filter(|_| has_names) {
            let at = (left + size * (j as f64 + 0.45), top - 6.0);
            canvas.slanted_text(at, &text, letters, name);
        }
        for (i, (name, text)) in self.rows.iter().zip(cut(self.rows, names)).enumerate() {
            let y = top + size * (i as f64 + 0.5);
            canvas.titled_text((left - 8.0, y + 4.0), &text, letters.end(), name);
            for j in 0..self.columns.len() {
                let at = (left + size * j as f64, top + size * i as f64);
                draw_cell(&mut canvas, at, size, &cell(i, j));
            }
        }
        let muted = Letters::new(SMALL, Colour::Muted);
        let middle = left + size * self.columns.len() as f64 / 2.0;
        canvas.text((middle, self.heading.height() + 8.0), self.column_name, muted.middle());
        canvas.upright_text(
            (MARGIN + 8.0, f64::midpoint(top, bottom)),
            self.row_name,
            muted.middle(),
        );
        self.heading.finish(canvas)
    }
}

fn draw_cell(canvas: &mut Canvas, (x, y): (f64, f64), size: f64, shade: &Shade) {
    let fill = Fill::new(shade.colour).faded(shade.strength.clamp(0.0, 1.0));
    canvas.rect((x + 0.5, y + 0.5), (size - 1.0, size - 1.0), fill, &shade.title);
    if size >= WITH_WORDS && width(&shade.words, SMALL) < size - 4.0 {
        // On a strong shade the paper's colour is read more easily than the ink's.
        let colour = if shade.strength > 0.6 { Colour::Paper } else { Colour::Ink };
        let at = (x + size / 2.0, y + size / 2.0 + 4.0);
        canvas.titled_text(at, &shade.words, Letters::new(SMALL, colour).middle(), &shade.title);
    }
}
