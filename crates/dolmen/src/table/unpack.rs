//! Compressed files as if they were not: gzip and Zstandard, recognised by their first bytes.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::read::MultiGzDecoder;

use super::csv::Source;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstandard,
}

impl Packing {
    /// The packing that a file's first bytes tell, if any; the source is left at its start.
    pub(super) fn of(source: &mut dyn Source) -> io::Result<Option<Self>> {
        let mut start = Vec::new();
        (&mut *source).take(4).read_to_end(&mut start)?;
        source.rewind()?;
        Ok(match start.as_slice() {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Self::Zstandard),
            _ => None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
        }
    }
}

/// What a compressed source holds, byte after byte.
///
/// Going back unpacks again from the start: the text is never whole in memory, and the reader goes back once at most.
pub(super) struct Unpacked<S> {
    packing: Packing,
    /// Taken out only to be put back to the source's start.
    decoder: Option<Decoder<S>>,
    position: u64,
}

enum Decoder<S> {
    Gzip(MultiGzDecoder<BufReader<S>>),
    Zstandard(zstd::Decoder<'static, BufReader<S>>),
}

impl<S: Source> Decoder<S> {
    fn new(packing: Packing, source: S) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => Self::Gzip(MultiGzDecoder::new(BufReader::new(source))),
            Packing::Zstandard => {
                Self::Zstandard(zstd::Decoder::with_buffer(BufReader::new(source))?)
            }
        })
    }

    fn into_source(self) -> S {
        match self {
            Self::Gzip(decoder) => decoder.into_inner().into_inner(),
            Self::Zstandard(decoder) => decoder.finish().into_inner(),
        }
    }
}

impl<S: Source> Unpacked<S> {
    /// The content of a source that stands at its start.
    pub(super) fn new(packing: Packing, source: S) -> io::Result<Self> {
        let decoder = Some(Decoder::new(packing, source)?);
        Ok(Self { packing, decoder, position: 0 })
    }

    fn restart(&mut self) -> io::Result<()> {
        if let Some(decoder) = self.decoder.take() {
            let mut source = decoder.into_source();
            source.rewind()?;
            self.decoder = Some(Decoder::new(self.packing, source)?);
        }
        self.position = 0;
        Ok(())
    }
}

impl<S: Source> Read for Unpacked<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.decoder {
            Some(Decoder::Gzip(decoder)) => decoder.read(out),
            Some(Decoder::Zstandard(decoder)) => decoder.read(out),
            None => Ok(0),
        };
        let damaged = |error: io::Error| {
            let name = self.packing.name();
            let problem = format!("the {name} data are damaged or end too early ({error})");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        };
        let read = read.map_err(damaged)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl<S: Source> Seek for Unpacked<S> {
    /// To a place from the start, or to the end, which is found by unpacking everything before it.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => to,
            SeekFrom::End(0) => {
                io::copy(self, &mut io::sink())?;
                return Ok(self.position);
            }
            SeekFrom::End(_) | SeekFrom::Current(_) => {
                return Err(io::Error::from(io::ErrorKind::Unsupported));
            }
        };
        if to < self.position {
            self.restart()?;
        }
        let ahead = to - self.position;
        io::copy(&mut self.by_ref().take(ahead), &mut io::sink())?;
        Ok(self.position)
    }
}
