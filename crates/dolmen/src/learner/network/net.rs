//! A network as a function of its parameters: inputs seen by waves, and the layers behind them.

use super::layers::{self, Activation, Layers};
use super::matrix::padded;
use super::waves::{Space, Waves};
use crate::store::Parameters;

/// What a network is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    /// Columns, units of each hidden layer, outputs.
    pub(super) sizes: Vec<usize>,
    pub(super) activation: Activation,
    pub(super) waves: Waves,
}

/// A network without its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Net {
    waves: Waves,
    layers: Layers,
}

/// Room for a batch of rows.
#[derive(Debug, Default)]
pub(super) struct Room {
    layers: layers::Room,
    waves: Space,
    /// The rows with the features of their columns; empty where there are none.
    inputs: Vec<f32>,
}

impl Shape {
    /// The number of parameters; `None` if that is no network, or none that could be.
    pub(super) fn parameters(&self) -> Option<usize> {
        let columns = *self.sizes.first()?;
        if self.sizes.len() < 2 || self.sizes.contains(&0) {
            return None;
        }
        if self.waves.columns.iter().any(|column| *column >= columns) {
            return None;
        }
        let mut inputs = columns.checked_add(self.waves.features())?;
        self.sizes[1..].iter().try_fold(self.waves.parameters()?, |sum, &units| {
            let stride = units.checked_next_multiple_of(padded(1))?;
            let layer = inputs.checked_add(1)?.checked_mul(stride)?;
            inputs = units;
            sum.checked_add(layer)
        })
    }
}

impl Net {
    pub(super) fn new(shape: &Shape) -> Self {
        let mut sizes = shape.sizes.clone();
        if let Some(inputs) = sizes.first_mut() {
            *inputs += shape.waves.features();
        }
        Self { waves: shape.waves.clone(), layers: Layers::new(&sizes, shape.activation) }
    }

    /// Values in one row of outputs, padding included.
    pub(super) fn output_stride(&self) -> usize {
        self.layers.output_stride()
    }

    /// Parameters to start from, the outputs' intercepts as they are given.
    pub(super) fn start(&self, intercepts: &[f32], mut uniform: impl FnMut() -> f32) -> Vec<f32> {
        let mut parameters = self.layers.start(intercepts, &mut uniform);
        let own = parameters.len();
        parameters.resize(own + self.waves.parameters().unwrap_or(0), 0.0);
        self.waves.start(&mut parameters[own..], uniform);
        parameters
    }

    /// Room for so many rows at a time.
    pub(super) fn room(&self, rows: usize) -> Room {
        Room {
            layers: self.layers.room(rows, !self.waves.is_empty()),
            waves: self.waves.space(rows),
            inputs: Vec::new(),
        }
    }

    /// The outputs for rows that stand one after the other.
    pub(super) fn forward<'a>(
        &self,
        parameters: &[f32],
        x: &[f32],
        rows: usize,
        room: &'a mut Room,
    ) -> &'a [f32] {
        let (own, waves) = parameters.split_at(self.layers.parameters());
        let Room { layers, waves: space, inputs } = room;
        if self.waves.is_empty() {
            return self.layers.forward(own, x, rows, layers);
        }
        inputs.resize(x.len() + rows * self.waves.features(), 0.0);
        self.waves.forward(waves, x, rows, space, inputs);
        self.layers.forward(own, inputs, rows, layers)
    }

    /// Outputs of the last forward pass, and where the loss's derivatives by them go.
    pub(super) fn outputs_and_deltas<'a>(&self, room: &'a mut Room) -> (&'a [f32], &'a mut [f32]) {
        self.layers.outputs_and_deltas(&mut room.layers)
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
        let (own, waves) = parameters.split_at(self.layers.parameters());
        let (gradient, by_waves) = gradient.split_at_mut(self.layers.parameters());
        let Room { layers, waves: space, inputs } = room;
        if self.waves.is_empty() {
            self.layers.backward(own, x, rows, layers, gradient);
            return;
        }
        let deltas = self.layers.backward(own, inputs, rows, layers, gradient);
        let deltas = (deltas, self.layers.input_stride());
        self.waves.backward(waves, (x, inputs, rows), deltas, space, by_waves);
    }

    /// What was learned: the waves, and the weights (inputs x outputs) and intercepts of each layer, without padding.
    pub(super) fn describe(&self, parameters: &[f64]) -> Parameters {
        let (own, waves) = parameters.split_at(self.layers.parameters());
        let described = Parameters::new("copy").with("layers", self.layers.describe(own));
        if self.waves.is_empty() {
            return described;
        }
        described.with("waves", self.waves.describe(waves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backpropagation_gives_the_slopes_of_the_loss() {
        let value = |at: usize| (at as f32 * 1.3).sin();
        let x: Vec<f32> = (0..5 * 3).map(value).collect();
        let waves = Waves { count: 3, columns: vec![0, 2] };
        for activation in [Activation::Relu, Activation::Tanh] {
            for waves in [Waves::default(), waves.clone()] {
                let shape = Shape { sizes: vec![3, 6, 4, 2], activation, waves };
                let net = Net::new(&shape);
                let mut at = 0;
                let mut parameters = net.start(&[0.3, -0.2], || {
                    at += 1;
                    value(at) * 0.5 + 0.5
                });
                assert_eq!(Some(parameters.len()), shape.parameters());
                let mut room = net.room(5);
                // The loss is half the sum of squared outputs.
                let mut loss = |parameters: &[f32]| -> f64 {
                    let out = net.forward(parameters, &x, 5, &mut room);
                    out.iter().map(|v| 0.5 * f64::from(*v) * f64::from(*v)).sum()
                };
                // Where a positive part begins between the two points of a step, a smaller one tells.
                let mut slope = |parameters: &mut Vec<f32>, p: usize, step: f32| {
                    let kept = parameters[p];
                    parameters[p] = kept + step;
                    let above = loss(parameters);
                    parameters[p] = kept - step;
                    let difference = above - loss(parameters);
                    parameters[p] = kept;
                    difference / (2.0 * f64::from(step))
                };
                let numeric: Vec<[f64; 3]> = (0..parameters.len())
                    .map(|p| [2e-3, 1e-3, 5e-4].map(|step| slope(&mut parameters, p, step)))
                    .collect();
                let mut gradient = vec![0.0; parameters.len()];
                net.forward(&parameters, &x, 5, &mut room);
                let (outputs, deltas) = net.outputs_and_deltas(&mut room);
                deltas.copy_from_slice(outputs);
                net.backward(&parameters, &x, 5, &mut room, &mut gradient);
                // Padding is kept at zero by its inputs or its derivatives, and has no slope of its own.
                for (p, (found, expected)) in gradient.iter().zip(&numeric).enumerate() {
                    let is_near = |slope: &f64| {
                        (f64::from(*found) - slope).abs() < 2e-2 * (1.0 + slope.abs())
                    };
                    let is_padding = net.layers.is_padding(p);
                    assert!(
                        is_padding || expected.iter().any(is_near),
                        "{activation:?} {p}: {found} {expected:?}"
                    );
                }
            }
        }
    }
}
