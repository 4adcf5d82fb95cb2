//! Model files and new rows that do not fit, and places that cannot be written to.

use std::fs;

use crate::folder::{Folder, IRIS};

/// A folder with a small density `d.dolmen` and a classifier `c.dolmen`.
fn models() -> Folder {
    let folder = Folder::new();
    folder.succeeds(&["fit", IRIS, "-q", "--model", "gaussian", "-o", "d.dolmen"]);
    let classifier = ["fit", IRIS, "--target", "Species", "--model", "bayes(density=gaussian)"];
    folder.succeeds(&[&classifier[..], &["-o", "c.dolmen"]].concat());
    folder
}

/// What every verb that reads a model says of this one.
fn refused(folder: &Folder, model: &str, words: &[&str]) {
    for verb in ["predict", "score"] {
        folder.refuses_naming(&[verb, model, IRIS], words);
    }
    folder.refuses_naming(&["sample", model], words);
    folder.refuses_naming(&["predict", model, IRIS, "-o", "p.csv"], words);
}

#[test]
fn truncated_foreign_newer_and_damaged_model_files() {
    let folder = models();
    let whole = fs::read(folder.path("d.dolmen")).unwrap();
    for length in [3, 6, 9, 13, 14, whole.len() / 2, whole.len() - 1] {
        folder.write("t.dolmen", &whole[..length]);
        refused(&folder, "t.dolmen", &["t.dolmen", "truncated"]);
    }
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    folder.write("damaged.dolmen", damaged);
    refused(&folder, "damaged.dolmen", &["damaged.dolmen", "damaged"]);
    let mut newer = whole;
    newer[6..10].copy_from_slice(&9_u32.to_le_bytes());
    folder.write("newer.dolmen", newer);
    refused(&folder, "newer.dolmen", &["newer.dolmen", "version 9"]);
    folder.write("empty.dolmen", "");
    folder.write("table.csv", "a,b\n1,2\n");
    for foreign in ["empty.dolmen", "table.csv"] {
        refused(&folder, foreign, &[foreign, "not a Dolmen model file"]);
    }
    refused(&folder, "nowhere.dolmen", &["nowhere.dolmen"]);
}

#[test]
fn new_rows_that_do_not_fit_the_model() {
    let folder = models();
    let header = "Sepal.Length,Sepal.Width,Petal.Length,Petal.Width,Species\n";
    folder.write("short.csv", "Sepal.Length,Sepal.Width,Petal.Length,Species\n5,3,1,setosa\n");
    folder.write("text.csv", format!("{header}5,3,1,0.2,setosa\n5,wide,1,0.2,setosa\n"));
    folder.write("inf.csv", format!("{header}5,3,1,inf,setosa\n"));
    folder.write("none.csv", header);
    for model in ["c.dolmen", "d.dolmen"] {
        for verb in ["predict", "score"] {
            let refuse = |file: &str, words: &[&str]| {
                folder.refuses_naming(&[verb, model, file], &[&[file], words].concat());
            };
            refuse("short.csv", &["Petal.Width"]);
            refuse("text.csv", &["row 2", "column 'Sepal.Width'", "'wide'"]);
            refuse("inf.csv", &["row 1", "column 'Petal.Width'"]);
            refuse("none.csv", &["no rows"]);
            refuse("nowhere.csv", &[]);
        }
    }
    folder.refuses_naming(&["sample", "c.dolmen"], &["c.dolmen", "densities"]);
    folder.refuses(&["sample", "d.dolmen", "--rows", "-1"]);
}

#[test]
fn truth_that_does_not_fit_the_model() {
    let folder = models();
    let header = "Sepal.Length,Sepal.Width,Petal.Length,Petal.Width";
    folder.write("without.csv", format!("{header}\n5,3,1,0.2\n"));
    folder.write("gap.csv", format!("{header},Species\n5,3,1,0.2,setosa\n5,3,1,0.2,\n"));
    folder.write("rose.csv", format!("{header},Species\n5,3,1,0.2,setosa\n5,3,1,0.2,rose\n"));
    let refuse = |file: &str, words: &[&str]| {
        folder.refuses_naming(&["score", "c.dolmen", file], &[&[file], words].concat());
    };
    refuse("without.csv", &["Species"]);
    let gap = folder.dolmen(&["score", "c.dolmen", "gap.csv"]);
    assert!(gap.code == 0 && gap.stderr.contains("1 rows without a target"), "{}", gap.stderr);
    refuse("rose.csv", &["column 'Species'"]);
    // Prediction needs no truth.
    assert_eq!(folder.succeeds(&["predict", "c.dolmen", "without.csv"]).lines().count(), 2);
}

#[test]
fn an_unseen_category_is_none_of_the_known_ones() {
    let mut text = String::from("x,colour,t\n");
    let row = |i: usize| format!("{i},{},{}\n", ["red", "blue"][i % 2], i % 3 % 2);
    text.extend((0..30).map(row));
    let folder = Folder::with("d.csv", text);
    folder.write("new.csv", "x,colour\n1,green\n2,red\n");
    let fit = ["fit", "d.csv", "--target", "t", "--task", "classify", "-o", "m.dolmen"];
    folder.succeeds(&[&fit[..], &["--model", "class-frequencies"]].concat());
    assert_eq!(folder.succeeds(&["predict", "m.dolmen", "new.csv"]).lines().count(), 3);
    // A density says that it wants numbers, and where there are none.
    folder.refuses_naming(
        &[
            "fit",
            "d.csv",
            "--target",
            "t",
            "--task",
            "classify",
            "--model",
            "bayes(density=gaussian)",
        ],
        &["bayes(density=gaussian)", "column 'colour'"],
    );
}

#[test]
fn places_that_cannot_be_written_to() {
    let folder = models();
    folder.write("file", "old");
    let mut places = vec!["nowhere/out", "file/out"];
    if cfg!(target_os = "linux") {
        // Read-only for everyone, the superuser too.
        places.push("/proc/out");
    }
    for place in places {
        for arguments in [
            vec!["fit", IRIS, "-q", "--model", "gaussian", "-o"],
            vec!["fit", IRIS, "-q", "--model", "gaussian", "--oos"],
            vec!["predict", "c.dolmen", IRIS, "-o"],
        ] {
            folder.refuses_naming(&[&arguments[..], &[place]].concat(), &[place]);
        }
    }
    fs::create_dir(folder.path("folder")).unwrap();
    folder.refuses_naming(&["predict", "c.dolmen", IRIS, "-o", "folder"], &["folder"]);
    assert_eq!(folder.read("file"), "old");
}

#[test]
fn a_refused_fit_leaves_the_old_model() {
    let folder = models();
    let before = fs::read(folder.path("d.dolmen")).unwrap();
    folder.refuses(&["fit", IRIS, "--model", "kernel(bandwith=1)", "-o", "d.dolmen"]);
    folder.refuses(&["fit", IRIS, "--folds", "1000", "-o", "d.dolmen"]);
    assert_eq!(fs::read(folder.path("d.dolmen")).unwrap(), before);
}
