//! Section 6.1: data drawn from Ripley's four Gaussians, so that one of the models is true.

use dolmen::error::Result;
use dolmen::math::first_largest;
use dolmen::run::Run;
use dolmen_report::chart::{Chart, Series, Tone};

use super::contest::{Contest, FOUR_COMPONENTS, Predicted, SIX, equal, stack_of_six};
use crate::drawn::{apart, reach, with_error};
use crate::lead::Lead;
use crate::page::{Claim, Figure, Page, Table, Value, estimate};
use crate::truth::{Truth, grid, steps};
use crate::verdict::ORDER_RULE;
use crate::{Context, Effort, Finding};

/// Ripley's mixture (1994), without its classes: variance 0.03.
const RIPLEY: Truth<2> = Truth(&[
    (0.25, [-0.7, 0.3], 0.173_205_080_756_887_74),
    (0.25, [0.3, 0.3], 0.173_205_080_756_887_74),
    (0.25, [-0.3, 0.7], 0.173_205_080_756_887_74),
    (0.25, [0.4, 0.7], 0.173_205_080_756_887_74),
]);

/// Runs for each number of rows, and rows of each test set.
const RUNS: usize = 20;
const TEST_ROWS: usize = 1000;
/// The methods of Figure 4.
const METHODS: [&str; 5] = ["Stacking", "Cheating", "CV", "Uniform", "TrueK"];
const TRUE_K: usize = 4;
/// Points of the grid on which L1 and L2 errors are integrated, each way, and its ends: all but a millionth of the mass.
const CELLS: usize = 64;
const ENDS: [(f64, f64); 2] = [(-1.6, 1.3), (-0.6, 1.6)];

/// Figure 3.
pub(super) fn fig3(context: &Context<'_>) -> Result<Page> {
    let rows = RIPLEY.draw(200, &context.run.stream("rows"))?;
    let (xs, ys) = (steps(-1.2, 0.9, 70), steps(-0.2, 1.2, 70));
    let heights: Vec<f64> =
        RIPLEY.log_densities(grid(&xs, &ys)?.rows()).iter().map(|log| log.exp()).collect();
    let top = heights.iter().copied().fold(0.0, f64::max);
    let levels = [0.1, 0.3, 0.5, 0.7, 0.9].map(|share| share * top).to_vec();
    let points = rows.rows().iter().map(|row| (row[0], row[1])).collect::<Vec<_>>();
    let chart = Chart::new(
        "Two hundred draws from four Gaussians",
        "Contours are the density that they are drawn from, at a tenth, three tenths, .. of its height.",
        "x1",
        "x2",
    )
    .x_range(-1.2, 0.9)
    .y_range(-0.2, 1.2)
    .height(420.0)
    .unlabelled()
    .with(Series::contours("density", (&xs, &ys), heights, levels))
    .with(Series::points("rows", points).tone(Tone::Ink));
    let mut page = Page::new([
        "Ripley's synthetic data (1994) without their classes: four Gaussians of weight 1/4 and variance 0.03 in a plane, at (-0.7, 0.3), (0.3, 0.3), \
         (-0.3, 0.7) and (0.4, 0.7). The pairs on the left and on the right overlap: two components can nearly stand for the four.",
    ]);
    let mut table = Table::new("rows", "The rows", ["x1", "x2"]).in_file_only();
    rows.rows().iter().for_each(|row| table.row([row[0].into(), row[1].into()]));
    page.tables.push(table);
    page.figures.push(Figure::chart("scatter", &chart));
    Ok(page)
}

/// What one run gave.
pub(super) struct Outcome {
    /// Log-likelihood, L1 and L2 error of each method; the true density's log-likelihood.
    likelihood: [f64; 5],
    l1: [f64; 5],
    l2: [f64; 5],
    truth: f64,
    pub(super) weights: Vec<f64>,
    pub(super) chosen: usize,
}

/// Densities on a grid, and the truth there.
struct Surface<'a> {
    truth: &'a [f64],
    cell: f64,
}

impl Surface<'_> {
    /// The integrals of |f - truth| and of its square.
    fn errors(&self, log_densities: &[f64]) -> (f64, f64) {
        let differences =
            log_densities.iter().zip(self.truth).map(|(log, truth)| log.exp() - truth);
        let (absolute, square) = differences
            .fold((0.0, 0.0), |(absolute, square), d| (absolute + d.abs(), square + d * d));
        (absolute * self.cell, square * self.cell)
    }
}

/// The methods' densities: stacking, CV, uniform, `TrueK`.
fn honest(
    contest: &Contest,
    predicted: &Predicted,
    rows: dolmen::table::Rows<'_>,
) -> Result<[Vec<f64>; 4]> {
    Ok([
        predicted.pool(contest.weights(), rows)?,
        predicted.members[contest.chosen(SIX.len())?].clone(),
        predicted.pool(&equal(SIX.len()), rows)?,
        predicted.members[FOUR_COMPONENTS].clone(),
    ])
}

fn one_run(rows: usize, with_errors: bool, run: &Run) -> Result<Outcome> {
    let train = RIPLEY.draw(rows, &run.stream("train"))?;
    let test = RIPLEY.draw(TEST_ROWS, &run.stream("test"))?;
    let contest = Contest::fit(&stack_of_six(), train.rows(), run)?;
    let predicted = contest.predict(test.rows(), run)?;
    let [stacked, chosen, uniform, true_k] =
        honest(&contest, &predicted, test.rows())?.map(|log| predicted.gain(&log));
    let alone: Vec<f64> = predicted.members.iter().map(|log| predicted.gain(log)).collect();
    let likelihood = [stacked, alone[first_largest(&alone)], chosen, uniform, true_k];
    let (l1, l2) = if with_errors { surface_errors(&contest, run)? } else { ([0.0; 5], [0.0; 5]) };
    Ok(Outcome {
        likelihood,
        l1,
        l2,
        truth: predicted.gain(&RIPLEY.log_densities(test.rows())),
        weights: contest.weights().to_vec(),
        chosen: contest.chosen(SIX.len())?,
    })
}

/// L1 and L2 errors of the methods, in the order of [`METHODS`].
fn surface_errors(contest: &Contest, run: &Run) -> Result<([f64; 5], [f64; 5])> {
    let [xs, ys] = ENDS.map(|(from, to)| steps(from, to, CELLS));
    let cells = grid(&xs, &ys)?;
    let truth: Vec<f64> = RIPLEY.log_densities(cells.rows()).iter().map(|l| l.exp()).collect();
    let surface = Surface { truth: &truth, cell: (xs[1] - xs[0]) * (ys[1] - ys[0]) };
    let predicted = contest.predict(cells.rows(), run)?;
    let [stacked, chosen, uniform, true_k] =
        honest(contest, &predicted, cells.rows())?.map(|log| surface.errors(&log));
    let alone: Vec<(f64, f64)> = predicted.members.iter().map(|log| surface.errors(log)).collect();
    let least = |of: fn(&(f64, f64)) -> f64| alone.iter().map(of).fold(f64::MAX, f64::min);
    let (l1, l2) = (least(|e| e.0), least(|e| e.1));
    Ok((
        [stacked.0, l1, chosen.0, uniform.0, true_k.0],
        [stacked.1, l2, chosen.1, uniform.1, true_k.1],
    ))
}

/// The numbers of training rows, and the outcomes of all runs for each.
pub(super) fn study(
    context: &Context<'_>,
    with_errors: bool,
) -> Result<(Vec<usize>, Vec<Vec<Outcome>>)> {
    let sizes: Vec<usize> = match context.effort {
        Effort::Quick => vec![30, 60, 80, 120, 200],
        Effort::Full => (30..=200).step_by(10).collect(),
    };
    let runs = context.either(10, RUNS);
    let mut outcomes = context
        .repeat("runs", sizes.len() * runs, |k, run| one_run(sizes[k / runs], with_errors, run))?;
    let grouped = sizes.iter().map(|_| outcomes.drain(..runs).collect()).collect();
    Ok((sizes, grouped))
}

/// Further runs with one number of training rows, for what is said of that number.
pub(super) fn draws(context: &Context<'_>, rows: usize, times: usize) -> Result<Vec<Outcome>> {
    context.repeat(&format!("{rows} rows"), times, |_, run| one_run(rows, false, run))
}

/// Figure 4, and its versions with L1 and L2 error that the text speaks of.
pub(super) fn fig4(context: &Context<'_>) -> Result<Page> {
    let (sizes, found) = study(context, true)?;
    let mut page = Page::new([
        "Training sets of 30 to 200 rows are drawn from Ripley's four Gaussians, and test sets of 1000. One of the six models, the mixture of four \
         components, has the true structure: TrueK always takes it. Shown is the summed test log-likelihood less that of a single Gaussian.",
        "The text adds that the same holds by L1 and L2 error: the integrals of |f - truth| and of its square, here over a grid.",
    ]);
    let measures: [(&str, &str, Values, bool); 3] = [
        ("likelihood", "log-likelihood over a single Gaussian", |o| &o.likelihood, true),
        ("l1", "L1 error", |o| &o.l1, false),
        ("l2", "L2 error", |o| &o.l2, false),
    ];
    for (name, shown, values, higher) in measures {
        page.figures.push(curves(name, shown, &sizes, &found, values, higher));
        page.tables.push(table(name, shown, &sizes, &found, values));
        page.claims.extend(claims(shown, &found, values, higher));
    }
    page.claims.extend(claims_by_size(&sizes, &found));
    page.notes.push(
        "CV has no point where it chose a kernel of finite support in some run and a test row lay beyond it: its mean is then minus infinity, as in \
         the paper. The paper's curves are drawn, not printed as numbers: there is nothing to compare figure by figure."
            .into(),
    );
    Ok(page)
}

type Values = fn(&Outcome) -> &[f64; 5];

fn of_method(found: &[Outcome], values: Values, m: usize) -> Vec<f64> {
    found.iter().map(|outcome| values(outcome)[m]).collect()
}

fn curves(
    name: &str,
    shown: &str,
    sizes: &[usize],
    found: &[Vec<Outcome>],
    values: Values,
    higher: bool,
) -> Figure {
    let line = |(m, method): (usize, &&str)| {
        let estimates: Vec<_> =
            found.iter().map(|runs| estimate(&of_method(runs, values, m))).collect();
        let points = sizes.iter().zip(&estimates).map(|(n, e)| (*n as f64, e.mean));
        let errors = estimates.iter().map(reach).collect();
        let series = if *method == "Cheating" {
            Series::dashed(method, points)
        } else {
            Series::line(method, points)
        };
        series.errors(errors)
    };
    let lines = METHODS.iter().enumerate().map(line);
    let means = found
        .iter()
        .flat_map(|runs| (0..METHODS.len()).map(|m| estimate(&of_method(runs, values, m)).mean));
    let (least, top) = means
        .filter(|mean| mean.is_finite())
        .fold((0.0, 0.0), |(least, top): (f64, f64), mean| (least.min(mean), top.max(mean)));
    // As in the paper, what is worse than a single Gaussian is not shown.
    let is_cut = higher && least < 0.0;
    let cut = if is_cut { " Curves below a single Gaussian go on below the picture." } else { "" };
    let words = format!(
        "Means over the runs with two standard errors. Cheating, broken, chooses by the test set.{cut}"
    );
    let chart = Chart::new(
        &format!("Where one of the models is true: {shown}"),
        &words,
        "training rows",
        shown,
    )
    .with_all(lines);
    let chart = if higher { chart.y_range(0.0, 1.1 * top) } else { chart };
    Figure::chart(name, &chart)
}

fn table(
    name: &str,
    shown: &str,
    sizes: &[usize],
    found: &[Vec<Outcome>],
    values: Values,
) -> Table {
    let columns = std::iter::once("N".to_string())
        .chain(METHODS.iter().flat_map(|method| [(*method).to_string(), format!("{method} se")]));
    let mut table = Table::new(name, shown, columns.chain(["truth".into()])).in_file_only();
    for (n, runs) in sizes.iter().zip(found) {
        let cells = (0..METHODS.len()).flat_map(|m| {
            let own = estimate(&of_method(runs, values, m));
            [own.mean, own.se.unwrap_or(f64::NAN)]
        });
        let truth = estimate(&runs.iter().map(|o| o.truth).collect::<Vec<_>>()).mean;
        let truth = if name == "likelihood" { truth } else { 0.0 };
        table.row(std::iter::once(*n as f64).chain(cells).chain([truth]).map(Value::Number));
    }
    table
}

fn claims(shown: &str, found: &[Vec<Outcome>], values: Values, higher: bool) -> Vec<Claim> {
    let sign = if higher { 1.0 } else { -1.0 };
    // Run by run, all numbers of rows together.
    let column = |m: usize| -> Vec<f64> {
        found.iter().flatten().map(|outcome| sign * values(outcome)[m]).collect()
    };
    let lead = |m: usize| Lead::of(&column(0), &column(m));
    let ahead_at = |m: usize| {
        let is_ahead = |runs: &&Vec<Outcome>| {
            let mean = |m: usize| sign * estimate(&of_method(runs, values, m)).mean;
            mean(0) > mean(m)
        };
        found.iter().filter(is_ahead).count()
    };
    let all = found.len();
    let ahead = |m: usize| {
        Claim::found(
            format!("{shown}: stacking is clearly ahead of {}", METHODS[m]),
            lead(m).finding(),
            format!("by {}; at {} of {all} numbers of rows", lead(m).words(3), ahead_at(m)),
        )
    };
    let cheating = lead(1);
    let mut claims = vec![ahead(2), ahead(3), ahead(4)];
    let level = Claim::new(
        format!("{shown}: stacking does about as well as cheating, or better"),
        cheating.finding() != Finding::Fails,
        format!("ahead by {}", cheating.words(3)),
    );
    claims.push(level.holds_if("it is not behind by two standard errors"));
    claims.push(Claim::new(
        format!("{shown}: uniform weights are poorer than stacking for all numbers of rows"),
        ahead_at(3) == all,
        format!("at {} of {all}", ahead_at(3)),
    ));
    claims
}

/// What the paper says of single numbers of rows, by log-likelihood.
fn claims_by_size(sizes: &[usize], found: &[Vec<Outcome>]) -> Vec<Claim> {
    let of = |runs: &[Outcome], m: usize| of_method(runs, |o| &o.likelihood, m);
    let at_80 = sizes.iter().zip(found).find(|(n, _)| **n == 80);
    let order = at_80.map(|(_, runs)| {
        let mean = |m: usize| estimate(&of(runs, m)).mean;
        let told = (0..METHODS.len()).map(|m| format!("{} {:.0}", METHODS[m], mean(m)));
        let falls = (1..METHODS.len()).all(|m| mean(m - 1) > mean(m));
        let leads = (1..METHODS.len()).map(|m| Lead::of(&of(runs, m - 1), &of(runs, m)).finding());
        Claim::found(
            "with 80 rows the order is Stacking, Cheating, CV, Uniform, TrueK",
            Finding::ordered(falls, leads),
            told.collect::<Vec<_>>().join(", "),
        )
        .holds_if(ORDER_RULE)
    });
    let few = &found[0];
    let poor = estimate(&of(few, TRUE_K).iter().map(|gain| -gain).collect::<Vec<_>>());
    let poor = Claim::ahead(
        "with few rows TrueK is poor, though its structure is true",
        &poor,
        format!(
            "a single Gaussian is ahead of it by {} with {} rows",
            with_error(&poor, 0),
            sizes[0]
        ),
    );
    let near = [2, TRUE_K].map(|m| {
        let third = found.len().div_ceil(3);
        let lead = |groups: &[Vec<Outcome>]| {
            let of_all = |m: usize| groups.iter().flat_map(|runs| of(runs, m)).collect::<Vec<_>>();
            Lead::of(&of_all(0), &of_all(m)).finite
        };
        let (few, many) = (lead(&found[..third]), lead(&found[found.len() - third..]));
        let nearer = apart(&few, &many);
        Claim::ahead(
            format!("as rows grow, {} comes near stacking", METHODS[m]),
            &nearer,
            format!(
                "stacking is {} ahead with {} to {} rows and {} with {} to {}: nearer by {}",
                with_error(&few, 1),
                sizes[0],
                sizes[third - 1],
                with_error(&many, 1),
                sizes[sizes.len() - third],
                sizes[sizes.len() - 1],
                with_error(&nearer, 1)
            ),
        )
        .holds_if("the lead shrinks by more than two standard errors")
    });
    order.into_iter().chain([poor]).chain(near).collect()
}
