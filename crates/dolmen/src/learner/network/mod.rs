//! Small neural networks: multilayer perceptrons, and averages of several (deep ensembles,
//! Lakshminarayanan2017).
//!
//! | file | holds |
//! | --- | --- |
//! | `matrix` | products of small matrices, and the step of Adam |
//! | `waves` | columns seen by waves |
//! | `layers` | outputs and gradients of layers |
//! | `net` | both together: a network as a function of its parameters |
//! | `train` | the training loop |
//! | `model` | fitted networks |
//!
//! A network is trained on one thread, in f32; the copies of an ensemble are trained side by side. Inputs are complete
//! numbers; the library puts an encoder in front.

mod layers;
mod matrix;
mod model;
mod net;
mod train;
mod waves;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use layers::Activation;
pub use model::FittedNetwork;

use super::chosen::{Chosen, listed};
use super::density::mixture::OneOrMany;
use super::scales::{Scales, require_moderate, require_numbers};
use super::{Fitted, Learner, Sample};
use crate::error::{Error, Place, Result, within};
use crate::memory;
use crate::plan::Split;
use crate::run::Run;
use crate::spec::Spec;
use crate::table::Rows;
use crate::table::encode::few_distinct;
use crate::target::Target;
use crate::task::{Classification, Regression, Task};
use model::{Body, Single};
use net::{Net, Shape};
use train::{Data, Goal, Trained, Training};
use waves::Waves;

/// Columns of numbers at most that are seen by waves: each makes four inputs more.
const MOST_WAVED: usize = 64;

/// A multilayer perceptron: softmax and log loss for classes, squared error for numbers.
///
/// Row weights multiply a row's part of the loss.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::network::Network;
/// use dolmen::task::Classification;
///
/// let network = Network { hidden: vec![64, 32].into(), ..Network::default() };
/// assert_eq!(Learner::<Classification>::members(&network), ["network(hidden=[64, 32])"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Units of each hidden layer, 1 to 100 000; 64 layers at most.
    #[schemars(extend("minimum" = 1, "maximum" = 100_000))]
    pub hidden: OneOrMany<usize>,
    /// What hidden units make of their inputs: relu or tanh.
    pub activation: Activation,
    /// Waves by which each column of numbers is seen beside itself, 0 to 1000: what bends along one column is learned sooner. Of more than 64 such columns none is.
    #[schemars(range(max = 1000))]
    pub waves: usize,
    /// The learning rate of Adam.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub rate: f64,
    /// How the learning rate goes on: falling to 0 like a cosine over all passes, or constant.
    pub schedule: Schedule,
    /// Rows in a batch; from 16 to 100 by the number of rows if absent.
    #[schemars(range(min = 1))]
    pub batch: Option<usize>,
    /// Passes over the rows at most, 1 to 1 000 000 (but always 500 steps, however small the table).
    #[schemars(range(min = 1, max = 1_000_000))]
    pub epochs: usize,
    /// Passes without progress on the rows held out, after which training stops; without a number all passes are made.
    pub patience: Option<usize>,
    /// Share of the rows held out; the parameters that were best on them are kept.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 0.5))]
    pub validation: f64,
    /// Decoupled weight decay: each step shrinks weights by `rate * decay`.
    #[schemars(range(min = 0.0))]
    pub decay: f64,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            hidden: OneOrMany::Many(vec![64, 64]),
            activation: Activation::Relu,
            waves: 8,
            rate: 6e-3,
            schedule: Schedule::Cosine,
            batch: None,
            epochs: 25,
            patience: None,
            validation: 0.1,
            decay: 0.03,
        }
    }
}

/// How the learning rate goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Falling to 0 like a cosine over all passes (LoshchilovHutter2017).
    #[default]
    Cosine,
    /// The same throughout.
    Constant,
}

impl Schedule {
    /// The share of the rate that is left at a step of so many.
    fn share(self, step: u64, all: u64) -> f64 {
        /// What is left at the end: steps of nothing would teach nothing.
        const LEAST: f64 = 1e-3;
        let done = (step as f64 / all as f64).min(1.0);
        match self {
            Self::Cosine => (0.5 * (1.0 + (std::f64::consts::PI * done).cos())).max(LEAST),
            Self::Constant => 1.0,
        }
    }
}

/// Several networks that differ in their starts, batches and rows held out; their predictions are averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Map<String, Value>")]
pub struct DeepEnsemble {
    /// Number of networks, 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub copies: usize,
    /// The network.
    #[serde(flatten)]
    pub network: Network,
}

impl Default for DeepEnsemble {
    fn default() -> Self {
        Self { copies: 5, network: Network::default() }
    }
}

/// A flattened struct cannot refuse unknown keys, so the number of copies is taken out by hand.
impl TryFrom<Map<String, Value>> for DeepEnsemble {
    type Error = serde_json::Error;

    fn try_from(mut keys: Map<String, Value>) -> Result<Self, Self::Error> {
        let copies = match keys.remove("copies") {
            Some(copies) => serde_json::from_value(copies)?,
            None => Self::default().copies,
        };
        Ok(Self { copies, network: serde_json::from_value(Value::Object(keys))? })
    }
}

/// A task that networks can learn.
trait Learnable: Task {
    /// The target of some rows as the network sees it, and its mean and standard deviation.
    fn goal<'a>(sample: &Sample<'a, Self>, rows: Chosen<'_>) -> Result<(Goal<'a>, (f64, f64))>;
}

impl Learnable for Classification {
    fn goal<'a>(sample: &Sample<'a, Self>, _: Chosen<'_>) -> Result<(Goal<'a>, (f64, f64))> {
        let (codes, count) = (sample.target().codes(), sample.target().classes().len());
        Ok((Goal::Classes { codes, count }, (0.0, 1.0)))
    }
}

impl Learnable for Regression {
    fn goal<'a>(sample: &Sample<'a, Self>, rows: Chosen<'_>) -> Result<(Goal<'a>, (f64, f64))> {
        let target = sample.target();
        if let Some(i) = rows.iter().find(|&i| !target[i].is_finite()) {
            let problem = format!("the target is {}, not a number", target[i]);
            return Err(Error::data(Place::row(i), problem));
        }
        let weight: f64 = rows.iter().map(|i| sample.weight(i)).sum();
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            rows.iter().map(|i| sample.weight(i) * value(target[i])).sum::<f64>() / weight
        };
        let mean = mean_of(&|y| y);
        let deviation = mean_of(&|y| (y - mean) * (y - mean)).sqrt();
        let deviation = if deviation > 1e-12 * mean.abs() { deviation } else { 1.0 };
        let numbers = rows.iter().map(|i| ((target[i] - mean) / deviation) as f32).collect();
        Ok((Goal::Numbers(numbers), (mean, deviation)))
    }
}

impl Network {
    /// The same network in the one form that is named: a single layer is a number, unless it is the usual one.
    fn canonical(&self) -> Self {
        let usual = Self::default().hidden;
        let hidden = match self.hidden.values() {
            values if values == usual.values() => usual,
            [units] => OneOrMany::One(*units),
            _ => self.hidden.clone(),
        };
        Self { hidden, ..self.clone() }
    }

    /// Rows in a batch, of so many.
    fn batch_for(&self, rows: usize) -> usize {
        self.batch.unwrap_or((rows / 20).next_multiple_of(4).clamp(16, 100)).min(rows)
    }

    fn validate(&self) -> Result<()> {
        if let Some(bad) = self.hidden.values().iter().find(|units| **units == 0) {
            return Err(Error::param("hidden", "at least 1 unit in each layer", bad));
        }
        within("layers of hidden units", self.hidden.values().len(), 0..=64)?;
        self.hidden.values().iter().try_for_each(|&units| within("hidden", units, 1..=100_000))?;
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return Err(Error::param("rate", "above 0", self.rate));
        }
        if self.batch == Some(0) {
            return Err(Error::param("batch", "at least 1", 0));
        }
        within("waves", self.waves, 0..=1000)?;
        within("epochs", self.epochs, 1..=1_000_000)?;
        if !(self.validation > 0.0 && self.validation <= 0.5) {
            return Err(Error::param("validation", "above 0 and at most 0.5", self.validation));
        }
        if !(self.decay >= 0.0 && self.decay.is_finite()) {
            return Err(Error::param("decay", "at least 0", self.decay));
        }
        Ok(())
    }

    /// Fits so many copies, side by side.
    fn fit_copies<T: Learnable>(
        &self,
        sample: &Sample<'_, T>,
        copies: usize,
        run: &Run,
    ) -> Result<FittedNetwork> {
        self.validate()?;
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        let mut list = Vec::new();
        let rows = Chosen::of(sample.rows(), |i| sample.weight(i) > 0.0, &mut list)?;
        if rows.len() == 0 {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let (goal, target) = T::goal(sample, rows)?;
        let scales = run.install(|| Scales::fit(sample.x(), sample.weights()));
        let data =
            Data { x: sample.x(), rows, scales: &scales, goal, weights: weights(sample, rows) };
        let mut sizes = vec![sample.x().width()];
        sizes.extend_from_slice(self.hidden.values());
        sizes.push(data.outputs());
        let waves = self.waves_for(sample.x(), rows);
        let shape = Shape { sizes, activation: self.activation, waves };
        claim_memory(&shape, copies)?;
        let net = Net::new(&shape);
        let training = Training { network: self, net: &net, data: &data };
        let trained: Vec<Result<Trained>> = run.map(copies, |copy| {
            let run = run.child(copy as u64);
            // Too few rows, or rows that cannot be split, are all learned from, and stop it too.
            let Some(split) = self.split(sample, rows, &run) else {
                let all = listed(0..rows.len())?;
                return training.run(all.clone(), &all, &run);
            };
            let held_out = listed(split.test().iter().copied())?;
            let train = listed(split.iter_train(rows.len()))?;
            drop(split);
            training.run(train, &held_out, &run)
        });
        let copies = trained.into_iter().map(|trained| {
            let Trained { parameters, passes, loss, stopped, losses } = trained?;
            let parameters = parameters.into_iter().map(f64::from).collect();
            Ok(Single { parameters, passes, loss, stopped, losses })
        });
        let (copies, Shape { sizes, activation, waves }) = (copies.collect::<Result<_>>()?, shape);
        Ok(FittedNetwork::new(Body { scales, sizes, activation, waves, copies, target }))
    }

    /// The columns of numbers: those with more than two values among the rows that count.
    fn waves_for(&self, x: Rows<'_>, rows: Chosen<'_>) -> Waves {
        let is_number = |j: &usize| few_distinct(rows.iter().map(|i| x.row(i)[*j]), 2).is_none();
        let columns: Vec<usize> = match self.waves {
            0 => Vec::new(),
            _ => (0..x.width()).filter(is_number).collect(),
        };
        if columns.is_empty() || columns.len() > MOST_WAVED {
            return Waves::default();
        }
        Waves { count: self.waves, columns }
    }

    /// What one copy learns from and what it does not, drawn by its own random numbers; `None` of too few rows.
    fn split<T: Task>(&self, sample: &Sample<'_, T>, rows: Chosen<'_>, run: &Run) -> Option<Split> {
        let is_enough = rows.len() as f64 * self.validation >= 2.0;
        sample.hold_out_among(rows, self.validation, run).ok().filter(|_| is_enough)
    }
}

/// Refuses networks that do not fit into memory: their parameters, kept in double precision, and while they are learned
/// the gradient, its two averages and the best so far in single precision.
fn claim_memory(shape: &Shape, copies: usize) -> Result<()> {
    let parameters = shape.parameters().unwrap_or(usize::MAX);
    let each = size_of::<f64>() + 5 * size_of::<f32>();
    memory::claim(memory::size(&[parameters, copies, each]), "the parameters of the network")
}

/// The weights of the rows that count, of mean 1; none where all are 1.
fn weights<T: Task>(sample: &Sample<'_, T>, rows: Chosen<'_>) -> Vec<f32> {
    let mean = sample.total_weight() / rows.len() as f64;
    let Some(weights) = sample.weights() else { return Vec::new() };
    rows.iter().map(|i| (weights[i] / mean) as f32).collect()
}

impl<T: Learnable> Learner<T> for Network
where
    FittedNetwork: Fitted<T>,
{
    fn members(&self) -> Vec<String> {
        vec![Spec::of("network", &self.canonical()).to_string()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        Ok(vec![Box::new(self.fit_copies(sample, 1, run)?)])
    }
}

impl<T: Learnable> Learner<T> for DeepEnsemble
where
    FittedNetwork: Fitted<T>,
{
    fn members(&self) -> Vec<String> {
        let canonical = Self { copies: self.copies, network: self.network.canonical() };
        vec![Spec::of("deep-ensemble", &canonical).to_string()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        within("copies", self.copies, 1..=1000)?;
        Ok(vec![Box::new(self.network.fit_copies(sample, self.copies, run)?)])
    }
}
