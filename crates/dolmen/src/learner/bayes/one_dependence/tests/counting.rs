//! Counts against plain loops, in folds, and from files.

use serde_json::{Value, json};

use super::*;
use crate::plan::Plan;

/// More rows than are read or counted in one piece.
#[test]
fn many_rows_are_counted_one_by_one() {
    let layout = Layout::new(vec![3, 2, 4, 2, 5], 3).unwrap();
    let value = |i: usize, u: usize| (i * (u + 3) % 11 != 4).then_some((i * i + 7 * u * i) % 13);
    let slots = |i: usize| -> Slots {
        (0..5).map(|u| value(i, u).map(|value| layout.slot(u, value % (u + 2)))).collect()
    };
    let weight = |i: usize| (i % 5) as f64;
    let rows = 9001;
    let counts = Counts::of_rows(&layout, rows, |i, room: &mut [Option<Slot>]| {
        room.copy_from_slice(&slots(i));
        (i % 3, weight(i))
    });
    let mut expected = vec![0.0; layout.slots() * layout.slots() * 3];
    for i in 0..rows {
        let slots = slots(i);
        for a in slots.iter().flatten() {
            for b in slots.iter().flatten() {
                expected[(a.index() * layout.slots() + b.index()) * 3 + i % 3] += weight(i);
            }
        }
    }
    for (pair, expected) in expected.chunks_exact(3).enumerate() {
        assert_eq!(counts.pair(pair / layout.slots(), pair % layout.slots()), expected);
    }
    let of_class = |class: usize| (0..rows).filter(|i| i % 3 == class).map(weight).sum::<f64>();
    assert_eq!(counts.by_class(), [0, 1, 2].map(of_class));
}

#[test]
fn stored_counts_that_cannot_be_are_refused() {
    let layout = Layout::new(vec![2, 1], 3).unwrap();
    let counts = Counts::of_rows(&layout, 4, |i, room: &mut [Option<Slot>]| {
        room.copy_from_slice(&[Some(layout.slot(0, i % 2)), Some(layout.slot(1, 0))]);
        (i % 3, 1.0)
    });
    let stored = serde_json::to_value(&counts).unwrap();
    assert_eq!(serde_json::from_value::<Counts>(stored.clone()).unwrap(), counts);
    let damages: [(&str, Value); 5] = [
        ("/layout/classes", json!(0)),
        ("/layout/values/0", json!(usize::MAX)),
        ("/layout/firsts/1", json!(1)),
        ("/by_class/0", json!(-1.0)),
        ("/pairs", json!([1.0])),
    ];
    for (place, value) in damages {
        let mut damaged = stored.clone();
        *damaged.pointer_mut(place).unwrap() = value;
        assert!(serde_json::from_value::<Counts>(damaged).is_err(), "{place}");
    }
}

#[test]
fn a_plan_of_other_rows_is_refused() {
    let golden = golden();
    let (x, y) = (features(&golden, "X"), labels(&golden));
    let sample = Sample::<Classification>::new(x.rows(), &y).unwrap();
    let plan = Plan::in_turn(x.rows().rows() + 1, 5);
    let run = Run::with_threads(0, 1).unwrap();
    assert!(OneDependence::from(Aode::default()).out_of_sample(&sample, &plan, &run).is_err());
}

/// The values that are not missing are all there are, if missing ones are ignored; else being missing is one more.
#[test]
fn joint_probabilities_sum_to_one() {
    let levels = |count: usize| (0..count).map(|v| v.to_string()).collect();
    let field = |(u, count)| Field {
        name: format!("a{u}"),
        kind: Kind::Categorical { levels: levels(count) },
    };
    let schema = Arc::new(Schema::new([2, 3].into_iter().enumerate().map(field).collect()));
    let rows = vec![0.0, 1.0, 1.0, f64::NAN, f64::NAN, 2.0, 0.0, 0.0, 1.0, 2.0];
    let x = Features::new(rows, Arc::clone(&schema)).unwrap();
    let y = Labels::new(["p", "q"].map(String::from), vec![0, 1, 0, 0, 1]).unwrap();
    let sample = Sample::<Joint>::new(x.rows(), &y).unwrap();
    let run = Run::with_threads(0, 1).unwrap();
    for missing in [MissingValues::Value, MissingValues::Ignore] {
        let also = (missing == MissingValues::Value).then_some(f64::NAN);
        let values = |count: u32| (0..count).map(f64::from).chain(also).collect::<Vec<f64>>();
        let cells =
            values(2).into_iter().flat_map(|a| values(3).into_iter().flat_map(move |b| [a, b]));
        let every = Features::new(cells.collect::<Vec<f64>>(), Arc::clone(&schema)).unwrap();
        let root = vec!["a0".to_string()];
        let family: [OneDependence; 4] = [
            NaiveBayes { missing, ..NaiveBayes::default() }.into(),
            Ode { root, missing, ..Ode::default() }.into(),
            Aode { missing, ..Aode::default() }.into(),
            BmaAode { missing, ..BmaAode::default() }.into(),
        ];
        for learner in family {
            let model = Learner::<Joint>::fit(&learner, &sample, &run).unwrap().remove(0);
            let logs = predict(model.as_ref(), every.rows(), &run).unwrap();
            let total: f64 = logs.iter().map(|log| log.exp()).sum();
            assert!((total - 1.0).abs() < 1e-12, "{learner:?}: {total}");
        }
    }
}
