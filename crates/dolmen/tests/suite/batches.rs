//! Tables from Arrow record batches, as other programs hold them, and back.
#![cfg(feature = "parquet")]
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type, UInt16Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, Decimal256Array,
    DictionaryArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array,
    IntervalYearMonthArray, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    Time32MillisecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, UInt64Array,
};
use dolmen::run::Run;
use dolmen::table::{Column, ColumnKind, ReadOptions, Table, read, read_parquet};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

fn assert_same(found: &Table, expected: &Table) {
    assert_eq!(found.rows(), expected.rows());
    let both = found.columns().zip(expected.columns());
    assert_eq!(found.columns().count(), expected.columns().count());
    for ((name, column), (other, of_file)) in both {
        assert_eq!(name, other);
        match (column, of_file) {
            // Missing numbers are not equal to themselves.
            (Column::Numeric(a), Column::Numeric(b)) => {
                let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
                assert_eq!(bits(a), bits(b), "{name}");
            }
            (a, b) => assert_eq!(a, b, "{name}"),
        }
    }
}

/// The file holds the types under which other programs declare their columns.
#[test]
fn batches_are_read_as_their_file_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/types.parquet");
    let file = || File::open(&path).unwrap();
    for size in [1, 3, 100] {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file()).unwrap();
        let reader = reader.with_batch_size(size).build().unwrap();
        let batches: Vec<RecordBatch> = reader.map(|batch| batch.unwrap()).collect();
        let mut options =
            ReadOptions { drop: vec!["day".into(), "list".into()], ..ReadOptions::default() };
        let run = Run::with_threads(0, 1).unwrap();
        let table = Table::from_batches(batches.clone(), &options).unwrap();
        assert_same(&table, &read(&path, &options, &run).unwrap());
        options.schema.insert("long".into(), ColumnKind::Categorical);
        options.schema.insert("truth".into(), ColumnKind::Numeric);
        let declared = Table::from_batches(batches.clone(), &options).unwrap();
        assert_same(&declared, &read(&path, &options, &run).unwrap());
        let error = Table::from_batches(batches, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("neither"), "{error}");
    }
}

/// Every type there is, in memory and by way of a file.
#[test]
fn every_type_is_treated_as_in_files() {
    let dictionary: DictionaryArray<UInt16Type> =
        [Some("low"), None, Some("high")].into_iter().collect();
    let numbers = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![Some(1), Some(0), None]),
        Arc::new(Int64Array::from(vec![Some(10), Some(9)])),
    );
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("byte", Arc::new(Int8Array::from(vec![Some(-1), None, Some(3)]))),
        ("long", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
        ("single", Arc::new(Float32Array::from(vec![0.25, f32::NAN, -1.0]))),
        ("double", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::NEG_INFINITY)]))),
        ("money", decimals()),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("text", Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]))),
        ("long_text", Arc::new(LargeStringArray::from(vec![Some("b"), None, Some("a")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("x"), None, Some("y")]))),
        ("factor", Arc::new(dictionary)),
        ("grade", Arc::new(numbers)),
        ("day", Arc::new(Date32Array::from(vec![Some(0), None, Some(20_000)]))),
        ("moment", Arc::new(TimestampMicrosecondArray::from(vec![Some(0), None, Some(1)]))),
        ("instant", Arc::new(TimestampNanosecondArray::from(vec![0, 1_000_000_000, 2]))),
        ("clock", Arc::new(Time32MillisecondArray::from(vec![Some(1500), None, Some(0)]))),
        ("fine", Arc::new(Time64NanosecondArray::from(vec![1, 2, 3]))),
    ];
    let whole = batch(columns);
    let table = Table::from_batches([whole.clone()], &ReadOptions::default()).unwrap();
    let halves = [whole.slice(0, 1), whole.slice(1, 2)];
    assert_same(&Table::from_batches(halves, &ReadOptions::default()).unwrap(), &table);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.parquet");
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), whole.schema(), None).unwrap();
    writer.write(&whole).unwrap();
    writer.close().unwrap();
    assert_same(&table, &read_parquet(&path).unwrap());
    // What files do not hold.
    let others = batch(vec![
        ("date", Arc::new(Date64Array::from(vec![Some(0), None]))),
        ("wide", Arc::new(Decimal256Array::new_null(2))),
        ("nothing", Arc::new(NullArray::new(2))),
    ]);
    let others = Table::from_batches([others], &ReadOptions::default()).unwrap();
    let Column::Categorical(date) = others.column("date").unwrap() else { panic!("numeric") };
    assert_eq!((date.level(0), date.level(1)), (Some("1970-01-01"), None));
    assert!(matches!(others.column("wide").unwrap(), Column::Numeric(v) if v[1].is_nan()));
    assert!(matches!(others.column("nothing").unwrap(), Column::Numeric(v) if v[0].is_nan()));
}

fn decimals() -> ArrayRef {
    let money = Decimal128Array::from(vec![Some(1234), None, Some(-5)]);
    Arc::new(money.with_precision_and_scale(10, 2).unwrap())
}

#[test]
fn a_table_goes_out_and_comes_back() {
    let factor: DictionaryArray<Int32Type> =
        [Some("b"), None, Some("a"), Some("b")].into_iter().collect();
    let given = batch(vec![
        ("x", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::INFINITY), None]))),
        ("colour", Arc::new(factor)),
    ]);
    let table = Table::from_batches([given], &ReadOptions::default()).unwrap();
    let out = table.to_batch().unwrap();
    assert_eq!((out.num_rows(), out.column(0).null_count()), (4, 2));
    assert_same(&Table::from_batches([out], &ReadOptions::default()).unwrap(), &table);
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let refused = |batches: Vec<RecordBatch>, words: &str| {
        let error = Table::from_batches(batches, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let x = || batch(vec![("x", Arc::new(Int32Array::from(vec![1])))]);
    refused(Vec::new(), "no record batches");
    refused(vec![x().slice(0, 0)], "no rows");
    refused(vec![x(), batch(vec![("x", Arc::new(Int64Array::from(vec![1])))])], "Int64");
    refused(vec![x(), batch(vec![("y", Arc::new(Int32Array::from(vec![1])))])], "'y'");
    let spans = IntervalYearMonthArray::from(vec![1]);
    refused(vec![batch(vec![("for", Arc::new(spans))])], "neither");
}
