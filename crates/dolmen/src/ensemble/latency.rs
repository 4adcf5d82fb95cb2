//! How long fitted members take to predict one row: what an answer to a single question costs.

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::learner::Fitted;
use crate::table::Rows;
use crate::task::Task;

/// Rows that are predicted, spread over the table.
const ROWS: usize = 32;
/// Time after which no further row is predicted.
const ENOUGH: Duration = Duration::from_millis(200);

/// The median time of predicting a row by itself, in seconds.
pub(super) fn seconds_per_row<T: Task>(model: &dyn Fitted<T>, x: Rows<'_>) -> Result<f64> {
    let begun = Instant::now();
    let mut out = vec![0.0; model.width()];
    let step = (x.rows() / ROWS).max(1);
    let mut spent = Vec::new();
    for (asked, i) in (0..x.rows()).step_by(step).enumerate() {
        let place = [i];
        let row = x.view(&place);
        let start = Instant::now();
        model.predict_into(row.rows(), &mut out)?;
        let seconds = start.elapsed().as_secs_f64();
        // The first answer also fetches the model into the caches.
        if asked > 0 || x.rows() == 1 {
            spent.push(seconds);
        }
        if begun.elapsed() > ENOUGH && !spent.is_empty() {
            break;
        }
    }
    spent.sort_by(f64::total_cmp);
    Ok(spent[spent.len() / 2])
}
