//! Claims that one instance of a service holds at a time, of all that share a store: on work that is to be done once, or on a record that
//! lives in one process.
//!
//! A claim is a row that names its holder and counts its holders. Each batch of the holder expects that row as it was written, so that one
//! from whom the claim was taken writes nothing more, however long it slept. Beside it, each instance writes a row of its own again and again
//! while it lives: one that was not seen to change for [`PATIENCE`] by the clock of another gives that one the right to try. Time alone takes
//! nothing away from anybody.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{
    Batch, DecodedCache, Durability, Found, KeyValue, Page, RollUp, Span, StoreError, Version,
    WriteVersions,
};
use crate::id::{Ids, SeededIds};
use crate::pending::Pending;

/// Time after which an instance that showed no life may lose its claims.
pub const PATIENCE: Duration = Duration::from_secs(6);
/// Time between two signs of life.
pub const BEAT_EVERY: Duration = Duration::from_millis(1_500);

/// The first bytes of the rows of instances, which no table of a service has.
const ROWS: &[u8] = b"\xFFinstances/";
/// The rows of claims, by name.
const CLAIMS: &[u8] = b"\xFFinstances/claim/";
/// The signs of life, by instance.
const BEATS: &[u8] = b"\xFFinstances/beat/";
/// The row that says that an import fills the store.
pub(super) const FILLING: &[u8] = b"\xFFinstances/filling";
/// The row of the offset that the clocks of all instances have.
pub const CLOCK: &[u8] = b"\xFFinstances/clock";

/// The part of an ascending span without bounds above that is the service's own.
#[must_use]
pub fn rows_of_service(span: Span) -> Span {
    // No table begins with the byte of these rows, so that they come last.
    Span { to: Some(ROWS.to_vec()), ..span }
}

/// The instance that holds a claim, as its row says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The number of holders up to this one, since nobody held it.
    pub epoch: u64,
    /// The instance, by a name that is drawn at each start.
    pub instance: String,
    /// The place at which it is reached.
    pub place: String,
}

/// The state of a claim, as it was found or made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It is this instance's.
    Own(Guard),
    /// It is another's.
    Others(Holder),
}

/// The row of a claim as its holder wrote it, which every batch of the holder expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    pub(super) key: Bytes,
    pub(super) version: Version,
    /// The number of holders up to this one, since nobody held it.
    pub epoch: u64,
}

/// One of the instances that share a store.
#[derive(Debug, Clone)]
pub struct Member {
    name: String,
    place: String,
    ids: SeededIds,
    /// True once it has given a sign of life.
    lives: bool,
    /// The last sign of life of others, and when it was seen first.
    seen: HashMap<String, (Version, Duration)>,
}

impl Member {
    /// An instance that is reached at `place`; `ids` draws the name that it has until it ends.
    pub fn new(place: &str, ids: &mut dyn Ids) -> Self {
        let mut ids = ids.fork();
        let name = format!("{:016x}{:016x}", ids.next(), ids.next());
        Self { name, place: place.to_owned(), ids, lives: false, seen: HashMap::new() }
    }

    /// Gives a sign of life.
    ///
    /// # Errors
    /// As [`KeyValue::commit`].
    pub async fn beat(&mut self, store: &dyn KeyValue) -> Result<(), StoreError> {
        let sign = Bytes::copy_from_slice(&self.ids.next().to_be_bytes());
        self.commit(store, Vec::new(), vec![(beat_key(&self.name), Some(sign))]).await?;
        self.lives = true;
        Ok(())
    }

    /// Tells the others that this instance ends, so that they need not wait.
    ///
    /// # Errors
    /// As [`KeyValue::commit`].
    pub async fn leave(&mut self, store: &dyn KeyValue) -> Result<(), StoreError> {
        self.commit(store, Vec::new(), vec![(beat_key(&self.name), None)]).await.map(drop)
    }

    /// Takes a claim that nobody holds, or whose holder has ended or showed no life; else tells whose it is. `now` is the time that has
    /// passed since some moment, by a clock that nobody moves.
    ///
    /// # Errors
    /// `Conflict` where another instance was quicker; else as [`KeyValue::get`] and [`KeyValue::commit`], or `Corrupt`.
    pub async fn claim(
        &mut self,
        store: &dyn KeyValue,
        name: &str,
        now: Duration,
    ) -> Result<Claim, StoreError> {
        // Who holds a claim and was never heard of has ended.
        if !self.lives {
            self.beat(store).await?;
        }
        let key = claim_key(name);
        let row = store.get(&key)?;
        let mut expectations = vec![(key.clone(), row.version())];
        let mut writes = Vec::new();
        let mut epoch = 1;
        if let Some(holder) = holder(&row)? {
            // A claim whose taking was not answered is ours all the same.
            if holder.instance == self.name {
                return Ok(Claim::Own(Guard { key, version: row.version(), epoch: holder.epoch }));
            }
            let sign_key = beat_key(&holder.instance);
            let sign = store.get(&sign_key)?;
            if sign.value.is_some() && !self.is_silent(&holder.instance, sign.version(), now) {
                return Ok(Claim::Others(holder));
            }
            epoch = holder.epoch.saturating_add(1);
            expectations.push((sign_key.clone(), sign.version()));
            if sign.value.is_some() {
                writes.push((sign_key, None));
            }
            self.seen.remove(&holder.instance);
        }
        let own = Holder { epoch, instance: self.name.clone(), place: self.place.clone() };
        let own =
            serde_json::to_vec(&own).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        writes.push((key.clone(), Some(own.into())));
        let version = self.commit(store, expectations, writes).await?;
        Ok(Claim::Own(Guard { key, version, epoch }))
    }

    /// Gives up a claim, if it still is this instance's, with the rows that went with it.
    ///
    /// # Errors
    /// As [`KeyValue::commit`]; `Conflict` where it was taken meanwhile.
    pub async fn give_up(&mut self, store: &dyn KeyValue, guard: &Guard) -> Result<(), StoreError> {
        let expected = vec![(guard.key.clone(), guard.version)];
        self.commit(store, expected, vec![(guard.key.clone(), None)]).await.map(drop)
    }

    /// Returns whether an instance was seen without a new sign of life for long enough.
    fn is_silent(&mut self, instance: &str, sign: Version, now: Duration) -> bool {
        match self.seen.get(instance) {
            Some((seen, since)) if *seen == sign => now.saturating_sub(*since) >= PATIENCE,
            _ => {
                self.seen.insert(instance.to_owned(), (sign, now));
                false
            }
        }
    }

    fn commit(
        &mut self,
        store: &dyn KeyValue,
        expectations: Vec<(Bytes, Version)>,
        writes: Vec<(Bytes, Option<Bytes>)>,
    ) -> Pending<Result<Version, StoreError>> {
        let mut id = [0; 16];
        self.ids.fill(&mut id);
        store.commit(Batch { id, expectations, writes, durability: Durability::Disk })
    }
}

/// The holder of a claim now; `None` if nobody holds it.
///
/// # Errors
/// As [`KeyValue::get`], or `Corrupt`.
pub fn holder_of(store: &dyn KeyValue, name: &str) -> Result<Option<Holder>, StoreError> {
    holder(&store.get(&claim_key(name))?)
}

fn holder(row: &Found) -> Result<Option<Holder>, StoreError> {
    let read = |value: &Bytes| serde_json::from_slice(value);
    let holder = row.value.as_ref().map(read).transpose();
    holder.map_err(|error| StoreError::Corrupt(format!("the row of a claim: {error}")))
}

fn claim_key(name: &str) -> Bytes {
    [CLAIMS, name.as_bytes()].concat().into()
}

fn beat_key(instance: &str) -> Bytes {
    [BEATS, instance.as_bytes()].concat().into()
}

/// A store as the holder of a claim writes to it: a batch conflicts once the claim is another's.
pub struct Guarded {
    store: Arc<dyn KeyValue>,
    guard: Guard,
}

impl Guarded {
    /// The store, written to under a claim.
    #[must_use]
    pub const fn new(store: Arc<dyn KeyValue>, guard: Guard) -> Self {
        Self { store, guard }
    }

    /// The claim.
    #[must_use]
    pub const fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns whether the claim still is the one that was made.
    ///
    /// # Errors
    /// As [`KeyValue::get`].
    pub fn is_held(&self) -> Result<bool, StoreError> {
        Ok(self.store.get(&self.guard.key)?.version() == self.guard.version)
    }
}

impl std::fmt::Debug for Guarded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guarded").field("guard", &self.guard).finish_non_exhaustive()
    }
}

impl KeyValue for Guarded {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.store.get(key)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        self.store.get_many(keys)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.store.scan(span, limit)
    }

    fn scan_many(&self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        self.store.scan_many(scans)
    }

    fn scan_rolled_up(
        &self,
        span: &Span,
        rule: &RollUp<'_>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.store.scan_rolled_up(span, rule, limit)
    }

    fn commit(&self, mut batch: Batch) -> Pending<Result<Version, StoreError>> {
        batch.expectations.push((self.guard.key.clone(), self.guard.version));
        self.store.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }

    fn write_versions(&self) -> Option<&WriteVersions> {
        self.store.write_versions()
    }

    fn decoded_cache(&self) -> Option<&DecodedCache> {
        self.store.decoded_cache()
    }

    fn is_local(&self) -> bool {
        self.store.is_local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::Memory;
    use crate::pending::block_on;

    const WORK: &str = "work";

    fn member(number: u64) -> Member {
        Member::new(&format!("http://{number}"), &mut SeededIds::from_number(number))
    }

    fn claim(member: &mut Member, store: &Memory, seconds: u64) -> Result<Claim, StoreError> {
        block_on(member.claim(store, WORK, Duration::from_secs(seconds)))
    }

    fn guard(claim: Result<Claim, StoreError>) -> Guard {
        match claim {
            Ok(Claim::Own(guard)) => guard,
            other => panic!("{other:?}"),
        }
    }

    fn write(store: &dyn KeyValue, key: &'static [u8]) -> Result<Version, StoreError> {
        let writes = vec![(Bytes::from_static(key), Some(Bytes::from_static(b"value")))];
        store.commit(Batch { writes, ..Batch::default() }).wait()
    }

    #[test]
    fn a_claim_has_one_holder_for_as_long_as_that_one_shows_life() {
        let store = Memory::new();
        let (mut one, mut two) = (member(1), member(2));
        block_on(one.beat(&store)).unwrap();
        let held = guard(claim(&mut one, &store, 0));
        assert_eq!(guard(claim(&mut one, &store, 1)), held, "it is asked for again and again");
        for seconds in (0..60).step_by(5) {
            block_on(one.beat(&store)).unwrap();
            let Claim::Others(holder) = claim(&mut two, &store, seconds).unwrap() else {
                panic!("taken from one that lives");
            };
            assert_eq!((holder.epoch, holder.place.as_str()), (1, "http://1"));
        }
        assert!(matches!(claim(&mut two, &store, 59), Ok(Claim::Others(_))));
        let taken = guard(claim(&mut two, &store, 61));
        assert_eq!(taken.epoch, 2);
        assert_eq!(holder_of(&store, WORK).unwrap().unwrap().place, "http://2");
    }

    #[test]
    fn a_former_holder_that_wakes_up_writes_nothing_more() {
        let store = Arc::new(Memory::new());
        let (mut one, mut two) = (member(1), member(2));
        block_on(one.beat(&*store)).unwrap();
        let former = Guarded::new(store.clone(), guard(claim(&mut one, &store, 0)));
        write(&former, b"before").unwrap();
        assert!(former.is_held().unwrap());
        assert!(matches!(claim(&mut two, &store, 0), Ok(Claim::Others(_))));
        let holder = Guarded::new(store.clone(), guard(claim(&mut two, &store, 7)));
        assert_eq!(write(&former, b"after"), Err(StoreError::Conflict));
        assert!(!former.is_held().unwrap());
        write(&holder, b"of the holder").unwrap();
        // It lives again, and is told whose the claim is.
        block_on(two.beat(&*store)).unwrap();
        block_on(one.beat(&*store)).unwrap();
        assert!(matches!(claim(&mut one, &store, 8), Ok(Claim::Others(_))));
        assert_eq!(store.get(b"after").unwrap().value, None);
    }

    #[test]
    fn what_an_instance_leaves_is_taken_at_once() {
        let store = Memory::new();
        let (mut one, mut two) = (member(1), member(2));
        block_on(one.beat(&store)).unwrap();
        let first = guard(claim(&mut one, &store, 0));
        block_on(one.leave(&store)).unwrap();
        assert_eq!(guard(claim(&mut two, &store, 0)).epoch, 2);
        assert_eq!(block_on(one.give_up(&store, &first)), Err(StoreError::Conflict));
    }

    #[test]
    fn a_sign_of_life_between_the_look_and_the_taking_keeps_the_claim() {
        /// A store in which the holder shows life as soon as its sign was read.
        struct Waking(Memory, std::sync::Mutex<Option<Member>>);
        impl KeyValue for Waking {
            fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
                let found = self.0.get(key);
                if key.starts_with(BEATS)
                    && let Some(mut holder) = self.1.lock().unwrap().take()
                {
                    block_on(holder.beat(&self.0)).unwrap();
                }
                found
            }
            fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
                self.0.scan(span, limit)
            }
            fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
                self.0.commit(batch)
            }
            fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
                self.0.durable(seen)
            }
        }
        let store = Memory::new();
        let (mut one, mut two) = (member(1), member(2));
        block_on(one.beat(&store)).unwrap();
        guard(claim(&mut one, &store, 0));
        assert!(matches!(claim(&mut two, &store, 0), Ok(Claim::Others(_))));
        let store = Waking(store, std::sync::Mutex::new(Some(one)));
        let late = Duration::from_secs(60);
        assert_eq!(block_on(two.claim(&store, WORK, late)), Err(StoreError::Conflict));
        assert!(matches!(block_on(two.claim(&store, WORK, late)), Ok(Claim::Others(_))));
    }
}
