//! The tables of a page: members, check, figures, methods; and the recipe to make it again.

use dolmen::evaluate::compare::Comparison;
use dolmen::recipe::{OtherCombination, OtherMember, ScoreReport};
use dolmen::score::Estimate;
use dolmen::score::figures::Estimates;

use super::Again;
use super::html::{Cell, Html};
use super::words::spoken_figure;
use crate::Subject;
use crate::draw::{capital, counted, fixed};
use crate::pictures::{is_estimated, spoken};
use crate::subject::{CHOSEN, OVER_PAIRS};

/// Rows up to which a table of coefficients is open.
const MOST_OPEN: usize = 8;

pub(super) fn tables(subject: &Subject<'_>, html: &mut Html) {
    let has_members = subject.weighing().is_some() || subject.other().is_some();
    if has_members {
        html.section("members", "Members", |html| members(subject, html));
    }
    if subject.check().is_some() {
        html.section("check", "Check", |html| check(subject, html));
    }
    match subject {
        Subject::Score(report) => {
            html.section("scores", "Scores", |html| scored(subject, report, html));
        }
        Subject::Model(view) => {
            if let Some(report) = view.score {
                let title = if subject.knows_rows() {
                    "On the rows it was fitted to"
                } else {
                    "On new rows"
                };
                html.section("new-rows", title, |html| scored(subject, report, html));
            }
        }
        Subject::Comparison(comparison) => {
            html.section("methods-table", "Methods", |html| compared(comparison, None, html));
        }
        Subject::Learning(curve) => html.section("sizes", "Sizes", |html| {
            for point in &curve.sizes {
                let name = format!("{} learned from", counted(point.size, "row"));
                html.element("h3", "", &name);
                compared(&point.comparison, Some(&name), html);
            }
        }),
        Subject::Sets(sets) => html.section("sets", "Sets", |html| {
            for set in &sets.sets {
                let name = file_name(&set.file);
                html.element("h3", "", name);
                compared(&set.comparison, Some(name), html);
            }
        }),
        Subject::Weighing(..) => {}
    }
}

/// The name of a file without its folders, which are of nobody's interest but the one's who has them.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn members(subject: &Subject<'_>, html: &mut Html) {
    if let Some(weighing) = subject.weighing() {
        let interval = |ends: Option<[f64; 2]>| match ends {
            Some([low, high]) => {
                let text = format!("{} – {}", fixed(low, 3), fixed(high, 3));
                Cell { text, value: Some(low) }
            }
            None => Cell::maybe(None),
        };
        let is_estimated = is_estimated(weighing);
        let mut sorted: Vec<_> = weighing.members.iter().collect();
        sorted.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.score.total_cmp(&a.score)));
        let row = |m: &&dolmen::combine::weigh::WeighedMember| {
            let cells = vec![
                Cell::number(m.weight),
                Cell::maybe(m.se.filter(|_| is_estimated)),
                interval(m.interval.filter(|_| is_estimated)),
                Cell::estimate(&Estimate { mean: m.score, se: m.score_se }),
                Cell::maybe(m.loo_loss),
            ];
            (m.name.clone(), cells)
        };
        let rows: Vec<_> = sorted.iter().map(row).collect();
        let header = ["member", "weight", "se", "90 %", "score alone", "loss without"];
        if let Some(sentence) = subject.not_kept() {
            html.element("p", "", &sentence);
        }
        html.table(&score_words(subject), &header, &rows);
    } else if let Some(OtherCombination { members, series, .. }) = subject.other() {
        let has_weights = members.iter().any(|m| m.weight.is_some());
        let row = |m: &OtherMember| {
            let score = Cell::estimate(&Estimate { mean: m.score, se: m.score_se });
            let weight = has_weights.then(|| Cell::maybe(m.weight));
            (m.name.clone(), weight.into_iter().chain([score]).collect())
        };
        let mut sorted: Vec<&OtherMember> = members.iter().collect();
        let weight = |m: &OtherMember| m.weight.unwrap_or(f64::NEG_INFINITY);
        sorted.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(b.score.total_cmp(&a.score)));
        let rows: Vec<_> = sorted.into_iter().map(row).collect();
        let header = ["member", "weight", "score alone"].into_iter();
        let header: Vec<&str> = header.filter(|name| has_weights || *name != "weight").collect();
        html.table(&score_words(subject), &header, &rows);
        for series in series.iter().filter(|series| series.labels.len() <= 200) {
            let rows: Vec<_> = series
                .labels
                .iter()
                .zip(&series.values)
                .map(|(label, v)| (label.clone(), vec![Cell::number(*v)]))
                .collect();
            let caption = format!("What the combination found: {}", series.name);
            let table = |html: &mut Html| html.table(&caption, &["of", &series.name], &rows);
            // Coefficients of many members and classes would push all else off the page.
            if rows.len() > MOST_OPEN {
                html.details(&caption, table);
            } else {
                table(html);
            }
        }
    }
}

fn score_words(subject: &Subject<'_>) -> String {
    format!(
        "Scores are {}; higher is better. After ± stands one standard error of the mean over the rows.",
        subject.score_name()
    )
}

fn check(subject: &Subject<'_>, html: &mut Html) {
    let Some(check) = subject.check() else { return };
    let se = |estimate: &Estimate| vec![Cell::number(estimate.mean), Cell::maybe(estimate.se)];
    let gain = |estimate: &Estimate| vec![Cell::signed(estimate.mean), Cell::maybe(estimate.se)];
    let rows = vec![
        (subject.tried_name().to_string(), se(&check.stack)),
        (CHOSEN.into(), se(&check.best_member)),
        ("equal weights".into(), se(&check.uniform)),
        (format!("gain over {CHOSEN}"), gain(&check.gain_over_best)),
        ("gain over equal weights".into(), gain(&check.gain_over_uniform)),
    ];
    let held_out = if check.nested { "members and weights alike" } else { "the weights" };
    html.table(
        &format!(
            "{} held out from {held_out}, {}",
            counted(check.checked_rows, "row"),
            counted(check.folds, "fold")
        ),
        &["on rows held out", "score", "se"],
        &rows,
    );
    if let Some(figures) = subject.stack().and_then(|stack| stack.figures.as_ref()) {
        let names: Vec<&String> = figures.stack.keys().collect();
        let row = |(name, own): (&str, &Estimates)| {
            (
                name.to_string(),
                names
                    .iter()
                    .map(|figure| {
                        own.get(*figure).map_or_else(|| Cell::maybe(None), Cell::estimate)
                    })
                    .collect(),
            )
        };
        let best = if figures.held_out { CHOSEN } else { "the best member" };
        let rows: Vec<_> = [
            ("the stack", &figures.stack),
            (best, &figures.best_member),
            ("equal weights", &figures.uniform),
        ]
        .into_iter()
        .map(row)
        .collect();
        let spoken: Vec<String> = names.iter().map(|name| spoken_figure(name)).collect();
        let header: Vec<&str> =
            ["method"].into_iter().chain(spoken.iter().map(String::as_str)).collect();
        let caption = format!("The usual figures, with one standard error{}", auc_words(subject));
        html.table(&caption, &header, &rows);
    }
}

/// What the AUC is, where that needs to be said.
fn auc_words(subject: &Subject<'_>) -> String {
    if subject.has_pairs() { format!("; AUC is {OVER_PAIRS}") } else { String::new() }
}

fn scored(subject: &Subject<'_>, report: &ScoreReport, html: &mut Html) {
    let whole = subject.whole();
    let names: Vec<&String> = report.figures.keys().collect();
    let figures = |own: &dolmen::score::figures::Figures| {
        names.iter().map(|name| Cell::maybe(own.get(*name).copied())).collect::<Vec<_>>()
    };
    let score = Estimate { mean: report.score, se: report.score_se };
    let mut together = vec![Cell::maybe(None), Cell::estimate(&score), Cell::maybe(None)];
    together.extend(report.figures.iter().map(|(name, mean)| {
        Cell::estimate(&Estimate { mean: *mean, se: report.figure_errors.get(name).copied() })
    }));
    let mut rows = vec![(whole.name().to_string(), together)];
    for member in &report.members {
        let mut cells = vec![
            Cell::maybe(member.weight),
            Cell::estimate(&Estimate { mean: member.score, se: member.score_se }),
            Cell::gain(&member.gain),
        ];
        cells.extend(figures(&member.figures));
        rows.push((member.name.clone(), cells));
    }
    if let Some(uniform) = report.uniform.filter(|_| report.members.len() > 1) {
        let mut cells = vec![
            Cell::maybe(None),
            Cell::estimate(&uniform),
            Cell::gain(&report.gain_over_uniform),
        ];
        cells.extend(figures(&report.uniform_figures));
        rows.push(("equal weights".into(), cells));
    }
    let spoken: Vec<String> = names.iter().map(|name| spoken_figure(name)).collect();
    let gain = format!("gain of {}", whole.name());
    let header: Vec<&str> = ["member", "weight", "score", &gain]
        .into_iter()
        .chain(spoken.iter().map(String::as_str))
        .collect();
    let (rows_given, auc) = (counted(report.rows, "row"), auc_words(subject));
    let caption = format!("{rows_given}; after ± stands one standard error{auc}");
    html.table(&caption, &header, &rows);
}

/// The methods of one comparison; of several each says what it is of, so that readers who jump from table to table can tell them apart.
fn compared(comparison: &Comparison, name: Option<&str>, html: &mut Html) {
    let figures: Vec<String> = comparison.methods.first().map_or_else(Vec::new, |first| {
        first.figures.iter().map(|f| spoken_figure(&f.name)).collect()
    });
    let row = |method: &dolmen::evaluate::compare::MethodResult| {
        let mut cells = vec![
            Cell::number(method.mean),
            Cell::number(method.se),
            Cell::maybe(method.p_value),
            Cell::maybe(method.corrected_p_value),
        ];
        cells.extend(method.figures.iter().map(|figure| Cell::number(figure.mean)));
        (spoken(&method.name).to_string(), cells)
    };
    let rows: Vec<_> = comparison.methods.iter().map(row).collect();
    let header: Vec<&str> = ["method", "score", "se", "Wilcoxon p", "corrected p"]
        .into_iter()
        .chain(figures.iter().map(String::as_str))
        .collect();
    let means = "means over the splits; p against the first method";
    let caption = name.map_or_else(|| capital(means), |name| format!("{name}: {means}"));
    html.table(&caption, &header, &rows);
}

/// The recipe and seed that make it again.
pub(super) fn again(subject: &Subject<'_>, given: Option<&Again>, html: &mut Html) {
    let own = subject.model().and_then(|view| view.model.recipe());
    if let Some(Ok(toml)) = own.map(dolmen::recipe::Recipe::to_toml) {
        html.section("again", "To make it again", |html| {
            html.element("p", "", "The same recipe on the same rows gives the same model, to the last byte: dolmen fit DATA --recipe recipe.toml");
            html.code(&toml);
        });
    } else if let Some(Again { seed, command, recipe }) = given {
        html.section("again", "To make it again", |html| {
            let words = format!(
                "The same command on the same files gives the same numbers; the seed is {seed}."
            );
            html.element("p", "", &words);
            html.code(command);
            if let Some(toml) = recipe {
                html.element("p", "", "What its options and files said, as one recipe:");
                html.code(toml);
            }
        });
    }
}
