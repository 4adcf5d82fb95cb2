//! What comparisons say, in sentences: which method is best, and whether that can be told from chance.

use dolmen::evaluate::compare::{Comparison, LearningCurve, MethodResult, Ranks, SetsComparison};

use super::words::Lines;
use crate::draw::{capital, counted, short, signed};
use crate::pictures::{is_hopeless, replaced, spoken};

/// The chance of calling equal methods different.
const LEVEL: f64 = 0.05;

pub(super) fn of_comparison(comparison: &Comparison) -> Lines {
    let splits = comparison.methods.first().map_or(0, |method| method.split_scores.len());
    let mut lines = vec![(
        "What was compared.",
        format!(
            "{} on {} of {}: each time everything was fitted on one part and scored on the other.",
            capital(&counted(comparison.methods.len(), "method")),
            counted(splits, "split"),
            counted(comparison.rows, "row")
        ),
    )];
    if let Some(text) = of_stacking(comparison) {
        lines.push(("Is stacking worth it?", text));
    }
    lines.extend(best(comparison).map(|text| ("Who is best.", text)));
    lines
}

/// The mean score of a method, and of numbers the root mean squared error, which has the unit of the target.
fn scored(method: &MethodResult) -> String {
    let root = method.figures.iter().find(|own| own.name == "rmse" && own.mean.is_finite());
    let root = root.map_or_else(String::new, |own| format!(" (RMSE {})", short(own.mean)));
    format!("{}{root}", short(method.mean))
}

/// The stack beside the member that cross-validation chooses, and beside equal weights.
fn of_stacking(comparison: &Comparison) -> Option<String> {
    let find = |name: &str| comparison.methods.iter().find(|method| method.name == name);
    // The tests are against the first method.
    let stack = find("stacking").filter(|own| own.name == comparison.methods[0].name)?;
    let cv = find("cv")?;
    let is_never = comparison.kept.is_some_and(|kept| kept.stack == 0);
    let answer = match (is_told(cv), stack.mean > cv.mean) {
        _ if is_never => "No, its check never kept the stack",
        (Some(true), true) => "Yes",
        (Some(true), false) => "No, choosing one member is better",
        (Some(false), _) => "It cannot be told from these splits",
        (None, _) => "Not known: there is no test of these splits",
    };
    let equal = find("uniform").map_or_else(String::new, |uniform| {
        let told = match (is_told(uniform), stack.mean > uniform.mean) {
            (Some(true), true) => "is better than",
            (Some(true), false) => "is worse than",
            _ => "cannot be told from",
        };
        format!(" It {told} equal weights, which score {}{}.", scored(uniform), chance(uniform))
    });
    let instead = replaced(comparison).map_or_else(String::new, |text| format!(" {text}"));
    let what = if is_never { "what was kept in its place" } else { "the stack" };
    Some(format!(
        "{answer}: {what} scores {} on average, the member that cross-validation chooses {}{}.{equal}{instead}",
        scored(stack),
        scored(cv),
        chance(cv)
    ))
}

/// The method with the best mean that could have been used, and whether it can be told from the first.
fn best(comparison: &Comparison) -> Option<String> {
    let is_usable = |method: &&MethodResult| {
        method.name != "cheating"
            && comparison.zero_line.as_deref() != Some(&method.name)
            && method.mean.is_finite()
    };
    let usable = comparison.methods.iter().filter(is_usable);
    let best = usable.max_by(|a, b| a.mean.total_cmp(&b.mean))?;
    let first = comparison.methods.first()?;
    if best.name == first.name {
        let name = capital(spoken(&best.name));
        return Some(format!("{name} has the best mean, {}.", scored(best)));
    }
    let told = match is_told(best) {
        Some(true) => "is better than",
        _ => "cannot be told from",
    };
    Some(format!(
        "{} has the best mean, {}; it {told} {}, which has {}{}.",
        capital(spoken(&best.name)),
        scored(best),
        spoken(&first.name),
        scored(first),
        chance(best)
    ))
}

/// The chance of such a difference to the first method without any in truth: by the test that allows for rows in common, if there is one.
fn p_value(method: &MethodResult) -> Option<f64> {
    method.corrected_p_value.or(method.p_value)
}

fn is_told(method: &MethodResult) -> Option<bool> {
    p_value(method).map(|p| p < LEVEL)
}

fn chance(method: &MethodResult) -> String {
    p_value(method).map_or_else(String::new, |p| {
        if p < 0.001 { " (p < 0.001)".into() } else { format!(" (p = {p:.3})") }
    })
}

pub(super) fn of_sets(sets: &SetsComparison) -> Lines {
    let text = match &sets.ranks {
        Some(ranks) => of_ranks(ranks),
        None => format!("{} were compared.", counted(sets.sets.len(), "set")),
    };
    vec![("Who wins.", text)]
}

fn of_ranks(ranks: &Ranks) -> String {
    let least = ranks.methods[0].rank;
    let best = ranks.methods.iter().take_while(|method| method.rank == least);
    let best: Vec<&str> = best.map(|method| spoken(&method.name)).collect();
    let (have, they, are) =
        if best.len() == 1 { ("has", "it", "is") } else { ("have", "they", "are") };
    // Methods stand in the order of their ranks, and so do those that are like the first.
    let last = ranks.alike.iter().filter(|[from, _]| *from == 0).map(|[_, to]| *to).max();
    let alike = ranks.methods[best.len()..last.map_or(best.len(), |to| to + 1).max(best.len())]
        .iter()
        .map(|method| spoken(&method.name));
    let alike: Vec<&str> = alike.collect();
    let few = if is_hopeless(ranks) {
        ", which is more than these can: so few sets tell nothing of so many methods"
    } else {
        ""
    };
    let told = if alike.is_empty() {
        format!("{are} better than all others by more than chance brings")
    } else {
        format!("cannot be told from {}", alike.join(", "))
    };
    format!(
        "Over {} {} {have} the best mean rank, {}: {they} {told}. Mean ranks must differ by {} to mean something at 5 %{few}.",
        counted(ranks.sets, "set"),
        best.join(" and "),
        short(least),
        short(ranks.critical_difference)
    )
}

pub(super) fn of_learning(curve: &LearningCurve) -> Lines {
    let of = |k: usize| {
        let point = curve.sizes.get(k)?;
        Some((point.size, point.comparison.methods.first()?))
    };
    let last = curve.sizes.len().saturating_sub(1);
    let (Some((few, first)), Some((many, end))) = (of(0), of(last)) else { return Vec::new() };
    if few == many {
        return Vec::new();
    }
    let mut lines = vec![(
        "What more rows bring.",
        format!(
            "From {few} to {many} rows learned from, the score of {} goes from {} to {}.",
            spoken(&first.name),
            short(first.mean),
            short(end.mean)
        ),
    )];
    if let Some((size, before)) = of(last - 1) {
        let gain = end.mean - before.mean;
        let error = end.se.hypot(before.se);
        let verdict = if gain > 2.0 * error {
            format!("Likely: the score still rises by {}", short(gain))
        } else if gain < -2.0 * error {
            format!("No: the score falls by {}", short(-gain))
        } else {
            format!("It cannot be told: the last step, {}, is within its error,", signed(gain))
        };
        lines.push((
            "Would still more help?",
            format!(
                "{verdict} from {size} to {many} rows (standard errors {} and {}).",
                short(before.se),
                short(end.se)
            ),
        ));
    }
    if let Some(text) = curve.sizes.last().and_then(|point| of_stacking(&point.comparison)) {
        lines.push(("Is stacking worth it, with most rows?", text));
    }
    lines
}
