//! Student's t-tests of paired differences.

use crate::math::student_two_sided;

/// A two-sided t-test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The mean difference in units of its standard error.
    pub statistic: f64,
    /// The probability of a statistic this far from 0 if the true mean were 0.
    pub p_value: f64,
}

/// The paired t-test: t = mean / sqrt(variance / n) with n - 1 degrees of freedom.
///
/// With fewer than two differences nothing can be said, and the p-value is 1. Differences that are all the same are
/// chance only if they are 0.
pub fn paired_t(differences: &[f64]) -> TTest {
    corrected_t(differences, 0.0)
}

/// The corrected resampled t-test for the differences of splits that share training rows [NadeauBengio2003, section
/// 4.2]: t = mean / sqrt((1/n + test/train) variance), `test_share` being the test rows as a multiple of the training rows.
pub fn corrected_t(differences: &[f64], test_share: f64) -> TTest {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if n < 2.0 || mean == 0.0 {
        return TTest { statistic: 0.0, p_value: 1.0 };
    }
    let statistic = mean / ((1.0 / n + test_share) * variance).sqrt();
    TTest { statistic, p_value: student_two_sided(statistic, n - 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFFERENCES: [f64; 12] =
        [1.2, -0.4, 0.9, 2.2, -1.1, 0.3, 0.8, -0.2, 1.9, 0.05, 1.3, -0.7];

    /// Values of SciPy 1.17: `ttest_1samp`, and `2 * t.sf` at the corrected statistic.
    #[test]
    fn tests_are_those_of_scipy() {
        let plain = paired_t(&DIFFERENCES);
        assert!((plain.statistic - 1.744_405_622_669_216_8).abs() < 1e-12);
        assert!((plain.p_value - 0.108_926_356_081_811_12).abs() < 1e-12);
        let corrected = corrected_t(&DIFFERENCES, 1.0 / 9.0);
        assert!((corrected.statistic - 1.141_981_544_084_037_3).abs() < 1e-12);
        assert!((corrected.p_value - 0.277_710_979_064_333_1).abs() < 1e-12);
    }

    #[test]
    fn too_little_to_say_and_no_doubt() {
        assert_eq!(paired_t(&[]).p_value, 1.0);
        assert_eq!(paired_t(&[3.0]).p_value, 1.0);
        assert_eq!(paired_t(&[0.0; 5]).p_value, 1.0);
        assert_eq!(paired_t(&[0.5; 5]).p_value, 0.0);
    }
}
