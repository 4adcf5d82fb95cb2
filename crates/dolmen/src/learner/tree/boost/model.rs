//! A fitted boosted model.

use serde::{Deserialize, Serialize};

use super::super::bins::Bins;
use super::super::fitted::{Rule, Tree};
use super::loss::Link;
use super::scorer::{Block, LANES, MOST_LEAVES, Scorer};
use crate::error::{Error, Result};
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Regression};

/// A sum of trees, and what it means.
#[derive(Debug, Clone)]
pub struct FittedBoost {
    body: Body,
    scorer: Scorer,
}

/// What is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Body {
    pub bins: Bins,
    /// Round after round, a tree for each output.
    pub trees: Vec<Tree>,
    pub start: Vec<f64>,
    pub link: Link,
    pub columns: Vec<String>,
    /// Each column's share of the gains.
    pub importance: Vec<f64>,
    pub notes: Vec<String>,
    /// The mean loss of the rows held out to stop it, round after round, those after the best one included; none if none were, or
    /// in files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<f64>,
}

impl FittedBoost {
    pub(super) fn new(body: Body) -> Result<Self> {
        let columns = body.bins.columns();
        let is_sound = |tree: &Tree| {
            let fits = |split: &super::super::fitted::Split| {
                columns.get(split.column as usize).is_some_and(|column| {
                    column.is_categorical() == matches!(split.rule, Rule::Within { .. })
                })
            };
            tree.width() == 1 && tree.leaves() <= MOST_LEAVES && tree.splits().iter().all(fits)
        };
        let sound = body.bins.is_sound()
            && body.link.takes(body.start.len())
            && body.trees.iter().all(is_sound);
        if !sound {
            return Err(Error::param("model file", "a readable 'boost'", "damaged"));
        }
        Ok(Self { scorer: Scorer::new(&body.trees, &body.bins), body })
    }

    /// The model of targets that all lie this much higher.
    pub(super) fn shifted(mut self, by: f64) -> Self {
        self.body.start.iter_mut().for_each(|start| *start += by);
        self
    }

    /// The trees, round after round, one for each output.
    pub fn trees(&self) -> &[Tree] {
        &self.body.trees
    }

    /// Each column's share of what all splits gained: they sum to 1, unless there was no split.
    pub fn importance(&self) -> &[f64] {
        &self.body.importance
    }

    /// Rounds of boosting.
    pub fn rounds(&self) -> usize {
        self.body.trees.len() / self.body.start.len()
    }

    /// The scores of rows, before the link; row after row.
    pub fn scores(&self, x: Rows<'_>) -> Result<Vec<f64>> {
        let (columns, outputs) = (self.body.bins.columns().len(), self.body.start.len());
        if x.width() != columns {
            return Err(Error::shape("input columns", columns, x.width()));
        }
        let coders = self.body.bins.coders();
        let mut codes: Vec<Block> = vec![[0; LANES]; columns];
        let mut lanes = vec![[0.0; LANES]; outputs];
        let mut scores = Vec::with_capacity(x.rows() * outputs);
        for first in (0..x.rows()).step_by(LANES) {
            let rows = x.slice(first..(first + LANES).min(x.rows()));
            for (j, (coder, codes)) in coders.iter().zip(&mut codes).enumerate() {
                coder.encode(rows.column(j), codes);
            }
            for (lane, start) in lanes.iter_mut().zip(&self.body.start) {
                lane.fill(*start);
            }
            self.scorer.add_scores(&codes, &mut lanes);
            scores.extend((0..rows.rows()).flat_map(|r| lanes.iter().map(move |lane| lane[r])));
        }
        Ok(scores)
    }

    /// Scores are the start plus what the trees say, tree k for output k modulo the number of outputs; the link makes
    /// predictions of them.
    pub fn parameters(&self) -> Parameters {
        let Body { trees, start, link, columns, importance, .. } = &self.body;
        let parameters = Parameters::new("boost").with("columns", columns).with("start", start);
        let parameters = match link {
            Link::Identity => parameters.with("link", "identity"),
            Link::Exp => parameters.with("link", "exp"),
            Link::Logistic(factor) => parameters.with("link", "logistic").with("factor", *factor),
            Link::Softmax => parameters.with("link", "softmax"),
        };
        let trees: Vec<Parameters> = trees.iter().map(Tree::parameters).collect();
        parameters.with("trees", trees).with("importance", importance)
    }

    fn predict_rows(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.body.link.apply(&self.scores(x)?, self.body.start.len(), out);
        Ok(())
    }

    fn fit_diagnostics(&self) -> Diagnostics {
        Diagnostics {
            iterations: Some(self.rounds()),
            notes: self.body.notes.clone(),
            series: [Series {
                name: "importance".into(),
                labels: self.body.columns.clone(),
                values: self.body.importance.clone(),
                is_numbered: false,
            }]
            .into_iter()
            .chain(Series::of_rounds(&self.body.losses))
            .collect(),
            ..Diagnostics::default()
        }
    }
}

/// Both tasks have the same model.
macro_rules! fitted {
    ($task:ty) => {
        impl Fitted<$task> for FittedBoost {
            fn width(&self) -> usize {
                self.body.link.width(self.body.start.len())
            }
            fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
                self.predict_rows(x, out)
            }
            fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
                let values = <Self as Fitted<$task>>::width(self);
                check_use("boost", (self.body.columns.len(), values), inputs, width)?;
                self.body.bins.check_inputs(inputs)
            }
            fn record(&self) -> Result<Record> {
                Record::new("boost", 1, &self.body)
            }
            fn parameters(&self) -> Parameters {
                self.parameters()
            }
            fn diagnostics(&self) -> Diagnostics {
                self.fit_diagnostics()
            }
        }

        impl Stored<$task> for FittedBoost {
            const KIND: &'static str = "boost";
            const VERSION: u32 = 1;
            fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
                Self::new(record.read()?)
            }
        }
    };
}

fitted!(Classification);
fitted!(Regression);
