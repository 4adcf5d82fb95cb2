//! Section 14.6: "blend 5-10 strong base models (random forest, gradient boosting, logistic regression, k-NN, SVM) via a ridge or
//! logistic meta-learner".

use dolmen::error::Result;
use dolmen::evaluate::compare::Comparison;
use dolmen::recipe::{CheckPolicy, CompareRecipe, Data, Recipe, TargetTask, Versus};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::spec::Spec;
use dolmen::table::Column;
use dolmen::target::Target;
use dolmen_report::chart::{Chart, Series, Tone};

use crate::data::Carried;
use crate::drawn::{difference, friedman, reach, rings, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Page};

/// One table: its name, its rows, and whether it has classes.
struct Set {
    name: &'static str,
    target: &'static str,
    classes: bool,
    table: dolmen::table::Table,
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([format!(
        "Five unlike members (forest, boosting, a linear or logistic model, nearest neighbours, a support vector machine) under a ridge or logistic meta-learner whose penalty is chosen on \
         held-out rows, against the member that cross-validation chooses, equal weights, and each member. {} random splits, a tenth of the rows new.",
        splits(context)
    )]);
    let mut gains = Vec::new();
    for set in sets(context.run)? {
        let comparison = compare(&set, context)?;
        gains.push(judge(&mut page, &set, &comparison));
    }
    let wins = |k: usize| gains.iter().filter(|own| own[k].mean > 0.0).count();
    page.claims.push(Claim::new(
        "Over the sets, the stack is ahead of the chosen member and of equal weights more often than not",
        2 * wins(0) > gains.len() && 2 * wins(1) > gains.len(),
        format!("of {} sets on {} and on {}", gains.len(), wins(0), wins(1)),
    ));
    page.notes.push("The chapter prints no figures; it calls the recipe a reliable winner.".into());
    Ok(page)
}

fn splits(context: &Context<'_>) -> usize {
    context.either(8, 50)
}

fn sets(run: &Run) -> Result<Vec<Set>> {
    let penguins = Carried::Penguins.table(run)?;
    let known = penguins.column("sex")?.present();
    let numbers = friedman(300, false, &run.stream("friedman"))?;
    let classes = rings(400, 0.05, &run.stream("rings"))?;
    Ok(vec![
        Set { name: "penguins", target: "sex", classes: true, table: penguins.select(&known) },
        Set {
            name: "rings",
            target: "class",
            classes: true,
            table: as_table(classes.borrow().x(), "class", classes.borrow().target().to_column())?,
        },
        Set {
            name: "friedman",
            target: "y",
            classes: false,
            table: as_table(numbers.borrow().x(), "y", numbers.borrow().target().to_column())?,
        },
    ])
}

/// Drawn rows as a table.
fn as_table(
    x: dolmen::table::Rows<'_>,
    target: &str,
    truth: Option<Column>,
) -> Result<dolmen::table::Table> {
    let column = |j: usize| (format!("x{}", j + 1), Column::Numeric(x.column(j).collect()));
    let inputs = (0..x.width()).map(column);
    dolmen::table::Table::new(inputs.chain(truth.map(|own| (target.to_string(), own))).collect())
}

/// Why a stack may lie behind.
const NO_GAIN: &str = "where the members predict about equally well (see the table), equal weights are hard to beat: the stacker has to learn so from the rows, and is a little off";

fn compare(set: &Set, context: &Context<'_>) -> Result<Comparison> {
    let (linear, meta) = if set.classes { ("logistic", "logistic") } else { ("ridge", "ridge") };
    let members = ["forest(trees=100)", "boost(rounds=60)", linear, "neighbours(k=10)", "svm"];
    let specs =
        |texts: &[&str]| texts.iter().map(|text| Spec::parse(text)).collect::<Result<Vec<_>>>();
    let recipe = Recipe {
        target: Some(set.target.into()),
        task: set.classes.then_some(TargetTask::Classify),
        members: specs(&members)?,
        combiners: specs(&[meta])?,
        check: CheckPolicy::Matrix,
        keep_stack: true,
        ..Recipe::default()
    };
    let data: Data = recipe.data(set.table.clone())?;
    let versus = Versus { repeats: Some(splits(context)), ..Versus::default() };
    CompareRecipe { recipe, versus }.compare(&data, context.run)
}

/// What a set says: the stack's gains over the chosen member and over equal weights.
fn judge(page: &mut Page, set: &Set, comparison: &Comparison) -> [Estimate; 2] {
    let scores = |name: &str| {
        let method = comparison.methods.iter().find(|own| own.name == name);
        method.map(|own| own.split_scores.as_slice()).unwrap_or_default()
    };
    let gain = |name: &str| difference(scores("stacking"), scores(name));
    let gains = [gain("cv"), gain("uniform")];
    let title = format!("{} ({})", set.name, set.target);
    let unit =
        if set.classes { "log probability of the true class" } else { "minus squared error" };
    let claim = Claim::new(
        format!(
            "{title}: the stack is ahead of the chosen member and of equal weights, or level with them"
        ),
        gains.iter().all(|own| own.mean > -reach(own)),
        format!(
            "{unit}: {} over the chosen, {} over equal weights",
            with_error(&gains[0], 3),
            with_error(&gains[1], 3)
        ),
    );
    let claim = claim.holds_if("it is behind neither by two standard errors");
    page.claims.push(claim.because(NO_GAIN));
    let honest = comparison.methods.iter().filter(|own| own.name != "cheating");
    let methods: Vec<(&str, Estimate)> =
        honest.map(|own| (own.name.as_str(), estimate(&own.split_scores))).collect();
    let mut table = Table::new(
        set.name,
        &format!("Mean score on new rows, {title}: {unit}"),
        ["method", "score", "se"],
    );
    for (name, own) in &methods {
        table.row([(*name).into(), own.mean.into(), own.se.unwrap_or(f64::NAN).into()]);
    }
    page.tables.push(table);
    page.figures.push(Figure::chart(set.name, &chart(&title, unit, &methods)));
    gains
}

fn chart(title: &str, unit: &str, methods: &[(&str, Estimate)]) -> Chart {
    let (ways, members) = methods.split_at(3.min(methods.len()));
    let points = |from: usize, of: &[(&str, Estimate)]| {
        of.iter().enumerate().map(|(k, (_, own))| ((from + k) as f64, own.mean)).collect::<Vec<_>>()
    };
    let errors = |of: &[(&str, Estimate)]| of.iter().map(|(_, own)| reach(own)).collect();
    let short = |name: &str| name.split('(').next().unwrap_or(name).to_string();
    let words = "Mean over splits, with two standard errors: three ways to combine, then the members alone.";
    Chart::new(title, words, "", unit)
        .x_levels(methods.iter().map(|(name, _)| short(name)))
        .with(Series::points("", points(0, ways)).errors(errors(ways)))
        .with(
            Series::points("", points(ways.len(), members))
                .errors(errors(members))
                .tone(Tone::Muted),
        )
}
