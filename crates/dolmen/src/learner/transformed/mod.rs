//! Numbers learned on another scale: any learner of numbers, with the logarithm or a power of the target, chosen in the fold.
//!
//! What a learner says on that scale is about a middle, not about the mean, which squared error asks for. The way back is therefore the mean over
//! what rows held out were off by (Duan1983):
//!
//! ```text
//! E(y | x) ~ mean over r of back(m(x) + r),  r = there(y) - m(x) of rows held out
//! ```

mod scale;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use scale::TargetScale;

use self::scale::Scale;
use super::{Diagnostics, Fitted, Learner, Sample, Stored, predict};
use crate::error::Result;
use crate::plan::Split;
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Regression;

/// The share of the rows that is held out to choose the scale and to learn what it is off by.
const HELD_OUT: f64 = 0.2;
/// As many quantiles of what the rows held out were off by are kept.
const MOST_OFF: usize = 32;
/// How far beyond the targets learned from the scale is followed, in widths of their range on it.
const BEYOND: f64 = 0.5;

/// On which scale the target is learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Transform {
    /// The scale: plain, log, yeo-johnson, or auto for the one of these that does best on a fifth of the rows, held out.
    pub scale: TargetScale,
}

/// A learner of numbers that sees them on another scale.
#[derive(Debug, Clone)]
pub struct Transformed {
    learner: Arc<dyn Learner<Regression>>,
    how: Transform,
}

/// Fits of a learner's members, to be taken.
type Rungs = Vec<Option<Box<dyn Fitted<Regression>>>>;

/// A scale on which a learner was tried: for each of its members the squared error on rows held out, and what they were off by.
struct Tried {
    scale: Scale,
    members: Vec<(f64, Vec<f64>)>,
}

impl Transformed {
    /// Shows `learner` the target on a scale.
    pub fn of(learner: impl Into<Arc<dyn Learner<Regression>>>, how: Transform) -> Self {
        Self { learner: learner.into(), how }
    }

    /// The scales that may be chosen.
    fn scales(&self, sample: &Sample<'_, Regression>) -> Result<Vec<Scale>> {
        let of = |kind| Scale::of(kind, sample.target(), |i| sample.weight(i));
        if self.how.scale != TargetScale::Auto {
            return Ok(vec![of(self.how.scale)?]);
        }
        let mut scales = vec![of(TargetScale::Plain)?];
        scales.extend(of(TargetScale::Log).ok());
        scales.push(of(TargetScale::YeoJohnson)?);
        Ok(scales)
    }

    /// Fits to all rows of a sample on a scale.
    fn fit_on(
        &self,
        scale: Scale,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let target: Vec<f64> = sample.target().iter().map(|y| scale.there(*y)).collect();
        self.learner.fit(&sample.with_target::<Regression>(&target)?, run)
    }

    /// How the learner does on rows held out.
    fn try_on(
        &self,
        scale: Scale,
        sample: &Sample<'_, Regression>,
        split: &Split,
        run: &Run,
    ) -> Result<Tried> {
        let (train, test) =
            (sample.select(split.train(sample.rows())), sample.select(split.test()));
        let (train, test) = (train.borrow(), test.borrow());
        let ends = ends_of(scale, &train);
        let judge = |model: Box<dyn Fitted<Regression>>| {
            let said = predict(model.as_ref(), test.x(), run)?;
            let off = off_by(scale, &said, &test);
            let mut loss = 0.0;
            for (i, (m, y)) in said.iter().zip(test.target()).enumerate() {
                loss += test.weight(i) * (y - back(scale, *m, &off, ends)).powi(2);
            }
            Ok((if loss.is_nan() { f64::INFINITY } else { loss }, off))
        };
        let models = self.fit_on(scale, &train, run)?;
        Ok(Tried { scale, members: models.into_iter().map(judge).collect::<Result<_>>()? })
    }
}

/// The ends of the targets that count on a scale, and some room beyond.
fn ends_of(scale: Scale, sample: &Sample<'_, Regression>) -> [f64; 2] {
    let counted = sample.target().iter().enumerate().filter(|(i, _)| sample.weight(*i) > 0.0);
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = counted.fold(none, |(low, high), (_, y)| {
        let z = scale.there(*y);
        (low.min(z), high.max(z))
    });
    let room = BEYOND * (high - low);
    // Near the end of a scale a little further is infinitely far.
    let reaches = |z: f64| scale.back(z).is_finite();
    [
        if reaches(low - room) { low - room } else { low },
        if reaches(high + room) { high + room } else { high },
    ]
}

/// Quantiles of what rows are off by on a scale; nothing where it is the plain one, on which the mean needs none.
fn off_by(scale: Scale, said: &[f64], sample: &Sample<'_, Regression>) -> Vec<f64> {
    if scale == Scale::Plain {
        return Vec::new();
    }
    let rows = said.iter().zip(sample.target()).enumerate();
    let mut off: Vec<(f64, f64)> = rows
        .map(|(i, (m, y))| (scale.there(*y) - m, sample.weight(i)))
        .filter(|(off, weight)| off.is_finite() && *weight > 0.0)
        .collect();
    off.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = off.iter().map(|(_, weight)| weight).sum();
    let kept = off.len().min(MOST_OFF);
    let (mut at, mut below) = (0, 0.0);
    let quantile = |k: usize| {
        let level = (k as f64 + 0.5) / kept as f64 * all;
        while at + 1 < off.len() && below + off[at].1 < level {
            below += off[at].1;
            at += 1;
        }
        off[at].0
    };
    (0..kept).map(quantile).collect()
}

/// The mean of a target whose place on the scale is off by one of these, all alike.
fn back(scale: Scale, z: f64, off: &[f64], [low, high]: [f64; 2]) -> f64 {
    if off.is_empty() {
        return scale.back(if scale == Scale::Plain { z } else { z.clamp(low, high) });
    }
    off.iter().map(|off| scale.back((z + off).clamp(low, high))).sum::<f64>() / off.len() as f64
}

impl Learner<Regression> for Transformed {
    fn members(&self) -> Vec<String> {
        let name = |member: String| {
            Spec::around("transformed", &self.how, "of", Spec::nested(&member)).to_string()
        };
        self.learner.members().into_iter().map(name).collect()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let scales = self.scales(sample)?;
        // Too few rows to hold some out: the first scale, and what is said is a middle.
        let split = sample.hold_out(HELD_OUT, &run.stream("held out")).ok();
        let count = self.learner.members().len();
        let tried: Vec<Tried> = match &split {
            Some(split) if scales != [Scale::Plain] => {
                let stream = run.stream("tried");
                let tries = |s: usize| self.try_on(scales[s], sample, split, &stream);
                run.try_map(scales.len(), tries)?
            }
            _ => vec![Tried { scale: scales[0], members: vec![(0.0, Vec::new()); count] }],
        };
        let best = |m: usize| {
            let loss = |tried: &&Tried| tried.members[m].0;
            tried.iter().min_by(|a, b| loss(a).total_cmp(&loss(b)))
        };
        let stream = run.stream("all rows");
        let mut fits: Vec<(Scale, Rungs)> = Vec::new();
        let mut models: Vec<Box<dyn Fitted<Regression>>> = Vec::new();
        for (m, tried) in (0..count).filter_map(|m| Some((m, best(m)?))) {
            let scale = tried.scale;
            if !fits.iter().any(|(other, _)| *other == scale) {
                let all = self.fit_on(scale, sample, &stream)?;
                fits.push((scale, all.into_iter().map(Some).collect()));
            }
            let own = fits.iter_mut().find(|(other, _)| *other == scale);
            let Some(model) = own.and_then(|(_, all)| all.get_mut(m)?.take()) else { continue };
            let (off, ends) = (tried.members[m].1.clone(), ends_of(scale, sample));
            models.push(Box::new(FittedTransformed { model, scale, off, ends }));
        }
        Ok(models)
    }
}

/// A model on another scale, and the way back.
#[derive(Debug)]
pub struct FittedTransformed {
    model: Box<dyn Fitted<Regression>>,
    scale: Scale,
    /// What rows held out were off by, in quantiles.
    off: Vec<f64>,
    /// How far the scale is followed.
    ends: [f64; 2],
}

#[derive(Serialize, Deserialize)]
struct Body {
    model: Record,
    scale: Scale,
    off: Vec<f64>,
    ends: [f64; 2],
}

impl Fitted<Regression> for FittedTransformed {
    fn width(&self) -> usize {
        1
    }

    fn block(&self) -> usize {
        self.model.block()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.model.predict_into(x, out)?;
        out.iter_mut().for_each(|z| *z = back(self.scale, *z, &self.off, self.ends));
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.model.validate(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        let Self { scale, off, ends, .. } = self;
        let body =
            Body { model: self.model.record()?, scale: *scale, off: off.clone(), ends: *ends };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    fn parameters(&self) -> Parameters {
        let (name, power) = self.scale.describe();
        Parameters::new(Self::KIND)
            .with("scale", name)
            .with_some("power", power)
            .with("off", self.off.clone())
            .with("model", self.model.parameters())
    }

    fn diagnostics(&self) -> Diagnostics {
        self.model.diagnostics()
    }
}

impl Stored<Regression> for FittedTransformed {
    const KIND: &'static str = "transformed";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let Body { model, scale, off, ends } = record.read()?;
        record.require(scale.is_sound() && ends[0] <= ends[1])?;
        record.require(off.iter().all(|off| off.is_finite()))?;
        Ok(Self { model: registry.model(&model)?, scale, off, ends })
    }
}
