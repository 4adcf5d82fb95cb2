//! What pages say: whether combining is worth it, and what to look at.

use dolmen::evaluate::compare::KeptCounts;
use dolmen::recipe::{Combined, FitReport, Recipe};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::table::{Categories, Column, Table};
use dolmen_report::{Kind, ModelView, Options, PageOptions, Subject, draw, page};

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

/// One row has a score, and nothing that could be sure.
#[test]
fn one_new_row_is_no_proof() {
    for (recipe, leave_out) in [
        (ASKED_FOR, vec!["class"]),
        ("target = 'class'\nmembers = ['tree', 'logistic']\nkeep_all = true", vec!["y"]),
        ("members = ['gaussian', 'kernel']\nkeep_all = true", vec!["class", "colour"]),
    ] {
        let fit = fit(recipe, &leave_out);
        let (model, run) = (&fit.model, Run::new(0));
        let (score, evidence) = model.judge(model.rows_of(table(1)).unwrap(), true, &run).unwrap();
        let (evidence, score) = (Some(&evidence), Some(&score));
        let html = page_of(&Subject::Model(ModelView { model, evidence, score, rows: None }));
        assert!(html.contains("On the one new row it cannot be told from"), "{html}");
        let shown = html.split("<script>").next().unwrap();
        // Tables name R² at their head; nothing is said of it.
        assert!(!shown.contains("NaN") && !shown.contains("R² "), "{shown}");
        assert!(!shown.contains("report with --data"), "that was done");
    }
}

#[test]
fn the_page_of_a_matrix_answers_its_question() {
    let mut report = made::weighing(&["a", "b"], "density");
    let mut told = |gain: Estimate, score: f64| {
        if let Combined::Weighed(weighing) = &mut report.combined
            && let Some(honest) = &mut weighing.cross_validated
        {
            (honest.gain_over_best, honest.score) = (gain, score);
            honest.gain_over_uniform = made::estimate(0.02, 0.01);
        }
        page_of(&Subject::Weighing(&report, None))
    };
    assert!(told(made::estimate(0.04, 0.015), -1.4).contains("Yes, clearly: with weights"));
    assert!(told(made::estimate(0.001, 0.015), -1.4).contains("It cannot be told"));
    assert!(told(made::estimate(-0.1, 0.015), -1.4).contains("the best member alone is clearly"));
    let lost = told(Estimate { mean: f64::NEG_INFINITY, se: None }, f64::NEG_INFINITY);
    assert!(lost.contains("it gives some row no probability at all, and its score is −∞"));
}

#[test]
fn the_page_of_a_matrix_says_how_good_it_is_and_what_to_do() {
    let mut report = made::weighing(&["a", "b"], "regression");
    let html = page_of(&Subject::Weighing(&report, None));
    for said in [
        "How good it is.</strong> With weights found on other rows than those scored, the mean minus squared error per row is −1.460 ± 0.021: a root mean squared error of 1.208.",
        "The best member, 'a', has −1.5 alone, equal weights −1.450 ± 0.020.",
        "What to do next.</strong> Use equal weights",
    ] {
        assert!(html.contains(said), "{said}");
    }
    if let Combined::Weighed(weighing) = &mut report.combined {
        weighing.members.truncate(1);
    }
    let html = page_of(&Subject::Weighing(&report, None));
    assert!(html.contains("there is nothing to combine"));
    assert!(!html.contains("equal weights") && !html.contains("What to do next"), "{html}");
}

/// Beside the combination stand equal weights, both with their errors.
#[test]
fn scores_of_a_matrix_have_errors_and_equal_weights() {
    let report = made::weighing(&["a", "b"], "density");
    let svg = draw(&Subject::Weighing(&report, None), Kind::Scores, &Options::default()).unwrap();
    for said in ["the combination: −1.460 ± 0.021", "equal weights: −1.450 ± 0.020"] {
        assert!(svg.contains(said), "{said}: {svg}");
    }
}

#[test]
fn a_stack_that_was_replaced_in_a_comparison_is_noticed() {
    let mut comparison = made::comparison(0.02);
    assert!(!page_of(&Subject::Comparison(&comparison)).contains("simpler in its place"));
    let mut told = |stack: usize, uniform: usize, member: usize| {
        comparison.kept = Some(KeptCounts { stack, uniform, member });
        page_of(&Subject::Comparison(&comparison))
    };
    assert!(!told(20, 0, 0).contains("simpler in its place"));
    let some = told(5, 7, 8);
    assert!(some.contains("In 15 of 20 splits the check of the stack kept something simpler in its place, equal weights in 7 and one member alone in 8"));
    assert!(some.contains("It cannot be told from these splits: the stack scores"));
    let never = told(0, 0, 20);
    assert!(never.contains("No, its check never kept the stack: what was kept in its place"));
    assert!(never.contains("In all 20 splits"), "{never}");
}

#[test]
fn members_that_did_not_converge_are_named() {
    let recipe = "members = ['mixture(components=3, iterations=2, restarts=1)', 'gaussian']\nkeep_stack = true";
    let fit = fit(recipe, &["class", "colour"]);
    let html = page_of(&Subject::of(&fit.model));
    let named = "Not converged: 'mixture(components=3, restarts=1, iterations=2)' (2 iterations)";
    assert!(html.contains(named), "{html}");
}

#[test]
fn a_stack_that_was_only_tried_is_not_called_the_model() {
    let recipe = "target = 'y'\nmembers = ['ridge', 'mean']\ncombiners = ['simplex', 'uniform']";
    let numbers = fit(&format!("{recipe}\nkeep_all = true"), &["class"]);
    let recipe = "members = ['gaussian', 'kernel(bandwidth=0.0001)']\ncombiners = ['uniform']";
    let density = fit(recipe, &["class", "colour", "y"]);
    let svg = |fit: &dolmen::recipe::Fit, kind: Kind| {
        draw(&Subject::of(&fit.model), kind, &Options::default()).unwrap()
    };
    let kept = |fit: &dolmen::recipe::Fit| match &fit.report {
        dolmen::recipe::FitReport::Stack(stack) => stack.kept.clone(),
        dolmen::recipe::FitReport::Alone(_) => String::new(),
    };
    assert_eq!([kept(&numbers), kept(&density)], ["ridge", "gaussian"]);
    for kind in [Kind::Weights, Kind::Scores, Kind::Gain, Kind::Combiners] {
        let svg = svg(&numbers, kind);
        assert!(svg.contains("the model is 'ridge' alone") && !svg.contains("is used"), "{svg}");
    }
    let curve = svg(&density, Kind::Density);
    assert!(curve.contains("The model, which is 'gaussian' alone"), "{curve}");
    let contours = svg(&density, Kind::Contours);
    for drawn in [curve, contours] {
        assert!(!drawn.contains("he stack"), "{drawn}");
    }
}

#[test]
fn equal_weights_are_not_shown_as_estimated() {
    let fit = fit(ASKED_FOR, &["class"]);
    let svg = draw(&Subject::of(&fit.model), Kind::Weights, &Options::default()).unwrap();
    assert!(svg.contains("fixed, not estimated") && !svg.contains("standard error"), "{svg}");
}

/// A target that nothing is known of.
#[test]
fn a_model_that_is_no_better_than_none_is_told() {
    let mut rows = table(60);
    rows.take("class").unwrap();
    rows.take("y").unwrap();
    let noise = (0..60).map(|i| made::noise(i * i + 7, 9)).collect();
    let y = ("y".to_string(), dolmen::table::Column::Numeric(noise));
    let columns = rows.columns().map(|(name, own)| (name.to_string(), own.clone()));
    let rows = dolmen::table::Table::new(columns.chain([y]).collect()).unwrap();
    let recipe = "target = 'y'\nmembers = ['tree', 'neighbours(k=1)']\nkeep_stack = true";
    let recipe = dolmen::recipe::Recipe::from_toml(recipe).unwrap();
    let fit = recipe.fit(&rows, &Run::new(0)).unwrap();
    let html = page_of(&Subject::of(&fit.model));
    assert!(html.contains("R² is below 0") && html.contains("no better than no model"), "{html}");
}

#[test]
fn a_stack_without_a_check_is_not_said_to_be_unknown() {
    let recipe = "target = 'y'\nmembers = ['ridge', 'tree']\ncheck = 'none'";
    let fit = fit(recipe, &["class"]);
    let (model, run) = (&fit.model, Run::new(0));
    let html = page_of(&Subject::of(model));
    assert!(!html.contains("nothing was held out") && html.contains("Is the stack worth it?"));
    assert!(html.contains("no check of the stack as a whole"));
    let (score, evidence) = model.judge(model.rows_of(table(90)).unwrap(), false, &run).unwrap();
    let (evidence, score) = (Some(&evidence), Some(&score));
    let html = page_of(&Subject::Model(ModelView { model, evidence, score, rows: None }));
    assert!(
        html.contains("On 90 rows that were given for it") && !html.contains("was not checked")
    );
}

#[test]
fn comparisons_have_a_verdict() {
    let html = page_of(&Subject::Comparison(&made::comparison(0.02)));
    assert!(html.contains("It cannot be told from these splits: the stack scores"), "p is 0.08");
    assert!(html.contains("The stack has the best mean"), "of those that could have been used");
    let html = page_of(&Subject::Learning(&made::learning()));
    assert!(html.contains("Would still more help?") && html.contains("the stack goes from"));
    let html = page_of(&Subject::Sets(&made::sets()));
    assert!(html.contains("best mean rank") && html.contains("cannot be told from"), "{html}");
    // Who jumps from table to table is told which is which.
    let regions = html.split("role=\"region\" aria-label=\"").skip(1);
    let mut names: Vec<&str> = regions.map(|rest| rest.split('"').next().unwrap()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count > 1 && names.len() == count, "{count} regions: {names:?}");
    // The page's rules have the colours of its pictures.
    assert!(!html.contains(" fill=\"#") && html.contains("class=\"f-ink\""), "{html}");
}

/// A logarithmic pool that leaves a member behind still tells the powers of all, on its page and on the picture.
#[test]
fn weights_of_a_pool_without_some_members_are_told() {
    let a: Vec<f64> = (0..300).map(|i| f64::from((i * i * 31 + i * 7) % 101) / 101.0).collect();
    let wrong = |i: u64| (i * i * i * 17 + i * i * 5 + 3) % 97 > 77;
    let class = |i: usize| if (a[i] > 0.5) == wrong(i as u64) { "no" } else { "yes" };
    let classes = Categories::new((0..300).map(|i| Some(class(i))));
    let columns = vec![
        ("a".into(), Column::Numeric(a.clone())),
        ("class".into(), Column::Categorical(classes)),
    ];
    let members = "['tree(depth=1)', 'neighbours(k=1)', 'logistic', 'class-frequencies']";
    let recipe = format!(
        "target = 'class'\nmembers = {members}\ncombiners = ['log-pool']\nkeep_stack = true"
    );
    let table = Table::new(columns).unwrap();
    let fit = Recipe::from_toml(&recipe).unwrap().fit(&table, &Run::new(0)).unwrap();
    assert!(fit.model.member_names().len() < 4, "one is left behind");
    let subject = Subject::of(&fit.model);
    let svg = draw(&subject, Kind::Weights, &Options::default()).unwrap();
    assert!(["tree(depth=1)", "logistic"].iter().all(|name| svg.contains(name)), "{svg}");
}

/// Rows that a model was fitted to are no new rows, and the page says so; others of the same kind are.
#[test]
fn rows_that_a_model_was_fitted_to_are_noticed() {
    let fit = fit("target = 'y'\nmembers = ['ridge', 'tree']", &["class"]);
    let told = |rows: usize| {
        let (model, run) = (&fit.model, Run::new(0));
        let (score, evidence) =
            model.judge(model.rows_of(table(rows)).unwrap(), false, &run).unwrap();
        let (evidence, score) = (Some(&evidence), Some(&score));
        page_of(&Subject::Model(ModelView { model, evidence, score, rows: None }))
    };
    let same = "look like those it was fitted to";
    assert!(told(240).contains(same) && !told(240).contains("On the 240 new rows"));
    assert!(
        told(240).contains("On the rows it was fitted to") && told(240).contains("rows held out")
    );
    assert!(!told(239).contains(same) && told(239).contains("On new rows"));
}

/// Figures and pictures of a check are of the same predictions, whatever each fold chose.
#[test]
fn figures_and_pictures_of_a_check_agree() {
    let recipe = "target = 'class'\nmembers = ['tree', 'logistic', 'neighbours(k=3)']\ncombiners = ['simplex', 'log-pool', 'uniform']";
    let fit = fit(recipe, &["y"]);
    let Some(FitReport::Stack(stack)) = fit.model.report() else { panic!("a stack") };
    let figures = stack.figures.as_ref().unwrap();
    let own = match stack.kept.as_str() {
        "stack" => &figures.stack,
        "uniform" => &figures.uniform,
        _ => &figures.best_member,
    };
    let curves = fit.model.evidence().unwrap().classes.as_ref().unwrap();
    let confusion = curves.confusion.as_ref().unwrap();
    let wrong = confusion.counts[1] + confusion.counts[2];
    assert!((own["error"].mean - wrong as f64 / 240.0).abs() < 1e-9, "{wrong} rows");
    assert!((own["auc"].mean - curves.curves[0].area).abs() < 1e-9);
}

/// The rows of a class are known of a matrix, too.
#[test]
fn a_rare_class_of_a_matrix_is_noticed() {
    let report = made::weighing(&["a", "b"], "classification");
    let mut evidence = made::of_density();
    evidence.class_rows = vec![("often".into(), 290), ("seldom".into(), 4)];
    let html = page_of(&Subject::Weighing(&report, Some(&evidence)));
    assert!(html.contains("Few rows are of class 'seldom' (4)"), "{html}");
}

/// A result without a recipe of its own says what made it; one of few splits is no proof.
#[test]
fn a_comparison_can_be_made_again_and_few_splits_are_noticed() {
    let mut comparison = made::comparison(0.02);
    let again = dolmen_report::Again {
        seed: 7,
        command: "dolmen compare a.csv --seed 7".into(),
        recipe: Some("target = 'class'".into()),
    };
    let options = PageOptions { again: Some(again), ..PageOptions::default() };
    let html = page(&Subject::Comparison(&comparison), &options).unwrap();
    for said in ["the seed is 7", "dolmen compare a.csv --seed 7", "target = 'class'"] {
        assert!(html.contains(said), "{said}");
    }
    assert!(!html.contains("Few splits"), "there are twenty");
    comparison.methods.iter_mut().for_each(|method| method.split_scores.truncate(3));
    assert!(page_of(&Subject::Comparison(&comparison)).contains("Few splits (3)"));
}

/// Bars far from the band are told in words, beside the picture and among the warnings.
#[test]
fn a_density_that_is_too_wide_is_noticed() {
    let report = made::weighing(&["only"], "density");
    let mut evidence = made::of_density();
    let levels = (0..600).map(|i| 0.3 + 0.7 * made::noise(i, 3));
    evidence.levels = Some(dolmen::score::Histogram::within([0.0, 1.0], 20, levels));
    let subject = Subject::Weighing(&report, Some(&evidence));
    let html = page_of(&subject);
    assert!(html.contains("it is too wide for the rows"), "{html}");
    let svg = draw(&subject, Kind::Pit, &Options::default()).unwrap();
    assert!(svg.contains("bars lie outside the band"), "{svg}");
}
