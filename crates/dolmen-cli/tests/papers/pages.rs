//! One quick run of all experiments, and its pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

/// The run: the first test that asks for a page makes it, the others wait.
pub(crate) static QUICK: LazyLock<Quick> = LazyLock::new(Quick::run);

/// Where its pages are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("quick-papers")
}

/// The page of an experiment.
pub(crate) fn page(name: &str) -> &'static Page {
    let page = QUICK.pages.iter().find(|page| page.name == name);
    page.unwrap_or_else(|| panic!("{name} was not run"))
}

/// What the program said, and how long it took.
pub(crate) struct Quick {
    pub(crate) pages: Vec<Page>,
    pub(crate) seconds: f64,
}

impl Quick {
    fn run() -> Self {
        let folder = folder();
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        let start = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_dolmen"))
            .args(["reproduce", "--all", "--quick", "--format", "json", "-o"])
            .arg(&folder)
            .output()
            .unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        Self { pages: serde_json::from_slice(&output.stdout).unwrap(), seconds }
    }
}

/// A page, as far as tests look at it.
#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) introduction: Vec<String>,
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) notes: Vec<String>,
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Comparison {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) about: Vec<String>,
    ours: Option<Value>,
    paper: Option<Value>,
    pub(crate) runs: usize,
    pub(crate) verdict: String,
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) whose: Whose,
    pub(crate) finding: Finding,
    pub(crate) evidence: String,
    pub(crate) rule: Option<String>,
    pub(crate) why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Whose {
    Paper,
    Ours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Finding {
    Fails,
    Open,
    Holds,
}

impl Claim {
    pub(crate) fn holds(&self) -> bool {
        self.finding == Finding::Holds
    }
}

impl Line {
    /// Our figure; NaN if there is none, or no finite one.
    pub(crate) fn ours(&self) -> f64 {
        self.ours.as_ref().and_then(|own| own["mean"].as_f64()).unwrap_or(f64::NAN)
    }

    /// The printed one.
    pub(crate) fn paper(&self) -> Option<f64> {
        self.paper.as_ref().and_then(|own| own["value"].as_f64())
    }

    pub(crate) fn why(&self) -> &str {
        self.why.as_deref().unwrap_or_default()
    }
}

impl Page {
    pub(crate) fn file(&self, name: &str, ending: &str) -> PathBuf {
        folder().join(format!("{}-{name}.{ending}", self.name))
    }

    pub(crate) fn svg(&self, name: &str) -> String {
        fs::read_to_string(self.file(name, "svg")).unwrap()
    }

    pub(crate) fn markdown(&self) -> String {
        fs::read_to_string(folder().join(format!("{}.md", self.name))).unwrap()
    }

    /// Rows of a table's file.
    pub(crate) fn rows_of(&self, name: &str) -> usize {
        let text = fs::read_to_string(self.file(name, "csv")).unwrap();
        text.lines().count() - 1
    }

    /// All figures that stand beside printed ones.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Comparison, &Line)> {
        self.comparisons.iter().flat_map(|own| own.lines.iter().map(move |line| (own, line)))
    }

    /// How many came to a verdict.
    pub(crate) fn verdicts(&self, verdict: &str) -> usize {
        self.lines().filter(|(_, line)| line.verdict == verdict).count()
    }

    pub(crate) fn table(&self, name: &str) -> &Table {
        let table = self.tables.iter().find(|table| table.name == name);
        table.unwrap_or_else(|| panic!("{}: no table '{name}'", self.name))
    }

    /// The claim that contains these words.
    pub(crate) fn claim(&self, words: &str) -> &Claim {
        let claim = self.claims.iter().find(|claim| claim.text.contains(words));
        claim.unwrap_or_else(|| panic!("{}: no claim says '{words}'", self.name))
    }

    pub(crate) fn claims_of(&self, whose: Whose) -> Vec<&str> {
        let own = self.claims.iter().filter(|claim| claim.whose == whose);
        own.map(|claim| claim.text.as_str()).collect()
    }

    pub(crate) fn assert_holds(&self, words: &str) {
        let claim = self.claim(words);
        assert!(claim.holds(), "{}: {claim:#?}", self.name);
    }

    /// All claims hold, and there are as many as expected.
    pub(crate) fn assert_all_hold(&self, claims: usize) {
        assert_eq!(self.claims.len(), claims, "{}: {:?}", self.name, self.claims);
        let broken: Vec<&Claim> = self.claims.iter().filter(|claim| !claim.holds()).collect();
        assert!(broken.is_empty(), "{}: {broken:#?}", self.name);
    }
}
