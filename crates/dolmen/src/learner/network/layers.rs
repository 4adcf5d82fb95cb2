//! A multilayer perceptron as a function of its parameters: what it predicts, and the gradient of a loss by backpropagation
//! (Rumelhart1986).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::matrix::{Left, add_product, padded};
use crate::store::Parameters;

/// What a hidden unit makes of its input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// The input if positive, else 0.
    #[default]
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    fn apply(self, values: &mut [f32]) {
        match self {
            Self::Relu => values.iter_mut().for_each(|v| *v = v.max(0.0)),
            Self::Tanh => values.iter_mut().for_each(|v| *v = v.tanh()),
        }
    }

    /// Multiplies by the slope at the inputs that gave these outputs.
    fn multiply_slopes(self, outputs: &[f32], deltas: &mut [f32]) {
        let both = deltas.iter_mut().zip(outputs);
        match self {
            Self::Relu => both.for_each(|(d, out)| *d = if *out > 0.0 { *d } else { 0.0 }),
            Self::Tanh => both.for_each(|(d, out)| *d *= 1.0 - out * out),
        }
    }
}

/// One layer's place among the parameters: `inputs` rows of `stride` weights, then `stride` intercepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layer {
    inputs: usize,
    outputs: usize,
    stride: usize,
    first: usize,
}

impl Layer {
    fn weights<'a>(&self, parameters: &'a [f32]) -> &'a [f32] {
        &parameters[self.first..self.first + self.inputs * self.stride]
    }

    fn intercepts<'a>(&self, parameters: &'a [f32]) -> &'a [f32] {
        &parameters[self.first + self.inputs * self.stride..][..self.stride]
    }
}

/// The layers of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layers {
    layers: Vec<Layer>,
    activation: Activation,
}

/// Room for a batch of rows.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The outputs of each layer, row after row, `stride` values each.
    outputs: Vec<Vec<f32>>,
    /// The derivatives of the loss by the inputs of each layer's units.
    deltas: Vec<Vec<f32>>,
    /// The derivatives of the loss by the inputs of the first layer, a row's `input_stride` apart; empty where nobody asks for them.
    by_inputs: Vec<f32>,
    transposed: Vec<f32>,
    packed: Vec<f32>,
}

impl Layers {
    /// Layers with these numbers of units, inputs first and outputs last.
    pub(super) fn new(sizes: &[usize], activation: Activation) -> Self {
        let mut first = 0;
        let mut layer = |pair: &[usize]| {
            let layer = Layer { inputs: pair[0], outputs: pair[1], stride: padded(pair[1]), first };
            first += (layer.inputs + 1) * layer.stride;
            layer
        };
        Self { layers: sizes.windows(2).map(&mut layer).collect(), activation }
    }

    /// The weights (inputs x outputs) and intercepts of each layer, without padding.
    pub(super) fn describe(&self, parameters: &[f64]) -> Vec<Parameters> {
        let layer = |layer: &Layer| {
            let used = |row: &[f64]| row[..layer.outputs].to_vec();
            let own = &parameters[layer.first..][..(layer.inputs + 1) * layer.stride];
            let (weights, intercepts) = own.split_at(layer.inputs * layer.stride);
            let weights: Vec<f64> = weights.chunks_exact(layer.stride).flat_map(used).collect();
            Parameters::new("layer")
                .with_array("weights", &[layer.inputs, layer.outputs], weights)
                .with("intercepts", used(intercepts))
        };
        self.layers.iter().map(layer).collect()
    }

    /// Whether the parameter at a place is padding.
    #[cfg(test)]
    pub(super) fn is_padding(&self, at: usize) -> bool {
        self.layers.iter().any(|layer| {
            let own = layer.first..layer.first + (layer.inputs + 1) * layer.stride;
            own.contains(&at) && (at - layer.first) % layer.stride >= layer.outputs
        })
    }

    /// Number of parameters, padding included.
    pub(super) fn parameters(&self) -> usize {
        self.layers.iter().map(|layer| (layer.inputs + 1) * layer.stride).sum()
    }

    /// Values in one row of outputs, padding included.
    pub(super) fn output_stride(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.stride)
    }

    /// Parameters to start from: uniform within sqrt(6 / (inputs + outputs)) (GlorotBengio2010), intercepts 0 but for
    /// those of the outputs.
    pub(super) fn start(&self, intercepts: &[f32], mut uniform: impl FnMut() -> f32) -> Vec<f32> {
        let mut parameters = vec![0.0; self.parameters()];
        for layer in &self.layers {
            let bound = (6.0 / (layer.inputs + layer.outputs) as f32).sqrt();
            let weights = &mut parameters[layer.first..][..layer.inputs * layer.stride];
            for row in weights.chunks_exact_mut(layer.stride) {
                row[..layer.outputs].iter_mut().for_each(|w| *w = bound * (2.0 * uniform() - 1.0));
            }
        }
        let last = parameters.len() - self.output_stride();
        parameters[last..].iter_mut().zip(intercepts).for_each(|(at, value)| *at = *value);
        parameters
    }

    /// Derivatives by the inputs of one row, padding included.
    pub(super) fn input_stride(&self) -> usize {
        self.layers.first().map_or(0, |layer| padded(layer.inputs))
    }

    /// Room for so many rows at a time, and for the derivatives of the loss by the inputs if they are asked for.
    pub(super) fn room(&self, rows: usize, by_inputs: bool) -> Room {
        let room = || self.layers.iter().map(|layer| vec![0.0; rows * layer.stride]).collect();
        let cells = if by_inputs { rows * self.input_stride() } else { 0 };
        Room { outputs: room(), deltas: room(), by_inputs: vec![0.0; cells], ..Room::default() }
    }

    /// The outputs for rows that stand one after the other.
    pub(super) fn forward<'a>(
        &self,
        parameters: &[f32],
        x: &[f32],
        rows: usize,
        room: &'a mut Room,
    ) -> &'a [f32] {
        for (l, layer) in self.layers.iter().enumerate() {
            let (before, from_here) = room.outputs.split_at_mut(l);
            let (inputs, step) = match before.last() {
                None => (x, layer.inputs),
                Some(outputs) => (outputs.as_slice(), self.layers[l - 1].stride),
            };
            let out = &mut from_here[0][..rows * layer.stride];
            for row in out.chunks_exact_mut(layer.stride) {
                row.copy_from_slice(layer.intercepts(parameters));
            }
            let left =
                Left { values: inputs, row_step: step, inner_step: 1, rows, inner: layer.inputs };
            add_product(left, layer.weights(parameters), out, layer.stride, &mut room.packed);
            if l + 1 < self.layers.len() {
                self.activation.apply(out);
            }
        }
        room.outputs.last().map_or(&[], |outputs| &outputs[..rows * self.output_stride()])
    }

    /// Outputs of the last forward pass, and where the loss's derivatives by them go.
    pub(super) fn outputs_and_deltas<'a>(&self, room: &'a mut Room) -> (&'a [f32], &'a mut [f32]) {
        let last = self.layers.len() - 1;
        (&room.outputs[last], &mut room.deltas[last])
    }

    /// Adds the gradient, after a forward pass of the same rows and with the derivatives by the outputs in their place. What comes back are
    /// the derivatives by the inputs, where the room has a place for them.
    pub(super) fn backward<'a>(
        &self,
        parameters: &[f32],
        x: &[f32],
        rows: usize,
        room: &'a mut Room,
        gradient: &mut [f32],
    ) -> &'a [f32] {
        for (l, layer) in self.layers.iter().enumerate().rev() {
            let (before, from_here) = room.deltas.split_at_mut(l);
            let deltas = &from_here[0][..rows * layer.stride];
            let (inputs, step) = match l {
                0 => (x, layer.inputs),
                _ => (room.outputs[l - 1].as_slice(), self.layers[l - 1].stride),
            };
            let cells = layer.inputs * layer.stride;
            let (weights, rest) = gradient[layer.first..].split_at_mut(cells);
            let left = Left {
                values: inputs,
                row_step: 1,
                inner_step: step,
                rows: layer.inputs,
                inner: rows,
            };
            add_product(left, deltas, weights, layer.stride, &mut room.packed);
            for row in deltas.chunks_exact(layer.stride) {
                rest.iter_mut().zip(row).for_each(|(sum, delta)| *sum += delta);
            }
            let (earlier, stride) = match before.last_mut() {
                Some(earlier) => (earlier, self.layers[l - 1].stride),
                None if room.by_inputs.is_empty() => break,
                None => (&mut room.by_inputs, self.input_stride()),
            };
            transpose(layer, parameters, stride, &mut room.transposed);
            let earlier = &mut earlier[..rows * stride];
            earlier.fill(0.0);
            let left = Left {
                values: deltas,
                row_step: layer.stride,
                inner_step: 1,
                rows,
                inner: layer.outputs,
            };
            add_product(left, &room.transposed, earlier, stride, &mut room.packed);
            if l > 0 {
                self.activation.multiply_slopes(&room.outputs[l - 1][..rows * stride], earlier);
            }
        }
        &room.by_inputs
    }
}

/// A layer's weights with one row per output, `stride` values each.
fn transpose(layer: &Layer, parameters: &[f32], stride: usize, out: &mut Vec<f32>) {
    out.clear();
    out.resize(layer.outputs * stride, 0.0);
    for (i, row) in layer.weights(parameters).chunks_exact(layer.stride).enumerate() {
        row[..layer.outputs]
            .iter()
            .enumerate()
            .for_each(|(o, weight)| out[o * stride + i] = *weight);
    }
}
