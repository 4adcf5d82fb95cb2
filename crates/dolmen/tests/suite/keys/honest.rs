//! What stacks, tuned learners and single learners do with keys.

use dolmen::catalogue::Catalogued;
use dolmen::combine::Learned;
use dolmen::ensemble::{Check, Ending, Ensemble, IntervalKind, Stack, Tuned};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::oos::CheckKind;
use dolmen::plan::{Plan, PlanSpec, TimeOrdered, Window};
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Regression};
use rand::RngExt;

use super::spy::{Log, Seen, Spy, made, run};

fn spy(name: &'static str, shift: f64, log: &Log) -> Spy {
    Spy { name, shift, log: log.clone() }
}

/// A stack in a stack, a tuned learner and a learned combiner, all made of spies.
fn nest(log: &Log, check: Check, ending: Ending) -> Stack<Regression> {
    let inner = Stack::default()
        .named("inner")
        .folds(3)
        .check(check)
        .member(spy("a", 0.0, log))
        .member(spy("b", 1.0, log));
    let tuned = Tuned::among(vec![Box::new(spy("c", 0.0, log)), Box::new(spy("d", -0.5, log))]);
    let stacker: Box<dyn Learner<Regression>> = Box::new(
        Tuned::among(vec![Box::new(spy("e", 0.1, log)), Box::new(spy("f", 0.0, log))]).unwrap(),
    );
    Stack::choosing(vec![
        Regression::combiner(&Spec::parse("simplex").unwrap()).unwrap(),
        Box::new(Learned::new(stacker).with_inputs(true)),
    ])
    .folds(4)
    .check(check)
    .ending(ending)
    .member(inner)
    .member(tuned.unwrap().folds(3))
    .member(spy("g", 0.2, log))
}

fn each_way(sample: &Sample<'_, Regression>, judge: impl Fn(Seen, &Ensemble<Regression>)) {
    for check in [Check::Matrix, Check::Nested] {
        for ending in [Ending::Refit, Ending::Average] {
            let log = Log::default();
            let ensemble = nest(&log, check, ending).fit_ensemble(sample, &run()).unwrap();
            let seen = log.seen();
            assert!(seen.fits > 50 && seen.predicted > 500, "{seen:?}");
            judge(seen, &ensemble);
        }
    }
}

#[test]
fn no_row_is_predicted_by_a_model_that_saw_a_later_one() {
    let made = made(120);
    each_way(&made.timed(), |seen, ensemble| {
        assert_eq!(seen.from_later, 0, "{seen:?}");
        let assessment = ensemble.assessment().unwrap();
        assert_eq!((assessment.kind, assessment.nested), (CheckKind::Forward, false));
        // Four blocks of 24 are held out; the first of them is learned from only.
        assert_eq!((assessment.covered_rows, assessment.checked_rows), (96, 72));
        assert_eq!((assessment.folds, ensemble.matrix().unwrap().rows()), (3, 96));
    });
    // The spies see it where the keys are not told.
    each_way(&made.plain(), |seen, _| assert!(seen.from_later > 0));
}

#[test]
fn groups_are_never_torn() {
    let made = made(120);
    each_way(&made.grouped(), |seen, ensemble| {
        assert_eq!(seen.torn, 0, "{seen:?}");
        let assessment = ensemble.assessment().unwrap();
        assert_eq!((assessment.covered_rows, assessment.checked_rows), (120, 120));
    });
    each_way(&made.plain(), |seen, _| assert!(seen.torn > 0));
}

/// The same rows with other groups in the column that spies look at.
fn with_groups(x: &Features, groups: &[u32]) -> Features {
    let mut values = x.rows().values().to_vec();
    values.chunks_exact_mut(3).zip(groups).for_each(|(row, group)| row[1] = f64::from(*group));
    Features::new(values, std::sync::Arc::clone(x.rows().schema())).unwrap()
}

/// Groups that lie within a time each: both keys are honoured at once.
#[test]
fn times_and_groups_together_are_honoured() {
    let made = made(160);
    // Sixteen groups, one after another in time, some of which straddle the ends of blocks.
    let groups: Vec<u32> = made.times.iter().map(|time| (*time as u32 + 3) / 10).collect();
    let x = with_groups(&made.x, &groups);
    let sample = Sample::<Regression>::new(x.rows(), &made.y).unwrap();
    let sample = sample.grouped(&groups).unwrap().timed(&made.times).unwrap();
    each_way(&sample, |seen, _| assert_eq!((seen.torn, seen.from_later), (0, 0), "{seen:?}"));
}

/// What is not settled when a row is predicted is not learned from: by members, within them, nor by the combiner in its check.
#[test]
fn the_gap_of_a_plan_holds_inside_members_and_in_the_check() {
    let made = made(240);
    let fits = |gap: usize| {
        let log = Log::default();
        let scheme = TimeOrdered { splits: 4, gap, ..TimeOrdered::default() };
        let stack = nest(&log, Check::Matrix, Ending::Average).plan(PlanSpec::TimeOrdered(scheme));
        stack.fit_ensemble(&made.timed(), &run()).unwrap();
        log.seen()
    };
    let seen = fits(10);
    assert!(seen.fits > 50 && seen.predicted > 500, "{seen:?}");
    assert_eq!((seen.from_later, seen.too_near), (0, 0), "{seen:?}");
    assert!(fits(0).too_near > 0);
}

/// Blocks of time predicted from both sides tear groups that lie in several, unless these are left out: of the combiner's
/// rows, too.
#[test]
fn groups_are_not_torn_by_blocks_of_time_that_are_predicted_from_both_sides() {
    let made = made(120);
    let scheme = TimeOrdered { splits: 4, window: Window::Around, ..TimeOrdered::default() };
    let log = Log::default();
    let stack = Stack::choosing(vec![Box::new(
        Learned::new(Box::new(spy("e", 0.1, &log)) as Box<dyn Learner<Regression>>)
            .with_inputs(true),
    )]);
    let stack = stack.plan(PlanSpec::TimeOrdered(scheme)).check(Check::Matrix);
    let stack = stack.member(spy("a", 0.0, &log)).member(spy("b", 1.0, &log));
    // Each group has rows in two blocks of the four.
    let groups: Vec<u32> = made.times.iter().map(|time| *time as u32 % 60).collect();
    let x = with_groups(&made.x, &groups);
    let sample = Sample::<Regression>::new(x.rows(), &made.y).unwrap();
    let sample = sample.timed(&made.times).unwrap().grouped(&groups).unwrap();
    let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(log.seen().torn, 0, "{:?}", log.seen());
    assert!(ensemble.assessment().unwrap().checked_rows > 0);
}

/// Copies of a row that a bootstrap has drawn twice would tell a nearest neighbour the noise of the other.
#[test]
fn copies_of_a_row_are_never_on_both_sides_of_an_inner_split() {
    let mut rng = run().child(3).rng();
    let noise: Vec<f64> = (0..600).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> = (0..200).map(|_| rng.random_range(-1.0..1.0)).collect();
    let x = Features::numeric(noise, 3).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let learner = |m: &str| Regression::learner(&Spec::parse(m).unwrap()).unwrap();
    let tuned = learner("tuned(of=[neighbours(k=1), mean])");
    let plan = Plan::bootstrap(200, 10, &run()).unwrap();
    let block = tuned.out_of_sample(&sample, &plan, &run()).unwrap();
    let mean = learner("mean").out_of_sample(&sample, &plan, &run()).unwrap();
    assert_eq!(block, mean, "the mean is chosen, and not the nearest neighbour");
}

/// Uncovered rows go through calibration and intervals of both kinds.
#[test]
fn what_is_learned_from_a_check_in_order_of_time_leaves_out_the_rows_that_were_not_tried() {
    let made = made(800);
    let members = ["ridge", "tree", "forest(trees=20)"];
    let learners =
        || members.iter().map(|m| Regression::learner(&Spec::parse(m).unwrap()).unwrap());
    for (ending, kind) in [
        (Ending::Refit, IntervalKind::Constant),
        (Ending::Refit, IntervalKind::Local),
        (Ending::Average, IntervalKind::Local),
    ] {
        let stack = Stack::default().members(learners()).folds(4).check(Check::Nested);
        let stack = stack.ending(ending).intervals(kind);
        let ensemble = stack.fit_ensemble(&made.timed(), &run()).unwrap();
        let report = ensemble.interval_report().unwrap();
        assert_eq!(report.kind, kind);
        let at_90 = report.coverage[2].measured.mean;
        assert!((0.75..=1.0).contains(&at_90), "{report:?}");
        let intervals = ensemble.intervals(made.x.rows(), 0.9, &run()).unwrap().unwrap();
        let held =
            intervals.iter().zip(&made.y).filter(|(ends, y)| ends[0] <= **y && **y <= ends[1]);
        assert!(held.count() > 640);
    }
    let codes = made.y.iter().map(|y| u32::from(*y > 0.0)).collect();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    let sample = Sample::<Classification>::new(made.x.rows(), &labels).unwrap();
    let learner = |m: &str| Classification::learner(&Spec::parse(m).unwrap()).unwrap();
    let stack = Stack::default().members([learner("logistic"), learner("tree")]);
    let stack = stack.calibrated(dolmen::ensemble::CalibrationKind::Isotonic);
    let gap = PlanSpec::TimeOrdered(TimeOrdered { splits: 3, gap: 10, ..TimeOrdered::default() });
    let ensemble = stack.plan(gap).fit_ensemble(&sample.timed(&made.times).unwrap(), &run());
    let ensemble = ensemble.unwrap();
    let assessment = ensemble.assessment().unwrap();
    assert_eq!((assessment.covered_rows, assessment.checked_rows), (600, 400));
    assert!(ensemble.calibration().is_some());
    let p = predict(&ensemble, made.x.rows(), &run()).unwrap();
    assert!(p.chunks_exact(2).all(|row| (row[0] + row[1] - 1.0).abs() < 1e-9));
}

/// Inputs that name the group and a target drawn group by group: what is learned of one group is worth nothing for others, so
/// whoever chooses by whole groups chooses the mean.
#[test]
fn learners_that_choose_by_inner_splits_are_not_fooled_by_rows_of_their_own_group() {
    let mut rng = run().child(3).rng();
    let (groups, each) = (150, 5);
    let level: Vec<f64> = (0..groups).map(|_| rng.random_range(-1.0..1.0)).collect();
    let (mut x, mut y, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..groups * each {
        let group = i % groups;
        // 30 columns that only tell the groups apart.
        x.extend((1..=30).map(|k| ((group * k) as f64 * 1.7).sin()));
        y.push(level[group] + 0.05 * rng.random_range(-1.0..1.0));
        keys.push(group as u32);
    }
    let x = Features::numeric(x, 30).unwrap();
    let plain = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let grouped = plain.grouped(&keys).unwrap();
    let spread = |sample: &Sample<'_, Regression>, spec: &str| {
        let learner = Regression::learner(&Spec::parse(spec).unwrap()).unwrap();
        let model = learner.fit(sample, &run()).unwrap().remove(0);
        let said = predict(model.as_ref(), x.rows(), &run()).unwrap();
        let mean = said.iter().sum::<f64>() / said.len() as f64;
        said.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / said.len() as f64
    };
    for spec in ["ridge", "tree", "boost", "network"] {
        let (fooled, honest) = (spread(&plain, spec), spread(&grouped, spec));
        assert!(honest < 0.6 * fooled, "{spec}: {honest} with groups, {fooled} without");
    }
    let codes = y.iter().map(|y| u32::from(*y > 0.0)).collect();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    let plain = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let grouped = plain.grouped(&keys).unwrap();
    let surety = |sample: &Sample<'_, Classification>, spec: &str| {
        let learner = Classification::learner(&Spec::parse(spec).unwrap()).unwrap();
        let model = learner.fit(sample, &run()).unwrap().remove(0);
        let said = predict(model.as_ref(), x.rows(), &run()).unwrap();
        said.chunks_exact(2).map(|p| (p[0] - 0.5).abs()).sum::<f64>() / plain.rows() as f64
    };
    for spec in ["logistic", "tree", "boost", "svm", "network"] {
        let (fooled, honest) = (surety(&plain, spec), surety(&grouped, spec));
        assert!(honest < 0.8 * fooled, "{spec}: {honest} with groups, {fooled} without");
    }
}

/// Rows that come in near copies: a bandwidth chosen by single rows is that of the copies.
#[test]
fn the_bandwidth_of_grouped_rows_is_not_that_of_their_copies() {
    let mut rng = run().child(5).rng();
    let centres: Vec<f64> = (0..60).map(|_| rng.random_range(0.0..1.0)).collect();
    let values: Vec<f64> =
        (0..240).map(|i| centres[i % 60] + 1e-4 * rng.random_range(-1.0..1.0)).collect();
    let groups: Vec<u32> = (0..240).map(|i| i % 60).collect();
    let x = Features::numeric(values, 1).unwrap();
    let plain = Sample::<Density>::new(x.rows(), &()).unwrap();
    let highest = |sample: &Sample<'_, Density>, rule: &str| {
        let spec = Spec::parse(&format!("kernel(bandwidth={rule})")).unwrap();
        let model = Density::learner(&spec).unwrap().fit(sample, &run()).unwrap().remove(0);
        predict(model.as_ref(), x.rows(), &run()).unwrap().into_iter().fold(f64::MIN, f64::max)
    };
    for rule in ["cv", "loo"] {
        assert!(highest(&plain, rule) > 3.0);
        let grouped = highest(&plain.grouped(&groups).unwrap(), rule);
        assert!(grouped < 1.5, "{rule}: {grouped}");
    }
}

type Keys<'a> = (Option<&'a [u32]>, Option<&'a [f64]>);

fn keyed<'a, T: dolmen::task::Task>(
    mut sample: Sample<'a, T>,
    (groups, times): Keys<'a>,
) -> Sample<'a, T> {
    if let Some(groups) = groups {
        sample = sample.grouped(groups).unwrap();
    }
    if let Some(times) = times {
        sample = sample.timed(times).unwrap();
    }
    sample
}

fn check<T: Catalogued>(sample: &Sample<'_, T>, spec: &str) {
    let learner = T::learner(&Spec::parse(spec).unwrap()).unwrap();
    let model = learner.fit(sample, &run()).unwrap().remove(0);
    let said = predict(model.as_ref(), sample.x(), &run()).unwrap();
    assert!(said.iter().all(|v| v.is_finite()), "{spec}");
}

/// Every learner that splits rows, with groups, times and both, also where they are too few.
#[test]
fn every_learner_takes_rows_with_keys() {
    let made = made(160);
    let codes: Vec<u32> = made.y.iter().map(|y| u32::from(*y > 0.0)).collect();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    let (same, one_group) = (vec![1.0; 160], vec![3; 160]);
    let apart: Vec<u32> = made.times.iter().map(|time| *time as u32 / 5).collect();
    let keys: [Keys<'_>; 6] = [
        (Some(&made.groups), None),
        (None, Some(&made.times)),
        (Some(&apart), Some(&made.times)),
        (Some(&made.groups), Some(&made.times)),
        (Some(&one_group), None),
        (None, Some(&same)),
    ];
    for key in keys {
        let sample = keyed(made.plain(), key);
        for spec in ["ridge", "tree", "boost", "svm", "network", "forest(trees=10)"] {
            check(&sample, spec);
        }
        let sample = keyed(Sample::<Classification>::new(made.x.rows(), &labels).unwrap(), key);
        for spec in
            ["logistic", "tree", "boost", "svm", "network", "lmd-ode", "bayes(density=kernel)"]
        {
            check(&sample, spec);
        }
        let sample = keyed(Sample::<Density>::new(made.x.rows(), &()).unwrap(), key);
        for spec in ["kernel(bandwidth=cv)", "kernel(bandwidth=loo)", "averaged(of=gaussian)"] {
            check(&sample, spec);
        }
    }
}
