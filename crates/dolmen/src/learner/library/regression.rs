//! The learners of numbers.

use super::{Entry, Library, encoded_entry, entry, on_numbers, specs, stack_entry};
use crate::ensemble::Ensemble;
use crate::learner::Simple;
use crate::learner::baseline::{FittedMean, Mean};
use crate::learner::encoded::FittedEncoded;
use crate::learner::neighbours::{FittedNeighbours, Neighbours};
use crate::learner::spec::Spec;
use crate::learner::svm::{FittedSvm, Svm};
use crate::learner::tree::{Boost, DecisionTree, FittedBoost, FittedTree};
use crate::store::Registry;
use crate::task::Regression;

impl Library for Regression {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            entry::<_, Mean>("mean", "the mean of the target, whatever the inputs", |spec| {
                Ok(Box::new(Simple(spec.read::<Mean>()?)))
            }),
            entry::<_, DecisionTree>("tree", "a decision tree, pruned", |spec| {
                Ok(Box::new(spec.read::<DecisionTree>()?))
            }),
            entry::<_, Boost>("boost", "gradient boosted trees", |spec| {
                Ok(Box::new(spec.read::<Boost>()?))
            }),
            on_numbers::<_, Neighbours>(
                "neighbours",
                "the k nearest neighbours; a list of k is a ladder",
            ),
            on_numbers::<_, Svm>("svm", "support vector machine, kernel linear or rbf"),
            encoded_entry(),
            stack_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<Simple<FittedMean>>()
            .with::<FittedTree>()
            .with::<FittedBoost>()
            .with::<FittedNeighbours>()
            .with::<FittedSvm>()
            .with::<FittedEncoded<Regression>>()
            .with::<Ensemble<Regression>>()
    }

    fn usual_members(_rows: usize, _columns: usize) -> Vec<Spec> {
        specs(&["mean"])
    }
}
