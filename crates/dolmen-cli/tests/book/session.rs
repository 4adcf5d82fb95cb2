//! Commands on a page, and what they say.
//!
//! A `console` block is a session: a line `$ COMMAND` (going on after a backslash), below it what it says: notes, then output. A page's
//! commands run one after another in a folder of its own that holds the data sets the program carries, and every file of the page whose
//! first line is `# NAME.toml`. A line `..` stands for any lines, nothing below a command for anything; a line `?` alone asks
//! an update for all there is to show.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::page::{Block, Page, pictures_folder};

const ANY: &str = "..";
const CARRIED: [&str; 4] = ["geyser", "iris", "penguins", "sacramento"];

/// A command and the lines below it.
struct Step {
    command: String,
    shown: Vec<String>,
}

/// Runs a page's sessions; what is wrong with them, and the pictures they made.
pub(crate) fn run(page: &mut Page, update: bool) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for name in CARRIED {
        let data =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../dolmen-papers/data/{name}.csv"));
        fs::copy(data, folder.path().join(format!("{name}.csv"))).unwrap();
    }
    let mut faults = Vec::new();
    let mut at = 0;
    // Blocks move as outputs are written: they are looked for again after each.
    while let Some(block) = page.blocks().into_iter().nth(at) {
        at += 1;
        write_named_file(page, &block, &folder);
        if block.language() != "console" || block.is_not_run() {
            continue;
        }
        let steps = steps(&page.lines[block.first..block.end]);
        let mut lines = Vec::new();
        for step in steps {
            let said = execute(&step.command, &folder, &mut faults);
            let shown = step.shown.iter().map(String::as_str).collect::<Vec<_>>();
            let said: Vec<&str> = said.lines().map(str::trim_end).collect();
            let said = &said[..said.len() - said.iter().rev().take_while(|s| s.is_empty()).count()];
            lines.extend(
                step.command
                    .lines()
                    .enumerate()
                    .map(|(i, line)| if i == 0 { format!("$ {line}") } else { line.to_string() }),
            );
            if !update && !agree(&shown, said) {
                let (shown, said) = (shown.join("\n"), said.join("\n"));
                faults.push(format!("$ {}\nshown:\n{shown}\nsaid:\n{said}", step.command));
            }
            let renewed = renewed(&shown, said);
            lines.extend(if update { renewed } else { step.shown });
        }
        page.lines.splice(block.first..block.end, lines);
    }
    let pictures = pictures(page, &folder, update, &mut faults);
    (faults, pictures)
}

/// A block whose first line is a comment with the name of a TOML file is that file.
fn write_named_file(page: &Page, block: &Block, folder: &TempDir) {
    let text = page.text(block);
    let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
    if let Some(name) = name.filter(|name| name.contains(".toml") && block.language() == "toml") {
        fs::write(folder.path().join(name), &text).unwrap();
    }
}

fn steps(lines: &[String]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.into(), shown: Vec::new() });
            goes_on = command.ends_with('\\');
        } else if let Some(step) = steps.last_mut() {
            if goes_on {
                step.command.push('\n');
                step.command.push_str(line);
                goes_on = line.ends_with('\\');
            } else {
                step.shown.push(line.trim_end().to_string());
            }
        }
    }
    for step in &mut steps {
        while step.shown.last().is_some_and(String::is_empty) {
            step.shown.pop();
        }
    }
    steps
}

/// What a command says: its notes first, then its output, whichever came first: in a pipe that is chance. It must end well.
fn execute(command: &str, folder: &TempDir, faults: &mut Vec<String>) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_dolmen")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let said = [&output.stderr, &output.stdout].map(|part| String::from_utf8_lossy(part)).concat();
    if !output.status.success() {
        faults.push(format!("$ {command}\nends with {}:\n{said}", output.status));
    }
    said
}

/// Whether what is shown is what was said.
fn agree(shown: &[&str], said: &[&str]) -> bool {
    match shown.iter().position(|line| *line == ANY) {
        _ if shown.is_empty() => true,
        None => shown == said,
        Some(at) => said.starts_with(&shown[..at]) && said.ends_with(&shown[at + 1..]),
    }
}

/// What an update shows: as many lines as before around what is left out, everything where nothing was.
fn renewed(shown: &[&str], said: &[&str]) -> Vec<String> {
    let kept = match shown.iter().position(|line| *line == ANY) {
        _ if shown.is_empty() => Vec::new(),
        Some(at) if shown.len() <= said.len() => {
            let tail = said.len() - (shown.len() - at - 1);
            [&said[..at], &[ANY], &said[tail..]].concat()
        }
        _ => said.to_vec(),
    };
    kept.into_iter().map(String::from).collect()
}

/// The pictures that the page shows and its commands made, by name: they must be those that are kept.
fn pictures(page: &Page, folder: &TempDir, update: bool, faults: &mut Vec<String>) -> Vec<String> {
    let text = page.lines.join("\n");
    let mut made = Vec::new();
    for part in text.split("pictures/").skip(1) {
        let name: String = part.chars().take_while(|c| !matches!(c, ')' | '"' | ' ')).collect();
        let (own, kept) = (folder.path().join(&name), pictures_folder().join(&name));
        if !own.exists() {
            continue;
        }
        if update {
            fs::create_dir_all(pictures_folder()).unwrap();
            fs::copy(&own, &kept).unwrap();
        } else if fs::read(&own).ok() != fs::read(&kept).ok() {
            faults.push(format!("the picture {name} is another one now"));
        }
        made.push(name);
    }
    made
}
