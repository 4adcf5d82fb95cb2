//! The learners of classes.

use super::{
    Entry, FEW_ROWS, Library, VERY_WIDE, WIDE, complete_numbers, defaults, encoded_entry, entry,
    generative, nested, on_numbers, specs, stack_entry, supervised, tuned_entry,
};
use crate::ensemble::{AdaBoost, Ensemble, FittedAdaBoost, FoldAverage, Rounds};
use crate::error::Result;
use crate::learner::baseline::{ClassFrequencies, FittedFrequencies};
use crate::learner::bayes::FittedBayes;
use crate::learner::bayes::one_dependence::{FittedOneDependence, LmdOde};
use crate::learner::encoded::FittedEncoded;
use crate::learner::linear::{FittedLogistic, Logistic};
use crate::learner::spec::Spec;
use crate::learner::{Learner, Simple};
use crate::store::Registry;
use crate::table::Rows;
use crate::task::Classification;

/// Rows from which on a choice of pools is worth its chance of error: with a few hundred it lost more than it gained.
const ENOUGH_FOR_POOLS: usize = 1000;
/// Rows beyond which logistic regression is worth it: with one or two thousand it, and the choice of its penalty, lost.
const ENOUGH_FOR_LOGISTIC: usize = 5000;

impl Library for Classification {
    fn entries() -> Vec<Entry<Self>> {
        let mut entries = vec![
            entry::<_, ClassFrequencies>(
                "class-frequencies",
                "the classes' frequencies, whatever the inputs",
                |spec| Ok(Box::new(Simple(spec.read::<ClassFrequencies>()?))),
            ),
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
        ];
        entries.extend(generative::entries());
        let about = "MAP mixture of one-dependence posteriors";
        entries.push(generative::one_dependence::<_, LmdOde>("lmd-ode", about));
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

    /// A linear pool is as sure as its members on average, a logarithmic one may be surer, and logistic regression may also
    /// set one member against another: which is right, the rows say where there are enough of them to choose by.
    fn usual_combiners(x: Rows<'_>) -> Vec<Spec> {
        let mut combiners = vec!["simplex"];
        if x.rows() >= ENOUGH_FOR_POOLS {
            combiners.push("log-pool");
        }
        if x.rows() > ENOUGH_FOR_LOGISTIC {
            combiners.push("logistic");
        }
        specs(&combiners)
    }

    /// Learners as unlike as possible: a linear one, neighbours, trees averaged and boosted, one-dependence estimators,
    /// and where rows allow a support vector machine and a mixture per class. Wide tables: of more than 64 columns mixtures
    /// have diagonal covariances, and of more than 256 `aode` uses the 64 that tell most of the class.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = vec!["logistic", "neighbours(k=[5, 25])", "forest", "extra-trees"];
        let aode = if x.width() > VERY_WIDE { "aode(columns=64)" } else { "aode" };
        members.extend(["boost", "network", aode]);
        if x.rows() <= FEW_ROWS {
            members.push("svm");
        }
        if complete_numbers(x) {
            members.push(if x.width() > WIDE {
                "bayes(density=mixture(components=2, covariance=diagonal))"
            } else {
                "bayes(density=mixture(components=2))"
            });
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
