//! A page as Markdown, and its tables as cells of text.

use std::fmt::Write;

use super::{Claim, Comparison, Page, Table, Value, Whose};
use crate::{CLAIMS_RULE, Effort, Finding};

impl Comparison {
    /// Headers of the table as it is shown.
    pub fn header(&self) -> Vec<String> {
        let rest = ["ours", "se", "paper", "verdict", "why"].map(String::from);
        self.keys.iter().cloned().chain(rest).collect()
    }

    /// The table as it is shown.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let digits = self.digits;
        let number = |value: f64| in_digits(value, digits);
        let cells = |line: &super::Line| {
            let ours = line.ours.map(|ours| number(ours.mean)).unwrap_or_default();
            let se = line.ours.and_then(|ours| ours.se).map(number).unwrap_or_default();
            let paper = line.paper.map(|paper| {
                let value = in_digits(paper.value, paper.digits as usize);
                let value = match paper.spelled {
                    Some(words) => words.into(),
                    None if paper.about => format!("about {value}"),
                    None => value,
                };
                paper.se.map_or(value.clone(), |se| format!("{value} (se {})", number(se)))
            });
            let why = line.why.clone().unwrap_or_default();
            let own = [ours, se, paper.unwrap_or_default(), line.verdict.words().into(), why];
            line.about.iter().cloned().chain(own).collect()
        };
        self.lines.iter().map(cells).collect()
    }
}

impl Table {
    /// The table as it is shown.
    pub fn cells(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(Value::shown).collect()).collect()
    }
}

/// What is less is shown as 0, as all results of the program are.
const LEAST: f64 = 1e-15;

impl Value {
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value) if value.is_nan() => String::new(),
            Self::Number(value) if value.abs() < LEAST => "0".into(),
            Self::Number(value) if value.fract() == 0.0 => format!("{value}"),
            Self::Number(value) if value.abs() >= 100.0 => format!("{value:.1}"),
            Self::Number(value) if value.abs() >= 0.01 => format!("{value:.3}"),
            Self::Number(value) => format!("{value:.2e}"),
        }
    }
}

/// A number with so many digits after the point, never as "-0.0".
pub(crate) fn in_digits(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let is_zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if is_zero { text.trim_start_matches('-').into() } else { text }
}

impl Page {
    /// The page as Markdown; pictures stand in files beside it.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n*{}*", self.title, self.source);
        let again = match self.effort {
            Effort::Quick => "a quick run, with fewer repeats than the paper's",
            Effort::Full => "a full run",
        };
        _ = writeln!(out, " · `{}`, {again}\n", self.command());
        for paragraph in &self.introduction {
            _ = writeln!(out, "{paragraph}\n");
        }
        for (whose, heading) in HEADINGS {
            self.claims_table(whose, heading, &mut out);
        }
        if !self.claims.is_empty() {
            _ = writeln!(out, "{CLAIMS_RULE}\n");
        }
        for comparison in &self.comparisons {
            _ = writeln!(out, "## {}\n", comparison.title);
            table(&mut out, &comparison.header(), comparison.cells());
        }
        let rules = self.rules_on_figures();
        if !rules.is_empty() {
            _ = writeln!(out, "{}\n", rules.join(" "));
        }
        for figure in &self.figures {
            _ = writeln!(out, "![{}]({}-{}.svg)\n", figure.title, self.name, figure.name);
        }
        for numbers in self.tables.iter().filter(|table| table.shown) {
            _ = writeln!(out, "## {}\n", numbers.title);
            table(&mut out, &numbers.columns, numbers.cells());
        }
        if !self.notes.is_empty() {
            _ = writeln!(out, "## Notes\n");
            self.notes.iter().for_each(|note| _ = writeln!(out, "- {note}"));
        }
        out
    }

    /// The command that makes it again, but for the reader's folder.
    pub fn command(&self) -> String {
        let quick = if self.effort == Effort::Quick { " --quick" } else { "" };
        let data = if self.with_data { " --data FOLDER" } else { "" };
        let seed = if self.seed == 0 { String::new() } else { format!(" --seed {}", self.seed) };
        format!("dolmen reproduce {}{quick}{data}{seed}", self.name)
    }

    fn claims_table(&self, whose: Whose, heading: &str, out: &mut String) {
        let row = |claim: &Claim| {
            let finding = match claim.finding {
                Finding::Fails => format!("**{}**", claim.finding.words()),
                finding => finding.words().into(),
            };
            let why = claim.why.clone().unwrap_or_default();
            vec![claim.text.clone(), finding, why, claim.seen_from()]
        };
        let rows: Vec<Vec<String>> = self.claims_of(whose).map(row).collect();
        if !rows.is_empty() {
            _ = writeln!(out, "## {heading}\n");
            table(out, &["claim", "here", "why", "seen from"].map(String::from), rows);
        }
    }
}

/// The headings of the claims.
pub(super) const HEADINGS: [(Whose, &str); 2] =
    [(Whose::Paper, "What the paper claims"), (Whose::Ours, "What else is seen here")];

/// A table in Markdown; columns that are empty throughout are left out.
pub(super) fn table(
    out: &mut String,
    header: &[String],
    rows: impl IntoIterator<Item = Vec<String>>,
) {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let is_filled = |j: &usize| rows.iter().any(|row| row.get(*j).is_some_and(|c| !c.is_empty()));
    let kept: Vec<usize> = (0..header.len()).filter(is_filled).collect();
    let mut line = |cells: Vec<String>| _ = writeln!(out, "| {} |", cells.join(" | "));
    let pick = |row: &[String]| kept.iter().map(|&j| row[j].replace('|', "\\|")).collect();
    line(pick(header));
    line(kept.iter().map(|_| "---".into()).collect());
    rows.iter().for_each(|row| line(pick(row)));
    out.push('\n');
}
