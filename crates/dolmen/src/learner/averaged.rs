//! Averages of several fits of one learner, on other rows or from other starts: bagging (Breiman1996), and the averaged densities of
//! OrmoneitTresp1995, section 4.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Diagnostics, Fitted, Learner, SMALL_BLOCK, Sample, Stored};
use crate::error::{Error, Result, within};
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Joint, Regression, Task};

/// What the fits of an average differ in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resample {
    /// Their random numbers only: the same rows, other starts.
    Starts,
    /// Their rows: a share of them, drawn without replacement.
    Subsample,
    /// Their rows: as many as there are, drawn with replacement (bagging).
    #[default]
    Bootstrap,
}

/// How fits are averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Averaging {
    /// Number of fits, 1 to 10 000.
    #[schemars(range(min = 1, max = 10_000))]
    pub fits: usize,
    /// What they differ in.
    pub resample: Resample,
    /// Share of the rows in a subsample.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub fraction: f64,
}

impl Default for Averaging {
    fn default() -> Self {
        Self { fits: 10, resample: Resample::Bootstrap, fraction: 0.7 }
    }
}

impl Averaging {
    fn validate(&self) -> Result<()> {
        within("fits", self.fits, 1..=10_000)?;
        if !(self.fraction > 0.0 && self.fraction <= 1.0) {
            return Err(Error::param("fraction", "above 0 and at most 1", self.fraction));
        }
        Ok(())
    }
}

/// A learner whose members are averages of another learner's members, rung by rung.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::averaged::{Averaged, Averaging};
/// use dolmen::learner::density::GaussianMixture;
///
/// let bagged = Averaged::new(GaussianMixture::default(), Averaging::default());
/// assert_eq!(bagged.members(), ["averaged(of=mixture(components=4))"]);
/// ```
#[derive(Debug, Clone)]
pub struct Averaged<T: Task> {
    learner: Arc<dyn Learner<T>>,
    averaging: Averaging,
}

/// A task whose models can be averaged.
pub trait Averageable: Task {
    /// The average of at least one fit.
    fn average(fits: Vec<Box<dyn Fitted<Self>>>) -> Box<dyn Fitted<Self>>;
}

macro_rules! bagged {
    ($($task:ident),*) => {$(
        impl Averageable for $task {
            fn average(fits: Vec<Box<dyn Fitted<Self>>>) -> Box<dyn Fitted<Self>> {
                Box::new(FittedBag { fits })
            }
        }
    )*};
}
bagged!(Classification, Joint, Regression);

impl<T: Averageable> Averaged<T> {
    /// Averages fits of a learner that others hold too.
    pub fn of(learner: Arc<dyn Learner<T>>, averaging: Averaging) -> Self {
        Self { learner, averaging }
    }

    /// One fit of the learner, on its own rows and random stream.
    fn fit_one(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        run.check()?;
        let rows = sample.rows();
        let mut rng = run.rng();
        // A number instead of a name, which would change results that are on record: densities have an average by default.
        let run = run.child(0);
        match self.averaging.resample {
            Resample::Starts => self.learner.fit(sample, &run),
            Resample::Subsample => {
                let share = (self.averaging.fraction * rows as f64).round() as usize;
                let mut chosen =
                    index::sample(&mut rng, rows, share.clamp(rows.min(1), rows)).into_vec();
                chosen.sort_unstable();
                self.learner.fit(&sample.select(&chosen).borrow(), &run)
            }
            Resample::Bootstrap => {
                let (drawn, weights) = bootstrap(sample, &mut rng);
                self.learner.fit(&sample.select(&drawn).borrow().counted(&weights)?, &run)
            }
        }
    }
}

/// As many rows as there are, drawn with replacement: each row once, weighted by how often it was drawn. A row of weight w
/// counts as w rows for every learner, so the fit is that of the repeated rows, on two thirds of the work.
fn bootstrap<T: Task>(sample: &Sample<'_, T>, rng: &mut ChaCha8Rng) -> (Vec<usize>, Vec<f64>) {
    let rows = sample.rows();
    let mut times = vec![0_u32; rows];
    for _ in 0..rows {
        times[rng.random_range(0..rows)] += 1;
    }
    let drawn: Vec<usize> = (0..rows).filter(|&i| times[i] > 0).collect();
    let weights = drawn.iter().map(|&i| f64::from(times[i]) * sample.weight(i)).collect();
    (drawn, weights)
}

impl<T: Averageable> Learner<T> for Averaged<T> {
    fn members(&self) -> Vec<String> {
        let name = |member: String| {
            Spec::around("averaged", &self.averaging, "of", Spec::nested(&member)).to_string()
        };
        self.learner.members().into_iter().map(name).collect()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        self.averaging.validate()?;
        let fit = |number: usize| self.fit_one(sample, &run.child(number as u64));
        let mut rungs: Vec<Vec<Box<dyn Fitted<T>>>> = Vec::new();
        for models in run.try_map(self.averaging.fits, fit)? {
            rungs.resize_with(models.len(), Vec::new);
            rungs.iter_mut().zip(models).for_each(|(rung, model)| rung.push(model));
        }
        Ok(rungs.into_iter().map(T::average).collect())
    }
}

/// Fits whose predictions are averaged: class probabilities, or numbers (joint probabilities as such, not as logarithms).
#[derive(Debug)]
pub struct FittedBag<T: Task> {
    fits: Vec<Box<dyn Fitted<T>>>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    fits: Vec<Record>,
}

impl<T: Task> Fitted<T> for FittedBag<T> {
    fn width(&self) -> usize {
        self.fits[0].width()
    }

    fn block(&self) -> usize {
        self.fits.iter().map(|fit| fit.block()).max().unwrap_or(SMALL_BLOCK)
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let width = self.width();
        let (mut predicted, mut before) = (vec![0.0; out.len()], vec![0.0; width]);
        for (k, fit) in self.fits.iter().enumerate() {
            fit.predict_into(x, &mut predicted)?;
            if k == 0 {
                out.copy_from_slice(&predicted);
                continue;
            }
            // The running mean: one prediction beside it, however many fits there are.
            let weights = [k as f64 / (k + 1) as f64, 1.0 / (k + 1) as f64];
            for (mean, new) in out.chunks_exact_mut(width).zip(predicted.chunks_exact(width)) {
                before.copy_from_slice(mean);
                T::mix(&weights, |part| if part == 0 { &before } else { new }, mean);
            }
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.fits.iter().try_for_each(|fit| fit.validate(inputs, width))
    }

    fn record(&self) -> Result<Record> {
        let fits = self.fits.iter().map(|fit| fit.record()).collect::<Result<_>>()?;
        Record::new(Self::KIND, Self::VERSION, &Body { fits })
    }

    fn parameters(&self) -> Parameters {
        let fits: Vec<Parameters> = self.fits.iter().map(|fit| fit.parameters()).collect();
        Parameters::new(Self::KIND).with("fits", fits)
    }

    /// Converged if all fits did.
    fn diagnostics(&self) -> Diagnostics {
        let converged: Option<Vec<bool>> =
            self.fits.iter().map(|fit| fit.diagnostics().converged).collect();
        Diagnostics {
            converged: converged.map(|all| all.iter().all(|c| *c)),
            ..Diagnostics::default()
        }
    }
}

impl<T: Task> Stored<T> for FittedBag<T> {
    const KIND: &'static str = "bagged";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        record.require(!body.fits.is_empty())?;
        let fits = body.fits.into_iter().map(|fit| registry.model(&fit));
        Ok(Self { fits: fits.collect::<Result<_>>()? })
    }
}
