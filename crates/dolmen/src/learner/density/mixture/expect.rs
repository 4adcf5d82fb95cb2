//! The E-step's arithmetic on one block of rows, vectorised over the rows: log densities and responsibilities.
//!
//! The layout of a block is that of [`super::block`]. The loops are compiled for AVX-512, AVX2 and the plain target.

#![expect(
    clippy::inline_always,
    reason = "inner loops take the instruction set of the function they stand in"
)]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::normals::{Factors, Normals, Shape, Tail};
use crate::math::lane;

/// Rows that are worked on together.
const STRIP: usize = 16;

/// Components prepared for evaluation.
#[derive(Debug, Clone)]
pub(crate) struct Densities {
    dimension: usize,
    /// Columns, padded to an even number.
    columns: usize,
    diagonal: bool,
    tail: Tail,
    /// Per component `ln kappa - d/2 ln(2 pi) - 1/2 ln |Sigma|`, or what it is for Student's t.
    constants: Vec<f64>,
    /// Per component the mean.
    means: Vec<f64>,
    /// Per component W: full ones in panels of two rows, entries of the two side by side; diagonal ones as they are.
    factors: Vec<f64>,
}

/// Numbers in one component's panels.
fn panel_size(columns: usize) -> usize {
    (2..=columns).step_by(2).map(|width| 2 * width).sum()
}

impl Densities {
    /// Prepares components.
    pub(crate) fn new(normals: &Normals, factors: &Factors) -> Self {
        let d = normals.dimension();
        let columns = d.next_multiple_of(2);
        let diagonal = normals.shape == Shape::Diagonal;
        let mut prepared = Self {
            dimension: d,
            columns,
            diagonal,
            tail: Tail::new(d, normals.freedom),
            constants: Vec::with_capacity(normals.components()),
            means: normals.means.clone(),
            factors: Vec::new(),
        };
        for k in 0..normals.components() {
            let normaliser = prepared.tail.ln_normaliser();
            let constant = normals.weights[k].ln() + normaliser + factors.ln_root(k, d);
            prepared.constants.push(constant);
            let w = factors.of(k);
            if diagonal {
                prepared.factors.extend_from_slice(w);
                continue;
            }
            let at = |i: usize, l: usize| if l <= i && i < d { w[i * d + l] } else { 0.0 };
            for i in (0..columns).step_by(2) {
                prepared.factors.extend((0..i + 2).flat_map(|l| [at(i, l), at(i + 1, l)]));
            }
        }
        prepared
    }

    /// Densities that fall with half the squared distance from a centre, and by nothing else.
    pub(super) fn around(centres: &[f64], dimension: usize) -> Self {
        Self {
            dimension,
            columns: dimension.next_multiple_of(2),
            diagonal: true,
            tail: Tail::new(dimension, None),
            constants: vec![0.0; centres.len() / dimension],
            means: centres.to_vec(),
            factors: vec![1.0; centres.len()],
        }
    }

    /// Number of components.
    pub(super) fn components(&self) -> usize {
        self.constants.len()
    }

    /// Number of columns.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// One component's mean.
    pub(super) fn mean(&self, component: usize) -> &[f64] {
        &self.means[component * self.dimension..][..self.dimension]
    }

    /// Whether rows pull at the components more or less strongly.
    pub(super) fn has_pulls(&self) -> bool {
        self.tail.heavy().is_some()
    }

    /// `ln kappa_i N(z | mu_i, Sigma_i)` of every row of a block for one component; `deviations` is room for its columns,
    /// padded to an even number, of [`GROUP`](super::block::GROUP) rows. Of Student's t also the roots of the rows' pulls.
    pub(super) fn log_joint(
        &self,
        component: usize,
        z: &[f64],
        deviations: &mut [f64],
        out: &mut [f64],
        pulls: &mut [f64],
    ) {
        let Some((nu, power)) = self.tail.heavy() else {
            return self.fall(component, z, self.constants[component], deviations, out);
        };
        self.fall(component, z, 0.0, deviations, out);
        fall_slowly(nu, power, self.constants[component], out, pulls);
    }

    /// `constant - 1/2 |W (z - mu)|^2` of every row.
    fn fall(
        &self,
        component: usize,
        z: &[f64],
        constant: f64,
        deviations: &mut [f64],
        out: &mut [f64],
    ) {
        let mean = self.mean(component);
        if self.diagonal {
            let factor = &self.factors[component * self.dimension..][..self.dimension];
            log_joint_diagonal(z, mean, factor, constant, out);
        } else {
            let size = panel_size(self.columns);
            let panels = &self.factors[component * size..][..size];
            log_joint_full(z, mean, panels, constant, deviations, out);
        }
    }
}

/// `constant - 1/2 |W (z - mu)|^2`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn log_joint_full(
    z: &[f64],
    mean: &[f64],
    panels: &[f64],
    constant: f64,
    deviations: &mut [f64],
    out: &mut [f64],
) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    const WIDE: usize = if target_cfg_f!(target_feature = "avx512f") { 32 } else { 16 };
    let rows = out.len();
    let (deviations, _) = deviations.as_chunks_mut::<WIDE>();
    let deviations = &mut deviations[..mean.len().next_multiple_of(2)];
    deviations[mean.len()..].fill([0.0; WIDE]);
    for (strip, out) in out.as_chunks_mut::<WIDE>().0.iter_mut().enumerate() {
        let columns = z.chunks_exact(rows).zip(mean);
        for (deviation, (z, mean)) in deviations.iter_mut().zip(columns) {
            let z = &z.as_chunks::<WIDE>().0[strip];
            for i in 0..WIDE {
                deviation[i] = z[i] - mean;
            }
        }
        let distance = distances::<FMA, WIDE>(deviations, panels);
        for i in 0..WIDE {
            out[i] = constant - 0.5 * distance[i];
        }
    }
}

/// Turns `-s/2`, `s` the squared distance, into `constant - power ln(1 + s/nu)`; the roots of the pulls `2 power / (nu + s)`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn fall_slowly(nu: f64, power: f64, constant: f64, out: &mut [f64], pulls: &mut [f64]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    for (out, pull) in out.iter_mut().zip(pulls) {
        let beyond = 1.0 - 2.0 * *out / nu;
        let ln = if beyond < f64::INFINITY { lane::ln::<FMA>(beyond) } else { f64::INFINITY };
        *out = constant - power * ln;
        *pull = (2.0 * power / nu / beyond).sqrt();
    }
}

/// `|W v|^2` for some rows: two entries of `W v` at a time.
#[inline(always)]
fn distances<const FMA: bool, const WIDE: usize>(
    deviations: &[[f64; WIDE]],
    panels: &[f64],
) -> [f64; WIDE] {
    let mut distance = [0.0; WIDE];
    let mut rest = panels;
    for width in (2..=deviations.len()).step_by(2) {
        let (panel, next) = rest.split_at(2 * width);
        let (mut first, mut second) = ([0.0; WIDE], [0.0; WIDE]);
        for (w, v) in panel.as_chunks::<2>().0.iter().zip(deviations) {
            for i in 0..WIDE {
                first[i] = lane::fma::<FMA>(w[0], v[i], first[i]);
                second[i] = lane::fma::<FMA>(w[1], v[i], second[i]);
            }
        }
        for i in 0..WIDE {
            let square = lane::fma::<FMA>(first[i], first[i], distance[i]);
            distance[i] = lane::fma::<FMA>(second[i], second[i], square);
        }
        rest = next;
    }
    distance
}

/// `constant - 1/2 sum_j (w_j (z_j - mu_j))^2`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn log_joint_diagonal(z: &[f64], mean: &[f64], factor: &[f64], constant: f64, out: &mut [f64]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let rows = out.len();
    for (strip, out) in out.as_chunks_mut::<STRIP>().0.iter_mut().enumerate() {
        let mut distance = [0.0; STRIP];
        for ((z, mean), w) in z.chunks_exact(rows).zip(mean).zip(factor) {
            let z = &z.as_chunks::<STRIP>().0[strip];
            for i in 0..STRIP {
                let y = (z[i] - mean) * w;
                distance[i] = lane::fma::<FMA>(y, y, distance[i]);
            }
        }
        for i in 0..STRIP {
            out[i] = constant - 0.5 * distance[i];
        }
    }
}

/// Turns log joint densities (component after component, all rows of the block) into roots of responsibilities times row
/// weights, `sqrt(w h)`, and gives `ln p(z)` of every row.
///
/// Roots, because the moments want them and they cost nothing here: `exp(l/2)` is no dearer than `exp(l)`. A row of density
/// zero under every component is nobody's: its shares are 0, its `ln p` is `-inf`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn share_out(shares: &mut [f64], weights: &[f64], total: &mut [f64], ln_p: &mut [f64]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let rows = ln_p.len();
    let (weights, total) = (&weights[..rows], &mut total[..rows]);
    let largest = ln_p;
    largest.fill(f64::MIN);
    for share in shares.chunks_exact(rows) {
        for (largest, share) in largest.iter_mut().zip(share) {
            *largest = largest.max(*share);
        }
    }
    total.fill(0.0);
    for share in shares.chunks_exact_mut(rows) {
        for ((share, largest), total) in share.iter_mut().zip(&*largest).zip(&mut *total) {
            *share = lane::exp::<FMA>(0.5 * (*share - largest));
            *total = lane::fma::<FMA>(*share, *share, *total);
        }
    }
    for ((ln_p, total), weight) in largest.iter_mut().zip(&mut *total).zip(weights) {
        *ln_p += lane::ln::<FMA>(*total);
        let some = if *total > 0.0 { *total } else { 1.0 };
        *total = (weight / some).sqrt();
    }
    for share in shares.chunks_exact_mut(rows) {
        for (share, scale) in share.iter_mut().zip(&*total) {
            *share *= scale;
        }
    }
}

/// For each row the first component of the largest value, as a number: comparisons and choices then have one width.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn first_largest(shares: &[f64], component: &mut [f64]) {
    let strips = component.len() / STRIP;
    let (shares, _) = shares.as_chunks::<STRIP>();
    let (component, _) = component.as_chunks_mut::<STRIP>();
    for (strip, component) in component.iter_mut().enumerate() {
        *component = [0.0; STRIP];
        let mut largest = [f64::NEG_INFINITY; STRIP];
        for (k, share) in shares[strip..].iter().step_by(strips).enumerate() {
            let k = k as f64;
            for i in 0..STRIP {
                let larger = share[i] > largest[i];
                largest[i] = if larger { share[i] } else { largest[i] };
                component[i] = if larger { k } else { component[i] };
            }
        }
    }
}
