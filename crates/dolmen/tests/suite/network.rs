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
    Run::with_threads(5, 2).unwrap()
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

/// The probabilities of both classes for rows of `test`, by a learner fitted to `train`.
fn probabilities(
    learner: &dyn Learner<Classification>,
    train: &Features,
    test: &Features,
) -> Vec<f64> {
    let known = same_sign(train);
    let sample = Sample::new(train.rows(), &known).unwrap();
    let model = learner.fit(&sample, &run()).unwrap().remove(0);
    predict(model.as_ref(), test.rows(), &run()).unwrap()
}

/// The log loss of probabilities of both classes.
fn log_loss(probabilities: &[f64], test: &Features) -> f64 {
    let fresh = same_sign(test);
    let rows = probabilities.chunks_exact(2).enumerate();
    -rows.map(|(i, row)| Classification::score(row, &fresh, i)).sum::<f64>()
        / test.rows().rows() as f64
}

#[test]
fn signs_that_agree_are_learned() {
    let (train, test) = (square(600, 1), square(600, 2));
    for activation in [Activation::Relu, Activation::Tanh] {
        let network = Network { activation, ..Network::default() };
        // The sums of the first, the first two, three and four networks: their differences are the networks one by one.
        let sum = |copies: usize| -> Vec<f64> {
            let ensemble = DeepEnsemble { copies, network: network.clone() };
            let said = probabilities(&ensemble, &train, &test);
            said.iter().map(|p| copies as f64 * p).collect()
        };
        let sums: Vec<Vec<f64>> = (1..=4).map(sum).collect();
        let mut singles = vec![sums[0].clone()];
        singles.extend(
            sums.windows(2).map(|two| two[1].iter().zip(&two[0]).map(|(b, a)| b - a).collect()),
        );
        assert_eq!(singles[0], probabilities(&network, &train, &test));
        let losses: Vec<f64> = singles.iter().map(|single| log_loss(single, &test)).collect();
        assert!(losses.iter().all(|loss| *loss < 0.15), "{activation:?}: {losses:?}");
        // By Jensen's inequality the average loses less than its networks do on average.
        let average: Vec<f64> = sums[3].iter().map(|sum| sum / 4.0).collect();
        let (ensemble, mean) = (log_loss(&average, &test), losses.iter().sum::<f64>() / 4.0);
        assert!(ensemble < mean, "{activation:?}: {ensemble} against {mean}");
    }
    let linear = Network { hidden: vec![].into(), ..Network::default() };
    assert!(log_loss(&probabilities(&linear, &train, &test), &test) > 0.6);
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
