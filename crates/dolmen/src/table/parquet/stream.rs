//! Parquet a few rows at a time, for tables that are never whole in memory.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use rayon::prelude::*;

use super::column::{Builder, Holds, timed};
use super::damaged;
use super::guard::guarded;
use super::read::ParquetFile;
use crate::error::{Error, Place, Result};
use crate::run::Run;
use crate::table::look::Names;
use crate::table::missing::Missing;
use crate::table::moments::Timed;
use crate::table::pieces::{Decision, Parsed, Piece, Reading};
use crate::table::read::{ReadOptions, Wanted, in_another_order};

/// Most readers of one file: each opens it once more and decodes its columns one after the other.
const READERS: usize = 32;

/// What a file says of itself.
#[derive(Debug)]
pub(in crate::table) struct Description {
    pub(in crate::table) rows: usize,
    pub(in crate::table) names: Vec<String>,
    pub(in crate::table) notes: Vec<String>,
    /// What becomes of its columns: in most files their types say it.
    pub(in crate::table) decisions: Vec<Decision>,
    /// Which of them hold dates or times of day by their type.
    pub(in crate::table) timed: Vec<Option<Timed>>,
    /// The columns' types, in words.
    types: Vec<String>,
}

impl Description {
    /// Describes a file of which certain columns are wanted.
    pub(in crate::table) fn of(path: &Path, options: &ReadOptions) -> Result<Self> {
        let file = ParquetFile::open(path)?;
        let Names { names, notes } = file.names();
        let wanted = options.choose(&names).map_err(|e| e.in_file(path))?;
        let decide = |(j, wanted): (usize, &Wanted)| {
            let treatment = file.treatment(j, *wanted).map_err(|e| e.in_file(path))?;
            Ok(match treatment {
                None => Decision::Ignored,
                Some((Holds::Numbers | Holds::Moments(_), _)) => Decision::Numeric,
                Some((Holds::Categories, false)) => Decision::Categorical,
                Some((Holds::Categories, true)) => {
                    Decision::Written((*wanted == Wanted::Written).then_some(Wanted::Numeric))
                }
            })
        };
        let decisions = wanted.iter().enumerate().map(decide).collect::<Result<_>>()?;
        let types = (0..names.len()).map(|j| file.declared(j).to_string()).collect();
        let timed = (0..names.len()).map(|j| timed(file.stored(j))).collect();
        Ok(Self { rows: file.rows, names, notes, decisions, timed, types })
    }

    /// Refuses a further file whose columns are others than those of the first.
    pub(in crate::table) fn check_like(
        &self,
        path: &Path,
        first: &Self,
        first_path: &Path,
    ) -> Result<()> {
        let unlike = |column: &str, problem: String| {
            let place = Place { file: Some(path.into()), ..Place::column(column) };
            Err(Error::data(place, problem)
                .with_hint("files that are read together must have the same columns"))
        };
        let other = first_path.display();
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        if self.names != first.names && sorted(&self.names) == sorted(&first.names) {
            let place = Place { file: Some(path.into()), ..Place::default() };
            return Err(in_another_order(place, &self.names, &first.names, first_path));
        }
        if let Some(name) = first.names.iter().find(|name| !self.names.contains(name)) {
            return unlike(name, format!("it is missing here, but is in {other}"));
        }
        if let Some(name) = self.names.iter().find(|name| !first.names.contains(name)) {
            return unlike(name, format!("it is not in {other}"));
        }
        for (j, name) in first.names.iter().enumerate() {
            if self.decisions[j] != first.decisions[j] {
                let (found, expected) = (&self.types[j], &first.types[j]);
                return unlike(
                    name,
                    format!("it is of the type {found}, but {expected} in {other}"),
                );
            }
        }
        Ok(())
    }
}

/// The rows of a file, some at a time.
pub(in crate::table) struct Stream {
    path: PathBuf,
    groups: Vec<Group>,
    columns: usize,
    rows: usize,
    read: usize,
}

/// Columns that one reader decodes.
struct Group {
    columns: Vec<(usize, String, Holds)>,
    reader: ParquetRecordBatchReader,
    /// Rows that were decoded and not asked for yet.
    pending: Option<RecordBatch>,
}

impl Stream {
    /// Opens a file, whose columns are read so, as many rows at a time.
    pub(in crate::table) fn open(path: &Path, readings: &[Reading], rows: usize) -> Result<Self> {
        let file = ParquetFile::open(path)?;
        let holds = |reading: &Reading| match reading {
            Reading::Skip => None,
            Reading::Numbers => Some(Holds::Numbers),
            Reading::Texts => Some(Holds::Categories),
            Reading::Moments(timed) => Some(Holds::Moments(*timed)),
        };
        let wanted: Vec<(usize, String, Holds)> = readings
            .iter()
            .enumerate()
            .filter_map(|(j, reading)| Some((j, file.name(j).to_string(), holds(reading)?)))
            .collect();
        let mut groups = Vec::new();
        for columns in wanted.chunks(wanted.len().div_ceil(READERS).max(1)) {
            let places: Vec<usize> = columns.iter().map(|(j, ..)| *j).collect();
            let reader = guarded(path, || file.batches(&places, rows))?;
            groups.push(Group { columns: columns.to_vec(), reader, pending: None });
        }
        let (path, columns) = (path.to_path_buf(), readings.len());
        Ok(Self { path, groups, columns, rows: file.rows, read: 0 })
    }

    /// The next rows, as many as asked for if there are as many; nothing at the end.
    pub(in crate::table) fn next(
        &mut self,
        rows: usize,
        missing: &Missing,
        run: &Run,
    ) -> Result<Option<Parsed>> {
        run.check()?;
        let rows = rows.min(self.rows - self.read);
        if rows == 0 {
            return Ok(None);
        }
        let Self { path, groups, .. } = self;
        let read: Vec<Result<Vec<(usize, Piece)>>> =
            run.install(|| groups.par_iter_mut().map(|g| g.read(path, rows, missing)).collect());
        let mut pieces: Vec<Piece> = (0..self.columns).map(|_| Piece::Skipped).collect();
        for group in read {
            let group = group.map_err(|e| e.after_rows(self.read).in_file(&self.path))?;
            for (j, piece) in group {
                pieces[j] = piece;
            }
        }
        self.read += rows;
        Ok(Some(Parsed { rows, pieces }))
    }
}

impl Group {
    fn read(&mut self, path: &Path, rows: usize, missing: &Missing) -> Result<Vec<(usize, Piece)>> {
        let Self { columns, reader, pending } = self;
        let mut builders = Vec::with_capacity(columns.len());
        for (_, name, holds) in &*columns {
            builders.push(Builder::new(name, *holds, rows, missing)?);
        }
        guarded(path, || {
            let mut left = rows;
            while left > 0 {
                let batch = match pending.take() {
                    Some(batch) => batch,
                    None => match reader.next() {
                        Some(batch) => batch.map_err(|e| damaged(path, &e))?,
                        None => return Err(damaged(path, &"it ends before its last row")),
                    },
                };
                let taken = left.min(batch.num_rows());
                for (builder, array) in builders.iter_mut().zip(batch.columns()) {
                    builder.add(&array.slice(0, taken))?;
                }
                if taken < batch.num_rows() {
                    *pending = Some(batch.slice(taken, batch.num_rows() - taken));
                }
                left -= taken;
            }
            Ok(())
        })?;
        let places = columns.iter().map(|(j, ..)| *j);
        Ok(places.zip(builders.into_iter().map(Builder::into_piece)).collect())
    }
}
