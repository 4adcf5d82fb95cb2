//! The best cut of a numeric column under gradient pairs, all cuts at once: running sums of the histogram, then the gains of
//! all cuts in one loop that vectorises. The same answer as [`super::search`] gives by trying one cut after another.

use multiversion::multiversion;

use super::histogram::{CODES, Sums};
use super::pairs::{PairCell, Units};

/// The node and what is asked of its children.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    /// Sums over all rows: gradient, curvature.
    pub total: [f64; 2],
    /// The score of the node.
    pub score: f64,
    pub l2: f64,
    /// The least curvature of either side.
    pub least: f64,
}

/// A cut after code `last`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swept {
    /// What is gained.
    pub gain: f64,
    /// The last code that goes left.
    pub last: usize,
    /// Whether missing values go left.
    pub missing_left: bool,
    left_curvature: f64,
}

/// The best cut of a column with this many bins; the first of equally good ones.
pub(super) fn sweep<P: PairCell>(
    histogram: &Sums<P>,
    bins: usize,
    units: Units,
    task: Task,
) -> Option<Swept> {
    let missing = histogram[bins];
    let has_missing = missing != P::default();
    let mut running = [P::default(); CODES];
    let (mut gradients, mut curvatures, mut gains) =
        ([0.0; CODES], [0.0; CODES], [f64::NEG_INFINITY; CODES]);
    let mut best: Option<Swept> = None;
    for missing_left in [false, true] {
        // Without missing values the last bin is no cut; with them it is, if they go right.
        let cuts = if has_missing && !missing_left { bins } else { bins - 1 };
        if cuts == 0 || (missing_left && !has_missing) {
            break;
        }
        let mut sum = if missing_left { missing } else { P::default() };
        for (running, cell) in running[..cuts].iter_mut().zip(histogram) {
            sum += *cell;
            *running = sum;
        }
        let (g, h) = (&mut gradients[..cuts], &mut curvatures[..cuts]);
        P::unpack(&running[..cuts], units, g, h);
        gains_of(g, h, task, &mut gains[..cuts]);
        let largest = largest(&gains);
        if largest > best.map_or(f64::NEG_INFINITY, |best| best.gain)
            && let Some(last) = gains[..cuts].iter().position(|gain| *gain == largest)
        {
            best = Some(Swept { gain: largest, last, missing_left, left_curvature: h[last] });
        }
        gains = [f64::NEG_INFINITY; CODES];
    }
    best.map(|best| Swept {
        missing_left: if has_missing {
            best.missing_left
        } else {
            best.left_curvature >= task.total[1] - best.left_curvature
        },
        ..best
    })
}

/// The gain of every cut, given the sums on its left; minus infinity for cuts that leave a side with too little.
#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator would be a branch, not SIMD code"
)]
fn gains_of(gradients: &[f64], curvatures: &[f64], task: Task, gains: &mut [f64]) {
    for ((gain, g), h) in gains.iter_mut().zip(gradients).zip(curvatures) {
        let (other_g, other_h) = (task.total[0] - g, task.total[1] - h);
        let (left, right) = (h + task.l2, other_h + task.l2);
        // One division for both sides.
        let score = (g * g * right + other_g * other_g * left) / (left * right) - task.score;
        let is_fine = (*h >= task.least) & (other_h >= task.least) & (*h > 0.0) & (other_h > 0.0);
        *gain = if is_fine { score } else { f64::NEG_INFINITY };
    }
}

#[multiversion(targets("x86_64+avx2+fma", "aarch64+neon"))]
fn largest(gains: &[f64; CODES]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 16];
    for chunk in gains.as_chunks::<16>().0 {
        for (lane, gain) in lanes.iter_mut().zip(chunk) {
            *lane = if *gain > *lane { *gain } else { *lane };
        }
    }
    lanes.into_iter().fold(f64::NEG_INFINITY, f64::max)
}
