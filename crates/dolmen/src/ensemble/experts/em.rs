//! EM for a mixture of experts (JordanJacobs1994, section 4; Bishop2006, 14.5.3).
//!
//! The E-step gives each expert its responsibility r_ik = g_k(x_i) p_k(t_i given x_i) / sum_l g_l(x_i) p_l(t_i given x_i) for
//! each row; the M-step improves the gate and the experts given these. Where it takes a step of Newton's method instead of
//! going to the maximum, that step is shortened until it does not go down, so the log posterior never falls.

use std::ops::Range;

use dolmen_linalg::{MatMut, MatRef, multiply};
use rayon::prelude::*;

use super::design::Design;
use super::gate::Gate;
use super::start;
use crate::error::Result;
use crate::math::{bulk, divide_rows, exp_and_sum_rows, largest_in_rows};
use crate::run::Run;

/// Rows of one piece of work, and those multiplied at a time.
const PART: usize = 4096;
const BLOCK: usize = 256;

/// Iterations that every start is followed; then only the best goes on (Biernacki2003).
const TRIAL: usize = 25;

/// A kind of expert, with the target it predicts and the single model of all rows.
pub(super) trait Family: Sync {
    /// The parameters of all experts.
    type Experts: Clone + Send + Sync;

    /// Linear scores of one expert.
    fn outputs(&self) -> usize;

    /// So many experts, each the single model.
    fn several(&self, count: usize) -> Self::Experts;

    /// The coefficients of every score, `width` each: expert after expert, score after score.
    fn coefficients(&self, experts: &Self::Experts, width: usize) -> Vec<f64>;

    /// ln p_k(t_i given x_i), expert after expert, from the scores of these rows, score after score. The scores may be
    /// overwritten; `room` holds two values a row.
    fn ln_likelihood(
        &self,
        experts: &Self::Experts,
        rows: Range<usize>,
        outputs: &mut [f64],
        room: &mut [f64],
        out: &mut [f64],
    );

    /// The log prior of the experts.
    fn ln_prior(&self, experts: &Self::Experts, design: &Design) -> f64;

    /// The M-step.
    fn improve(
        &self,
        experts: &mut Self::Experts,
        design: &Design,
        responsibilities: &[f64],
        run: &Run,
    ) -> Result<()>;
}

/// When to stop, and where to start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Stop once an iteration gains less than this per row.
    pub(super) tolerance: f64,
    /// Iterations at most.
    pub(super) iterations: usize,
    pub(super) restarts: usize,
    pub(super) gate_ridge: f64,
}

/// Where EM came to.
#[derive(Debug, Clone)]
pub(super) struct Climb<E> {
    pub(super) gate: Gate,
    pub(super) experts: E,
    /// The log posterior at the start and after each iteration.
    pub(super) objectives: Vec<f64>,
    pub(super) converged: bool,
    /// Row after row, the imagined one last: each expert's share.
    responsibilities: Vec<f64>,
}

impl<E: Clone + Send + Sync> Climb<E> {
    /// The log posterior reached.
    pub(super) fn objective(&self) -> f64 {
        self.objectives.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The part of the rows that each expert answers for.
    pub(super) fn shares(&self, design: &Design, count: usize) -> Vec<f64> {
        let mut sums = vec![0.0; count];
        for (row, weight) in self.responsibilities.chunks_exact(count).zip(design.weights()) {
            bulk::add_scaled(&mut sums, *weight, row);
        }
        sums.iter().map(|sum| sum / design.total()).collect()
    }

    /// Goes on until `iterations` in all are done.
    fn go_on<F: Family<Experts = E>>(
        &mut self,
        family: &F,
        design: &Design,
        iterations: usize,
        tolerance: f64,
        run: &Run,
    ) -> Result<()> {
        if self.objectives.is_empty() {
            self.improve(family, design, run)?;
            self.expect(family, design);
        }
        while self.objectives.len() <= iterations && !self.converged {
            run.check()?;
            let before = self.objective();
            self.improve(family, design, run)?;
            self.expect(family, design);
            self.converged = self.objective() - before <= tolerance * design.total();
        }
        Ok(())
    }

    /// The M-step.
    fn improve<F: Family<Experts = E>>(
        &mut self,
        family: &F,
        design: &Design,
        run: &Run,
    ) -> Result<()> {
        self.gate.improve(design, &self.responsibilities, run)?;
        family.improve(&mut self.experts, design, &self.responsibilities, run)
    }

    /// The E-step, which finds the log posterior on its way.
    fn expect<F: Family<Experts = E>>(&mut self, family: &F, design: &Design) {
        let width = design.width();
        let gate = self.gate.coefficients();
        let count = gate.ncols();
        let mut coefficients = gate.col_iter().flat_map(|c| c.iter().copied()).collect::<Vec<_>>();
        coefficients.extend(family.coefficients(&self.experts, width));
        let theta =
            MatRef::from_column_major_slice(&coefficients, width, coefficients.len() / width);
        let experts = &self.experts;
        let parts: Vec<f64> = self.responsibilities[..design.rows() * count]
            .par_chunks_mut(PART * count)
            .enumerate()
            .map(|(part, out)| {
                let mut pass = Pass::new(family, experts, design, theta, count);
                let blocks = out.chunks_mut(BLOCK * count).enumerate();
                blocks.map(|(block, out)| pass.expect(part * PART + block * BLOCK, out)).sum()
            })
            .collect();
        let prior = self.gate.ln_prior(design) + family.ln_prior(experts, design);
        self.objectives.push(parts.iter().sum::<f64>() + prior);
    }
}

/// The best of several starts, followed to the end.
pub(super) fn best_of<F: Family>(
    family: &F,
    design: &Design,
    count: usize,
    plan: Plan,
    run: &Run,
) -> Result<Climb<F::Experts>> {
    let trial = |number: usize| {
        let mut climb = Climb {
            gate: Gate::even(design, count, plan.gate_ridge),
            experts: family.several(count),
            objectives: Vec::new(),
            converged: false,
            responsibilities: start::responsibilities(design, count, &run.child(number as u64)),
        };
        climb.go_on(family, design, plan.iterations.min(TRIAL), plan.tolerance, run)?;
        run.progress().advance(1, "start");
        Ok(climb)
    };
    // One expert is the same from anywhere.
    let restarts = if count == 1 { 1 } else { plan.restarts };
    run.progress().plan(restarts as u64);
    let climbs: Result<Vec<_>> = (0..restarts).into_par_iter().map(trial).collect();
    let better = |best: Climb<_>, next: Climb<_>| {
        if next.objective() > best.objective() { next } else { best }
    };
    let best = climbs?.into_iter().reduce(better);
    let mut best = best.ok_or_else(|| crate::Error::param("restarts", "at least 1", 0))?;
    best.go_on(family, design, plan.iterations, plan.tolerance, run)?;
    Ok(best)
}

/// Room for the E-step of a block of rows.
struct Pass<'a, F: Family> {
    family: &'a F,
    experts: &'a F::Experts,
    design: &'a Design,
    /// Coefficients of the gate, then of the experts: one column per score.
    theta: MatRef<'a, f64>,
    count: usize,
    scores: Vec<f64>,
    /// Expert after expert: ln g_k p_k, then responsibilities.
    joint: Vec<f64>,
    room: Vec<f64>,
}

impl<'a, F: Family> Pass<'a, F> {
    fn new(
        family: &'a F,
        experts: &'a F::Experts,
        design: &'a Design,
        theta: MatRef<'a, f64>,
        count: usize,
    ) -> Self {
        let room = |values: usize| vec![0.0; BLOCK * values];
        let (scores, joint, room) = (room(theta.ncols()), room(count), room(2));
        Self { family, experts, design, theta, count, scores, joint, room }
    }

    /// Writes the responsibilities of the rows from `first` on; returns their log likelihood.
    fn expect(&mut self, first: usize, out: &mut [f64]) -> f64 {
        let rows = out.len() / self.count;
        let range = first..first + rows;
        let scores = &mut self.scores[..rows * self.theta.ncols()];
        multiply(
            MatMut::from_column_major_slice_mut(scores, rows, self.theta.ncols()),
            MatRef::from_row_major_slice(self.design.z(range.clone()), rows, self.design.width()),
            self.theta,
        );
        let (gate, outputs) = scores.split_at_mut(rows * self.count);
        let joint = &mut self.joint[..rows * self.count];
        let room = &mut self.room[..2 * rows];
        self.family.ln_likelihood(self.experts, range.clone(), outputs, room, joint);
        let (largest, totals) = room.split_at_mut(rows);
        // ln g_k = score_k - ln sum_l exp(score_l); the last term is the same for all experts.
        bulk::add_scaled(joint, 1.0, gate);
        let of_gate = ln_totals(gate, largest, totals, &self.design.weights()[range.clone()]);
        let of_joint = ln_totals(joint, largest, totals, &self.design.weights()[range]);
        for (k, joint) in joint.chunks_exact(rows).enumerate() {
            for (r, value) in joint.iter().enumerate() {
                out[r * self.count + k] = *value;
            }
        }
        of_joint - of_gate
    }
}

/// The weighted sum over rows of the logarithm of their sum of exponentials; each row becomes its shares of that sum.
fn ln_totals(columns: &mut [f64], largest: &mut [f64], totals: &mut [f64], weights: &[f64]) -> f64 {
    largest_in_rows(columns, largest);
    exp_and_sum_rows(columns, largest, totals);
    divide_rows(columns, totals);
    bulk::ln_in_place(totals);
    bulk::dot(weights, largest) + bulk::dot(weights, totals)
}
