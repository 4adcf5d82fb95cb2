//! Densities: one column with members and data, two columns as contours, all pairs, and kernels.

use dolmen::error::{Error, Result};
use dolmen::recipe::{DensityCurve, Profile, Sketch, Surface};
use dolmen::score::Histogram;
use dolmen::table::Kind as ColumnKind;

use super::Picture;
use crate::draw::{
    Canvas, Colour, Fill, Frame, Heading, Letters, MARGIN, Pen, Plot, SMALL, Scale, contour,
    counted, fitted, label_place, short, ticks_across, told_apart, width,
};
use crate::{ModelView, Options, Subject};

/// Points of a curve, and of a grid each way.
const POINTS: usize = 240;
const GRID: usize = 72;
const SMALL_GRID: usize = 40;
/// Letters of the numbers beside small plots.
const TINY: f64 = 10.0;
/// Members with a colour of their own.
const COLOURED: usize = 6;
/// Rows drawn as points, at most.
const MOST_POINTS: usize = 2000;
/// Columns of which all pairs are drawn, at most.
const MOST_PAIRS: usize = 6;
/// The parts of the probability that contours hold.
const HELD: [f64; 5] = [0.95, 0.8, 0.6, 0.4, 0.2];
/// Room for the key at the right.
const KEY: f64 = 200.0;
/// What stands beside a name in the key: its stroke, its weight, and air.
const BESIDE_NAME: f64 = 34.0 + 32.0 + MARGIN + 4.0;

/// The model and the number of its columns, if it is a density of numbers.
fn density_of<'a>(subject: &Subject<'a>) -> Option<(ModelView<'a>, usize)> {
    let view = subject.model().filter(|view| view.model.task() == "density")?;
    let fields = view.model.schema().fields();
    let is_numeric = fields.iter().all(|field| matches!(field.kind, ColumnKind::Numeric));
    is_numeric.then_some((view, fields.len()))
}

/// The column that is asked for, or the first.
fn chosen(view: &ModelView<'_>, options: &Options) -> Result<usize> {
    let Some(wanted) = &options.input else { return Ok(0) };
    let fields = view.model.schema().fields();
    fields.iter().position(|field| &field.name == wanted).ok_or_else(|| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        Error::param("input", names.join(", "), wanted)
    })
}

/// A picture of what the library can integrate; `None` where it cannot.
fn if_possible<V>(found: Result<V>) -> Result<Option<V>> {
    match found {
        Err(Error::Data { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// The density of one column.
pub(super) fn curve(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, _)) = density_of(subject) else { return Ok(None) };
    let column = chosen(&view, options)?;
    let profile = || view.model.profile(column, view.model.column_range(column)?, POINTS);
    let Some(profile) = if_possible(profile())? else { return Ok(None) };
    let histogram =
        subject.evidence().and_then(|evidence| match &evidence.columns.get(column)?.sketch {
            Sketch::Numbers(histogram) => Some(histogram),
            Sketch::Levels(_) => None,
        });
    let words = if histogram.is_some() {
        "The stack, its members times their weights, and the rows as a histogram."
    } else {
        "The stack, and its members times their weights."
    };
    let title = format!("Density of {}", profile.name);
    let bars = histogram.map_or(0.0, |h| bar_heights(h).fold(0.0, f64::max));
    let mut plot = frame(&profile, Heading::new(&title, words, options), bars, options);
    if let Some(histogram) = histogram {
        draw_histogram(&mut plot, histogram);
    }
    draw_curves(&mut plot, &profile, "the stack", options);
    if let Some(rows) = view.rows {
        let values = rows.rows().iter().map(|row| row[column]).filter(|v| v.is_finite());
        let bottom = plot.y.range().0;
        for value in values.take(MOST_POINTS) {
            let x = plot.x.at(value);
            plot.canvas.line(
                (x, bottom - 7.0),
                (x, bottom),
                Pen::new(Colour::Ink, 1.0).faded(0.35),
            );
        }
    }
    Ok(Some(plot.finish()))
}

fn frame(profile: &Profile, heading: Heading, least: f64, options: &Options) -> Plot {
    let highest = profile.stack.iter().copied().fold(least, f64::max);
    let ends = (profile.x[0], profile.x[profile.x.len() - 1]);
    let frame = Frame {
        x: ends,
        y: (0.0, if highest > 0.0 { 1.05 * highest } else { 1.0 }),
        right: key_width(profile, options),
        ..Frame::new(heading, &profile.name, "density")
    };
    frame.open(options)
}

/// How wide the key is: as its longest name wants it, within bounds that leave the curves most of the picture.
fn key_width(profile: &Profile, options: &Options) -> f64 {
    let named = profile.members.iter().map(|member| width(&member.name, SMALL));
    let longest = named.fold(0.0, f64::max);
    (longest + BESIDE_NAME).clamp(KEY, (0.4 * options.width).max(KEY))
}

/// Heights of bars whose whole area is 1.
fn bar_heights(histogram: &Histogram) -> impl Iterator<Item = f64> {
    let [low, high] = histogram.range;
    let width = (high - low) / histogram.counts.len() as f64;
    let total = histogram.total().max(1) as f64;
    histogram.counts.iter().map(move |&count| count as f64 / total / width)
}

fn draw_histogram(plot: &mut Plot, histogram: &Histogram) {
    let [low, high] = histogram.range;
    let width = (high - low) / histogram.counts.len() as f64;
    for (k, (height, count)) in bar_heights(histogram).zip(&histogram.counts).enumerate() {
        let from = low + width * k as f64;
        let ((left, top), (right, bottom)) =
            (plot.at((from, height)), plot.at((from + width, 0.0)));
        let title =
            format!("{} to {}: {}", short(from), short(from + width), counted(*count, "row"));
        let size = (right - left - 0.6, bottom - top);
        plot.canvas.rect((left, top), size, Fill::new(Colour::Muted).faded(0.22), &title);
    }
}

/// The members times their weights, and the whole; at the right the key, the heaviest first.
fn draw_curves(plot: &mut Plot, profile: &Profile, whole: &str, options: &Options) {
    let mut members: Vec<&DensityCurve> = profile.members.iter().collect();
    members.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let colour = |k: usize| if k < COLOURED { Colour::Series(k + 1) } else { Colour::Muted };
    if members.len() > 1 {
        for (k, member) in members.iter().enumerate().rev() {
            let points = profile.x.iter().zip(&member.values).map(|(x, v)| (*x, v * member.weight));
            let title = format!("{}, weight {}", member.name, short(member.weight));
            plot.curve(points, Pen::new(colour(k), 1.6), &title);
        }
    }
    let points = profile.x.iter().copied().zip(profile.stack.iter().copied());
    plot.curve(points, Pen::new(Colour::First, 2.8), whole);
    let key = key_width(profile, options);
    let (left, mut y) = (options.width - key + 16.0, plot.y.range().1 + 10.0);
    let room = key - MARGIN - 34.0;
    let mut entry = |name: &str, title: &str, colour: Colour, is_bold: bool| {
        plot.canvas.line((left, y - 4.0), (left + 14.0, y - 4.0), Pen::new(colour, 2.8));
        let letters = Letters::new(SMALL, Colour::Ink);
        let letters = if is_bold { letters.bold() } else { letters };
        plot.canvas.titled_text((left + 20.0, y), &fitted(name, SMALL, room), letters, title);
        y += 18.0;
    };
    entry(whole, whole, Colour::First, true);
    if members.len() > 1 {
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        let cut = told_apart(&names, SMALL, room - 32.0);
        for (k, (member, name)) in members.iter().zip(&cut).enumerate().take(COLOURED) {
            let title = format!("{}, weight {}", member.name, short(member.weight));
            entry(&format!("{:.2} {name}", member.weight), &title, colour(k), false);
        }
        if members.len() > COLOURED {
            let rest = format!("{} more", members.len() - COLOURED);
            entry(&rest, &rest, Colour::Muted, false);
        }
    }
}

/// Two columns that are asked for (`first,second`), or the first two.
fn chosen_pair(view: &ModelView<'_>, options: &Options) -> Result<[usize; 2]> {
    let Some(wanted) = &options.input else { return Ok([0, 1]) };
    let one =
        |name: &str| chosen(view, &Options { input: Some(name.trim().into()), ..options.clone() });
    match wanted.split_once(',') {
        Some((first, second)) => Ok([one(first)?, one(second)?]),
        None => {
            let first = one(wanted)?;
            Ok([first, usize::from(first == 0)])
        }
    }
}

/// The density of two columns.
pub(super) fn contours(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, count)) = density_of(subject).filter(|(_, count)| *count > 1) else {
        return Ok(None);
    };
    let pair = chosen_pair(&view, options)?;
    let surface = || {
        let ranges = [view.model.column_range(pair[0])?, view.model.column_range(pair[1])?];
        view.model.surface(pair, ranges, GRID)
    };
    let Some(surface) = if_possible(surface())? else { return Ok(None) };
    let others = if count > 2 { " All other columns are integrated out." } else { "" };
    let words = format!(
        "From the outermost line inwards the stack gives 95, 80, 60, 40 and 20 % of the probability to what lies within.{others}"
    );
    let [first, second] = &surface.names;
    let frame = Frame {
        x: (surface.x[0], surface.x[GRID - 1]),
        y: (surface.y[0], surface.y[GRID - 1]),
        height: 440.0,
        ..Frame::new(
            Heading::new(&format!("Density of {first} and {second}"), &words, options),
            first,
            second,
        )
    };
    let mut plot = frame.open(options);
    let (x, y) = (plot.x, plot.y);
    draw_points(&mut plot.canvas, &view, pair, (&x, &y), 2.2);
    draw_surface(&mut plot.canvas, &surface, (&x, &y), true);
    Ok(Some(plot.finish()))
}

pub(super) fn draw_points(
    canvas: &mut Canvas,
    view: &ModelView<'_>,
    pair: [usize; 2],
    (x, y): (&Scale, &Scale),
    radius: f64,
) {
    let Some(rows) = view.rows else { return };
    let points = rows.rows().iter().map(|row| (row[pair[0]], row[pair[1]]));
    for (a, b) in points.filter(|(a, b)| a.is_finite() && b.is_finite()).take(MOST_POINTS) {
        canvas.dot((x.at(a), y.at(b)), radius, Fill::new(Colour::Ink).faded(0.35), "");
    }
}

fn draw_surface(canvas: &mut Canvas, surface: &Surface, (x, y): (&Scale, &Scale), is_titled: bool) {
    let width = surface.x.len();
    for share in HELD {
        let height = surface.height_holding(share);
        let place =
            |(i, j): &(f64, f64)| (x.at(between(&surface.x, *i)), y.at(between(&surface.y, *j)));
        let loops: Vec<Vec<(f64, f64)>> = contour::loops(&surface.values, width, height)
            .iter()
            .map(|points| points.iter().map(place).collect())
            .collect();
        let title = if is_titled {
            format!("{:.0} % of the probability", 100.0 * share)
        } else {
            String::new()
        };
        canvas.hill(&loops, Colour::First, 0.15, &title);
    }
}

/// The value at a place between grid points.
fn between(values: &[f64], at: f64) -> f64 {
    let last = values.len() - 1;
    values[0] + (values[last] - values[0]) * at / last as f64
}

/// Every column on the diagonal, every two below it.
pub(super) fn pairs(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, count)) = density_of(subject).filter(|(_, n)| (2..=MOST_PAIRS).contains(n))
    else {
        return Ok(None);
    };
    let words = "On the diagonal the density of each column; below it that of each two, as lines that hold 95, 80, 60, 40 and 20 % of the probability.";
    let heading = Heading::new("Every two columns", words, options);
    let top = heading.height();
    let ranges = (0..count).map(|j| view.model.column_range(j));
    let Some(ranges) = if_possible(ranges.collect::<Result<Vec<_>>>())? else { return Ok(None) };
    let room = (options.width - 6.0 * MARGIN) / count as f64;
    let ticks = |j: usize| {
        let x = Scale::linear(ranges[j].into(), (0.0, room));
        ticks_across(&x, room / 4.0, TINY, (0.0, room))
    };
    let labels = (1..count).flat_map(|j| ticks(j).into_iter().map(|(_, label)| label));
    let widest = labels.map(|label| width(&label, TINY)).fold(0.0, f64::max);
    let (left, gap) = (MARGIN + 26.0 + widest, 8.0);
    let cell = (options.width - left - MARGIN) / count as f64;
    let mut canvas = Canvas::new(options.width, top + cell * count as f64 + 44.0, options);
    heading.draw(&mut canvas);
    let letters = Letters::new(SMALL, Colour::Muted).middle();
    for row in 0..count {
        let (from, to) = (top + cell * row as f64, top + cell * (row + 1) as f64 - gap);
        let name = &view.model.schema().fields()[row].name;
        let room = cell - 2.0 * gap;
        canvas.upright_text(
            (MARGIN + 12.0, f64::midpoint(from, to)),
            &fitted(name, SMALL, room),
            letters,
        );
        let middle = left + cell * (row as f64 + 0.5) - gap / 2.0;
        canvas.text(
            (middle, top + cell * count as f64 + 26.0),
            &fitted(name, SMALL, room),
            letters,
        );
        let across = Scale::linear(
            ranges[row].into(),
            (left + cell * row as f64, left + cell * (row + 1) as f64 - gap),
        );
        let tiny = Letters::new(TINY, Colour::Muted);
        for (value, label) in ticks(row) {
            let at = label_place(across.at(value), &label, TINY, across.range());
            canvas.text((at, top + cell * count as f64 + 6.0), &label, tiny.middle());
            if row > 0 {
                let up = Scale::linear(ranges[row].into(), (to, from));
                canvas.text((left - 4.0, up.at(value) + 3.5), &label, tiny.end());
            }
        }
        for column in 0..=row {
            let (start, end) =
                (left + cell * column as f64, left + cell * (column + 1) as f64 - gap);
            canvas.rect(
                (start, from),
                (end - start, to - from),
                Fill::new(Colour::Faint).faded(0.35),
                "",
            );
            let x = Scale::linear(ranges[column].into(), (start, end));
            if row == column {
                let Some(profile) = if_possible(view.model.profile(row, ranges[row], 90))? else {
                    return Ok(None);
                };
                let highest = profile.stack.iter().copied().fold(0.0, f64::max);
                let y = Scale::linear((0.0, 1.1 * highest), (to, from));
                let places =
                    profile.x.iter().zip(&profile.stack).map(|(v, d)| (x.at(*v), y.at(*d)));
                canvas.path(&places.collect::<Vec<_>>(), Pen::new(Colour::First, 2.0), name);
            } else {
                let pair = [column, row];
                let surface = view.model.surface(pair, [ranges[column], ranges[row]], SMALL_GRID);
                let Some(surface) = if_possible(surface)? else { return Ok(None) };
                let y = Scale::linear(ranges[row].into(), (to, from));
                draw_points(&mut canvas, &view, pair, (&x, &y), 1.2);
                draw_surface(&mut canvas, &surface, (&x, &y), false);
            }
        }
    }
    Ok(Some(heading.finish(canvas)))
}

/// The kernel that a stack's kernel members make together.
pub(super) fn kernel(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, _)) = density_of(subject) else { return Ok(None) };
    let column = chosen(&view, options)?;
    let Some(profile) = view.model.effective_kernel(column, POINTS)? else { return Ok(None) };
    let words = "What the stack puts around each row: the kernels of its members times their weights, and their sum.";
    let title = format!("Effective kernel of {}", profile.name);
    let heading = Heading::new(&title, words, options);
    let mut plot = frame(&profile, heading, 0.0, options);
    draw_curves(&mut plot, &profile, "together", options);
    Ok(Some(plot.finish()))
}
