//! Files of many blocks: predicted and scored as if they were read at once.

use std::fmt::Write;

use serde_json::Value;

use crate::folder::Folder;

/// More rows than a block has.
const ROWS: usize = 150_000;

/// A number, a category and a class; some cells are missing, some categories new from a row on.
fn rows(range: std::ops::Range<usize>, new_from: usize) -> String {
    let mut text = String::from("id,x,colour,class\n");
    for i in range {
        let x = if i % 11 == 5 { "NA".into() } else { format!("{:.4}", (i as f64 * 0.37).sin()) };
        let colour =
            if i >= new_from { format!("new{}", i % 3) } else { ["red", "blue"][i % 2].into() };
        let class = if i % 3 == 0 { "yes" } else { "no" };
        writeln!(text, "{i:07},{x},{colour},{class}").unwrap();
    }
    text
}

fn fitted() -> Folder {
    let folder = Folder::with("train.csv", rows(0..300, usize::MAX));
    let members = ["--model", "naive-bayes", "--model", "class-frequencies", "--keep-all"];
    let fit = ["fit", "train.csv", "-q", "--target", "class", "--drop", "id", "--folds", "2"];
    folder.succeeds(&[&fit[..], &members, &["-o", "m.dolmen", "--keep-stack"]].concat());
    folder
}

#[test]
fn many_blocks_are_predicted_like_one() {
    let folder = fitted();
    let new_from = ROWS - 1000;
    folder.write("all.csv", rows(0..ROWS, new_from));
    let predict = |data: &str| {
        let with = ["predict", "m.dolmen", data, "--with", "id", "--members"];
        folder.dolmen(&with)
    };
    let whole = predict("all.csv");
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(whole.stderr.contains("1000 rows hold a category"), "{}", whole.stderr);
    assert!(whole.stderr.contains("'new0', 'new1', 'new2'"), "{}", whole.stderr);
    // The rows a few at a time, each time by a program of its own.
    let mut parts = String::new();
    for (k, first) in (0..ROWS).step_by(50_000).enumerate() {
        folder.write(&format!("part-{k}.csv"), rows(first..first + 50_000, new_from));
        let part = predict(&format!("part-{k}.csv")).stdout;
        parts.push_str(if k == 0 { &part } else { part.split_once('\n').unwrap().1 });
    }
    assert!(whole.stdout == parts, "the predictions differ");
    assert!(predict("part-?.csv").stdout == parts, "the predictions differ");
    // Identifiers stay texts in forms with types, although those of some blocks would be numbers.
    folder.write("short.csv", rows(0..3, usize::MAX));
    folder.succeeds(&["predict", "m.dolmen", "all.csv", "--with", "id", "-o", "p.json", "-q"]);
    let made: Value = serde_json::from_str(&folder.read("p.json")).unwrap();
    assert_eq!(made.as_array().unwrap().len(), ROWS);
    assert_eq!((&made[0]["id"], &made[ROWS - 1]["id"]), (&"0000000".into(), &"0149999".into()));
}

#[test]
fn folders_of_parquet_are_data() {
    let folder = fitted();
    folder.write("all.csv", rows(0..ROWS, usize::MAX));
    let whole = folder.succeeds(&["predict", "m.dolmen", "all.csv"]);
    std::fs::create_dir(folder.path("data")).unwrap();
    for (k, (first, last)) in
        [(0, 70_000), (70_000, 70_001), (70_001, ROWS)].into_iter().enumerate()
    {
        folder.write("part.csv", rows(first..last, usize::MAX));
        let name = format!("data/part-{k}.parquet");
        // `predict --with` writes what it reads.
        let with = ["--with", "x", "--with", "colour", "--with", "class", "-o", &name, "-q"];
        folder.succeeds(&[&["predict", "m.dolmen", "part.csv"], &with[..]].concat());
    }
    assert!(folder.succeeds(&["predict", "m.dolmen", "data"]) == whole, "the predictions differ");
    let pattern = folder.succeeds(&["predict", "m.dolmen", "data/part-*.parquet"]);
    assert!(pattern == whole, "the predictions differ");
    let scored = |data: &str| folder.succeeds(&["score", "m.dolmen", data, "--format", "json"]);
    assert_eq!(scored("data"), scored("all.csv"));
    // What is read is not written to.
    let refused = ["predict", "m.dolmen", "data", "-o", "data/part-1.parquet"];
    folder.refuses_naming(&refused, &["part-1.parquet", "overwrite"]);
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.refuses_naming(&["score", "m.dolmen", "empty"], &["empty", "no Parquet files"]);
}

#[test]
fn memory_bounds_what_is_read_and_kept() {
    let folder = fitted();
    folder.write("all.csv", rows(0..5000, usize::MAX));
    let (predict, score) = (["predict", "m.dolmen", "all.csv"], ["score", "m.dolmen", "all.csv"]);
    let whole = folder.succeeds(&predict);
    let little = ["--memory", "200K"];
    assert_eq!(folder.succeeds(&[&predict[..], &little].concat()), whole);
    let scored = folder.json(&score);
    let bounded = folder.dolmen(&[&score[..], &little, &["--format", "json"]].concat());
    assert!(bounded.stderr.contains("auc ranks all rows"), "{}", bounded.stderr);
    let bounded: Value = serde_json::from_str(&bounded.stdout).unwrap();
    assert!(scored["figures"]["auc"].is_number() && bounded["figures"]["auc"].is_null());
    let losses = [&scored, &bounded].map(|of| of["figures"]["log_loss"].as_f64().unwrap());
    assert!((losses[0] - losses[1]).abs() < 1e-12, "{losses:?}");
    for verb in [&predict[..], &score[..]] {
        let told = folder.dolmen(&[verb, &["--memory", "3K"]].concat()).stderr;
        assert!(told.contains("all.csv"), "{told}");
        let enough = told.split("--memory ").nth(1).unwrap().split(' ').next().unwrap();
        folder.succeeds(&[verb, &["--memory", enough]].concat());
        folder.refuses_naming(&[verb, &["--memory", "much"]].concat(), &["memory", "'much'"]);
    }
}

#[test]
fn errors_in_late_blocks_name_the_row_and_leave_no_file() {
    let folder = fitted();
    let bad = rows(0..100_000, usize::MAX) + "0100000,ten,red,yes\n";
    folder.write("bad.csv", bad);
    let predict = ["predict", "m.dolmen", "bad.csv", "-o", "p.csv"];
    folder.refuses_naming(&predict, &["bad.csv", "row 100001", "'x'", "'ten'"]);
    assert!(!folder.names().iter().any(|name| name.contains("p.csv")));
    folder.write("infinite.csv", rows(0..100_000, usize::MAX) + "0100000,inf,red,maybe\n");
    folder.refuses_naming(
        &["predict", "m.dolmen", "infinite.csv", "-o", "p.csv"],
        &["row 100001", "infinite"],
    );
    folder.write("class.csv", rows(0..100_000, usize::MAX) + ",1,red,\n,1,red,maybe\n");
    folder.refuses_naming(&["score", "m.dolmen", "class.csv"], &["row 100002", "'maybe'"]);
}

#[test]
fn rows_without_truth_are_left_out_block_by_block() {
    let folder = fitted();
    let known = rows(0..80_000, usize::MAX);
    let unknown = (0..70_000).map(|i| format!("{i},0.5,red,\n")).collect::<Vec<String>>().concat();
    folder.write("known.csv", &known);
    folder.write("some.csv", known + &unknown);
    let score = |data: &str| folder.dolmen(&["score", "m.dolmen", data, "--format", "json"]);
    let (some, all) = (score("some.csv"), score("known.csv"));
    assert!(some.stderr.contains("70000 rows without a target are left out"), "{}", some.stderr);
    assert_eq!(some.stdout, all.stdout);
    folder.write("none.csv", format!("id,x,colour,class\n{unknown}"));
    folder.refuses_naming(&["score", "m.dolmen", "none.csv"], &["row 1", "'class'", "missing"]);
}

/// Ten times the rows take hardly more memory: all at once they would take 64 MB more.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_rows() {
    let folder = fitted();
    let some = rows(0..100_000, usize::MAX);
    let more = some.split_once('\n').unwrap().1.repeat(9);
    folder.write("some.csv", &some);
    folder.write("all.csv", some + &more);
    let peak = |data: &str| {
        let program = env!("CARGO_BIN_EXE_dolmen");
        let command = format!(
            "{program} predict m.dolmen {data} --members -o p.csv -q --threads 2 & pid=$!
            while p=$(grep VmHWM /proc/$pid/status | tr -dc 0-9); [ -n \"$p\" ]; do peak=$p; sleep 0.01; done
            echo $peak"
        );
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &command]).current_dir(folder.path("")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<f64>().unwrap()
    };
    let (some, all) = (peak("some.csv"), peak("all.csv"));
    assert!(all < some + 20e3, "{some} kB for a tenth of the rows, {all} kB for all");
}

/// Predictions of more rows than a block has, in three forms; the weights, scores and gains are those of a file read at once.
#[test]
fn predictions_in_blocks_have_the_weights_of_all_rows() {
    let folder = Folder::new();
    let wave = |i: usize, k: usize| ((i * k % 1009) as f64 / 1009.0 - 0.5) * 2.0;
    let (mut densities, mut classes, mut numbers) = (
        String::from("w,a,b,c\n"),
        String::from("truth,a:no,a:yes,b:no,b:yes\n"),
        String::from("y,near,far,other\n"),
    );
    for i in 0..ROWS {
        let (u, v) = (wave(i, 7919), wave(i, 104_729));
        writeln!(densities, "{},{},{},{}", 1 + i % 3, -u * u, -0.5 - v * v, -1.0 + u * v).unwrap();
        let p = |s: f64| 1.0 / (1.0 + (-s).exp());
        let truth = if u + 0.5 * v > 0.0 { "yes" } else { "no" };
        let (a, b) = (p(2.0 * u), p(v + 0.3));
        writeln!(classes, "{truth},{},{a},{},{b}", 1.0 - a, 1.0 - b).unwrap();
        writeln!(numbers, "{},{},{},{}", u + v, u, v + 0.2, u - v).unwrap();
    }
    folder.write("d.csv", densities);
    folder.write("c.csv", classes);
    folder.write("n.csv", numbers);
    let forms: [&[&str]; 7] = [
        &["weigh", "d.csv", "--log", "--weights", "w"],
        &["weigh", "d.csv", "--log", "--weights", "w", "--prior", "1000"],
        &["weigh", "d.csv", "--log", "--weights", "w", "--method", "em"],
        &["weigh", "c.csv", "--target", "truth"],
        &["weigh", "n.csv", "--target", "y"],
        &["weigh", "n.csv", "--target", "y", "--method", "non-negative"],
        &["weigh", "n.csv", "--target", "y", "--method", "best"],
    ];
    for form in forms {
        let whole = folder.json(&[form, &["-q", "-o", "whole.csv"]].concat());
        let blocks = [form, &["--memory", "9M", "--format", "json", "-o", "blocks.csv"]].concat();
        let told = folder.dolmen(&blocks);
        assert!(told.stderr.contains("block by block"), "{}", told.stderr);
        let blocks: Value = serde_json::from_str(&told.stdout).unwrap();
        let close = |a: &Value, b: &Value, tolerance: f64| {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= tolerance, "{form:?}: {a} {b}");
        };
        close(&blocks["score"], &whole["score"], 1e-9);
        assert_eq!((&blocks["rows"], &blocks["best"]), (&whole["rows"], &whole["best"]));
        for gain in ["gain_over_best", "gain_over_uniform"] {
            close(&blocks[gain]["mean"], &whole[gain]["mean"], 1e-9);
            close(&blocks[gain]["se"], &whole[gain]["se"], 1e-9);
        }
        for (own, all) in
            blocks["members"].as_array().unwrap().iter().zip(whole["members"].as_array().unwrap())
        {
            let within = if form.contains(&"em") { 1e-6 } else { 1e-8 };
            close(&own["weight"], &all["weight"], within);
            close(&own["score"], &all["score"], 1e-9);
            // The sample has all rows, so that nothing is narrowed.
            match own["interval"].as_array() {
                Some(ends) => ends
                    .iter()
                    .zip(all["interval"].as_array().unwrap())
                    .for_each(|(own, all)| close(own, all, 1e-5)),
                None => assert!(all["interval"].is_null() || form.contains(&"best"), "{form:?}"),
            }
        }
        let (own, all) = (folder.read("blocks.csv"), folder.read("whole.csv"));
        assert_eq!(own.lines().count(), ROWS + 1);
        assert_eq!(own.lines().next(), all.lines().next());
    }
    let pooled = ["weigh", "c.csv", "--target", "truth", "--method", "log-pool", "-q"];
    let whole = folder.json(&pooled);
    let blocks = folder.json(&[&pooled[..], &["--memory", "9M", "-o", "pooled.csv"]].concat());
    for (own, all) in
        blocks["members"].as_array().unwrap().iter().zip(whole["members"].as_array().unwrap())
    {
        let (a, b) = (own["weight"].as_f64().unwrap(), all["weight"].as_f64().unwrap());
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
    assert_eq!(folder.read("pooled.csv").lines().count(), ROWS + 1);
    let refused = ["weigh", "n.csv", "--target", "y", "--memory", "9M"];
    let unknown = folder.dolmen(&[&refused[..], &["--method", "simplx"]].concat()).stderr;
    assert!(unknown.contains("simplx") && !unknown.contains("more memory"), "{unknown}");
    folder.refuses_naming(
        &[&refused[..], &["--method", "ridge"]].concat(),
        &["method", "block by block"],
    );
    folder.refuses_naming(&[&refused[..5], &["much"]].concat(), &["memory", "'much'"]);
}

/// The matrix of a fit in blocks is kept, read whole and block by block; a file that is there is not written over.
#[test]
fn the_matrix_of_blocks_is_kept() {
    let folder = Folder::new();
    // The class hangs on what is told of it: of members that say the same any weights would be right.
    let mut text = String::from("x,colour,class\n");
    for i in 0..ROWS {
        let x = (i as f64 * 0.37).sin();
        let class = if x + (i as f64 * 1.7).cos() > 0.0 { "yes" } else { "no" };
        writeln!(text, "{x:.4},{},{class}", ["red", "blue"][i % 2]).unwrap();
    }
    folder.write("d.csv", text);
    let members = ["--model", "naive-bayes", "--model", "class-frequencies"];
    let fit = ["fit", "d.csv", "--target", "class", "--folds", "2", "--combiner", "simplex"];
    let fit = [&fit[..], &members, &["--memory", "7M", "--oos", "m.parquet"]].concat();
    let told = folder.dolmen(&fit);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.contains("block by block"), "{}", told.stderr);
    // What comes from the sample is told where it stands.
    let of_sample = ["loss without (of the sample)", "rows held out (of the sample)"];
    for words in of_sample.iter().chain(&["\nsample         from all rows come the weights"]) {
        assert!(told.stdout.contains(words), "{}", told.stdout);
    }
    let fitted = folder.json(&[&fit[..fit.len() - 1], &["again.parquet"]].concat());
    let weigh = ["weigh", "m.parquet", "--errors", "none", "-q"];
    let whole = folder.json(&weigh);
    let blocks = folder.json(&[&weigh[..], &["--memory", "10M"]].concat());
    for weighed in [&whole, &blocks] {
        assert_eq!(weighed["rows"], ROWS);
        let both = weighed["members"]
            .as_array()
            .unwrap()
            .iter()
            .zip(fitted["members"].as_array().unwrap());
        for (own, fitted) in both {
            assert_eq!(own["name"], fitted["name"]);
            let (a, b) = (own["weight"].as_f64().unwrap(), fitted["weight"].as_f64().unwrap());
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
    let before = std::fs::read(folder.path("m.parquet")).unwrap();
    folder.refuses_naming(&fit, &["m.parquet", "block by block", "take up a matrix"]);
    let told = folder.dolmen(&fit).stderr;
    assert!(told.contains("hint: name another file") && told.contains("weigh m.parquet"), "{told}");
    assert_eq!(std::fs::read(folder.path("m.parquet")).unwrap(), before);
}

/// What is wrong with one of many files names that file.
#[test]
fn bad_files_in_a_folder_are_named() {
    let folder = fitted();
    let make = |name: &str, text: &str, columns: &[&str]| {
        folder.write("part.csv", text);
        let with: Vec<&str> = columns.iter().flat_map(|column| ["--with", column]).collect();
        folder.succeeds(
            &[&["predict", "m.dolmen", "part.csv", "-q", "-o", name], &with[..]].concat(),
        );
    };
    let text = rows(0..400, usize::MAX);
    std::fs::create_dir(folder.path("data")).unwrap();
    make("data/part-1.parquet", &text, &["x", "colour", "class"]);
    let fit = [
        "fit",
        "data",
        "-q",
        "--target",
        "class",
        "--keep",
        "x",
        "--keep",
        "colour",
        "--model",
        "naive-bayes",
        "--alone",
    ];
    let refused = |bad: &str, naming: &[&str]| {
        for memory in [None, Some("50K")] {
            let memory: Vec<&str> = memory.map_or(Vec::new(), |memory| vec!["--memory", memory]);
            folder.refuses_naming(&[&fit[..], &memory].concat(), naming);
        }
        folder.refuses_naming(&["score", "m.dolmen", "data"], naming);
        std::fs::remove_file(folder.path(bad)).unwrap();
    };
    let bad = "data/part-2.parquet";
    make(bad, &text, &["colour", "class"]);
    refused(bad, &["part-2.parquet", "'x'"]);
    folder.write(bad, "");
    refused(bad, &["part-2.parquet"]);
    let whole = std::fs::read(folder.path("data/part-1.parquet")).unwrap();
    std::fs::write(folder.path(bad), &whole[..whole.len() / 2]).unwrap();
    refused(bad, &["part-2.parquet"]);
    folder.refuses_naming(&["fit", "data/none-*.parquet"], &["none-*.parquet", "pattern"]);
    // Memory that cannot hold the blocks.
    folder
        .refuses_naming(&[&fit[..], &["--memory", "10K"]].concat(), &["data", "memory are needed"]);
    folder.write("all.csv", rows(0..ROWS, usize::MAX));
    let little = ["fit", "all.csv", "--target", "class", "--memory", "1M"];
    folder.refuses_naming(&little, &["all.csv", "memory are needed"]);
    // The hint names a memory that is enough; bytes are told where there are few.
    let fit = |memory: &str| {
        let few = ["--target", "class", "--model", "naive-bayes", "--alone", "--memory", memory];
        folder.dolmen(&[&["fit", "all.csv"], &few[..]].concat())
    };
    let told = fit("10").stderr;
    assert!(told.contains("but 10 bytes can be had"), "{told}");
    let enough = told.split("--memory ").nth(1).unwrap().split(' ').next().unwrap();
    let done = fit(enough);
    assert_eq!(done.code, 0, "{enough}: {}", done.stderr);
    // The same columns in another order.
    for name in ["one.csv", "two.csv"] {
        let text = if name == "one.csv" { "x,y\n1,2\n3,4\n" } else { "y,x\n1,2\n3,4\n" };
        folder.write(&format!("order-{name}"), text);
    }
    let ordered = folder.dolmen(&["fit", "order-*.csv", "--model", "gaussian", "--alone"]).stderr;
    let words = ["order-two.csv", "another order", "hint: ", "in the order of ./order-one.csv"];
    assert!(words.iter().all(|word| ordered.contains(word)), "{ordered}");
}

/// A cell that cannot be used is named by its file and by its row there, whether the files are read whole or block by block.
#[test]
fn bad_cells_of_many_files_are_named_in_their_file() {
    let text = |bad: &str| {
        let row = |i: usize| {
            let x = if i == 6 { bad.into() } else { format!("{}", i * 37 % 1000) };
            format!("{x},{},{}\n", i * 91 % 1000, i * 53 % 997)
        };
        String::from("x,y,z\n") + &(0..40_000).map(row).collect::<String>()
    };
    let folder = Folder::with("part-1.csv", text("3"));
    let fit = |memory: &str, more: &[&str]| {
        let fit = ["fit", "part-*.csv", "--model", "gaussian", "--alone"];
        folder.dolmen(&[&fit[..], &["--memory", memory], more].concat()).stderr
    };
    folder.write("part-2.csv", text("3"));
    assert!(fit("6M", &[]).contains("block by block"), "6M are enough to hold all rows");
    folder.write("part-2.csv", text("inf"));
    for memory in ["6M", "1G"] {
        let told = fit(memory, &[]);
        assert!(told.contains("part-2.csv, row 7, column 'x'"), "{memory}: {told}");
    }
    folder.write("part-2.csv", text("-4"));
    for memory in ["6M", "1G"] {
        let told = fit(memory, &["--weights", "x"]);
        assert!(told.contains("part-2.csv, row 7"), "{memory}: {told}");
    }
}
