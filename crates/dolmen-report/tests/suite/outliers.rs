//! Values far off, and masses narrower than what a picture resolves: the rest is seen all the same, and what is not is told.

use dolmen::ensemble::Coverage;
use dolmen::recipe::{Fit, Recipe, ScoreReport};
use dolmen::run::Run;
use dolmen::score::residuals::PredictedTrue;
use dolmen::table::{Column, Table};
use dolmen_report::{Kind, Options, PageOptions, Subject, draw, page};

use crate::made::{self, estimate, noise};
use crate::well_formed::elements;

fn drawn(subject: &Subject<'_>, kind: Kind) -> String {
    let svg = draw(subject, kind, &Options::default()).unwrap();
    elements(&svg);
    svg
}

/// A density of columns.
fn density(columns: Vec<(&str, Vec<f64>)>, members: &str) -> Fit {
    let column = |(name, values): (&str, Vec<f64>)| (name.to_string(), Column::Numeric(values));
    let table = Table::new(columns.into_iter().map(column).collect()).unwrap();
    let recipe = format!("members = {members}\ncheck = 'none'");
    Recipe::from_toml(&recipe).unwrap().fit(&table, &Run::new(0)).unwrap()
}

/// Something like a normal number.
fn bell(i: usize, stream: usize) -> f64 {
    (0..4).map(|k| noise(i, 10 * stream + k) - 0.5).sum::<f64>() * 1.7
}

/// The texts in small letters at the bottom of a picture: where each begins and ends.
fn bottom_labels(svg: &str) -> Vec<(f64, f64)> {
    let number = |tag: &str, name: &str| -> f64 {
        let from = tag.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        tag[from..].split('"').next().unwrap().parse().unwrap()
    };
    let small = svg.split("<text").skip(1).filter(|tag| tag.contains("font-size=\"10\""));
    let middle: Vec<&str> = small.filter(|tag| tag.contains("text-anchor=\"middle\"")).collect();
    let place = |tag: &&str| {
        let text = tag.split_once('>').unwrap().1.split('<').next().unwrap();
        // A digit of 10 pixels is 6.4 wide.
        let half = 3.2 * text.chars().count() as f64;
        (number(tag, "x") - half, number(tag, "x") + half)
    };
    middle.iter().map(place).collect()
}

#[test]
fn numbers_below_all_pairs_do_not_lie_on_one_another() {
    let near_a_million = (0..120).map(|i| 1e6 + bell(i, 0)).collect();
    let names = ["b", "c", "d", "e", "f"];
    let mut columns = vec![("a_price_with_a_very_long_name_indeed", near_a_million)];
    columns.extend(names.iter().enumerate().map(|(k, name)| {
        let unit = if k == 0 { 1e-9 } else { 1.0 };
        (*name, (0..120).map(|i| unit * bell(i, k + 1)).collect())
    }));
    let fit = density(columns, "['gaussian', 'mixture(components=2)']");
    let mut labels = bottom_labels(&drawn(&Subject::of(&fit.model), Kind::Pairs));
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(labels.len() >= 12, "two for each column: {labels:?}");
    assert!(labels.windows(2).all(|pair| pair[0].1 < pair[1].0), "{labels:?}");
}

/// Where the curves of a picture are above its bottom: how wide that part is.
fn width_above_bottom(svg: &str) -> f64 {
    let path = svg.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
    let points = path.split(['M', 'L']).filter_map(|point| point.split_once(' '));
    let points: Vec<(f64, f64)> =
        points.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect();
    let bottom = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    let above: Vec<f64> =
        points.iter().filter(|(_, y)| *y < bottom - 20.0).map(|(x, _)| *x).collect();
    above.iter().copied().fold(0.0, f64::max) - above.iter().copied().fold(1e9, f64::min)
}

#[test]
fn one_row_far_off_does_not_empty_a_density() {
    let mut values: Vec<f64> = (0..300).map(|i| bell(i, 0)).collect();
    values[10] = 2e9;
    let other: Vec<f64> = (0..300).map(|i| bell(i, 1)).collect();
    let fit = density(vec![("a", values), ("b", other)], "['mixture(components=2)']");
    let subject = Subject::of(&fit.model);
    let svg = drawn(&subject, Kind::Density);
    // How far off, but not where: that would be the value of a single row.
    let told = "1 of 300 rows, by a up to ";
    assert!(svg.contains(&format!(" % of the probability of a; {told}")), "{svg}");
    assert!(svg.contains(" times the length of the axis beyond it") && !svg.contains("2e9"));
    assert!(width_above_bottom(&svg) > 100.0, "{svg}");
    assert!(drawn(&subject, Kind::Pairs).contains(told));
    let contours = drawn(&subject, Kind::Contours);
    assert!(contours.contains(told), "{contours}");
    assert!(contours.contains("Not on the picture: about 0."), "{contours}");
    assert!(contours.matches("% of the probability</title>").count() >= 5, "{contours}");
}

#[test]
fn masses_narrower_than_the_grid_are_seen() {
    let place = |i: usize| if i.is_multiple_of(2) { 0.0 } else { 50.0 };
    let a = (0..300).map(|i| place(i) + 0.01 * bell(i, 0)).collect();
    let b = (0..300).map(|i| 2.0 * place(i) + 0.01 * bell(i, 1)).collect();
    let fit = density(vec![("a", a), ("b", b)], "['kernel(bandwidth=0.001)']");
    let svg = drawn(&Subject::of(&fit.model), Kind::Contours);
    // Both masses are smaller than a pixel.
    assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
}

#[test]
fn predicted_against_true_is_seen_beside_a_truth_far_off() {
    let report = made::weighing(&["only"], "regression");
    let mut evidence = made::of_numbers();
    let of = |far: f64| {
        let mut truth: Vec<f64> = (0..500).map(|i| 100.0 + 900.0 * noise(i, 1)).collect();
        let predicted: Vec<f64> = truth.iter().map(|y| y + 10.0).collect();
        truth[7] = far;
        PredictedTrue::of(&predicted, &truth)
    };
    let mut picture = |far: f64| {
        evidence.numbers = Some(of(far));
        drawn(&Subject::Weighing(&report, Some(&evidence)), Kind::Predicted)
    };
    let whole = picture(1200.0);
    assert!(!whole.contains("Not on the picture") && whole.contains(">1200<"), "{whole}");
    let told = "Not on the picture: 1 of 500 rows, predicted or true up to ";
    let near = picture(4000.0);
    assert!(near.contains(&format!("{told}10 times the length of the axis")), "{near}");
    let far = picture(1e9);
    assert!(far.contains(told) && !far.contains("1e9"), "{far}");
    // The others have as many cells as without it.
    let cells = |svg: &str| svg.matches("</title></rect>").count();
    for svg in [near, far] {
        assert!(cells(&svg) > 25 && svg.contains(">1000<"), "{svg}");
    }
}

#[test]
fn a_hopeless_method_leaves_the_others_their_axis() {
    let mut curve = made::learning();
    for point in &mut curve.sizes {
        let methods = &mut point.comparison.methods;
        let mut hopeless = methods[4].clone();
        (hopeless.name, hopeless.mean, hopeless.se) = ("hopeless".into(), -400.0, 300.0);
        methods.push(hopeless);
    }
    let learning = drawn(&Subject::Learning(&curve), Kind::Learning);
    assert!(learning.contains("Not on the picture: 4 means as low as −400."), "{learning}");
    assert!(learning.contains(">−0.4<"), "{learning}");
    let methods = drawn(&Subject::Comparison(&curve.sizes[3].comparison), Kind::Methods);
    assert!(methods.contains("An arrow points to a score beyond the picture."), "{methods}");
    assert!(methods.contains(">−0.4") && !methods.contains(">200<"), "{methods}");
}

#[test]
fn methods_without_a_curve_are_told() {
    let mut curve = made::learning();
    for point in &mut curve.sizes {
        let methods = &mut point.comparison.methods;
        let more = (0..3).map(|k| {
            let mut own = methods[5].clone();
            (own.name, own.mean) = (format!("member {k}"), -0.6 - 0.01 * f64::from(k));
            own
        });
        methods.extend(more.collect::<Vec<_>>());
    }
    let svg = drawn(&Subject::Learning(&curve), Kind::Learning);
    assert!(svg.contains("'member 2', which does worse with 400 rows"), "{svg}");
}

#[test]
fn residuals_and_dependence_are_seen_beside_predictions_far_off() {
    let report = made::weighing(&["only"], "regression");
    let mut evidence = made::of_numbers();
    let truth: Vec<f64> = (0..500).map(|i| 100.0 + 900.0 * noise(i, 1)).collect();
    let mut predicted: Vec<f64> =
        truth.iter().map(|y| y + 50.0 * (noise(*y as usize, 2) - 0.5)).collect();
    predicted[7] = 1e9;
    evidence.numbers = Some(PredictedTrue::of(&predicted, &truth));
    evidence.dependence[0].levels = None;
    evidence.dependence[0].values = (0..12).map(f64::from).collect();
    let curve = &mut evidence.dependence[0].outputs[0];
    curve.mean = (0..12).map(|v| 300.0 + 10.0 * f64::from(v)).collect();
    curve.middle = curve.mean.iter().map(|mean| [mean - 50.0, mean + 50.0]).collect();
    curve.single.clear();
    curve.middle[11][1] = 1e9;
    let subject = Subject::Weighing(&report, Some(&evidence));
    let residuals = drawn(&subject, Kind::Residuals);
    assert!(residuals.contains("rows predicted as far off as"), "{residuals}");
    assert!(residuals.contains(">20<") && residuals.contains(">800<"), "{residuals}");
    let moves = drawn(&subject, Kind::Dependence);
    assert!(moves.contains("Not on the picture: predictions as far off as 1e9."), "{moves}");
    assert!(moves.contains(">300<"), "{moves}");
    elements(&page(&subject, &PageOptions::default()).unwrap());
}

#[test]
fn whiskers_of_full_coverage_have_a_length() {
    let report = ScoreReport {
        task: dolmen::task::TaskKind::Regression,
        rows: 40,
        without_truth: 0,
        score: -1.0,
        score_se: None,
        figures: std::collections::BTreeMap::new(),
        figure_errors: std::collections::BTreeMap::new(),
        members: Vec::new(),
        best: "only".into(),
        gain_over_best: estimate(0.0, 0.0),
        gain_over_uniform: estimate(0.0, 0.0),
        uniform: None,
        uniform_figures: std::collections::BTreeMap::new(),
        intervals: Some(vec![Coverage { level: 0.95, measured: estimate(1.0, 0.0), width: 3.0 }]),
        unknown: Vec::new(),
    };
    let svg = drawn(&Subject::Score(&report), Kind::Coverage);
    let whisker = svg.split("<line").find(|line| line.contains("stroke-width=\"1.4\"")).unwrap();
    let at = |name: &str| -> f64 {
        let from = whisker.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        whisker[from..].split('"').next().unwrap().parse().unwrap()
    };
    // Of 40 rows all were within: Wilson's interval begins at 1 / (1 + 1.645^2 / 40), 0.937.
    assert!((at("y1") - at("y2")).abs() > 15.0, "{whisker}");
}

#[test]
fn rows_that_are_given_are_asked_a_bounded_number_of_times() {
    let column = |k: usize| Column::Numeric((0..3000).map(|i| noise(i, k)).collect());
    let mut columns: Vec<(String, Column)> =
        (0..20).map(|k| (format!("x{k}"), column(k))).collect();
    columns.push(("y".into(), column(0)));
    let table = Table::new(columns).unwrap();
    let run = Run::new(0);
    let recipe = Recipe::from_toml("target = 'y'\nmembers = ['ridge']\ncheck = 'none'").unwrap();
    let model = recipe.fit(&table, &run).unwrap().model;
    let rows = model.rows_of(table).unwrap();
    let (_, evidence) = model.judge(rows, true, &run).unwrap();
    let importance = evidence.importance.unwrap();
    assert_eq!((importance.rows, importance.repeats), (400, 1), "8000 predictions of 20 inputs");
    assert!(evidence.dependence.iter().all(|own| own.rows == 80 && own.values.len() <= 16));
}
