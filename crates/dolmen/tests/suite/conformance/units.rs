//! Units of the target and of the inputs do not matter.

use dolmen::Result;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Density, Regression};

use super::{ROWS, far_apart, rows, said};

#[test]
fn predictions_follow_the_units_of_the_target() {
    let x = rows();
    // A signal, and little enough of each number that adding 1e10 loses nothing.
    let at = |i: usize| x.rows().row(i)[0] + (3.0 * x.rows().row(i)[1]).sin();
    let y: Vec<f64> = (0..ROWS).map(|i| (at(i) * 1024.0).round() / 1024.0).collect();
    let specs = [
        "mean",
        "ridge",
        "ridge(lambda=[0.1, 10])",
        "network(hidden=8)",
        "neighbours(k=[1, 5])",
        "svm(tolerance=1e-8)",
        "gaussian-process",
        "tree",
        "tree(depth=3, alpha=0)",
        "boost(rounds=10, min_leaf=3)",
        "boost(rounds=100, min_leaf=2, loss=absolute)",
        "boost(rounds=100, min_leaf=2, loss=quantile, quantile=0.3)",
        "boost(rounds=5, min_leaf=2, loss=huber)",
        "forest(trees=12)",
        "extra-trees(trees=12)",
        "experts(count=[1, 2])",
    ];
    let mut complaints = Vec::new();
    for spec in specs {
        let usual = said::<Regression>(spec, x.rows(), &y).unwrap();
        // Powers of two near 1e100 and 1e-100, so that what is equally good stays so.
        let far = 2_f64.powi(332);
        for (shift, scale) in [(1e10, 1.0), (0.0, far), (0.0, 1.0 / far)] {
            let other: Vec<f64> = y.iter().map(|y| shift + scale * y).collect();
            let said = said::<Regression>(spec, x.rows(), &other).unwrap();
            let back = said.iter().map(|v| (v - shift) / scale);
            let other = usual.iter().zip(back).find(|(a, b)| far_apart(**a, *b));
            complaints.extend(other.map(|other| format!("{spec}, {shift} + {scale} y: {other:?}")));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn the_units_of_the_inputs_do_not_matter_or_are_refused() {
    let x = rows();
    let y: Vec<f64> = (0..ROWS).map(|i| x.rows().row(i)[0] + (i as f64).sin()).collect();
    let codes = y.iter().map(|y| u32::from(*y > 1.0)).collect();
    let labels = Labels::new(["a", "b"].map(String::from), codes).unwrap();
    let scaled = |scale: f64| {
        Features::numeric(x.rows().values().iter().map(|v| v * scale).collect(), 2).unwrap()
    };
    let mut complaints = Vec::new();
    let mut alike = |what: String, usual: &[f64], said: Result<Vec<f64>>| {
        let Ok(said) = said else { return };
        let other = usual.iter().zip(&said).find(|(a, b)| far_apart(**a, **b));
        complaints.extend(other.map(|other| format!("{what}: {other:?}")));
    };
    for scale in [1e-300, 1e-150, 1e150, 1e300] {
        let other = scaled(scale);
        for spec in [
            "ridge",
            "network(hidden=8)",
            "neighbours",
            "svm",
            "tree",
            "boost(rounds=10, min_leaf=3)",
            "forest(trees=12)",
            "extra-trees(trees=12)",
            "experts(count=2)",
        ] {
            let usual = said::<Regression>(spec, x.rows(), &y).unwrap();
            let said = said::<Regression>(spec, other.rows(), &y);
            alike(format!("{spec}, x times {scale:e}"), &usual, said);
        }
        for spec in [
            "logistic",
            "network(hidden=8)",
            "neighbours",
            "svm",
            "tree",
            "boost(rounds=10, min_leaf=3)",
            "forest(trees=12)",
            "extra-trees(trees=12)",
            "experts(count=2)",
            "naive-bayes",
            "aode",
            "bayes(density=gaussian)",
            "bayes(density=mixture(components=2))",
            "bayes(density=kernel)",
        ] {
            let usual = said::<Classification>(spec, x.rows(), &labels).unwrap();
            let said = said::<Classification>(spec, other.rows(), &labels);
            alike(format!("{spec} of classes, x times {scale:e}"), &usual, said);
        }
        for spec in ["gaussian", "kernel", "mixture(components=2)"] {
            let usual = said::<Density>(spec, x.rows(), &()).unwrap();
            let shift = 2.0 * scale.ln();
            let said = said::<Density>(spec, other.rows(), &())
                .map(|said| said.iter().map(|v| v + shift).collect());
            alike(format!("{spec}, x times {scale:e}"), &usual, said);
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}
