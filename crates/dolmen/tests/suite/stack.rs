//! Stacks: honest weights, nesting, reproducibility, failures, cancellation and progress.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dolmen::catalogue::Catalogued;
use dolmen::combine::{Method, Weights};
use dolmen::ensemble::{Check, Ensemble, Stack};
use dolmen::error::Place;
use dolmen::learner::density::gaussian::Gaussian;
use dolmen::learner::{Learner, Sample, Simple, SimpleLearner, SimpleModel, predict};
use dolmen::math::log_sum_exp;
use dolmen::oos::OnFailure;
use dolmen::plan::Plan;
use dolmen::run::{Forecast, Progress, Run, Work};
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::task::Density;
use dolmen::{Error, Result};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

/// Two clusters in the plane.
fn rows(count: usize) -> Features {
    let mut rng = run().child(77).rng();
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let value = |i: usize| normal() + if i % 4 < 2 { -2.0 } else { 2.0 };
    Features::numeric((0..count * 2).map(value).collect(), 2).unwrap()
}

fn learner(spec: &str) -> Box<dyn Learner<Density>> {
    Density::learner(&Spec::parse(spec).unwrap()).unwrap()
}

fn stack(specs: &[&str]) -> Stack<Density> {
    Stack::default().members(specs.iter().map(|spec| learner(spec)))
}

fn weights(ensemble: &Ensemble<Density>) -> Vec<f64> {
    ensemble.all_weights().unwrap().to_vec()
}

/// Remembers its rows and is sure of them; others it predicts by a broad Gaussian.
#[derive(Debug)]
struct Memoriser;

#[derive(Debug, Serialize, Deserialize)]
struct Memory(Vec<Vec<f64>>);

impl SimpleLearner<Density> for Memoriser {
    type Model = Memory;
    fn name(&self) -> String {
        "memoriser".into()
    }
    fn fit(&self, sample: &Sample<'_, Density>, _run: &Run) -> Result<Memory> {
        Ok(Memory(sample.x().iter().map(<[f64]>::to_vec).collect()))
    }
}

impl SimpleModel<Density> for Memory {
    const KIND: &'static str = "test.memory";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, row: &[f64], out: &mut [f64]) {
        out[0] = if self.0.iter().any(|seen| seen == row) { 50.0 } else { -20.0 };
    }
}

#[test]
fn a_memorising_member_gets_no_weight() {
    let x = rows(60);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let stack = Stack::default().member(Simple(Memoriser)).member(Gaussian::default());
    let ensemble = stack.keep_all(true).fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(weights(&ensemble), [0.0, 1.0]);
    // On the rows it was fitted to it looks unbeatable, which is what a naive weighing would believe.
    let memory = predict(ensemble.models().next().unwrap(), x.rows(), &run()).unwrap();
    assert!(memory.iter().all(|log| *log == 50.0));
    let gaussian = predict(ensemble.models().nth(1).unwrap(), x.rows(), &run()).unwrap();
    assert_eq!(predict(&ensemble, x.rows(), &run()).unwrap(), gaussian);
}

#[test]
fn an_ensemble_is_the_weighted_sum_of_its_members() {
    let x = rows(80);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let members = ["gaussian", "kernel(bandwidth=[0.2, 0.6])", "mixture(components=2)"];
    let ensemble = stack(&members).keep_all(true).fit_ensemble(&sample, &run()).unwrap();
    let weights = weights(&ensemble);
    assert_eq!(weights.len(), 4);
    assert!(weights.iter().all(|w| *w >= 0.0));
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let fresh = Features::numeric(vec![0.3, -0.4, 2.0, 1.0, -3.0, -2.5], 2).unwrap();
    let found = predict(&ensemble, fresh.rows(), &run()).unwrap();
    let predicted: Vec<Vec<f64>> =
        ensemble.models().map(|m| predict(m, fresh.rows(), &run()).unwrap()).collect();
    for (i, log) in found.iter().enumerate() {
        let terms: Vec<f64> =
            weights.iter().zip(&predicted).map(|(w, member)| w.ln() + member[i]).collect();
        assert!((log - log_sum_exp(&terms)).abs() < 1e-12);
    }
}

#[test]
fn stacks_nest() {
    let x = rows(80);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let inner = stack(&["gaussian", "kernel(bandwidth=0.4)"]).named("inner");
    let outer = stack(&["mixture(components=2)"]).member(inner);
    let ensemble = outer.keep_all(true).fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(ensemble.names().collect::<Vec<_>>(), ["mixture(components=2)", "inner"]);
    assert!((weights(&ensemble).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(ensemble.matrix().unwrap().rows(), 80);
    let logs = predict(&ensemble, x.rows(), &run()).unwrap();
    assert!(logs.iter().all(|log| log.is_finite()));
}

#[test]
fn permuted_rows_with_their_folds_give_the_same_stack() {
    let x = rows(40);
    let order: Vec<usize> = (0..40).map(|i| (i * 17 + 5) % 40).collect();
    let folds: Vec<usize> = (0..40).map(|i| i * 7 % 5 % 3).collect();
    let permuted_folds: Vec<usize> = order.iter().map(|&i| folds[i]).collect();
    let permuted = x.rows().select(&order);
    let stack = stack(&["gaussian", "kernel(bandwidth=[0.3, 0.8])"]);
    let fit = |x: &Features, folds: &[usize]| {
        let plan = Plan::from_folds(folds).unwrap();
        stack.fit_on(&Sample::new(x.rows(), &()).unwrap(), &plan, &run()).unwrap()
    };
    let (here, there) = (fit(&x, &folds), fit(&permuted, &permuted_folds));
    for (a, b) in weights(&here).iter().zip(weights(&there)) {
        assert!((a - b).abs() < 1e-6, "{:?} {:?}", weights(&here), weights(&there));
    }
    for member in 0..3 {
        let (one, two) = (here.matrix().unwrap(), there.matrix().unwrap());
        for (at, &i) in order.iter().enumerate() {
            let (a, b) = (one.row(member, i)[0], two.row(member, at)[0]);
            assert!((a - b).abs() < 1e-10, "member {member}, row {i}: {a} {b}");
        }
    }
}

#[test]
fn the_same_bits_on_one_thread_and_two() {
    let x = rows(60);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let members = ["kernel(bandwidth=[0.2, 0.6])", "mixture(components=[1, 3])"];
    let averaged = "averaged(of=mixture(components=2), fits=3)";
    let bits = |threads| {
        let run = Run::with_threads(4, threads).unwrap();
        let stack = stack(&members).members([learner(averaged)]);
        let ensemble = stack.fit_ensemble(&sample, &run).unwrap();
        let logs = predict(&ensemble, x.rows(), &run).unwrap();
        let mut bits: Vec<u64> = logs.iter().map(|v| v.to_bits()).collect();
        bits.extend(weights(&ensemble).iter().map(|v| v.to_bits()));
        bits
    };
    assert_eq!(bits(1), bits(2));
}

/// A Gaussian that refuses to learn without a certain row, and may cancel the run instead.
#[derive(Debug)]
struct Moody {
    needs: f64,
    cancels: bool,
}

impl SimpleLearner<Density> for Moody {
    type Model = Memory;
    fn name(&self) -> String {
        "moody".into()
    }
    fn fit(&self, sample: &Sample<'_, Density>, run: &Run) -> Result<Memory> {
        if sample.x().iter().any(|row| row[0] == self.needs) {
            return Simple(Memoriser).0.fit(sample, run);
        }
        if self.cancels {
            run.cancel();
            return run.check().map(|()| Memory(Vec::new()));
        }
        Err(Error::data(Place::default(), "the row I need is not there"))
    }
}

#[test]
fn a_member_that_fails_in_one_split_stops_the_stack_or_is_dropped() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let needs = x.rows().row(13)[0];
    let plan = Plan::in_turn(40, 5);
    let stack = |on_failure| {
        let moody = Simple(Moody { needs, cancels: false });
        stack(&["gaussian"]).member(moody).member(Simple(Memoriser)).on_failure(on_failure)
    };
    let error = stack(OnFailure::Stop).fit_on(&sample, &plan, &run()).unwrap_err();
    // Row 13 is held out in split 3, counted from 0.
    assert!(matches!(&error, Error::Member { member, split: Some(3), .. } if member == "moody"));
    assert!(error.to_string().contains("the row I need is not there"), "{error}");

    let ensemble = stack(OnFailure::Drop).fit_on(&sample, &plan, &run()).unwrap();
    assert_eq!(ensemble.matrix().unwrap().members(), ["gaussian", "memoriser"]);
    let failures = ensemble.matrix().unwrap().failures();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].0.as_str(), failures[0].1.split), ("moody", 3));
    assert!(failures[0].1.message.contains("the row I need"));
}

#[test]
fn a_dropped_member_need_not_fit_all_rows_either() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let never = Simple(Moody { needs: f64::NAN, cancels: false });
    let dropping = stack(&["gaussian"]).member(never).on_failure(OnFailure::Drop);
    let ensemble = dropping.fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(ensemble.names().collect::<Vec<_>>(), ["gaussian"]);
    assert_eq!(ensemble.matrix().unwrap().failures().len(), 10);
    // Nobody left is an error.
    let never = Simple(Moody { needs: f64::NAN, cancels: false });
    let alone = Stack::<Density>::default().member(never).on_failure(OnFailure::Drop);
    assert!(alone.fit_ensemble(&sample, &run()).is_err());
    assert!(Stack::<Density>::default().fit_ensemble(&sample, &run()).is_err());
}

/// Fits anything but so many rows, and predicts a given number.
#[derive(Debug)]
struct Odd {
    refuses: usize,
    predicts: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Same(f64);

impl SimpleLearner<Density> for Odd {
    type Model = Same;
    fn name(&self) -> String {
        "odd".into()
    }
    fn fit(&self, sample: &Sample<'_, Density>, _run: &Run) -> Result<Same> {
        if sample.rows() == self.refuses {
            return Err(Error::data(Place::default(), "just these are too many"));
        }
        Ok(Same(self.predicts))
    }
}

impl SimpleModel<Density> for Same {
    const KIND: &'static str = "test.same";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out[0] = self.0;
    }
}

#[test]
fn members_that_predict_no_number_or_fail_at_the_end_leave_too() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let not_a_number = || Odd { refuses: 0, predicts: f64::NAN };
    // All 40 rows are asked for at the end only; 36 and 32 are left in the folds and in the pairs of folds.
    let at_the_end = || Odd { refuses: 40, predicts: -3.0 };
    for (odd, word) in [(not_a_number as fn() -> Odd, "is NaN"), (at_the_end, "too many")] {
        for check in [Check::AsNeeded, Check::Matrix, Check::Nested] {
            let stack = |on_failure| {
                let stack = stack(&["gaussian", "mixture(components=2)"]).member(Simple(odd()));
                // Without weight it would not be fitted to all rows.
                stack
                    .check(check)
                    .on_failure(on_failure)
                    .keep_all(true)
                    .fit_ensemble(&sample, &run())
            };
            let error = stack(OnFailure::Stop).unwrap_err();
            assert!(matches!(&error, Error::Member { member, .. } if member == "odd"), "{error}");
            let ensemble = stack(OnFailure::Drop).unwrap();
            assert_eq!(ensemble.names().len(), 2);
            assert_eq!(weights(&ensemble).len(), 2);
            let (name, failure) = &ensemble.matrix().unwrap().failures()[0];
            assert!(name == "odd" && failure.message.contains(word), "{failure:?}");
        }
        let alone = Stack::<Density>::default().member(Simple(odd())).on_failure(OnFailure::Drop);
        let error = alone.fit_ensemble(&sample, &run()).unwrap_err().to_string();
        assert!(error.contains("no member can be fitted") && error.contains(word), "{error}");
    }
}

#[test]
fn without_folds_members_are_as_they_are_and_weigh_alike() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let gaussian = Gaussian::default().fit(&sample, &run()).unwrap().remove(0);
    let (one, _) = stack(&["gaussian"]).fit_without_folds(&sample, &run()).unwrap();
    let expected = predict(gaussian.as_ref(), x.rows(), &run()).unwrap();
    assert_eq!(predict(&one, x.rows(), &run()).unwrap(), expected);
    let failing = stack(&["gaussian", "kernel"]).member(Simple(Odd { refuses: 40, predicts: 0.0 }));
    let failing = failing.on_failure(OnFailure::Drop);
    let (two, failures) = failing.fit_without_folds(&sample, &run()).unwrap();
    assert_eq!(weights(&two), [0.5, 0.5]);
    assert_eq!(failures[0].0, "odd");
    assert!(failing.on_failure(OnFailure::Stop).fit_without_folds(&sample, &run()).is_err());
}

#[test]
fn a_cancelled_run_says_so() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let before = run();
    before.cancel();
    for specs in [&["gaussian"][..], &["kernel"], &["mixture"], &["averaged(of=gaussian)"]] {
        let error = stack(specs).fit_ensemble(&sample, &before).unwrap_err();
        assert!(matches!(error, Error::Cancelled), "{specs:?}: {error}");
    }
    let cancels = Simple(Moody { needs: f64::NAN, cancels: true });
    let during = stack(&["gaussian"]).member(cancels).on_failure(OnFailure::Drop);
    let error = during.fit_ensemble(&sample, &run()).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
}

/// What was planned and done, and how much was planned after the first step was done.
#[derive(Default)]
struct Counter {
    planned: AtomicU64,
    done: AtomicU64,
    late: AtomicU64,
}

impl Progress for Counter {
    fn plan(&self, steps: u64) {
        self.planned.fetch_add(steps, Ordering::Relaxed);
        if self.done.load(Ordering::Relaxed) > 0 {
            self.late.fetch_add(steps, Ordering::Relaxed);
        }
    }
    fn advance(&self, steps: u64, _what: &str) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

/// The whole work is planned before it starts, and all of it is reported as done: folds, pairs of folds, refits, the check.
#[test]
fn progress_is_told_and_comes_to_its_end() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    for specs in [&["gaussian", "mixture(components=2)"][..], &["kernel(bandwidth=[0.3, 0.6])"]] {
        for (check, fits, checks) in [
            (Check::AsNeeded, 10 + 1, 0),
            (Check::Nested, 10 + 45 + 1, 10),
            (Check::Matrix, 11, 10),
        ] {
            let counter = Arc::new(Counter::default());
            let run = run().reporting(counter.clone());
            stack(specs).check(check).fit_ensemble(&sample, &run).unwrap();
            // All is heard when nobody is left who could tell more.
            drop(run);
            let planned = counter.planned.load(Ordering::Relaxed);
            assert_eq!(planned, fits * specs.len() as u64 + checks, "{specs:?} {check:?}");
            assert_eq!(counter.done.load(Ordering::Relaxed), planned, "{specs:?} {check:?}");
            assert_eq!(counter.late.load(Ordering::Relaxed), 0, "{specs:?} {check:?}");
        }
    }
}

#[test]
fn time_left_follows_the_cost_of_each_member() {
    let mut forecast = Forecast::default();
    assert_eq!(forecast.share(), 0.0);
    assert_eq!(forecast.left(Duration::from_secs(1)), None);
    for (what, steps, guess) in [("slow", 10, 1.0), ("fast", 10, 1.0), ("draws", 200, 0.01)] {
        forecast.plan(&Work { what, steps, guess });
    }
    assert_eq!(forecast.share(), 0.0);
    (0..10).for_each(|_| forecast.finish("fast", 1, Some(Duration::from_secs(1))));
    // Until a slow one is known it counts like a fast one: half of the fits are done, and of 22 units 10.
    assert!((forecast.share() - 10.0 / 22.0).abs() < 1e-12);
    forecast.finish("slow", 1, Some(Duration::from_secs(9)));
    // 10 + 9 of 10 + 90 + 200 * 0.09 seconds, draws being as dear as the dearest fits: less than was thought, but the bar does not go back.
    assert!((forecast.share() - 10.0 / 22.0).abs() < 1e-12);
    (0..5).for_each(|_| forecast.finish("slow", 1, Some(Duration::from_secs(9))));
    assert!((forecast.share() - 64.0 / 118.0).abs() < 1e-12);
    let left = forecast.left(Duration::from_secs(64)).unwrap();
    assert!((left.as_secs_f64() - 54.0).abs() < 1e-6, "{left:?}");
    // What was not planned does not count, nor more than was.
    forecast.finish("unknown", 1, None);
    (0..9).for_each(|_| forecast.finish("slow", 1, Some(Duration::from_secs(9))));
    forecast.finish("draws", 300, None);
    assert_eq!(forecast.share(), 1.0);
}

#[test]
fn any_method_can_combine() {
    let x = rows(60);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let plan = Plan::in_turn(60, 6);
    let score = |method| {
        let stack = Stack::new(Weights::from(method))
            .members([learner("gaussian"), learner("mixture(components=[2, 3])")]);
        let ensemble = stack.fit_on(&sample, &plan, &run()).unwrap();
        let matrix = ensemble.matrix().unwrap();
        let weights = weights(&ensemble);
        let row = |i: usize| {
            let terms: Vec<f64> = (0..3).map(|m| weights[m].ln() + matrix.row(m, i)[0]).collect();
            log_sum_exp(&terms)
        };
        (0..60).map(row).sum::<f64>() / 60.0
    };
    let exact = score(Method::Simplex);
    for method in [Method::Em, Method::Uniform, Method::Best, Method::Greedy, Method::PseudoBma] {
        assert!(score(method) <= exact + 1e-9, "{method}");
    }
    let refused = Stack::new(Weights::from(Method::NonNegative)).member(Gaussian::default());
    assert!(refused.fit_on(&sample, &plan, &run()).is_err());
}

/// A density without a limit.
#[derive(Debug, Serialize, Deserialize)]
struct Boundless;

impl SimpleLearner<Density> for Boundless {
    type Model = Self;
    fn name(&self) -> String {
        "boundless".into()
    }
    fn fit(&self, _sample: &Sample<'_, Density>, _run: &Run) -> Result<Self> {
        Ok(Self)
    }
}

impl SimpleModel<Density> for Boundless {
    const KIND: &'static str = "test.boundless";
    fn width(&self) -> usize {
        1
    }
    fn predict_row(&self, row: &[f64], out: &mut [f64]) {
        out[0] = if row[0] > 0.0 { f64::INFINITY } else { 0.0 };
    }
}

/// Without folds no row is held out that would show it.
#[test]
fn a_member_as_it_is_that_predicts_no_number_has_failed() {
    let x = rows(40);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let with = |on_failure| {
        let stack = Stack::<Density>::default().on_failure(on_failure);
        let stack = stack.member(Gaussian::default()).member(Simple(Boundless));
        stack.fit_without_folds(&sample, &run())
    };
    let error = with(OnFailure::Stop).unwrap_err().to_string();
    assert!(error.contains("'boundless'") && error.contains("is inf"), "{error}");
    let (ensemble, failures) = with(OnFailure::Drop).unwrap();
    assert_eq!(ensemble.names().collect::<Vec<_>>(), ["gaussian"]);
    assert!(failures.len() == 1 && failures[0].0 == "boundless");
}
