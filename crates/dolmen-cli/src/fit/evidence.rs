//! The evidence of a fit as text: the check, the usual figures, what is kept, and how often intervals hold the truth.

use std::io::Write;

use dolmen::ensemble::{
    Assessment, Candidate, Coverage, IntervalKind, Kept, StackFigures, Surety, Verdict,
};
use dolmen::oos::CheckKind;
use dolmen::recipe::SampleReport;
use dolmen::score::Estimate;
use dolmen::score::figures::Estimates;

use crate::output::{Done, columns, difference, error, maybe, number};

/// The check, in the manner of a weighing's summary, and what of it comes from a sample of the rows, if one was drawn.
pub(super) fn show_check(
    check: &Assessment,
    sample: Option<&SampleReport>,
    out: &mut dyn Write,
) -> Done {
    let held_out = if check.nested { "members and weights alike" } else { "the weights" };
    let how = if check.kind == CheckKind::Forward { "blocks of time" } else { "folds" };
    let rows =
        if sample.is_some_and(|sample| sample.check) { "rows of the sample" } else { "rows" };
    writeln!(out, "check          {rows} held out from {held_out} ({} {how})", check.folds)?;
    if check.checked_rows < check.covered_rows {
        let Assessment { checked_rows, covered_rows, .. } = check;
        writeln!(
            out,
            "               {checked_rows} of the {covered_rows} rows that were predicted unseen"
        )?;
    }
    let score =
        |estimate: &Estimate| format!("{} (se {})", number(estimate.mean), maybe(estimate.se));
    writeln!(out, "               {} the stack{}", score(&check.stack), choice(check))?;
    writeln!(out, "               {} the best member", score(&check.best_member))?;
    writeln!(out, "               {} equal weights", score(&check.uniform))?;
    let gain = difference(&check.gain_over_best);
    writeln!(out, "               {gain} over the member that other rows found best")?;
    writeln!(out, "               {} over equal weights", difference(&check.gain_over_uniform))?;
    if check.candidates.len() > 1 {
        writeln!(out)?;
        let row = |(at, candidate): (usize, &Candidate)| {
            let Candidate { name, score } = candidate;
            vec![name.clone(), number(score.mean), maybe(score.se), mark(check, at).into()]
        };
        let rows = check.candidates.iter().enumerate().map(row);
        let title = of_sample("combiner", sample.is_some());
        columns(&[&title, "score", "se", ""], rows, out)?;
    }
    Ok(writeln!(out)?)
}

/// A title of what comes from all rows, or from a sample of them.
pub(super) fn of_sample(title: &str, is_of_sample: bool) -> String {
    format!("{title}{}", if is_of_sample { " (of the sample)" } else { "" })
}

/// What the stack of the check is: one combiner, or the choice among several.
fn choice(check: &Assessment) -> String {
    match &check.candidates[..check.asked_for] {
        [] => String::new(),
        [only] => format!(" ({})", only.name),
        _ => ": in each fold the combiner that did best in the others".into(),
    }
}

/// What is noted beside a candidate: that it is used, or would be if a stack were kept, and why.
fn mark(check: &Assessment, candidate: usize) -> &'static str {
    let kept = check.verdict.kept;
    if candidate != check.chosen_index {
        return "";
    }
    match kept {
        Kept::BestMember => "not used: the best member is kept",
        Kept::Uniform => "used: better than stack and best member",
        Kept::Stack if check.asked_for > 1 => "used: the best combiner",
        Kept::Stack => "used",
    }
}

/// The usual figures, one line for each of those compared.
pub(super) fn show_figures(
    figures: &StackFigures,
    calibrated: bool,
    is_of_sample: bool,
    out: &mut dyn Write,
) -> Done {
    // The mean score of a density is its only figure, and stands there already.
    let shown: Vec<&str> =
        figures.stack.keys().map(String::as_str).filter(|f| *f != "log_density").collect();
    if shown.is_empty() {
        return Ok(());
    }
    let row = |(name, own): (&str, &Estimates)| {
        let cell = |figure: &&str| {
            let Estimate { mean, se } = own[*figure];
            format!("{} ({})", number(mean), se.map_or_else(|| "-".into(), error))
        };
        [name.to_string()].into_iter().chain(shown.iter().map(cell)).collect::<Vec<_>>()
    };
    let rows = [
        ("stack", &figures.stack),
        ("best member", &figures.best_member),
        ("equal weights", &figures.uniform),
    ];
    let first = if figures.held_out { "rows held out" } else { "rows learned from" };
    let first = of_sample(first, is_of_sample);
    let shown: Vec<String> = shown.iter().map(|name| name.replace('_', " ")).collect();
    let header: Vec<&str> =
        [first.as_str()].into_iter().chain(shown.iter().map(String::as_str)).collect();
    columns(&header, rows.into_iter().map(row), out)?;
    let before = if calibrated { "; before calibration" } else { "" };
    writeln!(out, "(standard errors in brackets{before})\n")?;
    Ok(())
}

/// What is kept, and how sure it is that this is right.
pub(super) fn show_verdict(verdict: &Verdict, kept: &str, out: &mut dyn Write) -> Done {
    let gain = difference(&verdict.gain);
    let (what, whose) = match verdict.kept {
        Kept::Stack => ("the stack".to_string(), "its gain over the best member"),
        Kept::Uniform => ("equal weights".to_string(), "their gain over the best member"),
        Kept::BestMember => {
            (format!("'{kept}' alone"), "its lead over the stack and over equal weights")
        }
    };
    let sure = match verdict.surety {
        Surety::Clear => "is clear",
        Surety::Likely => "is likely, not sure",
        Surety::Unsure => "is unsure",
        Surety::Not if verdict.kept == Kept::BestMember => "is none, but it is the simplest",
        Surety::Not if verdict.by_check => "is none, but the lead of that member is within chance",
        Surety::Not => "is not above 0",
    };
    if verdict.only_member && verdict.gain.mean == 0.0 {
        return Ok(writeln!(out, "kept           the only member: there is nothing to choose")?);
    }
    let is_same = verdict.gain.mean == 0.0 && verdict.gain.se == Some(0.0);
    if is_same && verdict.kept == Kept::BestMember {
        return Ok(writeln!(
            out,
            "kept           {what}: in the check the stack and its best member were one and the same"
        )?);
    }
    let what = if verdict.only_member { "the stack of the only member".into() } else { what };
    let asked = if verdict.by_check || verdict.only_member { "" } else { " (as asked)" };
    if verdict.gain.mean == f64::INFINITY {
        writeln!(
            out,
            "kept           {what}{asked}: {whose} is infinite, as that gave some row no probability at all"
        )?;
    } else {
        writeln!(out, "kept           {what}{asked}: {whose}, {gain}, {sure}")?;
    }
    if let (Surety::Likely | Surety::Unsure, Some(chance)) = (verdict.surety, verdict.chance) {
        let often = (100.0 * chance).round();
        writeln!(
            out,
            "               (without a true one, so much or more comes up in {often} of 100 checks)"
        )?;
    }
    if verdict.kept != Kept::Stack {
        writeln!(out, "               (--keep-stack keeps the stack)")?;
    }
    Ok(())
}

/// How often prediction intervals hold the truth, level by level.
pub(crate) fn show_coverage(title: &str, coverage: &[Coverage], out: &mut dyn Write) -> Done {
    let row = |Coverage { level, measured, width }: &Coverage| {
        let holds = format!("{:.1} %", 100.0 * measured.mean);
        let se = measured.se.map_or_else(|| "-".into(), |se| format!("{:.1} %", 100.0 * se));
        vec![format!("{:.0} %", 100.0 * level), holds, se, number(*width)]
    };
    if coverage.is_empty() {
        writeln!(out, "{title}: too few rows to tell how often they hold")?;
    } else {
        columns(&[title, "hold", "se", "mean width"], coverage.iter().map(row), out)?;
    }
    Ok(writeln!(out)?)
}

/// The title of the intervals of a kind.
pub(super) fn intervals_title(kind: IntervalKind) -> &'static str {
    match kind {
        IntervalKind::Constant => "intervals (constant width)",
        IntervalKind::Local => "intervals (local width)",
    }
}
