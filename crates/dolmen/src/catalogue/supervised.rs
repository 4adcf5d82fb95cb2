//! The learners that predict classes as well as numbers.

use super::{LearnerEntry, on_numbers, on_tamed_numbers, plain};
use crate::ensemble::Experts;
use crate::learner::Learner;
use crate::learner::neighbours::Neighbours;
use crate::learner::network::{DeepEnsemble, Network};
use crate::learner::svm::Svm;
use crate::learner::tree::{Boost, DecisionTree, ExtraTrees, Forest};
use crate::table::encode::Outliers;
use crate::task::Task;

/// What a task knows of its learners' parameters: the losses of boosting, the criteria of a single tree, and the parameters
/// that mean something for the other task only.
pub(super) struct Known {
    pub(super) losses: &'static [&'static str],
    pub(super) criteria: &'static [&'static str],
    pub(super) foreign: &'static [&'static str],
}

/// The learners, in the order they are shown.
pub(super) fn entries<T: Task>(known: &Known) -> Vec<LearnerEntry<T>>
where
    Neighbours: Learner<T>,
    Svm: Learner<T>,
    Network: Learner<T>,
    DeepEnsemble: Learner<T>,
    DecisionTree: Learner<T>,
    Forest: Learner<T>,
    ExtraTrees: Learner<T>,
    Boost: Learner<T>,
    Experts: Learner<T>,
{
    let entries = vec![
        on_numbers::<_, Neighbours>(
            "neighbours",
            "the k nearest neighbours; a list of k is a ladder",
        )
        .with_example("neighbours(k=[5, 25], weights=distance)"),
        on_numbers::<_, Svm>("svm", "support vector machine, kernel linear or rbf")
            .with_example("svm(c=10)"),
        on_tamed_numbers::<_, Network>("network", "a small multilayer perceptron", Outliers::Hold)
            .with_example("network(hidden=[64, 32], decay=0.1)"),
        on_tamed_numbers::<_, DeepEnsemble>(
            "deep-ensemble",
            "several networks, averaged",
            Outliers::Hold,
        )
        .with_example("deep-ensemble(copies=10)"),
        plain::<_, DecisionTree>("tree", "a decision tree, pruned")
            .only("criterion", known.criteria)
            .with_example("tree(depth=4, alpha=0)"),
        plain::<_, Forest>("forest", "random forest: trees on bootstrap samples, averaged")
            .with_example("forest(trees=500, importance=permutation)"),
        plain::<_, ExtraTrees>("extra-trees", "extremely randomised trees, averaged")
            .with_example("extra-trees(trees=500)"),
        plain::<_, Boost>("boost", "gradient boosted trees")
            .only("loss", known.losses)
            .with_example("boost(rounds=500, rate=0.05)"),
        on_numbers::<_, Experts>(
            "experts",
            "linear experts behind a softmax gate, by EM; a list of counts is a ladder",
        )
        .with_example("experts(count=[2, 4], top=1)"),
    ];
    entries.into_iter().map(|entry| entry.without(known.foreign)).collect()
}
