//! Student's t-tests of paired differences, and the distribution they need.

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
    TTest { statistic, p_value: two_sided(statistic, n - 1.0) }
}

/// P(|T| > |t|) of Student's distribution: the incomplete beta function I_x(f/2, 1/2) at x = f / (f + t^2).
fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// I_x(a, b), by its continued fraction on the side where that converges fast [DLMF 8.17.22].
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let gamma = libm::lgamma;
    let log_front = gamma(a + b) - gamma(a) - gamma(b) + a * x.ln() + b * (-x).ln_1p();
    log_front.exp() / a * beta_fraction(x, a, b)
}

/// Terms after which the fraction is taken as it is; it converges within sqrt(max(a, b)) of them.
const TERMS: usize = 500;

/// The continued fraction 1/(1 + d1/(1 + d2/(1 + ..))) of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
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
    fn tails_of_the_distribution_are_those_of_scipy() {
        let expected = [
            (0.1, 1.0, 0.936_548_965_138_893),
            (2.0, 1.0, 0.295_167_235_300_866_5),
            (12.7, 1.0, 0.050_024_327_689_344_165),
            (1.96, 99.0, 0.052_807_113_750_970_754),
            (5.0, 99.0, 2.481_396_013_040_949e-6),
            (0.01, 1000.0, 0.992_023_281_932_187_3),
            (40.0, 7.0, 1.590_217_998_485_036_4e-9),
            (1e-3, 2.0, 0.999_292_893_395_590_1),
        ];
        for (t, freedom, p) in expected {
            let found = two_sided(t, freedom);
            assert!((found / p - 1.0).abs() < 1e-11, "t {t} with {freedom}: {found} is not {p}");
        }
    }

    #[test]
    fn too_little_to_say_and_no_doubt() {
        assert_eq!(paired_t(&[]).p_value, 1.0);
        assert_eq!(paired_t(&[3.0]).p_value, 1.0);
        assert_eq!(paired_t(&[0.0; 5]).p_value, 1.0);
        assert_eq!(paired_t(&[0.5; 5]).p_value, 0.0);
    }
}
