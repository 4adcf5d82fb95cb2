//! Gaussian mixtures fitted by MAP-EM (OrmoneitTresp1995, eq. 1-7).
//!
//! | file | holds |
//! | --- | --- |
//! | `prior` | the prior, its M-step and its part of the log posterior |
//! | `start`, `kmeans` | where EM starts |
//! | `em` | the loop, and the best of several starts |
//! | `pass`, `block`, `expect`, `moments` | the fused E+M pass over the rows |
//! | `data`, `missing` | the rows as the fit sees them, and what to do about values that are not there |
//! | `normals`, `model` | the components and the fitted density |

mod block;
mod data;
mod em;
mod expect;
mod kmeans;
mod missing;
mod model;
mod moments;
mod normals;
mod parameters;
mod pass;
mod prior;
mod start;
#[cfg(test)]
mod tests;

pub use model::FittedMixture;
pub use parameters::{GaussianMixture, OneOrMany, Schedule};
pub use prior::Covariance;
pub use start::{Given, Start};

pub(crate) use data::Data;
pub(crate) use em::{Stop, climb};
pub(crate) use model::singular;
pub(crate) use prior::Prior;
pub(crate) use start::overall;

use rayon::prelude::*;

use super::super::{Fitted, Learner, Sample, SelectedSample};
use crate::error::{Error, Place, Result};
use crate::run::Run;
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
        let fitted: Vec<Result<FittedMixture>> = run.install(|| {
            let data = Data::new(sample, self.standardise)?;
            let validation = match self.beta.values() {
                [_] => None,
                _ => Some(Validation::new(sample, self.validation, run)?),
            };
            let fit = |&k: &usize| {
                let run = run.child(k as u64);
                self.fit_rung(k, &data, validation.as_ref(), &run).map_err(|error| match error {
                    Error::Cancelled => error,
                    _ => Error::Member {
                        member: self.member_name(k),
                        split: None,
                        source: Box::new(error),
                    },
                })
            };
            Ok::<_, Error>(rungs.par_iter().map(fit).collect())
        })?;
        fitted.into_iter().collect()
    }

    /// Fits one member, with the best beta if there are several.
    fn fit_rung(
        &self,
        components: usize,
        data: &Data<'_>,
        validation: Option<&Validation>,
        run: &Run,
    ) -> Result<FittedMixture> {
        let (beta, notes) = match validation {
            None => (self.beta.values()[0], Vec::new()),
            Some(validation) => self.choose_beta(components, validation, run)?,
        };
        let mut model = self.fit_beta(components, beta, data, run)?;
        model.add_notes(notes);
        Ok(model)
    }

    /// Fits one member with one beta.
    fn fit_beta(
        &self,
        components: usize,
        beta: f64,
        data: &Data<'_>,
        run: &Run,
    ) -> Result<FittedMixture> {
        let rows = data.rows_that_count();
        if rows < components {
            let problem =
                format!("{components} components need {components} rows, there are {rows}");
            return Err(Error::data(Place::default(), problem).with_hint("use fewer components"));
        }
        let prior = self.prior(data, beta)?;
        let (starts, stop) = self.plan();
        let climb = em::best_of(data, &prior, components, &starts, stop, run)?;
        FittedMixture::new(data.units.clone(), climb.normals, climb.diagnostics)
            .map_err(model::singular)
    }

    /// The beta of highest mean log density on the validation rows, the first of equals; a beta whose fit fails is noted.
    fn choose_beta(
        &self,
        components: usize,
        validation: &Validation,
        run: &Run,
    ) -> Result<(f64, Vec<String>)> {
        let train = validation.train.borrow();
        let data = Data::new(&train, self.standardise)?;
        let score = |&beta: &f64| {
            let model = self.fit_beta(components, beta, &data, run)?;
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
