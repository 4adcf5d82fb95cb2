//! The learners of classes.

use serde_json::Map;

use super::{
    Entry, Library, NoParameters, defaults, encoded_entry, entry, nested, specs, stack_entry,
};
use crate::ensemble::{AdaBoost, Ensemble, FittedAdaBoost, Rounds};
use crate::error::Result;
use crate::learner::baseline::{ClassFrequencies, FittedFrequencies};
use crate::learner::bayes::{BayesClassifier, FittedBayes};
use crate::learner::encoded::FittedEncoded;
use crate::learner::spec::Spec;
use crate::learner::tree::{Boost, ExtraTrees, FittedBoost, FittedForest, Forest};
use crate::learner::{Learner, Simple};
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
            entry::<_, Boost>("boost", "gradient boosted trees", |spec| {
                Ok(Box::new(spec.read::<Boost>()?))
            }),
            Entry {
                kind: "adaboost",
                about: "AdaBoost (SAMME) of stumps, or of another learner: of=SPEC",
                defaults: defaults::<Rounds>(),
                build: adaboost,
            },
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
            .with::<Simple<FittedFrequencies>>()
            .with::<FittedBayes>()
            .with::<FittedBoost>()
            .with::<FittedAdaBoost>()
            .with::<FittedForest<Classification>>()
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

/// Trees that differ from the usual ones in nothing but their depth share their bins over all rounds.
fn adaboost(spec: &Spec) -> Result<Box<dyn Learner<Classification>>> {
    if !spec.parameters.contains_key("of") {
        let Rounds { rounds } = spec.read()?;
        return Ok(Box::new(AdaBoost::stumps(rounds)));
    }
    let (of, rest) = nested(spec, "of")?;
    let Rounds { rounds } = rest.read()?;
    let depth = of.parameters.get("depth").and_then(serde_json::Value::as_u64);
    Ok(Box::new(match depth {
        Some(depth) if of.kind == "tree" && of.parameters.len() == 1 => {
            AdaBoost::trees(rounds, depth as usize)
        }
        _ => AdaBoost::of(Classification::learner(&of)?, rounds),
    }))
}
