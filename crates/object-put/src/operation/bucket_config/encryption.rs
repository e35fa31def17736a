//! The default encryption of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::body::encryption::SERVICE_MANAGED;
use crate::error::Error;
use crate::kms::key_name::KeyName;
use crate::operation::bucket_config::{delete_config, put_config, xml_reply};
use crate::operation::directory_encryption::customer_key;
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::Element;
use crate::store::bucket::BucketKind;
use crate::store::bucket_encryption::{
    BLOCKED, BucketEncryption, BucketMode, SETTING, blocks_customer_keys,
};
use crate::store::tables::BUCKET_CONFIGS;

const DEFAULT_ELEMENT: &str = "ApplyServerSideEncryptionByDefault";
const BUCKET_KEY: &str = "BucketKeyEnabled";
const BLOCKED_ELEMENT: &str = "BlockedEncryptionTypes";
/// The words of that element: customers' keys, and nothing.
const CUSTOMER_KEYS: &str = "SSE-C";
const NOTHING: &str = "NONE";

/// The name under which the one key-management key of a directory bucket is kept, also when its default changed since.
const LIFETIME_KEY: &str = "encryption-key";

/// Tells whether the bucket was given an encryption: then an object may be copied onto itself as it is.
///
/// # Errors
/// As reads of the store.
pub fn is_set(tx: &mut Tx<'_>, bucket: u64) -> Result<bool, Error> {
    Ok(BucketEncryption::given(tx, bucket)?.is_some())
}

/// `GetBucketEncryption`: a bucket that was given none encrypts with service-managed keys.
///
/// # Errors
/// Those of the way to it alone.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let default = BucketEncryption::of_bucket(tx, call.bucket()?)?;
    let blocked = blocks_customer_keys(tx, call.bucket()?.id)?;
    let dialect = call.dialect();
    let names = dialect.names();
    let mode = match default.mode {
        BucketMode::ServiceManaged => SERVICE_MANAGED,
        BucketMode::KeyManagement => names.kms,
        BucketMode::DualLayer => names.kms_dual,
    };
    // An id or an alias is shown as it was put: tools compare the two.
    let key = match default.short_name {
        Some(name) => Some(name),
        None => default.key.as_ref().map(|key| key.text(dialect)),
    };
    Ok(xml_reply(call, "ServerSideEncryptionConfiguration", |writer| {
        writer.element("Rule", |writer| {
            writer.element(DEFAULT_ELEMENT, |writer| {
                writer.text("SSEAlgorithm", mode);
                writer.text_if("KMSMasterKeyID", key);
            });
            if let Some(blocked) = blocked {
                let word = if blocked { CUSTOMER_KEYS } else { NOTHING };
                writer.element(BLOCKED_ELEMENT, |writer| writer.text("EncryptionType", word));
            }
            writer.text(BUCKET_KEY, default.bucket_key);
        });
    }))
}

/// `PutBucketEncryption`: all modes but customer keys, and whether those are blocked. What a rule does not name stays as it was; one names the
/// default or the block.
///
/// # Errors
/// `MalformedXml`; `OperationNotImplemented` for a block in a directory bucket, which has no customers' keys; `InvalidArgument` for a key that the mode has no use
/// for, and for a bucket key with two layers; [`Error::Kms`] for a name of a key that is none.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "ServerSideEncryptionConfiguration")?;
    root.has_only(&["Rule"], &[])?;
    let rule = root.child("Rule").ok_or(Error::MalformedXml)?;
    rule.has_only(&[DEFAULT_ELEMENT, BUCKET_KEY, BLOCKED_ELEMENT], &[])?;
    let blocked = rule.child(BLOCKED_ELEMENT).map(names_customer_keys).transpose()?.flatten();
    if blocked == Some(true) && call.bucket()?.kind == BucketKind::Directory {
        return Err(Error::OperationNotImplemented {
            operation: "PutBucketEncryption with BlockedEncryptionTypes",
        });
    }
    match rule.child(DEFAULT_ELEMENT) {
        Some(default) => put_default(call, tx, rule, default)?,
        None if blocked.is_none() || rule.child(BUCKET_KEY).is_some() => {
            return Err(Error::MalformedXml);
        }
        None => {}
    }
    if let Some(blocked) = blocked {
        put_config(call, tx, BLOCKED, &blocked)?;
    }
    Ok(Reply::empty(200))
}

/// Tells whether the element of the blocked types names customers' keys; `None` for one that names nothing at all.
fn names_customer_keys(element: &Element) -> Result<Option<bool>, Error> {
    element.has_only(&[], &["EncryptionType"])?;
    let names: Vec<_> = element.children.iter().map(|named| named.text.trim()).collect();
    match names.as_slice() {
        [] => Ok(None),
        [CUSTOMER_KEYS] => Ok(Some(true)),
        [NOTHING] => Ok(Some(false)),
        _ => Err(Error::MalformedXml),
    }
}

/// Puts the default that a rule names. Whether the key is there shows when it is used, as in the real service.
///
/// # Errors
/// `MalformedXml`; `InvalidArgument` for a key that the mode has no use for, and for a bucket key with two layers; [`Error::Kms`] for a
/// name of a key that is none.
fn put_default(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    rule: &Element,
    default: &Element,
) -> Result<(), Error> {
    let is_directory = call.bucket()?.kind == BucketKind::Directory;
    let bucket_key = match rule.text_of(BUCKET_KEY) {
        Some("false") if is_directory => {
            let reason = "Bucket keys of directory buckets are always enabled";
            return Err(Error::argument(BUCKET_KEY, Some("false"), reason));
        }
        None => is_directory,
        Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Error::MalformedXml),
    };
    default.has_only(&["SSEAlgorithm", "KMSMasterKeyID"], &[])?;
    let names = call.dialect().names();
    let mode = match default.required("SSEAlgorithm")? {
        SERVICE_MANAGED => BucketMode::ServiceManaged,
        mode if mode == names.kms => BucketMode::KeyManagement,
        mode if mode == names.kms_dual => BucketMode::DualLayer,
        _ => return Err(Error::MalformedXml),
    };
    let key = default.text_of("KMSMasterKeyID");
    if mode == BucketMode::ServiceManaged && default.child("KMSMasterKeyID").is_some() {
        return Err(Error::argument(
            DEFAULT_ELEMENT,
            None,
            "a KMSMasterKeyID is not applicable if the default sse algorithm is not store:kms or store:kms:dsse",
        ));
    }
    if mode == BucketMode::DualLayer && bucket_key {
        let reason = "A bucket key cannot be used with dual-layer encryption";
        return Err(Error::argument(BUCKET_KEY, Some("true"), reason));
    }
    let account = call.caller.account().map_or("", |account| &account.id);
    let named = key.filter(|key| !key.is_empty());
    if is_directory {
        return put_in_directory(call, tx, mode, named);
    }
    let key = named.map(|key| KeyName::parse(key, account)).transpose()?;
    let short_name = named.filter(|name| !name.starts_with("arn:")).map(str::to_owned);
    let key = key.map(|key| key.of_account(account, &call.settings.region));
    put_config(call, tx, SETTING, &BucketEncryption { mode, key, short_name, bucket_key })
}

/// That of a directory bucket: one customer-managed key in the lifetime of the bucket, and bucket keys always.
fn put_in_directory(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    mode: BucketMode,
    named: Option<&str>,
) -> Result<(), Error> {
    let own = match mode {
        BucketMode::ServiceManaged => BucketEncryption { bucket_key: true, ..Default::default() },
        BucketMode::DualLayer => {
            let reason = "Directory buckets take AES256 and store:kms alone";
            return Err(Error::argument("SSEAlgorithm", None, reason));
        }
        BucketMode::KeyManagement => {
            let name = named.ok_or_else(|| {
                Error::request("Directory buckets need the customer managed key to be named.")
            })?;
            let (account, region) = (&call.bucket()?.owner, &call.settings.region);
            let key = customer_key("KMSMasterKeyID", name, account, region)?;
            let service = call.settings.key_service;
            let is_same = |first: &KeyName| matches!(first, KeyName::Arn(first) if service.is_same(first, &key));
            if lifetime_key(call, tx)?.is_some_and(|first| !is_same(&first)) {
                return Err(Error::request(
                    "A directory bucket has one customer managed key in its lifetime.",
                ));
            }
            let key = KeyName::Arn(key);
            put_config(call, tx, LIFETIME_KEY, &key)?;
            let short_name = (!name.starts_with("arn:")).then(|| name.to_owned());
            BucketEncryption { mode, key: Some(key), short_name, bucket_key: true }
        }
    };
    put_config(call, tx, SETTING, &own)
}

/// The key that a directory bucket was given first, by a request or by the seed file.
fn lifetime_key(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Option<KeyName>, Error> {
    let bucket = call.bucket()?.id;
    match BUCKET_CONFIGS.get(tx, &(bucket, LIFETIME_KEY.to_owned()))? {
        Some(first) => serde_json::from_slice(&first).map(Some).map_err(|_| Error::Damaged),
        None => Ok(BucketEncryption::given(tx, bucket)?.and_then(|given| given.key)),
    }
}

/// `DeleteBucketEncryption`: the default of the service stays, and so does what is blocked.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, SETTING)
}
