//! What the tests of fits share.

use dolmen::learner::Sample;
use dolmen::learner::density::mixture::{FittedMixture, GaussianMixture};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;

pub(crate) fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} is not {b}");
    }
}

pub(crate) fn sample(x: &Features) -> Sample<'_, Density> {
    Sample::new(x.rows(), &()).unwrap()
}

pub(crate) fn one(threads: usize) -> Run {
    Run::with_threads(7, threads).unwrap()
}

pub(crate) fn fit(learner: &GaussianMixture, x: &Features) -> FittedMixture {
    learner.fit_mixtures(&sample(x), &one(1)).unwrap().remove(0)
}
