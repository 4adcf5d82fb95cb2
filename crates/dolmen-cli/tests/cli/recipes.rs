//! One value decides a fit: the same recipe gives the same bytes by flags, by a file and by the library; models carry it.

use std::fmt::Write;

use std::fs;

use dolmen::Run;
use dolmen::recipe::{Model, Recipe};
use serde_json::Value;

use crate::folder::{Folder, IRIS, keys};

const RECIPE: &str = "
seed = 3
target = 'Species'
members = ['logistic(lambda=1)', 'neighbours(k=[5, 9])', { kind = 'tree', depth = 2 }]
combiners = ['simplex', 'uniform']
folds = 4
calibration = 'temperature'

[reading]
drop = ['Petal.Width']
missing = ['-999']
";

const FLAGS: [&str; 21] = [
    "fit",
    IRIS,
    "-q",
    "--seed",
    "3",
    "--target",
    "Species",
    "--model",
    "logistic(lambda=1)",
    "--model",
    "neighbours(k=[5, 9])",
    "--model",
    "tree(depth=2)",
    "--combiner",
    "simplex",
    "--combiner",
    "uniform",
    "--folds",
    "4",
    "--calibrate",
    "temperature",
];

#[test]
fn flags_a_file_and_the_library_give_the_same_bytes() {
    let folder = Folder::with("recipe.toml", RECIPE);
    let reading = ["--drop", "Petal.Width", "--missing", "-999"];
    folder.succeeds(&[&FLAGS[..], &reading, &["-o", "flags.dolmen"]].concat());
    folder.succeeds(&["fit", IRIS, "-q", "--recipe", "recipe.toml", "-o", "file.dolmen"]);
    folder.succeeds(&["fit", IRIS, "-q", "--spec", "recipe.toml", "-o", "alias.dolmen"]);
    let recipe = Recipe::from_toml(RECIPE).unwrap();
    let run = Run::with_threads(99, 1).unwrap();
    let data = recipe.read_data(IRIS.as_ref(), &run).unwrap();
    let bytes = recipe.fit_data(&data, &run).unwrap().model.to_bytes().unwrap();
    for name in ["flags.dolmen", "file.dolmen", "alias.dolmen"] {
        assert!(fs::read(folder.path(name)).unwrap() == bytes, "{name} differs");
    }
    // A flag counts more than the file.
    folder.succeeds(&[
        "fit",
        IRIS,
        "--recipe",
        "recipe.toml",
        "--seed",
        "4",
        "-q",
        "-o",
        "4.dolmen",
    ]);
    assert!(fs::read(folder.path("4.dolmen")).unwrap() != bytes);
}

#[test]
fn a_model_prints_a_recipe_that_makes_it_again() {
    let folder = Folder::new();
    folder.succeeds(&[&FLAGS[..], &["-o", "a.dolmen"]].concat());
    let toml = folder.succeeds(&["inspect", "a.dolmen", "--recipe"]);
    folder.write("again.toml", toml);
    folder.succeeds(&["fit", IRIS, "-q", "--recipe", "again.toml", "-o", "b.dolmen"]);
    let read = |name: &str| fs::read(folder.path(name)).unwrap();
    assert!(read("a.dolmen") == read("b.dolmen"));
    let model = Model::read(&folder.path("a.dolmen")).unwrap();
    assert_eq!(model.recipe().unwrap().seed, 3);
    assert!(model.report().is_some() && model.matrix().is_none());
    assert_eq!(model.writer(), env!("CARGO_PKG_VERSION"));
    // The report is that of the fit.
    let shown = folder.json(&FLAGS);
    let stored = &folder.json(&["inspect", "a.dolmen"])["report"];
    for key in ["members", "check", "kept", "figures"] {
        assert_eq!(shown[key], stored[key], "{key}");
    }
}

#[test]
fn a_kept_matrix_stands_in_the_model() {
    let folder = Folder::new();
    folder.succeeds(&[&FLAGS[..], &["--keep-matrix", "-o", "m.dolmen"]].concat());
    let model = Model::read(&folder.path("m.dolmen")).unwrap();
    let matrix = model.matrix().unwrap();
    assert_eq!((matrix.rows(), matrix.members().len()), (150, 4));
}

#[test]
fn a_kept_matrix_is_weighed_out_of_the_model() {
    let folder = Folder::new();
    let keep = ["--keep-matrix", "--oos", "m.parquet", "-o", "m.dolmen", "--check", "none"];
    folder.succeeds(&[&FLAGS[..], &keep].concat());
    let of_model = folder.json(&["weigh", "m.dolmen", "--method", "log-pool"]);
    assert_eq!(of_model, folder.json(&["weigh", "m.parquet", "--method", "log-pool"]));
    folder.succeeds(&[&FLAGS[..], &["-o", "without.dolmen"]].concat());
    folder.refuses_naming(&["weigh", "without.dolmen"], &["without.dolmen", "does not carry"]);
    // Its keys, too: in order of time the check goes block after block.
    let folder = days();
    let keep = ["--time", "day", "--keep-matrix", "--oos", "m.parquet", "-o", "m.dolmen"];
    folder.succeeds(&[&["fit"], &LOAD[..], &keep].concat());
    let of_model = folder.json(&["weigh", "m.dolmen", "--method", "ridge"]);
    assert_eq!(of_model["check"]["kind"], "forward");
    assert_eq!(of_model, folder.json(&["weigh", "m.parquet", "--method", "ridge"]));
}

#[test]
fn unknown_keys_of_a_recipe_are_refused() {
    let folder = Folder::with("typo.toml", "tarjet = 'Species'");
    folder.refuses_naming(&["fit", IRIS, "--recipe", "typo.toml"], &["typo.toml", "tarjet"]);
    folder.write("typo.toml", "target = 'Species'\n\nmembrs = ['tree']\n");
    folder.refuses_naming(&["fit", IRIS, "--recipe", "typo.toml"], &["line 3", "membrs"]);
    folder.write("typo.toml", "target = 'Species'\nfolds = 3\nplan = 'k-fold(folds=4)'\n");
    folder.refuses_naming(&["fit", IRIS, "--recipe", "typo.toml"], &["folds", "plan"]);
    folder.write("typo.toml", "members = ['forrest']\ntarget = 'Species'");
    folder.refuses_naming(&["fit", IRIS, "--recipe", "typo.toml"], &["forrest"]);
    folder.write("typo.toml", "members = [3]");
    folder.refuses_naming(&["fit", IRIS, "--recipe", "typo.toml"], &["typo.toml"]);
}

#[test]
fn json_has_the_keys_it_always_had() {
    let folder = Folder::new();
    let fit = folder.json(&[&FLAGS[..], &["-o", "m.dolmen"]].concat());
    let always = [
        "best",
        "calibration",
        "check",
        "combination_converged",
        "combiner",
        "converged",
        "cross_validated",
        "errors",
        "failures",
        "figures",
        "folds",
        "gain_over_best",
        "gain_over_uniform",
        "gap",
        "interchangeable",
        "intervals",
        "iterations",
        "kept",
        "left_out",
        "members",
        "method",
        "model",
        "rows",
        "score",
        "task",
        "uninformative_rows",
    ];
    for key in always {
        assert!(keys(&fit).contains(&key), "fit: {key}");
    }
    let member = keys(&fit["members"][0]);
    assert_eq!(
        member,
        ["beyond_resamples", "interval", "loo_loss", "name", "score", "score_se", "se", "weight"]
    );
    let score = folder.json(&["score", "m.dolmen", IRIS]);
    let always = [
        "best",
        "figure_errors",
        "figures",
        "gain_over_best",
        "gain_over_uniform",
        "members",
        "rows",
        "score",
        "score_se",
        "task",
        "uniform",
        "uniform_figures",
    ];
    assert_eq!(keys(&score), always);
    let inspect = folder.json(&["inspect", "m.dolmen"]);
    for key in ["calibration", "classes", "columns", "combination", "members", "target", "task"] {
        assert!(keys(&inspect).contains(&key), "inspect: {key}");
    }
    let alone =
        folder.json(&["fit", IRIS, "--target", "Species", "--model", "tree", "--alone", "-q"]);
    for key in ["failures", "folds", "members", "model", "rows", "task"] {
        assert!(keys(&alone).contains(&key), "alone: {key}");
    }
    let demo = folder.json(&["demo", "density"]);
    for key in ["held_out", "members", "gap", "method", "score"] {
        assert!(keys(&demo).contains(&key), "demo: {key}");
    }
}

/// Hours of twenty days, with a target that follows the hour.
fn days() -> Folder {
    let mut text = String::from("day,hour,load\n");
    for i in 0..200 {
        let (day, hour) = (i / 10 + 1, i % 10);
        let load = f64::from(hour) + 0.1 * f64::from(i * 37 % 11);
        writeln!(text, "2024-03-{day:02},{hour},{load}").unwrap();
    }
    Folder::with("days.csv", text)
}

const LOAD: [&str; 8] =
    ["days.csv", "-q", "--target", "load", "--model", "tree", "--model", "ridge"];

#[test]
fn plans_in_order_of_time_are_kept_as_they_were_written() {
    let folder = days();
    let plan = ["--plan", "time(column=day, kind=rolling)", "-o", "a.dolmen"];
    folder.succeeds(&[&["fit"], &LOAD[..], &plan].concat());
    let recipe = folder.succeeds(&["inspect", "a.dolmen", "--recipe"]);
    assert!(recipe.contains("time(column=day, kind=rolling)"), "{recipe}");
    folder.write("r.toml", recipe);
    folder.succeeds(&["fit", "days.csv", "-q", "--recipe", "r.toml", "-o", "b.dolmen"]);
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(read("a.dolmen") == read("b.dolmen"));
    // Options count more than the file.
    let folds = ["fit", "days.csv", "-q", "--recipe", "r.toml", "--time", "day", "--folds", "3"];
    assert_eq!(folder.json(&folds)["folds"], 3);
}

/// A ladder is known by its rungs, and a member by its name, however it was written.
#[test]
fn ladders_are_found_again_in_a_kept_matrix() {
    let folder = days();
    let fit = |model: &'static str| {
        let fit = ["fit", "days.csv", "-q", "--target", "load", "--oos", "m.parquet", "--model"];
        let report = folder.json(&[&fit[..], &[model]].concat());
        let members = report["members"].as_array().unwrap().clone();
        members.iter().map(|m| m["name"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let two = ["neighbours(k=3)", "neighbours(k=9)"];
    assert_eq!(fit("neighbours(k=[3, 9])"), two);
    assert_eq!(fit("neighbours(k=[3, 9])"), two);
    let three = ["neighbours(k=3)", "neighbours(k=9)", "neighbours(k=20)"];
    assert_eq!(fit("neighbours(k=[9, 20])")[1..], three[1..]);
    let with_ridge = [&three[..], &["ridge"]].concat();
    assert_eq!(fit("ridge"), with_ridge);
    // As it is by default.
    assert_eq!(fit("ridge(standardise=true)"), with_ridge);
}

/// The plan is the same for every seed, the members are not.
#[test]
fn a_matrix_of_another_seed_is_not_used() {
    let folder = days();
    let timed = ["--model", "forest(trees=5)", "--time", "day", "--oos", "m.parquet"];
    let fit = [&["fit"], &LOAD[..], &timed].concat();
    folder.succeeds(&fit);
    let seed = [&fit[..], &["--seed", "5"]].concat();
    folder.refuses_naming(&seed, &["m.parquet", "another seed"]);
    let other = ["--task", "classify", "--model", "tree", "--oos", "m.parquet"];
    let other = [&["fit", "days.csv", "--target", "hour"], &other[..]].concat();
    folder.refuses_naming(&other, &["m.parquet", "of the task regression"]);
    folder.succeeds(&fit);
}

#[test]
fn a_report_in_order_of_time_says_what_was_covered_and_how_it_was_checked() {
    let folder = days();
    let fit = ["fit", "days.csv", "--target", "load", "--model", "tree", "--model", "ridge"];
    let fit = [&fit[..], &["--time", "day", "--check", "nested"]].concat();
    let outcome = folder.dolmen(&fit);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("not nested"), "{}", outcome.stderr);
    let covered = folder.json(&fit)["rows"].as_u64().unwrap();
    let line = format!("covered        {covered} of the 200 rows");
    assert!(covered < 200 && outcome.stdout.contains(&line), "{}", outcome.stdout);
    let rolling = ["--plan", "time(column=day, kind=expanding, train=3)"];
    let line = folder.refuses(&[&["fit"], &LOAD[..], &rolling].concat());
    assert!(line.contains("kind is rolling"), "{line}");
}

#[test]
fn rows_with_times_are_split_in_their_order() {
    let folder = days();
    let timed = [&LOAD[..], &["--time", "day"]].concat();
    let text = folder.succeeds(&[&["compare"], &timed[..]].concat());
    assert!(text.contains("5 folds of 200 rows"), "{text}");
    let two = [&["compare"], &timed[..], &["--repeats", "2"]].concat();
    folder.refuses_naming(&two, &["blocks of time"]);
    for verb in ["fit", "compare"] {
        let other = [&[verb], &timed[..], &["--plan", "k-fold(folds=4)"]].concat();
        folder.refuses_naming(&other, &["order of time", "k-fold"]);
    }
    let other = [&["fit"], &timed[..], &["--plan", "time(column=hour)"]].concat();
    folder.refuses_naming(&other, &["hour", "day"]);
    let both = [&["fit"], &timed[..], &["--groups", "day"]].concat();
    folder.refuses_naming(&both, &["'day'", "at once"]);
    let sampled = ["fit", "days.csv", "--keep", "hour", "--model", "kernel(scale=sample)"];
    let sampled = [&sampled[..], &["--model", "gaussian", "--time", "day"]].concat();
    folder.refuses_naming(&sampled, &["scale", "times"]);
}

/// Rows that a split has left keep the folds that the column gives them, also where one of these is held out whole.
#[test]
fn plans_given_by_a_column_are_compared() {
    let folder = Folder::new();
    let rows: Vec<String> =
        (0..60).map(|i| format!("{},{},{}", i % 13, (i % 13) + i % 3, i % 20)).collect();
    folder.write("t.csv", format!("x,y,fold\n{}\n", rows.join("\n")));
    let compare = ["compare", "t.csv", "--target", "y", "--model", "ridge", "--model", "mean"];
    let given = [&compare[..], &["--plan", "given(column=fold)", "--repeats", "3"]].concat();
    let text = folder.succeeds(&given);
    assert!(text.contains("ridge") && text.contains("stacking"), "{text}");
}

/// One team works the first ten days: what is of them can be predicted from nothing but the same team's rows.
#[test]
fn blocks_of_time_without_other_groups_before_them_are_left_out_with_a_note() {
    let folder = days();
    let mut text = String::from("day,hour,load,team\n");
    for (i, line) in folder.read("days.csv").lines().skip(1).enumerate() {
        let day = i / 10 + 1;
        writeln!(text, "{line},team {}", if day <= 10 { 0 } else { day % 5 }).unwrap();
    }
    folder.write("days.csv", text);
    let fit = [&["fit"], &LOAD[..], &["--time", "day"]].concat();
    let report = folder.json(&[&fit[..], &["--groups", "team"]].concat());
    let note = report["data_notes"][0].as_str().unwrap();
    assert!(note.starts_with("2 of the 5 blocks of time (60 rows) are left out"), "{note}");
    assert_eq!((&report["folds"], &report["rows"]), (&3.into(), &90.into()));
    let without = folder.json(&[&fit[..], &["--drop", "team"]].concat());
    assert_eq!((&without["folds"], &without["data_notes"]), (&5.into(), &Value::Array(vec![])));
}
