//! One pass over the rows: the objective, its gradient and its Hessian at given weights.

use std::ops::Range;

use rayon::prelude::*;

use crate::math::{Gram, bulk};
use crate::stats::{Accumulator, accumulate};

/// Rows worked on at a time: the columns of a block stay in the cache between the mixture and the gradient.
pub(super) const BLOCK: usize = 512;
/// Rows summed into one accumulator.
const PART: usize = 16 * BLOCK;

/// A problem as the solvers see it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    /// L[i,m] relative to the row's largest.
    pub(super) columns: &'a [Vec<f64>],
    /// Row weights, summing to 1.
    pub(super) weights: &'a [f64],
    /// Prior exponents less 1, in units of the total row weight.
    pub(super) prior: &'a [f64],
    /// Whether every L[i,m] is positive: then so is every mixture.
    pub(super) positive: bool,
}

/// What Newton's method asks of a matrix, wherever its rows are.
pub(super) trait Evaluate: Sync {
    /// Prior exponents less 1, in units of the total row weight.
    fn prior(&self) -> &[f64];
    /// Objective, gradient and curvature at `x` (all members; zeros are skipped), for the wanted members; the curvature
    /// only of the first `curved` of them, if at all.
    fn moments(&self, x: &[f64], wanted: &[usize], curved: Option<usize>) -> Moments;
}

impl Evaluate for View<'_> {
    fn prior(&self) -> &[f64] {
        self.prior
    }

    fn moments(&self, x: &[f64], wanted: &[usize], curved: Option<usize>) -> Moments {
        View::moments(self, x, wanted, curved)
    }
}

/// What a pass finds at a point x, with f = Lx.
pub(super) struct Moments {
    /// sum_i w_i ln f_i.
    pub(super) objective: f64,
    /// sum_i w_i L[i,m] / f_i for each wanted member m.
    pub(super) gradient: Vec<f64>,
    /// sum_i w_i L[i,m] L[i,k] / f_i^2 for the first of the wanted members, where it was asked for.
    pub(super) curvature: Option<Gram>,
}

impl Accumulator for Moments {
    fn merge(&mut self, later: Self) {
        self.objective += later.objective;
        self.gradient.iter_mut().zip(&later.gradient).for_each(|(a, b)| *a += b);
        if let (Some(sum), Some(later)) = (&mut self.curvature, later.curvature) {
            sum.merge(later);
        }
    }
}

impl Moments {
    /// The same for rows that are such a share of all.
    pub(super) fn scale(&mut self, share: f64) {
        self.objective *= share;
        self.gradient.iter_mut().for_each(|g| *g *= share);
        if let Some(curvature) = &mut self.curvature {
            curvature.scale(share);
        }
    }
}

/// Buffers of one part's work.
struct Scratch {
    mixture: Vec<f64>,
    ratios: Vec<f64>,
    scaled: Vec<f64>,
}

impl View<'_> {
    /// Objective, gradient and curvature at `x` (all members; zeros are skipped), for the wanted members; the curvature
    /// only of the first `curved` of them, if at all.
    pub(super) fn moments(&self, x: &[f64], wanted: &[usize], curved: Option<usize>) -> Moments {
        let support = support(x);
        let zero = || Moments {
            objective: 0.0,
            gradient: vec![0.0; wanted.len()],
            curvature: curved.map(Gram::zero),
        };
        accumulate(self.weights.len(), PART, zero, |sum, rows| {
            let mut scratch = Scratch {
                mixture: vec![0.0; BLOCK],
                ratios: vec![0.0; BLOCK],
                scaled: vec![0.0; BLOCK * curved.unwrap_or(0)],
            };
            for first in rows.clone().step_by(BLOCK) {
                let block = first..(first + BLOCK).min(rows.end);
                self.add_block(sum, block, &support, wanted, &mut scratch);
            }
        })
    }

    fn add_block(
        &self,
        sum: &mut Moments,
        rows: Range<usize>,
        support: &[(usize, f64)],
        wanted: &[usize],
        scratch: &mut Scratch,
    ) {
        let weights = &self.weights[rows.clone()];
        let mixture = &mut scratch.mixture[..rows.len()];
        let ratios = &mut scratch.ratios[..rows.len()];
        self.mix(rows.clone(), support, mixture);
        sum.objective += bulk::log_sum_and_ratios(weights, mixture, ratios);
        let column = |m: usize| &self.columns[m][rows.clone()];
        let (fours, rest) = wanted.as_chunks::<{ bulk::FOUR }>();
        let (sums, sums_rest) = sum.gradient.as_chunks_mut::<{ bulk::FOUR }>();
        for (g, members) in sums.iter_mut().zip(fours) {
            let dots = bulk::four_dots(members.map(column), ratios);
            g.iter_mut().zip(dots).for_each(|(g, dot)| *g += dot);
        }
        for (g, &m) in sums_rest.iter_mut().zip(rest) {
            *g += bulk::dot(column(m), ratios);
        }
        if let Some(curvature) = &mut sum.curvature {
            // w / f^2 is split evenly over the two factors.
            bulk::root_ratios(weights, mixture, ratios);
            let scaled = &mut scratch.scaled[..rows.len() * curvature.order()];
            for (z, &m) in scaled.chunks_exact_mut(rows.len()).zip(wanted) {
                bulk::multiply(&self.columns[m][rows.clone()], ratios, z);
            }
            curvature.add(scaled, rows.len());
        }
    }

    /// f = Lx for some rows.
    fn mix(&self, rows: Range<usize>, support: &[(usize, f64)], out: &mut [f64]) {
        out.fill(0.0);
        let column = |m: usize| &self.columns[m][rows.clone()];
        let (fours, rest) = support.as_chunks::<{ bulk::FOUR }>();
        for members in fours {
            bulk::add_four_scaled(out, members.map(|(_, x)| x), members.map(|(m, _)| column(m)));
        }
        for &(m, x) in rest {
            bulk::add_scaled(out, x, column(m));
        }
    }

    /// f = Lx for all rows.
    pub(super) fn mixture(&self, x: &[f64]) -> Vec<f64> {
        let support = support(x);
        let mut out = vec![0.0; self.weights.len()];
        out.par_chunks_mut(BLOCK).enumerate().for_each(|(block, out)| {
            self.mix(block * BLOCK..block * BLOCK + out.len(), &support, out);
        });
        out
    }
}

/// The positive weights.
fn support(x: &[f64]) -> Vec<(usize, f64)> {
    x.iter().copied().enumerate().filter(|(_, x)| *x > 0.0).collect()
}
