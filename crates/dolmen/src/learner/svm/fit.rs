//! Machines from training rows: one for numbers, one for each pair of classes with its calibration.

use rayon::prelude::*;

use super::Svm;
use super::cache::RowCache;
use super::model::{FittedSvm, Machine, Output};
use super::platt::{Scored, Sigmoid};
use super::solver::{Problem, Solution, solve};
use crate::error::Result;
use crate::learner::Diagnostics;
use crate::learner::likeness::{Compared, Likeness};
use crate::learner::scales::Scales;
use crate::plan::{OwnedKeys, Plan};
use crate::run::Run;
use crate::target::{Labels, Target};

/// Folds in which the decision values for the calibration are made.
const FOLDS: usize = 5;

/// Rows of positive weight on the scale the machine sees.
pub(super) struct Training {
    /// Their numbers in the sample.
    pub(super) rows: Vec<usize>,
    /// Their classes, groups and times.
    pub(super) keys: OwnedKeys,
    /// Their inputs, one after the other.
    pub(super) points: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) scales: Scales,
    pub(super) likeness: Likeness,
}

impl Training {
    fn dimension(&self) -> usize {
        self.points.len() / self.rows.len()
    }

    /// Chosen rows to compare with.
    fn compared(&self, chosen: &[usize]) -> Compared {
        Compared::new(self.likeness, &self.select(chosen), self.dimension())
    }

    fn select(&self, chosen: &[usize]) -> Vec<f64> {
        let d = self.dimension();
        chosen.iter().flat_map(|&i| &self.points[i * d..(i + 1) * d]).copied().collect()
    }
}

/// A machine for numbers: epsilon-SVR.
pub(super) fn numbers(
    svm: &Svm,
    training: &Training,
    target: &[f64],
    run: &Run,
) -> Result<FittedSvm> {
    let all: Vec<usize> = (0..training.rows.len()).collect();
    let y: Vec<f64> = training.rows.iter().map(|&i| target[i]).collect();
    let (centre, spread) =
        if svm.standardise { centre_and_spread(&y, &training.weights) } else { (0.0, 1.0) };
    let bound = |sign: f64| training.weights.iter().map(|w| sign * svm.c * w).collect();
    let problem = Problem {
        target: y.iter().map(|y| (y - centre) / spread).collect(),
        low: bound(-1.0),
        high: bound(1.0),
        epsilon: svm.epsilon,
        tolerance: svm.tolerance,
    };
    let compared = training.compared(&all);
    let mut cache = RowCache::new(&compared, svm.cache * 1e6);
    let solution = solve(&problem, vec![0.0; all.len()], &mut cache, run)?;
    let vectors: Vec<usize> = all.into_iter().filter(|&i| solution.b[i] != 0.0).collect();
    let machine = Machine {
        coefficients: vectors.iter().map(|&i| solution.b[i]).collect(),
        first: 0..vectors.len(),
        second: 0..0,
        offset: solution.offset,
        sigmoid: Sigmoid::default(),
    };
    let diagnostics = diagnostics(&[&solution], vectors.len());
    Ok(FittedSvm::new(
        training.scales.clone(),
        training.likeness,
        training.select(&vectors),
        vec![machine],
        Output::Number { centre, spread },
        diagnostics,
    ))
}

fn centre_and_spread(y: &[f64], weights: &[f64]) -> (f64, f64) {
    let total: f64 = weights.iter().sum();
    let mean = y.iter().zip(weights).map(|(y, w)| y * w).sum::<f64>() / total;
    let square = y.iter().zip(weights).map(|(y, w)| w * (y - mean) * (y - mean)).sum::<f64>();
    let spread = (square / total).sqrt();
    (mean, if spread > 0.0 && spread.is_finite() { spread } else { 1.0 })
}

fn diagnostics(solutions: &[&Solution], vectors: usize) -> Diagnostics {
    Diagnostics {
        converged: Some(solutions.iter().all(|solution| solution.converged)),
        iterations: Some(solutions.iter().map(|solution| solution.iterations).sum()),
        notes: vec![format!("{vectors} support vectors")],
        ..Diagnostics::default()
    }
}

/// One class against another: rows of the first, then of the second.
struct Pair {
    rows: Vec<usize>,
    firsts: usize,
    solution: Solution,
    sigmoid: Sigmoid,
}

/// Machines for classes: C-SVC for each pair of them.
pub(super) fn classes(
    svm: &Svm,
    training: &Training,
    labels: &Labels,
    run: &Run,
) -> Result<FittedSvm> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); labels.classes().len()];
    for (at, &row) in training.rows.iter().enumerate() {
        members[labels.class(row)].push(at);
    }
    let seen: Vec<usize> = (0..members.len()).filter(|&c| !members[c].is_empty()).collect();
    let pairs: Vec<(usize, usize)> = seen
        .iter()
        .enumerate()
        .flat_map(|(n, &a)| seen[n + 1..].iter().map(move |&b| (a, b)))
        .collect();
    let memory = svm.cache * 1e6 / run.threads().min(pairs.len()).max(1) as f64;
    let fitted = pairs
        .par_iter()
        .enumerate()
        .map(|(p, &(a, b))| {
            pair(svm, training, [&members[a], &members[b]], memory, &run.child(p as u64))
        })
        .collect::<Result<Vec<Pair>>>()?;

    let mut is_vector = vec![false; training.rows.len()];
    for pair in &fitted {
        let used = pair.rows.iter().zip(&pair.solution.b).filter(|(_, b)| **b != 0.0);
        used.for_each(|(&row, _)| is_vector[row] = true);
    }
    // Support vectors class by class, so that those of a pair are two runs of them.
    let vectors_of = |c: usize| members[c].iter().copied().filter(|&row| is_vector[row]);
    let vectors: Vec<usize> = seen.iter().flat_map(|&c| vectors_of(c)).collect();
    let mut ends = vec![0];
    seen.iter().for_each(|&c| ends.push(ends[ends.len() - 1] + vectors_of(c).count()));
    let run_of = |c: usize| {
        let at = seen.partition_point(|&s| s < c);
        ends[at]..ends[at + 1]
    };
    let machine = |(&(a, b), pair): (&(usize, usize), &Pair)| Machine {
        coefficients: pair
            .rows
            .iter()
            .zip(&pair.solution.b)
            .filter(|(row, _)| is_vector[**row])
            .map(|(_, b)| *b)
            .collect(),
        first: run_of(a),
        second: run_of(b),
        offset: pair.solution.offset,
        sigmoid: pair.sigmoid,
    };
    let machines = pairs.iter().zip(&fitted).map(machine).collect();
    let solutions: Vec<&Solution> = fitted.iter().map(|pair| &pair.solution).collect();
    let diagnostics = diagnostics(&solutions, vectors.len());
    let total = training.weights.iter().sum::<f64>() + members.len() as f64;
    let output = Output::Classes { classes: members.len(), seen, unseen: 1.0 / total };
    let vectors = training.select(&vectors);
    Ok(FittedSvm::new(
        training.scales.clone(),
        training.likeness,
        vectors,
        machines,
        output,
        diagnostics,
    ))
}

/// Solves one pair, and once more without each fold for its calibration.
fn pair(
    svm: &Svm,
    training: &Training,
    [first, second]: [&[usize]; 2],
    memory: f64,
    run: &Run,
) -> Result<Pair> {
    let rows: Vec<usize> = first.iter().chain(second).copied().collect();
    let firsts = first.len();
    let cost = |i: usize| svm.c * training.weights[rows[i]];
    let problem = Problem {
        target: (0..rows.len()).map(|i| if i < firsts { 1.0 } else { -1.0 }).collect(),
        low: (0..rows.len()).map(|i| if i < firsts { 0.0 } else { -cost(i) }).collect(),
        high: (0..rows.len()).map(|i| if i < firsts { cost(i) } else { 0.0 }).collect(),
        epsilon: 0.0,
        tolerance: svm.tolerance,
    };
    let compared = training.compared(&rows);
    let mut cache = RowCache::new(&compared, memory);
    let solution = solve(&problem, vec![0.0; rows.len()], &mut cache, run)?;
    let mut pair = Pair { rows, firsts, solution, sigmoid: Sigmoid::default() };
    let keys = OwnedKeys::select(&training.keys.borrow(), &pair.rows);
    // Rows that cannot be set apart leave the machine uncalibrated.
    if let Ok(plan) = keys.borrow().folds(pair.rows.len(), FOLDS, run) {
        let scores = held_out_scores(&pair, &problem, &plan, &mut cache, run)?;
        let scored: Vec<Scored> = scores
            .into_iter()
            .map(|(i, score)| (score, i < firsts, training.weights[pair.rows[i]]))
            .collect();
        pair.sigmoid = Sigmoid::fit(&scored);
    }
    Ok(pair)
}

/// Each held-out row with its decision value by a machine that did not learn from it.
///
/// Rows that a fold does not learn from are held at 0: the kernel rows are then the same for all folds, and the decision
/// values of the fold are its entries of the gradient. Each fold starts from the solution of all rows, mended to satisfy its constraints.
fn held_out_scores(
    pair: &Pair,
    problem: &Problem,
    plan: &Plan,
    cache: &mut RowCache<'_>,
    run: &Run,
) -> Result<Vec<(usize, f64)>> {
    let rows = problem.target.len();
    let mut scores = Vec::with_capacity(rows);
    for split in plan.splits() {
        let mut is_learned = vec![false; rows];
        split.train(rows).iter().for_each(|&i| is_learned[i] = true);
        let left_out: Vec<usize> = (0..rows).filter(|&i| !is_learned[i]).collect();
        let mut without = problem.clone();
        for &i in &left_out {
            (without.low[i], without.high[i]) = (0.0, 0.0);
        }
        let left = |range: std::ops::Range<usize>| {
            range.into_iter().any(|i| without.low[i] < without.high[i])
        };
        let one_sided = match (left(0..pair.firsts), left(pair.firsts..rows)) {
            (true, true) => None,
            // With rows of one class only, that class is what a machine would say [ChangLin2011, svm_binary_svc_probability].
            (true, false) => Some(1.0),
            (false, true) => Some(-1.0),
            (false, false) => Some(0.0),
        };
        if let Some(score) = one_sided {
            scores.extend(split.test().iter().map(|&i| (i, score)));
            continue;
        }
        let start = mended(&pair.solution.b, &left_out);
        let solution = solve(&without, start, cache, run)?;
        let score = |i: usize| solution.gradient[i] + problem.target[i] - solution.offset;
        scores.extend(split.test().iter().map(|&i| (i, score(i))));
    }
    // In the order of the rows, in which sums are formed.
    scores.sort_unstable_by_key(|(i, _)| *i);
    Ok(scores)
}

/// The coefficients without those held out, and without what then is too much on one side.
fn mended(b: &[f64], held_out: &[usize]) -> Vec<f64> {
    let mut b = b.to_vec();
    held_out.iter().for_each(|&i| b[i] = 0.0);
    let mut excess: f64 = b.iter().sum();
    for value in &mut b {
        if *value * excess > 0.0 {
            let taken = if value.abs() < excess.abs() { *value } else { excess };
            *value -= taken;
            excess -= taken;
        }
    }
    b
}
