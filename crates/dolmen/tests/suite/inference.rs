//! How sure weights are: errors against one another and against the truth, losses against direct refits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::combine::weigh::{Errors, WeighOptions, Weighing, weigh};
use dolmen::combine::{Method, Weighable, Weights};
use dolmen::oos::{CheckKind, OutOfSample};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::solver::simplex::{LogScore, SimplexOptions};
use dolmen::task::{Density, Regression};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn weighed<T: Weighable>(oos: &OutOfSample<T>, errors: Errors, draws: usize) -> Weighing {
    weigh(oos, &WeighOptions { weights: Weights::default(), errors, draws }, &run()).unwrap()
}

/// Rows drawn from a mixture of normals of variance 1, and the log density each component gives them: the weights that
/// are best in the long run are the mixture's own.
fn normals(centres: &[f64], weights: &[f64], rows: usize, seed: u64) -> Vec<(String, Vec<f64>)> {
    let mut rng = Run::with_threads(seed, 1).unwrap().rng();
    let mut draw = || {
        let mut left: f64 = rng.random();
        let own = weights.iter().position(|w| {
            left -= w;
            left < 0.0
        });
        let noise: f64 = StandardNormal.sample(&mut rng);
        centres[own.unwrap_or(weights.len() - 1)] + noise
    };
    let x: Vec<f64> = (0..rows).map(|_| draw()).collect();
    let log = |centre: f64| x.iter().map(|x| -0.5 * (x - centre).powi(2)).collect();
    centres.iter().map(|&centre| (format!("at {centre}"), log(centre))).collect()
}

fn density(columns: Vec<(String, Vec<f64>)>) -> OutOfSample<Density> {
    OutOfSample::from_columns(columns, (), None).unwrap()
}

#[test]
fn sandwich_and_bootstrap_errors_agree_inside_the_simplex() {
    let oos = density(normals(&[-2.0, 0.0, 2.5], &[0.3, 0.3, 0.4], 4000, 5));
    let sandwich = weighed(&oos, Errors::Sandwich, 0);
    let bootstrap = weighed(&oos, Errors::Bootstrap, 400);
    for (a, b) in sandwich.members.iter().zip(&bootstrap.members) {
        assert_eq!(a.weight, b.weight);
        assert!(a.weight > 0.1, "{}: the problem is meant to be an interior one", a.name);
        let ratio = a.se.unwrap() / b.se.unwrap();
        assert!((0.8..1.25).contains(&ratio), "{}: {:?} {:?}", a.name, a.se, b.se);
        let [low, high] = b.interval.unwrap();
        assert!(low < b.weight && b.weight < high);
        // 90 % of a normal distribution is 3.29 standard errors wide.
        let width = (high - low) / b.se.unwrap();
        assert!((2.9..3.7).contains(&width), "{width}");
    }
}

#[test]
fn sandwich_and_bootstrap_errors_agree_for_numbers() {
    let mut rng = run().child(3).rng();
    let mut noise = || -> f64 { StandardNormal.sample(&mut rng) };
    let truth: Vec<f64> = (0..4000).map(|_| noise()).collect();
    let mut member = |error: f64| truth.iter().map(|y| y + error * noise()).collect::<Vec<f64>>();
    let columns = vec![("a".to_string(), member(1.0)), ("b".to_string(), member(1.5))];
    let oos = OutOfSample::<Regression>::from_columns(columns, truth, None).unwrap();
    let sandwich = weighed(&oos, Errors::Sandwich, 0);
    let bootstrap = weighed(&oos, Errors::Bootstrap, 400);
    // Independent errors: the best weights are inverse to their variances, 1 : 2.25.
    assert!(
        (sandwich.members[0].weight - 2.25 / 3.25).abs() < 4.0 * sandwich.members[0].se.unwrap()
    );
    let ratio = sandwich.members[0].se.unwrap() / bootstrap.members[0].se.unwrap();
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn bootstrap_intervals_cover_the_true_weight() {
    let covered = (0..100).filter(|seed| {
        let oos = density(normals(&[0.0, 2.0], &[0.4, 0.6], 200, 100 + seed));
        let [low, high] = weighed(&oos, Errors::Bootstrap, 100).members[0].interval.unwrap();
        (low..=high).contains(&0.4)
    });
    let covered = covered.count();
    assert!((80..=98).contains(&covered), "{covered} of 100 intervals of 90 % cover the truth");
}

#[test]
fn a_loss_is_what_a_refit_without_the_member_loses() {
    let columns = normals(&[-2.0, 0.0, 1.0, 2.5], &[0.3, 0.3, 0.0, 0.4], 300, 8);
    let found = weighed(&density(columns.clone()), Errors::Bootstrap, 20);
    for (m, member) in found.members.iter().enumerate() {
        let others = columns.iter().enumerate().filter(|(k, _)| *k != m);
        let others = others.map(|(_, (_, column))| column.clone()).collect();
        let problem = LogScore::from_log(others).unwrap();
        let without = problem.solve(&SimplexOptions::default(), &run()).unwrap();
        let loss = member.loo_loss.unwrap();
        assert!(loss >= -1e-9, "{}: {loss}", member.name);
        assert!((loss - (found.score - without.score)).abs() < 1e-8, "{}: {loss}", member.name);
    }
}

#[test]
fn identical_members_are_interchangeable_and_different_ones_are_not() {
    let mut columns = normals(&[-2.0, 2.5], &[0.5, 0.5], 400, 2);
    columns.push(("twin".to_string(), columns[0].1.clone()));
    let found = weighed(&density(columns), Errors::Bootstrap, 20);
    assert_eq!(found.interchangeable, [["at -2".to_string(), "twin".to_string()]]);
    let alone =
        weighed(&density(normals(&[-2.0, 2.5], &[0.5, 0.5], 400, 2)), Errors::Bootstrap, 20);
    assert_eq!(alone.interchangeable, Vec::<Vec<String>>::new());
    assert!((found.score - alone.score).abs() < 1e-9);
}

#[test]
fn alike_is_tested_both_ways_and_not_chained() {
    // A member of noise, with little weight and nothing to lose, is not alike the one that carries the mixture.
    let mut columns = normals(&[-2.0, 0.0, 2.5], &[0.45, 0.1, 0.45], 200, 11);
    let mut rng = Run::with_threads(3, 1).unwrap().rng();
    let noise = columns[0].1.iter().map(|v| v + 2.0 * rng.random::<f64>() - 1.5).collect();
    columns.push(("noise".into(), noise));
    columns.push(("useless".into(), columns[1].1.iter().map(|v| v - 3.0).collect()));
    let found = weighed(&density(columns), Errors::Bootstrap, 50);
    for group in &found.interchangeable {
        let of = |name: &String| found.members.iter().find(|m| m.name == *name).unwrap();
        // Without the dearest of a group the others must make up for it.
        let dearest = group.iter().map(of).map(|m| m.loo_loss.unwrap()).fold(0.0, f64::max);
        assert!(dearest < 0.05, "{group:?} {found:?}");
        assert!(!group.contains(&"useless".to_string()), "{group:?}");
    }
}

#[test]
fn identical_columns_have_equal_weights_errors_and_intervals() {
    let mut columns = normals(&[-2.0, 0.0, 2.5], &[0.4, 0.2, 0.4], 60, 2);
    columns.push(("third".into(), columns[2].1.clone()));
    columns.insert(0, ("first".into(), columns[2].1.clone()));
    let found = weighed(&density(columns), Errors::Bootstrap, 100);
    let twins: Vec<_> = ["first", "at 2.5", "third"]
        .map(|name| found.members.iter().find(|m| m.name == name).unwrap())
        .to_vec();
    for twin in &twins {
        assert_eq!(
            (twin.weight, twin.se, twin.interval),
            (twins[0].weight, twins[0].se, twins[0].interval)
        );
    }
    assert!(twins[0].weight > 0.05);
    assert_eq!(found.interchangeable, [["first", "at 2.5", "third"].map(String::from)]);
}

#[test]
fn an_interval_holds_its_weight_or_says_that_it_was_stretched() {
    for seed in 0..20 {
        let columns = normals(&[-2.0, -0.5, 0.0, 0.4, 2.5], &[0.1, 0.3, 0.2, 0.3, 0.1], 25, seed);
        for member in weighed(&density(columns), Errors::Bootstrap, 60).members {
            let [low, high] = member.interval.unwrap();
            assert!((low..=high).contains(&member.weight), "{member:?}");
            let at_edge = member.weight == low || member.weight == high;
            assert!(!member.beyond_resamples || at_edge, "{member:?}");
        }
    }
}

#[test]
fn a_member_without_weight_has_a_bootstrap_error_and_no_sandwich_error() {
    // The member at 1 is not needed by the truth; on some resamples it gets weight all the same.
    let oos = density(normals(&[-2.0, 1.0, 2.5], &[0.5, 0.0, 0.5], 200, 4));
    let sandwich = weighed(&oos, Errors::Sandwich, 0);
    let bootstrap = weighed(&oos, Errors::Bootstrap, 100);
    assert_eq!(bootstrap.members[1].weight, 0.0, "the seed is chosen so");
    assert_eq!(sandwich.members[1].se, None);
    assert!(bootstrap.members[1].se.unwrap() > 0.0);
    assert_eq!(bootstrap.members[1].loo_loss, Some(0.0));
}

#[test]
fn weighing_has_the_same_bits_on_one_thread_and_two() {
    let oos = density(normals(&[-2.0, 0.0, 2.5], &[0.3, 0.3, 0.4], 500, 1));
    for method in [Method::Simplex, Method::Greedy, Method::PseudoBmaPlus] {
        let weights = Weights { rounds: 10, draws: 20, ..Weights::from(method) };
        let options = WeighOptions { weights, errors: Errors::Bootstrap, draws: 20 };
        let on = |threads| {
            let run = Run::with_threads(3, threads).unwrap();
            weigh(&oos, &options, &run).unwrap()
        };
        assert_eq!(on(1), on(2), "{method}");
    }
}

#[test]
fn estimates_by_hand() {
    let found = Estimate::of(&[1.0, 2.0, 6.0], &[1.0 / 3.0; 3]);
    assert!((found.mean - 3.0).abs() < 1e-15);
    // Variance 7, over 3 rows.
    assert!((found.se.unwrap() - (7.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    assert_eq!(Estimate::of(&[4.0], &[1.0]), Estimate { mean: 4.0, se: None });
    let inf = f64::NEG_INFINITY;
    // Both -inf says nothing; one -inf is an infinite difference; a row without a share is not looked at.
    let shares = [0.5, 0.5, 0.0];
    let same = Estimate::of_difference(&[inf, 1.0, 9.0], &[inf, 0.0, f64::NAN], &shares);
    assert_eq!(same.mean, 0.5);
    let worse = Estimate::of_difference(&[1.0, inf, 0.0], &[0.0, 0.0, 0.0], &shares);
    assert_eq!(worse, Estimate { mean: inf, se: None });
}

/// Rows of one group are copies of one another: weights found on some and tried on others of the same group would remember
/// them.
#[test]
fn cross_checks_keep_groups_together_and_rows_in_order_of_time() {
    let (groups, copies, members) = (12, 5, 40);
    let noise = |g: usize, m: usize| -3.0 * ((g * 31 + m * 17) as f64 * 0.7331).sin().abs();
    let column = |m: usize| {
        let values = (0..groups * copies).map(|i| noise(i / copies, m)).collect();
        (format!("m{m}"), values)
    };
    let plain = density((0..members).map(column).collect());
    let of_rows: Vec<u32> = (0..groups * copies).map(|i| (i / copies) as u32).collect();
    let grouped = plain.clone().grouped(of_rows).unwrap();
    let honest =
        |oos: &OutOfSample<Density>| weighed(oos, Errors::Sandwich, 0).cross_validated.unwrap();
    let (torn, whole) = (honest(&plain), honest(&grouped));
    assert!(whole.score < torn.score - 0.1, "{} {}", whole.score, torn.score);
    // What was known of later rows cannot help earlier ones: the last block is the only one that a change of it moves.
    let times: Vec<f64> = (0..groups * copies).map(|i| i as f64).collect();
    let timed = honest(&plain.clone().timed(times).unwrap());
    assert_eq!(timed.kind, CheckKind::Forward);
    assert_eq!(whole.kind, CheckKind::Matrix);
    assert!(timed.folds > 1);
    // The first rows are never tried: means are over the others.
    let times: Vec<f64> = (0..60).map(f64::from).collect();
    let level = density(["a", "b"].map(|name| (name.to_string(), vec![-2.0; 60])).into());
    let level = honest(&level.timed(times).unwrap());
    let score = Estimate { mean: level.score, se: level.score_se };
    for found in [score, level.uniform.unwrap()] {
        assert!((found.mean + 2.0).abs() < 1e-12 && found.se.unwrap() < 1e-12, "{found:?}");
    }
}

/// The combination and equal weights have the errors of their own row scores.
#[test]
fn scores_have_errors() {
    let logs = |values: [f64; 12]| values.map(f64::ln).to_vec();
    let columns = vec![
        ("a".to_string(), logs([0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4, 0.5, 0.5, 0.1, 0.9])),
        ("b".to_string(), logs([0.2, 0.8, 0.1, 0.9, 0.3, 0.6, 0.5, 0.4, 0.5, 0.2, 0.8, 0.3])),
    ];
    let oos = density(columns);
    let found = weighed(&oos, Errors::Sandwich, 0);
    let of = |weights: [f64; 2]| {
        let row = |i: usize| -> f64 {
            let parts = (0..2).map(|m| weights[m] * oos.column(m)[i].exp());
            parts.sum::<f64>().ln()
        };
        Estimate::of(&(0..12).map(row).collect::<Vec<f64>>(), &[1.0 / 12.0; 12])
    };
    let own = of([found.members[0].weight, found.members[1].weight]);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    near(own.mean, found.score);
    near(own.se.unwrap(), found.score_se.unwrap());
    let (equal, uniform) = (of([0.5; 2]), found.uniform.unwrap());
    near(equal.mean, uniform.mean);
    near(equal.se.unwrap(), uniform.se.unwrap());
    near(found.score - uniform.mean, found.gain_over_uniform.mean);
}

/// Squared errors have the square of the target's unit, whatever that is.
#[test]
fn who_can_stand_in_for_whom_does_not_depend_on_the_unit() {
    let truth: Vec<f64> = (0..80).map(|i| (f64::from(i) * 0.9).sin() * 3.0).collect();
    let off = |by: f64, every: usize| -> Vec<f64> {
        truth.iter().enumerate().map(|(i, y)| if i % every == 0 { y + by } else { *y }).collect()
    };
    let columns = [("a", off(1.0, 2)), ("b", off(-1.5, 3)), ("c", off(2.0, 5))];
    let alike = |unit: f64| {
        let scaled = |values: &[f64]| values.iter().map(|v| v * unit).collect::<Vec<f64>>();
        let columns = columns.iter().map(|(name, v)| (name.to_string(), scaled(v))).collect();
        let oos = OutOfSample::<Regression>::from_columns(columns, scaled(&truth), None).unwrap();
        weighed(&oos, Errors::Sandwich, 0).interchangeable
    };
    assert_eq!(alike(1.0), Vec::<Vec<String>>::new());
    for unit in [1e-12, 1e-5, 1e6] {
        assert_eq!(alike(unit), alike(1.0), "{unit}");
    }
}
