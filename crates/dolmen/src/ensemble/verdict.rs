//! What the check decides: the stack, equal weights or the best member, and how sure that is.

use serde::{Deserialize, Serialize};

use crate::math::student_two_sided;
use crate::score::Estimate;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// The stack, combined by the candidate that did best.
    Stack,
    /// The members with equal weights.
    Uniform,
    /// The best member alone.
    BestMember,
}

/// What is kept, and what it gains by the check.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What is kept.
    pub kept: Kept,
    /// Whether it was kept by the rule of the check; else because the user asked for the stack.
    pub by_check: bool,
    /// Whether there is only one member, so that there was nothing to choose.
    pub only_member: bool,
    /// Its score less that of the best member; of the best member, less that of the better of stack and equal weights.
    pub gain: Estimate,
    /// The probability of a gain at least this large if there were none in truth, by Student's distribution, because the
    /// standard error is itself estimated from the rows; `None` without a standard error. Folds share training rows, which the standard error does not know of: it is a little small.
    pub chance: Option<f64>,
    /// How sure the gain is.
    pub surety: Surety,
}

/// How sure a gain is, by the chance of as large a one without any in truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surety {
    /// As rare as more than two standard errors above 0 are in many rows; or infinite.
    Clear,
    /// As rare as more than one.
    Likely,
    /// Less than that, or not known.
    Unsure,
    /// Not above 0.
    Not,
}

impl Surety {
    /// How sure a mean of so many rows' gains is.
    pub fn of(gain: &Estimate, rows: usize) -> Self {
        match chance(gain, rows) {
            _ if gain.mean <= 0.0 => Self::Not,
            // The other gave a row no probability at all.
            _ if gain.mean.is_infinite() => Self::Clear,
            Some(chance) if chance < CLEAR => Self::Clear,
            Some(chance) if chance < LIKELY => Self::Likely,
            // Every row gains the same.
            None if gain.se == Some(0.0) => Self::Clear,
            _ => Self::Unsure,
        }
    }

    /// How sure it is that such a gain is a loss.
    pub fn of_loss(gain: &Estimate, rows: usize) -> Self {
        Self::of(&Estimate { mean: 0.0 - gain.mean, se: gain.se }, rows)
    }
}

/// The probability of a gain at least this large if there were none in truth; `None` without a standard error.
fn chance(gain: &Estimate, rows: usize) -> Option<f64> {
    let freedom = rows.saturating_sub(1).max(1) as f64;
    let errors = gain.se.filter(|se| *se > 0.0).map(|se| gain.mean / se);
    errors.map(|t| {
        let beyond = 0.5 * student_two_sided(t, freedom);
        if t > 0.0 { beyond } else { 1.0 - beyond }
    })
}

/// The normal distribution's tail beyond two standard errors.
const CLEAR: f64 = 0.022_750_131_948_179;
/// And beyond one.
const LIKELY: f64 = 0.158_655_253_931_457;

/// Paired differences of the held-out scores.
pub(super) struct Gains {
    /// Rows that count.
    pub(super) rows: usize,
    /// Whether there is only one member.
    pub(super) only_member: bool,
    /// The stack over the best member.
    pub(super) stack: Estimate,
    /// Equal weights over the best member.
    pub(super) uniform: Estimate,
    /// The stack over equal weights.
    pub(super) stack_over_uniform: Estimate,
}

impl Gains {
    /// The rule that does no harm: what scores best is kept, but a single member takes the place of a combination only if its
    /// lead is clear (two standard errors; as the rule of BreimanEtAl1984, section 3.4.3, turned round): which member leads is itself found from the
    /// rows, and a combination depends less on that. Between equals the best member is kept, which is cheaper to ask.
    /// `uniform` says whether the best candidate is equal weights anyway.
    pub(super) fn verdict(&self, uniform: bool) -> Verdict {
        let (kept, gain) = if uniform || self.stack_over_uniform.mean < 0.0 {
            (Kept::Uniform, self.uniform)
        } else {
            (Kept::Stack, self.stack)
        };
        if gain.mean > 0.0 {
            return self.decide(kept, true, gain);
        }
        // Not `-0`.
        let lead = Estimate { mean: 0.0 - gain.mean, se: gain.se };
        let is_lead = lead.mean > 0.0;
        if is_lead && lead.se.is_some() && Surety::of(&lead, self.rows) != Surety::Clear {
            return self.decide(kept, true, gain);
        }
        self.decide(Kept::BestMember, true, lead)
    }

    /// The same rule where equal weights are no candidate.
    pub(super) fn stack_or_best(&self) -> Verdict {
        let alike = Estimate { mean: 0.0, se: None };
        let gains = Self { stack_over_uniform: alike, ..*self };
        gains.verdict(false)
    }

    /// Without the rule.
    pub(super) fn stack_as_asked(&self) -> Verdict {
        self.decide(Kept::Stack, false, self.stack)
    }

    fn decide(&self, kept: Kept, by_check: bool, gain: Estimate) -> Verdict {
        let (chance, surety) = (chance(&gain, self.rows), Surety::of(&gain, self.rows));
        Verdict { kept, by_check, only_member: self.only_member, gain, chance, surety }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(stack: f64, uniform: f64) -> Gains {
        let estimate = |mean| Estimate { mean, se: Some(0.1) };
        let difference = stack - uniform;
        Gains {
            rows: 1000,
            only_member: false,
            stack: estimate(stack),
            uniform: estimate(uniform),
            stack_over_uniform: estimate(difference),
        }
    }

    #[test]
    fn what_scores_best_is_kept() {
        let kept = |stack, uniform| gains(stack, uniform).verdict(false).kept;
        assert_eq!(kept(0.2, 0.1), Kept::Stack);
        assert_eq!(kept(0.1, 0.2), Kept::Uniform);
        assert_eq!(kept(-0.2, 0.1), Kept::Uniform);
        assert_eq!(kept(-0.3, -0.4), Kept::BestMember);
        assert_eq!(kept(-0.4, -0.3), Kept::BestMember);
        assert_eq!(kept(0.0, 0.0), Kept::BestMember);
        assert_eq!(gains(0.1, 0.1).verdict(true).kept, Kept::Uniform);
        assert_eq!(gains(-0.3, 0.1).stack_as_asked().kept, Kept::Stack);
        assert_eq!(gains(0.1, 0.2).stack_or_best().kept, Kept::Stack);
        assert_eq!(gains(-0.3, 0.2).stack_or_best().kept, Kept::BestMember);
    }

    #[test]
    fn a_member_takes_the_place_of_a_combination_only_beyond_chance() {
        let verdict = |stack, uniform| gains(stack, uniform).verdict(false);
        let behind = verdict(-0.05, -0.2);
        assert_eq!((behind.kept, behind.surety), (Kept::Stack, Surety::Not));
        assert_eq!(behind.gain.mean, -0.05);
        assert_eq!(verdict(-0.2, -0.05).kept, Kept::Uniform);
        assert_eq!(verdict(-0.19, -0.3).kept, Kept::Stack);
        assert_eq!(verdict(-0.21, -0.3).kept, Kept::BestMember);
        // A lead whose error is not known may be anything: then the simplest is kept.
        let unknown = Gains { stack: Estimate { mean: -0.05, se: None }, ..gains(-0.05, -0.2) };
        assert_eq!(unknown.verdict(false).kept, Kept::BestMember);
        let endless =
            Gains { stack: Estimate { mean: f64::NEG_INFINITY, se: None }, ..gains(-0.05, -0.2) };
        assert_eq!(endless.verdict(false).kept, Kept::BestMember);
    }

    #[test]
    fn a_gain_within_its_standard_error_is_unsure() {
        let of = |rows: usize, mean, se| {
            let gains = Gains { rows, ..gains(mean, 0.0) };
            gains.decide(Kept::Stack, true, Estimate { mean, se })
        };
        let verdict = |mean, se| of(1000, mean, se);
        let unsure = verdict(0.0011, Some(0.0459));
        assert_eq!(unsure.surety, Surety::Unsure);
        // SciPy's t.sf(0.0011 / 0.0459, 999); in 4 rows t.sf(2.5, 3) is more than twice as much as in many.
        assert!((unsure.chance.unwrap() - 0.490_443).abs() < 1e-6, "{unsure:?}");
        let few = of(4, 0.25, Some(0.1));
        assert_eq!(few.surety, Surety::Likely);
        assert!((few.chance.unwrap() - 0.043_853).abs() < 1e-6, "{few:?}");
        assert_eq!(verdict(f64::INFINITY, None).surety, Surety::Clear);
        assert_eq!(verdict(0.15, Some(0.1)).surety, Surety::Likely);
        assert_eq!(verdict(0.25, Some(0.1)).surety, Surety::Clear);
        assert_eq!(verdict(0.1, Some(0.0)).surety, Surety::Clear);
        assert_eq!(verdict(0.1, None).surety, Surety::Unsure);
        assert_eq!(verdict(-0.1, Some(0.1)).surety, Surety::Not);
        assert_eq!(verdict(-0.1, None).chance, None);
        let loss = |mean, se| Surety::of_loss(&Estimate { mean, se }, 1000);
        assert_eq!(loss(-0.25, Some(0.1)), Surety::Clear);
        assert_eq!(loss(f64::NEG_INFINITY, None), Surety::Clear);
        assert_eq!([loss(0.0, Some(0.0)), loss(0.25, Some(0.1))], [Surety::Not; 2]);
    }
}
