//! Parquet files: what other programs write, what we write, and what is damaged.
#![cfg(feature = "parquet")]
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float64Array, Int32Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use dolmen::run::Run;
use dolmen::table::{
    Categories, Column, ColumnKind, DateColumn, ReadOptions, Table, read, read_parquet,
    read_parquet_metadata, write_parquet,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/types.parquet")
}

fn read_fixture(options: &ReadOptions) -> dolmen::Result<Table> {
    read(&fixture(), options, &Run::with_threads(0, 2)?)
}

fn numbers(table: &Table, name: &str) -> Vec<Option<f64>> {
    match table.column(name).unwrap() {
        Column::Numeric(values) => {
            values.iter().map(|v| Some(*v).filter(|v| !v.is_nan())).collect()
        }
        Column::Categorical(_) => panic!("'{name}' is categorical"),
    }
}

fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match table.column(name).unwrap() {
        Column::Numeric(_) => panic!("'{name}' is numeric"),
        Column::Categorical(c) => (0..table.rows()).map(|i| c.level(i).map(String::from)).collect(),
    }
}

fn some<const N: usize>(texts: [&str; N]) -> Vec<Option<String>> {
    texts.map(|t| (t != "-").then(|| t.to_string())).into()
}

fn without_foreign_types() -> ReadOptions {
    ReadOptions { drop: vec!["day".into(), "list".into()], ..ReadOptions::default() }
}

#[test]
fn every_plain_type_is_read() {
    let table = read_fixture(&without_foreign_types()).unwrap();
    assert_eq!(numbers(&table, "half"), [0.5, 1.5, 2.5, 3.5].map(Some));
    let single = [Some(0.25), None, Some(-1.0), Some(f64::from(1e30_f32))];
    assert_eq!(numbers(&table, "single"), single);
    assert_eq!(numbers(&table, "double"), [Some(1.0), None, Some(f64::NEG_INFINITY), None]);
    assert_eq!(numbers(&table, "byte"), [Some(-1.0), Some(2.0), None, Some(4.0)]);
    assert_eq!(numbers(&table, "long"), [Some(1.0), None, Some(3.0), Some(1_099_511_627_776.0)]);
    assert_eq!(numbers(&table, "unsigned"), [1.0, 2.0, 3.0, 65535.0].map(Some));
    assert_eq!(numbers(&table, "nothing"), [None; 4]);
    assert_eq!(texts(&table, "truth"), some(["true", "false", "-", "true"]));
    assert_eq!(texts(&table, "text"), some(["b", "NA", "-", "a"]));
    assert_eq!(texts(&table, "long_text"), some(["b", "", "-", "a"]));
    assert_eq!(texts(&table, "view"), some(["x", "y", "x", "-"]));
    assert_eq!(texts(&table, "factor"), some(["low", "high", "-", "low"]));
    let Column::Categorical(grade) = table.column("grade").unwrap() else { panic!("numeric") };
    assert_eq!(*grade.levels, ["9", "10"]);
}

/// A file of one column, as another program would write it.
fn written(path: &Path, column: ArrayRef, compression: Compression) {
    let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn every_usual_compression_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        written(&path, Arc::new(Float64Array::from(vec![1.5; 1000])), compression);
        assert_eq!(numbers(&read_parquet(&path).unwrap(), "x"), [Some(1.5); 1000]);
    }
}

#[test]
fn stored_numbers_may_mean_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    written(&path, Arc::new(Int32Array::from(vec![1, -999, 3])), Compression::UNCOMPRESSED);
    let mut options = ReadOptions::default();
    options.missing.push("-999".into());
    let run = Run::with_threads(0, 1).unwrap();
    let table = read(&path, &options, &run).unwrap();
    assert_eq!(numbers(&table, "x"), [Some(1.0), None, Some(3.0)]);
    options.schema.insert("x".into(), ColumnKind::Categorical);
    assert_eq!(texts(&read(&path, &options, &run).unwrap(), "x"), some(["1", "-", "3"]));
    // Texts that are numbers mean the same as numbers do, however they are spelled.
    let spelled = StringArray::from(vec!["1", "-999.0", "-9.99e2"]);
    written(&path, Arc::new(spelled), Compression::UNCOMPRESSED);
    options.schema.insert("x".into(), ColumnKind::Numeric);
    assert_eq!(numbers(&read(&path, &options, &run).unwrap(), "x"), [Some(1.0), None, None]);
}

#[test]
fn kinds_can_be_declared() {
    let mut options = without_foreign_types();
    let declare = [
        ("long", ColumnKind::Categorical),
        ("single", ColumnKind::Categorical),
        ("nothing", ColumnKind::Categorical),
        ("truth", ColumnKind::Numeric),
        ("grade", ColumnKind::Numeric),
        ("digits", ColumnKind::Numeric),
        ("view", ColumnKind::Ignore),
    ];
    options.schema = declare.map(|(name, kind)| (name.to_string(), kind)).into();
    let table = read_fixture(&options).unwrap();
    assert_eq!(texts(&table, "long"), some(["1", "-", "3", "1099511627776"]));
    assert_eq!(texts(&table, "single")[..3], some(["0.25", "-", "-1"]));
    assert_eq!(texts(&table, "nothing"), some(["-"; 4]));
    assert_eq!(numbers(&table, "truth"), [Some(1.0), Some(0.0), None, Some(1.0)]);
    assert_eq!(numbers(&table, "grade"), [Some(10.0), Some(9.0), None, Some(10.0)]);
    assert_eq!(numbers(&table, "digits"), [Some(1.0), Some(2.5), None, None]);
    assert!(table.column("view").is_err());

    options.schema.insert("factor".into(), ColumnKind::Numeric);
    let error = read_fixture(&options).unwrap_err().to_string();
    assert!(error.ends_with("row 1, column 'factor': expected a number, found 'low'"), "{error}");
}

#[test]
fn other_types_are_refused_by_name() {
    let error = read_fixture(&ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("types.parquet, column 'list': the type List"), "{error}");
    assert_eq!(error.hint().unwrap(), "leave it out with --drop 'list'");
}

#[test]
fn dates_are_spelled_out_and_decimals_are_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let read_back = |column: ArrayRef| {
        written(&path, column, Compression::UNCOMPRESSED);
        read_parquet(&path).unwrap()
    };
    let days = read_back(Arc::new(Date32Array::from(vec![Some(0), None, Some(19_782), Some(-1)])));
    assert_eq!(texts(&days, "x"), some(["1970-01-01", "-", "2024-02-29", "1969-12-31"]));
    let moments = vec![0, 1_709_209_845_500_000];
    let moments = read_back(Arc::new(TimestampMicrosecondArray::from(moments)));
    assert_eq!(texts(&moments, "x"), some(["1970-01-01", "2024-02-29T12:30:45.5"]));
    let decimals = Decimal128Array::from(vec![Some(12_345), None, Some(-1)]);
    let decimals = decimals.with_precision_and_scale(10, 2).unwrap();
    let decimals = read_back(Arc::new(decimals));
    assert_eq!(numbers(&decimals, "x"), [Some(123.45), None, Some(-0.01)]);
    let Column::Categorical(column) = days.column("x").unwrap() else { panic!("numbers") };
    let dates = DateColumn::recognise("x", column).unwrap();
    let parts: Vec<String> = dates.names().collect();
    assert_eq!(parts, ["x.year", "x.month", "x.weekday", "x.days"]);
    let year = &dates.columns(days.column("x").unwrap()).unwrap()[0].1;
    let Column::Numeric(years) = year else { panic!("categories") };
    assert_eq!((years[0], years[2], years[3]), (1970.0, 2024.0, 1969.0));
    assert!(years[1].is_nan());
}

#[test]
fn files_that_are_not_parquet_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for bytes in [b"".as_slice(), b"a,b\n1,2\n", b"PAR1PAR1", b"PAR1\x10\x27\0\0PAR1"] {
        fs::write(&path, bytes).unwrap();
        let error = read_parquet(&path).unwrap_err().to_string();
        assert!(error.contains("not readable as Parquet"), "{error}");
        assert!(!error.contains('\n'));
    }
    assert!(matches!(read_parquet(&folder.path().join("none.pq")), Err(dolmen::Error::Io { .. })));
}

#[test]
fn metadata_and_several_row_groups_survive() {
    let rows = 1_300_000;
    let values: Vec<f64> = (0..rows).map(|i| f64::from(i) * 0.5).collect();
    let levels = ["a", "b", "c"];
    let codes: Vec<Option<&str>> = (0..rows as usize).map(|i| levels.get(i % 4).copied()).collect();
    let table = Table::new(vec![
        ("x.y".into(), Column::Numeric(values)),
        ("c".into(), Column::Categorical(Categories::new(codes))),
    ])
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pq");
    let metadata =
        [("key".to_string(), "two\nlines".to_string()), ("k2".to_string(), String::new())];
    write_parquet(&path, &table, &metadata).unwrap();
    assert_eq!(read_parquet(&path).unwrap(), table);
    assert_eq!(read_parquet_metadata(&path).unwrap(), metadata);
}

/// Numbers of all sorts, missing ones among them; texts of all sorts.
fn any_table() -> impl Strategy<Value = Table> {
    (1_usize..30).prop_flat_map(|rows| {
        let number = prop_oneof![
            4 => any::<f64>(),
            1 => Just(f64::NEG_INFINITY),
            1 => Just(f64::NAN),
        ];
        let text = prop::option::of("\\PC{0,4}");
        let columns = (prop::collection::vec(number, rows), prop::collection::vec(text, rows));
        columns.prop_map(|(numbers, texts)| {
            let categories = Categories::new(texts.iter().map(Option::as_deref));
            let columns = [("x", Column::Numeric(numbers)), ("c", Column::Categorical(categories))];
            Table::new(columns.map(|(name, column)| (name.into(), column)).into()).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_reads_back(table in any_table()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_parquet(&path, &table, &[]).unwrap();
        prop_assert_eq!(format!("{:?}", read_parquet(&path).unwrap()), format!("{table:?}"));
    }

    #[test]
    fn damaged_files_are_errors_or_tables(
        table in any_table(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u32..8), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        ours in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_parquet(&path, &table, &[]).unwrap();
        let mut bytes = fs::read(if ours { path.clone() } else { fixture() }).unwrap();
        for (index, bit) in flips {
            let at = index.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, &bytes).unwrap();
        let run = Run::with_threads(0, 1).unwrap();
        let _ = read(&path, &without_foreign_types(), &run);
        let _ = read(&path, &ReadOptions::default(), &run);
        let _ = read_parquet_metadata(&path);
    }
}
