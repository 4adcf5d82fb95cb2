//! What the check says of single predictions of numbers: how far off the stack was on rows it had not seen, and the prediction
//! intervals that follow.

use serde::{Deserialize, Serialize};

use super::Ensemble;
use super::intervals::{Covered, Errors, check_level};
use super::spread::{self, Spread, StoredSpread};
use super::stacked::combine_models;
use super::{Coverage, INTERVAL_LEVELS, IntervalKind, IntervalReport, Residuals};
use crate::combine::Combination;
use crate::error::{Error, Result};
use crate::learner::{Fitted, predict};
use crate::run::Run;
use crate::store::{Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::{Regression, Task};

/// How far off the stack was on rows it had not seen, and the combinations it used there, fold after fold; none if the
/// folds are not those the members were fitted on.
#[derive(Debug)]
pub(super) struct Unseen<T: Task> {
    residuals: Residuals,
    combinations: Vec<Box<dyn Combination<T>>>,
    /// What the errors are measured in, for local intervals.
    spread: Option<Spread>,
}

/// The stored form.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredUnseen {
    residuals: Residuals,
    combinations: Vec<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spread: Option<StoredSpread>,
}

impl<T: Task> Unseen<T> {
    /// From the errors of the check and the combinations that were learned in it; also the report on the intervals. `x` are
    /// the inputs of the rows tried on.
    pub(super) fn learn(
        mut errors: Errors,
        combinations: Vec<Box<dyn Combination<T>>>,
        intervals: IntervalKind,
        x: Rows<'_>,
        run: &Run,
    ) -> Result<(Self, IntervalReport)> {
        let (kind, units, coverage, spread) =
            if intervals == IntervalKind::Local && spread::can_learn(&errors) {
                let (spread, mut units) = Spread::fit(x, &errors, run)?;
                let coverage = if errors.rows.is_forward {
                    let mut expected = spread.of_each_fold(x, &errors.predicted)?;
                    let others = std::iter::once(&mut units).chain(&mut expected);
                    errors.drop_first_fold(&mut others.collect::<Vec<_>>());
                    errors.forward_coverage(&units, &expected)
                } else {
                    errors.held_out_coverage(&units)
                };
                (IntervalKind::Local, units, coverage, Some(spread))
            } else {
                let units = vec![1.0; errors.rows.len()];
                let coverage = errors.held_out_coverage(&units);
                (IntervalKind::Constant, units, coverage, None)
            };
        let all: Vec<usize> = (0..errors.rows.len()).collect();
        let residuals = Residuals::in_units(&errors, &all, &units);
        Ok((Self { residuals, combinations, spread }, IntervalReport { kind, coverage }))
    }

    /// Refuses what does not fit to so many members, inputs of these columns and prediction rows of this width.
    pub(super) fn validate(&self, members: usize, inputs: &Schema, width: usize) -> Result<()> {
        self.combinations.iter().try_for_each(|own| own.validate(members, inputs, width))?;
        self.spread.as_ref().map_or(Ok(()), |spread| spread.validate(inputs))
    }

    pub(super) fn stored(&self) -> Result<StoredUnseen> {
        let combinations = self.combinations.iter().map(|c| c.record()).collect::<Result<_>>()?;
        let spread = self.spread.as_ref().map(Spread::stored).transpose()?;
        Ok(StoredUnseen { residuals: self.residuals.clone(), combinations, spread })
    }
}

impl StoredUnseen {
    /// Reads it back; the folds must be those of the models.
    pub(super) fn restore<T: Task>(
        self,
        models: &[Box<dyn Fitted<T>>],
        registry: &Registry,
    ) -> Result<Unseen<T>> {
        let combinations = self.combinations.iter().map(|own| registry.combination(own));
        let combinations = combinations.collect::<Result<Vec<_>>>()?;
        let (folds, found) = (self.residuals.folds(), combinations.len());
        let mut fits = models.iter().map(|model| model.fold_fits().map_or(folds, <[_]>::len));
        if found > 0 && (found != folds || fits.any(|fits| fits != folds)) {
            return Err(Error::shape("stored folds", folds, found));
        }
        let spread = self.spread.map(|spread| spread.restore(folds, registry)).transpose()?;
        Ok(Unseen { residuals: self.residuals, combinations, spread })
    }
}

impl Ensemble<Regression> {
    /// Intervals that hold the truth with about this probability, row after row; `None` if the stack was not checked.
    ///
    /// CV+ intervals if the members are fold averages, else the quantiles of the errors on unseen rows about the
    /// prediction. Every row that errors were found on counts once, whatever its weight.
    pub fn intervals(&self, x: Rows<'_>, level: f64, run: &Run) -> Result<Option<Vec<[f64; 2]>>> {
        Ok(self.intervals_of(x, &[level], run)?.map(|mut levels| levels.swap_remove(0)))
    }

    /// How often the intervals hold the truth of these rows; `None` if there are none.
    pub fn coverage(&self, x: Rows<'_>, truth: &[f64], run: &Run) -> Result<Option<Vec<Coverage>>> {
        let mut covered = Coverages::default();
        covered.add(self, x, truth, run)?;
        Ok(covered.finish())
    }

    /// The intervals of several levels, level after level.
    fn intervals_of(
        &self,
        x: Rows<'_>,
        levels: &[f64],
        run: &Run,
    ) -> Result<Option<Vec<Vec<[f64; 2]>>>> {
        levels.iter().try_for_each(|&level| check_level(level))?;
        let Some(unseen) = self.unseen() else {
            return Ok(None);
        };
        let fits: Option<Vec<_>> = self.models().map(Fitted::fold_fits).collect();
        let fits = fits.filter(|_| !unseen.combinations.is_empty());
        if fits.is_none() && unseen.spread.is_none() {
            return Ok(Some(self.constant_intervals(
                &unseen.residuals.half_widths(levels),
                x,
                run,
            )?));
        }
        let size = self.block();
        let block = |k: usize| {
            run.check()?;
            let x = x.slice(k * size..((k + 1) * size).min(x.rows()));
            let centres: Vec<Vec<f64>> = if let Some(fits) = &fits {
                let mut centres = unseen.fold_predictions(fits, x)?;
                centres.iter_mut().for_each(|centre| self.hold(centre));
                centres
            } else {
                let mut mean = vec![0.0; x.rows()];
                self.predict_into(x, &mut mean)?;
                vec![mean; unseen.residuals.folds()]
            };
            unseen.block_intervals(&centres, levels, x)
        };
        let blocks: Vec<Vec<Vec<[f64; 2]>>> = run.try_map(x.rows().div_ceil(size), block)?;
        let mut all = vec![Vec::with_capacity(x.rows()); levels.len()];
        for found in blocks {
            all.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
        }
        Ok(Some(all))
    }

    /// Intervals of these half widths about the prediction of each row, width after width.
    fn constant_intervals(
        &self,
        half_widths: &[f64],
        x: Rows<'_>,
        run: &Run,
    ) -> Result<Vec<Vec<[f64; 2]>>> {
        let means = predict(self, x, run)?;
        let of_width = |half: &f64| means.iter().map(|mean| [mean - half, mean + half]).collect();
        Ok(half_widths.iter().map(of_width).collect())
    }
}

/// How often intervals hold the truth of rows that are seen block by block.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Coverages {
    levels: Vec<Covered>,
}

impl Coverages {
    /// Adds the intervals of further rows, if the model has any.
    pub fn add(
        &mut self,
        model: &Ensemble<Regression>,
        x: Rows<'_>,
        truth: &[f64],
        run: &Run,
    ) -> Result<()> {
        let Some(intervals) = model.intervals_of(x, &INTERVAL_LEVELS, run)? else {
            return Ok(());
        };
        if self.levels.is_empty() {
            self.levels = INTERVAL_LEVELS.iter().map(|&level| Covered::new(level)).collect();
        }
        for (covered, own) in self.levels.iter_mut().zip(&intervals) {
            covered.add(own, truth);
        }
        Ok(())
    }

    /// Adds rows that come after these.
    pub fn merge(&mut self, later: Self) {
        if self.levels.is_empty() {
            *self = later;
        } else {
            self.levels.iter_mut().zip(&later.levels).for_each(|(all, more)| all.merge(more));
        }
    }

    /// How often they held it at each level; `None` if the model has no intervals.
    pub fn finish(&self) -> Option<Vec<Coverage>> {
        (!self.levels.is_empty()).then(|| self.levels.iter().map(Covered::coverage).collect())
    }
}

impl Unseen<Regression> {
    /// The intervals of a block of rows about what the folds predict, level after level.
    fn block_intervals(
        &self,
        centres: &[Vec<f64>],
        levels: &[f64],
        x: Rows<'_>,
    ) -> Result<Vec<Vec<[f64; 2]>>> {
        let spread_of = |(fold, centre): (usize, &Vec<f64>)| match &self.spread {
            Some(spread) => spread.of(fold, x, centre),
            None => Ok(vec![1.0; x.rows()]),
        };
        let spreads = centres.iter().enumerate().map(spread_of).collect::<Result<Vec<_>>>()?;
        let of_row = |columns: &[Vec<f64>], i: usize| -> Vec<f64> {
            columns.iter().map(|column| column[i]).collect()
        };
        let interval = |i: usize, level: f64| {
            self.residuals.local_interval(&of_row(centres, i), &of_row(&spreads, i), level)
        };
        let of_level = |&level: &f64| (0..x.rows()).map(|i| interval(i, level)).collect();
        Ok(levels.iter().map(of_level).collect())
    }

    /// What the stack of each fold says: the members' fits on it, combined as it was learned there.
    fn fold_predictions(
        &self,
        fits: &[&[Box<dyn Fitted<Regression>>]],
        x: Rows<'_>,
    ) -> Result<Vec<Vec<f64>>> {
        let predict = |(fold, combination): (usize, &dyn Combination<Regression>)| {
            let mut out = vec![0.0; x.rows()];
            let models = fits.iter().map(|fits| fits[fold].as_ref());
            combine_models(combination, models, x, &mut out, 1)?;
            Ok(out)
        };
        self.combinations.iter().map(AsRef::as_ref).enumerate().map(predict).collect()
    }
}
