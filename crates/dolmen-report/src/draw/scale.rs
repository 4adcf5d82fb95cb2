//! Scales: from values of the data to places on the canvas, and the round values that axes name.

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

    /// About so many round values within the domain, as they are written.
    pub(crate) fn ticks(&self, about: usize) -> Ticks {
        if self.is_log { self.log_ticks(about) } else { self.linear_ticks(about) }
    }

    fn linear_ticks(&self, about: usize) -> Ticks {
        let (low, high) = self.domain;
        let step = round_step((high - low) / about.max(1) as f64);
        let (first, last) =
            ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        let written = |value: f64| tick_label(value, step);
        (first..=last).map(|k| k as f64 * step).map(|value| (value, written(value))).collect()
    }

    /// Powers of ten, with 2 and 5 of each where these are few.
    fn log_ticks(&self, about: usize) -> Ticks {
        let (low, high) = self.domain;
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let with = |factors: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|d| factors.iter().map(move |f| f * 10f64.powi(d)));
            all.filter(|v| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v)).collect()
        };
        let plain = with(&[1.0]);
        let values = if plain.len() * 2 < about { with(&[1.0, 2.0, 5.0]) } else { plain };
        values.into_iter().map(|value| (value, short(value))).collect()
    }
}

/// A domain with some width: of a single value, the value in the middle.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    // What differs in the last digits only is one value that was computed in several ways.
    if high - low > 1e-9 * low.abs().max(high.abs()) {
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

/// A tick with the decimals that its step needs.
fn tick_label(value: f64, step: f64) -> String {
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    let size = value.abs().max(step);
    // Digits from the first that counts to the last that the step moves.
    let digits = (size.log10().floor() - step.log10().floor()).max(0.0) as usize;
    if value != 0.0 && !(1e-4..1e6).contains(&size) {
        return minus(&format!("{value:.digits$e}"));
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    minus(&format!("{value:.*}", if value == 0.0 && decimals > 4 { 0 } else { decimals }))
}

/// A number in about four digits, of those below 1 in three, with a true minus.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        return "unknown".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "−∞".into() };
    }
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.2e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return minus(&format!("{digits}e{power}"));
    }
    let whole_digits = if size < 1.0 { 1 } else { size.log10().floor() as usize + 1 };
    let decimals = if size < 1.0 && size > 0.0 {
        (2.0 - size.log10().floor()) as usize
    } else {
        4usize.saturating_sub(whole_digits)
    };
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(if text == "-0" { "0" } else { text })
}

/// A number with its sign, as differences are written.
pub(crate) fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", short(value)) } else { short(value) }
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
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
        assert_eq!(labels(&dear, 4), ["500000"]);
        assert_eq!(labels(&Scale::linear((-3.2, -1.1), (0.0, 1.0)), 4), ["−3", "−2"]);
        assert_eq!(labels(&Scale::linear((2e-9, 9e-9), (0.0, 1.0)), 3), ["5e−9"]);
        let huge = Scale::linear((-5.2e9, -4.9e9), (0.0, 1.0));
        assert_eq!(labels(&huge, 3), ["−5.2e9", "−5.1e9", "−5.0e9", "−4.9e9"]);
        assert_eq!(
            labels(&Scale::log((40.0, 3000.0), (0.0, 1.0)), 6),
            ["50", "100", "200", "500", "1000", "2000"]
        );
        assert_eq!(labels(&Scale::log((1.0, 1e6), (0.0, 1.0)), 6).len(), 7);
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

    #[test]
    fn numbers_are_short() {
        let written = [
            0.0,
            0.123_456,
            -1.5709,
            1234.5,
            123_456.7,
            0.000_012,
            5e7,
            f64::NEG_INFINITY,
            -0.00001,
        ];
        let written = written.map(short);
        assert_eq!(
            written,
            ["0", "0.123", "−1.571", "1234", "123457", "1.2e−5", "5e7", "−∞", "−1e−5"]
        );
        assert_eq!([signed(0.5), signed(-0.5), signed(0.0)], ["+0.5", "−0.5", "0"]);
    }
}
