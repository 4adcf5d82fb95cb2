//! The learners that predict classes as well as numbers.

use super::{LearnerEntry, on_numbers, plain};
use crate::ensemble::Experts;
use crate::learner::Learner;
use crate::learner::neighbours::Neighbours;
use crate::learner::network::{DeepEnsemble, Network};
use crate::learner::svm::Svm;
use crate::learner::tree::{Boost, DecisionTree, ExtraTrees, Forest};
use crate::task::Task;

/// The learners, in the order they are shown.
pub(super) fn entries<T: Task>() -> Vec<LearnerEntry<T>>
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
