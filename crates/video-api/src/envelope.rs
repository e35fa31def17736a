//! Answers as text: lists with kind, etag, page info and tokens; single resources; etags of 27 characters.
//!
//! Text is compact JSON, and the byte [`BASE`] stands where the address of the service goes: the shell knows it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
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
    /// The text without what stands in its holes, or `None` for 204.
    pub json: Option<Vec<u8>>,
    /// The etag of the whole.
    pub etag: Option<String>,
    /// Where texts belong that were served before, in their order.
    pub holes: Vec<Hole>,
}

/// A place in a text for whole values or members that were written before: they are copied once, in the form that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    at: usize,
    served: Served,
}

/// A text as answers have it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Served {
    /// Compact JSON.
    pub text: Bytes,
    /// The same at its place in the items of a list that is indented; empty if nobody knows.
    pub indented: Bytes,
}

impl Reply {
    /// 204: done, and nothing to say.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            json: None,
            etag: None,
            holes: Vec::new(),
        }
    }

    /// One resource.
    #[must_use]
    pub fn resource(item: &Item) -> Self {
        Self {
            // Alone it is indented less than in a list.
            json: Some(filled(&item.text, &item.holes)),
            etag: Some(item.etag.clone()),
            holes: Vec::new(),
        }
    }
}

/// One resource as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its etag.
    pub etag: String,
    /// Compact JSON, without what stands in its holes.
    pub text: Vec<u8>,
    holes: Vec<Hole>,
    /// What the text follows from beside the request; the text itself if there is none.
    seal: Option<Vec<u8>>,
}

/// How deep the parts of a list's items stand in the list.
pub const PART_DEPTH: usize = 3;

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
            holes: Vec::new(),
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
        self.begin_part(name);
        self.text.extend_from_slice(json);
    }

    /// Adds a part that was served before.
    pub fn served_part(&mut self, name: &str, served: &Served) {
        self.begin_part(name);
        self.served(served);
    }

    /// Adds the name of a part, whose text follows.
    pub fn begin_part(&mut self, name: &str) {
        self.text.extend_from_slice(b",\"");
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    /// Adds an object that is not yet at its end.
    pub fn open(&mut self, object: &Object) {
        self.text.extend_from_slice(&object.0);
    }

    /// Adds text that was served before.
    pub fn served(&mut self, served: &Served) {
        self.holes.push(Hole {
            at: self.text.len(),
            served: served.clone(),
        });
    }

    /// Ends the resource.
    #[must_use]
    pub fn end(mut self) -> Self {
        self.text.push(b'}');
        self
    }

    /// The same, as one that will be served again.
    #[must_use]
    pub fn ready(mut self) -> Self {
        let served = Served {
            text: filled(&self.text, &self.holes).into(),
            indented: printed(&self.text, &[BASE], PART_DEPTH - 1, &self.holes).into(),
        };
        // A list takes the digest of its items' seals: a short one is digested faster.
        let seal = self.seal.as_deref().unwrap_or(&served.text);
        self.seal = Some(etag(seal).into_bytes());
        self.text = Vec::new();
        self.holes = vec![Hole { at: 0, served }];
        self
    }
}

/// A JSON object that is written member by member.
#[derive(Debug)]
pub struct Object(Vec<u8>);

impl Object {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::with_capacity(256))
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        string(&mut self.0, name);
        self.0.push(b':');
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        string(&mut self.0, text);
    }

    /// Adds `true` or `false`.
    pub fn flag(&mut self, name: &str, is: bool) {
        self.name(name);
        self.0
            .extend_from_slice(if is { b"true" } else { b"false" });
    }

    /// Adds any value.
    pub fn value(&mut self, name: &str, value: &impl serde::Serialize) {
        self.name(name);
        // Writing to memory cannot fail, and keys of what is served are text.
        let written = serde_json::to_writer(&mut self.0, value);
        debug_assert!(written.is_ok(), "what is served is JSON");
    }

    /// The text.
    #[must_use]
    pub fn end(mut self) -> Bytes {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0.into()
    }
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
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
    holes: Vec<Hole>,
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
            holes: Vec::new(),
        }
    }

    /// Adds an item.
    pub fn push(&mut self, item: &Item) {
        let whole;
        let seal = match &item.seal {
            Some(seal) => seal,
            None => {
                whole = filled(&item.text, &item.holes);
                &whole
            }
        };
        self.hash.update(seal.len().to_be_bytes());
        self.hash.update(seal);
        self.append(&item.text);
        let start = self.rest.len() - item.text.len();
        self.holes.extend(item.holes.iter().map(|hole| Hole {
            at: hole.at + start,
            served: hole.served.clone(),
        }));
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
        let mut middle = Vec::with_capacity(256);
        let mut write = |pieces: &[&[u8]]| {
            pieces
                .iter()
                .for_each(|piece| middle.extend_from_slice(piece))
        };
        if let Some(paging) = paging {
            for (name, token) in [
                ("nextPageToken", &paging.next),
                ("prevPageToken", &paging.previous),
            ] {
                if let Some(token) = token {
                    write(&[b",\"", name.as_bytes(), b"\":\"", token.as_bytes(), b"\""]);
                }
            }
        }
        for (name, text) in more {
            write(&[b",\"", name.as_bytes(), b"\":", text]);
        }
        if let Some(paging) = paging {
            let (total, size) = (paging.total.to_string(), paging.size.to_string());
            write(&[b",\"pageInfo\":{\"totalResults\":", total.as_bytes()]);
            write(&[b",\"resultsPerPage\":", size.as_bytes(), b"}"]);
        }
        self.hash.update(&middle);
        let etag = URL_SAFE_NO_PAD.encode(self.hash.finalize().get(..20).unwrap_or_default());
        let mut text = Vec::with_capacity(middle.len() + self.rest.len() + 96);
        let (kind, rest) = (self.kind.as_bytes(), self.rest.as_slice());
        for piece in [
            b"{\"kind\":\"youtube#",
            kind,
            b"\",\"etag\":\"",
            etag.as_bytes(),
            b"\"",
            &middle,
        ] {
            text.extend_from_slice(piece);
        }
        let start = text.len();
        text.extend_from_slice(rest);
        text.push(b'}');
        let mut holes = self.holes;
        holes.iter_mut().for_each(|hole| hole.at += start);
        Reply {
            json: Some(text),
            etag: Some(etag),
            holes,
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
    // Without a way out in the middle, so that many bytes are looked at together.
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    let found = |found, byte| found | is_special(byte);
    if !text.bytes().fold(false, found) {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // Writing text to memory cannot fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok(), "text is always JSON");
}

/// Compact JSON as the real service's answers look, indented by two blanks a level and with a blank after colons, and with `base` in every
/// place that stands for it. Its holes are filled.
#[must_use]
pub fn pretty(json: &[u8], base: &str, holes: &[Hole]) -> Vec<u8> {
    let mut out = printed(json, base.as_bytes(), 0, holes);
    out.push(b'\n');
    out
}

/// A value as it looks at this depth of an indented answer, with the sign of the address still in its place.
#[must_use]
pub fn indented(json: &[u8], depth: usize) -> Bytes {
    printed(json, &[BASE], depth, &[]).into()
}

fn printed(json: &[u8], base: &[u8], depth: usize, holes: &[Hole]) -> Vec<u8> {
    let served = holes.iter().map(|hole| hole.served.indented.len());
    let served: usize = served.map(|length| length + 8 * base.len()).sum();
    let mut printer = Printer {
        out: Vec::with_capacity(2 * json.len() + served + 64),
        base,
        depth,
        is_empty: false,
    };
    let mut at = 0;
    for hole in holes {
        printer.print(json.get(at..hole.at).unwrap_or_default());
        match &hole.served {
            Served { text, indented } if indented.is_empty() => printer.print(text),
            Served { indented, .. } => put_base(indented, base, &mut printer.out),
        }
        at = hole.at;
    }
    printer.print(json.get(at..).unwrap_or_default());
    printer.out
}

/// A text with what stands in its holes.
#[must_use]
pub fn filled(json: &[u8], holes: &[Hole]) -> Vec<u8> {
    let served: usize = holes.iter().map(|hole| hole.served.text.len()).sum();
    let mut out = Vec::with_capacity(json.len() + served);
    let mut at = 0;
    for hole in holes {
        out.extend_from_slice(json.get(at..hole.at).unwrap_or_default());
        out.extend_from_slice(&hole.served.text);
        at = hole.at;
    }
    out.extend_from_slice(json.get(at..).unwrap_or_default());
    out
}

/// Compact JSON on its way to indented text. It may come in pieces, which do not end within a string.
struct Printer<'b> {
    out: Vec<u8>,
    base: &'b [u8],
    depth: usize,
    /// Whether the brace or bracket that was opened last is closed at once.
    is_empty: bool,
}

impl Printer<'_> {
    fn print(&mut self, json: &[u8]) {
        let mut rest = json;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'"' => {
                    self.out.push(byte);
                    rest = copy_string(after, self.base, &mut self.out);
                }
                b'{' | b'[' => {
                    self.out.push(byte);
                    self.depth += 1;
                    self.is_empty = matches!(rest.first(), Some(b'}' | b']'));
                    if !self.is_empty {
                        line(&mut self.out, self.depth);
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if !std::mem::take(&mut self.is_empty) {
                        line(&mut self.out, self.depth);
                    }
                    self.out.push(byte);
                }
                b',' => {
                    self.out.push(byte);
                    line(&mut self.out, self.depth);
                }
                b':' => self.out.extend_from_slice(b": "),
                _ => self.out.push(byte),
            }
        }
    }
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
fn copy_string<'t>(mut text: &'t [u8], base: &[u8], out: &mut Vec<u8>) -> &'t [u8] {
    while let Some(at) = memchr::memchr3(b'"', b'\\', BASE, text) {
        let (before, from) = text.split_at(at);
        out.extend_from_slice(before);
        let taken = match from {
            [BASE, ..] => {
                out.extend_from_slice(base);
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
    if memchr::memchr(BASE, &json).is_none() {
        return json;
    }
    let mut out = Vec::with_capacity(json.len() + 8 * base.len());
    put_base(&json, base.as_bytes(), &mut out);
    out
}

/// Appends `json` with `base` in every place that stands for it.
fn put_base(json: &[u8], base: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for at in memchr::memchr_iter(BASE, json) {
        out.extend_from_slice(json.get(copied..at).unwrap_or_default());
        out.extend_from_slice(base);
        copied = at + 1;
    }
    out.extend_from_slice(json.get(copied..).unwrap_or_default());
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
        let pretty = pretty(json, "", &[]);
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
        let indented = pretty(b"{\"a\":\"\x01/a\\\"\x01\"}", "http://h", &[]);
        assert_eq!(indented, b"{\n  \"a\": \"http://h/a\\\"http://h\"\n}\n");
        assert_eq!(
            with_base(b"\"\x01/a\",\"\x01\"".to_vec(), "http://h"),
            b"\"http://h/a\",\"http://h\""
        );
    }

    #[test]
    fn what_was_served_before_looks_as_if_it_were_written_now() {
        let part = br#"{"title":"a","urls":["\x01/a"],"none":{}}"#;
        let part: Vec<u8> = part.to_vec();
        let served = Served {
            text: part.clone().into(),
            indented: indented(&part, PART_DEPTH),
        };
        let inner = Served {
            text: br#""b":1,"c":{"d":[]}"#.as_slice().into(),
            indented: b"\"b\": 1,\n        \"c\": {\n          \"d\": []\n        }"
                .as_slice()
                .into(),
        };
        let mut list = List::new("videoListResponse");
        for id in ["v", "w"] {
            let mut item = Item::begin("video", "e", Some(id));
            item.served_part("snippet", &served);
            item.begin_part("status");
            item.text.extend_from_slice(b"{\"a\":\"x\",");
            item.served(&inner);
            item.text.push(b'}');
            let item = item.end();
            list.push(&item);
            if id == "w" {
                list.push(&item.ready());
            }
        }
        let reply = list.end(Some(&Paging::default()));
        let json = reply.json.unwrap();
        assert_eq!(reply.holes.len(), 4 + 1);
        let whole = filled(&json, &reply.holes);
        assert_eq!(
            String::from_utf8(pretty(&json, "http://h", &reply.holes)),
            String::from_utf8(pretty(&whole, "http://h", &[]))
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
