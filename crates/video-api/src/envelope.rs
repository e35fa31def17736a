//! Answers as text: lists with kind, etag, page info and tokens; single resources; etags of 27 characters.
//!
//! Text is compact JSON, and the byte [`BASE`] stands where the address of the service goes: the shell knows it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Stands for the address of the service in stored and rendered text. JSON never holds this byte by itself.
pub const BASE: u8 = 0x01;

/// The etag of these bytes: 27 characters of URL-safe base64 (20 bytes of a SHA-256).
#[must_use]
pub fn etag(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    URL_SAFE_NO_PAD.encode(digest.get(..20).unwrap_or_default())
}

/// What an operation answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The text, or `None` for 204.
    pub json: Option<Vec<u8>>,
    /// The etag of the whole.
    pub etag: Option<String>,
}

impl Reply {
    /// 204: done, and nothing to say.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            json: None,
            etag: None,
        }
    }

    /// One resource.
    #[must_use]
    pub fn resource(item: &Item) -> Self {
        Self {
            json: Some(item.text.clone()),
            etag: Some(item.etag.clone()),
        }
    }
}

/// One resource as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its etag.
    pub etag: String,
    /// Compact JSON.
    pub text: Vec<u8>,
    /// What the text follows from beside the request; the text itself if there is none.
    seal: Option<Vec<u8>>,
}

impl Item {
    /// Begins a resource: kind, etag and id.
    #[must_use]
    pub fn begin(kind: &str, etag: &str, id: Option<&str>) -> Self {
        let mut text = Vec::with_capacity(1_024);
        text.extend_from_slice(b"{\"kind\":\"youtube#");
        text.extend_from_slice(kind.as_bytes());
        text.extend_from_slice(b"\",\"etag\":\"");
        text.extend_from_slice(etag.as_bytes());
        text.push(b'"');
        if let Some(id) = id {
            text.extend_from_slice(b",\"id\":");
            string(&mut text, id);
        }
        Self {
            etag: etag.to_owned(),
            text,
            seal: None,
        }
    }

    /// Says what the text follows from beside its etag and the request, so that a list need not read it again for its own etag.
    #[must_use]
    pub fn sealed(mut self, more: impl std::hash::Hash) -> Self {
        let mut seal = Seal(self.etag.clone().into_bytes());
        more.hash(&mut seal);
        self.seal = Some(seal.0);
        self
    }

    /// Adds a part, whose text is compact JSON.
    pub fn part(&mut self, name: &str, json: &[u8]) {
        self.text.extend_from_slice(b",\"");
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
        self.text.extend_from_slice(json);
    }

    /// Ends the resource.
    #[must_use]
    pub fn end(mut self) -> Self {
        self.text.push(b'}');
        self
    }
}

/// Gathers what is hashed, as bytes.
struct Seal(Vec<u8>);

impl std::hash::Hasher for Seal {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// A list that is being written.
#[derive(Debug)]
pub struct List {
    kind: &'static str,
    rest: Vec<u8>,
    hash: Sha256,
    items: usize,
}

impl List {
    /// A list of this kind (`videoListResponse`) without items.
    #[must_use]
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            rest: b",\"items\":[".to_vec(),
            hash: Sha256::new_with_prefix(kind),
            items: 0,
        }
    }

    /// Adds an item.
    pub fn push(&mut self, item: &Item) {
        self.hash.update(item.text.len().to_be_bytes());
        self.hash.update(item.seal.as_ref().unwrap_or(&item.text));
        self.append(&item.text);
    }

    /// Adds an item that is text already.
    pub fn push_text(&mut self, text: &[u8]) {
        self.hash.update(text);
        self.append(text);
    }

    fn append(&mut self, text: &[u8]) {
        if self.items > 0 {
            self.rest.push(b',');
        }
        self.rest.extend_from_slice(text);
        self.items += 1;
    }

    /// How many items there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The answer: tokens and page info stand before the items.
    #[must_use]
    pub fn end(self, paging: Option<&Paging>) -> Reply {
        self.end_with(paging, &[])
    }

    /// The answer, with more members of the envelope: names, and texts that are compact JSON.
    #[must_use]
    pub fn end_with(mut self, paging: Option<&Paging>, more: &[(&str, Vec<u8>)]) -> Reply {
        self.rest.push(b']');
        let mut middle = Vec::new();
        if let Some(paging) = paging {
            for (name, token) in [
                ("nextPageToken", &paging.next),
                ("prevPageToken", &paging.previous),
            ] {
                if let Some(token) = token {
                    middle.extend_from_slice(format!(",\"{name}\":\"{token}\"").as_bytes());
                }
            }
        }
        for (name, text) in more {
            middle.extend_from_slice(format!(",\"{name}\":").as_bytes());
            middle.extend_from_slice(text);
        }
        if let Some(paging) = paging {
            let (total, size) = (paging.total, paging.size);
            middle.extend_from_slice(
                format!(",\"pageInfo\":{{\"totalResults\":{total},\"resultsPerPage\":{size}}}")
                    .as_bytes(),
            );
        }
        self.hash.update(&middle);
        let etag = URL_SAFE_NO_PAD.encode(self.hash.finalize().get(..20).unwrap_or_default());
        let mut text = Vec::with_capacity(middle.len() + self.rest.len() + 80);
        text.extend_from_slice(
            format!("{{\"kind\":\"youtube#{}\",\"etag\":\"{etag}\"", self.kind).as_bytes(),
        );
        text.extend_from_slice(&middle);
        text.extend_from_slice(&self.rest);
        text.push(b'}');
        Reply {
            json: Some(text),
            etag: Some(etag),
        }
    }
}

/// What a list says of its pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paging {
    /// The token of the page after this one.
    pub next: Option<String>,
    /// The token of the page before this one.
    pub previous: Option<String>,
    /// How many items all pages have together.
    pub total: u64,
    /// How many items a page has at most.
    pub size: u32,
}

/// Appends `text` as a JSON string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    // Writing text to memory cannot fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok(), "text is always JSON");
}

/// Compact JSON as the real service's answers look, indented by two blanks a level and with a blank after colons, and with `base` in every
/// place that stands for it.
#[must_use]
pub fn pretty(json: &[u8], base: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut rest) = (0_usize, json);
    let mut is_empty = false;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => {
                out.push(byte);
                rest = copy_string(after, base, &mut out);
            }
            b'{' | b'[' => {
                out.push(byte);
                depth += 1;
                is_empty = matches!(rest.first(), Some(b'}' | b']'));
                if !is_empty {
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if !std::mem::take(&mut is_empty) {
                    line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
    }
    out.push(b'\n');
    out
}

/// Begins a line.
fn line(out: &mut Vec<u8>, depth: usize) {
    const LINE: &[u8] = b"\n                                ";
    match LINE.get(..=depth * 2) {
        Some(line) => out.extend_from_slice(line),
        None => {
            out.push(b'\n');
            out.resize(out.len() + depth * 2, b' ');
        }
    }
}

/// Copies a string whose first quotation mark is over, and gives what follows its last one.
fn copy_string<'t>(mut text: &'t [u8], base: &str, out: &mut Vec<u8>) -> &'t [u8] {
    while let Some(at) = memchr::memchr3(b'"', b'\\', BASE, text) {
        let (before, from) = text.split_at(at);
        out.extend_from_slice(before);
        let taken = match from {
            [BASE, ..] => {
                out.extend_from_slice(base.as_bytes());
                1
            }
            [b'\\', escaped, ..] => {
                out.extend_from_slice(&[b'\\', *escaped]);
                2
            }
            _ => {
                out.push(b'"');
                return from.get(1..).unwrap_or_default();
            }
        };
        text = from.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(text);
    &[]
}

/// `json` with `base` in every place that stands for it.
#[must_use]
pub fn with_base(json: Vec<u8>, base: &str) -> Vec<u8> {
    let mut places = memchr::memchr_iter(BASE, &json).peekable();
    if places.peek().is_none() {
        return json;
    }
    let mut out = Vec::with_capacity(json.len() + 8 * base.len());
    let mut copied = 0;
    for at in places {
        out.extend_from_slice(json.get(copied..at).unwrap_or_default());
        out.extend_from_slice(base.as_bytes());
        copied = at + 1;
    }
    out.extend_from_slice(json.get(copied..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_etag_has_27_characters_and_follows_the_content() {
        assert_eq!(etag(b"a").len(), 27);
        assert_ne!(etag(b"a"), etag(b"b"));
        let list = |text: &[u8]| {
            let mut list = List::new("videoListResponse");
            list.push_text(text);
            list.end(None).etag
        };
        assert_eq!(list(b"{}"), list(b"{}"));
        assert_ne!(list(b"{}"), list(b"{\"a\":1}"));
    }

    #[test]
    fn pretty_text_says_the_same_as_compact_text() {
        let json = br#"{"a":"x,{\"}:","b":[],"c":{},"d":[1,{"e":null}]}"#;
        let pretty = pretty(json, "");
        let (a, b): (serde_json::Value, serde_json::Value) = (
            serde_json::from_slice(json).unwrap(),
            serde_json::from_slice(&pretty).unwrap(),
        );
        assert_eq!(a, b);
        assert!(
            String::from_utf8(pretty)
                .unwrap()
                .starts_with("{\n  \"a\": \"x,{\\\"}:\",\n  \"b\": [],\n")
        );
    }

    #[test]
    fn the_address_is_put_in_its_places() {
        let indented = pretty(b"{\"a\":\"\x01/a\\\"\x01\"}", "http://h");
        assert_eq!(indented, b"{\n  \"a\": \"http://h/a\\\"http://h\"\n}\n");
        assert_eq!(
            with_base(b"\"\x01/a\",\"\x01\"".to_vec(), "http://h"),
            b"\"http://h/a\",\"http://h\""
        );
    }

    #[test]
    fn a_page_says_where_its_neighbours_are() {
        let mut list = List::new("videoListResponse");
        list.push(&Item::begin("video", "e", Some("v")).end());
        let paging = Paging {
            next: Some("N".into()),
            previous: Some("P".into()),
            total: 7,
            size: 5,
        };
        let value: serde_json::Value =
            serde_json::from_slice(&list.end(Some(&paging)).json.unwrap()).unwrap();
        assert_eq!(value["nextPageToken"], "N");
        assert_eq!(value["pageInfo"]["totalResults"], 7);
        assert_eq!(value["items"][0]["id"], "v");
    }
}
