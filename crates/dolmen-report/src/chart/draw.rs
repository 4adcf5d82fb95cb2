//! From the series of a chart to marks on a canvas.

use super::{Chart, Mark, Series, Tone};
use crate::Options;
use crate::draw::{
    Colour, Fill, Frame, Heading, Letters, MARGIN, Pen, Plot, SMALL, apart, contour, extent,
    fitted, padded, short, width,
};

/// The most of the width that names at the right take.
const NAMES: f64 = 0.3;
/// Room between two names.
const LINE: f64 = 15.0;
/// The part of the room between two levels that bars fill.
const FILLED: f64 = 0.8;

impl Chart {
    /// The chart as SVG.
    pub fn draw(&self, options: &Options) -> String {
        self.draw_sized(options).0
    }

    /// The chart and how high it is.
    pub(super) fn draw_sized(&self, options: &Options) -> (String, f64) {
        let names = self.labelled().map(|(_, series)| width(&series.name, SMALL));
        let names = names.fold(0.0, f64::max).min(NAMES * options.width);
        let heading = Heading::new(&self.title, &self.words, options);
        let above = heading.height();
        let frame = Frame {
            x: self.x_ends(),
            y: self.y_ends(),
            height: self.height,
            right: if names > 0.0 { names + MARGIN + 8.0 } else { MARGIN },
            log_x: self.x.log,
            log_y: self.y.log,
            y_ticks: true,
            x_levels: self.x.levels.as_deref(),
            ..Frame::new(heading, &self.x.name, &self.y.name)
        };
        let mut plot = frame.open(options);
        let bars: Vec<usize> =
            (0..self.series.len()).filter(|&k| self.series[k].mark == Mark::Bars).collect();
        for (k, series) in self.series.iter().enumerate() {
            let beside = bars.iter().position(|&b| b == k).map(|place| (place, bars.len()));
            draw_series(&mut plot, series, self.colour(k), beside);
        }
        self.draw_names(&mut plot, names);
        (plot.finish(), above + self.height + 56.0)
    }

    fn colour(&self, k: usize) -> Colour {
        match self.series[k].tone {
            Tone::Own => {
                let own = |series: &&Series| series.tone == Tone::Own;
                Colour::Series(self.series[..k].iter().filter(own).count())
            }
            Tone::Series(number) => Colour::Series(number),
            Tone::Muted => Colour::Muted,
            Tone::Ink => Colour::Ink,
        }
    }

    fn labelled(&self) -> impl Iterator<Item = (usize, &Series)> {
        let shown = self.labels;
        self.series.iter().enumerate().filter(move |(_, own)| shown && !own.name.is_empty())
    }

    fn x_ends(&self) -> (f64, f64) {
        if let Some(levels) = &self.x.levels {
            return (-0.5, levels.len().max(1) as f64 - 0.5);
        }
        let half = |series: &Series| match series.mark {
            Mark::Histogram { width } => width / 2.0,
            _ => 0.0,
        };
        let reach = self.series.iter().flat_map(|series| {
            let half = half(series);
            series.points.iter().flat_map(move |(x, _)| [x - half, x + half])
        });
        self.x.range.or_else(|| extent(reach)).unwrap_or((0.0, 1.0))
    }

    fn y_ends(&self) -> (f64, f64) {
        if let Some(range) = self.y.range {
            return range;
        }
        let surface =
            |series: &Series| matches!(series.mark, Mark::Contours { .. } | Mark::Regions { .. });
        let has_surface = self.series.iter().any(surface);
        let upright = |series: &&Series| series.mark != Mark::Uprights;
        let reach = self.series.iter().filter(upright).flat_map(|series| {
            let errors = series.errors.as_deref();
            series.points.iter().enumerate().flat_map(move |(i, (_, y))| {
                let error = errors.and_then(|e| e.get(i)).copied().unwrap_or(0.0);
                [y - error, y + error]
            })
        });
        let positive = |y: &f64| !self.y.log || *y > 0.0;
        let Some(ends) = extent(reach.filter(positive)) else { return (0.0, 1.0) };
        let stands = |series: &Series| matches!(series.mark, Mark::Bars | Mark::Histogram { .. });
        match ends {
            ends if has_surface => ends,
            (low, high) if self.y.log => (low / 1.2, high * 1.2),
            (low, high) if self.series.iter().any(stands) => {
                let margin = 0.05 * (high.max(0.0) - low.min(0.0));
                let low = if low < 0.0 { low - margin } else { 0.0 };
                (low, if high > 0.0 { high + margin } else { 0.0 })
            }
            ends => padded(ends, 0.05),
        }
    }

    /// Names to the right, each as near to the end of its series as the others allow.
    fn draw_names(&self, plot: &mut Plot, room: f64) {
        let named: Vec<(usize, &Series)> = self.labelled().collect();
        let end = |(_, series): &(usize, &Series)| {
            let last = series.points.iter().rfind(|(_, y)| y.is_finite());
            let ends_there = matches!(series.mark, Mark::Line { .. } | Mark::Points);
            let (bottom, top) = plot.y.range();
            last.filter(|_| ends_there).map_or(f64::midpoint(top, bottom), |(_, y)| plot.y.at(*y))
        };
        let wanted: Vec<f64> = named.iter().map(end).collect();
        let (bottom, top) = plot.y.range();
        let places = apart(&wanted, LINE, (top, bottom));
        let x = plot.x.range().1 + 8.0;
        for ((k, series), y) in named.iter().zip(places) {
            let text = fitted(&series.name, SMALL, room);
            let letters = Letters::new(SMALL, self.colour(*k));
            plot.canvas.titled_text((x, y + 4.0), &text, letters, &series.name);
        }
    }
}

fn draw_series(plot: &mut Plot, series: &Series, colour: Colour, beside: Option<(usize, usize)>) {
    match &series.mark {
        Mark::Line { dashed } => draw_line(plot, series, colour, *dashed),
        Mark::Points => draw_points(plot, series, colour),
        Mark::Bars => draw_bars(plot, series, colour, beside.unwrap_or((0, 1))),
        Mark::Histogram { width } => draw_histogram(plot, series, colour, *width),
        Mark::Uprights => {
            let (bottom, top) = plot.y.range();
            for (x, _) in within(plot, &series.points) {
                let x = plot.x.at(x);
                plot.canvas.line((x, bottom), (x, top), Pen::new(colour, 1.2).dashed());
            }
        }
        Mark::Contours { columns, heights, levels } => {
            for level in levels {
                let place =
                    |(i, j): &(f64, f64)| plot.at(between(&series.points, *columns, *i, *j));
                let loops: Vec<Vec<(f64, f64)>> = contour::loops(heights, *columns, *level)
                    .iter()
                    .map(|points| points.iter().map(place).collect())
                    .collect();
                plot.canvas.hill(&loops, colour, 0.14, &format!("height {}", short(*level)));
            }
        }
        Mark::Regions { columns, classes } => draw_regions(plot, series, *columns, classes),
    }
}

/// Where a place between points of a grid lies; the places of the grid are counted from 0.
fn between(points: &[(f64, f64)], columns: usize, i: f64, j: f64) -> (f64, f64) {
    let rows = points.len() / columns.max(1);
    let part = |at: f64, count: usize, value: &dyn Fn(usize) -> f64| {
        let low = (at.floor().max(0.0) as usize).min(count.saturating_sub(1));
        let high = (low + 1).min(count.saturating_sub(1));
        value(low) + (at - low as f64) * (value(high) - value(low))
    };
    let x = part(i, columns, &|k| points[k].0);
    let y = part(j, rows, &|k| points[k * columns].1);
    (x, y)
}

/// The points that lie within the axes.
fn within(plot: &Plot, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (low, high) = plot.x.domain();
    let inside = |(x, _): &&(f64, f64)| (low..=high).contains(x);
    points.iter().filter(inside).copied().collect()
}

fn draw_line(plot: &mut Plot, series: &Series, colour: Colour, dashed: bool) {
    if let Some(errors) = &series.errors {
        let finite: Vec<((f64, f64), f64)> = series
            .points
            .iter()
            .copied()
            .zip(errors.iter().copied())
            .filter(|((_, y), error)| y.is_finite() && error.is_finite())
            .collect();
        let upper = finite.iter().map(|((x, y), error)| plot.at((*x, y + error)));
        let lower = finite.iter().rev().map(|((x, y), error)| plot.at((*x, y - error)));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        if finite.len() > 1 {
            plot.canvas.area(&band, Fill::new(colour).faded(0.15));
        }
    }
    let pen = Pen::new(colour, 2.0);
    plot.cut_curve(&series.points, if dashed { pen.dashed() } else { pen }, &series.name);
}

fn draw_whiskers(plot: &mut Plot, series: &Series, colour: Colour, shift: f64) {
    let Some(errors) = &series.errors else { return };
    for ((x, y), error) in series.points.iter().zip(errors) {
        if y.is_finite() && error.is_finite() {
            let ((x, top), (_, bottom)) = (plot.at((*x, y + error)), plot.at((*x, y - error)));
            plot.canvas.line((x + shift, top), (x + shift, bottom), Pen::new(colour, 1.2));
        }
    }
}

fn draw_points(plot: &mut Plot, series: &Series, colour: Colour) {
    draw_whiskers(plot, series, colour, 0.0);
    let (low, high) = plot.y.domain();
    let radius = if series.points.len() > 60 { 2.2 } else { 3.6 };
    for (x, y) in within(plot, &series.points) {
        if (low..=high).contains(&y) {
            let title = format!("{}: {}, {}", series.name, short(x), short(y));
            let title = title.trim_start_matches(": ");
            let at = plot.at((x, y));
            plot.canvas.dot(at, radius, Fill::new(colour).faded(0.8), title);
        }
    }
}

fn draw_bars(plot: &mut Plot, series: &Series, colour: Colour, (place, beside): (usize, usize)) {
    let step = (plot.x.at(1.0) - plot.x.at(0.0)).abs();
    let each = FILLED * step / beside as f64;
    let shift = each * (place as f64 + 0.5) - FILLED * step / 2.0;
    let zero = plot.y.at(0.0);
    for (x, y) in &series.points {
        if !y.is_finite() {
            continue;
        }
        let (middle, end) = plot.at((*x, *y));
        let left = middle + shift - each / 2.0 + 0.5;
        let title = format!("{}: {}", series.name, short(*y));
        let (top, height) = (zero.min(end), (zero - end).abs());
        plot.canvas.rect((left, top), (each - 1.0, height), Fill::new(colour).faded(0.85), &title);
    }
    draw_whiskers(plot, series, Colour::Ink, shift);
}

fn draw_histogram(plot: &mut Plot, series: &Series, colour: Colour, width: f64) {
    for (x, y) in &series.points {
        let ((left, top), (right, bottom)) =
            (plot.at((x - width / 2.0, *y)), plot.at((x + width / 2.0, 0.0)));
        let title = format!("{}: {}", short(*x), short(*y));
        let size = (right - left - 0.6, bottom - top);
        plot.canvas.rect((left, top), size, Fill::new(colour).faded(0.3), &title);
    }
}

fn draw_regions(plot: &mut Plot, series: &Series, columns: usize, classes: &[usize]) {
    let rows = series.points.len() / columns.max(1);
    if columns < 2 || rows < 2 {
        return;
    }
    let half = |a: f64, b: f64| (b - a).abs() / 2.0;
    let (dx, dy) = (
        half(series.points[0].0, series.points[1].0),
        half(series.points[0].1, series.points[columns].1),
    );
    for row in 0..rows {
        let mut from = 0;
        while from < columns {
            // Cells of one class beside one another are one rectangle.
            let class = classes[row * columns + from];
            let same = |k: &usize| classes[row * columns + k] == class;
            let to = (from..columns).take_while(same).last().unwrap_or(from);
            let ((x0, y), (x1, _)) =
                (series.points[row * columns + from], series.points[row * columns + to]);
            let ((left, top), (right, bottom)) =
                (plot.at((x0 - dx, y + dy)), plot.at((x1 + dx, y - dy)));
            let fill = Fill::new(Colour::Series(class)).faded(0.25);
            plot.canvas.rect((left, top), (right - left, bottom - top), fill, "");
            from = to + 1;
        }
    }
}
