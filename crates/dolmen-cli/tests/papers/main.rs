//! `dolmen reproduce --all --quick`, run once: every experiment leaves a whole page, and the orderings that the papers claim hold.
//!
//! What needs other data or another seed is tested in `dolmen-papers`. With `--nocapture` the test of the whole run tells its time.
//!
//! | file | holds |
//! | --- | --- |
//! | `pages` | the run, and its pages as the program's JSON has them |
//! | `densities` | the claims of Smyth and Wolpert, and of Ormoneit and Tresp |
//! | `stacks` | those of Himmetoglu, of Cerquides and Lopez de Mantaras, and of the chapter |

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "times and claims are told to those who ask for them")]

mod densities;
mod pages;
mod stacks;

use std::collections::BTreeSet;
use std::fs;

use dolmen::Run;
use dolmen::table::{self, Column, ReadOptions};

use dolmen_papers::page::{OVERVIEW, Whose};
use pages::{Claim, Finding, Page, QUICK};

/// Seconds that a quick run of everything may take.
const LIMIT: f64 = 180.0;

/// Every experiment of the list is run, once, and all of them within their time.
#[test]
fn all_experiments_are_run_in_time() {
    let ran: Vec<&str> = QUICK.pages.iter().map(|page| page.name.as_str()).collect();
    let listed: Vec<&str> = dolmen_papers::experiments().iter().map(|own| own.name).collect();
    assert_eq!(ran, listed);
    println!("reproduce --all --quick: {:.0} s", QUICK.seconds);
    for page in &QUICK.pages {
        for claim in page.claims.iter().filter(|claim| !claim.holds()) {
            println!("{}: {:?}: {} ({})", page.name, claim.finding, claim.text, claim.evidence);
        }
    }
    // Others may have the processors while tests are run: then the time tells nothing.
    if std::env::var_os("CI").is_some() {
        assert!(QUICK.seconds < LIMIT, "{} s", QUICK.seconds);
    }
}

/// Each has figures, numbers and words, in files that are not empty; nothing else lies in the folder.
#[test]
fn pages_are_whole() {
    let mut files = BTreeSet::new();
    for page in &QUICK.pages {
        let text = page.markdown();
        let command = format!("`dolmen reproduce {} --quick`", page.name);
        assert!(text.contains(&command), "{} does not say {command}", page.name);
        assert!(!page.figures.is_empty(), "{} shows nothing", page.name);
        assert!(!page.introduction.is_empty(), "{} says nothing", page.name);
        assert!(!page.tables.is_empty() || !page.comparisons.is_empty(), "{}", page.name);
        for figure in &page.figures {
            let name = format!("{}-{}.svg", page.name, figure.name);
            assert!(text.contains(&name), "{name} is not shown");
            let svg = page.svg(&figure.name);
            assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{name}");
            assert!(dolmen_report::png(&svg, 1.0).unwrap().len() > 2000, "{name}");
        }
        for file in &page.files {
            assert!(fs::metadata(file).unwrap().len() > 20, "{}", file.display());
            files.insert(file.clone());
        }
    }
    files.insert(pages::folder().join(OVERVIEW));
    let there = fs::read_dir(pages::folder()).unwrap();
    let there: BTreeSet<_> = there.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(there, files);
}

/// The overview, which is read from the pages, counts what the program's JSON has, and shows all that differs or does not hold.
#[test]
fn the_overview_counts_what_the_pages_say() {
    let standings = dolmen_papers::page::standings(&pages::folder());
    assert_eq!(standings.len(), QUICK.pages.len());
    let text = fs::read_to_string(pages::folder().join(OVERVIEW)).unwrap();
    for (own, page) in standings.iter().zip(&QUICK.pages) {
        let figures = page.lines().count();
        let (agree, differ) = (page.verdicts("agrees"), page.verdicts("differs"));
        assert_eq!(own.of_figures(), [agree, differ, figures - agree - differ], "{}", page.name);
        for (whose, theirs) in
            [(Whose::Paper, pages::Whose::Paper), (Whose::Ours, pages::Whose::Ours)]
        {
            let count = |finding: Finding| {
                let is_such = |own: &&Claim| own.whose == theirs && own.finding == finding;
                page.claims.iter().filter(is_such).count()
            };
            let counts = [Finding::Holds, Finding::Open, Finding::Fails].map(count);
            assert_eq!(own.of_claims(whose), counts, "{}", page.name);
        }
        assert!(text.contains(&format!("({}.md)", page.name)), "{} is not linked", page.name);
    }
    for claim in QUICK.pages.iter().flat_map(|page| &page.claims) {
        let fails = claim.finding == Finding::Fails;
        assert_eq!(claim.why.as_ref().is_some_and(|why| !why.is_empty()), fails, "{claim:?}");
        assert!(!fails || text.contains(&claim.text), "{claim:?} is not on the overview");
    }
}

/// A figure that differs says why, one that agrees is as near as the rule allows, and the file tells what that is made of.
#[test]
fn figures_are_judged_by_the_rule() {
    let mut judged = 0;
    for page in &QUICK.pages {
        let text = page.markdown();
        let mut rule = false;
        for (comparison, line) in page.lines() {
            let place = format!("{} {:?}", page.name, line.about);
            match line.verdict.as_str() {
                "differs" => assert!(!line.why().is_empty(), "{place} does not say why"),
                "stand-in" => assert!(!line.why().is_empty(), "{place} does not say of what"),
                _ => {}
            }
            rule |= ["agrees", "differs"].contains(&line.verdict.as_str());
            assert_eq!(page.rows_of(&comparison.name), comparison.lines.len(), "{place}");
        }
        assert_eq!(text.contains(dolmen_papers::FIGURES_RULE), rule, "{}", page.name);
        assert_eq!(text.contains(dolmen_papers::CLAIMS_RULE), !page.claims.is_empty());
        judged += page.comparisons.iter().map(|own| as_allowed(page, &own.name)).sum::<usize>();
    }
    assert!(judged > 20, "{judged} figures");
}

/// Looks at the file of a comparison; how many of its figures are judged.
fn as_allowed(page: &Page, name: &str) -> usize {
    let path = page.file(name, "csv");
    let table = table::read(&path, &ReadOptions::default(), &Run::new(0)).unwrap();
    let number = |name: &str, row: usize| match table.column(name) {
        Ok(Column::Numeric(values)) => values[row],
        _ => f64::NAN,
    };
    let or_zero = |value: f64| if value.is_nan() { 0.0 } else { value };
    let mut judged = 0;
    for row in 0..table.rows() {
        let place = format!("{}, line {}", path.display(), row + 2);
        let Ok(Column::Categorical(verdicts)) = table.column("verdict") else { panic!("{place}") };
        let [ours, paper, allowed] = ["ours", "paper", "allowed"].map(|name| number(name, row));
        let [se, paper_se] = ["se", "paper_se"].map(|name| or_zero(number(name, row)));
        let distance = (ours - paper).abs();
        match verdicts.level(row).unwrap_or_default() {
            "agrees" => assert!(distance <= allowed, "{place}"),
            "differs" => assert!(distance > allowed, "{place}"),
            _ => continue,
        }
        // What is left is the rounding of the print.
        let rest = allowed - 2.0 * se.hypot(paper_se);
        assert!((-1e-9..=1.0 + 1e-9).contains(&rest), "{place}: {rest}");
        judged += 1;
    }
    judged
}
