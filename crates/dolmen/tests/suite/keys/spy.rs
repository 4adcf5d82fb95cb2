//! A learner that notes every row that its models predict, beside those they were fitted on.

use std::sync::{Arc, Mutex};

use dolmen::learner::{Fitted, Learner, Sample};
use dolmen::run::Run;
use dolmen::store::{Parameters, Record};
use dolmen::table::{Features, Field, Kind, Rows, Schema};
use dolmen::task::Regression;
use dolmen::{Error, Result};
use rand::RngExt;

pub(crate) fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

/// What was seen: how many rows were predicted, and how many of them by a model that had seen a later row, one of their
/// group, or one of the ten moments before.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) fits: usize,
    pub(crate) predicted: usize,
    pub(crate) from_later: usize,
    pub(crate) torn: usize,
    pub(crate) too_near: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Seen>>);

impl Log {
    pub(crate) fn seen(&self) -> Seen {
        *self.0.lock().unwrap()
    }
}

/// Predicts the mean of its target, shifted a little.
#[derive(Debug, Clone)]
pub(crate) struct Spy {
    pub(crate) name: &'static str,
    pub(crate) shift: f64,
    pub(crate) log: Log,
}

#[derive(Debug)]
struct FittedSpy {
    mean: f64,
    latest: f64,
    times: Vec<f64>,
    groups: Vec<f64>,
    log: Log,
}

fn column(x: Rows<'_>, name: &str) -> usize {
    x.schema().fields().iter().position(|field| field.name == name).unwrap()
}

impl Learner<Regression> for Spy {
    fn members(&self) -> Vec<String> {
        vec![self.name.into()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        _run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let (time, group) = (column(sample.x(), "time"), column(sample.x(), "group"));
        self.log.0.lock().unwrap().fits += 1;
        let y = sample.target();
        Ok(vec![Box::new(FittedSpy {
            mean: y.iter().sum::<f64>() / y.len() as f64 + self.shift,
            latest: sample.x().iter().map(|row| row[time]).fold(f64::NEG_INFINITY, f64::max),
            times: sample.x().iter().map(|row| row[time]).collect(),
            groups: sample.x().iter().map(|row| row[group]).collect(),
            log: self.log.clone(),
        })])
    }
}

impl Fitted<Regression> for FittedSpy {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let (time, group) = (column(x, "time"), column(x, "group"));
        let mut seen = self.log.0.lock().unwrap();
        for (row, out) in x.iter().zip(out) {
            seen.predicted += 1;
            seen.from_later += usize::from(self.latest >= row[time]);
            let is_near = |time: f64| (0.0..=10.0).contains(&time);
            let too_near = self.times.iter().any(|own| is_near(row[time] - own));
            seen.too_near += usize::from(too_near);
            seen.torn += usize::from(self.groups.contains(&row[group]));
            *out = self.mean;
        }
        Ok(())
    }

    fn parameters(&self) -> Parameters {
        Parameters::new("spy").with("mean", self.mean)
    }

    fn record(&self) -> Result<Record> {
        Err(Error::shape("a record", 1, 0))
    }
}

/// Rows with times and groups in two columns beside another, and numbers that follow that one.
pub(crate) struct Made {
    pub(crate) x: Features,
    pub(crate) y: Vec<f64>,
    pub(crate) times: Vec<f64>,
    pub(crate) groups: Vec<u32>,
}

/// Groups of four rows, spread over the table; times in no order.
pub(crate) fn made(rows: usize) -> Made {
    let mut rng = run().child(7).rng();
    let times: Vec<f64> = (0..rows).map(|i| ((i * 37) % rows) as f64).collect();
    let groups: Vec<u32> = (0..rows).map(|i| (i % rows.div_ceil(4)) as u32).collect();
    let mut values = Vec::new();
    let mut y = Vec::new();
    for i in 0..rows {
        let value: f64 = rng.random_range(-1.0..1.0);
        values.extend([times[i], f64::from(groups[i]), value]);
        y.push(2.0 * value + rng.random_range(-0.3..0.3));
    }
    let field = |name: &str| Field { name: name.into(), kind: Kind::Numeric };
    let schema = Schema::new(vec![field("time"), field("group"), field("value")]);
    Made { x: Features::new(values, Arc::new(schema)).unwrap(), y, times, groups }
}

impl Made {
    pub(crate) fn plain(&self) -> Sample<'_, Regression> {
        Sample::new(self.x.rows(), &self.y).unwrap()
    }

    pub(crate) fn timed(&self) -> Sample<'_, Regression> {
        self.plain().timed(&self.times).unwrap()
    }

    pub(crate) fn grouped(&self) -> Sample<'_, Regression> {
        self.plain().grouped(&self.groups).unwrap()
    }
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
