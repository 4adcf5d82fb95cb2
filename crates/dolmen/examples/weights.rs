//! Weights for predictions made elsewhere: three forecasts of the same numbers, each made without having seen them.
//!
//! `cargo run --release --example weights`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use dolmen::combine::weigh::{WeighOptions, weigh};
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::task::Regression;

fn main() -> dolmen::Result<()> {
    // A season and a trend. One forecaster knows the season, one the trend, one neither.
    let truth: Vec<f64> = (0..120).map(|i| season(i) + trend(i) + noise(i)).collect();
    let forecasts = vec![
        ("season".to_string(), (0..120).map(|i| 2.0 * season(i) + 1.0).collect()),
        ("trend".to_string(), (0..120).map(|i| 2.0 * trend(i)).collect()),
        ("constant".to_string(), vec![1.2; 120]),
    ];
    let matrix = OutOfSample::<Regression>::from_columns(forecasts, truth, None)?;
    let weighing = weigh(&matrix, &WeighOptions::default(), &Run::new(0))?;

    for member in &weighing.members {
        println!("{:10} {:.3} (se {:.3})", member.name, member.weight, member.se.unwrap_or(0.0));
    }
    let gain = &weighing.gain_over_best;
    println!("gain over '{}': {:.3} (se {:.3})", weighing.best, gain.mean, gain.se.unwrap_or(0.0));
    println!("no weights do better by more than {:.0e}", weighing.gap);

    assert!(weighing.converged && weighing.gap <= 1e-8);
    assert!(gain.mean > 0.0);
    Ok(())
}

fn season(i: usize) -> f64 {
    (i as f64 * std::f64::consts::TAU / 12.0).sin()
}

fn trend(i: usize) -> f64 {
    i as f64 / 60.0
}

/// A number between -0.3 and 0.3 that looks random.
fn noise(i: usize) -> f64 {
    (i * 7919 % 61) as f64 / 100.0 - 0.3
}
