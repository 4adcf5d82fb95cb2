//! What has to be learned before rows suit a learner: scales, levels, cuts, stand-ins for missing values.
//!
//! An [`EncoderSpec`] says what is wanted; fitted on training rows it becomes an [`Encoder`], which is saved with the model
//! and turns any rows of the same columns into the learner's own features. Nothing is learned from the rows it is applied
//! to.
//!
//! Weights that are all whole numbers count rows: weight 2 is the row twice. Other weights are relative, and are first
//! scaled to sum to the number of rows that have any.

mod coding;
mod crosses;
mod cuts;
mod fit;
mod learning;
mod search;
mod statistics;
mod tails;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::coding::Coding;
use self::crosses::Crosses;
use self::statistics::{Categories, Statistics};
use super::{Features, Field, Rows, Schema};
use crate::error::{Error, Place, Result, within};
use crate::run::Run;
use crate::store::Parameters;

pub(crate) use cuts::few_distinct;
pub use cuts::{bin, equal_frequency_cuts};
pub(crate) use learning::{Learning, LearningStep, LearningSums};
pub use statistics::{Known, Targets};
pub use tails::Outliers;

/// What an encoder is to do; the default leaves rows as they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderSpec {
    /// Numbers minus their mean, divided by their standard deviation (N - 1). A constant column is divided by 1.
    pub standardise: bool,
    /// One column of 0 and 1 per level in place of a category. An unknown level is 0 in all of them; a missing value that
    /// is not imputed stays missing in all of them.
    pub one_hot: bool,
    /// What stands in for missing values.
    pub impute: Impute,
    /// Numbers become categories: that many intervals with equal numbers of rows, as far as ties allow. A column with no
    /// more different values than that keeps them as its levels. Missing values get a level of their own.
    #[schemars(range(min = 2))]
    pub bins: Option<usize>,
    /// What becomes of numbers far from the others; without bins, and squashed ones are not standardised.
    pub outliers: Outliers,
    /// Columns with 2 to this many different values, missing ones aside, are crossed: each pair of them makes a further category (or
    /// indicators, with `one_hot`), whose levels are the pairs of values that occur. At most 100.
    #[schemars(range(min = 2, max = 100))]
    pub crosses: Option<usize>,
    /// What becomes of categories of three levels or more (pairs and bins among them) beside that: statistics of the target at each level. A row
    /// that is learned from has those of rows before it only, in an order that is drawn (that of time, where rows have times), and none of its
    /// own group; a new row has those of all rows. An unknown level and a missing value have those of all levels.
    pub targets: Targets,
    /// Rows that the mean over all levels counts for in the statistics of each.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub prior: f64,
}

impl Default for EncoderSpec {
    fn default() -> Self {
        Self {
            standardise: false,
            one_hot: false,
            impute: Impute::default(),
            bins: None,
            outliers: Outliers::Keep,
            crosses: None,
            targets: Targets::Leave,
            prior: 1.0,
        }
    }
}

/// Values at most of a column that is crossed.
const MOST_CROSSED: usize = 100;

/// What stands in for missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Impute {
    /// In columns of numbers.
    pub numbers: ImputeNumbers,
    /// In columns of categories.
    pub categories: ImputeCategories,
}

/// What stands in for a missing number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImputeNumbers {
    /// Nothing.
    #[default]
    Leave,
    /// The mean of the training rows; 0 if all are missing.
    Mean,
    /// The median of the training rows; 0 if all are missing.
    Median,
}

/// What stands in for a missing category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImputeCategories {
    /// Nothing.
    #[default]
    Leave,
    /// The most frequent level of the training rows; of equally frequent ones the first.
    MostFrequent,
    /// A level of its own, if any training row misses its value; else missing values count as an unknown level.
    OwnLevel,
}

impl EncoderSpec {
    /// For learners that need complete numbers: everything numeric, nothing missing.
    pub fn complete() -> Self {
        let impute =
            Impute { numbers: ImputeNumbers::Mean, categories: ImputeCategories::OwnLevel };
        Self { one_hot: true, impute, ..Self::default() }
    }

    /// For learners that need complete numbers on one scale: everything numeric, standardised, nothing missing.
    pub fn dense() -> Self {
        Self { standardise: true, ..Self::complete() }
    }

    /// Whether any part of these rows gives the same encoding as all of them, because there is nothing to learn: no
    /// scales, no bins, no ranges, no pairs of values, and no missing values to stand in for.
    pub fn is_fixed_on(&self, rows: Rows<'_>) -> bool {
        let fills = self.impute != Impute::default();
        let levels = self.bins.is_some() || self.crosses.is_some();
        let levels = levels || self.targets != Targets::Leave;
        let learns = self.standardise || levels || self.outliers != Outliers::Keep;
        !(learns || fills && rows.find(f64::is_nan).is_some())
    }

    /// For learners that count: everything categorical, numbers in that many bins, missing values one more level.
    pub fn discrete(bins: usize) -> Self {
        let categories = ImputeCategories::OwnLevel;
        let impute = Impute { categories, ..Impute::default() };
        Self { bins: Some(bins), impute, ..Self::default() }
    }

    /// Learns the encoding from training rows. Statistics of the target cannot be learned without one: see
    /// [`fit_known`](EncoderSpec::fit_known).
    pub fn fit(&self, rows: Rows<'_>, weights: Option<&[f64]>) -> Result<Encoder> {
        if self.targets != Targets::Leave {
            let expected = "left out where no target of classes or numbers is known";
            return Err(Error::param("targets", expected, "given"));
        }
        self.check()?;
        let columns = fit::columns(self, rows, weights)?;
        let crosses = Crosses::learn(self, rows, weights)?;
        let statistics = Statistics::default();
        Ok(Encoder::new(Arc::clone(rows.schema()), columns, crosses, statistics))
    }

    /// Learns the encoding from training rows and their target, and encodes them: their statistics are not those of new rows with the
    /// same values, for each is of rows before it only.
    pub fn fit_known(
        &self,
        rows: Rows<'_>,
        known: &Known<'_>,
        run: &Run,
    ) -> Result<(Encoder, Features)> {
        self.check()?;
        let columns = fit::columns(self, rows, known.weights)?;
        let crosses = Crosses::learn(self, rows, known.weights)?;
        let categories = Categories { columns: &columns, crosses: &crosses };
        let how = (self.targets, self.prior);
        let (statistics, ordered) =
            run.install(|| Statistics::learn(how, categories, rows, known, run))?;
        let encoder = Encoder::new(Arc::clone(rows.schema()), columns, crosses, statistics);
        let features = encoder.apply_ordered(rows, &ordered)?;
        Ok((encoder, features))
    }

    /// Whether anything is learned from numbers that stay numbers.
    fn looks_at_numbers(&self) -> bool {
        self.standardise
            || self.impute.numbers != ImputeNumbers::Leave
            || self.outliers != Outliers::Keep
    }

    fn check(&self) -> Result<()> {
        if let Some(bins @ 0..2) = self.bins {
            return Err(Error::param("bins", "at least 2", bins));
        }
        if let Some(values) = self.crosses {
            within("crosses", values, 2..=MOST_CROSSED)?;
        }
        if !(self.prior.is_finite() && self.prior > 0.0) {
            return Err(Error::param("prior", "above 0", self.prior));
        }
        let contradiction = match self.outliers {
            Outliers::Keep => None,
            _ if self.bins.is_some() => Some("with bins"),
            Outliers::Squash if self.standardise => Some("squash with standardise"),
            Outliers::Hold | Outliers::Squash => None,
        };
        match contradiction {
            Some(with) => {
                Err(Error::param("outliers", "left out: the numbers have a scale already", with))
            }
            None => Ok(()),
        }
    }
}

/// Encoded rows: those given, or new ones.
#[derive(Debug)]
pub(crate) enum Applied<'a> {
    /// The rows as they were.
    Same(Rows<'a>),
    /// Other rows.
    Made(Features),
}

impl Applied<'_> {
    /// The rows.
    pub(crate) fn rows(&self) -> Rows<'_> {
        match self {
            Self::Same(rows) => *rows,
            Self::Made(features) => features.rows(),
        }
    }
}

/// A learned encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Encoder {
    input: Arc<Schema>,
    columns: Vec<Coding>,
    #[serde(default, skip_serializing_if = "Crosses::is_empty")]
    crosses: Crosses,
    #[serde(default, skip_serializing_if = "Statistics::is_empty")]
    statistics: Statistics,
    /// Follows from the others.
    #[serde(skip_serializing)]
    output: Arc<Schema>,
}

/// An encoder as it is stored.
#[derive(Deserialize)]
struct Stored {
    input: Arc<Schema>,
    columns: Vec<Coding>,
    #[serde(default)]
    crosses: Crosses,
    #[serde(default)]
    statistics: Statistics,
}

impl TryFrom<Stored> for Encoder {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        if stored.columns.len() != stored.input.len() {
            let (expected, found) = (stored.input.len(), stored.columns.len());
            return Err(Error::shape("columns of the encoder", expected, found));
        }
        let mut both = stored.columns.iter().zip(stored.input.fields());
        if let Some((_, field)) = both.find(|(coding, field)| !coding.is_sound(&field.kind)) {
            return Err(Error::data(Place::column(&field.name), "the stored encoding is damaged"));
        }
        if !stored.crosses.are_sound(&stored.input) {
            return Err(Error::data(Place::default(), "the stored pairs of columns are damaged"));
        }
        let categories = Categories { columns: &stored.columns, crosses: &stored.crosses };
        if !stored.statistics.are_sound(categories) {
            return Err(Error::data(Place::default(), "the stored statistics are damaged"));
        }
        Ok(Self::new(stored.input, stored.columns, stored.crosses, stored.statistics))
    }
}

impl Encoder {
    fn new(
        input: Arc<Schema>,
        columns: Vec<Coding>,
        crosses: Crosses,
        statistics: Statistics,
    ) -> Self {
        let named = input.fields().iter().zip(&columns).enumerate();
        let kept = named.filter(|(j, _)| !statistics.replace_column(*j));
        let single = kept.flat_map(|(_, (field, coding))| coding.fields(&field.name));
        let pairs = crosses.fields(&statistics);
        let fields: Vec<Field> = single.chain(pairs).chain(statistics.fields()).collect();
        Self { input, columns, crosses, statistics, output: Arc::new(Schema::new(fields)) }
    }

    fn categories(&self) -> Categories<'_> {
        Categories { columns: &self.columns, crosses: &self.crosses }
    }

    /// The columns it reads.
    pub fn input(&self) -> &Arc<Schema> {
        &self.input
    }

    /// The columns it makes: a number or category under its old name, an indicator as `colour=red`, a pair as `colour x size`.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.output
    }

    /// What it has learned, as data: how each column it reads is encoded, and the names of those it makes.
    pub fn parameters(&self) -> Parameters {
        let named = self.input.fields().iter().zip(&self.columns);
        let columns: Vec<Parameters> =
            named.map(|(field, coding)| coding.parameters(&field.name)).collect();
        let made: Vec<String> = self.output.fields().iter().map(|f| f.name.clone()).collect();
        let parameters = Parameters::new("encoder").with("columns", columns);
        let parameters = if self.crosses.is_empty() {
            parameters
        } else {
            parameters.with("crosses", self.crosses.parameters())
        };
        let parameters = if self.statistics.is_empty() {
            parameters
        } else {
            parameters.with("statistics", self.statistics.parameters())
        };
        parameters.with("makes", &made)
    }

    /// Number of columns it makes.
    pub fn width(&self) -> usize {
        self.output.len()
    }

    /// Refuses columns that are not those it was fitted on.
    pub(crate) fn check_inputs(&self, inputs: &Schema) -> Result<()> {
        if *inputs == *self.input {
            return Ok(());
        }
        let problem = "the columns are not those that the encoder was fitted on";
        Err(Error::data(Place::default(), problem))
    }

    /// Whether every column is encoded as one category.
    pub(crate) fn is_discrete(&self) -> bool {
        let kept = |coding: &Coding| matches!(coding, Coding::Level(level) if !level.one_hot);
        self.columns.iter().all(kept)
    }

    /// Encodes rows of the columns it was fitted on, without a copy where that changes nothing: numbers that stay as they
    /// are, with nothing to fill in and nothing far out.
    pub(crate) fn view<'a>(&self, rows: Rows<'a>) -> Result<Applied<'a>> {
        let is_same = *rows.schema() == self.input
            && self.crosses.is_empty()
            && self.columns.iter().all(Coding::may_keep)
            && rows.iter().all(|row| self.columns.iter().zip(row).all(|(own, v)| own.keeps(*v)));
        if is_same { Ok(Applied::Same(rows)) } else { self.apply(rows).map(Applied::Made) }
    }

    /// Encodes rows of the columns it was fitted on.
    pub fn apply(&self, rows: Rows<'_>) -> Result<Features> {
        Features::new(self.cells(rows)?, Arc::clone(&self.output))
    }

    /// The cells of encoded rows.
    fn cells(&self, rows: Rows<'_>) -> Result<Vec<f64>> {
        if !Arc::ptr_eq(rows.schema(), &self.input) {
            self.check_inputs(rows.schema())?;
        }
        let mut values = vec![0.0; rows.rows() * self.width()];
        for (row, out) in rows.iter().zip(values.chunks_exact_mut(self.width().max(1))) {
            self.apply_into(row, out);
        }
        Ok(values)
    }

    /// The levels of a row's values, where each column is encoded as one category: the number of levels for an unknown value,
    /// `None` for one that stays missing.
    pub(crate) fn levels(&self, row: &[f64]) -> impl Iterator<Item = Option<usize>> {
        self.columns.iter().zip(row).map(|(coding, value)| match coding {
            Coding::Level(coding) => coding.code(*value),
            Coding::Number { .. } | Coding::Tamed { .. } => None,
        })
    }

    /// Whether missing values of a column have a level of their own, its last one.
    pub(crate) fn has_missing_level(&self, column: usize) -> bool {
        match &self.columns[column] {
            Coding::Level(coding) => coding.has_missing_level(),
            Coding::Number { .. } | Coding::Tamed { .. } => false,
        }
    }

    /// Encodes one row into `out`, which has room for [`width`](Encoder::width) values.
    pub fn apply_into(&self, row: &[f64], mut out: &mut [f64]) {
        for (j, (coding, &value)) in self.columns.iter().zip(row).enumerate() {
            if self.statistics.replace_column(j) {
                continue;
            }
            let (cells, rest) = out.split_at_mut(coding.width());
            coding.write(value, cells);
            out = rest;
        }
        let rest = self.crosses.write(row, &self.statistics, out);
        self.statistics.write(self.categories(), row, rest);
    }

    /// Encodes training rows, with what was learned of each from the rows before it.
    fn apply_ordered(&self, rows: Rows<'_>, ordered: &[Vec<f64>]) -> Result<Features> {
        let width = self.width();
        let mut values = self.cells(rows)?;
        let each = self.statistics.each();
        let first = width - ordered.len() * each;
        for (i, row) in values.chunks_exact_mut(width.max(1)).enumerate() {
            let own = ordered.iter().zip(row[first..].chunks_exact_mut(each));
            own.for_each(|(all, cells)| cells.copy_from_slice(&all[i * each..(i + 1) * each]));
        }
        Features::new(values, Arc::clone(&self.output))
    }
}
