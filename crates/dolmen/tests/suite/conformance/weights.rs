//! Row weights: a row counted twice is that row twice, and a constant factor says nothing.

use dolmen::catalogue::Catalogued;
use dolmen::learner::{Sample, Weights, check};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Rows};
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Regression};

use super::{ROWS, complaints_of, rows, three_classes};

#[test]
fn a_row_counted_twice_is_that_row_twice() {
    let densities = ["gaussian", "gaussian(covariance=diagonal, beta=1)", "mixture(components=1)"];
    let kernels =
        ["kernel", "kernel(shape=triangular, bandwidth=[0.4, 1.5])", "kernel(bandwidth=scott)"];
    let densities = [&densities[..], &kernels].concat();
    assert_eq!(complaints_of::<Density>(&densities, &(), check::counted), [""; 0]);
    let classes = [
        "class-frequencies",
        "bayes(density=gaussian)",
        "neighbours(k=[1, 5])",
        "tree(alpha=0)",
        "naive-bayes",
        "ode(root=[x1, x2])",
        "aode",
        "a2de",
        "bma-aode",
        "logistic(lambda=[0.1, 10], tolerance=1e-10)",
        "adaboost(rounds=5)",
        "boost(rounds=5, min_leaf=3)",
        "encoded(of=bayes(density=gaussian), standardise=true)",
    ];
    assert_eq!(
        complaints_of::<Classification>(&classes, &three_classes(), check::counted),
        [""; 0]
    );
    let numbers = [
        "mean",
        "ridge",
        "ridge(lambda=[0.1, 10])",
        "neighbours(k=[1, 5], weights=distance)",
        "tree(alpha=0, depth=3)",
        "boost(rounds=5, min_leaf=3)",
        "svm(tolerance=1e-9)",
        "gaussian-process",
    ];
    let y = (0..ROWS).map(|i| (i as f64).sqrt()).collect();
    assert_eq!(complaints_of::<Regression>(&numbers, &y, check::counted), [""; 0]);
}

#[test]
fn weights_that_sum_to_one_are_like_none() {
    let x = rows();
    let y: Vec<f64> = (0..ROWS).map(|i| x.rows().row(i)[0] + (i as f64).sin()).collect();
    let weights = Weights::new(vec![1.0 / ROWS as f64; ROWS]).unwrap();
    let run = Run::with_threads(1, 1).unwrap();
    for spec in ["tree", "forest(trees=12)", "extra-trees(trees=12)", "boost(min_leaf=3)"] {
        let learner = Regression::learner(&Spec::parse(spec).unwrap()).unwrap();
        let plain = Sample::<Regression>::new(x.rows(), &y).unwrap();
        let [usual, weighted] = [plain, plain.weighted(&weights).unwrap()].map(|sample| {
            let model = learner.fit(&sample, &run).unwrap().remove(0);
            dolmen::learner::predict(model.as_ref(), x.rows(), &run).unwrap()
        });
        assert!(usual.iter().any(|v| *v != usual[0]), "{spec} is constant");
        assert_eq!(usual, weighted, "{spec}");
    }
}

/// What the first member of a spec says of weighted rows that it learned from.
fn said_weighted<T: Catalogued>(
    text: &str,
    (x, target): (Rows<'_>, &T::Target),
    weights: &[f64],
) -> Vec<f64> {
    let run = Run::with_threads(1, 1).unwrap();
    let weights = Weights::new(weights.to_vec()).unwrap();
    let learner = T::learner(&Spec::parse(text).unwrap()).unwrap();
    let sample = Sample::<T>::new(x, target).unwrap().weighted(&weights).unwrap();
    let model = learner.fit(&sample, &run).unwrap().remove(0);
    dolmen::learner::predict(model.as_ref(), x, &run).unwrap()
}

/// All weights times a constant are the same weights, also where the product rounds: equally good splits stay so.
#[test]
fn weights_times_a_constant_change_nothing() {
    let x = rows();
    // Few distinct values make many splits that are equally good.
    let coarse: Vec<f64> = x.rows().values().iter().map(|v| (2.0 * v).round()).collect();
    let x = Features::numeric(coarse, 2).unwrap();
    let y: Vec<f64> = (0..ROWS).map(|i| f64::from((i * 7 % 5) as u8)).collect();
    let labels = |classes: usize| {
        let codes = (0..ROWS).map(|i| (i * 7 % 5 % classes) as u32).collect();
        Labels::new((0..classes).map(|c| format!("c{c}")).collect::<Vec<_>>(), codes).unwrap()
    };
    let weights: Vec<f64> = (0..ROWS).map(|i| 0.1 * (1 + i % 7) as f64 + 0.01).collect();
    for c in [1e-6, 0.1, 0.3, 3.0, 7.7, 1e3, 1e6] {
        let other: Vec<f64> = weights.iter().map(|w| c * w).collect();
        for text in [
            "forest(trees=30)",
            "extra-trees(trees=30)",
            "forest(trees=30, class_weights=balanced)",
        ] {
            for classes in [2, 3] {
                let target = labels(classes);
                let at = (x.rows(), &target);
                let usual = said_weighted::<Classification>(text, at, &weights);
                let scaled = said_weighted::<Classification>(text, at, &other);
                assert_eq!(usual, scaled, "{text}, {classes} classes, times {c}");
            }
        }
        for text in ["forest(trees=30)", "extra-trees(trees=30)"] {
            let usual = said_weighted::<Regression>(text, (x.rows(), &y), &weights);
            let scaled = said_weighted::<Regression>(text, (x.rows(), &y), &other);
            assert_eq!(usual, scaled, "{text} of numbers, times {c}");
        }
        for text in ["tree(alpha=0)", "boost(rounds=5, min_leaf=2)", "logistic", "naive-bayes"] {
            let target = labels(3);
            let usual = said_weighted::<Classification>(text, (x.rows(), &target), &weights);
            let scaled = said_weighted::<Classification>(text, (x.rows(), &target), &other);
            let apart = usual.iter().zip(&scaled).find(|(a, b)| (*a - *b).abs() > 1e-6);
            assert!(apart.is_none(), "{text}, times {c}: {apart:?}");
        }
    }
}
