//! The lifecycle rules of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, put_config};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::lifecycle::{self, Lifecycle};

/// The header that tells which objects are too small for a transition, and the one value that it has here.
const TRANSITION_LEAST: &str = "x-store-transition-default-minimum-object-size";
const TRANSITION_LEAST_VALUE: &str = "all_storage_classes_128K";

/// `GetBucketLifecycleConfiguration`.
///
/// # Errors
/// `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let missing = || {
        not_configured(
            call,
            "NoSuchLifecycleConfiguration",
            "The lifecycle configuration does not exist",
        )
    };
    let rules = lifecycle::of_bucket(tx, call.bucket()?.id)?.ok_or_else(missing)?;
    let shown = rules.shown(call.dialect().names().namespace);
    Ok(Reply::xml(shown).with(TRANSITION_LEAST, TRANSITION_LEAST_VALUE))
}

/// `PutBucketLifecycleConfiguration`.
///
/// # Errors
/// `InvalidRequest` for a least size of transitions other than the default, as none happens; those of [`Lifecycle::from_xml`].
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let least = call.fields.get(TRANSITION_LEAST)?;
    if let Some(value) = least.filter(|value| *value != TRANSITION_LEAST_VALUE) {
        return Err(Error::request(format!(
            "Invalid TransitionDefaultMinimumObjectSize found: {value}"
        )));
    }
    let rules = Lifecycle::from_xml(call.body, || {
        format!("{:016x}{:016x}{:016x}", ids.next(), ids.next(), ids.next())
    })?;
    put_config(call, tx, lifecycle::CONFIG_NAME, &rules)?;
    Ok(Reply::empty(200).with(TRANSITION_LEAST, TRANSITION_LEAST_VALUE))
}

/// `DeleteBucketLifecycle`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, lifecycle::CONFIG_NAME)
}
