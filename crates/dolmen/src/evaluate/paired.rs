//! Paired tests.

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
