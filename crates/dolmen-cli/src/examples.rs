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
    /// 366 days of air in Los Angeles with missing values, the ozone in it (`ozone`).
    Ozone,
    /// 299 eruptions of a geyser: a density of two columns.
    Geyser,
    /// 145 patients, three measurements, three diagnoses (`class`).
    Diabetes,
}

impl Example {
    /// The file as it is.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Iris => include_str!("../../../data/iris.csv"),
            Self::Penguins => include_str!("../../../data/penguins.csv"),
            Self::Ozone => include_str!("../../../data/ozone.csv"),
            Self::Geyser => include_str!("../../../data/geyser.csv"),
            Self::Diabetes => include_str!("../../../data/reaven_miller_diabetes.csv"),
        }
    }

    /// The table.
    pub(crate) fn table(self, run: &Run) -> Result<Table> {
        table::read_text(self.text(), Path::new("the carried data"), &ReadOptions::default(), run)
    }
}
