//! `dolmen report`: one page about a model, a matrix or a comparison, to be mailed to a colleague.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use dolmen_report::{PageOptions, page};

use crate::again::again;
use crate::args::Common;
use crate::output::{self, Done};
use crate::picture::{check_page, write_page};
use crate::plot::{About, Input, tell_known};

/// Write one page about a model: a summary in words, members, weights, check, pictures, warnings and the recipe.
///
/// The page is one HTML file that needs nothing else: no network, no program. The rows that the model was fitted to are
/// in it only as counts, means and quantiles.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen report iris.dolmen -o iris.html
  dolmen report sacramento.dolmen --data sold.csv -o sacramento.html
  dolmen report geyser.dolmen > geyser.html")]
pub(crate) struct Report {
    /// A model (.dolmen), a matrix kept by `fit --oos` (.parquet), or what `compare --format json` printed (.json).
    subject: PathBuf,
    #[command(flatten)]
    about: About,
    /// Where the page goes; `-` for stdout. [default: stdout]
    #[arg(short, long, value_name = "HTML")]
    output: Option<PathBuf>,
}

pub(crate) fn run(report: &Report, common: &Common, out: &mut dyn Write) -> Done {
    let output = report.output.as_deref().filter(|path| !output::is_standard(path));
    let read = [Some(report.subject.as_path()), report.about.file()];
    let read: Vec<&Path> = read.into_iter().flatten().collect();
    output::check_outputs(&read, &[("--output", output)])?;
    output.map_or(Ok(()), check_page)?;
    report.about.check_data()?;
    if report.output.is_none() {
        output::not_on_screen("a page", "page.html")?;
    }
    if output.is_none() {
        output::not_json(common.format, "page")?;
    }
    let run = common.run()?;
    let input = Input::read(&report.subject, &report.about, true, common, &run)?;
    drop(run);
    tell_known(&input.subject(), common);
    // A matrix is weighed here; what made a comparison is not known any more.
    let is_weighed = matches!(input, Input::Weighing(..));
    let again = is_weighed.then(|| again(common, common.seed.unwrap_or_default(), None));
    if let Some(path) = output {
        write_page(&input.subject(), again, path)?;
        return output::written(path, common.format, out);
    }
    let options = PageOptions { again, ..PageOptions::default() };
    Ok(out.write_all(page(&input.subject(), &options)?.as_bytes())?)
}
