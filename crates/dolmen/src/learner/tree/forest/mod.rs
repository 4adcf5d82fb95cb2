//! Random forests (Breiman2001) and extremely randomised trees (Geurts2006).
//!
//! Every tree is grown on rows drawn with replacement, a row counting as often as it was drawn, and every node looks at some
//! columns only; the forest predicts the average of its trees. Rows that a tree has not drawn are fresh to it: their
//! predictions, averaged over those trees, tell how good the forest is, and what becomes of them when the values of a
//! column are dealt out anew tells how much the column matters.
//!
//! Extra-trees draw one cut at random for each column a node looks at, and learn from all rows.

mod counted;
mod drawn;
mod grow;
mod model;
mod out_of_bag;
mod packed;
mod tally;
mod train;
mod walk;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedForest;
pub use out_of_bag::OutOfBag;

use super::bins::MOST_BINS;
use crate::error::{Error, Result, within};
use crate::learner::{Fitted, Learner, Sample};
use crate::run::Run;
use crate::spec::Spec;
use crate::target::Target;
use crate::task::{Classification, Regression, Task};

/// Trees that a forest may have.
const MOST_TREES: usize = 100_000;

/// How much the classes count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeights {
    /// As much as they have rows.
    #[default]
    Equal,
    /// All the same: a row of class c weighs N / (C N_c).
    Balanced,
}

/// What the importances of the columns are taken from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// What splits on them gained on the rows learned from.
    #[default]
    Impurity,
    /// What is lost on a tree's fresh rows when a column's values are dealt out anew; needs `bootstrap`.
    Permutation,
}

/// A random forest.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::tree::Forest;
/// use dolmen::task::Classification;
///
/// let forest = Forest { trees: 50, ..Forest::default() };
/// assert_eq!(Learner::<Classification>::members(&forest), ["forest(trees=50)"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Forest {
    /// Number of trees, 1 to 100 000.
    #[schemars(range(min = 1, max = MOST_TREES))]
    pub trees: usize,
    /// Columns a node looks at; without it the square root of their number for classes, a third of them for numbers.
    #[schemars(range(min = 1))]
    pub columns: Option<usize>,
    /// Splits on any way down at most.
    pub depth: Option<usize>,
    /// The least weight of rows in a leaf; without it 1, and 1 more for every 25 000 rows: large tables feed larger leaves,
    /// which then say more and are sooner found.
    #[schemars(range(min = 0.0))]
    pub min_leaf: Option<f64>,
    /// Rows of the average class frequencies that every leaf has on top of its own, so that no chance is exactly 0.
    #[schemars(range(min = 0.0))]
    pub smoothing: f64,
    /// How much the classes count.
    pub class_weights: ClassWeights,
    /// Whether each tree has rows of its own, drawn with replacement (groups as a whole); without it forests do, extra-trees do not.
    pub bootstrap: Option<bool>,
    /// Bins of a column at most, 2 to 255.
    #[schemars(range(min = 2, max = MOST_BINS))]
    pub bins: usize,
    /// What the importances are taken from.
    pub importance: Importance,
}

impl Default for Forest {
    fn default() -> Self {
        Self {
            trees: 200,
            columns: None,
            depth: None,
            min_leaf: None,
            smoothing: 0.02,
            class_weights: ClassWeights::Equal,
            bootstrap: None,
            bins: MOST_BINS,
            importance: Importance::Impurity,
        }
    }
}

/// Extremely randomised trees: the parameters mean what they mean for [`Forest`], but numbers look at all columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExtraTrees(pub Forest);

impl Forest {
    /// Fits a forest, and predicts the same rows, each by the trees that had not drawn it.
    ///
    /// The predictions are as good as on fresh rows, at no cost of more fits; they are not kept in the model.
    pub fn fit_with_out_of_bag<T: ForestTask>(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<(FittedForest<T>, OutOfBag)> {
        self.fit_and_hear(false, sample, run)
    }

    fn fit_and_hear<T: ForestTask>(
        &self,
        random_cuts: bool,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<(FittedForest<T>, OutOfBag)> {
        let expected = "true for out-of-bag predictions: else no row is fresh to a tree";
        let refused = || Error::param("bootstrap", expected, false);
        if !self.draws_rows(random_cuts) {
            return Err(refused());
        }
        let (forest, out_of_bag) = train::fit(self, random_cuts, sample, true, run)?;
        Ok((forest, out_of_bag.ok_or_else(refused)?))
    }

    /// Whether trees draw their rows, where cuts are drawn at random or not.
    fn draws_rows(&self, random_cuts: bool) -> bool {
        self.bootstrap.unwrap_or(!random_cuts)
    }

    fn validate(&self, random_cuts: bool) -> Result<()> {
        within("trees", self.trees, 1..=MOST_TREES)?;
        if self.columns == Some(0) {
            return Err(Error::param("columns", "at least 1", 0));
        }
        if self.min_leaf.is_some_and(|rows| !(rows >= 0.0 && rows.is_finite())) {
            return Err(Error::param("min_leaf", "at least 0", format!("{:?}", self.min_leaf)));
        }
        if !(self.smoothing >= 0.0 && self.smoothing.is_finite()) {
            return Err(Error::param("smoothing", "at least 0", self.smoothing));
        }
        if self.importance == Importance::Permutation && !self.draws_rows(random_cuts) {
            let expected = "impurity where no rows are drawn: no row is fresh to a tree";
            return Err(Error::param("importance", expected, "permutation"));
        }
        Ok(())
    }
}

impl ExtraTrees {
    /// As [`Forest::fit_with_out_of_bag`]; needs `bootstrap`.
    pub fn fit_with_out_of_bag<T: ForestTask>(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<(FittedForest<T>, OutOfBag)> {
        self.0.fit_and_hear(true, sample, run)
    }
}

/// What a forest is to predict.
#[derive(Debug, Clone, Copy)]
pub(super) enum Truth<'a> {
    /// Classes by number, and how many there are.
    Classes(&'a [u32], usize),
    /// Numbers.
    Numbers(&'a [f64]),
}

/// A task that forests can learn.
pub trait ForestTask: Task {
    /// The target as forests see it.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only forests ask")]
    fn truth(target: &Self::Target) -> Truth<'_>;
}

impl ForestTask for Classification {
    #[expect(private_interfaces, reason = "only forests ask")]
    fn truth(target: &Self::Target) -> Truth<'_> {
        Truth::Classes(target.codes(), target.classes().len())
    }
}

impl ForestTask for Regression {
    #[expect(private_interfaces, reason = "only forests ask")]
    fn truth(target: &Self::Target) -> Truth<'_> {
        Truth::Numbers(target)
    }
}

impl<T: ForestTask> Learner<T> for Forest {
    fn members(&self) -> Vec<String> {
        vec![Spec::of("forest", self).to_string()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        Ok(vec![Box::new(train::fit(self, false, sample, false, run)?.0)])
    }
}

impl<T: ForestTask> Learner<T> for ExtraTrees {
    fn members(&self) -> Vec<String> {
        vec![Spec::of("extra-trees", self).to_string()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        Ok(vec![Box::new(train::fit(&self.0, true, sample, false, run)?.0)])
    }
}
