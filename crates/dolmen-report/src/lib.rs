//! Pictures and pages of what Dolmen computes.
//!
//! Everything shown is a value that the library made: a model with its report and evidence, a matrix, a weighing, a comparison, a
//! score. There are no statistics here.
//!
//! ```
//! use dolmen::recipe::Recipe;
//! use dolmen::table::{Column, Table};
//! use dolmen_report::{Kind, Options, Subject, draw, kinds};
//!
//! let x: Vec<f64> = (0..60).map(|i| f64::from(i % 20)).collect();
//! let y: Vec<f64> = x.iter().map(|x| 3.0 * x + 1.0).collect();
//! let table = Table::new(vec![("x".into(), Column::Numeric(x)), ("y".into(), Column::Numeric(y))])?;
//! let fit = Recipe::from_toml("target = 'y'\nmembers = ['ridge', 'tree', 'mean']")?.fit(&table, &dolmen::Run::new(0))?;
//! let subject = Subject::of(&fit.model);
//! assert!(kinds(&subject).contains(&Kind::Weights));
//! let svg = draw(&subject, Kind::Weights, &Options::default())?;
//! assert!(svg.starts_with("<svg"));
//! # Ok::<(), dolmen::Error>(())
//! ```

#![expect(
    clippy::format_push_string,
    clippy::single_match_else,
    reason = "texts are put together once for each mark, and two arms side by side read well"
)]

pub mod chart;
mod draw;
mod kind;
mod page;
mod pictures;
#[cfg(feature = "png")]
mod png;
mod subject;

pub use kind::Kind;
pub use page::{Again, PageOptions, page, summary_html};
#[cfg(feature = "png")]
pub use png::{png, signs_without_font};
pub use subject::{ModelView, Subject};

use dolmen::error::{Error, Result};

/// How a picture looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Its width in pixels; the height follows from what it shows.
    pub width: f64,
    /// Light, dark, or as the reader likes it.
    pub theme: Theme,
    /// Whether it stands alone, with paper and colours of its own; else the page around it has them.
    pub standalone: bool,
    /// What stands above it, if not the usual.
    pub title: Option<String>,
    /// The input or column it is about, where there is a choice; the most telling one if not given.
    pub input: Option<String>,
    /// The member it is about, where there is a choice.
    pub member: Option<String>,
    /// Whether curves of single rows are drawn where there are any; else only what many rows have in common.
    pub single_rows: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (title, input, member) = (None, None, None);
        let (standalone, single_rows) = (true, false);
        Self { width: 720.0, theme: Theme::Auto, standalone, title, input, member, single_rows }
    }
}

/// Light or dark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light, and dark for readers who like it so, where the program that shows the picture knows it.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The pictures that suit a subject, the most telling first.
pub fn kinds(subject: &Subject<'_>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| pictures::suits(subject, *kind)).collect();
    let first = match subject {
        Subject::Comparison(_) => Some(Kind::Methods),
        Subject::Model(view) if !view.model.task().has_target() => {
            match view.model.schema().len() {
                1 => Some(Kind::Density),
                2 => Some(Kind::Contours),
                _ => None,
            }
        }
        _ => None,
    };
    kinds.sort_by_key(|kind| Some(*kind) != first);
    kinds
}

/// The pictures of a model that take rows with known truth ([`ModelView::evidence`]) to be drawn, where it has none of its own for them.
pub fn kinds_with_data(subject: &Subject<'_>) -> Vec<Kind> {
    let Some(view) = subject.model().filter(|view| view.evidence.is_none()) else {
        return Vec::new();
    };
    let own = kinds(subject);
    let is_wanted = |kind: &Kind| pictures::of_rows(&view, *kind) && !own.contains(kind);
    Kind::ALL.into_iter().filter(is_wanted).collect()
}

/// Draws a picture as SVG; an error if it does not suit the subject, or is not about what the options name.
pub fn draw(subject: &Subject<'_>, kind: Kind, options: &Options) -> Result<String> {
    let drawn = match pictures::draw(subject, kind, options) {
        // Of members that there are, not all suit.
        Err(Error::Param { name, .. }) if name == "member" => None,
        other => other?,
    };
    if let Some(drawn) = drawn {
        check_choice(kind, options)?;
        return Ok(drawn);
    }
    let suitable = kinds(subject);
    if let Some(error) = unsuitable_member(subject, kind, options, &suitable) {
        return Err(error);
    }
    let names: Vec<&str> = suitable.iter().map(|kind| kind.name()).collect();
    let expected =
        if names.is_empty() { "none: there is nothing to draw".into() } else { names.join(", ") };
    Err(Error::param("picture", expected, kind.name()))
}

/// Why a picture is not drawn of the member that was asked for; nothing where the picture itself does not suit.
fn unsuitable_member(
    subject: &Subject<'_>,
    kind: Kind,
    options: &Options,
    suitable: &[Kind],
) -> Option<Error> {
    let (view, member) = (subject.model()?, options.member.as_ref()?);
    let known = view.model.member_names();
    let is_known = known.contains(member);
    if !suitable.contains(&kind) && (is_known || !pictures::takes_member(kind)) {
        return None;
    }
    let error = Error::param("member", member_with(subject, kind, options), member);
    Some(match kind {
        _ if !is_known => error.suggesting(member, known.iter().map(String::as_str)),
        Kind::Training => error.with_hint(format!(
            "'{member}' held out no rows to stop in time: boosting does where these are 50 or more, a tenth of all unless held_out is larger"
        )),
        _ => error,
    })
}

/// Refuses a choice that the picture does not have.
fn check_choice(kind: Kind, options: &Options) -> Result<()> {
    let none = |what: &str| format!("left out: the picture '{kind}' is not about one {what}");
    match (&options.input, &options.member) {
        (Some(input), _) if !pictures::takes_input(kind) => {
            Err(Error::param("input", none("of several inputs, columns or classes"), input))
        }
        (_, Some(member)) if !pictures::takes_member(kind) => {
            Err(Error::param("member", none("of the members"), member))
        }
        _ => Ok(()),
    }
}

/// The members that a picture can be about.
fn member_with(subject: &Subject<'_>, kind: Kind, options: &Options) -> String {
    let all = subject.model().map_or_else(Vec::new, |view| view.model.member_names());
    let suits = |name: &String| {
        let options = Options { member: Some(name.clone()), ..options.clone() };
        matches!(pictures::draw(subject, kind, &options), Ok(Some(_)))
    };
    let names: Vec<String> = all.into_iter().filter(suits).collect();
    if names.is_empty() {
        return "left out: the picture is of the whole stack".into();
    }
    format!("one that the picture '{kind}' suits: {}", names.join(", "))
}

/// Whether single rows can be seen on a picture of this kind: of those given for it ([`ModelView::rows`]), or as curves
/// ([`Options::single_rows`]).
pub fn shows_rows(kind: Kind) -> bool {
    pictures::takes_rows(kind)
}
