//! What only shows from inside: the likelihood of bandwidths and its gradient, and the bounds of the fast evaluations.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value as Json;

use super::climb::climb;
use super::grid::{Grid, Layout, Place};
use super::likelihood::Likelihood;
use super::points::Points;
use super::search::{Search, Searched};
use super::shape::Shape;
use super::sorted::Moments;
use super::teach_all_later;
use super::tile::Order;
use crate::plan::RowKeys;
use crate::run::Run;

fn golden() -> Json {
    let text = include_str!("../../../../tests/fixtures/kernel/golden.json");
    serde_json::from_str(text).unwrap()
}

fn numbers(json: &Json) -> Vec<f64> {
    let number = |v: &Json| v.as_f64().unwrap_or(f64::NEG_INFINITY);
    json.as_array().unwrap().iter().map(number).collect()
}

/// The columns of a list of rows.
fn columns(json: &Json) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = json.as_array().unwrap().iter().map(numbers).collect();
    (0..rows[0].len()).map(|k| rows.iter().map(|row| row[k]).collect()).collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a.total_cmp(&b).is_eq() || (a - b).abs() <= tolerance * (1.0 + b.abs())
}

fn normal(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| StandardNormal.sample(&mut rng)).collect()
}

/// l(h), written as it is defined.
fn plain_likelihood(
    shape: Shape,
    columns: &[Vec<f64>],
    weights: &[f64],
    (folds, order): (&[u32], Order),
    h: &[f64],
) -> f64 {
    let rows = weights.len();
    let counts = |i: usize, j: usize| match order {
        Order::Any => folds[j] != folds[i],
        Order::Forward => folds[j] < folds[i],
    };
    let density = |i: usize| {
        let others = (0..rows).filter(|&j| counts(i, j));
        let kernel = |j: usize| -> f64 {
            let factor =
                |(column, h): (&Vec<f64>, &f64)| shape.value((column[i] - column[j]) / h) / h;
            columns.iter().zip(h).map(factor).product()
        };
        let total: f64 = others.clone().map(|j| weights[j]).sum();
        others.map(|j| weights[j] * kernel(j)).sum::<f64>() / total
    };
    let asked = (0..rows).filter(|&i| order == Order::Any || folds[i] > 0);
    asked.map(|i| weights[i] * density(i).ln()).sum()
}

#[test]
fn cross_validated_likelihood_and_gradient_equal_the_reference() {
    let golden = &golden()["cv_bandwidth"];
    let columns = columns(&golden["data"]);
    let folds: Vec<u32> = numbers(&golden["folds"]).iter().map(|f| *f as u32).collect();
    let likelihood = Likelihood::new(Shape::Triangular, &columns, &[1.0; 20], (&folds, Order::Any));
    let expected = numbers(&golden["cv_loglik"]);
    for (case, h) in golden["h"].as_array().unwrap().iter().enumerate() {
        let value = likelihood.at(&numbers(h), true);
        assert!(close(value.log_likelihood, expected[case], 1e-10), "{value:?}");
        if expected[case].is_finite() {
            let gradient = numbers(&golden["grad_log_h"][case]);
            for (ours, theirs) in value.gradient.iter().zip(gradient) {
                assert!(close(*ours, theirs, 1e-10), "{ours} {theirs}");
            }
        }
    }
}

#[test]
fn both_searches_reach_the_reference_value() {
    let golden = &golden()["cv_bandwidth"];
    let columns = columns(&golden["data"]);
    let folds: Vec<u32> = numbers(&golden["folds"]).iter().map(|f| *f as u32).collect();
    let searched = Searched {
        shape: Shape::Triangular,
        columns: &columns,
        weights: &[1.0; 20],
        folds: &folds,
        order: Order::Any,
    };
    let run = Run::with_threads(0, 2).unwrap();
    let expected = golden["selected_cv_loglik"].as_f64().unwrap();
    let paper = searched.search(Search::Sw99, &run).unwrap();
    let climb = searched.search(Search::Climb, &run).unwrap();
    assert!(paper.log_likelihood > expected - 1e-3, "{paper:?}");
    assert!(climb.log_likelihood >= paper.log_likelihood);
}

#[test]
fn likelihood_equals_its_definition_for_every_shape_with_weights() {
    let n = 150;
    let columns = [normal(n, 1), normal(n, 2), normal(n, 3)];
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let weights: Vec<f64> =
        (0..n).map(|i| if i % 17 == 0 { 0.0 } else { rng.random::<f64>() }).collect();
    let by_fold: Vec<u32> = (0..n as u32).map(|i| i * 7 % 4).collect();
    let by_row: Vec<u32> = (0..n as u32).collect();
    let cases = [(&by_fold, Order::Any), (&by_row, Order::Any), (&by_fold, Order::Forward)];
    for (folds, order) in cases {
        for shape in Shape::ALL {
            let likelihood = Likelihood::new(shape, &columns, &weights, (folds, order));
            let h = [3.1, 2.7, 2.2];
            let at = |h: &[f64]| plain_likelihood(shape, &columns, &weights, (folds, order), h);
            let value = likelihood.at(&h, true);
            assert!(close(value.log_likelihood, at(&h), 1e-12), "{shape:?}");
            let differs = shape != Shape::Uniform;
            for k in 0..3 {
                let moved = |by: f64| {
                    let mut h = h;
                    h[k] *= f64::exp(by);
                    at(&h)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(!differs || close(value.gradient[k], slope, 1e-5), "{shape:?} {k}");
            }
        }
    }
}

#[test]
fn a_row_far_from_all_others_has_a_finite_gaussian_likelihood() {
    // 1000 bandwidths from the rest: exp(-500000) is 0 in floating point.
    let column = vec![0.0, 0.1, 0.3, 100.0];
    let likelihood =
        Likelihood::new(Shape::Gaussian, &[column], &[1.0; 4], (&[0, 1, 2, 3], Order::Any));
    let value = likelihood.at(&[0.1], true);
    let nearest = -0.5 * (99.7_f64 / 0.1).powi(2);
    assert!(value.log_likelihood < nearest && value.log_likelihood > nearest - 20.0);
    // Its own slope is u^2 - 1; the other rows' are of the order of 1.
    assert!(close(value.gradient[0], -2.0 * nearest, 1e-4));
}

#[test]
fn the_likelihood_has_the_same_bits_on_any_number_of_threads() {
    let columns = [normal(1000, 5), normal(1000, 6)];
    let folds: Vec<u32> = (0..1000).collect();
    let likelihood = Likelihood::new(Shape::Gaussian, &columns, &[1.0; 1000], (&folds, Order::Any));
    let on = |threads| {
        Run::with_threads(0, threads).unwrap().install(|| likelihood.at(&[0.3, 0.4], true))
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(3));
}

#[test]
fn a_climb_ends_where_the_gradient_is_level() {
    let columns = [normal(300, 7), normal(300, 8)];
    let folds: Vec<u32> = (0..300).collect();
    let likelihood = Likelihood::new(Shape::Gaussian, &columns, &[1.0; 300], (&folds, Order::Any));
    let run = Run::with_threads(0, 1).unwrap();
    let peak = climb(&likelihood, &[2.0, 0.1], &run).unwrap();
    assert!(peak.converged);
    let gradient = likelihood.at(&peak.bandwidth, true).gradient;
    assert!(gradient.iter().all(|slope| slope.abs() < 300.0 * 1e-4), "{gradient:?}");
}

#[test]
fn the_default_search_is_at_least_as_good_as_the_papers() {
    let run = Run::with_threads(0, 2).unwrap();
    for seed in 0..3 {
        let n = 120;
        let mut columns = [normal(n, seed), normal(n, 100 + seed)];
        for value in columns[0].iter_mut().step_by(2) {
            *value = 5.0 + 0.3 * *value;
        }
        let folds: Vec<u32> = (0..n as u32).map(|i| i % 10).collect();
        for shape in [Shape::Gaussian, Shape::Triangular, Shape::Epanechnikov] {
            let searched = Searched {
                shape,
                columns: &columns,
                weights: &[1.0; 120],
                folds: &folds,
                order: Order::Any,
            };
            let ours = searched.search(Search::Climb, &run).unwrap();
            let paper = searched.search(Search::Sw99, &run).unwrap();
            assert!(ours.log_likelihood > paper.log_likelihood - 1e-6, "{shape:?}");
        }
    }
}

/// sum_i w_i prod_k profile(u_ik), as it is defined.
fn plain_sum(points: &Points, weights: &[f64], shape: Shape, h: &[f64], query: &[f64]) -> f64 {
    let kernel = |i: usize| -> f64 {
        let factor = |(k, h): (usize, &f64)| {
            let t = (query[k] - points.column(k)[i]).abs() * (1.0 / h);
            shape.profile().value(t)
        };
        h.iter().enumerate().map(factor).product()
    };
    (0..points.len()).map(|i| weights[i] * kernel(i)).sum()
}

#[test]
fn the_grid_keeps_its_promise_or_refuses() {
    for (dimension, n, h) in [(1, 3000, 0.1), (2, 2000, 0.2), (3, 500, 0.7)] {
        for tolerance in [1e-4, 1e-6, 1e-10] {
            let columns: Vec<Vec<f64>> = (0..dimension).map(|k| normal(n, k as u64)).collect();
            let h = vec![h; dimension];
            let (points, _) = Points::build(&columns, &h);
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            let weights: Vec<f64> = (0..n).map(|_| rng.random::<f64>() * 2.0 / n as f64).collect();
            let layout = Layout::new(&points, &h, tolerance).unwrap();
            let grid = Grid::new(layout, &points, &weights, tolerance);
            let mut place = Place::default();
            let mut accepted = 0;
            for _ in 0..400 {
                let query: Vec<f64> =
                    (0..dimension).map(|_| rng.random::<f64>() * 9.0 - 4.5).collect();
                if let Some(sum) = grid.sum(&query, &mut place) {
                    let exact = plain_sum(&points, &weights, Shape::Gaussian, &h, &query);
                    assert!(
                        (sum - exact).abs() <= tolerance * exact,
                        "{dimension} {tolerance} {query:?}"
                    );
                    accepted += 1;
                }
            }
            assert!(accepted > 40, "{dimension} {tolerance} {accepted}");
        }
    }
}

#[test]
fn power_sums_equal_direct_sums_at_the_edge_of_the_support_too() {
    for shape in Shape::ALL.into_iter().filter(|shape| *shape != Shape::Gaussian) {
        // A far-off common offset, ties, and clusters narrower and wider than the bandwidth.
        let wide = normal(400, 11);
        let narrow = normal(400, 12).into_iter().map(|v| 5.0 + 0.01 * v);
        let tied = (0..100).map(|i| f64::from(i / 10));
        let values = wide.into_iter().chain(narrow).chain(tied);
        let values: Vec<f64> = values.map(|v| v + 1e6).collect();
        let weights: Vec<f64> = (0..900).map(|i| (1.0 + f64::from(i % 3)) / 1800.0).collect();
        let (points, _) = Points::build(std::slice::from_ref(&values), &[1.0]);
        for h in [0.03, 0.5, 7.0] {
            let moments = Moments::new(&points, &weights, shape, h).unwrap();
            let edges =
                values.iter().flat_map(|v| [v + h * (1.0 - 1e-7), v - h * (1.0 - 1e-4), v + h]);
            let inside = (0..500).map(|i| 1e6 - 5.0 + f64::from(i) * 0.03);
            for x in edges.chain(inside) {
                let sum = moments.sum(&points, &weights, x, 1e-10);
                let exact = plain_sum(&points, &weights, shape, &[h], &[x]);
                assert!((sum - exact).abs() <= 1e-10 * exact, "{shape:?} {h} {x}: {sum} {exact}");
            }
        }
    }
}

/// Rows that bandwidths in order of time are searched on: none is followed by a block that begins within the gap.
#[test]
fn rows_in_a_gap_teach_nobody() {
    let run = Run::new(3);
    let times: Vec<f64> = (0..120).map(|i| f64::from(i / 2)).collect();
    for gap in [0, 1, 4, 9] {
        let keys = RowKeys { times: Some(&times), gap, ..RowKeys::default() };
        let plan = keys.folds(times.len(), 4, &run).unwrap();
        let mut folds = vec![0; times.len()];
        for (fold, split) in (1..).zip(plan.splits()) {
            split.test().iter().for_each(|&i| folds[i] = fold);
        }
        let usable = teach_all_later(&plan, &folds, None);
        let left_out = usable.iter().filter(|usable| !**usable).count();
        assert_eq!(left_out, 2 * gap * plan.splits().len());
        for (fold, split) in (1..).zip(plan.splits()) {
            let begins = split.test().iter().map(|&i| times[i]).fold(f64::INFINITY, f64::min);
            let earlier = (0..times.len()).filter(|&i| usable[i] && folds[i] < fold);
            assert!(earlier.map(|i| times[i]).all(|time| time + (gap as f64) < begins));
        }
    }
}
