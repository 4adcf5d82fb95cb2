//! Training one network: Adam on mini-batches, and early stopping on rows held out.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::matrix::{adam_step, corrected};
use super::model::read_row;
use super::net::{Net, Room};
use super::{Network, Schedule};
use crate::error::Result;
use crate::learner::chosen::Chosen;
use crate::learner::scales::Scales;
use crate::run::Run;
use crate::table::Rows;

/// Rows evaluated at a time.
const BLOCK: usize = 256;

/// However few batches a pass has: steps without progress before training stops, and steps that are made at least.
const PATIENT_STEPS: u64 = 300;
const FEWEST_STEPS: u64 = 500;

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Goal<'a> {
    /// Classes, by softmax and log loss: those of all rows, whether they count or not.
    Classes { codes: &'a [u32], count: usize },
    /// Numbers of mean 0 and deviation 1, by squared error: those of the rows that count.
    Numbers(Vec<f32>),
}

/// The rows that count, which are put on the common scale as they are read: a copy of all would be half as large as the table.
#[derive(Debug, Clone)]
pub(super) struct Data<'a> {
    pub(super) x: Rows<'a>,
    pub(super) rows: Chosen<'a>,
    pub(super) scales: &'a Scales,
    pub(super) goal: Goal<'a>,
    /// Row weights of mean 1; none where all are 1.
    pub(super) weights: Vec<f32>,
}

/// A trained network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trained {
    pub(super) parameters: Vec<f32>,
    pub(super) passes: usize,
    /// The least mean loss of the rows held out, whose parameters these are.
    pub(super) loss: f64,
    /// Whether training came to its end: for want of progress, or because the rate had fallen to 0.
    pub(super) stopped: bool,
    /// The mean loss of the rows held out, pass after pass.
    pub(super) losses: Vec<f64>,
}

impl Data<'_> {
    /// Outputs of the network.
    pub(super) fn outputs(&self) -> usize {
        match &self.goal {
            Goal::Classes { count, .. } => *count,
            Goal::Numbers(_) => 1,
        }
    }

    /// Where the outputs' intercepts start: at the classes' frequencies, or the target's mean.
    fn intercepts(&self, rows: &[u32]) -> Vec<f32> {
        let Goal::Classes { codes, count } = &self.goal else { return vec![0.0] };
        let mut sums = vec![1.0; *count];
        rows.iter().for_each(|&i| sums[self.class(codes, i)] += self.weight(i));
        let total: f32 = sums.iter().sum();
        sums.iter().map(|sum| (sum / total).ln()).collect()
    }

    fn weight(&self, row: u32) -> f32 {
        self.weights.get(row as usize).copied().unwrap_or(1.0)
    }

    fn class(&self, codes: &[u32], row: u32) -> usize {
        codes[self.rows.at(row as usize)] as usize
    }

    /// Reads rows one after the other.
    fn gather(&self, rows: &[u32], room: &mut Reading) {
        room.block.clear();
        for &i in rows {
            let row = self.x.row(self.rows.at(i as usize));
            read_row(self.scales, row, &mut room.row, &mut room.block);
        }
    }

    /// Room for so many rows.
    fn reading(&self, rows: usize) -> Reading {
        let columns = self.x.width();
        Reading { row: vec![0.0; columns], block: Vec::with_capacity(rows * columns) }
    }

    /// The weighted loss of rows with these outputs; the derivatives go into `deltas`, times `share`.
    fn loss(&self, rows: &[u32], outputs: &[f32], deltas: &mut [f32], share: f32) -> f64 {
        let stride = outputs.len() / rows.len();
        let mut loss = 0.0;
        let pairs = outputs.chunks_exact(stride).zip(deltas.chunks_exact_mut(stride));
        for (&i, (outputs, deltas)) in rows.iter().zip(pairs) {
            let weight = self.weight(i);
            loss += f64::from(weight)
                * match &self.goal {
                    Goal::Numbers(target) => {
                        let error = outputs[0] - target[i as usize];
                        deltas[0] = share * weight * error;
                        0.5 * f64::from(error) * f64::from(error)
                    }
                    Goal::Classes { codes, count } => {
                        let (own, outputs) = (self.class(codes, i), &outputs[..*count]);
                        let largest = outputs.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
                        let deltas = &mut deltas[..*count];
                        for (delta, out) in deltas.iter_mut().zip(outputs) {
                            *delta = (out - largest).exp();
                        }
                        let total: f32 = deltas.iter().sum();
                        let scale = share * weight / total;
                        deltas.iter_mut().for_each(|delta| *delta *= scale);
                        deltas[own] -= share * weight;
                        f64::from(total.ln() + largest - outputs[own])
                    }
                };
        }
        loss
    }
}

/// A row as it is, and rows on the common scale.
struct Reading {
    row: Vec<f64>,
    block: Vec<f32>,
}

/// One training run.
pub(super) struct Training<'a> {
    pub(super) network: &'a Network,
    pub(super) net: &'a Net,
    pub(super) data: &'a Data<'a>,
}

impl Training<'_> {
    /// Trains on some rows, and keeps the parameters that are best on others.
    pub(super) fn run(&self, mut train: Vec<u32>, held_out: &[u32], run: &Run) -> Result<Trained> {
        let mut rng = run.rng();
        let batch = self.network.batch_for(train.len());
        let batches = train.len().div_ceil(batch) as u64;
        let steps_of = |passes: usize| (passes as u64).saturating_mul(batches);
        let patience = self.network.patience.map(|passes| steps_of(passes).max(PATIENT_STEPS));
        let all = steps_of(self.network.epochs).max(FEWEST_STEPS);
        let start = self.net.start(&self.data.intercepts(&train), || rng.random());
        let mut descent = Descent::new(self, start, batch);
        let mut room = self.net.room(BLOCK);
        let loss = self.mean_loss(&descent.parameters, held_out, &mut room);
        let mut best = Trained {
            parameters: descent.parameters.clone(),
            passes: 0,
            loss,
            stopped: false,
            losses: Vec::new(),
        };
        let (mut passes, mut best_step) = (0, 0);
        while descent.steps < all && !best.stopped {
            run.check()?;
            train.shuffle(&mut rng);
            train.chunks(batch).for_each(|rows| descent.step(self, rows, all));
            passes += 1;
            let loss = self.mean_loss(&descent.parameters, held_out, &mut room);
            best.losses.push(loss);
            if loss < best.loss {
                best.parameters.copy_from_slice(&descent.parameters);
                (best.loss, best.passes, best_step) = (loss, passes, descent.steps);
            }
            best.stopped = patience.is_some_and(|patience| descent.steps - best_step >= patience);
        }
        best.stopped |= self.network.schedule == Schedule::Cosine;
        Ok(best)
    }

    /// The mean loss of some rows.
    fn mean_loss(&self, parameters: &[f32], rows: &[u32], room: &mut Room) -> f64 {
        let mut x = self.data.reading(BLOCK);
        let mut unused = vec![0.0; BLOCK * self.net.output_stride()];
        let mut sum = 0.0;
        for rows in rows.chunks(BLOCK) {
            self.data.gather(rows, &mut x);
            let outputs = self.net.forward(parameters, &x.block, rows.len(), room);
            sum += self.data.loss(rows, outputs, &mut unused, 1.0);
        }
        sum / rows.iter().map(|&i| f64::from(self.data.weight(i))).sum::<f64>()
    }
}

/// The state of Adam.
struct Descent {
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
    steps: u64,
    x: Reading,
    room: Room,
}

impl Descent {
    fn new(training: &Training<'_>, parameters: Vec<f32>, batch: usize) -> Self {
        let zeros = vec![0.0; parameters.len()];
        Self {
            gradient: zeros.clone(),
            means: zeros.clone(),
            squares: zeros,
            parameters,
            steps: 0,
            x: training.data.reading(batch),
            room: training.net.room(batch),
        }
    }

    /// One step of so many along the gradient of some rows.
    fn step(&mut self, training: &Training<'_>, rows: &[u32], all: u64) {
        let Training { network, net, data } = training;
        let (count, stride) = (rows.len(), net.output_stride());
        data.gather(rows, &mut self.x);
        net.forward(&self.parameters, &self.x.block, count, &mut self.room);
        let (outputs, deltas) = net.outputs_and_deltas(&mut self.room);
        let cells = count * stride;
        data.loss(rows, &outputs[..cells], &mut deltas[..cells], 1.0 / count as f32);
        net.backward(&self.parameters, &self.x.block, count, &mut self.room, &mut self.gradient);
        self.steps += 1;
        let rate = network.rate * network.schedule.share(self.steps, all);
        let shrink = (rate * network.decay) as f32;
        let rate = corrected(rate, self.steps);
        let Self { parameters, gradient, means, squares, .. } = self;
        adam_step(parameters, gradient, means, squares, rate, shrink);
    }
}
