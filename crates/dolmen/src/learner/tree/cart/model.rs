//! A fitted decision tree.

use serde::{Deserialize, Serialize};

use super::super::fitted::Tree;
use crate::error::{Error, Result};
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Regression};

/// A fitted [`super::DecisionTree`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedTree {
    pub(super) tree: Tree,
    pub(super) columns: Vec<String>,
    pub(super) importance: Vec<f64>,
    pub(super) alpha: f64,
    pub(super) path: Vec<f64>,
}

impl FittedTree {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The price of a leaf it was pruned by.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The prices at which the unpruned tree loses leaves, in ascending order.
    pub fn alphas(&self) -> &[f64] {
        &self.path
    }

    /// Each column's share of what all splits gained: they sum to 1, unless there was no split.
    pub fn importance(&self) -> &[f64] {
        &self.importance
    }

    /// The tree, its columns and what they matter.
    pub fn parameters(&self) -> Parameters {
        Parameters::new("tree")
            .with("columns", &self.columns)
            .with("tree", self.tree.parameters())
            .with("importance", &self.importance)
            .with("alpha", self.alpha)
    }

    fn predict_rows(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        if x.width() != self.columns.len() {
            return Err(Error::shape("input columns", self.columns.len(), x.width()));
        }
        for (row, out) in x.iter().zip(out.chunks_exact_mut(self.tree.width())) {
            out.copy_from_slice(self.tree.value(self.tree.leaf(row)));
        }
        Ok(())
    }

    fn fit_diagnostics(&self) -> Diagnostics {
        let (leaves, depth) = (self.tree.leaves(), self.tree.depth());
        Diagnostics {
            notes: vec![format!("{leaves} leaves, depth {depth}, alpha {:.4e}", self.alpha)],
            series: vec![Series {
                name: "importance".into(),
                labels: self.columns.clone(),
                values: self.importance.clone(),
                is_numbered: false,
            }],
            ..Diagnostics::default()
        }
    }
}

/// Both tasks have the same model.
macro_rules! fitted {
    ($task:ty) => {
        impl Fitted<$task> for FittedTree {
            fn width(&self) -> usize {
                self.tree.width()
            }
            fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
                self.predict_rows(x, out)
            }
            fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
                check_use("tree", (self.columns.len(), self.tree.width()), inputs, width)
            }
            fn record(&self) -> Result<Record> {
                Record::new("tree", 1, self)
            }
            fn parameters(&self) -> Parameters {
                self.parameters()
            }
            fn diagnostics(&self) -> Diagnostics {
                self.fit_diagnostics()
            }
        }

        impl Stored<$task> for FittedTree {
            const KIND: &'static str = "tree";
            const VERSION: u32 = 1;
            fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
                let model: Self = record.read()?;
                let columns = model.columns.len();
                record.require(
                    model.tree.columns_needed() <= columns
                        && model.importance.len() == columns
                        && model.tree.width() > 0,
                )?;
                Ok(model)
            }
        }
    };
}

fitted!(Classification);
fitted!(Regression);
