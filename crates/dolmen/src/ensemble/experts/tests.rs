//! What only the inside of EM shows.

use rand::RngExt;

use super::design::Design;
use super::em::{Family, Plan, best_of};
use super::gaussian::Gaussian;
use super::logistic::Softmax;
use crate::run::Run;
use crate::table::Features;

/// Some random problem: inputs with a column that copies another and one that is constant, weights, and numbers that follow
/// two lines with heavy tails.
struct Problem {
    design: Design,
    target: Vec<f64>,
    count: usize,
    plan: Plan,
    ridge: f64,
}

fn problem(seed: u64) -> Problem {
    let mut rng = Run::with_threads(seed, 1).unwrap().rng();
    let rows = rng.random_range(3..300);
    let mut values = Vec::new();
    let (mut target, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let (a, b) = (rng.random_range(-2.0..2.0), rng.random_range(-1.0..1.0f64));
        values.extend([a, b, a, 7.0]);
        let tail: f64 = 1.0 / rng.random_range(0.05..1.0) - 1.0;
        target.push(if a + b > 0.0 { a } else { -3.0 * a } + 0.1 * b.signum() * tail);
        weights.push(f64::from(rng.random_range(1..4)) / 2.0);
    }
    let x = Features::numeric(values, 4).unwrap();
    let chosen: Vec<usize> = (0..rows).collect();
    let prior = 10f64.powf(rng.random_range(-2.0..1.0));
    Problem {
        design: Design::new(x.rows(), Some(&weights), &chosen, prior),
        target,
        count: rng.random_range(2..6),
        plan: Plan {
            tolerance: 1e-12,
            iterations: 60,
            restarts: 2,
            gate_ridge: 10f64.powf(rng.random_range(-4.0..1.0)),
        },
        ridge: if seed.is_multiple_of(5) { 0.0 } else { 10f64.powf(rng.random_range(-4.0..1.0)) },
    }
}

/// Follows EM, and sees to it that the log posterior never falls by more than the rounding of its sums.
fn never_lowers(family: &impl Family, problem: &Problem, run: &Run) -> usize {
    let Problem { design, count, plan, .. } = problem;
    let climb = best_of(family, design, *count, *plan, run).unwrap();
    for pair in climb.objectives.windows(2) {
        let rounding = 1e-11 * (design.total() + pair[0].abs());
        assert!(pair[1] >= pair[0] - rounding, "{} fell to {}", pair[0], pair[1]);
    }
    climb.objectives.len()
}

#[test]
fn em_never_lowers_the_log_posterior() {
    let mut iterations = 0;
    for seed in 0..40 {
        let problem = problem(seed);
        let run = Run::with_threads(seed, 1).unwrap();
        let numbers = Gaussian::new(&problem.design, &problem.target, problem.ridge);
        iterations += never_lowers(&numbers, &problem, &run);
        let class = |t: &f64| if *t < 0.0 { 0 } else { 1 + u32::from(*t > 1.0) };
        let codes: Vec<u32> = problem.target.iter().map(class).collect();
        let classes = Softmax::new(&problem.design, codes, 3, problem.ridge, &run).unwrap();
        iterations += never_lowers(&classes, &problem, &run);
    }
    assert!(iterations > 1000, "only {iterations} iterations were looked at");
}

#[test]
fn experts_that_get_no_rows_keep_the_single_model() {
    let problem = problem(1);
    let family = Gaussian::new(&problem.design, &problem.target, 1.0);
    let rows = problem.design.rows();
    let mut first_gets_all = [1.0, 0.0].repeat(rows + 1);
    first_gets_all[2 * rows..].fill(0.5);
    let mut experts = family.several(2);
    let run = Run::with_threads(0, 1).unwrap();
    family.improve(&mut experts, &problem.design, &first_gets_all, &run).unwrap();
    let width = problem.design.width();
    let found = family.coefficients(&experts, width);
    let single = family.coefficients(&family.several(1), width);
    // The imagined rows hold the intercept and the variance; the penalty draws the slopes to 0.
    assert!((found[2 * width - 1] - single[width - 1]).abs() < 1e-12);
    assert!(found[width..2 * width - 1].iter().all(|b| b.abs() < 1e-12), "{found:?}");
    // The other expert has all rows and is the single model.
    assert!(found[..width].iter().zip(&single).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
}
