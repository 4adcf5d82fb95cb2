//! Tables 1 and 2: fifty random splits of real data.

use dolmen::ensemble::Stack;
use dolmen::error::Result;
use dolmen::evaluate::compare::{CompareOptions, Comparison as Compared, Methods, Rival, compare};
use dolmen::learner::Sample;
use dolmen::learner::density::Gaussian;
use dolmen::learner::density::kernel::{KernelDensity, Rule, Scale, Search, Shape};
use dolmen::table::Features;
use dolmen::task::Density;
use dolmen_report::chart::{Chart, Series};

use super::contest::{Contest, SIX, stack_of_six, stack_of_six_at_random};
use super::sets;
use crate::data::Brought;
use crate::page::{Claim, Comparison, Figure, Page, Table, estimate};
use crate::{Context, Effort, Printed};

/// Splits of the paper.
const SPLITS: usize = 50;
/// Splits of a quick run.
const QUICK: usize = 12;
/// The methods of Table 1: the library's name, the paper's, its column of [`Row::printed`].
const METHODS: [(&str, &str); 6] = [
    ("single-gaussian", "Gaussian"),
    ("cv", "CV"),
    ("cheating", "Cheating"),
    ("uniform", "Uniform"),
    ("cv-bandwidth", "CV-bandwidth"),
    ("stacking", "Stacking"),
];

/// A data set of the tables.
struct Row {
    name: &'static str,
    /// `None` if the reader did not bring it.
    rows: Option<Features>,
    brought: Option<Brought>,
    test_rows: usize,
    /// Table 1, in the order of [`METHODS`]; `None` where the data are others than the paper's.
    printed: [Option<f64>; 6],
    /// Table 2, in the order of [`SIX`].
    weights: [Option<f64>; 6],
    /// Why figures may differ, as far as that is known.
    why: &'static str,
}

fn rows(context: &Context<'_>) -> Result<Vec<Row>> {
    let none = [None; 6];
    let vowels = "the rows are others: the paper's 639 could not be had";
    Ok(vec![
        Row {
            name: "iris",
            rows: Some(sets::iris(context)?),
            brought: None,
            test_rows: 20,
            printed: [-52.6, 18.3, 21.2, 18.3, 19.4, 22.5].map(Some),
            weights: [0.02, 0.16, 0.00, 0.26, 0.40, 0.16].map(Some),
            why: "not known; the splits are others, and the number of test rows is inferred",
        },
        Row {
            name: "diabetes",
            rows: sets::diabetes(context)?,
            brought: Some(sets::DIABETES),
            test_rows: 20,
            printed: [-352.9, 27.8, 30.4, 29.2, 20.7, 31.8].map(Some),
            weights: [0.01, 0.09, 0.03, 0.13, 0.41, 0.32].map(Some),
            why: "not known; the splits are others, and the number of test rows is inferred",
        },
        Row {
            name: "vowels (stand-in)",
            rows: sets::vowels(context)?,
            brought: Some(sets::VOWELS),
            test_rows: 100,
            printed: [None, Some(53.5), Some(54.6), Some(40.2), Some(52.1), Some(55.8)],
            weights: [0.00, 0.25, 0.00, 0.02, 0.20, 0.53].map(Some),
            why: vowels,
        },
        Row {
            name: "star-galaxy (stand-in)",
            rows: sets::stars(context)?,
            brought: Some(sets::STARS),
            test_rows: 100,
            printed: none,
            weights: none,
            why: "",
        },
    ])
}

/// Why the single kernel of iris differs.
const SEARCH: &str = "the paper's search cannot be the one that it prints (see the notes), and fewer of its splits are finite: narrower bandwidths do better where they are finite at all";

/// What was found out about that search.
const SEARCH_NOTE: &str = "Appendix B as printed finds no bandwidths for iris: it starts from the best bandwidth of each column alone and from up to 1.5 times these, and in none of 50 splits has \
     one of these starts a cross-validated likelihood above zero in an independent program in NumPy. Ours goes on with larger multiples; that program then agrees with it \
     (15.9, finite in 72 % of the splits). With zero densities counted as a small number instead, the printed search runs; of five such numbers tried, three gave 16.3 (finite in 60 %), 0.00001 gave 17.8 (53 %) and 0.001 gave 18.2 (12 %), beside the paper's 19.4 in 40 %: none is its search. \
     The mean is one over finite splits only, so that it cannot be compared without that share.";

/// Why weights of mixtures differ.
const STARTS: &str = "how EM is started decides how much weight the small mixtures get: see the table of random starts";

fn compared(row: &Row, rows: &Features, context: &Context<'_>) -> Result<Compared> {
    let kernel = KernelDensity {
        shape: Shape::Triangular,
        bandwidth: Rule::Cv.into(),
        search: Search::Sw99,
        scale: Scale::Sample,
        ..KernelDensity::default()
    };
    let rivals = [
        Rival::<Density> {
            name: "cv-bandwidth".into(),
            learner: Box::new(kernel),
            zero_line: false,
        },
        Rival {
            name: "single-gaussian".into(),
            learner: Box::new(Gaussian::default()),
            zero_line: true,
        },
    ];
    let options = CompareOptions {
        repeats: context.either(QUICK, SPLITS),
        test_rows: row.test_rows,
        methods: Methods::Combined,
        ..CompareOptions::default()
    };
    let sample = Sample::<Density>::new(rows.rows(), &())?;
    compare(&stack_of_six(), &rivals, &sample, &options, &context.run.stream(row.name))
}

/// Table 1.
pub(super) fn table1(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([
        "Each data set is split at random into a training and a test part, again and again. Three triangular kernels (0.1, 0.4 and 1.5 standard \
         deviations wide) and three Gaussian mixtures (2, 4 and 8 components) are stacked on the training part; shown is the summed \
         log-likelihood of the test part less that of a single Gaussian, averaged over the splits.",
        "Iris and diabetes are read with 20 test rows. The paper's text says 30, but of 20, 25, 30, 40 and 50 only 20 gives the figures that it \
         prints for the single Gaussian: an inference, not a statement of the paper.",
        "The paper prints no standard errors. Its figures are means over 50 splits like ours, so each is taken to have the error of a mean over 50 of \
         ours. Splits of one data set overlap: the errors are a little too small.",
    ]);
    let mut table =
        Comparison::new("likelihood", "Test log-likelihood", &["data set", "method"], 1);
    for row in rows(context)? {
        row.brought.iter().for_each(|brought| page.bring(brought, row.rows.is_some()));
        let Some(rows) = &row.rows else { continue };
        let found = compared(&row, rows, context)?;
        for ((name, shown), printed) in METHODS.iter().zip(row.printed) {
            let method = found.methods.iter().find(|method| method.name == *name);
            let Some(method) = method else { continue };
            let finite: Vec<f64> =
                method.split_scores.iter().copied().filter(|v| v.is_finite()).collect();
            let printed = printed.map(|value| Printed::new(value, 1).mean_of(SPLITS));
            let line = table.mean(&[row.name, shown], &finite, printed);
            let is_bandwidth_of_iris = *name == "cv-bandwidth" && row.brought.is_none();
            line.because(if is_bandwidth_of_iris { SEARCH } else { row.why });
            if method.finite_share < 1.0 {
                let share = 100.0 * method.finite_share;
                let why = line.why.take().map(|why| format!("; {why}")).unwrap_or_default();
                line.remark(&format!("finite in {share:.0} % of the splits{why}"));
            }
        }
        page.claims.extend(claims(&row, &found, context));
    }
    let shares = "The paper's single kernel gave finite figures in 72 % (diabetes), 40 % (iris) and 84 % (vowel) of its splits.";
    page.notes.push(shares.into());
    page.notes.push(SEARCH_NOTE.into());
    let printed = "The paper's Gaussian figure for the vowels (128.9) is in units that could not be found out, so it is left out; all others are \
                   relative to the Gaussian and do not depend on units.";
    page.notes.push(printed.into());
    page.figures.push(picture(&table));
    page.comparisons.push(table);
    Ok(page)
}

fn claims(row: &Row, found: &Compared, context: &Context<'_>) -> Vec<Claim> {
    let method = |name: &str| found.methods.iter().find(|method| method.name == name);
    let mean = |name: &str| method(name).map_or(f64::NAN, |method| method.mean);
    let stacking = mean("stacking");
    let honest = ["cv", "uniform", "cv-bandwidth"];
    let beaten = |name: &&str| {
        // A single kernel whose test likelihood is never finite has no mean: it is beaten.
        let other = mean(name);
        other.is_nan() || stacking > other
    };
    let evidence = |names: &[&str]| {
        let one = |name: &&str| format!("{name} {:.1}", mean(name));
        std::iter::once(&"stacking").chain(names).map(one).collect::<Vec<_>>().join(", ")
    };
    let name = row.name;
    let mut claims = vec![
        Claim::new(
            format!("{name}: stacking is first among the honest methods"),
            honest.iter().all(beaten),
            evidence(&honest),
        ),
        Claim::new(
            format!("{name}: stacking is ahead of cheating"),
            stacking > mean("cheating"),
            evidence(&["cheating"]),
        ),
    ];
    if context.effort == Effort::Full && row.brought.is_none_or(|own| own.file != sets::STARS.file)
    {
        let p = |name: &str| method(name).and_then(|method| method.p_value).unwrap_or(1.0);
        claims.push(Claim::new(
            format!("{name}: by Wilcoxon's test both CV and uniform weights can be ruled out, p < 0.0001"),
            p("cv") < 1e-4 && p("uniform") < 1e-4,
            format!("p = {:.1e} (CV), {:.1e} (uniform)", p("cv"), p("uniform")),
        ));
    }
    claims
}

/// Bars of ours with the paper's figures as points.
fn picture(table: &Comparison) -> Figure {
    let mut sets: Vec<&str> = table.lines.iter().map(|line| line.about[0].as_str()).collect();
    sets.dedup();
    let ours = METHODS[1..].iter().map(|(_, method)| {
        let lines: Vec<_> = sets.iter().filter_map(|set| table.line(&[set, method])).collect();
        let mean = |line: &&crate::page::Line| line.ours.map_or(f64::NAN, |ours| ours.mean);
        let se = |line: &&crate::page::Line| line.ours.and_then(|o| o.se).unwrap_or(f64::NAN);
        Series::bars(method, lines.iter().map(mean)).errors(lines.iter().map(se).collect())
    });
    let chart = Chart::new(
        "Gain over a single Gaussian",
        "Summed log-likelihood of the test rows less that of a single Gaussian, means over the splits with one standard error. Cheating \
         chooses by the test rows.",
        "",
        "log-likelihood",
    )
    .with_all(ours)
    .x_levels(sets);
    Figure::chart("gain", &chart)
}

/// Table 2.
pub(super) fn table2(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([
        "The weights of the six models in the stacks of Table 1, averaged over the splits (20 test rows for iris and diabetes, as there).",
    ]);
    let mut table = Comparison::new("weights", "Mean weights", &["data set", "model"], 2);
    let columns = ["data set", "model", "ours", "random starts only", "se", "paper"];
    let mut starts =
        Table::new("starts", "Mean weights if EM starts from random rows only", columns);
    for row in rows(context)? {
        row.brought.iter().for_each(|brought| page.bring(brought, row.rows.is_some()));
        let Some(rows) = &row.rows else { continue };
        let of_stack = |what: &str, stack: &Stack<Density>| {
            context.repeat(what, context.either(QUICK, SPLITS), |_, run| {
                let [train, _] = sets::split(rows, usize::MAX, row.test_rows, run)?;
                Ok(Contest::fit(stack, train.rows(), run)?.weights().to_vec())
            })
        };
        let splits = of_stack(row.name, &stack_of_six())?;
        let weights = |m: usize| splits.iter().map(|w| w[m]).collect::<Vec<f64>>();
        let random = of_stack(&format!("{}, random", row.name), &stack_of_six_at_random())?;
        for ((m, model), printed) in SIX.iter().enumerate().zip(row.weights) {
            let at_random = estimate(&random.iter().map(|w| w[m]).collect::<Vec<f64>>());
            let printed = printed.unwrap_or(f64::NAN);
            let numbers = [estimate(&weights(m)).mean, at_random.mean, at_random.se.unwrap_or(0.0)];
            let texts = [row.name.into(), (*model).into()];
            starts
                .row(texts.into_iter().chain(numbers.into_iter().chain([printed]).map(Into::into)));
        }
        for ((m, model), printed) in SIX.iter().enumerate().zip(row.weights) {
            let printed = printed.map(|value| Printed::new(value, 2).mean_of(SPLITS));
            let is_stand_in = row.name.contains("stand-in");
            let why = if is_stand_in { row.why } else { STARTS };
            table.mean(&[row.name, model], &weights(m), printed).because(why);
        }
        let kernels: f64 = (0..3).map(|m| estimate(&weights(m)).mean).sum();
        page.claims.push(Claim::new(
            format!("{}: mixtures have more weight than kernels", row.name),
            kernels < 0.5,
            format!("mixtures {:.2}, kernels {kernels:.2}", 1.0 - kernels),
        ));
    }
    let mut sets: Vec<&str> = table.lines.iter().map(|line| line.about[0].as_str()).collect();
    sets.dedup();
    let bars = sets.iter().map(|set| {
        let lines: Vec<_> = SIX.iter().filter_map(|model| table.line(&[set, model])).collect();
        let values = lines.iter().filter_map(|line| line.ours);
        let errors = values.clone().map(|ours| ours.se.unwrap_or(0.0)).collect();
        Series::bars(set, values.map(|ours| ours.mean)).errors(errors)
    });
    let words = "Weights of the six models, means over the splits with one standard error.";
    let chart = Chart::new("Weights", words, "", "weight").with_all(bars).x_levels(SIX);
    page.figures.push(Figure::chart("weights", &chart));
    page.comparisons.push(table);
    page.tables.push(starts);
    page.notes.push(
        "Appendix A starts EM twice from k-means and twice at random, and keeps the highest posterior; it does not say which k-means. Where that start is good, two components are enough and \
         take the weight; from random rows alone the larger mixtures do. The paper's weights of iris are near those of random starts, its likelihoods (Table 1) are not: this explains the weights, and not all. Of 17 ways to start and to fit that were tried, random starts come nearest to the printed weights."
            .into(),
    );
    Ok(page)
}
