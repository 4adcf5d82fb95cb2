//! What there is to say, in sentences: what was fitted, how good it is and how sure, whether the stack is worth it, what to do
//! next.

use dolmen::combine::weigh::Weighing;
use dolmen::ensemble::{Assessment, Surety};
use dolmen::recipe::{FitReport, Model, StackReport};
use dolmen::score::Estimate;
use dolmen::score::figures::Estimates;
use dolmen::task::TaskKind;

use super::baseline::{self, Beside};
use super::compared::{of_comparison, of_learning, of_sets};
use super::warnings::{FEW_ROWS, without_values};
use super::weighed::{by_other_rows, of_weighing};
use super::worth::{self, unchecked, worth};
use crate::Subject;
use crate::draw::{capital, counted, short, signed, uncertain};
use crate::subject::{OVER_PAIRS, THE_SAME_ROWS};

/// What the sign of an error means.
pub(super) const ONE_ERROR: &str = " After ± stands one standard error.";

pub(super) type Lines = Vec<(&'static str, String)>;

/// What a subject is called.
pub(super) fn title(subject: &Subject<'_>) -> String {
    match subject {
        Subject::Model(view) => match view.model.target() {
            Some(target) => format!("A model for {target}"),
            None => "A model of the density of the rows".into(),
        },
        Subject::Weighing(..) => "A combination of predictions".into(),
        Subject::Comparison(_) => "Is stacking worth it?".into(),
        Subject::Sets(_) => "Methods over several sets".into(),
        Subject::Learning(_) => "How much do more rows help?".into(),
        Subject::Score(_) => "A model on new rows".into(),
    }
}

pub(super) fn subtitle(subject: &Subject<'_>) -> String {
    let task = subject.task().map_or("", TaskKind::name);
    let rows = match subject {
        Subject::Model(view) => view.model.report().map(|report| match report {
            FitReport::Stack(stack) => stack.table_rows.max(covered(stack)),
            FitReport::Alone(alone) => alone.rows,
        }),
        Subject::Weighing(..) => {
            subject.weighing().map(|w| w.rows).or_else(|| Some(subject.other()?.rows))
        }
        Subject::Comparison(comparison) => Some(comparison.rows),
        Subject::Learning(curve) => Some(curve.rows),
        Subject::Score(report) => Some(report.rows),
        Subject::Sets(sets) => return format!("{task} · {} sets", sets.sets.len()),
    };
    let rows = rows.map_or_else(String::new, |rows| format!(" · {}", counted(rows, "row")));
    let columns = subject.model().map_or_else(String::new, |view| {
        format!(" · {}", counted(view.model.schema().len(), "input"))
    });
    format!("{task}{rows}{columns}")
}

fn covered(stack: &StackReport) -> usize {
    stack.check.as_ref().map_or(0, |check| check.covered_rows)
}

pub(super) fn summary(subject: &Subject<'_>) -> Lines {
    match subject {
        Subject::Model(view) => match view.model.report() {
            Some(FitReport::Stack(stack)) => of_stack(subject, view.model, stack),
            Some(FitReport::Alone(alone)) => {
                let names: Vec<&str> = alone.members.iter().map(|m| m.name.as_str()).collect();
                let unknown = || {
                    "Not known from the fit: score it on rows it has not seen (dolmen score, or dolmen report with --data).".into()
                };
                vec![
                    (
                        "What was fitted.",
                        format!(
                            "{} on all {}, as it is: no row was held out.",
                            names.join(", "),
                            counted(alone.rows, "row")
                        ),
                    ),
                    ("How good it is.", of_alone(subject).unwrap_or_else(unknown)),
                ]
            }
            None => vec![(
                "What was fitted.",
                "The model was written by an earlier version and carries no report.".into(),
            )],
        },
        Subject::Weighing(..) => of_weighing(subject),
        Subject::Comparison(comparison) => of_comparison(comparison),
        Subject::Sets(sets) => of_sets(sets),
        Subject::Learning(curve) => of_learning(curve),
        Subject::Score(report) => vec![(
            "How good it is.",
            format!("{} It scores {}.", worth::on_new_rows(report), short(report.score)),
        )],
    }
}

/// What new rows say of members as they are.
fn of_alone(subject: &Subject<'_>) -> Option<String> {
    let text = on_new_rows(subject)?;
    let beside = beside_none(subject).map(|beside| format!(" {}", beside.sentence()));
    Some(format!("{text}{}", beside.unwrap_or_default()))
}

pub(super) fn with_error(estimate: &Estimate) -> String {
    let se = estimate.se.filter(|se| *se != 0.0 && !estimate.mean.is_nan());
    let se = se.map_or_else(String::new, |se| format!(" (standard error {})", short(se)));
    format!("{}{se}", signed(estimate.mean))
}

fn of_stack(subject: &Subject<'_>, model: &Model, stack: &StackReport) -> Lines {
    let mut lines = vec![("What was fitted.", fitted(subject, model, stack))];
    lines.push(("How good it is.", goodness(subject, model, stack)));
    let is_worth = match &stack.check {
        Some(check) => Some(worth(subject, check, &stack.kept)),
        None => unchecked(subject),
    };
    lines.extend(is_worth.map(|text| ("Is the stack worth it?", text)));
    lines.push(("What to do next.", next(subject, model, stack)));
    lines
}

fn fitted(subject: &Subject<'_>, model: &Model, stack: &StackReport) -> String {
    let members = subject.member_count();
    let what = match (model.target(), model.classes().len()) {
        (None, _) => "the density of the rows".to_string(),
        (Some(target), 0) => format!("the number '{target}'"),
        (Some(target), classes) => format!("'{target}', one of {classes} classes,"),
    };
    let used = model.member_names().len();
    let kept = match stack.kept.as_str() {
        "stack" => {
            let in_use = |w: &Weighing| w.members.iter().filter(|m| m.weight != 0.0).count();
            let used = subject.weighing().map_or(used, in_use);
            let how = &stack.combiner;
            let only = || subject.weighing()?.members.iter().find(|m| m.weight != 0.0);
            match only().filter(|_| used == 1 && members > 1) {
                Some(only) => format!("By {how} all weight is on '{}'", only.name),
                None => {
                    let which = if used == members { "all".into() } else { used.to_string() };
                    format!("The model combines {which} of them by {how}")
                }
            }
        }
        "uniform" => format!("The model is the plain average of its {}", counted(used, "member")),
        member => format!("The model is '{member}' alone"),
    };
    let from = model.schema().len();
    let inputs = if model.target().is_some() {
        format!(" from {}", counted(from, "input"))
    } else {
        format!(", {}", counted(from, "column"))
    };
    format!(
        "{} predict{} {what}{inputs}. Each was judged on rows it had not seen, in {}. {kept}.",
        capital(&counted(members, "member")),
        if members == 1 { "s" } else { "" },
        counted(stack.folds, "fold")
    )
}

/// The figures that people know, of what is kept, and whether they are better than those of no model.
fn goodness(subject: &Subject<'_>, model: &Model, stack: &StackReport) -> String {
    let given = on_new_rows(subject);
    // Rows that it was fitted to flatter: they come last.
    let (lead, last) = if subject.knows_rows() { (None, given) } else { (given, None) };
    let lead = lead.unwrap_or_else(|| on_held_out(subject, model, stack));
    let beside = beside_none(subject).map(|beside| beside.sentence().to_string());
    [Some(lead), beside, last].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// How what is kept does beside a model that knows nothing of the inputs; nothing where it is better.
fn beside_none(subject: &Subject<'_>) -> Option<Beside> {
    let model = subject.model()?.model;
    baseline::beside_none(model, subject.evidence(), |name| figure_of(subject, name))
}

/// A figure of what is kept, of rows that were given or of those that the fit knows.
pub(super) fn figure_of(subject: &Subject<'_>, name: &str) -> Option<Estimate> {
    match subject.model()?.score.filter(|_| !subject.knows_rows()) {
        Some(score) => {
            let mean = *score.figures.get(name)?;
            Some(Estimate { mean, se: score.figure_errors.get(name).copied() })
        }
        None => kept_figures(subject.stack()?)?.get(name).copied(),
    }
}

/// The figures of what is kept, as the fit knows them.
pub(super) fn kept_figures(stack: &StackReport) -> Option<&Estimates> {
    let figures = stack.figures.as_ref()?;
    Some(match stack.kept.as_str() {
        "stack" => &figures.stack,
        "uniform" => &figures.uniform,
        _ => &figures.best_member,
    })
}

/// What the rows of the fit say of it.
fn on_held_out(subject: &Subject<'_>, model: &Model, stack: &StackReport) -> String {
    let (Some(figures), Some(own)) = (&stack.figures, kept_figures(stack)) else {
        let honest = subject.weighing().and_then(|weighing| weighing.cross_validated.as_ref());
        return honest.map_or_else(
            || {
                "Not known: members were judged on rows they had not seen, the combination was not."
                    .into()
            },
            |honest| by_other_rows(subject, honest),
        );
    };
    let figure_text: Vec<String> =
        own.iter().map(|(name, value)| figure_text(subject, name, value)).collect();
    let rows = if figures.held_out {
        "On rows held out"
    } else {
        "On the rows that the weights were learned from, which flatters"
    };
    let honest = match stack.check.as_ref().map(|check| check.nested) {
        Some(true) => {
            " Members and weights had not seen these rows, so that this is what to expect of new ones."
        }
        Some(false) => {
            " The members had not seen these rows, nor had the weights; with few rows it may still flatter a little."
        }
        None => "",
    };
    let before = if model.report().is_some() && stack.calibration.is_some() {
        " (before calibration)"
    } else {
        ""
    };
    let ranked = ranked_better(stack).unwrap_or_default();
    format!("{rows}{before}: {}.{ONE_ERROR}{honest}{ranked}", figure_text.join(", "))
}

/// That equal weights rank the classes clearly better than the stack that is kept, in a sentence.
fn ranked_better(stack: &StackReport) -> Option<String> {
    let figures = stack.figures.as_ref().filter(|_| stack.kept == "stack")?;
    let (own, equal) = (figures.stack.get("auc")?, figures.uniform.get("auc")?);
    // Of the same rows: the errors have much in common, so that this is a careful bound.
    let error = own.se?.hypot(equal.se?);
    (equal.mean - own.mean > 2.0 * error && error > 0.0).then(|| {
        format!(
            " Equal weights rank the classes better (AUC {}): where only the order of the rows counts, they are the better choice (--combiner uniform).",
            short(equal.mean)
        )
    })
}

/// A figure with its standard error.
fn figure_text(subject: &Subject<'_>, name: &str, value: &Estimate) -> String {
    let whose = if name == "auc" && subject.has_pairs() {
        format!(" ({OVER_PAIRS})")
    } else {
        String::new()
    };
    format!("{}{whose} {}", spoken_figure(name), uncertain(value.mean, value.se))
}

/// The figures of rows that were given for it, if there are any.
fn on_new_rows(subject: &Subject<'_>) -> Option<String> {
    let score = subject.model()?.score?;
    let figure = |(name, mean): (&String, &f64)| {
        let se = score.figure_errors.get(name).copied();
        figure_text(subject, name, &Estimate { mean: *mean, se })
    };
    let known = score.figures.iter().filter(|(_, mean)| !mean.is_nan());
    let figures: Vec<String> = known.map(figure).collect();
    let error = if score.figure_errors.is_empty() { "" } else { ONE_ERROR };
    let same = if subject.knows_rows() { format!(" {THE_SAME_ROWS}.") } else { String::new() };
    Some(format!(
        "On {} that {} given for it: {}.{error}{same}",
        counted(score.rows, "row"),
        if score.rows == 1 { "was" } else { "were" },
        figures.join(", ")
    ))
}

/// What a figure is called.
pub(super) fn spoken_figure(figure: &str) -> String {
    match figure {
        "r2" => "R²".into(),
        "auc" => "AUC".into(),
        "rmse" => "RMSE".into(),
        "mae" => "MAE".into(),
        "error" => "error rate".into(),
        "brier" => "Brier score".into(),
        other => other.replace('_', " "),
    }
}

fn next(subject: &Subject<'_>, model: &Model, stack: &StackReport) -> String {
    let mut advice: Vec<String> = Vec::new();
    let given = subject.model().and_then(|view| view.score).filter(|_| !subject.knows_rows());
    let new_rows = given.map(|score| score.rows);
    if !without_values(subject).is_empty() {
        advice.push(
            "give rows with values in all columns, or fit without those that new rows do not have"
                .into(),
        );
    } else if let Some(Beside::NoBetter(_)) = beside_none(subject) {
        advice.push("as it is no better than no model, look for inputs that tell more of the target, or for rows like those it is to predict".into());
    }
    let check = stack.check.as_ref().filter(|check| !check.verdict.only_member);
    let is_lost = |check: &Assessment| {
        Surety::of_loss(&check.verdict.gain, check.checked_rows) == Surety::Clear
    };
    let is_unsure = |check: &Assessment| {
        matches!(check.verdict.surety, Surety::Unsure | Surety::Not) && !worth::is_same(check)
    };
    if check.is_some_and(is_lost) {
        advice.push("as the best member alone is clearly better, fit without --keep-stack, which keeps that one".into());
    } else if check.is_some_and(is_unsure) {
        advice.push("to know whether the stack is better, compare on repeated splits (dolmen compare), or gather more rows".into());
    }
    if !model.classes().is_empty() && stack.calibration.is_none() {
        advice.push("if probabilities are used as such, look at their reliability below, and calibrate (--calibrate temperature) if they promise too much".into());
    }
    if subject.evidence().is_some_and(|evidence| evidence.importance.is_none())
        && model.target().is_some()
        && new_rows.is_none()
    {
        advice.push("to see which inputs matter, fit with --explain, or report with --data".into());
    }
    if new_rows.is_none() {
        advice.push("before relying on it, score it on rows that took part in nothing (dolmen score MODEL TEST)".into());
    }
    if let Some(rows) = new_rows.filter(|rows| *rows < FEW_ROWS) {
        let say = if rows == 1 { "says" } else { "say" };
        advice.push(format!("as {} {say} little, give it more", counted(rows, "row")));
    }
    if advice.is_empty() {
        return "If the rows above took part in nothing, these figures are what to expect.".into();
    }
    capital(&format!("{}.", advice.join("; ")))
}

/// What made it.
pub(super) fn versions(subject: &Subject<'_>) -> String {
    let here = env!("CARGO_PKG_VERSION");
    match subject.model().map(|view| view.model.writer()) {
        Some(writer) if !writer.is_empty() && writer != here => {
            format!("Fitted by Dolmen {writer}, shown by Dolmen {here}.")
        }
        _ => format!("Made by Dolmen {here}."),
    }
}
