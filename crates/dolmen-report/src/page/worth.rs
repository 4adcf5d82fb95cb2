//! Whether a combination is worth it, in sentences: its gain over the best member, and how sure that is.
//!
//! The best member of a check is not the one that is best on all rows: every fold chooses it by the rows of the others, as somebody
//! would who had no other rows.

use dolmen::ensemble::{Assessment, Kept, Surety, Verdict};
use dolmen::recipe::ScoreReport;
use dolmen::score::Estimate;

use super::words::with_error;
use crate::Subject;
use crate::draw::{capital, short};
use crate::subject::{CHOSEN, INFINITE, is_nothing};

/// What a score of minus infinity means.
pub(super) const NO_PROBABILITY: &str =
    "it gives some row no probability at all, and its score is −∞";

/// Whether the stack is worth it, by its check and by new rows, where there are any.
pub(super) fn worth(subject: &Subject<'_>, check: &Assessment, kept: &str) -> String {
    if check.verdict.only_member {
        return "There is only one member: there is nothing to combine.".into();
    }
    let own = match check.verdict.kept {
        Kept::Stack => of_stack(subject, check),
        Kept::Uniform => of_average(subject, check),
        Kept::BestMember => of_member(check, kept),
    };
    format!("{own}{}", and_new_rows(subject))
}

/// What new rows say, if there are any; those that it was fitted to say nothing.
fn and_new_rows(subject: &Subject<'_>) -> String {
    let new = subject.model().and_then(|view| view.score).filter(|_| !subject.knows_rows());
    new.map_or_else(String::new, |score| format!(" {}", on_new_rows(score)))
}

/// The same of a stack that was not checked as a whole, by weights from other rows and by new rows, where there are any.
pub(super) fn unchecked(subject: &Subject<'_>) -> Option<String> {
    match worth_weighing(subject) {
        Some(own) => Some(format!("{own}{}", and_new_rows(subject))),
        None => {
            let text = and_new_rows(subject);
            (!text.is_empty()).then(|| text.trim_start().into())
        }
    }
}

/// Equal weights that are kept.
fn of_average(subject: &Subject<'_>, check: &Assessment) -> String {
    let surety = if loses_on_new_rows(subject) { Surety::Unsure } else { check.verdict.surety };
    let answer = average_answer(surety, &check.gain_over_uniform, check.checked_rows);
    let gain = capital(&of_gain(subject, check, "their"));
    let hindsight = better_combiner(check).unwrap_or_default();
    format!("{answer}: {}.{hindsight} {gain}", learned_beside_equal(check))
}

/// Whether new rows say clearly that some member alone is better.
fn loses_on_new_rows(subject: &Subject<'_>) -> bool {
    let new = subject.model().and_then(|view| view.score).filter(|_| !subject.knows_rows());
    new.is_some_and(|score| Surety::of_loss(&score.gain_over_best, score.rows) == Surety::Clear)
}

/// Whether combining is worth it, by how sure the gain of the combination is, and whether learning weights is, by what they lose.
fn average_answer(surety: Surety, over_uniform: &Estimate, rows: usize) -> &'static str {
    let is_lost = Surety::of_loss(over_uniform, rows) == Surety::Clear;
    match (surety, is_lost) {
        (Surety::Clear, true) => "Combining is, learning weights is not",
        (Surety::Clear, false) => "Combining is; whether learning weights is cannot be told",
        (Surety::Likely, true) => "Combining likely is, learning weights is not",
        (Surety::Likely, false) => {
            "Combining likely is; whether learning weights is cannot be told"
        }
        (_, true) => "Whether combining is cannot be told; learning weights is not",
        (_, false) => "Whether combining is cannot be told, nor whether learning weights is",
    }
}

/// How learned weights did beside equal ones, each fold having those, and the combiner, that other rows chose.
fn learned_beside_equal(check: &Assessment) -> String {
    let gain = &check.gain_over_uniform;
    let learned = if check.asked_for > 1 {
        "the combiner that other rows chose"
    } else {
        "with weights learned on other rows the stack"
    };
    if gain.mean >= 0.0 {
        return format!("{learned} did no better than equal weights");
    }
    format!("{learned} did worse than equal weights by {}", lost(gain, check.checked_rows))
}

/// How much such a gain loses, and whether that may be chance.
fn lost(gain: &Estimate, rows: usize) -> String {
    let error = gain
        .se
        .filter(|se| *se != 0.0)
        .map_or_else(String::new, |se| format!(" (standard error {})", short(se)));
    let is_clear = Surety::of_loss(gain, rows) == Surety::Clear;
    let chance = if is_clear { "" } else { ", which may be chance" };
    format!("{}{error}{chance}", short(-gain.mean))
}

/// That a combiner has a better score on the same rows than equal weights, which are kept, and why that is no comparison.
fn better_combiner(check: &Assessment) -> Option<String> {
    let asked = check.candidates.iter().take(check.asked_for);
    let best = asked.max_by(|a, b| a.score.mean.total_cmp(&b.score.mean))?;
    (check.asked_for > 1 && best.score.mean > check.uniform.mean).then(|| {
        format!(
            " '{}' alone scores {} on these rows, more than the {} of equal weights, but that it is the best combiner is known from these very rows only.",
            best.name,
            short(best.score.mean),
            short(check.uniform.mean)
        )
    })
}

/// A stack that is kept.
fn of_stack(subject: &Subject<'_>, check: &Assessment) -> String {
    let verdict = &check.verdict;
    let gain = || of_gain(subject, check, "its");
    let text = if check.stack.mean == f64::NEG_INFINITY {
        format!("No: on rows held out {NO_PROBABILITY}.")
    } else if verdict.gain.mean.is_infinite() {
        capital(&gain())
    } else {
        format!("{}: {}", stack_answer(verdict), gain())
    };
    let is_better = verdict.gain.mean > 0.0;
    let hindsight = better_alone(subject, check).filter(|_| is_better).unwrap_or_default();
    let asked = match (is_better, check.gain_over_uniform.mean < 0.0) {
        _ if verdict.by_check => String::new(),
        // The check would have kept it as well.
        (true, false) => String::new(),
        (true, true) => {
            let learned = capital(&learned_beside_equal(check));
            format!(" {learned}: it is kept because it was asked for.")
        }
        (false, _) => " It is kept because it was asked for.".into(),
    };
    let alone = only_member(subject).map_or_else(String::new, |only| {
        if !is_better {
            return format!(" All weight is on '{only}' in the end: the model is that member.");
        }
        format!(
            " As all weight is on '{only}', nothing is combined in the end: the gain is that of weights found without the rows of a fold over the member chosen without them, and in some fold these were not the same."
        )
    });
    format!("{text}{hindsight}{asked}{alone}")
}

/// That a member has a better score on the same rows than the stack, which gains all the same, and why that is no comparison.
fn better_alone(subject: &Subject<'_>, check: &Assessment) -> Option<String> {
    let alone: Vec<(&str, f64)> = match (subject.weighing(), subject.other()) {
        (Some(own), _) => own.members.iter().map(|m| (m.name.as_str(), m.score)).collect(),
        (None, own) => own?.members.iter().map(|m| (m.name.as_str(), m.score)).collect(),
    };
    let (best, score) = alone.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_same = check.covered_rows == check.checked_rows && score > check.stack.mean;
    is_same.then(|| {
        format!(
            " '{best}' alone scores {} on these rows, more than the stack's {}, but that it is the best member is known from these very rows only: who chooses by other rows, as the comparison does, has another in some folds.",
            short(score),
            short(check.stack.mean)
        )
    })
}

/// Whether a stack is worth it, by how sure its gain is.
fn stack_answer(verdict: &Verdict) -> &'static str {
    match verdict.surety {
        Surety::Clear => "Yes",
        Surety::Likely => "Likely",
        Surety::Unsure => "It cannot be told",
        // The check keeps it only if its loss is within chance.
        Surety::Not if verdict.by_check => "It cannot be told",
        Surety::Not => "No",
    }
}

/// The member that has all the weight, if one has.
fn only_member<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let members = &subject.weighing()?.members;
    let mut used = members.iter().filter(|member| member.weight != 0.0);
    let only = used.next().filter(|_| members.len() > 1)?;
    used.next().is_none().then_some(only.name.as_str())
}

/// The gain over the member that other rows chose, and how sure it is.
fn of_gain(subject: &Subject<'_>, check: &Assessment, whose: &str) -> String {
    let Verdict { kept, gain, .. } = &check.verdict;
    if gain.mean == f64::INFINITY {
        return format!("on rows held out {whose} gain is {}", infinite(subject, *kept));
    }
    let (gain, sure) = (with_error(gain), sure(check));
    format!("on rows held out {whose} gain over {CHOSEN}, {gain}, is {sure}")
}

/// How sure the gain of a check is, to the end of the sentence.
fn sure(check: &Assessment) -> String {
    let Verdict { gain, surety, chance, .. } = &check.verdict;
    let often = chance.map_or_else(String::new, |chance| {
        format!(
            " Without a true difference, so much or more comes up in {:.0} of 100 checks.",
            100.0 * chance
        )
    });
    match (surety, Surety::of_loss(gain, check.checked_rows)) {
        (Surety::Clear, _) => "clear.".into(),
        (Surety::Likely, _) => format!("likely, but not sure.{often}"),
        (Surety::Unsure, _) => format!("within what chance brings.{often}"),
        (Surety::Not, Surety::Clear) => "a clear loss: that member alone is better.".into(),
        (Surety::Not, Surety::Likely) => "likely a loss, but not surely.".into(),
        (Surety::Not, _) => "not above zero, and its loss is within what chance brings.".into(),
    }
}

/// Whether on no row held out the stack and its best member said anything different.
pub(super) fn is_same(check: &Assessment) -> bool {
    is_nothing(&check.verdict.gain)
}

/// A member that is kept alone.
fn of_member(check: &Assessment, kept: &str) -> String {
    let gain = &check.verdict.gain;
    if gain.mean.is_infinite() {
        return format!(
            "No: choosing the best member did best on rows held out, as the combination gives some row no probability at all; '{kept}' is kept."
        );
    }
    if is_same(check) {
        return format!(
            "No: in the check the stack and its best member were one and the same, and '{kept}' is kept."
        );
    }
    let answer = match check.verdict.surety {
        Surety::Clear => "No",
        Surety::Likely => "Likely not",
        Surety::Unsure | Surety::Not => "It cannot be told",
    };
    format!(
        "{answer}: choosing the best member did best on rows held out, and '{kept}' is kept. The lead of {CHOSEN}, {}, is {}",
        with_error(gain),
        sure(check)
    )
}

/// What an infinite gain over the best member is about, and the gain that says more, where that is known.
fn infinite(subject: &Subject<'_>, kept: Kept) -> String {
    let finite = subject.finite_gain().filter(|_| kept == Kept::Stack);
    let finite = finite.map_or_else(String::new, |(best, gain)| {
        format!(
            " Over '{best}', the best member on all rows, it is {} on the rows that the weights were found on.",
            with_error(gain)
        )
    });
    format!("infinite, which says little: {INFINITE}.{finite}")
}

/// What rows that were given say of it. Their best member is known in hindsight only, so that a small loss is no reproach.
pub(super) fn on_new_rows(score: &ScoreReport) -> String {
    let rows = match score.rows {
        1 => "one new row".into(),
        rows => format!("{rows} new rows"),
    };
    if score.score == f64::NEG_INFINITY {
        return format!("On the {rows} {NO_PROBABILITY}.");
    }
    let gain = &score.gain_over_best;
    if score.members.len() < 2 {
        return format!("The {rows} cannot tell: only one member is stored with the model.");
    }
    let (lead, chance) = match (Surety::of(gain, score.rows), Surety::of_loss(gain, score.rows)) {
        (Surety::Clear, _) => ("it is clearly better than", ""),
        (_, Surety::Clear) => ("it is clearly worse than", ""),
        _ if gain.se.is_some_and(|se| se > 0.0) => {
            ("it cannot be told from", ", which is within chance")
        }
        _ => ("it cannot be told from", ""),
    };
    let uniform = &score.gain_over_uniform;
    // Of an average there is nothing to say: it is equal weights itself.
    let equal = if is_nothing(uniform) {
        String::new()
    } else {
        format!(", and {} over equal weights", with_error(uniform))
    };
    format!(
        "On the {rows} {lead} '{}', the member that is best on these very rows: it gains {} over it{chance}{equal}.",
        score.best,
        with_error(gain)
    )
}

/// Whether a combination of predictions from anywhere is; `None` where no gain is known.
pub(super) fn worth_weighing(subject: &Subject<'_>) -> Option<String> {
    if subject.member_count() == 1 {
        return Some("There is only one member: there is nothing to combine.".into());
    }
    if let Some(check) = subject.check() {
        let gains = (&check.gain_over_best, &check.gain_over_uniform);
        let rows = check.checked_rows;
        return Some(worth_combining(subject, "on rows held out", (check.stack.mean, rows), gains));
    }
    let weighing = subject.weighing()?;
    if let Some(honest) = &weighing.cross_validated {
        let gains = (&honest.gain_over_best, &honest.gain_over_uniform);
        let found = (honest.score, weighing.rows);
        return Some(worth_combining(subject, "with weights from other rows", found, gains));
    }
    Some(format!(
        "{}, on the rows the weights were found on, which flatters: over the best member, '{}', the combination gains {}, over equal weights {}.",
        answer(&weighing.gain_over_best, weighing.rows),
        weighing.best,
        with_error(&weighing.gain_over_best),
        with_error(&weighing.gain_over_uniform)
    ))
}

/// The same of a score on so many rows that the weights had not seen, and its gains over the best member and over equal weights.
fn worth_combining(
    subject: &Subject<'_>,
    how: &str,
    (score, rows): (f64, usize),
    (over_best, over_uniform): (&Estimate, &Estimate),
) -> String {
    let uniform = with_error(over_uniform);
    if score == f64::NEG_INFINITY {
        return format!("No: {how} {NO_PROBABILITY}.");
    }
    if over_best.mean == f64::INFINITY {
        return format!(
            "Likely: {how} the combination gains {uniform} over equal weights; its gain over {CHOSEN} is {}",
            infinite(subject, Kept::Stack)
        );
    }
    let answer = match Surety::of(over_best, rows) {
        surety if surety != Surety::Not && over_uniform.mean < 0.0 => {
            average_answer(surety, over_uniform, rows)
        }
        _ => answer(over_best, rows),
    };
    format!(
        "{answer}: {how} the combination gains {} over {CHOSEN}, and {uniform} over equal weights.",
        with_error(over_best)
    )
}

/// Whether a combination is worth it, by its gain over the best member.
fn answer(gain: &Estimate, rows: usize) -> &'static str {
    match (Surety::of(gain, rows), Surety::of_loss(gain, rows)) {
        (Surety::Clear, _) => "Yes, clearly",
        (Surety::Likely, _) => "Likely, but not surely",
        (Surety::Unsure, _) => "It cannot be told: the gain is within what chance brings",
        (Surety::Not, Surety::Clear) => "No, the best member alone is clearly better",
        (Surety::Not, _) => "No, nothing is gained",
    }
}

#[cfg(test)]
mod tests {
    use dolmen::recipe::{Combined, FitReport, Recipe, StackReport, WeighReport};
    use dolmen::run::Run;
    use dolmen::table::{Column, Table};

    use super::*;

    /// The weights of a small stack, all of them given to the first member, and its check.
    fn checked() -> (WeighReport, Assessment) {
        let x: Vec<f64> = (0..60).map(|i| f64::from(i % 20)).collect();
        let y: Vec<f64> = (0..60).map(|i| 3.0 * x[i] + (i * 7 % 5) as f64).collect();
        let columns = [("x", x), ("y", y)].map(|(n, v)| (n.to_string(), Column::Numeric(v)));
        let recipe =
            "target = 'y'\nmembers = ['ridge', 'mean']\ncombiners = ['simplex']\nkeep_stack = true";
        let recipe = Recipe::from_toml(recipe).unwrap();
        let fit = recipe.fit(&Table::new(columns.into()).unwrap(), &Run::new(0)).unwrap();
        let FitReport::Stack(stack) = fit.report else { panic!("a stack has a report") };
        let StackReport { mut combined, check, .. } = *stack;
        if let Combined::Weighed(weighing) = &mut combined {
            (weighing.members[0].weight, weighing.members[1].weight) = (1.0, 0.0);
        }
        let (other_method, calibration) = (None, None);
        (WeighReport { combined, other_method, check: None, calibration }, check.unwrap())
    }

    #[test]
    fn a_gain_with_all_weight_on_one_member_is_explained() {
        let (report, mut check) = checked();
        let subject = Subject::Weighing(&report, None);
        let explained = "As all weight is on 'ridge', nothing is combined in the end";
        check.verdict.gain = Estimate { mean: 0.1, se: Some(0.02) };
        assert!(worth(&subject, &check, "stack").contains(explained));
        check.verdict.gain = Estimate { mean: 0.0, se: Some(0.0) };
        let text = worth(&subject, &check, "stack");
        assert!(text.contains("All weight is on 'ridge'") && !text.contains(explained), "{text}");
    }

    /// The answer is that of a fit which keeps equal weights.
    #[test]
    fn predictions_that_equal_weights_combine_better_are_not_praised() {
        let (report, _) = checked();
        let subject = Subject::Weighing(&report, None);
        let gain = |mean, se| Estimate { mean, se: Some(se) };
        let told = |lost: Estimate| {
            worth_combining(&subject, "there", (-1.0, 60), (&gain(0.1, 0.02), &lost))
        };
        let text = told(gain(-0.04, 0.01));
        assert!(text.starts_with("Combining is, learning weights is not"), "{text}");
        let text = told(gain(-0.04, 0.1));
        assert!(text.contains("whether learning weights is cannot be told"), "{text}");
    }

    #[test]
    fn what_learned_weights_lose_is_told_with_its_error() {
        let (report, mut check) = checked();
        check.verdict.kept = Kept::Uniform;
        check.gain_over_uniform = Estimate { mean: -0.174, se: Some(0.309) };
        let text = worth(&Subject::Weighing(&report, None), &check, "uniform");
        let loss = "worse than equal weights by 0.174 (standard error 0.309), which may be chance";
        assert!(text.contains(loss) && text.contains("cannot be told"), "{text}");
    }

    #[test]
    fn an_infinitely_bad_stack_is_told_in_words() {
        let (report, mut check) = checked();
        let none = Estimate { mean: f64::NEG_INFINITY, se: None };
        (check.stack, check.verdict.gain) = (none, none);
        let text = worth(&Subject::Weighing(&report, None), &check, "stack");
        let start = "No: on rows held out it gives some row no probability at all";
        assert!(text.starts_with(start), "{text}");
    }
}
