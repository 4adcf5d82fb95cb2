//! How alike members go wrong: the less, the more there is to win by combining them.

use super::OutOfSample;
use crate::target::Target;
use crate::task::Task;

impl<T: Task> OutOfSample<T> {
    /// The correlation of each two members' errors, members x members: residuals of numbers, log scores of everything else.
    /// Rows in which one of the two is infinitely wrong are left out; NaN where one never varies.
    pub fn error_correlation(&self) -> Vec<f64> {
        use rayon::prelude::*;

        let members = self.members().len();
        let errors: Vec<Vec<f64>> = (0..members).map(|m| self.errors(m)).collect();
        let row = |a: usize| {
            let errors = &errors;
            (0..members).map(move |b| correlation(&errors[a], &errors[b]))
        };
        let rows: Vec<Vec<f64>> = (0..members).into_par_iter().map(|a| row(a).collect()).collect();
        rows.concat()
    }

    fn errors(&self, member: usize) -> Vec<f64> {
        match self.target().numbers() {
            Some(truth) => truth.iter().zip(self.column(member)).map(|(y, p)| y - p).collect(),
            None => self.scores(member),
        }
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let pairs = || a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite());
    let count = pairs().count() as f64;
    let (sum_a, sum_b) = pairs().fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b));
    let (mean_a, mean_b) = (sum_a / count, sum_b / count);
    let (mut own, mut other, mut both) = (0.0, 0.0, 0.0);
    for (a, b) in pairs() {
        let (a, b) = (a - mean_a, b - mean_b);
        (own, other, both) = (own + a * a, other + b * b, both + a * b);
    }
    both / (own * other).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Density, Regression};

    #[test]
    fn errors_are_residuals_or_scores_and_infinite_ones_are_left_out() {
        let truth = vec![1.0, 2.0, 3.0, 4.0];
        let off =
            |errors: [f64; 4]| truth.iter().zip(errors).map(|(y, e)| y - e).collect::<Vec<_>>();
        let columns = vec![
            ("a".to_string(), off([1.0, -1.0, 1.0, -1.0])),
            ("b".to_string(), off([2.0, -2.0, 2.0, -2.0])),
            ("c".to_string(), off([-1.0, 1.0, -1.0, 1.0])),
            ("d".to_string(), off([1.0, 1.0, -1.0, -1.0])),
        ];
        let matrix = OutOfSample::<Regression>::from_columns(columns, truth.clone(), None).unwrap();
        let found = matrix.error_correlation();
        assert_eq!(found[..4], [1.0, 1.0, -1.0, 0.0]);
        let logs = vec![
            ("a".to_string(), vec![-1.0, -2.0, -3.0, f64::NEG_INFINITY]),
            ("b".to_string(), vec![-2.0, -4.0, -6.0, -1.0]),
            ("c".to_string(), vec![-1.0; 4]),
        ];
        let matrix = OutOfSample::<Density>::from_columns(logs, (), None).unwrap();
        let found = matrix.error_correlation();
        assert!((found[1] - 1.0).abs() < 1e-12, "{found:?}");
        assert!(found[2].is_nan() && found[8].is_nan());
    }
}
