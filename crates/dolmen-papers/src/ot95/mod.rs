//! Ormoneit and Tresp (1995): mixtures with a prior, and averages of mixtures \[OrmoneitTresp1995\].
//!
//! The text at hand ends in section 4, before the experiments: there are no printed figures to compare with, only claims.

mod averaging;
mod beta;
mod toy;

use dolmen::error::{Error, Result};
use dolmen::learner::density::mixture::{GaussianMixture, OneOrMany};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Rows;
use dolmen::task::Density;

use crate::Experiment;

macro_rules! experiment {
    ($name:literal, $title:literal, $place:literal, $run:path) => {
        Experiment {
            name: $name,
            title: $title,
            source: concat!(
                "Ormoneit and Tresp (1995), Improved Gaussian mixture density estimates using Bayesian penalty terms and network averaging, ",
                $place
            ),
            run: $run,
        }
    };
}

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    experiment!("ot95-fig1", "A mixture without a prior has peaks", "Figure 1", toy::fig1),
    experiment!("ot95-fig2", "The same with a prior", "Figure 2", toy::fig2),
    experiment!("ot95-beta", "How strong a prior: chosen by validation", "section 3", beta::beta),
    experiment!(
        "ot95-averaging",
        "A prior against three ways of averaging",
        "sections 4 and 5",
        averaging::averaging
    ),
];

/// What keeps the variances of a mixture without a prior above zero: the "lower bound on the diagonal elements" of section 2, in
/// units of the data's own variance.
const FLOOR: f64 = 1e-4;

/// A mixture without a prior, but for the floor.
fn unregularised(components: usize, dimension: usize) -> GaussianMixture {
    // With a = d/2 the M-step divides by the responsibilities alone, as equation (4) does.
    GaussianMixture { a: Some(dimension as f64 / 2.0), ..regularised(components, &[FLOOR]) }
}

/// A mixture with the prior of section 3, B = beta I; of several betas one is chosen by validation. One start: what starts do is
/// the business of averaging.
fn regularised(components: usize, betas: &[f64]) -> GaussianMixture {
    let beta = match betas {
        [beta] => OneOrMany::One(*beta),
        _ => OneOrMany::Many(betas.to_vec()),
    };
    let components = OneOrMany::One(components);
    GaussianMixture { components, beta, restarts: 1, ..GaussianMixture::default() }
}

/// The mean log density that a learner gives rows it has not seen.
fn held_out(
    learner: &dyn Learner<Density>,
    train: Rows<'_>,
    test: Rows<'_>,
    run: &Run,
) -> Result<f64> {
    let models = learner.fit(&Sample::new(train, &())?, run)?;
    let model = models.first().ok_or_else(|| Error::shape("models fitted", 1, 0))?;
    let log_densities = predict(model.as_ref(), test, run)?;
    Ok(log_densities.iter().sum::<f64>() / log_densities.len() as f64)
}
