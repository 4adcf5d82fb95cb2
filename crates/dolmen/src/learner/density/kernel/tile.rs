//! All pairs of rows of two blocks: kernels, and slopes with respect to the bandwidths, added to the sums of both.

#![expect(clippy::inline_always, reason = "the lanes take the instruction set of their caller")]

use std::f64::consts::LOG2_E;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::lanes::{LANES, mask, positive, power_of_two};
use super::shape::Profile;
use crate::math::lane;

/// Rows in a block; the last of all is filled up with rows of weight 0.
pub(super) const BLOCK: usize = 64;
/// Parts in which sums over the rows of a block are kept.
const PARTS: usize = 8;

/// One number for each row of a block.
pub(super) type Lanes = [f64; BLOCK];

/// Some rows.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) columns: Vec<Lanes>,
    pub(super) weights: Lanes,
    /// Small whole numbers, in ascending order.
    pub(super) folds: Lanes,
}

/// For the rows of a block sum_j w_j K_ij, and after it for each column sum_j w_j K_ij r_k.
#[derive(Default)]
pub(super) struct Sums {
    /// From tiles in which the block stood second: one number per row.
    whole: Vec<Lanes>,
    /// From tiles in which it stood first: still in parts, because adding the lanes of a register up is slow.
    partial: Vec<[[f64; PARTS]; BLOCK]>,
}

impl Block {
    /// Whether a fold may have rows in both.
    fn shares_folds(&self, other: &Self) -> bool {
        let ends = |block: &Self| (block.folds[0], block.folds[BLOCK - 1]);
        let ((first, last), (other_first, other_last)) = (ends(self), ends(other));
        first <= other_last && other_first <= last
    }

    /// The rows in units of the bandwidths.
    pub(super) fn scaled(&self, bandwidth: &[f64]) -> Self {
        let in_units = |(column, h): (&Lanes, &f64)| column.map(|v| v / h);
        Self { columns: self.columns.iter().zip(bandwidth).map(in_units).collect(), ..*self }
    }

    /// Whether row l and row m of another block are in different folds.
    #[expect(clippy::float_cmp, reason = "folds are whole numbers")]
    #[inline(always)]
    pub(super) fn separates(&self, l: usize, other: &Self, m: usize) -> bool {
        self.folds[l] != other.folds[m]
    }
}

impl Sums {
    /// Zero; with slopes for so many columns.
    pub(super) fn new(slopes: usize) -> Self {
        Self {
            whole: vec![[0.0; BLOCK]; 1 + slopes],
            partial: vec![[[0.0; PARTS]; BLOCK]; 1 + slopes],
        }
    }

    /// The sum of kernels (k = 0) or slopes (k = 1, ..) of row l.
    pub(super) fn of(&self, k: usize, l: usize) -> f64 {
        self.whole[k][l] + self.partial[k][l].iter().sum::<f64>()
    }
}

/// Adds the kernels between the rows of two blocks to the sums of both.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn tile(profile: Profile, a: &Block, b: &Block, of_a: &mut Sums, of_b: &mut Sums) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let folds_meet = a.shares_folds(b);
    // Kernels times the weights of the rows of b, and times that of the row of a.
    let (mut to_a, mut to_b) = ([0.0; BLOCK], [0.0; BLOCK]);
    for i in (0..BLOCK).filter(|&i| a.weights[i] > 0.0) {
        row_kernels::<FMA>(profile, a, b, i, &mut to_b);
        if folds_meet {
            for (l, kernel) in to_b.iter_mut().enumerate() {
                *kernel = f64::from_bits(kernel.to_bits() & mask(a.separates(i, b, l)));
            }
        }
        for ((to_a, to_b), weight) in to_a.iter_mut().zip(&mut to_b).zip(&b.weights) {
            *to_a = *to_b * weight;
            *to_b *= a.weights[i];
        }
        add_kernels(&to_a, &to_b, &mut of_a.partial[0][i], &mut of_b.whole[0]);
        let slopes_of = of_a.partial[1..].iter_mut().zip(&mut of_b.whole[1..]);
        for ((of_a, of_b), (x, column)) in slopes_of.zip(a.columns.iter().zip(&b.columns)) {
            let pairs = Pairs { x: x[i], column, to_a: &to_a, to_b: &to_b };
            pairs.add_slopes::<FMA>(profile, &mut of_a[i], of_b);
        }
    }
}

/// The profiles of row i of `a` with each row of `b`.
#[inline(always)]
fn row_kernels<const FMA: bool>(
    profile: Profile,
    a: &Block,
    b: &Block,
    i: usize,
    kernel: &mut Lanes,
) {
    match profile {
        Profile::Gaussian => gaussian::<FMA>(a, b, i, kernel),
        Profile::Linear => product(a, b, i, kernel, |u| positive(1.0 - u.abs())),
        Profile::Quadratic(1) => product(a, b, i, kernel, bump),
        Profile::Quadratic(2) => product(a, b, i, kernel, |u| bump(u) * bump(u)),
        Profile::Quadratic(_) => product(a, b, i, kernel, |u| bump(u) * bump(u) * bump(u)),
        Profile::Box => {
            product(a, b, i, kernel, |u| f64::from_bits(mask(u.abs() <= 1.0) & 1.0_f64.to_bits()));
        }
    }
}

/// Adds the kernels between one row of a block and all rows of another to the sums of both.
#[inline(always)]
fn add_kernels(to_a: &Lanes, to_b: &Lanes, of_a: &mut [f64; PARTS], of_b: &mut Lanes) {
    for first in (0..BLOCK).step_by(PARTS) {
        for l in 0..PARTS {
            of_b[first + l] += to_b[first + l];
            of_a[l] += to_a[first + l];
        }
    }
}

/// One row of a block and all rows of another, in one column.
struct Pairs<'a> {
    x: f64,
    column: &'a Lanes,
    /// Kernels times the weights of the rows of the other block.
    to_a: &'a Lanes,
    /// Kernels times the weight of the row.
    to_b: &'a Lanes,
}

impl Pairs<'_> {
    /// Adds kernel * r(u), with r(u) = -u K'(u) / K(u), to the slopes of the row and of the rows of the other block.
    #[inline(always)]
    fn add_slopes<const FMA: bool>(
        &self,
        profile: Profile,
        of_a: &mut [f64; PARTS],
        of_b: &mut Lanes,
    ) {
        match profile {
            Profile::Gaussian => self.add::<FMA>(of_a, of_b, |u| u * u),
            Profile::Linear => self.add::<FMA>(of_a, of_b, |u| ratio(u.abs(), 1.0 - u.abs())),
            Profile::Quadratic(power) => {
                let twice = 2.0 * f64::from(power);
                self.add::<FMA>(of_a, of_b, |u| ratio(twice * u * u, 1.0 - u * u));
            }
            Profile::Box => {}
        }
    }

    #[inline(always)]
    fn add<const FMA: bool>(
        &self,
        of_a: &mut [f64; PARTS],
        of_b: &mut Lanes,
        r: impl Fn(f64) -> f64,
    ) {
        for first in (0..BLOCK).step_by(PARTS) {
            for l in 0..PARTS {
                let r = r(self.x - self.column[first + l]);
                of_b[first + l] = lane::fma::<FMA>(self.to_b[first + l], r, of_b[first + l]);
                of_a[l] = lane::fma::<FMA>(self.to_a[first + l], r, of_a[l]);
            }
        }
    }
}

/// max(0, 1 - u^2).
#[inline(always)]
fn bump(u: f64) -> f64 {
    positive(1.0 - u * u)
}

/// exp(-|u|^2/2) of row i of `a` with each row of `b`.
#[inline(always)]
fn gaussian<const FMA: bool>(a: &Block, b: &Block, i: usize, kernel: &mut Lanes) {
    for first in (0..BLOCK).step_by(LANES) {
        let mut squares = [0.0; LANES];
        for (x, column) in a.columns.iter().zip(&b.columns) {
            for l in 0..LANES {
                let u = x[i] - column[first + l];
                squares[l] = lane::fma::<FMA>(u, u, squares[l]);
            }
        }
        for l in 0..LANES {
            kernel[first + l] = power_of_two::<FMA>(-0.5 * LOG2_E * squares[l]);
        }
    }
}

/// The product over columns of a profile of row i of `a` with each row of `b`.
#[inline(always)]
fn product(a: &Block, b: &Block, i: usize, kernel: &mut Lanes, profile: impl Fn(f64) -> f64) {
    for first in (0..BLOCK).step_by(LANES) {
        let mut products = [1.0; LANES];
        for (x, column) in a.columns.iter().zip(&b.columns) {
            for l in 0..LANES {
                products[l] *= profile(x[i] - column[first + l]);
            }
        }
        kernel[first..first + LANES].copy_from_slice(&products);
    }
}

/// x / y where y is positive; finite elsewhere, where the kernel it is multiplied with is 0.
#[inline(always)]
fn ratio(x: f64, y: f64) -> f64 {
    const LEAST: f64 = 1e-200;
    x / if y > LEAST { y } else { LEAST }
}
