//! How alike members go wrong: the less, the more there is to win by combining them.

use super::OutOfSample;
use crate::task::Task;

/// Agreement of errors from which on two members are as good as the same.
const SAME: f64 = 0.995;

impl<T: Task> OutOfSample<T> {
    /// The correlation of each two members' errors, members x members: residuals of numbers, log scores of everything else.
    /// Rows in which one of the two is infinitely wrong are left out; NaN where one never varies.
    pub fn error_correlation(&self) -> Vec<f64> {
        self.of_each_two(|a, b| Together::of(a, b).correlation())
    }

    /// Groups of members each two of which make all but the same errors, in direction and in size, the largest group first; a member is in
    /// one group at most. Being alike is no chain: of many members the first and the last of one may be quite unlike.
    ///
    /// Errors that go up and down together are not enough: those of one member may all be larger, and then it is no stand-in for the other. What
    /// counts is Lin's concordance (Lin1989), which is 1 only where all errors are equal.
    pub fn alike(&self) -> Vec<Vec<usize>> {
        let count = self.members().len();
        let agreement = self.of_each_two(|a, b| {
            // Where one alone is infinitely wrong the two are not alike.
            let is_apart = a.iter().zip(b).any(|(a, b)| a.is_finite() != b.is_finite());
            if is_apart { f64::NAN } else { Together::of(a, b).concordance() }
        });
        grouped(count, |a, b| agreement[a * count + b] > SAME)
    }

    /// A number for each two members' errors, members x members.
    fn of_each_two(&self, number: impl Fn(&[f64], &[f64]) -> f64 + Sync) -> Vec<f64> {
        use rayon::prelude::*;

        let members = self.members().len();
        let errors: Vec<Vec<f64>> = (0..members).map(|m| self.errors(m)).collect();
        let row = |a: usize| {
            let (errors, number) = (&errors, &number);
            (0..members).map(move |b| number(&errors[a], &errors[b]))
        };
        let rows: Vec<Vec<f64>> = (0..members).into_par_iter().map(|a| row(a).collect()).collect();
        rows.concat()
    }

    fn errors(&self, member: usize) -> Vec<f64> {
        match T::numbers(self.target()) {
            Some(truth) => truth.iter().zip(self.column(member)).map(|(y, p)| y - p).collect(),
            None => self.scores(member),
        }
    }
}

/// How the errors of two members go together, in rows in which both are finite: means of squares and products.
struct Together {
    /// The difference of their means.
    apart: f64,
    own: f64,
    other: f64,
    both: f64,
}

impl Together {
    fn of(a: &[f64], b: &[f64]) -> Self {
        let pairs = || a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite());
        let count = pairs().count() as f64;
        let (sum_a, sum_b) = pairs().fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b));
        let (mean_a, mean_b) = (sum_a / count, sum_b / count);
        let (mut own, mut other, mut both) = (0.0, 0.0, 0.0);
        for (a, b) in pairs() {
            let (a, b) = (a - mean_a, b - mean_b);
            (own, other, both) = (own + a * a, other + b * b, both + a * b);
        }
        let [own, other, both] = [own, other, both].map(|sum| sum / count);
        Self { apart: mean_a - mean_b, own, other, both }
    }

    fn correlation(&self) -> f64 {
        self.both / (self.own * self.other).sqrt()
    }

    /// The correlation, less what sizes and means differ by.
    fn concordance(&self) -> f64 {
        2.0 * self.both / (self.own + self.other + self.apart * self.apart)
    }
}

/// Groups each two of which are alike.
fn grouped(count: usize, is_like: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let is_alike = |a: usize, b: usize| a != b && is_like(a, b);
    let likes = |m: &usize| (0..count).filter(|other| is_alike(*m, *other)).count();
    // Those that are like most others first: their groups are the largest.
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|m| std::cmp::Reverse(likes(m)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for m in order {
        match groups.iter_mut().find(|group| group.iter().all(|&other| is_alike(other, m))) {
            Some(group) => group.push(m),
            None => groups.push(vec![m]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_by_key(|group| (std::cmp::Reverse(group.len()), group[0]));
    groups
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

    /// Forty members in a row, each like its neighbours and unlike those farther off: pairs, not one group of all.
    #[test]
    fn only_members_each_two_of_which_are_alike_are_a_group() {
        let groups = grouped(40, |a, b| a.abs_diff(b) <= 1);
        assert!(!groups.is_empty() && groups.iter().all(|group| group.len() == 2), "{groups:?}");
        assert_eq!(grouped(40, |_, _| true), [(0..40).collect::<Vec<usize>>()]);
    }

    /// The same errors, twice as large, and shifted, all with a correlation of 1; and one that is infinitely wrong once.
    #[test]
    fn members_are_alike_only_if_their_errors_are_as_large() {
        let truth: Vec<f64> = (0..50).map(f64::from).collect();
        let error = |i: usize| ((i * 37 % 50) as f64 - 24.5) / 10.0;
        let off = |scale: f64, shift: f64| {
            truth
                .iter()
                .enumerate()
                .map(|(i, y)| y - scale * error(i) - shift)
                .collect::<Vec<f64>>()
        };
        let columns = vec![
            ("plain".to_string(), off(1.0, 0.0)),
            ("twice".to_string(), off(2.0, 0.0)),
            ("nearly".to_string(), off(1.01, 0.01)),
            ("shifted".to_string(), off(1.0, 3.0)),
        ];
        let matrix = OutOfSample::<Regression>::from_columns(columns, truth, None).unwrap();
        assert!(matrix.error_correlation().iter().all(|own| *own > 0.999_999));
        assert_eq!(matrix.alike(), [[0, 2]]);
        let mut once = vec![-1.0, -2.0, -3.0, -4.0];
        let logs = vec![("a".to_string(), once.clone()), ("b".to_string(), once.clone())];
        once[3] = f64::NEG_INFINITY;
        let logs = logs.into_iter().chain([("c".to_string(), once)]).collect();
        let matrix = OutOfSample::<Density>::from_columns(logs, (), None).unwrap();
        assert_eq!(matrix.alike(), [[0, 1]]);
    }
}
