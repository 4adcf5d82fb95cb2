//! What a misspelt name was meant to be.

/// The candidate nearest to a word, if it is near enough to be what was meant: a third of the letters may be wrong, and
/// case and blanks at the ends do not count. Of several as near, the first.
fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.trim().to_lowercase().chars().collect::<Vec<char>>();
    let word = plain(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let letters = plain(candidate);
        let allowed = (word.len().max(letters.len()) / 3).max(1);
        // Of words of one or two letters any other is as near.
        let allowed = if word.len().min(letters.len()) < 3 { 0 } else { allowed };
        let distance = distance(&word, &letters);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The hint that names the nearest candidate, if one is near.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean '{near}'?"))
}

/// Letters to insert, leave out or change, or neighbours to exchange, to get from one word to the other (optimal string
/// alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_slips_of_the_keyboard() {
        let found = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        let cases =
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("froest", "forest", 1)];
        for (a, b, expected) in cases {
            assert_eq!((found(a, b), found(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let names = ["age", "Species", "x", "bandwidth", "kernel"];
        let near = |word| nearest(word, names);
        assert_eq!(near(" species "), Some("Species"));
        assert_eq!((near("kernell"), near("forest")), (Some("kernel"), None));
        assert_eq!((near("bandwith"), near("agee")), (Some("bandwidth"), Some("age")));
        assert_eq!((near("y"), near("weight"), near("")), (None, None, None));
    }
}
