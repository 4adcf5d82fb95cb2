//! Tables read block by block: one after the other the blocks are what is read at once.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dolmen::run::Run;
use dolmen::table::{Blocks, Column, ColumnKind, Look, ReadOptions, Table, read, write, write_csv};
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

/// A table or an error as text; categories by their texts.
fn shown(table: &dolmen::Result<Table>) -> String {
    match table {
        Err(error) => format!("{error} / {:?}", error.hint()),
        Ok(table) => {
            let mut text = format!("{:?} {:?}\n", table.notes(), table.written());
            for (name, column) in table.columns() {
                let kind = match column {
                    Column::Numeric(_) => "numbers".into(),
                    Column::Categorical(c) => format!("{:?}", c.levels),
                };
                writeln!(text, "{name} {kind} {}", cells(column)).unwrap();
            }
            text
        }
    }
}

fn cells(column: &Column) -> String {
    match column {
        Column::Numeric(values) => format!("{values:?}"),
        Column::Categorical(c) => {
            format!("{:?}", (0..c.codes.len()).map(|i| c.level(i)).collect::<Vec<_>>())
        }
    }
}

/// The blocks of a table, put together.
fn joined(blocks: &Blocks, run: &Run) -> dolmen::Result<Table> {
    let mut all: Vec<Table> = Vec::new();
    let mut rows = 0;
    blocks.visit(run, &mut |first, block| {
        assert_eq!(first, rows);
        assert!(all.last().is_none_or(|last| last.rows() == blocks.block()));
        rows += block.rows();
        all.push(block);
        Ok(())
    })?;
    assert_eq!(blocks.rows(), Some(rows));
    let names = all[0].names().to_vec();
    let column = |name: &String| {
        let parts: Vec<&Column> = all.iter().map(|block| block.column(name).unwrap()).collect();
        let joined = match parts[0] {
            Column::Numeric(_) => {
                let numbers = parts.iter().flat_map(|part| match part {
                    Column::Numeric(values) => values.clone(),
                    Column::Categorical(_) => panic!("'{name}' is of two kinds"),
                });
                Column::Numeric(numbers.collect())
            }
            Column::Categorical(first) => {
                let mut categories = first.clone();
                for part in &parts[1..] {
                    let Column::Categorical(part) = part else {
                        panic!("'{name}' is of two kinds")
                    };
                    assert_eq!(part.levels, categories.levels, "'{name}'");
                    categories.codes.extend(&part.codes);
                }
                Column::Categorical(categories)
            }
        };
        (name.clone(), joined)
    };
    Table::new(names.iter().map(column).collect())
}

/// What is read block by block must be what is read at once, errors and notes included.
fn check(path: &Path, options: &ReadOptions, block: usize) {
    let whole = read(path, options, &run());
    let opened = Blocks::open(path, options, block, &run());
    let blocks = match opened {
        Err(error) => return assert_eq!(shown(&Err(error)), shown(&whole)),
        Ok(blocks) => blocks,
    };
    let whole = whole.unwrap();
    assert_eq!((blocks.notes(), blocks.written()), (whole.notes(), whole.written()));
    assert_eq!(blocks.names(), whole.names());
    // As often as needed, and on the pool's own threads, too.
    for again in [false, true] {
        let one = run();
        let found =
            if again { one.install(|| joined(&blocks, &one)) } else { joined(&blocks, &one) };
        for ((name, own), (_, expected)) in found.unwrap().columns().zip(whole.columns()) {
            assert_eq!(cells(own), cells(expected), "'{name}'");
            if let (Column::Categorical(own), Column::Categorical(expected)) = (own, expected) {
                assert_eq!(own.levels, expected.levels, "'{name}'");
            }
        }
    }
    for (summary, (name, column)) in blocks.summaries().unwrap().iter().zip(whole.columns()) {
        assert_eq!(summary.name, name);
        assert_eq!(summary.missing, column.missing(), "'{name}'");
        assert_eq!(summary.look, Look::of(name, column), "'{name}'");
    }
}

/// Rows of every kind of column that is told apart.
fn mixed(rows: usize) -> String {
    let mut text = String::from("id;x;price;colour;day;code;when;long\n");
    for i in 0..rows {
        let colour = ["red", "\"a;\n\"\"b\"\"\"", "NA", "blue"][i % 4];
        let x = if i % 7 == 3 { "?".into() } else { format!("{}", (i as f64).sin()) };
        let price = format!("{},{:02}", i * 37 % 2000, i % 100);
        writeln!(
            text,
            "{i};{x};{price};{colour};2021-{:02}-{:02};0{};{};{}",
            i % 12 + 1,
            i % 28 + 1,
            i % 3,
            20_240_101 + i % 20,
            "word ".repeat(i % 3 + 12) + &i.to_string(),
        )
        .unwrap();
    }
    text
}

#[test]
fn blocks_of_csv_are_the_table() {
    let text = mixed(500);
    let (folder, path) = file("t.csv", &text);
    for block in [1, 7, 64, 500, 1000] {
        check(&path, &ReadOptions::default(), block);
    }
    let options = ReadOptions {
        schema: [("when".into(), ColumnKind::Categorical), ("id".into(), ColumnKind::Ignore)]
            .into(),
        missing: vec!["red".into(), "-99".into(), "0.0".into()],
        drop: vec!["day".into()],
        ..ReadOptions::default()
    };
    check(&path, &options, 64);
    let packed = folder.path().join("t.csv.gz");
    let mut packer = flate2_writer(&packed);
    packer.write_all(text.as_bytes()).unwrap();
    drop(packer);
    check(&packed, &ReadOptions::default(), 64);
}

fn flate2_writer(path: &Path) -> impl std::io::Write {
    flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::fast())
}

/// Chunks of a megabyte end anywhere, and types are not known before the last of them.
#[test]
fn kinds_that_show_late_are_those_of_the_whole() {
    let rows = 300_000;
    let column = |last: &str| {
        let mut text = String::from("n,x\n");
        for i in 0..rows {
            writeln!(text, "{},{i}", i % 50).unwrap();
        }
        text + last
    };
    let texts = (0..rows).map(|i| format!("x{},1\n", i % 5)).collect::<Vec<String>>().concat();
    for last in ["", "1.5,2\n", "\"1,5\",3\n", "none,3\n", &texts, "1,2,3\n", "\"open,1\n"] {
        let (_folder, path) = file("t.csv", column(last));
        check(&path, &ReadOptions::default(), 1 << 16);
    }
}

#[test]
fn declared_columns_need_no_look() {
    let (_folder, path) = file("t.csv", "a,b,c\n1,u,\"1,5\"\n2,v,2\n?,w,3\n4,u,4\n");
    let mut options = ReadOptions { keep: ["a", "b"].map(String::from).into(), ..<_>::default() };
    options.schema =
        [("a".into(), ColumnKind::Numeric), ("b".into(), ColumnKind::Categorical)].into();
    let levels = |blocks: &Blocks| {
        let mut levels = Vec::new();
        let all = blocks.visit(&run(), &mut |_, block| {
            let Column::Categorical(c) = block.column("b").unwrap() else { panic!("not texts") };
            levels.push(c.levels.to_vec());
            Ok(())
        });
        all.map(|()| levels)
    };
    let blocks = Blocks::open_declared(&path, &options, 2, &run()).unwrap();
    assert_eq!((blocks.rows(), blocks.summaries()), (None, None));
    assert_eq!(levels(&blocks).unwrap(), [["u", "v"], ["u", "w"]]);
    assert_eq!(blocks.rows(), Some(4));
    // Numbers that turn out to be written in another way are read as all at once.
    options.keep.push("c".into());
    options.schema.insert("c".into(), ColumnKind::Numeric);
    let blocks = Blocks::open_declared(&path, &options, 3, &run()).unwrap();
    let mut prices = Vec::new();
    blocks
        .visit(&run(), &mut |_, mut block| {
            prices.extend(block.take("c")?.into_numbers("c")?);
            Ok(())
        })
        .unwrap();
    assert_eq!(prices, [1.5, 2.0, 3.0, 4.0]);
    // A word is an error that names the row in the file.
    let text = (0..10).map(|i| format!("{i},u\n")).collect::<Vec<String>>().concat();
    let (_folder, path) = file("t.csv", format!("a,b\n{text}ten,u\n"));
    options.keep.pop();
    options.schema.remove("c");
    let blocks = Blocks::open_declared(&path, &options, 3, &run()).unwrap();
    let error = levels(&blocks).unwrap_err();
    let expected =
        format!("{}, row 11, column 'a': expected a number, found 'ten'", path.display());
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().is_some());
}

#[test]
fn forms_that_would_change_earlier_blocks_are_refused() {
    // More than a chunk, so that blocks are shown before the last row is seen.
    let rows = 200_000;
    let text = format!("a;b\n{}1.234,5;u\n", "1.234;u\n".repeat(rows));
    let (_folder, path) = file("t.csv", text);
    let options = ReadOptions {
        schema: [("a".into(), ColumnKind::Numeric)].into(),
        keep: vec!["a".into()],
        ..ReadOptions::default()
    };
    let read = |block| {
        let blocks = Blocks::open_declared(&path, &options, block, &run()).unwrap();
        let mut all = Vec::new();
        let done = blocks.visit(&run(), &mut |_, mut block| {
            all.extend(block.take("a")?.into_numbers("a")?);
            Ok(())
        });
        done.map(|()| all)
    };
    let all = read(1 << 20).unwrap();
    assert_eq!((all.len(), all[0], all[rows]), (rows + 1, 1234.0, 1234.5));
    let error = read(1000).unwrap_err();
    assert!(error.to_string().contains("column 'a': points between thousands"), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn several_csv_files_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name);
    fs::write(name("a.csv"), "x,c\n1,u\n2,v\n").unwrap();
    fs::write(name("b.csv"), "x,c\n3,w\n").unwrap();
    fs::write(name("c.csv"), "x,c\n4,u\nfive,u\n").unwrap();
    let pattern = name("[ab].csv");
    let two = Blocks::open(&pattern, &ReadOptions::default(), 2, &run()).unwrap();
    assert_eq!((two.rows(), two.paths().count()), (Some(3), 2));
    fs::write(name("whole"), "x,c\n1,u\n2,v\n3,w\n4,u\nfive,u\n").unwrap();
    let blocks = Blocks::open(&name("*.csv"), &ReadOptions::default(), 2, &run()).unwrap();
    let whole = read(&name("whole"), &ReadOptions::default(), &run());
    assert_eq!(shown(&joined(&blocks, &run())), shown(&whole));
    // Rows are counted from the first of their file.
    let options =
        ReadOptions { schema: [("x".into(), ColumnKind::Numeric)].into(), ..<_>::default() };
    let error = Blocks::open(&name("*.csv"), &options, 2, &run()).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{}, row 2, column 'x': expected a number, found 'five'", name("c.csv").display())
    );
    fs::write(name("d.csv"), "x,d\n4,u\n").unwrap();
    let error = Blocks::open(&name("*.csv"), &options, 2, &run()).unwrap_err().to_string();
    assert!(error.contains("d.csv, column 'd'") && error.contains("a.csv"), "{error}");
}

#[test]
fn files_that_change_between_passes_are_refused() {
    let (_folder, path) = file("t.csv", "x,c\n1,u\n2,v\n");
    let blocks = Blocks::open(&path, &ReadOptions::default(), 2, &run()).unwrap();
    fs::write(&path, "x,c\n1,u\n2,v\n3,w\n").unwrap();
    let error = joined(&blocks, &run()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}: the file changed while it was read", path.display())
    );
    assert!(error.hint().is_some());
}

#[test]
fn what_is_done_with_a_block_may_fail() {
    let (_folder, path) = file("t.csv", mixed(300));
    let blocks = Blocks::open(&path, &ReadOptions::default(), 10, &run()).unwrap();
    let mut seen = 0;
    let failed = blocks.visit(&run(), &mut |_, _| {
        seen += 1;
        if seen == 3 { Err(dolmen::Error::shape("rows", 1, 2)) } else { Ok(()) }
    });
    assert_eq!((failed.unwrap_err().to_string(), seen), ("rows: expected 1, found 2".into(), 3));
    let cancelled = run();
    cancelled.cancel();
    assert!(matches!(blocks.visit(&cancelled, &mut |_, _| Ok(())), Err(dolmen::Error::Cancelled)));
}

#[test]
fn empty_files_and_folders_are_named() {
    let (folder, path) = file("t.csv", "");
    let fails = |path: &Path| {
        let error = Blocks::open(path, &ReadOptions::default(), 2, &run()).unwrap_err();
        error.to_string()
    };
    assert!(fails(&path).ends_with("t.csv: the file is empty"), "{}", fails(&path));
    fs::write(&path, "a,b\n").unwrap();
    assert!(fails(&path).ends_with("there are no rows below the header"));
    assert!(fails(folder.path()).ends_with("there are no Parquet files in the folder"));
    assert!(fails(&folder.path().join("*.pq")).ends_with("no file has a name of this pattern"));
    assert!(fails(&folder.path().join("none.csv")).contains("none.csv"));
    assert!(Blocks::open(&path, &ReadOptions::default(), 0, &run()).is_err());
    let inner = folder.path().join("part.parquet");
    fs::create_dir(&inner).unwrap();
    for named in [folder.path().to_path_buf(), folder.path().join("*.parquet")] {
        assert!(fails(&named).ends_with("part.parquet: it is a folder, not a file"));
    }
    fs::remove_dir(&inner).unwrap();
    fs::create_dir(folder.path().join("k=1")).unwrap();
    let error = Blocks::open(folder.path(), &ReadOptions::default(), 2, &run()).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.ends_with("/*/*.parquet'")), "{error:?}");
}

/// Passed over, the rows of such a file would be missing without a word.
#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_named() {
    let (folder, _) = file("t.csv", mixed(30));
    std::os::unix::fs::symlink("/nowhere/u.csv", folder.path().join("u.csv")).unwrap();
    std::os::unix::fs::symlink("/nowhere/v.parquet", folder.path().join("v.parquet")).unwrap();
    for (named, missing) in [("*.csv", "u.csv"), ("*.parquet", "v.parquet"), ("", "v.parquet")] {
        let path = folder.path().join(named);
        let error = Blocks::open(&path, &ReadOptions::default(), 10, &run()).unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
    }
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array,
        RecordBatch, StringArray, types::Int32Type,
    };
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::*;

    /// Rows of every type that is told apart, in row groups of this size.
    fn write_rows(path: &Path, rows: std::ops::Range<i64>, group: usize) {
        let some = |i: &i64| i % 5 != 2;
        let texts: Vec<String> = rows.clone().map(|i| format!("t{}", i % 11)).collect();
        let prices: Vec<String> =
            rows.clone().map(|i| format!("${},{:03}", i + 1, i % 1000)).collect();
        let text = |i: i64| some(&i).then(|| texts[(i - rows.start) as usize].as_str());
        let dictionary: DictionaryArray<Int32Type> = rows.clone().map(text).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            (
                "x",
                Arc::new(
                    rows.clone()
                        .map(|i| some(&i).then(|| (i as f64).sqrt()))
                        .collect::<Float64Array>(),
                ),
            ),
            ("id", Arc::new(rows.clone().collect::<Int64Array>())),
            (
                "truth",
                Arc::new(
                    rows.clone().map(|i| some(&i).then_some(i % 3 == 0)).collect::<BooleanArray>(),
                ),
            ),
            ("text", Arc::new(rows.clone().map(text).collect::<StringArray>())),
            ("dictionary", Arc::new(dictionary)),
            (
                "day",
                Arc::new(
                    rows.clone().map(|i| Some(18_000 + i as i32 % 400)).collect::<Date32Array>(),
                ),
            ),
            ("price", Arc::new(StringArray::from(prices))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties =
            WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
        let mut writer =
            ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), Some(properties))
                .unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn blocks_of_parquet_are_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_rows(&path, 0..1000, 130);
        for block in [1, 64, 130, 333, 5000] {
            check(&path, &ReadOptions::default(), block);
        }
        let options = ReadOptions {
            schema: [("id".into(), ColumnKind::Categorical), ("truth".into(), ColumnKind::Numeric)]
                .into(),
            missing: vec!["7".into()],
            drop: vec!["price".into()],
            ..ReadOptions::default()
        };
        check(&path, &options, 100);
    }

    #[test]
    fn folders_and_patterns_are_one_table() {
        let folder = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir().unwrap();
        let whole = home.path().join("whole.parquet");
        write_rows(&whole, 0..1000, 1000);
        let parts = [(0, 10), (10, 10), (10, 300), (300, 777), (777, 1000)];
        for (k, (from, to)) in parts.into_iter().enumerate() {
            write_rows(&folder.path().join(format!("part-{k}.parquet")), from..to, 64);
        }
        fs::write(folder.path().join("_SUCCESS"), "").unwrap();
        let brackets = folder.path().join("part-[0-3].parquet");
        let some = Blocks::open(&brackets, &ReadOptions::default(), 128, &run()).unwrap();
        assert_eq!((some.rows(), some.passed_over()), (Some(777), None));
        let expected = shown(&read(&whole, &ReadOptions::default(), &run()));
        let pattern = folder.path().join("part-?.parquet");
        for path in [folder.path(), &pattern] {
            let blocks = Blocks::open(path, &ReadOptions::default(), 128, &run()).unwrap();
            let found = joined(&blocks, &run()).unwrap();
            // The reader's notes and forms are those of the blocks.
            let head = format!("{:?} {:?}\n", blocks.notes(), blocks.written());
            let body = shown(&Ok(found));
            assert_eq!(head + body.split_once('\n').unwrap().1, expected);
        }
    }

    /// Somebody may take them for a part of the table.
    #[test]
    fn what_is_passed_over_in_a_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        write_rows(&folder.path().join("a.parquet"), 0..10, 64);
        let note = || {
            let blocks = Blocks::open(folder.path(), &ReadOptions::default(), 8, &run()).unwrap();
            assert_eq!(
                blocks.passed_over(),
                blocks.notes().last().map(String::as_str).filter(|n| n.contains("passed"))
            );
            blocks.passed_over().map(|note| note.split_once("; ").unwrap().1.to_string())
        };
        fs::write(folder.path().join("_metadata"), "").unwrap();
        fs::write(folder.path().join(".hidden"), "").unwrap();
        assert_eq!(note(), None);
        fs::write(folder.path().join("b.csv"), "x\n1\n").unwrap();
        assert_eq!(note().unwrap(), "1 other file is passed over (b.csv)");
        fs::create_dir(folder.path().join("year=2")).unwrap();
        fs::create_dir(folder.path().join("year=3")).unwrap();
        assert_eq!(note().unwrap(), "1 other file and 2 folders are passed over (such as b.csv)");
    }

    #[test]
    fn files_that_do_not_go_together_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let number = |v: f64| Column::Numeric(vec![v]);
        let table = |columns: Vec<(&str, Column)>| {
            Table::new(columns.into_iter().map(|(n, c)| (n.to_string(), c)).collect()).unwrap()
        };
        let texts = Column::Categorical(dolmen::table::Categories::new([Some("u")]));
        let open = || Blocks::open(folder.path(), &ReadOptions::default(), 8, &run());
        write(
            &table(vec![("x", number(1.0)), ("y", number(2.0))]),
            &folder.path().join("a.parquet"),
        )
        .unwrap();
        let second = folder.path().join("b.parquet");
        let cases: [(Vec<(&str, Column)>, &str); 5] = [
            (vec![("x", number(1.0)), ("z", number(1.0))], "column 'y': it is missing here"),
            (
                vec![("y", number(1.0)), ("x", number(1.0))],
                "in another order: 'y' stands where 'x'",
            ),
            (vec![("x", number(1.0))], "column 'y': it is missing here"),
            (vec![("x", number(1.0)), ("y", texts.clone())], "column 'y': it is of the type"),
            (
                vec![("x", number(1.0)), ("y", number(1.0)), ("w", texts)],
                "column 'w': it is not in",
            ),
        ];
        for (columns, expected) in cases {
            write(&table(columns), &second).unwrap();
            let error = open().unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(expected) && text.contains("a.parquet") && text.contains("b.parquet"),
                "{text}"
            );
            assert!(error.hint().is_some() && !text.contains('\n'));
        }
        fs::write(&second, "").unwrap();
        assert!(open().unwrap_err().to_string().contains("b.parquet"));
        let bytes = fs::read(folder.path().join("a.parquet")).unwrap();
        fs::write(&second, &bytes[..bytes.len() / 2]).unwrap();
        assert!(open().unwrap_err().to_string().contains("b.parquet"));
    }

    #[test]
    fn damage_behind_the_first_rows_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_rows(&path, 0..20_000, 1000);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle..middle + 3000].fill(0xff);
        fs::write(&path, bytes).unwrap();
        let error = Blocks::open(&path, &ReadOptions::default(), 500, &run()).unwrap_err();
        assert!(error.to_string().contains("t.parquet"), "{error}");
    }
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-50..50_i32).prop_map(|v| v.to_string()),
        2 => Just(String::from("1.5")),
        1 => Just(String::from("NA")),
        1 => Just(String::new()),
        1 => prop::sample::select(vec!["\"a,b\"", "red", "\"1,5\"", "2021-01-05", "$3", "x y"])
            .prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_the_cells_blocks_are_the_table(
        rows in prop::collection::vec((cell(), cell(), 0..3_usize), 1..60),
        block in 1..70_usize,
    ) {
        let mut text = String::from("a,b,c\n");
        for (a, b, c) in &rows {
            writeln!(text, "{a},{b},{}", ["u", "v", "w"][*c]).unwrap();
        }
        let (_folder, path) = file("t.csv", text);
        check(&path, &ReadOptions::default(), block);
    }

    #[test]
    fn what_is_written_reads_back_in_blocks(
        values in prop::collection::vec(any::<f64>(), 1..40),
        block in 1..50_usize,
    ) {
        let table = Table::new(vec![("x".into(), Column::Numeric(values))]).unwrap();
        let mut text = Vec::new();
        write_csv(&table, &mut text).unwrap();
        let (_folder, path) = file("t.csv", text);
        check(&path, &ReadOptions::default(), block);
    }
}
