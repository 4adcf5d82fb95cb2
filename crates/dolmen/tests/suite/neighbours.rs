//! Nearest neighbours against scikit-learn and against plain refitting; what row weights and smoothing mean.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::learner::neighbours::{Counts, Neighbours, Shares};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression, Task};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    columns: usize,
    x: Vec<f64>,
    queries: Vec<f64>,
    classes: Vec<u32>,
    numbers: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    k: usize,
    weights: Shares,
    standardise: bool,
    probabilities: Vec<f64>,
    means: Vec<f64>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/neighbours.json")).unwrap()
}

fn labels(codes: &[u32]) -> Labels {
    Labels::new(["a", "b", "c"].map(String::from), codes.to_vec()).unwrap()
}

fn run() -> Run {
    Run::with_threads(3, 2).unwrap()
}

fn predictions<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    queries: &Features,
) -> Vec<Vec<f64>> {
    let models: Vec<Box<dyn Fitted<T>>> = learner.fit(sample, &run()).unwrap();
    models.iter().map(|model| predict(model.as_ref(), queries.rows(), &run()).unwrap()).collect()
}

fn assert_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= within, "value {i}: {a} is not {b}");
    }
}

#[test]
fn without_smoothing_it_says_what_scikit_learn_says() {
    let fixture = fixture();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let queries = Features::numeric(fixture.queries, fixture.columns).unwrap();
    let labels = labels(&fixture.classes);
    let classes = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let numbers = Sample::<Regression>::new(x.rows(), &fixture.numbers).unwrap();
    for case in fixture.cases {
        let Case { k, weights, standardise, .. } = case;
        let learner = Neighbours { k: k.into(), weights, standardise, smoothing: 0.0 };
        assert_close(&predictions(&learner, &classes, &queries)[0], &case.probabilities, 1e-12);
        assert_close(&predictions(&learner, &numbers, &queries)[0], &case.means, 1e-12);
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice() {
    let fixture = fixture();
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
    let twice: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 4)).collect();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let queries = Features::numeric(fixture.queries, fixture.columns).unwrap();
    let labels = labels(&fixture.classes);
    for weights_of in [Shares::Uniform, Shares::Distance] {
        let learner =
            Neighbours { k: [1, 4, 7, 500].into(), weights: weights_of, ..Neighbours::default() };
        let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
        let repeated = sample.select(&twice);
        let weighted = predictions(&learner, &sample.counted(&weights).unwrap(), &queries);
        let repeated = predictions(&learner, &repeated.borrow(), &queries);
        weighted.iter().zip(&repeated).for_each(|(a, b)| assert_close(a, b, 1e-12));
        let sample = Sample::<Regression>::new(x.rows(), &fixture.numbers).unwrap();
        let repeated = sample.select(&twice);
        let weighted = predictions(&learner, &sample.counted(&weights).unwrap(), &queries);
        let repeated = predictions(&learner, &repeated.borrow(), &queries);
        weighted.iter().zip(&repeated).for_each(|(a, b)| assert_close(a, b, 1e-12));
    }
}

#[test]
fn the_last_neighbour_counts_for_what_is_missing() {
    let x = Features::numeric(vec![0.0, 1.0, 5.0], 1).unwrap();
    let y = vec![1.0, 3.0, 100.0];
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let query = Features::numeric(vec![0.2], 1).unwrap();
    let learner = Neighbours { k: 3.into(), standardise: false, ..Neighbours::default() };
    let found = predictions(&learner, &sample.counted(&[2.0, 4.0, 1.0]).unwrap(), &query);
    assert_close(&found[0], &[(2.0 + 3.0) / 3.0], 1e-15);
    // Weights that are not whole are relative: these are 0.75, 0.75 and 1.5 of three rows.
    let k = Neighbours { k: 2.into(), ..learner };
    let found = predictions(&k, &sample.counted(&[0.1, 0.1, 0.2]).unwrap(), &query);
    assert_close(&found[0], &[(0.75 + 0.75 * 3.0 + 0.5 * 100.0) / 2.0], 1e-12);
}

#[test]
fn smoothing_is_so_many_rows_spread_by_the_classes_frequencies() {
    let x = Features::numeric(vec![0.0, 0.1, 0.2, 5.0], 1).unwrap();
    let labels = labels(&[0, 0, 0, 1]);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let query = Features::numeric(vec![0.05], 1).unwrap();
    let learner = Neighbours { k: 3.into(), smoothing: 2.0, ..Neighbours::default() };
    let expected = [(3.0 + 2.0 * 4.0 / 7.0) / 5.0, 2.0 * 2.0 / 7.0 / 5.0, 2.0 / 7.0 / 5.0];
    assert_close(&predictions(&learner, &sample, &query)[0], &expected, 1e-15);
    let by_distance = Neighbours { weights: Shares::Distance, ..learner };
    assert_close(&predictions(&by_distance, &sample, &query)[0], &expected, 1e-15);
}

#[test]
fn one_search_for_the_ladder_gives_the_bits_of_refitting() {
    let fixture = fixture();
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let labels = labels(&fixture.classes);
    let plain = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let run = run();
    let plans = [Plan::k_fold(60, 7, &run).unwrap(), Plan::in_turn(60, 60)];
    for standardise in [true, false] {
        let learner = Neighbours { k: [3, 1, 12].into(), standardise, ..Neighbours::default() };
        for plan in &plans {
            for sample in [plain, plain.counted(&weights).unwrap()] {
                let fast = learner.out_of_sample(&sample, plan, &run).unwrap();
                let slow = dolmen::learner::refit(&learner, &sample, plan, &run).unwrap();
                assert_eq!(fast, slow);
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let x = Features::numeric(vec![0.0, 1.0], 1).unwrap();
    let y = vec![0.0, 1.0];
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let refused = |learner: Neighbours| learner.fit(&sample, &run()).unwrap_err().to_string();
    assert!(refused(Neighbours { k: 0.into(), ..Neighbours::default() }).contains("k must be"));
    let none = Counts::Ladder(vec![]);
    assert!(refused(Neighbours { k: none, ..Neighbours::default() }).contains("k must be"));
    let negative = Neighbours { smoothing: -1.0, ..Neighbours::default() };
    assert!(refused(negative).contains("smoothing must be"));
}
