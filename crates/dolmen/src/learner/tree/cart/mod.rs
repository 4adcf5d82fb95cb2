//! Classification and regression trees (BreimanEtAl1984): grown by impurity, pruned by cost and
//! complexity. Missing values and categories are split on as they are.

mod fit;
mod model;
mod price;
mod prune;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedTree;

use super::bins::MOST_BINS;
use super::counts::Impurity;
use crate::error::{Error, Result, within};
use crate::learner::{Fitted, Learner, MOST_FOLDS, Sample};
use crate::run::Run;
use crate::spec::Spec;
use crate::task::{Classification, Regression};

/// A single decision tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecisionTree {
    /// What splits are judged by: `variance` for numbers, `gini` (the default) or `entropy` for classes.
    pub criterion: Option<SplitCriterion>,
    /// Splits on any way down at most.
    #[schemars(range(min = 1))]
    pub depth: Option<usize>,
    /// Leaves at most.
    #[schemars(range(min = 2))]
    pub leaves: Option<usize>,
    /// The least weight of rows in a leaf.
    #[schemars(range(min = 0.0))]
    pub min_leaf: f64,
    /// The least weight of rows in a node that is split.
    #[schemars(range(min = 0.0))]
    pub min_split: f64,
    /// By how much a split must lower the mean impurity of the sample.
    #[schemars(range(min = 0.0))]
    pub min_gain: f64,
    /// The price of a leaf, in mean impurity: a number, or `cv` for the one that predicts held-out folds best.
    #[schemars(extend("minimum" = 0.0))]
    pub alpha: Alpha,
    /// Folds by which alpha is chosen, 2 to 10 000.
    #[schemars(range(min = 2, max = MOST_FOLDS))]
    pub folds: usize,
    /// Whether the largest alpha within one standard error of the best is taken.
    pub one_se: bool,
    /// Rows imagined in a leaf, shared evenly by the classes, so that none has probability 0.
    #[schemars(range(min = 0.0))]
    pub pseudo_count: f64,
    /// Bins of a column at most; columns with no more distinct values are split exactly.
    #[schemars(range(min = 2, max = MOST_BINS))]
    pub bins: usize,
}

/// What splits are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SplitCriterion {
    /// The sum of squared errors.
    Variance,
    /// Gini's index.
    Gini,
    /// Entropy.
    Entropy,
}

/// The price of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Alpha {
    /// This price; 0 leaves the tree as it was grown.
    Given(f64),
    /// Chosen.
    Rule(Rule),
}

/// How alpha is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// By cross-validation.
    Cv,
}

impl Default for DecisionTree {
    fn default() -> Self {
        Self {
            criterion: None,
            depth: None,
            leaves: None,
            min_leaf: 1.0,
            min_split: 2.0,
            min_gain: 0.0,
            alpha: Alpha::Rule(Rule::Cv),
            folds: 5,
            one_se: false,
            pseudo_count: 2.0,
            bins: 255,
        }
    }
}

impl DecisionTree {
    fn validate(&self) -> Result<()> {
        let at_least = |name: &str, value: f64, least: f64| {
            let is_fine = value.is_finite() && value >= least;
            let expected = format!("at least {least}");
            if is_fine { Ok(()) } else { Err(Error::param(name, expected, value)) }
        };
        if self.depth == Some(0) {
            return Err(Error::param("depth", "at least 1", 0));
        }
        if self.leaves.is_some_and(|leaves| leaves < 2) {
            return Err(Error::param("leaves", "at least 2", self.leaves.unwrap_or(0)));
        }
        within("folds", self.folds, 2..=MOST_FOLDS)?;
        at_least("min_leaf", self.min_leaf, 0.0)?;
        at_least("min_split", self.min_split, 0.0)?;
        at_least("min_gain", self.min_gain, 0.0)?;
        at_least("pseudo_count", self.pseudo_count, 0.0)?;
        match self.alpha {
            Alpha::Given(alpha) => at_least("alpha", alpha, 0.0),
            Alpha::Rule(Rule::Cv) => Ok(()),
        }
    }

    fn impurity(&self) -> Result<Impurity> {
        match self.criterion {
            None | Some(SplitCriterion::Gini) => Ok(Impurity::Gini),
            Some(SplitCriterion::Entropy) => Ok(Impurity::Entropy),
            Some(SplitCriterion::Variance) => {
                Err(Error::param("criterion", "gini or entropy for classes", "variance"))
            }
        }
    }

    fn name(&self) -> String {
        Spec::of("tree", self).to_string()
    }

    /// Fits a regression tree.
    pub fn fit_regression(&self, sample: &Sample<'_, Regression>, run: &Run) -> Result<FittedTree> {
        self.validate()?;
        if let Some(criterion) = self.criterion
            && criterion != SplitCriterion::Variance
        {
            let given = format!("{criterion:?}").to_lowercase();
            return Err(Error::param("criterion", "variance for numbers", given));
        }
        let target = fit::Numbers::new(sample.target());
        run.install(|| fit::fit(self, &target, sample, run))
    }

    /// Fits a classification tree.
    pub fn fit_classification(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<FittedTree> {
        self.validate()?;
        let target = fit::Classes::new(sample.target(), self.impurity()?, self.pseudo_count);
        run.install(|| fit::fit(self, &target, sample, run))
    }
}

impl Learner<Regression> for DecisionTree {
    fn members(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(self.fit_regression(sample, run)?)])
    }
}

impl Learner<Classification> for DecisionTree {
    fn members(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        Ok(vec![Box::new(self.fit_classification(sample, run)?)])
    }
}
