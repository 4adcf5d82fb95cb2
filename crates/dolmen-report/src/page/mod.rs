//! One self-contained page: a summary in words, tables, pictures, warnings, and what it takes to make it again. Nothing is
//! loaded from anywhere, and no row of the data is in it unless rows were given to be drawn.

mod baseline;
mod compared;
mod html;
mod tables;
mod warnings;
mod weighed;
mod words;
mod worth;

use dolmen::error::Result;

use crate::draw::{class_rules, escaped, variables};
use crate::pictures::MOST_PAIRS;
use crate::{Kind, Options, Subject, draw, kinds, pictures};
use html::Html;

/// How a page looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageOptions {
    /// What it is called; what it is about, if not given.
    pub title: Option<String>,
    /// What makes it again, where that is no model, which has its recipe.
    pub again: Option<Again>,
}

/// What makes a weighing or a comparison again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// The seed of everything random.
    pub seed: u64,
    /// The command.
    pub command: String,
    /// The recipe of what was compared, as TOML, if there was one.
    pub recipe: Option<String>,
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a subject.
pub fn page(subject: &Subject<'_>, options: &PageOptions) -> Result<String> {
    let title = options.title.clone().unwrap_or_else(|| words::title(subject));
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.element("title", "", &title);
    html.raw(&format!("<style>\n{}</style>\n</head>\n<body>\n", style()));
    html.raw("<a class=\"skip\" href=\"#pictures\">To the pictures</a>\n<header>\n");
    html.element("h1", "", &title);
    html.element("p", " class=\"sub\"", &words::subtitle(subject));
    html.raw("</header>\n<main>\n");
    html.section("summary", "In words", |html| {
        for (lead, text) in words::summary(subject) {
            html.raw(&format!("<p><strong>{}</strong> {}</p>\n", escaped(lead), escaped(&text)));
        }
    });
    let found = warnings::warnings(subject);
    if !found.is_empty() {
        html.section("warnings", "To be looked at", |html| html.list(&found));
    }
    tables::tables(subject, &mut html);
    let drawn = drawings(subject)?;
    if !drawn.is_empty() {
        html.section("pictures", "Pictures", |html| {
            for (k, Drawing { kind, wide, narrow }) in drawn.iter().enumerate() {
                // Of several of one kind only the first has its plain name.
                let before = drawn[..k].iter().filter(|other| other.kind == *kind).count();
                let nth = if before > 0 { format!("-{}", before + 1) } else { String::new() };
                // What is not drawn for phones is scrolled there, by the keys, too.
                let class = if narrow.is_empty() { " tabindex=\"0\"" } else { " class=\"both\"" };
                let id = format!("picture-{kind}{nth}");
                html.raw(&format!("<figure id=\"{id}\"{class}>\n{wide}{narrow}</figure>\n"));
            }
        });
    }
    tables::again(subject, options.again.as_ref(), &mut html);
    html.raw("</main>\n<footer>\n");
    html.element("p", "", &words::versions(subject));
    html.raw(&format!("</footer>\n<div id=\"tip\" aria-hidden=\"true\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    Ok(html.finish())
}

/// A picture as it is shown on a wide page, and on a narrow one if that is another.
struct Drawing {
    kind: Kind,
    wide: String,
    narrow: String,
}

/// All pictures that suit, those about one of several inputs once for each.
fn drawings(subject: &Subject<'_>) -> Result<Vec<Drawing>> {
    let mut drawn = Vec::new();
    for kind in Kind::ALL {
        for input in inputs(subject, kind) {
            let wide = Options { standalone: false, input, ..Options::default() };
            let Some(svg) = pictures::draw(subject, kind, &wide)? else { continue };
            let narrow = Options { width: NARROW, ..wide };
            let narrow = if suits_phones(subject, kind) {
                pictures::draw(subject, kind, &narrow)?
            } else {
                None
            };
            let [wide, narrow] = [svg, narrow.unwrap_or_default()].map(|svg| in_page(&svg));
            drawn.push(Drawing { kind, wide, narrow });
        }
    }
    Ok(drawn)
}

/// A picture without what it has for programs that know no rules: the page's give it its colours and letters. That is a tenth of it.
fn in_page(svg: &str) -> String {
    let plain = [" xmlns=\"", " font-family=\"", " fill=\"#", " stroke=\"#"];
    plain.iter().fold(svg.to_string(), |svg, start| without_attribute(&svg, start))
}

/// Without all attributes that begin like this. In texts there are no such quotes: they are escaped.
fn without_attribute(svg: &str, start: &str) -> String {
    let mut parts = svg.split(start);
    let first = parts.next().unwrap_or_default();
    parts.fold(first.to_string(), |all, part| {
        all + part.split_once('"').map_or(part, |(_, rest)| rest)
    })
}

/// Members or classes up to which each two are drawn once more for phones. Of more the cells are so small that they are not read on
/// the one picture better than on the other, and these cells are most of a page.
const MOST_CELLS: usize = 12;

/// The width at which pictures are drawn for phones: about what these have, so that letters stay as large as they are.
const NARROW: f64 = 400.0;

/// Whether a picture is drawn once more for phones; some take so much room that they can only be scrolled there.
fn suits_phones(subject: &Subject<'_>, kind: Kind) -> bool {
    let evidence = subject.evidence();
    let members = || evidence?.correlation.as_ref().map(|own| own.members.len());
    let classes = || Some(evidence?.classes.as_ref()?.confusion.as_ref()?.classes.len());
    match kind {
        Kind::Pairs => false,
        Kind::Correlation => members() <= Some(MOST_CELLS),
        Kind::Confusion => classes() <= Some(MOST_CELLS),
        _ => true,
    }
}

/// Densities of so many columns are shown one by one.
const MOST_COLUMNS: usize = 6;

fn inputs(subject: &Subject<'_>, kind: Kind) -> Vec<Option<String>> {
    let evidence = subject.evidence();
    let names: Vec<String> = match (kind, evidence, subject.model()) {
        (Kind::Dependence, Some(evidence), _) => {
            evidence.dependence.iter().map(|own| own.name.clone()).collect()
        }
        (Kind::Density, _, Some(view)) => {
            let fields = view.model.schema().fields().iter().take(MOST_COLUMNS);
            fields.map(|field| field.name.clone()).collect()
        }
        // Where all pairs are shown, one of them need not be.
        (Kind::Contours, _, Some(view))
            if (3..=MOST_PAIRS).contains(&view.model.schema().len()) =>
        {
            return Vec::new();
        }
        (Kind::Pairs, _, Some(view)) if view.model.schema().len() == 2 => return Vec::new(),
        _ => Vec::new(),
    };
    if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() }
}

fn style() -> String {
    format!(
        ":root{{{}}}\n@media (prefers-color-scheme:dark){{:root{{{}}}}}\n@media print{{:root{{{}}}}}\n{}\n{STYLE}",
        variables(false),
        variables(true),
        variables(false),
        class_rules("figure")
    )
}

/// A short fragment for notebooks: what there is to say in a sentence or two, and the weights.
pub fn summary_html(subject: &Subject<'_>) -> String {
    let mut html = Html::default();
    html.raw(
        "<div class=\"dolmen-summary\" style=\"font-family:system-ui,sans-serif;max-width:46em\">",
    );
    html.element("p", " style=\"margin:0 0 .3em;font-weight:600\"", &words::title(subject));
    for (lead, text) in words::summary(subject).into_iter().take(3) {
        let line =
            format!("<p style=\"margin:0 0 .3em\"><b>{}</b> {}</p>", escaped(lead), escaped(&text));
        html.raw(&line);
    }
    let kind = [Kind::Weights, Kind::Methods, Kind::Learning, Kind::Scores];
    let shown = kinds(subject);
    let kind = kind.into_iter().find(|kind| shown.contains(kind));
    if let Some(Ok(svg)) =
        kind.map(|kind| draw(subject, kind, &Options { width: 620.0, ..Options::default() }))
    {
        html.raw(&svg);
    }
    html.raw("</div>");
    html.finish()
}
