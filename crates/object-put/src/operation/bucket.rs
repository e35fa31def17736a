//! Buckets: made, found and deleted.

use triptych_core::id::Ids;
use triptych_core::kv::{StoreError, Tx};

use crate::auth::acl::{Acl, AclContext};
use crate::auth::policy::PublicAccessBlock;
use crate::auth::session::SessionMode;
use crate::error::Error;
use crate::operation::bucket_config::tagging::TAGS;
use crate::operation::directory_bucket::{CREATE_BUCKET, check_headers};
use crate::operation::{Call, Progress, ReadCall, Reply, StepOutcome, region};
use crate::request::xml::Element;
use crate::store::bucket::{
    Bucket, BucketKind, Ownership, Versioning, ZoneKind, check_name, is_directory_name, zone_of,
};
use crate::store::bucket_setting;
use crate::store::lookup::account_directory;
use crate::store::tables::{BUCKET_CONFIGS, BUCKETS, CURRENT, NONCURRENT, UPLOAD_ENDS, UPLOADS};
use crate::store::tagging::Tags;
use crate::store::upload::{UploadEnd, due};

/// The header that says whether ACLs count in a new bucket.
const OWNERSHIP: &str = "x-store-object-ownership";

/// `CreateBucket`.
///
/// # Errors
/// `AccessDenied`, `InvalidToken` for a session of another bucket, `InvalidBucketName`, `MalformedXml`, those of a region (`InvalidLocationConstraint`, `IllegalLocationConstraint`) and of [`Tags::of_new_bucket`], `InvalidArgument`,
/// `BucketAclWithOwnership`, `BucketAclWithPublicAccessBlock` and those of ACL headers, `BucketAlreadyOwnedByYou`, `BucketAlreadyExists`,
/// `OperationAborted` while the bucket of this name is being deleted.
pub fn create(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let account = call.caller.account().ok_or(Error::AccessDenied)?;
    check_session(call)?;
    if is_directory_name(call.bucket_name) {
        return create_directory(call, &account.id, tx, ids);
    }
    if !call.caller.has_permission(call.operation.permission) {
        return Err(Error::AccessDenied);
    }
    let name = call.bucket_name.to_owned();
    check_name(&name)?;
    let tags = read_configuration(call)?;
    let ownership = ownership(call)?;
    let object_lock = object_lock(call)?;
    check_namespace(call)?;
    check_brought(call, object_lock, tags.is_some())?;
    let acl = acl(call, tx, &account.canonical_id, ownership)?;
    let created = Reply::empty(200).with("location", format!("/{name}"));
    if let Some(bucket) = BUCKETS.get(tx, &name)? {
        return match bucket.owner == account.id {
            true if bucket.deleting => Err(Error::OperationAborted),
            // One that brings tags would change the bucket, and is refused there too.
            true if call.settings.region == region::OLDEST && tags.is_none() => Ok(created),
            true => Err(Error::BucketAlreadyOwnedByYou { bucket: name }),
            false => Err(Error::BucketAlreadyExists { bucket: name }),
        };
    }
    let region = call.settings.region.clone();
    let mut bucket = Bucket::new(ids.next(), name, account.id.clone(), region, call.now);
    bucket.ownership = ownership;
    bucket.acl = acl;
    bucket.object_lock = object_lock;
    if object_lock {
        bucket.versioning = Versioning::Enabled;
    }
    BUCKETS.put(tx, &bucket.name, &bucket);
    if call.settings.blocks_public_access {
        PublicAccessBlock::ALL.put(tx, bucket.id);
    }
    if let Some(tags) = tags {
        let text = serde_json::to_vec(&tags).map_err(|_| Error::Internal)?;
        bucket_setting::put(tx, bucket.id, TAGS, text)?;
    }
    Ok(created)
}

/// Checks that the caller may set what a new bucket brings along: each has a permission of its own, as when it is set later.
fn check_brought(call: &Call<'_>, has_lock: bool, has_tags: bool) -> Result<(), Error> {
    // The ACL `private` is what every bucket has.
    let is_private = call.fields.get("x-store-acl")?.as_deref() == Some("private");
    let brought = [
        ("store:PutBucketAcl", Acl::is_named(call.fields) && !is_private),
        ("store:PutBucketOwnershipControls", call.fields.has(OWNERSHIP)),
        ("store:PutBucketObjectLockConfiguration", has_lock),
        ("store:PutBucketVersioning", has_lock),
        ("store:TagResource", has_tags),
    ];
    let mut needed = brought.iter().filter(|(_, is_brought)| *is_brought);
    match needed.all(|(permission, _)| call.caller.has_permission(permission)) {
        true => Ok(()),
        false => Err(Error::AccessDenied),
    }
}

/// Checks that a session, if the request is sent in one, is of the bucket that it would make: stock clients that are given an endpoint ask for
/// one ahead.
fn check_session(call: &Call<'_>) -> Result<(), Error> {
    match call.caller.session() {
        None => Ok(()),
        Some(session) if session.bucket_name != call.bucket_name || session.point.is_some() => {
            Err(Error::InvalidToken)
        }
        Some(session) if session.mode == SessionMode::ReadOnly => Err(Error::AccessDenied),
        Some(_) => Ok(()),
    }
}

/// Tells whether a new bucket gets object lock. A value that says neither would leave one without the lock that was asked for.
fn object_lock(call: &Call<'_>) -> Result<bool, Error> {
    const ENABLED: &str = "x-store-bucket-object-lock-enabled";
    match call.fields.get(ENABLED)? {
        None => Ok(false),
        Some(value) if value.eq_ignore_ascii_case("true") => Ok(true),
        Some(value) if value.eq_ignore_ascii_case("false") => Ok(false),
        Some(value) => {
            Err(Error::argument(ENABLED, Some(&value), "The value is neither true nor false"))
        }
    }
}

/// Refuses a namespace of names of its own: here all buckets are in one.
fn check_namespace(call: &Call<'_>) -> Result<(), Error> {
    const NAMESPACE: &str = "x-store-bucket-namespace";
    match call.fields.get(NAMESPACE)?.as_deref() {
        None | Some("global") => Ok(()),
        Some(_) => Err(Error::HeaderNotImplemented { header: NAMESPACE, reason: None }),
    }
}

/// `CreateBucket` of a directory bucket, whose configuration says where it is.
fn create_directory(
    call: &Call<'_>,
    owner: &str,
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    if !call.caller.has_permission(CREATE_BUCKET) {
        return Err(Error::AccessDenied);
    }
    let name = call.bucket_name.to_owned();
    check_name(&name)?;
    check_headers(call.operation, call.fields)?;
    let zone_kind = read_location(call)?;
    if let Some(bucket) = BUCKETS.get(tx, &name)? {
        return Err(match bucket.owner == owner {
            true if bucket.deleting => Error::OperationAborted,
            true => Error::BucketAlreadyOwnedByYou { bucket: name },
            false => Error::BucketAlreadyExists { bucket: name },
        });
    }
    let region = call.settings.region.clone();
    let bucket = Bucket {
        kind: BucketKind::Directory,
        zone_kind,
        ..Bucket::new(ids.next(), name, owner.to_owned(), region, call.now)
    };
    BUCKETS.put(tx, &bucket.name, &bucket);
    PublicAccessBlock::ALL.put(tx, bucket.id);
    Ok(Reply::empty(200).with("location", format!("/{}", bucket.name)))
}

/// The kind of the zone that a configuration names, which must be the one that the bucket's name names.
fn read_location(call: &Call<'_>) -> Result<ZoneKind, Error> {
    const KINDS: [(&str, &str, ZoneKind); 2] = [
        ("AvailabilityZone", "SingleAvailabilityZone", ZoneKind::Availability),
        ("LocalZone", "SingleLocalZone", ZoneKind::Local),
    ];
    if call.body.is_empty() {
        return Err(Error::request("A directory bucket is made with its location and its kind."));
    }
    let root = configuration(call)?;
    let missing = || Error::request("A directory bucket is made with its location and its kind.");
    let location = root.child("Location").ok_or_else(missing)?;
    let bucket = root.child("Bucket").ok_or_else(missing)?;
    location.has_only(&["Type", "Name"], &[])?;
    bucket.has_only(&["Type", "DataRedundancy"], &[])?;
    let named = location.required("Type")?;
    let (_, redundancy, kind) =
        KINDS.into_iter().find(|(name, ..)| *name == named).ok_or(Error::MalformedXml)?;
    if bucket.required("Type")? != "Directory" {
        return Err(Error::MalformedXml);
    }
    if bucket.text_of("DataRedundancy").is_some_and(|own| own != redundancy) {
        return Err(Error::request("The data redundancy is not that of the location."));
    }
    if Some(location.required("Name")?) != zone_of(call.bucket_name) {
        return Err(Error::request("The zone of the bucket's name is not that of its location."));
    }
    if root.child("Tags").is_some() {
        return Err(Error::OperationNotImplemented { operation: "Tagging of directory buckets" });
    }
    Ok(kind)
}

/// The `CreateBucketConfiguration` document of a request.
fn configuration(call: &Call<'_>) -> Result<Element, Error> {
    let root = Element::parse(call.body, "CreateBucketConfiguration")?;
    root.has_only(&["LocationConstraint", "Location", "Bucket", "Tags"], &[])?;
    Ok(root)
}

/// The body may name the region of the bucket, which is the service's own, and give it tags.
fn read_configuration(call: &Call<'_>) -> Result<Option<Tags>, Error> {
    if call.body.is_empty() {
        return Ok(None);
    }
    let root = configuration(call)?;
    if root.child("Location").is_some() || root.child("Bucket").is_some() {
        return Err(Error::InvalidBucketName { bucket: call.bucket_name.to_owned() });
    }
    match root.text_of("LocationConstraint") {
        None | Some("") => {}
        Some(region) => region::check(region, &call.settings.region)?,
    }
    root.child("Tags").map(Tags::of_new_bucket).transpose()
}

fn ownership(call: &Call<'_>) -> Result<Ownership, Error> {
    match call.fields.get(OWNERSHIP)? {
        None => Ok(call.settings.ownership),
        Some(name) => Ownership::parse(&name).ok_or_else(|| {
            let reason = format!("Invalid x-store-object-ownership header: {name}");
            Error::argument(OWNERSHIP, None, reason)
        }),
    }
}

fn acl(call: &Call<'_>, tx: &mut Tx<'_>, owner: &str, ownership: Ownership) -> Result<Acl, Error> {
    if !Acl::is_named(call.fields) {
        return Ok(Acl::default());
    }
    let context = AclContext {
        directory: &account_directory(tx)?,
        owner,
        bucket_owner: owner,
        is_bucket: true,
    };
    let acl = Acl::from_headers(call.fields, &context)?.unwrap_or_default();
    let own = Acl::default().entries(owner);
    match (ownership, acl.entries(owner) == own) {
        (_, true) => Ok(Acl::default()),
        (Ownership::BucketOwnerEnforced, false) => Err(Error::BucketAclWithOwnership),
        (_, false) if acl.is_public() && call.settings.blocks_public_access => {
            Err(Error::BucketAclWithPublicAccessBlock)
        }
        (_, false) => Ok(acl),
    }
}

/// `HeadBucket`.
///
/// # Errors
/// Those of the way to it alone.
pub fn head(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let (bucket, dialect) = (call.bucket()?, call.dialect());
    let arn = match bucket.kind {
        BucketKind::Directory => dialect.directory_arn(&bucket.region, &bucket.owner, &bucket.name),
        _ => format!("{}{}", dialect.names().arn_prefix, bucket.name),
    };
    let reply = Reply::empty(200)
        .with("content-type", "application/xml")
        .with("x-store-bucket-arn", arn)
        .with("x-store-bucket-region", bucket.region.clone())
        .with("x-store-access-point-alias", call.is_aliased.to_string());
    let Some(zone) = zone_of(&bucket.name).filter(|_| bucket.kind == BucketKind::Directory) else {
        return Ok(reply);
    };
    let kind = match bucket.zone_kind {
        ZoneKind::Availability => "AvailabilityZone",
        ZoneKind::Local => "LocalZone",
    };
    Ok(reply
        .with("x-store-bucket-location-type", kind)
        .with("x-store-bucket-location-name", zone.to_owned()))
}

/// `DeleteBucket`: the first step closes it for writers, the second looks whether anything is in it, and a third opens a
/// bucket again that is not empty.
///
/// # Errors
/// `NoSuchBucket`, `BucketNotEmpty`; `OperationAborted` while another request deletes it.
pub fn delete(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
    progress: &Progress,
) -> Result<StepOutcome, Error> {
    let seen = call.bucket()?;
    let not_empty = || Error::BucketNotEmpty {
        bucket: seen.name.clone(),
        keeps_versions: seen.versioning != Versioning::Off,
    };
    if progress.done == 2 {
        return Err(not_empty());
    }
    let mut bucket = BUCKETS
        .get(tx, &seen.name)?
        .filter(|bucket| bucket.id == seen.id)
        .ok_or_else(|| Error::NoSuchBucket { bucket: seen.name.clone() })?;
    if bucket.deleting != (progress.done == 1) {
        return Err(Error::OperationAborted);
    }
    let step = |done| Ok(StepOutcome::Continue(Progress { done, text: String::new() }));
    if progress.done == 0 {
        if !is_empty(tx, &bucket)? {
            return Err(not_empty());
        }
        bucket.deleting = true;
        BUCKETS.put(tx, &bucket.name, &bucket);
        return step(1);
    }
    if !is_empty(tx, &bucket)? {
        bucket.deleting = false;
        BUCKETS.put(tx, &bucket.name, &bucket);
        return step(2);
    }
    // Unfinished uploads go with it.
    UPLOAD_ENDS.put(tx, &(due(call.now), bucket.id), &UploadEnd::Bucket);
    for (key, _) in BUCKET_CONFIGS.all(tx, &bucket.id, bucket_setting::ROWS_MAX)? {
        BUCKET_CONFIGS.delete(tx, &key);
    }
    BUCKETS.delete(tx, &bucket.name);
    Ok(StepOutcome::Done(Reply::empty(204)))
}

/// Tells whether nothing is in a bucket that keeps it: of a directory bucket unfinished uploads do, as in the real service.
fn is_empty(tx: &mut Tx<'_>, bucket: &Bucket) -> Result<bool, Error> {
    let (current, _) = CURRENT.scan(tx, &CURRENT.span(&bucket.id), 1)?;
    let (others, _) = NONCURRENT.scan(tx, &NONCURRENT.span(&bucket.id), 1)?;
    let uploads = match bucket.kind {
        BucketKind::GeneralPurpose | BucketKind::OnPremises => Vec::new(),
        BucketKind::Directory => UPLOADS.scan(tx, &UPLOADS.span(&bucket.id), 1)?.0,
    };
    Ok(current.is_empty() && others.is_empty() && uploads.is_empty())
}

/// Opens the buckets again whose deletion a stop of the service cut short. To be run before the first request.
///
/// # Errors
/// As reads of the store.
pub fn reopen(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let mut span = BUCKETS.span(&());
    loop {
        let (rows, more) = BUCKETS.scan(tx, &span, 1000)?;
        for (name, mut bucket) in rows {
            span.from = Some(BUCKETS.key(&name).to_vec());
            if bucket.deleting {
                bucket.deleting = false;
                BUCKETS.put(tx, &name, &bucket);
            }
        }
        if !more {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::kv::{KeyValue as _, Memory};
    use triptych_core::time::Timestamp;

    #[test]
    fn a_deletion_that_was_cut_short_leaves_the_bucket_open_again() {
        let store = Memory::default();
        let mut tx = Tx::new(&store);
        let text = |text: &str| text.to_owned();
        for (id, name, deleting) in [(1, "kept", false), (2, "shut", true)] {
            let mut bucket = Bucket::new(id, text(name), text("o"), text("r"), Timestamp::EPOCH);
            bucket.deleting = deleting;
            BUCKETS.put(&mut tx, &bucket.name, &bucket);
        }
        store.commit(tx.into_batch([1; 16])).wait().unwrap();
        let mut tx = Tx::new(&store);
        reopen(&mut tx).unwrap();
        store.commit(tx.into_batch([2; 16])).wait().unwrap();
        let mut tx = Tx::new(&store);
        for name in ["kept", "shut"] {
            let bucket = BUCKETS.get(&mut tx, &text(name)).unwrap().unwrap();
            assert!(!bucket.deleting, "{name}");
        }
    }
}
