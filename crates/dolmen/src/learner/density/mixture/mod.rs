//! Gaussian mixtures fitted by MAP-EM (OrmoneitTresp1995, eq. 1-7).
//!
//! | file | holds |
//! | --- | --- |
//! | `prior` | the prior, its M-step and its part of the log posterior |
//! | `start`, `kmeans` | where EM starts |
//! | `em` | the way from one start, pass by pass |
//! | `fitting`, `passes` | all starts of all members in the same passes |
//! | `pass`, `block`, `expect`, `moments` | the fused E+M pass over the rows |
//! | `describe`, `data`, `missing` | the rows as the fit sees them, and what to do about values that are not there |
//! | `normals`, `model` | the components and the fitted density |

mod block;
mod data;
mod describe;
mod em;
mod expect;
mod fitting;
mod kmeans;
mod missing;
mod model;
mod moments;
mod normals;
mod parameters;
mod pass;
mod passes;
mod prior;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use data::{Data, Frame, Units};
pub use model::FittedMixture;
pub(crate) use model::check_columns;
pub use parameters::{GaussianMixture, OneOrMany, Schedule};
pub(crate) use passes::{GaussianPass, MixturePass};
pub use prior::Covariance;
pub(crate) use start::clusters;
pub use start::{Given, Start};

pub(crate) use em::Stop;

use rayon::prelude::*;

use super::super::{Fitted, Learner, Sample, SelectedSample};
use crate::error::{Error, Place, Result};
use crate::learner::pass::{AnyPass, fit_in_passes};
use crate::run::Run;
use crate::table::Rows;
use crate::task::Density;

impl Learner<Density> for GaussianMixture {
    fn members(&self) -> Vec<String> {
        self.components.values().iter().map(|&k| self.member_name(k)).collect()
    }

    fn fit(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Density>>>> {
        let models = self.fit_mixtures(sample, run)?;
        Ok(models.into_iter().map(|model| Box::new(model) as _).collect())
    }

    /// A beta that is chosen needs rows held out.
    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<Density>>>> {
        let [beta] = self.beta.values() else { return None };
        let betas = vec![*beta; self.components.values().len()];
        let pass = self.validate().and_then(|()| MixturePass::new(self, &betas, x, run));
        Some(pass.map(<dyn AnyPass<Density>>::of))
    }
}

impl GaussianMixture {
    /// Fits one mixture per number of components.
    pub fn fit_mixtures(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<FittedMixture>> {
        self.validate()?;
        let rungs = self.components.values();
        let (betas, notes): (Vec<f64>, Vec<Vec<String>>) = if let [beta] = self.beta.values() {
            (vec![*beta; rungs.len()], vec![Vec::new(); rungs.len()])
        } else {
            let validation = Validation::new(sample, self.validation, run)?;
            let choose = |&k: &usize| {
                self.choose_beta(k, &validation, run)
                    .map_err(|error| of_member(self.member_name(k), error))
            };
            let chosen: Vec<Result<(f64, Vec<String>)>> =
                run.install(|| rungs.par_iter().map(choose).collect());
            chosen.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip()
        };
        let pass = MixturePass::new(self, &betas, sample.x(), run)?;
        let mut models = fit_in_passes(pass, sample, run)?;
        models.iter_mut().zip(notes).for_each(|(model, notes)| model.add_notes(notes));
        Ok(models)
    }

    /// Fits one member with one beta.
    fn fit_beta(
        &self,
        components: usize,
        beta: f64,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<FittedMixture> {
        let alone = Self { components: OneOrMany::One(components), ..self.clone() };
        let pass = MixturePass::new(&alone, &[beta], sample.x(), run)?;
        let fitted = fit_in_passes(pass, sample, run).map_err(|error| match error {
            Error::Member { source, .. } => *source,
            other => other,
        });
        fitted?.pop().ok_or_else(|| Error::shape("fitted mixtures", 1, 0))
    }

    /// The beta of highest mean log density on the validation rows, the first of equals; a beta whose fit fails is noted.
    fn choose_beta(
        &self,
        components: usize,
        validation: &Validation,
        run: &Run,
    ) -> Result<(f64, Vec<String>)> {
        let train = validation.train.borrow();
        let score = |&beta: &f64| {
            let model = self.fit_beta(components, beta, &train, run)?;
            validation.score(&model)
        };
        let betas = self.beta.values();
        let scores: Vec<Result<f64>> = betas.par_iter().map(score).collect();
        let mut best: Option<(f64, f64)> = None;
        let mut notes = Vec::new();
        let mut failure = None;
        for (&beta, score) in betas.iter().zip(scores) {
            match score {
                Ok(score) if best.is_none_or(|(_, highest)| score > highest) => {
                    best = Some((beta, score));
                }
                Ok(_) => {}
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => {
                    notes.push(format!("beta = {beta} failed: {error}"));
                    failure = Some(error);
                }
            }
        }
        match (best, failure) {
            (Some((beta, score)), _) => {
                notes.insert(
                    0,
                    format!(
                        "beta = {beta} chosen on {} validation rows (mean log density {score:.6})",
                        validation.held_out.borrow().rows()
                    ),
                );
                Ok((beta, notes))
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::param("beta", "at least one value", "none")),
        }
    }
}

/// The failure of one of several members.
fn of_member(member: String, error: Error) -> Error {
    match error {
        Error::Cancelled => error,
        _ => Error::Member { member, split: None, source: Box::new(error) },
    }
}

/// Rows set apart to choose beta.
struct Validation<'a> {
    train: SelectedSample<'a, Density>,
    held_out: SelectedSample<'a, Density>,
}

impl<'a> Validation<'a> {
    /// A share of the rows is held out: at random, as whole groups, or the latest.
    fn new(sample: &Sample<'a, Density>, share: f64, run: &Run) -> Result<Self> {
        let rows = sample.rows();
        if rows < 2 {
            let problem = "choosing beta needs at least 2 rows";
            return Err(Error::data(Place::default(), problem).with_hint("give one beta"));
        }
        let split = sample.hold_out(share, &run.stream("validation"))?;
        let train = sample.select(split.train(rows).into_owned());
        Ok(Self { train, held_out: sample.select(split.test().to_vec()) })
    }

    /// The mean log density of the rows held out.
    fn score(&self, model: &FittedMixture) -> Result<f64> {
        let held_out = self.held_out.borrow();
        let mut ln_p = vec![0.0; held_out.rows()];
        model.predict_into(held_out.x(), &mut ln_p)?;
        let weighted = ln_p.iter().enumerate().map(|(i, p)| held_out.weight(i) * p);
        Ok(weighted.sum::<f64>() / held_out.total_weight())
    }
}
