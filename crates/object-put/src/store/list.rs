//! Listings: which keys, versions and common prefixes a page shows. A page costs what it shows: a common prefix is one
//! look-up, however many keys it stands for.

use std::collections::VecDeque;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use triptych_core::kv::{Page, RollUp, Span, StoreError, TEXT_END, Tx, text_prefix};

use crate::error::Error;
use crate::store::tables::{CURRENT, NONCURRENT, version_place};
use crate::store::version::ObjectVersion;

/// The most entries of a page.
pub const PAGE_MAX: usize = 1000;
/// Greater than any byte that follows in a key: keys are UTF-8, and their ends are written as zeros.
pub(super) const BEYOND: u8 = 0xFF;

/// The start of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StartAfter {
    /// At the first key.
    #[default]
    Start,
    /// After this key and all its versions.
    Key(String),
    /// After the place of this version of this key, given by its sequence, whether it is still there or not.
    Version(String, u64),
    /// After all keys that start so.
    Prefix(String),
}

impl StartAfter {
    /// The start of the page after an entry called `text`: after the whole common prefix, if it rolls up to one.
    #[must_use]
    pub fn entry(text: String, prefix: &str, delimiter: &str) -> Self {
        match common_prefix(&text, prefix, delimiter) {
            Some(group) => Self::Prefix(group.to_owned()),
            None => Self::Key(text),
        }
    }

    /// Tells whether a version of the key that a version marker names stands before the marker's place.
    fn is_past(&self, key: &str, version: &ObjectVersion) -> bool {
        let Self::Version(marker, sequence) = self else {
            return false;
        };
        version.version.sequence >= *sequence && key == marker
    }

    /// The token by which a client asks to go on here; empty at the start.
    #[must_use]
    pub fn token(&self) -> String {
        let (kind, text) = match self {
            Self::Key(key) | Self::Version(key, _) => ('k', key),
            Self::Prefix(prefix) => ('p', prefix),
            Self::Start => return String::new(),
        };
        URL_SAFE_NO_PAD.encode(format!("{kind}{text}"))
    }

    /// Reads what [`StartAfter::token`] gave; `None` for anything else.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        match text.split_at_checked(1)? {
            ("k", key) => Some(Self::Key(key.to_owned())),
            ("p", prefix) => Some(Self::Prefix(prefix.to_owned())),
            _ => None,
        }
    }
}

/// The request for a page.
#[derive(Debug, Clone)]
pub struct PageRequest<'a> {
    /// The number of the bucket.
    pub bucket: u64,
    /// The start that keys must have.
    pub prefix: &'a str,
    /// Keys that go on to it after the prefix are one entry; empty for none.
    pub delimiter: &'a str,
    /// Its start.
    pub after: StartAfter,
    /// The most entries that it has.
    pub most: usize,
    /// True if it shows all versions and delete markers.
    pub versions: bool,
}

/// An entry of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListEntry {
    /// A version of a key.
    Version {
        /// The key.
        key: String,
        /// The version.
        version: ObjectVersion,
        /// True if it is the key's newest.
        is_latest: bool,
    },
    /// All keys that start so.
    Prefix(String),
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListPage {
    /// Its entries, in the order of their bytes.
    pub entries: Vec<ListEntry>,
    /// The start of the next page; `None` if this is the last one.
    pub next: Option<StartAfter>,
}

/// The part of `key` that stands for it under this prefix and delimiter, if it rolls up.
#[must_use]
pub fn common_prefix<'k>(key: &'k str, prefix: &str, delimiter: &str) -> Option<&'k str> {
    if delimiter.is_empty() {
        return None;
    }
    let at = key.strip_prefix(prefix)?.find(delimiter)?;
    key.get(..prefix.len() + at + delimiter.len())
}

/// Reads a page.
///
/// # Errors
/// As scans of the store.
pub fn page(tx: &mut Tx<'_>, request: &PageRequest<'_>) -> Result<ListPage, Error> {
    let mut page = ListPage::default();
    if request.most == 0 {
        return Ok(page);
    }
    let mut rows = Rows::new(request);
    let mut newest = match &request.after {
        StartAfter::Version(key, sequence) if has_since(tx, request.bucket, key, *sequence)? => {
            Some(key.clone())
        }
        _ => None,
    };
    let mut last = None;
    while let Some((key, version)) = rows.next(tx)? {
        if request.after.is_past(&key, &version) {
            continue;
        }
        if page.entries.len() == request.most {
            page.next = last;
            break;
        }
        if let Some(group) = common_prefix(&key, request.prefix, request.delimiter) {
            rows.skip(group);
            page.entries.push(ListEntry::Prefix(group.to_owned()));
            last = Some(StartAfter::Prefix(group.to_owned()));
            continue;
        }
        let is_latest = newest.as_ref() != Some(&key);
        newest = Some(key.clone());
        last = Some(if request.versions {
            StartAfter::Version(key.clone(), version.version.sequence)
        } else {
            StartAfter::Key(key.clone())
        });
        page.entries.push(ListEntry::Version { key, version, is_latest });
    }
    Ok(page)
}

/// Rows of a table whose keys end with a text and a place; where there is a delimiter, of those that are one entry the first alone.
pub(super) fn rolled_up(
    tx: &mut Tx<'_>,
    span: &Span,
    delimiter: &[u8],
    most: usize,
) -> Result<Page, StoreError> {
    if delimiter.is_empty() {
        return tx.scan(span, most);
    }
    tx.scan_rolled_up(span, &RollUp { delimiter, end: &TEXT_END }, most)
}

/// Tells whether a key has a version at the place `sequence`, or a newer one.
fn has_since(tx: &mut Tx<'_>, bucket: u64, key: &str, sequence: u64) -> Result<bool, Error> {
    let place = (bucket, key.as_bytes().to_vec());
    let (current, newest) = (CURRENT.span(&place), NONCURRENT.span(&place));
    let pages = tx.scan_many(&[(&current, 1), (&newest, 1)])?;
    let current = pages.first().into_iter().flat_map(|page| &page.rows);
    let newest = pages.get(1).into_iter().flat_map(|page| &page.rows);
    let current = current.map(|(key, row)| CURRENT.decode(key, row));
    let mut versions = current.chain(newest.map(|(key, row)| NONCURRENT.decode(key, row)));
    versions.try_fold(false, |found, row| Ok(found || row?.version.sequence >= sequence))
}

/// The rows of a listing in their order: of each key the current object, then the others, newest first.
struct Rows {
    current: Cursor,
    noncurrent: Option<Cursor>,
}

impl Rows {
    fn new(request: &PageRequest<'_>) -> Self {
        Self {
            current: Cursor::new(request, VersionTable::Current),
            noncurrent: request.versions.then(|| Cursor::new(request, VersionTable::Noncurrent)),
        }
    }

    fn next(&mut self, tx: &mut Tx<'_>) -> Result<Option<(String, ObjectVersion)>, Error> {
        let Some(noncurrent) = &mut self.noncurrent else {
            self.current.fill(tx)?;
            return Ok(self.current.rows.pop_front());
        };
        self.current.fill(tx)?;
        noncurrent.fill(tx)?;
        let first = match (self.current.rows.front(), noncurrent.rows.front()) {
            (Some((current, _)), Some((other, _))) => current <= other,
            (current, _) => current.is_some(),
        };
        Ok(if first { self.current.rows.pop_front() } else { noncurrent.rows.pop_front() })
    }

    /// Leaves out all rows whose key starts with `group`.
    fn skip(&mut self, group: &str) {
        self.current.skip(group);
        if let Some(noncurrent) = &mut self.noncurrent {
            noncurrent.skip(group);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionTable {
    Current,
    Noncurrent,
}

/// Rows of one table, read some at a time.
struct Cursor {
    table: VersionTable,
    /// The start of the bucket's rows.
    base: Vec<u8>,
    /// The delimiter as keys have it; empty for none.
    delimiter: Vec<u8>,
    span: Span,
    rows: VecDeque<(String, ObjectVersion)>,
    step: usize,
    more: bool,
}

impl Cursor {
    fn new(request: &PageRequest<'_>, table: VersionTable) -> Self {
        let base = match table {
            VersionTable::Current => CURRENT.span(&request.bucket).prefix,
            VersionTable::Noncurrent => NONCURRENT.span(&request.bucket).prefix,
        };
        let mut prefix = base.clone();
        text_prefix(request.prefix.as_bytes(), &mut prefix);
        let mut delimiter = Vec::new();
        text_prefix(request.delimiter.as_bytes(), &mut delimiter);
        let (span, rows, step) = (Span::of(prefix), VecDeque::new(), request.most + 1);
        let mut cursor = Self { table, base, delimiter, span, rows, step, more: true };
        cursor.span.from = match &request.after {
            StartAfter::Start => None,
            StartAfter::Prefix(group) => Some(cursor.beyond(group)),
            StartAfter::Key(key) => Some(cursor.beyond_key(key)),
            StartAfter::Version(key, sequence) if table == VersionTable::Noncurrent => {
                let place = (request.bucket, key.as_bytes().to_vec(), version_place(*sequence));
                Some(NONCURRENT.key(&place).to_vec())
            }
            // What follows the marker may have become current since, where what stood before it was deleted.
            StartAfter::Version(key, _) => Some(cursor.before_key(key)),
        };
        cursor
    }

    fn beyond(&self, group: &str) -> Vec<u8> {
        let mut bound = self.base.clone();
        text_prefix(group.as_bytes(), &mut bound);
        bound.push(BEYOND);
        bound
    }

    fn before_key(&self, key: &str) -> Vec<u8> {
        let mut bound = self.base.clone();
        text_prefix(key.as_bytes(), &mut bound);
        // The start of the end of a key.
        bound.push(0);
        bound
    }

    fn beyond_key(&self, key: &str) -> Vec<u8> {
        let mut bound = self.base.clone();
        text_prefix(key.as_bytes(), &mut bound);
        // The end of a key, then more than any version's place.
        bound.extend_from_slice(&[0, 1]);
        bound.extend_from_slice(&[BEYOND; 9]);
        bound
    }

    fn fill(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        if !self.rows.is_empty() || !self.more {
            return Ok(());
        }
        let page = rolled_up(tx, &self.span, &self.delimiter, self.step)?;
        self.more = page.more;
        self.step = (self.step * 2).min(PAGE_MAX + 1);
        for (raw, value) in page.rows {
            let (key, version) = match self.table {
                VersionTable::Current => (CURRENT.read_key(&raw)?.1, CURRENT.decode(&raw, &value)?),
                VersionTable::Noncurrent => {
                    (NONCURRENT.read_key(&raw)?.1, NONCURRENT.decode(&raw, &value)?)
                }
            };
            let key = String::from_utf8(key).map_err(|_| Error::Damaged)?;
            self.span.from = Some(raw.to_vec());
            self.rows.push_back((key, version));
        }
        Ok(())
    }

    fn skip(&mut self, group: &str) {
        while self.rows.front().is_some_and(|(key, _)| key.starts_with(group)) {
            self.rows.pop_front();
        }
        let beyond = self.beyond(group);
        if self.rows.is_empty() && self.span.from.as_ref().is_none_or(|from| *from < beyond) {
            self.span.from = Some(beyond);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use triptych_core::kv::{KeyValue as _, Memory};
    use triptych_core::time::Timestamp;

    use crate::store::version::VersionId;

    fn marker(sequence: u64) -> ObjectVersion {
        ObjectVersion {
            version: VersionId { sequence, random: [0; 12], null: false },
            modified: Timestamp::EPOCH,
            owner: String::new(),
            data: None,
        }
    }

    fn store(keys: &BTreeSet<String>, older: &[(String, u64)]) -> Memory {
        let store = Memory::default();
        let mut tx = Tx::new(&store);
        for key in keys {
            CURRENT.put(&mut tx, &(7, key.clone().into_bytes()), &marker(100));
        }
        for (key, sequence) in older {
            let at = (7, key.clone().into_bytes(), version_place(*sequence));
            NONCURRENT.put(&mut tx, &at, &marker(*sequence));
        }
        // Rows of neighbours that no page may show.
        for bucket in [6, 8] {
            CURRENT.put(&mut tx, &(bucket, b"a/b".to_vec()), &marker(1));
        }
        store.commit(tx.into_batch([1; 16])).wait().unwrap();
        store
    }

    /// The entries of pages of `most` entries one after the other, and the number of entries of each.
    fn walk(store: &Memory, request: &PageRequest<'_>) -> Vec<String> {
        let mut request = request.clone();
        let mut shown = Vec::new();
        for _ in 0..1_000 {
            let mut tx = Tx::new(store);
            let page = page(&mut tx, &request).unwrap();
            assert!(page.entries.len() <= request.most);
            shown.extend(page.entries.iter().map(|entry| match entry {
                ListEntry::Prefix(prefix) => format!("{prefix}*"),
                ListEntry::Version { key, version, is_latest } if request.versions => {
                    let star = if *is_latest { "!" } else { "" };
                    format!("{key}@{}{star}", version.version.sequence)
                }
                ListEntry::Version { key, .. } => key.clone(),
            }));
            let Some(next) = page.next else {
                return shown;
            };
            assert_eq!(page.entries.len(), request.most);
            if !request.versions {
                assert_eq!(StartAfter::from_token(&next.token()), Some(next.clone()));
            }
            request.after = next;
        }
        panic!("the pages do not end");
    }

    fn request<'a>(prefix: &'a str, delimiter: &'a str, most: usize) -> PageRequest<'a> {
        PageRequest {
            bucket: 7,
            prefix,
            delimiter,
            after: StartAfter::Start,
            most,
            versions: false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pages_of_any_size_show_what_a_plain_set_shows(
            keys in prop::collection::btree_set("[ab/\u{e9}]{1,5}", 0..40),
            prefix in "[ab/]{0,2}",
            delimiter in prop::sample::select(vec!["", "/", "b", "//"]),
            most in 1_usize..5,
        ) {
            let mut expected = Vec::new();
            for key in keys.iter().filter(|key| key.starts_with(&prefix)) {
                let name = match common_prefix(key, &prefix, delimiter) {
                    Some(group) => format!("{group}*"),
                    None => key.clone(),
                };
                if expected.last() != Some(&name) {
                    expected.push(name);
                }
            }
            let store = store(&keys, &[]);
            prop_assert_eq!(walk(&store, &request(&prefix, delimiter, most)), expected);
        }
    }

    #[test]
    fn versions_come_newest_first_and_the_first_is_latest() {
        let keys = BTreeSet::from(["a".to_owned(), "c/1".to_owned()]);
        let older = [
            ("a".to_owned(), 3),
            ("a".to_owned(), 9),
            ("a\u{1}".to_owned(), 5),
            ("b".to_owned(), 4),
            ("b".to_owned(), 2),
            ("c/0".to_owned(), 2),
        ];
        let store = store(&keys, &older);
        for most in 1..8 {
            let request = PageRequest { versions: true, ..request("", "/", most) };
            let expected = ["a@100!", "a@9", "a@3", "a\u{1}@5!", "b@4!", "b@2", "c/*"];
            assert_eq!(walk(&store, &request), expected, "{most} a page");
        }
    }

    #[test]
    fn a_marker_in_a_common_prefix_leaves_its_keys_out() {
        let keys = ["a/1", "a/2", "b"].map(str::to_owned);
        let store = store(&BTreeSet::from(keys), &[]);
        let mut request = request("", "/", 9);
        for marker in ["a/", "a/1", "a/9"] {
            request.after = StartAfter::entry(marker.to_owned(), "", "/");
            assert_eq!(walk(&store, &request), ["b"], "{marker}");
        }
    }

    #[test]
    fn a_token_that_was_not_given_is_none() {
        for token in ["", "x", "!!", "a2", "eGFiYw"] {
            let read = StartAfter::from_token(token);
            assert!(read.is_none_or(|read| read.token() == token), "{token}");
        }
        assert_eq!(StartAfter::from_token("eGFiYw"), None);
    }
}
