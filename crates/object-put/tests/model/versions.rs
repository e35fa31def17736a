//! The plain model: the versions, objects and uploads that the buckets should hold.

use std::collections::BTreeMap;

use crate::encryption::MODES;
use crate::service::Draft;

/// The bytes of an object and its mode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: usize,
}

/// A version as the model has it: its id, and its body or `None` for a delete marker.
pub(crate) type Entry = (String, Option<Body>);

/// An unfinished upload as the model has it.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) key: &'static str,
    pub(crate) id: String,
    pub(crate) mode: usize,
    /// Tags and bytes of its parts.
    pub(crate) parts: BTreeMap<u32, (String, Vec<u8>)>,
}

/// The versions that the bucket should hold.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// True if the bucket keeps versions; `None` before that was ever set.
    pub(crate) versioning: Option<bool>,
    pub(crate) keys: BTreeMap<&'static str, Vec<Entry>>,
    /// The objects of the directory bucket.
    pub(crate) directory: BTreeMap<&'static str, Vec<u8>>,
    pub(crate) uploads: Vec<Upload>,
}

impl Model {
    pub(crate) fn current(&self, key: &str) -> Option<&Body> {
        self.keys.get(key)?.first()?.1.as_ref()
    }

    /// Puts a version, or a marker, on top of a key.
    pub(crate) fn push(&mut self, key: &'static str, id: Option<&str>, body: Option<Body>) {
        let entries = self.keys.entry(key).or_default();
        let id = id.filter(|_| self.versioning == Some(true)).unwrap_or("null");
        entries.retain(|(own, _)| id != "null" || own != "null");
        entries.insert(0, (id.to_owned(), body));
    }
}

impl Upload {
    pub(crate) fn target(&self) -> String {
        format!("/enforced/{}?uploadId={}", self.key, self.id)
    }

    pub(crate) fn part(&self, number: u32, bytes: &[u8]) -> Draft {
        let draft = Draft::put(&format!("{}&partNumber={number}", self.target()), bytes);
        MODES[self.mode].1(draft)
    }
}
