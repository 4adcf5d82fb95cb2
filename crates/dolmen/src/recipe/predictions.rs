//! Files of predictions from elsewhere: which columns are what, and the matrix they make.
//!
//! One row per case, one column per member: a density, or the probability of the true class; with a target of numbers, a
//! predicted number. With a target of classes a member has one column per class, called `member:class`: probabilities, or
//! logarithms of joint ones.

use std::path::Path;
use std::sync::Arc;

use super::matrix::with_matrix;
use super::{Matrix, WeighRecipe};
use crate::error::{Error, Place, Result};
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::table::{self, Column, Features, Schema, Table, is_unnamed, place_of};
use crate::target::{Labels, Target};
use crate::task::Task;

/// Columns that `predict` writes beside those of the members.
const OF_THE_ENSEMBLE: [&str; 5] = ["class", "mean", "lower", "upper", "log_density"];

impl WeighRecipe {
    /// The matrix that a table of predictions makes, the rows' inputs if some are named, and what to say about it.
    pub fn matrix(&self, mut table: Table) -> Result<(Matrix, Option<Features>, Vec<String>)> {
        let mut notes = Vec::new();
        let unwanted = |name: &&String| self.reason_to_leave_out(name, &table).is_some();
        let left_out: Vec<String> = table.names().iter().filter(unwanted).cloned().collect();
        for name in left_out {
            let reason = self.reason_to_leave_out(&name, &table).unwrap_or_default();
            notes.push(format!("column '{name}' is left out: {reason}"));
            table.take(&name)?;
        }
        let inputs = self.inputs_of(&mut table, None)?;
        self.matrix_of(table).map(|matrix| (matrix, inputs, notes))
    }

    /// Why a column is no member's, if it is none: a row index, or what `predict` says of the whole ensemble.
    fn reason_to_leave_out(&self, name: &str, table: &Table) -> Option<&'static str> {
        let is_named = |names: &[String]| names.iter().any(|other| other == name);
        let role = [&self.target, &self.weights].into_iter().flatten().any(|other| other == name);
        let asked_for = self.reading.all_columns
            || is_named(&self.reading.keep)
            || is_named(&self.inputs)
            || role;
        if asked_for {
            return None;
        }
        if is_unnamed(name) {
            return Some("it has no name, like a row index");
        }
        let of_members = table.names().iter().any(|other| other.contains(':'));
        let of_classes = of_members && (name == "class" || name.starts_with("p("));
        let of_numbers = OF_THE_ENSEMBLE[1..].contains(&name)
            && self.target.is_some()
            && table.names().len() > 3;
        (of_classes || of_numbers).then_some("it is the prediction of the ensemble, not a member's")
    }

    /// The inputs beside the predictions, by the schema of others where there is one.
    fn inputs_of(&self, table: &mut Table, like: Option<&Features>) -> Result<Option<Features>> {
        if self.inputs.is_empty() {
            return Ok(None);
        }
        let columns = self.inputs.iter().map(|name| Ok((name.clone(), table.take(name)?)));
        let inputs = Table::new(columns.collect::<Result<Vec<_>>>()?)?;
        let schema =
            like.map_or_else(|| Arc::new(Schema::of(&inputs)), |x| Arc::clone(x.rows().schema()));
        schema.encode(&inputs).map(Some)
    }

    /// Reads the columns that a combination of the matrix's members needs from a file of further rows. What was left out of
    /// the first file, and its target, need not be in it.
    pub fn read_further(&self, path: &Path, matrix: &Matrix, run: &Run) -> Result<Table> {
        let classes = with_matrix!(matrix, matrix => matrix.target().classes());
        let columns = |member: &String| -> Vec<String> {
            match classes {
                [] => vec![member.clone()],
                classes => classes.iter().map(|class| format!("{member}:{class}")).collect(),
            }
        };
        let mut options = self.reading.options()?;
        options.drop.clear();
        options.keep = matrix.members().iter().flat_map(columns).collect();
        options.keep.extend(self.inputs.iter().cloned());
        let types = self.reading.types.iter().filter(|(name, _)| options.keep.contains(name));
        options.schema = types.map(|(name, kind)| (name.clone(), *kind)).collect();
        table::read(path, &options, run)
    }

    /// The members' predictions of further rows, in the order of the matrix, and those rows' inputs.
    pub(super) fn further<T: Task>(
        &self,
        mut table: Table,
        matrix: &OutOfSample<T>,
        x: Option<&Features>,
    ) -> Result<(Vec<Vec<f64>>, Option<Features>)> {
        let inputs = self.inputs_of(&mut table, x)?;
        let (log, classes) = (self.log, matrix.target().classes());
        let member = |table: &mut Table, name: &String| {
            if !classes.is_empty() {
                return joined(table, name, classes, log);
            }
            let values = numbers(name, table.take(name)?)?;
            if T::LOG_SPACE { self.logarithms(name, values) } else { Ok(values) }
        };
        let members: Result<Vec<_>> =
            matrix.members().iter().map(|name| member(&mut table, name)).collect();
        Ok((members?, inputs))
    }

    fn matrix_of(&self, mut table: Table) -> Result<Matrix> {
        let weights = match &self.weights {
            Some(name) => Some(numbers(name, table.take(name)?)?),
            None => None,
        };
        let Some(target) = &self.target else {
            return self.densities(table, weights).map(Matrix::Density);
        };
        let truth = table.take(target)?;
        check_class_columns(&table)?;
        if table.names().iter().all(|name| name.contains(':')) && !table.names().is_empty() {
            let (members, labels) = classes(target, &truth, table, self.log)?;
            return if self.log {
                OutOfSample::from_columns(members, labels, weights).map(Matrix::Joint)
            } else {
                OutOfSample::from_columns(members, labels, weights).map(Matrix::Classification)
            };
        }
        if self.log {
            let problem = "with --target and --log the other columns must be named member:class";
            return Err(Error::data(Place::column(target), problem)
                .with_hint("they then hold ln p(x, class); predicted numbers need no --log"));
        }
        match truth {
            Column::Numeric(values) => {
                let values = numbers(target, Column::Numeric(values))?;
                let members = table
                    .into_columns()
                    .map(|(name, column)| numbers(&name, column).map(|values| (name, values)));
                let members = members.collect::<Result<Vec<_>>>()?;
                OutOfSample::from_columns(members, values, weights).map(Matrix::Regression)
            }
            Column::Categorical(_) => {
                let problem =
                    "the target holds classes, but the other columns are not named member:class";
                Err(Error::data(Place::column(target), problem).with_hint(
                    "name the columns like forest:yes, forest:no; or leave out --target and give p(true class) columns",
                ))
            }
        }
    }

    /// Columns of densities, or of probabilities of the true class.
    fn densities(
        &self,
        table: Table,
        weights: Option<Vec<f64>>,
    ) -> Result<OutOfSample<crate::task::Density>> {
        let member = |(name, column): (String, Column)| {
            let values = self.logarithms(&name, numbers(&name, column)?)?;
            Ok((name, values))
        };
        let members = table.into_columns().map(member).collect::<Result<Vec<_>>>()?;
        OutOfSample::from_columns(members, (), weights)
    }

    /// A column of densities as logarithms, which they may be already.
    fn logarithms(&self, name: &str, mut values: Vec<f64>) -> Result<Vec<f64>> {
        let refuse = |i: usize, problem: String| Err(Error::data(Place::cell(i, name), problem));
        if let Some(i) = values.iter().position(|v| *v == f64::INFINITY) {
            return refuse(i, "the density is inf".into());
        }
        if self.log {
            return Ok(values);
        }
        if let Some(i) = values.iter().position(|v| *v < 0.0) {
            let problem = format!("a density is {}, less than 0", values[i]);
            let hint = "add --log if the columns hold logarithms; --drop COLUMN leaves one out";
            return refuse(i, problem).map_err(|e| e.with_hint(hint));
        }
        values.iter_mut().for_each(|v| *v = v.ln());
        Ok(values)
    }
}

/// A column that must hold a number in every row.
fn numbers(name: &str, column: Column) -> Result<Vec<f64>> {
    if let Column::Categorical(categories) = &column
        && categories.levels.iter().all(|level| level.parse::<f64>().is_err())
    {
        let problem = "the column holds texts, not a member's predictions";
        let hint = format!("--target '{name}' if it is the truth; --drop '{name}' leaves it out");
        return Err(Error::data(Place::column(name), problem).with_hint(hint));
    }
    let values = column.into_numbers(name)?;
    match values.iter().position(|v| v.is_nan()) {
        None => Ok(values),
        Some(i) => Err(Error::data(Place::cell(i, name), "the value is missing or not a number")
            .with_hint("every row needs a number here: mend the cell or remove the row")),
    }
}

/// Where nearly all columns are called `member:class`, the others are something else, which must be said.
fn check_class_columns(table: &Table) -> Result<()> {
    let is_class = |name: &&String| name.contains(':');
    let others: Vec<&str> =
        table.names().iter().filter(|n| !is_class(n)).map(String::as_str).collect();
    match others.first() {
        Some(first) if others.len() < table.names().iter().filter(is_class).count() => {
            let problem = "the column is not named member:class, but others are";
            let hint = format!(
                "--drop '{first}' leaves it out; --inputs '{first}' if it is an input of the rows, for combiners that look at them"
            );
            Err(Error::data(Place::column(first), problem).with_hint(hint))
        }
        _ => Ok(()),
    }
}

/// Members with their columns, row after row.
type Columns = Vec<(String, Vec<f64>)>;

/// Columns `member:class`, brought together by member, in the order of the classes: class probabilities, or logarithms
/// of joint ones.
fn classes(target: &str, truth: &Column, table: Table, log: bool) -> Result<(Columns, Labels)> {
    let mut members: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for name in table.names() {
        let (member, class) = name.rsplit_once(':').unwrap_or((name, ""));
        if !members.iter().any(|m| m == member) {
            members.push(member.into());
        }
        if !names.iter().any(|c| c == class) {
            names.push(class.into());
        }
    }
    let missing = truth.first_missing();
    let labels = Labels::from_column(Some(truth.clone()), &names).ok_or_else(|| match missing {
        Some(i) => Error::data(Place::cell(i, target), "the target is missing"),
        None => unknown_class(target, truth, &names),
    })?;
    for (member, class) in members.iter().flat_map(|m| names.iter().map(move |c| (m, c))) {
        let column = format!("{member}:{class}");
        if !table.names().contains(&column) {
            let problem = format!("there is no column '{column}', but others of '{member}'");
            let hint = format!(
                "every member needs a column for each class; --drop leaves out columns, also all of '{member}'"
            );
            return Err(Error::data(Place::default(), problem).with_hint(hint));
        }
    }
    let mut table = table;
    let member = |member: String| {
        let column = joined(&mut table, &member, &names, log)?;
        Ok((member, column))
    };
    Ok((members.into_iter().map(member).collect::<Result<_>>()?, labels))
}

/// A member's columns `member:class`, row after row in the order of the classes.
fn joined(table: &mut Table, member: &str, classes: &[String], log: bool) -> Result<Vec<f64>> {
    let width = classes.len();
    let mut column = vec![0.0; table.rows() * width];
    for (k, class) in classes.iter().enumerate() {
        let name = format!("{member}:{class}");
        for (i, p) in numbers(&name, table.take(&name)?)?.into_iter().enumerate() {
            if !log && !(0.0..=1.0 + 1e-9).contains(&p) {
                let problem = format!("a probability is {p}, not between 0 and 1");
                let hint = "add --log if the columns hold ln p(x, class)";
                return Err(Error::data(Place::cell(i, &name), problem).with_hint(hint));
            }
            column[i * width + k] = p;
        }
    }
    if !log {
        check_sums(member, &column, width)?;
    }
    Ok(column)
}

/// A member's probabilities must sum to 1, up to the rounding of a printed file.
fn check_sums(member: &str, column: &[f64], width: usize) -> Result<()> {
    let sums = column.chunks(width).map(|row| row.iter().sum::<f64>());
    match sums.enumerate().find(|(_, sum)| (sum - 1.0).abs() > 0.01) {
        None => Ok(()),
        Some((i, sum)) => {
            let problem = format!("the probabilities of '{member}' sum to {sum:.4}, not 1");
            Err(Error::data(Place::row(i), problem))
        }
    }
}

fn unknown_class(target: &str, truth: &Column, classes: &[String]) -> Error {
    let spelled = |i: usize| match truth {
        Column::Numeric(values) => values[i].to_string(),
        Column::Categorical(c) => c.level(i).unwrap_or_default().to_string(),
    };
    let bad = (0..truth.len()).find(|&i| place_of(&spelled(i), classes).is_none()).unwrap_or(0);
    let problem = format!("the class '{}' has no column member:{0}", spelled(bad));
    Error::data(Place::cell(bad, target), problem)
        .with_hint(format!("the columns name the classes {}", classes.join(", ")))
}
