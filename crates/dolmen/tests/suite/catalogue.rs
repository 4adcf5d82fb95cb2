//! The catalogue documents what it has, its ranges are those that fits refuse to leave, and names are specs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::Result;
use dolmen::catalogue::{
    Bound, Catalogue, Catalogued, CombinerEntry, Kind, LearnerEntry, Parameter, plans,
};
use dolmen::combine::Evidence;
use dolmen::learner::{Diagnostics, Sample, Series, Simple, baseline::Mean};
use dolmen::oos::{OnFailure, OutOfSample, collect};
use dolmen::plan::{Plan, PlanSpec};
use dolmen::run::Run;
use dolmen::schemars::{self, JsonSchema};
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Joint, Regression};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const ROWS: usize = 24;

fn rows() -> Features {
    let value = |at: usize| (at as f64 * 2.399).sin() + (at % 3) as f64;
    Features::numeric((0..2 * ROWS).map(value).collect(), 2).unwrap()
}

fn labels() -> Labels {
    Labels::new(["a", "b"].map(String::from), (0..ROWS as u32).map(|i| i % 2).collect()).unwrap()
}

fn numbers() -> Vec<f64> {
    (0..ROWS).map(|i| (i as f64).sqrt()).collect()
}

fn one_thread() -> Run {
    Run::with_threads(1, 1).unwrap()
}

/// The parameters without a description, or with a word or a part that has none.
fn undocumented(of: &str, parameters: &[Parameter]) -> Vec<String> {
    let mut missing = Vec::new();
    for parameter in parameters {
        let name = format!("{of}.{}", parameter.name);
        if parameter.about.trim().is_empty() {
            missing.push(name.clone());
        }
        let silent = parameter.choices().iter().filter(|choice| choice.about.is_empty());
        missing.extend(silent.map(|choice| format!("{name}={}", choice.name)));
        if let Kind::Parts(parts) = &parameter.kind {
            missing.extend(undocumented(&name, parts));
        }
    }
    missing
}

fn undocumented_of<T: Catalogued>() -> Vec<String> {
    let catalogue = Catalogue::standard();
    let learners = catalogue.learners::<T>().iter().map(|e| (e.kind(), e.parameters()));
    let combiners = catalogue.combiners::<T>().iter().map(|e| (e.kind(), e.parameters()));
    learners.chain(combiners).flat_map(|(of, all)| undocumented(of, all)).collect()
}

#[test]
fn every_parameter_says_what_it_means() {
    assert_eq!(undocumented_of::<Density>(), [""; 0]);
    assert_eq!(undocumented_of::<Classification>(), [""; 0]);
    assert_eq!(undocumented_of::<Joint>(), [""; 0]);
    assert_eq!(undocumented_of::<Regression>(), [""; 0]);
    for plan in plans() {
        assert_eq!(undocumented(plan.kind, &plan.parameters), [""; 0]);
    }
}

/// The plans of the list are those that a file can name, and their parameters are read by the names shown.
#[test]
fn every_plan_is_documented() {
    let schema = schemars::schema_for!(PlanSpec);
    let kinds = schema.as_value()["oneOf"].as_array().unwrap().iter();
    let mut kinds: Vec<&str> =
        kinds.map(|kind| kind["properties"]["kind"]["const"].as_str().unwrap()).collect();
    let plans = plans();
    let mut listed: Vec<&str> = plans.iter().map(|plan| plan.kind).collect();
    kinds.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, kinds);
    for plan in plans {
        let example = PlanSpec::from_spec(&Spec::parse(plan.example).unwrap()).unwrap();
        assert_eq!(example.spec.kind(), plan.kind);
        for parameter in &plan.parameters {
            let read = |value: &Value| {
                let spec = Spec::new(plan.kind).with(&parameter.name, value.clone());
                PlanSpec::from_spec(&spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
            };
            let own = PlanSpec::from_spec(&Spec::new(plan.kind)).unwrap();
            if parameter.default != Value::Null {
                assert_eq!(read(&parameter.default), own, "{} of {}", parameter.name, plan.kind);
            }
            for value in others(parameter).iter().filter(|value| **value != parameter.default) {
                assert_ne!(read(value), own, "{} of {}", parameter.name, plan.kind);
            }
        }
    }
}

/// Numbers that are parameters have a range, wherever whole numbers have none by themselves.
#[test]
fn every_number_has_a_range() {
    fn without(parameters: &[Parameter]) -> impl Iterator<Item = &str> {
        let is_number = |kind: &Kind| match kind {
            Kind::Number => true,
            Kind::ListOf(inner) => **inner == Kind::Number,
            _ => false,
        };
        let is_open = move |parameter: &&Parameter| {
            let numbers = match &parameter.kind {
                Kind::Either(kinds) => kinds.iter().any(is_number),
                kind => is_number(kind),
            };
            numbers && parameter.range.is_none()
        };
        parameters.iter().filter(is_open).map(|parameter| parameter.name.as_str())
    }
    fn of<T: Catalogued>() -> Vec<String> {
        let catalogue = Catalogue::standard();
        let learners = catalogue.learners::<T>().iter().map(|e| (e.kind(), e.parameters()));
        let combiners = catalogue.combiners::<T>().iter().map(|e| (e.kind(), e.parameters()));
        let named = |(kind, all): (&'static str, _)| {
            without(all).map(move |name| format!("{kind}.{name}")).collect::<Vec<_>>()
        };
        let open = learners.chain(combiners).flat_map(named);
        // A place and a threshold may be any, and the least Wishart parameter depends on the columns.
        let free = ["mixture.mu0", "mixture.a", "aode.threshold", "a2de.threshold"];
        open.filter(|name| !free.contains(&name.as_str())).collect()
    }
    assert_eq!(of::<Density>(), [""; 0]);
    assert_eq!(of::<Classification>(), [""; 0]);
    assert_eq!(of::<Joint>(), [""; 0]);
    assert_eq!(of::<Regression>(), [""; 0]);
}

#[test]
fn parameters_say_what_they_can_be() {
    let learners = Catalogue::standard().learners::<Density>();
    let of = |kind: &str, name: &str| -> Parameter {
        let entry = learners.iter().find(|entry| entry.kind() == kind).unwrap();
        entry.parameters().iter().find(|parameter| parameter.name == name).unwrap().clone()
    };
    assert_eq!(
        of("mixture", "components").allowed(),
        "whole number or list of whole numbers, 1 to 100000"
    );
    assert_eq!(of("mixture", "covariance").allowed(), "one of full, tied, diagonal, spherical");
    assert_eq!(of("mixture", "validation").allowed(), "number, between 0 and 1");
    assert_eq!(of("mixture", "standardise").allowed(), "true or false");
    assert_eq!(of("mixture", "beta").default, json!(0.01));
    assert_eq!(of("kernel", "tolerance").allowed(), "number, at least 0 and below 1");
    assert_eq!(
        of("kernel", "bandwidth").allowed(),
        "number or list of numbers or one of scott, silverman, cv, loo or {absolute=..}, above 0"
    );
    assert_eq!(of("averaged", "of").allowed(), "model");
    assert!(of("averaged", "of").required && !of("averaged", "fits").required);
    assert_eq!(of("averaged", "fits").about, "Number of fits, 1 to 10 000.");
    assert_eq!(of("stack", "members").allowed(), "list of models");
    // In the order of the fields.
    let mixture = learners.iter().find(|entry| entry.kind() == "mixture").unwrap();
    let names: Vec<&str> = mixture.parameters().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names[..3], ["components", "covariance", "freedom"]);
}

/// What means something for the other task only is neither listed nor taken.
#[test]
fn tasks_know_their_own_parameters_only() {
    fn knows<T: Catalogued>(kind: &str, name: &str, value: Value) -> bool {
        let entry = Catalogue::standard().learners::<T>().iter().find(|entry| entry.kind() == kind);
        let is_listed = entry.unwrap().parameters().iter().any(|own| own.name == name);
        let is_taken = T::learner(&Spec::new(kind).with(name, value)).is_ok();
        assert_eq!(is_listed, is_taken, "{kind}({name}) of {}", T::NAME);
        is_listed
    }
    for (kind, name, value) in [
        ("boost", "quantile", json!(0.3)),
        ("boost", "delta", json!(1.5)),
        ("svm", "epsilon", json!(0.2)),
    ] {
        assert!(!knows::<Classification>(kind, name, value.clone()), "{kind}({name})");
        assert!(knows::<Regression>(kind, name, value), "{kind}({name})");
    }
    for (kind, name, value) in [
        ("neighbours", "smoothing", json!(0.5)),
        ("forest", "smoothing", json!(0.5)),
        ("extra-trees", "class_weights", json!("balanced")),
        ("tree", "pseudo_count", json!(1.5)),
    ] {
        assert!(knows::<Classification>(kind, name, value.clone()), "{kind}({name})");
        assert!(!knows::<Regression>(kind, name, value), "{kind}({name})");
    }
}

/// The nearest values outside a range.
fn outside(parameter: &Parameter) -> Vec<Value> {
    let Some(range) = parameter.range else { return Vec::new() };
    let holds = |kind: &Kind, of: &Kind| match kind {
        Kind::Either(kinds) => kinds
            .iter()
            .any(|kind| kind == of || matches!(kind, Kind::ListOf(inner) if inner.as_ref() == of)),
        Kind::ListOf(inner) => inner.as_ref() == of,
        kind => kind == of,
    };
    let is_whole = holds(&parameter.kind, &Kind::Whole) && !holds(&parameter.kind, &Kind::Number);
    let beyond = |bound: Bound, side: f64| -> Value {
        match (is_whole, bound.included) {
            (true, _) => json!(bound.at as i64 + side as i64),
            (false, true) => json!(bound.at + side * 1e-9 * (1.0 + bound.at.abs())),
            (false, false) => json!(bound.at),
        }
    };
    let values = range.from.map(|from| beyond(from, -1.0)).into_iter();
    let values = values.chain(range.to.map(|to| beyond(to, 1.0)));
    let listed = |value: Value| match &parameter.kind {
        Kind::ListOf(_) => json!([value]),
        _ => value,
    };
    values.map(listed).collect()
}

/// Tries every parameter of an entry just outside its range, and returns what was taken all the same.
fn taken<'a>(
    (example, parameters): (&str, &'a [Parameter]),
    attempt: &dyn Fn(&Spec) -> Result<()>,
) -> Vec<String> {
    let example = Spec::parse(example).unwrap();
    let required = |name: &&String| parameters.iter().any(|p| p.required && p.name == **name);
    let mut base = Spec::new(&example.kind);
    for name in example.parameters.keys().filter(|n| required(n) || *n == "root") {
        base = base.with(name, example.parameters[name].clone());
    }
    let tries = parameters.iter().flat_map(|p| outside(p).into_iter().map(move |v| (p, v)));
    let mut taken = Vec::new();
    for (parameter, value) in tries {
        let spec = base.clone().with(&parameter.name, value);
        match attempt(&spec) {
            Ok(()) => taken.push(format!("{spec} is taken")),
            Err(error) => {
                let said = error.to_string();
                let names = said.contains(&parameter.name) || said.contains("prior");
                if !names {
                    taken.push(format!("{spec} is refused for another reason: {said}"));
                }
            }
        }
    }
    taken
}

fn learners_that_take<T: Catalogued>(target: &T::Target) -> Vec<String> {
    let (x, run) = (rows(), one_thread());
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let attempt = |spec: &Spec| T::learner(spec)?.fit(&sample, &run).map(|_| ());
    let entries = Catalogue::standard().learners::<T>().iter();
    entries.flat_map(|entry| taken((entry.example(), entry.parameters()), &attempt)).collect()
}

fn matrix<T: Catalogued>(members: &[&str], target: &T::Target, x: &Features) -> OutOfSample<T> {
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let learners: Vec<_> =
        members.iter().map(|m| T::learner(&Spec::parse(m).unwrap()).unwrap()).collect();
    let learners: Vec<_> = learners.iter().map(AsRef::as_ref).collect();
    let plan = Plan::in_turn(x.rows().rows(), 3);
    collect(&learners, &sample, &plan, OnFailure::Stop, &one_thread()).unwrap()
}

/// Of combiners that suit the task: others refuse all.
fn combiners_that_take<T: Catalogued>(members: &[&str], target: &T::Target) -> Vec<String> {
    let (x, run) = (rows(), one_thread());
    let oos = matrix::<T>(members, target, &x);
    let evidence = Evidence { oos: &oos, x: Some(x.rows()), log_evidence: None };
    let attempt = |spec: &Spec| T::combiner(spec)?.fit(&evidence, &run).map(|_| ());
    let entries = Catalogue::standard().combiners::<T>().iter();
    let suits = |entry: &&CombinerEntry<T>| attempt(&Spec::parse(entry.example()).unwrap()).is_ok();
    entries
        .filter(suits)
        .flat_map(|entry| taken((entry.example(), entry.parameters()), &attempt))
        .collect()
}

#[test]
fn what_is_outside_a_range_is_refused() {
    assert_eq!(learners_that_take::<Density>(&()), [""; 0]);
    assert_eq!(learners_that_take::<Classification>(&labels()), [""; 0]);
    assert_eq!(learners_that_take::<Joint>(&labels()), [""; 0]);
    assert_eq!(learners_that_take::<Regression>(&numbers()), [""; 0]);
    let classes = ["class-frequencies", "bayes(density=gaussian)"];
    assert_eq!(combiners_that_take::<Classification>(&classes, &labels()), [""; 0]);
    assert_eq!(combiners_that_take::<Regression>(&["mean", "ridge"], &numbers()), [""; 0]);
    let densities = ["gaussian", "mixture(components=2)"];
    assert_eq!(combiners_that_take::<Density>(&densities, &()), [""; 0]);
}

/// Other values than the defaults that a parameter may have, one or two.
fn others(parameter: &Parameter) -> Vec<Value> {
    fn of_kind(kind: &Kind, parameter: &Parameter) -> Vec<Value> {
        let lowest = parameter.range.and_then(|range| range.from).map_or(0.0, |from| from.at);
        let highest = parameter.range.and_then(|range| range.to).map_or(1e6, |to| to.at);
        match kind {
            Kind::Whole => vec![json!((lowest as i64 + 2).min(highest as i64))],
            Kind::Number => vec![json!(lowest + 0.125 * (highest - lowest).min(3.0))],
            Kind::Flag => vec![json!(parameter.default != json!(true))],
            Kind::Text => vec![json!("x 1")],
            Kind::OneOf(choices) => choices.iter().map(|choice| json!(choice.name)).collect(),
            Kind::ListOf(inner) if **inner == Kind::Text => vec![json!(["x 1", "it's"])],
            Kind::Either(kinds) => kinds.iter().flat_map(|k| of_kind(k, parameter)).collect(),
            Kind::ListOf(_) | Kind::Model | Kind::Parts(_) => Vec::new(),
        }
    }
    of_kind(&parameter.kind, parameter)
}

/// Every example, and every example with one parameter more: its members' names are specs of themselves.
fn check_names<T: Catalogued>() {
    for entry in Catalogue::standard().learners::<T>() {
        let example = Spec::parse(entry.example()).unwrap();
        let mut specs = vec![example.clone()];
        for parameter in entry.parameters() {
            let changed = |value| example.clone().with(&parameter.name, value);
            specs.extend(others(parameter).into_iter().map(changed));
        }
        for spec in specs {
            let name_of = |spec: &Spec| T::learner(spec).map(|learner| learner.members());
            // A few words belong to other tasks or go with others only, which the fit says.
            let members = name_of(&spec).unwrap_or_else(|e| panic!("{spec}: {e}"));
            for name in members {
                let again = name_of(&Spec::parse(&name).unwrap()).unwrap();
                assert_eq!(again, [name], "of {spec}");
            }
        }
    }
}

fn check_combiners<T: Catalogued>() -> Vec<&'static str> {
    let entries = Catalogue::standard().combiners::<T>().iter();
    let buildable = entries.filter_map(|entry| {
        let combiner = T::combiner(&Spec::parse(entry.example()).unwrap()).ok()?;
        for rung in combiner.rungs() {
            let again = T::combiner(&Spec::parse(&rung).unwrap()).unwrap();
            assert!(again.rungs().contains(&rung), "{rung}: {:?}", again.rungs());
        }
        Some(entry.kind())
    });
    buildable.collect()
}

#[test]
fn names_are_specs_of_themselves() {
    check_names::<Density>();
    check_names::<Classification>();
    check_names::<Joint>();
    check_names::<Regression>();
    let mut built = check_combiners::<Density>();
    built.extend(check_combiners::<Classification>());
    built.extend(check_combiners::<Regression>());
    for entry in Catalogue::standard().combiners::<Density>() {
        assert!(built.contains(&entry.kind()), "the example {} is not built", entry.example());
    }
}

#[test]
fn names_tell_what_differs_from_the_default() {
    fn members<T: Catalogued>(text: &str) -> Vec<String> {
        T::learner(&Spec::parse(text).unwrap()).unwrap().members()
    }
    for (text, names) in [
        ("mixture", &["mixture(components=4)"][..]),
        (
            "mixture(beta=0.01, components=[1, 4])",
            &["mixture(components=1)", "mixture(components=4)"],
        ),
        ("mixture(components=2, beta=1)", &["mixture(components=2, beta=1)"]),
        ("mixture(components=2, beta=2)", &["mixture(components=2, beta=2)"]),
        ("kernel", &["kernel"]),
        ("kernel(bandwidth=[0.1, 1e-5])", &["kernel(bandwidth=0.1)", "kernel(bandwidth=1e-5)"]),
        ("kernel(bandwidth={absolute=[1, 2]})", &["kernel(bandwidth={absolute=[1, 2]})"]),
        ("averaged(fits=10, of=mixture)", &["averaged(of=mixture(components=4))"]),
        ("averaged(fits=5, of=gaussian)", &["averaged(of=gaussian, fits=5)"]),
        ("encoded(of=gaussian)", &["gaussian"]),
        (
            "encoded(impute={numbers=mean, categories=leave}, of=gaussian)",
            &["encoded(of=gaussian, impute={numbers=mean, categories=leave})"],
        ),
        (
            "stack(folds=5, combiner=simplex, members=[gaussian(beta=0), kernel(bandwidth=[1, 2])])",
            &["stack(members=[gaussian, kernel(bandwidth=[1, 2])])"],
        ),
        (
            "tuned(of=mixture(components=[1, 2]), folds=3)",
            &["tuned(of=mixture(components=[1, 2]), folds=3)"],
        ),
    ] {
        assert_eq!(members::<Density>(text), names, "{text}");
    }
    for (text, names) in [
        ("boost", &["boost"][..]),
        ("boost(rate=0.05)", &["boost(rate=0.05)"]),
        ("boost(rate=0.3, rounds=10)", &["boost(rounds=10, rate=0.3)"]),
        ("logistic", &["logistic"]),
        (
            "logistic(lambda=[0.1, 10], folds=3)",
            &["logistic(lambda=0.1, folds=3)", "logistic(lambda=10, folds=3)"],
        ),
        ("network(hidden=[64, 64])", &["network"]),
        ("network(hidden=[32])", &["network(hidden=32)"]),
        ("network(hidden=[8])", &["network(hidden=8)"]),
        ("deep-ensemble(copies=3, hidden=[8, 4])", &["deep-ensemble(copies=3, hidden=[8, 4])"]),
        ("bayes(density=mixture(components=2))", &["bayes(density=mixture(components=2))"]),
        ("adaboost(of=tree(depth=1))", &["adaboost"]),
        ("adaboost(of=tree(depth=2), rounds=9)", &["adaboost(of=tree(depth=2), rounds=9)"]),
        (
            "ode(root=['petal length', b], bins=3)",
            &["ode(root='petal length', bins=3)", "ode(root=b, bins=3)"],
        ),
        ("tuned(of=[tree, svm(c=1)])", &["tuned(of=[tree, svm])"]),
    ] {
        assert_eq!(members::<Classification>(text), names, "{text}");
    }
}

/// A parameter struct of someone else.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct House {
    /// How loud it is.
    #[schemars(range(min = 1, max = 11))]
    loudness: usize,
    /// What it listens to.
    of: Spec,
}

impl Default for House {
    fn default() -> Self {
        Self { loudness: 3, of: Spec::new("mean") }
    }
}

#[test]
fn others_document_their_learners_the_same_way() {
    let derived = LearnerEntry::<Regression>::new::<House>("house", "a house", |spec, _| {
        spec.read::<House>()?;
        Ok(Box::new(Simple(Mean {})))
    });
    let [loudness, of] = derived.parameters() else { panic!("{derived:?}") };
    assert_eq!(
        (loudness.about.as_str(), loudness.allowed()),
        ("How loud it is.", "whole number, 1 to 11".into())
    );
    assert_eq!((of.kind.clone(), of.default.clone()), (Kind::Model, json!("mean")));
    let by_hand = LearnerEntry::<Regression>::by_hand(
        "house",
        "a house",
        vec![Parameter::new("loudness", "How loud it is.", Kind::Whole).or(3)],
        |_, _| Ok(Box::new(Simple(Mean {}))),
    );
    assert_eq!(by_hand.parameters()[0].default, json!(3));
    let catalogue = Catalogue::standard().clone().with_learner(derived);
    let spec = Spec::parse("house(of=ridge(lambda=1))").unwrap();
    assert!(catalogue.learner::<Regression>(&spec).is_ok());
}

#[test]
fn diagnostics_are_data() {
    let found = Diagnostics {
        converged: Some(true),
        iterations: Some(3),
        notes: vec!["a note".into()],
        series: vec![Series::of_columns("importance", vec![0.5, 0.5])],
        ..Diagnostics::default()
    };
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Diagnostics>(&text).unwrap(), found);
}

/// Ten full mixtures of many columns with gaps, on each fold, would take minutes: they are left out, and only they.
#[test]
fn many_columns_with_gaps_have_no_averaged_mixture() {
    let members = |columns: usize, gap: bool| {
        let value = |at: usize| if gap && at == 5 { f64::NAN } else { (at as f64 * 2.399).sin() };
        let x = Features::numeric((0..400 * columns).map(value).collect(), columns).unwrap();
        let kinds = |spec: &Spec| spec.kind.clone();
        Density::best_members(x.rows()).iter().map(kinds).collect::<Vec<_>>()
    };
    assert_eq!(members(17, false)[..4], ["kernel", "mixture", "mixture", "mixture"]);
    assert_eq!(members(17, false)[4..], ["averaged", "averaged"]);
    assert_eq!(members(16, true), ["mixture", "mixture", "mixture", "averaged", "averaged"]);
    assert_eq!(members(17, true), ["mixture", "mixture", "mixture"]);
}

/// What columns of few values say often hangs on several of them: a linear member sees their pairs, and trees are as deep as they come.
#[test]
fn columns_with_few_values_are_crossed_for_a_linear_member() {
    let members = |rows: usize, columns: usize, values: usize| {
        let value = |at: usize| ((at * 7919) % 104_729 % values) as f64;
        let x = Features::numeric((0..rows * columns).map(value).collect(), columns).unwrap();
        let specs = Classification::usual_members(x.rows());
        let has = |text: &str| specs.iter().any(|spec| spec.to_string() == text);
        (has("encoded(crosses=8, of=logistic)"), has("boost"))
    };
    assert_eq!(members(300, 6, 4), (true, true));
    assert_eq!(members(300, 6, 200), (false, false));
    assert_eq!(members(300, 13, 4), (false, true));
    assert_eq!(members(2100, 6, 200), (false, true));
}
