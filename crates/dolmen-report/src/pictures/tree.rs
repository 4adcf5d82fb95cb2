//! A tree, drawn from the top down: each split with its question, each leaf with what it says.

use dolmen::learner::{Parameters, Value};
use dolmen::table::{Field, Kind as ColumnKind};

use super::{Picture, check_member};
use crate::draw::{
    Canvas, Colour, Fill, Heading, Letters, MARGIN, Pen, SMALL, fitted, short, short_within, width,
};
use crate::{ModelView, Options, Subject};

/// Levels drawn where the width allows; below them leaves are counted.
const MOST_DEPTH: usize = 6;
const LEVEL: f64 = 84.0;
/// The least room of a node side by side with others.
const LEAST: f64 = 52.0;
/// The room below which every other leaf of the lowest level stands lower, so that each has the room of two; and by how much.
const CLOSE: f64 = 92.0;
const STAGGER: f64 = 30.0;

/// A tree by its parallel arrays.
struct Nodes<'a> {
    column: &'a [f64],
    threshold: &'a [f64],
    subset: &'a [f64],
    missing_left: &'a [f64],
    left: &'a [f64],
    right: &'a [f64],
    subsets: Vec<&'a [f64]>,
    values: &'a [f64],
    width: usize,
    /// Levels that are drawn.
    levels: usize,
}

impl<'a> Nodes<'a> {
    fn of(parameters: &'a Parameters) -> Option<Self> {
        let array = |name: &str| parameters.array(name).map(|(_, values)| values);
        let (shape, values) = parameters.array("values")?;
        let subsets = parameters.list("subsets").unwrap_or_default().iter();
        Some(Self {
            column: array("column")?,
            threshold: array("threshold")?,
            subset: array("subset")?,
            missing_left: array("missing_left").unwrap_or_default(),
            left: array("left")?,
            right: array("right")?,
            subsets: subsets
                .map(|own| if let Value::Array { values, .. } = own { &values[..] } else { &[] })
                .collect(),
            values,
            width: *shape.get(1)?,
            levels: MOST_DEPTH,
        })
    }

    /// The same with as many levels as fit side by side into this width, one at least.
    fn within(mut self, width: f64) -> Self {
        while self.levels > 1 && self.breadth(0, 0) as f64 * LEAST > width {
            self.levels -= 1;
        }
        self
    }

    fn is_leaf(&self, node: usize) -> bool {
        node >= self.column.len()
    }

    fn leaf(&self, node: usize) -> &[f64] {
        let at = (node - self.column.len()) * self.width;
        self.values.get(at..at + self.width).unwrap_or(&[])
    }

    /// Nodes side by side at the lowest level that is drawn.
    fn breadth(&self, node: usize, depth: usize) -> usize {
        if self.is_leaf(node) || depth == self.levels {
            return 1;
        }
        let below = |next: f64| self.breadth(next as usize, depth + 1);
        below(self.left[node]) + below(self.right[node])
    }

    /// Whether something lies below the levels that are drawn.
    fn is_cut(&self, node: usize, depth: usize) -> bool {
        let below = |next: f64| self.is_cut(next as usize, depth + 1);
        !self.is_leaf(node)
            && (depth == self.levels || below(self.left[node]) || below(self.right[node]))
    }

    /// Leaves below a node, at whatever level.
    fn leaves(&self, node: usize) -> usize {
        if self.is_leaf(node) {
            return 1;
        }
        self.leaves(self.left[node] as usize) + self.leaves(self.right[node] as usize)
    }

    fn depth(&self, node: usize, depth: usize) -> usize {
        if self.is_leaf(node) || depth == self.levels {
            return depth;
        }
        let below = |next: f64| self.depth(next as usize, depth + 1);
        below(self.left[node]).max(below(self.right[node]))
    }
}

/// A tree of a member.
struct Found<'a> {
    tree: &'a Parameters,
    /// Whether there are others.
    is_first: bool,
    /// Whether it votes: a leaf holds the number of a class.
    votes: bool,
    /// Of boosting: how many scores its trees add to.
    scores: Option<usize>,
}

/// The first tree found: of a member that is one, or the first of a forest, of boosting, of AdaBoost, or of an average of fits.
fn find(parameters: &Parameters) -> Option<Found<'_>> {
    if parameters.kind() == "nodes" {
        return Some(Found { tree: parameters, is_first: false, votes: false, scores: None });
    }
    if let Some(own) = parameters.part("tree") {
        return find(own);
    }
    if let Some(fits) = parameters.parts("fits").filter(|fits| !fits.is_empty()) {
        return find(fits[0]).map(|own| Found { is_first: true, ..own });
    }
    if let Some(first) = parameters.parts("trees").and_then(|trees| trees.first().copied()) {
        let votes = parameters.array("alphas").is_some();
        let is_boost = parameters.kind() == "boost";
        let scores = parameters.array("start").filter(|_| is_boost).map(|(_, start)| start.len());
        return find(first).map(|own| Found { is_first: true, votes, scores, ..own });
    }
    find(parameters.part("model")?)
}

/// What the columns that a tree sees are: those of the model, or those of the encoder before it.
fn columns(parameters: &Parameters) -> Option<Vec<String>> {
    let texts = |list: &[Value]| -> Option<Vec<String>> {
        list.iter()
            .map(|own| if let Value::Text(text) = own { Some(text.clone()) } else { None })
            .collect()
    };
    match parameters.list("columns") {
        Some(list) => texts(list),
        None => match parameters.parts("fits") {
            Some(fits) => columns(fits.first()?),
            None => columns(parameters.part("model")?),
        },
    }
}

struct Drawing<'a> {
    nodes: Nodes<'a>,
    names: Vec<String>,
    fields: &'a [Field],
    classes: &'a [String],
    votes: bool,
    /// Room for one node side by side.
    room: f64,
    top: f64,
    /// The lowest level that is drawn, and how much lower every other leaf of it stands.
    depth: usize,
    stagger: f64,
}

/// A tree of the model.
pub(super) fn tree(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(view) = subject.model() else { return Ok(None) };
    check_member(&view, options)?;
    let Some(name) = options.member.clone().or_else(|| usual_member(subject, &view)) else {
        return Ok(None);
    };
    let weight = subject.weight_of(&name);
    Ok(draw_tree(&view, &name, weight, options))
}

/// What a split by categories asks.
#[derive(Debug, PartialEq)]
enum Asked {
    /// Whether there is a value: all levels that are known go the same way.
    Missing(&'static str),
    /// For these levels.
    Levels(Vec<String>),
}

impl Asked {
    /// The question with as many levels as there is room for.
    fn within(&self, name: &str, room: f64) -> String {
        let levels = match self {
            Self::Missing(words) => return with_name(name, &format!(" {words}"), room),
            Self::Levels(levels) => levels,
        };
        let cut = |shown: usize| {
            let more = if shown < levels.len() { ", …" } else { "" };
            format!("{name} is {}{more}", levels[..shown].join(", "))
        };
        let fitting = (1..=levels.len()).rev().map(cut).find(|text| width(text, SMALL) <= room);
        fitting.unwrap_or_else(|| {
            let more = if levels.len() > 1 { ", …" } else { "" };
            let first = levels.first().map_or("", String::as_str);
            let left = room - width(&format!("{name} is {more}"), SMALL);
            // The name tells more than a level: of this as much as fits, or nothing.
            if left >= width(LEAST_LEVEL, SMALL) {
                return format!("{name} is {}{more}", fitted(first, SMALL, left));
            }
            let asked = format!("{name} is …");
            if width(&asked, SMALL) <= room { asked } else { fitted(name, SMALL, room) }
        })
    }
}

/// The least that is shown of a level, by its width.
const LEAST_LEVEL: &str = "abc…";

/// A name with what is asked of it, which is not cut while something of the name is left.
fn with_name(name: &str, behind: &str, room: f64) -> String {
    let left = room - width(behind, SMALL);
    if width(name, SMALL) <= left || left > width("a…", SMALL) {
        return format!("{}{behind}", fitted(name, SMALL, left));
    }
    let least = format!("…{behind}");
    if width(&least, SMALL) <= room { least } else { fitted(behind.trim_start(), SMALL, room) }
}

/// What goes left by the codes of a split. These reach beyond the levels that are known where missing values go left.
fn asked_levels(codes: &[f64], known: Option<&[String]>, missing_left: bool) -> Asked {
    let Some(known) = known else {
        return Asked::Levels(codes.iter().map(|code| short(*code)).collect());
    };
    let left: Vec<String> =
        codes.iter().filter_map(|code| known.get(*code as usize).cloned()).collect();
    match (left.len(), missing_left) {
        (0, _) => Asked::Missing("is missing"),
        (all, false) if all == known.len() => Asked::Missing("is anything but missing"),
        _ => Asked::Levels(left),
    }
}

/// The member whose tree is drawn where nobody says which: the weightiest that is a tree, with weight or without, or else one of
/// AdaBoost's, or else of boosting, whose first trees tell less. Those of a large forest are many megabytes as data, and drawn when it is named.
fn usual_member(subject: &Subject<'_>, view: &ModelView<'_>) -> Option<String> {
    let weight = |name: &String| subject.weight_of(name).unwrap_or(1.0);
    let kinds = ["tree", "adaboost", "boost"];
    let kind = |name: &String| kinds.iter().position(|kind| name.starts_with(kind));
    let has_trees = |name: &String| kind(name).is_some();
    let rank = |name: &String| (std::cmp::Reverse(kind(name)), weight(name) != 0.0);
    let names = view.model.member_names().into_iter().filter(has_trees);
    names.reduce(|best, other| {
        let order = rank(&other).cmp(&rank(&best));
        if order.then(weight(&other).total_cmp(&weight(&best))).is_gt() { other } else { best }
    })
}

fn draw_tree(
    view: &ModelView<'_>,
    name: &str,
    weight: Option<f64>,
    options: &Options,
) -> Option<String> {
    let parameters = view.model.member_parameters(name)?;
    let Found { tree, is_first, votes, scores } = find(&parameters)?;
    let nodes = Nodes::of(tree)?.within(options.width - 2.0 * MARGIN);
    let fields = view.model.schema().fields();
    let own = || fields.iter().map(|field| field.name.clone()).collect();
    let names = columns(&parameters).unwrap_or_else(own);
    let (breadth, depth) = (nodes.breadth(0, 0).max(1), nodes.depth(0, 0));
    let which = if is_first { "the first of its trees, " } else { "" };
    let splits = match nodes.column.len() {
        1 => "1 split".to_string(),
        count => format!("{count} splits"),
    };
    let deeper = match (nodes.is_cut(0, 0), nodes.levels) {
        (false, _) => "",
        (true, MOST_DEPTH) => " Behind … stands how many leaves lie deeper.",
        (true, _) => {
            " Behind … stands how many leaves lie deeper: a wider picture has room for more."
        }
    };
    let unused = if weight == Some(0.0) { " It has no weight in the model." } else { "" };
    let added = scores.map_or_else(String::new, |scores| added_words(scores, view.model.classes()));
    let words = format!("{name}: {which}{splits}. Left is yes.{added}{deeper}{unused}");
    let heading = Heading::new("A tree", &words, options);
    let top = heading.height();
    let room = (options.width - 2.0 * MARGIN) / breadth as f64;
    let stagger = if room < CLOSE { STAGGER } else { 0.0 };
    let height = top + LEVEL * depth as f64 + 60.0 + stagger;
    let mut canvas = Canvas::new(options.width, height, options);
    heading.draw(&mut canvas);
    let classes = view.model.classes();
    let drawing = Drawing { nodes, names, fields, classes, votes, room, top, depth, stagger };
    drawing.draw(&mut canvas, 0, 0, MARGIN);
    Some(heading.finish(canvas))
}

/// What the leaves of boosting's first tree are, where its trees add to so many scores.
fn added_words(scores: usize, classes: &[String]) -> String {
    // Of two classes there is one score, the log odds of the second.
    let class = if scores == 1 { classes.get(1) } else { classes.first() };
    match class {
        Some(class) => format!(" Leaves are what it adds to the score of {class}."),
        None => " Leaves are what it adds to the prediction.".into(),
    }
}

impl Drawing<'_> {
    /// Draws a node and what lies below it, from a left edge on; gives back where the node stands.
    fn draw(&self, canvas: &mut Canvas, node: usize, depth: usize, left: f64) -> (f64, f64) {
        let nodes = &self.nodes;
        let y = self.top + LEVEL * depth as f64 + 20.0;
        let span = self.room * nodes.breadth(node, depth) as f64;
        if nodes.is_leaf(node) || depth == nodes.levels {
            let is_close = self.stagger > 0.0 && depth == self.depth;
            let is_odd = ((left - MARGIN) / self.room).round() as usize % 2 == 1;
            let lower = if is_close && is_odd { self.stagger } else { 0.0 };
            let room = if is_close { 2.0 * self.room - 20.0 } else { self.room - 8.0 };
            let at = (left + span / 2.0, y + lower);
            if nodes.is_leaf(node) {
                self.draw_leaf(canvas, nodes.leaf(node), at, room);
            } else {
                self.draw_more(canvas, node, at, room);
            }
            return at;
        }
        let first = nodes.left[node] as usize;
        let middle = left + self.room * nodes.breadth(first, depth + 1) as f64;
        // The lines first, so that what is written lies on them.
        let below = [(first, left), (nodes.right[node] as usize, middle)];
        let ends: Vec<(f64, f64)> =
            below.iter().map(|(next, left)| self.draw(canvas, *next, depth + 1, *left)).collect();
        let at = (f64::midpoint(ends[0].0, ends[1].0), y);
        for end in ends {
            canvas.path(
                &[(at.0, y + 12.0), (end.0, end.1 - 14.0)],
                Pen::new(Colour::Muted, 1.2),
                "",
            );
        }
        // It stands above the middle of what lies below, which need not be the middle of its own room.
        let room = 2.0 * (at.0 - left).min(left + span - at.0);
        let (text, title) = self.question(node, room - 18.0);
        let wide = width(&text, SMALL) + 14.0;
        canvas.bar((at.0 - wide / 2.0, y - 12.0), (wide, 24.0), Fill::new(Colour::Faint), &title);
        canvas.titled_text(
            (at.0, y + 4.0),
            &text,
            Letters::new(SMALL, Colour::Ink).middle(),
            &title,
        );
        at
    }

    /// What a split asks, in as many words as there is room for, and in full.
    fn question(&self, node: usize, room: f64) -> (String, String) {
        let nodes = &self.nodes;
        let name = self.names.get(nodes.column[node] as usize).map_or("?", String::as_str);
        let subset = nodes.subsets.get(nodes.subset[node] as usize);
        let Some(codes) = subset.filter(|_| nodes.subset[node] >= 0.0) else {
            let text = format!("{name} ≤ {}", short(nodes.threshold[node]));
            let behind = format!(" ≤ {}", short(nodes.threshold[node]));
            return (with_name(name, &behind, room), text);
        };
        let field = self.fields.iter().find(|field| field.name == name);
        let levels = match field.map(|field| &field.kind) {
            Some(ColumnKind::Categorical { levels }) => Some(&levels[..]),
            _ => None,
        };
        let missing_left = nodes.missing_left.get(node).is_some_and(|left| *left > 0.0);
        let asked = asked_levels(codes, levels, missing_left);
        let too = if missing_left { " (missing and unknown values, too)" } else { "" };
        let title = match &asked {
            Asked::Missing(words) => format!("{name} {words}"),
            Asked::Levels(all) => format!("{name} is {}{too}", all.join(", ")),
        };
        (asked.within(name, room), title)
    }

    /// What stands for all that lies below a split which there is no room for.
    fn draw_more(&self, canvas: &mut Canvas, node: usize, at: (f64, f64), room: f64) {
        // Below a split there are two at least.
        let leaves = self.nodes.leaves(node);
        let texts = [format!("… {leaves} leaves"), format!("… {leaves}")];
        let text = texts.iter().find(|text| width(text, SMALL) <= room).unwrap_or(&texts[1]);
        let title = format!("{}: {leaves} leaves below", self.question(node, 0.0).1);
        let letters = Letters::new(SMALL, Colour::Muted).middle();
        canvas.titled_text((at.0, at.1 + 4.0), text, letters, &title);
    }

    fn draw_leaf(&self, canvas: &mut Canvas, values: &[f64], at: (f64, f64), room: f64) {
        let best = (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
        let (text, share, colour) = match (self.classes.get(best), values) {
            (Some(class), [_, _, ..]) if values.len() == self.classes.len() => {
                (class.clone(), values[best], Colour::Series(best))
            }
            (_, [class]) if self.votes && (*class as usize) < self.classes.len() => {
                (self.classes[*class as usize].clone(), 1.0, Colour::Series(*class as usize))
            }
            (_, [value, ..]) => (short_within(*value, SMALL, room), 1.0, Colour::First),
            _ => return,
        };
        let named: Vec<String> = self
            .classes
            .iter()
            .zip(values)
            .map(|(class, p)| format!("{class} {}", short(*p)))
            .collect();
        let title = match values {
            [value] if !self.votes => short(*value),
            [_] => text.clone(),
            _ => named.join(", "),
        };
        let text = fitted(&text, SMALL, room);
        let wide = width(&text, SMALL) + 12.0;
        canvas.bar(
            (at.0 - wide / 2.0, at.1 - 12.0),
            (wide, 24.0),
            Fill::new(colour).faded(0.15 + 0.4 * share),
            &title,
        );
        canvas.titled_text(
            (at.0, at.1 + 4.0),
            &text,
            Letters::new(SMALL, Colour::Ink).middle(),
            &title,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_string()).collect()
    }

    /// Codes go on to the end of a word of 64 bits where missing values go left.
    #[test]
    fn only_levels_that_are_known_are_asked_for() {
        let known = levels(&["f", "t"]);
        let to_the_end = |from: u32| (from..64).map(f64::from).collect::<Vec<f64>>();
        let asked = |codes: &[f64], left| asked_levels(codes, Some(&known), left);
        let mut codes = to_the_end(2);
        assert_eq!(asked(&codes, true), Asked::Missing("is missing"));
        codes.insert(0, 0.0);
        assert_eq!(asked(&codes, true).within("on_thyroxine", 300.0), "on_thyroxine is f");
        assert_eq!(asked(&[0.0, 1.0], false), Asked::Missing("is anything but missing"));
        assert_eq!(asked_levels(&[3.0], None, false), Asked::Levels(levels(&["3"])));
    }

    #[test]
    fn as_many_levels_are_named_as_there_is_room_for() {
        let asked = Asked::Levels(levels(&["red", "green", "blue"]));
        assert_eq!(asked.within("colour", 400.0), "colour is red, green, blue");
        let two = asked.within("colour", width("colour is red, green, …", SMALL));
        assert_eq!(two, "colour is red, green, …");
        let one = asked.within("colour", width("colour is red, …", SMALL));
        assert_eq!(one, "colour is red, …");
        assert!(width(&asked.within("colour", 60.0), SMALL) <= 60.0);
        let credit = Asked::Levels(levels(&["critical/other existing credit"]));
        for room in [90.0, 120.0, 150.0] {
            let text = credit.within("history", room);
            assert!(text.starts_with("history is ") && width(&text, SMALL) <= room, "{text}");
        }
        let cut = with_name("temperature_of_the_sand", " ≤ 57.5", 100.0);
        assert!(cut.starts_with("te") && cut.contains('…') && cut.ends_with(" ≤ 57.5"), "{cut}");
        assert_eq!(with_name("temperature", " ≤ 57.5", width("… ≤ 57.5", SMALL)), "… ≤ 57.5");
    }
}
