//! The default encryption of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::body::encryption::SERVICE_MANAGED;
use crate::error::Error;
use crate::operation::bucket_config::{delete_config, put_config, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::Element;
use crate::store::tables::BUCKET_CONFIGS;

/// The name under which it is kept that a bucket was given an encryption, and whether with a bucket key.
const ENCRYPTION: &str = "encryption";

/// Tells whether the bucket was given an encryption: then an object may be copied onto itself as it is.
///
/// # Errors
/// As reads of the store.
pub fn is_set(tx: &mut Tx<'_>, bucket: u64) -> Result<bool, Error> {
    let row = BUCKET_CONFIGS.peek(tx, &(bucket, ENCRYPTION.to_owned()))?;
    Ok(row.is_some())
}

/// `GetBucketEncryption`: every bucket encrypts with service-managed keys.
///
/// # Errors
/// Those of the way to it alone.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
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
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
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
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, ENCRYPTION)
}
