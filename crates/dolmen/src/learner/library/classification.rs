//! The learners of classes.

use serde_json::Map;

use super::{
    Entry, Library, NoParameters, encoded_entry, entry, nested, on_numbers, specs, stack_entry,
};
use crate::ensemble::Ensemble;
use crate::learner::Simple;
use crate::learner::baseline::{ClassFrequencies, FittedFrequencies};
use crate::learner::bayes::{BayesClassifier, FittedBayes};
use crate::learner::encoded::FittedEncoded;
use crate::learner::neighbours::{FittedNeighbours, Neighbours};
use crate::learner::spec::Spec;
use crate::learner::svm::{FittedSvm, Svm};
use crate::learner::tree::{Boost, DecisionTree, FittedBoost, FittedTree};
use crate::store::Registry;
use crate::task::{Classification, Density};

impl Library for Classification {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            entry::<_, ClassFrequencies>(
                "class-frequencies",
                "the classes' frequencies, whatever the inputs",
                |spec| Ok(Box::new(Simple(spec.read::<ClassFrequencies>()?))),
            ),
            Entry {
                kind: "bayes",
                about: "Bayes classifier: one density per class, density=SPEC",
                defaults: Map::new(),
                build: |spec| {
                    let (density, rest) = nested(spec, "density")?;
                    rest.read::<NoParameters>()?;
                    Ok(Box::new(BayesClassifier::new(Density::learner(&density)?)))
                },
            },
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
            .with::<Simple<FittedFrequencies>>()
            .with::<FittedBayes>()
            .with::<FittedTree>()
            .with::<FittedBoost>()
            .with::<FittedNeighbours>()
            .with::<FittedSvm>()
            .with::<FittedEncoded<Classification>>()
            .with::<Ensemble<Classification>>()
    }

    fn usual_members(_rows: usize, _columns: usize) -> Vec<Spec> {
        let members = [
            "class-frequencies",
            "bayes(density=gaussian)",
            "bayes(density=mixture(components=2))",
        ];
        specs(&members)
    }
}
