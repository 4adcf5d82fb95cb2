//! What is known of a table before its blocks are read: its columns, and how their cells are understood.

use super::columns::Cells;
use super::files::InputFile;
use super::gather::{ColumnSummary, Gathered, Room};
use super::sparing::Sparing;
use crate::error::{Error, Place, Result};
use crate::run::Run;
use crate::table::csv::{self, Tallies};
use crate::table::look::Look;
use crate::table::missing::Missing;
use crate::table::moments::Timed;
use crate::table::parquet::{self, Description};
use crate::table::pieces::{Decision, Parsed, Reading};
use crate::table::read::{Wanted, in_another_order, is_parquet};
use crate::table::written::{Expected, NumberTexts};
use crate::table::{DateColumn, NumberForm, ReadOptions, WrittenNumbers};

/// Rows decoded at a time in a look through Parquet.
const ROWS: usize = super::BLOCK;

/// The columns of the files, and how their cells are understood.
#[derive(Debug)]
pub(super) struct Layout {
    /// Of all columns.
    pub(super) names: Vec<String>,
    pub(super) cells: Vec<Cells>,
    /// The names of those that are read.
    pub(super) kept: Vec<String>,
    pub(super) written: Vec<WrittenNumbers>,
    pub(super) notes: Vec<String>,
    /// What a look through told.
    pub(super) summaries: Option<Vec<ColumnSummary>>,
}

/// What the files say of their columns without their rows.
struct Header {
    names: Vec<String>,
    notes: Vec<String>,
    columns: Known,
    /// The columns that hold dates or times of day by their type, in all files.
    timed: Vec<Option<Timed>>,
    delimiter: Option<u8>,
}

enum Known {
    /// CSV: what is wanted of them.
    Wanted(Vec<Wanted>),
    /// Parquet: what they hold.
    Decided(Vec<Decision>),
}

impl Layout {
    /// The columns as they are declared; `None` if that does not say of all what they hold.
    pub(super) fn declared(files: &[InputFile], options: &ReadOptions) -> Result<Option<Self>> {
        let Header { names, notes, columns, timed, .. } = Header::of(files, options)?;
        let written = |name: &String| {
            options.written.get(name).map(|form| Cells::Written(NumberTexts::known(form)))
        };
        let cells: Option<Vec<Cells>> = match &columns {
            Known::Wanted(wanted) => {
                let cells = |(wanted, name): (&Wanted, &String)| match wanted {
                    Wanted::Ignored => Some(Cells::Ignored),
                    Wanted::Numeric => Some(Cells::Numbers),
                    Wanted::Categorical => Some(Cells::Texts),
                    Wanted::Written => written(name),
                    Wanted::Inferred => None,
                };
                wanted.iter().zip(&names).map(cells).collect()
            }
            Known::Decided(decisions) => {
                let cells = |(decision, name): (&Decision, &String)| match decision {
                    Decision::Ignored => Some(Cells::Ignored),
                    Decision::Numeric => Some(Cells::Numbers),
                    Decision::Categorical => Some(Cells::Texts),
                    Decision::Written(_) => written(name),
                };
                decisions.iter().zip(&names).map(cells).collect()
            }
        };
        let Some(mut cells) = cells else { return Ok(None) };
        for ((cells, name), timed) in cells.iter_mut().zip(&names).zip(timed) {
            let dates = options.dates.iter().find(|dates| dates.column == *name);
            if let (Cells::Texts, Some(dates)) = (&cells, dates)
                && are_free(dates, &names)
            {
                *cells = Cells::Dates(dates.clone(), timed);
            }
        }
        Ok(Some(Self::new(names, cells, notes, None)))
    }

    /// The columns as all of their rows tell. Texts that are declared may be left as they are, with levels for every block.
    pub(super) fn looked_through(
        files: &[InputFile],
        options: &ReadOptions,
        leave_texts: bool,
        sparing: &Sparing,
        run: &Run,
    ) -> Result<Self> {
        let header = Header::of(files, options)?;
        let missing = Missing::new(&options.missing);
        let (names, missing) = (&header.names, &missing);
        let looking = Looking { files, options, sparing, names, missing, run };
        let mut left = vec![false; header.names.len()];
        let (decisions, mut gathered) = match header.columns {
            Known::Decided(decisions) => {
                let timed = |(j, timed): (usize, &Option<Timed>)| {
                    let turns = decisions[j] == Decision::Categorical;
                    timed.filter(|_| turns && sparing.turns_dates(&header.names[j]))
                };
                let timed: Vec<_> = header.timed.iter().enumerate().map(timed).collect();
                let gathered = looking.through_parquet(&decisions, &timed)?;
                (decisions, gathered)
            }
            Known::Wanted(mut wanted) => {
                for (wanted, left) in wanted.iter_mut().zip(&mut left) {
                    *left = leave_texts && *wanted == Wanted::Categorical;
                    *wanted = if *left { Wanted::Ignored } else { *wanted };
                }
                looking.through_csv(&wanted)?
            }
        };
        looking.settle(&mut gathered)?;
        let (mut cells, mut forms, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
        for (j, ((gathered, decision), name)) in
            gathered.into_iter().zip(decisions).zip(&header.names).enumerate()
        {
            let form = options.written.get(name);
            let delimiter = header.delimiter;
            let expected = Expected { form, must: None, delimiter, missing };
            let typed = header.timed[j].filter(|_| gathered.is_timed());
            let (own, form, summary) = gathered.finish(name, decision, expected)?;
            cells.push(match &summary.look {
                _ if left[j] => Cells::Texts,
                Look::Dates(dates)
                    if matches!(own, Cells::Levels(_) | Cells::Texts)
                        && sparing.turns_dates(name)
                        && !dates.parts.is_empty()
                        && are_free(dates, &header.names) =>
                {
                    Cells::Dates(dates.clone(), typed)
                }
                _ => own,
            });
            if decision != Decision::Ignored {
                summaries.push(summary);
            }
            forms.extend(form.map(|form| (name.clone(), form)));
        }
        let mut notes = header.notes;
        notes.extend(forms.iter().map(|(name, form)| form.note(name)));
        let mut layout = Self::new(header.names, cells, notes, Some(summaries));
        // What never was a missing value is told last, as of tables read at once.
        layout.notes.extend(missing.words_in_vain());
        Ok(layout)
    }

    /// The same without the other columns.
    pub(super) fn only(&self, names: &[String]) -> Self {
        let cells = |(name, cells): (&String, &Cells)| {
            let is_wanted = names.contains(name)
                || cells.names(name).iter().any(|becomes| names.contains(becomes));
            if is_wanted { cells.clone() } else { Cells::Ignored }
        };
        let cells = self.names.iter().zip(&self.cells).map(cells).collect();
        Self::new(self.names.clone(), cells, self.notes.clone(), None)
    }

    fn new(
        names: Vec<String>,
        cells: Vec<Cells>,
        notes: Vec<String>,
        summaries: Option<Vec<ColumnSummary>>,
    ) -> Self {
        let kept = names.iter().zip(&cells).flat_map(|(name, cells)| cells.names(name)).collect();
        let form = |(name, cells): (&String, &Cells)| match cells {
            Cells::Written(NumberTexts { form, .. }) => {
                Some(WrittenNumbers { column: name.clone(), form: NumberForm::clone(form) })
            }
            _ => None,
        };
        let written = names.iter().zip(&cells).filter_map(form).collect();
        Self { names, cells, kept, written, notes, summaries }
    }
}

impl Header {
    fn of(files: &[InputFile], options: &ReadOptions) -> Result<Self> {
        match files.first() {
            Some(first) if is_parquet(&first.path) => Self::of_parquet(files, first, options),
            Some(first) => Self::of_csv(files, first, options),
            None => Err(Error::data(Place::default(), "there are no files")),
        }
    }

    fn of_parquet(files: &[InputFile], first: &InputFile, options: &ReadOptions) -> Result<Self> {
        let description = Description::of(&first.path, options)?;
        let (mut all, mut timed) = (description.rows, description.timed.clone());
        first.rows.get_or_init(|| description.rows);
        for file in &files[1..] {
            let other = Description::of(&file.path, options)?;
            other.check_like(&file.path, &description, &first.path)?;
            file.rows.get_or_init(|| other.rows);
            for (timed, other) in timed.iter_mut().zip(&other.timed) {
                *timed = timed.filter(|_| timed == other);
            }
            all += other.rows;
        }
        if all == 0 {
            return Err(Error::data(Place::default(), "there are no rows"));
        }
        let Description { names, notes, decisions, .. } = description;
        Ok(Self { names, notes, columns: Known::Decided(decisions), timed, delimiter: None })
    }

    fn of_csv(files: &[InputFile], first: &InputFile, options: &ReadOptions) -> Result<Self> {
        let stream = first.csv(options)?;
        let names = stream.names().names.clone();
        for file in &files[1..] {
            let other = file.csv(options)?;
            let found = &other.names().names;
            if *found != names {
                let unlike = |name: &&String| !names.contains(name);
                let missing = |name: &&String| !found.contains(name);
                let column = found.iter().find(unlike).or_else(|| names.iter().find(missing));
                let place = match column {
                    Some(column) => Place::column(column),
                    None => Place::default(),
                };
                let place = Place { file: Some(file.path.clone()), ..place };
                let other = first.path.display();
                if column.is_none() && found.len() == names.len() {
                    return Err(in_another_order(place, found, &names, &first.path));
                }
                let problem = format!("the header is not the one of {other}");
                return Err(Error::data(place, problem)
                    .with_hint("files that are read together must have the same columns"));
            }
        }
        let wanted = options.choose(&names).map_err(|error| error.in_file(first.name()))?;
        let (notes, delimiter) = (stream.names().notes.clone(), Some(stream.delimiter()));
        let timed = vec![None; names.len()];
        Ok(Self { names, notes, columns: Known::Wanted(wanted), timed, delimiter })
    }
}

/// A look through files.
/// Whether no column of the files has a name that the numbers of dates will have.
fn are_free(dates: &DateColumn, names: &[String]) -> bool {
    dates.names().all(|name| !names.contains(&name))
}

struct Looking<'a> {
    files: &'a [InputFile],
    options: &'a ReadOptions,
    sparing: &'a Sparing,
    names: &'a [String],
    missing: &'a Missing,
    run: &'a Run,
}

impl Looking<'_> {
    fn gathered(&self, readings: impl Iterator<Item = Reading>) -> Vec<Gathered> {
        let columns = readings.filter(|reading| *reading == Reading::Texts).count();
        let room = Room::new(self.sparing.bytes.unwrap_or(usize::MAX), columns);
        let of_column = |name: &String| {
            let is_spared = self.sparing.spares(name);
            Gathered::new(name, if is_spared { room } else { room.for_all() })
        };
        self.names.iter().map(of_column).collect()
    }

    /// Reads once more what turned out to be needed as texts, all of them.
    fn settle(&self, gathered: &mut [Gathered]) -> Result<()> {
        let again = |gathered: &Gathered| {
            if gathered.is_unsettled() { Reading::Texts } else { Reading::Skip }
        };
        let readings: Vec<Reading> = gathered.iter().map(again).collect();
        let columns = readings.iter().filter(|reading| **reading == Reading::Texts).count();
        if columns == 0 {
            return Ok(());
        }
        let room = Room::new(self.sparing.bytes.unwrap_or(usize::MAX), columns).for_all();
        for ((own, reading), name) in gathered.iter_mut().zip(&readings).zip(self.names) {
            if *reading == Reading::Texts {
                *own = Gathered::new(name, room);
            }
        }
        if self.files.iter().any(|file| is_parquet(&file.path)) {
            return self.through_groups(&readings, gathered);
        }
        self.through_chunks(|stream, _| {
            let parts = stream.next(&readings, self.missing, self.run)?;
            parts.iter().try_for_each(|parsed| self.add(gathered, parsed))?;
            Ok(parts)
        })?;
        Ok(())
    }

    fn add(&self, gathered: &mut [Gathered], parsed: &Parsed) -> Result<()> {
        let mut columns = gathered.iter_mut().zip(self.names).zip(&parsed.pieces);
        columns.try_for_each(|((gathered, name), piece)| gathered.add(name, piece))
    }

    fn through_parquet(
        &self,
        decisions: &[Decision],
        timed: &[Option<Timed>],
    ) -> Result<Vec<Gathered>> {
        let reading = |(decision, timed): (&Decision, &Option<Timed>)| {
            timed.map_or(decision.reading(), Reading::Moments)
        };
        let readings: Vec<Reading> = decisions.iter().zip(timed).map(reading).collect();
        let mut gathered = self.gathered(readings.iter().copied());
        self.through_groups(&readings, &mut gathered)?;
        Ok(gathered)
    }

    /// Reads all Parquet files to their ends.
    fn through_groups(&self, readings: &[Reading], gathered: &mut [Gathered]) -> Result<()> {
        for file in self.files {
            file.check_same()?;
            let mut stream = parquet::Stream::open(&file.path, readings, ROWS)?;
            while let Some(parsed) = stream.next(ROWS, self.missing, self.run)? {
                self.add(gathered, &parsed)?;
            }
        }
        Ok(())
    }

    fn through_csv(&self, wanted: &[Wanted]) -> Result<(Vec<Decision>, Vec<Gathered>)> {
        let mut tallies = Tallies::new(wanted);
        let texts = |wanted: &Wanted| match wanted {
            Wanted::Categorical | Wanted::Written | Wanted::Inferred => Reading::Texts,
            Wanted::Numeric | Wanted::Ignored => Reading::Skip,
        };
        let mut gathered = self.gathered(wanted.iter().map(texts));
        let rows = self.through_chunks(|stream, before| {
            let parts = stream.next_guessed(&mut tallies, before, self.missing, self.run)?;
            parts.iter().try_for_each(|parsed| self.add(&mut gathered, parsed))?;
            Ok(parts)
        })?;
        if rows == 0 {
            return Err(Error::data(Place::default(), "there are no rows below the header"));
        }
        let decisions = tallies.decide(self.names)?;
        let again = |(j, decision): (usize, &Decision)| {
            if tallies.must_read_again(j, *decision) { Reading::Texts } else { Reading::Skip }
        };
        let again: Vec<Reading> = decisions.iter().enumerate().map(again).collect();
        if again.contains(&Reading::Texts) {
            for (j, fresh) in self.gathered(wanted.iter().map(texts)).into_iter().enumerate() {
                if again[j] == Reading::Texts {
                    gathered[j] = fresh;
                }
            }
            self.through_chunks(|stream, _| {
                let parts = stream.next(&again, self.missing, self.run)?;
                parts.iter().try_for_each(|parsed| self.add(&mut gathered, parsed))?;
                Ok(parts)
            })?;
        }
        Ok((decisions, gathered))
    }

    /// Reads all files to their ends, and counts their rows.
    fn through_chunks(
        &self,
        mut next: impl FnMut(&mut csv::Stream, usize) -> Result<Vec<Parsed>>,
    ) -> Result<usize> {
        let mut before = 0;
        for file in self.files {
            file.check_same()?;
            let mut stream = file.csv(self.options)?;
            let mut rows = 0;
            loop {
                let parts = next(&mut stream, before)?;
                if parts.is_empty() {
                    break;
                }
                rows += parts.iter().map(|parsed| parsed.rows).sum::<usize>();
            }
            if *file.rows.get_or_init(|| rows) != rows {
                return Err(file.changed());
            }
            before += rows;
        }
        Ok(before)
    }
}
