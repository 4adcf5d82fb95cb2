//! Whether a combination is worth it, in sentences: its gain over the best member, and how sure that is.
//!
//! The best member of a check is not the one that is best on all rows: every fold chooses it by the rows of the others, as somebody
//! would who had no other rows.

use dolmen::combine::weigh::Weighing;
use dolmen::ensemble::{Assessment, Kept, Surety, Verdict};

use super::words::with_error;
use crate::Subject;
use crate::subject::{CHOSEN, INFINITE};

/// Whether the stack is worth it, by its check.
pub(super) fn worth(subject: &Subject<'_>, check: &Assessment, kept: &str) -> String {
    let Verdict { kept: what, gain, surety, chance, only_member, by_check } = &check.verdict;
    if *only_member {
        return "There is only one member: there is nothing to combine.".into();
    }
    let sure = match surety {
        Surety::Clear => "clear",
        Surety::Likely => "likely, but not sure",
        Surety::Unsure => "within what chance brings",
        Surety::Not => "not above zero",
    };
    let often = chance.filter(|_| matches!(surety, Surety::Likely | Surety::Unsure)).map_or_else(
        String::new,
        |chance| {
            format!(
                " Without a true difference, so much or more comes up in {:.0} of 100 checks.",
                100.0 * chance
            )
        },
    );
    let asked = if *by_check { "" } else { " It is kept because it was asked for." };
    let told = |whose: &str| {
        if gain.mean == f64::INFINITY {
            return format!("On rows held out {whose} gain is {}", infinite(subject, *what));
        }
        let gain = with_error(gain);
        format!("On rows held out {whose} gain over {CHOSEN}, {gain}, is {sure}.{often}")
    };
    match what {
        Kept::Stack => format!("{}{asked}", told("its")),
        Kept::Uniform => format!(
            "Combining is, learning weights is not: equal weights did better than learned ones. {}",
            told("their")
        ),
        Kept::BestMember if gain.mean.is_infinite() => format!(
            "No: choosing the best member did best on rows held out, as the combination gives some row no probability at all; '{kept}' is kept."
        ),
        Kept::BestMember => format!(
            "No: choosing the best member did best on rows held out, and '{kept}' is kept. The lead of {CHOSEN}, {}, is {sure}.{often}",
            with_error(gain)
        ),
    }
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

/// Whether weights of predictions from anywhere are.
pub(super) fn worth_weighing(subject: &Subject<'_>, weighing: &Weighing) -> String {
    let Some(honest) = &weighing.cross_validated else {
        return format!(
            "Over the best member, '{}', the combination gains {}, over equal weights {} (on the rows the weights were found on).",
            weighing.best,
            with_error(&weighing.gain_over_best),
            with_error(&weighing.gain_over_uniform)
        );
    };
    let uniform = with_error(&honest.gain_over_uniform);
    if honest.gain_over_best.mean == f64::INFINITY {
        return format!(
            "With weights from other rows the combination gains {uniform} over equal weights; its gain over {CHOSEN} is {}",
            infinite(subject, Kept::Stack)
        );
    }
    format!(
        "With weights from other rows the combination gains {} over {CHOSEN}, and {uniform} over equal weights.",
        with_error(&honest.gain_over_best)
    )
}
