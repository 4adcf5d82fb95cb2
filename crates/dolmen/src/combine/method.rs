//! The methods that give each member a weight, behind one combiner.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::copies::Copies;
use super::{Combination, Combiner, Evidence, LinearPool, Weighable, greedy, pseudo_bma};
use crate::error::{Error, Result, within};
use crate::math::{first_largest, weighted_mean};
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::score::Measure;
use crate::solver::Solution;
use crate::solver::problem::{self, WeightProblem};
use crate::solver::simplex::{EmOptions, SimplexOptions};
use crate::spec::Spec;

/// How weights are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The exact optimum on the simplex: of the log score, or of the squared error for numbers. For joint probabilities it
    /// is LMG: the best maximum found from several starts.
    #[default]
    Simplex,
    /// The papers' EM with their stopping rule (log scores).
    Em,
    /// Non-negative least squares: weights of any sum (numbers).
    NonNegative,
    /// The same weight for all.
    Uniform,
    /// All weight on the member with the best score.
    Best,
    /// Greedy selection with replacement, for any measure.
    Greedy,
    /// Weights proportional to exp(total log score).
    PseudoBma,
    /// Pseudo-BMA averaged over Bayesian bootstraps of the rows.
    #[serde(rename = "pseudo-bma+")]
    PseudoBmaPlus,
}

impl Method {
    /// All methods, in the order of their usefulness.
    pub const ALL: [Self; 8] = [
        Self::Simplex,
        Self::Em,
        Self::NonNegative,
        Self::Uniform,
        Self::Best,
        Self::Greedy,
        Self::PseudoBma,
        Self::PseudoBmaPlus,
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simplex => "simplex",
            Self::Em => "em",
            Self::NonNegative => "non-negative",
            Self::Uniform => "uniform",
            Self::Best => "best",
            Self::Greedy => "greedy",
            Self::PseudoBma => "pseudo-bma",
            Self::PseudoBmaPlus => "pseudo-bma+",
        }
    }

    /// What it is, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Simplex => {
                "the exact optimum on the simplex (classes: LMD; prior=2 is the paper's)"
            }
            Self::Em => "the papers' EM with their stopping rule",
            Self::NonNegative => "non-negative least squares, weights of any sum (numbers)",
            Self::Uniform => "the same weight for all",
            Self::Best => "all weight on the member with the best score",
            Self::Greedy => "greedy selection with replacement, for any measure",
            Self::PseudoBma => "weights proportional to exp(total log score)",
            Self::PseudoBmaPlus => "pseudo-bma, averaged over Bayesian bootstraps of the rows",
        }
    }

    /// The fields of [`Weights`] that it looks at.
    pub(crate) fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Simplex => &["prior", "tolerance"],
            Self::Em => &["prior"],
            Self::Greedy => &["rounds", "measure"],
            Self::PseudoBmaPlus => &["draws"],
            Self::NonNegative | Self::Uniform | Self::Best | Self::PseudoBma => &[],
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|m| m.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|m| m.name()).collect();
            Error::param("method", format!("one of {}", names.join(", ")), text)
                .suggesting(text, names)
        })
    }
}

/// The combiner that gives each member one weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// How they are found.
    pub method: Method,
    /// Dirichlet exponent of each weight: 1 is none, CerquidesMantaras2005 uses 2 (`simplex` and `em` on log scores).
    #[schemars(range(min = 1.0))]
    pub prior: f64,
    /// The certified gap `simplex` reaches; `em` stops at a total change of 0.001 as its paper does.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
    /// Rounds of `greedy`, 1 to 1 000 000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub rounds: usize,
    /// What `greedy` measures; the task's own score if not given.
    pub measure: Option<Measure>,
    /// Bayesian bootstraps of `pseudo-bma+`, 1 to 1 000 000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub draws: usize,
}

impl Default for Weights {
    fn default() -> Self {
        let tolerance = SimplexOptions::default().tolerance;
        Self {
            method: Method::Simplex,
            prior: 1.0,
            tolerance,
            rounds: 50,
            measure: None,
            draws: 1000,
        }
    }
}

impl From<Method> for Weights {
    fn from(method: Method) -> Self {
        Self { method, ..Self::default() }
    }
}

/// Weights and how they were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundWeights {
    /// What was asked for.
    pub options: Weights,
    /// What was found.
    pub solution: Solution,
}

/// A method applied to a matrix: it can be asked for its weights again with other row shares or fewer members.
pub(super) struct Weigher<'a, T: Weighable> {
    pub(super) options: &'a Weights,
    pub(super) oos: &'a OutOfSample<T>,
    pub(super) problem: T::Problem,
    /// Row scores of each member alone, for the methods that use nothing else.
    member_scores: Vec<Vec<f64>>,
    /// Members that say the same of every row.
    pub(super) copies: Copies,
    run: Run,
}

impl<'a, T: Weighable> Weigher<'a, T> {
    pub(super) fn new(options: &'a Weights, oos: &'a OutOfSample<T>, run: &Run) -> Result<Self> {
        let problem = run.install(|| options.pose(oos))?;
        let needs_scores =
            matches!(options.method, Method::Best | Method::PseudoBma | Method::PseudoBmaPlus);
        let members = problem.members();
        let alone = |m| problem.row_scores(&problem::unit(members, m));
        let member_scores =
            if needs_scores { (0..members).map(alone).collect() } else { Vec::new() };
        let optimises =
            matches!(options.method, Method::Simplex | Method::Em | Method::NonNegative);
        let copies = if optimises { Copies::among(oos) } else { Copies::default() };
        Ok(Self { options, oos, problem, member_scores, copies, run: run.clone() })
    }

    /// The weights on all rows and members.
    pub(super) fn solution(&self) -> Result<Solution> {
        let mut solution = self.found()?;
        let all: Vec<usize> = (0..solution.weights.len()).collect();
        self.copies.share(&mut solution.weights, &all);
        Ok(solution)
    }

    fn found(&self) -> Result<Solution> {
        let em = || EmOptions::default();
        let simplex =
            || SimplexOptions { tolerance: self.options.tolerance, ..SimplexOptions::default() };
        match (self.options.method, self.problem.as_log_score(), self.problem.as_least_squares()) {
            (Method::Em, Some(log), _) => log.em(&em(), &self.run),
            (Method::Simplex, Some(log), _) => log.solve(&simplex(), &self.run),
            (Method::NonNegative, _, Some(squares)) => {
                Ok(self.run.install(|| squares.non_negative()))
            }
            _ => {
                let by_starts = || self.problem.solve_by_starts(self.options.tolerance, &self.run);
                if self.options.method == Method::Simplex
                    && let Some(solution) = by_starts()
                {
                    return solution;
                }
                let all: Vec<usize> = (0..self.problem.members()).collect();
                let start = vec![1.0 / all.len() as f64; all.len()];
                Ok(self.run.install(|| self.found_again(self.problem.shares(), &start, &all)))
            }
        }
    }

    /// The weights for other shares of the rows, and for the allowed members only.
    pub(super) fn again(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        let mut solution = self.found_again(shares, start, allowed);
        self.copies.share(&mut solution.weights, allowed);
        solution
    }

    fn found_again(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        let members = self.problem.members();
        let effective_rows = self.problem.shares().iter().filter(|s| **s > 0.0).count() as f64;
        let only_allowed = |mut scores: Vec<Vec<f64>>| {
            let banned = (0..members).filter(|m| !allowed.contains(m));
            banned.for_each(|m| scores[m].fill(f64::NEG_INFINITY));
            scores
        };
        let weights = match self.options.method {
            Method::Simplex | Method::Em => {
                return self.problem.optimum(shares, start, allowed);
            }
            Method::NonNegative => match self.problem.as_least_squares() {
                Some(squares) => return squares.non_negative_of(shares, allowed),
                None => start.to_vec(),
            },
            Method::Uniform => {
                let mut weights = vec![0.0; members];
                allowed.iter().for_each(|&m| weights[m] = 1.0 / allowed.len() as f64);
                weights
            }
            Method::Best => {
                let score = |&m: &usize| weighted_mean(&self.member_scores[m], shares);
                let scores: Vec<f64> = allowed.iter().map(score).collect();
                problem::unit(members, allowed[first_largest(&scores)])
            }
            Method::Greedy => {
                let measure = self.options.measure;
                greedy::select(self.oos, shares, allowed, self.options.rounds, |row, i| {
                    let target = self.oos.target();
                    let measured = measure.and_then(|measure| T::measure(measure, row, target, i));
                    measured.unwrap_or_else(|| T::score(row, target, i))
                })
            }
            Method::PseudoBma => {
                pseudo_bma::plain(&only_allowed(self.member_scores.clone()), shares, effective_rows)
            }
            Method::PseudoBmaPlus => pseudo_bma::bootstrapped(
                &only_allowed(self.member_scores.clone()),
                shares,
                effective_rows,
                self.options.draws,
                &self.run,
            ),
        };
        let score = weighted_mean(&self.problem.row_scores(&weights), shares);
        Solution { weights, gap: 0.0, iterations: 0, score, uninformative_rows: 0, converged: true }
    }
}

impl Weights {
    /// Poses the task's problem, after a look at whether the method can be used on it.
    fn pose<T: Weighable>(&self, oos: &OutOfSample<T>) -> Result<T::Problem> {
        if self.method == Method::Greedy {
            within("rounds", self.rounds, 1..=1_000_000)?;
        }
        if self.method == Method::PseudoBmaPlus {
            within("draws", self.draws, 1..=1_000_000)?;
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::param("tolerance", "at least 0", self.tolerance));
        }
        let problem = T::problem(oos)?;
        let needs = match self.method {
            Method::Em if problem.as_log_score().is_none() => {
                Some("densities or class probabilities")
            }
            Method::PseudoBma | Method::PseudoBmaPlus if problem.as_least_squares().is_some() => {
                Some("densities or class probabilities")
            }
            Method::NonNegative if problem.as_least_squares().is_none() => Some("a numeric target"),
            _ => None,
        };
        if let Some(needs) = needs {
            let expected = format!("one that suits {} (this one needs {needs})", T::NAME);
            return Err(Error::param("method", expected, self.method));
        }
        if let Some(measure) = self.measure
            && T::measure(measure, oos.row(0, 0), oos.target(), 0).is_none()
        {
            return Err(Error::param("measure", format!("one that suits {}", T::NAME), measure));
        }
        problem.with_equal_prior(self.prior)
    }
}

impl<T: Weighable> Combiner<T> for Weights {
    fn rungs(&self) -> Vec<String> {
        let mut spec = Spec::of(self.method.name(), self);
        spec.parameters.retain(|name, _| self.method.parameters().contains(&name.as_str()));
        vec![spec.to_string()]
    }

    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        let solution = Weigher::new(self, evidence.oos, run)?.solution()?;
        let found = FoundWeights { options: self.clone(), solution };
        Ok(vec![Box::new(LinearPool::searched(found))])
    }
}
