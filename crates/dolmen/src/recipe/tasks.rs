//! The fits of a stack as tasks that can be done anywhere: what one learner's members say about the rows of some splits, and a learner
//! fitted to all rows.
//!
//! A task is small: it names the learner and the splits by their numbers, and the random numbers by their key. Who does it has the same rows and the same
//! recipe, which give the same learners and the same plan. What comes back takes its place by number, so that the result is the same, bit for
//! bit, whoever did what and in which order.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::data::{Data, Truth};
use super::fit::Fit;
use super::model::Anywhere;
use super::{Recipe, TargetTask};
use crate::catalogue::Catalogue;
use crate::error::{Error, Place, Result};
use crate::learner::{Block, Fitted, Learner, Sample};
use crate::plan::Plan;
use crate::run::Run;
use crate::store::{Record, Registry};
use crate::task::{Classification, Density, Joint, Regression, Task};

/// Tasks into which one learner's splits are cut at most: pairs of folds are many, and each is small.
const MOST_TASKS: usize = 16;

/// Somebody who does tasks: threads of other processes, a cluster.
pub trait Doer: Send + Sync {
    /// Does all of them, in any order, and gives what came of each, in the order of the tasks. Called from several threads at a
    /// time, with the number of the learner whose tasks they are: those of one learner take about the same time.
    fn all(&self, learner: usize, tasks: &[Vec<u8>]) -> Result<Vec<Vec<u8>>>;
}

/// One task.
#[derive(Debug, Serialize, Deserialize)]
struct Sending {
    /// The number of the learner.
    learner: usize,
    /// What its random numbers come from.
    key: u64,
    what: What,
}

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
enum What {
    /// Some splits of the plan with this fingerprint.
    Splits { plan: String, splits: Range<usize> },
    /// All rows.
    AllRows,
}

/// What came of a task.
#[derive(Debug, Serialize, Deserialize)]
enum Came {
    Block(Block),
    Models(Vec<Record>),
    /// The learner said this.
    Failed(String),
}

impl Recipe {
    /// Fits a model as [`Recipe::fit_with`] does, with the members' fits done by others. The model is the same, bit for bit.
    pub fn fit_elsewhere(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        doer: Arc<dyn Doer>,
        run: &Run,
    ) -> Result<Fit> {
        self.fit_by(catalogue, data, None, Some(doer), run)
    }

    /// Does one task of a fit of this recipe to these rows.
    pub fn do_task(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        task: &[u8],
        run: &Run,
    ) -> Result<Vec<u8>> {
        let task: Sending = read(task)?;
        let run = &run.seeded(self.seed);
        let came = match &data.truth {
            Truth::None => self.came_of::<Density>(catalogue, data, &(), task, run),
            Truth::Classes(labels) if self.task == Some(TargetTask::Joint) => {
                self.came_of::<Joint>(catalogue, data, labels, task, run)
            }
            Truth::Classes(labels) => {
                self.came_of::<Classification>(catalogue, data, labels, task, run)
            }
            Truth::Numbers(values) => {
                self.came_of::<Regression>(catalogue, data, values, task, run)
            }
        };
        write(&came?)
    }

    fn came_of<T: Anywhere>(
        &self,
        catalogue: &Catalogue,
        data: &Data,
        target: &T::Target,
        task: Sending,
        run: &Run,
    ) -> Result<Came> {
        let sample = data.sample::<T>(target)?;
        let learners = self.learners(catalogue, &sample)?;
        let learner = learners.get(task.learner).ok_or_else(of_another_fit)?;
        let own = run.with_key(task.key);
        let came = match task.what {
            What::AllRows => learner.fit(&sample, &own).and_then(|models| {
                models.iter().map(|model| model.record()).collect::<Result<_>>().map(Came::Models)
            }),
            What::Splits { plan, splits } => {
                let whole = self.plan_for(&sample, &mut Vec::new(), run)?;
                let part = whole.and_then(|whole| whole.named(&plan)?.part(splits));
                learner
                    .out_of_sample(&sample, &part.ok_or_else(of_another_fit)?, &own)
                    .map(Came::Block)
            }
        };
        match came {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => Ok(Came::Failed(error.to_string())),
            came => came,
        }
    }
}

impl Plan {
    /// This plan or that of its pairs of folds, whichever has the fingerprint.
    fn named(self, fingerprint: &str) -> Option<Self> {
        if self.fingerprint() == fingerprint {
            return Some(self);
        }
        Some(self.of_pairs()).filter(|pairs| pairs.fingerprint() == fingerprint)
    }
}

/// The learners, with their fits to all rows and to the rows of splits done by somebody else.
pub(super) fn sent<T: Task>(
    learners: Vec<Box<dyn Learner<T>>>,
    rows: usize,
    doer: &Arc<dyn Doer>,
    registry: &Registry,
) -> Vec<Box<dyn Learner<T>>> {
    let sent = |(number, inner): (usize, Box<dyn Learner<T>>)| {
        let (doer, registry) = (Arc::clone(doer), registry.clone());
        Box::new(Sent { number, inner, rows, doer, registry }) as Box<dyn Learner<T>>
    };
    learners.into_iter().enumerate().map(sent).collect()
}

/// A learner whose fits somebody else does.
struct Sent<T: Task> {
    number: usize,
    inner: Box<dyn Learner<T>>,
    /// Rows of the table; what is learned from fewer is not known elsewhere.
    rows: usize,
    doer: Arc<dyn Doer>,
    registry: Registry,
}

impl<T: Task> Debug for Sent<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sent").field(&self.inner).finish()
    }
}

impl<T: Task> Sent<T> {
    fn done(&self, parts: Vec<What>, run: &Run) -> Result<Vec<Came>> {
        run.check()?;
        let task = |what| write(&Sending { learner: self.number, key: run.key(), what });
        let tasks = parts.into_iter().map(task).collect::<Result<Vec<_>>>()?;
        let done = self.doer.all(self.number, &tasks)?;
        run.check()?;
        if done.len() != tasks.len() {
            return Err(Error::shape("outcomes of tasks", tasks.len(), done.len()));
        }
        done.iter().map(|bytes| read(bytes)).collect()
    }
}

impl<T: Task> Learner<T> for Sent<T> {
    fn members(&self) -> Vec<String> {
        self.inner.members()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        if sample.rows() != self.rows {
            return self.inner.fit(sample, run);
        }
        match self.done(vec![What::AllRows], run)?.pop() {
            Some(Came::Models(records)) => {
                records.iter().map(|record| self.registry.restore(record)).collect()
            }
            Some(Came::Failed(message)) => Err(Error::data(Place::default(), message)),
            _ => Err(of_another_fit()),
        }
    }

    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        if sample.rows() != self.rows {
            return self.inner.out_of_sample(sample, plan, run);
        }
        let splits = plan.splits().len();
        let size = splits.div_ceil(MOST_TASKS).max(1);
        let parts: Vec<Range<usize>> =
            (0..splits).step_by(size).map(|first| first..(first + size).min(splits)).collect();
        let name = plan.fingerprint();
        let what =
            |splits: &Range<usize>| What::Splits { plan: name.clone(), splits: splits.clone() };
        let came = self.done(parts.iter().map(what).collect(), run)?;
        let mut all = Block { splits: Vec::with_capacity(splits), failures: Vec::new() };
        for (part, came) in parts.iter().zip(came) {
            match came {
                Came::Block(mut block) if block.splits.len() == part.len() => {
                    all.splits.append(&mut block.splits);
                    block.failures.iter_mut().for_each(|failure| failure.split += part.start);
                    all.failures.append(&mut block.failures);
                }
                Came::Failed(message) => return Err(Error::data(Place::default(), message)),
                _ => return Err(of_another_fit()),
            }
            let what = self.members().into_iter().next().unwrap_or_default();
            run.progress().finish(&what, part.len() as u64, std::time::Duration::ZERO);
        }
        Ok(all)
    }

    fn rungs(&self) -> &[Box<dyn Learner<T>>] {
        self.inner.rungs()
    }
}

fn write(value: &impl Serialize) -> Result<Vec<u8>> {
    rmp_serde::to_vec(value).map_err(|e| Error::param("task", "one that can be sent", e))
}

fn read<V: DeserializeOwned>(bytes: &[u8]) -> Result<V> {
    rmp_serde::from_slice(bytes).map_err(|e| Error::param("task", "readable", e))
}

fn of_another_fit() -> Error {
    Error::param("task", "of the fit that it was sent for", "another")
        .with_hint("all who take part need the same version, recipe and rows")
}
