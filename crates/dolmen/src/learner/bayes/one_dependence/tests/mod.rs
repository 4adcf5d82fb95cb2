//! Golden values of the reference implementation, and what must hold on any data.

mod counting;
mod properties;
mod two_dependence;

use std::sync::Arc;

use serde_json::Value;

use super::counts::{Counts, Layout, Slot, Slots};
use super::mixing::Desk;
use super::tables::Tables;
use super::*;
use crate::learner::{Fitted, Learner, Sample, predict};
use crate::run::Run;
use crate::spec::Spec;
use crate::table::{Features, Field, Kind, Schema};
use crate::target::Labels;
use crate::task::{Classification, Joint};

fn golden() -> Value {
    let text = include_str!("../../../../../tests/fixtures/one_dependence.json");
    serde_json::from_str(text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

/// The golden rows as categories.
fn features(golden: &Value, rows: &str) -> Features {
    let field = |(u, values): (usize, f64)| Field {
        name: format!("a{u}"),
        kind: Kind::Categorical { levels: (0..values as usize).map(|v| v.to_string()).collect() },
    };
    let fields = numbers(&golden["cards"]).into_iter().enumerate().map(field).collect();
    Features::new(numbers(&golden[rows]), Arc::new(Schema::new(fields))).unwrap()
}

fn labels(golden: &Value) -> Labels {
    let codes = numbers(&golden["y"]).iter().map(|c| *c as u32).collect();
    Labels::new(["0", "1", "2"].map(String::from), codes).unwrap()
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-9, "{what}: {a} is not {b}");
    }
}

fn fitted(learner: impl Into<OneDependence>) -> Vec<Box<dyn Fitted<Classification>>> {
    let golden = golden();
    let (x, y) = (features(&golden, "X"), labels(&golden));
    let sample = Sample::<Classification>::new(x.rows(), &y).unwrap();
    learner.into().fit(&sample, &Run::with_threads(0, 1).unwrap()).unwrap()
}

fn posterior(learner: impl Into<OneDependence>) -> Vec<f64> {
    let x = features(&golden(), "query");
    predict(fitted(learner)[0].as_ref(), x.rows(), &Run::with_threads(0, 1).unwrap()).unwrap()
}

fn root_weights(learner: impl Into<OneDependence>) -> Vec<f64> {
    fitted(learner)[0].diagnostics().series[0].values.clone()
}

#[test]
fn the_family_gives_the_reference_posteriors() {
    let golden = golden();
    close(&posterior(NaiveBayes::default()), &numbers(&golden["naive_bayes_posterior"]), "nb");
    for (threshold, key) in [(0.0, "aode_t0"), (12.0, "aode_t12"), (39.0, "aode_t39")] {
        let found = posterior(Aode { threshold, ..Aode::default() });
        close(&found, &numbers(&golden[key]), key);
    }
    close(&posterior(BmaAode::default()), &numbers(&golden["bma_posterior"]), "bma");
    close(&posterior(LmdOde::default()), &numbers(&golden["maplmd"]["posterior"]), "lmd");
    close(&posterior(LmgOde::default()), &numbers(&golden["maplmg"]["posterior"]), "lmg");
}

#[test]
fn the_roots_get_the_reference_weights() {
    let golden = golden();
    close(&root_weights(BmaAode::default()), &numbers(&golden["bma_weights"]), "bma");
    close(&root_weights(LmdOde::default()), &numbers(&golden["maplmd"]["weights"]), "lmd");
    close(&root_weights(LmgOde::default()), &numbers(&golden["maplmg"]["weights"]), "lmg");
    let flat = LmdOde { prior: 0.0, ..LmdOde::default() };
    close(&root_weights(flat), &numbers(&golden["maplmd"]["weights_ml_exponent_0"]), "lmd, flat");
}

#[test]
fn each_root_gives_the_reference_joint_probabilities() {
    let golden = golden();
    let (x, y) = (features(&golden, "X"), labels(&golden));
    let sample = Sample::<Joint>::new(x.rows(), &y).unwrap();
    let root = ["a0", "a1", "a2", "a3"].map(String::from).to_vec();
    let run = Run::with_threads(0, 1).unwrap();
    let models = OneDependence::from(Ode { root, ..Ode::default() }).fit(&sample, &run).unwrap();
    let query = features(&golden, "query");
    let found: Vec<f64> =
        models.iter().flat_map(|m| predict(m.as_ref(), query.rows(), &run).unwrap()).collect();
    close(&found, &numbers(&golden["ode_log_joint_query"]), "joint");
}

/// A model of the first 25 golden rows extended by the others, and one of all of them.
fn extended_and_whole(learner: &OneDependence) -> (FittedOneDependence, FittedOneDependence) {
    let golden = golden();
    let (x, y) = (features(&golden, "X"), labels(&golden));
    let all = Sample::<Classification>::new(x.rows(), &y).unwrap();
    let (first, last): (Vec<usize>, Vec<usize>) = ((0..25).collect(), (25..40).collect());
    let (first, last) = (all.select(&first), all.select(&last));
    let run = Run::with_threads(0, 1).unwrap();
    let model = &learner.fit_members(&first.borrow(), &run).unwrap()[0];
    let grown = model.extended(&last.borrow()).unwrap();
    (grown, learner.fit_members(&all, &run).unwrap().swap_remove(0))
}

#[test]
fn a_model_extended_by_rows_is_the_model_of_all_rows() {
    let golden = golden();
    let (grown, _) = extended_and_whole(&OneDependence::from(Aode::default()));
    let (query, run) = (features(&golden, "query"), Run::with_threads(0, 1).unwrap());
    let found = predict::<Classification>(&grown, query.rows(), &run).unwrap();
    close(&found, &numbers(&golden["aode_t0"]), "extended");
}

fn tables(rows: &[(Slots, usize)], layout: &Layout) -> Tables {
    weighted_tables(rows, &vec![1.0; rows.len()], layout)
}

fn weighted_tables(rows: &[(Slots, usize)], weights: &[f64], layout: &Layout) -> Tables {
    let read = |i: usize, room: &mut [Option<Slot>]| {
        room.copy_from_slice(&rows[i].0);
        (rows[i].1, weights[i])
    };
    Tables::new(Counts::of_rows(layout, rows.len(), read))
}

#[test]
fn left_out_rows_get_the_reference_joint_probabilities() {
    let golden = golden();
    let values = numbers(&golden["cards"]).iter().map(|v| *v as usize).collect();
    let layout = Layout::new(values, 3).unwrap();
    let slots = |row: &Value| -> Slots {
        numbers(row).iter().enumerate().map(|(u, v)| Some(layout.slot(u, *v as usize))).collect()
    };
    let classes = numbers(&golden["y"]);
    let rows: Vec<(Slots, usize)> = golden["X"]
        .as_array()
        .unwrap()
        .iter()
        .zip(classes)
        .map(|(row, class)| (slots(row), class as usize))
        .collect();
    let tables = tables(&rows, &layout);
    let left_out: Vec<Vec<f64>> =
        rows.iter().map(|(slots, class)| logs_without(&tables, slots, (*class, 1.0))).collect();
    let found: Vec<f64> = (0..4)
        .flat_map(|u| left_out.iter().flat_map(move |logs| logs[3 * u..3 * u + 3].to_vec()))
        .collect();
    close(&found, &numbers(&golden["ode_log_joint_loo"]), "left out");
    close(&tables.log_evidence(), &numbers(&golden["bma_log_marginal"]), "evidence");
}

/// ln p_u(c, x) of root after root, for a row that was counted as if it had not been.
fn logs_without(tables: &Tables, slots: &Slots, own: (usize, f64)) -> Vec<f64> {
    let mut desk = Desk::default();
    desk.put_roots_without(tables, slots, own);
    let (scale, joints) = desk.joints(tables.layout().classes());
    joints.flatten().map(|joint| scale.ln(*joint)).collect()
}

#[test]
fn specs_name_one_root_or_several_and_errors_name_the_parameter() {
    let read = |spec: &str| Spec::parse(spec).unwrap().read::<Ode>();
    assert_eq!(read("ode(root=a1)").unwrap().root, ["a1"]);
    assert_eq!(read("ode(root=[a1, a2])").unwrap().root, ["a1", "a2"]);
    let error = read("ode(root=a1, bins=few)").unwrap_err().to_string();
    assert_eq!(error, "bins in ode must be a whole number, but is \"few\"");
    let error = read("ode(missing=maybe)").unwrap_err().to_string();
    assert!(error.starts_with("missing in ode must be `value` or `ignore`"), "{error}");
    let error = read("ode(roots=a1)").unwrap_err().to_string();
    assert!(error.starts_with("a parameter of ode must be one of root,"), "{error}");
}
