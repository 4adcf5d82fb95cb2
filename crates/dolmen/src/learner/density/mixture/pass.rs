//! The fused E+M pass: rows are read once, block by block; the N x K matrix of responsibilities is never stored.
//!
//! E-step (OT95 eq. 1): `h_ik = kappa_i N(x_k | mu_i, Sigma_i) / sum_j kappa_j N(x_k | mu_j, Sigma_j)`. What the M-step
//! needs of it are the sums over rows of `h`, `h v` and `h v v'`, `v` the deviation from the component's present mean.

use std::ops::Range;

use super::block::Block;
use super::data::{Data, PART, Units};
use super::expect::Densities;
use super::missing::{Completion, Pattern, Patterns};
use super::normals::{Collapse, Normals};
use crate::stats::{self, Accumulator};
use crate::table::Rows;

/// What an M-step needs.
#[derive(Debug)]
pub(super) struct Sums {
    /// `sum_k ln p(x_k)`.
    pub(super) log_likelihood: f64,
    /// `n_i = sum_k h_ik`.
    pub(super) mass: Vec<f64>,
    /// `sum_k h_ik v_ik`, component after component.
    pub(super) first: Vec<f64>,
    /// `sum_k h_ik v_ik v_ik'`: the lower triangle of a d x d matrix, or its diagonal.
    pub(super) second: Vec<f64>,
    /// A component without a density for some pattern of missing values.
    pub(super) collapse: Option<Collapse>,
}

impl Sums {
    pub(super) fn zero(normals: &Normals) -> Self {
        let (k, d) = (normals.components(), normals.dimension());
        Self {
            log_likelihood: 0.0,
            mass: vec![0.0; k],
            first: vec![0.0; k * d],
            second: vec![0.0; k * normals.shape.size(d)],
            collapse: None,
        }
    }
}

impl Accumulator for Sums {
    fn merge(&mut self, later: Self) {
        let add = |sums: &mut [f64], later: &[f64]| {
            sums.iter_mut().zip(later).for_each(|(sum, x)| *sum += x);
        };
        self.log_likelihood += later.log_likelihood;
        add(&mut self.mass, &later.mass);
        add(&mut self.first, &later.first);
        add(&mut self.second, &later.second);
        self.collapse = self.collapse.or(later.collapse);
    }
}

/// What a pass is to sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Everything the M-step needs.
    Moments,
    /// The log-likelihood only.
    Likelihood,
}

/// How the rows last loaded were evaluated.
enum Seen<'a> {
    /// They have all columns.
    Complete,
    /// They lack some.
    Partial(&'a Pattern, &'a Completion),
}

/// One pass over all rows, on the thread pool it is called in.
pub(super) fn pass(
    data: &Data<'_>,
    normals: &Normals,
    densities: &Densities,
    want: Want,
) -> Result<Sums, Collapse> {
    let zero = || Sums::zero(normals);
    let sums = stats::accumulate(data.x.rows(), PART, zero, |sums, range| {
        let rows = Walk { x: data.x, units: &data.units, patterns: data.patterns.as_ref() };
        let walked = rows.walk(range, normals, |block, at, seen| {
            if let Some(weights) = data.weights {
                let weight = |i: &usize| weights[*i];
                match at {
                    At::Rows(rows) => block.weigh(weights[rows].iter().copied()),
                    At::Chosen(rows) => block.weigh(rows.iter().map(weight)),
                }
            }
            match seen {
                Seen::Complete => {
                    sums.log_likelihood += block.expect(densities);
                    if want == Want::Moments {
                        block.add_moments(normals);
                    }
                }
                Seen::Partial(pattern, completion) => {
                    sums.log_likelihood += block.expect(&completion.densities);
                    if want == Want::Moments {
                        block.add_completed_moments(pattern, completion, sums);
                    }
                }
            }
        });
        match walked {
            Ok(block) => block.moments().add_to(sums),
            Err(collapse) => sums.collapse = Some(collapse),
        }
    });
    match sums.collapse {
        None => Ok(sums),
        Some(collapse) => Err(collapse),
    }
}

/// Writes `ln p(z)` of every row; a row with missing values gets the density of the values it has.
pub(super) fn log_densities(
    x: Rows<'_>,
    units: &Units,
    normals: &Normals,
    densities: &Densities,
    out: &mut [f64],
) -> Result<(), Collapse> {
    let patterns = Patterns::of(x);
    let rows = Walk { x, units, patterns: patterns.as_ref() };
    rows.walk(0..x.rows(), normals, |block, at, seen| {
        match seen {
            Seen::Complete => block.expect(densities),
            Seen::Partial(_, completion) => block.expect(&completion.densities),
        };
        match at {
            At::Rows(rows) => out[rows.clone()].copy_from_slice(&block.ln_p()[..rows.len()]),
            At::Chosen(rows) => rows.iter().zip(block.ln_p()).for_each(|(&i, p)| out[i] = *p),
        }
    })?;
    Ok(())
}

/// The rows of a block.
enum At<'a> {
    /// Consecutive rows.
    Rows(Range<usize>),
    /// Rows that lack the same columns.
    Chosen(&'a [usize]),
}

/// Rows to go through block by block.
struct Walk<'a> {
    x: Rows<'a>,
    units: &'a Units,
    patterns: Option<&'a Patterns>,
}

impl Walk<'_> {
    /// Loads block after block of a range of rows (of the patterns' order, if there are patterns) and shows it to `visit`;
    /// gives back the last one.
    fn walk(
        &self,
        range: Range<usize>,
        normals: &Normals,
        mut visit: impl FnMut(&mut Block, At<'_>, Seen<'_>),
    ) -> Result<Block, Collapse> {
        let mut block = Block::new(normals, range.len());
        let Some(patterns) = self.patterns else {
            for first in range.clone().step_by(block.capacity()) {
                let rows = first..(first + block.capacity()).min(range.end);
                block.load(self.x.slice(rows.clone()), self.units);
                visit(&mut block, At::Rows(rows), Seen::Complete);
            }
            return Ok(block);
        };
        for (pattern, range) in patterns.in_range(range) {
            let completion =
                if pattern.is_complete() { None } else { Some(pattern.complete(normals)?) };
            for rows in patterns.order[range].chunks(block.capacity()) {
                block.gather(self.x, self.units, rows, &pattern.observed);
                let seen =
                    completion.as_ref().map_or(Seen::Complete, |c| Seen::Partial(pattern, c));
                visit(&mut block, At::Chosen(rows), seen);
            }
        }
        Ok(block)
    }
}
