//! Support vector machines against scikit-learn; what row weights, memory and missing classes do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::learner::Stored;
use dolmen::learner::svm::{FittedSvm, Gamma, Kernel, Svm};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::store::Registry;
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
    row_weights: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kernel: Kernel,
    c: f64,
    standardise: bool,
    weighted: bool,
    gamma: f64,
    decisions: Vec<f64>,
    numbers: Vec<f64>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/svm.json")).unwrap()
}

fn labels(codes: &[u32]) -> Labels {
    Labels::new(["a", "b", "c"].map(String::from), codes.to_vec()).unwrap()
}

fn run() -> Run {
    Run::with_threads(3, 2).unwrap()
}

fn decisions(svm: &Svm, sample: &Sample<'_, Classification>, queries: &Features) -> Vec<f64> {
    let model = svm.fit(sample, &run()).unwrap().remove(0);
    assert_eq!(model.diagnostics().converged, Some(true));
    let model: FittedSvm =
        Stored::<Classification>::restore(&model.record().unwrap(), &Registry::default()).unwrap();
    model.decision_values(queries.rows()).unwrap()
}

fn predicted<T: Task>(
    svm: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    queries: &Features,
) -> Vec<f64> {
    let model = svm.fit(sample, &run()).unwrap().remove(0);
    predict(model.as_ref(), queries.rows(), &run()).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= within * (1.0 + b.abs()), "value {i}: {a} is not {b}");
    }
}

#[test]
fn decision_values_and_numbers_are_those_of_scikit_learn() {
    let fixture = fixture();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let queries = Features::numeric(fixture.queries, fixture.columns).unwrap();
    let labels = labels(&fixture.classes);
    for case in fixture.cases {
        let Case { kernel, c, standardise, .. } = case;
        let gamma = Gamma::Number(case.gamma);
        let usual = Svm { kernel, c, standardise, tolerance: 1e-9, ..Svm::default() };
        let svm = if case.weighted { Svm { gamma, ..usual } } else { usual };
        let mut classes = Sample::<Classification>::new(x.rows(), &labels).unwrap();
        let mut numbers = Sample::<Regression>::new(x.rows(), &fixture.numbers).unwrap();
        if case.weighted {
            classes = classes.counted(&fixture.row_weights).unwrap();
            numbers = numbers.counted(&fixture.row_weights).unwrap();
        }
        assert_close(&decisions(&svm, &classes, &queries), &case.decisions, 1e-6);
        assert_close(&predicted(&svm, &numbers, &queries), &case.numbers, 1e-6);
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice() {
    let fixture = fixture();
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let twice: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let queries = Features::numeric(fixture.queries, fixture.columns).unwrap();
    let labels = labels(&fixture.classes);
    let svm = Svm { tolerance: 1e-8, ..Svm::default() };
    let classes = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let repeated = classes.select(&twice);
    let weighted = decisions(&svm, &classes.counted(&weights).unwrap(), &queries);
    assert_close(&weighted, &decisions(&svm, &repeated.borrow(), &queries), 1e-6);
    let numbers = Sample::<Regression>::new(x.rows(), &fixture.numbers).unwrap();
    let repeated = numbers.select(&twice);
    let weighted = predicted(&svm, &numbers.counted(&weights).unwrap(), &queries);
    assert_close(&weighted, &predicted(&svm, &repeated.borrow(), &queries), 1e-6);
}

#[test]
fn little_memory_gives_the_same_bits() {
    let fixture = fixture();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let labels = labels(&fixture.classes);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let ample = predicted(&Svm::default(), &sample, &x);
    let little = predicted(&Svm { cache: 1e-9, ..Svm::default() }, &sample, &x);
    assert_eq!(ample, little);
}

#[test]
fn probabilities_favour_the_right_classes_and_leave_some_to_a_class_without_rows() {
    let value = |i: usize, j: usize| ((i * 2 + j) as f64 * 2.399).sin() + 2.0 * (i % 2) as f64;
    let values = (0..80).flat_map(|i| [value(i, 0), value(i, 1)]).collect();
    let x = Features::numeric(values, 2).unwrap();
    let labels = labels(&(0..80).map(|i| i % 2 * 2).collect::<Vec<u32>>());
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let rows = predicted(&Svm::default(), &sample, &x);
    let scores: f64 =
        rows.chunks(3).enumerate().map(|(i, p)| p[i % 2 * 2].ln()).sum::<f64>() / 80.0;
    assert!(scores > -0.25, "{scores}");
    assert!(rows.chunks(3).all(|p| (p[1] - 1.0 / 83.0).abs() < 1e-15));
}

#[test]
fn one_class_is_certain_but_for_laplace() {
    let x = Features::numeric(vec![0.0, 1.0, 2.0], 1).unwrap();
    let labels = labels(&[1, 1, 1]);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let rows = predicted(&Svm::default(), &sample, &x);
    assert_close(&rows[..3], &[1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0], 1e-15);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let x = Features::numeric(vec![0.0, 1.0], 1).unwrap();
    let y = vec![0.0, 1.0];
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let refused = |svm: Svm| svm.fit(&sample, &run()).unwrap_err().to_string();
    assert!(refused(Svm { c: 0.0, ..Svm::default() }).contains("c must be"));
    assert!(refused(Svm { gamma: Gamma::Number(-1.0), ..Svm::default() }).contains("gamma must"));
    assert!(refused(Svm { epsilon: f64::NAN, ..Svm::default() }).contains("epsilon must be"));
}
