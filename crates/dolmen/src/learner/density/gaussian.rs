//! A single Gaussian.

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DensityModel;
use super::mixture::{Covariance, FittedMixture, GaussianPass, Given, Stop};
use crate::error::{Error, Result};
use crate::learner::Stored;
use crate::learner::pass::{AnyPass, fit_in_passes};
use crate::learner::{Diagnostics, Fitted, Learner, Sample};
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Density;

/// One Gaussian: by maximum likelihood (divisor N), or MAP with `beta` above 0.
///
/// It is a mixture of one component: MAP is the M-step of OrmoneitTresp1995 eq. 7, and rows with missing values are fitted by EM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gaussian {
    /// Which covariance matrices are allowed: full, diagonal or spherical.
    pub covariance: Covariance,
    /// The prior's knob, `Sigma = (scatter + 2 beta I) / (N + 1)`; 0 is maximum likelihood.
    #[schemars(range(min = 0.0))]
    pub beta: f64,
    /// Whether `beta` and `spherical` speak of the data in units of their mean and standard deviation (N-1).
    pub standardise: bool,
}

impl Default for Gaussian {
    fn default() -> Self {
        Self { covariance: Covariance::Full, beta: 0.0, standardise: true }
    }
}

/// EM for rows with missing values; complete rows need no iteration.
const WITH_MISSING: Stop = Stop { tolerance: 1e-9, iterations: 1000 };

impl Gaussian {
    fn validate(&self) -> Result<()> {
        if self.covariance == Covariance::Tied {
            return Err(Error::param("covariance", "full, diagonal or spherical", "tied"));
        }
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            return Err(Error::param("beta", "at least 0", self.beta));
        }
        Ok(())
    }

    /// Fits the Gaussian.
    pub fn fit_gaussian(&self, sample: &Sample<'_, Density>, run: &Run) -> Result<FittedGaussian> {
        let fitted = fit_in_passes(self.start(sample.x())?, sample, run)?.pop();
        fitted.ok_or_else(|| Error::shape("fitted densities", 1, 0))
    }

    fn start(&self, x: Rows<'_>) -> Result<GaussianPass> {
        self.validate()?;
        let Self { covariance, beta, standardise } = *self;
        GaussianPass::new(covariance, beta, standardise, WITH_MISSING, x)
    }
}

impl Learner<Density> for Gaussian {
    fn members(&self) -> Vec<String> {
        vec![Spec::of("gaussian", self).to_string()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Density>>>> {
        Ok(vec![Box::new(self.fit_gaussian(sample, run)?)])
    }

    fn pass(&self, x: Rows<'_>, _run: &Run) -> Option<Result<Box<dyn AnyPass<Density>>>> {
        Some(self.start(x).map(<dyn AnyPass<Density>>::of))
    }
}

/// A fitted Gaussian. A row with missing values gets the density of the values it has.
#[derive(Debug, Clone)]
pub struct FittedGaussian(FittedMixture);

impl FittedGaussian {
    pub(super) fn new(component: FittedMixture) -> Self {
        Self(component)
    }

    /// Mean and covariance, in the units of the data, as a component of weight 1.
    pub fn parameters(&self) -> Given {
        self.0.parameters()
    }
}

impl Fitted<Density> for FittedGaussian {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.0.predict_into(x, out)
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.0.validate(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.0.record_as(Self::KIND, Self::VERSION)
    }

    fn parameters(&self) -> Parameters {
        let (d, Given { means, covariances, .. }) = (self.0.dimension(), self.0.parameters());
        Parameters::new(Self::KIND).with("mean", means.concat()).with_array(
            "covariance",
            &[d, d],
            covariances.concat().concat(),
        )
    }

    fn diagnostics(&self) -> Diagnostics {
        self.0.diagnostics()
    }

    fn free_parameters(&self) -> Option<usize> {
        self.0.free_parameters()
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        Some(self)
    }
}

impl DensityModel for FittedGaussian {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn sample_into(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        self.0.sample_into(rng, out);
    }

    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>> {
        Ok(Box::new(Self(self.0.marginal_of(columns)?)))
    }

    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>> {
        Ok(Box::new(Self(self.0.condition_on(given)?)))
    }

    fn cdf(&self, x: f64) -> Result<f64> {
        self.0.cdf(x)
    }

    fn boxed(&self) -> Box<dyn DensityModel> {
        Box::new(self.clone())
    }
}

impl Stored<Density> for FittedGaussian {
    const KIND: &'static str = "gaussian";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Ok(Self(FittedMixture::restore_from(record)?))
    }
}
