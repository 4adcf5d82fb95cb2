//! Learning each column's encoding from training rows.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use super::coding::{Coding, LevelCoding, Origin};
use super::cuts::{self, Weighted};
use super::tails::Tail;
use super::{EncoderSpec, ImputeCategories, ImputeNumbers, Outliers};
use crate::error::{Error, Place, Result};
use crate::math::first_largest;
use crate::table::number::Spelled;
use crate::table::{Field, Kind, Rows};

/// The encoding of every column.
pub(super) fn columns(
    spec: &EncoderSpec,
    rows: Rows<'_>,
    weights: Option<&[f64]>,
) -> Result<Vec<Coding>> {
    let weights = weights.map(|weights| counting(weights, rows.rows())).transpose()?;
    let fields = rows.schema().fields().par_iter().enumerate();
    // One look at all cells spares every column of a whole table one of its own.
    let whole = rows.find(f64::is_nan).is_none();
    let fit = |(j, field)| Cells { rows, j, weights: weights.as_deref(), whole }.fit(spec, field);
    let columns: Vec<Result<Coding>> = fields.map(fit).collect();
    columns.into_iter().collect()
}

/// Weights that count rows: as they are if all are whole numbers, else scaled to sum to the number of positive ones.
fn counting(weights: &[f64], rows: usize) -> Result<Cow<'_, [f64]>> {
    if weights.len() != rows {
        return Err(Error::shape("row weights", rows, weights.len()));
    }
    if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let problem = format!("the row weight is {}, not a number of at least 0", weights[i]);
        return Err(Error::data(Place::row(i), problem));
    }
    if weights.iter().all(|w| w.fract() == 0.0) {
        return Ok(Cow::Borrowed(weights));
    }
    let positive = weights.iter().filter(|w| **w > 0.0).count() as f64;
    let scale = positive / weights.iter().sum::<f64>();
    Ok(Cow::Owned(weights.iter().map(|w| w * scale).collect()))
}

/// Rows from which on a column is not sorted for its quantiles.
const MANY_ROWS: usize = 1 << 18;

/// One column of the training rows.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) j: usize,
    pub(super) weights: Option<&'a [f64]>,
    /// Whether no value of any column is missing.
    pub(super) whole: bool,
}

impl Cells<'_> {
    fn fit(&self, spec: &EncoderSpec, field: &Field) -> Result<Coding> {
        match &field.kind {
            Kind::Categorical { levels } => Ok(self.fit_categories(spec, levels)),
            Kind::Numeric => match spec.bins {
                Some(bins) => self.fit_bins(spec, bins, &field.name),
                None => self.fit_numbers(spec, &field.name),
            },
        }
    }

    /// The values and weights of the rows that count.
    pub(super) fn all(&self) -> impl Iterator<Item = Weighted> + Clone {
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let cells = self.rows.column(self.j).enumerate();
        cells.map(move |(i, value)| (value, weight(i))).filter(|(_, weight)| *weight > 0.0)
    }

    /// Those that are not missing, which must be finite.
    fn finite(&self, name: &str) -> Result<impl Iterator<Item = Weighted> + Clone> {
        if let Some(i) = self.rows.column(self.j).position(f64::is_infinite) {
            let problem = "the value is infinite, which can be neither averaged nor binned";
            return Err(Error::data(Place::cell(i, name), problem));
        }
        Ok(self.all().filter(|(value, _)| !value.is_nan()))
    }

    pub(super) fn misses_some(&self) -> bool {
        !self.whole && self.all().any(|(value, _)| value.is_nan())
    }

    fn fit_numbers(&self, spec: &EncoderSpec, name: &str) -> Result<Coding> {
        if !spec.looks_at_numbers() {
            return Ok(Coding::Number { fill: None, centre: 0.0, scale: 1.0 });
        }
        let cells = self.finite(name)?;
        let centre = mean(cells.clone());
        let scale = if spec.standardise { standard_deviation(cells.clone(), centre) } else { 1.0 };
        let fill = match spec.impute.numbers {
            ImputeNumbers::Leave => None,
            ImputeNumbers::Mean => Some(centre),
            // Of no numbers at all there is no median.
            ImputeNumbers::Median => {
                Some(self.quantiles(cells.clone(), 2).first().copied().unwrap_or(0.0))
            }
        };
        let centre = if spec.standardise { centre } else { 0.0 };
        Ok(Coding::number(fill, self.tail(spec.outliers, cells), centre, scale))
    }

    fn fit_bins(&self, spec: &EncoderSpec, bins: usize, name: &str) -> Result<Coding> {
        let cells = self.finite(name)?;
        let few = cuts::few_distinct(cells.clone().map(|(value, _)| value), bins);
        let cut = || {
            let mut cuts = self.quantiles(cells, bins);
            cuts.dedup();
            Origin::Cuts(cuts)
        };
        let origin = few.map_or_else(cut, Origin::Values);
        Ok(Coding::Level(binned(origin, self.misses_some(), spec.one_hot)))
    }

    /// The quantiles between bins of equal frequency; none of no numbers.
    fn quantiles(&self, cells: impl Iterator<Item = Weighted> + Clone, bins: usize) -> Vec<f64> {
        if self.weights.is_none() && self.rows.rows() >= MANY_ROWS {
            return cuts::quantiles_of_many(&cells.map(|(value, _)| value), bins);
        }
        let mut cells: Vec<Weighted> = cells.collect();
        cuts::sort(&mut cells);
        cuts::quantiles(&cells, bins)
    }

    /// The tail of the column's numbers.
    fn tail(
        &self,
        outliers: Outliers,
        cells: impl Iterator<Item = Weighted> + Clone,
    ) -> Option<Tail> {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let ends =
            cells.clone().fold(none, |(low, high), (value, _)| (low.min(value), high.max(value)));
        Tail::learn(outliers, ends, || self.quantiles(cells, 4).try_into().unwrap_or_default())
    }

    fn fit_categories(&self, spec: &EncoderSpec, levels: &Arc<[String]>) -> Coding {
        let origin = Origin::Levels(levels.len());
        let missing = match spec.impute.categories {
            ImputeCategories::OwnLevel => {
                let misses_some = self.misses_some();
                let levels = levels.to_vec();
                return Coding::Level(with_missing_level(
                    origin,
                    levels,
                    misses_some,
                    spec.one_hot,
                ));
            }
            ImputeCategories::Leave => None,
            ImputeCategories::MostFrequent => Some(self.most_frequent(levels.len())),
        };
        let levels = Arc::clone(levels);
        Coding::Level(LevelCoding { origin, levels, missing, one_hot: spec.one_hot })
    }

    fn most_frequent(&self, levels: usize) -> usize {
        let mut counts = vec![0.0; levels];
        for (value, weight) in self.all().filter(|(value, _)| *value < levels as f64) {
            counts[value as usize] += weight;
        }
        first_largest(&counts)
    }
}

/// Levels from numbers: values or intervals, and one more for missing values if there are any.
pub(super) fn binned(origin: Origin, misses_some: bool, one_hot: bool) -> LevelCoding {
    let levels = match &origin {
        Origin::Values(values) => values.iter().map(|v| Spelled(*v).to_string()).collect(),
        Origin::Cuts(cuts) => interval_names(cuts),
        Origin::Levels(_) => Vec::new(),
    };
    with_missing_level(origin, levels, misses_some, one_hot)
}

/// These levels, and one more for missing values if there are any.
pub(super) fn with_missing_level(
    origin: Origin,
    mut levels: Vec<String>,
    misses_some: bool,
    one_hot: bool,
) -> LevelCoding {
    let missing = Some(levels.len());
    if misses_some {
        let mut name = "(missing)".to_string();
        while levels.contains(&name) {
            name.push('\'');
        }
        levels.push(name);
    }
    LevelCoding { origin, levels: levels.into(), missing, one_hot }
}

/// The weighted mean; 0 of no numbers at all.
fn mean(mut cells: impl Iterator<Item = Weighted> + Clone) -> f64 {
    let all = cells.clone();
    let Some((first, _)) = cells.next() else { return 0.0 };
    // The sum of equal numbers is rounded, and would leave a constant column with a tiny spread.
    if cells.all(|(value, _)| value.total_cmp(&first).is_eq()) {
        return first;
    }
    let total: f64 = all.clone().map(|(_, weight)| weight).sum();
    all.map(|(value, weight)| weight / total * value).sum()
}

/// The standard deviation (N - 1) about the mean; 1 if all numbers are equal, so that one can divide by it.
fn standard_deviation(cells: impl Iterator<Item = Weighted> + Clone, mean: f64) -> f64 {
    let total: f64 = cells.clone().map(|(_, weight)| weight).sum();
    let divisor = if total > 1.0 { total - 1.0 } else { total };
    // Relative to the largest deviation, whose square might be out of range.
    let largest = cells.clone().map(|(value, _)| (value - mean).abs()).fold(0.0, f64::max);
    let relative = |(value, weight): Weighted| weight * ((value - mean) / largest).powi(2);
    let deviation = largest * (cells.map(relative).sum::<f64>() / divisor).sqrt();
    if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 }
}

/// The intervals between cuts, in words.
fn interval_names(cuts: &[f64]) -> Vec<String> {
    let spelled: Vec<String> = cuts.iter().map(|cut| Spelled(*cut).to_string()).collect();
    let (Some(first), Some(last)) = (spelled.first(), spelled.last()) else {
        return vec!["all".into()];
    };
    let between = spelled.windows(2).map(|pair| format!("({}, {}]", pair[0], pair[1]));
    let ends = (format!("<= {first}"), format!("> {last}"));
    std::iter::once(ends.0).chain(between).chain([ends.1]).collect()
}
