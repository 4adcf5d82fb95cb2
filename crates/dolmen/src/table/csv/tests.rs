use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::table::Column;
use crate::table::read::ColumnKind;

fn run(threads: usize) -> Run {
    Run::with_threads(0, threads).unwrap()
}

fn read_with(text: &[u8], options: &ReadOptions, size: usize, run: &Run) -> Result<Table> {
    let source = &mut Cursor::new(text);
    let delimiters = Delimiters { given: Some(b','), usual: None };
    read_in_chunks(Input { source, file: Path::new("t.csv"), delimiters }, options, size, run)
}

fn read_text(text: &str) -> Result<Table> {
    read_with(text.as_bytes(), &ReadOptions::default(), CHUNK, &run(1))
}

/// A table or an error as text, in which missing numbers equal each other.
fn shown(table: &Result<Table>) -> String {
    match table {
        Ok(table) => format!("{table:?}"),
        Err(error) => format!("{error} / {:?}", error.hint()),
    }
}

/// A numeric column's cells, as text.
fn numbers(table: &Table, name: &str) -> Vec<String> {
    match table.column(name).unwrap() {
        Column::Numeric(values) => values.iter().map(f64::to_string).collect(),
        Column::Categorical(_) => panic!("'{name}' is categorical"),
    }
}

fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match table.column(name).unwrap() {
        Column::Numeric(_) => panic!("'{name}' is numeric"),
        Column::Categorical(c) => (0..table.rows()).map(|i| c.level(i).map(String::from)).collect(),
    }
}

#[test]
fn numbers_categories_and_missing_values_are_told_apart() {
    let table =
        read_text("\u{feff}x,colour,y\r\n1,red,-inf\r\n ?,\"a \"\"b\"\", c\",2e3\r\n-.5, red ,NA")
            .unwrap();
    assert_eq!(table.names(), ["x", "colour", "y"]);
    assert_eq!(numbers(&table, "x"), ["1", "NaN", "-0.5"]);
    let colour = texts(&table, "colour").into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(colour, ["red", "a \"b\", c", "red"]);
    assert_eq!(numbers(&table, "y"), ["-inf", "2000", "NaN"]);
}

#[test]
fn quotes_hold_delimiters_line_ends_and_blanks() {
    let table = read_text("a,b\n\"x,\ny\",\" z \"\n\"\",u\"v\n").unwrap();
    assert_eq!(texts(&table, "a"), [Some("x,\ny".into()), None]);
    assert_eq!(texts(&table, "b"), [Some(" z ".into()), Some("u\"v".into())]);
}

#[test]
fn a_column_found_to_be_categorical_in_the_last_row_is_read_again() {
    let codes = (0..50).map(|i| format!("0{},{i}\n", i % 3));
    let texts_at_last = (0..10).map(|i| format!("x{i},{i}\n"));
    let text = format!("code,n\n{}", codes.chain(texts_at_last).collect::<String>());
    for size in [1, 7, 64, CHUNK] {
        let table = read_with(text.as_bytes(), &ReadOptions::default(), size, &run(2)).unwrap();
        assert_eq!(texts(&table, "code")[..3], ["00", "01", "02"].map(|l| Some(l.to_string())));
        assert_eq!(numbers(&table, "n")[59], "9");
    }
}

#[test]
fn a_few_texts_among_numbers_are_an_error_that_names_the_cell() {
    let rows = |texts: usize| {
        let cells = (0..20).map(|i| if i >= 20 - texts { "1.2.3\n" } else { "7\n" });
        format!("x\n{}", cells.collect::<String>())
    };
    for texts in [1, 2] {
        let error = read_text(&rows(texts)).unwrap_err();
        let row = 21 - texts;
        let expected = format!("t.csv, row {row}, column 'x': expected a number, found '1.2.3'");
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().unwrap().contains("--schema 'x=categorical'"));
    }
    assert_eq!(texts(&read_text(&rows(3)).unwrap(), "x").len(), 20);

    let declared =
        |kind| ReadOptions { schema: [("x".to_string(), kind)].into(), ..ReadOptions::default() };
    let read = |options: &ReadOptions| read_with(rows(1).as_bytes(), options, 16, &run(2));
    assert_eq!(texts(&read(&declared(ColumnKind::Categorical)).unwrap(), "x").len(), 20);
    assert!(read(&declared(ColumnKind::Numeric)).unwrap_err().to_string().contains("'1.2.3'"));
    let known = ReadOptions { missing: vec!["1.2.3".into()], ..ReadOptions::default() };
    assert_eq!(numbers(&read(&known).unwrap(), "x").iter().filter(|v| *v == "NaN").count(), 1);
}

#[test]
fn a_number_may_mean_missing() {
    let options = ReadOptions { missing: vec!["-99".into()], ..ReadOptions::default() };
    let table = read_with(b"x,c\n-99,-99\n-99.0,a", &options, CHUNK, &run(1)).unwrap();
    assert_eq!(numbers(&table, "x"), ["NaN", "NaN"]);
    assert_eq!(texts(&table, "c"), [None, Some("a".into())]);
}

#[test]
fn columns_are_kept_dropped_and_ignored() {
    let mut options = ReadOptions { drop: vec!["b".into()], ..ReadOptions::default() };
    let names = |options: &ReadOptions| {
        let table = read_with(b"a,b,c\n1,x,2\n3,,4\n", options, CHUNK, &run(1));
        table.map(|t| t.names().to_vec())
    };
    assert_eq!(names(&options).unwrap(), ["a", "c"]);
    options.schema.insert("a".into(), ColumnKind::Ignore);
    assert_eq!(names(&options).unwrap(), ["c"]);
    options.keep = vec!["a".into()];
    assert_eq!(names(&options).unwrap_err().to_string(), "t.csv: no column is left to read");
    options.keep = vec!["C".into()];
    let error = names(&options).unwrap_err();
    assert_eq!(error.to_string(), "t.csv: there is no column 'C'");
    assert_eq!(error.hint().unwrap(), "did you mean 'c'?");
}

#[test]
fn files_that_are_no_tables_are_refused_in_one_line() {
    let cases: [(&[u8], &str); 11] = [
        (b"", "t.csv: the file is empty"),
        (b"\n\r\n", "t.csv: the file is empty"),
        (b"a,b\n", "t.csv: there are no rows below the header"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv, row 2: expected 2 cells as in the header, found 3"),
        (b"a,b\n\n1\n", "t.csv, row 1: expected 2 cells as in the header, found 1"),
        (b"a,b\n1,2\n3,\"4\n5,6\n", "t.csv, row 2: a quoted cell does not end"),
        (b"a,\"b\n1,2\n", "t.csv: a quoted cell does not end"),
        (b"a,b\n1,x\n2,\xff\n", "t.csv, row 2, column 'b': the text is not UTF-8"),
        (b"a,\xff\n1,x\n", "t.csv: the text is not UTF-8"),
        (b"PAR1\x15\x04", "t.csv: the file is Parquet, not CSV; name it .parquet"),
        (b"\xff\xfea\0", "t.csv: the text is UTF-16; save it as UTF-8"),
    ];
    for (text, expected) in cases {
        for size in [1, CHUNK] {
            let error = read_with(text, &ReadOptions::default(), size, &run(1)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn a_cancelled_run_reads_no_further() {
    let run = run(1);
    run.cancel();
    let table = read_with(b"a\n1\n", &ReadOptions::default(), CHUNK, &run);
    assert!(matches!(table, Err(Error::Cancelled)));
}

/// The records as csv-core sees them.
fn oracle(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv_core::Reader::new();
    let (mut bytes, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 1]);
    let (mut records, mut at) = (Vec::new(), 0);
    let (mut filled, mut ended) = (0, 0);
    loop {
        let (result, read, written, found) =
            reader.read_record(&text[at..], &mut bytes[filled..], &mut ends[ended..]);
        (at, filled, ended) = (at + read, filled + written, ended + found);
        match result {
            csv_core::ReadRecordResult::End => return records,
            // The last record may lack its line end: empty input then says that there is no more.
            csv_core::ReadRecordResult::InputEmpty => {}
            csv_core::ReadRecordResult::Record => {
                let starts = std::iter::once(&0).chain(&ends);
                let cell = |(first, last): (&usize, &usize)| bytes[*first..*last].to_vec();
                records.push(starts.zip(&ends[..ended]).map(cell).collect());
                (filled, ended) = (0, 0);
            }
            result => panic!("{result:?}: the buffers are as long as the text"),
        }
    }
}

/// The records as the scanner sees them; `None` if a quote is left open.
fn scanned(text: &[u8]) -> Option<Vec<Vec<Vec<u8>>>> {
    let mut scanner = Scanner::new(text, b',');
    let mut records = Vec::new();
    while scanner.next_record() {
        let mut cells = Vec::new();
        while !scanner.ended() {
            cells.push(scanner.cell().ok()?.to_vec());
        }
        records.push(cells);
    }
    Some(records)
}

/// Text in which everything that has a meaning for the reader is frequent.
fn tricky() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(b"aab01,,,\"\"\n\n\r-.?N".to_vec());
    prop::collection::vec(byte, 0..60)
}

/// A table's text of two columns, mostly well formed.
fn plausible() -> impl Strategy<Value = Vec<u8>> {
    let cell = prop_oneof![
        6 => "-?[0-9]{1,3}(\\.[0-9]{1,2})?",
        2 => "[a-c]{1,2}",
        1 => "(NA|\\?| x |)",
        1 => "\"[a,\n]{0,3}(\"\")?\"",
    ];
    let end = prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n"]);
    let row = (cell.clone(), cell, end).prop_map(|(a, b, end)| format!("{a},{b}{end}"));
    prop::collection::vec(row, 0..40)
        .prop_map(|rows| format!("p,q\n{}", rows.concat()).into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cells_are_those_of_csv_core(text in tricky()) {
        // Blanks are the one difference, and there are none here.
        if let Some(records) = scanned(&text) {
            prop_assert_eq!(records, oracle(&text));
        }
    }

    #[test]
    fn chunks_end_where_records_end(text in tricky(), size in 1_usize..20) {
        let mut source = Cursor::new(&text);
        let mut chunks = Chunks::new(&mut source, 0, b',', size);
        let mut joined = Some(Vec::new());
        let mut length = 0;
        while let Some(chunk) = chunks.next_chunk().unwrap() {
            prop_assert_eq!(chunk.extent, Extent { offset: length, length: chunk.text.len() });
            length += chunk.text.len() as u64;
            joined = joined.zip(scanned(&chunk.text)).map(|(all, new)| [all, new].concat());
        }
        prop_assert_eq!(length, text.len() as u64);
        prop_assert_eq!(joined, scanned(&text));
    }

    #[test]
    fn neither_chunks_nor_threads_show_in_the_result(
        text in prop_oneof![plausible(), tricky()],
        size in 1_usize..40,
    ) {
        let options = ReadOptions::default();
        let whole = shown(&read_with(&text, &options, CHUNK, &run(1)));
        prop_assert_eq!(&shown(&read_with(&text, &options, size, &run(1))), &whole);
        prop_assert_eq!(&shown(&read_with(&text, &options, size, &run(2))), &whole);
    }

    #[test]
    fn no_bytes_whatever_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_with(&text, &ReadOptions::default(), 16, &run(1));
    }
}

#[test]
fn a_name_that_comes_twice_is_changed_with_a_note() {
    let table = read_text("a,b,a,a.2,a\n1,2,3,4,5\n").unwrap();
    assert_eq!(table.names(), ["a", "b", "a.3", "a.2", "a.4"]);
    assert_eq!(table.notes().len(), 2);
    assert!(table.notes()[0].contains("'a'") && table.notes()[0].contains("'a.3'"));
}

/// However the file is cut, and whether texts come first or last.
#[test]
fn numbers_that_are_not_written_plainly_are_numbers() {
    let plain = (0..60).fold(String::new(), |text, i| text + &i.to_string() + ",x\n");
    for text in [format!("n,t\n\"1,234.5\",x\n{plain}"), format!("n,t\n{plain}\"1,234.5\",x\n")] {
        for size in [1, 64, CHUNK] {
            let table = read_with(text.as_bytes(), &ReadOptions::default(), size, &run(2)).unwrap();
            assert!(numbers(&table, "n").contains(&"1234.5".to_string()));
            assert_eq!((table.written().len(), table.notes().len()), (1, 1));
        }
    }
    // One text among many numbers of another form is named, one that is no number at all.
    let error = read_text(&format!("n,t\n\"1,234.5\",x\nsoon,x\n{plain}")).unwrap_err();
    assert!(error.to_string().contains("row 2, column 'n': expected a number, found 'soon'"));
    // What is declared categorical stays.
    let schema = [("n".to_string(), ColumnKind::Categorical)].into();
    let options = ReadOptions { schema, ..ReadOptions::default() };
    let table = read_with(b"n,t\n\"1,5\",2\n", &options, CHUNK, &run(1)).unwrap();
    assert_eq!(texts(&table, "n"), [Some("1,5".into())]);
}

#[test]
fn a_word_that_is_a_number_means_it_however_it_is_spelled() {
    let missing = ReadOptions::default().missing.into_iter().chain(["-999".into(), "none".into()]);
    let options = ReadOptions { missing: missing.collect(), ..ReadOptions::default() };
    let text = b"x,t\n-999.0,-999\n-9.99e2,a\n1,b\n";
    let table = read_with(text, &options, CHUNK, &run(1)).unwrap();
    assert_eq!(numbers(&table, "x"), ["NaN", "NaN", "1"]);
    assert_eq!(texts(&table, "t"), [None, Some("a".into()), Some("b".into())]);
    assert_eq!(table.notes().len(), 1);
    assert!(table.notes()[0].contains("'none'"));
}

#[test]
fn a_column_of_texts_where_numbers_are_declared_is_called_so() {
    let schema = [("t".to_string(), ColumnKind::Numeric)].into();
    let options = ReadOptions { schema, ..ReadOptions::default() };
    let error = read_with(b"t,u\na,1\nb,2\n3,3\n", &options, CHUNK, &run(1)).unwrap_err();
    assert!(error.to_string().contains("2 of 3 cells are texts"), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("t=categorical") && !hint.contains("--missing"), "{hint}");
}

#[test]
fn the_line_by_which_spreadsheets_name_the_delimiter_is_no_header() {
    let text = &mut Cursor::new(b"\xef\xbb\xbfsep=;\r\na;b\r\n1,5;2\r\n");
    let input = Input { source: text, file: Path::new("t.csv"), delimiters: Delimiters::default() };
    let table = read_in_chunks(input, &ReadOptions::default(), CHUNK, &run(1)).unwrap();
    assert_eq!(table.names(), ["a", "b"]);
    assert_eq!(numbers(&table, "a"), ["1.5"]);
}
