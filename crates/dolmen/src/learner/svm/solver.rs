//! Sequential minimal optimisation of the dual problem of classes and of numbers alike.
//!
//! ```text
//! minimise  b'K b / 2 - y'b + epsilon sum_i |b_i|   with  sum_i b_i = 0,  low_i <= b_i <= high_i
//! ```
//!
//! For classes y is +1 or -1, epsilon 0 and b_i = y_i alpha_i in \[0, C_i\] or \[-C_i, 0\]; for numbers b_i = alpha_i -
//! alpha*_i in \[-C_i, C_i\] [ChangLin2011, sections 2.1 and 2.4]. With g = K b - y, moving b_i up changes the objective at
//! the rate u_i = g_i + epsilon (g_i - epsilon where b_i < 0), moving it down at -d_i with d_i = g_i - epsilon
//! (g_i + epsilon where b_i > 0). Each iteration moves the pair i = argmin u, j by second order [FanChenLin2005, WSS 2],
//! until max d - min u is below the tolerance. A step ends where a b changes its sign: there the rate does.
//!
//! Rows that cannot move and whose rates lie outside the interval between min u and max d are left out for a while
//! [Joachims1998]; when the others are done, all are looked at again.

use super::cache::RowCache;
use super::lanes::{self, CHUNK, Extremes, FLAT};
use crate::error::Result;
use crate::run::Run;

/// Iterations between looks at what can be left out.
const SHRINK_EVERY: usize = 1000;
/// At least this share of the rows must go for the others to be put together anew.
const WORTH_SHRINKING: usize = 8;

/// A problem over the rows of a cache.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) target: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) epsilon: f64,
    pub(super) tolerance: f64,
}

/// Its solution: the decision value of x is sum_i b_i K(x_i, x) - `offset`.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    pub(super) b: Vec<f64>,
    pub(super) offset: f64,
    /// K b - y.
    pub(super) gradient: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// The rows that take part, side by side and padded.
struct Active {
    rows: Vec<usize>,
    gradient: Vec<f64>,
    up: Vec<f64>,
    down: Vec<f64>,
    own: Vec<f64>,
}

struct Solver<'p, 'c> {
    problem: &'p Problem,
    cache: &'p mut RowCache<'c>,
    b: Vec<f64>,
    own: Vec<f64>,
    active: Active,
    /// Rows of the kernel matrix, of the active rows only.
    gathered: [Vec<f32>; 2],
}

/// Solves a problem from a start that satisfies its constraints.
pub(super) fn solve(
    problem: &Problem,
    start: Vec<f64>,
    cache: &mut RowCache<'_>,
    run: &Run,
) -> Result<Solution> {
    let own = (0..start.len()).map(|i| cache.compared().own(i)).collect();
    let active = Active {
        rows: Vec::new(),
        gradient: Vec::new(),
        up: Vec::new(),
        down: Vec::new(),
        own: Vec::new(),
    };
    let gathered = [Vec::new(), Vec::new()];
    let mut solver = Solver { problem, cache, b: start, own, active, gathered };
    let gradient = solver.full_gradient();
    solver.activate((0..solver.b.len()).collect(), &gradient);
    solver.run(run)
}

impl Solver<'_, '_> {
    fn run(mut self, run: &Run) -> Result<Solution> {
        run.check()?;
        let most = (100 * self.b.len()).max(10_000_000);
        let mut extremes = self.extremes();
        let mut iterations = 0;
        let converged = loop {
            if iterations % SHRINK_EVERY == SHRINK_EVERY - 1 {
                run.check()?;
                self.shrink(extremes);
                extremes = self.extremes();
            }
            if extremes.greatest - extremes.least < self.problem.tolerance {
                if self.active.rows.len() == self.b.len() {
                    break true;
                }
                let gradient = self.full_gradient();
                self.activate((0..self.b.len()).collect(), &gradient);
                extremes = self.extremes();
                if extremes.greatest - extremes.least < self.problem.tolerance {
                    break true;
                }
            }
            if iterations == most {
                break false;
            }
            iterations += 1;
            let Some(next) = self.step(extremes) else { break true };
            extremes = next;
        };
        let gradient = self.full_gradient();
        let offset = self.offset(&gradient, extremes);
        Ok(Solution { b: self.b, offset, gradient, iterations, converged })
    }

    /// Moves one pair; `None` if nothing can move.
    fn step(&mut self, extremes: Extremes) -> Option<Extremes> {
        let (i, base) = (extremes.least_at, extremes.least);
        let all = self.active.rows.len() == self.b.len();
        let row_i = self.active.rows[i];
        let first = self.cache.row(row_i);
        let first =
            if all { first } else { gather(first, &self.active.rows, &mut self.gathered[0]) };
        let active = &self.active;
        let place = (base, active.own[i]);
        let j = lanes::partner(&active.gradient, &active.down, first, &active.own, place)?;
        let row_j = active.rows[j];
        let curvature = (active.own[i] + active.own[j] - 2.0 * f64::from(first[j])).max(FLAT);
        let room_i = self.room(row_i, true);
        let room_j = self.room(row_j, false);
        let step =
            ((active.gradient[j] + active.down[j] - base) / curvature).min(room_i).min(room_j);
        self.b[row_i] = self.moved(row_i, step, room_i, true);
        self.b[row_j] = self.moved(row_j, step, room_j, false);
        self.set_shifts(i);
        self.set_shifts(j);
        let (first, second) = self.cache.pair(row_i, row_j);
        let rows = if all {
            (first, second)
        } else {
            let [gathered_first, gathered_second] = &mut self.gathered;
            (&gathered_first[..], gather(second, &self.active.rows, gathered_second))
        };
        let Active { gradient, up, down, .. } = &mut self.active;
        Some(lanes::update(gradient, rows, step, up, down))
    }

    /// How far b can move without leaving its bounds or changing its sign.
    fn room(&self, row: usize, up: bool) -> f64 {
        let b = self.b[row];
        match up {
            true if b < 0.0 => -b,
            true => self.problem.high[row] - b,
            false if b > 0.0 => b,
            false => b - self.problem.low[row],
        }
    }

    /// b after a step; exactly 0 or at its bound where it used up its room.
    fn moved(&self, row: usize, step: f64, room: f64, up: bool) -> f64 {
        let b = self.b[row];
        match up {
            true if step < room => b + step,
            false if step < room => b - step,
            true if b < 0.0 => 0.0,
            true => self.problem.high[row],
            false if b > 0.0 => 0.0,
            false => self.problem.low[row],
        }
    }

    /// What the rates of an active row differ from its gradient by; infinite where it cannot move.
    fn set_shifts(&mut self, at: usize) {
        let row = self.active.rows[at];
        let (b, epsilon) = (self.b[row], self.problem.epsilon);
        let signed = |positive: bool| if positive { epsilon } else { -epsilon };
        let can_rise = b < self.problem.high[row];
        let can_fall = b > self.problem.low[row];
        self.active.up[at] = if can_rise { signed(b >= 0.0) } else { f64::INFINITY };
        self.active.down[at] = if can_fall { signed(b > 0.0) } else { f64::NEG_INFINITY };
    }

    fn extremes(&mut self) -> Extremes {
        let nothing = vec![0.0; self.active.gradient.len()];
        let Active { gradient, up, down, .. } = &mut self.active;
        lanes::update(gradient, (&nothing, &nothing), 0.0, up, down)
    }

    /// Lets only these rows take part.
    fn activate(&mut self, rows: Vec<usize>, gradient: &[f64]) {
        let padded = rows.len().div_ceil(CHUNK) * CHUNK;
        let spread = |values: &[f64]| -> Vec<f64> {
            let mut out: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
            out.resize(padded, 0.0);
            out
        };
        self.active = Active {
            gradient: spread(gradient),
            own: spread(&self.own),
            up: vec![f64::INFINITY; padded],
            down: vec![f64::NEG_INFINITY; padded],
            rows,
        };
        self.gathered = [vec![0.0; padded], vec![0.0; padded]];
        (0..self.active.rows.len()).for_each(|at| self.set_shifts(at));
    }

    /// Leaves out rows whose rates say that they will not move, if there are enough of them.
    fn shrink(&mut self, extremes: Extremes) {
        let Active { rows, gradient, up, down, .. } = &self.active;
        let stays = |at: &usize| {
            let (rise, fall) = (gradient[*at] + up[*at], gradient[*at] + down[*at]);
            rise <= extremes.greatest || fall >= extremes.least
        };
        let kept: Vec<usize> = (0..rows.len()).filter(stays).collect();
        if kept.len() < rows.len() - rows.len() / WORTH_SHRINKING {
            let mut full = vec![0.0; self.b.len()];
            rows.iter().zip(gradient).for_each(|(&row, value)| full[row] = *value);
            let rows = kept.into_iter().map(|at| rows[at]).collect();
            self.activate(rows, &full);
        }
    }

    /// K b - y of all rows.
    fn full_gradient(&mut self) -> Vec<f64> {
        let mut gradient: Vec<f64> = self.problem.target.iter().map(|y| -y).collect();
        for i in 0..self.b.len() {
            if self.b[i] != 0.0 {
                lanes::add_row(&mut gradient, self.b[i], self.cache.row(i));
            }
        }
        gradient
    }

    /// The offset: the mean rate of the rows that are free to move both ways, else the middle of the interval allowed.
    fn offset(&self, gradient: &[f64], extremes: Extremes) -> f64 {
        let Problem { low, high, epsilon, .. } = self.problem;
        let free = (0..self.b.len())
            .filter(|&i| self.b[i] != 0.0 && self.b[i] > low[i] && self.b[i] < high[i])
            .map(|i| gradient[i] + epsilon * self.b[i].signum());
        let (count, sum) = free.fold((0.0, 0.0), |(count, sum), rate| (count + 1.0, sum + rate));
        let Extremes { least, greatest, .. } = extremes;
        match (least.is_finite(), greatest.is_finite()) {
            _ if count > 0.0 => sum / count,
            (true, true) => f64::midpoint(least, greatest),
            (true, false) => least,
            (false, true) => greatest,
            (false, false) => 0.0,
        }
    }
}

/// The entries of chosen rows.
fn gather<'a>(row: &[f32], chosen: &[usize], out: &'a mut [f32]) -> &'a [f32] {
    out.iter_mut().zip(chosen).for_each(|(out, &at)| *out = row[at]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::likeness::{Compared, Likeness};

    /// Solves a noisy problem that takes thousands of iterations, and checks the conditions of the optimum from scratch.
    fn check(epsilon: f64, likeness: Likeness) {
        let rows = 400;
        let points: Vec<f64> = (0..2 * rows).map(|i| (f64::from(i) * 0.739).sin() * 2.0).collect();
        let wave = |i: usize| (points[2 * i] * points[2 * i + 1]).sin() + (i as f64 * 7.1).cos();
        let numbers = epsilon > 0.0;
        let sign = |i: usize| if wave(i) > 0.0 { 1.0 } else { -1.0 };
        let c = 300.0;
        let problem = Problem {
            target: (0..rows as usize).map(|i| if numbers { wave(i) } else { sign(i) }).collect(),
            low: (0..rows as usize)
                .map(|i| if numbers || sign(i) < 0.0 { -c } else { 0.0 })
                .collect(),
            high: (0..rows as usize)
                .map(|i| if numbers || sign(i) > 0.0 { c } else { 0.0 })
                .collect(),
            epsilon,
            tolerance: 1e-4,
        };
        let compared = Compared::new(likeness, &points, 2);
        let run = Run::with_threads(0, 1).unwrap();
        let mut cache = RowCache::new(&compared, 1e6);
        let found = solve(&problem, vec![0.0; rows as usize], &mut cache, &run).unwrap();
        assert!(found.converged && found.iterations > 2 * SHRINK_EVERY, "{}", found.iterations);
        assert!(found.b.iter().sum::<f64>().abs() < 1e-8);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut kernel = vec![0.0; compared.padded()];
        for (i, &b) in found.b.iter().enumerate() {
            assert!(problem.low[i] <= b && b <= problem.high[i]);
            compared.compare(&compared.row(i), &mut kernel);
            let product: f64 = kernel.iter().zip(&found.b).map(|(k, b)| k * b).sum();
            let gradient = product - problem.target[i];
            if b < problem.high[i] {
                least = least.min(gradient + if b < 0.0 { -epsilon } else { epsilon });
            }
            if b > problem.low[i] {
                greatest = greatest.max(gradient + if b > 0.0 { epsilon } else { -epsilon });
            }
        }
        // Kernel rows are kept in single precision, so the problem solved differs a little.
        let rounding = found.b.iter().map(|b| b.abs()).sum::<f64>() * f64::from(f32::EPSILON);
        assert!(greatest - least < problem.tolerance + 2.0 * rounding, "{}", greatest - least);
        assert!(
            least - found.offset < 1e-3 + rounding && found.offset - greatest < 1e-3 + rounding
        );
    }

    #[test]
    fn classes_satisfy_the_conditions_of_the_optimum() {
        check(0.0, Likeness::Rbf { gamma: 2.0 });
    }

    #[test]
    fn numbers_satisfy_the_conditions_of_the_optimum() {
        check(0.05, Likeness::Rbf { gamma: 2.0 });
    }
}
