//! Encoders learned from rows that are shown block by block.
//!
//! The first pass looks at every column: its mean and range, whether values are missing, which values and levels there are, and about
//! where its quantiles lie. The second finds deviations from the mean and the quantiles themselves. What comes of it is what
//! [`EncoderSpec::fit`] learns from the same rows at once, but for the rounding of sums.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coding::{Coding, LevelCoding, Origin};
use super::crosses::Crosses;
use super::cuts::{Distinct, Place as Quantile};
use super::fit::{binned, with_missing_level};
use super::search::{Found, Search};
use super::statistics::Statistics;
use super::tails::Tail;
use super::{Encoder, EncoderSpec, ImputeCategories, ImputeNumbers, Outliers};
use crate::error::{Error, Place, Result};
use crate::math::first_largest;
use crate::stats::{Accumulator, accumulate};
use crate::table::{Kind, Rows, Schema};

/// Rows summed into one accumulator.
const PART: usize = 1 << 13;

/// An encoder on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Learning {
    spec: EncoderSpec,
    input: Arc<Schema>,
    /// For every column whether missing values have a level of their own, where that is decided already.
    missing_levels: Option<Vec<bool>>,
    /// Of each column whose quantiles are wanted.
    searches: Vec<Option<Search>>,
    /// What the first pass has found.
    look: Option<LearningSums>,
    /// Each column's squared deviations from the mean, once they are known.
    squares: Option<Vec<f64>>,
}

/// What follows a pass.
pub(crate) enum LearningStep {
    /// Another one.
    Again(Learning),
    /// The encoder.
    Done(Encoder),
}

/// What has to be known of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Want {
    Nothing,
    /// Whether values are missing.
    Missing,
    /// How often each of so many levels occurs.
    Levels(usize),
    /// The mean, and what depends on it.
    Numbers,
    /// So many bins.
    Bins(usize),
}

/// What is summed over the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LearningSums {
    /// Rows of positive weight, the sum of the weights, and whether all are whole numbers.
    rows: u64,
    weight: f64,
    is_whole: bool,
    columns: Vec<ColumnSums>,
}

/// The sums of one column, over the rows in which it is not missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ColumnSums {
    weight: f64,
    /// Its first number, and the sum of the deviations from it: the mean of equal numbers is that number.
    anchor: f64,
    sum: f64,
    lowest: f64,
    highest: f64,
    misses_some: bool,
    /// The number of the first row with an infinite value.
    infinite: Option<u64>,
    /// With the number of them that are wanted at most.
    distinct: Distinct,
    most: usize,
    levels: Vec<f64>,
    squares: f64,
    found: Vec<Found>,
}

impl Accumulator for LearningSums {
    fn merge(&mut self, later: Self) {
        self.rows += later.rows;
        self.weight += later.weight;
        self.is_whole &= later.is_whole;
        self.columns.iter_mut().zip(later.columns).for_each(|(a, b)| a.merge(b));
    }
}

impl ColumnSums {
    fn merge(&mut self, later: Self) {
        if later.weight > 0.0 {
            if self.weight == 0.0 {
                (self.anchor, self.sum) = (later.anchor, later.sum);
            } else {
                self.sum += later.sum + later.weight * (later.anchor - self.anchor);
            }
            self.weight += later.weight;
        }
        self.lowest = self.lowest.min(later.lowest);
        self.highest = self.highest.max(later.highest);
        self.misses_some |= later.misses_some;
        self.infinite = self.infinite.or(later.infinite);
        self.distinct.merge(later.distinct, self.most);
        self.levels.iter_mut().zip(later.levels).for_each(|(a, b)| *a += b);
        self.squares += later.squares;
        self.found.iter_mut().zip(later.found).for_each(|(a, b)| a.merge(b));
    }

    fn mean(&self) -> f64 {
        if self.weight > 0.0 { self.anchor + self.sum / self.weight } else { 0.0 }
    }

    /// The largest deviation from the mean.
    fn reach(&self) -> f64 {
        (self.highest - self.mean()).max(self.mean() - self.lowest)
    }

    fn add_number(&mut self, value: f64, weight: f64) {
        if self.weight == 0.0 {
            self.anchor = value;
        }
        self.weight += weight;
        self.sum += weight * (value - self.anchor);
        self.lowest = self.lowest.min(value);
        self.highest = self.highest.max(value);
    }
}

impl LearningSums {
    /// Rows of positive weight.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// What weights are multiplied by to count rows.
    fn scale(&self) -> f64 {
        if self.is_whole { 1.0 } else { self.rows as f64 / self.weight }
    }
}

impl Learning {
    /// An encoder of rows of these columns; quantiles are looked for first where these rows have them.
    pub(crate) fn new(spec: EncoderSpec, rows: Rows<'_>) -> Result<Self> {
        spec.check()?;
        let input = Arc::clone(rows.schema());
        let (missing_levels, look, squares) = (None, None, None);
        let mut learning =
            Self { spec, input, missing_levels, searches: Vec::new(), look, squares };
        let search = |(j, want): (usize, Want)| {
            let bins = learning.bins(want)?;
            Some(Search::of_cuts(rows.column(j), bins))
        };
        learning.searches = learning.wants().into_iter().enumerate().map(search).collect();
        Ok(learning)
    }

    /// The same, making the columns that another encoder makes.
    #[must_use]
    pub(crate) fn like(mut self, other: &Encoder) -> Self {
        let columns = 0..self.input.len();
        self.missing_levels = Some(columns.map(|j| other.has_missing_level(j)).collect());
        self
    }

    /// Whether there is anything to learn.
    pub(crate) fn is_needed(&self) -> bool {
        let is_decided = |want: &Want| match want {
            Want::Nothing => true,
            Want::Missing => self.missing_levels.is_some(),
            Want::Levels(_) | Want::Numbers | Want::Bins(_) => false,
        };
        !self.wants().iter().all(is_decided)
    }

    fn wants(&self) -> Vec<Want> {
        let impute = self.spec.impute;
        let want = |kind: &Kind| match kind {
            Kind::Categorical { levels } => match impute.categories {
                ImputeCategories::Leave => Want::Nothing,
                ImputeCategories::MostFrequent => Want::Levels(levels.len()),
                ImputeCategories::OwnLevel => Want::Missing,
            },
            Kind::Numeric => match self.spec.bins {
                Some(bins) => Want::Bins(bins),
                None if self.spec.looks_at_numbers() => Want::Numbers,
                None => Want::Nothing,
            },
        };
        self.input.fields().iter().map(|field| want(&field.kind)).collect()
    }

    /// Bins whose cuts are wanted of a column; the median is the cut between two, and the second of those between four.
    fn bins(&self, want: Want) -> Option<usize> {
        match want {
            Want::Bins(bins) => Some(bins),
            Want::Numbers if self.spec.outliers == Outliers::Squash => Some(4),
            Want::Numbers if self.spec.impute.numbers == ImputeNumbers::Median => Some(2),
            _ => None,
        }
    }

    pub(crate) fn zero(&self) -> LearningSums {
        let column = |(want, search): (Want, &Option<Search>)| ColumnSums {
            weight: 0.0,
            anchor: 0.0,
            sum: 0.0,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            misses_some: false,
            infinite: None,
            distinct: Distinct::default(),
            most: if let Want::Bins(bins) = want { bins } else { 0 },
            levels: if let Want::Levels(levels) = want { vec![0.0; levels] } else { Vec::new() },
            squares: 0.0,
            found: search.as_ref().map_or_else(Vec::new, Search::zero),
        };
        let columns = self.wants().into_iter().zip(&self.searches).map(column).collect();
        LearningSums { rows: 0, weight: 0.0, is_whole: true, columns }
    }

    /// Adds rows; `number` gives the number of a row in the whole table.
    pub(crate) fn add(
        &self,
        sums: &mut LearningSums,
        rows: Rows<'_>,
        weights: Option<&[f64]>,
        number: impl Fn(usize) -> u64 + Sync,
    ) {
        let wants = self.wants();
        let zero = || self.zero();
        let found = accumulate(rows.rows(), PART, zero, |sums, part| {
            for i in part {
                let weight = weights.map_or(1.0, |weights| weights[i]);
                if weight > 0.0 {
                    sums.rows += 1;
                    sums.weight += weight;
                    sums.is_whole &= weight.fract() == 0.0;
                }
                let row = rows.row(i).iter().zip(&wants).enumerate();
                for (j, (&value, &want)) in row.filter(|(_, (_, want))| **want != Want::Nothing) {
                    let is_number = matches!(want, Want::Numbers | Want::Bins(_));
                    if is_number && value.is_infinite() {
                        sums.columns[j].infinite.get_or_insert_with(|| number(i));
                    } else if weight > 0.0 {
                        self.add_value(&mut sums.columns[j], (j, want), value, weight);
                    }
                }
            }
        });
        sums.merge(found);
    }

    fn add_value(&self, sums: &mut ColumnSums, (j, want): (usize, Want), value: f64, weight: f64) {
        if value.is_nan() {
            sums.misses_some = true;
            return;
        }
        if let Some(search) = &self.searches[j] {
            search.add(&mut sums.found, value, weight);
        }
        match (&self.look, want) {
            (_, Want::Nothing | Want::Missing) | (Some(_), Want::Bins(_)) => {}
            (_, Want::Levels(_)) => {
                if let Some(count) = sums.levels.get_mut(value as usize) {
                    *count += weight;
                }
            }
            (None, Want::Numbers) => sums.add_number(value, weight),
            (None, Want::Bins(bins)) => {
                sums.add_number(value, weight);
                sums.distinct.add(value, bins);
            }
            (Some(look), Want::Numbers) => {
                let look = &look.columns[j];
                // Relative to the largest deviation, whose square might be out of range.
                sums.squares += weight * ((value - look.mean()) / look.reach()).powi(2);
            }
        }
    }

    /// What follows from the sums over all rows.
    pub(crate) fn next(mut self, sums: LearningSums) -> Result<LearningStep> {
        let scale = self.look.as_ref().unwrap_or(&sums).scale();
        if self.look.is_none() {
            self.check(&sums)?;
            self.ask(&sums);
        } else if self.squares.is_none() {
            self.squares = Some(sums.columns.iter().map(|column| column.squares).collect());
        }
        let found = sums.columns.iter().map(|column| column.found.clone());
        let searches = self.searches.into_iter().zip(found);
        let next = |(search, found): (Option<Search>, Vec<Found>)| Some(search?.next(found, scale));
        self.searches = searches.map(next).collect();
        let look = self.look.get_or_insert(sums);
        look.columns.iter_mut().for_each(|column| column.found.clear());
        let is_found = self.searches.iter().flatten().all(Search::is_done);
        let needs_squares = self.spec.standardise && self.squares.is_none();
        if !is_found || needs_squares {
            return Ok(LearningStep::Again(self));
        }
        let codings = (0..self.input.len()).map(|j| self.coding(j)).collect();
        let (crosses, statistics) = (Crosses::default(), Statistics::default());
        let encoder = Encoder::new(Arc::clone(&self.input), codings, crosses, statistics);
        Ok(LearningStep::Done(encoder))
    }

    /// Refuses what can be neither averaged nor binned.
    fn check(&self, sums: &LearningSums) -> Result<()> {
        for (field, column) in self.input.fields().iter().zip(&sums.columns) {
            if let Some(row) = column.infinite {
                let problem = "the value is infinite, which can be neither averaged nor binned";
                return Err(Error::data(Place::cell(row as usize, &field.name), problem));
            }
            if !column.mean().is_finite() {
                let problem = "the values are too far apart to be averaged";
                return Err(Error::data(Place::column(&field.name), problem)
                    .with_hint("divide the column by a constant"));
            }
        }
        Ok(())
    }

    /// Says which quantiles are wanted, now that it is known how many rows there are.
    fn ask(&mut self, sums: &LearningSums) {
        for (j, want) in self.wants().into_iter().enumerate() {
            let column = &sums.columns[j];
            let is_cut = match want {
                Want::Bins(_) => column.distinct.0.is_none(),
                _ => column.weight > 0.0,
            };
            let bins = self.bins(want);
            let Some(search) = &mut self.searches[j] else { continue };
            match bins {
                Some(bins) if is_cut => {
                    let total = column.weight * sums.scale();
                    search.want(quantiles(bins, total).flat_map(Quantile::around));
                }
                _ => self.searches[j] = None,
            }
        }
    }

    /// The quantiles that were looked for in a column.
    fn quantiles(&self, j: usize, bins: usize) -> Vec<f64> {
        let (Some(search), Some(look)) = (&self.searches[j], &self.look) else {
            return Vec::new();
        };
        let total = look.columns[j].weight * look.scale();
        let found = search.found();
        let pairs = found.as_chunks::<2>().0.iter();
        quantiles(bins, total).zip(pairs).map(|(place, pair)| place.between(*pair)).collect()
    }

    fn coding(&self, j: usize) -> Coding {
        let Self { spec, look: Some(look), .. } = self else {
            return Coding::Number { fill: None, centre: 0.0, scale: 1.0 };
        };
        let column = &look.columns[j];
        let misses_some = self.missing_levels.as_ref().map_or(column.misses_some, |all| all[j]);
        match (&self.input.fields()[j].kind, spec.bins) {
            (Kind::Categorical { levels }, _) => {
                let origin = Origin::Levels(levels.len());
                let missing = match spec.impute.categories {
                    ImputeCategories::OwnLevel => {
                        let levels = levels.to_vec();
                        let own = with_missing_level(origin, levels, misses_some, spec.one_hot);
                        return Coding::Level(own);
                    }
                    ImputeCategories::Leave => None,
                    ImputeCategories::MostFrequent => Some(first_largest(&column.levels)),
                };
                let levels = Arc::clone(levels);
                Coding::Level(LevelCoding { origin, levels, missing, one_hot: spec.one_hot })
            }
            (Kind::Numeric, Some(bins)) => {
                let values = column.distinct.0.clone().map(Origin::Values);
                let cut = || {
                    let mut cuts = self.quantiles(j, bins);
                    cuts.dedup();
                    Origin::Cuts(cuts)
                };
                let origin = values.unwrap_or_else(cut);
                Coding::Level(binned(origin, misses_some, spec.one_hot))
            }
            (Kind::Numeric, None) => self.number(j, look),
        }
    }

    fn number(&self, j: usize, look: &LearningSums) -> Coding {
        let column = &look.columns[j];
        let bins = self.bins(Want::Numbers).unwrap_or(2);
        let found = self.quantiles(j, bins);
        let fill = match self.spec.impute.numbers {
            ImputeNumbers::Leave => None,
            ImputeNumbers::Mean => Some(column.mean()),
            // Of no numbers at all there is no median.
            ImputeNumbers::Median => Some(found.get(bins / 2 - 1).copied().unwrap_or(0.0)),
        };
        let ends = (column.lowest, column.highest);
        let tail = Tail::learn(self.spec.outliers, ends, || found.try_into().unwrap_or_default());
        if !self.spec.standardise {
            return Coding::number(fill, tail, 0.0, 1.0);
        }
        let total = column.weight * look.scale();
        let divisor = if total > 1.0 { total - 1.0 } else { total };
        let squares = self.squares.as_ref().map_or(0.0, |squares| squares[j]) * look.scale();
        let deviation = column.reach() * (squares / divisor).sqrt();
        let is_usable = deviation > 0.0 && deviation.is_finite();
        let scale = if is_usable { deviation } else { 1.0 };
        Coding::number(fill, tail, column.mean(), scale)
    }
}

/// The quantiles between so many bins.
fn quantiles(bins: usize, total: f64) -> impl Iterator<Item = Quantile> {
    (1..bins).map(move |k| Quantile::of(k as f64 / bins as f64, total))
}
