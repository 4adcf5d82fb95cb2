//! Section 2.1: what the best combination gains over the best model, as the errors of the models go from alike to opposite.

use dolmen::combine::{Combiner, Evidence, Method, Weights};
use dolmen::error::{Error, Result};
use dolmen::oos::OutOfSample;
use dolmen::run::Run;
use dolmen::task::Regression;
use dolmen_report::chart::{Chart, Series, Tone};
use rand_distr::{Distribution, StandardNormal};

use crate::page::{Claim, Comparison, Figure, Page, Table, estimate};
use crate::truth::steps;
use crate::{Context, Printed};

/// Errors of the models by themselves: d_i of the paper, the best first.
const ERRORS: [f64; 5] = [1.0, 1.1, 1.3, 1.6, 2.0];
/// The least kappa at which five errors can have it: -1/4.
const LEAST: f64 = -0.24;

/// Rows that the weights are learned from, and rows they are judged on.
const ROWS: usize = 20_000;

/// The expected squared error of the best combination with weights that are not negative and sum to 1.
///
/// For C = D ((1-kappa) I + kappa 11') D the minimum with weights of any sign is 1 / (1'C^-1 1), and alpha_i is proportional to
/// 1/d_i (1/d_i - kappa S1 / (1 + (M-1) kappa)), S1 = sum_i 1/d_i. Where the last, which belongs to the largest d, is negative,
/// that model has no weight and the others are asked again.
fn least_error(kappa: f64, errors: &[f64]) -> f64 {
    let m = errors.len() as f64;
    if errors.len() == 1 {
        return errors[0].powi(2);
    }
    let s1: f64 = errors.iter().map(|d| 1.0 / d).sum();
    let s2: f64 = errors.iter().map(|d| 1.0 / (d * d)).sum();
    let shared = kappa * s1 / (1.0 + (m - 1.0) * kappa);
    let (worst, others) = errors.split_last().expect("there are several");
    if kappa >= 1.0 || 1.0 / worst < shared {
        return least_error(kappa, others);
    }
    (1.0 - kappa) / (s2 - shared * s1)
}

/// Errors Z of the models in `ROWS` rows, a column for each: normal, with variances d_i^2 and correlations kappa.
fn errors(kappa: f64, run: &Run) -> Vec<Vec<f64>> {
    let mut rng = run.rng();
    // (1-kappa) I + kappa 11' = A'A for A = a I + b 11', a^2 = 1 - kappa, (a + M b)^2 = 1 + (M-1) kappa.
    let m = ERRORS.len() as f64;
    let a = (1.0 - kappa).max(0.0).sqrt();
    let b = ((1.0 + (m - 1.0) * kappa).max(0.0).sqrt() - a) / m;
    let mut columns = vec![Vec::with_capacity(ROWS); ERRORS.len()];
    for _ in 0..ROWS {
        let normals: [f64; ERRORS.len()] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        let shared = b * normals.iter().sum::<f64>();
        for (column, (d, z)) in columns.iter_mut().zip(ERRORS.iter().zip(normals)) {
            column.push(d * (a * z + shared));
        }
    }
    columns
}

/// What the learned combination gains over the best model on fresh rows, and the best model's weight.
fn gain(kappa: f64, run: &Run) -> Result<(f64, f64)> {
    let learned = errors(kappa, &run.stream("learned"));
    let named = learned.into_iter().enumerate().map(|(m, column)| (format!("model {m}"), column));
    // A linear combination with weights that sum to 1 errs by the combination of the errors, whatever the target is: it is 0.
    let matrix = OutOfSample::<Regression>::from_columns(named.collect(), vec![0.0; ROWS], None)?;
    let mut found = Weights::from(Method::Simplex).fit(&Evidence::from(&matrix), run)?;
    let found = found.pop().ok_or_else(|| Error::shape("combinations", 1, 0))?;
    let weights = found.weights().unwrap_or_default();
    let judged = errors(kappa, &run.stream("judged"));
    let gains = (0..ROWS).map(|i| {
        let combined: f64 = weights.iter().zip(&judged).map(|(w, column)| w * column[i]).sum();
        judged[0][i].powi(2) - combined.powi(2)
    });
    Ok((gains.sum::<f64>() / ROWS as f64, weights[0]))
}

/// The experiment.
pub(super) fn section2(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([
        "Five models err by Z_i with covariances C_ij = d_i^2 if i = j and kappa d_i d_j if not. As kappa falls from 1 below 0 their errors go from \
         alike to opposite. Weights that are not negative and sum to 1 are learned from 20 000 rows by the library's least squares on the simplex, \
         and judged on 20 000 others; theory is the minimum of the expected error in closed form.",
    ]);
    let tenths = (-2..=10).map(|tenths| f64::from(tenths) / 10.0);
    let kappas: Vec<f64> = tenths.chain([LEAST]).collect();
    let repeats = context.either(8, 40);
    let found =
        context.repeat("kappa", kappas.len() * repeats, |k, run| gain(kappas[k / repeats], run))?;
    let best = ERRORS[0].powi(2);
    let mut table =
        Comparison::new("gain", "Gain in squared error over the best model", &["kappa"], 3);
    let mut numbers = Table::new(
        "kappa",
        "Gains and the best model's weight",
        ["kappa", "gain", "se", "theory", "weight of the best"],
    )
    .in_file_only();
    let r: f64 = ERRORS[1..].iter().map(|d| d.powi(-2)).sum();
    let uncorrelated = r * best * best / (1.0 + r * best);
    let mut points = Vec::new();
    for (k, kappa) in kappas.iter().enumerate() {
        let own = &found[k * repeats..(k + 1) * repeats];
        let gains: Vec<f64> = own.iter().map(|(gain, _)| *gain).collect();
        let theory = best - least_error(*kappa, &ERRORS);
        let ours = estimate(&gains);
        let weight = own.iter().map(|(_, weight)| weight).sum::<f64>() / repeats as f64;
        numbers.row([*kappa, ours.mean, ours.se.unwrap_or(0.0), theory, weight].map(Into::into));
        points.push((*kappa, ours.mean, ours.se.unwrap_or(0.0), theory, weight));
        if kappa.abs() < 1e-9 || *kappa > 1.0 - 1e-9 {
            let formula = if *kappa > 0.5 { 0.0 } else { uncorrelated };
            let line =
                table.mean(&[&format!("{kappa:.1}")], &gains, Some(Printed::exact(formula, 4)));
            line.because("chance, or what learning the weights from a sample costs");
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    page.claims = claims(&points, uncorrelated);
    page.figures.push(picture(&points, uncorrelated));
    page.comparisons.push(table);
    page.tables.push(numbers);
    page.notes.push(
        "The printed figures are the paper's formulas at these d: R d0^4 / (1 + R d0^2), R = sum over the others of d_i^-2, at kappa = 0, and no gain \
         at kappa = 1."
            .into(),
    );
    Ok(page)
}

/// Kappa, gain, its standard error, theory, the best model's weight.
type Point = (f64, f64, f64, f64, f64);

fn claims(points: &[Point], uncorrelated: f64) -> Vec<Claim> {
    let last = points[points.len() - 1];
    let falls = points.windows(2).all(|pair| pair[0].1 >= pair[1].1 - 2.0 * pair[1].2);
    let near = |point: &&Point| (point.1 - point.3).abs() <= 2.0 * point.2 + 1e-12;
    let agreeing = points.iter().filter(near).count();
    let at_zero = points.iter().find(|point| point.0.abs() < 1e-9).map_or(f64::NAN, |p| p.1);
    vec![
        Claim::new(
            "the gain grows as kappa falls",
            falls,
            format!("{:.3} at {:.2}, {:.3} at {:.0}", points[0].1, points[0].0, last.1, last.0),
        )
        .holds_if("it does at every step"),
        Claim::new(
            "at kappa = 1 all weight is on the best model",
            last.4 > 0.999,
            format!("its weight is {:.4}", last.4),
        )
        .holds_if("it is above 0.999"),
        Claim::new(
            "at kappa = 0 the gain is at most d0^2",
            at_zero <= ERRORS[0].powi(2) && uncorrelated <= ERRORS[0].powi(2),
            format!("{at_zero:.3} of {:.1}", ERRORS[0].powi(2)),
        ),
        Claim::new(
            "the measured gain is that of theory",
            agreeing * 10 >= points.len() * 8,
            format!("within two standard errors at {agreeing} of {} kappas", points.len()),
        )
        .holds_if("that is 80 % of them")
        .ours(),
    ]
}

fn picture(points: &[Point], uncorrelated: f64) -> Figure {
    let curve = steps(LEAST, 1.0, 125).into_iter();
    let theory = curve.map(|kappa| (kappa, ERRORS[0].powi(2) - least_error(kappa, &ERRORS)));
    let measured = points.iter().map(|point| (point.0, point.1));
    let errors = points.iter().map(|point| 2.0 * point.2).collect();
    let chart = Chart::new(
        "Gain of the optimal combination",
        "What the squared error of the best of five models falls by when they are combined: learned (points, two standard errors) and in theory. The \
         dot at 0 is the paper's formula for errors that have nothing to do with one another.",
        "kappa: opposite errors at the left, alike at the right",
        "gain in squared error",
    )
    .with(Series::line("theory", theory).tone(Tone::Ink))
    .with(Series::points("learned", measured).errors(errors))
    .with(Series::points("formula", [(0.0, uncorrelated)]).tone(Tone::Series(5)));
    Figure::chart("gain", &chart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theory_is_the_papers_formula_where_it_has_one() {
        let r: f64 = ERRORS[1..].iter().map(|d| d.powi(-2)).sum();
        assert!((least_error(0.0, &ERRORS) - 1.0 / (1.0 + r)).abs() < 1e-12);
        assert_eq!(least_error(1.0, &ERRORS), 1.0);
        // Two models by hand: alpha minimises a quadratic.
        let (kappa, d) = (0.3, [1.0, 1.5]);
        let error =
            |a: f64| a * a + 2.25 * (1.0 - a) * (1.0 - a) + 2.0 * kappa * 1.5 * a * (1.0 - a);
        let lowest = steps(0.0, 1.0, 100_001).into_iter().map(error).fold(f64::MAX, f64::min);
        assert!((least_error(kappa, &d) - lowest).abs() < 1e-9);
    }
}
