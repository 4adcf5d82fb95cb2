//! Input that is hard on pictures: long names, many members, infinite scores, strange letters.

use dolmen::evaluate::compare::{Duel, Outcome};
use dolmen::recipe::Combined;
use dolmen_report::{Kind, Options, PageOptions, Subject, Theme, draw, kinds, page};

use crate::made;
use crate::well_formed::elements;

fn long_names(count: usize) -> Vec<String> {
    let name = |k: usize| {
        format!(
            "averaged(of=mixture(components={k}, covariance=diagonal), fits=20, <&>\"{k}\" 模型\u{1}\n)"
        )
    };
    (0..count).map(name).collect()
}

#[test]
fn long_names_many_members_and_infinite_scores() {
    let names = long_names(45);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut report = made::weighing(&names, "density");
    if let Combined::Weighed(weighing) = &mut report.combined {
        weighing.members[7].score = f64::NEG_INFINITY;
        weighing.members[8].score = -1e300;
        weighing.members[9].se = None;
        weighing.members[9].interval = None;
        weighing.gain_over_best.mean = f64::INFINITY;
        weighing.gain_over_best.se = None;
        weighing.cross_validated = None;
    }
    let subject = Subject::Weighing(&report, None);
    for theme in [Theme::Auto, Theme::Dark] {
        for kind in kinds(&subject) {
            let options = Options { theme, ..Options::default() };
            let svg = draw(&subject, kind, &options).unwrap();
            elements(&svg);
            assert!(svg.len() < 120_000, "{kind}: {} bytes", svg.len());
        }
    }
    let weights = draw(&subject, Kind::Weights, &Options::default()).unwrap();
    assert!(weights.contains("… and 5 more members"), "the rest is counted");
    // The infinite ones are the worst, beyond those shown; but the list says so.
    let html = page(&subject, &PageOptions::default()).unwrap();
    elements(&html);
    assert!(html.contains("its score alone is −∞"));
}

#[test]
fn an_infinite_gain_is_told_as_what_it_is() {
    let mut report = made::weighing(&["a", "b", "c"], "density");
    if let Combined::Weighed(weighing) = &mut report.combined
        && let Some(honest) = &mut weighing.cross_validated
    {
        honest.gain_over_best = dolmen::score::Estimate { mean: f64::INFINITY, se: None };
    }
    let subject = Subject::Weighing(&report, None);
    let html = page(&subject, &PageOptions::default()).unwrap();
    for said in [
        "in some fold the member that had been best on other rows gives a held-out row no probability",
        "Over 'a', the best member on all rows, it is +0.04 (standard error 0.015)",
    ] {
        assert!(html.contains(said), "{said}");
    }
    let gain = draw(&subject, Kind::Gain, &Options::default()).unwrap();
    assert!(gain.contains(">over 'a'<") && gain.contains("A double arrow is an infinite gain"));
}

#[test]
fn what_is_said_of_many_is_said_once() {
    let names: Vec<String> = (0..38).map(|k| format!("neighbours(k={k})")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let report = made::weighing(&all, "classification");
    let mut evidence = made::of_classes(["a", "b", "c"]);
    if let Some(correlation) = &mut evidence.correlation {
        correlation.members = names.clone();
        correlation.values = vec![0.5; 38 * 38];
        correlation.alike = vec![(0..20).collect()];
    }
    if let Some(confusion) = evidence.classes.as_mut().and_then(|own| own.confusion.as_mut()) {
        confusion.classes = (0..30).map(|c| format!("class {c}")).collect();
        confusion.counts = vec![0; 900];
    }
    let subject = Subject::Weighing(&report, Some(&evidence));
    let html = page(&subject, &PageOptions::default()).unwrap();
    assert_eq!(html.matches("make all but the same errors").count(), 1);
    assert!(html.contains("'neighbours(k=7)' and 12 more make all but the same errors"));
    assert_eq!(html.matches("Few rows are of the classes").count(), 1);
    let roc = draw(&subject, Kind::Roc, &Options::default()).unwrap();
    assert!(roc.contains("The 3 most frequent of 30 classes"), "{roc}");
    // So many cells are drawn once, not again for phones.
    assert!(html.contains("<figure id=\"picture-correlation\" tabindex=\"0\">"));
    let moves = draw(&subject, Kind::Dependence, &Options::default()).unwrap();
    assert!(moves.contains("the 3 most frequent of 30 classes"), "{moves}");
    // Every column has a name, and there is a key to the shades.
    let heat = draw(&subject, Kind::Correlation, &Options::default()).unwrap();
    assert!(heat.matches("rotate(-90)").count() == 38 && heat.contains(">−0.50<"));
}

#[test]
fn names_of_columns_stay_on_the_picture() {
    let report = made::weighing(&["a", "b"], "density");
    let mut evidence = made::of_density();
    let members: Vec<String> =
        (0..9).map(|k| format!("mixture(components={k}, covariance=diagonal)")).collect();
    let values = vec![0.5; 81];
    evidence.correlation =
        Some(dolmen::recipe::MemberCorrelation { members, values, alike: Vec::new() });
    let subject = Subject::Weighing(&report, Some(&evidence));
    let svg = draw(&subject, Kind::Correlation, &Options::default()).unwrap();
    let starts = svg.split("translate(").skip(1).filter_map(|rest| rest.split_once(')'));
    let slanted: Vec<(f64, usize)> = starts
        .filter(|(_, rest)| rest.starts_with(" rotate(-40)"))
        .map(|(at, rest)| {
            let text = rest.split_once('>').unwrap().1.split('<').next().unwrap();
            (at.split_once(' ').unwrap().0.parse().unwrap(), text.chars().count())
        })
        .collect();
    assert_eq!(slanted.len(), 9);
    // A letter of 12 pixels is about 7 wide, and a slanted one 5.
    assert!(slanted.iter().all(|(x, letters)| x + 5.0 * *letters as f64 <= 720.0), "{slanted:?}");
}

#[test]
fn the_key_of_a_heat_map_ends_on_a_narrow_picture() {
    let report = made::weighing(&["a", "b"], "density");
    let mut evidence = made::of_density();
    let members: Vec<String> = (0..14).map(|k| format!("kernel(bandwidth=0.{k})")).collect();
    let values = vec![0.5; 14 * 14];
    evidence.correlation =
        Some(dolmen::recipe::MemberCorrelation { members, values, alike: Vec::new() });
    let subject = Subject::Weighing(&report, Some(&evidence));
    let narrow = Options { width: 460.0, ..Options::default() };
    let heat = draw(&subject, Kind::Correlation, &narrow).unwrap();
    let last = heat[..heat.find(">1.00</text>").unwrap()].rsplit("<text x=\"").next().unwrap();
    let middle: f64 = last.split('"').next().unwrap().parse().unwrap();
    assert!(middle <= 460.0 - 20.0 - 22.0, "{middle}");
}

#[test]
fn levels_are_points_and_those_left_out_are_counted() {
    let report = made::weighing(&["only"], "regression");
    let mut evidence = made::of_numbers();
    let drawn = |evidence: &dolmen::recipe::Evidence| {
        draw(&Subject::Weighing(&report, Some(evidence)), Kind::Dependence, &Options::default())
            .unwrap()
    };
    let few = drawn(&evidence);
    // Between two colours there is nothing that a line could show.
    assert!(few.matches("<circle").count() == 3 && !few.contains("<path"), "{few}");
    assert!(few.contains("Whiskers hold") && !few.contains("most frequent"));
    evidence.dependence[0].levels_left_out = 57;
    assert!(drawn(&evidence).contains("the 3 most frequent of 60 levels"));
}

#[test]
fn one_class_alone_and_nothing_known() {
    let report = made::weighing(&["only"], "classification");
    let mut evidence = made::of_classes(["a", "b", "c"]);
    if let Some(classes) = &mut evidence.classes {
        classes.curves[0].area = f64::NAN;
        classes.curves[1].reliability.clear();
        classes.curves[2].roc.clear();
    }
    if let Some(importance) = &mut evidence.importance {
        importance.inputs[0].loss = dolmen::score::Estimate { mean: f64::INFINITY, se: None };
    }
    evidence.dependence[0].outputs[0].mean[2] = f64::NAN;
    let subject = Subject::Weighing(&report, Some(&evidence));
    for kind in kinds(&subject) {
        elements(&draw(&subject, kind, &Options::default()).unwrap());
    }
    let roc = draw(&subject, Kind::Roc, &Options::default()).unwrap();
    assert!(roc.contains("All rows are of the class a") && !roc.contains("NaN"), "{roc}");
}

#[test]
fn the_curve_of_one_class_is_drawn_alone() {
    let report = made::weighing(&["only"], "classification");
    let evidence = made::of_classes(["a", "b", "c"]);
    let subject = Subject::Weighing(&report, Some(&evidence));
    let of = |input: &str| {
        let options = Options { input: Some(input.into()), ..Options::default() };
        draw(&subject, Kind::Dependence, &options)
    };
    let alone = of("age,b").unwrap();
    assert!(alone.contains("probability of b") && alone.contains("The band holds"), "{alone}");
    let refused = of("b").unwrap_err();
    assert!(refused.hint().unwrap().contains("'age,b'"), "{refused}");
    assert!(of("age,d").unwrap_err().to_string().contains("a class with a curve: a, b, c"));
}

#[test]
fn dots_of_many_classes_have_counts() {
    let report = made::weighing(&["only"], "classification");
    let evidence = made::of_classes(["a", "b", "c"]);
    let subject = Subject::Weighing(&report, Some(&evidence));
    let svg = draw(&subject, Kind::Reliability, &Options::default()).unwrap();
    let classes = evidence.classes.as_ref().unwrap();
    for curve in &classes.curves {
        assert!(svg.contains(&format!(">{} ({})<", curve.class, curve.rows)), "{svg}");
    }
    assert!(svg.contains("the more rows it has, from "), "{svg}");
}

#[test]
fn tied_methods_share_the_best_rank_and_the_first_meets_all_others() {
    let mut sets = made::sets();
    if let Some(ranks) = &mut sets.ranks {
        ranks.methods[1].rank = ranks.methods[0].rank;
    }
    let html = page(&Subject::Sets(&sets), &PageOptions::default()).unwrap();
    assert!(html.contains(" have the best mean rank") && !html.contains(" has the best mean rank"));
    let mut comparison = made::comparison(0.0);
    comparison.duels = ["cv", "cheating"]
        .map(|second| Duel {
            first: "stacking".into(),
            second: second.into(),
            figure: "log_loss".into(),
            gain: 0.1,
            p_value: 0.01,
            corrected_p_value: 0.2,
            outcome: Outcome::Win,
            corrected_outcome: Outcome::Draw,
        })
        .into();
    let svg = draw(&Subject::Comparison(&comparison), Kind::Outcomes, &Options::default()).unwrap();
    // One row, no empty cells, and the names that other pictures use.
    assert_eq!(svg.matches(">draw<").count(), 2);
    assert_eq!(svg.matches("<rect").count(), 3, "two cells and the paper");
    assert!(svg.contains("best member in hindsight") && !svg.contains("cheating"));
}

#[test]
fn names_are_text_not_markup() {
    let report = made::weighing(&["<script>alert(1)</script>", "b"], "density");
    let html = page(&Subject::Weighing(&report, None), &PageOptions::default()).unwrap();
    assert!(!html.contains("<script>alert"), "a name became a script");
}

/// Probabilities of eight classes, whose names differ in their middle only.
fn of_eight() -> dolmen::recipe::Evidence {
    let name = |k: usize| format!("a class with a long name, number {k} of the eight there are");
    let (rows, count) = (400, 8);
    let code = |i: usize| (made::noise(i, 1) * 8.0) as u32;
    let classes: Vec<String> = (0..count).map(name).collect();
    let labels = dolmen::target::Labels::new(classes.clone(), (0..rows).map(code).collect());
    let row = |i: usize| {
        let own = 0.2 + 0.7 * made::noise(i, 2);
        (0..count).map(move |c| if c == code(i) as usize { own } else { (1.0 - own) / 7.0 })
    };
    let predicted: Vec<f64> = (0..rows).flat_map(row).collect();
    let mut evidence = made::of_classes(["a", "b", "c"]);
    let curves = dolmen::score::curves::ClassCurves::of;
    evidence.classes = Some(curves(&predicted, &labels.unwrap(), &vec![1.0; rows]));
    let outputs = &mut evidence.dependence[0].outputs;
    let curve = outputs[0].clone();
    let of_class = |name: String| dolmen::evaluate::explain::OutputCurve { name, ..curve.clone() };
    *outputs = classes.into_iter().map(of_class).collect();
    evidence
}

#[test]
fn eight_classes_are_told_apart() {
    let report = made::weighing(&["only"], "classification");
    let evidence = of_eight();
    let subject = Subject::Weighing(&report, Some(&evidence));
    for (kind, width) in [(Kind::Roc, 720.0), (Kind::Dependence, 540.0), (Kind::Reliability, 720.0)]
    {
        let svg = draw(&subject, kind, &Options { width, ..Options::default() }).unwrap();
        elements(&svg);
        for k in 0..8 {
            let told = format!("…{k} o");
            assert!(svg.contains(&told), "{kind}: {told} in {svg}");
        }
    }
    // Each class has axes of its own, and what most rows have beside its mean.
    for kind in [Kind::Reliability, Kind::Dependence] {
        let own = draw(&subject, kind, &Options::default()).unwrap();
        assert_eq!(own.matches("<svg").count(), 9, "{kind}");
    }
    let moves = draw(&subject, Kind::Dependence, &Options::default()).unwrap();
    assert!(moves.contains("The band holds") && moves.matches("<path").count() == 2 * 8, "{moves}");
}

/// Levels have dots without lines: those of many classes have a plot each, those of a few stand side by side.
#[test]
fn dots_of_classes_do_not_stand_on_one_another() {
    let report = made::weighing(&["only"], "classification");
    let mut evidence = of_eight();
    evidence.dependence[0].levels = Some((0..5).map(|k| format!("level {k}")).collect());
    evidence.dependence[0].values = (0..5).map(f64::from).collect();
    let subject = Subject::Weighing(&report, Some(&evidence));
    let svg = draw(&subject, Kind::Dependence, &Options::default()).unwrap();
    assert_eq!((svg.matches("<circle").count(), svg.matches("<svg").count()), (8 * 5, 9), "{svg}");
    evidence.dependence[0].outputs.truncate(4);
    let subject = Subject::Weighing(&report, Some(&evidence));
    let svg = draw(&subject, Kind::Dependence, &Options::default()).unwrap();
    let place = |own: &str| own.split("cx=\"").nth(1)?.split('"').next().map(String::from);
    let mut places: Vec<String> = svg.split("<circle").skip(1).filter_map(place).collect();
    places.sort();
    places.dedup();
    assert_eq!(
        places.len(),
        4 * 5 + 1,
        "dots of a level side by side, and those of the key: {svg}"
    );
}

/// Rows without a number stand aside of those that have one.
#[test]
fn a_missing_number_stands_aside() {
    let report = made::weighing(&["only"], "classification");
    let mut evidence = made::of_classes(["a", "b", "c"]);
    let missing = dolmen::evaluate::explain::MissingNumber { mean: 0.4, middle: [0.2, 0.6] };
    for curve in &mut evidence.dependence[0].outputs {
        curve.missing = Some(missing);
    }
    let subject = Subject::Weighing(&report, Some(&evidence));
    let svg = draw(&subject, Kind::Dependence, &Options::default()).unwrap();
    elements(&svg);
    assert!(svg.contains(">missing<") && svg.contains("age missing: 0.4 on average"), "{svg}");
}
