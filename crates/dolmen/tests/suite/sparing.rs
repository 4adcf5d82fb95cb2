//! Texts that a fit does not need: the model is that of a table whose texts are all there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Float64Array, RecordBatch, StringArray, Time64MicrosecondArray,
    TimestampNanosecondArray,
};
use dolmen::Run;
use dolmen::recipe::Recipe;
use dolmen::table::{Blocks, Kind, Look, ReadOptions, Sparing};
use parquet::arrow::ArrowWriter;

const ROWS: i64 = 4000;

/// Typed dates of every kind, identifiers, groups of three rows, and categories that look like identifiers at first.
fn write_rows(path: &Path) {
    let rows = || (0..ROWS).map(|i| (i * 7919) % ROWS);
    let texts = |text: &dyn Fn(i64) -> String| -> ArrayRef {
        Arc::new(StringArray::from(rows().map(text).collect::<Vec<String>>()))
    };
    let moment =
        |i: i64| (i % 9 != 4).then_some(1_500_000_000_000_000_000 + i * 61_234_567_890_123);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(rows().map(|i| Some((i as f64 * 0.7).sin())).collect::<Float64Array>())),
        ("y", Arc::new(rows().map(|i| Some((i as f64 * 0.001).cos())).collect::<Float64Array>())),
        ("ts", Arc::new(rows().map(moment).collect::<TimestampNanosecondArray>())),
        ("day", Arc::new(rows().map(|i| Some(15_000 + i as i32 % 900)).collect::<Date32Array>())),
        (
            "clock",
            Arc::new(
                rows()
                    .map(|i| Some(i * i * 21_600_007 % 86_400_000_000))
                    .collect::<Time64MicrosecondArray>(),
            ),
        ),
        ("id", texts(&|i| format!("u{i:05}"))),
        ("group", texts(&|i| format!("g{}", i / 3))),
        ("when", texts(&|i| format!("2021-{:02}-{:02} {:02}:30", i % 12 + 1, i % 28 + 1, i % 23))),
        ("colour", texts(&|i| format!("c{}", (i * i + 3 * i) % 300))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn options(dropped: &[&str]) -> ReadOptions {
    ReadOptions {
        drop: dropped.iter().map(ToString::to_string).collect(),
        ..ReadOptions::default()
    }
}

const MEMBERS: [(&str, &[&str]); 3] = [
    ("members = ['gaussian(beta=0.1)']", &[]),
    ("target = 'y'\ngroups = 'group'\nmembers = ['ridge', 'ridge(lambda=9)']", &[]),
    // Moments are groups, or classes, by their texts.
    ("target = 'y'\ngroups = 'day'\nmembers = ['ridge']", &["colour"]),
];

#[test]
fn what_is_spared_changes_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write_rows(&path);
    let run = Run::with_threads(0, 2).unwrap();
    for (text, dropped) in MEMBERS {
        let recipe =
            Recipe::from_toml(&format!("{text}\nplan = 'hashed(folds=3)'\nmemory = '1500K'"));
        let recipe = recipe.unwrap();
        let model = |sparing: &Sparing| {
            let blocks =
                Blocks::open_sparing(&path, &options(dropped), 611, sparing, &run).unwrap();
            let fit = recipe.fit_blocks(&blocks, &run).unwrap();
            assert!(fit.report.data_notes().join(" ").contains("sample"));
            fit.model.to_bytes().unwrap()
        };
        let keys: Vec<String> = ["y", "group", "day"].map(String::from).into();
        let expected = model(&Sparing::default());
        for bytes in [None, Some(0), Some(60_000), Some(10_000_000)] {
            let (levels, texts) = (vec!["y".into()], Some(keys[1..].to_vec()));
            let texts = texts.filter(|_| text.contains("groups")).or(Some(Vec::new()));
            let spared = model(&Sparing { bytes, levels, texts });
            assert!(spared == expected, "{text}: another model with {bytes:?}");
        }
    }
}

/// Each block has the identifiers of its own rows, the categories that repeat are all known, and dates are numbers.
#[test]
fn only_texts_that_are_needed_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write_rows(&path);
    let run = Run::with_threads(0, 2).unwrap();
    let sparing = Sparing { bytes: Some(5000), levels: Vec::new(), texts: Some(Vec::new()) };
    let blocks = Blocks::open_sparing(&path, &options(&[]), 500, &sparing, &run).unwrap();
    let known = blocks.known();
    let dates: Vec<&str> = known.dates.iter().map(|dates| dates.column.as_str()).collect();
    assert_eq!(dates, ["ts", "day", "clock", "when"]);
    assert_eq!(known.looks, [("id".to_string(), Look::Identifier)]);
    assert_eq!(blocks.columns(), 9);
    let schema = blocks.schema();
    let levels = |name: &str| {
        let field = schema.fields().iter().find(|field| field.name == name).unwrap();
        match &field.kind {
            Kind::Numeric => None,
            Kind::Categorical { levels } => Some(levels.len()),
        }
    };
    assert_eq!(levels("id"), Some(0));
    assert_eq!((levels("ts.days"), levels("clock.hour")), (None, None));
    let colours: std::collections::HashSet<i64> =
        (0..ROWS).map(|i| (i * i + 3 * i) % 300).collect();
    assert_eq!(levels("colour"), Some(colours.len()));
    // Everything there is, one after the other.
    let whole = Blocks::open(&path, &options(&[]), 500, &run).unwrap();
    let summary = |blocks: &Blocks| {
        let looks = blocks.summaries().unwrap().iter();
        looks.map(|s| (s.name.clone(), s.missing, s.look.clone())).collect::<Vec<_>>()
    };
    assert_eq!(summary(&blocks), summary(&whole));
}

/// New rows are predicted alike, with the dates of a typed column or of texts.
#[test]
fn dates_of_new_rows_need_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write_rows(&path);
    let run = Run::with_threads(0, 2).unwrap();
    let recipe = Recipe::from_toml("target = 'y'\nmembers = ['ridge']\nalone = true");
    let mut recipe = recipe.unwrap();
    recipe.reading.drop = vec!["colour".into(), "group".into()];
    let data = recipe.read_data(&path, &run).unwrap();
    let model = recipe.fit_data(&data, &run).unwrap().model;
    let plan = dolmen::recipe::PredictPlan::default();
    let predicted = |carried: &[String]| {
        let options = model.read_options(false, carried);
        let blocks = model.open_rows(&path, &options, Some("200K"), &run).unwrap();
        assert_eq!(blocks.known().dates.len(), 4 - carried.len());
        let mut all = Vec::new();
        model
            .predict_blocks(&blocks, &plan, &run, &mut |table| {
                all.push(format!("{:?}", table.column("mean").unwrap()));
                Ok(())
            })
            .unwrap();
        all
    };
    let carried = ["ts", "day", "clock", "when"].map(String::from);
    assert_eq!(predicted(&[]), predicted(&carried));
    fs::remove_file(&path).unwrap();
}
