//! Many members that all have a prior: none of their weights is zero, so there is no working set and no quadratic program.
//!
//! Newton's method on phi of [`super::newton`], in relative changes s of the weights: with R[i,m] = x_m L[i,m] / (Lx)_i, W the row
//! weights, P the prior's and M = 1 + sum P, the model's gradient is x_m g_m + p_m - M x_m and its matrix R'WR + P. Where rows are fewer
//! than members its inverse is P^-1 - P^-1 R'(W^-1 + R P^-1 R')^-1 R P^-1 [Woodbury 1950]: rows cubed, not members.
//!
//! Weights change by the factor 1 + s, and where s is negative by 1 / (1 - s), the same at first order: no weight becomes negative, and
//! where the prior alone decides one step is exact. EM's step is the safeguard.

use dolmen_linalg::{Cholesky, Mat};

use super::exact::{FEW_MEMBERS, Found, SimplexOptions, mass};
use super::newton::{COARSE, FINE, SHORTER};
use super::pass::View;
use crate::math::Gram;

/// Halvings of a step before EM's is taken.
const HALVINGS: usize = 20;

/// Steps that are made beyond the tolerance.
const POLISHING: usize = 2;

/// Whether all of many allowed members have a prior.
pub(super) fn suits(view: &View<'_>, allowed: &[usize]) -> bool {
    allowed.len() > FEW_MEMBERS && allowed.iter().all(|&m| view.prior[m] > 0.0)
}

/// Solves from given weights of all members, in any scale; weights of zero begin with the prior's share.
pub(super) fn solve(
    view: &View<'_>,
    options: &SimplexOptions,
    start: &[f64],
    allowed: &[usize],
) -> Found {
    let problem = Problem { view, allowed, mass: mass(view, allowed) };
    let total: f64 = allowed.iter().map(|&m| start[m]).sum();
    let begun = |&m: &usize| {
        let least = 0.01 * view.prior[m] / problem.mass;
        least + if total > 0.0 { start[m] / total } else { 0.0 }
    };
    let mut here = problem.point(allowed.iter().map(begun).collect());
    let mut passes = 1;
    while here.gap > options.tolerance && passes < options.max_iterations {
        let step = problem.step(&here);
        let mut next = None;
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let tried = problem.point(along(&here, &step, length));
            passes += 1;
            if problem.is_better(&tried, &here) {
                next = Some(tried);
                break;
            }
            length /= 4.0;
        }
        if next.is_none() {
            // EM: x_m <- (x_m g_m + p_m) / M, which is the change of the gradient's own size.
            let em = problem.point(problem.em(&here));
            passes += 1;
            next = problem.is_better(&em, &here).then_some(em);
        }
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    if options.polishes() && here.gap <= options.tolerance {
        here = problem.polished(here, options, &mut passes);
    }
    let mut weights = vec![0.0; view.columns.len()];
    allowed.iter().zip(&here.x).for_each(|(&m, x)| weights[m] = *x);
    Found {
        weights,
        objective: here.objective,
        gap: here.gap,
        iterations: passes,
        converged: here.gap <= options.tolerance,
    }
}

struct Problem<'a> {
    view: &'a View<'a>,
    allowed: &'a [usize],
    mass: f64,
}

/// Weights of the allowed members and what a pass found there.
struct Point {
    x: Vec<f64>,
    objective: f64,
    /// With the prior.
    value: f64,
    gradient: Vec<f64>,
    /// In units of the mass.
    gap: f64,
}

impl Problem<'_> {
    fn prior(&self, j: usize) -> f64 {
        self.view.prior[self.allowed[j]]
    }

    fn of_all(&self, x: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.view.columns.len()];
        self.allowed.iter().zip(x).for_each(|(&m, x)| all[m] = *x);
        all
    }

    /// Weights of any scale, divided by their sum.
    fn point(&self, mut x: Vec<f64>) -> Point {
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x = (*x / total).max(f64::MIN_POSITIVE));
        let moments = self.view.moments(&self.of_all(&x), self.allowed, None);
        let log_prior: f64 = x.iter().enumerate().map(|(j, x)| self.prior(j) * x.ln()).sum();
        let pull = |j: usize| moments.gradient[j] + self.prior(j) / x[j];
        let larger =
            |most: f64, pull: f64| if pull.is_nan() { f64::INFINITY } else { most.max(pull) };
        let dearest = (0..x.len()).map(pull).fold(0.0, larger);
        Point {
            objective: moments.objective,
            value: moments.objective + log_prior,
            gradient: moments.gradient,
            gap: (dearest / self.mass - 1.0).max(0.0),
            x,
        }
    }

    /// Whether the objective rises, or where rounding hides that the gap falls.
    fn is_better(&self, next: &Point, here: &Point) -> bool {
        // The prior is a sum of as many terms as members, each of them rounded.
        let terms = (16 + here.x.len()) as f64;
        let seen = terms * f64::EPSILON * (self.mass + here.value.abs());
        let rise = next.value - here.value;
        rise > seen || (rise >= -seen && next.gap < 0.9 * here.gap)
    }

    /// The point that full steps lead to from one within the tolerance: the weights may be less exact than the objective is.
    fn polished(&self, mut here: Point, options: &SimplexOptions, passes: &mut usize) -> Point {
        let mut before = f64::INFINITY;
        for _ in 0..POLISHING {
            let step = self.step(&here);
            let changes = here.x.iter().zip(&step).map(|(x, s)| (x * s).abs());
            let size = changes.fold(0.0, f64::max);
            let shortens = size > FINE && size <= COARSE.min(SHORTER * before);
            if !shortens || *passes >= options.max_iterations {
                break;
            }
            *passes += 1;
            let next = self.point(along(&here, &step, 1.0));
            if next.gap > options.tolerance {
                break;
            }
            (here, before) = (next, size);
        }
        here
    }

    fn em(&self, here: &Point) -> Vec<f64> {
        (0..here.x.len()).map(|j| here.x[j] * here.gradient[j] + self.prior(j)).collect()
    }

    /// Newton's step as relative changes.
    fn step(&self, here: &Point) -> Vec<f64> {
        let members = self.allowed.len();
        let mixture = self.view.mixture(&self.of_all(&here.x));
        let weights = self.view.weights;
        let rows: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let share =
            |j: usize, i: usize| here.x[j] * self.view.columns[self.allowed[j]][i] / mixture[i];
        let right: Vec<f64> = (0..members)
            .map(|j| here.x[j] * (here.gradient[j] - self.mass) + self.prior(j))
            .collect();
        if rows.len() >= members {
            let mut matrix = Gram::over_rows(rows.len(), members, |j, k| {
                share(j, rows[k]) * weights[rows[k]].sqrt()
            });
            (0..members).for_each(|j| matrix.add_diagonal(j, self.prior(j)));
            return solved(&matrix, &right);
        }
        let mut inner =
            Gram::over_rows(members, rows.len(), |k, j| share(j, rows[k]) / self.prior(j).sqrt());
        (0..rows.len()).for_each(|k| inner.add_diagonal(k, 1.0 / weights[rows[k]]));
        let first: Vec<f64> = (0..members).map(|j| right[j] / self.prior(j)).collect();
        let seen: Vec<f64> =
            rows.iter().map(|&i| (0..members).map(|j| share(j, i) * first[j]).sum()).collect();
        let held = solved(&inner, &seen);
        let taken =
            |j: usize| -> f64 { rows.iter().zip(&held).map(|(&i, h)| share(j, i) * h).sum() };
        (0..members).map(|j| first[j] - taken(j) / self.prior(j)).collect()
    }
}

/// The solution of a positive definite system; the right side itself if rounding made it indefinite.
fn solved(matrix: &Gram, right: &[f64]) -> Vec<f64> {
    let order = right.len();
    let full = Mat::from_fn(order, order, |i, j| matrix.get(i, j));
    Cholesky::new(full.as_ref()).map_or_else(|| right.to_vec(), |factor| factor.solve_vector(right))
}

/// The point so far along a step of relative changes; no weight reaches zero.
fn along(here: &Point, step: &[f64], length: f64) -> Vec<f64> {
    let factor = |s: f64| if s > 0.0 { 1.0 + s } else { 1.0 / (1.0 - s) };
    here.x.iter().zip(step).map(|(x, s)| x * factor(length * s)).collect()
}
