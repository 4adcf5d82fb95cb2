//! Classes: ROC, precision and recall, confusion.

use dolmen::error::{Error, Result};
use dolmen::recipe::Evidence;
use dolmen::score::curves::{ClassCurve, ClassCurves, Confusion};

use super::Picture;
use super::calibration::rows_words;
use crate::draw::{
    COLOURS, Colour, Entry, Frame, Grid, Heading, KeyRoom, Pen, Shade, counted, fixed,
};
use crate::subject::OVER_PAIRS;
use crate::{Options, Subject};

/// Room for names at the right.
const KEY: f64 = 190.0;

/// Classes up to which zeros of their confusion are written.
const MOST_ZEROS: usize = 10;

/// The class that is asked for, or all that have curves.
pub(super) fn shown<'a>(
    classes: &'a ClassCurves,
    options: &Options,
) -> Result<Vec<&'a ClassCurve>> {
    let Some(wanted) = &options.input else { return Ok(classes.curves.iter().collect()) };
    let found = classes.curves.iter().find(|curve| &curve.class == wanted).ok_or_else(|| {
        let names: Vec<&str> = classes.curves.iter().map(|curve| curve.class.as_str()).collect();
        let expected = format!("a class with a curve: {}", names.join(", "));
        Error::param("input", expected, wanted).suggesting(wanted, names)
    });
    Ok(vec![found?])
}

/// How many classes there are; 0 where that is not known.
pub(super) fn count(subject: &Subject<'_>, evidence: &Evidence) -> usize {
    let confused = || Some(evidence.classes.as_ref()?.confusion.as_ref()?.classes.len());
    let known = subject.model().map(|view| view.model.classes().len());
    known.or_else(confused).unwrap_or(0)
}

/// Series that dots can tell apart: those beyond the colours are rings.
const MOST_SERIES: usize = 2 * COLOURS;

/// The series of a class, so that it has one colour on all pictures: its place among all classes, or where these are too many its
/// place among those shown.
pub(super) fn series(subject: &Subject<'_>, class: &str, shown: usize) -> usize {
    let Some(view) = subject.model() else { return shown };
    let all = view.model.classes();
    let place = all.iter().position(|own| own == class);
    place.filter(|_| all.len() <= MOST_SERIES).unwrap_or(shown)
}

/// Which classes have curves, in words: of very many only the most frequent.
pub(super) fn which(subject: &Subject<'_>, evidence: &Evidence, shown: &[&ClassCurve]) -> String {
    let total = count(subject, evidence).max(shown.len());
    match (shown, total) {
        ([only], 2) => format!("The class {} against the other", only.class),
        ([only], _) => format!("The class {} against all others", only.class),
        _ if shown.len() < total => {
            format!("The {} most frequent of {total} classes, each against all others", shown.len())
        }
        _ => "Each class against all others".into(),
    }
}

/// What one curve is, and how it is named.
struct Shown<'a> {
    title: &'a str,
    x_name: &'a str,
    y_name: &'a str,
    points: fn(&ClassCurve) -> Vec<(f64, f64)>,
    figure: fn(&ClassCurve) -> f64,
    figure_name: &'a str,
    /// The line of guessing, if it is the same for all classes.
    chance: Option<[(f64, f64); 2]>,
}

/// Says of a class that all rows are of that there is nothing to tell it from: its area is not known.
fn without_others(curves: &[&ClassCurve]) -> String {
    match curves.iter().find(|curve| curve.area.is_nan()) {
        Some(only) => format!(
            " All rows are of the class {}: without rows of another there is nothing to tell it from, and no curve.",
            only.class
        ),
        None => String::new(),
    }
}

fn draw_curves(subject: &Subject<'_>, options: &Options, what: &Shown<'_>, words: &str) -> Picture {
    let Some(evidence) = subject.evidence() else { return Ok(None) };
    let Some(classes) = &evidence.classes else { return Ok(None) };
    let curves = shown(classes, options)?;
    if curves.is_empty() {
        return Ok(None);
    }
    let without = without_others(&curves);
    let words = format!(
        "{}. {}, {words}{without}",
        rows_words(subject, evidence),
        which(subject, evidence, &curves)
    );
    let curves: Vec<&ClassCurve> = curves.into_iter().filter(|own| !own.area.is_nan()).collect();
    let heading = Heading::new(what.title, &words, options);
    let behind = |curve: &ClassCurve| format!(" ({})", fixed((what.figure)(curve), 3));
    let named = curves.iter().map(|curve| (curve.class.as_str(), behind(curve)));
    let key = Some(KeyRoom::for_names(named, KEY, options));
    let frame = Frame { height: 420.0, key, ..Frame::new(heading, what.x_name, what.y_name) };
    let mut plot = frame.open(options);
    if let Some(line) = what.chance {
        plot.curve(line, Pen::new(Colour::Muted, 1.0).dashed(), "chance");
    }
    let place = |(k, curve): (usize, &&ClassCurve)| series(subject, &curve.class, k);
    let places: Vec<usize> = curves.iter().enumerate().map(place).collect();
    for (k, curve) in places.iter().zip(&curves) {
        let figure = fixed((what.figure)(curve), 3);
        let title = format!("{} ({} {figure})", curve.class, what.figure_name);
        plot.curve((what.points)(curve), Pen::series(*k, 2.2), &title);
    }
    let entries = places
        .iter()
        .zip(&curves)
        .map(|(k, curve)| Entry { behind: behind(curve), ..Entry::series(*k, &curve.class) });
    plot.draw_key(&entries.collect::<Vec<_>>());
    Ok(Some(plot.finish()))
}

/// True against false positives.
pub(super) fn roc(subject: &Subject<'_>, options: &Options) -> Picture {
    let what = Shown {
        title: "ROC: hits against false alarms",
        x_name: "share of the other classes taken for it",
        y_name: "share of the class found",
        points: |curve| curve.roc.iter().map(|[x, y]| (*x, *y)).collect(),
        figure: |curve| curve.area,
        figure_name: "area",
        chance: Some([(0.0, 0.0), (1.0, 1.0)]),
    };
    let words = "and behind its name the area under the curve: 1 is perfect, 0.5 is chance.";
    let other = if subject.has_pairs() {
        format!(" The AUC among the other figures is {OVER_PAIRS}, and another number.")
    } else {
        String::new()
    };
    draw_curves(subject, options, &what, &format!("{words}{other}"))
}

/// Precisions held from the recall before up to their own. Thresholds that find no more of the class have no step.
fn steps(points: &[[f64; 2]]) -> Vec<(f64, f64)> {
    let (mut held, mut from) = (Vec::new(), 0.0);
    for &[recall, precision] in points {
        if recall > from {
            held.extend([(from, precision), (recall, precision)]);
            from = recall;
        }
    }
    held
}

/// Precision against recall.
pub(super) fn precision_recall(subject: &Subject<'_>, options: &Options) -> Picture {
    let what = Shown {
        title: "Precision against recall",
        x_name: "recall: share of the class found",
        y_name: "precision: share of the found that is of the class",
        points: |curve| steps(&curve.precision_recall),
        figure: |curve| curve.average_precision,
        figure_name: "average precision",
        chance: None,
    };
    draw_curves(
        subject,
        options,
        &what,
        "and behind its name the average precision, the area under the steps; of chance it is the share of the class.",
    )
}

/// Which class was taken for which.
pub(super) fn confusion(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let evidence = subject.evidence()?;
    let Confusion { classes, counts } = evidence.classes.as_ref()?.confusion.as_ref()?;
    let width = classes.len();
    let right: usize = (0..width).map(|c| counts[c * width + c]).sum();
    let total = counts.iter().sum::<usize>().max(1);
    let words = format!(
        "{}: {:.1} % of them right. Shades are shares of the true class: blue right, orange wrong.",
        rows_words(subject, evidence),
        100.0 * right as f64 / total as f64
    );
    let grid = Grid {
        heading: Heading::new("Which class was taken for which", &words, options),
        rows: classes,
        columns: classes,
        row_name: "true class",
        column_name: "taken for",
        key: [0.0, 0.25, 0.5, 0.75, 1.0].map(right_share).into(),
    };
    let cell = |i: usize, j: usize| {
        let count = counts[i * width + j];
        let of_class = counts[i * width..(i + 1) * width].iter().sum::<usize>().max(1);
        let share = count as f64 / of_class as f64;
        let title = format!(
            "{} of {} taken for {} ({:.1} %)",
            counted(count, "row"),
            classes[i],
            classes[j],
            100.0 * share
        );
        let colour = if i == j { Colour::First } else { Colour::Worse };
        let strength = share_strength(share);
        // Of many classes most pairs never meet: zeros would hide the others.
        let is_said = count > 0 || width <= MOST_ZEROS;
        let words = if is_said { count.to_string() } else { String::new() };
        Shade { colour, strength, words, title }
    };
    Some(grid.draw(cell, options))
}

/// The shade of a share of a class.
fn share_strength(share: f64) -> f64 {
    if share == 0.0 { 0.03 } else { 0.06 + 0.9 * share }
}

/// How the share of a class that was found is shown, in the key.
fn right_share(share: f64) -> Shade {
    let (strength, words) = (share_strength(share), format!("{:.0} %", 100.0 * share));
    Shade { colour: Colour::First, strength, words, title: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_at_no_recall_and_hold_their_precisions() {
        assert_eq!(steps(&[[1.0, 0.3]]), [(0.0, 0.3), (1.0, 0.3)]);
        let points = [[0.0, 0.0], [0.5, 0.5], [0.5, 0.4], [1.0, 0.6]];
        assert_eq!(steps(&points), [(0.0, 0.5), (0.5, 0.5), (0.5, 0.6), (1.0, 0.6)]);
    }
}
