//! Which ensemble? A short, reasoned answer from what a table is like and from a quick probe of it.
//!
//! The probe ([`probe`]) lets a few fast learners predict rows they have not seen, on some of the rows. Its contrasts are the
//! questions of the textbooks (Bishop2006, chapter 14; Breiman1996): do the inputs say anything, does a straight line do,
//! is variance the trouble with trees (averaging cures it) or bias (boosting cures it), and do members err on different
//! rows, so that a weighted pool beats the best of them? The rules ([`advise`]) are a pure function of that.
//!
//! Standard errors are those of paired differences over rows. They do not know that the folds share training rows, so they
//! are somewhat small: what is called clear here is two of them.

mod probe;
mod rules;

use serde::Serialize;

pub use probe::{Advisable, probe};
pub use rules::advise;

use crate::learner::Sample;
use crate::score::Estimate;
use crate::table::Kind;
use crate::target::Target;
use crate::task::{Task, TaskKind};

/// What a table is like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The task.
    pub task: TaskKind,
    /// Rows.
    pub rows: usize,
    /// Numeric input columns.
    pub numeric: usize,
    /// Input columns of categories.
    pub categorical: usize,
    /// The share of input cells that are missing.
    pub missing: f64,
    /// Number of classes, if the target has classes.
    pub classes: Option<usize>,
    /// Rows of the rarest class that has any.
    pub rarest: Option<usize>,
}

impl Facts {
    /// The facts of a sample.
    pub fn of<T: Task>(sample: &Sample<'_, T>) -> Self {
        let (x, target) = (sample.x(), sample.target());
        let is_numeric = |kind: &Kind| *kind == Kind::Numeric;
        let numeric = x.schema().fields().iter().filter(|f| is_numeric(&f.kind)).count();
        let missing = x.iter().flatten().filter(|value| value.is_nan()).count();
        let counts = target.strata().map(|codes| {
            let mut counts = vec![0; target.classes().len()];
            codes.iter().for_each(|&code| counts[code as usize] += 1);
            counts.retain(|count| *count > 0);
            counts
        });
        Self {
            task: T::KIND,
            rows: sample.rows(),
            numeric,
            categorical: x.width() - numeric,
            missing: missing as f64 / (x.rows() * x.width()).max(1) as f64,
            classes: counts.as_ref().map(Vec::len),
            rarest: counts.and_then(|counts| counts.into_iter().min()),
        }
    }
}

/// What a member of the probe stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What any model must beat: the mean, the frequencies of the classes, one Gaussian.
    Baseline,
    /// A linear model.
    Linear,
    /// A single tree.
    Tree,
    /// Trees averaged.
    Forest,
    /// Trees boosted.
    Boosting,
    /// The nearest rows.
    Neighbours,
    /// A Gaussian mixture.
    Mixture,
    /// A kernel density.
    Kernel,
    /// A weighted pool of unlike members.
    Stack,
}

/// One member of the probe. Scores and gains of predictions are in shares of the baseline's loss, those of densities in nats
/// per row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probed {
    /// What it stands for.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// The model to fit if it is chosen.
    pub model: String,
    /// Its gain over the baseline.
    pub gain: Estimate,
    /// What it is behind the best member.
    pub behind: Estimate,
    /// Its weight in the pool.
    pub weight: f64,
}

/// A question, and what the probe says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// The best member against the baseline.
    Signal,
    /// The best non-linear member against the linear one.
    Shape,
    /// Averaged trees against a single one.
    Variance,
    /// Boosted trees against averaged ones.
    Bias,
    /// Kernels against mixtures.
    Smoothness,
    /// The pool against its best member, and how alike the members err.
    Stacking,
    /// Where Bayesian model averaging would put its weight.
    Selection,
    /// What the table is like.
    Table,
}

/// One kind of member against another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// The question.
    pub topic: Topic,
    /// The member asked about.
    pub member: String,
    /// The one it is compared with.
    pub against: String,
    /// What the first gains over the second.
    pub gain: Estimate,
}

/// A member that gave the true class next to no probability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clipped {
    /// Its name.
    pub member: String,
    /// In how many rows.
    pub rows: usize,
}

/// What the probe found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probe {
    /// Rows looked at.
    pub rows: usize,
    /// Folds.
    pub folds: usize,
    /// The members, the simplest first.
    pub members: Vec<Probed>,
    /// Learners that could not be fitted, and why.
    pub failures: Vec<String>,
    /// Members that were as good as certain of what did not come up; their probabilities count as 1e-15.
    pub clipped: Vec<Clipped>,
    /// The contrasts between them.
    pub contrasts: Vec<Contrast>,
    /// The mean correlation of the errors of any two members that beat the baseline.
    pub correlation: Option<f64>,
    /// The gain of the weighted pool over the member that is best on other rows, with weights from other rows.
    pub stacking: Estimate,
    /// The largest weight that Bayesian model averaging would give, and to whom.
    pub selection: (String, f64),
}

/// Why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The question.
    pub topic: Topic,
    /// The answer.
    #[serde(rename = "says")]
    pub answer: String,
    /// The number it rests on.
    pub value: f64,
    /// Its standard error.
    pub se: Option<f64>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What to use.
    pub choice: Role,
    /// The same in a sentence.
    pub recommendation: String,
    /// Why.
    pub reasons: Vec<Reason>,
    /// The models to fit, as specs; none means the usual members.
    pub models: Vec<String>,
    /// What the table is like.
    pub facts: Facts,
    /// What the probe found.
    pub probe: Probe,
}
