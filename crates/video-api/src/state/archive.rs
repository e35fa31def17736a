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
