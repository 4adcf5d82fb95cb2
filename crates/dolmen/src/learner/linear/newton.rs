//! Where the penalised likelihood is greatest: Newton's method for few parameters, L-BFGS for many.

use dolmen_linalg::{Cholesky, Mat};
use serde::{Deserialize, Serialize};

use super::softmax::{Evaluation, Labelled, Observations, Problem};
use crate::error::Result;
use crate::learner::chosen::listed;
use crate::math::bulk;
use crate::math::quasi_newton::{Descent, Minimum, Stop};
use crate::run::Run;

/// Most parameters for which the Hessian is formed and solved: beyond, its cost grows past that of more iterations.
const NEWTON_PARAMETERS: usize = 300;

/// Of many rows, every so-manyth gives a start close to the optimum, so that few passes over all rows are left.
const THINNING: usize = 16;
const THIN_ROWS_PER_PARAMETER: usize = 10;

/// The shortest share of a step that is tried: it has been halved 29 times.
const SHORTEST: f64 = 1.0 / (1_u64 << 29) as f64;

/// The largest step, beside the coefficients, that is taken at the end without a look at where it leads.
const SURE: f64 = 1e-3;

/// Minimises the loss from a start. `tolerance` is for the gradient of the mean loss per unit of weight.
pub(crate) fn solve<D: Observations>(
    problem: &Problem<'_, D>,
    start: Vec<f64>,
    tolerance: f64,
    iterations: usize,
    run: &Run,
) -> Result<Minimum> {
    let stop = Stop { gradient: tolerance * problem.weight(), iterations };
    let few = problem.parameters() <= NEWTON_PARAMETERS;
    search(problem, if few { Search::newton(start, stop) } else { Search::quasi(start, stop) }, run)
}

/// A little way down from a start, never up: what an M-step needs, whose problem is another one in the next iteration.
pub(crate) fn improve<D: Observations>(
    problem: &Problem<'_, D>,
    start: Vec<f64>,
    run: &Run,
) -> Result<Minimum> {
    /// A step of L-BFGS is cheaper and worth less.
    const STEPS: (usize, usize) = (1, 8);
    let few = problem.parameters() <= NEWTON_PARAMETERS;
    solve(problem, start, f64::EPSILON, if few { STEPS.0 } else { STEPS.1 }, run)
}

/// The same as [`solve`] from nothing.
pub(super) fn solve_afresh(
    problem: &Problem<'_, Labelled<'_>>,
    tolerance: f64,
    iterations: usize,
    run: &Run,
) -> Result<Minimum> {
    let nothing = vec![0.0; problem.parameters()];
    let thin = listed(problem.data.rows.iter().step_by(THINNING))?;
    if thin.len() < THIN_ROWS_PER_PARAMETER * problem.parameters() {
        return solve(problem, nothing, tolerance, iterations, run);
    }
    let few = Problem { lambda: problem.lambda / THINNING as f64, ..problem.over(&thin) };
    let near = solve(&few, nothing, 1e-4_f64.max(tolerance), iterations, run)?;
    solve(problem, near.at, tolerance, iterations, run)
}

/// Follows a search to its end.
fn search<D: Observations>(
    problem: &Problem<'_, D>,
    mut search: Search,
    run: &Run,
) -> Result<Minimum> {
    loop {
        run.check()?;
        if let Some(minimum) = search.end() {
            return Ok(minimum);
        }
        let there = problem.evaluate(&search.point(), search.asks_for_hessian());
        search.advance(problem, there);
    }
}

/// A search on its way, by either method: it asks for the sums over all rows at one point after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Search {
    Newton(Climb),
    QuasiNewton(Descent),
}

impl Search {
    pub(super) fn newton(start: Vec<f64>, stop: Stop) -> Self {
        Self::Newton(Climb::new(start, stop))
    }

    /// By L-BFGS.
    pub(super) fn quasi(start: Vec<f64>, stop: Stop) -> Self {
        Self::QuasiNewton(Descent::new(start, stop))
    }

    /// The point whose sums it asks for, unless it is at its end.
    pub(super) fn point(&self) -> Vec<f64> {
        match self {
            Self::Newton(climb) => climb.point(),
            Self::QuasiNewton(descent) => descent.point().to_vec(),
        }
    }

    /// Whether curvatures are among them.
    pub(super) fn asks_for_hessian(&self) -> bool {
        matches!(self, Self::Newton(_))
    }

    /// Goes on with the sums at the point.
    pub(super) fn advance<D: Observations>(&mut self, problem: &Problem<'_, D>, there: Evaluation) {
        match self {
            Self::Newton(climb) => climb.advance(problem, there),
            Self::QuasiNewton(descent) => descent.advance(there.loss, there.gradient),
        }
    }

    /// Where it ended, if it has.
    pub(super) fn end(&self) -> Option<Minimum> {
        match self {
            Self::Newton(climb) => climb.end(),
            Self::QuasiNewton(descent) => descent.end(),
        }
    }
}

/// Newton's method on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Climb {
    stop: Stop,
    at: Vec<f64>,
    /// The sums there, once they are known.
    here: Option<Evaluation>,
    iterations: usize,
    /// The step that is tried: its direction, and the share of it.
    step: Option<(Vec<f64>, f64)>,
    is_at_end: bool,
}

impl Climb {
    fn new(start: Vec<f64>, stop: Stop) -> Self {
        Self { stop, at: start, here: None, iterations: 0, step: None, is_at_end: false }
    }

    /// The point whose sums it asks for, unless it is at its end.
    fn point(&self) -> Vec<f64> {
        let mut point = self.at.clone();
        if let Some((direction, length)) = &self.step {
            bulk::add_scaled(&mut point, *length, direction);
        }
        point
    }

    /// Goes on with the sums at the point.
    fn advance<D: Observations>(&mut self, problem: &Problem<'_, D>, there: Evaluation) {
        let (Some(here), Some((direction, length))) = (self.here.take(), self.step.take()) else {
            return self.arrive(problem, there, false);
        };
        let slope = bulk::dot(&direction, &here.gradient);
        // At the optimum the loss no longer changes within its rounding, but the gradient still falls.
        let rounding = 1e-14 * here.loss.abs();
        if there.loss <= here.loss + 1e-4 * length * slope + rounding {
            bulk::add_scaled(&mut self.at, length, &direction);
            self.iterations += 1;
            let falls = there.loss < here.loss || steepest(&there) <= 0.5 * steepest(&here);
            self.arrive(problem, there, !falls);
        } else {
            // Rounding hides every decrease once steps are that short.
            self.is_at_end = length <= SHORTEST;
            (self.here, self.step) = (Some(here), Some((direction, 0.5 * length)));
        }
    }

    /// Stays here, or looks for a step.
    fn arrive<D: Observations>(
        &mut self,
        problem: &Problem<'_, D>,
        mut here: Evaluation,
        is_stalled: bool,
    ) {
        let is_flat = steepest(&here) <= self.stop.gradient;
        self.is_at_end = is_stalled || is_flat || self.iterations == self.stop.iterations;
        let hessian = std::mem::take(&mut here.hessian);
        if !self.is_at_end {
            self.step = Some((direction(problem.assemble(&hessian), &here.gradient), 1.0));
        } else if is_flat && steepest(&here) > 0.0 {
            self.refine(&direction(problem.assemble(&hessian), &here.gradient), &mut here);
        }
        self.here = Some(here);
    }

    /// The step from where the gradient is flat enough. It doubles the digits, so that searches from unlike starts, in memory and in passes,
    /// end at the same point; and it costs nothing, because the curvatures are there and nobody looks at the rows again. Where it is not small
    /// (classes that can be told apart, without a penalty) there is no such point.
    fn refine(&mut self, step: &[f64], here: &mut Evaluation) {
        if largest(step) <= SURE * (1.0 + largest(&self.at)) {
            bulk::add_scaled(&mut self.at, 1.0, step);
            here.loss += 0.5 * bulk::dot(step, &here.gradient);
        }
    }

    /// Where it ended, if it has.
    fn end(&self) -> Option<Minimum> {
        let here = self.here.as_ref().filter(|_| self.is_at_end)?;
        Some(Minimum {
            at: self.at.clone(),
            value: here.loss,
            iterations: self.iterations,
            converged: steepest(here) <= self.stop.gradient,
        })
    }
}

/// The largest element of the gradient.
fn steepest(here: &Evaluation) -> f64 {
    largest(&here.gradient)
}

/// The largest absolute value.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

/// The Newton direction. Where the Hessian is singular (no penalty, and columns that are copies), a trace of the identity
/// makes it definite.
pub(crate) fn direction(mut hessian: Mat<f64>, gradient: &[f64]) -> Vec<f64> {
    let order = hessian.nrows();
    let largest = (0..order).map(|j| hessian[(j, j)]).fold(0.0, f64::max);
    let mut trace = if largest > 0.0 { 1e-12 * largest } else { 1.0 };
    loop {
        if let Some(factor) = Cholesky::new(hessian.as_ref()) {
            let downhill: Vec<f64> = gradient.iter().map(|g| -g).collect();
            let direction = factor.solve_vector(&downhill);
            if bulk::dot(&direction, gradient) < 0.0 {
                return direction;
            }
        }
        if !trace.is_finite() {
            return gradient.iter().map(|g| -g).collect();
        }
        (0..order).for_each(|j| hessian[(j, j)] += trace);
        trace *= 100.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::softmax::contrasts;
    use super::*;
    use crate::learner::Sample;
    use crate::learner::chosen::Chosen;
    use crate::learner::scales::Scales;
    use crate::table::Features;
    use crate::target::Labels;

    /// Both ways on 600 rows of 3 columns and 3 classes.
    fn both(lambda: f64) -> [Minimum; 2] {
        let wave = |at: usize| (at as f64 * 1.7 + (at as f64).sqrt()).sin();
        let x = Features::numeric((0..1800).map(wave).collect(), 3).unwrap();
        let class = |i: usize| {
            let score = wave(3 * i) + 0.5 * wave(3 * i + 1) + 0.8 * wave(7 * i + 1);
            if score < -0.5 { 0 } else { 1 + u32::from(score > 0.6) }
        };
        let classes = ["a", "b", "c"].map(String::from);
        let labels = Labels::new(classes, (0..600).map(class).collect()).unwrap();
        let sample = Sample::new(x.rows(), &labels).unwrap();
        let problem = Problem {
            data: Labelled {
                sample,
                rows: Chosen::All(600),
                scales: &Scales::fit(x.rows(), None),
                numbers: &[Some(0), Some(1), Some(2)],
                coordinates: None,
            },
            contrasts: &contrasts(3),
            lambda,
        };
        let run = Run::with_threads(0, 1).unwrap();
        let stop = Stop { gradient: 1e-8, iterations: 500 };
        let start = vec![0.0; problem.parameters()];
        [Search::newton(start.clone(), stop), Search::quasi(start, stop)]
            .map(|way| search(&problem, way, &run).unwrap())
    }

    /// Classes that a column tells apart: without a penalty coefficients grow for ever, and the last step must not run after them.
    #[test]
    fn the_last_step_is_a_small_one() {
        let x = Features::numeric((0..40).map(|i| f64::from(i) - 19.5).collect(), 1).unwrap();
        let codes = (0..40).map(|i| u32::from(i > 19)).collect();
        let labels = Labels::new(["a", "b"].map(String::from), codes).unwrap();
        let problem = Problem {
            data: Labelled {
                sample: Sample::new(x.rows(), &labels).unwrap(),
                rows: Chosen::All(40),
                scales: &Scales::fit(x.rows(), None),
                numbers: &[Some(0), Some(1)],
                coordinates: None,
            },
            contrasts: &contrasts(2),
            lambda: 0.0,
        };
        let stop = Stop { gradient: 1e-6 * problem.weight(), iterations: 500 };
        let found = |iterations| {
            let start =
                Search::newton(vec![0.0; problem.parameters()], Stop { iterations, ..stop });
            search(&problem, start, &Run::with_threads(0, 1).unwrap()).unwrap()
        };
        let end = found(500);
        assert!(end.converged, "{end:?}");
        let at: Vec<f64> = (0..3).map(|back| found(end.iterations - back).at[0]).collect();
        let (last, before) = (at[0] - at[1], at[1] - at[2]);
        assert!(before > 0.1 && last < 1.5 * before, "{at:?}");
    }

    #[test]
    fn both_methods_end_at_the_same_point() {
        for lambda in [0.0, 0.3, 30.0] {
            let [newton, quasi_newton] = both(lambda);
            assert!(newton.converged && newton.iterations < 12, "{newton:?}");
            assert!(quasi_newton.converged && quasi_newton.iterations < 100, "{quasi_newton:?}");
            for (a, b) in newton.at.iter().zip(&quasi_newton.at) {
                assert!((a - b).abs() < 1e-8, "{a} {b}");
            }
        }
    }
}
