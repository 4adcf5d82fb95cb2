//! Pictures and pages: the same as the command line's.

use dolmen::error::Result;
use dolmen::evaluate::compare::Comparison;
use dolmen::recipe::{self, Evidence, WeighReport};
use dolmen_report::{Kind, Options, PageOptions, Subject, Theme};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::inputs::read_value;

/// How a picture is to look.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Look {
    kind: Option<String>,
    input: Option<String>,
    member: Option<String>,
    theme: String,
    width: f64,
}

impl Look {
    /// The picture of a subject: the most telling one if none is named.
    fn draw(self, subject: &Subject<'_>) -> Result<String> {
        let suitable = dolmen_report::kinds(subject);
        let kind = match (&self.kind, suitable.first()) {
            (Some(name), _) => name.parse()?,
            (None, Some(first)) => *first,
            (None, None) => Kind::Weights,
        };
        let theme = match self.theme.as_str() {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::Auto,
        };
        let options = Options {
            width: self.width,
            theme,
            input: self.input,
            member: self.member,
            ..Options::default()
        };
        dolmen_report::draw(subject, kind, &options)
    }
}

/// The pictures that suit a model: names, and what they show.
pub(crate) fn kinds(model: &recipe::Model) -> Vec<(&'static str, &'static str)> {
    let suitable = dolmen_report::kinds(&Subject::of(model));
    suitable.into_iter().map(|kind| (kind.name(), kind.meaning())).collect()
}

/// A picture of a model, as SVG.
pub(crate) fn of_model(py: Python<'_>, model: &recipe::Model, look: Look) -> PyResult<String> {
    py.detach(|| look.draw(&Subject::of(model))).map_err(|error| raised(py, error))
}

/// The report's page.
pub(crate) fn page(
    py: Python<'_>,
    model: &recipe::Model,
    title: Option<String>,
) -> PyResult<String> {
    py.detach(|| dolmen_report::page(&Subject::of(model), &PageOptions { title, again: None }))
        .map_err(|error| raised(py, error))
}

/// A short summary for notebooks.
pub(crate) fn summary(model: &recipe::Model) -> String {
    dolmen_report::summary_html(&Subject::of(model))
}

/// A picture of a weighing, as SVG.
pub(crate) fn of_weighing(report: &WeighReport, evidence: &Evidence, look: Look) -> Result<String> {
    look.draw(&Subject::Weighing(report, Some(evidence)))
}

/// The same as a short summary for notebooks.
pub(crate) fn summary_of_weighing(report: &WeighReport) -> String {
    dolmen_report::summary_html(&Subject::Weighing(report, None))
}

/// A picture of a comparison, as SVG.
#[pyfunction]
pub(crate) fn draw_comparison(
    py: Python<'_>,
    comparison: &Bound<'_, PyAny>,
    look: Look,
) -> PyResult<String> {
    let comparison: Comparison = read_value("comparison", comparison)?;
    look.draw(&Subject::Comparison(&comparison)).map_err(|error| raised(py, error))
}
