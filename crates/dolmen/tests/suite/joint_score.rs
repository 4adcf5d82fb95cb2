//! LMG weights: the gradient against differences, optimality, and that no other weights nearby are better.

use dolmen::run::Run;
use dolmen::solver::simplex::{JointScore, LmgOptions};

/// Log joint probabilities of three classes for members that are right more or less often.
fn columns(rows: usize, members: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let wave = |i: usize, m: usize, c: usize| ((i * 7 + m * 13 + c * 5) as f64 * 0.61).sin() * 1.5;
    let log_sum = |logs: [f64; 3]| logs.map(f64::exp).iter().sum::<f64>().ln();
    let joint = |i: usize, m: usize| {
        let level = -400.0 + 3.0 * ((i * (m + 2)) as f64 * 0.37).cos();
        std::array::from_fn::<f64, 3, _>(|c| {
            level + wave(i, m, c) + if c == i % 3 { 0.3 * m as f64 } else { 0.0 }
        })
    };
    let own = |m| (0..rows).map(|i| joint(i, m)[i % 3]).collect();
    let all = |m| {
        (0..rows)
            .map(|i| {
                let logs = joint(i, m);
                logs[0] + log_sum(logs.map(|l| l - logs[0]))
            })
            .collect()
    };
    ((0..members).map(own).collect(), (0..members).map(all).collect())
}

/// The objective without its prior, row by row.
fn score(own: &[Vec<f64>], all: &[Vec<f64>], weights: &[f64]) -> f64 {
    let mixed = |columns: &[Vec<f64>], i: usize| {
        columns.iter().zip(weights).map(|(c, w)| w * (c[i] + 400.0).exp()).sum::<f64>().ln()
    };
    (0..own[0].len()).map(|i| mixed(own, i) - mixed(all, i)).sum()
}

#[test]
fn the_conditions_hold_and_the_score_is_that_of_the_weights() {
    let (own, all) = columns(60, 4);
    let run = Run::with_threads(3, 1).unwrap();
    for exponent in [1.0, 2.0, 5.0] {
        let problem = JointScore::from_log(own.clone(), all.clone()).unwrap();
        let problem = problem.with_prior(&[exponent; 4]).unwrap();
        let found = problem.solve(&LmgOptions::default(), &run).unwrap();
        assert!(found.residual <= 1e-8, "{}", found.residual);
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found.score * 60.0 - score(&own, &all, &found.weights)).abs() < 1e-8);
    }
}

/// Members whose probabilities are of unlike size: where one is drowned out by the other, there is a maximum in between and one on
/// either side.
#[test]
fn the_mixture_is_no_worse_than_its_best_member() {
    let run = Run::with_threads(3, 1).unwrap();
    for seed in 0..40 {
        let (mut own, mut all) = columns(30 + seed, 3);
        let lift = |column: &mut Vec<f64>, by: f64| column.iter_mut().for_each(|log| *log += by);
        for (m, by) in [(0, 4.0), (1, -(seed as f64) / 4.0)] {
            lift(&mut own[m], by);
            lift(&mut all[m], by);
        }
        let problem = JointScore::from_log(own.clone(), all.clone()).unwrap();
        let found = problem.solve(&LmgOptions::default(), &run).unwrap();
        for weights in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            let alone = score(&own, &all, &weights);
            assert!(
                found.score * own[0].len() as f64 >= alone - 1e-9,
                "{seed}: {found:?}, {alone}"
            );
        }
    }
}

#[test]
fn no_weights_nearby_are_better() {
    let (own, all) = columns(60, 4);
    let run = Run::with_threads(3, 1).unwrap();
    let problem = JointScore::from_log(own.clone(), all.clone()).unwrap();
    let problem = problem.with_prior(&[2.0; 4]).unwrap();
    let found = problem.solve(&LmgOptions::default(), &run).unwrap().weights;
    let posterior =
        |weights: &[f64]| score(&own, &all, weights) + weights.iter().map(|w| w.ln()).sum::<f64>();
    for from in 0..4 {
        for to in (0..4).filter(|to| *to != from) {
            let mut moved = found.clone();
            let step = 1e-3 * moved[from];
            moved[from] -= step;
            moved[to] += step;
            assert!(posterior(&moved) < posterior(&found));
        }
    }
}

#[test]
fn members_that_are_the_same_everywhere_share_and_one_alone_has_all() {
    let (own, all) = columns(20, 1);
    let run = Run::with_threads(3, 1).unwrap();
    let alone = JointScore::from_log(own.clone(), all.clone()).unwrap();
    assert_eq!(alone.solve(&LmgOptions::default(), &run).unwrap().weights, [1.0]);
    let twice = JointScore::from_log(vec![own[0].clone(); 2], vec![all[0].clone(); 2]).unwrap();
    let found = twice.with_prior(&[2.0, 2.0]).unwrap().solve(&LmgOptions::default(), &run).unwrap();
    assert!((found.weights[0] - 0.5).abs() < 1e-9);
}
