//! The fingerprint of a plan: 64 bits that say whether two plans hold the same splits.

use super::{Plan, Train};

impl Plan {
    /// 16 hexadecimal digits that identify the splits: the same on every platform and in every version.
    ///
    /// Equal plans have equal fingerprints. Other plans have other ones but for accidents (one pair in 2^64), which is
    /// enough against mixing up plans and not meant against forgery.
    pub fn fingerprint(&self) -> String {
        let mut digest = Digest::new();
        digest.word(self.rows as u64);
        for split in &self.splits {
            digest.rows(&split.test);
            match &split.train {
                Train::Others => digest.word(ALL_OTHERS),
                Train::Rows(train) => digest.rows(train),
            }
        }
        digest.finish()
    }
}

/// Stands where the number of rows learned from would stand; no list is that long.
const ALL_OTHERS: u64 = u64::MAX;

/// 2^64 divided by the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash of 64-bit words. Ours, because std's hashers may change and a byte-wise hash (FNV) takes eight dependent
/// multiplications a row where this takes one.
///
/// Each step `h <- m xor (m >> 32)` with `m = (h xor word) * GOLDEN` is a bijection of the state and of the word, so
/// lists that differ in one row never collide. Nor do lists that differ in two neighbouring rows, as when two rows swap
/// folds: the golden ratio is so badly approximated by fractions that multiplying two words below 2^31 by it drives them
/// apart by more than the next word, below 2^31 again, could make good.
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(GOLDEN)
    }

    pub(crate) fn word(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(GOLDEN);
        self.0 = product ^ (product >> 32);
    }

    /// A list of rows, its length first: `[1] [2, 3]` is not `[1, 2] [3]`.
    fn rows(&mut self, rows: &[usize]) {
        self.word(rows.len() as u64);
        for &row in rows {
            self.word(row as u64);
        }
    }

    /// A text, its length first.
    pub(crate) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for bytes in text.as_bytes().chunks(8) {
            let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            self.word(word);
        }
    }

    /// Two more steps spread the last words over all digits.
    pub(crate) fn finish(mut self) -> String {
        self.word(0);
        self.word(0);
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|n GOLDEN| > 2^31` around the circle of 64 bits for `n` below 2^31: the claim above. The nearest returns to 0 are
    /// at the denominators of the convergents of GOLDEN / 2^64, which for the golden ratio are Fibonacci numbers.
    #[test]
    fn small_differences_are_driven_far_apart() {
        let (mut n, mut next) = (1_u64, 2_u64);
        while n < 1 << 31 {
            let product = n.wrapping_mul(GOLDEN);
            assert!(product.min(product.wrapping_neg()) > 1 << 31, "{n}");
            (n, next) = (next, n + next);
        }
    }
}
