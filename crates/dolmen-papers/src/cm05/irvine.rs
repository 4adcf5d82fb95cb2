//! Table 1: repeated cross-validation on data sets. Those that may be carried are few, so the reader may bring more.

use std::path::{Path, PathBuf};

use dolmen::error::{Error, Result};
use dolmen::evaluate::compare::{Comparison, Duel};
use dolmen::recipe::{CompareRecipe, Data, Reading, Recipe, TargetTask, Versus};
use dolmen::spec::Spec;
use dolmen::table::{self, ReadOptions, Table};

use super::copies;
use super::outcomes::{Beside, METHODS, Setting};
use crate::data::Carried;
use crate::page::Table as Shown;
use crate::{Context, Effort, Page};

/// Table 1 as printed, over 38 sets: AUC, error rate, log p.
const TABLE: Setting = Setting {
    paper: [
        [[7, 24, 7], [10, 22, 6], [13, 18, 7]],
        [[26, 11, 1], [25, 8, 5], [29, 4, 5]],
        [[12, 20, 6], [18, 18, 2], [29, 5, 4]],
        [[14, 9, 15], [17, 11, 10], [26, 6, 6]],
    ],
    what: "data sets",
    exception: Some(("MAPLMD - AODE0", "AUC")),
    overlapping: true,
};

/// The carried sets, by the column that holds the classes.
const CARRIED: [(Carried, &str, &str); 5] = [
    (Carried::Iris, "iris", "Species"),
    (Carried::Penguins, "penguins", "species"),
    (Carried::Penguins, "penguins", "island"),
    (Carried::Penguins, "penguins", "sex"),
    (Carried::Sacramento, "sacramento", "type"),
];

/// Rows beyond which a set that the reader brings is left to full runs.
const QUICK_ROWS: usize = 1000;
/// Sets that are shown one by one at most.
const SHOWN: usize = 10;
/// The paper discretises into 5 intervals of equal frequency and takes 10 times 10 folds.
const FOLDS: usize = 10;
/// The carried sets are small: a quick run repeats the folds as often. One draw of them decides too little, which the page shows.
const REPEATS: usize = 10;

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([format!(
        "{REPEATS} times {FOLDS}-fold cross-validation; the pairs of the paper, win, draw or loss by the paired t-test on the folds at 95 %, which is the \
         paper's, and by Nadeau and Bengio's corrected one, which does not take overlapping training parts for independent. Numbers are cut into five \
         intervals of equal frequency, learned in the fold. Claims are judged measure by measure, as the paper does: ahead is what wins more sets than it loses, by two \
         standard errors over the sets."
    )]);
    let mut compared: Vec<(String, Comparison)> = Vec::new();
    let mut once: Vec<Comparison> = Vec::new();
    for (set, name, target) in CARRIED {
        let recipe = recipe(target)?;
        let table = set.table(context.run)?;
        let known = table.column(target)?.present();
        let data = recipe.data(table.select(&known))?;
        once.push(compare(recipe.clone(), &data, 1, context)?);
        compared.push((format!("{name} ({target})"), compare(recipe, &data, REPEATS, context)?));
    }
    for path in brought(context)? {
        match of_file(&path, context) {
            Ok(Tried::Compared(comparison)) => {
                page.with_data = true;
                compared.push((stem(&path), *comparison));
            }
            Ok(Tried::LeftOut(why)) => page.notes.push(format!("{}: {why}.", stem(&path))),
            Err(error) => page.notes.push(format!("{}: left out, {error}.", stem(&path))),
        }
    }
    let sets: Vec<&[Duel]> = compared.iter().map(|(_, own)| own.duels.as_slice()).collect();
    let why = format!("{} sets, not the paper's 38, which it does not name", sets.len());
    TABLE.judge(&mut page, &sets, Beside::Other(&why));
    page.tables.push(of_one_draw(&once));
    page.tables.push(figures(&compared));
    page.notes.push(
        "Quick runs repeat the folds as often as full ones. That was decided after one draw of the folds had failed a claim, so the outcomes of one draw on the \
         carried sets are shown, too."
            .into(),
    );
    page.notes.push(format!(
        "The paper has 38 sets of the Irvine repository, of which it names none; here are {}, of which {} are carried and three are one table with other \
         targets. The errors of the shares know the sets' number, not how unlike they are.",
        compared.len(),
        CARRIED.len()
    ));
    if page.with_data {
        let names: Vec<&str> =
            compared[CARRIED.len()..].iter().map(|(name, _)| name.as_str()).collect();
        page.notes.push(format!("From the reader's folder: {}.", names.join(", ")));
    } else {
        page.notes.push(
            "`--data FOLDER` adds every CSV file there that no other experiment asks for and that is no copy of a carried set; its last column holds the classes, two of which need ten rows at least.".into(),
        );
    }
    Ok(page)
}

fn recipe(target: &str) -> Result<Recipe> {
    Ok(Recipe {
        target: Some(target.into()),
        task: Some(TargetTask::Classify),
        members: METHODS.iter().map(|text| Spec::parse(text)).collect::<Result<_>>()?,
        reading: Reading { all_columns: true, ..Reading::default() },
        ..Recipe::default()
    })
}

fn compare(
    recipe: Recipe,
    data: &Data,
    repeats: usize,
    context: &Context<'_>,
) -> Result<Comparison> {
    let versus = Versus {
        repeats: Some(repeats),
        outer_folds: Some(FOLDS),
        members_only: true,
        ..Versus::default()
    };
    CompareRecipe { recipe, versus }.compare(data, context.run)
}

/// The files that the reader brings, by name, but for those that other experiments ask for: one folder serves all.
fn brought(context: &Context<'_>) -> Result<Vec<PathBuf>> {
    let Some(folder) = context.data else { return Ok(Vec::new()) };
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, error))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_of_another = |path: &Path| {
        let mut named = crate::sw99::files().chain(crate::him19::files());
        named.any(|file| path.file_name().is_some_and(|own| own == file))
    };
    let is_set =
        |path: &PathBuf| path.extension().is_some_and(|own| own == "csv") && !is_of_another(path);
    let mut files: Vec<PathBuf> = paths.filter(is_set).collect();
    files.sort();
    Ok(files)
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What becomes of a file.
enum Tried {
    Compared(Box<Comparison>),
    /// Why it does not count, in words.
    LeftOut(String),
}

/// The comparison on a file, or why there is none.
fn of_file(path: &Path, context: &Context<'_>) -> Result<Tried> {
    let table = table::read(path, &ReadOptions::default(), context.run)?;
    let target = table.columns().last().map_or("", |(name, _)| name).to_string();
    if let Some(why) = no_set(path, &table, &target, context)? {
        return Ok(Tried::LeftOut(why));
    }
    let recipe = recipe(&target)?;
    let data = recipe.read_data(path, context.run)?;
    Ok(Tried::Compared(Box::new(compare(recipe, &data, REPEATS, context)?)))
}

/// Why a file does not count as a set of its own, if it does not.
fn no_set(
    path: &Path,
    table: &Table,
    target: &str,
    context: &Context<'_>,
) -> Result<Option<String>> {
    for (set, name, _) in CARRIED {
        if copies::is_copy(table, &set.table(context.run)?) {
            return Ok(Some(format!("left out, a copy of the carried {name}, which counts once")));
        }
    }
    let train = copies::trained_with(path).filter(|name| path.with_file_name(name).is_file());
    if let Some(train) = train {
        return Ok(Some(format!("left out, the test part of {train}: one set counts once")));
    }
    if !copies::are_classes(table.column(target)?) {
        return Ok(Some(format!(
            "left out, its last column '{target}' holds numbers, not classes"
        )));
    }
    let enough = copies::classes_of(table.column(target)?, FOLDS);
    if enough < 2 {
        return Ok(Some(format!(
            "left out, too few rows: {enough} of its classes have the {FOLDS} rows that {FOLDS} folds need, and two must"
        )));
    }
    let is_large = context.effort == Effort::Quick && table.rows() > QUICK_ROWS;
    Ok(is_large.then(|| "left to full runs".into()))
}

/// What the paper claims, by one draw of the folds.
fn of_one_draw(once: &[Comparison]) -> Shown {
    let sets: Vec<&[Duel]> = once.iter().map(|own| own.duels.as_slice()).collect();
    let columns = ["claim", "here", "seen from"];
    let mut table = Shown::new("once", "The same claims by one draw of the folds", columns);
    for claim in TABLE.claims(&sets) {
        table.row([claim.text, claim.finding.words().into(), claim.evidence].map(Into::into));
    }
    table
}

/// The methods' figures on each set.
fn figures(compared: &[(String, Comparison)]) -> Shown {
    let columns = ["set", "rows", "method", "AUC", "error", "log p", "se of log p"];
    let mut table = Shown::new("sets", "The methods, set by set", columns);
    for (name, comparison) in compared {
        for method in &comparison.methods {
            let figure = |wanted: &str| method.figures.iter().find(|own| own.name == wanted);
            let mean = |wanted: &str| figure(wanted).map_or(f64::NAN, |own| own.mean);
            let se = figure("log_loss").map_or(f64::NAN, |own| own.se);
            table.row([
                name.as_str().into(),
                comparison.rows.into(),
                method.name.as_str().into(),
                mean("auc").into(),
                mean("error").into(),
                (-mean("log_loss")).into(),
                se.into(),
            ]);
        }
    }
    // Five lines for each of many sets are for a file.
    if compared.len() > SHOWN { table.in_file_only() } else { table }
}
