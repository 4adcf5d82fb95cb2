//! The best weights for a matrix on disk, by passes over it.

use super::judged::{Alone, Judged};
use super::matrix::{DiskMatrix, DiskRows};
use crate::combine::{Method, Weighable, Weights, pseudo_bma};
use crate::error::Result;
use crate::math::first_largest;
use crate::recipe::model::Anywhere;
use crate::run::Run;
use crate::solver::problem::unit;
use crate::solver::simplex::{EmOptions, SimplexOptions, StreamedScore};
use crate::solver::{Solution, StreamedSquares, TakeBlock};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// A task whose weights can be found block by block.
pub(in crate::recipe) trait Streamable: Anywhere + Weighable {
    /// Whether the pool's score is known from the matrix on disk.
    const POOLED: bool = true;
    /// Whether the matrix on disk has the truth as its last column.
    const TRUTH: bool = false;

    /// What the matrix on disk holds of a prediction row: all that weights need to know.
    fn entry(row: &[f64], target: &Self::Target, i: usize) -> f64 {
        Self::score(row, target, i)
    }

    /// The score of a row that members of these weights give these entries; beside them stands the truth, if the matrix has it.
    fn pool(weights: &[f64], entries: &[f64], _truth: f64) -> f64 {
        let mut mixed = [0.0];
        Density::mix(weights, |m| &entries[m..=m], &mut mixed);
        mixed[0]
    }

    /// The best weights in the sense of a method that searches for them, from a start; `None` if the sums of a pass do not tell them. Here
    /// those of a linear pool's log score.
    fn optimum(
        rows: DiskRows<'_>,
        start: &[f64],
        options: &Weights,
        run: &Run,
    ) -> Result<Option<Solution>> {
        let show = |show: &mut TakeBlock<'_>| rows.show(show);
        let problem = || StreamedScore::new(&show, start.len(), options.prior, run);
        let tolerance = options.tolerance;
        let limits = SimplexOptions { tolerance, ..SimplexOptions::default() };
        match options.method {
            Method::Simplex => problem()?.solve(start, &limits).map(Some),
            Method::Em => problem()?.em(&EmOptions::default()).map(Some),
            _ => Ok(None),
        }
    }

    /// The columns of the matrix on disk for so many members.
    fn widths(members: usize) -> Vec<usize> {
        vec![1; members + usize::from(Self::TRUTH)]
    }
}

impl Streamable for Density {}

impl Streamable for Classification {}

/// LMG asks for all joint probabilities of a row, again and again: its weights come from the sample.
impl Streamable for Joint {
    const POOLED: bool = false;
}

impl Streamable for Regression {
    const TRUTH: bool = true;

    /// The member's error: where weights sum to 1, that of the pool is the pool of the errors.
    fn entry(row: &[f64], target: &Vec<f64>, i: usize) -> f64 {
        row[0] - target.numbers().map_or(0.0, |numbers| numbers[i])
    }

    fn pool(weights: &[f64], entries: &[f64], truth: f64) -> f64 {
        let of_errors: f64 = weights.iter().zip(entries).map(|(w, e)| w * e).sum();
        let error = of_errors + (weights.iter().sum::<f64>() - 1.0) * truth;
        -error * error
    }

    fn optimum(
        rows: DiskRows<'_>,
        start: &[f64],
        options: &Weights,
        run: &Run,
    ) -> Result<Option<Solution>> {
        let show = |show: &mut TakeBlock<'_>| rows.show(show);
        let problem = StreamedSquares::new(&show, start.len(), run);
        match options.method {
            Method::Simplex => problem.simplex(start),
            Method::NonNegative => problem.non_negative(),
            _ => Ok(None),
        }
    }
}

/// Whether the weights of a method follow from sums over the rows. Each round of greedy selection, and each draw of a bootstrap, would be
/// a pass of its own.
pub(super) fn is_streamed(method: Method) -> bool {
    !matches!(method, Method::Greedy | Method::PseudoBmaPlus)
}

/// The weights asked for, from a start, of which those that are not searched for are not judged; `None` if a method needs the whole matrix
/// in memory.
pub(super) fn weights_of<T: Streamable>(
    rows: DiskRows<'_>,
    start: &[f64],
    options: &Weights,
    run: &Run,
) -> Result<Option<Solution>> {
    if !(T::POOLED && is_streamed(options.method)) {
        return Ok(None);
    }
    let members = start.len();
    let weights = match options.method {
        Method::Uniform => vec![1.0 / members as f64; members],
        Method::Best => unit(members, first_largest(&Alone::new::<T>(rows, members, run)?.means)),
        Method::PseudoBma => {
            let Alone { means, counted } = Alone::new::<T>(rows, members, run)?;
            pseudo_bma::of_means(&means, counted as f64)
        }
        _ => return T::optimum(rows, start, options, run),
    };
    let (gap, score, iterations, uninformative_rows, converged) = (0.0, 0.0, 0, 0, true);
    Ok(Some(Solution { weights, gap, iterations, score, uninformative_rows, converged }))
}

/// The weights of all rows, and how they do there.
pub(super) fn judged_weights<T: Streamable>(
    disk: &DiskMatrix,
    start: &[f64],
    options: &Weights,
    run: &Run,
) -> Result<Option<(Solution, Judged)>> {
    let Some(found) = weights_of::<T>(disk.rows(), start, options, run)? else { return Ok(None) };
    let judged = Judged::new::<T>(disk, &found.weights, run)?;
    Ok(Some((Solution { score: judged.score(), ..found }, judged)))
}
