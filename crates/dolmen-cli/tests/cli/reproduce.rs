//! `reproduce`: where its pages go is looked at before the work, every experiment is run once, and what it says can be read.

use std::fs;

use crate::folder::Folder;

/// Takes a moment, and writes three files.
fn figure_to(folder: &str) -> Vec<&str> {
    vec!["reproduce", "sw99-fig3", "--quick", "-o", folder]
}

#[test]
fn a_file_in_the_place_of_the_folder_is_refused_before_the_work() {
    let folder = Folder::with("taken", "here already\n");
    // All experiments would take hours.
    for path in ["taken", "taken/results"] {
        let words = ["taken", "is a file, not a folder"];
        folder.refuses_naming(&["reproduce", "--all", "-o", path], &words);
    }
    assert_eq!(folder.read("taken"), "here already\n");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_refused_before_the_work() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let shut = folder.path("shut");
    fs::create_dir(&shut).unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o555)).unwrap();
    // Who may do everything is not kept out by permissions: there is nothing to see then.
    if fs::write(shut.join("probe"), "").is_err() {
        folder.refuses_naming(&["reproduce", "--all", "-o", "shut"], &["shut"]);
    }
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn results_are_shown_even_if_they_cannot_be_written() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("results/sw99-fig3.md/in the way")).unwrap();
    let outcome = folder.dolmen(&figure_to("results"));
    assert_ne!(outcome.code, 0);
    assert!(outcome.stdout.contains("sw99-fig3: "), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("sw99-fig3.md"), "{}", outcome.stderr);
    let outcome = folder.dolmen(&[&figure_to("results")[..], &["--format", "json"]].concat());
    assert_ne!(outcome.code, 0);
    let shown: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(shown[0]["name"], "sw99-fig3");
    assert_eq!(shown[0]["files"].as_array().unwrap().len(), 0);
}

#[test]
fn an_experiment_that_is_named_twice_is_run_once() {
    let folder = Folder::new();
    let said = folder.succeeds(&["reproduce", "sw99-fig3", "sw99-fig3", "--quick"]);
    assert_eq!(said.matches("sw99-fig3: ").count(), 1, "{said}");
    let made = folder.succeeds(&figure_to("new/results"));
    assert_eq!(made.matches("\nwrote ").count(), 4, "three files and the overview: {made}");
    assert!(folder.path("new/results/sw99-fig3.md").is_file());
}

/// What is said on stdout does not depend on how long it took, and rules are stated where there is something that they decide.
#[test]
fn stdout_is_the_same_from_run_to_run() {
    let folder = Folder::new();
    let of = |name: &'static str| folder.succeeds(&["reproduce", name, "--quick"]);
    let figure = of("sw99-fig3");
    assert_eq!(figure, of("sw99-fig3"));
    assert!(!figure.contains("standard error"), "there is no claim and no figure: {figure}");
    let section = of("sw99-section2");
    assert!(section.contains("said in brackets") && !section.contains("last column"), "{section}");
    assert!(section.contains("A figure agrees if"), "{section}");
}

/// Reasons stand below the rows that they belong to, in lines that can be read.
#[test]
fn reasons_are_broken_into_lines() {
    let folder = Folder::new();
    let said = folder.succeeds(&["reproduce", "sw99-galaxies", "--quick"]);
    let table = said.split("Modes of the stacked density\n").nth(1).unwrap();
    let lines: Vec<&str> = table.lines().take(3).collect();
    assert!(!lines[0].contains("why") && lines[1].contains("other data"), "{table}");
    assert_eq!(lines[2], "    a stand-in: draws that are made up");
}

#[test]
fn a_page_names_its_seed_and_a_folder_of_which_nothing_is_used_is_told() {
    let folder = Folder::new();
    let arguments = [&figure_to("seeded")[..], &["--seed", "7", "--data", "."]].concat();
    let outcome = folder.dolmen(&arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing there was used"), "{}", outcome.stderr);
    let page = folder.read("seeded/sw99-fig3.md");
    assert!(page.contains("`dolmen reproduce sw99-fig3 --quick --seed 7`"), "{page}");
    fs::create_dir(folder.path("galaxies.csv")).unwrap();
    let asked = ["reproduce", "sw99-galaxies", "--quick", "--data", "."];
    folder.refuses_naming(&asked, &["galaxies.csv", "is a folder"]);
}

/// Pages of several runs are on one overview; what several experiments found stands in a table at the end.
#[test]
fn pages_are_counted_on_one_page() {
    let folder = Folder::new();
    let first = folder.succeeds(&figure_to("results"));
    assert!(!first.contains("figures agree"), "one experiment needs no table: {first}");
    let more = ["reproduce", "sw99-section2", "ot95-fig1", "--quick", "-o", "results"];
    let said = folder.succeeds(&more);
    let table = said.split("\nexperiment ").nth(1).unwrap_or_else(|| panic!("no table: {said}"));
    let row = |name: &str| table.lines().find(|line| line.starts_with(name)).map(String::from);
    let counts = |name: &str| -> Vec<usize> {
        let row = row(name).unwrap_or_default();
        row.split_whitespace().skip(1).map(|cell| cell.parse().unwrap()).collect()
    };
    let [section, figure] = ["sw99-section2", "ot95-fig1"].map(counts);
    let sums: Vec<usize> = section.iter().zip(&figure).map(|(a, b)| a + b).collect();
    assert_eq!(sums[..2], [2, 0], "{table}");
    assert_eq!(counts("all"), sums, "{table}");
    let overview = folder.read("results/overview.md");
    for name in ["sw99-fig3", "sw99-section2", "ot95-fig1"] {
        assert!(overview.contains(&format!("({name}.md)")), "{name}: {overview}");
    }
}
