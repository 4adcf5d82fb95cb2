//! A fitted member of the family: the tables and how their roots are mixed.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout, PIECE, ReadRow, Slot, Slots};
use super::learners::Counted;
use super::mixing::{Desk, Mixing, to_posterior};
use super::scale::Scale;
use super::tables::Tables;
use super::triples::Triples;
use crate::error::{Error, Result};
use crate::learner::{Diagnostics, Fitted, Sample, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry};
use crate::table::encode::Encoder;
use crate::table::{Kind, Rows, Schema};
use crate::target::{Labels, Target};
use crate::task::{Classification, Joint, Task};

/// What turns rows into values that can be counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Discretiser {
    pub(super) encoder: Encoder,
    /// Whether missing values are left out, instead of being one more value.
    pub(super) ignores_missing: bool,
    /// For every column whether it is an attribute; empty if all are.
    #[serde(default)]
    pub(super) chosen: Vec<bool>,
}

impl Discretiser {
    /// What counts are made of: the slots of a row, its class and its weight.
    pub(super) fn reader<'a, T: Task<Target = Labels>>(
        &'a self,
        layout: &'a Layout,
        sample: &'a Sample<'_, T>,
    ) -> impl ReadRow + 'a {
        |i, slots: &mut [Option<Slot>]| {
            self.read(layout, sample.x().row(i), slots);
            (sample.target().class(i), sample.weight(i))
        }
    }

    /// The slots of all rows, row after row.
    pub(super) fn slots_of<T: Task<Target = Labels>>(
        &self,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Slots {
        let width = layout.attributes().max(1);
        let mut coded = vec![None; sample.rows() * width];
        let rows = coded.par_chunks_exact_mut(width).enumerate().with_min_len(PIECE);
        rows.for_each(|(i, slots)| self.read(layout, sample.x().row(i), slots));
        coded
    }

    /// Counts the rows of a sample.
    pub(super) fn count<T: Task<Target = Labels>>(
        &self,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Counts {
        Counts::of_rows(layout, sample.rows(), self.reader(layout, sample))
    }

    /// Counts the triples of values of a sample's rows.
    pub(super) fn count_triples<T: Task<Target = Labels>>(
        &self,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Result<Triples> {
        Triples::of_rows(layout, sample.rows(), self.reader(layout, sample))
    }

    /// Values of each attribute.
    pub(super) fn values(&self) -> Vec<usize> {
        let fields = self.encoder.schema().fields().iter().enumerate();
        let chosen = fields.filter(|(column, _)| self.is_chosen(*column));
        let values = chosen.map(|(u, field)| match &field.kind {
            Kind::Categorical { levels } => {
                let is_ignored = self.ignores_missing && self.encoder.has_missing_level(u);
                (levels.len() - usize::from(is_ignored)).max(1)
            }
            Kind::Numeric => 1,
        });
        values.collect()
    }

    fn is_chosen(&self, column: usize) -> bool {
        self.chosen.get(column).is_none_or(|is_chosen| *is_chosen)
    }

    /// Which attribute a column is that was chosen.
    pub(super) fn attribute(&self, column: usize) -> usize {
        (0..column).filter(|other| self.is_chosen(*other)).count()
    }

    /// The names of the attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let fields = self.encoder.schema().fields().iter().enumerate();
        fields.filter(|(u, _)| self.is_chosen(*u)).map(|(_, field)| field.name.as_str())
    }

    /// Reads the slots of a row's values.
    pub(super) fn read(&self, layout: &Layout, row: &[f64], slots: &mut [Option<Slot>]) {
        let columns = self.encoder.levels(row).zip(row).enumerate();
        let values = columns.filter(|(column, _)| self.is_chosen(*column));
        for ((u, slot), (_, (level, value))) in slots.iter_mut().enumerate().zip(values) {
            let is_ignored = self.ignores_missing && value.is_nan();
            *slot = level.filter(|_| !is_ignored).map(|level| layout.slot(u, level));
        }
    }
}

/// A fitted model of the one-dependence family.
#[derive(Debug, Clone)]
pub struct FittedOneDependence {
    pub(super) counted: Counted,
    pub(super) mixing: Mixing,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    discretiser: Discretiser,
    counts: Counts,
    #[serde(default)]
    triples: Option<Triples>,
    mixing: Mixing,
    notes: Vec<String>,
}

impl FittedOneDependence {
    pub(super) fn new(counted: Counted, mixing: Mixing, notes: Vec<String>) -> Self {
        Self { counted, mixing, notes }
    }

    fn tables(&self) -> &Tables {
        &self.counted.tables
    }

    /// The model with further rows counted in. Bins and the weights of roots stay as they are.
    pub fn extended<T: Task<Target = Labels>>(&self, sample: &Sample<'_, T>) -> Result<Self> {
        let layout = self.tables().layout();
        let columns = self.counted.discretiser.encoder.width();
        if sample.x().width() != columns {
            return Err(Error::shape("input columns", columns, sample.x().width()));
        }
        if sample.target().classes().len() != layout.classes() {
            let found = sample.target().classes().len();
            return Err(Error::shape("classes", layout.classes(), found));
        }
        let discretiser = &self.counted.discretiser;
        let mut counts = self.tables().counts().clone();
        counts.add_rows(1.0, sample.rows(), discretiser.reader(layout, sample));
        let triples = match &self.counted.triples {
            Some(before) => {
                let mut triples = before.triples().clone();
                triples.add(&discretiser.count_triples(layout, sample)?, 1.0);
                Some(triples)
            }
            None => None,
        };
        let counted = Counted::new(discretiser.clone(), counts, triples);
        Ok(Self { counted, ..self.clone() })
    }

    fn classes(&self) -> usize {
        self.tables().layout().classes()
    }

    /// p(c, x) for every class, and the scale it is on; for a mixture of posteriors p(c | x).
    fn mix_row(&self, slots: &[Option<Slot>], desk: &mut Desk, out: &mut [f64]) -> Scale {
        match &self.mixing {
            Mixing::Naive => {
                self.tables().naive(slots, out);
                Scale::Log
            }
            Mixing::Root(u) => {
                self.tables().rooted(*u, slots, out);
                Scale::Log
            }
            Mixing::Frequent(threshold) => self.average(*threshold, slots, desk, out),
            Mixing::FrequentPairs(threshold) => self
                .average_pairs(*threshold, slots, desk, out)
                .unwrap_or_else(|| self.average(*threshold, slots, desk, out)),
            Mixing::Joint(weights) => {
                desk.put_roots(self.tables(), slots);
                desk.mix(weights.iter().copied(), out)
            }
            Mixing::Posterior(weights) => {
                desk.put_roots(self.tables(), slots);
                desk.normalise(out.len());
                desk.mix(weights.iter().copied(), out)
            }
        }
    }

    /// The mean over roots whose value has more rows than the threshold; naive Bayes if there are none.
    fn average(
        &self,
        threshold: f64,
        slots: &[Option<Slot>],
        desk: &mut Desk,
        out: &mut [f64],
    ) -> Scale {
        let is_frequent =
            |slot: &Option<Slot>| slot.is_some_and(|a| self.tables().total(a) > threshold);
        let frequent = slots.iter().filter(|slot| is_frequent(slot)).count();
        if frequent == 0 {
            self.tables().naive(slots, out);
            return Scale::Log;
        }
        desk.put_roots(self.tables(), slots);
        if frequent < slots.len() {
            desk.keep_where(slots.iter().map(is_frequent));
        }
        desk.mix(std::iter::repeat(1.0 / frequent as f64), out)
    }

    /// The mean over pairs of roots whose values have more rows in common than the threshold, if there are any.
    fn average_pairs<'a>(
        &self,
        threshold: f64,
        slots: &'a [Option<Slot>],
        desk: &mut Desk,
        out: &mut [f64],
    ) -> Option<Scale> {
        let triples = self.counted.triples.as_ref()?;
        let counts = self.tables().counts();
        let known = |slots: &'a [Option<Slot>]| {
            slots.iter().enumerate().filter_map(|(u, a)| Some((u, (*a)?.index())))
        };
        let mut frequent = 0;
        for second in known(slots) {
            for first in known(&slots[..second.0]) {
                if counts.pair(first.1, second.1).iter().sum::<f64>() > threshold {
                    let joint = desk.room_after(frequent, out.len());
                    triples.rooted((first, second), slots, counts, joint);
                    frequent += 1;
                }
            }
        }
        (frequent > 0).then(|| desk.mix(std::iter::repeat(1.0 / frequent as f64), out))
    }

    /// For every row ln p(c, x), or p(c | x) if not in log space.
    fn predict_rows(&self, x: Rows<'_>, log_space: bool, out: &mut [f64]) -> Result<()> {
        let layout = self.tables().layout();
        let columns = self.counted.discretiser.encoder.width();
        if x.width() != columns {
            return Err(Error::shape("input columns", columns, x.width()));
        }
        let (mut slots, mut desk) = (vec![None; layout.attributes()], Desk::default());
        for (row, out) in x.iter().zip(out.chunks_exact_mut(layout.classes())) {
            self.counted.discretiser.read(layout, row, &mut slots);
            self.predict_row(&slots, log_space, &mut desk, out);
        }
        Ok(())
    }

    fn predict_row(
        &self,
        slots: &[Option<Slot>],
        log_space: bool,
        desk: &mut Desk,
        out: &mut [f64],
    ) {
        let scale = self.mix_row(slots, desk, out);
        if log_space {
            out.iter_mut().for_each(|joint| *joint = scale.ln(*joint));
        } else {
            to_posterior(scale, out);
        }
    }

    /// The same for rows whose values are coded already.
    pub(super) fn predict_slots<'a>(
        &self,
        rows: impl ExactSizeIterator<Item = &'a [Option<Slot>]>,
        log_space: bool,
    ) -> Vec<f64> {
        let classes = self.classes();
        let mut desk = Desk::default();
        let mut predicted = vec![0.0; rows.len() * classes];
        for (slots, out) in rows.zip(predicted.chunks_exact_mut(classes)) {
            self.predict_row(slots, log_space, &mut desk, out);
        }
        predicted
    }

    fn stored(&self) -> Result<Record> {
        let body = Body {
            discretiser: self.counted.discretiser.clone(),
            counts: self.tables().counts().clone(),
            triples: self.counted.triples.as_ref().map(|tables| tables.triples().clone()),
            mixing: self.mixing.clone(),
            notes: self.notes.clone(),
        };
        Record::new("one-dependence", 2, &body)
    }

    fn restored(record: &Record) -> Result<Self> {
        let Body { discretiser, counts, triples, mixing, notes } = record.read()?;
        let attributes = discretiser.names().count();
        let is_paired = counts.layout().is_paired();
        let fits = match &mixing {
            _ if ![0, discretiser.encoder.width()].contains(&discretiser.chosen.len()) => false,
            Mixing::Naive => true,
            _ if !is_paired => false,
            Mixing::Root(u) => *u < attributes,
            Mixing::Joint(weights) | Mixing::Posterior(weights) => weights.len() == attributes,
            Mixing::FrequentPairs(_) => triples.is_some(),
            Mixing::Frequent(_) => true,
        };
        let whole_triples = || triples.as_ref().is_none_or(|t| t.is_whole(counts.layout()));
        let discrete = discretiser.encoder.is_discrete();
        record.require(
            counts.layout().attributes() == attributes && discrete && fits && whole_triples(),
        )?;
        Ok(Self::new(Counted::new(discretiser, counts, triples), mixing, notes))
    }

    fn validated(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use("one-dependence", (inputs.len(), self.classes()), inputs, width)?;
        self.counted.discretiser.encoder.check_inputs(inputs)
    }

    fn described(&self) -> Diagnostics {
        let series = match &self.mixing {
            Mixing::Joint(weights) | Mixing::Posterior(weights) => {
                let labels = self.counted.discretiser.names().map(String::from).collect();
                vec![Series {
                    name: "weight of root".into(),
                    labels,
                    values: weights.clone(),
                    is_numbered: false,
                }]
            }
            _ => Vec::new(),
        };
        Diagnostics { notes: self.notes.clone(), series, ..Diagnostics::default() }
    }
}

impl Fitted<Joint> for FittedOneDependence {
    fn width(&self) -> usize {
        self.classes()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.predict_rows(x, Joint::LOG_SPACE, out)
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.validated(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
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
        self.predict_rows(x, Classification::LOG_SPACE, out)
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.validated(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.described()
    }
}

impl Stored<Classification> for FittedOneDependence {
    const KIND: &'static str = "one-dependence";
    const VERSION: u32 = 2;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Self::restored(record)
    }
}

impl Stored<Joint> for FittedOneDependence {
    const KIND: &'static str = "one-dependence";
    const VERSION: u32 = 2;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Self::restored(record)
    }
}
