use std::sync::Arc;

use super::{Known, Targets};
use crate::run::Run;
use crate::store::Record;
use crate::table::encode::{Encoder, EncoderSpec};
use crate::table::{Features, Field, Kind, Schema};

/// Rows of one category with so many levels.
fn category(codes: &[usize], levels: usize) -> Features {
    let levels: Arc<[String]> = (0..levels).map(|level| format!("l{level}")).collect();
    let field = Field { name: "c".into(), kind: Kind::Categorical { levels } };
    let values: Vec<f64> = codes.iter().map(|&code| code as f64).collect();
    Features::new(values, Arc::new(Schema::new(vec![field]))).unwrap()
}

fn spec(targets: Targets) -> EncoderSpec {
    EncoderSpec { targets, ..EncoderSpec::default() }
}

/// Numbers that look drawn.
fn drawn(i: usize, seed: usize) -> usize {
    (i * 7919 + seed * 104_729 + (i * i) % 1013) % 1009
}

fn known<'a>(names: &'a [String], values: &'a [f64]) -> Known<'a> {
    Known { names, values, weights: None, groups: None, moments: None, gap: 0 }
}

/// The statistics of training rows, the last column.
fn ordered(x: &Features, known: &Known<'_>, seed: u64) -> Vec<f64> {
    let (_, made) = spec(Targets::Beside).fit_known(x.rows(), known, &Run::new(seed)).unwrap();
    made.rows().column(made.rows().width() - 1).collect()
}

#[test]
fn new_rows_have_the_mean_of_their_level_held_towards_that_of_all() {
    let x = category(&[0, 0, 1, 2, 2, 2], 3);
    let values = [1.0, 3.0, 5.0, 0.0, 0.0, 3.0];
    let names = ["mean".to_string()];
    let spec = EncoderSpec { prior: 2.0, ..spec(Targets::Instead) };
    let (encoder, _) = spec.fit_known(x.rows(), &known(&names, &values), &Run::new(1)).unwrap();
    assert_eq!(encoder.schema().fields()[0].name, "c: mean");
    assert_eq!(encoder.width(), 1);
    // The last two are an unknown level and a missing value: the mean of all rows is 2.
    let new = Features::new(vec![0.0, 1.0, 2.0, 3.0, f64::NAN], Arc::clone(x.rows().schema()));
    let found = encoder.apply(new.unwrap().rows()).unwrap();
    let expected = [8.0 / 4.0, 9.0 / 3.0, 7.0 / 5.0, 2.0, 2.0];
    for (found, expected) in found.rows().column(0).zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

/// Against the definition, row by row.
#[test]
fn rows_with_times_have_the_statistics_of_earlier_rows_of_other_groups() {
    let rows = 240;
    let codes: Vec<usize> = (0..rows).map(|i| drawn(i, 1) % 5).collect();
    let values: Vec<f64> = (0..rows).map(|i| drawn(i, 2) as f64 / 100.0).collect();
    let weights: Vec<f64> = (0..rows).map(|i| (drawn(i, 3) % 4) as f64).collect();
    let groups: Vec<u32> = (0..rows).map(|i| (drawn(i, 4) % 9) as u32 * 100_000_000).collect();
    let moments: Vec<usize> = (0..rows).map(|i| drawn(i, 5) % 30).collect();
    let (x, names) = (category(&codes, 5), ["mean".to_string()]);
    let total: f64 = weights.iter().sum();
    let mean = (0..rows).map(|i| weights[i] * values[i]).sum::<f64>() / total;
    for (gap, with_groups) in [(0, false), (0, true), (3, true)] {
        let known = Known {
            weights: Some(&weights),
            groups: with_groups.then_some(&groups),
            moments: Some(&moments),
            gap,
            ..known(&names, &values)
        };
        let found = ordered(&x, &known, 3);
        for i in 0..rows {
            let may_know = |j: &usize| {
                codes[*j] == codes[i]
                    && moments[*j] + gap < moments[i]
                    && !(with_groups && groups[*j] == groups[i])
            };
            let (weight, sum) = (0..rows)
                .filter(may_know)
                .fold((0.0, 0.0), |(w, s), j| (w + weights[j], s + weights[j] * values[j]));
            let expected = (sum + mean) / (weight + 1.0);
            assert!((found[i] - expected).abs() < 1e-9, "row {i}: {} {expected}", found[i]);
        }
    }
}

#[test]
fn a_row_does_not_know_its_own_target_nor_those_of_its_group() {
    let rows = 300;
    let codes: Vec<usize> = (0..rows).map(|i| drawn(i, 1) % 40).collect();
    let values: Vec<f64> = (0..rows).map(|i| (drawn(i, 2) % 2) as f64).collect();
    let groups: Vec<u32> = (0..rows).map(|i| (drawn(i, 6) % 60) as u32).collect();
    let (x, names) = (category(&codes, 40), ["mean".to_string()]);
    let changed = |of: &dyn Fn(usize) -> bool| -> Vec<f64> {
        // As many up as down, so that the mean of all stays what it is.
        let mut left =
            [0, 1].map(|y| (0..rows).filter(|&i| of(i) && values[i] == f64::from(y)).count());
        let least = left[0].min(left[1]);
        left = [least; 2];
        let flip = |i: usize| {
            let y = values[i] as usize;
            let flips = of(i) && left[y] > 0;
            left[y] -= usize::from(flips);
            if flips { 1.0 - values[i] } else { values[i] }
        };
        (0..rows).map(flip).collect()
    };
    let of_all = ordered(&x, &known(&names, &values), 9);
    let mut seen = 0;
    for own in 0..rows {
        // Another row of another level takes the opposite turn.
        let other =
            (0..rows).find(|&j| codes[j] != codes[own] && values[j] != values[own]).unwrap();
        let other_values = changed(&|i| i == own || i == other);
        let found = ordered(&x, &known(&names, &other_values), 9);
        assert!((found[own] - of_all[own]).abs() < 1e-12, "row {own}");
        seen += (0..rows).filter(|&i| (found[i] - of_all[i]).abs() > 1e-9).count();
    }
    assert!(seen > rows, "others do know");
    let of =
        |values: &[f64]| ordered(&x, &Known { groups: Some(&groups), ..known(&names, values) }, 9);
    let grouped = of(&values);
    for group in 0..60 {
        let other_values = changed(&|i| groups[i] == group);
        let found = of(&other_values);
        for i in (0..rows).filter(|&i| groups[i] == group) {
            assert!((found[i] - grouped[i]).abs() < 1e-12, "row {i} of group {group}");
        }
    }
}

/// In a column of many levels that says nothing, statistics of all rows would say nearly everything about the rows themselves.
#[test]
fn noise_says_nothing_about_the_rows_learned_from() {
    let rows = 4000;
    let codes: Vec<usize> = (0..rows).map(|i| drawn(i, 11) % 800).collect();
    let values: Vec<f64> = (0..rows).map(|i| (drawn(i * 31 + i / 7, 12) % 2) as f64).collect();
    let (x, names) = (category(&codes, 800), ["p(1)".to_string()]);
    let (encoder, made) =
        spec(Targets::Instead).fit_known(x.rows(), &known(&names, &values), &Run::new(4)).unwrap();
    let correlation = |column: Vec<f64>| {
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let (a, b) = (mean(&column), mean(&values));
        let sum = |f: &dyn Fn(f64, f64) -> f64| {
            column.iter().zip(&values).map(|(x, y)| f(x - a, y - b)).sum::<f64>()
        };
        sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
    };
    let ordered = correlation(made.rows().column(0).collect());
    let of_all = correlation(encoder.apply(x.rows()).unwrap().rows().column(0).collect());
    assert!(of_all > 0.3, "{of_all}");
    assert!(ordered.abs() < 3.0 / (rows as f64).sqrt(), "{ordered}");
}

#[test]
fn pairs_and_bins_have_statistics_and_are_stored_with_them() {
    let levels =
        |names: &[&str]| Kind::Categorical { levels: names.iter().map(|n| (*n).into()).collect() };
    let fields = vec![
        Field { name: "c".into(), kind: levels(&["a", "b"]) },
        Field { name: "d".into(), kind: levels(&["u", "v", "w"]) },
        Field { name: "x".into(), kind: Kind::Numeric },
    ];
    let values: Vec<f64> =
        (0..60_usize).flat_map(|i| [i % 2, i / 2 % 3, drawn(i, 1)]).map(|v| v as f64).collect();
    let x = Features::new(values, Arc::new(Schema::new(fields))).unwrap();
    let target: Vec<f64> =
        (0..60).flat_map(|i| [f64::from(i % 6 == 1), f64::from(i % 6 == 2)]).collect();
    let names = ["p(r)".to_string(), "p(s)".to_string()];
    let how = EncoderSpec { crosses: Some(4), bins: Some(4), ..spec(Targets::Instead) };
    let (encoder, made) = how.fit_known(x.rows(), &known(&names, &target), &Run::new(2)).unwrap();
    let columns: Vec<&str> = encoder.schema().fields().iter().map(|f| f.name.as_str()).collect();
    let expected = ["c", "d: p(r)", "d: p(s)", "x: p(r)", "x: p(s)", "c x d: p(r)", "c x d: p(s)"];
    assert_eq!(columns, expected);
    assert_eq!(made.rows().width(), encoder.width());
    let stored: Encoder = Record::new("test", 1, &encoder).unwrap().read().unwrap();
    assert_eq!(stored, encoder);
    // Both levels together decide the class.
    let row = [1.0, 0.0, 5.0];
    let mut out = vec![0.0; encoder.width()];
    stored.apply_into(&row, &mut out);
    assert!(out[5] > 0.9 && out[6] < 0.1, "{out:?}");
}

#[test]
fn without_a_target_there_are_no_statistics() {
    let x = category(&[0, 1, 2], 3);
    let error = spec(Targets::Beside).fit(x.rows(), None).unwrap_err().to_string();
    assert!(error.contains("targets"), "{error}");
    let names = ["mean".to_string()];
    let too_few = known(&names, &[1.0]);
    assert!(spec(Targets::Beside).fit_known(x.rows(), &too_few, &Run::new(1)).is_err());
    let none = EncoderSpec { prior: 0.0, ..spec(Targets::Beside) };
    assert!(none.fit_known(x.rows(), &known(&names, &[1.0, 2.0, 3.0]), &Run::new(1)).is_err());
}
