//! Input that is hard on pictures: long names, many members, infinite scores, strange letters.

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
}

#[test]
fn names_are_text_not_markup() {
    let report = made::weighing(&["<script>alert(1)</script>", "b"], "density");
    let html = page(&Subject::Weighing(&report, None), &PageOptions::default()).unwrap();
    assert!(!html.contains("<script>alert"), "a name became a script");
}
