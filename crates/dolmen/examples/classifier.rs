//! A stacked classifier from a table, by a recipe: fitted, saved, read again, and scored on rows it has not seen.
//!
//! `cargo run --release --example classifier`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

use dolmen::recipe::{Model, PredictOptions, Recipe};
use dolmen::run::Run;
use dolmen::table::{self, ReadOptions, Table};

const RECIPE: &str = "
target = 'side'
members = ['logistic', 'neighbours(k=[5, 15])', 'tree', 'naive-bayes']
folds = 5
";

fn main() -> dolmen::Result<()> {
    let run = Run::new(0);
    let recipe = Recipe::from_toml(RECIPE)?;
    let fit = recipe.fit(&spirals(0..300, &run)?, &run)?;

    let file = std::env::temp_dir().join(format!("spirals-{}.dolmen", std::process::id()));
    fit.model.write(&file)?;
    let model = Model::read(&file)?;
    let _ = std::fs::remove_file(file);

    let new = model.rows_of(spirals(300..400, &run)?)?;
    let predicted = model.predict(&new.features, &PredictOptions::default(), &run)?;
    let names: Vec<&str> = predicted.iter().map(|(name, _)| name.as_str()).collect();
    println!("predicted columns: {}", names.join(", "));
    let report = model.score(new, &run)?;
    println!("log score of {} new rows: {:.3}", report.rows, report.score);
    for member in &report.members {
        println!("  {} alone: {:.3}", member.name, member.score);
    }
    assert_eq!(names, ["class", "p(in)", "p(out)"]);
    assert!(report.figures["error"] < 0.2, "{:?}", report.figures);
    Ok(())
}

/// Points on two spirals, one inside the other; each third has lost its distance from the centre.
fn spirals(rows: std::ops::Range<usize>, run: &Run) -> dolmen::Result<Table> {
    let mut text = String::from("x,y,distance,side\n");
    for i in rows {
        let (angle, inner) = (i as f64 * 0.61 % TAU, i % 2 == 0);
        let distance = angle + if inner { 1.0 } else { 2.5 };
        let seen = if i % 3 == 0 { String::new() } else { format!("{distance:.2}") };
        let side = if inner { "in" } else { "out" };
        let (x, y) = (distance * angle.cos(), distance * angle.sin());
        writeln!(text, "{x:.3},{y:.3},{seen},{side}").expect("a String takes everything");
    }
    table::read_text(&text, Path::new("spirals"), &ReadOptions::default(), run)
}
