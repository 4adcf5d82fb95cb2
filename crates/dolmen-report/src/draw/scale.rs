//! Scales: from values of the data to places on the canvas, and the round values that axes name.

use super::number::{fixed, minus, short};

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    domain: (f64, f64),
    range: (f64, f64),
    is_log: bool,
}

/// Ticks of an axis: the values, and how each is written.
pub(crate) type Ticks = Vec<(f64, String)>;

impl Scale {
    /// Even steps of values are even steps on the canvas. A domain of no width gets some.
    pub(crate) fn linear(domain: (f64, f64), range: (f64, f64)) -> Self {
        Self { domain: widened(domain), range, is_log: false }
    }

    /// Even factors of values are even steps on the canvas; the domain lies above 0.
    pub(crate) fn log(domain: (f64, f64), range: (f64, f64)) -> Self {
        let low = domain.0.max(f64::MIN_POSITIVE);
        let high = domain.1.max(low);
        let domain = if high > low { (low, high) } else { (low / 2.0, high * 2.0) };
        Self { domain, range, is_log: true }
    }

    /// Where a value lies; values beyond the domain, infinite ones too, lie at its ends.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.domain;
        let share = if self.is_log {
            (value / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.range.0 + share * (self.range.1 - self.range.0)
    }

    /// The values at the ends.
    pub(crate) fn domain(&self) -> (f64, f64) {
        self.domain
    }

    /// The places at the ends.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.range
    }

    /// About so many round values within the domain, as they are written: three at least, or two where no more are asked for, as one alone
    /// has no scale.
    pub(crate) fn ticks(&self, about: usize) -> Ticks {
        if self.is_log { self.log_ticks(about) } else { self.linear_ticks(about) }
    }

    fn linear_ticks(&self, about: usize) -> Ticks {
        let (low, high) = self.domain;
        let with_step = |step: f64| -> Ticks {
            let (first, last) =
                ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
            let values: Vec<f64> = (first..=last).map(|k| k as f64 * step).collect();
            let labels = tick_labels(&values, step);
            values.into_iter().zip(labels).collect()
        };
        // Round steps are up to 2.5 times wider than asked for: in a short domain too wide for as many of them.
        let counts = about.max(1)..about.max(1) + 20;
        let steps = counts.map(|count| round_step((high - low) / count as f64));
        steps.map(with_step).find(|ticks| ticks.len() >= fewest(about)).unwrap_or_default()
    }

    /// Powers of ten, with 2 and 5 of each where these are few; in less than a decade even steps.
    fn log_ticks(&self, about: usize) -> Ticks {
        let (low, high) = self.domain;
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let with = |factors: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|d| factors.iter().map(move |f| f * 10f64.powi(d)));
            all.filter(|v| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v)).collect()
        };
        let plain = with(&[1.0]);
        let is_few = plain.len() * 2 < about || plain.len() < fewest(about);
        let values = if is_few { with(&[1.0, 2.0, 5.0]) } else { plain };
        if values.len() < fewest(about) {
            return self.linear_ticks(about);
        }
        values.into_iter().map(|value| (value, short(value))).collect()
    }
}

/// The fewest ticks where about so many are asked for.
fn fewest(about: usize) -> usize {
    about.clamp(2, 3)
}

/// A domain with some width: of a single value, the value in the middle.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    // What differs in the last digits only is one value that was computed in several ways.
    if high - low > 1e-12 * low.abs().max(high.abs()) {
        return (low, high);
    }
    let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
    (low - half, low + half)
}

/// The smallest and largest of finite values; `None` without any.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|v| v.is_finite());
    finite.fold(None, |all, v| match all {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

/// Values farther from the middle half of all than so many times its width are far off.
const FAR: f64 = 30.0;
/// The part of all values that may be far off: more are no exception.
const FEW: f64 = 0.1;

/// The ends of all finite values but a few that are so far off that the others could not be told apart beside them.
pub(crate) fn trimmed(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut finite: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let last = finite.len().checked_sub(1)?;
    let at = |share: f64| finite[(share * last as f64).round() as usize];
    let (low, high) = (at(0.25), at(0.75));
    let reach = FAR * (high - low);
    let near: Vec<f64> =
        finite.iter().copied().filter(|v| (low - reach..=high + reach).contains(v)).collect();
    let is_told_apart = reach > 0.0 && near.len() as f64 >= (1.0 - FEW) * finite.len() as f64;
    if is_told_apart { extent(near) } else { Some((finite[0], finite[last])) }
}

/// A domain with a margin on both sides, a share of its width.
pub(crate) fn padded((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let (low, high) = widened((low, high));
    let margin = share * (high - low);
    (low - margin, high + margin)
}

/// The smallest of 1, 2, 5 times a power of ten that is not below a step.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Ticks with the decimals that their step needs, all as plain numbers or all with powers of ten.
fn tick_labels(values: &[f64], step: f64) -> Vec<String> {
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let size = values.iter().fold(step, |most, value| most.max(value.abs()));
    let is_zero = |value: f64| value.abs() < step / 2.0;
    let plain: Vec<String> = values
        .iter()
        .map(|value| if is_zero(*value) { 0.0 } else { *value })
        .map(|value| fixed(value, if value == 0.0 && decimals > 4 { 0 } else { decimals }))
        .collect();
    if (1e-4..1e6).contains(&size) {
        return plain;
    }
    let power = |value: &f64| {
        if is_zero(*value) {
            return "0".into();
        }
        // Digits from the first that counts to the last that the step moves.
        let own = (value.abs().log10() + 1e-9).floor();
        let digits = (own - step.log10().floor()).max(0.0) as usize;
        minus(&format!("{value:.digits$e}"))
    };
    let powers: Vec<String> = values.iter().map(power).collect();
    let longest = |labels: &[String]| labels.iter().map(|own| own.chars().count()).max();
    // What differs in its last digits only is not made shorter by a power of ten.
    if longest(&powers) < longest(&plain) { powers } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_within_the_domain() {
        let scale = Scale::linear((-0.13, 1.02), (0.0, 100.0));
        assert_eq!(labels(&scale, 5), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&scale, 8), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let dear = Scale::linear((31_000.0, 890_000.0), (0.0, 1.0));
        assert_eq!(labels(&dear, 4), ["200000", "400000", "600000", "800000"]);
        assert_eq!(
            labels(&Scale::linear((-3.2, -1.1), (0.0, 1.0)), 4),
            ["−3.0", "−2.5", "−2.0", "−1.5"]
        );
        assert_eq!(
            labels(&Scale::linear((2e-9, 9e-9), (0.0, 1.0)), 3),
            ["2e−9", "4e−9", "6e−9", "8e−9"]
        );
        let huge = Scale::linear((-5.2e9, -4.9e9), (0.0, 1.0));
        assert_eq!(labels(&huge, 3), ["−5.2e9", "−5.1e9", "−5.0e9", "−4.9e9"]);
        assert_eq!(
            labels(&Scale::log((40.0, 3000.0), (0.0, 1.0)), 6),
            ["50", "100", "200", "500", "1000", "2000"]
        );
        assert_eq!(labels(&Scale::log((1.0, 1e6), (0.0, 1.0)), 6).len(), 7);
        let million = Scale::linear((1e6, 1e6 + 2.0), (0.0, 1.0));
        assert_eq!(labels(&million, 2), ["1000000", "1000001", "1000002"]);
    }

    #[test]
    fn no_axis_has_a_single_tick() {
        let ends = [(0.9, 2.1), (31.0, 89.0), (0.21, 0.49), (3.0, 4.0), (7.0, 7.0), (2e-9, 9e-9)];
        for (domain, about) in ends.into_iter().flat_map(|ends| [(ends, 1), (ends, 2), (ends, 5)]) {
            for scale in [Scale::linear(domain, (0.0, 1.0)), Scale::log(domain, (0.0, 1.0))] {
                let count = labels(&scale, about).len();
                let least = if about > 2 { 3 } else { 2 };
                assert!((least..=10).contains(&count), "{domain:?}, about {about}: {count}");
            }
        }
    }

    #[test]
    fn no_two_ticks_are_written_alike() {
        for domain in
            [(0.599_001, 0.599_009), (5.020_99, 5.021_02), (1e6, 1e6 + 3.0), (-2e-7, 3e-7)]
        {
            let mut written = labels(&Scale::linear(domain, (0.0, 400.0)), 5);
            let count = written.len();
            written.dedup();
            assert!(count > 1 && written.len() == count, "{domain:?}: {written:?}");
        }
        // A value and the same with noise of its last digits: one tick is enough.
        let noisy = Scale::linear((0.6, 0.6 + 1e-15), (0.0, 1.0));
        assert!(noisy.domain().1 - noisy.domain().0 > 0.01);
    }

    #[test]
    fn a_few_values_far_off_are_beyond_the_ends_and_many_are_not() {
        let mut values: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(trimmed(values.clone()), Some((0.0, 39.0)));
        values.extend([1e9, f64::NAN, f64::NEG_INFINITY]);
        assert_eq!(trimmed(values.clone()), Some((0.0, 39.0)));
        values.extend([1e9; 9]);
        assert_eq!(trimmed(values), Some((0.0, 1e9)));
        assert_eq!(trimmed([2.0, 2.0, 2.0, 7.0]), Some((2.0, 7.0)), "nothing to tell apart");
        assert_eq!((trimmed([3.0]), trimmed([f64::NAN])), (Some((3.0, 3.0)), None));
    }

    #[test]
    fn values_beyond_the_ends_and_infinite_ones_stay_on_the_canvas() {
        let scale = Scale::linear((0.0, 2.0), (10.0, 110.0));
        let places =
            [-5.0, f64::NEG_INFINITY, 1.0, 2.0, f64::INFINITY, f64::NAN].map(|v| scale.at(v));
        assert_eq!(places, [10.0, 10.0, 60.0, 110.0, 110.0, 10.0]);
        let down = Scale::linear((0.0, 1.0), (100.0, 0.0));
        assert_eq!(down.at(0.25), 75.0);
        let log = Scale::log((1.0, 100.0), (0.0, 2.0));
        assert!((log.at(10.0) - 1.0).abs() < 1e-12);
        assert_eq!(log.at(-1.0), 0.0);
    }

    #[test]
    fn a_single_value_has_room_around_it() {
        let scale = Scale::linear((7.0, 7.0), (0.0, 1.0));
        assert_eq!(scale.at(7.0), 0.5);
        assert_eq!(Scale::linear((f64::NAN, 3.0), (0.0, 1.0)).domain(), (0.0, 1.0));
        assert_eq!(extent([f64::NEG_INFINITY, 3.0, f64::NAN, -1.0]), Some((-1.0, 3.0)));
        assert_eq!(extent([f64::INFINITY]), None);
    }
}
