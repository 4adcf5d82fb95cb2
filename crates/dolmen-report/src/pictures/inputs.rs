//! The inputs: how much each matters, and how predictions move with it.

use std::borrow::Cow;

use dolmen::error::{Error, Result};
use dolmen::evaluate::explain::{Dependence, InputImportance, OutputCurve};
use dolmen::recipe::Evidence;

use super::classes;
use super::members::{NINETY, around};
use super::{Picture, not_shown};
use crate::draw::{
    Colour, Entry, Fill, Frame, Heading, KeyRoom, Lane, Lanes, Mark, Pen, Plot, Sign, counted,
    extent, padded, short, signed, trimmed,
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
fn chosen<'a>(evidence: &'a Evidence, options: &Options) -> Result<Option<Cow<'a, Dependence>>> {
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
    Err(if is_class {
        error.with_hint(format!(
            "'{wanted}' is a class; its curve alone is drawn by naming an input, too: '{},{wanted}'",
            names[0]
        ))
    } else {
        error.suggesting(wanted, names)
    })
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

/// How predictions move with an input.
pub(super) fn dependence(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(evidence) = subject.evidence() else { return Ok(None) };
    let Some(found) = chosen(evidence, options)? else { return Ok(None) };
    let found = &*found;
    let is_single = found.outputs.len() == 1;
    // Single rows are nobody's business but the one's who asks for them.
    let is_given = subject.model().is_some_and(|view| view.rows.is_some());
    let with_rows = options.single_rows || is_given;
    let shown = |k: usize| {
        let curve = &found.outputs[k];
        let own = curve.mean.iter().copied();
        let single = curve.single.iter().flatten().copied().filter(move |_| with_rows);
        let middle = curve.middle.iter().flatten().copied().filter(move |_| is_single);
        own.chain(single).chain(middle).collect::<Vec<f64>>()
    };
    let all: Vec<f64> = (0..found.outputs.len()).flat_map(shown).collect();
    // Probabilities are never far off.
    let is_number = found.outputs.iter().all(|curve| curve.name.is_empty());
    let ends = if is_number { trimmed } else { extent }(all.iter().copied());
    let Some(ends) = ends else { return Ok(None) };
    let name = match (subject.model().and_then(|view| view.model.target()), &found.outputs[..]) {
        (Some(target), [only]) if only.name.is_empty() => format!("predicted {target}"),
        (_, [only]) => format!("probability of {}", only.name),
        _ => "probability".into(),
    };
    let far = all.into_iter().filter(|v| v.is_finite() && (*v < ends.0 || *v > ends.1));
    let far = far.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let off = far.map(|far| format!("predictions as far off as {}", short(far)));
    let words = format!(
        "{}{}",
        dependence_words(found, with_rows, classes::count(subject, evidence)),
        not_shown(off.as_slice())
    );
    let domain = match &found.levels {
        Some(levels) => (-0.5, levels.len() as f64 - 0.5),
        None => extent(found.values.iter().copied()).unwrap_or((0.0, 1.0)),
    };
    let frame = Frame {
        x: domain,
        y: padded(ends, 0.05),
        right: 40.0,
        key: (!is_single).then_some(KeyRoom { beside: KEY, lines: found.outputs.len() }),
        x_levels: found.levels.as_deref(),
        ..Frame::new(
            Heading::new(&format!("How predictions move with {}", found.name), &words, options),
            &found.name,
            &name,
        )
    };
    let mut plot = frame.open(options);
    let place = |(k, curve): (usize, &OutputCurve)| classes::series(subject, &curve.name, k);
    let places: Vec<usize> = found.outputs.iter().enumerate().map(place).collect();
    for (&k, curve) in places.iter().zip(&found.outputs) {
        if is_single {
            draw_middle(&mut plot, found, curve, Colour::Series(k));
        }
        for row in curve.single.iter().filter(|_| with_rows) {
            let points: Vec<(f64, f64)> =
                found.values.iter().copied().zip(row.iter().copied()).collect();
            let colour = if is_single { Colour::Muted } else { Colour::Series(k) };
            plot.cut_curve(&points, Pen::new(colour, 1.0).faded(0.3), "");
        }
        draw_mean(&mut plot, found, curve, k);
    }
    if !is_single {
        // Of levels there are dots alone.
        let sign = |k: usize| match found.levels {
            Some(_) => Sign::Dot(k),
            None => Sign::Line(Pen::series(k, 3.0)),
        };
        let named = places.iter().zip(&found.outputs);
        let entries = named.map(|(k, curve)| Entry::new(&curve.name, sign(*k)));
        plot.draw_key(&entries.collect::<Vec<_>>());
    }
    Ok(Some(plot.finish()))
}

/// What is to be seen of how predictions move, where there are so many classes.
fn dependence_words(found: &Dependence, with_rows: bool, classes: usize) -> String {
    let (is_single, rows) = (found.outputs.len() == 1, counted(found.rows, "row"));
    let mut words = format!(
        "The mean prediction of {rows} if this input had another value and all others stayed as they are."
    );
    let band = if found.levels.is_some() { "Whiskers hold" } else { "The band holds" };
    words += &match (with_rows, is_single) {
        (true, true) => format!(" {band} the middle 80 % of them; thin lines are single rows."),
        (true, false) => " Thin lines are single rows.".into(),
        (false, true) => format!(" {band} the middle 80 % of them."),
        (false, false) => String::new(),
    };
    if let (Some(levels), more @ 1..) = (&found.levels, found.levels_left_out) {
        let (shown, all) = (levels.len(), levels.len() + more);
        words += &format!(" Shown are the {shown} most frequent of {all} levels.");
    }
    if !is_single && found.outputs.len() < classes {
        words += &format!(
            " Shown are the {} most frequent of {classes} classes; of the others no curves are kept.",
            found.outputs.len()
        );
    }
    words
}

/// Between which predictions most rows lie: a band, or of levels, between which there is nothing, a whisker for each.
fn draw_middle(plot: &mut Plot, found: &Dependence, curve: &OutputCurve, colour: Colour) {
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

fn draw_mean(plot: &mut Plot, found: &Dependence, curve: &OutputCurve, k: usize) {
    let points = || found.values.iter().copied().zip(curve.mean.iter().copied());
    let name = if curve.name.is_empty() { "mean prediction" } else { &curve.name };
    if found.levels.is_none() {
        let points: Vec<(f64, f64)> = points().collect();
        plot.cut_curve(&points, Pen::series(k, 2.6), name);
    }
    let (low, high) = plot.y.domain();
    for (i, (value, mean)) in points().enumerate().filter(|(_, (_, m))| (low..=high).contains(m)) {
        let at = plot.at((value, mean));
        let value = match &found.levels {
            Some(levels) => levels[i].clone(),
            None => short(value),
        };
        let [low, high] = curve.middle[i];
        let title = format!(
            "{} {value}: {} on average, of 80 % of the rows between {} and {}",
            found.name,
            short(mean),
            short(low),
            short(high)
        );
        let radius = if found.levels.is_some() { 4.2 } else { 3.2 };
        plot.draw_dot(k, at, radius, &title);
    }
}
