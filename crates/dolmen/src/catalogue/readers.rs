//! The kinds of stored models and combinations that this crate reads.

use crate::combine::{Gated, LearnedCombination, LinearPool, LogPooling};
use crate::ensemble::{Ensemble, FittedAdaBoost, FittedExperts, FoldAverage};
use crate::learner::averaged::FittedBag;
use crate::learner::baseline::{FittedFrequencies, FittedMean};
use crate::learner::bayes::FittedBayes;
use crate::learner::bayes::one_dependence::{FittedOneDependence, OneDependencePass};
use crate::learner::density::atoms::FittedAtoms;
use crate::learner::density::averaged::FittedAverage;
use crate::learner::density::gaussian::FittedGaussian;
use crate::learner::density::kernel::FittedKernel;
use crate::learner::density::mixture::{FittedMixture, GaussianPass, MixturePass};
use crate::learner::encoded::FittedEncoded;
use crate::learner::foreign::Foreign;
use crate::learner::gaussian_process::FittedGaussianProcess;
use crate::learner::linear::{FittedLogistic, FittedRidge, LogisticPass, RidgePass};
use crate::learner::neighbours::FittedNeighbours;
use crate::learner::network::FittedNetwork;
use crate::learner::ordinal::FittedOrdinal;
use crate::learner::svm::FittedSvm;
use crate::learner::transformed::FittedTransformed;
use crate::learner::tree::{FittedBoost, FittedForest, FittedTree};
use crate::learner::{Simple, Stored};
use crate::store::Registry;
use crate::target::Labels;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// All of them.
pub(super) fn standard() -> Registry {
    let registry = Registry::default()
        .with_model::<Density, FittedGaussian>()
        .with_model::<Density, FittedKernel>()
        .with_model::<Density, FittedMixture>()
        .with_model::<Density, FittedAtoms>()
        .with_model::<Density, FittedAverage>()
        .with_pass::<Density, GaussianPass>()
        .with_pass::<Density, MixturePass>()
        .with_model::<Classification, Simple<FittedFrequencies>>()
        .with_model::<Classification, Simple<FittedLogistic>>()
        .with_model::<Classification, FittedAdaBoost>()
        .with_model::<Classification, FittedOrdinal>()
        .with_model::<Regression, Simple<FittedMean>>()
        .with_model::<Regression, Simple<FittedRidge>>()
        .with_model::<Regression, FittedGaussianProcess>()
        .with_model::<Regression, FittedTransformed>()
        .with_pass::<Regression, RidgePass>()
        .with_pass::<Classification, LogisticPass>();
    let registry = supervised::<Regression>(supervised::<Classification>(registry));
    let registry = generative::<Joint>(generative::<Classification>(registry));
    let registry = any_task::<Joint>(any_task::<Density>(registry));
    any_task::<Regression>(any_task::<Classification>(registry))
}

/// Those that predict classes as well as numbers.
fn supervised<T: Task>(registry: Registry) -> Registry
where
    FittedNeighbours: Stored<T>,
    FittedSvm: Stored<T>,
    FittedNetwork: Stored<T>,
    FittedTree: Stored<T>,
    FittedForest<T>: Stored<T>,
    FittedBoost: Stored<T>,
    FittedExperts: Stored<T>,
{
    registry
        .with_model::<T, FittedNeighbours>()
        .with_model::<T, FittedSvm>()
        .with_model::<T, FittedNetwork>()
        .with_model::<T, FittedTree>()
        .with_model::<T, FittedForest<T>>()
        .with_model::<T, FittedBoost>()
        .with_model::<T, FittedExperts>()
}

/// Those that model p(x, c).
fn generative<T: Task<Target = Labels>>(registry: Registry) -> Registry
where
    FittedBayes: Stored<T>,
    FittedOneDependence: Stored<T>,
{
    registry
        .with_model::<T, FittedBayes>()
        .with_model::<T, FittedOneDependence>()
        .with_pass::<T, OneDependencePass>()
}

/// Those that hold members of any task, and what combines them.
fn any_task<T: Task>(registry: Registry) -> Registry {
    registry
        .with_model::<T, FittedEncoded<T>>()
        .with_encoded_pass::<T>()
        .with_model::<T, FittedBag<T>>()
        .with_model::<T, Foreign>()
        .with_model::<T, Ensemble<T>>()
        .with_model::<T, FoldAverage<T>>()
        .with_combination::<T, LinearPool>()
        .with_combination::<T, LogPooling>()
        .with_combination::<T, Gated>()
        .with_combination::<T, LearnedCombination<T>>()
}
