//! The comparison of ways to combine, by repeated splits [SmythWolpert1999 section 4].
//!
//! Each repeat draws a test part. On the training part every member gives its out-of-sample column and is fitted; then the
//! test part is scored by stacking, by the member that cross-validation chooses, by equal weights, by "cheating" (the
//! member that turns out best on the test part) and by further learners that stand beside the stack.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::wilcoxon;
use crate::combine::problem::unit;
use crate::combine::{Combiner, Evidence, Weighable, Weights};
use crate::error::{Error, Result};
use crate::learner::{Learner, Run, Sample, predict};
use crate::math::first_largest;
use crate::oos::{self, OnFailure};
use crate::plan::{Plan, PlanSpec, Portion, RowKeys};
use crate::task::{Target, Task};

/// How the comparison is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareOptions {
    /// Random splits.
    pub repeats: usize,
    /// Rows of each test part.
    pub test_rows: usize,
    /// Folds of the out-of-sample matrix on each training part.
    pub folds: usize,
    /// How stacking finds its weights.
    pub weights: Weights,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { repeats: 50, test_rows: 20, folds: 10, weights: Weights::default() }
    }
}

/// A learner that is compared with the stack but is no member of it.
#[derive(Debug)]
pub struct Rival<T: Task> {
    /// The name in the table.
    pub name: String,
    /// The learner; its first member counts.
    pub learner: Box<dyn Learner<T>>,
    /// Whether all other methods are shown relative to this one.
    pub zero_line: bool,
}

/// What the repeats gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The task.
    pub task: &'static str,
    /// Rows of the table.
    pub rows: usize,
    /// Random splits.
    pub repeats: usize,
    /// Rows of each test part.
    pub test_rows: usize,
    /// The method all others are relative to, if any.
    pub zero_line: Option<String>,
    /// The methods.
    pub methods: Vec<MethodResult>,
    /// The members' weights in the stack, averaged over the repeats.
    pub mean_weights: Vec<MeanWeight>,
}

/// One method's results: the sum of the test rows' scores, less that of the zero line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResult {
    /// The method.
    pub name: String,
    /// Mean over the repeats with a finite score.
    pub mean: f64,
    /// Its standard error.
    pub se: f64,
    /// Share of the repeats with a finite score.
    pub finite_share: f64,
    /// Wilcoxon's signed-rank test against stacking, over repeats in which both are finite.
    pub p_value: Option<f64>,
}

/// A member's mean weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeanWeight {
    /// The member.
    pub name: String,
    /// Its weight, averaged over the repeats.
    pub weight: f64,
}

/// The name of the stack among the methods.
pub const STACKING: &str = "stacking";

/// One repeat: each method's test score, and the weights.
struct Repeat {
    scores: Vec<f64>,
    weights: Vec<f64>,
}

/// Compares on repeated random splits, which run in parallel.
pub fn compare<T: Weighable>(
    learners: &[Box<dyn Learner<T>>],
    rivals: &[Rival<T>],
    sample: &Sample<'_, T>,
    options: &CompareOptions,
    run: &Run,
) -> Result<Comparison> {
    if options.repeats == 0 {
        return Err(Error::param("repeats", "at least 1", 0));
    }
    let splits = Plan::subsample(
        sample.rows(),
        Portion::Rows(sample.rows().saturating_sub(options.test_rows)),
        options.repeats,
        &run.child(0),
    )?;
    run.progress().plan(options.repeats as u64);
    let repeats: Vec<Repeat> = run.install(|| {
        let one = |r: usize| {
            run.check()?;
            let split = &splits.splits()[r];
            let train = sample.select(&split.train(sample.rows()));
            let test = sample.select(split.test());
            let stream = run.child(r as u64 + 1);
            let repeat =
                repeat(learners, rivals, &train.borrow(), &test.borrow(), options, &stream)?;
            run.progress().advance(1, "repeats");
            Ok(repeat)
        };
        (0..options.repeats).into_par_iter().map(one).collect::<Result<_>>()
    })?;
    Ok(summarise::<T>(learners, rivals, &repeats, sample.rows(), options))
}

fn repeat<T: Weighable>(
    learners: &[Box<dyn Learner<T>>],
    rivals: &[Rival<T>],
    train: &Sample<'_, T>,
    test: &Sample<'_, T>,
    options: &CompareOptions,
    run: &Run,
) -> Result<Repeat> {
    let keys = RowKeys { classes: train.target().strata(), ..RowKeys::default() };
    let plan = PlanSpec::suited(options.folds, &keys).build(train.rows(), &keys, &run.child(0))?;
    let borrowed: Vec<&dyn Learner<T>> = learners.iter().map(AsRef::as_ref).collect();
    let quiet = run.silent();
    let matrix = oos::collect(&borrowed, train, &plan, OnFailure::Stop, &quiet.child(1))?;
    let combinations = options.weights.fit(&Evidence::from(&matrix), &quiet.child(2))?;
    let weights = combinations[0].weights().unwrap_or_default().to_vec();

    let mut predictions = Vec::new();
    for (l, learner) in borrowed.iter().enumerate() {
        for model in learner.fit(train, &quiet.child(3).child(l as u64))? {
            predictions.push(predict(model.as_ref(), test.x(), &quiet)?);
        }
    }
    let members = predictions.len();
    let score = |weights: &[f64]| total_score(weights, &predictions, test);
    let alone: Vec<f64> = (0..members).map(|m| score(&unit(members, m))).collect();
    let cv: Vec<f64> = (0..members).map(|m| matrix.scores(m).iter().sum()).collect();
    let mut scores = vec![
        score(&weights),
        alone[first_largest(&cv)],
        score(&vec![1.0 / members as f64; members]),
        alone[first_largest(&alone)],
    ];
    for (r, rival) in rivals.iter().enumerate() {
        let models = rival.learner.fit(train, &quiet.child(4).child(r as u64))?;
        let model = models.first().ok_or_else(|| Error::shape("members of a rival", 1, 0))?;
        let predicted = predict(model.as_ref(), test.x(), &quiet)?;
        scores.push(total_score(&[1.0], &[predicted], test));
    }
    Ok(Repeat { scores, weights })
}

/// The sum of the test rows' scores under a weighted combination.
fn total_score<T: Task>(weights: &[f64], predictions: &[Vec<f64>], test: &Sample<'_, T>) -> f64 {
    let width = T::width(test.target());
    let mut row = vec![0.0; width];
    let mut total = 0.0;
    for i in 0..test.rows() {
        T::mix(weights, |m| &predictions[m][i * width..(i + 1) * width], &mut row);
        total += T::score(&row, test.target(), i);
    }
    total
}

fn summarise<T: Task>(
    learners: &[Box<dyn Learner<T>>],
    rivals: &[Rival<T>],
    repeats: &[Repeat],
    rows: usize,
    options: &CompareOptions,
) -> Comparison {
    let mut names: Vec<String> = [STACKING, "cv", "uniform", "cheating"].map(String::from).into();
    names.extend(rivals.iter().map(|rival| rival.name.clone()));
    let zero = rivals.iter().position(|rival| rival.zero_line).map(|r| r + 4);
    let column = |m: usize| -> Vec<f64> {
        let relative = |repeat: &Repeat| match zero {
            Some(zero) if zero != m => repeat.scores[m] - repeat.scores[zero],
            _ => repeat.scores[m],
        };
        repeats.iter().map(relative).collect()
    };
    let method = |(m, name): (usize, &String)| {
        let scores = column(m);
        let finite: Vec<f64> = scores.iter().copied().filter(|s| s.is_finite()).collect();
        let n = finite.len() as f64;
        let mean = finite.iter().sum::<f64>() / n;
        let variance = finite.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let raw = |m: usize| repeats.iter().map(move |repeat| repeat.scores[m]);
        let differences: Vec<f64> =
            raw(0).zip(raw(m)).map(|(a, b)| a - b).filter(|d| d.is_finite()).collect();
        MethodResult {
            name: name.clone(),
            mean,
            se: (variance / n).sqrt(),
            finite_share: n / scores.len() as f64,
            p_value: (m > 0).then(|| wilcoxon(&differences).p_value),
        }
    };
    let members = learners.iter().flat_map(|learner| learner.members());
    let mean_weight = |(m, name): (usize, String)| MeanWeight {
        name,
        weight: repeats.iter().map(|r| r.weights[m]).sum::<f64>() / repeats.len() as f64,
    };
    Comparison {
        task: T::NAME,
        rows,
        repeats: options.repeats,
        test_rows: options.test_rows,
        zero_line: zero.map(|m| names[m].clone()),
        methods: names.iter().enumerate().map(method).collect(),
        mean_weights: members.enumerate().map(mean_weight).collect(),
    }
}
