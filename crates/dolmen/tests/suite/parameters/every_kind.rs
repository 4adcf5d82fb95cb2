//! Every learner of the catalogue, stored and read back, has the same parameters; no stored kind is forgotten.

use std::collections::BTreeSet;

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::combine::Evidence;
use dolmen::learner::foreign::Foreign;
use dolmen::learner::{Parameters, Sample, Value};
use dolmen::oos::{OnFailure, collect};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::task::{Classification, Density, Joint, Regression};

use super::made::{classes, fit, numbers, plane};

/// The kinds of all parts.
fn kinds(parameters: &Parameters, found: &mut BTreeSet<String>) {
    assert!(parameters.kind() == "none" || parameters.entries().len() > 0, "{parameters:?}");
    found.insert(parameters.kind().into());
    for (_, value) in parameters.entries() {
        let parts = match value {
            Value::Parts(parts) => std::slice::from_ref(parts).iter().collect(),
            Value::List(values) => values.iter().filter_map(Value::parts).collect(),
            _ => Vec::new(),
        };
        parts.into_iter().for_each(|part: &Parameters| kinds(part, found));
    }
}

fn check<T: Catalogued>(specs: &[&str], target: &T::Target, found: &mut BTreeSet<String>) {
    let (x, registry) = (plane(), Catalogue::standard().registry());
    let mut named = BTreeSet::new();
    for text in specs {
        let spec = Spec::parse(text).unwrap();
        for model in fit(T::learner(&spec).unwrap().as_ref(), x.rows(), target) {
            let record = model.record().unwrap();
            let parameters = model.parameters();
            assert_eq!(parameters.kind(), record.kind(), "{text}");
            let read = registry.model::<T>(&record).unwrap().parameters();
            assert_eq!(read, parameters, "{text}");
            let json = serde_json::to_string(&parameters).unwrap();
            assert!(!json.contains("null"), "{text}: {json}");
            assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), parameters, "{text}");
            kinds(&parameters, found);
        }
        named.insert(spec.kind);
    }
    for entry in Catalogue::standard().learners::<T>() {
        assert!(named.contains(entry.kind()), "{} is not checked", entry.kind());
    }
}

/// A stack seldom keeps a gate on so few rows, so that they are made without one.
fn gates<T: Catalogued>(members: &[&str], target: &T::Target, found: &mut BTreeSet<String>) {
    let (x, run) = (plane(), Run::with_threads(1, 2).unwrap());
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let learner = |text: &&str| T::learner(&Spec::parse(text).unwrap()).unwrap();
    let learners: Vec<_> = members.iter().map(learner).collect();
    let learners: Vec<_> = learners.iter().map(AsRef::as_ref).collect();
    let plan = Plan::in_turn(x.rows().rows(), 3);
    let oos = collect(&learners, &sample, &plan, OnFailure::Stop, &run).unwrap();
    let evidence = Evidence { oos: &oos, x: Some(x.rows()), log_evidence: None };
    let gate = T::combiner(&Spec::new("gate")).unwrap();
    for combination in gate.fit(&evidence, &run).unwrap() {
        let record = combination.record().unwrap();
        let read = Catalogue::standard().registry().combination::<T>(&record).unwrap();
        assert_eq!(read.parameters(), combination.parameters());
        kinds(&combination.parameters(), found);
    }
}

#[test]
fn every_kind_has_parameters_that_survive_a_file() {
    let mut found = BTreeSet::new();
    let densities = [
        "gaussian",
        "kernel(shape=triangular, bandwidth=[0.4, 1.5])",
        "mixture(components=[1, 3])",
        "mixture(components=2, covariance=diagonal)",
        "atoms(components=[1, 2])",
        "averaged(of=mixture(components=2), fits=3)",
        "encoded(of=kernel)",
        "stack(members=[gaussian, kernel], folds=3, ending=average)",
        "tuned(of=mixture(components=[1, 2]), folds=3)",
    ];
    check::<Density>(&densities, &(), &mut found);
    let classifiers = [
        "class-frequencies",
        "bayes(density=gaussian)",
        "neighbours(k=[1, 5])",
        "svm",
        "svm(kernel=linear)",
        "tree",
        "boost(rounds=5, min_leaf=3)",
        "naive-bayes",
        "ode(root=[x1, x2])",
        "aode",
        "a2de(missing=ignore)",
        "bma-aode(bins=3)",
        "lmd-ode",
        "lmg-ode",
        "logistic(lambda=[0.1, 10])",
        "network(hidden=8)",
        "deep-ensemble(copies=3, hidden=[6, 5])",
        "forest(trees=5)",
        "extra-trees(trees=5)",
        "adaboost(rounds=5)",
        "adaboost(rounds=4, of=bayes(density=gaussian))",
        "ordinal(of=tree(depth=2), order=[a, b, c])",
        "experts(count=[1, 3])",
        "averaged(of=tree, fits=2)",
        "encoded(of=bayes(density=gaussian), standardise=true)",
        "stack(members=[class-frequencies, tree], combiner=log-pool, folds=3)",
        "stack(members=[class-frequencies, tree], combiner=logistic(lambda=1), folds=3)",
        "tuned(of=[class-frequencies, logistic(lambda=[1, 10])], folds=3)",
    ];
    check::<Classification>(&classifiers, &classes(), &mut found);
    let joint = [
        "bayes(density=kernel)",
        "naive-bayes",
        "ode(root=x1)",
        "aode",
        "a2de",
        "bma-aode",
        "lmg-ode",
        "averaged(of=naive-bayes, fits=2)",
        "encoded(of=bayes(density=gaussian))",
        "stack(members=[naive-bayes, aode], folds=3)",
        "tuned(of=[naive-bayes, aode])",
    ];
    check::<Joint>(&joint, &classes(), &mut found);
    let regressions = [
        "mean",
        "ridge(lambda=[0.1, 10])",
        "network(hidden=8, activation=tanh)",
        "deep-ensemble(copies=2, hidden=4)",
        "neighbours(weights=distance)",
        "svm",
        "transformed(of=ridge, scale=yeo-johnson)",
        "gaussian-process",
        "tree",
        "boost(rounds=5, min_leaf=3, loss=poisson)",
        "forest(trees=5)",
        "extra-trees(trees=5)",
        "experts(count=3, top=2)",
        "averaged(of=ridge, fits=2)",
        "encoded(of=mean)",
        "stack(members=[mean, ridge], combiner=ridge, folds=3, ending=average)",
        "tuned(of=[mean, ridge(lambda=[1, 10])], folds=3)",
    ];
    check::<Regression>(&regressions, &numbers(plane().rows()), &mut found);
    gates::<Density>(&["gaussian", "kernel"], &(), &mut found);
    gates::<Classification>(&["class-frequencies", "tree"], &classes(), &mut found);
    gates::<Joint>(&["naive-bayes", "aode"], &classes(), &mut found);
    gates::<Regression>(&["mean", "ridge"], &numbers(plane().rows()), &mut found);
    let foreign = Foreign {
        language: "Lua".into(),
        name: "own".into(),
        columns: 2,
        width: 1,
        state: vec![1, 2],
    };
    let read = Catalogue::standard().registry().model::<Density>(&foreign.to_record().unwrap());
    assert_eq!(read.unwrap().parameters(), foreign.described());
    kinds(&foreign.described(), &mut found);
    // The registry shows the kinds it reads.
    let readable = format!("{:?}", Catalogue::standard().registry());
    let readable: Vec<String> = serde_json::from_str(&readable).unwrap();
    let forgotten: Vec<&String> = readable.iter().filter(|kind| !found.contains(*kind)).collect();
    assert!(readable.len() > 20 && forgotten.is_empty(), "{forgotten:?} of {readable:?}");
}
