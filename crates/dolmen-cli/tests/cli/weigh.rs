//! `dolmen weigh`: every form of predictions, every method, and the report's shape.

use std::fmt::Write;

use crate::folder::{Folder, assert_close, keys, weights};

const DENSITIES: &str = "a,b,c
0.50,0.10,0.30
0.20,0.40,0.30
0.30,0.30,0.10
0.90,0.20,0.30
0.10,0.80,0.30
0.05,0.60,0.20
0.70,0.10,0.10
0.40,0.20,0.30
0.10,0.10,0.90
0.20,0.30,0.40
0.60,0.50,0.10
0.30,0.20,0.20
";

/// The densities' rows as numbers.
fn rows() -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    DENSITIES.lines().skip(1).map(row).collect()
}

#[test]
fn the_text_report() {
    let text = Folder::with("d.csv", DENSITIES).succeeds(&["weigh", "d.csv"]);
    // The last digits of the gap differ between processors.
    let (before, rest) = text.split_once("certified gap ").unwrap();
    let (gap, after) = rest.split_once(' ').unwrap();
    assert!(gap.parse::<f64>().unwrap() <= 1e-10, "{gap}");
    insta::assert_snapshot!(format!("{before}certified gap GAP {after}"));
}

/// What is left out, and the truth, need not be in a file of further rows.
#[test]
fn further_rows_need_the_members_in_use_only() {
    let folder = Folder::with("d.csv", DENSITIES);
    folder.write("new.csv", "b,a\n0.2,0.4\n0.1,0.3\n");
    let weigh = ["weigh", "d.csv", "--apply", "new.csv", "-o", "-", "--drop"];
    let combined = folder.succeeds(&[&weigh[..], &["c"]].concat());
    assert_eq!(combined.lines().count(), 3);
    folder.refuses_naming(&[&weigh[..], &["b"]].concat(), &["new.csv", "'c'"]);
    let header = "truth,near,far,bad";
    let truth: Vec<String> =
        (0..30).map(|i| format!("{i},{},{},x", i % 7 + i, i - i % 3)).collect();
    folder.write("f.csv", format!("{header}\n{}\n", truth.join("\n")));
    folder.write("t.csv", "far,near\n3,4\n");
    let weigh = ["weigh", "f.csv", "--target", "truth", "--drop", "bad", "--apply", "t.csv"];
    assert_eq!(folder.succeeds(&[&weigh[..], &["-o", "-"]].concat()).lines().count(), 2);
}

/// Rows to which the weights of other rows give nothing: a score of -inf is explained beside gains that are finite.
#[test]
fn an_infinite_score_beside_finite_gains_is_explained() {
    let mut text = String::from("a,b\n");
    (0..20).for_each(|i| text.push_str(if i == 7 { "0,0.4\n" } else { "0.5,0.1\n" }));
    let folder = Folder::with("d.csv", text);
    let said = folder.succeeds(&["weigh", "d.csv", "--method", "best"]);
    let honest = &folder.json(&["weigh", "d.csv", "--method", "best"])["cross_validated"];
    assert_eq!(honest["score"], "-inf");
    assert_eq!(honest["gain_over_best"]["mean"], 0.0);
    assert!(said.contains("some row has no probability at all"), "{said}");
}

#[test]
fn a_missed_tolerance_is_said_first_and_exits_with_one() {
    // Numbers without a pattern: rounding leaves a gap that is not exactly 0.
    let cell = |i: usize, m: usize| 1.0 + ((i * i + 7 * m * i + m) as f64).sin() / (m as f64 + 1.1);
    let mut text = String::from("a,b,c,d\n");
    for i in 0..200 {
        let row: Vec<String> = (0..4).map(|m| cell(i, m).to_string()).collect();
        writeln!(text, "{}", row.join(",")).unwrap();
    }
    let folder = Folder::with("d.csv", text);
    let method = "simplex(tolerance=0, prior=2)";
    let arguments = ["weigh", "d.csv", "--method", method, "--errors", "none"];
    let outcome = folder.dolmen(&arguments);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with("NOT CONVERGED: simplex"), "{}", outcome.stdout);
    let allowed = [&arguments[..], &["--allow-unconverged"]].concat();
    assert!(folder.succeeds(&allowed).starts_with("NOT CONVERGED"));
}

#[test]
fn members_far_below_the_others_keep_finite_scores() {
    let folder = Folder::with("d.csv", "near,far\n-1,-2000\n-2,-3000\n-1.5,-1\n-2.5,-1500\n");
    let report = folder.json(&["weigh", "d.csv", "--log", "--errors", "none"]);
    let far = report["members"][1]["score"].as_f64().unwrap();
    assert!((far - -6501.0 / 4.0).abs() < 1e-9, "{far}");
}

#[test]
fn the_weights_meet_the_optimality_conditions() {
    let found = weights(&Folder::with("d.csv", DENSITIES).json(&["weigh", "d.csv"]));
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    // At the optimum the mean of L_m / mixture is 1 for members in use, and at most 1 for the others.
    let rows = rows();
    for (m, weight) in found.iter().enumerate() {
        let mixture = |row: &[f64]| row.iter().zip(&found).map(|(l, w)| l * w).sum::<f64>();
        let pull = rows.iter().map(|row| row[m] / mixture(row)).sum::<f64>() / rows.len() as f64;
        assert!(if *weight > 0.0 { (pull - 1.0).abs() < 1e-6 } else { pull < 1.0 + 1e-6 });
    }
}

#[test]
fn logarithms_say_the_same() {
    let mut logs = String::from("a,b,c\n");
    for row in rows() {
        let cells: Vec<String> = row.iter().map(|v| v.ln().to_string()).collect();
        writeln!(logs, "{}", cells.join(",")).unwrap();
    }
    let folder = Folder::with("d.csv", DENSITIES);
    folder.write("l.csv", logs);
    let plain = folder.json(&["weigh", "d.csv"]);
    let log = folder.json(&["weigh", "l.csv", "--log"]);
    assert_close(&weights(&plain), &weights(&log), 1e-9);
    let scores = [&plain, &log].map(|report| report["score"].as_f64().unwrap());
    assert!((scores[0] - scores[1]).abs() < 1e-12);
}

/// The densities as p(true class) of two-class members, with the truth spelled in two ways.
fn class_table(names: [&str; 2]) -> String {
    let [x, y] = names;
    let mut text = format!("truth,a:{x},a:{y},b:{x},b:{y},c:{x},c:{y}\n");
    for (i, row) in rows().iter().enumerate() {
        let truth = i % 2;
        write!(text, "{}", names[truth]).unwrap();
        for p in row {
            let pair = if truth == 0 { [*p, 1.0 - p] } else { [1.0 - p, *p] };
            write!(text, ",{},{}", pair[0], pair[1]).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn class_probabilities_are_weighed_by_those_of_the_true_class() {
    let folder = Folder::with("d.csv", DENSITIES);
    folder.write("text.csv", class_table(["yes", "no"]));
    folder.write("numbers.csv", class_table(["1", "0"]));
    let expected = weights(&folder.json(&["weigh", "d.csv"]));
    for file in ["text.csv", "numbers.csv"] {
        let report = folder.json(&["weigh", file, "--target", "truth"]);
        assert_eq!(report["task"], "classification", "{file}");
        assert_close(&weights(&report), &expected, 1e-9);
    }
}

#[test]
fn numbers_that_are_a_mixture_of_the_members_give_its_weights() {
    let mut text = String::from("y,a,b,c\n");
    for i in 0..20 {
        let (a, b, c) = (f64::from(i), f64::from(i * i % 7), f64::from(i % 3) - 9.0);
        writeln!(text, "{},{a},{b},{c}", 0.3 * a + 0.7 * b).unwrap();
    }
    let folder = Folder::with("r.csv", text);
    for method in ["simplex", "non-negative"] {
        let report = folder.json(&["weigh", "r.csv", "--target", "y", "--method", method]);
        assert_eq!(report["task"], "regression");
        assert_close(&weights(&report), &[0.3, 0.7, 0.0], 1e-9);
        assert!(report["score"].as_f64().unwrap().abs() < 1e-15);
    }
    folder
        .refuses_naming(&["weigh", "r.csv", "--target", "y", "--method", "em"], &["method", "em"]);
}

#[test]
fn a_row_of_weight_two_is_a_row_twice() {
    let mut weighted = String::new();
    let mut twice = String::new();
    for (i, line) in DENSITIES.lines().enumerate() {
        let weight = if i == 0 {
            "w"
        } else if i < 4 {
            "2"
        } else {
            "1"
        };
        writeln!(weighted, "{line},{weight}").unwrap();
        writeln!(twice, "{line}").unwrap();
        if (1..4).contains(&i) {
            writeln!(twice, "{line}").unwrap();
        }
    }
    let folder = Folder::with("weighted.csv", weighted);
    folder.write("twice.csv", twice);
    let one = folder.json(&["weigh", "weighted.csv", "--weights", "w"]);
    let two = folder.json(&["weigh", "twice.csv"]);
    assert_close(&weights(&one), &weights(&two), 1e-9);
    for key in ["score", "gain_over_best", "gain_over_uniform"] {
        let value = |report: &serde_json::Value| {
            report[key].as_f64().or_else(|| report[key]["mean"].as_f64()).unwrap()
        };
        assert!((value(&one) - value(&two)).abs() < 1e-12, "{key}");
    }
}

#[test]
fn every_method_gives_weights_on_the_simplex_and_none_beats_simplex() {
    let folder = Folder::with("d.csv", DENSITIES);
    let score = |method: &str| {
        let report = folder.json(&["weigh", "d.csv", "--method", method]);
        assert_eq!(report["method"], method);
        let weights = weights(&report);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{method}: {weights:?}");
        assert!(weights.iter().all(|w| *w >= 0.0), "{method}: {weights:?}");
        report["score"].as_f64().unwrap()
    };
    let exact = score("simplex");
    for method in ["em", "uniform", "best", "greedy", "pseudo-bma", "pseudo-bma+"] {
        assert!(score(method) <= exact + 1e-12, "{method}");
    }
    folder.refuses_naming(&["weigh", "d.csv", "--method", "non-negative"], &["non-negative"]);
}

#[test]
fn the_keys_of_the_json_report() {
    let report = Folder::with("d.csv", DENSITIES).json(&["weigh", "d.csv"]);
    let top = [
        "best",
        "converged",
        "cross_validated",
        "errors",
        "gain_over_best",
        "gain_over_uniform",
        "gap",
        "interchangeable",
        "iterations",
        "members",
        "method",
        "rows",
        "score",
        "score_se",
        "task",
        "uniform",
        "uninformative_rows",
    ];
    assert_eq!(keys(&report), top);
    assert_eq!(
        keys(&report["members"][0]),
        ["beyond_resamples", "interval", "loo_loss", "name", "score", "score_se", "se", "weight"]
    );
    assert_eq!(keys(&report["gain_over_best"]), ["mean", "se"]);
    assert_eq!(keys(&report["gain_over_uniform"]), ["mean", "se"]);
    assert_eq!(report["members"][2]["name"], "c");
}

#[test]
fn standard_input_and_the_number_of_threads_change_nothing() {
    let folder = Folder::with("d.csv", DENSITIES);
    let expected = folder.succeeds(&["weigh", "d.csv", "--threads", "1", "--format", "json"]);
    let two = folder.succeeds(&["weigh", "d.csv", "--threads", "2", "--format", "json"]);
    assert_eq!(two, expected);
    let piped = folder.piped(&["weigh", "-", "--format", "json"], DENSITIES);
    assert_eq!((piped.code, piped.stdout), (0, expected));
}

#[test]
fn every_verb_has_help_with_examples() {
    let folder = Folder::new();
    for verb in
        ["weigh", "fit", "predict", "score", "sample", "compare", "generate", "inspect", "learners"]
    {
        let help = folder.succeeds(&[verb, "--help"]);
        assert!(help.contains("Example") && help.contains(&format!("dolmen {verb}")), "{help}");
    }
}

#[test]
fn columns_that_are_no_class_of_a_member_are_named() {
    let rows: Vec<String> =
        (0..20).map(|i| format!("{},0.3,0.7,0.6,0.4,{i}", ["a", "b"][i % 2])).collect();
    let folder = Folder::with("c.csv", format!("y,m:a,m:b,n:a,n:b,x\n{}\n", rows.join("\n")));
    let weigh = ["weigh", "c.csv", "--target", "y"];
    let told = folder.dolmen(&weigh).stderr;
    for words in ["column 'x'", "member:class", "--drop 'x'", "--inputs 'x'"] {
        assert!(told.contains(words), "{told}");
    }
    let dropped = [&weigh[..], &["--drop", "x", "--drop", "m:a"]].concat();
    folder.refuses_naming(&dropped, &["no column 'm:a'", "others of 'm'"]);
    folder.succeeds(&[&weigh[..], &["--drop", "x"]].concat());
}
