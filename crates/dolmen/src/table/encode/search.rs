//! Order statistics of numbers that are seen block by block.
//!
//! Numbers are counted between edges, at first between some that a sample suggests. What is wanted then lies between two of them, and
//! in the next pass the few numbers there are kept. Where there are too many to be kept, they are counted between finer edges.

use serde::{Deserialize, Serialize};

use super::cuts::{key, of_key, reaches};

/// Numbers of an interval that are kept, at most.
const MOST_KEPT: u64 = 1 << 15;
/// Rows of the sample that edges are suggested by, edges around each quantile, and how many standard deviations they reach to
/// both sides.
const SAMPLED: usize = 1 << 16;
const EDGES: usize = 32;
const REACH: f64 = 6.0;
/// Parts that an interval is divided into, where the sample has nothing more to say.
const PARTS: u64 = 64;

/// A search for the numbers at some positions of the ascending order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Search {
    /// Ascending.
    intervals: Vec<Interval>,
    wanted: Vec<Wanted>,
}

/// A position among the copies of all numbers, where weights count copies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Wanted {
    position: f64,
    /// The interval in which its number lies.
    interval: usize,
    found: Option<f64>,
}

/// The numbers of these keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Interval {
    first: u64,
    last: u64,
    /// The weight of the numbers below.
    before: f64,
    way: Way,
}

/// What is done with the numbers of an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Way {
    /// They are counted in parts; these are the parts' last keys, but for that of the last one.
    Count(Vec<u64>),
    Keep,
}

/// What was found in an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Found {
    /// Of each part.
    Counts { rows: Vec<u64>, weights: Vec<f64> },
    /// Keys and weights.
    Kept(Vec<(u64, f64)>),
}

impl Found {
    /// Adds what was found in later rows.
    pub(super) fn merge(&mut self, later: Self) {
        match (self, later) {
            (Self::Counts { rows, weights }, Self::Counts { rows: more, weights: added }) => {
                rows.iter_mut().zip(more).for_each(|(a, b)| *a += b);
                weights.iter_mut().zip(added).for_each(|(a, b)| *a += b);
            }
            (Self::Kept(kept), Self::Kept(more)) => kept.extend(more),
            _ => {}
        }
    }
}

impl Search {
    /// One for the cuts between bins of equal frequency, with edges around those of a sample.
    pub(super) fn of_cuts(sample: impl ExactSizeIterator<Item = f64>, bins: usize) -> Self {
        let step = sample.len().div_ceil(SAMPLED).max(1);
        let mut sample: Vec<u64> =
            sample.step_by(step).filter(|value| value.is_finite()).map(key).collect();
        sample.sort_unstable();
        let mut edges = Vec::new();
        let last = sample.len().saturating_sub(1) as f64;
        for k in (1..bins).filter(|_| !sample.is_empty()) {
            let share = k as f64 / bins as f64;
            let deviation = (share * (1.0 - share) / sample.len() as f64).sqrt();
            for edge in 0..=EDGES {
                let to_side = 2.0 * edge as f64 / EDGES as f64 - 1.0;
                let share = (share + REACH * deviation * to_side).clamp(0.0, 1.0);
                let key = sample[(share * last).round() as usize];
                // A number that stands there often is a part of its own.
                edges.extend([key.saturating_sub(1), key]);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let (first, last, way) = (0, u64::MAX, Way::Count(edges));
        Self { intervals: vec![Interval { first, last, before: 0.0, way }], wanted: Vec::new() }
    }

    /// Nothing found.
    pub(super) fn zero(&self) -> Vec<Found> {
        let none = |interval: &Interval| match &interval.way {
            Way::Count(edges) => Found::Counts {
                rows: vec![0; edges.len() + 1],
                weights: vec![0.0; edges.len() + 1],
            },
            Way::Keep => Found::Kept(Vec::new()),
        };
        self.intervals.iter().map(none).collect()
    }

    /// Adds a number.
    #[inline]
    pub(super) fn add(&self, found: &mut [Found], value: f64, weight: f64) {
        let key = key(value);
        let holds = |interval: &Interval| interval.first <= key && key <= interval.last;
        let Some(at) = self.intervals.iter().position(holds) else { return };
        match (&self.intervals[at].way, &mut found[at]) {
            (Way::Count(edges), Found::Counts { rows, weights }) => {
                let part = edges.partition_point(|edge| *edge < key);
                rows[part] += 1;
                weights[part] += weight;
            }
            (Way::Keep, Found::Kept(kept)) => kept.push((key, weight)),
            _ => {}
        }
    }

    /// Says which positions are wanted, in ascending order.
    pub(super) fn want(&mut self, positions: impl Iterator<Item = f64>) {
        let wanted = |position| Wanted { position, interval: 0, found: None };
        self.wanted = positions.map(wanted).collect();
    }

    /// What follows from what was found in all rows. A weight counts `scale` copies.
    #[must_use]
    pub(super) fn next(mut self, mut found: Vec<Found>, scale: f64) -> Self {
        for found in &mut found {
            if let Found::Kept(kept) = found {
                kept.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            }
        }
        let mut next: Vec<Interval> = Vec::new();
        for wanted in self.wanted.iter_mut().filter(|wanted| wanted.found.is_none()) {
            let interval = &self.intervals[wanted.interval];
            let position = wanted.position;
            match (&interval.way, &found[wanted.interval]) {
                (Way::Keep, Found::Kept(kept)) => {
                    let weights = kept.iter().map(|(_, weight)| *weight);
                    let at = reached(interval.before, weights, position / scale);
                    wanted.found = Some(at.map_or(f64::NAN, |(at, _)| of_key(kept[at].0)));
                }
                (Way::Count(edges), Found::Counts { rows, weights }) => {
                    let weights = weights.iter().copied();
                    match reached(interval.before, weights, position / scale) {
                        None => wanted.found = Some(f64::NAN),
                        Some((part, before)) => {
                            let part = interval.part(edges, part, before, rows[part]);
                            if part.first == part.last {
                                wanted.found = Some(of_key(part.first));
                            } else if next.last() != Some(&part) {
                                next.push(part);
                            }
                            wanted.interval = next.len().saturating_sub(1);
                        }
                    }
                }
                _ => {}
            }
        }
        self.intervals = next;
        self
    }

    /// Whether all that is wanted was found.
    pub(super) fn is_done(&self) -> bool {
        self.wanted.iter().all(|wanted| wanted.found.is_some())
    }

    /// The numbers found.
    pub(super) fn found(&self) -> Vec<f64> {
        self.wanted.iter().map(|wanted| wanted.found.unwrap_or(f64::NAN)).collect()
    }
}

/// The first place at which the weights, and what comes before them, are more than `position`, and what comes before it; the last
/// place of any weight if there is none.
fn reached(
    mut before: f64,
    weights: impl Iterator<Item = f64>,
    position: f64,
) -> Option<(usize, f64)> {
    let mut last = None;
    for (at, weight) in weights.enumerate().filter(|(_, weight)| *weight > 0.0) {
        last = Some((at, before));
        before += weight;
        if reaches(before, position) {
            break;
        }
    }
    last
}

impl Interval {
    /// One of its parts, which holds so many numbers.
    fn part(&self, edges: &[u64], part: usize, before: f64, rows: u64) -> Self {
        let first = if part == 0 { self.first } else { edges[part - 1] + 1 };
        let last = edges.get(part).copied().unwrap_or(self.last);
        let way = if rows <= MOST_KEPT {
            Way::Keep
        } else {
            let step = ((last - first) / PARTS).max(1);
            let edges = (1..PARTS).map(|part| first + part * step - 1);
            Way::Count(edges.take_while(|edge| *edge < last).collect())
        };
        Self { first, last, before, way }
    }
}
