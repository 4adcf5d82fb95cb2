//! The fused E+M pass: rows are read once, block by block; the N x K matrix of responsibilities is never stored.
//!
//! E-step (OrmoneitTresp1995 eq. 1): `h_ik = kappa_i N(x_k | mu_i, Sigma_i) / sum_j kappa_j N(x_k | mu_j, Sigma_j)`. What the M-step
//! needs of it are the sums over rows of `h`, `h v` and `h v v'`, `v` the deviation from the component's present mean.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::block::Block;
use super::data::{Data, PART, Units};
use super::expect::Densities;
use super::missing::{Completion, Pattern, Patterns};
use super::moments::Moments;
use super::normals::{Collapse, Normals};
use crate::stats::{self, Accumulator};
use crate::table::Rows;

/// What an M-step needs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sums {
    /// `sum_k ln p(x_k)`.
    pub(super) log_likelihood: f64,
    /// `n_i = sum_k h_ik`.
    #[serde(with = "crate::store::floats")]
    pub(super) mass: Vec<f64>,
    /// `sum_k h_ik u_ik`: of normal components `u` is 1, of Student's t the pull of a row.
    #[serde(with = "crate::store::floats")]
    pub(super) pull: Vec<f64>,
    /// `sum_k h_ik u_ik v_ik`, component after component.
    #[serde(with = "crate::store::floats")]
    pub(super) first: Vec<f64>,
    /// `sum_k h_ik u_ik v_ik v_ik'`: the lower triangle of a d x d matrix, or its diagonal.
    #[serde(with = "crate::store::floats")]
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
            pull: vec![0.0; k],
            first: vec![0.0; k * d],
            second: vec![0.0; k * normals.shape.size(d)],
            collapse: None,
        }
    }

    /// Those of components that have no density.
    pub(super) fn fallen(normals: &Normals, collapse: Collapse) -> Self {
        Self { collapse: Some(collapse), ..Self::zero(normals) }
    }
}

impl Accumulator for Sums {
    fn merge(&mut self, later: Self) {
        let add = |sums: &mut [f64], later: &[f64]| {
            sums.iter_mut().zip(later).for_each(|(sum, x)| *sum += x);
        };
        self.log_likelihood += later.log_likelihood;
        add(&mut self.mass, &later.mass);
        add(&mut self.pull, &later.pull);
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

impl<'a> Seen<'a> {
    /// The densities of what the rows have; `complete` are those of all columns.
    fn densities(&self, complete: &'a Densities) -> &'a Densities {
        match self {
            Self::Complete => complete,
            Self::Partial(_, completion) => &completion.densities,
        }
    }
}

/// One pass over all rows, on the thread pool it is called in.
pub(super) fn pass(
    data: &Data<'_>,
    normals: &Normals,
    densities: &Densities,
    want: Want,
) -> Result<Sums, Collapse> {
    let zero = || Sums::zero(normals);
    let walk = Walk { x: data.x, units: &data.frame.units, patterns: data.patterns.as_ref() };
    let sums = stats::accumulate(data.x.rows(), PART, zero, |sums, range| {
        let mut block = Block::new(normals.components(), normals.dimension(), range.len());
        let mut moments = (want == Want::Moments).then(|| Moments::new(normals, block.capacity()));
        let walked = walk.walk(&mut block, range, normals, |block, at, seen| {
            if let Some(weights) = data.weights {
                match at {
                    At::Rows(rows) => block.weigh(weights[rows].iter().copied()),
                    At::Chosen(rows) => block.weigh(rows.iter().map(|&i| weights[i])),
                }
            }
            sums.log_likelihood += block.expect(seen.densities(densities));
            match (&mut moments, seen) {
                (None, _) => {}
                (Some(moments), Seen::Complete) => block.add_moments(normals, moments),
                (Some(moments), Seen::Partial(pattern, completion)) => {
                    block.add_completed_moments(pattern, completion, moments);
                }
            }
        });
        sums.collapse = walked.err();
        if let Some(moments) = moments {
            moments.add_to(sums);
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
    let walk = Walk { x, units, patterns: patterns.as_ref() };
    let mut block = Block::new(normals.components(), normals.dimension(), x.rows());
    walk.walk(&mut block, 0..x.rows(), normals, |block, at, seen| {
        block.expect(seen.densities(densities));
        match at {
            At::Rows(rows) => out[rows.clone()].copy_from_slice(&block.ln_p()[..rows.len()]),
            At::Chosen(rows) => rows.iter().zip(block.ln_p()).for_each(|(&i, p)| out[i] = *p),
        }
    })
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
    /// Loads block after block of a range of rows (of the patterns' order, if there are patterns) and shows it to `visit`.
    fn walk(
        &self,
        block: &mut Block,
        range: Range<usize>,
        normals: &Normals,
        mut visit: impl FnMut(&mut Block, At<'_>, Seen<'_>),
    ) -> Result<(), Collapse> {
        let Some(patterns) = self.patterns else {
            for rows in block.cut(range) {
                block.load(self.x.slice(rows.clone()), self.units);
                visit(block, At::Rows(rows), Seen::Complete);
            }
            return Ok(());
        };
        for (pattern, range) in patterns.in_range(range) {
            let completion =
                if pattern.is_complete() { None } else { Some(pattern.complete(normals)?) };
            for rows in patterns.order[range].chunks(block.capacity()) {
                block.gather(self.x, self.units, rows, &pattern.observed);
                let seen = match &completion {
                    None => Seen::Complete,
                    Some(completion) => Seen::Partial(pattern, completion),
                };
                visit(block, At::Chosen(rows), seen);
            }
        }
        Ok(())
    }
}
