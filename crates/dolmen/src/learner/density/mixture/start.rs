//! Where EM starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::data::{Data, PART};
use super::expect::Densities;
use super::kmeans::{self, Clusters};
use super::moments::Moments;
use super::normals::{Normals, Shape};
use super::pass::Sums;
use super::prior::{Covariance, Prior};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::stats;

/// How EM is started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// k-means++ seeds, a few of Lloyd's iterations, one M-step on the labels.
    #[default]
    #[serde(rename = "kmeans++")]
    KmeansPlusPlus,
    /// Lloyd's k-means from random rows until its labels stop changing, one M-step on the labels.
    Kmeans,
    /// Random rows as means, the covariance of all rows, equal weights.
    Random,
    /// These components.
    Given(Given),
}

/// Components to start from, in the units of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// One weight per component; positive, summing to 1.
    pub weights: Vec<f64>,
    /// One mean per component.
    pub means: Vec<Vec<f64>>,
    /// One covariance matrix per component. Fits of other covariances take what they can use of it.
    pub covariances: Vec<Vec<Vec<f64>>>,
}

/// Lloyd's iterations after k-means++ seeds: most of the way; EM goes the rest.
const SETTLING: usize = 10;
/// Lloyd's iterations when the labels do not settle.
const LLOYD_LIMIT: usize = 300;

/// Components to start from, in the units of the fit.
pub(super) fn make(
    kind: &Start,
    data: &Data<'_>,
    prior: &Prior,
    components: usize,
    run: &Run,
) -> Result<Normals> {
    let mut rng = run.rng();
    match kind {
        Start::KmeansPlusPlus => {
            let seeds = kmeans::seeds(data, components, &mut rng);
            Ok(from_clusters(data, prior, &kmeans::lloyd(data, seeds, SETTLING)))
        }
        Start::Kmeans => {
            let rows = kmeans::random_rows(data, components, &mut rng);
            let seeds = kmeans::centres_at(data, &rows);
            Ok(from_clusters(data, prior, &kmeans::lloyd(data, seeds, LLOYD_LIMIT)))
        }
        Start::Random => {
            let rows = kmeans::random_rows(data, components, &mut rng);
            Ok(around(data, prior, kmeans::centres_at(data, &rows)))
        }
        Start::Given(given) => given.normals(data, prior.covariance, components),
    }
}

/// Components at these means, with the covariance of all rows and equal weights.
fn around(data: &Data<'_>, prior: &Prior, means: Vec<f64>) -> Normals {
    let overall = overall(data, prior);
    let components = means.len() / data.x.width();
    let count = overall.shape.count(components);
    Normals {
        weights: vec![1.0 / components as f64; components],
        means,
        covariances: overall.covariances.repeat(count),
        ..overall
    }
}

/// One M-step with every row in one component.
pub(crate) fn overall(data: &Data<'_>, prior: &Prior) -> Normals {
    let clusters = Clusters { centres: data.centre.clone(), before: data.centre.clone() };
    from_clusters(data, prior, &clusters)
}

/// One M-step with every row in its cluster's component.
pub(super) fn from_clusters(data: &Data<'_>, prior: &Prior, clusters: &Clusters) -> Normals {
    let d = data.x.width();
    let components = clusters.centres.len() / d;
    let shape = prior.covariance.shape();
    let about = Normals {
        dimension: d,
        shape,
        weights: vec![0.0; components],
        means: clusters.centres.clone(),
        covariances: vec![0.0; shape.count(components) * shape.size(d)],
    };
    let nearest = Densities::around(&clusters.before, d);
    let zero = || Sums::zero(&about);
    let sums = stats::accumulate(data.x.rows(), PART, zero, |sums, range| {
        let mut block = Block::new(components, d, range.len());
        let mut moments = Moments::new(&about, block.capacity());
        let mut labels = Vec::with_capacity(block.capacity());
        for rows in block.cut(range) {
            block.load_filled(data, rows.clone());
            labels.clear();
            block.nearest(&nearest, rows.len(), &mut labels);
            block.assign(&labels);
            block.add_moments(&about, &mut moments);
        }
        moments.add_to(sums);
    });
    prior.maximise(&about, &sums)
}

impl Given {
    fn normals(
        &self,
        data: &Data<'_>,
        covariance: Covariance,
        components: usize,
    ) -> Result<Normals> {
        let d = data.x.width();
        self.check(components, d)?;
        let shape = covariance.shape();
        let mut normals = Normals {
            dimension: d,
            shape,
            weights: self.weights.clone(),
            means: Vec::with_capacity(components * d),
            covariances: vec![0.0; shape.count(components) * shape.size(d)],
        };
        for mean in &self.means {
            normals.means.extend(mean.iter().enumerate().map(|(j, &x)| data.units.inward(j, x)));
        }
        for (k, matrix) in self.covariances.iter().enumerate() {
            let at =
                |i: usize, j: usize| matrix[i][j] / (data.units.scale[i] * data.units.scale[j]);
            let size = shape.size(d);
            match shape {
                Shape::Full => (0..size).for_each(|e| {
                    normals.covariances[k * size + e] = at(e / d, e % d);
                }),
                Shape::Tied => (0..size).for_each(|e| {
                    normals.covariances[e] += self.weights[k] * at(e / d, e % d);
                }),
                Shape::Diagonal => (0..d).for_each(|j| normals.covariances[k * d + j] = at(j, j)),
            }
        }
        if covariance == Covariance::Spherical {
            for variances in normals.covariances.chunks_exact_mut(d) {
                let mean = variances.iter().sum::<f64>() / d as f64;
                variances.fill(mean);
            }
        }
        Ok(normals)
    }

    fn check(&self, components: usize, dimension: usize) -> Result<()> {
        for (what, found) in [
            ("weights of the given start", self.weights.len()),
            ("means of the given start", self.means.len()),
            ("covariances of the given start", self.covariances.len()),
        ] {
            if found != components {
                return Err(Error::shape(what, components, found));
            }
        }
        let rows = self.means.iter().chain(self.covariances.iter().flatten());
        let wrong = rows.clone().map(Vec::len).find(|n| *n != dimension);
        let height = self.covariances.iter().map(Vec::len).find(|n| *n != dimension);
        if let Some(found) = wrong.or(height) {
            return Err(Error::shape("columns of the given start", dimension, found));
        }
        if !rows.flatten().all(|x| x.is_finite()) {
            return Err(Error::param("start", "finite", "not so"));
        }
        let total: f64 = self.weights.iter().sum();
        if !((total - 1.0).abs() < 1e-9 && self.weights.iter().all(|w| *w > 0.0)) {
            return Err(Error::param(
                "weights of the given start",
                "positive, summing to 1",
                total,
            ));
        }
        Ok(())
    }
}
