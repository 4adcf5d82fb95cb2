//! The logarithmic pool of class probabilities: p(c given x) proportional to prod_m p_m(c given x)^w_m, w_m >= 0.
//!
//! Where a linear pool is as sure as its members on average, a logarithmic pool with a sum of powers above 1 is surer: it
//! suits members that are each too timid. Its log score is concave in the powers (a conditional logit model), and Newton's
//! method over the non-negative numbers finds the optimum.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Combination, Combiner, Evidence, ShowBlocks, StoredCombination, check_members, check_weights,
};
use crate::error::{Error, Result, at_least_zero};
use crate::learner::Diagnostics;
use crate::math::{Gram, nonnegative};
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::spec::Spec;
use crate::stats::{Accumulator, accumulate};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::target::Target;
use crate::task::Task;

/// The least probability that a logarithm is taken of: a member that is sure of the wrong class once is not worth nothing.
const FLOOR: f64 = 1e-4;
/// Rows summed into one accumulator.
const PART: usize = 4096;
/// Newton steps at most; a handful is usual.
const STEPS: usize = 50;

/// The logarithms of a row of probabilities, less their mean; probabilities below a floor count as the floor.
pub(super) fn centred_logarithms(row: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, p)| *out = p.max(FLOOR).ln());
    let mean = out.iter().sum::<f64>() / out.len() as f64;
    out.iter_mut().for_each(|out| *out -= mean);
}

/// Finds the powers of a logarithmic pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogPool {
    /// The penalty on the squared distance of the powers from equal shares of 1, per row.
    #[schemars(range(min = 0.0))]
    pub lambda: f64,
    /// The precision of a normal prior of the powers about equal shares of 1: a penalty as `lambda`, but for all rows
    /// together, so that it holds few rows and leaves many alone.
    #[schemars(range(min = 0.0))]
    pub prior: f64,
    /// The largest violation of the optimality conditions of the mean score.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
}

impl Default for LogPool {
    fn default() -> Self {
        Self { lambda: 1e-3, prior: 0.0, tolerance: 1e-10 }
    }
}

/// A fitted logarithmic pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogPooling {
    powers: Vec<f64>,
    /// Whether the search for them reached its tolerance.
    #[serde(default)]
    converged: Option<bool>,
    /// What was asked for; not stored.
    #[serde(skip)]
    asked: LogPool,
}

impl<T: Task> Combiner<T> for LogPool {
    fn rungs(&self) -> Vec<String> {
        vec![Spec::of("log-pool", self).to_string()]
    }

    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        let oos = evidence.oos;
        if T::LOG_SPACE || oos.target().classes().is_empty() {
            let expected = "one that suits the task: log-pool combines class probabilities";
            return Err(Error::param("combiner", expected, format!("log-pool for {}", T::NAME)));
        }
        at_least_zero("lambda in log-pool", self.lambda)?;
        at_least_zero("prior in log-pool", self.prior)?;
        at_least_zero("tolerance in log-pool", self.tolerance)?;
        oos.shares()?;
        let whole: &ShowBlocks<'_, T> = &|show| show(oos);
        let start = vec![1.0 / oos.members().len() as f64; oos.members().len()];
        Ok(vec![Box::new(self.search(whole, start, run)?)])
    }
}

impl LogPool {
    /// The best powers for rows that are shown block by block, from a start.
    fn search<T: Task>(
        &self,
        blocks: &ShowBlocks<'_, T>,
        start: Vec<f64>,
        run: &Run,
    ) -> Result<LogPooling> {
        let mut total = 0.0;
        blocks(&mut |oos| {
            total += oos.weights().map_or(oos.rows() as f64, |weights| weights.iter().sum());
            Ok(())
        })?;
        let lambda = self.lambda + self.prior / total;
        let problem = Problem { blocks, total, lambda };
        let (powers, converged) = problem.maximise(start, self.tolerance, run)?;
        Ok(LogPooling { powers, converged: Some(converged), asked: self.clone() })
    }
}

/// The mean log score of a logarithmic pool as a function of its powers, over rows that are shown block by block.
struct Problem<'a, T: Task> {
    blocks: &'a ShowBlocks<'a, T>,
    /// The weight of all rows.
    total: f64,
    lambda: f64,
}

/// Score, gradient and minus the Hessian, summed over rows.
struct Evaluation {
    score: f64,
    gradient: Vec<f64>,
    curvature: Vec<f64>,
}

impl Accumulator for Evaluation {
    fn merge(&mut self, later: Self) {
        self.score += later.score;
        self.gradient.iter_mut().zip(later.gradient).for_each(|(a, b)| *a += b);
        self.curvature.iter_mut().zip(later.curvature).for_each(|(a, b)| *a += b);
    }
}

impl Evaluation {
    fn zero(members: usize) -> Self {
        let (gradient, curvature) = (vec![0.0; members], vec![0.0; members * members]);
        Self { score: 0.0, gradient, curvature }
    }

    /// The largest violation of the conditions of the optimum.
    fn violation(&self, powers: &[f64]) -> f64 {
        let violations = powers.iter().zip(&self.gradient);
        violations.map(|(w, g)| if *w > 0.0 { g.abs() } else { *g }).fold(0.0, f64::max)
    }
}

impl<T: Task> Problem<'_, T> {
    /// Newton's method: each step solves the quadratic model over the non-negative numbers exactly, and goes as far
    /// towards its solution as the score rises. Also whether the tolerance was reached.
    fn maximise(&self, start: Vec<f64>, tolerance: f64, run: &Run) -> Result<(Vec<f64>, bool)> {
        let members = start.len();
        let mut powers = start;
        let mut here = self.evaluate(&powers, run)?;
        let mut violation = here.violation(&powers);
        let mut steps = 0;
        while violation > tolerance && steps < STEPS {
            run.check()?;
            steps += 1;
            let h = Gram::from_fn(members, |j, k| here.curvature[j * members + k]);
            let c: Vec<f64> =
                h.times(&powers).iter().zip(&here.gradient).map(|(hw, g)| hw + g).collect();
            let target = nonnegative::minimise(&h, &c, &powers).y;
            let Some((next, there)) = self.rise(&powers, &target, &here, run)? else {
                break;
            };
            (powers, here) = (next, there);
            violation = here.violation(&powers);
        }
        Ok((powers, violation <= tolerance))
    }

    /// The first point on the way to `target`, halving, with a higher score. Near the optimum a rise is less than the score
    /// can resolve; there a point counts that violates the conditions of the optimum less.
    fn rise(
        &self,
        from: &[f64],
        target: &[f64],
        here: &Evaluation,
        run: &Run,
    ) -> Result<Option<(Vec<f64>, Evaluation)>> {
        let promise: f64 =
            from.iter().zip(target).zip(&here.gradient).map(|((a, b), g)| g * (b - a)).sum();
        let in_the_dark = promise < 16.0 * f64::EPSILON * (1.0 + here.score.abs());
        let mut step = 1.0;
        while step > 1e-10 {
            let point: Vec<f64> =
                from.iter().zip(target).map(|(a, b)| (a + step * (b - a)).max(0.0)).collect();
            let there = self.evaluate(&point, run)?;
            let less = there.violation(&point) < here.violation(from);
            if if in_the_dark { less } else { there.score > here.score } {
                return Ok(Some((point, there)));
            }
            step *= 0.5;
        }
        Ok(None)
    }

    fn evaluate(&self, powers: &[f64], run: &Run) -> Result<Evaluation> {
        let members = powers.len();
        let total = self.total;
        let zero = || Evaluation::zero(members);
        let mut sum = zero();
        (self.blocks)(&mut |oos| {
            let share = |i: usize| oos.weights().map_or(1.0, |weights| weights[i]) / total;
            let of_block = || {
                accumulate(oos.rows(), PART, zero, |sum, rows| {
                    let mut room = Room::new(members, oos.width());
                    rows.for_each(|i| room.add(oos, share(i), powers, i, sum));
                })
            };
            sum.merge(run.install(of_block));
            Ok(())
        })?;
        for (m, power) in powers.iter().enumerate() {
            let away = power - 1.0 / members as f64;
            sum.score -= 0.5 * self.lambda * away * away;
            sum.gradient[m] -= self.lambda * away;
            sum.curvature[m * members + m] += self.lambda;
        }
        Ok(sum)
    }
}

/// Room for one row: the members' logarithms (member after member) and the pool.
struct Room {
    logarithms: Vec<f64>,
    pooled: Vec<f64>,
    /// Each member's logarithms less their mean under the pool.
    centred: Vec<f64>,
    classes: usize,
}

impl Room {
    fn new(members: usize, classes: usize) -> Self {
        let cells = members * classes;
        Self {
            logarithms: vec![0.0; cells],
            pooled: vec![0.0; classes],
            centred: vec![0.0; cells],
            classes,
        }
    }

    fn add<T: Task>(
        &mut self,
        oos: &OutOfSample<T>,
        share: f64,
        powers: &[f64],
        i: usize,
        sum: &mut Evaluation,
    ) {
        let class = oos.target().strata().map_or(0, |codes| codes[i] as usize);
        for (m, logs) in self.logarithms.chunks_exact_mut(self.classes).enumerate() {
            centred_logarithms(oos.row(m, i), logs);
        }
        let total = pool(powers, &self.logarithms, &mut self.pooled);
        sum.score += share * (self.pooled[class] - total);
        self.pooled.iter_mut().for_each(|log| *log = (*log - total).exp());
        let rows = self.logarithms.chunks_exact(self.classes);
        for ((logs, centred), gradient) in
            rows.zip(self.centred.chunks_exact_mut(self.classes)).zip(&mut sum.gradient)
        {
            let mean: f64 = logs.iter().zip(&self.pooled).map(|(f, p)| f * p).sum();
            centred.iter_mut().zip(logs).for_each(|(centred, f)| *centred = f - mean);
            *gradient += share * centred[class];
        }
        let members = powers.len();
        for j in 0..members {
            for k in 0..=j {
                let rows = |m: usize| &self.centred[m * self.classes..(m + 1) * self.classes];
                let terms = rows(j).iter().zip(rows(k)).zip(&self.pooled);
                let covariance = share * terms.map(|((a, b), p)| a * b * p).sum::<f64>();
                sum.curvature[j * members + k] += covariance;
                if k < j {
                    sum.curvature[k * members + j] += covariance;
                }
            }
        }
    }
}

/// The pool's logarithms before normalising; returns the logarithm of their sum.
fn pool(powers: &[f64], logarithms: &[f64], out: &mut [f64]) -> f64 {
    let classes = out.len();
    out.fill(0.0);
    for (power, logs) in powers.iter().zip(logarithms.chunks_exact(classes)) {
        out.iter_mut().zip(logs).for_each(|(out, log)| *out += power * log);
    }
    crate::math::log_sum_exp(out)
}

impl<T: Task> Combination<T> for LogPooling {
    fn combine_into(
        &self,
        members: &[&[f64]],
        width: usize,
        _x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        check_members(self.powers.len(), members)?;
        let mut logarithms = vec![0.0; members.len() * width];
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            for (logs, column) in logarithms.chunks_exact_mut(width).zip(members) {
                centred_logarithms(&column[i * width..(i + 1) * width], logs);
            }
            let total = pool(&self.powers, &logarithms, out);
            out.iter_mut().for_each(|log| *log = (*log - total).exp());
        }
        Ok(())
    }

    fn validate(&self, members: usize, _inputs: &Schema, _width: usize) -> Result<()> {
        check_weights(&self.powers, members)
    }

    /// The powers.
    fn weights(&self) -> Option<&[f64]> {
        Some(&self.powers)
    }

    fn of_members(&self, members: &[usize]) -> Option<Box<dyn Combination<T>>> {
        let powers = super::chosen_weights(&self.powers, members)?;
        Some(Box::new(Self { powers, ..self.clone() }))
    }

    fn learned_from_blocks(
        &self,
        blocks: &ShowBlocks<'_, T>,
        run: &Run,
    ) -> Result<Option<Box<dyn Combination<T>>>> {
        Ok(Some(Box::new(self.asked.search(blocks, self.powers.clone(), run)?)))
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(<Self as StoredCombination<T>>::KIND).with("powers", &self.powers)
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics { converged: self.converged, ..Diagnostics::default() }
    }

    fn record(&self) -> Result<Record> {
        Record::new(<Self as StoredCombination<T>>::KIND, 1, self)
    }
}

impl<T: Task> StoredCombination<T> for LogPooling {
    const KIND: &'static str = "logarithmic pool";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        record.read()
    }
}
