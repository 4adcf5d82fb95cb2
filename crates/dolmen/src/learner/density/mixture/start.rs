//! Where EM starts.

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::data::{Data, Frame, PART};
use super::expect::Densities;
use super::kmeans::{self, Clusters};
use super::moments::Moments;
use super::normals::{Normals, Shape};
use super::pass::Sums;
use super::prior::{Covariance, Prior};
use crate::error::{Error, Result};
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

impl Start {
    /// Whether it begins at rows of the data.
    pub(super) fn looks_at_rows(&self) -> bool {
        !matches!(self, Self::Given(_))
    }
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

/// Where a start begins before all rows are asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Begin {
    /// With every row in the component of its cluster.
    Clusters(Clusters),
    /// At these means, with the covariance of all rows and equal weights.
    Around(#[serde(with = "crate::store::floats")] Vec<f64>),
    /// With these components, in the units of the fit.
    At(Normals),
}

impl Begin {
    /// With one component of all rows.
    pub(super) fn overall(frame: &Frame) -> Self {
        Self::Clusters(Clusters { centres: frame.centre.clone(), before: frame.centre.clone() })
    }

    /// Finds seeds and clusters among some of the rows.
    pub(super) fn new(
        kind: &Start,
        data: &Data<'_>,
        covariance: Covariance,
        components: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self> {
        match kind {
            Start::KmeansPlusPlus => {
                let seeds = kmeans::seeds(data, components, rng);
                Ok(Self::Clusters(kmeans::lloyd(data, seeds, SETTLING)))
            }
            Start::Kmeans => {
                let rows = kmeans::random_rows(data, components, rng);
                let seeds = kmeans::centres_at(data, &rows);
                Ok(Self::Clusters(kmeans::lloyd(data, seeds, LLOYD_LIMIT)))
            }
            Start::Random => {
                let rows = kmeans::random_rows(data, components, rng);
                Ok(Self::Around(kmeans::centres_at(data, &rows)))
            }
            Start::Given(given) => Ok(Self::At(given.normals(data.frame, covariance, components)?)),
        }
    }

    /// What is to be summed over all rows; `None` if nothing is.
    pub(super) fn sums(&self, data: &Data<'_>, prior: &Prior) -> Option<Sums> {
        match self {
            Self::Clusters(clusters) => Some(cluster_sums(data, prior, clusters)),
            Self::Around(_) => Self::overall(data.frame).sums(data, prior),
            Self::At(_) => None,
        }
    }

    /// The components that follow from the sums: one M-step.
    pub(super) fn components(self, frame: &Frame, prior: &Prior, sums: Option<Sums>) -> Normals {
        match (self, sums) {
            (Self::At(normals), _) => normals,
            (Self::Clusters(clusters), sums) => {
                let about = about(prior, &clusters);
                let sums = sums.unwrap_or_else(|| Sums::zero(&about));
                prior.maximise(&about, &sums)
            }
            (Self::Around(means), sums) => {
                let overall = Self::overall(frame).components(frame, prior, sums);
                let components = means.len() / frame.dimension();
                let count = overall.shape.count(components);
                Normals {
                    weights: vec![1.0 / components as f64; components],
                    means,
                    covariances: overall.covariances.repeat(count),
                    ..overall
                }
            }
        }
    }
}

/// The cluster of every row, of the kind that starts are made from by [`Start::KmeansPlusPlus`].
pub(crate) fn clusters(data: &Data<'_>, components: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    kmeans::lloyd(data, kmeans::seeds(data, components, rng), SETTLING).labels(data)
}

/// Components at the clusters' centres, about which moments are summed.
fn about(prior: &Prior, clusters: &Clusters) -> Normals {
    let (d, shape) = (prior.mu0.len(), prior.covariance.shape());
    let components = clusters.centres.len() / d;
    Normals {
        dimension: d,
        shape,
        weights: vec![0.0; components],
        means: clusters.centres.clone(),
        covariances: vec![0.0; shape.count(components) * shape.size(d)],
        freedom: prior.freedom,
    }
}

/// The sums of an M-step with every row in its cluster's component.
fn cluster_sums(data: &Data<'_>, prior: &Prior, clusters: &Clusters) -> Sums {
    let about = about(prior, clusters);
    let (components, d) = (about.components(), about.dimension());
    let nearest = Densities::around(&clusters.before, d);
    let zero = || Sums::zero(&about);
    stats::accumulate(data.x.rows(), PART, zero, |sums, range| {
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
    })
}

impl Given {
    fn normals(&self, frame: &Frame, covariance: Covariance, components: usize) -> Result<Normals> {
        let (d, units) = (frame.dimension(), &frame.units);
        self.check(components, d)?;
        let shape = covariance.shape();
        let mut normals = Normals {
            dimension: d,
            shape,
            weights: self.weights.clone(),
            means: Vec::with_capacity(components * d),
            covariances: vec![0.0; shape.count(components) * shape.size(d)],
            freedom: None,
        };
        for mean in &self.means {
            normals.means.extend(mean.iter().enumerate().map(|(j, &x)| units.inward(j, x)));
        }
        for (k, matrix) in self.covariances.iter().enumerate() {
            let at = |i: usize, j: usize| matrix[i][j] / (units.scale[i] * units.scale[j]);
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
