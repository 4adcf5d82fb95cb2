//! The pairs (X_OOS, X_HO) of a linear stack, fold by fold, and the stacker's penalty Lambda chosen on them
//! [Himmetoglu2019, sections on stacking over k folds and on the final fit].

use std::sync::Arc;

use dolmen::combine::{Combination, Combiner, Learned};
use dolmen::ensemble::{Check, Ending, Stack};
use dolmen::error::Result;
use dolmen::learner::linear::{Lambda, Ridge};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::oos::{OnFailure, OutOfSample, Trials, collect_fits};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::table::Features;
use dolmen::task::Regression;
use dolmen_report::chart::{Chart, Series, Tone};

use crate::drawn::{friedman, mean_square, reach, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Page};

/// The members' penalties: five linear models from nearly free to nearly constant.
const MEMBERS: [f64; 5] = [0.1, 10.0, 100.0, 1000.0, 10_000.0];
/// The stacker's penalties that are tried.
const GRID: [f64; 9] = [1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
const FOLDS: usize = 5;
const ROWS: usize = 150;
const TEST_ROWS: usize = 5000;

/// One held-out fold.
struct Fold {
    learned_from: usize,
    held_out: usize,
    /// The stacker's coefficients Omega and intercept beta, learned on X_OOS with the Lambda that is chosen.
    omega: Vec<f64>,
    beta: f64,
    /// The mean squared error on X_HO, of the stacker and of each member.
    error: f64,
    members: Vec<f64>,
}

/// One Lambda.
struct Point {
    lambda: f64,
    /// Mean squared error on the rows that the stacker learned from, on held-out folds, and on new rows.
    learned: f64,
    held_out: Estimate,
    new: f64,
}

/// What the pairs gave.
struct Pairs {
    folds: Vec<Fold>,
    curve: Vec<Point>,
    /// The place of the chosen Lambda in the curve.
    chosen: usize,
    /// The Lambda that the library's own stack takes on the same folds, by the name of its combiner.
    by_stack: String,
    /// The largest difference between our errors on held-out folds and those of the stack's nested check.
    difference: f64,
    /// Pairs of folds that were fitted without.
    without_two: usize,
}

/// The stacker: a ladder of ridge regressions on the members' predictions, whose intercept is free.
fn stacker() -> Learned<Regression> {
    let ridge = Ridge { lambda: GRID.into(), standardise: false };
    Learned::new(Arc::new(ridge) as Arc<dyn Learner<Regression>>)
}

/// The members: a ladder of ridge regressions on standardised columns.
fn members() -> Ridge {
    Ridge { lambda: Lambda::from(MEMBERS), standardise: true }
}

/// What a combination says about the rows of a matrix.
fn combined(
    combination: &dyn Combination<Regression>,
    matrix: &OutOfSample<Regression>,
) -> Result<Vec<f64>> {
    let columns: Vec<&[f64]> = (0..matrix.members().len()).map(|m| matrix.column(m)).collect();
    let mut out = vec![0.0; matrix.rows()];
    combination.combine_into(&columns, 1, Features::none(matrix.rows()).rows(), &mut out)?;
    Ok(out)
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let pairs = study(context.run)?;
    let others = context.repeat("draws", context.either(20, 100), |_, run| study(run))?;
    let excess: Vec<f64> = others.iter().map(Pairs::excess).collect();
    let mut page = Page::new([
        format!(
            "Five linear models (ridge regressions with penalties {MEMBERS:?}) are stacked by a sixth on {ROWS} rows of Friedman's \
             function, whose columns' squares stand beside them. For each held-out fold v the members fitted without v and one more fold w \
             predict w: together X_OOS(-v), from which the stacker learns. The members fitted without v alone predict v: X_HO(v), on which \
             it is tried."
        ),
        "The stacker's penalty Lambda is the one with the least squared error on the held-out folds. New rows are predicted by the \
         average of the members' fold models, as the note does. Tables and picture are of one draw of the rows; how near the chosen Lambda comes to the best is \
         seen from other draws."
            .into(),
    ]);
    page.tables.extend([fold_table(&pairs), curve_table(&pairs)]);
    page.figures.push(Figure::chart("lambda", &chart(&pairs)));
    page.claims = claims(&pairs, &excess);
    page.notes.push(
        "The note prints no figures and claims nothing of the kind: what is seen here is ours."
            .into(),
    );
    Ok(page)
}

fn fold_table(pairs: &Pairs) -> Table {
    let omega = MEMBERS.map(|lambda| format!("Omega, lambda {lambda}"));
    let columns = ["fold", "rows of X_OOS", "rows of X_HO"].map(String::from).into_iter();
    let columns = columns.chain(omega).chain(["beta", "stacker", "best member"].map(String::from));
    let lambda = pairs.curve[pairs.chosen].lambda;
    let title = format!(
        "The pairs, fold by fold, with Lambda = {lambda}: coefficients, and mean squared errors on X_HO"
    );
    let mut table = Table::new("folds", &title, columns);
    for (v, fold) in pairs.folds.iter().enumerate() {
        let best = fold.members.iter().copied().fold(f64::INFINITY, f64::min);
        let first = [v + 1, fold.learned_from, fold.held_out].map(Into::into).into_iter();
        let omega = fold.omega.iter().map(|own| (*own).into());
        table.row(first.chain(omega).chain([fold.beta, fold.error, best].map(Into::into)));
    }
    table
}

fn curve_table(pairs: &Pairs) -> Table {
    let columns = ["Lambda", "on X_OOS", "on X_HO", "se over folds", "on new rows"];
    let mut table = Table::new("lambda", "Mean squared error by Lambda", columns);
    for point in &pairs.curve {
        let se = point.held_out.se.unwrap_or(f64::NAN);
        let numbers = [point.lambda, point.learned, point.held_out.mean, se, point.new];
        table.row(numbers.map(Into::into));
    }
    table
}

fn chart(pairs: &Pairs) -> Chart {
    let of = |y: fn(&Point) -> f64| pairs.curve.iter().map(move |point| (point.lambda, y(point)));
    let errors = pairs.curve.iter().map(|point| reach(&point.held_out)).collect();
    let words = "Mean squared error of the stacker. The band is two standard errors over the folds; the upright is the Lambda \
                 chosen on them.";
    Chart::new("The stacker's penalty", words, "Lambda", "mean squared error")
        .log_x()
        .log_y()
        .with(Series::line("held-out folds", of(|point| point.held_out.mean)).errors(errors))
        .with(Series::line("new rows", of(|point| point.new)).tone(Tone::Ink))
        .with(Series::dashed("rows learned from", of(|point| point.learned)))
        .with(Series::uprights("", [pairs.curve[pairs.chosen].lambda]).tone(Tone::Muted))
}

impl Pairs {
    /// By which share the error on new rows with the chosen Lambda is above the least of the grid.
    fn excess(&self) -> f64 {
        let best = self.curve.iter().map(|point| point.new).fold(f64::INFINITY, f64::min);
        self.curve[self.chosen].new / best - 1.0
    }
}

/// Above the best by this share is nearly the best.
const NEARLY: f64 = 0.05;

fn nearly_best(excess: &[f64]) -> Claim {
    let mean = estimate(excess);
    let near = excess.iter().filter(|own| **own <= NEARLY).count();
    Claim::ahead(
        "The Lambda of least error on the held-out folds is nearly the best for new rows",
        &Estimate { mean: NEARLY - mean.mean, se: mean.se },
        format!(
            "its error on new rows is above the least of the grid by a share of {}; by at most {NEARLY} in {near} of {} draws",
            with_error(&mean, 3),
            excess.len()
        ),
    )
    .holds_if("the mean is below 0.05 by two standard errors")
    .ours()
}

fn claims(pairs: &Pairs, excess: &[f64]) -> Vec<Claim> {
    let chosen = &pairs.curve[pairs.chosen];
    let last = &pairs.curve[pairs.curve.len() - 1];
    let named = format!("lambda={}", chosen.lambda);
    let spelled = pairs.by_stack.split(['(', ')', ',']).any(|part| part.trim() == named);
    vec![
        nearly_best(excess),
        Claim::new(
            "The rows that the stacker learned from cannot choose: they always want the least penalty, and too much of it is worse",
            pairs.curve.windows(2).all(|two| two[0].learned <= two[1].learned)
                && last.new > chosen.new,
            format!("{:.3} on new rows with Lambda {}", last.new, last.lambda),
        )
        .ours(),
        Claim::new(
            "The library's stack with a nested check is this procedure: the same errors, the same Lambda",
            spelled && pairs.difference < 1e-9,
            format!(
                "it takes {}; errors differ by {:.0e} at most",
                pairs.by_stack, pairs.difference
            ),
        )
        .holds_if("they differ by less than 1e-9")
        .ours(),
        Claim::new(
            "A pair of folds serves both: k (k - 1) / 2 + k fits per member, not k (k - 1) + k",
            pairs.without_two == FOLDS * (FOLDS - 1) / 2,
            format!("{} pairs and {FOLDS} folds", pairs.without_two),
        )
        .ours(),
    ]
}

/// The trials of every Lambda, on the folds of a plan.
fn study(run: &Run) -> Result<Pairs> {
    let train = friedman(ROWS, true, &run.stream("rows"))?;
    let test = friedman(TEST_ROWS, true, &run.stream("new rows"))?;
    let (train, test) = (train.borrow(), test.borrow());
    let plan = train.folds(FOLDS, &run.stream("plan"))?;
    let members = members();
    let learners: [&dyn Learner<Regression>; 1] = [&members];
    let stop = OnFailure::Stop;
    let (matrix, fits) = collect_fits(&learners, &train, &plan, stop, &run.stream("fits"))?;
    // New rows are predicted by the average of the fold models: the row means of the note's matrix Z.
    let mut new = Vec::new();
    for (name, fits) in &fits {
        let mut mean = vec![0.0; test.rows()];
        for fit in fits {
            let predicted = predict(fit.as_ref(), test.x(), run)?;
            mean.iter_mut()
                .zip(predicted)
                .for_each(|(mean, predicted)| *mean += predicted / fits.len() as f64);
        }
        new.push((name.clone(), mean));
    }
    let new = OutOfSample::<Regression>::from_columns(new, test.target().clone(), None)?;
    let trials = Trials::nested(matrix, &learners, &train, &plan, stop, &run.stream("fits"))?;
    let tried = Tried::of(&trials, run)?;
    let last = stacker().fit(&(&trials.matrix).into(), run)?;
    let mut curve = Vec::new();
    for (r, lambda) in GRID.into_iter().enumerate() {
        let new = mean_square(&combined(last[r].as_ref(), &new)?, test.target());
        let held_out = estimate(&tried.held_out[r]);
        curve.push(Point { lambda, learned: estimate(&tried.learned[r]).mean, held_out, new });
    }
    // The note sums squares over all rows; folds here are equally large, so that means agree.
    let error = |r: &usize| curve[*r].held_out.mean;
    let chosen = (0..GRID.len()).min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(0);
    let folds = (0..trials.len()).map(|v| tried.fold(&trials, v, chosen)).collect();
    let (by_stack, difference) = by_stack(&train, &plan, &curve, run)?;
    Ok(Pairs { folds, curve, chosen, by_stack, difference, without_two: plan.pairs().len() })
}

/// All stackers on all trials: errors by Lambda and fold.
struct Tried {
    combinations: Vec<Vec<Box<dyn Combination<Regression>>>>,
    learned: Vec<Vec<f64>>,
    held_out: Vec<Vec<f64>>,
}

impl Tried {
    fn of(trials: &Trials<Regression>, run: &Run) -> Result<Self> {
        let (mut learned, mut held_out) =
            (vec![Vec::new(); GRID.len()], vec![Vec::new(); GRID.len()]);
        let mut combinations = Vec::new();
        for v in 0..trials.len() {
            let trial = trials.trial(v);
            let own = stacker().fit(&(&trial.learned_from).into(), run)?;
            for (r, combination) in own.iter().enumerate() {
                let error = |matrix: &OutOfSample<Regression>| -> Result<f64> {
                    Ok(mean_square(&combined(combination.as_ref(), matrix)?, matrix.target()))
                };
                learned[r].push(error(&trial.learned_from)?);
                held_out[r].push(error(&trial.held_out)?);
            }
            combinations.push(own);
        }
        Ok(Self { combinations, learned, held_out })
    }

    fn fold(&self, trials: &Trials<Regression>, v: usize, chosen: usize) -> Fold {
        let trial = trials.trial(v);
        let parameters = self.combinations[v][chosen].parameters();
        let model = parameters.part("model");
        let omega = model.and_then(|own| own.array("coefficients")).map(|(_, own)| own.to_vec());
        let beta = model.and_then(|own| own.number("intercept"));
        let held_out = &trial.held_out;
        let member = |m: usize| mean_square(held_out.column(m), held_out.target());
        Fold {
            learned_from: trial.learned_from.rows(),
            held_out: held_out.rows(),
            omega: omega.unwrap_or_default(),
            beta: beta.unwrap_or(f64::NAN),
            error: self.held_out[chosen][v],
            members: (0..held_out.members().len()).map(member).collect(),
        }
    }
}

/// The library's stack on the same folds: what it chooses, and how far its errors are from ours.
fn by_stack(
    train: &Sample<'_, Regression>,
    plan: &Plan,
    curve: &[Point],
    run: &Run,
) -> Result<(String, f64)> {
    let stack = Stack::new(stacker()).member(members()).check(Check::Nested);
    let ensemble = stack.ending(Ending::Average).fit_on(train, plan, &run.stream("fits"))?;
    let Some(check) = ensemble.assessment() else { return Ok((String::new(), f64::INFINITY)) };
    let apart = |(candidate, point): (&dolmen::ensemble::Candidate, &Point)| {
        (candidate.score.mean + point.held_out.mean).abs()
    };
    let difference = check.candidates.iter().zip(curve).map(apart).fold(0.0, f64::max);
    Ok((check.chosen.clone(), difference))
}
