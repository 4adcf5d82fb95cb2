//! HTML, written one element after the other; every text is escaped here.

use std::fmt::Write;

use crate::draw::{escaped, short, signed, uncertain, uncertain_gain};

/// A page in the making.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// Something that is HTML already.
    pub(super) fn raw(&mut self, html: &str) {
        self.out.push_str(html);
    }

    /// An element with a text in it.
    pub(super) fn element(&mut self, name: &str, attributes: &str, text: &str) {
        _ = writeln!(self.out, "<{name}{attributes}>{}</{name}>", escaped(text));
    }

    /// A text whose lines stay as they are; long ones are scrolled, by the keys, too.
    pub(super) fn code(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(escaped).collect();
        _ = writeln!(self.out, "<pre tabindex=\"0\"><code>{}</code></pre>", lines.join("\n"));
    }

    /// A part with a heading.
    pub(super) fn section(&mut self, id: &str, heading: &str, fill: impl FnOnce(&mut Self)) {
        _ = writeln!(self.out, "<section id=\"{id}\" aria-labelledby=\"{id}-h\">");
        self.element("h2", &format!(" id=\"{id}-h\""), heading);
        fill(self);
        self.raw("</section>\n");
    }

    pub(super) fn list(&mut self, lines: &[String]) {
        self.raw("<ul>\n");
        lines.iter().for_each(|line| self.element("li", "", line));
        self.raw("</ul>\n");
    }

    /// A part that is seen when asked for.
    pub(super) fn details(&mut self, summary: &str, fill: impl FnOnce(&mut Self)) {
        self.raw("<details>\n");
        self.element("summary", "", summary);
        fill(self);
        self.raw("</details>\n");
    }

    /// A table that can be sorted by any column: the first has names, the others numbers as they are written and as they are.
    pub(super) fn table(&mut self, caption: &str, header: &[&str], rows: &[(String, Vec<Cell>)]) {
        self.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
        self.raw(&escaped(caption));
        self.raw("\">\n<table>\n");
        self.element("caption", "", caption);
        self.raw("<thead><tr>");
        for title in header {
            _ = write!(
                self.out,
                "<th scope=\"col\"><button type=\"button\" title=\"sort by this column\">{}</button></th>",
                escaped(title)
            );
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for (name, cells) in rows {
            _ = write!(self.out, "<tr><th scope=\"row\">{}</th>", escaped(name));
            for cell in cells {
                let value = cell.value.filter(|value| !value.is_nan());
                let key = value.map_or_else(String::new, |value| {
                    // Infinite values as the script that sorts the table spells them.
                    format!(" data-v=\"{}\"", value.to_string().replace("inf", "Infinity"))
                });
                _ = write!(self.out, "<td{key}>{}</td>", escaped(&cell.text));
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody>\n</table>\n</div>\n");
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// A number of a table: as it is written, and by what it is sorted.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) value: Option<f64>,
}

impl Cell {
    pub(super) fn number(value: f64) -> Self {
        Self { text: short(value), value: Some(value) }
    }

    pub(super) fn maybe(value: Option<f64>) -> Self {
        value.map_or_else(|| Self { text: "–".into(), value: None }, Self::number)
    }

    /// A mean with its standard error.
    pub(super) fn estimate(estimate: &dolmen::score::Estimate) -> Self {
        let text = uncertain(estimate.mean, estimate.se);
        Self { text, value: Some(estimate.mean) }
    }

    /// A gain with its standard error.
    pub(super) fn gain(estimate: &dolmen::score::Estimate) -> Self {
        let text = uncertain_gain(estimate.mean, estimate.se);
        Self { text, value: Some(estimate.mean) }
    }

    /// A difference.
    pub(super) fn signed(value: f64) -> Self {
        Self { text: signed(value), value: Some(value) }
    }
}
