//! Tables that are read block by block, as often as needed: only a few blocks are ever in memory.
//!
//! A look through the whole table finds what reading it at once would find: which columns hold numbers, how those are
//! written, and the levels of categories. Every block then has the same columns, and the blocks one after the other are the
//! table that [`read`](super::read) gives, but for this:
//!
//! - A column of more different texts than memory is set aside for (about a million; fewer in tables of many columns of
//!   texts) has in each block the levels of that block.
//! - Whether such texts write numbers in some form is found from those kept, which come first. A later text that does not is
//!   an error; all at once, the column might have been one of texts.
//! - A fit may spare texts ([`Sparing`]): dates become numbers, and texts that tell rows apart have in each block the levels of that block.
//! - Whether numbers named like identifiers tell rows apart is found from the rows with the first million of them.

mod ahead;
mod columns;
mod files;
mod gather;
mod layout;
mod many;
mod reader;
mod sparing;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

pub use self::gather::ColumnSummary;
pub use self::sparing::Sparing;

use self::columns::Cells;
use self::files::{InputFile, Listed};
use self::layout::Layout;
use self::reader::{Reader, Stop};
use super::{Field, Kind, Known, ReadOptions, Schema, Table, WrittenNumbers};
use crate::error::{Error, Place, Result};
use crate::run::{Run, Work};

/// Rows of a block unless a program asks for another number.
pub const BLOCK: usize = 1 << 16;

/// What progress through rows is called.
pub const ROWS: &str = "rows";

/// A table in one or many files that is read block by block.
///
/// ```
/// use dolmen::table::{BLOCK, Blocks, ReadOptions};
/// use dolmen::Run;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("t.csv");
/// std::fs::write(&path, "x,colour\n1,red\n2,blue\n3,red\n")?;
/// let run = Run::new(0);
/// let blocks = Blocks::open(&path, &ReadOptions::default(), 2, &run)?;
/// let mut sizes = Vec::new();
/// blocks.visit(&run, &mut |first, block| {
///     sizes.push((first, block.rows()));
///     Ok(())
/// })?;
/// assert_eq!((blocks.rows(), sizes), (Some(3), vec![(0, 2), (2, 1)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Blocks {
    path: PathBuf,
    files: Vec<InputFile>,
    options: ReadOptions,
    /// Rows of a block.
    block: usize,
    /// What is known from the start.
    layout: Layout,
    /// What a look through told that was found necessary on the way.
    found: OnceLock<Layout>,
    passed_over: Option<String>,
}

impl Blocks {
    /// Opens a CSV file (also compressed), a Parquet file, a folder of Parquet files, or files whose names fit a pattern such
    /// as `data/*.parquet`, in the order of their names; and looks it through.
    pub fn open(path: &Path, options: &ReadOptions, block: usize, run: &Run) -> Result<Self> {
        Self::open_sparing(path, options, block, &Sparing::default(), run)
    }

    /// The same for a fit, which does not need all texts: dates become their numbers as they are read, and texts that tell rows apart
    /// are not gathered. [`Blocks::known`] says what was found.
    pub fn open_sparing(
        path: &Path,
        options: &ReadOptions,
        block: usize,
        sparing: &Sparing,
        run: &Run,
    ) -> Result<Self> {
        let Listed { files, passed_over } = files::list(path)?;
        let mut layout = Layout::looked_through(&files, options, false, sparing, run)
            .map_err(|error| files::locate(&files, path, error))?;
        layout.notes.extend(passed_over.clone());
        Ok(Self { passed_over, ..Self::new(path, files, options, block, layout)? })
    }

    /// The same for columns whose kinds are declared, such as those of a model: without a look through. Categories have the
    /// levels of their block; [`Schema::encode`] knows what to do with them. Columns that are read and not declared are
    /// looked at all the same, unless their type in a Parquet file says what they are; and so is CSV if numbers turn out
    /// not to be written plainly.
    pub fn open_declared(
        path: &Path,
        options: &ReadOptions,
        block: usize,
        run: &Run,
    ) -> Result<Self> {
        let Listed { files, passed_over } = files::list(path)?;
        let layout = match Layout::declared(&files, options) {
            Ok(Some(layout)) => Ok(layout),
            Ok(None) => Layout::looked_through(&files, options, false, &Sparing::default(), run),
            Err(error) => Err(error),
        };
        let layout = layout.map_err(|error| files::locate(&files, path, error))?;
        Ok(Self { passed_over, ..Self::new(path, files, options, block, layout)? })
    }

    fn new(
        path: &Path,
        files: Vec<InputFile>,
        options: &ReadOptions,
        block: usize,
        layout: Layout,
    ) -> Result<Self> {
        if block == 0 {
            return Err(Error::param("rows of a block", "at least 1", block));
        }
        let (path, options, found) = (path.to_path_buf(), options.clone(), OnceLock::new());
        Ok(Self { path, files, options, block, layout, found, passed_over: None })
    }

    /// The same table with these of its columns only.
    #[must_use]
    pub fn only(&self, names: &[String]) -> Self {
        Self {
            path: self.path.clone(),
            files: self.files.clone(),
            options: self.options.clone(),
            block: self.block,
            layout: self.layout().only(names),
            found: OnceLock::new(),
            passed_over: None,
        }
    }

    /// What the user should know of what is in the folder beside the files that are read.
    pub fn passed_over(&self) -> Option<&str> {
        self.passed_over.as_deref()
    }

    /// Number of rows; `None` of CSV that has been read neither whole nor looked through.
    pub fn rows(&self) -> Option<usize> {
        self.files.iter().map(|file| file.rows.get()).sum()
    }

    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Rows of a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The names of the columns that are read.
    #[expect(
        clippy::misnamed_getters,
        reason = "a layout also has the names of columns that are not read"
    )]
    pub fn names(&self) -> &[String] {
        &self.layout().kept
    }

    /// How many columns of the files are read; a column of dates that becomes several numbers is one.
    pub fn columns(&self) -> usize {
        self.layout().cells.iter().filter(|cells| !matches!(cells, Cells::Ignored)).count()
    }

    /// The columns that are read; categories whose levels differ from block to block have none here.
    pub fn schema(&self) -> Schema {
        let Layout { names, cells, .. } = self.layout();
        let fields = |(name, cells): (&String, &Cells)| {
            let kind = match cells {
                Cells::Ignored | Cells::Numbers | Cells::Written(_) | Cells::Dates(..) => {
                    Kind::Numeric
                }
                Cells::Levels(known) => Kind::Categorical { levels: known.levels.clone() },
                Cells::Texts => Kind::Categorical { levels: [].into() },
            };
            cells.names(name).into_iter().map(move |name| Field { name, kind: kind.clone() })
        };
        Schema::new(names.iter().zip(cells).flat_map(fields).collect())
    }

    /// What is known of columns of which no block shows all: dates that became numbers, and what texts look like whose levels
    /// differ from block to block.
    pub fn known(&self) -> Known {
        let Layout { names, cells, summaries, .. } = self.layout();
        let mut known = Known::default();
        for (name, cells) in names.iter().zip(cells) {
            let summary = summaries.iter().flatten().find(|summary| summary.name == *name);
            match (cells, summary) {
                (Cells::Dates(dates, _), _) => known.dates.push(dates.clone()),
                (Cells::Texts, Some(summary)) => {
                    known.looks.push((name.clone(), summary.look.clone()));
                }
                _ => {}
            }
        }
        known
    }

    /// What the look through told of the columns that are read; `None` if there was none.
    pub fn summaries(&self) -> Option<&[ColumnSummary]> {
        self.layout.summaries.as_deref()
    }

    /// The columns whose numbers are not written plainly.
    pub fn written(&self) -> &[WrittenNumbers] {
        &self.layout().written
    }

    /// What the user should know of how the table is read.
    pub fn notes(&self) -> &[String] {
        &self.layout().notes
    }

    /// Names the file and the row in it in an error about a block whose first row is `first`.
    pub fn locate(&self, error: Error, first: usize) -> Error {
        files::locate(&self.files, &self.path, error.after_rows(first))
    }

    /// Reads all blocks in order and shows each, with the number of its first row; every block but the last has exactly
    /// [`Blocks::block`] rows. The next block is made while one is looked at.
    pub fn visit(
        &self,
        run: &Run,
        visit: &mut dyn FnMut(usize, Table) -> Result<()>,
    ) -> Result<()> {
        let mut shown = 0;
        match self.pass(self.layout(), &mut shown, run, visit) {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Text) => {
                let sparing = Sparing::default();
                let layout =
                    Layout::looked_through(&self.files, &self.options, true, &sparing, run)
                        .map_err(|error| files::locate(&self.files, &self.path, error))?;
                let layout = self.found.get_or_init(|| layout);
                self.check_written_before(layout, shown)?;
                match self.pass(layout, &mut shown, run, visit) {
                    Ok(()) => Ok(()),
                    Err(Stop::Error(error)) => Err(error),
                    Err(Stop::Text) => Err(self.files[0].changed()),
                }
            }
        }
    }

    /// Plans one reading of all rows.
    pub(crate) fn plan_reading(&self, run: &Run) {
        plan(run, self.rows().unwrap_or_default());
    }

    fn layout(&self) -> &Layout {
        self.found.get().unwrap_or(&self.layout)
    }

    /// Refuses forms of numbers in which those of the rows already shown would mean something else.
    fn check_written_before(&self, layout: &Layout, shown: usize) -> Result<()> {
        let in_doubt = layout.written.iter().find(|numbers| {
            numbers.form.grouping == Some('.')
                && self.layout.written.iter().all(|known| known.column != numbers.column)
        });
        match in_doubt {
            Some(numbers) if shown > 0 => {
                let place =
                    Place { file: Some(self.path.clone()), ..Place::column(&numbers.column) };
                let problem = format!(
                    "points between thousands show only below row {shown}: those above look like decimal points"
                );
                Err(Error::data(place, problem).with_hint("write all numbers in the same way"))
            }
            _ => Ok(()),
        }
    }

    /// Shows the blocks behind the first `shown` rows, which are counted on.
    fn pass(
        &self,
        layout: &Layout,
        shown: &mut usize,
        run: &Run,
        visit: &mut dyn FnMut(usize, Table) -> Result<()>,
    ) -> Result<(), Stop> {
        let (from, mut first) = (*shown, 0);
        let mut planned = self.rows();
        if let Some(rows) = planned {
            plan(run, rows);
        }
        let mut started = Instant::now();
        ahead::each_block(|| Reader::new(self, layout, run), &mut |block, expected| {
            run.check()?;
            if planned.is_none() {
                planned = expected;
                plan(run, expected.unwrap_or_default());
            }
            let rows = block.rows();
            if first >= from {
                visit(first, block)?;
                *shown = first + rows;
            }
            first += rows;
            run.progress().finish(ROWS, rows as u64, started.elapsed());
            started = Instant::now();
            Ok(())
        })?;
        if first == 0 {
            let place = Place { file: Some(self.path.clone()), ..Place::default() };
            return Err(Stop::Error(Error::data(place, "there are no rows")));
        }
        Ok(())
    }
}

fn plan(run: &Run, rows: usize) {
    // A row costs next to nothing beside a fit.
    run.progress().plan_work(&Work { what: ROWS, steps: rows as u64, guess: 1e-6 });
}
