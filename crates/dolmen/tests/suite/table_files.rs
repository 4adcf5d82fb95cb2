//! Tables in files: what is written reads back, and the options say how.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use dolmen::run::Run;
use dolmen::table::{
    Categories, Column, ColumnKind, Look, ReadOptions, Schema, Table, column_names,
    possible_classes, read, write_csv,
};
use proptest::prelude::*;
use tempfile::TempDir;

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

/// A file of this name and text in a folder of its own.
fn file(name: &str, text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn is_numeric(table: &Table, name: &str) -> bool {
    matches!(table.column(name).unwrap(), Column::Numeric(_))
}

#[test]
fn the_extension_chooses_reader_and_delimiter() {
    let read_named = |name: &str, text: &str| {
        let (_folder, path) = file(name, text);
        read(&path, &ReadOptions::default(), &run())
    };
    for name in ["t.csv", "t.CSV", "t.txt", "t.data", "t"] {
        assert_eq!(read_named(name, "a,b\n1,2\n").unwrap().names(), ["a", "b"]);
    }
    assert_eq!(read_named("t.tsv", "a,b\tc\n1\t2\n").unwrap().names(), ["a,b", "c"]);
    assert!(read_named("t.parquet", "a,b\n1,2\n").unwrap_err().to_string().contains("Parquet"));

    let (_folder, path) = file("t.csv", "a;b\n1;2\n");
    let mut options = ReadOptions { delimiter: Some(b';'), ..ReadOptions::default() };
    assert_eq!(read(&path, &options, &run()).unwrap().names(), ["a", "b"]);
    for impossible in [b'"', b'\n', b'1', b'e', b'.', 0xff] {
        options.delimiter = Some(impossible);
        assert!(matches!(read(&path, &options, &run()), Err(dolmen::Error::Param { .. })));
    }
}

#[test]
fn the_header_shows_the_delimiter() {
    for (name, text) in [
        ("t.csv", "a;b\n1,5;2\n"),
        ("t.txt", "a\tb\n1\t2\n"),
        ("t", "\u{feff}a|b\n1|2\n"),
        ("t.csv", "\"a\",\"b\"\n\"1;2;3\",\"4\"\n"),
    ] {
        let (_folder, path) = file(name, text);
        assert_eq!(read(&path, &ReadOptions::default(), &run()).unwrap().names(), ["a", "b"]);
        let names = column_names(&path, &ReadOptions::default(), &run()).unwrap();
        assert_eq!(names, ["a", "b"]);
    }
    for (word, byte) in [("\\t", b'\t'), ("tab", b'\t'), ("\t", b'\t'), (";", b';'), (" ", b' ')] {
        assert_eq!(ReadOptions::parse_delimiter(word).unwrap(), byte);
    }
    for word in ["", "é", "\\n", "ab", "1", "."] {
        assert!(ReadOptions::parse_delimiter(word).is_err(), "{word}");
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

fn zstandard(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

/// So long that it is read in several chunks, with categories that only the last row shows.
fn long_text() -> String {
    let mut text = "x;c\n".to_string();
    for i in 0..200_000 {
        writeln!(text, "{i};{}", i % 10).unwrap();
    }
    text + "\n5;late\n" + &"6;text\n".repeat(60_000)
}

#[test]
fn compressed_files_are_read_like_the_text_they_hold() {
    let text = long_text();
    let plain = {
        let (_folder, path) = file("t.csv", &text);
        read(&path, &ReadOptions::default(), &run()).unwrap()
    };
    let (first, last) = text.as_bytes().split_at(text.len() / 3);
    for (name, packed) in [
        ("t.csv.gz", gzip(text.as_bytes())),
        ("t.csv.zst", zstandard(text.as_bytes())),
        // The first bytes decide, not the name; several packings one after the other are one text.
        ("t.csv", gzip(text.as_bytes())),
        ("t.csv.gz", [gzip(first), gzip(last)].concat()),
        ("t.csv.zst", [zstandard(first), zstandard(last)].concat()),
    ] {
        let (_folder, path) = file(name, packed);
        assert!(read(&path, &ReadOptions::default(), &run()).unwrap() == plain, "{name}");
        let names = column_names(&path, &ReadOptions::default(), &run()).unwrap();
        assert_eq!(names, ["x", "c"]);
    }
    let (_folder, path) = file("t.tsv.gz", gzip(b"a,b\tc\n1\t2\n"));
    assert_eq!(read(&path, &ReadOptions::default(), &run()).unwrap().names(), ["a,b", "c"]);
    for (name, packed) in
        [("t.csv.gz", gzip(text.as_bytes())), ("t.csv.zst", zstandard(text.as_bytes()))]
    {
        let (_folder, path) = file(name, &packed[..packed.len() / 2]);
        let error = read(&path, &ReadOptions::default(), &run()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("damaged or end too early"), "{error}");
    }
}

#[test]
fn columns_without_a_name_get_one() {
    let (_folder, path) = file("t.csv", ",a,\n0,5,\n1,6,\n");
    let table = read(&path, &ReadOptions::default(), &run()).unwrap();
    assert_eq!(table.names(), ["Unnamed: 0", "a", "Unnamed: 2"]);
}

#[test]
fn looks_decide_what_is_an_input() {
    let numbers = |value: fn(usize) -> f64| Column::Numeric((0..50).map(value).collect());
    let texts = |text: fn(usize) -> String| {
        let texts: Vec<String> = (0..50).map(text).collect();
        Column::Categorical(Categories::new(texts.iter().map(|t| Some(t.as_str()))))
    };
    let look = |name: &str, column: Column| Look::of(name, &column);
    assert_eq!(look("X", numbers(|i| i as f64 + 1.0)), Look::Identifier);
    assert_eq!(look("year", numbers(|i| i as f64 + 1.0)), Look::Input);
    assert_eq!(look("customer_id", numbers(|i| (i * 7919 % 1000) as f64)), Look::Identifier);
    assert_eq!(look("PassengerId", numbers(|i| (i * 7919 % 1000) as f64)), Look::Identifier);
    assert_eq!(look("acid", numbers(|i| (i * 7919 % 1000) as f64)), Look::Input);
    assert_eq!(look("id", numbers(|i| (i % 5) as f64)), Look::Input);
    assert_eq!(look("length", numbers(|i| (i as f64).sqrt())), Look::Input);
    assert_eq!(look("name", texts(|i| format!("n{i}"))), Look::Identifier);
    assert_eq!(look("colour", texts(|i| format!("c{}", i % 9))), Look::Input);
    let sentence = |i: usize| format!("a sentence of some length about the number {}", i / 2);
    assert_eq!(look("remark", texts(sentence)), Look::Text);
    assert_eq!(look("weight", texts(|i| format!("{i}.5 kg"))), Look::WithUnits("0.5 kg".into()));
    assert_eq!(look("case", texts(|i| format!("{i}a{i}"))), Look::Identifier);
    assert_eq!(look("Order No", numbers(|i| (5000 + i * 37 % 50) as f64)), Look::Identifier);
    assert_eq!(look("zip_code", numbers(|i| (10_000 + 531 * i) as f64)), Look::Identifier);
    assert_eq!(look("zip_code", numbers(|i| (10_000 + 531 * (i / 2)) as f64)), Look::Input);
    assert_eq!(look("pulse", numbers(|i| (60 + i * 37 % 50) as f64)), Look::Input);
    let few = |name: &str| look(name, Column::Numeric((0..12).map(|i| f64::from(3 * i)).collect()));
    assert_eq!((few("number"), few("id")), (Look::Input, Look::Identifier));
    assert_eq!(look("__index_level_0__", numbers(|i| (i % 7) as f64)), Look::Unnamed);
    assert!(matches!(look("day", numbers(|i| (20_210_301 + i % 28) as f64)), Look::Dates(_)));
    assert_eq!(look("pair", texts(|i| format!("{},b", i % 3))), Look::Input);
    assert_eq!(look("gone", numbers(|_| f64::NAN)), Look::Empty);
    assert_eq!(look("Unnamed: 0", numbers(|i| i as f64)), Look::Unnamed);
    assert!(matches!(look("d", texts(|i| format!("2020-01-{:02}", i % 28 + 1))), Look::Dates(_)));
    assert_eq!(possible_classes(&numbers(|i| (i % 2) as f64)), Some(2));
    assert_eq!(possible_classes(&numbers(|i| (i % 5) as f64 + 1.0)), Some(5));
    assert_eq!(possible_classes(&numbers(|i| (i % 2) as f64 / 2.0)), None);
    assert_eq!(possible_classes(&numbers(|i| i as f64)), None);
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let (folder, path) = file("t.csv", "");
    for path in [folder.path().join("none.csv"), folder.path().to_path_buf()] {
        let error = read(&path, &ReadOptions::default(), &run()).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
    }
    let error = read(&path, &ReadOptions::default(), &run()).unwrap_err().to_string();
    assert!(error.ends_with("t.csv: the file is empty"), "{error}");
}

#[test]
fn types_are_declared_inline_or_in_a_file() {
    let expected = [
        ("age".to_string(), ColumnKind::Numeric),
        ("id".to_string(), ColumnKind::Ignore),
        ("zip".to_string(), ColumnKind::Categorical),
    ]
    .into();
    let inline = ReadOptions::parse_schema("age=numeric, zip = categorical,id=ignore").unwrap();
    assert_eq!(inline, expected);
    let csv = "column,role,type\nage,feature,numeric\nzip,feature,nominal\n\"id\",none,ignore\n";
    let json = r#" {"age": "numeric", "zip": "categorical", "id": "ignore"}"#;
    for text in [csv, json] {
        let (_folder, path) = file("schema", text);
        assert_eq!(ReadOptions::parse_schema(path.to_str().unwrap()).unwrap(), expected);
    }
    assert!(ReadOptions::parse_schema("").unwrap().is_empty());
    for (bad, word) in [("none.csv", "none.csv"), ("age=float", "float"), ("age", "COLUMN=TYPE")] {
        let error = ReadOptions::parse_schema(bad).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let broken =
        ["", "name,type\na,numeric\n", "column,type\na,date\n", "{\"a\": 1}", "column,type\na,\"n"];
    for text in broken {
        let (_folder, path) = file("schema.csv", text);
        let error = ReadOptions::parse_schema(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("schema.csv") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_declared_column_must_exist() {
    let (_folder, path) = file("t.csv", "zip,n\n01,1\n02,2\n");
    let mut options = ReadOptions::default();
    options.schema.insert("Zip".into(), ColumnKind::Categorical);
    let error = read(&path, &options, &run()).unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean 'zip'?");
}

#[test]
fn new_rows_are_read_as_the_model_expects_them() {
    let (_folder, path) = file("train.csv", "zip,n,y\n01,1,0.5\n02,2,?\n,3,1\n");
    let mut options =
        ReadOptions { keep: vec!["n".into(), "zip".into()], ..ReadOptions::default() };
    options.schema.insert("zip".into(), ColumnKind::Categorical);
    let schema = Schema::of(&read(&path, &options, &run()).unwrap());

    let (_folder, path) = file("new.csv", "other,n,zip\nx,NA,02\ny,7,03\nz,8,NA\n");
    let table = read(&path, &ReadOptions::matching(&schema), &run()).unwrap();
    assert_eq!(table.names(), ["n", "zip"]);
    assert!(is_numeric(&table, "n") && !is_numeric(&table, "zip"));
    let schema = std::sync::Arc::new(schema);
    let features = schema.encode(&table).unwrap();
    let cells: Vec<String> = features.rows().values().iter().map(f64::to_string).collect();
    // Columns in the order of the model: zip, n. Level 02 is number 1, level 03 is unknown, so number 2.
    assert_eq!(cells, ["1", "NaN", "2", "7", "NaN", "8"]);

    let (_folder, path) = file("new.csv", "n,zip\nmany,02\n");
    let error = read(&path, &ReadOptions::matching(&schema), &run()).unwrap_err().to_string();
    assert!(error.contains("row 1, column 'n': expected numbers"), "{error}");
    assert!(error.ends_with("the first of them 'many'"), "{error}");
}

/// A column of numbers, or of texts that no reader takes for missing.
fn any_column(rows: usize) -> impl Strategy<Value = Column> {
    let number = prop_oneof![
        4 => any::<f64>(),
        2 => (-1000_i32..1000).prop_map(f64::from),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(f64::NAN),
    ];
    let word = prop_oneof![
        3 => "[a-c]",
        2 => "[ab,\"\n\r\t ;]{1,5}",
        1 => "\\PC{1,6}",
        1 => "[0-9]{1,2}(\\.[0-9])?",
    ];
    let text = prop::option::weighted(
        0.9,
        word.prop_filter("blank is missing", |w| !w.trim_matches([' ', '\t']).is_empty()),
    );
    prop_oneof![
        prop::collection::vec(number, rows).prop_map(Column::Numeric),
        prop::collection::vec(text, rows).prop_map(|texts| {
            Column::Categorical(Categories::new(texts.iter().map(Option::as_deref)))
        }),
    ]
}

fn any_table() -> impl Strategy<Value = Table> {
    (1_usize..5, 1_usize..25).prop_flat_map(|(width, rows)| {
        let name = prop_oneof!["[a-z]{1,3}", "[a-z,\"\n ]{1,4}"];
        let name = name.prop_filter("blank is no name", |n| !n.trim_matches(' ').is_empty());
        let names = prop::collection::btree_set(name, width);
        (names, prop::collection::vec(any_column(rows), width)).prop_map(|(names, columns)| {
            Table::new(names.into_iter().zip(columns).collect()).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_written_reads_back(table in any_table()) {
        let mut text = Vec::new();
        write_csv(&table, &mut text).unwrap();
        let (_folder, path) = file("t.csv", &text);
        let kind = |column: &Column| match column {
            Column::Numeric(_) => ColumnKind::Numeric,
            Column::Categorical(_) => ColumnKind::Categorical,
        };
        let options = ReadOptions {
            schema: table.columns().map(|(name, column)| (name.into(), kind(column))).collect(),
            missing: vec![String::new()],
            ..ReadOptions::default()
        };
        let back = read(&path, &options, &run()).unwrap();
        prop_assert_eq!(format!("{back:?}"), format!("{table:?}"));
    }
}
