//! Networks learn what linear models cannot, and averages of them are better than one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::Error;
use dolmen::catalogue::Catalogued;
use dolmen::learner::network::{Activation, DeepEnsemble, Network};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression, Task};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn run() -> Run {
    seeded(5)
}

fn seeded(seed: u64) -> Run {
    Run::with_threads(seed, 2).unwrap()
}

/// Rows uniform in the square from -1 to 1.
fn square(rows: usize, seed: u64) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values = (0..2 * rows).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect();
    Features::numeric(values, 2).unwrap()
}

/// The class tells whether both columns have the same sign: nothing a linear model can see.
fn same_sign(x: &Features) -> Labels {
    let codes = x.rows().iter().map(|row| u32::from(row[0] * row[1] > 0.0)).collect();
    Labels::new(["unlike", "like"].map(String::from), codes).unwrap()
}

/// The log loss of rows of `test` by a learner fitted to `train`.
fn log_loss(
    learner: &dyn Learner<Classification>,
    train: &Features,
    test: &Features,
    run: &Run,
) -> f64 {
    let (known, fresh) = (same_sign(train), same_sign(test));
    let sample = Sample::new(train.rows(), &known).unwrap();
    let model = learner.fit(&sample, run).unwrap().remove(0);
    let rows = predict(model.as_ref(), test.rows(), run).unwrap();
    let scores =
        rows.chunks_exact(2).enumerate().map(|(i, row)| Classification::score(row, &fresh, i));
    -scores.sum::<f64>() / test.rows().rows() as f64
}

#[test]
fn signs_that_agree_are_learned() {
    let (train, test) = (square(600, 1), square(600, 2));
    for activation in [Activation::Relu, Activation::Tanh] {
        // The classes have no noise: without a strong decay single networks vary too little for an average to gain.
        let network = Network { activation, decay: 0.1, ..Network::default() };
        let single = |seed| log_loss(&network, &train, &test, &seeded(seed));
        let singles: Vec<f64> = (0..4).map(single).collect();
        assert!(singles.iter().all(|loss| *loss < 0.15), "{activation:?}: {singles:?}");
        let ensemble = DeepEnsemble { copies: 4, network: network.clone() };
        let ensemble = log_loss(&ensemble, &train, &test, &run());
        let mean = singles.iter().sum::<f64>() / 4.0;
        assert!(ensemble < mean, "{activation:?}: {ensemble} against {mean}");
    }
    let linear = Network { hidden: vec![].into(), ..Network::default() };
    assert!(log_loss(&linear, &train, &test, &run()) > 0.6);
}

#[test]
fn a_curve_is_learned_in_its_own_units_and_rows_without_weight_do_not_count() {
    let curve = |row: &[f64]| 1e4 + 300.0 * (3.0 * row[0]).sin() + 200.0 * row[1] * row[1];
    let (train, test) = (square(800, 3), square(400, 4));
    let mut y: Vec<f64> = train.rows().iter().map(curve).collect();
    let mut weights = vec![1.0; 800];
    for i in (0..800).step_by(4) {
        (y[i], weights[i]) = (-1e9, 0.0);
    }
    let sample = Sample::<Regression>::new(train.rows(), &y).unwrap().counted(&weights).unwrap();
    for hidden in [vec![32], vec![24, 12]] {
        let network = Network { hidden: hidden.into(), ..Network::default() };
        let model = network.fit(&sample, &run()).unwrap().remove(0);
        let found = predict(model.as_ref(), test.rows(), &run()).unwrap();
        let squares = test.rows().iter().zip(&found).map(|(row, f)| (curve(row) - f).powi(2));
        let error = (squares.sum::<f64>() / 400.0).sqrt();
        // The curve's standard deviation is about 230.
        assert!(error < 25.0, "{error}");
    }
}

#[test]
fn heavier_rows_pull_the_prediction() {
    let x = Features::numeric(vec![1.0; 200], 1).unwrap();
    let codes = (0..200).map(|i| i % 2).collect();
    let labels = Labels::new(["light", "heavy"].map(String::from), codes).unwrap();
    let weights: Vec<f64> = (0..200).map(|i| f64::from(1 + 3 * (i % 2))).collect();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let model = Network::default().fit(&sample.counted(&weights).unwrap(), &run()).unwrap();
    let found = predict(model[0].as_ref(), x.rows().slice(0..1), &run()).unwrap()[1];
    assert!((found - 0.8).abs() < 0.01, "{found}");
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let refused = |text: &str| {
        let x = square(40, 5);
        let labels = same_sign(&x);
        let learner = Classification::learner(&Spec::parse(text)?)?;
        learner.fit(&Sample::new(x.rows(), &labels)?, &run()).map(|_| ())
    };
    for (text, name) in [
        ("network(hidden=[8, 0])", "hidden"),
        ("network(rate=0)", "rate"),
        ("network(validation=0.9)", "validation"),
        ("deep-ensemble(copies=0)", "copies"),
        ("deep-ensemble(decay=-1)", "decay"),
        ("deep-ensemble(coppies=3)", "coppies"),
        ("network(copies=3)", "copies"),
    ] {
        let message = refused(text).unwrap_err().to_string();
        assert!(message.contains(name), "{text}: {message}");
    }
}

#[test]
fn training_can_be_cancelled() {
    let x = square(200, 6);
    let labels = same_sign(&x);
    let run = run();
    run.cancel();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let result = Network::default().fit(&sample, &run);
    assert!(matches!(result, Err(Error::Cancelled)));
}
