//! A mean with its standard error, of values that come one after the other and are not kept.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// What is known of the values so far. The spread is summed about the running mean (Welford1962), so that values far from 0 lose
/// nothing; parts are merged as Chan1983 does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Running {
    rows: usize,
    /// The plain sum; infinite where a value is.
    sum: f64,
    centre: f64,
    /// The sum of squared deviations from the centre; NaN where a value is infinite.
    spread: f64,
    /// The sum of the sizes of what the values are differences of.
    sizes: f64,
}

impl Running {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.rows += 1;
        self.sum += value;
        let away = value - self.centre;
        self.centre += away / self.rows as f64;
        self.spread += away * (value - self.centre);
    }

    /// Adds the difference `a - b` of two scores of a row; where both are `-inf` the row tells nothing and counts as 0.
    pub fn add_difference(&mut self, a: f64, b: f64) {
        let size = a.abs().max(b.abs());
        if size.is_finite() {
            self.sizes += size;
        }
        self.add(if a == b { 0.0 } else { a - b });
    }

    /// Adds values that were summed up elsewhere and come after these.
    pub fn merge(&mut self, later: &Self) {
        if later.rows == 0 {
            return;
        }
        let (own, new) = (self.rows as f64, later.rows as f64);
        let away = later.centre - self.centre;
        self.rows += later.rows;
        self.sum += later.sum;
        self.sizes += later.sizes;
        self.centre += away * new / (own + new);
        self.spread += later.spread + away * away * own * new / (own + new);
    }

    /// Values so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Their mean; NaN of none.
    pub fn mean(&self) -> f64 {
        self.sum / self.rows as f64
    }

    /// Their mean and its standard error.
    pub fn estimate(&self) -> Estimate {
        let rows = self.rows as f64;
        let se = (self.spread / (rows * (rows - 1.0))).sqrt();
        let estimate = Estimate { mean: self.mean(), se: se.is_finite().then_some(se) };
        estimate.free_of_noise(self.sizes / rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(values: &[f64]) -> Running {
        let mut running = Running::default();
        values.iter().for_each(|&value| running.add(value));
        running
    }

    #[test]
    fn values_one_after_the_other_give_what_all_at_once_give() {
        let values: Vec<f64> = (0..500).map(|i| 1e8 + f64::from(i * 7919 % 1009) / 7.0).collect();
        let whole = Estimate::of(&values, &vec![1.0 / 500.0; 500]);
        let mut parts = all(&values[..3]);
        parts.merge(&Running::default());
        parts.merge(&all(&values[3..400]));
        parts.merge(&all(&values[400..]));
        for found in [all(&values).estimate(), parts.estimate()] {
            assert!((found.mean / whole.mean - 1.0).abs() < 1e-14, "{found:?} {whole:?}");
            assert!(
                (found.se.unwrap() / whole.se.unwrap() - 1.0).abs() < 1e-7,
                "{found:?} {whole:?}"
            );
        }
        let mut from_nothing = Running::default();
        from_nothing.merge(&all(&values));
        assert_eq!(from_nothing, all(&values));
    }

    #[test]
    fn infinities_survive_and_have_no_error() {
        let mut running = all(&[1.0, f64::NEG_INFINITY]);
        running.merge(&all(&[2.0, 3.0]));
        assert_eq!(running.estimate(), Estimate { mean: f64::NEG_INFINITY, se: None });
        assert_eq!(all(&[2.0]).estimate(), Estimate { mean: 2.0, se: None });
    }

    #[test]
    fn differences_are_those_of_all_rows_at_once() {
        let a = [1.0, f64::NEG_INFINITY, 4.0, 2.0];
        let b = [0.5, f64::NEG_INFINITY, 4.0 * (1.0 + 3e-16), 2.0];
        let mut running = Running::default();
        a.iter().zip(&b).for_each(|(&a, &b)| running.add_difference(a, b));
        let whole = Estimate::of_difference(&a, &b, &[0.25; 4]);
        let found = running.estimate();
        assert!((found.mean - whole.mean).abs() < 1e-15, "{found:?} {whole:?}");
        assert!((found.se.unwrap() - whole.se.unwrap()).abs() < 1e-15, "{found:?} {whole:?}");
        let mut noise = Running::default();
        noise.add_difference(3.0, 3.0 * (1.0 + 3e-16));
        noise.add_difference(1.0, 1.0);
        assert_eq!(noise.estimate(), Estimate { mean: 0.0, se: Some(0.0) });
    }
}
