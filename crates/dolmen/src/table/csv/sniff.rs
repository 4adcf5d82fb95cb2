//! Which character stands between the cells, where nobody says it: what the header and the first row agree on.

use super::scan::Scanner;

/// The characters looked for; of two that fit alike the first is taken.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter that the start of a text shows. The header must hold it; one that cuts the first row into as many cells as
/// the header wins over one that does not, then the one that makes more cells. A usual one is taken wherever the header holds it,
/// or none at all.
pub(super) fn delimiter(start: &[u8], usual: Option<u8>) -> u8 {
    let fit = |delimiter: u8| {
        let mut scanner = Scanner::new(start, delimiter);
        let header = cells(&mut scanner);
        let agrees = header == cells(&mut scanner);
        (header > 1).then_some((agrees, header))
    };
    if let Some(usual) = usual.filter(|usual| fit(*usual).is_some()) {
        return usual;
    }
    let mut best = (usual.unwrap_or(b','), None);
    for candidate in CANDIDATES {
        let fit = fit(candidate);
        if fit > best.1 {
            best = (candidate, fit);
        }
    }
    best.0
}

/// The delimiter that a first line such as `sep=;` names, as spreadsheets write it, and the line's length.
pub(super) fn declaration(start: &[u8]) -> Option<(u8, usize)> {
    let (word, rest) = start.split_at_checked(4)?;
    let (delimiter, rest) = rest.split_first()?;
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\n' | b'\r', ..] => 1,
        _ => return None,
    };
    word.eq_ignore_ascii_case(b"sep=").then_some((*delimiter, 5 + end))
}

/// The number of cells of the next record; 0 at the end of the text, or where a quote stays open.
fn cells(scanner: &mut Scanner<'_>) -> usize {
    if !scanner.next_record() {
        return 0;
    }
    let mut count = 0;
    while !scanner.ended() {
        if scanner.cell().is_err() {
            return 0;
        }
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::delimiter;

    #[test]
    fn the_header_and_the_first_row_say_it() {
        let cases: [(&str, u8); 12] = [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb c\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("\"a;x\",\"b;y\"\n1,2\n", b','),
            ("f(a;b;c),q\n1,2\n", b','),
            ("a,b;c,d\n1;2\n", b';'),
            ("a b\n1 2\n", b','),
            ("a;b", b';'),
            ("only\n1\n", b','),
            ("", b','),
        ];
        for (text, expected) in cases {
            assert_eq!(
                char::from(delimiter(text.as_bytes(), None)),
                char::from(expected),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_usual_one_counts_unless_the_header_shows_another() {
        let found = |text: &str| char::from(delimiter(text.as_bytes(), Some(b';')));
        assert_eq!([found("a;b\n1,5;2\n"), found("a,x;b\n1;2\n")], [';', ';']);
        assert_eq!([found("a,b\n1,2\n"), found("a\tb\n1\t2\n")], [',', '\t']);
        assert_eq!(found("only\n1,5\n"), ';');
    }
}
