//! The M-step's share of the arithmetic on one block of rows: weighted moments of the deviations from a component's mean.
//! The layout of a block is that of [`super::block`].
//!
//! Moments are taken about the component's present mean, not about zero: the new covariance is then a small correction
//! away, and nothing cancels however far apart the components are. Rows enter with the root of their share,
//! `u = sqrt(h) v`, so that `sum h v v' = sum u u'` reads one array instead of two.

#![expect(
    clippy::inline_always,
    reason = "inner loops take the instruction set of the function they stand in"
)]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::missing::Pattern;
use super::normals::{Normals, Regression, Shape};
use super::pass::Sums;
use crate::math::{bulk, lane};

/// Running sums kept of each moment between blocks: adding them up is put off to the end.
const LANES: usize = 4;

/// The running sums of one moment.
type Running = [f64; LANES];

/// The moments of all components over some blocks of rows.
#[derive(Debug)]
pub(super) struct Moments {
    dimension: usize,
    mass: Vec<f64>,
    /// `sum h u`, `u` the rows' pulls.
    pull: Vec<f64>,
    /// `sum h u v`, component after component.
    first: Vec<Running>,
    second: Second,
    /// What missing values add to the second moments, as [`Sums`] keep them; empty until there are any.
    residual: Vec<f64>,
    /// `u` of one component, columns padded to an even number.
    u: Vec<f64>,
    /// Room for the roots of one component's shares times pulls.
    pulled: Vec<f64>,
}

/// `sum h v v'`, component after component.
#[derive(Debug)]
enum Second {
    /// Two times two entries at a time, down to the diagonal.
    Full(Vec<[Running; 4]>),
    /// The diagonal.
    Diagonal(Vec<Running>),
}

/// Tiles of two times two entries in the lower triangle.
fn tiles(dimension: usize) -> usize {
    let pairs = dimension.div_ceil(2);
    pairs * (pairs + 1) / 2
}

impl Moments {
    /// No rows yet; `rows` is the most a block will have.
    pub(super) fn new(normals: &Normals, rows: usize) -> Self {
        let (k, d) = (normals.components(), normals.dimension());
        Self {
            dimension: d,
            mass: vec![0.0; k],
            pull: vec![0.0; k],
            first: vec![[0.0; LANES]; k * d],
            second: match normals.shape {
                Shape::Full | Shape::Tied => Second::Full(vec![[[0.0; LANES]; 4]; k * tiles(d)]),
                Shape::Diagonal => Second::Diagonal(vec![[0.0; LANES]; k * d]),
            },
            residual: Vec::new(),
            u: vec![0.0; d.next_multiple_of(2) * rows],
            pulled: Vec::new(),
        }
    }

    /// Adds a component's conditional covariance of missing columns, times the mass of rows that lack them.
    pub(super) fn add_residual(
        &mut self,
        component: usize,
        mass: f64,
        missing: &[usize],
        residual: &[f64],
    ) {
        let d = self.dimension;
        let diagonal = matches!(self.second, Second::Diagonal(_));
        let size = if diagonal { d } else { d * d };
        self.residual.resize(self.mass.len() * size, 0.0);
        let second = &mut self.residual[component * size..][..size];
        for (i, &p) in missing.iter().enumerate() {
            if diagonal {
                second[p] += mass * residual[i];
                continue;
            }
            for (&q, residual) in missing[..=i].iter().zip(&residual[i * missing.len()..]) {
                second[p * d + q] += mass * residual;
            }
        }
    }

    /// Adds a block of rows for one component; `roots` are those of its shares, `pulls` those of the rows' pulls if they differ.
    /// Gives the component's mass in the block.
    pub(super) fn add(
        &mut self,
        component: usize,
        z: &[f64],
        mean: &[f64],
        roots: &[f64],
        pulls: Option<&[f64]>,
    ) -> f64 {
        let (d, rows) = (self.dimension, roots.len());
        let mass = bulk::dot(roots, roots);
        self.mass[component] += mass;
        if let Some(pulls) = pulls {
            self.pulled.clear();
            self.pulled.extend(roots.iter().zip(pulls).map(|(root, pull)| root * pull));
        }
        let (roots, pull) = match pulls {
            None => (roots, mass),
            Some(_) => (&*self.pulled, bulk::dot(&self.pulled, &self.pulled)),
        };
        self.pull[component] += pull;
        let (u, padding) = self.u[..d.next_multiple_of(2) * rows].split_at_mut(d * rows);
        padding.fill(0.0);
        weigh(z, mean, roots, u, &mut self.first[component * d..][..d]);
        match &mut self.second {
            Second::Full(running) => {
                let u = &self.u[..d.next_multiple_of(2) * rows];
                add_products(u, rows, &mut running[component * tiles(d)..][..tiles(d)]);
            }
            Second::Diagonal(running) => {
                add_squares(u, rows, &mut running[component * d..][..d]);
            }
        }
        mass
    }

    /// Adds everything to the sums of a pass.
    pub(super) fn add_to(&self, sums: &mut Sums) {
        let d = self.dimension;
        let add = |sums: &mut [f64], running: &[Running]| {
            for (sum, running) in sums.iter_mut().zip(running) {
                *sum += running.iter().sum::<f64>();
            }
        };
        sums.mass.iter_mut().zip(&self.mass).for_each(|(sum, mass)| *sum += mass);
        sums.pull.iter_mut().zip(&self.pull).for_each(|(sum, pull)| *sum += pull);
        add(&mut sums.first, &self.first);
        sums.second.iter_mut().zip(&self.residual).for_each(|(sum, x)| *sum += x);
        match &self.second {
            Second::Diagonal(running) => add(&mut sums.second, running),
            Second::Full(running) => {
                let components = sums.second.chunks_exact_mut(d * d);
                for (second, running) in components.zip(running.chunks_exact(tiles(d))) {
                    let mut running = running.iter();
                    for i in (0..d).step_by(2) {
                        for (j, tile) in (0..=i).step_by(2).zip(&mut running) {
                            for (at, running) in tile.iter().enumerate() {
                                let (row, column) = (i + at / 2, j + at % 2);
                                if row < d && column <= row {
                                    second[row * d + column] += running.iter().sum::<f64>();
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The deviations of rows that lack some columns: of the observed ones from their mean, of the missing ones by as much as
/// their conditional mean is away, `A (z_o - mu_o)`.
pub(super) fn complete(
    z: &[f64],
    mean: &[f64],
    pattern: &Pattern,
    regression: &Regression,
    rows: usize,
    out: &mut [f64],
) {
    let given = pattern.observed.len();
    for ((z, mean), &j) in z.chunks_exact(rows).zip(mean).zip(&pattern.observed) {
        for (out, z) in out[j * rows..].iter_mut().zip(z) {
            *out = z - mean;
        }
    }
    for (r, &j) in pattern.missing.iter().enumerate() {
        let coefficients = &regression.coefficients[r * given..][..given];
        expect_missing(z, mean, coefficients, &mut out[j * rows..][..rows]);
    }
}

/// `A (z_o - mu_o)` for one missing column, `coefficients` its row of A.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn expect_missing(z: &[f64], mean: &[f64], coefficients: &[f64], out: &mut [f64]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    out.fill(0.0);
    let rows = out.len();
    for ((z, mean), a) in z.chunks_exact(rows).zip(mean).zip(coefficients) {
        for (out, z) in out.iter_mut().zip(z) {
            *out = lane::fma::<FMA>(*a, z - mean, *out);
        }
    }
}

/// `u = sqrt(h) (z - mu)`, column by column; adds `sum sqrt(h) u` to the column's running sums.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn weigh(z: &[f64], mean: &[f64], roots: &[f64], u: &mut [f64], running: &mut [Running]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    const WIDE: usize = 16;
    let rows = roots.len();
    let columns = z.chunks_exact(rows).zip(u.chunks_exact_mut(rows));
    for ((columns, mean), running) in columns.zip(mean).zip(running) {
        let mut sums = [0.0; WIDE];
        let strips = columns.0.as_chunks::<WIDE>().0.iter().zip(roots.as_chunks::<WIDE>().0);
        for ((z, roots), u) in strips.zip(columns.1.as_chunks_mut::<WIDE>().0) {
            for i in 0..WIDE {
                u[i] = (z[i] - mean) * roots[i];
                sums[i] = lane::fma::<FMA>(u[i], roots[i], sums[i]);
            }
        }
        fold(sums, running);
    }
}

/// Adds `sum_rows u u'`: for each pair of columns and each pair not after it, the running sums of the four products.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn add_products(u: &[f64], rows: usize, running: &mut [[Running; 4]]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    const WIDE: usize = if target_cfg_f!(target_feature = "avx512f") { 16 } else { 8 };
    let mut tiles = running.iter_mut();
    for (i, left) in u.chunks_exact(2 * rows).enumerate() {
        for right in u.chunks_exact(2 * rows).take(i + 1) {
            if let Some(tile) = tiles.next() {
                add_tile::<FMA, WIDE>(left.split_at(rows), right.split_at(rows), tile);
            }
        }
    }
}

/// The products of two columns with two columns.
#[inline(always)]
fn add_tile<const FMA: bool, const WIDE: usize>(
    left: (&[f64], &[f64]),
    right: (&[f64], &[f64]),
    running: &mut [Running; 4],
) {
    let mut sums = [[0.0; WIDE]; 4];
    let (a, b) = (left.0.as_chunks::<WIDE>().0, left.1.as_chunks::<WIDE>().0);
    let (c, d) = (right.0.as_chunks::<WIDE>().0, right.1.as_chunks::<WIDE>().0);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for i in 0..WIDE {
            sums[0][i] = lane::fma::<FMA>(a[i], c[i], sums[0][i]);
            sums[1][i] = lane::fma::<FMA>(a[i], d[i], sums[1][i]);
            sums[2][i] = lane::fma::<FMA>(b[i], c[i], sums[2][i]);
            sums[3][i] = lane::fma::<FMA>(b[i], d[i], sums[3][i]);
        }
    }
    for (sums, running) in sums.into_iter().zip(running) {
        fold(sums, running);
    }
}

/// Adds `sum_rows u_j^2` of every column.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn add_squares(u: &[f64], rows: usize, running: &mut [Running]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    const WIDE: usize = 16;
    for (u, running) in u.chunks_exact(rows).zip(running) {
        let mut sums = [0.0; WIDE];
        for u in u.as_chunks::<WIDE>().0 {
            for i in 0..WIDE {
                sums[i] = lane::fma::<FMA>(u[i], u[i], sums[i]);
            }
        }
        fold(sums, running);
    }
}

/// Adds many running sums to few, halving: vector additions, no sum across a vector.
#[inline(always)]
fn fold<const N: usize>(mut sums: [f64; N], running: &mut Running) {
    let mut half = N / 2;
    while half >= LANES {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    for i in 0..LANES {
        running[i] += sums[i];
    }
}
