//! Sections 4 and 5: one mixture with a prior against averages of mixtures without one, as densities and as Bayes classifiers.

use std::sync::Arc;

use dolmen::error::{Error, Result};
use dolmen::learner::averaged::{Averaged, Averaging, Resample};
use dolmen::learner::bayes::BayesClassifier;
use dolmen::learner::density::mixture::GaussianMixture;
use dolmen::learner::{Learner, Sample, predict};
use dolmen::plan::{PlanSpec, RowKeys};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Density, Task};
use dolmen_report::chart::{Chart, Series};

use super::{held_out, regularised, unregularised};
use crate::data::{Carried, classed};
use crate::drawn::{difference, reach, with_error};
use crate::lead::Lead;
use crate::page::{Claim, Figure, Page, Table, estimate};
use crate::{Context, Finding};

/// Components of a density of all rows, and of one for each class.
const COMPONENTS: usize = 8;
const CLASS_COMPONENTS: usize = 3;
/// Betas that the prior is chosen from, by validation.
const BETAS: [f64; 5] = [0.01, 0.03, 0.1, 0.3, 1.0];
const METHODS: [&str; 6] =
    ["no prior", "prior", "average, starts", "average, 70 %", "average, bagging", "bagged prior"];
const PRIOR: usize = 1;

/// Why averages over samples of the rows may lie behind those over starts.
const FEWER_ROWS: &str = "not known; perhaps that each fit sees fewer rows (70 % of them, or the 63 % that a bootstrap sample has), which costs mixtures without a prior much where rows are few";

/// The learners, in the order of [`METHODS`].
fn learners(components: usize, dimension: usize, fits: usize) -> Vec<Arc<dyn Learner<Density>>> {
    let plain = || unregularised(components, dimension);
    let averaged = |of: GaussianMixture, resample: Resample| -> Arc<dyn Learner<Density>> {
        Arc::new(Averaged::new(of, Averaging { fits, resample, ..Averaging::default() }))
    };
    vec![
        Arc::new(plain()),
        Arc::new(regularised(components, &BETAS)),
        averaged(plain(), Resample::Starts),
        averaged(plain(), Resample::Subsample),
        averaged(plain(), Resample::Bootstrap),
        averaged(regularised(components, &[0.1]), Resample::Bootstrap),
    ]
}

/// Mean log density, error rate and mean log p of the class, of each method.
type Outcome = Vec<[f64; 3]>;

fn one_split(all: &Features, labels: &Labels, fits: usize, run: &Run) -> Result<Outcome> {
    let rows = all.rows().rows();
    let keys = RowKeys { classes: Some(labels.codes()), ..RowKeys::default() };
    let plan = PlanSpec::suited(2, &keys).build(rows, &keys, &run.stream("halves"))?;
    let split = &plan.splits()[0];
    let train_rows = split.train(rows);
    let (train, test) = (all.rows().select(&train_rows), all.rows().select(split.test()));
    let (own, others) = (labels.select(&train_rows), labels.select(split.test()));
    let dimension = all.rows().width();
    let densities = learners(COMPONENTS, dimension, fits);
    let of_classes = learners(CLASS_COMPONENTS, dimension, fits);
    let sample = Sample::<Classification>::new(train.rows(), &own)?;
    let one = |(density, of_class): (Arc<dyn Learner<Density>>, Arc<dyn Learner<Density>>)| {
        let log_density = held_out(density.as_ref(), train.rows(), test.rows(), run)?;
        let models = Learner::<Classification>::fit(&BayesClassifier::new(of_class), &sample, run)?;
        let model = models.first().ok_or_else(|| Error::shape("classifiers fitted", 1, 0))?;
        let predicted = predict(model.as_ref(), test.rows(), run)?;
        let figure = |name: &str| {
            let figures = Classification::figures(&predicted, &others);
            figures.iter().find(|(own, _)| *own == name).map_or(f64::NAN, |(_, value)| *value)
        };
        Ok([log_density, figure("error"), -figure("log_loss")])
    };
    densities.into_iter().zip(of_classes).map(one).collect()
}

/// The experiment.
pub(super) fn averaging(context: &Context<'_>) -> Result<Page> {
    let fits = context.either(8, 20);
    let mut page = Page::new([format!(
        "Half of the rows are learned from, half held out, again and again. Compared are a mixture without a prior (but for a lower bound on its variances), one \
         with a prior whose beta is chosen by validation, and averages of {fits} mixtures without a prior: from other starts on the same rows, on 70 % of the \
         rows each, and on bootstrap samples (bagging); then a bagged one with a prior. As densities of all rows they have {COMPONENTS} components; as Bayes \
         classifiers {CLASS_COMPONENTS} for each class."
    )]);
    let mut table = Table::new(
        "scores",
        "Rows held out",
        [
            "data set",
            "method",
            "log density",
            "se",
            "error rate",
            "se of it",
            "log p of the class",
            "se of that",
        ],
    );
    let mut bars = Vec::new();
    for (name, set, class) in
        [("iris", Carried::Iris, "Species"), ("penguins", Carried::Penguins, "species")]
    {
        let (all, labels) = classed(&set.table(context.run)?, &[], class)?;
        let found = context
            .repeat(name, context.either(6, 30), |_, run| one_split(&all, &labels, fits, run))?;
        let of = |m: usize, measure: usize| {
            estimate(&found.iter().map(|own| own[m][measure]).collect::<Vec<f64>>())
        };
        for (m, method) in METHODS.iter().enumerate() {
            let cells = (0..3).flat_map(|measure| {
                let own = of(m, measure);
                [own.mean.into(), own.se.unwrap_or(f64::NAN).into()]
            });
            table.row([name.into(), (*method).into()].into_iter().chain(cells));
        }
        page.claims.extend(claims(name, &found));
        for (k, measure) in ["log density", "error rate"].iter().enumerate() {
            let values: Vec<f64> = (0..METHODS.len()).map(|m| of(m, k).mean).collect();
            let errors = (0..METHODS.len()).map(|m| reach(&of(m, k))).collect();
            let chart = Chart::new(&format!("{name}: {measure}"), "", "", measure)
                .x_levels(["none", "prior", "starts", "70 %", "bagging", "both"])
                .with(Series::points("", (0..).map(f64::from).zip(values)).errors(errors))
                .height(220.0)
                .unlabelled();
            bars.push(chart);
        }
    }
    let words = "Means over the splits with two standard errors. No prior; a prior; averages over starts, 70 % subsamples and bootstraps; both: bagging with a prior.";
    page.figures.push(Figure::panels("scores", ("A prior, and averages", words), 2, &bars));
    page.tables.push(table);
    page.notes.push(
        "The text of the paper at hand ends before its experiments, so there are no printed figures to compare with; its data sets are not named there either."
            .into(),
    );
    Ok(page)
}

fn claims(name: &str, found: &[Outcome]) -> Vec<Claim> {
    let column = |m: usize, k: usize| found.iter().map(|own| own[m][k]).collect::<Vec<f64>>();
    let averages = [2, 3, 4];
    // Leads over a single mixture without a prior; of two figures the larger is better.
    let lead = |m: usize, over: usize, k: usize| Lead::of(&column(m, k), &column(over, k));
    let told = |ms: &[usize], over: usize, k: usize| {
        let one = |m: &usize| format!("{} by {}", METHODS[*m], lead(*m, over, k).words(3));
        ms.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    let all = |ms: &[usize], over: usize, k: usize| {
        Finding::all(ms.iter().map(|m| lead(*m, over, k).finding()))
    };
    // Fewer errors are better: the lead is turned over.
    let fewer = |m: usize| difference(&column(0, 1), &column(m, 1));
    let errs = |m: &usize| format!("{} by {}", METHODS[*m], with_error(&fewer(*m), 3));
    let by_class = [PRIOR, 4];
    let resampled = [3, 4].map(|m| lead(m, 2, 0).finding());
    vec![
        Claim::found(
            format!("{name}: as a density, a prior is ahead of none"),
            all(&[PRIOR], 0, 0),
            told(&[PRIOR], 0, 0),
        ),
        Claim::found(
            format!("{name}: as a density, every average is ahead of a single mixture"),
            all(&averages, 0, 0),
            told(&averages, 0, 0),
        ),
        Claim::found(
            format!("{name}: resampling makes averages better than starts alone"),
            Finding::all(resampled),
            told(&[3, 4], 2, 0),
        )
        .because(FEWER_ROWS),
        Claim::found(
            format!("{name}: as a classifier, prior and bagging err less than a single mixture"),
            Finding::all(by_class.map(|m| Finding::positive(&fewer(m)))),
            by_class.iter().map(errs).collect::<Vec<_>>().join("; "),
        ),
        Claim::found(
            format!("{name}: as a classifier, prior and bagging give the class more probability"),
            all(&by_class, 0, 2),
            told(&by_class, 0, 2),
        ),
    ]
}
