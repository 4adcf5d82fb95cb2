//! The fitted vote.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Course;
use super::weak::best;
use crate::error::{Error, Result};
use crate::learner::tree::Tree;
use crate::learner::{Diagnostics, Fitted, Sample, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry, floats};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Task};

/// Halvings in which the scale of the votes is found.
const HALVINGS: usize = 26;

/// Models that vote, each with its weight.
#[derive(Debug, Clone)]
pub struct FittedAdaBoost {
    votes: Votes,
    members: Members,
}

/// Who votes.
#[derive(Debug, Clone)]
pub(super) enum Members {
    /// Trees whose leaves say the number of a class.
    Trees(Vec<Tree>),
    /// Models whose likeliest class counts.
    Models(Vec<Arc<dyn Fitted<Classification>>>),
}

/// How votes become chances.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Votes {
    #[serde(with = "floats")]
    alphas: Vec<f64>,
    #[serde(with = "floats")]
    errors: Vec<f64>,
    /// What votes are multiplied by before they are exponentiated.
    scale: f64,
    /// The classes' frequencies: said where nobody votes.
    frequencies: Vec<f64>,
    columns: usize,
    /// How much each column matters to trees; empty for other members, and in files of earlier versions.
    #[serde(default)]
    importance: Vec<Share>,
}

/// How much a column matters.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Share {
    column: String,
    share: f64,
}

impl FittedAdaBoost {
    pub(super) fn new(
        sample: &Sample<'_, Classification>,
        course: Course,
        members: Members,
        importance: Vec<f64>,
    ) -> Self {
        let mut frequencies = vec![0.0; Classification::width(sample.target())];
        for (row, &class) in sample.target().codes().iter().enumerate() {
            frequencies[class as usize] += sample.weight(row);
        }
        frequencies.iter_mut().for_each(|frequency| *frequency /= sample.total_weight());
        let scale = scale(sample, &course.votes);
        let Course { alphas, errors, .. } = course;
        let names = sample.x().schema().fields().iter().map(|field| field.name.clone());
        let importance = names.zip(importance).map(|(column, share)| Share { column, share });
        let votes = Votes {
            alphas,
            errors,
            scale,
            frequencies,
            columns: sample.x().width(),
            importance: importance.collect(),
        };
        Self { votes, members }
    }

    /// The weights of the rounds, alpha_m.
    pub fn alphas(&self) -> &[f64] {
        &self.votes.alphas
    }

    /// The weighted share of wrong guesses in each round.
    pub fn errors(&self) -> &[f64] {
        &self.votes.errors
    }

    /// What votes are multiplied by before they are exponentiated.
    pub fn scale(&self) -> f64 {
        self.votes.scale
    }
}

/// The scale between 0 and 1 with the largest likelihood: concave in the scale, so that its slope tells the side.
fn scale(sample: &Sample<'_, Classification>, votes: &[f64]) -> f64 {
    let labels = sample.target();
    let width = Classification::width(labels);
    let mut chances = vec![0.0; width];
    let mut slope = |scale: f64| -> f64 {
        let rows = votes.chunks_exact(width).enumerate();
        rows.map(|(row, votes)| {
            to_chances(votes, scale, &mut chances);
            let expected: f64 =
                votes.iter().zip(&chances).map(|(vote, chance)| vote * chance).sum();
            sample.weight(row) * (votes[labels.class(row)] - expected)
        })
        .sum()
    };
    if slope(1.0) >= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *(if slope(middle) > 0.0 { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

/// Chances proportional to exp(scale votes).
fn to_chances(votes: &[f64], scale: f64, out: &mut [f64]) {
    let most = votes.iter().fold(f64::NEG_INFINITY, |most, vote| most.max(*vote));
    out.iter_mut().zip(votes).for_each(|(out, vote)| *out = (scale * (vote - most)).exp());
    let total: f64 = out.iter().sum();
    out.iter_mut().for_each(|out| *out /= total);
}

impl Fitted<Classification> for FittedAdaBoost {
    fn width(&self) -> usize {
        self.votes.frequencies.len()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let Votes { alphas, scale, frequencies, columns, .. } = &self.votes;
        if x.width() != *columns {
            return Err(Error::shape("input columns", *columns, x.width()));
        }
        let width = frequencies.len();
        if alphas.is_empty() {
            out.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(frequencies));
            return Ok(());
        }
        out.fill(0.0);
        match &self.members {
            Members::Trees(trees) => {
                for (row, votes) in x.iter().zip(out.chunks_exact_mut(width)) {
                    for (tree, alpha) in trees.iter().zip(alphas) {
                        votes[tree.value(tree.leaf(row))[0] as usize] += alpha;
                    }
                }
            }
            Members::Models(models) => {
                let mut predicted = vec![0.0; out.len()];
                for (model, alpha) in models.iter().zip(alphas) {
                    model.predict_into(x, &mut predicted)?;
                    for (votes, predicted) in
                        out.chunks_exact_mut(width).zip(predicted.chunks_exact(width))
                    {
                        votes[best(predicted)] += alpha;
                    }
                }
            }
        }
        let mut chances = vec![0.0; width];
        for votes in out.chunks_exact_mut(width) {
            to_chances(votes, *scale, &mut chances);
            votes.copy_from_slice(&chances);
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.votes.columns, self.votes.frequencies.len()), inputs, width)?;
        match &self.members {
            Members::Trees(_) => Ok(()),
            Members::Models(models) => {
                models.iter().try_for_each(|model| model.validate(inputs, width))
            }
        }
    }

    fn record(&self) -> Result<Record> {
        let body = match &self.members {
            Members::Trees(trees) => {
                Body { votes: self.votes.clone(), trees: trees.clone(), models: Vec::new() }
            }
            Members::Models(models) => {
                let models = models.iter().map(|model| model.record()).collect::<Result<_>>()?;
                Body { votes: self.votes.clone(), trees: Vec::new(), models }
            }
        };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    /// Who votes, and with what weight: trees whose leaves say the number of a class, or models whose likeliest class counts.
    fn parameters(&self) -> Parameters {
        let Votes { alphas, errors, scale, frequencies, .. } = &self.votes;
        let parameters = Parameters::new(Self::KIND)
            .with("alphas", alphas)
            .with("errors", errors)
            .with("scale", *scale)
            .with("frequencies", frequencies);
        match &self.members {
            Members::Trees(trees) => {
                let trees: Vec<Parameters> = trees.iter().map(Tree::parameters).collect();
                parameters.with("trees", trees)
            }
            Members::Models(models) => {
                let models: Vec<Parameters> = models.iter().map(|m| m.parameters()).collect();
                parameters.with("models", models)
            }
        }
    }

    fn diagnostics(&self) -> Diagnostics {
        let Votes { alphas, errors, scale, .. } = &self.votes;
        let labels: Vec<String> =
            (1..=alphas.len()).map(|round| format!("round {round}")).collect();
        let series = |name: &str, values: &Vec<f64>| Series {
            name: name.into(),
            labels: labels.clone(),
            values: values.clone(),
            is_numbered: true,
        };
        let note = match alphas.len() {
            0 => "no round guessed better than chance: the class frequencies are said".into(),
            _ => format!("votes are multiplied by {scale:.4} before they are exponentiated"),
        };
        let mut series = vec![series("alpha", alphas), series("error", errors)];
        if !self.votes.importance.is_empty() {
            let shares = self.votes.importance.iter();
            series.push(Series {
                name: "importance".into(),
                labels: shares.clone().map(|one| one.column.clone()).collect(),
                values: shares.map(|one| one.share).collect(),
                is_numbered: false,
            });
        }
        Diagnostics {
            iterations: Some(alphas.len()),
            notes: vec![note],
            series,
            ..Diagnostics::default()
        }
    }
}

/// The stored form: trees or models, as many as there are weights.
#[derive(Serialize, Deserialize)]
struct Body {
    votes: Votes,
    trees: Vec<Tree>,
    models: Vec<Record>,
}

impl Stored<Classification> for FittedAdaBoost {
    const KIND: &'static str = "adaboost";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let Body { votes, trees, models } = record.read()?;
        let width = votes.frequencies.len();
        let suits = |tree: &Tree| {
            let is_class = |value: &f64| (0.0..width as f64).contains(value);
            let has_column = |column: u32| (column as usize) < votes.columns;
            tree.values().iter().all(is_class)
                && tree.width() == 1
                && tree.splits().iter().all(|split| has_column(split.column))
        };
        let rounds = votes.alphas.len();
        let one_kind = trees.is_empty() || models.is_empty();
        record.require(
            width > 0
                && one_kind
                && trees.len() + models.len() == rounds
                && votes.errors.len() == rounds
                && [0, votes.columns].contains(&votes.importance.len())
                && trees.iter().all(suits),
        )?;
        let members = if models.is_empty() {
            Members::Trees(trees)
        } else {
            let restore = |record: Record| Ok(registry.model(&record)?.into());
            Members::Models(models.into_iter().map(restore).collect::<Result<_>>()?)
        };
        Ok(Self { votes, members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Features;
    use crate::target::Labels;

    /// The scale for rows that all have two votes for their second class, with these classes and weights.
    fn scale_of(classes: &[u32], weights: &[f64]) -> f64 {
        let x = Features::numeric(vec![0.0; classes.len()], 1).unwrap();
        let labels = Labels::new(["a", "b"].map(String::from), classes.to_vec()).unwrap();
        let sample = Sample::new(x.rows(), &labels).unwrap().counted(weights).unwrap();
        scale(&sample, &[0.0, 2.0].repeat(classes.len()))
    }

    #[test]
    fn the_scale_makes_chances_of_frequencies() {
        // 1 / (1 + exp(-2 s)) = 3/4.
        assert!((scale_of(&[1, 0, 1], &[2.0, 1.0, 1.0]) - 3.0_f64.ln() / 2.0).abs() < 1e-7);
        assert_eq!(scale_of(&[1, 1, 1], &[1.0; 3]), 1.0);
        assert!(scale_of(&[1, 0], &[1.0; 2]) < 1e-7);
    }
}
