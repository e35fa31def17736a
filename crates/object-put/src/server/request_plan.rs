//! The rows that a request rests on, whatever its operation does: on a store of another machine they are fetched together, and reading
//! them costs nothing from then on.

use triptych_core::cache::ShardedCache;
use triptych_core::kv::{KeyValue, Plan, StoreError, Tx};

use crate::store::key::Key;
use crate::store::tables::{ACCESS_KEYS, ACCOUNTS, BUCKETS};
use crate::store::{access_point_directory, bucket_plan, session_key};

/// Bytes that are kept of what names led to, which is some ten thousand names of each kind.
const NAMES_BYTES_MAX: usize = 2 << 20;
/// Bytes of one of them beside its name.
const NAMES_BYTES: usize = 100;

/// The names in the head of a request.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Named<'r> {
    /// The access key of its credentials.
    pub(super) access_key: Option<&'r str>,
    /// The name of the bucket, behind an access point that of its own.
    pub(super) bucket: Option<&'r str>,
    /// The key of the object.
    pub(super) key: Option<&'r Key>,
    /// The upload in parts, and the number of a part of it.
    pub(super) upload: Option<(&'r str, Option<u32>)>,
}

/// The names and numbers that access keys and buckets led to when they were read last. The rows are read anew each time; so they are read at
/// once.
#[derive(Debug)]
pub(super) struct NameCache {
    /// The account of an access key.
    accounts: ShardedCache<String, String>,
    /// The number of a bucket.
    buckets: ShardedCache<String, u64>,
}

impl Default for NameCache {
    fn default() -> Self {
        let bytes_max = NAMES_BYTES_MAX / 2;
        Self { accounts: ShardedCache::new(bytes_max), buckets: ShardedCache::new(bytes_max) }
    }
}

impl NameCache {
    /// Fetches the rows that a head names, and those that these led to; one round more where they lead to others now.
    ///
    /// # Errors
    /// As reads of the store. A row that cannot be read is for the one who needs it.
    pub(super) fn fetch(&self, store: &dyn KeyValue, named: Named<'_>) -> Result<(), StoreError> {
        if store.is_local() {
            return Ok(());
        }
        let access_key = named.access_key.map(str::to_owned);
        let bucket = named.bucket.map(str::to_owned);
        let last_account = access_key.as_ref().and_then(|id| self.accounts.get(id));
        let last_bucket = bucket.as_ref().and_then(|name| self.buckets.get(name));
        let (mut account, mut number) = (None, None);
        Tx::new(store).plan(|plan| {
            let row = access_key.as_ref().and_then(|id| plan.row(&ACCESS_KEYS, id));
            account = row.map(|access_key| access_key.account);
            if let Some(account) = account.as_ref().or(last_account.as_ref()) {
                plan.row(&ACCOUNTS, account);
            }
            let row = bucket.as_ref().and_then(|name| plan.row(&BUCKETS, name));
            number = row.map(|bucket| bucket.id);
            if let Some(number) = number.or(last_bucket) {
                plan_of_bucket(plan, number, named);
            }
            session_key::plan(plan);
            access_point_directory::plan_stamp(plan);
        })?;
        remember(&self.accounts, access_key, last_account, account);
        remember(&self.buckets, bucket, last_bucket, number);
        Ok(())
    }
}

/// Plans the rows of a bucket, of the key in it, and of the upload of that.
fn plan_of_bucket(plan: &mut Plan<'_>, bucket: u64, named: Named<'_>) {
    bucket_plan::settings(plan, bucket);
    let Some(key) = named.key else {
        return;
    };
    bucket_plan::object(plan, bucket, key);
    if let Some((name, part)) = named.upload {
        bucket_plan::upload(plan, bucket, key, name, part);
    }
}

/// Keeps what a name leads to, where that is new.
fn remember<V: Clone + PartialEq>(
    names: &ShardedCache<String, V>,
    name: Option<String>,
    last: Option<V>,
    now: Option<V>,
) {
    if let (Some(name), Some(now)) = (name, now)
        && last.as_ref() != Some(&now)
    {
        let bytes = NAMES_BYTES + name.len();
        names.insert(name, now, bytes);
    }
}
