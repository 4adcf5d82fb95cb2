//! Cells with a shade each: heat maps of correlations, tables of counts.

use super::canvas::{Canvas, Fill, Letters};
use super::colour::Colour;
use super::frame::{Heading, MARGIN, SMALL};
use super::key::NARROW;
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
    /// What shades mean, from left to right, where there is no room for words in the cells.
    pub(crate) key: Vec<Shade>,
}

/// Cells are no larger than this, nor smaller.
const CELLS: (f64, f64) = (10.0, 62.0);
/// The smallest letters of words in a cell, and on phones, where all is read at its own size.
const LEAST_LETTERS: f64 = 8.0;
const LEAST_ON_PHONES: f64 = 10.5;
/// From this one on the names of columns are slanted; of smaller ones they would lie on each other, and stand upright.
const SLANTED: f64 = 22.0;
/// Cosine and sine of the slant, a little more for the letters' own height.
const SLANT: (f64, f64) = (0.78, 0.66);
/// Width and height of a cell of the key.
const KEY_CELL: (f64, f64) = (44.0, 12.0);

impl Grid<'_> {
    pub(crate) fn draw(self, cell: impl Fn(usize, usize) -> Shade, options: &Options) -> String {
        let longest =
            |names: &[String]| names.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max);
        let names = longest(self.rows).min(0.3 * options.width);
        let left = MARGIN + names + 12.0 + if self.row_name.is_empty() { 0.0 } else { 20.0 };
        // Names above lean to the right: the last one needs room beside the cells.
        let above = longest(self.columns).min(0.25 * options.width);
        let count = self.columns.len().max(1) as f64;
        let leaning = (options.width - left - MARGIN - SLANT.0 * above) / (count - 0.5);
        let upright = (options.width - left - MARGIN) / count;
        let is_slanted = leaning >= SLANTED;
        let size = if is_slanted { leaning } else { upright }.clamp(CELLS.0, CELLS.1);
        let head = if is_slanted { SLANT.1 * above } else { above }
            + 14.0
            + if self.column_name.is_empty() { 0.0 } else { 18.0 };
        let top = self.heading.height() + head;
        let bottom = top + size * self.rows.len() as f64;
        let words = Self::letters_in(size, self.all(&cell), options);
        let with_key = words.is_none() && !self.key.is_empty();
        let below = if with_key { KEY_CELL.1 + 34.0 } else { 0.0 };
        let wide = options.width.max(left + size * count + MARGIN);
        let mut canvas = Canvas::new(wide, bottom + below + MARGIN, options);
        self.heading.draw(&mut canvas);
        let letters = Letters::new(SMALL.min(size - 1.0), Colour::Ink);
        // Names that stand at both sides are cut alike.
        let room = |own: f64| if self.rows == self.columns { names.min(above) } else { own };
        let cut = |names: &[String], own: f64| {
            told_apart(
                &names.iter().map(String::as_str).collect::<Vec<_>>(),
                letters.size,
                room(own),
            )
        };
        for (j, (name, text)) in self.columns.iter().zip(cut(self.columns, above)).enumerate() {
            if is_slanted {
                let at = (left + size * (j as f64 + 0.45), top - 6.0);
                canvas.slanted_text(at, &text, letters, name);
            } else {
                let at = (left + size * (j as f64 + 0.5) + 0.35 * letters.size, top - 6.0);
                canvas.upright_text(at, &text, letters);
            }
        }
        for (i, (name, text)) in self.rows.iter().zip(cut(self.rows, names)).enumerate() {
            let y = top + size * (i as f64 + 0.5);
            canvas.titled_text((left - 8.0, y + letters.size / 3.0), &text, letters.end(), name);
            for j in 0..self.columns.len() {
                let at = (left + size * j as f64, top + size * i as f64);
                draw_cell(&mut canvas, at, size, &cell(i, j), words);
            }
        }
        if with_key {
            draw_key(&mut canvas, &self.key, (left, bottom + 16.0));
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

    /// All cells, row after row.
    fn all<'a>(
        &'a self,
        cell: &'a impl Fn(usize, usize) -> Shade,
    ) -> impl Iterator<Item = Shade> + 'a {
        let columns = self.columns.len();
        (0..self.rows.len()).flat_map(move |i| (0..columns).map(move |j| cell(i, j)))
    }

    /// The size of letters by which the words of all cells fit into them, if they are not too small: numbers are compared, and where some
    /// have none these look like nothing.
    fn letters_in(size: f64, cells: impl Iterator<Item = Shade>, options: &Options) -> Option<f64> {
        let widest = cells.map(|own| width(&own.words, 1.0)).fold(1.0, f64::max);
        let least = if options.width < NARROW { LEAST_ON_PHONES } else { LEAST_LETTERS };
        let letters = SMALL.min((size - 4.0) / widest);
        (letters >= least).then_some(letters)
    }
}

/// Shades side by side, each with what it means below.
fn draw_key(canvas: &mut Canvas, key: &[Shade], (left, top): (f64, f64)) {
    // On a narrow picture it begins left of the cells, to end on it.
    let room = canvas.width() - MARGIN - KEY_CELL.0 * key.len() as f64;
    let left = left.min(room).max(MARGIN);
    for (k, shade) in key.iter().enumerate() {
        let x = left + KEY_CELL.0 * k as f64;
        let fill = Fill::new(shade.colour).faded(shade.strength.clamp(0.0, 1.0));
        canvas.rect((x, top), KEY_CELL, fill, "");
        let letters = Letters::new(SMALL, Colour::Muted).middle();
        canvas.text((x + KEY_CELL.0 / 2.0, top + KEY_CELL.1 + 15.0), &shade.words, letters);
    }
}

/// A cell, with its words if they have letters.
fn draw_cell(
    canvas: &mut Canvas,
    (x, y): (f64, f64),
    size: f64,
    shade: &Shade,
    letters: Option<f64>,
) {
    let fill = Fill::new(shade.colour).faded(shade.strength.clamp(0.0, 1.0));
    canvas.titled(&shade.title, |canvas| {
        canvas.rect((x + 0.5, y + 0.5), (size - 1.0, size - 1.0), fill, "");
        if let Some(letters) = letters {
            let colour = shade.colour.of_letters_on(fill.opacity);
            let at = (x + size / 2.0, y + size / 2.0 + letters / 3.0);
            canvas.text(at, &shade.words, Letters::new(letters, colour).middle());
        }
    });
}
