//! Weights on the simplex that maximise the log score: stacking of densities and LMD mixtures of classifiers.
//!
//! maximise  sum_i w_i ln sum_m alpha_m L\[i,m\]  +  sum_m (a_m - 1) ln alpha_m     over the simplex
//! [SmythWolpert1999 section 2.3; CerquidesMantaras2005 section 3]
//!
//! L\[i,m\] is what member m gave to row i (a density, or the probability of the true class) when it had not seen it, w the
//! row weights, a the exponents of a Dirichlet prior (none: a = 1). The problem is concave. [`LogScore::solve`] finds
//! its maximum with a certificate; [`LogScore::em`] is the papers' EM with their stopping rule.
//!
//! Everything is kept relative to each row's largest L, so densities of 1e-400 and 1e+300 both survive. What is so far below
//! the largest that it vanishes beside it is no matter to the optimum; its logarithm is kept apart (`Depths`), for scores
//! of members alone and for problems without the row's best member. A row to which every member gives zero carries no
//! information on alpha: it is counted and left out.

mod ascent;
mod barrier;
mod depths;
mod em;
mod exact;
mod hard;
mod joint;
mod logs;
mod newton;
mod pass;
mod streamed;

use std::ops::Range;

use rayon::prelude::*;

pub use em::EmOptions;
pub use exact::SimplexOptions;
pub use joint::{JointScore, JointSolution, LmgOptions};
pub use streamed::StreamedScore;

use super::Solution;
use super::problem::{self, WeightProblem};
use crate::error::{Error, Place, Result};
use crate::math::{Gram, bulk, log_sum_exp, weighted_mean};
use crate::run::Run;
use depths::Depths;
use pass::{BLOCK, View};

/// Beside the row's largest value, one below which the square would soon vanish.
const FAINT: f64 = 1e-100;

/// A mixture, relative to the row's largest value, below which terms of it may have been lost.
const DIM: f64 = 1e-280;

/// The members' log scores, ready for solving.
#[derive(Debug, Clone)]
pub struct LogScore {
    /// One column per member: L\[i,m\] divided by the row's largest.
    columns: Vec<Vec<f64>>,
    /// The logarithm of each row's largest L; `-inf` for rows without information.
    shift: Vec<f64>,
    /// Row weights, summing to 1; 0 for rows without information.
    weights: Vec<f64>,
    /// (a_m - 1) in units of the total row weight.
    prior: Vec<f64>,
    /// The row weights' sum before they were divided by it.
    total_weight: f64,
    uninformative_rows: usize,
    /// Whether no value is zero.
    positive: bool,
    /// What became zero beside the row's largest.
    depths: Depths,
}

impl LogScore {
    /// From columns of ln L, one per member. They are converted in place: no second matrix is made.
    pub fn from_log(columns: Vec<Vec<f64>>) -> Result<Self> {
        Self::build(columns, Given::Logarithms)
    }

    /// From columns of L, one per member: not negative.
    pub fn from_likelihood(columns: Vec<Vec<f64>>) -> Result<Self> {
        Self::build(columns, Given::Likelihoods)
    }

    /// Checks and converts block by block, so that the matrix passes through the cache once.
    fn build(mut columns: Vec<Vec<f64>>, given: Given) -> Result<Self> {
        let rows = columns.first().map_or(0, Vec::len);
        if rows == 0 {
            return Err(Error::shape("rows and members to combine", 1, 0));
        }
        if let Some(other) = columns.iter().find(|c| c.len() != rows) {
            return Err(Error::shape("rows of a member's column", rows, other.len()));
        }
        let mut shift = vec![0.0; rows];
        let mut blocks: Vec<Vec<&mut [f64]>> =
            (0..rows.div_ceil(BLOCK)).map(|_| Vec::new()).collect();
        for column in &mut columns {
            blocks.iter_mut().zip(column.chunks_mut(BLOCK)).for_each(|(b, c)| b.push(c));
        }
        let converted: Vec<Option<Converted>> = blocks
            .par_iter_mut()
            .zip(shift.par_chunks_mut(BLOCK))
            .map(|(block, shift)| given.convert(block, shift))
            .collect();
        drop(blocks);
        if converted.contains(&None) {
            return Err(first_invalid(&columns, &converted, &given.valid()));
        }
        let converted: Vec<Converted> = converted.into_iter().flatten().collect();
        let members = columns.len();
        let problem = Self {
            columns,
            shift,
            weights: vec![1.0; rows],
            prior: vec![0.0; members],
            total_weight: 0.0,
            uninformative_rows: 0,
            positive: converted.iter().all(|block| block.positive),
            depths: Depths::new(converted.into_iter().map(|block| block.vanished).collect()),
        };
        problem.normalised()
    }

    /// The same problem with row weights: finite, not negative.
    pub fn weighted(mut self, weights: &[f64]) -> Result<Self> {
        if weights.len() != self.rows() {
            return Err(Error::shape("row weights", self.rows(), weights.len()));
        }
        if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let problem = format!("the row weight is {}, not a number of at least 0", weights[i]);
            return Err(Error::data(Place::row(i), problem));
        }
        self.weights.copy_from_slice(weights);
        self.normalised()
    }

    /// The same problem with a Dirichlet prior: exponents `a` of at least 1 (CerquidesMantaras2005 uses 2).
    pub fn with_prior(mut self, a: &[f64]) -> Result<Self> {
        if a.len() != self.members() {
            return Err(Error::shape("prior exponents", self.members(), a.len()));
        }
        if let Some(bad) = a.iter().find(|a| !(a.is_finite() && **a >= 1.0)) {
            return Err(Error::param("a prior exponent", "at least 1", bad));
        }
        let unit = self.total_weight.max(f64::MIN_POSITIVE);
        self.prior = a.iter().map(|a| (a - 1.0) / unit).collect();
        Ok(self)
    }

    /// Removes the weight of rows without information and makes the rest sum to 1. Some must be left.
    fn normalised(mut self) -> Result<Self> {
        for (shift, weight) in self.shift.iter().zip(&mut self.weights) {
            if *shift == f64::NEG_INFINITY {
                *weight = 0.0;
            }
        }
        self.uninformative_rows = self.shift.iter().filter(|s| **s == f64::NEG_INFINITY).count();
        let total: f64 = self.weights.iter().sum();
        if total <= 0.0 {
            let problem = "no member gives any row more than nothing (all values are 0, or -inf as logarithms): there is nothing to weigh members by";
            return Err(Error::data(Place::default(), problem));
        }
        self.weights.iter_mut().for_each(|w| *w /= total);
        self.total_weight = total;
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.shift.len()
    }

    /// The exact solution.
    pub fn solve(&self, options: &SimplexOptions, run: &Run) -> Result<Solution> {
        options.validate()?;
        Ok(self.report(run.install(|| exact::solve(&self.view(), options)), &self.weights))
    }

    /// The papers' EM.
    pub fn em(&self, options: &EmOptions, run: &Run) -> Result<Solution> {
        options.validate()?;
        Ok(self.report(run.install(|| em::solve(&self.view(), options)), &self.weights))
    }

    /// The optimum among some of the members where in some row the best of them lies far below the row's best: that row is
    /// put on the scale of those that are left. `None` if there is no such row.
    fn without_the_best(
        &self,
        shares: &[f64],
        start: &[f64],
        allowed: &[usize],
    ) -> Option<Solution> {
        if self.depths.is_empty() || allowed.len() == self.columns.len() {
            return None;
        }
        let mut largest = vec![0.0; self.rows()];
        allowed.iter().for_each(|&m| bulk::max_in_place(&mut largest, &self.columns[m]));
        let sunken = |i: usize| shares[i] > 0.0 && largest[i] < FAINT;
        if !(0..self.rows()).any(sunken) {
            return None;
        }
        let only = |m: usize| self.row_scores(&problem::unit(self.columns.len(), m));
        let columns: Vec<Vec<f64>> = allowed.iter().map(|&m| only(m)).collect();
        let rest = Self::from_log(columns).ok()?.weighted(shares).ok()?;
        let rest = Self { prior: allowed.iter().map(|&m| self.prior[m]).collect(), ..rest };
        let own: Vec<usize> = (0..allowed.len()).collect();
        let own_start: Vec<f64> = allowed.iter().map(|&m| start[m]).collect();
        let mut found = rest.optimum(&rest.weights, &own_start, &own);
        if rest.uninformative_rows > self.uninformative_rows {
            found.score = f64::NEG_INFINITY;
        }
        let mut weights = vec![0.0; self.columns.len()];
        allowed.iter().zip(&found.weights).for_each(|(&m, w)| weights[m] = *w);
        Some(Solution { weights, uninformative_rows: self.uninformative_rows, ..found })
    }

    /// The mean of the logarithms of the rows' largest values.
    fn shift_mean(&self) -> f64 {
        weighted_mean(&self.shift, &self.weights)
    }

    fn view(&self) -> View<'_> {
        View {
            columns: &self.columns,
            weights: &self.weights,
            prior: &self.prior,
            positive: self.positive,
        }
    }

    /// The solution for these shares of the rows, in the units of the scores that were given.
    fn report(&self, found: exact::Found, shares: &[f64]) -> Solution {
        let shift = weighted_mean(&self.shift, shares);
        Solution {
            score: found.objective + shift,
            weights: found.weights,
            gap: found.gap,
            iterations: found.iterations,
            uninformative_rows: self.uninformative_rows,
            converged: found.converged,
        }
    }
}

/// What a matrix is given as.
#[derive(Clone, Copy)]
enum Given {
    Logarithms,
    Likelihoods,
}

/// What is known of a block after it was made relative to its rows' largest values.
#[derive(Clone, PartialEq)]
struct Converted {
    /// Whether no value is zero.
    positive: bool,
    vanished: depths::Block,
}

impl Given {
    fn valid(self) -> Range<f64> {
        match self {
            Self::Logarithms => f64::NEG_INFINITY..f64::INFINITY,
            Self::Likelihoods => 0.0..f64::INFINITY,
        }
    }

    /// Makes a block relative to its rows' largest values, whose logarithms become the shift; `None` if a value is not valid.
    fn convert(self, block: &mut [&mut [f64]], shift: &mut [f64]) -> Option<Converted> {
        if !block.iter().all(|column| bulk::all_within(column, &self.valid())) {
            return None;
        }
        shift.fill(self.valid().start);
        block.iter().for_each(|column| bulk::max_in_place(shift, column));
        // A row of nothing but zeros must stay one, and not become one of NaN.
        let least = if matches!(self, Self::Logarithms) { f64::MIN } else { f64::MIN_POSITIVE };
        let scale: Vec<f64> = shift.iter().map(|s| s.max(least)).collect();
        let positive = f64::MIN_POSITIVE..f64::INFINITY;
        let mut before = vec![0.0; shift.len()];
        let mut found = Converted { positive: true, vanished: Vec::new() };
        for (m, column) in block.iter_mut().enumerate() {
            before.copy_from_slice(column);
            match self {
                Self::Logarithms => bulk::exp_shifted_in_place(column, &scale),
                Self::Likelihoods => column.iter_mut().zip(&scale).for_each(|(v, s)| *v /= s),
            }
            if !bulk::all_within(column, &positive) {
                found.positive = false;
                match self {
                    Self::Logarithms => {}
                    Self::Likelihoods => bulk::ln_in_place(&mut before),
                }
                depths::find(&mut found.vanished, m, column, &before);
            }
        }
        if matches!(self, Self::Likelihoods) {
            bulk::ln_in_place(shift);
        }
        Some(found)
    }
}

/// The error that names the first invalid value, by member; it lies in one of the blocks that were not converted.
fn first_invalid<B>(columns: &[Vec<f64>], converted: &[Option<B>], valid: &Range<f64>) -> Error {
    let untouched = |i: &usize| converted[i / BLOCK].is_none();
    for (m, column) in columns.iter().enumerate() {
        if let Some(i) = (0..column.len()).filter(untouched).find(|i| !valid.contains(&column[*i]))
        {
            let problem = match column[i] {
                value if value < 0.0 => format!("a likelihood is {value}, less than 0"),
                value => format!("the value is {value}"),
            };
            return Error::data(Place::row(i), format!("member {}: {problem}", m + 1));
        }
    }
    Error::data(Place::default(), "a value is not valid")
}

impl WeightProblem for LogScore {
    fn members(&self) -> usize {
        self.columns.len()
    }

    fn shares(&self) -> &[f64] {
        &self.weights
    }

    /// ln sum_m weights_m L\[i,m\]; `-inf` where that is zero and for rows without information.
    fn row_scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = self.view().mixture(weights);
        // A small weight times a small value is less than a double holds: such rows are added up as logarithms.
        let dim = |i: &usize| scores[*i] < DIM && self.shift[*i] > f64::NEG_INFINITY;
        let dim: Vec<usize> = (0..scores.len()).filter(dim).collect();
        scores.par_chunks_mut(BLOCK).for_each(bulk::ln_in_place);
        for i in dim {
            let held = (0..weights.len()).filter(|&m| weights[m] > 0.0);
            let terms = held.map(|m| weights[m].ln() + self.columns[m][i].ln());
            scores[i] = log_sum_exp(&terms.collect::<Vec<f64>>());
        }
        scores.iter_mut().zip(&self.shift).for_each(|(score, shift)| *score += shift);
        self.depths.lift(&mut scores, weights);
        scores
    }

    fn optimum(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        if let Some(found) = self.without_the_best(shares, start, allowed) {
            return found;
        }
        let view = View { weights: shares, ..self.view() };
        let found = exact::solve_from(&view, &SimplexOptions::default(), start, allowed);
        self.report(found, shares)
    }

    fn sandwich(&self, weights: &[f64], support: &[usize]) -> (Gram, Gram) {
        let mixture = self.view().mixture(weights);
        let relative = |m: usize, i: usize| self.columns[m][i] / mixture[i].max(f64::MIN_POSITIVE);
        let curvature = self.view().moments(weights, support, Some(support.len())).curvature;
        let spread = Gram::over_rows(self.rows(), support.len(), |j, i| {
            if self.weights[i] > 0.0 {
                (relative(support[j], i) - 1.0) * self.weights[i]
            } else {
                0.0
            }
        });
        (curvature.unwrap_or(Gram::zero(support.len())), spread)
    }

    fn with_equal_prior(self, a: f64) -> Result<Self> {
        let members = self.members();
        self.with_prior(&vec![a; members])
    }

    fn as_log_score(&self) -> Option<&LogScore> {
        Some(self)
    }
}
