//! The listing of the uploads of a bucket: which of them and which common prefixes a page shows.

use triptych_core::kv::{Span, Tx, text_prefix};

use crate::error::Error;
use crate::store::list::{BEYOND, PAGE_MAX, common_prefix, rolled_up};
use crate::store::tables::UPLOADS;
use crate::store::upload::Upload;

/// The start of a page: after this place, whether something is still there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadsAfter {
    /// At the first upload.
    Start,
    /// After all uploads of this key.
    Key(String),
    /// After the upload of this key with this sequence.
    Upload(String, u64),
    /// After all keys that start so.
    Prefix(String),
}

/// The request for a page.
#[derive(Debug, Clone)]
pub struct UploadsRequest<'a> {
    /// The number of the bucket.
    pub bucket: u64,
    /// The start that keys must have.
    pub prefix: &'a str,
    /// Keys that go on to it after the prefix are one entry; empty for none.
    pub delimiter: &'a str,
    /// Its start.
    pub after: UploadsAfter,
    /// The most entries that it has.
    pub most: usize,
}

/// An entry of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadsEntry {
    /// An upload of a key.
    Upload(String, Box<Upload>),
    /// All keys that start so.
    Prefix(String),
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UploadsPage {
    /// Its entries, by key and then in the order in which they began.
    pub entries: Vec<UploadsEntry>,
    /// True if there are more.
    pub more: bool,
}

impl UploadsPage {
    /// The uploads among its entries, with their keys.
    pub fn uploads(&self) -> impl Iterator<Item = (&str, &Upload)> {
        self.entries.iter().filter_map(|entry| match entry {
            UploadsEntry::Upload(key, upload) => Some((key.as_str(), &**upload)),
            UploadsEntry::Prefix(_) => None,
        })
    }
}

/// Reads a page.
///
/// # Errors
/// As scans of the store.
pub fn page(tx: &mut Tx<'_>, request: &UploadsRequest<'_>) -> Result<UploadsPage, Error> {
    let mut page = UploadsPage::default();
    let base = UPLOADS.span(&request.bucket).prefix;
    let mut prefix = base.clone();
    text_prefix(request.prefix.as_bytes(), &mut prefix);
    let mut span = Span::of(prefix);
    let beyond = |text: &str, end: &[u8]| {
        let mut bound = base.clone();
        text_prefix(text.as_bytes(), &mut bound);
        bound.extend_from_slice(end);
        bound
    };
    span.from = match &request.after {
        UploadsAfter::Start => None,
        UploadsAfter::Key(key) => Some(beyond(key, &[0, 1, BEYOND, BEYOND, BEYOND])),
        UploadsAfter::Upload(key, sequence) => {
            let place = (request.bucket, key.as_bytes().to_vec(), *sequence);
            Some(UPLOADS.key(&place).to_vec())
        }
        UploadsAfter::Prefix(group) => Some(beyond(group, &[BEYOND])),
    };
    if request.most == 0 {
        return Ok(page);
    }
    let mut delimiter = Vec::new();
    text_prefix(request.delimiter.as_bytes(), &mut delimiter);
    'pages: loop {
        let read = rolled_up(tx, &span, &delimiter, (request.most + 1).min(PAGE_MAX + 1))?;
        for (raw, value) in read.rows {
            let (_, key, _) = UPLOADS.read_key(&raw)?;
            let key = String::from_utf8(key).map_err(|_| Error::Damaged)?;
            if page.entries.len() == request.most {
                page.more = true;
                break 'pages;
            }
            span.from = Some(raw.to_vec());
            if let Some(group) = common_prefix(&key, request.prefix, request.delimiter) {
                // The next read begins behind the group; this page has no more of its rows.
                span.from = Some(beyond(group, &[BEYOND]));
                page.entries.push(UploadsEntry::Prefix(group.to_owned()));
                continue;
            }
            let upload = UPLOADS.decode(&raw, &value)?;
            page.entries.push(UploadsEntry::Upload(key, Box::new(upload)));
        }
        if !read.more {
            break;
        }
    }
    Ok(page)
}
