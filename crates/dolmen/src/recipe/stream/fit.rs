//! The way from blocks to a model.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;

use super::Source;
use super::context::Context;
use super::judged::Judged;
use super::lockstep::{AllFits, LearnerFits, Lockstep};
use super::look::Look;
use super::matrix::DiskMatrix;
use super::predict::{BlockPredictions, Column, PredictWork, from_numbers};
use super::weights::Streamable;
use super::work::taken;
use crate::catalogue::Catalogue;
use crate::combine::{Combination, Combiner, FoundWeights, LinearPool};
use crate::ensemble::{Check, Ending, Ensemble, Stack};
use crate::error::{Error, Result};
use crate::memory;
use crate::oos::OutOfSample;
use crate::plan::{Lot, Plan, PlanSpec};
use crate::recipe::fit::{Fit, Stacked};
use crate::recipe::{CheckPolicy, Data, Recipe, TargetTask, Truth};
use crate::run::Run;
use crate::table::{self, BLOCK, Blocks, Table};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression};

/// Rows of the sample, whatever the memory: more would cost members without passes much time, and tell little more.
const MOST_SAMPLED: usize = 1_000_000;
const FEWEST_SAMPLED: usize = 1000;
/// Copies of the sample that fits and checks may hold, each of all columns and a few more.
const COPIES: u64 = 8;
const MORE_COLUMNS: usize = 8;

/// A table as a fit can take it.
#[derive(Debug)]
pub enum Opened {
    /// Whole, taken apart.
    Whole(Box<Data>),
    /// Block by block.
    Blocks(Box<Blocks>),
}

/// Bytes that a fit in memory takes for each byte of its table.
const PER_BYTE: u64 = 4;

/// The memory that is named, or half of what can be had.
pub(super) fn may_take(memory: Option<&str>) -> Result<u64> {
    match memory {
        Some(text) => memory::parse(text),
        None => Ok(memory::available().unwrap_or(u64::MAX) / 2),
    }
}

impl Recipe {
    /// Opens a file, or a folder or pattern of Parquet files: read whole where a fit to it takes no more memory than it may, else
    /// block by block.
    pub fn open(&self, path: &Path, run: &Run) -> Result<Opened> {
        let memory = self.memory_bytes()?;
        let is_one = path.is_file() || path.as_os_str() == "-";
        if is_one && estimate(path)?.saturating_mul(PER_BYTE) <= memory {
            return Ok(Opened::Whole(Box::new(self.read_data(path, run)?)));
        }
        let blocks = Blocks::open(path, &self.read_options()?, BLOCK, run)?;
        let cells = [blocks.rows().unwrap_or_default(), blocks.names().len(), size_of::<f64>()];
        if !is_one && memory::size(&cells).saturating_mul(PER_BYTE) <= memory {
            let mut parts = Vec::new();
            blocks.visit(run, &mut |_, block| {
                parts.push(block);
                Ok(())
            })?;
            let data = self.data(Table::stacked(parts)?).map_err(|error| error.in_file(path))?;
            return Ok(Opened::Whole(Box::new(data)));
        }
        Ok(Opened::Blocks(Box::new(blocks)))
    }

    /// How much memory a fit may take.
    fn memory_bytes(&self) -> Result<u64> {
        may_take(self.memory.as_deref())
    }

    /// Fits a model to a table that is read block by block, in about the recipe's memory beside the blocks. Learners that have
    /// [passes](crate::learner::pass) are fitted to all rows, the others to a sample drawn by the seed.
    pub fn fit_blocks(&self, source: &dyn Source, run: &Run) -> Result<Fit> {
        self.fit_blocks_with(Catalogue::standard(), source, run)
    }

    /// The same with a program's own learners and combiners.
    pub fn fit_blocks_with(
        &self,
        catalogue: &Catalogue,
        source: &dyn Source,
        run: &Run,
    ) -> Result<Fit> {
        self.check_alone()?;
        self.check_streamed()?;
        let run = &run.seeded(self.seed);
        let row = (size_of::<f64>() * (source.columns() + MORE_COLUMNS)) as u64;
        let memory = self.memory_bytes()?;
        let affordable = usize::try_from(memory / (COPIES * row)).unwrap_or(usize::MAX);
        if affordable < FEWEST_SAMPLED {
            let needed = FEWEST_SAMPLED as u64 * COPIES * row;
            let what = "a fit to blocks of rows".into();
            return Err(Error::Memory { what, needed, available: memory });
        }
        let look = Look::new(self, source, affordable.min(MOST_SAMPLED), run)?;
        match &look.data.truth {
            Truth::None => self.fit_streamed::<Density>(catalogue, source, &look, &(), run),
            Truth::Classes(labels) if self.task == Some(TargetTask::Joint) => {
                self.fit_streamed::<Joint>(catalogue, source, &look, labels, run)
            }
            Truth::Classes(labels) => {
                self.fit_streamed::<Classification>(catalogue, source, &look, labels, run)
            }
            Truth::Numbers(values) => {
                self.fit_streamed::<Regression>(catalogue, source, &look, values, run)
            }
        }
    }

    /// Refuses what needs all rows in memory.
    fn check_streamed(&self) -> Result<()> {
        let plan = self.plan_request()?;
        let asked = [
            ("time", self.time.is_some()),
            ("plan", plan.is_some_and(|plan| !matches!(plan.spec, PlanSpec::Hashed(_)))),
            ("ending", self.ending != Ending::Refit),
            ("keep_matrix", self.keep_matrix),
            ("explain", self.explain),
            ("budget", self.budget.is_some()),
            ("max_members", self.max_members.is_some()),
            ("predict_under", self.predict_under.is_some()),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((name, _)) => {
                let expected = match name {
                    "plan" => {
                        "hashed(folds=..), or left out, where the table is read block by block"
                    }
                    _ => "left out where the table is read block by block",
                };
                let hint = "give more memory (--memory), or fit to a part of the rows";
                Err(Error::param(name, expected, "given").with_hint(hint))
            }
        }
    }

    /// Folds of a table that is read block by block; 0 for a member as it is.
    fn streamed_folds<T: Streamable>(&self) -> Result<usize> {
        if self.alone {
            return Ok(0);
        }
        let planned = match self.plan_request()?.map(|plan| plan.spec) {
            Some(PlanSpec::Hashed(hashed)) => Some(hashed.folds),
            _ => None,
        };
        Ok(planned.or(self.folds).unwrap_or_else(|| self.usual_folds::<T>()))
    }

    fn fit_streamed<T: Streamable>(
        &self,
        catalogue: &Catalogue,
        source: &dyn Source,
        look: &Look,
        target: &T::Target,
        run: &Run,
    ) -> Result<Fit> {
        let sample = look.data.sample::<T>(target)?;
        let learners = self.learners(catalogue, &sample)?;
        let folds = self.streamed_folds::<T>()?;
        let lot = Lot::new(folds.max(1), &run.stream("plan"));
        let sample_folds: Vec<usize> =
            look.lots.iter().map(|&number| if folds > 0 { lot.fold(number) } else { 0 }).collect();
        let context = &Context::new(self, look, target.classes().to_vec(), lot);
        let lockstep = Lockstep {
            source,
            context,
            learners: &learners,
            folds,
            on_failure: self.on_failure(),
            sample,
            sample_folds: &sample_folds,
        };
        let stack_run = &run.stream("stack");
        let mut fits = lockstep.fit(stack_run)?;
        let mut notes = vec![described(look, &fits)];
        notes.extend(fits.failures.iter().map(|(name, f)| format!("{name} left: {}", f.message)));
        let stacked = if folds == 0 {
            let models =
                fits.learners.into_iter().flat_map(|own| own.members.into_iter().zip(own.all));
            let ensemble = Ensemble::with_equal_weights(models.collect())?;
            let (plan, combiner, failures) = (None, String::new(), Vec::new());
            Stacked { ensemble, plan, folds, combiner, failures, notes, of_all: None }
        } else {
            let plan = Plan::from_folds(&sample_folds)?;
            let specs = self.combiner_specs::<T>(sample.x());
            let combiners: Vec<Box<dyn Combiner<T>>> =
                specs.iter().map(|spec| catalogue.combiner(spec)).collect::<Result<_>>()?;
            let predicted = Predicted::new(source, context, &fits.learners, run)?;
            let stack = self.configured(Stack::choosing(combiners), sample.rows(), &plan);
            // Pairs of folds would be fitted again: the matrix is what there is.
            let stack =
                if self.check == CheckPolicy::None { stack } else { stack.check(Check::Matrix) };
            if self.check == CheckPolicy::Nested {
                notes.push("read block by block the stack is checked on its matrix: a nested check would fit all members again for each pair of folds".into());
            }
            let (of_all, is_refined) = (RefCell::new(None), Cell::new(false));
            let models: Vec<_> = fits
                .learners
                .iter_mut()
                .flat_map(|own| own.members.clone().into_iter().zip(std::mem::take(&mut own.all)))
                .collect();
            let rows = PredictedRows { source, context, learners: &fits.learners, target, run };
            let refine = |combination: &dyn Combination<T>| {
                let Some(found) = combination.found() else {
                    let refined = rows.refine(combination)?;
                    is_refined.set(refined.is_some());
                    return Ok(refined);
                };
                let options = found.options.clone();
                let solution = T::weigh(&predicted.all, &found.solution.weights, &options, run)?;
                let Some(solution) = solution else { return Ok(None) };
                let judged = Judged::new(&predicted.all, &solution.weights, T::pool)?;
                of_all.replace(Some((solution.clone(), judged)));
                is_refined.set(true);
                let refined = LinearPool::searched(FoundWeights { options, solution });
                Ok(Some(Box::new(refined) as Box<dyn Combination<T>>))
            };
            let weights = sample.weights().map(<[f64]>::to_vec);
            let matrix = OutOfSample::from_columns(predicted.of_sample, target.clone(), weights)?;
            let ensemble =
                stack.combine_fitted(&sample, &plan, matrix, models, &refine, stack_run)?;
            let parts = [
                ("the combination", !is_refined.get()),
                ("the calibration", self.calibration.is_some()),
            ];
            let parts: Vec<&str> =
                parts.into_iter().filter(|part| part.1).map(|part| part.0).collect();
            if !parts.is_empty() && look.lots.len() < look.rows {
                notes.push(format!("from the sample come, too: {}", parts.join(" and ")));
            }
            let (plan, combiner) = (Some(plan), specs[0].kind.clone());
            let (failures, of_all) = (Vec::new(), of_all.into_inner());
            Stacked { ensemble, plan, folds, combiner, failures, notes, of_all }
        };
        self.finish(catalogue, &look.data, (&sample, sample.rows()), stacked, run)
    }
}

/// What the user should know of how the rows were used.
fn described<T: Streamable>(look: &Look, fits: &AllFits<T>) -> String {
    let (rows, sampled) = (look.rows, look.lots.len());
    let on_sample: Vec<&str> = fits
        .learners
        .iter()
        .filter(|own| own.is_sampled && sampled < rows)
        .flat_map(|own| own.members.iter().map(String::as_str))
        .collect();
    let mut words = vec![format!("the table was read block by block: {rows} rows")];
    if sampled < rows {
        words.push(format!(
            "what the check says, and all errors, come from a sample of {sampled} rows"
        ));
    }
    if !on_sample.is_empty() {
        let names = on_sample.join(", ");
        words.push(format!(
            "to this sample were fitted, because they need all rows at once: {names}"
        ));
    }
    words.join("; ")
}

/// About the bytes of a file's table in memory.
pub(super) fn estimate(path: &Path) -> Result<u64> {
    /// Texts of CSV are about as long as the numbers they become, compressed files some times shorter.
    const PACKED: u64 = 5;
    if path.as_os_str() == "-" {
        return Ok(0);
    }
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "parquet" | "pq" => table::parquet_cells(path).map(|cells| cells * size_of::<f64>() as u64),
        "gz" | "zst" => Ok(size * PACKED),
        _ => Ok(size),
    }
}

/// What every member said about rows it had not seen.
struct Predicted {
    /// Of all rows, what weights need.
    all: DiskMatrix,
    /// Of the rows of the sample, everything.
    of_sample: Vec<(String, Vec<f64>)>,
}

impl Predicted {
    fn new<T: Streamable>(
        source: &dyn Source,
        context: &Context,
        learners: &[LearnerFits<T>],
        run: &Run,
    ) -> Result<Self> {
        let names: Vec<String> = learners.iter().flat_map(|own| own.members.clone()).collect();
        let mut all = DiskMatrix::new(vec![1; names.len()])?;
        let mut of_sample: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        source.work(
            &PredictWork::new(context, learners),
            &mut |predicted| {
                let predicted: BlockPredictions = taken(predicted)?;
                for (own, Column(sampled)) in of_sample.iter_mut().zip(predicted.sampled) {
                    own.extend(sampled);
                }
                let columns = predicted.entries.into_iter().map(|Column(entries)| entries);
                all.push(&predicted.weights, &columns.collect::<Vec<_>>())
            },
            run,
        )?;
        Ok(Self { all, of_sample: names.into_iter().zip(of_sample).collect() })
    }
}

/// Who can say once more what every member says about rows it has not seen, as whole prediction rows.
struct PredictedRows<'a, T: Streamable> {
    source: &'a dyn Source,
    context: &'a Context,
    learners: &'a [LearnerFits<T>],
    /// That of the sample: what targets look like.
    target: &'a T::Target,
    run: &'a Run,
}

impl<T: Streamable> PredictedRows<'_, T> {
    /// The same kind of combination from all rows, if it can be had block by block. The prediction rows are written to disk once, when it
    /// first asks for them.
    fn refine(&self, combination: &dyn Combination<T>) -> Result<Option<Box<dyn Combination<T>>>> {
        let names: Vec<String> = self.learners.iter().flat_map(|own| own.members.clone()).collect();
        let disk = OnceCell::new();
        combination.learned_from_blocks(
            &|show| {
                if disk.get().is_none() {
                    let _ = disk.set(self.written(names.len())?);
                }
                disk.get().into_iter().try_for_each(|disk| {
                    disk.show(&mut |columns, weights| {
                        if weights.iter().all(|weight| *weight == 0.0) {
                            return Ok(());
                        }
                        let mut columns = columns.into_iter();
                        let truth = columns.next().unwrap_or_default();
                        let truth = from_numbers(truth, self.target)
                            .ok_or_else(|| Error::param("stored truth", "whole", "damaged"))?;
                        let members = names.iter().cloned().zip(columns).collect();
                        show(&OutOfSample::from_columns(members, truth, Some(weights.to_vec()))?)
                    })
                })
            },
            self.run,
        )
    }

    fn written(&self, members: usize) -> Result<DiskMatrix> {
        let width = T::width(self.target);
        let widths = std::iter::once(1).chain(std::iter::repeat_n(width, members));
        let mut disk = DiskMatrix::new(widths.collect())?;
        let work = PredictWork::new(self.context, self.learners).keeping_rows();
        self.source.work(
            &work,
            &mut |predicted| {
                let predicted: BlockPredictions = taken(predicted)?;
                let columns = predicted.rows.into_iter().map(|Column(rows)| rows);
                disk.push(&predicted.weights, &columns.collect::<Vec<_>>())
            },
            self.run,
        )?;
        Ok(disk)
    }
}
