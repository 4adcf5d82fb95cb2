//! What is known of the rows that are learned from: nothing, classes or numbers.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::{Error, Place, Result};
use crate::table::{Categories, Column, place_of};

/// What is known of the rows that are learned from: nothing, labels or numbers.
pub trait Target: Clone + Debug + Send + Sync {
    /// Number of rows, where the target has any.
    fn rows(&self) -> Option<usize>;
    /// The target of chosen rows, in that order.
    #[must_use]
    fn select(&self, rows: &[usize]) -> Self;
    /// Adds the target of further rows, which has the same classes if it has any.
    fn append(&mut self, more: Self);
    /// The classes' names; none unless the target has classes.
    fn classes(&self) -> &[String] {
        &[]
    }
    /// Classes by which splits of the rows are to be stratified, where there are any.
    fn strata(&self) -> Option<&[u32]> {
        None
    }
    /// The labels themselves, where the target is labels.
    fn labels(&self) -> Option<&Labels> {
        None
    }
    /// The numbers to predict; none unless the target is numbers.
    fn numbers(&self) -> Option<&[f64]> {
        None
    }
    /// Whether the target can be learned from: an error that says why not.
    fn check(&self) -> Result<()> {
        Ok(())
    }
    /// The target as a column of a table, where there is one.
    fn to_column(&self) -> Option<Column>;
    /// The target from a column of a table, with classes in the given order; `None` if the column does not fit.
    fn from_column(column: Option<Column>, classes: &[String]) -> Option<Self>;
}

/// Whether numbers look like counts: whole, none below 0, some small beside the others, with a longer tail above their mean than below it.
pub fn are_counts(numbers: &[f64]) -> bool {
    /// Different values from which on the order of size says more than a list of classes would.
    const FEWEST_VALUES: usize = 3;
    /// The least skewness: that of a Poisson distribution of mean 4.
    const SKEWNESS: f64 = 0.5;
    /// Where the least of them lies: prices in whole units of money begin further up.
    const SMALL: f64 = 10.0;
    let is_count = |y: &f64| *y >= 0.0 && y.fract() == 0.0 && *y < LARGEST_COUNT;
    if numbers.is_empty() || !numbers.iter().all(is_count) {
        return false;
    }
    let rows = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / rows;
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let moment = |power: i32| numbers.iter().map(|y| (y - mean).powi(power)).sum::<f64>() / rows;
    let variance = moment(2);
    let mut values: Vec<u64> = numbers.iter().map(|y| *y as u64).collect();
    values.sort_unstable();
    values.dedup();
    values.len() >= FEWEST_VALUES
        && least < SMALL
        && 2.0 * least <= mean
        && moment(3) > SKEWNESS * variance.powf(1.5)
}

/// Beyond, whole numbers are not told from others.
const LARGEST_COUNT: f64 = 9e15;

/// The largest number, and the smallest largest difference, whose squares can be added up.
const LARGEST: f64 = 1e145;
const SMALLEST: f64 = 1e-145;

/// No target: the density of the rows themselves.
impl Target for () {
    fn rows(&self) -> Option<usize> {
        None
    }
    fn select(&self, _rows: &[usize]) -> Self {}
    fn append(&mut self, (): Self) {}
    fn to_column(&self) -> Option<Column> {
        None
    }
    fn from_column(column: Option<Column>, _classes: &[String]) -> Option<Self> {
        column.is_none().then_some(())
    }
}

/// Numbers to predict.
impl Target for Vec<f64> {
    fn rows(&self) -> Option<usize> {
        Some(self.len())
    }
    fn select(&self, rows: &[usize]) -> Self {
        rows.iter().map(|&i| self[i]).collect()
    }
    fn append(&mut self, more: Self) {
        self.extend(more);
    }
    fn numbers(&self) -> Option<&[f64]> {
        Some(self)
    }
    /// Errors are squared and the squares added up: numbers whose squares are infinite, or differences whose squares are
    /// zero, would be learned wrongly without a word.
    fn check(&self) -> Result<()> {
        let least = self.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let reach = most.abs().max(least.abs());
        let problem = if reach > LARGEST && reach.is_finite() {
            format!("the target reaches {reach:e}: squares of such numbers are beyond all numbers")
        } else if most > least && most - least < SMALLEST {
            format!(
                "the target's values differ by {:e} at most: their squares are zero",
                most - least
            )
        } else {
            return Ok(());
        };
        let hint = "bring the target to another unit: multiply or divide it by a constant";
        Err(Error::data(Place::default(), problem).with_hint(hint))
    }
    fn to_column(&self) -> Option<Column> {
        Some(Column::Numeric(self.clone()))
    }
    fn from_column(column: Option<Column>, _classes: &[String]) -> Option<Self> {
        match column {
            Some(Column::Numeric(values)) if values.iter().all(|v| v.is_finite()) => Some(values),
            _ => None,
        }
    }
}

/// Class labels: the names of the classes, and each row's class as an index into them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    classes: Arc<[String]>,
    codes: Vec<u32>,
}

impl Labels {
    /// Labels from class names and codes; every code must name a class.
    pub fn new(classes: impl Into<Arc<[String]>>, codes: Vec<u32>) -> Result<Self> {
        let classes = classes.into();
        if let Some(bad) = codes.iter().find(|&&c| c as usize >= classes.len()) {
            return Err(Error::shape("class code", classes.len(), *bad as usize));
        }
        Ok(Self { classes, codes })
    }

    /// Each row's class.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The class of row `i`.
    pub fn class(&self, i: usize) -> usize {
        self.codes[i] as usize
    }

    /// The rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut rows = vec![0; self.classes.len()];
        self.codes.iter().for_each(|&class| rows[class as usize] += 1);
        rows
    }

    /// The classes with the most rows, so many at most of those that have any, in their order.
    pub fn frequent(&self, most: usize) -> Vec<usize> {
        let rows = self.counts();
        let mut classes: Vec<usize> = (0..rows.len()).filter(|&c| rows[c] > 0).collect();
        classes.sort_by_key(|&c| std::cmp::Reverse(rows[c]));
        classes.truncate(most);
        classes.sort_unstable();
        classes
    }
}

impl Target for Labels {
    fn rows(&self) -> Option<usize> {
        Some(self.codes.len())
    }
    fn select(&self, rows: &[usize]) -> Self {
        Self {
            classes: Arc::clone(&self.classes),
            codes: rows.iter().map(|&i| self.codes[i]).collect(),
        }
    }
    fn append(&mut self, more: Self) {
        self.codes.extend(more.codes);
    }
    fn classes(&self) -> &[String] {
        &self.classes
    }
    fn strata(&self) -> Option<&[u32]> {
        Some(&self.codes)
    }
    fn labels(&self) -> Option<&Labels> {
        Some(self)
    }
    fn to_column(&self) -> Option<Column> {
        let (levels, codes) = (Arc::clone(&self.classes), self.codes.clone());
        Some(Column::Categorical(Categories { levels, codes }))
    }
    fn from_column(column: Option<Column>, classes: &[String]) -> Option<Self> {
        let spelled: Vec<String> = match column? {
            Column::Numeric(values) => values.iter().map(f64::to_string).collect(),
            Column::Categorical(c) => {
                (0..c.codes.len()).map(|i| c.level(i).map(String::from)).collect::<Option<_>>()?
            }
        };
        let code = |name: &String| place_of(name, classes).map(|c| c as u32);
        let codes = spelled.iter().map(code).collect::<Option<_>>()?;
        Labels::new(classes.to_vec(), codes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_classes_are_those_with_the_most_rows_in_their_order() {
        let classes: Vec<String> = ["a", "b", "c", "d"].map(String::from).into();
        let labels = Labels::new(classes, vec![3, 1, 3, 1, 0, 3]).unwrap();
        assert_eq!(labels.counts(), [1, 2, 0, 3]);
        assert_eq!(labels.frequent(2), [1, 3]);
        assert_eq!(labels.frequent(9), [0, 1, 3]);
    }
}
