//! Paired differences, and Wilcoxon's test of them.

/// Units in the last place of the larger value within which a difference may be rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The differences a - b of the pairs in which both are finite, freed from rounding: what rounding alone could make differ
/// from 0 is 0, and what it could make differ in size is of one size.
///
/// Rates such as errors in 150 rows are fractions that are not exact: 0.3 - 0.2 is not 0.2 - 0.1. Tests that rank differences or
/// divide by their spread would take that for evidence.
pub fn differences(pairs: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
    let pairs: Vec<(f64, f64)> =
        pairs.into_iter().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    let size = pairs.iter().fold(0.0, |size: f64, (a, b)| size.max(a.abs()).max(b.abs()));
    let resolution = ROUNDING * size;
    let mut found: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&i, &j| found[i].abs().total_cmp(&found[j].abs()));
    let mut shared = 0.0;
    for i in order {
        if found[i].abs() - shared > resolution {
            shared = found[i].abs();
        }
        found[i] = if shared == 0.0 { 0.0 } else { shared.copysign(found[i]) };
    }
    found
}

/// The Wilcoxon signed-rank test of paired differences, two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// The smaller of the two rank sums.
    pub statistic: f64,
    /// Pairs that differ.
    pub pairs: usize,
    /// The probability of a statistic this small if the differences were symmetric about 0.
    pub p_value: f64,
}

/// Pairs up to which the distribution of the statistic is counted out, if there are no ties.
const EXACT_PAIRS: usize = 50;

/// Wilcoxon's signed-rank test. Zero differences are dropped, tied ones share their ranks.
///
/// Exact up to 50 pairs without ties; beyond, the normal approximation with the variance corrected for ties and no
/// continuity correction. With no pair that differs the p-value is 1.
pub fn wilcoxon(differences: &[f64]) -> Wilcoxon {
    let mut sorted: Vec<f64> =
        differences.iter().copied().filter(|d| *d != 0.0 && !d.is_nan()).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let pairs = sorted.len();
    let (mut plus, mut minus, mut ties) = (0.0, 0.0, 0.0);
    let mut first = 0;
    while first < pairs {
        let equal = sorted[first..].iter().take_while(|d| d.abs() == sorted[first].abs()).count();
        let rank = first as f64 + f64::midpoint(1.0, equal as f64);
        for d in &sorted[first..first + equal] {
            if *d > 0.0 { plus += rank } else { minus += rank }
        }
        ties += (equal * equal * equal - equal) as f64;
        first += equal;
    }
    let statistic = f64::min(plus, minus);
    let p_value = match pairs {
        0 => 1.0,
        n if n <= EXACT_PAIRS && ties == 0.0 => exact_p(statistic as usize, n),
        n => normal_p(statistic, n as f64, ties),
    };
    Wilcoxon { statistic, pairs, p_value }
}

/// Twice the share of the 2^n sign patterns whose positive ranks sum to at most `statistic`.
fn exact_p(statistic: usize, n: usize) -> f64 {
    let most = n * (n + 1) / 2;
    let mut share = vec![0.0; most + 1];
    share[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { share[sum - rank] } else { 0.0 };
            share[sum] = 0.5 * (share[sum] + with);
        }
    }
    (2.0 * share[..=statistic].iter().sum::<f64>()).min(1.0)
}

fn normal_p(statistic: f64, n: f64, ties: f64) -> f64 {
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let z = (statistic - mean) / variance.sqrt();
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The differences of the reference values (fixtures of this crate name their origin).
    const GOLDEN: [f64; 12] = [1.2, -0.4, 0.9, 2.2, -1.1, 0.3, 0.8, -0.2, 1.9, 0.05, 1.3, -0.7];

    #[test]
    fn golden_exact_and_normal() {
        let found = wilcoxon(&GOLDEN);
        assert_eq!((found.statistic, found.pairs), (19.0, 12));
        assert!((found.p_value - 0.129_394_531_25).abs() < 1e-12);
        assert!((normal_p(19.0, 12.0, 0.0) - 0.116_664_464_781_023_44).abs() < 1e-12);
    }

    #[test]
    fn zeros_ties_and_nothing() {
        assert_eq!(wilcoxon(&[]).p_value, 1.0);
        assert_eq!(wilcoxon(&[0.0, 0.0]).pairs, 0);
        // Ranks 1.5, 1.5, 3: the negative one is 1.5.
        assert_eq!(wilcoxon(&[1.0, -1.0, 2.0, 0.0]).statistic, 1.5);
        assert!((wilcoxon(&[1.0; 200]).p_value) < 1e-12);
    }

    /// Rates of a few rows against the counts they came from, which are exact.
    #[test]
    fn rates_are_tested_like_their_counts() {
        for rows in [10.0, 30.0, 150.0, 999.0] {
            let counts: Vec<(f64, f64)> = [
                (3.0, 2.0),
                (2.0, 1.0),
                (4.0, 4.0),
                (7.0, 6.0),
                (1.0, 2.0),
                (6.0, 4.0),
                (5.0, 5.0),
            ]
            .into();
            let rates: Vec<(f64, f64)> =
                counts.iter().map(|(a, b)| (1.0 - (rows - a) / rows, b / rows)).collect();
            let (counts, rates) = (differences(counts), differences(rates));
            assert_eq!(wilcoxon(&counts), wilcoxon(&rates));
            let t = |d: &[f64]| super::super::paired_t(d).p_value;
            assert!((t(&counts) - t(&rates)).abs() < 1e-9);
        }
        // Three splits with one error more, one with one less, six equal: z = 1.
        let more = |errors: f64| (1.0 - (30.0 - errors - 1.0) / 30.0, errors / 30.0);
        let mut pairs: Vec<(f64, f64)> = [1.0, 5.0, 8.0].map(more).to_vec();
        pairs.push((more(3.0).1, more(3.0).0));
        pairs.extend([2.0, 3.0, 4.0, 6.0, 7.0, 9.0].map(|e| (1.0 - (30.0 - e) / 30.0, e / 30.0)));
        let found = wilcoxon(&differences(pairs));
        assert!((found.p_value - 0.317_310_507_862_914).abs() < 1e-12, "{found:?}");
        // One pair differs, nine are equal but for rounding.
        let mut pairs = vec![(0.1 + 0.2, 0.3); 9];
        pairs.push((0.4, 0.3));
        let found = wilcoxon(&differences(pairs));
        assert_eq!((found.pairs, found.p_value), (1, 1.0));
        assert_eq!(differences([(f64::INFINITY, 1.0), (2.0, 1.0)]), [1.0]);
    }

    #[test]
    fn exact_p_by_enumeration() {
        let n = 6;
        for statistic in 0..=10 {
            let sum = |signs: usize| (1..=n).filter(|r| signs >> (r - 1) & 1 == 1).sum::<usize>();
            let count = (0..1 << n).filter(|&signs| sum(signs) <= statistic).count();
            let expected = (2.0 * count as f64 / f64::from(1 << n)).min(1.0);
            assert!((exact_p(statistic, n) - expected).abs() < 1e-12);
        }
    }
}
