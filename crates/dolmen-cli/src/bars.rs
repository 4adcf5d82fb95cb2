//! Small bars beside numbers, and what signs the terminal has for them.

use std::io::{self, IsTerminal};

/// Cells of a bar.
const BAR: usize = 10;

/// The bar of a weight among others; cells of one length, so that bars begin side by side. It is made of blocks on a terminal that
/// has them, else of plain signs.
pub(crate) fn weight_bar(weight: f64, all: impl Iterator<Item = f64>) -> String {
    let is_plain = !io::stdout().is_terminal() || is_plain();
    let bar = bar_of(weight / all.fold(0.0, f64::max), is_plain);
    let blanks = BAR - bar.chars().count().min(BAR);
    format!("{bar}{}", " ".repeat(blanks))
}

/// Whether the terminal is to be given plain signs only.
pub(crate) fn is_plain() -> bool {
    plain_in(&|name| std::env::var(name).ok())
}

/// Whether the terminal cannot move its cursor, so that nothing can be drawn over.
pub(crate) fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// The same in an environment: where NO_COLOR asks for it, the terminal is dumb, or the locale has no other signs.
fn plain_in(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_asked = variable("NO_COLOR").is_some();
    let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
    // The first that is set decides.
    let mut locales = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    let is_narrow = locales.find(|locale| !locale.is_empty()).is_some_and(|locale| {
        let locale = locale.to_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    });
    is_asked || is_dumb || is_narrow
}

/// A share of the largest as a bar.
fn bar_of(share: f64, is_plain: bool) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share > 0.0 { share.min(1.0) } else { return String::new() };
    if is_plain {
        return "#".repeat(((share * BAR as f64).round() as usize).max(1));
    }
    let eighths = ((share * (8 * BAR) as f64).round() as usize).max(1);
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share_and_zero_has_none() {
        assert_eq!(
            [0.0, 0.01, 0.5, 1.0].map(|s| bar_of(s, true)),
            ["", "#", "#####", "##########"]
        );
        let blocks = [0.0, 0.01, 0.55, 1.0].map(|s| bar_of(s, false));
        assert_eq!(blocks, ["", "▏", "█████▌", "██████████"]);
        assert_eq!(bar_of(f64::NAN, true), "");
        assert_eq!(weight_bar(0.2, [0.2, 0.4].into_iter()).chars().count(), BAR);
    }

    #[test]
    fn blocks_are_for_terminals_that_have_them() {
        let plain = |set: &[(&str, &str)]| {
            plain_in(&|name| {
                set.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_string())
            })
        };
        assert!(!plain(&[]));
        assert!(!plain(&[("TERM", "xterm-256color"), ("LANG", "de_DE.UTF-8")]));
        assert!(!plain(&[("LC_ALL", "C.utf8")]));
        assert!(plain(&[("NO_COLOR", "1"), ("LANG", "C.UTF-8")]));
        assert!(plain(&[("TERM", "dumb"), ("LANG", "C.UTF-8")]));
        assert!(plain(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(plain(&[("LC_ALL", ""), ("LANG", "POSIX")]));
    }
}
