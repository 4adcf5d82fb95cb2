//! The best weights of few members: of all sets of members that keep within limits, the one whose best weights score highest.
//!
//! Branch and bound. Leaving members out never raises the best score, so the best weights of all members that are still
//! allowed bound what any set among them can reach, and a solution that happens to keep within the limits ends its branch. Where it does
//! not, its heaviest member that is not decided yet is either in or out. The branch with the highest bound is looked at first: when
//! none is left above the best set found, that set is proved best; if the search is cut, the highest bound says how much better
//! another could be.

use super::problem::WeightProblem;

/// What each member costs, and how much a set may cost together. A set of members none of which cost anything is within any limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// One cost for each member, not negative.
    pub costs: Vec<f64>,
    /// The most.
    pub most: f64,
}

impl Limit {
    /// So many members.
    pub fn of_members(members: usize, most: usize) -> Self {
        Self { costs: vec![1.0; members], most: most as f64 }
    }

    fn holds(&self, set: &[usize]) -> bool {
        self.cost(set) <= self.most
    }

    /// What a set costs together.
    pub fn cost(&self, set: &[usize]) -> f64 {
        set.iter().map(|&m| self.costs[m]).sum()
    }
}

/// The best set that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Subset {
    /// One weight for each member, zero outside the set.
    pub weights: Vec<f64>,
    /// Its mean score.
    pub score: f64,
    /// No set within the limits scores better by more than this.
    pub gap: f64,
    /// The best mean score of all members together.
    pub full_score: f64,
    /// The weights of that.
    pub full_weights: Vec<f64>,
    /// Searches for weights that it took.
    pub searches: usize,
}

/// Members that may have weight, those of them that are in, and the best weights of all of them.
struct Branch {
    allowed: Vec<usize>,
    within: Vec<usize>,
    weights: Vec<f64>,
    bound: f64,
}

/// Looks for the best set of members within all limits, by so many searches for weights at most; `None` if not even one member is.
pub fn best_subset(
    problem: &dyn WeightProblem,
    limits: &[Limit],
    most_searches: usize,
) -> Option<Subset> {
    let possible = |m: &usize| limits.iter().all(|limit| limit.holds(&[*m]));
    let all: Vec<usize> = (0..problem.members()).collect();
    let alone: Vec<usize> = all.iter().copied().filter(possible).collect();
    if alone.is_empty() {
        return None;
    }
    let mut search = Search { problem, limits, best: None, searches: 0 };
    let (full_weights, full_score, _) = search.optimum(&all);
    let mut open = vec![search.branch(alone, Vec::new())];
    while let Some(at) = highest(&open) {
        let branch = open.swap_remove(at);
        if search.best.as_ref().is_some_and(|(_, score)| branch.bound <= *score) {
            // None of the others is higher.
            open.clear();
            break;
        }
        if search.searches >= most_searches {
            open.push(branch);
            break;
        }
        search.divide(branch, &mut open);
    }
    let highest = open.iter().map(|branch| branch.bound).fold(f64::NEG_INFINITY, f64::max);
    let (weights, score) = search.best?;
    let gap = if highest > score { highest - score } else { 0.0 };
    Some(Subset { weights, score, gap, full_score, full_weights, searches: search.searches })
}

/// The place of the branch with the highest bound, the first of equals.
fn highest(open: &[Branch]) -> Option<usize> {
    (0..open.len()).reduce(|a, b| if open[b].bound > open[a].bound { b } else { a })
}

struct Search<'a> {
    problem: &'a dyn WeightProblem,
    limits: &'a [Limit],
    best: Option<(Vec<f64>, f64)>,
    searches: usize,
}

impl Search<'_> {
    /// The best weights of some members, their score, and a bound on what any could reach.
    fn optimum(&mut self, allowed: &[usize]) -> (Vec<f64>, f64, f64) {
        self.searches += 1;
        let mut start = vec![0.0; self.problem.members()];
        allowed.iter().for_each(|&m| start[m] = 1.0 / allowed.len() as f64);
        let found = self.problem.optimum(self.problem.shares(), &start, allowed);
        let bound = if found.gap.is_finite() { found.score + found.gap.max(0.0) } else { f64::MAX };
        (found.weights, found.score, bound)
    }

    fn holds(&self, set: &[usize]) -> bool {
        self.limits.iter().all(|limit| limit.holds(set))
    }

    fn offer(&mut self, weights: &[f64], score: f64) {
        if self.best.as_ref().is_none_or(|(_, best)| score > *best) {
            self.best = Some((weights.to_vec(), score));
        }
    }

    /// A branch of these members, and a set within the limits from its heaviest ones.
    fn branch(&mut self, allowed: Vec<usize>, within: Vec<usize>) -> Branch {
        let (weights, score, bound) = self.optimum(&allowed);
        let mut heaviest: Vec<usize> =
            allowed.iter().copied().filter(|&m| weights[m] > 0.0).collect();
        if self.holds(&heaviest) {
            self.offer(&weights, score);
            // Nothing among these members is better: the branch ends.
            return Branch { allowed, within, weights, bound: f64::NEG_INFINITY };
        }
        heaviest.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let mut set: Vec<usize> = Vec::new();
        for m in heaviest {
            set.push(m);
            if !self.holds(&set) {
                set.pop();
            }
        }
        set.sort_unstable();
        let (own, own_score, _) = self.optimum(&set);
        self.offer(&own, own_score);
        Branch { allowed, within, weights, bound }
    }

    /// The branches with and without the heaviest member that is not decided yet.
    fn divide(&mut self, branch: Branch, open: &mut Vec<Branch>) {
        let Branch { allowed, within, weights, bound } = branch;
        let undecided = |m: &&usize| !within.contains(m) && weights[**m] > 0.0;
        let heavier = |a: &&usize, b: &&usize| weights[**a].total_cmp(&weights[**b]).then(b.cmp(a));
        let Some(&chosen) = allowed.iter().filter(undecided).max_by(heavier) else { return };
        let others: Vec<usize> = allowed.iter().copied().filter(|&m| m != chosen).collect();
        if !others.is_empty() {
            let without = self.branch(others, within.clone());
            open.extend(Some(without).filter(|branch| branch.bound > f64::NEG_INFINITY));
        }
        let mut with = within;
        with.push(chosen);
        // Members that do not go together with those that are in are out.
        let goes = |m: &usize| {
            with.contains(m) || self.holds(&with.iter().copied().chain([*m]).collect::<Vec<_>>())
        };
        let remaining: Vec<usize> = allowed.iter().copied().filter(goes).collect();
        let with = if remaining.len() == allowed.len() {
            Branch { allowed, within: with, weights, bound }
        } else {
            self.branch(remaining, with)
        };
        open.extend(Some(with).filter(|branch| branch.bound > f64::NEG_INFINITY));
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::run::Run;
    use crate::solver::least_squares::LeastSquares;
    use crate::solver::problem::mean_score;
    use crate::solver::simplex::LogScore;

    /// The best set by trying all of them.
    fn by_trying_all(problem: &dyn WeightProblem, limits: &[Limit]) -> f64 {
        let members = problem.members();
        let sets = (1_usize..1 << members)
            .map(|bits| (0..members).filter(|m| bits >> m & 1 == 1).collect::<Vec<usize>>());
        let held = sets.filter(|set| limits.iter().all(|limit| limit.holds(set)));
        let score = |set: Vec<usize>| {
            let mut start = vec![0.0; members];
            set.iter().for_each(|&m| start[m] = 1.0 / set.len() as f64);
            problem.optimum(problem.shares(), &start, &set).score
        };
        held.map(score).fold(f64::NEG_INFINITY, f64::max)
    }

    fn check(problem: &dyn WeightProblem, limits: &[Limit]) -> Subset {
        let found = best_subset(problem, limits, 10_000).unwrap();
        let set: Vec<usize> =
            (0..found.weights.len()).filter(|&m| found.weights[m] > 0.0).collect();
        assert!(limits.iter().all(|limit| limit.holds(&set)), "{set:?} of {limits:?}");
        assert!((mean_score(problem, &found.weights) - found.score).abs() < 1e-9);
        let best = by_trying_all(problem, limits);
        let close = 1e-8 * best.abs().max(1.0);
        assert!((found.score - best).abs() < close, "{} beside {best}", found.score);
        assert!(found.gap < close && found.full_score >= found.score - close);
        found
    }

    #[test]
    fn it_is_the_best_of_all_sets() {
        for seed in 0..12 {
            let mut rng = Run::with_threads(seed, 1).unwrap().rng();
            let (rows, members) = (60, 7);
            let mut draw = || (0..rows).map(|_| rng.random::<f64>()).collect::<Vec<f64>>();
            let columns: Vec<Vec<f64>> = (0..members).map(|_| draw()).collect();
            let (target, costs) = (draw(), draw()[..members].to_vec());
            let likelihood = LogScore::from_likelihood(
                columns.iter().map(|c| c.iter().map(|v| v + 0.01).collect()).collect(),
            )
            .unwrap();
            let squares = LeastSquares::new(columns, target).unwrap();
            for problem in [&likelihood as &dyn WeightProblem, &squares] {
                for most in 1..4 {
                    check(problem, &[Limit::of_members(members, most)]);
                }
                let dear = Limit { most: costs.iter().sum::<f64>() / 3.0, costs: costs.clone() };
                check(problem, std::slice::from_ref(&dear));
                check(problem, &[dear, Limit::of_members(members, 2)]);
            }
        }
    }

    #[test]
    fn a_search_that_is_cut_says_how_much_better_another_could_be() {
        let mut rng = Run::with_threads(3, 1).unwrap().rng();
        let mut draw = || (0..80).map(|_| rng.random::<f64>()).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..14).map(|_| draw()).collect();
        let problem = LeastSquares::new(columns, draw()).unwrap();
        let limits = [Limit::of_members(14, 4)];
        let whole = best_subset(&problem, &limits, 100_000).unwrap();
        let cut = best_subset(&problem, &limits, 3).unwrap();
        assert!(whole.gap < 1e-12 && cut.searches < whole.searches);
        assert!(cut.score + cut.gap >= whole.score - 1e-12, "{cut:?} beside {whole:?}");
    }

    #[test]
    fn no_member_within_the_limit_is_no_set() {
        let problem = LeastSquares::new(vec![vec![1.0, 2.0]; 2], vec![0.0, 1.0]).unwrap();
        let limit = Limit { costs: vec![2.0, 3.0], most: 1.0 };
        assert_eq!(best_subset(&problem, &[limit], 100), None);
    }
}
