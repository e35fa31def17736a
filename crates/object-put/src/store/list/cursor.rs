//! Rows of objects and versions as a listing reads them.

use std::collections::VecDeque;

use triptych_core::kv::{Span, Tx, text_prefix};

use super::{PAGE_MAX, PageRequest, StartAfter, before_key, beyond, beyond_key, rolled_up};
use crate::error::Error;
use crate::store::tables::{CURRENT, NONCURRENT, version_place};
use crate::store::version::ObjectVersion;

/// The table of a cursor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionTable {
    Current,
    Noncurrent,
}

/// Rows of one table, read some at a time.
pub(super) struct Cursor {
    table: VersionTable,
    /// The start of the bucket's rows.
    base: Vec<u8>,
    /// The delimiter as keys have it; empty for none.
    delimiter: Vec<u8>,
    span: Span,
    pub(super) rows: VecDeque<(String, ObjectVersion)>,
    step: usize,
    more: bool,
}

impl Cursor {
    pub(super) fn new(request: &PageRequest<'_>, table: VersionTable) -> Self {
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
            StartAfter::Prefix(group) => Some(beyond(&cursor.base, group)),
            StartAfter::Key(key) => Some(beyond_key(&cursor.base, key)),
            StartAfter::Version(key, sequence) if table == VersionTable::Noncurrent => {
                let place = (request.bucket, key.as_bytes().to_vec(), version_place(*sequence));
                Some(NONCURRENT.key(&place).to_vec())
            }
            // What follows the marker may have become current since, where what stood before it was deleted.
            StartAfter::Version(key, _) => Some(before_key(&cursor.base, key)),
        };
        cursor
    }

    pub(super) fn fill(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
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

    pub(super) fn skip(&mut self, group: &str) {
        while self.rows.front().is_some_and(|(key, _)| key.starts_with(group)) {
            self.rows.pop_front();
        }
        let beyond = beyond(&self.base, group);
        if self.rows.is_empty() && self.span.from.as_ref().is_none_or(|from| *from < beyond) {
            self.span.from = Some(beyond);
        }
    }
}
