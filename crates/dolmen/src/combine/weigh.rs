//! Weighing: the weights of a matrix's members, with everything there is to say about them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::inference::{self, Absence, WeightError};
use super::method::Weigher;
use super::{FoundWeights, Method, Weighable, Weights};
use crate::error::{Result, within};
use crate::math::first_largest;
use crate::oos::{CheckKind, OutOfSample};
use crate::run::{Run, Work};
use crate::score::Estimate;
use crate::solver::Solution;
use crate::solver::problem::{self, WeightProblem};
use crate::task::TaskKind;

/// How the weights' standard errors are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// The bootstrap for small matrices, the sandwich for large ones.
    #[default]
    Auto,
    /// Bayesian bootstrap of the rows: honest at zero weights too, and gives intervals.
    Bootstrap,
    /// The sandwich estimate on the face of positive weights: one pass.
    Sandwich,
    /// No standard errors, no leave-one-out losses, no cross-validation: weights and scores only.
    None,
}

/// What is computed beside the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeighOptions {
    /// How the weights are found.
    pub weights: Weights,
    /// How their errors are found.
    pub errors: Errors,
    /// Bootstrap draws.
    pub draws: usize,
}

impl WeighOptions {
    fn validate(&self) -> Result<()> {
        let least = if self.errors == Errors::Bootstrap { 2 } else { 0 };
        within("draws", self.draws, least..=MOST_DRAWS)
    }
}

impl Default for WeighOptions {
    fn default() -> Self {
        Self { weights: Weights::default(), errors: Errors::Auto, draws: 200 }
    }
}

/// Cells of the matrix up to which `auto` means the bootstrap: some seconds of work.
const BOOTSTRAP_CELLS: usize = 2_000_000;
/// Members up to which `auto` means the bootstrap: with very many a single search takes seconds, however few the rows.
const MOST_RESAMPLED: usize = 500;
/// Members in use up to which each is left out in turn, of so many members that the search is quick.
const MOST_LEFT_OUT: usize = 200;
/// Bootstrap draws, at most.
const MOST_DRAWS: usize = 100_000;
/// Folds over the rows for the honest score of the weights.
const FOLDS: usize = 5;

/// Everything there is to say about the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weighing {
    /// The task.
    pub task: TaskKind,
    /// The method.
    pub method: Method,
    /// Rows of the matrix.
    pub rows: usize,
    /// Rows to which every member gives zero: they say nothing about the weights and are left out of all scores.
    pub uninformative_rows: usize,
    /// The members, in the order of the matrix.
    pub members: Vec<WeighedMember>,
    /// Certificate: no weights of the same kind score better by more than this. For joint probabilities the KKT residual.
    pub gap: f64,
    /// Of LMG, which may have several maxima: the largest violation of the conditions of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kkt_residual: Option<f64>,
    /// Passes over the rows.
    pub iterations: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// Mean score of the combination on the rows its weights were found on.
    pub score: f64,
    /// The standard error of that mean over the rows; `None` where a row has no finite score, and in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_se: Option<f64>,
    /// The score of equal weights; `None` in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Estimate>,
    /// The member with the best score.
    pub best: String,
    /// Score of the combination less that of the best member.
    pub gain_over_best: Estimate,
    /// Score of the combination less that of equal weights.
    pub gain_over_uniform: Estimate,
    /// The same with weights (and best member) found on other rows than those scored.
    pub cross_validated: Option<CrossValidated>,
    /// Members that can stand in for one another.
    pub interchangeable: Vec<Vec<String>>,
    /// How the standard errors were found: bootstrap, sandwich or none.
    pub errors: Errors,
}

impl Weighing {
    /// The root mean squared error of the combination, where scores are squared errors.
    pub fn rmse(&self) -> Option<f64> {
        let squared = (-self.score).max(0.0);
        (!self.task.has_log_scores()).then(|| squared.sqrt())
    }
}

/// One member's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeighedMember {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// The weight's standard error.
    pub se: Option<f64>,
    /// The central 90 % of the weight's bootstrap, stretched to the weight itself where that lies outside.
    pub interval: Option<[f64; 2]>,
    /// Whether it does: more than 95 % of the resamples of the rows give a weight to one side of this one, as happens where
    /// a weight is held at zero.
    pub beyond_resamples: bool,
    /// Its mean score alone.
    pub score: f64,
    /// The standard error of that mean over the rows; `None` where a row has no finite score.
    #[serde(default)]
    pub score_se: Option<f64>,
    /// What the combination loses in mean score without it.
    pub loo_loss: Option<f64>,
}

/// Scores of rows by weights that were found on other rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossValidated {
    /// Folds over the rows: dealt in turn, whole groups, or blocks of time.
    pub folds: usize,
    /// Which rows the weights came from: all others, or earlier ones.
    #[serde(default = "all_others")]
    pub kind: CheckKind,
    /// Mean score of the combination.
    pub score: f64,
    /// The standard error of that mean over the rows; `None` where a row has no finite score, and in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_se: Option<f64>,
    /// The score of equal weights on the same rows; `None` in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Estimate>,
    /// Gain over the member that was best on the other rows.
    pub gain_over_best: Estimate,
    /// Gain over equal weights.
    pub gain_over_uniform: Estimate,
}

/// What reports of earlier versions mean.
fn all_others() -> CheckKind {
    CheckKind::Matrix
}

/// Weighs the members of an out-of-sample matrix.
pub fn weigh<T: Weighable>(
    oos: &OutOfSample<T>,
    options: &WeighOptions,
    run: &Run,
) -> Result<Weighing> {
    options.validate()?;
    let weigher = Weigher::new(&options.weights, oos, &run.stream("weights"))?;
    let solution = weigher.solution()?;
    explain(&weigher, &solution, options, run)
}

/// Everything there is to say about weights that were found on this matrix before ([`Combination::found`]): nothing is
/// searched for again.
///
/// [`Combination::found`]: super::Combination::found
pub fn weigh_found<T: Weighable>(
    oos: &OutOfSample<T>,
    found: &FoundWeights,
    options: &WeighOptions,
    run: &Run,
) -> Result<Weighing> {
    options.validate()?;
    let weigher = Weigher::new(&found.options, oos, &run.stream("weights"))?;
    explain(&weigher, &found.solution, options, run)
}

fn explain<T: Weighable>(
    weigher: &Weigher<'_, T>,
    solution: &Solution,
    options: &WeighOptions,
    run: &Run,
) -> Result<Weighing> {
    let (oos, method) = (weigher.oos, weigher.options.method);
    let members = oos.members().len();
    let problem = &weigher.problem;
    let shares = problem.shares();
    let alone = |m| Estimate::of(&problem.row_scores(&problem::unit(members, m)), shares);
    let alone: Vec<Estimate> = run.install(|| (0..members).map(alone).collect());
    let best = first_largest(&alone.iter().map(|own| own.mean).collect::<Vec<f64>>());
    let row_scores = problem.row_scores(&solution.weights);
    let uniform_scores = problem.row_scores(&vec![1.0 / members as f64; members]);
    let gain = |others: &[f64]| Estimate::of_difference(&row_scores, others, shares);
    let errors = resolve(options.errors, method, oos.rows(), members);
    let inferred =
        infer(weigher, solution, &row_scores, errors, options.draws, &run.stream("errors"))?;
    let member = |m: usize| WeighedMember {
        name: oos.members()[m].clone(),
        weight: solution.weights[m],
        se: inferred.weights[m].se,
        interval: inferred.weights[m].interval,
        beyond_resamples: inferred.weights[m].stretched,
        score: alone[m].mean,
        score_se: alone[m].se,
        loo_loss: inferred.absences[m].as_ref().map(|absence| absence.loss.mean),
    };
    let is_lmg = T::SEVERAL_MAXIMA && method == Method::Simplex;
    // Log scores are compared in nats, squared errors with what they are themselves.
    let unit = if T::HAS_TARGET && !T::CLASSES { solution.score.abs() } else { 1.0 };
    let alike = inference::interchangeable(
        &solution.weights,
        &inferred.absences,
        &weigher.copies,
        oos.rows(),
        unit,
    );
    let names = |group: Vec<usize>| group.into_iter().map(|m| oos.members()[m].clone()).collect();
    Ok(Weighing {
        task: T::KIND,
        method,
        rows: oos.rows(),
        uninformative_rows: solution.uninformative_rows,
        members: (0..members).map(member).collect(),
        gap: solution.gap,
        kkt_residual: is_lmg.then_some(solution.gap),
        iterations: solution.iterations,
        converged: solution.converged,
        score: solution.score,
        score_se: Estimate::of(&row_scores, shares).se,
        uniform: Some(Estimate::of(&uniform_scores, shares)),
        best: oos.members()[best].clone(),
        gain_over_best: gain(&problem.row_scores(&problem::unit(members, best))),
        gain_over_uniform: gain(&uniform_scores),
        cross_validated: inferred.cross_validated,
        interchangeable: alike.into_iter().map(names).collect(),
        errors,
    })
}

/// Whether the weights can be found hundreds of times in some seconds.
fn is_quick(rows: usize, members: usize) -> bool {
    rows * members <= BOOTSTRAP_CELLS && members <= MOST_RESAMPLED
}

/// Which errors are computed.
fn resolve(errors: Errors, method: Method, rows: usize, members: usize) -> Errors {
    let smooth = matches!(method, Method::Simplex | Method::Em);
    match errors {
        Errors::Auto if is_quick(rows, members) => Errors::Bootstrap,
        Errors::Auto | Errors::Sandwich if smooth => Errors::Sandwich,
        Errors::Auto => Errors::None,
        // The sandwich knows only optima on the simplex.
        Errors::Sandwich => Errors::Bootstrap,
        other => other,
    }
}

struct Inferred {
    weights: Vec<WeightError>,
    absences: Vec<Option<Absence>>,
    cross_validated: Option<CrossValidated>,
}

fn infer<T: Weighable>(
    weigher: &Weigher<'_, T>,
    solution: &Solution,
    row_scores: &[f64],
    errors: Errors,
    draws: usize,
    run: &Run,
) -> Result<Inferred> {
    let members = solution.weights.len();
    let nothing = vec![WeightError::NONE; members];
    let in_use: Vec<usize> = (0..members).filter(|&m| solution.weights[m] != 0.0).collect();
    let is_quick = members <= MOST_RESAMPLED || errors == Errors::Bootstrap;
    let few_in_use = in_use.len() <= MOST_LEFT_OUT;
    let leave_out = errors != Errors::None && members > 1 && few_in_use && is_quick;
    let steps = if leave_out { in_use.len() } else { 0 };
    let draws_planned = if errors == Errors::Bootstrap { draws } else { 0 };
    plan_inference(steps, draws_planned, run);
    let weights = match errors {
        Errors::Bootstrap => inference::bootstrap(weigher, &solution.weights, draws, run)?,
        Errors::Sandwich => {
            run.install(|| inference::sandwich(&weigher.problem, &solution.weights))
        }
        Errors::Auto | Errors::None => nothing,
    };
    let mut absences = vec![None; members];
    if leave_out {
        let nothing_lost = Estimate { mean: 0.0, se: Some(0.0) };
        let unused = Absence { loss: nothing_lost, weights: solution.weights.clone() };
        absences.fill(Some(unused));
        let found: Vec<Absence> = run.install(|| {
            let leave = |&m: &usize| {
                let without =
                    |_: &Run| inference::without(weigher, &solution.weights, row_scores, m);
                run.step("leave one out", without)
            };
            in_use.par_iter().map(leave).collect()
        });
        in_use.iter().zip(found).for_each(|(&m, absence)| absences[m] = Some(absence));
    }
    let cross_validated = (errors != Errors::None)
        .then(|| run.install(|| cross_validate(weigher, &solution.weights)))
        .flatten();
    run.check()?;
    Ok(Inferred { weights, absences, cross_validated })
}

/// Plans the steps of the weights' errors: members left out, draws of the bootstrap. Both are cheap beside a fit.
fn plan_inference(left_out: usize, draws: usize, run: &Run) {
    for (what, steps) in [("leave one out", left_out), ("bootstrap", draws)] {
        run.progress().plan_work(&Work { what, steps: steps as u64, guess: 0.01 });
    }
}

/// Plans all that [`weigh`] will do, for a whole that is larger: the work is then done by a run that is
/// [planned](Run::planned).
pub fn plan_weighing(options: &WeighOptions, rows: usize, members: usize, run: &Run) {
    let draws = match options.errors {
        Errors::Bootstrap | Errors::Sandwich => options.draws,
        Errors::Auto if is_quick(rows, members) => options.draws,
        Errors::Auto | Errors::None => 0,
    };
    let left_out = if options.errors == Errors::None || members < 2 { 0 } else { members };
    plan_inference(left_out.min(MOST_LEFT_OUT), draws, run);
}

/// Scores each fold of rows by the weights found on the others; groups stay together, and of rows with times the weights come
/// from earlier ones.
fn cross_validate<T: Weighable>(
    weigher: &Weigher<'_, T>,
    weights: &[f64],
) -> Option<CrossValidated> {
    let problem = &weigher.problem;
    let shares = problem.shares();
    let members = weights.len();
    if shares.iter().filter(|s| **s > 0.0).count() < 2 * FOLDS {
        return None;
    }
    let (folds, kind) = weigher.oos.dealt(FOLDS);
    if folds.is_empty() {
        return None;
    }
    let all: Vec<usize> = (0..members).collect();
    let start: Vec<f64> = weights.iter().map(|w| w + 1e-3 / members as f64).collect();
    // Each fold keeps the scores of its own rows only.
    let tried: Vec<[Vec<f64>; 2]> = folds
        .par_iter()
        .map(|fold| {
            let mut others = vec![0.0; shares.len()];
            fold.learned_from.iter().for_each(|&i| others[i] = shares[i]);
            let total: f64 = others.iter().sum();
            others.iter_mut().for_each(|share| *share /= total.max(f64::MIN_POSITIVE));
            let alone = problem::member_scores(problem, &others);
            let best = first_largest(&alone);
            let found = weigher.again(&others, &start, &all);
            [found.weights, problem::unit(members, best)].map(|weights| {
                let scores = problem.row_scores(&weights);
                fold.held_out.iter().map(|&i| scores[i]).collect()
            })
        })
        .collect();
    // In order of time the first rows are learned from only.
    let mut tried_on = vec![0.0; shares.len()];
    let (mut stacked, mut best) = (vec![0.0; shares.len()], vec![0.0; shares.len()]);
    for (fold, [of_stack, of_best]) in folds.iter().zip(&tried) {
        for (j, &i) in fold.held_out.iter().enumerate() {
            (stacked[i], best[i], tried_on[i]) = (of_stack[j], of_best[j], shares[i]);
        }
    }
    // Means are over the rows that were tried.
    let total: f64 = tried_on.iter().sum();
    tried_on.iter_mut().for_each(|share| *share /= total.max(f64::MIN_POSITIVE));
    let uniform = problem.row_scores(&vec![1.0 / members as f64; members]);
    let together = Estimate::of(&stacked, &tried_on);
    Some(CrossValidated {
        folds: folds.len(),
        kind,
        score: together.mean,
        score_se: together.se,
        uniform: Some(Estimate::of(&uniform, &tried_on)),
        gain_over_best: Estimate::of_difference(&stacked, &best, &tried_on),
        gain_over_uniform: Estimate::of_difference(&stacked, &uniform, &tried_on),
    })
}
