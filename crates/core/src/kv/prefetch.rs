//! Reads of one request together: what it will need is fetched from a store on another machine at once, and served from memory.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::{
    BATCH_OPERATIONS_MAX, Batch, Found, KEY_BYTES_MAX, KeyValue, Page, RollUp, Span, StoreError,
    Version,
};
use crate::pending::Pending;

/// The round trips to a store on another machine that a request costs at most: what stands beside an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoundTrips {
    /// Reads: rows by their keys, several at once or one, and pages of spans.
    pub reads: u32,
    /// Commits.
    pub commits: u32,
}

impl RoundTrips {
    /// So many reads and commits.
    #[must_use]
    pub const fn of(reads: u32, commits: u32) -> Self {
        Self { reads, commits }
    }
}

impl std::fmt::Display for RoundTrips {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} + {}", self.reads, self.commits)
    }
}

/// Rows that a request will read, named by what is known of them so far: see [`Tx::plan`](super::Tx::plan).
#[derive(Debug)]
pub struct Plan<'p> {
    prefetch: &'p Prefetch,
    named: Vec<Bytes>,
    /// Those that are not known yet.
    lacking: Vec<Bytes>,
}

impl Plan<'_> {
    /// Adds the row at `key`; gives what was found there, once it was fetched.
    pub(super) fn name(&mut self, key: &Bytes) -> Option<Found> {
        if key.len() > KEY_BYTES_MAX {
            return None;
        }
        let found = self.prefetch.known(key, true);
        if found.is_none() {
            self.lacking.push(key.clone());
        }
        self.named.push(key.clone());
        found
    }
}

/// Rounds of a plan at the most: rows lead to rows, which lead to others.
const ROUNDS_MAX: usize = 4;

/// A store on another machine, as one request reads it.
///
/// Each row is asked for once: [`Tx::plan`](super::Tx::plan) fetches many together, and all are served from memory from then on. So every row is of a
/// moment within the request, as it would be without this. A commit forgets what it depends on and what it writes, so an attempt that follows a
/// conflict reads that anew.
///
/// Watched rows are those that tell whether the others are of one moment: they come along with every fetch, are never older than anything
/// else that was read, and a change of theirs forgets what was read before it.
#[derive(Debug)]
pub struct Prefetch {
    watched: Vec<Bytes>,
    rows: Mutex<Rows>,
    store: Shared,
}

/// The store below.
struct Shared(Arc<dyn KeyValue>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyValue").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Rows {
    kept: HashMap<Bytes, Kept>,
    /// Number of reads that the store was asked for.
    reads: u64,
    /// Reads up to this one are old: what they found is served where its version will be checked.
    old: u64,
}

#[derive(Debug)]
struct Kept {
    found: Found,
    /// The number of the read that found it.
    read: u64,
}

impl Prefetch {
    /// A store as a request reads it: itself where it is local, else one that keeps what was read, with the rows at `watched`.
    #[must_use]
    pub fn of(
        store: &Arc<dyn KeyValue>,
        watched: impl FnOnce() -> Vec<Bytes>,
    ) -> Arc<dyn KeyValue> {
        if store.is_local() {
            return Arc::clone(store);
        }
        let store = Shared(Arc::clone(store));
        Arc::new(Self { watched: watched(), rows: Mutex::default(), store })
    }

    /// Says that time has passed, as while a body came in. What was read before is old news: it is served where a commit, or a second
    /// look, will check its version, and nowhere else.
    pub fn age(&self) {
        let mut rows = self.rows.lock();
        rows.old = rows.reads;
    }

    /// Fetches the rows that `list` names, in one round trip, then those that it names once it knows them, and so on. Each round reads what
    /// was named before once more, so that at last all are of one moment, unless they are more than go at once.
    ///
    /// # Errors
    /// As [`KeyValue::get_many`].
    pub(super) fn plan(&self, mut list: impl FnMut(&mut Plan<'_>)) -> Result<(), StoreError> {
        for _ in 0..ROUNDS_MAX {
            let mut plan = Plan { prefetch: self, named: Vec::new(), lacking: Vec::new() };
            list(&mut plan);
            let Plan { mut named, mut lacking, .. } = plan;
            for keys in [&mut named, &mut lacking] {
                keys.sort_unstable();
                keys.dedup();
            }
            if lacking.is_empty() {
                break;
            }
            // Where all together are more than an engine takes at once, they are not of one moment.
            let keys = if named.len() <= BATCH_OPERATIONS_MAX { named } else { lacking };
            for some in keys.chunks(BATCH_OPERATIONS_MAX) {
                self.read(some)?;
            }
        }
        Ok(())
    }

    /// Forgets all that was read, since it was not of one moment.
    pub(super) fn forget(&self) {
        self.rows.lock().kept.clear();
    }

    /// The value and version of `key`; `is_checked` where a commit or a second look will compare its version.
    ///
    /// # Errors
    /// As [`KeyValue::get`].
    pub(super) fn find(&self, key: &[u8], is_checked: bool) -> Result<Found, StoreError> {
        if let Some(found) = self.known(key, is_checked) {
            return Ok(found);
        }
        self.read(&[Bytes::copy_from_slice(key)])?;
        match self.known(key, true) {
            Some(found) => Ok(found),
            // Somebody else of the same request forgot it meanwhile.
            None => self.store.0.get(key),
        }
    }

    fn known(&self, key: &[u8], is_checked: bool) -> Option<Found> {
        let rows = self.rows.lock();
        let kept = rows.kept(key, is_checked)?;
        let is_latest = kept.read == rows.reads || !self.watched.iter().any(|own| own == key);
        is_latest.then(|| kept.found.clone())
    }

    /// Reads rows and those that are watched, of one moment.
    fn read(&self, keys: &[Bytes]) -> Result<(), StoreError> {
        let watched = self.watched.iter().filter(|own| !keys.contains(own));
        let keys: Vec<&Bytes> = keys.iter().chain(watched).collect();
        let asked: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        let found = self.store.0.get_many(&asked)?;
        let mut rows = self.rows.lock();
        rows.reads += 1;
        let read = rows.reads;
        let is_changed = keys.iter().zip(&found).any(|(key, found)| {
            let before = rows.kept.get(*key).filter(|_| self.watched.contains(key));
            before.is_some_and(|before| before.found.version() != found.version())
        });
        if is_changed {
            rows.kept.clear();
        }
        for (key, found) in keys.into_iter().zip(found) {
            rows.kept.insert(key.clone(), Kept { found, read });
        }
        Ok(())
    }
}

impl Rows {
    fn kept(&self, key: &[u8], is_checked: bool) -> Option<&Kept> {
        self.kept.get(key).filter(|kept| is_checked || kept.read > self.old)
    }
}

impl KeyValue for Prefetch {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.find(key, false)
    }

    /// The rows as they were if one read found them all, and as they are now if not.
    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        {
            let rows = self.rows.lock();
            let kept: Option<Vec<&Kept>> = keys.iter().map(|key| rows.kept(key, false)).collect();
            if let Some(kept) = kept
                && kept.windows(2).all(|two| matches!(two, [a, b] if a.read == b.read))
            {
                return Ok(kept.into_iter().map(|kept| kept.found.clone()).collect());
            }
        }
        self.store.0.get_many(keys)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let page = self.store.0.scan(span, limit)?;
        self.rows.lock().reads += 1;
        Ok(page)
    }

    fn scan_many(&self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        let pages = self.store.0.scan_many(scans)?;
        self.rows.lock().reads += 1;
        Ok(pages)
    }

    fn scan_rolled_up(
        &self,
        span: &Span,
        rule: &RollUp<'_>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let page = self.store.0.scan_rolled_up(span, rule, limit)?;
        self.rows.lock().reads += 1;
        Ok(page)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        {
            let mut rows = self.rows.lock();
            let written = batch.writes.iter().map(|(key, _)| key);
            for key in batch.expectations.iter().map(|(key, _)| key).chain(written) {
                rows.kept.remove(key);
            }
        }
        self.store.0.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.0.durable(seen)
    }

    fn is_local(&self) -> bool {
        false
    }

    fn prefetch(&self) -> Option<&Prefetch> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SeededIds;
    use crate::kv::{Counted, Memory, SCANS_MAX, Table, Tx, run_blocking};

    fn put(store: &dyn KeyValue, key: &'static str, value: &'static str) {
        let writes = vec![(Bytes::from(key), Some(Bytes::from(value)))];
        store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    }

    /// Plans rows of no table.
    fn plan(tx: &Tx<'_>, keys: &[&'static str]) {
        let name = |plan: &mut Plan<'_>| {
            for key in keys {
                plan.name(&Bytes::from(*key));
            }
        };
        tx.plan(name).unwrap();
    }

    /// A store on another machine, and the same as a request reads it.
    fn remote(watched: &[&'static str]) -> (Arc<Counted>, Arc<dyn KeyValue>) {
        let counted = Arc::new(Counted::new(Arc::new(Memory::new())));
        let store: Arc<dyn KeyValue> = counted.clone();
        let watched = watched.iter().map(|key| Bytes::from(*key)).collect();
        (counted, Prefetch::of(&store, || watched))
    }

    #[test]
    fn a_local_store_is_read_as_it_is_and_plans_are_not_even_made() {
        let store: Arc<dyn KeyValue> = Arc::new(Memory::new());
        let own = Prefetch::of(&store, || panic!("nothing is watched"));
        assert!(Arc::ptr_eq(&store, &own));
        Tx::new(&*own).plan(|_| panic!("nothing is planned")).unwrap();
    }

    #[test]
    fn planned_rows_cost_one_round_trip_together_and_absent_ones_too() {
        let (counted, store) = remote(&[]);
        put(&*counted, "a", "1");
        counted.take();
        let mut tx = Tx::new(&*store);
        plan(&tx, &["a", "b", "a"]);
        assert_eq!(tx.get(b"a").unwrap(), Some(Bytes::from("1")));
        assert_eq!((tx.get(b"b").unwrap(), tx.peek(b"b").unwrap()), (None, None));
        assert!(tx.reads_hold().unwrap(), "they are of one moment");
        assert_eq!(counted.take(), RoundTrips::of(1, 0));
        Tx::new(&*store).peek(b"a").unwrap();
        assert_eq!(counted.take(), RoundTrips::of(0, 0), "the request knows it");
        let batch = tx.into_batch([0; 16]);
        assert_eq!(batch.expectations.len(), 2);
    }

    #[test]
    fn spans_that_are_read_together_cost_one_round_trip_for_as_many_as_go_at_once() {
        let (counted, store) = remote(&["steps"]);
        put(&*counted, "a1", "1");
        put(&*counted, "b1", "1");
        let mut tx = Tx::new(&*store);
        tx.peek(b"steps").unwrap();
        let spans = [Span::of("a"), Span::of("b"), Span::of("c")];
        let scans: Vec<_> = spans.iter().cycle().take(SCANS_MAX).map(|span| (span, 1)).collect();
        counted.take();
        assert_eq!(tx.scan_many(&[]).unwrap(), []);
        assert_eq!(counted.take(), RoundTrips::of(0, 0));
        let pages = tx.scan_many(&scans).unwrap();
        assert_eq!(counted.take(), RoundTrips::of(1, 0));
        let keys = |page: &Page| page.rows.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        let found: Vec<_> = pages.iter().take(3).map(keys).collect();
        assert_eq!(found, [vec![Bytes::from("a1")], vec![Bytes::from("b1")], vec![]]);
        put(&*counted, "steps", "1");
        counted.take();
        assert_eq!(tx.peek(b"steps").unwrap(), Some(Bytes::from("1")), "the scans are younger");
        tx.scan_many(&[scans, vec![(&spans[0], 1)]].concat()).unwrap();
        assert_eq!(counted.take(), RoundTrips::of(3, 0));
    }

    #[test]
    fn rows_that_lead_to_others_cost_a_round_trip_a_step_and_are_of_one_moment() {
        const NEXT: Table<u64, Bytes> = Table::new(9);
        let (counted, store) = remote(&[]);
        let mut tx = Tx::new(&*store);
        for number in [1_u64, 2, 3] {
            NEXT.put(&mut tx, &number, &Bytes::from_static(b"there is one more"));
        }
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        counted.take();
        let mut tx = Tx::new(&*store);
        tx.plan(|plan| {
            for first in [1, 3] {
                if plan.row(&NEXT, &first).is_some() {
                    plan.row(&NEXT, &(first + 1));
                }
            }
        })
        .unwrap();
        for number in 1..=4 {
            NEXT.get(&mut tx, &number).unwrap();
        }
        assert!(tx.reads_hold().unwrap());
        assert_eq!(counted.take(), RoundTrips::of(2, 0));
    }

    #[test]
    fn rows_of_two_reads_are_looked_at_again_before_they_count_as_one_moment() {
        let (counted, store) = remote(&[]);
        let mut tx = Tx::new(&*store);
        tx.get(b"a").unwrap();
        put(&*counted, "a", "2");
        tx.get(b"b").unwrap();
        assert!(!tx.reads_hold().unwrap());
        let again = Tx::new(&*store).get(b"a").unwrap();
        assert_eq!(again, Some(Bytes::from("2")), "the next attempt reads anew");
    }

    #[test]
    fn a_write_that_came_between_plan_and_commit_is_a_conflict_and_the_next_attempt_sees_it() {
        let (counted, store) = remote(&[]);
        let mut tx = Tx::new(&*store);
        plan(&tx, &["a"]);
        put(&*counted, "a", "raced");
        tx.get(b"a").unwrap();
        tx.put("a", "mine");
        let refused = store.commit(tx.into_batch([0; 16])).wait();
        assert_eq!(refused, Err(StoreError::Conflict));
        assert_eq!(Tx::new(&*store).get(b"a").unwrap(), Some(Bytes::from("raced")));
    }

    #[test]
    fn who_begins_anew_is_served_nothing_of_before() {
        let (counted, store) = remote(&[]);
        let mut tx = Tx::new(&*store);
        plan(&tx, &["a"]);
        put(&*counted, "a", "new");
        assert_eq!(tx.peek(b"a").unwrap(), None);
        tx.begin_anew();
        assert_eq!(tx.peek(b"a").unwrap(), Some(Bytes::from("new")));
    }

    #[test]
    fn what_was_only_looked_at_before_a_conflict_is_read_anew() {
        let (counted, store) = remote(&[]);
        put(&*counted, "guard", "1");
        put(&*counted, "shown", "1");
        let mut ids = SeededIds::from_number(1);
        let mut is_first = true;
        let seen = run_blocking::<_, StoreError>(&*store, &mut ids, 2, |tx, _| {
            if std::mem::take(&mut is_first) {
                plan(tx, &["guard", "shown"]);
                put(&*counted, "shown", "2");
                put(&*counted, "guard", "2");
            }
            let guard = tx.get(b"guard")?;
            tx.put("own", "1");
            Ok((guard, tx.peek(b"shown")?))
        });
        let two = Some(Bytes::from("2"));
        assert_eq!(seen.unwrap(), (two.clone(), two));
    }

    #[test]
    fn a_plan_of_more_rows_than_go_at_once_is_read_in_several_parts() {
        let (counted, store) = remote(&[]);
        let keys: Vec<_> =
            (0..=BATCH_OPERATIONS_MAX).map(|at| Bytes::from(format!("k{at}"))).collect();
        let mut tx = Tx::new(&*store);
        tx.plan(|plan| keys.iter().for_each(|key| drop(plan.name(key)))).unwrap();
        for key in &keys {
            tx.peek(key).unwrap();
        }
        assert_eq!(counted.take(), RoundTrips::of(2, 0));
    }

    #[test]
    fn old_rows_are_served_where_their_version_is_checked_and_nowhere_else() {
        let (counted, store) = remote(&[]);
        plan(&Tx::new(&*store), &["a", "b"]);
        store.prefetch().unwrap().age();
        put(&*counted, "a", "new");
        counted.take();
        let mut tx = Tx::new(&*store);
        assert_eq!(tx.get(b"a").unwrap(), None);
        assert_eq!(counted.take(), RoundTrips::of(0, 0));
        assert!(tx.get(b"b").unwrap().is_none() && !tx.reads_hold().unwrap());
        assert_eq!(Tx::new(&*store).peek(b"a").unwrap(), Some(Bytes::from("new")));
    }

    #[test]
    fn a_watched_row_is_never_older_than_another_and_its_change_forgets_what_was_read() {
        let (counted, store) = remote(&["steps"]);
        let mut tx = Tx::new(&*store);
        tx.peek(b"a").unwrap();
        counted.take();
        tx.peek(b"steps").unwrap();
        assert_eq!(counted.take(), RoundTrips::of(0, 0), "it came along");
        put(&*counted, "a", "2");
        put(&*counted, "steps", "1");
        tx.scan(&Span::of("x"), 1).unwrap();
        counted.take();
        assert_eq!(tx.peek(b"steps").unwrap(), Some(Bytes::from("1")), "the scan is younger");
        assert_eq!(tx.peek(b"a").unwrap(), Some(Bytes::from("2")));
        assert_eq!(counted.take(), RoundTrips::of(2, 0));
    }
}
