//! The rows a learner sees: inputs, target, weights and keys.

use std::borrow::Cow;

use super::chosen::Chosen;
use super::pass::Piece;
use crate::error::{Error, Place, Result};
use crate::plan::{Folds, OwnedKeys, Plan, RowKeys, Split};
use crate::run::Run;
use crate::table::{Features, Rows, View};
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
///
/// Rows may have keys: the group each belongs to, and its time. A learner that splits its rows asks
/// [`Sample::folds`] or [`Sample::hold_out`], which never tear a group apart and never let a model that has seen a row
/// predict an earlier one.
#[derive(Debug)]
pub struct Sample<'a, T: Task> {
    x: Rows<'a>,
    target: &'a T::Target,
    weights: Option<&'a [f64]>,
    groups: Option<&'a [u32]>,
    times: Option<&'a [f64]>,
    gap: usize,
    folds: Option<&'a [u32]>,
    lots: Option<&'a [u64]>,
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
                let (weights, groups, times) = (None, None, None);
                Ok(Self { x, target, weights, groups, times, gap: 0, folds: None, lots: None })
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

    /// The same sample with each row's group: rows of one group are never on both sides of a split.
    pub fn grouped(self, groups: &'a [u32]) -> Result<Self> {
        if groups.len() != self.x.rows() {
            return Err(Error::shape("groups of the rows", self.x.rows(), groups.len()));
        }
        Ok(Self { groups: Some(groups), ..self })
    }

    /// The same sample with each row's time, of which only the order counts: a row is never predicted by a model that has
    /// seen a later one. None may be missing.
    pub fn timed(self, times: &'a [f64]) -> Result<Self> {
        if times.len() != self.x.rows() {
            return Err(Error::shape("times of the rows", self.x.rows(), times.len()));
        }
        if let Some(i) = times.iter().position(|time| time.is_nan()) {
            let error = Error::data(Place::row(i), "the time is missing");
            return Err(error.with_hint("drop the rows without a time"));
        }
        Ok(Self { times: Some(times), ..self })
    }

    /// The same sample whose splits in order of time leave out so many moments before what they hold out: those are not yet
    /// settled when it is predicted ([`TimeOrdered::gap`](crate::plan::TimeOrdered)).
    #[must_use]
    pub fn spaced(self, gap: usize) -> Self {
        Self { gap, ..self }
    }

    /// The same sample with the fold in which each row is held out, for a plan that is [given](crate::plan::Given).
    pub fn held_out_in(self, folds: &'a [u32]) -> Result<Self> {
        if folds.len() != self.x.rows() {
            return Err(Error::shape("folds of the rows", self.x.rows(), folds.len()));
        }
        Ok(Self { folds: Some(folds), ..self })
    }

    /// The same sample with what its rows' folds are drawn by in a plan that is [hashed](crate::plan::Hashed), where that is not their
    /// group or place.
    pub fn drawn_by(self, lots: &'a [u64]) -> Result<Self> {
        if lots.len() != self.x.rows() {
            return Err(Error::shape("lots of the rows", self.x.rows(), lots.len()));
        }
        Ok(Self { lots: Some(lots), ..self })
    }

    /// The same rows with other inputs, such as encoded ones.
    pub fn with_inputs<'b>(&self, x: Rows<'b>) -> Result<Sample<'b, T>>
    where
        'a: 'b,
    {
        if x.rows() != self.rows() {
            return Err(Error::shape("rows of the inputs", self.rows(), x.rows()));
        }
        let Self { target, weights, groups, times, gap, folds, lots, .. } = *self;
        Ok(Sample { x, target, weights, groups, times, gap, folds, lots })
    }

    /// The same rows, weights and keys with the target of another task.
    pub fn with_target<U: Task>(&self, target: &'a U::Target) -> Result<Sample<'a, U>> {
        let Self { x, weights, groups, times, gap, folds, lots, .. } = *self;
        Ok(Sample { weights, groups, times, gap, folds, lots, ..Sample::new(x, target)? })
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

    /// Each row's group, if rows belong together.
    pub fn groups(&self) -> Option<&'a [u32]> {
        self.groups
    }

    /// Each row's time, if the rows have any.
    pub fn times(&self) -> Option<&'a [f64]> {
        self.times
    }

    /// What a plan may ask about the rows: their classes, groups and times.
    pub fn keys(&self) -> RowKeys<'a> {
        let classes = self.target.strata();
        let Self { groups, times, gap, folds, lots, .. } = *self;
        RowKeys { classes, groups, times, gap, folds, lots }
    }

    /// As many of the wanted folds as rows, groups and times allow: the one way to split rows inside a learner or a stack.
    ///
    /// Folds keep groups together and spread classes. Rows with times are held out in blocks of time, each predicted from what
    /// was before it, so that the earliest rows are never held out. An error if there can be no two folds (no block of time).
    pub fn folds(&self, wanted: usize, run: &Run) -> Result<Plan> {
        self.keys().folds(self.rows(), wanted, run)
    }

    /// The same folds over chosen rows, in ascending order: they are counted from 0.
    pub(crate) fn folds_among(&self, rows: Chosen<'_>, wanted: usize, run: &Run) -> Result<Folds> {
        match rows {
            Chosen::All(_) => self.keys().inner_folds(rows.len(), wanted, run),
            Chosen::These(_) => self.keys_of(rows).borrow().inner_folds(rows.len(), wanted, run),
        }
    }

    /// One split that holds out about this share of the rows: whole groups, every class its share, the latest rows if they
    /// have times. An error if one side would be empty.
    pub fn hold_out(&self, share: f64, run: &Run) -> Result<Split> {
        self.keys().hold_out(self.rows(), share, run)
    }

    /// The same among chosen rows, in ascending order: the split counts them from 0, and its other side are the rows of
    /// [`Split::train`] with their number.
    pub(crate) fn hold_out_among(&self, rows: Chosen<'_>, share: f64, run: &Run) -> Result<Split> {
        match rows {
            Chosen::All(_) => self.hold_out(share, run),
            Chosen::These(_) => self.keys_of(rows).borrow().hold_out(rows.len(), share, run),
        }
    }

    fn keys_of(&self, rows: Chosen<'_>) -> OwnedKeys {
        OwnedKeys::select(&self.keys(), &rows.iter().collect::<Vec<usize>>())
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

    /// Shows the rows in consecutive pieces of so many, with their weights and groups, without times.
    pub(crate) fn for_pieces(
        &self,
        rows: usize,
        mut show: impl FnMut(&Piece<'_, T>) -> Result<()>,
    ) -> Result<()> {
        if self.rows() <= rows {
            return show(&Piece::new(*self, 0));
        }
        for start in (0..self.rows()).step_by(rows) {
            let range = start..self.rows().min(start + rows);
            let target = self.target.select(&range.clone().collect::<Vec<usize>>());
            let sample = Sample {
                x: self.x.slice(range.clone()),
                target: &target,
                weights: self.weights.map(|weights| &weights[range.clone()]),
                groups: self.groups.map(|groups| &groups[range.clone()]),
                times: None,
                gap: 0,
                folds: None,
                lots: self.lots.map(|lots| &lots[range]),
            };
            // Chosen rows know where they stand.
            let first = if self.x.are_chosen() { 0 } else { start as u64 };
            show(&Piece::new(sample, first))?;
        }
        Ok(())
    }

    /// The rows that a split learns from. Copies of a row, which a bootstrap draws, are a group if the rows have no other keys: a
    /// split inside a learner that tore them apart would predict what it has learned from.
    pub(crate) fn learned_from<'b>(&self, split: &'b Split) -> SelectedSample<'b, T>
    where
        'a: 'b,
    {
        let rows = split.train(self.rows());
        let copies = if self.keys().bind() { None } else { copies(&rows) };
        let selected = self.select(rows);
        SelectedSample { groups: copies.or(selected.groups), ..selected }
    }

    /// Chosen rows, in that order; a row may be chosen more than once. Their inputs are a view, the rest is copied.
    pub fn select<'b>(&self, rows: impl Into<Cow<'b, [usize]>>) -> SelectedSample<'b, T>
    where
        'a: 'b,
    {
        let rows: Cow<'b, [usize]> = rows.into();
        SelectedSample {
            target: self.target.select(&rows),
            weights: self.weights.map(|all| chosen(all, &rows)),
            groups: self.groups.map(|all| chosen(all, &rows)),
            times: self.times.map(|all| chosen(all, &rows)),
            gap: self.gap,
            folds: self.folds.map(|all| chosen(all, &rows)),
            lots: self.lots.map(|all| chosen(all, &rows)),
            x: self.x.view(rows),
        }
    }
}

/// Rows chosen more than once as groups; `None` if there are none.
fn copies(rows: &[usize]) -> Option<Vec<u32>> {
    if rows.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    let are_some = sorted.windows(2).any(|two| two[0] == two[1]);
    are_some.then(|| rows.iter().map(|&row| row as u32).collect())
}

/// The values of chosen rows.
fn chosen<V: Copy>(all: &[V], rows: &[usize]) -> Vec<V> {
    rows.iter().map(|&i| all[i]).collect()
}

/// Rows of another sample: a view of its inputs, with copies of what is one value a row.
#[derive(Debug, Clone)]
pub struct SelectedSample<'a, T: Task> {
    x: View<'a>,
    target: T::Target,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    times: Option<Vec<f64>>,
    gap: usize,
    folds: Option<Vec<u32>>,
    lots: Option<Vec<u64>>,
}

impl<T: Task> SelectedSample<'_, T> {
    /// The borrowed form, which learners take.
    pub fn borrow(&self) -> Sample<'_, T> {
        Sample {
            x: self.x.rows(),
            target: &self.target,
            weights: self.weights.as_deref(),
            groups: self.groups.as_deref(),
            times: self.times.as_deref(),
            gap: self.gap,
            folds: self.folds.as_deref(),
            lots: self.lots.as_deref(),
        }
    }
}

/// Rows to learn from that own their values.
#[derive(Debug, Clone)]
pub struct OwnedSample<T: Task> {
    x: Features,
    target: T::Target,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    times: Option<Vec<f64>>,
}

impl<T: Task> OwnedSample<T> {
    /// Rows of equal weight and without keys.
    pub fn new(x: Features, target: T::Target) -> Result<Self> {
        Sample::<T>::new(x.rows(), &target)?;
        Ok(Self { x, target, weights: None, groups: None, times: None })
    }

    /// With row weights, as [`Sample::weighted`].
    pub fn weighted(self, weights: Weights) -> Result<Self> {
        self.borrow().weighted(&weights)?;
        Ok(Self { weights: Some(weights.0), ..self })
    }

    /// With each row's group, as [`Sample::grouped`].
    pub fn grouped(self, groups: Vec<u32>) -> Result<Self> {
        self.borrow().grouped(&groups)?;
        Ok(Self { groups: Some(groups), ..self })
    }

    /// With each row's time, as [`Sample::timed`].
    pub fn timed(self, times: Vec<f64>) -> Result<Self> {
        self.borrow().timed(&times)?;
        Ok(Self { times: Some(times), ..self })
    }

    /// The borrowed form, which learners take.
    pub fn borrow(&self) -> Sample<'_, T> {
        Sample {
            x: self.x.rows(),
            target: &self.target,
            weights: self.weights.as_deref(),
            groups: self.groups.as_deref(),
            times: self.times.as_deref(),
            gap: 0,
            folds: None,
            lots: None,
        }
    }
}
