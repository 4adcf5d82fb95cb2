//! Which attributes are used where there are very many: those that tell most of the class.
//!
//! Pairs of attributes cost the square of their number, and with far more of them than rows most tell nothing. They are
//! ranked by their mutual information with the class in the rows learned from (Battiti1994, without his second term).

use std::cmp::Reverse;

use super::counts::Counts;

/// Attributes whose pairs are counted unless the user says otherwise.
pub const USUAL_MOST: usize = 256;

/// For every column whether it is among the `most` that tell most of the class, or must be there; of equal ones the first.
pub(super) fn screen(counts: &Counts, most: usize, must: &[usize]) -> Vec<bool> {
    let columns = counts.layout().attributes();
    let information: Vec<f64> = (0..columns).map(|u| mutual_information(counts, u)).collect();
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|&a, &b| information[b].total_cmp(&information[a]).then(a.cmp(&b)));
    order.sort_by_key(|u| Reverse(must.contains(u)));
    let mut chosen = vec![false; columns];
    order.iter().take(most.max(must.len())).for_each(|&u| chosen[u] = true);
    chosen
}

/// sum_ci p(c, i) ln (p(c, i) / (p(c) p(i))) over the rows in which the attribute is known.
fn mutual_information(counts: &Counts, u: usize) -> f64 {
    let layout = counts.layout();
    let mut by_class = vec![0.0; layout.classes()];
    for a in layout.slots_of(u) {
        by_class.iter_mut().zip(counts.single(a)).for_each(|(sum, n)| *sum += n);
    }
    let total: f64 = by_class.iter().sum();
    let of_value = |a: usize| {
        let of_value: f64 = counts.single(a).iter().sum();
        let cells = counts.single(a).iter().zip(&by_class).filter(|(n, _)| **n > 0.0);
        cells.map(|(n, of_class)| n * (n * total / (of_class * of_value)).ln()).sum::<f64>()
    };
    if total > 0.0 { layout.slots_of(u).map(of_value).sum::<f64>() / total } else { 0.0 }
}
