//! The fitted stack: members, their combination, and the out-of-sample matrix it was learned from.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::assess::{Assessed, Assessment, StackFigures};
use super::bounds::Bounds;
use super::doubt::Doubt;
use super::intervals::Errors;
use super::limits::Limits;
use super::reach::{Held, Reach};
use super::unseen::{StoredUnseen, Unseen};
use super::{Calibration, CalibrationKind, IntervalKind, IntervalReport};
use crate::combine::{Combination, FoundWeights, LinearPool};
use crate::error::{Error, Result};
use crate::learner::density::{DensityModel, FittedAverage};
use crate::learner::{Diagnostics, Fitted, SMALL_BLOCK};
use crate::learner::{Stored, check_use};
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::stats::parallel;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::target::Target;
use crate::task::Task;

/// Fitted members and how they are combined: one model.
#[derive(Debug)]
pub struct Ensemble<T: Task> {
    members: Vec<Member<T>>,
    combination: Box<dyn Combination<T>>,
    matrix: Option<OutOfSample<T>>,
    assessment: Option<Assessment>,
    figures: Option<StackFigures>,
    interval_report: Option<IntervalReport>,
    held_out: Option<HeldOutPredictions>,
    /// The weights of all members of the matrix, where those without weight are not kept.
    all_weights: Option<Vec<f64>>,
    /// Whether the best member took the stack's place.
    replaced: bool,
    calibration: Option<Calibration>,
    limits: Limits,
    unseen: Option<Unseen<T>>,
    /// The same members and weights as one density, where that can be: made when it is first asked for.
    density: OnceLock<Option<Box<dyn DensityModel>>>,
    width: usize,
}

/// What a stack, or what is kept in its place, said about rows that were held out from it in its check; its figures are of the same.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutPredictions {
    /// The rows of the matrix, ascending.
    pub rows: Vec<usize>,
    /// What was said about each: rows x width, row after row; before calibration.
    pub predicted: Vec<f64>,
}

#[derive(Debug)]
struct Member<T: Task> {
    name: String,
    model: Arc<dyn Fitted<T>>,
}

/// A member that is asked about rows within reach only.
fn held<T: Task>(model: Arc<dyn Fitted<T>>, reach: &Arc<Reach>) -> Arc<dyn Fitted<T>> {
    Arc::new(Held { model, reach: Arc::clone(reach) })
}

/// The stored form.
#[derive(Serialize, Deserialize)]
struct Body {
    names: Vec<String>,
    models: Vec<Record>,
    combination: Record,
    #[serde(default)]
    calibration: Option<Calibration>,
    #[serde(default)]
    unseen: Option<StoredUnseen>,
    #[serde(default)]
    bounds: Option<Bounds>,
    #[serde(default)]
    reach: Option<Arc<Reach>>,
    #[serde(default)]
    doubt: Option<Doubt>,
}

impl<T: Task> Ensemble<T> {
    /// An ensemble of named models, combined in their order; `all_weights` are those of all members of the matrix.
    pub(super) fn new(
        members: Vec<(String, Box<dyn Fitted<T>>)>,
        combination: Box<dyn Combination<T>>,
        matrix: OutOfSample<T>,
        all_weights: Option<Vec<f64>>,
    ) -> Self {
        let width = matrix.width();
        let (names, models) = members.into_iter().unzip();
        let ensemble = Self::assemble(names, models, combination, Some(matrix), width);
        Self { all_weights, ..ensemble }
    }

    /// Whether the best member takes the stack's place.
    pub(super) fn replaced(self, replaced: bool) -> Self {
        Self { replaced, ..self }
    }

    /// With what it keeps to.
    pub(super) fn within(mut self, limits: Limits) -> Self {
        if let Some(reach) = &limits.reach {
            let hold = |Member { name, model }| Member { name, model: held(model, reach) };
            self.members = self.members.into_iter().map(hold).collect();
        }
        Self { limits, ..self }
    }

    /// An ensemble of models that weigh alike; one is itself.
    pub(crate) fn with_equal_weights(members: Vec<(String, Box<dyn Fitted<T>>)>) -> Result<Self> {
        let Some(width) = members.first().map(|(_, model)| model.width()) else {
            return Err(Error::shape("members of the ensemble", 1, 0));
        };
        let (names, models): (Vec<String>, Vec<_>) = members.into_iter().unzip();
        let weights = vec![1.0 / models.len() as f64; models.len()];
        Ok(Self::assemble(names, models, Box::new(LinearPool::new(weights)), None, width))
    }

    /// With the usual figures of what it said.
    pub(super) fn with_figures(self, figures: StackFigures) -> Self {
        Self { figures: Some(figures), ..self }
    }

    /// With what its check has shown: the assessment, calibration if it is wanted, the errors on unseen rows of numbers.
    /// `x` are the inputs of the rows tried on.
    pub(super) fn assessed(
        mut self,
        assessed: Assessed<T>,
        calibration: Option<CalibrationKind>,
        intervals: IntervalKind,
        x: Rows<'_>,
        run: &Run,
    ) -> Result<Self> {
        let Assessed { assessment, predicted, judged, rows, tried_on, combinations, .. } = assessed;
        self.assessment = Some(assessment);
        self.held_out = Some(HeldOutPredictions { rows: rows.clone(), predicted: judged });
        let Some(matrix) = &self.matrix else {
            return Ok(self);
        };
        let target = matrix.target().select(&rows);
        let weights: Option<Vec<f64>> =
            matrix.weights().map(|weights| rows.iter().map(|&i| weights[i]).collect());
        if let Some(kind) = calibration {
            let labels = target.labels().filter(|_| !T::LOG_SPACE).ok_or_else(|| {
                Error::param("calibration", "left out: it is for class probabilities", T::NAME)
            })?;
            let fitted = Calibration::fit(kind, &predicted, labels, weights.as_deref())?;
            self.calibration = Some(fitted);
        }
        let Some(numbers) = T::numbers(&target) else {
            if intervals == IntervalKind::Local {
                let expected = "left out: prediction intervals are for numbers";
                return Err(Error::param("intervals", expected, T::NAME));
            }
            return Ok(self);
        };
        let errors = Errors { predicted, truth: numbers.to_vec(), rows: tried_on };
        let (unseen, report) = Unseen::learn(errors, combinations, intervals, x, run)?;
        self.interval_report = Some(report);
        self.unseen = Some(unseen);
        Ok(self)
    }

    fn assemble(
        names: Vec<String>,
        models: Vec<Box<dyn Fitted<T>>>,
        combination: Box<dyn Combination<T>>,
        matrix: Option<OutOfSample<T>>,
        width: usize,
    ) -> Self {
        let models: Vec<Arc<dyn Fitted<T>>> = models.into_iter().map(Arc::from).collect();
        let members = names.into_iter().zip(models).map(|(name, model)| Member { name, model });
        Self {
            members: members.collect(),
            combination,
            matrix,
            assessment: None,
            figures: None,
            interval_report: None,
            held_out: None,
            all_weights: None,
            replaced: false,
            calibration: None,
            limits: Limits::default(),
            unseen: None,
            density: OnceLock::new(),
            width,
        }
    }

    /// The weighted mixture of the members as one density; `None` if one that counts is none, or the members are not mixed.
    fn pooled(&self) -> Option<Box<dyn DensityModel>> {
        let weights = self.combination.weights()?;
        let used = || self.members.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let part = |(member, _): (&Member<T>, _)| member.model.density().map(DensityModel::boxed);
        let parts: Vec<Box<dyn DensityModel>> = used().map(part).collect::<Option<_>>()?;
        let weights = used().map(|(_, weight)| *weight).collect();
        FittedAverage::mixture(weights, parts).map(|pool| Box::new(pool) as _)
    }

    /// The members' names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// How far off it was on rows it had not seen.
    pub(super) fn unseen(&self) -> Option<&Unseen<T>> {
        self.unseen.as_ref()
    }

    /// The fitted members.
    pub fn models(&self) -> impl ExactSizeIterator<Item = &dyn Fitted<T>> {
        self.members.iter().map(|member| member.model.as_ref())
    }

    /// How they are combined.
    pub fn combination(&self) -> &dyn Combination<T> {
        self.combination.as_ref()
    }

    /// The weights of all members of the [matrix](Ensemble::matrix), in its order, where members without weight are not
    /// kept; else those of the combination, if it has any.
    pub fn all_weights(&self) -> Option<&[f64]> {
        self.all_weights.as_deref().or_else(|| self.combination.weights())
    }

    /// What the check of the stack has shown, if there was one; not stored with the model.
    pub fn assessment(&self) -> Option<&Assessment> {
        self.assessment.as_ref()
    }

    /// The usual figures of the stack, its best member and equal weights, from the rows held out in the check, or else
    /// those the combination was learned from; not stored with the model.
    pub fn figures(&self) -> Option<&StackFigures> {
        self.figures.as_ref()
    }

    /// Of numbers: how wide its prediction intervals are, and how often they held the truth of rows held out in the check;
    /// not stored with the model.
    pub fn interval_report(&self) -> Option<&IntervalReport> {
        self.interval_report.as_ref()
    }

    /// What it said about the rows held out in its check, if there was one; not stored with the model.
    pub fn held_out(&self) -> Option<&HeldOutPredictions> {
        self.held_out.as_ref()
    }

    /// What it would say with other fits of its members in their place, one for each; before calibration, and without bounds.
    pub fn predict_with<'a>(
        &self,
        fits: impl Iterator<Item = &'a dyn Fitted<T>>,
        x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        combine_models(self.combination.as_ref(), fits, x, out, self.width)
    }

    /// What it makes of its members' predictions, a column for each in their order: what [`crate::learner::predict`] says, without asking
    /// the members once more.
    pub fn combine(&self, columns: &[Vec<f64>], x: Rows<'_>, run: &Run) -> Result<Vec<f64>> {
        let mut all = vec![0.0; x.rows() * self.width];
        run.install(|| {
            parallel::try_parts(&mut all, SMALL_BLOCK * self.width, &|k, out| {
                run.check()?;
                let first = k * SMALL_BLOCK;
                let rows = first..first + out.len() / self.width;
                let cells = rows.start * self.width..rows.end * self.width;
                let columns: Vec<&[f64]> =
                    columns.iter().map(|column| &column[cells.clone()]).collect();
                self.combination.combine_into(&columns, self.width, x.slice(rows), out)?;
                self.settle(out);
                Ok(())
            })
        })?;
        Ok(all)
    }

    /// What becomes of a combination before it is told: probabilities are doubted and calibrated, numbers held.
    fn settle(&self, out: &mut [f64]) {
        if let Some(doubt) = &self.limits.doubt {
            doubt.apply(out);
        }
        if let Some(calibration) = &self.calibration {
            out.chunks_exact_mut(self.width).for_each(|row| calibration.apply(row));
        }
        self.hold(out);
    }

    /// Holds numbers within the bounds, if there are any.
    pub(super) fn hold(&self, out: &mut [f64]) {
        if let Some(bounds) = self.limits.bounds {
            bounds.hold(out);
        }
    }

    /// Whether the best member took the place of a stack that was not better.
    pub fn is_replaced(&self) -> bool {
        self.replaced
    }

    /// How its probabilities are calibrated, if they are.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The weights as they were found, with their certificate, before a best member may have taken their place; not stored
    /// with the model.
    pub fn found_weights(&self) -> Option<&FoundWeights> {
        self.combination.found()
    }

    /// Takes the out-of-sample matrix out of the ensemble.
    pub fn take_matrix(&mut self) -> Option<OutOfSample<T>> {
        self.matrix.take()
    }

    /// The out-of-sample matrix the combination was learned from, of all members, also those that have no weight and are not
    /// kept; not stored with the model.
    pub fn matrix(&self) -> Option<&OutOfSample<T>> {
        self.matrix.as_ref()
    }
}

/// Cells of the members' predictions that one block of rows may take: 64 MB.
pub(super) const BLOCK_CELLS: usize = 1 << 23;

impl<T: Task> Fitted<T> for Ensemble<T> {
    fn width(&self) -> usize {
        self.width
    }

    /// The largest of the members that are asked, so that each is asked as if alone; as far as memory allows.
    fn block(&self) -> usize {
        let weights = self.combination.weights();
        let is_asked = |m: usize| weights.is_none_or(|weights| weights[m] != 0.0);
        let asked = self.members.iter().enumerate().filter(|(m, _)| is_asked(*m));
        let largest = asked.map(|(_, member)| member.model.block()).max().unwrap_or(SMALL_BLOCK);
        let most = BLOCK_CELLS / (self.members.len() * self.width).max(1);
        largest.min(most.max(SMALL_BLOCK))
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let models = self.members.iter().map(|member| member.model.as_ref());
        combine_models(self.combination.as_ref(), models, x, out, self.width)?;
        self.settle(out);
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (inputs.len(), self.width), inputs, width)?;
        self.models().try_for_each(|model| model.validate(inputs, width))?;
        self.combination.validate(self.members.len(), inputs, width)?;
        if let Some(unseen) = &self.unseen {
            unseen.validate(self.members.len(), inputs, width)?;
        }
        self.limits.validate::<T>(width)?;
        let calibrated = self.calibration.as_ref();
        if calibrated.is_some_and(|c| T::LOG_SPACE || !T::CLASSES || !c.is_sound(width)) {
            return Err(Error::param("model file", "of a sound calibration", "damaged"));
        }
        Ok(())
    }

    fn record(&self) -> Result<Record> {
        let body = Body {
            names: self.names().map(String::from).collect(),
            models: self.models().map(Fitted::record).collect::<Result<_>>()?,
            combination: self.combination.record()?,
            calibration: self.calibration.clone(),
            unseen: self.unseen.as_ref().map(Unseen::stored).transpose()?,
            bounds: self.limits.bounds,
            reach: self.limits.reach.clone(),
            doubt: self.limits.doubt.clone(),
        };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    /// The members by name, what each consists of, and how they are combined.
    fn parameters(&self) -> Parameters {
        let names: Vec<String> = self.names().map(String::from).collect();
        let models: Vec<Parameters> = self.models().map(Fitted::parameters).collect();
        Parameters::new(Self::KIND)
            .with("members", &names)
            .with("models", models)
            .with_some("weights", self.combination.weights())
            .with("combination", self.combination.parameters())
            .with_some("calibration", self.calibration.as_ref().map(Calibration::parameters))
            .with_some("bounds", self.limits.bounds.map(|bounds| bounds.ends().to_vec()))
            .with_some("doubt", self.limits.doubt.as_ref().map(Doubt::share))
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        self.density.get_or_init(|| self.pooled()).as_deref()
    }

    /// How the search for the combination went, and what it found; of one member alone, what that member tells.
    fn diagnostics(&self) -> Diagnostics {
        let own = self.combination.diagnostics();
        match &self.members[..] {
            [alone] => {
                let member = alone.model.diagnostics();
                let notes = own.notes.into_iter().chain(member.notes).collect();
                Diagnostics { notes, ..member }
            }
            _ => own,
        }
    }

    fn free_parameters(&self) -> Option<usize> {
        match &self.members[..] {
            [alone] => alone.model.free_parameters(),
            _ => None,
        }
    }
}

impl<T: Task> Stored<T> for Ensemble<T> {
    const KIND: &'static str = "ensemble";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        // One after the other, so that stored and restored forms are not both whole in memory.
        let models = body.models.into_iter().map(|model| registry.model(&model));
        let models = models.collect::<Result<Vec<_>>>()?;
        record.require(!models.is_empty())?;
        if body.names.len() != models.len() {
            return Err(Error::shape("stored members", body.names.len(), models.len()));
        }
        let width = models.first().map_or(1, |model| model.width());
        let combination = registry.combination(&body.combination)?;
        let restore = |unseen: StoredUnseen| unseen.restore(&models, registry);
        let unseen = body.unseen.map(restore).transpose()?;
        let ensemble = Self::assemble(body.names, models, combination, None, width);
        let limits = Limits { bounds: body.bounds, reach: body.reach, doubt: body.doubt };
        Ok(Self { calibration: body.calibration, unseen, ..ensemble.within(limits) })
    }
}

/// Predicts a block of rows by models and combines them.
pub(super) fn combine_models<'a, T: Task>(
    combination: &dyn Combination<T>,
    models: impl Iterator<Item = &'a dyn Fitted<T>>,
    x: Rows<'_>,
    out: &mut [f64],
    width: usize,
) -> Result<()> {
    let weights = combination.weights();
    let predict = |(m, model): (usize, &dyn Fitted<T>)| {
        let mut predicted = vec![0.0; out.len()];
        // A member without weight is not looked at, so it need not be asked.
        if weights.is_none_or(|weights| weights[m] != 0.0) {
            model.predict_into(x, &mut predicted)?;
        }
        Ok(predicted)
    };
    let predictions = models.enumerate().map(predict).collect::<Result<Vec<_>>>()?;
    let columns: Vec<&[f64]> = predictions.iter().map(Vec::as_slice).collect();
    combination.combine_into(&columns, width, x, out)
}
