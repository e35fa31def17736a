//! The rows of a store as lines of an archive. Two stores of the same content give the same bytes, whatever their blobs are called.

use bytes::Bytes;
use triptych_core::archive::{ArchiveError, Codec, Format, NamedBody, Row};
use triptych_core::blobs::{BlobStat, Blobs};
use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Record as _, StoreError};

use super::dump::{self, Line};
use crate::picture;
use crate::record::table_entry::{Form, TableEntry};
use crate::upload::media::{self, MediaError, Piece};

/// The form of the archives. A line is the longest value at most, in base64, with room for its key.
static FORMAT: Format = Format {
    name: "video-api-export",
    service: "video-api",
    version: 1,
    line_bytes_max: 128 * 1024,
    counts_bodies: false,
    pads_slices: true,
};

/// The rows of this service as lines.
#[derive(Debug)]
pub struct RowCodec;

impl Codec for RowCodec {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    /// Sweeps what was deleted and is not yet swept.
    fn prepare(
        &self,
        store: &dyn KeyValue,
        blobs: &dyn Blobs,
        ids: &mut dyn Ids,
    ) -> Result<(), ArchiveError> {
        media::sweep(store, blobs, ids, &|| true).map_err(in_archive)?;
        picture::sweep(store, blobs, ids, &|| true).map_err(in_archive)?;
        Ok(())
    }

    fn bodies(&self, key: &[u8], value: &Bytes) -> Result<Vec<NamedBody>, StoreError> {
        if table(key)?.form != Form::Body {
            return Ok(Vec::new());
        }
        let format = value.first().copied().ok_or_else(corrupt)?;
        let piece = Piece::decode(format, value.slice(1..)).ok_or_else(corrupt)?;
        Ok(vec![NamedBody::of(piece.blob, piece.bytes)])
    }

    fn line(
        &self,
        key: &[u8],
        value: &Bytes,
        _bodies: &[BlobStat],
    ) -> Result<Option<String>, StoreError> {
        dump::line(table(key)?, key, value).map(Some).ok_or_else(corrupt)
    }

    fn row(&self, line: &[u8]) -> Result<Row, String> {
        let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let (_, key, value) = line.row()?;
        Ok(Row { key, value, bodies: line.body.into_iter().collect() })
    }

    fn stored(&self, row: &Row, bodies: &[BlobStat]) -> Bytes {
        let Some(stat) = bodies.first() else {
            return row.value.clone();
        };
        let mut value = vec![Piece::FORMAT];
        Piece { blob: stat.id, bytes: stat.bytes }.encode(&mut value);
        value.into()
    }
}

/// Tells whether a row is one that this service writes: of a table that is known, in its form.
#[must_use]
pub fn is_row(key: &[u8], value: &Bytes) -> bool {
    // No form of a row of this service has a greater number; those of others begin with text, or with the bit of a checksum.
    let has_format = value.first().is_some_and(|format| *format < b' ');
    let table = dump::table_of_key(key);
    has_format && table.is_some_and(|table| dump::line(table, key, value).is_some())
}

fn table(key: &[u8]) -> Result<&'static TableEntry, StoreError> {
    dump::table_of_key(key).ok_or_else(corrupt)
}

fn corrupt() -> StoreError {
    StoreError::Corrupt("a row is not what its table holds".to_owned())
}

fn in_archive(error: MediaError) -> ArchiveError {
    match error {
        MediaError::Store(error) => error.into(),
        MediaError::Blob(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_services_are_not_taken_for_rows_of_this_one() {
        let own = [
            (&b"\x04demo\0\x01"[..], &b"\x01{\"quota\":\"off\"}"[..]),
            (b"\x17GCU3BvcnRz\0\x01", b"\x011"),
        ];
        for (key, value) in own {
            assert!(is_row(key, &Bytes::from_static(value)), "{key:?}");
        }
        let foreign = [
            (&b"\x01demo\0\x01"[..], &b"\x81\xb3\x2f\x36\xa2{\"id\":7}"[..]),
            (b"\x08111122223333\0\x01", b"\x01{\"id\":\"111122223333\"}"),
            (b"default/\x01", b"{\"next_id\":1000003}"),
            (b"", b""),
        ];
        for (key, value) in foreign {
            assert!(!is_row(key, &Bytes::from_static(value)), "{key:?}");
        }
    }
}
