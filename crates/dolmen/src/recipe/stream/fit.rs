//! The way from blocks to a model.

use std::path::Path;

use super::Source;
use super::combined::OfSample;
use super::context::Context;
use super::lockstep::{AllFits, Lockstep};
use super::look::Look;
use super::predicted::Predictors;
use super::weights::Streamable;
use crate::catalogue::Catalogue;
use crate::ensemble::{Ending, Ensemble};
use crate::error::{Error, Result, within};
use crate::learner::MOST_FOLDS;
use crate::memory;
use crate::plan::{Lot, PlanSpec};
use crate::recipe::fit::{Fit, Stacked};
use crate::recipe::{Data, Recipe, TargetTask, Truth};
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

/// Where the rows are, what the first look at them has told, and where their matrix is to be kept.
struct Way<'a> {
    source: &'a dyn Source,
    look: &'a Look,
    kept: Option<&'a Path>,
}

/// Bytes that a fit in memory takes for each byte of its table.
const PER_BYTE: u64 = 4;
/// Bytes that it takes for each row beside, without a target and with one: what every combination that is tried says of each class. Of two to three
/// classes they were measured, of one and two members.
const PER_ROW: (u64, u64) = (150, 900);

/// The memory that is named, or half of what can be had. Of a limited address space no more than half is taken in any case: it holds what is
/// only reserved, too, and a program that asks for more is ended.
pub(in crate::recipe) fn may_take(memory: Option<&str>) -> Result<u64> {
    let space = memory::address_space().map_or(u64::MAX, |space| space / 2);
    match memory {
        Some(text) => Ok(memory::parse(text)?.min(space)),
        None => Ok(memory::available().unwrap_or(u64::MAX) / 2),
    }
}

/// About how large a table is in memory.
pub(super) struct Size {
    pub(super) bytes: u64,
    rows: u64,
}

impl Size {
    /// That of blocks, as far as is known.
    pub(super) fn of(blocks: &Blocks) -> Self {
        let rows = blocks.rows().unwrap_or_default();
        let bytes = memory::size(&[rows, blocks.columns(), size_of::<f64>()]);
        Self { bytes, rows: rows as u64 }
    }

    /// That of a file.
    pub(super) fn estimate(path: &Path) -> Result<Self> {
        /// Texts of CSV are about as long as the numbers they become, compressed files some times shorter.
        const PACKED: u64 = 5;
        /// A row of CSV.
        const LINE: u64 = 100;
        if path.as_os_str() == "-" {
            return Ok(Self { bytes: 0, rows: 0 });
        }
        let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let of_text = |bytes: u64| Self { bytes, rows: bytes / LINE };
        match extension.as_str() {
            "parquet" | "pq" => {
                let (rows, columns) = table::parquet_size(path)?;
                let bytes = rows.saturating_mul(columns).saturating_mul(size_of::<f64>() as u64);
                Ok(Self { bytes, rows })
            }
            "gz" | "zst" => Ok(of_text(size * PACKED)),
            _ => Ok(of_text(size)),
        }
    }
}

/// All blocks as one table.
pub(super) fn whole(blocks: &Blocks, run: &Run) -> Result<Table> {
    let mut parts = Vec::new();
    blocks.visit(run, &mut |_, block| {
        parts.push(block);
        Ok(())
    })?;
    Table::stacked(parts)
}

/// Blocks that are in memory together: one that is read ahead, one that is worked on, and that one as numbers.
pub(in crate::recipe) const AT_ONCE: usize = 3;

/// Refuses a memory that cannot hold the blocks that are read, or less than the work with them takes; says how much is enough for both.
pub(super) fn check_least(blocks: &Blocks, path: &Path, available: u64, least: u64) -> Result<()> {
    let rows = blocks.rows().map_or(BLOCK, |rows| rows.min(BLOCK));
    let needed = memory::size(&[rows, blocks.columns(), size_of::<f64>(), AT_ONCE]);
    check_memory(format!("reading {} block by block", path.display()), needed.max(least), available)
}

fn check_memory(what: String, needed: u64, available: u64) -> Result<()> {
    if needed <= available {
        return Ok(());
    }
    let enough = memory::written(needed);
    Err(memory::refusal(what, needed, available).with_hint(format!(
        "--memory {enough} is enough to read it; fewer columns (--keep) need less"
    )))
}

/// Bytes that a row of the sample takes.
fn of_sampled_row(columns: usize) -> u64 {
    COPIES * (size_of::<f64>() * (columns + MORE_COLUMNS)) as u64
}

/// Bytes that the least sample takes.
fn least_for_sample(columns: usize) -> u64 {
    FEWEST_SAMPLED as u64 * of_sampled_row(columns)
}

impl Recipe {
    /// Opens a file, or a folder or pattern of Parquet files: read whole where a fit to it takes no more memory than it may, else
    /// block by block.
    pub fn open(&self, path: &Path, run: &Run) -> Result<Opened> {
        let memory = self.memory_bytes()?;
        let is_one = path.is_file() || path.as_os_str() == "-";
        if is_one && self.takes_whole(&Size::estimate(path)?) <= memory {
            return Ok(Opened::Whole(Box::new(self.read_data(path, run)?)));
        }
        let sparing = self.sparing(memory)?;
        let blocks = Blocks::open_sparing(path, &self.read_options()?, BLOCK, &sparing, run)?;
        if !is_one && self.takes_whole(&Size::of(&blocks)) <= memory {
            let data = self.data_known(whole(&blocks, run)?, blocks.known());
            let data = data.map_err(|error| blocks.locate(error, 0))?;
            return Ok(Opened::Whole(Box::new(data)));
        }
        check_least(&blocks, path, memory, least_for_sample(blocks.columns()))?;
        Ok(Opened::Blocks(Box::new(blocks)))
    }

    /// About the memory that a fit to all rows at once takes.
    fn takes_whole(&self, size: &Size) -> u64 {
        let per_row = if self.target.is_some() { PER_ROW.1 } else { PER_ROW.0 };
        let beside = size.rows.saturating_mul(per_row);
        size.bytes.saturating_mul(PER_BYTE).saturating_add(beside)
    }

    /// How much memory a fit may take.
    fn memory_bytes(&self) -> Result<u64> {
        may_take(self.memory.as_deref())
    }

    /// Fits a model to a table that is read block by block, in about the recipe's memory beside the blocks. Learners that have
    /// [passes](crate::learner::pass) are fitted to all rows, the others to a sample drawn by the seed.
    pub fn fit_blocks(&self, source: &dyn Source, run: &Run) -> Result<Fit> {
        self.fit_blocks_with(Catalogue::standard(), source, None, run)
    }

    /// The same with a program's own learners and combiners, and with a file in which the out-of-sample matrix of all rows is kept, as
    /// Parquet. [`Fit::matrix`] is that of the sample.
    pub fn fit_blocks_with(
        &self,
        catalogue: &Catalogue,
        source: &dyn Source,
        kept: Option<&Path>,
        run: &Run,
    ) -> Result<Fit> {
        self.check_alone()?;
        self.check_streamed()?;
        let run = &run.seeded(self.seed);
        let memory = self.memory_bytes()?;
        let least = least_for_sample(source.columns());
        check_memory("a fit to blocks of rows".into(), least, memory)?;
        let affordable = memory / of_sampled_row(source.columns());
        let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
        let look = Look::new(self, source, affordable.min(MOST_SAMPLED), run)?;
        let way = &Way { source, look: &look, kept };
        match &look.data.truth {
            Truth::None => self.fit_streamed::<Density>(catalogue, way, &(), run),
            Truth::Classes(labels) if self.task == Some(TargetTask::Joint) => {
                self.fit_streamed::<Joint>(catalogue, way, labels, run)
            }
            Truth::Classes(labels) => {
                self.fit_streamed::<Classification>(catalogue, way, labels, run)
            }
            Truth::Numbers(values) => self.fit_streamed::<Regression>(catalogue, way, values, run),
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
                let hint = "give more memory (--memory) where one machine can hold the table, or fit to a part of its rows";
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
        let folds = planned.or(self.folds).unwrap_or_else(|| self.usual_folds::<T>());
        within("folds", folds, 2..=MOST_FOLDS)?;
        Ok(folds)
    }

    fn fit_streamed<T: Streamable>(
        &self,
        catalogue: &Catalogue,
        &Way { source, look, kept }: &Way<'_>,
        target: &T::Target,
        run: &Run,
    ) -> Result<Fit> {
        let sample = look.data.sample::<T>(target)?;
        let learners = self.learners(catalogue, &sample)?;
        let folds = self.streamed_folds::<T>()?;
        let lot = Lot::new(folds.max(1), &run.stream("plan"));
        let sample_folds: Vec<usize> =
            look.lots.iter().map(|&number| if folds > 0 { lot.fold(number) } else { 0 }).collect();
        if let Some(first) = sample_folds.first()
            && folds > 0
            && sample_folds.iter().all(|fold| fold == first)
        {
            return Err(lot.too_few("all rows fall into one fold"));
        }
        let context = &Context::new(self, look, target.classes().to_vec(), lot);
        // Columns that are left out are not read again.
        let narrowed = source.narrowed(&context.columns());
        let source = narrowed.as_deref().unwrap_or(source);
        let lockstep = Lockstep {
            source,
            context,
            learners: &learners,
            folds,
            on_failure: self.on_failure(),
            sample,
            sample_folds: &sample_folds,
        };
        if folds > 0 {
            // The reading in which rows held out are predicted.
            source.plan(run);
        }
        let mut fits = lockstep.fit(&run.stream("stack"))?;
        let mut notes = vec![described(look, &fits)];
        notes.extend(fits.failures.iter().map(|(name, f)| format!("{name} left: {}", f.message)));
        let models = fits
            .learners
            .iter_mut()
            .flat_map(|own| own.members.clone().into_iter().zip(std::mem::take(&mut own.all)))
            .collect();
        let stacked = if folds == 0 {
            let ensemble = Ensemble::with_equal_weights(models)?;
            let (plan, combiner, failures) = (None, String::new(), Vec::new());
            Stacked {
                ensemble,
                plan,
                folds,
                combiner,
                failures,
                notes,
                of_all: None,
                sampled: None,
            }
        } else {
            let predictors = Predictors { source, context, learners: &fits.learners, target, run };
            let of_sample =
                OfSample { sample, folds: &sample_folds, all: look.rows, range: look.range };
            self.combined(catalogue, &of_sample, &predictors.asked(kept)?, models, notes)?
        };
        self.finish(catalogue, &look.data, (&sample, look.rows), stacked, run)
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
    if !on_sample.is_empty() {
        let names = on_sample.join(", ");
        words.push(format!(
            "to a sample of {sampled} rows were fitted, because they need all rows at once: {names}"
        ));
    }
    words.join("; ")
}
