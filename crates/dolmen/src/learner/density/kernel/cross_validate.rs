//! Out-of-sample densities of all bandwidths and all folds together.
//!
//! The density of row i without its fold v is a sum over the rows of the other folds. All rows are put in order once; for
//! fold v its rows get weight 0, and the rows of the fold are evaluated at every bandwidth together: differences are
//! formed once for a ladder, and the cost does not grow with the number of folds. What is computed is exactly what
//! refitting fold by fold gives; plans whose splits do not learn from all other rows are refitted.

use rayon::prelude::*;

use super::bandwidth::{Bandwidth, Rule, Training, Widths};
use super::evaluate::{self, Kernels, Shortcut};
use super::points::Points;
use super::tree::PairSums;
use super::{KernelDensity, Scale, check_rows, models, weighted_rows};
use crate::error::{Error, Result};
use crate::learner::Block;
use crate::learner::{self, Diagnostics, Fitted, Learner, Sample};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::task::Density;

/// Rows evaluated in one piece of work.
const PIECE: usize = 256;

/// The out-of-sample densities of a learner's members.
pub(super) fn out_of_sample(
    learner: &KernelDensity,
    sample: &Sample<'_, Density>,
    plan: &Plan,
    run: &Run,
) -> Result<Block> {
    if learner.scale == Scale::Sample && sample.times().is_some() {
        let expected = "'training' where rows have times: later rows would have a say";
        return Err(Error::param("scale", expected, "'sample'"));
    }
    let usable = plan.rows() == sample.rows() && check_rows(sample.x()).is_ok();
    if !usable {
        return learner::refit(learner, sample, plan, run);
    }
    let fixed = match learner.scale {
        Scale::Sample => Some(FixedBandwidths::of(learner, sample, run)?),
        Scale::Training => None,
    };
    let searches = matches!(learner.bandwidth, Bandwidth::Rule(Rule::Cv | Rule::Loo));
    let shares = plan.splits().iter().all(Split::learns_from_all_others);
    match &fixed {
        Some(_) if shares => Pass::new(learner, sample, plan, fixed, run)?.run(run),
        None if shares && !searches => Pass::new(learner, sample, plan, None, run)?.run(run),
        Some(fixed) => learner::refit(fixed, sample, plan, run),
        None => learner::refit(learner, sample, plan, run),
    }
}

/// The learner with bandwidths that no longer depend on the rows it is fitted to.
#[derive(Debug)]
struct FixedBandwidths {
    learner: KernelDensity,
    widths: Widths,
}

impl FixedBandwidths {
    fn of(learner: &KernelDensity, sample: &Sample<'_, Density>, run: &Run) -> Result<Self> {
        let rows = weighted_rows(sample)?;
        let training = Training::new(sample, &rows);
        let (widths, _) = run.install(|| learner.widths(&training, run))?;
        let learner = learner.clone();
        Ok(Self { learner, widths })
    }
}

impl Learner<Density> for FixedBandwidths {
    fn members(&self) -> Vec<String> {
        self.learner.members()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Density>>>> {
        let rows = weighted_rows(sample)?;
        let training = Training::new(sample, &rows);
        let KernelDensity { shape, tolerance, .. } = self.learner;
        let found = Diagnostics::default();
        let models = run.install(|| models(shape, tolerance, &training, &self.widths, &found));
        Ok(models.into_iter().map(|model| Box::new(model) as _).collect())
    }
}

/// One pass over the rows.
struct Pass<'a> {
    learner: &'a KernelDensity,
    sample: &'a Sample<'a, Density>,
    /// Its splits learn from all rows that they do not hold out.
    plan: &'a Plan,
    fixed: Option<FixedBandwidths>,
    points: Points,
    /// The rows as they stand in `points`.
    order: Vec<usize>,
}

impl<'a> Pass<'a> {
    fn new(
        learner: &'a KernelDensity,
        sample: &'a Sample<'a, Density>,
        plan: &'a Plan,
        fixed: Option<FixedBandwidths>,
        run: &Run,
    ) -> Result<Self> {
        let rows = weighted_rows(sample)?;
        let training = Training::new(sample, &rows);
        let scale = match &fixed {
            Some(fixed) => fixed.widths.scale.clone(),
            // Only the order of the rows depends on it.
            None => {
                training.standard_deviations().unwrap_or_else(|_| vec![1.0; sample.x().width()])
            }
        };
        let (points, order) = run.install(|| training.points(&scale));
        let order = order.into_iter().map(|i| rows[i]).collect();
        Ok(Self { learner, sample, plan, fixed, points, order })
    }

    fn run(&self, run: &Run) -> Result<Block> {
        let names = self.learner.members();
        let splits = self.plan.splits();
        let predicted: Vec<Result<Vec<f64>>> = run.map(splits.len(), |v| {
            run.check()?;
            let fold = |run: &Run| self.fold(splits[v].test(), run);
            run.child(self.plan.number(v)).step(&names[0], fold)
        });
        let mut block = Block { splits: Vec::new(), failures: Vec::new() };
        for (split, predicted) in predicted.into_iter().enumerate() {
            match predicted {
                Ok(values) => {
                    let member = |m| values.iter().skip(m).step_by(names.len()).copied().collect();
                    block.splits.push((0..names.len()).map(member).collect());
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => block.fail(names.len(), split, &error),
            }
        }
        Ok(block)
    }

    /// The densities of held-out rows without them: one value per member, row after row.
    fn fold(&self, held_out: &[usize], run: &Run) -> Result<Vec<f64>> {
        let mut is_held_out = vec![false; self.sample.rows()];
        held_out.iter().for_each(|&i| is_held_out[i] = true);
        let learned = |i: &usize| !is_held_out[*i] && self.sample.weight(*i) > 0.0;
        let rows: Vec<usize> = (0..self.sample.rows()).filter(learned).collect();
        if rows.is_empty() {
            return Err(super::no_rows());
        }
        let training = Training::new(self.sample, &rows);
        let widths = match &self.fixed {
            Some(fixed) => fixed.widths.clone(),
            None => self.learner.widths(&training, run)?.0,
        };
        let total = training.total_weight();
        let weight = |i: &usize| {
            if learned(i) { training.weight(*i) / total } else { 0.0 }
        };
        let weights: Vec<f64> = self.order.iter().map(weight).collect();
        let kernels = Kernels {
            points: &self.points,
            weights: &weights,
            shape: self.learner.shape,
            tolerance: self.learner.tolerance,
        };
        let ladder = Ladder::new(kernels, widths, held_out.len());
        let queries = self.sample.x().view(held_out);
        let members = ladder.members();
        let mut out = vec![0.0; held_out.len() * members];
        out.par_chunks_mut(PIECE * members).enumerate().try_for_each(|(piece, out)| {
            run.check()?;
            let first = piece * PIECE;
            let rows = queries.rows().slice(first..first + out.len() / members);
            ladder.log_densities(&rows.values(), out);
            Ok(())
        })?;
        Ok(out)
    }
}

/// Several bandwidths on the same rows: those that have a shortcut take it, the others look at the rows together.
struct Ladder<'a> {
    kernels: Kernels<'a>,
    widths: Widths,
    shortcuts: Vec<Shortcut>,
    /// The members without a shortcut, and their bandwidths.
    plain: Vec<usize>,
    plain_widths: Widths,
}

impl<'a> Ladder<'a> {
    fn new(kernels: Kernels<'a>, widths: Widths, queries: usize) -> Self {
        let shortcut = |m| Shortcut::new(kernels, &widths.of(m).collect::<Vec<f64>>(), queries);
        let shortcuts: Vec<Shortcut> = (0..widths.factors.len()).map(shortcut).collect();
        let plain: Vec<usize> = (0..shortcuts.len()).filter(|&m| shortcuts[m].is_none()).collect();
        let plain_widths = Widths {
            scale: widths.scale.clone(),
            factors: plain.iter().map(|&m| widths.factors[m]).collect(),
        };
        Self { kernels, widths, shortcuts, plain, plain_widths }
    }

    fn members(&self) -> usize {
        self.shortcuts.len()
    }

    /// One value per member, query after query.
    fn log_densities(&self, queries: &[f64], out: &mut [f64]) {
        let members = self.members();
        let rows = out.len() / members;
        let mut values = vec![0.0; rows];
        for (m, shortcut) in self.shortcuts.iter().enumerate().filter(|(_, s)| !s.is_none()) {
            let bandwidth: Vec<f64> = self.widths.of(m).collect();
            evaluate::log_densities(self.kernels, &bandwidth, shortcut, queries, &mut values);
            out.iter_mut()
                .skip(m)
                .step_by(members)
                .zip(&values)
                .for_each(|(out, value)| *out = *value);
        }
        if self.plain.is_empty() {
            return;
        }
        let Kernels { points, weights, shape, tolerance } = self.kernels;
        let mut values = vec![0.0; rows * self.plain.len()];
        PairSums::new(points, weights, shape, &self.plain_widths, tolerance)
            .log_densities(queries, &mut values);
        for (p, &m) in self.plain.iter().enumerate() {
            let member = values.iter().skip(p).step_by(self.plain.len());
            out.iter_mut()
                .skip(m)
                .step_by(members)
                .zip(member)
                .for_each(|(out, value)| *out = *value);
        }
    }
}
