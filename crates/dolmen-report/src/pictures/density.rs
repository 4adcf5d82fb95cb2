//! Densities: one column with members and data, two columns as contours, and kernels.

use dolmen::error::Result;
use dolmen::recipe::{DensityCurve, Profile, Sketch, Surface};
use dolmen::score::Histogram;
use dolmen::table::Kind as ColumnKind;

use super::mass::{View, Views, height_holding, if_possible};
use super::{Picture, columns_named, how_far, not_shown};
use crate::draw::{
    Canvas, Colour, Entry, Fill, Frame, Heading, KeyRoom, MARGIN, Pen, Plot, SMALL, Scale, Sign,
    capital, contour, counted, extent, short, width,
};
use crate::subject::Whole;
use crate::{ModelView, Options, Subject};

/// Points of a curve, one for about three pixels, and of a grid each way.
const POINTS: usize = 160;
const GRID: usize = 72;
/// Members that are drawn: as many as have a colour of their own beside the stack's.
const DRAWN: usize = 6;
/// Rows drawn as points, at most.
const MOST_POINTS: usize = 2000;
/// Bars of a histogram that must be on a picture to tell anything of the rows.
const FEWEST_BARS: f64 = 3.0;
/// How many times wider than all of them it may be.
const WIDEST: f64 = 10.0;
/// Contours smaller than this are marked by a dot, in pixels.
const TINY: f64 = 5.0;
/// The parts of the probability that contours hold.
const HELD: [f64; 5] = [0.95, 0.8, 0.6, 0.4, 0.2];
/// Room for the key at the right.
const KEY: f64 = 200.0;
/// What stands beside a name in the key: its stroke, its weight, and air.
const BESIDE_NAME: f64 = 36.0 + 34.0 + MARGIN;

/// The model and the number of its columns, if it is a density of numbers.
pub(super) fn density_of<'a>(subject: &Subject<'a>) -> Option<(ModelView<'a>, usize)> {
    let view = subject.model().filter(|view| !view.model.task().has_target())?;
    let fields = view.model.schema().fields();
    let is_numeric = fields.iter().all(|field| matches!(field.kind, ColumnKind::Numeric));
    is_numeric.then_some((view, fields.len()))
}

/// The column that is asked for, or the first.
fn chosen(view: &ModelView<'_>, options: &Options) -> Result<usize> {
    let hint = "the density of two columns is the picture 'contours'";
    Ok(named(view, options, 1, hint)?.first().copied().unwrap_or(0))
}

/// The columns that are asked for, at most so many.
fn named(view: &ModelView<'_>, options: &Options, most: usize, hint: &str) -> Result<Vec<usize>> {
    let Some(wanted) = &options.input else { return Ok(Vec::new()) };
    let fields = view.model.schema().fields().iter();
    let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
    columns_named(wanted, &names, most, hint)
}

/// The rows' histogram of a column, if it is known.
fn histogram<'a>(subject: &Subject<'a>, column: usize) -> Option<&'a Histogram> {
    match &subject.evidence()?.columns.get(column)?.sketch {
        Sketch::Numbers(histogram) => Some(histogram),
        Sketch::Levels(_) => None,
    }
}

/// What of a column is not between the ends that are looked at.
pub(super) fn beyond(subject: &Subject<'_>, column: usize, view: &View, name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if view.beyond > 0.0 {
        parts.push(format!("about {:.1} % of the probability of {name}", 100.0 * view.beyond));
    }
    let Some(histogram) = histogram(subject, column) else { return parts };
    // Bars that reach into the picture may have their rows there.
    let (low, high) = view.ends.into();
    let bars = bars(histogram).zip(&histogram.counts);
    let off: Vec<((f64, f64), usize)> = bars
        .map(|(ends, count)| (ends, *count))
        .filter(|((from, to), count)| *count > 0 && (*to <= low || *from >= high))
        .collect();
    let far_off = histogram.beyond.map_or(0, |own| own.total());
    let rows = off.iter().map(|(_, count)| count).sum::<usize>() + far_off;
    if rows > 0 {
        let [first, last] = histogram.beyond.map_or(histogram.range, |own| own.ends);
        let far = how_far((low - first).max(last - high), high - low);
        let total = counted(histogram.total(), "row");
        parts.push(format!("{rows} of {total}, by {name} {far}"));
    }
    parts
}

/// The ends of bars.
fn bars(histogram: &Histogram) -> impl Iterator<Item = (f64, f64)> {
    let ([low, _], width) = (histogram.range, bar_width(histogram));
    (0..histogram.counts.len())
        .map(move |k| (low + width * k as f64, low + width * (k as f64 + 1.0)))
}

fn bar_width(histogram: &Histogram) -> f64 {
    (histogram.range[1] - histogram.range[0]) / histogram.counts.len() as f64
}

/// The density of one column.
pub(super) fn curve(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, _)) = density_of(subject) else { return Ok(None) };
    let column = chosen(&view, options)?;
    let Some(views) = Views::of(view.model)? else { return Ok(None) };
    let Some(seen) = views.of_column(column, POINTS)? else { return Ok(None) };
    let Some(profile) = if_possible(views.profile(column, &seen, POINTS))? else {
        return Ok(None);
    };
    // Bars that fill the axis tell nothing, nor do those that stand on a spot of it: these would be many times as high as the curve.
    let tells = |own: &&Histogram| {
        let (axis, bar) = (seen.ends[1] - seen.ends[0], bar_width(own));
        axis >= FEWEST_BARS * bar && axis <= WIDEST * bar * own.counts.len() as f64
    };
    let histogram = histogram(subject, column).filter(tells);
    let whole = subject.whole();
    let parts = match whole {
        Whole::Member(name) => format!("The model, which is '{name}' alone"),
        _ if profile.members.len() < 2 => capital(whole.name()),
        _ => format!("{}, its members times their weights", capital(whole.name())),
    };
    let words = match histogram {
        Some(_) => format!("{parts}, and the rows as a histogram."),
        None => format!("{parts}."),
    };
    let mut off = beyond(subject, column, &seen, &profile.name);
    off.extend(undrawn(&view));
    off.extend(light_members(&profile));
    let words = format!("{words}{}", not_shown(&off));
    let title = format!("Density of {}", profile.name);
    let bars = histogram.map_or(0.0, |h| bar_heights(h).fold(0.0, f64::max));
    let mut plot = frame(&profile, Heading::new(&title, &words, options), bars, options);
    if let Some(histogram) = histogram {
        draw_histogram(&mut plot, histogram);
    }
    draw_curves(&mut plot, &profile, whole.name());
    draw_rug(&mut plot, &view, column);
    Ok(Some(plot.finish()))
}

/// A short line for each row that was given.
fn draw_rug(plot: &mut Plot, view: &ModelView<'_>, column: usize) {
    let Some(rows) = view.rows else { return };
    let ((low, high), bottom) = (plot.x.domain(), plot.y.range().0);
    let values = rows.rows().iter().map(|row| row[column]);
    for value in values.take(MOST_POINTS).filter(|value| (low..=high).contains(value)) {
        let x = plot.x.at(value);
        let pen = Pen::new(Colour::Ink, 1.0).faded(0.35);
        plot.canvas.line((x, bottom - 7.0), (x, bottom), pen);
    }
}

/// Rows that were given and are too many to be drawn.
pub(super) fn undrawn(view: &ModelView<'_>) -> Option<String> {
    let rows = view.rows?.rows().rows();
    (rows > MOST_POINTS).then(|| format!("all rows but the first {MOST_POINTS}, as single rows"))
}

fn frame(profile: &Profile, heading: Heading, least: f64, options: &Options) -> Plot {
    let highest = profile.stack.iter().copied().fold(least, f64::max);
    let ends = (profile.x[0], profile.x[profile.x.len() - 1]);
    let frame = Frame {
        x: ends,
        y: (0.0, if highest > 0.0 { 1.05 * highest } else { 1.0 }),
        key: Some(key_room(profile, options)),
        ..Frame::new(heading, &profile.name, "density")
    };
    frame.open(options)
}

/// The key is as wide as its longest name wants it, within bounds that leave the curves most of the picture.
fn key_room(profile: &Profile, options: &Options) -> KeyRoom {
    let named = profile.members.iter().map(|member| width(&member.name, SMALL));
    let longest = named.fold(0.0, f64::max);
    let beside = (longest + BESIDE_NAME).clamp(KEY, (0.4 * options.width).max(KEY));
    KeyRoom { beside, lines: 1 + shown_members(profile).len() }
}

/// The members that are drawn beside the whole, the heaviest first; none where one is all there is.
fn shown_members(profile: &Profile) -> Vec<&DensityCurve> {
    let mut members: Vec<&DensityCurve> = profile.members.iter().collect();
    members.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    members.truncate(if members.len() > 1 { DRAWN } else { 0 });
    members
}

/// The members that are not, as they have the least weight.
fn light_members(profile: &Profile) -> Option<String> {
    let more = profile.members.len().saturating_sub(DRAWN);
    (more > 0).then(|| format!("{} of no more weight than those named", counted(more, "member")))
}

/// Heights of bars whose whole area is 1.
fn bar_heights(histogram: &Histogram) -> impl Iterator<Item = f64> {
    let width = bar_width(histogram);
    let total = histogram.total().max(1) as f64;
    histogram.counts.iter().map(move |&count| count as f64 / total / width)
}

fn draw_histogram(plot: &mut Plot, histogram: &Histogram) {
    let (low, width) = (histogram.range[0], bar_width(histogram));
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

/// The members times their weights, and the whole; in the key the heaviest first.
fn draw_curves(plot: &mut Plot, profile: &Profile, whole: &str) {
    let members = shown_members(profile);
    let points = profile.x.iter().copied().zip(profile.stack.iter().copied());
    plot.curve(points, Pen::new(Colour::First, 3.2), whole);
    // Thinner and on top: a member that is nearly all of the whole would lie hidden behind it.
    for (k, member) in members.iter().enumerate().rev() {
        let points = profile.x.iter().zip(&member.values).map(|(x, v)| (*x, v * member.weight));
        let title = format!("{}, weight {}", member.name, short(member.weight));
        plot.curve(points, Pen::series(k + 1, 1.4), &title);
    }
    let own =
        Entry { is_bold: true, ..Entry::new(whole, Sign::Line(Pen::new(Colour::First, 3.0))) };
    let named = members.iter().enumerate().map(|(k, member)| Entry {
        before: format!("{:.2} ", member.weight),
        ..Entry::series(k + 1, &member.name)
    });
    plot.draw_key(&[own].into_iter().chain(named).collect::<Vec<_>>());
}

/// Two columns that are asked for (`first,second`), or the first two.
fn chosen_pair(view: &ModelView<'_>, options: &Options) -> Result<[usize; 2]> {
    let hint = "the densities of all columns and of every two are the picture 'pairs'";
    match named(view, options, 2, hint)?[..] {
        [first, second] => Ok([first, second]),
        [first] => Ok([first, usize::from(first == 0)]),
        _ => Ok([0, 1]),
    }
}

/// The density of two columns.
pub(super) fn contours(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, count)) = density_of(subject).filter(|(_, count)| *count > 1) else {
        return Ok(None);
    };
    let pair = chosen_pair(&view, options)?;
    let Some(views) = Views::of(view.model)? else { return Ok(None) };
    let [Some(across), Some(up)] =
        [views.of_column(pair[0], GRID)?, views.of_column(pair[1], GRID)?]
    else {
        return Ok(None);
    };
    let Some(surface) = if_possible(views.surface(pair, [&across, &up], GRID))? else {
        return Ok(None);
    };
    let [first, second] = &surface.names;
    let mut off = beyond(subject, pair[0], &across, first);
    off.extend(beyond(subject, pair[1], &up, second));
    off.extend(undrawn(&view));
    let others = if count > 2 { " All other columns are integrated out." } else { "" };
    let words = format!(
        "From the outermost line inwards {} gives 95, 80, 60, 40 and 20 % of the probability to what lies within.{others}{}",
        subject.whole().name(),
        not_shown(&off)
    );
    let frame = Frame {
        x: across.ends.into(),
        y: up.ends.into(),
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
    let (across, up) = (x.domain(), y.domain());
    let is_on =
        |(a, b): &(f64, f64)| (across.0..=across.1).contains(a) && (up.0..=up.1).contains(b);
    for (a, b) in points.take(MOST_POINTS).filter(is_on) {
        canvas.dot((x.at(a), y.at(b)), radius, Fill::new(Colour::Ink).faded(0.35), "");
    }
}

pub(super) fn draw_surface(
    canvas: &mut Canvas,
    surface: &Surface,
    (x, y): (&Scale, &Scale),
    is_titled: bool,
) {
    let width = surface.x.len();
    for share in HELD {
        let height = height_holding(surface, share);
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
        // A mass that is narrower than what can be seen is there all the same.
        for middle in loops.iter().filter_map(|own| speck(own)).filter(|_| share == HELD[0]) {
            canvas.dot(middle, TINY / 2.0, Fill::new(Colour::First), &title);
        }
    }
}

/// The middle of a loop that is too small to be seen.
fn speck(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (left, right) = extent(points.iter().map(|(x, _)| *x))?;
    let (top, bottom) = extent(points.iter().map(|(_, y)| *y))?;
    let is_small = right - left < TINY && bottom - top < TINY;
    is_small.then(|| (f64::midpoint(left, right), f64::midpoint(top, bottom)))
}

/// The value at a place between grid points, which need not be equally far apart.
fn between(values: &[f64], at: f64) -> f64 {
    let last = values.len() - 1;
    let below = (at.max(0.0) as usize).min(last);
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (at - below as f64)
}

/// The kernel that a stack's kernel members make together.
pub(super) fn kernel(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some((view, _)) = density_of(subject) else { return Ok(None) };
    let column = chosen(&view, options)?;
    let Some(profile) = view.model.effective_kernel(column, POINTS)? else { return Ok(None) };
    let words = match &profile.members[..] {
        [only] => format!(
            "What {} puts around each row: the kernel of '{}'.",
            subject.whole().name(),
            only.name
        ),
        _ => format!(
            "What {} puts around each row: the kernels of its members times their weights, and their sum.",
            subject.whole().name()
        ),
    };
    let words = format!("{words}{}", not_shown(light_members(&profile).as_slice()));
    let title = format!("Effective kernel of {}", profile.name);
    // Kernels stand around rows: the axis is how far off.
    let profile = Profile { name: format!("{}, less that of the row", profile.name), ..profile };
    let heading = Heading::new(&title, &words, options);
    let mut plot = frame(&profile, heading, 0.0, options);
    let whole = if profile.members.len() > 1 { "together" } else { subject.whole().name() };
    draw_curves(&mut plot, &profile, whole);
    Ok(Some(plot.finish()))
}
