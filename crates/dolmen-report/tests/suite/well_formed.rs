//! Whether markup is well formed: every element that is opened is closed, in order, and texts are escaped.

/// Elements of HTML that have no end.
const VOID: [&str; 3] = ["meta", "!DOCTYPE", "br"];

/// The names of all elements, in the order in which they are opened; panics where the markup is not well formed.
pub(crate) fn elements(text: &str) -> Vec<String> {
    let (mut open, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at]);
        rest = &rest[at + 1..];
        // Style and script hold what is no markup.
        let end = end_of_tag(rest);
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed out of order");
            continue;
        }
        let name: String = tag.chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        check_attributes(tag);
        all.push(name.clone());
        if matches!(name.as_str(), "style" | "script") {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("an end of style or script") + close.len()..];
        } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    check_text(rest);
    assert!(open.is_empty(), "not closed: {open:?}");
    all
}

/// Where a tag ends: quoted values may hold the sign.
fn end_of_tag(text: &str) -> usize {
    let mut is_quoted = false;
    text.find(|c| {
        is_quoted ^= c == '"';
        c == '>' && !is_quoted
    })
    .expect("a tag that ends")
}

fn check_text(text: &str) {
    assert!(!text.contains('>'), "a stray sign in {text:?}");
    for (at, _) in text.match_indices('&') {
        let entity = text[at..].split(';').next().unwrap_or_default();
        assert!(["&amp", "&lt", "&gt", "&quot"].contains(&entity), "not escaped: {entity}");
    }
}

fn check_attributes(tag: &str) {
    let quotes = tag.matches('"').count();
    assert_eq!(quotes % 2, 0, "an attribute that does not end: {tag}");
    let mut names: Vec<&str> =
        tag.split("=\"").map(|part| part.rsplit([' ', '"']).next().unwrap_or("")).collect();
    names.pop();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "an attribute twice: {tag}");
    assert!(!tag.contains("NaN") && !tag.contains("inf\""), "a number that is none: {tag}");
}

#[test]
fn faults_are_found() {
    assert_eq!(elements("<a x=\"1>2\"><b/>t &amp; u</a>"), ["a", "b"]);
    for bad in ["<a>", "<a></b>", "<a x=\"1\" x=\"2\"/>", "<a>&</a>", "<a r=\"NaN\"/>", "a > b"] {
        assert!(std::panic::catch_unwind(|| elements(bad)).is_err(), "{bad}");
    }
}
