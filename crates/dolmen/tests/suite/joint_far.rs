//! LMG weights where members lie hundreds and thousands of nats apart: never worse than a member alone, than EM's kind of step or than
//! a quasi-Newton method in the logarithms from the same start; whatever is missed is said.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which may fail")]

use dolmen::math::log_sum_exp;
use dolmen::run::Run;
use dolmen::solver::problem::WeightProblem;
use dolmen::solver::simplex::{JointScore, JointSolution, LmgOptions};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// Log joint probabilities of the own class and of all classes: `[i][m]`.
struct Matrix {
    own: Vec<Vec<f64>>,
    all: Vec<Vec<f64>>,
}

impl Matrix {
    fn members(&self) -> usize {
        self.own[0].len()
    }

    fn problem(&self) -> JointScore {
        let columns = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            (0..self.members()).map(|m| rows.iter().map(|row| row[m]).collect()).collect()
        };
        JointScore::from_log(columns(&self.own), columns(&self.all)).unwrap()
    }

    fn solve(&self) -> JointSolution {
        let run = Run::with_threads(1, 1).unwrap();
        self.problem().solve(&LmgOptions::default(), &run).unwrap()
    }

    /// The objective at log weights of any scale, and the mean shares of the members in both sums.
    fn at(&self, t: &[f64]) -> (f64, [Vec<f64>; 2]) {
        let (mut score, rows) = (0.0, self.own.len() as f64);
        let mut portions = [vec![0.0; t.len()], vec![0.0; t.len()]];
        for (own, all) in self.own.iter().zip(&self.all) {
            let sum = |row: &[f64], portions: &mut [f64]| {
                let logs: Vec<f64> = row.iter().zip(t).map(|(log, t)| log + t).collect();
                let sum = log_sum_exp(&logs);
                portions.iter_mut().zip(&logs).for_each(|(p, log)| *p += (log - sum).exp() / rows);
                sum
            };
            let [first, second] = &mut portions;
            score += (sum(own, first) - sum(all, second)) / rows;
        }
        (score, portions)
    }

    fn score(&self, weights: &[f64]) -> f64 {
        self.at(&weights.iter().map(|w| w.ln()).collect::<Vec<f64>>()).0
    }

    fn best_alone(&self) -> f64 {
        let alone = |m: usize| {
            let rows = self.own.iter().zip(&self.all);
            rows.map(|(own, all)| own[m] - all[m]).sum::<f64>() / self.own.len() as f64
        };
        (0..self.members()).map(alone).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The score of log weights as doubles: what is too small for them is nothing.
    fn in_doubles(&self, t: &[f64]) -> f64 {
        let total = log_sum_exp(t);
        self.score(&t.iter().map(|t| (t - total).exp()).collect::<Vec<f64>>())
    }

    /// The multiplicative step alone, again and again: the log weights.
    fn by_multiplying(&self, steps: usize) -> Vec<f64> {
        let mut t = vec![0.0; self.members()];
        for _ in 0..steps {
            let (_, [own, all]) = self.at(&t);
            let factor = |(own, all): (&f64, &f64)| if *all > 0.0 { (own / all).ln() } else { 0.0 };
            t.iter_mut().zip(own.iter().zip(&all).map(factor)).for_each(|(t, d)| *t += d);
        }
        t
    }

    /// L-BFGS in the logarithms of the weights, from equal ones.
    fn by_quasi_newton(&self, steps: usize) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let slope = |p: &[Vec<f64>; 2]| -> Vec<f64> {
            p[0].iter().zip(&p[1]).map(|(own, all)| own - all).collect()
        };
        let mut t = vec![0.0; self.members()];
        let (mut value, mut gradient) = {
            let (value, portions) = self.at(&t);
            (value, slope(&portions))
        };
        let mut memory: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for _ in 0..steps {
            let mut way = gradient.clone();
            let mut kept = Vec::new();
            for (s, y) in memory.iter().rev() {
                let a = dot(s, &way) / dot(s, y);
                way.iter_mut().zip(y).for_each(|(w, y)| *w -= a * y);
                kept.push(a);
            }
            if let Some((s, y)) = memory.last() {
                let scale = dot(s, y) / dot(y, y);
                way.iter_mut().for_each(|w| *w *= scale);
            }
            for ((s, y), a) in memory.iter().zip(kept.iter().rev()) {
                let b = dot(y, &way) / dot(s, y);
                way.iter_mut().zip(s).for_each(|(w, s)| *w += (a - b) * s);
            }
            let promise = dot(&way, &gradient);
            let mut length = 1.0;
            let next = loop {
                let there: Vec<f64> = t.iter().zip(&way).map(|(t, w)| t + length * w).collect();
                let (new, portions) = self.at(&there);
                if new >= value + 1e-4 * length * promise {
                    break Some((there, new, slope(&portions)));
                }
                length /= 2.0;
                if length < 1e-12 {
                    break None;
                }
            };
            let Some((there, new, there_slope)) = next else { break };
            let s: Vec<f64> = there.iter().zip(&t).map(|(a, b)| a - b).collect();
            let y: Vec<f64> = gradient.iter().zip(&there_slope).map(|(a, b)| a - b).collect();
            if dot(&s, &y) > 1e-14 * dot(&y, &y) {
                memory.push((s, y));
            }
            if memory.len() > 10 {
                memory.remove(0);
            }
            let stalled = new - value < 1e-14 * value.abs();
            (t, value, gradient) = (there, new, there_slope);
            if stalled {
                break;
            }
        }
        t
    }
}

/// Random matrices of four kinds: classes told apart more or less, members of any level in each row, of unlike sharpness, repeated.
fn random(seed: u64, largest: f64) -> (f64, Matrix) {
    let mut rng = Run::with_threads(seed, 1).unwrap().rng();
    let rows = rng.random_range(5.0_f64.ln()..400.0_f64.ln()).exp() as usize;
    let members =
        if rng.random_bool(0.9) { rng.random_range(1..20) } else { rng.random_range(50..120) };
    let classes = rng.random_range(2..6);
    let scale = 10.0_f64.powf(rng.random_range(-1.0..largest));
    let lift = rng.random::<f64>() * scale;
    let kind = rng.random_range(0..4);
    let skill: Vec<f64> = (0..members).map(|_| rng.random()).collect();
    let sharpness: Vec<f64> = (0..members)
        .map(|_| if kind == 2 { 10.0_f64.powf(rng.random_range(-4.0..0.0)) } else { 1.0 })
        .collect();
    let half = (members / 2).max(1);
    let copied: Vec<usize> =
        (0..members).map(|m| if kind == 3 { rng.random_range(0..half) } else { m }).collect();
    let normal = |rng: &mut dyn Rng| -> f64 { StandardNormal.sample(rng) };
    let (mut own, mut all) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let class = rng.random_range(0..classes);
        let joint: Vec<Vec<f64>> = (0..members)
            .map(|m| {
                let level = if kind == 1 { 1e4 * normal(&mut rng) } else { 0.0 };
                let one = |c: usize, rng: &mut dyn Rng| {
                    let right = if c == class { lift * skill[m] } else { 0.0 };
                    (right + scale * normal(rng)) * sharpness[m] + level
                };
                (0..classes).map(|c| one(c, &mut rng)).collect()
            })
            .collect();
        own.push(copied.iter().map(|&m| joint[m][class]).collect());
        all.push(copied.iter().map(|&m| log_sum_exp(&joint[m])).collect());
    }
    (scale, Matrix { own, all })
}

/// What is found for so many random matrices: how many reach 1e-10 and 1e-8, how many say that they do not.
#[expect(
    clippy::print_stdout,
    reason = "a campaign tells what it found, even where that is enough"
)]
fn campaign(cases: u64, largest: f64) -> (usize, usize) {
    let (mut exact, mut close) = (0, 0);
    for seed in 0..cases {
        let (scale, matrix) = random(seed, largest);
        let found = matrix.solve();
        let context = format!(
            "seed {seed}, scale {scale:.1}, {} rows, {} members: score {}, residual {}, converged {}",
            matrix.own.len(),
            matrix.members(),
            found.score,
            found.residual,
            found.converged
        );
        assert!(found.score.is_finite() && !found.residual.is_nan(), "{context}");
        let size = 1.0 + found.score.abs();
        assert!((matrix.score(&found.weights) - found.score).abs() < 1e-8 * size, "{context}");
        let alone = matrix.best_alone();
        assert!(found.score >= alone - 1e-9 * size, "{context}: alone {alone}");
        let others = [matrix.by_multiplying(100), matrix.by_quasi_newton(300)];
        let other = others.iter().map(|t| matrix.in_doubles(t)).fold(f64::NEG_INFINITY, f64::max);
        let worse = found.score < other - 1e-6 * size;
        assert!(!worse || !found.converged, "{context}: {other}");
        if worse || found.residual > 1e-8 {
            println!("{context}: other {other}");
        }
        exact += usize::from(found.residual <= 1e-10);
        close += usize::from(found.residual <= 1e-8);
    }
    println!("of {cases}: {exact} reach 1e-10, {close} reach 1e-8");
    (exact, close)
}

#[test]
fn random_matrices_of_all_scales_are_solved() {
    let (_, close) = campaign(40, 3.0);
    assert!(close >= 34, "{close}");
}

#[test]
#[ignore = "takes minutes"]
fn many_random_matrices_of_all_scales_are_solved() {
    let (_, close) = campaign(500, 3.0);
    assert!(close >= 450, "{close}");
}

/// The good member lies 2000 nats below the bad one in half of the rows, and as far above it in the others: equal weights are a
/// plateau with a gradient of zero.
#[test]
fn a_plateau_is_no_maximum_if_a_member_alone_is_better() {
    let row = |i: usize| {
        let bad = if i.is_multiple_of(5) { 0.9_f64 } else { 0.1 };
        let level = if i.is_multiple_of(2) { -2000.0 } else { 0.0 };
        (vec![level + 0.9_f64.ln(), -2000.0 - level + bad.ln()], vec![level, -2000.0 - level])
    };
    let (own, all) = (0..60).map(row).unzip();
    let matrix = Matrix { own, all };
    let found = matrix.solve();
    assert!(found.converged, "{found:?}");
    assert!((found.score - 0.9_f64.ln()).abs() < 1e-12, "{found:?}");
    // The same from the plateau itself, as the bootstrap and folds ask for it.
    let again = matrix.problem().optimum(&[1.0 / 60.0; 60], &[0.5, 0.5], &[0, 1]);
    assert!(again.converged && (again.score - 0.9_f64.ln()).abs() < 1e-12, "{again:?}");
}

/// The best weights would lie 2000 nats apart, more than doubles do: then those that doubles hold are weighed, and a member alone
/// is the least there is.
#[test]
fn weights_are_those_that_doubles_hold() {
    // Each member is right where the other one is wrong, and the first lies 1500 or 2500 nats above the second.
    let row = |i: usize| {
        let (right, other) = if i.is_multiple_of(2) { (0.9_f64, 0.1_f64) } else { (0.1, 0.8) };
        let level = if i.is_multiple_of(2) { 2500.0 } else { 1500.0 };
        (vec![level + right.ln(), other.ln()], vec![level, 0.0])
    };
    let (own, all) = (0..40).map(row).unzip();
    let matrix = Matrix { own, all };
    let found = matrix.solve();
    assert!(found.converged && (found.score - matrix.best_alone()).abs() < 1e-12, "{found:?}");
    assert_eq!(found.weights, [1.0, 0.0]);
}

/// Nothing but numbers comes out, whatever vanishes.
#[test]
fn rows_that_only_some_members_know_give_numbers() {
    let nothing = f64::NEG_INFINITY;
    let own =
        vec![vec![-1.0, nothing], vec![nothing, -3000.0], vec![-900.0, -1.0], vec![-2.0, -1.0]];
    let all = vec![vec![-0.5, -0.5], vec![-0.1, -2999.0], vec![-899.0, -0.5], vec![-1.0, -0.9]];
    let matrix = Matrix { own, all };
    let found = matrix.solve();
    assert!(found.score.is_finite() && !found.residual.is_nan(), "{found:?}");
    assert!((matrix.score(&found.weights) - found.score).abs() < 1e-9);
    assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}
