//! What section 7 says of its three figures, and whether it holds.

use dolmen::score::Estimate;

use super::families::{METHODS, Which};
use crate::Finding;
use crate::drawn::with_error;
use crate::page::{Claim, estimate};
use crate::verdict::ORDER_RULE;

/// Places in [`METHODS`].
const STACKING: usize = 0;
const CHEATING: usize = 1;
const CV: usize = 2;
const UNIFORM: usize = 3;
const MAX_K: usize = 4;

/// When two things count as the same.
const WITHIN_ERRORS: &str = "that is less than two standard errors, more or less";

/// Why uniform weights lie behind single models in the smallest family.
const HALF_ON_ONE: &str =
    "with K = 2 equal weights give half of the weight to the single Gaussian, which is far behind";

/// The gains of the methods in every run, for each K.
pub(super) struct Family<'a> {
    pub(super) ks: &'a [usize],
    pub(super) found: &'a [Vec<[f64; 5]>],
}

impl Family<'_> {
    pub(super) fn claims(&self, figure: Which) -> Vec<Claim> {
        match figure {
            Which::Diabetes => self.of_diabetes(),
            Which::Iris => self.of_iris(),
            Which::Vowels => self.of_vowels(),
        }
    }

    fn of_diabetes(&self) -> Vec<Claim> {
        let mut claims = self.stacking_dominates();
        let above = |m: usize| self.ahead("uniform weights", UNIFORM, m);
        claims.extend([
            above(CHEATING),
            above(CV),
            self.falls("uniform weights overfit above K = 10", UNIFORM, 10),
            self.stays(CHEATING),
            self.stays(CV),
            self.both_combinations_are_ahead(),
            self.worse_than_a_gaussian(),
        ]);
        claims
    }

    fn of_iris(&self) -> Vec<Claim> {
        let mut claims = self.stacking_dominates();
        let single = |m: usize| {
            let lead = self.lead(m, UNIFORM);
            Claim::ahead(
                format!(
                    "uniform weights fare more poorly than for the diabetes data: {} is ahead of them",
                    METHODS[m]
                ),
                &lead,
                on_average(&lead),
            )
        };
        claims.extend([single(CHEATING), single(CV)]);
        claims
    }

    fn of_vowels(&self) -> Vec<Claim> {
        let cheating = [STACKING, CV, UNIFORM, MAX_K].map(|m| self.lead(CHEATING, m));
        let alike = self.lead(STACKING, CV);
        let near = self.lead(STACKING, MAX_K);
        let honest = [CV, UNIFORM, MAX_K].map(|m| self.lead(STACKING, m));
        let top = estimate(&self.column(|run| mean_of(run, STACKING))).mean;
        let mut claims = vec![
            Claim::found(
                "cheating dominates",
                Finding::all(cheating.iter().map(Finding::positive)),
                format!("ahead of {}", told(&[STACKING, CV, UNIFORM, MAX_K], &cheating)),
            ),
            Claim::new(
                "stacking and CV are indistinguishable",
                Finding::positive(&alike) == Finding::Open,
                format!("stacking is ahead {}", on_average(&alike)),
            )
            .holds_if(WITHIN_ERRORS),
            Claim::new(
                "stacking is quite close to MaxK",
                near.mean.abs() < 0.05 * top,
                format!("ahead {}, of a gain of {top:.1}", on_average(&near)),
            )
            .holds_if("that is less than 5 % of the gain, more or less"),
            Claim::new(
                "stacking is as good as the best of the honest methods",
                honest.iter().all(|lead| Finding::positive(lead) != Finding::Fails),
                format!("ahead of {}", told(&[CV, UNIFORM, MAX_K], &honest)),
            )
            .holds_if("it is behind none of them by two standard errors"),
        ];
        claims.extend([STACKING, CV, MAX_K].map(|m| {
            let text = format!("{} overfits slightly", METHODS[m]);
            self.falls(&text, m, self.ks[self.best(m)])
        }));
        claims.extend([MAX_K, UNIFORM].map(|m| {
            let (best, last) = (self.mean(self.best(m), m), self.mean(self.last(), m));
            Claim::new(
                format!(
                    "{} does not fall off as K grows, as it did for the other sets",
                    METHODS[m]
                ),
                best - last < 0.1 * best,
                format!("{best:.1} at best, {last:.1} with K = {}", self.ks[self.last()]),
            )
            .holds_if("that is less than 10 % below the best")
        }));
        claims
    }

    /// What is said of diabetes and iris alike.
    fn stacking_dominates(&self) -> Vec<Claim> {
        let others = [CHEATING, CV, UNIFORM, MAX_K];
        let mut claims: Vec<Claim> =
            others.map(|m| self.ahead("stacking", STACKING, m)).into_iter().collect();
        let text = "stacking has the highest mean of all for every K";
        claims.push(self.throughout(text, &[STACKING], &others));
        claims.push(self.falls("stacking drops slightly beyond K = 6", STACKING, 6));
        claims.push(self.max_k_falls_most());
        claims
    }

    fn max_k_falls_most(&self) -> Claim {
        let fall = |m: usize| self.change(m, self.best(m));
        let other = [STACKING, CHEATING, CV, UNIFORM];
        let most = other.into_iter().max_by(|a, b| fall(*a).mean.total_cmp(&fall(*b).mean));
        let most = most.unwrap_or(UNIFORM);
        let (from, to) = (self.best(MAX_K), self.best(most));
        let last = self.last();
        let lead = self.estimate(|run| {
            (run[from][MAX_K] - run[last][MAX_K]) - (run[to][most] - run[last][most])
        });
        Claim::ahead(
            "MaxK falls off with K far more than any other method",
            &lead,
            format!(
                "it falls by {}, {} by {}",
                with_error(&fall(MAX_K), 1),
                METHODS[most],
                with_error(&fall(most), 1)
            ),
        )
    }

    fn worse_than_a_gaussian(&self) -> Claim {
        let beyond = |k: &usize| self.ks[*k] > 8;
        let mean = |run: &Vec<[f64; 5]>| {
            let gains: Vec<f64> =
                (0..self.ks.len()).filter(beyond).map(|k| -run[k][MAX_K]).collect();
            gains.iter().sum::<f64>() / gains.len() as f64
        };
        let own = self.estimate(mean);
        Claim::ahead(
            "beyond K = 8 MaxK is much worse than a single Gaussian",
            &own,
            format!(
                "the Gaussian is ahead of it by {} on average over those K",
                with_error(&own, 1)
            ),
        )
    }

    fn both_combinations_are_ahead(&self) -> Claim {
        let text = "the combinations, stacking and uniform, are ahead of the single models, cheating and CV, throughout";
        let claim = self.throughout(text, &[STACKING, UNIFORM], &[CHEATING, CV]);
        let behind = self.behind(&[STACKING, UNIFORM], &[CHEATING, CV]);
        let is_smallest = behind.iter().all(|(k, _, m)| self.ks[*k] == 2 && *m == UNIFORM);
        if is_smallest { claim.because(HALF_ON_ONE) } else { claim }
    }

    /// Where one of some methods has no higher mean than one of others: the K, the other, the one.
    fn behind(&self, methods: &[usize], others: &[usize]) -> Vec<(usize, usize, usize)> {
        let pairs = others.iter().flat_map(|other| methods.iter().map(move |m| (*other, *m)));
        let of_k = |k: usize| pairs.clone().map(move |(other, m)| (k, other, m));
        let is_behind =
            |(k, other, m): &(usize, usize, usize)| self.mean(*k, *m) <= self.mean(*k, *other);
        (0..self.ks.len()).flat_map(of_k).filter(is_behind).collect()
    }

    /// That methods are ahead of others for every K.
    fn throughout(&self, text: &str, methods: &[usize], others: &[usize]) -> Claim {
        let behind = self.behind(methods, others);
        let lead = |(k, other, m): (usize, usize, usize)| {
            self.estimate(move |run| run[k][m] - run[k][other])
        };
        let leads = behind.iter().map(|place| Finding::positive(&lead(*place)));
        let finding = Finding::ordered(behind.is_empty(), leads);
        let ahead = (0..self.ks.len()).filter(|k| behind.iter().all(|place| place.0 != *k)).count();
        let mut evidence = format!("for {ahead} of {} K", self.ks.len());
        let mean = |place: &&(usize, usize, usize)| lead(**place).mean;
        if let Some(least) = behind.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))) {
            let by = with_error(&lead(*least), 2);
            let (k, other, m) = *least;
            let (own, other, k) = (METHODS[m], METHODS[other], self.ks[k]);
            evidence = format!("{evidence}; with K = {k} {own} is ahead of {other} by {by}");
        }
        Claim::found(text, finding, evidence).holds_if(ORDER_RULE)
    }

    /// That a method is ahead of another, on average over K.
    fn ahead(&self, name: &str, a: usize, b: usize) -> Claim {
        let lead = self.lead(a, b);
        Claim::ahead(
            format!("{} {} ahead of {}", name, if a == UNIFORM { "are" } else { "is" }, METHODS[b]),
            &lead,
            on_average(&lead),
        )
    }

    /// That a method loses between some K and the largest; where it is best with the largest, since the best before that.
    fn falls(&self, text: &str, m: usize, from: usize) -> Claim {
        let last = self.last();
        let k = match self.ks.iter().position(|k| *k >= from) {
            Some(k) if k < last => k,
            _ => self.best_of(m, last),
        };
        Claim::ahead(text, &self.change(m, k), self.told_change(m, k))
    }

    /// How a method's gain changes from some K to the largest, in words.
    fn told_change(&self, m: usize, k: usize) -> String {
        let last = self.last();
        let change = self.estimate(|run| run[last][m] - run[k][m]);
        let (from, to) = (self.ks[k], self.ks[last]);
        format!("its gain changes by {} from K = {from} to {to}", with_error(&change, 2))
    }

    /// That a method stays with the model it has found at K = 4.
    fn stays(&self, m: usize) -> Claim {
        let k = self.ks.iter().position(|k| *k == 4).unwrap_or(0);
        let fall = self.change(m, k);
        Claim::new(
            format!("{} stays with the models of at most 4 components", METHODS[m]),
            Finding::positive(&fall) == Finding::Open
                && Finding::positive(&Estimate { mean: -fall.mean, se: fall.se }) == Finding::Open,
            self.told_change(m, k),
        )
        .holds_if(WITHIN_ERRORS)
    }

    fn last(&self) -> usize {
        self.ks.len() - 1
    }

    fn mean(&self, k: usize, m: usize) -> f64 {
        self.estimate(|run| run[k][m]).mean
    }

    /// The K with the highest mean.
    fn best(&self, m: usize) -> usize {
        self.best_of(m, self.ks.len())
    }

    /// The same of the first so many.
    fn best_of(&self, m: usize, first: usize) -> usize {
        let means: Vec<f64> = (0..first).map(|k| self.mean(k, m)).collect();
        dolmen::math::first_largest(&means)
    }

    /// What a method loses from some K to the largest.
    fn change(&self, m: usize, k: usize) -> Estimate {
        let last = self.last();
        self.estimate(|run| run[k][m] - run[last][m])
    }

    /// By how much one method is ahead of another, run by run, averaged over K.
    fn lead(&self, a: usize, b: usize) -> Estimate {
        self.estimate(|run| mean_of(run, a) - mean_of(run, b))
    }

    fn column(&self, of: impl Fn(&Vec<[f64; 5]>) -> f64) -> Vec<f64> {
        self.found.iter().map(of).collect()
    }

    fn estimate(&self, of: impl Fn(&Vec<[f64; 5]>) -> f64) -> Estimate {
        estimate(&self.column(of))
    }
}

/// A method's gain in a run, averaged over K.
fn mean_of(run: &[[f64; 5]], m: usize) -> f64 {
    run.iter().map(|own| own[m]).sum::<f64>() / run.len() as f64
}

fn on_average(lead: &Estimate) -> String {
    format!("by {} on average over K", with_error(lead, 2))
}

/// Leads over several methods, in words.
fn told(methods: &[usize], leads: &[Estimate]) -> String {
    let one =
        |(m, lead): (&usize, &Estimate)| format!("{} by {}", METHODS[*m], with_error(lead, 2));
    methods.iter().zip(leads).map(one).collect::<Vec<_>>().join(", ")
}
