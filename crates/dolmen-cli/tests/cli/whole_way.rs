//! From a table to a model to its uses: fit, predict, score, sample, weigh; and the verbs that only show.

use crate::folder::{Folder, IRIS, assert_close, column, keys, mean, weights};

#[test]
fn a_stacked_density() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "--drop", "Species", "-o", "m.dolmen", "--oos", "m.parquet"];
    let fitted = folder.json(&fit);
    assert_eq!(fitted["task"], "density");
    assert_eq!(folder.names(), ["m.dolmen", "m.parquet"]);

    // The kept matrix is weighed to the same weights, without a word about its task.
    let weighed = folder.json(&["weigh", "m.parquet"]);
    assert_eq!(weights(&weighed), weights(&fitted));
    assert_eq!(weighed["score"], fitted["score"]);

    // score is the mean of what predict says, in every form of output.
    let printed = folder.succeeds(&["predict", "m.dolmen", IRIS]);
    let logs = column(&printed, "log_density");
    let scored = folder.json(&["score", "m.dolmen", IRIS]);
    assert_eq!((logs.len(), scored["rows"].as_u64()), (150, Some(150)));
    assert!((mean(&logs) - scored["score"].as_f64().unwrap()).abs() < 1e-12);
    // The model has the members that have weight.
    let with_weight: Vec<f64> = weights(&fitted).into_iter().filter(|w| *w > 0.0).collect();
    assert_eq!(weights(&scored), with_weight);
    folder.succeeds(&["predict", "m.dolmen", IRIS, "-o", "p.csv"]);
    assert_eq!(folder.read("p.csv"), printed);
    folder.succeeds(&["predict", "m.dolmen", IRIS, "-o", "p.parquet"]);
    assert_eq!(folder.json(&["inspect", "p.parquet"])["rows"], 150);
}

#[test]
fn rows_drawn_from_a_density_are_like_the_data() {
    let folder = Folder::new();
    folder.succeeds(&["fit", IRIS, "-q", "--model", "mixture(components=3)", "-o", "m.dolmen"]);
    let draw = |seed| folder.succeeds(&["sample", "m.dolmen", "--rows", "2000", "--seed", seed]);
    let drawn = draw("7");
    assert_eq!(drawn, draw("7"));
    assert_ne!(drawn, draw("8"));
    let iris = std::fs::read_to_string(IRIS).unwrap();
    for name in ["Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width"] {
        let (data, draws) = (column(&iris, name), column(&drawn, name));
        let centre = mean(&data);
        let spread = mean(&data.iter().map(|v| (v - centre).powi(2)).collect::<Vec<_>>()).sqrt();
        // Five standard errors of the mean of 2000 draws, and a little for the prior of the mixture.
        assert!((mean(&draws) - centre).abs() < spread * (5.0 / 2000_f64.sqrt() + 0.01), "{name}");
    }
}

#[test]
fn a_stacked_classifier() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "--target", "Species", "-o", "m.dolmen", "--oos", "m.parquet"];
    let fitted = folder.json(&[&fit[..], &["--combiner", "simplex"]].concat());
    assert_eq!(fitted["task"], "classification");
    assert_eq!(weights(&folder.json(&["weigh", "m.parquet"])), weights(&fitted));

    let printed = folder.succeeds(&["predict", "m.dolmen", IRIS]);
    let iris = std::fs::read_to_string(IRIS).unwrap();
    let last = |line: &str| line.rsplit(',').next().unwrap().to_string();
    let truth: Vec<String> = iris.lines().skip(1).map(last).collect();
    let said: Vec<&str> =
        printed.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    let wrong = truth.iter().zip(&said).filter(|(t, s)| t != s).count();
    assert!(wrong <= 6, "{wrong} of 150 flowers are taken for others");

    let classes = ["p(setosa)", "p(versicolor)", "p(virginica)"];
    let columns = classes.map(|name| column(&printed, name));
    let own = |i: usize| {
        let at = ["setosa", "versicolor", "virginica"].iter().position(|c| **c == truth[i]);
        assert!((columns.iter().map(|c| c[i]).sum::<f64>() - 1.0).abs() < 1e-9);
        columns[at.unwrap()][i].ln()
    };
    let score = mean(&(0..150).map(own).collect::<Vec<_>>());
    let scored = folder.json(&["score", "m.dolmen", IRIS]);
    assert!((score - scored["score"].as_f64().unwrap()).abs() < 1e-9);
}

#[test]
fn a_regression() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "--target", "Sepal.Length", "--drop", "Species", "-o", "m.dolmen"];
    assert_eq!(folder.json(&fit)["task"], "regression");
    let iris = std::fs::read_to_string(IRIS).unwrap();
    let truth = column(&iris, "Sepal.Length");
    let predicted = column(&folder.succeeds(&["predict", "m.dolmen", IRIS]), "mean");
    let squared: Vec<f64> = truth.iter().zip(&predicted).map(|(y, p)| (y - p).powi(2)).collect();
    let scored = folder.json(&["score", "m.dolmen", IRIS]);
    let rmse = scored["figures"]["rmse"].as_f64().unwrap();
    assert_close(&[rmse], &[mean(&squared).sqrt()], 1e-9);
    assert!(scored["figures"]["r2"].as_f64().unwrap() > 0.8);
}

#[test]
fn a_classifier_of_unlike_members_and_what_is_in_it() {
    let folder = Folder::new();
    let members = ["--model", "forest(trees=20)", "--model", "logistic", "--model", "adaboost"];
    let fit = ["fit", IRIS, "--target", "Species", "-q", "-o", "m.dolmen", "--format", "json"];
    folder.succeeds(&[&fit[..], &members, &["--keep-stack", "--keep-all"]].concat());
    let figures = folder.json(&["score", "m.dolmen", IRIS])["figures"].clone();
    assert!(figures["error"].as_f64().unwrap() < 0.05, "{figures}");
    assert!(figures["auc"].as_f64().unwrap() > 0.98, "{figures}");
    let inspected = folder.json(&["inspect", "m.dolmen"]);
    assert_eq!(inspected["classes"], serde_json::json!(["setosa", "versicolor", "virginica"]));
    let importances = inspected["members"][0]["series"][0]["values"].as_array().unwrap();
    let total: f64 = importances.iter().map(|value| value.as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{inspected}");
    assert!(folder.succeeds(&["inspect", "m.dolmen"]).contains("Petal.Width"));
}

#[test]
fn the_keys_of_the_reports_of_fit_and_score() {
    let folder = Folder::new();
    let model = ["--model", "gaussian", "--model", "mixture(components=2)", "-o", "m.dolmen"];
    let fitted = folder.json(&[&["fit", IRIS, "-q"], &model[..]].concat());
    let scored = folder.json(&["score", "m.dolmen", IRIS]);
    for report in [&fitted, &scored] {
        for key in ["task", "rows", "members", "score", "gain_over_best"] {
            assert!(keys(report).contains(&key), "{key}");
        }
        assert_eq!(keys(&report["gain_over_best"]), ["mean", "se"]);
    }
    for key in ["name", "weight", "se", "score"] {
        assert!(keys(&fitted["members"][0]).contains(&key), "{key}");
    }
    assert_eq!(
        keys(&scored["members"][0]),
        ["figures", "gain", "name", "score", "score_se", "weight"]
    );
}

#[test]
fn same_seed_same_file_on_any_number_of_threads() {
    let folder = Folder::new();
    let fit = |threads: &str, seed: &str, model: &str| {
        let arguments =
            ["fit", IRIS, "-q", "--threads", threads, "--seed", seed, "-o", model, "--format"];
        folder.succeeds(&[&arguments[..], &["json"]].concat());
        std::fs::read(folder.path(model)).unwrap()
    };
    let one = fit("1", "3", "one.dolmen");
    assert!(one == fit("2", "3", "two.dolmen"), "two threads give another model");
    assert!(one != fit("2", "4", "other.dolmen"), "the seed changes nothing");
}

#[test]
fn the_demo_in_both_forms() {
    let folder = Folder::new();
    let text = folder.succeeds(&["demo"]);
    assert!(text.starts_with("Penguins") && text.contains("67 other rows"), "{text}");
    let text = folder.succeeds(&["demo", "regress"]);
    assert!(text.starts_with("Houses") && text.contains("186 other rows"), "{text}");
    let text = folder.succeeds(&["demo", "density"]);
    assert!(
        text.contains("mixture(components=4, schedule=sw99)") && text.contains("30 other rows"),
        "{text}"
    );
    let report = folder.json(&["demo", "density"]);
    assert_eq!(report["members"].as_array().unwrap().len(), 6);
    assert!(report["gain_over_best"]["mean"].as_f64().unwrap() > 0.0);
    assert!(folder.names().is_empty());
}

#[test]
fn the_learners_are_listed() {
    let folder = Folder::new();
    let listed = folder.json(&["learners"]);
    let named = |name: &str| listed.as_array().unwrap().iter().any(|l| l["name"] == name);
    for name in ["gaussian", "kernel", "mixture", "averaged", "stack", "bayes", "mean"] {
        assert!(named(name), "{name}");
    }
    let text = folder.succeeds(&["learners"]);
    assert!(text.contains("simplex") && text.contains("log-pool"), "{text}");
    let mixture = folder.succeeds(&["learners", "mixture"]);
    assert!(mixture.contains("components") && !mixture.contains("bandwidth"), "{mixture}");
    let text = folder.succeeds(&["learners", "averaged"]);
    for words in
        ["Example: --model 'averaged(of=", "whole number, 1 to 10000", "resample=bootstrap"]
    {
        assert!(text.contains(words), "'{words}' is not in:\n{text}");
    }
    let averaged = &folder.json(&["learners", "averaged"])[0];
    assert_eq!(averaged["parameters"]["fits"], 10);
    assert!(averaged["parameters"].get("of").is_none(), "it has no default");
    assert_eq!(averaged["documented"][0]["name"], "of");
    assert_eq!(averaged["documented"][1]["allowed"], "whole number, 1 to 10000");
    assert_eq!(averaged["documented"][2]["values"][0]["name"], "starts");
    assert_eq!(averaged["example"], "averaged(of=mixture(components=[2, 4]), fits=20)");
}

#[test]
fn plans_are_looked_up_like_learners() {
    let folder = Folder::new();
    let text = folder.succeeds(&["learners"]);
    for plan in ["k-fold", "leave-one-out", "time-ordered", "given"] {
        assert!(
            text.lines().any(|line| line.starts_with(plan) && line.contains(" plan ")),
            "{text}"
        );
    }
    let short = folder.succeeds(&["learners", "time"]);
    assert_eq!(short, folder.succeeds(&["learners", "time-ordered"]));
    for words in ["Example: --plan 'time(column=", "column", "kind=around", "embargo"] {
        assert!(short.contains(words), "'{words}' is not in:\n{short}");
    }
    let given = &folder.json(&["learners", "given"])[0];
    assert_eq!(
        (&given["task"], &given["documented"][0]["required"]),
        (&"plan".into(), &true.into())
    );
    folder.refuses_naming(&["learners", "bootstrapp"], &["bootstrap"]);
}

#[test]
fn a_table_is_inspected() {
    insta::assert_snapshot!(Folder::new().succeeds(&["inspect", IRIS]), @r"
    column               type  missing            values
    Sepal.Length      numeric        0  4.3000 to 7.9000
    Sepal.Width       numeric        0  2.0000 to 4.4000
    Petal.Length      numeric        0  1.0000 to 6.9000
    Petal.Width       numeric        0  0.1000 to 2.5000
    Species       categorical        0          3 levels

    150 rows
    ");
    let folder = Folder::with("gaps.csv", "a,b\n1,x\n,y\n3,\n");
    let report = folder.json(&["inspect", "gaps.csv"]);
    let missing = |c: usize| report["columns"][c]["missing"].as_u64().unwrap();
    assert_eq!((missing(0), missing(1)), (1, 1));
    assert_eq!(report["columns"][1]["type"], "categorical");
}
