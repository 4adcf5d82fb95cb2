//! All pairs of rows of two blocks: kernels, and slopes with respect to the bandwidths, added to the sums of both.

#![expect(clippy::inline_always, reason = "the lanes take the instruction set of their caller")]

use std::f64::consts::LOG2_E;
use std::ops::{Deref, DerefMut, Range};

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::lanes::{LANES, mask, positive, power_of_two};
use super::shape::Profile;
use crate::math::lane;

/// Rows in a block; the last of all is filled up with rows of weight 0.
pub(super) const BLOCK: usize = 64;
/// Parts in which sums over the rows of a block are kept.
const PARTS: usize = 4;
/// Rows of the first block that are looked at together: the sums of the second are then fetched once for all of them.
const TOGETHER: usize = 4;

/// One number for each row of a block, at the beginning of a line of the cache: registers read across two lines cost twice.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [f64; BLOCK]);

impl Deref for Lanes {
    type Target = [f64; BLOCK];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Lanes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Some rows.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) columns: Vec<Lanes>,
    pub(super) weights: Lanes,
    /// Small whole numbers, in ascending order.
    pub(super) folds: Lanes,
}

/// For the rows of a block sum_j w_i w_j K_ij, and after it for each column sum_j w_i w_j K_ij r_k. The row's own weight
/// is in it so that one product serves the rows of both blocks.
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
        let in_units = |(column, h): (&Lanes, &f64)| Lanes(column.map(|v| v / h));
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
            whole: vec![Lanes([0.0; BLOCK]); 1 + slopes],
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
pub(super) fn tile(
    profile: Profile,
    order: Order,
    (a, b): (&Block, &Block),
    of_a: &mut Sums,
    of_b: &mut Sums,
) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let folds_meet = a.shares_folds(b);
    let mut unused = (order == Order::Forward).then(|| Sums::new(of_a.whole.len() - 1));
    let mut kernels = [Lanes([0.0; BLOCK]); TOGETHER];
    for first in (0..BLOCK).step_by(TOGETHER) {
        let rows = first..first + TOGETHER;
        if a.weights[rows.clone()].iter().all(|weight| *weight == 0.0) {
            continue;
        }
        row_kernels::<FMA>(profile, a, b, first, &mut kernels);
        if let Some(unused) = &mut unused {
            // Each pair serves the later row only: once for the rows of one block, once for those of the other.
            let mut of_later = kernels;
            for (i, kernel) in rows.clone().zip(&mut of_later) {
                keep(kernel, |l| b.folds[l] < a.folds[i]);
            }
            let tiles = Tile { profile, a, b, rows: rows.clone() };
            tiles.add::<FMA>(&of_later, of_a, unused);
            for (i, kernel) in rows.clone().zip(&mut kernels) {
                keep(kernel, |l| a.folds[i] < b.folds[l]);
            }
            tiles.add::<FMA>(&kernels, unused, of_b);
            continue;
        }
        if folds_meet {
            for (i, kernel) in rows.clone().zip(&mut kernels) {
                keep(kernel, |l| a.separates(i, b, l));
            }
        }
        Tile { profile, a, b, rows }.add::<FMA>(&kernels, of_a, of_b);
    }
}

/// Which rows of other folds a row's density is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// All.
    Any,
    /// Those of earlier folds.
    Forward,
}

/// Some rows of a block and all rows of another.
struct Tile<'a> {
    profile: Profile,
    a: &'a Block,
    b: &'a Block,
    rows: Range<usize>,
}

impl Tile<'_> {
    /// Adds their kernels to the sums of both, and the slopes that are asked for.
    #[inline(always)]
    fn add<const FMA: bool>(&self, kernels: &[Lanes; TOGETHER], of_a: &mut Sums, of_b: &mut Sums) {
        let rows = || self.rows.clone();
        add::<FMA>(kernels, &mut of_a.partial[0][rows()], &mut of_b.whole[0], |_, _| 1.0);
        let slopes_of = of_a.partial[1..].iter_mut().zip(&mut of_b.whole[1..]);
        for ((of_a, of_b), (x, column)) in slopes_of.zip(self.a.columns.iter().zip(&self.b.columns))
        {
            let pairs = Pairs { x: &x[rows()], column, kernels };
            pairs.add_slopes::<FMA>(self.profile, &mut of_a[rows()], of_b);
        }
    }
}

/// The profiles of some rows of `a`, from the first on, with each row of `b`, times the weights of both.
#[inline(always)]
fn row_kernels<const FMA: bool>(
    profile: Profile,
    a: &Block,
    b: &Block,
    first: usize,
    kernels: &mut [Lanes; TOGETHER],
) {
    match profile {
        Profile::Gaussian => {
            for (pair, kernels) in kernels.as_chunks_mut().0.iter_mut().enumerate() {
                gaussian::<FMA>(a, b, first + 2 * pair, kernels);
            }
        }
        Profile::Linear => product(a, b, first, kernels, |u| positive(1.0 - u.abs())),
        Profile::Quadratic(1) => product(a, b, first, kernels, bump),
        Profile::Quadratic(2) => product(a, b, first, kernels, |u| bump(u) * bump(u)),
        Profile::Quadratic(_) => product(a, b, first, kernels, |u| bump(u) * bump(u) * bump(u)),
        Profile::Box => {
            let inside = |u: f64| f64::from_bits(mask(u.abs() <= 1.0) & 1.0_f64.to_bits());
            product(a, b, first, kernels, inside);
        }
    }
}

/// Sets the kernels with rows that do not count to 0.
#[inline(always)]
fn keep(kernel: &mut Lanes, counts: impl Fn(usize) -> bool) {
    for (l, kernel) in kernel.iter_mut().enumerate() {
        *kernel = f64::from_bits(kernel.to_bits() & mask(counts(l)));
    }
}

/// Some rows of a block and all rows of another, in one column.
struct Pairs<'a> {
    x: &'a [f64],
    column: &'a Lanes,
    /// Times the weights of both rows.
    kernels: &'a [Lanes; TOGETHER],
}

impl Pairs<'_> {
    /// Adds kernel * r(u), with r(u) = -u K'(u) / K(u), to the slopes of the rows of both blocks.
    #[inline(always)]
    fn add_slopes<const FMA: bool>(
        &self,
        profile: Profile,
        of_a: &mut [[f64; PARTS]],
        of_b: &mut Lanes,
    ) {
        match profile {
            Profile::Gaussian => self.add_products::<FMA>(of_a, of_b, |u| u * u),
            Profile::Linear => {
                self.add_products::<FMA>(of_a, of_b, |u| ratio(u.abs(), 1.0 - u.abs()));
            }
            Profile::Quadratic(power) => {
                let twice = 2.0 * f64::from(power);
                self.add_products::<FMA>(of_a, of_b, |u| ratio(twice * u * u, 1.0 - u * u));
            }
            Profile::Box => {}
        }
    }

    #[inline(always)]
    fn add_products<const FMA: bool>(
        &self,
        of_a: &mut [[f64; PARTS]],
        of_b: &mut Lanes,
        r: impl Fn(f64) -> f64,
    ) {
        let x: [f64; TOGETHER] = std::array::from_fn(|row| self.x[row]);
        add::<FMA>(self.kernels, of_a, of_b, |row, l| r(x[row] - self.column[l]));
    }
}

/// Adds kernels between some rows of a block and all rows of another, times a factor, to the sums of both.
#[inline(always)]
fn add<const FMA: bool>(
    kernels: &[Lanes; TOGETHER],
    of_a: &mut [[f64; PARTS]],
    of_b: &mut Lanes,
    factor: impl Fn(usize, usize) -> f64,
) {
    // An array of a known size stays in registers for as long as the loop lasts.
    let mut sums = [[0.0; PARTS]; TOGETHER];
    for first in (0..BLOCK).step_by(PARTS) {
        for l in 0..PARTS {
            let mut of_row = of_b[first + l];
            for row in 0..TOGETHER {
                let (kernel, factor) = (kernels[row][first + l], factor(row, first + l));
                of_row = lane::fma::<FMA>(kernel, factor, of_row);
                sums[row][l] = lane::fma::<FMA>(kernel, factor, sums[row][l]);
            }
            of_b[first + l] = of_row;
        }
    }
    for (of_a, sums) in of_a.iter_mut().zip(sums) {
        for l in 0..PARTS {
            of_a[l] += sums[l];
        }
    }
}

/// max(0, 1 - u^2).
#[inline(always)]
fn bump(u: f64) -> f64 {
    positive(1.0 - u * u)
}

/// w_i w_l exp(-|u|^2/2) of two rows of `a`, from row i on, with each row of `b`: a value of `b` is fetched once for both.
#[inline(always)]
fn gaussian<const FMA: bool>(a: &Block, b: &Block, i: usize, kernels: &mut [Lanes; 2]) {
    for first in (0..BLOCK).step_by(LANES) {
        let mut squares = [[0.0; LANES]; 2];
        for (x, column) in a.columns.iter().zip(&b.columns) {
            for l in 0..LANES {
                let (u, v) = (x[i] - column[first + l], x[i + 1] - column[first + l]);
                squares[0][l] = lane::fma::<FMA>(u, u, squares[0][l]);
                squares[1][l] = lane::fma::<FMA>(v, v, squares[1][l]);
            }
        }
        for (kernel, squares) in kernels.iter_mut().zip(&squares) {
            kernel[first..first + LANES].copy_from_slice(squares);
        }
    }
    // A loop of its own over many rows, which the compiler then vectorises as such.
    for (row, kernel) in kernels.iter_mut().enumerate() {
        let own = a.weights[i + row];
        for (kernel, weight) in kernel.iter_mut().zip(b.weights.iter()) {
            *kernel = own * weight * power_of_two::<FMA>(-0.5 * LOG2_E * *kernel);
        }
    }
}

/// The products over columns of a profile of some rows of `a`, from the first on, with each row of `b`, times the weights
/// of both.
#[inline(always)]
fn product(
    a: &Block,
    b: &Block,
    first_row: usize,
    kernels: &mut [Lanes; TOGETHER],
    profile: impl Fn(f64) -> f64,
) {
    for (row, kernel) in kernels.iter_mut().enumerate() {
        for first in (0..BLOCK).step_by(LANES) {
            let own = a.weights[first_row + row];
            let mut products: [f64; LANES] = std::array::from_fn(|l| own * b.weights[first + l]);
            for (x, column) in a.columns.iter().zip(&b.columns) {
                for l in 0..LANES {
                    products[l] *= profile(x[first_row + row] - column[first + l]);
                }
            }
            kernel[first..first + LANES].copy_from_slice(&products);
        }
    }
}

/// x / y where y is positive; finite elsewhere, where the kernel it is multiplied with is 0.
#[inline(always)]
fn ratio(x: f64, y: f64) -> f64 {
    const LEAST: f64 = 1e-200;
    x / if y > LEAST { y } else { LEAST }
}
