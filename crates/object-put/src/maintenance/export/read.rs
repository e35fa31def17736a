//! Lines as a store.

use std::io::{BufRead, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use triptych_core::blobs::{BlobId, Blobs};
use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Loader, Span, with_checksum};
use triptych_core::time::Timestamp;

use super::{
    Body, End, ExportError, FORMAT, Head, LINE_BYTES_MAX, Line, SLICE_BYTES, Slice, VERSION,
    blobs_of_row, is_checked, renamed,
};

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
) -> Result<u64, ExportError> {
    let mut lines =
        Lines { text, line: Vec::new(), number: 0, digest: Sha256::new(), before: Sha256::new() };
    if !store.scan(&Span::default(), 1)?.rows.is_empty() {
        return Err(lines.refuse("the store is not empty"));
    }
    lines.head()?;
    let mut loader = Loader::new(store, ids);
    let (mut last, mut bodies) = (Bytes::new(), 0);
    loop {
        if !lines.advance()? {
            return Err(lines.refuse("the file ends before its end: it was cut off"));
        }
        if lines.line.starts_with(b"{\"rows\":") {
            break;
        }
        let (key, value, named) = lines.row()?;
        if key <= last {
            return Err(lines.refuse("the rows are not in the order of their keys"));
        }
        last = key.clone();
        // A row that names a body comes after the body is on disk.
        let mut names = Vec::with_capacity(named.len());
        for body in &named {
            names.push((body.blob, lines.body(blobs, now, body.bytes)?));
        }
        bodies += named.len() as u64;
        let value = renamed(&value, &names);
        let value = if is_checked(&key) { with_checksum(&key, &value) } else { value };
        loader.put(key, value)?;
        progress(loader.rows());
    }
    lines.end(loader.rows(), bodies)?;
    Ok(loader.finish()?)
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

impl Lines<'_> {
    fn refuse(&self, reason: &str) -> ExportError {
        ExportError::Refused { line: self.number, reason: reason.to_owned() }
    }

    /// Reads the next line, without its end, into `line`; `false` if there is none.
    fn advance(&mut self) -> Result<bool, ExportError> {
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

    fn head(&mut self) -> Result<(), ExportError> {
        self.advance()?;
        match serde_json::from_slice::<Head>(&self.line).ok() {
            Some(head) if head.format == FORMAT && head.version == VERSION => Ok(()),
            Some(head) if head.format == FORMAT => Err(self.refuse(&format!(
                "it is an export of version {}, and this reads version {VERSION}",
                head.version
            ))),
            _ => Err(self.refuse("it is no export of object-put")),
        }
    }

    /// Key, value and bodies of the row in the line that was just read.
    fn row(&self) -> Result<(Bytes, Bytes, Vec<Body>), ExportError> {
        let line: Line<'_> =
            serde_json::from_slice(&self.line).map_err(|error| self.refuse(&error.to_string()))?;
        let decode = |text: &str| STANDARD_NO_PAD.decode(text).ok();
        let rest = match (line.json, &line.bytes) {
            (Some(json), None) => Some(json.get().as_bytes().to_vec()),
            (None, Some(text)) => decode(text),
            _ => None,
        };
        let key = decode(&line.key).filter(|key| !key.is_empty());
        let (Some(key), Some(rest)) = (key, rest) else {
            return Err(self.refuse("it is no row"));
        };
        let value = Bytes::from([&[line.format], &*rest].concat());
        let named = blobs_of_row(&key, &value)
            .map_err(|_| self.refuse("the value is not what its table holds"))?;
        if named.len() != line.bodies.len()
            || line.bodies.iter().zip(&named).any(|(body, id)| body.blob != *id)
        {
            return Err(self.refuse("the bodies that follow are not those that the row names"));
        }
        Ok((key.into(), value, line.bodies))
    }

    /// The body of the next lines, kept; gives its new name.
    fn body(
        &mut self,
        blobs: &dyn Blobs,
        now: Timestamp,
        bytes: u64,
    ) -> Result<BlobId, ExportError> {
        let mut writer = blobs.create(now, Some(bytes));
        let mut left = bytes;
        while left > 0 {
            let slice = self.slice()?;
            left = left
                .checked_sub(slice.len() as u64)
                .ok_or_else(|| self.refuse("the body is longer than its row says"))?;
            writer.write(slice).wait()?;
        }
        Ok(writer.finish().wait()?.id)
    }

    /// The bytes of the next line, which has to be a slice.
    fn slice(&mut self) -> Result<Bytes, ExportError> {
        self.advance()?;
        let bytes = serde_json::from_slice::<Slice<'_>>(&self.line)
            .ok()
            .and_then(|slice| STANDARD_NO_PAD.decode(slice.slice.as_bytes()).ok());
        bytes
            .filter(|bytes| (1..=SLICE_BYTES).contains(&bytes.len()))
            .map(Bytes::from)
            .ok_or_else(|| self.refuse("a slice of a body was expected here"))
    }

    /// Checks the last line, which was just read, against what came before it.
    fn end(&mut self, rows: u64, bodies: u64) -> Result<(), ExportError> {
        let end: End =
            serde_json::from_slice(&self.line).map_err(|error| self.refuse(&error.to_string()))?;
        let digest = hex::encode(self.before.clone().finalize());
        if (end.rows, end.bodies) != (rows, bodies) || end.sha256 != digest {
            return Err(self.refuse("the file is not what was written: its digest differs"));
        }
        if self.advance()? {
            return Err(self.refuse("something follows the end"));
        }
        Ok(())
    }
}
