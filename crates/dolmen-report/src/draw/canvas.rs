//! The canvas: SVG elements, written one after the other. Text stays text; what a mark stands for is its title, which
//! programs show where the pointer rests.

use std::fmt::Write;

use super::colour::{COLOURS, Colour, Paint, class_rules, variables};
use super::text::escaped;
use super::thin::thinned;
use crate::{Options, Theme};

/// A picture in the making.
#[derive(Debug)]
pub(crate) struct Canvas {
    body: String,
    width: f64,
    height: f64,
    theme: Theme,
    is_standalone: bool,
    /// Further attributes of the document.
    attributes: String,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    pub(crate) dashes: Option<&'static str>,
    pub(crate) opacity: f64,
}

impl Pen {
    pub(crate) fn new(colour: Colour, width: f64) -> Self {
        Self { colour, width, dashes: None, opacity: 1.0 }
    }

    /// The pen of one of several series: those beyond the colours there are begin again with the first, but are dashed.
    pub(crate) fn series(k: usize, width: f64) -> Self {
        let dashes = [None, Some("7 3"), Some("2 3")][(k / COLOURS).min(2)];
        Self { dashes, ..Self::new(Colour::Series(k), width) }
    }

    pub(crate) fn dashed(self) -> Self {
        Self { dashes: Some("4 4"), ..self }
    }

    pub(crate) fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// How a surface is filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) colour: Colour,
    pub(crate) opacity: f64,
}

impl Fill {
    pub(crate) fn new(colour: Colour) -> Self {
        Self { colour, opacity: 1.0 }
    }

    pub(crate) fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// Which part of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letters {
    pub(crate) size: f64,
    pub(crate) colour: Colour,
    pub(crate) anchor: Anchor,
    pub(crate) is_bold: bool,
}

impl Letters {
    pub(crate) fn new(size: f64, colour: Colour) -> Self {
        Self { size, colour, anchor: Anchor::Start, is_bold: false }
    }

    pub(crate) fn middle(self) -> Self {
        Self { anchor: Anchor::Middle, ..self }
    }

    pub(crate) fn end(self) -> Self {
        Self { anchor: Anchor::End, ..self }
    }

    pub(crate) fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }
}

/// The fonts of pictures: that of the system they are looked at on, or the one that PNG files are made with.
pub(crate) const FONTS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif";

/// A place or length with the tenth of a pixel that eyes can see.
pub(crate) fn place(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64, options: &Options) -> Self {
        let Options { theme, standalone, .. } = options;
        Self {
            body: String::new(),
            width,
            height,
            theme: *theme,
            is_standalone: *standalone,
            attributes: String::new(),
        }
    }

    /// Whether the picture is part of a page, whose script reads values from it.
    pub(crate) fn is_in_page(&self) -> bool {
        !self.is_standalone
    }

    /// Adds an attribute to the document.
    pub(crate) fn add_attribute(&mut self, name: &str, value: &str) {
        _ = write!(self.attributes, r#" {name}="{}""#, escaped(value));
    }

    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    pub(crate) fn height(&self) -> f64 {
        self.height
    }

    /// The marks drawn from here on belong together: programs may treat them as one.
    pub(crate) fn group(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        _ = write!(self.body, r#"<g class="{class}">"#);
        draw(self);
        self.body.push_str("</g>");
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        let ends = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)];
        self.element("line", &numbers(&ends), &self.stroke(pen), "");
    }

    /// A line through points.
    pub(crate) fn path(&mut self, points: &[(f64, f64)], pen: Pen, title: &str) {
        self.path_with(points, pen, title, "");
    }

    /// The same with further attributes.
    pub(crate) fn path_with(
        &mut self,
        points: &[(f64, f64)],
        pen: Pen,
        title: &str,
        attributes: &str,
    ) {
        let shape = format!(r#" d="{}" stroke-linejoin="round"{attributes}"#, trace(points));
        self.element("path", &shape, &self.stroke(pen), title);
    }

    /// The surface within points.
    pub(crate) fn area(&mut self, points: &[(f64, f64)], fill: Fill) {
        let d = trace(points);
        self.element("path", &format!(r#" d="{d}Z""#), &self.fill(fill), "");
    }

    /// What lies within loops, thinly filled, and its rim.
    pub(crate) fn hill(
        &mut self,
        loops: &[Vec<(f64, f64)>],
        colour: Colour,
        opacity: f64,
        title: &str,
    ) {
        let d: String = loops.iter().map(|points| trace(points) + "Z").collect();
        if d.is_empty() {
            return;
        }
        let shape = format!(r#" d="{d}" fill-rule="evenodd" stroke-opacity="0.7""#);
        let mut paint = colour.attributes(Paint::Both, self.theme);
        _ = write!(paint, r#" fill-opacity="{opacity:.3}""#);
        self.element("path", &shape, &paint, title);
    }

    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), fill: Fill, title: &str) {
        let box_ = [("x", x), ("y", y), ("width", w.max(0.0)), ("height", h.max(0.0))];
        self.element("rect", &numbers(&box_), &self.fill(fill), title);
    }

    /// A rectangle with round corners.
    pub(crate) fn bar(&mut self, at: (f64, f64), size: (f64, f64), fill: Fill, title: &str) {
        let corner = size.1.min(size.0).min(4.0) / 2.0;
        let box_ = [
            ("x", at.0),
            ("y", at.1),
            ("width", size.0.max(0.0)),
            ("height", size.1.max(0.0)),
            ("rx", corner),
        ];
        self.element("rect", &numbers(&box_), &self.fill(fill), title);
    }

    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: Fill, title: &str) {
        self.element(
            "circle",
            &numbers(&[("cx", x), ("cy", y), ("r", radius)]),
            &self.fill(fill),
            title,
        );
    }

    /// Marks that stand for one thing, with what is told where the pointer rests on any of them.
    pub(crate) fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        self.body.push_str("<g>");
        self.title(title);
        draw(self);
        self.body.push_str("</g>");
    }

    /// A circle that is not filled: a place where there is nothing.
    pub(crate) fn ring(&mut self, (x, y): (f64, f64), radius: f64, pen: Pen, title: &str) {
        self.element(
            "circle",
            &numbers(&[("cx", x), ("cy", y), ("r", radius)]),
            &self.stroke(pen),
            title,
        );
    }

    /// A text with its base line at a place; nothing for an empty one.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), text: &str, letters: Letters) {
        self.titled_text((x, y), text, letters, "");
    }

    pub(crate) fn titled_text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        letters: Letters,
        title: &str,
    ) {
        self.write_text(&numbers(&[("x", x), ("y", y)]), text, letters, title);
    }

    /// A text with paper around its letters, so that it is read on marks, too.
    pub(crate) fn haloed_text(&mut self, at: (f64, f64), text: &str, letters: Letters) {
        self.halo(at, text, letters);
        self.text(at, text, letters);
    }

    /// The paper around the letters of a text that is written next.
    pub(crate) fn halo(&mut self, (x, y): (f64, f64), text: &str, letters: Letters) {
        let halo = self.stroke(Pen::new(Colour::Paper, 3.0).faded(0.85));
        let halo = format!(r#"{halo} stroke-linejoin="round" aria-hidden="true""#);
        self.write_painted(&numbers(&[("x", x), ("y", y)]), text, letters, &halo, "");
    }

    /// A text that is read from below, at a place.
    pub(crate) fn upright_text(&mut self, (x, y): (f64, f64), text: &str, letters: Letters) {
        let turn = format!(r#" transform="translate({} {}) rotate(-90)""#, place(x), place(y));
        self.write_text(&turn, text, letters, "");
    }

    /// A text that rises.
    pub(crate) fn slanted_text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        letters: Letters,
        title: &str,
    ) {
        let turn = format!(r#" transform="translate({} {}) rotate(-40)""#, place(x), place(y));
        self.write_text(&turn, text, letters, title);
    }

    fn write_text(&mut self, at: &str, text: &str, letters: Letters, title: &str) {
        let paint = letters.colour.attributes(Paint::Fill, self.theme);
        self.write_painted(at, text, letters, &paint, title);
    }

    fn write_painted(&mut self, at: &str, text: &str, letters: Letters, paint: &str, title: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match letters.anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let weight = if letters.is_bold { r#" font-weight="600""# } else { "" };
        let size = place(letters.size);
        _ = write!(
            self.body,
            r#"<text{at} font-size="{size}"{anchor}{weight}{paint}>{}"#,
            escaped(text)
        );
        self.title(title);
        self.body.push_str("</text>");
    }

    fn stroke(&self, pen: Pen) -> String {
        let mut paint = pen.colour.attributes(Paint::Stroke, self.theme);
        _ = write!(paint, r#" stroke-width="{}""#, place(pen.width));
        if let Some(dashes) = pen.dashes {
            _ = write!(paint, r#" stroke-dasharray="{dashes}""#);
        }
        if pen.opacity < 1.0 {
            _ = write!(paint, r#" stroke-opacity="{:.2}""#, pen.opacity);
        }
        paint
    }

    fn fill(&self, fill: Fill) -> String {
        let mut paint = fill.colour.attributes(Paint::Fill, self.theme);
        if fill.opacity < 1.0 {
            _ = write!(paint, r#" fill-opacity="{:.3}""#, fill.opacity);
        }
        paint
    }

    fn element(&mut self, name: &str, shape: &str, paint: &str, title: &str) {
        if title.is_empty() {
            _ = write!(self.body, "<{name}{shape}{paint}/>");
            return;
        }
        _ = write!(self.body, "<{name}{shape}{paint}>");
        self.title(title);
        _ = write!(self.body, "</{name}>");
    }

    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            _ = write!(self.body, "<title>{}</title>", escaped(title));
        }
    }

    /// A picture made for a page of its own, at a place of this one.
    pub(crate) fn inset(&mut self, (x, y): (f64, f64), picture: &str) {
        let at = numbers(&[("x", x), ("y", y)]);
        self.body.push_str(&picture.trim_end().replacen("<svg", &format!("<svg{at}"), 1));
    }

    /// The document. `name` is what it is called, `description` what can be seen on it, for those who do not see it.
    pub(crate) fn finish(self, name: &str, description: &str) -> String {
        let (width, height) = (place(self.width), place(self.height));
        let (name, description) = (escaped(name), escaped(description));
        let mut out = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="dolmen" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{FONTS}" role="img" aria-label="{name}: {description}"{}>"#,
            self.attributes
        );
        if self.is_standalone {
            _ = write!(out, "<title>{name}</title><desc>{description}</desc>");
            out.push_str(&self.style());
            let paper = Colour::Paper.attributes(Paint::Fill, self.theme);
            _ = write!(out, r#"<rect width="{width}" height="{height}"{paper}/>"#);
        }
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    /// Colours that follow the reader's choice of light or dark, where a picture stands alone.
    fn style(&self) -> String {
        if self.theme != Theme::Auto {
            return String::new();
        }
        let (light, dark) = (variables(false), variables(true));
        let rules = class_rules(".dolmen");
        format!(
            "{STYLE}.dolmen{{{light}}}@media (prefers-color-scheme:dark){{.dolmen{{{dark}}}}}{rules}</style>"
        )
    }
}

/// How the style of a picture begins.
pub(crate) const STYLE: &str = "<style>";

fn numbers(named: &[(&str, f64)]) -> String {
    named.iter().fold(String::new(), |mut all, (name, value)| {
        _ = write!(all, r#" {name}="{}""#, place(*value));
        all
    })
}

/// Points as the data of a path. Where one is not finite the line breaks off.
fn trace(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for run in points.split(|(x, y)| !(x.is_finite() && y.is_finite())) {
        for (k, (x, y)) in thinned(run).iter().enumerate() {
            _ = write!(d, "{}{} {}", if k > 0 { 'L' } else { 'M' }, place(*x), place(*y));
        }
    }
    d
}
