//! The report of a fit as text.

use std::io::Write;
use std::path::Path;

use dolmen::ensemble::Calibration;
use dolmen::recipe::{
    AloneReport, Combined, FitReport, OtherCombination, OtherMember, StackReport,
};

use super::evidence::{
    intervals_title, of_sample, show_check, show_coverage, show_figures, show_verdict,
};
use crate::output::{Done, columns, counted, number, weight_bar};
use crate::weigh::show_titled as show_weighing;

/// A report, and where the model went.
pub(super) fn report(report: &FitReport, model: Option<&Path>, out: &mut dyn Write) -> Done {
    match report {
        FitReport::Stack(report) => stack(report, out)?,
        FitReport::Alone(report) => alone(report, out)?,
    }
    if let Some(model) = model {
        writeln!(out, "model          {}", model.display())?;
    }
    Ok(())
}

fn stack(report: &StackReport, out: &mut dyn Write) -> Done {
    let sample = report.sample.as_ref();
    match &report.combined {
        Combined::Weighed(weighing) => {
            let losses = of_sample("loss without", sample.is_some_and(|sample| !sample.scores));
            show_weighing(weighing, &losses, out)?;
        }
        Combined::Other(other) => show_other(other, &report.combiner, out)?,
    }
    let covered = match &report.combined {
        Combined::Weighed(weighing) => weighing.rows,
        Combined::Other(other) => other.rows,
    };
    if covered < report.table_rows {
        let rows = report.table_rows;
        writeln!(
            out,
            "covered        {covered} of the {rows} rows were predicted unseen; the others are learned from only"
        )?;
    }
    if let Some(check) = &report.check {
        show_check(check, sample, out)?;
    } else {
        writeln!(out)?;
    }
    if let Some(figures) = &report.figures {
        show_figures(figures, report.calibration.is_some(), sample.is_some(), out)?;
    }
    if let Some(intervals) = &report.intervals {
        let title = of_sample(intervals_title(intervals.kind), sample.is_some());
        show_coverage(&title, &intervals.coverage, out)?;
    }
    if let Some(check) = &report.check {
        show_verdict(&check.verdict, &report.kept, out)?;
    }
    show_calibration(report.calibration.as_ref(), out)?;
    if let Some(sample) = sample {
        writeln!(out, "sample         {}", sample.told)?;
    }
    show_failures(&report.left_out, out)
}

/// How class probabilities are calibrated, if they are.
pub(crate) fn show_calibration(calibration: Option<&Calibration>, out: &mut dyn Write) -> Done {
    match calibration {
        None => {}
        Some(Calibration::Temperature(temperature)) => {
            writeln!(out, "calibration    temperature {temperature:.3}")?;
        }
        Some(Calibration::Isotonic(_)) => writeln!(out, "calibration    isotonic")?,
    }
    Ok(())
}

/// Members that took no part, and why.
fn show_failures(left_out: &[String], out: &mut dyn Write) -> Done {
    left_out.iter().try_for_each(|text| Ok(writeln!(out, "left out       {text}")?))
}

/// A combination that is more than weights.
pub(crate) fn show_other(other: &OtherCombination, combiner: &str, out: &mut dyn Write) -> Done {
    if other.converged == Some(false) {
        writeln!(out, "NOT CONVERGED: {combiner} missed its tolerance.\n")?;
    }
    let mut order: Vec<&OtherMember> = other.members.iter().collect();
    order.sort_by(|a, b| b.score.total_cmp(&a.score));
    let weight =
        |member: &OtherMember| member.weight.map_or_else(|| "-".into(), |w| format!("{w:.4}"));
    let weights: Vec<f64> = other.members.iter().filter_map(|member| member.weight).collect();
    let bar = |member: &OtherMember| {
        // What is written as 0 has no bar.
        let weight = member.weight.filter(|weight| *weight >= 5e-5).unwrap_or(0.0);
        (!weights.is_empty()).then(|| weight_bar(weight, weights.iter().copied()))
    };
    let row = |member: &&OtherMember| {
        let cells = [member.name.clone(), weight(member)].into_iter().chain(bar(member));
        cells.chain([number(member.score)]).collect::<Vec<String>>()
    };
    // Without weights there is nothing to be seen of them.
    let header: &[&str] = if weights.is_empty() {
        &["member", "weight", "score alone"]
    } else {
        &["member", "weight", "", "score alone"]
    };
    columns(header, order.iter().map(row), out)?;
    writeln!(out)?;
    for series in &other.series {
        let rows = series.labels.iter().zip(&series.values);
        let row = |(label, value): (&String, &f64)| vec![label.clone(), number(*value)];
        columns(&[combiner, &series.name], rows.map(row), out)?;
        writeln!(out)?;
    }
    writeln!(out, "task           {} ({})", other.task, counted(other.rows, "row"))?;
    writeln!(out, "method         {combiner}")?;
    Ok(other.notes.iter().try_for_each(|note| writeln!(out, "note           {note}"))?)
}

/// Members as they are: one model, or a table too small for folds.
fn alone(report: &AloneReport, out: &mut dyn Write) -> Done {
    for member in &report.members {
        let share = if report.members.len() > 1 {
            format!(", weight {:.4}", member.weight)
        } else {
            String::new()
        };
        writeln!(out, "member         {}{share}", member.name)?;
        member.notes.iter().try_for_each(|note| writeln!(out, "note           {note}"))?;
    }
    writeln!(out, "task           {} ({})", report.task, counted(report.rows, "row"))?;
    writeln!(out, "check          none: fitted on all rows, as it is; score it on other rows")?;
    show_failures(&report.failures, out)
}
