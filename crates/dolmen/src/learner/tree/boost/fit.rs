//! The rounds of boosting.

use std::ops::Range;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::super::bins::Bins;
use super::super::codes::Codes;
use super::super::examine::Workspace;
use super::super::fitted::{Tree, shares};
use super::super::grow::{Grower, Grown, Growth};
use super::super::pairs::{Narrow, PairCell, Pairs, Units, Wide};
use super::loss::Loss;
use super::model::{Body, FittedBoost};
use super::slopes::{BLOCK, Room, Targets, Totals};
use super::{Boost, FEW_ROUNDS, MOST_ROUNDS, PATIENCE};
use crate::error::{Error, Result};
use crate::learner::chosen::{Chosen, listed};
use crate::memory;
use crate::plan::{OwnedKeys, RowKeys};
use crate::run::Run;
use crate::table::{Kind, Rows};

/// Rows held out at least; of fewer, nothing can be learned about when to stop.
const LEAST_HELD_OUT: usize = 50;

/// Units that a mean gradient must have for narrow cells to be exact enough, and means that the largest may have.
const NARROW: (f64, f64) = (256.0, 4096.0);

/// A fit on its way.
struct Booster<'a> {
    parameters: &'a Boost,
    loss: &'a dyn Loss,
    targets: Targets<'a>,
    weights: Option<&'a [f64]>,
    bins: Bins,
    codes: Codes,
    growth: Growth,
    monotone: Vec<i8>,
    rows_that_count: Chosen<'a>,
    /// Rows that tell when to stop.
    held_out: Vec<u32>,
    /// Rows that trees are grown on; all that count if none are held out.
    others: Option<Vec<u32>>,
    scores: Vec<f64>,
    /// Of losses with several scores a row. Of others they are made block by block where they are needed: making them
    /// twice takes no longer than writing them down, and they would take as much memory as two columns.
    gradients: Vec<f64>,
    curvatures: Vec<f64>,
    narrow: (Vec<Narrow>, Workspace<Narrow>),
    wide: (Vec<Wide>, Workspace<Wide>),
    rows: Vec<u32>,
}

/// Fits a boosted model, on the thread pool it is called in.
pub(super) fn fit(
    parameters: &Boost,
    loss: &dyn Loss,
    x: Rows<'_>,
    targets: Targets<'_>,
    weights: Option<&[f64]>,
    keys: &RowKeys<'_>,
    run: &Run,
) -> Result<FittedBoost> {
    let mut list = Vec::new();
    let counts = |row: usize| weights.is_none_or(|w| w[row] > 0.0);
    let rows = Chosen::of(x.rows(), counts, &mut list)?;
    if rows.len() == 0 {
        return Err(Error::shape("rows to learn from", 1, 0));
    }
    let mut booster = Booster::new(parameters, loss, x, targets, weights, rows)?;
    booster.hold_out(keys, run)?;
    let outputs = loss.outputs();
    let stops = !booster.held_out.is_empty();
    let usual = if stops { MOST_ROUNDS } else { FEW_ROUNDS };
    let rounds = parameters.rounds.unwrap_or(usual);
    let patience = parameters.patience.unwrap_or(PATIENCE);
    let start = booster.start();
    let (mut trees, mut gains) = (Vec::new(), Vec::new());
    let (mut best, mut losses) = ((f64::INFINITY, 0), Vec::new());
    let held_weight: f64 = booster.held_out.iter().map(|&row| booster.weight(row)).sum();
    run.progress().plan(rounds as u64);
    for round in 0..rounds {
        run.check()?;
        booster.round(&run.child(round as u64), &mut trees, &mut gains);
        run.progress().advance(1, "boosting");
        if stops {
            let loss = booster.held_out_loss();
            losses.push(loss / held_weight);
            if loss < best.0 {
                best = (loss, round + 1);
            } else if round + 1 - best.1 >= patience {
                run.progress().advance((rounds - round - 1) as u64, "boosting");
                break;
            }
        }
    }
    let mut notes = Vec::new();
    if stops {
        trees.truncate(best.1.max(1) * outputs);
        let held = booster.held_out.len();
        notes.push(format!("{} rounds were best on {held} held-out rows", best.1.max(1)));
    }
    let importance = shares(trees.iter().zip(gains.iter().map(Vec::as_slice)), x.width());
    let columns = x.schema().fields().iter().map(|field| field.name.clone()).collect();
    let link = loss.link();
    let bins = booster.bins;
    FittedBoost::new(Body { bins, trees, start, link, columns, importance, notes, losses })
}

impl<'a> Booster<'a> {
    fn new(
        parameters: &'a Boost,
        loss: &'a dyn Loss,
        x: Rows<'_>,
        targets: Targets<'a>,
        weights: Option<&'a [f64]>,
        rows_that_count: Chosen<'a>,
    ) -> Result<Self> {
        let bins = Bins::learn(x, weights, parameters.bins)?;
        let codes = bins.encode(x)?;
        let cells = x.rows().saturating_mul(loss.outputs());
        let kept = if loss.outputs() > 1 { cells } else { 0 };
        let numbers = cells.saturating_add(kept.saturating_mul(2));
        memory::claim(memory::size(&[numbers, size_of::<f64>()]), "the scores of boosting")?;
        let growth = Growth {
            leaves: Some(parameters.leaves),
            depth: parameters.depth,
            min_leaf: parameters.min_leaf,
            min_split: 0.0,
            min_gain: parameters.min_gain,
            ..Growth::default()
        };
        Ok(Self {
            parameters,
            loss,
            targets,
            weights,
            monotone: parameters.signs(x)?,
            bins,
            codes,
            growth,
            rows: Vec::new(),
            rows_that_count,
            held_out: Vec::new(),
            others: None,
            scores: vec![0.0; cells],
            gradients: vec![0.0; kept],
            curvatures: vec![0.0; kept],
            narrow: (Vec::new(), Workspace::default()),
            wide: (Vec::new(), Workspace::default()),
        })
    }

    fn weight(&self, row: u32) -> f64 {
        self.weights.map_or(1.0, |w| w[row as usize])
    }

    /// The rows that trees are grown on.
    fn learned(&self) -> Chosen<'_> {
        self.others.as_deref().map_or(self.rows_that_count, Chosen::These)
    }

    /// The same by number.
    fn learned_rows(&self) -> impl Iterator<Item = u32> {
        self.learned().iter().map(|row| row as u32)
    }

    /// Sets all scores to the best constant.
    fn start(&mut self) -> Vec<f64> {
        let targets: Vec<f64> = self.learned_rows().map(|row| self.targets.at(row)).collect();
        let weights: Vec<f64> = self.learned_rows().map(|row| self.weight(row)).collect();
        let start = self.loss.start(&targets, &weights);
        drop((targets, weights));
        self.scores.chunks_exact_mut(start.len()).for_each(|scores| scores.copy_from_slice(&start));
        start
    }

    /// One tree for each output.
    fn round(&mut self, run: &Run, trees: &mut Vec<Tree>, gains: &mut Vec<Vec<f64>>) {
        let mut rng = run.rng();
        let totals = self.slopes();
        let sampled = self.draw_rows(&mut rng);
        let columns = self.draw_columns(&mut rng);
        for (output, totals) in totals.into_iter().enumerate() {
            let mut order = std::mem::take(&mut self.rows);
            order.clear();
            match &sampled {
                Some(sampled) => order.extend_from_slice(sampled),
                None => order.extend(self.learned_rows()),
            }
            self.rows = order;
            let rows = self.targets.len();
            let units = Units::fitting::<Narrow>(rows, totals.gradients, totals.curvatures);
            let mean = totals.gradients / rows as f64;
            let is_narrow = mean * units.gradient >= NARROW.0 && totals.largest <= NARROW.1 * mean;
            let mut grown = if is_narrow {
                let (mut cells, mut workspace) = std::mem::take(&mut self.narrow);
                let grown = self.grow(output, units, &columns, &mut cells, &mut workspace);
                self.narrow = (cells, workspace);
                grown
            } else {
                let units = Units::fitting::<Wide>(rows, totals.gradients, totals.curvatures);
                let (mut cells, mut workspace) = std::mem::take(&mut self.wide);
                let grown = self.grow(output, units, &columns, &mut cells, &mut workspace);
                self.wide = (cells, workspace);
                grown
            };
            self.refit(output, &mut grown);
            self.step(output, &grown);
            trees.push(grown.tree);
            gains.push(grown.gains);
        }
    }

    /// Gradients and curvatures of all rows, kept if there are several to a row, and their totals for each output.
    fn slopes(&mut self) -> Vec<Totals> {
        let (loss, outputs, weights) = (self.loss, self.loss.outputs(), self.weights);
        let targets = self.targets;
        let parts: Vec<Vec<Totals>> = if outputs == 1 {
            let blocks = self.scores.par_chunks(BLOCK).enumerate();
            let total = |room: &mut Room, (block, scores): (usize, &[f64])| {
                let (gradients, curvatures) = room.slopes(loss, targets, block, scores);
                Totals::of_block(block, gradients, curvatures, outputs, weights)
            };
            blocks.map_init(Room::default, total).collect()
        } else {
            let blocks = (self.gradients.par_chunks_mut(BLOCK * outputs))
                .zip(self.curvatures.par_chunks_mut(BLOCK * outputs))
                .zip(self.scores.par_chunks(BLOCK * outputs));
            let blocks = blocks.enumerate().map_init(Vec::new, |room, (block, slopes)| {
                let ((gradients, curvatures), scores) = slopes;
                let targets = targets.block(block, scores.len() / outputs, room);
                loss.gradients(targets, scores, gradients, curvatures);
                Totals::of_block(block, gradients, curvatures, outputs, weights)
            });
            blocks.collect()
        };
        let mut totals = vec![Totals::default(); outputs];
        for part in parts {
            totals.iter_mut().zip(part).for_each(|(total, part)| total.merge(part));
        }
        totals
    }

    /// The cells of all rows for one output.
    fn pack<P: PairCell>(&self, output: usize, units: Units, cells: &mut [P]) {
        let (loss, outputs, targets) = (self.loss, self.loss.outputs(), self.targets);
        let pack = |block: usize, cells: &mut [P], gradients: &[f64], curvatures: &[f64]| {
            let pairs = gradients.chunks_exact(outputs).zip(curvatures.chunks_exact(outputs));
            for (i, (cell, (g, h))) in cells.iter_mut().zip(pairs).enumerate() {
                let weight = self.weights.map_or(1.0, |w| w[block * BLOCK + i]);
                *cell = units.pack(g[output], h[output], weight);
            }
        };
        let cells = cells.par_chunks_mut(BLOCK);
        if outputs == 1 {
            let blocks = cells.zip(self.scores.par_chunks(BLOCK)).enumerate();
            blocks.for_each_init(Room::default, |room, (block, (cells, scores))| {
                let (gradients, curvatures) = room.slopes(loss, targets, block, scores);
                pack(block, cells, gradients, curvatures);
            });
        } else {
            let blocks = cells
                .zip(self.gradients.par_chunks(BLOCK * outputs))
                .zip(self.curvatures.par_chunks(BLOCK * outputs));
            blocks.enumerate().for_each(|(block, ((cells, gradients), curvatures))| {
                pack(block, cells, gradients, curvatures);
            });
        }
    }

    fn grow<P: PairCell>(
        &mut self,
        output: usize,
        units: Units,
        columns: &[u32],
        cells: &mut Vec<P>,
        workspace: &mut Workspace<P>,
    ) -> Grown {
        cells.resize(self.targets.len(), P::default());
        self.pack(output, units, cells);
        let criterion = Pairs {
            cells,
            units,
            l2: self.parameters.l2,
            monotone: &self.monotone,
            weights: Some(self.weights),
            targets: None,
        };
        let grower = Grower {
            bins: &self.bins,
            codes: &self.codes,
            criterion: &criterion,
            growth: &self.growth,
            parallel: true,
        };
        grower.grow(&mut self.rows, columns, workspace)
    }

    /// Gives the leaves their best values where the loss knows them better than its slope, and shrinks all.
    fn refit(&self, output: usize, grown: &mut Grown) {
        let (rate, outputs) = (self.parameters.rate, self.loss.outputs());
        let residual = |&row: &u32| {
            let score = self.scores[row as usize * outputs + output];
            (self.targets.at(row) - score, self.weight(row))
        };
        let value = |(leaf, range): (usize, &Range<usize>)| {
            if !self.loss.refits() {
                return rate * grown.tree.value(leaf)[0];
            }
            let mut residuals: Vec<_> = self.rows[range.clone()].iter().map(residual).collect();
            rate * self.loss.refit(&mut residuals)
        };
        let values = grown.leaves.par_iter().enumerate().map(value).collect();
        grown.tree.set_values(values, 1);
    }

    /// Adds the tree to the scores of all rows.
    fn step(&mut self, output: usize, grown: &Grown) {
        let outputs = self.loss.outputs();
        for (leaf, range) in grown.leaves.iter().enumerate() {
            let value = grown.tree.value(leaf)[0];
            for &row in &self.rows[range.clone()] {
                self.scores[row as usize * outputs + output] += value;
            }
        }
        let missing: Vec<u8> = self.bins.columns().iter().map(|c| c.bins() as u8).collect();
        let mut scores = std::mem::take(&mut self.scores);
        let mut add = |row: u32| {
            let leaf = grown.tree.leaf_of_codes(&self.codes, &missing, row as usize);
            scores[row as usize * outputs + output] += grown.tree.value(leaf)[0];
        };
        self.held_out.iter().for_each(|&row| add(row));
        if self.rows.len() < self.learned().len() {
            let mut is_done = vec![false; self.targets.len()];
            self.rows.iter().for_each(|&row| is_done[row as usize] = true);
            self.learned_rows().filter(|&row| !is_done[row as usize]).for_each(add);
        }
        self.scores = scores;
    }

    fn held_out_loss(&self) -> f64 {
        let outputs = self.loss.outputs();
        let loss = |&row: &u32| {
            let at = row as usize * outputs;
            self.weight(row) * self.loss.loss(self.targets.at(row), &self.scores[at..at + outputs])
        };
        self.held_out.iter().map(loss).sum()
    }

    /// The rows of one round, in ascending order; `None` for all that are learned from.
    fn draw_rows(&self, rng: &mut impl Rng) -> Option<Vec<u32>> {
        let share = self.parameters.rows;
        if share >= 1.0 {
            return None;
        }
        let drawn: Vec<u32> = self.learned_rows().filter(|_| rng.random::<f64>() < share).collect();
        Some(drawn).filter(|drawn| !drawn.is_empty())
    }

    /// The columns of one round.
    fn draw_columns(&self, rng: &mut impl Rng) -> Vec<u32> {
        let mut columns: Vec<u32> = (0..self.codes.width() as u32).collect();
        if self.parameters.columns < 1.0 {
            let wanted = (self.parameters.columns * columns.len() as f64).ceil() as usize;
            columns.shuffle(rng);
            columns.truncate(wanted.max(1));
            columns.sort_unstable();
        }
        columns
    }
}

impl Booster<'_> {
    /// Holds rows out, if the rounds are to be chosen by them and there are enough that can be set apart.
    fn hold_out(&mut self, keys: &RowKeys<'_>, run: &Run) -> Result<()> {
        let (Boost { held_out: share, rounds, patience, .. }, rows) =
            (self.parameters, self.rows_that_count);
        let wanted = (share * rows.len() as f64) as usize;
        let is_wanted = patience.is_some_and(|p| p > 0) || (rounds.is_none() && patience.is_none());
        if !is_wanted || wanted < LEAST_HELD_OUT {
            return Ok(());
        }
        let stream = run.stream("held-out rows");
        let split = match rows {
            Chosen::All(count) => keys.hold_out(count, *share, &stream),
            Chosen::These(_) => {
                let own = OwnedKeys::select(keys, &rows.iter().collect::<Vec<usize>>());
                own.borrow().hold_out(rows.len(), *share, &stream)
            }
        };
        if let Ok(split) = split {
            self.held_out = listed(split.test().iter().map(|&place| rows.at(place)))?;
            self.others = Some(listed(split.iter_train(rows.len()).map(|place| rows.at(place)))?);
        }
        Ok(())
    }
}

impl Boost {
    /// The constraint of every column; none if no column has one.
    fn signs(&self, x: Rows<'_>) -> Result<Vec<i8>> {
        let fields = x.schema().fields();
        let mut signs = vec![0; fields.len()];
        for (what, names, sign) in
            [("increasing", &self.increasing, 1), ("decreasing", &self.decreasing, -1)]
        {
            for name in names {
                let column = fields.iter().position(|field| field.name == *name);
                let is_numeric = |j: &usize| matches!(fields[*j].kind, Kind::Numeric);
                let Some(j) = column.filter(is_numeric) else {
                    return Err(Error::param(what, "names of numeric input columns", name));
                };
                if signs[j] == -sign {
                    return Err(Error::param(what, "columns that are not also increasing", name));
                }
                signs[j] = sign;
            }
        }
        if signs.iter().all(|sign| *sign == 0) {
            signs.clear();
        }
        Ok(signs)
    }
}
