//! The passes of mixtures, and of the single Gaussian.

use serde::{Deserialize, Serialize};

use super::em::Stop;
use super::fitting::{Fitting, FittingStep, FittingSums, From, Wanted, WantedPrior, keyed};
use super::model::{FittedMixture, singular};
use super::parameters::GaussianMixture;
use super::prior::Covariance;
use crate::error::Result;
use crate::learner::density::gaussian::FittedGaussian;
use crate::learner::pass::{Pass, Piece, Step};
use crate::run::Run;
use crate::table::Rows;
use crate::task::Density;

/// Mixtures with several numbers of components on their way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MixturePass(Fitting);

impl MixturePass {
    /// One mixture for each number of components, each with its beta.
    pub(super) fn new(
        mixture: &GaussianMixture,
        betas: &[f64],
        x: Rows<'_>,
        run: &Run,
    ) -> Result<Self> {
        let wanted = |(&components, &beta): (&usize, &f64)| {
            let (starts, stop) = mixture.plan();
            Wanted {
                name: Some(mixture.member_name(components)),
                components,
                prior: WantedPrior::Of(Box::new(mixture.clone()), beta),
                from: From::Starts(keyed(starts, &run.child(components as u64)), stop),
            }
        };
        let wanted = mixture.components.values().iter().zip(betas).map(wanted).collect();
        Fitting::new(x, mixture.standardise, wanted).map(Self)
    }
}

impl Pass<Density> for MixturePass {
    const KIND: &'static str = "mixture";
    type Sums = FittingSums;
    type Model = FittedMixture;

    fn zero(&self) -> FittingSums {
        self.0.zero()
    }

    fn add(&self, sums: &mut FittingSums, piece: &Piece<'_, Density>) -> Result<()> {
        self.0.add(sums, piece);
        Ok(())
    }

    fn left(&self) -> usize {
        self.0.left()
    }

    fn merge(&self, sums: &mut FittingSums, later: FittingSums) {
        Fitting::merge(sums, later);
    }

    fn next(self, sums: FittingSums) -> Result<Step<Self, FittedMixture>> {
        Ok(match self.0.next(sums)? {
            FittingStep::Again(fitting) => Step::Again(Self(fitting)),
            FittingStep::Done(units, climbs) => {
                let model = |climb: super::em::Climb| {
                    FittedMixture::new(units.clone(), climb.normals, climb.diagnostics)
                        .map_err(singular)
                };
                Step::Done(climbs.into_iter().map(model).collect::<Result<_>>()?)
            }
        })
    }
}

/// One Gaussian on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GaussianPass(Fitting);

impl GaussianPass {
    /// One component, by maximum likelihood if `beta` is 0; EM runs so long if values are missing.
    pub(crate) fn new(
        covariance: Covariance,
        beta: f64,
        standardise: bool,
        with_missing: Stop,
        x: Rows<'_>,
    ) -> Result<Self> {
        let wanted = Wanted {
            name: None,
            components: 1,
            prior: WantedPrior::Neutral(covariance, beta),
            from: From::Overall { with_missing },
        };
        Fitting::new(x, standardise, vec![wanted]).map(Self)
    }
}

impl Pass<Density> for GaussianPass {
    const KIND: &'static str = "gaussian";
    type Sums = FittingSums;
    type Model = FittedGaussian;

    fn zero(&self) -> FittingSums {
        self.0.zero()
    }

    fn add(&self, sums: &mut FittingSums, piece: &Piece<'_, Density>) -> Result<()> {
        self.0.add(sums, piece);
        Ok(())
    }

    fn left(&self) -> usize {
        self.0.left()
    }

    fn merge(&self, sums: &mut FittingSums, later: FittingSums) {
        Fitting::merge(sums, later);
    }

    fn next(self, sums: FittingSums) -> Result<Step<Self, FittedGaussian>> {
        Ok(match self.0.next(sums)? {
            FittingStep::Again(fitting) => Step::Again(Self(fitting)),
            FittingStep::Done(units, climbs) => {
                let model = |climb: super::em::Climb| {
                    let mut diagnostics = climb.diagnostics;
                    // Without missing values there is nothing to iterate.
                    diagnostics.iterations = diagnostics.iterations.filter(|n| *n > 0);
                    let mixture = FittedMixture::new(units.clone(), climb.normals, diagnostics);
                    mixture.map(FittedGaussian::new).map_err(singular)
                };
                Step::Done(climbs.into_iter().map(model).collect::<Result<_>>()?)
            }
        })
    }
}
