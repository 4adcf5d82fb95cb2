//! When a figure of ours agrees with the printed one: the one place where that is decided.

use dolmen::score::Estimate;
use serde::Serialize;

/// Standard errors that a figure may lie away.
const ERRORS: f64 = 2.0;

/// A figure as a paper prints it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Printed {
    /// The figure.
    pub value: f64,
    /// Its digits after the point: it is known to half of the last.
    pub digits: u32,
    /// Its standard error, where the paper prints one.
    pub se: Option<f64>,
    /// The runs it is a mean of, where the paper prints no error: it then has about the error of a mean of so many of ours.
    pub runs: Option<usize>,
}

impl Printed {
    /// A figure with so many digits after the point.
    pub fn new(value: f64, digits: u32) -> Self {
        Self { value, digits, se: None, runs: None }
    }

    /// The same with its printed standard error.
    #[must_use]
    pub fn with_se(self, se: f64) -> Self {
        Self { se: Some(se), ..self }
    }

    /// The same as a mean of runs like ours.
    #[must_use]
    pub fn mean_of(self, runs: usize) -> Self {
        Self { runs: Some(runs), ..self }
    }
}

/// What becomes of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within two standard errors, of both sides where the paper's is known, and the rounding of the print.
    Agrees,
    /// Farther away.
    Differs,
    /// The paper prints no figure for this.
    NotPrinted,
    /// There is none of ours: its data are missing, or it is not finite.
    NotRun,
}

impl Verdict {
    /// The verdict on a mean of ours over `runs` runs.
    pub fn on(ours: Option<Estimate>, runs: usize, paper: Option<Printed>) -> Self {
        let Some(ours) = ours.filter(|ours| ours.mean.is_finite()) else { return Self::NotRun };
        let Some(paper) = paper else { return Self::NotPrinted };
        let own = ours.se.unwrap_or(0.0);
        let like_ours = |times: usize| own * (runs as f64 / times as f64).sqrt();
        let printed = paper.se.or(paper.runs.map(like_ours)).unwrap_or(0.0);
        let rounding = 0.5 * 10f64.powi(-(paper.digits as i32));
        let allowed = ERRORS * own.hypot(printed) + rounding;
        if (ours.mean - paper.value).abs() <= allowed { Self::Agrees } else { Self::Differs }
    }

    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::NotPrinted => "no figure printed",
            Self::NotRun => "not run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_standard_errors_of_both_sides_and_the_rounding_decide() {
        let on = |mean: f64, se: f64, paper: Printed| {
            Verdict::on(Some(Estimate { mean, se: Some(se) }), 50, Some(paper))
        };
        let plain = Printed::new(10.0, 1);
        assert_eq!(on(10.24, 0.1, plain), Verdict::Agrees);
        assert_eq!(on(10.26, 0.1, plain), Verdict::Differs);
        // As many runs of the same kind: the error of the difference is larger by the square root of 2.
        assert_eq!(on(10.32, 0.1, plain.mean_of(50)), Verdict::Agrees);
        assert_eq!(on(10.35, 0.1, plain.mean_of(50)), Verdict::Differs);
        assert_eq!(on(10.35, 0.1, plain.with_se(0.2)), Verdict::Agrees);
        assert_eq!(on(f64::NEG_INFINITY, 0.1, plain), Verdict::NotRun);
        assert_eq!(Verdict::on(None, 0, Some(plain)), Verdict::NotRun);
        let ours = Some(Estimate { mean: 1.0, se: None });
        assert_eq!(Verdict::on(ours, 1, None), Verdict::NotPrinted);
    }
}
