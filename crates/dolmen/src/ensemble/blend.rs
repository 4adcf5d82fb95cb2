//! Blending: combiners, their check, calibration and intervals for predictions that were made elsewhere.
//!
//! A stack without its learners: what the members said about rows they had not seen is given. Combiners are tried on folds
//! over those rows, dealt in turn (groups together, or in order of time), and the one that does best on rows it has not seen is learned from all of them.

use super::assess::{Assessed, Assessor};
use super::intervals::{Errors, check_level};
use super::{Assessment, Calibration, CalibrationKind, HeldOutPredictions, Residuals};
use crate::combine::{Combination, Combiner, LinearPool};
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::oos::{OutOfSample, Trials};
use crate::run::Run;
use crate::table::{Features, Rows};
use crate::target::Target;
use crate::task::{Regression, Task};

/// What is learned beside the combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlendOptions {
    /// How class probabilities are calibrated, if they are; needs the check.
    pub calibration: Option<CalibrationKind>,
    /// Whether candidates are tried on folds; without it the first is used.
    pub check: bool,
}

impl Default for BlendOptions {
    fn default() -> Self {
        Self { calibration: None, check: true }
    }
}

/// Folds over the rows.
const FOLDS: usize = 5;
/// Fewer rows than this are not dealt to folds: the first candidate is used unchecked.
const FEWEST: usize = 2 * FOLDS;

/// A combination of predictions made elsewhere, and what its check has shown.
#[derive(Debug)]
pub struct Blend<T: Task> {
    combination: Box<dyn Combination<T>>,
    name: String,
    assessment: Option<Assessment>,
    calibration: Option<Calibration>,
    residuals: Option<Residuals>,
    held_out: Option<HeldOutPredictions>,
    width: usize,
}

impl<T: Task> Blend<T> {
    /// Chooses among the combiners and learns the combination. `x` are the rows' inputs, for combiners that look at them.
    pub fn fit(
        matrix: &OutOfSample<T>,
        x: Option<Rows<'_>>,
        combiners: &[Box<dyn Combiner<T>>],
        options: BlendOptions,
        run: &Run,
    ) -> Result<Self> {
        if combiners.iter().any(|combiner| combiner.needs_evidence()) {
            let expected = "one that needs no fitted members: predictions from elsewhere have none";
            return Err(Error::param("combiner", expected, "bma"));
        }
        let nothing = Features::none(matrix.rows());
        let matrix = matrix.as_table();
        let target = matrix.target().clone();
        let sample = Sample::new(x.unwrap_or_else(|| nothing.rows()), &target)?;
        let no_evidence = |_: &[usize], _: &Run| Ok(Vec::new());
        let combiners: Vec<&dyn Combiner<T>> = combiners.iter().map(AsRef::as_ref).collect();
        let assessor = Assessor {
            combiners: &combiners,
            asked_for: combiners.iter().map(|combiner| combiner.rungs().len()).sum(),
            equal: None,
            doubt: None,
            replace: false,
            sample,
            log_evidence: &no_evidence,
        };
        let trials = if matrix.rows() < FEWEST || !options.check {
            Trials::none(matrix)
        } else {
            Trials::dealt(matrix, FOLDS)
        };
        let assessed = assessor.assess(&trials, &|_| Ok(None), &run.stream("check"))?;
        let chosen = assessed.as_ref().map_or(0, |assessed| assessed.chosen);
        let combination = assessor.fit(chosen, &trials.matrix, &run.stream("combination"))?;
        let blend = Self {
            combination,
            name: assessor.names().swap_remove(chosen),
            assessment: None,
            calibration: None,
            residuals: None,
            held_out: None,
            width: trials.matrix.width(),
        };
        blend.learned(assessed, &trials.matrix, options)
    }

    /// With what can be learned from its predictions of rows it had not seen.
    fn learned(
        mut self,
        assessed: Option<Assessed<T>>,
        matrix: &OutOfSample<T>,
        options: BlendOptions,
    ) -> Result<Self> {
        let is_classes = T::CLASSES && !T::LOG_SPACE;
        if options.calibration.is_some() && !is_classes {
            let expected = "left out: it is for class probabilities";
            return Err(Error::param("calibration", expected, T::NAME));
        }
        let Some(Assessed { assessment, rows, predicted, judged, tried_on, .. }) = assessed else {
            if options.calibration.is_some() {
                let expected = format!("at least {FEWEST} for a calibration");
                return Err(Error::param("rows", expected, matrix.rows()));
            }
            return Ok(self);
        };
        self.assessment = Some(assessment);
        // Only the rows tried on: in order of time the first are learned from only.
        let target = matrix.target().select(&rows);
        let weights: Option<Vec<f64>> =
            matrix.weights().map(|weights| rows.iter().map(|&i| weights[i]).collect());
        if let (Some(kind), Some(labels)) = (options.calibration, target.labels()) {
            let fitted = Calibration::fit(kind, &predicted, labels, weights.as_deref())?;
            self.calibration = Some(fitted);
        }
        if let Some(numbers) = T::numbers(&target) {
            let errors = Errors { predicted, truth: numbers.to_vec(), rows: tried_on };
            self.residuals = Some(Residuals::of(&errors));
        }
        self.held_out = Some(HeldOutPredictions { rows, predicted: judged });
        Ok(self)
    }

    /// The combination with weights that were found elsewhere ([`weigh`](crate::combine::weigh::weigh)), unchecked; `width`
    /// values make a prediction row.
    pub fn of_weights(name: String, weights: Vec<f64>, width: usize) -> Self {
        let combination = Box::new(LinearPool::new(weights));
        let (assessment, calibration, residuals, held_out) = (None, None, None, None);
        Self { combination, name, assessment, calibration, residuals, held_out, width }
    }

    /// The same with another combination of the same members, which was found from more rows.
    pub(crate) fn with(self, combination: Box<dyn Combination<T>>) -> Self {
        Self { combination, ..self }
    }

    /// The candidate that is used.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the members are combined.
    pub fn combination(&self) -> &dyn Combination<T> {
        self.combination.as_ref()
    }

    /// What the check has shown; `None` with too few rows for one.
    pub fn assessment(&self) -> Option<&Assessment> {
        self.assessment.as_ref()
    }

    /// What it said about rows that were held out from it in its check, before calibration; `None` without a check.
    pub fn held_out(&self) -> Option<&HeldOutPredictions> {
        self.held_out.as_ref()
    }

    /// How probabilities are calibrated, if they are.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The combined predictions of any rows: `members[m]` holds member m's (rows x width, row after row), in the order of
    /// the matrix.
    pub fn combine(&self, members: &[&[f64]], x: Option<Rows<'_>>) -> Result<Vec<f64>> {
        let cells = members.first().map_or(0, |column| column.len());
        if let Some(other) = members.iter().find(|column| column.len() != cells) {
            return Err(Error::shape("predictions of a member", cells, other.len()));
        }
        let nothing = Features::none(cells / self.width);
        let mut out = vec![0.0; cells];
        let x = x.unwrap_or_else(|| nothing.rows());
        self.combination.combine_into(members, self.width, x, &mut out)?;
        if let Some(calibration) = &self.calibration {
            out.chunks_exact_mut(self.width).for_each(|row| calibration.apply(row));
        }
        Ok(out)
    }
}

impl Blend<Regression> {
    /// Intervals about combined predictions that hold the truth with about this probability, from the errors on rows that
    /// the combiner had not seen.
    pub fn intervals(&self, combined: &[f64], level: f64) -> Result<Vec<[f64; 2]>> {
        check_level(level)?;
        let residuals = self.residuals.as_ref().ok_or_else(|| {
            Error::param("rows", format!("at least {FEWEST} for intervals"), "fewer")
        })?;
        let interval = |centre: &f64| residuals.interval(&vec![*centre; residuals.folds()], level);
        Ok(combined.iter().map(interval).collect())
    }
}
