//! Settings of a bucket: versioning, ownership, ACL, object lock, lifecycle, encryption, tags, payment, policy, public access.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::acl::{Acl, Parties, Roster};
use crate::auth::policy::{self, Policy, PublicAccessBlock};
use crate::body::encryption::SERVICE_MANAGED;
use crate::error::Error;
use crate::operation::{Call, Reply};
use crate::request::xml::{Element, Writer};
use crate::store::bucket::{Bucket, Ownership, RequestPayment, Versioning};
use crate::store::lifecycle::{self, Lifecycle};
use crate::store::lock::{self, DefaultRetention};
use crate::store::tables::{BUCKETS, SETTINGS};
use crate::store::tagging::{Bearer, Tags};

/// The most bytes that a long setting is kept in.
const SETTING_BYTES_MAX: usize = 60 * 1024;

pub(super) fn document(call: &Call<'_>, root: &str, fill: impl FnOnce(&mut Writer)) -> Reply {
    let namespace = call.dialect().words().namespace;
    Reply::xml(Writer::document(root, namespace, fill))
}

pub(super) fn not_set(call: &Call<'_>, code: &'static str, reason: &'static str) -> Error {
    Error::NotSet { code, bucket: Some(call.bucket_name.to_owned()), reason }
}

fn keep(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    name: &str,
    value: &impl serde::Serialize,
) -> Result<(), Error> {
    let bytes = serde_json::to_vec(value).map_err(|_| Error::Internal)?;
    if bytes.len() > SETTING_BYTES_MAX {
        return Err(Error::request("The configuration is longer than 60 KiB."));
    }
    // The bucket's row is read by this transaction: a bucket that is being deleted gets no new setting.
    SETTINGS.put(tx, &(call.bucket()?.id, name.to_owned()), &bytes.into());
    Ok(())
}

fn forget(call: &Call<'_>, tx: &mut Tx<'_>, name: &str) -> Result<Reply, Error> {
    SETTINGS.delete(tx, &(call.bucket()?.id, name.to_owned()));
    Ok(Reply::empty(204))
}

fn change(call: &Call<'_>, tx: &mut Tx<'_>, edit: impl FnOnce(&mut Bucket)) -> Result<(), Error> {
    let mut bucket = call.bucket()?.clone();
    edit(&mut bucket);
    BUCKETS.put(tx, &bucket.name, &bucket);
    Ok(())
}

/// `GetBucketLocation`.
///
/// # Errors
/// Those of the way to it alone, as of all handlers here that read.
pub fn location(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let region = &call.bucket()?.region;
    // The oldest region is named by an empty element, and clients know that.
    let shown = if region == "us-east-1" { "" } else { region };
    Ok(document(call, "LocationConstraint", |writer| {
        let mut text = String::new();
        crate::request::xml::escape(shown, &mut text);
        writer.raw(&text);
    }))
}

/// `GetBucketVersioning`.
///
/// # Errors
/// As [`location`].
pub fn get_versioning(
    call: &Call<'_>,
    _tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let status = match call.bucket()?.versioning {
        Versioning::Off => None,
        Versioning::Enabled => Some("Enabled"),
        Versioning::Suspended => Some("Suspended"),
    };
    Ok(document(call, "VersioningConfiguration", |writer| {
        writer.text_if("Status", status);
    }))
}

/// `PutBucketVersioning`.
///
/// # Errors
/// `NoVersioningState`; `MalformedXml`; `InvalidBucketState` for a bucket with object lock.
pub fn put_versioning(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "VersioningConfiguration")?;
    let versioning = match root.text_of("Status") {
        None | Some("") => return Err(Error::NoVersioningState),
        Some("Enabled") => Versioning::Enabled,
        Some("Suspended") => Versioning::Suspended,
        Some(_) => return Err(Error::MalformedXml),
    };
    if call.bucket()?.object_lock && versioning == Versioning::Suspended {
        return Err(Error::InvalidBucketState {
            reason: "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
        });
    }
    change(call, tx, |bucket| bucket.versioning = versioning)?;
    Ok(Reply::empty(200))
}

/// `GetBucketOwnershipControls`.
///
/// # Errors
/// `NotSet` for a bucket whose controls were deleted.
pub fn get_ownership(
    call: &Call<'_>,
    _tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let ownership = call.bucket()?.ownership;
    if ownership == Ownership::Unset {
        return Err(not_set(
            call,
            "OwnershipControlsNotFoundError",
            "The bucket ownership controls were not found",
        ));
    }
    let name = ownership.name();
    Ok(document(call, "OwnershipControls", |writer| {
        writer.element("Rule", |writer| writer.text("ObjectOwnership", name));
    }))
}

/// `PutBucketOwnershipControls`.
///
/// # Errors
/// `MalformedXml`; `BucketAclWithOwnership` for disabling ACLs while the bucket's own names others.
pub fn put_ownership(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "OwnershipControls")?;
    let mut rules = root.all("Rule");
    let rule = rules.next().ok_or(Error::MalformedXml)?;
    if rules.next().is_some() {
        return Err(Error::MalformedXml);
    }
    let ownership =
        Ownership::parse(rule.required("ObjectOwnership")?).ok_or(Error::MalformedXml)?;
    let owner = Roster::read(tx)?;
    let owner = owner.canonical(&call.bucket()?.owner);
    let own = Acl::default().entries(owner);
    if ownership == Ownership::BucketOwnerEnforced && call.bucket()?.acl.entries(owner) != own {
        return Err(Error::BucketAclWithOwnership);
    }
    change(call, tx, |bucket| bucket.ownership = ownership)?;
    Ok(Reply::empty(200))
}

/// `DeleteBucketOwnershipControls`.
///
/// # Errors
/// As [`location`].
pub fn delete_ownership(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    change(call, tx, |bucket| bucket.ownership = Ownership::Unset)?;
    Ok(Reply::empty(204))
}

/// `GetBucketAcl`.
///
/// # Errors
/// As [`location`].
pub fn get_acl(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let roster = Roster::read(tx)?;
    let owner = roster.canonical(&bucket.owner);
    Ok(Reply::xml(bucket.acl.document(call.dialect(), owner, &roster)))
}

/// `PutBucketAcl`.
///
/// # Errors
/// `AccessControlListNotSupported`; those of [`put_list`].
pub fn put_acl(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let roster = Roster::read(tx)?;
    let owner = roster.canonical(&bucket.owner);
    let parties = Parties { roster: &roster, owner, bucket_owner: owner, is_bucket: true };
    let acl = put_list(call, tx, &parties)?;
    change(call, tx, |bucket| bucket.acl = acl)?;
    Ok(Reply::empty(200))
}

/// The list that a `PutBucketAcl` or `PutObjectAcl` brings, by headers or as a document.
///
/// # Errors
/// `MissingSecurityHeader` for neither, `UnexpectedContent` for both; `AccessControlListNotSupported`; those of the grammar;
/// `AccessDenied` for a public list where the bucket blocks those.
pub fn put_list(call: &Call<'_>, tx: &mut Tx<'_>, parties: &Parties<'_>) -> Result<Acl, Error> {
    let bucket = call.bucket()?;
    let acl = match (Acl::is_named(call.fields), call.body.is_empty()) {
        (false, true) => {
            return Err(Error::MissingSecurityHeader { header: "x-store-acl" });
        }
        (true, false) => return Err(Error::UnexpectedContent),
        (true, true) => Acl::from_headers(call.fields, parties).map(Option::unwrap_or_default),
        (false, false) => Acl::from_xml(call.body, call.dialect(), parties),
    };
    if bucket.ownership == Ownership::BucketOwnerEnforced {
        let own = Acl::default().entries(parties.owner);
        return match acl {
            Ok(acl) if acl.entries(parties.owner) == own => Ok(Acl::default()),
            _ => Err(Error::AccessControlListNotSupported),
        };
    }
    let acl = acl?;
    PublicAccessBlock::check(tx, bucket.id, &acl)?;
    Ok(acl)
}

/// `GetObjectLockConfiguration`.
///
/// # Errors
/// `NotSet` for a bucket without object lock.
pub fn get_lock(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    if !bucket.object_lock {
        return Err(not_set(
            call,
            "ObjectLockConfigurationNotFoundError",
            "Object Lock configuration does not exist for this bucket",
        ));
    }
    Ok(Reply::xml(lock::configuration_document(
        bucket.default_retention.as_ref(),
        call.dialect().words().namespace,
    )))
}

/// `PutObjectLockConfiguration`: turns object lock on in a bucket that keeps versions, and sets its default.
///
/// # Errors
/// `MalformedXml`, `InvalidArgument`; `InvalidBucketState` for a bucket that does not keep versions.
pub fn put_lock(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let default = DefaultRetention::from_xml(call.body)?;
    if call.bucket()?.versioning != Versioning::Enabled {
        return Err(Error::InvalidBucketState {
            reason: "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
        });
    }
    change(call, tx, |bucket| {
        bucket.object_lock = true;
        bucket.default_retention = default;
    })?;
    Ok(Reply::empty(200))
}

/// The header that tells which objects are too small for a transition, and the one value that it has here.
const TRANSITION_LEAST: &str = "x-store-transition-default-minimum-object-size";
const TRANSITION_LEAST_VALUE: &str = "all_storage_classes_128K";

/// `GetBucketLifecycleConfiguration`.
///
/// # Errors
/// `NotSet`.
pub fn get_lifecycle(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let missing = || {
        not_set(call, "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist")
    };
    let rules = lifecycle::of_bucket(tx, call.bucket()?.id)?.ok_or_else(missing)?;
    let shown = rules.shown(call.dialect().words().namespace);
    Ok(Reply::xml(shown).with(TRANSITION_LEAST, TRANSITION_LEAST_VALUE))
}

/// `PutBucketLifecycleConfiguration`.
///
/// # Errors
/// `InvalidRequest` for a least size of transitions other than the default, as none happens; those of [`Lifecycle::from_xml`].
pub fn put_lifecycle(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let least = call.fields.get(TRANSITION_LEAST)?;
    if let Some(value) = least.filter(|value| *value != TRANSITION_LEAST_VALUE) {
        return Err(Error::request(format!(
            "Invalid TransitionDefaultMinimumObjectSize found: {value}"
        )));
    }
    let rules = Lifecycle::from_xml(call.body, || {
        format!("{:016x}{:016x}{:016x}", ids.next(), ids.next(), ids.next())
    })?;
    keep(call, tx, lifecycle::SETTING, &rules)?;
    Ok(Reply::empty(200).with(TRANSITION_LEAST, TRANSITION_LEAST_VALUE))
}

/// `DeleteBucketLifecycle`.
///
/// # Errors
/// As [`location`].
pub fn delete_lifecycle(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    forget(call, tx, lifecycle::SETTING)
}

/// The name under which it is kept that a bucket was given an encryption, and whether with a bucket key.
const ENCRYPTION: &str = "encryption";

/// Tells whether the bucket was given an encryption: then an object may be copied onto itself as it is.
///
/// # Errors
/// As reads of the store.
pub fn has_encryption(tx: &mut Tx<'_>, bucket: u64) -> Result<bool, Error> {
    let row = SETTINGS.peek(tx, &(bucket, ENCRYPTION.to_owned()))?;
    Ok(row.is_some())
}

/// `GetBucketEncryption`: every bucket encrypts with service-managed keys.
///
/// # Errors
/// As [`location`].
pub fn get_encryption(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let row = SETTINGS.peek(tx, &(call.bucket()?.id, ENCRYPTION.to_owned()))?;
    let bucket_key: bool = match row {
        Some(row) => serde_json::from_slice(&row).map_err(|_| Error::Damaged)?,
        None => false,
    };
    Ok(document(call, "ServerSideEncryptionConfiguration", |writer| {
        writer.element("Rule", |writer| {
            writer.element("ApplyServerSideEncryptionByDefault", |writer| {
                writer.text("SSEAlgorithm", SERVICE_MANAGED);
            });
            writer.text("BucketKeyEnabled", bucket_key);
        });
    }))
}

/// `PutBucketEncryption`: the one mode that there is may be put.
///
/// # Errors
/// `MalformedXml`; `InvalidArgument` for a key that the mode has no use for; `OperationNotImplemented` for other modes.
pub fn put_encryption(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    const ELEMENT: &str = "ApplyServerSideEncryptionByDefault";
    let root = Element::parse(call.body, "ServerSideEncryptionConfiguration")?;
    let mut rules = root.all("Rule");
    let (Some(rule), None) = (rules.next(), rules.next()) else {
        return Err(Error::MalformedXml);
    };
    let bucket_key = match rule.text_of("BucketKeyEnabled") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Error::MalformedXml),
    };
    let default = rule.child(ELEMENT).ok_or(Error::MalformedXml)?;
    let words = call.dialect().words();
    match default.required("SSEAlgorithm")? {
        SERVICE_MANAGED if default.child("KMSMasterKeyID").is_some() => Err(Error::argument(
            ELEMENT,
            None,
            "a KMSMasterKeyID is not applicable if the default sse algorithm is not store:kms or store:kms:dsse",
        )),
        SERVICE_MANAGED => {
            keep(call, tx, ENCRYPTION, &bucket_key)?;
            Ok(Reply::empty(200))
        }
        mode if mode == words.kms || mode == words.kms_dual => {
            Err(Error::OperationNotImplemented { operation: "Encryption with key-management keys" })
        }
        _ => Err(Error::MalformedXml),
    }
}

/// `DeleteBucketEncryption`: the default stays.
///
/// # Errors
/// As [`location`].
pub fn delete_encryption(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    forget(call, tx, ENCRYPTION)
}

/// The name under which the tags of a bucket are kept.
pub(super) const TAGS: &str = "tagging";

/// `GetBucketTagging`.
///
/// # Errors
/// `NotSet`.
pub fn get_tagging(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let key = (call.bucket()?.id, TAGS.to_owned());
    let row = SETTINGS
        .peek(tx, &key)?
        .ok_or_else(|| not_set(call, "NoSuchTagSet", "The TagSet does not exist"))?;
    let tags: Tags = serde_json::from_slice(&row).map_err(|_| Error::Damaged)?;
    Ok(Reply::xml(tags.document(call.dialect().words().namespace)))
}

/// `PutBucketTagging`: no tags are as good as none ever put.
///
/// # Errors
/// Those of [`Tags::from_xml`].
pub fn put_tagging(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let tags = Tags::from_xml(call.body, Bearer::Bucket)?;
    if tags.0.is_empty() {
        return forget(call, tx, TAGS);
    }
    keep(call, tx, TAGS, &tags)?;
    Ok(Reply::empty(204))
}

/// `DeleteBucketTagging`.
///
/// # Errors
/// As [`location`].
pub fn delete_tagging(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    forget(call, tx, TAGS)
}

/// `GetBucketRequestPayment`.
///
/// # Errors
/// As [`location`].
pub fn get_payment(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let payer = call.bucket()?.request_payment.name();
    Ok(document(call, "RequestPaymentConfiguration", |writer| {
        writer.text("Payer", payer);
    }))
}

/// `PutBucketRequestPayment`.
///
/// # Errors
/// `MalformedXml`.
pub fn put_payment(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "RequestPaymentConfiguration")?;
    let payer = RequestPayment::parse(root.required("Payer")?).ok_or(Error::MalformedXml)?;
    change(call, tx, |bucket| bucket.request_payment = payer)?;
    Ok(Reply::empty(200))
}

fn policy_of(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Policy, Error> {
    policy::of_bucket(tx, call.bucket()?.id)?
        .ok_or_else(|| not_set(call, "NoSuchBucketPolicy", "The bucket policy does not exist"))
}

/// `GetBucketPolicy`: the document as it was put.
///
/// # Errors
/// `NotSet`.
pub fn get_policy(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let policy = policy_of(call, tx)?;
    Ok(Reply::xml(policy.document).with("content-type", "application/json"))
}

/// `PutBucketPolicy`.
///
/// # Errors
/// `MalformedPolicy`; `AccessDenied` for a public one where the bucket blocks those.
pub fn put_policy(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let policy = Policy::parse(call.body, call.bucket_name)?;
    let block = PublicAccessBlock::of_bucket(tx, call.bucket()?.id)?;
    if policy.is_public() && block.block_public_policy {
        return Err(Error::AccessDenied);
    }
    keep(call, tx, policy::SETTING, &policy.document)?;
    Ok(Reply::empty(204))
}

/// `DeleteBucketPolicy`.
///
/// # Errors
/// As [`location`].
pub fn delete_policy(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    forget(call, tx, policy::SETTING)
}

/// `GetBucketPolicyStatus`.
///
/// # Errors
/// `NotSet`.
pub fn get_policy_status(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let is_public = policy_of(call, tx)?.is_public();
    Ok(document(call, "PolicyStatus", |writer| {
        writer.text("IsPublic", is_public);
    }))
}

/// `GetPublicAccessBlock`.
///
/// # Errors
/// `NotSet`.
pub fn get_public_access(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let key = (call.bucket()?.id, PublicAccessBlock::SETTING.to_owned());
    if SETTINGS.peek(tx, &key)?.is_none() {
        return Err(not_set(
            call,
            "NoSuchPublicAccessBlockConfiguration",
            "The public access block configuration was not found",
        ));
    }
    let block = PublicAccessBlock::of_bucket(tx, key.0)?;
    Ok(document(call, "PublicAccessBlockConfiguration", |writer| {
        for (name, value) in block.fields() {
            writer.text(name, value);
        }
    }))
}

/// `PutPublicAccessBlock`.
///
/// # Errors
/// `MalformedXml`.
pub fn put_public_access(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let block = PublicAccessBlock::from_xml(call.body)?;
    keep(call, tx, PublicAccessBlock::SETTING, &block)?;
    Ok(Reply::empty(200))
}

/// `DeletePublicAccessBlock`.
///
/// # Errors
/// As [`location`].
pub fn delete_public_access(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    forget(call, tx, PublicAccessBlock::SETTING)
}
