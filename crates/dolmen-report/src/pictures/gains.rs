//! What the stack gains over the best member and over equal weights.

use dolmen::score::Estimate;

use super::members::{NINETY, around};
use crate::draw::{
    Colour, Heading, Lane, Lanes, Mark, counted, extent, lane_ends, padded, short, signed,
    uncertain_gain,
};
use crate::subject::{INFINITE, is_nothing};
use crate::{Options, Subject};

/// Gains as dots with their intervals, zero in sight.
pub(super) fn gain(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let Gains { over_best, over_uniform, is_chosen, mut words } = gains(subject)?;
    let lane = |name: &str, estimate: &Estimate| {
        let title = format!("{name}: {} {}", signed(estimate.mean), se_words(estimate));
        let words = uncertain_gain(estimate.mean, estimate.se);
        let colour = if estimate.mean < 0.0 { Colour::Worse } else { Colour::First };
        Lane {
            interval: around(estimate, NINETY),
            title,
            colour,
            is_strong: true,
            ..Lane::new(name, estimate.mean, words)
        }
    };
    let mut lanes = vec![lane("over the best member", &over_best)];
    // Rows given for an average cannot tell it from equal weights: it is the same.
    if is_chosen || !is_nothing(&over_uniform) {
        lanes.push(lane("over equal weights", &over_uniform));
    }
    if is_chosen {
        words += " The best member is here the one that other rows chose as best.";
    }
    if is_chosen && over_best.mean == f64::INFINITY {
        words += &format!(" A double arrow is an infinite gain: {INFINITE}.");
        if let Some((name, gain)) = subject.finite_gain() {
            words += " The last gain is on the rows that the weights were found on.";
            lanes.push(lane(&format!("over '{name}'"), gain));
        }
    }
    let ends = lane_ends(&lanes).chain([0.0]);
    let domain = padded(extent(ends)?, 0.08);
    let x_name = format!("gain in {}", subject.score_name());
    // A check compares what was tried, rows given for it what is kept.
    let title = format!("What {} gains", gaining(subject, is_chosen));
    let picture = Lanes {
        heading: Heading::new(&title, &words, options),
        mark: Mark::Dot,
        domain,
        x_name: &x_name,
        things: "gains",
        line: Some(0.0),
    };
    Some(picture.draw(&lanes, options))
}

/// What the gains are of: what a check has tried, or what is kept.
fn gaining(subject: &Subject<'_>, is_chosen: bool) -> &'static str {
    if is_chosen { subject.tried_name() } else { subject.whole().name() }
}

fn se_words(estimate: &Estimate) -> String {
    estimate.se.map_or_else(
        || "(its error is not known)".into(),
        |se| format!("(standard error {})", short(se)),
    )
}

/// What the stack gains, and how that was measured.
struct Gains {
    over_best: Estimate,
    over_uniform: Estimate,
    /// Whether the best member was chosen fold by fold, on other rows than those scored.
    is_chosen: bool,
    words: String,
}

fn gains(subject: &Subject<'_>) -> Option<Gains> {
    let with = |best: &Estimate, uniform: &Estimate, is_chosen: bool, words: &str| {
        let errors = if best.se.is_some() || uniform.se.is_some() {
            "Whiskers are 90 % intervals, after ± stands one standard error; left"
        } else {
            "Left"
        };
        let words =
            format!("{words} {errors} of the line {} is worse.", gaining(subject, is_chosen));
        Some(Gains { over_best: *best, over_uniform: *uniform, is_chosen, words })
    };
    let scored = match subject {
        Subject::Score(report) => Some(*report),
        _ => subject.model().and_then(|view| view.score),
    };
    if let Some(report) = scored {
        if report.members.len() < 2 {
            return None;
        }
        let words = subject.given_words(report.rows);
        return with(&report.gain_over_best, &report.gain_over_uniform, false, &words);
    }
    if let Some(check) = subject.check() {
        let not_kept = subject.not_kept().map_or_else(String::new, |own| format!(" {own}"));
        let words = format!(
            "Paired differences on {} held out.{not_kept}",
            counted(check.checked_rows, "row")
        );
        return with(&check.gain_over_best, &check.gain_over_uniform, true, &words);
    }
    let weighing = subject.weighing().filter(|own| own.members.len() > 1)?;
    match &weighing.cross_validated {
        Some(honest) => {
            let words = "Paired differences with weights found on other rows than those scored.";
            with(&honest.gain_over_best, &honest.gain_over_uniform, true, words)
        }
        None => {
            let words = "Paired differences on the rows that the weights were found on: a little flattering.";
            with(&weighing.gain_over_best, &weighing.gain_over_uniform, false, words)
        }
    }
}
