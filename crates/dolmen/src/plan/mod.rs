//! Plans: which rows are learned from and which are predicted, split by split.

use std::borrow::Cow;

/// One split: the rows predicted, and the rows learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    test: Vec<usize>,
    train: Train,
}

/// The rows learned from. Most splits learn from all other rows; storing those would cost V times the table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Train {
    /// Every row that is not predicted.
    Others,
    /// These rows; bootstrap samples hold a row several times.
    Rows(Vec<usize>),
}

impl Split {
    /// The rows predicted, ascending.
    pub fn test(&self) -> &[usize] {
        &self.test
    }

    /// The rows learned from, ascending; `rows` is the plan's number of rows.
    pub fn train(&self, rows: usize) -> Cow<'_, [usize]> {
        match &self.train {
            Train::Rows(train) => Cow::Borrowed(train),
            Train::Others => {
                let mut held_out = vec![false; rows];
                self.test.iter().for_each(|&i| held_out[i] = true);
                Cow::Owned((0..rows).filter(|&i| !held_out[i]).collect())
            }
        }
    }
}

/// How the rows of a table are split, again and again, into rows learned from and rows predicted.
///
/// Deterministic from its parameters and seed. The [fingerprint](Plan::fingerprint) proves that two out-of-sample
/// matrices were made on the same splits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    rows: usize,
    splits: Vec<Split>,
}

impl Plan {
    /// Number of rows that are split.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The splits, in order.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// How often each row is predicted: 0 for rows never held out.
    pub fn coverage(&self) -> Vec<u32> {
        let mut coverage = vec![0; self.rows];
        for split in &self.splits {
            split.test.iter().for_each(|&i| coverage[i] += 1);
        }
        coverage
    }

    /// 16 hexadecimal digits that identify the splits.
    pub fn fingerprint(&self) -> String {
        // FNV-1a over the splits written out as numbers: stable across versions and platforms, unlike std's hashers.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut write = |value: usize| {
            for byte in (value as u64).to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        write(self.rows);
        for split in &self.splits {
            write(split.test.len());
            split.test.iter().for_each(|&i| write(i));
            match &split.train {
                Train::Others => write(usize::MAX),
                Train::Rows(train) => {
                    write(train.len());
                    train.iter().for_each(|&i| write(i));
                }
            }
        }
        format!("{hash:016x}")
    }

    /// Rows dealt in turn to `folds` folds, without shuffling: row i is predicted in split i mod `folds`.
    pub fn in_turn(rows: usize, folds: usize) -> Self {
        let fold = |v| Split {
            test: (v..rows).step_by(folds).collect(),
            train: Train::Others,
        };
        Self {
            rows,
            splits: (0..folds).map(fold).collect(),
        }
    }
}
