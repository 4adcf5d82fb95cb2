//! Folds by a hash of the row's number, or of its group: where a row is held out can be told without the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Folds, Plan, RowKeys, check_folds, stream};
use crate::error::{Error, Place, Result};
use crate::run::{Run, mix};

/// Each row is held out once, in a fold drawn by its number in the table (its group's, if rows have groups): sizes differ as drawn numbers do.
/// Tables that are read block by block are always split so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hashed {
    /// Number of folds: from 2 to the number of rows.
    #[schemars(range(min = 2))]
    pub folds: usize,
}

impl Default for Hashed {
    fn default() -> Self {
        Self { folds: 10 }
    }
}

/// What draws the folds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Lot {
    key: u64,
    folds: usize,
}

impl Lot {
    pub(crate) fn new(folds: usize, run: &Run) -> Self {
        Self { key: stream(run).key(), folds }
    }

    /// The error of rows, or groups, that do not suffice for the folds.
    pub(crate) fn too_few(self, problem: impl std::fmt::Display) -> Error {
        let problem = format!("{problem} of {}, which are drawn by a hash", self.folds);
        let cure = "give fewer folds; rows of one group fall into the same";
        Error::data(Place::default(), problem).with_hint(cure)
    }

    /// How many folds there are.
    pub(crate) fn folds(self) -> usize {
        self.folds
    }

    /// The folds of chosen rows, those without rows left out; `None` if there are no two.
    pub(crate) fn among(
        self,
        keys: &RowKeys<'_>,
        rows: impl Iterator<Item = usize>,
    ) -> Option<Folds> {
        Folds::of_drawn(rows.map(|row| self.fold(keys.lot(row))).collect())
    }

    /// The fold of a row, or group, of this number.
    pub(crate) fn fold(self, number: u64) -> usize {
        (mix(self.key ^ mix(number)) % self.folds as u64) as usize
    }
}

impl Hashed {
    pub(super) fn plan(self, rows: usize, keys: &RowKeys<'_>, run: &Run) -> Result<Plan> {
        check_folds("folds", self.folds, rows, "rows")?;
        let lot = Lot::new(self.folds, run);
        let folds: Vec<usize> = (0..rows).map(|i| lot.fold(keys.lot(i))).collect();
        match (0..self.folds).find(|fold| !folds.contains(fold)) {
            Some(empty) => Err(lot.too_few(format!("no row falls into fold {}", empty + 1))),
            None => Plan::from_folds(&folds),
        }
    }
}
