//! The fitted density: draws, marginals, conditionals and the cdf, all in closed form.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::columns::{At, Column};
use super::em::Climb;
use super::part::{Evaluated, Part, Place};
use crate::error::{self, Error, Result};
use crate::learner::density::DensityModel;
use crate::learner::density::mixture::{Units, check_columns};
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::math::log_sum_exp;
use crate::store::{Parameters, Record, Registry, are_shares};
use crate::table::{Rows, Schema};
use crate::task::Density;

/// A mixture of products: each column is in the cell of one of its atoms, or normal elsewhere.
///
/// A row with missing values (NaN) gets the density of the values it has, 1 if it has none.
#[derive(Debug, Clone)]
pub struct FittedAtoms {
    units: Units,
    columns: Vec<Column>,
    weights: Vec<f64>,
    /// Column after column of a component, component after component.
    parts: Vec<Part>,
    evaluated: Vec<Evaluated>,
    diagnostics: Diagnostics,
}

/// The stored form.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    units: Units,
    columns: Vec<Column>,
    #[serde(with = "crate::store::floats")]
    weights: Vec<f64>,
    parts: Vec<Part>,
    diagnostics: Diagnostics,
}

impl FittedAtoms {
    pub(super) fn new(units: Units, columns: Vec<Column>, climb: Climb) -> Self {
        let Climb { weights, parts, diagnostics, .. } = climb;
        Self::of(Body { units, columns, weights, parts, diagnostics })
    }

    /// Prepares what evaluating it takes.
    fn of(body: Body) -> Self {
        let Body { units, columns, weights, parts, diagnostics } = body;
        let d = columns.len();
        let evaluate = |(e, part): (usize, &Part)| part.evaluated(place(&columns, &units, e % d));
        let evaluated = parts.iter().enumerate().map(evaluate).collect();
        Self { units, columns, weights, parts, evaluated, diagnostics }
    }

    fn place(&self, column: usize) -> Place<'_> {
        place(&self.columns, &self.units, column)
    }

    /// A component's parts, each with its column's number.
    fn parts_of(&self, component: usize) -> impl Iterator<Item = (usize, &Part)> {
        let d = self.columns.len();
        self.parts[component * d..][..d].iter().enumerate()
    }

    /// Where a value is, and the value in units of the fit.
    fn seen(&self, column: usize, x: f64) -> (At, f64) {
        (self.columns[column].at(x), self.place(column).inward(x))
    }

    /// The log density of what was seen of a column, in one component.
    fn ln_part(&self, component: usize, column: usize, (at, z): (At, f64)) -> f64 {
        let e = component * self.columns.len() + column;
        self.parts[e].ln_density(&self.evaluated[e], at, z)
    }

    /// A component, drawn by its weight.
    fn draw_component(&self, rng: &mut dyn Rng) -> usize {
        let mut left = rng.random::<f64>();
        let mut component = 0;
        for (k, weight) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            component = k;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        component
    }

    /// The density of chosen columns with these weights of the components.
    fn with(&self, columns: &[usize], weights: Vec<f64>) -> Self {
        let parts = (0..self.weights.len())
            .flat_map(|k| columns.iter().map(move |j| k * self.columns.len() + j))
            .map(|e| self.parts[e].clone());
        Self::of(Body {
            units: self.units.select(columns),
            columns: columns.iter().map(|&j| self.columns[j].clone()).collect(),
            weights,
            parts: parts.collect(),
            diagnostics: self.diagnostics.clone(),
        })
    }

    /// The shares of the atoms in all components together, atom by atom.
    fn described(&self) -> Vec<Series> {
        let mut shares = Series { name: "share of the rows".into(), ..Series::default() };
        for (j, column) in self.columns.iter().enumerate() {
            for (l, atom) in column.atoms().iter().enumerate() {
                let of = |(k, w): (usize, &f64)| {
                    w * self.parts[k * self.columns.len() + j].shares[l + 1]
                };
                shares.labels.push(format!("column {} at {atom}", j + 1));
                shares.values.push(self.weights.iter().enumerate().map(of).sum());
            }
        }
        if shares.values.is_empty() { Vec::new() } else { vec![shares] }
    }
}

fn place<'a>(columns: &'a [Column], units: &Units, j: usize) -> Place<'a> {
    Place { column: &columns[j], shift: units.shift(j), scale: units.scale(j) }
}

impl Fitted<Density> for FittedAtoms {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let d = self.columns.len();
        if x.width() != d {
            return Err(Error::shape("columns", d, x.width()));
        }
        let mut logs = vec![0.0; self.weights.len()];
        let mut row_seen = vec![(At::Missing, 0.0); d];
        for (out, row) in out.iter_mut().zip(x.iter()) {
            for (j, (seen, &x)) in row_seen.iter_mut().zip(row).enumerate() {
                *seen = self.seen(j, x);
            }
            for (k, log) in logs.iter_mut().enumerate() {
                let parts = row_seen.iter().enumerate().map(|(j, seen)| self.ln_part(k, j, *seen));
                *log = self.weights[k].ln() + parts.sum::<f64>();
            }
            *out = log_sum_exp(&logs);
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.columns.len(), 1), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        let body = Body {
            units: self.units.clone(),
            columns: self.columns.clone(),
            weights: self.weights.clone(),
            parts: self.parts.clone(),
            diagnostics: self.diagnostics.clone(),
        };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    /// Means and deviations of what is elsewhere in the units of the data, component after component; of each column its atoms and the width of their cells, and
    /// the shares component after component, elsewhere first.
    fn parameters(&self) -> Parameters {
        let (k, d) = (self.weights.len(), self.columns.len());
        let outward = |(e, part): (usize, &Part)| self.units.outward(e % d, part.mean);
        let wide = |(e, part): (usize, &Part)| self.units.scale(e % d) * part.deviation;
        let numbers = |of: &dyn Fn((usize, &Part)) -> f64| -> Vec<f64> {
            self.parts.iter().enumerate().map(of).collect()
        };
        let column = |(j, column): (usize, &Column)| {
            let shares = (0..k).flat_map(|k| self.parts[k * d + j].shares.iter().copied());
            Parameters::new("column")
                .with("atoms", column.atoms())
                .with("cell", column.cell())
                .with_array("shares", &[k, column.atoms().len() + 1], shares.collect::<Vec<_>>())
        };
        let columns: Vec<Parameters> = self.columns.iter().enumerate().map(column).collect();
        Parameters::new(Self::KIND)
            .with("weights", &self.weights)
            .with_array("means", &[k, d], numbers(&outward))
            .with_array("deviations", &[k, d], numbers(&wide))
            .with("columns", columns)
    }

    /// How the fit went, and how much of the rows is at each atom.
    fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        diagnostics.series.extend(self.described());
        diagnostics
    }

    fn free_parameters(&self) -> Option<usize> {
        let of_parts = self.columns.iter().map(|column| column.atoms().len() + 2).sum::<usize>();
        Some(self.weights.len() * (of_parts + 1) - 1)
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        Some(self)
    }
}

impl DensityModel for FittedAtoms {
    fn dimension(&self) -> usize {
        self.columns.len()
    }

    /// Atoms are drawn as themselves, not as a place in their cell.
    fn sample_into(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let component = self.draw_component(rng);
        for ((j, part), out) in self.parts_of(component).zip(out) {
            *out = part.draw(self.place(j), rng);
        }
    }

    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>> {
        check_columns(columns, self.columns.len())?;
        Ok(Box::new(self.with(columns, self.weights.clone())))
    }

    /// Columns are independent within a component: only the weights change, to `kappa_k p_k(x_given)`.
    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>> {
        let d = self.columns.len();
        let columns: Vec<usize> = given.iter().map(|(j, _)| *j).collect();
        check_columns(&columns, d)?;
        if let Some((_, value)) = given.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::param("given value", "a finite number", value));
        }
        let rest: Vec<usize> = (0..d).filter(|j| !columns.contains(j)).collect();
        if rest.is_empty() {
            return Err(Error::param("given columns", format!("fewer than {d}"), columns.len()));
        }
        let log = |k: usize| {
            let parts = given.iter().map(|&(j, x)| self.ln_part(k, j, self.seen(j, x)));
            self.weights[k].ln() + parts.sum::<f64>()
        };
        let logs: Vec<f64> = (0..self.weights.len()).map(log).collect();
        let total = log_sum_exp(&logs);
        if !total.is_finite() {
            let problem = "the given values have density 0 under every component";
            return Err(Error::data(error::Place::default(), problem));
        }
        let weights = logs.iter().map(|log| (log - total).exp()).collect();
        Ok(Box::new(self.with(&rest, weights)))
    }

    fn cdf(&self, x: f64) -> Result<f64> {
        if self.columns.len() != 1 {
            return Err(Error::shape("columns of a density with a cdf", 1, self.columns.len()));
        }
        let parts = self.weights.iter().zip(&self.parts);
        Ok(parts.map(|(weight, part)| weight * part.cdf(x, self.place(0))).sum())
    }

    fn boxed(&self) -> Box<dyn DensityModel> {
        Box::new(self.clone())
    }
}

impl Stored<Density> for FittedAtoms {
    const KIND: &'static str = "atoms";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        let d = body.columns.len();
        record.require(d > 0 && body.units.is_consistent(d) && are_shares(&body.weights))?;
        record.require(body.columns.iter().all(Column::is_consistent))?;
        record.require(Some(body.parts.len()) == body.weights.len().checked_mul(d))?;
        let mut parts = body.parts.iter().enumerate();
        record.require(parts.all(|(e, p)| p.is_consistent(body.columns[e % d].atoms().len())))?;
        Ok(Self::of(body))
    }
}
