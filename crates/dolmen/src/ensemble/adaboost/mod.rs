//! AdaBoost (FreundSchapire1997) on any learner of classes, for several classes by SAMME (Zhu2009).
//!
//! Round m fits the learner to weighted rows and takes its best guesses h_m. With e_m the weighted share of wrong guesses,
//!
//! > alpha_m = ln((1 - e_m) / e_m) + ln(C - 1),
//!
//! twice the 1/2 ln((1 - e) / e) of two classes, and wrongly guessed rows weigh exp(alpha_m) times as much from then on. Class c
//! has the votes v_c = sum over m of alpha_m [h_m = c]; its chance is proportional to exp(s v_c). With s = 1 and two classes that
//! is the logistic model behind AdaBoost (FriedmanHastieTibshirani2000, section 4), which many rounds make far too sure;
//! scikit-learn divides by sum alpha_m, which is far too unsure. Here s, at most 1, has the largest likelihood on the
//! rows learned from. The order of the chances is the same for all three.

mod model;
mod weak;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedAdaBoost;

use crate::error::{Error, Place, Result, within};
use crate::learner::{Fitted, Learner, Sample};
use crate::run::Run;
use crate::spec::Spec;
use crate::task::{Classification, Task};
use model::Members;
use weak::{Guesses, Trees};

/// How AdaBoost is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rounds {
    /// Rounds at most, 1 to 100 000; fewer where a round guesses all rows right, or no better than chance.
    #[schemars(range(min = 1, max = 100_000))]
    pub rounds: usize,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { rounds: 50 }
    }
}

/// What is boosted.
#[derive(Debug, Clone)]
enum Weak {
    /// Trees of so many splits on any way down, grown on bins that all rounds share.
    Trees(usize),
    /// Another learner's first member.
    Learner(Arc<dyn Learner<Classification>>),
}

/// AdaBoost.
///
/// ```
/// use dolmen::ensemble::AdaBoost;
/// use dolmen::learner::Learner;
///
/// assert_eq!(AdaBoost::stumps(200).members(), ["adaboost(rounds=200)"]);
/// ```
#[derive(Debug, Clone)]
pub struct AdaBoost {
    weak: Weak,
    rounds: usize,
}

impl AdaBoost {
    /// Boosts trees of one split.
    pub fn stumps(rounds: usize) -> Self {
        Self::trees(rounds, 1)
    }

    /// Boosts trees of so many splits on any way down.
    pub fn trees(rounds: usize, depth: usize) -> Self {
        Self { weak: Weak::Trees(depth), rounds }
    }

    /// Boosts the first member of a learner.
    pub fn of(learner: impl Into<Arc<dyn Learner<Classification>>>, rounds: usize) -> Self {
        Self { weak: Weak::Learner(learner.into()), rounds }
    }

    fn validate(&self) -> Result<()> {
        within("rounds", self.rounds, 1..=100_000)?;
        if matches!(self.weak, Weak::Trees(0)) {
            return Err(Error::param("depth", "at least 1", 0));
        }
        Ok(())
    }
}

impl Learner<Classification> for AdaBoost {
    fn members(&self) -> Vec<String> {
        let rounds = Rounds { rounds: self.rounds };
        let of = |name: &str| Spec::around("adaboost", &rounds, "of", Spec::nested(name));
        let spec = match &self.weak {
            Weak::Trees(1) => Spec::of("adaboost", &rounds),
            Weak::Trees(depth) => of(&format!("tree(depth={depth})")),
            Weak::Learner(learner) => of(learner.members().first().map_or("", String::as_str)),
        };
        vec![spec.to_string()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        self.validate()?;
        if sample.rows() == 0 {
            return Err(Error::data(Place::default(), "there are no rows to learn from"));
        }
        run.progress().plan(self.rounds as u64);
        run.install(|| {
            let boosted = match &self.weak {
                Weak::Trees(depth) => {
                    let mut trees = Trees::new(sample, *depth)?;
                    let course = boost(sample, self.rounds, &mut trees, run)?;
                    let importance = importance(&course.alphas, &trees.shares);
                    FittedAdaBoost::new(sample, course, Members::Trees(trees.grown), importance)
                }
                Weak::Learner(learner) => {
                    let mut guesses = Guesses { learner: learner.as_ref(), models: Vec::new() };
                    let course = boost(sample, self.rounds, &mut guesses, run)?;
                    let members = Members::Models(guesses.models);
                    FittedAdaBoost::new(sample, course, members, Vec::new())
                }
            };
            Ok(vec![Box::new(boosted) as Box<dyn Fitted<Classification>>])
        })
    }
}

/// How much each column matters: its shares in the trees, weighed by what each tree has to say. They sum to 1, unless there is no
/// split.
fn importance(alphas: &[f64], shares: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; shares.first().map_or(0, Vec::len)];
    for (alpha, shares) in alphas.iter().zip(shares) {
        sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += alpha * share);
    }
    let total: f64 = sums.iter().sum();
    if total > 0.0 {
        sums.iter_mut().for_each(|sum| *sum /= total);
    }
    sums
}

/// Someone who can be asked, round after round, for guesses on weighted rows.
trait Guesser {
    /// Learns from the rows with these weights, which sum to 1, and guesses their classes.
    fn guess(
        &mut self,
        sample: &Sample<'_, Classification>,
        weights: &[f64],
        run: &Run,
    ) -> Result<Vec<u32>>;
    /// Forgets the last round.
    fn forget(&mut self);
}

/// How the rounds went.
#[derive(Debug, Default)]
struct Course {
    alphas: Vec<f64>,
    errors: Vec<f64>,
    /// The classes' votes on the rows learned from, row after row.
    votes: Vec<f64>,
}

/// The rounds.
fn boost(
    sample: &Sample<'_, Classification>,
    rounds: usize,
    guesser: &mut impl Guesser,
    run: &Run,
) -> Result<Course> {
    let (labels, classes) = (sample.target(), Classification::width(sample.target()));
    let mut weights: Vec<f64> = (0..sample.rows()).map(|row| sample.weight(row)).collect();
    let mut course = Course { votes: vec![0.0; sample.rows() * classes], ..Course::default() };
    // An error of nothing would give a round all the say there is: half a row is always taken to be wrong.
    let least = 0.5 / (sample.total_weight() + 1.0);
    for round in 0..rounds {
        run.check()?;
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let guesses = guesser.guess(sample, &weights, &run.child(round as u64).silent())?;
        let is_wrong = |row: usize| guesses[row] != labels.codes()[row];
        let error: f64 =
            (0..weights.len()).filter(|&row| is_wrong(row)).map(|row| weights[row]).sum();
        if error >= 1.0 - 1.0 / classes as f64 {
            guesser.forget();
            break;
        }
        let sure = error.max(least);
        let alpha = ((1.0 - sure) / sure).ln() + (classes as f64 - 1.0).ln();
        let factor = alpha.exp();
        for (row, weight) in weights.iter_mut().enumerate() {
            *weight *= if is_wrong(row) { factor } else { 1.0 };
            course.votes[row * classes + guesses[row] as usize] += alpha;
        }
        course.alphas.push(alpha);
        course.errors.push(error);
        run.progress().advance(1, "round");
        if error <= 0.0 {
            break;
        }
    }
    Ok(course)
}
