//! The gate: weights that depend on the inputs, g_m(x) = softmax_m(a_m + b_m'z), over members that stay as they are.
//!
//! The slopes b are shrunk towards 0, that is, towards constant weights: one combination per strength, and as the first
//! rung the constant weights themselves, so that the stack can choose to have no gate. Started from the constant weights,
//! the objective (mean log score, or squared error in units of the target's variance, less lambda/2 |b|^2) is raised by
//! L-BFGS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Combination, Combiner, Evidence, LinearPool, StoredCombination, Weighable, Weights,
    check_member_count, check_members, check_weights,
};
use crate::error::{Error, Result, at_least_zero, within};
use crate::learner::density::mixture::OneOrMany;
use crate::learner::{Diagnostics, Series};
use crate::math::quasi_newton::{Stop, minimise};
use crate::run::Run;
use crate::spec::Spec;
use crate::stats::{Accumulator, accumulate};
use crate::store::{Parameters, Record, Registry};
use crate::table::encode::{Encoder, EncoderSpec};
use crate::table::{Features, Rows, Schema};
use crate::task::Task;

/// Rows summed into one accumulator.
const PART: usize = 1024;
/// Iterations, at most.
const MOST_ITERATIONS: usize = 1_000_000;
/// What a member without constant weight starts with, so that the gate can find where it is good.
const START: f64 = 1e-2;

/// Learns weights as a function of the inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// How strongly the weights are held to constants: one combination each, and one with constant weights.
    #[schemars(extend("minimum" = 0.0))]
    #[serde(deserialize_with = "OneOrMany::read")]
    pub lambda: Vec<f64>,
    /// Iterations at most, 1 to 1 000 000.
    #[schemars(range(min = 1, max = MOST_ITERATIONS))]
    pub iterations: usize,
    /// The largest element that the gradient of the mean loss may have in the end.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
}

impl Default for Gate {
    fn default() -> Self {
        Self { lambda: vec![1.0, 0.1, 0.01, 0.001], iterations: 2000, tolerance: 1e-5 }
    }
}

impl<T: Weighable> Combiner<T> for Gate {
    fn rungs(&self) -> Vec<String> {
        let rung = |lambda: Value| Spec::rung("gate", self, "lambda", lambda).to_string();
        // The constant weights are those of the simplex, and are called so.
        let constant = Combiner::<T>::rungs(&Weights::default());
        constant.into_iter().chain(self.lambda.iter().map(|&lambda| rung(lambda.into()))).collect()
    }

    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        self.lambda.iter().try_for_each(|&lambda| at_least_zero("lambda in gate", lambda))?;
        at_least_zero("tolerance in gate", self.tolerance)?;
        within("iterations in gate", self.iterations, 1..=MOST_ITERATIONS)?;
        let Some(x) = evidence.x else {
            let expected = "one without inputs: predictions from elsewhere come without";
            return Err(Error::param("combiner", expected, "gate")
                .with_hint("name the columns with the rows' inputs: --inputs COLUMN"));
        };
        let constant = Weights::default().fit(evidence, run)?;
        let start: Vec<f64> = constant[0].weights().unwrap_or_default().to_vec();
        let encoder = EncoderSpec::dense().fit(x, evidence.oos.weights())?;
        let inputs = encoder.apply(x)?;
        let problem = Problem::new(evidence, &inputs)?;
        let members = start.len();
        let mut theta = vec![0.0; members * (encoder.width() + 1)];
        for (theta, weight) in theta.chunks_exact_mut(encoder.width() + 1).zip(&start) {
            theta[encoder.width()] = weight.max(START / members as f64).ln();
        }
        let mut combinations: Vec<Box<dyn Combination<T>>> = vec![Box::new(LinearPool::new(start))];
        // The strongest first, each from where the one before ended; given back in the order they were asked for.
        let mut order: Vec<usize> = (0..self.lambda.len()).collect();
        order.sort_by(|&a, &b| self.lambda[b].total_cmp(&self.lambda[a]));
        let mut gates: Vec<Option<Gated>> = vec![None; order.len()];
        for rung in order {
            let stop = Stop { gradient: self.tolerance, iterations: self.iterations };
            let found = run.install(|| {
                let loss = |theta: &[f64], gradient: &mut [f64]| {
                    run.check()?;
                    Ok(problem.loss(theta, self.lambda[rung], gradient))
                };
                minimise(loss, theta.clone(), stop)
            })?;
            theta.clone_from(&found.at);
            let mean_weights = problem.mean_weights(&theta);
            gates[rung] = Some(Gated {
                encoder: encoder.clone(),
                theta: theta.clone(),
                members: evidence.oos.members().to_vec(),
                mean_weights,
                converged: found.converged,
                iterations: found.iterations,
            });
        }
        combinations.extend(gates.into_iter().flatten().map(|gate| Box::new(gate) as _));
        Ok(combinations)
    }
}

/// What the gate is fitted to.
struct Problem<'a> {
    inputs: &'a Features,
    shares: Vec<f64>,
    /// Row after row: what each member is worth there. Likelihoods relative to the row's largest, or predicted numbers.
    values: Vec<f64>,
    /// The numbers to predict, and one over their variance.
    numbers: Option<(&'a [f64], f64)>,
    members: usize,
}

/// The loss and its gradient, summed over rows.
struct Sum {
    loss: f64,
    gradient: Vec<f64>,
}

impl Accumulator for Sum {
    fn merge(&mut self, later: Self) {
        self.loss += later.loss;
        self.gradient.iter_mut().zip(later.gradient).for_each(|(a, b)| *a += b);
    }
}

impl<'a> Problem<'a> {
    fn new<T: Task>(evidence: &Evidence<'a, T>, inputs: &'a Features) -> Result<Self> {
        let oos = evidence.oos;
        let (rows, members) = (oos.rows(), oos.members().len());
        let shares = oos.shares()?;
        let numbers = T::numbers(oos.target());
        let mut values = vec![0.0; rows * members];
        for (i, row) in values.chunks_exact_mut(members).enumerate() {
            for (m, value) in row.iter_mut().enumerate() {
                let predicted = oos.row(m, i);
                *value = match numbers {
                    Some(_) => predicted[0],
                    None => T::score(predicted, oos.target(), i),
                };
            }
            if numbers.is_none() {
                let largest = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
                // A row to which every member gives zero says nothing: all are alike there.
                let likelihood =
                    |v: f64| if largest.is_finite() { (v - largest).exp() } else { 1.0 };
                row.iter_mut().for_each(|value| *value = likelihood(*value));
            }
        }
        let numbers = numbers.map(|y| {
            let mean: f64 = y.iter().zip(&shares).map(|(y, s)| y * s).sum();
            let variance: f64 = y.iter().zip(&shares).map(|(y, s)| s * (y - mean).powi(2)).sum();
            (y, if variance > 0.0 { 1.0 / variance } else { 1.0 })
        });
        Ok(Self { inputs, shares, values, numbers, members })
    }

    /// The mean loss of the gated combination, with the penalty on slopes.
    fn loss(&self, theta: &[f64], lambda: f64, gradient: &mut [f64]) -> f64 {
        let width = self.inputs.rows().width() + 1;
        let zero = || Sum { loss: 0.0, gradient: vec![0.0; theta.len()] };
        let sum = accumulate(self.shares.len(), PART, zero, |sum, rows| {
            let mut gates = vec![0.0; self.members];
            for i in rows {
                let x = self.inputs.rows().row(i);
                open(theta, x, &mut gates);
                sum.loss += self.shares[i] * self.row(i, &mut gates);
                for (slopes, slope) in sum.gradient.chunks_exact_mut(width).zip(&gates) {
                    let slope = self.shares[i] * slope;
                    slopes.iter_mut().zip(x).for_each(|(sum, x)| *sum += slope * x);
                    slopes[width - 1] += slope;
                }
            }
        });
        gradient.copy_from_slice(&sum.gradient);
        let mut loss = sum.loss;
        let slopes = theta.chunks_exact(width).zip(gradient.chunks_exact_mut(width));
        for (theta, gradient) in slopes {
            for (theta, gradient) in theta[..width - 1].iter().zip(gradient) {
                loss += 0.5 * lambda * theta * theta;
                *gradient += lambda * theta;
            }
        }
        loss
    }

    /// A row's loss; its gates become the gradient with respect to their logits.
    fn row(&self, i: usize, gates: &mut [f64]) -> f64 {
        let values = &self.values[i * self.members..(i + 1) * self.members];
        let mixed: f64 = gates.iter().zip(values).map(|(g, v)| g * v).sum();
        let (loss, factor) = match self.numbers {
            Some((y, precision)) => {
                let residual = y[i] - mixed;
                (residual * residual * precision, -2.0 * residual * precision)
            }
            None => (-mixed.ln(), -1.0 / mixed),
        };
        // d mixed / d logit_m = g_m (v_m - mixed).
        gates.iter_mut().zip(values).for_each(|(gate, v)| *gate *= factor * (v - mixed));
        loss
    }

    fn mean_weights(&self, theta: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.members];
        let mut gates = mean.clone();
        for (i, share) in self.shares.iter().enumerate() {
            open(theta, self.inputs.rows().row(i), &mut gates);
            mean.iter_mut().zip(&gates).for_each(|(mean, gate)| *mean += share * gate);
        }
        mean
    }
}

/// The weights at one row of encoded inputs.
fn open(theta: &[f64], x: &[f64], gates: &mut [f64]) {
    for (gate, theta) in gates.iter_mut().zip(theta.chunks_exact(x.len() + 1)) {
        *gate = theta[x.len()] + theta.iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
    }
    let largest = gates.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    gates.iter_mut().for_each(|gate| *gate = (*gate - largest).exp());
    let total: f64 = gates.iter().sum();
    gates.iter_mut().for_each(|gate| *gate /= total);
}

/// A fitted gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gated {
    encoder: Encoder,
    /// Member after member: the slopes, then the intercept.
    #[serde(with = "crate::store::floats")]
    theta: Vec<f64>,
    members: Vec<String>,
    /// Averages over the rows it was fitted to.
    mean_weights: Vec<f64>,
    converged: bool,
    iterations: usize,
}

impl Gated {
    /// The slopes on encoded inputs and the intercept of every member's logit.
    fn coefficients(&self) -> Series {
        let mut labels = Vec::with_capacity(self.theta.len());
        for member in &self.members {
            let fields = self.encoder.schema().fields().iter();
            labels.extend(fields.map(|field| format!("{member}, {}", field.name)));
            labels.push(format!("{member}, (intercept)"));
        }
        Series {
            name: "coefficient".into(),
            labels,
            values: self.theta.clone(),
            is_numbered: false,
        }
    }
}

impl<T: Task> Combination<T> for Gated {
    fn combine_into(
        &self,
        members: &[&[f64]],
        width: usize,
        x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        check_members(self.members.len(), members)?;
        let inputs = self.encoder.apply(x)?;
        let mut gates = vec![0.0; members.len()];
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            open(&self.theta, inputs.rows().row(i), &mut gates);
            T::mix(&gates, |m| &members[m][i * width..(i + 1) * width], out);
        }
        Ok(())
    }

    fn validate(&self, members: usize, inputs: &Schema, _width: usize) -> Result<()> {
        check_member_count(self.members.len(), members)?;
        check_weights(&self.mean_weights, members)?;
        self.encoder.check_inputs(inputs)?;
        let parameters = members * (self.encoder.width() + 1);
        if self.theta.len() != parameters {
            return Err(Error::shape(
                "stored parameters of the gate",
                parameters,
                self.theta.len(),
            ));
        }
        Ok(())
    }

    fn weights(&self) -> Option<&[f64]> {
        None
    }

    fn weights_at(&self, x: Rows<'_>) -> Result<Option<Vec<f64>>> {
        let inputs = self.encoder.apply(x)?;
        let mut weights = vec![0.0; x.rows() * self.members.len()];
        for (i, gates) in weights.chunks_exact_mut(self.members.len()).enumerate() {
            open(&self.theta, inputs.rows().row(i), gates);
        }
        Ok(Some(weights))
    }

    /// The weights are proportional to exp(coefficients x + intercept) on encoded inputs.
    fn parameters(&self) -> Parameters {
        let (members, columns) = (self.members.len(), self.encoder.width());
        let scores = self.theta.chunks_exact(columns + 1);
        let slopes: Vec<f64> = scores.clone().flat_map(|s| s[..columns].to_vec()).collect();
        Parameters::new(<Self as StoredCombination<T>>::KIND)
            .with("members", &self.members)
            .with("encoder", self.encoder.parameters())
            .with_array("coefficients", &[members, columns], slopes)
            .with("intercepts", scores.map(|s| s[columns]).collect::<Vec<f64>>())
            .with("mean_weights", &self.mean_weights)
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics {
            converged: Some(self.converged),
            iterations: Some(self.iterations),
            series: vec![
                Series {
                    name: "mean weight".into(),
                    labels: self.members.clone(),
                    values: self.mean_weights.clone(),
                    is_numbered: false,
                },
                self.coefficients(),
            ],
            ..Diagnostics::default()
        }
    }

    fn record(&self) -> Result<Record> {
        Record::new(<Self as StoredCombination<T>>::KIND, 1, self)
    }
}

impl<T: Task> StoredCombination<T> for Gated {
    const KIND: &'static str = "gate";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        record.read()
    }
}
