//! LMG: weights of a linear mixture of joint probabilities that maximise the conditional log score
//! [CerquidesMantaras2005 section 3.2].
//!
//! maximise  sum_i w_i [ ln sum_u alpha_u p_u(c_i, x_i) - ln sum_u alpha_u p_u(x_i) ] + sum_u (a_u - 1) ln alpha_u
//!
//! over the simplex. The second logarithm makes it a difference of concave functions: there may be several maxima, so it is
//! solved from several starts. The objective but for its prior does not depend on the scale of alpha; a quadratic pull to
//! sum alpha = 1 takes the place of the constraint. Newton steps are taken in the non-negative orthant; where the objective
//! is not concave the second logarithm's curvature is left out in part. Steps are cut until the objective rises.
//!
//! Members whose densities lie hundreds of nats apart have weights as far apart, and Newton's method crawls between them.
//! Where it does, a multiplicative step is taken instead: with EM's minorant of the first logarithm and the tangent of the
//! second, alpha_u <- alpha_u g_u / h_u, g and h being the gradients of the two. It never lowers the objective.

use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use super::LogScore;
use super::pass::{Moments, View};
use crate::error::{Error, Result};
use crate::math::{Gram, cholesky, first_largest, nonnegative, weighted_mean};
use crate::run::Run;
use crate::solver::Solution;
use crate::solver::problem::WeightProblem;

/// Steps are cut so that a member with a prior keeps at least this share of its weight: ln alpha has a pole at 0.
const KEPT_SHARE: f64 = 0.1;
/// Shares of the second logarithm's curvature that are tried, before none of it is used. Where the objective is almost flat
/// a little less of it makes steps many times too short, so the first ones lie close together.
const KEPT_BENDS: [f64; 6] = [1.0, 0.9999, 0.998, 0.97, 0.875, 0.5];
/// The curvature must keep this share of the first logarithm's in every direction.
const MARGIN: f64 = 1e-6;
/// Raises the diagonal of what is tested for being positive definite, in units of its largest entry.
const ALIKE: f64 = 1e-9;
/// The share of the weight that members with a prior have together in the start that is one member.
const NEARLY_NONE: f64 = 0.1;
/// The residual above which the first step is the multiplicative one.
const WIDE: f64 = 1.0;
/// A Newton step that leaves more than this share of the residual is followed by a multiplicative one.
const CRAWL: f64 = 0.5;
/// Halvings of a step before the arithmetic is taken to be at its end.
const HALVINGS: usize = 40;

/// The members' log joint probabilities, ready for solving.
#[derive(Debug, Clone)]
pub struct JointScore {
    /// p_u(c_i, x_i).
    own: LogScore,
    /// p_u(x_i).
    all: LogScore,
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
        Ok(Self { own: LogScore::from_log(own)?, all: LogScore::from_log(all)? }.informative())
    }

    /// The same problem with row weights: finite, not negative.
    pub fn weighted(self, weights: &[f64]) -> Result<Self> {
        let Self { own, all } = self;
        Ok(Self { own: own.weighted(weights)?, all: all.weighted(weights)? }.informative())
    }

    /// The same problem with a Dirichlet prior: exponents `a` of at least 1 (CerquidesMantaras2005 uses 2).
    pub fn with_prior(self, a: &[f64]) -> Result<Self> {
        Ok(Self { own: self.own.with_prior(a)?, all: self.all })
    }

    /// Rows without information on the own class have none on the ratio either.
    fn informative(mut self) -> Self {
        self.all.weights.clone_from(&self.own.weights);
        self
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
        let ascent = self.ascent(&self.own.weights, &members);
        let mut best: Option<(f64, JointSolution)> = None;
        for s in 0..=options.starts {
            run.check()?;
            let found = run.install(|| ascent.climb(&start(s), options));
            // The first of equals, as far as rounding lets them be told apart.
            if best.as_ref().is_none_or(|(value, _)| found.0 > value + 1e-12) {
                best = Some(found);
            }
        }
        best.map(|(_, solution)| solution).ok_or_else(|| Error::shape("starts", 1, 0))
    }

    /// All weight to the member with the best score, so that no mixture is worse than it; with a prior almost all.
    fn best_alone(&self) -> Vec<f64> {
        let members = self.members();
        let only = |m: usize| -> Vec<f64> {
            (0..members).map(|other| f64::from(u8::from(other == m))).collect()
        };
        let score = |m: usize| weighted_mean(&self.row_scores(&only(m)), self.shares());
        let best = first_largest(&(0..members).map(score).collect::<Vec<f64>>());
        let mut weights = only(best);
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
    fn report(&self, found: JointSolution) -> Solution {
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

    /// The maximum that is climbed to from the start.
    fn optimum(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        let start: Vec<f64> = allowed.iter().map(|&m| start[m]).collect();
        self.report(self.ascent(shares, allowed).climb(&start, &LmgOptions::default()).1)
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
        Some(self.solve(&options, run).map(|found| self.report(found)))
    }
}

/// The way up, for some shares of the rows and some of the members.
struct Ascent<'a> {
    own: View<'a>,
    all: View<'a>,
    /// Of the allowed members.
    prior: Vec<f64>,
    allowed: &'a [usize],
    /// What the columns' scaling took from the score.
    shift: f64,
}

impl Ascent<'_> {
    /// Newton's method from one start, given for the allowed members in any scale; also the objective with its prior.
    fn climb(&self, start: &[f64], options: &LmgOptions) -> (f64, JointSolution) {
        let total: f64 = start.iter().sum();
        let mut here = self.point(start.iter().map(|x| x / total).collect());
        let mut iterations = 0;
        let mut crawls = here.residual > WIDE;
        // From a row to which no allowed member gives anything there is no way up.
        let is_open = |here: &Point| here.value.is_finite() && here.residual > options.tolerance;
        while is_open(&here) && iterations < options.max_iterations {
            let multiply = crawls;
            let next = if multiply { self.multiplied(&here) } else { self.step(&here) };
            let other = || if multiply { self.step(&here) } else { self.multiplied(&here) };
            let Some(next) = next.or_else(other) else { break };
            crawls = !multiply && next.residual > CRAWL * here.residual;
            here = next;
            iterations += 1;
        }
        let solution = JointSolution {
            score: here.score + self.shift,
            converged: here.value.is_finite() && here.residual <= options.tolerance,
            residual: here.residual,
            weights: self.of_all(&here.x),
            iterations,
        };
        (here.value, solution)
    }

    /// Weights of all members from those of the allowed ones.
    fn of_all(&self, x: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.own.columns.len()];
        self.allowed.iter().zip(x).for_each(|(&m, x)| weights[m] = *x);
        weights
    }

    fn point(&self, x: Vec<f64>) -> Point {
        let weights = self.of_all(&x);
        let moments = |view: &View<'_>| view.moments(&weights, self.allowed, Some(x.len()));
        let (own, all) = (moments(&self.own), moments(&self.all));
        let prior = &self.prior;
        let mass: f64 = prior.iter().sum();
        let score = own.objective - all.objective;
        let log_prior: f64 =
            prior.iter().zip(&x).filter(|(p, _)| **p > 0.0).map(|(p, x)| p * x.ln()).sum();
        let gradients = own.gradient.iter().zip(&all.gradient).zip(prior.iter().zip(&x));
        let pull: Vec<f64> = gradients
            .map(|((own, all), (p, x))| own - all + if *p > 0.0 { p / x } else { 0.0 } - mass)
            .collect();
        // Members hundreds of nats apart have gradients as far apart: each is judged in units of its own, if above 1.
        let units = own.gradient.iter().map(|own| own.max(1.0));
        let violation = |((g, x), unit): ((&f64, &f64), f64)| {
            if *x > 0.0 { g.abs() / unit } else { g / unit }
        };
        let residual = pull.iter().zip(&x).zip(units).map(violation).fold(0.0, f64::max);
        Point { score, value: score + log_prior, pull, residual, own, all, x }
    }

    /// The point of the multiplicative step, if it is a better one that rounding lets us see.
    fn multiplied(&self, here: &Point) -> Option<Point> {
        let mass: f64 = self.prior.iter().sum();
        let gradients = here.own.gradient.iter().zip(&here.all.gradient);
        let factors = gradients.zip(here.x.iter().zip(&self.prior)).map(|((own, all), (x, p))| {
            let (gained, paid) = (x * own + p, all + mass);
            if paid > 0.0 { gained / paid } else { *x }
        });
        let mut x: Vec<f64> = factors.collect();
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= total);
        let next = self.point(x);
        let seen = 16.0 * f64::EPSILON * (1.0 + here.value.abs());
        let rise = next.value - here.value;
        let better = rise > seen || (rise >= -seen && next.residual < 0.9 * here.residual);
        better.then_some(next)
    }

    /// A better point, if there is one that rounding lets us see.
    fn step(&self, here: &Point) -> Option<Point> {
        // A member held at zero stays there for this step, so it does not matter how the objective bends in its direction.
        let free: Vec<usize> =
            (0..here.x.len()).filter(|&m| here.x[m] > 0.0 || here.pull[m] > 0.0).collect();
        let curvature = self.curvature(here, &free);
        let kept = |&m: &usize| if self.prior[m] > 0.0 { KEPT_SHARE } else { 0.0 };
        let above: Vec<f64> = free.iter().map(|m| here.x[*m] * (1.0 - kept(m))).collect();
        let curved = curvature.times(&above);
        let target: Vec<f64> = curved.iter().zip(&free).map(|(c, &m)| c + here.pull[m]).collect();
        let found = nonnegative::minimise(&curvature, &target, &above).y;
        let mut direction = vec![0.0; here.x.len()];
        for ((&m, y), above) in free.iter().zip(&found).zip(&above) {
            direction[m] = y - above;
        }
        let promise: f64 = direction.iter().zip(&here.pull).map(|(d, pull)| d * pull).sum();
        let in_the_dark = promise < 16.0 * f64::EPSILON * (1.0 + here.value.abs());
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let mut x: Vec<f64> =
                here.x.iter().zip(&direction).map(|(x, d)| (x + length * d).max(0.0)).collect();
            let total: f64 = x.iter().sum();
            x.iter_mut().for_each(|x| *x /= total);
            let next = self.point(x);
            if in_the_dark {
                return (next.residual < here.residual).then_some(next);
            }
            if next.value - here.value >= 1e-4 * length * promise {
                return Some(next);
            }
            length /= 2.0;
        }
        None
    }

    /// The negative Hessian of the free members with the pull to sum alpha = 1, if it is safely positive definite. Else as
    /// little as it takes of the second logarithm's part, which is the one that bends the wrong way, is left out; without
    /// all of it the step is that of a concave minorant of the objective, and still leads up.
    fn curvature(&self, here: &Point, free: &[usize]) -> Gram {
        let of = |moments: &Moments, i, j| moments.curvature.as_ref().map_or(0.0, |c| c.get(i, j));
        let bent_right = |i: usize, j: usize| {
            let (i, j) = (free[i], free[j]);
            let diagonal = self.prior[i] / here.x[i].powi(2);
            let prior = if i == j && self.prior[i] > 0.0 { diagonal } else { 0.0 };
            of(&here.own, i, j) + prior + 1.0
        };
        let scale = free.iter().map(|&m| of(&here.own, m, m)).fold(f64::MIN_POSITIVE, f64::max);
        for share in KEPT_BENDS {
            let bend =
                |i: usize, j: usize| bent_right(i, j) - share * of(&here.all, free[i], free[j]);
            // Members that can stand in for one another are no reason to leave anything out.
            let mut safe = Gram::from_fn(free.len(), |i, j| bend(i, j) - MARGIN * bent_right(i, j));
            (0..free.len()).for_each(|i| safe.add_diagonal(i, ALIKE * scale));
            if cholesky::factorise(&mut safe.to_rows(), free.len()).is_ok() {
                return Gram::from_fn(free.len(), bend);
            }
        }
        Gram::from_fn(free.len(), bent_right)
    }
}

/// Weights and what a pass over the rows found there.
struct Point {
    x: Vec<f64>,
    /// The objective without its prior.
    score: f64,
    /// The objective with its prior.
    value: f64,
    /// The gradient of the objective on the simplex.
    pull: Vec<f64>,
    residual: f64,
    own: Moments,
    all: Moments,
}
