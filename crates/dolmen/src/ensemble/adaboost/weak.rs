//! Who is boosted: trees on bins that all rounds share, or any learner.

use std::sync::Arc;

use super::Guesser;
use crate::error::Result;
use crate::learner::tree::{
    Bins, Codes, Counts, Criterion, Grower, Grown, Growth, Impurity, Narrow, Pairs, Tree, Units,
    Workspace,
};
use crate::learner::{Fitted, Learner, Sample, predict};
use crate::run::Run;
use crate::task::{Classification, Task};

/// Bins of a column: all distinct values where they are few.
const BINS: usize = 255;

/// Trees: the table is cut into bins once, a round adds up weights.
pub(super) struct Trees {
    bins: Bins,
    codes: Codes,
    /// Which code of each column means missing.
    missing: Vec<u8>,
    columns: Vec<u32>,
    growth: Growth,
    two_classes: Workspace<Narrow>,
    several: Workspace<<Counts<'static> as Criterion>::Cell>,
    /// The trees so far; a leaf holds the number of a class.
    pub(super) grown: Vec<Tree>,
    /// Each column's share of what the splits of each tree gained.
    pub(super) shares: Vec<Vec<f64>>,
}

impl Trees {
    /// Cuts the table. Runs on the thread pool it is called in.
    pub(super) fn new(sample: &Sample<'_, Classification>, depth: usize) -> Result<Self> {
        let bins = Bins::learn(sample.x(), sample.weights(), BINS)?;
        Ok(Self {
            codes: bins.encode(sample.x())?,
            missing: bins.columns().iter().map(|column| column.bins() as u8).collect(),
            columns: (0..bins.columns().len() as u32).collect(),
            bins,
            growth: Growth {
                depth: Some(depth),
                min_leaf: 0.0,
                min_split: 0.0,
                exact: true,
                ..Growth::default()
            },
            two_classes: Workspace::default(),
            several: Workspace::default(),
            grown: Vec::new(),
            shares: Vec::new(),
        })
    }

    /// By Gini's index, which for two classes is the variance of an indicator.
    fn grow(&mut self, classes: &[u32], count: usize, weights: &[f64]) -> (Grown, Vec<u32>) {
        let mut rows: Vec<u32> =
            (0..weights.len() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
        let (bins, codes, growth, columns) = (&self.bins, &self.codes, &self.growth, &self.columns);
        let grown = if count == 2 {
            let units = Units::fitting::<Narrow>(weights.len(), 1.0, 1.0);
            let cell = |(&class, &weight): (&u32, &f64)| {
                units.pack(-weight * f64::from(class), weight, 1.0)
            };
            let cells: Vec<Narrow> = classes.iter().zip(weights).map(cell).collect();
            let criterion = &Pairs {
                cells: &cells,
                units,
                l2: 0.0,
                monotone: &[],
                weights: None,
                targets: None,
            };
            let grower = Grower { bins, codes, criterion, growth, parallel: true };
            grower.grow(&mut rows, columns, &mut self.two_classes)
        } else {
            let criterion = &Counts::new(classes, count, |row| weights[row], Impurity::Gini);
            let grower = Grower { bins, codes, criterion, growth, parallel: true };
            grower.grow(&mut rows, columns, &mut self.several)
        };
        (grown, rows)
    }
}

impl Guesser for Trees {
    fn guess(
        &mut self,
        sample: &Sample<'_, Classification>,
        weights: &[f64],
        _run: &Run,
    ) -> Result<Vec<u32>> {
        let (labels, count) = (sample.target(), Classification::width(sample.target()));
        let (grown, rows) = self.grow(labels.codes(), count, weights);
        let mut tree = grown.tree;
        let class = |leaf: usize| match tree.value(leaf) {
            [second] => usize::from(*second > 0.5),
            shares => best(shares),
        };
        let classes: Vec<f64> = (0..tree.leaves()).map(|leaf| class(leaf) as f64).collect();
        let mut guesses = vec![0; weights.len()];
        for (range, class) in grown.leaves.iter().zip(&classes) {
            rows[range.clone()].iter().for_each(|&row| guesses[row as usize] = *class as u32);
        }
        tree.set_values(classes, 1);
        // Rows of no weight were not among those of the leaves.
        for (row, _) in weights.iter().enumerate().filter(|(_, weight)| **weight == 0.0) {
            guesses[row] =
                tree.value(tree.leaf_of_codes(&self.codes, &self.missing, row))[0] as u32;
        }
        self.shares.push(tree.shares(&grown.gains, self.columns.len()));
        self.grown.push(tree);
        Ok(guesses)
    }

    fn forget(&mut self) {
        self.grown.pop();
        self.shares.pop();
    }
}

/// Any learner: its first member is fitted anew in every round.
pub(super) struct Guesses<'a> {
    pub(super) learner: &'a dyn Learner<Classification>,
    pub(super) models: Vec<Arc<dyn Fitted<Classification>>>,
}

impl Guesser for Guesses<'_> {
    fn guess(
        &mut self,
        sample: &Sample<'_, Classification>,
        weights: &[f64],
        run: &Run,
    ) -> Result<Vec<u32>> {
        // Weights of mean 1, as learners with a least weight of their leaves expect them.
        let scale = sample.total_weight();
        let weights: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let model = self.learner.fit(&sample.counted(&weights)?, run)?.swap_remove(0);
        let chances = predict(model.as_ref(), sample.x(), run)?;
        self.models.push(model.into());
        let width = Classification::width(sample.target());
        Ok(chances.chunks_exact(width).map(|row| best(row) as u32).collect())
    }

    fn forget(&mut self) {
        self.models.pop();
    }
}

/// The class with the largest number; the first of equal ones.
pub(super) fn best(row: &[f64]) -> usize {
    let better = |best: usize, class: usize| if row[class] > row[best] { class } else { best };
    (0..row.len()).fold(0, better)
}
