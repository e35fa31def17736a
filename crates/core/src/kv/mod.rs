//! Ordered bytes with atomic conditional commits: the one way in which the services keep state.
//!
//! A [`KeyValue`] is an engine; [`Tx`] and [`run`] make transactions of it, [`Table`] makes typed rows.
//! Reads are synchronous, so a handler is a plain function; only the commit is awaited.
//! No type of a runtime or of an engine appears here.

mod claim;
mod closing_fault;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "testing"))]
mod counted;
#[cfg(feature = "etcd")]
mod etcd;
mod filling;
mod load;
mod memo;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod prefetch;
#[cfg(any(test, feature = "testing"))]
mod raced;
mod roll_up;
mod run;
#[cfg(any(feature = "etcd", feature = "postgres"))]
mod shared;
#[cfg(feature = "sled")]
mod sled;
mod span;
#[cfg(any(test, feature = "testing"))]
mod stalled;
mod table;
mod tx;

#[cfg(feature = "sled")]
pub use self::sled::{
    LOG_SEGMENT_BYTES, LostFrames, OpenError, RebuildProgress, RebuildReason, Sled, SledConfig,
    SledStats, SortedRows, TreeKind, VerifiedRows, cut_log,
};
#[cfg(all(any(test, feature = "testing"), feature = "sled"))]
pub use self::sled::{believe_copied_tree, end_copied_run};
#[cfg(all(feature = "host", feature = "sled"))]
pub(crate) use self::sled::{end_copied_log, is_of_tree};
pub use claim::{
    BEAT_EVERY, CLOCK, Claim, Guard, Guarded, Holder, Member, PATIENCE, holder_of, rows_of_service,
};
pub use closing_fault::ClosingFault;
#[cfg(any(test, feature = "testing"))]
pub use counted::Counted;
#[cfg(all(feature = "etcd", feature = "testing"))]
pub use etcd::EtcdCluster;
#[cfg(feature = "etcd")]
pub use etcd::{Etcd, EtcdConfig, EtcdUrl, EtcdUrlError};
pub use filling::{begin_filling, end_filling, is_empty, is_filling};
pub use load::Loader;
pub use memo::{DecodedCache, Memo, MemoCache, ReadSet, WriteVersions};
pub use memory::Memory;
#[cfg(all(feature = "postgres", feature = "testing"))]
pub use postgres::PostgresServer;
#[cfg(feature = "postgres")]
pub use postgres::{Postgres, PostgresConfig, PostgresUrl, PostgresUrlError};
pub use prefetch::{Plan, Prefetch, RoundTrips};
#[cfg(any(test, feature = "testing"))]
pub use raced::Raced;
pub use roll_up::RollUp;
pub use run::{clear, read, run, run_blocking, settle};
#[cfg(any(feature = "etcd", feature = "postgres"))]
pub use shared::{SharedKeyValue, SharedStats, StoreConnection};
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "testing"))]
pub use shared::{StoreServer, Weather, Wire};
pub use span::{Bounds, Order, Span};
#[cfg(any(test, feature = "testing"))]
pub use stalled::Stalled;
pub use table::{
    JsonRecord, Key, Record, Scanned, TEXT_END, Table, text_prefix, with_checksum, without_checksum,
};
pub use tx::Tx;

use bytes::Bytes;

use crate::pending::Pending;

/// A key is 1 to this many bytes.
pub const KEY_BYTES_MAX: usize = 2 * 1024;
/// A value is at most this many bytes; longer things are rows, chunks or blobs that a record names.
pub const VALUE_BYTES_MAX: usize = 64 * 1024;
/// A batch has at most this many expectations and writes together.
pub const BATCH_OPERATIONS_MAX: usize = 1_000;
/// The keys and values of a batch have at most this many bytes together.
pub const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// A remote engine reads at most this many spans in one round trip, so that no answer is of any length.
pub const SCANS_MAX: usize = 100;

/// The number of the last write to a key, as its engine counts. It grows for its key; only versions of one engine compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version(pub u64);

impl Version {
    /// The version of a key at which nothing is: never written, or deleted.
    pub const ABSENT: Self = Self(0);
}

/// The outcome of reading one key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The value, or `None` when absent.
    pub value: Option<Bytes>,
    /// The version of the last write to the key, or of its deletion as long as the engine remembers that: an answer that rests on this
    /// waits for it by [`KeyValue::durable`].
    pub seen: Version,
}

impl Found {
    /// The version to expect in a [`Batch`]: [`Version::ABSENT`] when absent, so that nobody is refused for a deletion that the engine has
    /// forgotten meanwhile.
    #[must_use]
    pub const fn version(&self) -> Version {
        if self.value.is_some() { self.seen } else { Version::ABSENT }
    }
}

/// Rows of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Keys and values in the span's order.
    pub rows: Vec<(Bytes, Bytes)>,
    /// Set if the span holds rows beyond these.
    pub more: bool,
    /// The highest version that these rows rest on, absences included.
    pub seen: Version,
}

/// The durability that a batch must have before it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Durability {
    /// It survives a kill of the process; a power cut takes at most the last half second.
    Process,
    /// It survives a power cut.
    #[default]
    Disk,
}

/// Writes that happen all or not at all, and only if every expectation still holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// Names this batch, so that a remote engine can tell whether it was applied.
    pub id: [u8; 16],
    /// Keys that must still have these versions.
    pub expectations: Vec<(Bytes, Version)>,
    /// New values; `None` deletes. No key stands twice.
    pub writes: Vec<(Bytes, Option<Bytes>)>,
    /// The promise that acknowledging it makes.
    pub durability: Durability,
}

impl Batch {
    /// Checks the limits that hold for every engine. An engine calls it first in `commit`.
    ///
    /// # Errors
    /// [`StoreError::LimitExceeded`]: operations, then each key and value, then the sum.
    pub fn check(&self) -> Result<(), StoreError> {
        let operations = self.expectations.len() + self.writes.len();
        if operations > BATCH_OPERATIONS_MAX {
            return Err(StoreError::limit(
                "operations in a batch",
                operations,
                BATCH_OPERATIONS_MAX,
            ));
        }
        let mut bytes = 0;
        for (key, value) in &self.writes {
            check_key(key)?;
            let value = value.as_ref().map_or(0, Bytes::len);
            if value > VALUE_BYTES_MAX {
                return Err(StoreError::limit("bytes in a value", value, VALUE_BYTES_MAX));
            }
            bytes += key.len() + value;
        }
        for (key, _) in &self.expectations {
            check_key(key)?;
            bytes += key.len();
        }
        if bytes > BATCH_BYTES_MAX {
            return Err(StoreError::limit("bytes in a batch", bytes, BATCH_BYTES_MAX));
        }
        Ok(())
    }
}

/// Checks the length of a key, as every engine does before it reads or writes.
///
/// # Errors
/// [`StoreError::LimitExceeded`] for an empty key or one of more than [`KEY_BYTES_MAX`] bytes.
pub fn check_key(key: &[u8]) -> Result<(), StoreError> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        return Err(StoreError::limit("bytes in a key", key.len(), KEY_BYTES_MAX));
    }
    Ok(())
}

/// Reasons for which a store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// An expectation of a batch no longer holds; nothing was written. Reads never give it.
    #[error("another write came first")]
    Conflict,
    /// The batch, key or value is larger than any engine takes; nothing was written.
    #[error("{count} {what} are more than the {most} that the store takes")]
    LimitExceeded {
        /// The things that were counted.
        what: &'static str,
        /// Their count.
        count: usize,
        /// The greatest count that is taken.
        most: usize,
    },
    /// The engine cannot be reached or has stopped; nothing was written.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The connection was lost after the batch was sent: it was applied, or not.
    #[error("it is not known whether the write was stored")]
    OutcomeUnknown,
    /// Stored bytes are not what was written.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
}

impl StoreError {
    const fn limit(what: &'static str, count: usize, most: usize) -> Self {
        Self::LimitExceeded { what, count, most }
    }
}

/// An ordered map of bytes with atomic conditional commits. Object-safe; no runtime's type in it.
///
/// A write that was acknowledged is seen by every read that starts after. A write that a read shows may not be
/// on disk yet: whoever answers a user from it first awaits [`KeyValue::durable`].
/// The laws are written down as tests in `conformance`.
pub trait KeyValue: Send + Sync {
    /// The value and version of `key` now.
    ///
    /// # Errors
    /// `LimitExceeded`, `Unavailable`, `Corrupt`.
    fn get(&self, key: &[u8]) -> Result<Found, StoreError>;

    /// The outcome of [`KeyValue::get`] for each of `keys`, in their order; on a remote engine one round trip, and all of one moment.
    ///
    /// # Errors
    /// As [`KeyValue::get`], for the first key that has one.
    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// At most `limit` rows of `span`, all of one moment.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError>;

    /// The outcome of [`KeyValue::scan`] for each of these spans with its limit, in their order; each page is of one moment, and two may be of
    /// two. On a remote engine one round trip for each [`SCANS_MAX`] of them.
    ///
    /// # Errors
    /// As [`KeyValue::scan`].
    fn scan_many(&self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        scans.iter().map(|(span, limit)| self.scan(span, *limit)).collect()
    }

    /// At most `limit` rows of `span`, in ascending order whatever its own is, without those for which an earlier one stands by `rule`. What is
    /// left out costs next to nothing, however many rows that are: one round trip on an engine that passes over them by itself. On others the
    /// page may be of several moments, and costs a round trip for each scan that begins behind such rows.
    ///
    /// # Errors
    /// As [`KeyValue::scan`].
    fn scan_rolled_up(
        &self,
        span: &Span,
        rule: &RollUp<'_>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        roll_up::page(span, rule, limit, self.is_local(), |span, rows| self.scan(span, rows))
    }

    /// Applies all of `batch`, or nothing. The answer comes once it is as durable as it asks; what it wrote
    /// can be read before that: on a local engine at once, on a remote one at some moment. Dropping the answer cancels nothing.
    ///
    /// # Errors
    /// `LimitExceeded`, `Conflict`, `Unavailable`, `OutcomeUnknown`, `Corrupt`, in that order.
    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>>;

    /// `None` if everything up to `seen` is as durable as it promised; else the answer that tells when it is.
    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>>;

    /// The versions of last writes, if every write passes through this engine.
    fn write_versions(&self) -> Option<&WriteVersions> {
        None
    }

    /// The cache of decoded records, if the engine has one.
    fn decoded_cache(&self) -> Option<&DecodedCache> {
        None
    }

    /// The rows that a request has read so far, if this is a store as one request reads it.
    fn prefetch(&self) -> Option<&Prefetch> {
        None
    }

    /// Returns whether reads return without waiting for a network, so that a handler may run on an async thread.
    fn is_local(&self) -> bool {
        true
    }
}
