use proptest::prelude::*;

use super::*;
use crate::store::Record;
use crate::table::{Categories, Column, Kind, Table};

/// Rows of a column `x` of numbers and a column `c` of categories; `-` is missing.
fn rows(numbers: &[f64], texts: &[&str]) -> Features {
    let categories = Categories::new(texts.iter().map(|t| (*t != "-").then_some(*t)));
    let columns = vec![
        ("x".to_string(), Column::Numeric(numbers.to_vec())),
        ("c".to_string(), Column::Categorical(categories)),
    ];
    let table = Table::new(columns).unwrap();
    Arc::new(Schema::of(&table)).encode(&table).unwrap()
}

fn numeric(values: &[f64]) -> Features {
    Features::numeric(values.to_vec(), 1).unwrap()
}

/// The rows as text, a line each.
fn shown(features: &Features) -> Vec<String> {
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    features.rows().iter().map(line).collect()
}

fn names(encoder: &Encoder) -> Vec<&str> {
    encoder.schema().fields().iter().map(|field| field.name.as_str()).collect()
}

fn levels(encoder: &Encoder, j: usize) -> &[String] {
    match &encoder.schema().fields()[j].kind {
        Kind::Categorical { levels } => levels,
        Kind::Numeric => panic!("column {j} is numeric"),
    }
}

const NONE: f64 = f64::NAN;

#[test]
fn by_default_rows_stay_as_they_are() {
    let training = rows(&[1.0, NONE, f64::NEG_INFINITY], &["b", "-", "a"]);
    let encoder = EncoderSpec::default().fit(training.rows(), None).unwrap();
    assert_eq!(**encoder.schema(), **training.rows().schema());
    let encoded = encoder.apply(training.rows()).unwrap();
    assert_eq!(shown(&encoded), shown(&training));
}

#[test]
fn numbers_are_standardised_by_mean_and_sample_deviation() {
    let spec = EncoderSpec { standardise: true, ..EncoderSpec::default() };
    let encoder = spec.fit(numeric(&[1.0, 3.0, NONE, 5.0]).rows(), None).unwrap();
    let encoded = encoder.apply(numeric(&[3.0, 5.0, NONE, 11.0]).rows()).unwrap();
    assert_eq!(shown(&encoded), ["0", "1", "NaN", "4"]);
}

#[test]
fn constant_and_empty_columns_have_scale_one() {
    let spec = EncoderSpec::dense();
    // A tenth is not a binary fraction: a mean formed by adding would miss it by a rounding error.
    for (constant, weight) in [(0.1, 1.0), (1e300, 3.0), (NONE, 1.0)] {
        let encoder = spec.fit(numeric(&[constant; 7]).rows(), Some(&[weight; 7])).unwrap();
        let centre = if constant.is_nan() { 0.0 } else { constant };
        let encoded = encoder.apply(numeric(&[centre, NONE, centre + 1.0]).rows()).unwrap();
        let shifted = (centre + 1.0) - centre;
        assert_eq!(shown(&encoded), ["0".to_string(), "0".to_string(), shifted.to_string()]);
    }
}

#[test]
fn huge_numbers_are_standardised_too() {
    let spec = EncoderSpec { standardise: true, ..EncoderSpec::default() };
    let training = numeric(&[1e200, 3e200, 5e200]);
    let encoded = spec.fit(training.rows(), None).unwrap().apply(training.rows()).unwrap();
    for (value, expected) in encoded.rows().values().iter().zip([-1.0, 0.0, 1.0]) {
        assert!((value - expected).abs() < 1e-15);
    }
}

#[test]
fn categories_become_indicators() {
    let spec = EncoderSpec { one_hot: true, ..EncoderSpec::default() };
    let encoder = spec.fit(rows(&[0.0; 3], &["red", "blue", "-"]).rows(), None).unwrap();
    assert_eq!(names(&encoder), ["x", "c=blue", "c=red"]);
    // Level 2 is unknown.
    let schema = Arc::clone(encoder.input());
    let new = Features::new(vec![7.0, 1.0, 8.0, 2.0, 9.0, NONE], schema).unwrap();
    assert_eq!(shown(&encoder.apply(new.rows()).unwrap()), ["7 0 1", "8 0 0", "9 NaN NaN"]);
}

#[test]
fn missing_values_are_imputed() {
    let training = rows(&[1.0, 2.0, 9.0, NONE, 4.0], &["b", "a", "b", "-", "a"]);
    let fit = |numbers, categories| {
        let impute = Impute { numbers, categories };
        EncoderSpec { impute, ..EncoderSpec::default() }.fit(training.rows(), None).unwrap()
    };
    let new = training.rows().select(&[3, 0]);
    let mean = fit(ImputeNumbers::Mean, ImputeCategories::MostFrequent);
    assert_eq!(shown(&mean.apply(new.rows()).unwrap()), ["4 0", "1 1"]);
    let median = fit(ImputeNumbers::Median, ImputeCategories::OwnLevel);
    assert_eq!(shown(&median.apply(new.rows()).unwrap()), ["3 2", "1 1"]);
    assert_eq!(levels(&median, 1), ["a", "b", "(missing)"]);
}

#[test]
fn a_value_first_missed_in_new_rows_is_an_unknown_level() {
    let training = rows(&[1.0, 2.0], &["b", "a"]);
    let encoder = EncoderSpec::discrete(5).fit(training.rows(), None).unwrap();
    assert_eq!(levels(&encoder, 1), ["a", "b"]);
    let new = Features::new(vec![NONE, NONE], Arc::clone(encoder.input())).unwrap();
    assert_eq!(shown(&encoder.apply(new.rows()).unwrap()), ["2 2"]);
}

#[test]
fn numbers_are_binned() {
    let spec = EncoderSpec::discrete(2);
    let training = numeric(&[1.0, 2.0, 3.0, 4.0, 10.0, NONE]);
    let encoder = spec.fit(training.rows(), None).unwrap();
    assert_eq!(levels(&encoder, 0), ["<= 3", "> 3", "(missing)"]);
    let new = numeric(&[f64::NEG_INFINITY, 3.0, 3.5, f64::INFINITY, NONE]);
    assert_eq!(shown(&encoder.apply(new.rows()).unwrap()), ["0", "0", "1", "1", "2"]);

    let one_hot = EncoderSpec { one_hot: true, ..EncoderSpec::discrete(4) };
    let encoder = one_hot.fit(training.rows(), None).unwrap();
    let expected = ["x1=<= 2", "x1=(2, 3]", "x1=(3, 4]", "x1=> 4", "x1=(missing)"];
    assert_eq!(names(&encoder), expected);
}

#[test]
fn few_different_values_stay_levels() {
    let training = numeric(&[2.0, -0.0, 0.0, 2.5, 2.0]);
    let encoder = EncoderSpec::discrete(3).fit(training.rows(), None).unwrap();
    assert_eq!(levels(&encoder, 0), ["0", "2", "2.5"]);
    let new = numeric(&[-0.0, 2.5, 2.25]);
    assert_eq!(shown(&encoder.apply(new.rows()).unwrap()), ["0", "2", "3"]);
}

#[test]
fn impossible_requests_are_refused() {
    let infinite = numeric(&[1.0, f64::INFINITY, 3.0]);
    let error = EncoderSpec::dense().fit(infinite.rows(), None).unwrap_err().to_string();
    assert!(error.starts_with("row 2, column 'x1': the value is infinite"), "{error}");
    let rows = numeric(&[1.0, 2.0]);
    assert!(EncoderSpec::discrete(1).fit(rows.rows(), None).is_err());
    assert!(EncoderSpec::dense().fit(rows.rows(), Some(&[1.0])).is_err());
    assert!(EncoderSpec::dense().fit(rows.rows(), Some(&[1.0, -1.0])).is_err());
    let encoder = EncoderSpec::dense().fit(rows.rows(), None).unwrap();
    assert!(encoder.apply(Features::numeric(vec![1.0; 4], 2).unwrap().rows()).is_err());
}

#[test]
fn an_encoder_is_stored_with_its_model() {
    let training = rows(&[1.0, 2.0, 9.0, NONE, 4.0], &["b", "a", "b", "-", "a"]);
    for spec in [EncoderSpec::dense(), EncoderSpec::discrete(3), EncoderSpec::default()] {
        let encoder = spec.fit(training.rows(), None).unwrap();
        let stored: Encoder = Record::new("test", 1, &encoder).unwrap().read().unwrap();
        assert_eq!(stored, encoder);
    }
    let spec: EncoderSpec =
        serde_json::from_str(r#"{"one_hot": true, "impute": {"numbers": "median"}}"#).unwrap();
    assert!(spec.one_hot && spec.impute.numbers == ImputeNumbers::Median);
    assert!(serde_json::from_str::<EncoderSpec>(r#"{"onehot": true}"#).is_err());
}

#[test]
fn cuts_agree_with_the_reference() {
    #[derive(Deserialize)]
    struct Case {
        x: Vec<f64>,
        cuts: Vec<f64>,
        bins: Vec<usize>,
    }
    let cases = include_str!("../../../tests/fixtures/discretise.json");
    for case in serde_json::from_str::<Vec<Case>>(cases).unwrap() {
        let cuts = equal_frequency_cuts(&case.x, None, 5);
        assert_eq!(cuts.len(), case.cuts.len());
        for (cut, expected) in cuts.iter().zip(&case.cuts) {
            assert!((cut - expected).abs() < 1e-9, "{cut} is not {expected}");
        }
        let bins: Vec<usize> = case.x.iter().map(|x| bin(&cuts, *x)).collect();
        assert_eq!(bins, case.bins);
    }
}

/// A value, a category and how often they occur.
fn counted_rows() -> impl Strategy<Value = Vec<(f64, &'static str, usize)>> {
    let value = prop_oneof![4 => (-20_i32..20).prop_map(|v| f64::from(v) / 4.0), 1 => Just(NONE)];
    let text = prop::sample::select(vec!["a", "b", "c", "-"]);
    prop::collection::vec((value, text, 0_usize..4), 2..40)
        .prop_filter("some row must count", |rows| rows.iter().any(|r| r.2 > 0))
}

fn specs() -> impl Strategy<Value = EncoderSpec> {
    let numbers = [ImputeNumbers::Leave, ImputeNumbers::Mean, ImputeNumbers::Median];
    let categories =
        [ImputeCategories::Leave, ImputeCategories::MostFrequent, ImputeCategories::OwnLevel];
    let choices = (
        any::<(bool, bool)>(),
        prop::sample::select(numbers.to_vec()),
        prop::sample::select(categories.to_vec()),
        prop::option::of(2_usize..7),
        prop::sample::select(vec![Outliers::Keep, Outliers::Hold, Outliers::Squash]),
    );
    choices.prop_map(|((standardise, one_hot), numbers, categories, bins, outliers)| EncoderSpec {
        standardise: standardise && outliers != Outliers::Squash,
        one_hot,
        impute: Impute { numbers, categories },
        bins: bins.filter(|_| outliers == Outliers::Keep),
        outliers,
        ..EncoderSpec::default()
    })
}

proptest! {
    #[test]
    fn a_weight_is_so_many_copies(counted in counted_rows(), spec in specs()) {
        let (values, texts): (Vec<f64>, Vec<&str>) = counted.iter().map(|r| (r.0, r.1)).unzip();
        let once = rows(&values, &texts);
        let weights: Vec<f64> = counted.iter().map(|r| r.2 as f64).collect();
        let copies: Vec<usize> =
            counted.iter().enumerate().flat_map(|(i, r)| std::iter::repeat_n(i, r.2)).collect();
        let weighted = spec.fit(once.rows(), Some(&weights)).unwrap();
        let copied = spec.fit(once.rows().select(&copies).rows(), None).unwrap();
        prop_assert_eq!(weighted.schema(), copied.schema());
        let (a, b) = (weighted.apply(once.rows()).unwrap(), copied.apply(once.rows()).unwrap());
        for (a, b) in a.rows().values().iter().zip(&*b.rows().values()) {
            prop_assert!((a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan()), "{a} is not {b}");
        }
    }

    #[test]
    fn relative_weights_do_not_depend_on_their_unit(
        weighted in prop::collection::vec((-5.0_f64..5.0, 0.01_f64..1.0), 2..30),
        spec in specs(),
    ) {
        let (values, weights): (Vec<f64>, Vec<f64>) = weighted.into_iter().unzip();
        let training = numeric(&values);
        let encode = |unit: f64| {
            let weights: Vec<f64> = weights.iter().map(|w| w * unit).collect();
            spec.fit(training.rows(), Some(&weights)).unwrap().apply(training.rows()).unwrap()
        };
        // A power of two scales without rounding.
        prop_assert_eq!(shown(&encode(1.0)), shown(&encode(0.125)));
    }

    #[test]
    fn rows_are_encoded_one_by_one(counted in counted_rows(), spec in specs()) {
        let (values, texts): (Vec<f64>, Vec<&str>) = counted.iter().map(|r| (r.0, r.1)).unzip();
        let training = rows(&values, &texts);
        let encoder = spec.fit(training.rows(), None).unwrap();
        let all = encoder.apply(training.rows()).unwrap();
        let mut out = vec![0.0; encoder.width()];
        for (i, row) in training.rows().iter().enumerate() {
            encoder.apply_into(row, &mut out);
            prop_assert_eq!(format!("{out:?}"), format!("{:?}", all.rows().row(i)));
        }
    }

    /// Against the textbook: sort the copies, interpolate between neighbours.
    #[test]
    fn quantiles_interpolate_between_order_statistics(
        counted in prop::collection::vec((-9_i32..9, 1_usize..4), 1..30),
        fraction in 0.0_f64..1.0,
    ) {
        let mut copies: Vec<f64> =
            counted.iter().flat_map(|(v, n)| std::iter::repeat_n(f64::from(*v), *n)).collect();
        copies.sort_by(f64::total_cmp);
        let position = fraction * (copies.len() - 1) as f64;
        let (below, above) = (position.floor() as usize, position.ceil() as usize);
        let expected = copies[below] + (copies[above] - copies[below]) * position.fract();
        let mut cells: Vec<_> = counted.iter().map(|(v, n)| (f64::from(*v), *n as f64)).collect();
        cuts::sort(&mut cells);
        let found = cuts::quantile(&cells, fraction);
        prop_assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
}

/// Learns from rows in pieces of so many.
fn learned(spec: EncoderSpec, x: Rows<'_>, weights: Option<&[f64]>, piece: usize) -> Encoder {
    use crate::stats::Accumulator;

    // The rows that edges are suggested by need not be like the others.
    let mut learning = Learning::new(spec, x.slice(0..x.rows().min(50))).unwrap();
    loop {
        let mut total = learning.zero();
        for first in (0..x.rows()).step_by(piece) {
            let part = first..x.rows().min(first + piece);
            let mut sums = learning.zero();
            let weights = weights.map(|weights| &weights[part.clone()]);
            learning.add(&mut sums, x.slice(part), weights, |i| (first + i) as u64);
            total.merge(sums);
        }
        match learning.next(total).unwrap() {
            LearningStep::Again(next) => learning = next,
            LearningStep::Done(encoder) => return encoder,
        }
    }
}

#[test]
fn bins_learned_in_pieces_are_those_of_all_rows() {
    let wave = |i: usize| (i as f64 * 0.7).sin() * (1.0 + i as f64 / 1e4);
    let mut numbers: Vec<f64> = (0..80_000).map(wave).collect();
    for i in (0..80_000).step_by(3) {
        numbers[i] = (numbers[i] * 2.0).round();
    }
    numbers[17] = NONE;
    let whole: Vec<f64> = (0..80_000).map(|i| f64::from(i % 3)).collect();
    let x = numeric(&numbers);
    for weights in [None, Some(whole.as_slice())] {
        for bins in [2, 5, 12] {
            let spec = EncoderSpec::discrete(bins);
            let expected = spec.fit(x.rows(), weights).unwrap();
            assert_eq!(expected, learned(spec, x.rows(), weights, 30_011), "{bins} bins");
        }
    }
}

proptest! {
    #[test]
    fn encoders_learned_in_pieces_are_those_of_all_rows(
        cells in prop::collection::vec(
            (prop_oneof![-3.0..3.0, Just(NONE), Just(2.0), Just(0.0), Just(-0.0)], 0_usize..4, 0_u8..3),
            1..120,
        ),
        bins in prop_oneof![Just(None), (2_usize..7).prop_map(Some)],
        numbers in prop_oneof![Just(ImputeNumbers::Mean), Just(ImputeNumbers::Median)],
        standardise: bool,
        outliers in prop::sample::select(vec![Outliers::Keep, Outliers::Hold, Outliers::Squash]),
        piece in 1_usize..130,
    ) {
        let numbers_of: Vec<f64> = cells.iter().map(|(value, _, _)| *value).collect();
        let texts: Vec<&str> = cells.iter().map(|(_, level, _)| ["a", "b", "-", "c"][*level]).collect();
        let x = rows(&numbers_of, &texts);
        let weights: Vec<f64> = cells.iter().map(|(_, _, weight)| f64::from(*weight) + 1.0).collect();
        for categories in [ImputeCategories::OwnLevel, ImputeCategories::MostFrequent] {
            let spec = EncoderSpec {
                standardise: standardise && outliers != Outliers::Squash,
                one_hot: true,
                impute: Impute { numbers, categories },
                bins: bins.filter(|_| outliers == Outliers::Keep),
                outliers,
                ..EncoderSpec::default()
            };
            let expected = spec.fit(x.rows(), Some(&weights)).unwrap();
            let found = learned(spec, x.rows(), Some(&weights), piece);
            prop_assert_eq!(expected.schema(), found.schema());
            let (a, b) = (expected.apply(x.rows()).unwrap(), found.apply(x.rows()).unwrap());
            let cells = a.rows().iter().flatten().zip(b.rows().iter().flatten());
            for (a, b) in cells {
                prop_assert!((a - b).abs() < 1e-9 || (a.is_nan() && b.is_nan()), "{} {}", a, b);
            }
        }
    }
}

#[test]
fn columns_with_few_values_are_crossed() {
    let training = rows(&[1.0, 1.0, 2.0, f64::NAN], &["red", "blue", "red", "red"]);
    let spec = EncoderSpec { crosses: Some(3), ..EncoderSpec::default() };
    let encoder = spec.fit(training.rows(), None).unwrap();
    let Kind::Categorical { levels } = &encoder.schema().fields()[2].kind else {
        panic!("a pair is a category")
    };
    assert_eq!(encoder.width(), 3);
    let found: Vec<usize> = (training.rows().iter())
        .map(|row| {
            let mut out = [0.0; 3];
            encoder.apply_into(row, &mut out);
            out[2] as usize
        })
        .collect();
    let told: Vec<&str> = found.iter().map(|code| levels[*code].as_str()).collect();
    assert_eq!(told, ["1, red", "1, blue", "2, red", "(missing), red"]);
    // Nobody has seen these two together.
    let mut out = [0.0; 3];
    encoder.apply_into(&[2.0, training.rows().row(1)[1]], &mut out);
    assert_eq!(out[2] as usize, levels.len());
    let indicators = EncoderSpec { one_hot: true, ..spec }.fit(training.rows(), None).unwrap();
    let mut wide = vec![0.0; indicators.width()];
    indicators.apply_into(training.rows().row(2), &mut wide);
    assert_eq!(wide[wide.len() - levels.len()..].iter().sum::<f64>(), 1.0);
    // A row that counts for nothing shows nothing, and a column of more values is left alone.
    let without = spec.fit(training.rows(), Some(&[1.0, 0.0, 1.0, 1.0])).unwrap();
    let Kind::Categorical { levels } = &without.schema().fields()[2].kind else {
        panic!("a pair is a category")
    };
    assert!(!levels.iter().any(|level| level == "1, blue"));
    let many = rows(&[1.0, 2.0, 3.0, 4.0], &["red", "blue", "red", "red"]);
    assert_eq!(spec.fit(many.rows(), None).unwrap().width(), 2);
}
