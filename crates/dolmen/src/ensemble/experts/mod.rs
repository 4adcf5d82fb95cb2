//! Mixtures of experts: p(t given x) = sum_k g_k(x) p_k(t given x) (Jacobs1991; JordanJacobs1994; Bishop2006,
//! section 14.5).
//!
//! | file | holds |
//! | --- | --- |
//! | `design` | the rows as EM sees them |
//! | `gate` | the shares g_k(x), a softmax of linear scores |
//! | `gaussian` | experts of numbers: linear, each with its own variance |
//! | `logistic` | experts of classes: multinomial logistic regressions |
//! | `start` | where EM starts |
//! | `em` | the E-step, the loop, and the best of several starts |
//! | `model` | the fitted mixture, with routing |
//!
//! What EM climbs is the log posterior. Ridge penalties hold the coefficients of gate and experts; a few imagined rows hold
//! what those leave free (intercepts, variances), so that no expert collapses onto a row or dies for want of rows.
//!
//! **Routing** (`top`) asks only the experts with the largest shares, which share the row among themselves. It is done when
//! predicting, not in the E-step: there the objective would jump wherever the order of the shares changes, the gate's
//! M-step could not see these jumps, and EM would no longer be sure to climb.

mod design;
mod em;
mod gate;
mod gaussian;
mod logistic;
mod model;
mod start;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedExperts;

use crate::error::{Error, Place, Result, within};
use crate::learner::density::mixture::OneOrMany;
use crate::learner::scales::{require_finite, require_moderate, require_numbers};
use crate::learner::{Fitted, Learner, MOST_ITERATIONS, Sample};
use crate::memory;
use crate::run::Run;
use crate::spec::Spec;
use crate::target::Target;
use crate::task::{Classification, Regression, Task};
use design::Design;
use em::{Climb, Family};
use gaussian::{Gaussian, Linear};
use logistic::Softmax;
use model::{Fit, Output};

/// A mixture of experts, of complete numbers.
///
/// ```
/// use dolmen::ensemble::Experts;
/// use dolmen::run::Run;
/// use dolmen::learner::Sample;
/// use dolmen::table::Features;
/// use dolmen::task::Regression;
///
/// // |x| is two straight lines.
/// let x: Vec<f64> = (-20..=20).map(f64::from).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.abs()).collect();
/// let x = Features::numeric(x, 1)?;
/// // So few rows, and free of noise, need no imagined one to speak of.
/// let experts = Experts { count: vec![2].into(), ridge: 0.01, prior: 1e-3, ..Experts::default() };
/// let sample = Sample::<Regression>::new(x.rows(), &y)?;
/// let models = experts.fit_experts(&sample, &Run::new(0))?;
/// let (_, slopes) = models[0].coefficients(0, 0);
/// assert!((slopes[0].abs() - 1.0).abs() < 0.01);
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Experts {
    /// Number of experts, 1 to 10 000, but no more than there are rows to learn from, or 100 where these are fewer; a list makes
    /// one member per number.
    #[schemars(extend("minimum" = 1, "maximum" = 10_000))]
    pub count: OneOrMany<usize>,
    /// Starts of EM, 1 to 10 000, of which the best is followed to the end.
    #[schemars(range(min = 1, max = 10_000))]
    pub restarts: usize,
    /// The penalty of the experts' coefficients, on standardised columns: that of `ridge` or `logistic`.
    #[schemars(range(min = 0.0))]
    pub ridge: f64,
    /// The penalty of the gate's coefficients.
    #[schemars(range(min = 0.0))]
    pub gate_ridge: f64,
    /// Rows imagined for the gate and for each expert at the centre of the inputs, above 0.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub prior: f64,
    /// Iterations of EM at most.
    #[schemars(range(min = 1, max = MOST_ITERATIONS))]
    pub iterations: usize,
    /// EM ends once an iteration gains no more than this per row.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub tolerance: f64,
    /// Experts asked about each row when predicting, those with the largest shares; all by default.
    #[schemars(range(min = 1))]
    pub top: Option<usize>,
}

impl Default for Experts {
    fn default() -> Self {
        Self {
            count: OneOrMany::One(4),
            restarts: 4,
            ridge: 1.0,
            gate_ridge: 0.1,
            prior: 1.0,
            iterations: 200,
            tolerance: 1e-6,
            top: None,
        }
    }
}

/// A task that experts can be had for.
pub trait Routed: Task {
    /// Fits one model per number of experts.
    #[doc(hidden)]
    fn fit_experts(
        experts: &Experts,
        sample: &Sample<'_, Self>,
        run: &Run,
    ) -> Result<Vec<FittedExperts>>;

    /// Whether a model's output is a prediction of this task.
    #[doc(hidden)]
    fn suits(output: &Output) -> bool;
}

impl<T: Routed> Learner<T> for Experts {
    fn members(&self) -> Vec<String> {
        let name = |&count: &usize| Spec::rung("experts", self, "count", count).to_string();
        self.count.values().iter().map(name).collect()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        let models = self.fit_experts(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as _).collect())
    }
}

/// So many experts are fitted to however few rows: those that none is left for say what the others say.
const FEW_EXPERTS: usize = 100;

impl Experts {
    /// Fits one model per number of experts.
    pub fn fit_experts<T: Routed>(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<FittedExperts>> {
        self.validate()?;
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        run.install(|| T::fit_experts(self, sample, run))
    }

    fn validate(&self) -> Result<()> {
        let counts = self.count.values();
        if counts.is_empty() {
            return Err(Error::param("count", "a number or a list of numbers", "an empty list"));
        }
        for (name, number) in [
            ("count", counts.iter().copied().min().unwrap_or(0)),
            ("restarts", self.restarts),
            ("top", self.top.unwrap_or(1)),
        ] {
            within(name, number, 1..=usize::MAX)?;
        }
        counts.iter().try_for_each(|&count| within("count", count, 1..=10_000))?;
        within("restarts", self.restarts, 1..=10_000)?;
        within("iterations", self.iterations, 1..=MOST_ITERATIONS)?;
        for (name, penalty) in [("ridge", self.ridge), ("gate_ridge", self.gate_ridge)] {
            if !(penalty >= 0.0 && penalty.is_finite()) {
                return Err(Error::param(name, "at least 0 and finite", penalty));
            }
        }
        for (name, value) in [("prior", self.prior), ("tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::param(name, "above 0", value));
            }
        }
        Ok(())
    }

    /// The rows that count, as EM sees them.
    fn design<T: Task>(&self, sample: &Sample<'_, T>) -> Result<(Design, Vec<usize>)> {
        let rows: Vec<usize> = (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).collect();
        if rows.is_empty() {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        Ok((Design::new(sample.x(), sample.weights(), &rows, self.prior), rows))
    }

    /// One model per number of experts, in parallel.
    fn ladder<T: Task, F: Family>(
        &self,
        family: &F,
        design: &Design,
        sample: &Sample<'_, T>,
        run: &Run,
        output: impl Fn(&F::Experts) -> Output + Sync,
    ) -> Result<Vec<FittedExperts>> {
        let plan = em::Plan {
            tolerance: self.tolerance,
            iterations: self.iterations,
            restarts: self.restarts,
            gate_ridge: self.gate_ridge,
        };
        let most = self.count.values().iter().copied().max().unwrap_or(1);
        let limit = design.rows().max(FEW_EXPERTS);
        if most > limit {
            let expected = format!("at most {limit}, having {} rows to learn from", design.rows());
            return Err(Error::param("count", expected, most));
        }
        let starts = self.restarts.min(run.threads());
        let each = memory::size(&[most, starts, design.width(), design.width(), 8]);
        let shares = memory::size(&[most, self.restarts, design.rows(), 8]);
        memory::claim(each.saturating_add(shares), "the experts")?;
        let model = |&count: &usize| {
            let climb = em::best_of(family, design, count, plan, &run.child(count as u64))?;
            let gate = climb.gate.coefficients();
            let mut coefficients: Vec<f64> =
                gate.col_iter().flat_map(|c| c.iter().copied()).collect();
            coefficients.extend(family.coefficients(&climb.experts, design.width()));
            let coefficients = design.of_columns(coefficients);
            if coefficients.iter().any(|b| !b.is_finite()) {
                return Err(Error::data(Place::default(), "the coefficients are not finite"));
            }
            Ok(FittedExperts {
                scales: design.scales.clone(),
                count,
                top: self.top.unwrap_or(count).min(count),
                coefficients,
                output: output(&climb.experts),
                fit: fit_of(&climb, design, count, sample),
            })
        };
        self.count.values().par_iter().map(model).collect()
    }
}

/// How the fit went.
fn fit_of<T: Task, E: Clone + Send + Sync>(
    climb: &Climb<E>,
    design: &Design,
    count: usize,
    sample: &Sample<'_, T>,
) -> Fit {
    let fields = sample.x().schema().fields();
    Fit {
        converged: climb.converged,
        iterations: climb.objectives.len() - 1,
        objective: climb.objective(),
        shares: climb.shares(design, count),
        columns: fields.iter().map(|field| field.name.clone()).collect(),
    }
}

impl Routed for Regression {
    fn fit_experts(
        experts: &Experts,
        sample: &Sample<'_, Self>,
        run: &Run,
    ) -> Result<Vec<FittedExperts>> {
        require_finite(sample.target(), |row| row as u64)?;
        let (design, rows) = experts.design(sample)?;
        let family = Gaussian::new(&design, &sample.target().select(&rows), experts.ridge);
        let output = |linear: &Linear| Output::Number {
            centre: family.centre,
            spread: family.spread,
            deviations: linear.variances.iter().map(|v| family.spread * v.sqrt()).collect(),
        };
        experts.ladder(&family, &design, sample, run, output)
    }

    fn suits(output: &Output) -> bool {
        matches!(output, Output::Number { .. })
    }
}

impl Routed for Classification {
    fn fit_experts(
        experts: &Experts,
        sample: &Sample<'_, Self>,
        run: &Run,
    ) -> Result<Vec<FittedExperts>> {
        let (design, rows) = experts.design(sample)?;
        let labels = sample.target().select(&rows);
        let mut seen: Vec<u32> = labels.codes().to_vec();
        seen.sort_unstable();
        seen.dedup();
        let number = |code: &u32| seen.binary_search(code).unwrap_or(0) as u32;
        let codes = labels.codes().iter().map(number).collect();
        let family = Softmax::new(&design, codes, seen.len(), experts.ridge, run)?;
        let (classes, known) = (labels.classes().len(), seen.len());
        let unseen = (classes - known) as f64;
        let output = |_: &Vec<Vec<f64>>| Output::Classes {
            classes,
            seen: seen.iter().map(|code| *code as usize).collect(),
            unseen: if unseen > 0.0 { 1.0 / (design.total() + unseen) } else { 0.0 },
        };
        experts.ladder(&family, &design, sample, run, output)
    }

    fn suits(output: &Output) -> bool {
        matches!(output, Output::Classes { .. })
    }
}
