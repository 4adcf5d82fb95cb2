//! What there is to say of predictions that were combined, in sentences: how, how good that is, whether it is worth it, what to do
//! next.

use dolmen::combine::weigh::CrossValidated;
use dolmen::ensemble::Surety;
use dolmen::score::Estimate;
use dolmen::task::TaskKind;

use super::words::{Lines, ONE_ERROR};
use super::worth::{NO_PROBABILITY, worth_weighing};
use crate::Subject;
use crate::draw::{capital, counted, short, uncertain};

pub(super) fn of_weighing(subject: &Subject<'_>) -> Lines {
    let mut lines = Vec::new();
    if let Some(weighing) = subject.weighing() {
        let used = weighing.members.iter().filter(|m| m.weight != 0.0).count();
        let members = weighing.members.len();
        let which = match used {
            _ if used == members => "all of them have weight".into(),
            1 => "1 of them has weight".into(),
            _ => format!("{used} of them have weight"),
        };
        let which = if members == 1 { String::new() } else { format!(": {which}") };
        lines.push((
            "What was combined.",
            format!(
                "{} by {}{which}. No weights of the same kind score better by more than {}.",
                capital(&counted(members, "member")),
                weighing.method.name(),
                short(weighing.gap)
            ),
        ));
    } else if let Some(other) = subject.other() {
        lines.push((
            "What was combined.",
            format!(
                "{}; the best of them alone is '{}'.",
                capital(&counted(other.members.len(), "member")),
                other.best
            ),
        ));
    }
    lines.extend(goodness(subject).map(|text| ("How good it is.", text)));
    lines.extend(worth_weighing(subject).map(|text| ("Is it worth it?", text)));
    lines.extend(next(subject).map(|text| ("What to do next.", text)));
    lines
}

/// The score of a combination and of what is simpler, on rows that its weights have seen as little of as is known.
fn goodness(subject: &Subject<'_>) -> Option<String> {
    let own = if let Some(check) = subject.check() {
        scored(subject, "On rows held out from the combination", &check.stack)
    } else {
        let weighing = subject.weighing()?;
        weighing.cross_validated.as_ref().map_or_else(
            || {
                let score = Estimate { mean: weighing.score, se: weighing.score_se };
                let how = "On the rows that the weights were found on, which flatters";
                scored(subject, how, &score)
            },
            |honest| by_other_rows(subject, honest),
        )
    };
    Some(format!("{own}{}", beside(subject)))
}

/// How a combination does with weights that were found on other rows.
pub(super) fn by_other_rows(subject: &Subject<'_>, honest: &CrossValidated) -> String {
    let score = Estimate { mean: honest.score, se: honest.score_se };
    scored(subject, "With weights found on other rows than those scored", &score)
}

/// A mean score, in a sentence or two.
fn scored(subject: &Subject<'_>, how: &str, score: &Estimate) -> String {
    if score.mean == f64::NEG_INFINITY {
        return format!("{how} {NO_PROBABILITY}.");
    }
    let root = if subject.task() == Some(TaskKind::Regression) {
        format!(": a root mean squared error of {}", short((-score.mean).max(0.0).sqrt()))
    } else {
        String::new()
    };
    let error = if score.se.is_some() { ONE_ERROR } else { "" };
    let (name, value) = (subject.score_name(), uncertain(score.mean, score.se));
    format!("{how}, the mean {name} is {value}{root}.{error}")
}

/// The same of the best member and of equal weights; nothing where there is one member only.
fn beside(subject: &Subject<'_>) -> String {
    let scores: Vec<(&str, f64)> = match (subject.weighing(), subject.other()) {
        (Some(own), _) => own.members.iter().map(|m| (m.name.as_str(), m.score)).collect(),
        (None, Some(own)) => own.members.iter().map(|m| (m.name.as_str(), m.score)).collect(),
        (None, None) => Vec::new(),
    };
    let best = scores.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, score)) = best.filter(|_| scores.len() > 1) else { return String::new() };
    let honest = || subject.weighing()?.cross_validated.as_ref();
    let uniform = match (subject.check(), honest()) {
        (Some(check), _) => Some(check.uniform),
        (None, Some(honest)) => honest.uniform,
        (None, None) => subject.weighing().and_then(|own| own.uniform),
    };
    let equal = uniform
        .map_or_else(String::new, |own| format!(", equal weights {}", uncertain(own.mean, own.se)));
    format!(" The best member, '{best}', has {} alone{equal}.", short(*score))
}

/// What follows from the gains, where they are known.
fn next(subject: &Subject<'_>) -> Option<String> {
    let weighing = subject.weighing();
    let (best, uniform, rows) = if let Some(check) = subject.check() {
        (check.gain_over_best, check.gain_over_uniform, check.checked_rows)
    } else {
        let weighing = weighing?;
        let honest = weighing.cross_validated.as_ref()?;
        (honest.gain_over_best, honest.gain_over_uniform, weighing.rows)
    };
    let name = weighing.map(|own| &own.best).or_else(|| Some(&subject.other()?.best))?;
    if subject.member_count() < 2 {
        return None;
    }
    Some(match Surety::of(&best, rows) {
        Surety::Not => format!("Use '{name}' alone, or add members that go wrong elsewhere."),
        _ if uniform.mean < 0.0 => {
            "Use equal weights (--method uniform), or gather more rows to learn weights from."
                .into()
        }
        Surety::Unsure => format!(
            "Gather more rows to know more; until then '{name}' alone does about as well and is simpler."
        ),
        Surety::Clear | Surety::Likely => {
            "Combine predictions of further rows by it (dolmen weigh FILE --apply FURTHER).".into()
        }
    })
}
