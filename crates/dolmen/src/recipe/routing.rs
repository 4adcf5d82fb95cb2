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

    /// The columns of numbers, the most important first, where that is known.
    pub fn numeric_inputs(&self) -> Vec<usize> {
        let fields = self.schema().fields();
        let is_numeric = |j: &usize| matches!(fields[*j].kind, Kind::Numeric);
        let mut columns: Vec<usize> = (0..fields.len()).filter(is_numeric).collect();
        if let Some(importance) = self.evidence().and_then(|own| own.importance.as_ref()) {
            let rank = |j: &usize| {
                importance.inputs.iter().position(|input| input.columns.contains(&fields[*j].name))
            };
            columns.sort_by_key(|j| rank(j).unwrap_or(usize::MAX));
        }
        columns
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
