//! Kernel densities: reference values, and what makes a density a density.

use dolmen::learner::Stored;
use dolmen::learner::density::kernel::{
    Bandwidth, FittedKernel, KernelDensity, Rule, Scale, Shape, effective_kernel,
};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::store::Registry;
use dolmen::table::Features;
use dolmen::task::Density;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

use super::made::{fit, kernel, log_density, normal, run};

fn golden() -> Value {
    serde_json::from_str(include_str!("../../fixtures/kernel/golden.json")).unwrap()
}

fn numbers(json: &Value) -> Vec<f64> {
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NEG_INFINITY);
    json.as_array().unwrap().iter().map(number).collect()
}

fn features(json: &Value) -> Features {
    let rows = json.as_array().unwrap();
    let values = rows.iter().flat_map(numbers).collect();
    Features::numeric(values, rows[0].as_array().unwrap().len()).unwrap()
}

fn assert_close(ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    for (a, b) in ours.iter().zip(theirs) {
        assert!(a == b || (a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn densities_equal_the_reference() {
    let golden = &golden()["kde"];
    let (data, query) = (features(&golden["data"]), features(&golden["query"]));
    for (shape, name) in [(Shape::Triangular, "tri"), (Shape::Gaussian, "gauss")] {
        let ladder = kernel(shape, [0.1, 0.4, 1.5]);
        for (m, model) in fit(&ladder, &data).iter().enumerate() {
            let ours = predict(model.as_ref(), query.rows(), &run()).unwrap();
            assert_close(&ours, &numbers(&golden[name][m]), 1e-11);
        }
    }
}

#[test]
fn the_out_of_sample_table_equals_the_reference() {
    let golden = &golden()["cv_table"];
    let data = features(&golden["data"]);
    let plan = dolmen::plan::Plan::in_turn(20, 5);
    let table = golden["table_raw_logpdf"].as_array().unwrap();
    let column = |m: usize| -> Vec<f64> { table.iter().map(|row| numbers(row)[m]).collect() };
    for (shape, bandwidths, first) in
        [(Shape::Triangular, vec![0.4, 1.5], 0), (Shape::Gaussian, vec![0.4], 2)]
    {
        let ladder =
            KernelDensity { scale: Scale::Sample, ..kernel(shape, Bandwidth::Ladder(bandwidths)) };
        let sample = Sample::new(data.rows(), &()).unwrap();
        let block = ladder.out_of_sample(&sample, &plan, &run()).unwrap();
        for (m, ours) in block.averaged::<Density>(&plan, 1).iter().enumerate() {
            assert_close(ours, &column(first + m), 1e-11);
        }
    }
}

/// Trapezia on a fine grid; kernels are 0 at its ends.
fn integral(from: f64, to: f64, steps: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let width = (to - from) / steps as f64;
    let nodes: Vec<f64> = (0..=steps).map(|i| from + width * i as f64).collect();
    f(&nodes).iter().sum::<f64>() * width
}

#[test]
fn every_shape_integrates_to_one_in_one_and_two_dimensions() {
    let line = normal(40, 1, 1);
    let plane = normal(15, 2, 2);
    for shape in Shape::ALL {
        let model = &fit(&kernel(shape, 0.7), &line)[0];
        let density = |nodes: &[f64]| {
            let logs = log_density(model.as_ref(), nodes.to_vec(), 1);
            logs.into_iter().map(f64::exp).collect()
        };
        let mass = integral(-12.0, 12.0, 48_000, density);
        assert!((mass - 1.0).abs() < 2e-4, "{shape:?}: {mass}");

        let model = &fit(&kernel(shape, 1.1), &plane)[0];
        let steps = 600;
        let density = |nodes: &[f64]| -> Vec<f64> {
            let pairs = nodes.iter().flat_map(|x| nodes.iter().flat_map(move |y| [*x, *y]));
            let logs = log_density(model.as_ref(), pairs.collect(), 2);
            let width = nodes[1] - nodes[0];
            let rows = logs.chunks(nodes.len());
            rows.map(|row| row.iter().map(|v| v.exp()).sum::<f64>() * width).collect()
        };
        let mass = integral(-9.0, 9.0, steps, density);
        // A jump on the border costs a share of a cell for each row.
        let tolerance = if shape == Shape::Uniform { 5e-3 } else { 1e-4 };
        assert!((mass - 1.0).abs() < tolerance, "{shape:?}: {mass}");
    }
}

#[test]
fn every_shape_integrates_to_one_in_three_dimensions() {
    let data = normal(30, 3, 3);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (draws, wide) = (200_000_u32, 2.0);
    let points: Vec<f64> = (0..3 * draws)
        .map(|_| wide * Distribution::<f64>::sample(&StandardNormal, &mut rng))
        .collect();
    let log_proposal = |row: &[f64]| -> f64 {
        let factor =
            |v: &f64| -0.5 * (v / wide).powi(2) - (wide * (2.0 * std::f64::consts::PI).sqrt()).ln();
        row.iter().map(factor).sum()
    };
    for shape in Shape::ALL {
        let model = &fit(&kernel(shape, 0.9), &data)[0];
        let logs = log_density(model.as_ref(), points.clone(), 3);
        let ratios: Vec<f64> = logs
            .iter()
            .zip(points.chunks(3))
            .map(|(log, row)| (log - log_proposal(row)).exp())
            .collect();
        let mean = ratios.iter().sum::<f64>() / f64::from(draws);
        let square = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / f64::from(draws);
        let error = (square / f64::from(draws)).sqrt();
        assert!((mean - 1.0).abs() < 4.0 * error && error < 0.01, "{shape:?}: {mean} +- {error}");
    }
}

#[test]
fn a_row_of_weight_two_counts_as_two_rows() {
    let data = normal(50, 2, 5);
    let weights: Vec<f64> = (0..50).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..50).flat_map(|i| vec![i; i % 3]).collect();
    let twice = data.rows().select(&repeated);
    let query = normal(80, 2, 6);
    let bandwidths: [Bandwidth; 3] = [0.3.into(), Rule::Scott.into(), Rule::Silverman.into()];
    for bandwidth in bandwidths {
        for shape in Shape::ALL {
            let learner = kernel(shape, bandwidth.clone());
            let sample = Sample::new(data.rows(), &()).unwrap().counted(&weights).unwrap();
            let weighted = learner.fit(&sample, &run()).unwrap();
            let ours = predict(weighted[0].as_ref(), query.rows(), &run()).unwrap();
            let theirs = predict(fit(&learner, &twice)[0].as_ref(), query.rows(), &run()).unwrap();
            assert_close(&ours, &theirs, 1e-11);
        }
    }
}

#[test]
fn searched_bandwidths_use_weights_too() {
    let data = normal(60, 1, 7);
    let weights: Vec<f64> = (0..60).map(|i| if i < 30 { 1.0 } else { 0.0 }).collect();
    let half = data.rows().select(&(0..30).collect::<Vec<_>>());
    for rule in [Rule::Cv, Rule::Loo] {
        let learner = kernel(Shape::Gaussian, rule);
        let sample = Sample::new(data.rows(), &()).unwrap().counted(&weights).unwrap();
        let ours = learner.fit(&sample, &run()).unwrap()[0].diagnostics();
        let theirs = fit(&learner, &half)[0].diagnostics();
        assert!(ours.converged == Some(true) && ours.objective == theirs.objective);
    }
}

#[test]
fn marginals_and_conditionals_are_those_of_the_joint_density() {
    let data = normal(60, 3, 8);
    for shape in [Shape::Gaussian, Shape::Biweight] {
        let fitted = fit(&kernel(shape, 1.2), &data);
        let joint = fitted[0].density().unwrap();
        let pair = joint.marginal(&[2, 0]).unwrap();
        let given = joint.condition(&[(1, 0.2)]).unwrap();
        let single = joint.marginal(&[1]).unwrap();
        let at = |model: &dyn Fitted<Density>, row: Vec<f64>| {
            let columns = row.len();
            log_density(model, row, columns)[0]
        };
        // f(x0, x2 | x1) f(x1) = f(x0, x1, x2).
        let product = at(&*given, vec![0.1, -0.4]) + at(&*single, vec![0.2]);
        assert!((product - at(fitted[0].as_ref(), vec![0.1, 0.2, -0.4])).abs() < 1e-10);
        // The integral of f over x1 is the marginal.
        let slice = |nodes: &[f64]| {
            let rows = nodes.iter().flat_map(|x1| [0.1, *x1, -0.4]).collect();
            log_density(fitted[0].as_ref(), rows, 3).into_iter().map(f64::exp).collect()
        };
        let mass = integral(-12.0, 12.0, 20_000, slice);
        assert!((mass.ln() - at(&*pair, vec![-0.4, 0.1])).abs() < 1e-6);
        assert_eq!((pair.dimension(), given.dimension(), single.dimension()), (2, 2, 1));
        assert!(joint.marginal(&[0, 0]).is_err() && joint.marginal(&[3]).is_err());
        assert!(
            joint.marginal(&[]).is_err()
                && joint.condition(&[(0, 0.0), (1, 0.0), (2, 0.0)]).is_err()
        );
    }
}

#[test]
fn conditioning_far_out_works_in_log_space_and_says_when_there_is_nothing() {
    let data = normal(40, 2, 9);
    let gaussian = fit(&kernel(Shape::Gaussian, 0.2), &data);
    let far = gaussian[0].density().unwrap().condition(&[(0, 300.0)]).unwrap();
    assert!((far.cdf(50.0).unwrap() - 1.0).abs() < 1e-12);
    let triangular = fit(&kernel(Shape::Triangular, 0.2), &data);
    assert!(triangular[0].density().unwrap().condition(&[(0, 300.0)]).is_err());
}

#[test]
fn the_cdf_integrates_the_density_and_the_quantile_inverts_it() {
    let data = normal(200, 1, 10);
    for shape in Shape::ALL {
        let fitted = fit(&kernel(shape, 0.4), &data);
        let model = fitted[0].density().unwrap();
        let density = |nodes: &[f64]| {
            let logs = log_density(fitted[0].as_ref(), nodes.to_vec(), 1);
            logs.into_iter().map(f64::exp).collect()
        };
        for x in [-1.3, 0.1, 2.0] {
            let mass = integral(-10.0, x, 50_000, density);
            assert!((model.cdf(x).unwrap() - mass).abs() < 2e-4, "{shape:?} {x}");
        }
        for p in [0.01, 0.5, 0.9] {
            assert!((model.cdf(model.quantile(p).unwrap()).unwrap() - p).abs() < 1e-12);
        }
    }
    let plane = fit(&kernel(Shape::Gaussian, 0.4), &normal(20, 2, 1));
    assert!(plane[0].density().unwrap().cdf(0.0).is_err());
}

#[test]
fn draws_follow_the_density() {
    let data = normal(30, 2, 11);
    for shape in Shape::ALL {
        let fitted = fit(&kernel(shape, 0.5), &data);
        let model = fitted[0].density().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let mut row = [0.0; 2];
        let draws: Vec<[f64; 2]> = (0..20_000)
            .map(|_| {
                model.sample_into(&mut rng, &mut row);
                row
            })
            .collect();
        for column in 0..2 {
            let marginal = model.marginal(&[column]).unwrap();
            let mut values: Vec<f64> = draws.iter().map(|row| row[column]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let gap = |(i, x): (usize, &f64)| {
                (marginal.cdf(*x).unwrap() - (i as f64 + 0.5) / 20_000.0).abs()
            };
            let worst = values.iter().enumerate().map(gap).fold(0.0, f64::max);
            assert!(worst < 1.95 / 20_000_f64.sqrt(), "{shape:?}: {worst}");
        }
    }
}

#[test]
fn a_stored_density_is_the_same_to_the_last_bit() {
    let registry = Registry::default().with_model::<Density, FittedKernel>();
    let query = normal(300, 2, 14);
    for learner in [kernel(Shape::Gaussian, 0.3), kernel(Shape::Triangular, Rule::Loo)] {
        let live = &fit(&learner, &normal(700, 2, 13))[0];
        let record = live.record().unwrap();
        assert_eq!(record.kind(), FittedKernel::KIND);
        let stored = registry.model::<Density>(&record).unwrap();
        let ours = predict(live.as_ref(), query.rows(), &run()).unwrap();
        assert_eq!(ours, predict(stored.as_ref(), query.rows(), &run()).unwrap());
        assert_eq!(live.diagnostics(), stored.diagnostics());
    }
}

#[test]
fn the_effective_kernel_is_the_mixture_of_kernels() {
    let data = normal(25, 1, 15);
    let learner = kernel(Shape::Triangular, [0.1, 0.4, 1.5]);
    let registry = Registry::default();
    let members: Vec<FittedKernel> = fit(&learner, &data)
        .iter()
        .map(|member| FittedKernel::restore(&member.record().unwrap(), &registry).unwrap())
        .collect();
    let members: Vec<&FittedKernel> = members.iter().collect();
    let alpha = [0.5, 0.2, 0.3];
    // The mixture at y is the mean over rows of the effective kernel at y - x_i.
    let y = 0.3;
    let offsets: Vec<f64> = data.rows().values().iter().map(|x| y - x).collect();
    let kernels = effective_kernel(&members, &alpha, 0, &offsets).unwrap();
    let mixed: f64 = members
        .iter()
        .zip(alpha)
        .map(|(member, alpha)| alpha * log_density(*member, vec![y], 1)[0].exp())
        .sum();
    assert!((kernels.iter().sum::<f64>() / 25.0 - mixed).abs() < 1e-12);
    assert!(effective_kernel(&members, &alpha[..2], 0, &offsets).is_err());
    assert!(effective_kernel(&members, &alpha, 1, &offsets).is_err());
}

#[test]
fn a_search_on_a_part_of_the_rows_comes_near_the_search_on_all() {
    let data = normal(4000, 1, 18);
    let all = kernel(Shape::Gaussian, Rule::Loo);
    let part = KernelDensity { search_rows: 1000, ..all.clone() };
    let width = |learner: &KernelDensity| {
        let record = fit(learner, &data)[0].record().unwrap();
        FittedKernel::restore(&record, &Registry::default()).unwrap().bandwidth()[0]
    };
    let ratio = width(&part) / width(&all);
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn random_queries_far_out_stay_finite() {
    let data = normal(300, 2, 19);
    let model = &fit(&kernel(Shape::Gaussian, 0.1), &data)[0];
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let rows: Vec<f64> = (0..200).map(|_| 1e4 * (rng.random::<f64>() - 0.5)).collect();
    assert!(log_density(model.as_ref(), rows, 2).iter().all(|v| v.is_finite()));
}

#[test]
fn repeated_values_stop_the_search_at_the_end_of_its_range() {
    let data = Features::numeric((0..80).map(|i| f64::from(i % 4)).collect(), 1).unwrap();
    for shape in [Shape::Gaussian, Shape::Triangular] {
        let found = fit(&kernel(shape, Rule::Loo), &data)[0].diagnostics();
        assert!(found.objective.unwrap().is_finite());
        assert!(found.notes[0].contains("'x1'") && found.notes[0].contains("repeat"), "{found:?}");
    }
}

#[test]
fn a_cancelled_run_stops() {
    let data = normal(300, 2, 21);
    let cancelled = run();
    cancelled.cancel();
    let sample = Sample::new(data.rows(), &()).unwrap();
    let searched = kernel(Shape::Gaussian, Rule::Loo).fit(&sample, &cancelled);
    assert!(matches!(searched, Err(dolmen::Error::Cancelled)));
    let plan = dolmen::plan::Plan::in_turn(300, 5);
    let pass = kernel(Shape::Gaussian, 0.5).out_of_sample(&sample, &plan, &cancelled);
    assert!(matches!(pass, Err(dolmen::Error::Cancelled)));
}
