//! What must hold on any data.

use proptest::prelude::*;

use super::super::scale::Scale;
use super::super::shared::SpareCounts;
use super::*;
use crate::plan::{Plan, Split};

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
        for (u, found) in logs_without(&whole, slots, (*class, 1.0)).chunks_exact(3).enumerate() {
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
    fn leaving_out_equals_deleting_and_counting_again(
        rows in some_rows(),
        weights in prop::collection::vec(prop::sample::select(vec![0.0, 0.3, 1.0, 2.0]), 30),
    ) {
        let layout = Layout::new(vec![3, 2, 4], 2).unwrap();
        let rows: Vec<(Slots, usize)> =
            rows.iter().map(|(values, class)| (slots_in(&layout, values), *class)).collect();
        let (left, class) = &rows[0];
        let whole = weighted_tables(&rows, &weights, &layout);
        let found = logs_without(&whole, left, (*class, weights[0]));
        let without = weighted_tables(&rows[1..], &weights[1..], &layout);
        for (u, found) in found.chunks_exact(2).enumerate() {
            let mut expected = [0.0; 2];
            without.rooted(u, left, &mut expected);
            for (a, b) in found.iter().zip(expected) {
                prop_assert!((a - b).abs() < 1e-12, "{a} is not {b}");
            }
        }
    }

    /// The chain rule: each row given those before it, with the root by its estimator, without it by naive Bayes.
    #[test]
    fn the_evidence_is_the_product_of_predictions(rows in some_rows()) {
        let layout = Layout::new(vec![3, 2, 4], 2).unwrap();
        let rows: Vec<(Slots, usize)> =
            rows.iter().map(|(values, class)| (slots_in(&layout, values), *class)).collect();
        for (u, found) in tables(&rows, &layout).log_evidence().into_iter().enumerate() {
            let (with, missing): (Vec<_>, Vec<_>) =
                rows.iter().cloned().partition(|(slots, _)| slots[u].is_some());
            let mut expected = 0.0;
            for part in [with, missing] {
                for (i, (slots, class)) in part.iter().enumerate() {
                    let mut joint = [0.0; 2];
                    tables(&part[..i], &layout).rooted(u, slots, &mut joint);
                    expected += joint[*class];
                }
            }
            prop_assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
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
