//! Section 14.3: gradient boosting with the exponential loss recovers AdaBoost.
//!
//! The negative gradient of the mean of exp(-t F) at a row is t exp(-t F) but for a factor. The weak learner that is nearest to it
//! among those that say -1 or 1 is the one with the least weighted error at weights exp(-t F), which are AdaBoost's; along it the
//! loss is least at c = 1/2 ln((1 - e) / e), which is AdaBoost's alpha \[HastieTibshiraniFriedman2009, section 10.4\]. Here c is
//! looked for by Newton's method, without that formula.
//!
//! Boosters of trees give each leaf a step of its own instead: with the exponential loss the weighted mean of t, which is "gentle"
//! AdaBoost \[FriedmanHastieTibshirani2000\]. That descends faster, and is shown beside.

use dolmen::ensemble::AdaBoost;
use dolmen::error::{Error, Result};
use dolmen::learner::tree::boost::LossName;
use dolmen::learner::tree::cart::Alpha;
use dolmen::learner::tree::{Boost, DecisionTree};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::task::Classification;
use dolmen_report::chart::{Chart, Series, Tone};

use super::boosting::{Ada, NEW, Stage, TURNED, half_logits, sign};
use crate::drawn::{difference, rings, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Page};

/// Rounds after which the three are looked at.
const ROUNDS: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];
const LAST: usize = ROUNDS[ROUNDS.len() - 1];
/// Few enough for every value to be a split of its own, whatever the weights are: bins are 255.
const ROWS: usize = 250;
/// What rounding leaves between steps, or between scores, is less.
const ROUNDING: f64 = 1e-9;

/// The stump that both AdaBoost and the gradient are fitted by.
fn stump() -> DecisionTree {
    DecisionTree { depth: Some(1), alpha: Alpha::Given(0.0), ..DecisionTree::default() }
}

/// Scores of the rows learned from and of new ones, after some rounds.
type Scores = [Vec<f64>; 2];

/// Gradient boosting with leaves of plus or minus one value: the steps, and the scores after each of [`ROUNDS`].
struct Gradient {
    steps: Vec<f64>,
    scores: Vec<Scores>,
}

impl Gradient {
    fn fit(
        train: &Sample<'_, Classification>,
        new: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Self> {
        let truth: Vec<f64> = (0..train.rows()).map(|i| sign(train.target(), i)).collect();
        let mut now: Scores = [vec![0.0; train.rows()], vec![0.0; new.rows()]];
        let mut own = Self { steps: Vec::new(), scores: Vec::new() };
        for round in 1..=LAST {
            let gradient: Vec<f64> =
                truth.iter().zip(&now[0]).map(|(t, f)| t * (-t * f).exp()).collect();
            let total: f64 = gradient.iter().map(|r| r.abs()).sum();
            // The sign of the gradient is the class; weights have mean 1, as learners expect them.
            let weights: Vec<f64> =
                gradient.iter().map(|r| r.abs() / total * truth.len() as f64).collect();
            let models =
                stump().fit(&train.counted(&weights)?, &run.child(round as u64).silent())?;
            let model = models.first().ok_or_else(|| Error::shape("models", 1, 0))?;
            let votes = |x| -> Result<Vec<f64>> {
                let chances = predict(model.as_ref(), x, run)?;
                let vote = |p: &[f64]| if p[1] > p[0] { 1.0 } else { -1.0 };
                Ok(chances.chunks_exact(2).map(vote).collect())
            };
            let votes = [votes(train.x())?, votes(new.x())?];
            let step = line_search(&truth, &now[0], &votes[0]);
            for (scores, votes) in now.iter_mut().zip(&votes) {
                scores.iter_mut().zip(votes).for_each(|(score, vote)| *score += step * vote);
            }
            own.steps.push(step);
            if ROUNDS.contains(&round) {
                own.scores.push(now.clone());
            }
        }
        Ok(own)
    }
}

/// The c for which the sum of exp(-t (F + c h)) is least, by Newton's method.
fn line_search(truth: &[f64], scores: &[f64], votes: &[f64]) -> f64 {
    const MOST: usize = 100;
    let mut step = 0.0;
    for _ in 0..MOST {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for ((t, f), h) in truth.iter().zip(scores).zip(votes) {
            let loss = (-t * (f + step * h)).exp();
            slope -= t * h * loss;
            curvature += h * h * loss;
        }
        let change = slope / curvature;
        step -= change;
        if change.abs() < 1e-15 {
            break;
        }
    }
    step
}

/// The three after so many rounds.
struct Three {
    ada: Stage,
    gradient: Stage,
    newton: Stage,
    /// The largest difference between AdaBoost's scores of new rows and those of the gradient.
    apart: f64,
    /// The share of new rows on which AdaBoost has the same sign as the gradient, and as Newton's leaves.
    same: [f64; 2],
}

/// One draw of rows.
struct Draw {
    /// AdaBoost's alphas, as the chapter has them, and the steps of the line search.
    alphas: Vec<f64>,
    steps: Vec<f64>,
    stages: Vec<Three>,
}

impl Draw {
    fn new(run: &Run) -> Result<Self> {
        let train = rings(ROWS, TURNED, &run.stream("rows"))?;
        let new = rings(NEW, TURNED, &run.stream("new rows"))?;
        let (train, new) = (train.borrow(), new.borrow());
        let gradient = Gradient::fit(&train, &new, &run.stream("gradient"))?;
        let (mut stages, mut alphas) = (Vec::new(), Vec::new());
        for (rounds, scores) in ROUNDS.into_iter().zip(&gradient.scores) {
            let weak: Box<dyn Learner<Classification>> = Box::new(stump());
            let ada = Ada::of(&AdaBoost::of(weak, rounds), &train, run)?;
            let boost = newton(rounds);
            let models =
                Learner::<Classification>::fit(&boost, &train, &run.stream("boost").silent())?;
            let model = models.first().ok_or_else(|| Error::shape("models", 1, 0))?;
            let predicted =
                |x| -> Result<Vec<f64>> { Ok(half_logits(&predict(model.as_ref(), x, run)?, 1.0)) };
            let one = [ada.scores(train.x(), run)?, ada.scores(new.x(), run)?];
            let other = [predicted(train.x())?, predicted(new.x())?];
            let truth = [train.target(), new.target()];
            let stage = |scores| Stage { rounds, ..Stage::of(scores, truth) };
            let pairs = one[1].iter().zip(&scores[1]);
            stages.push(Three {
                ada: stage(&one),
                gradient: stage(scores),
                newton: stage(&other),
                apart: pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
                same: [&scores[1], &other[1]].map(|scores| same_sign(&one[1], scores)),
            });
            alphas = ada.alphas;
        }
        Ok(Self { alphas, steps: gradient.steps, stages })
    }

    /// The largest difference between an alpha and the step that was looked for; all of it if there are not as many.
    fn steps_apart(&self) -> f64 {
        let pairs = self.alphas.iter().zip(&self.steps);
        let most = pairs.map(|(alpha, step)| (alpha - step).abs()).fold(0.0, f64::max);
        if self.alphas.len() == self.steps.len() { most } else { f64::INFINITY }
    }
}

/// Gradient boosting as libraries have it: each leaf takes a Newton step of its own.
fn newton(rounds: usize) -> Boost {
    Boost {
        loss: Some(LossName::Exponential),
        rounds: Some(rounds),
        leaves: 2,
        depth: Some(1),
        rate: 1.0,
        min_leaf: 1.0,
        l2: 0.0,
        ..Boost::default()
    }
}

fn same_sign(one: &[f64], other: &[f64]) -> f64 {
    let alike = one.iter().zip(other).filter(|(a, b)| (**a > 0.0) == (**b > 0.0));
    alike.count() as f64 / one.len() as f64
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let draws = context.repeat("draws", context.either(5, 40), |_, run| Draw::new(run))?;
    let mut page = Page::new([
        format!(
            "In each round the negative gradient of the exponential loss, t exp(-t F), is taken at the {ROWS} rows learned from; a stump that says -1 or 1 is fitted to it, which is a weighted \
             classification with the gradient's signs as classes and its sizes as weights, and a line search finds the step c along the stump for which the loss is least. Beside it stands AdaBoost of the same \
             stumps, whose alpha is a formula. Rows are of ten normal columns, as in ch14-adaboost, {} draws of them; decisions are compared on {NEW} new rows.",
            draws.len()
        ),
        "Boosting as libraries do it lets each leaf take a Newton step of its own instead of plus or minus one value. It has the same loss and weights, and is shown beside the two.".into(),
    ]);
    page.claims = claims(&draws);
    page.tables.extend([recovered(&draws), three(&draws)]);
    page.figures.push(figure(&draws));
    page.notes.push("Stumps are split by Gini's index on weighted rows, not by the weighted error itself, in AdaBoost and in the fit to the gradient alike. With leaves of their own steps the numbers are not AdaBoost's: a vote adds plus or minus alpha, a Newton step the weighted mean of t in each leaf, which is the variant called gentle AdaBoost; the library also begins at the best constant, not at 0.".into());
    Ok(page)
}

/// A figure of one stage over the draws.
fn over(draws: &[Draw], stage: usize, of: impl Fn(&Three) -> f64) -> Vec<f64> {
    draws.iter().map(|draw| of(&draw.stages[stage])).collect()
}

fn claims(draws: &[Draw]) -> Vec<Claim> {
    let most = |of: &dyn Fn(&Draw) -> f64| draws.iter().map(of).fold(0.0, f64::max);
    let steps = most(&Draw::steps_apart);
    let scores = most(&|draw| draw.stages.iter().map(|own| own.apart).fold(0.0, f64::max));
    let stages = || draws.iter().flat_map(|draw| &draw.stages);
    let same = stages().map(|own| own.same[0]).fold(1.0, f64::min);
    let last = ROUNDS.len() - 1;
    let logs = |of: fn(&Three) -> f64| over(draws, last, |own| of(own).ln());
    let faster = difference(&logs(|own| own.ada.loss[0]), &logs(|own| own.newton.loss[0]));
    let errors = |of: fn(&Three) -> f64| over(draws, last, of);
    let [ada, newton] = [errors(|own| own.ada.error[1]), errors(|own| own.newton.error[1])];
    let fewer = difference(&ada, &newton);
    let told = |values: &[f64]| with_error(&estimate(values), 3);
    vec![
        Claim::new(
            "Fitting a weak learner to the negative gradient recovers AdaBoost for exp-loss",
            steps < ROUNDING && scores < ROUNDING && same >= 1.0,
            format!(
                "in {LAST} rounds of {} draws the steps that the line search finds differ from AdaBoost's alphas by {steps:.0e} at most, the scores of new rows by {scores:.0e}; decisions are the same on {} % of new rows",
                draws.len(),
                shown_share(same)
            ),
        )
        .holds_if("steps and scores differ by less than 1e-9 in every draw, and no decision does"),
        Claim::ahead(
            format!("Leaves with Newton steps of their own descend faster: their loss is lower after {LAST} rounds"),
            &faster,
            format!("ln of the ratio of the losses {}", with_error(&faster, 2)),
        )
        .ours(),
        Claim::ahead(
            format!("and they make fewer errors on new rows after {LAST} rounds"),
            &fewer,
            format!("{}, AdaBoost {}; fewer by {}", told(&newton), told(&ada), with_error(&fewer, 3)),
        )
        .ours(),
    ]
}

/// A share in per cent, never rounded up to all.
fn shown_share(share: f64) -> String {
    if share >= 1.0 { "100".into() } else { format!("{:.2}", (1e4 * share).floor() / 100.0) }
}

/// Steps beside alphas.
fn recovered(draws: &[Draw]) -> Table {
    let columns = [
        "round",
        "alpha of AdaBoost",
        "se of alpha",
        "step of the line search",
        "se of the step",
        "largest difference",
        "scores differ by",
        "same decisions",
    ];
    let title = "The steps of gradient boosting with leaves of plus or minus one value";
    let mut table = Table::new("recovered", title, columns);
    for (k, round) in ROUNDS.into_iter().enumerate() {
        let at = |of: fn(&Draw) -> &Vec<f64>| -> Vec<f64> {
            draws.iter().filter_map(|draw| of(draw).get(round - 1).copied()).collect()
        };
        let (alphas, steps) = (at(|draw| &draw.alphas), at(|draw| &draw.steps));
        let apart = alphas.iter().zip(&steps).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let [alpha, step] = [estimate(&alphas), estimate(&steps)];
        let numbers = [
            alpha.mean,
            alpha.se.unwrap_or(f64::NAN),
            step.mean,
            step.se.unwrap_or(f64::NAN),
            apart,
            over(draws, k, |own| own.apart).into_iter().fold(0.0, f64::max),
            over(draws, k, |own| own.same[0]).into_iter().fold(1.0, f64::min),
        ];
        table.row([round.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

/// Losses and errors of the three.
fn three(draws: &[Draw]) -> Table {
    let columns = [
        "rounds",
        "loss, AdaBoost",
        "loss, gradient",
        "loss, Newton's leaves",
        "errors on new rows, AdaBoost",
        "se of these",
        "errors, gradient",
        "errors, Newton's leaves",
        "se of those",
        "Newton's leaves decide as AdaBoost",
    ];
    let title = "AdaBoost, the gradient, and leaves with steps of their own: means over the draws (of losses geometric ones)";
    let mut table = Table::new("three", title, columns);
    for (k, rounds) in ROUNDS.into_iter().enumerate() {
        let loss = |of: fn(&Three) -> f64| geometric(draws, k, of);
        let error = |of: fn(&Three) -> f64| estimate(&over(draws, k, of));
        let (ada, newton) = (error(|own| own.ada.error[1]), error(|own| own.newton.error[1]));
        let se = |own: Estimate| own.se.unwrap_or(f64::NAN);
        let numbers = [
            loss(|own| own.ada.loss[0]),
            loss(|own| own.gradient.loss[0]),
            loss(|own| own.newton.loss[0]),
            ada.mean,
            se(ada),
            error(|own| own.gradient.error[1]).mean,
            newton.mean,
            se(newton),
            error(|own| own.same[1]).mean,
        ];
        table.row([rounds.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn geometric(draws: &[Draw], stage: usize, of: fn(&Three) -> f64) -> f64 {
    estimate(&over(draws, stage, |own| of(own).ln())).mean.exp()
}

fn figure(draws: &[Draw]) -> Figure {
    let along = |y: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        ROUNDS.into_iter().enumerate().map(|(k, rounds)| (rounds as f64, y(k))).collect()
    };
    let loss = |of: fn(&Three) -> f64| along(&|k| geometric(draws, k, of));
    let error = |of: fn(&Three) -> f64| along(&|k| estimate(&over(draws, k, of)).mean);
    let losses = Chart::new("Loss of the rows learned from", "", "rounds", "mean of exp(-t F)")
        .log_x()
        .log_y()
        .with(Series::line("AdaBoost", loss(|own| own.ada.loss[0])))
        .with(Series::line("own steps", loss(|own| own.newton.loss[0])))
        .with(Series::points("gradient", loss(|own| own.gradient.loss[0])).tone(Tone::Ink));
    let errors = Chart::new("Wrong signs on new rows", "", "rounds", "share of rows")
        .log_x()
        .with(Series::line("AdaBoost", error(|own| own.ada.error[1])))
        .with(Series::line("own steps", error(|own| own.newton.error[1])))
        .with(Series::points("gradient", error(|own| own.gradient.error[1])).tone(Tone::Ink));
    let words = format!(
        "Means of {} draws. The points are gradient boosting with leaves of plus or minus one value: they lie on AdaBoost's line. Leaves with Newton steps of their own descend faster.",
        draws.len()
    );
    Figure::panels("both", ("Gradient boosting with AdaBoost's loss", &words), 2, &[losses, errors])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_search_finds_the_formula() {
        // Weights 1, 2, 1 and e of classes and votes that agree but for the third.
        let (truth, votes) = ([1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, -1.0]);
        let scores = [0.0, 2f64.ln(), 0.0, 1.0];
        let right = 1.0 + 2.0 + 1f64.exp();
        let step = line_search(&truth, &scores, &votes);
        assert!((step - 0.5 * right.ln()).abs() < 1e-12, "{step}");
    }

    #[test]
    fn a_share_is_never_rounded_up_to_all() {
        assert_eq!([1.0, 0.99999, 0.5].map(shown_share), ["100", "99.99", "50.00"]);
    }
}
