//! Whether a model is better than none: than the mean of the truths, or than telling every row the shares of the classes.

use dolmen::recipe::{Evidence, Model};
use dolmen::score::Estimate;

use crate::draw::short;

/// How a model does beside one that knows nothing of the inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Beside {
    /// No better, in a sentence.
    NoBetter(String),
    /// Perhaps no better, in a sentence.
    Unsure(String),
}

impl Beside {
    pub(super) fn sentence(&self) -> &str {
        match self {
            Self::NoBetter(text) | Self::Unsure(text) => text,
        }
    }
}

/// Standard errors that a difference must have to be more than chance.
const ERRORS: f64 = 2.0;

/// What figures say of it; nothing where the model is better, or that is not known.
pub(super) fn beside_none(
    model: &Model,
    evidence: Option<&Evidence>,
    figure: impl Fn(&str) -> Option<Estimate>,
) -> Option<Beside> {
    if let Some(r2) = figure("r2") {
        return of_numbers(&r2);
    }
    // Shares are of rows, figures of weights.
    if model.recipe().is_some_and(|recipe| recipe.weights.is_some()) {
        return None;
    }
    let found = of_classes(&figure("log_loss")?, guess(evidence?)?)?;
    // The log loss of a few rows of a rare class is uncertain where their rank among the others is not.
    let ranks_well =
        figure("auc").is_some_and(|auc| auc.mean - ERRORS * auc.se.unwrap_or(0.0) > 0.5);
    Some(found).filter(|found| !(ranks_well && matches!(found, Beside::Unsure(_))))
}

fn of_numbers(r2: &Estimate) -> Option<Beside> {
    let error = ERRORS * r2.se.unwrap_or(0.0);
    match r2.mean {
        mean if mean < 0.0 => {
            let by_chance = if mean + error >= 0.0 { ", if only by chance" } else { "" };
            Some(Beside::NoBetter(format!(
                "R² is below 0: to predict the mean of these rows for each of them would have been better{by_chance}."
            )))
        }
        mean if mean < error => Some(Beside::Unsure(
            "R² cannot be told from 0: the model may be no better than predicting the mean.".into(),
        )),
        _ => None,
    }
}

fn of_classes(log_loss: &Estimate, guess: f64) -> Option<Beside> {
    let error = ERRORS * log_loss.se.unwrap_or(0.0);
    let known = format!("{}, that of telling every row the shares of the classes", short(guess));
    match log_loss.mean {
        mean if mean >= guess && guess > 0.0 => Some(Beside::NoBetter(format!(
            "Log loss is not below {known}: the inputs help nothing."
        ))),
        mean if mean + error > guess && guess > 0.0 => Some(Beside::Unsure(format!(
            "Log loss cannot be told from {known}: the model may be no better than guessing."
        ))),
        _ => None,
    }
}

/// The log loss of the shares that classes have among the rows.
fn guess(evidence: &Evidence) -> Option<f64> {
    let confusion = evidence.classes.as_ref()?.confusion.as_ref()?;
    let rows = confusion.counts.chunks_exact(confusion.classes.len().max(1));
    let counts: Vec<f64> = rows.map(|row| row.iter().sum::<usize>() as f64).collect();
    let total: f64 = counts.iter().sum();
    let parts = counts.iter().filter(|count| **count > 0.0).map(|count| count / total);
    (total > 0.0).then(|| parts.map(|share| -share * share.ln()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_worse_than_none_is_noticed() {
        let r2 = |mean: f64, se: f64| of_numbers(&Estimate { mean, se: Some(se) });
        assert!(matches!(r2(-4.0, 0.5), Some(Beside::NoBetter(text)) if !text.contains("chance")));
        assert!(matches!(r2(-0.1, 0.2), Some(Beside::NoBetter(text)) if text.contains("chance")));
        assert!(matches!(r2(0.1, 0.2), Some(Beside::Unsure(_))));
        assert_eq!(r2(0.9, 0.02), None);
        let loss = |mean: f64| of_classes(&Estimate { mean, se: Some(0.05) }, 0.69);
        assert!(matches!(loss(0.8), Some(Beside::NoBetter(_))));
        assert!(matches!(loss(0.65), Some(Beside::Unsure(_))));
        assert_eq!(loss(0.3), None);
    }
}
