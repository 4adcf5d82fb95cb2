//! One value decides a fit: the recipe, and what comes of it.
//!
//! | file | holds |
//! | --- | --- |
//! | `data` | a table taken apart by the recipe: inputs, truth, weights, groups, times |
//! | `effort`, `time_span` | how much work and time a fit may take, and what its model may cost |
//! | `fit` | the way from data to a model, a report and the matrix |
//! | `report` | what a fit says of itself, as data |
//! | `evidence` | how its predictions did row by row, summed up: curves, counts, importances |
//! | `routing` | who has a say where, of experts and gates |
//! | `profile` | a density seen from one or two of its columns |
//! | `model`, `predict` | a fitted model of any task: stored with its evidence; reads new rows, predicts, draws |
//! | `parts` | a table in two parts, one to learn from and one to test on |
//! | `blocks` | files of new rows that are read, predicted and handed on block by block |
//! | `file` | the model file |
//! | `members` | its members one by one: what they tell of themselves, what they consist of |
//! | `score` | how good a model is on rows with known truth |
//! | `stream` | fits to tables that are read block by block |
//! | `predictions` | files of predictions from elsewhere: which columns are what |
//! | `weigh` | the best combination of those |
//! | `compare` | is the stack of a recipe worth it, by repeated splits |
//! | `advise` | which ensemble suits the data |
//!
//! Every door (command line, Python, reports) makes a recipe and calls these; none has statistics of its own.
//!
//! ```
//! use dolmen::recipe::Recipe;
//! use dolmen::table::{Column, Table};
//! use dolmen::Run;
//!
//! let x: Vec<f64> = (0..60).map(|i| f64::from(i % 20)).collect();
//! let y: Vec<f64> = x.iter().map(|x| 3.0 * x + 1.0).collect();
//! let table = Table::new(vec![("x".into(), Column::Numeric(x)), ("y".into(), Column::Numeric(y))])?;
//! let recipe = Recipe::from_toml("target = 'y'\nmembers = ['ridge', 'tree', 'mean']")?;
//! let fit = recipe.fit(&table, &Run::new(0))?;
//! let again = dolmen::recipe::Model::from_bytes(&fit.model.to_bytes()?)?;
//! assert_eq!(again.recipe(), Some(&recipe));
//! # Ok::<(), dolmen::Error>(())
//! ```

mod advise;
mod blocks;
mod compare;
mod data;
mod effort;
mod evidence;
mod explain;
mod file;
mod fit;
mod matrix;
mod members;
mod model;
mod parts;
mod predict;
mod predictions;
mod profile;
mod report;
mod routing;
mod score;
pub mod stream;
mod target_notes;
mod tasks;
mod time_span;
mod weigh;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use blocks::{PredictPlan, PredictedRows};
pub use compare::{CompareRecipe, Versus};
pub use data::{Data, Truth};
pub use evidence::{Basis, ColumnSketch, Evidence, MemberCorrelation, Sketch};
pub use file::{FORMAT, ModelFile};
pub use fit::Fit;
pub use matrix::{Matrix, StoredMatrix};
pub use model::{AnyModel, Model};
pub use parts::{Parting, Parts, Tested};
pub use predict::{PredictOptions, Predicted};
pub use profile::{DensityCurve, Profile, Surface};
pub use report::{
    AloneMember, AloneReport, Combined, FitReport, OtherCombination, OtherMember, SampleReport,
    StackReport,
};
pub use routing::Routing;
pub use score::{ScoreReport, ScoreSums, ScoredMember};
pub use tasks::Doer;
pub use time_span::TimeSpan;
pub use weigh::{Apply, WeighRecipe, WeighReport, Weighed};

pub use crate::catalogue::Effort;
use crate::ensemble::{CalibrationKind, Ending, IntervalKind};
use crate::error::{Error, Place, Result};
use crate::run::Run;
use crate::spec::Spec;
use crate::table::{self, ColumnKind, Conventions, ReadOptions, Roles, Table};

/// Everything that decides a fit. The same recipe and data give the same model, to the last byte, through every door.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Recipe {
    /// Seed of everything random.
    pub seed: u64,
    /// The column to predict; without it the density of the rows is modelled.
    pub target: Option<String>,
    /// The task, where the target's type does not say it.
    pub task: Option<TargetTask>,
    /// The column with row weights; only their ratios matter.
    pub weights: Option<String>,
    /// The column with groups of rows that no split tears apart.
    pub groups: Option<String>,
    /// The column with the rows' times: no row is predicted by a model that saw a later one.
    pub time: Option<String>,
    /// The members; the usual ones for a table of this size if there are none.
    #[serde(alias = "member")]
    pub members: Vec<Spec>,
    /// How the members are combined; of several, and of a ladder's rungs, the one that does best in the check is used. The
    /// usual ones for a table of this size if there are none.
    #[serde(alias = "combiner")]
    pub combiners: Vec<Spec>,
    /// One member as it is, fitted on all rows: no folds, no combiner, no check.
    pub alone: bool,
    /// How rows are held out, such as `repeated(of=stratified(folds=5), repeats=3)`; folds that suit the rows' keys if not
    /// given.
    pub plan: Option<Spec>,
    /// Folds of the usual plan: 5 with a target, 10 for densities, fewer where rows or groups are fewer.
    pub folds: Option<usize>,
    /// How the stack is compared with its best member.
    pub check: CheckPolicy,
    /// What predicts new rows.
    pub ending: Ending,
    /// How class probabilities are calibrated, if they are.
    pub calibration: Option<CalibrationKind>,
    /// How wide prediction intervals of numbers are.
    pub intervals: IntervalKind,
    /// How far predictions of numbers may lie beyond the range of those learned from, in widths of that range: half a width if the
    /// members are the usual ones, without end if they are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// How far numeric inputs may lie beyond the range of those learned from, in widths of that range: members are asked about the nearest
    /// row within. Half a width if the members are the usual ones, without end if they are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
    /// The share of the class frequencies that is mixed into predicted probabilities, so that no class is impossible: n^-1.5 for n rows
    /// if the members are the usual ones, none if they are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<f64>,
    /// Whether the stack is kept even if the check finds its best member, or equal weights, better.
    pub keep_stack: bool,
    /// Whether members without weight are fitted and stored, too.
    pub keep_all: bool,
    /// Whether named members that cannot be fitted leave, as the usual ones do, instead of stopping the fit.
    pub drop_failed: bool,
    /// How much work the fit may take, where members, folds or check are not named.
    #[serde(skip_serializing_if = "Effort::is_usual")]
    pub effort: Effort,
    /// How long the fit may take, such as `10m`: members are asked one after another, those of most use first, and those
    /// that would not be done in time are left out. What is done depends on the machine then, and so does the model. The last step,
    /// fitting the kept members on all rows, is not cut short, but time is kept for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<TimeSpan>,
    /// Members at most that the stack gives weight to: the best set of so many, with what it loses against all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_members: Option<usize>,
    /// How long the kept members may take together to predict one row, such as `1ms`, as measured on this machine: the best
    /// set within that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predict_under: Option<TimeSpan>,
    /// Whether the model keeps the out-of-sample matrix.
    pub keep_matrix: bool,
    /// Whether the importance of the inputs, and how predictions move with the most important ones, is measured: kept members
    /// are fitted on the folds once more for it.
    pub explain: bool,
    /// How much memory the fit may take, such as `2G` or `800M`; half of what can be had if not given. A table that needs more is
    /// read block by block ([`stream`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// How the table is read.
    pub reading: Reading,
}

/// What a target column is predicted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetTask {
    /// Classes.
    Classify,
    /// Numbers.
    Regress,
    /// Inputs and class together, by a mixture of joint probabilities.
    Joint,
}

impl TargetTask {
    /// Whether the target holds classes.
    pub fn has_classes(self) -> bool {
        matches!(self, Self::Classify | Self::Joint)
    }
}

/// When the stack is checked on rows held out, and from what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckPolicy {
    /// Nested with a target and 15 to 5000 rows, else matrix.
    #[default]
    Auto,
    /// Rows held out from members and combiner alike: V(V-1)/2 more fits per member.
    Nested,
    /// Rows of the out-of-sample matrix held out from the combiner: no more fits, a little flattering.
    Matrix,
    /// No check, unless there is something to choose.
    None,
}

/// How a table is read, and which of its columns are inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Columns whose type is known; that of the others is inferred.
    pub types: BTreeMap<String, ColumnKind>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// The columns to use, if not all.
    pub keep: Vec<String>,
    /// Whether columns that look like identifiers or free text are inputs, too.
    pub all_columns: bool,
    /// Further words that mean a missing value.
    pub missing: Vec<String>,
    /// The character between the cells of CSV, if it is not to be found out; `\t` is a tab.
    pub delimiter: Option<String>,
}

impl Reading {
    /// The options that do not ask for certain columns.
    pub fn options(&self) -> Result<ReadOptions> {
        let mut options = ReadOptions { drop: self.drop.clone(), ..ReadOptions::default() };
        options.missing.extend(self.missing.iter().cloned());
        if let Some(word) = &self.delimiter {
            options.delimiter = Some(ReadOptions::parse_delimiter(word)?);
        }
        Ok(options)
    }

    /// The options by which a table is read; `always` are columns that `keep` need not name, `classes` one that holds classes
    /// even if they are spelled like numbers.
    pub fn read_options(&self, always: &[&str], classes: Option<&str>) -> Result<ReadOptions> {
        let mut options = self.options()?;
        options.schema.clone_from(&self.types);
        if let Some(name) = classes {
            options.schema.entry(name.to_string()).or_insert(ColumnKind::Categorical);
        }
        if !self.keep.is_empty() {
            options.keep.clone_from(&self.keep);
            options.keep.extend(always.iter().map(|&name| name.to_string()));
        }
        Ok(options)
    }

    /// Reads a table by these options.
    pub fn read(
        &self,
        path: &Path,
        always: &[&str],
        classes: Option<&str>,
        run: &Run,
    ) -> Result<Table> {
        table::read(path, &self.read_options(always, classes)?, run)
    }

    /// What is said here about the parts that columns play.
    pub fn roles(&self) -> Roles {
        Roles {
            inputs: self.keep.clone(),
            declared: self.types.keys().cloned().collect(),
            keep_all: self.all_columns,
            ..Roles::default()
        }
    }

    /// How tables are read, for a model to remember.
    fn conventions(&self) -> Result<Conventions> {
        let ReadOptions { missing, delimiter, .. } = self.options()?;
        Ok(Conventions { missing, delimiter, ..Conventions::default() })
    }
}

impl Recipe {
    /// Reads a recipe from the text of a TOML file; unknown keys are refused.
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::parse(text, Path::new("recipe"))
    }

    /// The text of a TOML file that [`Recipe::from_toml`] reads back.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::param("recipe", "writable as TOML", e))
    }

    /// Reads a recipe from a TOML file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
        Self::parse(&text, path)
    }

    /// Reads a text; mistakes are told with the file's name, their line, and the key that was perhaps meant.
    fn parse(text: &str, file: &Path) -> Result<Self> {
        toml::from_str(text).map_err(|mistake: toml::de::Error| {
            let line = mistake.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let line = line.map_or(String::new(), |line| format!("line {line}: "));
            let problem = format!("{line}{}", mistake.message().replace('\n', " "));
            let place = Place { file: Some(file.into()), ..Place::default() };
            let error = Error::data(place, problem);
            // "unknown field `tarjet`, expected one of `seed`, `target`, ..."
            let mut quoted = mistake.message().split('`').skip(1).step_by(2);
            match quoted.next().filter(|_| mistake.message().starts_with("unknown field")) {
                Some(word) => error.suggesting(word, quoted),
                None => error,
            }
        })
    }
}
