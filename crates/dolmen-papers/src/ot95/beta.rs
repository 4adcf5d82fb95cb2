//! Section 3: beta "which leads to the best performance on a validation set".

use dolmen::error::Result;
use dolmen::learner::density::mixture::GaussianMixture;
use dolmen_report::chart::{Chart, Series, Tone};

use super::{held_out, regularised, unregularised};
use crate::data::{Carried, numbers};
use crate::drawn::{difference, reach, with_error};
use crate::page::{Claim, Figure, Page, Table, estimate};
use crate::{Context, Finding};
use dolmen::math::first_largest;
use dolmen::plan::{Plan, Portion};

/// The betas that are tried.
const BETAS: [f64; 9] = [1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];
const COMPONENTS: usize = 8;

/// The experiment.
pub(super) fn beta(context: &Context<'_>) -> Result<Page> {
    let mut page = Page::new([
        "Half of the rows of each set are learned from by mixtures of 8 components, the other half are held out, again and again. One mixture for each beta, \
         one without a prior, and one whose beta is chosen on a fifth of the training rows and then fitted to all of them.",
    ]);
    let mut table = Table::new(
        "scores",
        "Mean log density of rows held out",
        ["data set", "mixture", "log density", "se"],
    );
    for (name, set) in [("iris", Carried::Iris), ("penguins", Carried::Penguins)] {
        let all = numbers(&set.table(context.run)?, &[])?;
        let mut learners: Vec<GaussianMixture> =
            BETAS.iter().map(|beta| regularised(COMPONENTS, &[*beta])).collect();
        learners.push(regularised(COMPONENTS, &BETAS));
        learners.push(unregularised(COMPONENTS, all.rows().width()));
        let found = context.repeat(name, context.either(6, 30), |_, run| {
            let rows = all.rows().rows();
            let plan = Plan::hold_out(rows, Portion::Fraction(0.5), &run.stream("halves"))?;
            let split = &plan.splits()[0];
            let (train, test) =
                (all.rows().select(&split.train(rows)), all.rows().select(split.test()));
            let score =
                |learner: &GaussianMixture| held_out(learner, train.rows(), test.rows(), run);
            learners.iter().map(score).collect::<Result<Vec<f64>>>()
        })?;
        let estimates: Vec<_> = (0..learners.len())
            .map(|m| estimate(&found.iter().map(|scores| scores[m]).collect::<Vec<f64>>()))
            .collect();
        let [fixed @ .., chosen, without] = estimates.as_slice() else { continue };
        let names = BETAS.iter().map(|beta| format!("beta = {beta}"));
        let names = names.chain(["beta by validation".into(), "no prior".into()]);
        for (mixture, own) in names.zip(&estimates) {
            let se = own.se.unwrap_or(0.0);
            table.row([name.into(), mixture.into(), own.mean.into(), se.into()]);
        }
        let best = fixed.iter().map(|own| own.mean).fold(f64::MIN, f64::max);
        let column = |m: usize| found.iter().map(|scores| scores[m]).collect::<Vec<f64>>();
        let [by_validation, none] = [BETAS.len(), BETAS.len() + 1].map(column);
        let lead = difference(&by_validation, &none);
        page.claims.push(Claim::ahead(
            format!("{name}: with beta by validation the prior is ahead of no prior"),
            &lead,
            format!("{:.2} against {:.2}: by {}", chosen.mean, without.mean, with_error(&lead, 2)),
        ));
        let at = first_largest(&fixed.iter().map(|own| own.mean).collect::<Vec<_>>());
        let ends = [0, BETAS.len() - 1].map(|end| difference(&column(at), &column(end)));
        page.claims.push(Claim::found(
            format!("{name}: too small a beta overfits, too large a one constrains too much"),
            Finding::all(ends.iter().map(Finding::positive)),
            format!(
                "beta = {} is ahead of the least by {} and of the largest by {}",
                BETAS[at],
                with_error(&ends[0], 2),
                with_error(&ends[1], 2)
            ),
        ));
        let points = BETAS.iter().zip(fixed).map(|(beta, own)| (*beta, own.mean));
        let errors = fixed.iter().map(reach).collect();
        let level = [(BETAS[0], chosen.mean), (BETAS[BETAS.len() - 1], chosen.mean)];
        // The whole curve with its band is shown, however low it begins.
        let low = fixed.iter().map(|own| own.mean - reach(own)).fold(f64::MAX, f64::min);
        let room = 0.05 * (best - low);
        let chart = Chart::new(
            &format!("The strength of the prior: {name}"),
            "Mean log density of rows held out, with two standard errors, by beta; the broken line is that of the beta chosen by validation.",
            "beta",
            "log density",
        )
        .log_x()
        .y_range(low - room, best + room)
        .with(Series::line("fixed", points).errors(errors))
        .with(Series::dashed("chosen", level).tone(Tone::Ink));
        page.figures.push(Figure::chart(name, &chart));
    }
    page.tables.push(table);
    Ok(page)
}
