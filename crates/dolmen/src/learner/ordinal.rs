//! Classes that have an order, by one question for each place in it: does the row lie beyond? (FrankHall2001.)
//!
//! ```text
//! b_k = P(class > k),  k = 1 .. K - 1, each from a fit of a learner of two classes
//! p(class = k) = b_{k-1} - b_k,  with b_0 = 1 and b_K = 0
//! ```
//!
//! Differs: answers that contradict one another (b_k > b_{k-1}) are lowered to the one before, where the paper has negative
//! differences; and the classes' frequencies are mixed in as one row among those learned from, so that no class is impossible.

use std::cmp::Ordering;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::baseline::ClassFrequencies;
use super::{Diagnostics, Fitted, Learner, SMALL_BLOCK, Sample, Simple, Stored};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry, Value};
use crate::table::{Rows, Schema};
use crate::target::{Labels, Target};
use crate::task::Classification;

/// In which order classes stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassOrder {
    /// The classes from the lowest to the highest, by name. Classes that are numbers have their order by themselves.
    pub order: Vec<String>,
}

impl ClassOrder {
    /// The number of each class in turn, the lowest first.
    fn places(&self, classes: &[String]) -> Result<Vec<usize>> {
        if self.order.is_empty() {
            // Two classes are answered alike in either order.
            let either = || (classes.len() <= 2).then(|| (0..classes.len()).collect());
            return by_number(classes).or_else(either).ok_or_else(|| {
                let hint =
                    "name the classes from the lowest to the highest: order=[low, middle, high]";
                Error::param("order", "given, as the classes are no numbers", "missing")
                    .with_hint(hint)
            });
        }
        let place = |name: &String| classes.iter().position(|class| class == name);
        let places: Vec<usize> = self.order.iter().filter_map(place).collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < classes.len() || self.order.len() > classes.len() {
            let expected = format!("each of the classes once: {}", classes.join(", "));
            return Err(Error::param("order", expected, self.order.join(", ")));
        }
        Ok(places)
    }
}

/// The classes in the order of the numbers that they are; `None` if one is none.
fn by_number(classes: &[String]) -> Option<Vec<usize>> {
    let number = |class: &String| class.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    let numbers: Vec<f64> = classes.iter().map(number).collect::<Option<_>>()?;
    let mut places: Vec<usize> = (0..classes.len()).collect();
    places.sort_by(|&a, &b| numbers[a].partial_cmp(&numbers[b]).unwrap_or(Ordering::Equal));
    Some(places)
}

/// Classes in an order, by fits of a learner of two classes.
#[derive(Debug, Clone)]
pub struct Ordinal {
    learner: Arc<dyn Learner<Classification>>,
    order: ClassOrder,
}

impl Ordinal {
    /// Asks `learner` one question for each place in the order.
    pub fn of(learner: impl Into<Arc<dyn Learner<Classification>>>, order: ClassOrder) -> Self {
        Self { learner: learner.into(), order }
    }

    /// The fits of one question: whether a row's class is beyond so many of the lowest.
    fn fit_question(
        &self,
        sample: &Sample<'_, Classification>,
        beyond: &[bool],
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        run.check()?;
        let codes =
            sample.target().codes().iter().map(|&c| u32::from(beyond[c as usize])).collect();
        let labels = Labels::new(["up to here", "beyond"].map(String::from).to_vec(), codes)?;
        let own = sample.with_target::<Classification>(&labels)?;
        let weighs =
            |class: u32| (0..own.rows()).any(|i| labels.codes()[i] == class && own.weight(i) > 0.0);
        if weighs(0) && weighs(1) {
            return self.learner.fit(&own, run);
        }
        // Nobody is on one side: there is nothing to learn from the inputs.
        let count = self.learner.members().len();
        let same = || Simple(ClassFrequencies::default()).fit(&own, run);
        Ok((0..count).map(|_| same()).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }
}

impl Learner<Classification> for Ordinal {
    fn members(&self) -> Vec<String> {
        let name = |member: String| {
            Spec::around("ordinal", &self.order, "of", Spec::nested(&member)).to_string()
        };
        self.learner.members().into_iter().map(name).collect()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let classes = sample.target().classes();
        let order = self.order.places(classes)?;
        let ask = |question: usize| {
            let mut beyond = vec![true; classes.len()];
            order[..=question].iter().for_each(|&class| beyond[class] = false);
            self.fit_question(sample, &beyond, &run.child(question as u64))
        };
        let questions = run.try_map(classes.len().saturating_sub(1), ask)?;
        let mut counts = vec![0.0; classes.len()];
        (0..sample.rows()).for_each(|i| counts[sample.target().class(i)] += sample.weight(i));
        let rows = sample.total_weight();
        let shares: Vec<f64> =
            counts.iter().map(|count| (count + 1.0) / (rows + classes.len() as f64)).collect();
        let mut rungs: Vec<Vec<Box<dyn Fitted<Classification>>>> = Vec::new();
        for models in questions {
            rungs.resize_with(models.len(), Vec::new);
            rungs.iter_mut().zip(models).for_each(|(rung, model)| rung.push(model));
        }
        let fitted = |models| {
            let (order, shares) = (order.clone(), shares.clone());
            Box::new(FittedOrdinal { order, shares, rows, models }) as Box<dyn Fitted<_>>
        };
        Ok(rungs.into_iter().map(fitted).collect())
    }
}

/// The answers to all questions.
#[derive(Debug)]
pub struct FittedOrdinal {
    /// The classes from the lowest to the highest.
    order: Vec<usize>,
    /// The frequencies of the classes, and of how many rows they are.
    shares: Vec<f64>,
    rows: f64,
    models: Vec<Box<dyn Fitted<Classification>>>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    order: Vec<usize>,
    shares: Vec<f64>,
    rows: f64,
    models: Vec<Record>,
}

impl Fitted<Classification> for FittedOrdinal {
    fn width(&self) -> usize {
        self.order.len()
    }

    fn block(&self) -> usize {
        self.models.iter().map(|model| model.block()).max().unwrap_or(SMALL_BLOCK)
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let width = self.width();
        let mut answers = vec![0.0; 2 * x.rows()];
        let mut before = vec![1.0_f64; x.rows()];
        for (&class, model) in self.order.iter().zip(&self.models) {
            model.predict_into(x, &mut answers)?;
            let rows = out.chunks_exact_mut(width).zip(answers.chunks_exact(2)).zip(&mut before);
            for ((row, answer), before) in rows {
                let beyond = answer[1].min(*before);
                row[class] = *before - beyond;
                *before = beyond;
            }
        }
        let last = self.order[width - 1];
        let all = self.rows + 1.0;
        for (row, before) in out.chunks_exact_mut(width).zip(before) {
            row[last] = before;
            let mix = |(p, share): (&mut f64, &f64)| *p = (self.rows * *p + share) / all;
            row.iter_mut().zip(&self.shares).for_each(mix);
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        if width != self.width() {
            return Err(Error::shape("values in a prediction row", self.width(), width));
        }
        self.models.iter().try_for_each(|model| model.validate(inputs, 2))
    }

    fn record(&self) -> Result<Record> {
        let models = self.models.iter().map(|model| model.record()).collect::<Result<_>>()?;
        let (order, shares, rows) = (self.order.clone(), self.shares.clone(), self.rows);
        Record::new(Self::KIND, Self::VERSION, &Body { order, shares, rows, models })
    }

    fn parameters(&self) -> Parameters {
        let models: Vec<Parameters> = self.models.iter().map(|model| model.parameters()).collect();
        let order: Vec<Value> = self.order.iter().map(|&class| class.into()).collect();
        Parameters::new(Self::KIND).with("order", order).with("beyond", models)
    }

    /// Converged if all fits did.
    fn diagnostics(&self) -> Diagnostics {
        let converged: Option<Vec<bool>> =
            self.models.iter().map(|model| model.diagnostics().converged).collect();
        Diagnostics {
            converged: converged.map(|all| all.iter().all(|c| *c)),
            ..Diagnostics::default()
        }
    }
}

impl Stored<Classification> for FittedOrdinal {
    const KIND: &'static str = "ordinal";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let Body { order, shares, rows, models } = record.read()?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        record.require(order.len() > 1 && sorted.into_iter().eq(0..order.len()))?;
        record.require(shares.len() == order.len() && models.len() + 1 == order.len())?;
        record.require(rows > 0.0 && shares.iter().all(|share| *share > 0.0))?;
        let models = models.into_iter().map(|model| registry.model(&model));
        Ok(Self { order, shares, rows, models: models.collect::<Result<_>>()? })
    }
}
