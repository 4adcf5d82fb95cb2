//! The inputs: how much each matters, and how predictions move with it.

use std::borrow::Cow;

use dolmen::error::{Error, Result};
use dolmen::evaluate::explain::{Dependence, InputImportance, MISSING, MissingNumber, OutputCurve};
use dolmen::recipe::Evidence;

use super::classes;
use super::members::{NINETY, around};
use super::{Picture, not_shown};
use crate::draw::{
    self, ASIDE, Colour, Entry, Fill, Frame, Heading, KeyRoom, Lane, Lanes, Mark, PANEL_HEIGHT,
    Pen, Plot, Sign, counted, extent, padded, short, signed, trimmed,
};
use crate::{Options, Subject};

/// Room for the names of classes.
const KEY: f64 = 170.0;

/// What the stack loses when an input is shuffled.
pub(super) fn importance(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let importance =
        subject.evidence()?.importance.as_ref().filter(|found| !found.inputs.is_empty())?;
    let lane = |input: &InputImportance| {
        let loss = input.loss;
        let interval = around(&loss, NINETY);
        let columns = if input.columns.len() > 1 {
            format!(" (columns {})", input.columns.join(", "))
        } else {
            String::new()
        };
        let se = loss.se.map_or_else(String::new, |se| format!(", standard error {}", short(se)));
        Lane {
            interval,
            title: format!("{}{columns}: {}{se}", input.name, signed(loss.mean)),
            colour: if loss.mean > 0.0 { Colour::First } else { Colour::Muted },
            ..Lane::new(&input.name, loss.mean, short(loss.mean))
        }
    };
    let lanes: Vec<Lane> = importance.inputs.iter().map(lane).collect();
    let ends = lanes
        .iter()
        .flat_map(|lane| [lane.value].into_iter().chain(lane.interval.into_iter().flatten()));
    let (low, high) = extent(ends.chain([0.0]))?;
    let words = format!(
        "What the mean score loses when an input is shuffled among {} that {}, {}; whiskers are 90 % intervals.",
        counted(importance.rows, "row"),
        if subject.knows_rows() {
            "look like those it was fitted to"
        } else {
            "the fits had not seen"
        },
        counted(importance.repeats, "time")
    );
    let picture = Lanes {
        heading: Heading::new("How much each input matters", &words, options),
        mark: Mark::Bar,
        domain: (low, high),
        x_name: subject.loss_name(),
        things: "inputs",
        line: None,
    };
    Some(picture.draw(&lanes, options))
}

/// The input that is asked for, or the most important one; with `INPUT,CLASS` the curve of that class alone.
fn chosen<'a>(
    subject: &Subject<'_>,
    evidence: &'a Evidence,
    options: &Options,
) -> Result<Option<Cow<'a, Dependence>>> {
    let all = &evidence.dependence;
    let (Some(wanted), false) = (&options.input, all.is_empty()) else {
        return Ok(all.first().map(Cow::Borrowed));
    };
    let find = |name: &str| all.iter().find(|own| own.name == name.trim());
    if let Some(own) = find(wanted) {
        return Ok(Some(Cow::Borrowed(own)));
    }
    if let Some((own, class)) =
        wanted.rsplit_once(',').and_then(|(name, class)| Some((find(name)?, class.trim())))
    {
        return of_class(own, class).map(Cow::Owned).map(Some);
    }
    let names: Vec<&str> = all.iter().map(|own| own.name.as_str()).collect();
    let error = Error::param("input", names.join(", "), wanted);
    let is_class = all[0].outputs.iter().any(|curve| &curve.name == wanted);
    Err(if is_input(subject, wanted) {
        let cure = if subject.model().is_some_and(|view| view.score.is_some()) {
            "curves are kept of the inputs that matter most"
        } else {
            "--data FILE makes one if it matters there"
        };
        error.with_hint(format!("'{wanted}' is an input, but no curve was kept of it; {cure}"))
    } else if is_class {
        error.with_hint(format!(
            "'{wanted}' is a class; its curve alone is drawn by naming an input, too: '{},{wanted}'",
            names[0]
        ))
    } else {
        error.suggesting(wanted, names)
    })
}

/// Whether a model has an input of this name.
fn is_input(subject: &Subject<'_>, name: &str) -> bool {
    let fields = subject.model().map_or(&[][..], |view| view.model.schema().fields());
    fields.iter().any(|field| field.name == name.trim())
}

/// How the probability of one class moves.
fn of_class(own: &Dependence, class: &str) -> Result<Dependence> {
    let curve = own.outputs.iter().find(|curve| curve.name == class).ok_or_else(|| {
        let names: Vec<&str> = own.outputs.iter().map(|curve| curve.name.as_str()).collect();
        let expected = match names[..] {
            [""] => "an input alone: numbers have no classes".into(),
            _ => format!("an input and a class with a curve: {}", names.join(", ")),
        };
        Error::param("input", expected, format!("{},{class}", own.name)).suggesting(class, names)
    })?;
    Ok(Dependence { outputs: vec![curve.clone()], ..own.clone() })
}

/// Curves of classes that share their axes, at most.
const FEW_CURVES: usize = 4;
/// The least width of the plot of one class: the names of some levels stand below it.
const PANEL: f64 = 200.0;
/// How far the dots of two classes stand apart at the same level, in pixels.
const DODGE: f64 = 11.0;

/// How predictions move with one input, as it is drawn.
struct Moves<'a> {
    found: &'a Dependence,
    /// The series of each curve.
    places: Vec<usize>,
    /// The ends of y.
    ends: (f64, f64),
    /// Whether single rows are drawn.
    with_rows: bool,
}

/// How predictions move with an input.
pub(super) fn dependence(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(evidence) = subject.evidence() else { return Ok(None) };
    let Some(found) = chosen(subject, evidence, options)? else { return Ok(None) };
    let found = &*found;
    let is_apart = found.outputs.len() == 1 || found.outputs.len() > FEW_CURVES;
    // Single rows are nobody's business but the one's who asks for them.
    let is_given = subject.model().is_some_and(|view| view.rows.is_some());
    let with_rows = options.single_rows || is_given;
    let shown = |curve: &OutputCurve| {
        let own = curve.mean.iter().copied().chain(curve.missing.map(|own| own.mean));
        let single = curve.single.iter().flatten().copied().filter(move |_| with_rows);
        let missing = curve.missing.iter().flat_map(|own| own.middle);
        let middle = curve.middle.iter().flatten().copied().chain(missing);
        own.chain(single).chain(middle.filter(move |_| is_apart)).collect::<Vec<f64>>()
    };
    let all: Vec<f64> = found.outputs.iter().flat_map(shown).collect();
    // Probabilities are never far off.
    let is_number = found.outputs.iter().all(|curve| curve.name.is_empty());
    let ends = if is_number { trimmed } else { extent }(all.iter().copied());
    let Some(ends) = ends.map(|ends| if is_number { ends } else { to_the_bounds(ends) }) else {
        return Ok(None);
    };
    let far = all.into_iter().filter(|v| v.is_finite() && (*v < ends.0 || *v > ends.1));
    let far = far.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let off = far.map(|far| format!("predictions as far off as {}", short(far)));
    let words = format!(
        "{}{}",
        dependence_words(found, is_apart, with_rows, classes::count(subject, evidence)),
        not_shown(off.as_slice())
    );
    let heading =
        Heading::new(&format!("How predictions move with {}", found.name), &words, options);
    let place = |(k, curve): (usize, &OutputCurve)| classes::series(subject, &curve.name, k);
    let places = found.outputs.iter().enumerate().map(place).collect();
    let moves = Moves { found, places, ends, with_rows };
    let target = subject.model().and_then(|view| view.model.target());
    let name = match (target, &found.outputs[..]) {
        (Some(target), [only]) if only.name.is_empty() => format!("predicted {target}"),
        (_, [only]) => format!("probability of {}", only.name),
        _ => "probability".into(),
    };
    Ok(Some(match found.outputs.len() {
        1 => {
            let frame = Frame { right: 40.0, ..Frame::new(heading, &found.name, &name) };
            moves.one(0, frame, options).finish()
        }
        2..=FEW_CURVES => moves.together(Frame::new(heading, &found.name, &name), options),
        _ => moves.one_by_one(&heading, options),
    }))
}

/// The ends of probabilities, those near 0 or 1 moved there: an axis that begins or ends just beside its bound has no number at it.
fn to_the_bounds((low, high): (f64, f64)) -> (f64, f64) {
    let near = 0.1 * (high - low);
    (if low < near { 0.0 } else { low }, if 1.0 - high < near { 1.0 } else { high })
}

impl Moves<'_> {
    /// The axes, and what stands aside of them.
    fn open(&self, frame: Frame<'_>, options: &Options) -> Plot {
        let found = self.found;
        let x = match &found.levels {
            Some(levels) => (-0.5, levels.len() as f64 - 0.5),
            None => extent(found.values.iter().copied()).unwrap_or((0.0, 1.0)),
        };
        let (x_levels, y) = (found.levels.as_deref(), padded(self.ends, 0.05));
        let x_aside = self.has_aside().then_some(MISSING);
        Frame { x, y, x_levels, x_aside, ..frame }.open(options)
    }

    fn has_aside(&self) -> bool {
        self.found.outputs.iter().any(|curve| curve.missing.is_some())
    }

    /// One curve alone, with what most rows have.
    fn one(&self, k: usize, frame: Frame<'_>, options: &Options) -> Plot {
        let mut plot = self.open(frame, options);
        let (curve, series) = (&self.found.outputs[k], self.places[k]);
        draw_middle(&mut plot, self.found, curve, Colour::Series(series));
        self.draw_rows(&mut plot, curve, Colour::Muted);
        draw_mean(&mut plot, self.found, curve, series, 0.0);
        plot
    }

    /// A few curves on the same axes. Dots of a level stand side by side.
    fn together(&self, frame: Frame<'_>, options: &Options) -> String {
        let outputs = &self.found.outputs;
        let key = Some(KeyRoom { beside: KEY, lines: outputs.len() });
        let mut plot = self.open(Frame { key, ..frame }, options);
        let middle = (outputs.len() - 1) as f64 / 2.0;
        for (i, (&k, curve)) in self.places.iter().zip(outputs).enumerate() {
            self.draw_rows(&mut plot, curve, Colour::Series(k));
            let dodge = if self.found.levels.is_some() { DODGE * (i as f64 - middle) } else { 0.0 };
            draw_mean(&mut plot, self.found, curve, k, dodge);
        }
        // Of levels there are dots alone.
        let sign = |k: usize| match self.found.levels {
            Some(_) => Sign::Dot(k),
            None => Sign::Line(Pen::series(k, 3.0)),
        };
        let named = self.places.iter().zip(outputs);
        let entries = named.map(|(k, curve)| Entry::new(&curve.name, sign(*k)));
        plot.draw_key(&entries.collect::<Vec<_>>());
        plot.finish()
    }

    /// Each class by itself, all with the same axes: on one the curves of many hide one another.
    fn one_by_one(&self, heading: &Heading, options: &Options) -> String {
        let outputs = self.found.outputs.iter();
        let named: Vec<(&str, String)> =
            outputs.map(|curve| (curve.name.as_str(), String::new())).collect();
        let least = PANEL + if self.has_aside() { ASIDE } else { 0.0 };
        draw::one_by_one(&named, least, heading, options, |k, heading, inner| {
            let frame = Frame::new(heading, &self.found.name, "probability");
            self.one(k, Frame { height: PANEL_HEIGHT, ..frame }, inner)
        })
    }

    fn draw_rows(&self, plot: &mut Plot, curve: &OutputCurve, colour: Colour) {
        for row in curve.single.iter().filter(|_| self.with_rows) {
            let values = self.found.values.iter().copied();
            let points: Vec<(f64, f64)> = values.zip(row.iter().copied()).collect();
            plot.cut_curve(&points, Pen::new(colour, 1.0).faded(0.3), "");
        }
    }
}

/// What is to be seen of how predictions move, where there are so many classes.
fn dependence_words(found: &Dependence, is_apart: bool, with_rows: bool, classes: usize) -> String {
    let rows = counted(found.rows, "row");
    let mut words = format!(
        "The mean prediction of {rows} if this input had another value and all others stayed as they are."
    );
    let band = if found.levels.is_some() { "Whiskers hold" } else { "The band holds" };
    words += &match (with_rows, is_apart) {
        (true, true) => format!(" {band} the middle 80 % of them; thin lines are single rows."),
        (true, false) => " Thin lines are single rows.".into(),
        (false, true) => format!(" {band} the middle 80 % of them."),
        (false, false) => String::new(),
    };
    if let (Some(levels), more @ 1..) = (&found.levels, found.levels_left_out) {
        // That of rows without one is no level.
        let missing = usize::from(levels.last().is_some_and(|last| last.contains(MISSING)));
        let (shown, all) = (levels.len() - missing, levels.len() - missing + more);
        words += &format!(" Shown are the {shown} most frequent of {all} levels.");
    }
    if found.outputs.len() > 1 && found.outputs.len() < classes {
        words += &format!(
            " Shown are the {} most frequent of {classes} classes; of the others no curves are kept.",
            found.outputs.len()
        );
    }
    words
}

/// Between which predictions most rows lie: a band, or of levels, between which there is nothing, a whisker for each.
fn draw_middle(plot: &mut Plot, found: &Dependence, curve: &OutputCurve, colour: Colour) {
    if let (Some(x), Some(MissingNumber { middle, .. })) = (plot.aside, &curve.missing) {
        let [from, to] = middle.map(|end| (x, plot.y.at(end)));
        plot.canvas.line(from, to, Pen::new(colour, 6.0).faded(0.2));
    }
    if found.levels.is_some() {
        for (value, [low, high]) in found.values.iter().zip(&curve.middle) {
            let (from, to) = (plot.at((*value, *low)), plot.at((*value, *high)));
            plot.canvas.line(from, to, Pen::new(colour, 6.0).faded(0.2));
        }
        return;
    }
    let side = |end: usize| found.values.iter().zip(&curve.middle).map(move |(x, m)| (*x, m[end]));
    let there = side(1).collect::<Vec<_>>().into_iter();
    let back = side(0).collect::<Vec<_>>().into_iter().rev();
    let around: Vec<(f64, f64)> = there.chain(back).map(|point| plot.at(point)).collect();
    plot.canvas.area(&around, Fill::new(colour).faded(0.14));
}

/// The means, so far to the right of their values.
fn draw_mean(plot: &mut Plot, found: &Dependence, curve: &OutputCurve, k: usize, dodge: f64) {
    let points = || found.values.iter().copied().zip(curve.mean.iter().copied());
    let name = if curve.name.is_empty() { "mean prediction" } else { &curve.name };
    if found.levels.is_none() {
        let points: Vec<(f64, f64)> = points().collect();
        plot.cut_curve(&points, Pen::series(k, 2.6), name);
    }
    let radius = if found.levels.is_some() { 4.2 } else { 3.2 };
    let (axis, aside) = (plot.x, plot.aside);
    let mut dot = |x: f64, value: &str, mean: f64, [low, high]: [f64; 2]| {
        let (least, most) = plot.y.domain();
        if !(least..=most).contains(&mean) {
            return;
        }
        let title = format!(
            "{} {value}: {} on average, of 80 % of the rows between {} and {}",
            found.name,
            short(mean),
            short(low),
            short(high)
        );
        plot.draw_dot(k, (x + dodge, plot.y.at(mean)), radius, &title);
    };
    for (i, (value, mean)) in points().enumerate() {
        let named = match &found.levels {
            Some(levels) => levels[i].clone(),
            None => short(value),
        };
        dot(axis.at(value), &named, mean, curve.middle[i]);
    }
    if let (Some(x), Some(MissingNumber { mean, middle })) = (aside, curve.missing) {
        dot(x, MISSING, mean, middle);
    }
}
