//! Random Bayesian networks, and data sets drawn from them [CerquidesMantaras2005 section 7.1].
//!
//! The paper used BNGenerator. What a network drawn here is sure of:
//!
//! - its graph is acyclic and connected, and its induced width is at most the one asked for, proved by an order of
//!   elimination (`graph`); among the graphs that the chain reaches none is preferred;
//! - each variable has 2 to `values` values, each number of them as probable as the others;
//! - each row of each table is drawn from a Dirichlet distribution, uniform on the simplex at concentration 1;
//! - attributes and class are exchangeable: the class is no root, leaf or hub by construction.
//!
//! Not as in BNGenerator: the chain's moves and its length are our own, and there is no bound on the number of arcs or of
//! parents but the one that the width implies (at most `width` parents).

use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};
use serde::{Deserialize, Serialize};

use super::graph::{Graph, MOST_NODES};
use crate::error::{Error, Result};
use crate::memory;
use crate::run::Run;
use crate::table::{Categories, Column, Table};

/// The name of the class, the last column of every data set.
pub const CLASS: &str = "class";
/// Cells one variable's table may have.
const MOST_CELLS: usize = 1 << 24;

/// What kind of network is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomNetwork {
    /// Attributes, beside the class.
    pub attributes: usize,
    /// The most values a variable has.
    pub values: usize,
    /// The largest induced width of the graph.
    pub width: usize,
    /// Concentration of the Dirichlet distribution of table rows: 1 is uniform, less is nearer to rules.
    pub concentration: f64,
}

impl Default for RandomNetwork {
    fn default() -> Self {
        Self { attributes: 10, values: 5, width: 3, concentration: 1.0 }
    }
}

impl RandomNetwork {
    /// Draws a network; its chain takes 4 steps for each pair of variables.
    pub fn draw(&self, run: &Run) -> Result<BayesianNetwork> {
        self.validate()?;
        let size = self.attributes + 1;
        let mut rng = run.rng();
        let graph = Graph::draw(size, self.width, 4 * size * size, &mut rng);
        let values: Vec<usize> = (0..size).map(|_| rng.random_range(2..=self.values)).collect();
        let gamma = Gamma::new(self.concentration, 1.0)
            .map_err(|e| Error::param("concentration", "a positive number", e))?;
        let mut tables = Vec::new();
        for node in 0..size {
            let rows: usize = graph.parents(node).iter().map(|&parent| values[parent]).product();
            if rows.saturating_mul(values[node]) > MOST_CELLS {
                let expected = format!("few enough for tables of at most {MOST_CELLS} cells");
                return Err(Error::param("values and width", expected, rows * values[node]));
            }
            let row = |rng: &mut ChaCha8Rng| dirichlet(&gamma, values[node], rng);
            tables.push((0..rows).flat_map(|_| row(&mut rng)).collect());
        }
        Ok(BayesianNetwork { graph, values, tables })
    }

    fn validate(&self) -> Result<()> {
        if !(1..MOST_NODES).contains(&self.attributes) {
            let expected = format!("between 1 and {}", MOST_NODES - 1);
            return Err(Error::param("attributes", expected, self.attributes));
        }
        if !(2..=1000).contains(&self.values) {
            return Err(Error::param("values", "between 2 and 1000", self.values));
        }
        if self.width == 0 {
            return Err(Error::param("width", "at least 1", self.width));
        }
        if !(self.concentration.is_finite() && self.concentration > 0.0) {
            return Err(Error::param("concentration", "a positive number", self.concentration));
        }
        Ok(())
    }
}

/// Probabilities of a Dirichlet distribution with equal parameters.
fn dirichlet(gamma: &Gamma<f64>, values: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    // Tiny concentrations may draw nothing but zeros: the least positive number keeps the row a distribution.
    let draws: Vec<f64> = (0..values).map(|_| gamma.sample(rng).max(f64::MIN_POSITIVE)).collect();
    let total: f64 = draws.iter().sum();
    draws.iter().map(|draw| draw / total).collect()
}

/// A Bayesian network of discrete variables: the attributes, and the class last.
#[derive(Debug, Clone)]
pub struct BayesianNetwork {
    graph: Graph,
    values: Vec<usize>,
    /// Of each variable: p(value | parents), row by row of the parents' values, the first parent's changing slowest.
    tables: Vec<Vec<f64>>,
}

impl BayesianNetwork {
    /// The variables' names: `a1`, `a2`, .., and the class.
    pub fn names(&self) -> Vec<String> {
        let attributes = self.values.len() - 1;
        (1..=attributes).map(|j| format!("a{j}")).chain([CLASS.to_string()]).collect()
    }

    /// Number of values of each variable.
    pub fn values(&self) -> &[usize] {
        &self.values
    }

    /// The arcs, from parent to child.
    pub fn arcs(&self) -> Vec<(usize, usize)> {
        self.graph.arcs().collect()
    }

    /// The induced width that the greedy order of elimination proves.
    pub fn induced_width(&self) -> usize {
        self.graph.induced_width()
    }

    /// ln p of the variables' values, the class last.
    pub fn log_probability(&self, values: &[usize]) -> Result<f64> {
        if values.len() != self.values.len() {
            return Err(Error::shape("values", self.values.len(), values.len()));
        }
        if let Some(node) = (0..values.len()).find(|&node| values[node] >= self.values[node]) {
            return Err(Error::shape("value", self.values[node], values[node]));
        }
        let factor = |node: usize| self.row(node, values)[values[node]].ln();
        Ok((0..values.len()).map(factor).sum())
    }

    /// p(value | parents) of every value of a variable.
    fn row(&self, node: usize, values: &[usize]) -> &[f64] {
        let parents = self.graph.parents(node);
        let row = parents.iter().fold(0, |row, &p| row * self.values[p] + values[p]);
        &self.tables[node][row * self.values[node]..(row + 1) * self.values[node]]
    }

    /// Draws rows: one column of categories per variable, the class last.
    pub fn sample(&self, rows: usize, run: &Run) -> Result<Table> {
        let mut rng = run.rng();
        let order = self.graph.order();
        let mut drawn = vec![0; self.values.len()];
        let needed = memory::size(&[rows, self.values.len(), size_of::<u32>()]);
        memory::claim(needed, &format!("{rows} rows"))?;
        let mut codes: Vec<Vec<u32>> =
            self.values.iter().map(|_| Vec::with_capacity(rows)).collect();
        for i in 0..rows {
            if i % 4096 == 0 {
                run.check()?;
            }
            for &node in &order {
                drawn[node] = choose(self.row(node, &drawn), rng.random());
            }
            codes.iter_mut().zip(&drawn).for_each(|(codes, value)| codes.push(*value as u32));
        }
        let column = |(values, codes): (&usize, Vec<u32>)| {
            let levels: Arc<[String]> = (1..=*values).map(|v| level(v, *values)).collect();
            Column::Categorical(Categories { levels, codes })
        };
        let columns = self.values.iter().zip(codes).map(column);
        Table::new(self.names().into_iter().zip(columns).collect())
    }
}

/// The name of a value: as many digits as the last one has, so that spelling keeps their order.
fn level(value: usize, values: usize) -> String {
    let digits = values.to_string().len();
    format!("v{value:0digits$}")
}

/// The first value up to which the probabilities exceed the draw.
fn choose(probabilities: &[f64], draw: f64) -> usize {
    let mut below = 0.0;
    let exceeds = |p: &f64| {
        below += p;
        below > draw
    };
    probabilities.iter().position(exceeds).unwrap_or(probabilities.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(spec: &RandomNetwork, seed: u64) -> BayesianNetwork {
        spec.draw(&Run::with_threads(seed, 1).unwrap()).unwrap()
    }

    fn codes(table: &Table) -> Vec<Vec<usize>> {
        let column = |(_, column): (&str, &Column)| match column {
            Column::Categorical(c) => c.codes.iter().map(|code| *code as usize).collect(),
            Column::Numeric(_) => panic!("a network's variables are categories"),
        };
        table.columns().map(column).collect()
    }

    #[test]
    fn rows_come_with_the_probabilities_that_the_tables_say() {
        let spec = RandomNetwork { attributes: 3, values: 3, width: 2, ..RandomNetwork::default() };
        let network = network(&spec, 4);
        let rows = 40_000;
        let run = Run::with_threads(5, 1).unwrap();
        let drawn = codes(&network.sample(rows, &run).unwrap());
        let mut counts = std::collections::HashMap::new();
        for i in 0..rows {
            let row: Vec<usize> = drawn.iter().map(|column| column[i]).collect();
            *counts.entry(row).or_insert(0.0) += 1.0;
        }
        let (mut total, mut deviation, mut cells) = (0.0, 0.0, 0.0_f64);
        let sizes = network.values().to_vec();
        for at in 0..sizes.iter().product() {
            let mut rest = at;
            let row: Vec<usize> = sizes
                .iter()
                .map(|size| {
                    let value = rest % size;
                    rest /= size;
                    value
                })
                .collect();
            let p = network.log_probability(&row).unwrap().exp();
            total += p;
            let expected = p * rows as f64;
            let found: f64 = counts.get(&row).copied().unwrap_or(0.0);
            deviation += (found - expected).powi(2) / expected;
            cells += 1.0;
        }
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        // Chi-squared with cells - 1 degrees of freedom: within four standard deviations.
        assert!(deviation < cells + 4.0 * (2.0 * cells).sqrt(), "{deviation} of {cells} cells");
    }

    #[test]
    fn what_is_asked_for_is_kept_and_seeds_repeat() {
        for width in 1..5 {
            let spec = RandomNetwork { attributes: 12, values: 4, width, concentration: 0.5 };
            let drawn = network(&spec, 7);
            assert!(drawn.induced_width() <= width);
            assert!(drawn.values().iter().all(|values| (2..=4).contains(values)));
            assert_eq!(drawn.arcs(), network(&spec, 7).arcs());
            assert_ne!(drawn.arcs(), network(&spec, 8).arcs());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let run = Run::with_threads(0, 1).unwrap();
        for (attributes, values, width, concentration) in
            [(0, 2, 2, 1.0), (200, 2, 2, 1.0), (5, 1, 2, 1.0), (5, 2, 0, 1.0), (5, 2, 2, f64::NAN)]
        {
            let spec = RandomNetwork { attributes, values, width, concentration };
            assert!(spec.draw(&run).is_err(), "{spec:?}");
        }
    }
}
