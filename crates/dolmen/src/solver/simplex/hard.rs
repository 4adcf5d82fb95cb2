//! LMG on matrices where weights lie any distance apart: the way up in logarithms ([`super::logs`]).
//!
//! Three kinds of step are tried, and the one that rises most is taken; none is taken that falls.
//!
//! 1. Newton's step in the weights, each in units of itself, over non-negative numbers: it finds exact zeros and lets members
//!    without weight enter.
//! 2. Newton's step in the logarithms t = ln alpha. With A and B the members' shares in the two sums of a row, averages a and
//!    b, the negative Hessian is A'A - diag(a) + diag(b) - B'B (+ that of the prior): adding lambda (diag(a) + diag(b)) makes
//!    it definite at lambda = 1 at the latest [Levenberg 1944]. It crosses hundreds of nats at once.
//! 3. The multiplicative step alpha_u <- alpha_u a_u / b_u of the minorant that EM gives for the first logarithm and the
//!    tangent for the second: it rises on any matrix.
//!
//! Where rows hang on members thousands of nats apart the objective is a landscape of plateaus, each of which meets the
//! conditions of a maximum. So at every maximum each member's weight is moved alone past the rows where it takes over, over
//! all distances, and the climb goes on from the best place found.

use dolmen_linalg::{Cholesky, Mat};

use super::ascent::{KEPT_BENDS, KEPT_SHARE, MARGIN};
use super::joint::LmgOptions;
use super::logs::{Logs, Place};
use crate::math::{Gram, cholesky, first_largest, log_sum_exp, nonnegative};

/// Members without weight that may enter in one step.
const ENTERING: usize = 32;
/// Members beyond which the multiplicative step is taken alone: matrices of their number squared cost too much.
const MANY: usize = 320;
/// The largest change of a log weight in one step of the second kind.
const FAR: f64 = 300.0;
/// Halvings of a Newton step.
const HALVINGS: usize = 12;
/// Places to which a member's weight is moved on its own, at most; and places times rows in all.
const PLACES: usize = 64;
const LOOKS: usize = 20_000_000;
/// Moves of one member's weight between climbs.
const MOVES: usize = 40;

impl Logs {
    /// Climbs from one start; also how many steps that took.
    pub(super) fn climb(&self, t: Vec<f64>, options: &LmgOptions) -> (Place, usize) {
        let mut here = self.place(t);
        let mut damping = 1e-3;
        for steps in 0..options.max_iterations {
            if here.residual <= options.tolerance || !here.value.is_finite() {
                return (here, steps);
            }
            let Some(next) = self.rise(&here, &mut damping) else { return (here, steps) };
            here = next;
        }
        (here, options.max_iterations)
    }

    /// The best of the steps, if it is better as far as rounding lets us see.
    fn rise(&self, here: &Place, damping: &mut f64) -> Option<Place> {
        let mut nexts = vec![self.multiplied(here)];
        let support: Vec<usize> =
            (0..self.members).filter(|&m| here.t[m] > f64::NEG_INFINITY).collect();
        if support.len() <= MANY {
            let mut units: Vec<(usize, f64)> = support.iter().map(|&m| (m, here.t[m])).collect();
            units.extend(self.entering(here));
            let curvature = self.curvature(here, &units);
            nexts.extend(self.in_weights(here, &units, &curvature));
            nexts.extend(self.in_logarithms(here, &units[..support.len()], &curvature, damping));
        }
        let seen = self.resolution(here);
        nexts.retain(|next| next.value >= here.value - seen);
        let values: Vec<f64> = nexts.iter().map(|next| next.value).collect();
        if nexts.is_empty() {
            return None;
        }
        let best = first_largest(&values);
        if values[best] > here.value + seen {
            return Some(nexts.swap_remove(best));
        }
        let residuals: Vec<f64> = nexts.iter().map(|next| -next.residual).collect();
        let next = nexts.swap_remove(first_largest(&residuals));
        (next.residual < 0.9 * here.residual).then_some(next)
    }

    /// The smallest change of the objective that is not rounding: that of sums of log densities.
    fn resolution(&self, here: &Place) -> f64 {
        let size: f64 =
            here.sums[0].iter().zip(&self.shares).map(|(sum, share)| share * sum.abs()).sum();
        4.0 * f64::EPSILON * (1.0 + self.mass + here.value.abs() + size)
    }

    /// Members without weight that pull upwards, with the logarithms of their units.
    fn entering(&self, here: &Place) -> Vec<(usize, f64)> {
        let idle = (0..self.members).filter(|&m| here.t[m] == f64::NEG_INFINITY);
        let priced = idle.map(|m| (m, self.entry(here, m)));
        let mut wanted: Vec<(usize, (f64, f64))> =
            priced.filter(|(_, (unit, pull))| *pull > 0.0 && *unit >= self.least).collect();
        wanted.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
        wanted.truncate(ENTERING);
        wanted.into_iter().map(|(m, (unit, _))| (m, unit)).collect()
    }

    /// The multiplicative step.
    fn multiplied(&self, here: &Place) -> Place {
        let [own, all] = &here.portions;
        let moved = |m: usize| {
            let paid = all[m] + self.mass * here.t[m].exp();
            if paid > 0.0 { here.t[m] + ((own[m] + self.prior[m]) / paid).ln() } else { here.t[m] }
        };
        self.place((0..self.members).map(moved).collect())
    }

    /// Newton's step in the weights, each in its unit.
    fn in_weights(
        &self,
        here: &Place,
        units: &[(usize, f64)],
        [own, all]: &[Gram; 2],
    ) -> Option<Place> {
        let is_in = |m: usize| here.t[m] > f64::NEG_INFINITY;
        let pull: Vec<f64> = units
            .iter()
            .map(|&(m, _)| if is_in(m) { self.slack(here, m) } else { self.entry(here, m).1 })
            .collect();
        let curvature = self.bend(units, own, all);
        let kept = |m: usize| if self.prior[m] > 0.0 { KEPT_SHARE } else { 0.0 };
        let above: Vec<f64> =
            units.iter().map(|&(m, _)| if is_in(m) { 1.0 - kept(m) } else { 0.0 }).collect();
        let curved = curvature.times(&above);
        let target: Vec<f64> = curved.iter().zip(&pull).map(|(c, pull)| c + pull).collect();
        if !target.iter().all(|value| value.is_finite()) {
            return None;
        }
        let found = nonnegative::minimise(&curvature, &target, &above).y;
        let seen = self.resolution(here);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let mut t = here.t.clone();
            for ((&(m, unit), y), above) in units.iter().zip(&found).zip(&above) {
                let from = if is_in(m) { 1.0 } else { 0.0 };
                t[m] = unit + (from + length * (y - above)).max(0.0).ln();
            }
            let next = self.place(t);
            if next.value >= here.value - seen {
                return Some(next);
            }
            length /= 4.0;
        }
        None
    }

    /// The negative Hessian in these units with the pull to sum alpha = 1; as little of the second logarithm's part as
    /// it takes is left out to make it definite.
    fn bend(&self, units: &[(usize, f64)], own: &Gram, all: &Gram) -> Gram {
        let weights: Vec<f64> = units.iter().map(|(_, unit)| unit.exp()).collect();
        let bent_right = |i: usize, j: usize| {
            let prior = if i == j { self.prior[units[i].0] } else { 0.0 };
            own.get(i, j) + prior + weights[i] * weights[j]
        };
        for share in KEPT_BENDS {
            let bend = |i: usize, j: usize| bent_right(i, j) - share * all.get(i, j);
            let mut safe =
                Gram::from_fn(units.len(), |i, j| bend(i, j) - MARGIN * bent_right(i, j));
            (0..units.len()).for_each(|i| safe.add_diagonal(i, 1e-9 * bent_right(i, i)));
            if cholesky::factorise(&mut safe.to_rows(), units.len()).is_ok() {
                return Gram::from_fn(units.len(), bend);
            }
        }
        Gram::from_fn(units.len(), bent_right)
    }

    /// Newton's step in the logarithms of the weights of members that have some; the damping is kept for the next one.
    fn in_logarithms(
        &self,
        here: &Place,
        units: &[(usize, f64)],
        [own, all]: &[Gram; 2],
        damping: &mut f64,
    ) -> Option<Place> {
        let weight = |j: usize| units[j].1.exp();
        let portion = |k: usize, j: usize| here.portions[k][units[j].0];
        let size: Vec<f64> = (0..units.len())
            .map(|j| portion(0, j) + portion(1, j) + self.prior[units[j].0] + self.mass * weight(j))
            .map(|size| size.max(f64::MIN_POSITIVE).sqrt())
            .collect();
        let hessian = |i: usize, j: usize| {
            let outer = weight(i) * weight(j);
            let diagonal = portion(1, i) - portion(0, i) + self.mass * weight(i);
            // The direction in which all weights grow alike changes nothing; outer gives it a curvature.
            let off = own.get(i, j) - all.get(i, j) - self.mass * outer + outer;
            (off + if i == j { diagonal } else { 0.0 }) / (size[i] * size[j])
        };
        let seen = self.resolution(here);
        while *damping < 1e6 {
            let matrix = Mat::from_fn(units.len(), units.len(), |i, j| {
                hessian(i, j) + if i == j { *damping } else { 0.0 }
            });
            let right: Vec<f64> =
                units.iter().zip(&size).map(|((m, _), size)| self.slack(here, *m) / size).collect();
            if let Some(factor) = Cholesky::new(matrix.as_ref()) {
                let step = factor.solve_vector(&right);
                let mut t = here.t.clone();
                let way: Vec<f64> = (0..units.len()).map(|j| step[j] / size[j]).collect();
                let longest = way.iter().fold(0.0_f64, |longest, d| longest.max(d.abs()));
                if longest.is_finite() {
                    let length = (FAR / longest).min(1.0);
                    units.iter().zip(&way).for_each(|((m, _), d)| t[*m] += length * d);
                    let next = self.place(t);
                    if next.value >= here.value - seen {
                        *damping = (*damping / 10.0).max(1e-13);
                        return Some(next);
                    }
                }
            }
            *damping *= 10.0;
        }
        *damping = 1.0;
        None
    }

    /// Climbs, then moves one weight at a time over all distances, and climbs again as long as that helps.
    pub(super) fn explore(&self, t: Vec<f64>, options: &LmgOptions) -> (Place, usize) {
        let (mut here, mut steps) = self.climb(t, options);
        for _ in 0..MOVES {
            let Some(moved) = self.moved(&here) else { break };
            let (next, more) = self.climb(moved.t, options);
            steps += more;
            if next.value <= here.value + 10.0 * self.resolution(&here) {
                break;
            }
            here = next;
        }
        (here, steps)
    }

    /// The best place that one member's weight can be moved to alone, if it is better than here.
    fn moved(&self, here: &Place) -> Option<Place> {
        if !here.value.is_finite() || self.members < 2 {
            return None;
        }
        let places = (LOOKS / (2 * self.rows() * self.members)).clamp(6, PLACES);
        let mut best: Option<(f64, usize, f64)> = None;
        for m in 0..self.members {
            let others = [0, 1].map(|k| {
                (0..self.rows()).map(|i| self.others(here, k, m, i)).collect::<Vec<f64>>()
            });
            for t in self.crossings(&others, m, places) {
                let value = self.along(&others, m, t) + self.log_prior(here, m, t);
                if best.is_none_or(|(most, _, _)| value > most) {
                    best = Some((value, m, t));
                }
            }
        }
        let (value, m, to) = best?;
        let seen = (100.0 * self.resolution(here)).max(1e-10);
        if value <= here.value + seen {
            return None;
        }
        let mut t = here.t.clone();
        t[m] = to;
        let next = self.place(t);
        (next.value > here.value + seen).then_some(next)
    }

    /// Log weights of a member between those at which it takes over one row after the other, and none at all.
    fn crossings(&self, others: &[Vec<f64>; 2], m: usize, places: usize) -> Vec<f64> {
        let mut at: Vec<f64> = (0..2)
            .flat_map(|k| {
                let row =
                    move |(i, others): (usize, &f64)| others - self.table(k)[i * self.members + m];
                others[k].iter().enumerate().map(row)
            })
            .filter(|t| t.is_finite())
            .collect();
        at.sort_by(f64::total_cmp);
        let (Some(first), Some(last)) = (at.first().copied(), at.last().copied()) else {
            return Vec::new();
        };
        let mut middles: Vec<f64> =
            at.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
        middles.dedup_by(|a, b| (*a - *b).abs() < 0.5);
        let stride = middles.len().div_ceil(places).max(1);
        let mut chosen: Vec<f64> = middles.into_iter().step_by(stride).collect();
        chosen.extend([first - 40.0, last + 40.0]);
        chosen.retain(|t| *t >= self.least);
        if self.prior[m] == 0.0 {
            chosen.push(f64::NEG_INFINITY);
        }
        chosen
    }

    /// The logarithm of the prior with one member's log weight changed, before the weights are divided by their sum.
    fn log_prior(&self, here: &Place, m: usize, t: f64) -> f64 {
        if self.mass == 0.0 {
            return 0.0;
        }
        let log = |u: usize| if u == m { t } else { here.t[u] };
        let logs: Vec<f64> = (0..self.members).map(log).collect();
        let held = (0..self.members).filter(|&u| self.prior[u] > 0.0);
        held.map(|u| self.prior[u] * logs[u]).sum::<f64>() - self.mass * log_sum_exp(&logs)
    }

    /// The score with one member's log weight changed.
    fn along(&self, others: &[Vec<f64>; 2], m: usize, t: f64) -> f64 {
        let with = |k: usize, i: usize| {
            let (a, b) = (others[k][i], t + self.table(k)[i * self.members + m]);
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
        };
        let row = |(i, share): (usize, &f64)| match with(0, i) {
            f64::NEG_INFINITY => f64::NEG_INFINITY,
            own => share * (own - with(1, i)),
        };
        self.shares.iter().enumerate().map(row).sum()
    }

    /// The mean score of each member alone.
    pub(super) fn alone(&self) -> Vec<f64> {
        let score = |m: usize| {
            let row = |(i, share): (usize, &f64)| match self.own[i * self.members + m] {
                f64::NEG_INFINITY => f64::NEG_INFINITY,
                own => share * (own - self.all[i * self.members + m]),
            };
            self.shares.iter().enumerate().map(row).sum()
        };
        (0..self.members).map(score).collect()
    }

    /// A start that gives each member the weight at which it is as large as the others in a middling row.
    pub(super) fn levelled(&self) -> Vec<f64> {
        let level = |m: usize| {
            let mut below: Vec<f64> = self
                .all
                .chunks_exact(self.members)
                .map(|row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max) - row[m])
                .filter(|below| below.is_finite())
                .collect();
            below.sort_by(f64::total_cmp);
            below.get(below.len() / 2).copied().unwrap_or(0.0)
        };
        (0..self.members).map(level).collect()
    }
}
