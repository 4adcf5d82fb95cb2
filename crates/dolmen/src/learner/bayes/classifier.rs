//! The Bayes classifier: one density per class, times the class's prior probability [OrmoneitTresp1995 section 5].
//!
//! p(x, c) = p(c) p(x | c). As a [`Joint`] learner it predicts ln p(x, c); as a [`Classification`] learner p(c | x).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::{Diagnostics, Fitted, Learner, SMALL_BLOCK, Sample, Series};
use crate::learner::{Stored, check_use};
use crate::math::log_sum_exp;
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::target::{Labels, Target};
use crate::task::{Classification, Density, Joint, Task};

/// A classifier from any density learner. A ladder of densities makes a ladder of classifiers.
#[derive(Debug, Clone)]
pub struct BayesClassifier {
    density: Arc<dyn Learner<Density>>,
}

impl BayesClassifier {
    /// One density of this kind per class.
    pub fn new(density: impl Into<Arc<dyn Learner<Density>>>) -> Self {
        Self { density: density.into() }
    }

    fn names(&self) -> Vec<String> {
        let name = |density: String| Spec::new(KIND).with("density", Spec::nested(&density));
        self.density.members().into_iter().map(|density| name(density).to_string()).collect()
    }

    /// Fits the classes one by one; one model per member of the density learner.
    fn fit_members<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<FittedBayes>> {
        let classes = sample.target().classes().len();
        let mut weights = vec![0.0; classes];
        (0..sample.rows()).for_each(|i| weights[sample.target().class(i)] += sample.weight(i));
        let total: f64 = weights.iter().sum();
        let log_priors: Vec<f64> = weights.iter().map(|w| (w / total).ln()).collect();
        let empty =
            || FittedBayes { log_priors: log_priors.clone(), densities: vec![None; classes] };
        let mut models: Vec<FittedBayes> = self.density.members().iter().map(|_| empty()).collect();
        for class in (0..classes).filter(|&c| weights[c] > 0.0) {
            let own: Vec<usize> =
                (0..sample.rows()).filter(|&i| sample.target().class(i) == class).collect();
            let part = sample.select(&own);
            let part = part.borrow();
            // The same rows without their class: groups and times still bind inner splits.
            let rows = part.with_target::<Density>(&())?;
            let name = &sample.target().classes()[class];
            let fitted = self.density.fit(&rows, &run.child(class as u64));
            let fitted = fitted.map_err(|error| error.in_part(format!("class '{name}'")))?;
            for (model, density) in models.iter_mut().zip(fitted) {
                model.densities[class] = Some(density.into());
            }
        }
        Ok(models)
    }
}

impl Learner<Classification> for BayesClassifier {
    fn members(&self) -> Vec<String> {
        self.names()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let models = self.fit_members(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as Box<dyn Fitted<Classification>>).collect())
    }
}

impl Learner<Joint> for BayesClassifier {
    fn members(&self) -> Vec<String> {
        self.names()
    }

    fn fit(&self, sample: &Sample<'_, Joint>, run: &Run) -> Result<Vec<Box<dyn Fitted<Joint>>>> {
        let models = self.fit_members(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(model) as Box<dyn Fitted<Joint>>).collect())
    }
}

/// The kind under which it is stored, for both tasks.
const KIND: &str = "bayes";
const VERSION: u32 = 1;

/// A fitted Bayes classifier.
#[derive(Debug, Clone)]
pub struct FittedBayes {
    log_priors: Vec<f64>,
    /// `None` for a class without rows: its prior is zero.
    densities: Vec<Option<Arc<dyn Fitted<Density>>>>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    #[serde(with = "crate::store::floats")]
    log_priors: Vec<f64>,
    densities: Vec<Option<Record>>,
}

impl FittedBayes {
    /// ln p(x, c) for every row and class.
    fn joint_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let classes = self.log_priors.len();
        let mut logs = vec![0.0; x.rows()];
        for (class, density) in self.densities.iter().enumerate() {
            match density {
                Some(density) => density.predict_into(x, &mut logs)?,
                None => logs.fill(f64::NEG_INFINITY),
            }
            for (row, log) in out.chunks_exact_mut(classes).zip(&logs) {
                row[class] =
                    if *log == f64::NEG_INFINITY { *log } else { self.log_priors[class] + log };
            }
        }
        Ok(())
    }

    /// The largest block of the classes' densities.
    fn largest_block(&self) -> usize {
        let blocks = self.densities.iter().flatten().map(|density| density.block());
        blocks.max().unwrap_or(SMALL_BLOCK)
    }

    /// Each class's log prior probability and density; `none` for a class without rows.
    pub fn parameters(&self) -> Parameters {
        let density = |density: &Option<Arc<dyn Fitted<Density>>>| match density {
            Some(density) => density.parameters(),
            None => Parameters::new("none"),
        };
        let densities: Vec<Parameters> = self.densities.iter().map(density).collect();
        Parameters::new(KIND).with("log_priors", &self.log_priors).with("densities", densities)
    }

    fn freedom(&self) -> Option<usize> {
        let of_densities = self.densities.iter().flatten().map(|density| density.free_parameters());
        Some(of_densities.sum::<Option<usize>>()? + self.log_priors.len() - 1)
    }

    /// What the classes' densities tell of themselves.
    fn described(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        for (class, density) in (1..).zip(&self.densities) {
            let Some(density) = density else { continue };
            let Diagnostics { notes, series, .. } = density.diagnostics();
            diagnostics
                .notes
                .extend(notes.into_iter().map(|note| format!("class {class}: {note}")));
            diagnostics.series.extend(series.into_iter().map(|series| Series {
                name: format!("{} in class {class}", series.name),
                ..series
            }));
        }
        diagnostics
    }

    fn stored(&self) -> Result<Record> {
        let density = |density: &Option<Arc<dyn Fitted<Density>>>| {
            density.as_ref().map(|density| density.record()).transpose()
        };
        let densities = self.densities.iter().map(density).collect::<Result<_>>()?;
        Record::new(KIND, VERSION, &Body { log_priors: self.log_priors.clone(), densities })
    }

    fn validated(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(KIND, (inputs.len(), self.log_priors.len()), inputs, width)?;
        self.densities.iter().flatten().try_for_each(|density| density.validate(inputs, 1))
    }

    fn restored(record: &Record, registry: &Registry) -> Result<Self> {
        let Body { log_priors, densities } = record.read()?;
        if log_priors.len() != densities.len() {
            return Err(Error::shape("stored classes", log_priors.len(), densities.len()));
        }
        let restore = |density: Option<Record>| -> Result<Option<Arc<dyn Fitted<Density>>>> {
            density.map(|record| Ok(registry.model(&record)?.into())).transpose()
        };
        let densities = densities.into_iter().map(restore).collect::<Result<_>>()?;
        Ok(Self { log_priors, densities })
    }
}

impl Fitted<Joint> for FittedBayes {
    fn width(&self) -> usize {
        self.log_priors.len()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.joint_into(x, out)
    }

    fn block(&self) -> usize {
        self.largest_block()
    }

    fn free_parameters(&self) -> Option<usize> {
        self.freedom()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.validated(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.described()
    }
}

impl Fitted<Classification> for FittedBayes {
    fn width(&self) -> usize {
        self.log_priors.len()
    }

    /// p(c | x) by Bayes' rule; a row to which every class gives zero gets the prior, which is all that is known then.
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.joint_into(x, out)?;
        for row in out.chunks_exact_mut(self.log_priors.len()) {
            if row.iter().all(|log| *log == f64::NEG_INFINITY) {
                row.copy_from_slice(&self.log_priors);
            }
            let total = log_sum_exp(row);
            row.iter_mut().for_each(|log| *log = (*log - total).exp());
        }
        Ok(())
    }

    fn block(&self) -> usize {
        self.largest_block()
    }

    fn free_parameters(&self) -> Option<usize> {
        self.freedom()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.validated(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.described()
    }
}

impl Stored<Classification> for FittedBayes {
    const KIND: &'static str = KIND;
    const VERSION: u32 = VERSION;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        Self::restored(record, registry)
    }
}

impl Stored<Joint> for FittedBayes {
    const KIND: &'static str = KIND;
    const VERSION: u32 = VERSION;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        Self::restored(record, registry)
    }
}
