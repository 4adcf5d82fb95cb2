//! Section 5: the modes of the stacked density of the galaxies' velocities.

use dolmen::error::Result;
use dolmen::table::Features;
use dolmen_report::chart::{Chart, Series, Tone};

use super::curves::Drawn;
use super::kernels::{COMPONENTS, MANY};
use super::modes::COUNTED;
use super::sets;
use crate::drawn::with_error;
use crate::page::{Claim, Comparison, Figure, Page, Table, estimate};
use crate::truth::Truth;
use crate::{Context, Printed, Verdict};

/// Where the density is drawn, in thousands of km/s.
const ENDS: (f64, f64) = (5.0, 38.0);

/// Seven groups, about as far apart as those that are seen among the galaxies: made up, for readers without them.
const SEVEN: Truth<1> = Truth(&[
    (0.09, [9.7], 0.4),
    (0.03, [16.1], 0.2),
    (0.25, [19.5], 0.5),
    (0.25, [20.9], 0.4),
    (0.28, [23.0], 0.6),
    (0.06, [26.5], 0.4),
    (0.04, [33.0], 0.6),
]);

/// The galaxies.
pub(super) fn galaxies(context: &Context<'_>) -> Result<Page> {
    let found = sets::galaxies(context)?;
    let is_real = found.is_some();
    let rows = match found {
        Some(rows) => {
            let thousands = rows.rows().column(0).map(|v| v / 1000.0).collect();
            Features::numeric(thousands, 1)?
        }
        None => SEVEN.draw(82, &context.run.stream("galaxies"))?,
    };
    let name = if is_real {
        "the velocities of 82 galaxies"
    } else {
        "82 draws from seven groups (stand-in)"
    };
    let fits = context.either(12, 60);
    let mut stacks = context
        .repeat("fits", fits, |_, run| Drawn::fit(&rows, (&MANY, &COMPONENTS), ENDS, 1500, run))?;
    let counts: Vec<f64> = stacks.iter().map(|own| own.standing_out().len() as f64).collect();
    let drawn = stacks.swap_remove(typical(&counts));
    let modes = drawn.standing_out();
    let mut page = Page::new([
        format!(
            "The stack of Figure 2's models for {name}, in thousands of km/s, and its modes. The paper says of an extended version that stacking \"resulted \
             in about 7 modes\", which fits Roeder's analysis (1990)."
        ),
        format!(
            "{COUNTED} How many there are depends on how the rows fall into folds and on where EM starts, so the same rows are \
             stacked {fits} times, each with random numbers of its own. Standard errors are over these fits; they do not know what other rows would give. The picture is of the first fit with the median number of modes (of two middle ones the lower)."
        ),
    ]);
    let table = compared(name, is_real, &counts);
    // Of draws that are made up the paper claims nothing.
    page.claims.extend(is_real.then(|| claim(&counts, table.lines[0].verdict)));
    page.comparisons.push(table);
    page.figures.push(picture(name, &rows, &drawn, &modes));
    page.tables.push(spread(&counts));
    let mut found = Table::new(
        "places",
        "Where they lie in the fit of the picture",
        ["thousands of km/s", "density"],
    );
    modes.iter().for_each(|(x, height)| found.row([(*x).into(), (*height).into()]));
    page.tables.push(found);
    page.tables
        .extend([drawn.weights_table("Weights in the fit of the picture"), drawn.curve_table()]);
    if is_real {
        let note = "The copy of the R package MASS has 26 690 as its 78th velocity where Roeder (1990) prints 26 960; the file is taken as it is.";
        page.notes.push(note.into());
    }
    page.bring(&sets::GALAXIES, is_real);
    Ok(page)
}

/// The mean number of modes over the fits, beside the paper's.
fn compared(name: &str, is_real: bool, counts: &[f64]) -> Comparison {
    let mut table = Comparison::new("modes", "Modes of the stacked density", &["rows"], 1);
    let line = table.mean(&[name], counts, Some(Printed::about(7.0)));
    if is_real {
        line.because("the models of the extended version are not known, nor how it counted");
    } else {
        line.stand_in("a stand-in: draws that are made up");
    }
    table
}

/// The first fit whose number of modes is the median, of two middle ones the lower.
fn typical(counts: &[f64]) -> usize {
    let mut seen = counts.to_vec();
    seen.sort_by(f64::total_cmp);
    let median = seen.get(counts.len().saturating_sub(1) / 2);
    counts.iter().position(|count| Some(count) == median).unwrap_or(0)
}

/// Whether there are about seven modes: as the figure in the table is judged, so is the claim.
fn claim(counts: &[f64], verdict: Verdict) -> Claim {
    let mean = estimate(counts);
    let near = counts.iter().filter(|count| (6.0..=8.0).contains(*count)).count();
    let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = counts.iter().copied().fold(0.0, f64::max);
    Claim::new(
        "there are about seven modes",
        verdict == Verdict::Agrees,
        format!(
            "{} modes stand out on average, from {least} to {most}; six to eight in {near} of {} fits",
            with_error(&mean, 1),
            counts.len()
        ),
    )
    .holds_if("the mean agrees with the printed figure, by the rule on figures: it is no farther from seven than one mode and two standard errors")
}

/// How many fits have so many modes.
fn spread(counts: &[f64]) -> Table {
    let mut table = Table::new("spread", "How many fits have so many modes", ["modes", "fits"]);
    let mut seen = counts.to_vec();
    seen.sort_by(f64::total_cmp);
    for same in seen.chunk_by(|a, b| a == b) {
        table.row([same[0].into(), same.len().into()]);
    }
    table
}

/// The stack of these rows, by the name that says whether they stand in for the galaxies.
fn picture(name: &str, rows: &Features, drawn: &Drawn, modes: &[(f64, f64)]) -> Figure {
    let values: Vec<f64> = rows.rows().column(0).collect();
    let words = format!(
        "Of {name}: the stacked density of a fit with the median number of modes, the rows as a histogram, and the modes that stand out."
    );
    let chart = Chart::new("Modes of the stack", &words, "thousands of km/s", "density")
        .with(Series::histogram("", &values, ENDS, 66))
        .with(Series::line("", drawn.x.iter().copied().zip(drawn.stack.iter().copied())))
        .with(Series::points("", modes.iter().copied()).tone(Tone::Series(5)));
    Figure::chart("density", &chart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_that_is_drawn_has_the_median_number_of_modes() {
        assert_eq!(typical(&[8.0, 5.0, 7.0, 5.0, 7.0]), 2);
        assert_eq!(typical(&[8.0, 5.0, 7.0, 6.0]), 3, "of 6 and 7 the lower");
        assert_eq!(typical(&[4.0]), 0);
    }

    /// Table and claim go by one rule, at its edge as well.
    #[test]
    fn table_and_claim_never_disagree() {
        for counts in [[6.0, 6.0, 6.0, 6.0], [5.0, 7.0, 5.0, 6.0], [4.0, 4.0, 5.0, 4.0]] {
            let line = &compared("the velocities", true, &counts).lines[0];
            let claim = claim(&counts, line.verdict);
            assert_eq!(claim.holds(), line.verdict == Verdict::Agrees, "{claim:?}");
        }
        assert!(!claim(&[4.0, 4.0], Verdict::Differs).holds());
    }
}
