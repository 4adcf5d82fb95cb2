//! Pictures and pages: `plot`, `report`, and the options of other verbs that make them.

use crate::folder::{Folder, keys};

/// A folder with iris, and a model of its species.
fn fitted() -> Folder {
    let folder = Folder::new();
    folder.succeeds(&["generate", "example", "iris", "-o", "iris.csv"]);
    let fit = ["fit", "iris.csv", "--target", "Species", "--model", "logistic", "--model", "tree"];
    let outputs = [
        "--folds",
        "3",
        "--check",
        "matrix",
        "--keep-all",
        "-o",
        "iris.dolmen",
        "--oos",
        "iris.parquet",
    ];
    folder.succeeds(
        &[&fit[..], &outputs, &["--plot", "weights.svg", "--report", "iris.html"]].concat(),
    );
    folder
}

#[test]
fn models_matrices_and_comparisons_have_pictures() {
    let folder = fitted();
    assert!(folder.read("weights.svg").starts_with("<svg"));
    let listed = folder.succeeds(&["plot", "iris.dolmen", "--list"]);
    for kind in ["weights", "reliability", "roc", "confusion", "importance", "dependence", "tree"] {
        assert!(
            listed.lines().any(|line| line.starts_with(&format!("{kind} "))),
            "{kind} in {listed}"
        );
    }
    let listed = folder.json(&["plot", "iris.parquet", "--list"]);
    let kinds: Vec<&str> =
        listed.as_array().unwrap().iter().map(|own| own["kind"].as_str().unwrap()).collect();
    let of_members = ["weights", "scores", "gain"];
    let of_classes = ["reliability", "roc", "precision-recall", "confusion", "correlation"];
    assert_eq!(kinds, [&of_members[..], &of_classes].concat());
    let svg = folder.succeeds(&["plot", "iris.parquet", "confusion"]);
    assert!(svg.contains("150 rows held out"), "weights from other rows: {svg}");
    let svg = folder.succeeds(&["plot", "iris.dolmen", "roc", "--theme", "dark"]);
    assert!(svg.contains("#14181d") && !svg.contains("prefers-color-scheme"), "dark paper");
    folder.succeeds(&["plot", "iris.dolmen", "confusion", "-o", "confusion.png", "--width", "600"]);
    let png = std::fs::read(folder.path("confusion.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && (4_000..200_000).contains(&png.len()), "{}", png.len());
    // Width and height stand big-endian behind the signature and the header's name.
    assert_eq!(png[16..20], 1200_u32.to_be_bytes());
}

#[test]
fn a_page_is_one_file_about_the_model_or_about_new_rows() {
    let folder = fitted();
    let own = folder.read("iris.html");
    for said in
        ["<!DOCTYPE html>", "A model for Species", "How much each input matters", "recipe.toml"]
    {
        assert!(own.contains(said), "{said}");
    }
    assert_eq!(folder.succeeds(&["report", "iris.dolmen"]), own);
    folder.succeeds(&["report", "iris.dolmen", "--data", "iris.csv", "-o", "new.html"]);
    assert!(folder.read("new.html").contains("On 150 rows that were given for it"));
    let svg = folder.succeeds(&["plot", "iris.dolmen", "reliability", "--data", "iris.csv"]);
    assert!(svg.contains("150 rows that look like those it was fitted to"));
}

#[test]
fn comparisons_are_read_back_and_learning_curves_drawn() {
    let folder = fitted();
    let compare = [
        "compare",
        "iris.csv",
        "--target",
        "Species",
        "--repeats",
        "3",
        "--model",
        "logistic",
        "--model",
        "tree",
    ];
    let sizes = ["--sizes", "60,30", "--report", "learning.html", "--format", "json"];
    let text = folder.succeeds(&[&compare[..], &sizes].concat());
    folder.write("learning.json", &text);
    let curve: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(keys(&curve), ["rows", "sizes", "task"]);
    let points = curve["sizes"].as_array().unwrap();
    let sizes: Vec<u64> = points.iter().map(|point| point["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [30, 60]);
    // The same test parts: what does not learn from rows does alike.
    assert_eq!(points[0]["train_rows"], 30);
    assert!(folder.read("learning.html").contains("Learning curves"));
    let svg = folder.succeeds(&["plot", "learning.json"]);
    assert!(svg.contains("Learning curves"));
    let text = folder.succeeds(&[&compare[..], &["--format", "json"]].concat());
    folder.write("comparison.json", &text);
    assert!(folder.succeeds(&["plot", "comparison.json"]).contains("Methods compared"));
    folder.write("wrong.json", "{\"rows\": 3}");
    let refused = folder.refuses(&["plot", "wrong.json"]);
    assert!(refused.contains("compare --format json"), "{refused}");
    let refused = folder.refuses(&[&compare[..], &["--sizes", "30,5000"]].concat());
    assert!(refused.contains("size") && refused.contains("5000"), "{refused}");
}

#[test]
fn what_cannot_be_drawn_or_written_is_refused_first() {
    let folder = fitted();
    let refused = folder.refuses(&["plot", "iris.dolmen", "density"]);
    assert!(refused.contains("weights") && refused.contains("density"), "{refused}");
    assert!(folder.refuses(&["plot", "iris.dolmen", "-o", "a.pdf"]).contains(".svg or .png"));
    let refused = folder.dolmen(&["plot", "iris.dolmen", "wieghts"]).stderr;
    assert!(refused.contains("hint: did you mean 'weights'?"), "{refused}");
    let refused = folder.dolmen(&["plot", "iris.dolmen", "roc", "--input", "virginca"]).stderr;
    assert!(refused.contains("hint: did you mean 'virginica'?"), "{refused}");
    assert!(folder.refuses(&["plot", "iris.dolmen", "--width", "5"]).contains("400"));
    assert!(folder.refuses(&["plot", "iris.csv"]).contains("neither a model nor a kept matrix"));
    let input = ["plot", "iris.dolmen", "dependence", "--input", "nothing"];
    assert!(folder.refuses(&input).contains("Petal"), "the inputs are named");
    let late = ["fit", "none.csv", "--plot", "a.txt"];
    assert!(folder.refuses(&late).contains(".svg or .png"), "before anything is read");
    assert!(folder.refuses(&["report", "iris.dolmen", "-o", "a.pdf"]).contains(".html"));
    assert!(folder.refuses(&["fit", "none.csv", "--report", "a.pdf"]).contains(".html"));
}

#[test]
fn options_that_change_nothing_are_refused() {
    let folder = fitted();
    let plot = |more: &[&str]| folder.refuses(&[&["plot", "iris.dolmen"], more].concat());
    let refused = plot(&["weights", "--input", "Sepal.Width"]);
    assert!(refused.contains("input must be left out"), "{refused}");
    let refused = plot(&["tree", "--member", "nope"]);
    assert!(
        refused.contains("member must be one that the picture 'tree' suits: tree"),
        "{refused}"
    );
    let refused = plot(&["roc", "--data", "iris.csv", "--rows"]);
    assert!(refused.contains("rows must be left out"), "{refused}");
    let refused = folder.refuses(&["report", "iris.dolmen", "--rows"]);
    assert!(refused.contains("--data"), "{refused}");
    let refused = folder.refuses(&["plot", "iris.parquet", "--data", "iris.csv"]);
    assert!(refused.contains("data must be left out"), "{refused}");
    // Curves of single rows are drawn when they are asked for.
    let dependence = ["plot", "iris.dolmen", "dependence"];
    assert!(!folder.succeeds(&dependence).contains("single rows"));
    let with_rows = folder.succeeds(&[&dependence[..], &["--rows"]].concat());
    assert!(with_rows.contains("single rows"));
}

#[test]
fn the_demo_draws_and_reports() {
    let folder = Folder::new();
    folder.succeeds(&["demo", "density", "--plot", "demo.png", "--report", "demo.html"]);
    assert!(std::fs::read(folder.path("demo.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(folder.read("demo.html").contains("Every two columns"));
    // The page tells of the rows that the terminal tells of.
    let told = folder.succeeds(&["demo", "--report", "classify.html"]);
    let rows = told.split(" other rows:").next().unwrap().rsplit('\n').next().unwrap();
    let html = folder.read("classify.html");
    assert!(html.contains(&format!("On {rows} rows that were given for it")), "{rows}");
    for wrong in ["Not known", "was not checked", "nothing was held out"] {
        assert!(!html.contains(wrong), "{wrong}");
    }
}

#[test]
fn pictures_that_take_other_rows_are_listed_as_such() {
    let folder = Folder::new();
    folder.succeeds(&["generate", "example", "iris", "-o", "iris.csv"]);
    let fit = ["fit", "iris.csv", "--target", "Species", "--model", "logistic", "--alone"];
    folder.succeeds(&[&fit[..], &["-o", "alone.dolmen"]].concat());
    let listed = folder.succeeds(&["plot", "alone.dolmen", "--list"]);
    let (_, with_data) = listed.split_once("--data FILE").unwrap();
    for kind in ["roc", "importance", "scores"] {
        assert!(with_data.lines().any(|line| line.starts_with(kind)), "{kind} in {listed}");
    }
    let listed = folder.json(&["plot", "alone.dolmen", "--list"]);
    let roc = listed.as_array().unwrap().iter().find(|own| own["kind"] == "roc").unwrap();
    assert_eq!(roc["needs"], "--data");
    let refused = folder.dolmen(&["plot", "alone.dolmen", "roc"]).stderr;
    assert!(refused.contains("hint: it needs rows with known truth (--data FILE)"), "{refused}");
    let listed = folder.succeeds(&["plot", "alone.dolmen", "--list", "--data", "iris.csv"]);
    assert!(listed.contains("\nroc ") && !listed.contains("--data FILE"), "{listed}");
}

#[test]
fn predictions_of_other_tools_are_drawn_by_weigh() {
    let folder = Folder::new();
    let row =
        |i: u32| format!("{},{}\n", 0.1 + 0.01 * f64::from(i % 7), 0.2 + 0.02 * f64::from(i % 5));
    folder.write("densities.csv", format!("a,b\n{}", (0..60).map(row).collect::<String>()));
    let shows = ["--plot", "weights.svg", "--report", "weights.html"];
    folder.succeeds(&[&["weigh", "densities.csv"][..], &shows].concat());
    assert!(folder.read("weights.svg").contains("Weights of the members"));
    assert!(folder.read("weights.html").contains("A combination of predictions"));
    let row = |i: u32| {
        let truth = f64::from(i % 13);
        format!("{},{},{truth}\n", truth + f64::from(i % 3), truth - f64::from(i % 5))
    };
    folder.write("numbers.csv", format!("a,b,y\n{}", (0..60).map(row).collect::<String>()));
    let told = folder.succeeds(&["weigh", "numbers.csv", "--target", "y"]);
    let numbers = ["weigh", "numbers.csv", "--target", "y", "--report", "numbers.html"];
    assert_eq!(folder.succeeds(&numbers), told);
    let page = folder.read("numbers.html");
    for title in ["Predicted against true: 60 rows held out", "How far off predictions are"] {
        assert!(page.contains(title), "{title}");
    }
    // A table says nothing of what its columns are, so `plot` sends it there.
    let error = folder.refuses(&["plot", "densities.csv", "weights"]);
    assert!(error.contains("dolmen weigh FILE --plot"), "{error}");
}
