//! The lane of the six models of SmythWolpert1999: three kernel densities and three mixtures, stacked.

use std::error::Error;

use dolmen::ensemble::Stack;
use dolmen::learner::density::kernel::{KernelDensity, Shape};
use dolmen::learner::density::mixture::{GaussianMixture, OneOrMany, Schedule};
use dolmen::learner::{Sample, predict};
use dolmen::run::Run;
use dolmen::task::Density;
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows::Rows;

/// Ten folds, the weights, and all six on all rows.
pub(crate) fn race(rows: &Rows, run: &Run) -> Result<Value, Box<dyn Error>> {
    let stack = Stack::<Density>::default()
        .member(KernelDensity {
            shape: Shape::Triangular,
            bandwidth: [0.1, 0.4, 1.5].into(),
            ..KernelDensity::default()
        })
        .member(GaussianMixture {
            components: OneOrMany::Many(vec![2, 4, 8]),
            schedule: Schedule::Sw99,
            ..GaussianMixture::default()
        });
    let sample = Sample::new(rows.known.rows(), &())?;
    let (ensemble, cost) = timed(|| stack.fit_ensemble(&sample, run))?;
    let answer = predict(&ensemble?, rows.fresh.rows(), run)?;
    Ok(cost.outcome(&json!({}), &answer))
}
