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

/// Pairs, equal ones included, up to which every pattern of signs is counted out, whatever the ties.
const COUNTED_PAIRS: usize = 13;

/// Pairs up to which the distribution of the statistic is counted out where no two differences share a rank and none is 0.
const EXACT_PAIRS: usize = 50;

/// Wilcoxon's signed-rank test. Zero differences are dropped, tied ones share their ranks.
///
/// The p-value is chosen as SciPy 1.17 chooses it, so that both say the same of the same differences. Without ties and zeros it
/// is exact up to 50 pairs: the share of all patterns of signs, given the ranks, whose statistic is as small. With them it is
/// exact up to 13 pairs. Beyond, it is the normal approximation with the variance corrected for ties and no continuity
/// correction. With no pair that differs the p-value is 1.
pub fn wilcoxon(differences: &[f64]) -> Wilcoxon {
    let known = differences.iter().filter(|d| !d.is_nan()).count();
    let mut sorted: Vec<f64> =
        differences.iter().copied().filter(|d| *d != 0.0 && !d.is_nan()).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let pairs = sorted.len();
    // Ranks that are shared are halves, so they are kept doubled: whole numbers, whose sums are exact.
    let mut doubled = Vec::with_capacity(pairs);
    let (mut plus, mut minus, mut ties) = (0, 0, 0.0);
    while doubled.len() < pairs {
        let first = doubled.len();
        let equal = sorted[first..].iter().take_while(|d| d.abs() == sorted[first].abs()).count();
        let rank = 2 * first + 1 + equal;
        for d in &sorted[first..first + equal] {
            if *d > 0.0 { plus += rank } else { minus += rank }
        }
        ties += (equal as f64).powi(3) - equal as f64;
        doubled.extend(std::iter::repeat_n(rank, equal));
    }
    let smaller = plus.min(minus);
    let statistic = 0.5 * smaller as f64;
    let distinct = pairs == known && ties == 0.0;
    let p_value = match known {
        _ if pairs == 0 => 1.0,
        n if n <= COUNTED_PAIRS || (distinct && n <= EXACT_PAIRS) => exact_p(smaller, &doubled),
        _ => normal_p(statistic, pairs as f64, ties),
    };
    Wilcoxon { statistic, pairs, p_value }
}

/// Twice the share of the 2^n patterns of signs whose positive ranks sum to at most `statistic`.
fn exact_p(statistic: usize, ranks: &[usize]) -> f64 {
    let mut share = vec![0.0; ranks.iter().sum::<usize>() + 1];
    share[0] = 1.0;
    for &rank in ranks {
        for sum in (0..share.len()).rev() {
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
        // Three splits with one error more, one with one less, six equal: z = 1, but of the 16 patterns of signs 5 have no
        // more than one minus.
        let more = |errors: f64| (1.0 - (30.0 - errors - 1.0) / 30.0, errors / 30.0);
        let mut pairs: Vec<(f64, f64)> = [1.0, 5.0, 8.0].map(more).to_vec();
        pairs.push((more(3.0).1, more(3.0).0));
        pairs.extend([2.0, 3.0, 4.0, 6.0, 7.0, 9.0].map(|e| (1.0 - (30.0 - e) / 30.0, e / 30.0)));
        let found = wilcoxon(&differences(pairs));
        assert_eq!((found.statistic, found.pairs, found.p_value), (2.5, 4, 0.625));
        assert!((normal_p(2.5, 4.0, 60.0) - 0.317_310_507_862_914).abs() < 1e-12);
        // One pair differs, nine are equal but for rounding.
        let mut pairs = vec![(0.1 + 0.2, 0.3); 9];
        pairs.push((0.4, 0.3));
        let found = wilcoxon(&differences(pairs));
        assert_eq!((found.pairs, found.p_value), (1, 1.0));
        // The same one pair among twenty, and three against one among twenty: z = 1 both times.
        for (more, less) in [(1, 0), (3, 1)] {
            let mut pairs = vec![(0.1 + 0.2, 0.3); 20 - more - less];
            pairs.extend(vec![(0.4, 0.3); more]);
            pairs.extend(vec![(0.3, 0.4); less]);
            let found = wilcoxon(&differences(pairs));
            assert_eq!(found.pairs, more + less);
            assert!((found.p_value - 0.317_310_507_862_914).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(differences([(f64::INFINITY, 1.0), (2.0, 1.0)]), [1.0]);
    }

    /// SciPy 1.17.1: `wilcoxon(d[d != 0], method=PermutationMethod(n_resamples=10**6)).pvalue`, which for so few pairs tries
    /// every pattern of signs; `method="asymptotic"` says 0.0956 of the first.
    #[test]
    fn ties_are_counted_out() {
        let p = |differences: &[f64]| wilcoxon(differences).p_value;
        assert!((p(&[1.0, 1.0, 1.0, 1.0, -1.0, 2.0, 0.0]) - 0.1875).abs() < 1e-12);
        assert!((p(&[1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0]) - 0.453_125).abs() < 1e-12);
        let twelve = [3.0, 1.0, 1.0, -2.0, 2.0, 2.0, -1.0, 4.0, 4.0, 5.0, -3.0, 6.0];
        assert!((p(&twelve) - 0.059_082_031_25).abs() < 1e-12);
        // One pair more than are counted out: SciPy's normal p, by default.
        let fourteen = [1.0, 2.0, 2.0, 3.0, -1.0, 4.0, 4.0, -2.0, 5.0, 5.0, 6.0, 7.0, -3.0, 8.0];
        assert!((p(&fourteen) - 0.010_850_652_052_835_212).abs() < 1e-12);
    }

    #[test]
    fn exact_p_by_enumeration() {
        for ranks in [vec![2, 4, 6, 8, 10, 12], vec![3, 3, 7, 7, 10, 12], vec![7; 6]] {
            for statistic in 0..=20 {
                let is_small = |signs: &usize| {
                    let positive = ranks.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1);
                    positive.map(|(_, rank)| rank).sum::<usize>() <= statistic
                };
                let count = (0..64_usize).filter(is_small).count();
                let expected = (2.0 * count as f64 / 64.0).min(1.0);
                assert!((exact_p(statistic, &ranks) - expected).abs() < 1e-12);
            }
        }
    }
}
