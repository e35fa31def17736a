//! A store as lines of text: its rows in the order of their keys, bodies with them.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use triptych_core::blobs::Blobs;
use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Record, Span, StoreError};

use super::dump::{End, FORMAT, Head, SLICE_BYTES, Slice, VERSION};
use super::{StateError, dump};
use crate::picture;
use crate::record::table_entry::Form;
use crate::upload::media;
use crate::upload::media::Piece;

/// Rows that one scan reads.
const STEP: usize = 500;

/// Writes everything in `store` and `blobs` to `out`, and says how many rows that were; `progress` is told as it goes.
///
/// Two stores of the same content give the same bytes, whatever their blobs are called. Memory does not grow with the store. What was
/// deleted and is not yet swept is swept first.
///
/// # Errors
/// `Text` if `out` fails, `Store`, `Blob`; `Corrupt` for a row that is not what its table holds.
pub fn export(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
    out: &mut dyn Write,
    mut progress: impl FnMut(u64),
) -> Result<u64, StateError> {
    media::sweep(store, blobs, ids, &|| true)?;
    picture::sweep(store, blobs, ids, &|| true)?;
    let mut text = Text { out, digest: Sha256::new() };
    text.line(&Head { format: FORMAT.to_owned(), version: VERSION })?;
    let (mut rows, mut span) = (0, Span::default());
    loop {
        let page = store.scan(&span, STEP)?;
        for (key, value) in &page.rows {
            let corrupt = || StoreError::Corrupt("a row is not what its table holds".to_owned());
            let table = dump::table_of_key(key).ok_or_else(corrupt)?;
            let line = dump::line(table, key, value).ok_or_else(corrupt)?;
            text.write(line)?;
            if table.form == Form::Body {
                let (format, bytes) = (value.first().copied(), value.slice(1..));
                let piece = Piece::decode(format.unwrap_or_default(), bytes).ok_or_else(corrupt)?;
                body(&mut text, blobs, piece)?;
            }
            rows += 1;
        }
        progress(rows);
        match page.rows.into_iter().next_back() {
            Some((key, _)) if page.more => span.from = Some(key.to_vec()),
            _ => break,
        }
    }
    let sha256 = hex::encode(text.digest.finalize());
    let end = serde_json::to_string(&End { rows, sha256 }).map_err(std::io::Error::from)?;
    writeln!(text.out, "{end}")?;
    text.out.flush()?;
    Ok(rows)
}

struct Text<'o> {
    out: &'o mut dyn Write,
    digest: Sha256,
}

impl Text<'_> {
    fn line(&mut self, value: &impl serde::Serialize) -> Result<(), StateError> {
        self.write(serde_json::to_string(value).map_err(std::io::Error::from)?)
    }

    fn write(&mut self, mut line: String) -> Result<(), StateError> {
        line.push('\n');
        self.digest.update(line.as_bytes());
        Ok(self.out.write_all(line.as_bytes())?)
    }
}

/// The bytes of a body, in slices whose bounds depend on nothing but its length.
fn body(text: &mut Text<'_>, blobs: &dyn Blobs, piece: Piece) -> Result<(), StateError> {
    let mut reader = blobs.open(piece.blob, 0..piece.bytes)?;
    let mut waiting = Vec::new();
    while let Some(bytes) = reader.next().wait()? {
        waiting.extend_from_slice(&bytes);
        let whole = waiting.len() - waiting.len() % SLICE_BYTES;
        for slice in waiting.get(..whole).unwrap_or_default().chunks(SLICE_BYTES) {
            text.line(&Slice { slice: STANDARD.encode(slice).into() })?;
        }
        waiting.drain(..whole);
    }
    if !waiting.is_empty() {
        text.line(&Slice { slice: STANDARD.encode(&waiting).into() })?;
    }
    Ok(())
}
