//! A table in two parts, one to learn from and one to test on.

use super::{Evidence, Fit, Recipe, ScoreReport};
use crate::error::{Error, Place, Result};
use crate::plan::{HoldOut, Plan, PlanSpec, Portion, RowKeys};
use crate::run::Run;
use crate::table::{Column, DateColumn, Table, groups_of, times_of};

/// How the rows to test on are chosen. Of groups, time and strata one at most may be named.
#[derive(Debug, Clone, PartialEq)]
pub struct Parting {
    /// How much is set aside.
    pub test: Portion,
    /// The column with groups of rows that stay together.
    pub groups: Option<String>,
    /// The column with the rows' times: the last rows are set aside.
    pub time: Option<String>,
    /// The column with classes, of which both parts get their share.
    pub stratify: Option<String>,
}

/// The rows of both parts, by their number, and what the user should know of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to test on.
    pub test: Vec<usize>,
    /// What is to be said of how they were chosen.
    pub notes: Vec<String>,
}

/// A model fitted to one part of a table, and how it does on the other.
#[derive(Debug)]
pub struct Tested {
    /// What came of the first part.
    pub fit: Fit,
    /// How it does on the second.
    pub score: ScoreReport,
    /// How its predictions do there row by row.
    pub evidence: Evidence,
    /// Rows of the first part.
    pub learned_from: usize,
}

impl Parting {
    /// Rows drawn at random.
    pub fn random(test: Portion) -> Self {
        Self { test, groups: None, time: None, stratify: None }
    }

    /// Chooses the rows of a table.
    pub fn part(&self, table: &Table, run: &Run) -> Result<Parts> {
        let plan = self.plan(table, run)?;
        let split =
            plan.splits().first().ok_or_else(|| Error::shape("splits of the plan", 1, 0))?;
        Ok(Parts {
            train: split.train(table.rows()).into_owned(),
            test: split.test().to_vec(),
            notes: self.doubt(table).into_iter().collect(),
        })
    }

    fn plan(&self, table: &Table, run: &Run) -> Result<Plan> {
        let named = [&self.groups, &self.time, &self.stratify];
        if named.iter().filter(|name| name.is_some()).count() > 1 {
            let expected = "one at most of groups, time and stratify";
            return Err(Error::param("the columns that part the rows", expected, "several"));
        }
        if let Some(name) = &self.groups {
            return Plan::hold_out_groups(&groups_of(table.column(name)?), self.test, 1, run);
        }
        if let Some(name) = &self.time {
            let column = table.column(name)?;
            if let Some(i) = column.first_missing() {
                return Err(Error::data(Place::cell(i, name), "the time is missing"));
            }
            return Plan::hold_out_last(&times_of(name, column)?, self.test);
        }
        let classes = self.stratify.as_ref().map(|name| table.column(name).map(groups_of));
        let classes = classes.transpose()?;
        let keys = RowKeys { classes: classes.as_deref(), ..RowKeys::default() };
        let scheme = HoldOut { test: self.test, stratify: classes.is_some() };
        PlanSpec::HoldOut(scheme).build(table.rows(), &keys, run)
    }

    /// What is to be said of dates that can be read in two ways.
    fn doubt(&self, table: &Table) -> Option<String> {
        let name = self.time.as_ref()?;
        let Ok(Column::Categorical(texts)) = table.column(name) else { return None };
        let text = DateColumn::recognise(name, texts)?.in_doubt?;
        Some(format!(
            "'{text}' in column '{name}' is read with the month first: if the day stands first, write the year first"
        ))
    }
}

impl Recipe {
    /// Fits a model to most of the rows, and judges it on the others, if `explain` by the importance of its inputs, too. Rows whose truth is
    /// not known take no part.
    pub fn fit_part(
        &self,
        table: &Table,
        parting: &Parting,
        explain: bool,
        run: &Run,
    ) -> Result<Tested> {
        let known = match &self.target {
            Some(name) => table.select(&table.column(name)?.present()),
            None => table.clone(),
        };
        let parts = parting.part(&known, &run.stream("test"))?;
        let fit = self.fit(&known.select(&parts.train), run)?;
        let test = fit.model.rows_of(known.select(&parts.test))?;
        let (score, evidence) = fit.model.judge(test, explain, run)?;
        Ok(Tested { fit, score, evidence, learned_from: parts.train.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Categories;

    fn table() -> Table {
        let days = ["02/01/2020", "03/01/2020", "04/01/2020", "05/01/2020"];
        let levels = days.iter().map(ToString::to_string).collect();
        let days = Column::Categorical(Categories { levels, codes: vec![0, 1, 2, 3] });
        Table::new(vec![
            ("x".into(), Column::Numeric(vec![1.0, 2.0, 3.0, 4.0])),
            ("day".into(), days),
        ])
        .unwrap()
    }

    #[test]
    fn the_last_are_set_aside_and_doubt_is_told() {
        let parting =
            Parting { time: Some("day".into()), ..Parting::random(Portion::Fraction(0.25)) };
        let parts = parting.part(&table(), &Run::new(0)).unwrap();
        assert_eq!((parts.train, parts.test), (vec![0, 1, 2], vec![3]));
        assert!(parts.notes[0].contains("month first"), "{:?}", parts.notes);
    }

    #[test]
    fn one_column_parts_the_rows() {
        let parting = Parting {
            time: Some("day".into()),
            stratify: Some("x".into()),
            ..Parting::random(Portion::Rows(1))
        };
        assert!(parting.part(&table(), &Run::new(0)).is_err());
    }
}
