//! The rows of a store as lines of an archive: bodies, versions, locks, accounts and keys with it.
//!
//! Bodies stand there as they are stored, encrypted: whoever imports an archive needs the root keys of the store that it is from.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use triptych_core::archive::{Codec, Format, NamedBody, Row};
use triptych_core::blobs::{BlobId, BlobStat};
use triptych_core::kv::{Record, Span, StoreError, with_checksum, without_checksum};

use crate::auth::account::Account;
use crate::body::encryption::encrypted_size;
use crate::store::bucket::Bucket;
use crate::store::part_list::{Part, Parts};
use crate::store::tables::{
    ACCOUNTS, BUCKETS, CURRENT, GARBAGE, NONCURRENT, NUMBERS, PARTS, UPLOAD_PARTS,
};
use crate::store::version::{ObjectData, ObjectVersion};

/// The form of the archives. A line is a value in base64 at most, with its key and the names of 500 bodies.
static FORMAT: Format = Format {
    name: "object-put-export",
    service: "object-put",
    version: 1,
    line_bytes_max: 256 * 1024,
    counts_bodies: true,
    pads_slices: false,
};

/// The rows of this service as lines.
#[derive(Debug)]
pub struct RowCodec;

impl Codec for RowCodec {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn bodies(&self, key: &[u8], value: &Bytes) -> Result<Vec<NamedBody>, StoreError> {
        blobs_of_row(key, value)
    }

    fn line(
        &self,
        key: &[u8],
        value: &Bytes,
        bodies: &[BlobStat],
    ) -> Result<Option<String>, StoreError> {
        // Bodies that nothing names any more are not exported, so neither is what remembers them.
        if is_of(key, &GARBAGE.span(&())) {
            return Ok(None);
        }
        let corrupt = || StoreError::Corrupt("a row is not what was written".to_owned());
        // Names of bodies change in a row, so it gets another checksum where it is imported.
        let value = without_checksum(key, value).ok_or_else(corrupt)?;
        let (format, rest) =
            value.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        // A line is one line: a value with a break in it is no JSON that was stored here.
        let json = serde_json::from_slice::<&RawValue>(rest).ok();
        let json = json.filter(|json| json.get().len() == rest.len() && !rest.contains(&b'\n'));
        let line = serde_json::to_string(&Line {
            key: STANDARD_NO_PAD.encode(key).into(),
            format,
            bytes: json.is_none().then(|| STANDARD_NO_PAD.encode(rest).into()),
            json,
            bodies: bodies.iter().map(|stat| Body { blob: stat.id, bytes: stat.bytes }).collect(),
        });
        line.map(Some).map_err(|_| corrupt())
    }

    fn row(&self, line: &[u8]) -> Result<Row, String> {
        let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let decode = |text: &str| STANDARD_NO_PAD.decode(text).ok();
        let rest = match (line.json, &line.bytes) {
            (Some(json), None) => Some(json.get().as_bytes().to_vec()),
            (None, Some(text)) => decode(text),
            _ => None,
        };
        let key = decode(&line.key).filter(|key| !key.is_empty());
        let (Some(key), Some(rest)) = (key, rest) else {
            return Err("it is no row".to_owned());
        };
        let value = Bytes::from([&[line.format], &*rest].concat());
        let named = blobs_of_row(&key, &value)
            .map_err(|_| "the value is not what its table holds".to_owned())?;
        if !line.bodies.iter().map(|body| body.blob).eq(named.iter().map(|body| body.id)) {
            return Err("the bodies that follow are not those that the row names".to_owned());
        }
        let bodies = line.bodies.iter().map(|body| body.bytes).collect();
        Ok(Row { key: key.into(), value, bodies })
    }

    fn stored(&self, row: &Row, bodies: &[BlobStat]) -> Bytes {
        // The row was read with these names.
        let old = blobs_of_row(&row.key, &row.value).unwrap_or_default();
        let names: Vec<_> =
            old.iter().map(|body| body.id).zip(bodies.iter().map(|stat| stat.id)).collect();
        let value = if names.is_empty() { row.value.clone() } else { renamed(&row.value, &names) };
        with_checksum(&row.key, &value)
    }
}

/// Tells whether a row is one that this service writes: one with its checksum, or one that the releases before wrote without.
#[must_use]
pub fn is_row(key: &[u8], value: &Bytes) -> bool {
    let Some(plain) = without_checksum(key, value) else {
        return false;
    };
    if !key.first().is_some_and(|table| NUMBERS.contains(table)) {
        return false;
    }
    let is = |span: Span| is_of(key, &span);
    plain != *value
        || if is(BUCKETS.span(&())) {
            decodes::<Bucket>(&plain)
        } else if is(CURRENT.span(&())) || is(NONCURRENT.span(&())) {
            decodes::<ObjectVersion>(&plain)
        } else if is(ACCOUNTS.span(&())) {
            decodes::<Account>(&plain)
        } else {
            true
        }
}

/// Returns whether a row without a checksum holds such a record.
fn decodes<V: Record>(plain: &Bytes) -> bool {
    plain.first().is_some_and(|format| V::decode(*format, plain.slice(1..)).is_some())
}

/// A row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    /// Its key, base64.
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// The format of its value.
    format: u8,
    /// A value that is JSON, as it is stored.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    json: Option<&'a RawValue>,
    /// Any other value, base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Cow<'a, str>>,
    /// The bodies whose slices follow, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bodies: Vec<Body>,
}

/// A body that a row names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    /// The name by which the value has it.
    #[serde(with = "crate::store::part_list::blob_id")]
    blob: BlobId,
    /// Its length, encrypted.
    bytes: u64,
}

/// The start of the keys of a table.
fn is_of(key: &[u8], span: &Span) -> bool {
    key.starts_with(&span.prefix)
}

/// The bodies that a row names. Every table whose records name bodies has its arm here, as in
/// [`referenced_blobs`](crate::maintenance::garbage::referenced_blobs).
fn blobs_of_row(key: &[u8], value: &Bytes) -> Result<Vec<NamedBody>, StoreError> {
    let of_version = |version: &ObjectVersion| match version.data.as_deref() {
        Some(ObjectData { parts: Parts::One(part), encryption, .. }) => {
            vec![NamedBody::of(part.blob, encrypted_size(part.bytes, encryption.layers()))]
        }
        Some(ObjectData { parts: Parts::Chunks { .. }, .. }) | None => Vec::new(),
    };
    // The row of the object or of the upload says in how many layers its parts are encrypted.
    let of_part = |part: &Part| NamedBody {
        id: part.blob,
        lengths: [1, 2].map(|layers| encrypted_size(part.bytes, layers)),
    };
    if is_of(key, &CURRENT.span(&())) {
        return CURRENT.decode(key, value).map(|version| of_version(&version));
    }
    if is_of(key, &NONCURRENT.span(&())) {
        return NONCURRENT.decode(key, value).map(|version| of_version(&version));
    }
    if is_of(key, &PARTS.span(&())) {
        return PARTS
            .decode(key, value)
            .map(|chunk| chunk.0.iter().map(|listed| of_part(&listed.part)).collect());
    }
    if is_of(key, &UPLOAD_PARTS.span(&())) {
        return UPLOAD_PARTS.decode(key, value).map(|part| vec![of_part(&part.listed.part)]);
    }
    Ok(Vec::new())
}

/// A value in which each body has its new name: as bytes, or as the text that records have for them. The names are random, so nothing
/// else reads the same.
fn renamed(value: &[u8], names: &[(BlobId, BlobId)]) -> Bytes {
    let mut value = value.to_vec();
    for (old, new) in names {
        replace(&mut value, &old.0, &new.0);
        let text = |id: &BlobId| STANDARD_NO_PAD.encode(id.0).into_bytes();
        replace(&mut value, &text(old), &text(new));
    }
    value.into()
}

/// Replaces `from` by `to`, which is as long, wherever it stands.
fn replace(value: &mut [u8], from: &[u8], to: &[u8]) {
    for place in places_of(value, from) {
        if let Some(found) = value.get_mut(place..place + from.len()) {
            found.copy_from_slice(to);
        }
    }
}

fn places_of(value: &[u8], wanted: &[u8]) -> Vec<usize> {
    let windows = value.windows(wanted.len()).enumerate();
    windows.filter(|(_, window)| *window == wanted).map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_services_are_not_taken_for_rows_of_this_one() {
        let (key, plain) = (&b"\x18679de04\0\x01"[..], Bytes::from_static(b"\0"));
        assert!(is_row(key, &plain));
        let checked = with_checksum(key, &plain);
        assert!(is_row(key, &checked));
        assert!(!is_row(b"\x18another\0\x01", &checked));
        let foreign = [
            (&b"\x01demo\0\x01"[..], &b"\x01{\"id\":\"demo\",\"email\":\"demo@example.com\"}"[..]),
            (b"\x02token", b"\x01{\"account\":\"demo\",\"scopes\":127}"),
            (b"\x88channel", b"\x01{\"channel\":\"UCdemo\"}"),
            (b"default/\x01", b"{\"next_id\":1000003}"),
            (b"", b""),
        ];
        for (key, value) in foreign {
            assert!(!is_row(key, &Bytes::from_static(value)), "{key:?}");
        }
    }
}
