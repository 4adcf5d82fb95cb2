//! What section 7 says of its three figures, and whether it holds.

use dolmen::score::Estimate;

use super::families::{METHODS, Which};
use crate::Finding;
use crate::drawn::with_error;
use crate::page::{Claim, estimate};

/// Places in [`METHODS`].
const STACKING: usize = 0;
const CHEATING: usize = 1;
const CV: usize = 2;
const UNIFORM: usize = 3;
const MAX_K: usize = 4;

/// When two things count as the same.
const WITHIN_ERRORS: &str = "that is less than two standard errors, more or less";

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
        let is_first =
            |k: &usize| others.iter().all(|m| self.mean(*k, STACKING) > self.mean(*k, *m));
        let first = (0..self.ks.len()).filter(is_first).count();
        let mut claims: Vec<Claim> =
            others.map(|m| self.ahead("stacking", STACKING, m)).into_iter().collect();
        claims.push(Claim::new(
            "stacking has the highest mean of all for every K",
            first == self.ks.len(),
            format!("for {first} of {}", self.ks.len()),
        ));
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
        let is_ahead = |k: &usize| {
            let mean = |m: usize| self.mean(*k, m);
            mean(STACKING).min(mean(UNIFORM)) > mean(CHEATING).max(mean(CV))
        };
        let count = (0..self.ks.len()).filter(is_ahead).count();
        Claim::new(
            "the combinations, stacking and uniform, are ahead of the single models, cheating and CV, throughout",
            count == self.ks.len(),
            format!("for {count} of {} K", self.ks.len()),
        )
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

    /// That a method loses between some K and the largest.
    fn falls(&self, text: &str, m: usize, from: usize) -> Claim {
        let k = self.ks.iter().position(|k| *k >= from).unwrap_or(0);
        if k == self.last() {
            return Claim::new(text, false, "its mean is highest with the largest K");
        }
        let fall = self.change(m, k);
        Claim::ahead(text, &fall, self.told_change(m, k))
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
        let means: Vec<f64> = (0..self.ks.len()).map(|k| self.mean(k, m)).collect();
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
