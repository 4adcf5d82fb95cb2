//! Whether probabilities mean what they say: predicted ones against how often they came true, class by class.

use dolmen::recipe::Basis;
use dolmen::score::curves::{ClassCurve, ReliabilityBin};

use super::Picture;
use super::calibration::rows_words;
use super::classes::{series, shown, which};
use super::members::NINETY;
use crate::draw::{
    self, Colour, Entry, Fill, Frame, Heading, KeyRoom, Letters, MARGIN, PANEL_HEIGHT, Pen, Plot,
    SMALL, counted, short, width,
};
use crate::{Options, Subject};

/// Predicted probabilities against how often they came true.
pub(super) fn reliability(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(evidence) = subject.evidence() else { return Ok(None) };
    let Some(classes) = &evidence.classes else { return Ok(None) };
    let curves = shown(classes, options)?;
    if curves.iter().all(|curve| curve.reliability.is_empty()) {
        return Ok(None);
    }
    let before = match (evidence.basis, subject.stack().and_then(|s| s.calibration.as_ref())) {
        (Basis::NewRows, _) | (_, None) => "",
        _ => ", before calibration",
    };
    let words = format!(
        "{}{before}, in bins of like probabilities. {}; whiskers are 90 % intervals, {}. On the line a probability means what it says; below it, it promises too much.",
        rows_words(subject, evidence),
        which(subject, evidence, &curves),
        counts_words(&curves)
    );
    let heading = Heading::new("Do probabilities mean what they say?", &words, options);
    let place = |(k, curve): (usize, &&ClassCurve)| series(subject, &curve.class, k);
    let places: Vec<usize> = curves.iter().enumerate().map(place).collect();
    Ok(Some(if curves.len() > FEW_CURVES {
        one_by_one(&curves, &places, &heading, options)
    } else {
        together(&curves, &places, heading, options)
    }))
}

/// Curves on the same axes, each with its series.
fn together(
    curves: &[&ClassCurve],
    places: &[usize],
    heading: Heading,
    options: &Options,
) -> String {
    let class = if let [only] = curves {
        format!("probability of {}", only.class)
    } else {
        "probability of the class".into()
    };
    let named = curves.iter().map(|curve| (curve.class.as_str(), format!(" ({})", curve.rows)));
    let key = (curves.len() > 1).then(|| KeyRoom::for_names(named, KEY, options));
    let y_name = "share that came true";
    let axes = Axes { height: 420.0, right: 60.0, key, x_name: &class, y_name };
    let mut plot = opened(curves, &axes, heading, options);
    let most = most_rows(curves);
    for (k, curve) in places.iter().zip(curves) {
        draw_reliability(&mut plot, curve, Pen::series(*k, 1.6), most);
    }
    if let [only] = curves {
        count_rows(&mut plot, only);
    } else {
        let entries = places.iter().zip(curves).map(|(k, curve)| Entry {
            behind: format!(" ({})", curve.rows),
            ..Entry::series(*k, &curve.class)
        });
        plot.draw_key(&entries.collect::<Vec<_>>());
    }
    plot.finish()
}

/// Each class by itself: on the same axes the curves of many hide one another.
fn one_by_one(
    curves: &[&ClassCurve],
    places: &[usize],
    heading: &Heading,
    options: &Options,
) -> String {
    let most = most_rows(curves);
    let named: Vec<(&str, String)> =
        curves.iter().map(|curve| (curve.class.as_str(), format!(" ({})", curve.rows))).collect();
    draw::one_by_one(&named, PANEL, heading, options, |k, heading, inner| {
        let (x_name, y_name) = ("probability", "came true");
        let axes = Axes { height: PANEL_HEIGHT, right: MARGIN, key: None, x_name, y_name };
        let mut plot = opened(&curves[k..=k], &axes, heading, inner);
        draw_reliability(&mut plot, curves[k], Pen::new(Colour::Series(places[k]), 1.6), most);
        plot
    })
}

/// What is not the same for one plot and for small ones.
struct Axes<'a> {
    height: f64,
    right: f64,
    key: Option<KeyRoom>,
    x_name: &'a str,
    y_name: &'a str,
}

/// Axes with the line on which probabilities mean what they say.
fn opened(curves: &[&ClassCurve], axes: &Axes<'_>, heading: Heading, options: &Options) -> Plot {
    let end = reliability_end(curves);
    let frame = Frame {
        x: (0.0, end),
        y: (0.0, end),
        height: axes.height,
        right: axes.right,
        key: axes.key,
        ..Frame::new(heading, axes.x_name, axes.y_name)
    };
    let mut plot = frame.open(options);
    let pen = Pen::new(Colour::Muted, 1.0).dashed();
    plot.curve([(0.0, 0.0), (end, end)], pen, "predicted = observed");
    plot
}

/// The rows of the bin that has most.
fn most_rows(curves: &[&ClassCurve]) -> f64 {
    curves.iter().flat_map(|c| &c.reliability).map(|bin| bin.rows).max().unwrap_or(1) as f64
}

/// Where the numbers of rows stand.
fn counts_words(curves: &[&ClassCurve]) -> String {
    let rows = || curves.iter().flat_map(|curve| &curve.reliability).map(|bin| bin.rows);
    match (curves, rows().min(), rows().max()) {
        ([_], ..) => "beside a dot stands how many rows it has".into(),
        (_, Some(least), Some(most)) if least < most => format!(
            "the larger a dot the more rows it has, from {least} to {most}, and behind a class stands how many rows are of it"
        ),
        _ => "behind a class stands how many rows are of it".into(),
    }
}

/// Room for the key.
const KEY: f64 = 170.0;

/// Curves that share their axes, at most.
const FEW_CURVES: usize = 3;
/// The least width of the plot of one class.
const PANEL: f64 = 178.0;

/// Where the axes end: of a class that is never likely all would lie in a corner of the whole.
fn reliability_end(curves: &[&ClassCurve]) -> f64 {
    let bins = curves.iter().flat_map(|curve| &curve.reliability);
    let most = bins.map(|bin| bin.predicted.max(bin.interval(NINETY)[1])).fold(0.0, f64::max);
    if most > 0.0 && most < 0.5 { 1.05 * most } else { 1.0 }
}

/// Writes the rows of each bin beside its dot, on the side that the curve does not go on to; where two would lie on one another,
/// only the first.
fn count_rows(plot: &mut Plot, curve: &ClassCurve) {
    let ((bottom, top), letters) = (plot.y.range(), Letters::new(SMALL, Colour::Muted));
    let mut taken = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (k, bin) in curve.reliability.iter().enumerate() {
        let (x, y) = plot.at((bin.predicted, bin.observed.mean));
        let next = curve.reliability.get(k + 1);
        let falls = next.is_some_and(|next| next.observed.mean < bin.observed.mean);
        let y = if falls { (y - 8.0).max(top + SMALL) } else { (y + 15.0).min(bottom - 4.0) };
        let (x, text) = (x + 9.0, bin.rows.to_string());
        if x < taken.0 && (y - taken.1).abs() < SMALL {
            continue;
        }
        plot.canvas.text((x, y), &text, letters);
        taken = (x + width(&text, SMALL), y);
    }
}

fn draw_reliability(plot: &mut Plot, curve: &ClassCurve, pen: Pen, most: f64) {
    let colour = pen.colour;
    let points = curve.reliability.iter().map(|bin| (bin.predicted, bin.observed.mean));
    plot.curve(points, pen, &curve.class);
    for bin @ ReliabilityBin { predicted, observed, rows } in &curve.reliability {
        let (x, y) = plot.at((*predicted, observed.mean));
        let ends = bin.interval(NINETY).map(|share| plot.y.at(share));
        plot.canvas.line((x, ends[0]), (x, ends[1]), Pen::new(colour, 1.2).faded(0.7));
        let title = format!(
            "{}: predicted {}, observed {} in {}",
            curve.class,
            short(*predicted),
            short(observed.mean),
            counted(*rows, "row")
        );
        let radius = 2.5 + 4.0 * (*rows as f64 / most).sqrt();
        plot.canvas.dot((x, y), radius, Fill::new(colour), &title);
    }
}
