//! Combiners by name, the check of the stack, what is kept, calibration and intervals.

use crate::folder::{Folder, IRIS, column, keys, mean};

const NUMBERS: [&str; 7] = ["fit", IRIS, "--target", "Sepal.Length", "--drop", "Species", "-q"];
const CLASSES: [&str; 5] = ["fit", IRIS, "--target", "Species", "-q"];

fn with(base: &[&'static str], more: &[&'static str]) -> Vec<&'static str> {
    [base, more].concat()
}

#[test]
fn of_several_combiners_the_best_in_the_check_is_used() {
    let folder = Folder::new();
    let members = ["--model", "ridge(lambda=1)", "--model", "neighbours(k=5)", "--model", "mean"];
    let combiners = ["--combiner", "ridge(lambda=[0.1, 1000])", "--combiner", "uniform"];
    let fit = with(&with(&NUMBERS, &members), &combiners);
    let report = folder.json(&fit);
    let check = &report["check"];
    assert_eq!(check["nested"], true);
    assert_eq!(check["folds"], 5);
    let candidates = check["candidates"].as_array().unwrap();
    let names: Vec<&str> = candidates.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ridge(lambda=0.1)", "ridge(lambda=1000)", "uniform"]);
    assert_eq!(check["chosen"], "ridge(lambda=0.1)");
    assert_eq!(report["combiner"], "ridge(lambda=0.1)");
    let best = candidates.iter().map(|c| c["score"]["mean"].as_f64().unwrap());
    assert_eq!(best.fold(f64::NEG_INFINITY, f64::max), candidates[0]["score"]["mean"]);
    for key in ["task", "rows", "members", "score", "gain_over_best"] {
        assert!(report.get(key).is_some(), "{key}");
    }
    let text = folder.succeeds(&fit);
    assert!(text.contains("rows held out from members and weights alike (5 folds)"), "{text}");
    assert!(text.contains("used"), "{text}");
    // A model with a stacker is read back, and tells of its coefficients.
    folder.succeeds(&with(&fit, &["-o", "m.dolmen", "--keep-stack"]));
    assert!(folder.succeeds(&["inspect", "m.dolmen"]).contains("neighbours(k=5)"));
    let rmse = folder.json(&["score", "m.dolmen", IRIS])["figures"]["rmse"].as_f64().unwrap();
    assert!(rmse < 0.4, "{rmse}");
}

#[test]
fn the_best_member_takes_the_place_of_a_stack_that_is_not_better() {
    let folder = Folder::new();
    let members = ["--model", "ridge(lambda=1)", "--model", "mean", "--combiner", "uniform"];
    let fit = with(&NUMBERS, &members);
    let report = folder.json(&with(&fit, &["-o", "m.dolmen"]));
    assert_eq!(report["kept"], "ridge(lambda=1)");
    assert!(report["check"]["gain_over_best"]["mean"].as_f64().unwrap() < 0.0);
    let weights = folder.json(&["inspect", "m.dolmen"]);
    assert_eq!(weights["members"][0]["weight"], 1.0);
    assert_eq!(weights["members"].as_array().unwrap().len(), 1);
    assert!(folder.succeeds(&fit).contains("'ridge(lambda=1)' alone"));
    // A stack that is its best member has no lead to tell of.
    let same =
        with(&NUMBERS, &["--model", "ridge(lambda=1)", "--model", "mean", "--combiner", "best"]);
    let text = folder.succeeds(&same);
    assert!(
        text.contains("'ridge(lambda=1)' alone") && text.contains("one and the same"),
        "{text}"
    );
    assert!(!text.contains("is none"), "{text}");
    let kept = folder.json(&with(&fit, &["--keep-stack"]));
    assert_eq!(kept["kept"], "stack");
    let unchecked = folder.json(&with(&fit, &["--check", "none"]));
    assert!(unchecked["check"].is_null());
    assert_eq!(unchecked["kept"], "stack");
}

/// Ridge regression is for numbers: a combiner, as it was asked for as one.
#[test]
fn a_combiner_of_another_task_is_called_a_combiner() {
    let folder = Folder::new();
    let fit = with(&CLASSES, &["--model", "tree", "--combiner", "ridge"]);
    folder.refuses_naming(&fit, &["combiner must be", "classification", "ridge"]);
    assert!(folder.dolmen(&fit).stderr.contains("logistic"));
    let fit = with(&NUMBERS, &["--model", "tree", "--combiner", "logistic"]);
    folder.refuses_naming(&fit, &["combiner must be", "logistic"]);
    let fit = ["fit", IRIS, "--drop", "Species", "--combiner", "ridge", "--model", "gaussian"];
    folder.refuses_naming(&fit, &["combiner must be", "density"]);
}

#[test]
fn the_figures_people_know_stand_beside_the_score() {
    let folder = Folder::new();
    let members = ["--model", "ridge(lambda=1)", "--model", "neighbours(k=5)"];
    let fit = with(&NUMBERS, &members);
    let report = folder.json(&fit);
    for who in ["stack", "best_member", "uniform"] {
        let figures = &report["figures"][who];
        assert_eq!(keys(figures), ["mae", "r2", "rmse"]);
        let rmse = figures["rmse"]["mean"].as_f64().unwrap();
        let score = report["check"][who]["mean"].as_f64().unwrap();
        assert!((rmse * rmse + score).abs() < 1e-12);
        assert!(figures["r2"]["se"].as_f64().unwrap() > 0.0);
    }
    let text = folder.succeeds(&fit);
    let line = text.lines().find(|line| line.starts_with("rows held out")).unwrap();
    assert_eq!(line.split_whitespace().skip(3).collect::<Vec<_>>(), ["mae", "r2", "rmse"]);
    let members = ["--model", "logistic(lambda=1)", "--model", "neighbours(k=5)"];
    let report = folder.json(&with(&CLASSES, &members));
    assert_eq!(keys(&report["figures"]["stack"]), ["auc", "brier", "error", "log_loss"]);
    assert!(report["figures"]["stack"]["auc"]["se"].as_f64().unwrap() < 0.01);
    // Without a check the stack has seen the rows, and the text says so.
    let none = ["--combiner", "simplex", "--check", "none"];
    let unchecked = folder.succeeds(&with(&with(&CLASSES, &members), &none));
    assert!(unchecked.contains("rows learned from"), "{unchecked}");
}

#[test]
fn a_gain_that_is_unsure_is_told_as_such() {
    let folder = Folder::new();
    // Two members that are much the same: whatever their combination gains is chance.
    let members = ["--model", "neighbours(k=3)", "--model", "neighbours(k=5)"];
    let fit = with(&NUMBERS, &members);
    let verdict = folder.json(&fit)["check"]["verdict"].clone();
    let keyed = ["by_check", "chance", "gain", "kept", "only_member", "surety"];
    assert_eq!(keys(&verdict), keyed);
    let (mean, se) = (verdict["gain"]["mean"].as_f64(), verdict["gain"]["se"].as_f64());
    assert!(mean.unwrap() < 2.0 * se.unwrap(), "{verdict}");
    let text = folder.succeeds(&fit);
    let kept = text.lines().find(|line| line.starts_with("kept")).unwrap();
    assert!(kept.contains("the stack") && kept.contains("is unsure"), "{kept}");
    let chance = 100.0 * verdict["chance"].as_f64().unwrap();
    assert!(text.contains(&format!("comes up in {chance:.0} of 100 checks")), "{text}");
    // Equal weights stand in the table of candidates, though nobody asked for them.
    assert!(text.lines().any(|line| line.starts_with("uniform ")), "{text}");
    // A member whose lead is not clear does not take the stack's place.
    let alike = ["--model", "neighbours(k=8)", "--model", "neighbours(k=9)"];
    let text = folder.succeeds(&with(&NUMBERS, &alike));
    let kept = text.lines().find(|line| line.starts_with("kept")).unwrap();
    assert!(kept.contains("the stack") && kept.contains("is within chance"), "{kept}");
}

/// The model is written, but whoever relies on exit codes learns of it.
#[test]
fn a_combination_that_missed_its_tolerance_is_told_first_and_by_the_exit_code() {
    let folder = Folder::new();
    let members = ["--model", "logistic(lambda=1)", "--model", "neighbours(k=5)", "--keep-stack"];
    let combiner = ["--combiner", "logistic(lambda=0.1, iterations=1)", "-o", "m.dolmen"];
    let fit = with(&with(&CLASSES, &members), &combiner);
    let missed = folder.dolmen(&fit);
    assert_eq!(missed.code, 1, "{}", missed.stderr);
    assert!(
        missed.stdout.starts_with("NOT CONVERGED: logistic(lambda=0.1, iterations=1)"),
        "{}",
        missed.stdout
    );
    assert_eq!(folder.names(), ["m.dolmen"]);
    folder.succeeds(&with(&fit, &["--allow-unconverged"]));
}

#[test]
fn bma_is_reported_with_its_caution() {
    let folder = Folder::new();
    let members = ["--model", "ridge(lambda=1)", "--model", "mean", "--combiner", "bma"];
    let text = folder.succeeds(&with(&NUMBERS, &members));
    assert!(text.contains("selects rather than combines"), "{text}");
}

#[test]
fn probabilities_are_calibrated() {
    let folder = Folder::new();
    let members = ["--model", "forest(trees=20)", "--model", "logistic(lambda=1)"];
    for (kind, key) in [("temperature", "Temperature"), ("isotonic", "Isotonic")] {
        let fit = with(&with(&CLASSES, &members), &["--calibrate", kind, "-o", "m.dolmen"]);
        let report = folder.json(&fit);
        assert!(report["calibration"].get(key).is_some(), "{report}");
        let printed = folder.succeeds(&["predict", "m.dolmen", IRIS]);
        let classes = ["p(setosa)", "p(versicolor)", "p(virginica)"];
        let columns = classes.map(|name| column(&printed, name));
        for i in 0..150 {
            assert!((columns.iter().map(|c| c[i]).sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn intervals_come_with_fold_averages() {
    let folder = Folder::new();
    let members = ["--model", "ridge(lambda=1)", "--model", "neighbours(k=5)"];
    let ending = ["--final", "average", "--folds", "10", "-o", "m.dolmen"];
    folder.succeeds(&with(&with(&NUMBERS, &members), &ending));
    let printed = folder.succeeds(&["predict", "m.dolmen", IRIS, "--interval", "0.9"]);
    let [means, lower, upper] = ["mean", "lower", "upper"].map(|name| column(&printed, name));
    let truth = column(&std::fs::read_to_string(IRIS).unwrap(), "Sepal.Length");
    let inside = |i: usize| f64::from(u8::from((lower[i]..=upper[i]).contains(&truth[i])));
    assert!((0..150).all(|i| lower[i] < means[i] && means[i] < upper[i]));
    let share = mean(&(0..150).map(inside).collect::<Vec<_>>());
    assert!((0.84..=1.0).contains(&share), "{share}");
}

/// Noise that grows with x: local intervals follow it, constant ones do not; both hold what they promise.
#[test]
fn local_intervals_follow_the_errors() {
    let even = |i: usize, j: usize| {
        let mut z = (i as u64 * 16 + j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let rows = |from: usize, to: usize| {
        let row = |i: usize| {
            let (x, noise) = (even(i, 1), 2.0 * even(i, 2) - 1.0);
            format!("{x},{}\n", x + (0.02 + x) * noise)
        };
        "x,y\n".to_string() + &(from..to).map(row).collect::<String>()
    };
    let folder = Folder::with("train.csv", rows(0, 400));
    folder.write("test.csv", rows(400, 800));
    let widths = |kind: &'static str, ending: &'static str| {
        let fit =
            ["fit", "train.csv", "--target", "y", "-q", "--model", "ridge", "--model", "mean"];
        let more = ["--intervals", kind, "--final", ending, "-o", "m.dolmen"];
        let report = folder.json(&with(&fit, &more));
        assert_eq!(report["intervals"]["kind"], kind);
        let scored = folder.json(&["score", "m.dolmen", "test.csv"])["intervals"].clone();
        for coverage in [&report["intervals"]["coverage"], &scored] {
            let levels = coverage.as_array().unwrap();
            assert_eq!(levels.len(), 4);
            for level in levels {
                let wanted = level["level"].as_f64().unwrap();
                let measured = level["measured"]["mean"].as_f64().unwrap();
                assert!((measured - wanted).abs() < 0.08, "{kind} {ending}: {coverage}");
            }
        }
        let printed = folder.succeeds(&["predict", "m.dolmen", "test.csv", "--interval", "0.9"]);
        let [lower, upper] = ["lower", "upper"].map(|name| column(&printed, name));
        let x = column(&std::fs::read_to_string(folder.path("test.csv")).unwrap(), "x");
        let width = |wanted: &dyn Fn(f64) -> bool| {
            let rows = (0..x.len()).filter(|&i| wanted(x[i]));
            mean(&rows.map(|i| upper[i] - lower[i]).collect::<Vec<_>>())
        };
        width(&|x| x > 0.8) / width(&|x| x < 0.2)
    };
    for ending in ["refit", "average"] {
        assert!(widths("local", ending) > 2.5);
        assert!((widths("constant", ending) - 1.0).abs() < 0.1);
    }
    let text = folder.succeeds(&["score", "m.dolmen", "test.csv"]);
    assert!(text.contains("intervals") && text.contains("mean width"), "{text}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let members = ["--model", "mean", "--model", "ridge"];
    let numbers = |more: &[&'static str], words: &[&str]| {
        let all = with(&with(&NUMBERS, &members), more);
        folder.refuses_naming(&with(&all, &["-o", "m.dolmen"]), words);
    };
    numbers(&["--combiner", "simplexx"], &["simplexx", "simplex, em"]);
    numbers(&["--combiner", "log-pool"], &["log-pool", "class probabilities"]);
    numbers(&["--combiner", "ridge(lamda=1)"], &["lamda"]);
    numbers(&["--combiner", "ridge(lambda=-1)"], &["lambda"]);
    numbers(&["--combiner", "bma", "--model", "tree"], &["bma", "tree"]);
    numbers(&["--calibrate", "isotonic"], &["calibration", "class probabilities"]);
    numbers(&["--check", "nested", "--folds", "2"], &["3 folds"]);
    let local = with(&CLASSES, &["--model", "class-frequencies", "--intervals", "local"]);
    folder.refuses_naming(&local, &["intervals", "numbers"]);
    folder.succeeds(&with(&with(&NUMBERS, &members), &["-o", "m.dolmen"]));
    folder.refuses_naming(&["predict", "m.dolmen", IRIS, "--interval", "2"], &["0.9"]);
    let classes = with(&CLASSES, &["--model", "class-frequencies", "-o", "c.dolmen"]);
    folder.succeeds(&classes);
    folder.refuses_naming(&["predict", "c.dolmen", IRIS, "--interval", "0.9"], &["numbers"]);
}

/// Members without a say may be stored beside the one that is kept; it is named all the same.
#[test]
fn the_member_that_is_kept_is_named_whoever_stands_first() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--target", "Species", "--model", "tree", "--model", "logistic"];
    let [kept, all] =
        [&[][..], &["--keep-all"]].map(|more| folder.json(&[&fit[..], more].concat()));
    assert_eq!((&kept["kept"], &all["kept"]), (&"logistic".into(), &"logistic".into()));
}

#[test]
fn of_candidates_with_one_name_one_is_marked() {
    let folder = Folder::new();
    let fit =
        ["fit", IRIS, "-q", "--target", "Species", "--model", "tree", "--model", "naive-bayes"];
    let twice = ["--combiner", "simplex", "--combiner", "simplex", "--keep-stack"];
    let text = folder.succeeds(&[&fit[..], &twice].concat());
    assert_eq!(text.matches("used: the best combiner").count(), 1, "{text}");
}

#[test]
fn a_row_without_its_fold_is_named() {
    let rows: Vec<String> = (0..20)
        .map(|i| {
            format!("{i},{},{}", i % 5, if i == 7 { String::new() } else { (i % 2).to_string() })
        })
        .collect();
    let folder = Folder::with("t.csv", format!("x,y,fold\n{}\n", rows.join("\n")));
    let fit = ["fit", "t.csv", "--target", "y", "--plan", "given(column=fold)", "--model", "mean"];
    folder.refuses_naming(&fit, &["row 8", "'fold'", "the fold is missing"]);
}

#[test]
fn what_a_stack_says_of_a_row_far_out_keeps_to_a_margin() {
    let rows: String =
        (0..40).map(|i| format!("{i},{}\n", 2 * i + i % 3)).collect::<Vec<_>>().concat();
    let folder = Folder::with("line.csv", format!("x,y\n{rows}"));
    folder.write("far.csv", "x\n20\n4000\n");
    let said = |more: &[&'static str]| {
        let fit = ["fit", "line.csv", "--target", "y", "-q", "-o", "m.dolmen"];
        folder.succeeds(&with(&fit, more));
        column(&folder.succeeds(&["predict", "m.dolmen", "far.csv"]), "mean")
    };
    // The numbers reach from 0 to 78: half a width more is 117.
    let usual = said(&["--effort", "quick", "--keep-stack"]);
    assert!((30.0..50.0).contains(&usual[0]) && usual[1] <= 117.0 + 1e-9, "{usual:?}");
    let named = ["--model", "ridge", "--model", "mean", "--keep-stack"];
    assert!(said(&named)[1] > 1000.0, "members that are named have no bound");
    let held = said(&with(&named, &["--margin", "0"]));
    assert!((held[1] - 78.0).abs() < 1e-9, "{held:?}");
    let refused = folder.dolmen(&["fit", "line.csv", "--target", "y", "--margin", "-1"]);
    assert!(refused.stderr.contains("margin must be a number of at least 0"), "{}", refused.stderr);
    let refused = folder.dolmen(&with(&CLASSES, &["--effort", "quick", "--margin", "1"]));
    assert!(refused.stderr.contains("margin"), "{}", refused.stderr);
    // Nothing is fitted before that is said: the folds of a hundred boosters would take minutes.
    let slow = ["--model", "averaged(of=boost(rounds=100000), fits=1000)", "--margin", "1"];
    let refused = folder.dolmen(&with(&CLASSES, &slow));
    assert!(refused.stderr.contains("margin"), "{}", refused.stderr);
}

#[test]
fn inputs_far_out_are_held_within_reach() {
    let rows: String =
        (0..40).map(|i| format!("{i},{},{}\n", i % 7, 2 * i + i % 3)).collect::<Vec<_>>().concat();
    let folder = Folder::with("line.csv", format!("x,z,y\n{rows}"));
    // The inputs reach from 0 to 39: half a width more is 58.5.
    folder.write("far.csv", "x,z\n58.5,3\n4000,3\n-1e300,3\n-19.5,3\n");
    let said = |more: &[&'static str]| {
        let fit = ["fit", "line.csv", "--target", "y", "--keep", "x", "-q", "-o", "m.dolmen"];
        folder.succeeds(&with(&with(&fit, &["--keep-stack"]), more));
        column(&folder.succeeds(&["predict", "m.dolmen", "far.csv"]), "mean")
    };
    let usual = said(&["--effort", "quick", "--margin", "100"]);
    assert_eq!((usual[0], usual[2]), (usual[1], usual[3]), "{usual:?}");
    let named = ["--model", "ridge", "--model", "mean"];
    let free = said(&named);
    assert!(free[1] > 20.0 * free[0], "members that are named follow without end: {free:?}");
    let held = said(&with(&named, &["--reach", "0.5"]));
    assert_eq!((held[0], held[2]), (free[0], held[3]), "{held:?}");
    assert_eq!(held[0], held[1], "{held:?}");
    // Members are told as the stack asks them.
    let members = folder.succeeds(&["predict", "m.dolmen", "far.csv", "--members"]);
    let ridge = column(&members, "ridge");
    assert_eq!(ridge[0], ridge[1], "{members}");
    for wrong in ["-1", "inf", "nan"] {
        let fit = ["fit", "line.csv", "--target", "y", "--reach", wrong];
        assert!(
            folder.dolmen(&fit).stderr.contains("reach must be a number of at least 0"),
            "{wrong}"
        );
    }
    let density = folder.dolmen(&["fit", "line.csv", "--reach", "1"]);
    assert!(density.stderr.contains("reach must be left out"), "{}", density.stderr);
}

/// Rows learned from that all agree do not make the other class impossible, and what the check claims knows of it.
#[test]
fn no_class_is_impossible_for_the_usual_members() {
    let rows = |from: usize, to: usize| {
        let row = |i: usize| {
            format!("{}.{},{}\n", i % 4 * 25, i % 10, if i % 4 < 2 { "no" } else { "yes" })
        };
        (from..to).map(row).collect::<Vec<_>>().concat()
    };
    let folder = Folder::with("apart.csv", format!("x,y\n{}", rows(0, 40)));
    folder.write("odd.csv", format!("x,y\n{}0.5,yes\n", rows(40, 60)));
    let loss = |more: &[&'static str]| {
        let fit = ["fit", "apart.csv", "--target", "y", "-q", "-o", "m.dolmen"];
        let report = folder.json(&with(&fit, more));
        let score = folder.json(&["score", "m.dolmen", "odd.csv"]);
        let claimed = report["check"]["stack"]["mean"].as_f64().unwrap();
        (-claimed, score["figures"]["log_loss"].as_f64())
    };
    // 40 rows: a share of 40^-1.5 = 0.00395 of frequencies of a half.
    let (claimed, realised) = loss(&[]);
    let least = -(1.0 - 40_f64.powf(-1.5) / 2.0).ln();
    assert!(claimed >= 0.9 * least, "{claimed}");
    assert!(realised.unwrap() < -(40_f64.powf(-1.5) / 2.0).ln() / 20.0 + 0.1, "{realised:?}");
    let (surer, _) = loss(&["--doubt", "0"]);
    assert!(surer < claimed, "{surer} {claimed}");
    for wrong in ["-0.1", "1", "nan"] {
        let fit = ["fit", "apart.csv", "--target", "y", "--doubt", wrong];
        assert!(
            folder.dolmen(&fit).stderr.contains("doubt must be at least 0 and below 1"),
            "{wrong}"
        );
    }
}
