//! The kept matrix: members of an earlier day are not fitted again.

use dolmen::catalogue::Catalogued;
use dolmen::ensemble::{Check, Ending, Ensemble, Stack};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::oos::{OnFailure, OutOfSample, data_fingerprint};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::task::Regression;
use dolmen::{Error, Result};

use super::spy::{Log, Made, Spy, bits, made, run};

const MEMBERS: [&str; 4] = ["ridge", "forest(trees=10)", "tree", "network"];

fn stack(members: &[&str]) -> Stack<Regression> {
    let learner = |m: &&str| Regression::learner(&Spec::parse(m).unwrap()).unwrap();
    Stack::default().members(members.iter().map(learner)).folds(4)
}

fn plan(made: &Made, seed: u64) -> Plan {
    made.plain().folds(4, &Run::with_threads(seed, 1).unwrap()).unwrap()
}

/// The matrix by way of a file.
fn kept(ensemble: &Ensemble<Regression>) -> OutOfSample<Regression> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.parquet");
    ensemble.matrix().unwrap().write(&path).unwrap();
    OutOfSample::read(&path, &run()).unwrap()
}

fn everything(ensemble: &Ensemble<Regression>, made: &Made) -> Vec<Vec<u64>> {
    let matrix = ensemble.matrix().unwrap();
    let columns = (0..matrix.members().len()).map(|m| bits(matrix.column(m)));
    let said = predict(ensemble, made.x.rows(), &run()).unwrap();
    let mut all: Vec<Vec<u64>> = columns.collect();
    all.push(bits(&said));
    all.push(bits(ensemble.all_weights().unwrap()));
    all
}

#[test]
fn adding_a_member_to_a_kept_matrix_gives_the_bytes_of_fitting_all_at_once() {
    let made = made(120);
    let (sample, plan) = (made.plain(), plan(&made, 0));
    for check in [Check::Matrix, Check::Nested] {
        for ending in [Ending::Refit, Ending::Average] {
            let make = |members: &[&str]| stack(members).check(check).ending(ending);
            let first = make(&MEMBERS[..3]).fit_on(&sample, &plan, &run()).unwrap();
            let at_once = make(&MEMBERS).fit_on(&sample, &plan, &run()).unwrap();
            let added =
                make(&MEMBERS).reusing(kept(&first)).fit_on(&sample, &plan, &run()).unwrap();
            assert_eq!(everything(&added, &made), everything(&at_once, &made));
            assert_eq!(added.assessment(), at_once.assessment());
            let files = [&added, &at_once].map(|ensemble| {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("matrix.parquet");
                ensemble.matrix().unwrap().write(&path).unwrap();
                std::fs::read(path).unwrap()
            });
            assert!(files[0] == files[1], "the files differ");
            // In another order, too: a member's random numbers go by its name.
            let turned: Vec<&str> = MEMBERS.iter().rev().copied().collect();
            let other = make(&turned).fit_on(&sample, &plan, &run()).unwrap();
            let (a, b) = (at_once.matrix().unwrap(), other.matrix().unwrap());
            assert_eq!(bits(a.column(3)), bits(b.column(0)));
        }
    }
}

#[test]
fn known_members_are_not_fitted_again() {
    let made = made(60);
    let (sample, plan) = (made.timed(), made.timed().folds(3, &run()).unwrap());
    let spies = |log: &Log, names: &[&'static str]| {
        let best = Regression::combiner(&Spec::parse("best").unwrap()).unwrap();
        names.iter().enumerate().fold(Stack::choosing(vec![best]), |stack, (k, name)| {
            stack.member(Spy { name, shift: k as f64, log: log.clone() })
        })
    };
    let log = Log::default();
    let first = spies(&log, &["a", "b"]).fit_on(&sample, &plan, &run()).unwrap();
    // Two members in three splits, and the only one with weight on all rows.
    assert_eq!((log.seen().fits, first.names().len()), (7, 1));
    assert_eq!(first.matrix().unwrap().members(), ["a", "b"]);
    assert_eq!(first.all_weights().unwrap(), [1.0, 0.0]);
    let again = Log::default();
    let stack = spies(&again, &["a", "b", "c"]).reusing(kept(&first));
    let ensemble = stack.keep_all(true).fit_on(&sample, &plan, &run()).unwrap();
    // The new one in three splits, and all three on all rows.
    assert_eq!((again.seen().fits, ensemble.names().len()), (6, 3));
    let only = Log::default();
    let ensemble =
        spies(&only, &["b"]).reusing(kept(&first)).fit_on(&sample, &plan, &run()).unwrap();
    assert_eq!((only.seen().fits, ensemble.matrix().unwrap().members().len()), (1, 1));
}

#[test]
fn a_matrix_of_other_data_or_another_plan_is_refused() {
    let made = made(80);
    let (sample, plan) = (made.plain(), plan(&made, 0));
    let first = stack(&MEMBERS[..2]).fit_on(&sample, &plan, &run()).unwrap();
    let reuse = |sample: &Sample<'_, Regression>, plan: &Plan| {
        stack(&MEMBERS[..3]).reusing(kept(&first)).fit_on(sample, plan, &run())
    };
    let refused = |result: Result<Ensemble<Regression>>, what: &str| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    };
    reuse(&sample, &plan).unwrap();
    refused(reuse(&sample, &self::plan(&made, 1)), "another plan");
    refused(reuse(&made.grouped(), &plan), "other data");
    refused(reuse(&made.timed(), &plan), "other data");
    let mut y = made.y.clone();
    y[17] += 1e-12;
    let other = Sample::<Regression>::new(made.x.rows(), &y).unwrap();
    refused(reuse(&other, &plan), "other data");
    let columns = vec![("ridge".to_string(), made.y.clone())];
    let elsewhere = OutOfSample::from_columns(columns, made.y.clone(), None).unwrap();
    let result = stack(&MEMBERS[..1]).reusing(elsewhere).fit_on(&sample, &plan, &run());
    refused(result, "does not say");
    assert_eq!(data_fingerprint(&sample), data_fingerprint(&made.plain()));
    assert_eq!(kept(&first).data_fingerprint().unwrap(), data_fingerprint(&sample));
}

/// Blocks of time are the same for every seed, the forest is not.
#[test]
fn a_matrix_of_another_seed_is_refused_also_where_the_plan_draws_nothing() {
    let made = made(80);
    let (sample, plan) = (made.timed(), made.timed().folds(3, &run()).unwrap());
    let first = stack(&MEMBERS[..2]).fit_on(&sample, &plan, &run()).unwrap();
    let again = |run: &Run| stack(&MEMBERS[..3]).reusing(kept(&first)).fit_on(&sample, &plan, run);
    again(&run()).unwrap();
    let error = again(&run().seeded(77)).unwrap_err();
    assert!(error.to_string().contains("another seed"), "{error}");
    assert!(error.hint().unwrap().contains("seed"));
}

/// Follows the rows it is fitted on, but cannot be fitted to many.
#[derive(Debug)]
struct Timid(usize);

impl Learner<Regression> for Timid {
    fn members(&self) -> Vec<String> {
        vec!["timid".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        if sample.rows() > self.0 {
            return Err(Error::shape("rows it dares to learn from", self.0, sample.rows()));
        }
        Regression::learner(&Spec::parse("ridge(lambda=0.001)")?)?.fit(sample, run)
    }
}

/// The best member fails on all rows: the weights are found again without it, as if it had not been there.
#[test]
fn a_member_with_weight_that_fails_on_all_rows_leaves() {
    let made = made(80);
    let (sample, plan) = (made.plain(), plan(&made, 0));
    let with = |most: usize, on_failure| {
        stack(&["mean", "tree"]).member(Timid(most)).on_failure(on_failure).check(Check::Nested)
    };
    let brave = with(80, OnFailure::Drop).fit_on(&sample, &plan, &run()).unwrap();
    assert!(brave.all_weights().unwrap()[2] > 0.5);
    let left = with(70, OnFailure::Drop).fit_on(&sample, &plan, &run()).unwrap();
    let without = stack(&["mean", "tree"]).check(Check::Nested);
    let without = without.fit_on(&sample, &plan, &run()).unwrap();
    assert_eq!(everything(&left, &made), everything(&without, &made));
    assert_eq!(left.assessment(), without.assessment());
    assert_eq!(left.matrix().unwrap().failures()[0].0, "timid");
    assert!(with(70, OnFailure::Stop).fit_on(&sample, &plan, &run()).is_err());
}

#[test]
fn a_stack_replaced_by_its_best_member_keeps_only_that_one() {
    let made = made(80);
    let (sample, plan) = (made.plain(), plan(&made, 0));
    let learners = ["ridge(lambda=0.001)", "mean"];
    let uniform = Regression::combiner(&Spec::parse("uniform").unwrap()).unwrap();
    let learner = |m: &&str| Regression::learner(&Spec::parse(m).unwrap()).unwrap();
    let stack = Stack::choosing(vec![uniform]).members(learners.iter().map(learner));
    let stack = stack.check(Check::Matrix).replaced_if_not_better(true);
    let ensemble = stack.fit_on(&sample, &plan, &run()).unwrap();
    assert!(ensemble.is_replaced());
    assert_eq!(ensemble.names().collect::<Vec<_>>(), ["ridge(lambda=0.001)"]);
    assert_eq!(ensemble.combination().weights().unwrap(), [1.0]);
    assert_eq!(ensemble.all_weights().unwrap(), [1.0, 0.0]);
    assert_eq!(ensemble.matrix().unwrap().members().len(), 2);
    assert_eq!(ensemble.assessment().unwrap().chosen_index, 0);
}
