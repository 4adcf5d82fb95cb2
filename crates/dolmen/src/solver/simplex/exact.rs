//! The exact solver: Newton on a working set of members, new members by their price, a certificate at the end.
//!
//! 1. With many rows, a problem of every sixteenth row is solved first; its solution is where the full one begins.
//! 2. Newton's method solves the problem restricted to a working set ([`super::newton`]), reading only those columns.
//! 3. One pass prices every member: g_m = sum_i w_i L[i,m] / (L alpha)_i. Members with g_m > 1 would raise the objective;
//!    those among them that suit some row best join the set. If there are none, max_m g_m - 1 bounds what any weights
//!    could still gain: the certificate [Lindsay1983]. Few members ever enter, so ten thousand cost little more
//!    than a hundred.

use serde::{Deserialize, Serialize};

use super::pass::{Evaluate, View};
use super::{barrier, newton};
use crate::error::{Error, Result};
use crate::math::Gram;

/// How exactly, and how long, the solver works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimplexOptions {
    /// The certified gap to reach, in units of the objective's mass: 1 for the rows and a_m - 1 in units of their weight for
    /// each member with a prior. Beside prior exponents that sum to a thousand times the rows no sum is exact to 1e-10.
    pub tolerance: f64,
    /// Passes over the rows before giving up.
    pub max_iterations: usize,
}

impl Default for SimplexOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 1000 }
    }
}

/// The tolerance up to which weights are wanted as exactly as they can be had: beyond it the objective is what counts.
const EXACT: f64 = 1e-9;

impl SimplexOptions {
    /// Whether the search goes on within the tolerance until the weights stand still.
    pub(super) fn polishes(&self) -> bool {
        self.tolerance <= EXACT
    }

    pub(super) fn validate(&self) -> Result<()> {
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::param("tolerance", "at least 0", self.tolerance));
        }
        Ok(())
    }
}

/// What a solver found.
pub(super) struct Found {
    pub(super) weights: Vec<f64>,
    /// sum_i w_i ln (L alpha)_i.
    pub(super) objective: f64,
    /// In units of the mass.
    pub(super) gap: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

/// Where the search goes on within the tolerance, the share of it that a price must reach for a member to join: a member that differs from
/// one in use by less than the tolerance may take all of its weight, and gain all of its price.
const FINER: f64 = 0.01;
/// Members that all enter the working set at once; above that they are priced first.
pub(super) const FEW_MEMBERS: usize = 32;
/// Members that may join the working set after one pricing.
const JOINING: usize = 24;
/// Rows from which on a subsample is solved first.
const MANY_ROWS: usize = 16_384;
/// Every so manieth group of rows is in the subsample.
const STRIDE: usize = 16;
/// Rows in a group: as many as values in a line of the cache.
const GROUP: usize = 8;
/// A row whose mixture is below this share of its weight is not covered; a member that covers one is given as much.
const BARE: f64 = 1e-3;
/// A price of a sample is taken for certain if it is this many standard errors from zero.
const DOUBT: f64 = 3.0;

/// Solves from a cold start.
pub(super) fn solve(view: &View<'_>, options: &SimplexOptions) -> Found {
    let all: Vec<usize> = (0..view.columns.len()).collect();
    if barrier::suits(view, &all) {
        return barrier::solve(view, options, &vec![1.0; all.len()], &all);
    }
    let start = first_set(view, &all, options);
    iterate(view, options, start, &all, options.polishes())
}

/// Solves from given weights, using only the allowed members. Rows that none of them covers are left out.
pub(super) fn solve_from(
    view: &View<'_>,
    options: &SimplexOptions,
    start: &[f64],
    allowed: &[usize],
) -> Found {
    let mut x = vec![0.0; start.len()];
    allowed.iter().for_each(|&m| x[m] = start[m]);
    let reachable = reachable_weights(view, allowed);
    let view = View { weights: reachable.as_deref().unwrap_or(view.weights), ..*view };
    if barrier::suits(&view, allowed) {
        let mut found = barrier::solve(&view, options, &x, allowed);
        if reachable.is_some() {
            found.objective = f64::NEG_INFINITY;
        }
        return found;
    }
    let few = allowed.len() <= FEW_MEMBERS;
    let set = allowed.iter().copied().filter(|&m| x[m] > 0.0 || few).collect();
    let start = covered(&view, Start { x, set, curvature: None }, allowed);
    // Drawn rows and members left out are compared by their objectives.
    let mut found = iterate(&view, options, start, allowed, false);
    if reachable.is_some() {
        found.objective = f64::NEG_INFINITY;
    }
    found
}

/// Row weights without the rows that no allowed member covers; `None` if there are no such rows.
fn reachable_weights(view: &View<'_>, allowed: &[usize]) -> Option<Vec<f64>> {
    if view.positive {
        return None;
    }
    let mut equal = vec![0.0; view.columns.len()];
    allowed.iter().for_each(|&m| equal[m] = 1.0);
    let mixture = view.mixture(&equal);
    let hopeless = |i: usize| mixture[i] <= 0.0 && view.weights[i] > 0.0;
    if !(0..mixture.len()).any(hopeless) {
        return None;
    }
    let kept = |i: usize| if hopeless(i) { 0.0 } else { view.weights[i] };
    let mut weights: Vec<f64> = (0..mixture.len()).map(kept).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total.max(f64::MIN_POSITIVE));
    Some(weights)
}

/// Newton, pricing, joining, until the tolerance is reached or rounding ends it; the gap found is certified either way.
fn iterate(
    view: &View<'_>,
    options: &SimplexOptions,
    Start { mut x, mut set, mut curvature }: Start,
    allowed: &[usize],
    polishes: bool,
) -> Found {
    let mass = mass(view, allowed);
    let wanted = mass * options.tolerance;
    let mut passes = 0;
    let mut previous_gap = f64::INFINITY;
    // What is within the tolerance, where members outside the set still ask for weight.
    let mut best: Option<Found> = None;
    // With few members all prices come with every pass; with many, a pass of its own prices them when the working set
    // is solved as well as it is known.
    let few = allowed.len() <= FEW_MEMBERS;
    let mut coarse: f64 = if few { 0.0 } else { 1e-3 };
    loop {
        let left = options.max_iterations.saturating_sub(passes).max(1);
        let watched: &[usize] = if few { allowed } else { &[] };
        // A restricted gap well below the tolerance leaves room for the price of the others.
        let tolerance = if best.is_some() { FINER * wanted } else { coarse.max(0.1 * wanted) };
        let restricted = {
            let polishes = polishes && coarse <= 0.1 * wanted;
            let limits = newton::Limits { tolerance, max_passes: left, polishes };
            newton::solve(view, &set, watched, x, curvature.take(), &limits)
        };
        x = restricted.x;
        passes += restricted.passes;
        let Pricing { objective, prices } = if few {
            let prices = priced(view, &x, &restricted.members, &restricted.gradient);
            Pricing { objective: restricted.objective, prices }
        } else {
            passes += 1;
            price(view, &x, allowed)
        };
        let gap = largest(&prices);
        let converged = gap <= wanted;
        let asked = if converged && polishes { FINER * wanted } else { 0.5 * wanted };
        let joined = join(view, &mut set, &x, &prices, asked);
        let stuck = !joined && gap >= previous_gap && coarse <= wanted;
        let exhausted = passes >= options.max_iterations || stuck;
        if let Some(best) = best.take_if(|best: &mut Found| best.gap * mass <= gap) {
            return Found { iterations: passes, ..best };
        }
        let found = |weights: Vec<f64>| Found {
            weights,
            objective,
            gap: gap / mass,
            iterations: passes,
            converged,
        };
        if exhausted || (converged && !(polishes && joined)) {
            return found(x);
        }
        best = converged.then(|| found(x.clone()));
        previous_gap = gap;
        coarse = if joined && !converged { 0.02 * gap.min(coarse) } else { 0.0 };
    }
}

/// What the objective's terms sum to at its maximum: the rows' weight and the prior's.
pub(super) fn mass(view: &View<'_>, allowed: &[usize]) -> f64 {
    1.0 + allowed.iter().map(|&m| view.prior[m]).sum::<f64>()
}

/// What a pass that prices members finds.
pub(super) struct Pricing {
    /// sum_i w_i ln (Lx)_i.
    pub(super) objective: f64,
    /// What each member would gain, per unit of weight moved to it from the mixture.
    pub(super) prices: Vec<(usize, f64)>,
}

/// The certificate: how much any weights on the priced members could still gain.
///
/// max_m d_m - sum_m x_m d_m with d the gradient of the concave objective: the value of its linear model at the best
/// corner of the simplex, which lies above the objective everywhere.
pub(super) fn largest(prices: &[(usize, f64)]) -> f64 {
    let larger =
        |most: f64, price: f64| if price.is_nan() { f64::INFINITY } else { most.max(price) };
    prices.iter().map(|(_, price)| *price).fold(0.0, larger)
}

/// Prices the allowed members.
pub(super) fn price(view: &impl Evaluate, x: &[f64], allowed: &[usize]) -> Pricing {
    let moments = view.moments(x, allowed, None);
    let prices = priced(view, x, allowed, &moments.gradient);
    Pricing { objective: moments.objective, prices }
}

/// The prices that follow from a gradient.
pub(super) fn priced(
    view: &impl Evaluate,
    x: &[f64],
    allowed: &[usize],
    gradient: &[f64],
) -> Vec<(usize, f64)> {
    let pull = |m: usize, g: f64| {
        if view.prior()[m] > 0.0 { g + view.prior()[m] / x[m] } else { g }
    };
    let pulls: Vec<f64> = allowed.iter().zip(gradient).map(|(&m, &g)| pull(m, g)).collect();
    let mean: f64 =
        allowed.iter().zip(&pulls).filter(|(m, _)| x[**m] > 0.0).map(|(&m, p)| x[m] * p).sum();
    allowed.iter().copied().zip(pulls.into_iter().map(|p| p - mean)).collect()
}

/// Keeps the members in use and lets others join whose price is above what is asked; says whether any did.
fn join(
    view: &View<'_>,
    set: &mut Vec<usize>,
    x: &[f64],
    prices: &[(usize, f64)],
    asked: f64,
) -> bool {
    let is_wanted = |(m, price): &(usize, f64)| *price > asked && !set.contains(m);
    let wanted: Vec<(usize, f64)> = prices.iter().copied().filter(is_wanted).collect();
    let joining = dearest(champions(view, wanted), JOINING);
    let joined = !joining.is_empty();
    if joined && set.len() > FEW_MEMBERS {
        set.retain(|&m| x[m] > 0.0);
    }
    set.extend(joining);
    set.sort_unstable();
    joined
}

/// Of the candidates, those that give some row the largest value among them.
///
/// The dearest candidates alone are often near copies of one another; champions of different rows are not.
fn champions(view: &View<'_>, candidates: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    if candidates.len() <= JOINING / 2 {
        return candidates;
    }
    let mut champion = vec![0; view.weights.len()];
    let mut largest = vec![f64::NEG_INFINITY; view.weights.len()];
    for (c, (m, _)) in candidates.iter().enumerate() {
        for ((value, largest), champion) in
            view.columns[*m].iter().zip(&mut largest).zip(&mut champion)
        {
            if value > largest {
                (*largest, *champion) = (*value, c);
            }
        }
    }
    champion.sort_unstable();
    champion.dedup();
    champion.into_iter().map(|c| candidates[c]).collect()
}

/// Where the solver begins.
struct Start {
    x: Vec<f64>,
    set: Vec<usize>,
    /// About the curvature of the set there, where it is known.
    curvature: Option<Gram>,
}

/// The first weights and working set of a cold start.
fn first_set(view: &View<'_>, allowed: &[usize], options: &SimplexOptions) -> Start {
    if view.weights.len() >= MANY_ROWS {
        return from_subsample(view, allowed, options);
    }
    let mut x = vec![0.0; view.columns.len()];
    let has_prior = allowed.iter().any(|&m| view.prior[m] > 0.0);
    let mut set = allowed.to_vec();
    if allowed.len() > FEW_MEMBERS && !has_prior {
        allowed.iter().for_each(|&m| x[m] = 1.0 / allowed.len() as f64);
        set = dearest(champions(view, price(view, &x, allowed).prices), FEW_MEMBERS);
        x.fill(0.0);
    }
    set.iter().for_each(|&m| x[m] = 1.0);
    covered(view, Start { x, set, curvature: None }, allowed)
}

/// Solves a problem of every sixteenth row and begins at its solution.
fn from_subsample(view: &View<'_>, allowed: &[usize], options: &SimplexOptions) -> Start {
    // Rows in groups that fill a line of the cache: the others are not fetched.
    let thin = |v: &[f64]| v.chunks(GROUP).step_by(STRIDE).collect::<Vec<_>>().concat();
    let mut columns = vec![Vec::new(); view.columns.len()];
    allowed.iter().for_each(|&m| columns[m] = thin(&view.columns[m]));
    let mut weights: Vec<f64> = thin(view.weights);
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total.max(f64::MIN_POSITIVE));
    let sub = View { columns: &columns, weights: &weights, ..*view };
    // The sample's own error is of this order: solving it further would be wasted.
    let error = 1.0 / (weights.len() as f64).sqrt();
    let loose = SimplexOptions { tolerance: 1e-3 * error * error, ..options.clone() };
    let start = first_set(&sub, allowed, &loose);
    let x = iterate(&sub, &loose, start, allowed, false).weights;
    let mut set: Vec<usize> = allowed.iter().copied().filter(|&m| x[m] > 0.0).collect();
    set.extend(dearest(nearly_wanted(&sub, &x, allowed), JOINING));
    set.sort_unstable();
    let curvature = sub.moments(&x, &set, Some(set.len())).curvature;
    covered(view, Start { x, set, curvature }, allowed)
}

/// Members without weight whose price a sample cannot tell from zero: the likeliest to be needed by all rows.
fn nearly_wanted(sample: &View<'_>, x: &[f64], allowed: &[usize]) -> Vec<(usize, f64)> {
    let mixture = sample.mixture(x);
    // The price is a mean over rows: its error is their deviation over the root of their number.
    let squared_error = |m: usize| {
        let rows = sample.columns[m].iter().zip(&mixture).zip(sample.weights);
        let excess = |((value, mixed), weight): ((&f64, &f64), &f64)| {
            if *weight > 0.0 { (weight * (value / mixed - 1.0)).powi(2) } else { 0.0 }
        };
        rows.map(excess).sum::<f64>()
    };
    let mut near = price(sample, x, allowed).prices;
    near.retain(|(m, price)| x[*m] == 0.0 && *price > -DOUBT * squared_error(*m).sqrt());
    near
}

/// The `count` members of highest price.
fn dearest(mut prices: Vec<(usize, f64)>, count: usize) -> Vec<usize> {
    prices.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    prices.truncate(count);
    prices.into_iter().map(|(m, _)| m).collect()
}

/// Gives a little weight to further members until every row is covered, and makes the weights sum to 1.
///
/// Finite-support densities leave rows at zero, and an objective of -inf has no gradient to follow; narrow ones leave them
/// hundreds of nats below, where the gradient says nothing of any use. In each row some member has the value 1 (values are
/// relative to the row's largest): that member covers the row. At the optimum no mixture is below the row's weight, as
/// the price of that member would be above 1: a row far below it is not covered.
fn covered(view: &View<'_>, start: Start, allowed: &[usize]) -> Start {
    let Start { mut x, mut set, curvature } = start;
    // Few members are all in the set: Newton's method gives them weight by itself where none is zero.
    let sure = view.positive && allowed.len() <= FEW_MEMBERS;
    let mixture = if sure { Vec::new() } else { view.mixture(&x) };
    let total: f64 = x.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut added: Vec<usize> = Vec::new();
    let bare = |i: &usize| view.weights[*i] > 0.0 && mixture[*i] <= BARE * view.weights[*i] * total;
    for i in (0..mixture.len()).filter(bare) {
        if !added.iter().any(|&m| view.columns[m][i] > view.weights[i]) {
            let best = allowed
                .iter()
                .copied()
                .max_by(|&a, &b| view.columns[a][i].total_cmp(&view.columns[b][i]).then(b.cmp(&a)));
            added.extend(best.filter(|&m| view.columns[m][i] > 0.0));
        }
    }
    added.iter().for_each(|&m| x[m] += BARE * total);
    if added.is_empty() && x.iter().all(|x| *x == 0.0) {
        set.iter().for_each(|&m| x[m] = 1.0);
    }
    let total: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x /= total);
    let before = set.len();
    set.extend(added);
    set.sort_unstable();
    set.dedup();
    Start { x, curvature: curvature.filter(|_| set.len() == before), set }
}
