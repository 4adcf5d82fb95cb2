//! LMG: weights of a linear mixture of joint probabilities that maximise the conditional log score
//! [CerquidesMantaras2005 section 3.2].
//!
//! maximise  sum_i w_i [ ln sum_u alpha_u p_u(c_i, x_i) - ln sum_u alpha_u p_u(x_i) ] + sum_u (a_u - 1) ln alpha_u
//!
//! over the simplex. The second logarithm makes it a difference of concave functions: there may be several maxima, so it is
//! solved from several starts. The objective but for its prior does not depend on the scale of alpha; a quadratic pull to
//! sum alpha = 1 takes the place of the constraint.
//!
//! Members that lie less than some dozens of nats apart are climbed by Newton's method in the weights ([`super::ascent`]). Beyond
//! that weights lie as far apart as the densities, and maxima are many: the climb is made in logarithms, with every good
//! member alone among its starts ([`super::hard`]). Weights are those that doubles hold, down to 1e-300; where smaller ones
//! would lead further up, what they would gain is part of the residual.

use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use super::LogScore;
use super::ascent::Ascent;
use super::logs::{Logs, Place};
use super::pass::View;
use crate::error::{Error, Result};
use crate::math::{Gram, bulk, first_largest, weighted_mean};
use crate::run::Run;
use crate::solver::Solution;
use crate::solver::problem::{WeightProblem, unit};

/// The share of the weight that members with a prior have together in the start that is one member.
const NEARLY_NONE: f64 = 0.1;
/// Members whose values are nowhere less than this beside the largest of the row are near to one another: 36 nats.
const NEAR: f64 = 2e-16;
/// Rows times members up to which every start is explored to its end, and not only the best.
const SMALL: usize = 40_000;
/// Members alone that are starts where members lie far apart.
const SINGLES: usize = 6;
/// The members' log joint probabilities, ready for solving.
#[derive(Debug, Clone)]
pub struct JointScore {
    /// p_u(c_i, x_i).
    own: LogScore,
    /// p_u(x_i).
    all: LogScore,
    /// Whether no two members are far apart in any row.
    near: bool,
}

/// How exactly, and how often, the solver works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LmgOptions {
    /// The largest violation of the optimality conditions to reach, of the objective's gradient per row.
    pub tolerance: f64,
    /// Steps from one start.
    pub max_iterations: usize,
    /// Starts beside the best member alone: equal weights, then random ones.
    pub starts: usize,
}

impl Default for LmgOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 500, starts: 3 }
    }
}

/// Weights found, and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSolution {
    /// One weight per member.
    pub weights: Vec<f64>,
    /// The objective without its prior, per row.
    pub score: f64,
    /// The largest violation of the optimality conditions (KKT), each in units of the member's own gradient where that
    /// exceeds 1.
    pub residual: f64,
    /// Steps from the start that was best.
    pub iterations: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

impl JointScore {
    /// From columns of ln p_u(c_i, x_i) and of ln p_u(x_i), one of each per member.
    pub fn from_log(own: Vec<Vec<f64>>, all: Vec<Vec<f64>>) -> Result<Self> {
        if own.len() != all.len() {
            return Err(Error::shape("columns of ln p(x)", own.len(), all.len()));
        }
        let (own, all) = (LogScore::from_log(own)?, LogScore::from_log(all)?);
        let is_near = |column: &Vec<f64>| bulk::all_within(column, &(NEAR..f64::INFINITY));
        let near = own.columns.iter().chain(&all.columns).all(is_near);
        Ok(Self { own, all, near }.informative())
    }

    /// The same problem with row weights: finite, not negative.
    pub fn weighted(self, weights: &[f64]) -> Result<Self> {
        let Self { own, all, near } = self;
        Ok(Self { own: own.weighted(weights)?, all: all.weighted(weights)?, near }.informative())
    }

    /// The same problem with a Dirichlet prior: exponents `a` of at least 1 (CerquidesMantaras2005 uses 2).
    pub fn with_prior(self, a: &[f64]) -> Result<Self> {
        Ok(Self { own: self.own.with_prior(a)?, ..self })
    }

    /// Rows without information on the own class have none on the ratio either.
    fn informative(mut self) -> Self {
        self.all.weights.clone_from(&self.own.weights);
        self
    }

    /// The two sums' parts.
    pub(super) fn parts(&self) -> [&LogScore; 2] {
        [&self.own, &self.all]
    }

    /// Prior exponents less 1, in units of the total row weight.
    pub(super) fn prior(&self) -> &[f64] {
        &self.own.prior
    }

    /// The best weights found from all starts.
    pub fn solve(&self, options: &LmgOptions, run: &Run) -> Result<JointSolution> {
        if options.starts == 0 {
            return Err(Error::param("starts", "at least 1", options.starts));
        }
        let members: Vec<usize> = (0..self.members()).collect();
        let start = |s: usize| -> Vec<f64> {
            if s == 0 {
                return vec![1.0; members.len()];
            }
            if s == options.starts {
                return self.best_alone();
            }
            let mut rng = run.child(s as u64).rng();
            (0..members.len()).map(|_| Exp1.sample(&mut rng)).collect()
        };
        let starts: Vec<Vec<f64>> = (0..=options.starts).map(start).collect();
        let mut best = Best::default();
        if self.is_positive() {
            let ascent = self.ascent(&self.own.weights, &members);
            for start in &starts {
                run.check()?;
                let found = run.install(|| ascent.climb(start, options));
                best.offer(self.verified(found, &self.own.weights));
            }
            if best.converged() && self.near {
                return best.found();
            }
        }
        run.check()?;
        run.install(|| self.solve_far(&starts, best, options, run))
    }

    /// The best weights where members lie far apart, or where the way in the weights has missed its end.
    fn solve_far(
        &self,
        starts: &[Vec<f64>],
        mut best: Best,
        options: &LmgOptions,
        run: &Run,
    ) -> Result<JointSolution> {
        let members: Vec<usize> = (0..self.members()).collect();
        let mut logs = Logs::new(self, &self.own.weights, &members);
        let small = logs.rows() * logs.members <= SMALL;
        let logarithms = |x: &Vec<f64>| x.iter().map(|x| x.ln()).collect::<Vec<f64>>();
        let mut froms: Vec<Vec<f64>> = best.weights().into_iter().map(logarithms).collect();
        // Near members need no more than the end of the way that was missed.
        if froms.is_empty() || !self.near {
            froms.extend(starts.iter().map(logarithms));
            froms.push(logs.levelled());
            froms.extend(self.singles(&logs));
        }
        let mut places: Vec<(Place, usize)> = Vec::new();
        for from in froms {
            run.check()?;
            let explored =
                if small { logs.explore(from, options) } else { logs.climb(from, options) };
            places.push(explored);
        }
        let values: Vec<f64> = places.iter().map(|(place, _)| place.value).collect();
        let (mut place, mut steps) = places.swap_remove(first_largest(&values));
        if !small && !self.near {
            (place, steps) = logs.explore(place.t, options);
        }
        // Whether the way up from equal weights ends higher if weights may be smaller than doubles hold.
        logs.least = f64::NEG_INFINITY;
        let beyond = logs.climb(vec![0.0; members.len()], options).0.value;
        place.residual = place.residual.max(beyond - place.value);
        best.offer(self.landed(&place, steps, options, &members));
        best.found()
    }

    /// The best members alone.
    fn singles(&self, logs: &Logs) -> Vec<Vec<f64>> {
        let alone = logs.alone();
        let mut order: Vec<usize> = (0..alone.len()).collect();
        order.sort_by(|&a, &b| alone[b].total_cmp(&alone[a]));
        let only = |&m: &usize| {
            let rest = if self.own.prior.iter().any(|p| *p > 0.0) {
                NEARLY_NONE.ln()
            } else {
                f64::NEG_INFINITY
            };
            let mut t = vec![rest - (alone.len() as f64).ln(); alone.len()];
            t[m] = 0.0;
            t
        };
        order.iter().take(SINGLES).map(only).collect()
    }

    /// A place in logarithms as weights.
    fn landed(
        &self,
        place: &Place,
        iterations: usize,
        options: &LmgOptions,
        allowed: &[usize],
    ) -> (f64, JointSolution) {
        let Place { t, score, value, residual, .. } = place;
        let (score, value, residual) = (*score, *value, *residual);
        let mut weights = vec![0.0; self.members()];
        allowed.iter().zip(t).for_each(|(&m, t)| weights[m] = t.exp());
        let converged = value.is_finite() && residual <= ACCEPTED * options.tolerance;
        (value, JointSolution { weights, score, residual, iterations, converged })
    }

    /// A solution whose score is that of its weights, row by row; one that cannot be trusted is not converged.
    fn verified(
        &self,
        (value, mut found): (f64, JointSolution),
        shares: &[f64],
    ) -> (f64, JointSolution) {
        let score = weighted_mean(&self.row_scores(&found.weights), shares);
        let apart = (score - found.score).abs();
        if apart <= 1e-9 * (1.0 + score.abs()) {
            return (value, found);
        }
        let value = value + (score - found.score);
        (found.converged, found.score, found.residual) = (false, score, f64::INFINITY);
        (value, found)
    }

    /// Whether no value vanishes beside another of its row.
    fn is_positive(&self) -> bool {
        self.own.positive && self.all.positive
    }

    /// All weight to the member with the best score, so that no mixture is worse than it; with a prior almost all.
    fn best_alone(&self) -> Vec<f64> {
        let members = self.members();
        let score = |m: usize| weighted_mean(&self.row_scores(&unit(members, m)), self.shares());
        let best = first_largest(&(0..members).map(score).collect::<Vec<f64>>());
        let mut weights = unit(members, best);
        for (weight, prior) in weights.iter_mut().zip(&self.own.prior) {
            *weight += if *prior > 0.0 { NEARLY_NONE / members as f64 } else { 0.0 };
        }
        weights
    }

    /// The problem for these shares of the rows, among the allowed members.
    fn ascent<'a>(&'a self, shares: &'a [f64], allowed: &'a [usize]) -> Ascent<'a> {
        let of_rows = |score: &LogScore| weighted_mean(&score.shift, shares);
        Ascent {
            own: View { weights: shares, ..self.own.view() },
            all: View { weights: shares, ..self.all.view() },
            prior: allowed.iter().map(|&m| self.own.prior[m]).collect(),
            allowed,
            shift: of_rows(&self.own) - of_rows(&self.all),
        }
    }

    /// The solution as every problem of finding weights reports it: the gap is the KKT residual.
    fn report(&self, found: Option<(f64, JointSolution)>) -> Solution {
        let nothing = || JointSolution {
            weights: vec![1.0 / self.members() as f64; self.members()],
            score: f64::NEG_INFINITY,
            residual: f64::INFINITY,
            iterations: 0,
            converged: false,
        };
        let found = found.map_or_else(nothing, |(_, found)| found);
        Solution {
            weights: found.weights,
            gap: found.residual,
            iterations: found.iterations,
            score: found.score,
            uninformative_rows: self.own.uninformative_rows,
            converged: found.converged,
        }
    }
}

impl WeightProblem for JointScore {
    fn members(&self) -> usize {
        self.own.columns.len()
    }

    fn shares(&self) -> &[f64] {
        &self.own.weights
    }

    /// ln p(c_i | x_i) of the mixture; `-inf` where it gives the own class nothing.
    fn row_scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = self.own.row_scores(weights);
        let all = self.all.row_scores(weights);
        let finite = scores.iter_mut().zip(all).filter(|(own, _)| **own > f64::NEG_INFINITY);
        finite.for_each(|(own, all)| *own -= all);
        scores
    }

    /// The maximum that is climbed to from the start; where members lie far apart also from the best of them alone.
    fn optimum(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        let options = LmgOptions::default();
        let mut start: Vec<f64> = allowed.iter().map(|&m| start[m]).collect();
        if start.iter().sum::<f64>().max(0.0) == 0.0 {
            start.fill(1.0);
        }
        let mut best = Best::default();
        if self.is_positive() {
            let found = self.ascent(shares, allowed).climb(&start, &options);
            best.offer(self.verified(found, shares));
            if best.converged() && self.near {
                return self.report(best.0);
            }
        }
        let logs = Logs::new(self, shares, allowed);
        let logarithms = |x: &Vec<f64>| x.iter().map(|x| x.ln()).collect::<Vec<f64>>();
        let mut froms = vec![logarithms(&start)];
        if logs.value(&froms[0]) == f64::NEG_INFINITY {
            froms[0].fill(0.0);
        }
        froms.extend(self.singles(&logs).into_iter().take(1));
        for from in froms {
            let (place, steps) = logs.climb(from, &options);
            best.offer(self.landed(&place, steps, &options, allowed));
        }
        self.report(best.0)
    }

    fn sandwich(&self, weights: &[f64], support: &[usize]) -> (Gram, Gram) {
        let curvature = |score: &LogScore| {
            let moments = score.view().moments(weights, support, Some(support.len()));
            moments.curvature.unwrap_or(Gram::zero(support.len()))
        };
        let (own, all) = (curvature(&self.own), curvature(&self.all));
        let difference = Gram::from_fn(support.len(), |i, j| own.get(i, j) - all.get(i, j));
        let mixtures = (self.own.view().mixture(weights), self.all.view().mixture(weights));
        let gradient = |m: usize, i: usize| {
            self.own.columns[m][i] / mixtures.0[i].max(f64::MIN_POSITIVE)
                - self.all.columns[m][i] / mixtures.1[i].max(f64::MIN_POSITIVE)
        };
        let share = |i: usize| self.own.weights[i];
        let spread = Gram::over_rows(self.own.rows(), support.len(), |j, i| {
            if share(i) > 0.0 { gradient(support[j], i) * share(i) } else { 0.0 }
        });
        (difference, spread)
    }

    fn with_equal_prior(self, a: f64) -> Result<Self> {
        let members = self.members();
        self.with_prior(&vec![a; members])
    }

    fn solve_by_starts(&self, tolerance: f64, run: &Run) -> Option<Result<Solution>> {
        let options = LmgOptions { tolerance, ..LmgOptions::default() };
        Some(self.solve(&options, run).map(|found| self.report(Some((found.score, found)))))
    }
}

/// Residuals of this many tolerances are accepted: far apart values leave less to be resolved than is aimed at.
const ACCEPTED: f64 = 10.0;

/// The best solution so far, with the objective's value.
#[derive(Default)]
struct Best(Option<(f64, JointSolution)>);

impl Best {
    /// Keeps a solution if it is better than the one so far, as far as rounding lets them be told apart; of equals the one whose
    /// conditions hold, then the first.
    fn offer(&mut self, (value, solution): (f64, JointSolution)) {
        let value = if value.is_nan() { f64::NEG_INFINITY } else { value };
        let better = self.0.as_ref().is_none_or(|(most, best)| {
            let alike = (value - most).abs() <= 1e-10 * (1.0 + most.abs());
            value > most + 1e-12 && (solution.converged || !best.converged || !alike)
                || alike && solution.converged && !best.converged
        });
        if better {
            self.0 = Some((value, solution));
        }
    }

    fn converged(&self) -> bool {
        self.0.as_ref().is_some_and(|(_, best)| best.converged)
    }

    fn weights(&self) -> Option<&Vec<f64>> {
        self.0.as_ref().map(|(_, best)| &best.weights)
    }

    fn found(self) -> Result<JointSolution> {
        self.0.map(|(_, solution)| solution).ok_or_else(|| Error::shape("starts", 1, 0))
    }
}
