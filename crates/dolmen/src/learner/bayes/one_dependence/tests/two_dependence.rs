//! Two-dependence estimators against plain counting, and their models.

use proptest::prelude::*;

use super::super::triples::{TripleTables, Triples};
use super::*;

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
    let predicted =
        |model: &FittedOneDependence| predict::<Classification>(model, query.rows(), &run).unwrap();
    assert_eq!(predicted(&grown), predicted(&whole));
    let record = Fitted::<Joint>::record(&whole).unwrap();
    let registry = crate::store::Registry::default().with_model::<Joint, FittedOneDependence>();
    let restored = registry.model::<Joint>(&record).unwrap();
    let joint = predict::<Joint>(&whole, query.rows(), &run).unwrap();
    assert_eq!(predict(restored.as_ref(), query.rows(), &run).unwrap(), joint);
}

#[test]
fn tables_too_large_for_memory_are_refused_with_a_hint() {
    let layout = Layout::new(vec![40; 40], 5).unwrap();
    let error = Triples::of_rows(&layout, 0, |_, _| (0, 1.0)).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("aode")), "{error}");
}
