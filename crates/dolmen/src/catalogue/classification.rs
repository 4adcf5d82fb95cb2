//! The learners of classes.

use super::supervised::Known;
use super::wrappers::{self, nested};
use super::{
    Catalogue, Catalogued, FEW_ROWS, LearnerEntry, Parameter, Section, VERY_WIDE, WIDE, combiners,
    complete_numbers, generative, on_numbers, section_of, specs, supervised, with_best,
};
use crate::ensemble::{AdaBoost, Rounds};
use crate::error::Result;
use crate::learner::baseline::ClassFrequencies;
use crate::learner::bayes::one_dependence::LmdOde;
use crate::learner::linear::Logistic;
use crate::learner::ordinal::{ClassOrder, Ordinal};
use crate::learner::{Learner, Simple};
use crate::spec::Spec;
use crate::table::encode::few_distinct;
use crate::table::{Field, Kind, Rows};
use crate::task::Classification;

/// Rows beyond which logistic regression is worth it: with one or two thousand it, and the choice of its penalty, lost.
const ENOUGH_FOR_LOGISTIC: usize = 5000;

/// Rows up to which boosting has few rows, too few to say when to stop.
const FEW_ROWS_OF_BOOSTING: usize = 2000;
/// Boosting in few rows: small trees that each see a part of the rows and columns. Where columns have few values, these would miss what
/// several of them say together.
const BOOST_OF_FEW: &str = "boost(rate=0.05, depth=3, columns=0.5, rows=0.8)";

/// Columns at most that are crossed: of more, pairs are too many to be learned from.
const MOST_CROSSED: usize = 12;

const KNOWN: Known = Known {
    losses: &["logistic", "exponential", "multinomial"],
    criteria: &["gini", "entropy"],
    foreign: &["quantile", "delta", "epsilon"],
};

/// The learners and combiners of classes.
pub(super) fn section() -> Section<Classification> {
    let mut learners = vec![
        LearnerEntry::new::<ClassFrequencies>(
            "class-frequencies",
            "the classes' frequencies, whatever the inputs",
            |spec, _| Ok(Box::new(Simple(spec.read::<ClassFrequencies>()?))),
        ),
        on_numbers::<_, Logistic>(
            "logistic",
            "logistic regression; a list of lambdas is a ladder, auto chooses by cross-validation",
        )
        .with_example("logistic(lambda=[0.1, 1, 10])"),
        LearnerEntry::new::<Rounds>(
            "adaboost",
            "AdaBoost (SAMME) of stumps, or of another learner: of=SPEC",
            adaboost,
        )
        .of(Parameter::model("of", "What is boosted: its first member.").or("tree(depth=1)"))
        .with_example("adaboost(of=tree(depth=2), rounds=100)"),
        LearnerEntry::new::<ClassOrder>(
            "ordinal",
            "classes in an order, by whether each row lies beyond each of them: of=SPEC",
            |spec, catalogue| {
                let (of, rest) = nested(spec, "of")?;
                Ok(Box::new(Ordinal::of(catalogue.learner(&of)?, rest.read()?)))
            },
        )
        .of(Parameter::model("of", "The learner that is asked, once for each class but the last."))
        .with_example("ordinal(of=logistic, order=[low, middle, high])"),
    ];
    learners.extend(generative::entries());
    let about = "MAP mixture of one-dependence posteriors";
    learners.push(generative::one_dependence::<_, LmdOde>("lmd-ode", about));
    learners.extend(supervised::entries(&KNOWN));
    learners.extend(wrappers::entries(["logistic", "forest"]));
    Section { learners, combiners: combiners::entries("logistic") }
}

impl Catalogued for Classification {
    section_of!(classification);

    /// A linear pool is as sure as its members on average, a logarithmic one may be surer, and logistic regression may also
    /// set one member against another: which is right, the rows say. Powers of few rows follow luck, so they are held near equal
    /// ones; logistic regression needs many.
    fn usual_combiners(x: Rows<'_>) -> Vec<Spec> {
        let mut combiners = vec!["simplex", "log-pool(prior=20)"];
        if x.rows() > ENOUGH_FOR_LOGISTIC {
            combiners.push("logistic");
        }
        specs(&combiners)
    }

    /// Learners as unlike as possible: a linear one (where all columns have few values also one that sees pairs of them), neighbours, trees averaged
    /// and boosted, a network, one-dependence estimators, and where rows allow a support vector machine and a mixture per class. Wide tables:
    /// of more than 64 columns mixtures have diagonal covariances, and of more than 256 `aode` uses the 64 that tell most of the class.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = vec!["logistic", "neighbours(k=[5, 25])", "forest", "extra-trees"];
        let has_few_values = has_few_values(x);
        let in_small_steps = x.rows() <= FEW_ROWS_OF_BOOSTING && !has_few_values;
        members.push(if in_small_steps { BOOST_OF_FEW } else { "boost" });
        members.push("network");
        members.push(if x.width() > VERY_WIDE { "aode(columns=64)" } else { "aode" });
        let pairs = (2..=MOST_CROSSED).contains(&x.width());
        if has_few_values && pairs && x.rows() <= FEW_ROWS {
            members.push("encoded(crosses=8, of=logistic)");
        }
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

    /// A linear one, trees averaged and boosted, one-dependence estimators: of small sets of the usual members these did best
    /// on held-out rows beside support vectors, which cost too much in many rows.
    fn quick_members(x: Rows<'_>) -> Vec<Spec> {
        let aode = if x.width() > VERY_WIDE { "aode(columns=64)" } else { "aode" };
        specs(&["logistic", "extra-trees", "boost", aode])
    }

    /// Beside the usual ones: boosting in small steps and of small trees, averaged trees with larger leaves, several
    /// networks, and where rows allow support vectors that are held more and less.
    fn best_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = with_best(Self::usual_members(x), x);
        members.extend(specs(&["naive-bayes"]));
        members
    }

    fn baseline() -> Spec {
        specs(&["class-frequencies"]).remove(0)
    }

    const BY_USE: &'static [&'static str] =
        &["boost", "aode", "logistic", "extra-trees", "svm", "bayes", "neighbours", "forest"];
}

/// Whether all columns have few values: what they say often hangs on several of them together.
fn has_few_values(x: Rows<'_>) -> bool {
    const FEW: usize = 8;
    let has_few = |(j, field): (usize, &Field)| match &field.kind {
        Kind::Categorical { levels } => levels.len() <= FEW,
        Kind::Numeric => few_distinct(x.column(j).filter(|value| !value.is_nan()), FEW).is_some(),
    };
    x.schema().fields().iter().enumerate().all(has_few)
}

/// Trees that differ from the usual ones in nothing but their depth share their bins over all rounds.
fn adaboost(spec: &Spec, catalogue: &Catalogue) -> Result<Box<dyn Learner<Classification>>> {
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
        _ => AdaBoost::of(catalogue.learner(&of)?, rounds),
    }))
}
