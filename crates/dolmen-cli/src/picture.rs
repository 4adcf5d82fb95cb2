//! Pictures and pages as files: what every verb that shows them shares.

use std::path::{Path, PathBuf};

use clap::Args;
use dolmen::error::{Error, Result};
use dolmen::store::write_file;
use dolmen_report::{Again, Kind, Options, PageOptions, Subject, draw, kinds, page};

use crate::args::Common;
use crate::output;

/// What else comes of a result.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct Shows {
    /// Where the most telling picture of the result is drawn: SVG, or PNG by extension. `dolmen plot` draws all others.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Where a page about the result is written: one HTML file with words, tables and pictures, which needs nothing else. `fit`
    /// measures for it how much each input matters, too, which may take longer than the fit itself.
    #[arg(long, value_name = "HTML")]
    pub(crate) report: Option<PathBuf>,
}

impl Shows {
    /// Refuses, before any work, files that cannot be written.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(path) = &self.plot {
            Form::of(path)?;
        }
        self.report.as_deref().map_or(Ok(()), check_page)?;
        let files = [("--plot", self.plot.as_deref()), ("--report", self.report.as_deref())];
        output::check_outputs(&[], &files)
    }

    /// Whether something is to be drawn.
    pub(crate) fn is_any(&self) -> bool {
        self.plot.is_some() || self.report.is_some()
    }

    /// Draws and writes what was asked for; `again` makes it again, where that is no model.
    pub(crate) fn write(
        &self,
        subject: &Subject<'_>,
        again: Option<Again>,
        common: &Common,
    ) -> Result<()> {
        if let Some(path) = &self.plot {
            let kind = kinds(subject).first().copied().unwrap_or(Kind::Weights);
            write_picture(&draw(subject, kind, &Options::default())?, path, SCALE, common)?;
        }
        match &self.report {
            Some(path) => write_page(subject, again, path),
            None => Ok(()),
        }
    }
}

/// Pixels of a PNG for each unit of the SVG, where nobody says.
pub(crate) const SCALE: f64 = 2.0;

/// The forms of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Svg,
    Png,
}

impl Form {
    /// The form that a file's name asks for.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Error::file(path, "pictures are written as .svg or .png")),
        }
    }
}

/// Writes a picture in the form of the file's name.
pub(crate) fn write_picture(svg: &str, path: &Path, scale: f64, common: &Common) -> Result<()> {
    let bytes = match Form::of(path)? {
        Form::Svg => svg.as_bytes().to_vec(),
        Form::Png => to_png(svg, scale, common)?,
    };
    write_file(path, |out| out.write_all(&bytes))
}

#[cfg(feature = "png")]
fn to_png(svg: &str, scale: f64, common: &Common) -> Result<Vec<u8>> {
    let unknown = dolmen_report::signs_without_font(svg);
    if !unknown.is_empty() {
        output::note(common, &replaced(&unknown));
    }
    dolmen_report::png(svg, scale)
}

/// What the user should know of signs that no font has, the first of very many.
#[cfg(feature = "png")]
fn replaced(unknown: &[char]) -> String {
    const MOST: usize = 20;
    let named: Vec<String> = unknown.iter().take(MOST).map(char::to_string).collect();
    let more = match unknown.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "no font has {}{more}: there is a question mark in the place of each; .svg leaves the fonts to the reader's program",
        named.join(" ")
    )
}

#[cfg(not(feature = "png"))]
fn to_png(_svg: &str, _scale: f64, _common: &Common) -> Result<Vec<u8>> {
    Err(Error::param("picture", "an .svg file: this program was built without PNG", ".png"))
}

/// Refuses files whose names promise something else than a page.
pub(crate) fn check_page(path: &Path) -> Result<()> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        None | Some("html" | "htm") => Ok(()),
        Some(_) => {
            Err(Error::file(path, "pages are written as .html; a browser prints them as PDF"))
        }
    }
}

pub(crate) fn write_page(subject: &Subject<'_>, again: Option<Again>, path: &Path) -> Result<()> {
    let html = page(subject, &PageOptions { again, ..PageOptions::default() })?;
    write_file(path, |out| out.write_all(html.as_bytes()))
}
