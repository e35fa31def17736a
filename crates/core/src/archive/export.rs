//! A store as lines.

use std::io::Write;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::line::{End, Head, Slice};
use super::named_body::described;
use super::{ArchiveError, BodyFault, Codec, SLICE_BYTES};
use crate::blobs::{BlobStat, Blobs};
use crate::id::Ids;
use crate::kv::{KeyValue, Span, rows_of_service};

/// Rows that one scan reads.
const STEP: usize = 500;

/// Writes everything in `store` and `blobs` to `out`, and says how many rows that were; `progress` is told the rows and the bytes as it goes.
///
/// Memory does not grow with the store. Bodies that no row names are left out.
///
/// # Errors
/// `Text` if `out` fails, `Store`, `Blob`, `Body` for one that is missing, damaged, or not as long as its row says.
pub fn export(
    codec: &dyn Codec,
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
    out: &mut dyn Write,
    mut progress: impl FnMut(u64, u64),
) -> Result<u64, ArchiveError> {
    codec.prepare(store, blobs, ids)?;
    let mut text = Text { codec, out, digest: Sha256::new(), bytes: 0, rows: 0, bodies: 0 };
    let format = codec.format();
    text.line(&Head { format: format.name.to_owned(), version: format.version })?;
    let mut span = rows_of_service(Span::default());
    loop {
        let page = store.scan(&span, STEP)?;
        for (key, value) in &page.rows {
            text.row(blobs, key, value)?;
            progress(text.rows, text.bytes);
        }
        match page.rows.into_iter().next_back() {
            Some((key, _)) if page.more => span.from = Some(key.to_vec()),
            _ => break,
        }
    }
    text.end()
}

struct Text<'o> {
    codec: &'o dyn Codec,
    out: &'o mut dyn Write,
    digest: Sha256,
    bytes: u64,
    rows: u64,
    bodies: u64,
}

impl Text<'_> {
    fn line(&mut self, value: &impl serde::Serialize) -> Result<(), ArchiveError> {
        self.write(serde_json::to_string(value).map_err(std::io::Error::from)?)
    }

    fn write(&mut self, mut line: String) -> Result<(), ArchiveError> {
        line.push('\n');
        self.digest.update(line.as_bytes());
        self.bytes += line.len() as u64;
        Ok(self.out.write_all(line.as_bytes())?)
    }

    /// A row, and the bodies that it names.
    fn row(&mut self, blobs: &dyn Blobs, key: &[u8], value: &Bytes) -> Result<(), ArchiveError> {
        let named = self.codec.bodies(key, value)?;
        let of =
            |id| move |fault: BodyFault| ArchiveError::Body { body: described(id, key), fault };
        let bodies = named.iter().map(|body| body.stat(blobs).map_err(of(body.id)));
        let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        let Some(line) = self.codec.line(key, value, &bodies)? else {
            return Ok(());
        };
        self.write(line)?;
        self.rows += 1;
        self.bodies += bodies.len() as u64;
        for body in &bodies {
            self.body(blobs, body, of(body.id))?;
        }
        Ok(())
    }

    /// The bytes of a body, in slices whose bounds depend on nothing but its length. `failed` makes an error of its fault.
    fn body(
        &mut self,
        blobs: &dyn Blobs,
        body: &BlobStat,
        failed: impl Fn(BodyFault) -> ArchiveError,
    ) -> Result<(), ArchiveError> {
        if body.bytes == 0 {
            return Ok(());
        }
        let mut reader =
            blobs.open(body.id, 0..body.bytes).map_err(|error| failed(error.into()))?;
        let (mut waiting, mut read) = (Vec::new(), 0);
        while let Some(bytes) = reader.next().wait().map_err(|error| failed(error.into()))? {
            read += bytes.len() as u64;
            waiting.extend_from_slice(&bytes);
            let whole = waiting.len() - waiting.len() % SLICE_BYTES;
            for slice in waiting.get(..whole).unwrap_or_default().chunks(SLICE_BYTES) {
                self.slice(slice)?;
            }
            waiting.drain(..whole);
        }
        if read != body.bytes {
            return Err(failed(BodyFault::EndsEarly(read)));
        }
        if waiting.is_empty() { Ok(()) } else { self.slice(&waiting) }
    }

    fn slice(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.line(&Slice::of(bytes, self.codec.format().pads_slices))
    }

    fn end(self) -> Result<u64, ArchiveError> {
        let bodies = self.codec.format().counts_bodies.then_some(self.bodies);
        let end = End { rows: self.rows, bodies, sha256: hex::encode(self.digest.finalize()) };
        let end = serde_json::to_string(&end).map_err(std::io::Error::from)?;
        writeln!(self.out, "{end}")?;
        self.out.flush()?;
        Ok(self.rows)
    }
}
