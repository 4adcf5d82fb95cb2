//! The fitted machines: support vectors, and what their decision values say.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::platt::{Sigmoid, couple};
use crate::error::{Error, Result};
use crate::learner::likeness::{Compared, Likeness};
use crate::learner::scales::{Scales, require_numbers};
use crate::learner::{Diagnostics, Fitted};
use crate::learner::{Stored, check_use};
use crate::math::bulk;
use crate::store::{Parameters, Record, Registry, floats, is_ascending_below};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Regression};

/// Probabilities of pairs stay this far from 0 and 1, as in LIBSVM.
const LEAST: f64 = 1e-7;

/// One decision function: sum of coefficient times kernel over two runs of support vectors, minus the offset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Machine {
    #[serde(with = "floats")]
    pub(super) coefficients: Vec<f64>,
    pub(super) first: Range<usize>,
    pub(super) second: Range<usize>,
    pub(super) offset: f64,
    pub(super) sigmoid: Sigmoid,
}

/// What decision values are turned into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Output {
    /// A number in units of the target.
    Number { centre: f64, spread: f64 },
    /// Probabilities of the classes seen, and of each that was not.
    Classes { classes: usize, seen: Vec<usize>, unseen: f64 },
}

/// A fitted [`Svm`](super::Svm).
#[derive(Debug, Clone)]
pub struct FittedSvm {
    body: Body,
    compared: Compared,
    diagnostics: Diagnostics,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Body {
    scales: Scales,
    likeness: Likeness,
    /// Support vectors on their scale, one after the other.
    #[serde(with = "floats")]
    vectors: Vec<f64>,
    machines: Vec<Machine>,
    #[serde(rename = "says")]
    output: Output,
    converged: Option<bool>,
    iterations: Option<usize>,
    notes: Vec<String>,
}

impl FittedSvm {
    pub(super) fn new(
        scales: Scales,
        likeness: Likeness,
        vectors: Vec<f64>,
        machines: Vec<Machine>,
        output: Output,
        diagnostics: Diagnostics,
    ) -> Self {
        let Diagnostics { converged, iterations, notes, .. } = diagnostics;
        Self::from_body(Body {
            scales,
            likeness,
            vectors,
            machines,
            output,
            converged,
            iterations,
            notes,
        })
    }

    fn from_body(body: Body) -> Self {
        let compared = Compared::new(body.likeness, &body.vectors, body.scales.centres().len());
        let diagnostics = Diagnostics {
            converged: body.converged,
            iterations: body.iterations,
            notes: body.notes.clone(),
            ..Diagnostics::default()
        };
        Self { body, compared, diagnostics }
    }

    fn width(&self) -> usize {
        match self.body.output {
            Output::Number { .. } => 1,
            Output::Classes { classes, .. } => classes,
        }
    }

    /// The decision values of each row: for numbers one, in units of the (standardised) target; for classes one for each
    /// pair (0, 1), (0, 2), .. of classes seen, positive for the first of them.
    pub fn decision_values(&self, x: Rows<'_>) -> Result<Vec<f64>> {
        let mut values = Vec::with_capacity(x.rows() * self.body.machines.len());
        self.decide(x, |decided| values.extend_from_slice(decided))?;
        Ok(values)
    }

    fn decide(&self, x: Rows<'_>, mut tell: impl FnMut(&[f64])) -> Result<()> {
        let scales = &self.body.scales;
        if x.width() != scales.centres().len() {
            return Err(Error::shape("input columns", scales.centres().len(), x.width()));
        }
        require_numbers(x)?;
        let mut row = vec![0.0; x.width()];
        let mut kernel = vec![0.0; self.compared.padded()];
        let mut decided = vec![0.0; self.body.machines.len()];
        for input in x.iter() {
            scales.write(input, &mut row);
            self.compared.compare(&row, &mut kernel);
            for (decided, machine) in decided.iter_mut().zip(&self.body.machines) {
                let (first, second) = machine.coefficients.split_at(machine.first.len());
                let sum = bulk::dot(first, &kernel[machine.first.clone()])
                    + bulk::dot(second, &kernel[machine.second.clone()]);
                *decided = sum - machine.offset;
            }
            tell(&decided);
        }
        Ok(())
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let mut rows = out.chunks_exact_mut(self.width());
        let seen =
            if let Output::Classes { seen, .. } = &self.body.output { seen.len() } else { 0 };
        let mut pairs = vec![0.0; seen * seen];
        let mut coupled = vec![0.0; seen];
        self.decide(x, |decided| {
            let Some(out) = rows.next() else { return };
            match &self.body.output {
                Output::Number { centre, spread } => out[0] = decided[0] * spread + centre,
                Output::Classes { classes, seen, unseen } => {
                    self.probabilities(decided, &mut pairs, &mut coupled);
                    let share = 1.0 - unseen * (classes - seen.len()) as f64;
                    out.fill(*unseen);
                    seen.iter().zip(&coupled).for_each(|(&class, p)| out[class] = p * share);
                }
            }
        })
    }

    /// The probabilities of the classes seen.
    fn probabilities(&self, decided: &[f64], pairs: &mut [f64], out: &mut [f64]) {
        let seen = out.len();
        let mut machines = self.body.machines.iter().zip(decided);
        for a in 0..seen {
            for b in a + 1..seen {
                if let Some((machine, value)) = machines.next() {
                    let p = machine.sigmoid.probability(*value).clamp(LEAST, 1.0 - LEAST);
                    (pairs[a * seen + b], pairs[b * seen + a]) = (p, 1.0 - p);
                }
            }
        }
        match out {
            [only] => *only = 1.0,
            [first, second] => (*first, *second) = (pairs[1], pairs[2]),
            more => couple(|i, j| pairs[i * seen + j], more),
        }
    }

    /// The support vectors, minus the centres and divided by the scales, and the machines: each a sum of coefficients times
    /// kernels over the support vectors of the numbers named, less its offset.
    pub fn parameters(&self) -> Parameters {
        let Body { scales, likeness, vectors, machines, output, .. } = &self.body;
        let columns = scales.centres().len();
        let parameters = match likeness {
            Likeness::Linear => Parameters::new(KIND).with("kernel", "linear"),
            Likeness::Rbf { gamma } => {
                Parameters::new(KIND).with("kernel", "rbf").with("gamma", *gamma)
            }
            Likeness::Matern => Parameters::new(KIND).with("kernel", "matern"),
        };
        let calibrated = matches!(output, Output::Classes { .. });
        let machine = |machine: &Machine| {
            let used = machine.first.clone().chain(machine.second.clone());
            let parameters = Parameters::new("machine")
                .with("vectors", used.map(|number| number as f64).collect::<Vec<f64>>())
                .with("coefficients", &machine.coefficients)
                .with("offset", machine.offset);
            if calibrated { machine.sigmoid.describe(parameters) } else { parameters }
        };
        let parameters = scales
            .describe(parameters)
            .with_array("vectors", &[vectors.len() / columns, columns], vectors.as_slice())
            .with("machines", machines.iter().map(machine).collect::<Vec<Parameters>>());
        match output {
            Output::Number { centre, spread } => {
                parameters.with("target_centre", *centre).with("target_scale", *spread)
            }
            Output::Classes { classes, seen, unseen } => parameters
                .with("classes", *classes)
                .with("seen", seen.iter().map(|&class| class as f64).collect::<Vec<f64>>())
                .with("unseen", *unseen),
        }
    }

    fn restore(record: &Record) -> Result<Self> {
        let body: Body = record.read()?;
        let dimension = body.scales.centres().len();
        record.require(dimension > 0 && body.scales.scales().len() == dimension)?;
        let vectors = body.vectors.len() / dimension;
        let fits = |machine: &Machine| {
            let within = |run: &Range<usize>| run.start <= run.end && run.end <= vectors;
            within(&machine.first)
                && within(&machine.second)
                && machine.coefficients.len() == machine.first.len() + machine.second.len()
        };
        let machines = match &body.output {
            Output::Number { .. } => 1,
            Output::Classes { classes, seen, .. } => {
                record.require(is_ascending_below(seen, *classes))?;
                seen.len() * (seen.len() - 1) / 2
            }
        };
        let sound = vectors * dimension == body.vectors.len() && body.machines.len() == machines;
        record.require(sound && body.machines.iter().all(fits))?;
        Ok(Self::from_body(body))
    }
}

const KIND: &str = "svm";
const VERSION: u32 = 1;

/// The same model for either task; its output tells which it is.
macro_rules! fitted {
    ($task:ty, $output:pat) => {
        impl Fitted<$task> for FittedSvm {
            fn width(&self) -> usize {
                self.width()
            }

            fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
                self.predict_into(x, out)
            }

            fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
                let columns = self.body.scales.centres().len();
                check_use(KIND, (columns, self.width()), inputs, width)
            }

            fn record(&self) -> Result<Record> {
                Record::new(KIND, VERSION, &self.body)
            }

            fn parameters(&self) -> Parameters {
                self.parameters()
            }

            fn diagnostics(&self) -> Diagnostics {
                self.diagnostics.clone()
            }
        }

        impl Stored<$task> for FittedSvm {
            const KIND: &'static str = KIND;
            const VERSION: u32 = VERSION;

            fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
                let model = FittedSvm::restore(record)?;
                match model.body.output {
                    $output => Ok(model),
                    _ => Err(Error::param("model file", "a model of this task", "of another")),
                }
            }
        }
    };
}

fitted!(Classification, Output::Classes { .. });
fitted!(Regression, Output::Number { .. });
