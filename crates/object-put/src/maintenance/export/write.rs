//! A store as lines.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use triptych_core::blobs::{BlobId, Blobs};
use triptych_core::kv::{KeyValue, Span, without_checksum};

use super::{
    Body, End, ExportError, FORMAT, Head, Line, SLICE_BYTES, Slice, VERSION, blobs_of_row,
    is_checked, is_garbage,
};

/// Rows that one scan reads.
const STEP: usize = 500;

/// Writes everything in `store` and `blobs` to `out`, and says how many rows that were; `progress` is told as it goes.
///
/// Memory does not grow with the store. Bodies that no record names are left out.
///
/// # Errors
/// `Text` if `out` fails, `Store`, `Blob`: a body that is missing is [`triptych_core::blobs::BlobError::Absent`].
pub fn export(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    out: &mut dyn Write,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let mut text = Text { out, digest: Sha256::new() };
    text.line(&Head { format: FORMAT.to_owned(), version: VERSION })?;
    let (mut rows, mut bodies, mut span) = (0, 0, Span::default());
    loop {
        let page = store.scan(&span, STEP)?;
        for (key, value) in page.rows.iter().filter(|(key, _)| !is_garbage(key)) {
            let named = blobs_of_row(key, value)?;
            let plain = if is_checked(key) { without_checksum(key, value) } else { None };
            text.row(blobs, key, plain.as_ref().unwrap_or(value), &named)?;
            rows += 1;
            bodies += named.len() as u64;
            progress(rows);
        }
        match page.rows.into_iter().next_back() {
            Some((key, _)) if page.more => span.from = Some(key.to_vec()),
            _ => break,
        }
    }
    let sha256 = hex::encode(text.digest.finalize());
    let end = serde_json::to_string(&End { rows, bodies, sha256 }).map_err(std::io::Error::from)?;
    writeln!(text.out, "{end}")?;
    text.out.flush()?;
    Ok(rows)
}

struct Text<'o> {
    out: &'o mut dyn Write,
    digest: Sha256,
}

impl Text<'_> {
    fn line(&mut self, value: &impl serde::Serialize) -> Result<(), ExportError> {
        let mut line = serde_json::to_vec(value).map_err(std::io::Error::from)?;
        line.push(b'\n');
        self.digest.update(&line);
        Ok(self.out.write_all(&line)?)
    }

    /// A row, and the bodies that it names.
    fn row(
        &mut self,
        blobs: &dyn Blobs,
        key: &[u8],
        value: &Bytes,
        named: &[BlobId],
    ) -> Result<(), ExportError> {
        let (format, rest) =
            value.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        // A line is one line: a value with a break in it is no JSON that was stored here.
        let json = serde_json::from_slice::<&RawValue>(rest).ok();
        let json = json.filter(|json| json.get().len() == rest.len() && !rest.contains(&b'\n'));
        let bodies = named.iter().map(|id| {
            let stat = blobs.stat(*id)?;
            Ok(Body { blob: *id, bytes: stat.bytes })
        });
        let bodies = bodies.collect::<Result<Vec<_>, ExportError>>()?;
        self.line(&Line {
            key: STANDARD_NO_PAD.encode(key).into(),
            format,
            bytes: json.is_none().then(|| STANDARD_NO_PAD.encode(rest).into()),
            json,
            bodies: bodies.clone(),
        })?;
        bodies.iter().try_for_each(|body| self.body(blobs, body))
    }

    /// The bytes of a body, in slices whose bounds depend on nothing but its length.
    fn body(&mut self, blobs: &dyn Blobs, body: &Body) -> Result<(), ExportError> {
        if body.bytes == 0 {
            return Ok(());
        }
        let mut reader = blobs.open(body.blob, 0..body.bytes)?;
        let mut waiting = Vec::new();
        while let Some(bytes) = reader.next().wait()? {
            waiting.extend_from_slice(&bytes);
            let whole = waiting.len() - waiting.len() % SLICE_BYTES;
            for slice in waiting.get(..whole).unwrap_or_default().chunks(SLICE_BYTES) {
                self.line(&Slice { slice: STANDARD_NO_PAD.encode(slice).into() })?;
            }
            waiting.drain(..whole);
        }
        if !waiting.is_empty() {
            self.line(&Slice { slice: STANDARD_NO_PAD.encode(&waiting).into() })?;
        }
        Ok(())
    }
}
