//! What an experiment gives: tables with our figures beside the printed ones, what the paper claims and whether it holds,
//! figures, notes.

mod markdown;
mod overview;
mod write;

use dolmen::score::Estimate;
use dolmen_report::Options;
use dolmen_report::chart::{Chart, panels};
use serde::Serialize;

pub(crate) use markdown::in_digits;
pub use overview::{
    COUNTED, Found, Judged, OVERVIEW, Standing, overview, standings, totals, write_overview,
};
pub use write::prepare;

use crate::data::Brought;
use crate::verdict::rules;
use crate::{Effort, Finding, Printed, Verdict};

/// The results of one experiment.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Page {
    /// Name of the experiment.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The paper and the place in it.
    pub source: String,
    /// How thoroughly it was run.
    pub effort: Effort,
    /// Whether it used data of the reader's.
    pub with_data: bool,
    /// The seed that the reader gave; 0 if none.
    pub seed: u64,
    /// What was done, in paragraphs.
    pub introduction: Vec<String>,
    /// Our figures beside the printed ones.
    pub comparisons: Vec<Comparison>,
    /// What the paper claims, and what else is to be seen.
    pub claims: Vec<Claim>,
    /// Further numbers, such as those of the figures.
    pub tables: Vec<Table>,
    /// Pictures.
    pub figures: Vec<Figure>,
    /// What else is to be said: missing data, deviations.
    pub notes: Vec<String>,
}

/// The reason for what differs or does not hold, where none is given.
const NOT_KNOWN: &str = "not known";

/// Figures of ours beside printed ones.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Ends the name of its file.
    pub name: String,
    /// What is compared.
    pub title: String,
    /// Headers of the columns that say what a line is about, such as `data set` and `method`.
    pub keys: Vec<String>,
    /// Digits after the point.
    pub digits: usize,
    /// One line for each figure.
    pub lines: Vec<Line>,
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// What it is about, one text for each key.
    pub about: Vec<String>,
    /// Our figure.
    pub ours: Option<Estimate>,
    /// The runs that it is a mean of.
    pub runs: usize,
    /// The printed figure.
    pub paper: Option<Printed>,
    /// What becomes of the comparison.
    pub verdict: Verdict,
    /// Why it differs, as far as that is known, or what else is to be said of it.
    pub why: Option<String>,
}

impl Comparison {
    /// One without lines.
    pub fn new(name: &str, title: &str, keys: &[&str], digits: usize) -> Self {
        let keys = keys.iter().map(|key| (*key).into()).collect();
        Self { name: name.into(), title: title.into(), keys, digits, lines: vec![] }
    }

    /// Adds the mean of `values`, one for each run; infinite ones count as they are.
    pub fn mean(&mut self, about: &[&str], values: &[f64], paper: Option<Printed>) -> &mut Line {
        let ours = (!values.is_empty()).then(|| estimate(values));
        self.estimate(about, ours, values.len(), paper)
    }

    /// Adds a figure with a known error.
    pub fn estimate(
        &mut self,
        about: &[&str],
        ours: Option<Estimate>,
        runs: usize,
        paper: Option<Printed>,
    ) -> &mut Line {
        let verdict = Verdict::on(ours, runs, paper);
        let about = about.iter().map(|text| (*text).into()).collect();
        let why = (verdict == Verdict::Differs).then(|| NOT_KNOWN.into());
        self.lines.push(Line { about, ours, runs, paper, verdict, why });
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    /// The line about something.
    pub fn line(&self, about: &[&str]) -> Option<&Line> {
        self.lines.iter().find(|line| line.about == about)
    }
}

impl Line {
    /// Says why it differs; a line that agrees needs no reason.
    pub fn because(&mut self, why: &str) -> &mut Self {
        if self.verdict == Verdict::Differs {
            self.why = Some(why.into());
        }
        self
    }

    /// Says something of it whatever the verdict.
    pub fn remark(&mut self, words: &str) -> &mut Self {
        self.why = Some(words.into());
        self
    }

    /// Says that ours is of other data: it neither agrees nor differs.
    pub fn stand_in(&mut self, words: &str) -> &mut Self {
        if self.is_judged() {
            self.verdict = Verdict::StandIn;
        }
        self.remark(words)
    }

    /// Whether ours is held against the printed figure.
    pub fn is_judged(&self) -> bool {
        matches!(self.verdict, Verdict::Agrees | Verdict::Differs)
    }

    /// The standard error of the printed figure: printed, or assumed.
    pub fn paper_error(&self) -> Option<f64> {
        self.ours.zip(self.paper).and_then(|(ours, paper)| paper.error(&ours, self.runs))
    }

    /// How far ours may lie from the printed figure.
    pub fn allowed(&self) -> Option<f64> {
        self.ours.zip(self.paper).map(|(ours, paper)| paper.allowed(&ours, self.runs))
    }

    /// How many standard errors of the difference it lies away; 0 where there is no error.
    pub fn errors_away(&self) -> f64 {
        let Some((ours, paper)) = self.ours.zip(self.paper) else { return 0.0 };
        let error = 0.5 * (paper.allowed(&ours, self.runs) - paper.slack);
        if error > 1e-9 { (ours.mean - paper.value).abs() / error } else { 0.0 }
    }
}

/// Below this share of the values a standard error is rounding.
const ROUNDING: f64 = 1e-14;

/// A mean with its standard error, every value counting alike. Values that are the same but for rounding have no error.
pub fn estimate(values: &[f64]) -> Estimate {
    let own = Estimate::of(values, &vec![1.0 / values.len().max(1) as f64; values.len()]);
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let is_rounding = |se: f64| largest.is_finite() && se <= ROUNDING * largest;
    Estimate { se: own.se.map(|se| if is_rounding(se) { 0.0 } else { se }), ..own }
}

/// Who claims something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Whose {
    /// The paper, in its text.
    Paper,
    /// We, of what is seen besides.
    Ours,
}

/// What is claimed, and whether it holds here.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// What is claimed, in a sentence.
    pub text: String,
    /// Who claims it.
    pub whose: Whose,
    /// Whether it holds.
    pub finding: Finding,
    /// The numbers it is seen from.
    pub evidence: String,
    /// The threshold that decides, where neither the claim's own words nor the rule on claims tell it.
    pub rule: Option<String>,
    /// Why it does not hold, as far as that is known; nothing where it does, or is not clear.
    pub why: Option<String>,
}

impl Claim {
    /// A claim of the paper, with what it is seen from, that needs no error to be decided.
    pub fn new(text: impl Into<String>, holds: bool, evidence: impl Into<String>) -> Self {
        Self::found(text, Finding::sharp(holds), evidence)
    }

    /// A claim of the paper with what was found.
    pub fn found(text: impl Into<String>, finding: Finding, evidence: impl Into<String>) -> Self {
        let (text, evidence) = (text.into(), evidence.into());
        let why = (finding == Finding::Fails).then(|| NOT_KNOWN.into());
        Self { text, whose: Whose::Paper, finding, evidence, rule: None, why }
    }

    /// A claim that something is ahead: the lead decides.
    pub fn ahead(text: impl Into<String>, lead: &Estimate, evidence: impl Into<String>) -> Self {
        Self::found(text, Finding::positive(lead), evidence)
    }

    /// The same as a claim of ours.
    #[must_use]
    pub fn ours(self) -> Self {
        Self { whose: Whose::Ours, ..self }
    }

    /// The same with the threshold that decides, such as `it is below 5 % of the gain`: who reads the page must be able to judge it.
    #[must_use]
    pub fn holds_if(self, rule: impl Into<String>) -> Self {
        Self { rule: Some(rule.into()), ..self }
    }

    /// The same with the reason if it does not hold; a claim that holds needs none.
    #[must_use]
    pub fn because(self, why: impl Into<String>) -> Self {
        match self.finding {
            Finding::Fails => Self { why: Some(why.into()), ..self },
            Finding::Open | Finding::Holds => self,
        }
    }

    /// The numbers it is seen from, and the threshold, as they are shown.
    pub fn seen_from(&self) -> String {
        match &self.rule {
            Some(rule) => format!("{}; holds if {rule}", self.evidence),
            None => self.evidence.clone(),
        }
    }

    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.finding == Finding::Holds
    }
}

/// Numbers and words in columns.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Ends the name of its file.
    pub name: String,
    /// What they are.
    pub title: String,
    /// Headers.
    pub columns: Vec<String>,
    /// Rows, one value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Whether the page shows it; else it is only in its file.
    pub shown: bool,
}

impl Table {
    /// One without rows, shown on the page.
    pub fn new<S: Into<String>>(
        name: &str,
        title: &str,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { name: name.into(), title: title.into(), columns, rows: vec![], shown: true }
    }

    /// The same, kept in its file only.
    #[must_use]
    pub fn in_file_only(mut self) -> Self {
        self.shown = false;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, values: impl IntoIterator<Item = Value>) {
        self.rows.push(values.into_iter().collect());
    }
}

/// A number or a word.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number; NaN where there is none.
    Number(f64),
    /// A word.
    Text(String),
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A picture.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Ends the name of its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The picture.
    #[serde(skip)]
    pub svg: String,
}

impl Figure {
    /// A chart.
    pub fn chart(name: &str, chart: &Chart) -> Self {
        let svg = chart.draw(&Options::default());
        Self { name: name.into(), title: chart.title.clone(), svg }
    }

    /// A chart that is wider than others, for long names of levels.
    pub fn wide_chart(name: &str, chart: &Chart) -> Self {
        let options = Options { width: 960.0, ..Options::default() };
        Self { name: name.into(), title: chart.title.clone(), svg: chart.draw(&options) }
    }

    /// Several charts under one heading, in rows of `columns` each.
    pub fn panels(
        name: &str,
        (title, words): (&str, &str),
        columns: usize,
        charts: &[Chart],
    ) -> Self {
        let options = Options { width: 960.0, ..Options::default() };
        let svg = panels(title, words, columns, charts, &options);
        Self { name: name.into(), title: title.into(), svg }
    }
}

impl Page {
    /// A page that begins with these paragraphs.
    pub fn new<S: Into<String>>(introduction: impl IntoIterator<Item = S>) -> Self {
        let introduction = introduction.into_iter().map(Into::into).collect();
        Self { introduction, ..Self::default() }
    }

    /// Says of a data set that is not carried that it is missing, or that the reader brought it.
    pub fn bring(&mut self, brought: &Brought, is_there: bool) {
        self.with_data |= is_there;
        self.notes.push(if is_there { brought.used() } else { brought.missing() });
    }

    /// Whether every claim holds.
    pub fn holds(&self) -> bool {
        self.claims.iter().all(Claim::holds)
    }

    /// The claims of the paper, or ours.
    pub fn claims_of(&self, whose: Whose) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(move |claim| claim.whose == whose)
    }

    /// The rules that decide its comparisons.
    pub fn rules_on_figures(&self) -> Vec<String> {
        let lines = self.comparisons.iter().flat_map(|comparison| &comparison.lines);
        rules(&lines.collect::<Vec<_>>())
    }

    /// How many comparisons came to a verdict.
    pub fn verdicts(&self, verdict: Verdict) -> usize {
        let lines = self.comparisons.iter().flat_map(|comparison| &comparison.lines);
        lines.filter(|line| line.verdict == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_does_not_hold_says_why() {
        let claim = |holds: bool| Claim::new("a is ahead of b", holds, "by 1");
        assert_eq!(claim(false).why.as_deref(), Some("not known"));
        assert_eq!(claim(false).because("other rows").why.as_deref(), Some("other rows"));
        assert_eq!(claim(true).because("other rows").why, None);
        let page = |claim: Claim| Page { claims: vec![claim], ..Page::default() }.markdown();
        let fails = page(claim(false).because("other rows"));
        assert!(fails.contains("| **does not hold** | other rows | by 1 |"), "{fails}");
        assert!(!page(claim(true)).contains("why"), "a column without reasons is left out");
    }

    #[test]
    fn rounding_is_no_standard_error() {
        let tenth = [0.1, 0.1 + 1e-17, 0.3 - 0.2, 0.1];
        assert_eq!(estimate(&tenth).se, Some(0.0));
        assert!(estimate(&[0.1, 0.1 + 1e-9]).se.is_some_and(|se| se > 0.0));
        assert_ne!(estimate(&[0.0, f64::NEG_INFINITY]).se, Some(0.0));
    }
}
