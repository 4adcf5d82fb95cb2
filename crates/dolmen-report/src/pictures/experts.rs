//! Experts and gates: who has a say where.

use dolmen::error::Result;
use dolmen::recipe::Routing;

use super::{Picture, check_member, columns_named, density, not_shown};
use crate::draw::{
    Colour, Entry, Frame, Heading, KeyRoom, Letters, Pen, Plot, SMALL, contour, counted, extent,
    short, told_apart, width,
};
use crate::{ModelView, Options, Subject};

/// Points along one input, and along each of two.
const POINTS: usize = 121;
const GRID: usize = 60;
/// Parts with a colour of their own.
const MOST_PARTS: usize = 7;
const KEY: f64 = 190.0;

/// The numeric columns asked for, completed by those that decide most who has a say.
fn chosen(view: &ModelView<'_>, count: usize, options: &Options) -> Result<Option<Vec<usize>>> {
    let fields = view.model.schema().fields();
    let numeric = view.model.numeric_inputs(options.member.as_deref())?;
    let names: Vec<&str> = numeric.iter().map(|&j| fields[j].name.as_str()).collect();
    let hint = if count == 1 {
        "two inputs are shown by the picture 'regions'"
    } else {
        "no more than two inputs can be shown, all others are held"
    };
    let mut columns: Vec<usize> = match &options.input {
        Some(wanted) => columns_named(wanted, &names, count, hint)?,
        None => Vec::new(),
    };
    columns.iter_mut().for_each(|place| *place = numeric[*place]);
    let others: Vec<usize> = numeric.into_iter().filter(|j| !columns.contains(j)).collect();
    columns.extend(others.into_iter().take(count - columns.len()));
    Ok((columns.len() == count).then_some(columns))
}

fn routing(
    subject: &Subject<'_>,
    count: usize,
    points: usize,
    options: &Options,
) -> Result<Option<Routing>> {
    let Some(view) = subject.model() else { return Ok(None) };
    check_member(&view, options)?;
    let Some(columns) = chosen(&view, count, options)? else { return Ok(None) };
    view.model.routing(&columns, points, options.member.as_deref())
}

/// Whose shares are shown, and what the other inputs are.
fn words(routing: &Routing) -> String {
    let whose = if routing.member.is_empty() {
        "The members' weights, which depend on the inputs.".to_string()
    } else {
        format!("The experts of {}.", routing.member)
    };
    let shown: Vec<String> = routing
        .held
        .iter()
        .take(4)
        .map(|(name, value)| {
            let value = value.parse::<f64>().map_or_else(|_| value.clone(), short);
            format!("{name} = {value}")
        })
        .collect();
    let more = if routing.held.len() > shown.len() { " and so on" } else { "" };
    let held = if shown.is_empty() {
        String::new()
    } else {
        format!(" All other inputs are held at what is usual: {}{more}.", shown.join(", "))
    };
    format!("{whose}{held}")
}

/// The parts that have a colour and are to be seen, as they are named in the key.
fn entries(routing: &Routing, is_seen: impl Fn(usize) -> bool) -> Vec<Entry<'_>> {
    let named = routing.parts.iter().take(MOST_PARTS).enumerate();
    named.filter(|(k, _)| is_seen(*k)).map(|(k, name)| Entry::series(k, name)).collect()
}

fn key_room(entries: &[Entry<'_>]) -> KeyRoom {
    KeyRoom { beside: KEY, lines: entries.len() }
}

/// Whether each part has the largest share somewhere.
fn leaders(routing: &Routing) -> Vec<bool> {
    let mut found = vec![false; routing.parts.len()];
    for shares in routing.shares.chunks_exact(routing.parts.len()) {
        if let Some(first) = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])) {
            found[first] = true;
        }
    }
    found
}

/// The parts that have the largest share nowhere, in a sentence.
fn behind_words(routing: &Routing, leads: &[bool]) -> String {
    let nowhere = routing.parts.iter().zip(leads).filter(|(_, leads)| !**leads);
    let nowhere: Vec<&str> = nowhere.map(|(name, _)| name.as_str()).collect();
    match nowhere.len() {
        0 => String::new(),
        1..=4 => format!(" The largest share nowhere: {}.", nowhere.join(", ")),
        many => format!(" {many} of {} have the largest share nowhere.", leads.len()),
    }
}

/// Shares over one input.
pub(super) fn gate(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(routing) = routing(subject, 1, POINTS, options)? else { return Ok(None) };
    let x = &routing.values[0];
    let title = format!("Who has a say, over {}", routing.inputs[0]);
    let named = entries(&routing, |_| true);
    let frame = Frame {
        x: (x[0], x[x.len() - 1]),
        key: Some(key_room(&named)),
        ..Frame::new(Heading::new(&title, &words(&routing), options), &routing.inputs[0], "share")
    };
    let mut plot = frame.open(options);
    let parts = routing.parts.len();
    for (k, name) in routing.parts.iter().enumerate() {
        let shares = routing.shares.iter().skip(k).step_by(parts);
        let colour = if k < MOST_PARTS { Colour::Series(k) } else { Colour::Muted };
        plot.curve(x.iter().copied().zip(shares.copied()), Pen::new(colour, 2.2), name);
    }
    plot.draw_key(&named);
    Ok(Some(plot.finish()))
}

/// Draws the rows that were given for it over two of their inputs.
fn draw_rows(plot: &mut Plot, subject: &Subject<'_>, inputs: &[String]) {
    let Some(view) = subject.model() else { return };
    let fields = view.model.schema().fields();
    let column = |name: &String| fields.iter().position(|field| &field.name == name);
    if let (Some(first), Some(second)) = (column(&inputs[0]), column(&inputs[1])) {
        let (x, y) = (plot.x, plot.y);
        density::draw_points(&mut plot.canvas, &view, [first, second], (&x, &y), 2.0);
    }
}

/// Where the name of a part is written: in the middle of its largest region, if that is large enough; else only the key has it.
fn room_for(name: &str, loops: &[Vec<(f64, f64)>]) -> Option<(f64, f64)> {
    let largest = loops.iter().max_by_key(|points| points.len())?;
    let (left, right) = extent(largest.iter().map(|(x, _)| *x))?;
    let (top, bottom) = extent(largest.iter().map(|(_, y)| *y))?;
    let has_room = right - left > width(name, SMALL) && bottom - top > 2.0 * SMALL;
    let count = largest.len() as f64;
    let (sum_x, sum_y) = largest.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    has_room.then(|| (sum_x / count, sum_y / count))
}

/// Rows that were given and lie beyond the inputs' usual values, or are too many to be drawn.
fn undrawn(subject: &Subject<'_>, routing: &Routing) -> Vec<String> {
    let Some(view) = subject.model() else { return Vec::new() };
    let Some(rows) = view.rows else { return Vec::new() };
    let fields = view.model.schema().fields();
    let is_off = |row: &[f64]| {
        routing.inputs.iter().zip(&routing.values).any(|(name, values)| {
            let column = fields.iter().position(|field| &field.name == name);
            let ends = values[0]..=values[values.len() - 1];
            column.is_some_and(|j| !ends.contains(&row[j]))
        })
    };
    let off = rows.rows().iter().filter(|row| is_off(row)).count();
    let total = counted(rows.rows().rows(), "row");
    let beyond = (off > 0).then(|| format!("{off} of {total} beyond the axes"));
    beyond.into_iter().chain(density::undrawn(&view)).collect()
}

/// Which part has the largest share where, over two inputs.
pub(super) fn regions(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(routing) = routing(subject, 2, GRID, options)? else { return Ok(None) };
    let (x, y) = (&routing.values[0], &routing.values[1]);
    let title = format!("Who answers where: {} and {}", routing.inputs[0], routing.inputs[1]);
    let is_first = leaders(&routing);
    let in_key = entries(&routing, |k| is_first[k]);
    let words = format!(
        "{}{}{}",
        words(&routing),
        behind_words(&routing, &is_first),
        not_shown(&undrawn(subject, &routing))
    );
    let frame = Frame {
        x: (x[0], x[GRID - 1]),
        y: (y[0], y[GRID - 1]),
        height: 420.0,
        key: Some(key_room(&in_key)),
        ..Frame::new(Heading::new(&title, &words, options), &routing.inputs[0], &routing.inputs[1])
    };
    let mut plot = frame.open(options);
    let parts = routing.parts.len();
    let named: Vec<&str> = routing.parts.iter().map(String::as_str).collect();
    let cut = told_apart(&named, SMALL, 120.0);
    let mut labels = Vec::new();
    for (k, name) in routing.parts.iter().enumerate() {
        // Positive where its share is the largest: the line between two parts is where both have as much.
        let lead = |shares: &[f64]| {
            let others = shares.iter().enumerate().filter(|(other, _)| *other != k);
            let most = others.map(|(_, share)| *share).fold(0.0, f64::max);
            0.5 + 0.5 * (shares[k] - most)
        };
        let leads: Vec<f64> = routing.shares.chunks_exact(parts).map(lead).collect();
        let place = |(i, j): &(f64, f64)| {
            let at = |values: &[f64], k: f64| {
                values[0] + (values[GRID - 1] - values[0]) * k / (GRID - 1) as f64
            };
            plot.at((at(x, *i), at(y, *j)))
        };
        let loops: Vec<Vec<(f64, f64)>> = contour::loops(&leads, GRID, 0.5)
            .iter()
            .map(|points| points.iter().map(place).collect())
            .collect();
        let colour = if k < MOST_PARTS { Colour::Series(k) } else { Colour::Muted };
        plot.canvas.hill(&loops, colour, 0.3, name);
        labels.extend(room_for(&cut[k], &loops).map(|middle| (middle, &cut[k])));
    }
    draw_rows(&mut plot, subject, &routing.inputs);
    for (middle, name) in labels {
        plot.canvas.haloed_text(middle, name, Letters::new(SMALL, Colour::Ink).middle());
    }
    plot.draw_key(&in_key);
    Ok(Some(plot.finish()))
}
