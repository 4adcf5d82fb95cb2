//! The data sets of sections 4 and 7. Iris is carried; the others the reader brings.

use dolmen::error::Result;
use dolmen::plan::{Plan, Portion};
use dolmen::run::Run;
use dolmen::table::Features;

use crate::Context;
use crate::data::{Brought, Carried, Marks, numbers};
use crate::truth::Truth;

/// Reaven and Miller's diabetes: 145 rows, 3 columns.
pub(super) const DIABETES: Brought = Brought {
    file: "reaven_miller_diabetes.csv",
    marks: Marks {
        rows: 145,
        numbers: None,
        ends: &[("glucose", 70.0, 353.0), ("insulin", 45.0, 1568.0), ("sspg", 10.0, 748.0)],
        classes: Some(("class", 3)),
    },
    what: "the diabetes data of Reaven and Miller (145 rows: glucose, insulin, sspg)",
    why: "It is not carried because its copy, `diabetes` of the R package mclust, comes under the GPL.",
    instead: "the carried penguins (333 rows, four measurements of three species) stand in for them",
};

/// Peterson and Barney's vowels, in the one subset that has about as many rows as the paper's.
pub(super) const VOWELS: Brought = Brought {
    file: "peterson_barney_2d_673.csv",
    marks: Marks {
        rows: VOWEL_ROWS,
        numbers: None,
        ends: &[("F1", 190.0, 1300.0), ("F2", 570.0, 3505.0)],
        classes: Some(("vowel", 10)),
    },
    what: "Peterson and Barney's vowels (first and second formant, 673 rows: the mean of the unanimously identified repetitions of each \
           speaker and vowel)",
    why: "It is not carried because its copies state no licence. The paper's own 639 rows are no natural subset of the record: this one \
          stands in for it.",
    instead: "673 draws from ten made-up components in a plane stand in for them",
};

/// The named stand-in for the star-galaxy data.
pub(super) const STARS: Brought = Brought {
    file: "hipparcos_7d.csv",
    // The first column is the magnitude; copies name the columns in different ways.
    marks: Marks { rows: 2719, numbers: Some(7), ends: &[("", 0.45, 12.74)], classes: None },
    what: "stars of the Hipparcos catalogue (2719 rows, 7 columns), which stand in for the star-galaxy data (499 rows, 7 columns)",
    why: "The star-galaxy data themselves were not found anywhere; the stand-in is not carried because its copy, `HIP` of the R package \
          astrodatR, comes under the GPL.",
    instead: "499 draws from six made-up components in seven columns, of very unlike widths, stand in for them",
};

/// The galaxies of section 5.
pub(super) const GALAXIES: Brought = Brought {
    file: "galaxies.csv",
    marks: Marks { rows: 82, numbers: Some(1), ends: &[("", 9172.0, 34_279.0)], classes: None },
    what: "the velocities of 82 galaxies (Postman and others 1986; Roeder 1990)",
    why: "They are not carried because their copy, `galaxies` of the R package MASS, comes under the GPL.",
    instead: "82 draws from seven made-up groups stand in for them",
};

/// Rows of the star-galaxy data, and so of their stand-in.
pub(super) const STAR_ROWS: usize = 499;
/// Rows of the vowels that stand in for the paper's.
pub(super) const VOWEL_ROWS: usize = 673;

/// Iris, four columns.
pub(super) fn iris(context: &Context<'_>) -> Result<Features> {
    numbers(&Carried::Iris.table(context.run)?, &[])
}

/// Penguins, four columns, the rows without missing numbers.
pub(super) fn penguins(context: &Context<'_>) -> Result<Features> {
    numbers(&Carried::Penguins.table(context.run)?, &[])
}

/// The diabetes data, if the reader brought them.
pub(super) fn diabetes(context: &Context<'_>) -> Result<Option<Features>> {
    let table = DIABETES.table(context)?;
    table.map(|table| numbers(&table, &["glucose", "insulin", "sspg"])).transpose()
}

/// The vowels, if the reader brought them.
pub(super) fn vowels(context: &Context<'_>) -> Result<Option<Features>> {
    VOWELS.table(context)?.map(|table| numbers(&table, &["F1", "F2"])).transpose()
}

/// As many stars as the paper had, drawn at random, if the reader brought some.
pub(super) fn stars(context: &Context<'_>) -> Result<Option<Features>> {
    let Some(table) = STARS.table(context)? else { return Ok(None) };
    let all = numbers(&table, &[])?;
    let rows = all.rows().rows();
    if rows <= STAR_ROWS {
        return Ok(Some(all));
    }
    let drawn = Plan::hold_out(rows, Portion::Rows(STAR_ROWS), &context.run.stream("stars"))?;
    Ok(Some(all.rows().select(drawn.splits()[0].test())))
}

/// The velocities, if the reader brought them.
pub(super) fn galaxies(context: &Context<'_>) -> Result<Option<Features>> {
    GALAXIES.table(context)?.map(|table| numbers(&table, &[])).transpose()
}

/// Ten overlapping components in a plane, about as the vowels lie: made up, for readers without the vowels.
pub(super) const TEN: Truth<2> = Truth(&[
    (0.1, [2.7, 22.9], 0.6),
    (0.1, [3.9, 19.9], 0.7),
    (0.1, [5.3, 18.4], 0.8),
    (0.1, [6.6, 17.2], 0.9),
    (0.1, [7.3, 10.9], 0.9),
    (0.1, [5.7, 8.4], 0.6),
    (0.1, [4.4, 10.2], 0.6),
    (0.1, [3.0, 8.7], 0.6),
    (0.1, [6.4, 11.9], 0.7),
    (0.1, [4.9, 13.5], 0.7),
]);

/// Components of very unlike widths in seven columns: made up, for readers without the stars.
pub(super) const WIDTHS: Truth<7> = Truth(&[
    (0.25, [0.0; 7], 0.15),
    (0.2, [1.0, -1.0, 0.5, 0.0, 1.0, 0.0, -0.5], 0.3),
    (0.2, [-1.0, 1.0, 0.0, 1.5, 0.0, -1.0, 0.5], 0.25),
    (0.15, [0.5, 0.5, -1.5, -0.5, -1.0, 1.0, 0.0], 0.5),
    (0.1, [0.0, 0.0, 1.0, -1.0, 0.5, 1.5, 1.0], 0.1),
    (0.1, [0.0; 7], 1.5),
]);

/// A random split: the training rows, then the test rows.
pub(super) fn split(all: &Features, train: usize, test: usize, run: &Run) -> Result<[Features; 2]> {
    let rows = all.rows().rows();
    let drawn = Plan::hold_out(rows, Portion::Rows(test), &run.stream("test"))?;
    let others = drawn.splits()[0].train(rows);
    let rest = all.rows().select(&others);
    let test = all.rows().select(drawn.splits()[0].test());
    if train >= others.len() {
        return Ok([rest, test]);
    }
    let kept = Plan::hold_out(others.len(), Portion::Rows(train), &run.stream("train"))?;
    Ok([rest.rows().select(kept.splits()[0].test()), test])
}
