//! The Python door: arrays and data frames in, the library's values out. There are no statistics here; estimators with
//! scikit-learn's manners are Python code in `python/dolmen`, which calls these functions.
//!
//! | file | holds |
//! | --- | --- |
//! | `work` | threads, progress, and Ctrl-C while the interpreter goes on |
//! | `borrow` | arrays and Arrow streams of others, read where they lie |
//! | `inputs` | rows, truth and keys from Python to a table taken apart |
//! | `members` | Python objects as members of a stack |
//! | `model` | fitted models |
//! | `density` | what densities can do beyond ln p(x) |
//! | `matrix` | the out-of-sample matrix, and the best combination of its members |
//! | `blocks` | fits to blocks of rows that the workers of a cluster have |
//! | `catalogue` | learners and combiners with their parameters, as data |
//! | `pictures` | pictures and pages of models and weighings |
//! | `errors` | the library's errors as Python's |

#![expect(clippy::needless_pass_by_value, reason = "Python hands values over")]

mod blocks;
mod borrow;
mod catalogue;
mod density;
mod errors;
mod inputs;
mod matrix;
mod members;
mod model;
mod pictures;
mod tasks;
mod work;

use pyo3::prelude::*;

/// The compiled part of `dolmen`.
#[pymodule]
mod _dolmen {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::blocks::{KeptRows, Layout, ScoreSums, fit_blocks, work_on_block};
    #[pymodule_export]
    use crate::catalogue::{catalogue, spec};
    #[pymodule_export]
    use crate::density::Density;
    #[pymodule_export]
    use crate::inputs::{Table, class_order, times};
    #[pymodule_export]
    use crate::matrix::{Matrix, Weighed};
    #[pymodule_export]
    use crate::model::{Model, advise, compare, fit};

    #[pymodule_export]
    use crate::pictures::draw_comparison;
    #[pymodule_export]
    use crate::tasks::FitTasks;

    /// The version of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Runs the command line with these words, the program's name first, and gives its exit status.
    #[pyfunction]
    fn command_line(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| dolmen_cli::run(words))
    }
}
