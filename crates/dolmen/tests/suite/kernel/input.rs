//! Kernel densities: parameters in specs, and bad input.

use std::sync::Arc;

use dolmen::Error;
use dolmen::learner::density::kernel::{Bandwidth, KernelDensity, Rule, Shape};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::table::{Features, Field, Kind, Schema};
use serde_json::{Value, json};

use super::made::{fit, kernel, log_density, normal, run};

#[test]
fn parameters_are_read_from_specs() {
    let read = |spec: Value| serde_json::from_value::<KernelDensity>(spec);
    let ladder = read(json!({"shape": "triangular", "bandwidth": [0.1, 1]})).unwrap();
    assert_eq!(
        ladder.members(),
        ["kernel(shape=triangular, bandwidth=0.1)", "kernel(shape=triangular, bandwidth=1)"]
    );
    assert_eq!(read(json!({"bandwidth": 2})).unwrap().bandwidth, Bandwidth::Fraction(2.0));
    let loo = read(json!({"bandwidth": "loo", "search": "sw99", "scale": "sample"})).unwrap();
    assert_eq!(loo.members(), ["kernel(bandwidth=loo, scale=sample, search=sw99)"]);
    let absolute = read(json!({"bandwidth": {"absolute": [1.0, 3.0]}})).unwrap();
    assert_eq!(absolute.bandwidth, Bandwidth::Absolute { absolute: vec![1.0, 3.0] });
    assert_eq!(read(json!({})).unwrap(), KernelDensity::default());
    let bad = read(json!({"bandwidth": "scot"})).unwrap_err().to_string();
    assert!(bad.contains("silverman"), "{bad}");
    assert!(read(json!({"kernel": "gaussian"})).is_err());
    for learner in [ladder, loo, absolute] {
        assert_eq!(read(serde_json::to_value(&learner).unwrap()).unwrap(), learner);
    }
}

#[test]
fn bad_parameters_are_named() {
    let data = normal(20, 2, 16);
    let sample = Sample::new(data.rows(), &()).unwrap();
    let default = KernelDensity::default();
    let bad = [
        ("bandwidth", kernel(Shape::Gaussian, 0.0)),
        ("bandwidth", kernel(Shape::Gaussian, f64::NAN)),
        ("bandwidth", kernel(Shape::Gaussian, [])),
        ("tolerance", KernelDensity { tolerance: 1.0, ..default.clone() }),
        ("folds", KernelDensity { folds: 1, ..default.clone() }),
        ("folds", KernelDensity { folds: 21, ..kernel(Shape::Gaussian, Rule::Cv) }),
        ("search_rows", KernelDensity { search_rows: 1, ..default }),
    ];
    for (name, learner) in bad {
        let error = learner.fit(&sample, &run()).unwrap_err();
        assert!(matches!(&error, Error::Param { name: found, .. } if found == name), "{error}");
    }
    let absolute = kernel(Shape::Gaussian, Bandwidth::Absolute { absolute: vec![1.0] });
    assert!(matches!(
        absolute.fit(&sample, &run()),
        Err(Error::Shape { expected: 2, found: 1, .. })
    ));
}

#[test]
fn bad_rows_are_named_with_a_cure() {
    let fails = |x: &Features, learner: KernelDensity| {
        let error = learner.fit(&Sample::new(x.rows(), &()).unwrap(), &run()).unwrap_err();
        (error.to_string(), error.hint())
    };
    let (message, hint) = fails(
        &Features::numeric(vec![1.0, 2.0, 3.0, f64::NAN], 2).unwrap(),
        kernel(Shape::Gaussian, 0.5),
    );
    assert!(message.starts_with("row 2, column 'x2'") && hint.unwrap().contains("impute"));
    let (message, _) = fails(
        &Features::numeric(vec![1.0, f64::INFINITY], 1).unwrap(),
        kernel(Shape::Gaussian, 0.5),
    );
    assert!(message.contains("row 2"), "{message}");
    let constant = Features::numeric(vec![1.0, 0.1, 2.0, 0.1, 4.0, 0.1], 2).unwrap();
    for bandwidth in [0.5.into(), Rule::Scott.into(), Bandwidth::from(Rule::Loo)] {
        let (message, hint) = fails(&constant, kernel(Shape::Gaussian, bandwidth));
        assert!(message.contains("'x2'") && hint.unwrap().contains("drop"), "{message}");
    }
    let (message, _) = fails(&Features::numeric(vec![], 1).unwrap(), kernel(Shape::Gaussian, 0.5));
    assert!(message.contains("no rows"), "{message}");
    let (message, hint) =
        fails(&Features::numeric(vec![1.0], 1).unwrap(), kernel(Shape::Gaussian, 0.5));
    assert!(message.contains("more than one row") && hint.is_some(), "{message}");

    let category = Field {
        name: "colour".into(),
        kind: Kind::Categorical { levels: ["red".to_string(), "blue".to_string()].into() },
    };
    let schema = Arc::new(Schema::new(vec![category]));
    let (message, _) =
        fails(&Features::new(vec![0.0, 1.0], schema).unwrap(), kernel(Shape::Gaussian, 0.5));
    assert!(message.contains("'colour'"), "{message}");
}

#[test]
fn a_constant_column_and_a_single_row_are_fine_with_absolute_bandwidths() {
    let absolute = kernel(Shape::Gaussian, Bandwidth::Absolute { absolute: vec![2.0] });
    let model = fit(&absolute, &Features::numeric(vec![5.0], 1).unwrap());
    let peak = -(2.0 * (2.0 * std::f64::consts::PI).sqrt()).ln();
    assert!((log_density(model[0].as_ref(), vec![5.0], 1)[0] - peak).abs() < 1e-14);
}

#[test]
fn odd_queries_do_no_harm() {
    let data = normal(500, 2, 17);
    for shape in Shape::ALL {
        let model = &fit(&kernel(shape, 0.4), &data)[0];
        let infinite =
            log_density(model.as_ref(), vec![f64::INFINITY, 0.0, f64::NEG_INFINITY, 0.0], 2);
        assert_eq!(infinite, [f64::NEG_INFINITY; 2]);
        let missing = Features::numeric(vec![0.0, f64::NAN], 2).unwrap();
        let error = predict(model.as_ref(), missing.rows(), &run()).unwrap_err();
        assert!(error.to_string().contains("'x2'"), "{error}");
        let narrow = Features::numeric(vec![0.0], 1).unwrap();
        assert!(predict(model.as_ref(), narrow.rows(), &run()).is_err());
    }
}
