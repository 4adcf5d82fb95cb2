//! Methods ranked on several sets, and by how much mean ranks must differ to mean something: Nemenyi's test
//! [Demsar2006, section 3.2.2].

use serde::{Deserialize, Serialize};

use super::Comparison;

/// Mean ranks over sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranks {
    /// How many sets.
    pub sets: usize,
    /// The methods, the best first.
    pub methods: Vec<RankedMethod>,
    /// Mean ranks that differ by less may do so by chance, at 5 %.
    pub critical_difference: f64,
    /// The first and last of methods that cannot be told apart, of every longest such run.
    pub alike: Vec<[usize; 2]>,
}

/// A method's mean rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedMethod {
    /// The method.
    pub name: String,
    /// Its mean rank; 1 is best.
    pub rank: f64,
}

/// Chance of calling equal methods different.
const LEVEL: f64 = 0.05;

impl Ranks {
    /// Of the methods that took part in all comparisons, but for the one that cheats, by their mean scores. `None` with fewer than two
    /// sets or methods.
    pub fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison> + Clone) -> Option<Self> {
        let sets = comparisons.clone().count();
        let first = comparisons.clone().next()?;
        let score = |comparison: &Comparison, name: &str| {
            comparison.methods.iter().find(|method| method.name == name).map(|method| {
                // A score that is not known is no better than none.
                if method.mean.is_nan() { f64::NEG_INFINITY } else { method.mean }
            })
        };
        let names: Vec<&str> = first
            .methods
            .iter()
            .map(|method| method.name.as_str())
            .filter(|name| *name != "cheating" && first.zero_line.as_deref() != Some(name))
            .filter(|name| comparisons.clone().all(|own| score(own, name).is_some()))
            .collect();
        if sets < 2 || names.len() < 2 {
            return None;
        }
        let mut totals = vec![0.0; names.len()];
        for comparison in comparisons {
            let scores: Vec<f64> =
                names.iter().filter_map(|name| score(comparison, name)).collect();
            totals.iter_mut().zip(ranks(&scores)).for_each(|(total, rank)| *total += rank);
        }
        let ranked = names.iter().zip(totals);
        let mut methods: Vec<RankedMethod> = ranked
            .map(|(name, total)| RankedMethod { name: (*name).into(), rank: total / sets as f64 })
            .collect();
        methods.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        let critical_difference = critical_difference(methods.len(), sets);
        let alike = alike(&methods, critical_difference);
        Some(Self { sets, methods, critical_difference, alike })
    }
}

/// Ranks from 1 for the largest; ties share theirs.
fn ranks(scores: &[f64]) -> Vec<f64> {
    let rank = |own: &f64| {
        let above = scores.iter().filter(|other| *other > own).count() as f64;
        let tied = scores.iter().filter(|other| *other == own).count() as f64;
        above + f64::midpoint(tied, 1.0)
    };
    scores.iter().map(rank).collect()
}

/// Runs of methods that lie within the difference, those within a longer one left out.
fn alike(methods: &[RankedMethod], difference: f64) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for (from, method) in methods.iter().enumerate() {
        let within = |other: &RankedMethod| other.rank - method.rank <= difference;
        let to = methods.iter().rposition(within).unwrap_or(from);
        if to > from && runs.last().is_none_or(|last| last[1] < to) {
            runs.push([from, to]);
        }
    }
    runs
}

/// q sqrt(k (k + 1) / 6 N), where q is the upper 5 % point of the range of k normal numbers over sqrt(2).
fn critical_difference(methods: usize, sets: usize) -> f64 {
    let k = methods as f64;
    let q = studentized_range(methods, 1.0 - LEVEL) / std::f64::consts::SQRT_2;
    q * (k * (k + 1.0) / (6.0 * sets as f64)).sqrt()
}

/// The value that the range of so many standard normal numbers stays below with this probability, by bisection of
/// P(range < q) = k int phi(z) (Phi(z) - Phi(z - q))^(k-1) dz.
fn studentized_range(count: usize, probability: f64) -> f64 {
    let normal = |z: f64| 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let below = |q: f64| -> f64 {
        let (low, high, steps) = (-8.0, 8.0 + q, 2000);
        let width = (high - low) / f64::from(steps);
        let at = |i: i32| {
            let z = low + width * f64::from(i);
            density(z) * (normal(z) - normal(z - q)).powi(count as i32 - 1)
        };
        // Trapezoids: at both ends the integrand is as good as 0.
        count as f64 * width * (0..=steps).map(at).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < probability { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Demsar2006, Table 5 (a): q for 2 to 10 methods.
    #[test]
    fn critical_values_are_those_of_the_table() {
        let table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
        for (k, expected) in (2..).zip(table) {
            let q = studentized_range(k, 0.95) / std::f64::consts::SQRT_2;
            assert!((q - expected).abs() < 1e-3, "{k}: {q} against {expected}");
        }
        // The paper's example: 4 methods, 14 sets, CD = 1.25.
        assert!((critical_difference(4, 14) - 1.25).abs() < 0.005);
    }

    #[test]
    fn ties_share_ranks_and_runs_are_as_long_as_they_can_be() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, f64::NEG_INFINITY]), [2.5, 1.0, 2.5, 4.0]);
        let at = |rank: f64| RankedMethod { name: String::new(), rank };
        let methods = [1.0, 1.8, 2.4, 3.9].map(at);
        assert_eq!(alike(&methods, 1.5), [[0, 2], [2, 3]]);
        assert_eq!(alike(&methods, 0.1), Vec::<[usize; 2]>::new());
        assert_eq!(alike(&methods, 3.0), [[0, 3]]);
    }
}
