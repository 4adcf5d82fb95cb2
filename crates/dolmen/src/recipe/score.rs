//! How good a model is on rows with known truth, beside its members.

use serde::{Deserialize, Serialize};

use super::Evidence;
use super::model::{AnyModel, Model, Predicted, with_model};
use crate::ensemble::{Coverage, Coverages, Ensemble};
use crate::error::{Error, Place, Result};
use crate::learner::predict;
use crate::math::first_largest;
use crate::memory;
use crate::run::Run;
use crate::score::Estimate;
use crate::score::figures::Figures;
use crate::table::{Blocks, Features, Rows, Table, Unseen, UnseenSoFar};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression, Task};

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

impl Model {
    /// Scores the model on rows that hold the truth, too.
    pub fn score(&self, rows: Predicted, run: &Run) -> Result<ScoreReport> {
        let mut scoring = Scoring::new(self);
        scoring.add(rows, run)?;
        scoring.finish()
    }

    /// How good the model is on rows that hold the truth, and how its predictions do row by row; with `explain` also the importance of the
    /// inputs. The rows should not be those learned from.
    pub fn judge(
        &self,
        rows: Predicted,
        explain: bool,
        run: &Run,
    ) -> Result<(ScoreReport, Evidence)> {
        let (features, table, without_truth) = self.with_truth(rows)?;
        let mut scoring = Scoring::new(self);
        let rows = Predicted { features: features.clone(), table, unseen: Vec::new() };
        scoring.add(rows, run)?;
        let evidence = scoring.examine(features.rows(), explain, &run.stream("examine"))?;
        let report = scoring.finish()?;
        Ok((ScoreReport { without_truth, ..report }, evidence))
    }

    /// Scores the model on rows that are read block by block, and tells what categories it has not seen. Inputs are not kept;
    /// predictions and truth are, because figures such as AUC need all of them at once: for each row and member as many
    /// numbers as there are classes.
    pub fn score_blocks(&self, blocks: &Blocks, run: &Run) -> Result<(ScoreReport, Vec<Unseen>)> {
        if let Some(rows) = blocks.rows() {
            let members = with_model!(self.any(), model => model.models().count());
            let width = self.classes().len().max(1);
            // Predictions of all, and a few numbers a row beside them while they are summed up.
            let needed = memory::size(&[rows, (members + 1) * width + 6, size_of::<f64>()]);
            memory::claim(needed, "the predictions")?;
        }
        let (mut scoring, mut unseen) = (Scoring::new(self), UnseenSoFar::default());
        blocks.visit(run, &mut |first, block| {
            let at = |error| blocks.locate(error, first);
            let mut rows = self.rows_of(block).map_err(at)?;
            unseen.add(std::mem::take(&mut rows.unseen));
            scoring.add(rows, &run.silent()).map_err(at)
        })?;
        let report = scoring.finish().map_err(|error| blocks.locate(error, 0))?;
        Ok((report, unseen.finish(self.schema())))
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

/// A model of any task that is scored block by block.
enum Scoring<'a> {
    Density(Scores<'a, Density>),
    Classification(Scores<'a, Classification>),
    Joint(Scores<'a, Joint>),
    Regression(Scores<'a, Regression>, Coverages),
}

impl<'a> Scoring<'a> {
    fn new(model: &'a Model) -> Self {
        match model.any() {
            AnyModel::Density(own) => Self::Density(Scores::new(model, own)),
            AnyModel::Classification(own) => Self::Classification(Scores::new(model, own)),
            AnyModel::Joint(own) => Self::Joint(Scores::new(model, own)),
            AnyModel::Regression(own) => {
                Self::Regression(Scores::new(model, own), Coverages::default())
            }
        }
    }

    /// Predicts further rows.
    fn add(&mut self, rows: Predicted, run: &Run) -> Result<()> {
        match self {
            Self::Density(scores) => scores.add(rows, run, |_, ()| Ok(())),
            Self::Classification(scores) => scores.add(rows, run, |_, _| Ok(())),
            Self::Joint(scores) => scores.add(rows, run, |_, _| Ok(())),
            Self::Regression(scores, coverages) => {
                let ensemble = scores.ensemble;
                scores.add(rows, run, |x, truth| coverages.add(ensemble, x, truth, run))
            }
        }
    }

    /// How the predictions of all rows, which were these, do row by row.
    fn examine(&self, x: Rows<'_>, explain: bool, run: &Run) -> Result<Evidence> {
        match self {
            Self::Density(scores) => scores.examine(x, explain, run),
            Self::Classification(scores) => scores.examine(x, explain, run),
            Self::Joint(scores) => scores.examine(x, explain, run),
            Self::Regression(scores, _) => scores.examine(x, explain, run),
        }
    }

    /// What all rows say.
    fn finish(self) -> Result<ScoreReport> {
        match self {
            Self::Density(scores) => scores.finish(),
            Self::Classification(scores) => scores.finish(),
            Self::Joint(scores) => scores.finish(),
            Self::Regression(scores, coverages) => {
                Ok(ScoreReport { intervals: coverages.finish(), ..scores.finish()? })
            }
        }
    }
}

/// What is kept of rows until all have been predicted.
struct Scores<'a, T: Task> {
    model: &'a Model,
    ensemble: &'a Ensemble<T>,
    rows: usize,
    without_truth: usize,
    truth: Option<T::Target>,
    /// What the ensemble predicts.
    together: Vec<f64>,
    /// What each member predicts.
    alone: Vec<Vec<f64>>,
    /// Each row's score if members had equal weights.
    uniform: Vec<f64>,
}

impl<'a, T: Task> Scores<'a, T> {
    fn new(model: &'a Model, ensemble: &'a Ensemble<T>) -> Self {
        Self {
            model,
            ensemble,
            rows: 0,
            without_truth: 0,
            truth: None,
            together: Vec::new(),
            alone: ensemble.models().map(|_| Vec::new()).collect(),
            uniform: Vec::new(),
        }
    }

    /// Predicts further rows; `also` sees those whose truth is known.
    fn add(
        &mut self,
        rows: Predicted,
        run: &Run,
        also: impl FnOnce(Rows<'_>, &T::Target) -> Result<()>,
    ) -> Result<()> {
        self.model.check_classes(&rows.table)?;
        let (features, mut table, without_truth) = self.model.with_truth(rows)?;
        let unknown = match self.model.target() {
            Some(name) => table.column(name)?.missing(),
            None => 0,
        };
        if unknown > 0 {
            // None of these rows has a truth.
            self.without_truth += unknown;
            return Ok(());
        }
        self.without_truth += without_truth;
        let truth: T::Target = self.model.truth(&mut table)?;
        let x = features.rows();
        also(x, &truth)?;
        let alone = self.ensemble.models().map(|member| predict(member, x, run));
        let alone = alone.collect::<Result<Vec<Vec<f64>>>>()?;
        self.together.extend(self.ensemble.combine(&alone, x, run)?);
        let first = self.alone.first().map_or(0, Vec::len);
        self.alone.iter_mut().zip(alone).for_each(|(all, own)| all.extend(own));
        let (width, members) = (T::width(&truth), self.alone.len());
        let equal = vec![1.0 / members as f64; members];
        let mut mixed = vec![0.0; width];
        for i in 0..x.rows() {
            let from = first + i * width;
            T::mix(&equal, |m| &self.alone[m][from..from + width], &mut mixed);
            self.uniform.push(T::score(&mixed, &truth, i));
        }
        self.rows += x.rows();
        match &mut self.truth {
            Some(all) => all.append(truth),
            none => *none = Some(truth),
        }
        Ok(())
    }

    fn examine(&self, x: Rows<'_>, explain: bool, run: &Run) -> Result<Evidence> {
        let truth = self.truth.as_ref().ok_or_else(|| no_truth(self.model))?;
        let (together, alone) = (self.together.clone(), self.alone.clone());
        let answers = Answers { model: self.ensemble, x, truth, together, alone };
        self.model.examine(answers, explain, run)
    }

    fn finish(self) -> Result<ScoreReport> {
        let Self { model, ensemble, rows, without_truth, truth, together, alone, uniform } = self;
        let truth = truth.ok_or_else(|| no_truth(model))?;
        let width = T::width(&truth);
        let shares = vec![1.0 / rows as f64; rows];
        let scores = |predicted: &[f64]| -> Vec<f64> {
            let rows = predicted.chunks_exact(width).enumerate();
            rows.map(|(i, row)| T::score(row, &truth, i)).collect()
        };
        let figures = |predicted: &[f64]| -> Figures {
            let figures = T::figures(predicted, &truth).into_iter();
            figures.map(|(name, value)| (name.to_string(), value)).collect()
        };
        let own_scores = scores(&together);
        let gain = |other: &[f64]| Estimate::of_difference(&own_scores, other, &shares);
        let weights = ensemble.combination().weights();
        // One member after the other: what a row scores is kept of none.
        let scored = |((m, name), predicted): ((usize, &str), Vec<f64>)| {
            let alone = scores(&predicted);
            let mean = Estimate::of(&alone, &shares);
            ScoredMember {
                name: name.into(),
                weight: weights.map(|weights| weights[m]),
                score: mean.mean,
                score_se: mean.se,
                gain: gain(&alone),
                figures: figures(&predicted),
            }
        };
        let members: Vec<ScoredMember> =
            ensemble.names().enumerate().zip(alone).map(scored).collect();
        let best = first_largest(&members.iter().map(|own| own.score).collect::<Vec<f64>>());
        let own = Estimate::of(&own_scores, &shares);
        let errors = T::estimates(&together, &truth, &shares).into_iter();
        Ok(ScoreReport {
            task: T::NAME.into(),
            rows,
            without_truth,
            score: own.mean,
            score_se: own.se,
            figures: figures(&together),
            figure_errors: errors.filter_map(|(name, figure)| Some((name, figure.se?))).collect(),
            best: members[best].name.clone(),
            gain_over_best: members[best].gain,
            members,
            gain_over_uniform: gain(&uniform),
            intervals: None,
        })
    }
}

/// The error of rows none of which has a truth.
fn no_truth(model: &Model) -> Error {
    let name = model.target().unwrap_or_default();
    Error::data(Place::cell(0, name), "the target is missing")
}
