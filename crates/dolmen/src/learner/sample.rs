//! The rows a learner sees: inputs, target and weights.

use crate::error::{Error, Place, Result};
use crate::table::{Features, Rows};
use crate::target::Target;
use crate::task::Task;

/// Row weights as learners take them: only their ratios matter. They are scaled to a mean of 1 over the rows of positive
/// weight, here and nowhere else, so that limits and penalties that speak of rows (the least weight of a leaf, priors,
/// pseudo-counts) mean the same whether weights sum to 1 or to a million. A fold keeps the weights its rows have in
/// the whole table. Rows that stand for several, such as those of a bootstrap, are [`Sample::counted`] instead.
///
/// ```
/// use dolmen::learner::Weights;
///
/// assert_eq!(Weights::new(vec![0.25, 0.75, 0.0])?.values(), Weights::new(vec![1.0, 3.0, 0.0])?.values());
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// Scales weights that are finite, not negative and not all zero.
    pub fn new(mut weights: Vec<f64>) -> Result<Self> {
        check_weights(&weights)?;
        // Shares of the largest first, so that no sum overflows; equal weights become exactly 1.
        let largest = weights.iter().copied().fold(0.0, f64::max);
        weights.iter_mut().for_each(|weight| *weight /= largest);
        let positive = weights.iter().filter(|weight| **weight > 0.0).count();
        let mean = weights.iter().sum::<f64>() / positive as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        Ok(Self(weights))
    }

    /// The weights: a mean of 1 over those that are positive.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
}

fn check_weights(weights: &[f64]) -> Result<()> {
    if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let problem = format!("the row weight is {}, not a number of at least 0", weights[i]);
        return Err(Error::data(Place::row(i), problem));
    }
    if !weights.is_empty() && weights.iter().all(|w| *w == 0.0) {
        return Err(Error::data(Place::default(), "all row weights are 0"));
    }
    Ok(())
}

/// Borrowed rows to learn from.
#[derive(Debug)]
pub struct Sample<'a, T: Task> {
    x: Rows<'a>,
    target: &'a T::Target,
    weights: Option<&'a [f64]>,
}

#[expect(clippy::expl_impl_clone_on_copy, reason = "a derive would ask for a target that is Copy")]
impl<T: Task> Clone for Sample<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Task> Copy for Sample<'_, T> {}

impl<'a, T: Task> Sample<'a, T> {
    /// A sample of equally weighted rows.
    pub fn new(x: Rows<'a>, target: &'a T::Target) -> Result<Self> {
        match target.rows() {
            Some(rows) if rows != x.rows() => {
                Err(Error::shape("rows of the target", x.rows(), rows))
            }
            _ => {
                target.check()?;
                Ok(Self { x, target, weights: None })
            }
        }
    }

    /// The same sample with row weights. Only their ratios matter: see [`Weights`].
    pub fn weighted(self, weights: &'a Weights) -> Result<Self> {
        self.counted(weights.values())
    }

    /// The same sample with rows that stand for several, or for a part of one: finite, not negative, not all zero. A row
    /// with a count of 2 is the same as that row twice, so unlike weights, counts of 10 give the rows ten times the say
    /// against priors, penalties and least sizes of leaves.
    pub fn counted(self, counts: &'a [f64]) -> Result<Self> {
        if counts.len() != self.x.rows() {
            return Err(Error::shape("row weights", self.x.rows(), counts.len()));
        }
        check_weights(counts)?;
        Ok(Self { weights: Some(counts), ..self })
    }

    /// The same rows with other inputs, such as encoded ones.
    pub fn with_inputs<'b>(&self, x: Rows<'b>) -> Result<Sample<'b, T>>
    where
        'a: 'b,
    {
        if x.rows() != self.rows() {
            return Err(Error::shape("rows of the inputs", self.rows(), x.rows()));
        }
        Ok(Sample { x, target: self.target, weights: self.weights })
    }

    /// The inputs.
    pub fn x(&self) -> Rows<'a> {
        self.x
    }

    /// The target.
    pub fn target(&self) -> &'a T::Target {
        self.target
    }

    /// How many rows each row counts for, if it is not 1 for all.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// How many rows row `i` counts for.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// How many rows all rows together count for.
    pub fn total_weight(&self) -> f64 {
        self.weights.map_or(self.rows() as f64, |w| w.iter().sum())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.x.rows()
    }

    /// A copy of chosen rows, in that order; a row may be chosen more than once.
    pub fn select(&self, rows: &[usize]) -> OwnedSample<T> {
        OwnedSample {
            x: self.x.select(rows),
            target: self.target.select(rows),
            weights: self.weights.map(|w| rows.iter().map(|&i| w[i]).collect()),
        }
    }
}

/// Rows to learn from that own their values.
#[derive(Debug, Clone)]
pub struct OwnedSample<T: Task> {
    x: Features,
    target: T::Target,
    weights: Option<Vec<f64>>,
}

impl<T: Task> OwnedSample<T> {
    /// The borrowed form, which learners take.
    pub fn borrow(&self) -> Sample<'_, T> {
        Sample { x: self.x.rows(), target: &self.target, weights: self.weights.as_deref() }
    }
}
