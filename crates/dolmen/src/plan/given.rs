//! Plans made elsewhere: folds by number, or splits row by row.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Plan, RowKeys, Split, check_folds};
use crate::error::{Error, Place, Result};

/// Each row is held out once, in the fold that a column of the table names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {}

impl Plan {
    /// The partition by the rows' own folds; folds that tear groups apart are refused.
    pub(super) fn given(keys: &RowKeys<'_>) -> Result<Self> {
        let Some(folds) = keys.folds else {
            let error = Error::data(Place::default(), "a given plan needs the rows' folds");
            return Err(error.with_hint("name the column of folds: given(column=NAME)"));
        };
        if let Some(groups) = keys.groups {
            let mut fold_of_group = HashMap::new();
            let is_torn =
                |i: &usize| *fold_of_group.entry(groups[*i]).or_insert(folds[*i]) != folds[*i];
            if let Some(row) = (0..folds.len()).find(is_torn) {
                let problem = "the given folds put the row's group on both sides of a split";
                return Err(Error::data(Place::row(row), problem));
            }
        }
        // Of rows chosen from a table some folds may have none left.
        let mut numbers = folds.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let place = |fold: &u32| numbers.partition_point(|number| number < fold);
        Self::from_folds(&folds.iter().map(place).collect::<Vec<usize>>())
    }

    /// The partition in which row i is predicted in split `fold_of_row[i]`. Folds are numbered 0, 1, 2, .. without gaps.
    pub fn from_folds(fold_of_row: &[usize]) -> Result<Self> {
        let rows = fold_of_row.len();
        let folds = fold_of_row.iter().max().map_or(0, |last| last.saturating_add(1));
        let mut found = vec![false; folds.min(rows)];
        for &fold in fold_of_row {
            // A number beyond the rows leaves a gap below it, which is found next.
            if let Some(found) = found.get_mut(fold) {
                *found = true;
            }
        }
        if let Some(missing) = found.iter().position(|found| !found) {
            let problem =
                format!("no row is in fold {missing}, but some are in fold {}", folds - 1);
            let cure = "number the folds 0, 1, 2, .. without gaps";
            return Err(Error::data(Place::default(), problem).with_hint(cure));
        }
        check_folds("folds", folds, rows, "rows")?;
        let fold_of_row: Vec<u32> = fold_of_row.iter().map(|&fold| fold as u32).collect();
        Ok(Self::partition(&fold_of_row, folds))
    }

    /// The splits given as pairs of (rows learned from, rows predicted), in any order within a side. A row may be
    /// learned from several times; it may not be on both sides of a split, nor be predicted twice in it.
    pub fn from_splits(
        rows: usize,
        splits: impl IntoIterator<Item = (Vec<usize>, Vec<usize>)>,
    ) -> Result<Self> {
        let split = |(number, (train, test))| {
            let wrong = |problem| format!("split {number} of the plan {problem}");
            checked(rows, train, test)
                .map_err(|problem| Error::data(Place::default(), wrong(problem)))
        };
        let splits = (1..).zip(splits).map(split).collect::<Result<Vec<_>>>()?;
        if splits.is_empty() {
            return Err(Error::data(Place::default(), "the plan has no splits"));
        }
        Ok(Self::of(rows, splits))
    }
}

/// The split, or what is wrong with it.
fn checked(rows: usize, mut train: Vec<usize>, mut test: Vec<usize>) -> Result<Split, String> {
    train.sort_unstable();
    test.sort_unstable();
    let (Some(&last_train), Some(&last_test)) = (train.last(), test.last()) else {
        let empty = if test.is_empty() { "predicts no row" } else { "learns from no row" };
        return Err(empty.into());
    };
    let last = last_train.max(last_test);
    if last >= rows {
        return Err(format!(
            "names row {last}, but the rows are counted from 0 to {}",
            rows.saturating_sub(1)
        ));
    }
    if let Some([twice, _]) = test.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("predicts row {twice} twice"));
    }
    if let Some(both) = test.iter().find(|row| train.binary_search(row).is_ok()) {
        return Err(format!("learns from row {both} and predicts it"));
    }
    Ok(Split::explicit(rows, train, test))
}
