//! What the note leaves to the reader: how new rows are predicted, whether members are tuned, which stacker, layers of stacks.

use dolmen::ensemble::Ending;
use dolmen::error::Result;
use dolmen::recipe::Recipe;
use dolmen::run::Run;
use dolmen::table::Schema;
use dolmen::table::Table as Rows;
use dolmen::task::Regression;
use dolmen_report::Options;
use dolmen_report::chart::{Chart, Series};

use crate::contest::{Entrant, Losses, contest, numbers, rmse, split_of};
use crate::data::{Brought, Carried, Marks};
use crate::drawn::{friedman, reach, with_error};
use crate::page::{Claim, Figure, Table};
use crate::{Context, Page};

/// Why members with fixed hyper-parameters may predict better.
const SUITED: &str = "the middles of the grids suit these rows: each fixed member alone predicts about as well as the one that is tuned (see the table), and what inner folds of few rows choose differs from part to part";

/// New rows in every draw.
const NEW: usize = 1000;

/// A contest on Friedman's function, with so many rows to learn from.
fn on_friedman(
    entrants: &[Entrant<Regression>],
    (what, draws): (&str, usize),
    rows: usize,
    context: &Context<'_>,
) -> Result<Vec<Losses>> {
    let draw = |run: &Run| {
        Ok((friedman(rows, false, &run.child(0))?, friedman(NEW, false, &run.child(1))?))
    };
    contest(entrants, (what, draws), &draw, rmse, context)
}

/// RMSE by entrant.
fn table(name: &str, title: &str, results: &[Losses]) -> Table {
    let mut table =
        Table::new(name, title, ["method", "RMSE", "se", "above the first", "se of that"]);
    for own in results {
        let (mean, above) = (own.mean(), own.above(&results[0]));
        let se = |se: Option<f64>| se.unwrap_or(f64::NAN);
        let numbers = [mean.mean, se(mean.se), above.mean, se(above.se)];
        table.row([own.name.as_str().into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

/// RMSE as points with whiskers, one level each.
fn figure(name: &str, title: &str, words: &str, results: &[Losses]) -> Figure {
    let points = results.iter().enumerate().map(|(k, own)| (k as f64, own.mean().mean));
    let errors = results.iter().map(|own| reach(&own.mean())).collect();
    let chart = Chart::new(title, words, "", "RMSE on new rows")
        .x_levels(results.iter().map(|own| own.name.clone()))
        .with(Series::points("", points).errors(errors));
    // Wide enough for a dozen names side by side.
    let svg = chart.draw(&Options { width: 1240.0, ..Options::default() });
    Figure { name: name.into(), title: title.into(), svg }
}

fn named<'a>(results: &'a [Losses], name: &str) -> &'a Losses {
    results.iter().find(|own| own.name == name).expect("the entrants stand in this file")
}

/// The average of the fold models against members fitted once more on all rows, for members that are stable and for some that
/// are not.
pub(super) fn endings(context: &Context<'_>) -> Result<Page> {
    let columns = Schema::numeric(10);
    let kinds: [(&str, &[&str]); 2] = [
        ("linear members", &["ridge(lambda=[0.1, 10, 100, 1000])"]),
        (
            "unpruned trees",
            &["tree(alpha=0)", "tree(alpha=0, min_leaf=5)", "tree(depth=3, alpha=0)"],
        ),
    ];
    let mut page = Page::new([
        "New rows are predicted by the average of each member's fold models (the note), or by each member fitted once more on all rows \
         (Smyth and Wolpert). Both have the same stacker. Stacks of linear members and of unpruned trees learn from 150 rows of Friedman's function; \
         1000 new rows judge each.",
    ]);
    let draws = context.either(24, 200);
    let mut gains = Vec::new();
    for (kind, members) in kinds {
        let stack = |name: &str, ending| {
            Entrant::<Regression>::stack(name, members, "ridge", ending, &columns)
        };
        let entrants = [
            stack("average of the fold models", Ending::Average)?,
            stack("refit on all rows", Ending::Refit)?,
        ];
        let results = on_friedman(&entrants, (kind, draws), 150, context)?;
        page.tables.push(table(&kind.replace(' ', "-"), &format!("RMSE, {kind}"), &results));
        gains.push((kind, results[1].above(&results[0]), results));
    }
    let (linear, trees) = (gains[0].1, gains[1].1);
    page.claims = vec![
        Claim::new(
            "Of stable members the average and the refit predict alike",
            linear.mean.abs() < 0.05 * gains[0].2[0].mean().mean,
            format!("the refit's RMSE is {} larger", with_error(&linear, 4)),
        )
        .holds_if("that is less than 5 % of the RMSE")
        .ours(),
        Claim::ahead(
            "Of unstable members the average predicts better: it is a committee",
            &trees,
            format!("the refit's RMSE is {} larger", with_error(&trees, 3)),
        )
        .ours(),
    ];
    page.notes.push("The note prints no figures, and gives no reason for averaging: what is seen here it does not claim. That an average of unstable members is a committee is section 14.2 of the chapter.".into());
    let bar = |at: usize, name: &str| {
        let means: Vec<_> = gains.iter().map(|(_, _, results)| results[at].mean()).collect();
        Series::bars(name, means.iter().map(|own| own.mean))
            .errors(means.iter().map(reach).collect())
    };
    let words = "Mean over draws; whiskers are two standard errors, of each mean by itself.";
    let chart = Chart::new("Two ways to predict new rows", words, "", "RMSE on new rows")
        .x_levels(gains.iter().map(|(kind, ..)| *kind))
        .with(bar(0, "average"))
        .with(bar(1, "refit"));
    page.figures.push(Figure::chart("endings", &chart));
    Ok(page)
}

/// Members as they are, and the same families tuned in an inner cross-validation of each training part.
pub(super) fn trainable(context: &Context<'_>) -> Result<Page> {
    let columns = Schema::numeric(10);
    let kinds = ["ridge", "neighbours", "tree", "svm"];
    // The fixed ones are the middles of the grids: neither end is taken, so that it is no feat to beat them.
    let fixed = ["ridge(lambda=10)", "neighbours(k=10)", "tree(depth=4, alpha=0)", "svm(c=10)"];
    let tuned = [
        "tuned(of=ridge(lambda=[0.1, 1, 10, 100, 1000]), folds=4)",
        "tuned(of=neighbours(k=[3, 5, 10, 25, 50]), folds=4)",
        "tuned(of=[tree(depth=2, alpha=0), tree(depth=4, alpha=0), tree(depth=6, alpha=0)], folds=4)",
        "tuned(of=[svm(c=0.1), svm(c=1), svm(c=10), svm(c=100), svm(c=1000)], folds=4)",
    ];
    let stacks = ["trainable members, stacked", "fixed members, stacked"];
    let mut entrants = Vec::new();
    for (name, members) in stacks.into_iter().zip([tuned, fixed]) {
        entrants.push(Entrant::stack(name, &members, "ridge", Ending::Average, &columns)?);
    }
    for (kind, specs) in [("trainable", tuned), ("fixed", fixed)] {
        for (name, spec) in kinds.into_iter().zip(specs) {
            entrants.push(Entrant::single(&format!("{kind} {name}"), spec, &columns)?);
        }
    }
    let draws = context.either(6, 50);
    let results = on_friedman(&entrants, ("trainable", draws), 150, context)?;
    let mut page = Page::new([format!(
        "A ridge stacker over four members on 150 rows of Friedman's function: with fixed hyper-parameters, the middles of \
         their grids ({}), and with ones that an inner 4-fold cross-validation of each training part chooses. The same members stand beside them alone.",
        fixed.join(", ")
    )]);
    let gain = results[1].above(&results[0]);
    let tuning = Claim::ahead(
        "Tuning the members inside each training part generalises better",
        &gain,
        format!("the RMSE of the stack of fixed members is {} larger", with_error(&gain, 3)),
    );
    page.claims.push(tuning.because(SUITED));
    let singles = results[2..2 + kinds.len()].iter().map(|own| own.mean().mean);
    let best = singles.fold(f64::INFINITY, f64::min);
    page.claims.push(
        Claim::new(
            "The stack of trainable members predicts better than each of them",
            results[0].mean().mean < best,
            format!("{}, the best of them {best:.3}", with_error(&results[0].mean(), 3)),
        )
        .ours(),
    );
    // Stack and members alone stand in both halves in the same order, side by side: they lie too close to be seen on one another.
    let series = |name: &str, aside: f64, of: &[&Losses]| {
        let points = of.iter().enumerate().map(|(k, own)| (k as f64 + aside, own.mean().mean));
        Series::points(name, points).errors(of.iter().map(|own| reach(&own.mean())).collect())
    };
    let half = |k: usize| -> Vec<&Losses> {
        let alone = results[2 + k * kinds.len()..].iter().take(kinds.len());
        std::iter::once(&results[k]).chain(alone).collect()
    };
    let words = "Mean over draws, with two standard errors: the stack, then its members alone.";
    let chart = Chart::new("Members with and without tuning", words, "", "RMSE on new rows")
        .x_levels(std::iter::once("stack").chain(kinds))
        .with(series("trainable", -0.1, &half(0)))
        .with(series("fixed", 0.1, &half(1)));
    page.figures.push(Figure::chart("trainable", &chart));
    page.tables.push(table("trainable", "RMSE on new rows", &results));
    page.notes.push("The note says that tuning \u{201c}usually results in better generalizability\u{201d} and prints no figures.".into());
    Ok(page)
}

/// The members of the stackers.
const MEMBERS: [&str; 5] =
    ["ridge(lambda=1)", "neighbours(k=10)", "forest(trees=50)", "boost(rounds=50)", "svm(c=10)"];

/// Stackers of all kinds over the same members, and layers of stacks.
fn entrants(columns: &Schema) -> Result<Vec<Entrant<Regression>>> {
    let modules = [
        "stack(members=[ridge(lambda=1), svm(kernel=linear)], combiner=ridge, ending=average)",
        "stack(members=[neighbours(k=10), svm(c=10)], combiner=ridge, ending=average)",
        "stack(members=[forest(trees=50), boost(rounds=50)], combiner=ridge, ending=average)",
    ];
    let stack = |name: &str, members: &[&str], combiner: &str| {
        Entrant::stack(name, members, combiner, Ending::Average, columns)
    };
    let mut entrants = vec![
        stack("ridge stacker", &MEMBERS, "ridge")?,
        stack("non-negative", &MEMBERS, "non-negative")?,
        stack("simplex", &MEMBERS, "simplex")?,
        stack("greedy", &MEMBERS, "greedy")?,
        stack("modules", &modules, "ridge")?,
        stack("equal weights", &MEMBERS, "uniform")?,
        stack("best by CV", &MEMBERS, "best")?,
    ];
    for member in MEMBERS {
        let name = member.split('(').next().unwrap_or(member);
        entrants.push(Entrant::single(name, member, columns)?);
    }
    Ok(entrants)
}

/// Sets that the reference has figures for, under licences that do not let them be carried.
pub(super) const BROUGHT: [(Brought, &str); 2] = [
    (
        Brought {
            file: "diabetes_efron.csv",
            // Copies differ in whether the inputs are scaled, and agree in what is predicted.
            marks: Marks {
                rows: 442,
                numbers: Some(11),
                ends: &[("target", 25.0, 346.0)],
                classes: None,
            },
            what: "442 diabetes patients (Efron and others 2004)",
            why: "Its licence is not stated; scikit-learn has it.",
            instead: "",
        },
        "target",
    ),
    (
        Brought {
            file: "boston.csv",
            marks: Marks {
                rows: 506,
                numbers: Some(14),
                ends: &[("medv", 5.0, 50.0)],
                classes: None,
            },
            what: "506 districts of Boston",
            why: "Its licence is the GPL; R's MASS has it.",
            instead: "",
        },
        "medv",
    ),
];

/// The same contest on Friedman's function, on the carried houses, and on what the reader brings.
pub(super) fn stackers(context: &Context<'_>) -> Result<Page> {
    let members = MEMBERS.join(", ");
    let mut page = Page::new([format!(
        "The same members ({members}) under several stackers, each checked on OOS/HO pairs, and in two layers: three modules, each a stack of \
         its own, stacked by a ridge regression. New rows are predicted by the average of the fold models."
    )]);
    let draws = context.either(4, 30);
    let drawn = entrants(&Schema::numeric(10))?;
    let results = on_friedman(&drawn, ("friedman", draws), 200, context)?;
    judge(&mut page, "friedman", "Friedman's function, 200 rows", &results);
    let table = Carried::Sacramento.table(context.run)?;
    on_set(&mut page, ("sacramento", "Houses in Sacramento", "price"), table, context)?;
    for (brought, target) in &BROUGHT {
        let table = brought.table(context)?;
        page.bring(brought, table.is_some());
        if let Some(table) = table {
            on_set(&mut page, (brought.file, brought.what, target), table, context)?;
        }
    }
    page.notes.push("The note prints no figures. A slow reference implementation with five ridge members has its stack, its best member and equal weights at an RMSE of 3.34, 3.35 and 4.10 on boston, 1.672, 1.676 and 2.388 on Friedman's function, and 55.2, 55.3 and 55.0 on diabetes: there equal weights are ahead.".into());
    Ok(page)
}

/// The contest on a set: random splits with a third of the rows new.
fn on_set(
    page: &mut Page,
    (name, title, target): (&str, &str, &str),
    table: Rows,
    context: &Context<'_>,
) -> Result<()> {
    let recipe = Recipe { target: Some(target.into()), ..Recipe::default() };
    let data = recipe.data(table)?;
    let Some(values) = numbers(&data) else { return Ok(()) };
    let entrants = entrants(data.schema())?;
    let draw = |run: &Run| split_of::<Regression>(&data, values, 1.0 / 3.0, run);
    let draws = context.either(2, 20);
    let results = contest(&entrants, (name, draws), &draw, rmse, context)?;
    let short = name.split('.').next().unwrap_or(name);
    judge(page, short, title, &results);
    Ok(())
}

/// What a set says.
fn judge(page: &mut Page, name: &str, title: &str, results: &[Losses]) {
    let (first, equal) = (&results[0], named(results, "equal weights"));
    let chosen = named(results, "best by CV");
    let (over_equal, over_chosen) = (equal.above(first), chosen.above(first));
    let seen = format!(
        "RMSE {}; the chosen member {} more, equal weights {} more",
        with_error(&first.mean(), 3),
        with_error(&over_chosen, 3),
        with_error(&over_equal, 3)
    );
    let claim = Claim::new(
        format!(
            "{title}: the ridge stacker is ahead of the member that cross-validation chooses and of equal weights, or level with them"
        ),
        over_equal.mean > -reach(&over_equal) && over_chosen.mean > -reach(&over_chosen),
        seen,
    );
    page.claims.push(claim.holds_if("it is behind neither by two standard errors").ours());
    let words =
        "Mean over draws, with two standard errors: seven ways to combine, then the members alone.";
    page.figures.push(figure(name, title, words, results));
    page.tables.push(table(name, &format!("RMSE on new rows: {title}"), results));
}
