//! Settings of a bucket: versioning, ownership, ACL, object lock, lifecycle, encryption, tags, payment, policy, public access.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::acl::{Acl, AclContext};
use crate::auth::policy::{self, Policy, PublicAccessBlock};
use crate::body::encryption::SERVICE_MANAGED;
use crate::error::Error;
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::{Element, XmlWriter};
use crate::store::bucket::{Bucket, Ownership, RequestPayment, Versioning};
use crate::store::lifecycle::{self, Lifecycle};
use crate::store::lock::{self, DefaultRetention};
use crate::store::lookup::account_directory;
use crate::store::tables::{BUCKET_CONFIGS, BUCKETS};
use crate::store::tagging::{TagTarget, Tags};

/// The most bytes of a stored configuration.
const SETTING_BYTES_MAX: usize = 60 * 1024;

pub(super) fn xml_reply(
    call: &ReadCall<'_>,
    root: &str,
    fill: impl FnOnce(&mut XmlWriter),
) -> Reply {
    let namespace = call.dialect().names().namespace;
    Reply::xml(XmlWriter::document(root, namespace, fill))
}

pub(super) fn not_configured(
    call: &ReadCall<'_>,
    code: &'static str,
    reason: &'static str,
) -> Error {
    Error::NotConfigured { code, bucket: Some(call.bucket_name.to_owned()), reason }
}

fn put_config(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    name: &str,
    value: &impl serde::Serialize,
) -> Result<(), Error> {
    let bytes = serde_json::to_vec(value).map_err(|_| Error::Internal)?;
    if bytes.len() > SETTING_BYTES_MAX {
        return Err(Error::request("The configuration is longer than 60 KiB."));
    }
    // The bucket's row is read by this transaction: a bucket that is being deleted gets no new configuration.
    BUCKET_CONFIGS.put(tx, &(call.bucket()?.id, name.to_owned()), &bytes.into());
    Ok(())
}

fn delete_config(call: &Call<'_>, tx: &mut Tx<'_>, name: &str) -> Result<Reply, Error> {
    BUCKET_CONFIGS.delete(tx, &(call.bucket()?.id, name.to_owned()));
    Ok(Reply::empty(204))
}

fn update_bucket(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    edit: impl FnOnce(&mut Bucket),
) -> Result<(), Error> {
    let mut bucket = call.bucket()?.clone();
    edit(&mut bucket);
    BUCKETS.put(tx, &bucket.name, &bucket);
    Ok(())
}

/// `GetBucketLocation`.
///
/// # Errors
/// Those of the way to it alone, as of all handlers here that read.
pub fn location(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let region = &call.bucket()?.region;
    // The oldest region is named by an empty element, and clients know that.
    let shown = if region == "us-east-1" { "" } else { region };
    Ok(xml_reply(call, "LocationConstraint", |writer| {
        let mut text = String::new();
        crate::request::xml::escape(shown, &mut text);
        writer.raw(&text);
    }))
}

/// `GetBucketVersioning`.
///
/// # Errors
/// As [`location`].
pub fn get_versioning(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let status = match call.bucket()?.versioning {
        Versioning::Off => None,
        Versioning::Enabled => Some("Enabled"),
        Versioning::Suspended => Some("Suspended"),
    };
    Ok(xml_reply(call, "VersioningConfiguration", |writer| {
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
    update_bucket(call, tx, |bucket| bucket.versioning = versioning)?;
    Ok(Reply::empty(200))
}

/// `GetBucketOwnershipControls`.
///
/// # Errors
/// `NotConfigured` for a bucket whose controls were deleted.
pub fn get_ownership(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let ownership = call.bucket()?.ownership;
    if ownership == Ownership::Unset {
        return Err(not_configured(
            call,
            "OwnershipControlsNotFoundError",
            "The bucket ownership controls were not found",
        ));
    }
    let name = ownership.name();
    Ok(xml_reply(call, "OwnershipControls", |writer| {
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
    let owner = account_directory(tx)?;
    let owner = owner.canonical(&call.bucket()?.owner);
    let own = Acl::default().entries(owner);
    if ownership == Ownership::BucketOwnerEnforced && call.bucket()?.acl.entries(owner) != own {
        return Err(Error::BucketAclWithOwnership);
    }
    update_bucket(call, tx, |bucket| bucket.ownership = ownership)?;
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
    update_bucket(call, tx, |bucket| bucket.ownership = Ownership::Unset)?;
    Ok(Reply::empty(204))
}

/// `GetBucketAcl`.
///
/// # Errors
/// As [`location`].
pub fn get_acl(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let directory = account_directory(tx)?;
    let owner = directory.canonical(&bucket.owner);
    Ok(Reply::xml(bucket.acl.document(call.dialect(), owner, &directory)))
}

/// `PutBucketAcl`.
///
/// # Errors
/// `AccessControlListNotSupported`; those of [`acl_of_put`].
pub fn put_acl(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let directory = account_directory(tx)?;
    let owner = directory.canonical(&bucket.owner);
    let context = AclContext { directory: &directory, owner, bucket_owner: owner, is_bucket: true };
    let acl = acl_of_put(call, tx, &context)?;
    update_bucket(call, tx, |bucket| bucket.acl = acl)?;
    Ok(Reply::empty(200))
}

/// The list that a `PutBucketAcl` or `PutObjectAcl` brings, by headers or as a document.
///
/// # Errors
/// `MissingSecurityHeader` for neither, `UnexpectedContent` for both; `AccessControlListNotSupported`; those of the grammar;
/// `AccessDenied` for a public list where the bucket blocks those.
pub fn acl_of_put(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    context: &AclContext<'_>,
) -> Result<Acl, Error> {
    let bucket = call.bucket()?;
    let acl = match (Acl::is_named(call.fields), call.body.is_empty()) {
        (false, true) => {
            return Err(Error::MissingSecurityHeader { header: "x-store-acl" });
        }
        (true, false) => return Err(Error::UnexpectedContent),
        (true, true) => Acl::from_headers(call.fields, context).map(Option::unwrap_or_default),
        (false, false) => Acl::from_xml(call.body, call.dialect(), context),
    };
    if bucket.ownership == Ownership::BucketOwnerEnforced {
        let own = Acl::default().entries(context.owner);
        return match acl {
            Ok(acl) if acl.entries(context.owner) == own => Ok(Acl::default()),
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
/// `NotConfigured` for a bucket without object lock.
pub fn get_lock(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    if !bucket.object_lock {
        return Err(not_configured(
            call,
            "ObjectLockConfigurationNotFoundError",
            "Object Lock configuration does not exist for this bucket",
        ));
    }
    Ok(Reply::xml(lock::configuration_document(
        bucket.default_retention.as_ref(),
        call.dialect().names().namespace,
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
    update_bucket(call, tx, |bucket| {
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
/// `NotConfigured`.
pub fn get_lifecycle(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
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
    put_config(call, tx, lifecycle::CONFIG_NAME, &rules)?;
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
    delete_config(call, tx, lifecycle::CONFIG_NAME)
}

/// The name under which it is kept that a bucket was given an encryption, and whether with a bucket key.
const ENCRYPTION: &str = "encryption";

/// Tells whether the bucket was given an encryption: then an object may be copied onto itself as it is.
///
/// # Errors
/// As reads of the store.
pub fn has_encryption(tx: &mut Tx<'_>, bucket: u64) -> Result<bool, Error> {
    let row = BUCKET_CONFIGS.peek(tx, &(bucket, ENCRYPTION.to_owned()))?;
    Ok(row.is_some())
}

/// `GetBucketEncryption`: every bucket encrypts with service-managed keys.
///
/// # Errors
/// As [`location`].
pub fn get_encryption(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let row = BUCKET_CONFIGS.peek(tx, &(call.bucket()?.id, ENCRYPTION.to_owned()))?;
    let bucket_key: bool = match row {
        Some(row) => serde_json::from_slice(&row).map_err(|_| Error::Damaged)?,
        None => false,
    };
    Ok(xml_reply(call, "ServerSideEncryptionConfiguration", |writer| {
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
    let names = call.dialect().names();
    match default.required("SSEAlgorithm")? {
        SERVICE_MANAGED if default.child("KMSMasterKeyID").is_some() => Err(Error::argument(
            ELEMENT,
            None,
            "a KMSMasterKeyID is not applicable if the default sse algorithm is not store:kms or store:kms:dsse",
        )),
        SERVICE_MANAGED => {
            put_config(call, tx, ENCRYPTION, &bucket_key)?;
            Ok(Reply::empty(200))
        }
        mode if mode == names.kms || mode == names.kms_dual => {
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
    delete_config(call, tx, ENCRYPTION)
}

/// The name under which the tags of a bucket are kept.
pub(super) const TAGS: &str = "tagging";

/// `GetBucketTagging`.
///
/// # Errors
/// `NotConfigured`.
pub fn get_tagging(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let key = (call.bucket()?.id, TAGS.to_owned());
    let row = BUCKET_CONFIGS
        .peek(tx, &key)?
        .ok_or_else(|| not_configured(call, "NoSuchTagSet", "The TagSet does not exist"))?;
    let tags: Tags = serde_json::from_slice(&row).map_err(|_| Error::Damaged)?;
    Ok(Reply::xml(tags.document(call.dialect().names().namespace)))
}

/// `PutBucketTagging`: no tags are as good as none ever put.
///
/// # Errors
/// Those of [`Tags::from_xml`].
pub fn put_tagging(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let tags = Tags::from_xml(call.body, TagTarget::Bucket)?;
    if tags.0.is_empty() {
        return delete_config(call, tx, TAGS);
    }
    put_config(call, tx, TAGS, &tags)?;
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
    delete_config(call, tx, TAGS)
}

/// `GetBucketRequestPayment`.
///
/// # Errors
/// As [`location`].
pub fn get_payment(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let payer = call.bucket()?.request_payment.name();
    Ok(xml_reply(call, "RequestPaymentConfiguration", |writer| {
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
    update_bucket(call, tx, |bucket| bucket.request_payment = payer)?;
    Ok(Reply::empty(200))
}

fn policy_of(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Policy, Error> {
    policy::of_bucket(tx, call.bucket()?.id)?.ok_or_else(|| {
        not_configured(call, "NoSuchBucketPolicy", "The bucket policy does not exist")
    })
}

/// `GetBucketPolicy`: the document as it was put.
///
/// # Errors
/// `NotConfigured`.
pub fn get_policy(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let policy = policy_of(call, tx)?;
    Ok(Reply::xml(policy.document).with("content-type", "application/json"))
}

/// `PutBucketPolicy`.
///
/// # Errors
/// `MalformedPolicy`; `AccessDenied` for a public one where the bucket blocks those.
pub fn put_policy(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let policy = Policy::parse(call.body, call.bucket_name)?;
    policy.check_principals(&account_directory(tx)?)?;
    let block = PublicAccessBlock::of_bucket(tx, call.bucket()?.id)?;
    if policy.is_public() && block.block_public_policy {
        return Err(Error::AccessDenied);
    }
    put_config(call, tx, policy::CONFIG_NAME, &policy.document)?;
    Ok(Reply::empty(204))
}

/// `DeleteBucketPolicy`.
///
/// # Errors
/// As [`location`].
pub fn delete_policy(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, policy::CONFIG_NAME)
}

/// `GetBucketPolicyStatus`.
///
/// # Errors
/// `NotConfigured`.
pub fn get_policy_status(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let is_public = policy_of(call, tx)?.is_public();
    Ok(xml_reply(call, "PolicyStatus", |writer| {
        writer.text("IsPublic", is_public);
    }))
}

/// `GetPublicAccessBlock`.
///
/// # Errors
/// `NotConfigured`.
pub fn get_public_access(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let key = (call.bucket()?.id, PublicAccessBlock::CONFIG_NAME.to_owned());
    if BUCKET_CONFIGS.peek(tx, &key)?.is_none() {
        return Err(not_configured(
            call,
            "NoSuchPublicAccessBlockConfiguration",
            "The public access block configuration was not found",
        ));
    }
    let block = PublicAccessBlock::of_bucket(tx, key.0)?;
    Ok(xml_reply(call, "PublicAccessBlockConfiguration", |writer| {
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
    put_config(call, tx, PublicAccessBlock::CONFIG_NAME, &block)?;
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
    delete_config(call, tx, PublicAccessBlock::CONFIG_NAME)
}
