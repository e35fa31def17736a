//! The list of all tables, and a row as a line of JSON.
//!
//! Records that are JSON stand in a line as they are, so that any tool can read them; everything else is base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use triptych_core::kv::{Key, Record, Table};

use crate::index::{self, indexer, postings, summary};
use crate::oauth::{grant, token};
use crate::picture;
use crate::record::stored;
use crate::record::tables;
use crate::upload::{media, session};

/// What the first line says that the file is.
pub const FORMAT: &str = "video-api-export";
/// The version of the form of the lines.
pub const VERSION: u32 = 1;
/// A body stands in slices of so many bytes, a line each.
pub const SLICE_BYTES: usize = 48 * 1024;
/// No line is longer: the longest value, in base64, with room for its key.
pub const LINE_BYTES_MAX: u64 = 128 * 1024;

/// How the values of a table stand in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON as it is stored.
    Json,
    /// A head and the parts as they are served.
    Stored,
    /// The bytes of a body follow.
    Body,
    /// Base64.
    Bytes,
}

/// A table without its types.
pub trait Rows: Sync {
    /// The first byte of its keys.
    fn id(&self) -> u8;
    /// A key as JSON; `None` if it is none of this table.
    fn key_text(&self, key: &[u8]) -> Option<String>;
    /// A key from JSON; `None` if it is none of this table.
    fn key_bytes(&self, text: &str) -> Option<Bytes>;
}

impl<K: Key + Serialize + DeserializeOwned, V: Record> Rows for Table<K, V> {
    fn id(&self) -> u8 {
        self.span(&()).prefix.first().copied().unwrap_or_default()
    }

    fn key_text(&self, key: &[u8]) -> Option<String> {
        serde_json::to_string(&self.read_key(key).ok()?).ok()
    }

    fn key_bytes(&self, text: &str) -> Option<Bytes> {
        let key: K = serde_json::from_str(text).ok()?;
        Some(self.key(&key))
    }
}

/// A table by its name in lines.
#[derive(Clone, Copy)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// Its keys.
    pub rows: &'static dyn Rows,
    /// Its values.
    pub form: Form,
}

const fn named(name: &'static str, rows: &'static dyn Rows, form: Form) -> Named {
    Named { name, rows, form }
}

/// Every table, in the order of their keys.
pub static TABLES: &[Named] = &[
    named("accounts", &tables::ACCOUNTS, Form::Json),
    named("tokens", &tables::TOKENS, Form::Json),
    named("keys", &tables::KEYS, Form::Json),
    named("projects", &tables::PROJECTS, Form::Json),
    named("quota", &tables::QUOTA, Form::Json),
    named("seeding", &tables::SEEDING, Form::Json),
    named("channels", &tables::CHANNELS, Form::Stored),
    named("channelCounts", &tables::CHANNEL_COUNTS, Form::Json),
    named("handles", &tables::HANDLES, Form::Json),
    named("usernames", &tables::USERNAMES, Form::Json),
    named("categoryChannels", &tables::CATEGORY_CHANNELS, Form::Bytes),
    named("banners", &tables::BANNERS, Form::Json),
    named("watermarks", &tables::WATERMARKS, Form::Bytes),
    named("videos", &tables::VIDEOS, Form::Stored),
    named("videoCounts", &tables::VIDEO_COUNTS, Form::Json),
    named("uploads", &tables::UPLOADS, Form::Bytes),
    named("chart", &tables::CHART, Form::Bytes),
    named("schedule", &tables::SCHEDULE, Form::Bytes),
    named("ratings", &tables::RATINGS, Form::Json),
    named("rated", &tables::RATED, Form::Bytes),
    named("ratedCount", &tables::RATED_COUNT, Form::Json),
    named("history", &tables::HISTORY, Form::Bytes),
    named("historyCount", &tables::HISTORY_COUNT, Form::Json),
    named("playlists", &tables::PLAYLISTS, Form::Stored),
    named("channelPlaylists", &tables::CHANNEL_PLAYLISTS, Form::Bytes),
    named("playlistCount", &tables::PLAYLIST_COUNT, Form::Json),
    named("order", &tables::ORDER, Form::Json),
    named("chunks", &tables::CHUNKS, Form::Bytes),
    named("items", &tables::ITEMS, Form::Json),
    named("itemsOfVideo", &tables::ITEMS_OF_VIDEO, Form::Bytes),
    named("playlistGarbage", &tables::PLAYLIST_GARBAGE, Form::Bytes),
    named("uploadSessions", &session::SESSIONS, Form::Json),
    named("uploadTexts", &session::TEXTS, Form::Bytes),
    named("uploadAges", &session::AGES, Form::Bytes),
    named("mediaPieces", &media::PIECES, Form::Body),
    named("mediaGarbage", &media::GARBAGE, Form::Bytes),
    named("pictures", &picture::PICTURES, Form::Body),
    named("pictureGarbage", &picture::GARBAGE, Form::Bytes),
    named("searchDocuments", &index::DOCUMENTS, Form::Json),
    named("searchChanged", &index::CHANGED, Form::Json),
    named("searchPostings", &postings::POSTINGS, Form::Bytes),
    named("searchEntries", &indexer::ENTRIES, Form::Json),
    named("searchNumbers", &indexer::NUMBERS, Form::Json),
    named("searchOrdered", &indexer::ORDERED, Form::Json),
    named("searchTotals", &indexer::TOTALS, Form::Json),
    named("searchSummaries", &summary::SUMMARIES, Form::Bytes),
    named("oauthClients", &grant::CLIENTS, Form::Json),
    named("oauthServiceAccounts", &grant::SERVICE_ACCOUNTS, Form::Json),
    named("oauthGrants", &grant::GRANTS, Form::Json),
    named("oauthSecrets", &grant::SECRETS, Form::Json),
    named("oauthSecretsOf", &grant::SECRETS_OF, Form::Bytes),
    named("oauthIdentity", &token::IDENTITY, Form::Json),
];

impl Named {
    /// The table of a stored key.
    #[must_use]
    pub fn of_key(key: &[u8]) -> Option<&'static Self> {
        let id = key.first()?;
        TABLES.iter().find(|table| table.rows.id() == *id)
    }

    /// The table with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }
}

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Named").field(&self.name).finish()
    }
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
    /// How long the body is whose slices follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<u64>,
    /// Another value, in base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Cow<'a, str>>,
}

/// A line that is a slice of a body.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice<'a> {
    /// Its bytes in base64.
    #[serde(borrow)]
    pub slice: Cow<'a, str>,
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
}

/// The last line: without it the file was cut off.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// How many rows there are.
    pub rows: u64,
    /// The SHA-256 of all lines before this one, in hexadecimal digits.
    pub sha256: String,
}

/// The row as a line, without a line end; `None` if the row is not what its table holds. A body's own slices are not in it.
#[must_use]
pub fn line(table: &Named, key: &[u8], value: &Bytes) -> Option<String> {
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
                let text = String::from_utf8(stored::escape_base(text)).ok()?;
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
    pub fn row(&self) -> Result<(&'static Named, Bytes, Bytes), String> {
        let table = Named::of_name(&self.table)
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
                    (Bytes::copy_from_slice(name.as_bytes()), stored::unescape_base(text))
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
