//! The weight solver: golden values, agreement with EM, certificates, and the hard cases.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which may fail")]

use dolmen::math::log_sum_exp;
use dolmen::run::Run;
use dolmen::solver::Solution;
use dolmen::solver::problem::WeightProblem;
use dolmen::solver::simplex::{EmOptions, LogScore, SimplexOptions};
use proptest::prelude::*;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn columns(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..rows[0].len()).map(|m| rows.iter().map(|row| row[m]).collect()).collect()
}

fn golden() -> (LogScore, Value) {
    let text = include_str!("../fixtures/stack_weights.json");
    let golden = serde_json::from_str::<Value>(text).unwrap()["stack_weights"].clone();
    let rows: Vec<Vec<f64>> =
        golden["likelihood"].as_array().unwrap().iter().map(numbers).collect();
    (LogScore::from_likelihood(columns(&rows)).unwrap(), golden)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

fn exact(problem: &LogScore) -> Solution {
    problem.solve(&SimplexOptions::default(), &run()).unwrap()
}

#[test]
fn golden_optimum() {
    let (problem, golden) = golden();
    let found = exact(&problem);
    assert_close(&found.weights, &numbers(&golden["optimum"]["weights"]), 1e-9);
    let rows = problem.rows() as f64;
    assert!((found.score * rows - golden["optimum"]["loglik"].as_f64().unwrap()).abs() < 1e-9);
    assert!(found.gap <= 1e-10 && found.converged);
}

#[test]
fn golden_em_path_and_stopping_rule() {
    let (problem, golden) = golden();
    for (n, expected) in golden["weights_after_1_to_5"].as_array().unwrap().iter().enumerate() {
        let options = EmOptions { tolerance: 0.0, max_iterations: n + 1 };
        assert_close(&problem.em(&options, &run()).unwrap().weights, &numbers(expected), 1e-12);
    }
    let stopped = problem.em(&EmOptions::default(), &run()).unwrap();
    let expected = &golden["tol_1e-3"];
    assert_eq!(stopped.iterations as u64, expected["iterations"].as_u64().unwrap());
    assert_close(&stopped.weights, &numbers(&expected["weights"]), 1e-9);
    let loglik = stopped.score * problem.rows() as f64;
    assert!((loglik - expected["loglik"].as_f64().unwrap()).abs() < 1e-9);
}

/// Random log densities: rows share a level (so that scales differ wildly), members may repeat or mix one another.
fn random_problem() -> impl Strategy<Value = Vec<Vec<f64>>> {
    let sizes = (1..60_usize, 1..12_usize);
    let matrix = sizes.prop_flat_map(|(rows, members)| {
        let cells = prop::collection::vec(-4.0..4.0_f64, rows * members);
        let levels = prop::collection::vec(-800.0..700.0_f64, rows);
        let kinds = prop::collection::vec((0..4_u8, 0..members, 0..members), members);
        (cells, levels, kinds)
    });
    matrix.prop_map(|(cells, levels, kinds)| {
        let rows = levels.len();
        let mut columns: Vec<Vec<f64>> = cells
            .chunks(rows)
            .map(|c| c.iter().zip(&levels).map(|(c, level)| c + level).collect())
            .collect();
        for (m, &(kind, a, b)) in kinds.iter().enumerate() {
            match kind {
                0 => {
                    let copy = columns[a].clone();
                    columns[m] = copy;
                }
                1 => {
                    let mid = |i: usize| log_sum_exp(&[columns[a][i], columns[b][i]]) - 2_f64.ln();
                    columns[m] = (0..rows).map(mid).collect();
                }
                2 if m > 0 => columns[m][(a + b) % rows] = f64::NEG_INFINITY,
                _ => {}
            }
        }
        columns
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_certificate_is_small_and_em_does_no_better(columns in random_problem()) {
        let problem = LogScore::from_log(columns).unwrap();
        let found = exact(&problem);
        prop_assert!(found.gap <= 1e-9, "gap {} after {}", found.gap, found.iterations);
        prop_assert!(found.weights.iter().all(|w| *w >= 0.0));
        prop_assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let em = problem.em(&EmOptions { tolerance: 1e-13, max_iterations: 20_000 }, &run()).unwrap();
        prop_assert!(em.score <= found.score + 1e-12 * (1.0 + found.score.abs()));
        // The certificate holds for EM's weights too, and bounds what they miss.
        prop_assert!(found.score - em.score <= em.gap + 1e-12 * (1.0 + found.score.abs()));
        if em.gap < 1e-9 {
            prop_assert!((found.score - em.score).abs() <= 1e-8);
        }
    }

    #[test]
    fn permuting_rows_and_members_permutes_the_weights(
        cells in prop::collection::vec(-3.0..3.0_f64, 40 * 4),
        turn in 1..40_usize,
    ) {
        let columns: Vec<Vec<f64>> = cells.chunks(40).map(<[f64]>::to_vec).collect();
        let mut turned = columns.clone();
        turned.iter_mut().for_each(|c| c.rotate_left(turn));
        turned.rotate_left(1);
        let here = exact(&LogScore::from_log(columns).unwrap());
        let mut there = exact(&LogScore::from_log(turned).unwrap()).weights;
        there.rotate_right(1);
        for (a, b) in here.weights.iter().zip(&there) {
            prop_assert!((a - b).abs() < 1e-6, "{:?} {:?}", here.weights, there);
        }
    }

    #[test]
    fn a_row_of_weight_two_is_a_row_twice(cells in prop::collection::vec(-3.0..3.0_f64, 30 * 3)) {
        let columns: Vec<Vec<f64>> = cells.chunks(30).map(<[f64]>::to_vec).collect();
        let weights: Vec<f64> = (0..30).map(|i| if i < 5 { 2.0 } else { 1.0 }).collect();
        let twice = columns.iter().map(|c| [&c[..5], &c[..]].concat()).collect();
        let weighted = exact(&LogScore::from_log(columns).unwrap().weighted(&weights).unwrap());
        let repeated = exact(&LogScore::from_log(twice).unwrap());
        prop_assert!((weighted.score - repeated.score).abs() < 1e-12);
        for (a, b) in weighted.weights.iter().zip(&repeated.weights) {
            prop_assert!((a - b).abs() < 1e-6);
        }
    }

    #[test]
    fn a_prior_gives_the_limit_of_its_em(
        cells in prop::collection::vec(-3.0..3.0_f64, 25 * 4),
        exponent in 1.2..4.0_f64,
    ) {
        let columns: Vec<Vec<f64>> = cells.chunks(25).map(<[f64]>::to_vec).collect();
        let problem = LogScore::from_log(columns).unwrap().with_prior(&[exponent; 4]).unwrap();
        let found = exact(&problem);
        let em = problem.em(&EmOptions { tolerance: 1e-15, max_iterations: 50_000 }, &run()).unwrap();
        prop_assert!(found.gap <= 1e-9, "{found:?}");
        for (a, b) in found.weights.iter().zip(&em.weights) {
            prop_assert!((a - b).abs() < 1e-8, "{:?} {:?}", found.weights, em.weights);
        }
    }
}

/// The log densities of ordinary stacks, hundreds of nats apart in some rows; EM's scores on them with a gap of 1e-12.
#[test]
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn hard_matrices_of_ordinary_stacks() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/weights");
    if !folder.exists() {
        println!("skipped: {} is not here", folder.display());
        return;
    }
    let known =
        [("hard_a", -47.493_733_761), ("hard_b", 89.664_174_759), ("hard_c", 1.425_296_281)];
    for (name, score) in known {
        let text = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
        let row = |line: &str| line.split(',').map(|v| v.parse().unwrap()).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = text.lines().skip(1).map(row).collect();
        let found = exact(&LogScore::from_log(columns(&rows)).unwrap());
        assert!(found.converged && found.gap <= 1e-10, "{name}: {found:?}");
        assert!((found.score - score).abs() < 1e-9, "{name}: {}", found.score);
        assert!(found.iterations < 50, "{name}: {} passes", found.iterations);
    }
}

/// Matrices like those and worse: `scale` nats between members, narrow kernels, low rank, near copies, rows that only one
/// member knows, members that are `-inf` in places, row weights over nine orders.
fn hard_problem(seed: u64, members: usize) -> LogScore {
    let mut rng = Run::new(seed).rng();
    let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
    let mut rng = Run::new(seed).child(1).rng();
    let mut uniform = move |from: f64, to: f64| rng.random_range(from..to);
    let rows = 10_f64.powf(uniform(0.0, 2.7)) as usize;
    let scale = 10_f64.powf(uniform(0.0, 5.0));
    let points: Vec<f64> = (0..rows).map(|_| normal()).collect();
    let levels: Vec<f64> = (0..rows).map(|_| scale * normal()).collect();
    let basis: Vec<Vec<f64>> =
        (0..3).map(|_| (0..rows).map(|_| scale * normal()).collect()).collect();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for m in 0..members {
        let mut column: Vec<f64> = match seed % 4 {
            0 => (0..rows).map(|i| levels[i] + scale * normal()).collect(),
            1 => {
                let width = 10_f64.powf(uniform(-5.0, 1.0));
                let centre = points[uniform(0.0, rows as f64) as usize] + 1e-3 * normal();
                let log = |x: &f64| (-0.5 * ((x - centre) / width).powi(2) - width.ln()).max(-1e5);
                points.iter().map(log).collect()
            }
            2 => {
                let by: Vec<f64> = (0..3).map(|_| normal()).collect();
                (0..rows).map(|i| (0..3).map(|k| by[k] * basis[k][i]).sum()).collect()
            }
            _ => {
                let own = uniform(0.0, rows as f64) as usize;
                let below = |i: usize, u: f64| if i == own { 0.0 } else { -3.0 * scale * u };
                (0..rows).map(|i| levels[i] + below(i, uniform(0.0, 1.0))).collect()
            }
        };
        match uniform(0.0, 8.0) as usize {
            0 if m > 0 => column.clone_from(&columns[uniform(0.0, m as f64) as usize]),
            1 if m > 0 => {
                let near = 10_f64.powf(uniform(-14.0, -3.0));
                let copied = &columns[uniform(0.0, m as f64) as usize];
                column = copied.iter().map(|v| v + near * normal()).collect();
            }
            2 if m > 0 => column[uniform(0.0, rows as f64) as usize] = f64::NEG_INFINITY,
            _ => {}
        }
        columns.push(column);
    }
    let problem = LogScore::from_log(columns).unwrap();
    if seed.is_multiple_of(3) {
        let weights: Vec<f64> = (0..rows).map(|_| 10_f64.powf(uniform(-6.0, 3.0))).collect();
        return problem.weighted(&weights).unwrap();
    }
    problem
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn hard_matrices_are_solved_and_em_does_no_better(seed in 0..u64::MAX, members in 1..60_usize) {
        let problem = hard_problem(seed, members);
        let found = exact(&problem);
        prop_assert!(found.gap <= 1e-9 && found.converged, "gap {:e} after {}", found.gap, found.iterations);
        let em = problem.em(&EmOptions { tolerance: 1e-12, max_iterations: 500 }, &run()).unwrap();
        prop_assert!(em.score <= found.score + 1e-12 * (1.0 + found.score.abs()));
    }
}

/// Those of these matrices on which earlier solvers failed. In some, a row of little weight hangs on a member with too much weight, and the last steps
/// widen the gap before they close it; in others, a member outside the working set that is nearly one in it asks for less than the tolerance.
#[test]
fn the_hardest_matrices_are_solved() {
    let cases = [
        (10_150_162_406_786_708_223, 54),
        (14_912_542_961_984_478_312, 47),
        (9_660_893_561_874_702_687, 47),
        (7_742_020_842_013_666_919, 55),
        (17_951_927_011_192_639_200, 50),
        (10_229_933_330_015_038_721, 59),
    ];
    for (seed, members) in cases {
        let problem = hard_problem(seed, members);
        let found = exact(&problem);
        assert!(found.gap <= 1e-9 && found.converged, "{seed}: {:e}", found.gap);
        let em = problem.em(&EmOptions { tolerance: 1e-12, max_iterations: 500 }, &run()).unwrap();
        assert!(em.score <= found.score + 1e-12 * (1.0 + found.score.abs()), "{seed}");
    }
}

#[test]
fn hard_matrices_of_many_members() {
    for (seed, members) in [(1, 500), (2, 800), (3, 2000), (4, 300), (5, 2000), (6, 100), (7, 700)]
    {
        let found = exact(&hard_problem(seed, members));
        assert!(found.gap <= 1e-9 && found.converged, "{members}: {:e}", found.gap);
    }
}

/// A member hundreds or thousands of nats below the others keeps its finite score, alone and when the best one leaves.
#[test]
fn scores_far_below_the_best_are_finite() {
    let columns =
        vec![vec![-1.0, -2.0, -1.5], vec![-5000.0, -4000.0, -3.0], vec![-6000.0, -4001.0, -2.0]];
    let problem = LogScore::from_log(columns).unwrap();
    assert_eq!(problem.row_scores(&[0.0, 1.0, 0.0]), [-5000.0, -4000.0, -3.0]);
    let both = problem.row_scores(&[0.0, 0.5, 0.5]);
    assert!((both[1] - (-4000.0 + (0.5 * (1.0 + (-1.0_f64).exp())).ln())).abs() < 1e-9, "{both:?}");
    let shares = problem.shares().to_vec();
    let without = problem.optimum(&shares, &[0.0, 0.5, 0.5], &[1, 2]);
    assert!(without.converged && without.score > -3010.0, "{without:?}");
    assert!((without.weights[1] - 1.0).abs() < 0.4, "{without:?}");
    let likely = LogScore::from_likelihood(vec![vec![1e300, 1.0], vec![1e-300, 2.0]]).unwrap();
    let alone = likely.row_scores(&[0.0, 1.0])[0];
    assert!((alone - 1e-300_f64.ln()).abs() < 1e-9, "{alone}");
}

#[test]
fn one_row_one_member_and_no_information() {
    let single = exact(&LogScore::from_log(vec![vec![-3.0, -900.0]]).unwrap());
    assert_eq!(single.weights, [1.0]);
    assert!((single.score - -451.5).abs() < 1e-12);

    let one_row = exact(&LogScore::from_log(vec![vec![-2.0], vec![-1.0]]).unwrap());
    assert_eq!(one_row.weights, [0.0, 1.0]);

    let inf = f64::NEG_INFINITY;
    let blind = LogScore::from_log(vec![vec![inf, -1.0, 0.0], vec![inf, 0.0, -1.0]]).unwrap();
    let found = exact(&blind);
    assert_eq!(found.uninformative_rows, 1);
    assert_close(&found.weights, &[0.5, 0.5], 1e-9);
    assert_eq!(blind.row_scores(&found.weights)[0], inf);

    // Rows that no member gives anything are no reason to prefer one: that is no solution with a gap of 0.
    for nothing in [
        LogScore::from_log(vec![vec![inf; 3], vec![inf; 3]]),
        LogScore::from_likelihood(vec![vec![0.0; 3], vec![0.0; 3]]),
        blind.weighted(&[1.0, 0.0, 0.0]),
    ] {
        let error = nothing.unwrap_err().to_string();
        assert!(error.contains("no member gives any row more than nothing"), "{error}");
    }
}

/// 12 rows and 1824 members with a prior of 2: the prior weighs 152 times as much as the rows.
#[test]
fn many_members_with_a_prior_are_solved_exactly_and_fast() {
    let mut rng = run().rng();
    let mut column = |scale: f64| -> Vec<f64> {
        (0..12).map(|_| scale * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect()
    };
    for (members, scale, exponent) in
        [(1824, 300.0, 2.0), (1824, 1.0, 1.0001), (60, 30.0, 1.5), (8, 5.0, 3.0), (300, 3.0, 1e4)]
    {
        let columns: Vec<Vec<f64>> = (0..members).map(|_| column(scale)).collect();
        let problem = LogScore::from_log(columns.clone()).unwrap();
        let problem = problem.with_prior(&vec![exponent; members]).unwrap();
        let began = std::time::Instant::now();
        let found = exact(&problem);
        assert!(found.converged && found.gap <= 1e-10, "{members} {exponent}: {found:?}");
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
        assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // The conditions by hand: sum_i L[i,m] / (L x)_i + (a - 1) / x_m is the same for all members.
        let rows: Vec<f64> = (0..12)
            .map(|i| {
                let logs = columns.iter().zip(&found.weights).map(|(c, w)| c[i] + w.ln());
                log_sum_exp(&logs.collect::<Vec<f64>>())
            })
            .collect();
        let mass = 12.0 + (exponent - 1.0) * members as f64;
        for (column, weight) in columns.iter().zip(&found.weights) {
            let pull: f64 = column.iter().zip(&rows).map(|(c, row)| (c - row).exp()).sum();
            let pull = (pull + (exponent - 1.0) / weight) / mass;
            assert!((pull - 1.0).abs() * weight.sqrt() < 1e-7, "{members} {exponent}: {pull}");
        }
        // From elsewhere, with other shares and fewer members, too.
        let shares: Vec<f64> = (0..12).map(|i| f64::from(i) / 66.0).collect();
        let fewer: Vec<usize> = (0..members).filter(|m| m % 3 > 0).collect();
        let again = problem.optimum(&shares, &found.weights, &fewer);
        assert!(again.converged && again.weights[0] == 0.0, "{members} {exponent}: {}", again.gap);
    }
}

/// A mixture of weights and values that are both small: added up as logarithms where their product is less than a double.
#[test]
fn scores_of_small_weights_on_small_values_are_numbers() {
    let log = LogScore::from_log(vec![vec![0.0, 0.0], vec![-600.0, -800.0]]).unwrap();
    let scores = log.row_scores(&[0.0, 1e-200]);
    let expected = [-600.0, -800.0].map(|v| v + 1e-200_f64.ln());
    assert!(scores.iter().zip(expected).all(|(s, e)| (s - e).abs() < 1e-9), "{scores:?}");
    let plain = LogScore::from_likelihood(vec![vec![1.0], vec![1e-310]]).unwrap();
    let score = plain.row_scores(&[0.0, 1.0])[0];
    assert!((score - 1e-310_f64.ln()).abs() < 1e-9, "{score}");
}

#[test]
fn a_member_that_is_zero_everywhere_gets_nothing() {
    let inf = f64::NEG_INFINITY;
    let columns = vec![vec![-1.0, -2.0, -3.0], vec![inf; 3], vec![-3.0, -2.0, -1.0]];
    let found = exact(&LogScore::from_log(columns).unwrap());
    assert_eq!(found.weights[1], 0.0);
    assert_close(&found.weights, &[0.5, 0.0, 0.5], 1e-9);
}

#[test]
fn rows_that_only_one_member_covers() {
    // Each member alone is -inf somewhere; the subsample of the first stage misses the rows that need the last one.
    let rows = 40_000;
    let cell = |i: usize, m: usize| match (i % 1000, m) {
        (7, 2) => 0.0,
        (7, _) => f64::NEG_INFINITY,
        (_, 2) => -5.0,
        (j, m) => -((j * (m + 3)) as f64 * 0.37).sin().abs(),
    };
    let columns: Vec<Vec<f64>> = (0..3).map(|m| (0..rows).map(|i| cell(i, m)).collect()).collect();
    let found = exact(&LogScore::from_log(columns).unwrap());
    assert!(found.gap <= 1e-10, "{found:?}");
    assert!(found.weights[2] > 0.0 && found.score.is_finite());
}

#[test]
fn many_members_are_priced_and_few_are_used() {
    let (rows, members) = (60, 3000);
    let centre = |m: usize| -3.0 + 6.0 * m as f64 / members as f64;
    let point = |i: usize| 2.5 * (i as f64 * 1.7).sin();
    let column = |m: usize| (0..rows).map(|i| -8.0 * (point(i) - centre(m)).powi(2)).collect();
    let problem = LogScore::from_log((0..members).map(column).collect()).unwrap();
    let found = exact(&problem);
    assert!(found.gap <= 1e-10, "{} {}", found.gap, found.iterations);
    assert!(found.weights.iter().filter(|w| **w > 0.0).count() <= rows);
}

#[test]
fn the_same_bits_on_one_thread_and_two() {
    let value = |i: usize, m: usize| ((i * 7 + m * 13) as f64 * 0.713).sin() - 0.1 * m as f64;
    let columns: Vec<Vec<f64>> =
        (0..9).map(|m| (0..50_000).map(|i| value(i, m)).collect()).collect();
    let problem = LogScore::from_log(columns).unwrap();
    let solve = |threads| {
        let run = Run::with_threads(0, threads).unwrap();
        problem.solve(&SimplexOptions::default(), &run).unwrap()
    };
    assert_eq!(solve(1), solve(2));
}

#[test]
fn values_that_are_no_densities_are_refused() {
    for bad in [f64::NAN, f64::INFINITY] {
        let error = LogScore::from_log(vec![vec![0.0, bad]]).unwrap_err().to_string();
        assert!(error.contains("row 2"), "{error}");
    }
    assert!(LogScore::from_likelihood(vec![vec![0.5, -0.1]]).is_err());
    assert!(LogScore::from_log(vec![]).is_err());
    assert!(LogScore::from_log(vec![vec![]]).is_err());
    assert!(LogScore::from_log(vec![vec![0.0], vec![0.0, 1.0]]).is_err());
}
