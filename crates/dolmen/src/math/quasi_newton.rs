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
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    let mut descent = Descent::new(start, stop);
    loop {
        if let Some(minimum) = descent.end() {
            return Ok(minimum);
        }
        let mut gradient = vec![0.0; descent.point().len()];
        let value = function(descent.point(), &mut gradient)?;
        descent.advance(value, gradient);
    }
}

/// The search on its way: it asks for the function's value and gradient at one point after the other, whoever finds them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Descent {
    stop: Stop,
    /// The point that it asks about.
    asked: Vec<f64>,
    /// Where it stands, once that is known.
    here: Option<Point>,
    memory: Memory,
    /// The search along a line from there.
    line: Option<Line>,
    iterations: usize,
    is_at_end: bool,
}

impl Descent {
    pub(crate) fn new(start: Vec<f64>, stop: Stop) -> Self {
        Self {
            stop,
            asked: start,
            here: None,
            memory: Memory::default(),
            line: None,
            iterations: 0,
            is_at_end: false,
        }
    }

    /// The point whose value and gradient it asks for, unless it is at its end.
    pub(crate) fn point(&self) -> &[f64] {
        &self.asked
    }

    /// Goes on with what the function is at the point.
    pub(crate) fn advance(&mut self, value: f64, gradient: Vec<f64>) {
        let there = Point { at: self.asked.clone(), value, gradient };
        let (Some(here), Some(mut line)) = (self.here.take(), self.line.take()) else {
            return self.stand(there);
        };
        match line.advance(&there) {
            Search::Along(step) => {
                self.asked.copy_from_slice(&here.at);
                add_scaled(&mut self.asked, step, &line.direction);
                (self.here, self.line) = (Some(here), Some(line));
            }
            Search::Found => {
                self.memory.add(&here, &there);
                self.iterations += 1;
                self.stand(there);
            }
            // Rounding hides every decrease: without what is remembered there may be one.
            Search::Lost if !self.memory.steps.is_empty() => {
                self.memory = Memory::default();
                self.iterations += 1;
                self.stand(here);
            }
            Search::Lost => {
                self.is_at_end = true;
                self.here = Some(here);
            }
        }
    }

    /// Stays here, or looks along another line.
    fn stand(&mut self, here: Point) {
        self.is_at_end = self.is_flat(&here) || self.iterations >= self.stop.iterations;
        if !self.is_at_end {
            let mut direction = self.memory.direction(&here.gradient);
            if dot(&direction, &here.gradient) >= 0.0 {
                self.memory = Memory::default();
                direction = self.memory.direction(&here.gradient);
            }
            // The first step has no scale of its own: a unit of length at most.
            let first = if self.memory.steps.is_empty() {
                1.0 / dot(&here.gradient, &here.gradient).sqrt().max(1.0)
            } else {
                1.0
            };
            self.asked.copy_from_slice(&here.at);
            add_scaled(&mut self.asked, first, &direction);
            self.line = Some(Line::new(&here, direction, first));
        }
        self.here = Some(here);
    }

    fn is_flat(&self, here: &Point) -> bool {
        here.gradient.iter().all(|g| g.abs() <= self.stop.gradient)
    }

    /// Where it ended, if it has.
    pub(crate) fn end(&self) -> Option<Minimum> {
        let here = self.here.as_ref().filter(|_| self.is_at_end)?;
        Some(Minimum {
            at: here.at.clone(),
            value: here.value,
            iterations: self.iterations,
            converged: self.is_flat(here),
        })
    }
}

/// Changes of position and gradient over the last steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct End {
    step: f64,
    value: f64,
    slope: f64,
}

/// The search for a point along a direction that meets the strong Wolfe conditions.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    direction: Vec<f64>,
    start: End,
    low: End,
    high: Option<End>,
    /// The step that is tried.
    step: f64,
    evaluations: usize,
}

/// What follows from a step that was tried.
enum Search {
    /// Another one is to be tried.
    Along(f64),
    /// It will do.
    Found,
    /// Rounding hides every decrease.
    Lost,
}

impl Line {
    fn new(here: &Point, direction: Vec<f64>, first: f64) -> Self {
        let start = End { step: 0.0, value: here.value, slope: dot(&here.gradient, &direction) };
        Self { direction, start, low: start, high: None, step: first, evaluations: 0 }
    }

    /// Goes on with what was found at the step.
    fn advance(&mut self, there: &Point) -> Search {
        if self.evaluations == LINE_EVALUATIONS {
            return Search::Found;
        }
        let (start, low) = (self.start, self.low);
        // Near the minimum values no longer tell points apart, but slopes do (HagerZhang2005, section 2).
        let rounding = 1e-14 * start.value.abs();
        let (step, slope) = (self.step, dot(&there.gradient, &self.direction));
        let end = End { step, value: there.value, slope };
        let enough = end.value <= start.value + DECREASE * step * start.slope + rounding;
        if !enough || end.value > low.value + rounding || !end.slope.is_finite() {
            self.high = Some(end);
        } else if end.slope.abs() <= CURVATURE * start.slope.abs() {
            return Search::Found;
        } else {
            // The minimum lies where the slope at the lower end points to.
            let away = self
                .high
                .map_or(end.slope >= 0.0, |high| end.slope * (high.step - low.step) >= 0.0);
            if away {
                self.high = Some(low);
            }
            self.low = end;
        }
        self.step = match self.high {
            None => 2.0 * step,
            Some(high) => between(self.low, high),
        };
        self.evaluations += 1;
        if self.evaluations == LINE_EVALUATIONS {
            // The best of those tried has to do, and is asked for once more.
            self.step = self.low.step;
        }
        if self.step > 0.0 { Search::Along(self.step) } else { Search::Lost }
    }
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

    /// A search that goes through bytes between its steps is the same.
    #[test]
    fn a_search_can_be_sent() {
        let bowl = |x: &[f64]| {
            let value = x.iter().zip(1..).map(|(x, k)| f64::from(k) * (x - 1.0).powi(4) + x * x);
            let slope = |(x, k): (&f64, i32)| 4.0 * f64::from(k) * (x - 1.0).powi(3) + 2.0 * x;
            (value.sum::<f64>(), x.iter().zip(1..).map(slope).collect::<Vec<f64>>())
        };
        let mut descent = Descent::new(vec![9.0, -7.0, 3.0], STOP);
        while descent.end().is_none() {
            let bytes = rmp_serde::to_vec_named(&descent).unwrap();
            descent = rmp_serde::from_slice(&bytes).unwrap();
            let (value, gradient) = bowl(descent.point());
            descent.advance(value, gradient);
        }
        let function = |x: &[f64], gradient: &mut [f64]| {
            let (value, slopes) = bowl(x);
            gradient.copy_from_slice(&slopes);
            Ok(value)
        };
        let here = minimise(function, vec![9.0, -7.0, 3.0], STOP).unwrap();
        let sent = descent.end().unwrap();
        assert!(here.converged && here.iterations > 3, "{here:?}");
        assert_eq!((here.at, here.iterations), (sent.at, sent.iterations));
    }
}
