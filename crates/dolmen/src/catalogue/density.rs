//! The learners of densities.

use super::wrappers;
use super::{
    Catalogue, Catalogued, Section, WIDE, combiners, has_missing, plain, section_of, specs,
};
use crate::learner::density::atoms::{self, Atoms};
use crate::learner::density::gaussian::Gaussian;
use crate::learner::density::kernel::KernelDensity;
use crate::learner::density::mixture::GaussianMixture;
use crate::spec::Spec;
use crate::table::Rows;
use crate::task::Density;

/// The learners and combiners of densities.
pub(super) fn section() -> Section<Density> {
    let mut learners = vec![
        plain::<_, Gaussian>("gaussian", "one Gaussian")
            .only("covariance", &["full", "diagonal", "spherical"]),
        plain::<_, KernelDensity>(
            "kernel",
            "product-kernel density; a list of bandwidths is a ladder",
        )
        .with_example("kernel(bandwidth=[0.1, 0.2, 0.4])"),
        plain::<_, GaussianMixture>(
            "mixture",
            "Gaussian mixture by MAP-EM; a list of components is a ladder",
        )
        .with_example("mixture(components=[2, 4, 8], covariance=diagonal)"),
        plain::<_, Atoms>(
            "atoms",
            "mixture of products, for columns whose values repeat; a list of components is a ladder",
        )
        .with_example("atoms(components=[2, 4, 8])"),
    ];
    learners.extend(wrappers::entries(["gaussian", "mixture(components=[2, 4])"]));
    Section { learners, combiners: combiners::entries("gaussian") }
}

impl Catalogued for Density {
    section_of!(density);

    /// A ladder of kernels (their matrix costs the square of the rows: not for many; and they need whole rows), mixtures of growing size as far as
    /// the rows feed them: of normal components, full and diagonal, and of Student's t with heavy tails, for rows far out. Where columns have values that repeat,
    /// mixtures of products with atoms take the place of the diagonal ones, which they are elsewhere. Of more than 64 columns, full covariances are left out
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
            members.push(if rows <= MOST_WITH_ATOMS && atoms::has_atoms(x) {
                format!("atoms(components={diagonal:?}, restarts=1)")
            } else {
                format!("mixture(components={diagonal:?}, covariance=diagonal)")
            });
        }
        members.push(format!("mixture(components={full:?}, freedom=4)"));
        specs(&members)
    }

    /// Small mixtures.
    fn quick_members(x: Rows<'_>) -> Vec<Spec> {
        let shape = if x.width() > WIDE { ", covariance=diagonal" } else { "" };
        specs(&[format!("mixture(components=[1, 2, 4]{shape})")])
    }

    /// Beside the usual ones: mixtures of more components as far as the rows feed them, and averaged ones (not where values of more than 16 columns
    /// are missing: EM then takes a hundred times as long, and ten fits on every fold are minutes).
    fn best_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = Self::usual_members(x);
        if x.width() > WIDE {
            return members;
        }
        let fed = |k: &usize| k * 5 * (x.width() + 1) <= x.rows();
        for (counts, shape) in [([12, 16, 24], ""), ([12, 24, 32], ", covariance=diagonal")] {
            let counts: Vec<usize> = counts.into_iter().filter(fed).collect();
            if !counts.is_empty() {
                members.extend(specs(&[format!("mixture(components={counts:?}{shape})")]));
            }
        }
        if x.width() <= MOST_WITH_GAPS || !has_missing(x) {
            let averaged = |k: &usize| {
                let of =
                    |more: &str| format!("averaged(of=mixture(components={k}{more}), fits=10)");
                [of(""), of(", freedom=4")]
            };
            let counts: Vec<usize> = [4, 8].into_iter().filter(fed).collect();
            members.extend(specs(&counts.iter().flat_map(averaged).collect::<Vec<_>>()));
        }
        members
    }

    fn baseline() -> Spec {
        specs(&["gaussian"]).remove(0)
    }

    fn remarks(x: Rows<'_>) -> Vec<String> {
        atoms::told(x).into_iter().collect()
    }

    const BY_USE: &'static [&'static str] = &["atoms", "mixture", "averaged", "kernel"];
}

/// Rows up to which atoms are modelled: what learns them is not fitted block by block.
const MOST_WITH_ATOMS: usize = 30_000;
/// Columns up to which full mixtures of rows with missing values are fitted many times.
const MOST_WITH_GAPS: usize = 16;

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
