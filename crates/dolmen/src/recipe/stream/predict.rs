//! What every member says about the rows of a block, each row by the fit that had not seen it.

use serde::{Deserialize, Serialize};

use super::block::Block;
use super::context::{Context, Rows};
use super::lockstep::LearnerFits;
use super::weights::Streamable;
use super::work::{Outcome, Sent, Work, from_bytes, known, sent, to_bytes};
use crate::error::{Error, Place, Result};
use crate::learner::{Fitted, is_unusable, predict, prediction_is};
use crate::run::Run;
use crate::store::{Record, Registry};
use crate::table::{self, Categories};
use crate::target::Target;

/// The members' names, and for each fold the members' fits without it.
#[derive(Serialize, Deserialize)]
pub(super) struct SentFits {
    members: Vec<String>,
    folds: Vec<Vec<Record>>,
    keeps_rows: bool,
}

/// The predictions of a block.
pub(super) struct PredictWork<'a, T: Streamable> {
    context: Context,
    members: Vec<String>,
    /// For each fold the members' fits without it.
    folds: Vec<Vec<Held<'a, T>>>,
    /// Whether whole prediction rows are wanted.
    keeps_rows: bool,
}

/// A model of one's own, or of somebody else.
enum Held<'a, T: Streamable> {
    Own(Box<dyn Fitted<T>>),
    Lent(&'a dyn Fitted<T>),
}

impl<T: Streamable> Held<'_, T> {
    fn model(&self) -> &dyn Fitted<T> {
        match self {
            Self::Own(model) => model.as_ref(),
            Self::Lent(model) => *model,
        }
    }
}

/// What the members said.
#[derive(Serialize, Deserialize)]
pub(super) struct BlockPredictions {
    /// The weights of the rows that have a target.
    #[serde(with = "crate::store::floats")]
    pub(super) weights: Vec<f64>,
    /// The folds in which they were held out.
    #[serde(with = "crate::store::floats")]
    pub(super) folds: Vec<f64>,
    /// Of those rows, what weights need of each member's predictions, and the truth where they need it.
    pub(super) entries: Vec<Column>,
    /// Of those in the sample, each member's prediction rows.
    pub(super) sampled: Vec<Column>,
    /// If they are wanted, the targets as numbers, and each member's prediction rows.
    pub(super) rows: Vec<Column>,
    /// If those are wanted, the rows' groups, where they have any.
    pub(super) groups: Option<Vec<u32>>,
}

/// A column of numbers.
#[derive(Serialize, Deserialize)]
pub(super) struct Column(#[serde(with = "crate::store::floats")] pub(super) Vec<f64>);

impl<'a, T: Streamable> PredictWork<'a, T> {
    pub(super) fn new(context: &Context, learners: &'a [LearnerFits<T>], keeps_rows: bool) -> Self {
        let folds = learners.first().map_or(0, |own| own.folds.len());
        let of_fold = |fold: usize| {
            let models = learners.iter().flat_map(move |own| &own.folds[fold]);
            models.map(|model| Held::Lent(model.as_ref())).collect()
        };
        Self {
            context: context.clone(),
            members: learners.iter().flat_map(|own| own.members.clone()).collect(),
            folds: (0..folds).map(of_fold).collect(),
            keeps_rows,
        }
    }

    /// What was sent.
    pub(super) fn read(context: Context, sent: &SentFits, registry: &Registry) -> Result<Self> {
        let model = |record: &Record| Ok(Held::Own(registry.model::<T>(record)?));
        let fold = |records: &Vec<Record>| records.iter().map(model).collect::<Result<Vec<_>>>();
        let folds = sent.folds.iter().map(fold).collect::<Result<_>>()?;
        Ok(Self { context, members: sent.members.clone(), folds, keeps_rows: sent.keeps_rows })
    }

    /// Each member's prediction rows: one column for each, rows x width.
    fn predict(&self, rows: &Rows<T>, width: usize, run: &Run) -> Result<Vec<Vec<f64>>> {
        let mut columns = vec![vec![0.0; rows.count() * width]; self.members.len()];
        for (fold, models) in self.folds.iter().enumerate() {
            let held_out = rows.of_fold(fold);
            let x = rows.features.rows().view(held_out.as_slice());
            for ((column, held), name) in columns.iter_mut().zip(models).zip(&self.members) {
                let predicted = predict(held.model(), x.rows(), run)?;
                for (&i, predicted) in held_out.iter().zip(predicted.chunks_exact(width)) {
                    if let Some(value) = predicted.iter().find(|value| is_unusable::<T>(**value)) {
                        let problem = prediction_is(*value, rows.first as usize + i);
                        let source = Box::new(Error::data(Place::default(), problem));
                        let (member, split) = (name.clone(), Some(fold));
                        return Err(Error::Member { member, split, source });
                    }
                    column[i * width..(i + 1) * width].copy_from_slice(predicted);
                }
            }
        }
        Ok(columns)
    }
}

/// A target of so many rows as numbers, of classes their codes.
fn as_numbers(target: &impl Target, rows: usize) -> Vec<f64> {
    match target.to_column() {
        None => vec![0.0; rows],
        Some(table::Column::Numeric(values)) => values,
        Some(table::Column::Categorical(classes)) => {
            classes.codes.into_iter().map(f64::from).collect()
        }
    }
}

/// The target that was written as such numbers, of these classes if it has any.
pub(super) fn from_numbers<T: Target>(numbers: Vec<f64>, like: &T) -> Option<T> {
    let column = match (like.rows(), like.classes()) {
        (None, _) => None,
        (Some(_), []) => Some(table::Column::Numeric(numbers)),
        (Some(_), classes) => {
            let codes = numbers.into_iter().map(|code| code as u32).collect();
            Some(table::Column::Categorical(Categories { levels: classes.into(), codes }))
        }
    };
    T::from_column(column, like.classes())
}

impl<T: Streamable> Work for PredictWork<'_, T> {
    fn on_block(&self, block: &mut Block, run: &Run) -> Result<Outcome> {
        let rows = block.rows::<T>(&self.context)?;
        let width = T::width(&rows.target);
        let columns = self.predict(&rows, width, run)?;
        let entry = |column: &Vec<f64>| {
            let row = |&i: &usize| T::entry(&column[i * width..][..width], &rows.target, i);
            Column(rows.present.iter().map(row).collect())
        };
        let mut entries: Vec<Column> = columns.iter().map(entry).collect();
        let numbers = || as_numbers(&rows.target, rows.count());
        if T::TRUTH {
            let truth = numbers();
            entries.push(Column(rows.present.iter().map(|&i| truth[i]).collect()));
        }
        let sampled = |column: &Vec<f64>| {
            Column(
                rows.sampled.iter().flat_map(|i| &column[i * width..][..width]).copied().collect(),
            )
        };
        let mut kept = Vec::new();
        if self.keeps_rows {
            let chosen = |column: &Vec<f64>, width: usize| {
                let row = |i: &usize| column[i * width..][..width].iter().copied();
                Column(rows.present.iter().flat_map(row).collect())
            };
            kept.push(chosen(&numbers(), 1));
            kept.extend(columns.iter().map(|column| chosen(column, width)));
        }
        Ok(Box::new(BlockPredictions {
            rows: kept,
            groups: if self.keeps_rows { rows.groups() } else { None },
            weights: rows.present.iter().map(|&i| rows.weight(i)).collect(),
            folds: rows.present.iter().map(|&i| rows.fold(i) as f64).collect(),
            entries,
            sampled: columns.iter().map(sampled).collect(),
        }))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let records = |models: &Vec<Held<'_, T>>| {
            models.iter().map(|held| held.model().record()).collect::<Result<Vec<Record>>>()
        };
        let folds = self.folds.iter().map(records).collect::<Result<_>>()?;
        let members = self.members.clone();
        let fits = SentFits { members, folds, keeps_rows: self.keeps_rows };
        sent(Some(&self.context), &Sent::Predict(T::NAME.into(), fits))
    }

    fn write_outcome(&self, outcome: &Outcome) -> Result<Vec<u8>> {
        to_bytes(known::<BlockPredictions>(outcome)?)
    }

    fn read_outcome(&self, bytes: &[u8]) -> Result<Outcome> {
        Ok(Box::new(from_bytes::<BlockPredictions>(bytes)?))
    }
}
