//! The check of a stack: shared fits, choices, what is kept, members that fail or memorise.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dolmen::catalogue::Catalogued;
use dolmen::ensemble::{Check, Ending, Kept, Stack, Tuned};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::oos::{CheckKind, OnFailure, Trials, collect};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::store::{Parameters, Record};
use dolmen::table::Rows;
use dolmen::task::Regression;
use dolmen::{Error, Result};

use super::made::{bent, learners, plain_ridge, run, spec, stack_by};

/// Counts how often it is fitted.
#[derive(Debug, Default)]
struct Counting(Arc<AtomicUsize>);

impl Learner<Regression> for Counting {
    fn members(&self) -> Vec<String> {
        vec!["counting".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        plain_ridge(1.0).fit(sample, run)
    }
}

#[test]
fn pairs_of_folds_share_their_fits() {
    let (x, y) = bent(60, 1);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    for (check, ending, fits) in [
        (Check::Nested, Ending::Refit, 6 * 5 / 2 + 6 + 1),
        (Check::Nested, Ending::Average, 6 * 5 / 2 + 6),
        (Check::Matrix, Ending::Refit, 6 + 1),
        (Check::Matrix, Ending::Average, 6),
    ] {
        let count = Arc::new(AtomicUsize::new(0));
        let stack = Stack::default().member(Counting(Arc::clone(&count)));
        let stack = stack.members(learners::<Regression>(&["mean"])).folds(6);
        stack.check(check).ending(ending).fit_ensemble(&sample, &run()).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), fits, "{check:?} {ending:?}");
    }
}

#[test]
fn a_stack_that_is_not_better_is_replaced_by_its_best_member() {
    let (x, y) = bent(90, 13);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    // Equal weights of a good and a useless member are worse than the good one.
    let stack = |replace: bool| {
        let stack = stack_by::<Regression>("uniform", &["forest(trees=20)", "mean"]).folds(5);
        let stack = stack.check(Check::Nested).replaced_if_not_better(replace);
        stack.fit_ensemble(&sample, &run()).unwrap()
    };
    let kept = stack(false);
    assert!(!kept.is_replaced());
    assert!(kept.assessment().unwrap().gain_over_best.mean < 0.0);
    let replaced = stack(true);
    assert!(replaced.is_replaced());
    assert_eq!(replaced.all_weights().unwrap(), [1.0, 0.0]);
    assert_eq!(replaced.names().len(), 1);
    let forest = predict(replaced.models().next().unwrap(), x.rows(), &run()).unwrap();
    assert_eq!(predict(&replaced, x.rows(), &run()).unwrap(), forest);
}

/// Knows the truth but for noise of its own, whatever it is fitted to.
#[derive(Debug, Clone)]
struct Oracle {
    known: Memory,
    seed: usize,
}

impl Learner<Regression> for Oracle {
    fn members(&self) -> Vec<String> {
        vec![format!("oracle {}", self.seed)]
    }
    fn fit(&self, _: &Sample<'_, Regression>, _: &Run) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(self.clone())])
    }
}

impl Fitted<Regression> for Oracle {
    fn parameters(&self) -> Parameters {
        Parameters::new("oracle")
    }

    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.known.predict_into(x, out)?;
        let noise = |x: f64| ((x * 1e4).abs() * (17.0 + 6.1 * self.seed as f64)).sin();
        x.iter().zip(out).for_each(|(row, out)| *out += noise(row[0]));
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Err(Error::shape("a record", 1, 0))
    }
}

/// Of members that are equally good and err apart, few rows cannot teach better weights than equal ones.
#[test]
fn equal_weights_are_kept_where_they_do_best() {
    let (x, y) = bent(14, 31);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let known = Memory(x.rows().iter().zip(&y).map(|(x, y)| (x.to_vec(), *y)).collect());
    let stack = |replace: bool| {
        let stack = (0..5).fold(Stack::default(), |stack, seed| {
            stack.member(Oracle { known: known.clone(), seed })
        });
        let stack = stack.folds(7).check(Check::Matrix).replaced_if_not_better(replace);
        stack.fit_ensemble(&sample, &run()).unwrap()
    };
    let kept = stack(true);
    let assessment = kept.assessment().unwrap();
    assert!(assessment.gain_over_uniform.mean < 0.0, "{assessment:?}");
    assert!(assessment.uniform_over_best.mean > 0.0, "{assessment:?}");
    assert_eq!(assessment.verdict.kept, Kept::Uniform);
    assert_eq!(assessment.verdict.gain, assessment.uniform_over_best);
    assert_eq!(assessment.chosen, "uniform");
    assert!(!kept.is_replaced());
    assert_eq!(kept.combination().weights().unwrap(), [0.2; 5]);
    // The rule is the user's to leave out: then only what was asked for is tried.
    let learned = stack(false);
    assert_eq!(learned.assessment().unwrap().candidates.len(), 1);
    assert_ne!(learned.combination().weights().unwrap(), [0.2; 5]);
}

/// The figures are those of the very rows and predictions that the check scores.
#[test]
fn figures_belong_to_the_scores_of_the_check() {
    let (x, y) = bent(90, 14);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = |check: Check| {
        let stack = stack_by::<Regression>("simplex", &["forest(trees=20)", "ridge", "mean"]);
        stack.folds(5).check(check).fit_ensemble(&sample, &run()).unwrap()
    };
    let checked = stack(Check::Nested);
    let (assessment, figures) = (checked.assessment().unwrap(), checked.figures().unwrap());
    assert!(figures.held_out);
    for (score, figures) in [
        (assessment.stack, &figures.stack),
        (assessment.best_member, &figures.best_member),
        (assessment.uniform, &figures.uniform),
    ] {
        assert!((figures["rmse"].mean.powi(2) + score.mean).abs() < 1e-12);
        let se = 2.0 * figures["rmse"].mean * figures["rmse"].se.unwrap();
        assert!((se - score.se.unwrap()).abs() < 1e-12);
        assert!(figures["mae"].mean < figures["rmse"].mean && figures["r2"].mean < 1.0);
    }
    let unchecked = stack(Check::AsNeeded);
    assert!(unchecked.assessment().is_none() && !unchecked.figures().unwrap().held_out);
}

/// Needs so many rows.
#[derive(Debug)]
struct Fragile(f64);

impl Learner<Regression> for Fragile {
    fn members(&self) -> Vec<String> {
        vec!["fragile".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        // 90 rows in 5 folds: 72 are left without one fold, 54 without two.
        if (sample.rows() as f64) < self.0 {
            return Err(Error::shape("rows that it needs", self.0 as usize, sample.rows()));
        }
        plain_ridge(1.0).fit(sample, run)
    }
}

#[test]
fn a_member_that_fails_only_without_two_folds_is_handled_as_any_other() {
    let (x, y) = bent(90, 19);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = |on_failure| {
        let stack = Stack::default()
            .member(Fragile(60.0))
            .members(learners::<Regression>(&["mean", "tree"]));
        stack.folds(5).check(Check::Nested).on_failure(on_failure)
    };
    let error = stack(OnFailure::Stop).fit_ensemble(&sample, &run()).unwrap_err().to_string();
    assert!(error.contains("fragile") && error.contains("rows that it needs"), "{error}");
    let ensemble = stack(OnFailure::Drop).fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(ensemble.matrix().unwrap().members(), ["mean", "tree"]);
    assert_eq!(ensemble.matrix().unwrap().failures()[0].0, "fragile");
}

#[test]
fn a_tuned_learner_is_the_best_rung_of_its_ladder() {
    let (x, y) = bent(120, 20);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let tuned = Regression::learner(&spec("tuned(of=[neighbours(k=[1, 5, 100]), mean])")).unwrap();
    assert_eq!(tuned.members(), ["tuned(of=[neighbours(k=[1, 5, 100]), mean])"]);
    let model = tuned.fit(&sample, &run()).unwrap().remove(0);
    let five = Regression::learner(&spec("neighbours(k=5)")).unwrap().fit(&sample, &run()).unwrap();
    let predictions = |model: &dyn Fitted<Regression>| predict(model, x.rows(), &run()).unwrap();
    assert_eq!(predictions(model.as_ref()), predictions(five[0].as_ref()));
}

#[test]
fn a_tuned_learner_says_why_every_candidate_failed() {
    let (x, y) = bent(40, 20);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let candidates: Vec<Box<dyn Learner<Regression>>> = vec![Box::new(Fragile(1000.0))];
    let error = Tuned::among(candidates).unwrap().fit(&sample, &run()).unwrap_err().to_string();
    assert!(error.contains("'fragile'") && error.contains("rows that it needs"), "{error}");
}

#[test]
fn nested_checks_need_a_partition() {
    let (x, y) = bent(40, 21);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = Stack::default().members(learners::<Regression>(&["mean", "tree"]));
    let error = stack.folds(2).check(Check::Nested).fit_ensemble(&sample, &run()).unwrap_err();
    assert!(error.to_string().contains("3 folds"), "{error}");
}

/// Remembers its rows; of others it knows nothing.
#[derive(Debug)]
struct Memoriser;

#[derive(Debug, Clone)]
struct Memory(Vec<(Vec<f64>, f64)>);

impl Learner<Regression> for Memoriser {
    fn members(&self) -> Vec<String> {
        vec!["memoriser".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        _: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let rows = sample.x().iter().zip(sample.target());
        Ok(vec![Box::new(Memory(rows.map(|(x, y)| (x.to_vec(), *y)).collect()))])
    }
}

impl Fitted<Regression> for Memory {
    fn parameters(&self) -> Parameters {
        Parameters::new("memory")
    }

    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        for (row, out) in x.iter().zip(out) {
            *out = self.0.iter().find(|(seen, _)| seen == row).map_or(1e3, |(_, y)| *y);
        }
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Err(Error::shape("a record", 1, 0))
    }
}

/// On its own rows it is perfect, which a naive weighing would believe.
#[test]
fn a_memorising_learner_gets_no_weight() {
    let (x, y) = bent(120, 22);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    for text in ["simplex", "non-negative", "best", "greedy"] {
        let stack = Stack::choosing(vec![Regression::combiner(&spec(text)).unwrap()]);
        let stack = stack.member(Memoriser).members(learners::<Regression>(&["ridge(lambda=1)"]));
        let stack = stack.folds(5).check(Check::Nested).keep_all(true);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        // What is left is the shift of a constant 1000, by less than the noise.
        assert!(ensemble.combination().weights().unwrap()[0] < 1e-4, "{text}");
        let memory = predict(ensemble.models().next().unwrap(), x.rows(), &run()).unwrap();
        assert_eq!(memory, y);
        let assessment = ensemble.assessment().unwrap();
        assert!(assessment.gain_over_best.mean.abs() < 0.01, "{assessment:?}");
    }
}

/// Rows of a group stay in one fold also where only the combiner is held out.
#[test]
fn trials_of_a_matrix_keep_the_folds_of_its_plan() {
    let (x, y) = bent(12, 23);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let plan = Plan::from_folds(&[0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]).unwrap();
    let owned = learners::<Regression>(&["mean"]);
    let matrix = |plan: &Plan| {
        collect(&[owned[0].as_ref()], &sample, plan, OnFailure::Stop, &run()).unwrap()
    };
    let trials = Trials::of_matrix(matrix(&plan), &plan);
    assert!(trials.by_plan() && trials.kind() == CheckKind::Matrix);
    for (v, split) in plan.splits().iter().enumerate() {
        let trial = trials.trial(v);
        assert_eq!(trial.held_out.table_rows(), split.test());
        assert_eq!(trial.learned_from.rows(), 8);
    }
    // A bootstrap is no partition: its rows are dealt in turn.
    let plan = Plan::bootstrap(12, 30, &run()).unwrap();
    let trials = Trials::of_matrix(matrix(&plan), &plan);
    assert!(!trials.by_plan());
    assert_eq!((0..trials.len()).map(|v| trials.held_out(v).len()).sum::<usize>(), 12);
}
