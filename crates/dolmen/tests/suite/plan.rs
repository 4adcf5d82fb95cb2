//! Properties of folds and random draws of rows, against slow and obvious statements of them.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use dolmen::plan::{
    Bootstrap, Grouped, HoldOut, KFold, Plan, PlanSpec, Portion, RowKeys, Split, Stratified,
    StratifiedGrouped, Subsample,
};
use dolmen::run::Run;
use proptest::collection::vec;
use proptest::prelude::*;

fn run(seed: u64) -> Run {
    Run::with_threads(seed, 1).unwrap()
}

fn build(spec: &PlanSpec, rows: usize, keys: &RowKeys<'_>, seed: u64) -> Plan {
    spec.build(rows, keys, &run(seed)).unwrap()
}

/// Both sides of every split have rows, in order, and share none.
fn check_sides(plan: &Plan) {
    for split in plan.splits() {
        let train = split.train(plan.rows());
        assert!(!train.is_empty() && !split.test().is_empty());
        assert!(train.is_sorted() && split.test().is_sorted_by(|a, b| a < b));
        assert!(train.iter().chain(split.test()).all(|&row| row < plan.rows()));
        assert!(train.iter().all(|row| !split.test().contains(row)));
        let others: Vec<_> = (0..plan.rows()).filter(|row| !split.test().contains(row)).collect();
        assert_eq!(split.learns_from_all_others(), *train == others);
    }
}

/// Every row is held out once and learned from in all other splits, and the folds can be read off and given back.
fn check_partition(plan: &Plan, folds: usize) {
    check_sides(plan);
    assert!(plan.is_partition());
    assert_eq!(plan.splits().len(), folds);
    assert_eq!(plan.coverage(), vec![1; plan.rows()]);
    assert_eq!(plan.never_held_out(), [0; 0]);
    let fold_of_row = plan.fold_of_row().unwrap();
    let fold_of_row: Vec<_> = fold_of_row.into_iter().map(|fold| fold as usize).collect();
    assert_eq!(Plan::from_folds(&fold_of_row).unwrap(), *plan);
}

/// How many of these rows belong to each class.
fn counts(rows: &[usize], classes: &[u32]) -> BTreeMap<u32, usize> {
    let mut counts: BTreeMap<_, _> = classes.iter().map(|&class| (class, 0)).collect();
    for &row in rows {
        *counts.entry(classes[row]).or_default() += 1;
    }
    counts
}

fn spread(counts: impl Iterator<Item = usize> + Clone) -> usize {
    counts.clone().max().unwrap() - counts.min().unwrap()
}

fn size_spread(plan: &Plan) -> usize {
    spread(plan.splits().iter().map(|split| split.test().len()))
}

/// The largest difference between two folds in the rows of one class.
fn class_spread(plan: &Plan, classes: &[u32]) -> usize {
    let count =
        |class| plan.splits().iter().map(move |split| counts(split.test(), classes)[&class]);
    classes.iter().map(|&class| spread(count(class))).max().unwrap()
}

fn check_groups(plan: &Plan, groups: &[u32]) {
    for split in plan.splits() {
        let held_out: BTreeSet<_> = split.test().iter().map(|&row| groups[row]).collect();
        assert!(split.train(plan.rows()).iter().all(|&row| !held_out.contains(&groups[row])));
    }
}

/// The sizes of folds, ascending, after each group in turn, the largest first, went to the smallest fold.
fn filled_largest_first(groups: &[u32], folds: usize) -> Vec<usize> {
    let rows: Vec<_> = (0..groups.len()).collect();
    let mut group_sizes: Vec<_> = counts(&rows, groups).into_values().collect();
    group_sizes.sort_unstable();
    let mut sizes = vec![0; folds];
    for size in group_sizes.into_iter().rev() {
        sizes[0] += size;
        sizes.sort_unstable();
    }
    sizes
}

fn distinct<T: Ord + Copy>(codes: &[T]) -> usize {
    codes.iter().collect::<BTreeSet<_>>().len()
}

proptest! {
    #[test]
    fn k_folds_are_balanced((rows, folds) in rows_and_folds(), shuffle: bool, seed: u64) {
        let spec = PlanSpec::KFold(KFold { folds, shuffle });
        let plan = build(&spec, rows, &RowKeys::default(), seed);
        check_partition(&plan, folds);
        prop_assert!(size_spread(&plan) <= 1);
        if !shuffle {
            prop_assert!(plan.fold_of_row().unwrap().is_sorted());
        }
    }

    #[test]
    fn strata_are_spread_and_folds_balanced(classes in vec(0_u32..5, 2..80), part in 0.0..1.0, seed: u64) {
        let folds = between(2, classes.len(), part);
        let plan = Plan::stratified(&classes, folds, &run(seed)).unwrap();
        check_partition(&plan, folds);
        prop_assert!(size_spread(&plan) <= 1);
        prop_assert!(class_spread(&plan, &classes) <= 1);
    }

    #[test]
    fn groups_stay_together(groups in vec(skewed(), 2..80), part in 0.0..1.0, seed: u64) {
        prop_assume!(distinct(&groups) >= 2);
        let folds = between(2, distinct(&groups), part);
        let plan = Plan::grouped(&groups, folds, &run(seed)).unwrap();
        check_partition(&plan, folds);
        check_groups(&plan, &groups);
        let mut sizes: Vec<_> = plan.splits().iter().map(|split| split.test().len()).collect();
        sizes.sort_unstable();
        prop_assert_eq!(sizes, filled_largest_first(&groups, folds));
        let renamed: Vec<_> = groups.iter().map(|group| group * 1_000_003 + 7).collect();
        prop_assert_eq!(Plan::grouped(&renamed, folds, &run(seed)).unwrap(), plan);
    }

    #[test]
    fn groups_stay_together_while_classes_are_spread(
        codes in vec((0_u32..4, skewed()), 2..80), part in 0.0..1.0, seed: u64,
    ) {
        let (classes, groups): (Vec<_>, Vec<_>) = codes.into_iter().unzip();
        prop_assume!(distinct(&groups) >= 2);
        let folds = between(2, distinct(&groups), part);
        let plan = Plan::stratified_grouped(&classes, &groups, folds, &run(seed)).unwrap();
        check_partition(&plan, folds);
        check_groups(&plan, &groups);
    }

    /// Groups of three rows of one class are as good as single rows: their classes can be spread evenly, and are.
    #[test]
    fn groups_of_one_class_are_spread_evenly(classes in vec(0_u32..4, 2..40), part in 0.0..1.0, seed: u64) {
        let folds = between(2, classes.len(), part);
        let threefold = |i: usize| i % classes.len();
        let rows = 3 * classes.len();
        let groups: Vec<_> = (0..rows).map(|row| threefold(row) as u32).collect();
        let classes: Vec<_> = (0..rows).map(|row| classes[threefold(row)]).collect();
        let plan = Plan::stratified_grouped(&classes, &groups, folds, &run(seed)).unwrap();
        prop_assert!(class_spread(&plan, &classes) <= 3);
    }

    #[test]
    fn leaving_one_out_is_as_many_folds_as_rows(rows in 2_usize..60) {
        let plan = Plan::leave_one_out(rows).unwrap();
        check_partition(&plan, rows);
        let spec = PlanSpec::KFold(KFold { folds: rows, shuffle: false });
        prop_assert_eq!(build(&spec, rows, &RowKeys::default(), 0), plan);
    }

    #[test]
    fn repeated_plans_cover_each_row_every_time((rows, folds) in rows_and_folds(), repeats in 1_usize..6, seed: u64) {
        let scheme = || PlanSpec::KFold(KFold { folds, shuffle: true });
        let repeated = |repeats| Plan::repeated(scheme(), repeats, rows, &RowKeys::default(), &run(seed)).unwrap();
        let plan = repeated(repeats);
        check_sides(&plan);
        prop_assert_eq!(plan.coverage(), vec![repeats as u32; rows]);
        prop_assert_eq!(plan.is_partition(), repeats == 1);
        for folds in plan.splits().chunks(folds) {
            let mut held_out: Vec<_> = folds.iter().flat_map(Split::test).copied().collect();
            held_out.sort_unstable();
            prop_assert_eq!(held_out, (0..rows).collect::<Vec<_>>());
        }
        prop_assert!(repeated(repeats + 1).splits().starts_with(plan.splits()));
    }

    #[test]
    fn draws_without_replacement_have_their_size(
        classes in vec(0_u32..5, 2..80), part in 0.0..1.0, stratify: bool, seed: u64,
    ) {
        let rows = classes.len();
        let count = between(1, rows - 1, part);
        let keys = RowKeys { classes: Some(&classes), ..RowKeys::default() };
        let held_out = PlanSpec::HoldOut(HoldOut { test: Portion::Rows(count), stratify });
        let train = Portion::Fraction((rows - count) as f64 / rows as f64);
        let subsample = PlanSpec::Subsample(Subsample { train, repeats: 3, stratify });
        for (spec, splits) in [(held_out, 1), (subsample, 3)] {
            let plan = build(&spec, rows, &keys, seed);
            check_sides(&plan);
            prop_assert_eq!(plan.splits().len(), splits);
            for split in plan.splits() {
                prop_assert_eq!(split.test().len(), count);
                prop_assert!(split.learns_from_all_others());
                let all: Vec<_> = (0..rows).collect();
                for (class, size) in counts(&all, &classes).into_iter().filter(|_| stratify) {
                    let drawn = counts(split.test(), &classes)[&class];
                    prop_assert!(drawn == size * count / rows || drawn == (size * count).div_ceil(rows));
                }
            }
        }
    }

    #[test]
    fn a_bootstrap_holds_out_what_is_not_in_the_bag(rows in 2_usize..60, repeats in 1_usize..6, seed: u64) {
        let plan = Plan::bootstrap(rows, repeats, &run(seed)).unwrap();
        check_sides(&plan);
        prop_assert_eq!(plan.splits().len(), repeats);
        for split in plan.splits() {
            let bag = split.train(rows);
            prop_assert_eq!(bag.len(), rows);
            let out_of_bag: Vec<_> = (0..rows).filter(|row| !bag.contains(row)).collect();
            prop_assert_eq!(split.test(), out_of_bag);
        }
        let held_out = |row: usize| plan.splits().iter().filter(|split| split.test().contains(&row)).count();
        prop_assert_eq!(plan.coverage(), (0..rows).map(|row| held_out(row) as u32).collect::<Vec<_>>());
        let more = Plan::bootstrap(rows, repeats + 1, &run(seed)).unwrap();
        prop_assert!(more.splits().starts_with(plan.splits()));
    }

    /// Any plan can be written out row by row and read back, and only an equal plan has its fingerprint.
    #[test]
    fn a_plan_is_its_splits(
        rows in 20_usize..60, schemes in [0..RANDOM_SCHEMES, 0..RANDOM_SCHEMES], seeds in [0_u64..3, 0_u64..3],
    ) {
        let codes: Vec<_> = (0..rows as u32).map(|row| row / 3).collect();
        let plan = random_plan(schemes[0], &codes, &run(seeds[0]));
        let sides = plan.splits().iter().map(|split| (split.train(rows).to_vec(), split.test().to_vec()));
        let same = Plan::from_splits(rows, sides).unwrap();
        prop_assert_eq!(&same, &plan);
        prop_assert_eq!(same.fingerprint(), plan.fingerprint());
        let other = random_plan(schemes[1], &codes, &run(seeds[1]));
        prop_assert_eq!(plan == other, plan.fingerprint() == other.fingerprint());
    }
}

/// Rows, and folds that fit them.
fn rows_and_folds() -> impl Strategy<Value = (usize, usize)> {
    (2_usize..80).prop_flat_map(|rows| (Just(rows), 2..=rows))
}

/// Codes of which some are much more frequent than others.
fn skewed() -> impl Strategy<Value = u32> {
    (0.0..1.0_f64).prop_map(|part| (20.0 * part.powi(3)) as u32)
}

/// A whole number from `low` to `high`, by a share of the way.
fn between(low: usize, high: usize, share: f64) -> usize {
    low + (share * (high - low + 1) as f64) as usize
}

const RANDOM_SCHEMES: usize = 8;

/// A plan by one of the schemes that draw at random; classes and groups from the same codes.
fn random_plan(scheme: usize, codes: &[u32], run: &Run) -> Plan {
    let stratify = true;
    let spec = match scheme {
        0 => PlanSpec::default(),
        1 => PlanSpec::Stratified(Stratified { folds: 5 }),
        2 => PlanSpec::Grouped(Grouped { folds: 5 }),
        3 => PlanSpec::StratifiedGrouped(StratifiedGrouped { folds: 5 }),
        4 => PlanSpec::HoldOut(HoldOut::default()),
        5 => PlanSpec::HoldOut(HoldOut { stratify, ..HoldOut::default() }),
        6 => PlanSpec::Subsample(Subsample::default()),
        _ => PlanSpec::Bootstrap(Bootstrap::default()),
    };
    let groups = [2, 3].contains(&scheme).then_some(codes);
    let keys = RowKeys { classes: Some(codes), groups, ..RowKeys::default() };
    spec.build(codes.len(), &keys, run).unwrap()
}

#[test]
fn the_seed_makes_the_plan_and_threads_do_not() {
    let codes: Vec<_> = (0..60).map(|row| row / 3).collect();
    for scheme in 0..RANDOM_SCHEMES {
        let plans: Vec<_> = (0..20).map(|seed| random_plan(scheme, &codes, &run(seed))).collect();
        let threaded = Run::with_threads(7, 3).unwrap();
        assert_eq!(plans[7], random_plan(scheme, &codes, &threaded));
        let fingerprints: BTreeSet<_> = plans.iter().map(Plan::fingerprint).collect();
        assert_eq!(fingerprints.len(), plans.len(), "scheme {scheme}");
    }
}

/// Counts within five standard deviations of what equal chances give.
#[test]
fn every_row_has_the_same_chance() {
    let (rows, repeats) = (10, 4000_u32);
    let missed = 0.9_f64.powi(10);
    let subsample = Plan::subsample(rows, Portion::Rows(3), repeats as usize, &run(1)).unwrap();
    let bootstrap = Plan::bootstrap(rows, repeats as usize, &run(1)).unwrap();
    let test = Portion::Rows(3);
    let hold_out = PlanSpec::HoldOut(HoldOut { test, stratify: true });
    let classes = [0, 0, 1, 0, 1, 1, 1, 0, 0, 1];
    let keys = RowKeys { classes: Some(&classes), ..RowKeys::default() };
    let stratified = Plan::repeated(hold_out, repeats as usize, rows, &keys, &run(1)).unwrap();
    for (plan, chance) in [(subsample, 0.7), (bootstrap, missed), (stratified, 0.3)] {
        let expected = f64::from(repeats) * chance;
        let deviation = (expected * (1.0 - chance)).sqrt();
        for times in plan.coverage() {
            assert!((f64::from(times) - expected).abs() < 5.0 * deviation, "{times} {expected}");
        }
    }
}
