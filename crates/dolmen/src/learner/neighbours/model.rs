//! The fitted model: the rows, what they answer, and how answers are shared.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Shares;
use super::index::Index;
use super::nearest::Found;
use crate::error::{Error, Result};
use crate::learner::Fitted;
use crate::learner::scales::{Scales, require_numbers};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry, floats};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Regression};

/// What the rows answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answers {
    /// Their classes.
    Classes {
        /// The class of each row.
        codes: Vec<u32>,
        /// How frequent each class is, for smoothing.
        frequencies: Vec<f64>,
    },
    /// Their numbers.
    Numbers(#[serde(with = "floats")] Vec<f64>),
}

/// The rows with everything that a prediction needs but k.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) scales: Scales,
    pub(super) index: Index,
    pub(super) answers: Answers,
    pub(super) shares: Shares,
    pub(super) smoothing: f64,
}

impl Known {
    fn width(&self) -> usize {
        match &self.answers {
            Answers::Classes { frequencies, .. } => frequencies.len(),
            Answers::Numbers(_) => 1,
        }
    }

    /// Predicts rows for several k with one search: one column of predictions for each.
    pub(super) fn predict(&self, x: Rows<'_>, counts: &[usize]) -> Result<Vec<Vec<f64>>> {
        let mut columns = vec![Vec::with_capacity(x.rows() * self.width()); counts.len()];
        self.search(x, counts, |found| {
            for (column, &k) in columns.iter_mut().zip(counts) {
                let first = column.len();
                column.resize(first + self.width(), 0.0);
                self.answer(found, k, &mut column[first..]);
            }
        })?;
        Ok(columns)
    }

    fn search(&self, x: Rows<'_>, counts: &[usize], answer: impl FnMut(&[Found])) -> Result<()> {
        if x.width() != self.scales.centres().len() {
            return Err(Error::shape("input columns", self.scales.centres().len(), x.width()));
        }
        require_numbers(x)?;
        let most = counts.iter().copied().max().unwrap_or(1);
        self.index.search(&self.scales.apply(x), most, answer);
        Ok(())
    }

    /// The prediction of the first rows found that together weigh k.
    fn answer(&self, found: &[Found], k: usize, out: &mut [f64]) {
        out.fill(0.0);
        let exact =
            self.shares == Shares::Distance && found.first().is_some_and(|f| f.distance == 0.0);
        let (mut counted, mut total) = (0.0, 0.0);
        for neighbour in found {
            let weight = neighbour.weight.min(k as f64 - counted);
            if weight <= 0.0 || exact && neighbour.distance > 0.0 {
                break;
            }
            counted += weight;
            let share = match self.shares {
                Shares::Distance if !exact => weight / neighbour.distance.sqrt(),
                _ => weight,
            };
            total += share;
            match &self.answers {
                Answers::Classes { codes, .. } => {
                    out[codes[neighbour.row as usize] as usize] += share;
                }
                Answers::Numbers(numbers) => out[0] += share * numbers[neighbour.row as usize],
            }
        }
        match &self.answers {
            Answers::Numbers(_) => out[0] /= total,
            Answers::Classes { frequencies, .. } => {
                let asked = (k as f64).min(found.iter().map(|f| f.weight).sum());
                let (votes, imagined) = (asked / total, self.smoothing);
                for (out, frequency) in out.iter_mut().zip(frequencies) {
                    *out = (*out * votes + imagined * frequency) / (asked + imagined);
                }
            }
        }
    }
}

/// A fitted [`Neighbours`](super::Neighbours): one member of its ladder.
#[derive(Debug, Clone)]
pub struct FittedNeighbours {
    known: Arc<Known>,
    k: usize,
}

/// The stored form: the rows on their common scale; what finds them is made anew.
#[derive(Serialize, Deserialize)]
struct Body {
    k: usize,
    shares: Shares,
    smoothing: f64,
    scales: Scales,
    #[serde(with = "floats")]
    points: Vec<f64>,
    weights: Option<Vec<f64>>,
    answers: Answers,
}

impl FittedNeighbours {
    pub(super) fn new(known: Arc<Known>, k: usize) -> Self {
        Self { known, k }
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let mut rows = out.chunks_exact_mut(self.known.width());
        self.known.search(x, &[self.k], |found| {
            if let Some(out) = rows.next() {
                self.known.answer(found, self.k, out);
            }
        })
    }

    fn record(&self) -> Result<Record> {
        let Known { scales, index, answers, shares, smoothing } = &*self.known;
        let body = Body {
            k: self.k,
            shares: *shares,
            smoothing: *smoothing,
            scales: scales.clone(),
            points: index.points().to_vec(),
            weights: index.weights().map(<[f64]>::to_vec),
            answers: answers.clone(),
        };
        Record::new(KIND, VERSION, &body)
    }

    /// The rows it knows, minus the centres and divided by the scales, what they answer, and how answers are shared.
    pub fn parameters(&self) -> Parameters {
        let Known { scales, index, answers, shares, smoothing } = &*self.known;
        let columns = scales.centres().len();
        let rows = index.points().len() / columns.max(1);
        let shares = match shares {
            Shares::Uniform => "uniform",
            Shares::Distance => "distance",
        };
        let parameters = scales
            .describe(Parameters::new(KIND).with("k", self.k).with("shares", shares))
            .with_array("points", &[rows, columns], index.points())
            .with_some("weights", index.weights());
        match answers {
            Answers::Numbers(numbers) => parameters.with("answers", numbers),
            Answers::Classes { codes, frequencies } => parameters
                .with("smoothing", *smoothing)
                .with("answers", codes.iter().map(|&code| f64::from(code)).collect::<Vec<f64>>())
                .with("frequencies", frequencies),
        }
    }

    fn restore(record: &Record) -> Result<Self> {
        let Body { k, shares, smoothing, scales, points, weights, answers } = record.read()?;
        let dimension = scales.centres().len();
        let rows = points.len() / dimension.max(1);
        let (answered, known_classes) = match &answers {
            Answers::Numbers(numbers) => (numbers.len(), true),
            Answers::Classes { codes, frequencies } => {
                (codes.len(), codes.iter().all(|&code| (code as usize) < frequencies.len()))
            }
        };
        let weighed = weights.as_ref().map_or(rows, Vec::len);
        let sound = known_classes
            && (rows > 0 && k > 0)
            && smoothing >= 0.0
            && weights.iter().flatten().all(|weight| *weight >= 0.0 && weight.is_finite())
            && rows * dimension == points.len()
            && scales.scales().len() == dimension
            && points.iter().all(|value| value.is_finite());
        record.require(sound && answered == rows && weighed == rows)?;
        let index = Index::new(points, dimension, weights);
        Ok(Self::new(Arc::new(Known { scales, index, answers, shares, smoothing }), k))
    }
}

const KIND: &str = "neighbours";
const VERSION: u32 = 1;

/// The same model for either task: what its rows answer tells them apart.
macro_rules! fitted {
    ($task:ty, $answers:pat) => {
        impl Fitted<$task> for FittedNeighbours {
            fn width(&self) -> usize {
                self.known.width()
            }

            fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
                self.predict_into(x, out)
            }

            fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
                let columns = self.known.scales.centres().len();
                check_use(KIND, (columns, self.known.width()), inputs, width)
            }

            fn record(&self) -> Result<Record> {
                self.record()
            }

            fn parameters(&self) -> Parameters {
                self.parameters()
            }
        }

        impl Stored<$task> for FittedNeighbours {
            const KIND: &'static str = KIND;
            const VERSION: u32 = VERSION;

            fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
                let model = FittedNeighbours::restore(record)?;
                match &model.known.answers {
                    $answers => Ok(model),
                    _ => Err(Error::param("model file", "a model of this task", "of another")),
                }
            }
        }
    };
}

fitted!(Classification, Answers::Classes { .. });
fitted!(Regression, Answers::Numbers(_));
