//! Row-block accumulators: sums over rows that have the same bits on any number of threads.
//!
//! EM statistics, counts, Gram matrices, gradients and histograms are sums over rows. Each is written once as an
//! accumulator that adds a block of rows and merges with another. Rows are cut into parts of a fixed size, every part is
//! summed by itself, and the parts are merged in their order: floating-point sums then do not depend on who did the work.

pub(crate) mod parallel;

use std::ops::Range;

/// A sum over rows that can be formed in parts.
pub trait Accumulator: Send {
    /// Adds another part, which stands for later rows.
    fn merge(&mut self, later: Self);
}

/// Parts per thread summed before they are merged: bounds the memory of unmerged parts. The order of merging, and so
/// the result, does not depend on it.
const PARTS_PER_THREAD: usize = 4;

/// Sums over `0..rows`: `add` is given consecutive ranges of at most `part` rows, each with an accumulator from `zero`.
///
/// Runs on the thread pool it is called in. `part` must not depend on the number of threads.
pub fn accumulate<A: Accumulator>(
    rows: usize,
    part: usize,
    zero: impl Fn() -> A + Sync,
    add: impl Fn(&mut A, Range<usize>) + Sync,
) -> A {
    let mut total = zero();
    let parts = rows.div_ceil(part);
    let wave = PARTS_PER_THREAD * rayon::current_num_threads();
    for first in (0..parts).step_by(wave) {
        let last = (first + wave).min(parts);
        let sums = parallel::map(last - first, &|p| {
            let (mut sum, p) = (zero(), first + p);
            add(&mut sum, p * part..((p + 1) * part).min(rows));
            sum
        });
        sums.into_iter().for_each(|sum| total.merge(sum));
    }
    total
}
