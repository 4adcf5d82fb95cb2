//! `dolmen plot`: one picture of a model, a matrix or a comparison.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dolmen::error::{Error, Result};
use dolmen::evaluate::compare::{Comparison, LearningCurve, SetsComparison};
use dolmen::recipe::{
    Apply, Evidence, Matrix, Model, ModelFile, ScoreReport, WeighRecipe, WeighReport,
};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen_report::{
    Kind, ModelView, Options, Subject, Theme, draw, kinds, kinds_with_data, shows_rows,
};
use serde::Serialize;

use crate::args::{Cells, Common, DataFile, Format};
use crate::output::{self, Done, left_columns};
use crate::picture::{Form, SCALE, write_picture};
use crate::predict::tell_unseen;

/// Draw a picture: of a model's weights, density, calibration, importances and so on; of a kept matrix; of a comparison.
///
/// Without KIND the most telling picture is drawn; --list says which there are.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen plot iris.dolmen --list
  dolmen plot geyser.dolmen density --input eruptions -o density.svg
  dolmen plot geyser.dolmen contours --data test.csv --rows -o geyser.png
  dolmen plot iris.dolmen weights > weights.svg
  dolmen compare iris.csv --target Species --repeats 5 --model logistic \\
      --model tree --format json > comparison.json && \\
      dolmen plot comparison.json methods -o methods.svg")]
pub(crate) struct Plot {
    /// A model (.dolmen), a matrix kept by `fit --oos` (.parquet), or what `compare --format json` printed (.json).
    subject: PathBuf,
    /// The picture. [default: the most telling one]
    kind: Option<String>,
    /// Say which pictures suit the input, and what they show.
    #[arg(long, conflicts_with_all = ["kind", "output"])]
    list: bool,
    /// Where the picture goes: .svg or .png; `-` for SVG on stdout. [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    about: About,
    /// The input, column, class or figure that the picture is about, where there is a choice; two as `FIRST,SECOND`.
    #[arg(long, value_name = "NAME")]
    input: Option<String>,
    /// The member that the picture is about, where there is a choice.
    #[arg(long, value_name = "NAME")]
    member: Option<String>,
    /// Light, dark, or as the reader's program likes it (SVG only; PNG is then light).
    #[arg(long, value_enum, default_value_t = Paper::Auto)]
    theme: Paper,
    /// The width in pixels, 400 to 4000; the height follows. Pictures of many columns may be wider.
    #[arg(long, default_value_t = 720.0)]
    width: f64,
    /// Pixels of a PNG for each pixel of the width.
    #[arg(long, default_value_t = SCALE)]
    scale: f64,
}

/// Rows that a model is shown by, in the place of those held out when it was fitted.
#[derive(Debug, Args)]
pub(crate) struct About {
    /// Rows with known truth that the model has not seen: it is judged by these, and importances are measured on them.
    #[arg(long, value_name = "FILE")]
    data: Option<DataFile>,
    /// Show single rows: those of --data as points, and curves of some rows in `dependence`. Otherwise rows are seen only
    /// as counts, means and quantiles.
    #[arg(long)]
    rows: bool,
    #[command(flatten)]
    cells: Cells,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// As the reader's program likes it.
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The narrowest picture that holds its words, and the widest.
const WIDTHS: std::ops::RangeInclusive<f64> = 400.0..=4000.0;

pub(crate) fn run(plot: &Plot, common: &Common, out: &mut dyn Write) -> Done {
    plot.check()?;
    if plot.output.is_none() && !plot.list {
        output::not_on_screen("a picture", "picture.svg or -o picture.png")?;
    }
    // Read here, not by the parser of the options, which would not tell what a misspelt name was meant to be.
    let wanted: Option<Kind> = plot.kind.as_deref().map(str::parse).transpose()?;
    let run = common.run()?;
    // Importances take longer than all else, and are seen on two pictures only.
    let explain = wanted.is_none_or(|kind| matches!(kind, Kind::Importance | Kind::Dependence));
    let input = Input::read(&plot.subject, &plot.about, explain, common, &run)?;
    drop(run);
    let subject = input.subject();
    tell_known(&subject, common);
    if plot.list {
        return list(&subject, common, out);
    }
    let kind = wanted.or_else(|| kinds(&subject).first().copied()).unwrap_or(Kind::Weights);
    plot.about.check_rows(kind)?;
    let options = Options {
        width: plot.width,
        theme: match plot.theme {
            Paper::Auto => Theme::Auto,
            Paper::Light => Theme::Light,
            Paper::Dark => Theme::Dark,
        },
        input: plot.input.clone(),
        member: plot.member.clone(),
        single_rows: plot.about.rows,
        ..Options::default()
    };
    let svg = draw(&subject, kind, &options).map_err(|error| match error {
        Error::Param { ref name, .. } if name == "picture" => error.with_hint(cure(&subject, kind)),
        other => other,
    })?;
    if let Some(path) = plot.output.as_deref().filter(|path| !output::is_standard(path)) {
        write_picture(&svg, path, plot.scale, common)?;
        return output::written(path, common.format, out);
    }
    output::not_json(common.format, "picture")?;
    Ok(out.write_all(svg.as_bytes())?)
}

/// Whether rows were given, fewer than the picture `pit` has bars.
fn has_few_rows(subject: &Subject<'_>) -> bool {
    let Subject::Model(view) = subject else { return false };
    let levels = view.evidence.and_then(|evidence| evidence.levels.as_ref());
    levels.is_some_and(|levels| levels.total() < levels.counts.len())
}

/// What to do where a picture does not suit.
fn cure(subject: &Subject<'_>, kind: Kind) -> &'static str {
    match kind {
        Kind::Pit if has_few_rows(subject) => {
            "it has a bar for each twentieth of the rows, and fewer than twenty rows tell nothing of their heights"
        }
        _ if !kinds_with_data(subject).contains(&kind) => match kind {
            Kind::Tree => "a forest has trees, too: --member NAME draws its first",
            Kind::Training => {
                "it shows the loss of rows that boosting or a network holds out to stop in time, and no member held out any: boosting does in some hundred rows, or more if held_out is larger"
            }
            _ => "dolmen plot FILE --list says which pictures there are",
        },
        Kind::Importance | Kind::Dependence => {
            "it needs rows with known truth (--data FILE), or a model made by fit --explain"
        }
        Kind::Pit => {
            "where the folds' densities are unlike that of all rows it needs others (--data FILE)"
        }
        _ => "it needs rows with known truth (--data FILE)",
    }
}

impl Plot {
    fn check(&self) -> Result<()> {
        if !WIDTHS.contains(&self.width) {
            return Err(Error::param("width", "400 to 4000", self.width));
        }
        let output = self.output.as_deref().filter(|path| !output::is_standard(path));
        if let Some(path) = output {
            Form::of(path)?;
        }
        let read = [Some(self.subject.as_path()), self.about.data.as_deref()];
        let read: Vec<&Path> = read.into_iter().flatten().collect();
        output::check_outputs(&read, &[("--output", output)])
    }
}

#[derive(Debug, Serialize)]
struct Listed {
    kind: &'static str,
    shows: &'static str,
    /// The option that it cannot be drawn without.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<&'static str>,
}

fn list(subject: &Subject<'_>, common: &Common, out: &mut dyn Write) -> Done {
    let listed = |needs: Option<&'static str>| {
        move |kind: Kind| Listed { kind: kind.name(), shows: kind.meaning(), needs }
    };
    let mut all: Vec<Listed> = kinds(subject).into_iter().map(listed(None)).collect();
    let more: Vec<Listed> =
        kinds_with_data(subject).into_iter().map(listed(Some("--data"))).collect();
    if common.format == Format::Json {
        all.extend(more);
        return output::json(&all, out);
    }
    let row = |own: &Listed| vec![own.kind.to_string(), own.shows.to_string()];
    left_columns(&["picture", "shows"], all.iter().map(row), out)?;
    if !more.is_empty() {
        writeln!(out, "\nWith rows of known truth (--data FILE) also:\n")?;
        left_columns(&["picture", "shows"], more.iter().map(row), out)?;
    }
    Ok(())
}

/// What is shown, as it was read.
pub(crate) enum Input {
    Model {
        model: Box<Model>,
        evidence: Option<Box<Evidence>>,
        score: Option<ScoreReport>,
        rows: Option<Features>,
    },
    Weighing(Box<WeighReport>, Box<Evidence>),
    Comparison(Comparison),
    Sets(SetsComparison),
    Learning(LearningCurve),
}

impl Input {
    pub(crate) fn read(
        path: &Path,
        about: &About,
        explain: bool,
        common: &Common,
        run: &Run,
    ) -> Result<Self> {
        let refuse_data = |what: &str| match &about.data {
            Some(data) => {
                let only = format!("left out: a {what} is shown as it is, only a model is judged");
                Err(Error::param("data", only, data.display()))
            }
            None => Ok(()),
        };
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            refuse_data("comparison")?;
            return Self::of_json(path);
        }
        // A model is shown as a model even if it carries its matrix.
        let is_model = ModelFile::is_at(path);
        let matrix = if is_model { None } else { Matrix::read(path, run)? };
        if let Some(matrix) = matrix {
            refuse_data("matrix")?;
            let seed = common.seed.unwrap_or_default();
            let recipe = WeighRecipe { seed, ..WeighRecipe::default() };
            let weighed = recipe.weigh(&matrix, None, Apply::Nothing, run)?;
            let evidence = Box::new(recipe.judge(&matrix, None, &weighed, run)?);
            return Ok(Self::Weighing(Box::new(weighed.report), evidence));
        }
        if !is_model {
            refuse_table(path)?;
        }
        let model = Box::new(Model::read(path)?);
        let Some(data) = &about.data else {
            return Ok(Self::Model { model, evidence: None, score: None, rows: None });
        };
        let mut options = model.read_options(true, &[]);
        about.cells.add_to(&mut options)?;
        let given = model.read_rows(data, &options, run)?;
        tell_unseen(&given.unseen, common);
        let rows = about.rows.then(|| given.features.clone());
        let judged = model.judge(given, explain, run).map_err(|error| error.in_file(data))?;
        let (score, evidence) = (Some(judged.0), Some(Box::new(judged.1)));
        Ok(Self::Model { model, evidence, score, rows })
    }

    /// A comparison as the program printed it.
    fn of_json(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
        let unreadable = |e: serde_json::Error| {
            Error::file(path, format!("not what `compare --format json` prints: {e}"))
        };
        let document: serde_json::Value = serde_json::from_str(&text).map_err(unreadable)?;
        refuse_other_results(path, &document)?;
        if document.get("sizes").is_some() {
            serde_json::from_value(document).map(Self::Learning).map_err(unreadable)
        } else if document.get("sets").is_some() {
            serde_json::from_value(document).map(Self::Sets).map_err(unreadable)
        } else {
            serde_json::from_value(document).map(Self::Comparison).map_err(unreadable)
        }
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        match self {
            Self::Model { model, evidence, score, rows } => Subject::Model(ModelView {
                model,
                evidence: evidence.as_deref(),
                score: score.as_ref(),
                rows: rows.as_ref(),
            }),
            Self::Weighing(report, evidence) => Subject::Weighing(report, Some(evidence)),
            Self::Comparison(comparison) => Subject::Comparison(comparison),
            Self::Sets(sets) => Subject::Sets(sets),
            Self::Learning(curve) => Subject::Learning(curve),
        }
    }
}

/// Refuses what other verbs print as JSON: it is not what pictures are made from.
fn refuse_other_results(path: &Path, document: &serde_json::Value) -> Result<()> {
    let has = |key: &str| document.get(key).is_some();
    if ["sizes", "sets", "methods"].into_iter().any(has) {
        return Ok(());
    }
    let what = match () {
        () if has("kept") || has("combined") => "the JSON of a fit",
        () if has("gain_over_best") || has("members") => "the JSON of a score or of weights",
        () => "no JSON of a comparison",
    };
    let takes = "plot takes a model (.dolmen), a kept matrix (.parquet) or what `compare --format json` printed";
    let of_model = document.get("model").and_then(|model| model.as_str());
    let model = of_model.map_or_else(String::new, |model| format!("; the model is {model}"));
    Err(Error::file(path, format!("{what}: {takes}{model}")))
}

/// Tells where rows that were given look like those that the model was fitted to.
pub(crate) fn tell_known(subject: &Subject<'_>, common: &Common) {
    if subject.knows_rows() {
        let text = "the rows given look like those that the model was fitted to: what they show says nothing of new rows";
        output::note(common, text);
    }
}

/// Refuses a table: it says nothing of what its columns are, and `weigh`, which is told, draws it.
fn refuse_table(path: &Path) -> Result<()> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("csv" | "tsv" | "parquet" | "gz" | "zst") if path.is_file() => {
            let problem = "neither a model nor a kept matrix; predictions of other tools are drawn by `dolmen weigh FILE --plot PICTURE` or `--report PAGE`";
            Err(Error::file(path, problem))
        }
        _ => Ok(()),
    }
}

impl About {
    /// Refuses --rows for a picture on which there are none.
    fn check_rows(&self, kind: Kind) -> Result<()> {
        if self.rows && !shows_rows(kind) {
            let none = format!("left out for the picture '{kind}', which shows no single rows");
            return Err(Error::param("--rows", none, "given"));
        }
        if kind == Kind::Dependence { Ok(()) } else { self.check_data() }
    }

    /// Refuses --rows without the file that they are in.
    pub(crate) fn check_data(&self) -> Result<()> {
        if self.rows && self.data.is_none() {
            let error = Error::param("rows", "given together with --data", "given alone");
            return Err(error.with_hint("the rows that a model was fitted to are not in it"));
        }
        Ok(())
    }

    /// The file with rows, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.data.as_deref()
    }
}
