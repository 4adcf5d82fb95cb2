//! The options of the command line that make a recipe.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dolmen::error::Result;
use dolmen::recipe::{self, Recipe};
use dolmen::spec::Spec;

use crate::args::{Common, Reading};

/// Which columns play which part.
#[derive(Debug, Args)]
pub(crate) struct Columns {
    /// The column to predict; without it the density of the rows is modelled.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// The task, where the target's type does not say it.
    #[arg(long, value_enum)]
    pub(crate) task: Option<TargetTask>,
    /// The column with row weights; only their ratios matter.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,
    /// The column with groups of rows that no split tears apart, inner folds included.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) groups: Option<String>,
    /// The column with the rows' times: no row is predicted by a model that saw a later one. Short for --plan 'time(column=..)'.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetTask {
    /// Predict classes.
    Classify,
    /// Predict numbers.
    Regress,
    /// Model inputs and class together, and predict classes: a mixture of joint probabilities.
    Joint,
}

impl From<TargetTask> for recipe::TargetTask {
    fn from(task: TargetTask) -> Self {
        match task {
            TargetTask::Classify => Self::Classify,
            TargetTask::Regress => Self::Regress,
            TargetTask::Joint => Self::Joint,
        }
    }
}

/// Which learners are stacked.
#[derive(Debug, Default, Args)]
pub(crate) struct Members {
    /// A member: a learner with its parameters; may be given several times. `dolmen learners` lists them.
    #[arg(long = "model", visible_alias = "member", value_name = "SPEC")]
    models: Vec<String>,
    /// A TOML file with a recipe: members, combiners, plan and all that options say; these count more than the file.
    #[arg(long, value_name = "TOML", alias = "spec")]
    recipe: Option<PathBuf>,
}

/// How members are stacked.
#[derive(Debug, Args)]
pub(crate) struct Stacking {
    /// How the members are combined: `dolmen learners` lists the combiners. Of several, and of a ladder's rungs, the one
    /// that does best in the check is used. [default: simplex; for classes in 1000 rows or more also
    /// log-pool, and in more than 5000 logistic]
    #[arg(long = "combiner", value_name = "SPEC")]
    combiners: Vec<String>,
    /// How rows are held out for the out-of-sample matrix, such as 'repeated(of=stratified(folds=5), repeats=3)',
    /// 'time(column=when, folds=5, gap=7)' or 'given(column=fold)'. [default: folds that suit classes, groups and times]
    ///
    /// k-fold(folds), hashed(folds), stratified(folds), grouped(column, folds), stratified-grouped(column, folds), leave-one-out, hold-out(test),
    /// subsample(train, repeats), bootstrap(repeats), given(column), repeated(of, repeats), and time(column, kind, folds, train, test, gap,
    /// embargo): kind is expanding (learns from all that was before), rolling (from the latest `train` times) or around (from
    /// before and after, without `gap` and `embargo` times beside the rows held out). Times are counted by their distinct values, not
    /// by days; without a column the rows are taken to stand in order of time. `dolmen learners NAME` says what a plan's parameters
    /// mean.
    #[arg(long, value_name = "SPEC")]
    plan: Option<String>,
    /// Folds of the out-of-sample matrix, at least 2 (in order of time 1). [default: 5 with a target, 10 for densities; fewer where rows or groups are fewer]
    #[arg(long, conflicts_with = "plan")]
    folds: Option<usize>,
}

impl Members {
    /// The file the recipe is read from, if it is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.recipe.as_deref()
    }

    /// The members named.
    pub(crate) fn named(&self) -> Result<Vec<Spec>> {
        self.models.iter().map(|text| Spec::parse(text)).collect()
    }

    /// The recipe of the file, or an empty one, with what these options say.
    pub(crate) fn recipe(
        &self,
        columns: &Columns,
        reading: &Reading,
        common: &Common,
    ) -> Result<Recipe> {
        let mut recipe = self.file().map_or_else(|| Ok(Recipe::default()), Recipe::read)?;
        let models = self.named()?;
        if !models.is_empty() {
            recipe.members = models;
        }
        recipe.seed = common.seed.unwrap_or(recipe.seed);
        for (own, given) in [
            (&mut recipe.target, &columns.target),
            (&mut recipe.weights, &columns.weights),
            (&mut recipe.groups, &columns.groups),
            (&mut recipe.time, &columns.time),
        ] {
            given.iter().for_each(|name| *own = Some(name.clone()));
        }
        recipe.task = columns.task.map(Into::into).or(recipe.task);
        reading.add_to(&mut recipe.reading)?;
        Ok(recipe)
    }
}

impl Stacking {
    /// Adds what is said here to a recipe.
    pub(crate) fn add_to(&self, recipe: &mut Recipe) -> Result<()> {
        if !self.combiners.is_empty() {
            let specs = self.combiners.iter().map(|text| Spec::parse(text));
            recipe.combiners = specs.collect::<Result<_>>()?;
        }
        if let Some(text) = &self.plan {
            (recipe.plan, recipe.folds) = (Some(Spec::parse(text)?), None);
        }
        if let Some(folds) = self.folds {
            (recipe.plan, recipe.folds) = (None, Some(folds));
        }
        Ok(())
    }
}
