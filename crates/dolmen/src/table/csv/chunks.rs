//! A file cut into chunks of whole records, so that threads can parse them apart.

use std::io::{self, Read, Seek, SeekFrom};

use super::scan::Quotes;

/// A record longer than this is taken for a quote left open: without a bound it would pull the whole file into memory.
const LONGEST_RECORD: usize = 128 << 20;

/// What a file can be read from: a file on disk, or bytes in memory.
pub(in crate::table) trait Source: Read + Seek + Send {}
impl<S: Read + Seek + Send> Source for S {}

/// Where some whole records stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) length: usize,
}

/// Some whole records.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) extent: Extent,
    pub(super) text: Vec<u8>,
}

impl Chunk {
    /// Takes the bytes before `at` away.
    pub(super) fn skip(&mut self, at: usize) {
        self.text.drain(..at);
        self.extent = Extent { offset: self.extent.offset + at as u64, length: self.text.len() };
    }
}

/// Cuts a source into chunks, each at least `size` bytes long if there are as many, and never more than it must be.
pub(super) struct Chunks<S> {
    source: S,
    delimiter: u8,
    size: usize,
    /// The start of a record whose end has not been read yet, and the quotes in it.
    begun: Vec<u8>,
    quotes: Quotes,
    offset: u64,
}

impl<S: Source> Chunks<S> {
    /// Chunks of a source that stands at its first record, `offset` bytes from its start.
    pub(super) fn new(source: S, offset: u64, delimiter: u8, size: usize) -> Self {
        let quotes = Quotes::default();
        Self { source, delimiter, size, begun: Vec::new(), quotes, offset }
    }

    /// The next chunk; the last one may lack its final line end.
    pub(super) fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut text = std::mem::take(&mut self.begun);
        loop {
            let known = text.len();
            text.reserve(self.size);
            (&mut self.source).take(self.size as u64).read_to_end(&mut text)?;
            if text.len() == known {
                return Ok((!text.is_empty()).then(|| self.chunk(text)));
            }
            let complete = self.quotes.complete(&text[known..], self.delimiter);
            if complete > 0 {
                self.begun.extend_from_slice(&text[known + complete..]);
                text.truncate(known + complete);
                return Ok(Some(self.chunk(text)));
            }
            if text.len() > LONGEST_RECORD {
                let problem = "a row is longer than 128 MB: is a quote left open?";
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        }
    }

    fn chunk(&mut self, text: Vec<u8>) -> Chunk {
        let extent = Extent { offset: self.offset, length: text.len() };
        self.offset += text.len() as u64;
        Chunk { extent, text }
    }
}

/// Bytes of a source, which is left standing at its start.
pub(super) fn length(source: &mut dyn Source) -> io::Result<u64> {
    let end = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    Ok(end)
}

/// Reads a chunk again.
pub(super) fn read_again(source: &mut dyn Source, extent: Extent) -> io::Result<Chunk> {
    let mut text = vec![0; extent.length];
    source.seek(SeekFrom::Start(extent.offset))?;
    source.read_exact(&mut text)?;
    Ok(Chunk { extent, text })
}

/// Skips the byte order mark of UTF-8, and says where the text starts. Files that cannot be CSV are refused by name.
pub(super) fn skip_mark(source: &mut dyn Source) -> io::Result<u64> {
    let mut start = Vec::new();
    (&mut *source).take(5).read_to_end(&mut start)?;
    let foreign = match start.as_slice() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("the text is UTF-16; save it as UTF-8"),
        [b'P', b'K', 3, 4, ..] => Some("the file is a zip archive or spreadsheet; save it as CSV"),
        b"PAR1\x15" => Some("the file is Parquet, not CSV; name it .parquet"),
        _ => None,
    };
    if let Some(problem) = foreign {
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    let offset = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    source.seek(SeekFrom::Start(offset))
}

/// Goes to a place in the source.
pub(super) fn go_to(source: &mut dyn Source, at: u64) -> io::Result<u64> {
    source.seek(SeekFrom::Start(at))
}

/// Bytes looked at to find the delimiter.
const PEEKED: u64 = 1 << 20;

/// The start of the text, which begins at `start` and where the source is left again.
pub(super) fn peek(source: &mut dyn Source, start: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    (&mut *source).take(PEEKED).read_to_end(&mut text)?;
    source.seek(SeekFrom::Start(start))?;
    Ok(text)
}
