//! Data files and arguments that cannot be used: each gets one line that says what and where.

use std::fmt::Write;

use crate::folder::{Folder, IRIS};

/// Files no verb can read, and what the error must name beside the file.
const UNREADABLE: [(&str, &[&str]); 4] = [
    ("", &["empty"]),
    ("a,b\n", &["no rows"]),
    ("a,b\n0.1,0.2\n0.3\n", &["row 2", "found 1"]),
    ("a,b\n0.1,0.2\n0.3,0.4,0.5\n", &["row 2", "found 3"]),
];

#[test]
fn files_that_are_no_tables() {
    for (text, words) in UNREADABLE {
        let folder = Folder::with("d.csv", text);
        for verb in ["weigh", "fit", "compare", "inspect"] {
            folder.refuses_naming(&[verb, "d.csv"], &[&["d.csv"], words].concat());
        }
        folder.refuses(&["fit", "d.csv", "-o", "m.dolmen", "--oos", "m.parquet"]);
    }
    for verb in ["weigh", "fit", "compare", "inspect"] {
        Folder::new().refuses_naming(&[verb, "nowhere.csv"], &["nowhere.csv"]);
        Folder::with("d.parquet", "a,b\n1,2\n")
            .refuses_naming(&[verb, "d.parquet"], &["d.parquet"]);
    }
}

#[test]
fn predictions_that_are_none() {
    let cases: [(&str, &[&str]); 5] = [
        ("a,b\n0.1,x\n0.2,0.3\n", &["row 1", "column 'b'", "'x'"]),
        ("a,b\n0.1,0.2\n0.3,NaN\n", &["row 2", "column 'b'"]),
        ("a,b\n0.1,0.2\n0.3,\n", &["row 2", "column 'b'"]),
        ("a,b\n0.1,-0.2\n0.3,0.2\n", &["row 1", "column 'b'", "-0.2"]),
        ("a,b\n0.1,0.3\ninf,0.2\n", &["row 2", "column 'a'", "inf"]),
    ];
    for (text, words) in cases {
        let folder = Folder::with("d.csv", text);
        folder.refuses_naming(&["weigh", "d.csv"], &[&["d.csv"], words].concat());
    }
    let folder = Folder::with("l.csv", "a\n-1\ninf\n");
    folder.refuses_naming(&["weigh", "l.csv", "--log"], &["l.csv", "row 2", "column 'a'"]);
}

#[test]
fn targets_and_weights_that_do_not_fit_the_predictions() {
    let folder = Folder::with("c.csv", "t,a:x,a:y,w\nx,0.5,0.5,1\nz,0.2,0.8,-1\n");
    folder.write("sums.csv", "t,a:x,a:y\nx,0.5,0.5\ny,0.5,0.7\n");
    folder.write("beyond.csv", "t,a:x,a:y\nx,1.5,-0.5\ny,0.5,0.5\n");
    folder.write("half.csv", "t,a:x,a:y,b:x\nx,0.5,0.5,1\ny,0.5,0.5,0\n");
    folder.write("gap.csv", "t,a,b\n1,2,3\n,2,3\n");
    folder.write("text.csv", "t,a,b\nx,2,3\ny,2,3\n");
    folder.write("w.csv", "a,w\n0.5,1\n0.4,-1\n");
    folder.write("zero.csv", "a,w\n0.5,0\n0.4,0\n");
    let refuse = |file: &str, more: &[&str], words: &[&str]| {
        folder.refuses_naming(&[&["weigh", file], more].concat(), &[&[file], words].concat());
    };
    refuse("c.csv", &["--target", "t", "--drop", "w"], &["row 2", "column 't'", "'z'"]);
    refuse("c.csv", &["--target", "tt"], &["'tt'"]);
    refuse("sums.csv", &["--target", "t"], &["row 2", "1.2"]);
    refuse("beyond.csv", &["--target", "t"], &["row 1", "1.5"]);
    refuse("half.csv", &["--target", "t"], &["b:y"]);
    refuse("gap.csv", &["--target", "t"], &["row 2", "column 't'"]);
    refuse("text.csv", &["--target", "t"], &["column 't'", "member:class"]);
    refuse("w.csv", &["--weights", "w"], &["row 2"]);
    refuse("zero.csv", &["--weights", "w"], &["weights are 0"]);
}

#[test]
fn arguments_outside_their_range() {
    let folder = Folder::with("d.csv", "a,b\n0.1,0.2\n0.3,0.2\n");
    let weigh: [&[&str]; 9] = [
        &["--method", "simplx"],
        &["--measure", "rmse"],
        &["--method", "greedy", "--measure", "brier"],
        &["--method", "greedy", "--rounds", "0"],
        &["--prior", "0.5"],
        &["--errors", "bootstrap", "--draws", "1"],
        &["--threads", "0"],
        &["--drop", "zz"],
        &["--delimiter", "é"],
    ];
    for arguments in weigh {
        let name = arguments[arguments.len() - 2].trim_start_matches("--");
        let word = if name == "drop" { "zz" } else { name };
        folder.refuses_naming(&[&["weigh", "d.csv"], arguments].concat(), &[word]);
    }
    folder.refuses(&["wiegh", "d.csv"]);
    folder.refuses(&["weigh"]);
    folder.refuses_naming(&["learners", "kernell"], &["kernell"]);
}

#[test]
fn fits_that_cannot_be() {
    let folder = Folder::new();
    let fit = |more: &[&str], words: &[&str]| {
        let output = ["-o", "m.dolmen", "--oos", "m.parquet"];
        folder.refuses_naming(&[&["fit", IRIS], more, &output].concat(), words);
    };
    fit(&["--target", "species"], &["iris.csv", "'species'"]);
    fit(&["--groups", "zz"], &["iris.csv", "'zz'"]);
    fit(&["--weights", "Species"], &["iris.csv", "column 'Species'"]);
    fit(&["--folds", "151"], &["folds", "150", "151"]);
    fit(&["--folds", "1"], &["folds"]);
    fit(&["--model", "kernell"], &["kernel", "kernell"]);
    fit(&["--model", "kernel(bandwith=0.1)"], &["bandwith"]);
    fit(&["--model", "kernel(bandwidth=-1)"], &["bandwidth"]);
    fit(&["--model", "mixture(components=0)"], &["components"]);
    fit(&["--model", "kernel(bandwidth=[0.1,"], &["kernel(bandwidth=[0.1,"]);
    fit(&["--model", "gaussian", "--model", "gaussian"], &["gaussian"]);
    fit(&["--model", "mean"], &["mean", "density"]);
    fit(&["--target", "Species", "--model", "gaussian"], &["gaussian", "classification"]);
    fit(&["--combiner", "non-negative"], &["non-negative"]);
    fit(&["--task", "classify"], &["task", "--target"]);
    fit(&["--spec", "nowhere.toml"], &["nowhere.toml"]);
}

#[test]
fn member_files_that_cannot_be_read() {
    let cases = [
        ("member = 3", "s.toml"),
        ("[[member]]\nkind = \"kernel\"\nbandwith = 1", "bandwith"),
        ("[[member]]\nbandwidth = 1", "kind"),
        ("[[member]]\nkind = \"gaussian\"\n[other]\n", "other"),
        ("[[member]\n", "s.toml"),
    ];
    for (text, word) in cases {
        let folder = Folder::with("s.toml", text);
        folder.refuses_naming(&["fit", IRIS, "--spec", "s.toml", "-o", "m.dolmen"], &[word]);
    }
}

#[test]
fn data_that_cannot_be_learned_from() {
    let setosa = "x,y,class\n1,2,a\n2,1,a\n3,3,a\n4,1,a\n";
    let cases: [(&str, &[&str], &[&str]); 7] = [
        ("a,b\n1,2\n", &[], &["d.csv", "1"]),
        ("a,b\n1,2\ninf,3\n4,1\n2,2\n", &["--folds", "2"], &["d.csv", "row 2", "column 'a'"]),
        (setosa, &["--target", "class"], &["d.csv", "column 'class'", "one class"]),
        ("x,t\n1,\n2,\n3,\n", &["--target", "t"], &["d.csv", "column 't'", "every row"]),
        ("x,t\n1,1\n2,inf\n3,2\n", &["--target", "t"], &["d.csv", "row 2", "column 't'"]),
        ("x,t\n1,1\n2,q\n3,2\n", &["--target", "t", "--task", "regress"], &["row 2", "'q'"]),
        ("x,y\na,b\nc,d\n", &[], &["d.csv", "densities do not use categories"]),
    ];
    for (text, more, words) in cases {
        let folder = Folder::with("d.csv", text);
        let arguments = [&["fit", "d.csv", "-o", "m.dolmen"], more].concat();
        folder.refuses_naming(&arguments, words);
    }
}

/// So many rows of `a` spread out, with the other cells made from the row's number.
fn table(header: &str, rows: usize, others: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for i in 0..rows {
        writeln!(text, "{}{}", (i as f64 * 1.7).sin(), others(i)).unwrap();
    }
    text
}

#[test]
fn a_constant_column_stops_kernels_and_not_mixtures() {
    let folder = Folder::with("d.csv", table("a,b", 40, |_| ",1".into()));
    folder.refuses_naming(
        &["fit", "d.csv", "--model", "kernel", "-o", "m.dolmen"],
        &["kernel", "split 1", "d.csv", "column 'b'", "constant"],
    );
    let report = folder.json(&["fit", "d.csv", "--model", "mixture(components=[1,2])"]);
    assert!(report["score"].as_f64().is_some());
    // Without the members that cannot, the others go on, and the report says who failed.
    let all = ["fit", "d.csv", "--model", "kernel", "--model", "mixture", "--drop-failed"];
    let report = folder.json(&all);
    assert_eq!(report["members"].as_array().unwrap().len(), 1);
    assert_eq!(report["failures"].as_array().unwrap().len(), 10);
}

#[test]
fn equal_rows_are_refused_and_repeated_rows_are_not() {
    let equal = "a,b\n".to_string() + &"1,2\n".repeat(30);
    let folder = Folder::with("equal.csv", equal);
    folder.refuses_naming(&["fit", "equal.csv", "-o", "m.dolmen"], &["equal.csv", "column 'a'"]);
    let twice = table("a,b", 30, |i| format!(",{}", i % 7)).replace('\n', "\n\n");
    let mut lines: Vec<&str> = twice.lines().filter(|line| !line.is_empty()).collect();
    let again = lines[1..].to_vec();
    lines.extend(again);
    folder.write("twice.csv", lines.join("\n"));
    assert!(folder.json(&["fit", "twice.csv"])["score"].as_f64().is_some());
}

#[test]
fn more_columns_than_rows_can_be_fitted() {
    let header: Vec<String> = (0..20).map(|j| format!("x{j}")).collect();
    let text = table(&header.join(","), 12, |i| {
        (1..20).fold(String::new(), |mut row, j| {
            write!(row, ",{}", ((i * 20 + j) as f64 * 0.73).sin()).unwrap();
            row
        })
    });
    let folder = Folder::with("wide.csv", text);
    let report = folder.json(&["fit", "wide.csv", "--folds", "3", "-o", "m.dolmen"]);
    assert!(report["score"].as_f64().unwrap().is_finite());
    assert_eq!(folder.names(), ["m.dolmen", "wide.csv"]);
}

#[test]
fn comparisons_that_cannot_be() {
    let folder = Folder::new();
    let refuse = |more: &[&str], words: &[&str]| {
        folder.refuses_naming(&[&["compare", IRIS], more].concat(), words);
    };
    refuse(&["--repeats", "0"], &["repeats"]);
    refuse(&["--test-rows", "0"], &["iris.csv", "0 test rows"]);
    refuse(&["--test-rows", "149"], &["iris.csv", "149 test rows"]);
    refuse(&["--folds", "1"], &["folds"]);
    refuse(&["--model", "kernel(shap=triangular)"], &["shap"]);
    refuse(&["--drop", "zz"], &["'zz'"]);
    refuse(&["--keep", "Species"], &["densities do not use categories"]);
}

#[test]
fn an_example_that_is_not_there_can_be_written() {
    let folder = Folder::new();
    let told = folder.dolmen(&["fit", "iris.csv", "--target", "Species"]).stderr;
    assert!(told.contains("dolmen generate example iris -o iris.csv"), "{told}");
    let told = folder.dolmen(&["fit", "irises.csv", "--target", "Species"]).stderr;
    assert!(!told.contains("generate"), "{told}");
}

/// One check for every learner and combiner: all parameters are named, those that hold models too.
#[test]
fn parameters_that_there_are_not() {
    let folder = Folder::new();
    let refuse = |option: &str, spec: &str, words: &[&str]| {
        let arguments = ["fit", IRIS, "--target", "Species", option, spec];
        folder.refuses(&arguments);
        let stderr = folder.dolmen(&arguments).stderr;
        assert!(words.iter().all(|word| stderr.contains(word)), "{spec}: {stderr}");
    };
    refuse("--model", "deep-ensemble(copie=3)", &["copies, hidden", "did you mean 'copies'?"]);
    refuse("--model", "averaged(fts=3)", &["of, fits", "did you mean 'fits'?"]);
    refuse("--model", "tuned(fold=3)", &["of, folds"]);
    refuse("--model", "boost(loss=huber)", &["logistic, exponential, multinomial"]);
    refuse("--model", "bayes(density=gaussian(covariance=tied))", &["full, diagonal, spherical"]);
    refuse("--model", "forest(importance=permutaton)", &["did you mean 'permutation'?"]);
    refuse("--combiner", "greedy(round=3)", &["rounds, measure", "did you mean 'rounds'?"]);
    let typo = ["fit", IRIS, "--schema", "Species=categorial"];
    assert!(folder.dolmen(&typo).stderr.contains("did you mean 'categorical'?"));
}

/// A member that fails inside a fold names the row of the table, not that of the fold.
#[test]
fn a_row_that_a_member_cannot_take_is_that_of_the_table() {
    let cell = |i: usize| if i == 36 { String::new() } else { format!("{}", (i * 7) % 31) };
    let rows: Vec<String> = (0..60).map(|i| format!("{},{}", cell(i), (i * 5) % 17)).collect();
    let folder = Folder::with("t.csv", format!("x,y\n{}\n", rows.join("\n")));
    for seed in ["1", "2", "3"] {
        let fit = ["fit", "t.csv", "--model", "kernel", "--model", "gaussian", "--seed", seed];
        folder.refuses_naming(&fit, &["kernel", "row 37", "'x'", "missing"]);
    }
}
