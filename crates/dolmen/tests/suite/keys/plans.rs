//! Plans as text, folds and hold-outs of rows with keys.

use dolmen::plan::{
    Bootstrap, Given, Grouped, HoldOut, KFold, Plan, PlanRequest, PlanSpec, Portion, Repeated,
    RowKeys, Stratified, TimeOrdered, Window,
};
use dolmen::spec::Spec;
use proptest::prelude::*;

use super::spy::{made, run};

fn asked(text: &str) -> dolmen::Result<PlanRequest> {
    PlanSpec::from_spec(&Spec::parse(text)?)
}

fn spec(text: &str) -> PlanSpec {
    asked(text).unwrap().spec
}

#[test]
fn plans_are_read_as_they_are_meant() {
    let time = TimeOrdered { splits: 5, gap: 7, ..TimeOrdered::default() };
    for text in [
        "time(column=when, kind=expanding, folds=5, gap=7)",
        "time-ordered(column='when', window=expanding, splits=5, gap=7)",
    ] {
        let request = asked(text).unwrap();
        assert_eq!(request.spec, PlanSpec::TimeOrdered(time));
        assert_eq!((request.time.as_deref(), request.groups), (Some("when"), None));
    }
    let rolling = TimeOrdered { window: Window::Rolling, train: Some(9), ..TimeOrdered::default() };
    assert_eq!(spec("time(kind=rolling, train=9)"), PlanSpec::TimeOrdered(rolling));
    assert_eq!(spec("k-fold(splits=4)"), PlanSpec::KFold(KFold { folds: 4, shuffle: true }));
    assert_eq!(spec("leave-one-out").kind(), "leave-one-out");
    assert_eq!(spec("bootstrap(repeats=50)"), PlanSpec::Bootstrap(Bootstrap { repeats: 50 }));
    let held_out = HoldOut { test: Portion::Fraction(0.2), stratify: true };
    assert_eq!(spec("hold-out(test=0.2, stratify=true)"), PlanSpec::HoldOut(held_out));
    let given = asked("given(column=fold)").unwrap();
    assert_eq!((given.spec, given.folds.as_deref()), (PlanSpec::Given(Given {}), Some("fold")));
    let of = Box::new(PlanSpec::Stratified(Stratified { folds: 5 }));
    let repeated = PlanSpec::Repeated(Repeated { repeats: 3, of });
    assert_eq!(spec("repeated(of=stratified(folds=5), repeats=3)"), repeated);
    let grouped = asked("repeated(of=grouped(column=who, folds=3))").unwrap();
    let of = Box::new(PlanSpec::Grouped(Grouped { folds: 3 }));
    assert_eq!(grouped.spec, PlanSpec::Repeated(Repeated { repeats: 10, of }));
    assert_eq!(grouped.groups.as_deref(), Some("who"));
    assert_eq!(spec("repeated(of=stratified)").kind(), "repeated");
}

#[test]
fn mistakes_are_named() {
    let said = |text: &str| {
        let error = asked(text).unwrap_err();
        format!("{error} {}", error.hint().unwrap_or_default())
    };
    assert!(said("tme(folds=3)").contains("time"), "{}", said("tme"));
    assert!(said("stratifed").contains("did you mean 'stratified'?"));
    assert!(said("k-fold(foldz=3)").contains("did you mean 'folds'?"));
    assert!(said("time(gapp=3)").contains("did you mean 'gap'?"));
    assert!(said("k-fold(column=a)").contains("a parameter of k-fold"));
    assert!(said("time(folds=3, splits=4)").contains("twice"));
    assert!(said("time(kind=sideways)").contains("expanding"));
    assert!(said("repeated(of=3)").contains("a plan"));
}

/// What the user calls `kind` and `folds` is called so in what he is told.
#[test]
fn mistakes_are_told_in_the_words_of_the_text() {
    let times: Vec<f64> = (0..30).map(f64::from).collect();
    let keys = RowKeys { times: Some(&times), ..RowKeys::default() };
    let said = |text: &str| {
        let plan = asked(text).and_then(|request| request.build(30, &keys, &run()));
        plan.unwrap_err().to_string()
    };
    for (own, other) in [("kind", "window"), ("window", "kind")] {
        for text in [
            format!("time({own}=expanding, train=3)"),
            format!("time({own}=around, test=3)"),
            format!("time({own}=rolling, embargo=3)"),
            format!("time({own}=sideways)"),
        ] {
            let said = said(&text);
            assert!(said.contains(own) && !said.contains(other), "{text}: {said}");
        }
    }
    assert!(said("time(folds=99)").starts_with("folds must"), "{}", said("time(folds=99)"));
    assert!(said("time(splits=99)").starts_with("splits must"), "{}", said("time(splits=99)"));
}

#[test]
fn given_folds_must_keep_groups_together() {
    let build = |folds: &[u32], groups: &[u32]| {
        let keys = RowKeys { folds: Some(folds), groups: Some(groups), ..RowKeys::default() };
        PlanSpec::Given(Given {}).build(folds.len(), &keys, &run())
    };
    let plan = build(&[0, 1, 1, 0, 2], &[7, 8, 8, 7, 9]).unwrap();
    assert_eq!(plan.splits()[1].test(), [1, 2]);
    let error = build(&[0, 1, 1, 0, 2], &[7, 8, 7, 7, 9]).unwrap_err().to_string();
    assert!(error.contains("both sides"), "{error}");
    let missing = PlanSpec::Given(Given {}).build(5, &RowKeys::default(), &run()).unwrap_err();
    assert!(missing.to_string().contains("folds"));
}

#[test]
fn too_few_groups_or_times_give_fewer_folds_or_an_error() {
    let made = made(40);
    let two: Vec<u32> = (0..40).map(|i| i / 20).collect();
    let moments: Vec<f64> = (0..40).map(|i| f64::from(i / 10)).collect();
    let grouped = made.plain().grouped(&two).unwrap();
    assert_eq!(grouped.folds(10, &run()).unwrap().splits().len(), 2);
    let timed = made.plain().timed(&moments).unwrap();
    assert_eq!(timed.folds(10, &run()).unwrap().splits().len(), 3);
    let (one, now) = ([5; 40], [1.0; 40]);
    assert!(made.plain().grouped(&one).unwrap().folds(10, &run()).is_err());
    assert!(made.plain().grouped(&one).unwrap().hold_out(0.3, &run()).is_err());
    assert!(made.plain().timed(&now).unwrap().folds(10, &run()).is_err());
    assert!(made.plain().timed(&now).unwrap().hold_out(0.3, &run()).is_err());
    let mut missing = made.times.clone();
    missing[3] = f64::NAN;
    assert!(made.plain().timed(&missing).is_err());
}

#[test]
fn forward_plans_are_known() {
    let times: Vec<f64> = (0..30).map(f64::from).collect();
    let plan = |window, gap| {
        Plan::time_ordered(&times, TimeOrdered { window, gap, ..TimeOrdered::default() }).unwrap()
    };
    for gap in [0, 2] {
        assert!(plan(Window::Expanding, gap).is_forward());
        assert!(plan(Window::Rolling, gap).is_forward());
        assert!(!plan(Window::Around, gap).is_forward());
    }
    assert!(!Plan::in_turn(30, 3).is_forward());
    assert!(!Plan::bootstrap(30, 3, &run()).unwrap().is_forward());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn splits_honour_keys_whatever_they_are(
        keys in prop::collection::vec((0_u32..9, 0_u32..12), 2..60),
        wanted in 2_usize..8,
        share in 0.05_f64..0.6,
        seed in 0_u64..100,
    ) {
        let rows = keys.len();
        let groups: Vec<u32> = keys.iter().map(|(group, _)| *group).collect();
        let times: Vec<f64> = keys.iter().map(|(_, time)| f64::from(*time)).collect();
        let run = dolmen::run::Run::with_threads(seed, 1).unwrap();
        for (grouped, timed) in [(true, false), (false, true), (true, true)] {
            let keys = RowKeys {
                groups: grouped.then_some(&groups[..]),
                times: timed.then_some(&times[..]),
                ..RowKeys::default()
            };
            let plan = keys.folds(rows, wanted, &run).ok();
            let held_out = keys.hold_out(rows, share, &run).ok();
            let splits = plan.iter().flat_map(|plan| plan.splits().iter().cloned()).chain(held_out);
            for split in splits {
                let train = split.train(rows);
                prop_assert!(!train.is_empty() && !split.test().is_empty());
                for (&i, &j) in split.test().iter().flat_map(|i| train.iter().map(move |j| (i, j))) {
                    prop_assert!(!grouped || groups[i] != groups[j]);
                    prop_assert!(!timed || times[j] < times[i]);
                }
            }
        }
    }
}
