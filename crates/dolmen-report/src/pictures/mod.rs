//! The pictures. Each file turns values of the library into marks; `None` where a subject has nothing for it.
//!
//! | file | pictures |
//! | --- | --- |
//! | `members` | weights, scores, gains, combiners, correlation of members |
//! | `density` | one column, two columns, pairs, kernels |
//! | `calibration` | PIT, reliability, coverage of intervals |
//! | `classes` | ROC, precision and recall, confusion |
//! | `numbers` | predicted against true, residuals |
//! | `inputs` | importance, dependence |
//! | `methods` | comparisons: methods, ranks, outcomes, learning curves |
//! | `experts` | regions, gates |
//! | `rounds` | AdaBoost's stages, training curves |
//! | `tree` | a tree |

mod calibration;
mod classes;
mod density;
mod experts;
mod inputs;
mod members;
mod methods;
mod numbers;
mod rounds;
mod tree;

use dolmen::error::Result;

use crate::{Kind, Options, Subject};

/// A picture, or nothing to draw.
type Picture = Result<Option<String>>;

/// Draws a picture; `None` if it does not suit the subject.
pub(crate) fn draw(subject: &Subject<'_>, kind: Kind, options: &Options) -> Picture {
    match kind {
        Kind::Weights => Ok(members::weights(subject, options)),
        Kind::Scores => Ok(members::scores(subject, options)),
        Kind::Gain => Ok(members::gain(subject, options)),
        Kind::Combiners => Ok(members::combiners(subject, options)),
        Kind::Correlation => Ok(members::correlation(subject, options)),
        Kind::Density => density::curve(subject, options),
        Kind::Contours => density::contours(subject, options),
        Kind::Pairs => density::pairs(subject, options),
        Kind::Kernel => density::kernel(subject, options),
        Kind::Pit => Ok(calibration::pit(subject, options)),
        Kind::Reliability => Ok(calibration::reliability(subject, options)),
        Kind::Coverage => Ok(calibration::coverage(subject, options)),
        Kind::Roc => Ok(classes::roc(subject, options)),
        Kind::PrecisionRecall => Ok(classes::precision_recall(subject, options)),
        Kind::Confusion => Ok(classes::confusion(subject, options)),
        Kind::Predicted => Ok(numbers::predicted(subject, options)),
        Kind::Residuals => Ok(numbers::residuals(subject, options)),
        Kind::Importance => Ok(inputs::importance(subject, options)),
        Kind::Dependence => inputs::dependence(subject, options),
        Kind::Methods => Ok(methods::methods(subject, options)),
        Kind::Ranks => Ok(methods::ranks(subject, options)),
        Kind::Outcomes => Ok(methods::outcomes(subject, options)),
        Kind::Learning => Ok(methods::learning(subject, options)),
        Kind::Regions => experts::regions(subject, options),
        Kind::Gate => experts::gate(subject, options),
        Kind::Stages => Ok(rounds::stages(subject, options)),
        Kind::Training => Ok(rounds::training(subject, options)),
        Kind::Tree => Ok(tree::tree(subject, options)),
    }
}

/// Whether a picture can be drawn of a subject. Drawing takes a moment only, so it is tried.
pub(crate) fn suits(subject: &Subject<'_>, kind: Kind) -> bool {
    matches!(draw(subject, kind, &Options::default()), Ok(Some(_)))
}
