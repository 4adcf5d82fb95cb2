//! Data and learners that the tests share.

use dolmen::learner::density::kernel::{Bandwidth, KernelDensity, Shape};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub(crate) fn normal(rows: usize, columns: usize, seed: u64) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values = (0..rows * columns).map(|_| StandardNormal.sample(&mut rng)).collect();
    Features::numeric(values, columns).unwrap()
}

pub(crate) fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

pub(crate) fn kernel(shape: Shape, bandwidth: impl Into<Bandwidth>) -> KernelDensity {
    KernelDensity { shape, bandwidth: bandwidth.into(), ..KernelDensity::default() }
}

pub(crate) fn fit(learner: &KernelDensity, x: &Features) -> Vec<Box<dyn Fitted<Density>>> {
    learner.fit(&Sample::new(x.rows(), &()).unwrap(), &run()).unwrap()
}

pub(crate) fn log_density(model: &dyn Fitted<Density>, rows: Vec<f64>, columns: usize) -> Vec<f64> {
    let x = Features::numeric(rows, columns).unwrap();
    predict(model, x.rows(), &run()).unwrap()
}
