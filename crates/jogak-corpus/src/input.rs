//! Opening: bytes of a source, decompressed, with progress.
//!
//! Rule: compression is seen in the first bytes, which no UTF-8 text can start with. A name that
//! promises compression over bytes that have none is an error.

use crate::count::Progress;
use crate::error::{Error, Result};
use crate::source::Input;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// An open source.
pub(crate) struct Stream {
    pub(crate) bytes: Box<dyn Read + Send>,
    /// What the bytes were compressed with.
    pub(crate) compression: Option<&'static str>,
}

/// Opens `input`, called `name` in errors.
pub(crate) fn open(input: Input, name: &str, progress: &Arc<Progress>) -> Result<Stream> {
    let failed = |reason| Error::Read { file: name.into(), byte: 0, compression: None, reason };
    let raw: Box<dyn Read + Send> = match input {
        Input::Path(path) => Box::new(File::open(path).map_err(failed)?),
        // Where no thread can be had, a read that waits cannot be called off.
        Input::Stdin => match Pump::start(Arc::clone(progress)) {
            Ok(pump) => Box::new(pump),
            Err(_) => Box::new(io::stdin()),
        },
        Input::Stream(stream) => stream,
    };
    let mut raw = Tally { raw, progress: Arc::clone(progress) };
    let mut first = Vec::with_capacity(4);
    raw.by_ref().take(4).read_to_end(&mut first).map_err(failed)?;
    let gzip = first.starts_with(&[0x1f, 0x8b]);
    let zstd = first == [0x28, 0xb5, 0x2f, 0xfd];
    let promised = [(".gz", gzip, "gzip"), (".zst", zstd, "zstd")];
    for (suffix, kept, kind) in promised {
        if name.ends_with(suffix) && !kept {
            let text = format!("its name ends in {suffix}, but it does not start like {kind} data");
            return Err(failed(io::Error::new(io::ErrorKind::InvalidData, text)));
        }
    }
    let all = Cursor::new(first).chain(raw);
    Ok(if gzip {
        Stream { bytes: Box::new(MultiGzDecoder::new(all)), compression: Some("gzip") }
    } else if zstd {
        let decoder = zstd::Decoder::new(all).map_err(failed)?;
        Stream { bytes: Box::new(decoder), compression: Some("zstd") }
    } else {
        Stream { bytes: Box::new(all), compression: None }
    })
}

/// Counts bytes as they are read (before decompression) into the progress.
struct Tally {
    raw: Box<dyn Read + Send>,
    progress: Arc<Progress>,
}

impl Read for Tally {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.raw.read(buffer)?;
        self.progress.advance(n as u64);
        Ok(n)
    }
}

/// Standard input, read by a thread of its own: a read that waits for a person at a keyboard cannot be
/// called off, but waiting for this thread can.
struct Pump {
    chunks: Receiver<io::Result<Vec<u8>>>,
    rest: Cursor<Vec<u8>>,
    progress: Arc<Progress>,
}

impl Pump {
    fn start(progress: Arc<Progress>) -> io::Result<Self> {
        let (send, chunks) = sync_channel(4);
        let read = move || {
            let mut input = io::stdin().lock();
            loop {
                let mut chunk = vec![0; 1 << 16];
                let read = match input.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let end = !matches!(read, Ok(n) if n > 0);
                let chunk = read.map(|n| {
                    chunk.truncate(n);
                    chunk
                });
                // An error here means that nobody listens any more.
                if send.send(chunk).is_err() || end {
                    return;
                }
            }
        };
        Builder::new().spawn(read)?;
        Ok(Self { chunks, rest: Cursor::default(), progress })
    }
}

impl Read for Pump {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.rest.read(buffer)?;
        if n > 0 {
            return Ok(n);
        }
        loop {
            match self.chunks.recv_timeout(Duration::from_millis(50)) {
                Ok(chunk) => {
                    self.rest = Cursor::new(chunk?);
                    return self.rest.read(buffer);
                }
                Err(RecvTimeoutError::Timeout) if self.progress.is_cancelled() => {
                    return Err(io::Error::other("stopped"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}
