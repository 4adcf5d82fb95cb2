//! Cells as people write them: decimal commas, currencies, dates of all kinds, words for what is missing; and targets that
//! are texts by accident.

use std::fmt::Write;

/// What a row has in the column under test.
type Cell = fn(usize) -> String;

use crate::folder::{Folder, IRIS};

/// So many rows made from their number, below a header.
fn rows(header: &str, count: usize, row: impl Fn(usize) -> String) -> String {
    (0..count).fold(format!("{header}\n"), |mut text, i| {
        writeln!(text, "{}", row(i)).unwrap();
        text
    })
}

fn wave(i: usize, pace: f64) -> f64 {
    (i as f64 * pace).sin()
}

/// A fit of one tree on `d.csv` to the target `y`.
const FIT: [&str; 9] =
    ["fit", "d.csv", "--target", "y", "--model", "tree", "--alone", "-o", "m.dolmen"];

#[test]
fn decimal_commas_are_read_and_remembered() {
    let comma = |value: f64| format!("{value:.3}").replace('.', ",");
    let text =
        rows("x;y", 40, |i| format!("{};{}", comma(wave(i, 0.7)), comma(3.0 * wave(i, 0.7))));
    let folder = Folder::with("d.csv", text);
    let outcome = folder.dolmen(&FIT);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("regression"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("column 'y' holds numbers with a decimal comma"));
    // New rows are read alike, whatever stands between their cells, and the truth too.
    folder.write("new.csv", "x;z\n0,900;1\n-0,900;2\n");
    folder.write("plain.csv", "x,z\n0.9,1\n-0.9,2\n");
    let predicted = folder.succeeds(&["predict", "m.dolmen", "new.csv"]);
    assert_eq!(folder.succeeds(&["predict", "m.dolmen", "plain.csv"]), predicted);
    let means: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!(means[0] > 1.5 && means[1] < -1.5, "{predicted}");
    assert!(folder.json(&["score", "m.dolmen", "d.csv"])["score"].as_f64().unwrap() > -0.5);
    let report = folder.json(&["inspect", "d.csv"]);
    assert_eq!(report["columns"][1]["type"], "numeric");
    assert_eq!(report["notes"].as_array().unwrap().len(), 2);
}

#[test]
fn thousands_currencies_and_shares_are_numbers() {
    for row in [
        |i: usize| format!("{i},\"{},{:03}.50\"", 1 + i, 7 * i),
        |i: usize| format!("{i},${}.5", 10 * i),
        |i: usize| format!("{i},{} %", i * i % 37),
    ] {
        let folder = Folder::with("d.csv", rows("x,y", 30, row));
        let outcome = folder.dolmen(&FIT);
        assert!(outcome.stdout.contains("regression"), "{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stderr.contains("is read as numbers"), "{}", outcome.stderr);
    }
}

#[test]
fn targets_that_are_texts_by_accident_are_refused() {
    let cases: [(Cell, &str); 4] = [
        (|i| format!("2024-01-{:02}", i + 1), "dates"),
        (|i| format!("{}.25 kg", 10 + i), "numbers with words beside them, such as '10.25 kg'"),
        (|i| format!("what the people of house {i} said about the heat"), "free text"),
        (|i| format!("n{i}"), "names or identifiers"),
    ];
    for (text, looks) in cases {
        let table = rows("x,y", 30, |i| format!("{},{}", wave(i, 0.7), text(i)));
        let folder = Folder::with("d.csv", table);
        folder.refuses_naming(&FIT, &["d.csv", "column 'y'", looks, "30 rows"]);
        assert!(folder.dolmen(&FIT).stderr.contains("--task classify"));
        folder.succeeds(&[&FIT[..], &["--task", "classify"]].concat());
    }
    // As an input such a column is left out for the reason that is true.
    let table = rows("x,w,y", 30, |i| format!("{0},{i}.5 kg,{0}", wave(i, 0.7)));
    let said = Folder::with("d.csv", table).dolmen(&FIT).stderr;
    assert!(said.contains("column 'w' is left out: its numbers have words beside them"), "{said}");
}

#[test]
fn times_are_split_in_their_own_order() {
    // By spelling, the tenth month would come before the second, and April first of all.
    let months =
        ["Apr", "Aug", "Dec", "Feb", "Jan", "Jul", "Jun", "Mar", "May", "Nov", "Oct", "Sep"];
    let text = rows("day,named,n", 12, |i| format!("{}/1/2021,01-{}-2021,{i}", 12 - i, months[i]));
    let folder = Folder::with("d.csv", text);
    folder.succeeds(&["split", "d.csv", "--time", "day", "--test", "3"]);
    assert_eq!(folder.read("d.test.csv").lines().nth(1), Some("12/1/2021,01-Apr-2021,0"));
    folder.succeeds(&["split", "d.csv", "--time", "named", "--test", "3"]);
    let test = folder.read("d.test.csv");
    for month in ["Oct", "Nov", "Dec"] {
        assert!(test.contains(month), "{test}");
    }
    folder.write("w.csv", "when,n\nsoon,1\nlater,2\nnever,3\n2021-01-01,4\n");
    folder.refuses_naming(&["split", "w.csv", "--time", "when", "--test", "1"], &["order of time"]);
}

#[test]
fn dates_of_all_kinds_are_used() {
    let cases: [(Cell, &str); 5] = [
        (|i| format!("{}/{}/2021 1:05 PM", i % 12 + 1, i % 28 + 1), "when.month"),
        (|i| format!("{}.03.21", i % 28 + 1), "when.days"),
        (|i| format!("\"January {}, 2021\"", i % 28 + 1), "when.days"),
        (|i| format!("{:02}:30", i % 24), "times of day"),
        (|i| format!("202101{:02}", i % 28 + 1), "when.days"),
    ];
    for (date, said) in cases {
        let table = rows("when,y", 40, |i| format!("{},{}", date(i), wave(i, 0.7)));
        let outcome = Folder::with("d.csv", table).dolmen(&FIT);
        assert!(outcome.stderr.contains(said), "{}: {}", date(0), outcome.stderr);
    }
    let table = rows("when,y", 12, |i| format!("{:02}/04/2020,{i}", i + 1));
    let said = Folder::with("d.csv", table).dolmen(&FIT).stderr;
    assert!(said.contains("'01/04/2020' is read with the month first"), "{said}");
}

#[test]
fn words_for_missing_values_match_by_value() {
    let text = rows("x,y", 40, |i| {
        let x = match i % 16 {
            1 => "-999.0".into(),
            9 => "-9.99e2".into(),
            _ => wave(i, 1.3).to_string(),
        };
        format!("{x},{}", wave(i, 0.4))
    });
    let folder = Folder::with("d.csv", text);
    let report = folder.json(&["inspect", "d.csv", "--missing", "-999"]);
    assert_eq!(report["columns"][0]["missing"], 5);
    let said = folder.dolmen(&[&FIT[..], &["--missing", "-99"]].concat()).stderr;
    assert!(said.contains("no cell is '-99'"), "{said}");
}

#[test]
fn files_of_spreadsheets_and_other_encodings() {
    let folder = Folder::with("d.csv", "sep=;\r\na;b;a\r\n1,5;2;3\r\n2,5;4;4\r\n");
    let report = folder.json(&["inspect", "d.csv"]);
    assert_eq!(report["columns"][2]["name"], "a.2");
    assert_eq!(report["columns"][0]["max"], 2.5);
    folder.write("l.csv", b"name,x\nM\xfcller,1\nMeyer,2\n");
    assert!(folder.dolmen(&["inspect", "l.csv"]).stderr.contains("iconv"));
}

#[test]
fn a_column_of_texts_is_not_cured_by_a_word_for_missing_values() {
    let folder = Folder::new();
    let outcome = folder.dolmen(&["fit", IRIS, "--target", "Species", "--task", "regress"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("150 of 150 cells are texts"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--task classify"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("--missing"), "{}", outcome.stderr);
}

#[test]
fn outputs_are_packed_as_their_names_say() {
    let folder = Folder::new();
    folder.succeeds(&["fit", IRIS, "-q", "--model", "gaussian", "--alone", "-o", "d.dolmen"]);
    let plain = folder.succeeds(&["predict", "d.dolmen", IRIS]);
    folder.succeeds(&["predict", "d.dolmen", IRIS, "-o", "p.csv.gz"]);
    assert!(std::fs::read(folder.path("p.csv.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let read = folder.json(&["inspect", "p.csv.gz"]);
    assert_eq!(read["rows"], plain.lines().count() - 1);
    folder.refuses_naming(&["predict", "d.dolmen", IRIS, "-o", "p.xlsx"], &["p.xlsx", ".csv.gz"]);
}

#[test]
fn one_member_is_no_choice() {
    let folder = Folder::new();
    let text = folder.succeeds(&["fit", IRIS, "-q", "--target", "Species", "--model", "tree"]);
    assert!(text.contains("kept           the only member: there is nothing to choose"), "{text}");
    assert!(!text.contains("as asked"), "{text}");
    let alone = ["--model", "ridge", "--alone", "-o", "m.dolmen"];
    folder.succeeds(&[&["fit", IRIS, "-q", "--target", "Sepal.Length"][..], &alone].concat());
    folder.refuses_naming(&["predict", "m.dolmen", IRIS, "--interval", "0.9"], &["--alone"]);
}

#[test]
fn a_class_is_not_called_a_member() {
    let table = rows("a,b,t", 41, |i| {
        let class = if i == 0 { "rare" } else { ["p", "q"][i % 2] };
        format!("{},{},{class}", wave(i, 1.7), wave(i, 0.6) + (i % 2) as f64)
    });
    let folder = Folder::with("d.csv", table);
    let model = ["--model", "bayes(density=mixture(components=2))", "--model", "tree"];
    let text = folder.succeeds(
        &[&["fit", "d.csv", "-q", "--target", "t", "--drop-failed"][..], &model].concat(),
    );
    assert!(text.contains("class 'rare'") && !text.contains("member 'class"), "{text}");
}

#[test]
fn a_constant_target_gets_a_note() {
    let table = rows("x,y", 12, |i| format!("{},7", wave(i, 0.7)));
    let folder = Folder::with("d.csv", table);
    let said = folder.dolmen(&["fit", "d.csv", "--target", "y", "--model", "mean", "--alone"]);
    assert!(said.stderr.contains("the target 'y' is the same in all rows"), "{}", said.stderr);
}

/// However many cells are such words: a column of many numbers is none of categories.
#[test]
fn words_among_many_numbers_are_named() {
    let cell =
        |i: usize| if i.is_multiple_of(5) { "unk".into() } else { format!("{}.5", i * 7 % 90) };
    let table = rows("x,y", 90, |i| format!("{},{}", cell(i), wave(i, 0.7)));
    let folder = Folder::with("d.csv", table);
    folder.refuses_naming(&FIT, &["column 'x'", "unk"]);
    assert!(folder.dolmen(&FIT).stderr.contains("--missing"));
    folder.succeeds(&[&FIT[..], &["--missing", "unk"]].concat());
}

/// A model's file had points between thousands and a delimiter that was named: rows drawn from it, which are written with
/// commas between cells, are read back all the same.
#[test]
fn rows_drawn_are_read_back_by_the_model_that_drew_them() {
    let price = |i: usize| format!("€ {}.{:03},50", 1 + i % 7, 13 * i % 1000);
    let text = rows("price;share", 60, |i| format!("{};{}", price(i), wave(i, 0.7)));
    let folder = Folder::with("d.csv", text);
    let fit = ["fit", "d.csv", "--delimiter", ";", "--model", "gaussian", "--alone"];
    folder.succeeds(&[&fit[..], &["-o", "m.dolmen"]].concat());
    for drawn in ["drawn.csv", "drawn.parquet", "drawn.json"] {
        folder.succeeds(&["sample", "m.dolmen", "--rows", "20", "-o", drawn]);
        if !drawn.ends_with("json") {
            let predicted = folder.succeeds(&["predict", "m.dolmen", drawn]);
            assert_eq!(predicted.lines().count(), 21, "{predicted}");
            assert!(!predicted.contains("inf"), "{predicted}");
        }
    }
    let first = folder.read("drawn.csv").lines().nth(1).unwrap().to_string();
    assert!(first.starts_with('"') && first.contains(','), "{first}");
    // A file like the first is still read by its delimiter.
    folder.succeeds(&["predict", "m.dolmen", "d.csv"]);
}

#[test]
fn numbers_written_in_two_ways_are_refused_with_both() {
    let number = |i: usize| {
        let plain = format!("{}.{}", 10 + i, i % 10);
        if i.is_multiple_of(2) { plain } else { plain.replace('.', ",") }
    };
    let folder = Folder::with("d.csv", rows("x;y", 50, |i| format!("{};{i}", number(i))));
    folder.refuses_naming(&FIT, &["row 2", "'x'", "'11,1' here", "'10.0' in row 1"]);
}
