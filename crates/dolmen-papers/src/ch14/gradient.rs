//! Section 14.3: gradient boosting with the exponential loss recovers AdaBoost.
//!
//! Both grow stumps on weights w = exp(-t F): Gini's index of weighted classes and the gain of a Newton step on the exponential loss,
//! (sum of w t)^2 / sum of w in each leaf, choose the same split. AdaBoost then adds alpha or -alpha in both leaves, the Newton step
//! in each leaf its own mean of t: "gentle" AdaBoost (FriedmanHastieTibshirani2000).

use dolmen::error::{Error, Result};
use dolmen::learner::tree::Boost;
use dolmen::learner::tree::boost::LossName;
use dolmen::learner::{Learner, predict};
use dolmen::task::Classification;
use dolmen_report::chart::{Chart, Series};

use super::boosting::{Ada, NEW, ROUNDS, ROWS, Stage, TURNED, first_split, half_logits};
use crate::drawn::rings;
use crate::page::{Claim, Figure, Table};
use crate::{Context, Page};

/// Both after so many rounds.
struct Both {
    ada: Stage,
    gradient: Stage,
    /// The share of new rows on which both have the same sign.
    agreement: f64,
    /// The correlation of both scores on new rows.
    correlation: f64,
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let run = context.run;
    let train = rings(ROWS, TURNED, &run.stream("rows"))?;
    let new = rings(NEW, TURNED, &run.stream("new rows"))?;
    let (train, new) = (train.borrow(), new.borrow());
    let (mut stages, mut splits) = (Vec::new(), None);
    for rounds in ROUNDS {
        let ada = Ada::fit(rounds, &train, run)?;
        let boost = Boost {
            loss: Some(LossName::Exponential),
            rounds: Some(rounds),
            leaves: 2,
            depth: Some(1),
            rate: 1.0,
            min_leaf: 1.0,
            l2: 0.0,
            ..Boost::default()
        };
        let models = Learner::<Classification>::fit(&boost, &train, &run.stream("boost").silent())?;
        let model = models.first().ok_or_else(|| Error::shape("models", 1, 0))?;
        let predicted =
            |x| -> Result<Vec<f64>> { Ok(half_logits(&predict(model.as_ref(), x, run)?, 1.0)) };
        let (one, other) = (
            [ada.scores(train.x(), run)?, ada.scores(new.x(), run)?],
            [predicted(train.x())?, predicted(new.x())?],
        );
        let truth = [train.target(), new.target()];
        let stage = |scores| Stage { rounds, ..Stage::of(scores, truth) };
        let alike = one[1].iter().zip(&other[1]).filter(|(a, b)| (**a > 0.0) == (**b > 0.0));
        stages.push(Both {
            ada: stage(&one),
            gradient: stage(&other),
            agreement: alike.count() as f64 / NEW as f64,
            correlation: correlation(&one[1], &other[1]),
        });
        splits.get_or_insert((ada.first, first_split(&model.parameters())));
    }
    let mut page = Page::new([format!(
        "AdaBoost of stumps beside gradient boosting with the exponential loss, two leaves a tree, full steps and no penalty, on {ROWS} rows of ten normal columns (another draw of what ch14-adaboost draws). Both weigh rows by exp(-t F) and choose splits by the same criterion; they differ in what a leaf then adds."
    )]);
    page.claims = claims(&stages, splits.unwrap_or_default());
    let (ada, gradient): (Vec<Stage>, Vec<Stage>) =
        stages.iter().map(|own| (own.ada, own.gradient)).unzip();
    page.tables.push(both(&stages));
    page.tables.push(
        table("gradient", "Gradient boosting after so many rounds", &gradient).in_file_only(),
    );
    page.tables.push(table("adaboost", "AdaBoost after so many rounds", &ada).in_file_only());
    page.figures.push(figure(&stages));
    page.notes.push("That their decisions do not agree closely after as many rounds is expected: each leaf's own Newton step descends faster, so that after the same number of rounds gradient boosting is farther on its way. What is recovered is the loss, the weights and the choice of splits, not the same numbers: a discrete vote adds plus or minus alpha, a Newton step the weighted mean of t in each leaf, which is the variant called gentle AdaBoost. With leaves held to plus or minus one value the line search gives AdaBoost's alpha (ch14-adaboost).".into());
    Ok(page)
}

/// Losses and errors by rounds.
fn table(name: &str, title: &str, stages: &[Stage]) -> Table {
    let columns = [
        "rounds",
        "loss, learned from",
        "loss, new rows",
        "errors, learned from",
        "errors, new rows",
    ];
    let mut table = Table::new(name, title, columns);
    for own in stages {
        let numbers = [own.loss[0], own.loss[1], own.error[0], own.error[1]];
        table.row([own.rounds.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| of(x - ma, y - mb)).sum()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

fn claims(stages: &[Both], (ada, gradient): ((f64, f64), (f64, f64))) -> Vec<Claim> {
    let at =
        |rounds: usize| stages.iter().find(|own| own.ada.rounds == rounds).unwrap_or(&stages[0]);
    let (middle, last) = (at(200), &stages[stages.len() - 1]);
    let gap = (middle.ada.error[1] - middle.gradient.error[1]).abs();
    vec![
        Claim::new(
            "Both begin with the same split",
            ada == gradient,
            format!(
                "column {} at {:.4}, and column {} at {:.4}",
                ada.0 + 1.0,
                ada.1,
                gradient.0 + 1.0,
                gradient.1
            ),
        ),
        Claim::new(
            "Both descend on the exponential loss of the rows learned from",
            stages.windows(2).all(|two| {
                two[1].ada.loss[0] < two[0].ada.loss[0]
                    && two[1].gradient.loss[0] < two[0].gradient.loss[0]
            }),
            format!(
                "to {:.4} and {:.4} after {} rounds",
                last.ada.loss[0], last.gradient.loss[0], last.ada.rounds
            ),
        )
        .holds_if("both fall at every step"),
        Claim::new(
            "Their decisions agree after as many rounds, and are as good",
            middle.agreement > 0.9 && gap < 0.02,
            format!(
                "on {:.1} % of new rows after {} rounds; errors {:.3} and {:.3}; scores correlate by {:.3}",
                100.0 * middle.agreement,
                middle.ada.rounds,
                middle.ada.error[1],
                middle.gradient.error[1],
                middle.correlation
            ),
        )
        .holds_if("that is more than 90 % and the errors differ by less than 0.02"),
    ]
}

fn both(stages: &[Both]) -> Table {
    let columns = [
        "rounds",
        "loss, AdaBoost",
        "loss, gradient",
        "errors on new rows, AdaBoost",
        "errors on new rows, gradient",
        "same sign",
        "correlation",
    ];
    let mut table = Table::new("both", "AdaBoost and gradient boosting", columns);
    for own in stages {
        let numbers = [
            own.ada.loss[0],
            own.gradient.loss[0],
            own.ada.error[1],
            own.gradient.error[1],
            own.agreement,
            own.correlation,
        ];
        table.row([own.ada.rounds.into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn figure(stages: &[Both]) -> Figure {
    let of = |y: fn(&Both) -> f64| stages.iter().map(move |own| (own.ada.rounds as f64, y(own)));
    let loss = Chart::new("Loss of the rows learned from", "", "rounds", "mean of exp(-t F)")
        .log_x()
        .log_y()
        .with(Series::line("AdaBoost", of(|own| own.ada.loss[0])))
        .with(Series::line("gradient", of(|own| own.gradient.loss[0])));
    let error = Chart::new("Wrong signs on new rows", "", "rounds", "share of rows")
        .log_x()
        .with(Series::line("AdaBoost", of(|own| own.ada.error[1])))
        .with(Series::line("gradient", of(|own| own.gradient.error[1])));
    let words = "The same weights and criterion; each leaf's own step descends faster than plus or minus alpha.";
    Figure::panels("both", ("Gradient boosting with AdaBoost's loss", words), 2, &[loss, error])
}
