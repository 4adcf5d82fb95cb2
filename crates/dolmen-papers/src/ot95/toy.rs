//! Figures 1 and 2: a density in a plane, and mixtures of too many components for the few rows drawn from it.

use dolmen::error::{Error, Result};
use dolmen::learner::density::mixture::{FittedMixture, GaussianMixture};
use dolmen::learner::{Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;
use dolmen_report::chart::{Chart, Series, Tone};

use super::{held_out, regularised, unregularised};
use crate::Context;
use crate::drawn::{difference, with_error};
use crate::page::{Claim, Figure, Page, Table, estimate};
use crate::truth::{Truth, grid, steps};

/// The toy: the paper does not state its own. Three round hills of unlike width.
const TOY: Truth<2> =
    Truth(&[(0.4, [-1.0, -0.4], 0.55), (0.35, [1.1, -0.6], 0.45), (0.25, [0.1, 1.1], 0.35)]);
const ROWS: usize = 100;
const TEST_ROWS: usize = 2000;
const COMPONENTS: usize = 12;
/// The betas of Figure 2, and two at the ends: too small and too large.
const BETAS: [f64; 2] = [0.05, 0.1];
const LARGE: f64 = 20.0;
/// Where contours lie, as shares of the true density's height.
const LEVELS: [f64; 6] = [0.05, 0.2, 0.4, 0.6, 0.8, 1.0];

fn rows(context: &Context<'_>) -> Result<Features> {
    // The same rows for both figures.
    TOY.draw(ROWS, &context.run.seeded(1995).stream("toy"))
}

fn fit(learner: &GaussianMixture, rows: &Features, run: &Run) -> Result<FittedMixture> {
    let mut models = learner.fit_mixtures(&Sample::<Density>::new(rows.rows(), &())?, run)?;
    models.pop().ok_or_else(|| Error::shape("mixtures fitted", 1, 0))
}

/// The greatest density at the centre of a component.
fn peak(model: &FittedMixture, run: &Run) -> Result<f64> {
    let centres = model.parameters().means.concat();
    let logs = predict::<Density>(model, Features::numeric(centres, 2)?.rows(), run)?;
    Ok(logs.iter().map(|log| log.exp()).fold(0.0, f64::max))
}

/// Points of the grid each way that show a smooth density, and one with ridges as narrow as the floor on the variances lets them
/// be: about a hundredth wide.
const SMOOTH: usize = 90;
const RIDGES: usize = 480;

/// Contours of a density over the rows, at heights that are the same for all, from a grid of so many points each way.
fn contours(
    title: &str,
    rows: &Features,
    side: usize,
    log_density: impl FnOnce(&Features) -> Result<Vec<f64>>,
) -> Result<Chart> {
    let (xs, ys) = (steps(-3.0, 3.0, side), steps(-2.6, 2.6, side));
    let cells = grid(&xs, &ys)?;
    let heights: Vec<f64> = log_density(&cells)?.iter().map(|log| log.exp()).collect();
    let top = TOY.0.iter().map(|(_, mean, _)| TOY.log_density(mean).exp()).fold(0.0, f64::max);
    let levels = LEVELS.map(|share| 0.98 * share * top).to_vec();
    let points = rows.rows().iter().map(|row| (row[0], row[1])).collect::<Vec<_>>();
    Ok(Chart::new(title, "", "x1", "x2")
        .x_range(-3.0, 3.0)
        .y_range(-2.6, 2.6)
        .height(330.0)
        .unlabelled()
        .with(Series::contours("density", (&xs, &ys), heights, levels))
        .with(Series::points("", points).tone(Tone::Ink)))
}

const WORDS: &str = "Contours at 5, 20, 40, 60, 80 and 100 % of the true density's height, the same in both; points are the rows.";

/// Figure 1.
pub(super) fn fig1(context: &Context<'_>) -> Result<Page> {
    let rows = rows(context)?;
    let run = context.run;
    let model = fit(&unregularised(COMPONENTS, 2), &rows, run)?;
    let charts = [
        contours("The true density", &rows, SMOOTH, |cells| Ok(TOY.log_densities(cells.rows())))?,
        contours("Without a prior", &rows, RIDGES, |cells| {
            predict::<Density>(&model, cells.rows(), run)
        })?,
    ];
    let mut page = Page::new([format!(
        "{ROWS} rows from a known density in a plane, and a mixture of {COMPONENTS} components fitted to them without a prior, but for a lower bound on its \
         variances. The toy problem is ours: the paper does not state its own."
    )]);
    let highest = TOY.0.iter().map(|(_, mean, _)| TOY.log_density(mean).exp()).fold(0.0, f64::max);
    let found = peak(&model, run)?;
    let claim = Claim::new(
        "components contract on a few rows: the estimate has high peaks",
        found > 3.0 * highest,
        format!("highest at a centre {found:.1}, truth {highest:.2}"),
    );
    page.claims.push(claim.holds_if("that is more than three times as high"));
    page.figures.push(Figure::panels(
        "densities",
        ("True and unregularised density", WORDS),
        2,
        &charts,
    ));
    page.tables.push(components(&model, run)?);
    Ok(page)
}

/// The components of a mixture: where they lie, how wide they are, and how high the density is there.
fn components(model: &FittedMixture, run: &Run) -> Result<Table> {
    let parameters = model.parameters();
    let columns = ["weight", "x1", "x2", "density there", "true density there"];
    let mut table = Table::new("components", "The components without a prior", columns);
    for (weight, mean) in parameters.weights.iter().zip(&parameters.means) {
        let place = Features::numeric(mean.clone(), 2)?;
        let height = predict::<Density>(model, place.rows(), run)?[0].exp();
        let truth = TOY.log_density(mean).exp();
        table.row([*weight, mean[0], mean[1], height, truth].map(Into::into));
    }
    Ok(table)
}

/// Figure 2.
pub(super) fn fig2(context: &Context<'_>) -> Result<Page> {
    let rows = rows(context)?;
    let run = context.run;
    let mut page = Page::new([
        "The rows of Figure 1 and the same mixture with the prior of section 3, beta = 0.05 and 0.1; then many draws of rows, and the mean log density of \
         2000 others under mixtures without a prior and with priors of several strengths.",
    ]);
    let mut charts = Vec::new();
    for beta in BETAS {
        let model = fit(&regularised(COMPONENTS, &[beta]), &rows, run)?;
        charts.push(contours(&format!("beta = {beta}"), &rows, SMOOTH, |cells| {
            predict::<Density>(&model, cells.rows(), run)
        })?);
    }
    page.figures.push(Figure::panels("densities", ("Regularised densities", WORDS), 2, &charts));
    let learners = [
        ("no prior".to_string(), unregularised(COMPONENTS, 2)),
        (format!("beta = {}", BETAS[0]), regularised(COMPONENTS, &BETAS[..1])),
        (format!("beta = {}", BETAS[1]), regularised(COMPONENTS, &BETAS[1..])),
        (format!("beta = {LARGE}"), regularised(COMPONENTS, &[LARGE])),
    ];
    let found = context.repeat("draws", context.either(10, 50), |_, run| {
        let train = TOY.draw(ROWS, &run.stream("train"))?;
        let test = TOY.draw(TEST_ROWS, &run.stream("test"))?;
        let score = |(_, learner): &(String, GaussianMixture)| {
            held_out(learner, train.rows(), test.rows(), run)
        };
        let truth = TOY.log_densities(test.rows()).iter().sum::<f64>() / TEST_ROWS as f64;
        Ok((learners.iter().map(score).collect::<Result<Vec<f64>>>()?, truth))
    })?;
    let column = |m: usize| found.iter().map(|(scores, _)| scores[m]).collect::<Vec<f64>>();
    let mut table =
        Table::new("scores", "Mean log density of rows held out", ["mixture", "log density", "se"]);
    for (m, (name, _)) in learners.iter().enumerate() {
        let own = estimate(&column(m));
        table.row([name.as_str().into(), own.mean.into(), own.se.unwrap_or(0.0).into()]);
    }
    let truth = estimate(&found.iter().map(|(_, truth)| *truth).collect::<Vec<_>>());
    table.row(["the truth".into(), truth.mean.into(), truth.se.unwrap_or(0.0).into()]);
    page.tables.push(table);
    let told = |m: usize| format!("{} has {}", learners[m].0, with_error(&estimate(&column(m)), 2));
    for m in [1, 2] {
        let lead = difference(&column(m), &column(0));
        page.claims.push(Claim::ahead(
            format!("with {} the density is better than without a prior", learners[m].0),
            &lead,
            format!("{}, {}: ahead by {}", told(m), told(0), with_error(&lead, 2)),
        ));
    }
    let lead = difference(&column(2), &column(3));
    page.claims.push(Claim::ahead(
        "too large a beta does not see the structure",
        &lead,
        format!("{}, {}: behind by {}", told(3), told(2), with_error(&lead, 2)),
    ));
    Ok(page)
}
