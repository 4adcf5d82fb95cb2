//! A comparison as tables.

use std::io::Write;

use dolmen::evaluate::compare::{
    Comparison, Duel, KeptCounts, LearningCurve, MeanWeight, MethodResult, Outcome, RankedMethod,
    Ranks, Tally,
};

use crate::output::{Done, columns, counted, number};

/// One set: the methods, the weights, and who is better than whom.
pub(super) fn comparison(comparison: &Comparison, out: &mut dyn Write) -> Done {
    let is_density = comparison.methods.iter().all(|method| method.figures.is_empty());
    if is_density {
        densities(comparison, out)?;
    } else {
        figures(comparison, out)?;
    }
    if !comparison.mean_weights.is_empty() {
        let weight = |w: &MeanWeight| vec![w.name.clone(), number(w.weight)];
        columns(&["member", "mean weight"], comparison.mean_weights.iter().map(weight), out)?;
        writeln!(out)?;
    }
    if comparison.combiners.len() > 1 {
        let row = |(name, splits): (&String, &usize)| vec![name.clone(), splits.to_string()];
        columns(&["combiner", "used in splits"], comparison.combiners.iter().map(row), out)?;
        writeln!(out)?;
    }
    let is_tested = comparison.methods.iter().any(|method| method.split_scores.len() > 1);
    if comparison.stack().is_none() && is_tested && !comparison.duels.is_empty() {
        duels(&comparison.duels, out)?;
    }
    splits(comparison, out)
}

/// Densities have one score.
fn densities(comparison: &Comparison, out: &mut dyn Write) -> Done {
    let row = |method: &MethodResult| {
        vec![
            method.name.clone(),
            format!("{:.2}", method.mean),
            if method.se.is_nan() { "-".into() } else { format!("{:.2}", method.se) },
            format!("{:.0} %", 100.0 * method.finite_share),
            chance(method.p_value),
        ]
    };
    let first = comparison.methods.first().map_or("", |method| method.name.as_str());
    let against = format!("p against {first}");
    let header = ["method", "mean", "se", "finite", &against];
    columns(&header, comparison.methods.iter().map(row), out)?;
    Ok(writeln!(out)?)
}

/// Other tasks have several figures.
fn figures(comparison: &Comparison, out: &mut dyn Write) -> Done {
    let Some(first) = comparison.methods.first() else { return Ok(()) };
    let row = |method: &MethodResult| {
        let mut row = vec![method.name.clone(), known(method.mean), known(method.se)];
        row.extend([chance(method.p_value), chance(method.corrected_p_value)]);
        row.extend(method.figures.iter().map(|figure| known(figure.mean)));
        row
    };
    let mut header = vec!["method", "score", "se", "Wilcoxon p", "corrected t p"];
    header.extend(first.figures.iter().map(|figure| figure.name.as_str()));
    columns(&header, comparison.methods.iter().map(row), out)?;
    writeln!(out, "\np: of the score, against {}\n", first.name)?;
    Ok(())
}

/// A number, unless there were too few splits to know it.
fn known(value: f64) -> String {
    if value.is_nan() { "-".into() } else { number(value) }
}

fn chance(p: Option<f64>) -> String {
    p.map_or_else(|| "-".into(), |p| format!("{p:.4}"))
}

/// The figures that duels or tallies are about, in their order.
fn names<'a>(figures: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    figures.for_each(|figure| {
        if !names.contains(&figure) {
            names.push(figure);
        }
    });
    names
}

/// Each pair of methods in a line, each figure in its column; sets of other tasks have other figures.
fn pairs<T>(
    all: &[T],
    shown: &[&str],
    about: impl Fn(&T) -> (String, String),
    cell: impl Fn(&T) -> String,
) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for own in all {
        let (pair, figure) = about(own);
        let at = rows.iter().position(|row| row[0] == pair).unwrap_or_else(|| {
            rows.push(std::iter::once(pair).chain(shown.iter().map(|_| "-".into())).collect());
            rows.len() - 1
        });
        if let Some(column) = shown.iter().position(|name| *name == figure) {
            rows[at][column + 1] = cell(own);
        }
    }
    rows
}

/// Each pair of methods in a line.
fn duels(duels: &[Duel], out: &mut dyn Write) -> Done {
    let shown = names(duels.iter().map(|duel| duel.figure.as_str()));
    let cell = |duel: &Duel| format!("{} ({})", word(duel.outcome), word(duel.corrected_outcome));
    let about = |duel: &Duel| (format!("{} - {}", duel.first, duel.second), duel.figure.clone());
    let mut header = vec!["pair"];
    header.extend(&shown);
    columns(&header, pairs(duels, &shown, about, cell), out)?;
    writeln!(out, "\nat 95 % by the paired t-test (by the corrected one)\n")?;
    Ok(())
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "win",
        Outcome::Draw => "draw",
        Outcome::Loss => "loss",
    }
}

/// How the test parts came about.
fn splits(comparison: &Comparison, out: &mut dyn Write) -> Done {
    let Comparison { rows, repeats, .. } = comparison;
    let what = if comparison.zero_line.is_some() { "sums" } else { "means" };
    let test = match (comparison.test_rows, comparison.test_rows_between) {
        (Some(test), _) => counted(test, "test row"),
        (None, Some([fewest, most])) => format!("{fewest} to {most} test rows"),
        (None, None) => "the test rows".into(),
    };
    match comparison.outer_folds {
        Some(folds) => {
            writeln!(out, "{} {folds} folds of {rows} rows", counted(*repeats, "time"))?;
        }
        None => writeln!(
            out,
            "{} of {rows} rows; {what} of the scores of {test}, higher is better",
            counted(*repeats, "random split"),
        )?,
    }
    if let Some(kept) = comparison.kept.filter(|kept| kept.replaced() > 0) {
        let KeptCounts { stack, uniform, member } = kept;
        let all = [("the stack", stack), ("equal weights", uniform), ("one member", member)];
        let occurring = all.iter().filter(|(_, splits)| *splits > 0);
        let counts =
            occurring.map(|(what, splits)| format!("{what} in {}", counted(*splits, "split")));
        let counts = counts.collect::<Vec<_>>().join(", ");
        writeln!(out, "stacking is what its check kept: {counts}")?;
    }
    comparison.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))?;
    if let Some(zero) = &comparison.zero_line {
        writeln!(
            out,
            "all methods relative to {zero}, whose own score is shown; means over the finite splits"
        )?;
    }
    Ok(())
}

/// Several sets: wins, draws and losses of each pair.
pub(super) fn tallies(tallies: &[Tally], sets: usize, out: &mut dyn Write) -> Done {
    let shown = names(tallies.iter().map(|tally| tally.figure.as_str()));
    let counts = |[wins, draws, losses]: [usize; 3]| format!("{wins}/{draws}/{losses}");
    let cell = |t: &Tally| format!("{} ({})", counts(t.outcomes), counts(t.corrected_outcomes));
    let about = |t: &Tally| (format!("{} - {}", t.first, t.second), t.figure.clone());
    let mut header = vec!["pair"];
    header.extend(&shown);
    columns(&header, pairs(tallies, &shown, about, cell), out)?;
    writeln!(
        out,
        "\nwins/draws/losses of the first over {sets} sets, at 95 % by the paired t-test (by the corrected one)"
    )?;
    Ok(())
}

/// Mean ranks over several sets.
pub(super) fn ranks(ranks: Option<&Ranks>, out: &mut dyn Write) -> Done {
    let Some(Ranks { methods, critical_difference, .. }) = ranks else { return Ok(()) };
    writeln!(out)?;
    let row = |method: &RankedMethod| vec![method.name.clone(), format!("{:.2}", method.rank)];
    columns(&["method", "mean rank"], methods.iter().map(row), out)?;
    writeln!(
        out,
        "\nmean ranks by score that differ by less than {critical_difference:.2} may do so by chance (5 %, Nemenyi)"
    )?;
    Ok(())
}

/// Learning curves: methods in lines, sizes in columns.
pub(super) fn learning(curve: &LearningCurve, out: &mut dyn Write) -> Done {
    let Some(last) = curve.sizes.last() else { return Ok(()) };
    let sizes: Vec<String> =
        curve.sizes.iter().map(|point| format!("{} rows", point.size)).collect();
    let header: Vec<&str> = ["score"].into_iter().chain(sizes.iter().map(String::as_str)).collect();
    let row = |method: &MethodResult| {
        let at = |comparison: &Comparison| {
            let own = comparison.methods.iter().find(|own| own.name == method.name);
            own.map_or_else(|| "-".into(), |own| format!("{} ({})", known(own.mean), known(own.se)))
        };
        let cells = curve.sizes.iter().map(|point| at(&point.comparison));
        [method.name.clone()].into_iter().chain(cells).collect::<Vec<_>>()
    };
    columns(&header, last.comparison.methods.iter().map(row), out)?;
    writeln!(out, "(standard errors in brackets)\n")?;
    splits(&last.comparison, out)
}
