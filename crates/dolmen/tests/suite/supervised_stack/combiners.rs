//! Every combiner: proper predictions, optimality, refusals.

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::combine::{Combiner, Evidence, Weights, log_evidence};
use dolmen::ensemble::{Check, Ensemble, Stack};
use dolmen::learner::Stored;
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::store::{Parameters, Record};
use dolmen::table::{Features, Rows};
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use dolmen::{Error, Result};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::made::{bent, close, flowers, learners, run, spec, stack_by};

/// Every combiner gives proper predictions, the same after a stay in a file and on any number of threads.
#[test]
fn every_combiner_combines_classes() {
    let (x, labels) = flowers(120, 2);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let (fresh, truth) = flowers(90, 3);
    let members = ["logistic(lambda=1)", "bayes(density=gaussian)", "class-frequencies"];
    let loss = |predicted: &[f64]| {
        let rows = predicted.chunks_exact(3).enumerate();
        -rows.map(|(i, row)| row[truth.class(i)].ln()).sum::<f64>() / 90.0
    };
    for text in [
        "simplex(prior=2)",
        "em",
        "uniform",
        "best",
        "greedy(rounds=10)",
        "pseudo-bma",
        "pseudo-bma+",
        "logistic",
        "logistic(on=logits, lambda=1)",
        "log-pool",
        "gate",
        "bma",
        "learner(of=tree(depth=3), inputs=true)",
        "learner(of=stack(members=[logistic, class-frequencies], combiner=log-pool), on=logits)",
    ] {
        let stack = stack_by::<Classification>(text, &members).folds(4);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let predicted = predict(&ensemble, fresh.rows(), &run()).unwrap();
        for row in predicted.chunks_exact(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{text}: {row:?}");
            assert!(row.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)), "{text}: {row:?}");
        }
        // Better than the class frequencies, ln 3.
        assert!(loss(&predicted) < 1.09, "{text}: {}", loss(&predicted));
        let again = Ensemble::<Classification>::restore(
            &ensemble.record().unwrap(),
            Catalogue::standard().registry(),
        );
        assert_eq!(predict(&again.unwrap(), fresh.rows(), &run()).unwrap(), predicted, "{text}");
        let alone = Run::with_threads(0, 1).unwrap();
        let other = stack.fit_ensemble(&sample, &alone).unwrap();
        assert_eq!(predict(&other, fresh.rows(), &alone).unwrap(), predicted, "{text}");
    }
}

#[test]
fn every_combiner_combines_numbers() {
    let (x, y) = bent(150, 4);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let (fresh, truth) = bent(100, 5);
    let members = ["ridge(lambda=1)", "tree", "mean"];
    for text in [
        "simplex",
        "uniform",
        "best",
        "non-negative",
        "greedy",
        "ridge",
        "ridge(lambda=1, inputs=true)",
        "gate",
        "bma",
        "learner(of=stack(members=[ridge, tree], combiner=ridge), inputs=true)",
    ] {
        let members = if text == "bma" { &["ridge(lambda=1)", "mean"][..] } else { &members[..] };
        let stack = stack_by::<Regression>(text, members).folds(4);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let predicted = predict(&ensemble, fresh.rows(), &run()).unwrap();
        let mean = truth.iter().sum::<f64>() / 100.0;
        let square =
            |p: &dyn Fn(usize) -> f64| (0..100).map(|i| (truth[i] - p(i)).powi(2)).sum::<f64>();
        assert!(square(&|i| predicted[i]) < square(&|_| mean), "{text}");
        let again = Ensemble::<Regression>::restore(
            &ensemble.record().unwrap(),
            Catalogue::standard().registry(),
        );
        assert_eq!(predict(&again.unwrap(), fresh.rows(), &run()).unwrap(), predicted, "{text}");
    }
}

#[test]
fn combiners_refuse_what_does_not_suit_them() {
    let (x, y) = bent(40, 6);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let refused = |text: &str, word: &str| {
        let error = match Regression::combiner(&spec(text)) {
            Err(error) => error,
            Ok(combiner) => {
                let stack = Stack::choosing(vec![combiner]);
                let stack = stack.members(learners::<Regression>(&["mean", "tree"])).folds(3);
                stack.fit_ensemble(&sample, &run()).unwrap_err()
            }
        };
        assert!(error.to_string().contains(word), "{text}: {error}");
    };
    refused("log-pool", "class probabilities");
    refused("logistic", "logistic");
    refused("bma", "tree");
    refused("em", "method");
    refused("gate(lambda=[-1])", "lambda");
    refused("simplexx", "simplex");
    refused("ridge(lamda=1)", "lamda");
}

/// Predictions of two members for rows of two classes.
fn pair_of_members(rows: usize) -> OutOfSample<Classification> {
    let mut rng = run().child(9).rng();
    let codes: Vec<u32> = (0..rows).map(|_| u32::from(rng.random::<f64>() < 0.5)).collect();
    let member = |rng: &mut rand_chacha::ChaCha8Rng, sharpness: f64| -> Vec<f64> {
        let row = |&c: &u32| {
            let noise: f64 = StandardNormal.sample(rng);
            let p = 1.0 / (1.0 + (-sharpness * (2.0 * f64::from(c) - 1.0 + noise)).exp());
            [1.0 - p, p]
        };
        codes.iter().flat_map(row).collect()
    };
    let columns =
        vec![("one".into(), member(&mut rng, 0.4)), ("two".into(), member(&mut rng, 0.7))];
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    OutOfSample::from_columns(columns, labels, None).unwrap()
}

#[test]
fn the_powers_of_a_log_pool_are_optimal() {
    let oos = pair_of_members(300);
    let found = Classification::combiner(&spec("log-pool(lambda=0)")).unwrap();
    let pool = found.fit(&Evidence::from(&oos), &run()).unwrap().remove(0);
    let powers = pool.weights().unwrap().to_vec();
    // Timid members ask for powers above 1.
    assert!(powers.iter().sum::<f64>() > 1.5, "{powers:?}");
    let score = |w: &[f64]| {
        let log = |i: usize, c: usize| w[0] * oos.row(0, i)[c].ln() + w[1] * oos.row(1, i)[c].ln();
        let row = |i: usize| {
            let own = oos.target().class(i);
            log(i, own) - (log(i, 0).exp() + log(i, 1).exp()).ln()
        };
        (0..300).map(row).sum::<f64>() / 300.0
    };
    let best = score(&powers);
    for (a, b) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3), (1e-3, -1e-3)] {
        assert!(score(&[powers[0] + a, powers[1] + b]) < best, "{a} {b}");
    }
    let slope =
        (score(&[powers[0] + 1e-5, powers[1]]) - score(&[powers[0] - 1e-5, powers[1]])) / 2e-5;
    assert!(slope.abs() < 1e-8, "{slope}");
}

#[test]
fn simplex_weights_on_the_true_class_are_the_limit_of_em() {
    let oos = pair_of_members(200);
    let weigh = |weights: &Weights| -> Vec<f64> {
        let found = weights.fit(&Evidence::from(&oos), &run()).unwrap();
        found[0].weights().unwrap().to_vec()
    };
    for prior in [1.0, 2.0] {
        let exact = weigh(&Weights { prior, ..Weights::default() });
        // CerquidesMantaras2005's EM for the mixture of posteriors, run far beyond the papers' stopping rule.
        let mut alpha = [0.5, 0.5];
        for _ in 0..200_000 {
            let mut next = [prior - 1.0; 2];
            for i in 0..200 {
                let own = oos.target().class(i);
                let p = [alpha[0] * oos.row(0, i)[own], alpha[1] * oos.row(1, i)[own]];
                next.iter_mut().zip(p).for_each(|(next, p1)| *next += p1 / (p[0] + p[1]));
            }
            let total = next[0] + next[1];
            alpha = next.map(|n| n / total);
        }
        exact.iter().zip(alpha).for_each(|(a, b)| close(*a, b, 1e-6, "weight"));
    }
}

/// Right about one side of 0, lost on the other.
#[derive(Debug)]
struct OneSided(f64);

#[derive(Debug)]
struct Sided(f64);

impl Learner<Classification> for OneSided {
    fn members(&self) -> Vec<String> {
        vec![format!("right where {}", self.0)]
    }
    fn fit(
        &self,
        _: &Sample<'_, Classification>,
        _: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        Ok(vec![Box::new(Sided(self.0))])
    }
}

impl Fitted<Classification> for Sided {
    fn parameters(&self) -> Parameters {
        Parameters::new("sided")
    }

    fn width(&self) -> usize {
        2
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        for (row, out) in x.iter().zip(out.chunks_exact_mut(2)) {
            let knows = row[0] * self.0 > 0.0;
            let p = if !knows {
                0.5
            } else if row[1] > 0.0 {
                0.95
            } else {
                0.05
            };
            out.copy_from_slice(&[1.0 - p, p]);
        }
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Err(Error::shape("a record", 1, 0))
    }
}

#[test]
fn a_gate_sends_rows_to_the_member_that_knows_them() {
    let mut rng = run().child(11).rng();
    let x: Vec<f64> = (0..400).map(|_| rng.random_range(-1.0..1.0)).collect();
    let codes = x.chunks_exact(2).map(|x| u32::from(x[1] > 0.0)).collect();
    let x = Features::numeric(x, 2).unwrap();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let gate = Classification::combiner(&spec("gate")).unwrap();
    let stack = Stack::choosing(vec![gate]).member(OneSided(1.0)).member(OneSided(-1.0));
    let ensemble = stack.check(Check::Nested).folds(5).fit_ensemble(&sample, &run()).unwrap();
    let assessment = ensemble.assessment().unwrap();
    assert_ne!(assessment.chosen, "simplex");
    let score =
        |name: &str| assessment.candidates.iter().find(|c| c.name == name).unwrap().score.mean;
    // Constant weights of 1/2 each give about ln 0.725 a row; a perfect gate would give ln 0.95.
    assert!(score("simplex") < 0.75_f64.ln(), "{assessment:?}");
    assert!(score(&assessment.chosen) > 0.85_f64.ln(), "{assessment:?}");
    // Held strongly enough, the gate is constant.
    let oos = ensemble.matrix().unwrap();
    let evidence = Evidence { x: Some(x.rows()), ..Evidence::from(oos) };
    let held = Classification::combiner(&spec("gate(lambda=[1e6], tolerance=1e-9)")).unwrap();
    let columns = [oos.column(0), oos.column(1)];
    let combined = held.fit(&evidence, &run()).unwrap().into_iter().map(|combination| {
        let mut out = vec![0.0; 400];
        combination.combine_into(&columns, 2, x.rows(), &mut out).unwrap();
        out
    });
    let combined: Vec<Vec<f64>> = combined.collect();
    for (constant, gated) in combined[0].iter().zip(&combined[1]) {
        close(*gated, *constant, 1e-5, "held to constants");
    }
}

#[test]
fn bma_weighs_by_bic() {
    let (x, y) = bent(80, 12);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = stack_by::<Regression>("bma", &["ridge(lambda=0)", "ridge(lambda=60)", "mean"]);
    let ensemble = stack.folds(4).keep_all(true).fit_ensemble(&sample, &run()).unwrap();
    // The normal likelihood at its optimum, three coefficients (or one) and a variance.
    let evidence = |model: &dyn Fitted<Regression>, parameters: f64| {
        let predicted = predict(model, x.rows(), &run()).unwrap();
        let rss: f64 = y.iter().zip(predicted).map(|(y, p)| (y - p).powi(2)).sum();
        let variance = rss / 80.0;
        let normal = |y: f64| -0.5 * ((std::f64::consts::TAU * variance).ln() + y / variance);
        80.0 * normal(rss / 80.0) - 0.5 * parameters * 80.0_f64.ln()
    };
    let logs: Vec<f64> =
        ensemble.models().zip([4.0, 4.0, 2.0]).map(|(model, k)| evidence(model, k)).collect();
    for (model, log) in ensemble.models().zip(&logs) {
        close(log_evidence(model, &sample, &run()).unwrap(), *log, 1e-9, "log evidence");
    }
    let largest = logs.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let total: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    for (weight, log) in ensemble.combination().weights().unwrap().iter().zip(&logs) {
        close(*weight, (log - largest).exp() / total, 1e-9, "weight");
    }
}
