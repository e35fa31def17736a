//! The rows that a request rests on, whatever its operation does: on a store of another machine they are fetched in two rounds, and
//! reading them costs nothing from then on.

use triptych_core::kv::{KeyValue, StoreError, Tx};

use crate::store::key::Key;
use crate::store::tables::{ACCESS_KEYS, ACCOUNTS, BUCKETS};
use crate::store::{access_point_directory, bucket_plan, session_key};

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

/// Fetches the rows: first those that the head names, then those that these lead to.
///
/// # Errors
/// As reads of the store. A row that cannot be read is for the one who needs it.
pub(super) fn fetch(store: &dyn KeyValue, named: Named<'_>) -> Result<(), StoreError> {
    Tx::new(store).plan(|plan| {
        let id = named.access_key.map(str::to_owned);
        if let Some(access_key) = id.and_then(|id| plan.row(&ACCESS_KEYS, &id)) {
            plan.row(&ACCOUNTS, &access_key.account);
        }
        let name = named.bucket.map(str::to_owned);
        if let Some(bucket) = name.and_then(|name| plan.row(&BUCKETS, &name)) {
            bucket_plan::settings(plan, bucket.id);
            if let Some(key) = named.key {
                bucket_plan::object(plan, bucket.id, key);
                if let Some((name, part)) = named.upload {
                    bucket_plan::upload(plan, bucket.id, key, name, part);
                }
            }
        }
        session_key::plan(plan);
        access_point_directory::plan_stamp(plan);
    })
}
