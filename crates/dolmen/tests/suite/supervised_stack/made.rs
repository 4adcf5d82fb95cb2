//! Data, learners and stacks that the tests share.

use dolmen::catalogue::Catalogued;
use dolmen::ensemble::Stack;
use dolmen::learner::Learner;
use dolmen::learner::linear::Ridge;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::Features;
use dolmen::target::Labels;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

pub(crate) fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

pub(crate) fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {found}, not {expected}"
    );
}

pub(crate) fn plain_ridge(lambda: f64) -> Ridge {
    Ridge { lambda: lambda.into(), standardise: false }
}

pub(crate) fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap()
}

pub(crate) fn learners<T: Catalogued>(specs: &[&str]) -> Vec<Box<dyn Learner<T>>> {
    specs.iter().map(|text| T::learner(&spec(text)).unwrap()).collect()
}

pub(crate) fn stack_by<T: Catalogued>(text: &str, members: &[&str]) -> Stack<T> {
    Stack::choosing(vec![T::combiner(&spec(text)).unwrap()]).members(learners::<T>(members))
}

/// Numbers with a bend, and noise.
pub(crate) fn bent(rows: usize, seed: u64) -> (Features, Vec<f64>) {
    let mut rng = run().child(seed).rng();
    let x: Vec<f64> = (0..rows * 2).map(|_| rng.random_range(-2.0..2.0)).collect();
    let mut noise = || -> f64 { StandardNormal.sample(&mut rng) };
    let y = x.chunks_exact(2).map(|x| x[0].abs() * 2.0 + x[1] + 0.3 * noise()).collect();
    (Features::numeric(x, 2).unwrap(), y)
}

/// Three classes about three centres.
pub(crate) fn flowers(rows: usize, seed: u64) -> (Features, Labels) {
    let mut rng = run().child(seed).rng();
    let codes: Vec<u32> = (0..rows).map(|i| (i % 3) as u32).collect();
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x =
        codes.iter().flat_map(|&c| [normal() + f64::from(c) * 1.5, normal() - f64::from(c % 2)]);
    let x = Features::numeric(x.collect(), 2).unwrap();
    (x, Labels::new(["a", "b", "c"].map(String::from), codes).unwrap())
}
