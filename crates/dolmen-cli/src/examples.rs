//! The data sets that the program carries, by the names that the command line knows them by.

use clap::ValueEnum;
use dolmen::error::{Error, Result};
use dolmen::run::Run;
use dolmen::table::Table;
use dolmen_papers::data::Carried;

/// A data set by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    /// 150 flowers, four measurements, three species (`Species`).
    Iris,
    /// 344 penguins with missing values, three species (`species`).
    Penguins,
    /// 932 houses sold in and around Sacramento, numbers and categories, what they cost (`price`).
    Sacramento,
    /// 272 eruptions of a geyser, made up: a density of two columns.
    Geyser,
}

impl Example {
    /// The cure of an error about a file that is not there, but that the program carries.
    pub(crate) fn that_is_missing(error: &Error) -> Option<String> {
        let Error::Io { path, source } = error else { return None };
        let stem = path.file_stem()?.to_str()?;
        let is_missing = source.kind() == std::io::ErrorKind::NotFound
            && path.extension().is_some_and(|extension| extension == "csv");
        Self::from_str(stem, false)
            .ok()
            .filter(|_| is_missing)
            .map(|_| format!("dolmen generate example {stem} -o {} writes it", path.display()))
    }

    /// The table.
    pub(crate) fn table(self, run: &Run) -> Result<Table> {
        let carried = match self {
            Self::Iris => Carried::Iris,
            Self::Penguins => Carried::Penguins,
            Self::Sacramento => Carried::Sacramento,
            Self::Geyser => Carried::Geyser,
        };
        carried.table(run)
    }
}
