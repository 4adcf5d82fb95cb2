//! Permutation importance: what a model loses in score when an input is shuffled among the rows (Breiman2001). It is measured
//! on rows that the model had not seen, through the whole stack; columns that say one thing are shuffled together.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Input, Predict};
use crate::error::Result;
use crate::run::Run;
use crate::score::Estimate;
use crate::table::{Features, Rows};
use crate::task::Task;

/// How importances are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportanceOptions {
    /// Shuffles of each input.
    pub repeats: usize,
    /// Rows looked at, at most.
    pub most_rows: usize,
}

impl Default for ImportanceOptions {
    fn default() -> Self {
        Self { repeats: 5, most_rows: 2000 }
    }
}

/// How much each input matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// Rows it was measured on.
    pub rows: usize,
    /// Shuffles of each input.
    pub repeats: usize,
    /// The mean score of these rows as they are.
    pub score: f64,
    /// The inputs, the most important first.
    pub inputs: Vec<InputImportance>,
}

/// How much one input matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputImportance {
    /// Its name.
    pub name: String,
    /// The columns that it consists of.
    pub columns: Vec<String>,
    /// What the mean score loses when it is shuffled; the standard error is that of the mean over rows.
    pub loss: Estimate,
}

/// The importance of inputs for predictions of rows whose truth is known; `shares` are the rows' parts of the weight.
pub fn importance<T: Task>(
    predict: &Predict<'_>,
    x: Rows<'_>,
    (target, shares): (&T::Target, &[f64]),
    inputs: &[Input],
    repeats: usize,
    run: &Run,
) -> Result<Importance> {
    let width = T::width(target);
    let scores = |x: Rows<'_>| -> Result<Vec<f64>> {
        let predicted = predict(x)?;
        let rows = predicted.chunks_exact(width).enumerate();
        Ok(rows.map(|(i, row)| T::score(row, target, i)).collect())
    };
    let before = scores(x)?;
    let loss = |k: usize| {
        run.check()?;
        let input = &inputs[k];
        let mut losses = vec![0.0; x.rows()];
        for repeat in 0..repeats {
            let stream = run.child(k as u64).child(repeat as u64);
            let after = scores(shuffled(x, input, &stream)?.rows())?;
            for ((loss, before), after) in losses.iter_mut().zip(&before).zip(&after) {
                // Where neither gives the row anything, nothing is lost.
                *loss += if before == after { 0.0 } else { before - after } / repeats as f64;
            }
        }
        let name = |&j: &usize| x.schema().fields()[j].name.clone();
        Ok(InputImportance {
            name: input.name.clone(),
            columns: input.columns.iter().map(name).collect(),
            loss: Estimate::of(&losses, shares),
        })
    };
    let mut found = run.try_map(inputs.len(), loss)?;
    found.sort_by(|a, b| b.loss.mean.total_cmp(&a.loss.mean));
    let score = Estimate::of(&before, shares).mean;
    Ok(Importance { rows: x.rows(), repeats, score, inputs: found })
}

/// The rows with one input shuffled among them.
fn shuffled(x: Rows<'_>, input: &Input, run: &Run) -> Result<Features> {
    let mut order: Vec<usize> = (0..x.rows()).collect();
    order.shuffle(&mut run.rng());
    let (width, mut values) = (x.width(), x.values().to_vec());
    for (row, &from) in values.chunks_exact_mut(width).zip(&order) {
        input.columns.iter().for_each(|&j| row[j] = x.row(from)[j]);
    }
    Features::new(values, x.schema().clone())
}

#[cfg(test)]
mod tests {
    use super::super::inputs;
    use super::*;
    use crate::task::Regression;

    #[test]
    fn what_is_not_looked_at_has_no_importance_and_the_rest_has_its_variance() {
        let n = 4000;
        let noise =
            |i: usize, k: usize| ((i * 7919 + k * 104_729) % 100_003) as f64 / 100_003.0 - 0.5;
        let values = (0..n).flat_map(|i| [noise(i, 1), noise(i, 2), noise(i, 3)]).collect();
        let x = Features::numeric(values, 3).unwrap();
        let truth: Vec<f64> = x.rows().iter().map(|row| 3.0 * row[0] + row[1]).collect();
        let predict = |x: Rows<'_>| Ok(x.iter().map(|row| 3.0 * row[0] + row[1]).collect());
        let all = inputs(x.rows(), &[]);
        let run = Run::new(3);
        let shares = vec![1.0 / n as f64; n];
        let found =
            importance::<Regression>(&predict, x.rows(), (&truth, &shares), &all, 5, &run).unwrap();
        let names: Vec<&str> = found.inputs.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["x1", "x2", "x3"]);
        // Shuffling adds twice the variance of what an input contributes; a uniform number's is 1/12.
        let expected = [9.0 / 6.0, 1.0 / 6.0, 0.0];
        for (input, expected) in found.inputs.iter().zip(expected) {
            let se = input.loss.se.unwrap();
            assert!((input.loss.mean - expected).abs() <= 4.0 * se, "{input:?} against {expected}");
        }
        assert_eq!(found.score, 0.0);
        let again = Run::with_threads(3, 1).unwrap();
        let other =
            importance::<Regression>(&predict, x.rows(), (&truth, &shares), &all, 5, &again);
        assert_eq!(other.unwrap(), found);
    }
}
