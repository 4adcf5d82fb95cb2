//! The probe: a few fast learners on some of the rows.

use rand::seq::SliceRandom;

use super::{Clipped, Contrast, Facts, Probe, Probed, Role, Topic};
use crate::catalogue::Catalogued;
use crate::combine::weigh::{Errors, WeighOptions, Weighing, weigh};
use crate::error::{Error, Place, Result};
use crate::learner::{Learner, Sample};
use crate::oos::{OnFailure, OutOfSample, collect};
use crate::run::Run;
use crate::score::Estimate;
use crate::spec::Spec;
use crate::table::{Kind, Rows};
use crate::task::{Classification, Density, Regression, Task};

/// Rows looked at: so many at most, fewer of wide tables, and no advice on less.
const MOST_ROWS: usize = 2000;
const MOST_CELLS: usize = 400_000;
const LEAST_ROWS: usize = 20;

/// Folds, of few rows and of many.
const FOLDS: (usize, usize) = (5, 3);
const MANY_ROWS: usize = 1000;

/// A learner of the probe: its part, how it is probed, and how it is fitted if chosen.
pub(super) struct Candidate {
    role: Role,
    probe: String,
    model: String,
}

impl Candidate {
    fn new(role: Role, probe: &str, model: &str) -> Self {
        Self { role, probe: probe.into(), model: model.into() }
    }
}

/// A task that can be advised on.
pub trait Advisable: Catalogued {
    /// Whether gains are given as shares of the baseline's loss.
    #[doc(hidden)]
    const RELATIVE: bool;

    /// The least probability that counts, so that one certainty that turns out wrong does not make a loss infinite; 0 where
    /// predictions are no probabilities.
    #[doc(hidden)]
    const LEAST: f64 = 0.0;

    /// The learners of the probe, the simplest first.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only the probe asks")]
    fn candidates(facts: &Facts) -> Vec<Candidate>;

    /// How wrong a prediction row is, with its sign if it has one.
    #[doc(hidden)]
    fn error(row: &[f64], target: &Self::Target, i: usize) -> f64;

    /// The logarithm of a member's evidence, but for a constant, from the mean score of so many rows.
    #[doc(hidden)]
    fn ln_evidence(mean_score: f64, rows: f64) -> f64 {
        mean_score * rows
    }
}

impl Advisable for Density {
    const RELATIVE: bool = false;

    #[expect(private_interfaces, reason = "only the probe asks")]
    fn candidates(facts: &Facts) -> Vec<Candidate> {
        let mut candidates = vec![
            Candidate::new(Role::Baseline, "gaussian", "gaussian"),
            Candidate::new(
                Role::Mixture,
                "mixture(components=2, restarts=2)",
                "mixture(components=2)",
            ),
            Candidate::new(
                Role::Mixture,
                "mixture(components=4, restarts=2)",
                "mixture(components=4)",
            ),
        ];
        if facts.missing == 0.0 {
            candidates.push(Candidate::new(Role::Kernel, "kernel", "kernel"));
        }
        candidates
    }

    fn error(row: &[f64], (): &(), _i: usize) -> f64 {
        -row[0]
    }
}

impl Advisable for Classification {
    const RELATIVE: bool = true;
    const LEAST: f64 = 1e-15;

    #[expect(private_interfaces, reason = "only the probe asks")]
    fn candidates(facts: &Facts) -> Vec<Candidate> {
        // Boosting grows a tree for each class in each round.
        let rounds = (240 / facts.classes.unwrap_or(2).max(1)).clamp(8, 60);
        let mut candidates =
            vec![Candidate::new(Role::Baseline, "class-frequencies", "class-frequencies")];
        candidates.extend(supervised("logistic(lambda=1)", "logistic", rounds));
        candidates
    }

    fn error(row: &[f64], target: &Self::Target, i: usize) -> f64 {
        1.0 - row[target.class(i)]
    }
}

impl Advisable for Regression {
    const RELATIVE: bool = true;

    #[expect(private_interfaces, reason = "only the probe asks")]
    fn candidates(_facts: &Facts) -> Vec<Candidate> {
        let mut candidates = vec![Candidate::new(Role::Baseline, "mean", "mean")];
        candidates.extend(supervised("ridge", "ridge", 60));
        candidates
    }

    fn error(row: &[f64], target: &Self::Target, i: usize) -> f64 {
        target[i] - row[0]
    }

    /// Of Gaussian errors with the best variance.
    fn ln_evidence(mean_score: f64, rows: f64) -> f64 {
        -0.5 * rows * (-mean_score).max(f64::MIN_POSITIVE).ln()
    }
}

fn supervised(probe: &str, linear: &str, rounds: usize) -> [Candidate; 5] {
    [
        Candidate::new(Role::Linear, probe, linear),
        Candidate::new(Role::Tree, "tree", "tree"),
        Candidate::new(Role::Forest, "forest(trees=60)", "forest"),
        Candidate::new(Role::Boosting, &format!("boost(rounds={rounds})"), "boost"),
        Candidate::new(Role::Neighbours, "neighbours(k=15)", "neighbours(k=[5, 25])"),
    ]
}

/// Lets a few fast learners predict rows they have not seen.
pub fn probe<T: Advisable>(sample: &Sample<'_, T>, run: &Run) -> Result<Probe> {
    if sample.rows() < LEAST_ROWS {
        let problem = format!("there are {} rows, too few to try anything on", sample.rows());
        let cure = format!("advice needs at least {LEAST_ROWS} rows");
        return Err(Error::data(Place::default(), problem).with_hint(cure));
    }
    let chosen = chosen_rows(sample.rows(), encoded_width(sample.x()), &run.stream("rows"));
    let some = sample.select(&chosen);
    let some = some.borrow();
    let folds = if some.rows() < MANY_ROWS { FOLDS.0 } else { FOLDS.1 };
    let plan = some.folds(folds, &run.stream("plan"))?;
    let candidates = T::candidates(&Facts::of(&some));
    let learners: Vec<Box<dyn Learner<T>>> = candidates
        .iter()
        .map(|candidate| T::learner(&Spec::parse(&candidate.probe)?))
        .collect::<Result<_>>()?;
    let borrowed: Vec<&dyn Learner<T>> = learners.iter().map(AsRef::as_ref).collect();
    let gather = |on_failure| collect(&borrowed, &some, &plan, on_failure, &run.stream("members"));
    let names: Vec<String> = learners.iter().flat_map(|learner| learner.members()).collect();
    let mut matrix = gather(OnFailure::Drop);
    // Without its baseline the probe has nothing to compare with: the error is why that failed.
    if !matrix.as_ref().is_ok_and(|m| m.members().first() == names.first()) {
        matrix = gather(OnFailure::Stop);
    }
    let found = matrix?;
    let (matrix, clipped) = clip(&found)?;
    let options = WeighOptions { errors: Errors::Sandwich, ..WeighOptions::default() };
    let weighing = weigh(&matrix, &options, &run.stream("weights"))?;
    let parts: Vec<&Candidate> = matrix
        .members()
        .iter()
        .filter_map(|name| names.iter().position(|n| n == name))
        .map(|at| &candidates[at])
        .collect();
    let failures = found.failures().iter().map(|(name, f)| format!("{name}: {}", f.message));
    let failures = failures.collect();
    Ok(Probe { failures, clipped, ..summary(&matrix, &weighing, &parts, folds) })
}

/// The matrix with no probability below the least that counts, and who gave what then came up less than that.
fn clip<T: Advisable>(matrix: &OutOfSample<T>) -> Result<(OutOfSample<T>, Vec<Clipped>)> {
    if T::LEAST == 0.0 {
        return Ok((matrix.clone(), Vec::new()));
    }
    let (mut columns, mut clipped) = (Vec::new(), Vec::new());
    for (m, name) in matrix.members().iter().enumerate() {
        let rows = matrix.scores(m).iter().filter(|score| **score < T::LEAST.ln()).count();
        if rows > 0 {
            clipped.push(Clipped { member: name.clone(), rows });
        }
        let column: Vec<f64> = matrix.column(m).iter().map(|p| p.max(T::LEAST)).collect();
        columns.push((name.clone(), column));
    }
    let weights = matrix.weights().map(<[f64]>::to_vec);
    Ok((OutOfSample::from_columns(columns, matrix.target().clone(), weights)?, clipped))
}

/// Some rows, drawn without replacement, in their order.
fn chosen_rows(rows: usize, width: usize, run: &Run) -> Vec<usize> {
    let most = (MOST_CELLS / width.max(1)).clamp(10 * LEAST_ROWS, MOST_ROWS);
    let mut order: Vec<usize> = (0..rows).collect();
    if rows <= most {
        return order;
    }
    let mut drawn = order.partial_shuffle(&mut run.rng(), most).0.to_vec();
    drawn.sort_unstable();
    drawn
}

/// Columns once categories are indicators.
fn encoded_width(x: Rows<'_>) -> usize {
    let columns = x.schema().fields().iter().map(|field| match &field.kind {
        Kind::Categorical { levels } => levels.len(),
        Kind::Numeric => 1,
    });
    columns.sum()
}

/// From the matrix to the answers.
fn summary<T: Advisable>(
    matrix: &OutOfSample<T>,
    weighing: &Weighing,
    parts: &[&Candidate],
    folds: usize,
) -> Probe {
    let shares = shares(matrix);
    let scores: Vec<Vec<f64>> = (0..parts.len()).map(|m| matrix.scores(m)).collect();
    let means: Vec<f64> = scores.iter().map(|s| Estimate::of(s, &shares).mean).collect();
    let unit = if T::RELATIVE && means[0] < 0.0 { -1.0 / means[0] } else { 1.0 };
    let scaled = |e: Estimate| Estimate { mean: unit * e.mean, se: e.se.map(|se| unit * se) };
    let gain =
        |a: usize, b: usize| scaled(Estimate::of_difference(&scores[a], &scores[b], &shares));
    let best_of = |wanted: &dyn Fn(Role) -> bool| {
        let own = (0..parts.len()).filter(|&m| wanted(parts[m].role));
        own.max_by(|&a, &b| means[a].total_cmp(&means[b]))
    };
    let best = best_of(&|_| true).unwrap_or(0);
    let member = |m: usize| Probed {
        role: parts[m].role,
        name: matrix.members()[m].clone(),
        model: parts[m].model.clone(),
        gain: gain(m, 0),
        behind: gain(best, m),
        weight: weighing.members[m].weight,
    };
    let contrast = |topic: Topic, a: Option<usize>, b: Option<usize>| {
        let (a, b) = (a?, b?);
        let name = |m: usize| matrix.members()[m].clone();
        Some(Contrast { topic, member: name(a), against: name(b), gain: gain(a, b) })
    };
    let only = |role: Role| best_of(&|other| other == role);
    let bent = |role: Role| !matches!(role, Role::Baseline | Role::Linear);
    let contrasts = [
        contrast(Topic::Signal, best_of(&|role| role != Role::Baseline), Some(0)),
        contrast(Topic::Shape, best_of(&bent), only(Role::Linear)),
        contrast(Topic::Variance, only(Role::Forest), only(Role::Tree)),
        contrast(Topic::Bias, only(Role::Boosting), only(Role::Forest)),
        contrast(Topic::Smoothness, only(Role::Kernel), only(Role::Mixture)),
    ];
    let members: Vec<Probed> = (0..parts.len()).map(member).collect();
    Probe {
        rows: matrix.rows(),
        folds,
        contrasts: contrasts.into_iter().flatten().collect(),
        correlation: correlation(matrix, &members),
        stacking: scaled(match &weighing.cross_validated {
            Some(honest) => honest.gain_over_best,
            None => weighing.gain_over_best,
        }),
        selection: selection::<T>(matrix, &means),
        failures: Vec::new(),
        clipped: Vec::new(),
        members,
    }
}

/// The rows' shares of the total weight.
fn shares<T: Task>(matrix: &OutOfSample<T>) -> Vec<f64> {
    match matrix.weights() {
        None => vec![1.0 / matrix.rows() as f64; matrix.rows()],
        Some(weights) => {
            let total: f64 = weights.iter().sum();
            weights.iter().map(|w| w / total).collect()
        }
    }
}

/// The largest weight in proportion to the members' evidence, and whose it is.
fn selection<T: Advisable>(matrix: &OutOfSample<T>, means: &[f64]) -> (String, f64) {
    let rows = matrix.rows() as f64;
    let evidence: Vec<f64> = means.iter().map(|&mean| T::ln_evidence(mean, rows)).collect();
    let best = crate::math::first_largest(&evidence);
    let total: f64 = evidence.iter().map(|e| (e - evidence[best]).exp()).sum();
    (matrix.members()[best].clone(), 1.0 / total)
}

/// The mean correlation of the errors of any two members that beat the baseline.
fn correlation<T: Advisable>(matrix: &OutOfSample<T>, members: &[Probed]) -> Option<f64> {
    let errors = |m: usize| -> Vec<f64> {
        (0..matrix.rows()).map(|i| T::error(matrix.row(m, i), matrix.target(), i)).collect()
    };
    let good = (1..members.len()).filter(|&m| members[m].gain.mean > 0.0);
    let errors: Vec<Vec<f64>> = good.map(errors).collect();
    let pairs = (0..errors.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let found: Vec<f64> = pairs.filter_map(|(a, b)| pearson(&errors[a], &errors[b])).collect();
    (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (at, bt) = (mean(a), mean(b));
    let product = |x: &[f64], xt: f64, y: &[f64], yt: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - xt) * (y - yt)).sum()
    };
    let r = product(a, at, b, bt) / (product(a, at, a, at) * product(b, bt, b, bt)).sqrt();
    r.is_finite().then_some(r)
}
