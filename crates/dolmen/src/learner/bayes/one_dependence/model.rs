//! A fitted member of the family: the tables and how their roots are mixed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout, Room};
use super::tables::Tables;
use crate::error::{Error, Place, Result};
use crate::learner::{Diagnostics, Fitted, Sample, Series};
use crate::math::log_sum_exp;
use crate::store::{Record, Registry, Stored};
use crate::table::Rows;
use crate::table::encode::Encoder;
use crate::task::{Classification, Joint, Labels, Target, Task};

/// How the one-dependence estimators of all roots become one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Mixing {
    /// No roots: naive Bayes.
    Naive,
    /// One root alone.
    Root(usize),
    /// The mean of p_u(c, x) over roots whose value has more rows than this; naive Bayes if there are none.
    Frequent(f64),
    /// sum_u alpha_u p_u(c, x).
    Joint(Vec<f64>),
    /// sum_u alpha_u p_u(c | x).
    Posterior(Vec<f64>),
}

/// What turns rows into values that can be counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Discretiser {
    pub(super) encoder: Encoder,
    /// Whether missing values are left out, instead of being one more value.
    pub(super) ignores_missing: bool,
}

impl Discretiser {
    /// Counts the rows of a sample.
    pub(super) fn count<T: Task<Target = Labels>>(
        &self,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Counts {
        Counts::of_rows(layout, sample.rows(), |i, room| {
            self.read(layout, sample.x().row(i), room);
            (sample.target().class(i), sample.weight(i))
        })
    }

    /// Reads the slots of a row's values.
    pub(super) fn read(&self, layout: &Layout, row: &[f64], room: &mut Room) {
        room.codes.resize(row.len(), 0.0);
        self.encoder.apply_into(row, &mut room.codes);
        let slot = |(u, (code, value)): (usize, (&f64, &f64))| {
            if self.ignores_missing && value.is_nan() { None } else { layout.slot(u, *code) }
        };
        room.slots.clear();
        room.slots.extend(room.codes.iter().zip(row).enumerate().map(slot));
    }
}

/// A fitted model of the one-dependence family.
#[derive(Debug, Clone)]
pub struct FittedOneDependence {
    discretiser: Discretiser,
    tables: Arc<Tables>,
    mixing: Mixing,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    discretiser: Discretiser,
    counts: Counts,
    mixing: Mixing,
    notes: Vec<String>,
}

impl FittedOneDependence {
    pub(super) fn new(
        discretiser: Discretiser,
        tables: Arc<Tables>,
        mixing: Mixing,
        notes: Vec<String>,
    ) -> Self {
        Self { discretiser, tables, mixing, notes }
    }

    /// The model with further rows counted in. Bins and the weights of roots stay as they are.
    pub fn extended<T: Task<Target = Labels>>(&self, sample: &Sample<'_, T>) -> Result<Self> {
        let layout = self.tables.layout();
        if sample.x().width() != layout.attributes() {
            return Err(Error::shape("input columns", layout.attributes(), sample.x().width()));
        }
        if sample.target().classes().len() != layout.classes() {
            let found = sample.target().classes().len();
            return Err(Error::shape("classes", layout.classes(), found));
        }
        let further = self.discretiser.count(layout, sample);
        let counts = self.tables.counts().clone().extended(further);
        Ok(Self { tables: Arc::new(Tables::new(counts)), ..self.clone() })
    }

    fn classes(&self) -> usize {
        self.tables.layout().classes()
    }

    /// ln p(c, x) for every class; for a mixture of posteriors ln p(c | x). `joints` and `equal` are room for the roots.
    fn log_row(
        &self,
        slots: &[Option<usize>],
        joints: &mut [f64],
        equal: &mut [f64],
        out: &mut [f64],
    ) {
        let classes = out.len();
        let rooted = |u: usize, joints: &mut [f64]| {
            self.tables.rooted(u, slots, &mut joints[u * classes..(u + 1) * classes]);
        };
        let all = |joints: &mut [f64]| (0..slots.len()).for_each(|u| rooted(u, joints));
        match &self.mixing {
            Mixing::Naive => self.tables.naive(slots, out),
            Mixing::Root(u) => self.tables.rooted(*u, slots, out),
            Mixing::Frequent(threshold) => {
                let counts = self.tables.counts();
                let frequent =
                    |slot: &Option<usize>| slot.is_some_and(|a| counts.total(a) > *threshold);
                let count = slots.iter().filter(|slot| frequent(slot)).count();
                if count == 0 {
                    return self.tables.naive(slots, out);
                }
                let share = 1.0 / count as f64;
                for (weight, slot) in equal.iter_mut().zip(slots) {
                    *weight = if frequent(slot) { share } else { 0.0 };
                }
                all(joints);
                mix(equal, joints, out);
            }
            Mixing::Joint(weights) => {
                all(joints);
                mix(weights, joints, out);
            }
            Mixing::Posterior(weights) => {
                all(joints);
                joints.chunks_exact_mut(classes).for_each(normalise);
                mix(weights, joints, out);
            }
        }
    }

    fn log_rows_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let layout = self.tables.layout();
        if x.width() != layout.attributes() {
            return Err(Error::shape("input columns", layout.attributes(), x.width()));
        }
        let mut room = Room::default();
        let mut joints = vec![0.0; layout.attributes() * layout.classes()];
        let mut weights = vec![0.0; layout.attributes()];
        for (row, out) in x.iter().zip(out.chunks_exact_mut(layout.classes())) {
            self.discretiser.read(layout, row, &mut room);
            self.log_row(&room.slots, &mut joints, &mut weights, out);
        }
        Ok(())
    }

    fn stored(&self) -> Result<Record> {
        let body = Body {
            discretiser: self.discretiser.clone(),
            counts: self.tables.counts().clone(),
            mixing: self.mixing.clone(),
            notes: self.notes.clone(),
        };
        Record::new("one-dependence", 1, &body)
    }

    fn restored(record: &Record) -> Result<Self> {
        let Body { discretiser, counts, mixing, notes } = record.read()?;
        let attributes = discretiser.encoder.width();
        let fits = match &mixing {
            Mixing::Root(u) => *u < attributes,
            Mixing::Joint(weights) | Mixing::Posterior(weights) => weights.len() == attributes,
            Mixing::Naive | Mixing::Frequent(_) => true,
        };
        if !(counts.is_whole() && counts.layout().attributes() == attributes && fits) {
            return Err(Error::data(Place::default(), "the stored counts are damaged"));
        }
        Ok(Self::new(discretiser, Arc::new(Tables::new(counts)), mixing, notes))
    }

    fn described(&self) -> Diagnostics {
        let series = match &self.mixing {
            Mixing::Joint(weights) | Mixing::Posterior(weights) => {
                let fields = self.discretiser.encoder.schema().fields();
                let labels = fields.iter().map(|field| field.name.clone()).collect();
                vec![Series { name: "weight of root".into(), labels, values: weights.clone() }]
            }
            _ => Vec::new(),
        };
        Diagnostics { notes: self.notes.clone(), series, ..Diagnostics::default() }
    }
}

/// ln sum_u weights_u exp(joints_u) for every class.
fn mix(weights: &[f64], joints: &[f64], out: &mut [f64]) {
    let classes = out.len();
    Joint::mix(weights, |u| &joints[u * classes..(u + 1) * classes], out);
}

/// ln p(c | x) from ln p(c, x).
fn normalise(joint: &mut [f64]) {
    let total = log_sum_exp(joint);
    joint.iter_mut().for_each(|log| *log -= total);
}

impl Fitted<Joint> for FittedOneDependence {
    fn width(&self) -> usize {
        self.classes()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.log_rows_into(x, out)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.described()
    }
}

impl Fitted<Classification> for FittedOneDependence {
    fn width(&self) -> usize {
        self.classes()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.log_rows_into(x, out)?;
        for row in out.chunks_exact_mut(self.classes()) {
            normalise(row);
            row.iter_mut().for_each(|log| *log = log.exp());
        }
        Ok(())
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.described()
    }
}

impl Stored<Classification> for FittedOneDependence {
    const KIND: &'static str = "one-dependence";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry<Classification>) -> Result<Self> {
        Self::restored(record)
    }
}

impl Stored<Joint> for FittedOneDependence {
    const KIND: &'static str = "one-dependence";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry<Joint>) -> Result<Self> {
        Self::restored(record)
    }
}
