//! The best combination of predictions made anywhere: combiners, their check, calibration and intervals.

use serde::{Deserialize, Serialize};

use super::matrix::{Matrix, with_matrix};
use super::predict::class_columns;
use super::{Combined, Evidence, OtherCombination, Reading};
use crate::catalogue::{Catalogue, Catalogued, weights_of};
use crate::combine::weigh::{Errors, WeighOptions, weigh, weigh_found};
use crate::combine::{Combination, Combiner, Weights};
use crate::ensemble::{
    Assessment, Blend, BlendOptions, Calibration, CalibrationKind, HeldOutPredictions,
};
use crate::error::{Error, Result};
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::score::Measure;
use crate::spec::Spec;
use crate::table::{Column, Features, Table};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// Everything that decides how predictions are combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeighRecipe {
    /// Seed of everything random.
    pub seed: u64,
    /// The column with the truth: classes or numbers.
    pub target: Option<String>,
    /// The column with row weights.
    pub weights: Option<String>,
    /// Whether the columns hold logarithms: of densities, or with a target of joint probabilities.
    pub log: bool,
    /// How the members are combined; of several the one that does best on rows it has not seen is used.
    pub methods: Vec<Spec>,
    /// Columns with inputs of the rows, for combiners that look at them.
    pub inputs: Vec<String>,
    /// How class probabilities are calibrated, if they are.
    pub calibration: Option<CalibrationKind>,
    /// The level of prediction intervals, of numbers.
    pub interval: Option<f64>,
    /// Dirichlet exponent of the weights, if a method does not name its own.
    pub prior: Option<f64>,
    /// What `greedy` measures, if it does not name it.
    pub measure: Option<Measure>,
    /// Rounds of `greedy`, if it does not name them.
    pub rounds: Option<usize>,
    /// How standard errors of the weights are found.
    pub errors: Errors,
    /// Bootstrap draws for them.
    pub draws: usize,
    /// How the file is read.
    pub reading: Reading,
}

impl Default for WeighRecipe {
    fn default() -> Self {
        let WeighOptions { errors, draws, .. } = WeighOptions::default();
        Self {
            seed: 0,
            target: None,
            weights: None,
            log: false,
            methods: Vec::new(),
            inputs: Vec::new(),
            calibration: None,
            interval: None,
            prior: None,
            measure: None,
            rounds: None,
            errors,
            draws,
            reading: Reading::default(),
        }
    }
}

/// What weighing says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeighReport {
    /// The combination.
    #[serde(flatten)]
    pub combined: Combined,
    /// The combiner that is used, of a combination that is more than weights.
    #[serde(default, rename = "method", skip_serializing_if = "Option::is_none")]
    pub other_method: Option<String>,
    /// How the candidates did on rows they had not seen, if that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Assessment>,
    /// How class probabilities are calibrated, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

impl WeighReport {
    /// Whether no search missed its tolerance.
    pub fn converged(&self) -> bool {
        match &self.combined {
            Combined::Weighed(weighing) => weighing.converged,
            Combined::Other(other) => other.converged != Some(false),
        }
    }
}

/// What came of it: the report, and the combined predictions if they were asked for.
#[derive(Debug)]
pub struct Weighed {
    /// What there is to say.
    pub report: WeighReport,
    /// The combined predictions, of further rows if there were any.
    pub predictions: Option<Table>,
    /// What the combination said about rows that were held out from it, if its check had it say so.
    pub held_out: Option<HeldOutPredictions>,
}

/// Which predictions are to be combined.
#[derive(Debug)]
pub enum Apply {
    /// None: the report alone.
    Nothing,
    /// Those the combination is learned from.
    Same,
    /// Those of further rows by the same members.
    Further(Table),
}

impl WeighRecipe {
    /// Combines the members of a matrix; `x` are the rows' inputs, for combiners that look at them.
    pub fn weigh(
        &self,
        matrix: &Matrix,
        x: Option<&Features>,
        apply: Apply,
        run: &Run,
    ) -> Result<Weighed> {
        self.weigh_with(Catalogue::standard(), matrix, x, apply, run)
    }

    /// The same with a program's own combiners.
    pub fn weigh_with(
        &self,
        catalogue: &Catalogue,
        matrix: &Matrix,
        x: Option<&Features>,
        apply: Apply,
        run: &Run,
    ) -> Result<Weighed> {
        let run = &run.seeded(self.seed);
        with_matrix!(matrix, matrix => self.combine(catalogue, matrix, x, apply, run))
    }

    fn combine<T: Written>(
        &self,
        catalogue: &Catalogue,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        apply: Apply,
        run: &Run,
    ) -> Result<Weighed> {
        if let (Some(level), false) = (self.interval, T::NUMBERS) {
            return Err(Error::param("interval", "left out: it is for numbers", level));
        }
        let combiners = self.combiners(catalogue)?;
        let weights = self.only_weights()?;
        let is_checked = self.calibration.is_some() || self.interval.is_some();
        let (blend, combined) = match weights.filter(|_| !is_checked) {
            Some(weights) => self.weigh_only(matrix, weights, run)?,
            None => self.blend(matrix, x, &combiners, run)?,
        };
        let (report, held_out) = (Self::report(&blend, combined), blend.held_out().cloned());
        Ok(Weighed { report, predictions: self.predictions(&blend, matrix, x, apply)?, held_out })
    }

    /// How the combination did row by row on rows that were held out from it, and how alike its members go wrong: what pictures show.
    /// Weights by themselves have no check that holds rows out; they are found once more without those of each fold.
    pub fn judge(
        &self,
        matrix: &Matrix,
        x: Option<&Features>,
        weighed: &Weighed,
        run: &Run,
    ) -> Result<Evidence> {
        let run = &run.seeded(self.seed);
        let evidence = Evidence::of_matrix(matrix);
        with_matrix!(matrix, matrix => self.judged(evidence, matrix, x, weighed, run))
    }

    fn judged<T: Written>(
        &self,
        evidence: Evidence,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        weighed: &Weighed,
        run: &Run,
    ) -> Result<Evidence> {
        if !T::HAS_TARGET {
            return Ok(evidence);
        }
        let held_out = if let Some(held_out) = &weighed.held_out {
            Some(held_out.clone())
        } else {
            let combiners = self.combiners(Catalogue::standard())?;
            self.try_out(matrix, x, &combiners, run)?.held_out().cloned()
        };
        Ok(match held_out {
            Some(held_out) => evidence.with_held_out(matrix, &held_out),
            None => evidence,
        })
    }

    /// The methods asked for, or the usual one.
    fn methods(&self) -> Result<Vec<Spec>> {
        if self.methods.is_empty() {
            Ok(vec![Spec::parse("simplex")?])
        } else {
            Ok(self.methods.clone())
        }
    }

    /// The weights asked for, where nothing else is.
    pub(super) fn only_weights(&self) -> Result<Option<Weights>> {
        match &self.methods()?[..] {
            [one] => weights_of(&self.completed(one)?).map_err(of_method),
            _ => Ok(None),
        }
    }

    /// The methods as combiners.
    pub(super) fn combiners<T: Written>(
        &self,
        catalogue: &Catalogue,
    ) -> Result<Vec<Box<dyn Combiner<T>>>> {
        let combiner = |spec: &Spec| catalogue.combiner(&self.completed(spec)?).map_err(of_method);
        self.methods()?.iter().map(combiner).collect()
    }

    /// What there is to say of a combination.
    pub(super) fn report<T: Written>(blend: &Blend<T>, combined: Combined) -> WeighReport {
        let is_other = matches!(combined, Combined::Other(_));
        WeighReport {
            combined,
            other_method: is_other.then(|| blend.name().to_string()),
            check: blend.assessment().cloned(),
            calibration: blend.calibration().cloned(),
        }
    }

    /// Weights without a check: their problem is posed once, to find them and to say how sure they are.
    fn weigh_only<T: Written>(
        &self,
        matrix: &OutOfSample<T>,
        weights: Weights,
        run: &Run,
    ) -> Result<(Blend<T>, Combined)> {
        let name = weights.method.to_string();
        let weighing = weigh(matrix, &self.options(weights), run)?;
        let found = weighing.members.iter().map(|member| member.weight).collect();
        let blend = Blend::of_weights(name, found, matrix.width());
        Ok((blend, Combined::Weighed(Box::new(weighing))))
    }

    /// The combiner that does best on rows it has not seen.
    pub(super) fn blend<T: Written>(
        &self,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        combiners: &[Box<dyn Combiner<T>>],
        run: &Run,
    ) -> Result<(Blend<T>, Combined)> {
        let blend = self.try_out(matrix, x, combiners, run)?;
        let combination = blend.combination();
        let combined = if let Some(found) = combination.found() {
            let options = self.options(found.options.clone());
            Combined::Weighed(Box::new(weigh_found(matrix, found, &options, run)?))
        } else {
            other_combination(matrix, combination)?
        };
        Ok((blend, combined))
    }

    fn try_out<T: Written>(
        &self,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        combiners: &[Box<dyn Combiner<T>>],
        run: &Run,
    ) -> Result<Blend<T>> {
        let options = BlendOptions { calibration: self.calibration, check: true };
        let inputs = x.map(Features::rows);
        Blend::fit(matrix, inputs, combiners, options, &run.stream("blend"))
    }

    fn options(&self, weights: Weights) -> WeighOptions {
        WeighOptions { weights, errors: self.errors, draws: self.draws }
    }

    /// A spec with the options that stand beside it, where it names none of its own.
    fn completed(&self, spec: &Spec) -> Result<Spec> {
        let mut spec = spec.clone();
        if weights_of(&spec)?.is_some() {
            let options = [
                ("prior", self.prior.map(serde_json::Value::from)),
                ("rounds", self.rounds.map(serde_json::Value::from)),
                ("measure", self.measure.and_then(|m| serde_json::to_value(m).ok())),
            ];
            for (name, value) in options {
                let is_named = spec.parameters.iter().any(|(own, _)| own == name);
                let value = value.filter(|_| !is_named);
                spec.parameters.extend(value.map(|value| (name.to_string(), value)));
            }
        }
        Ok(spec)
    }

    /// The combined predictions, of further rows if there are any.
    fn predictions<T: Written>(
        &self,
        blend: &Blend<T>,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
        apply: Apply,
    ) -> Result<Option<Table>> {
        let combined = match apply {
            Apply::Nothing => return Ok(None),
            Apply::Further(table) => {
                let (members, x) = self.further(table, matrix, x)?;
                let members: Vec<&[f64]> = members.iter().map(Vec::as_slice).collect();
                blend.combine(&members, x.as_ref().map(Features::rows))?
            }
            Apply::Same => {
                let members: Vec<&[f64]> =
                    (0..matrix.members().len()).map(|m| matrix.column(m)).collect();
                blend.combine(&members, x.map(Features::rows))?
            }
        };
        Table::new(T::columns(self, blend, combined, matrix.target().classes())?).map(Some)
    }
}

/// What there is to say of a combination that is more than weights.
pub(super) fn other_combination<T: Task>(
    matrix: &OutOfSample<T>,
    combination: &dyn Combination<T>,
) -> Result<Combined> {
    let (weights, diagnostics) = (combination.weights(), combination.diagnostics());
    Ok(Combined::Other(OtherCombination::of(matrix, weights, diagnostics)?))
}

/// Here combiners are called methods.
fn of_method(error: Error) -> Error {
    match error {
        Error::Param { name, expected, got, hint } if name == "combiner" => {
            Error::Param { name: "method".into(), expected, got, hint }
        }
        other => other,
    }
}

/// A task whose combined predictions can be written.
pub(super) trait Written: Catalogued {
    /// Whether predictions are numbers, which have intervals.
    const NUMBERS: bool = false;

    fn columns(
        recipe: &WeighRecipe,
        blend: &Blend<Self>,
        combined: Vec<f64>,
        classes: &[String],
    ) -> Result<Vec<(String, Column)>>;
}

impl Written for Density {
    fn columns(
        recipe: &WeighRecipe,
        _blend: &Blend<Self>,
        mut combined: Vec<f64>,
        _classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        if recipe.log {
            return Ok(vec![("log_density".into(), Column::Numeric(combined))]);
        }
        combined.iter_mut().for_each(|log| *log = log.exp());
        Ok(vec![("density".into(), Column::Numeric(combined))])
    }
}

impl Written for Classification {
    fn columns(
        _recipe: &WeighRecipe,
        _blend: &Blend<Self>,
        combined: Vec<f64>,
        classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        Ok(class_columns(classes, &combined))
    }
}

impl Written for Joint {
    fn columns(
        _recipe: &WeighRecipe,
        _blend: &Blend<Self>,
        combined: Vec<f64>,
        classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        Ok(class_columns(classes, &Self::posteriors(&combined, classes.len())))
    }
}

impl Written for Regression {
    const NUMBERS: bool = true;

    fn columns(
        recipe: &WeighRecipe,
        blend: &Blend<Self>,
        combined: Vec<f64>,
        _classes: &[String],
    ) -> Result<Vec<(String, Column)>> {
        let mut columns = Vec::new();
        if let Some(level) = recipe.interval {
            let intervals = blend.intervals(&combined, level)?;
            let bound = |side: usize| {
                Column::Numeric(intervals.iter().map(|bounds| bounds[side]).collect())
            };
            columns = vec![("lower".into(), bound(0)), ("upper".into(), bound(1))];
        }
        columns.insert(0, ("mean".into(), Column::Numeric(combined)));
        Ok(columns)
    }
}
