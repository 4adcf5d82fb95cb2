//! A fitted member of the family as data: the counts, from which every probability follows by the formulas of `tables` and
//! `triples`, and how the roots are mixed.

use super::counts::Counts;
use super::mixing::Mixing;
use super::model::FittedOneDependence;
use super::triples::Triples;
use crate::store::{Parameters, Value};

impl FittedOneDependence {
    /// The counts of each class, of each value and class, and (but for naive Bayes) of each pair or triple of values and class,
    /// in tables (value, value, .., class). The last value of an attribute stands for those unknown at the fit.
    pub fn parameters(&self) -> Parameters {
        let counts = self.counted.tables.counts();
        let names: Vec<String> = self.counted.discretiser.names().map(String::from).collect();
        let kind = Parameters::new("one-dependence");
        let parameters = match &self.mixing {
            Mixing::Naive => kind.with("mixing", "naive"),
            Mixing::Root(root) => kind.with("mixing", "root").with("root", *root),
            Mixing::Frequent(threshold) => {
                kind.with("mixing", "frequent").with("threshold", *threshold)
            }
            Mixing::FrequentPairs(threshold) => {
                kind.with("mixing", "frequent pairs").with("threshold", *threshold)
            }
            Mixing::Joint(weights) => kind.with("mixing", "joint").with("weights", weights),
            Mixing::Posterior(weights) => kind.with("mixing", "posterior").with("weights", weights),
        };
        let parameters = parameters
            .with("attributes", &names)
            .with("encoder", self.counted.discretiser.encoder.parameters())
            .with("ignores_missing", self.counted.discretiser.ignores_missing)
            .with("class_counts", counts.by_class())
            .with("counts", singles(counts));
        let triples = self.counted.triples.as_ref().map(|tables| tables.triples());
        let pairs = counts.layout().is_paired().then(|| pairs(counts));
        parameters
            .with_some("pairs", pairs)
            .with_some("triples", triples.map(|triples| triples_of(counts, triples)))
    }
}

/// Attribute after attribute: (value, class).
fn singles(counts: &Counts) -> Vec<Value> {
    let layout = counts.layout();
    let table = |u: usize| {
        let slots = layout.slots_of(u);
        let values = slots.clone().flat_map(|a| counts.single(a)[..layout.classes()].to_vec());
        Value::Array { shape: vec![slots.len(), layout.classes()], values: values.collect() }
    };
    (0..layout.attributes()).map(table).collect()
}

/// For each pair of attributes u < v a table (value of u, value of v, class).
fn pairs(counts: &Counts) -> Vec<Parameters> {
    let layout = counts.layout();
    let attributes = layout.attributes();
    let numbers = (0..attributes).flat_map(|u| (u + 1..attributes).map(move |v| (u, v)));
    let table = |(u, v): (usize, usize)| {
        let (first, second) = (layout.slots_of(u), layout.slots_of(v));
        let shape = [first.len(), second.len(), layout.classes()];
        let cells = first.flat_map(|a| second.clone().map(move |b| (a, b)));
        let cells = cells.flat_map(|(a, b)| counts.pair(a, b)[..layout.classes()].to_vec());
        Parameters::new("pair").with("first", u).with("second", v).with_array(
            "counts",
            &shape,
            cells.collect::<Vec<f64>>(),
        )
    };
    numbers.map(table).collect()
}

/// For each triple of attributes u < v < w a table (value of u, value of v, value of w, class).
fn triples_of(counts: &Counts, triples: &Triples) -> Vec<Parameters> {
    let layout = counts.layout();
    let attributes = layout.attributes();
    let mut tables = Vec::new();
    for u in 0..attributes {
        for v in u + 1..attributes {
            for w in v + 1..attributes {
                let [first, second, third] = [u, v, w].map(|u| layout.slots_of(u));
                let shape = [first.len(), second.len(), third.len(), layout.classes()];
                let mut cells = Vec::with_capacity(shape.iter().product());
                for a in first {
                    for b in second.clone() {
                        third.clone().for_each(|c| cells.extend_from_slice(triples.of(a, b, c)));
                    }
                }
                let numbers = vec![u as f64, v as f64, w as f64];
                let table = Parameters::new("triple").with("attributes", numbers);
                tables.push(table.with_array("counts", &shape, cells));
            }
        }
    }
    tables
}
