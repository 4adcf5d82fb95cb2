//! Tables of aligned columns, and lines that fit the terminal.

use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};
use terminal_size::{Width, terminal_size_of};

use super::Done;

/// Writes aligned columns: the first to the left, the others to the right; within the width of the terminal, if it is one.
pub(crate) fn columns(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    out: &mut dyn Write,
) -> Done {
    columns_within(terminal_width(), CellAlignment::Right, header, rows, out)
}

/// The same with a remark on each row, if it is not empty, in lines of its own below it; where rows are broken, all remarks stand
/// below the table, each with the first cell of its row.
pub(crate) fn columns_with_remarks(
    header: &[&str],
    rows: Vec<Vec<String>>,
    remarks: &[String],
    out: &mut dyn Write,
) -> Done {
    remarked_within(terminal_width(), header, rows, remarks, out)
}

/// How wide remarks are where there is no terminal.
const REMARK: usize = 120;

fn remarked_within(
    width: Option<u16>,
    header: &[&str],
    rows: Vec<Vec<String>>,
    remarks: &[String],
    out: &mut dyn Write,
) -> Done {
    let broken = width.map_or(REMARK, usize::from);
    let remark = |text: &str, out: &mut dyn Write| {
        if text.is_empty() { Ok(()) } else { indented(text, broken, out) }
    };
    let mut whole = Vec::new();
    columns_within(None, CellAlignment::Right, header, rows.clone(), &mut whole)?;
    let whole = String::from_utf8_lossy(&whole);
    let fits = |line: &str| width.is_none_or(|width| line.chars().count() <= usize::from(width));
    let lines: Vec<&str> = whole.lines().collect();
    if lines.len() == rows.len() + 1 && lines.iter().all(|line| fits(line)) {
        for (k, line) in lines.iter().enumerate() {
            writeln!(out, "{line}")?;
            k.checked_sub(1).map_or(Ok(()), |k| remark(&remarks[k], out))?;
        }
        return Ok(());
    }
    let about: Vec<String> =
        rows.iter().map(|row| row.first().cloned().unwrap_or_default()).collect();
    columns_within(width, CellAlignment::Right, header, rows, out)?;
    let told = about.iter().zip(remarks).filter(|(_, text)| !text.is_empty());
    let mut told: Vec<String> = told.map(|(about, text)| format!("{about}: {text}")).collect();
    told.dedup();
    told.iter().try_for_each(|text| remark(text, out))?;
    Ok(())
}

/// Blanks before a remark.
const INDENT: usize = 4;

/// Writes a text in lines that begin with blanks, broken where they are longer than the width.
fn indented(text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && INDENT + length > width {
            writeln!(out, "{:INDENT$}{line}", "")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{:INDENT$}{line}", "")
}

/// The same with all columns to the left: words, not numbers.
pub(crate) fn left_columns(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    out: &mut dyn Write,
) -> Done {
    columns_within(terminal_width(), CellAlignment::Left, header, rows, out)
}

/// The width of the terminal, if it is one.
fn terminal_width() -> Option<u16> {
    terminal_size_of(io::stdout()).map(|(Width(width), _)| width)
}

/// Columns that the labels of a report take, such as `kept`.
const LABEL: usize = 15;

/// Writes a report in lines that fit the terminal, if it is one: those that are longer go on under their text.
pub(crate) fn report(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> Done) -> Done {
    let Some(width) = terminal_width() else { return write(out) };
    let mut text = Vec::new();
    write(&mut text)?;
    for line in String::from_utf8_lossy(&text).lines() {
        wrapped(line, usize::from(width), out)?;
    }
    Ok(())
}

/// Writes a line, broken at blanks where it is longer than the width.
fn wrapped(line: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let label: String = line.chars().take(LABEL).collect();
    let indent = if label.ends_with("  ") && 2 * LABEL < width { LABEL } else { 0 };
    // The label itself is not broken.
    let mut start = if indent > 0 { label.len() } else { 0 };
    let (mut rest, mut margin) = (line, 0);
    while let Some((fits, next)) = rest.char_indices().nth(width - margin) {
        let last = if next == ' ' {
            Some(fits)
        } else {
            rest[start..fits].rfind(' ').map(|at| start + at)
        };
        let Some(at) = last.filter(|at| *at > start) else { break };
        writeln!(out, "{:margin$}{}", "", rest[..at].trim_end())?;
        (rest, margin, start) = (rest[at..].trim_start(), indent, 0);
    }
    writeln!(out, "{:margin$}{rest}", "")
}

/// Columns of cells up to this length are not broken while others can be.
const UNBROKEN: usize = 20;

fn columns_within(
    width: Option<u16>,
    others: CellAlignment,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    out: &mut dyn Write,
) -> Done {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let mut longest: Vec<usize> = header.iter().map(|title| title.chars().count()).collect();
    for row in &rows {
        for (longest, cell) in longest.iter_mut().zip(row) {
            *longest = cell.chars().count().max(*longest);
        }
    }
    let blocks = match width {
        Some(width) => blocks(&longest, usize::from(width)),
        None => vec![(1..longest.len()).collect()],
    };
    for (b, block) in blocks.iter().enumerate() {
        let shown: Vec<usize> =
            [0].iter().chain(block).copied().filter(|j| *j < header.len()).collect();
        let cells = |row: &[String]| -> Vec<String> {
            shown.iter().map(|&j| row.get(j).cloned().unwrap_or_default()).collect()
        };
        let header: Vec<String> = shown.iter().map(|&j| header[j].to_string()).collect();
        let longest: Vec<usize> = shown.iter().map(|&j| longest[j]).collect();
        if b > 0 {
            writeln!(out)?;
        }
        let rows = rows.iter().map(|row| cells(row));
        one_table((width, others), header, rows, &longest, out)?;
    }
    Ok(())
}

/// Columns beside the first that fit a width together, without a break in any but long cells.
fn blocks(longest: &[usize], width: usize) -> Vec<Vec<usize>> {
    let least = |j: usize| longest[j].min(UNBROKEN);
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut taken = 0;
    for j in 1..longest.len() {
        // Every column but the first has two blanks before it.
        let room = 2 + least(j);
        match blocks.last_mut() {
            Some(block) if taken + room <= width => {
                block.push(j);
                taken += room;
            }
            _ => {
                blocks.push(vec![j]);
                taken = least(0) + room;
            }
        }
    }
    if blocks.is_empty() { vec![Vec::new()] } else { blocks }
}

/// Writes a table whose columns' longest cells are known.
fn one_table(
    (width, others): (Option<u16>, CellAlignment),
    header: Vec<String>,
    rows: impl Iterator<Item = Vec<String>>,
    longest: &[usize],
    out: &mut dyn Write,
) -> Done {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    rows.for_each(|row| _ = table.add_row(row));
    let whole = longest.iter().sum::<usize>() + 2 * longest.len().saturating_sub(1);
    let broken = width.filter(|width| whole > usize::from(*width));
    if let Some(width) = broken {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(i != 0), 1));
        let side = if i == 0 { CellAlignment::Left } else { others };
        column.set_cell_alignment(side);
        if broken.is_some() && longest[i] <= UNBROKEN {
            column.set_constraint(ColumnConstraint::ContentWidth);
        } else if broken.is_some() {
            let least = comfy_table::Width::Fixed(UNBROKEN as u16);
            column.set_constraint(ColumnConstraint::LowerBoundary(least));
        }
    }
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{error, number};
    use super::*;

    fn shown(width: Option<u16>) -> Vec<String> {
        let long = "mixture(components=4, covariance=diagonal, schedule=sw99, beta=0.01)";
        let rows =
            [long, "gaussian"].map(|name| vec![name.into(), "0.5000".into(), "-1.2345".into()]);
        let mut out = Vec::new();
        columns_within(width, CellAlignment::Right, &["member", "weight", "score"], rows, &mut out)
            .unwrap();
        String::from_utf8(out).unwrap().lines().map(String::from).collect()
    }

    #[test]
    fn tables_fit_the_terminal_and_keep_numbers_whole() {
        let whole = shown(None);
        assert_eq!(whole.len(), 3);
        assert_eq!(shown(Some(200)), whole);
        let broken = shown(Some(50));
        assert!(broken.len() > 3 && broken.iter().all(|line| line.chars().count() <= 50));
        let text = broken.join(" ");
        assert_eq!(text.matches("0.5000").count(), 2);
        assert_eq!(text.matches("-1.2345").count(), 2);
    }

    /// Three rows of four figures, as of classes, with a first column as long as this.
    fn figures(width: u16, name: &str) -> Vec<String> {
        let header = [name, "auc", "brier", "error", "log loss"];
        let row = |name: &str| {
            let cell = format!("{} ({})", number(0.123_456), error(0.000_345_6));
            [name.into()].into_iter().chain(std::iter::repeat_n(cell, 4)).collect::<Vec<_>>()
        };
        let mut out = Vec::new();
        let rows = ["stack", "best member", name].map(row);
        columns_within(Some(width), CellAlignment::Right, &header, rows, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(String::from).collect()
    }

    #[test]
    fn figures_fit_eighty_columns_and_names_stay_whole() {
        let whole = figures(80, "equal weights");
        assert_eq!(whole.len(), 4, "{whole:?}");
        assert!(whole.iter().all(|line| line.chars().count() <= 80), "{whole:?}");
        let narrow = figures(60, "equal weights");
        assert!(narrow.iter().all(|line| line.chars().count() <= 60), "{narrow:?}");
        assert_eq!(narrow.iter().filter(|line| line.starts_with("best member")).count(), 2);
        assert_eq!(narrow.join(" ").matches("0.1235 (3e-4)").count(), 12);
        let long = figures(60, "a name that is longer than twenty characters");
        assert!(long.iter().any(|line| line.starts_with("best member")), "{long:?}");
        assert!(long.iter().all(|line| line.chars().count() <= 60), "{long:?}");
    }

    #[test]
    fn long_lines_go_on_under_their_text() {
        let shown = |line: &str, width: usize| {
            let mut out = Vec::new();
            wrapped(line, width, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let line = "kept           the stack: its gain over the best member, +0.0123 (se 0.0045), is clear";
        assert_eq!(shown(line, 200), format!("{line}\n"));
        let broken = shown(line, 40);
        assert!(broken.lines().count() > 2, "{broken}");
        assert!(broken.lines().all(|line| line.chars().count() <= 40), "{broken}");
        assert!(broken.lines().skip(1).all(|line| line.starts_with(&" ".repeat(LABEL))));
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(words(&broken), words(line));
        // What cannot be broken stays whole, and letters of several bytes are not cut.
        let one = "x".repeat(60);
        assert_eq!(shown(&one, 40), format!("{one}\n"));
        let wide = format!("note           {}", "größer als vorgesehen ".repeat(8));
        assert!(shown(&wide, 30).lines().all(|line| line.chars().count() <= 30));
        assert_eq!(shown("", 40), "\n");
    }

    #[test]
    fn remarks_stand_below_their_rows() {
        let shown = |width: Option<u16>| {
            let rows = [["iris", "0.5000"], ["a set of a long name", "0.2500"]];
            let rows = rows.map(|row| row.map(String::from).to_vec()).to_vec();
            let remarks = [String::new(), "other rows than ".repeat(10)];
            let mut out = Vec::new();
            remarked_within(width, &["set", "share"], rows, &remarks, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let whole = shown(None);
        let lines: Vec<&str> = whole.lines().collect();
        assert_eq!(lines.len(), 5, "{whole}");
        assert!(lines[2].starts_with("a set") && lines[3].starts_with("    other rows"), "{whole}");
        assert!(lines.iter().all(|line| line.chars().count() <= REMARK), "{whole}");
        let narrow = shown(Some(50));
        assert!(narrow.lines().all(|line| line.chars().count() <= 50), "{narrow}");
        // Where a row has no room the remark says which one it is about.
        let broken = shown(Some(24));
        assert!(broken.contains("    a set of a long\n"), "{broken}");
    }
}
