//! The loop that predictions spend their time in: the factors N_cuv + 1 of every pair of a row's values.

#![expect(clippy::inline_always, reason = "the loops take the instruction set of their caller")]

use std::ops::Range;

use multiversion::multiversion;

use super::counts::{Slot, pairs_before};

/// What a row's products are made from.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    /// N_cuv by pair of slots and class.
    pub(super) counts: &'a [f64],
    /// What the product of each slot begins with; without them products go on from what they are.
    pub(super) bases: Option<&'a [f64]>,
    /// Numbers of a pair, slot or product.
    pub(super) stride: usize,
}

/// Multiplies the products of both attributes of every pair, the later and the earlier one of the given ranges, by the pair's
/// counts + 1.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn multiply_pairs(
    slots: &[Option<Slot>],
    ranges: (Range<usize>, Range<usize>),
    factors: Factors<'_>,
    products: &mut [f64],
) {
    match factors.stride {
        2 => multiply::<2>(slots, ranges, Factors { stride: 2, ..factors }, 0, products),
        4 => multiply::<4>(slots, ranges, Factors { stride: 4, ..factors }, 0, products),
        8 => multiply::<8>(slots, ranges, Factors { stride: 8, ..factors }, 0, products),
        stride => {
            let eights = stride / 8 * 8;
            for first in (0..eights).step_by(8) {
                multiply::<8>(slots, ranges.clone(), factors, first, products);
            }
            if eights < stride {
                multiply::<4>(slots, ranges, factors, eights, products);
            }
        }
    }
}

/// The same for K classes from the first on: so few that the later attribute's stay in registers, and that many pairs are on
/// their way from memory.
#[inline(always)]
fn multiply<const K: usize>(
    slots: &[Option<Slot>],
    (later, earlier): (Range<usize>, Range<usize>),
    Factors { counts, bases, stride }: Factors<'_>,
    first: usize,
    products: &mut [f64],
) {
    for u in later {
        let Some(slot) = slots[u] else { continue };
        let slot = slot.index();
        let row = &counts[pairs_before(slot) * stride..][..(slot + 1) * stride];
        let (before, own) = products.split_at_mut(u * stride);
        let own = chunk_mut::<K>(own, first);
        let mut product = bases.map_or(*own, |bases| *chunk(bases, slot * stride + first));
        let others = earlier.start..earlier.end.min(u);
        for (v, other) in others.clone().zip(&slots[others]) {
            let Some(other) = other else { continue };
            let factors = chunk::<K>(row, other.index() * stride + first).map(|n| n + 1.0);
            let theirs = chunk_mut::<K>(before, v * stride + first);
            product = std::array::from_fn(|k| product[k] * factors[k]);
            *theirs = std::array::from_fn(|k| theirs[k] * factors[k]);
        }
        *own = product;
    }
}

#[inline(always)]
fn chunk<const K: usize>(numbers: &[f64], first: usize) -> &[f64; K] {
    numbers[first..].first_chunk().expect("a stride is a whole number of chunks")
}

#[inline(always)]
fn chunk_mut<const K: usize>(numbers: &mut [f64], first: usize) -> &mut [f64; K] {
    numbers[first..].first_chunk_mut().expect("a stride is a whole number of chunks")
}
