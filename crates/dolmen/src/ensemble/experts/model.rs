//! The fitted mixture of experts.

use serde::{Deserialize, Serialize};

use super::Routed;
use crate::error::{Error, Result};
use crate::learner::scales::{Scales, require_numbers};
use crate::learner::{Diagnostics, Fitted, Routes, Series};
use crate::learner::{Stored, check_use};
use crate::math::bulk;
use crate::store::{Parameters, Record, Registry, floats, is_ascending_below};
use crate::table::{Rows, Schema};

/// What the experts' scores are turned into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Output {
    /// A number, which is spread times the score plus the centre.
    Number {
        /// The target's mean.
        centre: f64,
        /// The target's standard deviation.
        spread: f64,
        /// Each expert's standard deviation, in units of the target.
        deviations: Vec<f64>,
    },
    /// Probabilities of the classes.
    Classes {
        /// How many there are.
        classes: usize,
        /// Those seen in training.
        seen: Vec<usize>,
        /// The probability of each class not seen.
        unseen: f64,
    },
}

/// A fitted [`Experts`](super::Experts).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedExperts {
    pub(super) scales: Scales,
    pub(super) count: usize,
    /// Experts asked about each row.
    pub(super) top: usize,
    /// One column per score on the common scale, the intercept last: the gate's, then expert after expert.
    #[serde(with = "floats")]
    pub(super) coefficients: Vec<f64>,
    #[serde(rename = "says")]
    pub(super) output: Output,
    pub(super) fit: Fit,
}

/// How the fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Fit {
    pub(super) converged: bool,
    pub(super) iterations: usize,
    pub(super) objective: f64,
    pub(super) shares: Vec<f64>,
    pub(super) columns: Vec<String>,
}

impl FittedExperts {
    /// Number of experts.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The part of the training rows that each expert answers for.
    pub fn shares(&self) -> &[f64] {
        &self.fit.shares
    }

    /// The gate's shares for one row of inputs, after routing.
    pub fn route(&self, row: &[f64]) -> Vec<f64> {
        let mut z = vec![1.0; self.width()];
        let mut shares = vec![0.0; self.count];
        self.scales.write(row, &mut z);
        self.gate(&z, &mut shares);
        shares
    }

    /// The prediction of one expert alone for one row of inputs.
    pub fn expert(&self, expert: usize, row: &[f64]) -> Vec<f64> {
        let mut z = vec![1.0; self.width()];
        self.scales.write(row, &mut z);
        let mut scores = vec![0.0; self.outputs()];
        let mut out = vec![0.0; self.values()];
        self.ask(expert, &z, &mut scores);
        self.add(1.0, &scores, &mut out);
        self.finish(&mut out);
        out
    }

    /// The intercept of an expert of numbers and its coefficient of each column, in the data's units; of an expert of
    /// classes those of one class seen in training.
    pub fn coefficients(&self, expert: usize, output: usize) -> (f64, Vec<f64>) {
        let unit = match self.output {
            Output::Number { centre, spread, .. } => (centre, spread),
            Output::Classes { .. } => (0.0, 1.0),
        };
        self.unscaled(self.count + expert * self.outputs() + output, unit)
    }

    /// The intercept and slopes of a score, in the data's units.
    fn unscaled(&self, score: usize, (centre, spread): (f64, f64)) -> (f64, Vec<f64>) {
        let (intercept, slopes) = self.score(score).split_last().unwrap_or((&0.0, &[]));
        let slopes: Vec<f64> =
            slopes.iter().zip(self.scales.scales()).map(|(b, scale)| spread * b / scale).collect();
        let shift: f64 = slopes.iter().zip(self.scales.centres()).map(|(b, at)| b * at).sum();
        (centre + spread * intercept - shift, slopes)
    }

    /// Each expert's standard deviation, in the data's units; none for experts of classes.
    pub fn deviations(&self) -> &[f64] {
        match &self.output {
            Output::Number { deviations, .. } => deviations,
            Output::Classes { .. } => &[],
        }
    }

    /// The coefficients of gate and experts in the data's units. An expert of numbers has one linear score, one of classes a
    /// score for each class seen; the gate has one for each expert, and asks the `top` experts whose scores are largest.
    pub fn parameters(&self) -> Parameters {
        let (count, columns, outputs) = (self.count, self.width() - 1, self.outputs());
        let (gate_at, gate): (Vec<f64>, Vec<Vec<f64>>) =
            (0..count).map(|k| self.unscaled(k, (0.0, 1.0))).unzip();
        let scores = (0..count).flat_map(|k| (0..outputs).map(move |output| (k, output)));
        let (at, slopes): (Vec<f64>, Vec<Vec<f64>>) =
            scores.map(|(k, output)| self.coefficients(k, output)).unzip();
        let parameters = Parameters::new("experts")
            .with("columns", &self.fit.columns)
            .with("top", self.top)
            .with_array("gate_coefficients", &[count, columns], gate.concat())
            .with("gate_intercepts", gate_at)
            .with_array("coefficients", &[count, outputs, columns], slopes.concat())
            .with_array("intercepts", &[count, outputs], at)
            .with("shares", &self.fit.shares);
        match &self.output {
            Output::Number { deviations, .. } => parameters.with("deviations", deviations),
            Output::Classes { classes, seen, unseen } => parameters
                .with("classes", *classes)
                .with("seen", seen.iter().map(|&class| class as f64).collect::<Vec<f64>>())
                .with("unseen", *unseen),
        }
    }

    /// Columns and the intercept.
    fn width(&self) -> usize {
        self.scales.centres().len() + 1
    }

    /// Linear scores of one expert.
    fn outputs(&self) -> usize {
        match &self.output {
            Output::Number { .. } => 1,
            Output::Classes { seen, .. } => seen.len(),
        }
    }

    /// Values of a prediction row.
    fn values(&self) -> usize {
        match self.output {
            Output::Number { .. } => 1,
            Output::Classes { classes, .. } => classes,
        }
    }

    fn score(&self, column: usize) -> &[f64] {
        &self.coefficients[column * self.width()..(column + 1) * self.width()]
    }

    /// The experts' shares for a row on the common scale; those not asked get none.
    fn gate(&self, z: &[f64], shares: &mut [f64]) {
        for (k, share) in shares.iter_mut().enumerate() {
            *share = bulk::dot(z, self.score(k));
        }
        for _ in self.top..self.count {
            let weaker = |least: usize, k: usize| {
                let out = shares[least] == f64::NEG_INFINITY;
                let asked = shares[k] > f64::NEG_INFINITY;
                if out || (asked && shares[k] <= shares[least]) { k } else { least }
            };
            let least = (1..self.count).fold(0, weaker);
            shares[least] = f64::NEG_INFINITY;
        }
        softmax(shares);
    }

    /// The scores of one expert.
    fn ask(&self, expert: usize, z: &[f64], scores: &mut [f64]) {
        let first = self.count + expert * scores.len();
        for (m, score) in scores.iter_mut().enumerate() {
            *score = bulk::dot(z, self.score(first + m));
        }
        if matches!(self.output, Output::Classes { .. }) {
            softmax(scores);
        }
    }

    /// Adds an expert's say.
    fn add(&self, share: f64, scores: &[f64], out: &mut [f64]) {
        match &self.output {
            Output::Number { .. } => out[0] += share * scores[0],
            Output::Classes { seen, .. } => {
                seen.iter().zip(scores).for_each(|(&class, p)| out[class] += share * p);
            }
        }
    }

    /// From scores to what is predicted.
    fn finish(&self, out: &mut [f64]) {
        match &self.output {
            Output::Number { centre, spread, .. } => out[0] = centre + spread * out[0],
            Output::Classes { classes, seen, unseen } => {
                let rest = 1.0 - unseen * (classes - seen.len()) as f64;
                out.iter_mut().for_each(|p| *p *= rest);
                let is_new = |class: &usize| !seen.contains(class);
                (0..*classes).filter(is_new).for_each(|class| out[class] = *unseen);
            }
        }
    }

    fn is_sound(&self) -> bool {
        let sound = match &self.output {
            Output::Number { deviations, .. } => deviations.len() == self.count,
            Output::Classes { classes, seen, .. } => is_ascending_below(seen, *classes),
        };
        let scores = self.count.checked_mul(1 + self.outputs());
        sound
            && self.count > 0
            && (1..=self.count).contains(&self.top)
            && self.scales.scales().len() == self.scales.centres().len()
            && Some(self.coefficients.len()) == scores.and_then(|n| n.checked_mul(self.width()))
            && self.fit.shares.len() == self.count
    }

    fn series(&self) -> Vec<Series> {
        let experts: Vec<String> = (1..=self.count).map(|k| format!("expert {k}")).collect();
        let of_experts = |name: &str, values: &[f64]| Series {
            name: name.into(),
            labels: experts.clone(),
            values: values.to_vec(),
            is_numbered: true,
        };
        let mut series = vec![of_experts("mean share of the experts", &self.fit.shares)];
        if !self.deviations().is_empty() {
            series.push(of_experts("standard deviation of the experts", self.deviations()));
            let labels: Vec<String> = std::iter::once("(intercept)".to_string())
                .chain(self.fit.columns.iter().cloned())
                .collect();
            series.extend(experts.iter().enumerate().map(|(k, expert)| {
                let (intercept, slopes) = self.coefficients(k, 0);
                Series {
                    name: format!("coefficients of {expert}"),
                    labels: labels.clone(),
                    values: [&[intercept], &slopes[..]].concat(),
                    is_numbered: true,
                }
            }));
        }
        series
    }
}

/// Shares that sum to 1 from scores.
fn softmax(scores: &mut [f64]) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let total: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}

impl<T: Routed> Fitted<T> for FittedExperts {
    fn width(&self) -> usize {
        self.values()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        if x.width() + 1 != self.width() {
            return Err(Error::shape("input columns", self.width() - 1, x.width()));
        }
        require_numbers(x)?;
        let mut z = vec![1.0; self.width()];
        let mut shares = vec![0.0; self.count];
        let mut scores = vec![0.0; self.outputs()];
        for (row, out) in x.iter().zip(out.chunks_exact_mut(self.values())) {
            self.scales.write(row, &mut z);
            self.gate(&z, &mut shares);
            out.fill(0.0);
            for (expert, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                self.ask(expert, &z, &mut scores);
                self.add(share, &scores, out);
            }
            self.finish(out);
        }
        Ok(())
    }

    fn routes(&self, x: Rows<'_>) -> Result<Option<Routes>> {
        require_numbers(x)?;
        let shares = x.iter().flat_map(|row| self.route(row)).collect();
        Ok(Some(Routes { parts: self.count, shares }))
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        for columns in [self.scales.centres().len(), self.fit.columns.len()] {
            check_use(<Self as Stored<T>>::KIND, (columns, self.values()), inputs, width)?;
        }
        Ok(())
    }

    fn record(&self) -> Result<Record> {
        Record::new(<Self as Stored<T>>::KIND, <Self as Stored<T>>::VERSION, self)
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    /// Of the scores, one of the gate's and one of each expert's classes are given by the others; variances are free.
    fn free_parameters(&self) -> Option<usize> {
        let scores = match &self.output {
            Output::Number { .. } => 1,
            Output::Classes { seen, .. } => seen.len() - 1,
        };
        let free = (self.count - 1 + self.count * scores) * self.width();
        Some(free + self.deviations().len())
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics {
            converged: Some(self.fit.converged),
            iterations: Some(self.fit.iterations),
            objective: Some(self.fit.objective),
            notes: Vec::new(),
            series: self.series(),
        }
    }
}

impl<T: Routed> Stored<T> for FittedExperts {
    const KIND: &'static str = "experts";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        let model: Self = record.read()?;
        record.require(model.is_sound())?;
        if !T::suits(&model.output) {
            return Err(Error::param("model file", "a model of this task", "of another"));
        }
        Ok(model)
    }
}
