//! The fast pass beside slow ones, and what EM promises.

use proptest::prelude::*;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::data::{Data, Frame};
use super::em::{Ascent, Climb, Stop};
use super::expect::Densities;
use super::kmeans::lloyd;
use super::normals::{Normals, Shape};
use super::pass::{Sums, Want, pass};
use super::prior::{Covariance, Prior};
use super::start::{Begin, Start};
use crate::learner::Sample;
use crate::run::Run;
use crate::table::Features;
use crate::task::Density;

/// Random rows; a share of the values is missing.
fn rows(n: usize, d: usize, missing: f64, seed: u64) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut value = || {
        let cluster = f64::from(rng.random_range(0..3_u8));
        let x = 3.0 * cluster + rng.random::<f64>() + rng.random::<f64>();
        if rng.random::<f64>() < missing { f64::NAN } else { x }
    };
    Features::numeric((0..n * d).map(|_| value()).collect(), d).unwrap()
}

/// What is known of these rows before a fit.
fn frame(sample: &Sample<'_, Density>, standardise: bool) -> Frame {
    Frame::of(sample, standardise).unwrap()
}

/// The components that a start makes.
fn begin(begin: Begin, data: &Data<'_>, prior: &Prior) -> Normals {
    let sums = begin.sums(data, prior);
    begin.components(data.frame, prior, sums)
}

fn make(kind: &Start, data: &Data<'_>, prior: &Prior, k: usize, run: &Run) -> Normals {
    let start = Begin::new(kind, data, prior.covariance, k, &mut run.rng()).unwrap();
    begin(start, data, prior)
}

/// EM from these components to its end.
fn climb(data: &Data<'_>, prior: &Prior, start: Normals, stop: Stop) -> Climb {
    let mut ascent = Ascent::new(prior.clone(), stop, Begin::At(start));
    loop {
        if let Some(end) = ascent.end() {
            return end.unwrap().clone();
        }
        let sums = ascent.sums(data);
        ascent = ascent.next(sums, data.frame);
    }
}

/// Components with correlated columns, unlike each other.
fn components(k: usize, d: usize, shape: Shape) -> Normals {
    let covariance = |c: usize| -> Vec<f64> {
        let entry = |i: usize, j: usize| {
            let near = (-(i.abs_diff(j) as f64) * (0.5 + c as f64)).exp();
            near * (1.0 + i as f64).sqrt() * (1.0 + j as f64).sqrt()
        };
        match shape {
            Shape::Diagonal => (0..d).map(|j| entry(j, j) + 0.1 * c as f64).collect(),
            _ => (0..d * d).map(|e| entry(e / d, e % d)).collect(),
        }
    };
    let weights: Vec<f64> = (1..=k).map(|c| c as f64 * 2.0 / (k * (k + 1)) as f64).collect();
    Normals {
        dimension: d,
        shape,
        weights,
        means: (0..k * d).map(|e| (e as f64 * 1.7).sin() * 4.0 + 2.0).collect(),
        covariances: (0..shape.count(k)).flat_map(covariance).collect(),
        freedom: None,
    }
}

/// Inverse and determinant by Gauss-Jordan elimination.
fn invert(a: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
    let d = a.len();
    let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let mut m: Vec<Vec<f64>> =
        (0..d).map(|i| a[i].iter().copied().chain((0..d).map(|j| unit(i, j))).collect()).collect();
    let mut determinant = 1.0;
    for i in 0..d {
        let pivot = m[i][i];
        determinant *= pivot;
        m[i].iter_mut().for_each(|x| *x /= pivot);
        for r in (0..d).filter(|r| *r != i) {
            let factor = m[r][i];
            let row = m[i].clone();
            m[r].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    (m.into_iter().map(|row| row[d..].to_vec()).collect(), determinant)
}

/// The sums of a pass, row by row from the definitions, missing values completed one row and component at a time.
fn slow_pass(x: &Features, weights: &[f64], normals: &Normals) -> Sums {
    let d = normals.dimension;
    let mut sums = Sums::zero(normals);
    for (row, weight) in x.rows().iter().zip(weights) {
        let seen: Vec<usize> = (0..d).filter(|&j| !row[j].is_nan()).collect();
        let hidden: Vec<usize> = (0..d).filter(|&j| row[j].is_nan()).collect();
        let mut joint = Vec::new();
        let mut completions = Vec::new();
        for k in 0..normals.components() {
            let block = |a: &[usize], b: &[usize]| -> Vec<Vec<f64>> {
                let entries =
                    |i: usize| b.iter().map(|&j| normals.covariance_at(k, i, j)).collect();
                a.iter().map(|&i| entries(i)).collect()
            };
            let (inverse, determinant) = invert(&block(&seen, &seen));
            let v: Vec<f64> = seen.iter().map(|&j| row[j] - normals.mean(k)[j]).collect();
            let times = |m: &[Vec<f64>], v: &[f64]| -> Vec<f64> {
                m.iter().map(|r| r.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
            };
            let solved = times(&inverse, &v);
            let distance: f64 = solved.iter().zip(&v).map(|(a, b)| a * b).sum();
            let size = seen.len() as f64;
            let density = match normals.freedom {
                None => (-0.5 * distance).exp() / std::f64::consts::TAU.powf(0.5 * size),
                Some(nu) => {
                    let gamma = |x: f64| libm::tgamma(x);
                    let top =
                        gamma(0.5 * (nu + size)) * (1.0 + distance / nu).powf(-0.5 * (nu + size));
                    top / gamma(0.5 * nu) / (nu * std::f64::consts::PI).powf(0.5 * size)
                }
            };
            joint.push(normals.weights[k] * density / determinant.sqrt());
            let pull = normals.freedom.map_or(1.0, |nu| (nu + size) / (nu + distance));
            let mut deviation = vec![0.0; d];
            seen.iter().zip(&v).for_each(|(&j, v)| deviation[j] = *v);
            let cross = block(&hidden, &seen);
            hidden.iter().zip(times(&cross, &solved)).for_each(|(&j, v)| deviation[j] = v);
            let mut rest = block(&hidden, &hidden);
            for (i, cross_i) in cross.iter().enumerate() {
                let half = times(&inverse, cross_i);
                for (j, cross_j) in cross.iter().enumerate() {
                    rest[i][j] -= half.iter().zip(cross_j).map(|(a, b)| a * b).sum::<f64>();
                }
            }
            completions.push((deviation, rest, pull));
        }
        let total: f64 = joint.iter().sum();
        sums.log_likelihood += weight * total.ln();
        for (k, (v, rest, pull)) in completions.iter().enumerate() {
            let share = weight * joint[k] / total;
            sums.mass[k] += share;
            sums.pull[k] += share * pull;
            for i in 0..d {
                sums.first[k * d + i] += share * pull * v[i];
                for j in 0..=i {
                    let find = |j: usize| hidden.iter().position(|h| *h == j);
                    let extra = find(i).zip(find(j)).map_or(0.0, |(i, j)| rest[i][j]);
                    let product = share * (pull * v[i] * v[j] + extra);
                    match normals.shape {
                        Shape::Diagonal if i == j => sums.second[k * d + i] += product,
                        Shape::Diagonal => {}
                        _ => sums.second[k * d * d + i * d + j] += product,
                    }
                }
            }
        }
    }
    sums
}

fn close(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{what}: {a} is not {b}");
    }
}

#[test]
fn the_fused_pass_sums_what_the_definitions_say() {
    let shapes = [Shape::Full, Shape::Tied, Shape::Diagonal];
    for (shape, freedom) in shapes.into_iter().flat_map(|s| [(s, None), (s, Some(2.5))]) {
        for (d, missing) in [(1, 0.0), (2, 0.0), (3, 0.0), (4, 0.3), (5, 0.3), (5, 0.0)] {
            let x = rows(2100, d, missing, d as u64);
            let weights: Vec<f64> = (0..2100).map(|i| f64::from(i % 3) * 0.7).collect();
            let sample = Sample::<Density>::new(x.rows(), &()).unwrap().counted(&weights).unwrap();
            let frame = frame(&sample, false);
            let data = Data::new(&sample, &frame);
            let normals = Normals { freedom, ..components(3, d, shape) };
            let densities = Densities::new(&normals, &normals.factorise().unwrap());
            let fast = pass(&data, &normals, &densities, Want::Moments).unwrap();
            let slow = slow_pass(&x, &weights, &normals);
            close(&[fast.log_likelihood], &[slow.log_likelihood], "log-likelihood");
            close(&fast.mass, &slow.mass, "mass");
            close(&fast.pull, &slow.pull, "pull");
            close(&fast.first, &slow.first, "first moments");
            close(&fast.second, &slow.second, "second moments");
        }
    }
}

#[test]
fn a_row_without_any_value_has_density_one() {
    let x = Features::numeric(vec![f64::NAN, f64::NAN, 1.0, 2.0], 2).unwrap();
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let frame = frame(&sample, false);
    let data = Data::new(&sample, &frame);
    let normals = components(2, 2, Shape::Full);
    let densities = Densities::new(&normals, &normals.factorise().unwrap());
    let sums = pass(&data, &normals, &densities, Want::Moments).unwrap();
    let slow = slow_pass(&x, &[1.0, 1.0], &normals);
    close(&[sums.log_likelihood], &[slow.log_likelihood], "log-likelihood");
    close(&sums.second, &slow.second, "second moments");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn em_never_lowers_the_log_posterior(
        seed in 0_u64..1000,
        kind in 0_usize..4,
        k in 1_usize..5,
        d in 1_usize..5,
        missing in prop::sample::select(vec![0.0, 0.2]),
        weighted in any::<bool>(),
        gamma in prop::sample::select(vec![1.0, 2.5]),
        eta in prop::sample::select(vec![0.0, 3.0]),
        freedom in prop::sample::select(vec![None, Some(1.0), Some(6.0)]),
    ) {
        let kinds = [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];
        let x = rows(60, d, missing, seed);
        let weights: Vec<f64> = (0..60).map(|i| if weighted { f64::from(i % 4) } else { 1.0 }).collect();
        let sample = Sample::<Density>::new(x.rows(), &()).unwrap().counted(&weights).unwrap();
        let run = Run::with_threads(seed, 1).unwrap();
        let frame = frame(&sample, true);
    let data = Data::new(&sample, &frame);
        let neutral = Prior::neutral(kinds[kind], d, 0.01);
        let prior = Prior { freedom, gamma, eta, mu0: vec![0.3; d], ..neutral };
        let once = Stop { tolerance: 0.0, iterations: 1 };
        let mut normals = make(&Start::Random, &data, &prior, k, &run);
        let mut before = f64::NEG_INFINITY;
        for _ in 0..15 {
            let step = climb(&data, &prior, normals, once);
            let slack = 1e-10 * step.objective.abs().max(1.0);
            prop_assert!(step.objective >= before - slack, "{} after {before}", step.objective);
            before = step.objective;
            normals = step.normals;
        }
    }
}

#[test]
fn missing_values_do_not_hide_the_maximum() {
    [None, Some(3.0)].into_iter().for_each(no_slope_is_left);
}

/// At the end of EM the observed-data posterior has no slope: the next M-step changes nothing.
fn no_slope_is_left(freedom: Option<f64>) {
    let x = rows(200, 3, 0.25, 5);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let run = Run::with_threads(1, 1).unwrap();
    let frame = frame(&sample, true);
    let data = Data::new(&sample, &frame);
    let prior = Prior { freedom, ..Prior::neutral(Covariance::Full, 3, 0.01) };
    let start = make(&Start::KmeansPlusPlus, &data, &prior, 2, &run);
    let stop = Stop { tolerance: 0.0, iterations: 3000 };
    let end = climb(&data, &prior, start, stop);
    let posterior = |normals: &Normals| {
        let nothing = Stop { tolerance: 0.0, iterations: 0 };
        climb(&data, &prior, normals.clone(), nothing).objective
    };
    for e in 0..end.normals.means.len() {
        let moved = |step: f64| {
            let mut normals = end.normals.clone();
            normals.means[e] += step;
            posterior(&normals)
        };
        let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
        assert!(slope.abs() < 1e-4, "slope {slope}");
    }
    for e in 0..2 * 9 {
        let (k, i, j) = (e / 9, e % 9 / 3, e % 3);
        let moved = |step: f64| {
            let mut normals = end.normals.clone();
            normals.covariances[k * 9 + i * 3 + j] += step;
            if i != j {
                normals.covariances[k * 9 + j * 3 + i] += step;
            }
            posterior(&normals)
        };
        let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!(slope.abs() < 1e-3, "slope {slope}");
    }
}

#[derive(serde::Deserialize)]
struct Golden {
    kmeans: Kmeans,
}

#[derive(serde::Deserialize)]
struct Kmeans {
    data: Vec<Vec<f64>>,
    init_rows: Vec<usize>,
    centres: Vec<Vec<f64>>,
    labels: Vec<u32>,
    start_from_labels: Components,
}

#[derive(serde::Deserialize)]
struct Components {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covs: Vec<Vec<Vec<f64>>>,
}

#[test]
fn k_means_and_its_start_are_the_reference_ones() {
    let text = include_str!("../../../../tests/fixtures/mixture/golden.json");
    let golden = serde_json::from_str::<Golden>(text).unwrap().kmeans;
    let x = Features::numeric(golden.data.concat(), 2).unwrap();
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let frame = frame(&sample, false);
    let data = Data::new(&sample, &frame);
    let seeds = golden.init_rows.iter().flat_map(|&i| golden.data[i].clone()).collect();
    let clusters = lloyd(&data, seeds, 300);
    assert_eq!(clusters.labels(&data), golden.labels);
    close(&clusters.centres, &golden.centres.concat(), "centres");
    let prior = Prior::neutral(Covariance::Full, 2, 0.01);
    let start = begin(Begin::Clusters(clusters.clone()), &data, &prior);
    close(&start.weights, &golden.start_from_labels.weights, "weights");
    close(&start.means, &golden.start_from_labels.means.concat(), "means");
    close(&start.covariances, &golden.start_from_labels.covs.concat().concat(), "covariances");
}

#[test]
fn a_cluster_without_rows_keeps_its_centre_and_ties_go_to_the_lower_index() {
    let x = Features::numeric(vec![0.0, 1.0, 2.0], 1).unwrap();
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let frame = frame(&sample, false);
    let data = Data::new(&sample, &frame);
    let clusters = lloyd(&data, vec![0.0, 2.0, 50.0], 1);
    assert_eq!(clusters.labels(&data), [0, 0, 1]);
    assert_eq!(clusters.centres, [0.5, 2.0, 50.0]);
}
