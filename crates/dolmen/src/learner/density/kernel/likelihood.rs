//! The cross-validated log-likelihood of a bandwidth vector, and its gradient.
//!
//! l(h) = sum_i w_i ln( 1/(W_i prod_k h_k) sum_j w_j prod_k K((x_ik - x_jk)/h_k) ), the inner sum and the weight W_i over
//! the rows j of other folds than row i's; leave-one-out is a fold per row \[SmythWolpert1999, appendix B\]. In order of
//! time they are over the rows of earlier folds, and the rows i of the first fold, which has none, are not in the sum. With
//! r_k = -u_k K'(u_k) / K(u_k), the derivative with respect to ln h_k is
//! sum_i w_i ( sum_j w_j K_ij r_k(u_ij) / sum_j w_j K_ij - 1 ).
//!
//! Both come from one pass over unordered pairs of rows, tile by tile. A tile of two blocks adds to the sums of both; in
//! each round every block takes part in one tile, as teams meet in a tournament, so that tiles of a round run in
//! parallel and every sum is formed in the same order on any number of threads.

use rayon::prelude::*;

use super::shape::Shape;
use super::tile::{BLOCK, Block, Lanes, Order, Sums, tile};

/// Below this a sum of exponentials may have lost terms to underflow.
const TINY: f64 = 1e-250;

/// The log-likelihood as a function of the bandwidths of standardised rows.
pub(super) struct Likelihood {
    shape: Shape,
    rows: usize,
    dimension: usize,
    blocks: Vec<Block>,
    /// sum_i w_i ln W_i.
    log_others: f64,
    /// The weight of the rows i.
    total: f64,
    order: Order,
    /// In order of time, the first fold of which there are rows: nothing lies before it.
    first: f64,
}

/// A value of the log-likelihood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    /// `-inf` if a row has density 0.
    pub(super) log_likelihood: f64,
    /// Derivatives with respect to the logarithms of the bandwidths; empty if not asked for.
    pub(super) gradient: Vec<f64>,
}

impl Likelihood {
    /// `columns`: column after column; `folds`: each row's fold, and which others count for it.
    pub(super) fn new(
        shape: Shape,
        columns: &[Vec<f64>],
        weights: &[f64],
        (folds, forward): (&[u32], Order),
    ) -> Self {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|&i| folds[i]);
        let block = |rows: &[usize]| {
            let fill = |value: &dyn Fn(usize) -> f64, rest: f64| {
                let mut lanes = Lanes([rest; BLOCK]);
                for (lane, &i) in lanes.iter_mut().zip(rows) {
                    *lane = value(i);
                }
                lanes
            };
            Block {
                columns: columns.iter().map(|column| fill(&|i| column[i], 0.0)).collect(),
                weights: fill(&|i| weights[i], 0.0),
                folds: fill(&|i| f64::from(folds[i]), f64::from(u32::MAX)),
            }
        };
        let total: f64 = weights.iter().sum();
        let mut in_fold = vec![0.0; folds.iter().max().map_or(0, |&f| f as usize + 1)];
        folds.iter().zip(weights).for_each(|(&f, w)| in_fold[f as usize] += w);
        let others = |fold: usize| match forward {
            Order::Any => total - in_fold[fold],
            Order::Forward => in_fold[..fold].iter().sum(),
        };
        let others: Vec<f64> = (0..in_fold.len()).map(others).collect();
        let first = in_fold.iter().position(|weight| *weight > 0.0).unwrap_or(0) as u32;
        let is_asked = |fold: u32| forward == Order::Any || fold > first;
        let asked = || folds.iter().zip(weights).filter(|(f, _)| is_asked(**f));
        let log_others = |(&f, &w): (&u32, &f64)| {
            if w > 0.0 { w * others[f as usize].ln() } else { 0.0 }
        };
        Self {
            shape,
            rows: weights.len(),
            dimension: columns.len(),
            blocks: order.chunks(BLOCK).map(block).collect(),
            log_others: asked().map(log_others).sum(),
            total: asked().map(|(_, w)| w).sum(),
            order: forward,
            first: f64::from(first),
        }
    }

    /// Number of columns.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The sum of the weights: what a gradient is compared with.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// The log-likelihood at these bandwidths, and its gradient if asked for.
    pub(super) fn at(&self, bandwidth: &[f64], gradient: bool) -> Value {
        let blocks: Vec<Block> = self.blocks.iter().map(|b| b.scaled(bandwidth)).collect();
        let sums = self.pair_sums(&blocks, if gradient { self.dimension } else { 0 });
        let mut value = Value {
            log_likelihood: 0.0,
            gradient: vec![0.0; if gradient { self.dimension } else { 0 }],
        };
        for i in 0..self.rows {
            let (b, l) = (i / BLOCK, i % BLOCK);
            let weight = blocks[b].weights[l];
            if weight == 0.0 || (self.order == Order::Forward && blocks[b].folds[l] <= self.first) {
                continue;
            }
            let weighted = sums[b].of(0, l);
            let sum = weighted / weight;
            if sum < TINY && self.shape == Shape::Gaussian {
                add_far_row(&blocks, self.order, (b, l), &mut value);
                continue;
            }
            value.log_likelihood += weight * sum.ln();
            for (k, slope) in value.gradient.iter_mut().enumerate() {
                *slope += weight * sums[b].of(1 + k, l) / weighted;
            }
        }
        let constant = self.shape.constant().ln();
        let log_widths: f64 = bandwidth.iter().map(|h| constant - h.ln()).sum();
        value.log_likelihood += self.total * log_widths - self.log_others;
        value.gradient.iter_mut().for_each(|slope| *slope -= self.total);
        value
    }

    /// The sums of all rows: first each block with itself, then the rounds of the tournament.
    fn pair_sums(&self, blocks: &[Block], slopes: usize) -> Vec<Sums> {
        let profile = self.shape.profile();
        let mut sums: Vec<Sums> = blocks
            .par_iter()
            .map(|block| {
                let (mut own, mut unused) = (Sums::new(slopes), Sums::new(slopes));
                tile(profile, self.order, (block, block), &mut own, &mut unused);
                own
            })
            .collect();
        for round in rounds(blocks.len()) {
            let mut tiles: Vec<(usize, usize, Sums, Sums)> = round
                .map(|(a, b)| (a, b, std::mem::take(&mut sums[a]), std::mem::take(&mut sums[b])))
                .collect();
            tiles.par_iter_mut().for_each(|(a, b, first, second)| {
                tile(profile, self.order, (&blocks[*a], &blocks[*b]), first, second);
            });
            for (a, b, first, second) in tiles {
                (sums[a], sums[b]) = (first, second);
            }
        }
        sums
    }
}

/// Adds a row whose kernels underflow, relative to its nearest row in another fold.
fn add_far_row(blocks: &[Block], order: Order, (b, l): (usize, usize), value: &mut Value) {
    let own = &blocks[b];
    let counts = |other: &Block, m: usize| match order {
        Order::Any => own.separates(l, other, m),
        Order::Forward => other.folds[m] < own.folds[l],
    };
    let squares = |other: &Block, m: usize| -> f64 {
        let square = |(x, y): (&Lanes, &Lanes)| (x[l] - y[m]).powi(2);
        own.columns.iter().zip(&other.columns).map(square).sum()
    };
    let others = || {
        let all = blocks.iter().flat_map(|block| (0..BLOCK).map(move |m| (block, m)));
        all.filter(|(other, m)| other.weights[*m] > 0.0 && counts(other, *m))
    };
    let nearest = others().map(|(o, m)| squares(o, m)).fold(f64::INFINITY, f64::min);
    let mut sum = 0.0;
    let mut slopes = vec![0.0; value.gradient.len()];
    for (other, m) in others() {
        let kernel = other.weights[m] * (-0.5 * (squares(other, m) - nearest)).exp();
        sum += kernel;
        for ((slope, x), y) in slopes.iter_mut().zip(&own.columns).zip(&other.columns) {
            *slope += kernel * (x[l] - y[m]).powi(2);
        }
    }
    let weight = own.weights[l];
    value.log_likelihood += weight * (sum.ln() - 0.5 * nearest);
    for (total, slope) in value.gradient.iter_mut().zip(slopes) {
        *total += weight * slope / sum;
    }
}

/// The rounds of a tournament in which every team meets every other once, and no team plays twice in a round.
fn rounds(teams: usize) -> impl Iterator<Item = impl Iterator<Item = (usize, usize)>> {
    // One team stays, the others move around a circle; with an odd number of teams the one that stays is a bye.
    let circle = if teams.is_multiple_of(2) { teams.saturating_sub(1) } else { teams };
    (0..circle).map(move |round| {
        let met =
            (1..=circle / 2).map(move |i| ((round + i) % circle, (round + circle - i) % circle));
        let stays = teams.is_multiple_of(2).then_some((circle, round));
        stays.into_iter().chain(met)
    })
}
