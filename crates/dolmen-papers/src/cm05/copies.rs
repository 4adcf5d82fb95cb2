//! Files that are no set of their own: copies of sets that are counted already, parts of one set, targets that are no classes, and
//! classes of too few rows.

use std::collections::BTreeMap;
use std::path::Path;

use dolmen::table::{Categories, Column, Table};

/// The share of a column's values that a copy has, too: copies of iris differ in two flowers.
const SHARED: f64 = 0.95;
/// Columns of numbers that must agree at least: one alone may do so by chance.
const COLUMNS: usize = 2;
/// Different whole numbers that can still be classes at most.
const CLASSES: usize = 30;

/// Whether a table holds the rows of a known set, by the set's columns of numbers: names, the order of rows and columns, further
/// columns, and rows that were left out for missing values do not matter.
pub(super) fn is_copy(table: &Table, known: &Table) -> bool {
    let (own, columns) = (sorted_columns(table), sorted_columns(known));
    let is_held = |column: &Vec<f64>| own.iter().any(|values| shares_most(values, column));
    columns.len() >= COLUMNS && columns.iter().all(is_held)
}

/// The columns of numbers, each in order, without missing values.
fn sorted_columns(table: &Table) -> Vec<Vec<f64>> {
    let numbers = table.columns().filter_map(|(_, column)| match column {
        Column::Numeric(values) => Some(values),
        Column::Categorical(_) => None,
    });
    let sorted = |values: &Vec<f64>| {
        let mut known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        known
    };
    numbers.map(sorted).collect()
}

/// Whether two lists in order have nearly all values in common, repeats counted.
fn shares_most(one: &[f64], other: &[f64]) -> bool {
    let (mut i, mut j, mut shared) = (0, 0, 0_usize);
    while i < one.len() && j < other.len() {
        match one[i].total_cmp(&other[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    shared as f64 >= SHARED * one.len().max(other.len()) as f64
}

/// The name of the file that a file is the test part of: `vowel_tr.csv` for `vowel_te.csv`.
pub(super) fn trained_with(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let at = stem.rfind(['_', '-', '.'])? + 1;
    let train = match &stem[at..] {
        "te" => "tr",
        "test" => "train",
        _ => return None,
    };
    Some(format!("{}{train}.csv", &stem[..at]))
}

/// Whether a column can hold classes: words, or a few whole numbers.
pub(super) fn are_classes(column: &Column) -> bool {
    let Column::Numeric(values) = column else { return true };
    let mut known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    known.len() <= CLASSES && known.iter().all(|value| value.fract() == 0.0)
}

/// How many classes of a column have at least so many rows.
pub(super) fn classes_of(column: &Column, rows: usize) -> usize {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let mut count = |class: u64| *counts.entry(class).or_default() += 1;
    match column {
        Column::Categorical(own) => {
            let known = own.codes.iter().filter(|code| **code != Categories::MISSING);
            known.for_each(|code| count(u64::from(*code)));
        }
        Column::Numeric(values) => {
            let known = values.iter().filter(|value| !value.is_nan());
            known.for_each(|value| count(value.to_bits()));
        }
    }
    counts.values().filter(|count| **count >= rows).count()
}

#[cfg(test)]
mod tests {
    use dolmen::run::Run;
    use dolmen::table::{ReadOptions, read_text};

    use super::*;
    use crate::data::Carried;

    fn table(text: &str) -> Table {
        read_text(text, Path::new("set.csv"), &ReadOptions::default(), &Run::new(0)).unwrap()
    }

    #[test]
    fn copies_are_known_whatever_their_columns_are_called() {
        let iris = Carried::Iris.text();
        let carried = table(iris);
        let renamed = iris.replacen("Sepal.Length", "a", 1).replace("setosa", "Iris-setosa");
        assert!(is_copy(&table(&renamed), &carried));
        let numbered = iris.lines().enumerate().map(|(i, line)| format!("{i},{line}\n"));
        assert!(is_copy(&table(&numbered.collect::<String>()), &carried));
        // The last flowers left out, as if their cells were missing.
        let most: Vec<&str> = iris.lines().take(147).collect();
        assert!(is_copy(&table(&most.join("\n")), &carried));
        let half: Vec<&str> = iris.lines().take(76).collect();
        assert!(!is_copy(&table(&half.join("\n")), &carried));
        assert!(!is_copy(&table(Carried::Penguins.text()), &carried));
        // Tables without numbers are not compared.
        let words = table("u,v\na,b\nb,a\n");
        assert!(!is_copy(&words, &words));
    }

    #[test]
    fn the_test_part_of_a_set_is_known_by_its_name() {
        let of = |name: &str| trained_with(Path::new(name));
        assert_eq!(of("in/ripley_synth_te.csv").as_deref(), Some("ripley_synth_tr.csv"));
        assert_eq!(of("letters-test.csv").as_deref(), Some("letters-train.csv"));
        assert_eq!(
            (of("ripley_synth_tr.csv"), of("test.csv"), of("suite.csv")),
            (None, None, None)
        );
    }

    #[test]
    fn prices_are_no_classes_and_digits_are() {
        let column = |name: &str, text: &str| table(text).column(name).unwrap().clone();
        assert!(are_classes(&column("y", "x,y\n1,0\n2,1\n3,\n4,1\n")));
        assert!(are_classes(&column("Species", Carried::Iris.text())));
        assert!(!are_classes(&column("price", Carried::Sacramento.text())));
        assert!(!are_classes(&column("y", "x,y\n1,0.5\n2,1\n3,1\n")));
    }

    #[test]
    fn classes_are_counted_by_their_rows() {
        let column = |text: &str| table(text).column("y").unwrap().clone();
        let words = column("x,y\n1,a\n2,b\n3,a\n4,\n5,b\n6,c\n");
        assert_eq!([1, 2, 3].map(|rows| classes_of(&words, rows)), [3, 2, 0]);
        let digits = column("x,y\n1,0\n2,1\n3,\n4,1\n");
        assert_eq!([1, 2].map(|rows| classes_of(&digits, rows)), [2, 1]);
    }
}
