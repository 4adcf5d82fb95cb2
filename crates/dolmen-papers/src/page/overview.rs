//! The pages that lie in a folder, on one page: how many figures agree, how many claims hold, and all that do not.
//!
//! It is read from the pages as they are written, so that those of earlier runs are on it, too.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use dolmen::error::Result;
use dolmen::store::write_file;

use super::markdown::{HEADINGS, table};
use super::{Page, Whose};
use crate::{Finding, Verdict, experiments};

/// Name of its file.
pub const OVERVIEW: &str = "overview.md";

/// A figure of a page beside the printed one, as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What it is about.
    pub what: String,
    /// Our figure.
    pub ours: String,
    /// The printed one.
    pub paper: String,
    /// What becomes of the comparison, in words.
    pub verdict: String,
    /// Why it differs.
    pub why: String,
}

/// A claim of a page, as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What is claimed.
    pub text: String,
    /// Who claims it.
    pub whose: Whose,
    /// What is found about it, in words.
    pub finding: String,
    /// Why it does not hold.
    pub why: String,
    /// The numbers it is seen from.
    pub seen_from: String,
}

/// What a page says of its figures and claims.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Name of the experiment.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The paper, the command, and whether it is of a full run: the line below the title.
    pub source: String,
    /// Figures beside printed ones.
    pub figures: Vec<Judged>,
    /// What is claimed.
    pub claims: Vec<Found>,
}

impl Standing {
    /// Of a page that was just made.
    pub fn of(page: &Page) -> Self {
        Self::read(&page.name, &page.markdown())
    }

    /// Of a page as it was written.
    pub fn read(name: &str, text: &str) -> Self {
        let mut lines = text.lines();
        let title = lines.next().and_then(|line| line.strip_prefix("# ")).unwrap_or(name);
        let source = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let mut own = Self {
            name: name.into(),
            title: title.into(),
            source: source.into(),
            ..Self::default()
        };
        let (mut whose, mut header) = (None, None);
        for line in lines {
            if let Some(heading) = line.strip_prefix("## ") {
                whose = HEADINGS.iter().find(|own| own.1 == heading).map(|own| own.0);
            }
            match (cells(line), &header) {
                (None, _) => header = None,
                (Some(names), None) => header = Some(names),
                (Some(row), Some(names)) => own.add(whose, names, &row),
            }
        }
        own
    }

    /// Takes a row of a table if it is one of figures beside printed ones, or of claims.
    fn add(&mut self, whose: Option<Whose>, header: &[String], row: &[String]) {
        let place = |name: &str| header.iter().position(|own| own == name);
        let cell = |name: &str| place(name).and_then(|j| row.get(j)).cloned().unwrap_or_default();
        let is_rule = row.iter().all(|cell| cell == "---");
        match (whose, place("ours"), place("verdict")) {
            _ if is_rule => {}
            (Some(whose), ..) => self.claims.push(Found {
                text: cell("claim"),
                whose,
                finding: cell("here").trim_matches('*').into(),
                why: cell("why"),
                seen_from: cell("seen from"),
            }),
            (None, Some(ours), Some(_)) => self.figures.push(Judged {
                what: row[..ours.min(row.len())].join(", "),
                ours: cell("ours"),
                paper: cell("paper"),
                verdict: cell("verdict"),
                why: cell("why"),
            }),
            _ => {}
        }
    }

    /// How many figures agree, how many differ, and how many are not judged, as their data are others or none is printed.
    pub fn of_figures(&self) -> [usize; 3] {
        let count = |verdict: Verdict| {
            self.figures.iter().filter(|own| own.verdict == verdict.words()).count()
        };
        let (agree, differ) = (count(Verdict::Agrees), count(Verdict::Differs));
        [agree, differ, self.figures.len() - agree - differ]
    }

    /// How many claims of the paper, or of ours, hold, are not clear, and do not hold.
    pub fn of_claims(&self, whose: Whose) -> [usize; 3] {
        [Finding::Holds, Finding::Open, Finding::Fails].map(|finding| {
            let is_such = |own: &&Found| own.whose == whose && own.finding == finding.words();
            self.claims.iter().filter(is_such).count()
        })
    }

    /// The numbers of [`COUNTED`]: figures, claims of the paper, claims of ours.
    pub fn counts(&self) -> [usize; 9] {
        let [figures, paper, ours] =
            [self.of_figures(), self.of_claims(Whose::Paper), self.of_claims(Whose::Ours)];
        std::array::from_fn(|k| [figures, paper, ours][k / 3][k % 3])
    }

    /// The figures that differ.
    pub fn differing(&self) -> impl Iterator<Item = &Judged> {
        self.figures.iter().filter(|own| own.verdict == Verdict::Differs.words())
    }

    /// The claims that do not hold.
    pub fn failing(&self) -> impl Iterator<Item = &Found> {
        self.claims.iter().filter(|own| own.finding == Finding::Fails.words())
    }
}

/// What is counted of a page: figures, claims of the paper, and claims of ours.
pub const COUNTED: [&str; 9] = [
    "figures agree",
    "differ",
    "not judged",
    "claims hold",
    "not clear",
    "do not hold",
    "ours hold",
    "ours not clear",
    "ours do not hold",
];

/// The sums over pages.
pub fn totals(standings: &[Standing]) -> [usize; 9] {
    std::array::from_fn(|k| standings.iter().map(|own| own.counts()[k]).sum())
}

/// The cells of a row of a table in Markdown.
fn cells(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
    Some(inside.split(" | ").map(|cell| cell.replace("\\|", "|")).collect())
}

/// The pages of experiments that lie in a folder, in the order of the list.
pub fn standings(folder: &Path) -> Vec<Standing> {
    let read = |name: &str| fs::read_to_string(folder.join(format!("{name}.md"))).ok();
    let own = experiments().iter().map(|own| own.name);
    own.filter_map(|name| Some(Standing::read(name, &read(name)?))).collect()
}

/// Writes the overview of a folder's pages into it.
pub fn write_overview(folder: &Path) -> Result<PathBuf> {
    let (path, text) = (folder.join(OVERVIEW), overview(&standings(folder)));
    write_file(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(path)
}

/// The overview of pages that lie beside it, as Markdown.
pub fn overview(standings: &[Standing]) -> String {
    let mut out = format!("# All figures and claims, counted\n\n{WORDS}\n\n");
    let link = |own: &Standing| format!("[{}]({}.md)", own.title, own.name);
    // Zeros are left empty: what there is shows better.
    let shown =
        |counts: [usize; 9]| counts.map(|n| if n == 0 { String::new() } else { n.to_string() });
    let row = |own: &Standing| std::iter::once(link(own)).chain(shown(own.counts())).collect();
    let all = std::iter::once("all".to_string()).chain(shown(totals(standings))).collect();
    let header: Vec<String> = ["page"].iter().chain(&COUNTED).map(|own| (*own).into()).collect();
    table(&mut out, &header, standings.iter().map(row).chain([all]));
    let differing = standings.iter().flat_map(|page| {
        page.differing().map(move |own| {
            let Judged { what, ours, paper, why, .. } = own.clone();
            vec![link(page), what, ours, paper, why]
        })
    });
    let failing = standings.iter().flat_map(|page| {
        page.failing().map(move |own| {
            let whose = if own.whose == Whose::Ours { "ours: " } else { "" };
            let claim = format!("{whose}{}", own.text);
            vec![link(page), claim, own.why.clone(), own.seen_from.clone()]
        })
    });
    let columns = ["page", "figure", "ours", "paper", "why"];
    section(&mut out, "Figures that differ", &columns, differing.collect());
    let columns = ["page", "claim", "why", "seen from"];
    section(&mut out, "Claims that do not hold", &columns, failing.collect());
    out
}

fn section(out: &mut String, heading: &str, header: &[&str], rows: Vec<Vec<String>>) {
    if !rows.is_empty() {
        _ = writeln!(out, "## {heading}\n");
        table(out, &header.iter().map(|own| (*own).into()).collect::<Vec<_>>(), rows);
    }
}

/// What the overview begins with.
const WORDS: &str = "Written by `dolmen reproduce` from the pages beside it, each of which states its rules, its command, and whether it is of a full run or a quick one. Figures stand beside printed ones, and are not judged where \
     the data are others than the paper's, or nothing is printed. Claims are the papers' own; those of ours are what else is seen. The tables of each page lie beside it as CSV, its pictures as SVG.";
