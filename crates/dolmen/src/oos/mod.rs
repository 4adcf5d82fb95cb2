//! The out-of-sample matrix: what every member said about rows it had not seen.
//!
//! It is made once ([`collect`]), kept with the ensemble, saved, and entered again by every combiner; predictions from
//! any other tool enter here too ([`OutOfSample::from_columns`]).

mod collect;
mod file;
mod fits;
mod trials;

pub use collect::{OnFailure, collect};
pub(crate) use collect::{name, none_left, plan_fits};
pub use file::task_of;
pub use fits::{MemberFits, collect_fits};
pub use trials::{Trial, Trials};

use crate::error::{Error, Place, Result};
use crate::learner::{Failure, is_unusable};
use crate::target::Target;
use crate::task::Task;

/// What every member said about rows it had not seen, with what the rows really were.
#[derive(Debug, Clone)]
pub struct OutOfSample<T: Task> {
    members: Vec<String>,
    /// One column per member: rows x width, row after row.
    columns: Vec<Vec<f64>>,
    target: T::Target,
    weights: Option<Vec<f64>>,
    /// For each row here, its position in the table; rows never held out are not here.
    rows: Vec<usize>,
    fingerprint: Option<String>,
    failures: Vec<(String, Failure)>,
    width: usize,
}

impl<T: Task> OutOfSample<T> {
    /// The matrix from predictions made anywhere: for each member a name and a column (rows x width, row after row).
    ///
    /// NaN is refused everywhere, `+inf` too, `-inf` only where rows do not hold logarithms.
    pub fn from_columns(
        members: Vec<(String, Vec<f64>)>,
        target: T::Target,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        let width = T::width(&target);
        let Some((_, first)) = members.first() else {
            return Err(Error::shape("members to combine", 1, 0));
        };
        let rows = target.rows().unwrap_or(first.len() / width);
        if rows == 0 {
            return Err(Error::shape("rows to combine", 1, 0));
        }
        for (name, column) in &members {
            check_column::<T>(name, column, rows, width)?;
        }
        if let Some(weights) = &weights {
            crate::solver::shares(weights, rows)?;
        }
        let (members, columns) = members.into_iter().unzip();
        Ok(Self {
            members,
            columns,
            target,
            weights,
            rows: (0..rows).collect(),
            fingerprint: None,
            failures: Vec::new(),
            width,
        })
    }

    /// The same matrix for rows that stand at these places of a table, ascending.
    pub(crate) fn at_table_rows(mut self, rows: Vec<usize>) -> Result<Self> {
        if rows.len() != self.rows() || !rows.is_sorted_by(|a, b| a < b) {
            return Err(Error::shape("places of the rows", self.rows(), rows.len()));
        }
        self.rows = rows;
        Ok(self)
    }

    /// The members' names.
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Each row's position in the table it came from. Rows never held out have no place here.
    pub fn table_rows(&self) -> &[usize] {
        &self.rows
    }

    /// Values in one prediction row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A member's column: rows x width, row after row.
    pub fn column(&self, member: usize) -> &[f64] {
        &self.columns[member]
    }

    /// What a member said about row `i`.
    pub fn row(&self, member: usize, i: usize) -> &[f64] {
        &self.columns[member][i * self.width..(i + 1) * self.width]
    }

    /// What the rows really were.
    pub fn target(&self) -> &T::Target {
        &self.target
    }

    /// Row weights, if they are not all 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The rows' weights as shares that sum to 1.
    pub fn shares(&self) -> Result<Vec<f64>> {
        let rows = self.rows();
        match &self.weights {
            Some(weights) => crate::solver::shares(weights, rows),
            None => Ok(vec![1.0 / rows as f64; rows]),
        }
    }

    /// Identifies the plan by which the matrix was made; `None` for predictions from elsewhere.
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Fits that failed, with the names of the members they belong to (which may have been dropped).
    pub fn failures(&self) -> &[(String, Failure)] {
        &self.failures
    }

    /// The same matrix as a table of its own: its rows counted from 0.
    pub(crate) fn as_table(&self) -> Self {
        Self { rows: (0..self.rows()).collect(), ..self.clone() }
    }

    /// Each row's score by one member alone.
    pub fn scores(&self, member: usize) -> Vec<f64> {
        (0..self.rows()).map(|i| T::score(self.row(member, i), &self.target, i)).collect()
    }
}

fn check_column<T: Task>(name: &str, column: &[f64], rows: usize, width: usize) -> Result<()> {
    if column.len() != rows * width {
        let what = format!("predictions of member '{name}'");
        return Err(Error::shape(what, rows * width, column.len()));
    }
    match column.iter().position(|v| is_unusable::<T>(*v)) {
        None => Ok(()),
        Some(at) => {
            let problem = format!("member '{name}' predicts {}", column[at]);
            Err(Error::data(Place::row(at / width), problem))
        }
    }
}
