//! The examples in the help of every verb: each is run as it stands there, in a shell.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::folder::Folder;

/// Every verb with examples, and the verbs below them.
const VERBS: [&[&str]; 18] = [
    &["demo"],
    &["inspect"],
    &["fit"],
    &["predict"],
    &["score"],
    &["sample"],
    &["split"],
    &["weigh"],
    &["compare"],
    &["plot"],
    &["report"],
    &["advise"],
    &["generate"],
    &["generate", "example"],
    &["generate", "network"],
    &["learners"],
    &["reproduce"],
    &[],
];

/// Every n-th row of a carried data set: examples are about what is done, not about how long it takes.
fn some_rows(folder: &Folder, name: &str, step: usize) -> String {
    let whole = folder.succeeds(&["generate", "example", name]);
    let mut lines = whole.lines();
    let mut text = format!("{}\n", lines.next().unwrap());
    lines.step_by(step).for_each(|line| writeln!(text, "{line}").unwrap());
    text
}

/// A file made of rows of numbers.
fn made(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    (0..rows).for_each(|i| writeln!(text, "{}", row(i)).unwrap());
    text
}

/// A number between 0 and 1 that looks random.
fn noise(i: usize, stream: usize) -> f64 {
    ((i * 7919 + stream * 104_729 + 13) % 997) as f64 / 997.0
}

/// A folder with the files that the examples name.
fn prepared() -> Folder {
    let folder = Folder::new();
    for (name, step) in [("iris", 3), ("penguins", 4), ("geyser", 4), ("sacramento", 13)] {
        folder.write(&format!("{name}.csv"), some_rows(&folder, name, step));
    }
    folder.write("new.csv", some_rows(&folder, "geyser", 50));
    folder.write("test.csv", some_rows(&folder, "geyser", 20));
    folder.write("sold.csv", some_rows(&folder, "sacramento", 100));
    let iris = folder.read("iris.csv");
    let mut flowers = String::new();
    for (i, line) in iris.lines().enumerate() {
        let name = if i == 0 { "name".to_string() } else { format!("flower {i}") };
        writeln!(flowers, "{name},{line}").unwrap();
    }
    folder.write("flowers.csv", flowers);
    let priced =
        |i: usize| format!("h{i},{},{}", i % 17, 100.0 + 5.0 * noise(i, 1) + (i % 17) as f64);
    folder.write("houses.csv", made("id,rooms,price", 60, priced));
    let visit = |i: usize| {
        let ill = if noise(i, 2) > 0.5 { "yes" } else { "no" };
        format!("p{},2024-01-{:02},{:.3},{ill}", i % 20, i % 28 + 1, noise(i, 3))
    };
    folder.write("visits.csv", made("patient,day,fever,ill", 150, visit));
    let densities = |i: usize| format!("{},{}", 0.1 + noise(i, 4), 0.1 + noise(i, 5));
    folder.write("densities.csv", made("a,b", 50, densities));
    folder.write("joints.csv", by_class(|p| p.ln() - 2.0));
    folder.write("probabilities.csv", by_class(|p| p));
    let forecast = |i: usize| {
        let truth = 10.0 * noise(i, 6);
        format!("{truth},{},{},{}", truth + noise(i, 7), truth - 2.0 * noise(i, 8), i % 24)
    };
    folder.write("forecasts.csv", made("demand,near,far,hour", 60, forecast));
    folder.write("tomorrow.csv", made("near,far,hour", 24, |i| format!("{i},{},{i}", i + 1)));
    std::fs::create_dir(folder.path("sets")).unwrap();
    folder.write("sets/iris.csv", &iris);
    let quick = ["-q", "--folds", "2", "--check", "matrix"];
    for (data, target, model) in [
        ("iris.csv", Some("Species"), "naive-bayes"),
        ("geyser.csv", None, "gaussian"),
        ("sacramento.csv", Some("price"), "ridge"),
        ("penguins.csv", Some("species"), "naive-bayes"),
    ] {
        let stem = data.strip_suffix(".csv").unwrap();
        let output = format!("{stem}.dolmen");
        let target: Vec<&str> = target.map_or(Vec::new(), |name| vec!["--target", name]);
        let fit = ["fit", data, "--model", model, "-o", &output];
        folder.succeeds(&[&fit[..], &target, &quick].concat());
    }
    folder.write("logs.csv", made("a,b", 50, |i| format!("{},{}", -noise(i, 4), -noise(i, 5))));
    let split = ["split", "logs.csv", "--test", "1", "--train-output", "logdensities.parquet"];
    folder.succeeds(&[&split[..], &["--test-output", "one.csv"]].concat());
    folder
}

/// Class probabilities of two members for three species, or a function of them.
fn by_class(cell: impl Fn(f64) -> f64) -> String {
    let species = ["setosa", "versicolor", "virginica"];
    let mut header = String::from("species");
    for member in ["forest", "bayes"] {
        species.iter().for_each(|class| write!(header, ",{member}:{class}").unwrap());
    }
    made(&header, 60, |i| {
        let mut row = species[i % 3].to_string();
        for stream in [9, 10] {
            let own = 0.4 + 0.5 * noise(i, stream);
            for class in 0..3 {
                let p = if class == i % 3 { own } else { (1.0 - own) / 2.0 };
                write!(row, ",{}", cell(p)).unwrap();
            }
        }
        row
    })
}

/// A line of this length fits every terminal, so that clap does not break it.
const LONGEST: usize = 79;

/// The commands in a help text, which may go on after a backslash.
fn commands(help: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in help.lines() {
        if line.starts_with("  dolmen ") {
            commands.push(line.trim().into());
        } else if goes_on && let Some(command) = commands.last_mut() {
            write!(command, "\n{line}").unwrap();
        } else {
            continue;
        }
        assert!(line.chars().count() <= LONGEST, "would be broken in a terminal: {line}");
        goes_on = line.ends_with('\\');
    }
    commands
}

#[test]
fn every_example_in_the_help_runs_as_it_stands() {
    let folder = prepared();
    let program = Path::new(env!("CARGO_BIN_EXE_dolmen")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for verb in VERBS {
        let help = folder.succeeds(&[verb, &["--help"]].concat());
        let examples = commands(&help);
        assert!(verb.is_empty() || !examples.is_empty(), "{verb:?} has no examples: {help}");
        for example in examples {
            let output = Command::new("sh")
                .args(["-c", &example])
                .current_dir(folder.path("."))
                .env("PATH", &path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{example}\n{said}");
            assert!(!said.contains("error:"), "{example}\n{said}");
        }
    }
}
