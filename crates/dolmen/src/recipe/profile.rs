//! A density seen from one or two of its columns: the others are integrated out, which is exact for mixtures and product
//! kernels.

use serde::{Deserialize, Serialize};

use super::Sketch;
use super::model::{AnyModel, Model};
use crate::ensemble::Ensemble;
use crate::error::{Error, Place, Result};
use crate::learner::density::DensityModel;
use crate::learner::density::kernel::Shape;
use crate::learner::{Fitted, Parameters};
use crate::table::Features;
use crate::task::Density;

/// The density of one column: of the stack, and of each member with weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The column.
    pub name: String,
    /// Where it is looked at.
    pub x: Vec<f64>,
    /// The stack's density there.
    pub stack: Vec<f64>,
    /// The members', not yet times their weights.
    pub members: Vec<DensityCurve>,
}

/// A member's density.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DensityCurve {
    /// The member.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// Its density.
    pub values: Vec<f64>,
}

/// The density of two columns on a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// The columns.
    pub names: [String; 2],
    /// Where the first is looked at.
    pub x: Vec<f64>,
    /// Where the second is.
    pub y: Vec<f64>,
    /// The density: of the lowest y first, those of the lowest x first.
    pub values: Vec<f64>,
}

impl Surface {
    /// The height above which a share of the probability on the grid lies.
    pub fn height_holding(&self, share: f64) -> f64 {
        let mut heights = self.values.clone();
        heights.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = heights.iter().sum();
        let mut held = 0.0;
        let is_within = |height: &&f64| {
            held += **height;
            held >= share * total
        };
        heights.iter().find(is_within).copied().unwrap_or(0.0)
    }
}

/// So many even steps between two ends.
pub(super) fn steps([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|k| low + (high - low) * k as f64 / last).collect()
}

impl Model {
    /// The density of a column between two values; an error of models that are none, or whose members cannot be integrated.
    pub fn profile(&self, column: usize, range: [f64; 2], points: usize) -> Result<Profile> {
        let ensemble = self.stacked_density()?;
        able(ensemble.density())?;
        let x = steps(range, points);
        let weights = ensemble.combination().weights().unwrap_or_default();
        let mut members = Vec::new();
        for ((name, model), weight) in ensemble.names().zip(ensemble.models()).zip(weights) {
            if *weight > 0.0 {
                let values = densities(part(model.density(), column)?.as_ref(), x.clone())?;
                members.push(DensityCurve { name: name.into(), weight: *weight, values });
            }
        }
        // A density is the mixture of its members: where they are known so is it.
        let total: f64 = members.iter().map(|own| own.weight).sum();
        let mixed = |k: usize| members.iter().map(|own| own.weight / total * own.values[k]).sum();
        let stack = (0..x.len()).map(mixed).collect();
        Ok(Profile { name: self.column_name(column), x, stack, members })
    }

    /// The density of two columns on a grid of so many points each way.
    pub fn surface(
        &self,
        columns: [usize; 2],
        ranges: [[f64; 2]; 2],
        points: usize,
    ) -> Result<Surface> {
        let ensemble = self.stacked_density()?;
        let [x, y] = ranges.map(|range| steps(range, points));
        let values = able(ensemble.density())?.on_grid(columns, &x, &y)?;
        Ok(Surface { names: columns.map(|j| self.column_name(j)), x, y, values })
    }

    /// The kernels of a stack's kernel members in units of one column, and the kernel that they make together
    /// [SmythWolpert1999 Fig. 1]: a curve for each, the stack's with the others' weights scaled to sum to 1. `None` if no member
    /// with weight is a kernel density.
    pub fn effective_kernel(&self, column: usize, points: usize) -> Result<Option<Profile>> {
        let ensemble = self.stacked_density()?;
        let weights = ensemble.combination().weights().unwrap_or_default();
        let members = ensemble.names().zip(ensemble.models()).zip(weights);
        let kernels: Vec<(&str, f64, Shape, f64)> = members
            .filter(|(_, weight)| **weight > 0.0)
            .filter_map(|((name, model), weight)| {
                let (shape, bandwidth) = kernel(&model.parameters(), column)?;
                Some((name, *weight, shape, bandwidth))
            })
            .collect();
        let total: f64 = kernels.iter().map(|(_, weight, ..)| weight).sum();
        if kernels.is_empty() {
            return Ok(None);
        }
        // Wide kernels reach far; what is of interest is where narrow ones are, too.
        let widest = kernels.iter().map(|(.., bandwidth)| *bandwidth).fold(0.0, f64::max);
        let gaussian = kernels.iter().any(|(_, _, shape, _)| *shape == Shape::Gaussian);
        let reach = widest * if gaussian { 2.5 } else { 1.1 };
        let x = steps([-reach, reach], points);
        let curve = |(name, weight, shape, h): &(&str, f64, Shape, f64)| DensityCurve {
            name: (*name).into(),
            weight: weight / total,
            values: x.iter().map(|u| shape.value(u / h) / h).collect(),
        };
        let members: Vec<DensityCurve> = kernels.iter().map(curve).collect();
        let at = |k: usize| members.iter().map(|m| m.weight * m.values[k]).sum();
        let stack = (0..x.len()).map(at).collect();
        Ok(Some(Profile { name: self.column_name(column), x, stack, members }))
    }

    /// Where the values of a column lie: about the range of the rows learned from, or all but the outermost thousandths of
    /// the density, if the model does not know the rows' range.
    pub fn column_range(&self, column: usize) -> Result<[f64; 2]> {
        let sketches = self.evidence().map_or(&[][..], |evidence| &evidence.columns);
        if let Some(Sketch::Numbers(histogram)) = sketches.get(column).map(|own| &own.sketch) {
            // Where few rows are far off the mass may be, too: who looks at it finds that out.
            let [low, high] = histogram.beyond.map_or(histogram.range, |own| own.ends);
            let margin = 0.08 * (high - low);
            return Ok([low - margin, high + margin]);
        }
        let own = part(self.stacked_density()?.density(), column)?;
        Ok([own.quantile(0.001)?, own.quantile(0.999)?])
    }

    fn stacked_density(&self) -> Result<&Ensemble<Density>> {
        match self.any() {
            AnyModel::Density(model) => Ok(model),
            _ => Err(Error::data(
                Place::default(),
                format!("a model for {}: it has no density to draw", self.task()),
            )),
        }
    }

    fn column_name(&self, column: usize) -> String {
        self.schema().fields().get(column).map_or_else(String::new, |field| field.name.clone())
    }
}

/// The shape and a column's bandwidth of a kernel member, behind whatever it stands.
fn kernel(parameters: &Parameters, column: usize) -> Option<(Shape, f64)> {
    if let Some(inner) = parameters.part("model") {
        return kernel(inner, column);
    }
    let name = parameters.text("shape").filter(|_| parameters.kind() == "kernel")?;
    let shape = Shape::ALL.into_iter().find(|shape| shape.name() == name)?;
    Some((shape, *parameters.array("bandwidth")?.1.get(column)?))
}

/// A density that can be seen column by column; an error of one that cannot.
fn able(density: Option<&dyn DensityModel>) -> Result<&dyn DensityModel> {
    density.ok_or_else(|| {
        let problem = "a member of the stack, or its combination, cannot be seen column by column";
        Error::data(Place::default(), problem)
    })
}

/// The density of one column.
fn part(density: Option<&dyn DensityModel>, column: usize) -> Result<Box<dyn DensityModel>> {
    able(density)?.marginal(&[column])
}

fn densities(density: &dyn DensityModel, values: Vec<f64>) -> Result<Vec<f64>> {
    let x = Features::numeric(values, 1)?;
    let mut out = vec![0.0; x.rows().rows()];
    density.predict_into(x.rows(), &mut out)?;
    out.iter_mut().for_each(|log| *log = log.exp());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::run::Run;
    use crate::table::{Column, Table};

    fn fitted(members: &str) -> Model {
        let value = |i: u32, k: u32| f64::from((i * 37 + k * 11) % 101) / 10.0;
        let column = |k: u32| Column::Numeric((0..150).map(|i| value(i * (k + 1), k)).collect());
        let table = Table::new(vec![("a".into(), column(0)), ("b".into(), column(1))]).unwrap();
        let recipe = Recipe::from_toml(&format!("members = {members}\nkeep_stack = true")).unwrap();
        recipe.fit(&table, &Run::new(0)).unwrap().model
    }

    #[test]
    fn profiles_integrate_to_one_and_members_add_up_to_the_stack() {
        let model = fitted("['gaussian', 'kernel', 'mixture(components=2)']");
        let [low, high] = model.column_range(1).unwrap();
        let wide = [low - 30.0, high + 30.0];
        let profile = model.profile(1, wide, 2001).unwrap();
        let step = (wide[1] - wide[0]) / 2000.0;
        assert!((profile.stack.iter().sum::<f64>() * step - 1.0).abs() < 1e-6);
        for k in (0..2001).step_by(97) {
            let sum: f64 = profile.members.iter().map(|m| m.weight * m.values[k]).sum();
            assert!((sum - profile.stack[k]).abs() < 1e-9 * (1.0 + sum), "{k}");
        }
        assert_eq!(profile.name, "b");
    }

    #[test]
    fn surfaces_hold_their_probability_and_kernels_add_up() {
        let model = fitted("['kernel(bandwidth=[0.2, 0.6])', 'gaussian']");
        let surface = model.surface([0, 1], [[-20.0, 30.0], [-20.0, 30.0]], 101).unwrap();
        let cell = 0.5 * 0.5;
        assert!((surface.values.iter().sum::<f64>() * cell - 1.0).abs() < 1e-3);
        let half = surface.height_holding(0.5);
        let held: f64 = surface.values.iter().filter(|v| **v >= half).sum::<f64>() * cell;
        assert!((held - 0.5).abs() < 0.02, "{held}");
        if let Some(kernel) = model.effective_kernel(0, 401).unwrap() {
            let step = kernel.x[1] - kernel.x[0];
            assert!((kernel.stack.iter().sum::<f64>() * step - 1.0).abs() < 0.03);
            assert!((kernel.members.iter().map(|m| m.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let alone = fitted("['gaussian', 'mixture(components=2)']");
        assert_eq!(alone.effective_kernel(0, 11).unwrap(), None);
    }
}
