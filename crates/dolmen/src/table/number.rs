//! Numbers as text: what a cell must look like to be one, and how one is written.

use std::fmt;

/// The number that a cell spells, blanks around it aside: decimal or exponent form, or `inf`, `infinity`, `nan` in any case.
pub(crate) fn parse(cell: &[u8]) -> Option<f64> {
    fast_float2::parse(trim(cell)).ok()
}

/// The number that a text spells exactly as it would be written.
pub(super) fn plain(text: &str) -> Option<f64> {
    parse(text.as_bytes()).filter(|value| Spelled(*value).to_string() == text)
}

/// The number at the start of `text`, and how many bytes it takes.
pub(super) fn parse_start(text: &[u8]) -> Option<(f64, usize)> {
    fast_float2::parse_partial(text).ok()
}

/// A cell without the blanks around it.
pub(super) fn trim(cell: &[u8]) -> &[u8] {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let Some(first) = cell.iter().position(|b| !blank(b)) else {
        return &[];
    };
    let last = cell.iter().rposition(|b| !blank(b)).unwrap_or(first);
    &cell[first..=last]
}

/// Shows the shortest text that reads back as the same number.
pub(super) struct Spelled(pub(super) f64);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        // Display never uses an exponent; Debug does, but writes whole numbers as `1.0`.
        let long_without_exponent = value != 0.0 && !(1e-5..1e16).contains(&value.abs());
        if long_without_exponent { write!(f, "{value:?}") } else { write!(f, "{value}") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_written_briefly() {
        let cases = [
            (1.0, "1"),
            (-0.0, "-0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(Spelled(value).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let back = parse(Spelled(value).to_string().as_bytes()).unwrap();
            prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
        }

        #[test]
        fn cells_are_numbers_exactly_when_the_standard_library_says_so(
            cell in "[ \t]{0,2}([-+.e0-9]{0,8}|[+-]?(inf|NaN|infinity|infinit|in))[ \t]{0,2}",
        ) {
            let expected = cell.trim().parse::<f64>().ok();
            prop_assert_eq!(parse(cell.as_bytes()).map(f64::to_bits), expected.map(f64::to_bits));
        }
    }
}
