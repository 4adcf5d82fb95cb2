//! The fitted forest.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::super::Bins;
use super::ForestTask;
use super::packed::Packed;
use super::walk::{PackedRows, Walker};
use crate::error::Result;
use crate::learner::unit::Unit;
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// Rows predicted at a time: enough to make it worth while to bring a tree into the cache.
const BLOCK: usize = 32768;

/// A fitted forest: predicts the average of its trees.
#[derive(Debug)]
pub struct FittedForest<T: Task> {
    body: Body,
    task: PhantomData<T>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Body {
    width: usize,
    bins: Bins,
    trees: Vec<Packed>,
    series: Vec<Series>,
    /// The unit of what the trees say; files of version 2 have none.
    #[serde(default)]
    unit: Unit,
}

impl<T: ForestTask> FittedForest<T> {
    pub(super) fn new(
        width: usize,
        unit: Unit,
        bins: Bins,
        trees: Vec<Packed>,
        series: Vec<Series>,
    ) -> Self {
        Self { body: Body { width, bins, trees, series, unit }, task: PhantomData }
    }

    /// How much each input column matters: shares that sum to 1.
    pub fn importance(&self) -> &[f64] {
        self.body.series.first().map_or(&[], |series| &series.values)
    }

    /// How good the forest is on rows that trees had not drawn: the mean log score for classes, the root mean square error for
    /// numbers; `None` where every tree learned from all rows.
    pub fn out_of_bag(&self) -> Option<f64> {
        let series = self.body.series.iter().find(|series| series.name == "out-of-bag")?;
        series.values.first().copied()
    }
}

impl Body {
    /// Sums what the trees say of a few rows, in their order.
    fn sum_into(&self, x: &PackedRows, sums: &mut [f64]) {
        let stride = sums.len() / x.rows().max(1);
        let mut walker = Walker::new();
        for tree in &self.trees {
            walker.walk(tree, x, 0..x.rows(), |row, values| {
                let sums = &mut sums[row * stride..(row + 1) * stride];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
            });
        }
    }
}

/// The prediction of a row from what so many trees said of it together.
pub(super) fn average(sums: &[f64], trees: f64, out: &mut [f64]) {
    if sums.len() < out.len() {
        let second = sums[0] / trees;
        out.copy_from_slice(&[1.0 - second, second]);
    } else if let [sum] = sums {
        out[0] = sum / trees;
    } else {
        // Single precision leaves the frequencies of a leaf a little off 1.
        let total: f64 = sums.iter().sum();
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum / total);
    }
}

impl<T: ForestTask> Fitted<T> for FittedForest<T> {
    fn width(&self) -> usize {
        self.body.width
    }

    fn block(&self) -> usize {
        BLOCK
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let Body { width, ref bins, ref trees, unit, .. } = self.body;
        let stride = trees[0].stride();
        let count = trees.len() as f64;
        let mut sums = Vec::new();
        for (block, out) in out.chunks_mut(BLOCK * width).enumerate() {
            let first = block * BLOCK;
            let rows = PackedRows::new(bins, x.slice(first..first + out.len() / width))?;
            sums.clear();
            sums.resize(rows.rows() * stride, 0.0);
            self.body.sum_into(&rows, &mut sums);
            for (out, sums) in out.chunks_exact_mut(width).zip(sums.chunks_exact(stride)) {
                average(sums, count, out);
                if width == 1 {
                    out[0] = unit.restore(out[0]);
                }
            }
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.body.bins.columns().len(), self.body.width), inputs, width)?;
        self.body.bins.check_inputs(inputs)
    }

    fn record(&self) -> Result<Record> {
        Record::new(Self::KIND, Self::VERSION, &self.body)
    }

    /// The prediction is the average of the trees, for classes divided by its sum.
    fn parameters(&self) -> Parameters {
        let Body { width, ref bins, ref trees, unit, ref series } = self.body;
        let trees = trees.iter().map(|tree| tree.parameters(bins, width, unit));
        Parameters::new(Self::KIND)
            .with("trees", trees.collect::<Vec<Parameters>>())
            .with_some("columns", series.first().map(|series| &series.labels))
            .with("importance", self.importance())
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics { series: self.body.series.clone(), ..Diagnostics::default() }
    }
}

impl<T: ForestTask> Stored<T> for FittedForest<T> {
    const KIND: &'static str = "forest";
    const VERSION: u32 = 3;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        let stride = if body.width == 2 { 1 } else { body.width };
        let columns = body.bins.columns().len();
        let suits = |tree: &Packed| tree.stride() == stride && tree.suits(columns);
        let sound = body.bins.is_sound() && !body.trees.is_empty() && body.width > 0;
        record.require(sound && body.trees.iter().all(suits))?;
        Ok(Self { body, task: PhantomData })
    }
}
