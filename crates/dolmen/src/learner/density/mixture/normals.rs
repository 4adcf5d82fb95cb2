//! Weighted normal components, or with degrees of freedom those of Student's t: their parameters, factors, marginals and conditionals.

use serde::{Deserialize, Serialize};

use crate::math::cholesky;
use crate::store::are_shares;

/// ln(2 pi).
const LN_TWO_PI: f64 = 1.837_877_066_409_345_5;

/// How covariances are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// One d x d matrix per component.
    Full,
    /// One d x d matrix for all components.
    Tied,
    /// d variances per component.
    Diagonal,
}

/// Components `sum_i kappa_i N(x | mu_i, Sigma_i)`; with degrees of freedom `sum_i kappa_i t(x | mu_i, Sigma_i, nu)`, whose Sigma are scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Normals {
    pub(super) dimension: usize,
    pub(super) shape: Shape,
    /// kappa_i.
    #[serde(with = "crate::store::floats")]
    pub(super) weights: Vec<f64>,
    /// mu_i, one after the other.
    #[serde(with = "crate::store::floats")]
    pub(super) means: Vec<f64>,
    /// Sigma_i, one after the other, as the shape says.
    #[serde(with = "crate::store::floats")]
    pub(super) covariances: Vec<f64>,
    /// nu, if they are Student's t.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) freedom: Option<f64>,
}

/// The inverse Cholesky factors W of covariances: `Sigma^-1 = W' W`; reciprocal deviations for diagonal ones.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    inverse: Vec<f64>,
    size: usize,
}

/// A component whose covariance is not positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Collapse {
    pub(super) component: usize,
    /// The first column that adds no spread of its own.
    pub(super) column: usize,
}

/// The distribution of some columns given others: `E[x_r | x_g] = mu_r + A (x_g - mu_g)`, `Cov = C`.
#[derive(Debug)]
pub(super) struct Regression {
    /// A, rest x given.
    pub(super) coefficients: Vec<f64>,
    /// C, rest x rest; its diagonal if the covariance is diagonal.
    pub(super) residual: Vec<f64>,
}

impl Shape {
    /// Numbers in one covariance.
    pub(super) fn size(self, dimension: usize) -> usize {
        match self {
            Self::Full | Self::Tied => dimension * dimension,
            Self::Diagonal => dimension,
        }
    }

    /// Covariances kept for this many components.
    pub(super) fn count(self, components: usize) -> usize {
        match self {
            Self::Tied => 1,
            Self::Full | Self::Diagonal => components,
        }
    }
}

impl Normals {
    /// Number of components.
    pub(crate) fn components(&self) -> usize {
        self.weights.len()
    }

    /// Number of columns.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn mean(&self, component: usize) -> &[f64] {
        &self.means[component * self.dimension..][..self.dimension]
    }

    pub(super) fn covariance(&self, component: usize) -> &[f64] {
        entry(&self.covariances, self.size(), component)
    }

    /// One entry of a component's covariance matrix.
    pub(super) fn covariance_at(&self, component: usize, i: usize, j: usize) -> f64 {
        let covariance = self.covariance(component);
        match self.shape {
            Shape::Full | Shape::Tied => covariance[i * self.dimension + j],
            Shape::Diagonal if i == j => covariance[i],
            Shape::Diagonal => 0.0,
        }
    }

    fn size(&self) -> usize {
        self.shape.size(self.dimension)
    }

    fn covariance_numbers(&self) -> Option<usize> {
        self.dimension.checked_pow(2)?;
        self.shape.count(self.components()).checked_mul(self.size())
    }

    /// Whether the arrays have the lengths that belong together; read from a file they might not.
    pub(super) fn is_consistent(&self) -> bool {
        let (k, d) = (self.components(), self.dimension);
        k > 0
            && d > 0
            && Some(self.means.len()) == k.checked_mul(d)
            && Some(self.covariances.len()) == self.covariance_numbers()
            && self.means.iter().all(|m| m.is_finite())
            && self.freedom.is_none_or(|freedom| freedom.is_finite() && freedom > 0.0)
            && are_shares(&self.weights)
    }

    /// Makes the weights sum to 1 where they are further from it than rounding explains: they come from sums over rows, whose
    /// order of magnitude may be any.
    pub(super) fn normalise(&mut self) {
        let total: f64 = self.weights.iter().sum();
        if (total - 1.0).abs() > 4.0 * self.components() as f64 * f64::EPSILON {
            self.weights.iter_mut().for_each(|weight| *weight /= total);
        }
    }

    /// Factorises every covariance.
    pub(crate) fn factorise(&self) -> Result<Factors, Collapse> {
        let (d, size) = (self.dimension, self.size());
        let mut inverse = self.covariances.clone();
        // A row may have no value at all: a density of no columns.
        for (component, covariance) in inverse.chunks_exact_mut(size.max(1)).enumerate() {
            let collapsed = |column| Collapse { component, column };
            match self.shape {
                Shape::Full | Shape::Tied => {
                    cholesky::factorise(covariance, d).map_err(collapsed)?;
                    cholesky::invert_lower(covariance, d);
                }
                Shape::Diagonal => {
                    let usable = |v: &f64| *v > 0.0 && v.is_finite();
                    if let Some(column) = covariance.iter().position(|v| !usable(v)) {
                        return Err(collapsed(column));
                    }
                    for v in covariance {
                        *v = 1.0 / v.sqrt();
                    }
                }
            }
        }
        Ok(Factors { inverse, size })
    }

    /// The components of chosen columns, in that order.
    pub(super) fn marginal(&self, columns: &[usize]) -> Self {
        let mut means = Vec::with_capacity(self.components() * columns.len());
        for component in 0..self.components() {
            means.extend(columns.iter().map(|&j| self.mean(component)[j]));
        }
        let mut covariances = Vec::new();
        for component in 0..self.shape.count(self.components()) {
            let covariance = self.covariance(component);
            match self.shape {
                Shape::Diagonal => covariances.extend(columns.iter().map(|&j| covariance[j])),
                Shape::Full | Shape::Tied => covariances.extend(columns.iter().flat_map(|&i| {
                    let row = &covariance[i * self.dimension..][..self.dimension];
                    columns.iter().map(|&j| row[j])
                })),
            }
        }
        Self {
            dimension: columns.len(),
            shape: self.shape,
            weights: self.weights.clone(),
            means,
            covariances,
            freedom: self.freedom,
        }
    }

    /// How `rest` depends on `given` in one component; `factors` are those of the marginal of `given`.
    ///
    /// With `T = W Sigma_gr`: `A = T' W`, `C = Sigma_rr - T' T`.
    pub(super) fn regress(
        &self,
        component: usize,
        given: &[usize],
        rest: &[usize],
        factors: &Factors,
    ) -> Regression {
        let at = |i: usize, j: usize| self.covariance_at(component, i, j);
        if self.shape == Shape::Diagonal {
            return Regression {
                coefficients: vec![0.0; rest.len() * given.len()],
                residual: rest.iter().map(|&j| at(j, j)).collect(),
            };
        }
        let (g, r) = (given.len(), rest.len());
        let w = factors.of(component);
        let mut t = vec![0.0; r * g];
        for (t, &j) in t.chunks_exact_mut(g.max(1)).zip(rest) {
            for (i, t) in t.iter_mut().enumerate() {
                let row = w[i * g..=i * g + i].iter();
                *t = row.zip(given).map(|(w, &k)| w * at(k, j)).sum();
            }
        }
        let mut coefficients = vec![0.0; r * g];
        for (a, t) in coefficients.chunks_exact_mut(g.max(1)).zip(t.chunks_exact(g.max(1))) {
            for (i, t) in t.iter().enumerate() {
                for (a, w) in a.iter_mut().zip(&w[i * g..=i * g + i]) {
                    *a += t * w;
                }
            }
        }
        let mut residual = vec![0.0; r * r];
        for (i, &p) in rest.iter().enumerate() {
            for (j, &q) in rest.iter().enumerate() {
                let explained = t[i * g..][..g].iter().zip(&t[j * g..][..g]);
                residual[i * r + j] = at(p, q) - explained.map(|(x, y)| x * y).sum::<f64>();
            }
        }
        Regression { coefficients, residual }
    }
}

impl Factors {
    /// W of one component.
    pub(super) fn of(&self, component: usize) -> &[f64] {
        entry(&self.inverse, self.size, component)
    }

    /// `-1/2 ln |Sigma|` of one component.
    pub(super) fn ln_root(&self, component: usize, dimension: usize) -> f64 {
        let step = if self.size == dimension { 1 } else { dimension + 1 };
        self.of(component).iter().step_by(step).map(|w| w.ln()).sum()
    }

    /// `W v`, entry by entry, for one component.
    pub(super) fn times<'a>(
        &'a self,
        component: usize,
        v: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        let w = self.of(component);
        let d = v.len();
        let diagonal = self.size == d;
        (0..d).map(move |i| {
            if diagonal {
                w[i] * v[i]
            } else {
                w[i * d..=i * d + i].iter().zip(v).map(|(w, v)| w * v).sum()
            }
        })
    }

    /// `(x - mu)' Sigma^-1 (x - mu)` of one component at a deviation `x - mu`.
    pub(super) fn distance(&self, component: usize, deviation: &[f64]) -> f64 {
        self.times(component, deviation).map(|y| y * y).sum()
    }

    /// Replaces `z` by `Sigma^1/2 z`: standard normal numbers become deviations from the mean.
    pub(super) fn spread(&self, component: usize, z: &mut [f64]) {
        let w = self.of(component);
        let d = z.len();
        for i in 0..d {
            if self.size == d {
                z[i] /= w[i];
            } else {
                let known: f64 = w[i * d..i * d + i].iter().zip(&*z).map(|(w, z)| w * z).sum();
                z[i] = (z[i] - known) / w[i * d + i];
            }
        }
    }
}

/// How densities fall with the squared distance `s = (x - mu)' Sigma^-1 (x - mu)` in so many columns.
///
/// Normal ones are `(2 pi)^(-d/2) |Sigma|^(-1/2) exp(-s/2)`. Student's t are normal ones whose precision is multiplied,
/// row by row, by a chi-squared number over nu: `Gamma((nu + d)/2) / (Gamma(nu/2) (nu pi)^(d/2)) |Sigma|^(-1/2) (1 + s/nu)^(-(nu + d)/2)` (PeelMcLachlan2000,
/// eq. 8). Given a row, that number is `(nu + d) / (nu + s)` on average: by so much it pulls, and far-out rows pull little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tail {
    dimension: f64,
    freedom: Option<f64>,
}

impl Tail {
    pub(super) fn new(dimension: usize, freedom: Option<f64>) -> Self {
        Self { dimension: dimension as f64, freedom }
    }

    /// nu, and the power `(nu + d)/2` by which the density falls; `None` for normal ones.
    pub(super) fn heavy(self) -> Option<(f64, f64)> {
        self.freedom.map(|nu| (nu, 0.5 * (nu + self.dimension)))
    }

    /// The logarithm of the density's factor that depends on neither `s` nor Sigma.
    pub(super) fn ln_normaliser(self) -> f64 {
        match self.heavy() {
            None => -0.5 * self.dimension * LN_TWO_PI,
            Some((nu, power)) => {
                let scale = 0.5 * self.dimension * (nu * std::f64::consts::PI).ln();
                libm::lgamma(power) - libm::lgamma(0.5 * nu) - scale
            }
        }
    }

    /// The degrees of freedom of other columns given these.
    pub(super) fn freedom_of_rest(self) -> Option<f64> {
        self.freedom.map(|nu| nu + self.dimension)
    }

    /// By what the scale of other columns grows given these at a distance: the inverse of the pull.
    pub(super) fn stretch(self, distance: f64) -> f64 {
        self.freedom.map_or(1.0, |nu| (nu + distance) / (nu + self.dimension))
    }

    /// The logarithm of the factor that depends on `s`.
    pub(super) fn ln_fall(self, distance: f64) -> f64 {
        match self.heavy() {
            None => -0.5 * distance,
            Some((nu, power)) => -power * (distance / nu).ln_1p(),
        }
    }
}

/// The entry of a component in an array of one entry per component, or of one for all.
fn entry(all: &[f64], size: usize, component: usize) -> &[f64] {
    if all.len() == size { all } else { &all[component * size..][..size] }
}
