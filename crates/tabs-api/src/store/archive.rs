//! The rows of a store as lines of an archive: as they stand, since none of them names anything outside.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::archive::{Codec, Format, NamedBody, Row};
use triptych_core::blobs::BlobStat;
use triptych_core::kv::StoreError;

use super::{ASIDE, PROFILES, Table, WHOLE};

/// The form of the archives. A line is the longest value at most, in base64, with room for its key.
static FORMAT: Format = Format {
    name: "tabs-api-export",
    service: "tabs-api",
    version: 1,
    line_bytes_max: 128 * 1024,
    counts_bodies: false,
    pads_slices: false,
};

/// The rows of this service as lines.
#[derive(Debug)]
pub struct RowCodec;

/// A row: key and value in base64.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    value: Cow<'a, str>,
}

impl Codec for RowCodec {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn bodies(&self, _key: &[u8], _value: &Bytes) -> Result<Vec<NamedBody>, StoreError> {
        Ok(Vec::new())
    }

    fn line(
        &self,
        key: &[u8],
        value: &Bytes,
        _bodies: &[BlobStat],
    ) -> Result<Option<String>, StoreError> {
        let text = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes).into();
        let line = serde_json::to_string(&Line { key: text(key), value: text(value) });
        line.map(Some).map_err(|error| StoreError::Corrupt(error.to_string()))
    }

    fn row(&self, line: &[u8]) -> Result<Row, String> {
        let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let decode = |text: &str| STANDARD_NO_PAD.decode(text).ok();
        let key = decode(&line.key).filter(|key| !key.is_empty());
        let (Some(key), Some(value)) = (key, decode(&line.value)) else {
            return Err("it is no row".to_owned());
        };
        Ok(Row { key: key.into(), value: value.into(), bodies: Vec::new() })
    }

    fn stored(&self, row: &Row, _bodies: &[BlobStat]) -> Bytes {
        row.value.clone()
    }
}

/// Tells whether a row is one that this service writes: one of a profile's browser, or one beside those of browsers.
#[must_use]
pub fn is_row(key: &[u8], _value: &Bytes) -> bool {
    let is_beside = [PROFILES, ASIDE, WHOLE].iter().any(|start| key.starts_with(start));
    // The name of a profile, a slash, the number of a table.
    let mut parts = key.splitn(2, |byte| *byte == b'/');
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    let is_named = parts.next().is_some_and(is_name);
    let is_of_table =
        parts.next().and_then(<[u8]>::first).is_some_and(|table| Table::is_number(*table));
    is_beside || (is_named && is_of_table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_services_are_not_taken_for_rows_of_this_one() {
        let value = Bytes::from_static(b"{}");
        for own in
            [&b"default/\x01"[..], b"default/\x04\0\0\0\0\0\x0fBC", b"!profiles/default/000000"]
        {
            assert!(is_row(own, &value), "{own:?}");
        }
        for foreign in [
            &b"\x01demo\0\x01"[..],
            b"\x08111122223333\0\x01",
            b"!abc\0\x01",
            b"default/",
            b"/\x01",
            b"",
        ] {
            assert!(!is_row(foreign, &value), "{foreign:?}");
        }
    }

    #[test]
    fn a_row_comes_back_from_its_line_and_what_is_no_row_is_refused() {
        let (key, value) = (b"!profiles/first\x00\xFF".as_slice(), Bytes::from_static(&[0, 255]));
        let line = RowCodec.line(key, &value, &[]).unwrap().unwrap();
        let row = RowCodec.row(line.as_bytes()).unwrap();
        assert_eq!((&*row.key, RowCodec.stored(&row, &[])), (key, value));
        for wrong in ["", "{}", r#"{"key":"","value":""}"#, r#"{"key":"*","value":"AA"}"#] {
            assert!(RowCodec.row(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
