//! How good a model is on rows with known truth, beside its members.

use serde::{Deserialize, Serialize};

use super::model::{AnyModel, Model, Predicted};
use crate::ensemble::{Coverage, Ensemble};
use crate::error::Result;
use crate::learner::predict;
use crate::math::first_largest;
use crate::run::Run;
use crate::score::Estimate;
use crate::score::figures::Figures;
use crate::table::{Features, Rows, Table};
use crate::task::Task;

/// What scoring says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreReport {
    /// The task.
    pub task: String,
    /// Rows scored.
    pub rows: usize,
    /// Rows left out because their truth is not known.
    #[serde(skip)]
    pub without_truth: usize,
    /// Mean score of the ensemble.
    pub score: f64,
    /// The standard error of that mean over the rows; `None` where a row has no finite score.
    #[serde(default)]
    pub score_se: Option<f64>,
    /// The usual figures of the ensemble: log loss, error, Brier and AUC; RMSE, MAE and R2.
    pub figures: Figures,
    /// The standard errors of these figures, where they are known.
    #[serde(default)]
    pub figure_errors: Figures,
    /// The members that are stored with it.
    pub members: Vec<ScoredMember>,
    /// The member that scores best on these rows.
    pub best: String,
    /// Score of the ensemble less that of the best member.
    pub gain_over_best: Estimate,
    /// Score of the ensemble less that of equal weights.
    pub gain_over_uniform: Estimate,
    /// Of numbers: how often prediction intervals hold the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<Coverage>>,
}

/// One member's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredMember {
    /// Its name.
    pub name: String,
    /// Its weight, if members have weights.
    pub weight: Option<f64>,
    /// Its mean score alone.
    pub score: f64,
    /// The standard error of that mean over the rows; `None` where a row has no finite score.
    #[serde(default)]
    pub score_se: Option<f64>,
    /// Score of the ensemble less the member's.
    pub gain: Estimate,
    /// Its figures.
    pub figures: Figures,
}

impl Model {
    /// Scores the model on rows that hold the truth, too.
    pub fn score(&self, rows: Predicted, run: &Run) -> Result<ScoreReport> {
        let (features, mut table, without_truth) = self.with_truth(rows)?;
        let x = features.rows();
        let report = match self.any() {
            AnyModel::Density(model) => score(model, &self.truth(&mut table)?, x, run)?,
            AnyModel::Classification(model) => score(model, &self.truth(&mut table)?, x, run)?,
            AnyModel::Joint(model) => score(model, &self.truth(&mut table)?, x, run)?,
            AnyModel::Regression(model) => {
                let truth: Vec<f64> = self.truth(&mut table)?;
                let intervals = model.coverage(x, &truth, run)?;
                ScoreReport { intervals, ..score(model, &truth, x, run)? }
            }
        };
        Ok(ScoreReport { without_truth, ..report })
    }

    /// The rows whose truth is known, and how many are not.
    pub(super) fn with_truth(&self, rows: Predicted) -> Result<(Features, Table, usize)> {
        let Predicted { features, mut table, .. } = rows;
        let Some(name) = self.target() else {
            return Ok((features, table, 0));
        };
        let missing = table.column(name)?.missing();
        if missing == 0 || missing == table.rows() {
            return Ok((features, table, 0));
        }
        let truth = table.take(name)?;
        let rows = truth.present();
        let table = Table::new(vec![(name.to_string(), truth.select(&rows))])?;
        Ok((features.rows().select(&rows), table, missing))
    }
}

fn score<T: Task>(
    model: &Ensemble<T>,
    truth: &T::Target,
    x: Rows<'_>,
    run: &Run,
) -> Result<ScoreReport> {
    let width = T::width(truth);
    let rows = x.rows();
    let shares = vec![1.0 / rows as f64; rows];
    let scores = |predicted: &[f64]| -> Vec<f64> {
        predicted.chunks_exact(width).enumerate().map(|(i, row)| T::score(row, truth, i)).collect()
    };
    let figures = |predicted: &[f64]| -> Figures {
        T::figures(predicted, truth).into_iter().map(|(name, v)| (name.to_string(), v)).collect()
    };
    let predicted = predict(model, x, run)?;
    let together = scores(&predicted);
    let predictions =
        model.models().map(|member| predict(member, x, run)).collect::<Result<Vec<_>>>()?;
    let alone: Vec<Vec<f64>> = predictions.iter().map(|p| scores(p)).collect();
    let members = predictions.len();
    let equal = vec![1.0 / members as f64; members];
    let mut uniform = vec![0.0; rows * width];
    for (i, row) in uniform.chunks_exact_mut(width).enumerate() {
        T::mix(&equal, |m| &predictions[m][i * width..(i + 1) * width], row);
    }
    let mean = |scores: &Vec<f64>| Estimate::of(scores, &shares);
    let means: Vec<Estimate> = alone.iter().map(mean).collect();
    let gain = |other: &[f64]| Estimate::of_difference(&together, other, &shares);
    let best = first_largest(&means.iter().map(|own| own.mean).collect::<Vec<f64>>());
    let weights = model.combination().weights();
    let scored = |(m, name): (usize, &str)| ScoredMember {
        name: name.into(),
        weight: weights.map(|weights| weights[m]),
        score: means[m].mean,
        score_se: means[m].se,
        gain: gain(&alone[m]),
        figures: figures(&predictions[m]),
    };
    let own = mean(&together);
    let errors = T::estimates(&predicted, truth, &shares).into_iter();
    Ok(ScoreReport {
        task: T::NAME.into(),
        rows,
        without_truth: 0,
        score: own.mean,
        score_se: own.se,
        figures: figures(&predicted),
        figure_errors: errors.filter_map(|(name, figure)| Some((name, figure.se?))).collect(),
        members: model.names().enumerate().map(scored).collect(),
        best: model.names().nth(best).unwrap_or_default().into(),
        gain_over_best: gain(&alone[best]),
        gain_over_uniform: gain(&scores(&uniform)),
        intervals: None,
    })
}
