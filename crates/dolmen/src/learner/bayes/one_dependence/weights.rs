//! The rules by which roots get their weights, from their evidence or from what they say of rows that are left out.
//!
//! Rows of groups are left out by folds, drawn by a hash, so that a fit in passes knows the fold of a row without the others.

use rayon::prelude::*;

use super::learners::Counted;
use super::mixing::{Desk, total};
use crate::error::Result;
use crate::learner::Sample;
use crate::learner::chosen::Chosen;
use crate::math::{first_largest, log_sum_exp};
use crate::plan::{Folds, Lot};
use crate::run::Run;
use crate::solver::simplex::{JointScore, LmgOptions, LogScore, SimplexOptions};
use crate::target::Labels;
use crate::task::Task;

/// Of each row, root after root, what is counted for it without the rows left out.
type OwnAndAll = Vec<Vec<(f64, f64)>>;

/// Rows left out in one piece of work.
const BLOCK: usize = 512;

/// Folds of rows with groups or times, which are not left out one by one.
const FOLDS: usize = 10;

/// How rows are left out.
pub(super) enum LeaveOut {
    /// One by one.
    Single,
    /// Together with all of their fold.
    Folds(Folds),
    /// Rows with keys that make no two folds.
    Impossible,
}

/// What draws the folds of groups.
pub(super) fn group_lot(run: &Run) -> Lot {
    Lot::new(FOLDS, run)
}

impl LeaveOut {
    /// The way that suits the keys of the rows.
    pub(super) fn of<T: Task>(sample: &Sample<'_, T>, run: &Run) -> Self {
        if !sample.keys().bind() {
            return Self::Single;
        }
        let all = Chosen::All(sample.rows());
        let folds = match sample.times() {
            Some(_) => sample.folds_among(all, FOLDS, run).ok(),
            None => group_lot(run).among(&sample.keys(), 0..sample.rows()),
        };
        folds.map_or(Self::Impossible, Self::Folds)
    }
}

/// What every root says about rows that it has not counted.
struct LeftOut {
    own: Vec<Vec<f64>>,
    all: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

impl Counted {
    pub(super) fn equal_weights(&self) -> Vec<f64> {
        let roots = self.tables.layout().attributes();
        vec![1.0 / roots as f64; roots]
    }

    /// Weights proportional to the evidence of each root.
    pub(super) fn evidence_weights(&self, notes: &mut Vec<String>) -> Vec<f64> {
        let evidence = self.tables.log_evidence();
        let total = log_sum_exp(&evidence);
        let weights: Vec<f64> = evidence.iter().map(|log| (log - total).exp()).collect();
        let best = first_largest(&weights);
        if weights[best] > 0.99 {
            let name = self.discretiser.names().nth(best).unwrap_or_default();
            notes.push(format!("Bayesian averaging has selected the root '{name}'"));
        }
        weights
    }

    /// For some rows and every root ln p_u(c_i, x_i) and ln p_u(x_i), as if the row had not been counted, which it is unless it is said
    /// that it is not.
    pub(super) fn left_out<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        rows: impl ExactSizeIterator<Item = usize>,
        are_counted: bool,
    ) -> Vec<(f64, f64)> {
        let layout = self.tables.layout();
        let (mut slots, mut desk) = (vec![None; layout.attributes()], Desk::default());
        let mut found = Vec::with_capacity(rows.len() * layout.attributes());
        for i in rows {
            self.discretiser.read(layout, sample.x().row(i), &mut slots);
            let class = sample.target().class(i);
            let counted = if are_counted { sample.weight(i) } else { 0.0 };
            desk.put_roots_without(&self.tables, &slots, (class, counted));
            let (scale, joints) = desk.joints(layout.classes());
            let logs = |joint: &[f64]| (scale.ln(joint[class]), scale.ln(total(scale, joint)));
            found.extend(joints.map(logs));
        }
        found
    }

    /// The rows of folds, in their order, with the same as if nothing of their fold, nor anything later, had been counted:
    /// leaving out single rows would count the rest of their groups.
    fn folds_left_out<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        folds: &Folds,
    ) -> (Vec<usize>, OwnAndAll) {
        let fold = |fold: usize| {
            let train = sample.select(folds.learned_from(fold).collect::<Vec<usize>>());
            let others = self.discretiser.count(self.tables.layout(), &train.borrow());
            let held_out: Vec<usize> = folds.held_out(fold).collect();
            let others = Self::new(self.discretiser.clone(), others, None);
            others.left_out(sample, held_out.into_iter(), false)
        };
        let rows = (0..folds.len()).flat_map(|fold| folds.held_out(fold)).collect();
        (rows, (0..folds.len()).into_par_iter().map(fold).collect())
    }

    /// The rows that are predicted without having been counted; for every root a column of log p_u(c_i, x_i), and one of
    /// log p_u(x_i). None where rows with keys cannot be split.
    fn left_out_columns<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        leave_out: &LeaveOut,
    ) -> Option<LeftOut> {
        let roots = self.tables.layout().attributes();
        let (rows, blocks) = match leave_out {
            LeaveOut::Impossible => return None,
            LeaveOut::Folds(folds) => self.folds_left_out(sample, folds),
            LeaveOut::Single => {
                let block = |b: usize| b * BLOCK..((b + 1) * BLOCK).min(sample.rows());
                let blocks = (0..sample.rows().div_ceil(BLOCK)).into_par_iter();
                let found = blocks.map(|b| self.left_out(sample, block(b), true)).collect();
                ((0..sample.rows()).collect(), found)
            }
        };
        let weights = sample.weights().map(|all| rows.iter().map(|&i| all[i]).collect());
        let root = |u: usize| blocks.iter().flat_map(move |block| block[u..].iter().step_by(roots));
        let own = |u: usize| root(u).map(|(own, _)| *own).collect();
        let all = |u: usize| root(u).map(|(_, all)| *all).collect();
        let (own, all) = ((0..roots).map(own).collect(), (0..roots).map(all).collect());
        Some(LeftOut { own, all, weights })
    }

    pub(super) fn posterior_weights<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        leave_out: &LeaveOut,
        prior: f64,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let Some(left_out) = run.install(|| self.left_out_columns(sample, leave_out)) else {
            return Ok(self.equal_weights());
        };
        let LeftOut { mut own, all, weights } = left_out;
        for (own, all) in own.iter_mut().zip(&all) {
            own.iter_mut().zip(all).for_each(|(own, all)| *own -= all);
        }
        let roots = own.len();
        let problem = LogScore::from_log(own)?;
        let problem = match &weights {
            Some(weights) => problem.weighted(weights)?,
            None => problem,
        };
        let problem = problem.with_prior(&vec![prior + 1.0; roots])?;
        Ok(problem.solve(&SimplexOptions::default(), run)?.weights)
    }

    pub(super) fn joint_weights<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        leave_out: &LeaveOut,
        prior: f64,
        notes: &mut Vec<String>,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let Some(left_out) = run.install(|| self.left_out_columns(sample, leave_out)) else {
            notes.push("the rows cannot be split, so all roots weigh alike".into());
            return Ok(self.equal_weights());
        };
        let LeftOut { own, all, weights } = left_out;
        let roots = own.len();
        let problem = JointScore::from_log(own, all)?;
        let problem = match &weights {
            Some(weights) => problem.weighted(weights)?,
            None => problem,
        };
        let problem = problem.with_prior(&vec![prior + 1.0; roots])?;
        let solution = problem.solve(&LmgOptions::default(), run)?;
        if !solution.converged {
            notes.push(format!("the weights' KKT residual is {:.1e}", solution.residual));
        }
        Ok(solution.weights)
    }
}
