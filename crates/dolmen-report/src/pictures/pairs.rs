//! All pairs of columns of a density: every column on the diagonal, every two below it.

use dolmen::error::Result;

use super::density::{beyond, density_of, draw_points, draw_surface, undrawn};
use super::mass::{View, Views, if_possible};
use super::{Picture, not_shown};
use crate::draw::{
    Canvas, Colour, Fill, Heading, Letters, MARGIN, Pen, SMALL, Scale, Ticks, label_place,
    ticks_across, told_apart, width,
};
use crate::{ModelView, Options, Subject};

/// Points of a curve, and of a grid each way.
const POINTS: usize = 90;
const GRID: usize = 40;
/// Letters of the numbers beside small plots.
const TINY: f64 = 10.0;
/// Columns of which all pairs are drawn, at most.
pub(crate) const MOST_PAIRS: usize = 6;
/// The least width of a plot with the room behind it: a picture of many is wider than it was asked to be, for a name and two numbers.
const LEAST: f64 = 84.0;
/// Room between two plots.
const GAP: f64 = 8.0;
/// Room for the names at the left, and for names and numbers at the bottom.
const NAMES: f64 = 26.0;
const BELOW: f64 = 44.0;

/// The plots and where they stand.
struct Plots<'a> {
    view: ModelView<'a>,
    views: Views<'a>,
    seen: Vec<View>,
    ticks: Vec<Ticks>,
    left: f64,
    top: f64,
    /// The width and height of a plot, with the room behind it.
    cell: f64,
}

/// Every column on the diagonal, every two below it.
pub(super) fn pairs(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, count)) = density_of(subject).filter(|(_, n)| (2..=MOST_PAIRS).contains(n))
    else {
        return Ok(None);
    };
    let Some(views) = Views::of(view.model)? else { return Ok(None) };
    let seen = (0..count).map(|j| views.of_column(j, GRID)).collect::<Result<Option<Vec<_>>>>()?;
    let Some(seen) = seen else { return Ok(None) };
    let fields = view.model.schema().fields();
    let mut off: Vec<String> = seen
        .iter()
        .enumerate()
        .flat_map(|(j, seen)| beyond(subject, j, seen, &fields[j].name))
        .collect();
    off.extend(undrawn(&view));
    let words = format!(
        "On the diagonal the density of each column; below it that of each two, as lines that hold 95, 80, 60, 40 and 20 % of the probability.{}",
        not_shown(&off)
    );
    let heading = Heading::new("Every two columns", &words, options);
    let plots = Plots::placed(view, views, seen, heading.height(), options);
    let height = plots.top + plots.cell * count as f64 + BELOW;
    let width = plots.left + plots.cell * count as f64 + MARGIN;
    let mut canvas = Canvas::new(width.max(options.width), height, options);
    heading.draw(&mut canvas);
    for row in 0..count {
        plots.draw_axes(&mut canvas, row);
        for column in 0..=row {
            if plots.draw_plot(&mut canvas, row, column)?.is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(heading.finish(canvas)))
}

impl<'a> Plots<'a> {
    fn placed(
        view: ModelView<'a>,
        views: Views<'a>,
        seen: Vec<View>,
        top: f64,
        options: &Options,
    ) -> Self {
        let count = seen.len() as f64;
        // Numbers have the room that is left beside the widest of them: about as much as it is here.
        let room = ((options.width - 6.0 * MARGIN) / count).max(LEAST) - GAP;
        let ticks = |seen: &View| {
            let x = Scale::linear(seen.ends.into(), (0.0, room));
            ticks_across(&x, room / 4.0, TINY, (0.0, room))
        };
        let ticks: Vec<Ticks> = seen.iter().map(ticks).collect();
        let labels = ticks.iter().skip(1).flatten().map(|(_, label)| width(label, TINY));
        let left = MARGIN + NAMES + labels.fold(0.0, f64::max);
        let cell = ((options.width - left - MARGIN) / count).max(LEAST);
        Self { view, views, seen, ticks, left, top, cell }
    }

    /// The ends of a column of plots.
    fn across(&self, column: usize) -> (f64, f64) {
        let from = self.left + self.cell * column as f64;
        (from, from + self.cell - GAP)
    }

    /// The ends of a row of plots, from its bottom up.
    fn up(&self, row: usize) -> (f64, f64) {
        let from = self.top + self.cell * row as f64;
        (from + self.cell - GAP, from)
    }

    fn scale(&self, column: usize, range: (f64, f64)) -> Scale {
        Scale::linear(self.seen[column].ends.into(), range)
    }

    /// The names and numbers of a column: below it, and left of its row.
    fn draw_axes(&self, canvas: &mut Canvas, column: usize) {
        let (across, up) = (self.across(column), self.up(column));
        let bottom = self.top + self.cell * self.seen.len() as f64;
        let fields = self.view.model.schema().fields().iter();
        let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
        let short_name = &told_apart(&names, SMALL, self.cell - 2.0 * GAP)[column];
        let letters = Letters::new(SMALL, Colour::Muted).middle();
        let place = (MARGIN + 12.0, f64::midpoint(up.0, up.1));
        canvas.upright_text(place, short_name, letters);
        let place = (f64::midpoint(across.0, across.1), bottom + 26.0);
        canvas.titled_text(place, short_name, letters, names[column]);
        let (x, y) = (self.scale(column, across), self.scale(column, up));
        let tiny = Letters::new(TINY, Colour::Muted);
        for (value, label) in &self.ticks[column] {
            let at = label_place(x.at(*value), label, TINY, across);
            canvas.text((at, bottom + 6.0), label, tiny.middle());
            if column > 0 {
                canvas.text((self.left - 4.0, y.at(*value) + 3.5), label, tiny.end());
            }
        }
    }

    /// The density of a column, or of two; `None` where it is not known.
    fn draw_plot(&self, canvas: &mut Canvas, row: usize, column: usize) -> Result<Option<()>> {
        let ((left, right), (bottom, top)) = (self.across(column), self.up(row));
        let paper = Fill::new(Colour::Faint).faded(0.35);
        canvas.rect((left, top), (right - left, bottom - top), paper, "");
        let x = self.scale(column, (left, right));
        if row == column {
            let profile = self.views.profile(row, &self.seen[row], POINTS);
            let Some(profile) = if_possible(profile)? else { return Ok(None) };
            let highest = profile.stack.iter().copied().fold(0.0, f64::max);
            let y = Scale::linear((0.0, 1.1 * highest), (bottom, top));
            let places = profile.x.iter().zip(&profile.stack).map(|(v, d)| (x.at(*v), y.at(*d)));
            let pen = Pen::new(Colour::First, 2.0);
            canvas.path(&places.collect::<Vec<_>>(), pen, &profile.name);
        } else {
            let (pair, views) = ([column, row], [&self.seen[column], &self.seen[row]]);
            let surface = self.views.surface(pair, views, GRID);
            let Some(surface) = if_possible(surface)? else { return Ok(None) };
            let y = self.scale(row, (bottom, top));
            draw_points(canvas, &self.view, pair, (&x, &y), 1.2);
            draw_surface(canvas, &surface, (&x, &y), false);
        }
        Ok(Some(()))
    }
}
