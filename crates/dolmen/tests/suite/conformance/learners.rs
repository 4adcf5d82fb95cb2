//! Every learner of the library, on numbers and on mixed rows.

use std::sync::Arc;

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::learner::{Sample, check};
use dolmen::spec::Spec;
use dolmen::table::{Features, Field, Kind, Schema};
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Joint, Regression};

use super::{ROWS, rows};

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
        "transformed(of=ridge(lambda=[0.1, 10]))",
        "transformed(of=ridge, scale=yeo-johnson)",
        "transformed(of=tree(depth=3), scale=plain)",
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
