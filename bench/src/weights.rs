//! The weight lanes: simplex weights that maximise the mean log score of a mixture.

use std::error::Error;
use std::path::Path;

use dolmen::run::Run;
use dolmen::solver::Solution;
use dolmen::solver::simplex::{LogScore, SimplexOptions};
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::outcome::timed;

/// Weighs the members in `file`, a matrix of log densities.
pub(crate) fn race(
    file: &Path,
    rows: usize,
    members: usize,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let mut matrix = Columns::open(file, rows)?;
    let columns = (0..members).map(|_| matrix.next_column()).collect::<Result<_, _>>()?;
    let (solution, cost) = timed(|| solve(columns, run))?;
    let solution = solution?;
    let quality = json!({ "claimed gap": solution.gap, "iterations": solution.iterations });
    Ok(cost.outcome(&quality, &solution.weights))
}

/// The call that is timed: from log densities in memory to weights.
fn solve(columns: Vec<Vec<f64>>, run: &Run) -> dolmen::Result<Solution> {
    LogScore::from_log(columns)?.solve(&SimplexOptions::default(), run)
}
