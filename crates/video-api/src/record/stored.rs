//! A resource as it is stored: a short head that rules read, and the parts as they are served.
//!
//! A list copies the parts' bytes; it does not parse and print them again.

use std::sync::OnceLock;

use bytes::{BufMut, Bytes};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use triptych_core::kv::Record;

use crate::api::response::{PART_DEPTH, Served, escape_base, etag, indented, unescape_base};

/// A head and the served parts.
#[derive(Debug, Clone)]
pub struct Stored<H> {
    /// The head: all that rules, orders and computed parts need.
    pub head: Head<H>,
    parts: Vec<Part>,
    /// The etag that it was stored with, while its parts are those.
    etag: Option<Bytes>,
}

/// A served part.
#[derive(Debug, Clone)]
struct Part {
    name: Bytes,
    /// Compact JSON.
    text: Bytes,
    /// The same as an indented list has it, once that was asked for.
    indented: OnceLock<Bytes>,
}

impl Part {
    const fn new(name: Bytes, text: Bytes) -> Self {
        Self { name, text, indented: OnceLock::new() }
    }
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

/// A head that knows whether it was changed since it was read.
#[derive(Debug, Clone)]
pub struct Head<H> {
    head: H,
    is_changed: bool,
}

impl<H> Head<H> {
    const fn new(head: H) -> Self {
        Self { head, is_changed: false }
    }
}

impl<H> std::ops::Deref for Head<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.head
    }
}

impl<H> std::ops::DerefMut for Head<H> {
    fn deref_mut(&mut self) -> &mut H {
        self.is_changed = true;
        &mut self.head
    }
}

/// Equal is what says the same, whether it was stored or not.
impl<H: PartialEq> PartialEq for Stored<H> {
    fn eq(&self, other: &Self) -> bool {
        *self.head == *other.head && self.parts == other.parts
    }
}

impl<H: Serialize> Stored<H> {
    /// A resource without parts.
    #[must_use]
    pub const fn new(head: H) -> Self {
        Self { head: Head::new(head), parts: Vec::new(), etag: None }
    }

    /// The text of a part, compact JSON.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&Bytes> {
        self.find(name).map(|part| &part.text)
    }

    fn find(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name.as_bytes())
    }

    /// A part as lists have it.
    #[must_use]
    pub fn served(&self, name: &str) -> Option<Served> {
        let part = self.find(name)?;
        let indented = part.indented.get_or_init(|| indented(&part.text, PART_DEPTH));
        Some(Served { text: part.text.clone(), indented: indented.clone() })
    }

    /// A part to read or change; empty if it is not stored.
    #[must_use]
    pub fn value(&self, name: &str) -> Map<String, Value> {
        self.part(name)
            .and_then(|text| serde_json::from_slice(&escape_base(text)).ok())
            .unwrap_or_default()
    }

    /// Replaces a part; an empty one is not stored.
    pub fn set(&mut self, name: &'static str, value: &Map<String, Value>) {
        if value.is_empty() {
            self.parts.retain(|part| part.name != name.as_bytes());
            self.etag = None;
        } else {
            self.set_text(name, Value::Object(value.clone()).to_string());
        }
    }

    /// Replaces a part by its text, with [`BASE`](crate::api::response::BASE) where an address stands for itself.
    pub fn set_text(&mut self, name: &'static str, text: impl Into<Bytes>) {
        let text: Bytes = text.into();
        // serde_json writes the control character as an escape; the shell looks for the byte itself.
        let text = unescape_base(text);
        self.etag = None;
        let part = Part::new(Bytes::from_static(name.as_bytes()), text);
        match self.parts.iter_mut().find(|old| old.name == part.name) {
            Some(old) => *old = part,
            None => self.parts.push(part),
        }
    }

    /// The version: it changes with everything that can be written, and with nothing that is only counted.
    #[must_use]
    pub fn etag(&self) -> String {
        let stored = self.etag.as_deref().filter(|_| !self.head.is_changed);
        match stored.and_then(|etag| std::str::from_utf8(etag).ok()) {
            Some(etag) => etag.to_owned(),
            None => etag(&joined(&self.printed_head(), self.texts())),
        }
    }

    fn texts(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.parts.iter().map(|part| (&part.name, &part.text))
    }

    fn printed_head(&self) -> Vec<u8> {
        serde_json::to_vec(&*self.head).unwrap_or_default()
    }
}

/// Prints an object as the text that is served: compact, with the address' byte in place of its escape.
#[must_use]
pub fn print(map: &Map<String, Value>) -> Bytes {
    let mut stored = Stored::new(());
    stored.set("", map);
    stored.part("").cloned().unwrap_or(Bytes::from_static(b"{}"))
}

/// The name and the text of each part, as it is served.
pub(crate) type Parts = Vec<(Bytes, Bytes)>;

/// Writes a record: its etag, its head, then name and text of each part.
pub(crate) fn pack<'p>(
    out: &mut Vec<u8>,
    head: &[u8],
    parts: impl Iterator<Item = (&'p Bytes, &'p Bytes)>,
) {
    let content = joined(head, parts);
    put(out, etag(&content).as_bytes());
    out.extend_from_slice(&content);
}

fn joined<'p>(head: &[u8], parts: impl Iterator<Item = (&'p Bytes, &'p Bytes)>) -> Vec<u8> {
    let mut out = Vec::with_capacity(4_096);
    put(&mut out, head);
    for (name, text) in parts {
        put(&mut out, name);
        put(&mut out, text);
    }
    out
}

/// The pieces that [`pack`] wrote.
pub(crate) struct Unpacked {
    /// The etag of the rest.
    pub(crate) etag: Bytes,
    /// JSON.
    pub(crate) head: Bytes,
    /// The parts.
    pub(crate) parts: Parts,
}

/// Reads what [`pack`] wrote; `None` if it is not that.
pub(crate) fn unpack(mut bytes: Bytes) -> Option<Unpacked> {
    let (etag, head) = (take(&mut bytes)?, take(&mut bytes)?);
    let mut parts = Vec::with_capacity(8);
    while !bytes.is_empty() {
        parts.push((take(&mut bytes)?, take(&mut bytes)?));
    }
    Some(Unpacked { etag, head, parts })
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    out.extend_from_slice(bytes);
}

fn take(bytes: &mut Bytes) -> Option<Bytes> {
    let length = bytes.get(..4)?.try_into().ok().map(u32::from_be_bytes)?;
    let _ = bytes.split_to(4);
    let length = usize::try_from(length).ok()?;
    (length <= bytes.len()).then(|| bytes.split_to(length))
}

impl<H: Serialize + DeserializeOwned> Record for Stored<H> {
    const FORMAT: u8 = 2;

    fn encode(&self, out: &mut Vec<u8>) {
        pack(out, &self.printed_head(), self.texts());
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        if format != Self::FORMAT {
            return None;
        }
        let Unpacked { etag, head, parts } = unpack(bytes)?;
        let head = Head::new(serde_json::from_slice(&head).ok()?);
        let parts = parts.into_iter();
        Some(Self {
            head,
            parts: parts.map(|(name, text)| Part::new(name, text)).collect(),
            etag: Some(etag),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_with_an_address_reads_back_as_a_value_and_a_meant_backslash_stays() {
        let part = json!({"url": "\u{1}/x", "title": "a \\u0001 b \\\\u0001"});
        let mut stored = Stored::new(7_u8);
        stored.set("snippet", part.as_object().unwrap());
        assert_eq!(Value::Object(stored.value("snippet")), part);
    }

    #[test]
    fn a_resource_reads_back_as_it_was_written() {
        let mut stored = Stored::new(7_u8);
        stored.set("snippet", json!({"title": "a", "url": "\u{1}/x"}).as_object().unwrap());
        stored.set_text("status", "{}");
        let mut bytes = Vec::new();
        stored.encode(&mut bytes);
        let read = Stored::<u8>::decode(2, bytes.clone().into()).unwrap();
        assert_eq!((&read, read.etag()), (&stored, stored.etag()));
        assert_eq!(read.part("snippet").unwrap().as_ref(), b"{\"title\":\"a\",\"url\":\"\x01/x\"}");
        for cut in 1..bytes.len() {
            let _ = Stored::<u8>::decode(2, bytes[..cut].to_vec().into());
        }
    }

    #[test]
    fn what_is_changed_after_it_was_read_has_the_etag_of_what_it_is_now() {
        let mut stored = Stored::new(7_u8);
        stored.set_text("status", "{}");
        let mut bytes = Vec::new();
        stored.encode(&mut bytes);
        let read = || Stored::<u8>::decode(2, bytes.clone().into()).unwrap();
        let etag_of = |head, text: &'static str| {
            let mut other = Stored::new(head);
            other.set_text("status", text);
            other.etag()
        };
        let (mut head, mut part) = (read(), read());
        *head.head = 8;
        part.set_text("status", "[]");
        assert_eq!(read().etag(), etag_of(7, "{}"));
        assert_eq!(head.etag(), etag_of(8, "{}"));
        assert_eq!(part.etag(), etag_of(7, "[]"));
    }

    #[test]
    fn text_that_only_looks_like_the_address_stays_text() {
        let mut stored = Stored::new(());
        stored.set("snippet", json!({"title": "\\u0001"}).as_object().unwrap());
        assert_eq!(stored.part("snippet").unwrap().as_ref(), br#"{"title":"\\u0001"}"#);
    }
}
