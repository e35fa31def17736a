//! Lines of text as a store: what [`export`](super::export) wrote, read back.

use std::collections::VecDeque;
use std::io::{BufRead, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use triptych_core::blobs::{BlobError, BlobStat, Blobs};
use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Loader, Record, Span};
use triptych_core::pending::Pending;
use triptych_core::time::Timestamp;

use super::StateError;
use super::dump::{End, FORMAT, Head, LINE_BYTES_MAX, Line, SLICE_BYTES, Slice, VERSION};
use crate::record::table_entry::Form;
use crate::upload::media::Piece;

/// Small bodies that wait for the disk at once.
const FLYING_MAX: usize = 64;

/// Reads an export into an empty store, and says how many rows it had; `progress` is told as it goes. Memory does not grow with the file.
///
/// Rows that were read stay where the file turns out to be damaged: import into a place that is only named once this has succeeded.
///
/// # Errors
/// `Refused` if the store is not empty, or with the line that is wrong; `Text`, `Store`, `Blob`.
pub fn import(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
    now: Timestamp,
    text: &mut dyn BufRead,
    mut progress: impl FnMut(u64),
) -> Result<u64, StateError> {
    let mut lines = Lines::new(text);
    if !store.scan(&Span::default(), 1)?.rows.is_empty() {
        return Err(lines.refuse("the store is not empty"));
    }
    lines.head()?;
    let mut intake =
        Intake { loader: Loader::new(store, ids), blobs, now, flying: VecDeque::new() };
    let mut last = Bytes::new();
    loop {
        if !lines.advance()? {
            return Err(lines.refuse("the file ends before its end: it was cut off"));
        }
        if lines.line.starts_with(b"{\"rows\":") {
            break;
        }
        let read: Line<'_> = serde_json::from_slice(&lines.line)
            .map_err(|error| lines.refuse(&error.to_string()))?;
        let (table, key, value) = read.row().map_err(|reason| lines.refuse(&reason))?;
        let body = read.body;
        if key <= last {
            return Err(lines.refuse("the rows are not in the order of their keys"));
        }
        last = key.clone();
        match (table.form, body) {
            (Form::Body, Some(bytes)) => intake.body(&mut lines, key, bytes)?,
            _ => {
                intake.land(0)?;
                intake.loader.put(key, value)?;
            }
        }
        if intake.loader.rows().is_multiple_of(1_000) {
            progress(intake.loader.rows());
        }
    }
    intake.land(0)?;
    lines.end(intake.loader.rows())?;
    Ok(intake.loader.finish()?)
}

/// The lines of a file, counted and digested.
struct Lines<'t> {
    text: &'t mut dyn BufRead,
    line: Vec<u8>,
    number: u64,
    digest: Sha256,
    /// The digest of all lines before the last one that was read.
    before: Sha256,
}

impl<'t> Lines<'t> {
    fn new(text: &'t mut dyn BufRead) -> Self {
        Self { text, line: Vec::new(), number: 0, digest: Sha256::new(), before: Sha256::new() }
    }

    fn refuse(&self, reason: &str) -> StateError {
        StateError::Refused { line: self.number, reason: reason.to_owned() }
    }

    /// Reads the next line, without its end, into `line`; `false` if there is none.
    fn advance(&mut self) -> Result<bool, StateError> {
        self.line.clear();
        self.number += 1;
        let mut bounded = (&mut self.text).take(LINE_BYTES_MAX);
        bounded.read_until(b'\n', &mut self.line)?;
        self.before.clone_from(&self.digest);
        self.digest.update(&self.line);
        if self.line.is_empty() {
            return Ok(false);
        }
        if self.line.pop() != Some(b'\n') {
            return Err(self.refuse("the line has no end: it is too long, or the file was cut off"));
        }
        Ok(true)
    }

    fn head(&mut self) -> Result<(), StateError> {
        self.advance()?;
        match serde_json::from_slice::<Head>(&self.line).ok() {
            Some(head) if head.format == FORMAT && head.version == VERSION => Ok(()),
            Some(head) if head.format == FORMAT => Err(self.refuse(&format!(
                "it is an export of version {}, and this reads version {VERSION}",
                head.version
            ))),
            _ => Err(self.refuse("it is no export of video-api")),
        }
    }

    /// Checks the last line, which was just read, against what came before it.
    fn end(&mut self, rows: u64) -> Result<(), StateError> {
        let end: End =
            serde_json::from_slice(&self.line).map_err(|error| self.refuse(&error.to_string()))?;
        let digest: String = hex::encode(self.before.clone().finalize());
        if end.rows != rows || end.sha256 != digest {
            return Err(self.refuse("the file is not what was written: its digest differs"));
        }
        if self.advance()? {
            return Err(self.refuse("something follows the end"));
        }
        Ok(())
    }

    /// The bytes of the next line, which has to be a slice.
    fn slice(&mut self) -> Result<Bytes, StateError> {
        self.advance()?;
        let bytes = serde_json::from_slice::<Slice<'_>>(&self.line)
            .ok()
            .and_then(|slice| STANDARD.decode(slice.slice.as_bytes()).ok());
        bytes
            .filter(|bytes| (1..=SLICE_BYTES).contains(&bytes.len()))
            .map(Bytes::from)
            .ok_or_else(|| self.refuse("a slice of a body was expected here"))
    }
}

/// A small body on its way to the disk.
struct Flying {
    key: Bytes,
    blob: Pending<Result<BlobStat, BlobError>>,
}

/// Rows and bodies on their way into the stores. A row that names a blob comes after the blob is on disk.
struct Intake<'s> {
    loader: Loader<'s>,
    blobs: &'s dyn Blobs,
    now: Timestamp,
    flying: VecDeque<Flying>,
}

impl Intake<'_> {
    fn body(&mut self, lines: &mut Lines<'_>, key: Bytes, bytes: u64) -> Result<(), StateError> {
        if bytes <= SLICE_BYTES as u64 {
            let slice = if bytes == 0 { Bytes::new() } else { lines.slice()? };
            if slice.len() as u64 != bytes {
                return Err(lines.refuse("the body is not as long as its row says"));
            }
            let blob = self.blobs.put_small(self.now, slice);
            self.flying.push_back(Flying { key, blob });
            return self.land(FLYING_MAX);
        }
        let mut writer = self.blobs.create(self.now, Some(bytes));
        let mut left = bytes;
        while left > 0 {
            let slice = lines.slice()?;
            left = left
                .checked_sub(slice.len() as u64)
                .ok_or_else(|| lines.refuse("the body is longer than its row says"))?;
            writer.write(slice).wait()?;
        }
        let stat = writer.finish().wait()?;
        self.land(0)?;
        self.name(key, stat)
    }

    /// Waits until at most `most` bodies are on their way, and puts the rows of the others.
    fn land(&mut self, most: usize) -> Result<(), StateError> {
        while self.flying.len() > most {
            if let Some(Flying { key, blob }) = self.flying.pop_front() {
                let stat = blob.wait()?;
                self.name(key, stat)?;
            }
        }
        Ok(())
    }

    fn name(&mut self, key: Bytes, stat: BlobStat) -> Result<(), StateError> {
        let piece = Piece { blob: stat.id, bytes: stat.bytes };
        let mut value = vec![Piece::FORMAT];
        piece.encode(&mut value);
        Ok(self.loader.put(key, value.into())?)
    }
}
