//! The learners of numbers.

use super::supervised::Known;
use super::{
    Catalogue, Catalogued, FEW_ROWS, LearnerEntry, Parameter, Section, VERY_WIDE, combiners,
    on_numbers, on_tamed_numbers, section_of, specs, supervised, with_best, wrappers,
};
use crate::learner::Simple;
use crate::learner::baseline::Mean;
use crate::learner::gaussian_process::GaussianProcess;
use crate::learner::linear::Ridge;
use crate::learner::transformed::{Transform, Transformed};
use crate::spec::Spec;
use crate::table::Rows;
use crate::table::encode::Outliers;
use crate::target::are_counts;
use crate::task::Regression;

/// Rows up to which boosting has few rows: too few to say when to stop, and enough time for many small steps.
const FEW_ROWS_OF_BOOSTING: usize = 2000;
/// Boosting in few rows: many small trees, each of a part of the rows and columns, whose leaves may be as narrow as the rows are.
const BOOST_OF_FEW: &str =
    "boost(rate=0.07, rounds=300, depth=4, min_leaf=1, l2=3, rows=0.7, columns=0.6)";

/// Rows up to which a Gaussian process is used, by functions about a thousand of them.
const MOST_ROWS_OF_PROCESSES: usize = 20_000;

const KNOWN: Known = Known {
    losses: &["squared", "absolute", "huber", "quantile", "poisson"],
    criteria: &["variance"],
    foreign: &["smoothing", "class_weights", "pseudo_count"],
};

/// The learners and combiners of numbers.
pub(super) fn section() -> Section<Regression> {
    let mut learners = vec![
        LearnerEntry::new::<Mean>(
            "mean",
            "the mean of the target, whatever the inputs",
            |spec, _| Ok(Box::new(Simple(spec.read::<Mean>()?))),
        ),
        on_numbers::<_, Ridge>(
            "ridge",
            "ridge regression; a list of lambdas is a ladder, auto the least error of rows left out",
        )
        .with_example("ridge(lambda=[0.1, 1, 10])"),
        on_tamed_numbers::<_, GaussianProcess>(
            "gaussian-process",
            "a smooth function and noise; lengths of the columns by the evidence of the rows",
            Outliers::Squash,
        )
        .with_example("gaussian-process(kernel=rbf, rows=500)"),
        LearnerEntry::new::<Transform>(
            "transformed",
            "another learner with the target on another scale: of=SPEC",
            |spec, catalogue| {
                let (of, rest) = wrappers::nested(spec, "of")?;
                Ok(Box::new(Transformed::of(catalogue.learner(&of)?, rest.read()?)))
            },
        )
        .of(Parameter::model("of", "The learner that sees the target on that scale."))
        .with_example("transformed(of=ridge, scale=log)"),
    ];
    learners.extend(supervised::entries(&KNOWN));
    learners.extend(wrappers::entries(["ridge", "forest"]));
    Section { learners, combiners: combiners::entries("ridge") }
}

impl Catalogued for Regression {
    section_of!(regression);

    /// Learners as unlike as possible: a linear one, neighbours, trees averaged and boosted, and where rows allow a
    /// Gaussian process and a support vector machine. Of more than 256 columns, trees that are averaged look at 64 a node. In few rows
    /// boosting takes many small steps and the network many, which fewer trees in the forests pay for.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = vec!["ridge", "neighbours(k=[5, 25])"];
        members.extend(averaged_trees(x));
        members.extend([boosting(x), "network"]);
        if x.rows() <= MOST_ROWS_OF_PROCESSES {
            members.push("gaussian-process");
        }
        if x.rows() <= FEW_ROWS {
            members.push("svm");
        }
        specs(&members)
    }

    /// A linear one, trees averaged and boosted, a network: of small sets of the usual members these did best on held-out
    /// rows.
    fn quick_members(x: Rows<'_>) -> Vec<Spec> {
        let [_, extra] = averaged_trees(x);
        specs(&["ridge", extra, boosting(x), "network"])
    }

    /// Beside the usual ones: boosting in small steps and of small trees, averaged trees with larger leaves, several
    /// networks, and where rows allow support vectors that are held more and less.
    fn best_members(x: Rows<'_>) -> Vec<Spec> {
        with_best(Self::usual_members(x), x)
    }

    /// Counts are boosted by their own loss, too.
    fn members_suiting(target: &Vec<f64>) -> Vec<Spec> {
        if are_counts(target) { specs(&["boost(loss=poisson)"]) } else { Vec::new() }
    }

    fn baseline() -> Spec {
        specs(&["mean"]).remove(0)
    }

    const BY_USE: &'static [&'static str] = &[
        "ridge",
        "boost",
        "gaussian-process",
        "extra-trees",
        "network",
        "neighbours",
        "svm",
        "forest",
    ];
}

/// A forest and extra-trees that suit so many rows and columns.
fn averaged_trees(x: Rows<'_>) -> [&'static str; 2] {
    match (x.rows() <= FEW_ROWS_OF_BOOSTING, x.width() > VERY_WIDE) {
        (true, true) => ["forest(trees=64, columns=64)", "extra-trees(trees=100, columns=64)"],
        (true, false) => ["forest(trees=64)", "extra-trees(trees=100)"],
        (false, true) => ["forest(columns=64)", "extra-trees(columns=64)"],
        (false, false) => ["forest", "extra-trees"],
    }
}

/// Boosting that suits so many rows.
fn boosting(x: Rows<'_>) -> &'static str {
    if x.rows() <= FEW_ROWS_OF_BOOSTING { BOOST_OF_FEW } else { "boost" }
}
