//! The forms of results: JSON from every verb, tables by extension, columns carried along, names that were misspelt.

use serde_json::Value;

use crate::folder::{Folder, IRIS, column, keys};

/// Two classes, a category and a number; an id that a number would spoil.
const SHOPS: &str = "id,size,colour,class
007,1.5,red,yes
008,2.5,blue,no
009,1,red,yes
010,3,blue,no
011,1.25,red,yes
012,2,blue,no
013,0.5,red,no
014,4,blue,yes
015,1.75,red,yes
016,2.25,blue,no
";

fn shops() -> Folder {
    let folder = Folder::with("shops.csv", SHOPS);
    let members = ["--model", "naive-bayes", "--model", "class-frequencies"];
    let fit = ["fit", "shops.csv", "-q", "--target", "class", "--drop", "id", "--folds", "2"];
    folder.succeeds(
        &[&fit[..], &members, &["-o", "shops.dolmen", "--keep-stack", "--keep-all"]].concat(),
    );
    folder
}

#[test]
fn columns_are_carried_and_members_shown() {
    let folder = shops();
    let new = "id,size,colour,class\n007,1,red,yes\n0x,2,pink,no\n9,3,teal,no\n";
    folder.write("new.csv", new);
    let with = ["predict", "shops.dolmen", "new.csv", "--with", "id", "--with", "class"];
    let outcome = folder.dolmen(&[&with[..], &["--members"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let header = outcome.stdout.lines().next().unwrap();
    assert!(header.starts_with("id,class,predicted_class,p(no),p(yes),"), "{header}");
    assert!(
        header
            .ends_with("naive-bayes:no,naive-bayes:yes,class-frequencies:no,class-frequencies:yes")
    );
    let ids: Vec<&str> = outcome.stdout.lines().skip(1).map(|line| &line[..2]).collect();
    assert_eq!(ids, ["00", "0x", "9,"]);
    assert!(outcome.stdout.contains("\n007,yes,"), "{}", outcome.stdout);
    // What the model has not seen is counted, by column.
    let expected =
        "note: column 'colour': 2 rows hold a category the model has not seen: 'pink', 'teal'";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    let quiet = folder.dolmen(&[&with[..], &["-q"]].concat());
    assert_eq!(quiet.stderr, "");
    let p = column(&outcome.stdout, "naive-bayes:no");
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
    folder.refuses_naming(&["predict", "shops.dolmen", "new.csv", "--with", "idd"], &["'idd'"]);
}

#[test]
fn tables_are_written_by_extension_and_to_stdout() {
    let folder = shops();
    let predict = ["predict", "shops.dolmen", "shops.csv", "-q"];
    let csv = folder.succeeds(&predict);
    assert_eq!(folder.succeeds(&[&predict[..], &["-o", "-"]].concat()), csv);
    folder.succeeds(&[&predict[..], &["-o", "p.csv"]].concat());
    assert_eq!(folder.read("p.csv"), csv);
    folder.succeeds(&[&predict[..], &["-o", "p.json"]].concat());
    let rows: Value = serde_json::from_str(&folder.read("p.json")).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 10);
    assert_eq!(keys(&rows[0]), ["class", "p(no)", "p(yes)"]);
    assert_eq!(rows[0]["p(no)"].as_f64().unwrap(), column(&csv, "p(no)")[0]);
    // On stdout the format says which.
    assert_eq!(folder.json(&predict), rows);
    // A file leaves stdout to what there is to tell.
    let report = folder.json(&[&predict[..], &["-o", "p.parquet"]].concat());
    assert_eq!((&report["rows"], &report["output"]), (&10.into(), &"p.parquet".into()));
    let back = folder.succeeds(&["inspect", "p.parquet", "-q"]);
    assert!(back.contains("p(yes)") && back.contains("10 rows"), "{back}");
}

#[test]
fn every_verb_speaks_json_and_infinite_numbers_survive() {
    let folder = shops();
    folder.succeeds(&[
        "fit", IRIS, "-q", "--drop", "Species", "--model", "gaussian", "-o", "g.dolmen",
    ]);
    let drawn = folder.json(&["sample", "g.dolmen", "--rows", "3"]);
    assert_eq!(drawn.as_array().unwrap().len(), 3);
    let network = ["generate", "network", "--attributes", "3", "--rows", "4"];
    assert_eq!(folder.json(&network).as_array().unwrap().len(), 4);
    for arguments in [
        &["learners"][..],
        &["inspect", "shops.csv"],
        &["inspect", "shops.dolmen"],
        &["score", "shops.dolmen", "shops.csv"],
    ] {
        folder.json(arguments);
    }
    assert_eq!(folder.json(&["generate", "example", "iris", "-o", "i.csv"])["output"], "i.csv");
    for verb in ["plot", "report"] {
        folder.refuses_naming(&[verb, "g.dolmen", "--format", "json"], &["stdout is the"]);
    }
    let described = folder.json(&["inspect", "shops.csv"]);
    assert_eq!(described["columns"][1]["min"], 0.5);
    assert_eq!(described["columns"][1]["max"], 4.0);
    assert_eq!(described["columns"][2]["levels"], 2);
    // A member that gives a row nothing scores minus infinity, which is not a missing number.
    folder.write("d.csv", "a,b\n0.5,0.2\n0,0.3\n0.4,0.4\n");
    let report = folder.json(&["weigh", "d.csv", "--errors", "none"]);
    assert_eq!(report["members"][0]["score"], "-inf");
    assert_eq!(report["members"][0]["se"], Value::Null);
}

#[test]
fn misspelt_names_are_guessed() {
    let folder = shops();
    let hint = |arguments: &[&str], hint: &str| {
        let outcome = folder.dolmen(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}");
        let line = outcome.stderr.lines().find(|line| line.starts_with("hint: "));
        assert_eq!(line, Some(format!("hint: did you mean '{hint}'?").as_str()), "{arguments:?}");
    };
    let fit = ["fit", "shops.csv", "--target", "class"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    hint(&["fit", "shops.csv", "--target", "clas"], "class");
    hint(&with(&["--model", "naive-bays"]), "naive-bayes");
    hint(&with(&["--model", "forest(tres=3)"]), "trees");
    hint(&with(&["--combiner", "log_pool"]), "log-pool");
    hint(&["learners", "kernell"], "kernel");
    hint(&["predict", "shops.dolmen", "shops.csv", "--with", "colur"], "colour");
}
