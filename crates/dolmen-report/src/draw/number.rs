//! Numbers as they are written.

use super::text::width;

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
    let text = written(value, decimals);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(if text == "-0" { "0" } else { text })
}

/// A number in as many digits as there is room for in letters of a size, one at least: a number that is cut is another one.
pub(crate) fn short_within(value: f64, size: f64, room: f64) -> String {
    let rounded = |digits: usize| {
        let text = format!("{value:.*e}", digits - 1);
        [short(text.parse().unwrap_or(value)), minus(&text)]
    };
    let mut written = [4, 3, 2, 1].into_iter().flat_map(rounded);
    let fits = |text: &String| width(text, size) <= room;
    let shortest = || {
        let least = rounded(1);
        least.into_iter().min_by_key(|text| text.chars().count()).unwrap_or_default()
    };
    Some(short(value)).filter(fits).or_else(|| written.find(fits)).unwrap_or_else(shortest)
}

/// A number with its sign, as differences are written.
pub(crate) fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", short(value)) } else { short(value) }
}

/// A number with so many decimals; what is rounded to zero has no sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = written(value, decimals);
    let is_zero = text.chars().all(|sign| matches!(sign, '-' | '0' | '.'));
    if is_zero { text.trim_start_matches('-').into() } else { minus(&text) }
}

/// A number with so many decimals; more where one below 1 would be rounded to 1, which is another matter than nearly 1.
fn written(value: f64, decimals: usize) -> String {
    /// What is nearer to 1 than this is rounding.
    const NEAR: f64 = 1e-6;
    let text = format!("{value:.decimals$}");
    let (away, is_rounded) = (1.0 - value.abs(), text.trim_start_matches('-').starts_with('1'));
    if is_rounded && away > NEAR {
        // A distance of 0.0001 needs four decimals, however its logarithm is rounded.
        let needed = (-away.log10() - 1e-9).ceil();
        let decimals = needed.max(decimals as f64 + 1.0) as usize;
        return format!("{value:.decimals$}");
    }
    text
}

/// A mean with its standard error in two digits, both to the same decimal and by the same power of ten.
pub(crate) fn uncertain(mean: f64, se: Option<f64>) -> String {
    let Some(se) = known_error(mean, se) else { return short(mean) };
    let size = mean.abs().max(se);
    if (1e-4..1e6).contains(&size) {
        let [mean, se] = with_decimals(mean, se);
        return format!("{mean} ± {se}");
    }
    let power = size.log10().floor() as i32;
    let unit = 10f64.powi(power);
    let [mean, se] = with_decimals(mean / unit, se / unit);
    format!("({mean} ± {se})e{}", minus(&power.to_string()))
}

/// The same of a difference, with its sign.
pub(crate) fn uncertain_gain(mean: f64, se: Option<f64>) -> String {
    let text = uncertain(mean, se);
    let is_zero = |text: &str| !text.chars().any(|sign| matches!(sign, '1'..='9' | '∞'));
    let first = text.split(" ±").next().unwrap_or(&text);
    if mean > 0.0 && !is_zero(first) {
        match text.strip_prefix('(') {
            Some(rest) => format!("(+{rest}"),
            None => format!("+{text}"),
        }
    } else {
        text
    }
}

/// A standard error that says something. One of 0 is none: values that are all alike, such as the errors of rows that are all right, do
/// not make the next row sure; nor is one that rounding left, or that of a figure that is not known.
fn known_error(mean: f64, se: Option<f64>) -> Option<f64> {
    /// Errors smaller than this share of what they are errors of are rounding.
    const NOISE: f64 = 1e-12;
    se.filter(|se| mean.is_finite() && se.is_finite() && *se > NOISE * mean.abs())
}

/// A mean and its error with as many decimals as the error has in two digits.
fn with_decimals(mean: f64, se: f64) -> [String; 2] {
    const MOST: f64 = 9.0;
    let decimals = (1.0 - se.log10().floor()).clamp(0.0, MOST) as usize;
    [mean, se].map(|value| fixed(value, decimals))
}

/// So many of something.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            [0.9996, -0.999_96, 1.0, 1.0 - 1e-9].map(short),
            ["0.9996", "−0.99996", "1", "1"]
        );
        assert_eq!([fixed(0.9999, 3), fixed(1.0, 3)], ["0.9999", "1.000"]);
        assert_eq!([signed(0.5), signed(-0.5), signed(0.0)], ["+0.5", "−0.5", "0"]);
    }

    #[test]
    fn numbers_have_as_many_digits_as_there_is_room_for() {
        let within = |value, text: &str| short_within(value, 12.0, width(text, 12.0));
        assert_eq!(within(-0.061_23, "−0.0612"), "−0.0612");
        assert_eq!(within(-0.061_23, "−0.061"), "−0.061");
        assert_eq!(within(-0.061_23, "−0.06"), "−0.06");
        assert_eq!(within(123_456.7, "1.2e5"), "1.2e5");
        assert_eq!(within(-0.061_23, "1"), "−0.06");
        assert_eq!(within(f64::NEG_INFINITY, "1"), "−∞");
        assert_eq!(within(0.0, "1"), "0");
    }

    #[test]
    fn errors_and_what_they_are_of_end_at_the_same_digit() {
        let written = [
            (-3.9, Some(0.171)),
            (-1.31e6, Some(78_334.0)),
            (1.0, Some(4.97e-17)),
            (f64::NAN, Some(3.18e24)),
            (f64::NEG_INFINITY, None),
            (0.5, Some(0.0)),
            (2e-5, Some(1.1e-6)),
            (12_345.6, Some(678.9)),
            (0.5, Some(0.000_012)),
        ];
        assert_eq!(
            written.map(|(mean, se)| uncertain(mean, se)),
            [
                "−3.90 ± 0.17",
                "(−1.310 ± 0.078)e6",
                "1",
                "unknown",
                "−∞",
                "0.5",
                "(2.00 ± 0.11)e−5",
                "12346 ± 679",
                "0.500000 ± 0.000012"
            ]
        );
        let gains = [(0.02, 0.01), (-0.02, 0.01), (0.0001, 0.1), (2e7, 1e6)];
        assert_eq!(
            gains.map(|(mean, se)| uncertain_gain(mean, Some(se))),
            ["+0.020 ± 0.010", "−0.020 ± 0.010", "0.00 ± 0.10", "(+2.00 ± 0.10)e7"]
        );
    }

    #[test]
    fn nothing_has_no_sign_and_no_error() {
        assert_eq!(
            [-0.001, 0.001, -0.0, -0.25].map(|v| fixed(v, 2)),
            ["0.00", "0.00", "0.00", "−0.25"]
        );
        assert_eq!([0, 1, 2].map(|rows| counted(rows, "row")), ["0 rows", "1 row", "2 rows"]);
    }
}
