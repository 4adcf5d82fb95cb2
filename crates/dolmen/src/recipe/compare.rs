//! Is the stack of a recipe worth it? The stack that `fit` makes, beside choosing, averaging and each member, on repeated
//! splits.

use serde::{Deserialize, Serialize};

use super::{Data, Recipe, TargetTask, Truth};
use crate::catalogue::{Catalogue, Catalogued};
use crate::ensemble::Ensemble;
use crate::error::{Error, Result, within};
use crate::evaluate::compare::{
    CompareOptions, Comparison, Contender, LearningCurve, LearningPoint, Methods, Rival, compare,
};
use crate::learner::{Learner, Sample};
use crate::run::Run;
use crate::spec::Spec;
use crate::task::{Classification, Density, Joint, Regression};

/// Blocks of time that are predicted where nobody says.
const BLOCKS: usize = 5;

/// A recipe and how it is compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareRecipe {
    /// What is compared.
    pub recipe: Recipe,
    /// How.
    pub versus: Versus,
}

/// How a recipe is compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Versus {
    /// Random splits, or repeats of the outer folds: 50 splits or 10 repeats of folds if not given.
    pub repeats: Option<usize>,
    /// Rows set aside in each random split: 20 for densities, else a tenth, if not given.
    pub test_rows: Option<usize>,
    /// Folds of repeated cross-validation, instead of random splits.
    pub outer_folds: Option<usize>,
    /// Whether the members are compared each with each, without a stack.
    pub members_only: bool,
    /// Rows of each training part that are learned from, if not all.
    pub train_rows: Option<usize>,
}

/// The stack of a recipe, which takes part in a comparison.
struct OfRecipe<'a, T: Catalogued> {
    recipe: Recipe,
    catalogue: &'a Catalogue,
    learners: Vec<Box<dyn Learner<T>>>,
}

impl<T: Catalogued> Contender<T> for OfRecipe<'_, T> {
    fn learners(&self) -> &[Box<dyn Learner<T>>] {
        &self.learners
    }

    fn fit(
        &self,
        train: &Sample<'_, T>,
        _options: &CompareOptions,
        run: &Run,
    ) -> Result<(Ensemble<T>, usize)> {
        let stacked = self.recipe.stack(self.catalogue, train, None, None, run)?;
        Ok((stacked.ensemble, stacked.folds))
    }
}

impl CompareRecipe {
    /// Compares on data that were taken apart by the recipe.
    pub fn compare(&self, data: &Data, run: &Run) -> Result<Comparison> {
        self.compare_with(Catalogue::standard(), data, run)
    }

    /// The same with a program's own learners and combiners.
    pub fn compare_with(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        run: &Run,
    ) -> Result<Comparison> {
        let run = &run.seeded(self.recipe.seed);
        match &data.truth {
            Truth::None => {
                let rival = |name: &str, spec: &str, zero_line| {
                    let learner = Density::learner(&Spec::parse(spec)?)?;
                    Ok(Rival { name: name.into(), learner, zero_line })
                };
                let cv = "kernel(shape=triangular, bandwidth=cv, search=sw99)";
                let rivals = [
                    rival("cv-bandwidth", cv, false)?,
                    rival("single-gaussian", "gaussian", true)?,
                ];
                self.against(catalogue, data, &(), &rivals, Methods::Combined, run)
            }
            Truth::Classes(labels) if self.recipe.task == Some(TargetTask::Joint) => {
                self.against::<Joint>(catalogue, data, labels, &[], Methods::All, run)
            }
            Truth::Classes(labels) => {
                self.against::<Classification>(catalogue, data, labels, &[], Methods::All, run)
            }
            Truth::Numbers(values) => {
                self.against::<Regression>(catalogue, data, values, &[], Methods::All, run)
            }
        }
    }

    /// The same with fewer and with more rows to learn from, on the same test parts.
    pub fn learning_curve(&self, data: &Data, sizes: &[usize], run: &Run) -> Result<LearningCurve> {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        let point = |size: usize| {
            let versus = Versus { train_rows: Some(size), ..self.versus.clone() };
            let comparison = Self { versus, ..self.clone() }.compare(data, run)?;
            Ok(LearningPoint { size, comparison })
        };
        let points = sizes.into_iter().map(point).collect::<Result<Vec<_>>>()?;
        let first = points.first().ok_or_else(|| Error::param("sizes", "at least one", "none"))?;
        let (task, rows) = (first.comparison.task, first.comparison.rows);
        Ok(LearningCurve { task, rows, sizes: points })
    }

    fn against<T: Catalogued>(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        target: &T::Target,
        rivals: &[Rival<T>],
        methods: Methods,
        run: &Run,
    ) -> Result<Comparison> {
        let sample = data.sample::<T>(target)?;
        let learners = self.recipe.learners(catalogue, &sample)?;
        // Every member is scored beside the stack; whether those without weight are there does not change it.
        let recipe = Recipe { keep_all: true, ..self.recipe.clone() };
        let versus = &self.versus;
        let plan = self.recipe.plan_request()?;
        let usual = if plan.is_some() { 0 } else { self.recipe.usual_folds::<T>() };
        // In order of time there are blocks to predict, and no other draw of them.
        let (repeats, outer_folds) = if sample.times().is_some() {
            within("repeats of blocks of time", versus.repeats.unwrap_or(1), 1..=1)?;
            (1, Some(versus.outer_folds.unwrap_or(BLOCKS)))
        } else {
            let usual = if versus.outer_folds.is_some() { 10 } else { 50 };
            (versus.repeats.unwrap_or(usual), versus.outer_folds)
        };
        let tenth = if methods == Methods::Combined { 20 } else { (sample.rows() / 10).max(1) };
        let options = CompareOptions {
            repeats,
            test_rows: versus.test_rows.unwrap_or(tenth),
            outer_folds,
            train_rows: versus.train_rows,
            folds: self.recipe.folds.unwrap_or(usual),
            methods: if versus.members_only { Methods::Members } else { methods },
        };
        let rivals = if versus.members_only { &[][..] } else { rivals };
        let contender = OfRecipe { recipe, catalogue, learners };
        compare(&contender, rivals, &sample, &options, run)
    }
}
