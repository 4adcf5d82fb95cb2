//! Whether a model is better than none: than the mean of the truths, or than telling every row the shares of the classes.

use dolmen::oos::CheckKind;
use dolmen::recipe::{Basis, Evidence, FitReport, Model};
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
    let found = of_classes(&figure("log_loss")?, &guess(model, evidence?)?)?;
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

fn of_classes(log_loss: &Estimate, guess: &Guess) -> Option<Beside> {
    let Guess { loss, among, is_known } = *guess;
    let error = ERRORS * log_loss.se.unwrap_or(0.0);
    let told =
        format!("{}, that of telling every row the shares of the classes{among}", short(loss));
    match log_loss.mean {
        _ if loss <= 0.0 => None,
        mean if mean >= loss && is_known => Some(Beside::NoBetter(format!(
            "Log loss is not below {told}: the inputs help nothing."
        ))),
        // What nobody can tell before the rows are there is no model to be compared with.
        mean if mean >= loss => Some(Beside::Unsure(format!("Log loss is not below {told}."))),
        mean if mean + error > loss && is_known => Some(Beside::Unsure(format!(
            "Log loss cannot be told from {told}: the model may be no better than guessing."
        ))),
        _ => None,
    }
}

/// What telling every row the shares of the classes costs.
#[derive(Debug, Clone, Copy)]
struct Guess {
    loss: f64,
    /// The rows that the shares are of, where that needs to be said.
    among: &'static str,
    /// Whether the shares are of rows learned from.
    is_known: bool,
}

/// The log loss of the shares that classes have among the rows learned from; of the same rows where those are not known.
fn guess(model: &Model, evidence: &Evidence) -> Option<Guess> {
    let own = shares(evidence)?;
    let (told, among, is_known) = match (evidence.basis, model.evidence().and_then(shares)) {
        (Basis::NewRows, Some(learned)) if learned.len() == own.len() => {
            (learned, " among the rows learned from", true)
        }
        (Basis::NewRows, _) => (own.clone(), AMONG_THESE, false),
        // In order of time the rows checked are later ones than those learned from.
        _ if is_forward(model) => (own.clone(), AMONG_THESE, false),
        _ => (own.clone(), "", true),
    };
    let parts = own.iter().zip(&told).filter(|(share, _)| **share > 0.0);
    let loss = parts.map(|(share, told)| -share * told.ln()).sum();
    Some(Guess { loss, among, is_known })
}

/// The log loss of telling every row the shares of the classes; `None` where rows have weights, which the shares have not.
pub(super) fn guessed_loss(model: &Model, evidence: &Evidence) -> Option<f64> {
    let is_weighted = model.recipe().is_some_and(|recipe| recipe.weights.is_some());
    guess(model, evidence).filter(|_| !is_weighted).map(|own| own.loss)
}

const AMONG_THESE: &str = " among these rows, which no model knows beforehand";

fn is_forward(model: &Model) -> bool {
    match model.report() {
        Some(FitReport::Stack(stack)) => {
            stack.check.as_ref().is_some_and(|check| check.kind == CheckKind::Forward)
        }
        _ => false,
    }
}

/// The shares of the classes among rows.
fn shares(evidence: &Evidence) -> Option<Vec<f64>> {
    let confusion = evidence.classes.as_ref()?.confusion.as_ref()?;
    let rows = confusion.counts.chunks_exact(confusion.classes.len().max(1));
    let counts: Vec<f64> = rows.map(|row| row.iter().sum::<usize>() as f64).collect();
    let total: f64 = counts.iter().sum();
    (total > 0.0).then(|| counts.into_iter().map(|count| count / total).collect())
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
        let guess = Guess { loss: 0.69, among: "", is_known: true };
        let loss = |mean: f64, is_known: bool| {
            of_classes(&Estimate { mean, se: Some(0.05) }, &Guess { is_known, ..guess })
        };
        assert!(matches!(loss(0.8, true), Some(Beside::NoBetter(_))));
        assert!(matches!(loss(0.65, true), Some(Beside::Unsure(_))));
        assert_eq!(loss(0.3, true), None);
        assert!(matches!(loss(0.8, false), Some(Beside::Unsure(_))));
        assert_eq!(loss(0.65, false), None);
    }
}
