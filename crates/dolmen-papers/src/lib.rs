//! The experiments of the papers that Dolmen implements, run again: our figures beside the printed ones.
//!
//! One folder per paper, one [`Experiment`] per table or figure. Everything that is fitted, split, combined or scored is the
//! library's; here stand only the data, the settings of the paper, its printed figures, and what it claims.
//!
//! | file | holds |
//! | --- | --- |
//! | `page` | what an experiment gives: tables with verdicts, claims, figures; written as Markdown, CSV and SVG |
//! | `verdict` | when a figure agrees with the printed one, and when a claim holds: the one place where that is decided |
//! | `data` | the data sets that are carried, and those that the reader brings |
//! | `context` | how an experiment is run: seed, threads, effort |
//!
//! ```
//! let experiment = dolmen_papers::find("sw99-table1")?;
//! assert!(experiment.source.contains("Smyth"));
//! assert!(dolmen_papers::find("sw99-tabel1").is_err());
//! # Ok::<(), dolmen::Error>(())
//! ```

mod ch14;
mod cm05;
mod contest;
mod context;
pub mod data;
mod drawn;
mod him19;
mod lead;
mod ot95;
pub mod page;
mod sw99;
mod truth;
mod verdict;

use std::sync::LazyLock;

use dolmen::error::{Error, Result};

pub use context::{Context, Effort};
pub use page::Page;
pub use verdict::{CLAIMS_RULE, CLAIMS_RULE_OF_LINES, FIGURES_RULE, Finding, Printed, Verdict};

/// A table or figure of a paper that can be run again.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// By which it is asked for, such as `sw99-table1`.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The paper and the place in it.
    pub source: &'static str,
    /// Runs it.
    pub run: fn(&Context<'_>) -> Result<Page>,
}

impl Experiment {
    /// The short name of the paper, such as `sw99`.
    pub fn paper(&self) -> &'static str {
        self.name.split('-').next().unwrap_or(self.name)
    }

    /// Runs it and signs the page with its name.
    pub fn page(&self, context: &Context<'_>) -> Result<Page> {
        let own = Context { run: &context.run.stream(self.name).named(self.name), ..*context };
        let mut page = (self.run)(&own)?;
        page.name = self.name.into();
        page.title = self.title.into();
        page.source = self.source.into();
        page.effort = context.effort;
        Ok(page)
    }
}

/// All experiments, paper by paper.
pub fn experiments() -> &'static [Experiment] {
    static ALL: LazyLock<Vec<Experiment>> = LazyLock::new(|| {
        let papers = [
            sw99::EXPERIMENTS,
            ot95::EXPERIMENTS,
            him19::EXPERIMENTS,
            cm05::EXPERIMENTS,
            ch14::EXPERIMENTS,
        ];
        papers.concat()
    });
    &ALL
}

/// The experiment of this name; the error names the nearest one.
pub fn find(name: &str) -> Result<&'static Experiment> {
    let all = experiments();
    all.iter().find(|experiment| experiment.name == name).ok_or_else(|| {
        Error::param("experiment", "one of those that `dolmen reproduce --list` names", name)
            .suggesting(name, all.iter().map(|experiment| experiment.name))
    })
}

/// The experiments that a name stands for: one, or all of a paper's (`sw99`).
pub fn named(name: &str) -> Result<Vec<&'static Experiment>> {
    let of_paper: Vec<&Experiment> =
        experiments().iter().filter(|experiment| experiment.paper() == name).collect();
    if of_paper.is_empty() { Ok(vec![find(name)?]) } else { Ok(of_paper) }
}
