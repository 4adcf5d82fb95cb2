//! Fits within a time, of more or less effort, and models within a limit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dolmen::combine::{Combiner, Evidence, Limited};
use dolmen::oos::OutOfSample;
use dolmen::recipe::{Combined, Effort, Fit, FitReport, Recipe, StackReport};
use dolmen::table::{Column, Table};
use dolmen::task::Regression;
use dolmen::{Error, Run};

/// A bent line with a wave on it, and a column of noise.
fn table(rows: usize) -> Table {
    let x: Vec<f64> = (0..rows).map(|i| (i * 37 % rows) as f64 / rows as f64).collect();
    let noise: Vec<f64> = (0..rows).map(|i| ((i * 7919) % 101) as f64 / 101.0).collect();
    let y = x.iter().zip(&noise).map(|(x, e)| 3.0 * x + (9.0 * x).sin() + 0.3 * e).collect();
    let columns = [("x", x), ("e", noise), ("y", y)];
    let column = |(name, values): (&str, Vec<f64>)| (name.to_string(), Column::Numeric(values));
    Table::new(columns.map(column).to_vec()).unwrap()
}

fn fitted(recipe: &str, run: &Run) -> Result<Fit, Error> {
    Recipe::from_toml(&format!("target = 'y'\n{recipe}")).unwrap().fit(&table(120), run)
}

fn stack(fit: &Fit) -> &StackReport {
    match &fit.report {
        FitReport::Stack(report) => report,
        FitReport::Alone(report) => panic!("no stack: {report:?}"),
    }
}

const MEMBERS: &str =
    "members = ['ridge', 'mean', 'tree', 'neighbours(k=[3, 9])', 'forest(trees=20)']";

#[test]
fn with_time_enough_a_budget_changes_nothing() {
    let run = Run::with_threads(0, 2).unwrap();
    for check in ["check = 'nested'", "check = 'matrix'", "ending = 'average'"] {
        let free = fitted(&format!("{MEMBERS}\n{check}"), &run).unwrap();
        let within = fitted(&format!("{MEMBERS}\n{check}\nbudget = '1h'"), &run).unwrap();
        assert_eq!(free.report, within.report, "{check}");
    }
}

#[test]
fn without_time_the_baseline_is_the_model_and_says_so() {
    let run = Run::with_threads(0, 2).unwrap();
    let fit = fitted(&format!("{MEMBERS}\nbudget = '1ns'"), &run).unwrap();
    assert_eq!(fit.model.member_names(), ["mean"]);
    let notes = fit.report.data_notes();
    assert!(notes.iter().any(|note| note.contains("no time")), "{notes:?}");
    // A model all the same: it can be stored and read.
    dolmen::recipe::Model::from_bytes(&fit.model.to_bytes().unwrap()).unwrap();
}

#[test]
fn a_fit_that_is_interrupted_before_any_member_is_done_gives_the_baseline() {
    let satisfied = Arc::new(AtomicBool::new(true));
    let run = Run::with_threads(0, 2).unwrap().satisfied_by(satisfied);
    let interrupted = fitted(&format!("{MEMBERS}\nbudget = '1h'"), &run).unwrap();
    assert_eq!(interrupted.model.member_names(), ["mean"]);
    // Without a budget the flag means nothing.
    assert_eq!(stack(&fitted(MEMBERS, &run).unwrap()).left_out, Vec::<String>::new());
    let run = Run::with_threads(0, 2).unwrap();
    run.cancel();
    let cancelled = fitted(&format!("{MEMBERS}\nbudget = '1h'"), &run);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
}

#[test]
fn a_stack_of_few_members_is_the_best_of_them() {
    let run = Run::with_threads(0, 2).unwrap();
    for most in 1..4 {
        let fit = fitted(&format!("{MEMBERS}\nmax_members = {most}\nkeep_stack = true"), &run);
        let fit = fit.unwrap();
        let report = stack(&fit);
        let limit = report.limit.as_ref().unwrap();
        assert!(fit.model.member_names().len() <= most && limit.members <= most);
        assert_eq!(limit.of, 6);
        assert!(limit.gap.unwrap() < 1e-9 && limit.loss.mean > -1e-9, "{limit:?}");
        let Combined::Other(other) = &report.combined else { panic!("{:?}", report.combined) };
        let total: f64 = other.members.iter().filter_map(|member| member.weight).sum();
        assert!((total - 1.0).abs() < 1e-9);
    }
    let refused = fitted(&format!("{MEMBERS}\nmax_members = 0"), &run).unwrap_err();
    assert!(refused.to_string().contains("max_members"), "{refused}");
    let refused = fitted("max_members = 2\ncombiners = ['ridge']", &run).unwrap_err();
    assert!(refused.to_string().contains("combiner"), "{refused}");
}

#[test]
fn members_answer_within_the_time_they_have() {
    let run = Run::with_threads(0, 2).unwrap();
    let fit = fitted(&format!("{MEMBERS}\npredict_under = '10s'"), &run).unwrap();
    let limit = stack(&fit).limit.clone().unwrap();
    assert_eq!(limit.member_seconds.as_ref().unwrap().len(), 6);
    assert!(limit.seconds.unwrap() > 0.0 && limit.seconds.unwrap() < 10.0, "{limit:?}");
    let error = fitted(&format!("{MEMBERS}\npredict_under = '1ns'"), &run).unwrap_err();
    assert!(error.to_string().contains("predict_under"), "{error}");
}

/// With costs that are given nothing depends on the machine.
#[test]
fn a_dear_member_is_used_if_it_is_worth_its_cost() {
    let rows = 50;
    let target: Vec<f64> = (0..rows).map(f64::from).collect();
    let shifted = |by: f64| target.iter().map(|y| y + by).collect::<Vec<f64>>();
    let members = vec![
        ("dear".to_string(), shifted(0.0)),
        ("low".to_string(), shifted(-1.0)),
        ("high".to_string(), target.iter().map(|y| y + 1.5 + 0.2 * (y % 2.0)).collect()),
    ];
    let matrix = OutOfSample::<Regression>::from_columns(members, target.clone(), None).unwrap();
    let matrix = matrix.with_costs(vec![5.0, 1.0, 1.0]).unwrap();
    let run = Run::with_threads(0, 1).unwrap();
    let weights = |seconds| {
        let limited = Limited { members: None, seconds: Some(seconds) };
        let found = limited.fit(&Evidence::from(&matrix), &run).unwrap().remove(0);
        found.weights().unwrap().to_vec()
    };
    let is_all = |weights: &[f64], m: usize| (weights[m] - 1.0).abs() < 1e-9;
    assert!(is_all(&weights(5.0), 0));
    let cheap = weights(4.0);
    assert!(cheap[0] == 0.0 && cheap[1] > 0.6 && cheap[2] > 0.35, "{cheap:?}");
    assert!(is_all(&weights(1.5), 1));
    assert!(is_all(&weights(7.0), 0));
}

#[test]
fn efforts_differ_in_their_members_and_the_usual_one_is_not_written() {
    let run = Run::with_threads(0, 2).unwrap();
    let members = |effort: &str| {
        let fit = fitted(&format!("effort = '{effort}'\nfolds = 2\ncheck = 'none'"), &run).unwrap();
        fit.matrix.unwrap().members().to_vec()
    };
    let [quick, usual] = ["quick", "usual"].map(members);
    assert!(quick.len() < usual.len() && quick.iter().all(|name| usual.contains(name)));
    let recipe = Recipe::default();
    let text = recipe.to_toml().unwrap();
    for key in ["effort", "budget", "max_members", "predict_under"] {
        assert!(!text.contains(key), "{text}");
    }
    let text = "effort = 'best'\nbudget = '1h30m'\nmax_members = 3\npredict_under = '1ms'";
    let recipe = Recipe::from_toml(text).unwrap();
    assert_eq!(recipe.effort, Effort::Best);
    assert_eq!(Recipe::from_toml(&recipe.to_toml().unwrap()).unwrap(), recipe);
}
