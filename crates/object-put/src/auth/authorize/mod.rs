//! The right of a caller to do something to a bucket or an object: what its key holds, and what the bucket lets others do
//! by its policy, its ACL, those of its objects, and the seed file.

mod acl;

use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::auth::account::Caller;
use crate::auth::acl::Acl;
use crate::auth::authorize::acl::{acl_allows, is_of_object};
use crate::auth::directory::DirectoryRequest;
use crate::auth::policy::{
    self, Effect, Policy, PolicyRequest, PublicAccessBlock, RequestObject, access_point,
};
use crate::auth::session::DirectoryAccess;
use crate::error::Error;
use crate::request::arrival::Arrival;
use crate::request::fields::Fields;
use crate::request::location::Target;
use crate::request::query::Query;
use crate::store::access_point::AccessPoint;
use crate::store::bucket::{Bucket, BucketKind, Ownership, Public};
use crate::store::key::Key;
use crate::store::lock;
use crate::store::lookup::locate;
use crate::store::open_upload;
use crate::store::tables::{BUCKET_CONFIGS, BUCKETS};
use crate::store::upload::Upload;
use crate::store::version::ObjectVersion;

const PUT_TAGS: &str = "store:PutObjectTagging";
const PUT_LIST: &str = "store:PutObjectAcl";

/// A request on its way to a bucket.
#[derive(Debug, Clone, Copy)]
pub struct AccessRequest<'a> {
    /// The permission that it needs; empty for none.
    pub permission: &'static str,
    /// The kind of thing that it is about.
    pub target: Target,
    /// True if it stores an object, with what that brings along.
    pub writes_object: bool,
    /// The name of the bucket.
    pub bucket: &'a str,
    /// The key, where the path names one.
    pub key: Option<&'a Key>,
    /// Headers.
    pub fields: &'a Fields<'a>,
    /// Query parameters.
    pub query: &'a Query,
    /// The id of the version that it is about, where it names one.
    pub version: Option<&'a str>,
    /// The entity tag that one of many keys is to have: a request on one alone has a header for it.
    pub etag: Option<&'a str>,
    /// The tags and the lock that its document sets.
    pub request_object: Option<&'a RequestObject>,
    /// The sender.
    pub caller: &'a Caller,
    /// The way and the time in which it came.
    pub arrival: Arrival,
    /// The way in which it is authorized on a directory bucket; `None` where those do not have it.
    pub directory: Option<DirectoryAccess>,
    /// The access point that it came through.
    pub point: Option<&'a AccessPoint>,
}

/// Finds the bucket of a request and lets the caller in.
///
/// # Errors
/// `NoSuchBucket`, `InvalidBucketOwner`, `AccessDenied`.
pub fn authorize(access: &AccessRequest<'_>, tx: &mut Tx<'_>) -> Result<Arc<Bucket>, Error> {
    let bucket = existing_bucket(access, tx)?;
    check_expected_owner(access.fields, "x-store-expected-bucket-owner", &bucket.owner)?;
    check_target(access, &bucket, tx)?;
    if ["store:PutObject", "store:DeleteObject"].contains(&access.permission) {
        check_condition(access, access.fields.get("if-match")?.as_deref(), &bucket, tx)?;
    }
    if access.writes_object && bucket.kind != BucketKind::Directory {
        // What a PUT brings along needs a permission of its own (spec §5.2).
        let has = |names: &[&str]| names.iter().any(|name| access.fields.has(name));
        let brings = [
            (PUT_LIST, Acl::is_named(access.fields)),
            (PUT_TAGS, has(&["x-store-tagging"])),
            ("store:PutObjectRetention", has(&lock::RETENTION_HEADERS)),
            ("store:PutObjectLegalHold", has(&[lock::HOLD])),
        ];
        for (permission, _) in brings.iter().filter(|(_, brought)| *brought) {
            check_brought(access, permission, &bucket, tx)?;
        }
    }
    Ok(bucket)
}

/// Checks that who writes or deletes on the condition of an entity tag may read the object: the answer tells whether it has that tag.
///
/// # Errors
/// [`Error::AccessDenied`]; those of the store.
pub fn check_condition(
    access: &AccessRequest<'_>,
    etag: Option<&str>,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    match etag {
        None | Some("*") => Ok(()),
        // A session that may write may read too.
        Some(_) if bucket.kind == BucketKind::Directory => Ok(()),
        Some(_) => check_permission(access, of_version(access, "store:GetObject"), bucket, tx),
    }
}

/// Checks that the caller may set what a write brings along: its key must hold the permission, and no policy may deny it. Whom a policy
/// lets write needs its word for this too, but for a list: the conditions that policies make on lists (`s3:x-amz-acl`) stand beside the
/// permission to write alone.
fn check_brought(
    access: &AccessRequest<'_>,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    let holds = access.caller.account().is_none() || access.caller.has_permission(permission);
    let goes_with_writing = permission == PUT_LIST;
    let mut passes = match evaluate_policy(access, permission, bucket, tx)? {
        Some(effect) => effect == Effect::Allow,
        None if goes_with_writing || owns(access.caller, bucket) => true,
        None => evaluate_policy(access, access.permission, bucket, tx)? != Some(Effect::Allow),
    };
    if let Some(point) = access.point {
        let mut of_point = None;
        let lets_pass = access_point::passes(point, access.caller, |policy| {
            let resource = resource_in(point, access.key);
            of_point = effect(access, policy, permission, &resource, bucket, tx)?;
            Ok(of_point)
        })?;
        passes &= lets_pass || (goes_with_writing && of_point != Some(Effect::Deny));
    }
    if holds && passes { Ok(()) } else { Err(Error::AccessDenied) }
}

/// The bucket or the object as the policy of an access point names it.
fn resource_in(point: &AccessPoint, key: Option<&Key>) -> String {
    let name = point.resource();
    key.map_or_else(|| name.clone(), |key| format!("{name}/object/{key}"))
}

/// Checks that the caller may set the tags that the object of a copy, which `access` is to, gets from its source.
///
/// # Errors
/// [`Error::AccessDenied`]; those of the store.
pub fn check_copied_tags(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    check_brought(access, PUT_TAGS, bucket, tx)
}

/// Checks that the caller may read the tags of the source of a copy, which its object would show.
///
/// # Errors
/// [`Error::AccessDenied`]; those of the store.
pub fn check_tags_of_source(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    check_permission(access, of_version(access, "store:GetObjectTagging"), bucket, tx)
}

/// Headers of an object whose values have a permission of their own, and that permission: who lacks it does not see them.
const GUARDED: [(&str, &[&str]); 3] = [
    ("store:GetObjectTagging", &["x-store-tagging-count"]),
    ("store:GetObjectRetention", &lock::RETENTION_HEADERS),
    ("store:GetObjectLegalHold", &[lock::HOLD]),
];

/// The headers among those that `has` tells of which the caller may not see.
///
/// # Errors
/// Those of the store.
pub fn hidden_headers(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    has: impl Fn(&str) -> bool,
    tx: &mut Tx<'_>,
) -> Result<Vec<&'static str>, Error> {
    let mut hidden = Vec::new();
    for (permission, names) in GUARDED {
        if bucket.kind == BucketKind::Directory || !names.iter().any(|name| has(name)) {
            continue;
        }
        match check_permission(access, of_version(access, permission), bucket, tx) {
            Err(Error::AccessDenied) => hidden.extend(names),
            checked => checked?,
        }
    }
    Ok(hidden)
}

/// Finds the bucket of a copy's source and lets the caller in to read from it.
///
/// # Errors
/// As [`authorize`].
pub fn authorize_source(access: &AccessRequest<'_>, tx: &mut Tx<'_>) -> Result<Arc<Bucket>, Error> {
    let bucket = existing_bucket(access, tx)?;
    let expected = "x-store-source-expected-bucket-owner";
    check_expected_owner(access.fields, expected, &bucket.owner)?;
    check_target(access, &bucket, tx)?;
    Ok(bucket)
}

/// Checks all that the operation itself needs: its permission, in the form for versions where one is named, and to learn that a key is
/// absent that to list.
fn check_target(access: &AccessRequest<'_>, bucket: &Bucket, tx: &mut Tx<'_>) -> Result<(), Error> {
    check_permission(access, of_version(access, access.permission), bucket, tx)?;
    if bucket.kind == BucketKind::Directory {
        return Ok(());
    }
    if access.permission == "store:GetObjectAttributes" {
        check_permission(access, of_version(access, "store:GetObject"), bucket, tx)?;
    }
    if access.target == Target::Object && access.permission.starts_with("store:GetObject") {
        return check_absent(access, bucket, tx);
    }
    Ok(())
}

/// The permission for a version where the request names one.
fn of_version(access: &AccessRequest<'_>, permission: &'static str) -> &'static str {
    if access.version.is_none() || access.target != Target::Object {
        return permission;
    }
    match permission {
        "store:GetObject" => "store:GetObjectVersion",
        "store:GetObjectAcl" => "store:GetObjectVersionAcl",
        "store:GetObjectAttributes" => "store:GetObjectVersionAttributes",
        "store:GetObjectTagging" => "store:GetObjectVersionTagging",
        "store:PutObjectAcl" => "store:PutObjectVersionAcl",
        "store:PutObjectTagging" => "store:PutObjectVersionTagging",
        "store:DeleteObject" => "store:DeleteObjectVersion",
        "store:DeleteObjectTagging" => "store:DeleteObjectVersionTagging",
        other => other,
    }
}

/// Checks that who may not list is not told that a key is absent.
fn check_absent(access: &AccessRequest<'_>, bucket: &Bucket, tx: &mut Tx<'_>) -> Result<(), Error> {
    let lists = "store:ListBucket";
    let owner_lists = owns(access.caller, bucket) && access.caller.has_permission(lists);
    if owner_lists
        && BUCKET_CONFIGS.peek(tx, &(bucket.id, policy::CONFIG_NAME.to_owned()))?.is_none()
    {
        return Ok(());
    }
    if let Some(key) = access.key
        && let Some(object) = object(access, bucket, key, tx)?
        && (object.data.is_some() || access.version.is_some())
    {
        return Ok(());
    }
    let listing = AccessRequest { target: Target::Bucket, key: None, version: None, ..*access };
    check_permission(&listing, lists, bucket, tx)
}

/// Checks that the caller of a request on many keys may delete one of them.
///
/// # Errors
/// [`Error::AccessDenied`]; those of the store.
pub fn check_delete(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    check_permission(access, of_version(access, "store:DeleteObject"), bucket, tx)
}

fn existing_bucket(access: &AccessRequest<'_>, tx: &mut Tx<'_>) -> Result<Arc<Bucket>, Error> {
    BUCKETS
        .get_shared(tx, &access.bucket.to_owned())?
        // What is on premises is reached through an access point alone.
        .filter(|bucket| bucket.kind != BucketKind::OnPremises || access.point.is_some())
        .ok_or_else(|| Error::NoSuchBucket { bucket: access.bucket.to_owned() })
}

fn evaluate_policy(
    access: &AccessRequest<'_>,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<Option<Effect>, Error> {
    let Some(policy) = policy::of_bucket(tx, bucket.id)? else {
        return Ok(None);
    };
    let resource = match access.key {
        Some(key) => format!("{}/{key}", bucket.name),
        None => bucket.name.clone(),
    };
    if !owns(access.caller, bucket) && PublicAccessBlock::shuts_out_others(tx, bucket.id, &policy)?
    {
        return Ok(Some(Effect::Deny));
    }
    effect(access, &policy, permission, &resource, bucket, tx)
}

/// The effect of a policy, of the bucket or of an access point, on a request for `resource`.
fn effect(
    access: &AccessRequest<'_>,
    policy: &Policy,
    permission: &str,
    resource: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<Option<Effect>, Error> {
    let object = match access.key {
        Some(key) if policy.looks_at_tags() => object(access, bucket, key, tx)?,
        _ => None,
    };
    let data = object.as_ref().and_then(|object| object.data.as_ref());
    let upload = match policy.looks_at_encryption() {
        true => named_upload(access, bucket, tx)?,
        false => None,
    };
    Ok(policy.evaluate(&PolicyRequest {
        caller: access.caller,
        permission,
        resource,
        fields: access.fields,
        query: access.query,
        version: access.version,
        etag: access.etag,
        request_object: access.request_object,
        arrival: access.arrival,
        owner: &bucket.owner,
        tags: data.map(|data| &data.tags),
        upload: upload.as_ref().map(|upload| &upload.encryption),
        session_mode: None,
        point: access.point,
        region: &bucket.region,
    }))
}

fn owns(caller: &Caller, bucket: &Bucket) -> bool {
    let account = caller.account();
    account.is_some_and(|account| account.id == bucket.owner)
}

/// Tells whether the caller of `access` has `permission`.
///
/// # Errors
/// [`Error::AccessDenied`]; those of the store.
pub fn check_permission(
    access: &AccessRequest<'_>,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    if bucket.kind == BucketKind::Directory {
        let AccessRequest { caller, fields, query, arrival, point, .. } = *access;
        let request = DirectoryRequest { caller, fields, query, arrival, point };
        return request.check(access.directory.ok_or(Error::AccessDenied)?, bucket, tx);
    }
    // A session is good for its own bucket alone.
    if access.caller.session().is_some() {
        return Err(Error::InvalidToken);
    }
    if permission.is_empty() {
        return Ok(());
    }
    let signed = access.caller.account().is_some();
    if signed && !access.caller.has_permission(permission) {
        return Err(Error::AccessDenied);
    }
    let policy = match evaluate_policy(access, permission, bucket, tx)? {
        Some(Effect::Allow) if !is_given_by_policy(access, permission, bucket, tx)? => None,
        effect => effect,
    };
    let allowed = match policy {
        Some(Effect::Deny) => policy::is_never_denied(access.caller, permission, &bucket.owner),
        Some(Effect::Allow) => true,
        None if owns(access.caller, bucket) => {
            bucket.ownership == Ownership::BucketOwnerEnforced
                || !is_of_object(permission)
                || acl_allows(access, permission, bucket, tx)?
        }
        None => {
            is_public(permission, bucket.public)
                || acl_allows(access, permission, bucket, tx)?
                || began_upload(access, permission, bucket, tx)?
        }
    };
    if !allowed {
        return Err(Error::AccessDenied);
    }
    match access.point {
        Some(point) => check_point(access, point, permission, bucket, tx),
        None => Ok(()),
    }
}

/// Tells whether the policy of a bucket can give a permission, which it can always deny: objects of another account than the bucket's are
/// that account's to give, by their ACLs.
fn is_given_by_policy(
    access: &AccessRequest<'_>,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<bool, Error> {
    let Some(key) = access.key.filter(|_| is_of_object(permission)) else {
        return Ok(true);
    };
    if bucket.ownership == Ownership::BucketOwnerEnforced {
        return Ok(true);
    }
    let object = object(access, bucket, key, tx)?;
    Ok(object.is_none_or(|object| object.data.is_none() || object.owner == bucket.owner))
}

/// Checks that the access point lets the caller through too: by its policy, or because it is the caller's own.
fn check_point(
    access: &AccessRequest<'_>,
    point: &AccessPoint,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<(), Error> {
    let resource = resource_in(point, access.key);
    let passes = access_point::passes(point, access.caller, |policy| {
        effect(access, policy, permission, &resource, bucket, tx)
    })?;
    if passes { Ok(()) } else { Err(Error::AccessDenied) }
}

/// Tells whether the caller began the upload that the request is about: it may then list its parts and abort it.
fn began_upload(
    access: &AccessRequest<'_>,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<bool, Error> {
    let of_upload = ["store:AbortMultipartUpload", "store:ListMultipartUploadParts"];
    let Some(account) = access.caller.account().filter(|_| of_upload.contains(&permission)) else {
        return Ok(false);
    };
    let upload = named_upload(access, bucket, tx)?;
    Ok(upload.is_some_and(|upload| upload.initiator.as_ref() == Some(&account.id)))
}

/// The upload in parts that a request names, if it is there.
fn named_upload(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<Option<Arc<Upload>>, Error> {
    let (Some(key), Some(name)) = (access.key, access.query.get("uploadId")) else {
        return Ok(None);
    };
    match open_upload::find(tx, bucket.id, key, name) {
        Ok(upload) => Ok(Some(upload)),
        Err(Error::NoSuchUpload { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn object(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    key: &Key,
    tx: &mut Tx<'_>,
) -> Result<Option<Arc<ObjectVersion>>, Error> {
    match locate(tx, bucket.id, key, access.version) {
        Ok(found) => Ok(Some(found.version)),
        Err(
            Error::NoSuchKey { .. } | Error::NoSuchVersion { .. } | Error::InvalidArgument { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks the owner that the header `name` expects, if it is there (spec §5.5).
///
/// # Errors
/// [`Error::InvalidBucketOwner`] for what is no account id, [`Error::AccessDenied`] for another owner.
pub fn check_expected_owner(
    fields: &Fields<'_>,
    name: &'static str,
    owner: &str,
) -> Result<(), Error> {
    let Some(expected) = fields.get(name)? else {
        return Ok(());
    };
    if expected.len() != 12 || !expected.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::InvalidBucketOwner { value: expected.into_owned() });
    }
    if *expected != *owner {
        return Err(Error::AccessDenied);
    }
    Ok(())
}

fn is_public(permission: &str, public: Public) -> bool {
    let reads = [
        "store:GetObject",
        "store:GetObjectAttributes",
        "store:GetObjectVersion",
        "store:GetObjectVersionAttributes",
        "store:ListBucket",
    ];
    let writes = [
        "store:PutObject",
        "store:DeleteObject",
        "store:DeleteObjectVersion",
        "store:AbortMultipartUpload",
        "store:ListMultipartUploadParts",
    ];
    match public {
        Public::None => false,
        Public::Read => reads.contains(&permission),
        Public::ReadWrite => reads.contains(&permission) || writes.contains(&permission),
    }
}
