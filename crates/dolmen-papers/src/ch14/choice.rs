//! Section 14.7: which ensemble when. For each line of the chapter's list a table of that kind, and what `advise` says of it.

use dolmen::error::Result;
use dolmen::evaluate::advise::{Advice, Advisable, Facts, Probed, Role, advise, probe};
use dolmen::learner::Sample;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::table::Features;
use dolmen::task::Classification;
use dolmen_report::chart::{Chart, Series};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::contest::{Entrant, contest};
use crate::drawn::{Numbers, counted, friedman, mean_score, reach, rings, with_error};
use crate::page::{Claim, Figure, Table, Value, estimate};
use crate::{Context, Finding, Page};

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
    /// Draws such rows and asks for advice.
    ask: fn(&Run) -> Result<Advice>,
}

const LINES: [Line; 5] = [
    Line {
        when: "tabular data, lots of structure",
        expected: "gradient boosting",
        is_listed: true,
        rows: "3000 rows of Friedman's function",
        right: Role::Boosting,
        ask: |run| asked(&friedman(3000, false, &run.stream("rows"))?.borrow(), run),
    },
    Line {
        when: "interpretable decisions",
        expected: "a single tree",
        is_listed: true,
        rows: "1000 rows made by a tree of four leaves",
        right: Role::Tree,
        ask: |run| asked(&steps(1000, &run.stream("rows"))?.borrow(), run),
    },
    Line {
        when: "small data with diverse base models",
        expected: "stacking",
        is_listed: true,
        rows: "200 rows of a plane with a ridge across it",
        right: Role::Stack,
        ask: |run| asked(&plane_with_ridge(200, &run.stream("rows"))?.borrow(), run),
    },
    Line {
        when: "nothing to learn",
        expected: "no model",
        is_listed: false,
        rows: "500 rows of noise",
        right: Role::Baseline,
        ask: |run| asked(&noise(500, &run.stream("rows"))?.borrow(), run),
    },
    Line {
        when: "a straight line",
        expected: "a linear model",
        is_listed: false,
        rows: "500 rows about a plane",
        right: Role::Linear,
        ask: |run| asked(&plane(500, &run.stream("rows"))?.borrow(), run),
    },
];

/// A line with what is advised in each draw of its rows.
struct Asked {
    line: Line,
    draws: Vec<Advice>,
}

impl Asked {
    /// Whether the advice is the right one in most draws.
    fn finding(&self) -> Finding {
        let is_right = |own: &Advice| if own.choice == self.line.right { 0.5 } else { -0.5 };
        Finding::positive(&counted(&self.draws.iter().map(is_right).collect::<Vec<f64>>()))
    }

    /// What is advised, most frequent first: `a single tree in 9 of 10 draws, gradient boosting in 1`.
    fn words(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for own in &self.draws {
            let word = own.recommendation.split(':').next().unwrap_or_default();
            match counts.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let told = |(k, (word, count)): (usize, (&str, usize))| match k {
            0 => format!("{word} in {count} of {} draws", self.draws.len()),
            _ => format!("{word} in {count}"),
        };
        counts.into_iter().enumerate().map(told).collect::<Vec<_>>().join(", ")
    }

    /// Why a stack is not what is advised, from what the pools gained.
    fn no_stack(&self) -> String {
        let gains: Vec<f64> = self.draws.iter().map(|own| own.probe.stacking.mean).collect();
        let mean = estimate(&gains);
        let clear = self.draws.iter().filter(|own| own.choice == Role::Stack).count();
        format!(
            "a stack is advised only where the pool is ahead of its best member by two standard errors; here it is ahead by {} of the baseline's loss on average, and by as much as that in {clear} of {} draws",
            with_error(&mean, 3),
            self.draws.len()
        )
    }

    fn claim(&self) -> Claim {
        let Line { when, expected, rows, right, is_listed, .. } = self.line;
        let evidence = format!("on {rows}: {}", self.words());
        let claim = Claim::found(format!("{when}: {expected}"), self.finding(), evidence);
        let claim = claim
            .holds_if("that is the advice in more than half of the draws, by two standard errors");
        let claim = if right == Role::Stack { claim.because(self.no_stack()) } else { claim };
        if is_listed { claim } else { claim.ours() }
    }

    fn row(&self) -> [Value; 6] {
        let Line { when, expected, rows, right, is_listed, .. } = self.line;
        let (chapter, words) = if is_listed {
            (expected, ["agrees", "differs"])
        } else {
            ("(not in its list)", ["as we expect", "not as we expect"])
        };
        let verdict = match self.finding() {
            Finding::Holds => words[0],
            Finding::Open => Finding::Open.words(),
            Finding::Fails => words[1],
        };
        let why = match (self.finding(), right) {
            (Finding::Holds, _) => String::new(),
            (_, Role::Stack) => self.no_stack(),
            _ => "not known".into(),
        };
        [when.into(), chapter.into(), rows.into(), self.words().into(), verdict.into(), why.into()]
    }

    /// The probe's members in the first draw: the others have the same.
    fn members(&self) -> &[Probed] {
        self.draws.first().map_or(&[], |own| &own.probe.members)
    }

    /// A figure of a member over the draws.
    fn of_member(&self, name: &str, figure: fn(&Probed) -> f64) -> Estimate {
        let members = self.draws.iter().flat_map(|own| &own.probe.members);
        let own = members.filter(|own| own.name == name).map(figure);
        estimate(&own.collect::<Vec<f64>>())
    }
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let times = context.either(6, 40);
    let mut page = Page::new([format!(
        "The chapter lists which ensemble suits which data. For each line rows of that kind are drawn, and `dolmen advise` is asked: it probes a few fast learners on some of the rows and \
         recommends the simplest that is not clearly beaten. That is done on {times} draws of the rows. A line holds if most of the advice is the chapter's answer; two lines that the chapter does not have are ours. Rows for the stack are made of two parts of equal variance, each the strength of one kind of model: a plane in forty columns, which a linear model learns from few rows and trees only by many splits, and a ridge across the middle of one more, which two splits of a tree describe and which no plane follows. (In eight columns, which were tried first, boosting alone learns the plane as well, and nothing is left to combine.)"
    )]);
    let ask = |line: Line| -> Result<Asked> {
        let draws = context.repeat(line.rows, times, |_, run| (line.ask)(run))?;
        Ok(Asked { line, draws })
    };
    let lines = LINES.into_iter().map(ask).collect::<Result<Vec<Asked>>>()?;
    let columns = ["when", "chapter", "rows", "advice", "verdict", "why"];
    let mut table = Table::new("advice", "The chapter's list, and what advise says", columns);
    for line in &lines {
        table.row(line.row());
        page.claims.push(line.claim());
    }
    page.claims.push(forest(&lines));
    page.claims.push(networks(context)?);
    page.figures.push(figure(&lines));
    page.tables.push(table);
    page.tables.push(members(&lines));
    page.notes.push("Images and texts are no tables, and `advise` does not look at them; the line on neural networks is tried on drawn rows instead: networks of several seeds, averaged, against one. The chapter calls them calibrated and robust, and does not say that they predict better than one: that is ours.".into());
    Ok(page)
}

fn asked<T: Advisable>(sample: &Sample<'_, T>, run: &Run) -> Result<Advice> {
    Ok(advise(Facts::of(sample), probe(sample, &run.stream("probe"))?))
}

/// Rows of uniform columns with a function of them and noise of this deviation.
fn drawn<const COLUMNS: usize>(
    rows: usize,
    noise: f64,
    run: &Run,
    of: impl Fn(&[f64; COLUMNS]) -> f64,
) -> Result<Numbers> {
    let mut rng = run.rng();
    let (mut values, mut target) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x: [f64; COLUMNS] = std::array::from_fn(|_| rng.random());
        let error: f64 = StandardNormal.sample(&mut rng);
        target.push(of(&x) + noise * error);
        values.extend(x);
    }
    Numbers::new(Features::numeric(values, COLUMNS)?, target)
}

fn steps(rows: usize, run: &Run) -> Result<Numbers> {
    drawn::<5>(rows, 0.5, run, |x| match (x[0] > 0.4, x[1] > 0.6) {
        (true, true) => 3.0,
        (true, false) => 1.0,
        (false, true) => -2.0,
        (false, false) => -1.0,
    })
}

/// A plane in forty columns and a ridge across the middle of one more. Uniform columns have a variance of 1/12, and a ridge of
/// height 2 h over half of its column has h^2 and no correlation with it: both parts have a variance of 2/3.
fn plane_with_ridge(rows: usize, run: &Run) -> Result<Numbers> {
    let (height, slope) = ((2.0_f64 / 3.0).sqrt(), 0.2_f64.sqrt());
    drawn::<41>(rows, 0.3, run, |x| {
        let is_on_ridge = (x[40] - 0.5).abs() < 0.25;
        slope * x[..40].iter().sum::<f64>() + if is_on_ridge { height } else { -height }
    })
}

fn noise(rows: usize, run: &Run) -> Result<Numbers> {
    drawn::<5>(rows, 1.0, run, |_| 0.0)
}

fn plane(rows: usize, run: &Run) -> Result<Numbers> {
    drawn::<5>(rows, 0.5, run, |x| 2.0 * x[0] - x[1] + 0.5 * x[2])
}

/// The share of tables in which a forest is "almost always in the top three".
const ALMOST_ALWAYS: f64 = 0.9;

/// "Sometimes the best model, almost always in the top three", where there is something to learn.
fn forest(lines: &[Asked]) -> Claim {
    let place = |advice: &Advice| {
        let gain = |role: Role| {
            let members = advice.probe.members.iter().filter(|own| own.role == role);
            members.map(|own| own.gain.mean).fold(f64::NEG_INFINITY, f64::max)
        };
        let own = gain(Role::Forest);
        let others = [Role::Linear, Role::Tree, Role::Boosting, Role::Neighbours];
        1 + others.into_iter().filter(|role| gain(*role) > own).count()
    };
    let learnable = lines.iter().flat_map(|own| &own.draws);
    let learnable = learnable.filter(|advice| advice.choice != Role::Baseline);
    let places: Vec<usize> = learnable.map(place).collect();
    let count = |wanted: usize| places.iter().filter(|place| **place == wanted).count();
    let top = [1, 2, 3].map(count);
    Claim::new(
        "A quick baseline: a random forest is almost always among the top three",
        top.iter().sum::<usize>() as f64 >= ALMOST_ALWAYS * places.len() as f64,
        format!(
            "of {} tables with something to learn it is first in {}, second in {}, third in {}",
            places.len(),
            top[0],
            top[1],
            top[2]
        ),
    )
    .holds_if("these are nine of ten at least")
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
fn members(lines: &[Asked]) -> Table {
    let columns = ["rows", "member", "gain over the baseline", "se", "weight in the pool"];
    let title = "The probe: gains as shares of the baseline's loss, means over the draws";
    let mut table = Table::new("probe", title, columns);
    for own in lines {
        for member in own.members() {
            let gain = own.of_member(&member.name, |probed| probed.gain.mean);
            let weight = own.of_member(&member.name, |probed| probed.weight);
            let numbers = [gain.mean, gain.se.unwrap_or(f64::NAN), weight.mean];
            let texts = [own.line.rows.into(), member.name.as_str().into()];
            table.row(texts.into_iter().chain(numbers.map(Into::into)));
        }
    }
    table
}

/// What each member gains, table by table.
fn figure(lines: &[Asked]) -> Figure {
    let chart = |own: &Asked| {
        let gain = |member: &Probed| own.of_member(&member.name, |probed| probed.gain.mean);
        let gains: Vec<Estimate> = own.members().iter().map(gain).collect();
        let points = gains.iter().enumerate().map(|(k, gain)| (k as f64, gain.mean));
        // The settings of a spec are in the table.
        let short = |member: &Probed| member.name.split('(').next().unwrap_or_default().to_string();
        Chart::new(own.line.rows, "", "", "gain")
            .x_levels(own.members().iter().map(short))
            .with(Series::points("", points).errors(gains.iter().map(reach).collect()))
            .height(190.0)
            .unlabelled()
    };
    let charts: Vec<Chart> = lines.iter().map(chart).collect();
    let words = "What each member of the probe gains over the baseline, as a share of the baseline's loss: means over the draws with two standard errors.";
    Figure::panels("probe", ("What advise sees", words), 2, &charts)
}
