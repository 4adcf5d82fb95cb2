//! Fits done by others, and scores of rows seen in parts: what one place makes of all rows at once.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::sync::{Arc, Mutex};

use dolmen::Result;
use dolmen::catalogue::Catalogue;
use dolmen::recipe::{Data, Doer, Model, Recipe, ScoreReport, ScoreSums};
use dolmen::run::Run;
use dolmen::table::{Categories, Column, Table};

/// Does the tasks in another process's stead: last first, with data of its own.
struct Backwards {
    recipe: Recipe,
    data: Data,
    /// The largest task, and how many there were.
    seen: Mutex<(usize, usize)>,
}

impl Doer for Backwards {
    fn all(&self, _: usize, tasks: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let mut seen = self.seen.lock().unwrap();
        seen.0 = seen.0.max(tasks.iter().map(Vec::len).max().unwrap_or(0));
        seen.1 += tasks.len();
        drop(seen);
        let run = Run::with_threads(99, 1)?;
        let catalogue = Catalogue::standard();
        let one = |task: &Vec<u8>| self.recipe.do_task(catalogue, &self.data, task, &run);
        let mut came = tasks.iter().rev().map(one).collect::<Result<Vec<_>>>()?;
        came.reverse();
        Ok(came)
    }
}

/// Two clouds, a number, a word and a gap.
fn table(rows: usize, dropped: &[&str]) -> Table {
    let noise = |i: usize, k: usize| ((i * k) % 1009) as f64 / 1009.0 - 0.5;
    let class = |i: usize| (i * 7).is_multiple_of(3);
    let x = |i: usize| f64::from(class(i)) * 1.5 + noise(i, 7919) * 2.0;
    let z = |i: usize| if i.is_multiple_of(11) { f64::NAN } else { noise(i, 104_729) * 3.0 };
    let word = |i: usize| Some(["red", "green", "blue"][(i * 5) % 3]);
    let spelled = |i: usize| Some(if class(i) { "yes" } else { "no" });
    let named = |name: &str, column: Column| (name.to_string(), column);
    let columns = vec![
        named("x", Column::Numeric((0..rows).map(x).collect())),
        named("z", Column::Numeric((0..rows).map(z).collect())),
        named("word", Column::Categorical(Categories::new((0..rows).map(word)))),
        named("class", Column::Categorical(Categories::new((0..rows).map(spelled)))),
        named("y", Column::Numeric((0..rows).map(|i| x(i) * 2.0 + noise(i, 31)).collect())),
    ];
    let kept = columns.into_iter().filter(|(name, _)| !dropped.contains(&name.as_str()));
    Table::new(kept.collect()).unwrap()
}

/// Recipes of every task, with the columns that they leave out.
fn recipes() -> Vec<(&'static str, Recipe, &'static [&'static str])> {
    let recipe = |text: &str| Recipe::from_toml(text).unwrap();
    vec![
        (
            "density",
            recipe(
                "members = ['gaussian', 'mixture(components=3)', 'kernel(bandwidth=[0.2, 0.5])']",
            ),
            &["class", "word", "z"],
        ),
        (
            "classes",
            recipe(
                "target = 'class'\nmembers = ['logistic', 'forest(trees=20)', 'naive-bayes']\nfolds = 4",
            ),
            &["y"],
        ),
        (
            "numbers",
            recipe(
                "target = 'y'\nmembers = ['ridge', 'extra-trees(trees=10)', 'neighbours']\nfolds = 4",
            ),
            &[],
        ),
        (
            "joint",
            recipe("target = 'class'\ntask = 'joint'\nmembers = ['ode', 'naive-bayes']"),
            &["y"],
        ),
    ]
}

#[test]
fn tasks_done_elsewhere_give_the_model_of_one_place() {
    for (name, recipe, dropped) in recipes() {
        let run = Run::with_threads(0, 2).unwrap();
        let data = recipe.data(table(240, dropped)).unwrap();
        let here = recipe.fit_data(&data, &run).unwrap();
        let there = recipe.data(table(240, dropped)).unwrap();
        let doer =
            Arc::new(Backwards { recipe: recipe.clone(), data: there, seen: Mutex::default() });
        let given = Arc::clone(&doer) as Arc<dyn Doer>;
        let away = recipe.fit_elsewhere(Catalogue::standard(), &data, given, &run).unwrap();
        let bytes = |model: &Model| model.to_bytes().unwrap();
        assert!(bytes(&here.model) == bytes(&away.model), "{name}: another model");
        let (largest, count) = *doer.seen.lock().unwrap();
        assert!(largest < 100, "{name}: a task of {largest} bytes");
        assert!(count > 8, "{name}: {count} tasks");
    }
}

#[test]
fn a_member_that_fails_elsewhere_says_what_it_says_here() {
    let recipe =
        Recipe::from_toml("members = ['gaussian', 'mixture(components=500)']\ndrop_failed = true")
            .unwrap();
    let run = Run::with_threads(0, 2).unwrap();
    let data = recipe.data(table(60, &["class", "word", "z", "y"])).unwrap();
    let here = recipe.fit_data(&data, &run).unwrap();
    let there = recipe.data(table(60, &["class", "word", "z", "y"])).unwrap();
    let doer = Backwards { recipe: recipe.clone(), data: there, seen: Mutex::default() };
    let away = recipe.fit_elsewhere(Catalogue::standard(), &data, Arc::new(doer), &run).unwrap();
    let report = |report: &dolmen::recipe::FitReport| serde_json::to_string(report).unwrap();
    assert!(report(&here.report).contains("mixture(components=500)"));
    assert_eq!(report(&here.report), report(&away.report));
}

#[test]
fn tasks_of_another_fit_are_refused() {
    let (_, recipe, _) = recipes().remove(2);
    let data = recipe.data(table(60, &[])).unwrap();
    let run = Run::with_threads(0, 1).unwrap();
    for task in [&b""[..], b"nonsense", &[0xff; 40]] {
        assert!(recipe.do_task(Catalogue::standard(), &data, task, &run).is_err());
    }
}

/// What parts of the rows say, through bytes, is what all rows say; the AUC needs all of them.
#[test]
fn scores_of_parts_are_those_of_all_rows() {
    let run = Run::with_threads(0, 2).unwrap();
    for (name, recipe, dropped) in recipes() {
        let model = recipe.fit(&table(200, dropped), &run).unwrap().model;
        let whole = model.score(model.rows_of(table(300, dropped)).unwrap(), &run).unwrap();
        let all = table(300, dropped);
        let mut sums = ScoreSums::new(&model, false);
        for rows in [0..1, 1..120, 120..300] {
            let part = all.select(&rows.collect::<Vec<_>>());
            let mut own = ScoreSums::new(&model, false);
            own.add(&model, model.rows_of(part).unwrap(), &run).unwrap();
            sums.merge(ScoreSums::from_bytes(&own.to_bytes().unwrap()).unwrap()).unwrap();
        }
        let parts = sums.report(&model).unwrap();
        let ranked = ["classes", "joint"].contains(&name);
        assert_eq!(parts.unknown, if ranked { vec!["auc"] } else { Vec::new() }, "{name}");
        assert_eq!(whole.figures.contains_key("auc"), ranked, "{name}");
        same(name, &parts, &whole);
    }
}

fn same(name: &str, parts: &ScoreReport, whole: &ScoreReport) {
    let near =
        |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-9), "{name}: {a} {b}");
    assert_eq!((parts.rows, &parts.best), (whole.rows, &whole.best));
    near(parts.score, whole.score);
    near(parts.score_se.unwrap(), whole.score_se.unwrap());
    near(parts.gain_over_uniform.mean, whole.gain_over_uniform.mean);
    for (own, all) in parts.members.iter().zip(&whole.members) {
        near(own.gain.mean, all.gain.mean);
        near(own.gain.se.unwrap(), all.gain.se.unwrap());
        own.figures.iter().for_each(|(figure, value)| near(*value, all.figures[figure]));
    }
    for (figure, se) in &parts.figure_errors {
        near(*se, whole.figure_errors[figure]);
    }
    for (own, all) in parts.intervals.iter().flatten().zip(whole.intervals.iter().flatten()) {
        near(own.measured.mean, all.measured.mean);
        near(own.width, all.width);
    }
}
