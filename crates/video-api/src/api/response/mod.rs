//! Answers as text: lists with kind, etag, page info and tokens; single resources; etags of 27 characters.
//!
//! Text is compact JSON, and the byte [`BASE`] stands where the address of the service goes: the shell knows it.

pub(crate) mod address;
pub mod download;
mod print;

pub use address::BASE;
pub(crate) use address::{escape_base, unescape_base};
use download::Download;
pub use print::{filled, indented, pretty, with_base};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::schema::Shape;

/// The etag of these bytes: 27 characters of URL-safe base64 (20 bytes of a SHA-256).
#[must_use]
pub fn etag(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    URL_SAFE_NO_PAD.encode(digest.get(..20).unwrap_or_default())
}

/// The answer of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The text without its splices, or `None` for 204.
    pub json: Option<Vec<u8>>,
    /// The etag of the whole.
    pub etag: Option<String>,
    /// The places of texts that were served before, in their order.
    pub splices: Vec<Splice>,
    /// True if it will be another later, though nothing is written.
    pub is_time_dependent: bool,
    /// A file in the place of all that.
    pub download: Option<Download>,
}

/// A place in a text for whole values or members that were written before: they are copied once, in the form that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
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
            splices: Vec::new(),
            is_time_dependent: false,
            download: None,
        }
    }

    /// One resource.
    #[must_use]
    pub fn resource(item: &Item) -> Self {
        Self {
            // Alone it is indented less than in a list.
            json: Some(filled(&item.text, &item.splices)),
            etag: Some(item.etag.clone()),
            splices: Vec::new(),
            is_time_dependent: item.is_time_dependent,
            download: None,
        }
    }
}

/// One resource as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its etag.
    pub etag: String,
    /// Compact JSON without its splices.
    pub text: Vec<u8>,
    splices: Vec<Splice>,
    /// The input that the text follows from beside the request; the text itself if there is none.
    etag_input: Option<Vec<u8>>,
    is_time_dependent: bool,
}

/// The depth of the parts of a list's items in the list.
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
            splices: Vec::new(),
            etag_input: None,
            is_time_dependent: false,
        }
    }

    /// Says that the resource will be another later, though nothing of it is written.
    #[must_use]
    pub const fn time_dependent(mut self) -> Self {
        self.is_time_dependent = true;
        self
    }

    /// Says what the text follows from beside its etag and the request, so that a list need not read it again for its own etag.
    #[must_use]
    pub fn etag_input(mut self, more: impl std::hash::Hash) -> Self {
        self.etag_input = Some(bytes_of((&self.etag, more)));
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
        self.splices.push(Splice { at: self.text.len(), served: served.clone() });
    }

    /// Ends the resource.
    #[must_use]
    pub fn end(mut self) -> Self {
        self.text.push(b'}');
        self
    }

    /// The same, as one that will be served again.
    #[must_use]
    pub fn prerendered(mut self) -> Self {
        let served = Served {
            text: filled(&self.text, &self.splices).into(),
            indented: print::printed(&self.text, &[BASE], PART_DEPTH - 1, &self.splices).into(),
        };
        // A list takes the digest of its items' etag inputs: a short one is digested faster.
        let etag_input = self.etag_input.as_deref().unwrap_or(&served.text);
        self.etag_input = Some(etag(etag_input).into_bytes());
        self.text = Vec::new();
        self.splices = vec![Splice { at: 0, served }];
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
        self.0.extend_from_slice(if is { b"true" } else { b"false" });
    }

    /// Adds a value that is compact JSON already.
    pub fn json(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.0.extend_from_slice(json);
    }

    /// Adds an address of the service itself: `path` begins with a slash and needs no escape.
    pub fn address(&mut self, name: &str, path: &str) {
        self.name(name);
        self.0.extend_from_slice(&[b'"', BASE]);
        self.0.extend_from_slice(path.as_bytes());
        self.0.push(b'"');
    }

    /// Adds any value.
    pub fn value(&mut self, name: &str, value: &impl serde::Serialize) {
        self.name(name);
        // Writing to memory cannot fail, and keys of what is served are text.
        let written = serde_json::to_vec(value);
        debug_assert!(written.is_ok(), "what is served is JSON");
        self.0.extend_from_slice(&unescape_base(written.unwrap_or_default().into()));
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

/// Bytes that tell a value from all others of its type.
pub(crate) fn bytes_of(value: impl std::hash::Hash) -> Vec<u8> {
    /// Gathers what is hashed.
    struct Gather(Vec<u8>);

    impl std::hash::Hasher for Gather {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }

        fn finish(&self) -> u64 {
            0
        }
    }

    let mut gather = Gather(Vec::with_capacity(256));
    value.hash(&mut gather);
    gather.0
}

/// A list that is being written.
#[derive(Debug)]
pub struct List {
    kind: &'static str,
    rest: Vec<u8>,
    hash: Sha256,
    items: usize,
    splices: Vec<Splice>,
    is_time_dependent: bool,
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
            splices: Vec::new(),
            is_time_dependent: false,
        }
    }

    /// The same, shown in this form: the etags of two forms of the same items differ.
    #[must_use]
    pub fn of(kind: &'static str, form: impl std::hash::Hash) -> Self {
        let mut list = Self::new(kind);
        list.hash.update(bytes_of(form));
        list
    }

    /// Adds an item.
    pub fn push(&mut self, item: &Item) {
        let whole;
        let etag_input = match &item.etag_input {
            Some(etag_input) => etag_input,
            None => {
                whole = filled(&item.text, &item.splices);
                &whole
            }
        };
        self.hash.update(etag_input.len().to_be_bytes());
        self.hash.update(etag_input);
        self.is_time_dependent |= item.is_time_dependent;
        self.append(&item.text);
        let start = self.rest.len() - item.text.len();
        self.splices.extend(
            item.splices
                .iter()
                .map(|splice| Splice { at: splice.at + start, served: splice.served.clone() }),
        );
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

    /// Number of items.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items
    }

    /// Returns whether there is none.
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
        let mut write =
            |pieces: &[&[u8]]| pieces.iter().for_each(|piece| middle.extend_from_slice(piece));
        if let Some(paging) = paging {
            // Some lists are read forwards alone: their type has no member for the way back.
            let previous = paging.previous.as_ref().filter(|_| names_previous_page(self.kind));
            for (name, token) in
                [("nextPageToken", paging.next.as_ref()), ("prevPageToken", previous)]
            {
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
        for piece in
            [b"{\"kind\":\"youtube#", kind, b"\",\"etag\":\"", etag.as_bytes(), b"\"", &middle]
        {
            text.extend_from_slice(piece);
        }
        let start = text.len();
        text.extend_from_slice(rest);
        text.push(b'}');
        let mut splices = self.splices;
        splices.iter_mut().for_each(|splice| splice.at += start);
        Reply {
            json: Some(text),
            etag: Some(etag),
            splices,
            is_time_dependent: self.is_time_dependent,
            download: None,
        }
    }
}

/// Tells whether the type of a list of this kind has a member for the token of the page before.
fn names_previous_page(kind: &str) -> bool {
    let (first, rest) = kind.split_at_checked(1).unwrap_or_default();
    let name = format!("{}{rest}", first.to_ascii_uppercase());
    Shape::named(&name).is_some_and(|of| of.member("prevPageToken").is_some())
}

/// The words of a list about its pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paging {
    /// The token of the page after this one.
    pub next: Option<String>,
    /// The token of the page before this one.
    pub previous: Option<String>,
    /// Number of items that all pages have together.
    pub total: u64,
    /// Number of items that a page has at most.
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
    // VideoPatch text to memory cannot fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok(), "text is always JSON");
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
        let shown = |parts: &[&str]| List::of("videoListResponse", parts).end(None).etag;
        assert_eq!(shown(&["id"]), shown(&["id"]));
        assert_ne!(shown(&["id"]), shown(&["id", "snippet"]));
    }

    #[test]
    fn a_list_names_a_previous_page_only_where_its_type_has_a_member_for_it() {
        let paging =
            Paging { next: Some("N".into()), previous: Some("P".into()), total: 7, size: 5 };
        for (kind, is_named) in [
            ("videoListResponse", true),
            ("playlistItemListResponse", true),
            ("commentListResponse", false),
            ("commentThreadListResponse", false),
            ("memberListResponse", false),
        ] {
            let text = List::new(kind).end(Some(&paging)).json.unwrap();
            let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
            assert_eq!(json["nextPageToken"], "N", "{kind}");
            assert_eq!(json.get("prevPageToken").is_some(), is_named, "{kind}");
        }
    }

    #[test]
    fn what_was_served_before_looks_as_if_it_were_written_now() {
        let part = br#"{"title":"a","urls":["\x01/a"],"none":{}}"#;
        let part: Vec<u8> = part.to_vec();
        let served = Served { text: part.clone().into(), indented: indented(&part, PART_DEPTH) };
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
                list.push(&item.prerendered());
            }
        }
        let reply = list.end(Some(&Paging::default()));
        let json = reply.json.unwrap();
        assert_eq!(reply.splices.len(), 4 + 1);
        let whole = filled(&json, &reply.splices);
        assert_eq!(
            String::from_utf8(pretty(&json, "http://h", &reply.splices)),
            String::from_utf8(pretty(&whole, "http://h", &[]))
        );
    }

    #[test]
    fn a_page_says_where_its_neighbours_are() {
        let mut list = List::new("videoListResponse");
        list.push(&Item::begin("video", "e", Some("v")).end());
        let paging =
            Paging { next: Some("N".into()), previous: Some("P".into()), total: 7, size: 5 };
        let value: serde_json::Value =
            serde_json::from_slice(&list.end(Some(&paging)).json.unwrap()).unwrap();
        assert_eq!(value["nextPageToken"], "N");
        assert_eq!(value["pageInfo"]["totalResults"], 7);
        assert_eq!(value["items"][0]["id"], "v");
    }
}
