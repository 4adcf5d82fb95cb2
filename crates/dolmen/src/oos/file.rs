//! The matrix as a Parquet file: one column per member (per member and class), the target, weights, keys and table rows; of
//! members that were fitted without pairs of folds one more for each fold.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{OutOfSample, check_column};
use crate::error::{Error, Place, Result};
use crate::learner::Failure;
use crate::run::Run;
use crate::table::{self, Column, ReadOptions, Table};
use crate::target::Target;
use crate::task::Task;

/// The key under which the file's description stands.
const KEY: &str = "dolmen.out_of_sample";
/// The version of the layout.
const VERSION: u32 = 1;
const TARGET: &str = "target";
const WEIGHT: &str = "row weight";
const ROW: &str = "table row";
const GROUP: &str = "row group";
const TIME: &str = "row time";

/// What a file says of itself, beside its columns.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    version: u32,
    task: String,
    members: Vec<String>,
    classes: Vec<String>,
    fingerprint: Option<String>,
    failures: Vec<(String, Failure)>,
    /// The fingerprint of the data; files of earlier versions have none.
    #[serde(default)]
    data: Option<String>,
    /// The fingerprint of the members' random numbers; files of earlier versions have none.
    #[serde(default)]
    stream: Option<String>,
    /// For each member, the folds of which there are columns without them; none in files of earlier versions.
    #[serde(default)]
    without_folds: Vec<usize>,
}

/// The task's name if a file holds an out-of-sample matrix.
pub fn task_of(path: &Path) -> Result<Option<String>> {
    Ok(Kept::at(path)?.map(|kept| kept.description.task))
}

/// What a file says of the out-of-sample matrix that it holds.
#[derive(Debug)]
pub(crate) struct Kept {
    description: Description,
    path: PathBuf,
}

impl Kept {
    /// `None` if a Parquet file holds something else.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>> {
        let metadata = table::read_parquet_metadata(path)?;
        let Some((_, text)) = metadata.into_iter().find(|(key, _)| key == KEY) else {
            return Ok(None);
        };
        let damaged =
            |e| Error::file(path, format!("the description of the matrix is damaged: {e}"));
        let description: Description = serde_json::from_str(&text).map_err(damaged)?;
        if description.version > VERSION {
            let what = path.display().to_string();
            return Err(Error::Version { what, found: description.version, supported: VERSION });
        }
        Ok(Some(Self { description, path: path.into() }))
    }

    /// The task's name.
    pub(crate) fn task(&self) -> &str {
        &self.description.task
    }

    /// The matrix of these rows of the file.
    pub(crate) fn matrix<T: Task>(&self, mut table: Table) -> Result<OutOfSample<T>> {
        let description = &self.description;
        let damaged = |problem: String| Error::data(Place::default(), problem);
        if description.task != T::NAME {
            let problem = format!("a matrix of task {}, not {}", description.task, T::NAME);
            return Err(damaged(problem));
        }
        let numbers = |table: &mut Table, name: &str| match table.take(name)? {
            Column::Numeric(values) => Ok(values),
            Column::Categorical(_) => Err(damaged(format!("column '{name}' is not numeric"))),
        };
        let target_column = table.take(TARGET).ok();
        let Some(target) = T::Target::from_column(target_column, &description.classes) else {
            return Err(damaged("the target column does not fit the task".into()));
        };
        let mut optional =
            |name: &str| table.column(name).is_ok().then(|| numbers(&mut table, name)).transpose();
        let (weights, groups, times) = (optional(WEIGHT)?, optional(GROUP)?, optional(TIME)?);
        let rows = numbers(&mut table, ROW)?.into_iter().map(|i| i as usize).collect();
        let (width, classes) = (T::width(&target), &description.classes);
        let mut column = |name: &str| -> Result<Vec<f64>> {
            let parts: Vec<Vec<f64>> = (0..width)
                .map(|k| numbers(&mut table, &column_name(name, classes, k)))
                .collect::<Result<_>>()?;
            let height = parts.first().map_or(0, Vec::len);
            Ok((0..height * width).map(|at| parts[at % width][at / width]).collect())
        };
        let (mut members, mut without) = (Vec::new(), Vec::new());
        let folds = description.without_folds.iter().copied().chain(std::iter::repeat(0));
        for (name, folds) in description.members.iter().zip(folds) {
            let of_folds = (1..=folds).map(|fold| column(&without_fold(name, fold)));
            let of_folds = of_folds.collect::<Result<Vec<_>>>()?;
            let height = of_folds.first().map_or(0, |column| column.len() / width);
            of_folds.iter().try_for_each(|own| check_column::<T>(name, own, height, width))?;
            without.push(of_folds);
            members.push((name.clone(), column(name)?));
        }
        let mut oos = OutOfSample::from_columns(members, target, None)?;
        oos.weights = weights;
        oos.rows = rows;
        oos.groups = groups.map(|groups| groups.into_iter().map(|group| group as u32).collect());
        oos.times = times;
        oos.without = without;
        oos.fingerprint.clone_from(&description.fingerprint);
        oos.data.clone_from(&description.data);
        oos.stream.clone_from(&description.stream);
        oos.failures.clone_from(&description.failures);
        oos.file = Some(self.path.clone());
        Ok(oos)
    }
}

impl Description {
    /// That of a matrix of these members and classes, about which nothing else is known.
    fn new<T: Task>(members: &[String], classes: &[String]) -> Self {
        Self {
            version: VERSION,
            task: T::NAME.into(),
            members: members.to_vec(),
            classes: classes.to_vec(),
            fingerprint: None,
            failures: Vec::new(),
            data: None,
            stream: None,
            without_folds: Vec::new(),
        }
    }

    /// As it stands in the file.
    fn metadata(&self, path: &Path) -> Result<Vec<(String, String)>> {
        let text = serde_json::to_string(self)
            .map_err(|e| Error::file(path, format!("the matrix cannot be described: {e}")))?;
        Ok(vec![(KEY.to_string(), text)])
    }
}

/// Writes a matrix of these members and classes that is made block by block: whole, or not at all if making it fails.
pub(crate) fn write_in_blocks<T: Task, R>(
    path: &Path,
    members: &[String],
    classes: &[String],
    make: impl FnOnce(&mut PutMatrix<'_, T>) -> Result<R>,
) -> Result<R> {
    let metadata = Description::new::<T>(members, classes).metadata(path)?;
    table::write_described_blocks(path, metadata, |put| make(&mut |block| put(&block.table()?)))
}

/// Takes the next block of a matrix that is written.
pub(crate) type PutMatrix<'a, T> = dyn FnMut(&OutOfSample<T>) -> Result<()> + 'a;

impl<T: Task> OutOfSample<T> {
    /// Writes the matrix as Parquet.
    pub fn write(&self, path: &Path) -> Result<()> {
        let description = Description {
            fingerprint: self.fingerprint.clone(),
            failures: self.failures.clone(),
            data: self.data.clone(),
            stream: self.stream.clone(),
            without_folds: self.without.iter().map(Vec::len).collect(),
            ..Description::new::<T>(&self.members, self.target.classes())
        };
        table::write_parquet(path, &self.table()?, &description.metadata(path)?)
    }

    /// The matrix as the table that stands in a file.
    fn table(&self) -> Result<Table> {
        let classes = self.target.classes();
        let rows = self.rows.iter().map(|&i| i as f64).collect();
        let mut columns = vec![(ROW.to_string(), Column::Numeric(rows))];
        columns.extend(self.target.to_column().map(|column| (TARGET.to_string(), column)));
        columns.extend(self.weights.clone().map(|w| (WEIGHT.to_string(), Column::Numeric(w))));
        let groups =
            self.groups.as_ref().map(|g| g.iter().map(|&group| f64::from(group)).collect());
        columns.extend(groups.map(|groups| (GROUP.to_string(), Column::Numeric(groups))));
        columns.extend(self.times.clone().map(|t| (TIME.to_string(), Column::Numeric(t))));
        let mut add = |name: &str, column: &[f64]| {
            for k in 0..self.width {
                let values = column.iter().skip(k).step_by(self.width).copied().collect();
                columns.push((column_name(name, classes, k), Column::Numeric(values)));
            }
        };
        self.members.iter().zip(&self.columns).for_each(|(name, column)| add(name, column));
        for (name, without) in self.members.iter().zip(&self.without) {
            (1..).zip(without).for_each(|(fold, column)| add(&without_fold(name, fold), column));
        }
        Table::new(columns)
    }

    /// Reads a matrix written by [`OutOfSample::write`].
    pub fn read(path: &Path, run: &Run) -> Result<Self> {
        let Some(kept) = Kept::at(path)? else {
            return Err(Error::file(path, "not an out-of-sample matrix"));
        };
        let table = table::read(path, &ReadOptions::default(), run)?;
        let own: Self = kept.matrix(table).map_err(|error| error.in_file(path))?;
        own.shares().map_err(|error| error.in_file(path))?;
        Ok(own)
    }
}

/// The column of what a member said when it was fitted without a fold and that of the row; folds are counted from 1.
fn without_fold(member: &str, fold: usize) -> String {
    format!("{member} without fold {fold}")
}

/// The column of a member's k-th value: the member's name, and the class's where there are classes.
fn column_name(member: &str, classes: &[String], k: usize) -> String {
    classes.get(k).map_or_else(|| member.to_string(), |class| format!("{member}:{class}"))
}
