//! Tables as an export names them.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use triptych_core::kv::{Key, Record, Table};

/// The form in which the values of a table stand in a line of an export.
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

/// A table by its name in an export.
#[derive(Clone, Copy)]
pub struct TableEntry {
    /// Its name.
    pub name: &'static str,
    /// Its keys.
    pub rows: &'static dyn Rows,
    /// Its values.
    pub form: Form,
}

impl TableEntry {
    /// A table with its name and the form of its values.
    #[must_use]
    pub const fn new(name: &'static str, rows: &'static dyn Rows, form: Form) -> Self {
        Self { name, rows, form }
    }
}

impl std::fmt::Debug for TableEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TableEntry").field(&self.name).finish()
    }
}
