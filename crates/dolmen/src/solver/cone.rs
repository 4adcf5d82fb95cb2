//! The smallest error of a combination on a plane: minimise |sum_m u_m e_m|^2 over u >= 0, a'u = 1.
//!
//! Both problems of least squares are of this kind. Adding a constant s to the square moves no minimiser on the plane, and by
//! homogeneity that is the minimiser of u'(H + s aa')u / 2 - a'u over u >= 0, divided by its a'u, H being the Gram matrix of
//! the e_m: one exact quadratic program, no multiplier. Without s it would have no minimum where a combination is perfect,
//! u'Hu = 0. The Gram matrix squares what the columns differ by; where that loses too much, a QR decomposition
//! ([`super::triangle`]) solves the same program.

use super::problem;
use super::triangle::Triangle;
use crate::math::{Gram, nonnegative};

/// The gap to reach, relative to the square of the best member: no unit of the target changes what is exact.
const TOLERANCE: f64 = 1e-9;
/// Rounds of refinement at most.
const REFINEMENTS: usize = 5;

/// The problem: columns e_m as a function of member and row, the rows' shares and a.
pub(super) struct Cone<'a, E: Fn(usize, usize) -> f64 + Sync> {
    pub(super) shares: &'a [f64],
    pub(super) error: E,
    pub(super) a: Vec<f64>,
}

/// What was found.
pub(super) struct Minimum {
    /// With a'u = 1.
    pub(super) u: Vec<f64>,
    /// |sum_m u_m e_m|^2.
    pub(super) square: f64,
    /// Bounds how far the square lies above its minimum, where no a_m is negative.
    pub(super) gap: f64,
    pub(super) converged: bool,
}

impl<E: Fn(usize, usize) -> f64 + Sync> Cone<'_, E> {
    /// The minimum, from a start of any scale; `None` if no weights satisfy a'u = 1.
    pub(super) fn minimise(&self, start: &[f64]) -> Option<Minimum> {
        let h = Gram::over_rows(self.shares.len(), self.a.len(), |j, i| {
            (self.error)(j, i) * self.shares[i].sqrt()
        });
        // The square of the best member: of the size of the optimum, and not below it.
        let ahead: Vec<usize> = (0..self.a.len()).filter(|&j| self.a[j] > 0.0).collect();
        let alone = |j: usize| h.get(j, j) / (self.a[j] * self.a[j]);
        let best = ahead.iter().copied().min_by(|&i, &j| alone(i).total_cmp(&alone(j)))?;
        let lift = alone(best);
        if lift <= 0.0 || !lift.is_finite() {
            // A perfect member leaves nothing to be mixed.
            let mut u = problem::unit(self.a.len(), best);
            u[best] /= self.a[best];
            let gap = if lift <= 0.0 { 0.0 } else { f64::INFINITY };
            return Some(Minimum { u, square: lift, gap, converged: lift <= 0.0 });
        }
        let first = self.refined(&h, lift, start.to_vec());
        let (mut u, mut square, mut gap) = self.judged(&h, first, best);
        if gap > TOLERANCE * lift {
            // The same program without squares: sqrt(lift) (a'u - 1) is one more row.
            let triangle = Triangle::new(self.shares.len() + 1, self.a.len(), |j, i| match i {
                0 => lift.sqrt() * self.a.get(j).copied().unwrap_or(1.0),
                _ if j == self.a.len() => 0.0,
                _ => (self.error)(j, i - 1) * self.shares[i - 1].sqrt(),
            });
            let other = self.judged(&h, triangle.minimise(&u), best);
            if other.2 < gap {
                (u, square, gap) = other;
            }
        }
        Some(Minimum { u, square, gap, converged: gap <= TOLERANCE * lift })
    }

    /// H u from the combination's own errors: the Gram matrix loses what is small beside a member's square. Also u'Hu.
    fn pull(&self, u: &[f64]) -> (Vec<f64>, f64) {
        let mut combined = vec![0.0; self.shares.len()];
        for (j, &u) in u.iter().enumerate().filter(|(_, u)| **u != 0.0) {
            combined.iter_mut().enumerate().for_each(|(i, sum)| *sum += u * (self.error)(j, i));
        }
        let square = combined.iter().zip(self.shares).map(|(c, share)| share * c * c).sum();
        combined.iter_mut().zip(self.shares).for_each(|(sum, share)| *sum *= share);
        let along =
            |j: usize| combined.iter().enumerate().map(|(i, c)| c * (self.error)(j, i)).sum();
        ((0..self.a.len()).map(along).collect(), square)
    }

    /// The minimiser of the lifted program, refined: its gradient is found from the errors and the program solved again
    /// with it, as long as that helps.
    fn refined(&self, h: &Gram, lift: f64, mut start: Vec<f64>) -> Vec<f64> {
        let mut lifted = h.clone();
        let row: Vec<f64> = self.a.iter().map(|a| lift.sqrt() * a).collect();
        lifted.add(&row, 1);
        // The best multiple of the start.
        let square: f64 = start.iter().zip(lifted.times(&start)).map(|(s, c)| s * c).sum();
        let scale = if square > 0.0 { self.on_plane(&start) / square } else { 0.0 };
        start.iter_mut().for_each(|s| *s *= scale.max(0.0));
        let gradient = |u: &[f64]| -> Vec<f64> {
            let factor = lift * self.on_plane(u) - 1.0;
            self.pull(u).0.iter().zip(&self.a).map(|(pull, a)| pull + a * factor).collect()
        };
        let violation = |u: &[f64], gradient: &[f64]| {
            let each = u.iter().zip(gradient).map(|(u, g)| if *u > 0.0 { g.abs() } else { -g });
            each.fold(0.0, f64::max)
        };
        let mut here = nonnegative::minimise(&lifted, &self.a, &start).y;
        let mut slope = gradient(&here);
        for _ in 0..REFINEMENTS {
            let curved = lifted.times(&here);
            let target: Vec<f64> = curved.iter().zip(&slope).map(|(c, g)| c - g).collect();
            let next = nonnegative::minimise(&lifted, &target, &here).y;
            let next_slope = gradient(&next);
            if violation(&next, &next_slope) >= violation(&here, &slope) {
                break;
            }
            (here, slope) = (next, next_slope);
        }
        here
    }

    /// a'u.
    fn on_plane(&self, u: &[f64]) -> f64 {
        self.a.iter().zip(u).map(|(a, u)| a * u).sum()
    }

    /// Weights brought to a'u = 1, their square, and the gap 2 (u'Hu - min_m (Hu)_m / a_m) as in Frank and Wolfe's method.
    /// Members with a_m <= 0 have no end on the plane: what they violate is judged in units of their length.
    fn judged(&self, h: &Gram, mut u: Vec<f64>, best: usize) -> (Vec<f64>, f64, f64) {
        let total = self.on_plane(&u);
        if total > 0.0 && total.is_finite() {
            u.iter_mut().for_each(|u| *u /= total);
        } else {
            u = problem::unit(self.a.len(), best);
            u[best] /= self.a[best];
        }
        let (pull, square) = self.pull(&u);
        // What the product of a member's errors with those of the combination, a sum of the members', cannot resolve is no
        // violation.
        let length = |j: usize| h.get(j, j).sqrt();
        let terms: f64 = u.iter().enumerate().map(|(j, u)| u * length(j)).sum();
        let violation = |j: usize| {
            let against = square * self.a[j] - pull[j] - 16.0 * f64::EPSILON * length(j) * terms;
            if self.a[j] > 0.0 {
                2.0 * against / self.a[j]
            } else {
                2.0 * against / length(j).max(f64::MIN_POSITIVE) * square.sqrt()
            }
        };
        let gap = (0..u.len()).map(violation).fold(0.0, f64::max);
        (u, square, gap)
    }
}
