//! Classes: ROC, precision and recall, confusion.

use dolmen::error::{Error, Result};
use dolmen::recipe::Evidence;
use dolmen::score::curves::{ClassCurve, ClassCurves, Confusion};

use super::Picture;
use super::calibration::rows_words;
use crate::draw::{
    Colour, Frame, Grid, Heading, Letters, Pen, Plot, SMALL, Shade, counted, told_apart, width,
};
use crate::{Options, Subject};

/// Room for names at the right.
const KEY: f64 = 190.0;

/// Classes up to which zeros of their confusion are written.
const MOST_ZEROS: usize = 10;

/// A name in a key, with what stands before and behind it: these are never cut, and names are told apart without them.
pub(super) struct Entry<'a> {
    pub(super) before: String,
    pub(super) name: &'a str,
    pub(super) behind: String,
}

impl<'a> Entry<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self { before: String::new(), name, behind: String::new() }
    }

    /// With a name that may be cut in the place of the whole one.
    fn text(&self, name: &str) -> String {
        format!("{}{name}{}", self.before, self.behind)
    }
}

/// Names with their colours at the right of a plot.
pub(super) fn key(plot: &mut Plot, names: &[&str], options: &Options, room: f64) {
    let entries: Vec<Entry<'_>> = names.iter().map(|name| Entry::new(name)).collect();
    key_of(plot, &entries, options, room);
}

/// The same with what stands beside the names.
pub(super) fn key_of(plot: &mut Plot, entries: &[Entry<'_>], options: &Options, room: f64) {
    let (left, top) = (options.width - room + 14.0, plot.y.range().1 + 10.0);
    let names: Vec<&str> = entries.iter().map(|own| own.name).collect();
    let beside = entries.iter().map(|own| width(&own.text(""), SMALL)).fold(0.0, f64::max);
    let cut = told_apart(&names, SMALL, room - 56.0 - beside);
    for (k, (own, name)) in entries.iter().zip(cut).enumerate() {
        let y = top + 19.0 * k as f64;
        plot.canvas.line((left - 4.0, y - 4.0), (left + 14.0, y - 4.0), Pen::series(k, 3.0));
        let letters = Letters::new(SMALL, Colour::Ink);
        plot.canvas.titled_text((left + 20.0, y), &own.text(&name), letters, &own.text(own.name));
    }
}

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
    points: fn(&ClassCurve) -> &[[f64; 2]],
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
        rows_words(evidence),
        which(subject, evidence, &curves)
    );
    let curves: Vec<&ClassCurve> = curves.into_iter().filter(|own| !own.area.is_nan()).collect();
    let heading = Heading::new(what.title, &words, options);
    let frame =
        Frame { height: 420.0, right: KEY, ..Frame::new(heading, what.x_name, what.y_name) };
    let mut plot = frame.open(options);
    if let Some(line) = what.chance {
        plot.curve(line, Pen::new(Colour::Muted, 1.0).dashed(), "chance");
    }
    for (k, curve) in curves.iter().enumerate() {
        let points = (what.points)(curve).iter().map(|[x, y]| (*x, *y));
        let title = format!("{} ({} {:.3})", curve.class, what.figure_name, (what.figure)(curve));
        plot.curve(points, Pen::series(k, 2.2), &title);
    }
    let entries = curves.iter().map(|curve| Entry {
        before: format!("{:.3} ", (what.figure)(curve)),
        ..Entry::new(&curve.class)
    });
    key_of(&mut plot, &entries.collect::<Vec<_>>(), options, KEY);
    Ok(Some(plot.finish()))
}

/// True against false positives.
pub(super) fn roc(subject: &Subject<'_>, options: &Options) -> Picture {
    let what = Shown {
        title: "ROC: hits against false alarms",
        x_name: "share of the other classes taken for it",
        y_name: "share of the class found",
        points: |curve| &curve.roc,
        figure: |curve| curve.area,
        figure_name: "area",
        chance: Some([(0.0, 0.0), (1.0, 1.0)]),
    };
    draw_curves(
        subject,
        options,
        &what,
        "with the area under the curve: 1 is perfect, 0.5 is chance.",
    )
}

/// Precision against recall.
pub(super) fn precision_recall(subject: &Subject<'_>, options: &Options) -> Picture {
    let what = Shown {
        title: "Precision against recall",
        x_name: "recall: share of the class found",
        y_name: "precision: share of the found that is of the class",
        points: |curve| &curve.precision_recall,
        figure: |curve| curve.average_precision,
        figure_name: "average precision",
        chance: None,
    };
    draw_curves(
        subject,
        options,
        &what,
        "with the average precision; of chance it is the share of the class.",
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
        "{}: {:.1} % of them right. Shades are shares of the true class.",
        rows_words(evidence),
        100.0 * right as f64 / total as f64
    );
    let grid = Grid {
        heading: Heading::new("Which class was taken for which", &words, options),
        rows: classes,
        columns: classes,
        row_name: "true class",
        column_name: "taken for",
        key: Vec::new(),
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
        let strength = if count == 0 { 0.03 } else { 0.06 + 0.9 * share };
        // Of many classes most pairs never meet: zeros would hide the others.
        let is_said = count > 0 || width <= MOST_ZEROS;
        let words = if is_said { count.to_string() } else { String::new() };
        Shade { colour, strength, words, title }
    };
    Some(grid.draw(cell, options))
}
