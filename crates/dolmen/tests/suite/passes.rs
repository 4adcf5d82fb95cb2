//! Fits in passes: the same in memory, in pieces, on their way through bytes, and from blocks of a table.

use dolmen::Run;
use dolmen::catalogue::Catalogue;
use dolmen::learner::density::Gaussian;
use dolmen::learner::density::mixture::{Covariance, GaussianMixture, OneOrMany};
use dolmen::learner::pass::{AnyPass, AnyStep, Piece};
use dolmen::learner::{Fitted, Learner, Sample, Weights};
use dolmen::recipe::Recipe;
use dolmen::recipe::stream::Cut;
use dolmen::table::{Column, Features, Table};
use dolmen::task::Density;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of three clusters; a share of the values is missing.
fn rows(n: usize, d: usize, missing: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut value = || {
        let centre = f64::from(rng.random_range(0..3_u8)) * 4.0;
        let value = centre + rng.random::<f64>() + rng.random::<f64>() - 1.0;
        if rng.random::<f64>() < missing { f64::NAN } else { value }
    };
    (0..n * d).map(|_| value()).collect()
}

/// Makes the passes over pieces of so many rows; states and sums go through bytes as between two machines.
fn in_pieces(
    learner: &dyn Learner<Density>,
    sample: &Sample<'_, Density>,
    piece: usize,
    weights: Option<&[f64]>,
    run: &Run,
) -> Vec<Box<dyn Fitted<Density>>> {
    let registry = Catalogue::standard().registry();
    let mut pass = learner.pass(sample.x(), run).unwrap().unwrap();
    loop {
        let record = pass.record().unwrap();
        let mut total = None;
        for first in (0..sample.rows()).step_by(piece) {
            let there: Box<dyn AnyPass<Density>> = registry.restore(&record).unwrap();
            let range = first..sample.rows().min(first + piece);
            let part = Sample::<Density>::new(sample.x().slice(range.clone()), &()).unwrap();
            let part = match weights {
                Some(weights) => part.counted(&weights[range]).unwrap(),
                None => part,
            };
            let sums = there.sums(&Piece::new(part, first as u64)).unwrap();
            let sums = pass.read_sums(&there.write_sums(&sums).unwrap()).unwrap();
            match &mut total {
                None => total = Some(sums),
                Some(total) => pass.merge(total, sums).unwrap(),
            }
        }
        match pass.next(total.unwrap()).unwrap() {
            AnyStep::Again(next) => pass = next,
            AnyStep::Done(models) => return models,
        }
    }
}

fn learners() -> Vec<Box<dyn Learner<Density>>> {
    let mixture = |covariance| GaussianMixture {
        components: OneOrMany::Many(vec![2, 3]),
        covariance,
        ..GaussianMixture::default()
    };
    vec![
        Box::new(Gaussian::default()),
        Box::new(mixture(Covariance::Full)),
        Box::new(mixture(Covariance::Tied)),
        Box::new(mixture(Covariance::Diagonal)),
    ]
}

#[test]
fn one_piece_gives_the_bits_of_a_fit_in_memory_and_several_nearly_so() {
    let run = Run::new(3);
    for missing in [0.0, 0.1] {
        let x = Features::numeric(rows(3000, 3, missing), 3).unwrap();
        let weights: Vec<f64> = (0..3000).map(|i| f64::from(i % 4)).collect();
        let weights = Weights::new(weights).unwrap();
        let sample = Sample::<Density>::new(x.rows(), &()).unwrap().weighted(&weights).unwrap();
        for learner in learners() {
            let expected = learner.fit(&sample, &run).unwrap();
            let whole = in_pieces(learner.as_ref(), &sample, 3000, Some(weights.values()), &run);
            let parts = in_pieces(learner.as_ref(), &sample, 700, Some(weights.values()), &run);
            for ((expected, whole), parts) in expected.iter().zip(whole).zip(parts) {
                assert_eq!(expected.record().unwrap(), whole.record().unwrap(), "{learner:?}");
                let ln_p = |model: &dyn Fitted<Density>| {
                    let mut out = vec![0.0; 3000];
                    model.predict_into(x.rows(), &mut out).map(|()| out).unwrap()
                };
                let pairs = ln_p(expected.as_ref()).into_iter().zip(ln_p(parts.as_ref()));
                let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-9, "{learner:?}: {worst}");
            }
        }
    }
}

fn table(n: usize) -> Table {
    let values = rows(n, 2, 0.0);
    let column = |j: usize| Column::Numeric(values[j..].iter().step_by(2).copied().collect());
    Table::new(vec![("x".into(), column(0)), ("y".into(), column(1))]).unwrap()
}

#[test]
fn blocks_give_the_stack_of_the_whole_table() {
    let recipe = Recipe::from_toml(
        "members = ['gaussian', 'mixture(components=2)', 'mixture(components=3)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'",
    )
    .unwrap();
    let run = Run::new(0);
    let table = table(5000);
    let whole = recipe.fit(&table, &run).unwrap();
    let weights = |report: &dolmen::recipe::FitReport| {
        let json = serde_json::to_value(report).unwrap();
        let members = json["members"].as_array().unwrap().clone();
        members.iter().map(|m| m["weight"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    for rows in [5000, 1111] {
        let source = Cut { table: table.clone(), rows };
        let streamed = recipe.fit_blocks(&source, &run).unwrap();
        let (a, b) = (weights(&whole.report), weights(&streamed.report));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9, "{a} {b} in blocks of {rows}");
        }
        assert_eq!(a.len(), 3);
    }
}

#[test]
fn the_sample_changes_what_is_said_of_errors_not_the_weights() {
    let recipe = Recipe::from_toml(
        "members = ['gaussian', 'mixture(components=3)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'\nkeep_stack = true",
    )
    .unwrap();
    let run = Run::new(0);
    let source = Cut { table: table(20_000), rows: 4096 };
    let much = recipe.fit_blocks(&source, &run).unwrap();
    // Memory for a sample of some thousand rows.
    let modest = Recipe { memory: Some("2M".into()), ..recipe };
    let little = modest.fit_blocks(&source, &run).unwrap();
    let notes = little.report.data_notes().join(" ");
    assert!(notes.contains("sample of"), "{notes}");
    let parameters = |fit: &dolmen::recipe::Fit| {
        let json = serde_json::to_value(fit.model.parameters()).unwrap();
        json["combination"]["weights"].as_array().cloned()
    };
    let (a, b) = (parameters(&much), parameters(&little));
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    for (a, b) in pairs {
        assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-8, "{a} {b}");
    }
}
