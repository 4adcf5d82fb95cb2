//! Reading a table from a file: which reader, which columns, which kinds.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::csv::{self, Delimiters, Input, Source};
use super::unpack::{Packing, Unpacked};
use super::{DateColumn, Kind, NumberForm, Schema, Table, no_such_column, parquet};
use crate::error::{Error, Place, Result};
use crate::run::Run;

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Columns whose kind is known; that of the others is inferred.
    pub schema: BTreeMap<String, ColumnKind>,
    /// The words that mean a missing value, in CSV and in Parquet texts that are read as numbers; numbers among them also
    /// where Parquet stores numbers. In other texts of Parquet and Arrow, which have nulls, only those beyond the default
    /// ones do. By default the empty cell, NA, NaN, nan, N/A, null, NULL and ?.
    pub missing: Vec<String>,
    /// The byte between the cells of a CSV file; `None`: a tab for `.tsv`, else whichever of comma, semicolon, tab and bar
    /// the header and the first row show.
    pub delimiter: Option<u8>,
    /// The byte that is taken for it unless the header shows another and not this one: that of a file read before.
    pub usual_delimiter: Option<u8>,
    /// The columns to read, if not all. They come in the order of the file.
    pub keep: Vec<String>,
    /// Columns not to read.
    pub drop: Vec<String>,
    /// Columns that stand in the place of another, if the file has not that one but all of these.
    pub stand_ins: BTreeMap<String, Vec<String>>,
    /// Columns whose numbers are known to be written in some other way than plainly. They need not be in the file.
    pub written: BTreeMap<String, NumberForm>,
    /// Columns of dates that may come as the numbers they are turned into, where a table is read block by block.
    pub dates: Vec<DateColumn>,
}

/// What a column is declared to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// Categories.
    Categorical,
    /// Not read.
    Ignore,
}

impl FromStr for ColumnKind {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word.trim().to_ascii_lowercase().as_str() {
            "numeric" | "number" => Ok(Self::Numeric),
            "categorical" | "nominal" => Ok(Self::Categorical),
            "ignore" => Ok(Self::Ignore),
            _ => Err(Error::param("a column's type", "numeric, categorical or ignore", word)
                .suggesting(word, ["numeric", "categorical", "ignore", "number", "nominal"])),
        }
    }
}

/// What becomes of a column of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Ignored,
    Numeric,
    Categorical,
    Inferred,
    /// Numbers, written in a form that is known.
    Written,
}

/// The words that mean a missing value wherever a table is read.
pub(super) const MISSING: [&str; 8] = ["", "NA", "NaN", "nan", "N/A", "null", "NULL", "?"];

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            schema: BTreeMap::new(),
            missing: MISSING.map(String::from).into(),
            delimiter: None,
            usual_delimiter: None,
            keep: Vec::new(),
            drop: Vec::new(),
            stand_ins: BTreeMap::new(),
            written: BTreeMap::new(),
            dates: Vec::new(),
        }
    }
}

impl ReadOptions {
    /// Reads exactly the columns of a model, each as the kind the model expects.
    pub fn matching(schema: &Schema) -> Self {
        let kind = |kind: &Kind| match kind {
            Kind::Numeric => ColumnKind::Numeric,
            Kind::Categorical { .. } => ColumnKind::Categorical,
        };
        let fields = schema.fields();
        Self {
            schema: fields.iter().map(|f| (f.name.clone(), kind(&f.kind))).collect(),
            keep: fields.iter().map(|f| f.name.clone()).collect(),
            ..Self::default()
        }
    }

    /// The kinds of columns from text such as `age=numeric,zip=categorical`, or from the file of that name: CSV with the
    /// columns `column` and `type`, or a JSON object such as `{"age": "numeric"}`.
    pub fn parse_schema(text: &str) -> Result<BTreeMap<String, ColumnKind>> {
        let path = Path::new(text);
        if path.is_file() {
            let bytes = fs::read(path).map_err(|e| Error::io(path, e))?;
            return schema_from_file(&bytes).map_err(|e| e.in_file(path));
        }
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let entry = |entry: &str| {
            let Some((column, kind)) = entry.rsplit_once('=') else {
                let expected = "COLUMN=TYPE, or the name of a file of columns and types";
                return Err(Error::param("schema", expected, format!("'{entry}'")));
            };
            Ok((column.trim().to_string(), kind.parse()?))
        };
        entries.map(entry).collect()
    }

    /// The delimiter that a word names: one character, `\t` or `tab`.
    pub fn parse_delimiter(word: &str) -> Result<u8> {
        let byte = match word.as_bytes() {
            b"\\t" => b'\t',
            [byte] => *byte,
            _ if word.eq_ignore_ascii_case("tab") => b'\t',
            _ => return Err(Error::param("delimiter", "one ASCII character or '\\t'", word)),
        };
        check_delimiter(byte).map(|()| byte)
    }

    fn check_delimiters(&self) -> Result<()> {
        [self.delimiter, self.usual_delimiter].into_iter().flatten().try_for_each(check_delimiter)
    }

    /// The same options for a file with these column names, in which some columns may stand in for others.
    fn standing_in(&self, names: &[String]) -> Cow<'_, Self> {
        let mut options = Cow::Borrowed(self);
        for (name, others) in &self.stand_ins {
            if names.contains(name) || !others.iter().all(|other| names.contains(other)) {
                continue;
            }
            let options = options.to_mut();
            options.keep.retain(|kept| kept != name);
            options.keep.extend(others.iter().cloned());
            options.schema.remove(name);
            options.schema.extend(others.iter().map(|other| (other.clone(), ColumnKind::Numeric)));
        }
        options
    }

    /// What becomes of each column of a file with these column names.
    pub(super) fn choose(&self, names: &[String]) -> Result<Vec<Wanted>> {
        self.standing_in(names).choose_named(names)
    }

    /// The same where all columns that are named are in the file.
    fn choose_named(&self, names: &[String]) -> Result<Vec<Wanted>> {
        // Sets, because a model of a wide table names all of its columns.
        let [present, keep, drop] =
            [names, &self.keep, &self.drop].map(|names| names.iter().collect::<HashSet<_>>());
        for name in self.schema.keys().chain(&self.keep).chain(&self.drop) {
            if !present.contains(name) {
                return Err(no_such_column(name, names));
            }
        }
        let choose = |name: &String| {
            let kept = keep.is_empty() || keep.contains(name);
            match self.schema.get(name) {
                _ if !kept || drop.contains(name) => Wanted::Ignored,
                _ if self.written.contains_key(name) => Wanted::Written,
                Some(ColumnKind::Ignore) => Wanted::Ignored,
                Some(ColumnKind::Numeric) => Wanted::Numeric,
                Some(ColumnKind::Categorical) => Wanted::Categorical,
                None => Wanted::Inferred,
            }
        };
        let wanted: Vec<Wanted> = names.iter().map(choose).collect();
        if wanted.iter().all(|w| *w == Wanted::Ignored) {
            return Err(Error::data(Place::default(), "no column is left to read"));
        }
        Ok(wanted)
    }
}

/// Reads a table from CSV (`.csv`, `.tsv`, `.txt` and whatever else) or Parquet (`.parquet`, `.pq`); `-` is CSV from
/// standard input. CSV may be compressed by gzip or Zstandard.
pub fn read(path: &Path, options: &ReadOptions, run: &Run) -> Result<Table> {
    if is_parquet(path) {
        return parquet::read(path, options, run);
    }
    with_csv(path, options, |input| csv::read(input, options, run))
}

/// Reads a table from CSV text; `name` stands for its file in errors.
pub fn read_text(text: &str, name: &Path, options: &ReadOptions, run: &Run) -> Result<Table> {
    let source = &mut Cursor::new(text.as_bytes().to_vec());
    let delimiters = delimiters_of(name, options)?;
    csv::read(Input { source, file: name, delimiters }, options, run)
}

/// The names of a file's columns; of CSV only the header is read.
pub fn column_names(path: &Path, options: &ReadOptions, run: &Run) -> Result<Vec<String>> {
    if is_parquet(path) {
        return Ok(parquet::read(path, options, run)?.names().to_vec());
    }
    with_csv(path, options, csv::header)
}

/// Whether a name is one of a Parquet file.
pub(super) fn is_parquet(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    extension == "parquet" || extension == "pq"
}

/// Opens CSV, compressed or not, and hands it on.
fn with_csv<R>(
    path: &Path,
    options: &ReadOptions,
    read: impl FnOnce(Input<'_>) -> Result<R>,
) -> Result<R> {
    let delimiters = delimiters_of(path, options)?;
    let mut source = match hold(path)? {
        Some(text) => unpacked(Box::new(Cursor::new(text)), path)?,
        None => unpacked(Box::new(File::open(path).map_err(|e| Error::io(path, e))?), path)?,
    };
    read(Input { source: &mut *source, file: shown_name(path), delimiters })
}

/// The delimiter that is given, or that the name of a file tells; and the usual one.
pub(super) fn delimiters_of(path: &Path, options: &ReadOptions) -> Result<Delimiters> {
    options.check_delimiters()?;
    let usual = options.usual_delimiter;
    let by_name = || (usual.is_none() && is_tab_separated(path)).then_some(b'\t');
    Ok(Delimiters { given: options.delimiter.or_else(by_name), usual })
}

/// How errors call a file.
pub(super) fn shown_name(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("standard input") } else { path }
}

/// Bytes that cannot be read a second time, and so are kept.
#[derive(Debug, Clone)]
pub(super) struct Held(Arc<Vec<u8>>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes of standard input and of pipes; `None` for files.
pub(super) fn hold(path: &Path) -> Result<Option<Held>> {
    let fail = |e| Error::io(path, e);
    if path == Path::new("-") {
        return read_whole(io::stdin().lock()).map(|text| Some(Held(Arc::new(text)))).map_err(fail);
    }
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_file() {
        return Ok(None);
    }
    read_whole(file).map(|text| Some(Held(Arc::new(text)))).map_err(fail)
}

/// What a source holds, unpacked if it is compressed.
pub(super) fn unpacked(mut source: Box<dyn Source>, path: &Path) -> Result<Box<dyn Source>> {
    let fail = |e| Error::io(path, e);
    Ok(match Packing::of(&mut *source).map_err(fail)? {
        Some(packing) => Box::new(Unpacked::new(packing, source).map_err(fail)?),
        None => source,
    })
}

/// Whether the name, that of a packing aside, ends in `.tsv`.
fn is_tab_separated(path: &Path) -> bool {
    let is = |path: &Path, extensions: &[&str]| {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        extensions.iter().any(|other| extension == *other)
    };
    let packed = is(path, &["gz", "zst"]);
    let inner = path.file_stem().filter(|_| packed).map_or(path, Path::new);
    is(inner, &["tsv"])
}

/// The error of a text where a number was expected; rows are counted from 0.
pub(super) fn not_a_number(row: usize, column: &str, text: &[u8], wanted: Wanted) -> Error {
    let shown = shown(text);
    let mut cures = vec!["mend the cell".to_string()];
    // A word that cannot stand as it is in a shell's single quotes is not offered.
    if shown.as_bytes() == text && !shown.contains('\'') {
        cures.push(format!("let it mean a missing value (--missing '{shown}')"));
    }
    if wanted == Wanted::Inferred {
        cures.push(format!("or read the column as categories (--schema '{column}=categorical')"));
    }
    let problem = format!("expected a number, found '{shown}'");
    Error::data(Place::cell(row, column), problem).with_hint(cures.join(", "))
}

/// The error of a column of which numbers were expected and most cells are texts, the first of them in this row.
pub(super) fn mostly_texts(
    row: usize,
    column: &str,
    text: &[u8],
    texts: usize,
    cells: usize,
) -> Error {
    let problem = format!(
        "expected numbers, but {texts} of {cells} cells are texts, the first of them '{}'",
        shown(text)
    );
    Error::data(Place::cell(row, column), problem).with_hint(format!(
        "a model that was fitted to numbers needs numbers here; a new fit can read the column as categories (fit --schema \
         '{column}=categorical'), leave it out (fit --drop '{column}') or, as a target, predict classes (fit --task classify)"
    ))
}

/// The error of a text in another encoding.
pub(super) fn not_utf8(place: Place) -> Error {
    Error::data(place, "the text is not UTF-8").with_hint(
        "save the file as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW",
    )
}

/// The error of a text where a date was expected; rows are counted from 0.
pub(super) fn not_a_date(row: usize, column: &str, text: &[u8]) -> Error {
    let problem = format!("expected a date as in the training rows, found '{}'", shown(text));
    Error::data(Place::cell(row, column), problem).with_hint("mend the cell, or leave it empty")
}

/// A cell's text on one short line.
fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(text);
    let mut line: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push_str("...");
    }
    line
}

fn read_whole(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    source.read_to_end(&mut text)?;
    Ok(text)
}

/// A delimiter must not be part of a number, a quote or the end of a line.
fn check_delimiter(delimiter: u8) -> Result<()> {
    let possible = delimiter.is_ascii_punctuation() || matches!(delimiter, b' ' | b'\t');
    if possible && !matches!(delimiter, b'"' | b'.' | b'+' | b'-') {
        return Ok(());
    }
    let expected = "a punctuation mark, a blank or a tab that cannot be part of a number";
    Err(Error::param("delimiter", expected, format!("'{}'", delimiter.escape_ascii())))
}

fn schema_from_file(bytes: &[u8]) -> Result<BTreeMap<String, ColumnKind>> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        let unreadable = |e| Error::data(Place::default(), format!("not a schema: {e}"));
        let words: BTreeMap<String, String> = serde_json::from_slice(bytes).map_err(unreadable)?;
        return words.into_iter().map(|(name, kind)| Ok((name, kind.parse()?))).collect();
    }
    let records = csv::records(bytes, b',')?;
    let (header, entries) = records
        .split_first()
        .ok_or_else(|| Error::data(Place::default(), "the schema file is empty"))?;
    let position = |name: &str| {
        header.iter().position(|h| h == name).ok_or_else(|| no_such_column(name, header))
    };
    let (column, kind) = (position("column")?, position("type")?);
    let entry = |(row, cells): (usize, &Vec<String>)| {
        let cell = |j: usize| cells.get(j).map_or("", String::as_str);
        let unknown = |e: Error| Error::data(Place::row(row), e.to_string());
        Ok((cell(column).to_string(), cell(kind).parse().map_err(unknown)?))
    };
    entries.iter().enumerate().map(entry).collect()
}
/// The error of a file whose columns are those of another in another order.
pub(in crate::table) fn in_another_order(
    place: Place,
    found: &[String],
    expected: &[String],
    first: &Path,
) -> Error {
    let first = first.display();
    let unlike = found.iter().zip(expected).find(|(found, expected)| found != expected);
    let (found, expected) = unlike.map_or(("", ""), |(a, b)| (a.as_str(), b.as_str()));
    let problem = format!(
        "the columns are those of {first} in another order: '{found}' stands where '{expected}' should"
    );
    let place = Place { column: Some(found.into()), ..place };
    Error::data(place, problem).with_hint(format!(
        "write the file once more with its columns in the order of {first}; files that are read together are one table"
    ))
}
