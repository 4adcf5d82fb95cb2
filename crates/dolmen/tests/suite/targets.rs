//! What learners make of their target beside its values: statistics of it by category, the order of classes, counts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use dolmen::Run;
use dolmen::catalogue::{Catalogued, Effort};
use dolmen::learner::{Fitted, Learner, Sample};
use dolmen::recipe::Recipe;
use dolmen::spec::Spec;
use dolmen::table::{Categories, Column, Features, Field, Kind, Rows, Schema, Table};
use dolmen::target::{Labels, Target, are_counts};
use dolmen::task::{Classification, Regression};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn learner<T: Catalogued>(spec: &str) -> Box<dyn Learner<T>> {
    T::learner(&Spec::parse(spec).unwrap()).unwrap()
}

/// The mean score of a learner on the later half of the rows, learned from the earlier one.
fn held_out<T: Catalogued>(spec: &str, x: Rows<'_>, target: &T::Target) -> f64 {
    let half = x.rows() / 2;
    let (first, second): (Vec<usize>, Vec<usize>) = (0..x.rows()).partition(|i| *i < half);
    let sample = Sample::<T>::new(x, target).unwrap();
    let model = learner::<T>(spec).fit(&sample.select(&first).borrow(), &Run::new(3)).unwrap();
    let width = model[0].width();
    let mut out = vec![0.0; second.len() * width];
    model[0].predict_into(x.view(&second).rows(), &mut out).unwrap();
    let score = |(row, &i): (&[f64], &usize)| T::score(row, target, i);
    out.chunks_exact(width).zip(&second).map(score).sum::<f64>() / second.len() as f64
}

/// A category of so many levels beside a number.
fn levelled(rows: usize, levels: usize, rng: &mut ChaCha8Rng) -> Features {
    let names: Arc<[String]> = (0..levels).map(|level| format!("level {level}")).collect();
    let fields = vec![
        Field { name: "shop".into(), kind: Kind::Categorical { levels: names } },
        Field { name: "x".into(), kind: Kind::Numeric },
    ];
    let row = |_| [rng.random_range(0..levels) as f64, rng.random::<f64>()];
    let values: Vec<f64> = (0..rows).flat_map(row).collect();
    Features::new(values, Arc::new(Schema::new(fields))).unwrap()
}

/// Levels that say nothing must not look as if they did: nothing is lost beside the learner that never saw them.
#[test]
fn statistics_of_noise_gain_nothing_and_lose_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let x = levelled(3000, 400, &mut rng);
    let codes = (0..3000).map(|_| rng.random_range(0..2)).collect();
    let labels = Labels::new(["a", "b"].map(String::from), codes).unwrap();
    let chance = -2.0_f64.ln();
    for of in ["logistic", "boost(rounds=40, rate=0.05, depth=3)"] {
        let spec = format!("encoded(targets=instead, of={of})");
        let score = held_out::<Classification>(&spec, x.rows(), &labels);
        assert!((chance - 0.03..chance + 0.005).contains(&score), "{spec}: {score}");
    }
}

#[test]
fn many_levels_with_effects_are_learned_by_their_statistics() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let x = levelled(4000, 200, &mut rng);
    let effects: Vec<f64> = (0..200).map(|_| 4.0 * rng.random::<f64>()).collect();
    let y: Vec<f64> = x
        .rows()
        .iter()
        .map(|row| effects[row[0] as usize] + row[1] + rng.random::<f64>())
        .collect();
    // Indicators of the levels are all alike to distances.
    let alone = held_out::<Regression>("neighbours(k=15)", x.rows(), &y);
    let spec = "encoded(targets=instead, of=neighbours(k=15))";
    let with = held_out::<Regression>(spec, x.rows(), &y);
    assert!(with > alone, "{with} {alone}");
    assert!(with > -0.5, "{with}");
}

/// Against the definition: a learner that tells the frequencies of two classes makes the frequencies of all.
#[test]
fn ordered_classes_add_up_from_their_questions() {
    let classes = ["10", "9", "11"].map(String::from);
    let codes: Vec<u32> = (0..60).map(|i| [0, 1, 2, 0, 0, 1][i % 6]).collect();
    let labels = Labels::new(classes, codes).unwrap();
    let x = Features::numeric((0..60).map(f64::from).collect(), 1).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let spec = "ordinal(of=class-frequencies(pseudo_count=0))";
    let model = learner::<Classification>(spec).fit(&sample, &Run::new(1)).unwrap();
    let mut out = [0.0; 3];
    model[0].predict_into(x.rows().slice(0..1), &mut out).unwrap();
    // 30, 20 and 10 of 60 rows; one more row of the frequencies (31, 21, 11) / 63.
    for (found, (rows, share)) in out.iter().zip([(30.0, 31.0), (20.0, 21.0), (10.0, 11.0)]) {
        let expected = (rows + share / 63.0) / 61.0;
        assert!((found - expected).abs() < 1e-12, "{out:?}");
    }
}

/// Where the chance of lying beyond a place is logistic in the inputs, asking for it is right, and three unlike slopes are too much.
#[test]
fn ordered_classes_learn_from_their_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let rows = 600;
    let x: Vec<f64> = (0..2 * rows).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect();
    let noise = |rng: &mut ChaCha8Rng| {
        let p: f64 = rng.random();
        (p / (1.0 - p)).ln()
    };
    let grade = |row: &[f64]| {
        let score = 2.0 * row[0] + noise(&mut rng);
        [-3.0, -1.0, 1.0, 3.0].iter().filter(|cut| score > **cut).count() as u32
    };
    let codes: Vec<u32> = x.chunks_exact(2).map(grade).collect();
    let classes = ["1", "2", "3", "4", "5"].map(String::from);
    let labels = Labels::new(classes, codes).unwrap();
    let x = Features::numeric(x, 2).unwrap();
    let ordered = held_out::<Classification>("ordinal(of=logistic)", x.rows(), &labels);
    let shares = held_out::<Classification>("class-frequencies", x.rows(), &labels);
    assert!(ordered > shares + 0.3, "{ordered} {shares}");
    let unordered = held_out::<Classification>("logistic", x.rows(), &labels);
    assert!(ordered > unordered - 0.02, "{ordered} {unordered}");
}

#[test]
fn classes_that_are_no_numbers_need_their_order() {
    let labels = Labels::new(["a", "b", "c"].map(String::from), vec![0, 1, 2, 0, 1, 2]).unwrap();
    let x = Features::numeric((0..6).map(f64::from).collect(), 1).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let fit = |spec: &str| learner::<Classification>(spec).fit(&sample, &Run::new(1)).map(|_| ());
    assert!(fit("ordinal(of=class-frequencies)").unwrap_err().to_string().contains("order"));
    for wrong in ["[a, b]", "[a, b, d]", "[a, b, c, c]"] {
        let error = fit(&format!("ordinal(of=class-frequencies, order={wrong})")).unwrap_err();
        assert!(error.to_string().contains("a, b, c"), "{error}");
    }
    fit("ordinal(of=class-frequencies, order=[c, a, b])").unwrap();
}

#[test]
fn counts_have_their_member_and_are_never_predicted_below_zero() {
    let visits: Vec<f64> = (0..80).map(|i| f64::from((i * i * 7 % 11) / 3 * (i % 3))).collect();
    assert!(are_counts(&visits));
    let others: [fn(f64) -> f64; 4] = [|y| y - 1.0, |y| y + 0.5, |y| 100.0 + y, |y| 10.0 - y];
    for other in others {
        let numbers: Vec<f64> = visits.iter().map(|y| other(*y)).collect();
        assert!(!are_counts(&numbers), "{numbers:?}");
    }
    assert!(!are_counts(&[0.0, 1.0, 0.0, 0.0]) && !are_counts(&[]));
    let x = Features::numeric((0..80).map(f64::from).collect(), 1).unwrap();
    let members = |y: &Vec<f64>| Regression::members_for(Effort::Usual, x.rows(), y);
    let poisson = Spec::parse("boost(loss=poisson)").unwrap();
    assert!(members(&visits).contains(&poisson));
    assert!(!members(&x.rows().column(0).map(|x| x - 40.0).collect()).contains(&poisson));

    // A line through these falls below 0 where nothing was counted.
    let column = |values: Vec<f64>| Column::Numeric(values);
    let inputs: Vec<f64> = (0..80).map(f64::from).collect();
    let counts: Vec<f64> = (0..80).map(|i| f64::from((i - 50).max(0))).collect();
    let table = Table::new(vec![("x".into(), column(inputs)), ("n".into(), column(counts))]);
    let recipe = Recipe {
        target: Some("n".into()),
        margin: Some(0.5),
        members: vec![Spec::parse("ridge").unwrap()],
        keep_stack: true,
        ..Recipe::default()
    };
    let fit = recipe.fit(&table.unwrap(), &Run::new(0)).unwrap();
    let dolmen::recipe::AnyModel::Regression(model) = fit.model.any() else { panic!("numbers") };
    let mut out = [0.0; 3];
    let schema = Schema::new(vec![Field { name: "x".into(), kind: Kind::Numeric }]);
    let far = Features::new(vec![-40.0, 0.0, 79.0], Arc::new(schema)).unwrap();
    model.predict_into(far.rows(), &mut out).unwrap();
    assert_eq!(out[..2], [0.0, 0.0]);
    assert!(out[2] > 10.0);
}

/// A class whose only row is held out is unlikely, not impossible: one such row would make the whole score minus infinity.
#[test]
fn no_class_is_impossible_for_averaged_trees() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let x = levelled(90, 4, &mut rng);
    for classes in [2, 3] {
        let names: Vec<String> = ["a", "b", "c"].map(String::from)[..classes].to_vec();
        // The last class has no row.
        let codes = (0..90).map(|i| i % (classes as u32 - 1)).collect();
        let labels = Labels::new(names, codes).unwrap();
        let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
        for spec in [
            "forest(trees=20)",
            "extra-trees(trees=20)",
            "ordinal(of=forest(trees=20), order=ORDER)",
        ] {
            let order = format!("[{}]", labels.classes().join(", "));
            let spec = spec.replace("ORDER", &order);
            let model = learner::<Classification>(&spec).fit(&sample, &Run::new(1)).unwrap();
            let mut out = vec![0.0; 90 * classes];
            model[0].predict_into(x.rows(), &mut out).unwrap();
            let least = out.chunks_exact(classes).map(|row| row[classes - 1]).fold(1.0, f64::min);
            assert!(least > 1e-9 && least < 0.1, "{spec}: {least}");
        }
    }
}

#[test]
fn a_fit_tells_what_its_target_may_be() {
    let notes = |values: Vec<&str>, task| {
        let x = (0..values.len()).map(|i| (i as f64).sin()).collect();
        let mut levels: Vec<String> = values.iter().map(|value| (*value).to_string()).collect();
        levels.sort();
        levels.dedup();
        let code = |value: &&str| levels.iter().position(|level| level == value).unwrap() as u32;
        let codes = values.iter().map(code).collect();
        let target = Categories { levels: levels.clone().into(), codes };
        let columns =
            vec![("x".into(), Column::Numeric(x)), ("y".into(), Column::Categorical(target))];
        let recipe = Recipe { target: Some("y".into()), task, ..Recipe::default() };
        recipe.data(Table::new(columns).unwrap()).unwrap().notes
    };
    let grades = notes(["1", "2", "3"].repeat(10), None);
    assert!(grades.iter().any(|note| note.contains("ordinal")), "{grades:?}");
    let names = notes(["1", "2", "4"].repeat(10), None);
    assert!(!names.iter().any(|note| note.contains("ordinal")), "{names:?}");
    let mut lonely = ["a", "b"].repeat(10);
    lonely.push("c");
    let lonely = notes(lonely, None);
    assert!(lonely.iter().any(|note| note.contains("single row: c;")), "{lonely:?}");
}

/// Levels that a node has no rows of must not all go to the side of the larger values.
#[test]
fn forests_do_not_predict_rare_levels_too_high() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let x = levelled(2400, 200, &mut rng);
    let y: Vec<f64> = (0..2400).map(|_| rng.random::<f64>() - 0.5).collect();
    let (first, second): (Vec<usize>, Vec<usize>) = (0..2400).partition(|i| *i < 800);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    for spec in ["forest(trees=60, columns=1)", "extra-trees(trees=60, columns=1)"] {
        let forest = learner::<Regression>(spec);
        let model = forest.fit(&sample.select(&first).borrow(), &Run::new(3)).unwrap();
        let mut out = vec![0.0; second.len()];
        model[0].predict_into(x.rows().view(&second).rows(), &mut out).unwrap();
        let mean = |of: &mut dyn Iterator<Item = f64>| of.sum::<f64>() / second.len() as f64;
        let off = mean(&mut out.iter().copied()) - mean(&mut second.iter().map(|&i| y[i]));
        // A standard deviation is 0.29.
        assert!(off.abs() < 0.06, "{spec}: {off}");
    }
}

/// What multiplies is a sum of logarithms, and what comes back is a mean.
#[test]
fn skewed_numbers_are_learned_on_another_scale() {
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    let x = Features::numeric((0..1200).map(|_| rng.random::<f64>()).collect(), 2).unwrap();
    let noise = |rng: &mut ChaCha8Rng| (0..6).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
    let y: Vec<f64> =
        x.rows().iter().map(|row| (3.0 * row[0] + row[1] + noise(&mut rng)).exp()).collect();
    let plain = held_out::<Regression>("ridge", x.rows(), &y);
    for spec in ["transformed(of=ridge, scale=log)", "transformed(of=ridge)"] {
        let score = held_out::<Regression>(spec, x.rows(), &y);
        assert!(score > 0.93 * plain, "{spec}: {score} {plain}");
    }
    let all = |spec: &str, y: &Vec<f64>| -> Vec<f64> {
        let sample = Sample::<Regression>::new(x.rows(), y).unwrap();
        let model = learner::<Regression>(spec).fit(&sample, &Run::new(5)).unwrap();
        let mut out = vec![0.0; y.len()];
        model[0].predict_into(x.rows(), &mut out).unwrap();
        out
    };
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let said = all("transformed(of=ridge, scale=log)", &y);
    assert!((mean(&said) / mean(&y) - 1.0).abs() < 0.1, "{} {}", mean(&said), mean(&y));
    // Another unit changes nothing.
    let scaled: Vec<f64> = y.iter().map(|y| 4096.0 * y).collect();
    for spec in ["transformed(of=ridge)", "transformed(of=ridge, scale=yeo-johnson)"] {
        for (one, other) in all(spec, &y).iter().zip(all(spec, &scaled)) {
            assert!((4096.0 * one - other).abs() < 1e-6 * other.abs(), "{spec}: {one} {other}");
        }
    }
    let mut zero = y.clone();
    zero[7] = 0.0;
    let sample = Sample::<Regression>::new(x.rows(), &zero).unwrap();
    let refused =
        learner::<Regression>("transformed(of=ridge, scale=log)").fit(&sample, &Run::new(5));
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("logarithm"), "{said}");
}
