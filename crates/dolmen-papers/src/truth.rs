//! Known densities: mixtures of round normal components, to draw data from and to compare estimates with.

use std::f64::consts::TAU;

use dolmen::error::Result;
use dolmen::math::log_sum_exp;
use dolmen::run::Run;
use dolmen::table::{Features, Rows};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// A component: its weight, its mean, its standard deviation in every direction.
pub(crate) type Component<const D: usize> = (f64, [f64; D], f64);

/// A mixture of components whose weights sum to 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Truth<const D: usize>(pub(crate) &'static [Component<D>]);

impl<const D: usize> Truth<D> {
    /// Independent draws.
    pub(crate) fn draw(&self, rows: usize, run: &Run) -> Result<Features> {
        let mut rng = run.rng();
        let mut values = Vec::with_capacity(rows * D);
        for _ in 0..rows {
            let mut left: f64 = rng.random();
            let passed = |(weight, ..): &&Component<D>| {
                left -= weight;
                left < 0.0
            };
            let (_, mean, deviation) = self.0.iter().find(passed).unwrap_or(&self.0[0]);
            values.extend(mean.iter().map(|mean| {
                let normal: f64 = StandardNormal.sample(&mut rng);
                mean + deviation * normal
            }));
        }
        Features::numeric(values, D)
    }

    /// ln p of a row.
    pub(crate) fn log_density(&self, row: &[f64]) -> f64 {
        let part = |(weight, mean, deviation): &Component<D>| {
            let square: f64 =
                row.iter().zip(mean).map(|(x, m)| ((x - m) / deviation).powi(2)).sum();
            weight.ln() - 0.5 * (square + D as f64 * (TAU * deviation * deviation).ln())
        };
        log_sum_exp(&self.0.iter().map(part).collect::<Vec<f64>>())
    }

    /// ln p of every row.
    pub(crate) fn log_densities(&self, rows: Rows<'_>) -> Vec<f64> {
        rows.iter().map(|row| self.log_density(row)).collect()
    }
}

/// So many even steps from one value to another, both included.
pub(crate) fn steps(from: f64, to: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|k| from + (to - from) * k as f64 / last).collect()
}

/// The points of a grid, row by row: those of the lowest y first.
pub(crate) fn grid(xs: &[f64], ys: &[f64]) -> Result<Features> {
    let cells = ys.iter().flat_map(|y| xs.iter().flat_map(move |x| [*x, *y])).collect();
    Features::numeric(cells, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Truth<2> = Truth(&[(0.3, [0.0, 0.0], 0.5), (0.7, [2.0, 1.0], 1.0)]);

    #[test]
    fn densities_integrate_to_one_and_draws_have_their_means() {
        let (xs, ys) = (steps(-4.0, 8.0, 121), steps(-5.0, 7.0, 121));
        let cells = grid(&xs, &ys).unwrap();
        let sum: f64 = TWO.log_densities(cells.rows()).iter().map(|log| log.exp()).sum();
        assert!((sum * 0.01 - 1.0).abs() < 1e-4, "{sum}");
        let drawn = TWO.draw(20_000, &Run::new(1)).unwrap();
        let mean = |j: usize| drawn.rows().column(j).sum::<f64>() / 20_000.0;
        assert!((mean(0) - 1.4).abs() < 0.05 && (mean(1) - 0.7).abs() < 0.05);
    }
}
