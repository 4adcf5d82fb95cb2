//! Every fast evaluation of a kernel density against the plain sum over rows.

use dolmen::learner::density::kernel::{Bandwidth, KernelDensity, Scale, Shape};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::math::log_sum_exp;
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn run(threads: usize) -> Run {
    Run::with_threads(0, threads).unwrap()
}

/// Rows of three clusters of very different width, and a few rows far from all.
fn clustered(rows: usize, columns: usize, seed: u64) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut values = Vec::new();
    for i in 0..rows {
        let (centre, spread) = match rng.random_range(0..3) {
            _ if i % 97 == 0 => (40.0 * rng.random::<f64>() - 20.0, 3.0),
            0 => (0.0, 1.0),
            1 => (6.0, 0.05),
            _ => (-4.0, 0.4),
        };
        for _ in 0..columns {
            let z: f64 = StandardNormal.sample(&mut rng);
            values.push(centre + spread * z);
        }
    }
    Features::numeric(values, columns).unwrap()
}

/// Queries near the rows, between them, and far from all of them.
fn queries(columns: usize, seed: u64) -> Features {
    let near = clustered(150, columns, seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1);
    let far = (0..150 * columns).map(|i| {
        let reach = if (i / columns).is_multiple_of(3) { 2000.0 } else { 30.0 };
        reach * (rng.random::<f64>() - 0.5)
    });
    Features::numeric(near.rows().values().iter().copied().chain(far).collect(), columns).unwrap()
}

/// ln f(y) as it is defined, in logarithms.
fn plain(shape: Shape, h: &[f64], x: &Features, weights: &[f64], query: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let log_kernel = |(y, (x, h)): (&f64, (&f64, &f64))| {
        let u = (y - x) / h;
        match shape {
            Shape::Gaussian => -0.5 * u * u - 0.5 * (2.0 * std::f64::consts::PI).ln() - h.ln(),
            _ => shape.value(u).ln() - h.ln(),
        }
    };
    let term = |(row, w): (&[f64], &f64)| {
        (w / total).ln() + query.iter().zip(row.iter().zip(h)).map(log_kernel).sum::<f64>()
    };
    let terms: Vec<f64> = x.rows().iter().zip(weights).map(term).collect();
    log_sum_exp(&terms)
}

fn check(shape: Shape, h: &[f64], x: &Features, queries: &Features, tolerance: f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let weights: Vec<f64> = (0..x.rows().rows()).map(|_| 0.5 + rng.random::<f64>()).collect();
    let learner = KernelDensity {
        shape,
        bandwidth: Bandwidth::Absolute { absolute: h.to_vec() },
        tolerance,
        ..KernelDensity::default()
    };
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap().counted(&weights).unwrap();
    let model = &learner.fit(&sample, &run(2)).unwrap()[0];
    let ours = predict(model.as_ref(), queries.rows(), &run(2)).unwrap();
    // What is left of the tolerance is rounding: of the logarithm, and of u^2 at hundreds of bandwidths.
    for (query, ours) in queries.rows().iter().zip(ours) {
        let exact = plain(shape, h, x, &weights, query);
        let rounding = 1e-13 * exact.abs().max(1.0);
        let error = (ours - exact).abs();
        assert!(
            ours == exact || error <= tolerance + rounding,
            "{shape:?} {h:?} {query:?}: {ours} {exact}"
        );
    }
}

#[test]
fn gaussian_densities_keep_the_tolerance_near_and_far() {
    for columns in 1..=4 {
        let (x, queries) = (clustered(3000, columns, 2), queries(columns, 3));
        for h in [0.05, 0.5, 4.0] {
            for tolerance in [0.0, 1e-10, 1e-6, 1e-3] {
                check(Shape::Gaussian, &vec![h; columns], &x, &queries, tolerance);
            }
        }
    }
}

#[test]
fn finite_kernels_are_exact() {
    for shape in Shape::ALL.into_iter().filter(|shape| *shape != Shape::Gaussian) {
        for columns in 1..=4 {
            let (x, queries) = (clustered(1500, columns, 4), queries(columns, 5));
            for h in [0.3, 6.0] {
                let h: Vec<f64> = (0..columns).map(|k| h * (1.0 + 0.3 * k as f64)).collect();
                check(shape, &h, &x, &queries, 1e-10);
            }
        }
    }
}

#[test]
fn many_rows_take_the_grid_and_keep_the_tolerance() {
    for columns in [1, 2] {
        let (x, queries) = (clustered(20_000, columns, 6), queries(columns, 7));
        check(Shape::Gaussian, &vec![0.4; columns], &x, &queries, 1e-10);
    }
}

#[test]
fn a_row_is_predicted_alike_alone_and_in_company_on_any_number_of_threads() {
    let (x, queries) = (clustered(3000, 2, 8), queries(2, 9));
    for shape in Shape::ALL {
        let learner = KernelDensity { shape, bandwidth: 0.2.into(), ..KernelDensity::default() };
        let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
        let fit = |threads| learner.fit(&sample, &run(threads)).unwrap();
        let (one, two) = (fit(1), fit(2));
        let together = predict(one[0].as_ref(), queries.rows(), &run(1)).unwrap();
        assert_eq!(together, predict(two[0].as_ref(), queries.rows(), &run(2)).unwrap());
        for (i, together) in together.iter().enumerate() {
            let mut alone = [0.0];
            one[0].predict_into(queries.rows().slice(i..i + 1), &mut alone).unwrap();
            assert_eq!(alone[0].to_bits(), together.to_bits());
        }
    }
}

/// The out-of-sample densities by refitting; for the scale of the sample, with the bandwidths of all rows.
fn refitted(learner: &KernelDensity, sample: &Sample<'_, Density>, plan: &Plan) -> Vec<Vec<f64>> {
    let Bandwidth::Ladder(fractions) = &learner.bandwidth else {
        unreachable!("a ladder is tested");
    };
    if learner.scale == Scale::Training {
        let block = dolmen::learner::refit(learner, sample, plan, &run(1)).unwrap();
        return block.averaged::<Density>(plan, 1);
    }
    let deviations = deviations(sample);
    let refit = |fraction: &f64| {
        let fixed = KernelDensity {
            bandwidth: Bandwidth::Absolute {
                absolute: deviations.iter().map(|s| fraction * s).collect(),
            },
            ..learner.clone()
        };
        let block = dolmen::learner::refit(&fixed, sample, plan, &run(1)).unwrap();
        block.averaged::<Density>(plan, 1).remove(0)
    };
    fractions.iter().map(refit).collect()
}

fn deviations(sample: &Sample<'_, Density>) -> Vec<f64> {
    let total = sample.total_weight();
    let moment = |k: usize, centre: f64, power: i32| -> f64 {
        let term = |(i, row): (usize, &[f64])| sample.weight(i) * (row[k] - centre).powi(power);
        sample.x().iter().enumerate().map(term).sum()
    };
    let deviation = |k| (moment(k, moment(k, 0.0, 1) / total, 2) / (total - 1.0)).sqrt();
    (0..sample.x().width()).map(deviation).collect()
}

#[test]
fn one_pass_over_pairs_equals_refitting_fold_by_fold() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    for (rows, columns, folds) in [(90, 2, 10), (300, 1, 4), (1200, 1, 3), (60, 4, 60)] {
        let x = clustered(rows, columns, 11);
        let weights: Vec<f64> =
            (0..rows).map(|i| if i % 11 == 0 { 0.0 } else { rng.random() }).collect();
        let weighted = Sample::<Density>::new(x.rows(), &()).unwrap().counted(&weights).unwrap();
        let plain = Plan::in_turn(rows, folds);
        let pairs = if folds < 5 { plain.of_pairs() } else { plain.clone() };
        for (sample, plan) in [(Sample::new(x.rows(), &()).unwrap(), plain), (weighted, pairs)] {
            for shape in Shape::ALL {
                for scale in [Scale::Training, Scale::Sample] {
                    let learner = KernelDensity {
                        shape,
                        bandwidth: [0.05, 0.4, 1.5].into(),
                        scale,
                        ..KernelDensity::default()
                    };
                    let block = learner.out_of_sample(&sample, &plan, &run(2)).unwrap();
                    assert!(block.failures.is_empty());
                    let ours = block.averaged::<Density>(&plan, 1);
                    for (ours, theirs) in ours.iter().zip(refitted(&learner, &sample, &plan)) {
                        for (a, b) in ours.iter().zip(theirs) {
                            // Relative to the density, as far as its logarithm has digits for that.
                            let tolerance = 2e-10 + 1e-13 * b.abs();
                            assert!(*a == b || (a - b).abs() <= tolerance, "{learner:?}: {a} {b}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn plans_that_are_no_partition_are_refitted() {
    let x = clustered(120, 2, 13);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let plan = Plan::bootstrap(120, 6, &run(1)).unwrap();
    for scale in [Scale::Training, Scale::Sample] {
        let learner =
            KernelDensity { bandwidth: [0.2, 0.8].into(), scale, ..KernelDensity::default() };
        let block = learner.out_of_sample(&sample, &plan, &run(2)).unwrap();
        let ours = block.averaged::<Density>(&plan, 1);
        let theirs = refitted(&learner, &sample, &plan);
        let never = plan.never_held_out();
        for (a, b) in ours.iter().flatten().zip(theirs.iter().flatten()) {
            assert!(a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * (1.0 + b.abs()));
        }
        assert_eq!(ours[0].iter().filter(|v| v.is_nan()).count(), never.len());
    }
}

#[test]
fn out_of_sample_densities_have_the_same_bits_on_any_number_of_threads() {
    let x = clustered(400, 2, 12);
    let sample = Sample::new(x.rows(), &()).unwrap();
    let plan = Plan::in_turn(400, 7);
    for shape in [Shape::Gaussian, Shape::Triangular] {
        let learner =
            KernelDensity { shape, bandwidth: [0.1, 0.4, 1.5].into(), ..KernelDensity::default() };
        let on = |threads| learner.out_of_sample(&sample, &plan, &run(threads)).unwrap();
        let bits = |block: dolmen::learner::Block| -> Vec<u64> {
            block.splits.iter().flatten().flatten().map(|v| v.to_bits()).collect()
        };
        assert_eq!(bits(on(1)), bits(on(2)));
    }
}

#[test]
fn splits_that_cannot_be_fitted_fail_as_they_do_when_refitted() {
    // Without fold 0 the second column is constant.
    let values = (0..20).flat_map(|i| [f64::from(i), if i % 4 == 0 { f64::from(i) } else { 7.0 }]);
    let x = Features::numeric(values.collect(), 2).unwrap();
    let sample = Sample::new(x.rows(), &()).unwrap();
    let plan = Plan::in_turn(20, 4);
    let learner = KernelDensity { bandwidth: [0.5, 1.0].into(), ..KernelDensity::default() };
    let ours = learner.out_of_sample(&sample, &plan, &run(2)).unwrap();
    let theirs = dolmen::learner::refit(&learner, &sample, &plan, &run(2)).unwrap();
    assert_eq!(ours.failures, theirs.failures);
    assert_eq!(ours.failures.len(), 2);
    for (ours, theirs) in ours.splits.iter().flatten().zip(theirs.splits.iter().flatten()) {
        assert_eq!(ours.len(), theirs.len());
        assert!(ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Values on a coarse grid: rows lie exactly one bandwidth apart, and columns are nearly constant.
    #[test]
    fn rounded_values_are_summed_alike_by_every_way(
        values in prop::collection::vec(-6_i32..6, 600..900),
        queries in prop::collection::vec(-8_i32..8, 40),
        h in 1_u32..5,
    ) {
        let x = Features::numeric(values.iter().map(|v| f64::from(*v)).collect(), 1).unwrap();
        let y = Features::numeric(queries.iter().map(|v| f64::from(*v)).collect(), 1).unwrap();
        let weights = vec![1.0; values.len()];
        for shape in Shape::ALL {
            let absolute = Bandwidth::Absolute { absolute: vec![f64::from(h)] };
            let learner = KernelDensity { shape, bandwidth: absolute, ..KernelDensity::default() };
            let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
            let model = &learner.fit(&sample, &run(1)).unwrap()[0];
            let ours = predict(model.as_ref(), y.rows(), &run(1)).unwrap();
            for (query, ours) in y.rows().iter().zip(ours) {
                let exact = plain(shape, &[f64::from(h)], &x, &weights, query);
                prop_assert!(ours == exact || (ours - exact).abs() < 2e-10, "{:?} {} {}", shape, ours, exact);
            }
        }
    }
}
