//! Growing the trees of a forest, and what is learned on the way: importances and out-of-bag predictions.

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::super::Bins;
use super::super::codes::ColumnCodes;
use super::counted::{Times, Weights, numbered};
use super::grow::{Habit, Sprout};
use super::model::FittedForest;
use super::out_of_bag::{FreshSums, OutOfBag, RowSet, permutation_loss};
use super::packed::{MOST_COLUMNS, Packed};
use super::tally::{Classes, ClassesItem, Numbers, NumbersItem, Ones, OnesItem, Tally};
use super::{Forest, ForestTask, Importance, Truth};
use crate::error::{Error, Place, Result};
use crate::learner::unit::Unit;
use crate::learner::{Sample, Series};
use crate::memory;
use crate::run::Run;

/// Trees grown between two looks at their fresh rows: enough to keep the threads busy, few enough to keep their rows in mind.
const BATCH: usize = 32;

/// Rows of a table for which leaves have one row more.
const ROWS_PER_LEAF: usize = 25_000;

/// Everything the trees of a forest share.
pub(super) struct Plot<'a> {
    forest: &'a Forest,
    pub(super) bins: &'a Bins,
    pub(super) codes: &'a ColumnCodes,
    /// Numbers are in a unit of their own.
    pub(super) truth: Truth<'a>,
    pub(super) weights: Weights,
    /// The classes' shares; for numbers the mean.
    pub(super) average: Vec<f64>,
    /// Whether each tree has rows of its own, and which rows it draws together.
    draws_rows: bool,
    groups: Option<&'a [u32]>,
    habit: Habit,
}

/// A tree of the forest.
pub(super) struct Planted {
    pub(super) tree: Packed,
    /// What splits on each column gained.
    gains: Vec<f64>,
    /// The rows that were not drawn.
    pub(super) fresh: RowSet,
}

/// Fits a forest; if its trees draw rows, also predicts each row by the trees that had not drawn it.
pub(super) fn fit<T: ForestTask>(
    forest: &Forest,
    random_cuts: bool,
    sample: &Sample<'_, T>,
    is_asked: bool,
    run: &Run,
) -> Result<(FittedForest<T>, Option<OutOfBag>)> {
    forest.validate(random_cuts)?;
    let x = sample.x();
    if sample.rows() == 0 {
        return Err(Error::data(Place::default(), "there are no rows to learn from"));
    }
    if x.width() > MOST_COLUMNS || sample.rows() > u32::MAX as usize {
        return Err(Error::shape("input columns of a forest, at most", MOST_COLUMNS, x.width()));
    }
    let nodes = most_nodes(forest, sample.rows());
    let node = 3 * size_of::<u32>() + size_of::<f32>() * (T::width(sample.target()) - 1);
    memory::claim(memory::size(&[forest.trees, nodes, node]), "the trees of the forest")?;
    run.progress().plan(forest.trees as u64);
    run.install(|| {
        let target = T::truth(sample.target());
        let rounded: Option<Vec<f64>> =
            sample.weights().map(|weights| weights.iter().copied().map(rounded).collect());
        let bins = Bins::learn(x, rounded.as_deref(), forest.bins)?;
        let codes = bins.encode_columns(x)?;
        let weight = |row: usize| rounded.as_ref().map_or(1.0, |weights| weights[row]);
        let (unit, numbers) = in_unit(target, weight)?;
        let truth = match target {
            Truth::Numbers(_) => Truth::Numbers(&numbers),
            classes @ Truth::Classes(..) => classes,
        };
        let weights = Weights::new(forest.class_weights, truth, sample.rows(), rounded);
        let plot = Plot::new(forest, random_cuts, weights, truth, &bins, &codes);
        let groups = sample.groups().map(numbered);
        let plot = Plot { groups: groups.as_deref(), ..plot };
        let (trees, importance, fresh_sums) = plot.grow_all(run)?;
        let fields = x.schema().fields().iter();
        let mut series = vec![Series {
            name: "importance".into(),
            labels: fields.map(|field| field.name.clone()).collect(),
            values: importance,
            is_numbered: false,
        }];
        series.extend(fresh_sums.as_ref().and_then(|fresh_sums| fresh_sums.series(unit)));
        let out_of_bag =
            fresh_sums.filter(|_| is_asked).map(|fresh_sums| fresh_sums.out_of_bag(unit));
        let forest = FittedForest::new(T::width(sample.target()), unit, bins, trees, series);
        Ok((forest, out_of_bag))
    })
}

impl<'a> Plot<'a> {
    fn new(
        forest: &'a Forest,
        random_cuts: bool,
        weights: Weights,
        truth: Truth<'a>,
        bins: &'a Bins,
        codes: &'a ColumnCodes,
    ) -> Self {
        let width = bins.columns().len();
        let usual_columns = match truth {
            Truth::Classes(..) => (width as f64).sqrt().round() as usize,
            Truth::Numbers(_) if random_cuts => width,
            Truth::Numbers(_) => width.div_ceil(3),
        };
        let usual_leaf = 1.0 + (weights.rows() / ROWS_PER_LEAF) as f64;
        Self {
            forest,
            bins,
            codes,
            truth,
            average: match truth {
                Truth::Classes(..) => possible(average(truth, &weights), weights.rows()),
                Truth::Numbers(_) => average(truth, &weights),
            },
            weights,
            draws_rows: forest.draws_rows(random_cuts),
            groups: None,
            habit: Habit {
                columns: forest.columns.unwrap_or(usual_columns).clamp(1, width),
                depth: forest.depth.unwrap_or(usize::MAX),
                min_leaf: forest.min_leaf.unwrap_or(usual_leaf),
                random_cuts,
            },
        }
    }

    /// All trees, how much each column matters, and what trees say of rows they had not drawn.
    fn grow_all(&self, run: &Run) -> Result<(Vec<Packed>, Vec<f64>, Option<FreshSums<'_>>)> {
        let mut fresh_sums = self.draws_rows.then(|| FreshSums::new(self));
        let mut importance = vec![0.0; self.bins.columns().len()];
        let mut trees = Vec::with_capacity(self.forest.trees);
        while trees.len() < self.forest.trees {
            let numbers = trees.len()..(trees.len() + BATCH).min(self.forest.trees);
            let batch: Vec<Planted> = numbers
                .clone()
                .into_par_iter()
                .map(|number| self.plant(number, run))
                .collect::<Result<_>>()?;
            if let Some(fresh_sums) = &mut fresh_sums {
                fresh_sums.add(&batch);
            }
            match self.forest.importance {
                Importance::Impurity => {
                    batch.iter().for_each(|planted| add(&mut importance, &planted.gains));
                }
                Importance::Permutation => {
                    let lost = |(number, planted): (usize, &Planted)| {
                        // A number instead of a name, which would change importances that are on record (book, `forest`).
                        let mut rng = run.child(number as u64).child(1).rng();
                        permutation_loss(self, planted, &mut rng)
                    };
                    let losses: Vec<Vec<f64>> =
                        numbers.into_par_iter().zip(&batch).map(lost).collect();
                    losses.iter().for_each(|lost| add(&mut importance, lost));
                }
            }
            trees.extend(batch.into_iter().map(|planted| planted.tree));
        }
        Ok((trees, shares(importance), fresh_sums))
    }

    /// One tree.
    fn plant(&self, number: usize, run: &Run) -> Result<Planted> {
        run.check()?;
        let mut rng = run.child(number as u64).rng();
        let rows = self.weights.rows();
        let times = match self.groups {
            _ if !self.draws_rows => Times::once(),
            Some(groups) => Times::drawn_together(groups, &mut rng),
            None => Times::drawn(rows, &mut rng),
        };
        let (tree, gains) = self.grow(&times, rng);
        run.progress().advance(1, "tree");
        Ok(Planted { tree, gains, fresh: RowSet::fresh(times.values()) })
    }

    /// Grows a tree on the rows drawn; also returns what splits on each column gained.
    fn grow(&self, times: &Times, rng: ChaCha8Rng) -> (Packed, Vec<f64>) {
        let smoothing = self.forest.smoothing;
        let weight = |row: u32| f64::from(times.of(row as usize)) * self.weights.of(row as usize);
        let drawn = (0..self.weights.rows() as u32).filter(|&row| weight(row) > 0.0);
        match self.truth {
            Truth::Classes(classes, 2) if self.weights.are_counts() => {
                let tally = Ones { smoothing, average: self.average[1] };
                let item = |row: u32| {
                    let times = times.of(row as usize);
                    OnesItem { row, times, ones: times * classes[row as usize] as u16 }
                };
                self.sprout(&tally, drawn.map(item).collect(), rng)
            }
            Truth::Classes(classes, 2) => {
                let centre = self.average[1];
                let item = |row: u32| {
                    let weight = weight(row);
                    let sum = weight * (f64::from(classes[row as usize]) - centre);
                    NumbersItem { row, weight, sum }
                };
                self.sprout(&Numbers { centre, smoothing }, drawn.map(item).collect(), rng)
            }
            Truth::Classes(classes, _) => {
                let tally = Classes { smoothing, average: self.average.clone() };
                let item = |row: u32| ClassesItem {
                    row,
                    class: classes[row as usize],
                    weight: weight(row),
                };
                self.sprout(&tally, drawn.map(item).collect(), rng)
            }
            Truth::Numbers(y) => {
                // Sums about the median, which is 0 here: about a mean that one far value moves, all other rows would be alike.
                let centre = 0.0;
                let item = |row: u32| {
                    let weight = weight(row);
                    NumbersItem { row, weight, sum: weight * (y[row as usize] - centre) }
                };
                self.sprout(&Numbers { centre, smoothing: 0.0 }, drawn.map(item).collect(), rng)
            }
        }
    }

    fn sprout<T: Tally>(
        &self,
        tally: &T,
        mut items: Vec<T::Item>,
        rng: ChaCha8Rng,
    ) -> (Packed, Vec<f64>) {
        let mut sprout = Sprout::new(self.bins, self.codes, &self.habit, tally, rng);
        (sprout.grow(&mut items), sprout.gains)
    }
}

/// Nodes that a tree on so many rows has at most.
fn most_nodes(forest: &Forest, rows: usize) -> usize {
    let least = forest.min_leaf.unwrap_or(1.0 + (rows / ROWS_PER_LEAF) as f64).max(1.0);
    let by_rows = 2 * ((rows as f64 / least) as usize).max(1);
    let by_depth = forest
        .depth
        .and_then(|depth| 2_usize.checked_pow(u32::try_from(depth).ok()?.checked_add(1)?));
    by_depth.map_or(by_rows, |by_depth| by_depth.min(by_rows))
}

/// The unit of numbers, and the numbers in it; classes are as they are.
fn in_unit(truth: Truth<'_>, weight: impl Fn(usize) -> f64) -> Result<(Unit, Vec<f64>)> {
    let Truth::Numbers(y) = truth else {
        return Ok((Unit::default(), Vec::new()));
    };
    let unit = Unit::of(y, weight)?;
    Ok((unit, y.iter().map(|&y| unit.express(y)).collect()))
}

/// A weight with 24 binary digits. Weights times a constant are the same weights but for the last of their 53 digits; sums of those would
/// decide between splits that are equally good. With fewer digits than were ever in doubt both are the same numbers.
fn rounded(weight: f64) -> f64 {
    // Half of the dropped digits added, then cut off: the nearest, also across a power of two.
    const DROPPED: u64 = 1 << 29;
    f64::from_bits((weight.to_bits() + DROPPED / 2) & !(DROPPED - 1))
}

/// The classes' shares, or the mean.
pub(super) fn average(truth: Truth<'_>, weights: &Weights) -> Vec<f64> {
    let total: f64 = (0..weights.rows()).map(|row| weights.of(row)).sum();
    match truth {
        Truth::Classes(classes, count) => {
            let mut sums = vec![0.0; count];
            for (row, &class) in classes.iter().enumerate() {
                sums[class as usize] += weights.of(row);
            }
            sums.into_iter().map(|sum| sum / total).collect()
        }
        Truth::Numbers(y) => {
            let sum: f64 = y.iter().enumerate().map(|(row, y)| y * weights.of(row)).sum();
            vec![sum / total]
        }
    }
}

/// The same shares where every class has one: a class that no row has counts as one of so many rows, and leaves that are smoothed by these
/// shares call nothing impossible.
fn possible(mut shares: Vec<f64>, rows: usize) -> Vec<f64> {
    if shares.iter().all(|share| *share > 0.0) {
        return shares;
    }
    let row = 1.0 / rows as f64;
    shares.iter_mut().filter(|share| **share <= 0.0).for_each(|share| *share = row);
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}

fn add(to: &mut [f64], other: &[f64]) {
    to.iter_mut().zip(other).for_each(|(to, other)| *to += other);
}

/// The values as shares of their sum, negative ones as 0; all 0 if there is nothing to share.
fn shares(values: Vec<f64>) -> Vec<f64> {
    let total: f64 = values.iter().map(|value| value.max(0.0)).sum();
    values.into_iter().map(|value| if total > 0.0 { value.max(0.0) / total } else { 0.0 }).collect()
}
