//! A table as a fit sees it: inputs, truth, weights, groups, times.

use std::path::Path;
use std::sync::Arc;

use super::target_notes::{classes_note, truth_notes};
use super::{Recipe, TargetTask};
use crate::error::{Error, Place, Result};
use crate::learner::{Sample, Weights};
use crate::plan::{PlanRequest, PlanSpec};
use crate::run::Run;
use crate::table::{
    self, Assigned, Categories, Column, Conventions, Features, Known, ReadOptions, Roles, Schema,
    Sparing, Table, number_of_text,
};
use crate::target::Labels;
use crate::task::Task;

/// What is to be predicted.
#[derive(Debug, Clone)]
pub enum Truth {
    /// Nothing: the density of the rows.
    None,
    /// Classes.
    Classes(Labels),
    /// Numbers.
    Numbers(Vec<f64>),
}

/// A table taken apart.
#[derive(Debug, Clone)]
pub struct Data {
    /// The inputs.
    pub features: Features,
    /// What is to be predicted.
    pub truth: Truth,
    /// Row weights.
    pub weights: Option<Weights>,
    /// Each row's group.
    pub groups: Option<Vec<u32>>,
    /// Each row's time.
    pub times: Option<Vec<f64>>,
    /// Moments that splits in order of time leave out before what they hold out.
    pub gap: usize,
    /// The fold in which each row is held out, where a column gives it.
    pub folds: Option<Vec<u32>>,
    /// What folds by a hash are drawn by, if the plan asks for them: each row's group, or its number in the table.
    pub lots: Option<Vec<u64>>,
    /// How the table was read, for new rows.
    pub conventions: Conventions,
    /// What the user should know about how the columns were used.
    pub notes: Vec<String>,
}

impl Recipe {
    /// Reads a file and takes it apart.
    pub fn read_data(&self, path: &Path, run: &Run) -> Result<Data> {
        let table = table::read(path, &self.read_options()?, run)?;
        self.data(table).map_err(|error| error.in_file(path))
    }

    /// How its table is read.
    pub fn read_options(&self) -> Result<ReadOptions> {
        let has_classes = self.task.is_some_and(TargetTask::has_classes);
        let classes = self.target.as_deref().filter(|_| has_classes);
        let plan = self.plan_request()?;
        let keys = self.key_columns(plan.as_ref());
        let always: Vec<&str> = keys.iter().map(String::as_str).collect();
        self.reading.read_options(&always, classes)
    }

    /// Takes a table apart.
    pub fn data(&self, table: Table) -> Result<Data> {
        self.data_known(table, Known::default())
    }

    /// What a fit does not need of the texts of a table, in so much memory.
    pub(super) fn sparing(&self, memory: u64) -> Result<Sparing> {
        /// The part of the memory that texts may take while it is open whether they are needed.
        const PART: u64 = 8;
        let plan = self.plan_request()?;
        let Roles { inputs, declared, keep_all, .. } = self.reading.roles();
        let keys = self.key_columns(plan.as_ref());
        let groups = [&self.groups, &plan.as_ref().and_then(|plan| plan.groups.clone())]
            .map(|name| name.clone().unwrap_or_default());
        let texts: Vec<String> = keys.iter().chain(&declared).cloned().collect();
        // Groups are told apart by their texts, one by one.
        let levels = keys.into_iter().filter(|name| !groups.contains(name));
        let levels = levels.chain(inputs).chain(declared).collect();
        let bytes = usize::try_from(memory / PART).unwrap_or(usize::MAX);
        Ok(Sparing { bytes: (!keep_all).then_some(bytes), levels, texts: Some(texts) })
    }

    /// The same for a table of whose columns something is known.
    pub(super) fn data_known(&self, table: Table, known: Known) -> Result<Data> {
        if self.task.is_some() && self.target.is_none() {
            return Err(Error::param("task", "given with --target", "alone"));
        }
        let plan = self.plan_request()?;
        let dropped = |name: &&String| self.reading.drop.contains(name);
        if let Some(name) = self.key_columns(plan.as_ref()).iter().find(dropped) {
            let problem = "it cannot be left out (--drop) and be needed at once";
            return Err(Error::data(Place::column(name), problem));
        }
        let named = |own: &Option<String>, by_plan: fn(&PlanRequest) -> &Option<String>| {
            own.clone().or_else(|| plan.as_ref().and_then(|plan| by_plan(plan).clone()))
        };
        let roles = Roles {
            target: self.target.clone(),
            weights: self.weights.clone(),
            groups: named(&self.groups, |plan| &plan.groups),
            classes: self.task.is_some_and(TargetTask::has_classes),
            time: named(&self.time, |plan| &plan.time),
            folds: plan.as_ref().and_then(|plan| plan.folds.clone()),
            known,
            ..self.reading.roles()
        };
        let lots = self.lots(&table, plan.as_ref(), &roles)?;
        let Assigned {
            features,
            target,
            weights,
            groups,
            mut times,
            folds,
            dates,
            numbers,
            mut notes,
        } = roles.assign(table)?;
        let truth = match (&self.target, target) {
            (Some(name), Some(column)) => {
                if self.task.is_none() && !roles.declared.contains(name) {
                    notes.extend(classes_note(name, &column));
                }
                let truth = truth(name, column, self.task)?;
                notes.extend(truth_notes(name, &truth, self.members.is_empty()));
                truth
            }
            _ => Truth::None,
        };
        let weights = weights.map(Weights::new).transpose()?;
        if let (Truth::Classes(labels), Some(weights)) = (&truth, &weights) {
            let counts = |i: &usize| weights.values()[*i] > 0.0;
            let mut weighty = (0..labels.codes().len()).filter(counts).map(|i| labels.codes()[i]);
            let first = weighty.next();
            if weighty.all(|code| Some(code) == first) {
                let problem = "the target has only one class among the rows of positive weight";
                return Err(Error::data(
                    self.target.as_deref().map_or_else(Place::default, Place::column),
                    problem,
                ));
            }
        }
        if times.is_none() && plan.is_some_and(|plan| matches!(plan.spec, PlanSpec::TimeOrdered(_)))
        {
            // Splits inside members must know of the order, too.
            times = Some((0..features.rows().rows()).map(|i| i as f64).collect());
            notes.push(
                "the plan names no column of times: the rows are taken to stand in order of time"
                    .into(),
            );
        }
        let conventions = Conventions { dates, numbers, ..self.reading.conventions()? };
        let gap = self.gap()?;
        Ok(Data { features, truth, weights, groups, times, gap, folds, lots, conventions, notes })
    }

    /// What hashed folds are drawn by, of the rows that have a target: the same whether the table is whole or read block by block.
    fn lots(
        &self,
        table: &Table,
        plan: Option<&PlanRequest>,
        roles: &Roles,
    ) -> Result<Option<Vec<u64>>> {
        if !plan.is_some_and(|plan| matches!(plan.spec, PlanSpec::Hashed(_))) {
            return Ok(None);
        }
        let column =
            |name: &Option<String>| name.as_ref().map(|name| table.column(name)).transpose();
        let (target, groups) = (column(&self.target)?, column(&roles.groups)?);
        let is_present = |i: &usize| target.is_none_or(|column| !column.is_missing(*i));
        let present = (0..table.rows()).filter(is_present);
        Ok(Some(present.map(|i| lot_number(groups, 0, i)).collect()))
    }

    /// Moments that splits in order of time leave out before what they hold out.
    pub fn gap(&self) -> Result<usize> {
        Ok(self.plan_request()?.map_or(0, |plan| plan.spec.gap()))
    }

    /// The plan asked for, if one is.
    pub(super) fn plan_request(&self) -> Result<Option<PlanRequest>> {
        let Some(plan) = &self.plan else { return Ok(None) };
        if let Some(folds) = self.folds {
            return Err(Error::param("folds", "left out where a plan is given", folds));
        }
        let request = PlanSpec::from_spec(plan)?;
        let named =
            [("time", &self.time, &request.time), ("groups", &self.groups, &request.groups)];
        for (role, own, by_plan) in named {
            if let (Some(own), Some(other)) = (own, by_plan)
                && own != other
            {
                let expected = format!("'{own}', as the {role} of the rows, or not named");
                return Err(Error::param("column in plan", expected, format!("'{other}'")));
            }
        }
        Ok(Some(request))
    }

    /// The columns that are no inputs.
    fn key_columns(&self, plan: Option<&PlanRequest>) -> Vec<String> {
        let own = [&self.target, &self.weights, &self.groups, &self.time];
        let by_plan = plan.map(|plan| [&plan.time, &plan.groups, &plan.folds]);
        own.into_iter().chain(by_plan.into_iter().flatten()).flatten().cloned().collect()
    }
}

impl Data {
    /// The rows to learn from.
    pub fn sample<'a, T: Task>(&'a self, target: &'a T::Target) -> Result<Sample<'a, T>> {
        let mut sample = Sample::new(self.features.rows(), target)?;
        if let Some(weights) = &self.weights {
            sample = sample.weighted(weights)?;
        }
        if let Some(groups) = &self.groups {
            sample = sample.grouped(groups)?;
        }
        if let Some(times) = &self.times {
            sample = sample.timed(times)?;
        }
        if let Some(folds) = &self.folds {
            sample = sample.held_out_in(folds)?;
        }
        if let Some(lots) = &self.lots {
            sample = sample.drawn_by(lots)?;
        }
        Ok(sample.spaced(self.gap))
    }

    /// The input columns.
    pub fn schema(&self) -> &Arc<Schema> {
        self.features.rows().schema()
    }
}

/// What stands for the group of rows whose group is missing.
const NO_GROUP: u64 = Categories::MISSING as u64;

/// What the hashed fold of a row of a block is drawn by: its group, or its number in the table.
pub(super) fn lot_number(groups: Option<&Column>, first: usize, row: usize) -> u64 {
    match groups {
        // A text has the same number in every block, whatever other texts there are.
        Some(Column::Categorical(groups)) => {
            groups.level(row).map_or(NO_GROUP, |text| number_of_text(text.as_bytes()))
        }
        Some(Column::Numeric(groups)) => groups[row].to_bits(),
        None => (first + row) as u64,
    }
}

fn truth(name: &str, column: Column, task: Option<TargetTask>) -> Result<Truth> {
    match (task, column) {
        (Some(TargetTask::Regress), column) => column.into_numbers(name).map(Truth::Numbers),
        (None, Column::Numeric(values)) => Ok(Truth::Numbers(values)),
        (Some(TargetTask::Classify | TargetTask::Joint), Column::Numeric(_)) => Err(Error::data(
            Place::column(name),
            "the target is declared numeric, but the task is to classify",
        )),
        (_, Column::Categorical(c)) => Labels::new(c.levels.to_vec(), c.codes).map(Truth::Classes),
    }
    .and_then(|truth| match &truth {
        Truth::Classes(labels) if labels.codes().iter().all(|&c| c == labels.codes()[0]) => {
            Err(Error::data(Place::column(name), "the target has only one class"))
        }
        Truth::Numbers(values) if values.iter().any(|v| v.is_infinite()) => {
            let i = values.iter().position(|v| v.is_infinite()).unwrap_or_default();
            Err(Error::data(Place::cell(i, name), "the target is infinite"))
        }
        _ => Ok(truth),
    })
}
