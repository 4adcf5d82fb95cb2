//! Experiments on data that a reader brings, with other seeds and threads, and what they are called by. What the papers claim is
//! tested on one run of the program, in `dolmen-cli`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "tells why nothing is tested")]

use std::path::Path;

use dolmen::Run;
use dolmen_papers::data::Carried;
use dolmen_papers::{Context, Effort, Page, Verdict, experiments, find, named};

const SEED: u64 = 0;

/// A quick run without data of the reader's.
fn quick(name: &str) -> Page {
    quick_with(name, None)
}

fn quick_with(name: &str, data: Option<&Path>) -> Page {
    let run = Run::new(SEED);
    let context = Context { run: &run, effort: Effort::Quick, data };
    find(name).unwrap().page(&context).unwrap()
}

#[test]
fn pages_are_written_whole() {
    let page = quick("sw99-fig3");
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

/// A page made with another seed says which.
#[test]
fn a_seed_is_named() {
    let mut page = quick("sw99-fig3");
    assert!(!page.markdown().contains("--seed"));
    page.seed = 5;
    assert!(page.markdown().contains("`dolmen reproduce sw99-fig3 --quick --seed 5`"));
}

/// A file of the right name that holds another set is refused: its figures would stand beside the paper's.
#[test]
fn a_wrong_file_is_not_taken_for_the_papers_set() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, file: &str, text: &str| {
        std::fs::write(folder.path().join(file), text).unwrap();
        let run = Run::new(0);
        let context = Context { run: &run, effort: Effort::Quick, data: Some(folder.path()) };
        find(name).unwrap().page(&context).unwrap_err().to_string()
    };
    let thousands = (0..82).map(|i| format!("{}\n", 9.172 + 0.31 * f64::from(i)));
    let velocities = format!("velocity\n{}", thousands.collect::<String>());
    let error = refused("sw99-galaxies", "galaxies.csv", &velocities);
    assert!(error.contains("galaxies.csv") && error.contains("not from 9172 to 34279"), "{error}");
    let iris = Carried::Iris.text();
    let error = refused("sw99-fig6", "reaven_miller_diabetes.csv", iris);
    assert!(error.contains("has 150 rows, not 145"), "{error}");
    let error = refused("sw99-fig8", "peterson_barney_2d_673.csv", iris);
    assert!(error.contains("has 150 rows, not 673"), "{error}");
    let error = refused("him19-stackers", "boston.csv", iris);
    assert!(error.contains("has 150 rows, not 506"), "{error}");
}

/// A folder of the file's name is no file, and not missing either.
#[test]
fn a_folder_in_the_place_of_a_set_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("galaxies.csv")).unwrap();
    let run = Run::new(SEED);
    let context = Context { run: &run, effort: Effort::Quick, data: Some(folder.path()) };
    let error = find("sw99-galaxies").unwrap().page(&context).unwrap_err().to_string();
    assert!(error.contains("galaxies.csv") && error.contains("is a folder"), "{error}");
}

/// With the papers' own data, where somebody has them.
#[test]
fn brought_data_are_used() {
    let Some(data) = std::env::var_os("DOLMEN_PAPERS_DATA") else {
        println!("skipped: DOLMEN_PAPERS_DATA names no folder with the papers' data");
        return;
    };
    let page = quick_with("sw99-table2", Some(Path::new(&data)));
    let sets: Vec<&str> =
        page.comparisons[0].lines.iter().map(|line| line.about[0].as_str()).collect();
    assert!(sets.contains(&"diabetes"), "{sets:?}");
}

/// Threads share the work, not the random numbers.
#[test]
fn pages_do_not_depend_on_the_number_of_threads() {
    for name in ["sw99-fig7", "him19-pairs", "ch14-selection", "ch14-experts"] {
        let page = |threads: usize| {
            let run = Run::with_threads(SEED, threads).unwrap();
            let context = Context { run: &run, effort: Effort::Quick, data: None };
            find(name).unwrap().page(&context).unwrap().markdown()
        };
        assert_eq!(page(1), page(3), "{name}");
    }
}

/// A folder of sets is read file by file; one that cannot be used is told, not fatal.
#[test]
fn further_sets_are_compared_too() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: u32| {
        let class = if i.is_multiple_of(3) { "a" } else { "b" };
        format!("{},{},{class}\n", i % 7, (i * i) % 11)
    };
    let rows = (0..60).map(row).collect::<Vec<_>>().concat();
    std::fs::write(folder.path().join("small.csv"), format!("u,v,class\n{rows}")).unwrap();
    std::fs::write(folder.path().join("small_test.csv"), "u,v,class\n1,2,a\n2,1,b\n").unwrap();
    std::fs::write(folder.path().join("small_train.csv"), format!("u,v,class\n{rows}")).unwrap();
    std::fs::write(folder.path().join("empty.csv"), "u,class\n").unwrap();
    std::fs::write(folder.path().join("three.csv"), "u,class\n1,a\n2,b\n3,a\n").unwrap();
    let rare = (0..40).map(|i| format!("{},{}\n", i % 7, if i < 9 { "a" } else { "b" }));
    let rare = rare.collect::<Vec<_>>().concat();
    std::fs::write(folder.path().join("rare.csv"), format!("u,class\n{rare}")).unwrap();
    let iris = Carried::Iris.text().replace("setosa", "Iris-setosa");
    std::fs::write(folder.path().join("flowers.csv"), iris).unwrap();
    let prices = (0..60).map(|i| format!("{},{}.5\n", i % 7, i)).collect::<Vec<_>>().concat();
    std::fs::write(folder.path().join("houses.csv"), format!("rooms,price\n{prices}")).unwrap();
    // What another experiment asks for is no set of this one.
    std::fs::write(folder.path().join("galaxies.csv"), "velocity\n1\n2\n").unwrap();
    let run = Run::new(SEED);
    let context = Context { run: &run, effort: Effort::Quick, data: Some(folder.path()) };
    let page = find("cm05-table1").unwrap().page(&context).unwrap();
    let sets = page.tables.iter().find(|table| table.name == "sets").unwrap();
    assert_eq!(sets.rows.len(), 7 * 5, "five carried sets and two more, five methods each");
    for told in [
        "empty: left out",
        "flowers: left out, a copy of the carried iris",
        "houses: left out, its last column 'price' holds numbers",
        "small_test: left out, the test part of small_train.csv",
        "three: left out, too few rows: 0 of its classes have the 10 rows",
        "rare: left out, too few rows: 1 of its classes have the 10 rows",
    ] {
        assert!(page.notes.iter().any(|note| note.starts_with(told)), "{told}: {:?}", page.notes);
    }
    assert_eq!(page.verdicts(Verdict::Agrees) + page.verdicts(Verdict::Differs), 0);
    assert!(page.verdicts(Verdict::StandIn) > 0, "other sets than the paper's");
    assert!(!page.notes.iter().any(|note| note.contains("galaxies")), "{:?}", page.notes);
}

/// A page says what it used of the reader's, and how to make it again.
#[test]
fn brought_data_are_named() {
    let folder = tempfile::tempdir().unwrap();
    // By its rows and its ends a file is taken for the velocities.
    let between = (1..81).map(|i| 20_000 + 37 * i);
    let rows = std::iter::once(9172).chain(between).chain([34_279]);
    let rows: Vec<String> = rows.map(|velocity: i32| velocity.to_string()).collect();
    let text = format!("velocity\n{}\n", rows.join("\n"));
    std::fs::write(folder.path().join("galaxies.csv"), text).unwrap();
    let run = Run::new(SEED);
    let context = Context { run: &run, effort: Effort::Quick, data: Some(folder.path()) };
    let page = find("sw99-galaxies").unwrap().page(&context).unwrap();
    // How many modes there are is a mean over fits with its error, and the claim goes by that.
    let line = &page.comparisons[0].lines[0];
    assert!(line.runs > 1 && line.ours.unwrap().se.is_some(), "{line:?}");
    assert!(page.claims[0].evidence.contains("(se "), "{:?}", page.claims);
    assert!(page.tables.iter().any(|table| table.name == "spread"));
    // Table and claim go by one rule, and it is stated.
    assert_eq!(page.claims[0].holds(), line.verdict == Verdict::Agrees, "{:?}", page.claims);
    assert!(page.markdown().contains("\"about\" so many may be one more or less"));
    let page = page.markdown();
    assert!(page.contains("`dolmen reproduce sw99-galaxies --quick --data FOLDER`"), "{page}");
    assert!(page.contains("From the reader's folder: `galaxies.csv`") && !page.contains("Missing"));
    let alone = quick("sw99-galaxies").markdown();
    assert!(
        alone.contains("`dolmen reproduce sw99-galaxies --quick`") && alone.contains("Missing")
    );
}

#[test]
fn all_three_papers_are_listed() {
    let count =
        |paper: &str| experiments().iter().filter(|own| own.name.starts_with(paper)).count();
    assert_eq!((count("him19"), count("cm05"), count("ch14")), (4, 3, 9));
}
