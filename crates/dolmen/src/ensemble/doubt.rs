//! What so many rows cannot rule out: a share of the class frequencies in every probability.
//!
//! Where all rows learned from agree, members say 0 and 1, and one row of another class costs the whole stack: its log loss is infinite,
//! while the rows held out, which agree as well, claim next to none. After n rows without an exception the next one is an exception with a
//! probability of about 1 / (n + 2) (Laplace's rule of succession), if every rate was thought as likely as any other. Many tables have no exceptions at all, so
//! that the share that is mixed in is smaller.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::target::Target;
use crate::task::Task;

/// A share of the classes' frequencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Doubt {
    share: f64,
    frequencies: Vec<f64>,
}

impl Doubt {
    /// A share of the frequencies among these rows, each class with a row more than it has; `None` of what are no classes.
    pub(super) fn of<T: Task>(
        share: f64,
        target: &T::Target,
        weight: impl Fn(usize) -> f64,
    ) -> Option<Self> {
        let labels = target.labels()?;
        let mut frequencies = vec![1.0; labels.classes().len()];
        for (i, &code) in labels.codes().iter().enumerate() {
            frequencies[code as usize] += weight(i);
        }
        let all: f64 = frequencies.iter().sum();
        frequencies.iter_mut().for_each(|frequency| *frequency /= all);
        Some(Self { share, frequencies })
    }

    /// Mixes the frequencies into rows of probabilities.
    pub(super) fn apply(&self, predicted: &mut [f64]) {
        for row in predicted.chunks_exact_mut(self.frequencies.len()) {
            for (p, frequency) in row.iter_mut().zip(&self.frequencies) {
                *p += self.share * (frequency - *p);
            }
        }
    }

    /// Refuses what is no share of the frequencies of so many classes; read from a file, it might not be.
    pub(super) fn validate(&self, classes: usize) -> Result<()> {
        let are_sound = self.frequencies.iter().all(|f| *f > 0.0 && *f <= 1.0);
        if are_sound && self.frequencies.len() == classes && (0.0..=1.0).contains(&self.share) {
            return Ok(());
        }
        Err(Error::param("model file", "of a sound doubt", "damaged"))
    }

    /// The share.
    pub(super) fn share(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::target::Labels;
    use crate::task::Classification;

    #[test]
    fn nothing_is_certain_and_rows_still_sum_to_one() {
        let classes: Arc<[String]> = vec!["a".into(), "b".into(), "c".into()].into();
        let labels = Labels::new(classes, vec![0, 0, 1]).unwrap();
        let doubt = Doubt::of::<Classification>(0.01, &labels, |_| 1.0).unwrap();
        let mut predicted = [1.0, 0.0, 0.0, 0.5, 0.25, 0.25];
        doubt.apply(&mut predicted);
        let expected = [0.99 + 0.01 * 3.0 / 6.0, 0.01 * 2.0 / 6.0, 0.01 / 6.0];
        for (p, expected) in predicted.iter().zip(expected) {
            assert!((p - expected).abs() < 1e-15, "{p} {expected}");
        }
        for row in predicted.chunks(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        }
        doubt.validate(3).unwrap();
        assert!(doubt.validate(2).is_err());
        assert!(Doubt { share: f64::NAN, ..doubt }.validate(3).is_err());
    }
}
