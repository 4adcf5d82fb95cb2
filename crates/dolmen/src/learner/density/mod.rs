//! Density learners, and what density models can do beyond saying ln p(x).

pub mod averaged;
pub mod gaussian;
pub mod kernel;
pub mod mixture;

pub use averaged::{Averaged, Averaging, FittedAverage, Resample};
pub use gaussian::{FittedGaussian, Gaussian};
pub use kernel::{FittedKernel, KernelDensity};
pub use mixture::{FittedMixture, GaussianMixture};

use rand_chacha::ChaCha8Rng;

use super::Fitted;
use crate::error::{Error, Result};
use crate::task::Density;

/// A fitted density over numeric columns.
pub trait DensityModel: Fitted<Density> {
    /// Number of columns.
    fn dimension(&self) -> usize;

    /// Draws one row.
    fn sample_into(&self, rng: &mut ChaCha8Rng, out: &mut [f64]);

    /// The density of chosen columns, in that order, the others integrated out.
    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>>;

    /// The density of the remaining columns, in order, given the values of some: `(column, value)`.
    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>>;

    /// The probability of a value of at most `x`, for a density of one column.
    fn cdf(&self, x: f64) -> Result<f64>;

    /// A copy behind the trait.
    fn boxed(&self) -> Box<dyn DensityModel>;

    /// The value below which a share `p` of a one-column density lies.
    ///
    /// Bisection of the cdf down to neighbouring floats: it works for flat and stepped cdfs alike.
    fn quantile(&self, p: f64) -> Result<f64> {
        if !(p > 0.0 && p < 1.0) {
            return Err(Error::param("p", "between 0 and 1", p));
        }
        let (mut low, mut high) = (-1.0, 1.0);
        while self.cdf(low)? >= p {
            low *= 2.0;
        }
        while self.cdf(high)? < p {
            high *= 2.0;
        }
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return Ok(high);
            }
            if self.cdf(middle)? < p { low = middle } else { high = middle }
        }
    }
}
