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
    transposed: Vec<f32>,
    packed: Vec<f32>,
}

/// Parameters of layers with these numbers of units; `None` if that is no network, or none that could be.
pub(super) fn parameters(sizes: &[usize]) -> Option<usize> {
    if sizes.len() < 2 || sizes.contains(&0) {
        return None;
    }
    sizes.windows(2).try_fold(0_usize, |sum, pair| {
        let stride = pair[1].checked_next_multiple_of(padded(1))?;
        sum.checked_add(pair[0].checked_add(1)?.checked_mul(stride)?)
    })
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

    /// Room for so many rows at a time.
    pub(super) fn room(&self, rows: usize) -> Room {
        let room = || self.layers.iter().map(|layer| vec![0.0; rows * layer.stride]).collect();
        Room { outputs: room(), deltas: room(), ..Room::default() }
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

    /// The gradient, after a forward pass of the same rows and with the derivatives by the outputs in their place.
    pub(super) fn backward(
        &self,
        parameters: &[f32],
        x: &[f32],
        rows: usize,
        room: &mut Room,
        gradient: &mut [f32],
    ) {
        gradient.fill(0.0);
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
            let Some(earlier) = before.last_mut() else { continue };
            let stride = self.layers[l - 1].stride;
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
            self.activation.multiply_slopes(&room.outputs[l - 1][..rows * stride], earlier);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backpropagation_gives_the_slopes_of_the_loss() {
        let value = |at: usize| (at as f32 * 1.3).sin();
        let x: Vec<f32> = (0..5 * 3).map(value).collect();
        for activation in [Activation::Relu, Activation::Tanh] {
            let layers = Layers::new(&[3, 6, 4, 2], activation);
            let mut at = 0;
            let mut parameters = layers.start(&[0.3, -0.2], || {
                at += 1;
                value(at) * 0.5 + 0.5
            });
            let mut room = layers.room(5);
            // The loss is half the sum of squared outputs.
            let mut loss = |parameters: &[f32]| -> f64 {
                let out = layers.forward(parameters, &x, 5, &mut room);
                out.iter().map(|v| 0.5 * f64::from(*v) * f64::from(*v)).sum()
            };
            let mut numeric = Vec::new();
            for p in 0..parameters.len() {
                let (kept, step) = (parameters[p], 1e-2);
                parameters[p] = kept + step;
                let above = loss(&parameters);
                parameters[p] = kept - step;
                numeric.push((above - loss(&parameters)) / 2e-2);
                parameters[p] = kept;
            }
            let mut gradient = vec![0.0; parameters.len()];
            layers.forward(&parameters, &x, 5, &mut room);
            let (outputs, deltas) = layers.outputs_and_deltas(&mut room);
            deltas.copy_from_slice(outputs);
            layers.backward(&parameters, &x, 5, &mut room, &mut gradient);
            // Padding is kept at zero by its inputs or its derivatives, and has no slope of its own.
            for (p, (found, expected)) in gradient.iter().zip(&numeric).enumerate() {
                let real = layers.layers.iter().any(|layer| {
                    let cells = layer.first..layer.first + (layer.inputs + 1) * layer.stride;
                    cells.contains(&p) && (p - layer.first) % layer.stride < layer.outputs
                });
                let error = (f64::from(*found) - expected).abs();
                assert!(!real || error < 2e-2, "{activation:?} {p}: {found} {expected}");
            }
        }
    }
}
