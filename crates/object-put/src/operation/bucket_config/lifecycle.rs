//! The lifecycle rules of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, put_config};
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::Element;
use crate::store::bucket::BucketKind;
use crate::store::lifecycle::{self, Lifecycle, TransitionLeast};

/// The header that tells which objects are too small for a transition.
const TRANSITION_LEAST: &str = "x-store-transition-default-minimum-object-size";

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
    Ok(Reply::xml(shown).with(TRANSITION_LEAST, rules.transition_least.name()))
}

/// `PutBucketLifecycleConfiguration`.
///
/// # Errors
/// `InvalidRequest` for a least size of transitions that is none; those of [`Lifecycle::from_xml`]; `InvalidRequest` for a filter by tags
/// in a directory bucket.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let least = match call.fields.get(TRANSITION_LEAST)? {
        None => TransitionLeast::default(),
        Some(value) => TransitionLeast::parse(&value).ok_or_else(|| {
            Error::request(format!("Invalid TransitionDefaultMinimumObjectSize found: {value}"))
        })?,
    };
    let is_directory = call.bucket()?.kind == BucketKind::Directory;
    if is_directory {
        check_directory(call.body)?;
    }
    let mut rules = Lifecycle::from_xml(call.body, || {
        format!("{:016x}{:016x}{:016x}", ids.next(), ids.next(), ids.next())
    })?;
    if is_directory && rules.rules.iter().any(|rule| !rule.filter.tags.0.is_empty()) {
        return Err(Error::request("Objects of directory buckets have no tags to filter by."));
    }
    rules.transition_least = least;
    put_config(call, tx, lifecycle::CONFIG_NAME, &rules)?;
    Ok(Reply::empty(200).with(TRANSITION_LEAST, least.name()))
}

/// Rules of a directory bucket expire objects and abort uploads: there are no versions, and no other class to go to.
fn check_directory(body: &[u8]) -> Result<(), Error> {
    const OTHERS: [&str; 3] =
        ["Transition", "NoncurrentVersionExpiration", "NoncurrentVersionTransition"];
    let root = Element::parse(body, "LifecycleConfiguration")?;
    match root.all("Rule").any(|rule| OTHERS.iter().any(|name| rule.child(name).is_some())) {
        true => Err(Error::request(
            "Lifecycle rules of directory buckets expire objects and abort uploads alone.",
        )),
        false => Ok(()),
    }
}

/// `DeleteBucketLifecycle`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, lifecycle::CONFIG_NAME)
}
