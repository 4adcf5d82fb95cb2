//! The members: their weights, their scores beside the stack's, how alike they go wrong.

use dolmen::combine::Method;
use dolmen::combine::weigh::{WeighedMember, Weighing};
use dolmen::ensemble::Kept;
use dolmen::error::Error;
use dolmen::score::Estimate;
use dolmen::score::figures::{Estimates, higher_is_better};
use dolmen::task::TaskKind;

use super::Picture;
use crate::draw::{
    Colour, Grid, Heading, Lane, Lanes, Mark, Shade, arrow_words, axis_without_the_hopeless,
    capital, counted, extent, fixed, lane_ends, short, uncertain,
};
use crate::subject::{CHOSEN, Whole};
use crate::{Options, Subject};

/// Weights as bars with their intervals.
pub(super) fn weights(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let (lanes, words) = match (subject.weighing(), subject.other(), subject) {
        (Some(weighing), ..) => (weighed(weighing), weight_words(subject, weighing)),
        (None, Some(other), _) => {
            let lane = |m: &dolmen::recipe::OtherMember| {
                m.weight.map(|weight| Lane::new(&m.name, weight, weight_text(weight)))
            };
            let lanes = other.members.iter().filter_map(lane).collect();
            (lanes, other_words(subject).into())
        }
        (None, None, Subject::Comparison(comparison)) => {
            let lane = |m: &dolmen::evaluate::compare::MeanWeight| {
                Lane::new(&m.name, m.weight, weight_text(m.weight))
            };
            let lanes: Vec<Lane> = comparison.mean_weights.iter().map(lane).collect();
            (lanes, "The members' weights in the stack, averaged over the splits.".into())
        }
        _ => return None,
    };
    if lanes.is_empty() {
        return None;
    }
    let lanes = by_group(lanes);
    let (low, high) = extent(lane_ends(&lanes))?;
    let title = "Weights of the members";
    let picture = Lanes {
        heading: Heading::new(title, &words, options),
        mark: Mark::Bar,
        domain: (low.min(0.0), high.max(1e-3)),
        x_name: "weight",
        things: "members",
        line: None,
    };
    Some(picture.draw(&lanes, options))
}

/// What the weights of a combination are that is more than weights.
fn other_words(subject: &Subject<'_>) -> &'static str {
    if subject.combiner().is_some_and(|name| name.starts_with("log-pool")) {
        "Powers of a logarithmic pool; they need not sum to 1."
    } else {
        "How much each member counts. The combination is more than weights."
    }
}

/// Lanes from the largest value down, those that are joined beside the largest of them.
fn by_group(mut lanes: Vec<Lane>) -> Vec<Lane> {
    lanes.sort_by(|a, b| b.value.total_cmp(&a.value));
    let first = |own: &Lane| lanes.iter().position(|other| other.joined == own.joined);
    let alone = |(k, own): (usize, &Lane)| own.joined.and_then(|_| first(own)).unwrap_or(k);
    let places: Vec<usize> = lanes.iter().enumerate().map(alone).collect();
    let mut placed: Vec<(usize, Lane)> = places.into_iter().zip(lanes).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, lane)| lane).collect()
}

/// A weight; an exact zero is written as such.
fn weight_text(weight: f64) -> String {
    if weight == 0.0 { "0".into() } else { fixed(weight, 3) }
}

fn weighed(weighing: &Weighing) -> Vec<Lane> {
    let lane = |member: &WeighedMember| {
        let joined = |group: &Vec<String>| group.contains(&member.name);
        let mut title = format!("{}: weight {}", member.name, short(member.weight));
        let is_estimated = is_estimated(weighing);
        if let Some(se) = member.se.filter(|_| is_estimated) {
            title += &format!(", standard error {}", short(se));
        }
        if let Some([low, high]) = member.interval.filter(|_| is_estimated) {
            title += &format!(", 90 % {} to {}", short(low), short(high));
        }
        title += &format!("; score alone {}", short(member.score));
        if let Some(loss) = member.loo_loss {
            title += &format!(", lost without it {}", short(loss));
        }
        let words = weight_text(member.weight);
        Lane {
            interval: member.interval.filter(|_| is_estimated),
            title,
            joined: weighing.interchangeable.iter().position(joined),
            ..Lane::new(&member.name, member.weight, words)
        }
    };
    weighing.members.iter().map(lane).collect()
}

/// Whether the rows have a say in the weights: equal ones are fixed, and have no error.
pub(crate) fn is_estimated(weighing: &Weighing) -> bool {
    weighing.method != Method::Uniform
}

fn weight_words(subject: &Subject<'_>, weighing: &Weighing) -> String {
    let unused = weighing.members.iter().filter(|member| member.weight == 0.0).count();
    let mut words = String::new();
    if !is_estimated(weighing) {
        return "Equal weights are fixed, not estimated from the rows: they have no error.".into();
    }
    if let Some(sentence) = subject.not_kept() {
        words += &format!("{sentence} These are the weights of the stack. ");
    }
    let is_drawn = |ends: [f64; 2]| ends[1] > ends[0];
    if weighing.members.iter().any(|member| member.interval.is_some_and(is_drawn)) {
        words += "Whiskers hold 90 % of the resamples of the rows. ";
    }
    if unused > 0 {
        words += "A ring is an exact zero: the member has no say. ";
    }
    if !weighing.interchangeable.is_empty() {
        words += "Members joined at the left can stand in for one another.";
    }
    words.trim_end().into()
}

/// An estimate with the interval of so many standard errors.
pub(super) fn around(estimate: &Estimate, errors: f64) -> Option<[f64; 2]> {
    let half = errors * estimate.se?;
    estimate.mean.is_finite().then_some([estimate.mean - half, estimate.mean + half])
}

/// Standard errors on either side that hold about 90 % of the chances.
pub(super) const NINETY: f64 = 1.645;

pub(super) fn with_error(estimate: &Estimate) -> String {
    uncertain(estimate.mean, estimate.se)
}

/// Scores of members, stack and equal weights; or one of the usual figures, if it is asked for.
pub(super) fn scores(subject: &Subject<'_>, options: &Options) -> Picture {
    match &options.input {
        Some(figure) => of_figure(subject, figure, options),
        None => Ok(of_scores(subject, options)),
    }
}

fn of_scores(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let (mut lanes, words) = score_lanes(subject)?;
    lanes.sort_by(|a, b| b.value.total_cmp(&a.value));
    let domain = axis_without_the_hopeless(&lanes, true).unwrap_or((-1.0, 0.0));
    let words = format!("{words}{}{}", error_words(&lanes), arrow_words(&lanes, domain));
    let x_name = format!("{} (higher is better)", subject.score_name());
    let title = if subject.knows_rows() {
        "Scores on rows learned from"
    } else {
        "Scores on rows not learned from"
    };
    let picture = Lanes {
        heading: Heading::new(title, &words, options),
        mark: Mark::Dot,
        domain,
        x_name: &x_name,
        things: "members",
        line: lanes
            .iter()
            .find(|lane| lane.is_strong)
            .map(|lane| lane.value)
            .filter(|v| v.is_finite()),
    };
    Some(picture.draw(&lanes, options))
}

/// What stands out with its figures, what else has some, and what rows they are of, in a sentence.
struct Figured {
    whole: (String, Estimates),
    others: Vec<(String, Estimates)>,
    words: String,
}

/// The usual figures, of rows that were given or of those held out.
fn figured(subject: &Subject<'_>) -> Option<Figured> {
    let given = match subject {
        Subject::Score(report) => Some(*report),
        _ => subject.model().and_then(|view| view.score),
    };
    if let Some(report) = given {
        let plain =
            |(name, mean): (&String, &f64)| (name.clone(), Estimate { mean: *mean, se: None });
        let with_error = |(name, mean): (&String, &f64)| {
            let se = report.figure_errors.get(name).copied();
            (name.clone(), Estimate { mean: *mean, se })
        };
        let member = |m: &dolmen::recipe::ScoredMember| {
            (m.name.clone(), m.figures.iter().map(plain).collect())
        };
        return Some(Figured {
            whole: (subject.whole().name().into(), report.figures.iter().map(with_error).collect()),
            others: report.members.iter().map(member).collect(),
            words: subject.given_words(report.rows),
        });
    }
    let figures = subject.stack()?.figures.as_ref()?;
    let tried = [
        (subject.tried_name(), &figures.stack, matches!(subject.whole(), Whole::Stack)),
        (CHOSEN, &figures.best_member, matches!(subject.whole(), Whole::Member(_))),
        ("equal weights", &figures.uniform, subject.whole() == Whole::Average),
    ];
    let named = |(name, own, _): &(&str, &Estimates, bool)| (name.to_string(), (*own).clone());
    let words = if figures.held_out {
        "On rows held out."
    } else {
        "On the rows that the weights were learned from, which flatters."
    };
    Some(Figured {
        whole: tried.iter().find(|(.., is_kept)| *is_kept).map(named)?,
        others: tried.iter().filter(|(.., is_kept)| !is_kept).map(named).collect(),
        words: words.into(),
    })
}

/// One of the usual figures, of everything that has it.
fn of_figure(subject: &Subject<'_>, figure: &str, options: &Options) -> Picture {
    let Some(Figured { whole, others, words }) = figured(subject) else {
        let expected =
            "left out: the usual figures are known of models only, on rows held out or given";
        let is_shown = score_lanes(subject).is_some();
        return if is_shown { Err(Error::param("input", expected, figure)) } else { Ok(None) };
    };
    if !whole.1.contains_key(figure) {
        let names: Vec<&str> = whole.1.keys().map(String::as_str).collect();
        let expected = format!("a figure: {}", names.join(", "));
        return Err(Error::param("input", expected, figure).suggesting(figure, names));
    }
    let lane = |(name, own): &(String, Estimates)| own.get(figure).map(|own| estimated(name, own));
    let mut lanes: Vec<Lane> = lane(&whole)
        .into_iter()
        .map(|own| Lane { is_strong: true, ..own })
        .chain(others.iter().filter_map(lane).map(|own| Lane { colour: Colour::Muted, ..own }))
        .collect();
    let (is_rising, line) = (higher_is_better(figure), lanes.first().map(|lane| lane.value));
    lanes.sort_by(|a, b| a.value.total_cmp(&b.value));
    if is_rising {
        lanes.reverse();
    }
    let Some(domain) = axis_without_the_hopeless(&lanes, is_rising) else { return Ok(None) };
    let words = format!("{words}{}{}", error_words(&lanes), arrow_words(&lanes, domain));
    let better = if is_rising { "higher" } else { "lower" };
    let x_name = format!("{} ({better} is better)", figure.replace('_', " "));
    let picture = Lanes {
        heading: Heading::new("Figures", &words, options),
        mark: Mark::Dot,
        domain,
        x_name: &x_name,
        things: "members",
        line: line.filter(|value| value.is_finite()),
    };
    Ok(Some(picture.draw(&lanes, options)))
}

/// What the signs of errors mean, where there are any.
fn error_words(lanes: &[Lane]) -> &'static str {
    if lanes.iter().any(|lane| lane.interval.is_some()) {
        " After ± stands one standard error of the mean over the rows; whiskers are 90 % intervals."
    } else {
        ""
    }
}

fn score_lanes(subject: &Subject<'_>) -> Option<(Vec<Lane>, String)> {
    let member = |name: &str, mean: f64, se: Option<f64>| Lane {
        colour: Colour::Muted,
        ..estimated(name, &Estimate { mean, se })
    };
    if let Subject::Score(report) = subject {
        return Some((scored_lanes(report, subject.whole()), subject.given_words(report.rows)));
    }
    if let Some(report) = subject.model().and_then(|view| view.score) {
        return Some((scored_lanes(report, subject.whole()), subject.given_words(report.rows)));
    }
    let mut lanes: Vec<Lane> = match (subject.weighing(), subject.other()) {
        (Some(weighing), _) => {
            weighing.members.iter().map(|m| member(&m.name, m.score, m.score_se)).collect()
        }
        (None, Some(other)) => {
            other.members.iter().map(|m| member(&m.name, m.score, m.score_se)).collect()
        }
        (None, None) => return None,
    };
    let Some(check) = subject.check() else {
        let weighing = subject.weighing()?;
        let (score, uniform, words) = match &weighing.cross_validated {
            Some(honest) => (
                Estimate { mean: honest.score, se: honest.score_se },
                honest.uniform,
                "The combination with weights found on other rows than those scored, members on the rows that each had not seen.",
            ),
            None => (
                Estimate { mean: weighing.score, se: weighing.score_se },
                weighing.uniform,
                "The combination on the rows its weights were found on: a little flattering.",
            ),
        };
        lanes.push(Lane { is_strong: true, ..estimated("the combination", &score) });
        let uniform = uniform.filter(|_| weighing.members.len() > 1 && is_estimated(weighing));
        lanes.extend(uniform.map(|own| equal_weights(&own)));
        return Some((lanes, words.into()));
    };
    let kept = subject.whole();
    // What stands out is what the model is.
    for lane in lanes.iter_mut().filter(|lane| kept == Whole::Member(&lane.name)) {
        (lane.is_strong, lane.colour) = (true, Colour::First);
    }
    let tried = [
        (subject.tried_name(), &check.stack, matches!(kept, Whole::Stack | Whole::Combination)),
        ("equal weights", &check.uniform, kept == Whole::Average),
    ];
    for (name, score, is_strong) in tried {
        let colour = if is_strong { Colour::First } else { Colour::Series(1) };
        lanes.push(Lane { colour, is_strong, ..estimated(name, score) });
    }
    let held_out = if check.nested { "members and weights" } else { "the weights" };
    let words = format!(
        "{} and equal weights on rows held out from {held_out} ({}); members on the rows that each had not seen.{}",
        capital(subject.tried_name()),
        counted(check.checked_rows, "row"),
        subject.not_kept().map_or_else(String::new, |sentence| format!(" {sentence}"))
    );
    Some((lanes, words))
}

/// The score of equal weights, beside that of what is shown.
fn equal_weights(score: &Estimate) -> Lane {
    Lane { colour: Colour::Series(1), ..estimated("equal weights", score) }
}

/// A score with its interval.
fn estimated(name: &str, estimate: &Estimate) -> Lane {
    Lane {
        interval: around(estimate, NINETY),
        ..Lane::new(name, estimate.mean, with_error(estimate))
    }
}

fn scored_lanes(report: &dolmen::recipe::ScoreReport, whole: Whole<'_>) -> Vec<Lane> {
    let together = Estimate { mean: report.score, se: report.score_se };
    let own = Lane { is_strong: true, ..estimated(whole.name(), &together) };
    let member = |m: &dolmen::recipe::ScoredMember| {
        let alone = Estimate { mean: m.score, se: m.score_se };
        let (score, gain) = (with_error(&alone), with_error(&m.gain));
        Lane {
            colour: Colour::Muted,
            title: format!("{}: {score}; {} is better by {gain}", m.name, whole.name()),
            ..estimated(&m.name, &alone)
        }
    };
    // Of an average they are the same once more.
    let is_other = report.members.len() > 1 && whole != Whole::Average;
    let uniform = report.uniform.filter(|_| is_other);
    let uniform = uniform.map(|score| equal_weights(&score));
    report.members.iter().map(member).chain([own]).chain(uniform).collect()
}

/// The combiners that were tried, the one that is used standing out.
pub(super) fn combiners(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let check = subject.check().filter(|check| check.candidates.len() > 1)?;
    let lane = |(k, candidate): (usize, &dolmen::ensemble::Candidate)| Lane {
        interval: around(&candidate.score, NINETY),
        is_strong: k == check.chosen_index,
        colour: if k == check.chosen_index { Colour::First } else { Colour::Muted },
        ..Lane::new(&candidate.name, candidate.score.mean, with_error(&candidate.score))
    };
    let mut lanes: Vec<Lane> = check.candidates.iter().enumerate().map(lane).collect();
    lanes.sort_by(|a, b| b.value.total_cmp(&a.value));
    let domain = axis_without_the_hopeless(&lanes, true)?;
    let x_name = format!("{} (higher is better)", subject.score_name());
    let used = match check.verdict.kept {
        _ if matches!(subject, Subject::Weighing(..)) => "the one in bold is used.".into(),
        Kept::Stack => "the one in bold is used.".into(),
        Kept::Uniform => "the one in bold is used: it did better than the stack.".into(),
        Kept::BestMember => {
            let sentence = subject.not_kept().unwrap_or_default();
            format!("the one in bold did best. {sentence}")
        }
    };
    let words =
        format!("On rows held out, with 90 % intervals; {used}{}", arrow_words(&lanes, domain));
    let picture = Lanes {
        heading: Heading::new("Combiners that were tried", &words, options),
        mark: Mark::Dot,
        domain,
        x_name: &x_name,
        things: "combiners",
        line: None,
    };
    Some(picture.draw(&lanes, options))
}

/// Correlations of the members' errors as a heat map.
pub(super) fn correlation(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let correlation = subject.evidence()?.correlation.as_ref()?;
    let names = &correlation.members;
    let what = if subject.task().is_some_and(TaskKind::has_log_scores) {
        "log scores"
    } else {
        "residuals"
    };
    let rows =
        if subject.knows_rows() { "rows they were fitted to" } else { "rows they had not seen" };
    let words = format!(
        "Correlation of the members' {what} on {rows}. The weaker the colour of a pair, the more there is to win by combining it."
    );
    let grid = Grid {
        heading: Heading::new("How alike the members go wrong", &words, options),
        rows: names,
        columns: names,
        row_name: "",
        column_name: "",
        key: [-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0].map(correlated).into(),
    };
    let cell = |i: usize, j: usize| {
        let value = correlation.values[i * names.len() + j];
        let title = format!("{} and {}: {}", names[i], names[j], short(value));
        Shade { title, ..correlated(value) }
    };
    Some(grid.draw(cell, options))
}

/// How a correlation is shown.
fn correlated(value: f64) -> Shade {
    let colour = if value < 0.0 { Colour::Series(5) } else { Colour::First };
    let strength = if value.is_nan() { 0.0 } else { value.abs() };
    Shade { colour, strength, words: correlation_words(value), title: String::new() }
}

/// A correlation in two decimals. One that is nearly 1 is no 1, but more digits would leave no room for any number.
fn correlation_words(value: f64) -> String {
    let text = if value.is_nan() { "–".into() } else { fixed(value, 2) };
    match (text.trim_start_matches('−').chars().count() > 4, value < 0.0) {
        (true, false) => "≈1".into(),
        (true, true) => "≈−1".into(),
        (false, _) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_short_and_nearly_1_is_not_1() {
        let written = [1.0, 0.9996, 0.9951, 0.994, -0.5, -0.9952, f64::NAN];
        let written = written.map(correlation_words);
        assert_eq!(written, ["1.00", "≈1", "≈1", "0.99", "−0.50", "≈−1", "–"]);
    }

    #[test]
    fn members_that_are_joined_stand_side_by_side() {
        let lane = |(name, value, joined): (&str, f64, Option<usize>)| Lane {
            joined,
            ..Lane::new(name, value, String::new())
        };
        let all = [("a", 0.1, Some(0)), ("b", 0.3, None), ("c", 0.4, Some(0)), ("d", 0.2, None)];
        let placed = by_group(all.map(lane).into());
        let names: Vec<&str> = placed.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["c", "a", "b", "d"]);
    }
}
