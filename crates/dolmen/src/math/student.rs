//! Student's distribution.

/// P(|T| > |t|) of Student's distribution: the incomplete beta function I_x(f/2, 1/2) at x = f / (f + t^2).
pub fn student_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The t that so large a part of Student's distribution lies within, on both sides of 0: 1.645 of 0.9 and many degrees of freedom. Infinite
/// where there are none.
pub fn student_within(part: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || part >= 1.0 {
        return f64::INFINITY;
    }
    let is_within = |t: f64| student_two_sided(t, freedom) > 1.0 - part;
    let (mut low, mut high) = (0.0, 1.0);
    while is_within(high) && high < f64::MAX / 2.0 {
        (low, high) = (high, 2.0 * high);
    }
    // Halved as often as doubles have digits.
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = f64::midpoint(low, high);
        (low, high) = if is_within(middle) { (middle, high) } else { (low, middle) };
    }
    f64::midpoint(low, high)
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
            let found = student_two_sided(t, freedom);
            assert!((found / p - 1.0).abs() < 1e-11, "t {t} with {freedom}: {found} is not {p}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let expected = [(1.0, 6.313_752), (2.0, 2.919_986), (4.0, 2.131_847), (1e6, 1.644_855)];
        for (freedom, t) in expected {
            let found = student_within(0.9, freedom);
            assert!((found - t).abs() < 1e-5, "{freedom}: {found} is not {t}");
        }
        assert!(student_within(0.9, 0.0).is_infinite());
    }
}
