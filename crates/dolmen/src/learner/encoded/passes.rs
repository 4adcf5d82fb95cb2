//! Passes of learners behind an encoder: those in which the encoder learns, then the learner's own over encoded rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Encoded, FittedEncoded};
use crate::error::{Error, Result};
use crate::learner::Fitted;
use crate::learner::pass::{AnyPass, AnyStep, AnySums, Piece, read_sums, write_sums};
use crate::run::Run;
use crate::stats::Accumulator;
use crate::store::{Record, Registry};
use crate::table::Rows;
use crate::table::encode::{Encoder, EncoderSpec, Learning, LearningStep, LearningSums, Targets};
use crate::task::Task;

/// The kind under which it is sent.
const KIND: &str = "encoded";
const VERSION: u32 = 1;

/// Rows that the learner is shown before its passes begin: they tell it of the columns.
const SHOWN: usize = 1 << 14;

/// A learner's pass behind an encoder.
#[derive(Debug)]
struct EncodedPass<T: Task> {
    stage: Stage,
    inner: Box<dyn AnyPass<T>>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Learning(Learning),
    Learned(Arc<Encoder>),
}

#[derive(Serialize, Deserialize)]
struct Body {
    stage: Stage,
    inner: Record,
}

impl<T: Task> Encoded<T> {
    /// The first pass. These rows decide which columns the encoder makes; what else it learns, it learns from the rows of the passes.
    pub(super) fn begin(&self, x: Rows<'_>, run: &Run) -> Result<Option<Box<dyn AnyPass<T>>>> {
        self.check_units()?;
        // Bins are levels, as are pairs of values, and those are the learner's to know from the start; statistics of the target want an
        // order of all rows.
        let EncoderSpec { bins, crosses, targets, .. } = self.spec;
        if bins.is_some() || crosses.is_some() || targets != Targets::Leave {
            return Ok(None);
        }
        let step = x.rows().div_ceil(SHOWN).max(1);
        let shown = x.view((0..x.rows()).step_by(step).collect::<Vec<usize>>());
        let encoder = self.spec.fit(x, None)?;
        let Some(inner) = self.learner.pass(encoder.view(shown.rows())?.rows(), run) else {
            return Ok(None);
        };
        let learning = Learning::new(self.spec, x)?.like(&encoder);
        let stage = if learning.is_needed() {
            Stage::Learning(learning)
        } else {
            Stage::Learned(Arc::new(encoder))
        };
        Ok(Some(Box::new(EncodedPass { stage, inner: inner? })))
    }
}

fn foreign() -> Error {
    Error::param("sums of a pass", "those of an encoder", "others")
}

impl<T: Task> AnyPass<T> for EncodedPass<T> {
    fn sums(&self, piece: &Piece<'_, T>) -> Result<AnySums> {
        let sample = &piece.sample;
        match &self.stage {
            Stage::Learning(learning) => {
                let mut sums = learning.zero();
                learning.add(&mut sums, sample.x(), sample.weights(), |i| piece.number(i));
                Ok(Box::new(sums))
            }
            Stage::Learned(encoder) => {
                let encoded = encoder.view(sample.x())?;
                let numbers: Vec<u64> = (0..sample.rows()).map(|i| piece.number(i)).collect();
                let sample = sample.with_inputs(encoded.rows())?;
                self.inner.sums(&Piece { sample, first: piece.first, numbers: Some(&numbers) })
            }
        }
    }

    fn zero(&self) -> AnySums {
        match &self.stage {
            Stage::Learning(learning) => Box::new(learning.zero()),
            Stage::Learned(_) => self.inner.zero(),
        }
    }

    fn merge(&self, sums: &mut AnySums, later: AnySums) -> Result<()> {
        match &self.stage {
            Stage::Learning(_) => {
                let later = *later.downcast::<LearningSums>().map_err(|_| foreign())?;
                sums.downcast_mut::<LearningSums>().ok_or_else(foreign)?.merge(later);
                Ok(())
            }
            Stage::Learned(_) => self.inner.merge(sums, later),
        }
    }

    fn next(self: Box<Self>, sums: AnySums) -> Result<AnyStep<T>> {
        let Self { stage, inner } = *self;
        let (stage, inner) = match stage {
            Stage::Learning(learning) => {
                let sums = *sums.downcast::<LearningSums>().map_err(|_| foreign())?;
                let stage = match learning.next(sums)? {
                    LearningStep::Again(learning) => Stage::Learning(learning),
                    LearningStep::Done(encoder) => Stage::Learned(Arc::new(encoder)),
                };
                (stage, inner)
            }
            Stage::Learned(encoder) => match inner.next(sums)? {
                AnyStep::Again(inner) => (Stage::Learned(encoder), inner),
                AnyStep::Done(models) => {
                    let behind = |model| {
                        let encoder = Arc::clone(&encoder);
                        Box::new(FittedEncoded { encoder, model }) as Box<dyn Fitted<T>>
                    };
                    return Ok(AnyStep::Done(models.into_iter().map(behind).collect()));
                }
            },
        };
        Ok(AnyStep::Again(Box::new(Self { stage, inner })))
    }

    fn left(&self) -> usize {
        let before = usize::from(matches!(self.stage, Stage::Learning(_)));
        before + self.inner.left()
    }

    fn record(&self) -> Result<Record> {
        let stage = match &self.stage {
            Stage::Learning(learning) => Stage::Learning(learning.clone()),
            Stage::Learned(encoder) => Stage::Learned(Arc::clone(encoder)),
        };
        Record::new(KIND, VERSION, &Body { stage, inner: self.inner.record()? })
    }

    fn write_sums(&self, sums: &AnySums) -> Result<Vec<u8>> {
        match &self.stage {
            Stage::Learning(_) => {
                write_sums(sums.downcast_ref::<LearningSums>().ok_or_else(foreign)?)
            }
            Stage::Learned(_) => self.inner.write_sums(sums),
        }
    }

    fn read_sums(&self, bytes: &[u8]) -> Result<AnySums> {
        match &self.stage {
            Stage::Learning(_) => Ok(Box::new(read_sums::<LearningSums>(bytes)?)),
            Stage::Learned(_) => self.inner.read_sums(bytes),
        }
    }
}

impl Registry {
    /// Adds passes behind an encoder.
    #[must_use]
    pub(crate) fn with_encoded_pass<T: Task>(self) -> Self {
        self.with::<Box<dyn AnyPass<T>>>(KIND, VERSION, |record, registry| {
            let Body { stage, inner } = record.read()?;
            Ok(Box::new(EncodedPass { stage, inner: registry.restore(&inner)? }))
        })
    }
}
