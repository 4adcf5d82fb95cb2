//! Learning curves: scores against the number of rows learned from.

use dolmen::evaluate::compare::{LearningCurve, LearningPoint, MethodResult};

use super::methods::{score_name, spoken, zero_words};
use super::not_shown;
use crate::draw::{
    Colour, Fill, Frame, Heading, Lane, Letters, MARGIN, Pen, Plot, SMALL, apart,
    axis_without_the_hopeless, counted, extent, short, told_apart, uncertain,
};
use crate::{Options, Subject};

/// Methods whose curves are drawn, at most.
const MOST_CURVES: usize = 7;

/// One method's scores: the number of rows learned from, the mean and its standard error.
type Learned = Vec<(f64, f64, f64)>;

/// Scores against the number of rows learned from.
pub(super) fn learning(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let Subject::Learning(curve) = subject else { return None };
    let last = curve.sizes.last()?;
    let (names, left_out) = learning_methods(curve)?;
    let points = |name: &&str| -> Learned {
        let at = |point: &LearningPoint| {
            let method = of_size(curve, name, point.size)?;
            Some((point.size as f64, method.mean, method.se))
        };
        curve.sizes.iter().filter_map(at).filter(|(_, mean, _)| mean.is_finite()).collect()
    };
    let all: Vec<Learned> = names.iter().map(points).collect();
    let y = learning_axis(&all)?;
    let x = extent(all.iter().flatten().map(|(size, ..)| *size))?;
    let room = 210.0_f64.min(0.36 * options.width);
    let y_name = format!("{} (higher is better)", score_name(&last.comparison));
    let mut off = Vec::from_iter(left_out);
    let beyond = all.iter().flatten().map(|(_, mean, _)| *mean).filter(|mean| *mean < y.0);
    if let Some((lowest, _)) = extent(beyond.clone()) {
        off.push(format!("{} as low as {}", counted(beyond.count(), "mean"), short(lowest)));
    }
    let words = format!(
        "Means over the same test parts, with standard errors as bands; the axis below is logarithmic.{}{}",
        zero_words(&last.comparison),
        not_shown(&off)
    );
    let sizes: Vec<f64> = curve.sizes.iter().map(|point| point.size as f64).collect();
    let frame = Frame {
        x,
        y,
        right: room,
        x_ticks: Some(&sizes),
        log_x: true,
        height: 360.0,
        ..Frame::new(Heading::new("Learning curves", &words, options), "rows learned from", &y_name)
    };
    let mut plot = frame.open(options);
    let (top, bottom) = (plot.y.range().1, plot.y.range().0);
    let end = |points: &Learned| points.last().map_or(bottom, |(_, mean, _)| plot.y.at(*mean));
    let ends: Vec<f64> = all.iter().map(end).collect();
    let places = apart(&ends, 17.0, (top, bottom));
    let names_of: Vec<&str> = names.iter().map(|name| spoken(name)).collect();
    let cut = told_apart(&names_of, SMALL * 1.08, room - MARGIN - 20.0);
    for (k, (name, points)) in names.iter().zip(&all).enumerate().rev() {
        draw_learned(&mut plot, name, points, Colour::Series(k));
        let right = plot.x.range().1;
        plot.canvas.line(
            (right + 3.0, ends[k]),
            (right + 14.0, places[k]),
            Pen::new(Colour::Series(k), 1.0).faded(0.6),
        );
        let letters = Letters::new(SMALL, Colour::Ink);
        let letters = if *name == "stacking" { letters.bold() } else { letters };
        plot.canvas.titled_text((right + 17.0, places[k] + 4.0), &cut[k], letters, name);
    }
    Some(plot.finish())
}

/// The methods that have a curve, the best with the most rows first and the stack before all others; and what is said of those that have none.
fn learning_methods(curve: &LearningCurve) -> Option<(Vec<&str>, Option<String>)> {
    let last = curve.sizes.last()?;
    let is_shown = |method: &&MethodResult| {
        method.name != "cheating" && last.comparison.zero_line.as_deref() != Some(&method.name)
    };
    let mut names: Vec<&str> =
        last.comparison.methods.iter().filter(is_shown).map(|m| m.name.as_str()).collect();
    let value = |name: &str| of_size(curve, name, last.size).map_or(f64::NEG_INFINITY, |m| m.mean);
    names.sort_by(|a, b| value(b).total_cmp(&value(a)));
    names.sort_by_key(|name| *name != "stacking");
    let others = names.split_off(names.len().min(MOST_CURVES));
    let left_out = match &others[..] {
        [] => None,
        [one] => Some(format!("'{one}', which does worse with {} rows", last.size)),
        _ => Some(format!("{} methods that do worse with {} rows", others.len(), last.size)),
    };
    Some((names, left_out))
}

/// The axis of the scores: with each number of rows methods can be told apart on it.
fn learning_axis(all: &[Learned]) -> Option<(f64, f64)> {
    let mut sizes: Vec<f64> = all.iter().flatten().map(|(size, ..)| *size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let lane = |(_, mean, se): &(f64, f64, f64)| Lane {
        interval: se.is_finite().then_some([mean - se, mean + se]),
        ..Lane::new("", *mean, String::new())
    };
    let of_size = |size: &f64| {
        let own = all.iter().flatten().filter(|(other, ..)| other == size);
        axis_without_the_hopeless(&own.map(lane).collect::<Vec<_>>(), true)
    };
    extent(sizes.iter().filter_map(of_size).flat_map(|(low, high)| [low, high]))
}

/// A method's curve with the band of its errors.
fn draw_learned(plot: &mut Plot, name: &str, points: &Learned, colour: Colour) {
    let side = |sign: f64| {
        points.iter().map(move |(size, mean, se)| {
            (*size, mean + sign * if se.is_finite() { *se } else { 0.0 })
        })
    };
    let band: Vec<(f64, f64)> = side(1.0)
        .chain(side(-1.0).collect::<Vec<_>>().into_iter().rev())
        .map(|p| plot.at(p))
        .collect();
    plot.canvas.area(&band, Fill::new(colour).faded(0.12));
    let width = if name == "stacking" { 3.0 } else { 1.8 };
    let line: Vec<(f64, f64)> = points.iter().map(|(size, mean, _)| (*size, *mean)).collect();
    plot.cut_curve(&line, Pen::new(colour, width), spoken(name));
    let (low, high) = plot.y.domain();
    for (size, mean, se) in points.iter().filter(|(_, mean, _)| (low..=high).contains(mean)) {
        let title = format!("{}, {size} rows: {}", spoken(name), uncertain(*mean, Some(*se)));
        let at = plot.at((*size, *mean));
        plot.canvas.dot(at, 3.4, Fill::new(colour), &title);
    }
}

fn of_size<'a>(curve: &'a LearningCurve, name: &str, size: usize) -> Option<&'a MethodResult> {
    let point = curve.sizes.iter().find(|point| point.size == size)?;
    point.comparison.methods.iter().find(|method| method.name == name)
}
