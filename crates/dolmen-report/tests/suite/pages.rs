//! Pages of small fits: well formed, small, without a row of the data, and with everything a reader needs.

use dolmen::recipe::{Fit, Recipe};
use dolmen::run::Run;
use dolmen::table::{Categories, Column, Table};
use dolmen_report::{Kind, Options, PageOptions, Subject, draw, kinds, page, summary_html};

use crate::made::noise;
use crate::well_formed::elements;

pub(crate) fn table(rows: usize) -> Table {
    let number = |stream: usize| (0..rows).map(|i| noise(i, stream)).collect::<Vec<f64>>();
    let (a, b) = (number(1), number(2));
    let y: Vec<f64> = (0..rows).map(|i| 3.0 * a[i] + b[i] * b[i] + 0.1 * noise(i, 3)).collect();
    let class: Vec<&str> =
        (0..rows).map(|i| if a[i] + 0.3 * noise(i, 4) > 0.6 { "yes" } else { "no" }).collect();
    let colour: Vec<&str> = (0..rows).map(|i| ["red", "green", "blue"][i % 3]).collect();
    let categories = |texts: Vec<&'static str>| {
        Column::Categorical(Categories::new(texts.into_iter().map(Some)))
    };
    Table::new(vec![
        ("a".into(), Column::Numeric(a)),
        ("b".into(), Column::Numeric(b)),
        ("colour".into(), categories(colour)),
        ("y".into(), Column::Numeric(y)),
        ("class".into(), categories(class)),
    ])
    .unwrap()
}

/// A fit to the table without some of its columns.
pub(crate) fn fit(recipe: &str, without: &[&str]) -> Fit {
    let mut table = table(240);
    without.iter().for_each(|name| drop(table.take(name).unwrap()));
    Recipe::from_toml(recipe).unwrap().fit(&table, &Run::new(0)).unwrap()
}

/// What every page is to be.
fn check(html: &str) -> Vec<String> {
    let all = elements(html);
    assert!(html.len() < 1 << 20, "{} bytes", html.len());
    for loaded in ["src=", "@import", "url(", "<link"] {
        assert!(!html.contains(loaded), "something is loaded: {loaded}");
    }
    let addresses =
        html.matches("http").count() - html.matches("http://www.w3.org/2000/svg").count();
    assert_eq!(addresses, 0, "an address in the page");
    let mut ids: Vec<&str> =
        html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id twice");
    assert!(!html.contains("<button type=\"button\"></button>"), "a button without a name");
    all
}

#[test]
fn classes_have_a_page_with_importances() {
    let fit = fit(
        "target = 'class'\nmembers = ['logistic', 'tree', 'boost(rounds=20)']\nexplain = true",
        &["y"],
    );
    let subject = Subject::of(&fit.model);
    let all = kinds(&subject);
    for kind in [
        Kind::Weights,
        Kind::Scores,
        Kind::Gain,
        Kind::Reliability,
        Kind::Roc,
        Kind::Confusion,
        Kind::Importance,
        Kind::Dependence,
    ] {
        assert!(all.contains(&kind), "{kind} in {all:?}");
    }
    let html = page(&subject, &PageOptions::default()).unwrap();
    let found = check(&html);
    assert!(found.iter().filter(|name| *name == "figure").count() >= all.len());
    for said in [
        "What was fitted.",
        "How good it is.",
        "Is the stack worth it?",
        "What to do next.",
        "To make it again",
        "seed = 0",
        "Dolmen 0.",
    ] {
        assert!(html.contains(said), "{said}");
    }
    let evidence = fit.model.evidence().unwrap();
    let importance = evidence.importance.as_ref().unwrap();
    assert_eq!(importance.inputs[0].name, "a");
    assert_eq!(importance.inputs.len(), 3);
}

#[test]
fn numbers_and_densities_have_pages_and_models_carry_them() {
    let numbers = fit("target = 'y'\nmembers = ['ridge', 'tree', 'neighbours']", &["class"]);
    let density =
        fit("members = ['gaussian', 'kernel', 'mixture(components=2)']", &["class", "colour"]);
    let expected = [
        (
            &numbers,
            vec![Kind::Predicted, Kind::Residuals, Kind::Coverage, Kind::Correlation, Kind::Tree],
        ),
        (&density, vec![Kind::Density, Kind::Contours, Kind::Pairs, Kind::Pit]),
    ];
    for (fit, wanted) in expected {
        let bytes = fit.model.to_bytes().unwrap();
        let read = dolmen::recipe::Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.evidence(), fit.model.evidence());
        let subject = Subject::of(&read);
        let all = kinds(&subject);
        assert!(wanted.iter().all(|kind| all.contains(kind)), "{wanted:?} in {all:?}");
        let html = page(&subject, &PageOptions::default()).unwrap();
        check(&html);
        assert_eq!(html, page(&Subject::of(&fit.model), &PageOptions::default()).unwrap());
        elements(&summary_html(&subject));
    }
}

#[test]
fn experts_gates_and_stages_are_drawn() {
    let fit = fit(
        "target = 'class'\nmembers = ['experts(count=2)', 'adaboost(rounds=8)']\nkeep_stack = true\nkeep_all = true",
        &["y"],
    );
    let subject = Subject::of(&fit.model);
    let all = kinds(&subject);
    for kind in [Kind::Regions, Kind::Gate, Kind::Stages, Kind::Tree] {
        assert!(all.contains(&kind), "{kind} in {all:?}");
        elements(&draw(&subject, kind, &Options::default()).unwrap());
    }
    // One alone has them as well.
    let alone = self::fit("target = 'class'\nmembers = ['experts(count=2)']\nalone = true", &["y"]);
    let all = kinds(&Subject::of(&alone.model));
    assert!(all.contains(&Kind::Regions) && all.contains(&Kind::Gate), "{all:?}");
    check(&page(&Subject::of(&alone.model), &PageOptions::default()).unwrap());
    let wrong = Options { input: Some("colour".into()), ..Options::default() };
    assert!(draw(&subject, Kind::Gate, &wrong).unwrap_err().to_string().contains("a, b"));
    let of = |member: &str| Options { member: Some(member.into()), ..Options::default() };
    let leaves = draw(&subject, Kind::Tree, &of("adaboost(rounds=8)")).unwrap();
    assert!(leaves.contains(">yes<") && leaves.contains(">no<"), "leaves name classes");
    // What is wrong is the member, not the picture.
    for (kind, member, named) in [
        (Kind::Tree, "nope", "suits: adaboost(rounds=8)"),
        (Kind::Tree, "experts(count=2)", "adaboost(rounds=8)"),
        (Kind::Gate, "adaboost(rounds=8)", "experts(count=2)"),
        (Kind::Weights, "adaboost(rounds=8)", "left out"),
    ] {
        let refused = draw(&subject, kind, &of(member)).unwrap_err().to_string();
        assert!(refused.starts_with("member must") && refused.contains(named), "{refused}");
    }
    let input = Options { input: Some("b".into()), ..Options::default() };
    let refused = draw(&subject, Kind::Weights, &input).unwrap_err().to_string();
    assert!(refused.starts_with("input must be left out"), "{refused}");
}

#[test]
fn training_curves_are_kept_and_drawn() {
    let fit =
        fit("target = 'class'\nmembers = ['boost', 'network(epochs=20)']\nkeep_all = true", &["y"]);
    let bytes = fit.model.to_bytes().unwrap();
    let read = dolmen::recipe::Model::from_bytes(&bytes).unwrap();
    let svg = draw(&Subject::of(&read), Kind::Training, &Options::default()).unwrap();
    elements(&svg);
    assert!(svg.contains("best after") && !svg.contains("first round = 1"));
    assert!(svg.contains("log loss of rows held out"));
}

/// A member that is the average of its fits on the folds has a curve for each of them.
#[test]
fn averages_of_fits_have_training_curves_and_trees() {
    let recipe =
        "target = 'class'\nmembers = ['boost(held_out=0.4)']\nending = 'average'\nfolds = 3";
    let fit = fit(&format!("{recipe}\nkeep_stack = true"), &["y"]);
    let subject = Subject::of(&fit.model);
    let svg = draw(&subject, Kind::Training, &Options::default()).unwrap();
    assert_eq!(svg.matches("best after").count(), 3, "{svg}");
    elements(&draw(&subject, Kind::Tree, &Options::default()).unwrap());
}

#[test]
fn the_tree_of_a_member_with_weight_is_drawn() {
    let members = "['tree(depth=1)', 'tree(depth=5)']";
    let recipe = format!("target = 'y'\nmembers = {members}\nkeep_all = true");
    let fit = fit(&recipe, &["class"]);
    let svg = draw(&Subject::of(&fit.model), Kind::Tree, &Options::default()).unwrap();
    assert!(svg.contains("tree(depth=5): ") && !svg.contains("no weight"), "{svg}");
}

/// A picture is as wide as is asked: a tree shows fewer levels where there is less room.
#[test]
fn a_tree_keeps_to_its_width() {
    let recipe = "target = 'y'\nmembers = ['tree(depth=6)']\nkeep_stack = true";
    let fit = fit(recipe, &["class"]);
    let drawn = |width: f64| {
        let options = Options { width, ..Options::default() };
        draw(&Subject::of(&fit.model), Kind::Tree, &options).unwrap()
    };
    let splits = |svg: &str| svg.matches('≤').count();
    let (narrow, wide) = (drawn(420.0), drawn(3000.0));
    assert!(narrow.contains("viewBox=\"0 0 420 ") && wide.contains("viewBox=\"0 0 3000 "));
    assert!(splits(&narrow) > 1 && splits(&wide) > splits(&narrow), "{narrow}");
    assert!(narrow.contains("a wider picture has room for more"));
}

#[test]
fn columns_that_are_named_wrongly_are_told_what_to_do() {
    let fit = fit("members = ['gaussian', 'mixture(components=2)']", &["class", "colour"]);
    let subject = Subject::of(&fit.model);
    let refused = |kind: Kind, input: &str| {
        let options = Options { input: Some(input.into()), ..Options::default() };
        let error = draw(&subject, kind, &options).unwrap_err();
        format!("{error}; {}", error.hint().unwrap_or_default())
    };
    let twice = refused(Kind::Contours, "a,a");
    assert!(
        twice.contains("two columns that are not the same") && twice.contains("b, y"),
        "{twice}"
    );
    let two = refused(Kind::Density, "a, b");
    assert!(two.contains("must be one column") && two.contains("'contours'"), "{two}");
    assert!(refused(Kind::Contours, "a,b,y").contains("'pairs'"));
    assert!(refused(Kind::Contours, "a,c").contains("a, b, y"));
}

#[test]
fn losses_in_units_of_their_own_share_no_axis() {
    let members = "target = 'y'\nmembers = ['boost(held_out=0.4)', 'network(epochs=20)']";
    let fit = fit(&format!("{members}\nkeep_all = true"), &["class"]);
    let subject = Subject::of(&fit.model);
    let svg = draw(&subject, Kind::Training, &Options::default()).unwrap();
    assert!(svg.contains("first round = 1"), "losses as shares of the first");
    let member = Some(fit.model.member_names()[0].clone());
    let svg = draw(&subject, Kind::Training, &Options { member, ..Options::default() }).unwrap();
    assert!(
        svg.contains("squared error of rows held out, first round = 1"),
        "of a single one, too"
    );
}

#[test]
fn no_row_is_on_a_picture_unless_it_is_given() {
    let fit = fit("members = ['gaussian', 'kernel']", &["class", "colour", "y"]);
    let dots = |svg: &str| elements(svg).iter().filter(|name| *name == "circle").count();
    let subject = Subject::of(&fit.model);
    assert_eq!(dots(&draw(&subject, Kind::Contours, &Options::default()).unwrap()), 0);
    let rows = fit.model.rows_of(table(50)).unwrap().features;
    let view = dolmen_report::ModelView {
        model: &fit.model,
        evidence: None,
        score: None,
        rows: Some(&rows),
    };
    assert_eq!(
        dots(&draw(&Subject::Model(view), Kind::Contours, &Options::default()).unwrap()),
        50
    );
}

#[test]
fn curves_of_single_rows_are_drawn_only_when_asked_for() {
    let recipe = "target = 'y'\nmembers = ['ridge', 'tree']\nexplain = true";
    let fit = fit(recipe, &["class"]);
    let subject = Subject::of(&fit.model);
    let lines = |single_rows: bool| {
        let options = Options { single_rows, ..Options::default() };
        let svg = draw(&subject, Kind::Dependence, &options).unwrap();
        svg.matches("stroke-opacity=\"0.30\"").count()
    };
    assert!(lines(false) == 0 && lines(true) > 20);
}

#[test]
fn new_rows_are_judged_by_themselves() {
    let fit = fit("target = 'y'\nmembers = ['ridge', 'tree']", &["class"]);
    let model = &fit.model;
    let run = Run::new(0);
    let (score, evidence) = model.judge(model.rows_of(table(90)).unwrap(), true, &run).unwrap();
    assert_eq!(evidence.rows, 90);
    assert_eq!(evidence.importance.as_ref().unwrap().inputs[0].name, "a");
    assert_eq!(score, model.score(model.rows_of(table(90)).unwrap(), &run).unwrap());
    let view = dolmen_report::ModelView {
        model,
        evidence: Some(&evidence),
        score: Some(&score),
        rows: None,
    };
    let options = PageOptions { title: Some("Mine".into()), ..PageOptions::default() };
    let html = page(&Subject::Model(view), &options).unwrap();
    check(&html);
    assert!(
        html.contains("<title>Mine</title>") && html.contains("90 rows that were given for it")
    );
    assert!(html.contains("After ± stands one standard error"), "errors of the figures");
    assert!(!html.contains("score it on rows that took part in nothing"), "that was done");
    assert!(html.contains("data-frame"), "values of curves for the pointer");
}

/// A page is small enough to be mailed, whatever the members and columns of a density are.
#[test]
fn the_page_of_a_density_of_many_members_is_small() {
    let bell = |i: usize, k: usize| (0..4).map(|n| noise(i, 10 * k + n) - 0.5).sum::<f64>();
    let column = |k: usize| Column::Numeric((0..240).map(|i| bell(i, k)).collect());
    let columns = (0..6).map(|k| (format!("column {k}"), column(k))).collect();
    let members =
        "['kernel(bandwidth=[0.1, 0.2, 0.4, 0.8])', 'mixture(components=[1, 2, 4])', 'gaussian']";
    let recipe =
        format!("members = {members}\ncombiners = ['uniform']\nkeep_stack = true\ncheck = 'none'");
    let table = Table::new(columns).unwrap();
    let fit = Recipe::from_toml(&recipe).unwrap().fit(&table, &Run::new(0)).unwrap();
    let html = page(&Subject::of(&fit.model), &PageOptions::default()).unwrap();
    check(&html);
    assert!(html.len() < 700_000, "{} bytes", html.len());
    assert!(html.contains("2 members of no more weight than those named"), "six are drawn");
}
