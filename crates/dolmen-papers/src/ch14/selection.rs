//! Section 14.1: Bayesian model averaging asks which one model made all rows, a mixture which made which row.
//!
//! Two given densities, N(-1, 1) and N(1, 1). In one world all rows come from the first; in the other each row comes from the
//! first with probability 0.6, else from the second. The weights of both ways are learned from N rows; new rows judge them.

use dolmen::combine::{Bma, Combiner, Evidence, Method, Weights};
use dolmen::error::{Error, Result};
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::task::{Density, Task};
use dolmen_report::chart::{Chart, Series, Tone};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::drawn::{reach, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Page};

/// Rows that are learned from.
const SIZES: [usize; 8] = [5, 10, 20, 50, 100, 200, 500, 1000];
/// The share of the first density in the world of mixtures.
const SHARE: f64 = 0.6;
const CENTRES: [f64; 2] = [-1.0, 1.0];
const NEW: usize = 2000;

/// The ways to weigh.
const WAYS: [&str; 2] = ["Bayesian averaging", "mixture"];

/// One world.
struct World {
    name: &'static str,
    file: &'static str,
    /// The share of rows that the first density makes.
    share: f64,
    sizes: Vec<Size>,
}

/// So many rows.
struct Size {
    rows: usize,
    /// The weight of the first density, and the larger of both weights, by averaging and by the mixture.
    first: [Estimate; 2],
    largest: [Estimate; 2],
    /// Log density of new rows by the mixture less that by averaging.
    gain: Estimate,
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let draws = context.either(50, 500);
    let mut page = Page::new([format!(
        "Two given densities, N(-1, 1) and N(1, 1). In one world the first makes all rows. In the other each row is made by the first with probability {SHARE}, else \
         by the second. Bayesian averaging weighs the densities by their evidence, the mixture by the likelihood of weighted sums. {draws} draws of each size; {NEW} new rows \
         judge."
    )]);
    let worlds = [
        ("One density makes all rows", "one", 1.0),
        ("Each row has its own density", "mixed", SHARE),
    ];
    let of = |(name, file, share)| {
        let size = |rows: usize| size(rows, share, (name, draws), context);
        Ok(World { name, file, share, sizes: SIZES.into_iter().map(size).collect::<Result<_>>()? })
    };
    let worlds = worlds.into_iter().map(of).collect::<Result<Vec<World>>>()?;
    page.claims = claims(&worlds[0], &worlds[1]);
    page.tables.extend(worlds.iter().map(table));
    page.figures.push(figure(&worlds));
    Ok(page)
}

fn size(
    rows: usize,
    share: f64,
    (name, draws): (&str, usize),
    context: &Context<'_>,
) -> Result<Size> {
    let what = format!("{name}, {rows} rows");
    let found = context.repeat(&what, draws, |_, run| weighed(rows, share, run))?;
    let column =
        |of: &dyn Fn(&[f64; 3]) -> f64| estimate(&found.iter().map(of).collect::<Vec<f64>>());
    let larger = |k: usize| column(&|own| own[k].max(1.0 - own[k]));
    Ok(Size {
        rows,
        first: [column(&|own| own[0]), column(&|own| own[1])],
        largest: [larger(0), larger(1)],
        gain: column(&|own| own[2]),
    })
}

/// The first density's weight by averaging and by the mixture, and what the mixture gains on new rows.
fn weighed(rows: usize, share: f64, run: &Run) -> Result<[f64; 3]> {
    let (matrix, new) = (matrix(rows, share, &run.child(0))?, matrix(NEW, share, &run.child(1))?);
    // Given densities have no parameters: their evidence is the likelihood of all rows.
    let evidence: Vec<f64> = (0..2).map(|m| matrix.column(m).iter().sum()).collect();
    let given = Evidence { oos: &matrix, x: None, log_evidence: Some(&evidence) };
    let averaged = weights(&Bma {}, &given, run)?;
    let mixed = weights(&Weights::from(Method::Simplex), &given, run)?;
    let score = |weights: &[f64]| {
        let mut out = [0.0];
        let row = |i: usize| {
            Density::mix(weights, |m| new.row(m, i), &mut out);
            out[0]
        };
        (0..NEW).map(row).sum::<f64>() / NEW as f64
    };
    Ok([averaged[0], mixed[0], score(&mixed) - score(&averaged)])
}

/// The log densities of drawn rows: given densities have seen none of them, so that all are out of sample.
fn matrix(rows: usize, share: f64, run: &Run) -> Result<OutOfSample<Density>> {
    let mut rng = run.rng();
    let mut row = || {
        let centre = CENTRES[usize::from(rng.random::<f64>() >= share)];
        let noise: f64 = StandardNormal.sample(&mut rng);
        centre + noise
    };
    let x: Vec<f64> = (0..rows).map(|_| row()).collect();
    let log = |x: &f64, centre: f64| -0.5 * ((x - centre).powi(2) + std::f64::consts::TAU.ln());
    let column = |centre: f64| -> Vec<f64> { x.iter().map(|x| log(x, centre)).collect() };
    let members = CENTRES.map(|centre| (format!("N({centre}, 1)"), column(centre)));
    OutOfSample::from_columns(members.into(), (), None)
}

fn weights(
    combiner: &dyn Combiner<Density>,
    evidence: &Evidence<'_, Density>,
    run: &Run,
) -> Result<Vec<f64>> {
    let found = combiner.fit(evidence, run)?;
    let weights = found.first().and_then(|own| own.weights());
    weights.map(<[f64]>::to_vec).ok_or_else(|| Error::shape("weights", 2, 0))
}

fn claims(one: &World, mixed: &World) -> Vec<Claim> {
    let last = |world: &World| SIZES.len().min(world.sizes.len()) - 1;
    let (own, other) = (&mixed.sizes[last(mixed)], &one.sizes[last(one)]);
    let off = (own.first[1].mean - mixed.share).abs();
    vec![
        Claim::new(
            "As rows grow the posterior concentrates on a single model, whether or not one made the rows",
            own.largest[0].mean > 0.99 && other.largest[0].mean > 0.99,
            format!(
                "largest weight {} and {} with {} rows",
                with_error(&own.largest[0], 3),
                with_error(&other.largest[0], 3),
                own.rows
            ),
        )
        .holds_if("both are above 0.99"),
        Claim::new(
            "The components of a mixture remain",
            off <= reach(&own.first[1]).max(0.01),
            format!("weight of the first {}, true {}", with_error(&own.first[1], 3), mixed.share),
        )
        .holds_if("it is off by at most two standard errors, or 0.01"),
        Claim::ahead(
            "Where rows are mixed, averaging costs: it is no different from picking one",
            &own.gain,
            format!("the mixture gains {} of log density per row", with_error(&own.gain, 3)),
        )
        .ours(),
        Claim::new(
            "Where one model is right both end on it",
            other.gain.mean.abs() < 0.01,
            format!("the mixture gains {} of log density per row", with_error(&other.gain, 4)),
        )
        .holds_if("that is less than 0.01")
        .ours(),
    ]
}

fn table(world: &World) -> Table {
    let columns = [
        "rows",
        "first, averaging",
        "first, mixture",
        "larger, averaging",
        "larger, mixture",
        "gain of the mixture",
        "se",
    ];
    let mut table =
        Table::new(world.file, &format!("Weights: {}", world.name.to_lowercase()), columns);
    for size in &world.sizes {
        let se = size.gain.se.unwrap_or(f64::NAN);
        let [averaged, mixed] = size.first.map(|own| own.mean);
        let [selected, kept] = size.largest.map(|own| own.mean);
        let numbers = [averaged, mixed, selected, kept, size.gain.mean, se];
        table.row([size.rows.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn figure(worlds: &[World]) -> Figure {
    let chart = |world: &World| {
        let line = |k: usize| {
            let of = |size: &Size| (size.rows as f64, size.largest[k].mean);
            let errors = world.sizes.iter().map(|size| reach(&size.largest[k])).collect();
            Series::line(WAYS[k], world.sizes.iter().map(of)).errors(errors)
        };
        let true_share = [SIZES[0], SIZES[SIZES.len() - 1]].map(|rows| (rows as f64, world.share));
        Chart::new(world.name, "", "rows learned from", "larger of both weights")
            .log_x()
            .y_range(0.5, 1.02)
            .with(Series::dashed("true share", true_share).tone(Tone::Ink))
            .with(line(0))
            .with(line(1))
    };
    let words = "Averaging ends on one model in both worlds, the mixture on the shares that made the rows. Bands are two standard errors.";
    let charts: Vec<Chart> = worlds.iter().map(chart).collect();
    Figure::panels("weights", ("Averaging selects, mixtures combine", words), 2, &charts)
}
