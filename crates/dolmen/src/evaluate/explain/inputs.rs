//! Which columns are one input: the indicators of one category, and the numbers made of one date, say one thing together.

use crate::table::{Kind, Rows};

/// An input: one column, or several that say one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The column's name, or what the names of several have in common.
    pub name: String,
    /// The columns, ascending.
    pub columns: Vec<usize>,
    /// Whether the columns are indicators of which at most one is 1.
    pub is_indicators: bool,
    /// Whether some row has no value in one of them.
    pub has_missing: bool,
}

/// The inputs of rows. `together` are names of columns that belong together, with the name of the whole; beside these, columns of
/// zeros and ones whose names share all up to their last separator (`colour_red`, `colour_blue`) are one input if no row has
/// two ones.
pub fn inputs(x: Rows<'_>, together: &[(String, Vec<String>)]) -> Vec<Input> {
    let fields = x.schema().fields();
    let mut inputs: Vec<Input> = Vec::new();
    for (j, field) in fields.iter().enumerate() {
        let whole = together.iter().find(|(_, parts)| parts.contains(&field.name));
        let is_indicator = matches!(field.kind, Kind::Numeric)
            && x.iter().all(|row| row[j] == 0.0 || row[j] == 1.0);
        let (name, is_indicators) = match whole {
            Some((name, _)) => (name.clone(), false),
            None if is_indicator => (stem(&field.name).to_string(), true),
            None => (field.name.clone(), false),
        };
        let same = |input: &&mut Input| {
            input.name == name
                && input.is_indicators == is_indicators
                && (whole.is_some() || is_indicators)
        };
        match inputs.iter_mut().find(same) {
            Some(input) => input.columns.push(j),
            None => {
                inputs.push(Input { name, columns: vec![j], is_indicators, has_missing: false });
            }
        }
    }
    let mut inputs: Vec<Input> = inputs.into_iter().flat_map(|input| sound(input, x)).collect();
    for input in &mut inputs {
        input.has_missing = input.columns.iter().any(|&j| x.column(j).any(f64::is_nan));
    }
    inputs
}

/// What the name of an indicator says of its category.
fn stem(name: &str) -> &str {
    name.rfind(['_', '=', '.', ':', '[', ' ']).filter(|at| *at > 0).map_or(name, |at| &name[..at])
}

/// Indicators that exclude one another, or each by itself.
fn sound(input: Input, x: Rows<'_>) -> Vec<Input> {
    let name = |j: usize| x.schema().fields()[j].name.clone();
    let excludes = |row: &[f64]| input.columns.iter().map(|&j| row[j]).sum::<f64>() <= 1.0;
    if input.columns.len() > 1 && (!input.is_indicators || x.iter().all(excludes)) {
        return vec![input];
    }
    let alone = |&j: &usize| Input {
        name: if input.is_indicators || input.columns.len() > 1 {
            name(j)
        } else {
            input.name.clone()
        },
        columns: vec![j],
        is_indicators: false,
        has_missing: false,
    };
    input.columns.iter().map(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Features, Field, Schema};
    use std::sync::Arc;

    fn rows(names: &[&str], values: Vec<f64>) -> Features {
        let field = |name: &&str| Field { name: (*name).into(), kind: Kind::Numeric };
        Features::new(values, Arc::new(Schema::new(names.iter().map(field).collect()))).unwrap()
    }

    #[test]
    fn indicators_of_one_category_are_one_input() {
        let names =
            ["colour_red", "age", "colour_blue", "is_old", "when.year", "when.day", "is_new"];
        let x = rows(
            &names,
            vec![
                1.0, 30.0, 0.0, 1.0, 7.0, 1.0, 1.0, //
                0.0, 31.0, 1.0, 0.0, 8.0, 2.0, 0.0, //
                0.0, 32.0, 0.0, 1.0, 9.0, 3.0, 1.0,
            ],
        );
        let together = vec![("when".to_string(), vec!["when.year".into(), "when.day".into()])];
        let found = inputs(x.rows(), &together);
        let shown: Vec<(&str, &[usize])> =
            found.iter().map(|input| (input.name.as_str(), &input.columns[..])).collect();
        let expected: [(&str, &[usize]); 5] = [
            ("colour", &[0, 2]),
            ("age", &[1]),
            // Both at once: no indicators of one category.
            ("is_old", &[3]),
            ("is_new", &[6]),
            ("when", &[4, 5]),
        ];
        assert_eq!(shown, expected);
        assert!(found[0].is_indicators && !found[4].is_indicators);
    }

    #[test]
    fn a_single_column_keeps_its_name() {
        let found = inputs(rows(&["a_b", "c"], vec![0.0, 5.0, 1.0, 6.0]).rows(), &[]);
        let names: Vec<&str> = found.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["a_b", "c"]);
    }
}
