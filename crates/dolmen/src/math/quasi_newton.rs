//! Minimising a smooth function of many variables: L-BFGS (NocedalWright2006, algorithms 7.4, 7.5, 3.5 and 3.6).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::bulk::{add_scaled, dot};
use crate::error::Result;

/// Steps remembered: the usual number; more cost time and rarely save iterations.
const MEMORY: usize = 10;

/// The strong Wolfe conditions: enough decrease, and a slope flat enough.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;

/// Evaluations spent on one line search at most.
const LINE_EVALUATIONS: usize = 25;

/// When to stop.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Stop {
    /// The largest element of the gradient to be reached.
    pub(crate) gradient: f64,
    /// Iterations at most.
    pub(crate) iterations: usize,
}

/// Where the search ended.
#[derive(Debug, Clone)]
pub(crate) struct Minimum {
    pub(crate) at: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) iterations: usize,
    pub(crate) converged: bool,
}

/// A point with the function's value and gradient there.
#[derive(Clone)]
struct Point {
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Minimises `function`, which writes the gradient and returns the value.
pub(crate) fn minimise(
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<f64>,
    start: Vec<f64>,
    stop: Stop,
) -> Result<Minimum> {
    let mut gradient = vec![0.0; start.len()];
    let value = function(&start, &mut gradient)?;
    let mut here = Point { at: start, value, gradient };
    let mut memory = Memory::default();
    for iteration in 0..=stop.iterations {
        let converged = here.gradient.iter().all(|g| g.abs() <= stop.gradient);
        let done = |here: Point| Minimum {
            at: here.at,
            value: here.value,
            iterations: iteration,
            converged,
        };
        if converged || iteration == stop.iterations {
            return Ok(done(here));
        }
        let mut direction = memory.direction(&here.gradient);
        if dot(&direction, &here.gradient) >= 0.0 {
            memory = Memory::default();
            direction = memory.direction(&here.gradient);
        }
        // The first step has no scale of its own: a unit of length at most.
        let first = if memory.steps.is_empty() {
            1.0 / dot(&here.gradient, &here.gradient).sqrt().max(1.0)
        } else {
            1.0
        };
        let Some(next) = search_line(&mut function, &here, &direction, first)? else {
            if memory.steps.is_empty() {
                return Ok(done(here));
            }
            memory = Memory::default();
            continue;
        };
        memory.add(&here, &next);
        here = next;
    }
    unreachable!("the last iteration returns")
}

/// Changes of position and gradient over the last steps.
#[derive(Default)]
struct Memory {
    steps: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl Memory {
    fn add(&mut self, from: &Point, to: &Point) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let step: Vec<f64> = difference(&to.at, &from.at);
        let change: Vec<f64> = difference(&to.gradient, &from.gradient);
        let curvature = dot(&step, &change);
        if curvature > f64::EPSILON * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if self.steps.len() == MEMORY {
                self.steps.pop_front();
            }
            self.steps.push_back((step, change, 1.0 / curvature));
        }
    }

    /// Minus the gradient times the remembered inverse Hessian: the two-loop recursion.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = [0.0; MEMORY];
        for (share, (step, change, inverse)) in shares.iter_mut().zip(&self.steps).rev() {
            *share = inverse * dot(step, &direction);
            add_scaled(&mut direction, -*share, change);
        }
        if let Some((_, change, inverse)) = self.steps.back() {
            let scale = 1.0 / (inverse * dot(change, change));
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for (share, (step, change, inverse)) in shares.iter().zip(&self.steps) {
            let rest = share - inverse * dot(change, &direction);
            add_scaled(&mut direction, rest, step);
        }
        direction
    }
}

/// One end of the interval that holds an acceptable step: the step, the value and the slope there.
#[derive(Clone, Copy)]
struct End {
    step: f64,
    value: f64,
    slope: f64,
}

/// A point along the direction that meets the strong Wolfe conditions; `None` if rounding hides every decrease.
fn search_line(
    function: &mut impl FnMut(&[f64], &mut [f64]) -> Result<f64>,
    here: &Point,
    direction: &[f64],
    first: f64,
) -> Result<Option<Point>> {
    let start = End { step: 0.0, value: here.value, slope: dot(&here.gradient, direction) };
    let (mut low, mut high): (End, Option<End>) = (start, None);
    // Near the minimum values no longer tell points apart, but slopes do (HagerZhang2005, section 2).
    let rounding = 1e-14 * start.value.abs();
    let mut step = first;
    let mut there = here.clone();
    for _ in 0..LINE_EVALUATIONS {
        there.at.copy_from_slice(&here.at);
        add_scaled(&mut there.at, step, direction);
        there.value = function(&there.at, &mut there.gradient)?;
        let end = End { step, value: there.value, slope: dot(&there.gradient, direction) };
        let enough = end.value <= start.value + DECREASE * step * start.slope + rounding;
        if !enough || end.value > low.value + rounding || !end.slope.is_finite() {
            high = Some(end);
        } else if end.slope.abs() <= CURVATURE * start.slope.abs() {
            return Ok(Some(there));
        } else {
            // The minimum lies where the slope at the lower end points to.
            let away =
                high.map_or(end.slope >= 0.0, |high| end.slope * (high.step - low.step) >= 0.0);
            if away {
                high = Some(low);
            }
            low = end;
        }
        step = match high {
            None => 2.0 * step,
            Some(high) => between(low, high),
        };
    }
    let found = low.step > 0.0;
    if found {
        there.at.copy_from_slice(&here.at);
        add_scaled(&mut there.at, low.step, direction);
        there.value = function(&there.at, &mut there.gradient)?;
    }
    Ok(found.then_some(there))
}

/// The minimum of the cubic through both ends, kept away from them; the middle if there is none.
fn between(low: End, high: End) -> f64 {
    let width = high.step - low.step;
    let d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step);
    let d2 = (d1 * d1 - low.slope * high.slope).sqrt().copysign(width);
    let share = 1.0 - (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.5 };
    low.step + share * width
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Stop = Stop { gradient: 1e-9, iterations: 500 };

    #[test]
    fn the_valley_of_rosenbrock_is_followed_to_its_end() {
        let valley = |x: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            let mut value = 0.0;
            for i in 0..x.len() - 1 {
                let (a, b) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
                value += 100.0 * a * a + b * b;
                gradient[i] -= 400.0 * x[i] * a + 2.0 * b;
                gradient[i + 1] += 200.0 * a;
            }
            Ok(value)
        };
        let minimum = minimise(valley, vec![-1.2, 1.0, -0.5, 2.0, 0.3], STOP).unwrap();
        assert!(minimum.converged && minimum.iterations < 100, "{minimum:?}");
        assert!(minimum.at.iter().all(|x| (x - 1.0).abs() < 1e-8), "{minimum:?}");
    }

    #[test]
    fn a_steep_and_flat_function_needs_both_ways_of_the_line_search() {
        // Infinite beyond 1 and nearly flat far below.
        let barrier = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 / (1.0 - x[0]) - 1.0 / (x[0] + 1e3);
            Ok(if x[0] < 1.0 { -(1.0 - x[0]).ln() - (x[0] + 1e3).ln() } else { f64::INFINITY })
        };
        let minimum = minimise(barrier, vec![0.999_999], STOP).unwrap();
        assert!(minimum.converged, "{minimum:?}");
        assert!((minimum.at[0] + 499.5).abs() < 1e-3, "{minimum:?}");
    }
}
