//! The out-of-sample matrix: what every member said about rows it had not seen.
//!
//! It is made once ([`collect`]), kept with the ensemble, saved, and entered again by every combiner; predictions from
//! any other tool enter here too ([`OutOfSample::from_columns`]).

mod collect;
mod correlation;
mod data;
mod file;
mod fits;
mod reuse;
mod trials;

pub use collect::{OnFailure, collect};
pub(crate) use collect::{name, none_left, plan_fits, streams};
pub use data::data_fingerprint;
pub use file::task_of;
pub(crate) use file::{Kept, write_in_blocks};
pub(crate) use fits::fold_fits;
pub use fits::{MemberFits, collect_fits};
pub(crate) use reuse::Collector;
pub use trials::{CheckKind, Trial, Trials};

use std::path::PathBuf;

use crate::error::{Error, Place, Result};
use crate::learner::{Failure, is_unusable};
pub use crate::table::Values;
use crate::target::Target;
use crate::task::Task;

/// What every member said about rows it had not seen, with what the rows really were.
#[derive(Debug, Clone)]
pub struct OutOfSample<T: Task> {
    members: Vec<String>,
    /// One column per member: rows x width, row after row.
    columns: Vec<Values>,
    target: T::Target,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    times: Option<Vec<f64>>,
    /// Moments that splits of these rows leave out before what they hold out.
    gap: usize,
    /// For each row here, its position in the table; rows never held out are not here.
    rows: Vec<usize>,
    fingerprint: Option<String>,
    data: Option<String>,
    /// The random numbers that the members' streams were derived from.
    stream: Option<String>,
    /// Of members that were also fitted without pairs of folds: for each fold v, what they said about every row of another
    /// fold w when fitted without v and w. Of the rows of fold v itself, what they said when fitted without it alone.
    without: Vec<Vec<Vec<f64>>>,
    failures: Vec<(String, Failure)>,
    /// Seconds that each member takes to predict a row, where that was measured.
    costs: Option<Vec<f64>>,
    width: usize,
    /// Where it was read from, which errors name.
    file: Option<PathBuf>,
}

impl<T: Task> OutOfSample<T> {
    /// The matrix from predictions made anywhere: for each member a name and a column (rows x width, row after row).
    ///
    /// NaN is refused everywhere, `+inf` too, `-inf` only where rows do not hold logarithms. A column that somebody else keeps
    /// ([`Values::Shared`]) is not copied.
    pub fn from_columns(
        members: Vec<(String, impl Into<Values>)>,
        target: T::Target,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        let width = T::width(&target);
        let members = members.into_iter().map(|(name, column)| (name, column.into()));
        let (members, columns): (Vec<String>, Vec<Values>) = members.unzip();
        let Some(first) = columns.first() else {
            return Err(Error::shape("members to combine", 1, 0));
        };
        let rows = target.rows().unwrap_or(first.len() / width);
        if rows == 0 {
            return Err(Error::shape("rows to combine", 1, 0));
        }
        for (name, column) in members.iter().zip(&columns) {
            check_column::<T>(name, column, rows, width)?;
        }
        if let Some(weights) = &weights {
            crate::solver::shares(weights, rows)?;
        }
        Ok(Self {
            without: vec![Vec::new(); members.len()],
            members,
            columns,
            target,
            weights,
            groups: None,
            times: None,
            gap: 0,
            rows: (0..rows).collect(),
            fingerprint: None,
            data: None,
            stream: None,
            failures: Vec::new(),
            costs: None,
            width,
            file: None,
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

    /// The same as rows of a larger matrix, from this place of its table on, with their weights, which may all be 0, and groups.
    pub(crate) fn part_of_larger(
        self,
        first: usize,
        weights: Option<Vec<f64>>,
        groups: Option<Vec<u32>>,
    ) -> Self {
        Self { rows: (first..first + self.rows()).collect(), weights, groups, ..self }
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

    /// Each row's group, if rows belong together.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// Moments that splits of these rows leave out before what they hold out.
    pub(crate) fn gap(&self) -> usize {
        self.gap
    }

    /// Each row's time, if the rows have any.
    pub fn times(&self) -> Option<&[f64]> {
        self.times.as_deref()
    }

    /// The same matrix with each row's group, for predictions from elsewhere.
    pub fn grouped(self, groups: Vec<u32>) -> Result<Self> {
        if groups.len() != self.rows() {
            return Err(Error::shape("groups of the rows", self.rows(), groups.len()));
        }
        Ok(Self { groups: Some(groups), ..self })
    }

    /// The same matrix with each row's time, for predictions from elsewhere.
    pub fn timed(self, times: Vec<f64>) -> Result<Self> {
        if times.len() != self.rows() {
            return Err(Error::shape("times of the rows", self.rows(), times.len()));
        }
        Ok(Self { times: Some(times), ..self })
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

    /// Identifies the rows that it is about ([`data_fingerprint`]); `None` for predictions from elsewhere.
    pub fn data_fingerprint(&self) -> Option<&str> {
        self.data.as_deref()
    }

    /// Fits that failed, with the names of the members they belong to (which may have been dropped).
    pub fn failures(&self) -> &[(String, Failure)] {
        &self.failures
    }

    /// The same matrix as a table of its own: its rows counted from 0.
    pub(crate) fn as_table(&self) -> Self {
        Self { rows: (0..self.rows()).collect(), ..self.clone() }
    }

    /// The matrix of chosen rows, in that order; without what is known of pairs of folds.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        self.select_of(rows, |m| &self.columns[m])
    }

    /// The same with other columns for the members.
    fn select_of<'a>(&'a self, rows: &[usize], column: impl Fn(usize) -> &'a [f64]) -> Self {
        fn chosen<V: Copy>(all: Option<&Vec<V>>, rows: &[usize]) -> Option<Vec<V>> {
            all.map(|all| rows.iter().map(|&i| all[i]).collect())
        }
        Self {
            members: self.members.clone(),
            columns: (0..self.members.len())
                .map(|m| cells(column(m), rows, self.width).into())
                .collect(),
            target: self.target.select(rows),
            weights: chosen(self.weights.as_ref(), rows),
            groups: chosen(self.groups.as_ref(), rows),
            times: chosen(self.times.as_ref(), rows),
            gap: self.gap,
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            fingerprint: self.fingerprint.clone(),
            data: self.data.clone(),
            stream: self.stream.clone(),
            without: vec![Vec::new(); self.members.len()],
            failures: self.failures.clone(),
            costs: self.costs.clone(),
            width: self.width,
            file: self.file.clone(),
        }
    }

    /// Goes on without a member that failed.
    pub(crate) fn drop_member(&mut self, name: &str, failure: &Failure) {
        if let Some(m) = self.members.iter().position(|member| member == name) {
            self.columns.remove(m);
            self.without.remove(m);
            if let Some(costs) = &mut self.costs {
                costs.remove(m);
            }
            self.failures.push((self.members.remove(m), failure.clone()));
        }
    }

    /// Takes in the members of another matrix of the same rows, after its own.
    pub(crate) fn append(&mut self, other: Self) {
        debug_assert_eq!(self.rows, other.rows);
        self.members.extend(other.members);
        self.columns.extend(other.columns);
        self.without.extend(other.without);
        self.failures.extend(other.failures);
        self.costs = None;
    }

    /// Seconds that each member takes to predict one row, where that was measured; not kept in files.
    pub fn costs(&self) -> Option<&[f64]> {
        self.costs.as_deref()
    }

    /// The same matrix with what each member takes to predict one row.
    pub fn with_costs(mut self, costs: Vec<f64>) -> Result<Self> {
        if costs.len() != self.members.len() {
            return Err(Error::shape("costs of the members", self.members.len(), costs.len()));
        }
        if let Some(cost) = costs.iter().find(|cost| !(cost.is_finite() && **cost >= 0.0)) {
            return Err(Error::param("cost of a member", "a number of at least 0", cost));
        }
        self.set_costs(costs);
        Ok(self)
    }

    pub(crate) fn set_costs(&mut self, costs: Vec<f64>) {
        self.costs = Some(costs);
    }

    /// Remembers members that took no part, and why.
    pub(crate) fn leave_out(&mut self, names: &[String], why: &str) {
        let failure = |name: &String| {
            (name.clone(), Failure { member: 0, split: 0, message: why.to_string() })
        };
        self.failures.extend(names.iter().map(failure));
    }

    /// Each row's score by one member alone.
    pub fn scores(&self, member: usize) -> Vec<f64> {
        (0..self.rows()).map(|i| T::score(self.row(member, i), &self.target, i)).collect()
    }
}

/// The values of chosen rows of a column.
fn cells(column: &[f64], rows: &[usize], width: usize) -> Vec<f64> {
    rows.iter().flat_map(|&i| &column[i * width..(i + 1) * width]).copied().collect()
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
