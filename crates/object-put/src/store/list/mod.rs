//! Listings: which keys, versions and common prefixes a page shows. A page costs what it shows: a common prefix is one
//! look-up, however many keys it stands for.

mod cursor;
mod upload_prefixes;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use triptych_core::kv::{Page, RollUp, Span, StoreError, TEXT_END, Tx, text_prefix};

use crate::error::Error;
use crate::store::tables::{CURRENT, NONCURRENT};
use crate::store::version::ObjectVersion;

use cursor::{Cursor, VersionTable};
use upload_prefixes::UploadPrefixes;

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
    /// True if it shows common prefixes of keys that have nothing but unfinished uploads too.
    pub uploads: bool,
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
    let mut rows = Rows::new(tx, request)?;
    let mut newest = match &request.after {
        StartAfter::Version(key, sequence) if has_since(tx, request.bucket, key, *sequence)? => {
            Some(key.clone())
        }
        _ => None,
    };
    let mut last = None;
    while let Some((key, version)) = rows.next(tx)? {
        if version.as_ref().is_some_and(|version| request.after.is_past(&key, version)) {
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
        // What has none rolled up.
        let Some(version) = version else {
            continue;
        };
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
struct Rows<'r> {
    current: Cursor,
    noncurrent: Option<Cursor>,
    uploads: Option<UploadPrefixes<'r>>,
}

impl<'r> Rows<'r> {
    fn new(tx: &mut Tx<'_>, request: &PageRequest<'r>) -> Result<Self, Error> {
        // Uploads are read first: one that becomes an object meanwhile is seen as the one or as the other.
        let shows_uploads = request.uploads && !request.delimiter.is_empty();
        let uploads = shows_uploads.then(|| UploadPrefixes::begin(tx, request)).transpose()?;
        Ok(Self {
            current: Cursor::new(request, VersionTable::Current),
            noncurrent: request.versions.then(|| Cursor::new(request, VersionTable::Noncurrent)),
            uploads,
        })
    }

    /// The next key and its version; a common prefix without one where an upload is the first to have it.
    fn next(&mut self, tx: &mut Tx<'_>) -> Result<Option<(String, Option<ObjectVersion>)>, Error> {
        self.current.fill(tx)?;
        let current = self.current.rows.front().map(|(key, _)| key.as_str());
        if let Some(uploads) = &mut self.uploads
            && let Some(group) = uploads.next_up_to(tx, current)?
        {
            return Ok(Some((group, None)));
        }
        Ok(self.next_version(tx)?.map(|(key, version)| (key, Some(version))))
    }

    fn next_version(&mut self, tx: &mut Tx<'_>) -> Result<Option<(String, ObjectVersion)>, Error> {
        let Some(noncurrent) = &mut self.noncurrent else {
            return Ok(self.current.rows.pop_front());
        };
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
        if let Some(uploads) = &mut self.uploads {
            uploads.skip(group);
        }
    }
}

/// A bound behind all keys that start with `group`, of the rows that start with `base`.
fn beyond(base: &[u8], group: &str) -> Vec<u8> {
    bound(base, group, &[BEYOND])
}

/// A bound before all rows of a key: the start of its end.
fn before_key(base: &[u8], key: &str) -> Vec<u8> {
    bound(base, key, &[0])
}

/// A bound behind all rows of a key: its end, then more than any version's place.
fn beyond_key(base: &[u8], key: &str) -> Vec<u8> {
    let mut end = TEXT_END.to_vec();
    end.extend([BEYOND; 9]);
    bound(base, key, &end)
}

fn bound(base: &[u8], text: &str, end: &[u8]) -> Vec<u8> {
    let mut bound = base.to_vec();
    text_prefix(text.as_bytes(), &mut bound);
    bound.extend_from_slice(end);
    bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use triptych_core::kv::{Counted, KeyValue as _, Memory};
    use triptych_core::time::Timestamp;

    use crate::store::tables::{UPLOADED_KEYS, version_place};
    use crate::store::upload::UploadedKey;
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
            uploads: false,
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

        #[test]
        fn pages_of_any_size_show_each_common_prefix_of_objects_and_uploads_once(
            keys in prop::collection::btree_set("[ab/\u{e9}]{1,5}", 0..20),
            uploads in prop::collection::btree_set("[ab/\u{e9}]{1,5}", 0..40),
            prefix in "[ab/]{0,2}",
            delimiter in prop::sample::select(vec!["", "/"]),
            most in 1_usize..5,
        ) {
            let objects = keys.iter().map(|key| (key, true));
            let all: BTreeSet<_> = objects.chain(uploads.iter().map(|key| (key, false))).collect();
            let mut expected = Vec::new();
            for (key, is_object) in all.into_iter().filter(|(key, _)| key.starts_with(&prefix)) {
                let name = match common_prefix(key, &prefix, delimiter) {
                    Some(group) => format!("{group}*"),
                    None if is_object => key.clone(),
                    None => continue,
                };
                if expected.last() != Some(&name) {
                    expected.push(name);
                }
            }
            let store = store(&keys, &[]);
            let mut tx = Tx::new(&store);
            for (bucket, key) in uploads.iter().map(|key| (7, key.as_str())).chain([(6, "a/b"), (8, "a/b")]) {
                UPLOADED_KEYS.put(&mut tx, &(bucket, key.as_bytes().to_vec()), &UploadedKey::default());
            }
            store.commit(tx.into_batch([2; 16])).wait().unwrap();
            let request = PageRequest { uploads: true, ..request(&prefix, delimiter, most) };
            prop_assert_eq!(walk(&store, &request), expected);
        }
    }

    #[test]
    fn a_page_reads_no_uploads_that_stand_behind_it() {
        let objects = ["a", "b", "zz"].map(str::to_owned);
        let store = Arc::new(store(&BTreeSet::from(objects), &[]));
        let mut tx = Tx::new(&*store);
        for number in 0..900 {
            let key = (7, format!("m{number:03}").into_bytes());
            UPLOADED_KEYS.put(&mut tx, &key, &UploadedKey::default());
        }
        store.commit(tx.into_batch([2; 16])).wait().unwrap();
        let counted = Counted::new(store);
        let cost = |after: StartAfter| {
            let request = PageRequest { after, uploads: true, ..request("", "/", 1) };
            assert_eq!(page(&mut Tx::new(&counted), &request).unwrap().entries.len(), 1);
            counted.take().reads
        };
        assert_eq!(cost(StartAfter::Start), 2, "one of objects, one of uploads");
        assert_eq!(cost(StartAfter::Key("m899".to_owned())), 2);
        let between = cost(StartAfter::Key("b".to_owned()));
        assert!(between < 12, "{between}: each read is twice as long as the one before");
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
