//! Numbers, errors and counts as people read them.

use dolmen::score::Estimate;

/// Shares, weights and their errors smaller than this are what rounding leaves of 0.
pub(crate) const TINY: f64 = 1e-15;

/// A standard error with the digit or two that it is good for.
pub(crate) fn error(se: f64) -> String {
    match se {
        0.0 => "0".into(),
        se if (1e-3..1.0).contains(&se) => format!("{se:.3}"),
        se if (1.0..1e3).contains(&se) => format!("{se:.1}"),
        se => format!("{se:.0e}"),
    }
}

/// A number with as many digits as people compare: four decimals, or powers of ten outside their reach.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        // Not `-0`.
        "0".into()
    } else if value.is_nan() {
        "-".into()
    } else if value.is_infinite() {
        format!("{value}")
    } else if (1e-3..1e7).contains(&size) {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    }
}

/// So many of something: `1 row`, `2 rows`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let end = match what {
        _ if count == 1 => "",
        what if what.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {what}{end}")
}

/// A number that may be missing.
pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), number)
}

/// A signed difference with its standard error.
pub(crate) fn difference(estimate: &Estimate) -> String {
    let sign = if estimate.mean > 0.0 { "+" } else { "" };
    format!("{sign}{} (se {})", number(estimate.mean), maybe(estimate.se))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!([counted(1, "row"), counted(2, "row")], ["1 row", "2 rows"]);
        assert_eq!([counted(1, "pass"), counted(0, "pass")], ["1 pass", "0 passes"]);
    }

    #[test]
    fn numbers_of_any_size_are_told_apart() {
        assert_eq!([number(0.0), number(-1.34e-24), number(0.25)], ["0", "-1.34e-24", "0.2500"]);
        assert_eq!(number(-0.0), "0");
        assert_eq!([error(0.0), error(3e-13), error(0.0123)], ["0", "3e-13", "0.012"]);
    }
}
