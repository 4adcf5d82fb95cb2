//! Cells from bytes: delimiters, quotes and ends of records, by the rules of RFC 4180 and the habits of csv-core.
//!
//! A cell that begins with a quote ends at the next single quote; two quotes in it stand for one; delimiters and ends of
//! lines in it are text. A quote elsewhere is a character like any other. CR, LF and CRLF end a record; blank lines are
//! skipped. Blanks around a cell are not part of it unless they are inside its quotes.

use memchr::{memchr, memrchr2};

use crate::table::number;

/// Reads cell after cell.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    delimiter: u8,
    /// The last quoted cell, without its quotes.
    unquoted: Vec<u8>,
    /// Whether the last cell was the last of its record.
    ended: bool,
}

/// A quoted cell runs to the end of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenQuote;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], delimiter: u8) -> Self {
        Self { text, at: 0, delimiter, unquoted: Vec::new(), ended: true }
    }

    /// Goes to the next record; false at the end of the text. The record before must have ended.
    pub(super) fn next_record(&mut self) -> bool {
        while self.text.get(self.at).is_some_and(|b| ends_record(*b)) {
            self.at += 1;
        }
        self.ended = false;
        self.at < self.text.len()
    }

    /// Whether the cell just read was the last of its record.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Where the next cell or record begins.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The next cell if it is plainly a number, without looking at its bytes twice; else nothing happens.
    pub(super) fn number(&mut self) -> Option<f64> {
        let (value, length) = number::parse_start(&self.text[self.at..])?;
        let next = self.text.get(self.at + length);
        if next.is_some_and(|b| *b != self.delimiter && !ends_record(*b)) {
            return None;
        }
        self.end_cell(self.at + length);
        Some(value)
    }

    /// The next cell.
    pub(super) fn cell(&mut self) -> Result<&[u8], OpenQuote> {
        if self.text.get(self.at) == Some(&b'"') {
            return self.quoted_cell();
        }
        let first = self.at;
        let last = self.plain_end(first);
        self.end_cell(last);
        Ok(number::trim(&self.text[first..last]))
    }

    fn quoted_cell(&mut self) -> Result<&[u8], OpenQuote> {
        self.unquoted.clear();
        let mut at = self.at + 1;
        loop {
            let quote = memchr(b'"', &self.text[at..]).ok_or(OpenQuote)?;
            self.unquoted.extend_from_slice(&self.text[at..at + quote]);
            at += quote + 1;
            if self.text.get(at) != Some(&b'"') {
                break;
            }
            self.unquoted.push(b'"');
            at += 1;
        }
        // Text between the closing quote and the delimiter belongs to the cell.
        let last = self.plain_end(at);
        self.unquoted.extend_from_slice(&self.text[at..last]);
        self.end_cell(last);
        Ok(&self.unquoted)
    }

    /// Where the unquoted text from `first` on ends.
    fn plain_end(&self, first: usize) -> usize {
        let rest = &self.text[first..];
        let end = rest.iter().position(|b| *b == self.delimiter || ends_record(*b));
        end.map_or(self.text.len(), |length| first + length)
    }

    fn end_cell(&mut self, at: usize) {
        self.ended = self.text.get(at) != Some(&self.delimiter);
        self.at = (at + 1).min(self.text.len());
    }
}

/// Whether a byte outside quotes ends a record.
fn ends_record(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Follows quotes through bytes that arrive in pieces, to know which line ends are ends of records.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quotes {
    state: State,
    /// The last byte, behind which a quote may open.
    last: Option<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    Inside,
    /// Behind a quote inside quotes: the closing one, or the first of two.
    Closing,
}

impl Quotes {
    /// Reads on, and says how many of these bytes belong to complete records: none if no record ends here.
    pub(super) fn complete(&mut self, bytes: &[u8], delimiter: u8) -> usize {
        let mut complete = 0;
        let mut at = 0;
        while at < bytes.len() {
            let quote = memchr(b'"', &bytes[at..]).map(|length| at + length);
            let next = quote.unwrap_or(bytes.len());
            if self.state == State::Closing && next > at {
                self.state = State::Outside;
            }
            if self.state == State::Outside
                && let Some(end) = memrchr2(b'\n', b'\r', &bytes[at..next])
            {
                complete = at + end + 1;
            }
            if let Some(quote) = quote {
                let before = if quote > 0 { Some(bytes[quote - 1]) } else { self.last };
                self.pass_quote(before, delimiter);
            }
            at = next + 1;
        }
        self.last = bytes.last().copied().or(self.last);
        complete
    }

    fn pass_quote(&mut self, before: Option<u8>, delimiter: u8) {
        let starts_cell = before.is_none_or(|b| b == delimiter || ends_record(b));
        self.state = match self.state {
            State::Outside if starts_cell => State::Inside,
            State::Outside => State::Outside,
            State::Inside => State::Closing,
            State::Closing => State::Inside,
        };
    }
}
