//! Section 14.7: which ensemble when. For each line of the chapter's list a table of that kind, and what `advise` says of it.

use dolmen::error::Result;
use dolmen::evaluate::advise::{Advice, Role, advise, probe};
use dolmen::evaluate::advise::{Advisable, Facts};
use dolmen::learner::Sample;
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Classification;
use dolmen_report::chart::{Chart, Series};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::contest::{Entrant, contest};
use crate::drawn::{Numbers, friedman, mean_score, reach, rings, with_error};
use crate::page::{Claim, Figure, Table};
use crate::{Context, Page};

/// A line of the chapter's list.
struct Line {
    /// The situation, in the chapter's words.
    when: &'static str,
    /// What the chapter says of it, or what we expect where it has no such line.
    expected: &'static str,
    /// The rows that stand for it.
    rows: &'static str,
    /// The answer that this is.
    right: Role,
    /// Whether the chapter has the line; the others are ours.
    is_listed: bool,
    advice: Advice,
}

/// Why advice may differ from the list.
const BY_RULE: &str = "by rule: a stack is recommended only where the pool is ahead of its best member by two standard errors, which few rows seldom show";

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([
        "The chapter lists which ensemble suits which data. For each line rows of that kind are drawn, and `dolmen advise` is asked: it probes a few fast learners on some of the rows and \
         recommends the simplest that is not clearly beaten. A line holds if the advice is the chapter's answer; two lines that the chapter does not have are ours.",
    ]);
    let lines = lines(context.run)?;
    let columns = ["when", "chapter", "rows", "advice", "verdict", "why"];
    let mut table = Table::new("advice", "The chapter's list, and what advise says", columns);
    for line in &lines {
        let agrees = line.right == line.advice.choice;
        let (chapter, words) = if line.is_listed {
            (line.expected, ["agrees", "differs"])
        } else {
            ("(not in its list)", ["as we expect", "not as we expect"])
        };
        let why = if line.right == Role::Stack { BY_RULE } else { "not known" };
        let verdict = if agrees { (words[0], "") } else { (words[1], why) };
        table.row([
            line.when.into(),
            chapter.into(),
            line.rows.into(),
            line.advice.recommendation.as_str().into(),
            verdict.0.into(),
            verdict.1.into(),
        ]);
        let claim = Claim::new(
            format!("{}: {}", line.when, line.expected),
            agrees,
            format!("on {}: {}", line.rows, line.advice.recommendation),
        );
        page.claims.push(if line.is_listed { claim } else { claim.ours() });
    }
    page.claims.push(forest(&lines));
    page.claims.push(networks(context)?);
    page.figures.push(figure(&lines));
    page.tables.push(table);
    page.tables.push(members(&lines));
    page.notes.push("Images and texts are no tables, and `advise` does not look at them; the line on neural networks is tried on drawn rows instead: networks of several seeds, averaged, against one. The chapter calls them calibrated and robust, and does not say that they predict better than one: that is ours.".into());
    Ok(page)
}

fn lines(run: &Run) -> Result<Vec<Line>> {
    let stream = |name: &str| run.stream(name);
    Ok(vec![
        Line {
            when: "tabular data, lots of structure",
            expected: "gradient boosting",
            is_listed: true,
            rows: "3000 rows of Friedman's function",
            right: Role::Boosting,
            advice: asked(&friedman(3000, false, &stream("structure"))?.borrow(), run)?,
        },
        Line {
            when: "interpretable decisions",
            expected: "a single tree",
            is_listed: true,
            rows: "1000 rows made by a tree of four leaves",
            right: Role::Tree,
            advice: asked(&steps(1000, &stream("steps"))?.borrow(), run)?,
        },
        Line {
            when: "small data with diverse base models",
            expected: "stacking",
            is_listed: true,
            rows: "200 rows of a slope with a wave on it",
            right: Role::Stack,
            advice: asked(&waves(200, &stream("waves"))?.borrow(), run)?,
        },
        Line {
            when: "nothing to learn",
            expected: "no model",
            is_listed: false,
            rows: "500 rows of noise",
            right: Role::Baseline,
            advice: asked(&noise(500, &stream("noise"))?.borrow(), run)?,
        },
        Line {
            when: "a straight line",
            expected: "a linear model",
            is_listed: false,
            rows: "500 rows about a plane",
            right: Role::Linear,
            advice: asked(&plane(500, &stream("plane"))?.borrow(), run)?,
        },
    ])
}

fn asked<T: Advisable>(sample: &Sample<'_, T>, run: &Run) -> Result<Advice> {
    Ok(advise(Facts::of(sample), probe(sample, &run.stream("probe"))?))
}

/// Rows of five uniform columns with a function of them and noise of this deviation.
fn drawn(rows: usize, noise: f64, run: &Run, of: impl Fn(&[f64; 5]) -> f64) -> Result<Numbers> {
    let mut rng = run.rng();
    let (mut values, mut target) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x: [f64; 5] = std::array::from_fn(|_| rng.random());
        let error: f64 = StandardNormal.sample(&mut rng);
        target.push(of(&x) + noise * error);
        values.extend(x);
    }
    Numbers::new(Features::numeric(values, 5)?, target)
}

fn steps(rows: usize, run: &Run) -> Result<Numbers> {
    drawn(rows, 0.5, run, |x| match (x[0] > 0.4, x[1] > 0.6) {
        (true, true) => 3.0,
        (true, false) => 1.0,
        (false, true) => -2.0,
        (false, false) => -1.0,
    })
}

fn waves(rows: usize, run: &Run) -> Result<Numbers> {
    drawn(rows, 0.3, run, |x| 4.0 * x[0] + (9.0 * x[1]).sin() + if x[2] > 0.5 { 1.0 } else { 0.0 })
}

fn noise(rows: usize, run: &Run) -> Result<Numbers> {
    drawn(rows, 1.0, run, |_| 0.0)
}

fn plane(rows: usize, run: &Run) -> Result<Numbers> {
    drawn(rows, 0.5, run, |x| 2.0 * x[0] - x[1] + 0.5 * x[2])
}

/// "Sometimes the best model, almost always in the top three", where there is something to learn.
fn forest(lines: &[Line]) -> Claim {
    let place = |line: &Line| {
        let gain = |role: Role| {
            let members = line.advice.probe.members.iter().filter(|own| own.role == role);
            members.map(|own| own.gain.mean).fold(f64::NEG_INFINITY, f64::max)
        };
        let own = gain(Role::Forest);
        let others = [Role::Linear, Role::Tree, Role::Boosting, Role::Neighbours];
        1 + others.into_iter().filter(|role| gain(*role) > own).count()
    };
    let learnable = lines.iter().filter(|line| line.advice.choice != Role::Baseline);
    let places: Vec<usize> = learnable.map(place).collect();
    Claim::new(
        "A quick baseline: a random forest is almost always among the top three",
        places.iter().filter(|place| **place > 3).count() <= 1,
        format!("its places where there is something to learn are {places:?}"),
    )
    .holds_if("it is fourth or fifth in one of them at most")
}

/// Networks of several seeds, averaged, against one.
fn networks(context: &Context<'_>) -> Result<Claim> {
    let columns = dolmen::table::Schema::numeric(10);
    let one = "network(hidden=[16], epochs=60)";
    let several = "averaged(of=network(hidden=[16], epochs=60), fits=5, resample=starts)";
    let entrants =
        [Entrant::single("one", one, &columns)?, Entrant::single("five", several, &columns)?];
    let draw = |run: &Run| Ok((rings(400, 0.0, &run.child(0))?, rings(1000, 0.0, &run.child(1))?));
    let loss = |predicted: &[f64], truth: &dolmen::target::Labels| {
        -mean_score::<Classification>(predicted, truth)
    };
    let results = contest(&entrants, ("networks", context.either(6, 30)), &draw, loss, context)?;
    let gain = results[0].above(&results[1]);
    Ok(Claim::ahead(
        "Networks of different seeds, averaged, are better than one",
        &gain,
        format!("log loss of one network is {} larger than that of five", with_error(&gain, 3)),
    )
    .ours())
}

/// What the probe found, member by member.
fn members(lines: &[Line]) -> Table {
    let columns = ["rows", "member", "gain over the baseline", "se", "weight in the pool"];
    let mut table =
        Table::new("probe", "The probe: gains as shares of the baseline's loss", columns);
    for line in lines {
        for own in &line.advice.probe.members {
            let numbers = [own.gain.mean, own.gain.se.unwrap_or(f64::NAN), own.weight];
            let texts = [line.rows.into(), own.name.as_str().into()];
            table.row(texts.into_iter().chain(numbers.map(Into::into)));
        }
    }
    table
}

/// What each member gains, table by table.
fn figure(lines: &[Line]) -> Figure {
    let chart = |line: &Line| {
        let members = &line.advice.probe.members;
        let gains = members.iter().enumerate().map(|(k, own)| (k as f64, own.gain.mean));
        let errors = members.iter().map(|own| reach(&own.gain)).collect();
        // The settings of a spec are in the table.
        let names = members.iter().map(|own| own.name.split('(').next().unwrap_or_default());
        Chart::new(line.rows, "", "", "gain")
            .x_levels(names)
            .with(Series::points("", gains).errors(errors))
            .height(190.0)
            .unlabelled()
    };
    let charts: Vec<Chart> = lines.iter().map(chart).collect();
    let words = "What each member of the probe gains over the baseline, as a share of the baseline's loss, with two standard errors.";
    Figure::panels("probe", ("What advise sees", words), 2, &charts)
}
