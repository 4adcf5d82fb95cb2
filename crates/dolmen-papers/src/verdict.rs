//! When a figure of ours agrees with the printed one, and when a claim holds: the one place where that is decided.

use dolmen::score::Estimate;
use serde::Serialize;

use crate::page::Line;

/// Standard errors that a figure may lie away, and that a lead must reach.
const ERRORS: f64 = 2.0;

/// The rule on figures, as pages state it.
pub const FIGURES_RULE: &str = "A figure agrees if it lies no farther from the paper's than two standard errors of the difference and half a unit of the last digit printed. \
     A formula's value has neither rounding nor an error of its own. Of figures that do agree in truth one in twenty still lies farther away.";

/// What is added to it where a paper gives a count as "about" so many.
const ABOUT_RULE: &str =
    "A count that the paper gives as \"about\" so many may be one more or less.";

/// What is added to it where ours are of other data than the paper's.
const OTHER_DATA_RULE: &str =
    "Figures of other data than the paper's stand beside its own and neither agree nor differ.";

macro_rules! claims_rule {
    ($place:literal) => {
        concat!(
            "A claim that one thing is ahead of another holds if the lead is more than two standard errors, and does not hold if it lies as far behind; between \
             them it is not clear. Other claims hold by what is said ",
            $place,
            "."
        )
    };
}

/// The rule on claims, as pages state it.
pub const CLAIMS_RULE: &str = claims_rule!("in the last column");

/// The same where claims are lines of text with what they are seen from behind them.
pub const CLAIMS_RULE_OF_LINES: &str = claims_rule!("in brackets");

/// When means stand in the order that is claimed, after "holds if".
pub(crate) const ORDER_RULE: &str =
    "all means are in that order, and does not hold if one is behind by two standard errors";

/// The rules that decide these comparisons, each once: of errors that are assumed, of counts that are "about", and of other data
/// where there are such.
pub(crate) fn rules(lines: &[&Line]) -> Vec<String> {
    let judged = || lines.iter().filter(|line| line.is_judged()).filter_map(|line| line.paper);
    let mut rules = Vec::new();
    if judged().next().is_some() {
        rules.push(FIGURES_RULE.to_string());
    }
    let mut assumed: Vec<usize> =
        judged().filter(|own| own.se.is_none()).filter_map(|own| own.runs).collect();
    assumed.sort_unstable();
    assumed.dedup();
    rules.extend(assumed.into_iter().map(|runs| {
        let (of, such) = match runs {
            1 => ("of one run".into(), "of one of ours"),
            runs => (format!("a mean of {runs} runs"), "of a mean of as many of ours"),
        };
        format!(
            "The paper prints no error: its figure is {of} like ours, and is taken to have the error {such}, which is part of the error of the difference."
        )
    }));
    if judged().any(|own| own.about) {
        rules.push(ABOUT_RULE.into());
    }
    if lines.iter().any(|line| line.verdict == Verdict::StandIn) {
        rules.push(OTHER_DATA_RULE.into());
    }
    rules
}

/// A figure as a paper prints it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Printed {
    /// The figure.
    pub value: f64,
    /// Its digits after the point.
    pub digits: u32,
    /// How far the true figure may lie from it: half of its last digit, nothing if it is a formula's value, more where the paper
    /// says "about".
    pub slack: f64,
    /// Whether it is a count that the paper gives as "about" so many.
    pub about: bool,
    /// As the paper spells it, where that is no number.
    pub spelled: Option<&'static str>,
    /// Its standard error, where the paper prints one or it follows from what is printed.
    pub se: Option<f64>,
    /// The runs it is a mean of, where the paper prints no error: it then has about the error of a mean of so many of ours.
    pub runs: Option<usize>,
}

impl Printed {
    /// A figure with so many digits after the point.
    pub fn new(value: f64, digits: u32) -> Self {
        let slack = 0.5 * 10f64.powi(-(digits as i32));
        Self { value, digits, slack, about: false, spelled: None, se: None, runs: None }
    }

    /// The value of a formula, or one that made the data: not rounded, shown with so many digits.
    pub fn exact(value: f64, digits: u32) -> Self {
        Self { slack: 0.0, ..Self::new(value, digits) }
    }

    /// A count that the paper gives as "about" this: one more or less is the same.
    pub fn about(value: f64) -> Self {
        Self { slack: 1.0, about: true, ..Self::new(value, 0) }
    }

    /// The same as the paper spells it.
    #[must_use]
    pub fn spelled(self, words: &'static str) -> Self {
        Self { spelled: Some(words), ..self }
    }

    /// The same with its standard error.
    #[must_use]
    pub fn with_se(self, se: f64) -> Self {
        Self { se: Some(se), ..self }
    }

    /// The same as a mean of runs like ours.
    #[must_use]
    pub fn mean_of(self, runs: usize) -> Self {
        Self { runs: Some(runs), ..self }
    }

    /// The standard error that it is taken to have beside a mean of ours over `runs` runs.
    pub fn error(&self, ours: &Estimate, runs: usize) -> Option<f64> {
        let like_ours = |times: usize| {
            let own = ours.se.unwrap_or(0.0);
            own * (runs as f64 / times as f64).sqrt()
        };
        self.se.or(self.runs.map(like_ours))
    }

    /// How far a mean of ours over `runs` runs may lie away.
    pub fn allowed(&self, ours: &Estimate, runs: usize) -> f64 {
        let own = ours.se.unwrap_or(0.0);
        let printed = self.error(ours, runs).unwrap_or(0.0);
        // What is computed is known to rounding, too.
        ERRORS * own.hypot(printed) + self.slack + 1e-12
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
    /// Ours is of data that stand in for the paper's: there is nothing to agree with.
    StandIn,
    /// The paper prints no figure for this.
    NotPrinted,
    /// There is none of ours: the data could not be had.
    NoData,
    /// Ours is no finite number.
    NotFinite,
}

impl Verdict {
    /// The verdict on a mean of ours over `runs` runs.
    pub fn on(ours: Option<Estimate>, runs: usize, paper: Option<Printed>) -> Self {
        let Some(ours) = ours else { return Self::NoData };
        if !ours.mean.is_finite() {
            return Self::NotFinite;
        }
        let Some(paper) = paper else { return Self::NotPrinted };
        let is_near = (ours.mean - paper.value).abs() <= paper.allowed(&ours, runs);
        if is_near { Self::Agrees } else { Self::Differs }
    }

    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::StandIn => "other data",
            Self::NotPrinted => "no figure printed",
            Self::NoData => "data not available",
            Self::NotFinite => "not finite",
        }
    }
}

/// What is found about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It does not hold.
    Fails,
    /// The runs are too few, or the lead too small, to tell.
    Open,
    /// It holds.
    Holds,
}

impl Finding {
    /// Whether something is more than zero.
    pub fn positive(lead: &Estimate) -> Self {
        let reach = ERRORS * lead.se.unwrap_or(0.0);
        if lead.mean > reach {
            Self::Holds
        } else if lead.mean < -reach || lead.mean.is_nan() {
            Self::Fails
        } else {
            Self::Open
        }
    }

    /// Of something that is seen without an error.
    pub fn sharp(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    /// Whether all of several hold: as the worst of them.
    pub fn all(findings: impl IntoIterator<Item = Self>) -> Self {
        findings.into_iter().min().unwrap_or(Self::Holds)
    }

    /// Of means that are claimed to stand in an order: it holds if they do, and does not if one of the leads that it claims is clearly
    /// negative. Means that are the other way round by chance do not tell.
    pub fn ordered(is_so: bool, leads: impl IntoIterator<Item = Self>) -> Self {
        if is_so {
            Self::Holds
        } else if leads.into_iter().any(|lead| lead == Self::Fails) {
            Self::Fails
        } else {
            Self::Open
        }
    }

    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Open => "not clear",
            Self::Fails => "does not hold",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(mean: f64, se: f64, paper: Printed) -> Verdict {
        Verdict::on(Some(Estimate { mean, se: Some(se) }), 50, Some(paper))
    }

    #[test]
    fn two_standard_errors_of_both_sides_and_the_rounding_decide() {
        let plain = Printed::new(10.0, 1);
        assert_eq!(on(10.24, 0.1, plain), Verdict::Agrees);
        assert_eq!(on(10.26, 0.1, plain), Verdict::Differs);
        // As many runs of the same kind: the error of the difference is larger by the square root of 2.
        assert_eq!(on(10.32, 0.1, plain.mean_of(50)), Verdict::Agrees);
        assert_eq!(on(10.35, 0.1, plain.mean_of(50)), Verdict::Differs);
        assert_eq!(on(10.35, 0.1, plain.with_se(0.2)), Verdict::Agrees);
        assert_eq!(on(f64::NEG_INFINITY, 0.1, plain), Verdict::NotFinite);
        assert_eq!(Verdict::on(None, 0, Some(plain)), Verdict::NoData);
        let ours = Some(Estimate { mean: 1.0, se: None });
        assert_eq!(Verdict::on(ours, 1, None), Verdict::NotPrinted);
    }

    #[test]
    fn values_of_formulas_are_not_rounded_and_about_is_one_more_or_less() {
        assert_eq!(on(1.025, 0.004, Printed::exact(1.0, 1)), Verdict::Differs);
        assert_eq!(on(1.025, 0.013, Printed::exact(1.0, 1)), Verdict::Agrees);
        let count = |mean: f64| Some(Estimate { mean, se: None });
        assert_eq!(Verdict::on(count(8.0), 1, Some(Printed::about(7.0))), Verdict::Agrees);
        assert_eq!(Verdict::on(count(9.0), 1, Some(Printed::about(7.0))), Verdict::Differs);
    }

    #[test]
    fn rules_are_stated_where_they_decide() {
        let line = |paper: Option<Printed>, verdict: Verdict| Line {
            about: vec![],
            ours: Some(Estimate { mean: 1.0, se: Some(0.1) }),
            runs: 10,
            paper,
            verdict,
            why: None,
        };
        let stated = |lines: &[Line]| rules(&lines.iter().collect::<Vec<_>>());
        let plain = Printed::new(1.0, 1);
        assert_eq!(stated(&[line(None, Verdict::NotPrinted)]), Vec::<String>::new());
        assert_eq!(stated(&[line(Some(plain), Verdict::Agrees)]), [FIGURES_RULE]);
        assert_eq!(stated(&[line(Some(plain), Verdict::StandIn)]), [OTHER_DATA_RULE]);
        let assumed = stated(&[line(Some(plain.mean_of(1)), Verdict::Agrees)]);
        assert!(
            assumed.len() == 2 && assumed[1].contains("is of one run like ours"),
            "{assumed:?}"
        );
        let about = stated(&[line(Some(Printed::about(7.0)), Verdict::Differs)]);
        assert_eq!(about, [FIGURES_RULE, ABOUT_RULE]);
        // What is assumed is what is allowed.
        let ours = Estimate { mean: 1.0, se: Some(0.1) };
        assert_eq!(plain.mean_of(40).error(&ours, 10), Some(0.05));
        assert_eq!(plain.error(&ours, 10), None);
    }

    #[test]
    fn a_lead_within_two_standard_errors_tells_nothing() {
        let lead = |mean: f64| Finding::positive(&Estimate { mean, se: Some(0.18) });
        assert_eq!(lead(0.4), Finding::Holds);
        assert_eq!(lead(-0.09), Finding::Open);
        assert_eq!(lead(-0.4), Finding::Fails);
        assert_eq!(Finding::all([Finding::Holds, Finding::Open]), Finding::Open);
        assert_eq!(Finding::all([Finding::Fails, Finding::Open]), Finding::Fails);
        // Nor do means that are the other way round by chance.
        let leads = [Finding::Holds, Finding::Open];
        assert_eq!(Finding::ordered(true, leads), Finding::Holds);
        assert_eq!(Finding::ordered(false, leads), Finding::Open);
        assert_eq!(Finding::ordered(false, [Finding::Holds, Finding::Fails]), Finding::Fails);
    }
}
