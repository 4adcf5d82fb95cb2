//! The bandwidth vector of greatest cross-validated likelihood.
//!
//! The likelihood of Gaussian kernels is smooth, and nearly always has one maximum. That of kernels of finite support has
//! kinks and many maxima, and is 0 wherever a row has no neighbour within reach. Two searches are offered, see [`Search`].

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bandwidth::rule_of_thumb;
use super::climb::{Ascent, Metric, NO_GAIN, Peak, climb, climb_columns};
use super::likelihood::Likelihood;
use super::shape::Shape;
use super::tile::Order;
use crate::error::Result;
use crate::run::Run;

/// How the bandwidths of greatest likelihood are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Quasi-Newton climbs from several starts, which for Gaussian kernels are tried out on a part of the rows. Kernels of
    /// finite support start where Gaussian kernels end, climb along one column after the other as well, and take the peak
    /// of `sw99` if that is higher: their search is the more thorough one, not the faster.
    #[default]
    Climb,
    /// Appendix B of SmythWolpert1999: a grid for each column alone, then gradient ascent and coordinate-wise
    /// hill-climbing from there and from its multiples.
    Sw99,
}

/// Rows whose bandwidths are looked for: standardised, column after column, in random order, with weights and folds.
#[derive(Clone, Copy)]
pub(super) struct Searched<'a> {
    pub(super) shape: Shape,
    pub(super) columns: &'a [Vec<f64>],
    pub(super) weights: &'a [f64],
    pub(super) folds: &'a [u32],
    pub(super) order: Order,
}

/// Climbs of Gaussian kernels start from those on one row in so many.
const PARTS: usize = 4;
/// The fewest rows worth a climb of their own before one on all rows.
const TRIAL_ROWS: usize = 125;
/// The gain per row that ends a climb on a part of the rows: where that has its peak is known much less accurately.
const ROUGH_GAIN: f64 = 1e-5;
/// Multiples of the rule of thumb from which climbs of Gaussian kernels start.
const MULTIPLES: [f64; 3] = [0.3, 1.0, 2.0];
/// Multiples of the bandwidths of Gaussian kernels from which climbs of other kernels start.
const WIDENED: [f64; 2] = [1.0, 1.5];

impl Searched<'_> {
    /// The best bandwidths found, in standard deviations.
    pub(super) fn search(&self, search: Search, run: &Run) -> Result<Peak> {
        match search {
            Search::Climb if self.shape == Shape::Gaussian => self.smooth(run),
            Search::Climb => self.kinked(run),
            Search::Sw99 => Ok(highest(self.sw99_peaks(run)?)),
        }
    }

    /// The likelihood of these columns.
    pub(super) fn likelihood(&self, columns: &[Vec<f64>]) -> Likelihood {
        Likelihood::new(self.shape, columns, self.weights, (self.folds, self.order))
    }

    /// Gaussian kernels: a climb from the best of several starts.
    fn smooth(&self, run: &Run) -> Result<Peak> {
        Ok(self.refined(NO_GAIN, run)?.0)
    }

    /// Gaussian kernels: a climb from where that of a quarter of the rows ended, with the curvature there, so that few steps
    /// look at all pairs. The fewest rows try several starts out. A rough climb measures the curvature at its end: on a
    /// quarter of the rows that costs less than the steps it saves on all of them.
    fn refined(&self, no_gain: f64, run: &Run) -> Result<(Peak, Metric)> {
        let likelihood = self.likelihood(self.columns);
        let ascent = Ascent { likelihood: &likelihood, no_gain, run };
        let part = self.weights.len() / PARTS;
        let (peak, metric) = if part >= TRIAL_ROWS {
            let (peak, metric) = self.with_part(part, |part| part.refined(ROUGH_GAIN, run))?;
            ascent.climb(&self.narrowed(&peak.bandwidth, part), self.flattened(metric, part))?
        } else {
            self.best_of_starts(&ascent)?
        };
        let measured = if no_gain > NO_GAIN { ascent.curvature(&peak.bandwidth)? } else { None };
        Ok((peak, measured.unwrap_or(metric)))
    }

    /// The highest peak that is reached from several multiples of the rule of thumb.
    fn best_of_starts(&self, ascent: &Ascent<'_>) -> Result<(Peak, Metric)> {
        let d = self.columns.len();
        let rule = rule_of_thumb(true, self.shape, ascent.likelihood.total(), d);
        let from = |multiple: &f64| ascent.climb(&vec![multiple * rule; d], Metric::new(d));
        let climbs: Vec<(Peak, Metric)> = MULTIPLES.par_iter().map(from).collect::<Result<_>>()?;
        let by_height = |a: &(Peak, Metric), b: &(Peak, Metric)| {
            a.0.log_likelihood.total_cmp(&b.0.log_likelihood)
        };
        Ok(climbs.into_iter().max_by(by_height).expect("there is at least one start"))
    }

    /// Kernels of finite support: from where Gaussian kernels end, and the peaks of appendix B. The best of the many
    /// maxima may be any of these.
    fn kinked(&self, run: &Run) -> Result<Peak> {
        let smooth = Searched { shape: Shape::Gaussian, ..*self };
        let gaussian = smooth.smooth(run)?.bandwidth;
        let ratio = self.shape.canonical_ratio(self.columns.len());
        let times = |m: &f64| gaussian.iter().map(|h| m * ratio * h).collect::<Vec<f64>>();
        let likelihood = self.likelihood(self.columns);
        let climbs = WIDENED.par_iter().map(|multiple| {
            let start = widened(&likelihood, times(multiple), run)?;
            let steep = climb(&likelihood, &start, run)?.bandwidth;
            Ok([
                climb_both_ways(&likelihood, &steep, run)?,
                climb_both_ways(&likelihood, &start, run)?,
            ])
        });
        let climbs: Vec<[Peak; 2]> = climbs.collect::<Result<_>>()?;
        let paper = self.sw99_peaks(run)?;
        Ok(highest(climbs.into_iter().flatten().chain(paper).collect()))
    }

    /// Does something with the first rows, which are a random part of all.
    fn with_part<R>(&self, rows: usize, work: impl FnOnce(Searched<'_>) -> R) -> R {
        let columns: Vec<Vec<f64>> = self.columns.iter().map(|c| c[..rows].to_vec()).collect();
        work(Searched {
            columns: &columns,
            weights: &self.weights[..rows],
            folds: &self.folds[..rows],
            order: self.order,
            ..*self
        })
    }

    /// Bandwidths found on so many rows, for all rows: the best ones of more rows are narrower.
    fn narrowed(&self, bandwidth: &[f64], rows: usize) -> Vec<f64> {
        let share = rows as f64 / self.weights.len() as f64;
        let shrink = share.powf(1.0 / (self.columns.len() as f64 + 4.0));
        bandwidth.iter().map(|h| h * shrink).collect()
    }

    /// The curvature found on so many rows, for all rows: what wrong bandwidths cost shrinks like the error of the best.
    fn flattened(&self, metric: Metric, rows: usize) -> Metric {
        let more = self.weights.len() as f64 / rows as f64;
        metric.times(more.powf(4.0 / (self.columns.len() as f64 + 4.0)))
    }

    /// Appendix B of \[SmythWolpert1999\]. Where none of its six starts has a positive likelihood, the multiples go on
    /// growing until one has.
    fn sw99_peaks(&self, run: &Run) -> Result<Vec<Peak>> {
        let likelihood = self.likelihood(self.columns);
        let alone = self.columns_alone(run)?;
        let finite = |start: &Vec<f64>| likelihood.at(start, false).log_likelihood.is_finite();
        let times = |tenths: u32| alone.iter().map(|h| h * f64::from(tenths) / 10.0).collect();
        let mut starts: Vec<Vec<f64>> = (10..=15).map(times).filter(finite).collect();
        if starts.is_empty() {
            starts.extend((16..=MOST_TENTHS).map(times).find(finite));
        }
        if starts.is_empty() {
            starts.push(alone.clone());
        }
        let climbs = starts.par_iter().map(|start| {
            Ok([climb(&likelihood, start, run)?, climb_columns(&likelihood, start, run)?])
        });
        let peaks: Vec<[Peak; 2]> = climbs.collect::<Result<_>>()?;
        Ok(peaks.into_iter().flatten().collect())
    }

    /// For each column by itself, the best bandwidth of 0.1, 0.2 .. 1.5.
    fn columns_alone(&self, run: &Run) -> Result<Vec<f64>> {
        let best = |column: &Vec<f64>| {
            run.check()?;
            let likelihood = self.likelihood(std::slice::from_ref(column));
            let value = |tenths: u32| {
                let h = f64::from(tenths) / 10.0;
                (h, likelihood.at(&[h], false).log_likelihood)
            };
            // From the wide end, so that the narrowest of equals is taken.
            let best = (1..=15).rev().map(value).max_by(|a, b| a.1.total_cmp(&b.1));
            Ok(best.map_or(1.0, |(h, _)| h))
        };
        self.columns.par_iter().map(best).collect()
    }
}

/// The widest multiple of a start that is tried, in tenths: no row of standardised data is that far from all others.
const MOST_TENTHS: u32 = 2000;

/// Widens a start in steps of a tenth until every row has density.
fn widened(likelihood: &Likelihood, start: Vec<f64>, run: &Run) -> Result<Vec<f64>> {
    // 1.1^100 is more than ten thousand.
    const MOST_STEPS: usize = 100;
    let mut wide = start;
    for _ in 0..MOST_STEPS {
        run.check()?;
        if likelihood.at(&wide, false).log_likelihood.is_finite() {
            break;
        }
        for h in &mut wide {
            *h *= 1.1;
        }
    }
    Ok(wide)
}

/// Along one column after the other, then along the gradient.
fn climb_both_ways(likelihood: &Likelihood, start: &[f64], run: &Run) -> Result<Peak> {
    let peak = climb_columns(likelihood, start, run)?;
    climb(likelihood, &peak.bandwidth, run)
}

/// The highest of several peaks.
fn highest(peaks: Vec<Peak>) -> Peak {
    let best = peaks.into_iter().max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood));
    best.expect("there is at least one start")
}
