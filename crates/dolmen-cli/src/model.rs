//! A model file, opened: the model of whatever task it is for, and new rows read as it expects them.

use std::path::Path;
use std::sync::Arc;

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::ensemble::Ensemble;
use dolmen::error::{Error, Result};
use dolmen::recipe::ModelFile;
use dolmen::run::Run;
use dolmen::table::{self, Column, ColumnKind, Features, Schema, Table, Unseen, check_finite};
use dolmen::target::Target;
use dolmen::task::{Classification, Density, Joint, Regression};

use crate::args::{Cells, Common};
use crate::output::note;

/// Unseen categories of a column that are named.
const SHOWN_LEVELS: usize = 5;

/// A fitted ensemble of any task.
pub(crate) enum Model {
    Density(Ensemble<Density>),
    Classification(Ensemble<Classification>),
    Joint(Ensemble<Joint>),
    Regression(Ensemble<Regression>),
}

pub(crate) struct Opened {
    pub(crate) file: ModelFile,
    pub(crate) model: Model,
}

impl Opened {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = ModelFile::read(path)?;
        let model = if file.is::<Density>() {
            Model::Density(restore(&file)?)
        } else if file.is::<Classification>() {
            Model::Classification(restore(&file)?)
        } else if file.is::<Joint>() {
            Model::Joint(restore(&file)?)
        } else if file.is::<Regression>() {
            Model::Regression(restore(&file)?)
        } else {
            return Err(Error::file(path, format!("a model of an unknown task '{}'", file.task)));
        };
        Ok(Self { file, model })
    }

    /// Reads the columns the model needs, in the types it expects; the truth too, if it is wanted, and other columns to be
    /// carried along, as texts.
    pub(crate) fn read_rows(
        &self,
        path: &Path,
        with_truth: bool,
        carried: &[String],
        cells: &Cells,
        run: &Run,
    ) -> Result<(Features, Table)> {
        let mut options = self.file.conventions.read_options(&self.file.schema);
        cells.add_to(&mut options)?;
        for name in carried {
            if !options.keep.contains(name) {
                options.keep.push(name.clone());
                options.schema.insert(name.clone(), ColumnKind::Categorical);
            }
        }
        if with_truth && let Some(target) = &self.file.target {
            let kind = if self.file.classes.is_empty() {
                ColumnKind::Numeric
            } else {
                ColumnKind::Categorical
            };
            options.keep.push(target.clone());
            options.schema.insert(target.clone(), kind);
        }
        let table = table::read(path, &options, run)?;
        let table = self.file.conventions.complete(table).map_err(|e| e.in_file(path))?;
        let schema: Arc<Schema> = Arc::new(self.file.schema.clone());
        let features = schema.encode(&table).map_err(|e| e.in_file(path))?;
        check_finite(&features).map_err(|e| e.in_file(path))?;
        Ok((features, table))
    }

    /// Tells of categories in new rows that the model has not seen.
    pub(crate) fn unseen(&self, table: &Table, common: &Common) -> Vec<Unseen> {
        let found = self.file.schema.unseen(table);
        for Unseen { column, rows, levels } in &found {
            let shown: Vec<String> =
                levels.iter().take(SHOWN_LEVELS).map(|level| format!("'{level}'")).collect();
            let more = if levels.len() > SHOWN_LEVELS { ", .." } else { "" };
            let (rows, noun) = (*rows, if *rows == 1 { "row holds" } else { "rows hold" });
            note(
                common,
                &format!(
                    "column '{column}': {rows} {noun} a category the model has not seen: {}{more}",
                    shown.join(", ")
                ),
            );
        }
        found
    }

    /// The rows whose truth is known, and how many are not.
    pub(crate) fn with_truth(
        &self,
        features: Features,
        mut table: Table,
    ) -> Result<(Features, Table, usize)> {
        let Some(name) = &self.file.target else {
            return Ok((features, table, 0));
        };
        let missing = table.column(name)?.missing();
        if missing == 0 || missing == table.rows() {
            return Ok((features, table, 0));
        }
        let truth = table.take(name)?;
        let rows = truth.present();
        let table = Table::new(vec![(name.clone(), truth.select(&rows))])?;
        Ok((features.rows().select(&rows), table, missing))
    }

    /// The truth of new rows, as the model's task sees it.
    pub(crate) fn truth<T: Target>(&self, table: &mut Table, path: &Path) -> Result<T> {
        let column: Option<Column> =
            self.file.target.as_ref().map(|name| table.take(name)).transpose()?;
        let name = self.file.target.clone().unwrap_or_default();
        let missing = column.as_ref().and_then(Column::first_missing);
        T::from_column(column, &self.file.classes).ok_or_else(|| {
            let problem = match missing {
                Some(i) => format!("row {}, column '{name}': the target is missing", i + 1),
                None => format!(
                    "column '{name}': the target does not fit the model's ({})",
                    self.file.task
                ),
            };
            Error::file(path, problem)
        })
    }
}

fn restore<T: Catalogued>(file: &ModelFile) -> Result<Ensemble<T>> {
    file.restore::<T, Ensemble<T>>(Catalogue::standard().registry())
}
