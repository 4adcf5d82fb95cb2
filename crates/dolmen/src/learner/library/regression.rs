//! The learners of numbers.

use super::{Entry, FEW_ROWS, Library, encoded_entry, entry, on_numbers, specs, stack_entry};
use crate::ensemble::Ensemble;
use crate::learner::Simple;
use crate::learner::baseline::{FittedMean, Mean};
use crate::learner::encoded::FittedEncoded;
use crate::learner::linear::{FittedRidge, Ridge};
use crate::learner::neighbours::{FittedNeighbours, Neighbours};
use crate::learner::network::{DeepEnsemble, FittedNetwork, Network};
use crate::learner::spec::Spec;
use crate::learner::svm::{FittedSvm, Svm};
use crate::learner::tree::{
    Boost, DecisionTree, ExtraTrees, FittedBoost, FittedForest, FittedTree, Forest,
};
use crate::store::Registry;
use crate::table::Rows;
use crate::task::Regression;

impl Library for Regression {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            entry::<_, Mean>("mean", "the mean of the target, whatever the inputs", |spec| {
                Ok(Box::new(Simple(spec.read::<Mean>()?)))
            }),
            on_numbers::<_, Neighbours>(
                "neighbours",
                "the k nearest neighbours; a list of k is a ladder",
            ),
            on_numbers::<_, Svm>("svm", "support vector machine, kernel linear or rbf"),
            on_numbers::<_, Ridge>(
                "ridge",
                "ridge regression; a list of lambdas is a ladder, auto the least leave-one-out error",
            ),
            on_numbers::<_, Network>("network", "a small multilayer perceptron"),
            on_numbers::<_, DeepEnsemble>("deep-ensemble", "several networks, averaged"),
            entry::<_, DecisionTree>("tree", "a decision tree, pruned", |spec| {
                Ok(Box::new(spec.read::<DecisionTree>()?))
            }),
            entry::<_, Boost>("boost", "gradient boosted trees", |spec| {
                Ok(Box::new(spec.read::<Boost>()?))
            }),
            entry::<_, Forest>(
                "forest",
                "random forest: trees on bootstrap samples, averaged",
                |spec| Ok(Box::new(spec.read::<Forest>()?)),
            ),
            entry::<_, ExtraTrees>("extra-trees", "extremely randomised trees, averaged", |spec| {
                Ok(Box::new(spec.read::<ExtraTrees>()?))
            }),
            encoded_entry(),
            stack_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<Simple<FittedMean>>()
            .with::<FittedNeighbours>()
            .with::<FittedSvm>()
            .with::<Simple<FittedRidge>>()
            .with::<FittedNetwork>()
            .with::<FittedTree>()
            .with::<FittedBoost>()
            .with::<FittedForest<Regression>>()
            .with::<FittedEncoded<Regression>>()
            .with::<Ensemble<Regression>>()
    }

    /// Learners as unlike as possible: a linear one, neighbours, trees averaged and boosted, and where rows allow a support
    /// vector machine.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = vec!["ridge", "neighbours(k=[5, 25])", "forest", "extra-trees"];
        members.extend(["boost", "network"]);
        if x.rows() <= FEW_ROWS {
            members.push("svm");
        }
        specs(&members)
    }
}
