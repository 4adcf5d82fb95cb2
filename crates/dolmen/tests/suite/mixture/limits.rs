//! What fits of Gaussians and Gaussian mixtures refuse, and what they take.

use dolmen::error::Error;
use dolmen::learner::density::Gaussian;
use dolmen::learner::density::mixture::{
    Covariance, GaussianMixture, Given, OneOrMany, Schedule, Start,
};
use dolmen::learner::{Fitted, Learner, predict};
use dolmen::table::Features;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::made::{close, fit, one, sample};

/// Two clusters with correlated columns of unlike scale.
fn clusters(rows: usize, seed: u64) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let row = |i: usize| {
        let common = rng.random::<f64>() + 4.0 * (i % 2) as f64;
        [common + rng.random::<f64>(), 10.0 * (common + rng.random::<f64>())]
    };
    Features::numeric((0..rows).flat_map(row).collect(), 2).unwrap()
}

#[test]
fn singular_gaussians_are_refused_with_a_cure() {
    let constant = Features::numeric(vec![1.0, 5.0, 2.0, 5.0, 3.0, 5.0], 2).unwrap();
    let wide = Features::numeric((0..12).map(|i| f64::from(i * i % 7)).collect(), 4).unwrap();
    for x in [&constant, &wide] {
        let error = Gaussian::default().fit(&sample(x), &one(1)).unwrap_err();
        assert!(error.to_string().contains("singular"), "{error}");
        assert!(error.hint().unwrap().contains("beta"), "{error}");
        let map = Gaussian { beta: 0.01, ..Default::default() };
        let models = map.fit(&sample(x), &one(1)).unwrap();
        let out = predict(models[0].as_ref(), x.rows(), &one(1)).unwrap();
        assert!(out.iter().all(|p| p.is_finite()), "{out:?}");
    }
}

#[test]
fn a_collapsing_start_is_noted_and_all_of_them_are_an_error() {
    // Two equal rows far away: without a prior a component of their own has no spread.
    let mut values = clusters(40, 6).rows().values().to_vec();
    values.extend([1e3, 1e3, 1e3, 1e3]);
    let x = Features::numeric(values, 2).unwrap();
    let learner = GaussianMixture {
        components: OneOrMany::One(3),
        beta: OneOrMany::One(0.0),
        a: Some(1.0),
        ..Default::default()
    };
    let error = learner.fit_mixtures(&sample(&x), &one(1)).unwrap_err();
    assert!(error.to_string().contains("singular"), "{error}");
    assert!(error.hint().unwrap().contains("beta"));
    let chosen = GaussianMixture { beta: OneOrMany::Many(vec![0.0, 0.01]), ..learner };
    let model = fit(&chosen, &x);
    let notes = model.diagnostics().notes;
    assert!(notes[0].starts_with("beta = 0.01 chosen"), "{notes:?}");
    assert!(notes.iter().any(|n| n.starts_with("beta = 0 failed")), "{notes:?}");
}

#[test]
fn strange_data_get_a_density_or_a_word() {
    let learner = GaussianMixture { components: OneOrMany::One(2), ..Default::default() };
    let try_fit = |values: Vec<f64>, columns: usize| {
        let x = Features::numeric(values, columns).unwrap();
        learner.fit_mixtures(&sample(&x), &one(1)).map(|models| {
            let out = predict(&models[0], x.rows(), &one(1)).unwrap();
            assert!(out.iter().all(|p| p.is_finite()), "{out:?}");
        })
    };
    let word = |values: Vec<f64>, columns: usize| try_fit(values, columns).unwrap_err().to_string();
    try_fit(vec![3.0; 20], 2).unwrap();
    try_fit(vec![1.0, 2.0], 1).unwrap();
    try_fit(vec![1.0, 0.1, 2.0, 0.1, 3.0, 0.1, 4.0, 0.1], 2).unwrap();
    assert!(word(vec![1e-300, 3e-300, 4e-300, 9e-300], 1).contains("too little to be squared"));
    try_fit(vec![1e150, -3e150, 4e150, 9e149], 1).unwrap();
    try_fit(vec![1.0, f64::NAN, f64::NAN, 2.0, 3.0, 4.0, f64::NAN, f64::NAN], 2).unwrap();
    assert!(word(vec![1.0], 1).contains("2 components need 2 rows, there are 1"));
    assert!(word(vec![], 1).contains("no rows"));
    assert!(
        word(vec![1.0, f64::INFINITY, 2.0, 3.0], 2)
            .contains("row 1, column 'x2': the value is infinite")
    );
    assert!(
        word(vec![1.0, f64::NAN, 2.0, f64::NAN], 2).contains("column 'x2': every value is missing")
    );
    assert!(word(vec![1e200, -1e200, 0.0], 1).contains("too large"));
}

#[test]
fn rows_of_weight_zero_do_not_count() {
    let x = clusters(100, 12);
    let weights: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i < 60))).collect();
    let first = x.rows().select(&(0..60).collect::<Vec<_>>());
    let start = Given {
        weights: vec![0.5, 0.5],
        means: vec![vec![0.0, 0.0], vec![0.0, 50.0]],
        covariances: vec![vec![vec![9.0, 0.0], vec![0.0, 900.0]]; 2],
    };
    let learner = GaussianMixture {
        components: OneOrMany::One(2),
        start: Start::Given(start),
        ..Default::default()
    };
    let weighted = sample(&x).counted(&weights).unwrap();
    let a = learner.fit_mixtures(&weighted, &one(1)).unwrap().remove(0).parameters();
    let b = fit(&learner, &first).parameters();
    close(&a.means.concat(), &b.means.concat(), 1e-10);
    close(&a.covariances.concat().concat(), &b.covariances.concat().concat(), 1e-9);
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let x = clusters(20, 13);
    for (parameters, name) in [
        (r#"{"components": 0}"#, "components"),
        (r#"{"components": []}"#, "components"),
        (r#"{"beta": -1.0}"#, "beta"),
        (r#"{"beta": []}"#, "beta"),
        (r#"{"gamma": 0.5}"#, "gamma"),
        (r#"{"eta": -1.0}"#, "eta"),
        (r#"{"a": 0.5}"#, "a must be at least d/2"),
        (r#"{"mu0": [0.0]}"#, "mu0"),
        (r#"{"b": [[1.0]]}"#, "b must be a 2 x 2"),
        (r#"{"b": [[1.0, 0.5], [0.2, 1.0]]}"#, "b must be symmetric"),
        (r#"{"restarts": 0}"#, "restarts"),
        (r#"{"iterations": 0}"#, "iterations"),
        (r#"{"tolerance": -1.0}"#, "tolerance"),
        (r#"{"validation": 1.0}"#, "validation"),
        (
            r#"{"start": {"given": {"weights": [1.0], "means": [[0.0, 0.0]], "covariances": []}}}"#,
            "given start",
        ),
    ] {
        let learner: GaussianMixture = serde_json::from_str(parameters).unwrap();
        let error = learner.fit(&sample(&x), &one(1)).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    let tied = Gaussian { covariance: Covariance::Tied, ..Default::default() };
    assert!(tied.fit(&sample(&x), &one(1)).is_err());
}

#[test]
fn parameters_are_read_from_text_and_unknown_ones_refused() {
    let text = r#"{"components": [2, 4], "beta": [0, 0.01], "covariance": "diagonal", "start": "kmeans++", "schedule": "sw99"}"#;
    let learner: GaussianMixture = serde_json::from_str(text).unwrap();
    assert_eq!(learner.components, OneOrMany::Many(vec![2, 4]));
    assert_eq!(learner.beta, OneOrMany::Many(vec![0.0, 0.01]));
    assert_eq!(learner.schedule, Schedule::Sw99);
    assert!(serde_json::from_str::<GaussianMixture>(r#"{"component": 2}"#).is_err());
    let text = serde_json::to_string(&learner).unwrap();
    assert_eq!(serde_json::from_str::<GaussianMixture>(&text).unwrap(), learner);
}

#[test]
fn cancelled_fits_stop() {
    let x = clusters(50, 15);
    let run = one(1);
    run.cancel();
    let learner = GaussianMixture::default();
    assert!(matches!(learner.fit(&sample(&x), &run), Err(Error::Cancelled)));
}
