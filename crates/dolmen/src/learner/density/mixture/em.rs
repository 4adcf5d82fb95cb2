//! The EM loop: from a start uphill to the stopping rule, and the best of several starts.

use rayon::prelude::*;

use super::data::Data;
use super::expect::Densities;
use super::normals::{Collapse, Factors, Normals};
use super::pass::{Sums, Want, pass};
use super::prior::Prior;
use super::start::{self, Start};
use crate::error::{Error, Place, Result};
use crate::learner::Diagnostics;
use crate::run::Run;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    /// Stop once an iteration gains less than this per row; 0 runs all iterations.
    pub(crate) tolerance: f64,
    /// Iterations at most.
    pub(crate) iterations: usize,
}

/// Where EM came to.
#[derive(Debug)]
pub(crate) struct Climb {
    pub(crate) normals: Normals,
    pub(crate) diagnostics: Diagnostics,
    /// The log posterior.
    pub(super) objective: f64,
}

/// Components with the sums of a pass over the rows.
struct Point {
    normals: Normals,
    sums: Sums,
    objective: f64,
}

impl Point {
    fn at(normals: Normals, data: &Data<'_>, prior: &Prior, want: Want) -> Result<Self, Collapse> {
        let factors: Factors = normals.factorise()?;
        let sums = pass(data, &normals, &Densities::new(&normals, &factors), want)?;
        let objective = sums.log_likelihood + prior.ln_density(&normals, &factors);
        Ok(Self { normals, sums, objective })
    }
}

/// Runs EM from one start.
pub(crate) fn climb(
    data: &Data<'_>,
    prior: &Prior,
    start: Normals,
    stop: Stop,
    run: &Run,
) -> Result<Climb> {
    let want = |iteration| {
        if iteration < stop.iterations { Want::Moments } else { Want::Likelihood }
    };
    let fallen = |iteration| move |collapse| collapse_error(data, collapse, iteration);
    let mut point = Point::at(start, data, prior, want(0)).map_err(fallen(0))?;
    let mut converged = false;
    let mut iteration = 0;
    while iteration < stop.iterations && !converged {
        run.check()?;
        iteration += 1;
        let better = prior.maximise(&point.normals, &point.sums);
        let next = Point::at(better, data, prior, want(iteration)).map_err(fallen(iteration))?;
        let gain = next.objective - point.objective;
        converged = stop.tolerance > 0.0 && gain.abs() <= stop.tolerance * data.total;
        point = next;
    }
    Ok(Climb {
        normals: point.normals,
        objective: point.objective,
        diagnostics: Diagnostics {
            converged: (stop.tolerance > 0.0).then_some(converged),
            iterations: Some(iteration),
            objective: Some(point.objective),
            ..Diagnostics::default()
        },
    })
}

/// Rows from which on starts are tried one after the other: each pass has work for all threads then, and seeds and labels
/// of several starts at a time would take a good part of the memory of the table.
const MANY_ROWS: usize = 1 << 18;

/// Runs EM from every start, in parallel, and keeps the highest log posterior (the first of equals). A start that fails
/// is noted; it is an error only if all do.
pub(super) fn best_of(
    data: &Data<'_>,
    prior: &Prior,
    components: usize,
    starts: &[Start],
    stop: Stop,
    run: &Run,
) -> Result<Climb> {
    let attempt = |(number, kind): (usize, &Start)| {
        let start = start::make(kind, data, prior, components, &run.child(number as u64))?;
        climb(data, prior, start, stop, run)
    };
    let climbs: Vec<Result<Climb>> = if data.x.rows() < MANY_ROWS {
        starts.par_iter().enumerate().map(attempt).collect()
    } else {
        starts.iter().enumerate().map(attempt).collect()
    };
    let mut best: Option<Climb> = None;
    let mut failure = None;
    let mut notes = Vec::new();
    for (number, climb) in climbs.into_iter().enumerate() {
        match climb {
            Ok(climb) if best.as_ref().is_none_or(|b| climb.objective > b.objective) => {
                best = Some(climb);
            }
            Ok(_) => {}
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => {
                notes.push(format!("start {} failed: {error}", number + 1));
                failure.get_or_insert(error);
            }
        }
    }
    match (best, failure) {
        (Some(mut best), _) => {
            best.diagnostics.notes = notes;
            Ok(best)
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::param("restarts", "at least 1", 0)),
    }
}

/// Says which component lost its spread, where and when.
fn collapse_error(data: &Data<'_>, collapse: Collapse, iteration: usize) -> Error {
    let fields = data.x.schema().fields();
    let place = fields.get(collapse.column).map_or(Place::default(), |f| Place::column(&f.name));
    let problem = format!(
        "the covariance of component {} is singular after {iteration} iterations: this column is constant there, \
         or depends on the columns before it, or there are too few rows",
        collapse.component + 1
    );
    Error::data(place, problem).with_hint("set beta above 0, or drop the column")
}
