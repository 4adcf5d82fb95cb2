//! What the columns of a table are for: target, weights, groups, inputs; and inputs that are of no use as they stand.
//!
//! Columns that look like identifiers or free text are left out unless the user says otherwise, and dates become numbers:
//! a category for every row teaches nothing and costs memory. Whatever is decided here is said in a note.

use std::collections::HashSet;
use std::sync::Arc;

use super::dates::{DateColumn, DatePart, turn_into_numbers};
use super::look::{Look, doubtful_classes};
use super::{Column, Features, Kind, Schema, Table, WrittenNumbers};
use crate::error::{Error, Place, Result};

/// Which columns play which part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    /// The column to predict; without it the density of the rows is modelled.
    pub target: Option<String>,
    /// The column with row weights.
    pub weights: Option<String>,
    /// The column with groups of rows that belong together.
    pub groups: Option<String>,
    /// The column with the rows' times: numbers or dates.
    pub time: Option<String>,
    /// The column with the fold in which each row is held out.
    pub folds: Option<String>,
    /// Columns that are inputs even if they look like identifiers or texts.
    pub inputs: Vec<String>,
    /// Columns that are inputs as they stand, dates too: the user has declared what they are.
    pub declared: Vec<String>,
    /// Whether all columns are inputs, whatever they look like.
    pub keep_all: bool,
    /// Whether the target holds classes, whatever it looks like.
    pub classes: bool,
    /// What is known of columns that the table shows not as they are, or not whole.
    pub known: Known,
}

/// What whoever has read a table knows of columns that it shows not as they are, or of whose rows it has a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Dates that have become numbers: the columns of their parts stand in the place of theirs.
    pub dates: Vec<DateColumn>,
    /// What columns look like of whose texts the table has a part.
    pub looks: Vec<(String, Look)>,
}

impl Known {
    /// The dates of which a column is a part.
    fn dates_of(&self, name: &str) -> Option<&DateColumn> {
        self.dates.iter().find(|dates| dates.names().any(|part| part == name))
    }

    fn look(&self, name: &str) -> Option<&Look> {
        self.looks.iter().find(|(known, _)| known == name).map(|(_, look)| look)
    }
}

/// A table taken apart. All parts have the same rows: those with a target.
#[derive(Debug, Clone)]
pub struct Assigned {
    /// The inputs.
    pub features: Features,
    /// The target's column; `None` for densities.
    pub target: Option<Column>,
    /// Row weights.
    pub weights: Option<Vec<f64>>,
    /// Each row's group.
    pub groups: Option<Vec<u32>>,
    /// Each row's time.
    pub times: Option<Vec<f64>>,
    /// The fold in which each row is held out.
    pub folds: Option<Vec<u32>>,
    /// The dates among the inputs, which the schema has as numbers.
    pub dates: Vec<DateColumn>,
    /// The columns whose numbers are not written plainly.
    pub numbers: Vec<WrittenNumbers>,
    /// What the user should know about how the columns were used.
    pub notes: Vec<String>,
}

impl Roles {
    /// Takes a table apart.
    pub fn assign(&self, mut table: Table) -> Result<Assigned> {
        self.check_distinct()?;
        let weights = self.weights.as_ref().map(|name| numbers(&mut table, name)).transpose()?;
        let groups = self.groups.as_ref().map(|name| table.take(name)).transpose()?;
        let groups = groups.as_ref().map(groups_of);
        let times =
            self.time.as_ref().map(|name| times_of(name, &table.take(name)?)).transpose()?;
        let folds = self.folds.as_ref().map(|name| table.take(name)).transpose()?;
        if let (Some(name), Some(row)) =
            (&self.folds, folds.as_ref().and_then(Column::first_missing))
        {
            let hint =
                "every row needs the fold that holds it out: fill the cell, or remove the row";
            return Err(Error::data(Place::cell(row, name), "the fold is missing").with_hint(hint));
        }
        let folds = folds.as_ref().map(groups_of);
        let target = self.target.as_ref().map(|name| table.take(name)).transpose()?;
        let target = target.map(Column::with_plain_truths);
        if let Some(name) = &self.target {
            self.check_target(name, target.as_ref())?;
        }
        let (numbers, mut notes) = (table.written().to_vec(), table.notes().to_vec());
        let (table, dates) = self.inputs(table, &mut notes)?;
        let schema = self.schema(&table, &mut notes);
        if schema.is_empty() {
            let problem = "there are no input columns to learn from";
            let only_categories = self.target.is_none() && table.columns().len() > 0;
            return Err(if only_categories {
                let problem = "there are no numbers to model: densities do not use categories";
                let hint =
                    "name a column to predict with --target, or declare numbers with --schema";
                Error::data(Place::default(), problem).with_hint(hint)
            } else {
                Error::data(Place::default(), problem)
            });
        }
        let features = Arc::new(schema).encode(&table)?;
        check_finite(&features)?;
        if self.target.is_none() {
            check_varies(&features)?;
            notes.extend(constant_note(&features));
        }
        let assigned =
            Assigned { features, target, weights, groups, times, folds, dates, numbers, notes };
        assigned.with_target(self.target.as_deref().unwrap_or_default())
    }

    /// Refuses a column that is asked to be two things.
    fn check_distinct(&self) -> Result<()> {
        let roles = [
            ("the target", &self.target),
            ("the weights", &self.weights),
            ("the groups", &self.groups),
            ("the times", &self.time),
            ("the folds", &self.folds),
        ];
        for (later, (role, name)) in roles.iter().enumerate() {
            let earlier = roles[..later].iter().find(|(_, other)| name.is_some() && other == name);
            if let (Some((other, _)), Some(name)) = (earlier, name) {
                let problem = format!("it cannot be {other} and {role} at once");
                return Err(Error::data(Place::column(name), problem));
            }
        }
        Ok(())
    }

    /// Refuses a target of texts that hardly are classes, unless the user says they are.
    fn check_target(&self, name: &String, target: Option<&Column>) -> Result<()> {
        let insisted = self.classes || self.declared.contains(name);
        match target {
            Some(Column::Categorical(texts)) if !insisted => {
                doubtful_classes(name, texts).map_or(Ok(()), Err)
            }
            _ => Ok(()),
        }
    }

    /// The columns to learn from, dates as numbers.
    fn inputs(&self, table: Table, notes: &mut Vec<String>) -> Result<(Table, Vec<DateColumn>)> {
        let look = |name: &str, column: &Column| {
            if self.declared.iter().any(|n| n == name) || self.known.dates_of(name).is_some() {
                Look::Input
            } else {
                self.known.look(name).cloned().unwrap_or_else(|| Look::of(name, column))
            }
        };
        let looks: Vec<(String, Look)> =
            table.columns().map(|(name, column)| (name.to_string(), look(name, column))).collect();
        let is_left_out = |name: &String, look: &Look| {
            look.reason().is_some() && !self.keep_all && !self.inputs.contains(name)
        };
        let mut left_out: HashSet<&String> =
            looks.iter().filter(|(name, look)| is_left_out(name, look)).map(|(n, _)| n).collect();
        let is_numeric = |name: &String| matches!(table.column(name), Ok(Column::Numeric(_)));
        let is_usable = |name: &String, look: &Look| {
            self.target.is_some() || is_numeric(name) || matches!(look, Look::Dates(_))
        };
        if !looks.iter().any(|(name, look)| is_usable(name, look) && !left_out.contains(name)) {
            // A running number may be all there is to learn from.
            let keep =
                |(name, look): &&(String, Look)| is_numeric(name) && *look == Look::Identifier;
            looks.iter().filter(keep).for_each(|(name, _)| _ = left_out.remove(name));
        }
        let mut dates: Vec<DateColumn> = Vec::new();
        let mut parts_left_out = Vec::new();
        for (name, look) in &looks {
            let found = match look {
                Look::Dates(found) => Some(found),
                _ => self.known.dates_of(name),
            };
            if let Some(found) = found {
                if dates.iter().any(|known| known.column == found.column) {
                    continue;
                }
                let mut found = found.clone();
                if self.target.is_none() {
                    // Year, month and time since the first are one thing said thrice: no density has room for that.
                    let only = if found.is_time_of_day() { DatePart::Hour } else { DatePart::Days };
                    parts_left_out.extend(found.names());
                    found.parts.retain(|part| *part == only);
                    parts_left_out.retain(|name| !found.names().any(|kept| kept == *name));
                }
                notes.push(date_note(&found));
                dates.push(found);
            } else if left_out.contains(name) {
                let reason = look.reason().unwrap_or_default();
                notes.push(format!(
                    "column '{name}' is left out: {reason} (--all-columns keeps it)"
                ));
            }
        }
        let is_part =
            |name: &String| self.known.dates_of(name).is_some() && parts_left_out.contains(name);
        let kept =
            table.into_columns().filter(|(name, _)| !left_out.contains(name) && !is_part(name));
        let kept = kept.map(|(name, column)| (name, column.with_plain_truths())).collect();
        Ok((turn_into_numbers(Table::new(kept)?, &dates)?, dates))
    }

    /// The schema of the inputs: all columns, or without a target the numeric ones.
    fn schema(&self, table: &Table, notes: &mut Vec<String>) -> Schema {
        let schema = Schema::of(table);
        if self.target.is_some() {
            return schema;
        }
        let (numeric, other): (Vec<_>, Vec<_>) =
            schema.fields().iter().cloned().partition(|field| field.kind == Kind::Numeric);
        for field in &other {
            let name = &field.name;
            notes.push(format!("column '{name}' holds categories and is left out of the density"));
        }
        Schema::new(numeric)
    }
}

impl Assigned {
    /// Only the rows with a target, which is in the column of this name.
    fn with_target(mut self, name: &str) -> Result<Self> {
        let Some(target) = &self.target else {
            return Ok(self);
        };
        if let Column::Numeric(values) = target {
            let mut known = values.iter().filter(|value| !value.is_nan());
            let first = known.next();
            if first.is_some() && known.all(|value| Some(value) == first) {
                self.notes.push(format!("the target '{name}' is the same in all rows"));
            }
        }
        let missing = target.missing();
        if missing == 0 {
            return Ok(self);
        }
        if missing == target.len() {
            return Err(Error::data(Place::column(name), "the target is missing in every row"));
        }
        let rows = target.present();
        self.notes
            .push(format!("{missing} of {} rows have no '{name}' and are left out", target.len()));
        self.target = Some(target.select(&rows));
        self.features = self.features.rows().select(&rows);
        self.weights = self.weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
        self.groups = self.groups.map(|groups| rows.iter().map(|&i| groups[i]).collect());
        self.times = self.times.map(|times| rows.iter().map(|&i| times[i]).collect());
        self.folds = self.folds.map(|folds| rows.iter().map(|&i| folds[i]).collect());
        Ok(self)
    }
}

/// Infinite inputs cannot be learned from.
pub fn check_finite(features: &Features) -> Result<()> {
    let rows = features.rows();
    match rows.find(f64::is_infinite) {
        None => Ok(()),
        Some((row, column)) => {
            let place = Place::cell(row, &rows.schema().fields()[column].name);
            Err(Error::data(place, "the value is infinite")
                .with_hint("give a number, or leave the cell empty"))
        }
    }
}

/// Columns of a density whose values are all the same: it takes them to have some width all the same.
fn constant_note(features: &Features) -> Option<String> {
    let rows = features.rows();
    let is_constant = |j: &usize| {
        let mut known = rows.iter().map(|row| row[*j]).filter(|value| !value.is_nan());
        let first = known.next();
        rows.rows() > 1 && known.all(|value| Some(value) == first)
    };
    let fields = rows.schema().fields();
    let found: Vec<String> =
        (0..fields.len()).filter(is_constant).map(|j| format!("'{}'", fields[j].name)).collect();
    let (are, it, is) = match found.len() {
        0 => return None,
        1 => ("column", "it", "is"),
        _ => ("columns", "them", "are"),
    };
    Some(format!(
        "{are} {} {is} constant: log densities depend on a width that is assumed there; --drop leaves {it} out",
        found.join(", ")
    ))
}

/// Rows that are all equal have no density.
fn check_varies(features: &Features) -> Result<()> {
    let rows = features.rows();
    let differ = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| a != b);
    if rows.rows() < 2 || rows.iter().any(|row| differ(row, rows.row(0))) {
        return Ok(());
    }
    let place = Place::column(&rows.schema().fields()[0].name);
    let problem = "the column is constant, and so are all others: equal rows have no density";
    Err(Error::data(place, problem))
}

fn date_note(dates: &DateColumn) -> String {
    let name = &dates.column;
    if dates.parts.is_empty() {
        return format!("column '{name}' holds one date only and is left out");
    }
    if dates.is_time_of_day() {
        return format!("column '{name}' holds times of day and is used as {name}.hour");
    }
    let names: Vec<String> = dates.names().collect();
    let names = names.join(", ");
    let has_days = dates.parts.contains(&DatePart::Days);
    let since =
        if has_days { format!(" (days since {})", dates.first_day()) } else { String::new() };
    let doubt = dates.in_doubt.as_ref().map_or(String::new(), |text| {
        format!(
            "; '{text}' is read with the month first: if the day stands first, write the year first (2024-01-31)"
        )
    });
    format!("column '{name}' holds dates and is used as {names}{since}{doubt}")
}

fn numbers(table: &mut Table, name: &str) -> Result<Vec<f64>> {
    let values = table.take(name)?.into_numbers(name)?;
    match values.iter().position(|v| v.is_nan()) {
        None => Ok(values),
        Some(i) => Err(Error::data(Place::cell(i, name), "the value is missing")),
    }
}

/// The rows' times: numbers as they are, dates as days, NaN where there is none. Other texts have no order of time: sorted by
/// spelling they would put February before January.
pub fn times_of(name: &str, column: &Column) -> Result<Vec<f64>> {
    if let Look::Dates(mut dates) = Look::of(name, column) {
        dates.parts = vec![DatePart::Days];
        if let Some((_, Column::Numeric(days))) = dates.columns(column)?.into_iter().next() {
            return Ok(days);
        }
    }
    column.clone().into_numbers(name).map_err(|_| {
        let problem =
            "the texts are neither numbers nor dates of one form: they have no order of time";
        let hint = "give numbers, or dates such as 2021-03-27 or 2021-03-27 14:05";
        Error::data(Place::column(name), problem).with_hint(hint)
    })
}

/// Groups by number: equal cells, equal group. A missing one is a group of its own.
pub fn groups_of(column: &Column) -> Vec<u32> {
    match column {
        Column::Categorical(categories) => {
            let none = categories.levels.len() as u32;
            categories.codes.iter().map(|&code| code.min(none)).collect()
        }
        Column::Numeric(values) => {
            let mut distinct = values.clone();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup_by(|a, b| a.total_cmp(b).is_eq());
            let code = |v: &f64| distinct.partition_point(|d| d.total_cmp(v).is_lt()) as u32;
            values.iter().map(code).collect()
        }
    }
}
