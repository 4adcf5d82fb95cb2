//! Rows with missing values: which columns each row has, and what the components say about the others.
//!
//! The observed-data likelihood of a row is the marginal density of the values it has. EM completes the row component by
//! component: the missing values are replaced by their conditional means, and the M-step adds their conditional covariance
//! (LittleRubin2002, section 11.2; GhahramaniJordan1994). Rows are sorted by their
//! pattern of missing values, so that this algebra is done once per pattern and run of rows, not once per row.

use std::collections::BTreeMap;
use std::ops::Range;

use super::expect::Densities;
use super::normals::{Collapse, Factors, Normals, Regression};
use crate::table::Rows;

/// The rows, sorted by what they lack.
#[derive(Debug)]
pub(super) struct Patterns {
    /// Row numbers, pattern after pattern, ascending within one.
    pub(super) order: Vec<usize>,
    patterns: Vec<Pattern>,
}

/// Rows that lack the same columns.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Where the rows stand in the order.
    rows: Range<usize>,
    /// The columns the rows have.
    pub(super) observed: Vec<usize>,
    /// The columns they lack.
    pub(super) missing: Vec<usize>,
}

/// What the components say about rows of one pattern.
#[derive(Debug)]
pub(super) struct Completion {
    /// The density of the observed columns.
    pub(super) densities: Densities,
    /// The missing columns given the observed ones, component by component.
    pub(super) regressions: Vec<Regression>,
}

impl Patterns {
    /// The patterns of some rows; `None` if nothing is missing.
    pub(super) fn of(x: Rows<'_>) -> Option<Self> {
        x.find(f64::is_nan)?;
        let mut groups: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
        for (i, row) in x.iter().enumerate() {
            let lacks: Vec<bool> = row.iter().map(|v| v.is_nan()).collect();
            groups.entry(lacks).or_default().push(i);
        }
        let mut order = Vec::with_capacity(x.rows());
        let mut patterns = Vec::with_capacity(groups.len());
        for (lacks, rows) in groups {
            let first = order.len();
            order.extend(rows);
            let with = |wanted: bool| (0..lacks.len()).filter(move |&j| lacks[j] == wanted);
            patterns.push(Pattern {
                rows: first..order.len(),
                observed: with.clone()(false).collect(),
                missing: with(true).collect(),
            });
        }
        Some(Self { order, patterns })
    }

    /// The patterns met in a range of the order, each with its part of the range.
    pub(super) fn in_range(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (&Pattern, Range<usize>)> {
        let first = self.patterns.partition_point(|p| p.rows.end <= range.start);
        self.patterns[first..].iter().take_while(move |p| p.rows.start < range.end).map(move |p| {
            let rows = p.rows.start.max(range.start)..p.rows.end.min(range.end);
            (p, rows)
        })
    }
}

impl Pattern {
    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// What the components say about rows of this pattern.
    pub(super) fn complete(&self, normals: &Normals) -> Result<Completion, Collapse> {
        let marginal = normals.marginal(&self.observed);
        let factors: Factors = marginal.factorise()?;
        let regress = |k| normals.regress(k, &self.observed, &self.missing, &factors);
        Ok(Completion {
            densities: Densities::new(&marginal, &factors),
            regressions: (0..normals.components()).map(regress).collect(),
        })
    }
}
