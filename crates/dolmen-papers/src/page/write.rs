//! A page in a folder: `NAME.md`, its tables as `NAME-*.csv`, its pictures as `NAME-*.svg`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dolmen::error::{Error, Result};
use dolmen::store::{check_output, write_file};
use dolmen::table::{self, Categories, Column};

use super::{Comparison, Page, Table, Value};

/// Makes a folder for pages if it is not there, and sees whether it can be written to: to be asked before long work.
pub fn prepare(folder: &Path) -> Result<()> {
    if let Some(file) = folder.ancestors().find(|own| own.exists() && !own.is_dir()) {
        return Err(Error::file(file, "is a file, not a folder"));
    }
    fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    check_output(&folder.join("page.md"))
}

impl Page {
    /// Writes everything into a folder, which is made if it is not there; gives the files written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        prepare(folder)?;
        let mut written = Vec::new();
        let mut text = |name: String, text: &str| -> Result<()> {
            let path = folder.join(name);
            write_file(&path, |out| out.write_all(text.as_bytes()))?;
            written.push(path);
            Ok(())
        };
        text(format!("{}.md", self.name), &self.markdown())?;
        for figure in &self.figures {
            text(format!("{}-{}.svg", self.name, figure.name), &figure.svg)?;
        }
        let compared = self.comparisons.iter().map(Comparison::table);
        for numbers in compared.chain(self.tables.iter().cloned()) {
            let path = folder.join(format!("{}-{}.csv", self.name, numbers.name));
            table::write(&numbers.columnar()?, &path)?;
            written.push(path);
        }
        Ok(written)
    }
}

impl Comparison {
    /// All its figures as they are.
    fn table(&self) -> Table {
        let rest = ["ours", "se", "runs", "paper", "paper_se", "allowed", "verdict", "why"];
        let columns = self.keys.iter().map(String::as_str).chain(rest);
        let mut table = Table::new(&self.name, &self.title, columns);
        for line in &self.lines {
            let number = |value: Option<f64>| Value::Number(value.unwrap_or(f64::NAN));
            let about = line.about.iter().map(|text| Value::Text(text.clone()));
            let own = [
                number(line.ours.map(|ours| ours.mean)),
                number(line.ours.and_then(|ours| ours.se)),
                Value::Number(line.runs as f64),
                number(line.paper.map(|paper| paper.value)),
                number(line.paper_error()),
                number(line.allowed()),
                Value::Text(line.verdict.words().into()),
                Value::Text(line.why.clone().unwrap_or_default()),
            ];
            table.row(about.chain(own));
        }
        table
    }
}

impl Table {
    /// The library's table of the same columns: numeric where all values are numbers.
    fn columnar(&self) -> Result<table::Table> {
        let column = |(j, name): (usize, &String)| {
            let values: Vec<&Value> = self.rows.iter().map(|row| &row[j]).collect();
            (name.clone(), column(&values))
        };
        table::Table::new(self.columns.iter().enumerate().map(column).collect())
    }
}

fn column(values: &[&Value]) -> Column {
    let number = |value: &&Value| match value {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    };
    if let Some(numbers) = values.iter().map(number).collect() {
        return Column::Numeric(numbers);
    }
    let text = |value: &Value| match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    };
    let texts: Vec<String> = values.iter().map(|value| text(value)).collect();
    let mut levels: BTreeMap<&str, u32> = texts.iter().map(|text| (text.as_str(), 0)).collect();
    levels.values_mut().zip(0..).for_each(|(code, k)| *code = k);
    let codes = texts.iter().map(|text| match text.as_str() {
        "" => Categories::MISSING,
        text => levels[text],
    });
    let codes = codes.collect();
    Column::Categorical(Categories { levels: levels.keys().map(|l| (*l).into()).collect(), codes })
}
