//! LMG by Newton's method in the weights, for members that are not too far apart ([`super::hard`] for those that are).
//!
//! Steps are taken in the non-negative orthant; where the objective is not concave the second logarithm's curvature is left
//! out in part. Where that crawls a multiplicative step is taken instead: with EM's minorant of the first logarithm and the
//! tangent of the second, alpha_u <- alpha_u g_u / h_u, g and h being the gradients of the two. It never lowers the
//! objective.

use super::joint::{JointSolution, LmgOptions};
use super::pass::{Moments, View};
use crate::math::{Gram, cholesky, nonnegative};

/// Steps are cut so that a member with a prior keeps at least this share of its weight: ln alpha has a pole at 0.
pub(super) const KEPT_SHARE: f64 = 0.1;
/// Shares of the second logarithm's curvature that are tried, before none of it is used. Where the objective is almost flat
/// a little less of it makes steps many times too short, so the first ones lie close together.
pub(super) const KEPT_BENDS: [f64; 6] = [1.0, 0.9999, 0.998, 0.97, 0.875, 0.5];
/// The curvature must keep this share of the first logarithm's in every direction.
pub(super) const MARGIN: f64 = 1e-6;
/// Raises the diagonal of what is tested for being positive definite, in units of its largest entry.
const ALIKE: f64 = 1e-9;
/// The residual above which the first step is the multiplicative one.
const WIDE: f64 = 1.0;
/// A Newton step that leaves more than this share of the residual is followed by a multiplicative one.
const CRAWL: f64 = 0.5;
/// Halvings of a step before the arithmetic is taken to be at its end.
const HALVINGS: usize = 40;

/// The way up, for some shares of the rows and some of the members.
pub(super) struct Ascent<'a> {
    pub(super) own: View<'a>,
    pub(super) all: View<'a>,
    /// Of the allowed members.
    pub(super) prior: Vec<f64>,
    pub(super) allowed: &'a [usize],
    /// What the columns' scaling took from the score.
    pub(super) shift: f64,
}

impl Ascent<'_> {
    /// Newton's method from one start, given for the allowed members in any scale; also the objective with its prior.
    pub(super) fn climb(&self, start: &[f64], options: &LmgOptions) -> (f64, JointSolution) {
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
        (here.value + self.shift, solution)
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
        // A violation that is not a number is one without bound.
        let larger = |most: f64, v: f64| if v.is_nan() { f64::INFINITY } else { most.max(v) };
        let residual = pull.iter().zip(&x).zip(units).map(violation).fold(0.0, larger);
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
