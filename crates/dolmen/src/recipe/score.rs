//! How good a model is on rows with known truth, beside its members.

use serde::{Deserialize, Serialize};

use super::Evidence;
use super::model::{AnyModel, Model, with_model};
use super::predict::Predicted;
use super::stream::may_take;
use crate::ensemble::{Coverage, Coverages, Ensemble};
use crate::error::{Error, Place, Result};
use crate::learner::predict;
use crate::math::first_largest;
use crate::memory;
use crate::run::Run;
use crate::score::figures::Figures;
use crate::score::sums::FigureSums;
use crate::score::{Estimate, Running};
use crate::table::{Blocks, Features, Rows, Table, Unseen, UnseenSoFar};
use crate::task::{Classification, Density, Joint, Regression, Task, TaskKind};

/// What scoring says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreReport {
    /// The task.
    pub task: TaskKind,
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
    /// The score of equal weights of the members that are stored; `None` in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Estimate>,
    /// The figures of equal weights; none in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Figures::is_empty")]
    pub uniform_figures: Figures,
    /// Of numbers: how often prediction intervals hold the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<Coverage>>,
    /// Figures that are not there because they rank all rows, whose predictions could not be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
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
        let mut sums = ScoreSums::new(self, true);
        sums.add(self, rows, run)?;
        sums.report(self)
    }

    /// How good the model is on rows that hold the truth, and how its predictions do row by row; with `explain` also the importance of the
    /// inputs. The rows should not be those learned from.
    pub fn judge(
        &self,
        rows: Predicted,
        explain: bool,
        run: &Run,
    ) -> Result<(ScoreReport, Evidence)> {
        let mut sums = ScoreSums::new(self, true);
        let evidence = sums.take(self, rows, Some(explain), run)?.ok_or_else(|| no_truth(self))?;
        Ok((sums.report(self)?, evidence))
    }

    /// Scores the model on rows that are read block by block, and tells what categories it has not seen. Rows are not kept; of classes
    /// predictions are, because the AUC ranks all of them: where this memory (such as `2G`; half of what can be had if nothing is said)
    /// does not hold them, there is no AUC.
    pub fn score_blocks(
        &self,
        blocks: &Blocks,
        memory: Option<&str>,
        run: &Run,
    ) -> Result<(ScoreReport, Vec<Unseen>)> {
        let memory = may_take(memory)?;
        let members = with_model!(self.any(), model => model.models().count());
        // Predictions of all, and a few numbers a row beside them while they are ranked.
        let a_row = (members + 2) * self.classes().len() + 6;
        let holds = |rows| memory::size(&[rows, a_row, size_of::<f64>()]) <= memory;
        let mut keeps_rows = blocks.rows().is_none_or(holds);
        let (mut sums, mut unseen) = (ScoreSums::new(self, keeps_rows), UnseenSoFar::default());
        blocks.visit(run, &mut |first, block| {
            let at = |error| blocks.locate(error, first);
            // Of some files it is not known before how many rows they have. Sums that keep nothing let go of what others kept.
            if keeps_rows && !holds(first + block.rows()) {
                keeps_rows = false;
                sums.merge(ScoreSums::new(self, false))?;
            }
            let mut rows = self.rows_of(block).map_err(at)?;
            unseen.add(std::mem::take(&mut rows.unseen));
            sums.add(self, rows, &run.silent()).map_err(at)
        })?;
        let report = sums.report(self).map_err(|error| blocks.locate(error, 0))?;
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

/// What rows with known truth said of a model so far: sums that can be made in several places, travel, and are merged in the order of the
/// rows.
#[derive(Debug, Clone)]
pub struct ScoreSums(OfTask);

#[derive(Debug, Clone, Serialize, Deserialize)]
enum OfTask {
    Density(Scores<Density>),
    Classification(Scores<Classification>),
    Joint(Scores<Joint>),
    Regression(Scores<Regression>, Coverages),
}

impl ScoreSums {
    /// Of no rows yet. With `keeps_rows` the predictions of classes are kept, for the AUC.
    pub fn new(model: &Model, keeps_rows: bool) -> Self {
        Self(match model.any() {
            AnyModel::Density(own) => OfTask::Density(Scores::new(own, keeps_rows)),
            AnyModel::Classification(own) => OfTask::Classification(Scores::new(own, keeps_rows)),
            AnyModel::Joint(own) => OfTask::Joint(Scores::new(own, keeps_rows)),
            AnyModel::Regression(own) => {
                OfTask::Regression(Scores::new(own, keeps_rows), Coverages::default())
            }
        })
    }

    /// Predicts further rows and adds how that went.
    pub fn add(&mut self, model: &Model, rows: Predicted, run: &Run) -> Result<()> {
        self.take(model, rows, None, run).map(drop)
    }

    /// Adds what rows after these said of the same model.
    pub fn merge(&mut self, later: Self) -> Result<()> {
        match (&mut self.0, later.0) {
            (OfTask::Density(all), OfTask::Density(later)) => all.merge(later),
            (OfTask::Classification(all), OfTask::Classification(later)) => all.merge(later),
            (OfTask::Joint(all), OfTask::Joint(later)) => all.merge(later),
            (OfTask::Regression(all, own), OfTask::Regression(later, more)) => {
                own.merge(more);
                all.merge(later)
            }
            _ => Err(of_another_model()),
        }
    }

    /// The sums as they are sent.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        rmp_serde::to_vec(&self.0).map_err(|e| Error::param("sums", "ones that can be sent", e))
    }

    /// The sums as they were sent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        rmp_serde::from_slice(bytes).map(Self).map_err(|e| Error::param("sums", "readable", e))
    }

    /// What all rows say.
    pub fn report(&self, model: &Model) -> Result<ScoreReport> {
        match (&self.0, model.any()) {
            (OfTask::Density(scores), AnyModel::Density(own)) => scores.report(model, own),
            (OfTask::Classification(scores), AnyModel::Classification(own)) => {
                scores.report(model, own)
            }
            (OfTask::Joint(scores), AnyModel::Joint(own)) => scores.report(model, own),
            (OfTask::Regression(scores, coverages), AnyModel::Regression(own)) => {
                Ok(ScoreReport { intervals: coverages.finish(), ..scores.report(model, own)? })
            }
            _ => Err(of_another_model()),
        }
    }

    /// Predicts further rows and adds how that went; with `examine` also what it was row by row, and `explain`ed if that is asked.
    fn take(
        &mut self,
        model: &Model,
        rows: Predicted,
        examine: Option<bool>,
        run: &Run,
    ) -> Result<Option<Evidence>> {
        match (&mut self.0, model.any()) {
            (OfTask::Density(scores), AnyModel::Density(own)) => {
                scores.take(model, own, rows, examine, run, |_, ()| Ok(()))
            }
            (OfTask::Classification(scores), AnyModel::Classification(own)) => {
                scores.take(model, own, rows, examine, run, |_, _| Ok(()))
            }
            (OfTask::Joint(scores), AnyModel::Joint(own)) => {
                scores.take(model, own, rows, examine, run, |_, _| Ok(()))
            }
            (OfTask::Regression(scores, coverages), AnyModel::Regression(own)) => {
                let also = |x: Rows<'_>, truth: &Vec<f64>| coverages.add(own, x, truth, run);
                scores.take(model, own, rows, examine, run, also)
            }
            _ => Err(of_another_model()),
        }
    }
}

/// How one predictor did.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "")]
struct Own<T: Task> {
    score: Running,
    figures: T::Sums,
}

impl<T: Task> Own<T> {
    fn new(keeps_rows: bool) -> Self {
        Self { score: Running::default(), figures: T::Sums::new(keeps_rows) }
    }

    /// Adds prediction rows; the scores of each.
    fn add(&mut self, predicted: &[f64], truth: &T::Target) -> Vec<f64> {
        T::sum_up(&mut self.figures, predicted, truth);
        let rows = predicted.chunks_exact(T::width(truth)).enumerate();
        let scores: Vec<f64> = rows.map(|(i, row)| T::score(row, truth, i)).collect();
        scores.iter().for_each(|&score| self.score.add(score));
        scores
    }

    fn merge(&mut self, later: Self) {
        self.score.merge(&later.score);
        self.figures.merge(later.figures);
    }
}

/// What is kept of rows until all have been predicted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "")]
struct Scores<T: Task> {
    rows: usize,
    without_truth: usize,
    together: Own<T>,
    /// Each member, and the ensemble's gain over it.
    alone: Vec<(Own<T>, Running)>,
    /// The ensemble's gain over equal weights.
    over_uniform: Running,
    /// Equal weights.
    uniform: Own<T>,
}

impl<T: Task> Scores<T> {
    fn new(ensemble: &Ensemble<T>, keeps_rows: bool) -> Self {
        let alone = ensemble.models().map(|_| (Own::new(keeps_rows), Running::default()));
        Self {
            rows: 0,
            without_truth: 0,
            together: Own::new(keeps_rows),
            alone: alone.collect(),
            over_uniform: Running::default(),
            uniform: Own::new(keeps_rows),
        }
    }

    /// Predicts further rows and adds how that went; `also` sees those whose truth is known.
    fn take(
        &mut self,
        model: &Model,
        ensemble: &Ensemble<T>,
        rows: Predicted,
        examine: Option<bool>,
        run: &Run,
        also: impl FnOnce(Rows<'_>, &T::Target) -> Result<()>,
    ) -> Result<Option<Evidence>> {
        model.check_classes(&rows.table)?;
        let (features, mut table, without_truth) = model.with_truth(rows)?;
        let unknown = match model.target() {
            Some(name) => table.column(name)?.missing(),
            None => 0,
        };
        if unknown > 0 {
            // None of these rows has a truth.
            self.without_truth += unknown;
            return Ok(None);
        }
        self.without_truth += without_truth;
        let truth: T::Target = model.truth(&mut table)?;
        let x = features.rows();
        also(x, &truth)?;
        let answers = Answers::of(ensemble, x, &truth, run)?;
        self.add(&answers);
        let examined = |explain| model.examine(answers, explain, &run.stream("examine"));
        examine.map(examined).transpose()
    }

    fn add(&mut self, answers: &Answers<'_, T>) {
        let Answers { truth, together, alone, .. } = answers;
        let scores = self.together.add(together, truth);
        self.rows += scores.len();
        for ((own, gain), predicted) in self.alone.iter_mut().zip(alone) {
            let own_scores = own.add(predicted, truth);
            scores.iter().zip(own_scores).for_each(|(&all, own)| gain.add_difference(all, own));
        }
        let width = T::width(truth);
        let equal = vec![1.0 / alone.len() as f64; alone.len()];
        let mut mixed = vec![0.0; scores.len() * width];
        for (i, row) in mixed.chunks_exact_mut(width).enumerate() {
            T::mix(&equal, |m| &alone[m][i * width..(i + 1) * width], row);
        }
        let uniform = self.uniform.add(&mixed, truth);
        for (&score, uniform) in scores.iter().zip(uniform) {
            self.over_uniform.add_difference(score, uniform);
        }
    }

    fn merge(&mut self, later: Self) -> Result<()> {
        if self.alone.len() != later.alone.len() {
            return Err(of_another_model());
        }
        self.rows += later.rows;
        self.without_truth += later.without_truth;
        self.together.merge(later.together);
        for ((own, gain), (more, more_gain)) in self.alone.iter_mut().zip(later.alone) {
            own.merge(more);
            gain.merge(&more_gain);
        }
        self.over_uniform.merge(&later.over_uniform);
        self.uniform.merge(later.uniform);
        Ok(())
    }

    fn report(&self, model: &Model, ensemble: &Ensemble<T>) -> Result<ScoreReport> {
        if self.rows == 0 {
            return Err(no_truth(model));
        }
        let figures = |own: &Own<T>| -> Figures {
            let figures = own.figures.finish().into_iter();
            figures.map(|(name, figure)| (name.to_string(), figure.mean)).collect()
        };
        let weights = ensemble.combination().weights();
        let scored = |((m, name), (own, gain)): ((usize, &str), &(Own<T>, Running))| {
            let score = own.score.estimate();
            ScoredMember {
                name: name.into(),
                weight: weights.map(|weights| weights[m]),
                score: score.mean,
                score_se: score.se,
                gain: gain.estimate(),
                figures: figures(own),
            }
        };
        let members: Vec<ScoredMember> =
            ensemble.names().enumerate().zip(&self.alone).map(scored).collect();
        let best = first_largest(&members.iter().map(|own| own.score).collect::<Vec<f64>>());
        let (score, together) = (self.together.score.estimate(), self.together.figures.finish());
        let known = |figure: &str| together.iter().any(|(name, _)| *name == figure);
        let se = |(name, figure): &(&str, Estimate)| Some(((*name).to_string(), figure.se?));
        Ok(ScoreReport {
            task: T::KIND,
            rows: self.rows,
            without_truth: self.without_truth,
            score: score.mean,
            score_se: score.se,
            figure_errors: together.iter().filter_map(se).collect(),
            unknown: if T::CLASSES && !known("auc") { vec!["auc".into()] } else { Vec::new() },
            figures: figures(&self.together),
            best: members[best].name.clone(),
            gain_over_best: members[best].gain,
            members,
            gain_over_uniform: self.over_uniform.estimate(),
            uniform: Some(self.uniform.score.estimate()),
            uniform_figures: figures(&self.uniform),
            intervals: None,
        })
    }
}

/// The error of rows none of which has a truth.
fn no_truth(model: &Model) -> Error {
    let name = model.target().unwrap_or_default();
    Error::data(Place::cell(0, name), "the target is missing")
}

/// The error of sums that are of another model.
fn of_another_model() -> Error {
    Error::param("sums", "of this model", "those of another")
}
