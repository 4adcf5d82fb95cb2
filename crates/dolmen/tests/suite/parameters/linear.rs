//! Linear models, networks, experts and support vectors, worked out by hand from their parameters.

use dolmen::learner::Parameters;
use dolmen::task::{Classification, Regression};

use super::made::{array, assert_near, bare, classes, numbers, plane, softmax};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A row minus the centres, divided by the scales.
fn scaled(parameters: &Parameters, row: &[f64]) -> Vec<f64> {
    let places = array(parameters, "centres").iter().zip(array(parameters, "scales"));
    row.iter().zip(places).map(|(x, (centre, scale))| (x - centre) / scale).collect()
}

#[test]
fn ridge_is_its_coefficients_times_the_inputs() {
    let x = plane();
    let (found, said) = bare::<Regression>("ridge", x.rows(), &numbers(x.rows()));
    let at = found.number("intercept").unwrap();
    let expected: Vec<f64> =
        x.rows().iter().map(|row| at + dot(row, array(&found, "coefficients"))).collect();
    assert_near(&said, &expected, 1e-12);
}

#[test]
fn logistic_regression_is_the_softmax_of_its_scores() {
    let x = plane();
    let (found, said) = bare::<Classification>("logistic", x.rows(), &classes());
    let expected = x.rows().iter().flat_map(|row| {
        let scores = array(&found, "coefficients").chunks(2).zip(array(&found, "intercepts"));
        softmax(&scores.map(|(b, at)| at + dot(row, b)).collect::<Vec<f64>>())
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-12);
}

#[test]
fn a_network_is_its_waves_and_layers() {
    let x = plane();
    for spec in ["network(hidden=[6, 5], waves=0)", "network(hidden=[6, 5], waves=3)"] {
        let (found, said) = bare::<Regression>(spec, x.rows(), &numbers(x.rows()));
        assert_eq!(found.text("activation"), Some("relu"));
        let copy = found.parts("copies").unwrap()[0];
        let layers = copy.parts("layers").unwrap();
        let expected = x.rows().iter().map(|row| {
            let mut units = scaled(&found, row);
            if let Some(waves) = copy.part("waves") {
                units.extend(features(waves, &units));
            }
            for (number, layer) in layers.iter().enumerate() {
                let (shape, weights) = layer.array("weights").unwrap();
                assert_eq!(shape[0], units.len());
                let output = |(k, at): (usize, &f64)| {
                    let column = weights[k..].iter().step_by(shape[1]);
                    let sum = at + units.iter().zip(column).map(|(u, w)| u * w).sum::<f64>();
                    if number + 1 < layers.len() { sum.max(0.0) } else { sum }
                };
                units = array(layer, "intercepts").iter().enumerate().map(output).collect();
            }
            let [centre, scale] =
                ["target_centre", "target_scale"].map(|n| found.number(n).unwrap());
            centre + scale * units[0]
        });
        // The model itself counts in single precision.
        assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-4);
    }
}

/// The features of a row's columns: positive parts of sums of waves.
fn features(waves: &Parameters, row: &[f64]) -> Vec<f64> {
    let [frequencies, phases, weights, intercepts] =
        ["frequencies", "phases", "weights", "intercepts"].map(|name| array(waves, name));
    let columns = array(waves, "columns");
    let (count, each) = (frequencies.len() / columns.len(), intercepts.len() / columns.len());
    let feature = |a: usize, f: usize| {
        let wave = |l: usize| {
            let turns =
                frequencies[a * count + l] * row[columns[a] as usize] + phases[a * count + l];
            weights[(a * count + l) * each + f] * (std::f64::consts::TAU * turns).cos()
        };
        (intercepts[a * each + f] + (0..count).map(wave).sum::<f64>()).max(0.0)
    };
    let all = (0..columns.len()).flat_map(|a| (0..each).map(move |f| (a, f)));
    all.map(|(a, f)| feature(a, f)).collect()
}

#[test]
fn experts_are_lines_behind_a_gate() {
    let x = plane();
    let (found, said) = bare::<Regression>("experts(count=3)", x.rows(), &numbers(x.rows()));
    let lines = |slopes: &str, at: &str, row: &[f64]| -> Vec<f64> {
        let lines = array(&found, slopes).chunks(2).zip(array(&found, at));
        lines.map(|(b, at)| at + dot(row, b)).collect()
    };
    let expected = x.rows().iter().map(|row| {
        let shares = softmax(&lines("gate_coefficients", "gate_intercepts", row));
        dot(&shares, &lines("coefficients", "intercepts", row))
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}

#[test]
fn a_machine_is_the_sum_of_its_kernels() {
    let x = plane();
    let (found, said) = bare::<Regression>("svm", x.rows(), &numbers(x.rows()));
    let gamma = found.number("gamma").unwrap();
    let machine = found.parts("machines").unwrap()[0];
    let vectors: Vec<&[f64]> = array(&found, "vectors").chunks(2).collect();
    let expected = x.rows().iter().map(|row| {
        let z = scaled(&found, row);
        let kernel = |&number: &f64| {
            let vector = vectors[number as usize];
            let square: f64 = z.iter().zip(vector).map(|(a, b)| (a - b) * (a - b)).sum();
            (-gamma * square).exp()
        };
        let kernels: Vec<f64> = array(machine, "vectors").iter().map(kernel).collect();
        let decided = dot(array(machine, "coefficients"), &kernels);
        let decided = decided - machine.number("offset").unwrap();
        found.number("target_centre").unwrap() + found.number("target_scale").unwrap() * decided
    });
    assert_near(&said, &expected.collect::<Vec<f64>>(), 1e-9);
}
