//! Numbers: predicted against true, and residuals.

use dolmen::score::residuals::{PredictedTrue, ResidualBand};

use super::calibration::rows_words;
use crate::draw::{Colour, Fill, Frame, Heading, Pen, counted, extent, padded, short};
use crate::{Options, Subject};

/// What the target is called.
fn target(subject: &Subject<'_>) -> String {
    subject.model().and_then(|view| view.model.target()).unwrap_or("target").into()
}

/// Predicted against true numbers, as cells that are the darker the more rows fell into them.
pub(super) fn predicted(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let evidence = subject.evidence()?;
    let PredictedTrue { range, cells, counts, .. } = evidence.numbers.as_ref()?;
    let name = target(subject);
    let words = format!(
        "{}. The darker a cell, the more rows; on the line predictions are right.",
        rows_words(evidence)
    );
    let (x_name, y_name) = (format!("predicted {name}"), format!("true {name}"));
    let frame = Frame {
        x: (range[0], range[1]),
        y: (range[0], range[1]),
        height: 460.0,
        right: 40.0,
        ..Frame::new(Heading::new("Predicted against true", &words, options), &x_name, &y_name)
    };
    let mut plot = frame.open(options);
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let edge = |k: usize| range[0] + (range[1] - range[0]) * k as f64 / *cells as f64;
    for (k, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (i, j) = (k % cells, k / cells);
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
    plot.curve(
        [(range[0], range[0]), (range[1], range[1])],
        Pen::new(Colour::Series(1), 1.5).dashed(),
        "predicted = true",
    );
    Some(plot.finish())
}

/// How far off predictions are, by what was predicted.
pub(super) fn residuals(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let evidence = subject.evidence()?;
    let bands: Vec<&ResidualBand> = evidence.numbers.as_ref()?.bands.iter().collect();
    let ends = extent(bands.iter().flat_map(|band| band.quantiles))?;
    let name = target(subject);
    let words = format!(
        "{}, in bands of as many each: the line is the middle residual, half of them lie in the dark band, 90 % in the light one. A line off zero is a bias.",
        rows_words(evidence)
    );
    let (x_name, y_name) = (format!("predicted {name}"), format!("true less predicted {name}"));
    let frame = Frame {
        x: extent(bands.iter().map(|band| band.predicted))?,
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
