//! Numbers: predicted against true, and residuals.

use dolmen::score::residuals::{PredictedTrue, ResidualBand};

use super::calibration::rows_words;
use super::{how_far, not_shown};
use crate::draw::{Colour, Fill, Frame, Heading, Pen, Plot, counted, padded, short, trimmed};
use crate::{Options, Subject};

/// What the target is called.
fn target(subject: &Subject<'_>) -> String {
    subject.model().and_then(|view| view.model.target()).unwrap_or("target").into()
}

/// Predicted against true numbers, as cells whose colour is the stronger the more rows fell into them.
pub(super) fn predicted(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let evidence = subject.evidence()?;
    let found = evidence.numbers.as_ref()?;
    let edge = |k: usize| {
        found.range[0] + (found.range[1] - found.range[0]) * k as f64 / found.cells as f64
    };
    let words = format!(
        "{}. The stronger the colour of a cell, the more rows; on the line predictions are right.{}",
        rows_words(subject, evidence),
        rows_off(found)
    );
    let mut plot = predicted_plot(subject, &words, found.range.into(), options);
    let most = found.counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    for (i, j, count) in found_cells(found) {
        let (left, bottom) = plot.at((edge(i), edge(j)));
        let (right, top) = plot.at((edge(i + 1), edge(j + 1)));
        let title = format!(
            "{}: predicted {} to {}, true {} to {}",
            counted(count, "row"),
            short(edge(i)),
            short(edge(i + 1)),
            short(edge(j)),
            short(edge(j + 1))
        );
        // Single rows are to be seen beside hundreds.
        let strength = 0.15 + 0.85 * ((count as f64).ln_1p() / most.ln_1p());
        plot.canvas.rect(
            (left + 0.4, top + 0.4),
            (right - left - 0.8, bottom - top - 0.8),
            Fill::new(Colour::First).faded(strength),
            &title,
        );
    }
    draw_truth(&mut plot);
    Some(plot.finish())
}

/// The cells with rows: their place along both axes, and how many there are.
fn found_cells(found: &PredictedTrue) -> impl Iterator<Item = (usize, usize, usize)> {
    let cells = found.cells;
    let place = move |(k, count): (usize, &usize)| (k % cells, k / cells, *count);
    found.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(place)
}

/// What is said of rows beyond the axes.
fn rows_off(found: &PredictedTrue) -> String {
    let Some(beyond) = found.beyond else { return String::new() };
    let [low, high] = found.range;
    let far = how_far((low - beyond.ends[0]).max(beyond.ends[1] - high), high - low);
    let (off, total) = (beyond.total(), counted(found.rows(), "row"));
    not_shown(&[format!("{off} of {total}, predicted or true {far}")])
}

/// The axes of predicted against true numbers, which have the same ends.
fn predicted_plot(subject: &Subject<'_>, words: &str, ends: (f64, f64), options: &Options) -> Plot {
    let name = target(subject);
    let (x_name, y_name) = (format!("predicted {name}"), format!("true {name}"));
    let frame = Frame {
        x: ends,
        y: ends,
        height: 460.0,
        right: 40.0,
        ..Frame::new(Heading::new("Predicted against true", words, options), &x_name, &y_name)
    };
    frame.open(options)
}

/// The line on which predictions are right.
fn draw_truth(plot: &mut Plot) {
    let (low, high) = plot.x.domain();
    let pen = Pen::new(Colour::Series(1), 1.5).dashed();
    plot.curve([(low, low), (high, high)], pen, "predicted = true");
}

/// How far off predictions are, by what was predicted.
pub(super) fn residuals(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let evidence = subject.evidence()?;
    let all = &evidence.numbers.as_ref()?.bands;
    let across = trimmed(all.iter().map(|band| band.predicted))?;
    let bands: Vec<&ResidualBand> =
        all.iter().filter(|band| (across.0..=across.1).contains(&band.predicted)).collect();
    let ends = trimmed(bands.iter().flat_map(|band| band.quantiles))?;
    let name = target(subject);
    let words = format!(
        "{}, in bands of as many each: the line is the middle residual, half of them lie in the dark band, 90 % in the light one. A line off zero is a bias.{}",
        rows_words(subject, evidence),
        not_shown(&bands_off(all, across, ends))
    );
    let (x_name, y_name) = (format!("predicted {name}"), format!("true less predicted {name}"));
    let frame = Frame {
        x: across,
        y: padded((ends.0.min(0.0), ends.1.max(0.0)), 0.05),
        right: 40.0,
        ..Frame::new(Heading::new("How far off predictions are", &words, options), &x_name, &y_name)
    };
    let mut plot = frame.open(options);
    for (low, high, strength) in [(0, 4, 0.18), (1, 3, 0.3)] {
        let side = |k: usize| bands.iter().map(move |band| (band.predicted, band.quantiles[k]));
        let around: Vec<(f64, f64)> = side(high)
            .chain(side(low).collect::<Vec<_>>().into_iter().rev())
            .map(|point| plot.at(point))
            .collect();
        plot.canvas.area(&around, Fill::new(Colour::First).faded(strength));
    }
    let (left, right) = plot.x.domain();
    plot.curve([(left, 0.0), (right, 0.0)], Pen::new(Colour::Muted, 1.0).dashed(), "");
    plot.curve(
        bands.iter().map(|band| (band.predicted, band.quantiles[2])),
        Pen::new(Colour::First, 2.4),
        "",
    );
    for ResidualBand { predicted, rows, quantiles } in bands {
        let at = plot.at((*predicted, quantiles[2]));
        let title = format!(
            "{}, predicted about {}: half of the residuals lie between {} and {}",
            counted(*rows, "row"),
            short(*predicted),
            short(quantiles[1]),
            short(quantiles[3])
        );
        plot.canvas.dot(at, 4.0, Fill::new(Colour::First), &title);
    }
    Some(plot.finish())
}

/// What is said of bands of rows that are predicted beyond the axis, and of residuals above or below the picture.
fn bands_off(bands: &[ResidualBand], across: (f64, f64), ends: (f64, f64)) -> Vec<String> {
    let is_on = |band: &&ResidualBand| (across.0..=across.1).contains(&band.predicted);
    let off: Vec<&ResidualBand> = bands.iter().filter(|band| !is_on(band)).collect();
    let mut parts = Vec::new();
    if let Some(far) = off.iter().max_by(|a, b| a.predicted.abs().total_cmp(&b.predicted.abs())) {
        let rows = counted(off.iter().map(|band| band.rows).sum(), "row");
        parts.push(format!("{rows} predicted as far off as {} on average", short(far.predicted)));
    }
    let residuals = bands.iter().filter(is_on).flat_map(|band| band.quantiles);
    let far = residuals.filter(|residual| *residual < ends.0 || *residual > ends.1);
    if let Some(far) = far.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        parts.push(format!(
            "residuals as far off as {}, where the bands end at the rim",
            short(far)
        ));
    }
    parts
}
