//! Climbing the likelihood of a bandwidth vector to a local maximum, in the logarithms of the bandwidths.

use super::likelihood::{Likelihood, Value};
use crate::error::Result;
use crate::math::cholesky;
use crate::run::Run;

/// Where a climb ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peak {
    pub(super) bandwidth: Vec<f64>,
    pub(super) log_likelihood: f64,
    pub(super) converged: bool,
    pub(super) evaluations: usize,
}

impl Peak {
    /// What the user should know, with the columns' names.
    pub(super) fn notes<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        if self.log_likelihood == f64::NEG_INFINITY {
            return vec!["no bandwidth was found that gives every row a density".into()];
        }
        let (least, greatest) = (RANGE.0 * (1.0 + 1e-9), RANGE.1 * (1.0 - 1e-9));
        let note = |(name, &h): (&str, &f64)| {
            (h < least)
                .then(|| format!("the likelihood of column '{name}' grows as its bandwidth shrinks: its values repeat"))
                .or((h > greatest).then(|| format!("the likelihood does not depend on column '{name}'")))
        };
        names.zip(&self.bandwidth).filter_map(note).collect()
    }
}

/// Bandwidths are kept within this many standard deviations. The likelihood of repeated values grows without bound as
/// bandwidths shrink; the lower end is where such a search stops.
pub(super) const RANGE: (f64, f64) = (1e-3, 1e3);

/// A slope per row below this counts as level: the likelihood is then within about its square of the maximum.
const LEVEL: f64 = 1e-5;
/// A gain per row below this, made or promised by the curvature, ends a climb too: kinks have no level slope.
pub(super) const NO_GAIN: f64 = 1e-9;
/// The longest step, in ln h.
const LONGEST: f64 = 1.0;
const MOST_STEPS: usize = 200;

/// A quasi-Newton (BFGS) ascent with backtracking.
pub(super) fn climb(likelihood: &Likelihood, start: &[f64], run: &Run) -> Result<Peak> {
    let ascent = Ascent { likelihood, no_gain: NO_GAIN, run };
    Ok(ascent.climb(start, Metric::new(start.len()))?.0)
}

/// How a climb goes: on what, and which gain per row is not worth a step.
#[derive(Clone, Copy)]
pub(super) struct Ascent<'a> {
    pub(super) likelihood: &'a Likelihood,
    pub(super) no_gain: f64,
    pub(super) run: &'a Run,
}

impl Ascent<'_> {
    /// Climbs from bandwidths with what is known of the curvature there; also returns what is known of it in the end.
    pub(super) fn climb(&self, start: &[f64], mut metric: Metric) -> Result<(Peak, Metric)> {
        let total = self.likelihood.total();
        let mut at = Point::new(self.likelihood, start.iter().map(|h| h.ln()).collect());
        let mut evaluations = 1;
        let mut converged = false;
        for _ in 0..MOST_STEPS {
            self.run.check()?;
            if !at.value.log_likelihood.is_finite() {
                break;
            }
            let promised = 0.5 * metric.squared_length(&at.value.gradient, total);
            if at.slope(self.likelihood) < LEVEL || promised < self.no_gain {
                converged = true;
                break;
            }
            let direction = metric.direction(&at.value.gradient, total);
            let (next, tried) = step(self.likelihood, &at, &direction);
            evaluations += tried;
            let Some(next) = next else {
                converged = true;
                break;
            };
            let gain = next.value.log_likelihood - at.value.log_likelihood;
            metric.update(&at, &next, total);
            at = next;
            if gain < self.no_gain * total {
                converged = true;
                break;
            }
        }
        let peak = Peak {
            bandwidth: at.log_bandwidth.iter().map(|v| v.exp()).collect(),
            log_likelihood: at.value.log_likelihood,
            converged,
            evaluations,
        };
        Ok((peak, metric))
    }

    /// The curvature at bandwidths, from differences of gradients; `None` where the likelihood is not concave.
    pub(super) fn curvature(&self, bandwidth: &[f64]) -> Result<Option<Metric>> {
        const STEP: f64 = 0.01;
        let (d, total) = (bandwidth.len(), self.likelihood.total());
        let here = self.likelihood.at(bandwidth, true).gradient;
        let mut negative = vec![0.0; d * d];
        for k in 0..d {
            self.run.check()?;
            let mut moved = bandwidth.to_vec();
            moved[k] *= STEP.exp();
            let there = self.likelihood.at(&moved, true).gradient;
            for (j, (here, there)) in here.iter().zip(there).enumerate() {
                let bend = 0.5 * (here - there) / (STEP * total);
                negative[k * d + j] += bend;
                negative[j * d + k] += bend;
            }
        }
        Ok(Metric::from_curvature(negative, d))
    }
}

/// A bandwidth vector and its likelihood.
struct Point {
    log_bandwidth: Vec<f64>,
    value: Value,
}

impl Point {
    fn new(likelihood: &Likelihood, log_bandwidth: Vec<f64>) -> Self {
        let bandwidth: Vec<f64> = log_bandwidth.iter().map(|v| v.exp()).collect();
        let mut value = likelihood.at(&bandwidth, true);
        // At the end of the range there is no slope out of it.
        for (slope, log) in value.gradient.iter_mut().zip(&log_bandwidth) {
            let out =
                (*log <= RANGE.0.ln() && *slope < 0.0) || (*log >= RANGE.1.ln() && *slope > 0.0);
            if out {
                *slope = 0.0;
            }
        }
        Self { log_bandwidth, value }
    }

    /// The steepest slope, per row.
    fn slope(&self, likelihood: &Likelihood) -> f64 {
        let steepest = self.value.gradient.iter().fold(0.0, |most, g| f64::max(most, g.abs()));
        steepest / likelihood.total()
    }
}

/// Backtracks along a direction until the likelihood has risen enough; returns how often it was evaluated.
fn step(likelihood: &Likelihood, at: &Point, direction: &[f64]) -> (Option<Point>, usize) {
    const SHORTEST: f64 = 1e-10;
    const RISE: f64 = 1e-4;
    let (low, high) = (RANGE.0.ln(), RANGE.1.ln());
    let mut length = 1.0;
    let mut tried = 0;
    while length > SHORTEST {
        let moved = at.log_bandwidth.iter().zip(direction);
        let moved: Vec<f64> = moved.map(|(v, d)| (v + length * d).clamp(low, high)).collect();
        let promised: f64 = moved
            .iter()
            .zip(&at.log_bandwidth)
            .zip(&at.value.gradient)
            .map(|((new, old), slope)| (new - old) * slope)
            .sum();
        let next = Point::new(likelihood, moved);
        tried += 1;
        let gain = next.value.log_likelihood - at.value.log_likelihood;
        if gain > 0.0 && gain >= RISE * promised {
            return (Some(next), tried);
        }
        // The parabola through value, slope and new value; a failed step into likelihood 0 is halved.
        let curvature = promised - gain;
        let shorter = if curvature.is_finite() && curvature > 0.0 {
            (0.5 * promised / curvature).clamp(0.1, 0.5)
        } else {
            0.5
        };
        length *= shorter;
    }
    (None, tried)
}

/// The inverse of the negative Hessian of the mean log-likelihood of a row, as far as it is known from the steps taken.
pub(super) struct Metric {
    inverse: Vec<Vec<f64>>,
    fresh: bool,
}

impl Metric {
    /// Nothing is known: the curvature in ln h of a row's log density is of the order of 1.
    pub(super) fn new(dimension: usize) -> Self {
        let row = |i| (0..dimension).map(|j| f64::from(u8::from(i == j))).collect();
        Self { inverse: (0..dimension).map(row).collect(), fresh: true }
    }

    /// The inverse of a matrix, row after row, if that is positive definite.
    fn from_curvature(mut negative: Vec<f64>, d: usize) -> Option<Self> {
        cholesky::factorise(&mut negative, d).ok()?;
        cholesky::invert_lower(&mut negative, d);
        // (L L')^-1 = W' W for W = L^-1.
        let entry = |i, j| (0..d).map(|k: usize| negative[k * d + i] * negative[k * d + j]).sum();
        let row = |i: usize| (0..d).map(|j: usize| entry(i, j)).collect();
        Some(Self { inverse: (0..d).map(row).collect(), fresh: false })
    }

    /// Multiplied by a factor, as if the likelihood were so much flatter.
    pub(super) fn times(mut self, factor: f64) -> Self {
        self.inverse.iter_mut().flatten().for_each(|v| *v *= factor);
        self
    }

    /// The ascent direction, no longer than [`LONGEST`].
    fn direction(&self, gradient: &[f64], total: f64) -> Vec<f64> {
        let mut direction: Vec<f64> =
            self.inverse.iter().map(|row| dot(row, gradient) / total).collect();
        let longest = direction.iter().fold(0.0, |most, d| f64::max(most, d.abs()));
        if longest > LONGEST {
            for d in &mut direction {
                *d *= LONGEST / longest;
            }
        }
        direction
    }

    /// Twice the gain per row that a step to the peak would bring were the likelihood a parabola of this curvature;
    /// unknown before the first step.
    fn squared_length(&self, gradient: &[f64], total: f64) -> f64 {
        if self.fresh {
            return f64::INFINITY;
        }
        let image = self.inverse.iter().map(|row| dot(row, gradient));
        image.zip(gradient).map(|(d, g)| d * g).sum::<f64>() / (total * total)
    }

    /// The BFGS update; left out where the likelihood is not concave along the step.
    fn update(&mut self, from: &Point, to: &Point, total: f64) {
        let difference =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let moved = difference(&to.log_bandwidth, &from.log_bandwidth);
        let mut bent = difference(&from.value.gradient, &to.value.gradient);
        bent.iter_mut().for_each(|slope| *slope /= total);
        let curvature = dot(&moved, &bent);
        let lengths = dot(&bent, &bent).sqrt() * dot(&moved, &moved).sqrt();
        if curvature.is_nan() || curvature <= 1e-12 * lengths {
            return;
        }
        if self.fresh {
            let unit = curvature / dot(&bent, &bent);
            for v in self.inverse.iter_mut().flatten() {
                *v *= unit;
            }
            self.fresh = false;
        }
        let image: Vec<f64> = self.inverse.iter().map(|row| dot(row, &bent)).collect();
        let stretch = (1.0 + dot(&bent, &image) / curvature) / curvature;
        for (i, row) in self.inverse.iter_mut().enumerate() {
            for (j, v) in row.iter_mut().enumerate() {
                *v += stretch * moved[i] * moved[j]
                    - (image[i] * moved[j] + moved[i] * image[j]) / curvature;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Hill-climbing along one column after the other, with steps that are halved when no column gains.
pub(super) fn climb_columns(likelihood: &Likelihood, start: &[f64], run: &Run) -> Result<Peak> {
    const FIRST: f64 = 0.1;
    const LAST: f64 = 1e-3;
    let mut peak = Peak {
        bandwidth: start.to_vec(),
        log_likelihood: likelihood.at(start, false).log_likelihood,
        converged: true,
        evaluations: 1,
    };
    let mut ratio = FIRST;
    while ratio > LAST {
        let before = peak.log_likelihood;
        for k in 0..likelihood.dimension() {
            for factor in [1.0 + ratio, 1.0 / (1.0 + ratio)] {
                while try_factor(likelihood, &mut peak, k, factor) {
                    run.check()?;
                }
            }
        }
        // Not a number where the likelihood is 0 everywhere.
        let gain = peak.log_likelihood - before;
        if gain.is_nan() || gain <= NO_GAIN * likelihood.total() {
            ratio *= 0.5;
        }
    }
    Ok(peak)
}

/// Multiplies one bandwidth by a factor if that raises the likelihood.
fn try_factor(likelihood: &Likelihood, peak: &mut Peak, column: usize, factor: f64) -> bool {
    let mut bandwidth = peak.bandwidth.clone();
    bandwidth[column] *= factor;
    if !(RANGE.0..=RANGE.1).contains(&bandwidth[column]) {
        return false;
    }
    peak.evaluations += 1;
    let log_likelihood = likelihood.at(&bandwidth, false).log_likelihood;
    let better = log_likelihood > peak.log_likelihood;
    if better {
        (peak.bandwidth, peak.log_likelihood) = (bandwidth, log_likelihood);
    }
    better
}
