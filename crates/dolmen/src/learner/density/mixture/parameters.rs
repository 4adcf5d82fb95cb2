//! The mixture's parameters.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::data::Frame;
use super::em::Stop;
use super::prior::{self, Covariance, Prior};
use super::start::Start;
use crate::error::{Error, Result, within};
use crate::learner::MOST_ITERATIONS;
use crate::spec::Spec;

/// One value or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, whole where it counts things, or a list of them")]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values.
    pub fn values(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<T: DeserializeOwned + Clone> OneOrMany<T> {
    /// Reads a list that may be given as its only value.
    pub(crate) fn read<'d, D: Deserializer<'d>>(values: D) -> Result<Vec<T>, D::Error> {
        Ok(Self::deserialize(values)?.values().to_vec())
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Many(values)
    }
}

/// How many starts, and how long each is followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// As `start`, `restarts`, `tolerance` and `iterations` say.
    #[default]
    Converge,
    /// SmythWolpert1999: 10 iterations from 4 starts (2 k-means, 2 random), whatever those four parameters say.
    Sw99,
}

/// Mixtures of normal components, or of Student's t, fitted by MAP-EM.
///
/// The prior's values (`beta`, `mu0`, `b`) and the objective in the diagnostics speak of the data as they are fitted:
/// standardised, unless `standardise` is off. Means and covariances of the fitted model are in the units of the data.
///
/// Row weights count as rows. Missing values (NaN) are integrated out: the likelihood is that of the observed values.
///
/// ```
/// use dolmen::learner::density::mixture::{GaussianMixture, OneOrMany};
/// use dolmen::run::Run;
/// use dolmen::learner::Sample;
/// use dolmen::table::Features;
/// use dolmen::task::Density;
///
/// let x = Features::numeric(vec![0.1, 0.2, 0.4, 5.1, 5.3, 5.2], 1)?;
/// let learner = GaussianMixture { components: OneOrMany::One(2), ..Default::default() };
/// let models = learner.fit_mixtures(&Sample::<Density>::new(x.rows(), &())?, &Run::new(0))?;
/// assert!((models[0].parameters().weights[0] - 0.5).abs() < 1e-3);
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianMixture {
    /// Number of components; a list makes one member per number.
    #[schemars(extend("minimum" = 1, "maximum" = 100_000))]
    pub components: OneOrMany<usize>,
    /// Which covariance matrices the components may have.
    pub covariance: Covariance,
    /// Degrees of freedom of components that are Student's t, 0.1 to 10 000: few make heavy tails, in which rows far out cost little and
    /// pull little. Covariances are then scales. Normal components if absent.
    #[schemars(extend("minimum" = 0.1, "maximum" = 1e4))]
    pub freedom: Option<f64>,
    /// The one knob of the prior, `B = beta I`: larger is smoother. A list is a choice, made by validation. With 0 nothing
    /// keeps a component from collapsing on a few rows; a start on which that happens counts as failed.
    #[schemars(extend("minimum" = 0.0))]
    pub beta: OneOrMany<f64>,
    /// Share of the rows held out to choose beta; the chosen one is then fitted to all rows.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub validation: f64,
    /// Dirichlet parameter of the component weights; at least 1, which is neutral.
    #[schemars(range(min = 1.0))]
    pub gamma: f64,
    /// Rows that the prior mean is worth; 0 is neutral.
    #[schemars(range(min = 0.0))]
    pub eta: f64,
    /// The prior mean; the mean of the data if absent.
    pub mu0: Option<Vec<f64>>,
    /// The Wishart parameter a; (d+1)/2 if absent, which is neutral. d/2 with `beta = 0` is maximum likelihood.
    pub a: Option<f64>,
    /// The shape of the Wishart matrix, `B = beta b`; the identity if absent.
    pub b: Option<Vec<Vec<f64>>>,
    /// Whether to fit in units of the training rows' mean and standard deviation (N-1).
    pub standardise: bool,
    /// How EM is started.
    pub start: Start,
    /// Number of starts, 1 to 10 000; the highest log posterior is kept.
    #[schemars(range(min = 1, max = 10_000))]
    pub restarts: usize,
    /// EM stops when an iteration gains less than this per row; 0 runs all iterations.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
    /// Iterations of EM at most.
    #[schemars(range(min = 1, max = MOST_ITERATIONS))]
    pub iterations: usize,
    /// How many starts, and how long each is followed.
    pub schedule: Schedule,
}

impl Default for GaussianMixture {
    fn default() -> Self {
        Self {
            components: OneOrMany::One(4),
            covariance: Covariance::Full,
            freedom: None,
            beta: OneOrMany::One(0.01),
            validation: 0.2,
            gamma: 1.0,
            eta: 0.0,
            mu0: None,
            a: None,
            b: None,
            standardise: true,
            start: Start::KmeansPlusPlus,
            restarts: 3,
            tolerance: 1e-5,
            iterations: 500,
            schedule: Schedule::Converge,
        }
    }
}

/// `Err` unless the value is as it should be.
fn demand(holds: bool, name: &str, expected: &str, got: impl std::fmt::Display) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::param(name, expected, got)) }
}

impl GaussianMixture {
    /// Checks what can be checked without data.
    pub(super) fn validate(&self) -> Result<()> {
        demand(!self.components.values().is_empty(), "components", "at least one number", "none")?;
        for &k in self.components.values() {
            within("components", k, 1..=100_000)?;
        }
        demand(!self.beta.values().is_empty(), "beta", "at least one number", "none")?;
        for &beta in self.beta.values() {
            demand(beta >= 0.0 && beta.is_finite(), "beta", "at least 0", beta)?;
        }
        if let Some(freedom) = self.freedom {
            let is_fine = (0.1..=1e4).contains(&freedom);
            demand(is_fine, "freedom", "between 0.1 and 10 000", freedom)?;
        }
        let share = self.validation;
        demand(share > 0.0 && share < 1.0, "validation", "between 0 and 1", share)?;
        demand(self.gamma >= 1.0 && self.gamma.is_finite(), "gamma", "at least 1", self.gamma)?;
        demand(self.eta >= 0.0 && self.eta.is_finite(), "eta", "at least 0", self.eta)?;
        within("restarts", self.restarts, 1..=10_000)?;
        within("iterations", self.iterations, 1..=MOST_ITERATIONS)?;
        let tolerance = self.tolerance;
        demand(tolerance >= 0.0 && tolerance.is_finite(), "tolerance", "at least 0", tolerance)
    }

    /// The name of the member with so many components.
    pub(super) fn member_name(&self, components: usize) -> String {
        Spec::rung("mixture", self, "components", components).to_string()
    }

    /// The prior for these data.
    pub(super) fn prior(&self, frame: &Frame, beta: f64) -> Result<Prior> {
        let d = frame.dimension();
        let mut prior = Prior::neutral(self.covariance, d, beta);
        prior.freedom = self.freedom;
        prior.gamma = self.gamma;
        prior.eta = self.eta;
        prior.mu0.clone_from(&frame.centre);
        if let Some(mu0) = &self.mu0 {
            if mu0.len() != d {
                return Err(Error::shape("mu0", d, mu0.len()));
            }
            demand(mu0.iter().all(|m| m.is_finite()), "mu0", "finite", "not so")?;
            prior.mu0.clone_from(mu0);
        }
        if let Some(a) = self.a {
            let least = format!("at least d/2 = {}", d as f64 / 2.0);
            demand(a.is_finite() && 2.0 * a >= d as f64, "a", &least, a)?;
            prior.extra = 2.0 * a - d as f64;
        }
        if let Some(b) = &self.b {
            prior.b = prior::matrix("b", b, d)?;
            prior.b.iter_mut().for_each(|entry| *entry *= beta);
        }
        Ok(prior)
    }

    /// The starts, and how long each is followed.
    pub(super) fn plan(&self) -> (Vec<Start>, Stop) {
        if self.schedule == Schedule::Sw99 {
            let starts = vec![Start::Kmeans, Start::Kmeans, Start::Random, Start::Random];
            return (starts, Stop { tolerance: 0.0, iterations: 10 });
        }
        let restarts = match self.start {
            Start::Given(_) => 1,
            _ => self.restarts,
        };
        let stop = Stop { tolerance: self.tolerance, iterations: self.iterations };
        (vec![self.start.clone(); restarts], stop)
    }
}
