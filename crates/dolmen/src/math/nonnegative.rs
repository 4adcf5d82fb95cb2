//! Quadratic programs over non-negative numbers: minimise y'Hy / 2 - c'y, y >= 0, with H positive semidefinite.
//!
//! One solver serves every combiner with weights: the Newton step on the simplex, non-negative and simplex least squares.
//! A primal active-set method [LawsonHanson1974, chapter 23] goes from feasible point to feasible point, each better
//! than the last, so that it can be stopped anywhere. Columns that are collinear make H singular: each solve is made
//! definite by a small pull towards its starting point (a proximal step), which a few rounds make vanish.

use dolmen_linalg::{Cholesky, Mat};

use super::gram::Gram;

/// The pull towards the starting point in the first round, relative to a unit diagonal; a tenth of it in each round after.
/// Rounding sets an end to that: a matrix it makes indefinite is pulled more strongly again.
const PULL: f64 = 1e-10;
/// Proximal rounds at most.
const ROUNDS: i32 = 8;
/// How negative a gradient, relative to the largest of the terms it is the sum of, asks a variable to leave zero.
const ROUNDING: f64 = 1e-14;

/// A minimiser of a non-negative quadratic program.
#[derive(Debug, Clone, PartialEq)]
pub struct NonNegative {
    /// The solution, with exact zeros.
    pub y: Vec<f64>,
    /// The largest violation of the optimality conditions (Hy - c = 0 where y > 0, >= 0 elsewhere), relative to the
    /// largest element of c.
    pub residual: f64,
}

/// Minimises y'Hy / 2 - c'y over y >= 0 from a feasible start. All numbers must be finite.
pub fn minimise(h: &Gram, c: &[f64], start: &[f64]) -> NonNegative {
    let program = Scaled::new(h, c);
    let mut best = NonNegative { y: start.to_vec(), residual: violation(h, c, start) };
    for round in 0..ROUNDS {
        let y = program.descend(&best.y, PULL * 0.1_f64.powi(round));
        let residual = violation(h, c, &y);
        // Rounding is reached when a round no longer helps.
        let helped = residual < 0.5 * best.residual;
        // On the way down the largest violation may well rise: what counts is the objective.
        if residual < best.residual || change(h, c, &best.y, &y) < 0.0 {
            best = NonNegative { y, residual };
        }
        if !helped {
            break;
        }
    }
    best
}

/// What the objective changes by from one point to another: d'Hd / 2 + d'(Hy - c), d the way between them.
fn change(h: &Gram, c: &[f64], from: &[f64], to: &[f64]) -> f64 {
    let way: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
    let (bend, slope) = (h.times(&way), h.times(from));
    (0..c.len()).map(|i| way[i] * (0.5 * bend[i] + (slope[i] - c[i]))).sum()
}

/// The largest violation of the optimality conditions, relative to the largest element of c.
pub fn violation(h: &Gram, c: &[f64], y: &[f64]) -> f64 {
    let size = c.iter().fold(f64::MIN_POSITIVE, |size, c| size.max(c.abs()));
    let gradient = h.times(y).into_iter().zip(c).map(|(hy, c)| hy - c);
    let violations = gradient.zip(y).map(|(g, &y)| if y > 0.0 { g.abs() } else { -g });
    violations.fold(0.0, f64::max) / size
}

/// The program in variables scaled to a unit diagonal of H.
struct Scaled<'a> {
    h: &'a Gram,
    c: &'a [f64],
    scale: Vec<f64>,
}

impl<'a> Scaled<'a> {
    fn new(h: &'a Gram, c: &'a [f64]) -> Self {
        let scale = |i| {
            let diagonal: f64 = h.get(i, i);
            if diagonal > 0.0 { 1.0 / diagonal.sqrt() } else { 1.0 }
        };
        Self { h, c, scale: (0..h.order()).map(scale).collect() }
    }

    /// One proximal step by the active-set method: minimises the program plus pull/2 |y - start|^2 (scaled).
    fn descend(&self, start: &[f64], pull: f64) -> Vec<f64> {
        let order = self.h.order();
        let start: Vec<f64> = start.iter().zip(&self.scale).map(|(y, s)| y / s).collect();
        let target: Vec<f64> =
            (0..order).map(|i| self.c[i] * self.scale[i] + pull * start[i]).collect();
        let mut y = start;
        let mut blocked = vec![false; order];
        self.settle(&mut y, &target, None, pull);
        for _ in 0..50 + 10 * order {
            let gradient = self.gradient(&y, &target);
            // A variable is judged by its own terms: another's target may be of any size, as a tiny diagonal scales it.
            // Elements of a matrix with a unit diagonal are at most 1, so the terms of its gradient sum to at most |y|.
            let length: f64 = y.iter().sum();
            let asks = |i: usize| gradient[i] < -ROUNDING * (target[i].abs() + length);
            let wanted = (0..order)
                .filter(|&i| y[i] == 0.0 && !blocked[i] && asks(i))
                .min_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
            let Some(i) = wanted else { break };
            // A variable that cannot leave zero although its gradient asks it to is held there by rounding.
            blocked[i] = !self.settle(&mut y, &target, Some(i), pull);
        }
        y.iter().zip(&self.scale).map(|(y, s)| y * s).collect()
    }

    /// Moves the positive variables, and one that may enter, to their common minimum; those that meet zero on the way
    /// stay there. Says whether the entering one (if any) became positive.
    fn settle(&self, y: &mut [f64], target: &[f64], entering: Option<usize>, pull: f64) -> bool {
        let mut free: Vec<usize> =
            (0..y.len()).filter(|&i| y[i] > 0.0 || Some(i) == entering).collect();
        while !free.is_empty() {
            let right: Vec<f64> = free.iter().map(|&i| target[i]).collect();
            let goal = self.factor(&free, pull).solve_vector(&right);
            let goal = |i: usize| goal[i];
            let length = (0..free.len())
                .filter(|&i| goal(i) <= 0.0)
                .map(|i| y[free[i]] / (y[free[i]] - goal(i)))
                .fold(1.0, f64::min);
            let mut kept = Vec::with_capacity(free.len());
            for (i, &u) in free.iter().enumerate() {
                let meets = goal(i) <= 0.0 && y[u] / (y[u] - goal(i)) <= length;
                y[u] = if meets { 0.0 } else { y[u] + length * (goal(i) - y[u]) };
                if !meets {
                    kept.push(u);
                }
            }
            if kept.len() == free.len() {
                break;
            }
            free = kept;
        }
        entering.is_none_or(|i| y[i] > 0.0)
    }

    /// The scaled matrix of the free variables with the proximal pull, factorised.
    fn factor(&self, free: &[usize], mut pull: f64) -> Cholesky {
        while pull.is_finite() {
            let mut matrix = self.h.submatrix(free);
            for (j, &v) in free.iter().enumerate() {
                for (i, &u) in free.iter().enumerate() {
                    matrix[(i, j)] *= self.scale[u] * self.scale[v];
                }
                matrix[(j, j)] += pull;
            }
            match Cholesky::new(matrix.as_ref()) {
                Some(factor) => return factor,
                // Rounding made the matrix indefinite by more than the pull: a larger one must succeed.
                None => pull *= 100.0,
            }
        }
        let identity = Mat::<f64>::identity(free.len(), free.len());
        Cholesky::new(identity.as_ref()).expect("the identity is positive definite")
    }

    fn gradient(&self, y: &[f64], target: &[f64]) -> Vec<f64> {
        let unscaled: Vec<f64> = y.iter().zip(&self.scale).map(|(y, s)| y * s).collect();
        let curved = self.h.times(&unscaled);
        (0..y.len()).map(|i| curved[i] * self.scale[i] - target[i]).collect()
    }
}

#[cfg(test)]
mod tests {
    use dolmen_linalg::Orthogonal;
    use proptest::prelude::*;

    use super::*;

    fn gram(columns: &[Vec<f64>]) -> Gram {
        let rows = columns[0].len();
        let mut gram = Gram::zero(columns.len());
        gram.add(&columns.concat(), rows);
        gram
    }

    /// All subsets of free variables, the best feasible stationary point: slow and obvious.
    fn oracle(h: &Gram, c: &[f64]) -> f64 {
        let value = |y: &[f64]| {
            let hy = h.times(y);
            (0..y.len()).map(|i| y[i] * (hy[i] / 2.0 - c[i])).sum::<f64>()
        };
        let subset = |bits: usize| (0..c.len()).filter(|i| bits >> i & 1 == 1).collect::<Vec<_>>();
        let mut best = 0.0_f64;
        for free in (1..1 << c.len()).map(subset) {
            let right = Mat::from_fn(free.len(), 1, |i, _| c[free[i]]);
            let y = Orthogonal::new(h.submatrix(&free).as_ref()).least_squares(right.as_ref());
            if (0..free.len()).all(|i| y[(i, 0)] >= 0.0) {
                let mut full = vec![0.0; c.len()];
                free.iter().enumerate().for_each(|(i, &u)| full[u] = y[(i, 0)]);
                best = best.min(value(&full));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn agrees_with_trying_every_active_set(
            columns in prop::collection::vec(prop::collection::vec(-2.0..2.0_f64, 7), 1..6),
            c in prop::collection::vec(-1.0..1.0_f64, 6),
        ) {
            let h = gram(&columns);
            let c = &c[..columns.len()];
            let found = minimise(&h, c, &vec![0.0; c.len()]);
            let hy = h.times(&found.y);
            let value: f64 = (0..c.len()).map(|i| found.y[i] * (hy[i] / 2.0 - c[i])).sum();
            prop_assert!(found.y.iter().all(|y| *y >= 0.0));
            prop_assert!(value <= oracle(&h, c) + 1e-8, "{value} against {}", oracle(&h, c));
        }
    }

    #[test]
    fn identical_columns_share_and_satisfy_the_optimality_conditions() {
        let column = vec![1.0, 2.0, -1.0];
        let h = gram(&[column.clone(), column.clone(), vec![0.0, 1.0, 1.0]]);
        let found = minimise(&h, &[1.0, 1.0, -3.0], &[0.0; 3]);
        assert!(found.residual < 1e-10, "{found:?}");
        assert_eq!(found.y[2], 0.0);
        assert!((found.y[0] + found.y[1] - 1.0 / 6.0).abs() < 1e-10);
    }
}
