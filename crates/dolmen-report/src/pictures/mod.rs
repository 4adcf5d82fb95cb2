//! The pictures. Each file turns values of the library into marks; `None` where a subject has nothing for it.
//!
//! | file | pictures |
//! | --- | --- |
//! | `members` | weights, scores, combiners, correlation of members |
//! | `gains` | what the stack gains |
//! | `density` | one column, two columns, kernels |
//! | `pairs` | all pairs of columns |
//! | `mass` | where densities are looked at |
//! | `calibration` | PIT, coverage of intervals |
//! | `reliability` | predicted probabilities against what came true |
//! | `classes` | ROC, precision and recall, confusion |
//! | `numbers` | predicted against true, residuals |
//! | `inputs` | importance, dependence |
//! | `methods` | comparisons: methods, ranks, outcomes |
//! | `learning` | learning curves |
//! | `experts` | regions, gates |
//! | `rounds` | AdaBoost's stages, training curves |
//! | `tree` | a tree |

mod calibration;
mod classes;
mod density;
mod experts;
mod gains;
mod inputs;
mod learning;
mod mass;
mod members;
mod methods;
mod numbers;
mod pairs;
mod reliability;
mod rounds;
mod tree;

pub(crate) use calibration::Band;
pub(crate) use members::is_estimated;
pub(crate) use methods::{is_hopeless, replaced, spoken};
pub(crate) use pairs::MOST_PAIRS;

use dolmen::error::{Error, Result};

use crate::draw::short;
use crate::{Kind, ModelView, Options, Subject};

/// A picture, or nothing to draw.
type Picture = Result<Option<String>>;

/// Draws a picture; `None` if it does not suit the subject.
pub(crate) fn draw(subject: &Subject<'_>, kind: Kind, options: &Options) -> Picture {
    match kind {
        Kind::Weights => Ok(members::weights(subject, options)),
        Kind::Scores => members::scores(subject, options),
        Kind::Gain => Ok(gains::gain(subject, options)),
        Kind::Combiners => Ok(members::combiners(subject, options)),
        Kind::Correlation => Ok(members::correlation(subject, options)),
        Kind::Density => density::curve(subject, options),
        Kind::Contours => density::contours(subject, options),
        Kind::Pairs => pairs::pairs(subject, options),
        Kind::Kernel => density::kernel(subject, options),
        Kind::Pit => calibration::pit(subject, options),
        Kind::Reliability => reliability::reliability(subject, options),
        Kind::Coverage => Ok(calibration::coverage(subject, options)),
        Kind::Roc => classes::roc(subject, options),
        Kind::PrecisionRecall => classes::precision_recall(subject, options),
        Kind::Confusion => Ok(classes::confusion(subject, options)),
        Kind::Predicted => Ok(numbers::predicted(subject, options)),
        Kind::Residuals => Ok(numbers::residuals(subject, options)),
        Kind::Importance => Ok(inputs::importance(subject, options)),
        Kind::Dependence => inputs::dependence(subject, options),
        Kind::Methods => Ok(methods::methods(subject, options)),
        Kind::Ranks => Ok(methods::ranks(subject, options)),
        Kind::Outcomes => methods::outcomes(subject, options),
        Kind::Learning => Ok(learning::learning(subject, options)),
        Kind::Regions => experts::regions(subject, options),
        Kind::Gate => experts::gate(subject, options),
        Kind::Stages => rounds::stages(subject, options),
        Kind::Training => rounds::training(subject, options),
        Kind::Tree => tree::tree(subject, options),
    }
}

/// Whether a picture can be drawn of a subject. Drawing takes a moment only, so it is tried.
pub(crate) fn suits(subject: &Subject<'_>, kind: Kind) -> bool {
    matches!(draw(subject, kind, &Options::default()), Ok(Some(_)))
}

/// Whether rows with known truth make a picture of a model.
pub(crate) fn of_rows(view: &ModelView<'_>, kind: Kind) -> bool {
    let model = view.model;
    let (has_target, has_classes) = (model.target().is_some(), !model.classes().is_empty());
    match kind {
        Kind::Importance | Kind::Dependence => has_target,
        Kind::Reliability | Kind::Roc | Kind::PrecisionRecall | Kind::Confusion => has_classes,
        Kind::Predicted | Kind::Residuals => has_target && !has_classes,
        Kind::Pit => density::density_of(&Subject::Model(*view)).is_some(),
        Kind::Scores => true,
        Kind::Gain | Kind::Correlation => model.member_names().len() > 1,
        _ => false,
    }
}

/// Whether a picture is about one input, column, class or figure of several.
pub(crate) fn takes_input(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Scores
            | Kind::Density
            | Kind::Contours
            | Kind::Kernel
            | Kind::Pit
            | Kind::Reliability
            | Kind::Roc
            | Kind::PrecisionRecall
            | Kind::Dependence
            | Kind::Outcomes
            | Kind::Regions
            | Kind::Gate
    )
}

/// Whether a picture is about one member of several.
pub(crate) fn takes_member(kind: Kind) -> bool {
    matches!(kind, Kind::Regions | Kind::Gate | Kind::Stages | Kind::Training | Kind::Tree)
}

/// Whether single rows can be seen on a picture.
pub(crate) fn takes_rows(kind: Kind) -> bool {
    matches!(kind, Kind::Density | Kind::Contours | Kind::Pairs | Kind::Regions | Kind::Dependence)
}

/// A sentence about what a picture does not show; nothing where it shows all.
fn not_shown(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        parts => format!(" Not on the picture: {}.", parts.join("; ")),
    }
}

/// How far beyond an axis something lies, in words that do not tell what it is: it may be a single row's value.
fn how_far(distance: f64, length: f64) -> String {
    let times = 10_f64.powf((distance / length).log10().ceil().max(0.0));
    if times > 1.0 {
        format!("up to {} times the length of the axis beyond it", short(times))
    } else {
        "less than the length of the axis beyond it".into()
    }
}

/// The places of the columns that are asked for (`FIRST,SECOND`) among those known: none twice, and no more than a picture has.
fn columns_named(wanted: &str, known: &[&str], most: usize, hint: &str) -> Result<Vec<usize>> {
    let place = |name: &str| known.iter().position(|own| *own == name);
    if let Some(only) = place(wanted) {
        return Ok(vec![only]);
    }
    let named: Vec<&str> = wanted.split(',').map(str::trim).collect();
    let mut columns = Vec::new();
    for name in &named {
        columns.push(place(name).ok_or_else(|| {
            Error::param("input", known.join(", "), name).suggesting(name, known.iter().copied())
        })?);
    }
    if columns.len() > most {
        let expected = if most == 1 { "one column" } else { "one column or two" };
        return Err(Error::param("input", expected, wanted).with_hint(hint));
    }
    if let [first, second] = columns[..]
        && first == second
    {
        let error = Error::param("input", "two columns that are not the same", wanted);
        let others: Vec<&str> = known.iter().copied().filter(|own| *own != named[0]).collect();
        return Err(error.with_hint(format!("the other can be one of {}", others.join(", "))));
    }
    Ok(columns)
}

/// Refuses the name of a member that the model has not.
fn check_member(view: &ModelView<'_>, options: &Options) -> Result<()> {
    let Some(wanted) = &options.member else { return Ok(()) };
    let names = view.model.member_names();
    if names.contains(wanted) {
        return Ok(());
    }
    let expected = format!("one of {}", names.join(", "));
    let names = names.iter().map(String::as_str);
    Err(Error::param("member", expected, wanted).suggesting(wanted, names))
}
