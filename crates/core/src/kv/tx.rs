//! Transactions: reads that become expectations, and writes that are only recorded.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{
    Batch, DecodedCache, Durability, Found, KEY_BYTES_MAX, KeyValue, Order, Page, Plan, Prefetch,
    ReadSet, RollUp, Span, StoreError, Version, WriteVersions, roll_up,
};

/// One attempt of a handler at the store. Nothing is written until [`run`](super::run) commits it.
pub struct Tx<'s> {
    store: &'s dyn KeyValue,
    /// The rows that the request has read so far, where the store is on another machine.
    prefetch: Option<&'s Prefetch>,
    reads: BTreeMap<Bytes, Found>,
    writes: BTreeMap<Bytes, Option<Bytes>>,
    seen: Version,
    durability: Durability,
    /// The read set, where that is tracked and known.
    read_set: Option<ReadSet>,
    /// True while scans rest on rows that were read by their keys.
    guarded: bool,
}

impl<'s> Tx<'s> {
    /// An attempt at `store` that has read and written nothing.
    #[must_use]
    pub fn new(store: &'s dyn KeyValue) -> Self {
        Self {
            store,
            prefetch: store.prefetch(),
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
            seen: Version::ABSENT,
            durability: Durability::Disk,
            read_set: None,
            guarded: false,
        }
    }

    /// The same, which tracks its reads for [`Tx::read_set`].
    #[must_use]
    pub fn tracking_reads(store: &'s dyn KeyValue) -> Self {
        Self { read_set: store.write_versions().map(WriteVersions::read_set), ..Self::new(store) }
    }

    /// Fetches the rows that `list` names in one round trip, then those that it names once it knows these, so that reading them costs none.
    /// A store on this machine has no need of plans: `list` is not called. What is planned and not read does nothing.
    ///
    /// # Errors
    /// As [`KeyValue::get_many`].
    pub fn plan(&self, list: impl FnMut(&mut Plan<'_>)) -> Result<(), StoreError> {
        self.prefetch.map_or(Ok(()), |prefetch| prefetch.plan(list))
    }

    /// The value at `key`, this transaction's own write first. The commit fails if it changes in between. Nothing is at a key that is
    /// longer than any may be: names come from outside, and one that cannot be there is not there.
    ///
    /// # Errors
    /// As [`KeyValue::get`].
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let (found, is_stored) = self.find(key, true)?;
        if is_stored {
            self.reads.insert(Bytes::copy_from_slice(key), found.clone());
        }
        Ok(found.value)
    }

    /// The value at `key` as [`Tx::get`] shows it, but the commit does not depend on it: for what is
    /// only shown, and for credentials.
    ///
    /// # Errors
    /// As [`KeyValue::get`].
    pub fn peek(&mut self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.find(key, false).map(|(found, _)| found.value)
    }

    /// The value at `key`, and true if the store was asked for it.
    fn find(&mut self, key: &[u8], is_checked: bool) -> Result<(Found, bool), StoreError> {
        if let Some(reads) = &mut self.read_set {
            reads.add(key);
        }
        if let Some(value) = self.writes.get(key) {
            return Ok((Found { value: value.clone(), ..Found::default() }, false));
        }
        if let Some(found) = self.reads.get(key) {
            return Ok((found.clone(), false));
        }
        if key.len() > KEY_BYTES_MAX {
            return Ok((Found::default(), false));
        }
        let found = match self.prefetch {
            Some(prefetch) => prefetch.find(key, is_checked)?,
            None => self.store.get(key)?,
        };
        self.seen = self.seen.max(found.seen);
        Ok((found, true))
    }

    /// At most `limit` rows of `span`, this transaction's own writes among them. The commit does not depend on
    /// them: a rule over a set of rows has a guard record that the transaction reads and writes.
    ///
    /// # Errors
    /// As [`KeyValue::scan`].
    pub fn scan(&mut self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.stop_tracking();
        let page = self.store.scan(span, self.limit_of(span, limit))?;
        Ok(self.with_own(span, limit, page))
    }

    /// The outcome of [`Tx::scan`] for each of these spans with its limit, read together: on a store on another machine they cost one round
    /// trip.
    ///
    /// # Errors
    /// As [`KeyValue::scan_many`].
    pub fn scan_many(&mut self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        if scans.is_empty() {
            return Ok(Vec::new());
        }
        self.stop_tracking();
        let asked = scans.iter().map(|(span, limit)| (*span, self.limit_of(span, *limit)));
        let pages = self.store.scan_many(&asked.collect::<Vec<_>>())?;
        let pages = pages.into_iter().zip(scans);
        Ok(pages.map(|(page, (span, limit))| self.with_own(span, *limit, page)).collect())
    }

    /// At most `limit` rows of `span`, of rows that roll up by `rule` the first alone ([`KeyValue::scan_rolled_up`]), this transaction's own
    /// writes among them. The commit does not depend on them.
    ///
    /// # Errors
    /// As [`KeyValue::scan`].
    pub fn scan_rolled_up(
        &mut self,
        span: &Span,
        rule: &RollUp<'_>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        if self.writes.keys().any(|key| span.holds(key)) {
            let is_local = self.store.is_local();
            return roll_up::page(span, rule, limit, is_local, |span, rows| self.scan(span, rows));
        }
        self.stop_tracking();
        let page = self.store.scan_rolled_up(span, rule, limit)?;
        self.seen = self.seen.max(page.seen);
        Ok(page)
    }

    /// Stops tracking reads for a scan, unless that rests on rows that are: the rows that are not there are not tracked.
    fn stop_tracking(&mut self) {
        if !self.guarded {
            self.read_set = None;
        }
    }

    /// The number of stored rows to ask for, some of which own writes may hide.
    fn limit_of(&self, span: &Span, limit: usize) -> usize {
        let hidden = self.writes.iter().filter(|(key, value)| value.is_none() && span.holds(key));
        limit.saturating_add(hidden.count())
    }

    /// A page of stored rows with this transaction's own writes.
    fn with_own(&mut self, span: &Span, limit: usize, page: Page) -> Page {
        self.seen = self.seen.max(page.seen);
        let own: Vec<_> = self.writes.iter().filter(|(key, _)| span.holds(key)).collect();
        if own.is_empty() {
            return page;
        }
        let stored_more = page.more;
        // Beyond the last row read there may be stored rows that come before an own one.
        let horizon = page.rows.last().filter(|_| stored_more).map(|(key, _)| key.clone());
        let mut rows: BTreeMap<Bytes, Bytes> = page.rows.into_iter().collect();
        for (key, value) in own {
            let in_sight = horizon.as_ref().is_none_or(|horizon| match span.order {
                Order::Ascending => key <= horizon,
                Order::Descending => key >= horizon,
            });
            match value {
                Some(value) if in_sight => {
                    rows.insert(key.clone(), value.clone());
                }
                Some(_) => {}
                None => {
                    rows.remove(key);
                }
            }
        }
        let more = stored_more || rows.len() > limit;
        let mut rows: Vec<_> = rows.into_iter().collect();
        if span.order == Order::Descending {
            rows.reverse();
        }
        rows.truncate(limit);
        Page { rows, more, seen: page.seen }
    }

    /// Runs `read`, whose scans keep [`Tx::read_set`]: every transaction that changes a row of their spans also writes a row that this
    /// one reads by its key, as a counter of the span's rows is. Whoever says so wrongly is shown what was there before.
    pub fn guarded<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.guarded, true);
        let found = read(self);
        self.guarded = outer;
        found
    }

    /// The cache of decoded records, where the engine has one.
    pub(super) fn decoded_cache(&self) -> Option<&'s DecodedCache> {
        self.store.decoded_cache()
    }

    /// Records a new value for `key`.
    pub fn put(&mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.writes.insert(key.into(), Some(value.into()));
    }

    /// Records that `key` is to be absent.
    pub fn delete(&mut self, key: impl Into<Bytes>) {
        self.writes.insert(key.into(), None);
    }

    /// Says what acknowledging this transaction promises; [`Durability::Disk`] unless said otherwise.
    pub const fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Forgets what was read, planned and recorded: a handler that begins anew in the same transaction is shown the rows as they are now.
    pub fn begin_anew(&mut self) {
        self.reads.clear();
        self.writes.clear();
        if let Some(prefetch) = self.prefetch {
            prefetch.forget();
        }
    }

    /// Returns whether nothing was written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty()
    }

    /// The highest version that was read: an answer that rests on it waits for [`KeyValue::durable`].
    #[must_use]
    pub const fn seen(&self) -> Version {
        self.seen
    }

    /// Returns whether all rows that [`Tx::get`] found are still as they were, so that there was a moment at which all of them held: each was
    /// read before this is asked and is the same after it. Peeks and scans are not looked at, as at a commit.
    ///
    /// # Errors
    /// As [`KeyValue::get`].
    pub(super) fn reads_hold(&self) -> Result<bool, StoreError> {
        // One row was there at the moment at which it was read.
        if self.reads.len() < 2 {
            return Ok(true);
        }
        let keys: Vec<&[u8]> = self.reads.keys().map(AsRef::as_ref).collect();
        let found = self.store.get_many(&keys)?;
        // What the reads rest on, in the place of what they found: a key that was absent may have come and gone in between.
        let read = self.reads.values().map(|read| read.seen);
        let holds = read.eq(found.iter().map(|now| now.seen));
        if let Some(prefetch) = self.prefetch.filter(|_| !holds) {
            prefetch.forget();
        }
        Ok(holds)
    }

    /// The rows that were read; `None` where they were not tracked, and once there was a scan or a write.
    pub fn read_set(&mut self) -> Option<ReadSet> {
        self.read_set.take().filter(|_| self.writes.is_empty())
    }

    /// The batch that commits this transaction under the name `id`.
    #[must_use]
    pub fn into_batch(self, id: [u8; 16]) -> Batch {
        Batch {
            id,
            expectations: self
                .reads
                .into_iter()
                .map(|(key, found)| (key, found.version()))
                .collect(),
            writes: self.writes.into_iter().collect(),
            durability: self.durability,
        }
    }
}

impl std::fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx")
            .field("reads", &self.reads.len())
            .field("writes", &self.writes.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::Memory;

    fn put(store: &Memory, key: &'static str, value: &'static str) {
        let writes = vec![(Bytes::from(key), Some(Bytes::from(value)))];
        store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    }

    #[test]
    fn a_transaction_reads_its_own_writes() {
        let store = Memory::new();
        put(&store, "a", "1");
        let mut tx = Tx::new(&store);
        tx.put("b", "2");
        tx.delete("a");
        assert_eq!(tx.get(b"a").unwrap(), None);
        assert_eq!(tx.peek(b"b").unwrap(), Some(Bytes::from("2")));
        let page = tx.scan(&Span::default(), 10).unwrap();
        assert_eq!(page.rows, [(Bytes::from("b"), Bytes::from("2"))]);
    }

    #[test]
    fn nothing_is_at_a_key_that_is_longer_than_any_and_the_commit_does_not_mind() {
        let store = Memory::new();
        let long = vec![b'k'; KEY_BYTES_MAX + 1];
        let mut tx = Tx::new(&store);
        assert_eq!(tx.get(&long), Ok(None));
        assert_eq!(tx.peek(&long), Ok(None));
        tx.put("b", "2");
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        let mut tx = Tx::new(&store);
        tx.put(long, "2");
        assert!(store.commit(tx.into_batch([0; 16])).wait().is_err());
    }

    #[test]
    fn a_scan_merges_own_writes_in_both_orders_and_never_skips_a_stored_row() {
        let store = Memory::new();
        for key in ["k1", "k3", "k5", "k7"] {
            put(&store, key, "stored");
        }
        for order in [Order::Ascending, Order::Descending] {
            for limit in 0..8 {
                let mut tx = Tx::new(&store);
                tx.put("k2", "own");
                tx.put("k6", "own");
                tx.delete("k3");
                tx.delete("k7");
                let span = Span { order, ..Span::of("k") };
                let page = tx.scan(&span, limit).unwrap();
                let two = tx.scan_many(&[(&Span::of("none"), 1), (&span, limit)]).unwrap();
                assert_eq!(two, [Page { seen: page.seen, ..Page::default() }, page.clone()]);
                let mut all = ["k1", "k2", "k5", "k6"];
                if order == Order::Descending {
                    all.reverse();
                }
                let keys: Vec<_> = page.rows.iter().map(|(key, _)| key.clone()).collect();
                let expected: Vec<_> =
                    all.iter().take(limit).map(|key| Bytes::from(*key)).collect();
                // A page may end early where own writes hide stored rows, but then it says that there is more.
                assert!(expected.starts_with(&keys), "{order:?} {limit} {keys:?}");
                assert!(keys.len() == expected.len() || page.more, "{order:?} {limit} {keys:?}");
            }
        }
    }

    #[test]
    fn who_begins_anew_sees_what_changed_and_writes_nothing_of_before() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        tx.get(b"a").unwrap();
        tx.put("b", "1");
        put(&store, "a", "2");
        assert_eq!(tx.get(b"a").unwrap(), None, "a transaction sees a row once");
        tx.begin_anew();
        assert_eq!(tx.get(b"a").unwrap(), Some(Bytes::from("2")));
        let batch = tx.into_batch([0; 16]);
        assert_eq!((batch.writes, batch.expectations.len()), (vec![], 1));
    }

    #[test]
    fn what_was_read_holds_until_one_of_its_rows_is_written() {
        let store = Memory::new();
        let read_set = |read: fn(&mut Tx<'_>)| {
            let mut tx = Tx::tracking_reads(&store);
            read(&mut tx);
            tx.read_set()
        };
        put(&store, "a", "1");
        let a = read_set(|tx| drop(tx.get(b"a").unwrap())).unwrap();
        let b = read_set(|tx| drop(tx.peek(b"b").unwrap())).unwrap();
        put(&store, "other", "1");
        assert!(a.is_current(&store) && b.is_current(&store));
        put(&store, "b", "1");
        assert!(a.is_current(&store) && !b.is_current(&store), "a row that came");
        let mut tx = Tx::new(&store);
        tx.delete("a");
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        assert!(!a.is_current(&store), "a row that went");
        let scan = |tx: &mut Tx<'_>| drop(tx.scan(&Span::default(), 1).unwrap());
        let guarded = read_set(|tx| {
            tx.peek(b"count").unwrap();
            tx.guarded(|tx| drop(tx.scan(&Span::default(), 1).unwrap()));
        });
        let guarded = guarded.unwrap();
        put(&store, "other", "2");
        assert!(guarded.is_current(&store), "the guard was not written");
        put(&store, "count", "1");
        assert!(!guarded.is_current(&store), "the guard was written");
        let scanned = read_set(scan);
        let written = read_set(|tx| tx.put("c", "2"));
        assert_eq!((scanned, written, Tx::new(&store).read_set()), (None, None, None));
    }
}
