//! Section 14.3: AdaBoost is forward stagewise additive modelling with the exponential loss.
//!
//! With classes t = -1, 1 and F_m = sum over rounds of alpha y, alpha = 1/2 ln((1 - e) / e): the mean of exp(-t F_m) over the rows
//! learned from is the product over rounds of 2 sqrt(e (1 - e)), and no other alpha would have made it smaller. So the newest stump
//! errs on half of the weight that follows.

use dolmen::ensemble::AdaBoost;
use dolmen::error::{Error, Result};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::math::first_largest;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::table::Rows;
use dolmen::target::Labels;
use dolmen::task::Classification;
use dolmen_report::chart::{Chart, Series, Tone};

use crate::drawn::{difference, rings, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Finding, Page};

/// Rounds after which a vote is looked at.
const ROUNDS: [usize; 12] = [1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 400, 600];
/// Rounds whose every step is looked at.
const STEPS: usize = 30;
const ROWS: usize = 500;
pub(super) const NEW: usize = 5000;
/// The share of labels that are turned over, so that there is something to be too sure of.
pub(super) const TURNED: f64 = 0.05;

/// Rounds that push it too far.
const PUSHED: usize = 1200;

/// One draw of rows: the votes on the way, and its first rounds step by step.
struct Draw {
    stages: Vec<Stage>,
    steps: Steps,
}

impl Draw {
    fn new(run: &Run) -> Result<Self> {
        let train = rings(ROWS, TURNED, &run.stream("rows"))?;
        let new = rings(NEW, TURNED, &run.stream("new rows"))?;
        let (train, new) = (train.borrow(), new.borrow());
        let stage = |rounds: usize| {
            let ada = Ada::fit(rounds, &train, run)?;
            let predicted = [ada.scores(train.x(), run)?, ada.scores(new.x(), run)?];
            let product = ada.errors.iter().map(|e| 2.0 * (e * (1.0 - e)).sqrt()).product();
            let stage = Stage::of(&predicted, [train.target(), new.target()]);
            Ok(Stage { rounds, product, ..stage })
        };
        let stages = ROUNDS.into_iter().chain([PUSHED]).map(stage).collect::<Result<_>>()?;
        Ok(Self { stages, steps: Steps::of(&train, run)? })
    }
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let draws = context.repeat("draws", context.either(10, 40), |_, run| Draw::new(run))?;
    let mut page = Page::new([format!(
        "Stumps on {ROWS} rows of ten normal columns; the class is whether a row is longer than the median, and {:.0} % of the labels are turned over. With t = -1 or 1 and \
         F = the sum of alpha times the stumps' votes, the mean of exp(-t F) is followed on the rows learned from and on {NEW} new ones. Figures are means over {} draws of all \
         rows; of losses geometric means, as one row far on the wrong side can make a draw's loss many times larger.",
        100.0 * TURNED,
        draws.len()
    )]);
    page.claims = claims(&draws);
    page.tables.push(means(&draws));
    page.figures.push(figure(&draws));
    page.notes.push("The library's alpha is ln((1 - e) / e), twice the chapter's, as the several-class form has it; F above is the chapter's. Its stumps are split by Gini's index on weighted rows, not by the weighted error itself.".into());
    Ok(page)
}

/// A figure of one stage over the draws.
fn over(draws: &[Draw], stage: usize, of: impl Fn(&Stage) -> f64) -> Vec<f64> {
    draws.iter().map(|draw| of(&draw.stages[stage])).collect()
}

/// A loss of one stage over the draws, in logarithms.
fn logs(draws: &[Draw], stage: usize, of: impl Fn(&Stage) -> f64) -> Vec<f64> {
    over(draws, stage, |own| of(own).ln())
}

/// A boosted vote after so many rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub(super) rounds: usize,
    /// The mean of exp(-t F), on the rows learned from and on new rows.
    pub(super) loss: [f64; 2],
    /// The share of wrong signs, alike.
    pub(super) error: [f64; 2],
    /// The product of 2 sqrt(e (1 - e)) over the rounds, where rounds have errors.
    pub(super) product: f64,
}

impl Stage {
    /// What scores of rows learned from and of new rows give.
    pub(super) fn of(scores: &[Vec<f64>; 2], truth: [&Labels; 2]) -> Self {
        let both = |of: fn(&[f64], &Labels) -> f64| [0, 1].map(|k| of(&scores[k], truth[k]));
        Self { rounds: 0, loss: both(exponential), error: both(wrong), product: f64::NAN }
    }
}

/// AdaBoost of stumps as it was fitted.
pub(super) struct Ada {
    model: Box<dyn Fitted<Classification>>,
    scale: f64,
    errors: Vec<f64>,
    /// 1/2 ln((1 - e) / e) of each round, which is half of the library's.
    pub(super) alphas: Vec<f64>,
}

impl Ada {
    pub(super) fn fit(
        rounds: usize,
        train: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Self> {
        Self::of(&AdaBoost::stumps(rounds), train, run)
    }

    /// The same of any weak learner.
    pub(super) fn of(
        learner: &AdaBoost,
        train: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Self> {
        let models = learner.fit(train, &run.stream("ada").silent())?;
        let model = models.into_iter().next().ok_or_else(|| Error::shape("models", 1, 0))?;
        let parameters = model.parameters();
        let array =
            |name: &str| parameters.array(name).map(|(_, own)| own.to_vec()).unwrap_or_default();
        let errors = array("errors");
        let alphas = array("alphas").into_iter().map(|alpha| 0.5 * alpha).collect();
        let scale = parameters.number("scale").unwrap_or(1.0);
        Ok(Self { model, scale, errors, alphas })
    }

    /// F of each row: the probabilities are 1 / (1 + exp(-2 scale F)).
    pub(super) fn scores(&self, x: Rows<'_>, run: &Run) -> Result<Vec<f64>> {
        Ok(half_logits(&predict(self.model.as_ref(), x, run)?, self.scale))
    }
}

/// 1/2 ln(p / (1 - p)) / scale of the second of two classes.
pub(super) fn half_logits(predicted: &[f64], scale: f64) -> Vec<f64> {
    predicted.chunks_exact(2).map(|p| 0.5 * (p[1].ln() - p[0].ln()) / scale).collect()
}

/// t of a row: 1 for the second of two classes, -1 for the first.
pub(super) fn sign(labels: &Labels, i: usize) -> f64 {
    if labels.class(i) == 1 { 1.0 } else { -1.0 }
}

fn exponential(scores: &[f64], labels: &Labels) -> f64 {
    let losses = scores.iter().enumerate().map(|(i, score)| (-sign(labels, i) * score).exp());
    losses.sum::<f64>() / scores.len() as f64
}

fn wrong(scores: &[f64], labels: &Labels) -> f64 {
    let is_wrong = |(i, score): &(usize, &f64)| sign(labels, *i) * **score <= 0.0;
    scores.iter().enumerate().filter(is_wrong).count() as f64 / scores.len() as f64
}

/// The first rounds, step by step.
struct Steps {
    /// How far the newest stump's error on the weights that follow is from 1/2, at most.
    from_half: f64,
    /// By which share another alpha (a tenth more or less) would have raised the loss, at least.
    least_rise: f64,
}

impl Steps {
    fn of(train: &Sample<'_, Classification>, run: &Run) -> Result<Self> {
        let labels = train.target();
        let mut steps = Self { from_half: 0.0, least_rise: f64::INFINITY };
        let mut before = vec![0.0; train.rows()];
        for rounds in 1..=STEPS {
            let after = Ada::fit(rounds, train, run)?.scores(train.x(), run)?;
            let weights: Vec<f64> =
                after.iter().enumerate().map(|(i, f)| (-sign(labels, i) * f).exp()).collect();
            let errs = |i: &usize| sign(labels, *i) * (after[*i] - before[*i]) < 0.0;
            let missed: f64 = (0..after.len()).filter(errs).map(|i| weights[i]).sum();
            let share = missed / weights.iter().sum::<f64>();
            steps.from_half = steps.from_half.max((share - 0.5).abs());
            let least = exponential(&after, labels);
            for factor in [0.9, 1.1] {
                let other: Vec<f64> =
                    before.iter().zip(&after).map(|(b, a)| b + factor * (a - b)).collect();
                let rise = exponential(&other, labels) / least - 1.0;
                steps.least_rise = steps.least_rise.min(rise);
            }
            before = after;
        }
        Ok(steps)
    }
}

fn claims(draws: &[Draw]) -> Vec<Claim> {
    let stages = draws.iter().flat_map(|draw| &draw.stages);
    let apart = stages.map(|own| (own.loss[0] / own.product - 1.0).abs()).fold(0.0, f64::max);
    let steps = |of: fn(&Steps) -> f64| draws.iter().map(move |draw| of(&draw.steps));
    let from_half = steps(|own| own.from_half).fold(0.0, f64::max);
    let least_rise = steps(|own| own.least_rise).fold(f64::INFINITY, f64::min);
    vec![
        Claim::new(
            "The exponential loss after each round is the product of 2 sqrt(e (1 - e))",
            apart < 1e-6,
            format!("they differ by a share of {apart:.0e} at most"),
        )
        .holds_if("that is below 1e-6")
        .ours(),
        Claim::new(
            "alpha = 1/2 ln((1 - e) / e) is the step that lowers the loss most",
            least_rise > 0.0 && from_half < 1e-6,
            format!(
                "a tenth more or less raises it in each of {STEPS} rounds of every draw; the newest stump errs on 1/2 of the next weights, to {from_half:.0e}"
            ),
        )
        .holds_if("both raise it in every round and 1/2 is met to 1e-6"),
        becomes_strong(draws),
        overfits(draws),
    ]
}

fn becomes_strong(draws: &[Draw]) -> Claim {
    let last = ROUNDS.len();
    let [first, strong] = [0, last].map(|k| over(draws, k, |own| own.error[1]));
    let half: Vec<f64> = first.iter().map(|error| 0.5 * error).collect();
    Claim::ahead(
        "Weak classifiers become a strong one",
        &difference(&half, &strong),
        format!(
            "errors on new rows: {} of one stump, {} of {PUSHED}",
            with_error(&estimate(&first), 3),
            with_error(&estimate(&strong), 3)
        ),
    )
    .holds_if("that is less than half by two standard errors")
    .ours()
}

fn overfits(draws: &[Draw]) -> Claim {
    let last = ROUNDS.len();
    let loss = |k: usize| logs(draws, k, |own| own.loss[1]);
    let means: Vec<f64> = (0..=last).map(|k| -estimate(&loss(k)).mean).collect();
    let best = first_largest(&means);
    let rise = difference(&loss(last), &loss(best));
    let learned = |k: usize| logs(draws, k, |own| own.loss[0]);
    let fall = difference(&learned(best), &learned(last));
    let Stage { rounds, .. } = draws[0].stages[best];
    Claim::found(
        "It fits hard examples aggressively and overfits if pushed too far",
        Finding::all([Finding::positive(&rise), Finding::positive(&fall)]),
        format!(
            "the loss of new rows is least after {rounds} rounds ({:.3}) and {:.3} after {PUSHED}: ln of their ratio {}; that of the rows learned from still falls: {}",
            (-means[best]).exp(),
            (-means[last]).exp(),
            with_error(&rise, 3),
            with_error(&Estimate { mean: -fall.mean, ..fall }, 3)
        ),
    )
    .holds_if("the first rises and the second falls by two standard errors")
}

/// Losses and errors by rounds, over the draws.
fn means(draws: &[Draw]) -> Table {
    let columns = [
        "rounds",
        "loss, learned from",
        "product",
        "loss, new rows",
        "se of its ln",
        "errors, learned from",
        "errors, new rows",
        "se",
    ];
    let mut table = Table::new("stages", "AdaBoost after so many rounds", columns);
    for (k, stage) in draws[0].stages.iter().enumerate() {
        let geometric = |of: fn(&Stage) -> f64| estimate(&logs(draws, k, of));
        let mean = |of: fn(&Stage) -> f64| estimate(&over(draws, k, of));
        let (new, wrong) = (geometric(|own| own.loss[1]), mean(|own| own.error[1]));
        let numbers = [
            geometric(|own| own.loss[0]).mean.exp(),
            geometric(|own| own.product).mean.exp(),
            new.mean.exp(),
            new.se.unwrap_or(f64::NAN),
            mean(|own| own.error[0]).mean,
            wrong.mean,
            wrong.se.unwrap_or(f64::NAN),
        ];
        table.row([stage.rounds.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn figure(draws: &[Draw]) -> Figure {
    let of = |y: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        let stages = draws[0].stages.iter().enumerate();
        stages.map(|(k, own)| (own.rounds as f64, y(k))).collect()
    };
    let geometric = |y: fn(&Stage) -> f64| of(&|k| estimate(&logs(draws, k, y)).mean.exp());
    let mean = |y: fn(&Stage) -> f64| of(&|k| estimate(&over(draws, k, y)).mean);
    let loss = Chart::new("Exponential loss", "", "rounds", "mean of exp(-t F)")
        .log_x()
        .log_y()
        .with(Series::line("learned from", geometric(|own| own.loss[0])))
        .with(Series::line("new rows", geometric(|own| own.loss[1])))
        .with(Series::points("product", geometric(|own| own.product)).tone(Tone::Ink));
    let error = Chart::new("Wrong signs", "", "rounds", "share of rows")
        .log_x()
        .with(Series::line("learned from", mean(|own| own.error[0])))
        .with(Series::line("new rows", mean(|own| own.error[1])));
    let words = format!(
        "Means of {} draws. The points are the product of 2 sqrt(e (1 - e)) over the rounds, which is the loss of the rows learned from.",
        draws.len()
    );
    let title = "AdaBoost descends on the exponential loss";
    Figure::panels("loss", (title, &words), 2, &[loss, error])
}
