//! Models that earlier programs wrote are read for ever, and say what they said then.
//!
//! Each release that stores models in another form has a folder of them, made by `make.py` beside the folders.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::folder::Folder;

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dolmen/tests/fixtures/models");

/// How far a prediction may be from the stored one, as a share of it.
const TOLERANCE: f64 = 1e-12;
/// Networks reckon in single precision, which processors and systems round in their own ways.
const SINGLE: f64 = 1e-5;

/// A stored model, and what its folder says of it.
struct Old {
    folder: PathBuf,
    name: String,
    listed: Value,
}

impl Old {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).into_os_string().into_string().unwrap()
    }

    fn model(&self) -> String {
        self.file(&format!("{}.dolmen", self.name))
    }

    /// The table it learned from; with `.rows` that of the rows whose predictions are stored.
    fn table(&self, part: &str) -> String {
        self.file(&format!("{}{part}.csv", self.listed["table"].as_str().unwrap()))
    }

    fn samples(&self) -> bool {
        self.listed["samples"].as_bool().unwrap()
    }

    /// The stored predictions, column after column.
    fn predictions(&self) -> Map<String, Value> {
        read(&self.folder.join(format!("{}.json", self.name)))
    }

    fn tolerance(&self) -> f64 {
        let is_network = ["network", "deep-ensemble"].iter().any(|kind| self.name.contains(kind));
        if is_network { SINGLE } else { TOLERANCE }
    }
}

fn read(path: &Path) -> Map<String, Value> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What is in a folder, sorted.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// All models of all releases. A folder without models, or none at all, is a fault of the tests.
fn all() -> Vec<Old> {
    let mut models = Vec::new();
    for folder in inside(Path::new(MODELS)).into_iter().filter(|path| path.is_dir()) {
        let listed = read(&folder.join("models.json"));
        assert!(!listed.is_empty(), "no models in {}", folder.display());
        models.extend(listed.into_iter().map(|(name, listed)| Old {
            folder: folder.clone(),
            name,
            listed,
        }));
    }
    assert!(!models.is_empty(), "no models in {MODELS}");
    models
}

fn assert_same(found: &Value, stored: &Value, tolerance: f64, place: &str) {
    match (found.as_f64(), stored.as_f64()) {
        (Some(number), Some(expected)) => {
            let difference = (number - expected).abs();
            assert!(difference <= tolerance * expected.abs(), "{place}: {found}, not {stored}");
        }
        // Classes, and numbers without end.
        _ => assert_eq!(found, stored, "{place}"),
    }
}

#[test]
fn every_model_is_listed_and_has_its_predictions() {
    let models = all();
    let mut listed: Vec<PathBuf> = models.iter().map(|old| old.model().into()).collect();
    listed.sort();
    let folders = inside(Path::new(MODELS)).into_iter().filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| inside(&folder));
    let stored: Vec<PathBuf> =
        files.filter(|path| path.extension() == Some(OsStr::new("dolmen"))).collect();
    assert_eq!(listed, stored);
    for old in models {
        let rows = fs::read_to_string(old.table(".rows")).unwrap().lines().count() - 1;
        let predictions = old.predictions();
        assert!(rows > 0 && !predictions.is_empty(), "{}", old.name);
        assert!(predictions.values().all(|column| column.as_array().unwrap().len() == rows));
    }
}

#[test]
fn old_models_predict_what_they_predicted() {
    let folder = Folder::new();
    for old in all() {
        let (model, rows) = (old.model(), old.table(".rows"));
        let more = old.listed["predict"].as_array().unwrap();
        let mut arguments = vec!["predict", &model, &rows];
        arguments.extend(more.iter().map(|word| word.as_str().unwrap()));
        let found = folder.json(&arguments);
        let stored = old.predictions();
        for (i, row) in found.as_array().unwrap().iter().enumerate() {
            let row = row.as_object().unwrap();
            assert!(row.keys().eq(stored.keys()), "{model}: {:?}", row.keys());
            for (column, value) in row {
                let place = format!("{model}, row {}, column '{column}'", i + 1);
                assert_same(value, &stored[column][i], old.tolerance(), &place);
            }
        }
        let length = stored.values().next().and_then(Value::as_array).map(Vec::len);
        assert_eq!(found.as_array().map(Vec::len), length, "{model}");
    }
}

#[test]
fn old_models_can_be_inspected() {
    let folder = Folder::new();
    for old in all() {
        let report = folder.json(&["inspect", &old.model()]);
        assert!(!report["members"].as_array().unwrap().is_empty(), "{}", old.name);
        folder.succeeds(&["inspect", &old.model()]);
    }
}

#[test]
fn old_models_can_be_scored() {
    let folder = Folder::new();
    for old in all() {
        let (model, table) = (old.model(), old.table(""));
        let report = folder.json(&["score", &model, &table]);
        let rows = fs::read_to_string(&table).unwrap().lines().count() - 1;
        assert_eq!(report["rows"], rows, "{model}");
        assert!(!report["score"].is_null(), "{model}");
    }
}

#[test]
fn rows_are_drawn_from_the_old_models_they_were_drawn_from() {
    let folder = Folder::new();
    let drawn: Vec<Old> = all().into_iter().filter(Old::samples).collect();
    assert!(!drawn.is_empty());
    for old in drawn {
        let text = folder.succeeds(&["sample", &old.model(), "--rows", "3"]);
        assert_eq!(text.lines().count(), 4, "{}: {text}", old.name);
    }
}
