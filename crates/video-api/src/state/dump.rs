//! The list of all tables, and a row as a line of JSON.
//!
//! Records that are JSON stand in a line as they are, so that any tool can read them; everything else is base64.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use triptych_core::kv::Record;

use crate::api::quota;
use crate::api::response;
use crate::record::stored;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::{RESOURCES, recount};
use crate::upload::media;
use crate::{account, index, oauth, picture, seed, upload};

/// Every table, in the order of their keys: those of the resources, and those of what all of them stand on.
pub static TABLES: LazyLock<Vec<&'static TableEntry>> = LazyLock::new(|| {
    let shared = [
        account::TABLES,
        quota::TABLES,
        seed::TABLES,
        upload::TABLES,
        picture::TABLES,
        index::TABLES,
        oauth::TABLES,
        recount::TABLES,
    ];
    let owned = RESOURCES.iter().map(|resource| resource.tables);
    let mut tables: Vec<_> = owned.chain(shared).flatten().collect();
    tables.sort_by_key(|table| table.rows.id());
    tables
});

/// Finds the table of a stored key.
#[must_use]
pub fn table_of_key(key: &[u8]) -> Option<&'static TableEntry> {
    let id = key.first()?;
    TABLES.iter().copied().find(|table| table.rows.id() == *id)
}

/// Finds the table with this name.
#[must_use]
pub fn table_named(name: &str) -> Option<&'static TableEntry> {
    TABLES.iter().copied().find(|table| table.name == name)
}

/// A line that is a row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line<'a> {
    /// The table.
    #[serde(borrow)]
    pub table: Cow<'a, str>,
    /// The key: its parts in order.
    #[serde(borrow)]
    pub key: &'a RawValue,
    /// The format of the value.
    pub format: u8,
    /// A value that is JSON.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub json: Option<&'a RawValue>,
    /// The parts of a value whose head is `json`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<(Cow<'a, str>, Cow<'a, RawValue>)>>,
    /// Length of the body whose slices follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<u64>,
    /// Another value, in base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Cow<'a, str>>,
}

/// The row as a line, without a line end; `None` if the row is not what its table holds. A body's own slices are not in it.
#[must_use]
pub fn line(table: &TableEntry, key: &[u8], value: &Bytes) -> Option<String> {
    let key = RawValue::from_string(table.rows.key_text(key)?).ok()?;
    let (format, rest) = (*value.first()?, value.slice(1..));
    let mut line = Line {
        table: table.name.into(),
        key: &key,
        format,
        json: None,
        parts: None,
        body: None,
        bytes: None,
    };
    match table.form {
        Form::Json => {
            line.json = Some(serde_json::from_slice(&rest).ok()?);
            serde_json::to_string(&line).ok()
        }
        Form::Stored => {
            let stored::Unpacked { head, parts, .. } = stored::unpack(rest)?;
            line.json = Some(serde_json::from_slice(&head).ok()?);
            let parts = parts.iter().map(|(name, text)| {
                let name = std::str::from_utf8(name).ok()?;
                let text = String::from_utf8(response::escape_base(text)).ok()?;
                Some((name.into(), Cow::Owned(RawValue::from_string(text).ok()?)))
            });
            line.parts = Some(parts.collect::<Option<_>>()?);
            serde_json::to_string(&line).ok()
        }
        Form::Body => {
            let piece = media::Piece::decode(format, rest)?;
            line.body = Some(piece.bytes);
            serde_json::to_string(&line).ok()
        }
        Form::Bytes => {
            line.bytes = (!rest.is_empty()).then(|| STANDARD.encode(&rest).into());
            serde_json::to_string(&line).ok()
        }
    }
}

impl Line<'_> {
    /// The table, the key and the value of the row; of a body the value is empty until its blob is there.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn row(&self) -> Result<(&'static TableEntry, Bytes, Bytes), String> {
        let table = table_named(&self.table)
            .ok_or_else(|| format!("{:?} is no table of this version", self.table))?;
        let key = table.rows.key_bytes(self.key.get());
        let key = key.ok_or_else(|| format!("{} is no key of {}", self.key, table.name))?;
        let mut value = vec![self.format];
        let whole = match (table.form, self.json, &self.parts, &self.bytes, self.body) {
            (Form::Json, Some(json), None, None, None) => {
                value.extend_from_slice(json.get().as_bytes());
                true
            }
            (Form::Stored, Some(json), Some(parts), None, None) => {
                let part = |(name, text): &(Cow<'_, str>, Cow<'_, RawValue>)| {
                    let text = Bytes::copy_from_slice(text.get().as_bytes());
                    (Bytes::copy_from_slice(name.as_bytes()), response::unescape_base(text))
                };
                let parts: Vec<_> = parts.iter().map(part).collect();
                let parts = parts.iter().map(|(name, text)| (name, text));
                stored::pack(&mut value, json.get().as_bytes(), parts);
                true
            }
            (Form::Bytes, None, None, bytes, None) => match bytes {
                None => true,
                Some(text) => STANDARD.decode_vec(text.as_ref(), &mut value).is_ok(),
            },
            (Form::Body, None, None, None, Some(_)) => true,
            _ => false,
        };
        if !whole {
            return Err(format!("the value is none of {}", table.name));
        }
        Ok((table, key, value.into()))
    }
}
