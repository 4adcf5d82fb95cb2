//! Weights by least squares, on the simplex and merely not negative, against slow oracles.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::solver::Solution;
use dolmen::solver::least_squares::LeastSquares;
use dolmen::solver::problem::{WeightProblem, mean_score};
use dolmen_linalg::{Mat, Orthogonal};
use proptest::prelude::*;

/// The simplex solution over all members, from equal weights.
fn simplex(problem: &LeastSquares) -> Solution {
    let members = problem.members();
    let start = vec![1.0 / members as f64; members];
    let all: Vec<usize> = (0..members).collect();
    problem.optimum(problem.shares(), &start, &all)
}

fn column(rows: usize, phase: f64) -> Vec<f64> {
    (0..rows).map(|i| (i as f64 * 0.71 + phase).sin() + 0.3 * (i as f64 * phase).cos()).collect()
}

/// The mean squared error of a combination, row by row.
fn squared_error(columns: &[Vec<f64>], target: &[f64], weights: &[f64]) -> f64 {
    let error = |i: usize| {
        let sum: f64 = columns.iter().zip(weights).map(|(c, w)| w * c[i]).sum();
        (sum - target[i]).powi(2)
    };
    (0..target.len()).map(error).sum::<f64>() / target.len() as f64
}

#[test]
fn no_point_of_a_fine_grid_is_better() {
    let columns: Vec<Vec<f64>> = [0.3, 1.4, 2.9].map(|phase| column(30, phase)).into();
    for shift in [0.0, 0.8, -2.0] {
        let target: Vec<f64> =
            (0..30).map(|i| 0.6 * columns[0][i] + 0.5 * columns[2][i] + shift).collect();
        let found = simplex(&LeastSquares::new(columns.clone(), target.clone()).unwrap());
        let reached = squared_error(&columns, &target, &found.weights);
        assert!((found.score + reached).abs() < 1e-12);
        let mut best = f64::INFINITY;
        let steps = 200;
        for a in 0..=steps {
            for b in 0..=steps - a {
                let share = |k: usize| k as f64 / f64::from(steps as u32);
                let weights = [share(a), share(b), share(steps - a - b)];
                best = best.min(squared_error(&columns, &target, &weights));
            }
        }
        assert!(reached <= best + 1e-12, "{reached} is worse than the grid's {best}");
        // The grid comes within a cell of the optimum.
        assert!(best - reached < 1e-3, "the grid's {best} is far from {reached}");
    }
}

/// Random members, some of which repeat or mix others; a target that is noise, a member, or a mixture.
fn random_problem() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    let offset = prop::sample::select(vec![0.0, 1e3, 1e8]);
    (1..40_usize, 1..8_usize, 0..3_u8, offset).prop_flat_map(|(rows, members, kind, offset)| {
        let cells = prop::collection::vec(-3.0..3.0_f64, rows * (members + 1));
        let copies = prop::collection::vec((any::<bool>(), 0..members, 0..members), members);
        (cells, copies).prop_map(move |(cells, copies)| {
            let mut columns: Vec<Vec<f64>> =
                cells.chunks(rows).map(|c| c.iter().map(|v| v + offset).collect()).collect();
            let mut target = columns.pop().unwrap();
            for (m, &(copied, a, b)) in copies.iter().enumerate() {
                if copied {
                    columns[m] = (0..rows).map(|i| 0.5 * (columns[a][i] + columns[b][i])).collect();
                }
            }
            match kind {
                0 => {}
                1 => target.clone_from(&columns[0]),
                _ => {
                    let share = 1.0 / members as f64;
                    let sum = |i: usize| columns.iter().map(|c| share * c[i]).sum();
                    target = (0..rows).map(sum).collect();
                }
            }
            (columns, target)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_simplex_optimum_is_certified((columns, target) in random_problem()) {
        let found = simplex(&LeastSquares::new(columns.clone(), target.clone()).unwrap());
        prop_assert!(found.gap <= 1e-9, "gap {}", found.gap);
        prop_assert!(found.weights.iter().all(|w| *w >= 0.0));
        prop_assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // The conditions by hand, on errors so that huge offsets cancel: no member pulls harder than the mixture.
        let rows = target.len();
        let error = |m: usize, i: usize| columns[m][i] - target[i];
        let mixed: Vec<f64> = (0..rows)
            .map(|i| found.weights.iter().enumerate().map(|(m, w)| w * error(m, i)).sum())
            .collect();
        let pull = |m: usize| {
            (0..rows).map(|i| error(m, i) * mixed[i]).sum::<f64>() / rows as f64
        };
        let own = mixed.iter().map(|e| e * e).sum::<f64>() / rows as f64;
        for (m, weight) in found.weights.iter().enumerate() {
            prop_assert!(pull(m) >= own - 1e-8, "member {m} pulls {} below {own}", pull(m));
            if *weight > 1e-6 {
                prop_assert!((pull(m) - own).abs() * weight <= 1e-8);
            }
        }
    }

    #[test]
    fn non_negative_weights_against_projected_gradient(
        cells in prop::collection::vec(-3.0..3.0_f64, 20 * 4),
    ) {
        let mut columns: Vec<Vec<f64>> = cells.chunks(20).map(<[f64]>::to_vec).collect();
        let target = columns.pop().unwrap();
        let problem = LeastSquares::new(columns.clone(), target.clone()).unwrap();
        let found = problem.non_negative();
        prop_assert!(found.gap <= 1e-9, "{found:?}");
        let oracle = projected_gradient(&columns, &target);
        let reached = squared_error(&columns, &target, &found.weights);
        let expected = squared_error(&columns, &target, &oracle);
        prop_assert!((reached - expected).abs() < 1e-9, "{:?} {:?}", found.weights, oracle);
        for (a, b) in found.weights.iter().zip(&oracle) {
            prop_assert!((a - b).abs() < 1e-4, "{:?} {:?}", found.weights, oracle);
        }
    }
}

/// Steps down the gradient, cut off at zero, until nothing moves: slow and obvious.
fn projected_gradient(columns: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    let rows = target.len();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let trace: f64 = columns.iter().map(|c| product(c, c)).sum();
    let mut weights = vec![0.0; columns.len()];
    for _ in 0..20_000 {
        let sum = |i: usize| columns.iter().zip(&weights).map(|(c, w)| w * c[i]).sum::<f64>();
        let residual: Vec<f64> = (0..rows).map(|i| sum(i) - target[i]).collect();
        for (weight, column) in weights.iter_mut().zip(columns) {
            *weight = (*weight - product(column, &residual) / trace).max(0.0);
        }
    }
    weights
}

#[test]
fn a_perfect_member_gets_everything_even_far_from_zero() {
    let target: Vec<f64> = column(50, 0.4).iter().map(|v| v + 1e8).collect();
    let shifted = |by: f64| target.iter().map(|v| v + by).collect::<Vec<f64>>();
    let problem = LeastSquares::new(vec![shifted(1.0), target.clone(), shifted(3.0)], target);
    let found = simplex(&problem.unwrap());
    assert_eq!(found.weights, [0.0, 1.0, 0.0]);
    assert_eq!(found.score, 0.0);
}

#[test]
fn errors_on_both_sides_cancel() {
    let target = column(50, 0.4);
    let shifted = |by: f64| target.iter().map(|v| v + by).collect::<Vec<f64>>();
    let problem = LeastSquares::new(vec![shifted(-1.0), shifted(3.0)], target.clone()).unwrap();
    let found = simplex(&problem);
    assert!((found.weights[0] - 0.75).abs() < 1e-12, "{found:?}");
    assert!(found.score.abs() < 1e-20);
    // Row weights do not change a perfect combination, and its score is the weighted mean.
    let weights: Vec<f64> = (0..50).map(|i| f64::from(i % 3)).collect();
    let weighted = problem.weighted(&weights).unwrap();
    assert!((simplex(&weighted).weights[0] - 0.75).abs() < 1e-12);
    assert!((mean_score(&weighted, &[1.0, 0.0]) + 1.0).abs() < 1e-12);
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = LeastSquares::new(vec![vec![0.0, bad]], vec![1.0, 2.0]).unwrap_err();
        assert!(error.to_string().contains("row 2"), "{error}");
        assert!(LeastSquares::new(vec![vec![0.0, 1.0]], vec![1.0, bad]).is_err());
    }
    assert!(LeastSquares::new(vec![], vec![1.0]).is_err());
    assert!(LeastSquares::new(vec![vec![]], vec![]).is_err());
    assert!(LeastSquares::new(vec![vec![1.0]], vec![1.0, 2.0]).is_err());
}

/// The smallest squared error of non-negative weights by trying every set of members, each by a QR decomposition of the
/// columns as they are.
fn best_of_all_sets(columns: &[Vec<f64>], target: &[f64]) -> f64 {
    let rows = target.len();
    let mut best = f64::INFINITY;
    for bits in 1_usize..1 << columns.len() {
        let set: Vec<usize> = (0..columns.len()).filter(|m| bits >> m & 1 == 1).collect();
        let scale = columns[set[0]][0].abs().max(1.0);
        let matrix = Mat::from_fn(rows, set.len(), |i, j| columns[set[j]][i] / scale);
        let right = Mat::from_fn(rows, 1, |i, _| target[i] / scale);
        let solution = Orthogonal::new(matrix.as_ref()).least_squares(right.as_ref());
        if (0..set.len()).all(|j| solution[(j, 0)] >= 0.0) {
            let mut weights = vec![0.0; columns.len()];
            set.iter().enumerate().for_each(|(j, &m)| weights[m] = solution[(j, 0)]);
            best = best.min(squared_error(columns, target, &weights));
        }
    }
    best
}

#[test]
fn non_negative_weights_hold_with_a_large_offset() {
    let wave = |i: usize, k: usize| ((i * (7 + 4 * k) + k * k) as f64 * 0.618).sin();
    for offset in [0.0, 1e3, 1e6, 1e9, -1e9, 1e11] {
        let target: Vec<f64> = (0..200).map(|i| offset + 500.0 + 500.0 * wave(i, 9)).collect();
        let member = |k: usize| -> Vec<f64> {
            let noise = |i: usize| wave(i, k) * (3.0 + 4.0 * k as f64) + 5.0 * wave(i, 7);
            target.iter().enumerate().map(|(i, t)| t + noise(i)).collect()
        };
        let columns: Vec<Vec<f64>> = (0..4).map(member).collect();
        let found = LeastSquares::new(columns.clone(), target.clone()).unwrap().non_negative();
        let reached = squared_error(&columns, &target, &found.weights);
        let expected = best_of_all_sets(&columns, &target);
        assert!(found.converged, "{offset}: {found:?}");
        let rounding = (1e-15 * offset).powi(2);
        assert!(reached <= expected * (1.0 + 1e-6) + rounding, "{offset}: {reached} {expected}");
    }
    // The weights themselves, where the target points away from a member or is nothing.
    let away = LeastSquares::new(vec![vec![-1.0, -2.0]], vec![1.0, 1.0]).unwrap().non_negative();
    assert_eq!((away.weights, away.converged), (vec![0.0], true));
    let zero = LeastSquares::new(vec![vec![-1.0, 2.0]], vec![0.0, 0.0]).unwrap().non_negative();
    assert_eq!((zero.weights, zero.converged), (vec![0.0], true));
}

/// Members of which almost perfect combinations exist, far below the error of the best of them, and near copies among them: the
/// Gram matrix has lost what decides.
#[test]
fn near_perfect_combinations_of_collinear_members_are_found() {
    let wave = |i: usize, k: usize| ((i * (7 + 4 * k) + k * k) as f64 * 0.618).sin();
    let mut missed = 0;
    for (rows, members, unit) in
        [(315, 132, 470.0), (200, 60, 1.0), (40, 60, 1e6), (300, 200, 1e-4)]
    {
        let target: Vec<f64> = (0..rows).map(|i| unit * (1.0 + 0.1 * wave(i, 400))).collect();
        let member = |k: usize| -> Vec<f64> {
            let slope = 1.0 + wave(k, 3) * 0.01;
            let noise = 10.0_f64.powf(-9.0 + 8.0 * (k as f64 / members as f64));
            let value = |(i, t): (usize, &f64)| {
                t + unit * 0.1 * ((slope - 1.0) * wave(i, 400) + noise * wave(i, k))
            };
            target.iter().enumerate().map(value).collect()
        };
        let columns: Vec<Vec<f64>> = (0..members).map(member).collect();
        let problem = LeastSquares::new(columns, target).unwrap();
        let found = simplex(&problem);
        missed += usize::from(!found.converged);
        assert!(found.converged, "{rows} {members} {unit}: gap {} of {}", found.gap, found.score);
        assert!(problem.non_negative().converged);
    }
    assert_eq!(missed, 0);
}
