//! The data sets that the program carries, by the names that the command line knows them by.

use clap::ValueEnum;
use dolmen::error::Result;
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
