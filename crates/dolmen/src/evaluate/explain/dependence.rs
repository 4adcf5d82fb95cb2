//! Partial dependence [Friedman2001, section 8.2] and the single rows behind it (ICE, Goldstein2015): what a model would say of
//! rows if one of their inputs had another value, all others staying as they are.

use rayon::prelude::*;
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
/// Levels of a category looked at, at most.
const MOST_LEVELS: usize = 24;

/// How predictions move with one input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// The input.
    pub name: String,
    /// The values it is given; of categories the numbers of their levels.
    pub values: Vec<f64>,
    /// The names of the levels, of categories.
    pub levels: Option<Vec<String>>,
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
    let Some(Settings { values, levels, cells }) = settings(x, input, most_values) else {
        return Ok(None);
    };
    let width = outputs.len();
    let moved = |cells: &Vec<f64>| -> Result<Vec<f64>> {
        run.check()?;
        let mut moved = x.values().to_vec();
        for row in moved.chunks_exact_mut(x.width()) {
            input.columns.iter().zip(cells).for_each(|(&j, cell)| row[j] = *cell);
        }
        predict(Features::new(moved, x.schema().clone())?.rows())
    };
    let predicted: Vec<Result<Vec<f64>>> = run.install(|| cells.par_iter().map(moved).collect());
    let predicted = predicted.into_iter().collect::<Result<Vec<_>>>()?;
    let curve = |(k, name): (usize, &String)| {
        let of_row = |i: usize| predicted.iter().map(move |all| all[i * width + k]).collect();
        let rows: Vec<Vec<f64>> = (0..x.rows()).map(of_row).collect();
        OutputCurve::of(name, &rows, values.len())
    };
    let outputs = outputs.iter().enumerate().map(curve).collect();
    Ok(Some(Dependence { name: input.name.clone(), values, levels, rows: x.rows(), outputs }))
}

impl OutputCurve {
    fn of(name: &str, rows: &[Vec<f64>], values: usize) -> Self {
        let at = |v: usize| -> Vec<f64> {
            let mut all: Vec<f64> = rows.iter().map(|row| row[v]).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let columns: Vec<Vec<f64>> = (0..values).map(at).collect();
        let step = rows.len().div_ceil(MOST_CURVES).max(1);
        Self {
            name: name.into(),
            mean: columns.iter().map(|all| all.iter().sum::<f64>() / all.len() as f64).collect(),
            middle: columns
                .iter()
                .map(|all| [0.1, 0.9].map(|share| quantile(all, share)))
                .collect(),
            single: rows.iter().step_by(step).cloned().collect(),
        }
    }
}

/// What an input is set to: values to show, and the cells of its columns for each.
struct Settings {
    values: Vec<f64>,
    levels: Option<Vec<String>>,
    cells: Vec<Vec<f64>>,
}

fn settings(x: Rows<'_>, input: &Input, most_values: usize) -> Option<Settings> {
    let fields = x.schema().fields();
    if input.is_indicators && input.columns.len() > 1 {
        let count = input.columns.len().min(MOST_LEVELS);
        let level = |k: usize| {
            let name = &fields[input.columns[k]].name;
            let rest = name.strip_prefix(&input.name).unwrap_or(name);
            rest.trim_start_matches(['_', '=', '.', ':', '[', ' '])
                .trim_end_matches(']')
                .to_string()
        };
        let one =
            |k: usize| (0..input.columns.len()).map(|j| f64::from(u8::from(j == k))).collect();
        return Some(Settings {
            values: (0..count).map(|k| k as f64).collect(),
            levels: Some((0..count).map(level).collect()),
            cells: (0..count).map(one).collect(),
        });
    }
    let [column] = input.columns[..] else { return None };
    match &fields[column].kind {
        Kind::Categorical { levels } => {
            let count = levels.len().min(MOST_LEVELS);
            let values: Vec<f64> = (0..count).map(|k| k as f64).collect();
            let cells = values.iter().map(|v| vec![*v]).collect();
            Some(Settings { values, levels: Some(levels[..count].to_vec()), cells })
        }
        Kind::Numeric => {
            let mut known: Vec<f64> =
                x.iter().map(|row| row[column]).filter(|v| v.is_finite()).collect();
            known.sort_by(f64::total_cmp);
            // Beyond the outermost hundredths there is next to nothing to learn from.
            let share =
                |k: usize| 0.01 + 0.98 * k as f64 / most_values.saturating_sub(1).max(1) as f64;
            let mut values: Vec<f64> =
                (0..most_values).map(|k| quantile(&known, share(k))).collect();
            values.retain(|v| v.is_finite());
            values.dedup();
            let cells = values.iter().map(|v| vec![*v]).collect();
            (values.len() > 1).then_some(Settings { values, levels: None, cells })
        }
    }
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
        let input = Input { name: "c".into(), columns: vec![0, 1], is_indicators: true };
        let x = Features::numeric([[1.0, 0.0], [0.0, 1.0]].as_flattened().to_vec(), 2).unwrap();
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| 2.0 * row[0] + 5.0 * row[1]).collect());
        let found =
            dependence(&predict, x.rows(), &input, &[String::new()], 9, &run).unwrap().unwrap();
        assert_eq!(found.outputs[0].mean, [2.0, 5.0]);
        assert_eq!(found.levels.unwrap(), ["x1", "x2"]);
    }
}
