//! Logistic regression in passes: two for the scales, then one for each step of Newton's method, or of L-BFGS where parameters are so
//! many that their pairs cost more than further passes. All penalties of a ladder advance together.
//!
//! A sample of the rows, drawn in the second pass, gives the start, and the penalty if one is to be chosen.

use serde::{Deserialize, Serialize};

use super::logistic::{About, FittedLogistic, Logistic, number_classes};
use super::newton::Search;
use super::softmax::{Evaluation, Labelled, Problem, Shape, contrasts};
use crate::error::{Error, Result};
use crate::learner::chosen::Chosen;
use crate::learner::pass::{LABELS, LabelledRows, Pass, Piece, RowSample, Step};
use crate::learner::scales::{Moments, Ranges, Scales, require_numbers_at};
use crate::learner::{Sample, Simple};
use crate::math::quasi_newton::{Minimum, Stop};
use crate::run::Run;
use crate::stats::Accumulator;
use crate::table::{Features, Rows};
use crate::target::Target;
use crate::task::Classification;

/// Rows of the sample, and numbers in it: of many columns fewer rows are drawn, but some in any case.
const SAMPLED: usize = 1 << 14;
const SAMPLED_CELLS: usize = 5 << 20;
const FEWEST_SAMPLED: usize = 1 << 10;
/// Gradient tolerance of the start.
const ROUGH: f64 = 1e-4;
/// Parameters of which all pairs are summed, for all folds at once. Steps of L-BFGS need no pairs, and there are more of them.
const NEWTON_PARAMETERS: usize = 1000;

/// Steps that a search takes as a rule.
const USUAL_STEPS: usize = 5;

/// Logistic regressions on their way, one for each penalty.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogisticPass {
    logistic: Logistic,
    columns: Vec<String>,
    /// The key of its random numbers.
    key: u64,
    stage: Stage,
}

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Means,
    Squares(Box<Looked>),
    Searches(Box<Seen>, Vec<Search>),
}

/// What is known after the first pass.
#[derive(Debug, Serialize, Deserialize)]
struct Looked {
    seen: Classes,
    /// What centres the columns, where they are not to be scaled.
    centring: Scales,
    centres: Vec<f64>,
    /// Whether pieces keep only rows of the sample that can be expected to be in it.
    is_sparing: bool,
}

/// The classes that there are.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Classes {
    names: Vec<String>,
    /// The weight of each.
    weights: Vec<f64>,
    /// Rows of positive weight.
    rows: u64,
}

/// What is known before the search begins.
#[derive(Debug, Serialize, Deserialize)]
struct Seen {
    classes: Vec<String>,
    numbers: Vec<Option<usize>>,
    scales: Scales,
    weight: f64,
    lambdas: Vec<f64>,
    notes: Vec<String>,
}

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LogisticSums(Sums);

#[derive(Debug, Serialize, Deserialize)]
enum Sums {
    /// Moments about the first row of a piece; none without rows.
    Means(Box<(Ranges, Option<Moments>, Classes)>),
    Squares(Option<Moments>, Box<RowSample>),
    /// One for each penalty, but for those at their end.
    Searches(Vec<Option<Evaluation>>),
}

impl LogisticPass {
    /// Fits to rows of these columns.
    pub(super) fn new(logistic: &Logistic, x: Rows<'_>, run: &Run) -> Result<Self> {
        logistic.validate()?;
        let columns = x.schema().fields().iter().map(|field| field.name.clone()).collect();
        Ok(Self { logistic: logistic.clone(), columns, key: run.key(), stage: Stage::Means })
    }

    /// What the first pass finds in some rows.
    fn look(piece: &Piece<'_, Classification>) -> Result<Sums> {
        let sample = &piece.sample;
        require_numbers_at(sample.x(), |i| piece.number(i))?;
        let names = sample.target().classes().to_vec();
        let mut weights = vec![0.0; names.len()];
        (0..sample.rows()).for_each(|i| weights[sample.target().class(i)] += sample.weight(i));
        let mut counts = (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0);
        let first = counts.next();
        let moments = first.map(|i| Moments::of(sample.x(), sample.weights(), sample.x().row(i)));
        let rows = first.map_or(0, |_| 1 + counts.count() as u64);
        let seen = Classes { names, weights, rows };
        Ok(Sums::Means(Box::new((Ranges::of(sample.x()), moments, seen))))
    }

    /// The penalties and the starts, from the sample.
    fn begin(
        &self,
        seen: Classes,
        sample: RowSample,
        scales: Scales,
    ) -> Result<Step<Self, Simple<FittedLogistic>>> {
        let Classes { names: classes, weights, .. } = seen;
        let numbers = number_classes(weights.iter().map(|weight| *weight > 0.0));
        let weight: f64 = weights.iter().sum();
        let drawn = Drawn::new(sample, self.columns.len(), &classes)?;
        let labelled = Labelled {
            sample: drawn.sample()?,
            rows: Chosen::All(drawn.x.rows().rows()),
            scales: &scales,
            numbers: &numbers,
            coordinates: None,
        };
        let seen = numbers.iter().flatten().count();
        let contrasts = contrasts(seen);
        let problem = Problem { data: labelled, contrasts: &contrasts, lambda: 0.0 };
        let run = Run::of_key(self.key);
        // A part of the rows is outweighed by a penalty for all of them.
        let share = problem.weight() / weight;
        let (lambdas, notes) = if let Some(lambdas) = self.logistic.lambda.given() {
            (lambdas.to_vec(), Vec::new())
        } else {
            let (lambda, note) = self.logistic.choose(&problem, &run)?;
            let rows = drawn.x.rows().rows();
            let of = if share < 0.999_999 {
                format!(", on a sample of {rows} rows")
            } else {
                String::new()
            };
            (vec![lambda], vec![note + &of])
        };
        let shared: Vec<f64> = lambdas.iter().map(|lambda| lambda * share).collect();
        let tolerance = ROUGH.max(self.logistic.tolerance);
        let starts = self.logistic.minima(&problem, &shared, tolerance, &run)?;
        let is_small = problem.parameters() <= NEWTON_PARAMETERS;
        let way = if is_small { Search::newton } else { Search::quasi };
        let seen = Seen { classes, numbers, scales, weight, lambdas, notes };
        let stop = Stop {
            gradient: self.logistic.tolerance * weight,
            iterations: self.logistic.iterations,
        };
        let searches = starts.into_iter().map(|start| way(start.at, stop)).collect();
        Ok(Step::Again(self.at(Stage::Searches(Box::new(seen), searches))))
    }

    /// The sample without rows.
    fn empty_sample(&self, looked: &Looked) -> RowSample {
        let width = self.columns.len() + LABELS;
        let most = SAMPLED.min((SAMPLED_CELLS / width).max(FEWEST_SAMPLED));
        let sample = RowSample::new(most, width, self.key);
        if looked.is_sparing { sample.among(looked.seen.rows) } else { sample }
    }

    fn at(&self, stage: Stage) -> Self {
        let Self { logistic, columns, key, .. } = self;
        Self { logistic: logistic.clone(), columns: columns.clone(), key: *key, stage }
    }
}

/// The rows of the sample.
struct Drawn {
    x: Features,
    rows: LabelledRows,
}

impl Drawn {
    fn new(sample: RowSample, columns: usize, classes: &[String]) -> Result<Self> {
        let mut rows = sample.finish_labelled(classes)?;
        let x = Features::numeric(std::mem::take(&mut rows.values), columns)?;
        Ok(Self { x, rows })
    }

    fn sample(&self) -> Result<Sample<'_, Classification>> {
        self.rows.sample(self.x.rows())
    }
}

impl Seen {
    fn models(self, columns: &[String], minima: &[Minimum]) -> Vec<Simple<FittedLogistic>> {
        let contrasts = contrasts(self.numbers.iter().flatten().count());
        let about = About {
            columns,
            classes: &self.classes,
            numbers: &self.numbers,
            scales: &self.scales,
            weight: self.weight,
        };
        let problem =
            Problem { data: Shape(columns.len() + 1), contrasts: &contrasts, lambda: 0.0 };
        let model = |(lambda, minimum): (&f64, &Minimum)| {
            let theta = problem.class_coefficients(&minimum.at);
            let model = FittedLogistic::new(&about, &theta, *lambda, minimum);
            Simple(model.with_notes(self.notes.clone()))
        };
        self.lambdas.iter().zip(minima).map(model).collect()
    }
}

impl Pass<Classification> for LogisticPass {
    const KIND: &'static str = "logistic";
    type Sums = LogisticSums;
    type Model = Simple<FittedLogistic>;

    fn zero(&self) -> LogisticSums {
        LogisticSums(match &self.stage {
            Stage::Means => {
                let ranges = Ranges::none(self.columns.len());
                Sums::Means(Box::new((ranges, None, Classes::default())))
            }
            Stage::Squares(looked) => Sums::Squares(None, Box::new(self.empty_sample(looked))),
            Stage::Searches(_, searches) => Sums::Searches(searches.iter().map(|_| None).collect()),
        })
    }

    fn add(&self, sums: &mut LogisticSums, piece: &Piece<'_, Classification>) -> Result<()> {
        let sample = &piece.sample;
        let found = match &self.stage {
            Stage::Means => Self::look(piece)?,
            Stage::Squares(looked) => {
                let moments = Moments::of(sample.x(), sample.weights(), &looked.centres);
                let mut drawn = self.empty_sample(looked);
                drawn.add_labelled(piece);
                Sums::Squares(Some(moments), Box::new(drawn))
            }
            Stage::Searches(seen, searches) => {
                let mut list = Vec::new();
                let rows = Chosen::of(sample.rows(), |i| sample.weight(i) > 0.0, &mut list)?;
                let (numbers, scales) = (&seen.numbers, &seen.scales);
                let data = Labelled { sample: *sample, rows, scales, numbers, coordinates: None };
                let contrasts = contrasts(numbers.iter().flatten().count());
                let problem = Problem { data, contrasts: &contrasts, lambda: 0.0 };
                let at = |search: &Search| {
                    let is_on_its_way = search.end().is_none();
                    is_on_its_way.then(|| problem.sums(&search.point(), search.asks_for_hessian()))
                };
                Sums::Searches(searches.iter().map(at).collect())
            }
        };
        self.merge(sums, LogisticSums(found));
        Ok(())
    }

    fn left(&self) -> usize {
        match self.stage {
            Stage::Means => USUAL_STEPS + 2,
            Stage::Squares(..) => USUAL_STEPS + 1,
            Stage::Searches(..) => USUAL_STEPS,
        }
    }

    fn merge(&self, LogisticSums(sums): &mut LogisticSums, LogisticSums(later): LogisticSums) {
        match (sums, later) {
            (Sums::Means(sums), Sums::Means(later)) => {
                let (ranges, moments, seen) = &mut **sums;
                let (more_ranges, more_moments, more) = *later;
                ranges.merge(more_ranges);
                add_later(moments, more_moments);
                seen.rows += more.rows;
                if seen.names.is_empty() {
                    (seen.names, seen.weights) = (more.names, more.weights);
                } else {
                    seen.weights.iter_mut().zip(more.weights).for_each(|(a, b)| *a += b);
                }
            }
            (Sums::Squares(sums, drawn), Sums::Squares(later, more)) => {
                add_later(sums, later);
                drawn.merge(*more);
            }
            (Sums::Searches(sums), Sums::Searches(later)) => {
                sums.iter_mut().zip(later).for_each(|(sums, later)| add_later(sums, later));
            }
            _ => {}
        }
    }

    fn next(mut self, LogisticSums(sums): LogisticSums) -> Result<Step<Self, Self::Model>> {
        match (self.stage, sums) {
            (Stage::Means, Sums::Means(sums)) => {
                let (ranges, moments, seen) = *sums;
                ranges.require_moderate(self.columns.iter().map(String::as_str))?;
                let moments = moments.ok_or_else(no_rows)?;
                let (centring, centres) = (moments.centring(), moments.means());
                let looked = Looked { seen, centring, centres, is_sparing: true };
                Ok(Step::Again(Self { stage: Stage::Squares(Box::new(looked)), ..self }))
            }
            (Stage::Squares(mut looked), Sums::Squares(moments, sample)) => {
                if looked.is_sparing && sample.is_short(looked.seen.rows) {
                    looked.is_sparing = false;
                    return Ok(Step::Again(Self { stage: Stage::Squares(looked), ..self }));
                }
                self.stage = Stage::Means;
                let Looked { seen, centring, .. } = *looked;
                let moments = moments.ok_or_else(no_rows)?;
                let is_scaled = self.logistic.standardise;
                self.begin(seen, *sample, if is_scaled { moments.scales() } else { centring })
            }
            (Stage::Searches(seen, mut searches), Sums::Searches(sums)) => {
                let contrasts = contrasts(seen.numbers.iter().flatten().count());
                let data = Shape(self.columns.len() + 1);
                for ((search, lambda), there) in searches.iter_mut().zip(&seen.lambdas).zip(sums) {
                    let problem = Problem { data, contrasts: &contrasts, lambda: *lambda };
                    if let Some(mut there) = there {
                        problem.penalise(&search.point(), &mut there);
                        search.advance(&problem, there);
                    }
                }
                let minima: Option<Vec<Minimum>> = searches.iter().map(Search::end).collect();
                Ok(match minima {
                    Some(minima) => Step::Done(seen.models(&self.columns, &minima)),
                    None => Step::Again(Self { stage: Stage::Searches(seen, searches), ..self }),
                })
            }
            (stage, _) => Ok(Step::Again(Self { stage, ..self })),
        }
    }
}

fn add_later<S: Accumulator>(sums: &mut Option<S>, later: Option<S>) {
    match (sums.as_mut(), later) {
        (Some(sums), Some(later)) => sums.merge(later),
        (None, later) => *sums = later,
        (Some(_), None) => {}
    }
}

fn no_rows() -> Error {
    Error::shape("rows to learn from", 1, 0)
}
