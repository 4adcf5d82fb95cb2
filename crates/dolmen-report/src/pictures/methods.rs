//! Comparisons: methods by mean and interval, mean ranks over sets, wins and losses.

use dolmen::error::Error;
use dolmen::evaluate::compare::{Comparison, MethodResult, Outcome, Ranks, Tally};

use super::Picture;
use crate::draw::{
    Canvas, Colour, Fill, Grid, Heading, Lane, Lanes, Letters, MARGIN, Mark, NARROW, Pen, SMALL,
    Scale, Shade, arrow_words, axis_without_the_hopeless, counted, short, told_apart, uncertain,
    width,
};
use crate::{Options, Subject};

/// How scores of comparisons are called.
pub(super) fn score_name(comparison: &Comparison) -> String {
    match (comparison.task.has_target(), comparison.zero_line.is_some()) {
        (false, true) => "log density of the test rows, less that of the zero line".into(),
        (false, false) => "log density of the test rows".into(),
        (true, _) => format!("{} per row", comparison.task.score()),
    }
}

/// What the zero line is, where there is one: a method of which only the distance of the others to it is of interest.
pub(super) fn zero_words(comparison: &Comparison) -> String {
    comparison.zero_line.as_ref().map_or_else(String::new, |name| {
        format!(" The zero line is '{name}': scores are how much better than that a method does.")
    })
}

/// What methods are called for readers.
pub(crate) fn spoken(name: &str) -> &str {
    match name {
        "stacking" => "the stack",
        "cv" => "best member by cross-validation",
        "uniform" => "equal weights",
        "cheating" => "best member in hindsight",
        other => other,
    }
}

/// That the check kept something simpler in the place of the stack, in a sentence; nothing where it never did.
pub(crate) fn replaced(comparison: &Comparison) -> Option<String> {
    let kept = comparison.kept.filter(|kept| kept.replaced() > 0)?;
    let (splits, simpler) = (kept.stack + kept.replaced(), kept.replaced());
    let what = match (kept.uniform, kept.member) {
        (_, 0) => "equal weights".to_string(),
        (0, _) => "one member alone".into(),
        (uniform, member) => format!("equal weights in {uniform} and one member alone in {member}"),
    };
    let of =
        if simpler == splits { format!("all {splits}") } else { format!("{simpler} of {splits}") };
    Some(format!(
        "In {of} splits the check of the stack kept something simpler in its place, {what}: there it is this that is scored as the stack."
    ))
}

/// Methods by their mean over the splits.
pub(super) fn methods(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let Subject::Comparison(comparison) = subject else { return None };
    let is_shown = |method: &&MethodResult| comparison.zero_line.as_deref() != Some(&method.name);
    let lane = |method: &MethodResult| {
        let finite = method.split_scores.iter().filter(|v| v.is_finite()).count();
        let lost = method.split_scores.len() - finite;
        let mut title = format!(
            "{}: {} over {finite} splits",
            method.name,
            uncertain(method.mean, Some(method.se))
        );
        if lost > 0 {
            title += &format!("; {lost} splits without a finite score");
        }
        if let Some(p) = method.corrected_p_value.or(method.p_value) {
            title += &format!("; p against the first {p:.4}");
        }
        let score = uncertain(method.mean, Some(method.se));
        let marked = if lost > 0 { format!("{score} *") } else { score };
        let strong = method.name == "stacking";
        Lane {
            interval: method.interval(0.9),
            title,
            is_strong: strong,
            colour: if strong { Colour::First } else { Colour::Muted },
            ..Lane::new(spoken(&method.name), method.mean, marked)
        }
    };
    let mut lanes: Vec<Lane> = comparison.methods.iter().filter(is_shown).map(lane).collect();
    lanes.sort_by(|a, b| {
        let key = |lane: &Lane| if lane.value.is_nan() { f64::NEG_INFINITY } else { lane.value };
        key(b).total_cmp(&key(a))
    });
    let domain = axis_without_the_hopeless(&lanes, true)?;
    let lost = comparison.methods.iter().any(|method| method.finite_share < 1.0);
    let star =
        if lost { " * some splits have no finite score; the mean is over the others." } else { "" };
    let splits = comparison.methods.first().map_or(0, |method| method.split_scores.len());
    let instead = replaced(comparison).map_or_else(String::new, |text| format!(" {text}"));
    let zero = zero_words(comparison);
    let words = format!(
        "Means over {splits} splits of {} rows, with 90 % intervals by Student's t, as if splits were independent; after ± stands one standard error.{zero}{star}{instead}{}",
        comparison.rows,
        arrow_words(&lanes, domain)
    );
    let x_name = format!("{} (higher is better)", score_name(comparison));
    let picture = Lanes {
        heading: Heading::new("Methods compared", &words, options),
        mark: Mark::Dot,
        domain,
        x_name: &x_name,
        things: "methods",
        line: comparison.methods.iter().find(|m| m.name == "stacking").map(|m| m.mean),
    };
    Some(picture.draw(&lanes, options))
}

/// Whether the sets are so few that no difference of mean ranks could be told from chance.
pub(crate) fn is_hopeless(ranks: &Ranks) -> bool {
    ranks.critical_difference > ranks.methods.len() as f64 - 1.0
}

/// The part of the width that names at one side of it may take.
const MOST_NAMES: f64 = 0.34;

/// The critical-difference diagram: methods at their mean ranks, those that cannot be told apart joined.
pub(super) fn ranks(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let Subject::Sets(sets) = subject else { return None };
    let ranks = sets.ranks.as_ref()?;
    let Ranks { sets, methods, critical_difference, alike } = ranks;
    let words = format!(
        "Over {sets} sets; 1 is best. Methods under one bar cannot be told apart at 5 % by Nemenyi's test: mean ranks must differ by {}{}.",
        short(*critical_difference),
        if is_hopeless(ranks) {
            ", which is more than they can: so few sets tell nothing"
        } else {
            ""
        }
    );
    let heading = Heading::new("Mean ranks", &words, options);
    let count = methods.len();
    // The better half is named at the left, the other at the right; all at the right where there is no room for both.
    let is_narrow = options.width < NARROW;
    let (at_left, share) = if is_narrow { (0, 0.45) } else { (count.div_ceil(2), 0.24) };
    let named = methods.iter().map(|own| format!("{} {:.2}", spoken(&own.name), own.rank));
    let longest = named.map(|text| width(&text, SMALL)).fold(0.0, f64::max) + 2.0;
    // Long names may take more, as long as there is room for the ranks between them.
    let most = if is_narrow { share } else { MOST_NAMES };
    let names = longest.min(most * options.width).max(share * options.width);
    let before = if is_narrow { 0.0 } else { names };
    let top = heading.height() + 44.0;
    let x = Scale::linear(
        (1.0, count as f64),
        (MARGIN + before + 10.0, options.width - MARGIN - names - 10.0),
    );
    let bars = 10.0 * alike.len() as f64 + 12.0;
    let rows = at_left.max(count - at_left);
    let mut canvas =
        Canvas::new(options.width, top + bars + 24.0 * rows as f64 + MARGIN + 8.0, options);
    heading.draw(&mut canvas);
    let (left, right) = x.range();
    canvas.line((left, top), (right, top), Pen::new(Colour::Muted, 1.2));
    for (value, label) in x.ticks(count.min(10)) {
        canvas.line((x.at(value), top - 5.0), (x.at(value), top), Pen::new(Colour::Muted, 1.2));
        canvas.text((x.at(value), top - 10.0), &label, Letters::new(SMALL, Colour::Muted).middle());
    }
    for (k, [from, to]) in alike.iter().enumerate() {
        let y = top + 10.0 + 10.0 * k as f64;
        let ends = (x.at(methods[*from].rank) - 4.0, x.at(methods[*to].rank) + 4.0);
        canvas.bar(
            (ends.0, y - 2.5),
            (ends.1 - ends.0, 5.0),
            Fill::new(Colour::Series(1)),
            "cannot be told apart",
        );
    }
    let spoken_names: Vec<&str> = methods.iter().map(|method| spoken(&method.name)).collect();
    let numbers = methods.iter().map(|method| width(&format!(" {:.2}", method.rank), SMALL));
    let cut = told_apart(&spoken_names, SMALL, names - numbers.fold(0.0, f64::max));
    for (k, method) in methods.iter().enumerate() {
        let is_left = k < at_left;
        let row = if is_left { k } else { count - 1 - k };
        let (at, y) = (x.at(method.rank), top + bars + 24.0 * row as f64 + 8.0);
        let edge = if is_left { left - 6.0 } else { right + 6.0 };
        let pen = Pen::new(Colour::Ink, 1.0).faded(0.6);
        canvas.path(&[(at, top), (at, y), (edge, y)], pen, "");
        let title = format!("{}: mean rank {}", method.name, short(method.rank));
        canvas.dot((at, top), 4.0, Fill::new(Colour::First), &title);
        let name = format!("{} {:.2}", cut[k], method.rank);
        let letters = Letters::new(SMALL, Colour::Ink);
        let letters = if is_left { letters.end() } else { letters };
        let place = (if is_left { edge - 5.0 } else { edge + 5.0 }, y + 4.0);
        canvas.titled_text(place, &name, letters, &title);
    }
    Some(heading.finish(canvas))
}

/// Who wins against whom: over sets, or on one set.
pub(super) fn outcomes(subject: &Subject<'_>, options: &Options) -> Picture {
    let (tallies, words): (Vec<Tally>, String) = match subject {
        Subject::Sets(sets) => {
            let words = format!("Over {} sets, by the corrected t-test at 95 %.", sets.sets.len());
            (sets.main_tallies().cloned().collect(), words)
        }
        Subject::Comparison(comparison) => {
            let tally = |duel: &dolmen::evaluate::compare::Duel| {
                let count = |outcome: Outcome| {
                    let mut counts = [0; 3];
                    counts[outcome as usize] = 1;
                    counts
                };
                Tally {
                    first: duel.first.clone(),
                    second: duel.second.clone(),
                    figure: duel.figure.clone(),
                    outcomes: count(duel.outcome),
                    corrected_outcomes: count(duel.corrected_outcome),
                }
            };
            (
                comparison.main_duels().map(tally).collect(),
                "By the corrected t-test over the splits at 95 %.".into(),
            )
        }
        _ => return Ok(None),
    };
    let Some(figure) = chosen_figure(&tallies, options)? else { return Ok(None) };
    let own: Vec<&Tally> = tallies.iter().filter(|tally| tally.figure == figure).collect();
    let (rows, columns) = fighters(&own);
    let words = format!(
        "Wins, draws and losses of the row's method against the column's, by {}: blue where it wins more often, orange where it loses more. {words}",
        figure.replace('_', " ")
    );
    let names_of = |names: &[&str]| names.iter().map(|name| spoken(name).into()).collect();
    let (row_names, column_names): (Vec<String>, Vec<String>) =
        (names_of(&rows), names_of(&columns));
    let grid = Grid {
        heading: Heading::new("Who wins against whom", &words, options),
        rows: &row_names,
        columns: &column_names,
        row_name: "",
        column_name: "",
        key: [(-1.0, "loses"), (-0.5, ""), (0.0, "even"), (0.5, ""), (1.0, "wins")]
            .map(|(lead, words)| led(lead, words.into(), String::new()))
            .into(),
    };
    let cell = |i: usize, j: usize| {
        let found = own.iter().find_map(|tally| {
            let [wins, draws, losses] = tally.corrected_outcomes;
            match (tally.first.as_str(), tally.second.as_str()) {
                pair if pair == (rows[i], columns[j]) => Some([wins, draws, losses]),
                pair if pair == (columns[j], rows[i]) => Some([losses, draws, wins]),
                _ => None,
            }
        });
        let Some([wins, draws, losses]) = found else {
            return Shade {
                colour: Colour::Faint,
                strength: 0.3,
                words: String::new(),
                title: String::new(),
            };
        };
        let total = (wins + draws + losses).max(1) as f64;
        let lead = (wins as f64 - losses as f64) / total;
        let losses_told = format!("{losses} loss{}", if losses == 1 { "" } else { "es" });
        let title = format!(
            "{} against {}: {}, {}, {losses_told}",
            row_names[i],
            column_names[j],
            counted(wins, "win"),
            counted(draws, "draw")
        );
        let words = if total > 1.0 {
            format!("{wins}/{draws}/{losses}")
        } else {
            ["win", "draw", "loss"][[wins, draws, losses].iter().position(|n| *n > 0).unwrap_or(1)]
                .into()
        };
        led(lead, words, title)
    };
    Ok(Some(grid.draw(cell, options)))
}

/// How a lead is shown, from −1, where all is lost, to 1.
fn led(lead: f64, words: String, title: String) -> Shade {
    let colour = if lead < 0.0 { Colour::Worse } else { Colour::First };
    Shade { colour, strength: 0.06 + 0.75 * lead.abs(), words, title }
}

/// The figure that is asked for, or the first.
fn chosen_figure(tallies: &[Tally], options: &Options) -> Result<Option<String>, Error> {
    let Some(wanted) = &options.input else {
        return Ok(tallies.first().map(|tally| tally.figure.clone()));
    };
    if tallies.is_empty() || tallies.iter().any(|tally| &tally.figure == wanted) {
        return Ok((!tallies.is_empty()).then(|| wanted.clone()));
    }
    let mut figures: Vec<&str> = tallies.iter().map(|tally| tally.figure.as_str()).collect();
    figures.sort_unstable();
    figures.dedup();
    Err(Error::param("input", figures.join(", "), wanted).suggesting(wanted, figures))
}

/// The methods of the rows and of the columns: one row where only the first has met the others.
fn fighters<'a>(tallies: &[&'a Tally]) -> (Vec<&'a str>, Vec<&'a str>) {
    let distinct = |all: &mut dyn Iterator<Item = &'a str>| {
        all.fold(Vec::new(), |mut names, name| {
            if !names.contains(&name) {
                names.push(name);
            }
            names
        })
    };
    let firsts = distinct(&mut tallies.iter().map(|tally| tally.first.as_str()));
    if firsts.len() == 1 {
        return (firsts, distinct(&mut tallies.iter().map(|tally| tally.second.as_str())));
    }
    let both = |tally: &&'a Tally| [tally.first.as_str(), tally.second.as_str()];
    let all = distinct(&mut tallies.iter().flat_map(both));
    (all.clone(), all)
}
