//! Who has a say where: the shares of experts, or the weights of members behind a gate, over one or two inputs, all others held at what
//! is usual.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sketch;
use super::model::{Model, with_model};
use crate::ensemble::Ensemble;
use crate::error::Result;
use crate::table::{Features, Kind, Schema};
use crate::task::Task;

/// Shares over one or two inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Routing {
    /// The member whose experts they are; empty for the members of the stack.
    pub member: String,
    /// The experts or members.
    pub parts: Vec<String>,
    /// The inputs: one or two.
    pub inputs: Vec<String>,
    /// The values of each input.
    pub values: Vec<Vec<f64>>,
    /// Each part's share: row after row of the grid, on which the first input moves fastest.
    pub shares: Vec<f64>,
    /// What the other inputs are held at, in words.
    pub held: Vec<(String, String)>,
}

/// Values of an input by which it is seen how much shares move along it.
const LOOKED_AT: usize = 21;

impl Routing {
    /// How far the shares move: the most less the least of each part, summed over the parts.
    fn movement(&self) -> f64 {
        let parts = self.parts.len().max(1);
        let reach = |k: usize| {
            let own = || self.shares.iter().skip(k).step_by(parts).copied();
            own().fold(f64::NEG_INFINITY, f64::max) - own().fold(f64::INFINITY, f64::min)
        };
        (0..self.parts.len()).map(reach).sum()
    }
}

impl Model {
    /// Who has a say over one or two numeric inputs, `points` values each. Of the combination, if it is a gate; else of the member
    /// with this name, or of the first that has experts. `None` if nobody does, or the model does not know its inputs' ranges.
    pub fn routing(
        &self,
        inputs: &[usize],
        points: usize,
        member: Option<&str>,
    ) -> Result<Option<Routing>> {
        let Some((grid, values, held)) = self.grid(inputs, points) else { return Ok(None) };
        let found = with_model!(self.any(), model => routes(model, &grid, member))?;
        let names = inputs.iter().map(|&j| self.schema().fields()[j].name.clone()).collect();
        Ok(found.map(|(member, parts, shares)| Routing {
            member,
            parts,
            inputs: names,
            values,
            shares,
            held,
        }))
    }

    /// The columns of numbers, first those along which the shares of [`Model::routing`] move most, all others at what is usual.
    pub fn numeric_inputs(&self, member: Option<&str>) -> Result<Vec<usize>> {
        let fields = self.schema().fields();
        let numeric = (0..fields.len()).filter(|j| matches!(fields[*j].kind, Kind::Numeric));
        let mut moved = Vec::new();
        for j in numeric {
            let routing = self.routing(&[j], LOOKED_AT, member)?;
            moved.push((j, routing.map_or(0.0, |own| own.movement())));
        }
        moved.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(moved.into_iter().map(|(j, _)| j).collect())
    }

    /// Rows on a grid of some inputs, all others at what is usual; also the inputs' values, and what the others are.
    #[expect(clippy::type_complexity, reason = "used in one place")]
    fn grid(
        &self,
        inputs: &[usize],
        points: usize,
    ) -> Option<(Features, Vec<Vec<f64>>, Vec<(String, String)>)> {
        let fields = self.schema().fields();
        let sketches = &self.evidence()?.columns;
        if sketches.len() != fields.len() || inputs.iter().any(|j| *j >= fields.len()) {
            return None;
        }
        let (mut usual, mut held) = (Vec::new(), Vec::new());
        for (j, (field, own)) in fields.iter().zip(sketches).enumerate() {
            let (value, words) = match (&own.sketch, &field.kind) {
                (Sketch::Levels(levels), Kind::Categorical { levels: all }) => {
                    let most = levels.first().map_or("", |(name, _)| name.as_str());
                    let code = all.iter().position(|level| level == most).unwrap_or(0);
                    (code as f64, most.to_string())
                }
                (Sketch::Numbers(histogram), _) => {
                    let middle = histogram.median();
                    (middle, format!("{middle:.4}"))
                }
                (Sketch::Levels(_), Kind::Numeric) => return None,
            };
            usual.push(value);
            if !inputs.contains(&j) {
                held.push((field.name.clone(), words));
            }
        }
        let range = |&j: &usize| match &sketches[j].sketch {
            Sketch::Numbers(histogram) => Some(super::profile::steps(histogram.range, points)),
            Sketch::Levels(_) => None,
        };
        let values: Vec<Vec<f64>> = inputs.iter().map(range).collect::<Option<_>>()?;
        let mut cells = Vec::new();
        for k in 0..points.pow(inputs.len() as u32) {
            let mut row = usual.clone();
            for (place, (&j, values)) in inputs.iter().zip(&values).enumerate() {
                row[j] = values[k / points.pow(place as u32) % points];
            }
            cells.extend(row);
        }
        let schema = Arc::new(Schema::clone(self.schema()));
        Some((Features::new(cells, schema).ok()?, values, held))
    }
}

/// Whose shares they are, the parts' names, and the shares.
type Found = Option<(String, Vec<String>, Vec<f64>)>;

fn routes<T: Task>(ensemble: &Ensemble<T>, grid: &Features, member: Option<&str>) -> Result<Found> {
    if member.is_none()
        && let Some(weights) = ensemble.combination().weights_at(grid.rows())?
    {
        return Ok(Some((String::new(), ensemble.names().map(String::from).collect(), weights)));
    }
    for (name, model) in ensemble.names().zip(ensemble.models()) {
        if member.is_none_or(|wanted| wanted == name)
            && let Some(routes) = model.routes(grid.rows())?
        {
            let parts = (1..=routes.parts).map(|k| format!("expert {k}")).collect();
            return Ok(Some((name.into(), parts, routes.shares)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use crate::recipe::Recipe;
    use crate::run::Run;
    use crate::table::{Column, Table};

    /// The target is one line left of the middle of `where`, and another right of it; the first column says nothing.
    #[test]
    fn the_input_that_decides_who_answers_comes_first() {
        let value = |i: u32, k: u32| f64::from((i * i * 31 + i * (7 + k)) % 101) / 101.0;
        let column = |k: u32| (0..300).map(|i| value(i, k)).collect::<Vec<f64>>();
        let (idle, place, x) = (column(0), column(4), column(9));
        let truth = |i: usize| if place[i] < 0.5 { 3.0 * x[i] } else { 4.0 - 5.0 * x[i] };
        let y = (0..300).map(truth).collect();
        let columns = [("idle", idle), ("where", place.clone()), ("x", x.clone()), ("y", y)]
            .map(|(name, values)| (name.to_string(), Column::Numeric(values)));
        let recipe = "target = 'y'\nmembers = ['experts(count=2)']\nalone = true";
        let table = Table::new(columns.into()).unwrap();
        let fit = Recipe::from_toml(recipe).unwrap().fit(&table, &Run::new(0)).unwrap();
        let order = fit.model.numeric_inputs(None).unwrap();
        assert_eq!((order.len(), order[0]), (3, 1), "{order:?}");
    }
}
