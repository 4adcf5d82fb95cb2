//! Inputs on one scale, for learners that measure distances or shrink coefficients.
//!
//! Every column minus its mean, divided by its standard deviation (divisor N). Columns of only 0 and 1, such as the
//! indicators of categories, and constant columns keep their scale: a rare level would otherwise outweigh everything.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::stats::{Accumulator, accumulate};
use crate::store::Parameters;
use crate::table::{Kind, Rows};

/// Rows summed into one accumulator.
const PART: usize = 4096;

/// Each column's centre and scale, learned from training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scales {
    centres: Vec<f64>,
    scales: Vec<f64>,
}

/// First and second moments about a point, and whether only 0 and 1 were seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Moments {
    about: Vec<f64>,
    weight: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    indicator: Vec<bool>,
}

impl Accumulator for Moments {
    /// Moments about another point are first brought to the one of these.
    fn merge(&mut self, mut later: Self) {
        if later.about != self.about {
            later.move_to(&self.about);
        }
        self.weight += later.weight;
        self.first.iter_mut().zip(later.first).for_each(|(a, b)| *a += b);
        self.second.iter_mut().zip(later.second).for_each(|(a, b)| *a += b);
        self.indicator.iter_mut().zip(later.indicator).for_each(|(a, b)| *a &= b);
    }
}

impl Scales {
    /// Scales that leave rows of so many columns as they are.
    pub(crate) fn none(columns: usize) -> Self {
        Self { centres: vec![0.0; columns], scales: vec![1.0; columns] }
    }

    /// Centres learned from complete numbers, and scales that leave them as they are.
    pub(crate) fn centring(x: Rows<'_>, weights: Option<&[f64]>) -> Self {
        Self { scales: vec![1.0; x.width()], ..Self::fit(x, weights) }
    }

    /// Learns them from complete numbers ([`require_numbers`]); `weights` as in a sample.
    pub(crate) fn fit(x: Rows<'_>, weights: Option<&[f64]>) -> Self {
        let columns = x.width();
        if x.rows() == 0 {
            return Self::none(columns);
        }
        // About the mean itself: the difference of two large sums would lose a small spread.
        let means = Moments::of(x, weights, x.row(0)).means();
        Moments::of(x, weights, &means).scales()
    }

    /// One row on the common scale.
    pub(crate) fn write(&self, row: &[f64], out: &mut [f64]) {
        let places = self.centres.iter().zip(&self.scales);
        for ((out, value), (centre, scale)) in out.iter_mut().zip(row).zip(places) {
            *out = (value - centre) / scale;
        }
    }

    /// All rows on the common scale, row after row.
    pub(crate) fn apply(&self, x: Rows<'_>) -> Vec<f64> {
        let mut out = vec![0.0; x.rows() * x.width()];
        x.iter().zip(out.chunks_exact_mut(x.width())).for_each(|(row, out)| self.write(row, out));
        out
    }

    /// Adds them to what a model consists of whose numbers are on the common scale.
    pub(crate) fn describe(&self, parameters: Parameters) -> Parameters {
        parameters.with("centres", &self.centres).with("scales", &self.scales)
    }

    /// Each column's centre.
    pub(crate) fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// Each column's scale.
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales
    }
}

/// What a column is divided by: its standard deviation, unless it is an indicator or constant but for rounding.
pub(crate) fn scale(mean: f64, deviation: f64, indicator: bool) -> f64 {
    let varies = deviation > 1e-12 * mean.abs() && deviation.is_finite();
    if varies && !indicator { deviation } else { 1.0 }
}

impl Moments {
    /// Sums about a point over rows of positive weight.
    pub(crate) fn of(x: Rows<'_>, weights: Option<&[f64]>, about: &[f64]) -> Self {
        let columns = x.width();
        let zero = || Self {
            about: about.to_vec(),
            weight: 0.0,
            first: vec![0.0; columns],
            second: vec![0.0; columns],
            indicator: vec![true; columns],
        };
        accumulate(x.rows(), PART, zero, |sum, rows| {
            for i in rows {
                let weight = weights.map_or(1.0, |w| w[i]);
                if weight == 0.0 {
                    continue;
                }
                sum.weight += weight;
                for (j, (value, at)) in x.row(i).iter().zip(about).enumerate() {
                    let deviation = value - at;
                    sum.first[j] += weight * deviation;
                    sum.second[j] += weight * deviation * deviation;
                    sum.indicator[j] &= *value == 0.0 || *value == 1.0;
                }
            }
        })
    }

    /// The same moments about another point.
    fn move_to(&mut self, about: &[f64]) {
        for (j, at) in about.iter().enumerate() {
            let off = self.about[j] - at;
            self.second[j] += 2.0 * off * self.first[j] + off * off * self.weight;
            self.first[j] += off * self.weight;
        }
        self.about.copy_from_slice(about);
    }

    /// The means of the columns.
    pub(crate) fn means(&self) -> Vec<f64> {
        self.about.iter().zip(&self.first).map(|(at, sum)| at + sum / self.weight).collect()
    }

    /// The scales that follow from moments about the means.
    pub(crate) fn scales(self) -> Scales {
        let deviation = |j: usize| (self.second[j] / self.weight).sqrt();
        let scale = |j: usize| scale(self.about[j], deviation(j), self.indicator[j]);
        let scales = (0..self.about.len()).map(scale).collect();
        Scales { scales, ..self.about_centres(self.about.clone()) }
    }

    /// Centres that follow from moments about any point, and scales that leave columns as they are.
    pub(crate) fn centring(&self) -> Scales {
        self.about_centres(self.means())
    }

    /// Indicators keep their 0.
    fn about_centres(&self, mut centres: Vec<f64>) -> Scales {
        let indicators = centres.iter_mut().zip(&self.indicator).filter(|(_, is)| **is);
        indicators.for_each(|(centre, _)| *centre = 0.0);
        Scales { scales: vec![1.0; centres.len()], centres }
    }
}

/// Refuses inputs that are not complete, finite numbers.
pub(crate) fn require_numbers(x: Rows<'_>) -> Result<()> {
    require_numbers_at(x, |row| row as u64)
}

/// The same of rows that have other numbers in the whole table.
pub(crate) fn require_numbers_at(x: Rows<'_>, number: impl Fn(usize) -> u64) -> Result<()> {
    let cure = "put the learner behind an encoder: encoded(of=.., one_hot=true, impute=..)";
    let fields = x.schema().fields();
    if let Some(field) = fields.iter().find(|field| field.kind != Kind::Numeric) {
        let place = Place::column(&field.name);
        return Err(Error::data(place, "the learner needs numbers, not categories").with_hint(cure));
    }
    match x.find(|value| !value.is_finite()) {
        None => Ok(()),
        Some((row, column)) => {
            let place = Place::cell(number(row) as usize, &fields[column].name);
            let problem = format!("the learner needs numbers, not {}", x.row(row)[column]);
            Err(Error::data(place, problem).with_hint(cure))
        }
    }
}

/// Refuses to learn from columns whose squares would be 0 or infinite.
pub(crate) fn require_moderate(x: Rows<'_>) -> Result<()> {
    Ranges::of(x).require_moderate(x.schema().fields().iter().map(|field| field.name.as_str()))
}

/// The least and the largest value of each column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ranges(Vec<(f64, f64)>);

impl Ranges {
    /// Those of no rows.
    pub(crate) fn none(columns: usize) -> Self {
        Self(vec![(f64::INFINITY, f64::NEG_INFINITY); columns])
    }

    /// Those of some rows.
    pub(crate) fn of(x: Rows<'_>) -> Self {
        let mut ranges = Self::none(x.width());
        for row in x.iter() {
            for ((least, largest), value) in ranges.0.iter_mut().zip(row) {
                (*least, *largest) = (least.min(*value), largest.max(*value));
            }
        }
        ranges
    }

    /// Refuses columns whose squares would be 0 or infinite.
    pub(crate) fn require_moderate<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<()> {
        /// What the values of a column may differ by, if they do.
        const REACH: std::ops::RangeInclusive<f64> = 1e-120..=1e120;
        for (name, (least, largest)) in names.zip(&self.0) {
            let reach = largest - least;
            if reach > 0.0 && !REACH.contains(&reach) {
                let problem = format!(
                    "the values reach over {reach:.1e}, too {} to be squared",
                    if reach > 1.0 { "much" } else { "little" }
                );
                return Err(Error::data(Place::column(name), problem)
                    .with_hint("multiply the column by a constant"));
            }
        }
        Ok(())
    }
}

impl Accumulator for Ranges {
    fn merge(&mut self, later: Self) {
        for ((least, largest), (low, high)) in self.0.iter_mut().zip(later.0) {
            (*least, *largest) = (least.min(low), largest.max(high));
        }
    }
}

/// Refuses numbers to predict that are not finite; `number` is that of a row in the whole table.
pub(crate) fn require_finite(target: &[f64], number: impl Fn(usize) -> u64) -> Result<()> {
    match target.iter().position(|y| !y.is_finite()) {
        Some(i) => {
            let problem = format!("the target is {}, not a number", target[i]);
            Err(Error::data(Place::row(number(i) as usize), problem))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Features;

    #[test]
    fn values_that_cannot_be_squared_are_refused() {
        for (scale, is_fine) in [(1e-300, false), (1e-100, true), (1e100, true), (1e300, false)] {
            let x = Features::numeric(vec![scale, 3.0 * scale, 1.0, 1.0], 1).unwrap();
            let first = x.rows().slice(0..2);
            assert_eq!(require_moderate(first).is_ok(), is_fine, "{scale}");
            assert!(require_moderate(x.rows().slice(2..4)).is_ok());
        }
    }

    #[test]
    fn columns_get_mean_zero_and_deviation_one_but_indicators_stay() {
        let x = Features::numeric(vec![1.0, 0.0, 5.0, 3.0, 1.0, 5.0, 5.0, 1.0, 5.0], 3).unwrap();
        let scales = Scales::fit(x.rows(), None);
        let deviation = (8.0f64 / 3.0).sqrt();
        let expected = [-2.0 / deviation, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0 / deviation, 1.0, 0.0];
        let found = scales.apply(x.rows());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
    }

    #[test]
    fn a_row_of_weight_two_is_the_row_twice() {
        let once = Features::numeric(vec![1.0, 4.0, 9.0], 1).unwrap();
        let twice = Features::numeric(vec![1.0, 4.0, 4.0, 9.0], 1).unwrap();
        let weighted = Scales::fit(once.rows(), Some(&[1.0, 2.0, 1.0]));
        let repeated = Scales::fit(twice.rows(), None);
        assert!((weighted.centres[0] - repeated.centres[0]).abs() < 1e-15);
        assert!((weighted.scales[0] - repeated.scales[0]).abs() < 1e-15);
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        let x = Features::numeric(vec![1.0, 2.0, 3.0, f64::NAN], 2).unwrap();
        let message = require_numbers(x.rows()).unwrap_err().to_string();
        assert!(message.contains("x2"), "{message}");
    }
}
