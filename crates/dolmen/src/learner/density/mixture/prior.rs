//! The conjugate prior of OrmoneitTresp1995 section 3 and the M-step it gives.
//!
//! Dirichlet(gamma) on the weights; per component Normal(mu | mu0, Sigma / eta) and Wishart(Sigma^-1 | a, B). With
//! `n_i = sum_k h_ik` over m rows, n components and d columns (eq. 5-7):
//!
//! ```text
//! kappa_i = (n_i + gamma - 1) / (m + n gamma - n)
//! mu_i    = (sum_k h_ik x_k + eta mu0) / (n_i + eta)
//! Sigma_i = (sum_k h_ik (x_k - mu_i)(x_k - mu_i)' + eta (mu_i - mu0)(mu_i - mu0)' + 2 B) / (n_i + 2a - d)
//! ```
//!
//! EM raises the log posterior, which is, without the prior's constants,
//! `loglik + sum_i [ (gamma - 1) ln kappa_i - (2a - d)/2 ln |Sigma_i| - tr(B Sigma_i^-1) - eta/2 |mu_i - mu0|^2_Sigma_i ]`.
//! Tied, diagonal and spherical covariances maximise the same posterior over fewer matrices: the numerators and the
//! denominators of eq. 7 are summed over what is shared, and off-diagonal entries are left out.
//!
//! Components of Student's t are normal ones given each row's pull `u_ik`: `h_ik u_ik` takes the place of `h_ik` in the numerators of eq. 6 and 7 and
//! in the denominator of eq. 6, and nothing else changes (PeelMcLachlan2000, eq. 20 and 21).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::normals::{Factors, Normals, Shape};
use super::pass::Sums;
use crate::error::{Error, Result};

/// Which covariance matrices the components may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// Any, for each component its own.
    #[default]
    Full,
    /// Any, the same for all components.
    Tied,
    /// Uncorrelated columns, for each component its own variances.
    Diagonal,
    /// Uncorrelated columns of equal variance (in the units of the fit), for each component its own.
    Spherical,
}

impl Covariance {
    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Full => Shape::Full,
            Self::Tied => Shape::Tied,
            Self::Diagonal | Self::Spherical => Shape::Diagonal,
        }
    }
}

/// The prior of one fit, all values settled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Prior {
    pub(super) covariance: Covariance,
    /// The components' degrees of freedom, if they are Student's t.
    pub(super) freedom: Option<f64>,
    /// Dirichlet parameter of the weights; 1 is neutral.
    pub(super) gamma: f64,
    /// Rows that the prior mean is worth; 0 is neutral.
    pub(super) eta: f64,
    /// The prior mean.
    pub(super) mu0: Vec<f64>,
    /// `2a - d`: rows added to the denominator of a covariance; 1 is neutral, 0 is maximum likelihood.
    pub(super) extra: f64,
    /// The Wishart matrix B, d x d.
    pub(super) b: Vec<f64>,
}

impl Prior {
    /// The neutral prior with `B = beta I`.
    pub(crate) fn neutral(covariance: Covariance, dimension: usize, beta: f64) -> Self {
        let mut b = vec![0.0; dimension * dimension];
        b.iter_mut().step_by(dimension + 1).for_each(|entry| *entry = beta);
        let mu0 = vec![0.0; dimension];
        Self { covariance, freedom: None, gamma: 1.0, eta: 0.0, mu0, extra: 1.0, b }
    }

    /// No prior: maximum likelihood.
    pub(crate) fn flat(covariance: Covariance, dimension: usize) -> Self {
        Self { extra: 0.0, ..Self::neutral(covariance, dimension, 0.0) }
    }

    /// The components that maximise the expected log posterior; `old` are those the sums were taken about.
    pub(super) fn maximise(&self, old: &Normals, sums: &Sums) -> Normals {
        let (k, d) = (old.components(), old.dimension());
        let mut new = old.clone();
        let total: f64 = sums.mass.iter().sum();
        let room = total + k as f64 * (self.gamma - 1.0);
        for (weight, mass) in new.weights.iter_mut().zip(&sums.mass) {
            *weight = (mass + self.gamma - 1.0) / room;
        }
        for (component, mean) in new.means.chunks_exact_mut(d).enumerate() {
            let mass = sums.pull[component] + self.eta;
            // A component without rows and without prior mean stays where it is.
            if mass > 0.0 {
                let first = &sums.first[component * d..][..d];
                for ((mean, first), mu0) in mean.iter_mut().zip(first).zip(&self.mu0) {
                    *mean += (first + self.eta * (mu0 - *mean)) / mass;
                }
            }
        }
        self.fill_covariances(old, sums, &mut new);
        new
    }

    /// Eq. 7 for the covariances of `new`, whose means are settled.
    fn fill_covariances(&self, old: &Normals, sums: &Sums, new: &mut Normals) {
        let (k, d, shape) = (old.components(), old.dimension(), old.shape);
        let mut covariances = vec![0.0; new.covariances.len()];
        let mut rows = vec![0.0; shape.count(k)];
        for component in 0..k {
            let slot = if shape == Shape::Tied { 0 } else { component };
            let size = shape.size(d);
            self.add_numerator(old, sums, new, component, &mut covariances[slot * size..][..size]);
            rows[slot] += sums.mass[component] + self.extra;
        }
        for (covariance, rows) in covariances.chunks_exact_mut(shape.size(d)).zip(rows) {
            for entry in covariance.iter_mut() {
                *entry /= rows;
            }
            if self.covariance == Covariance::Spherical {
                let mean = covariance.iter().sum::<f64>() / d as f64;
                covariance.fill(mean);
            }
        }
        new.covariances = covariances;
    }

    /// Adds one component's numerator of eq. 7, moments moved from the old mean to the new one.
    fn add_numerator(
        &self,
        old: &Normals,
        sums: &Sums,
        new: &Normals,
        component: usize,
        out: &mut [f64],
    ) {
        let d = old.dimension();
        let size = old.shape.size(d);
        let (mean, before) = (new.mean(component), old.mean(component));
        let first = &sums.first[component * d..][..d];
        let second = &sums.second[component * size..][..size];
        let mass = sums.pull[component];
        let entry = |i: usize, j: usize, second: f64| {
            let (step_i, step_j) = (mean[i] - before[i], mean[j] - before[j]);
            let scatter = second - first[i] * step_j - step_i * first[j] + mass * step_i * step_j;
            let pull = self.eta * (mean[i] - self.mu0[i]) * (mean[j] - self.mu0[j]);
            scatter + pull + 2.0 * self.b[i * d + j]
        };
        if old.shape == Shape::Diagonal {
            for (j, (out, second)) in out.iter_mut().zip(second).enumerate() {
                *out += entry(j, j, *second);
            }
            return;
        }
        for i in 0..d {
            for j in 0..=i {
                let value = entry(i, j, second[i * d + j]);
                out[i * d + j] += value;
                if i != j {
                    out[j * d + i] += value;
                }
            }
        }
    }

    /// The prior's part of the log posterior.
    pub(super) fn ln_density(&self, normals: &Normals, factors: &Factors) -> f64 {
        let d = normals.dimension();
        let mut sum = 0.0;
        for k in 0..normals.components() {
            if self.gamma > 1.0 {
                sum += (self.gamma - 1.0) * normals.weights[k].ln();
            }
            sum += self.extra * factors.ln_root(k, d) - self.trace(factors.of(k), d);
            if self.eta > 0.0 {
                let off = normals.mean(k).iter().zip(&self.mu0).map(|(m, mu0)| m - mu0);
                let off: Vec<f64> = off.collect();
                sum -= 0.5 * self.eta * factors.times(k, &off).map(|y| y * y).sum::<f64>();
            }
        }
        sum
    }

    /// `tr(B Sigma^-1) = sum_i w_i B w_i'`, `w_i` the rows of W.
    fn trace(&self, w: &[f64], d: usize) -> f64 {
        if w.len() == d {
            return (0..d).map(|j| w[j] * w[j] * self.b[j * d + j]).sum();
        }
        let mut sum = 0.0;
        for row in 0..d {
            let w = &w[row * d..=row * d + row];
            for (i, wi) in w.iter().enumerate() {
                let b = &self.b[i * d..][..w.len()];
                sum += wi * w.iter().zip(b).map(|(wj, b)| wj * b).sum::<f64>();
            }
        }
        sum
    }
}

/// Checks a matrix given as B: square, symmetric, of this size.
pub(super) fn matrix(name: &str, rows: &[Vec<f64>], dimension: usize) -> Result<Vec<f64>> {
    let square = rows.len() == dimension && rows.iter().all(|row| row.len() == dimension);
    if !square {
        return Err(Error::param(
            name,
            format!("a {dimension} x {dimension} matrix"),
            "another size",
        ));
    }
    let matrix = rows.concat();
    let mirrored = |e: usize| matrix[e % dimension * dimension + e / dimension];
    let symmetric = (0..matrix.len()).all(|e| {
        matrix[e].is_finite() && (matrix[e] - mirrored(e)).abs() <= 1e-12 * matrix[e].abs()
    });
    if symmetric { Ok(matrix) } else { Err(Error::param(name, "symmetric and finite", "not so")) }
}
