//! The committee inequality of section 14.2: the squared error of the mean is at most the mean of the squared errors.
//!
//! > E[(mean_k y_k - h)^2] <= mean_k E[(y_k - h)^2], with equality if and only if the errors are perfectly correlated.
//!
//! For K errors of one size and pairwise correlation rho the ratio of both sides is rho + (1 - rho) / K.

use dolmen::error::Result;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::task::Regression;
use dolmen_report::chart::{Chart, Series, Tone};
use rand_distr::{Distribution, StandardNormal};

use crate::drawn::{fit_predict, friedman, mean_square, reach, with_error};
use crate::page::{Claim, Comparison, Figure, Table, estimate};
use crate::{Context, Page, Printed};

/// Models in a committee.
const COUNT: usize = 10;
const ROWS: usize = 200;
const NEW: usize = 1000;

/// The committees: fits to bootstrap samples, and the same fit over again.
const COMMITTEES: [(&str, &str); 6] = [
    ("the same ridge ten times", "ridge(lambda=1)"),
    ("bootstrapped ridges", "averaged(of=ridge(lambda=1), fits=1)"),
    ("bootstrapped stumps", "averaged(of=tree(depth=1, alpha=0), fits=1)"),
    ("bootstrapped 10 neighbours", "averaged(of=neighbours(k=10), fits=1)"),
    ("bootstrapped trees", "averaged(of=tree(alpha=0), fits=1)"),
    ("trees of a forest", "forest(trees=1, columns=3)"),
];

/// A committee of fitted models, over draws.
struct Committee {
    name: &'static str,
    /// The mean correlation between the members' errors, about zero.
    correlation: Estimate,
    /// The mean of the members' squared errors.
    single: Estimate,
    /// The squared error of their mean.
    together: Estimate,
    ratio: Estimate,
    /// The share of draws in which the inequality held.
    held: f64,
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([
        format!(
            "First drawn errors: {COUNT} of variance 1 with a known correlation, from the least that {COUNT} errors can have to 1. Then fitted models: committees \
             of {COUNT} on {ROWS} rows of Friedman's function, judged on {NEW} new ones."
        ),
        "The ratio of the committee's squared error to its members' mean one is rho + (1 - rho) / K for errors of one size: 1/K if they are uncorrelated, 1 if they \
         are the same, 0 if they cancel."
            .into(),
    ]);
    let mut drawn =
        Comparison::new("drawn", "Ratio by correlation, errors drawn", &["correlation"], 3);
    let mut points = Vec::new();
    for (c, correlation) in correlations().into_iter().enumerate() {
        let mut rng = context.run.stream("errors").child(c as u64).rng();
        let draws = context.either(40, 400);
        let pairs: Vec<[f64; 2]> =
            (0..draws).map(|_| both_sides(&errors(correlation, &mut rng))).collect();
        let own = ratio(&pairs);
        let theory = Printed::exact(expected(correlation), 4);
        let line = drawn.estimate(&[&format!("{correlation:.2}")], Some(own), draws, Some(theory));
        line.because(&by_chance(line.errors_away()));
        points.push((correlation, own));
    }
    let committees = fitted(context)?;
    page.claims = claims(&points, &committees);
    page.figures.push(Figure::chart("ratio", &chart(&points, &committees)));
    page.comparisons.push(drawn);
    page.tables.push(table(&committees));
    page.notes.push("The column \u{201c}paper\u{201d} is the formula's value. In full runs with the seeds 1, 2 and 3 all twelve figures agree.".into());
    Ok(page)
}

fn correlations() -> [f64; 12] {
    [-1.0 / (COUNT as f64 - 1.0), -0.05, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9, 1.0]
}

/// rho + (1 - rho) / K.
fn expected(correlation: f64) -> f64 {
    correlation + (1.0 - correlation) / COUNT as f64
}

/// Rows of K errors of variance 1 with this correlation: deviations from their mean of the size that makes it, and a mean of the
/// variance that is left.
fn errors(correlation: f64, rng: &mut impl rand::Rng) -> Vec<[f64; COUNT]> {
    let apart = (1.0 - correlation).sqrt();
    // The least correlation leaves nothing, up to rounding.
    let shared = expected(correlation).max(0.0).sqrt();
    let mut row = || {
        let z: [f64; COUNT] = std::array::from_fn(|_| StandardNormal.sample(&mut *rng));
        let mean = z.iter().sum::<f64>() / COUNT as f64;
        let common: f64 = StandardNormal.sample(&mut *rng);
        z.map(|z| apart * (z - mean) + shared * common)
    };
    (0..ROWS).map(|_| row()).collect()
}

/// The squared error of the mean, and the mean of the squared errors.
fn both_sides(errors: &[[f64; COUNT]]) -> [f64; 2] {
    let count = COUNT as f64;
    let together: f64 = errors.iter().map(|own| (own.iter().sum::<f64>() / count).powi(2)).sum();
    let single: f64 = errors.iter().flatten().map(|error| error * error / count).sum();
    [together / ROWS as f64, single / ROWS as f64]
}

/// The ratio of two expectations, with its error to first order: the formula is about expectations, and the mean of the draws' own
/// ratios lies beside it, as both sides of a draw are large together.
fn ratio(pairs: &[[f64; 2]]) -> Estimate {
    let mean = |k: usize| pairs.iter().map(|own| own[k]).sum::<f64>() / pairs.len() as f64;
    let (together, single) = (mean(0), mean(1));
    let own = together / single;
    let residuals: Vec<f64> = pairs.iter().map(|pair| (pair[0] - own * pair[1]) / single).collect();
    Estimate { mean: own, se: estimate(&residuals).se }
}

/// Why a figure lies beyond two standard errors of a formula that is exact.
fn by_chance(errors: f64) -> String {
    let figures = correlations().len();
    if errors < 3.5 {
        format!(
            "chance: {errors:.1} standard errors away, and here are {figures} figures of which each lies beyond two in one of twenty draws"
        )
    } else {
        format!("not known: {errors:.1} standard errors away")
    }
}

/// Committees of models fitted to Friedman's function.
fn fitted(context: &Context<'_>) -> Result<Vec<Committee>> {
    let draws = context.either(10, 100);
    let of = |(name, spec): (&'static str, &str)| {
        let seen = context.repeat(name, draws, |_, run| seen(spec, run))?;
        let column = |k: usize| seen.iter().map(|own| own[k]).collect::<Vec<f64>>();
        let ratios: Vec<f64> = seen.iter().map(|own| own[2] / own[1]).collect();
        // Rounding may take the same model over again either way.
        let held = ratios.iter().filter(|ratio| **ratio <= 1.0 + 1e-12).count();
        Ok(Committee {
            name,
            correlation: estimate(&column(0)),
            single: estimate(&column(1)),
            together: estimate(&column(2)),
            ratio: estimate(&ratios),
            held: held as f64 / draws as f64,
        })
    };
    COMMITTEES.into_iter().map(of).collect()
}

/// The correlation of the errors, the mean of the squared errors, and the squared error of the mean.
fn seen(spec: &str, run: &Run) -> Result<[f64; 3]> {
    let train = friedman(ROWS, false, &run.stream("rows"))?;
    let new = friedman(NEW, false, &run.stream("new rows"))?;
    let (train, new) = (train.borrow(), new.borrow());
    let predicted = (0..COUNT)
        .map(|k| fit_predict::<Regression>(spec, &train, &new, &run.child(k as u64)))
        .collect::<Result<Vec<_>>>()?;
    let mean = |i: usize| predicted.iter().map(|own| own[i]).sum::<f64>() / COUNT as f64;
    let mean: Vec<f64> = (0..NEW).map(mean).collect();
    let together = mean_square(&mean, new.target());
    let squares: Vec<f64> = predicted.iter().map(|own| mean_square(own, new.target())).collect();
    let sum: f64 = squares.iter().sum();
    let roots: f64 = squares.iter().map(|square| square.sqrt()).sum();
    // Sums over pairs of different members: of E[e_j e_k], over those of the roots of E[e_j^2] E[e_k^2].
    let shared = (COUNT * COUNT) as f64 * together - sum;
    Ok([shared / (roots * roots - sum), sum / COUNT as f64, together])
}

fn table(committees: &[Committee]) -> Table {
    let columns = [
        "committee",
        "correlation of errors",
        "mean of squares",
        "square of mean",
        "ratio",
        "se",
        "formula",
    ];
    let mut table = Table::new("fitted", "Committees of fitted models", columns);
    for own in committees {
        let numbers = [
            own.correlation.mean,
            own.single.mean,
            own.together.mean,
            own.ratio.mean,
            own.ratio.se.unwrap_or(f64::NAN),
            expected(own.correlation.mean),
        ];
        table.row([own.name.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn chart(points: &[(f64, Estimate)], committees: &[Committee]) -> Chart {
    let theory = [-1.0 / (COUNT as f64 - 1.0), 1.0].map(|rho| (rho, expected(rho)));
    let drawn = points.iter().map(|(rho, own)| (*rho, own.mean));
    let chart = Chart::new(
        "Square of the mean over mean of the squares",
        "The line is rho + (1 - rho) / 10. Whatever is averaged, nothing lies above 1. Whiskers are two standard errors.",
        "correlation of the errors",
        "ratio",
    );
    let committee = |own: &Committee| {
        Series::points(own.name, [(own.correlation.mean, own.ratio.mean)])
            .errors(vec![reach(&own.ratio)])
    };
    chart
        .with(Series::dashed("", theory).tone(Tone::Ink))
        .with(Series::points("", drawn).tone(Tone::Muted))
        .with_all(committees.iter().map(committee))
}

fn claims(points: &[(f64, Estimate)], committees: &[Committee]) -> Vec<Claim> {
    let worst = committees.iter().map(|own| own.held).fold(1.0, f64::min);
    let (same, forest) = (&committees[0], &committees[COMMITTEES.len() - 1]);
    let trees = &committees[COMMITTEES.len() - 2];
    let ordered = points.windows(2).all(|two| two[0].1.mean < two[1].1.mean);
    vec![
        Claim::new(
            "The squared error of the mean never exceeds the mean of the squared errors",
            worst == 1.0,
            format!("in {:.0} % of the draws at least, of every committee", 100.0 * worst),
        )
        .holds_if("that is all of them"),
        Claim::new(
            "Equality holds if the errors are perfectly correlated, and only then",
            (same.ratio.mean - 1.0).abs() < 1e-9
                && committees[1..].iter().all(|own| own.ratio.mean < 1.0 - reach(&own.ratio)),
            format!(
                "ratio {:.6} of the same model ten times, at most {:.3} of the others",
                same.ratio.mean,
                largest(&committees[1..])
            ),
        )
        .holds_if("the first is 1 to 1e-9 and every other below 1 by two standard errors"),
        Claim::new(
            "The less the errors correlate, the more is won",
            ordered,
            format!(
                "from {:.3} to {:.3} as the correlation grows",
                points[0].1.mean,
                points[points.len() - 1].1.mean
            ),
        )
        .holds_if("it grows at every step")
        .ours(),
        Claim::new(
            "Looking at random columns makes trees less alike than bootstrapping alone",
            forest.correlation.mean + reach(&forest.correlation) < trees.correlation.mean,
            format!(
                "correlation {} against {}",
                with_error(&forest.correlation, 3),
                with_error(&trees.correlation, 3)
            ),
        )
        .holds_if("it is less by two standard errors"),
    ]
}

fn largest(committees: &[Committee]) -> f64 {
    committees.iter().map(|own| own.ratio.mean).fold(0.0, f64::max)
}
