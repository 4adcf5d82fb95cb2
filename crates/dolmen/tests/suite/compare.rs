//! The comparison by splits: what it measures, on which rows, and who wins.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::Result;
use dolmen::catalogue::Catalogued;
use dolmen::combine::{Combiner, LogPool, Weights};
use dolmen::ensemble::Stack;
use dolmen::evaluate::compare::{
    CompareOptions, Comparison, Methods, NetworkStudy, Outcome, compare, compare_on_networks, tally,
};
use dolmen::learner::{Learner, Sample, Simple, SimpleLearner, SimpleModel};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Regression};
use serde::{Deserialize, Serialize};

fn run(threads: usize) -> Run {
    Run::with_threads(3, threads).unwrap()
}

/// Gives the second of two classes the same chance everywhere.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Chance(f64);

impl SimpleLearner<Classification> for Chance {
    type Model = Chance;
    fn name(&self) -> String {
        format!("chance {}", self.0)
    }
    fn fit(&self, _sample: &Sample<'_, Classification>, _run: &Run) -> Result<Chance> {
        Ok(self.clone())
    }
}

impl SimpleModel<Classification> for Chance {
    const KIND: &'static str = "test.chance";
    fn width(&self) -> usize {
        2
    }
    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[1.0 - self.0, self.0]);
    }
}

/// Sixty rows, of which every third is of the second class.
fn rows() -> (Features, Labels) {
    let codes = (0..60).map(|i| u32::from(i % 3 == 0)).collect();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    (Features::numeric((0..60).map(|i| f64::from(i % 7)).collect(), 1).unwrap(), labels)
}

fn chances(chances: &[f64]) -> Vec<Box<dyn Learner<Classification>>> {
    let learner = |p: &f64| Box::new(Simple(Chance(*p))) as Box<dyn Learner<Classification>>;
    chances.iter().map(learner).collect()
}

fn stack(chances: &[f64]) -> Stack<Classification> {
    Stack::default().members(self::chances(chances))
}

fn folds(methods: Methods) -> CompareOptions {
    CompareOptions { repeats: 3, outer_folds: Some(5), folds: 4, methods, ..Default::default() }
}

fn figure(comparison: &Comparison, method: usize, name: &str) -> f64 {
    let figures = &comparison.methods[method].figures;
    figures.iter().find(|figure| figure.name == name).unwrap().mean
}

#[test]
fn members_alone_get_the_figures_that_can_be_worked_out() {
    let (x, y) = rows();
    let sample = Sample::new(x.rows(), &y).unwrap();
    let found = compare(&stack(&[0.25, 0.5, 0.9]), &[], &sample, &folds(Methods::Members), &run(2));
    let found = found.unwrap();
    // Stratified folds of 12 rows have 4 of the second class each.
    for (m, p) in [0.25_f64, 0.5, 0.9].into_iter().enumerate() {
        let log_loss = -(p.ln() + 2.0 * (1.0 - p).ln()) / 3.0;
        assert!((figure(&found, m, "log_loss") - log_loss).abs() < 1e-12);
        assert!((found.methods[m].mean + log_loss).abs() < 1e-12);
        let brier = 2.0 * ((1.0 - p).powi(2) + 2.0 * p.powi(2)) / 3.0;
        assert!((figure(&found, m, "brier") - brier).abs() < 1e-12);
        let error = if p > 0.5 { 2.0 / 3.0 } else { 1.0 / 3.0 };
        assert!((figure(&found, m, "error") - error).abs() < 1e-12);
        assert!((figure(&found, m, "auc") - 0.5).abs() < 1e-12);
    }
    assert!(found.mean_weights.is_empty());
    assert_eq!((found.outer_folds, found.test_rows, found.repeats), (Some(5), None, 3));
    // Three pairs by four figures; all splits agree, so that differences leave no doubt.
    assert_eq!(found.duels.len(), 12);
    let duel = |first: &str, second: &str, figure: &str| {
        let same = |d: &&dolmen::evaluate::compare::Duel| {
            (d.first.as_str(), d.second.as_str(), d.figure.as_str()) == (first, second, figure)
        };
        found.duels.iter().find(same).unwrap()
    };
    let loss = duel("chance 0.25", "chance 0.9", "log_loss");
    assert!(loss.gain > 0.0 && loss.outcome == Outcome::Win);
    assert_eq!(loss.corrected_outcome, Outcome::Win);
    assert_eq!(duel("chance 0.25", "chance 0.5", "auc").outcome, Outcome::Draw);
    let counted = tally([found.duels.as_slice(), &found.duels]);
    assert_eq!(counted.len(), 12);
    let error = counted.iter().find(|t| t.second == "chance 0.9" && t.figure == "error").unwrap();
    assert_eq!((error.outcomes, error.corrected_outcomes), ([2, 0, 0], [2, 0, 0]));
}

#[test]
fn the_stack_is_compared_with_all_ways_to_combine_and_each_member() {
    let (x, y) = rows();
    let sample = Sample::new(x.rows(), &y).unwrap();
    let stack = stack(&[0.1, 0.6]);
    let found = compare(&stack, &[], &sample, &folds(Methods::All), &run(2)).unwrap();
    let names: Vec<&str> = found.methods.iter().map(|method| method.name.as_str()).collect();
    let expected = ["stacking", "cv", "uniform", "cheating", "chance 0.1", "chance 0.6"];
    assert_eq!(names, expected);
    // A mixture of the two chances that says 1/3 has the weights 8/15 and 7/15, and the least loss there is.
    let weights: Vec<f64> = found.mean_weights.iter().map(|w| w.weight).collect();
    assert!((weights[0] - 8.0 / 15.0).abs() < 1e-6, "{weights:?}");
    let least = -((1.0 / 3.0_f64).ln() + 2.0 * (2.0 / 3.0_f64).ln()) / 3.0;
    assert!((figure(&found, 0, "log_loss") - least).abs() < 1e-6);
    // The member that cross-validation chooses is also the best one of the test part.
    assert_eq!(found.methods[1].mean, found.methods[3].mean);
    // Each of six meets each by four figures; the stack's come first, and are those that are shown.
    assert_eq!(found.duels.len(), 15 * 4);
    assert!(found.duels[..5 * 4].iter().all(|duel| duel.first == "stacking"));
    assert!(found.main_duels().eq(&found.duels[..5 * 4]));
    assert!(found.methods[0].p_value.is_none() && found.methods[1].p_value.is_some());
    let again = compare(&stack, &[], &sample, &folds(Methods::All), &run(1)).unwrap();
    assert_eq!(again, found);
}

#[test]
fn any_combiners_are_compared_and_groups_stay_together() {
    let (x, y) = rows();
    let sample = Sample::new(x.rows(), &y).unwrap();
    let combiners: Vec<Box<dyn Combiner<Classification>>> =
        vec![Box::new(Weights::default()), Box::new(LogPool::default())];
    let stack = Stack::choosing(combiners).members(chances(&[0.1, 0.6]));
    // Groups of five rows: 12 of them, so that a test part of 20 rows is four groups.
    let groups: Vec<u32> = (0..60).map(|i| i / 5).collect();
    let grouped = sample.grouped(&groups).unwrap();
    let options = CompareOptions { repeats: 4, folds: 4, ..CompareOptions::default() };
    let found = compare(&stack, &[], &grouped, &options, &run(2)).unwrap();
    assert_eq!(found.combiners.values().sum::<usize>(), 4);
    for method in &found.methods {
        assert_eq!(method.split_scores.len(), 4);
        let mean = method.split_scores.iter().sum::<f64>() / 4.0;
        assert!((mean - method.mean).abs() < 1e-12);
        assert!(method.figures.iter().all(|figure| figure.split_values.len() == 4));
    }
    let torn = CompareOptions { outer_folds: Some(13), ..options };
    // Fewer groups than folds: as many folds as groups, and a note.
    let fewer = compare(&stack, &[], &grouped, &torn, &run(1)).unwrap();
    assert_eq!(fewer.outer_folds, Some(12));
    assert!(fewer.notes[0].contains("12"), "{:?}", fewer.notes);
}

#[test]
fn numbers_have_their_own_figures() {
    let x = Features::numeric((0..40).map(f64::from).collect(), 1).unwrap();
    let y: Vec<f64> = (0..40).map(|i| 2.0 * f64::from(i) + f64::from(i % 3)).collect();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let learner = |spec| Regression::learner(&Spec::parse(spec).unwrap()).unwrap();
    let stack = Stack::default().members([learner("mean"), learner("ridge(lambda=0.001)")]);
    let options = CompareOptions {
        repeats: 6,
        test_rows: 8,
        methods: Methods::Members,
        ..CompareOptions::default()
    };
    let found = compare(&stack, &[], &sample, &options, &run(2)).unwrap();
    let names: Vec<&str> =
        found.methods[0].figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["rmse", "mae", "r2"]);
    assert!(figure(&found, 1, "rmse") < 1.2 && figure(&found, 1, "r2") > 0.99);
    assert!(found.duels.iter().all(|duel| duel.corrected_outcome == Outcome::Loss));
    assert_eq!(found.test_rows, Some(8));
}

#[test]
fn random_networks_tell_a_model_from_a_guess() {
    let learner = |spec| Classification::learner(&Spec::parse(spec).unwrap()).unwrap();
    let learners = vec![learner("aode"), learner("class-frequencies")];
    let study = NetworkStudy {
        attributes: vec![4, 6],
        values: vec![3],
        widths: vec![2],
        networks: 12,
        rows: vec![20, 200],
        test_rows: 100,
    };
    let found = compare_on_networks(&learners, &study, &run(2)).unwrap();
    assert_eq!((found.cells.len(), found.cells[3].rows), (4, 200));
    assert_eq!(found.cells[3].network.attributes, 6);
    let error = found.tallies.iter().find(|tally| tally.figure == "log_loss").unwrap();
    // Networks share nothing, so both tests are the same; with 200 rows the model wins.
    assert_eq!(error.outcomes, error.corrected_outcomes);
    assert_eq!(error.outcomes.iter().sum::<usize>(), 4);
    assert!(error.outcomes[0] >= 2, "{error:?}");
    assert_eq!(compare_on_networks(&learners, &study, &run(1)).unwrap(), found);
    let none = NetworkStudy { networks: 1, ..study };
    assert!(compare_on_networks(&learners, &none, &run(1)).is_err());
}

#[test]
fn splits_that_cannot_be_had_are_refused() {
    let (x, y) = rows();
    let sample = Sample::new(x.rows(), &y).unwrap();
    let stack = stack(&[0.5]);
    let refused = |options: CompareOptions| {
        compare(&stack, &[], &sample, &options, &run(1)).unwrap_err().to_string()
    };
    let usual = CompareOptions::default;
    assert!(refused(CompareOptions { repeats: 0, ..usual() }).contains("repeats"));
    assert!(refused(CompareOptions { test_rows: 0, ..usual() }).contains("test rows"));
    assert!(refused(CompareOptions { test_rows: 60, ..usual() }).contains("60"));
    assert!(refused(CompareOptions { outer_folds: Some(1), ..usual() }).contains("folds"));
    assert_eq!(y.rows(), Some(60));
}
