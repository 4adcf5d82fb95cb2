//! Densities, counts, neighbours and ensembles, worked out by hand from their parameters.

use std::f64::consts::TAU;

use dolmen::learner::{Parameters, Value};
use dolmen::task::{Classification, Density, Joint, Regression};

use super::made::{array, assert_near, bare, classes, named, numbers, plane};

/// The density of a normal in the plane.
fn normal(mean: &[f64], covariance: &[f64], row: &[f64]) -> f64 {
    let [a, b, c, d] = covariance else { panic!("not a plane") };
    let (x, y) = (row[0] - mean[0], row[1] - mean[1]);
    let determinant = a * d - b * c;
    let square = (d * x * x - (b + c) * x * y + a * y * y) / determinant;
    (-0.5 * square).exp() / (TAU * determinant.sqrt())
}

#[test]
fn a_mixture_is_its_components() {
    let x = plane();
    let (found, said) = named::<Density>("mixture(components=3)", x.rows(), &());
    assert_eq!(found.array("covariances").unwrap().0, [3, 2, 2]);
    let expected = x.rows().iter().map(|row| {
        let normals = array(&found, "means").chunks(2).zip(array(&found, "covariances").chunks(4));
        let densities = normals.map(|(mean, covariance)| normal(mean, covariance, row));
        let weighed = densities.zip(array(&found, "weights")).map(|(p, weight)| p * weight);
        weighed.sum::<f64>().ln()
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn a_kernel_density_is_the_sum_over_its_points() {
    let x = plane();
    let (found, said) = named::<Density>("kernel(bandwidth=0.5)", x.rows(), &());
    assert_eq!(found.text("shape"), Some("gaussian"));
    let h = array(&found, "bandwidth");
    let expected = x.rows().iter().map(|row| {
        let points = array(&found, "points").chunks(2).zip(array(&found, "weights"));
        let kernel = |(point, weight): (&[f64], &f64)| {
            weight * normal(point, &[h[0] * h[0], 0.0, 0.0, h[1] * h[1]], row)
        };
        points.map(kernel).sum::<f64>().ln()
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn bayes_is_priors_times_densities() {
    let x = plane();
    let (found, said) = named::<Joint>("bayes(density=gaussian)", x.rows(), &classes());
    let densities = found.parts("densities").unwrap();
    let expected = x.rows().iter().flat_map(|row| {
        let own = densities.iter().zip(array(&found, "log_priors"));
        let joint = |(density, prior): (&&Parameters, &f64)| {
            prior + normal(array(density, "mean"), array(density, "covariance"), row).ln()
        };
        own.map(joint).collect::<Vec<f64>>()
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

/// The level of a number between the cuts of a column.
fn level(encoder: &Parameters, column: usize, value: f64) -> usize {
    let cuts = array(encoder.parts("columns").unwrap()[column], "cuts");
    cuts.iter().filter(|cut| **cut < value).count()
}

/// The shape and numbers of an array in a list.
fn table(value: &Value) -> (&[usize], &[f64]) {
    match value {
        Value::Array { shape, values } => (shape, values),
        other => panic!("no table: {other:?}"),
    }
}

#[test]
fn naive_bayes_follows_from_its_counts() {
    let x = plane();
    let (found, said) = named::<Joint>("naive-bayes(bins=4)", x.rows(), &classes());
    let (of_class, encoder) = (array(&found, "class_counts"), found.part("encoder").unwrap());
    let total: f64 = of_class.iter().sum();
    let expected = x.rows().iter().flat_map(|row| {
        let joint = |class: usize| {
            let mut log = ((of_class[class] + 1.0) / (total + 3.0)).ln();
            for (column, counts) in found.list("counts").unwrap().iter().enumerate() {
                let (shape, counts) = table(counts);
                let n = counts[level(encoder, column, row[column]) * shape[1] + class];
                // The last row of a table is for values unknown at the fit.
                log += ((n + 1.0) / (of_class[class] + shape[0] as f64 - 1.0)).ln();
            }
            log
        };
        (0..3).map(joint).collect::<Vec<f64>>()
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn a_one_dependence_estimator_follows_from_its_pairs() {
    let x = plane();
    let (found, said) = named::<Joint>("ode(root=x1, bins=4)", x.rows(), &classes());
    let encoder = found.part("encoder").unwrap();
    let (shape, pairs) = found.parts("pairs").unwrap()[0].array("counts").unwrap();
    let (values, of_root) = table(&found.list("counts").unwrap()[0]);
    let total: f64 = of_root.iter().sum();
    let expected = x.rows().iter().flat_map(|row| {
        let [a, b] = [0, 1].map(|column| level(encoder, column, row[column]));
        let joint = |class: usize| {
            let own = of_root[a * values[1] + class];
            let both = pairs[(a * shape[1] + b) * shape[2] + class];
            let root = (own + 1.0) / (total + 3.0 * (values[0] as f64 - 1.0));
            (root * (both + 1.0) / (own + shape[1] as f64 - 1.0)).ln()
        };
        (0..3).map(joint).collect::<Vec<f64>>()
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn the_nearest_neighbour_answers() {
    let x = plane();
    let (model, said) = bare::<Regression>("neighbours(k=1)", x.rows(), &numbers(x.rows()));
    assert_eq!(model.number("k"), Some(1.0));
    let points: Vec<&[f64]> = array(&model, "points").chunks(2).collect();
    let places = || array(&model, "centres").iter().zip(array(&model, "scales"));
    let expected = x.rows().iter().map(|row| {
        let z: Vec<f64> = row.iter().zip(places()).map(|(x, (c, s))| (x - c) / s).collect();
        let far = |point: &[f64]| -> f64 { point.iter().zip(&z).map(|(a, b)| (a - b).abs()).sum() };
        let nearest = (0..points.len()).min_by(|&a, &b| far(points[a]).total_cmp(&far(points[b])));
        array(&model, "answers")[nearest.unwrap()]
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-12);
}

#[test]
fn a_stack_is_its_members_with_their_weights() {
    let x = plane();
    let spec = "stack(members=[ridge(lambda=1), mean], combiner=uniform, folds=3)";
    let (found, said) = named::<Regression>(spec, x.rows(), &numbers(x.rows()));
    let models = found.parts("models").unwrap();
    assert_eq!(found.list("members").unwrap()[1], Value::Text("mean".into()));
    let (weights, ridge) = (array(&found, "weights"), models[0].part("model").unwrap());
    assert_eq!(found.part("combination").unwrap().array("weights").unwrap().1, weights);
    let expected = x.rows().iter().map(|row| {
        let slopes = row.iter().zip(array(ridge, "coefficients"));
        let line = ridge.number("intercept").unwrap() + slopes.map(|(x, b)| x * b).sum::<f64>();
        weights[0] * line + weights[1] * models[1].number("mean").unwrap()
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn class_probabilities_of_a_stack_come_with_their_combination() {
    let x = plane();
    let spec = "stack(members=[class-frequencies, tree], combiner=log-pool, folds=3)";
    let (found, _) = named::<Classification>(spec, x.rows(), &classes());
    let combination = found.part("combination").unwrap();
    assert_eq!(combination.array("powers").map(|(shape, _)| shape), Some(&[2][..]));
}
