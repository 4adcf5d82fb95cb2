//! Properties of time-ordered plans, against slow and obvious statements of them.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use dolmen::plan::{Plan, PlanSpec, RowKeys, TimeOrdered, Window};
use dolmen::run::Run;
use proptest::collection::vec;
use proptest::prelude::*;

/// Each split as (rows learned from, rows predicted).
fn sides(plan: &Plan) -> Vec<(Vec<usize>, Vec<usize>)> {
    let splits = plan.splits().iter();
    splits.map(|split| (split.train(plan.rows()).to_vec(), split.test().to_vec())).collect()
}

/// The splits pass as given ones: both sides have rows, and share none.
fn check_sides(plan: &Plan) {
    assert_eq!(Plan::from_splits(plan.rows(), sides(plan)).unwrap(), *plan);
}

proptest! {
    #[test]
    fn time_goes_forward(
        times in times(), splits in 1_usize..6, gap in 0_usize..4, length in 1_usize..5, rolling: bool,
    ) {
        let moments = ordered(&times);
        let window = if rolling { Window::Rolling } else { Window::Expanding };
        let train = rolling.then_some(length);
        let scheme = TimeOrdered { splits, window, train, gap, ..TimeOrdered::default() };
        let Ok(plan) = Plan::time_ordered(&times, scheme) else {
            let test = moments.len() / (splits + 1);
            prop_assert!(test == 0 || moments.len() < splits * test + gap + train.unwrap_or(1));
            return Ok(());
        };
        check_sides(&plan);
        let mut expected_end = moments.len();
        for split in plan.splits().iter().rev() {
            let test = moments_of(split.test(), &times, &moments);
            let train = moments_of(&split.train(times.len()), &times, &moments);
            prop_assert_eq!(test.len(), moments.len() / (splits + 1));
            prop_assert_eq!(test.last().unwrap() + 1, expected_end);
            expected_end = test[0];
            prop_assert_eq!(train.last().unwrap() + gap + 1, test[0]);
            prop_assert_eq!(train.len(), if rolling { length } else { test[0] - gap });
        }
        let first = moments[expected_end];
        let earlier: Vec<_> = (0..times.len()).filter(|&row| times[row] < first).collect();
        prop_assert_eq!(plan.never_held_out(), earlier);
    }

    #[test]
    fn purged_folds_learn_from_both_sides(
        times in times(), splits in 2_usize..6, gap in 0_usize..4, embargo in 0_usize..4,
    ) {
        let moments = ordered(&times);
        let window = Window::Around;
        let scheme = TimeOrdered { splits, window, gap, embargo, ..TimeOrdered::default() };
        let Ok(plan) = Plan::time_ordered(&times, scheme) else {
            let block = moments.len().div_ceil(splits);
            prop_assert!(moments.len() < splits || moments.len() <= block + 2 * gap + embargo);
            return Ok(());
        };
        check_sides(&plan);
        prop_assert_eq!(plan.coverage(), vec![1; times.len()]);
        prop_assert_eq!(plan.is_partition(), gap + embargo == 0);
        for split in plan.splits() {
            let test = moments_of(split.test(), &times, &moments);
            let train = moments_of(&split.train(times.len()), &times, &moments);
            let (first, last) = (test[0], test[test.len() - 1]);
            let far = |&moment: &usize| moment + gap < first || moment > last + gap + embargo;
            prop_assert_eq!(train, (0..moments.len()).filter(far).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter_to_time(times in times(), shift in 0_usize..60) {
        let scheme = TimeOrdered { splits: 1, gap: 1, ..TimeOrdered::default() };
        let shift = shift % times.len();
        let mut rotated = times.clone();
        rotated.rotate_left(shift);
        match (Plan::time_ordered(&times, scheme), Plan::time_ordered(&rotated, scheme)) {
            (Ok(plan), Ok(rotated)) => {
                let back = |row: &usize| (row + shift) % times.len();
                let mut test: Vec<_> = rotated.splits()[0].test().iter().map(back).collect();
                test.sort_unstable();
                prop_assert_eq!(plan.splits()[0].test(), test);
            }
            (plan, rotated) => prop_assert!(plan.is_err() && rotated.is_err()),
        }
    }
}

/// Times with ties, in no order.
fn times() -> impl Strategy<Value = Vec<f64>> {
    vec((-20_i32..20).prop_map(|time| f64::from(time) / 4.0), 1..60)
}

/// The distinct times, in order.
fn ordered(times: &[f64]) -> Vec<f64> {
    let mut moments = times.to_vec();
    moments.sort_by(f64::total_cmp);
    moments.dedup();
    moments
}

/// The moments of these rows, in order; all rows of each must be among them.
fn moments_of(rows: &[usize], times: &[f64], moments: &[f64]) -> Vec<usize> {
    let has = |moment: f64| rows.iter().any(|&row| times[row].total_cmp(&moment).is_eq());
    let found: Vec<_> = (0..moments.len()).filter(|&moment| has(moments[moment])).collect();
    let together =
        |&time: &f64| found.iter().any(|&moment| moments[moment].total_cmp(&time).is_eq());
    assert_eq!(rows.len(), times.iter().filter(|time| together(time)).count());
    found
}

/// scikit-learn's documented example of `TimeSeriesSplit(n_splits=3, test_size=2, gap=2)` on twelve rows.
#[test]
fn forward_windows_are_those_of_scikit_learn() {
    let scheme = TimeOrdered { splits: 3, test: Some(2), gap: 2, ..TimeOrdered::default() };
    let run = Run::with_threads(0, 1).unwrap();
    let spec = PlanSpec::TimeOrdered(scheme);
    let plan = spec.build(12, &RowKeys::default(), &run).unwrap();
    let expected = [
        (vec![0, 1, 2, 3], vec![6, 7]),
        (vec![0, 1, 2, 3, 4, 5], vec![8, 9]),
        (vec![0, 1, 2, 3, 4, 5, 6, 7], vec![10, 11]),
    ];
    assert_eq!(sides(&plan), expected);
}
