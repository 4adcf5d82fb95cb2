//! `dolmen reproduce`: the experiments of the papers, run again.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use dolmen::error::{Error, Result};
use dolmen_papers::page::{COUNTED, Standing, Whose, prepare, totals, write_overview};
use dolmen_papers::{
    CLAIMS_RULE_OF_LINES, Context, Effort, Experiment, Finding, Page, experiments, named,
};
use serde::Serialize;

use crate::args::{Common, Format};
use crate::output::{self, Done, Failure, columns, columns_with_remarks, left_columns};

/// Run the experiments of the papers again: our figures beside the printed ones.
///
/// Each gives a verdict on every printed figure (agrees, differs and why), says whether what the paper claims holds, and writes a page
/// in Markdown with its tables as CSV and its figures as SVG; `overview.md` counts what all pages of the folder say.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen reproduce --list
  dolmen reproduce sw99-section2 --quick
  dolmen reproduce sw99-section2 --quick -o results")]
pub(crate) struct Reproduce {
    /// The experiments, or a paper for all of its: `--list` names them.
    #[arg(value_name = "NAME", required_unless_present_any = ["list", "all"])]
    names: Vec<String>,
    /// List the experiments.
    #[arg(long, conflicts_with_all = ["all", "names"])]
    list: bool,
    /// Run all of them.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Fewer repeats than the papers', in seconds.
    #[arg(long)]
    quick: bool,
    /// A folder for the pages, tables and figures, and an overview of them; it is made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// A folder with data sets that the program may not carry, by the names that the pages tell.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// An experiment in the list.
#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    title: &'static str,
    source: &'static str,
}

/// What was run.
#[derive(Debug, Serialize)]
struct Ran {
    #[serde(flatten)]
    page: Page,
    files: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Reproduce, common: &Common, out: &mut dyn Write) -> Done {
    if arguments.list {
        return list(common, out);
    }
    let wanted = wanted(arguments)?;
    if let Some(folder) = arguments.data.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Error::file(folder, "is not a folder with data sets").into());
    }
    if let Some(folder) = &arguments.output {
        prepare(folder)?;
    }
    let run = common.run()?;
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let context = Context { run: &run, effort, data: arguments.data.as_deref() };
    let (mut ran, mut unwritten) = (Vec::new(), None);
    let (mut rules, mut with_data) = (Rules::default(), false);
    let mut standings = Vec::new();
    for experiment in wanted {
        let start = Instant::now();
        let mut page = experiment.page(&context)?;
        page.seed = common.seed.unwrap_or_default();
        with_data |= page.with_data;
        if common.format == Format::Text {
            show(&page, out)?;
            rules.add(&page);
            standings.push(Standing::of(&page));
        }
        // What was found is shown even if it cannot be written; the next experiments would be in vain.
        let files = arguments.output.as_deref().map_or(Ok(Vec::new()), |folder| page.write(folder));
        let files = files.unwrap_or_else(|error| {
            unwritten = Some(error);
            Vec::new()
        });
        match common.format {
            Format::Text => {
                files.iter().try_for_each(|file| writeln!(out, "wrote {}", file.display()))?;
                writeln!(out)?;
                out.flush()?;
            }
            Format::Json => ran.push(Ran { page, files }),
        }
        tell_time(experiment, start, common);
        if unwritten.is_some() {
            break;
        }
    }
    let overview = match arguments.output.as_deref().filter(|_| unwritten.is_none()) {
        Some(folder) => Some(write_overview(folder)?),
        None => None,
    };
    match common.format {
        Format::Text => {
            if standings.len() > 1 {
                summary(&standings, out)?;
            }
            output::report(out, |out| rules.write(out))?;
            overview.map_or(Ok(()), |path| writeln!(out, "wrote {}", path.display()))?;
        }
        Format::Json => output::json(&ran, out)?,
    }
    if let Some(folder) = arguments.data.as_deref().filter(|_| !with_data) {
        let folder = folder.display();
        output::note(common, &format!("{folder}: nothing there was used; pages name the files"));
    }
    unwritten.map_or(Ok(()), |error| Err(Failure::from(error)))
}

/// How all of them stand, and what differs or does not hold: nobody counts that in a thousand lines.
fn summary(standings: &[Standing], out: &mut dyn Write) -> Done {
    let row = |name: &str, counts: [usize; 9]| -> Vec<String> {
        std::iter::once(name.to_string()).chain(counts.map(|n| n.to_string())).collect()
    };
    let rows = standings.iter().map(|own| row(&own.name, own.counts()));
    let header: Vec<&str> = ["experiment"].into_iter().chain(COUNTED).collect();
    columns(&header, rows.chain([row("all", totals(standings))]), out)?;
    writeln!(out)?;
    for own in standings {
        for figure in own.differing() {
            let (ours, paper) = (&figure.ours, &figure.paper);
            let what = &figure.what;
            writeln!(out, "{:13}  {}: {what}: {ours}, the paper's {paper}", "differs", own.name)?;
        }
    }
    for own in standings {
        for claim in own.failing() {
            writeln!(out, "{:13}  {}: {}", "DOES NOT HOLD", own.name, claim.text)?;
        }
    }
    Ok(writeln!(out)?)
}

/// Says how long an experiment took to those who look on: not among results, which are the same from run to run.
fn tell_time(experiment: &Experiment, start: Instant, common: &Common) {
    if io::stderr().is_terminal() {
        let seconds = start.elapsed().as_secs_f64();
        output::note(common, &format!("{} took {seconds:.1} s", experiment.name));
    }
}

/// The rules by which the pages shown were judged, each once.
#[derive(Default)]
struct Rules(Vec<String>);

impl Rules {
    fn add(&mut self, page: &Page) {
        let on_claims = (!page.claims.is_empty()).then(|| CLAIMS_RULE_OF_LINES.to_string());
        for rule in on_claims.into_iter().chain(page.rules_on_figures()) {
            if !self.0.contains(&rule) {
                self.0.push(rule);
            }
        }
    }

    fn write(&self, out: &mut dyn Write) -> Done {
        self.0.iter().try_for_each(|rule| writeln!(out, "{rule}"))?;
        Ok(())
    }
}

/// The experiments that are asked for, each once, whichever names it came by.
fn wanted(arguments: &Reproduce) -> Result<Vec<&'static Experiment>> {
    if arguments.all {
        return Ok(experiments().iter().collect());
    }
    let of_names = arguments.names.iter().map(|name| named(name));
    let mut wanted = of_names.collect::<Result<Vec<_>>>()?.concat();
    let mut seen = HashSet::new();
    wanted.retain(|experiment| seen.insert(experiment.name));
    Ok(wanted)
}

fn list(common: &Common, out: &mut dyn Write) -> Done {
    let all = experiments();
    match common.format {
        Format::Text => {
            let row = |own: &Experiment| vec![own.name.into(), own.title.into(), own.source.into()];
            left_columns(&["name", "what", "source"], all.iter().map(row), out)
        }
        Format::Json => {
            let listed = |own: &Experiment| {
                let Experiment { name, title, source, .. } = *own;
                Listed { name, title, source }
            };
            output::json(&all.iter().map(listed).collect::<Vec<_>>(), out)
        }
    }
}

fn show(page: &Page, out: &mut dyn Write) -> Done {
    writeln!(out, "{}: {}\n{}\n", page.name, page.title, page.source)?;
    output::report(out, |out| {
        page.introduction.iter().try_for_each(|paragraph| writeln!(out, "{paragraph}"))?;
        Ok(writeln!(out)?)
    })?;
    for comparison in &page.comparisons {
        writeln!(out, "{}", comparison.title)?;
        numbers(&comparison.header(), comparison.cells(), out)?;
    }
    for table in page.tables.iter().filter(|table| table.shown) {
        writeln!(out, "{}", table.title)?;
        numbers(&table.columns, table.cells(), out)?;
    }
    output::report(out, |out| {
        for claim in &page.claims {
            let words = claim.finding.words();
            let label =
                if claim.finding == Finding::Fails { words.to_uppercase() } else { words.into() };
            let whose = if claim.whose == Whose::Ours { "ours: " } else { "" };
            writeln!(out, "{label:13}  {whose}{} ({})", claim.text, claim.seen_from())?;
            if let Some(why) = &claim.why {
                writeln!(out, "{:13}  why: {why}", "")?;
            }
        }
        page.notes.iter().try_for_each(|note| writeln!(out, "{:13}  {note}", "note"))?;
        Ok(())
    })
}

/// A table; reasons, which may be long, stand below the rows that they belong to.
fn numbers(header: &[String], mut rows: Vec<Vec<String>>, out: &mut dyn Write) -> Done {
    let mut header: Vec<&str> = header.iter().map(String::as_str).collect();
    if header.last() == Some(&"why") {
        header.pop();
        let reasons = rows.iter_mut().map(|row| row.pop().unwrap_or_default());
        let reasons: Vec<String> = reasons.collect();
        columns_with_remarks(&header, rows, &reasons, out)?;
    } else {
        columns(&header, rows, out)?;
    }
    Ok(writeln!(out)?)
}
