//! Pictures of values made by hand, as they were looked at.

use dolmen_report::chart::{Chart, Series, Tone, panels};
use dolmen_report::{Kind, Options, Subject, draw, kinds};

use crate::made;
use crate::well_formed::elements;

/// The picture with a line for each element.
fn shown(subject: &Subject<'_>, kind: Kind) -> String {
    let svg = draw(subject, kind, &Options { standalone: false, ..Options::default() }).unwrap();
    elements(&svg);
    svg.replace("><", ">\n<")
}

#[test]
fn members() {
    let report =
        made::weighing(&["forest", "boost(rate=0.05)", "boost(rate=0.3)", "mean"], "density");
    let subject = Subject::Weighing(&report, None);
    for kind in [Kind::Weights, Kind::Scores, Kind::Gain] {
        insta::assert_snapshot!(format!("members-{kind}"), shown(&subject, kind));
    }
}

#[test]
fn classes() {
    let report = made::weighing(&["forest", "ridge"], "classification");
    let evidence = made::of_classes(["no", "yes", "maybe"]);
    let subject = Subject::Weighing(&report, Some(&evidence));
    for kind in [
        Kind::Reliability,
        Kind::Roc,
        Kind::PrecisionRecall,
        Kind::Confusion,
        Kind::Importance,
        Kind::Dependence,
        Kind::Correlation,
    ] {
        insta::assert_snapshot!(format!("classes-{kind}"), shown(&subject, kind));
    }
}

#[test]
fn numbers_and_densities() {
    let report = made::weighing(&["forest", "ridge"], "regression");
    let evidence = made::of_numbers();
    let subject = Subject::Weighing(&report, Some(&evidence));
    for kind in [Kind::Predicted, Kind::Residuals, Kind::Dependence] {
        insta::assert_snapshot!(format!("numbers-{kind}"), shown(&subject, kind));
    }
    let evidence = made::of_density();
    insta::assert_snapshot!(
        "density-pit",
        shown(&Subject::Weighing(&report, Some(&evidence)), Kind::Pit)
    );
}

#[test]
fn comparisons() {
    let (comparison, sets, learning) = (made::comparison(0.02), made::sets(), made::learning());
    insta::assert_snapshot!(
        "compare-methods",
        shown(&Subject::Comparison(&comparison), Kind::Methods)
    );
    insta::assert_snapshot!("compare-ranks", shown(&Subject::Sets(&sets), Kind::Ranks));
    insta::assert_snapshot!(
        "compare-learning",
        shown(&Subject::Learning(&learning), Kind::Learning)
    );
}

#[test]
fn only_what_suits_is_offered_and_drawn() {
    let report = made::weighing(&["a", "b"], "density");
    let subject = Subject::Weighing(&report, None);
    assert_eq!(kinds(&subject), [Kind::Weights, Kind::Scores, Kind::Gain]);
    let refused = draw(&subject, Kind::Roc, &Options::default()).unwrap_err().to_string();
    assert!(refused.contains("weights, scores, gain") && refused.contains("roc"), "{refused}");
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
    }
    assert!("wieghts".parse::<Kind>().is_err());
}

#[test]
fn charts() {
    let lines = Chart::new("Lines", "With a band, cut below.", "rows", "score")
        .with(
            Series::line(
                "stack",
                [(10.0, 1.0), (20.0, 2.0), (40.0, f64::NAN), (80.0, 2.5), (160.0, 2.6)],
            )
            .errors(vec![0.1; 5]),
        )
        .with(Series::dashed("bound", [(10.0, -3.0), (160.0, 2.0)]).tone(Tone::Ink))
        .with(Series::points("measured", [(15.0, 1.4), (60.0, 9.0)]).errors(vec![0.2, 0.2]))
        .log_x()
        .y_range(0.0, 3.0);
    let bars = Chart::new("Bars", "", "", "weight")
        .x_levels(["a", "b"])
        .with(Series::bars("one", [0.2, -0.1]).errors(vec![0.05, 0.05]))
        .with(Series::bars("two", [0.4, 0.3]));
    let histogram = Chart::new("Rows", "", "x", "density")
        .with(Series::histogram("rows", &[0.1, 0.2, 0.6, 5.0], (0.0, 1.0), 4))
        .with(Series::uprights("mean", [0.3]));
    let (xs, ys) = ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]);
    let heights = vec![0.0, 0.1, 0.0, 0.1, 1.0, 0.1, 0.0, 0.1, 0.0];
    let hill = Chart::new("Hill", "", "x", "y")
        .with(Series::regions("", (&xs, &ys), vec![0, 0, 1, 0, 1, 1, 0, 1, 1]))
        .with(Series::contours("", (&xs, &ys), heights, vec![0.5]))
        .unlabelled();
    let options = Options { standalone: false, ..Options::default() };
    let drawn = panels("Charts", "All marks.", 2, &[lines, bars, histogram, hill], &options);
    elements(&drawn);
    // What lies beyond the axes is not drawn: the second measured point.
    assert!(!drawn.contains("60, 9"), "{drawn}");
    insta::assert_snapshot!("charts", drawn.replace("><", ">\n<"));
}
