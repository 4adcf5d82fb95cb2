//! A fitted member of the family: the tables and how their roots are mixed.

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout, Room, Slot, Slots};
use super::learners::Counted;
use super::tables::Tables;
use super::triples::Triples;
use crate::error::{Error, Place, Result};
use crate::learner::{Diagnostics, Fitted, Sample, Series};
use crate::math::{bulk, log_sum_exp};
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
    /// The mean of p_uw(c, x) over pairs whose values occur together in more rows than this; `Frequent` if there are none.
    FrequentPairs(f64),
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
    /// What counts are made of: the slots of a row, its class and its weight.
    pub(super) fn reader<'a, T: Task<Target = Labels>>(
        &'a self,
        layout: &'a Layout,
        sample: &'a Sample<'_, T>,
    ) -> impl Fn(usize, &mut Room) -> (usize, f64) + Sync + 'a {
        |i, room| {
            self.read(layout, sample.x().row(i), room);
            (sample.target().class(i), sample.weight(i))
        }
    }

    /// The slots of all rows, row after row.
    pub(super) fn slots_of<T: Task<Target = Labels>>(
        &self,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Slots {
        let mut room = Room::default();
        let mut coded = Slots::with_capacity(sample.rows() * layout.attributes());
        for row in sample.x().iter() {
            self.read(layout, row, &mut room);
            coded.extend_from_slice(&room.slots);
        }
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
    counted: Counted,
    mixing: Mixing,
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

/// Room for predicting one row after the other.
#[derive(Default)]
struct Desk {
    /// ln p_u(c, x) of estimator after estimator.
    joints: Vec<f64>,
    /// Numbers kept for each of them; those after the classes mean nothing.
    stride: usize,
    shift: Vec<f64>,
    sums: Vec<f64>,
}

impl Desk {
    /// Room for so many estimators.
    fn make_room(&mut self, estimators: usize, stride: usize) {
        self.stride = stride;
        self.joints.resize(estimators * stride, 0.0);
        self.shift.resize(stride, 0.0);
        self.sums.resize(stride, 0.0);
    }

    /// ln sum_u weights_u p_u(c, x) for every class, in place of the joints; those of -inf add nothing.
    fn mix(&mut self, weights: impl Iterator<Item = f64>, out: &mut [f64]) {
        let Self { joints, stride, shift, sums } = self;
        shift.fill(f64::NEG_INFINITY);
        for joint in joints.chunks_exact(*stride) {
            shift.iter_mut().zip(joint).for_each(|(shift, joint)| *shift = shift.max(*joint));
        }
        for joint in joints.chunks_exact_mut(*stride) {
            joint.iter_mut().zip(&*shift).for_each(|(joint, shift)| *joint -= shift);
        }
        bulk::exp_in_place(joints);
        sums.fill(0.0);
        for (joint, weight) in joints.chunks_exact(*stride).zip(weights) {
            sums.iter_mut().zip(joint).for_each(|(sum, joint)| *sum += weight * joint);
        }
        let terms = sums.iter().zip(&*shift);
        out.iter_mut().zip(terms).for_each(|(out, (sum, shift))| *out = sum.ln() + shift);
    }
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
        if sample.x().width() != layout.attributes() {
            return Err(Error::shape("input columns", layout.attributes(), sample.x().width()));
        }
        if sample.target().classes().len() != layout.classes() {
            let found = sample.target().classes().len();
            return Err(Error::shape("classes", layout.classes(), found));
        }
        let discretiser = &self.counted.discretiser;
        let counts = self.tables().counts().clone().with(&discretiser.count(layout, sample));
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

    /// ln p(c, x) for every class; for a mixture of posteriors ln p(c | x).
    fn log_row(&self, slots: &[Option<Slot>], desk: &mut Desk, out: &mut [f64]) {
        match &self.mixing {
            Mixing::Naive => self.tables().naive(slots, out),
            Mixing::Root(u) => self.tables().rooted(*u, slots, out),
            Mixing::Frequent(threshold) => self.average(*threshold, slots, desk, out),
            Mixing::FrequentPairs(threshold) => {
                if !self.average_pairs(*threshold, slots, desk, out) {
                    self.average(*threshold, slots, desk, out);
                }
            }
            Mixing::Joint(weights) => {
                self.all_rooted(slots, desk);
                desk.mix(weights.iter().copied(), out);
            }
            Mixing::Posterior(weights) => {
                self.all_rooted(slots, desk);
                let joints = desk.joints.chunks_exact_mut(desk.stride);
                joints.for_each(|joint| normalise(&mut joint[..out.len()]));
                desk.mix(weights.iter().copied(), out);
            }
        }
    }

    /// Puts what every root says on the desk.
    fn all_rooted(&self, slots: &[Option<Slot>], desk: &mut Desk) {
        desk.make_room(slots.len(), self.tables().stride());
        self.tables().all_rooted(slots, &mut desk.joints);
    }

    /// The mean over roots whose value has more rows than the threshold; naive Bayes if there are none.
    fn average(&self, threshold: f64, slots: &[Option<Slot>], desk: &mut Desk, out: &mut [f64]) {
        let is_frequent =
            |slot: &Option<Slot>| slot.is_some_and(|a| self.tables().total(a) > threshold);
        let frequent = slots.iter().filter(|slot| is_frequent(slot)).count();
        if frequent == 0 {
            return self.tables().naive(slots, out);
        }
        self.all_rooted(slots, desk);
        if frequent < slots.len() {
            for (slot, joint) in slots.iter().zip(desk.joints.chunks_exact_mut(desk.stride)) {
                if !is_frequent(slot) {
                    joint.fill(f64::NEG_INFINITY);
                }
            }
        }
        desk.mix(std::iter::repeat(1.0 / frequent as f64), out);
    }

    /// The mean over pairs of roots whose values have more rows in common than the threshold; whether there are any.
    fn average_pairs<'a>(
        &self,
        threshold: f64,
        slots: &'a [Option<Slot>],
        desk: &mut Desk,
        out: &mut [f64],
    ) -> bool {
        let Some(triples) = &self.counted.triples else { return false };
        let counts = self.tables().counts();
        let known = |slots: &'a [Option<Slot>]| {
            slots.iter().enumerate().filter_map(|(u, a)| Some((u, (*a)?.index())))
        };
        let mut frequent = 0;
        for second in known(slots) {
            for first in known(&slots[..second.0]) {
                if counts.pair(first.1, second.1).iter().sum::<f64>() > threshold {
                    frequent += 1;
                    desk.make_room(frequent, out.len());
                    let joint = &mut desk.joints[(frequent - 1) * out.len()..];
                    triples.rooted((first, second), slots, counts, joint);
                }
            }
        }
        if frequent > 0 {
            desk.mix(std::iter::repeat(1.0 / frequent as f64), out);
        }
        frequent > 0
    }

    fn log_rows_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let layout = self.tables().layout();
        if x.width() != layout.attributes() {
            return Err(Error::shape("input columns", layout.attributes(), x.width()));
        }
        let (mut room, mut desk) = (Room::default(), Desk::default());
        for (row, out) in x.iter().zip(out.chunks_exact_mut(layout.classes())) {
            self.counted.discretiser.read(layout, row, &mut room);
            self.log_row(&room.slots, &mut desk, out);
        }
        Ok(())
    }

    /// Predicts rows whose values are coded already: ln p(c, x), or p(c | x) if not in log space.
    pub(super) fn predict_slots<'a>(
        &self,
        rows: impl ExactSizeIterator<Item = &'a [Option<Slot>]>,
        log_space: bool,
    ) -> Vec<f64> {
        let classes = self.classes();
        let mut desk = Desk::default();
        let mut predicted = vec![0.0; rows.len() * classes];
        for (slots, out) in rows.zip(predicted.chunks_exact_mut(classes)) {
            self.log_row(slots, &mut desk, out);
            if !log_space {
                to_posterior(out);
            }
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
        Record::new("one-dependence", 1, &body)
    }

    fn restored(record: &Record) -> Result<Self> {
        let Body { discretiser, counts, triples, mixing, notes } = record.read()?;
        let attributes = discretiser.encoder.width();
        let fits = match &mixing {
            Mixing::Root(u) => *u < attributes,
            Mixing::Joint(weights) | Mixing::Posterior(weights) => weights.len() == attributes,
            Mixing::FrequentPairs(_) => triples.is_some(),
            Mixing::Naive | Mixing::Frequent(_) => true,
        };
        let whole_triples = || triples.as_ref().is_none_or(|t| t.is_whole(counts.layout()));
        let whole = counts.is_whole() && counts.layout().attributes() == attributes;
        if !(whole && fits && whole_triples()) {
            return Err(Error::data(Place::default(), "the stored counts are damaged"));
        }
        Ok(Self::new(Counted::new(discretiser, counts, triples), mixing, notes))
    }

    fn described(&self) -> Diagnostics {
        let series = match &self.mixing {
            Mixing::Joint(weights) | Mixing::Posterior(weights) => {
                let fields = self.counted.discretiser.encoder.schema().fields();
                let labels = fields.iter().map(|field| field.name.clone()).collect();
                vec![Series { name: "weight of root".into(), labels, values: weights.clone() }]
            }
            _ => Vec::new(),
        };
        Diagnostics { notes: self.notes.clone(), series, ..Diagnostics::default() }
    }
}

/// ln p(c | x) from ln p(c, x).
fn normalise(joint: &mut [f64]) {
    let total = log_sum_exp(joint);
    joint.iter_mut().for_each(|log| *log -= total);
}

/// p(c | x) from ln p(c, x).
fn to_posterior(joint: &mut [f64]) {
    normalise(joint);
    joint.iter_mut().for_each(|log| *log = log.exp());
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
            to_posterior(row);
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
