//! Folds in which every class has its share.

use rand::Rng;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Plan, check_folds, stream};
use crate::error::Result;
use crate::run::Run;

/// Each row is held out once; a class's rows are spread over the folds to within one row, and fold sizes differ by at
/// most one. A class with fewer rows than folds is missing from some folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stratified {
    /// Number of folds: from 2 to the number of rows.
    #[schemars(range(min = 2))]
    pub folds: usize,
}

impl Default for Stratified {
    fn default() -> Self {
        Self { folds: 10 }
    }
}

impl Plan {
    /// Shuffled folds over which every class is spread evenly; `classes` holds each row's class.
    pub fn stratified(classes: &[u32], folds: usize, run: &Run) -> Result<Self> {
        check_folds("folds", folds, classes.len(), "rows")?;
        // Dealing goes on from class to class where the last one stopped: that keeps both classes and folds balanced.
        let order = shuffled_by_class(classes.len(), Some(classes), &mut stream(run).rng());
        Ok(Self::dealt(&order, folds))
    }
}

/// All rows in random order, or class after class and in random order within each.
pub(super) fn shuffled_by_class(
    rows: usize,
    classes: Option<&[u32]>,
    rng: &mut impl Rng,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(rng);
    if let Some(classes) = classes {
        order.sort_by_key(|&row| classes[row]);
    }
    order
}
