//! Common prefixes of keys that have unfinished uploads, for listings of objects.

use std::collections::VecDeque;

use triptych_core::kv::{Span, Tx, text_prefix};

use super::{PAGE_MAX, PageRequest, StartAfter, beyond, beyond_key, common_prefix, rolled_up};
use crate::error::Error;
use crate::store::tables::UPLOADED_KEYS;

/// The common prefixes of a listing that uploads have, read some rows at a time. A key without one is a row to pass over: so that many uploads
/// of one are one row, these are the rows of keys.
pub(super) struct UploadPrefixes<'r> {
    prefix: &'r str,
    delimiter: &'r str,
    /// The start of the bucket's rows.
    base: Vec<u8>,
    span: Span,
    groups: VecDeque<String>,
    /// The key that was read last: all groups up to it are known.
    seen: String,
    step: usize,
    more: bool,
}

impl<'r> UploadPrefixes<'r> {
    /// Those behind the start of a page, of which as many rows are read as the page has entries.
    pub(super) fn begin(tx: &mut Tx<'_>, request: &PageRequest<'r>) -> Result<Self, Error> {
        let base = UPLOADED_KEYS.span(&request.bucket).prefix;
        let mut start = base.clone();
        text_prefix(request.prefix.as_bytes(), &mut start);
        let mut span = Span::of(start);
        span.from = match &request.after {
            StartAfter::Start => None,
            StartAfter::Prefix(group) => Some(beyond(&base, group)),
            StartAfter::Key(key) | StartAfter::Version(key, _) => Some(beyond_key(&base, key)),
        };
        let mut prefixes = Self {
            prefix: request.prefix,
            delimiter: request.delimiter,
            base,
            span,
            groups: VecDeque::new(),
            seen: String::new(),
            step: request.most + 1,
            more: true,
        };
        prefixes.read(tx)?;
        Ok(prefixes)
    }

    /// Takes the next one that does not stand behind `key`; where that is `None`, the next one. Rows behind the key are not read for it.
    pub(super) fn next_up_to(
        &mut self,
        tx: &mut Tx<'_>,
        key: Option<&str>,
    ) -> Result<Option<String>, Error> {
        while self.groups.is_empty() && self.more && key.is_none_or(|key| self.seen.as_str() < key)
        {
            self.read(tx)?;
        }
        let is_next = |group: &String| key.is_none_or(|key| group.as_str() <= key);
        Ok(if self.groups.front().is_some_and(is_next) { self.groups.pop_front() } else { None })
    }

    /// Leaves `group` out.
    pub(super) fn skip(&mut self, group: &str) {
        if self.groups.front().is_some_and(|own| own == group) {
            self.groups.pop_front();
        }
        let beyond = beyond(&self.base, group);
        if self.groups.is_empty() && self.span.from.as_ref().is_none_or(|from| *from < beyond) {
            self.span.from = Some(beyond);
        }
    }

    fn read(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let mut delimiter = Vec::new();
        text_prefix(self.delimiter.as_bytes(), &mut delimiter);
        let page = rolled_up(tx, &self.span, &delimiter, self.step)?;
        self.more = page.more;
        self.step = (self.step * 2).min(PAGE_MAX + 1);
        for (raw, value) in page.rows {
            let (_, key) = UPLOADED_KEYS.read_key(&raw)?;
            // A row that somebody changed is none.
            UPLOADED_KEYS.decode(&raw, &value)?;
            let key = String::from_utf8(key).map_err(|_| Error::Damaged)?;
            self.span.from = Some(raw.to_vec());
            if let Some(group) = common_prefix(&key, self.prefix, self.delimiter) {
                self.span.from = Some(beyond(&self.base, group));
                self.groups.push_back(group.to_owned());
            }
            self.seen = key;
        }
        Ok(())
    }
}
