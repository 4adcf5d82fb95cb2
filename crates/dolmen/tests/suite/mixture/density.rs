//! Fitted Gaussians, mixtures and averages as densities: they integrate to one, their marginals and conditionals are those
//! of the joint density, draws follow them, and they survive being stored.

use std::sync::Arc;

use dolmen::learner::Stored;
use dolmen::learner::averaged::{Averaged, Averaging, Resample};
use dolmen::learner::density::mixture::{Covariance, GaussianMixture, OneOrMany};
use dolmen::learner::density::{
    Atoms, DensityModel, FittedAtoms, FittedAverage, FittedGaussian, FittedMixture, Gaussian,
};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::store::Registry;
use dolmen::table::Features;
use dolmen::task::Density;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn run() -> Run {
    Run::with_threads(3, 1).unwrap()
}

/// Rows in a crescent and a blob, in columns of unlike scale.
fn rows(count: usize, columns: usize) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut values = Vec::new();
    for i in 0..count {
        let angle = 3.0 * rng.random::<f64>();
        let base = if i % 3 == 0 {
            [4.0, 1.0, -2.0]
        } else {
            [2.0 * angle.cos(), 2.0 * angle.sin(), angle]
        };
        let scales = [1.0, 0.1, 3.0];
        values.extend((0..columns).map(|j| scales[j] * (base[j] + 0.6 * rng.random::<f64>())));
    }
    Features::numeric(values, columns).unwrap()
}

type Model = Box<dyn Fitted<Density>>;

/// One fitted model of each kind and covariance.
fn models(columns: usize) -> Vec<Model> {
    let x = rows(150, columns);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let mut models: Vec<Model> = Vec::new();
    let kinds = [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];
    for (covariance, freedom) in
        kinds.into_iter().flat_map(|kind| [(kind, None), (kind, Some(30.0))])
    {
        let components = OneOrMany::One(3);
        let learner = GaussianMixture { components, covariance, freedom, ..Default::default() };
        models.extend(learner.fit(&sample, &run()).unwrap());
    }
    models.extend(Gaussian::default().fit(&sample, &run()).unwrap());
    models.extend(Atoms::default().fit(&sample, &run()).unwrap());
    let mixture = GaussianMixture { components: OneOrMany::One(2), ..Default::default() };
    let averaged = Averaged::new(mixture, Averaging { fits: 4, ..Default::default() });
    models.extend(averaged.fit(&sample, &run()).unwrap());
    models
}

fn density(model: &dyn Fitted<Density>, row: &[f64]) -> f64 {
    let x = Features::numeric(row.to_vec(), row.len()).unwrap();
    let mut out = [0.0];
    model.predict_into(x.rows(), &mut out).unwrap();
    out[0].exp()
}

/// The integral over an interval by the midpoint rule, which converges exponentially for smooth functions that vanish at both ends.
fn integrate(from: f64, to: f64, steps: u32, f: impl Fn(f64) -> f64) -> f64 {
    let h = (to - from) / f64::from(steps);
    (0..steps).map(|i| f(from + (f64::from(i) + 0.5) * h)).sum::<f64>() * h
}

#[test]
fn densities_of_one_column_integrate_to_one_and_to_their_cdf() {
    for model in models(1) {
        let p = |x: f64| density(model.as_ref(), &[x]);
        assert!((integrate(-30.0, 40.0, 4000, p) - 1.0).abs() < 1e-9);
        let cdf = |x: f64| model.density().unwrap().cdf(x).unwrap();
        for (a, b) in [(-1.0, 0.5), (0.5, 3.0), (3.0, 5.0)] {
            let area = integrate(a, b, 20_000, p);
            assert!((cdf(b) - cdf(a) - area).abs() < 1e-7, "{area}");
        }
        for share in [1e-6, 0.3, 0.999] {
            let x = model.density().unwrap().quantile(share).unwrap();
            assert!((cdf(x) - share).abs() < 1e-12);
        }
    }
}

#[test]
fn densities_of_two_columns_integrate_to_one() {
    let run = run();
    for model in models(2) {
        let total = integrate(-25.0, 25.0, 400, |x| {
            let step = 7.0 / 700.0;
            let cells = (0..700).flat_map(|i| [x, -3.0 + (f64::from(i) + 0.5) * step]);
            let line = Features::numeric(cells.collect(), 2).unwrap();
            let ln_p = predict(model.as_ref(), line.rows(), &run).unwrap();
            ln_p.iter().map(|p| p.exp()).sum::<f64>() * step
        });
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}

#[test]
fn densities_of_three_columns_integrate_to_one() {
    // Monte Carlo: the mean of p / q over draws from a wider mixture q, with its own standard error.
    let x = rows(150, 3);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let wide = GaussianMixture {
        covariance: Covariance::Diagonal,
        beta: OneOrMany::One(10.0),
        ..Default::default()
    };
    let wide = wide.fit_mixtures(&sample, &run()).unwrap().remove(0);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut draws = vec![0.0; 3 * 200_000];
    draws.chunks_exact_mut(3).for_each(|row| wide.sample_into(&mut rng, row));
    let draws = Features::numeric(draws, 3).unwrap();
    let q = predict(&wide, draws.rows(), &run()).unwrap();
    for model in models(3) {
        let p = predict(model.as_ref(), draws.rows(), &run()).unwrap();
        let ratios: Vec<f64> = p.iter().zip(&q).map(|(p, q)| (p - q).exp()).collect();
        let n = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / n;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n;
        let error = (variance / n).sqrt();
        assert!(error < 0.02 && (mean - 1.0).abs() < 4.0 * error, "{mean} +- {error}");
    }
}

#[test]
fn marginals_are_integrals_of_the_joint_density() {
    for model in models(2) {
        let marginal = model.density().unwrap().marginal(&[0]).unwrap();
        for x in [-2.0, 0.7, 4.2] {
            let area = integrate(-3.0, 4.0, 2000, |y| density(model.as_ref(), &[x, y]));
            let p = density(marginal.as_ref(), &[x]);
            assert!((p - area).abs() < 1e-9 * area.max(1e-3), "{p} is not {area}");
        }
        let swapped = model.density().unwrap().marginal(&[1, 0]).unwrap();
        let (p, q) = (density(model.as_ref(), &[0.5, 0.1]), density(swapped.as_ref(), &[0.1, 0.5]));
        assert!((p - q).abs() < 1e-12 * p);
    }
}

#[test]
fn conditionals_are_joint_over_marginal() {
    for model in models(3) {
        let joint = model.density().unwrap();
        let conditional = joint.condition(&[(2, 1.5), (0, 0.3)]).unwrap();
        let marginal = joint.marginal(&[0, 2]).unwrap();
        assert_eq!(conditional.dimension(), 1);
        let below = density(marginal.as_ref(), &[0.3, 1.5]);
        for y in [0.0, 0.11, 0.3] {
            let expected = density(model.as_ref(), &[0.3, y, 1.5]) / below;
            let p = density(conditional.as_ref(), &[y]);
            assert!((p - expected).abs() < 1e-9 * expected.max(1e-3), "{p} is not {expected}");
        }
        let pair = joint.condition(&[(1, 0.1)]).unwrap();
        let expected = density(model.as_ref(), &[0.3, 0.1, 1.5])
            / density(joint.marginal(&[1]).unwrap().as_ref(), &[0.1]);
        assert!((density(pair.as_ref(), &[0.3, 1.5]) - expected).abs() < 1e-9 * expected);
    }
}

#[test]
fn a_row_with_missing_values_gets_the_density_of_the_others() {
    for model in models(3) {
        let marginal = model.density().unwrap().marginal(&[0, 2]).unwrap();
        let p = density(model.as_ref(), &[0.3, f64::NAN, 1.5]);
        assert!((p - density(marginal.as_ref(), &[0.3, 1.5])).abs() < 1e-12 * p);
        assert!((density(model.as_ref(), &[f64::NAN; 3]) - 1.0).abs() < 1e-12);
        for row in [[f64::INFINITY, 0.0, f64::NEG_INFINITY], [1e300, 0.0, f64::NAN]] {
            let x = Features::numeric(row.to_vec(), 3).unwrap();
            let out = predict(model.as_ref(), x.rows(), &run()).unwrap();
            assert_eq!(out, [f64::NEG_INFINITY]);
        }
    }
}

#[test]
fn rows_are_predicted_each_by_itself() {
    for model in models(3) {
        let mut values = rows(100, 3).rows().values().to_vec();
        values.iter_mut().step_by(7).for_each(|v| *v = f64::NAN);
        let x = Features::numeric(values, 3).unwrap();
        let together = predict(model.as_ref(), x.rows(), &run()).unwrap();
        for (row, p) in x.rows().iter().zip(together) {
            let one = Features::numeric(row.to_vec(), 3).unwrap();
            assert_eq!(predict(model.as_ref(), one.rows(), &run()).unwrap(), [p]);
        }
        assert!(predict(model.as_ref(), rows(3, 2).rows(), &run()).is_err());
        let none = Features::numeric(Vec::new(), 3).unwrap();
        assert!(predict(model.as_ref(), none.rows(), &run()).unwrap().is_empty());
    }
}

#[test]
fn draws_follow_the_density() {
    // The mean log density of draws is minus the entropy, which the density itself gives by integration.
    for model in models(1) {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut draws = vec![0.0; 20_000];
        draws
            .chunks_exact_mut(1)
            .for_each(|row| model.density().unwrap().sample_into(&mut rng, row));
        // Kolmogorov-Smirnov: 1.95 / sqrt(n) is exceeded once in a thousand times.
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let gap = |(i, x): (usize, &f64)| {
            let share = model.density().unwrap().cdf(*x).unwrap();
            (share - i as f64 / n).abs().max((share - (i + 1) as f64 / n).abs())
        };
        let worst = draws.iter().enumerate().map(gap).fold(0.0, f64::max);
        assert!(worst < 1.95 / n.sqrt(), "{worst}");
    }
    for model in models(3) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut draws = vec![0.0; 3 * 20_000];
        draws
            .chunks_exact_mut(3)
            .for_each(|row| model.density().unwrap().sample_into(&mut rng, row));
        let draws = Features::numeric(draws, 3).unwrap();
        let refit = Gaussian::default();
        let sample = Sample::<Density>::new(draws.rows(), &()).unwrap();
        let drawn = refit.fit_gaussian(&sample, &run()).unwrap().parameters();
        // The covariance of two columns of the model, by integration of the marginal's conditional means.
        for j in 0..3 {
            let marginal = model.density().unwrap().marginal(&[j]).unwrap();
            let mean = integrate(-40.0, 40.0, 8000, |x| x * density(marginal.as_ref(), &[x]));
            let variance = integrate(-40.0, 40.0, 8000, |x| {
                (x - mean).powi(2) * density(marginal.as_ref(), &[x])
            });
            let error = (variance / 20_000.0).sqrt();
            assert!((drawn.means[0][j] - mean).abs() < 4.0 * error);
        }
    }
}

#[test]
fn what_cannot_be_marginalised_or_conditioned_is_refused() {
    for model in models(2) {
        let density = model.density().unwrap();
        assert!(density.marginal(&[]).is_err());
        assert!(density.marginal(&[2]).is_err());
        assert!(density.marginal(&[0, 0]).is_err());
        assert!(density.condition(&[]).is_err());
        assert!(density.condition(&[(0, f64::NAN)]).is_err());
        assert!(density.condition(&[(0, 0.0), (1, 0.0)]).is_err());
        assert!(density.cdf(0.0).is_err());
    }
}

#[test]
fn stored_models_say_the_same() {
    let registry = Registry::default()
        .with_model::<Density, FittedGaussian>()
        .with_model::<Density, FittedMixture>()
        .with_model::<Density, FittedAtoms>()
        .with_model::<Density, FittedAverage>();
    let x = rows(40, 3);
    for model in models(3) {
        let record = model.record().unwrap();
        let back = registry.model::<Density>(&record).unwrap();
        assert_eq!(
            predict(model.as_ref(), x.rows(), &run()).unwrap(),
            predict(back.as_ref(), x.rows(), &run()).unwrap()
        );
        assert_eq!(model.diagnostics(), back.diagnostics());
        assert_eq!(record, back.record().unwrap());
    }
    assert_eq!(
        [FittedGaussian::KIND, FittedMixture::KIND, FittedAverage::KIND],
        ["gaussian", "mixture", "averaged"]
    );
}

#[test]
fn an_average_is_the_mean_of_its_parts() {
    let x = rows(120, 2);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let ladder: Arc<dyn Learner<Density>> =
        Arc::new(GaussianMixture { components: OneOrMany::Many(vec![1, 3]), ..Default::default() });
    for resample in [Resample::Starts, Resample::Subsample, Resample::Bootstrap] {
        let averaging = Averaging { fits: 5, resample, ..Default::default() };
        let learner = Averaged::of(Arc::clone(&ladder), averaging);
        let models = learner.fit(&sample, &run()).unwrap();
        assert_eq!(models.len(), learner.members().len());
        let record = models[1].record().unwrap();
        let registry = Registry::default().with_model::<Density, FittedMixture>();
        let average = FittedAverage::restore(&record, &registry).unwrap();
        assert_eq!(average.parts().len(), 5);
        let out = predict(&average, x.rows(), &run()).unwrap();
        let parts: Vec<Vec<f64>> = average
            .parts()
            .iter()
            .map(|p| predict(p.as_ref(), x.rows(), &run()).unwrap())
            .collect();
        for (i, p) in out.iter().enumerate() {
            let mean = parts.iter().map(|part| part[i].exp()).sum::<f64>() / 5.0;
            assert!((p.exp() - mean).abs() < 1e-12 * mean);
        }
        let two = learner.fit(&sample, &Run::with_threads(3, 2).unwrap()).unwrap();
        assert_eq!(record, two[1].record().unwrap());
    }
}

#[test]
fn a_bootstrap_of_weighted_rows_is_a_bootstrap() {
    // The parts' means scatter as means of resampled rows do: standard deviation sigma / sqrt(N).
    let x = rows(200, 1);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let averaging = Averaging { fits: 400, ..Default::default() };
    let learner = Averaged::new(Gaussian::default(), averaging);
    let model = learner.fit(&sample, &run()).unwrap().remove(0);
    let registry = Registry::default().with_model::<Density, FittedGaussian>();
    let average = FittedAverage::restore(&model.record().unwrap(), &registry).unwrap();
    let medians: Vec<f64> =
        average.parts().iter().map(|p| p.density().unwrap().quantile(0.5).unwrap()).collect();
    let mean = medians.iter().sum::<f64>() / 400.0;
    let variance = medians.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 399.0;
    let whole = Gaussian::default().fit_gaussian(&sample, &run()).unwrap().parameters();
    let expected = whole.covariances[0][0][0] / 200.0;
    assert!(
        (variance / expected - 1.0).abs() < 4.0 * (2.0_f64 / 399.0).sqrt(),
        "{variance} {expected}"
    );
    assert!((mean - whole.means[0][0]).abs() < 4.0 * (expected / 400.0).sqrt());
}
