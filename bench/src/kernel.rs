//! The kernel lanes: densities of many rows, and bandwidths by likelihood.

use std::error::Error;

use dolmen::learner::Stored;
use dolmen::learner::density::kernel::{Bandwidth, FittedKernel, KernelDensity, Rule};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::store::Registry;
use dolmen::task::Density;
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows::Rows;

/// Fresh rows whose densities are given to the referee.
const JUDGED: usize = 200;

/// Gaussian kernels of one bandwidth in all columns: fits and scores the fresh rows.
pub(crate) fn race(
    rows: &Rows,
    bandwidth: f64,
    tolerance: f64,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let absolute = vec![bandwidth; rows.known.rows().width()];
    let kernel = KernelDensity {
        bandwidth: Bandwidth::Absolute { absolute },
        tolerance,
        ..KernelDensity::default()
    };
    let (scores, cost) = timed(|| {
        let model = fit(&kernel, rows, run)?;
        predict(model.as_ref(), rows.fresh.rows(), run)
    })?;
    let scores = scores?;
    Ok(cost.outcome(&json!({}), &scores[..JUDGED.min(scores.len())]))
}

/// Looks for the bandwidths of greatest leave-one-out likelihood.
pub(crate) fn race_bandwidth(rows: &Rows, run: &Run) -> Result<Value, Box<dyn Error>> {
    let kernel =
        KernelDensity { bandwidth: Bandwidth::Rule(Rule::Loo), ..KernelDensity::default() };
    let (model, cost) = timed(|| fit(&kernel, rows, run))?;
    let model = model?;
    let found = FittedKernel::restore(&model.record()?, &Registry::default())?;
    let evaluations = model.diagnostics().iterations.unwrap_or_default();
    Ok(cost.outcome(&json!({ "evaluations": evaluations }), found.bandwidth()))
}

fn fit(kernel: &KernelDensity, rows: &Rows, run: &Run) -> dolmen::Result<Box<dyn Fitted<Density>>> {
    let sample = Sample::new(rows.known.rows(), &())?;
    Ok(kernel.fit(&sample, run)?.remove(0))
}
