//! The density of one member at many rows, by the fastest way that keeps the tolerance.
//!
//! | kernel | columns | way |
//! | --- | --- | --- |
//! | finite support | 1 | sums of powers ([`super::sorted`]) |
//! | Gaussian | 1 to 3, many rows | polynomials on a grid ([`super::grid`]), far-out queries as below |
//! | any | any | blocks of rows within reach ([`super::tree`]) |
//!
//! The choice depends on the model alone, never on the queries: a row's density does not depend on its company.

use super::bandwidth::Widths;
use super::grid::{Grid, Layout, Place};
use super::points::Points;
use super::shape::Shape;
use super::sorted::Moments;
use super::tree::PairSums;
use crate::math::bulk;

/// Weighted kernels of one shape and bandwidth on rows.
#[derive(Clone, Copy)]
pub(super) struct Kernels<'a> {
    pub(super) points: &'a Points,
    /// Sum to 1.
    pub(super) weights: &'a [f64],
    pub(super) shape: Shape,
    pub(super) tolerance: f64,
}

/// What is prepared once to evaluate many rows fast.
#[derive(Debug, Clone)]
pub(super) enum Shortcut {
    /// Nothing: look at the rows.
    None,
    Moments(Moments),
    Grid(Grid),
}

/// Rows below which preparing does not pay.
const FEW: usize = 256;

impl Shortcut {
    /// Prepares for this many queries, if that pays.
    pub(super) fn new(kernels: Kernels<'_>, bandwidth: &[f64], queries: usize) -> Self {
        let Kernels { points, weights, shape, tolerance } = kernels;
        if points.len() < FEW || queries < FEW || tolerance == 0.0 {
            return Self::None;
        }
        if shape != Shape::Gaussian {
            if bandwidth.len() > 1 {
                return Self::None;
            }
            return Moments::new(points, weights, shape, bandwidth[0])
                .map_or(Self::None, Self::Moments);
        }
        let pays = |layout: &Layout| {
            let grid = layout.work(points.len()) + queries as f64 * layout.work_of_query();
            // A pair of rows costs several times what a multiplication costs, but not all pairs are looked at.
            grid < 2.0 * points.len() as f64 * queries as f64
        };
        match Layout::new(points, bandwidth, tolerance).filter(pays) {
            Some(layout) => Self::Grid(Grid::new(layout, points, weights, tolerance)),
            None => Self::None,
        }
    }

    /// Whether nothing was prepared.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// The log density of one member at queries given row after row.
pub(super) fn log_densities(
    kernels: Kernels<'_>,
    bandwidth: &[f64],
    shortcut: &Shortcut,
    queries: &[f64],
    out: &mut [f64],
) {
    let mut refused = Vec::new();
    match shortcut {
        Shortcut::None => return by_rows(kernels, bandwidth, queries, out),
        Shortcut::Moments(moments) => {
            for (out, &x) in out.iter_mut().zip(queries) {
                *out = moments.sum(kernels.points, kernels.weights, x, kernels.tolerance);
            }
        }
        Shortcut::Grid(grid) => {
            let mut place = Place::default();
            let rows = queries.chunks_exact(bandwidth.len());
            for (i, (out, query)) in out.iter_mut().zip(rows).enumerate() {
                *out = grid.sum(query, &mut place).unwrap_or_else(|| {
                    refused.push(i);
                    1.0
                });
            }
        }
    }
    let constant = kernels.shape.constant().ln();
    let log_constant: f64 = bandwidth.iter().map(|h| constant - h.ln()).sum();
    bulk::ln_in_place(out);
    for out in &mut *out {
        *out += log_constant;
    }
    let query = |&i: &usize| &queries[i * bandwidth.len()..(i + 1) * bandwidth.len()];
    let rest: Vec<f64> = refused.iter().flat_map(query).copied().collect();
    let mut values = vec![0.0; refused.len()];
    by_rows(kernels, bandwidth, &rest, &mut values);
    for (i, value) in refused.into_iter().zip(values) {
        out[i] = value;
    }
}

fn by_rows(kernels: Kernels<'_>, bandwidth: &[f64], queries: &[f64], out: &mut [f64]) {
    let widths = Widths::single(bandwidth.to_vec());
    let Kernels { points, weights, shape, tolerance } = kernels;
    PairSums::new(points, weights, shape, &widths, tolerance).log_densities(queries, out);
}
