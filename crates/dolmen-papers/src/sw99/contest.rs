//! Stacking and its rivals on one training part, as section 3 of the paper lists them.

use dolmen::combine::{Combination, Combiner, Evidence, LinearPool, Method, Weights};
use dolmen::ensemble::{Ensemble, Stack};
use dolmen::error::{Error, Result};
use dolmen::learner::density::Gaussian;
use dolmen::learner::density::kernel::{KernelDensity, Scale, Shape};
use dolmen::learner::density::mixture::{GaussianMixture, Schedule, Start};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::math::first_largest;
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::table::Rows;
use dolmen::task::Density;

/// Names of the six models of section 3, as the paper's tables head them.
pub(super) const SIX: [&str; 6] = ["h=0.1", "h=0.4", "h=1.5", "k=2", "k=4", "k=8"];
/// Which of them has as many components as Ripley's mixture.
pub(super) const FOUR_COMPONENTS: usize = 4;

/// Kernel densities with these fractions of the standard deviation.
pub(super) fn kernels(shape: Shape, bandwidths: &[f64]) -> KernelDensity {
    let bandwidth = dolmen::learner::density::kernel::Bandwidth::Ladder(bandwidths.to_vec());
    KernelDensity { shape, bandwidth, scale: Scale::Sample, ..KernelDensity::default() }
}

/// Mixtures fitted as Appendix A says: MAP with beta = 0.01, 10 iterations from 4 starts.
pub(super) fn mixtures(components: &[usize]) -> GaussianMixture {
    let components = components.to_vec().into();
    GaussianMixture { components, schedule: Schedule::Sw99, ..GaussianMixture::default() }
}

/// A stack with the paper's EM for its weights, of any members.
pub(super) fn stack() -> Stack<Density> {
    Stack::new(Weights::from(Method::Em)).keep_all(true)
}

/// The stack of section 3: three triangular kernels and three mixtures.
pub(super) fn stack_of_six() -> Stack<Density> {
    stack().member(kernels(Shape::Triangular, &[0.1, 0.4, 1.5])).member(mixtures(&[2, 4, 8]))
}

/// The same with mixtures that start from random rows only, not from k-means as well.
pub(super) fn stack_of_six_at_random() -> Stack<Density> {
    let random = GaussianMixture {
        start: Start::Random,
        restarts: 4,
        iterations: 10,
        tolerance: 0.0,
        schedule: Schedule::Converge,
        ..mixtures(&[2, 4, 8])
    };
    stack().member(kernels(Shape::Triangular, &[0.1, 0.4, 1.5])).member(random)
}

/// A stack fitted on a training part, with the single Gaussian that everything is measured against.
pub(super) struct Contest {
    ensemble: Ensemble<Density>,
    gaussian: Box<dyn Fitted<Density>>,
}

impl Contest {
    /// Fits all members, fold by fold and on all rows.
    pub(super) fn fit(stack: &Stack<Density>, train: Rows<'_>, run: &Run) -> Result<Self> {
        let sample = Sample::<Density>::new(train, &())?;
        let ensemble = stack.fit_ensemble(&sample, run)?;
        let mut gaussian = Gaussian::default().fit(&sample, run)?;
        let gaussian = gaussian.pop().ok_or_else(|| Error::shape("Gaussians fitted", 1, 0))?;
        Ok(Self { ensemble, gaussian })
    }

    /// The stack's weights.
    pub(super) fn weights(&self) -> &[f64] {
        self.ensemble.combination().weights().unwrap_or_default()
    }

    /// What the members said of rows they had not seen.
    pub(super) fn matrix(&self) -> Result<&OutOfSample<Density>> {
        self.ensemble.matrix().ok_or_else(|| Error::shape("out-of-sample matrices", 1, 0))
    }

    /// The member that cross-validation chooses among the first `members`.
    pub(super) fn chosen(&self, members: usize) -> Result<usize> {
        let matrix = self.matrix()?;
        let total = |m: usize| matrix.scores(m).iter().sum();
        Ok(first_largest(&(0..members).map(total).collect::<Vec<f64>>()))
    }

    /// The paper's weights for the first `members` alone.
    pub(super) fn weights_of(&self, members: usize, run: &Run) -> Result<Vec<f64>> {
        let matrix = self.matrix()?;
        let column = |m: usize| (matrix.members()[m].clone(), matrix.column(m).to_vec());
        let part =
            OutOfSample::<Density>::from_columns((0..members).map(column).collect(), (), None)?;
        let mut found = Weights::from(Method::Em).fit(&Evidence::from(&part), run)?;
        let found = found.pop().ok_or_else(|| Error::shape("combinations", 1, 0))?;
        Ok(found.weights().unwrap_or_default().to_vec())
    }

    /// What every member says of rows.
    pub(super) fn predict(&self, rows: Rows<'_>, run: &Run) -> Result<Predicted> {
        let members =
            self.ensemble.models().map(|model| predict(model, rows, run)).collect::<Result<_>>()?;
        Ok(Predicted { members, gaussian: predict(self.gaussian.as_ref(), rows, run)? })
    }
}

/// Log densities of rows.
pub(super) struct Predicted {
    /// Of each member.
    pub(super) members: Vec<Vec<f64>>,
    /// Of the single Gaussian.
    pub(super) gaussian: Vec<f64>,
}

impl Predicted {
    /// The linear combination with these weights, of as many members as there are weights.
    pub(super) fn pool(&self, weights: &[f64], rows: Rows<'_>) -> Result<Vec<f64>> {
        let members: Vec<&[f64]> =
            self.members[..weights.len()].iter().map(Vec::as_slice).collect();
        let mut out = vec![0.0; self.gaussian.len()];
        let pool = LinearPool::new(weights.to_vec());
        Combination::<Density>::combine_into(&pool, &members, 1, rows, &mut out)?;
        Ok(out)
    }

    /// The summed log-likelihood of a method less that of the single Gaussian.
    pub(super) fn gain(&self, log_densities: &[f64]) -> f64 {
        log_densities.iter().sum::<f64>() - self.gaussian.iter().sum::<f64>()
    }
}

/// The same weight for each of so many.
pub(super) fn equal(members: usize) -> Vec<f64> {
    vec![1.0 / members as f64; members]
}
