//! The fitted mixture: densities, draws, marginals, conditionals and the cdf, all in closed form.

use rand::{Rng, RngExt};
use rand_distr::{Gamma, StandardNormal};
use serde::{Deserialize, Serialize};

use super::data::Units;
use super::expect::Densities;
use super::normals::{Collapse, Factors, Normals, Shape, Tail};
use super::pass::log_densities;
use super::start::Given;
use crate::error::{Error, Place, Result};
use crate::learner::density::DensityModel;
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::math::{log_sum_exp, student_two_sided};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Density;

/// A mixture of normal densities, `p(x) = sum_i kappa_i N(x | mu_i, Sigma_i)`, or of Student's t.
///
/// A row with missing values (NaN) gets the density of the values it has, 1 if it has none.
#[derive(Debug, Clone)]
pub struct FittedMixture {
    units: Units,
    normals: Normals,
    factors: Factors,
    densities: Densities,
    /// `ln |dz/dx|` of complete rows.
    ln_jacobian: f64,
    diagnostics: Diagnostics,
}

/// The stored form.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    units: Units,
    normals: Normals,
    converged: Option<bool>,
    iterations: Option<usize>,
    objective: Option<f64>,
    notes: Vec<String>,
}

impl FittedMixture {
    pub(crate) fn new(
        units: Units,
        mut normals: Normals,
        diagnostics: Diagnostics,
    ) -> Result<Self, Collapse> {
        normals.normalise();
        let factors = normals.factorise()?;
        Ok(Self {
            densities: Densities::new(&normals, &factors),
            ln_jacobian: units.ln_jacobian(&units.shift),
            units,
            normals,
            factors,
            diagnostics,
        })
    }

    /// Adds to what the user should know of the fit.
    pub(super) fn add_notes(&mut self, notes: Vec<String>) {
        self.diagnostics.notes.extend(notes);
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.normals.components()
    }

    /// Weights, means and covariances of the components, in the units of the data. Also a start for another fit.
    pub fn parameters(&self) -> Given {
        let (d, units) = (self.normals.dimension(), &self.units);
        let mean = |k| {
            let mean = self.normals.mean(k).iter().enumerate();
            mean.map(|(j, &z)| units.outward(j, z)).collect()
        };
        let entry = |k, i: usize, j: usize| {
            self.normals.covariance_at(k, i, j) * units.scale[i] * units.scale[j]
        };
        let row = |k, i| (0..d).map(|j| entry(k, i, j)).collect();
        let covariance = |k| (0..d).map(|i| row(k, i)).collect();
        Given {
            weights: self.normals.weights.clone(),
            means: (0..self.components()).map(mean).collect(),
            covariances: (0..self.components()).map(covariance).collect(),
        }
    }

    /// The components in numbers.
    fn described(&self) -> Vec<Series> {
        let Given { weights, means, covariances } = self.parameters();
        let component = |k: usize| format!("component {}", k + 1);
        let spread = if self.normals.freedom.is_some() { "scale" } else { "standard deviation" };
        let cells = |name: &str, value: &dyn Fn(usize, usize) -> f64| {
            let places = (0..self.components())
                .flat_map(|k| (0..self.normals.dimension()).map(move |j| (k, j)));
            let (labels, values) = places
                .map(|(k, j)| (format!("column {} of {}", j + 1, component(k)), value(k, j)))
                .unzip();
            Series { name: name.into(), labels, values, is_numbered: true }
        };
        vec![
            Series {
                name: "weight".into(),
                labels: (0..weights.len()).map(component).collect(),
                values: weights,
                is_numbered: true,
            },
            cells("mean", &|k, j| means[k][j]),
            cells(spread, &|k, j| covariances[k][j][j].sqrt()),
        ]
    }

    /// Writes the model under the name of a kind.
    pub(crate) fn record_as(&self, kind: &str, version: u32) -> Result<Record> {
        let Diagnostics { converged, iterations, objective, notes, series: _ } =
            self.diagnostics.clone();
        let (units, normals) = (self.units.clone(), self.normals.clone());
        Record::new(
            kind,
            version,
            &Body { units, normals, converged, iterations, objective, notes },
        )
    }

    /// Reads the model back, whatever the kind.
    pub(crate) fn restore_from(record: &Record) -> Result<Self> {
        let Body { units, normals, converged, iterations, objective, notes } = record.read()?;
        let damaged =
            || Error::param("model file", format!("a readable '{}'", record.kind()), "damaged");
        if !normals.is_consistent() || !units.is_consistent(normals.dimension()) {
            return Err(damaged());
        }
        let diagnostics =
            Diagnostics { converged, iterations, objective, notes, ..Diagnostics::default() };
        Self::new(units, normals, diagnostics).map_err(|_| damaged())
    }

    /// The density of chosen columns.
    pub(crate) fn marginal_of(&self, columns: &[usize]) -> Result<Self> {
        check_columns(columns, self.normals.dimension())?;
        let normals = self.normals.marginal(columns);
        Self::new(self.units.select(columns), normals, self.diagnostics.clone()).map_err(singular)
    }

    /// The density of the remaining columns given some.
    ///
    /// `p(x_r | x_g) = sum_i h_i N(x_r | mu_r + A_i (x_g - mu_g), C_i)`, `h_i` proportional to `kappa_i N(x_g | i)`. Of Student's t with more degrees
    /// of freedom, and wider the further out `x_g` is.
    pub(crate) fn condition_on(&self, given: &[(usize, f64)]) -> Result<Self> {
        let d = self.normals.dimension();
        let columns: Vec<usize> = given.iter().map(|(j, _)| *j).collect();
        check_columns(&columns, d)?;
        if let Some((_, value)) = given.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::param("given value", "a finite number", value));
        }
        let rest: Vec<usize> = (0..d).filter(|j| !columns.contains(j)).collect();
        if rest.is_empty() {
            return Err(Error::param("given columns", format!("fewer than {d}"), columns.len()));
        }
        let z: Vec<f64> = given.iter().map(|&(j, x)| self.units.inward(j, x)).collect();
        let normals = self.condition_components(&columns, &rest, &z)?;
        Self::new(self.units.select(&rest), normals, self.diagnostics.clone()).map_err(singular)
    }

    fn condition_components(&self, given: &[usize], rest: &[usize], z: &[f64]) -> Result<Normals> {
        let marginal = self.normals.marginal(given);
        let factors = marginal.factorise().map_err(singular)?;
        let tail = Tail::new(given.len(), self.normals.freedom);
        let mut conditional = self.normals.marginal(rest);
        conditional.covariances.clear();
        conditional.freedom = tail.freedom_of_rest();
        // Scales that were the same no longer are.
        if conditional.freedom.is_some() && conditional.shape == Shape::Tied {
            conditional.shape = Shape::Full;
        }
        let mut logs = Vec::with_capacity(self.components());
        for k in 0..self.components() {
            let mean = marginal.mean(k).iter();
            let deviation: Vec<f64> = z.iter().zip(mean).map(|(z, mean)| z - mean).collect();
            let distance = factors.distance(k, &deviation);
            let ln_density =
                tail.ln_normaliser() + factors.ln_root(k, given.len()) + tail.ln_fall(distance);
            logs.push(self.normals.weights[k].ln() + ln_density);
            let regression = self.normals.regress(k, given, rest, &factors);
            let rows = regression.coefficients.chunks_exact(given.len());
            let means = conditional.means[k * rest.len()..].iter_mut();
            for (mean, row) in means.zip(rows) {
                *mean += row.iter().zip(&deviation).map(|(a, v)| a * v).sum::<f64>();
            }
            if k < conditional.shape.count(self.components()) {
                let stretch = tail.stretch(distance);
                conditional.covariances.extend(regression.residual.iter().map(|c| c * stretch));
            }
        }
        let total = log_sum_exp(&logs);
        if !total.is_finite() {
            let problem = "the given values have density 0 under every component";
            return Err(Error::data(Place::default(), problem));
        }
        conditional.weights = logs.iter().map(|log| (log - total).exp()).collect();
        Ok(conditional)
    }
}

impl Fitted<Density> for FittedMixture {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let d = self.normals.dimension();
        if x.width() != d {
            return Err(Error::shape("columns", d, x.width()));
        }
        log_densities(x, &self.units, &self.normals, &self.densities, out).map_err(singular)?;
        for (value, row) in out.iter_mut().zip(x.iter()) {
            // Missing values are no NaN here: what is left comes from infinities, where every component's density is 0.
            *value = if value.is_nan() {
                f64::NEG_INFINITY
            } else if row.iter().any(|x| x.is_nan()) {
                *value + self.units.ln_jacobian(row)
            } else {
                *value + self.ln_jacobian
            };
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.normals.dimension(), 1), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.record_as(Self::KIND, Self::VERSION)
    }

    fn parameters(&self) -> Parameters {
        let (k, d) = (self.components(), self.normals.dimension());
        let Given { weights, means, covariances } = self.parameters();
        Parameters::new(Self::KIND)
            .with("weights", weights)
            .with_array("means", &[k, d], means.concat())
            .with_array("covariances", &[k, d, d], covariances.concat().concat())
            .with_some("freedom", self.normals.freedom)
    }

    /// How the fit went, and the components' weights, means and standard deviations.
    fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        diagnostics.series.extend(self.described());
        diagnostics
    }

    fn free_parameters(&self) -> Option<usize> {
        let (k, d) = (self.components(), self.normals.dimension());
        let covariances = match self.normals.shape {
            Shape::Full => k * d * (d + 1) / 2,
            Shape::Tied => d * (d + 1) / 2,
            Shape::Diagonal => k * d,
        };
        Some(k - 1 + k * d + covariances)
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        Some(self)
    }
}

impl DensityModel for FittedMixture {
    fn dimension(&self) -> usize {
        self.normals.dimension()
    }

    fn sample_into(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let mut left = rng.random::<f64>();
        let mut component = 0;
        for (k, weight) in self.normals.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            component = k;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        out.fill_with(|| rng.sample(StandardNormal));
        if let Some(pulls) = self.normals.freedom.and_then(|nu| Gamma::new(0.5 * nu, 2.0 / nu).ok())
        {
            let pull: f64 = rng.sample(pulls).max(f64::MIN_POSITIVE);
            out.iter_mut().for_each(|z| *z /= pull.sqrt());
        }
        self.factors.spread(component, out);
        for (j, (out, mean)) in out.iter_mut().zip(self.normals.mean(component)).enumerate() {
            *out = self.units.outward(j, *out + mean);
        }
    }

    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>> {
        Ok(Box::new(self.marginal_of(columns)?))
    }

    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>> {
        Ok(Box::new(self.condition_on(given)?))
    }

    fn cdf(&self, x: f64) -> Result<f64> {
        if self.normals.dimension() != 1 {
            return Err(Error::shape(
                "columns of a density with a cdf",
                1,
                self.normals.dimension(),
            ));
        }
        let z = self.units.inward(0, x);
        let below = |k: usize| {
            let y = (z - self.normals.mean(k)[0]) * self.factors.of(k)[0];
            let Some(freedom) = self.normals.freedom else {
                return 0.5 * libm::erfc(-y * std::f64::consts::FRAC_1_SQRT_2);
            };
            let beyond = 0.5 * student_two_sided(y, freedom);
            if y > 0.0 { 1.0 - beyond } else { beyond }
        };
        Ok((0..self.components()).map(|k| self.normals.weights[k] * below(k)).sum())
    }

    fn boxed(&self) -> Box<dyn DensityModel> {
        Box::new(self.clone())
    }
}

impl Stored<Density> for FittedMixture {
    const KIND: &'static str = "mixture";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Self::restore_from(record)
    }
}

/// Columns named once each, all there.
pub(crate) fn check_columns(columns: &[usize], dimension: usize) -> Result<()> {
    if columns.is_empty() {
        return Err(Error::param("columns", "at least one", "none"));
    }
    if let Some(j) = columns.iter().find(|j| **j >= dimension) {
        return Err(Error::param("column", format!("below {dimension}"), j));
    }
    match (1..columns.len()).find(|&i| columns[..i].contains(&columns[i])) {
        None => Ok(()),
        Some(i) => Err(Error::param("columns", "different", format!("twice {}", columns[i]))),
    }
}

/// A part of a positive definite matrix that rounding has made singular.
pub(crate) fn singular(collapse: Collapse) -> Error {
    let problem = format!(
        "the covariance of component {} is singular to working precision for these columns",
        collapse.component + 1
    );
    Error::data(Place::default(), problem)
}
