//! The learners of classes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use super::{
    Entry, FEW_ROWS, Library, NoParameters, complete_numbers, defaults, encoded_entry, entry,
    nested, on_numbers, specs, stack_entry, supervised, tuned_entry,
};
use crate::ensemble::{AdaBoost, Ensemble, FittedAdaBoost, FoldAverage, Rounds};
use crate::error::{Error, Result};
use crate::learner::baseline::{ClassFrequencies, FittedFrequencies};
use crate::learner::bayes::one_dependence::{
    Aode, BmaAode, FittedOneDependence, LmdOde, LmgOde, NaiveBayes, Ode, OneDependence,
};
use crate::learner::bayes::{BayesClassifier, FittedBayes};
use crate::learner::encoded::FittedEncoded;
use crate::learner::linear::{FittedLogistic, Logistic};
use crate::learner::spec::Spec;
use crate::learner::{Learner, Simple};
use crate::store::Registry;
use crate::table::Rows;
use crate::task::{Classification, Density};

impl Library for Classification {
    fn entries() -> Vec<Entry<Self>> {
        let mut entries = vec![
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
            on_numbers::<_, Logistic>(
                "logistic",
                "logistic regression; a list of lambdas is a ladder, auto chooses by cross-validation",
            ),
            Entry {
                kind: "adaboost",
                about: "AdaBoost (SAMME) of stumps, or of another learner: of=SPEC",
                defaults: defaults::<Rounds>(),
                build: adaboost,
            },
            one_dependence::<NaiveBayes>("naive-bayes", "attributes independent given the class"),
            entry::<_, Ode>(
                "ode",
                "one-dependence estimators, one member per root: root=[COLUMN, ..]",
                |spec| {
                    let ode = spec.read::<Ode>()?;
                    if ode.root.is_empty() {
                        let expected = "a list of input columns, one member each";
                        return Err(Error::param("root in ode", expected, "missing"));
                    }
                    Ok(Box::new(OneDependence::from(ode)))
                },
            ),
            one_dependence::<Aode>("aode", "the average of one-dependence estimators"),
            one_dependence::<BmaAode>(
                "bma-aode",
                "Bayesian average of one-dependence estimators, exact",
            ),
            one_dependence::<LmdOde>("lmd-ode", "MAP mixture of one-dependence posteriors"),
            one_dependence::<LmgOde>(
                "lmg-ode",
                "MAP mixture of one-dependence joint probabilities",
            ),
        ];
        entries.extend(supervised::entries());
        entries.extend([encoded_entry(), stack_entry(), tuned_entry()]);
        entries
    }

    fn registry() -> Registry<Self> {
        supervised::registry()
            .with::<Simple<FittedFrequencies>>()
            .with::<FittedBayes>()
            .with::<Simple<FittedLogistic>>()
            .with::<FittedAdaBoost>()
            .with::<FittedOneDependence>()
            .with::<FittedEncoded<Classification>>()
            .with::<Ensemble<Classification>>()
            .with::<FoldAverage<Classification>>()
    }

    /// Learners as unlike as possible: a linear one, neighbours, trees averaged and boosted, one-dependence estimators,
    /// and where rows allow a support vector machine and a mixture per class.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = vec!["logistic", "neighbours(k=[5, 25])", "forest", "extra-trees"];
        members.extend(["boost", "network", "aode"]);
        if x.rows() <= FEW_ROWS {
            members.push("svm");
        }
        if complete_numbers(x) {
            members.push("bayes(density=mixture(components=2))");
        }
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

/// An entry of the one-dependence family.
fn one_dependence<P>(kind: &'static str, about: &'static str) -> Entry<Classification>
where
    P: Default + Serialize + DeserializeOwned + Into<OneDependence>,
{
    entry::<_, P>(kind, about, |spec| Ok(Box::new(spec.read::<P>()?.into())))
}
