//! Section 7: families of mixtures that grow, a single Gaussian with those of 2, 4, .. up to K components.

use dolmen::error::Result;
use dolmen::learner::density::Gaussian;
use dolmen::math::first_largest;
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen_report::chart::{Chart, Series};

use super::contest::{Contest, equal, mixtures, stack};
use super::family_claims::Family;
use super::rows::{STAND_IN, VOWELS};
use super::sets;
use crate::data::Brought;
use crate::drawn::reach;
use crate::page::{Figure, Page, Table, Value, estimate};
use crate::{Context, Effort};

/// The methods, in the order of all results.
pub(super) const METHODS: [&str; 5] = ["Stacking", "Cheating", "CV", "Uniform", "MaxK"];
/// Partitions of the paper.
const RUNS: usize = 20;

/// A data set of section 7.
struct Set {
    name: String,
    rows: Features,
    train: usize,
    test: usize,
    /// Which of the paper's figures this is.
    figure: Which,
    /// Why claims may not hold, where the rows are not the paper's.
    why: Option<&'static str>,
}

/// The figures of section 7.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Diabetes,
    Iris,
    Vowels,
}

/// Figure 6.
pub(super) fn fig6(context: &Context<'_>) -> Result<Page> {
    let found = sets::diabetes(context)?;
    let stand_in = "penguins (stand-in: four measurements of three species)";
    let brought = Some((sets::DIABETES, found.is_some()));
    let (name, rows, why) = match found {
        Some(rows) => ("diabetes", rows, None),
        None => (stand_in, sets::penguins(context)?, Some(STAND_IN)),
    };
    study(
        context,
        &Set { name: name.into(), rows, train: 105, test: 30, figure: Which::Diabetes, why },
        brought,
    )
}

/// Figure 7.
pub(super) fn fig7(context: &Context<'_>) -> Result<Page> {
    let (name, rows) = ("iris".into(), sets::iris(context)?);
    let set = Set { name, rows, train: 120, test: 30, figure: Which::Iris, why: None };
    study(context, &set, None)
}

/// Figure 8.
pub(super) fn fig8(context: &Context<'_>) -> Result<Page> {
    let found = sets::vowels(context)?;
    let brought = Some((sets::VOWELS, found.is_some()));
    let run = context.run.stream("vowels");
    let (name, rows, why) = match found {
        Some(rows) => ("vowels (stand-in, 673 rows)", rows, VOWELS),
        None => (
            "ten made-up components in a plane (stand-in)",
            sets::TEN.draw(sets::VOWEL_ROWS, &run)?,
            STAND_IN,
        ),
    };
    let (name, why) = (name.into(), Some(why));
    let set = Set { name, rows, train: 571, test: 100, figure: Which::Vowels, why };
    study(context, &set, brought)
}

/// The gains of the methods, for each K.
fn one_run(set: &Set, ks: &[usize], run: &Run) -> Result<Vec<[f64; 5]>> {
    let [train, test] = sets::split(&set.rows, set.train, set.test, run)?;
    let family = stack().member(Gaussian::default()).member(mixtures(ks));
    let contest = Contest::fit(&family, train.rows(), run)?;
    let predicted = contest.predict(test.rows(), run)?;
    let alone: Vec<f64> = predicted.members.iter().map(|log| predicted.gain(log)).collect();
    let of_family = |largest: usize| {
        let members = largest + 2;
        let stacked = predicted.pool(&contest.weights_of(members, run)?, test.rows())?;
        let uniform = predicted.pool(&equal(members), test.rows())?;
        Ok([
            predicted.gain(&stacked),
            alone[first_largest(&alone[..members])],
            alone[contest.chosen(members)?],
            predicted.gain(&uniform),
            alone[members - 1],
        ])
    };
    (0..ks.len()).map(of_family).collect()
}

/// The study of a set, and whether one that would be better was brought.
fn study(context: &Context<'_>, set: &Set, brought: Option<(Brought, bool)>) -> Result<Page> {
    let ks: Vec<usize> = match context.effort {
        Effort::Quick => vec![2, 4, 8, 12, 16],
        Effort::Full => (2..=16).step_by(2).collect(),
    };
    let runs = context.either(if set.figure == Which::Vowels { 4 } else { 8 }, RUNS);
    let found = context.repeat("partitions", runs, |_, run| one_run(set, &ks, run))?;
    let mut page = Page::new([format!(
        "{}: {runs} random partitions into {} training and {} test rows. Each family holds a single Gaussian and mixtures of 2, 4, .. up to K \
         components. Shown is the summed test log-likelihood less that of the single Gaussian. MaxK takes the mixture of K components alone.",
        set.name, set.train, set.test
    )]);
    let column = |k: usize, m: usize| found.iter().map(|run| run[k][m]).collect::<Vec<f64>>();
    let mut table = Table::new(
        "families",
        "Mean gains",
        std::iter::once("K".to_string())
            .chain(METHODS.iter().flat_map(|m| [(*m).to_string(), format!("{m} se")])),
    );
    for (k, components) in ks.iter().enumerate() {
        let cells = (0..METHODS.len()).flat_map(|m| {
            let own = estimate(&column(k, m));
            [own.mean, own.se.unwrap_or(f64::NAN)]
        });
        table.row(std::iter::once(*components as f64).chain(cells).map(Value::Number));
    }
    page.tables.push(table);
    page.figures.push(picture(set, &ks, &column));
    page.claims = Family { ks: &ks, found: &found }.claims(set.figure);
    if let Some(why) = set.why {
        page.claims = page.claims.into_iter().map(|claim| claim.because(why)).collect();
    }
    brought.iter().for_each(|(brought, is_there)| page.bring(brought, *is_there));
    page.notes.push(
        "The paper's curves are drawn, not printed as numbers: there is nothing to compare figure by figure.".into(),
    );
    Ok(page)
}

fn picture(set: &Set, ks: &[usize], column: &dyn Fn(usize, usize) -> Vec<f64>) -> Figure {
    let line = |(m, method): (usize, &&str)| {
        let estimates: Vec<_> = (0..ks.len()).map(|k| estimate(&column(k, m))).collect();
        let points = ks.iter().zip(&estimates).map(|(k, e)| (*k as f64, e.mean));
        let errors = estimates.iter().map(reach).collect();
        let series = if *method == "Cheating" {
            Series::dashed(method, points)
        } else {
            Series::line(method, points)
        };
        series.errors(errors)
    };
    let tops = (0..ks.len()).map(|k| estimate(&column(k, 0)).mean);
    let top = tops.fold(1.0, f64::max);
    let words = if set.figure == Which::Vowels {
        "Means over the partitions with two standard errors. Cheating, broken, chooses by the test set."
    } else {
        "Means over the partitions with two standard errors. Cheating, broken, chooses by the test set; MaxK goes on below the picture."
    };
    let chart = Chart::new(
        &format!("Growing families: {}", set.name),
        words,
        "largest number of components, K",
        "log-likelihood over a single Gaussian",
    )
    .with_all(METHODS.iter().enumerate().map(line))
    .y_range(0.0, 1.25 * top);
    Figure::chart("families", &chart)
}
