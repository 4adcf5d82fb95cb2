//! Quick runs of the experiments: what the papers claim must hold, and everything must be written.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "times and claims are told to those who ask for them")]

use std::path::Path;

use dolmen::Run;
use dolmen_papers::{Context, Effort, Page, Verdict, experiments, find, named};

/// A quick run without data of the reader's.
fn page(name: &str) -> Page {
    page_with(name, None)
}

fn page_with(name: &str, data: Option<&Path>) -> Page {
    let run = Run::new(0);
    let context = Context { run: &run, effort: Effort::Quick, data };
    find(name).unwrap().page(&context).unwrap()
}

/// The claims that do not hold.
fn broken(page: &Page) -> Vec<String> {
    let failed = page.claims.iter().filter(|claim| !claim.holds);
    failed.map(|claim| format!("{}: {} ({})", page.name, claim.text, claim.evidence)).collect()
}

/// All claims of an experiment hold, and there are as many as expected.
fn all_hold(name: &str, claims: usize) -> Page {
    let page = page(name);
    assert_eq!(page.claims.len(), claims, "{name}: {:?}", page.claims);
    assert!(page.holds(), "{:#?}", broken(&page));
    page
}

#[test]
fn stacking_is_first_among_honest_methods_on_iris() {
    let page = all_hold("sw99-table1", 2);
    assert!(page.claims[0].text.contains("first among the honest"), "{:?}", page.claims);
    assert!(page.notes.iter().any(|note| note.contains("reaven_miller_diabetes.csv")));
    assert!(page.notes.iter().any(|note| note.contains("GPL")));
    let lines = &page.comparisons[0].lines;
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines.iter().all(|line| line.paper.is_some() && line.ours.is_some()));
    assert!(page.verdicts(Verdict::Agrees) >= 3, "{:?}", page.comparisons);
    // A figure that differs says why.
    assert!(lines.iter().all(|l| l.verdict != Verdict::Differs || l.why.is_some()));
}

#[test]
fn mixtures_have_most_of_the_weight_on_iris() {
    let page = all_hold("sw99-table2", 1);
    let total: f64 = page.comparisons[0].lines.iter().map(|line| line.ours.unwrap().mean).sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
}

#[test]
fn stacks_of_one_column_are_as_the_paper_draws_them() {
    all_hold("sw99-fig1", 2);
    all_hold("sw99-fig2", 2);
}

#[test]
fn stacking_pays_where_one_model_is_true() {
    all_hold("sw99-fig4", 12);
    all_hold("sw99-fig5", 5);
}

#[test]
fn growing_families_do_not_overfit() {
    for name in ["sw99-fig6", "sw99-fig7", "sw99-fig8"] {
        all_hold(name, 4);
    }
}

#[test]
fn combining_gains_what_theory_says() {
    let page = all_hold("sw99-section2", 4);
    assert_eq!(page.verdicts(Verdict::Differs), 0, "{:?}", page.comparisons);
}

#[test]
fn a_prior_is_ahead_of_none_and_averages_ahead_of_single_mixtures() {
    all_hold("ot95-fig1", 1);
    all_hold("ot95-fig2", 3);
    all_hold("ot95-beta", 4);
    let page = page("ot95-averaging");
    assert_eq!(page.claims.len(), 10, "{:?}", page.claims);
    // That resampling beats other starts does not hold on every set, and the page says so.
    let failed = broken(&page);
    assert!(failed.iter().all(|claim| claim.contains("better than starts alone")), "{failed:#?}");
}

#[test]
fn the_same_seed_gives_the_same_page_on_any_number_of_threads() {
    let page = |threads: usize| {
        let run = Run::with_threads(3, threads).unwrap();
        let context = Context { run: &run, effort: Effort::Quick, data: None };
        find("sw99-fig7").unwrap().page(&context).unwrap().markdown()
    };
    assert_eq!(page(1), page(3));
}

#[test]
fn pages_are_written_whole() {
    let page = page("sw99-fig3");
    let folder = tempfile::tempdir().unwrap();
    let files = page.write(&folder.path().join("results")).unwrap();
    let names: Vec<&str> =
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["sw99-fig3.md", "sw99-fig3-scatter.svg", "sw99-fig3-rows.csv"]);
    let read = |k: usize| std::fs::read_to_string(&files[k]).unwrap();
    assert!(read(0).contains("![Two hundred draws from four Gaussians](sw99-fig3-scatter.svg)"));
    assert!(read(1).starts_with("<svg"));
    assert_eq!(read(2).lines().count(), 201);
}

#[test]
fn names_are_unlike_and_misspelt_ones_are_mended() {
    let mut names: Vec<&str> = experiments().iter().map(|experiment| experiment.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    let error = find("sw99-tabel1").unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean 'sw99-table1'?"));
    assert_eq!((named("him19").unwrap().len(), named("sw99-fig1").unwrap().len()), (4, 1));
    assert!(named("sw9").is_err());
}

/// With the papers' own data, where somebody has them.
#[test]
fn brought_data_are_used() {
    let Some(data) = std::env::var_os("DOLMEN_PAPERS_DATA") else {
        println!("skipped: DOLMEN_PAPERS_DATA names no folder with the papers' data");
        return;
    };
    let page = page_with("sw99-table2", Some(Path::new(&data)));
    let sets: Vec<&str> =
        page.comparisons[0].lines.iter().map(|line| line.about[0].as_str()).collect();
    assert!(sets.contains(&"diabetes"), "{sets:?}");
}

/// Every experiment runs, within its time, and every figure can be rendered. `DOLMEN_PAPERS_SHOW=FOLDER` keeps pages and pictures,
/// to be looked at; `DOLMEN_PAPERS_ONLY=sw99` runs some, `DOLMEN_PAPERS_DATA=FOLDER` brings data.
#[test]
fn every_figure_can_be_rendered() {
    let folder = std::env::var_os("DOLMEN_PAPERS_SHOW");
    let data = std::env::var_os("DOLMEN_PAPERS_DATA");
    let only = std::env::var("DOLMEN_PAPERS_ONLY").unwrap_or_default();
    for experiment in experiments().iter().filter(|own| own.name.contains(&only)) {
        let start = std::time::Instant::now();
        let page = page_with(experiment.name, data.as_deref().map(Path::new));
        println!("{}: {:.1} s", experiment.name, start.elapsed().as_secs_f64());
        broken(&page).iter().for_each(|claim| println!("  does not hold: {claim}"));
        let shows = !page.figures.is_empty() || !page.tables.is_empty();
        assert!(shows, "{} shows nothing", page.name);
        for figure in &page.figures {
            let png = dolmen_report::png(&figure.svg, 1.0).unwrap();
            assert!(png.len() > 2000, "{}-{}", page.name, figure.name);
            if let Some(folder) = &folder {
                let file = format!("{}-{}.png", page.name, figure.name);
                std::fs::write(Path::new(folder).join(file), png).unwrap();
            }
        }
        if let Some(folder) = &folder {
            page.write(Path::new(folder)).unwrap();
        }
    }
}
