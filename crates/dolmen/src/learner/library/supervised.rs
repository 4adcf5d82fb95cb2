//! The learners that predict classes as well as numbers.

use super::{Entry, on_numbers, plain};
use crate::ensemble::{Experts, FittedExperts};
use crate::learner::Learner;
use crate::learner::neighbours::{FittedNeighbours, Neighbours};
use crate::learner::network::{DeepEnsemble, FittedNetwork, Network};
use crate::learner::svm::{FittedSvm, Svm};
use crate::learner::tree::{
    Boost, DecisionTree, ExtraTrees, FittedBoost, FittedForest, FittedTree, Forest,
};
use crate::store::{Registry, Stored};
use crate::task::Task;

/// The learners, in the order they are shown.
pub(super) fn entries<T: Task>() -> Vec<Entry<T>>
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
    vec![
        on_numbers::<_, Neighbours>(
            "neighbours",
            "the k nearest neighbours; a list of k is a ladder",
        ),
        on_numbers::<_, Svm>("svm", "support vector machine, kernel linear or rbf"),
        on_numbers::<_, Network>("network", "a small multilayer perceptron"),
        on_numbers::<_, DeepEnsemble>("deep-ensemble", "several networks, averaged"),
        plain::<_, DecisionTree>("tree", "a decision tree, pruned"),
        plain::<_, Forest>("forest", "random forest: trees on bootstrap samples, averaged"),
        plain::<_, ExtraTrees>("extra-trees", "extremely randomised trees, averaged"),
        plain::<_, Boost>("boost", "gradient boosted trees"),
        on_numbers::<_, Experts>(
            "experts",
            "linear experts behind a softmax gate, by EM; a list of counts is a ladder",
        ),
    ]
}

/// Their models.
pub(super) fn registry<T: Task>() -> Registry<T>
where
    FittedNeighbours: Stored<T>,
    FittedSvm: Stored<T>,
    FittedNetwork: Stored<T>,
    FittedTree: Stored<T>,
    FittedForest<T>: Stored<T>,
    FittedBoost: Stored<T>,
    FittedExperts: Stored<T>,
{
    Registry::default()
        .with::<FittedNeighbours>()
        .with::<FittedSvm>()
        .with::<FittedNetwork>()
        .with::<FittedTree>()
        .with::<FittedForest<T>>()
        .with::<FittedBoost>()
        .with::<FittedExperts>()
}
