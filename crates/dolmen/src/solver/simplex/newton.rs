//! Newton's method on a set of members, with non-negativity kept by a quadratic program.
//!
//! Minimises  phi(x) = -sum_i w_i ln (Lx)_i - sum_m p_m ln x_m + (1 + P) sum_m x_m,  x >= 0,  P = sum_m p_m.
//! Along a ray phi is least where sum x = 1, so its minimiser lies on the simplex and is the maximiser of the
//! original problem; the constraint sum x = 1 needs no multiplier [Kim2020, "mixsqp"].
//!
//! Newton's model is good near the optimum. Far from it, where a row hangs on a member that has almost no weight, the model
//! only doubles that weight at a time; a step of EM multiplies it by its price at once. So EM leads while the gap is wide,
//! and whenever Newton makes no headway; a member without weight, which EM cannot raise, is given some (a vertex step).
//! Each of them raises the objective whatever the matrix is like: the method converges from anywhere.

use std::mem;

use super::pass::{Evaluate, Moments};
use crate::math::{Gram, first_largest, nonnegative};

/// Newton steps are cut so that a member with a prior keeps at least this share of its weight: ln x has a pole at 0.
const KEPT_SHARE: f64 = 0.1;
/// The gap, in units of the row weights' sum, above which EM's step is taken before Newton's.
const WIDE_GAP: f64 = 3.0;
/// Newton steps shorter than this ask for a step of EM.
const SHORT: f64 = 0.1;
/// Halvings of a step before the arithmetic is taken to be at its end.
const HALVINGS: usize = 30;
/// Steps that are made beyond the tolerance, and the change of a weight that ends them.
const POLISHING: usize = 4;
pub(super) const FINE: f64 = 1e-10;
/// A change beyond the tolerance that is larger than this is one between weights that the rows do not tell apart.
pub(super) const COARSE: f64 = 1e-3;
/// A step beyond the tolerance that is not shorter than the one before by this factor is made of rounding.
pub(super) const SHORTER: f64 = 0.25;

/// The state after a restricted solve.
pub(super) struct Restricted {
    /// Weights of all members, summing to 1.
    pub(super) x: Vec<f64>,
    /// The members of the set, then those watched.
    pub(super) members: Vec<usize>,
    /// Their gradient.
    pub(super) gradient: Vec<f64>,
    /// sum_i w_i ln (Lx)_i.
    pub(super) objective: f64,
    /// Passes over the rows used.
    pub(super) passes: usize,
}

/// When to stop.
pub(super) struct Limits {
    /// The gap within the set to reach.
    pub(super) tolerance: f64,
    /// Passes over the rows that may be used.
    pub(super) max_passes: usize,
    /// Whether to go on from there until the weights themselves stand still. The gap is a matter of the objective: where that is flat,
    /// weights within any gap differ by far more than it.
    pub(super) polishes: bool,
}

/// Improves `x` over the members of `set` until the gap within the set is within the limits, or rounding ends it; the
/// gradient of the watched members is found on the way.
///
/// The curvature is most of the work of a pass. One from an earlier point, or from a sample of the rows (`curvature`),
/// does as long as the gap falls fast enough with it to be done in two more steps.
pub(super) fn solve<E: Evaluate>(
    view: &E,
    set: &[usize],
    watched: &[usize],
    x: Vec<f64>,
    curvature: Option<Gram>,
    limits: &Limits,
) -> Restricted {
    let problem = Problem::new(view, set, watched);
    let mut here = problem.point(x, curvature.is_none());
    let mut fresh = curvature.is_none();
    let mut curvature = here.moments.curvature.take().or(curvature).unwrap_or(Gram::zero(0));
    let mut passes = 1;
    let mut gap = problem.gap(&here);
    let mut fall = 1.0;
    let mut dark = InTheDark { violation: f64::INFINITY, best: None };
    let mut far = gap > WIDE_GAP * problem.mass;
    while gap > limits.tolerance && passes < limits.max_passes {
        if far {
            let (next, used) = problem.safe_step(&here, limits.max_passes - passes);
            passes += used;
            let Some(next) = next else { break };
            (here, fresh, fall) = (next, true, 1.0);
            curvature = here.moments.curvature.take().unwrap_or(curvature);
            gap = problem.gap(&here);
            far = gap > WIDE_GAP * problem.mass;
            continue;
        }
        let step = problem.step(&here, &curvature);
        // With the curvature of the point itself the fall is squared from step to step.
        let expected_fall: f64 = if fresh { fall * fall } else { fall };
        let renew = gap * expected_fall * expected_fall > limits.tolerance;
        let (next, used, length) = problem.advance(&here, &step, limits.max_passes - passes, renew);
        passes += used;
        let better = next.filter(|next| !step.in_the_dark || dark.accepts(&problem, &here, next));
        match better {
            Some(next) => {
                let next_gap = problem.gap(&next);
                let before = mem::replace(&mut here, next);
                if step.in_the_dark && next_gap > gap {
                    dark.keep(before, gap);
                }
                (fall, gap) = ((next_gap / gap).min(1.0), next_gap);
                fresh = renew;
                far = length < SHORT || gap > WIDE_GAP * problem.mass;
            }
            None if fresh => far = true,
            None => {
                here = problem.point(here.x, true);
                passes += 1;
                fresh = true;
            }
        }
        curvature = here.moments.curvature.take().unwrap_or(curvature);
    }
    if let Some((left, _)) = dark.best.filter(|(_, left)| *left < gap) {
        here = left;
    } else if limits.polishes && gap <= limits.tolerance {
        here = problem.polished(here, curvature, fresh, limits, &mut passes);
    }
    Restricted {
        x: here.x,
        members: problem.members,
        gradient: here.moments.gradient,
        objective: here.moments.objective,
        passes,
    }
}

/// Judges steps that gain less than the objective can resolve.
///
/// The gap alone is no measure of them: it is that of the dearest member, and does not see a member that has too much weight. Where a row of
/// little weight hangs on such a member, the step that mends it widens the gap by the square of what it mends, and the next one closes it.
struct InTheDark {
    /// The least violation of the conditions of an optimum so far.
    violation: f64,
    /// The point of the smallest gap that was left for one of a wider gap, and its gap.
    best: Option<(Point, f64)>,
}

impl InTheDark {
    /// Whether the gap falls, or the least violation so far is halved, which cannot go on for ever.
    fn accepts<E: Evaluate>(
        &mut self,
        problem: &Problem<'_, E>,
        here: &Point,
        next: &Point,
    ) -> bool {
        self.violation = self.violation.min(problem.violation(here));
        problem.gap(next) < problem.gap(here) || problem.violation(next) < 0.5 * self.violation
    }

    fn keep(&mut self, point: Point, gap: f64) {
        if self.best.as_ref().is_none_or(|(_, best)| gap < *best) {
            self.best = Some((point, gap));
        }
    }
}

/// The restricted problem.
struct Problem<'a, E> {
    view: &'a E,
    set: &'a [usize],
    /// The members of the set, then those only watched.
    members: Vec<usize>,
    /// p_m for the members of the set.
    prior: Vec<f64>,
    /// 1 + P.
    mass: f64,
}

/// A point on the simplex and what a pass found there.
struct Point {
    /// Weights of all members.
    x: Vec<f64>,
    /// Weights of the set.
    inside: Vec<f64>,
    moments: Moments,
    /// The gradient of the objective, prior included.
    pull: Vec<f64>,
    /// The objective, prior included.
    value: f64,
}

struct Step {
    direction: Vec<f64>,
    /// How much the objective rises at first order.
    promise: f64,
    /// Whether that is less than the objective can resolve.
    in_the_dark: bool,
}

impl<'a, E: Evaluate> Problem<'a, E> {
    fn new(view: &'a E, set: &'a [usize], watched: &[usize]) -> Self {
        let others = watched.iter().filter(|m| !set.contains(m));
        let members = set.iter().chain(others).copied().collect();
        let prior: Vec<f64> = set.iter().map(|&m| view.prior()[m]).collect();
        let mass = 1.0 + prior.iter().sum::<f64>();
        Self { view, set, members, prior, mass }
    }

    fn point(&self, x: Vec<f64>, curved: bool) -> Point {
        let curved = curved.then_some(self.set.len());
        let moments = self.view.moments(&x, &self.members, curved);
        let inside: Vec<f64> = self.set.iter().map(|&m| x[m]).collect();
        let with_prior = self.prior.iter().zip(&inside);
        let pull = moments
            .gradient
            .iter()
            .zip(with_prior.clone())
            .map(|(g, (&p, &x))| g + per_weight(p, x));
        let log_prior: f64 = with_prior.filter(|(p, _)| **p > 0.0).map(|(p, x)| p * x.ln()).sum();
        Point { pull: pull.collect(), value: moments.objective + log_prior, x, inside, moments }
    }

    /// What any weights on the set could still gain.
    fn gap(&self, here: &Point) -> f64 {
        here.pull.iter().copied().fold(f64::NEG_INFINITY, f64::max) - self.mass
    }

    /// The largest violation of the conditions of an optimum: a member with weight pulls as strongly as the mass, none more strongly.
    fn violation(&self, here: &Point) -> f64 {
        let slack = here.pull.iter().map(|pull| pull - self.mass).zip(&here.inside);
        let violations = slack.map(|(slack, x)| if *x > 0.0 { slack.abs() } else { slack });
        violations.fold(0.0, |most, v| if v.is_nan() { f64::INFINITY } else { most.max(v) })
    }

    /// The smallest rise of the objective that is not rounding.
    fn resolution(&self, here: &Point) -> f64 {
        16.0 * f64::EPSILON * (self.mass + here.value.abs())
    }

    /// The minimiser of the quadratic model of phi over x >= floor.
    fn step(&self, here: &Point, curvature: &Gram) -> Step {
        let members = 0..self.set.len();
        let mut curvature = curvature.clone();
        for s in members.clone() {
            let x = here.inside[s];
            curvature.add_diagonal(s, per_weight(per_weight(self.prior[s], x), x));
        }
        let floor = |s: usize| {
            if self.prior[s] > 0.0 { KEPT_SHARE * here.inside[s] } else { 0.0 }
        };
        let above: Vec<f64> = members.clone().map(|s| here.inside[s] - floor(s)).collect();
        let target: Vec<f64> = curvature
            .times(&above)
            .iter()
            .zip(&here.pull)
            .map(|(curved, pull)| curved + pull - self.mass)
            .collect();
        let found = nonnegative::minimise(&curvature, &target, &above);
        let direction: Vec<f64> = members.map(|s| found.y[s] - above[s]).collect();
        let promise: f64 =
            direction.iter().zip(&here.pull).map(|(d, pull)| d * (pull - self.mass)).sum();
        Step { direction, promise, in_the_dark: promise < self.resolution(here) }
    }

    /// The point a share `length` along the way, divided by its sum, which only raises the objective.
    fn along(&self, here: &Point, direction: &[f64], length: f64, curved: bool) -> Point {
        let mut x = here.x.clone();
        for (&m, d) in self.set.iter().zip(direction) {
            x[m] = (x[m] + length * d).max(0.0);
        }
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= total);
        self.point(x, curved)
    }

    /// The next point, and the passes used: halves the step until the objective rises by a part of what was promised.
    ///
    /// What a step promises is about the square of the gap: soon less than the objective can resolve. Then the full step
    /// is tried alone, and [`InTheDark`] judges it.
    fn advance(
        &self,
        here: &Point,
        step: &Step,
        max_passes: usize,
        curved: bool,
    ) -> (Option<Point>, usize, f64) {
        let tame = self.gap(here).max(WIDE_GAP * self.mass);
        let mut length = 1.0;
        for halving in 0..HALVINGS.min(max_passes) {
            let next = self.along(here, &step.direction, length, curved);
            let rises = next.value - here.value >= 1e-4 * length * step.promise;
            if step.in_the_dark || (rises && self.gap(&next) <= tame) {
                return (Some(next), halving + 1, length);
            }
            length /= 2.0;
        }
        (None, HALVINGS.min(max_passes), length)
    }

    /// The point that full steps lead to from one within the tolerance: as long as they become shorter, and none leaves the
    /// tolerance. What they gain is less than the objective can resolve. A curvature from an earlier point serves until it does not.
    fn polished(
        &self,
        mut here: Point,
        mut curvature: Gram,
        mut fresh: bool,
        limits: &Limits,
        passes: &mut usize,
    ) -> Point {
        let mut before = f64::INFINITY;
        for _ in 0..POLISHING {
            let direction = self.step(&here, &curvature).direction;
            let size = direction.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
            let shortens = size <= SHORTER * before;
            let is_told = size > FINE && size <= COARSE;
            let goes_on = is_told && (shortens || !fresh);
            if !goes_on || *passes >= limits.max_passes {
                break;
            }
            *passes += 1;
            if !shortens {
                here = self.point(here.x, true);
                curvature = here.moments.curvature.take().unwrap_or(curvature);
                (fresh, before) = (true, f64::INFINITY);
                continue;
            }
            let next = self.along(&here, &direction, 1.0, false);
            let gap = self.gap(&next);
            if gap.is_nan() || gap > limits.tolerance {
                break;
            }
            (here, before) = (next, size);
        }
        here
    }

    /// A step that raises the objective wherever it can be raised, and the passes used: EM's, or if the dearest member has
    /// no weight that EM could multiply, one towards it. `None` where rounding hides the rise and the gap does not fall.
    fn safe_step(&self, here: &Point, max_passes: usize) -> (Option<Point>, usize) {
        let dearest = first_largest(&here.pull);
        let (direction, halvings) = if here.inside[dearest] > 0.0 {
            // x_m <- x_m pull_m / mass, with the pull of the prior p_m / x_m in it: EM's step never falls.
            let em = |(x, pull): (&f64, &f64)| x * (pull / self.mass - 1.0);
            (here.inside.iter().zip(&here.pull).map(em).collect::<Vec<f64>>(), 1)
        } else {
            // The rise begins with the slope g - 1 and bends by no less than its square: (g - 1) / g^2 is a cautious length.
            let price = here.pull[dearest] / self.mass;
            let share = (price - 1.0) / (price * price);
            let mut direction: Vec<f64> = here.inside.iter().map(|x| -share * x).collect();
            direction[dearest] = share;
            (direction, HALVINGS)
        };
        let mut length = 1.0;
        for used in 1..=halvings.min(max_passes) {
            let next = self.along(here, &direction, length, true);
            let rises = next.value - here.value > self.resolution(here);
            if rises || self.gap(&next) < 0.9 * self.gap(here) {
                return (Some(next), used);
            }
            length /= 2.0;
        }
        (None, halvings.min(max_passes))
    }
}

/// p / x, which is zero without a prior whatever the weight.
fn per_weight(p: f64, x: f64) -> f64 {
    if p > 0.0 { p / x } else { 0.0 }
}
