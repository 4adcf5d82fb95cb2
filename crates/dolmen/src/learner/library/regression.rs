//! The learners of numbers.

use super::{Entry, Library, encoded_entry, entry, specs, stack_entry};
use crate::ensemble::Ensemble;
use crate::learner::Simple;
use crate::learner::baseline::{FittedMean, Mean};
use crate::learner::encoded::FittedEncoded;
use crate::learner::spec::Spec;
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
            encoded_entry(),
            stack_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<Simple<FittedMean>>()
            .with::<FittedTree>()
            .with::<FittedBoost>()
            .with::<FittedEncoded<Regression>>()
            .with::<Ensemble<Regression>>()
    }

    fn usual_members(_rows: usize, _columns: usize) -> Vec<Spec> {
        specs(&["mean"])
    }
}
