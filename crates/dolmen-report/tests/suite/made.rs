//! Values made by hand, so that pictures of them are the same on every machine.

use dolmen::combine::Method;
use dolmen::combine::weigh::{CrossValidated, Errors, WeighedMember, Weighing};
use dolmen::evaluate::compare::{
    Comparison, LearningCurve, LearningPoint, MethodResult, SetComparison, SetsComparison,
};
use dolmen::evaluate::explain::{Dependence, Importance, InputImportance, OutputCurve};
use dolmen::recipe::{Basis, Combined, Evidence, MemberCorrelation, WeighReport};
use dolmen::score::curves::ClassCurves;
use dolmen::score::residuals::PredictedTrue;
use dolmen::score::{Estimate, Histogram};
use dolmen::target::Labels;
use dolmen::task::TaskKind;

pub(crate) fn estimate(mean: f64, se: f64) -> Estimate {
    Estimate { mean, se: Some(se) }
}

/// A number between 0 and 1 that looks random.
pub(crate) fn noise(i: usize, stream: usize) -> f64 {
    ((i * 7919 + stream * 104_729 + 13) % 997) as f64 / 997.0
}

fn member(name: &str, weight: f64, score: f64) -> WeighedMember {
    let interval = (weight > 0.0).then_some([0.8 * weight, (1.3 * weight).min(1.0)]);
    WeighedMember {
        name: name.into(),
        weight,
        se: Some(0.1 * weight),
        interval,
        beyond_resamples: false,
        score,
        score_se: Some(0.02),
        loo_loss: Some(0.01 * weight),
    }
}

/// The task of this name.
fn task_named(name: &str) -> TaskKind {
    serde_json::from_value(name.into()).expect("a task")
}

/// Weights of members with these names; the last has none.
pub(crate) fn weighing(names: &[&str], task: &str) -> WeighReport {
    let count = names.len();
    let total: f64 = (1..count).map(|k| k as f64).sum();
    let weight = |k: usize| (count - 1 - k) as f64 / total.max(1.0);
    let members: Vec<WeighedMember> = names
        .iter()
        .enumerate()
        .map(|(k, name)| member(name, weight(k), -1.5 - 0.1 * k as f64))
        .collect();
    let gain = estimate(0.04, 0.015);
    let weighing = Weighing {
        task: task_named(task),
        method: Method::Simplex,
        rows: 300,
        uninformative_rows: 0,
        best: names[0].into(),
        interchangeable: if count > 2 {
            vec![vec![names[1].into(), names[2].into()]]
        } else {
            Vec::new()
        },
        members,
        gap: 2e-16,
        kkt_residual: None,
        iterations: 5,
        converged: true,
        score: -1.45,
        score_se: Some(0.02),
        uniform: Some(estimate(-1.44, 0.02)),
        gain_over_best: gain,
        gain_over_uniform: estimate(-0.01, 0.01),
        cross_validated: Some(CrossValidated {
            folds: 5,
            kind: dolmen::oos::CheckKind::Matrix,
            score: -1.46,
            score_se: Some(0.021),
            uniform: Some(estimate(-1.45, 0.02)),
            gain_over_best: gain,
            gain_over_uniform: estimate(-0.01, 0.01),
        }),
        errors: Errors::Bootstrap,
    };
    WeighReport {
        combined: Combined::Weighed(Box::new(weighing)),
        other_method: None,
        check: None,
        calibration: None,
    }
}

fn nothing(rows: usize) -> Evidence {
    Evidence {
        rows,
        basis: Basis::HeldOut,
        classes: None,
        class_rows: Vec::new(),
        numbers: None,
        levels: None,
        levels_drawn: 0,
        marginals: Vec::new(),
        columns: Vec::new(),
        correlation: None,
        importance: None,
        dependence: Vec::new(),
    }
}

/// Probabilities of three classes, the last of which is rare.
pub(crate) fn of_classes(names: [&str; 3]) -> Evidence {
    let rows = 400;
    let code = |i: usize| if i.is_multiple_of(57) { 2 } else { u32::from(noise(i, 1) > 0.45) };
    let labels = Labels::new(names.map(String::from), (0..rows).map(code).collect()).unwrap();
    let row = |i: usize| {
        let own = 0.3 + 0.65 * noise(i, 2);
        let mut p = [(1.0 - own) * 0.5; 3];
        p[code(i) as usize] = own;
        p
    };
    let predicted: Vec<f64> = (0..rows).flat_map(row).collect();
    let curve = |name: &str, stream: usize| OutputCurve {
        name: name.into(),
        mean: (0..5).map(|k| 0.2 + 0.1 * k as f64 * noise(k, stream)).collect(),
        middle: vec![[0.1, 0.8]; 5],
        single: vec![vec![0.3; 5]; 2],
        missing: None,
    };
    let importance = |name: &str, mean: f64| InputImportance {
        name: name.into(),
        columns: vec![name.into()],
        loss: estimate(mean, 0.01),
    };
    Evidence {
        classes: Some(ClassCurves::of(&predicted, &labels, &vec![1.0; rows])),
        correlation: Some(MemberCorrelation {
            members: vec!["forest".into(), "ridge".into()],
            values: vec![1.0, -0.3, -0.3, 1.0],
            alike: Vec::new(),
        }),
        importance: Some(Importance {
            rows,
            repeats: 5,
            score: -0.4,
            inputs: vec![
                importance("age", 0.3),
                importance("height", 0.05),
                importance("noise", -0.002),
            ],
        }),
        dependence: vec![Dependence {
            name: "age".into(),
            values: (0..5).map(|k| 20.0 + 10.0 * f64::from(k)).collect(),
            levels: None,
            levels_left_out: 0,
            rows: 200,
            outputs: vec![curve("a", 4), curve("b", 5), curve("c", 6)],
        }],
        ..nothing(rows)
    }
}

/// Predicted and true numbers.
pub(crate) fn of_numbers() -> Evidence {
    let truth: Vec<f64> = (0..500).map(|i| 100.0 + 900.0 * noise(i, 1)).collect();
    let predicted: Vec<f64> =
        truth.iter().enumerate().map(|(i, y)| y + 80.0 * (noise(i, 2) - 0.5)).collect();
    let single = |k: usize| (0..3).map(|v| 300.0 + 50.0 * (v + k) as f64).collect();
    Evidence {
        numbers: Some(PredictedTrue::of(&predicted, &truth)),
        dependence: vec![Dependence {
            name: "colour".into(),
            values: vec![0.0, 1.0, 2.0],
            levels: Some(vec!["red".into(), "green".into(), "blue".into()]),
            levels_left_out: 0,
            rows: 100,
            outputs: vec![OutputCurve {
                name: String::new(),
                mean: vec![350.0, 400.0, 450.0],
                middle: vec![[300.0, 500.0]; 3],
                single: (0..4).map(single).collect(),
                missing: None,
            }],
        }],
        ..nothing(500)
    }
}

/// Levels of a density whose tails are too thin.
pub(crate) fn of_density() -> Evidence {
    let level = |i: usize| if i.is_multiple_of(9) { 0.01 } else { noise(i, 3) };
    Evidence {
        levels: Some(Histogram::within([0.0, 1.0], 20, (0..600).map(level))),
        ..nothing(600)
    }
}

fn method(name: &str, mean: f64, splits: usize) -> MethodResult {
    MethodResult {
        name: name.into(),
        mean,
        se: 0.02,
        finite_share: 1.0,
        split_scores: (0..splits).map(|s| mean + 0.1 * (noise(s, name.len()) - 0.5)).collect(),
        p_value: Some(0.03),
        corrected_p_value: Some(0.08),
        figures: Vec::new(),
    }
}

pub(crate) fn comparison(better: f64) -> Comparison {
    let methods = [
        ("stacking", -0.3 + better),
        ("cv", -0.34),
        ("uniform", -0.36),
        ("cheating", -0.29),
        ("forest", -0.35),
        ("ridge", -0.5),
    ];
    Comparison {
        task: TaskKind::Classification,
        rows: 500,
        repeats: 20,
        test_rows: Some(50),
        test_rows_between: None,
        train_rows: None,
        outer_folds: None,
        zero_line: None,
        methods: methods.iter().map(|(name, mean)| method(name, *mean, 20)).collect(),
        mean_weights: Vec::new(),
        combiners: std::collections::BTreeMap::new(),
        kept: None,
        duels: Vec::new(),
        notes: Vec::new(),
    }
}

pub(crate) fn sets() -> SetsComparison {
    let set = |k: usize| SetComparison {
        file: format!("set {k}"),
        comparison: comparison(if k.is_multiple_of(3) { -0.1 } else { 0.02 }),
    };
    SetsComparison::new((0..12).map(set).collect())
}

pub(crate) fn learning() -> LearningCurve {
    let point =
        |size: usize| LearningPoint { size, comparison: comparison(0.05 - 8.0 / size as f64) };
    LearningCurve {
        task: TaskKind::Classification,
        rows: 500,
        sizes: [50, 100, 200, 400].map(point).into(),
    }
}
