//! Every learner that can be named passes the conformance suite, and the suite notices learners that are wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use dolmen::Result;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::learner::Stored;
use dolmen::learner::{
    Fitted, Learner, Sample, Simple, SimpleLearner, SimpleModel, Weights, check,
};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::store::{Parameters, Record, Registry};
use dolmen::table::{Features, Field, Kind, Rows, Schema};
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Joint, Regression, Task};
use serde::{Deserialize, Serialize};

const ROWS: usize = 45;

/// Three overlapping groups of rows in the plane.
fn rows() -> Features {
    let value = |at: usize| {
        let (i, j) = (at / 2, at % 2);
        (at as f64 * 2.399).sin() + 1.5 * ((i + j) % 3) as f64
    };
    Features::numeric((0..2 * ROWS).map(value).collect(), 2).unwrap()
}

/// Puts each spec of a task through the suite, and sees to it that no learner of the library is forgotten.
fn conform<T: Catalogued>(specs: &[&str], target: &T::Target) {
    let x = rows();
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let kinds: Vec<String> = specs
        .iter()
        .map(|text| {
            let spec = Spec::parse(text).unwrap();
            let learner = T::learner(&spec).unwrap();
            let complaints =
                check::learner(learner.as_ref(), &sample, Catalogue::standard().registry());
            assert!(complaints.is_empty(), "{} {text}: {complaints:#?}", T::NAME);
            spec.kind
        })
        .collect();
    for entry in Catalogue::standard().learners::<T>() {
        assert!(kinds.iter().any(|kind| kind == entry.kind()), "{} is not checked", entry.kind());
    }
}

#[test]
fn every_density() {
    let specs = [
        "gaussian",
        "kernel",
        "kernel(shape=triangular, bandwidth=[0.1, 0.4, 1.5])",
        "kernel(shape=epanechnikov, bandwidth=0.5)",
        "kernel(bandwidth=cv)",
        "mixture(components=[1, 2, 3])",
        "mixture(components=2, covariance=diagonal)",
        "mixture(components=2, covariance=tied)",
        "mixture(components=2, covariance=spherical)",
        "mixture(components=2, schedule=sw99)",
        "mixture(components=[1, 3], freedom=4)",
        "atoms(components=[1, 3])",
        "averaged(of=mixture(components=2), fits=3)",
        "averaged(of=gaussian, fits=3, resample=subsample)",
        "encoded(of=kernel(bandwidth=[0.3, 0.6]))",
        "stack(members=[gaussian, mixture(components=2)])",
        "stack(members=[gaussian, stack(members=[kernel, mixture(components=2)])])",
        "stack(members=[gaussian, kernel], combiner=em, folds=3, ending=average)",
        "tuned(of=mixture(components=[1, 2]), folds=3)",
    ];
    conform::<Density>(&specs, &());
}

#[test]
fn every_classifier() {
    let classes = ["a", "b", "c"].map(String::from);
    let labels = Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap();
    let specs = [
        "class-frequencies",
        "class-frequencies(pseudo_count=0)",
        "bayes(density=gaussian)",
        "bayes(density=kernel(bandwidth=[0.3, 0.8]))",
        "bayes(density=mixture(components=2))",
        "bayes(density=averaged(of=mixture(components=2), fits=3))",
        "neighbours(k=[1, 5, 100])",
        "neighbours(weights=distance, smoothing=0, standardise=false)",
        "svm",
        "svm(kernel=linear, c=10, standardise=false)",
        "tree",
        "tree(depth=3, criterion=entropy, alpha=0.01, pseudo_count=0)",
        "tree(leaves=5, one_se=true)",
        "boost(rounds=10, min_leaf=3)",
        "boost(rounds=5, min_leaf=2, rows=0.7, columns=0.5)",
        "naive-bayes",
        "ode(root=[x1, x2])",
        "aode(threshold=3, missing=ignore)",
        "a2de",
        "a2de(threshold=4, missing=ignore, bins=3)",
        "bma-aode(bins=3)",
        "lmd-ode",
        "lmg-ode",
        "logistic",
        "logistic(lambda=[0.1, 10])",
        "logistic(lambda=0, standardise=false)",
        "network(hidden=8)",
        "network(hidden=[6, 5], activation=tanh, batch=7)",
        "deep-ensemble(copies=3, hidden=8)",
        "forest(trees=12)",
        "forest(trees=5, importance=permutation, class_weights=balanced)",
        "extra-trees(trees=12)",
        "adaboost(rounds=10)",
        "adaboost(rounds=4, of=bayes(density=gaussian))",
        "experts(count=[1, 3])",
        "experts(count=2, top=1, restarts=2)",
        "averaged(of=tree(depth=3), fits=3)",
        "averaged(of=logistic(lambda=[0.1, 10]), fits=2, resample=subsample)",
        "encoded(of=bayes(density=gaussian), standardise=true)",
        "encoded(of=logistic, crosses=4)",
        "encoded(of=logistic, bins=4, targets=beside)",
        "encoded(of=tree(depth=3), bins=4, crosses=4, targets=instead, prior=3)",
        "ordinal(of=tree(depth=3), order=[b, a, c])",
        "ordinal(of=logistic(lambda=[0.1, 10]), order=[a, b, c])",
        "stack(members=[class-frequencies, bayes(density=gaussian)])",
        "stack(members=[class-frequencies, logistic], combiner=logistic(lambda=[1, 10]), folds=3)",
        "tuned(of=[class-frequencies, logistic(lambda=[1, 10])], folds=3)",
    ];
    conform::<Classification>(&specs, &labels);
}

#[test]
fn every_joint_model() {
    let classes = ["a", "b", "c"].map(String::from);
    let labels = Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap();
    let specs = [
        "bayes(density=gaussian)",
        "bayes(density=kernel(bandwidth=[0.3, 0.8]))",
        "naive-bayes",
        "ode(root=[x1, x2])",
        "aode(threshold=3, missing=ignore)",
        "a2de",
        "bma-aode(bins=3)",
        "lmg-ode",
        "averaged(of=naive-bayes, fits=3)",
        "encoded(of=bayes(density=gaussian))",
        "stack(members=[naive-bayes, aode])",
        "tuned(of=[naive-bayes, aode])",
    ];
    conform::<Joint>(&specs, &labels);
    let mixed = ["naive-bayes", "aode", "a2de(missing=ignore)", "lmg-ode", "bma-aode"];
    conform_mixed::<Joint>(&mixed, &labels);
    conform_mixed::<Classification>(&["a2de", "lmd-ode", "aode(missing=ignore)"], &labels);
}

#[test]
fn every_regression() {
    let y = (0..ROWS).map(|i| (i as f64).sqrt()).collect();
    let specs = [
        "mean",
        "ridge",
        "ridge(lambda=[0.1, 10])",
        "ridge(lambda=0, standardise=false)",
        "network(hidden=8)",
        "deep-ensemble(copies=3, hidden=[6, 5])",
        "neighbours(k=[1, 5, 100])",
        "neighbours(weights=distance, standardise=false)",
        "svm",
        "svm(kernel=linear, epsilon=0, gamma=0.5, standardise=false)",
        "gaussian-process",
        "gaussian-process(kernel=rbf, rows=10)",
        "gaussian-process(basis=12)",
        "tree",
        "tree(depth=3, alpha=0)",
        "boost(rounds=10, min_leaf=3)",
        "boost(rounds=5, min_leaf=2, loss=absolute)",
        "boost(rounds=5, min_leaf=2, loss=huber)",
        "boost(rounds=5, min_leaf=2, loss=quantile, quantile=0.9)",
        "boost(rounds=5, min_leaf=2, loss=poisson)",
        "forest(trees=12)",
        "extra-trees(trees=12)",
        "experts(count=[1, 3])",
        "experts(count=3, top=2, ridge=0)",
        "averaged(of=tree(depth=3), fits=3)",
        "averaged(of=ridge, fits=2, resample=starts)",
        "encoded(of=mean)",
        "encoded(of=ridge, bins=4, targets=instead)",
        "stack(members=[mean])",
        "stack(members=[mean, ridge], combiner=ridge, folds=3, ending=average)",
        "tuned(of=[mean, ridge(lambda=[1, 10])], folds=3)",
    ];
    conform::<Regression>(&specs, &y);
}

/// What a stricter check says of each spec.
fn complaints_of<T: Catalogued>(
    specs: &[&str],
    target: &T::Target,
    check: fn(&dyn Learner<T>, &Sample<'_, T>) -> Option<String>,
) -> Vec<String> {
    let x = rows();
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let complaint = |text: &&str| {
        let learner = T::learner(&Spec::parse(text).unwrap()).unwrap();
        check(learner.as_ref(), &sample).map(|complaint| format!("{text}: {complaint}"))
    };
    specs.iter().filter_map(complaint).collect()
}

fn three_classes() -> Labels {
    let classes = ["a", "b", "c"].map(String::from);
    Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap()
}

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

/// What the members of a spec say of the rows they learned from.
fn said<T: Catalogued>(text: &str, x: Rows<'_>, target: &T::Target) -> Result<Vec<f64>> {
    let learner = T::learner(&Spec::parse(text).unwrap()).unwrap();
    let run = Run::with_threads(1, 1).unwrap();
    let models = learner.fit(&Sample::<T>::new(x, target)?, &run)?;
    let said = models.iter().map(|model| dolmen::learner::predict(model.as_ref(), x, &run));
    Ok(said.collect::<Result<Vec<_>>>()?.concat())
}

#[test]
fn predictions_follow_the_units_of_the_target() {
    let x = rows();
    // A signal, and little enough of each number that adding 1e10 loses nothing.
    let at = |i: usize| x.rows().row(i)[0] + (3.0 * x.rows().row(i)[1]).sin();
    let y: Vec<f64> = (0..ROWS).map(|i| (at(i) * 1024.0).round() / 1024.0).collect();
    let specs = [
        "mean",
        "ridge",
        "ridge(lambda=[0.1, 10])",
        "network(hidden=8)",
        "neighbours(k=[1, 5])",
        "svm(tolerance=1e-8)",
        "gaussian-process",
        "tree",
        "tree(depth=3, alpha=0)",
        "boost(rounds=10, min_leaf=3)",
        "boost(rounds=100, min_leaf=2, loss=absolute)",
        "boost(rounds=100, min_leaf=2, loss=quantile, quantile=0.3)",
        "boost(rounds=5, min_leaf=2, loss=huber)",
        "forest(trees=12)",
        "extra-trees(trees=12)",
        "experts(count=[1, 2])",
    ];
    let mut complaints = Vec::new();
    for spec in specs {
        let usual = said::<Regression>(spec, x.rows(), &y).unwrap();
        // Powers of two near 1e100 and 1e-100, so that what is equally good stays so.
        let far = 2_f64.powi(332);
        for (shift, scale) in [(1e10, 1.0), (0.0, far), (0.0, 1.0 / far)] {
            let other: Vec<f64> = y.iter().map(|y| shift + scale * y).collect();
            let said = said::<Regression>(spec, x.rows(), &other).unwrap();
            let back = said.iter().map(|v| (v - shift) / scale);
            let other = usual.iter().zip(back).find(|(a, b)| far_apart(**a, *b));
            complaints.extend(other.map(|other| format!("{spec}, {shift} + {scale} y: {other:?}")));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Whether two predictions differ, or one of them is no number.
fn far_apart(a: f64, b: f64) -> bool {
    let apart = (a - b).abs();
    apart.is_nan() || apart >= 1e-4
}

#[test]
fn the_units_of_the_inputs_do_not_matter_or_are_refused() {
    let x = rows();
    let y: Vec<f64> = (0..ROWS).map(|i| x.rows().row(i)[0] + (i as f64).sin()).collect();
    let codes = y.iter().map(|y| u32::from(*y > 1.0)).collect();
    let labels = Labels::new(["a", "b"].map(String::from), codes).unwrap();
    let scaled = |scale: f64| {
        Features::numeric(x.rows().values().iter().map(|v| v * scale).collect(), 2).unwrap()
    };
    let mut complaints = Vec::new();
    let mut alike = |what: String, usual: &[f64], said: Result<Vec<f64>>| {
        let Ok(said) = said else { return };
        let other = usual.iter().zip(&said).find(|(a, b)| far_apart(**a, **b));
        complaints.extend(other.map(|other| format!("{what}: {other:?}")));
    };
    for scale in [1e-300, 1e-150, 1e150, 1e300] {
        let other = scaled(scale);
        for spec in [
            "ridge",
            "network(hidden=8)",
            "neighbours",
            "svm",
            "tree",
            "boost(rounds=10, min_leaf=3)",
            "forest(trees=12)",
            "extra-trees(trees=12)",
            "experts(count=2)",
        ] {
            let usual = said::<Regression>(spec, x.rows(), &y).unwrap();
            let said = said::<Regression>(spec, other.rows(), &y);
            alike(format!("{spec}, x times {scale:e}"), &usual, said);
        }
        for spec in [
            "logistic",
            "network(hidden=8)",
            "neighbours",
            "svm",
            "tree",
            "boost(rounds=10, min_leaf=3)",
            "forest(trees=12)",
            "extra-trees(trees=12)",
            "experts(count=2)",
            "naive-bayes",
            "aode",
            "bayes(density=gaussian)",
            "bayes(density=mixture(components=2))",
            "bayes(density=kernel)",
        ] {
            let usual = said::<Classification>(spec, x.rows(), &labels).unwrap();
            let said = said::<Classification>(spec, other.rows(), &labels);
            alike(format!("{spec} of classes, x times {scale:e}"), &usual, said);
        }
        for spec in ["gaussian", "kernel", "mixture(components=2)"] {
            let usual = said::<Density>(spec, x.rows(), &()).unwrap();
            let shift = 2.0 * scale.ln();
            let said = said::<Density>(spec, other.rows(), &())
                .map(|said| said.iter().map(|v| v + shift).collect());
            alike(format!("{spec}, x times {scale:e}"), &usual, said);
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
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
    assert!(error.starts_with("the parameters of the network: about 280.0 TB"), "{error}");
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

/// Rows with a category, and with missing values in both columns.
fn mixed_rows() -> Features {
    let levels = ["red", "green", "blue"].map(String::from);
    let colours = Kind::Categorical { levels: levels.into() };
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let fields = vec![field("size", Kind::Numeric), field("colour", colours)];
    let numeric = rows();
    let row = |i: usize| {
        let size = if i % 7 == 3 { f64::NAN } else { numeric.rows().row(i)[0] };
        let colour = if i % 11 == 5 { f64::NAN } else { (i % 3) as f64 };
        [size, colour]
    };
    Features::new((0..ROWS).flat_map(row).collect::<Vec<f64>>(), Arc::new(Schema::new(fields)))
        .unwrap()
}

/// Puts each spec through the suite on rows with categories and missing values.
fn conform_mixed<T: Catalogued>(specs: &[&str], target: &T::Target) {
    let x = mixed_rows();
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    for text in specs {
        let learner = T::learner(&Spec::parse(text).unwrap()).unwrap();
        let complaints =
            check::learner(learner.as_ref(), &sample, Catalogue::standard().registry());
        assert!(complaints.is_empty(), "{} {text}: {complaints:#?}", T::NAME);
    }
}

#[test]
fn categories_and_missing_values_are_taken() {
    let classes = ["a", "b", "c"].map(String::from);
    let labels = Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap();
    let trees = ["tree", "tree(alpha=0)", "boost(rounds=5, min_leaf=2)"];
    conform_mixed::<Classification>(&["logistic", "neighbours(k=[1, 5])", "svm"], &labels);
    conform_mixed::<Classification>(&trees, &labels);
    let networks = ["network(hidden=8)", "deep-ensemble(copies=2, hidden=8)"];
    conform_mixed::<Classification>(&networks, &labels);
    let forests = ["forest(trees=12)", "extra-trees(trees=12)"];
    conform_mixed::<Classification>(&forests, &labels);
    conform_mixed::<Classification>(
        &["adaboost(rounds=10)", "adaboost(rounds=4, of=tree)"],
        &labels,
    );
    conform_mixed::<Classification>(&["experts(count=2)"], &labels);
    let y = (0..ROWS).map(|i| (i as f64).sqrt()).collect();
    conform_mixed::<Regression>(&["experts(count=2)"], &y);
    conform_mixed::<Regression>(&["ridge", "neighbours(k=[1, 5])", "svm", "gaussian-process"], &y);
    conform_mixed::<Regression>(&trees, &y);
    conform_mixed::<Regression>(&forests, &y);
    conform_mixed::<Regression>(&networks, &y);
}

/// What the suite says of a regression learner.
fn complaints_on<M: Stored<Regression>>(learner: &dyn Learner<Regression>) -> String {
    let x = rows();
    let y: Vec<f64> = (0..ROWS).map(|i| i as f64).collect();
    let sample = Sample::new(x.rows(), &y).unwrap();
    check::learner(learner, &sample, &Registry::default().with_model::<_, M>()).join("\n")
}

fn assert_one(complaints: &str, words: &str) {
    assert!(complaints.contains(words), "not '{words}' but: {complaints}");
    assert_eq!(complaints.lines().count(), 1, "{complaints}");
}

/// Says a row's number in its block.
#[derive(Debug, Serialize, Deserialize)]
struct Positional {}

impl Fitted<Regression> for Positional {
    fn parameters(&self) -> Parameters {
        Parameters::new("positional")
    }

    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, _x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        out.iter_mut().enumerate().for_each(|(i, out)| *out = i as f64);
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Record::new(Self::KIND, Self::VERSION, self)
    }
}

impl Stored<Regression> for Positional {
    const KIND: &'static str = "test.positional";
    const VERSION: u32 = 1;
    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        record.read()
    }
}

#[derive(Debug)]
struct ByPosition;

impl Learner<Regression> for ByPosition {
    fn members(&self) -> Vec<String> {
        vec!["by position".into()]
    }
    fn fit(
        &self,
        _sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(Positional {})])
    }
}

#[test]
fn a_prediction_that_depends_on_the_rows_around_it_is_noticed() {
    assert_one(&complaints_on::<Positional>(&ByPosition), "depends on the rows around it");
}

/// A constant, and what else a wrong learner may do.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Constant {
    value: f64,
    #[serde(skip)]
    forgotten: f64,
}

impl SimpleModel<Regression> for Constant {
    const KIND: &'static str = "test.constant";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out[0] = self.value + self.forgotten;
    }
}

#[derive(Debug)]
enum Wrong {
    Forgets,
    PanicsOnOneRow,
    CountsThreads,
    SaysNan,
    Nameless,
    CannotFit,
}

impl SimpleLearner<Regression> for Wrong {
    type Model = Constant;
    fn name(&self) -> String {
        if matches!(self, Self::Nameless) { " ".into() } else { format!("{self:?}") }
    }
    fn fit(&self, sample: &Sample<'_, Regression>, run: &Run) -> Result<Constant> {
        let constant = |value: f64| Ok(Constant { value, forgotten: 0.0 });
        match self {
            Self::Forgets => Ok(Constant { value: 1.0, forgotten: 2.0 }),
            Self::PanicsOnOneRow => {
                assert!(sample.rows() != 1, "this learner is wrong on purpose");
                constant(1.0)
            }
            Self::CountsThreads => constant(run.threads() as f64),
            Self::SaysNan => constant(f64::NAN),
            Self::Nameless => constant(1.0),
            Self::CannotFit => Err(dolmen::Error::shape("anything", 1, 0)),
        }
    }
}

#[test]
fn other_wrong_learners_are_noticed() {
    let complaints = |wrong: Wrong| complaints_on::<Simple<Constant>>(&Simple(wrong));
    assert_one(&complaints(Wrong::Forgets), "after being stored and read back");
    assert_one(&complaints(Wrong::PanicsOnOneRow), "panics on one row");
    assert_one(&complaints(Wrong::CountsThreads), "other predictions on two threads");
    assert_one(&complaints(Wrong::Nameless), "is empty or used twice");
    assert_one(&complaints(Wrong::CannotFit), "does not fit the sample");
    assert!(complaints(Wrong::SaysNan).contains("predicts the row [NaN]"));
    // A model whose kind the registry does not know cannot be read back.
    let unknown = complaints_on::<Positional>(&Simple(Wrong::Nameless));
    assert!(unknown.contains("cannot be stored and read back"), "{unknown}");
}

/// Two members where it should have one, or one name for both.
#[derive(Debug)]
struct Pair {
    names: Vec<&'static str>,
}

impl Learner<Regression> for Pair {
    fn members(&self) -> Vec<String> {
        self.names.iter().map(ToString::to_string).collect()
    }
    fn fit(
        &self,
        _sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let model = || Box::new(Simple(Constant::default())) as Box<dyn Fitted<Regression>>;
        Ok(vec![model(), model()])
    }
}

#[test]
fn names_that_do_not_tell_members_apart_are_noticed() {
    let complaints = |names| complaints_on::<Simple<Constant>>(&Pair { names });
    assert_eq!(complaints(vec!["one", "two"]), "");
    assert_one(&complaints(vec!["same", "same"]), "'same' is empty or used twice");
    assert!(complaints(vec!["one"]).contains("names 1 members but fits 2"));
}

/// A constant whose shortcut says something else, and that does not hear of cancelling.
#[derive(Debug)]
struct Hasty;

impl Learner<Regression> for Hasty {
    fn members(&self) -> Vec<String> {
        vec!["hasty".into()]
    }
    fn fit(
        &self,
        _sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(Simple(Constant::default()))])
    }
    fn out_of_sample(
        &self,
        _sample: &Sample<'_, Regression>,
        plan: &dolmen::plan::Plan,
        _run: &Run,
    ) -> Result<dolmen::learner::Block> {
        let ones = |split: &dolmen::plan::Split| vec![vec![1.0; split.test().len()]];
        let splits = plan.splits().iter().map(ones).collect();
        Ok(dolmen::learner::Block { splits, failures: Vec::new() })
    }
}

#[test]
fn shortcuts_that_are_none_are_noticed() {
    let complaints = complaints_on::<Simple<Constant>>(&Hasty);
    assert!(complaints.contains("is not what refitting gives"), "{complaints}");
    assert!(complaints.contains("goes on through all splits"), "{complaints}");
}

/// Class probabilities that do not sum to 1.
#[derive(Debug)]
struct Generous;

#[derive(Debug, Serialize, Deserialize)]
struct Halves(usize);

impl SimpleLearner<Classification> for Generous {
    type Model = Halves;
    fn name(&self) -> String {
        "generous".into()
    }
    fn fit(&self, sample: &Sample<'_, Classification>, _run: &Run) -> Result<Halves> {
        Ok(Halves(Classification::width(sample.target())))
    }
}

impl SimpleModel<Classification> for Halves {
    const KIND: &'static str = "test.halves";
    fn width(&self) -> usize {
        self.0
    }
    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out.fill(0.5);
    }
}

#[test]
fn probabilities_that_do_not_sum_to_one_are_noticed() {
    let x = rows();
    let classes = ["a", "b", "c"].map(String::from);
    let labels = Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap();
    let sample = Sample::new(x.rows(), &labels).unwrap();
    let registry = Registry::default().with_model::<_, Simple<Halves>>();
    let complaints = check::learner(&Simple(Generous), &sample, &registry);
    assert_eq!(complaints, ["generous: predicts the row [0.5, 0.5, 0.5]"]);
}
