//! Section 5: the modes of the stacked density of the galaxies' velocities.

use dolmen::error::Result;
use dolmen::score::Estimate;
use dolmen::table::Features;
use dolmen_report::chart::{Chart, Series, Tone};

use super::curves::Drawn;
use super::kernels::{COMPONENTS, MANY};
use super::modes::{COUNTED, maxima};
use super::sets;
use crate::page::{Claim, Comparison, Figure, Page, Table};
use crate::truth::Truth;
use crate::{Context, Printed};

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
    let drawn = Drawn::fit(&rows, (&MANY, &COMPONENTS), (5.0, 38.0), 1500, context.run)?;
    let modes = drawn.standing_out();
    let mut page = Page::new([
        format!(
            "The stack of Figure 2's models for {name}, in thousands of km/s, and its modes. The paper says of an extended version that stacking \"resulted \
             in about 7 modes\", which fits Roeder's analysis (1990)."
        ),
        format!("{COUNTED} Six to eight modes are about seven."),
    ]);
    let mut table = Comparison::new("modes", "Modes of the stacked density", &["rows"], 0);
    let count = Estimate { mean: modes.len() as f64, se: None };
    let line = table.estimate(&[name], Some(count), 1, Some(Printed::about(7.0)));
    if is_real {
        line.because("the models of the extended version are not known, nor how it counted");
    } else {
        line.stand_in("a stand-in: draws that are made up");
    }
    page.comparisons.push(table);
    // Of draws that are made up the paper claims nothing.
    let claim = Claim::new(
        "there are about seven modes",
        (6..=8).contains(&modes.len()),
        format!(
            "{} modes that stand out, {} local maxima in all",
            modes.len(),
            maxima(&drawn.x, &drawn.stack).len()
        ),
    )
    .holds_if("six to eight stand out");
    page.claims.extend(is_real.then_some(claim));
    page.figures.push(picture(name, &rows, &drawn, &modes));
    let mut found = Table::new("places", "Where they lie", ["thousands of km/s", "density"]);
    modes.iter().for_each(|(x, height)| found.row([(*x).into(), (*height).into()]));
    page.tables.push(found);
    page.tables.extend([drawn.weights_table("Weights"), drawn.curve_table()]);
    if is_real {
        let note = "The copy of the R package MASS has 26 690 as its 78th velocity where Roeder (1990) prints 26 960; the file is taken as it is.";
        page.notes.push(note.into());
    }
    page.bring(&sets::GALAXIES, is_real);
    Ok(page)
}

/// The stack of these rows, by the name that says whether they stand in for the galaxies.
fn picture(name: &str, rows: &Features, drawn: &Drawn, modes: &[(f64, f64)]) -> Figure {
    let values: Vec<f64> = rows.rows().column(0).collect();
    let words = format!(
        "Of {name}: the stacked density, the rows as a histogram, and the modes that stand out."
    );
    let chart = Chart::new("Modes of the stack", &words, "thousands of km/s", "density")
        .with(Series::histogram("", &values, (5.0, 38.0), 66))
        .with(Series::line("", drawn.x.iter().copied().zip(drawn.stack.iter().copied())))
        .with(Series::points("", modes.iter().copied()).tone(Tone::Series(5)));
    Figure::chart("density", &chart)
}
