//! LMG's objective where members lie hundreds of nats apart: everything in logarithms.
//!
//! A member that vanishes beside another still has a ratio p_u(c_i, x_i) / p_u(x_i) of its own, and the weight that makes it
//! count may be smaller than any exponential. So weights are kept as t_u = ln alpha_u, zero as `-inf`, and
//! a row's two sums as s_i = ln sum_u exp(t_u + ln p_u(c_i, x_i)) and the same of ln p_u(x_i). A member's share in them,
//! exp(t_u + ln p_u - s_i), lies between 0 and 1 whatever the densities are.

use super::joint::JointScore;
use crate::math::{Gram, bulk, log_sum_exp};
use crate::solver::problem::{WeightProblem, unit};
use crate::stats::{Accumulator, accumulate};

/// Rows whose shares are found at a time.
const BLOCK: usize = 128;
/// Rows summed into one accumulator.
const PART: usize = 16 * BLOCK;
/// A member with a smaller share in every row than this is taken for one without weight.
const NOTHING: f64 = 1e-290;

/// ln of the least weight that a double holds with all its digits, and some room.
const REACH: f64 = -690.0;

/// The members' log joint probabilities, row after row, of the rows that count.
pub(super) struct Logs {
    pub(super) members: usize,
    /// ln p_u(c_i, x_i).
    pub(super) own: Vec<f64>,
    /// ln p_u(x_i).
    pub(super) all: Vec<f64>,
    /// Rows' shares, none of them zero.
    pub(super) shares: Vec<f64>,
    /// a_u - 1 in units of the rows' weight.
    pub(super) prior: Vec<f64>,
    /// The sum of the prior.
    pub(super) mass: f64,
    /// The least log weight there is but for `-inf`: usually that of the least number.
    pub(super) least: f64,
}

/// Log weights and what a pass over the rows found there.
#[derive(Clone)]
pub(super) struct Place {
    /// ln alpha, `-inf` for zero; the weights sum to 1.
    pub(super) t: Vec<f64>,
    /// The objective without its prior.
    pub(super) score: f64,
    /// The objective with its prior.
    pub(super) value: f64,
    /// The two sums of each row, as logarithms.
    pub(super) sums: [Vec<f64>; 2],
    /// Each member's share in the two sums, on average over the rows.
    pub(super) portions: [Vec<f64>; 2],
    /// The logarithms of the gradients of both parts by alpha.
    pub(super) slopes: [Vec<f64>; 2],
    /// The largest violation of the optimality conditions.
    pub(super) residual: f64,
}

/// The sums of a pass.
struct Pass {
    score: f64,
    portions: [Vec<f64>; 2],
    /// For members without weight: the gradients, as largest exponent and sum of what is relative to it.
    prices: [Vec<(f64, f64)>; 2],
    sums: [Vec<f64>; 2],
}

impl Accumulator for Pass {
    fn merge(&mut self, later: Self) {
        self.score += later.score;
        for (k, (portions, prices)) in later.portions.iter().zip(&later.prices).enumerate() {
            self.portions[k].iter_mut().zip(portions).for_each(|(a, b)| *a += b);
            self.prices[k].iter_mut().zip(prices).for_each(|(a, b)| add_exponential(a, *b));
            self.sums[k].extend_from_slice(&later.sums[k]);
        }
    }
}

/// Adds `b.1 exp(b.0)` to `a.1 exp(a.0)`.
fn add_exponential(a: &mut (f64, f64), b: (f64, f64)) {
    if b.0 <= a.0 {
        if b.0 > f64::NEG_INFINITY {
            a.1 += b.1 * (b.0 - a.0).exp();
        }
    } else {
        *a = (b.0, b.1 + if a.0 > f64::NEG_INFINITY { a.1 * (a.0 - b.0).exp() } else { 0.0 });
    }
}

impl Logs {
    /// The problem for these shares of the rows, among the allowed members.
    pub(super) fn new(problem: &JointScore, shares: &[f64], allowed: &[usize]) -> Self {
        let rows: Vec<usize> = (0..shares.len()).filter(|&i| shares[i] > 0.0).collect();
        let members = allowed.len();
        let (mut own, mut all) = (vec![0.0; rows.len() * members], vec![0.0; rows.len() * members]);
        for (j, &m) in allowed.iter().enumerate() {
            let only = unit(problem.members(), m);
            for (part, to) in problem.parts().into_iter().zip([&mut own, &mut all]) {
                let column = part.row_scores(&only);
                rows.iter().enumerate().for_each(|(k, &i)| to[k * members + j] = column[i]);
            }
        }
        let total: f64 = rows.iter().map(|&i| shares[i]).sum();
        let prior: Vec<f64> = allowed.iter().map(|&m| problem.prior()[m]).collect();
        Self {
            members,
            own,
            all,
            shares: rows.iter().map(|&i| shares[i] / total).collect(),
            mass: prior.iter().sum(),
            prior,
            least: REACH,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.shares.len()
    }

    /// The objective with its prior of log weights that need not be normalised.
    pub(super) fn value(&self, t: &[f64]) -> f64 {
        self.at(self.normalised(t.to_vec())).value
    }

    /// What a pass over the rows finds at log weights of any scale.
    pub(super) fn place(&self, t: Vec<f64>) -> Place {
        self.at(self.normalised(t))
    }

    fn at(&self, mut t: Vec<f64>) -> Place {
        let zero = || Pass {
            score: 0.0,
            portions: [vec![0.0; self.members], vec![0.0; self.members]],
            prices: [0, 1].map(|_| vec![(f64::NEG_INFINITY, 0.0); self.members]),
            sums: [Vec::new(), Vec::new()],
        };
        let pass = accumulate(self.rows(), PART, zero, |sum, rows| {
            let mut shares = vec![0.0; BLOCK * self.members];
            for first in rows.clone().step_by(BLOCK) {
                let block = first..(first + BLOCK).min(rows.end);
                for k in 0..2 {
                    let sums = self.mix(k, block.clone(), &t, &mut shares);
                    for (i, row) in block.clone().zip(shares.chunks_exact(self.members)) {
                        let share = self.shares[i];
                        sum.portions[k].iter_mut().zip(row).for_each(|(p, r)| *p += share * r);
                    }
                    let idle = (0..self.members).filter(|&m| t[m] == f64::NEG_INFINITY);
                    for m in idle {
                        for (i, s) in block.clone().zip(&sums) {
                            let exponent = self.table(k)[i * self.members + m] - s;
                            add_exponential(&mut sum.prices[k][m], (exponent, self.shares[i]));
                        }
                    }
                    sum.sums[k].extend(sums);
                }
                let done = sum.sums[0].len() - block.len();
                for (b, i) in block.enumerate() {
                    sum.score += self.shares[i] * (sum.sums[0][done + b] - sum.sums[1][done + b]);
                }
            }
        });
        let slope = |k: usize, m: usize| match pass.prices[k][m] {
            _ if t[m] > f64::NEG_INFINITY => pass.portions[k][m].ln() - t[m],
            (exponent, sum) => exponent + sum.ln(),
        };
        let slopes = [0, 1].map(|k| (0..self.members).map(|m| slope(k, m)).collect::<Vec<f64>>());
        let log_prior: f64 =
            self.prior.iter().zip(&t).filter(|(p, _)| **p > 0.0).map(|(p, t)| p * t).sum();
        let vanished = |m: usize| {
            t[m] > f64::NEG_INFINITY
                && self.prior[m] == 0.0
                && pass.portions.iter().all(|portions| portions[m] < NOTHING)
        };
        let vanished: Vec<usize> = (0..self.members).filter(|&m| vanished(m)).collect();
        if !vanished.is_empty() && vanished.len() < self.members {
            vanished.iter().for_each(|&m| t[m] = f64::NEG_INFINITY);
            return self.at(self.normalised(t));
        }
        let Pass { score, portions, sums, .. } = pass;
        // A row that has nothing of its own class makes a score of -inf whatever else it has.
        let score = if sums[0].contains(&f64::NEG_INFINITY) { f64::NEG_INFINITY } else { score };
        let mut place =
            Place { value: score + log_prior, t, score, sums, portions, slopes, residual: 0.0 };
        place.residual = self.residual(&place);
        place
    }

    /// The larger of what a member's weight pulls up, in units of its own gradient where that exceeds 1, and of what
    /// complementary slackness lacks: alpha_u times the pull. A residual that is not a number is infinite.
    fn residual(&self, place: &Place) -> f64 {
        let mut largest = if place.value.is_finite() { 0.0_f64 } else { f64::INFINITY };
        // Weights that are the least there is cannot become smaller beside the others: what they pull holds these up.
        let held = |m: usize| place.t[m] > f64::NEG_INFINITY && place.t[m] <= self.least;
        let held_up: f64 =
            (0..self.members).filter(|&m| held(m)).map(|m| self.slack(place, m).min(0.0)).sum();
        for m in 0..self.members {
            let violation = if place.t[m] == f64::NEG_INFINITY {
                let (weight, pull) = self.entry(place, m);
                if pull > 0.0 && weight < self.least { self.gain_of_least(place, m) } else { pull }
            } else {
                let weight = place.t[m].exp();
                let slack = self.slack(place, m) + weight * held_up;
                match slack {
                    slack if slack > 0.0 => slack / weight.max(place.portions[0][m]),
                    _ if held(m) => 0.0,
                    _ => -slack,
                }
            };
            largest = if violation.is_nan() { f64::INFINITY } else { largest.max(violation) };
        }
        largest
    }

    /// alpha_u times the gradient on the simplex.
    pub(super) fn slack(&self, place: &Place, m: usize) -> f64 {
        let [own, all] = &place.portions;
        own[m] - all[m] + self.prior[m] - self.mass * place.t[m].exp()
    }

    /// For a member without weight: the logarithm of a weight at which it begins to count, and the gradient times that
    /// weight.
    pub(super) fn entry(&self, place: &Place, m: usize) -> (f64, f64) {
        let [own, all] = &place.slopes;
        let weight = -own[m].max(0.0);
        // A member that no row knows, although some may, has no gradient at all.
        let gradient =
            |slope: f64| if slope == f64::NEG_INFINITY { 0.0 } else { (slope + weight).exp() };
        (weight, gradient(own[m]) - gradient(all[m]) - self.mass * weight.exp())
    }

    /// What the least weight there is would gain a member without weight, which needs a smaller one to begin to count.
    fn gain_of_least(&self, place: &Place, m: usize) -> f64 {
        let gain = |k: usize, i: usize| {
            let log = self.least + self.table(k)[i * self.members + m] - place.sums[k][i];
            if log > 30.0 { log } else { log.exp().ln_1p() }
        };
        let rows = self.shares.iter().enumerate();
        rows.map(|(i, share)| share * (gain(0, i) - gain(1, i))).sum::<f64>()
            - self.mass * self.least.exp()
    }

    pub(super) fn table(&self, k: usize) -> &[f64] {
        if k == 0 { &self.own } else { &self.all }
    }

    /// The members' shares in one of the two sums of some rows; returns the logarithms of the sums.
    fn mix(
        &self,
        k: usize,
        rows: std::ops::Range<usize>,
        t: &[f64],
        shares: &mut [f64],
    ) -> Vec<f64> {
        let width = self.members;
        let shares = &mut shares[..rows.len() * width];
        let table = &self.table(k)[rows.start * width..rows.end * width];
        let mut sums = Vec::with_capacity(rows.len());
        for (row, logs) in shares.chunks_exact_mut(width).zip(table.chunks_exact(width)) {
            row.iter_mut().zip(logs).zip(t).for_each(|((out, log), t)| *out = log + t);
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shift = if largest > f64::NEG_INFINITY { largest } else { 0.0 };
            row.iter_mut().for_each(|out| *out -= shift);
            sums.push(largest);
        }
        bulk::exp_in_place(shares);
        for (row, sum) in shares.chunks_exact_mut(width).zip(&mut sums) {
            let total: f64 = row.iter().sum();
            if total > 0.0 {
                row.iter_mut().for_each(|share| *share /= total);
                *sum += total.ln();
            }
        }
        sums
    }

    /// sum_i w_i z_iu z_iv with z_iu = exp(d_u + ln p_u - s_i), for both sums: members with the logarithms d of their units.
    pub(super) fn curvature(&self, place: &Place, units: &[(usize, f64)]) -> [Gram; 2] {
        [0, 1].map(|k| {
            Gram::over_rows(self.rows(), units.len(), |j, i| {
                let (m, unit) = units[j];
                let exponent = unit + self.table(k)[i * self.members + m] - place.sums[k][i];
                exponent.exp() * self.shares[i].sqrt()
            })
        })
    }

    /// The logarithm of a row's sum without one member.
    pub(super) fn others(&self, place: &Place, k: usize, m: usize, i: usize) -> f64 {
        let row = &self.table(k)[i * self.members..][..self.members];
        let sum = place.sums[k][i];
        let share = (place.t[m] + row[m] - sum).exp();
        if share < 0.5 {
            return sum + (-share).ln_1p();
        }
        let terms = (0..self.members).filter(|&u| u != m).map(|u| row[u] + place.t[u]);
        log_sum_exp(&terms.collect::<Vec<f64>>())
    }

    /// Log weights whose exponentials sum to 1, none smaller than there are.
    fn normalised(&self, mut t: Vec<f64>) -> Vec<f64> {
        let total = log_sum_exp(&t);
        if total.is_finite() {
            let bound =
                |t: f64| if t > f64::NEG_INFINITY { (t - total).max(self.least) } else { t };
            t.iter_mut().for_each(|t| *t = bound(*t));
        }
        t
    }
}
