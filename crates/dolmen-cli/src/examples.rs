//! The data sets that the program carries; where they come from stands in `data/README.md`.

use std::path::Path;

use clap::ValueEnum;
use dolmen::error::Result;
use dolmen::run::Run;
use dolmen::table::{self, ReadOptions, Table};

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
    /// The file as it is.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Iris => include_str!("../data/iris.csv"),
            Self::Penguins => include_str!("../data/penguins.csv"),
            Self::Sacramento => include_str!("../data/sacramento.csv"),
            Self::Geyser => include_str!("../data/geyser.csv"),
        }
    }

    /// The table.
    pub(crate) fn table(self, run: &Run) -> Result<Table> {
        table::read_text(self.text(), Path::new("the carried data"), &ReadOptions::default(), run)
    }
}
