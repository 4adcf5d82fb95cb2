//! The learners of densities.

use std::sync::Arc;

use super::{
    Entry, Library, WIDE, defaults, encoded_entry, has_missing, nested, plain, specs, stack_entry,
    tuned_entry,
};
use crate::ensemble::{Ensemble, FoldAverage};
use crate::learner::Learner;
use crate::learner::density::averaged::{Averaged, Averaging, FittedAverage};
use crate::learner::density::gaussian::{FittedGaussian, Gaussian};
use crate::learner::density::kernel::{FittedKernel, KernelDensity};
use crate::learner::density::mixture::{FittedMixture, GaussianMixture};
use crate::learner::encoded::FittedEncoded;
use crate::learner::spec::Spec;
use crate::store::Registry;
use crate::table::Rows;
use crate::task::Density;

impl Library for Density {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            plain::<_, Gaussian>("gaussian", "one Gaussian"),
            plain::<_, KernelDensity>(
                "kernel",
                "product-kernel density; a list of bandwidths is a ladder",
            ),
            plain::<_, GaussianMixture>(
                "mixture",
                "Gaussian mixture by MAP-EM; a list of components is a ladder",
            ),
            Entry {
                kind: "averaged",
                about: "the average of several fits of another density: of=SPEC",
                defaults: defaults::<Averaging>(),
                build: |spec| {
                    let (of, spec) = nested(spec, "of")?;
                    let of: Arc<dyn Learner<Density>> = Density::learner(&of)?.into();
                    Ok(Box::new(Averaged::of(of, spec.read()?)))
                },
            },
            encoded_entry(),
            stack_entry(),
            tuned_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<FittedGaussian>()
            .with::<FittedKernel>()
            .with::<FittedMixture>()
            .with::<FittedAverage>()
            .with::<FittedEncoded<Density>>()
            .with::<Ensemble<Density>>()
            .with::<FoldAverage<Density>>()
    }

    /// A ladder of kernels (their matrix costs the square of the rows: not for many; and they need whole rows), mixtures of growing size as far as
    /// the rows feed them, full and diagonal, and an averaged mixture. Of more than 64 columns, full covariances are left out
    /// where rows do not feed them or the work (rows x columns^2 x components) is beyond 1e10, and diagonal ones are fed
    /// by ten rows a component.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let (rows, columns) = (x.rows(), x.width());
        if columns > WIDE {
            return wide_members(x);
        }
        let fed = |k: &usize| *k == 1 || k * 5 * (columns + 1) <= rows;
        let full: Vec<usize> = [1, 2, 4, 8].into_iter().filter(fed).collect();
        let diagonal: Vec<usize> = [2, 4, 8, 16].into_iter().filter(fed).collect();
        let mut members = Vec::new();
        if rows <= 30_000 && !has_missing(x) {
            members.push("kernel(bandwidth=[0.1, 0.2, 0.4, 0.8])".to_string());
        }
        members.push(format!("mixture(components={full:?})"));
        if !diagonal.is_empty() {
            members.push(format!("mixture(components={diagonal:?}, covariance=diagonal)"));
            let k = full.last().copied().unwrap_or(1).min(4);
            members.push(format!("averaged(of=mixture(components={k}), fits=10)"));
        }
        specs(&members)
    }
}

/// The usual members for more than [`WIDE`] columns.
fn wide_members(x: Rows<'_>) -> Vec<Spec> {
    /// Multiplications in a pass of EM over the rows.
    const MOST_WORK: f64 = 1e10;
    let (rows, columns) = (x.rows(), x.width());
    let work = |k: usize| rows as f64 * (columns * columns * k) as f64;
    let pays = |k: &usize| k * 5 * (columns + 1) <= rows && work(*k) <= MOST_WORK;
    let full: Vec<usize> = [1, 2, 4, 8].into_iter().filter(pays).collect();
    let diagonal: Vec<usize> =
        [1, 2, 4, 8, 16].into_iter().filter(|k| *k == 1 || 10 * k <= rows).collect();
    let mut members = Vec::new();
    if work(1) / (columns as f64) * rows as f64 <= MOST_WORK && !has_missing(x) {
        members.push("kernel(bandwidth=[0.1, 0.2, 0.4, 0.8])".to_string());
    }
    if !full.is_empty() {
        members.push(format!("mixture(components={full:?})"));
    }
    members.push(format!("mixture(components={diagonal:?}, covariance=diagonal)"));
    let k = diagonal.last().copied().unwrap_or(1).min(4);
    members.push(format!("averaged(of=mixture(components={k}, covariance=diagonal), fits=10)"));
    specs(&members)
}
