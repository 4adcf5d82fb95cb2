//! What plans refuse, how they read in a file, and their fingerprint.

use std::collections::BTreeSet;

use super::*;

fn run(seed: u64) -> Run {
    Run::with_threads(seed, 1).unwrap()
}

fn parsed(json: &str) -> PlanSpec {
    serde_json::from_str(json).unwrap()
}

/// The error of building the plan, which must be one line.
fn refusal(json: &str, rows: usize, keys: &RowKeys<'_>) -> String {
    let message = parsed(json).build(rows, keys, &run(0)).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn the_fingerprint_of_a_plan_never_changes() {
    assert_eq!(Plan::in_turn(10, 3).fingerprint(), "6457abb655d99e85");
    let shuffled = Plan::k_fold(10, 3, &run(0)).unwrap();
    assert_eq!(shuffled.fingerprint(), "fde4040744e17bc8");
    let bootstrap = Plan::bootstrap(10, 3, &run(0)).unwrap();
    assert_eq!(bootstrap.fingerprint(), "23f983d964523911");
}

/// All partitions of six rows into up to six folds, and small changes that keep the rows in the same places.
#[test]
fn different_plans_have_different_fingerprints() {
    let code = |code: usize| (0..6).map(move |row| code / 6_usize.pow(row) % 6);
    let folds = |number| Plan::from_folds(&code(number).collect::<Vec<_>>()).ok();
    let mut plans: Vec<_> = (0..6_usize.pow(6)).filter_map(folds).collect();
    let ordered_partitions = 4683;
    assert_eq!(plans.len(), ordered_partitions - 1, "all but the one of one fold");
    let split = |rows, train: &[usize], test: &[usize]| {
        Plan::from_splits(rows, [(train.to_vec(), test.to_vec())]).unwrap()
    };
    plans.extend([
        split(6, &[0, 1, 2], &[3]),
        split(6, &[0, 1], &[3]),
        split(6, &[0, 1, 1], &[3]),
        split(6, &[0, 1], &[2, 3]),
        split(7, &[0, 1], &[2, 3]),
        split(6, &[0, 1, 2, 4, 5], &[3]),
        split(6, &[0, 1, 2, 4, 5, 5], &[3]),
        Plan::of(6, vec![Split::others(vec![3]); 2]),
    ]);
    let fingerprints: BTreeSet<_> = plans.iter().map(Plan::fingerprint).collect();
    assert_eq!(fingerprints.len(), plans.len());
}

#[test]
fn equal_splits_are_equal_however_they_were_made() {
    let dealt = Plan::in_turn(7, 3);
    let given = Plan::from_folds(&[0, 1, 2, 0, 1, 2, 0]).unwrap();
    let unsorted = [
        (vec![5, 1, 2, 4], vec![6, 0, 3]),
        (vec![0, 2, 3, 5, 6], vec![4, 1]),
        (vec![6, 4, 3, 1, 0], vec![2, 5]),
    ];
    let listed = Plan::from_splits(7, unsorted).unwrap();
    assert_eq!(dealt, given);
    assert_eq!(dealt, listed);
    assert_eq!(dealt.fingerprint(), listed.fingerprint());
    assert_eq!(listed.fold_of_row(), Some(vec![0, 1, 2, 0, 1, 2, 0]));
}

#[test]
fn a_partition_learns_from_all_other_rows() {
    let purged = [(vec![3], vec![0, 1]), (vec![0], vec![2, 3])];
    let plan = Plan::from_splits(4, purged).unwrap();
    assert_eq!(plan.coverage(), [1, 1, 1, 1]);
    assert!(!plan.is_partition());
    assert_eq!(plan.fold_of_row(), None);
    let twice = Plan::of(3, vec![Split::others(vec![0, 1]); 2]);
    assert!(!twice.is_partition());
    assert_eq!(twice.never_held_out(), [2]);
}

#[test]
fn unusable_folds_and_splits_are_refused() {
    let folds = |folds: &[usize]| Plan::from_folds(folds).unwrap_err().to_string();
    assert_eq!(folds(&[]), "data: a split needs at least 2 rows, and there are 0");
    assert_eq!(folds(&[0, 0]), "folds must be at least 2 and at most the 2 rows, but is 1");
    assert_eq!(folds(&[1, 2, 2]), "data: no row is in fold 0, but some are in fold 2");
    assert!(folds(&[0, 1, usize::MAX]).starts_with("data: no row is in fold 2"));
    let splits = |train: &[usize], test: &[usize]| {
        let split = (train.to_vec(), test.to_vec());
        Plan::from_splits(4, [split]).unwrap_err().to_string()
    };
    let place = "data: split 1 of the plan ";
    assert_eq!(splits(&[], &[1]), format!("{place}learns from no row"));
    assert_eq!(splits(&[1], &[]), format!("{place}predicts no row"));
    assert_eq!(splits(&[1, 1], &[2, 2]), format!("{place}predicts row 2 twice"));
    assert_eq!(splits(&[1, 0], &[2, 1]), format!("{place}learns from row 1 and predicts it"));
    assert_eq!(
        splits(&[4], &[1]),
        format!("{place}names row 4, but the rows are counted from 0 to 3")
    );
    assert!(Plan::from_splits(4, []).is_err());
}

#[test]
fn unusable_parameters_are_refused() {
    let none = RowKeys::default();
    let expect = |json: &str, rows, part: &str| {
        let message = refusal(json, rows, &none);
        assert!(message.contains(part), "{json} with {rows} rows: {message}");
    };
    expect(r#"{"kind":"k-fold","folds":11}"#, 10, "at most the 10 rows, but is 11");
    expect(r#"{"kind":"k-fold","folds":1}"#, 10, "folds must be at least 2");
    expect(r#"{"kind":"k-fold"}"#, 1, "at least 2 rows, and there are 1");
    expect(r#"{"kind":"leave-one-out"}"#, 1, "at least 2 rows");
    expect(r#"{"kind":"bootstrap"}"#, 1, "at least 2 rows");
    expect(r#"{"kind":"bootstrap","repeats":0}"#, 9, "repeats must be between 1 and");
    expect(r#"{"kind":"repeated","repeats":0}"#, 20, "repeats must be between 1 and");
    expect(r#"{"kind":"repeated","of":{"kind":"leave-one-out"}}"#, 9, "but is leave-one-out");
    expect(r#"{"kind":"repeated","of":{"kind":"k-fold","shuffle":false}}"#, 9, "draws at random");
    for fraction in ["0.0", "1.0", "-0.5", "-1", "1.5"] {
        let json = format!(r#"{{"kind":"hold-out","test":{fraction}}}"#);
        expect(&json, 9, "test must be a fraction between 0 and 1");
    }
    expect(r#"{"kind":"hold-out","test":9}"#, 9, "at least 1 is in and 1 is out");
    expect(r#"{"kind":"hold-out","test":0}"#, 9, "at least 1 is in and 1 is out");
    expect(r#"{"kind":"hold-out","test":0.01}"#, 9, "at least 1 is in and 1 is out");
    expect(r#"{"kind":"hold-out"}"#, 1, "at least 2 rows");
    expect(r#"{"kind":"subsample","train":0.99}"#, 9, "train must be such that of 9 rows");
    expect(r#"{"kind":"stratified"}"#, 20, "needs the rows' classes");
    expect(r#"{"kind":"hold-out","stratify":true}"#, 20, "needs the rows' classes");
    expect(r#"{"kind":"grouped"}"#, 20, "needs the rows' groups");
}

#[test]
fn unusable_windows_of_time_are_refused() {
    let expect = |parameters: &str, part: &str| {
        let json = format!(r#"{{"kind":"time-ordered",{parameters}}}"#);
        let message = refusal(&json, 10, &RowKeys::default());
        assert!(message.contains(part), "{parameters}: {message}");
    };
    expect(r#""splits":0"#, "splits must be at least 1");
    expect(r#""splits":10"#, "less than the 10 distinct times");
    expect(r#""splits":2,"test":0"#, "test must be at least 1");
    expect(r#""splits":2,"test":5"#, "less than the 10 distinct times together, but is 2 x 5 + 0");
    expect(r#""splits":2,"test":3,"gap":4"#, "but is 2 x 3 + 4");
    expect(r#""splits":9,"test":2000000000000000000"#, "distinct times together");
    expect(r#""splits":2,"gap":18446744073709551615"#, "distinct times together");
    expect(r#""train":3"#, "left out unless window is rolling");
    expect(r#""window":"rolling","splits":2,"test":2,"train":7"#, "at most the 6 distinct times");
    expect(r#""window":"rolling","splits":2,"train":0"#, "train must be at least 1");
    expect(r#""embargo":1"#, "embargo must be 0 unless window is around");
    expect(r#""window":"around","test":2"#, "test must be left out");
    expect(r#""window":"around","splits":11"#, "splits must be at least 2 and at most the 10");
    expect(r#""window":"around","splits":2,"gap":2,"embargo":3"#, "but is 5");
    let constant = Plan::time_ordered(&[3.0; 9], TimeOrdered::default()).unwrap_err();
    assert!(constant.to_string().ends_with("at least 2 distinct times, and there are 1"));
    let late = Plan::time_ordered(&[1.0, f64::NAN, 0.0], TimeOrdered::default()).unwrap_err();
    assert_eq!(late.to_string(), "row 2: the time is missing");
}

#[test]
fn keys_must_fit_the_rows_and_the_scheme() {
    let (codes, times) = ([0, 1, 0, 1], [0.0; 4]);
    let classes = RowKeys { classes: Some(&codes), ..RowKeys::default() };
    let groups = RowKeys { groups: Some(&codes), ..RowKeys::default() };
    let times = RowKeys { times: Some(&times), ..RowKeys::default() };
    for keys in [classes, groups, times] {
        let error = PlanSpec::default().build(5, &keys, &run(0)).unwrap_err();
        assert!(error.to_string().ends_with("of the rows: expected 5, found 4"), "{error}");
    }
    let torn = refusal(r#"{"kind":"hold-out"}"#, 4, &groups);
    assert_eq!(torn, "data: the plan 'hold-out' would put a group on both sides of a split");
    let few = refusal(r#"{"kind":"grouped","folds":3}"#, 4, &groups);
    assert_eq!(few, "folds must be at least 2 and at most the 2 groups, but is 3");
    assert!(Plan::stratified_grouped(&[0, 1, 0], &codes, 2, &run(0)).is_err());
    let repeated = r#"{"kind":"repeated","of":{"kind":"grouped","folds":2}}"#;
    assert!(parsed(repeated).build(4, &groups, &run(0)).is_ok());
}

#[test]
fn the_suited_scheme_uses_what_is_known() {
    let codes = [0, 0, 1, 1];
    let mut keys = RowKeys::default();
    assert_eq!(PlanSpec::suited(3, &keys).kind(), "k-fold");
    keys.classes = Some(&codes);
    assert_eq!(PlanSpec::suited(3, &keys).kind(), "stratified");
    keys.groups = Some(&codes);
    assert_eq!(PlanSpec::suited(3, &keys).kind(), "stratified-grouped");
    keys.classes = None;
    assert_eq!(PlanSpec::suited(3, &keys), parsed(r#"{"kind":"grouped","folds":3}"#));
    keys.times = Some(&[0.0; 4]);
    assert_eq!(PlanSpec::suited(3, &keys).kind(), "time-ordered");
}

#[test]
fn a_scheme_reads_back_as_it_was_written() {
    let specs = [
        PlanSpec::KFold(KFold { folds: 3, shuffle: false }),
        PlanSpec::Stratified(Stratified::default()),
        PlanSpec::Grouped(Grouped::default()),
        PlanSpec::StratifiedGrouped(StratifiedGrouped::default()),
        PlanSpec::LeaveOneOut(LeaveOneOut {}),
        PlanSpec::Repeated(Repeated::default()),
        PlanSpec::TimeOrdered(TimeOrdered { train: Some(4), ..TimeOrdered::default() }),
        PlanSpec::HoldOut(HoldOut { test: Portion::Rows(7), stratify: true }),
        PlanSpec::Subsample(Subsample::default()),
        PlanSpec::Bootstrap(Bootstrap::default()),
    ];
    for spec in specs {
        let json = serde_json::to_value(&spec).unwrap();
        assert_eq!(json["kind"], spec.kind());
        assert_eq!(serde_json::from_value::<PlanSpec>(json.clone()).unwrap(), spec);
        let bytes = rmp_serde::to_vec_named(&spec).unwrap();
        assert_eq!(rmp_serde::from_slice::<PlanSpec>(&bytes).unwrap(), spec);
        let mut misspelt = json;
        misspelt["flods"] = 3.into();
        let error = serde_json::from_value::<PlanSpec>(misspelt).unwrap_err();
        assert!(error.to_string().contains("unknown field `flods`"), "{}: {error}", spec.kind());
    }
    assert_eq!(parsed(r#"{"kind":"k-fold"}"#), PlanSpec::default());
    let portion = serde_json::from_str::<Portion>("\"half\"").unwrap_err();
    assert!(portion.to_string().contains("a number of rows (100) or a fraction"), "{portion}");
}
