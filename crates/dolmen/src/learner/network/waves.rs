//! Numbers seen by waves: beside each column stand a few features of it alone, each the positive part of a sum of waves whose
//! lengths are learned [Gorishniy2022, section 3.3]. Plain layers are slow to bend twice along one column; these bend as often as they need to.
//!
//! Rows lie side by side here, one column at a time, so that every loop is over rows.

#![expect(
    clippy::inline_always,
    reason = "these must be compiled with the features of their caller"
)]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;
use serde::{Deserialize, Serialize};

use super::matrix::{LANES, fma, padded};
use crate::store::Parameters;

/// Features of each column.
pub(super) const FEATURES: usize = 4;
/// The standard deviation of the frequencies at the start, in periods for each standard deviation of the column: nearly straight.
const SPREAD: f32 = 0.1;

/// The columns that are seen by waves, and by how many each; what is learned lies behind the layers' parameters.
///
/// Of each column there are frequencies and phases, one a wave; the waves' weights, `FEATURES` a wave; and the features' intercepts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waves {
    pub(super) count: usize,
    pub(super) columns: Vec<usize>,
}

/// Room for a batch of rows.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// The values of a column, those of its features, and the derivatives of the loss by these.
    values: Vec<f32>,
    features: Vec<f32>,
    slopes: Vec<f32>,
    /// The derivatives of the loss by the phase of a wave.
    phases: Vec<f32>,
    /// Sines and cosines of every column's waves.
    sines: Vec<f32>,
    cosines: Vec<f32>,
}

impl Waves {
    /// Whether no column is seen by waves.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 || self.columns.is_empty()
    }

    /// Features of a row.
    pub(super) fn features(&self) -> usize {
        if self.is_empty() { 0 } else { self.columns.len() * FEATURES }
    }

    /// Parameters of one column; `None` if there could not be so many.
    fn each(&self) -> Option<usize> {
        self.count.checked_mul(2 + FEATURES)?.checked_add(FEATURES)
    }

    /// Number of parameters.
    pub(super) fn parameters(&self) -> Option<usize> {
        if self.is_empty() { Some(0) } else { self.each()?.checked_mul(self.columns.len()) }
    }

    /// A column's parameters: frequencies, phases, weights and intercepts.
    fn split<'a>(&self, own: &'a [f32]) -> [&'a [f32]; 4] {
        let (frequencies, rest) = own.split_at(self.count);
        let (phases, rest) = rest.split_at(self.count);
        let (weights, intercepts) = rest.split_at(self.count * FEATURES);
        [frequencies, phases, weights, intercepts]
    }

    /// Parameters to start from: long waves of any phase.
    pub(super) fn start(&self, parameters: &mut [f32], mut uniform: impl FnMut() -> f32) {
        let Some(each) = self.each().filter(|_| !self.is_empty()) else { return };
        let bound = 1.0 / (self.count as f32).sqrt();
        for own in parameters.chunks_exact_mut(each) {
            let (frequencies, rest) = own.split_at_mut(self.count);
            let (phases, weights) = rest.split_at_mut(self.count);
            for frequency in frequencies {
                // A normal number by Box and Muller's way.
                let length = (-2.0 * uniform().max(f32::MIN_POSITIVE).ln()).sqrt();
                *frequency = SPREAD * length * (std::f32::consts::TAU * uniform()).cos();
            }
            phases.iter_mut().for_each(|phase| *phase = uniform() - 0.5);
            weights.iter_mut().for_each(|weight| *weight = bound * (2.0 * uniform() - 1.0));
        }
    }

    /// Room for so many rows.
    pub(super) fn space(&self, rows: usize) -> Space {
        if self.is_empty() {
            return Space::default();
        }
        let rows = padded(rows);
        let waves = || vec![0.0; self.columns.len() * self.count * rows];
        let features = || vec![0.0; FEATURES * rows];
        Space {
            values: vec![0.0; rows],
            features: features(),
            slopes: features(),
            phases: vec![0.0; rows],
            sines: waves(),
            cosines: waves(),
        }
    }

    /// Writes each of so many rows, as it is and behind it its features, into rows of `out`.
    pub(super) fn forward(
        &self,
        parameters: &[f32],
        x: &[f32],
        rows: usize,
        space: &mut Space,
        out: &mut [f32],
    ) {
        let columns = x.len() / rows.max(1);
        let width = columns + self.features();
        for (row, out) in x.chunks_exact(columns).zip(out.chunks_exact_mut(width)) {
            out[..columns].copy_from_slice(row);
        }
        let (length, Some(each)) = (padded(rows), self.each()) else { return };
        let Space { values, features, sines, cosines, .. } = space;
        let (values, features) = (&mut values[..length], &mut features[..FEATURES * length]);
        let waves = self.count * length;
        let held = sines.chunks_exact_mut(waves).zip(cosines.chunks_exact_mut(waves));
        let own = self.columns.iter().zip(parameters.chunks_exact(each)).zip(held).enumerate();
        for (a, ((&column, own), (sines, cosines))) in own {
            read_column(x, columns, column, values);
            sum_waves(self.split(own), values, sines, cosines, features);
            for (f, feature) in features.chunks_exact(length).enumerate() {
                let at = columns + a * FEATURES + f;
                out.chunks_exact_mut(width).zip(feature).for_each(|(row, v)| row[at] = *v);
            }
        }
    }

    /// Adds the gradient, after a forward pass of the same rows. `written` are the rows it wrote; the derivatives of the loss by them
    /// stand in rows of `deltas`, which are `stride` apart.
    pub(super) fn backward(
        &self,
        parameters: &[f32],
        (x, written, rows): (&[f32], &[f32], usize),
        (deltas, stride): (&[f32], usize),
        space: &mut Space,
        gradient: &mut [f32],
    ) {
        let columns = x.len() / rows.max(1);
        let width = columns + self.features();
        let (length, Some(each)) = (padded(rows), self.each()) else { return };
        let Space { values, slopes, phases, sines, cosines, .. } = space;
        let (values, slopes) = (&mut values[..length], &mut slopes[..FEATURES * length]);
        let waves = self.count * length;
        let held = sines.chunks_exact(waves).zip(cosines.chunks_exact(waves));
        let own = parameters.chunks_exact(each).zip(gradient.chunks_exact_mut(each));
        for (a, ((&column, (own, gradient)), held)) in
            self.columns.iter().zip(own).zip(held).enumerate()
        {
            read_column(x, columns, column, values);
            for (f, slopes) in slopes.chunks_exact_mut(length).enumerate() {
                let at = columns + a * FEATURES + f;
                slopes[rows..].fill(0.0);
                let both = written.chunks_exact(width).zip(deltas.chunks_exact(stride));
                for (slope, (written, deltas)) in slopes.iter_mut().zip(both) {
                    *slope = if written[at] > 0.0 { deltas[at] } else { 0.0 };
                }
            }
            let weights = self.split(own)[2];
            add_slopes(weights, values, held, slopes, &mut phases[..length], gradient);
        }
    }

    /// What was learned of each column.
    pub(super) fn describe(&self, parameters: &[f64]) -> Parameters {
        let columns: Vec<f64> = self.columns.iter().map(|column| *column as f64).collect();
        let described = Parameters::new("waves").with("columns", columns);
        let Some(each) = self.each().filter(|_| !self.is_empty()) else { return described };
        let part = |from: usize, to: usize| -> Vec<f64> {
            parameters.chunks_exact(each).flat_map(|own| own[from..to].to_vec()).collect()
        };
        let (columns, count) = (self.columns.len(), self.count);
        let weights = part(2 * count, (2 + FEATURES) * count);
        described
            .with_array("frequencies", &[columns, count], part(0, count))
            .with_array("phases", &[columns, count], part(count, 2 * count))
            .with_array("weights", &[columns, count, FEATURES], weights)
            .with_array("intercepts", &[columns, FEATURES], part((2 + FEATURES) * count, each))
    }
}

/// The values of a column, side by side; what is left of `values` is 0.
fn read_column(x: &[f32], columns: usize, column: usize, values: &mut [f32]) {
    values.fill(0.0);
    values.iter_mut().zip(x.chunks_exact(columns)).for_each(|(value, row)| *value = row[column]);
}

/// The sine and the cosine of `turns` full turns. Polynomials in the square of what is left beside whole turns; errors below 3e-7.
#[inline(always)]
fn sine_cosine<const FMA: bool>(turns: f32) -> (f32, f32) {
    /// 1.5 * 2^23: adding it rounds to the nearest integer.
    const ROUNDER: f32 = 12_582_912.0;
    const COSINE: [f32; 7] =
        [1.0, -19.739_204, 64.939_12, -85.450_14, 60.167_63, -25.967_6, 6.528_658_4];
    const SINE: [f32; 7] =
        [6.283_185_5, -41.341_7, 81.605_13, -76.703_02, 42.025_93, -14.899_847, 3.238_137_5];
    // Beyond 2^22 turns nothing is left to tell; the bounds keep the polynomials from growing there.
    let left = (turns - ((turns + ROUNDER) - ROUNDER)).clamp(-0.5, 0.5);
    let square = left * left;
    let polynomial = |of: &[f32; 7]| {
        let pair = |i: usize| fma::<FMA>(of[i + 1], square, of[i]);
        let fourth = square * square;
        let high = fma::<FMA>(of[6], fourth, pair(4));
        fma::<FMA>(fma::<FMA>(high, fourth, pair(2)), fourth, pair(0))
    };
    (left * polynomial(&SINE), polynomial(&COSINE))
}

/// The features of a column: positive parts of sums of waves. The rows of `sines`, `cosines` and `features` are as long as `values`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn sum_waves(
    own: [&[f32]; 4],
    values: &[f32],
    sines: &mut [f32],
    cosines: &mut [f32],
    features: &mut [f32],
) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let [frequencies, phases, weights, intercepts] = own;
    let length = values.len();
    for (feature, intercept) in features.chunks_exact_mut(length).zip(intercepts) {
        feature.fill(*intercept);
    }
    let rows = sines.chunks_exact_mut(length).zip(cosines.chunks_exact_mut(length));
    let waves = frequencies.iter().zip(phases).zip(weights.chunks_exact(FEATURES));
    for (((frequency, phase), weights), (sines, cosines)) in waves.zip(rows) {
        for ((value, sine), cosine) in values.iter().zip(&mut *sines).zip(&mut *cosines) {
            (*sine, *cosine) = sine_cosine::<FMA>(fma::<FMA>(*frequency, *value, *phase));
        }
        for (feature, weight) in features.chunks_exact_mut(length).zip(weights) {
            for (sum, cosine) in feature.iter_mut().zip(&*cosines) {
                *sum = fma::<FMA>(*weight, *cosine, *sum);
            }
        }
    }
    features.iter_mut().for_each(|feature| *feature = feature.max(0.0));
}

/// Adds the gradient of a column's parameters, from the derivatives of the loss by the sums that its features are positive parts of.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn add_slopes(
    weights: &[f32],
    values: &[f32],
    (sines, cosines): (&[f32], &[f32]),
    slopes: &[f32],
    phases: &mut [f32],
    gradient: &mut [f32],
) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let (length, count) = (values.len(), weights.len() / FEATURES);
    let rows = sines.chunks_exact(length).zip(cosines.chunks_exact(length));
    for (l, (weights, (sines, cosines))) in weights.chunks_exact(FEATURES).zip(rows).enumerate() {
        phases.fill(0.0);
        for (f, (weight, slopes)) in weights.iter().zip(slopes.chunks_exact(length)).enumerate() {
            gradient[2 * count + l * FEATURES + f] += product::<FMA>(slopes, cosines);
            for (phase, slope) in phases.iter_mut().zip(slopes) {
                *phase = fma::<FMA>(*weight, *slope, *phase);
            }
        }
        for (phase, sine) in phases.iter_mut().zip(sines) {
            *phase *= -std::f32::consts::TAU * sine;
        }
        gradient[l] += product::<FMA>(phases, values);
        gradient[count + l] += sum(phases);
    }
    for (f, slopes) in slopes.chunks_exact(length).enumerate() {
        gradient[(2 + FEATURES) * count + f] += sum(slopes);
    }
}

/// The sum of products; lengths are multiples of the lanes.
#[inline(always)]
fn product<const FMA: bool>(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (left, _) = left.as_chunks::<LANES>();
    let (right, _) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for l in 0..LANES {
            sums[l] = fma::<FMA>(left[l], right[l], sums[l]);
        }
    }
    sums.iter().sum()
}

/// The sum of values, of which there is a multiple of the lanes.
#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (values, _) = values.as_chunks::<LANES>();
    for values in values {
        for l in 0..LANES {
            sums[l] += values[l];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_and_cosines_are_those_of_the_library() {
        for i in -4000..4000 {
            let turns = i as f32 * 0.001_7;
            let (sine, cosine) = sine_cosine::<false>(turns);
            let angle = std::f64::consts::TAU * f64::from(turns);
            let far =
                (f64::from(sine) - angle.sin()).abs().max((f64::from(cosine) - angle.cos()).abs());
            assert!(far < 1e-6, "{turns}: {sine} {cosine}");
        }
        let (sine, cosine) = sine_cosine::<false>(1e30);
        assert!(sine.abs() <= 1.001 && cosine.abs() <= 1.001);
    }
}
