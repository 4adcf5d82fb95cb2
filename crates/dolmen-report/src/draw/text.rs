//! How wide texts are, roughly, and how they are cut to fit.

/// Advance widths of the characters from blank to tilde in DejaVu Sans, in hundredths of the font's size: wider than most
/// fonts of browsers, so that what fits here fits there.
const WIDTHS: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75,
    79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,
    63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// The width of a text in a font of this size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let hundredths = |c: char| match c as u32 {
        code @ 32..=126 => f64::from(WIDTHS[code as usize - 32]),
        // The ellipsis of names that are cut, Chinese, Japanese and Korean signs and pictures of things are as wide as they are high.
        0x2026 | 0x2E80..=0xFFFF | 0x1F000.. => 100.0,
        _ => 66.0,
    };
    text.chars().map(hundredths).sum::<f64>() / 100.0 * size
}

/// The text, or as much of its beginning and end as fits, with an ellipsis between: names of members differ at both ends.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let characters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| -> String {
        let (head, tail) = (kept - kept / 3, kept / 3);
        let start: String = characters[..head].iter().collect();
        let end: String = characters[characters.len() - tail..].iter().collect();
        format!("{}…{}", start.trim_end(), end.trim_start())
    };
    let fits = |kept: &usize| width(&cut(*kept), size) <= room;
    (1..characters.len()).rev().find(fits).map_or_else(|| "…".into(), cut)
}

/// Names that do not fit, without the parameters that all names of their kind share: what is left tells them apart. Names that differ
/// stay different.
pub(crate) fn told_apart(names: &[&str], size: f64, room: f64) -> Vec<String> {
    let taken: Vec<Option<(&str, Vec<&str>)>> =
        names.iter().map(|name| taken_apart(name)).collect();
    let is_shared = |kind: &str, parameter: &str| {
        let mut alike = taken.iter().flatten().filter(|(other, _)| *other == kind);
        alike.clone().count() > 1 && alike.all(|(_, others)| others.contains(&parameter))
    };
    let shorter = |name: &str, own: &Option<(&str, Vec<&str>)>| -> Option<String> {
        let (kind, parameters) = own.as_ref()?;
        let telling: Vec<&str> =
            parameters.iter().copied().filter(|own| !is_shared(kind, own)).collect();
        let is_shorter = !telling.is_empty() && telling.len() < parameters.len();
        (is_shorter && width(name, size) > room)
            .then(|| format!("{kind}(…, {})", telling.join(", ")))
    };
    let chosen = |(name, own): (&&str, &Option<(&str, Vec<&str>)>)| {
        fitted(&shorter(name, own).unwrap_or_else(|| (*name).into()), size, room)
    };
    let mut cut: Vec<String> = names.iter().zip(&taken).map(chosen).collect();
    for k in 0..cut.len() {
        let alike: Vec<usize> = (k..cut.len()).filter(|&j| cut[j] == cut[k]).collect();
        if alike.iter().any(|&j| names[j] != names[k]) {
            let own: Vec<&str> = alike.iter().map(|&j| names[j]).collect();
            alike.iter().zip(parted(&own, size, room)).for_each(|(&j, text)| cut[j] = text);
        }
    }
    cut
}

/// Names that are cut to the same text, cut anew from where they begin to differ; where that is not enough they are numbered.
fn parted(names: &[&str], size: f64, room: f64) -> Vec<String> {
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let is_shared =
        |at: &usize| letters.iter().all(|own| own.get(*at).is_some_and(|c| *c == letters[0][*at]));
    let shared = (0..letters[0].len()).take_while(is_shared).count();
    // From the beginning of the word that differs, if that is near.
    let near = shared.saturating_sub(12);
    let is_end = |at: &usize| matches!(letters[0][*at], ' ' | '(' | ',' | '_' | '-');
    let from = (near..shared).rev().find(is_end).map_or(near, |at| at + 1);
    let with_head = |own: &[char], head: usize| -> String {
        let start: String = own[..head].iter().collect();
        let rest: String = own[from..].iter().collect();
        start_of(&format!("{}…{rest}", start.trim_end()), size, room)
    };
    // As much of the beginning as leaves half of the room to what differs.
    let fits =
        |head: &usize| width(&letters[0][..*head].iter().collect::<String>(), size) < 0.4 * room;
    let head = (0..from).rev().find(fits).unwrap_or(0);
    let mut cut: Vec<String> = letters.iter().map(|own| with_head(own, head)).collect();
    // Those that are alike still differ further on.
    for group in groups(&cut).into_iter().filter(|own| (2..names.len()).contains(&own.len())) {
        let own: Vec<&str> = group.iter().map(|&k| names[k]).collect();
        if own.iter().any(|name| *name != own[0]) {
            group.iter().zip(parted(&own, size, room)).for_each(|(&k, text)| cut[k] = text);
        }
    }
    let numbered = |(k, text): (usize, &String)| {
        let is_first = cut.iter().position(|other| other == text) == Some(k);
        let number = format!(" #{}", k + 1);
        let room = room - width(&number, size);
        if is_first { text.clone() } else { start_of(text, size, room) + &number }
    };
    cut.iter().enumerate().map(numbered).collect()
}

/// The places of texts that are the same.
fn groups(texts: &[String]) -> Vec<Vec<usize>> {
    let alike = |k: usize| (0..texts.len()).filter(|&j| texts[j] == texts[k]).collect();
    let all: Vec<Vec<usize>> = (0..texts.len()).map(alike).collect();
    all.into_iter().enumerate().filter(|(k, own)| own[0] == *k).map(|(_, own)| own).collect()
}

/// The text, or as much of its beginning as fits, with an ellipsis behind.
fn start_of(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let characters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| characters[..kept].iter().collect::<String>() + "…";
    let fits = |kept: &usize| width(&cut(*kept), size) <= room;
    (1..characters.len()).rev().find(fits).map_or_else(|| "…".into(), cut)
}

/// The kind and the parameters of a name such as `kernel(shape=box, bandwidth=2)`.
fn taken_apart(name: &str) -> Option<(&str, Vec<&str>)> {
    let (kind, rest) = name.split_once('(')?;
    let inner = rest.strip_suffix(')')?;
    let (mut depth, mut from, mut parameters) = (0, 0, Vec::new());
    for (at, sign) in inner.char_indices() {
        match sign {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parameters.push(inner[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parameters.push(inner[from..].trim());
    Some((kind, parameters))
}

/// Lines of words no wider than the room; a longer word has a line of its own.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + 0.32 * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// The same with a capital, as sentences begin.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A text as it stands in XML; characters that XML has no form for are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = "mixture(components=4, covariance=diagonal, schedule=sw99, beta=0.01)";
        let cut = fitted(name, 12.0, 160.0);
        assert!(width(&cut, 12.0) <= 160.0, "{cut}");
        assert!(cut.starts_with("mixture(") && cut.ends_with("01)") && cut.contains('…'), "{cut}");
        assert_eq!(fitted("ridge", 12.0, 160.0), "ridge");
        assert_eq!(fitted("ridge", 12.0, 1.0), "…");
        assert_eq!(fitted("", 12.0, 0.0), "");
    }

    #[test]
    fn names_that_do_not_fit_keep_what_tells_them_apart() {
        let name = |h: &str| {
            format!("kernel(shape=epanechnikov, bandwidth={h}, of=f(a, b), tolerance=0.001)")
        };
        let (first, second) = (name("0.1"), name("[0.2, 0.3]"));
        let cut = told_apart(&[&first, &second, "ridge", "tree(depth=3)"], 12.0, 200.0);
        assert_eq!(
            cut,
            [
                "kernel(…, bandwidth=0.1)",
                "kernel(…, bandwidth=[0.2, 0.3])",
                "ridge",
                "tree(depth=3)"
            ]
        );
        assert_eq!(told_apart(&[&first, &second], 12.0, 2000.0), [first.clone(), second]);
        assert!(told_apart(&[&first], 12.0, 100.0)[0].contains('…'));
    }

    #[test]
    fn names_that_differ_stay_different() {
        let mixture = |rest: &str| format!("mixture(components={rest}, covariance=diagonal)");
        let long = |rest: &str| format!("a_column_with_a_very_long_name_{rest}_and_a_long_end_too");
        let groups = [
            vec![mixture("4"), mixture("5"), "mixture(components=3)".into(), mixture("12")],
            vec![long("first"), long("second"), long("secondary")],
            vec![
                "模型".repeat(9) + "甲" + &"模型".repeat(9),
                "模型".repeat(9) + "乙" + &"模型".repeat(9),
            ],
        ];
        for (names, room) in groups.iter().flat_map(|names| [(names, 150.0), (names, 60.0)]) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let cut = told_apart(&names, 12.0, room);
            let mut sorted = cut.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), names.len(), "{cut:?}");
            assert!(cut.iter().all(|text| width(text, 12.0) <= room), "{cut:?}");
        }
        // What differs is seen where there is room for it.
        let (four, five, three) = (mixture("4"), mixture("5"), "mixture(components=3)");
        let cut = told_apart(&[&four, &five, three], 12.0, 170.0);
        assert!(cut[0].contains("components=4") && cut[1].contains("components=5"), "{cut:?}");
        // Names that differ in one parameter or else in the next are told by what differs, not by numbers.
        let of = |depth: u32, rate: &str| {
            format!("xgboost(max_depth={depth}, learning_rate={rate}, subsample=0.8) of Tuesday")
        };
        let deep = [of(0, "0.01"), of(0, "0.02"), of(1, "0.03"), of(1, "0.04")];
        let cut = told_apart(&deep.each_ref().map(String::as_str), 12.0, 170.0);
        let rates = ["=0.01", "=0.02", "=0.03", "=0.04"];
        assert!(cut.iter().zip(rates).all(|(text, rate)| text.contains(rate)), "{cut:?}");
        // The same name twice is the same text twice.
        assert_eq!(told_apart(&[&four, &four], 12.0, 100.0)[0], fitted(&four, 12.0, 100.0));
    }

    #[test]
    fn texts_are_safe_in_xml() {
        assert_eq!(escaped("a<b & \"c\"\u{0}\n>"), "a&lt;b &amp; &quot;c&quot; &gt;");
    }

    #[test]
    fn lines_fit_their_room() {
        let lines = wrapped("the stack is better than its best member", 10.0, 110.0);
        assert!(
            lines.len() > 1 && lines.iter().all(|line| width(line, 10.0) <= 110.0),
            "{lines:?}"
        );
        assert_eq!(lines.join(" "), "the stack is better than its best member");
    }
}
