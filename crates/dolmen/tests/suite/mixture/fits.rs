//! Fits of Gaussians and Gaussian mixtures: the reference values, weights, missing values, threads, and what is refused.

use dolmen::learner::density::mixture::{
    Covariance, GaussianMixture, Given, OneOrMany, Schedule, Start,
};
use dolmen::learner::density::{DensityModel, Gaussian};
use dolmen::learner::{Fitted, Learner, predict};
use dolmen::table::Features;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::made::{close, fit, one, sample};

#[derive(Deserialize)]
struct Golden {
    map_em: MapEm,
    query: Vec<Vec<f64>>,
    scale: Vec<f64>,
}

#[derive(Deserialize)]
struct MapEm {
    data: Vec<Vec<f64>>,
    beta: f64,
    k2: Path,
    k3: Path,
}

#[derive(Deserialize)]
struct Path {
    start: Point,
    iterations: Vec<Point>,
    query_logpdf_standardised: Vec<f64>,
}

#[derive(Deserialize)]
struct Point {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covs: Vec<Vec<Vec<f64>>>,
    loglik: f64,
    criterion: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../fixtures/mixture/golden.json")).unwrap()
}

/// Two clusters with correlated columns of unlike scale; a share of the values is missing.
fn clusters(rows: usize, columns: usize, missing: f64, seed: u64) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut values = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        let common = rng.random::<f64>() + 4.0 * (i % 2) as f64;
        for j in 0..columns {
            let value = 10_f64.powi(j as i32) * (common + rng.random::<f64>()) - 5.0;
            values.push(if rng.random::<f64>() < missing { f64::NAN } else { value });
        }
    }
    Features::numeric(values, columns).unwrap()
}

#[test]
fn every_iteration_is_the_reference_one() {
    let golden = golden();
    let x = Features::numeric(golden.map_em.data.concat(), 2).unwrap();
    for path in [&golden.map_em.k2, &golden.map_em.k3] {
        let given = Given {
            weights: path.start.weights.clone(),
            means: path.start.means.clone(),
            covariances: path.start.covs.clone(),
        };
        let mut model = None;
        for (i, point) in path.iterations.iter().enumerate() {
            let learner = GaussianMixture {
                components: OneOrMany::One(given.weights.len()),
                beta: OneOrMany::One(golden.map_em.beta),
                standardise: false,
                start: Start::Given(given.clone()),
                tolerance: 0.0,
                iterations: i + 1,
                ..Default::default()
            };
            let fitted = fit(&learner, &x);
            let parameters = fitted.parameters();
            close(&parameters.weights, &point.weights, 1e-9);
            close(&parameters.means.concat(), &point.means.concat(), 1e-9);
            close(&parameters.covariances.concat().concat(), &point.covs.concat().concat(), 1e-9);
            close(&[fitted.diagnostics().objective.unwrap()], &[point.criterion], 1e-9);
            let loglik: f64 = predict(&fitted, x.rows(), &one(1)).unwrap().iter().sum();
            close(&[loglik], &[point.loglik], 1e-9);
            model = Some(fitted);
        }
        let query =
            golden.query.iter().flat_map(|q| q.iter().zip(&golden.scale).map(|(q, s)| q / s));
        let query = Features::numeric(query.collect(), 2).unwrap();
        let out = predict(&model.unwrap(), query.rows(), &one(1)).unwrap();
        close(&out, &path.query_logpdf_standardised, 1e-9);
    }
}

#[test]
fn standardised_densities_are_told_in_the_units_of_the_data() {
    // Scaling a column divides the density by the factor and changes nothing else.
    let x = clusters(300, 2, 0.0, 1);
    let scaled: Vec<f64> = x.rows().iter().flat_map(|row| [row[0] * 1e-3 + 7.0, row[1]]).collect();
    let scaled = Features::numeric(scaled, 2).unwrap();
    let learner = GaussianMixture { components: OneOrMany::One(2), ..Default::default() };
    let plain = predict(&fit(&learner, &x), x.rows(), &one(1)).unwrap();
    let model = fit(&learner, &scaled);
    let other: Vec<f64> = predict(&model, scaled.rows(), &one(1)).unwrap();
    let shifted: Vec<f64> = plain.iter().map(|p| p + 1e3_f64.ln()).collect();
    close(&other, &shifted, 1e-8);
}

#[test]
fn a_row_of_weight_two_is_two_rows() {
    let x = clusters(101, 3, 0.1, 2);
    let twice: Vec<usize> = (0..101).flat_map(|i| vec![i; 1 + i % 3]).collect();
    let repeated = x.rows().select(&twice);
    let weights: Vec<f64> = (0..101).map(|i| f64::from(1 + i % 3)).collect();
    let start = fit(&GaussianMixture { components: OneOrMany::One(3), ..Default::default() }, &x);
    for covariance in
        [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical]
    {
        let learner = GaussianMixture {
            components: OneOrMany::One(3),
            covariance,
            start: Start::Given(start.parameters()),
            tolerance: 0.0,
            iterations: 20,
            ..Default::default()
        };
        let weighted = sample(&x).counted(&weights).unwrap();
        let a = learner.fit_mixtures(&weighted, &one(1)).unwrap();
        let b = learner.fit_mixtures(&sample(&repeated), &one(1)).unwrap();
        let (a, b) = (predict(&a[0], x.rows(), &one(1)), predict(&b[0], x.rows(), &one(1)));
        close(&a.unwrap(), &b.unwrap(), 1e-9);
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let x = clusters(5000, 3, 0.05, 3);
    for start in [Start::KmeansPlusPlus, Start::Kmeans, Start::Random] {
        let learner = GaussianMixture {
            components: OneOrMany::Many(vec![2, 3]),
            beta: OneOrMany::Many(vec![0.01, 1.0]),
            start,
            restarts: 2,
            iterations: 5,
            ..Default::default()
        };
        let bits = |threads: usize| -> Vec<Vec<u64>> {
            let models = learner.fit(&sample(&x), &one(threads)).unwrap();
            let out = models.iter().map(|m| predict(m.as_ref(), x.rows(), &one(threads)).unwrap());
            out.map(|p| p.iter().map(|v| v.to_bits()).collect()).collect()
        };
        assert_eq!(bits(1), bits(2));
    }
}

#[test]
fn missing_values_of_a_gaussian_are_integrated_out() {
    // One column complete, the other missing at random: the maximum is known in closed form from the regression of the
    // second on the first (Anderson1957).
    let x = clusters(400, 2, 0.0, 4);
    let mut values = x.rows().values().to_vec();
    (0..400).step_by(3).for_each(|i| values[2 * i + 1] = f64::NAN);
    let holes = Features::numeric(values, 2).unwrap();
    let parameters =
        Gaussian::default().fit_gaussian(&sample(&holes), &one(1)).unwrap().parameters();
    let moments = |rows: &[&[f64]]| {
        let n = rows.len() as f64;
        let mean = |j: usize| rows.iter().map(|r| r[j]).sum::<f64>() / n;
        let (a, b) = (mean(0), mean(1));
        let sum = |f: &dyn Fn(&[f64]) -> f64| rows.iter().map(|r| f(r)).sum::<f64>() / n;
        (
            a,
            b,
            sum(&|r| (r[0] - a).powi(2)),
            sum(&|r| (r[0] - a) * (r[1] - b)),
            sum(&|r| (r[1] - b).powi(2)),
        )
    };
    let all: Vec<&[f64]> = x.rows().iter().collect();
    let complete: Vec<&[f64]> = holes.rows().iter().filter(|r| !r[1].is_nan()).collect();
    let (m0, _, s00, _, _) = moments(&all);
    let (c0, c1, c00, c01, c11) = moments(&complete);
    let slope = c01 / c00;
    let expected_mean = [m0, c1 + slope * (m0 - c0)];
    let expected = [s00, slope * s00, c11 - slope * c01 + slope * slope * s00];
    close(&parameters.means[0], &expected_mean, 1e-6);
    let found = &parameters.covariances[0];
    close(&[found[0][0], found[0][1], found[1][1]], &expected, 1e-5);
}

#[test]
fn a_gaussian_is_the_maximum_of_its_likelihood() {
    let x = clusters(50, 3, 0.0, 5);
    let model = Gaussian::default().fit_gaussian(&sample(&x), &one(1)).unwrap();
    let parameters = model.parameters();
    for i in 0..3 {
        let mean = |j: usize| x.rows().iter().map(|r| r[j]).sum::<f64>() / 50.0;
        close(&[parameters.means[0][i]], &[mean(i)], 1e-12);
        for j in 0..3 {
            let product = |r: &[f64]| (r[i] - mean(i)) * (r[j] - mean(j));
            let covariance = x.rows().iter().map(product).sum::<f64>() / 50.0;
            close(&[parameters.covariances[0][i][j]], &[covariance], 1e-11);
        }
    }
    assert_eq!(model.diagnostics().converged, None);
    // MAP: (scatter + 2 beta) / (N + 1), in units of the deviation.
    let map = Gaussian { covariance: Covariance::Diagonal, beta: 0.5, standardise: true };
    let variance =
        map.fit_gaussian(&sample(&x), &one(1)).unwrap().parameters().covariances[0][2][2];
    let scatter = parameters.covariances[0][2][2] * 50.0;
    close(&[variance], &[(scatter + scatter / 49.0) / 51.0], 1e-11);
}

#[test]
fn beta_is_chosen_on_rows_that_were_not_fitted() {
    let x = clusters(60, 2, 0.0, 8);
    let learner = GaussianMixture {
        components: OneOrMany::One(6),
        beta: OneOrMany::Many(vec![1e-6, 0.05, 1e4]),
        ..Default::default()
    };
    let notes = fit(&learner, &x).diagnostics().notes;
    assert!(notes[0].starts_with("beta = 0.05 chosen on 12 validation rows"), "{notes:?}");
}

#[test]
fn the_ladder_has_a_member_per_rung_and_a_rung_alone_is_the_same() {
    let x = clusters(200, 2, 0.0, 9);
    let ladder = GaussianMixture { components: OneOrMany::Many(vec![1, 3]), ..Default::default() };
    assert_eq!(ladder.members(), ["mixture(components=1)", "mixture(components=3)"]);
    let tied = GaussianMixture { covariance: Covariance::Tied, ..Default::default() };
    assert_eq!(tied.members(), ["mixture(components=4, covariance=tied)"]);
    let models = ladder.fit_mixtures(&sample(&x), &one(1)).unwrap();
    let alone = GaussianMixture { components: OneOrMany::One(3), ..Default::default() };
    assert_eq!(models[1].parameters(), fit(&alone, &x).parameters());
    assert_eq!(models[0].components(), 1);
    assert!(models[1].diagnostics().objective > models[0].diagnostics().objective);
}

#[test]
fn the_schedule_of_the_paper_is_ten_iterations() {
    let x = clusters(150, 4, 0.0, 10);
    let learner = GaussianMixture { schedule: Schedule::Sw99, ..Default::default() };
    let diagnostics = fit(&learner, &x).diagnostics();
    assert_eq!((diagnostics.iterations, diagnostics.converged), (Some(10), None));
}

#[test]
fn more_starts_never_end_lower() {
    let x = clusters(120, 3, 0.0, 11);
    let objective = |restarts: usize| {
        let learner = GaussianMixture {
            components: OneOrMany::One(5),
            start: Start::Random,
            restarts,
            ..Default::default()
        };
        fit(&learner, &x).diagnostics().objective.unwrap()
    };
    let objectives = [1, 2, 4, 8].map(objective);
    assert!(objectives.is_sorted(), "{objectives:?}");
    assert!(objectives[0] < objectives[3], "{objectives:?}");
}

#[test]
fn the_prior_pulls_where_it_should() {
    let x = clusters(40, 2, 0.0, 14);
    let learner = GaussianMixture {
        components: OneOrMany::One(1),
        eta: 1e9,
        mu0: Some(vec![3.0, -2.0]),
        standardise: false,
        ..Default::default()
    };
    close(&fit(&learner, &x).parameters().means[0], &[3.0, -2.0], 1e-5);
    let learner =
        GaussianMixture { components: OneOrMany::One(2), gamma: 1e9, ..Default::default() };
    close(&fit(&learner, &x).parameters().weights, &[0.5, 0.5], 1e-6);
    let shape = vec![vec![2.0, 1.0], vec![1.0, 3.0]];
    let learner = GaussianMixture {
        components: OneOrMany::One(1),
        beta: OneOrMany::One(1e9),
        b: Some(shape),
        standardise: false,
        ..Default::default()
    };
    let covariance = &fit(&learner, &x).parameters().covariances[0];
    close(
        &[covariance[0][1] / covariance[0][0], covariance[1][1] / covariance[0][0]],
        &[0.5, 1.5],
        1e-4,
    );
}

#[test]
fn spherical_and_diagonal_components_have_no_correlation() {
    let x = clusters(80, 3, 0.0, 16);
    for covariance in [Covariance::Diagonal, Covariance::Spherical] {
        let model =
            fit(&GaussianMixture { covariance, standardise: false, ..Default::default() }, &x);
        for matrix in model.parameters().covariances {
            for (i, row) in matrix.iter().enumerate() {
                assert!(row.iter().enumerate().all(|(j, v)| (i == j) == (*v != 0.0)));
            }
            if covariance == Covariance::Spherical {
                close(&[matrix[0][0], matrix[1][1]], &[matrix[1][1], matrix[2][2]], 1e-15);
            }
        }
        assert_eq!(model.dimension(), 3);
    }
}
