//! What the check decides: the stack, equal weights or the best member, and how sure that is.

use serde::{Deserialize, Serialize};

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
    /// Whether it was kept because the check found it best; else because the user asked for the stack.
    pub by_check: bool,
    /// Its score less that of the best member; of the best member, less that of the better of stack and equal weights.
    pub gain: Estimate,
    /// The probability of a gain at least this large if there were none in truth, by the normal distribution; `None` without
    /// a standard error. Folds share training rows, which the standard error does not know of: it is a little small.
    pub chance: Option<f64>,
    /// How sure the gain is.
    pub surety: Surety,
}

/// How sure a gain is, by its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surety {
    /// More than two standard errors above 0.
    Clear,
    /// More than one.
    Likely,
    /// Less than that, or not known.
    Unsure,
    /// Not above 0.
    Not,
}

/// Paired differences of the held-out scores.
pub(super) struct Gains {
    /// The stack over the best member.
    pub(super) stack: Estimate,
    /// Equal weights over the best member.
    pub(super) uniform: Estimate,
    /// The stack over equal weights.
    pub(super) stack_over_uniform: Estimate,
}

impl Gains {
    /// The rule that does no harm: what scores best is kept; between equals the stack gives way to the best member, which is
    /// cheaper to ask. `uniform` says whether the best candidate is equal weights anyway.
    pub(super) fn verdict(&self, uniform: bool) -> Verdict {
        let (kept, gain) = if uniform || self.stack_over_uniform.mean < 0.0 {
            (Kept::Uniform, self.uniform)
        } else {
            (Kept::Stack, self.stack)
        };
        if gain.mean > 0.0 {
            return Verdict::new(kept, true, gain);
        }
        // Not `-0`.
        let lead = Estimate { mean: 0.0 - gain.mean, se: gain.se };
        Verdict::new(Kept::BestMember, true, lead)
    }

    /// Without the rule.
    pub(super) fn stack_as_asked(&self) -> Verdict {
        Verdict::new(Kept::Stack, false, self.stack)
    }
}

impl Verdict {
    fn new(kept: Kept, by_check: bool, gain: Estimate) -> Self {
        let errors = gain.se.filter(|se| *se > 0.0).map(|se| gain.mean / se);
        let surety = match errors {
            _ if gain.mean <= 0.0 => Surety::Not,
            Some(z) if z > 2.0 => Surety::Clear,
            Some(z) if z > 1.0 => Surety::Likely,
            // Every row gains the same.
            None if gain.se == Some(0.0) => Surety::Clear,
            _ => Surety::Unsure,
        };
        let chance = errors.map(|z| 0.5 * libm::erfc(z / std::f64::consts::SQRT_2));
        Self { kept, by_check, gain, chance, surety }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(stack: f64, uniform: f64) -> Gains {
        let estimate = |mean| Estimate { mean, se: Some(0.1) };
        let difference = stack - uniform;
        Gains {
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
        assert_eq!(kept(-0.1, -0.2), Kept::BestMember);
        assert_eq!(kept(-0.2, -0.1), Kept::BestMember);
        assert_eq!(kept(0.0, 0.0), Kept::BestMember);
        assert_eq!(gains(0.1, 0.1).verdict(true).kept, Kept::Uniform);
        assert_eq!(gains(-0.3, 0.1).stack_as_asked().kept, Kept::Stack);
    }

    #[test]
    fn a_gain_within_its_standard_error_is_unsure() {
        let verdict = |mean, se| Verdict::new(Kept::Stack, true, Estimate { mean, se });
        let unsure = verdict(0.0011, Some(0.0459));
        assert_eq!(unsure.surety, Surety::Unsure);
        // One less the normal distribution at 0.0011 / 0.0459 standard errors.
        assert!((unsure.chance.unwrap() - 0.490_440).abs() < 1e-6, "{unsure:?}");
        assert_eq!(verdict(0.15, Some(0.1)).surety, Surety::Likely);
        assert_eq!(verdict(0.25, Some(0.1)).surety, Surety::Clear);
        assert_eq!(verdict(0.1, Some(0.0)).surety, Surety::Clear);
        assert_eq!(verdict(0.1, None).surety, Surety::Unsure);
        assert_eq!(verdict(-0.1, Some(0.1)).surety, Surety::Not);
        assert_eq!(verdict(-0.1, None).chance, None);
    }
}
