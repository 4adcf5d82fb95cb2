//! What is beyond all use is refused, what is cancelled stops, and many columns are no limit.

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::learner::{Sample, check};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Rows};
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Regression};

use super::{ROWS, complaints_of, rows, said, three_classes};

#[test]
fn fits_that_take_long_stop_when_they_are_cancelled() {
    let densities = [
        "kernel(bandwidth=cv)",
        "mixture(components=[2, 3])",
        "averaged(of=gaussian)",
        "averaged(of=mixture(components=2), resample=subsample)",
        "encoded(of=mixture(components=2))",
        "stack(members=[gaussian, kernel])",
        "tuned(of=[gaussian, kernel])",
    ];
    assert_eq!(complaints_of::<Density>(&densities, &(), check::stops), [""; 0]);
    let classes = [
        "logistic",
        "network",
        "deep-ensemble(copies=2)",
        "forest(trees=10)",
        "extra-trees(trees=10)",
        "boost(rounds=10)",
        "adaboost(rounds=10)",
        "adaboost(of=tree)",
        "svm",
        "experts(count=2)",
        "bayes(density=mixture(components=2))",
        "stack(members=[tree, naive-bayes])",
        "tuned(of=[tree, naive-bayes])",
    ];
    assert_eq!(complaints_of::<Classification>(&classes, &three_classes(), check::stops), [""; 0]);
    let numbers = [
        "network",
        "forest(trees=10)",
        "boost(rounds=10)",
        "svm",
        "experts(count=2)",
        "gaussian-process",
    ];
    let y = (0..ROWS).map(|i| (i as f64).sqrt()).collect();
    assert_eq!(complaints_of::<Regression>(&numbers, &y, check::stops), [""; 0]);
}

/// Numbers whose squares are infinite or zero are refused by every learner, not learned wrongly.
#[test]
fn targets_beyond_all_units_are_refused() {
    let x = rows();
    let y: Vec<f64> = (0..ROWS).map(|i| x.rows().row(i)[0] + (i as f64).sin()).collect();
    for text in [
        "mean",
        "ridge",
        "network(hidden=8)",
        "deep-ensemble(copies=2, hidden=8)",
        "neighbours",
        "svm",
        "gaussian-process",
        "tree",
        "boost(rounds=5, min_leaf=2)",
        "forest(trees=5)",
        "extra-trees(trees=5)",
        "experts(count=2)",
        "tuned(of=[mean, ridge(lambda=[1, 10])], folds=3)",
    ] {
        for scale in [1e-300, 1e300] {
            let far: Vec<f64> = y.iter().map(|y| y * scale).collect();
            let error = said::<Regression>(text, x.rows(), &far).unwrap_err();
            assert!(error.to_string().contains("the target"), "{text}, y times {scale}: {error}");
        }
        said::<Regression>(text, x.rows(), &y).unwrap();
    }
    // A constant has no differences to be squared.
    said::<Regression>("mean", x.rows(), &vec![1e-300; ROWS]).unwrap();
}

/// Sees to it that a spec is refused for one of its sizes.
fn refused<T: Catalogued>(text: &str, name: &str, x: Rows<'_>, target: &T::Target) {
    let run = Run::with_threads(1, 1).unwrap();
    let sample = Sample::<T>::new(x, target).unwrap();
    let fit = T::learner(&Spec::parse(text).unwrap()).and_then(|l| l.fit(&sample, &run));
    let error = fit.unwrap_err().to_string();
    // Beyond 2^63 a number in a spec is no whole number any more.
    let says_why = error.contains("at most") || error.contains("a whole number");
    assert!(error.contains(name) && says_why, "{text}: {error}");
}

#[test]
fn sizes_beyond_all_use_are_refused() {
    let (x, y): (_, Vec<f64>) = (rows(), (0..ROWS).map(|i| (i as f64).sin()).collect());
    let codes = (0..ROWS as u32).map(|i| i % 2).collect();
    let labels = Labels::new(["a", "b"].map(String::from), codes).unwrap();
    for size in [1_u64 << 32, 1 << 63] {
        for (kind, name) in [
            ("forest", "trees"),
            ("extra-trees", "trees"),
            ("boost", "rounds"),
            ("network", "hidden"),
            ("deep-ensemble", "copies"),
            ("experts", "count"),
            ("experts", "restarts"),
            ("tree", "folds"),
        ] {
            let text = format!("{kind}({name}={size})");
            refused::<Regression>(&text, name, x.rows(), &y);
            refused::<Classification>(&text, name, x.rows(), &labels);
        }
        for (text, name) in [
            (format!("adaboost(rounds={size})"), "rounds"),
            (format!("logistic(folds={size})"), "folds"),
            (format!("tuned(of=logistic, folds={size})"), "folds"),
            (format!("stack(members=[logistic, tree], folds={size})"), "folds"),
        ] {
            refused::<Classification>(&text, name, x.rows(), &labels);
        }
        for (text, name) in [
            (format!("mixture(restarts={size})"), "restarts"),
            (format!("mixture(components={size})"), "components"),
            (format!("averaged(of=gaussian, fits={size})"), "fits"),
            (format!("kernel(bandwidth=cv, folds={size})"), "folds"),
        ] {
            refused::<Density>(&text, name, x.rows(), &());
        }
    }
    // What is within its range, but not within memory, is refused with both figures.
    let run = Run::with_threads(1, 1).unwrap();
    let huge = Spec::parse("deep-ensemble(copies=1000, hidden=[100000, 100000])").unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let error = Regression::learner(&huge).unwrap().fit(&sample, &run).unwrap_err().to_string();
    assert!(error.starts_with("the parameters of the network: about 280.1 TB"), "{error}");
}

#[test]
fn many_columns_are_learned_from() {
    const COLUMNS: usize = 1100;
    let value = |at: usize| ((at * at) as f64 * 0.7310 + (at as f64).sqrt()).sin();
    let codes: Vec<u32> = (0..ROWS as u32).map(|i| i % 2).collect();
    let row = |i: usize| {
        let shift = f64::from(codes[i]);
        (0..COLUMNS).map(move |j| value(i * COLUMNS + j) + if j < 3 { 2.0 * shift } else { 0.0 })
    };
    let x = Features::numeric((0..ROWS).flat_map(row).collect(), COLUMNS).unwrap();
    let labels = Labels::new(["a", "b"].map(String::from), codes.clone()).unwrap();
    let y: Vec<f64> = codes.iter().map(|&c| f64::from(c)).collect();
    let finite = |text: &str, said: &[f64]| {
        assert!(said.iter().all(|v| v.is_finite()), "{text}");
    };
    for text in ["kernel", "kernel(shape=triangular, bandwidth=3)", "kernel(shape=epanechnikov)"] {
        let said = said::<Density>(text, x.rows(), &()).unwrap();
        assert!(said.iter().all(|v| !v.is_nan()), "{text}: {:?}", &said[..3]);
    }
    for text in ["naive-bayes", "aode", "bma-aode", "lmg-ode", "lmd-ode", "logistic", "experts"] {
        let said = said::<Classification>(text, x.rows(), &labels).unwrap();
        finite(text, &said);
        let right = codes.iter().zip(said.chunks(2)).filter(|(c, p)| p[**c as usize] > 0.5);
        assert!(right.count() > 9 * ROWS / 10, "{text}");
    }
    for text in ["ridge", "experts(count=2)"] {
        finite(text, &said::<Regression>(text, x.rows(), &y).unwrap());
    }
    let ode = Catalogue::standard()
        .learner_for::<Classification>(&Spec::parse("ode").unwrap(), x.rows().schema());
    assert!(ode.unwrap_err().to_string().contains("at most 256 input columns"));
}
