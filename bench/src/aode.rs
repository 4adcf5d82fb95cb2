//! The lane of the one-dependence family: categories, cross-validated on ten folds dealt in turn, or fitted once.

use std::error::Error;
use std::sync::Arc;

use dolmen::catalogue::Catalogued;
use dolmen::learner::Sample;
use dolmen::math::first_largest;
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Field, Kind, Schema};
use dolmen::target::Labels;
use dolmen::task::Classification;
use serde_json::{Value, json};

use crate::outcome::{Cost, timed};
use crate::rows::Rows;

const FOLDS: usize = 10;

/// Times the cross-validation of a learner and one fit (`cv`), or the fit alone (`fit`).
pub(crate) fn race(
    [work, spec]: [&str; 2],
    rows: &Rows,
    [values, classes]: [usize; 2],
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let (x, labels) = categories(rows, values, classes)?;
    let sample = Sample::<Classification>::new(x.rows(), &labels)?;
    let learner = Classification::learner(&Spec::parse(spec)?)?;
    let fit = || -> Result<Cost, Box<dyn Error>> {
        let (models, cost) = timed(|| learner.fit(&sample, run))?;
        let notes: Vec<String> =
            models?.iter().flat_map(|model| model.diagnostics().notes).collect();
        if notes.is_empty() { Ok(cost) } else { Err(notes.join("; ").into()) }
    };
    if work == "fit" {
        return Ok(fit()?.outcome(&json!({}), &[]));
    }
    let plan = Plan::in_turn(sample.rows(), FOLDS);
    let (both, cost) = timed(|| (learner.out_of_sample(&sample, &plan, run), fit()))?;
    let (block, fit) = (both.0?, both.1?);
    let said = &block.averaged::<Classification>(&plan, classes)[0];
    let rows = || said.chunks(classes).enumerate();
    let count = labels.codes().len() as f64;
    let wrong = rows().filter(|(i, row)| first_largest(row) != labels.class(*i)).count() as f64;
    let loss: f64 = rows().map(|(i, row)| -row[labels.class(i)].ln()).sum();
    let quality =
        json!({ "error": wrong / count, "log loss": loss / count, "fit s": fit.seconds().0 });
    Ok(cost.outcome(&quality, &[]))
}

/// The attributes as categories, and the classes of the last column.
fn categories(rows: &Rows, values: usize, classes: usize) -> dolmen::Result<(Features, Labels)> {
    let known = rows.known.rows();
    let inputs = known.width() - 1;
    let levels = |count: usize| (0..count).map(|v| format!("v{v}")).collect::<Vec<String>>();
    let field = |j: usize| Field {
        name: format!("a{j}"),
        kind: Kind::Categorical { levels: levels(values).into() },
    };
    let schema = Schema::new((0..inputs).map(field).collect());
    let cells: Vec<f64> = known.iter().flat_map(|row| &row[..inputs]).copied().collect();
    let codes = known.iter().map(|row| row[inputs] as u32).collect();
    Ok((Features::new(cells, Arc::new(schema))?, Labels::new(levels(classes), codes)?))
}
