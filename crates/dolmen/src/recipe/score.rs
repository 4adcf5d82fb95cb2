//! How good a model is on rows with known truth, beside its members.

use serde::{Deserialize, Serialize};

use super::Evidence;
use super::model::{AnyModel, Model, Predicted, with_model};
use crate::ensemble::{Coverage, Ensemble};
use crate::error::Result;
use crate::learner::predict;
use crate::math::first_largest;
use crate::run::Run;
use crate::score::Estimate;
use crate::score::figures::Figures;
use crate::table::{Features, Rows, Table};
use crate::target::Target;
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

/// Rows with known truth, and what a model and its members say of them: asked once, judged in several ways.
pub(super) struct Answers<'a, T: Task> {
    pub(super) model: &'a Ensemble<T>,
    pub(super) x: Rows<'a>,
    pub(super) truth: &'a T::Target,
    /// What the model says.
    pub(super) together: Vec<f64>,
    /// What each member says.
    pub(super) alone: Vec<Vec<f64>>,
}

impl<'a, T: Task> Answers<'a, T> {
    fn of(model: &'a Ensemble<T>, x: Rows<'a>, truth: &'a T::Target, run: &Run) -> Result<Self> {
        let alone = model.models().map(|member| predict(member, x, run));
        let alone = alone.collect::<Result<Vec<Vec<f64>>>>()?;
        let together = model.combine(&alone, x, run)?;
        Ok(Self { model, x, truth, together, alone })
    }
}

impl Model {
    /// Scores the model on rows that hold the truth, too.
    pub fn score(&self, rows: Predicted, run: &Run) -> Result<ScoreReport> {
        let (features, mut table, without_truth) = self.with_truth(rows)?;
        with_model!(self.any(), model => {
            let truth = self.truth(&mut table)?;
            let report = score(&Answers::of(model, features.rows(), &truth, run)?);
            self.covered(report, without_truth, &features, truth.numbers(), run)
        })
    }

    /// How good the model is on rows that hold the truth, and how its predictions do row by row; with `explain` also the importance of the
    /// inputs. The rows should not be those learned from.
    pub fn judge(
        &self,
        rows: Predicted,
        explain: bool,
        run: &Run,
    ) -> Result<(ScoreReport, Evidence)> {
        let (features, mut table, without_truth) = self.with_truth(rows)?;
        with_model!(self.any(), model => {
            let truth = self.truth(&mut table)?;
            let answers = Answers::of(model, features.rows(), &truth, run)?;
            let report = score(&answers);
            let report = self.covered(report, without_truth, &features, truth.numbers(), run)?;
            Ok((report, self.examine(answers, explain, &run.stream("examine"))?))
        })
    }

    /// A report with what is left to say of the rows: how many had no truth, and how often intervals hold it.
    fn covered(
        &self,
        report: ScoreReport,
        without_truth: usize,
        features: &Features,
        truth: Option<&[f64]>,
        run: &Run,
    ) -> Result<ScoreReport> {
        let intervals = match (self.any(), truth) {
            (AnyModel::Regression(model), Some(truth)) => {
                model.coverage(features.rows(), truth, run)?
            }
            _ => None,
        };
        Ok(ScoreReport { without_truth, intervals, ..report })
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

fn score<T: Task>(answers: &Answers<'_, T>) -> ScoreReport {
    let Answers { model, x, truth, together: predicted, alone: predictions } = answers;
    let width = T::width(truth);
    let rows = x.rows();
    let shares = vec![1.0 / rows as f64; rows];
    let scores = |predicted: &[f64]| -> Vec<f64> {
        predicted.chunks_exact(width).enumerate().map(|(i, row)| T::score(row, truth, i)).collect()
    };
    let figures = |predicted: &[f64]| -> Figures {
        T::figures(predicted, truth).into_iter().map(|(name, v)| (name.to_string(), v)).collect()
    };
    let together = scores(predicted);
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
    let errors = T::estimates(predicted, truth, &shares).into_iter();
    ScoreReport {
        task: T::NAME.into(),
        rows,
        without_truth: 0,
        score: own.mean,
        score_se: own.se,
        figures: figures(predicted),
        figure_errors: errors.filter_map(|(name, figure)| Some((name, figure.se?))).collect(),
        members: model.names().enumerate().map(scored).collect(),
        best: model.names().nth(best).unwrap_or_default().into(),
        gain_over_best: gain(&alone[best]),
        gain_over_uniform: gain(&scores(&uniform)),
        intervals: None,
    }
}
