//! What pages say: whether combining is worth it, and what to look at.

use dolmen::recipe::Combined;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen_report::{ModelView, PageOptions, Subject, page};

use crate::made;
use crate::pages::{fit, table};

fn page_of(subject: &Subject<'_>) -> String {
    page(subject, &PageOptions::default()).unwrap()
}

/// Equal weights of a member that is right and one that knows nothing, kept because they were asked for.
const ASKED_FOR: &str =
    "target = 'y'\nmembers = ['ridge', 'mean']\ncombiners = ['uniform']\nkeep_stack = true";

#[test]
fn a_clear_lead_of_the_best_member_is_said() {
    let fit = fit(ASKED_FOR, &["class"]);
    let html = page_of(&Subject::of(&fit.model));
    for said in ["is a clear loss", "kept because it was asked for", "fit without --keep-stack"] {
        assert!(html.contains(said), "{said}");
    }
    assert!(!html.contains("compare on repeated splits"), "there is no doubt");
}

#[test]
fn asking_is_a_reason_only_where_the_check_says_otherwise() {
    let members = "['tree(depth=3)', 'ridge', 'neighbours', 'mean']";
    let asked = fit(&format!("target = 'y'\nmembers = {members}\nkeep_stack = true"), &["class"]);
    let html = page_of(&Subject::of(&asked.model));
    assert!(html.contains("is clear."), "a gain that needs no asking");
    assert!(!html.contains("asked for"));
}

#[test]
fn new_rows_have_a_say_about_combining() {
    let fit = fit(ASKED_FOR, &["class"]);
    let (model, run) = (&fit.model, Run::new(0));
    let (score, evidence) = model.judge(model.rows_of(table(90)).unwrap(), false, &run).unwrap();
    let (evidence, score) = (Some(&evidence), Some(&score));
    let html = page_of(&Subject::Model(ModelView { model, evidence, score, rows: None }));
    assert!(html.contains("On the 90 new rows it is clearly worse than 'ridge'"));
}

#[test]
fn the_page_of_a_matrix_answers_its_question() {
    let mut report = made::weighing(&["a", "b"], "density");
    let mut told = |gain: Estimate, score: f64| {
        if let Combined::Weighed(weighing) = &mut report.combined
            && let Some(honest) = &mut weighing.cross_validated
        {
            (honest.gain_over_best, honest.score) = (gain, score);
        }
        page_of(&Subject::Weighing(&report, None))
    };
    assert!(told(made::estimate(0.04, 0.015), -1.4).contains("Yes, clearly: with weights"));
    assert!(told(made::estimate(0.001, 0.015), -1.4).contains("Not to be told"));
    assert!(told(made::estimate(-0.1, 0.015), -1.4).contains("the best member alone is clearly"));
    let lost = told(Estimate { mean: f64::NEG_INFINITY, se: None }, f64::NEG_INFINITY);
    assert!(lost.contains("it gives some row no probability at all, and its score is −∞"));
}

#[test]
fn members_that_did_not_converge_are_named() {
    let recipe = "members = ['mixture(components=3, iterations=2, restarts=1)', 'gaussian']\nkeep_stack = true";
    let fit = fit(recipe, &["class", "colour"]);
    let html = page_of(&Subject::of(&fit.model));
    let named = "Not converged: 'mixture(components=3, restarts=1, iterations=2)' (2 iterations)";
    assert!(html.contains(named), "{html}");
}
