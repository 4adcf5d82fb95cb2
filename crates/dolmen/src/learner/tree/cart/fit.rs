//! Growing and pruning one tree, for numbers and for classes.

use std::ops::Range;

use rayon::prelude::*;

use super::super::bins::Bins;
use super::super::codes::Codes;
use super::super::counts::{Counts, Impurity};
use super::super::criterion::Criterion;
use super::super::examine::Workspace;
use super::super::grow::{Grower, Grown, Growth};
use super::super::pairs::{Pairs, Units, Wide};
use super::model::FittedTree;
use super::price::best_price;
use super::prune::Annotated;
use super::{Alpha, DecisionTree};
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::learner::chosen::{Chosen, listed};
use crate::run::Run;
use crate::target::{Labels, Target};
use crate::task::Task;

/// Rows from which on the trees of folds are grown one after the other: each has work for all threads then, and the rows of
/// all of them would take more memory than the table.
const MANY_ROWS: usize = 1 << 18;

/// What a tree is grown towards: numbers or classes.
pub(super) trait Goal: Sync {
    /// Grows a tree on rows.
    fn grow(&self, trunk: &Trunk<'_>, rows: &mut [u32]) -> Grown;
    /// Numbers in the sums of a node.
    fn width(&self) -> usize;
    /// Adds a row to the sums of its node.
    fn add(&self, sums: &mut [f64], row: usize, weight: f64);
    /// The total impurity of a node.
    fn cost(&self, sums: &[f64]) -> f64;
    /// The prediction of a leaf.
    fn value(&self, sums: &[f64], out: &mut Vec<f64>);
    /// How wrong that is for a row.
    fn error(&self, sums: &[f64], row: usize) -> f64;
}

/// Everything trees are grown from but the target.
pub(super) struct Trunk<'a> {
    bins: &'a Bins,
    codes: &'a Codes,
    weights: Option<&'a [f64]>,
    growth: Growth,
}

impl Trunk<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    fn grow<C: Criterion>(&self, criterion: &C, rows: &mut [u32]) -> Grown {
        let Self { bins, codes, growth, .. } = self;
        let columns: Vec<u32> = (0..codes.width() as u32).collect();
        let grower = Grower { bins, codes, criterion, growth, parallel: true };
        grower.grow(rows, &columns, &mut Workspace::default())
    }

    /// A tree on these rows, with the sums of its nodes and what its splits gained.
    fn annotated(&self, goal: &impl Goal, mut rows: Vec<u32>) -> (Annotated, Vec<f64>) {
        let grown = goal.grow(self, &mut rows);
        let mut sums = vec![0.0; grown.tree.leaves() * goal.width()];
        for (sums, range) in sums.chunks_exact_mut(goal.width()).zip(&grown.leaves) {
            for &row in &rows[range.clone()] {
                goal.add(sums, row as usize, self.weight(row as usize));
            }
        }
        // Costs are means over the sample, as the literature has alpha.
        let total: f64 = rows.iter().map(|&row| self.weight(row as usize)).sum();
        let tree = Annotated::new(grown.tree, sums, |sums| goal.cost(sums) / total);
        (tree, grown.gains)
    }
}

/// Fits a tree, on the thread pool it is called in.
pub(super) fn fit<T: Task, G: Goal>(
    parameters: &DecisionTree,
    goal: &G,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Result<FittedTree> {
    let (x, weights) = (sample.x(), sample.weights());
    let mut list = Vec::new();
    let rows = Chosen::of(x.rows(), |row| sample.weight(row) > 0.0, &mut list)?;
    if rows.len() == 0 {
        return Err(Error::shape("rows to learn from", 1, 0));
    }
    let bins = Bins::learn(x, weights, parameters.bins)?;
    let codes = bins.encode(x)?;
    let mut sums = vec![0.0; goal.width()];
    rows.iter().for_each(|row| goal.add(&mut sums, row, sample.weight(row)));
    let total: f64 = rows.iter().map(|row| sample.weight(row)).sum();
    // A mixed node is split even if nothing is gained at once, because two splits together may gain: only what rounding
    // takes off is allowed for.
    let rounding = 1e-12 * goal.cost(&sums);
    let growth = Growth {
        leaves: parameters.leaves,
        depth: parameters.depth,
        min_leaf: parameters.min_leaf,
        min_split: parameters.min_split,
        min_gain: parameters.min_gain * total - rounding,
        exact: true,
    };
    let trunk = Trunk { bins: &bins, codes: &codes, weights, growth };
    let (tree, gains) = trunk.annotated(goal, listed(rows.iter())?);
    let path = tree.path();
    let alpha = match parameters.alpha {
        Alpha::Given(alpha) => alpha,
        Alpha::Rule(_) => choose(parameters, goal, &trunk, sample, rows, &path, run)?,
    };
    // Splits that gain nothing go at a price of 0; nothing goes where no price is asked.
    let price = if alpha > 0.0 { alpha } else { f64::NEG_INFINITY };
    let (tree, gains) = tree.pruned(price, |sums, out| goal.value(sums, out), &gains);
    let columns: Vec<String> = x.schema().fields().iter().map(|f| f.name.clone()).collect();
    let importance = tree.shares(&gains, columns.len());
    Ok(FittedTree { tree, columns, importance, alpha, path })
}

/// The alpha that predicts held-out folds best: the error of the trees of the folds at each price between those where the
/// full tree changes (BreimanEtAl1984, section 3.4.2).
fn choose<T: Task, G: Goal>(
    parameters: &DecisionTree,
    goal: &G,
    trunk: &Trunk<'_>,
    sample: &Sample<'_, T>,
    rows: Chosen<'_>,
    path: &[f64],
    run: &Run,
) -> Result<f64> {
    // Midway, in the geometric sense, between neighbours; the last price leaves only the root.
    let mut prices: Vec<f64> =
        path.windows(2).map(|pair| pair[0].sqrt() * pair[1].sqrt()).collect();
    prices.extend(path.last());
    let folds = sample.folds_among(rows, parameters.folds, &run.stream("folds"));
    let Some(folds) = folds.ok().filter(|_| prices.len() > 1) else {
        return Ok(0.0);
    };
    let of_fold = |fold: usize| -> Result<Annotated> {
        run.check()?;
        let learned = listed(folds.learned_from(fold).map(|place| rows.at(place)))?;
        Ok(trunk.annotated(goal, learned).0)
    };
    let trees: Vec<Annotated> = if rows.len() < MANY_ROWS {
        (0..folds.len()).into_par_iter().map(of_fold).collect::<Result<_>>()?
    } else {
        (0..folds.len()).map(of_fold).collect::<Result<_>>()?
    };
    let held_out = trees
        .iter()
        .enumerate()
        .flat_map(|(fold, tree)| folds.held_out(fold).map(move |place| (tree, rows.at(place))));
    let steps = |(tree, row): (&Annotated, usize), tell: &mut dyn FnMut(Range<usize>, f64)| {
        errors(tree, goal, sample.x().row(row), row, &prices, tell);
        trunk.weight(row)
    };
    Ok(prices[best_price(held_out, steps, prices.len(), parameters.one_se)])
}

/// Tells the error that a row suffers at the prices, stretch by stretch of those that share one, the dearest first.
fn errors<G: Goal>(
    tree: &Annotated,
    goal: &G,
    values: &[f64],
    row: usize,
    prices: &[f64],
    tell: &mut dyn FnMut(Range<usize>, f64),
) {
    let mut end = prices.len();
    tree.way(values, |alpha, sums| {
        // From this price on the node is a leaf; dearer prices have been served by nodes above.
        let first = prices.partition_point(|price| *price < alpha);
        if first < end {
            tell(first..end, goal.error(sums, row));
            end = first;
        }
    });
}

/// Numbers: nodes hold the weight, the sum and the sum of squares of their distance from the middle of all.
pub(super) struct Numbers<'a> {
    y: &'a [f64],
    middle: f64,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(y: &'a [f64]) -> Self {
        let low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Not the mean: the middle of the range is the same whether a row counts twice or is there twice.
        let middle = if y.is_empty() { 0.0 } else { low / 2.0 + high / 2.0 };
        Self { y, middle }
    }
}

impl Goal for Numbers<'_> {
    fn grow(&self, trunk: &Trunk<'_>, rows: &mut [u32]) -> Grown {
        let distance = |row: usize| self.y[row] - self.middle;
        let (mut size, mut weight) = (0.0, 0.0);
        for row in rows.iter().map(|&row| row as usize) {
            size += trunk.weight(row) * distance(row).abs();
            weight += trunk.weight(row);
        }
        let units = Units::fitting::<Wide>(self.y.len(), size, weight);
        let pack = |row| units.pack(-distance(row), 1.0, trunk.weight(row));
        let cells: Vec<Wide> = (0..self.y.len()).map(pack).collect();
        let targets = Some(self.y);
        let criterion =
            Pairs { cells: &cells, units, l2: 0.0, monotone: &[], weights: None, targets };
        trunk.grow(&criterion, rows)
    }

    fn width(&self) -> usize {
        3
    }

    fn add(&self, sums: &mut [f64], row: usize, weight: f64) {
        let distance = self.y[row] - self.middle;
        sums[0] += weight;
        sums[1] += weight * distance;
        sums[2] += weight * distance * distance;
    }

    fn cost(&self, sums: &[f64]) -> f64 {
        if sums[0] > 0.0 { (sums[2] - sums[1] * sums[1] / sums[0]).max(0.0) } else { 0.0 }
    }

    fn value(&self, sums: &[f64], out: &mut Vec<f64>) {
        out.push(self.middle + if sums[0] > 0.0 { sums[1] / sums[0] } else { 0.0 });
    }

    fn error(&self, sums: &[f64], row: usize) -> f64 {
        (self.y[row] - self.middle - sums[1] / sums[0]).powi(2)
    }
}

/// Classes: nodes hold the weight of each.
pub(super) struct Classes<'a> {
    labels: &'a Labels,
    impurity: Impurity,
    pseudo_count: f64,
}

impl<'a> Classes<'a> {
    pub(super) fn new(labels: &'a Labels, impurity: Impurity, pseudo_count: f64) -> Self {
        Self { labels, impurity, pseudo_count }
    }
}

impl Goal for Classes<'_> {
    fn grow(&self, trunk: &Trunk<'_>, rows: &mut [u32]) -> Grown {
        let (codes, width) = (self.labels.codes(), self.width());
        trunk.grow(&Counts::new(codes, width, |row| trunk.weight(row), self.impurity), rows)
    }

    fn width(&self) -> usize {
        self.labels.classes().len()
    }

    fn add(&self, sums: &mut [f64], row: usize, weight: f64) {
        sums[self.labels.class(row)] += weight;
    }

    fn cost(&self, sums: &[f64]) -> f64 {
        -self.impurity.score(sums)
    }

    fn value(&self, sums: &[f64], out: &mut Vec<f64>) {
        let total = sums.iter().sum::<f64>() + self.pseudo_count;
        let share = self.pseudo_count / sums.len() as f64;
        out.extend(sums.iter().map(|n| (n + share) / total));
    }

    /// The squared distance of the shares from what happened (Brier's score).
    fn error(&self, sums: &[f64], row: usize) -> f64 {
        let total: f64 = sums.iter().sum();
        let share = |(class, n): (usize, &f64)| {
            (n / total - f64::from(u8::from(class == self.labels.class(row)))).powi(2)
        };
        sums.iter().enumerate().map(share).sum()
    }
}
