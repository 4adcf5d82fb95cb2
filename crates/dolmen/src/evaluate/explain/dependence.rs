//! Partial dependence [Friedman2001, section 8.2] and the single rows behind it (ICE, Goldstein2015): what a model would say of
//! rows if one of their inputs had another value, all others staying as they are.

use serde::{Deserialize, Serialize};

use super::{Input, Predict};
use crate::error::Result;
use crate::run::Run;
use crate::score::residuals::quantile;
use crate::table::{Features, Kind, Rows};

/// How dependence is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DependenceOptions {
    /// Inputs looked at, the most important first.
    pub most_inputs: usize,
    /// Rows whose input is moved, at most.
    pub most_rows: usize,
    /// Values that an input of numbers is given, at most.
    pub most_values: usize,
}

impl Default for DependenceOptions {
    fn default() -> Self {
        Self { most_inputs: 6, most_rows: 200, most_values: 24 }
    }
}

/// Single rows kept of each curve.
const MOST_CURVES: usize = 30;
/// What the level of rows that have none is called, in brackets where a level is called so.
pub const MISSING: &str = "missing";
/// Levels of a category looked at, at most: those of the most rows.
const MOST_LEVELS: usize = 24;

/// How predictions move with one input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// The input.
    pub name: String,
    /// The values it is given; of categories the places of their levels in `levels`.
    pub values: Vec<f64>,
    /// The names of the levels, of categories; the last is [`MISSING`] where some row has none.
    pub levels: Option<Vec<String>>,
    /// Levels that were not looked at, because others have more rows.
    #[serde(default)]
    pub levels_left_out: usize,
    /// Rows whose input was moved.
    pub rows: usize,
    /// What is predicted: one curve, or one for each class.
    pub outputs: Vec<OutputCurve>,
}

/// One predicted value as a function of an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputCurve {
    /// The class; empty of numbers.
    pub name: String,
    /// The mean over the rows, value by value.
    pub mean: Vec<f64>,
    /// Between which predictions the middle 80 % of the rows lie.
    pub middle: Vec<[f64; 2]>,
    /// Some single rows, each value by value.
    pub single: Vec<Vec<f64>>,
    /// The same if a number were missing, where some row has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingNumber>,
}

/// What is predicted of rows without the number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MissingNumber {
    /// The mean over the rows.
    pub mean: f64,
    /// Between which predictions the middle 80 % of the rows lie.
    pub middle: [f64; 2],
}

/// How predictions of these rows move with an input; `outputs` are the names of what is predicted. `None` of an input that
/// cannot be moved by itself, such as a date in several columns.
pub fn dependence(
    predict: &Predict<'_>,
    x: Rows<'_>,
    input: &Input,
    outputs: &[String],
    most_values: usize,
    run: &Run,
) -> Result<Option<Dependence>> {
    let Some(Settings { values, levels, levels_left_out, cells }) = settings(x, input, most_values)
    else {
        return Ok(None);
    };
    let width = outputs.len();
    run.check()?;
    // All at once: models that prepare themselves for a block of rows do so once.
    let mut moved = Vec::with_capacity(cells.len() * x.values().len());
    for own in &cells {
        let from = moved.len();
        moved.extend_from_slice(&x.values());
        for row in moved[from..].chunks_exact_mut(x.width()) {
            input.columns.iter().zip(own).for_each(|(&j, cell)| row[j] = *cell);
        }
    }
    let all = predict(Features::new(moved, x.schema().clone())?.rows())?;
    let predicted: Vec<&[f64]> = all.chunks_exact((x.rows() * width).max(1)).collect();
    let curve = |(k, name): (usize, &String)| {
        let of_row = |i: usize| predicted.iter().map(move |all| all[i * width + k]).collect();
        let rows: Vec<Vec<f64>> = (0..x.rows()).map(of_row).collect();
        OutputCurve::of(name, rows, values.len())
    };
    let outputs = outputs.iter().enumerate().map(curve).collect();
    let (name, rows) = (input.name.clone(), x.rows());
    Ok(Some(Dependence { name, values, levels, levels_left_out, rows, outputs }))
}

impl OutputCurve {
    /// From the predictions of each row, value by value; what comes behind the last value is of a missing one.
    fn of(name: &str, mut rows: Vec<Vec<f64>>, values: usize) -> Self {
        let at = |v: usize| -> Vec<f64> {
            let mut all: Vec<f64> = rows.iter().map(|row| row[v]).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let mean = |all: &Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
        let middle = |all: &Vec<f64>| [0.1, 0.9].map(|share| quantile(all, share));
        let columns: Vec<Vec<f64>> = (0..values).map(at).collect();
        let missing = rows.first().filter(|row| row.len() > values).map(|_| at(values));
        let missing = missing.map(|all| MissingNumber { mean: mean(&all), middle: middle(&all) });
        let step = rows.len().div_ceil(MOST_CURVES).max(1);
        rows.iter_mut().for_each(|row| row.truncate(values));
        Self {
            name: name.into(),
            mean: columns.iter().map(mean).collect(),
            middle: columns.iter().map(middle).collect(),
            single: rows.into_iter().step_by(step).collect(),
            missing,
        }
    }
}

/// What an input is set to: values to show, and the cells of its columns for each; there may be more cells, of a number that is missing.
struct Settings {
    values: Vec<f64>,
    levels: Option<Vec<String>>,
    levels_left_out: usize,
    cells: Vec<Vec<f64>>,
}

/// The levels that are looked at, in their order: those of the most rows where there are many.
fn frequent(counts: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| counts[b].total_cmp(&counts[a]));
    order.truncate(MOST_LEVELS);
    order.sort_unstable();
    order
}

fn settings(x: Rows<'_>, input: &Input, most_values: usize) -> Option<Settings> {
    let fields = x.schema().fields();
    if input.is_indicators && input.columns.len() > 1 {
        let rows_of = |&j: &usize| x.column(j).filter(|v| v.is_finite()).sum();
        let counts: Vec<f64> = input.columns.iter().map(rows_of).collect();
        let shown = frequent(&counts);
        let level = |&k: &usize| {
            let name = &fields[input.columns[k]].name;
            let rest = name.strip_prefix(&input.name).unwrap_or(name);
            rest.trim_start_matches(['_', '=', '.', ':', '[', ' '])
                .trim_end_matches(']')
                .to_string()
        };
        let one =
            |&k: &usize| (0..input.columns.len()).map(|j| f64::from(u8::from(j == k))).collect();
        return Some(Settings {
            values: (0..shown.len()).map(|k| k as f64).collect(),
            levels: Some(shown.iter().map(level).collect()),
            levels_left_out: counts.len() - shown.len(),
            cells: shown.iter().map(one).collect(),
        });
    }
    let [column] = input.columns[..] else { return None };
    match &fields[column].kind {
        Kind::Categorical { levels } => {
            let mut counts = vec![0.0; levels.len()];
            let known = x.column(column).filter(|v| *v >= 0.0 && (*v as usize) < levels.len());
            known.for_each(|v| counts[v as usize] += 1.0);
            let shown = frequent(&counts);
            let mut names: Vec<String> = shown.iter().map(|&k| levels[k].clone()).collect();
            let mut cells: Vec<Vec<f64>> = shown.iter().map(|&k| vec![k as f64]).collect();
            if input.has_missing {
                let is_taken = levels.iter().any(|level| level == MISSING);
                names.push(if is_taken { format!("({MISSING})") } else { MISSING.into() });
                cells.push(vec![f64::NAN]);
            }
            Some(Settings {
                values: (0..names.len()).map(|k| k as f64).collect(),
                levels: Some(names),
                levels_left_out: levels.len() - shown.len(),
                cells,
            })
        }
        Kind::Numeric => {
            let mut known: Vec<f64> =
                x.iter().map(|row| row[column]).filter(|v| v.is_finite()).collect();
            known.sort_by(f64::total_cmp);
            let values = occurring(&known, most_values);
            let mut cells: Vec<Vec<f64>> = values.iter().map(|v| vec![*v]).collect();
            if input.has_missing {
                cells.push(vec![f64::NAN]);
            }
            (values.len() > 1).then_some(Settings {
                values,
                levels: None,
                levels_left_out: 0,
                cells,
            })
        }
    }
}

/// At most so many of ascending values: all different ones if these are few, else some that as many lie between. All of them occur, as
/// there may be no such thing as 2.5 rooms.
fn occurring(known: &[f64], most: usize) -> Vec<f64> {
    let Some(last) = known.len().checked_sub(1) else { return Vec::new() };
    // Beyond the outermost hundredths there is next to nothing to learn from.
    let at = |k: usize, of: usize| 0.01 + 0.98 * k as f64 / of.max(1) as f64;
    let rank = |share: f64| (share * last as f64).round() as usize;
    let mut different = known[rank(at(0, 1))..=rank(at(1, 1))].to_vec();
    different.dedup();
    if different.len() <= most {
        return different;
    }
    let steps = most.saturating_sub(1);
    let mut values: Vec<f64> = (0..most).map(|k| known[rank(at(k, steps))]).collect();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::super::inputs;
    use super::*;

    #[test]
    fn the_mean_of_an_additive_model_is_the_input_s_own_part() {
        let values = (0..300).flat_map(|i| [f64::from(i % 50), f64::from(i % 7)]).collect();
        let x = Features::numeric(values, 2).unwrap();
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| row[0] * row[0] + row[1]).collect());
        let all = inputs(x.rows(), &[]);
        let run = Run::new(0);
        let found = dependence(&predict, x.rows(), &all[0], &[String::new()], 12, &run).unwrap();
        let found = found.unwrap();
        let mean = x.rows().iter().map(|row| row[1]).sum::<f64>() / 300.0;
        let curve = &found.outputs[0];
        for ((v, m), [low, high]) in found.values.iter().zip(&curve.mean).zip(&curve.middle) {
            assert!((m - (v * v + mean)).abs() < 1e-9);
            assert!((low - v * v).abs() < 1e-9 && (high - v * v - 6.0).abs() < 1e-9);
        }
        assert!(found.values.len() == 12 && curve.single.len() == 30);
    }

    #[test]
    fn a_constant_cannot_be_moved_and_indicators_move_together() {
        let x = Features::numeric(vec![4.0; 10], 1).unwrap();
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| row[0]).collect());
        let run = Run::new(0);
        let all = inputs(x.rows(), &[]);
        assert_eq!(
            dependence(&predict, x.rows(), &all[0], &[String::new()], 9, &run).unwrap(),
            None
        );
        let input = Input {
            name: "c".into(),
            columns: vec![0, 1],
            is_indicators: true,
            has_missing: false,
        };
        let x = Features::numeric([[1.0, 0.0], [0.0, 1.0]].as_flattened().to_vec(), 2).unwrap();
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| 2.0 * row[0] + 5.0 * row[1]).collect());
        let found =
            dependence(&predict, x.rows(), &input, &[String::new()], 9, &run).unwrap().unwrap();
        assert_eq!(found.outputs[0].mean, [2.0, 5.0]);
        assert_eq!(found.levels.unwrap(), ["x1", "x2"]);
    }

    /// Of forty levels the first is in no row and the last in the most: what is looked at is what there is.
    #[test]
    fn of_many_levels_those_of_the_most_rows_are_looked_at() {
        let levels: Vec<String> = (0..40).map(|k| format!("level {k}")).collect();
        let codes: Vec<f64> =
            (0..40_u32).flat_map(|k| std::iter::repeat_n(f64::from(k), k as usize)).collect();
        let kind = Kind::Categorical { levels: levels.into() };
        let schema =
            crate::table::Schema::new(vec![crate::table::Field { name: "c".into(), kind }]);
        let x = Features::new(codes, std::sync::Arc::new(schema)).unwrap();
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| 10.0 * row[0]).collect());
        let input = &inputs(x.rows(), &[])[0];
        let run = Run::new(0);
        let found = dependence(&predict, x.rows(), input, &[String::new()], 9, &run);
        let found = found.unwrap().unwrap();
        assert_eq!((found.levels.as_ref().unwrap().len(), found.levels_left_out), (24, 16));
        assert_eq!(found.levels.unwrap()[0], "level 16");
        assert_eq!(found.outputs[0].mean[23], 390.0);
    }

    #[test]
    fn numbers_are_given_values_that_occur() {
        let rooms: Vec<f64> = (0..200).map(|i| [2.0, 3.0, 3.0, 4.0, 8.0][i % 5]).collect();
        let mut sorted = rooms.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(occurring(&sorted, 24), [2.0, 3.0, 4.0, 8.0]);
        let squares: Vec<f64> = (0..100).map(|k| f64::from(k * k)).collect();
        let some = occurring(&squares, 7);
        assert!(some.len() == 7 && some.iter().all(|v| squares.contains(v)), "{some:?}");
        assert!(occurring(&[], 7).is_empty());
    }

    /// Rows without a value are predicted by models that know such rows.
    #[test]
    fn a_missing_value_is_a_value_too() {
        let kind = Kind::Categorical { levels: vec!["a".to_string(), "b".into()].into() };
        let fields = [("c", kind), ("x", Kind::Numeric)];
        let field = |(name, kind): (&str, Kind)| crate::table::Field { name: name.into(), kind };
        let schema = crate::table::Schema::new(fields.into_iter().map(field).collect());
        let values = vec![0.0, 1.0, 1.0, f64::NAN, f64::NAN, 3.0, 1.0, 4.0];
        let x = Features::new(values, std::sync::Arc::new(schema)).unwrap();
        let known = |v: f64| if v.is_nan() { 50.0 } else { v };
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| known(row[0])).collect());
        let all = inputs(x.rows(), &[]);
        let run = Run::new(0);
        let found = dependence(&predict, x.rows(), &all[0], &[String::new()], 9, &run);
        let found = found.unwrap().unwrap();
        assert_eq!(found.levels.unwrap(), ["a", "b", MISSING]);
        assert_eq!(found.outputs[0].mean, [0.0, 1.0, 50.0]);
        assert_eq!(found.outputs[0].missing, None);
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| known(row[1])).collect());
        let found = dependence(&predict, x.rows(), &all[1], &[String::new()], 9, &run);
        let curve = &found.unwrap().unwrap().outputs[0];
        assert_eq!(curve.missing.map(|own| own.mean), Some(50.0));
        assert!(curve.single.iter().all(|row| row.len() == curve.mean.len()));
    }
}
