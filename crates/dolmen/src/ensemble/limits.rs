//! What a stack keeps to, whatever its members say.

use std::sync::Arc;

use super::bounds::Bounds;
use super::doubt::Doubt;
use super::reach::Reach;
use super::stack::Stack;
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::target::are_counts;
use crate::task::Task;

/// How far numbers and inputs may lie beyond those learned from, and how sure it may be of a class.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) bounds: Option<Bounds>,
    pub(super) reach: Option<Arc<Reach>>,
    pub(super) doubt: Option<Doubt>,
}

impl Limits {
    /// Refuses what contradicts itself or the task; read from a file, it might. The members see to the reach.
    pub(super) fn validate<T: Task>(&self, width: usize) -> Result<()> {
        self.bounds.map_or(Ok(()), Bounds::validate)?;
        let is_for_it = !T::LOG_SPACE && T::CLASSES || self.doubt.is_none();
        if !is_for_it {
            return Err(Error::param("model file", "of a sound doubt", "damaged"));
        }
        self.doubt.as_ref().map_or(Ok(()), |doubt| doubt.validate(width))
    }
}

impl<T: Task> Stack<T> {
    /// What it keeps to once it has learned from these rows.
    pub(super) fn limits(&self, sample: &Sample<'_, T>) -> Result<Limits> {
        let bounds = self.bounds(sample)?;
        if let Some(widths) = self.reach {
            if !(widths >= 0.0 && widths.is_finite()) {
                return Err(Error::param("reach", "a number of at least 0", widths));
            }
            if T::LOG_SPACE {
                let expected = "left out: a density tells how far out a row is";
                return Err(Error::param("reach", expected, T::NAME));
            }
        }
        let reach = self.reach.map(|widths| Arc::new(Reach::of(sample, widths)));
        let doubt = self.doubt.map(|share| doubt_about(share, sample)).transpose()?;
        Ok(Limits { bounds, reach, doubt })
    }

    /// What numbers it keeps to, if it does.
    fn bounds(&self, sample: &Sample<'_, T>) -> Result<Option<Bounds>> {
        let Some(margin) = self.margin else { return Ok(None) };
        let Some(numbers) = T::numbers(sample.target()) else {
            let expected = "left out: only numbers have a range to keep to";
            return Err(Error::param("margin", expected, T::NAME));
        };
        let counted = numbers.iter().enumerate().filter(|(i, _)| sample.weight(*i) > 0.0);
        let bounds = match self.range {
            Some((low, high)) => Bounds::of([low, high].into_iter(), margin),
            None => Bounds::of(counted.map(|(_, y)| *y), margin),
        }?;
        // What is seen block by block is known by its sample and its range.
        let are_counts = are_counts(numbers) && self.range.is_none_or(|(low, _)| low >= 0.0);
        Ok(if are_counts { bounds.map(Bounds::of_counts) } else { bounds })
    }
}

/// The share of the class frequencies in what a stack says.
fn doubt_about<T: Task>(share: f64, sample: &Sample<'_, T>) -> Result<Doubt> {
    if !(0.0..1.0).contains(&share) {
        return Err(Error::param("doubt", "at least 0 and below 1", share));
    }
    let doubt = Doubt::of::<T>(share, sample.target(), |i| sample.weight(i));
    doubt
        .filter(|_| !T::LOG_SPACE)
        .ok_or_else(|| Error::param("doubt", "left out: only classes have probabilities", T::NAME))
}
