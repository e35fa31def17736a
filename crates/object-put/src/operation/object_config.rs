//! Configurations of an object, which change without its bytes: ACL, tags, retention, legal hold.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::acl::{Acl, AclContext};
use crate::auth::authorize::AccessRequest;
use crate::auth::policy::RequestObject;
use crate::error::Error;
use crate::operation::get_object::{find, find_unhidden, shown_version};
use crate::operation::{Call, Operation, ReadCall, Reply};
use crate::store::bucket::{Bucket, Ownership};
use crate::store::lock::{self, ObjectLock, Retention};
use crate::store::lookup::FoundVersion;
use crate::store::lookup::account_directory;
use crate::store::tagging::{TagTarget, Tags};
use crate::store::version::ObjectData;

/// Changes the object that a request names, and answers with `status` and its version.
pub(super) fn change(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    status: u16,
    edit: impl FnOnce(&mut ObjectData) -> Result<(), Error>,
) -> Result<Reply, Error> {
    let mut found = find_unhidden(call, tx)?;
    if let Some(data) = &mut Arc::make_mut(&mut found.version).data {
        edit(data)?;
    }
    found.put(tx, call.bucket()?.id, call.key()?);
    versioned(call, Reply::empty(status), &found)
}

fn versioned(call: &ReadCall<'_>, reply: Reply, found: &FoundVersion) -> Result<Reply, Error> {
    let version = shown_version(call.bucket()?.versioning, &found.version.version);
    Ok(reply.with_some("x-store-version-id", version))
}

fn namespace(call: &ReadCall<'_>) -> &'static str {
    call.dialect().names().namespace
}

/// `GetObjectTagging`.
///
/// # Errors
/// Those of [`find_unhidden`]; a key that is absent is named with its bucket, as in the real service.
pub fn get_tagging(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let found = find_unhidden(call, tx).map_err(|error| match error {
        Error::NoSuchKey { key } => Error::NoSuchKey { key: format!("{}/{key}", call.bucket_name) },
        other => other,
    })?;
    let reply = Reply::xml(found.data()?.tags.document(namespace(call)));
    versioned(call, reply, &found)
}

/// The tags and the lock that the document of a request sets on an object, if it is one that does: policies look at them as at those of headers.
#[must_use]
pub fn request_object(
    operation: &Operation,
    document: &[u8],
    now: Timestamp,
) -> Option<RequestObject> {
    // What cannot be read is refused where it would be set.
    let lock = match operation.name {
        "PutObjectTagging" => {
            let tags = Tags::from_xml(document, TagTarget::Object).ok()?;
            return Some(RequestObject { tags: Some(tags), ..RequestObject::default() });
        }
        "PutObjectRetention" => {
            let retention = Retention::from_xml(document, now).ok()?;
            ObjectLock { retention, hold: None }
        }
        "PutObjectLegalHold" => {
            let hold = lock::hold_from_xml(document).ok()?;
            ObjectLock { retention: None, hold: Some(hold) }
        }
        _ => return None,
    };
    Some(RequestObject { tags: None, lock })
}

/// `PutObjectTagging`.
///
/// # Errors
/// Those of [`Tags::from_xml`]; those of [`find_unhidden`].
pub fn put_tagging(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let tags = Tags::from_xml(call.body, TagTarget::Object)?;
    change(call, tx, 200, |data| {
        data.tags = tags;
        Ok(())
    })
}

/// `DeleteObjectTagging`.
///
/// # Errors
/// Those of [`find_unhidden`].
pub fn delete_tagging(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    change(call, tx, 204, |data| {
        data.tags = Tags::default();
        Ok(())
    })
}

/// `GetObjectAcl`.
///
/// # Errors
/// Those of [`find`].
pub fn get_acl(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let found = find(call, tx)?;
    let directory = account_directory(tx)?;
    let bucket = call.bucket()?;
    let owner = directory.canonical(bucket.owner_of(&found.version.owner));
    let none = Acl::default();
    // What was put there once is kept, and counts again where ACLs do.
    let acl = match bucket.ownership {
        Ownership::BucketOwnerEnforced => &none,
        _ => &found.data()?.acl,
    };
    let reply = Reply::xml(acl.document(call.dialect(), owner, &directory));
    versioned(call, reply, &found)
}

/// `PutObjectAcl`.
///
/// # Errors
/// Those of [`find_unhidden`]; those of [`super::bucket_config::acl::of_put`].
pub fn put_acl(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let found = find_unhidden(call, tx)?;
    let directory = account_directory(tx)?;
    let context = AclContext {
        directory: &directory,
        owner: directory.canonical(call.bucket()?.owner_of(&found.version.owner)),
        bucket_owner: directory.canonical(&call.bucket()?.owner),
        is_bucket: false,
    };
    let acl = super::bucket_config::acl::of_put(call, tx, &context)?;
    change(call, tx, 200, |data| {
        data.acl = acl;
        Ok(())
    })
}

fn lockable<'c>(call: &'c ReadCall<'_>) -> Result<&'c Bucket, Error> {
    let bucket = call.bucket()?;
    if bucket.object_lock { Ok(bucket) } else { Err(lock::missing_configuration()) }
}

const NOT_LOCKED: Error = Error::NotConfigured {
    code: "NoSuchObjectLockConfiguration",
    bucket: None,
    reason: "The specified object does not have a ObjectLock configuration",
};

/// `GetObjectRetention`.
///
/// # Errors
/// `InvalidRequest` in a bucket without object lock; those of [`find`]; `NotConfigured`.
pub fn get_retention(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    lockable(call)?;
    let found = find(call, tx)?;
    let retention = found.data()?.lock.retention.ok_or(NOT_LOCKED)?;
    Ok(Reply::xml(retention.document(namespace(call))))
}

/// `PutObjectRetention`.
///
/// # Errors
/// `NoSuchKey` and its like; `MalformedXml` without content; `InvalidRequest` in a bucket without object lock; those of
/// [`Retention::from_xml`] and of the bypass; `ObjectLocked` for a change that the retention does not yield to.
pub fn put_retention(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    find_unhidden(call, tx)?;
    if call.body.is_empty() {
        return Err(Error::MalformedXml);
    }
    lockable(call)?;
    let next = Retention::from_xml(call.body, call.now)?;
    let request_object = request_object(call.operation, call.body, call.now);
    let access = call.access(call.key()?, call.query.get("versionId"));
    let access = AccessRequest { request_object: request_object.as_ref(), ..access };
    let bypass = super::delete_object::bypass(call, &access, tx)?;
    change(call, tx, 200, |data| {
        let current = data.lock.retention;
        if current.is_some_and(|own| !own.may_become(next.as_ref(), call.now, bypass)) {
            return Err(Error::ObjectLocked);
        }
        data.lock.retention = next;
        Ok(())
    })
}

/// `GetObjectLegalHold`.
///
/// # Errors
/// As [`get_retention`].
pub fn get_hold(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    lockable(call)?;
    let found = find(call, tx)?;
    let hold = found.data()?.lock.hold.ok_or(NOT_LOCKED)?;
    Ok(Reply::xml(lock::hold_document(hold, namespace(call))))
}

/// `PutObjectLegalHold`.
///
/// # Errors
/// `MalformedXml`; `InvalidRequest` in a bucket without object lock; those of [`find_unhidden`].
pub fn put_hold(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let hold = lock::hold_from_xml(call.body)?;
    lockable(call)?;
    change(call, tx, 200, |data| {
        data.lock.hold = Some(hold);
        Ok(())
    })
}
