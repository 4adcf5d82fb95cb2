//! Golden values of the reference implementation, and what must hold on any data.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::counts::{Counts, Layout, Slot, Slots};
use super::mixing::Desk;
use super::scale::Scale;
use super::shared::SpareCounts;
use super::tables::Tables;
use super::triples::{TripleTables, Triples};
use super::*;
use crate::learner::{Fitted, Learner, Run, Sample, predict};
use crate::plan::{Plan, Split};
use crate::table::{Features, Field, Kind, Schema};
use crate::task::{Classification, Joint, Labels};

fn golden() -> Value {
    let text = include_str!("../../../../tests/fixtures/one_dependence.json");
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
    let read = |i: usize, room: &mut [Option<Slot>]| {
        room.copy_from_slice(&rows[i].0);
        (rows[i].1, 1.0)
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
        rows.iter().map(|(slots, class)| logs_without(&tables, slots, *class)).collect();
    let found: Vec<f64> = (0..4)
        .flat_map(|u| left_out.iter().flat_map(move |logs| logs[3 * u..3 * u + 3].to_vec()))
        .collect();
    close(&found, &numbers(&golden["ode_log_joint_loo"]), "left out");
    close(&tables.log_evidence(), &numbers(&golden["bma_log_marginal"]), "evidence");
}

/// ln p_u(c, x) of root after root, for a row that was counted as if it had not been.
fn logs_without(tables: &Tables, slots: &Slots, class: usize) -> Vec<f64> {
    let mut desk = Desk::default();
    desk.put_roots_without(tables, slots, (class, 1.0));
    let (scale, joints) = desk.joints(tables.layout().classes());
    joints.flatten().map(|joint| scale.ln(*joint)).collect()
}

/// ln p_u(c, x) by going through the rows for each count; x has a value of u.
fn slow_rooted(rows: &[(Slots, usize)], layout: &Layout, u: usize, x: &Slots, class: usize) -> f64 {
    let of_root = |known: &dyn Fn(&Slots) -> bool| {
        let is_counted =
            |(slots, c): &&(Slots, usize)| *c == class && slots[u] == x[u] && known(slots);
        rows.iter().filter(is_counted).count() as f64
    };
    let total = rows.iter().filter(|(slots, _)| slots[u].is_some()).count() as f64;
    let cells = layout.classes() as f64 * layout.values(u);
    let mut log = ((of_root(&|_| true) + 1.0) / (total + cells)).ln();
    for v in (0..x.len()).filter(|v| *v != u && x[*v].is_some()) {
        let both = of_root(&|slots| slots[v] == x[v]);
        let known = of_root(&|slots| slots[v].is_some());
        log += ((both + 1.0) / (known + layout.values(v))).ln();
    }
    log
}

/// So many attributes that products leave the range of numbers, and are taken block by block.
#[test]
fn products_of_many_attributes_stay_in_range() {
    let (attributes, count) = (400, 200);
    let layout = Layout::new(vec![3; attributes], 3).unwrap();
    let rows: Vec<(Slots, usize)> = (0..count)
        .map(|i| {
            let value = |u: usize| ((i * u) % 17 != 5).then_some((i * i + u) % 7 % 3);
            let slot = |u: usize| value(u).map(|value| layout.slot(u, value));
            ((0..attributes).map(slot).collect(), i % 3)
        })
        .collect();
    let whole = tables(&rows, &layout);
    let mut desk = Desk::default();
    for (number, (slots, class)) in rows.iter().enumerate().take(4) {
        desk.put_roots(&whole, slots);
        let (scale, joints) = desk.joints(3);
        assert_eq!(scale, Scale::Log);
        for (u, found) in joints.enumerate().filter(|(u, _)| u % 29 == 0 && slots[*u].is_some()) {
            let expected: Vec<f64> =
                (0..3).map(|class| slow_rooted(&rows, &layout, u, slots, class)).collect();
            close(found, &expected, "all roots at once");
            let mut alone = [0.0; 3];
            whole.rooted(u, slots, &mut alone);
            close(&alone, &expected, "one root");
        }
        let others: Vec<(Slots, usize)> = rows
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != number)
            .map(|(_, row)| row.clone())
            .collect();
        let without = tables(&others, &layout);
        for (u, found) in logs_without(&whole, slots, *class).chunks_exact(3).enumerate() {
            let mut expected = [0.0; 3];
            without.rooted(u, slots, &mut expected);
            close(found, &expected, "left out");
        }
    }
}

/// Rows of three attributes with missing values.
fn some_rows() -> impl Strategy<Value = Vec<(Vec<Option<usize>>, usize)>> {
    let row = ([0..3_usize, 0..2_usize, 0..4_usize], prop::array::uniform3(0..6_u8), 0..2_usize)
        .prop_map(|(values, missing, class)| {
            let value = |(v, m): (usize, u8)| (m > 0).then_some(v);
            (values.into_iter().zip(missing).map(value).collect(), class)
        });
    prop::collection::vec(row, 2..30)
}

fn slots_in(layout: &Layout, values: &[Option<usize>]) -> Slots {
    let slot = |(u, v): (usize, &Option<usize>)| v.map(|v| layout.slot(u, v));
    values.iter().enumerate().map(slot).collect()
}

proptest! {
    #[test]
    fn leaving_out_equals_deleting_and_counting_again(rows in some_rows()) {
        let layout = Layout::new(vec![3, 2, 4], 2).unwrap();
        let rows: Vec<(Slots, usize)> =
            rows.iter().map(|(values, class)| (slots_in(&layout, values), *class)).collect();
        let (left, class) = &rows[0];
        let found = logs_without(&tables(&rows, &layout), left, *class);
        let without = tables(&rows[1..], &layout);
        for (u, found) in found.chunks_exact(2).enumerate() {
            let mut expected = [0.0; 2];
            without.rooted(u, left, &mut expected);
            for (a, b) in found.iter().zip(expected) {
                prop_assert!((a - b).abs() < 1e-12, "{a} is not {b}");
            }
        }
    }

    /// With so many classes that they fill one register, several, and more than are kept in registers.
    #[test]
    fn all_roots_at_once_are_one_after_another(rows in some_rows(), classes in 1..14_usize) {
        let layout = Layout::new(vec![3, 2, 4], classes).unwrap();
        let rows: Vec<(Slots, usize)> = rows
            .iter()
            .enumerate()
            .map(|(i, (values, class))| (slots_in(&layout, values), (7 * i + class) % classes))
            .collect();
        let tables = tables(&rows, &layout);
        let mut desk = Desk::default();
        for (row, _) in &rows {
            desk.put_roots(&tables, row);
            let (scale, joints) = desk.joints(classes);
            for (u, found) in joints.enumerate() {
                let mut expected = vec![0.0; classes];
                tables.rooted(u, row, &mut expected);
                for (a, b) in found.iter().zip(expected) {
                    prop_assert!((scale.ln(*a) - b).abs() < 1e-12, "{a} is not {b}");
                }
            }
        }
    }

    /// From a spare table and without one, with few rows for the size of the tables and with many.
    #[test]
    fn counts_without_a_split_are_those_of_the_others(rows in some_rows(), times in 1..80_usize) {
        let layout = Layout::new(vec![3, 2, 4], 2).unwrap();
        let rows: Vec<(Slots, usize)> = (0..times)
            .flat_map(|_| &rows)
            .map(|(values, class)| (slots_in(&layout, values), *class))
            .collect();
        let read = |i: usize, room: &mut [Option<Slot>]| {
            room.copy_from_slice(&rows[i].0);
            (rows[i].1, 1.0)
        };
        let plan = Plan::in_turn(rows.len(), 2);
        let expected = |split: &Split| {
            let others = split.train(rows.len());
            Counts::of_rows(&layout, others.len(), |i, room| read(others[i], room))
        };
        let spare = SpareCounts::new(&plan, &layout, read);
        let [first, second] = plan.splits() else { panic!("there are two splits") };
        let (kept, counted) = (spare.take(first), spare.take(second));
        prop_assert_eq!(&kept, &expected(first));
        prop_assert_eq!(&counted, &expected(second));
        spare.give_back(first, kept);
        spare.give_back(second, counted);
        prop_assert_eq!(spare.take(first), expected(first));
        prop_assert_eq!(spare.take(second), expected(second));
    }
}

/// Rows of four attributes with missing values, as slots.
fn four_attributes() -> (Layout, impl Strategy<Value = Vec<(Slots, usize)>>) {
    let layout = Layout::new(vec![3, 2, 4, 2], 2).unwrap();
    let inner = layout.clone();
    let row = ([0..3_usize, 0..2, 0..4, 0..2], prop::array::uniform4(0..6_u8), 0..2_usize);
    let row = row.prop_map(move |(values, missing, class)| {
        let slot = |(u, (v, m)): (usize, (usize, u8))| (m > 0).then(|| inner.slot(u, v));
        (values.into_iter().zip(missing).enumerate().map(slot).collect(), class)
    });
    (layout, prop::collection::vec(row, 2..40))
}

/// ln p_uw(c, x) by going through the rows for each count.
fn slow_pair(
    rows: &[(Slots, usize)],
    layout: &Layout,
    (u, w): (usize, usize),
    x: &Slots,
    class: usize,
) -> f64 {
    let count = |known: &dyn Fn(&Slots) -> bool, of_class: bool| {
        rows.iter().filter(|(slots, c)| known(slots) && (!of_class || *c == class)).count() as f64
    };
    let both = |slots: &Slots| slots[u] == x[u] && slots[w] == x[w];
    let total = count(&|slots| slots[u].is_some() && slots[w].is_some(), false);
    let cells = layout.classes() as f64 * layout.values(u) * layout.values(w);
    let mut log = ((count(&both, true) + 1.0) / (total + cells)).ln();
    for v in (0..4).filter(|v| *v != u && *v != w && x[*v].is_some()) {
        let all = count(&|slots| both(slots) && slots[v] == x[v], true);
        let known = count(&|slots| both(slots) && slots[v].is_some(), true);
        log += ((all + 1.0) / (known + layout.values(v))).ln();
    }
    log
}

#[test]
fn two_dependence_estimators_are_those_of_plain_counting() {
    let (layout, rows) = four_attributes();
    proptest!(|(rows in rows)| {
        let read = |i: usize, room: &mut [Option<Slot>]| {
            room.copy_from_slice(&rows[i].0);
            (rows[i].1, 1.0)
        };
        let counts = Counts::of_rows(&layout, rows.len(), read);
        let triples = Triples::of_rows(&layout, rows.len(), read).unwrap();
        prop_assert!(triples.is_whole(&layout));
        let tables = TripleTables::new(triples, &counts);
        for (x, _) in &rows {
            for w in 0..4 {
                for u in 0..w {
                    let (Some(a), Some(b)) = (x[u].map(Slot::index), x[w].map(Slot::index)) else { continue };
                    let mut found = [0.0; 2];
                    tables.rooted(((u, a), (w, b)), x, &counts, &mut found);
                    for (class, found) in found.into_iter().enumerate() {
                        let expected = slow_pair(&rows, &layout, (u, w), x, class);
                        prop_assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
                    }
                }
            }
        }
    });
}

#[test]
fn a2de_falls_back_to_aode_and_then_to_naive_bayes() {
    let golden = golden();
    // Of the 40 rows no two values share more than 13, one value has 25, and none more.
    let at = |threshold: f64| posterior(A2de { threshold, ..A2de::default() });
    close(&at(39.0), &numbers(&golden["naive_bayes_posterior"]), "naive Bayes");
    let aode = |threshold: f64| posterior(Aode { threshold, ..Aode::default() });
    close(&at(20.0), &aode(20.0), "aode");
    assert!(at(0.0).iter().zip(aode(0.0)).any(|(a, b)| (a - b).abs() > 1e-3));
}

#[test]
fn an_extended_a2de_is_that_of_all_rows_and_is_stored_whole() {
    let (grown, whole) = extended_and_whole(&OneDependence::from(A2de::default()));
    let (query, run) = (features(&golden(), "query"), Run::with_threads(0, 1).unwrap());
    let said =
        |model: &FittedOneDependence| predict::<Classification>(model, query.rows(), &run).unwrap();
    assert_eq!(said(&grown), said(&whole));
    let record = Fitted::<Joint>::record(&whole).unwrap();
    let registry = crate::store::Registry::<Joint>::default().with::<FittedOneDependence>();
    let restored = registry.restore(&record).unwrap();
    let joint = predict::<Joint>(&whole, query.rows(), &run).unwrap();
    assert_eq!(predict(restored.as_ref(), query.rows(), &run).unwrap(), joint);
}

#[test]
fn tables_too_large_for_memory_are_refused_with_a_hint() {
    let layout = Layout::new(vec![40; 40], 5).unwrap();
    let error = Triples::of_rows(&layout, 0, |_, _| (0, 1.0)).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("aode")), "{error}");
}
