//! Section 6: data drawn from Ripley's four Gaussians, so that one of the models is true.

use dolmen::error::Result;
use dolmen::math::first_largest;
use dolmen::run::Run;
use dolmen_report::chart::{Chart, Series, Tone};

use super::contest::{Contest, FOUR_COMPONENTS, Predicted, SIX, equal, stack_of_six};
use crate::page::{Claim, Figure, Page, Table, Value, estimate};
use crate::truth::{Truth, grid, steps};
use crate::{Context, Effort};

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
struct Outcome {
    /// Log-likelihood, L1 and L2 error of each method; the true density's log-likelihood.
    likelihood: [f64; 5],
    l1: [f64; 5],
    l2: [f64; 5],
    truth: f64,
    weights: Vec<f64>,
    chosen: usize,
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
fn study(context: &Context<'_>, with_errors: bool) -> Result<(Vec<usize>, Vec<Vec<Outcome>>)> {
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
        page.claims.extend(claims(shown, &sizes, &found, values, higher));
    }
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
        let errors = estimates.iter().map(|e| e.se.unwrap_or(f64::NAN)).collect();
        let series = if *method == "Cheating" {
            Series::dashed(method, points)
        } else {
            Series::line(method, points)
        };
        series.errors(errors)
    };
    let lines = METHODS.iter().enumerate().map(line);
    let words =
        "Means over the runs with one standard error. Cheating, broken, chooses by the test set.";
    let chart = Chart::new(
        &format!("Where one of the models is true: {shown}"),
        words,
        "training rows",
        shown,
    )
    .with_all(lines);
    // As in the paper, what is worse than a single Gaussian is not shown.
    let top = found
        .iter()
        .flat_map(|runs| (0..METHODS.len()).map(|m| estimate(&of_method(runs, values, m)).mean));
    let top = top.filter(|v| v.is_finite()).fold(0.0, f64::max);
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

fn claims(
    shown: &str,
    sizes: &[usize],
    found: &[Vec<Outcome>],
    values: Values,
    higher: bool,
) -> Vec<Claim> {
    let sign = if higher { 1.0 } else { -1.0 };
    // By how much stacking is ahead of a method, run by run, all numbers of rows together.
    let ahead = |m: usize| {
        let runs = found.iter().flatten();
        let differences: Vec<f64> = runs.map(|o| sign * (values(o)[0] - values(o)[m])).collect();
        let finite: Vec<f64> = differences.iter().copied().filter(|d| d.is_finite()).collect();
        (estimate(&finite), differences.len() - finite.len())
    };
    // Where one of the two gave rows no density at all, the difference is no number.
    let evidence = |m: usize| {
        let (own, infinite) = ahead(m);
        let predicted = format!("by {:.3} (se {:.3})", own.mean, own.se.unwrap_or(0.0));
        match infinite {
            0 => predicted,
            runs => format!("{predicted}; in {runs} more runs by infinitely much"),
        }
    };
    let everywhere = |m: usize| {
        let better = |runs: &&Vec<Outcome>| {
            let mean = |m: usize| sign * estimate(&of_method(runs, values, m)).mean;
            mean(0) > mean(m)
        };
        (found.iter().filter(better).count(), sizes.len())
    };
    let mut claims = Vec::new();
    for m in [2, 3, 4] {
        let (wins, all) = everywhere(m);
        claims.push(Claim::new(
            format!("{shown}: stacking is ahead of {}", METHODS[m]),
            ahead(m).0.mean > 0.0 && 2 * wins > all,
            format!("{}; ahead at {wins} of {all} numbers of rows", evidence(m)),
        ));
    }
    let (cheating, _) = ahead(1);
    claims.push(Claim::new(
        format!("{shown}: stacking does about as well as cheating, or better"),
        cheating.mean > -2.0 * cheating.se.unwrap_or(0.0),
        evidence(1),
    ));
    claims
}

/// Figure 5.
pub(super) fn fig5(context: &Context<'_>) -> Result<Page> {
    let (sizes, found) = study(context, false)?;
    let mut page = Page::new([
        "The weights that stacking gives each of the six models, and how often cross-validation chooses it, by the number of training rows drawn from \
         Ripley's four Gaussians.",
    ]);
    let mut numbers = Table::new(
        "weights",
        "Mean weights and shares of choices",
        ["N", "model", "weight", "se", "choices"],
    )
    .in_file_only();
    let (mut weights, mut choices) = (vec![Vec::new(); 6], vec![Vec::new(); 6]);
    for (n, runs) in sizes.iter().zip(&found) {
        for m in 0..SIX.len() {
            let own = estimate(&runs.iter().map(|o| o.weights[m]).collect::<Vec<_>>());
            let chosen = runs.iter().filter(|o| o.chosen == m).count() as f64 / runs.len() as f64;
            numbers.row([
                (*n).into(),
                SIX[m].into(),
                own.mean.into(),
                own.se.unwrap_or(0.0).into(),
                chosen.into(),
            ]);
            weights[m].push((*n as f64, own.mean));
            choices[m].push((*n as f64, chosen));
        }
    }
    let charts: Vec<Chart> = (0..SIX.len())
        .map(|m| {
            Chart::new(SIX[m], "", "training rows", "weight")
                .with(Series::line("weight", weights[m].iter().copied()))
                .with(Series::points("CV", choices[m].iter().copied()).tone(Tone::Series(1)))
                .y_range(0.0, 1.0)
                .height(150.0)
                .unlabelled()
        })
        .collect();
    page.figures.push(Figure::panels(
        "weights",
        (
            "Weights against choices",
            "Blue lines: mean weight in the stack. Orange points: share of the runs in which cross-validation chooses the model.",
        ),
        3,
        &charts,
    ));
    page.claims = weight_claims(&weights, &choices);
    page.tables.push(numbers);
    Ok(page)
}

fn weight_claims(weights: &[Vec<(f64, f64)>], choices: &[Vec<(f64, f64)>]) -> Vec<Claim> {
    let ends = |points: &[(f64, f64)]| (points[0].1, points[points.len() - 1].1);
    let both = |m: usize| (ends(&weights[m]), ends(&choices[m]));
    let flat = |of: &[Vec<(f64, f64)>]| -> Vec<f64> {
        of.iter().flatten().map(|(_, value)| *value).collect()
    };
    let r = correlation(&flat(weights), &flat(choices));
    let narrow = weights[0].iter().chain(&choices[0]).map(|(_, v)| *v).fold(0.0, f64::max);
    let (wide, wide_choice) = both(2);
    let (four, four_choice) = both(FOUR_COMPONENTS);
    let mean = |m: usize| weights[m].iter().map(|(_, w)| w).sum::<f64>() / weights[m].len() as f64;
    let heaviest = first_largest(&(0..SIX.len()).map(mean).collect::<Vec<_>>());
    vec![
        Claim::new(
            "weights and choices are correlated",
            r > 0.5,
            format!("correlation {r:.2} over models and numbers of rows"),
        ),
        Claim::new(
            "neither gives any significant weight to the narrowest kernel",
            narrow < 0.1,
            format!("at most {narrow:.2}"),
        ),
        Claim::new(
            "the widest kernel falls from about a half to near zero",
            wide.0 > 0.3 && wide.1 < 0.15 && wide_choice.0 > wide_choice.1,
            format!(
                "weight {:.2} to {:.2}, chosen {:.2} to {:.2}",
                wide.0, wide.1, wide_choice.0, wide_choice.1
            ),
        ),
        Claim::new(
            "the true model's weight grows, and stays below a half",
            four.1 > four.0 && four.1 < 0.5,
            format!(
                "weight {:.2} to {:.2}, chosen {:.2} to {:.2}",
                four.0, four.1, four_choice.0, four_choice.1
            ),
        ),
        Claim::new(
            "two components have the most weight",
            SIX[heaviest] == "k=2",
            format!("{} has {:.2} on average, k=4 {:.2}", SIX[heaviest], mean(heaviest), mean(4)),
        ),
    ]
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
