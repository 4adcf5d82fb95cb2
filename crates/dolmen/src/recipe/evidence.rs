//! How predictions did row by row, summed up: curves and counts that are small whatever the number of rows, and hold no row.
//!
//! A fit makes it from the rows held out in the check of the stack (or, without a check, from the out-of-sample matrix), and it is
//! stored with the model; [`Model::judge`] makes the same from rows with known truth.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::explain::Explained;
use super::matrix::{Matrix, with_matrix};
use super::model::Model;
use super::score::Answers;
use crate::combine::Combination;
use crate::ensemble::{Ensemble, HeldOutPredictions};
use crate::error::Result;
use crate::evaluate::explain::{Dependence, Importance};
use crate::learner::density::DensityModel;
use crate::learner::{Fitted, Sample, predict};
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::score::Histogram;
use crate::score::curves::ClassCurves;
use crate::score::residuals::PredictedTrue;
use crate::table::{Features, Kind, Rows};
use crate::target::{Labels, Target};
use crate::task::{Joint, Task};

/// How predictions did row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Rows predicted.
    pub rows: usize,
    /// What the stack knew of these rows.
    pub basis: Basis,
    /// Of classes: ROC, precision and recall, reliability, confusion; before calibration where rows were held out.
    #[serde(default)]
    pub classes: Option<ClassCurves>,
    /// Of classes, where nothing but a matrix is known: the rows of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_rows: Vec<(String, usize)>,
    /// Of numbers: predicted against true, and residuals.
    #[serde(default)]
    pub numbers: Option<PredictedTrue>,
    /// Of densities: for each row the probability that the stack gives to all places less dense than the row's. Of a density that is
    /// right every value between 0 and 1 is as frequent as any other, in any number of columns.
    #[serde(default)]
    pub levels: Option<Histogram>,
    /// Rows drawn from the density to know its levels; 0 in files that do not tell: then they were 1000.
    #[serde(default)]
    pub levels_drawn: usize,
    /// Of densities, where rows were given: for each column the stack's probability of a value below the row's.
    #[serde(default)]
    pub marginals: Vec<ColumnSketch>,
    /// The columns learned from, or of the rows given.
    #[serde(default)]
    pub columns: Vec<ColumnSketch>,
    /// How alike the members go wrong.
    #[serde(default)]
    pub correlation: Option<MemberCorrelation>,
    /// How much each input matters, if that was measured.
    #[serde(default)]
    pub importance: Option<Importance>,
    /// How predictions move with the inputs that matter most, if that was measured.
    #[serde(default)]
    pub dependence: Vec<Dependence>,
}

/// What the stack knew of the rows that it is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// They were held out from the combination, and in a nested check from the members.
    HeldOut,
    /// They were held out from the members; the combination was learned from them.
    LearnedFrom,
    /// They were given later.
    NewRows,
}

/// A column summed up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnSketch {
    /// Its name.
    pub name: String,
    /// Its values.
    #[serde(flatten)]
    pub sketch: Sketch,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sketch {
    /// Numbers.
    Numbers(Histogram),
    /// Categories: each level with its rows.
    Levels(Vec<(String, usize)>),
}

/// How alike members go wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberCorrelation {
    /// The members.
    pub members: Vec<String>,
    /// The correlation of each two members' errors on the rows of the matrix: residuals of numbers, log scores of everything
    /// else; row after row, NaN where one never varies.
    pub values: Vec<f64>,
    /// Groups of members, by their places, each two of which make all but the same errors, so that one of them would do; none in
    /// files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<Vec<usize>>,
}

/// Members up to which correlations are kept, and rows that say something of them: of two rows each is 1 or -1.
const MOST_CORRELATED: usize = 60;
const FEWEST_CORRELATED: usize = 3;
/// Columns and levels up to which they are summed up.
const MOST_COLUMNS: usize = 64;
const MOST_LEVELS: usize = 30;
/// Rows drawn from a density to know its levels: as many as are judged, within these.
const FEWEST_DRAWN: usize = 1000;
const MOST_DRAWN: usize = 10_000;
/// Rows by which it is seen whether the folds' densities are like that of all rows.
const COMPARED: usize = 500;
/// Bins of probabilities.
const BINS: usize = 20;

impl MemberCorrelation {
    /// Of a matrix; `None` of a single member, of very many, or of a row or two.
    pub fn of<T: Task>(matrix: &OutOfSample<T>) -> Option<Self> {
        let members = matrix.members().to_vec();
        let is_shown =
            (2..=MOST_CORRELATED).contains(&members.len()) && matrix.rows() >= FEWEST_CORRELATED;
        is_shown.then(|| {
            let (values, alike) = (matrix.error_correlation(), matrix.alike());
            Self { members, values, alike }
        })
    }
}

impl Evidence {
    /// Of rows of which nothing is known yet.
    fn new(rows: usize, basis: Basis) -> Self {
        Self {
            rows,
            basis,
            classes: None,
            class_rows: Vec::new(),
            numbers: None,
            levels: None,
            levels_drawn: 0,
            marginals: Vec::new(),
            columns: Vec::new(),
            correlation: None,
            importance: None,
            dependence: Vec::new(),
        }
    }

    /// Of a stack that was just fitted; without an out-of-sample matrix nothing but its columns is known, which pictures of who
    /// has a say where need.
    pub(super) fn of_fit<T: Task>(
        ensemble: &Ensemble<T>,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Self> {
        let columns = sketches(sample.x());
        let Some(matrix) = ensemble.matrix() else {
            return Ok(Self { columns, ..Self::new(0, Basis::LearnedFrom) });
        };
        let (rows, predicted, basis) = if let Some(held) = ensemble.held_out() {
            (held.rows.clone(), held.predicted.clone(), Basis::HeldOut)
        } else {
            let x = sample.x().select(matrix.table_rows());
            let predicted = combined(ensemble, matrix, x.rows())?;
            ((0..matrix.rows()).collect(), predicted, Basis::LearnedFrom)
        };
        let mut evidence = Self::new(rows.len(), basis);
        evidence.sum_up_rows(matrix, &rows, &predicted);
        let table_rows: Vec<usize> = rows.iter().map(|&i| matrix.table_rows()[i]).collect();
        let stream = run.stream("evidence");
        if let Some(density) = ensemble.density() {
            let levels = Levels::of(density, table_rows.len(), sample.x(), &stream)?;
            if levels.suit(density, sample.x(), &table_rows, &predicted)? {
                evidence.take_levels(&levels, sample.x(), &table_rows, &predicted);
            }
        }
        evidence.columns = columns;
        evidence.correlation = MemberCorrelation::of(matrix);
        Ok(evidence)
    }

    /// Of a matrix alone: how alike its members go wrong, and the rows of its classes.
    pub fn of_matrix(matrix: &Matrix) -> Self {
        let (correlation, class_rows) = with_matrix!(matrix, matrix => {
            let labels = matrix.target().labels();
            (MemberCorrelation::of(matrix), labels.map_or_else(Vec::new, rows_of_classes))
        });
        Self { class_rows, correlation, ..Self::new(matrix.rows(), Basis::LearnedFrom) }
    }

    /// With what a combination of the matrix said about rows that were held out from it.
    pub(super) fn with_held_out<T: Task>(
        self,
        matrix: &OutOfSample<T>,
        held_out: &HeldOutPredictions,
    ) -> Self {
        let HeldOutPredictions { rows, predicted } = held_out;
        let mut evidence = Self { rows: rows.len(), basis: Basis::HeldOut, ..self };
        evidence.sum_up_rows(matrix, rows, predicted);
        evidence
    }

    /// What was said about some rows of a matrix.
    fn sum_up_rows<T: Task>(&mut self, matrix: &OutOfSample<T>, rows: &[usize], predicted: &[f64]) {
        let weights = match matrix.weights() {
            Some(weights) => rows.iter().map(|&i| weights[i]).collect(),
            None => vec![1.0; rows.len()],
        };
        self.sum_up::<T>(predicted, &matrix.target().select(rows), &weights);
    }

    /// What the task's predictions say of classes or numbers.
    fn sum_up<T: Task>(&mut self, predicted: &[f64], target: &T::Target, weights: &[f64]) {
        if let Some(labels) = target.labels() {
            let posteriors;
            let probabilities = if T::LOG_SPACE {
                posteriors = Joint::posteriors(predicted, labels.classes().len());
                &posteriors
            } else {
                predicted
            };
            self.classes = Some(ClassCurves::of(probabilities, labels, weights));
        }
        self.numbers = T::numbers(target).map(|truth| PredictedTrue::of(predicted, truth));
    }
}

fn rows_of_classes(labels: &Labels) -> Vec<(String, usize)> {
    labels.classes().iter().cloned().zip(labels.counts()).collect()
}

/// What a stack makes of its own matrix.
fn combined<T: Task>(
    ensemble: &Ensemble<T>,
    matrix: &OutOfSample<T>,
    x: Rows<'_>,
) -> Result<Vec<f64>> {
    let column = |name: &str| matrix.members().iter().position(|member| member == name);
    let columns: Vec<&[f64]> =
        ensemble.names().filter_map(column).map(|m| matrix.column(m)).collect();
    let mut out = vec![0.0; matrix.rows() * matrix.width()];
    let combination: &dyn Combination<T> = ensemble.combination();
    combination.combine_into(&columns, matrix.width(), x, &mut out)?;
    Ok(out)
}

/// The levels of a density: the log densities of rows drawn from it, ascending.
struct Levels(Vec<f64>);

impl Levels {
    /// Enough of them to judge so many rows.
    fn of(density: &dyn DensityModel, rows: usize, x: Rows<'_>, run: &Run) -> Result<Self> {
        let count = rows.clamp(FEWEST_DRAWN, MOST_DRAWN);
        let drawn = Features::new(density.sample(count, run)?, x.schema().clone())?;
        let mut own = predict(density, drawn.rows(), run)?;
        own.sort_by(f64::total_cmp);
        Ok(Self(own))
    }

    /// How often rows drawn from the density are less dense than one of this log density.
    fn level(&self, value: f64) -> f64 {
        let below = self.0.partition_point(|own| *own < value);
        let up_to = self.0.partition_point(|own| *own <= value);
        (below + up_to) as f64 / (2 * self.0.len()) as f64
    }

    /// Whether what was said about rows held out can be told by these levels. The densities of the folds said it, and these are of the density of
    /// all rows: a mixture may have found another place in a fold, and a narrow kernel is higher where its own row is.
    fn suit(
        &self,
        density: &dyn DensityModel,
        x: Rows<'_>,
        rows: &[usize],
        held_out: &[f64],
    ) -> Result<bool> {
        let finite: Vec<f64> = self.0.iter().copied().filter(|own| own.is_finite()).collect();
        let count = finite.len() as f64;
        let centre = finite.iter().sum::<f64>() / count;
        let spread = finite.iter().map(|own| (own - centre).powi(2)).sum::<f64>() / count;
        let step = rows.len().div_ceil(COMPARED).max(1);
        let places: Vec<usize> = (0..rows.len()).step_by(step).collect();
        let chosen: Vec<usize> = places.iter().map(|&i| rows[i]).collect();
        let mut of_all = vec![0.0; places.len()];
        density.predict_into(x.select(&chosen).rows(), &mut of_all)?;
        let apart: Vec<f64> =
            of_all.iter().zip(&places).map(|(all, &i)| all - held_out[i]).collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / apart.len() as f64;
        let shift = mean(&mut apart.iter().copied());
        let size = mean(&mut apart.iter().map(|d| d.abs()));
        Ok(shift.abs() <= 0.1 * spread.sqrt() && size <= 0.3 * spread.sqrt())
    }
}

impl Evidence {
    /// Where rows stand among the levels of a density. Rows with missing values have densities of fewer columns, and are left
    /// out.
    fn take_levels(&mut self, levels: &Levels, x: Rows<'_>, rows: &[usize], log: &[f64]) {
        let is_whole = |i: &usize| x.row(rows[*i]).iter().all(|v| !v.is_nan());
        let values = (0..rows.len()).filter(is_whole).map(|i| levels.level(log[i]));
        self.levels = Some(Histogram::within([0.0, 1.0], BINS, values));
        self.levels_drawn = levels.0.len();
    }

    /// The standard deviation of the rows in one of the bars of `levels`, of a density that is right: rows are drawn by chance, and so are
    /// those by which the levels are known.
    pub fn level_spread(&self) -> Option<f64> {
        let levels = self.levels.as_ref()?;
        let (total, bins) = (levels.total() as f64, levels.counts.len() as f64);
        let drawn = if self.levels_drawn == 0 { FEWEST_DRAWN } else { self.levels_drawn };
        Some((total / bins * (1.0 - 1.0 / bins) * (1.0 + total / drawn as f64)).sqrt())
    }
}

/// The stack's probability of a value below each row's, column by column; columns whose part of it cannot be had are left out.
fn marginals(density: Option<&dyn DensityModel>, x: Rows<'_>, run: &Run) -> Vec<ColumnSketch> {
    let Some(density) = density else { return Vec::new() };
    let fields = &x.schema().fields()[..x.width().min(MOST_COLUMNS)];
    let of_column = |(j, field): (usize, &crate::table::Field)| {
        let marginal = density.marginal(&[j]).ok()?;
        let mut values: Vec<f64> = x.column(j).filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let mut counts = vec![0; BINS];
        count_levels(&values, &|value| marginal.cdf(value), &mut counts).ok()?;
        let histogram = Histogram { range: [0.0, 1.0], counts, without: 0, beyond: None };
        Some(ColumnSketch { name: field.name.clone(), sketch: Sketch::Numbers(histogram) })
    };
    run.install(|| fields.par_iter().enumerate().filter_map(of_column).collect())
}

/// Counts for each bin of probabilities the ascending values that a distribution function puts into it. Between two values of one bin all
/// are in it, so few are asked: of a kernel density the function looks at every row learned from.
fn count_levels(
    values: &[f64],
    cdf: &dyn Fn(f64) -> Result<f64>,
    counts: &mut [usize],
) -> Result<()> {
    let Some(last) = values.len().checked_sub(1) else { return Ok(()) };
    let bins = counts.len();
    let bin = |i: usize| -> Result<usize> {
        Ok(((cdf(values[i])? * bins as f64).max(0.0) as usize).min(bins - 1))
    };
    let (first_bin, last_bin) = (bin(0)?, bin(last)?);
    counts[first_bin] += 1;
    let mut stretches = vec![(0, first_bin, last, last_bin)];
    // A stretch counts what lies after its first value, up to its last.
    while let Some((from, from_bin, to, to_bin)) = stretches.pop() {
        if from_bin == to_bin || to - from <= 1 {
            counts[to_bin] += to - from;
            continue;
        }
        let middle = usize::midpoint(from, to);
        let middle_bin = bin(middle)?;
        stretches.extend([(from, from_bin, middle, middle_bin), (middle, middle_bin, to, to_bin)]);
    }
    Ok(())
}

fn sketches(x: Rows<'_>) -> Vec<ColumnSketch> {
    let fields = x.schema().fields().iter().enumerate().take(MOST_COLUMNS);
    let of_column = |(j, field): (usize, &crate::table::Field)| {
        let values = x.iter().map(move |row| row[j]);
        let sketch = match &field.kind {
            Kind::Numeric => Sketch::Numbers(Histogram::of(values)),
            Kind::Categorical { levels } => {
                let mut counts = vec![0; levels.len()];
                let known = values.filter(|v| *v >= 0.0 && (*v as usize) < levels.len());
                known.for_each(|v| counts[v as usize] += 1);
                let mut named: Vec<(String, usize)> = levels.iter().cloned().zip(counts).collect();
                named.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                named.truncate(MOST_LEVELS);
                Sketch::Levels(named)
            }
        };
        ColumnSketch { name: field.name.clone(), sketch }
    };
    fields.map(of_column).collect()
}

impl Model {
    /// How predictions of rows with known truth do, row by row; with `explain` also the importance of the inputs.
    pub(super) fn examine<T: Task>(
        &self,
        answers: Answers<'_, T>,
        explain: bool,
        run: &Run,
    ) -> Result<Evidence> {
        let Answers { model, x, truth, together, alone } = answers;
        let mut evidence = Evidence::new(x.rows(), Basis::NewRows);
        evidence.sum_up::<T>(&together, truth, &vec![1.0; x.rows()]);
        let all: Vec<usize> = (0..x.rows()).collect();
        if let Some(density) = model.density() {
            let levels = Levels::of(density, x.rows(), x, run)?;
            evidence.take_levels(&levels, x, &all, &together);
        }
        evidence.marginals = marginals(model.density(), x, run);
        evidence.columns = sketches(x);
        let members = model.names().map(String::from).zip(alone).collect();
        let matrix = OutOfSample::<T>::from_columns(members, truth.clone(), None)?;
        evidence.correlation = MemberCorrelation::of(&matrix);
        if explain {
            let sample = Sample::new(x, truth)?;
            let explained = Explained { ensemble: model, sample, conventions: self.conventions() };
            explained.add_of_model(&mut evidence, run)?;
        }
        Ok(evidence)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Counted one by one and by stretches, ties and values beyond the ends too; of many values few are asked.
    #[test]
    fn levels_are_counted_with_few_questions() {
        let noise = |i: usize| ((i * 7919 + 13) % 997) as f64 / 900.0 - 0.05;
        for rows in [0, 1, 2, 3, 40, 20_000] {
            let mut values: Vec<f64> = (0..rows).map(noise).collect();
            values.sort_by(f64::total_cmp);
            let asked = Cell::new(0);
            let cdf = |value: f64| {
                asked.set(asked.get() + 1);
                Ok(value.clamp(0.0, 1.0).powi(2))
            };
            let mut counts = vec![0; BINS];
            count_levels(&values, &cdf, &mut counts).unwrap();
            let each = values.iter().map(|value| value.clamp(0.0, 1.0).powi(2));
            assert_eq!(counts, Histogram::within([0.0, 1.0], BINS, each).counts, "{rows} rows");
            assert!(asked.get() <= 400, "{rows} rows: {} questions", asked.get());
        }
    }
}
