//! The methods beside the exact ones: greedy selection, pseudo-BMA, best, uniform.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::combine::weigh::{Errors, WeighOptions, Weighing, weigh};
use dolmen::combine::{Method, Weighable, Weights};
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::score::Measure;
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Regression, Task};
use proptest::prelude::*;
use rand_distr::{Distribution, Exp1};

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn weighed<T: Weighable>(oos: &OutOfSample<T>, weights: Weights) -> Weighing {
    let options = WeighOptions { weights, errors: Errors::None, draws: 2 };
    weigh(oos, &options, &run()).unwrap()
}

fn weights_of(weighing: &Weighing) -> Vec<f64> {
    weighing.members.iter().map(|m| m.weight).collect()
}

fn named<const M: usize>(columns: [Vec<f64>; M]) -> Vec<(String, Vec<f64>)> {
    columns.into_iter().enumerate().map(|(m, c)| (format!("m{m}"), c)).collect()
}

fn greedy(measure: Option<Measure>, rounds: usize) -> Weights {
    Weights { method: Method::Greedy, measure, rounds, ..Weights::default() }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

#[test]
fn greedy_by_squared_and_absolute_error_worked_by_hand() {
    // Round 1: squared errors 1, 4, 100 and absolute 1, 2, 10: m0. Round 2: with m1 the mean is (-1 + 2) / 2 = 0.5, error
    // 0.25; m0 again leaves 1. Round 3: sum 1, with m0 again 0: error 0, and nothing later is better.
    let oos = |target| {
        let columns = named([vec![-1.0; 3], vec![2.0; 3], vec![10.0; 3]]);
        OutOfSample::<Regression>::from_columns(columns, target, None).unwrap()
    };
    for measure in [None, Some(Measure::Squared), Some(Measure::Absolute)] {
        let found = weighed(&oos(vec![0.0; 3]), greedy(measure, 10));
        assert_close(&weights_of(&found), &[2.0 / 3.0, 1.0 / 3.0, 0.0], 1e-15);
        let short = weighed(&oos(vec![0.0; 3]), greedy(measure, 2));
        assert_close(&weights_of(&short), &[0.5, 0.5, 0.0], 1e-15);
    }
    // Squared and absolute error part ways: targets 0, 0, 9 make the middle the mean or the median.
    let columns = || named([vec![0.0; 3], vec![3.0; 3]]);
    let far = OutOfSample::<Regression>::from_columns(columns(), vec![0.0, 0.0, 9.0], None);
    let far = far.unwrap();
    let squared = weighed(&far, greedy(Some(Measure::Squared), 1));
    let absolute = weighed(&far, greedy(Some(Measure::Absolute), 1));
    assert_eq!(weights_of(&squared), [0.0, 1.0]);
    assert_eq!(weights_of(&absolute), [1.0, 0.0]);
}

/// Two classes; a member is given by its probabilities of class `a`.
fn two_classes<const M: usize>(truth: &[u32], members: [&[f64]; M]) -> OutOfSample<Classification> {
    let labels = Labels::new(["a".to_string(), "b".to_string()], truth.to_vec()).unwrap();
    let rows = |p: &[f64]| p.iter().flat_map(|p| [*p, 1.0 - p]).collect();
    OutOfSample::from_columns(named(members.map(rows)), labels, None).unwrap()
}

#[test]
fn greedy_by_the_measures_of_classes_worked_by_hand() {
    let oos = two_classes(&[0, 0, 1], [&[0.9, 0.45, 0.45], &[0.2, 0.8, 0.4], &[0.6, 0.6, 0.6]]);
    // Errors: m0 takes row 2 for b, m1 row 1, m2 row 3: one each, so the first. Round 2: with m1 the means are
    // 0.55, 0.625, 0.425: no error.
    let error = weighed(&oos, greedy(Some(Measure::Error), 20));
    assert_eq!(weights_of(&error), [0.5, 0.5, 0.0]);
    // Brier, per row 2 (1 - p_true)^2: m0 0.02 + 0.605 + 0.405, m1 1.28 + 0.08 + 0.32, m2 0.32 + 0.32 + 0.72: m0.
    // Round 2: m0 + m1 gives 0.405 + 0.28125 + 0.36125 = 1.0475, m0 + m2 0.125 + 0.45125 + 0.55125, m0 1.03: m0 stays.
    let brier = weighed(&oos, greedy(Some(Measure::Brier), 2));
    assert_eq!(weights_of(&brier), [1.0, 0.0, 0.0]);
    // Log, product of p_true: m0 0.9 * 0.45 * 0.55, m1 0.2 * 0.8 * 0.6, m2 0.6 * 0.6 * 0.4: m0 with 0.22275.
    // Round 2 with m1: 0.55 * 0.625 * 0.575 = 0.19766, with m2 0.75 * 0.525 * 0.475 = 0.18703: m0 stays.
    for measure in [None, Some(Measure::Log)] {
        let log = weighed(&oos, greedy(measure, 2));
        assert_eq!(weights_of(&log), [1.0, 0.0, 0.0]);
    }
}

#[test]
fn greedy_mixes_densities_and_not_their_logarithms() {
    // Alone: ln(0.9 * 0.1) each. Half and half: ln 0.25, which no other mixture of two or three rounds reaches.
    let logs = |p: [f64; 2]| p.map(f64::ln).to_vec();
    let columns = named([logs([0.9, 0.1]), logs([0.1, 0.9])]);
    let oos = OutOfSample::<Density>::from_columns(columns, (), None).unwrap();
    let found = weighed(&oos, greedy(None, 3));
    assert_eq!(weights_of(&found), [0.5, 0.5]);
    assert!((found.score - 0.5_f64.ln()).abs() < 1e-15);
}

#[test]
fn greedy_without_rounds_and_measures_that_do_not_suit_are_refused() {
    let oos = two_classes(&[0, 1], [&[0.5, 0.5]]);
    for bad in [greedy(None, 0), greedy(Some(Measure::Squared), 5)] {
        let options = WeighOptions { weights: bad, errors: Errors::None, draws: 2 };
        assert!(weigh(&oos, &options, &run()).is_err());
    }
}

/// The mean of a measure over the rows, under weights.
fn measured(oos: &OutOfSample<Classification>, weights: &[f64], measure: Measure) -> f64 {
    let mut row = [0.0; 2];
    let mut total = 0.0;
    for i in 0..oos.rows() {
        Classification::mix(weights, |m| oos.row(m, i), &mut row);
        total += Classification::measure(measure, &row, oos.target(), i).unwrap();
    }
    total / oos.rows() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn greedy_is_never_worse_than_the_best_member_on_its_own_measure(
        cells in prop::collection::vec(0.01..0.99_f64, 25 * 3),
        truth in prop::collection::vec(0..2_u32, 25),
    ) {
        let oos = two_classes(&truth, [&cells[..25], &cells[25..50], &cells[50..]]);
        for measure in [Measure::Log, Measure::Brier, Measure::Error] {
            let found = weights_of(&weighed(&oos, greedy(Some(measure), 20)));
            let together = measured(&oos, &found, measure);
            for m in 0..3 {
                let mut alone = [0.0; 3];
                alone[m] = 1.0;
                prop_assert!(together >= measured(&oos, &alone, measure) - 1e-12, "{measure} {m}");
            }
        }
    }
}

fn densities() -> OutOfSample<Density> {
    let column = |m: usize| (0..30).map(|i| -((i * (m + 2)) as f64 * 0.3).sin().abs()).collect();
    let columns = named([column(0), column(1), column(2)]);
    OutOfSample::from_columns(columns, (), None).unwrap()
}

/// exp(total) / sum of exp(total), from the definition.
fn soft_max(totals: &[f64]) -> Vec<f64> {
    let total: f64 = totals.iter().map(|t| t.exp()).sum();
    totals.iter().map(|t| t.exp() / total).collect()
}

#[test]
fn pseudo_bma_from_its_definition() {
    let oos = densities();
    let totals: Vec<f64> = (0..3).map(|m| oos.column(m).iter().sum()).collect();
    let found = weighed(&oos, Weights::from(Method::PseudoBma));
    assert_close(&weights_of(&found), &soft_max(&totals), 1e-12);
}

#[test]
fn pseudo_bma_plus_from_its_definition() {
    let oos = densities();
    let draws = 4000;
    let weights = Weights { draws, ..Weights::from(Method::PseudoBmaPlus) };
    let found = weights_of(&weighed(&oos, weights));
    // Independent draws: the two means differ by at most five standard errors of their difference.
    let mut rng = Run::with_threads(99, 1).unwrap().rng();
    let mut sums = [[0.0; 2]; 3];
    for _ in 0..draws {
        let shares: Vec<f64> = (0..30).map(|_| Exp1.sample(&mut rng)).collect();
        let total: f64 = shares.iter().sum();
        let totals: Vec<f64> = (0..3)
            .map(|m| {
                30.0 * oos.column(m).iter().zip(&shares).map(|(v, s)| v * s / total).sum::<f64>()
            })
            .collect();
        for (sum, w) in sums.iter_mut().zip(soft_max(&totals)) {
            *sum = [sum[0] + w, sum[1] + w * w];
        }
    }
    for (m, [first, second]) in sums.iter().enumerate() {
        let n = f64::from(draws as u32);
        let mean = first / n;
        let se = ((second / n - mean * mean) / n).sqrt();
        assert!((found[m] - mean).abs() < 5.0 * 2_f64.sqrt() * se, "{m}: {} {mean}", found[m]);
    }
}

#[test]
fn pseudo_bma_plus_without_draws_is_refused() {
    let weights = Weights { draws: 0, ..Weights::from(Method::PseudoBmaPlus) };
    let options = WeighOptions { weights, errors: Errors::None, draws: 2 };
    assert!(weigh(&densities(), &options, &run()).is_err());
}

#[test]
fn best_and_uniform() {
    let oos = densities();
    let totals: Vec<f64> = (0..3).map(|m| oos.column(m).iter().sum()).collect();
    let best = (0..3).fold(0, |best, m| if totals[m] > totals[best] { m } else { best });
    let found = weighed(&oos, Weights::from(Method::Best));
    assert_eq!(found.members[best].weight, 1.0);
    assert_eq!(found.best, format!("m{best}"));
    assert_eq!(found.gain_over_best.mean, 0.0);
    assert_eq!(weights_of(&weighed(&oos, Weights::from(Method::Uniform))), [1.0 / 3.0; 3]);
}

#[test]
fn a_best_member_with_a_zero_density_loses_to_any_without() {
    let columns = named([vec![5.0, f64::NEG_INFINITY, 5.0], vec![-9.0; 3]]);
    let oos = OutOfSample::<Density>::from_columns(columns, (), None).unwrap();
    assert_eq!(weights_of(&weighed(&oos, Weights::from(Method::Best))), [0.0, 1.0]);
    assert_eq!(weights_of(&weighed(&oos, Weights::from(Method::PseudoBma))), [0.0, 1.0]);
    // Stacking can use it all the same.
    assert!(weighed(&oos, Weights::default()).members[0].weight > 0.5);
}
